//! What is written to a client: answers part by part, so that a long one is never in memory as a whole.

use std::io;
use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};

use crate::message::{Error, WireError};

/// Bytes that are put together before they are sent.
const PART_BYTES: usize = 32 << 10;
/// Capacity that an idle session keeps.
const IDLE_BYTES: usize = 1 << 10;

/// A connection of any kind.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send + Sync {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send + Sync> Stream for T {}

/// The client does not take what it is sent, or is gone.
#[derive(Debug)]
pub(crate) struct Gone;

impl From<io::Error> for Gone {
    fn from(_: io::Error) -> Self {
        Self
    }
}

/// The writing side of a session.
pub(crate) struct Output {
    pub(crate) stream: Box<dyn Stream>,
    buffer: Vec<u8>,
    timeout: Duration,
    /// Bytes ever put.
    put: u64,
}

impl Output {
    pub(crate) fn new(stream: Box<dyn Stream>, timeout: Duration) -> Self {
        Self { stream, buffer: Vec::new(), timeout, put: 0 }
    }

    /// Bytes that were ever put.
    pub(crate) fn bytes(&self) -> u64 {
        self.put
    }

    /// Puts text; sent when there is enough of it.
    pub(crate) async fn text(&mut self, text: &str) -> Result<(), Gone> {
        // Long texts go out in parts as well.
        for part in text.as_bytes().chunks(PART_BYTES) {
            self.buffer.extend_from_slice(part);
            self.put += part.len() as u64;
            self.flush_full().await?;
        }
        Ok(())
    }

    /// Puts a value as JSON.
    pub(crate) async fn json(&mut self, value: &impl Serialize) -> Result<(), Gone> {
        let before = self.buffer.len();
        serde_json::to_writer(&mut self.buffer, value).map_err(|_| Gone)?;
        self.put += (self.buffer.len() - before) as u64;
        self.flush_full().await
    }

    /// Puts bytes as a text of hexadecimal digits.
    pub(crate) async fn hex(&mut self, bytes: &[u8]) -> Result<(), Gone> {
        use bitcoin::hex::DisplayHex as _;
        self.text("\"").await?;
        for part in bytes.chunks(PART_BYTES / 2) {
            self.text(&part.to_lower_hex_string()).await?;
        }
        self.text("\"").await
    }

    /// Puts a list of values.
    pub(crate) async fn list<T: Serialize>(&mut self, values: impl Iterator<Item = T> + Send) -> Result<(), Gone> {
        self.text("[").await?;
        let mut is_first = true;
        for value in values {
            if !std::mem::take(&mut is_first) {
                self.buffer.push(b',');
                self.put += 1;
            }
            let before = self.buffer.len();
            serde_json::to_writer(&mut self.buffer, &value).map_err(|_| Gone)?;
            self.put += (self.buffer.len() - before) as u64;
            if self.buffer.len() >= PART_BYTES {
                self.flush_full().await?;
            }
        }
        self.text("]").await
    }

    /// Begins the answer to a request; its result follows, then [`Output::end`].
    pub(crate) async fn begin(&mut self, id: &RawValue) -> Result<(), Gone> {
        self.text("{\"jsonrpc\":\"2.0\",\"id\":").await?;
        self.text(id.get()).await?;
        self.text(",\"result\":").await
    }

    /// Ends an answer.
    pub(crate) async fn end(&mut self) -> Result<(), Gone> {
        self.text("}").await
    }

    /// A whole answer that is an error.
    pub(crate) async fn error(&mut self, id: Option<&RawValue>, error: &Error) -> Result<(), Gone> {
        #[derive(Serialize)]
        struct Answer<'a> {
            jsonrpc: &'static str,
            id: Option<&'a RawValue>,
            error: WireError,
        }
        let (code, message) = error.wire();
        self.json(&Answer { jsonrpc: "2.0", id, error: WireError { code, message } }).await
    }

    /// A notification as a line of its own.
    pub(crate) async fn notification(&mut self, method: &str, params: &impl Serialize) -> Result<(), Gone> {
        #[derive(Serialize)]
        struct Notification<'a, P> {
            jsonrpc: &'static str,
            method: &'a str,
            params: &'a P,
        }
        self.json(&Notification { jsonrpc: "2.0", method, params }).await?;
        self.text("\n").await
    }

    async fn flush_full(&mut self) -> Result<(), Gone> {
        if self.buffer.len() < PART_BYTES { Ok(()) } else { self.send().await }
    }

    async fn send(&mut self) -> Result<(), Gone> {
        let Self { stream, buffer, timeout, .. } = self;
        // A part has less than 64 KiB, or one value beyond.
        for part in buffer.chunks(2 * PART_BYTES) {
            match tokio::time::timeout(*timeout, stream.write_all(part)).await {
                Ok(written) => written?,
                Err(_) => return Err(Gone),
            }
        }
        buffer.clear();
        Ok(())
    }

    /// Sends what was put, and gives back what an idle session does not need.
    pub(crate) async fn flush(&mut self) -> Result<(), Gone> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        self.send().await?;
        self.buffer.shrink_to(IDLE_BYTES);
        match tokio::time::timeout(self.timeout, self.stream.flush()).await {
            Ok(flushed) => Ok(flushed?),
            Err(_) => Err(Gone),
        }
    }
}
