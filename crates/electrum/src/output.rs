//! Output to a client: answers are written in parts, so that a long one is never in memory as a whole.

use std::io;
use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};

use crate::api::Holder;
use crate::message::{Error, WireError};

/// Bytes that are buffered before they are sent.
const PART_BYTES: usize = 32 << 10;
/// Buffers of a session up to so many bytes on each side are part of [`crate::ElectrumSettings::memory_bytes`]; beyond, they count among
/// the bytes that the process holds.
pub(crate) const UNCOUNTED_BYTES_MAX: usize = 4 << 10;
/// Capacity that an idle session keeps.
const IDLE_BYTES: usize = 1 << 10;

/// A connection of any kind.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send + Sync {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send + Sync> Stream for T {}

/// The client does not read its answers, or has disconnected, or there is no memory for its answer.
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
    held: Box<dyn Holder>,
    /// Bytes of values that are sent in parts, beside the buffer.
    source: usize,
}

impl Output {
    pub(crate) fn new(stream: Box<dyn Stream>, timeout: Duration, held: Box<dyn Holder>) -> Self {
        Self { stream, buffer: Vec::new(), timeout, put: 0, held, source: 0 }
    }

    /// Bytes that were ever put.
    pub(crate) fn bytes(&self) -> u64 {
        self.put
    }

    /// Puts text, which is sent once the buffer is full.
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
        self.put_json(value)?;
        self.flush_full().await
    }

    fn put_json(&mut self, value: &impl Serialize) -> Result<(), Gone> {
        let before = self.buffer.len();
        serde_json::to_writer(&mut self.buffer, value).map_err(|_| Gone)?;
        self.put += (self.buffer.len() - before) as u64;
        Ok(())
    }

    /// Puts a whole answer. The value is dropped before waiting for the client.
    pub(crate) async fn answer<T: Serialize>(&mut self, id: &RawValue, value: T) -> Result<(), Gone> {
        #[derive(Serialize)]
        struct Answer<'a, T> {
            jsonrpc: &'static str,
            id: &'a RawValue,
            result: T,
        }
        let answer = Answer { jsonrpc: "2.0", id, result: value };
        self.put_json(&answer)?;
        drop(answer);
        self.flush_full().await
    }

    /// Puts bytes as a text of hexadecimal digits.
    pub(crate) async fn hex(&mut self, bytes: &[u8]) -> Result<(), Gone> {
        use bitcoin::hex::DisplayHex as _;
        self.source = bytes.len();
        self.text("\"").await?;
        for part in bytes.chunks(PART_BYTES / 2) {
            self.text(&part.to_lower_hex_string()).await?;
        }
        self.source = 0;
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
        let bytes = self.buffer.capacity().saturating_add(self.source);
        if bytes > UNCOUNTED_BYTES_MAX && !self.held.reach(bytes) {
            return Err(Gone);
        }
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

    /// Flushes the buffer, and releases memory that an idle session does not need.
    pub(crate) async fn flush(&mut self) -> Result<(), Gone> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        self.send().await?;
        self.buffer.shrink_to(IDLE_BYTES);
        self.held.shrink(0);
        match tokio::time::timeout(self.timeout, self.stream.flush()).await {
            Ok(flushed) => Ok(flushed?),
            Err(_) => Err(Gone),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// A memory budget that records how many bytes are held.
    struct Memory {
        max: usize,
        held: Arc<AtomicUsize>,
    }

    impl Holder for Memory {
        fn reach(&mut self, bytes: usize) -> bool {
            self.held.fetch_max(bytes, Ordering::Relaxed);
            bytes <= self.max
        }

        fn shrink(&mut self, bytes: usize) {
            self.held.fetch_min(bytes, Ordering::Relaxed);
        }
    }

    fn output(max: usize) -> (Output, tokio::io::DuplexStream, Arc<AtomicUsize>) {
        let (stream, client) = tokio::io::duplex(1 << 10);
        let held = Arc::new(AtomicUsize::new(0));
        let memory = Memory { max, held: Arc::clone(&held) };
        (Output::new(Box::new(stream), Duration::from_millis(20), Box::new(memory)), client, held)
    }

    #[tokio::test]
    async fn buffered_output_is_counted() {
        let id = serde_json::value::to_raw_value(&1).unwrap();
        let (mut small, _client, held) = output(0);
        small.answer(&id, "x".repeat(1_000)).await.unwrap();
        assert_eq!(held.load(Ordering::Relaxed), 0, "a small answer is part of its session");

        let text = "x".repeat(300_000);
        let (mut deaf, _client, held) = output(usize::MAX);
        assert!(deaf.answer(&id, &text).await.is_err(), "a client that takes nothing is left");
        assert!(held.load(Ordering::Relaxed) >= text.len());
        let (mut deaf, _client, held) = output(usize::MAX);
        assert!(deaf.hex(&vec![7; 300_000]).await.is_err());
        assert!(held.load(Ordering::Relaxed) >= 300_000, "the bytes are there until the last part is sent");

        let (mut full, _client, _) = output(200_000);
        assert!(full.answer(&id, &text).await.is_err(), "no memory");
    }

    #[tokio::test]
    async fn sent_output_is_released() {
        use tokio::io::AsyncReadExt as _;
        let id = serde_json::value::to_raw_value(&1).unwrap();
        let (mut served, mut client, held) = output(usize::MAX);
        let reader = tokio::spawn(async move {
            let mut all = Vec::new();
            client.read_to_end(&mut all).await.map(|_| all)
        });
        served.answer(&id, "x".repeat(30_000)).await.unwrap();
        assert!(held.load(Ordering::Relaxed) >= 30_000);
        served.flush().await.unwrap();
        assert_eq!(held.load(Ordering::Relaxed), 0);
        drop(served);
        let expected = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"{}\"}}", "x".repeat(30_000));
        assert_eq!(reader.await.unwrap().unwrap(), expected.as_bytes());
    }
}
