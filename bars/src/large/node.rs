//! A node that has the chain and makes each block when it is asked for: what Bitcoin Core answers to a first import, over HTTP.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bitcoin::BlockHash;
use bitcoin::consensus::serialize;
use bitcoin::hex::DisplayHex as _;
use serde_json::{Value, json};

use super::chain::{Chain, Made};
use xtask::process::{Failure, Outcome};

/// Blocks kept: block and spent outputs are asked for by two requests.
const KEPT: usize = 32;
/// Most headers in one answer.
const HEADERS_MAX: usize = 2_000;
/// Largest request.
const REQUEST_MAX: u64 = 8 << 20;

/// Blocks that are made or being made, by height.
type Making = Arc<OnceLock<Option<Made>>>;

/// The node. Its threads end with the process, or with the connections.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) chain: Chain,
    kept: Mutex<VecDeque<(u32, Making)>>,
    served: AtomicU32,
}

/// A status and a body.
struct Answer(u16, Vec<u8>);

impl Node {
    /// Serves `chain` on a free port of this machine: the node and its address.
    pub(crate) fn start(chain: Chain) -> Outcome<(Arc<Self>, String)> {
        let failed = |error| Failure::new(format!("the node of the bars cannot listen: {error}"));
        let listener = TcpListener::bind("127.0.0.1:0").map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?.to_string();
        let node = Arc::new(Self { chain, kept: Mutex::default(), served: AtomicU32::new(0) });
        let serving = Arc::clone(&node);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let node = Arc::clone(&serving);
                // An error is a client that went away.
                std::thread::spawn(move || node.serve(&stream));
            }
        });
        Ok((node, address))
    }

    /// Height of the highest block that was asked for.
    pub(crate) fn served(&self) -> u32 {
        self.served.load(Ordering::Relaxed)
    }

    fn serve(&self, stream: &TcpStream) -> Option<()> {
        stream.set_nodelay(true).ok()?;
        let mut input = BufReader::new(stream);
        loop {
            let mut line = String::new();
            if input.by_ref().take(REQUEST_MAX).read_line(&mut line).ok()? == 0 {
                return None;
            }
            let mut words = line.split(' ');
            let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
            let mut length = 0;
            loop {
                let mut header = String::new();
                input.by_ref().take(REQUEST_MAX).read_line(&mut header).ok()?;
                let Some((name, value)) = header.trim_end().split_once(':') else { break };
                if name.eq_ignore_ascii_case("content-length") {
                    length = value.trim().parse::<u64>().ok().filter(|length| *length <= REQUEST_MAX)?;
                }
            }
            let mut body = vec![0; length as usize];
            input.read_exact(&mut body).ok()?;
            let (Answer(status, body), kind) = if method == "GET" {
                (self.rest(&target), "application/octet-stream")
            } else {
                (self.rpc(&body), "application/json")
            };
            let head = format!(
                "HTTP/1.1 {status} {}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n",
                if status == 200 { "OK" } else { "Error" },
                body.len()
            );
            let mut output = stream;
            output.write_all(head.as_bytes()).ok()?;
            output.write_all(&body).ok()?;
        }
    }

    fn rpc(&self, body: &[u8]) -> Answer {
        match serde_json::from_slice::<Value>(body) {
            Ok(Value::Array(calls)) => {
                let answers: Vec<Value> = calls.iter().map(|call| self.call(call)).collect();
                Answer(200, Value::from(answers).to_string().into_bytes())
            }
            Ok(call) => {
                let answer = self.call(&call);
                let status = if answer["error"].is_null() { 200 } else { 500 };
                Answer(status, answer.to_string().into_bytes())
            }
            Err(error) => Answer(400, error.to_string().into_bytes()),
        }
    }

    fn call(&self, call: &Value) -> Value {
        let id = &call["id"];
        match self.result(call["method"].as_str().unwrap_or_default(), &call["params"]) {
            Ok(result) => json!({"result": result, "error": null, "id": id}),
            Err((code, message)) => {
                json!({"result": null, "error": {"code": code, "message": message}, "id": id})
            }
        }
    }

    fn result(&self, method: &str, params: &Value) -> Result<Value, (i32, &'static str)> {
        let tip = self.chain.height();
        let unknown = (-5, "Block not found");
        Ok(match method {
            "getblockchaininfo" => json!({
                "chain": "regtest", "blocks": tip, "headers": tip, "bestblockhash": self.hash(tip).map(|hash| hash.to_string()),
                "initialblockdownload": false, "pruned": false, "size_on_disk": self.chain.bytes(tip),
                "verificationprogress": 1, "warnings": [],
            }),
            "getnetworkinfo" => json!({"version": 310_000, "subversion": "/Bars:31.0.0/", "warnings": []}),
            "getblockcount" => json!(tip),
            "getbestblockhash" => json!(self.hash(tip).map(|hash| hash.to_string())),
            "getblockhash" => {
                let height = params[0].as_u64().and_then(|height| u32::try_from(height).ok());
                let hash = height.and_then(|height| self.hash(height)).ok_or((-8, "Block height out of range"))?;
                json!(hash.to_string())
            }
            "getblockheader" => {
                let height = params[0].as_str().and_then(|text| self.height(text)).ok_or(unknown)?;
                if params[1].as_bool().unwrap_or(true) {
                    return Ok(json!({"confirmations": tip - height + 1, "height": height}));
                }
                let header = self.header(height).ok_or(unknown)?;
                json!(header.to_lower_hex_string())
            }
            _ => return Err((-32_601, "Method not found")),
        })
    }

    fn rest(&self, target: &str) -> Answer {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let number = |name: &str| {
            let value = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
            value.and_then(|value| value.parse::<usize>().ok())
        };
        let mut parts = path.trim_start_matches('/').split('/');
        let (Some("rest"), Some(route), Some(name)) = (parts.next(), parts.next(), parts.next()) else {
            return Answer(404, Vec::new());
        };
        let Some(hash) = name.strip_suffix(".bin") else { return Answer(404, Vec::new()) };
        let Some(height) = self.height(hash) else { return Answer(404, format!("{hash} not found\r\n").into_bytes()) };
        match route {
            "headers" => {
                let wanted = number("count").unwrap_or(5).min(HEADERS_MAX);
                let headers = (height..).map_while(|height| self.header(height)).take(wanted);
                Answer(200, headers.collect::<Vec<_>>().concat())
            }
            "block" => self.made(height).map_or(Answer(500, Vec::new()), |made| Answer(200, made.block)),
            "spenttxouts" => self.made(height).map_or(Answer(500, Vec::new()), |made| Answer(200, made.spent)),
            "blockpart" => {
                let Some(made) = self.made(height) else { return Answer(500, Vec::new()) };
                let from = number("offset").unwrap_or(usize::MAX);
                let to = from.saturating_add(number("size").unwrap_or(0));
                let part = made.block.get(from..to).map(<[u8]>::to_vec);
                part.map_or_else(
                    || Answer(400, format!("{hash}: out of range\r\n").into_bytes()),
                    |part| Answer(200, part),
                )
            }
            _ => Answer(404, Vec::new()),
        }
    }

    fn made(&self, height: u32) -> Option<Made> {
        if height == 0 {
            let block = serialize(&bitcoin::constants::genesis_block(bitcoin::Network::Regtest));
            return Some(Made { block, spent: vec![1, 0] });
        }
        let making = {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            let found = kept.iter().find(|(of, _)| *of == height).map(|(_, making)| Arc::clone(making));
            found.unwrap_or_else(|| {
                let making = Making::default();
                kept.push_back((height, Arc::clone(&making)));
                if kept.len() > KEPT {
                    kept.pop_front();
                }
                making
            })
        };
        // The second request for a block waits for the first.
        let made = making.get_or_init(|| self.chain.make(height).ok()).clone();
        self.served.fetch_max(height, Ordering::Relaxed);
        made
    }

    fn height(&self, hash: &str) -> Option<u32> {
        let hash: BlockHash = hash.parse().ok()?;
        if Some(hash) == self.hash(0) { Some(0) } else { self.chain.height_of(&hash) }
    }

    fn header(&self, height: u32) -> Option<[u8; 80]> {
        if height > 0 {
            return self.chain.entry(height).map(|entry| entry.header);
        }
        let header = serialize(&bitcoin::constants::genesis_block(bitcoin::Network::Regtest).header);
        header.first_chunk().copied()
    }

    fn hash(&self, height: u32) -> Option<BlockHash> {
        if height == 0 {
            return Some(bitcoin::constants::genesis_block(bitcoin::Network::Regtest).block_hash());
        }
        self.chain.entry(height).map(super::chain::Entry::hash)
    }
}
