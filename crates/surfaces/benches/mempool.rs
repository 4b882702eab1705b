//! The live mempool with 150,000 transactions, over real connections: how long a full snapshot takes, how soon a subscriber
//! receives an observed transaction, and how many frames a second reach 200 subscribers.
//!
//! Catches: a page that walks over the pages before it, a lock held while an answer is written, a frame that is written anew
//! for each subscriber. `cargo bench -p paraffin-gateway --bench mempool -- --bar snapshot` (or `observe`, `deliveries`);
//! `--test` runs a small one. Prints one line of JSON and the single figures.
#![allow(clippy::unwrap_used, dead_code, missing_docs)] // a bench stops at the first failure; it shares the tests' parts

#[path = "../tests/gateway/chain.rs"]
mod chain;
#[path = "../tests/gateway/client.rs"]
mod client;
#[path = "../tests/gateway/instance.rs"]
mod instance;
#[path = "../tests/gateway/market_chain.rs"]
mod market_chain;
#[path = "../tests/gateway/node.rs"]
mod node;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bitcoin::hashes::Hash as _;
use bitcoin::{OutPoint, ScriptBuf, Transaction, Txid};
use bytes::Bytes;
use paraffin_access::{KeyStore as _, NewKey, Plan};
use paraffin_mempool::{Limits, Mempool, Origin};
use paraffin_surfaces::handlers;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const NOW: u64 = 1_754_770_000_123;
const SUBSCRIBERS: usize = 200;

/// A typical transaction: one input, two outputs, about 250 virtual bytes.
fn transaction(number: u64) -> Transaction {
    let mut txid = [7; 32];
    txid[..8].copy_from_slice(&number.to_be_bytes());
    let script = |part: u64| {
        let digest = bitcoin::hashes::sha256::Hash::hash(&(number * 2 + part).to_be_bytes());
        ScriptBuf::new_op_return([0; 0])
            .into_bytes()
            .into_iter()
            .chain(*digest.as_byte_array())
            .collect::<Vec<u8>>()
            .into()
    };
    let outputs = [(40_000 + number % 1_000, script(0)), (50_000, script(1))];
    let mut transaction = chain::payment(&[OutPoint { txid: Txid::from_byte_array(txid), vout: 0 }], &outputs);
    transaction.input[0].script_sig = ScriptBuf::from_bytes(vec![0x51; 107]);
    transaction
}

fn raw(transaction: &Transaction) -> Bytes {
    bitcoin::consensus::serialize(transaction).into()
}

async fn instance(count: u64) -> (instance::Instance, Arc<Mempool>) {
    let confirmed = |_: &OutPoint| {
        Some(bitcoin::TxOut { value: bitcoin::Amount::from_sat(100_000), script_pubkey: ScriptBuf::new() })
    };
    let mempool = Mempool::new(Limits::default(), 7, Arc::new(confirmed));
    for number in 0..count {
        let transaction = transaction(number);
        mempool.insert(&transaction, raw(&transaction), Origin::P2p, NOW).unwrap();
    }
    let keyed = vec![handlers::mempool(Arc::clone(&mempool))];
    let mut setup = instance::Setup { keyed, ..instance::Setup::default() };
    setup.config.access_log = false;
    (instance::Instance::with(setup).await, mempool)
}

/// All pages of 5,000 over one connection; seconds.
async fn snapshot(instance: &instance::Instance, count: u64) -> f64 {
    let started = Instant::now();
    let (mut cursor, mut read) = (0, 0);
    loop {
        let params = json!({"limit": 5_000, "cursor": cursor});
        let body = json!({"id": 1, "method": "mempool_snapshot", "params": params}).to_string();
        let page = instance.post(&instance.keyed("/mempool"), body).await.json();
        let page = &page["result"];
        read += page["entries"].as_array().unwrap().len() as u64;
        cursor = page["cursor"].as_u64().unwrap();
        if page["has_more"] != true {
            break;
        }
    }
    assert_eq!(read, count);
    started.elapsed().as_secs_f64()
}

/// A stream after its handshake and subscription.
async fn subscribe(address: SocketAddr, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    assert!(head.starts_with(b"HTTP/1.1 101 "));
    frame(&mut stream).await;
    // A masked text of 18 bytes with a mask of zeros.
    let text = br#"{"op":"subscribe"}"#;
    let mut message = vec![0x81, 0x80 | u8::try_from(text.len()).unwrap(), 0, 0, 0, 0];
    message.extend_from_slice(text);
    stream.write_all(&message).await.unwrap();
    let ping = br#"{"op":"ping"}"#;
    let mut message = vec![0x81, 0x80 | u8::try_from(ping.len()).unwrap(), 0, 0, 0, 0];
    message.extend_from_slice(ping);
    stream.write_all(&message).await.unwrap();
    let pong: Value = serde_json::from_slice(&frame(&mut stream).await).unwrap();
    assert_eq!(pong["type"], "pong");
    stream
}

/// The next unmasked frame.
async fn frame(stream: &mut TcpStream) -> Vec<u8> {
    stream.read_u8().await.unwrap();
    let length = match stream.read_u8().await.unwrap() {
        126 => usize::from(stream.read_u16().await.unwrap()),
        127 => usize::try_from(stream.read_u64().await.unwrap()).unwrap(),
        length => usize::from(length),
    };
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.unwrap();
    body
}

/// Counts whole frames without parsing their payload.
async fn count_frames(mut stream: TcpStream, wanted: u64, seen: Arc<AtomicU64>) {
    let mut buffer = vec![0; 256 << 10];
    let (mut held, mut frames) = (0, 0);
    while frames < wanted {
        let read = stream.read(&mut buffer[held..]).await.unwrap();
        assert_ne!(read, 0, "the server hung up after {frames} frames");
        held += read;
        let (mut at, before) = (0, frames);
        loop {
            let (header, length) = match buffer[at..held] {
                [_, 126, high, low, ..] => (4, usize::from(u16::from_be_bytes([high, low]))),
                [_, 126 | 127, ..] | [] | [_] => break,
                [_, length, ..] => (2, usize::from(length)),
            };
            if at + header + length > held {
                break;
            }
            at += header + length;
            frames += 1;
        }
        buffer.copy_within(at..held, 0);
        held -= at;
        seen.fetch_add(frames - before, Ordering::Relaxed);
    }
}

fn rank(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
    values[((values.len() as f64 * share) as usize).min(values.len() - 1)]
}

async fn observe(instance: &instance::Instance, count: u64, rounds: u64) -> Vec<f64> {
    let new = NewKey { admin: true, ..NewKey::on_plan("admin", Plan::BUSINESS) };
    let admin = instance.keys.create(new, "bench", 0).await.unwrap().key.reveal();
    let mut stream = subscribe(instance.address, &instance.keyed("/mempool/ws")).await;
    let mut connection = TcpStream::connect(instance.address).await.unwrap();
    connection.set_nodelay(true).unwrap();
    let mut milliseconds = Vec::new();
    for round in 0..rounds {
        let body = raw(&transaction(count + round));
        let head =
            format!("POST /v4/{admin}/mempool/observe HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", body.len());
        let message = [head.as_bytes(), &body].concat();
        let started = Instant::now();
        connection.write_all(&message).await.unwrap();
        let heard = frame(&mut stream).await;
        milliseconds.push(started.elapsed().as_secs_f64() * 1e3);
        assert!(heard.starts_with(b"{\"type\":\"add\""));
        let mut answer = [0; 2048];
        let read = connection.read(&mut answer).await.unwrap();
        assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer[..read]));
    }
    milliseconds
}

async fn deliveries(instance: &instance::Instance, mempool: &Arc<Mempool>, count: u64, frames: u64) -> f64 {
    let seen = Arc::new(AtomicU64::new(0));
    let mut readers = Vec::new();
    for _ in 0..SUBSCRIBERS {
        let stream = subscribe(instance.address, &instance.keyed("/mempool/ws")).await;
        readers.push(tokio::spawn(count_frames(stream, frames, Arc::clone(&seen))));
    }
    let new: Vec<Transaction> = (count..count + frames).map(transaction).collect();
    let started = Instant::now();
    let mempool = Arc::clone(mempool);
    let writer = tokio::task::spawn_blocking(move || {
        for transaction in &new {
            mempool.insert(transaction, raw(transaction), Origin::P2p, NOW).unwrap();
        }
    });
    for reader in readers {
        tokio::time::timeout(Duration::from_secs(300), reader).await.unwrap().unwrap();
    }
    writer.await.unwrap();
    let elapsed = started.elapsed().as_secs_f64();
    #[allow(clippy::cast_precision_loss)]
    let delivered = seen.load(Ordering::Relaxed) as f64;
    delivered / elapsed
}

fn main() {
    let small = std::env::args().any(|argument| argument == "--test");
    let wanted =
        std::env::args().skip_while(|argument| argument != "--bar").nth(1).unwrap_or_else(|| "snapshot".to_owned());
    let (count, rounds, frames) = if small { (2_000, 20, 200) } else { (150_000, 1_000, 20_000) };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (instance, mempool) = instance(count).await;
        match wanted.as_str() {
            "snapshot" => {
                let mut seconds = Vec::new();
                for _ in 0..if small { 1 } else { 5 } {
                    seconds.push(snapshot(&instance, count).await);
                }
                let middle = rank(&mut seconds, 0.5);
                println!(
                    "{{\"bar\":\"mempool snapshot\",\"value\":{middle:.3},\"at_most\":2,\"how\":\"seconds for all {count} entries in pages of 5,000 over HTTP, parsed by the client, median of {}\"}}",
                    seconds.len()
                );
                println!("seconds");
                for seconds in seconds {
                    println!("{seconds:.3}");
                }
            }
            "observe" => {
                let mut milliseconds = observe(&instance, count, rounds).await;
                let (middle, late) = (rank(&mut milliseconds, 0.5), rank(&mut milliseconds, 0.99));
                println!(
                    "{{\"bar\":\"mempool observe\",\"value\":{late:.3},\"at_most\":5,\"how\":\"milliseconds from the request to the subscriber's frame, 99th of 100, {rounds} transactions beside {count}; median {middle:.3}\"}}"
                );
                println!("milliseconds");
                for milliseconds in milliseconds {
                    println!("{milliseconds:.3}");
                }
            }
            "deliveries" => {
                let rate = deliveries(&instance, &mempool, count, frames).await;
                println!(
                    "{{\"bar\":\"mempool deliveries\",\"value\":{rate:.0},\"at_least\":150000,\"how\":\"frames a second that {SUBSCRIBERS} subscribers have read, clients in the same process, {frames} new transactions beside {count}\"}}"
                );
                println!("deliveries_per_second");
                println!("{rate:.0}");
            }
            other => panic!("--bar {other}: snapshot, observe or deliveries"),
        }
    });
}
