//! Connections over plain sockets.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_tungstenite::tungstenite::{Error, Message, WebSocket};

/// An open stream.
pub(super) enum Client {
    Socket(Box<WebSocket<TcpStream>>),
    Sent(Sent),
}

/// Server-sent events.
pub(super) struct Sent {
    stream: TcpStream,
    /// As it came, in chunks.
    raw: Vec<u8>,
    /// Without the chunks.
    body: String,
}

impl Client {
    /// A WebSocket without a subscription.
    pub(super) fn socket(address: &str, path: &str) -> Self {
        let (stream, head) = open(
            address,
            path,
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
        );
        assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
        Self::Socket(Box::new(WebSocket::from_raw_socket(stream, Role::Client, None)))
    }

    /// Server-sent events.
    pub(super) fn sent(address: &str, path: &str) -> Self {
        let (stream, head) = open(address, path, "Accept: text/event-stream\r\n");
        assert!(head.starts_with("HTTP/1.1 200 ") && head.contains("content-type: text/event-stream"), "{head}");
        Self::Sent(Sent { stream, raw: Vec::new(), body: String::new() })
    }

    pub(super) fn say(&mut self, command: &Value) {
        let Self::Socket(socket) = self else { panic!("server-sent events hear nothing") };
        socket.send(Message::text(command.to_string())).unwrap();
    }

    /// The next message; `None` when there was none in time, or the stream has ended.
    pub(super) fn read(&mut self, patience: Duration) -> Option<String> {
        match self {
            Self::Socket(socket) => {
                socket.get_ref().set_read_timeout(Some(patience)).unwrap();
                loop {
                    match socket.read() {
                        Ok(Message::Text(text)) => return Some(text.to_string()),
                        Ok(Message::Close(_)) => return None,
                        Ok(_) => {}
                        Err(Error::Io(error)) if is_timeout(error.kind()) => return None,
                        Err(_) => return None,
                    }
                }
            }
            Self::Sent(sent) => sent.read(patience),
        }
    }

    /// The next message of a type, as JSON.
    #[track_caller]
    pub(super) fn read_type(&mut self, name: &str) -> Value {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(20) {
            let Some(text) = self.read(Duration::from_millis(500)) else { continue };
            let message: Value = serde_json::from_str(&text).unwrap();
            if message["type"] == name {
                return message;
            }
        }
        panic!("no {name} came");
    }

    /// Subscribes where it is a WebSocket.
    pub(super) fn subscribe(&mut self, filter: &Value, position: (&str, Value)) {
        self.say(&json!({ "op": "subscribe", "filter": filter, position.0: position.1 }));
    }
}

impl Sent {
    fn read(&mut self, patience: Duration) -> Option<String> {
        let begun = Instant::now();
        loop {
            if let Some(end) = self.body.find("\n\n") {
                let record: String = self.body.drain(..end + 2).collect();
                let data = record.lines().find_map(|line| line.strip_prefix("data: "));
                if let Some(data) = data {
                    let message: Value = serde_json::from_str(data).unwrap();
                    let field = |name: &str| record.lines().find_map(|line| line.strip_prefix(name));
                    assert_eq!(field("event: "), message["type"].as_str(), "{record}");
                    if let Some(id) = field("id: ") {
                        assert_eq!(Some(id), message["cursor"].as_str(), "{record}");
                    }
                    return Some(data.to_owned());
                }
                continue;
            }
            let left = patience.checked_sub(begun.elapsed()).filter(|left| !left.is_zero())?;
            self.stream.set_read_timeout(Some(left)).unwrap();
            let mut part = [0; 16 << 10];
            match self.stream.read(&mut part) {
                Ok(0) | Err(_) => return None,
                Ok(count) => self.raw.extend_from_slice(&part[..count]),
            }
            self.unchunk();
        }
    }

    fn unchunk(&mut self) {
        while let Some(line) = self.raw.windows(2).position(|pair| pair == b"\r\n") {
            let size = usize::from_str_radix(std::str::from_utf8(&self.raw[..line]).unwrap(), 16).unwrap();
            let end = line + 2 + size;
            if self.raw.len() < end + 2 {
                return;
            }
            self.body.push_str(std::str::from_utf8(&self.raw[line + 2..end]).unwrap());
            self.raw.drain(..end + 2);
        }
    }
}

fn is_timeout(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// A connection and the head of its answer.
fn open(address: &str, path: &str, headers: &str) -> (TcpStream, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\n{headers}\r\n").as_bytes()).unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if stream.read_exact(&mut byte).is_err() {
            break;
        }
        head.push(byte[0]);
    }
    (stream, String::from_utf8(head).unwrap())
}
