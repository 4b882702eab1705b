//! A client that sends exactly the bytes it is given.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

#[derive(Debug, Clone)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {:?}", String::from_utf8_lossy(&self.body)))
    }
}

pub(crate) struct Connection(TcpStream, Vec<u8>);

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Self {
        Self(TcpStream::connect(address).await.unwrap(), Vec::new())
    }

    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        // A server that has answered and closed may refuse the rest; its answer is still read.
        let _ = self.0.write_all(bytes.as_ref()).await;
    }

    /// Reads one answer to a request other than HEAD; `None` when the connection ends before an answer.
    pub(crate) async fn receive(&mut self) -> Option<Response> {
        self.read_response(true).await
    }

    pub(crate) async fn receive_head(&mut self) -> Option<Response> {
        self.read_response(false).await
    }

    async fn read_response(&mut self, with_body: bool) -> Option<Response> {
        let head_end = loop {
            if let Some(at) = find(&self.1, b"\r\n\r\n") {
                break at;
            }
            if self.fill().await == 0 {
                assert!(self.1.is_empty(), "half an answer: {:?}", String::from_utf8_lossy(&self.1));
                return None;
            }
        };
        let head = String::from_utf8(self.1[..head_end].to_vec()).unwrap();
        self.1.drain(..head_end + 4);
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers: Vec<(String, String)> = lines
            .map(|line| line.split_once(':').map(|(name, value)| (name.to_owned(), value.trim().to_owned())).unwrap())
            .collect();
        let mut response = Response { status, headers, body: Vec::new() };
        assert_eq!(response.header("transfer-encoding"), None, "answers have a Content-Length");
        if with_body && status != 304 {
            let length: usize = response.header("content-length").map_or(0, |length| length.parse().unwrap());
            while self.1.len() < length {
                assert_ne!(self.fill().await, 0, "the body was cut");
            }
            response.body = self.1.drain(..length).collect();
        }
        Some(response)
    }

    async fn fill(&mut self) -> usize {
        let mut buffer = vec![0; 65536];
        let read = tokio::time::timeout(Duration::from_secs(20), self.0.read(&mut buffer))
            .await
            .expect("the server is silent");
        let read = read.unwrap_or(0);
        self.1.extend_from_slice(&buffer[..read]);
        read
    }

    /// Whether the server has closed the connection by now, or does so within `patience`.
    pub(crate) async fn is_closed_within(&mut self, patience: Duration) -> bool {
        let mut buffer = vec![0; 4096];
        matches!(tokio::time::timeout(patience, self.0.read(&mut buffer)).await, Ok(Ok(0) | Err(_)))
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

/// One request on a connection of its own.
pub(crate) async fn request(
    address: SocketAddr,
    verb: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Response {
    let mut head = format!("{verb} {path} HTTP/1.1\r\nHost: test\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        head = head + name + ": " + value + "\r\n";
    }
    head.push_str("\r\n");
    let mut connection = Connection::open(address).await;
    connection.send([head.as_bytes(), body].concat()).await;
    let response = if verb == "HEAD" { connection.receive_head().await } else { connection.receive().await };
    response.unwrap_or_else(|| panic!("no answer to {verb} {path}"))
}
