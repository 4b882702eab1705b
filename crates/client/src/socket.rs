//! A WebSocket of an instance: one JSON text a message.

use std::time::Duration;

use bitcoin::hashes::{Hash as _, sha1};
use bytes::Bytes;
use data_encoding::BASE64;
use futures_util::{SinkExt as _, StreamExt as _};
use hyper::StatusCode;
use hyper::header::{CONNECTION, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use crate::client::{Client, wait};
use crate::error::{Error, Refusal, printable};
use crate::route::Verb;

/// Hashed with the key of a handshake (RFC 6455, 1.3).
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// Longest time of a handshake.
const OPEN_TIMEOUT: Duration = Duration::from_secs(30);
/// The server pings every 20 s: a connection that is silent for so long is lost.
const SILENCE_MAX: Duration = Duration::from_secs(70);
/// Largest message, bytes: a market of the order book with a million orders.
const MESSAGE_BYTES_MAX: usize = 256 << 20;
/// The code with which an instance ends a stream whose key was revoked.
const KEY_REVOKED: u16 = 4001;
/// Largest answer to a refused handshake, bytes.
const REFUSAL_BYTES_MAX: usize = 64 << 10;

/// An open connection.
pub(crate) struct Socket(WebSocketStream<TokioIo<Upgraded>>);

/// Result of a handshake.
pub(crate) enum Opening {
    /// The connection.
    Open(Box<Socket>),
    /// The instance refuses temporarily, with the time of `Retry-After` if given.
    Later(Option<Duration>),
}

impl Socket {
    /// Opens one at a path.
    ///
    /// # Errors
    /// The instance refuses permanently, is unreachable, or is no instance.
    pub(crate) async fn open(client: &Client, path: &str) -> Result<Opening, Error> {
        timeout(OPEN_TIMEOUT, Self::handshake(client, path))
            .await
            .map_err(|_| Error::Unreachable(format!("no handshake within {} seconds", OPEN_TIMEOUT.as_secs())))?
    }

    async fn handshake(client: &Client, path: &str) -> Result<Opening, Error> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|error| Error::Request(error.to_string()))?;
        let key = BASE64.encode(&random);
        let expected = BASE64.encode(&sha1::Hash::hash(&[key.as_bytes(), GUID].concat()).to_byte_array());
        let mut request = client.request(Verb::Get, path, Bytes::new())?;
        let headers = request.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
        let value = HeaderValue::from_str(&key).map_err(|error| Error::Request(error.to_string()))?;
        headers.insert(SEC_WEBSOCKET_KEY, value);
        let lost = |error| Error::Unreachable(paraffin_web::describe(&error));
        let response = client.http.request(request).await.map_err(lost)?;
        let status = response.status();
        if status != StatusCode::SWITCHING_PROTOCOLS {
            let retry_after = wait(status, response.headers());
            let bytes = paraffin_web::read_body(response, REFUSAL_BYTES_MAX).await;
            let bytes = bytes.map_err(|error| Error::Unreachable(error.to_string()))?;
            let answer: Value = serde_json::from_slice(&bytes).unwrap_or_default();
            let refusal = Refusal::of_method(&answer).unwrap_or_else(|| Refusal::of_route(status.as_u16(), &answer));
            let is_temporary = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
            return match refusal.into_error() {
                Error::Refused(_) if is_temporary => Ok(Opening::Later(retry_after)),
                error => Err(error),
            };
        }
        if response.headers().get(SEC_WEBSOCKET_ACCEPT).is_none_or(|accept| accept != expected.as_str()) {
            return Err(Error::Answer("a handshake with another key: a proxy answers from its cache".to_owned()));
        }
        let upgraded = hyper::upgrade::on(response).await.map_err(|error| Error::Unreachable(error.to_string()))?;
        let limits = WebSocketConfig::default()
            .max_message_size(Some(MESSAGE_BYTES_MAX))
            .max_frame_size(Some(MESSAGE_BYTES_MAX));
        let socket = Self(WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Client, Some(limits)).await);
        Ok(Opening::Open(Box::new(socket)))
    }

    /// Sends a message.
    ///
    /// # Errors
    /// [`Error::Unreachable`].
    pub(crate) async fn send(&mut self, message: &Value) -> Result<(), Error> {
        self.0.send(Message::text(message.to_string())).await.map_err(|error| Error::Unreachable(error.to_string()))
    }

    /// The next message. Pings are answered meanwhile.
    ///
    /// # Errors
    /// [`Error::Unreachable`] when the connection ended, was silent for too long, or a message is too large; [`Error::Refused`] when the key
    /// was revoked.
    pub(crate) async fn next(&mut self) -> Result<String, Error> {
        loop {
            let message = timeout(SILENCE_MAX, self.0.next())
                .await
                .map_err(|_| Error::Unreachable(format!("silent for {} seconds", SILENCE_MAX.as_secs())))?;
            match message {
                Some(Ok(Message::Text(text))) => return Ok(text.to_string()),
                Some(Ok(Message::Close(Some(frame)))) if u16::from(frame.code) == KEY_REVOKED => {
                    return Err(Error::Refused(Refusal {
                        code: Some(KEY_REVOKED.into()),
                        word: Some("KEY_REVOKED".to_owned()),
                        message: printable(&frame.reason),
                    }));
                }
                Some(Ok(Message::Close(frame))) => {
                    let code = frame.map_or_else(String::new, |frame| format!(" with {}", u16::from(frame.code)));
                    return Err(Error::Unreachable(format!("the stream was closed{code}")));
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(Error::Unreachable(error.to_string())),
                None => return Err(Error::Unreachable("the stream ended".to_owned())),
            }
        }
    }
}
