//! What authentication, both windows, accounting and all headers cost: requests a second of a keyed `btc_getblockcount`
//! through the gateway, against the same handler with nothing around it, and against a server written for this one answer.
//! 64 connections, keep-alive, access log off, all in this process and in turns, so that noise of the machine meets all.
//!
//! Catches: a store that is asked for each request, a lock that all requests share, work that is done twice.
//! `cargo bench -p paraffin-gateway --bench gateway_cost`; `--test` runs a short one. Prints one line of JSON. `--only with`,
//! `--only handler` and `--only bare` load one of the three for ten seconds, for a profiler.
//!
//! The processor's time for one request, client included, stands beside the throughput: on a machine that does other work
//! it says more.
#![allow(clippy::unwrap_used, dead_code, missing_docs)] // a bench stops at the first failure; it shares the tests' parts

#[path = "../tests/gateway/chain.rs"]
mod chain;
#[path = "../tests/gateway/client.rs"]
mod client;
#[path = "../tests/gateway/instance.rs"]
mod instance;
#[path = "support/load.rs"]
mod load;
#[path = "../tests/gateway/node.rs"]
mod node;
#[allow(dead_code)]
#[path = "../tests/gateway/town.rs"]
mod town;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use paraffin_access::{KeyStore as _, NewKey, Plan, WindowLimits};
use paraffin_gateway::ChainState;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::net::TcpListener;

use load::{CONNECTIONS, Rate, load, median, post};

const BAR: f64 = 0.9;
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"btc_getblockcount","params":[]}"#;

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    method: &'a str,
}

/// The least that can give this answer: a parse that knows only this method, a snapshot, a formatted line.
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

fn main() {
    let small = std::env::args().any(|argument| argument == "--test");
    let (rounds, length) = if small { (1, Duration::from_millis(200)) } else { (7, Duration::from_secs(2)) };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut setup = instance::Setup::default();
        setup.config.access_log = false;
        let instance = instance::Instance::with(setup).await;
        let handler = instance::Instance::with(instance::Setup { alone: true, ..Default::default() }).await;
        let bare = bare(Arc::clone(&instance.state) as Arc<dyn ChainState>).await;
        // Limits that exist and are never reached, so that both windows count and tell their numbers.
        let limits = WindowLimits { per_minute: Some(1_000_000_000), per_day: Some(2_000_000_000) };
        let new = NewKey { limits, ..NewKey::on_plan("bench", Plan::BUSINESS) };
        let key = instance.keys.create(new, "bench", 0).await.unwrap().key;
        let path = format!("/v4/{}", key.reveal());
        let targets =
            [("with", instance.address, path.as_str()), ("handler", handler.address, "/"), ("bare", bare, "/")];
        if let Some(only) = std::env::args().skip_while(|argument| argument != "--only").nth(1) {
            let (_, address, path) = targets.into_iter().find(|(name, ..)| *name == only).unwrap();
            let rate = load(address, &post(path, CALL), Duration::from_secs(10)).await;
            println!("{only}: {:.0} a second, {:.2} us of processor time", rate.a_second, rate.cpu_us);
            return;
        }
        let mut rates: [Vec<Rate>; 3] = Default::default();
        for _ in 0..rounds {
            for ((_, address, path), rates) in targets.iter().zip(&mut rates) {
                rates.push(load(*address, &post(path, CALL), length).await);
            }
        }
        let [with, handler, bare] = rates;
        let a_second = |of: &[Rate]| median(of.iter().map(|rate| rate.a_second).collect());
        let cpu_us = |of: &[Rate]| median(of.iter().map(|rate| rate.cpu_us).collect());
        // Of neighbouring rounds, so that what else the machine does meets both.
        let kept = |of: &[Rate]| median(with.iter().zip(of).map(|(with, of)| with.a_second / of.a_second).collect());
        let ratio = kept(&bare);
        println!(
            "{{\"bar\":\"gateway cost\",\"value\":{ratio:.3},\"floor\":{BAR},\"how\":\"requests a second of keyed btc_getblockcount with all middleware ({:.0}) over a server written for this answer ({:.0}), {CONNECTIONS} connections, median of {rounds}; over the same handler alone ({:.0}) {:.3}; processor time of a request, client included, {:.2}, {:.2} and {:.2} us\"}}",
            a_second(&with), a_second(&bare), a_second(&handler), kept(&handler), cpu_us(&with), cpu_us(&bare), cpu_us(&handler)
        );
        println!("with_per_second,handler_per_second,bare_per_second,with_cpu_us,handler_cpu_us,bare_cpu_us");
        for ((with, handler), bare) in with.iter().zip(&handler).zip(&bare) {
            println!(
                "{:.0},{:.0},{:.0},{:.2},{:.2},{:.2}",
                with.a_second, handler.a_second, bare.a_second, with.cpu_us, handler.cpu_us, bare.cpu_us
            );
        }
        assert!(small || ratio >= BAR, "the gateway keeps {ratio:.3} of the throughput");
    });
}
