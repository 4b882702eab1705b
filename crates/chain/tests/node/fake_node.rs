//! A scripted node on a loopback port: a chain, switches for its features, and a hook that may answer
//! any request itself. It writes HTTP by hand, because an HTTP server would not produce most of its faults.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bitcoin::consensus::encode::{Encodable, VarInt, serialize, serialize_hex};
use bitcoin::{Block, BlockHash};
use paraffin_chain::{NodeAuth, NodeClient, NodeConfig};
use paraffin_primitives::Network;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::chain_maker::Chain;

pub(crate) struct FakeNode {
    pub(crate) address: SocketAddr,
    pub(crate) state: Arc<Mutex<State>>,
    server: Option<JoinHandle<()>>,
}

/// A request as the hook sees it.
pub(crate) struct Seen<'a> {
    /// `/rest/...`, or the JSON-RPC method.
    pub(crate) what: &'a str,
    /// The JSON-RPC id.
    pub(crate) id: u64,
}

pub(crate) enum Reply {
    Http {
        status: u16,
        content_type: &'static str,
        body: Vec<u8>,
    },
    /// Never answers.
    Hang,
    /// Closes without a byte.
    Close,
    /// Announces a longer body than it sends, then closes.
    CloseMidBody(Vec<u8>),
    /// Sends chunks for ever.
    Endless,
    /// Announces this many bytes and sends none.
    Announce(u64),
    /// Answers as usual, after a while.
    Later(Duration),
}

type Hook = Box<dyn FnMut(&Seen<'_>, &mut State) -> Option<Reply> + Send>;

pub(crate) struct State {
    pub(crate) chain: Chain,
    known: HashMap<BlockHash, (u32, Block)>,
    pub(crate) chain_name: &'static str,
    /// `user:password` that is required.
    pub(crate) credentials: Option<String>,
    pub(crate) serves_rest: bool,
    pub(crate) serves_spent: bool,
    pub(crate) serves_part: bool,
    /// Headers known beyond the best block.
    pub(crate) headers_ahead: u32,
    pub(crate) pruned_below: u32,
    /// Hashes that the node has never seen.
    pub(crate) unknown: HashSet<BlockHash>,
    pub(crate) requests: Vec<String>,
    pub(crate) connections: usize,
    hook: Option<Hook>,
}

impl State {
    /// Makes `chain` the best chain; all blocks of earlier ones stay known.
    pub(crate) fn set_chain(&mut self, chain: Chain) {
        for (height, block) in chain.blocks.iter().enumerate() {
            self.known.insert(block.block_hash(), (height as u32, block.clone()));
        }
        self.chain = chain;
    }

    fn standing(&self, hash: BlockHash) -> Option<(u32, &Block, i64)> {
        if self.unknown.contains(&hash) {
            return None;
        }
        let (height, block) = self.known.get(&hash)?;
        let best = self.chain.blocks.get(*height as usize).is_some_and(|block| block.block_hash() == hash);
        let confirmations = if best { i64::from(self.chain.height() - height) + 1 } else { -1 };
        Some((*height, block, confirmations))
    }
}

impl FakeNode {
    pub(crate) async fn start(chain: Chain) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let genesis = chain.clone();
        let mut state = State {
            chain,
            known: HashMap::new(),
            chain_name: "regtest",
            credentials: None,
            serves_rest: true,
            serves_spent: true,
            serves_part: true,
            headers_ahead: 0,
            pruned_below: 0,
            unknown: HashSet::new(),
            requests: Vec::new(),
            connections: 0,
            hook: None,
        };
        state.set_chain(genesis);
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(state));
        let server = Some(serve(listener, Arc::clone(&state)));
        Self { address, state, server }
    }

    /// Closes the port and every connection.
    pub(crate) async fn stop(&mut self) {
        if let Some(server) = self.server.take() {
            server.abort();
            let _ = server.await;
        }
    }

    /// Opens the same port again.
    pub(crate) async fn restart(&mut self) {
        let listener = TcpListener::bind(self.address).await.unwrap();
        self.server = Some(serve(listener, Arc::clone(&self.state)));
    }

    pub(crate) fn hook(&self, hook: impl FnMut(&Seen<'_>, &mut State) -> Option<Reply> + Send + 'static) {
        self.state.lock().hook = Some(Box::new(hook));
    }

    pub(crate) fn unhook(&self) {
        self.state.lock().hook = None;
    }

    pub(crate) fn set_chain(&self, chain: &Chain) {
        self.state.lock().set_chain(chain.clone());
    }

    /// How many requests named `what` came.
    pub(crate) fn count(&self, what: &str) -> usize {
        self.state.lock().requests.iter().filter(|request| request.starts_with(what)).count()
    }

    pub(crate) fn config(&self, auth: NodeAuth) -> NodeConfig {
        NodeConfig {
            network: Network::Regtest,
            url: format!("http://{}", self.address),
            auth,
            p2p: None,
            timeout: Duration::from_secs(5),
        }
    }

    pub(crate) fn client(&self) -> NodeClient {
        NodeClient::new(self.config(NodeAuth::None)).unwrap()
    }

    pub(crate) fn client_with_timeout(&self, timeout: Duration) -> NodeClient {
        NodeClient::new(NodeConfig { timeout, ..self.config(NodeAuth::None) }).unwrap()
    }

    pub(crate) fn client_with_cookie(&self, cookie: PathBuf) -> NodeClient {
        NodeClient::new(self.config(NodeAuth::CookieFile(cookie))).unwrap()
    }
}

pub(crate) fn ok(body: Vec<u8>) -> Reply {
    Reply::Http { status: 200, content_type: "application/octet-stream", body }
}

pub(crate) fn json_reply(status: u16, body: &Value) -> Reply {
    Reply::Http { status, content_type: "application/json", body: body.to_string().into_bytes() }
}

fn serve(listener: TcpListener, state: Arc<Mutex<State>>) -> JoinHandle<()> {
    tokio::spawn(async move {
        let mut connections = tokio::task::JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            state.lock().connections += 1;
            connections.spawn(converse(stream, Arc::clone(&state)));
        }
    })
}

async fn converse(mut stream: TcpStream, state: Arc<Mutex<State>>) {
    while let Some(request) = read_request(&mut stream).await {
        let mut reply = answer(&request, &state, true);
        if let Reply::Later(wait) = reply {
            tokio::time::sleep(wait).await;
            reply = answer(&request, &state, false);
        }
        match reply {
            Reply::Http { status, content_type, body } => {
                let head = format!(
                    "HTTP/1.1 {status} Text\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
                    body.len()
                );
                if stream.write_all(&[head.as_bytes(), &body].concat()).await.is_err() {
                    return;
                }
            }
            Reply::Hang => std::future::pending::<()>().await,
            Reply::Close | Reply::Later(_) => return,
            Reply::CloseMidBody(body) => {
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len() + 1);
                let _ = stream.write_all(&[head.as_bytes(), &body].concat()).await;
                return;
            }
            Reply::Announce(length) => {
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
                let _ = stream.write_all(head.as_bytes()).await;
                std::future::pending::<()>().await;
            }
            Reply::Endless => {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").await;
                let chunk = [b"100000\r\n".as_slice(), &vec![b' '; 0x0010_0000], b"\r\n"].concat();
                while stream.write_all(&chunk).await.is_ok() {}
                return;
            }
        }
    }
}

struct Request {
    path: String,
    authorization: Option<String>,
    body: Vec<u8>,
}

async fn read_request(stream: &mut TcpStream) -> Option<Request> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap();
    let header = |name: &str| {
        head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        })
    };
    let length = header("content-length").map_or(0, |text| text.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    let path = head.split(' ').nth(1).unwrap().to_owned();
    Some(Request { path, authorization: header("authorization"), body })
}

fn answer(request: &Request, state: &Mutex<State>, hooked: bool) -> Reply {
    let state = &mut *state.lock();
    let call: Option<Value> = serde_json::from_slice(&request.body).ok();
    let method = |call: &Value| call["method"].as_str().unwrap_or_default().to_owned();
    let what = match &call {
        Some(Value::Array(calls)) => format!("batch {}", method(&calls[0])),
        Some(call) => method(call),
        None => request.path.clone(),
    };
    if hooked {
        let seen = Seen { what: &what, id: call.as_ref().and_then(|call| call["id"].as_u64()).unwrap_or(0) };
        let mut hook = state.hook.take();
        let reply = hook.as_mut().and_then(|hook| hook(&seen, state));
        if state.hook.is_none() {
            state.hook = hook;
        }
        state.requests.push(what);
        if let Some(reply) = reply {
            return reply;
        }
    }
    let Some(call) = call else { return rest(&request.path, state) };
    if let Some(credentials) = &state.credentials
        && request.authorization.as_deref()
            != Some(&format!("Basic {}", data_encoding::BASE64.encode(credentials.as_bytes())))
    {
        return Reply::Http { status: 401, content_type: "text/plain", body: Vec::new() };
    }
    match call {
        Value::Array(calls) => {
            let replies: Vec<Value> = calls.iter().map(|call| rpc(call, state).1).collect();
            json_reply(200, &Value::Array(replies))
        }
        call => {
            let (status, reply) = rpc(&call, state);
            json_reply(status, &reply)
        }
    }
}

fn rpc(call: &Value, state: &State) -> (u16, Value) {
    let hash = || call["params"][0].as_str().and_then(|text| text.parse::<BlockHash>().ok());
    let height = || call["params"][0].as_u64();
    let missing = || (-5, "Block not found".to_owned());
    let result: Result<Value, (i64, String)> = match call["method"].as_str().unwrap_or_default() {
        "getblockchaininfo" => Ok(json!({
            "chain": state.chain_name, "blocks": state.chain.height(),
            "headers": state.chain.height() + state.headers_ahead, "bestblockhash": state.chain.tip(),
            "difficulty": 4.5e-10, "pruned": state.pruned_below > 0,
        })),
        "getblockcount" => Ok(json!(state.chain.height())),
        "getbestblockhash" => Ok(json!(state.chain.tip())),
        "getblockhash" => height()
            .and_then(|height| state.chain.blocks.get(height as usize))
            .map(|block| json!(block.block_hash()))
            .ok_or((-8, "Block height out of range".to_owned())),
        "getblockheader" => {
            hash().and_then(|hash| state.standing(hash)).ok_or_else(missing).map(|(height, block, confirmations)| {
                if call["params"][1] == json!(false) {
                    json!(serialize_hex(&block.header))
                } else {
                    json!({"hash": block.block_hash(), "confirmations": confirmations, "height": height, "nTx": 1})
                }
            })
        }
        "getblock" => {
            hash().and_then(|hash| state.standing(hash)).ok_or_else(missing).and_then(|(height, block, _)| {
                if height < state.pruned_below {
                    Err((-1, "Block not available (pruned data)".to_owned()))
                } else {
                    Ok(json!(serialize_hex(block)))
                }
            })
        }
        "getrawtransaction" => {
            let mut transactions = state.chain.blocks.iter().flat_map(|block| &block.txdata);
            transactions
                .find(|transaction| json!(transaction.compute_txid()) == call["params"][0])
                .map(|transaction| json!({ "hex": serialize_hex(transaction), "blockhash": "00".repeat(32), "confirmations": 1 }))
                .ok_or((-5, "No such mempool or blockchain transaction.".to_owned()))
        }
        _ => Err((-32601, "Method not found".to_owned())),
    };
    match result {
        Ok(result) => (200, json!({"result": result, "error": null, "id": call["id"]})),
        Err((code, message)) => {
            let status = if code == -32601 { 404 } else { 500 };
            (status, json!({"result": null, "error": {"code": code, "message": message}, "id": call["id"]}))
        }
    }
}

/// The routes and texts of Bitcoin Core.
fn rest(path: &str, state: &State) -> Reply {
    let text = |status, body: String| Reply::Http { status, content_type: "text/plain", body: body.into_bytes() };
    let no_route = || text(404, String::new());
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let number =
        |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('=')?.parse().ok());
    let Some((route, hash)) = path.strip_prefix("/rest/").and_then(|rest| rest.strip_suffix(".bin")?.split_once('/'))
    else {
        return no_route();
    };
    let served = match route {
        "spenttxouts" => state.serves_spent,
        "blockpart" => state.serves_part,
        _ => true,
    };
    if !state.serves_rest || !served {
        return no_route();
    }
    let Ok(hash) = hash.parse::<BlockHash>() else { return text(400, format!("Invalid hash: {hash}\r\n")) };
    let standing = state.standing(hash);
    if route == "headers" {
        let count: usize = number("count").unwrap_or(5);
        let headers = match standing {
            Some((height, _, 1..)) => state.chain.blocks[height as usize..].iter().take(count).collect(),
            _ => Vec::new(),
        };
        return ok(headers.iter().flat_map(|block| serialize(&block.header)).collect());
    }
    let Some((height, block, _)) = standing else { return text(404, format!("{hash} not found\r\n")) };
    if height < state.pruned_below {
        return text(404, format!("{hash} not available (pruned data)\r\n"));
    }
    let bytes = serialize(block);
    match route {
        "block" => ok(bytes),
        "blockpart" => {
            let (offset, size): (usize, usize) = (number("offset").unwrap_or(0), number("size").unwrap_or(0));
            match bytes.get(offset..offset.saturating_add(size)) {
                Some(part) if size > 0 => ok(part.to_vec()),
                _ => text(400, format!("Bad block part offset/size {offset}/{size} for {hash}\r\n")),
            }
        }
        "spenttxouts" => {
            let mut body = Vec::new();
            let spent = state.chain.spent(height);
            VarInt(spent.len() as u64).consensus_encode(&mut body).unwrap();
            for outputs in spent {
                VarInt(outputs.len() as u64).consensus_encode(&mut body).unwrap();
                for output in outputs {
                    output.consensus_encode(&mut body).unwrap();
                }
            }
            ok(body)
        }
        _ => no_route(),
    }
}
