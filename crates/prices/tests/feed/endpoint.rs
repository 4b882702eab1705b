//! A small EVM endpoint on raw sockets: it answers as a pool does unless a test sets another answer.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

pub(crate) const POOL: &str = "0x99ac8ca7087fa4a2a1fb6357269965a2014abc35";
pub(crate) const BITCOIN: &str = "0x2260fac5e5542a773aa44fbcfedf7c193bc2c599";
pub(crate) const USD: &str = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48";

/// Kind of the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    V3,
    /// Without `observe`, as a young pool is.
    V3WithoutMean,
    V2,
}

/// What the endpoint answers.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) kind: Kind,
    pub(crate) chain_id: u64,
    /// Time of block 0; a block every 12 seconds.
    pub(crate) genesis: u64,
    pub(crate) head: u64,
    /// Dollars for one bitcoin at a block.
    pub(crate) dollars: fn(u64) -> f64,
    /// Dollars of the mean at a block, where they differ.
    pub(crate) mean: Option<f64>,
    pub(crate) bitcoin_is_token0: bool,
    pub(crate) decimals: [u64; 2],
    pub(crate) liquidity: u128,
    /// Blocks behind the head whose state is available.
    pub(crate) archived: u64,
}

/// A faulty answer in place of a correct one.
#[derive(Debug, Clone)]
pub(crate) enum Instead {
    /// Status, further header lines, body.
    Http(u16, &'static str, String),
    /// The `result` of the call.
    Result(Value),
    /// The `error` of the call.
    Error(Value),
    /// The id of another call.
    OtherId,
    /// Nothing, ever.
    Silence,
    /// One byte now and then.
    Drip,
    /// Bytes without end, without a length.
    Flood,
    /// The end of the connection.
    HangUp,
}

/// Decides by method, contract and selector of a call whether a faulty answer is sent.
pub(crate) type Fault = Arc<dyn Fn(&str, &str, &str) -> Option<Instead> + Send + Sync>;

struct State {
    world: Mutex<World>,
    fault: Mutex<Option<Fault>>,
    requests: AtomicU64,
}

pub(crate) struct Endpoint {
    pub(crate) address: SocketAddr,
    state: Arc<State>,
    task: JoinHandle<()>,
}

impl Endpoint {
    pub(crate) async fn start(world: World) -> Self {
        Self::at(SocketAddr::from(([127, 0, 0, 1], 0)), world).await
    }

    pub(crate) async fn at(address: SocketAddr, world: World) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State { world: Mutex::new(world), fault: Mutex::default(), requests: AtomicU64::new(0) });
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
        format!("http://{}/v3/0123456789abcdef", self.address)
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut World)) {
        change(&mut self.state.world.lock());
    }

    pub(crate) fn set_fault(&self, fault: Option<Fault>) {
        *self.state.fault.lock() = fault;
    }

    pub(crate) fn requests(&self) -> u64 {
        self.state.requests.load(Ordering::Relaxed)
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, state: Arc<State>) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    loop {
        let (head, length) = loop {
            if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
                break (end + 4, length.unwrap_or(0_usize));
            }
            if stream.read_buf(&mut bytes).await? == 0 {
                return Ok(());
            }
        };
        while bytes.len() < head + length {
            stream.read_buf(&mut bytes).await?;
        }
        state.requests.fetch_add(1, Ordering::Relaxed);
        let call: Value = serde_json::from_slice(&bytes[head..head + length]).unwrap();
        bytes.drain(..head + length);
        let answer = answer(&state, &call);
        let body = match answer {
            Instead::Result(result) => json!({ "jsonrpc": "2.0", "id": call["id"], "result": result }).to_string(),
            Instead::Error(error) => json!({ "jsonrpc": "2.0", "id": call["id"], "error": error }).to_string(),
            Instead::OtherId => json!({ "jsonrpc": "2.0", "id": 987_654, "result": "0x1" }).to_string(),
            Instead::Http(status, headers, body) => {
                let text = format!("HTTP/1.1 {status} x\r\n{headers}content-length: {}\r\n\r\n{body}", body.len());
                stream.write_all(text.as_bytes()).await?;
                continue;
            }
            Instead::HangUp => return Ok(()),
            Instead::Silence => return std::future::pending().await,
            Instead::Drip => {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n").await?;
                loop {
                    stream.write_all(b" ").await?;
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
            Instead::Flood => {
                stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n").await?;
                let block = vec![b' '; 1 << 16];
                loop {
                    stream.write_all(&block).await?;
                }
            }
        };
        let text = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(text.as_bytes()).await?;
    }
}

fn answer(state: &State, call: &Value) -> Instead {
    let method = call["method"].as_str().unwrap();
    let params = &call["params"];
    let (to, data) = (params[0]["to"].as_str().unwrap_or(""), params[0]["data"].as_str().unwrap_or(""));
    let selector = data.get(..10).unwrap_or("");
    if let Some(instead) = state.fault.lock().as_ref().and_then(|fault| fault(method, to, selector)) {
        return instead;
    }
    let world = state.world.lock().clone();
    let number = |tag: &Value| u64::from_str_radix(tag.as_str().unwrap().trim_start_matches("0x"), 16).unwrap();
    match method {
        "eth_chainId" => Instead::Result(json!(format!("{:#x}", world.chain_id))),
        "eth_blockNumber" => Instead::Result(json!(format!("{:#x}", world.head))),
        "eth_getBlockByNumber" => {
            let number = number(&params[0]);
            let time = world.genesis.saturating_add(number.saturating_mul(12));
            Instead::Result(if number > world.head {
                Value::Null
            } else {
                json!({ "number": format!("{number:#x}"), "timestamp": format!("{time:#x}") })
            })
        }
        "eth_call" => {
            let number = number(&params[1]);
            if world.head - number > world.archived {
                return Instead::Error(json!({ "code": -32000, "message": "missing trie node" }));
            }
            world.contract(to, selector, number)
        }
        _ => panic!("{method} is not expected"),
    }
}

fn word(value: u128) -> String {
    format!("{value:064x}")
}

fn signed(value: i64) -> String {
    let high = if value < 0 { "f" } else { "0" };
    format!("{}{:016x}", high.repeat(48), value)
}

impl World {
    /// A pool at 65,000 dollars whose newest block is at `now`.
    pub(crate) fn new(now: u64) -> Self {
        let head = 20_000_000;
        Self {
            kind: Kind::V3,
            chain_id: 1,
            genesis: now - 12 * head,
            head,
            dollars: |_| 65_000.0,
            mean: None,
            bitcoin_is_token0: true,
            decimals: [8, 6],
            liquidity: 1 << 50,
            archived: u64::MAX,
        }
    }

    /// Base units of token1 for one of token0.
    fn ratio(&self, dollars: f64) -> f64 {
        let [bitcoin, usd] = self.decimals.map(|decimals| 10_f64.powf(decimals as f64));
        let ratio = dollars * usd / bitcoin;
        if self.bitcoin_is_token0 { ratio } else { 1.0 / ratio }
    }

    fn contract(&self, to: &str, selector: &str, block: u64) -> Instead {
        let refused = || Instead::Error(json!({ "code": 3, "message": "execution reverted" }));
        let dollars = (self.dollars)(block);
        let ratio = self.ratio(dollars);
        let tick = (ratio.ln() / 1.0001_f64.ln()).floor() as i64;
        let v3 = self.kind != Kind::V2;
        let words = match (to, selector) {
            (POOL, "0x0dfe1681" | "0xd21220a7") => {
                let is_bitcoin = (selector == "0x0dfe1681") == self.bitcoin_is_token0;
                vec![format!("{:0>64}", &(if is_bitcoin { BITCOIN } else { USD })[2..])]
            }
            (BITCOIN, "0x313ce567") => vec![word(u128::from(self.decimals[0]))],
            (USD, "0x313ce567") => vec![word(u128::from(self.decimals[1]))],
            (POOL, "0x3850c7bd") if v3 => {
                let sqrt_price = (ratio.sqrt() * 2_f64.powi(96)) as u128;
                vec![word(sqrt_price), signed(tick), word(0), word(1), word(1), word(0), word(1)]
            }
            (POOL, "0x883bdbfd") if self.kind == Kind::V3 => {
                let mean = self.ratio(self.mean.unwrap_or(dollars));
                let ticks = ((mean.ln() / 1.0001_f64.ln()) * 600.0) as i64;
                let base = -123_456_789_i64;
                vec![word(64), word(160), word(2), signed(base), signed(base + ticks), word(2), word(5), word(6)]
            }
            (POOL, "0x1a686502") if v3 => vec![word(self.liquidity)],
            (POOL, "0xddca3f43") if v3 => vec![word(3_000)],
            // 10 base units of each token for each block, at a liquidity of 2^50.
            (POOL, "0xf3058399" | "0x46141319") if v3 => {
                vec![format!("{:0>64}", format!("{:x}", (u128::from(block) * 10) << 78))]
            }
            (POOL, "0x0902f1ac") if self.kind == Kind::V2 => {
                let reserves = [1e15 / ratio.sqrt(), 1e15 * ratio.sqrt()].map(|reserve| word(reserve as u128));
                let [first, second] = reserves;
                vec![first, second, word(1)]
            }
            _ => return refused(),
        };
        Instead::Result(json!(format!("0x{}", words.concat())))
    }
}
