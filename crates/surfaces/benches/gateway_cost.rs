//! The cost of authentication, both windows, accounting and the access log: requests a second of a keyed `btc_getblockcount`
//! through the gateway, with and without its log, against a server written for this one answer that sends the same headers or
//! none, against the same behind axum's router, and against the bare handler of the gateway. 64 connections, keep-alive, all in this process and in turns,
//! so that noise of the machine affects all. The log goes through the program's thread into a file.
//!
//! Catches: a store that is queried for each request, a lock that all requests share, work that is done twice, a log that is
//! written by the thread that answers.
//! `cargo bench -p paraffin-gateway --bench gateway_cost`; `--test` runs a short one. `--only` and one of `logged`, `silent`,
//! `handler`, `headers`, `plain` and `axum` load that one for ten seconds, for a profiler.
//!
//! Processor time for one request, client included, is printed beside the throughput: on a busy machine it is the more reliable
//! figure.
#![allow(clippy::unwrap_used, dead_code, missing_docs)] // a bench stops at the first failure; it shares the tests' parts

#[path = "../tests/gateway/chain.rs"]
mod chain;
#[path = "../tests/gateway/client.rs"]
mod client;
#[path = "../tests/gateway/instance.rs"]
mod instance;
#[path = "support/load.rs"]
mod load;
#[allow(dead_code)]
#[path = "../tests/gateway/market_chain.rs"]
mod market_chain;
#[path = "../tests/gateway/node.rs"]
mod node;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Path;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, DATE, HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper::{HeaderMap, Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use paraffin_access::{KeyStore as _, NewKey, Plan, WindowLimits};
use paraffin_gateway::{ChainState, LogForm, LogThread};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::net::TcpListener;

use load::{CONNECTIONS, Rate, load, median, post};

/// That of the program, for all servers of the bench and for the client.
#[global_allocator]
static ALLOCATOR: paraffin_allocator::Allocator = paraffin_allocator::Allocator;

const BAR: f64 = 0.85;
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"btc_getblockcount","params":[]}"#;

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    method: &'a str,
}

/// A minimal server for this answer: it parses only this method, takes a snapshot, formats a line and sends these headers.
async fn bare(chain: Arc<dyn ChainState>, headers: HeaderMap) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            let (chain, headers) = (Arc::clone(&chain), headers.clone());
            let service = service_fn(move |request: Request<Incoming>| {
                let (chain, headers) = (Arc::clone(&chain), headers.clone());
                async move {
                    let body = request.into_body().collect().await.unwrap().to_bytes();
                    let call: Call<'_> = serde_json::from_slice(&body).unwrap();
                    assert_eq!(call.method, "btc_getblockcount");
                    let height = chain.snapshot().tip().unwrap().id.height;
                    let answer = format!(r#"{{"jsonrpc":"2.0","result":{height},"id":{}}}"#, call.id.get());
                    let mut response = Response::new(Full::new(Bytes::from(answer)));
                    *response.headers_mut() = headers;
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

/// The same answer with the same headers, behind the router and the extractors of axum.
async fn axum(chain: Arc<dyn ChainState>, headers: HeaderMap) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let answer = move |Path(_key): Path<String>, body: Bytes| async move {
        let call: Call<'_> = serde_json::from_slice(&body).unwrap();
        assert_eq!(call.method, "btc_getblockcount");
        let height = chain.snapshot().tip().unwrap().id.height;
        (headers, format!(r#"{{"jsonrpc":"2.0","result":{height},"id":{}}}"#, call.id.get()))
    };
    let router = Router::new().route("/v4/{key}", axum::routing::post(answer));
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            let connection = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router.clone()));
            tokio::spawn(connection);
        }
    });
    address
}

fn main() {
    let small = std::env::args().any(|argument| argument == "--test");
    let (rounds, length) = if small { (1, Duration::from_millis(200)) } else { (7, Duration::from_secs(2)) };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let log = std::fs::File::create(folder.path().join("log")).unwrap();
    let form = LogForm { has_connection: true, ..LogForm::default() };
    let thread = LogThread::start(form, log).unwrap();
    let lines = thread.writer();
    let each_line = lines.clone();
    tracing_subscriber::fmt().with_writer(move || each_line.clone()).with_ansi(false).with_target(false).init();
    runtime.block_on(async {
        let setup = instance::Setup { access_log: Some(lines.clone()), ..Default::default() };
        let logged = instance::Instance::with(setup).await;
        let mut setup = instance::Setup::default();
        setup.config.access_log = false;
        let silent = instance::Instance::with(setup).await;
        let mut setup = instance::Setup { alone: true, ..Default::default() };
        setup.config.access_log = false;
        let handler = instance::Instance::with(setup).await;
        let (logged_path, silent_path) = (keyed_path(&logged).await, keyed_path(&silent).await);
        // Only the content type; then the headers of the gateway, whose values change from answer to answer.
        let plain = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        let answer = silent.post(&silent_path, CALL).await;
        let names = answer.headers.into_iter().filter(|(name, _)| name != DATE.as_str() && name != CONTENT_LENGTH.as_str());
        let headers: HeaderMap = names.map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse().unwrap())).collect();
        let state = || Arc::clone(&silent.state) as Arc<dyn ChainState>;
        let routed = axum(state(), HeaderMap::clone(&headers)).await;
        let (plain, headers) = (bare(state(), plain).await, bare(state(), headers).await);
        let targets = [
            ("logged", logged.address, logged_path.as_str()),
            ("silent", silent.address, silent_path.as_str()),
            ("handler", handler.address, "/"),
            ("headers", headers, "/"),
            ("plain", plain, "/"),
            ("axum", routed, silent_path.as_str()),
        ];
        if let Some(only) = std::env::args().skip_while(|argument| argument != "--only").nth(1) {
            let (_, address, path) = targets.into_iter().find(|(name, ..)| *name == only).unwrap();
            let rate = load(address, &post(path, CALL), Duration::from_secs(10)).await;
            println!("{only}: {:.0} a second, {:.2} us of processor time", rate.a_second, rate.cpu_us);
            return;
        }
        let mut rates: [Vec<Rate>; 6] = Default::default();
        for _ in 0..rounds {
            for ((_, address, path), rates) in targets.iter().zip(&mut rates) {
                rates.push(load(*address, &post(path, CALL), length).await);
            }
        }
        let a_second = |of: &[Rate]| median(of.iter().map(|rate| rate.a_second).collect());
        let cpu_us = |of: &[Rate]| median(of.iter().map(|rate| rate.cpu_us).collect());
        let figures = |of: usize| format!("{:.0} ({:.2} us)", a_second(&rates[of]), cpu_us(&rates[of]));
        // Ratios of neighbouring rounds, so that noise of the machine affects both.
        let ratio = |one: usize, other: usize| {
            median(rates[one].iter().zip(&rates[other]).map(|(one, other)| one.a_second / other.a_second).collect())
        };
        for (target, name, what) in [(0, "gateway cost", "access log on"), (1, "gateway cost without log", "access log off")] {
            println!(
                "{{\"bar\":\"{name}\",\"value\":{:.3},\"at_least\":{BAR},\"how\":\"requests a second of keyed btc_getblockcount with all middleware, {what}: {} over a server written for this answer that sends the same headers: {}; {:.3} of one that sends none: {}; {:.3} of the handler alone: {}; {:.3} of the same server behind axum: {}; {CONNECTIONS} connections, median of {rounds}, processor time of a request with its client in brackets; {} log lines dropped\"}}",
                ratio(target, 3), figures(target), figures(3), ratio(target, 4), figures(4), ratio(target, 2), figures(2), ratio(target, 5), figures(5), lines.dropped_lines()
            );
        }
        println!("round,target,requests_per_second,cpu_us");
        for ((name, ..), rates) in targets.iter().zip(&rates) {
            for (round, rate) in (1..).zip(rates) {
                println!("{round},{name},{:.0},{:.2}", rate.a_second, rate.cpu_us);
            }
        }
    });
}

/// The main surface with a key whose limits are never reached, so that both windows count and send their numbers.
async fn keyed_path(instance: &instance::Instance) -> String {
    let limits = WindowLimits { per_minute: Some(1_000_000_000), per_day: Some(2_000_000_000) };
    let new = NewKey { limits, ..NewKey::on_plan("bench", Plan::BUSINESS) };
    let key = instance.keys.create(new, "bench", 0).await.unwrap().key;
    format!("/v4/{}", key.reveal())
}
