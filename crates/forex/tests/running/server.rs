//! A web server on raw sockets with answers set by tests, which records its requests.

use std::net::SocketAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What is sent back.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// Status, further header lines each with `\r\n`, body.
    Http(u16, String, String),
    /// Nothing, ever.
    Silence,
    /// More bytes than anyone wants, without stating how many.
    Flood,
    /// The end of the connection within an answer.
    HangUp,
}

impl Answer {
    pub(crate) fn body(text: &str) -> Self {
        Self::Http(200, String::new(), text.to_owned())
    }
}

/// An answer by request: the head in lower case, the body.
pub(crate) type Script = Arc<dyn Fn(&str, &str) -> Answer + Send + Sync>;

struct State {
    script: Mutex<Script>,
    heads: Mutex<Vec<String>>,
}

pub(crate) struct Server {
    address: SocketAddr,
    state: Arc<State>,
    task: JoinHandle<()>,
}

impl Server {
    pub(crate) async fn start(answer: Answer) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let script: Script = Arc::new(move |_, _| answer.clone());
        let state = Arc::new(State { script: Mutex::new(script), heads: Mutex::default() });
        let shared = Arc::clone(&state);
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Self { address, state, task }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/latest?app_id=0123456789abcdef", self.address)
    }

    pub(crate) fn set_answer(&self, answer: Answer) {
        *self.state.script.lock() = Arc::new(move |_, _| answer.clone());
    }

    pub(crate) fn script(&self, script: Script) {
        *self.state.script.lock() = script;
    }

    pub(crate) fn heads(&self) -> Vec<String> {
        self.state.heads.lock().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, state: Arc<State>) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    loop {
        let (head, start, length) = loop {
            if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
                break (head, end + 4, length.unwrap_or(0_usize));
            }
            if stream.read_buf(&mut bytes).await? == 0 {
                return Ok(());
            }
        };
        while bytes.len() < start + length {
            if stream.read_buf(&mut bytes).await? == 0 {
                return Ok(());
            }
        }
        let body = String::from_utf8_lossy(&bytes[start..start + length]).into_owned();
        bytes.drain(..start + length);
        state.heads.lock().push(head.clone());
        let script = Arc::clone(&state.script.lock());
        match script(&head, &body) {
            Answer::Http(status, headers, body) => {
                let text = format!("HTTP/1.1 {status} x\r\n{headers}content-length: {}\r\n\r\n{body}", body.len());
                let text = if status == 304 { format!("HTTP/1.1 304 x\r\n{headers}\r\n") } else { text };
                stream.write_all(text.as_bytes()).await?;
            }
            Answer::Silence => std::future::pending::<()>().await,
            Answer::Flood => {
                stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
                loop {
                    stream.write_all(&vec![b' '; 1 << 16]).await?;
                }
            }
            Answer::HangUp => {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{").await?;
                return Ok(());
            }
        }
    }
}
