//! A scripted web server for tests, which can also send invalid answers.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use paraffin_gateway::BoxFuture;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// The server's reaction to a request.
pub(crate) enum Reaction {
    /// Sends these bytes and closes.
    Bytes(Vec<u8>),
    /// Sends these bytes, then more and more of them.
    Endless(Vec<u8>),
    /// Sends these bytes, then one byte every now and then.
    Slow(Vec<u8>),
    /// Waits, then sends these bytes and closes.
    Late(Duration, Vec<u8>),
    /// Closes without an answer.
    Nothing,
}

/// A whole answer.
pub(crate) fn answer(status: u16, head: &str, body: impl AsRef<[u8]>) -> Reaction {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n{head}\r\n", body.len());
    Reaction::Bytes([head.as_bytes(), body].concat())
}

type React = dyn Fn(ReceivedRequest) -> BoxFuture<'static, Reaction> + Send + Sync;

/// A request as received.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedRequest {
    pub(crate) path: String,
    pub(crate) head: String,
}

pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
    most: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Upstream {
    pub(crate) async fn start(
        react: impl Fn(ReceivedRequest) -> BoxFuture<'static, Reaction> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (requests, most): (Arc<Mutex<Vec<ReceivedRequest>>>, _) = (Arc::default(), Arc::new(AtomicUsize::new(0)));
        let (log, seen, react): (_, _, Arc<React>) = (Arc::clone(&requests), Arc::clone(&most), Arc::new(react));
        let task = tokio::spawn(async move {
            let open = Arc::new(AtomicUsize::new(0));
            while let Ok((stream, _)) = listener.accept().await {
                let (log, seen) = (Arc::clone(&log), Arc::clone(&seen));
                let (react, open) = (Arc::clone(&react), Arc::clone(&open));
                tokio::spawn(async move {
                    seen.fetch_max(open.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    serve(stream, &log, react.as_ref()).await;
                    open.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        Self { address, requests, most, task }
    }

    /// One that does the same with every request.
    pub(crate) async fn always(reaction: impl Fn() -> Reaction + Send + Sync + 'static) -> Self {
        Self::start(move |_| {
            let reaction = reaction();
            Box::pin(async move { reaction })
        })
        .await
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far.
    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        self.requests.lock().unwrap().clone()
    }

    /// The most connections that were open at a time.
    pub(crate) fn most_open(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, log: &Mutex<Vec<ReceivedRequest>>, react: &React) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let Ok(byte) = stream.read_u8().await else { return };
        head.push(byte);
    }
    let head = String::from_utf8(head).unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
    if stream.read_exact(&mut vec![0; length]).await.is_err() {
        return;
    }
    let path = head.split(' ').nth(1).unwrap().to_owned();
    let request = ReceivedRequest { path, head };
    log.lock().unwrap().push(request.clone());
    match react(request).await {
        Reaction::Nothing => {}
        Reaction::Bytes(bytes) => drop(stream.write_all(&bytes).await),
        Reaction::Late(pause, bytes) => {
            tokio::time::sleep(pause).await;
            let _ = stream.write_all(&bytes).await;
        }
        Reaction::Endless(bytes) => {
            let mut sent = stream.write_all(&bytes).await;
            while sent.is_ok() {
                sent = stream.write_all(&vec![b'['; 65_536]).await;
            }
        }
        Reaction::Slow(bytes) => {
            let mut sent = stream.write_all(&bytes).await;
            while sent.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
                sent = stream.write_all(b" ").await;
            }
        }
    }
    let _ = stream.shutdown().await;
}
