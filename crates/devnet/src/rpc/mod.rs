//! The JSON-RPC of the node: one table of methods, and the envelope with the semantics of JSON-RPC 1.0 and 2.0 that
//! Bitcoin Core has.
#![allow(clippy::unnecessary_wraps, reason = "every method of the table has the same signature")]

mod address;
mod blockchain;
mod blockstats;
mod control;
mod mempool;
mod mining;
mod network;
mod params;
mod proof;
mod rawtransaction;
pub(crate) mod render;
mod script;
pub(crate) mod server;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde_json::{Map, Value, json};

pub(crate) use blockchain::chain_info;
pub(crate) use mempool::{contents, info as mempool_info};
pub(crate) use params::decode_hex;
use params::{Params, RpcError, RpcResult, code};
pub(crate) use script::script_json;

use crate::node::Node;
use crate::p2p::Peers;

/// Most calls in one batch.
const BATCH_MAX: usize = 10_000;

/// What the methods work on.
pub(crate) struct RpcContext {
    pub(crate) node: Arc<Node>,
    pub(crate) peers: Arc<Peers>,
    pub(crate) p2p_addr: SocketAddr,
    pub(crate) started: Instant,
    pub(crate) stopping: AtomicBool,
}

impl std::fmt::Debug for RpcContext {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("RpcContext").field("node", &self.node).finish_non_exhaustive()
    }
}

impl RpcContext {
    /// Whether the node is shutting down: long calls end early.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}

/// One method: its name, the names of its parameters, how many of them are required, and what it does.
struct Method {
    group: &'static str,
    name: &'static str,
    params: &'static [&'static str],
    required: usize,
    run: fn(&RpcContext, &Params<'_>) -> RpcResult,
}

impl Method {
    /// The call as `help` shows it.
    fn usage(&self) -> String {
        let mut text = self.name.to_owned();
        for (index, name) in self.params.iter().enumerate() {
            let shown = if index < self.required { format!(" {name}") } else { format!(" ( {name} )") };
            text.push_str(&shown);
        }
        text
    }
}

macro_rules! method {
    ($group:literal, $name:literal, [$($required:literal),*], [$($optional:literal),*], $run:path) => {
        Method {
            group: $group,
            name: $name,
            params: &[$($required,)* $($optional,)*],
            required: { let required: &[&str] = &[$($required),*]; required.len() },
            run: $run,
        }
    };
}

/// Every method, by group.
static METHODS: &[Method] = &[
    method!("Blockchain", "getbestblockhash", [], [], blockchain::get_best_block_hash),
    method!("Blockchain", "getblock", ["blockhash"], ["verbosity"], blockchain::get_block),
    method!("Blockchain", "getblockchaininfo", [], [], blockchain::get_blockchain_info),
    method!("Blockchain", "getblockcount", [], [], blockchain::get_block_count),
    method!("Blockchain", "getblockhash", ["height"], [], blockchain::get_block_hash),
    method!("Blockchain", "getblockheader", ["blockhash"], ["verbose"], blockchain::get_block_header),
    method!("Blockchain", "getblockstats", ["hash_or_height"], ["stats"], blockstats::get_block_stats),
    method!("Blockchain", "getchaintips", [], [], blockchain::get_chain_tips),
    method!("Blockchain", "getdifficulty", [], [], blockchain::get_difficulty),
    method!("Blockchain", "getmempoolancestors", ["txid"], ["verbose"], mempool::get_ancestors),
    method!("Blockchain", "getmempooldescendants", ["txid"], ["verbose"], mempool::get_descendants),
    method!("Blockchain", "getmempoolentry", ["txid"], [], mempool::get_entry),
    method!("Blockchain", "getmempoolinfo", [], [], mempool::get_info),
    method!("Blockchain", "getrawmempool", [], ["verbose", "mempool_sequence"], mempool::get_raw_mempool),
    method!("Blockchain", "gettxout", ["txid", "n"], ["include_mempool"], blockchain::get_tx_out),
    method!("Blockchain", "gettxoutproof", ["txids"], ["blockhash"], proof::get_tx_out_proof),
    method!("Blockchain", "gettxspendingprevout", ["outputs"], ["options"], mempool::get_spending_prevout),
    method!("Blockchain", "preciousblock", ["blockhash"], [], blockchain::precious_block),
    method!("Blockchain", "verifytxoutproof", ["proof"], [], proof::verify_tx_out_proof),
    method!(
        "Control",
        "echo",
        [],
        ["arg0", "arg1", "arg2", "arg3", "arg4", "arg5", "arg6", "arg7", "arg8", "arg9"],
        control::echo
    ),
    method!("Control", "help", [], ["command"], control::help),
    method!("Control", "setmocktime", ["timestamp"], [], control::set_mock_time),
    method!("Control", "stop", [], ["wait"], control::stop),
    method!("Control", "uptime", [], [], control::uptime),
    method!("Generating", "generateblock", ["output", "transactions"], ["submit"], mining::generate_block),
    method!("Generating", "generatetoaddress", ["nblocks", "address"], ["maxtries"], mining::generate_to_address),
    method!(
        "Generating",
        "generatetodescriptor",
        ["num_blocks", "descriptor"],
        ["maxtries"],
        mining::generate_to_descriptor
    ),
    method!("Hidden", "invalidateblock", ["blockhash"], [], blockchain::invalidate_block),
    method!("Hidden", "reconsiderblock", ["blockhash"], [], blockchain::reconsider_block),
    method!("Mining", "getblocktemplate", ["template_request"], [], mining::get_block_template),
    method!("Mining", "getmininginfo", [], [], mining::get_mining_info),
    method!("Mining", "submitblock", ["hexdata"], ["dummy"], mining::submit_block),
    method!("Network", "getconnectioncount", [], [], network::get_connection_count),
    method!("Network", "getnetworkinfo", [], [], network::get_network_info),
    method!("Network", "getpeerinfo", [], [], network::get_peer_info),
    method!("Network", "ping", [], [], network::ping),
    method!(
        "Rawtransactions",
        "decoderawtransaction",
        ["hexstring"],
        ["iswitness"],
        rawtransaction::decode_raw_transaction
    ),
    method!("Rawtransactions", "decodescript", ["hexstring"], [], rawtransaction::decode_script),
    method!(
        "Rawtransactions",
        "getrawtransaction",
        ["txid"],
        ["verbosity", "blockhash"],
        rawtransaction::get_raw_transaction
    ),
    method!(
        "Rawtransactions",
        "sendrawtransaction",
        ["hexstring"],
        ["maxfeerate", "maxburnamount"],
        mempool::send_raw_transaction
    ),
    method!("Rawtransactions", "submitpackage", ["package"], ["maxfeerate", "maxburnamount"], mempool::submit_package),
    method!("Rawtransactions", "testmempoolaccept", ["rawtxs"], ["maxfeerate"], mempool::test_mempool_accept),
    method!("Util", "estimatesmartfee", ["conf_target"], ["estimate_mode"], mempool::estimate_smart_fee),
    method!("Util", "getindexinfo", [], ["index_name"], control::get_index_info),
    method!("Util", "validateaddress", ["address"], [], address::validate_address),
];

/// The methods of every group, as `help` lists them.
fn help_text() -> String {
    let mut groups: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for method in METHODS.iter().filter(|method| method.group != "Hidden") {
        groups.entry(method.group).or_default().push(method.usage());
    }
    let sections: Vec<String> =
        groups.into_iter().map(|(group, lines)| format!("== {group} ==\n{}", lines.join("\n"))).collect();
    sections.join("\n\n")
}

/// Runs one method.
fn execute(context: &RpcContext, name: &str, params: Value) -> RpcResult {
    let method = METHODS
        .iter()
        .find(|method| method.name == name)
        .ok_or_else(|| RpcError::new(code::METHOD_NOT_FOUND, "Method not found"))?;
    let values = match params {
        Value::Array(values) => values,
        Value::Object(named) => positional(method, named)?,
        _ => Vec::new(),
    };
    if values.len() < method.required || values.len() > method.params.len() {
        return Err(RpcError::new(code::MISC, method.usage()));
    }
    (method.run)(context, &Params { names: method.params, values })
}

/// Named parameters by position; `args` may hold the first ones as an array.
fn positional(method: &Method, mut named: Map<String, Value>) -> Result<Vec<Value>, RpcError> {
    let mut values = match named.remove("args") {
        Some(Value::Array(values)) => values,
        _ => Vec::new(),
    };
    for (name, value) in named {
        let Some(index) = method.params.iter().position(|known| *known == name) else {
            let message = format!("Unknown named parameter {}", params::excerpt(&name));
            return Err(RpcError::new(code::INVALID_PARAMETER, message));
        };
        if values.get(index).is_some_and(|value| !value.is_null()) {
            let message = format!("Parameter {name} specified twice both as positional and named argument");
            return Err(RpcError::new(code::INVALID_PARAMETER, message));
        }
        if values.len() <= index {
            values.resize(index + 1, Value::Null);
        }
        values[index] = value;
    }
    Ok(values)
}

/// The answer to the body of a request: the HTTP status, and the reply if there is one.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Option<Value>,
}

/// One request, taken apart.
struct Call {
    id: Option<Value>,
    version_2: bool,
    method: Result<(String, Value), RpcError>,
}

/// Takes a request apart. What is no object is answered in the manner of `before`, the request before it in its batch.
fn parse_call(request: Value, before: (Option<Value>, bool)) -> Call {
    let invalid = |message: &str| RpcError::new(code::INVALID_REQUEST, message);
    let Value::Object(mut request) = request else {
        let (id, version_2) = before;
        return Call { id, version_2, method: Err(invalid("Invalid Request object")) };
    };
    let id = request.remove("id");
    let (version_2, version) = match request.get("jsonrpc") {
        None | Some(Value::Null) => (false, Ok(())),
        Some(Value::String(version)) if version == "1.0" => (false, Ok(())),
        Some(Value::String(version)) if version == "2.0" => (true, Ok(())),
        Some(Value::String(_)) => (false, Err(invalid("JSON-RPC version not supported"))),
        Some(_) => (false, Err(invalid("jsonrpc field must be a string"))),
    };
    let method = version.and_then(|()| match request.remove("method") {
        None | Some(Value::Null) => Err(invalid("Missing method")),
        Some(Value::String(method)) => match request.remove("params") {
            None | Some(Value::Null) => Ok((method, Value::Array(Vec::new()))),
            Some(params @ (Value::Array(_) | Value::Object(_))) => Ok((method, params)),
            Some(_) => Err(invalid("Params must be an array or object")),
        },
        Some(_) => Err(invalid("Method must be a string")),
    });
    Call { id, version_2, method }
}

fn reply(result: RpcResult, id: Option<Value>, version_2: bool) -> Value {
    let mut object = Map::new();
    if version_2 {
        object.insert("jsonrpc".to_owned(), json!("2.0"));
    }
    match result {
        Ok(result) => {
            object.insert("result".to_owned(), result);
            if !version_2 {
                object.insert("error".to_owned(), Value::Null);
            }
        }
        Err(error) => {
            if !version_2 {
                object.insert("result".to_owned(), Value::Null);
            }
            object.insert("error".to_owned(), error.to_json());
        }
    }
    if let Some(id) = id {
        object.insert("id".to_owned(), id);
    }
    Value::Object(object)
}

fn error_answer(error: RpcError, id: Option<Value>, version_2: bool) -> Answer {
    let status = match error.code {
        code::INVALID_REQUEST => 400,
        code::METHOD_NOT_FOUND => 404,
        _ => 500,
    };
    Answer { status, body: Some(reply(Err(error), id, version_2)) }
}

/// Runs a request or a batch of them.
pub(crate) fn answer(context: &RpcContext, body: &[u8]) -> Answer {
    match serde_json::from_slice::<Value>(body) {
        Err(_) => error_answer(RpcError::new(code::PARSE_ERROR, "Parse error"), Some(Value::Null), false),
        Ok(Value::Array(requests)) => answer_batch(context, requests),
        Ok(request @ Value::Object(_)) => {
            let Call { id, version_2, method } = parse_call(request, (None, false));
            let (name, params) = match method {
                Ok(method) => method,
                Err(error) => return error_answer(error, id, version_2),
            };
            match execute(context, &name, params) {
                // Only version 2.0 knows requests that want no answer.
                _ if version_2 && id.is_none() => Answer { status: 204, body: None },
                Err(error) if !version_2 => error_answer(error, id, false),
                result => Answer { status: 200, body: Some(reply(result, id, version_2)) },
            }
        }
        Ok(_) => {
            error_answer(RpcError::new(code::PARSE_ERROR, "Top-level object parse error"), Some(Value::Null), false)
        }
    }
}

fn answer_batch(context: &RpcContext, requests: Vec<Value>) -> Answer {
    if requests.len() > BATCH_MAX {
        let message = format!("a batch holds at most {BATCH_MAX} requests: split it");
        return error_answer(RpcError::new(code::INVALID_REQUEST, message), Some(Value::Null), false);
    }
    let empty = requests.is_empty();
    let mut replies = Vec::with_capacity(requests.len());
    let mut before = (Some(Value::Null), false);
    for request in requests {
        let Call { id, version_2, method } = parse_call(request, before);
        before = (id.clone(), version_2);
        let result = method.and_then(|(name, params)| execute(context, &name, params));
        if !(version_2 && id.is_none()) {
            replies.push(reply(result, id, version_2));
        }
    }
    if replies.is_empty() && !empty {
        return Answer { status: 204, body: None };
    }
    Answer { status: 200, body: Some(Value::Array(replies)) }
}
