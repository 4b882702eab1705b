//! One HTTP/1.1 request per connection over a plain socket, so that the tests see what is on the wire.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

/// A complete answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

/// Sends one request; `None` when the connection fails.
pub fn try_request(address: &str, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Option<Answer> {
    try_request_on(TcpStream::connect(address).ok()?, address, method, path, headers, body)
}

/// Connects from another address of the loopback network, as another client.
pub fn connect_from(source: [u8; 4], address: &str) -> Option<TcpStream> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().ok()?;
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4()?;
        socket.bind((source, 0).into())?;
        socket.connect(address.parse().map_err(std::io::Error::other)?).await?.into_std()
    });
    let stream = stream.ok()?;
    stream.set_nonblocking(false).ok()?;
    Some(stream)
}

/// [`try_request`] over a connection that is there.
pub fn try_request_on(
    mut stream: TcpStream,
    address: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Option<Answer> {
    stream.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n");
    for (name, value) in headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    if !body.is_empty() || method == "POST" {
        let _ = write!(head, "content-length: {}\r\n", body.len());
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body).ok()?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).ok()?;
    parse(&bytes)
}

fn parse(bytes: &[u8]) -> Option<Answer> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let headers = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect::<Vec<_>>();
    let mut body = bytes[end + 4..].to_vec();
    if headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked") {
        body = unchunk(&body)?;
    }
    Some(Answer { status, headers, body })
}

fn unchunk(mut bytes: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = bytes.windows(2).position(|window| window == b"\r\n")?;
        let size = usize::from_str_radix(std::str::from_utf8(&bytes[..line]).ok()?, 16).ok()?;
        if size == 0 {
            return Some(body);
        }
        body.extend_from_slice(bytes.get(line + 2..line + 2 + size)?);
        bytes = bytes.get(line + 4 + size..)?;
    }
}

pub fn get(address: &str, path: &str) -> Answer {
    try_request(address, "GET", path, &[], b"").unwrap_or_else(|| panic!("GET {path}: no answer from {address}"))
}

pub fn post(address: &str, path: &str, body: &Value) -> Answer {
    try_request(address, "POST", path, &[("content-type", "application/json")], body.to_string().as_bytes())
        .unwrap_or_else(|| panic!("POST {path}: no answer from {address}"))
}

/// One JSON-RPC call; the whole answer.
pub fn call(address: &str, path: &str, method: &str, params: Value) -> Value {
    post(address, path, &json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})).json()
}

/// The result of one JSON-RPC call; panics on an error.
pub fn result(address: &str, path: &str, method: &str, params: Value) -> Value {
    let answer = call(address, path, method, params.clone());
    assert!(answer.get("error").is_none(), "{method} {params}: {answer}");
    answer["result"].clone()
}
