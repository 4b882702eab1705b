//! What authentication, both windows, accounting and all headers cost: requests a second of a keyed `btc_getblockcount`
//! through the gateway, against the same answer from a server that does nothing else. 64 connections, keep-alive, access
//! log off, both in this process and in turns, so that noise of the machine meets both.
//!
//! Catches: a store that is asked for each request, a lock that all requests share, work that is done twice.
//! `cargo bench -p paraffin-gateway --bench gateway_cost`; `--test` runs a short one. Prints one line of JSON.
#![allow(clippy::unwrap_used, dead_code, missing_docs)] // a bench stops at the first failure; it shares the tests' parts

#[path = "../tests/gateway/chain.rs"]
mod chain;
#[path = "../tests/gateway/client.rs"]
mod client;
#[path = "../tests/gateway/instance.rs"]
mod instance;
#[path = "../tests/gateway/node.rs"]
mod node;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use paraffin_gateway::ChainState;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

const CONNECTIONS: usize = 64;
const BAR: f64 = 0.9;
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"btc_getblockcount","params":[]}"#;

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    method: &'a str,
}

/// The same parsing, the same snapshot and the same answer, without anything around it.
async fn bare(chain: Arc<dyn ChainState>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            let chain = Arc::clone(&chain);
            let service = service_fn(move |request: Request<Incoming>| {
                let chain = Arc::clone(&chain);
                async move {
                    let body = request.into_body().collect().await.unwrap().to_bytes();
                    let call: Call<'_> = serde_json::from_slice(&body).unwrap();
                    assert_eq!(call.method, "btc_getblockcount");
                    let height = chain.snapshot().tip().unwrap().id.height;
                    let answer = format!(r#"{{"jsonrpc":"2.0","result":{height},"id":{}}}"#, call.id.get());
                    let mut response = Response::new(Full::new(Bytes::from(answer)));
                    response
                        .headers_mut()
                        .insert("content-type", hyper::header::HeaderValue::from_static("application/json"));
                    Ok::<_, Infallible>(response)
                }
            });
            let connection = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(stream), service);
            tokio::spawn(connection);
        }
    });
    address
}

/// Requests a second at one address.
async fn load(address: SocketAddr, path: &str, length: Duration) -> f64 {
    let request = format!("POST {path} HTTP/1.1\r\nHost: t\r\nContent-Length: {}\r\n\r\n{CALL}", CALL.len());
    let (answered, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let clients: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let (request, answered, stop) = (request.clone(), Arc::clone(&answered), Arc::clone(&stop));
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
    let started = Instant::now();
    tokio::time::sleep(length).await;
    stop.store(true, Ordering::Relaxed);
    let elapsed = started.elapsed();
    #[allow(clippy::cast_precision_loss)]
    let rate = answered.load(Ordering::Relaxed) as f64 / elapsed.as_secs_f64();
    for client in clients {
        client.await.unwrap();
    }
    rate
}

fn main() {
    let small = std::env::args().any(|argument| argument == "--test");
    let (rounds, length) = if small { (1, Duration::from_millis(200)) } else { (7, Duration::from_secs(2)) };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut setup = instance::Setup::default();
        setup.config.access_log = false;
        let instance = instance::Instance::with(setup).await;
        let bare = bare(Arc::clone(&instance.state) as Arc<dyn ChainState>).await;
        let path = instance.keyed("");
        let mut ratios = Vec::new();
        let (mut with, mut without) = (0.0, 0.0);
        for _ in 0..rounds {
            with = load(instance.address, &path, length).await;
            without = load(bare, "/", length).await;
            ratios.push(with / without);
        }
        ratios.sort_by(f64::total_cmp);
        let ratio = ratios[ratios.len() / 2];
        println!(
            "{{\"bar\":\"gateway cost\",\"value\":{ratio:.3},\"floor\":{BAR},\"how\":\"requests a second of keyed btc_getblockcount with all middleware ({with:.0}) over the bare handler ({without:.0}), {CONNECTIONS} connections, median of {rounds}\"}}"
        );
        assert!(small || ratio >= BAR, "the gateway keeps {ratio:.3} of the throughput");
    });
}
