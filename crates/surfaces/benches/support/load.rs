//! Closed-loop load: many connections that each send the next request as soon as they are answered.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

pub(crate) const CONNECTIONS: usize = 64;

/// Requests a second, and microseconds of processor time for one of them.
#[derive(Clone, Copy, Default)]
pub(crate) struct Rate {
    pub(crate) a_second: f64,
    pub(crate) cpu_us: f64,
}

/// User and system time of this process in seconds; Linux counts it in hundredths.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap();
    let after_name = text.rsplit(')').next().unwrap();
    let ticks: f64 = after_name.split_whitespace().skip(11).take(2).map(|field| field.parse::<f64>().unwrap()).sum();
    ticks / 100.0
}

/// A JSON-RPC request as it goes over the wire.
pub(crate) fn post(path: &str, call: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: t\r\nContent-Length: {}\r\n\r\n{call}", call.len())
}

/// Loads one address with the same request from [`CONNECTIONS`] kept connections.
pub(crate) async fn load(address: SocketAddr, request: &str, length: Duration) -> Rate {
    let (answered, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let clients: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let (request, answered, stop) = (request.to_owned(), Arc::clone(&answered), Arc::clone(&stop));
            tokio::spawn(async move {
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream.set_nodelay(true).unwrap();
                let mut buffer = [0; 2048];
                while !stop.load(Ordering::Relaxed) {
                    stream.write_all(request.as_bytes()).await.unwrap();
                    // Answers are small and come in one piece.
                    let read = stream.read(&mut buffer).await.unwrap();
                    assert!(buffer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&buffer[..read]));
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    let (started, cpu_before) = (Instant::now(), cpu_seconds());
    tokio::time::sleep(length).await;
    stop.store(true, Ordering::Relaxed);
    let (elapsed, cpu) = (started.elapsed().as_secs_f64(), cpu_seconds() - cpu_before);
    #[allow(clippy::cast_precision_loss)]
    let requests = answered.load(Ordering::Relaxed) as f64;
    for client in clients {
        client.await.unwrap();
    }
    Rate { a_second: requests / elapsed, cpu_us: cpu * 1e6 / requests }
}

/// The median of `values`.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
