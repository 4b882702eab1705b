//! A WebSocket client that exposes the answer of the handshake and every frame.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;

/// The example of RFC 6455, section 1.3.
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
const ACCEPT: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

pub(crate) struct Stream(WebSocketStream<TcpStream>);

impl Stream {
    /// Shakes hands; the head of the answer when the server refuses.
    pub(crate) async fn open(address: SocketAddr, path: &str) -> Result<Self, String> {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: {KEY}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            if stream.read(&mut byte).await.unwrap() == 0 {
                break;
            }
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap();
        if !head.starts_with("HTTP/1.1 101 ") {
            return Err(head);
        }
        assert!(head.to_ascii_lowercase().contains(&format!("sec-websocket-accept: {}", ACCEPT.to_ascii_lowercase())));
        Ok(Self(WebSocketStream::from_raw_socket(stream, Role::Client, None).await))
    }

    pub(crate) async fn say(&mut self, value: &Value) {
        self.0.send(Message::text(value.to_string())).await.unwrap();
    }

    pub(crate) async fn send(&mut self, message: Message) {
        // The server may have disconnected already.
        let _ = self.0.send(message).await;
    }

    /// The next message of the server other than a ping, or the close code.
    pub(crate) async fn next(&mut self) -> Result<Value, u16> {
        loop {
            let next =
                tokio::time::timeout(Duration::from_secs(10), self.0.next()).await.expect("the server is silent");
            match next {
                Some(Ok(Message::Text(text))) => return Ok(serde_json::from_str(&text).unwrap()),
                Some(Ok(Message::Close(frame))) => return Err(frame.map_or(1005, |frame| frame.code.into())),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Err(1006),
            }
        }
    }

    /// Nothing comes for a while.
    pub(crate) async fn silent(&mut self) {
        let heard = tokio::time::timeout(Duration::from_millis(150), self.next()).await;
        assert!(heard.is_err(), "{heard:?}");
    }
}
