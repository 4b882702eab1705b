//! The cost of a view of the pool index relative to the cheapest answer: requests a second of keyed `getprice` on the btcusd
//! surface against `/v4/api/health`, which identifies no callers. 64 connections, keep-alive, access log off, all in this process
//! and in turns, so that noise of the machine affects both.
//!
//! Catches: an answer that is computed, or sent to another thread, although the block that it was computed for is still the
//! newest. `cargo bench -p paraffin-gateway --bench views`; `--test` runs a short one. Prints one line of JSON and the single
//! figures. `--only views` and `--only health` load one of them for ten seconds, for a profiler.
#![allow(clippy::unwrap_used, dead_code, missing_docs)] // a bench stops at the first failure; it shares the tests' parts

#[path = "../tests/gateway/chain.rs"]
mod chain;
#[path = "../tests/gateway/client.rs"]
mod client;
#[path = "../tests/gateway/instance.rs"]
mod instance;
#[path = "support/load.rs"]
mod load;
#[path = "../tests/gateway/market_chain.rs"]
mod market_chain;
#[path = "../tests/gateway/node.rs"]
mod node;

use std::time::Duration;

use bitcoin::hex::DisplayHex as _;
use paraffin_cryptoswap::PoolRules;
use paraffin_cryptoswap::proto::{AlkaneId, GetPriceRequest};
use paraffin_surfaces::handlers;
use prost::Message as _;
use serde_json::json;

use load::{CONNECTIONS, load, median, post};

const BAR: f64 = 0.8;
/// Blocks that deploy the pools and trade in them.
const HEIGHT: u32 = 160;

fn main() {
    let small = std::env::args().any(|argument| argument == "--test");
    let (rounds, length) = if small { (1, Duration::from_millis(200)) } else { (7, Duration::from_secs(2)) };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let keyed = vec![handlers::btcusd(PoolRules::default())];
        let market = Some(market_chain::market_blocks(5, HEIGHT));
        let mut setup = instance::Setup { keyed, market, ..Default::default() };
        setup.config.access_log = false;
        let instance = instance::Instance::with(setup).await;
        let request = GetPriceRequest { pool: Some(AlkaneId { block: 4, tx: 1778 }) };
        let payload = format!("0x{}", request.encode_to_vec().to_lower_hex_string());
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "metashrew_view", "params": ["getprice", payload, "latest"]});
        let call = call.to_string();
        let path = instance.keyed("/btcusd");
        let answer = instance.post(&path, &call).await.json();
        assert!(answer["result"].as_str().is_some_and(|result| result.len() > 40), "{answer}");
        let health = "GET /v4/api/health HTTP/1.1\r\nHost: t\r\n\r\n".to_owned();
        let requests = [("views", post(&path, &call)), ("health", health)];
        if let Some(only) = std::env::args().skip_while(|argument| argument != "--only").nth(1) {
            let (_, request) = requests.iter().find(|(name, _)| *name == only).unwrap();
            let rate = load(instance.address, request, Duration::from_secs(10)).await;
            println!("{only}: {:.0} a second, {:.2} us of processor time", rate.a_second, rate.cpu_us);
            return;
        }
        let (mut views, mut health) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            views.push(load(instance.address, &requests[0].1, length).await);
            health.push(load(instance.address, &requests[1].1, length).await);
        }
        // Ratios of neighbouring rounds, so that noise of the machine affects both.
        let ratio = median(views.iter().zip(&health).map(|(view, health)| view.a_second / health.a_second).collect());
        let a_second = |of: &[load::Rate]| median(of.iter().map(|rate| rate.a_second).collect());
        let cpu_us = |of: &[load::Rate]| median(of.iter().map(|rate| rate.cpu_us).collect());
        println!(
            "{{\"bar\":\"pool views\",\"value\":{ratio:.3},\"at_least\":{BAR},\"how\":\"requests a second of keyed getprice on the btcusd surface ({:.0}) over /v4/api/health ({:.0}), {CONNECTIONS} connections, median of {rounds}; processor time of a request, client included, {:.2} and {:.2} us\"}}",
            a_second(&views), a_second(&health), cpu_us(&views), cpu_us(&health)
        );
        println!("views_per_second,health_per_second,views_cpu_us,health_cpu_us");
        for (view, health) in views.iter().zip(&health) {
            println!("{:.0},{:.0},{:.2},{:.2}", view.a_second, health.a_second, view.cpu_us, health.cpu_us);
        }
    });
}
