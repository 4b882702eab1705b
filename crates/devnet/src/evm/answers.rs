//! What the endpoint answers: blocks from their numbers, contracts from the walk.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use alloy_primitives::aliases::{I24, I56, U24, U160};
use alloy_primitives::{Address, U256};
use alloy_sol_types::abi::AbiDecoderConfig;
use alloy_sol_types::sol_data::{Array, Uint};
use alloy_sol_types::{SolCall, SolType as _};
use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::abi::{
    decimalsCall, feeCall, feeGrowthGlobal0X128Call, feeGrowthGlobal1X128Call, liquidityCall, observeCall,
    observeReturn, slot0Call, slot0Return, token0Call, token1Call,
};
use super::walk::{GENESIS_TIME, PoolAt, Walk};
use super::{EVM_BITCOIN_TOKEN, EVM_CHAIN_ID, EVM_POOL, EVM_USD_TOKEN};

/// Seconds between two blocks.
const BLOCK_SECONDS: u64 = 12;
/// Seconds that the pool's memory reaches back for `observe`.
const MEMORY_SECONDS: u64 = 30 * 86_400;
/// Fee of the pool in parts of a million.
const FEE_PPM: u64 = 3_000;
/// The liquidity is two to the power of this, so that fees for one unit of it are a shift away.
const LIQUIDITY_BITS: usize = 40;
/// Most calls in one batch.
const BATCH_MAX: usize = 1_000;

/// JSON-RPC's and the usual codes of such endpoints.
const PARSE_ERROR: i64 = -32_700;
const INVALID_REQUEST: i64 = -32_600;
const METHOD_NOT_FOUND: i64 = -32_601;
const INVALID_PARAMS: i64 = -32_602;
const SERVER_ERROR: i64 = -32_000;
const REVERTED: i64 = 3;

/// Why a call is refused: code and message.
struct Refused(i64, String);

/// Answers requests.
pub(super) struct Answers {
    walk: Mutex<Walk>,
    clock: Arc<dyn Fn() -> u64 + Send + Sync>,
    archive_blocks: Option<u64>,
    requests: AtomicU64,
}

impl std::fmt::Debug for Answers {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Answers").field("requests", &self.requests).finish_non_exhaustive()
    }
}

impl Answers {
    pub(super) fn new(walk: Walk, clock: Arc<dyn Fn() -> u64 + Send + Sync>, archive_blocks: Option<u64>) -> Self {
        Self { walk: Mutex::new(walk), clock, archive_blocks, requests: AtomicU64::new(0) }
    }

    pub(super) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    pub(super) fn dollars_at(&self, time: u64) -> f64 {
        dollars(f64::from(self.walk.lock().at(block_time(block_at(time))).tick) + 0.5)
    }

    #[expect(clippy::cast_precision_loss, reason = "sums of ticks stay far below 2^53")]
    pub(super) fn mean_dollars_at(&self, time: u64, seconds: u64) -> f64 {
        let time = block_time(block_at(time));
        let mut walk = self.walk.lock();
        let ticks = walk.at(time).tick_sum - walk.at(time - seconds).tick_sum;
        dollars(ticks as f64 / seconds as f64)
    }

    #[expect(clippy::cast_precision_loss, reason = "a sum for people to compare with")]
    pub(super) fn traded_dollars(&self, from: u64, to: u64) -> f64 {
        let mut walk = self.walk.lock();
        let (before, after) = (walk.at(from), walk.at(to));
        let paid = |token: usize| (after.fees[token] - before.fees[token]) as f64 * 1e6 / FEE_PPM as f64;
        let price = dollars((after.tick_sum - before.tick_sum) as f64 / (to - from) as f64);
        paid(0) / 1e8 * price + paid(1) / 1e6
    }

    /// The answer to a request body; empty for nothing but notifications.
    pub(super) fn answer(&self, body: &[u8]) -> String {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let refused = |code: i64, message: &str| error(&Value::Null, &Refused(code, message.to_owned())).to_string();
        match serde_json::from_slice(body) {
            Err(_) => refused(PARSE_ERROR, "parse error"),
            Ok(Value::Array(calls)) if calls.is_empty() || calls.len() > BATCH_MAX => {
                refused(INVALID_REQUEST, "a batch has 1 to 1000 calls")
            }
            Ok(Value::Array(calls)) => {
                Value::Array(calls.iter().filter_map(|call| self.one(call)).collect()).to_string()
            }
            Ok(call) => self.one(&call).map(|answer| answer.to_string()).unwrap_or_default(),
        }
    }

    fn one(&self, call: &Value) -> Option<Value> {
        let Some(method) = call["method"].as_str() else {
            return Some(error(&Value::Null, &Refused(INVALID_REQUEST, "invalid request".to_owned())));
        };
        let id = call.get("id")?;
        let empty = Vec::new();
        let params = call["params"].as_array().unwrap_or(&empty);
        Some(match self.call(method, params) {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(refused) => error(id, &refused),
        })
    }

    fn head(&self) -> u64 {
        block_at((self.clock)())
    }

    fn call(&self, method: &str, params: &[Value]) -> Result<Value, Refused> {
        match method {
            "eth_chainId" => Ok(quantity(EVM_CHAIN_ID)),
            "net_version" => Ok(json!(EVM_CHAIN_ID.to_string())),
            "web3_clientVersion" => Ok(json!("Paraffin/devnet")),
            "eth_syncing" => Ok(json!(false)),
            "eth_blockNumber" => Ok(quantity(self.head())),
            "eth_getBlockByNumber" => {
                let number = self.block_number(params.first())?;
                Ok(number.filter(|number| *number <= self.head()).map_or(Value::Null, block))
            }
            "eth_getCode" => {
                let known = [EVM_POOL, EVM_BITCOIN_TOKEN, EVM_USD_TOKEN].contains(&address(params.first())?);
                Ok(json!(if known { "0xfe" } else { "0x" }))
            }
            "eth_call" => self.contract_call(params),
            _ => Err(Refused(METHOD_NOT_FOUND, format!("the method {method} does not exist"))),
        }
    }

    /// The block that a tag names.
    fn block_number(&self, tag: Option<&Value>) -> Result<Option<u64>, Refused> {
        match tag.and_then(Value::as_str) {
            None | Some("latest" | "pending" | "safe" | "finalized") => Ok(Some(self.head())),
            Some("earliest") => Ok(Some(0)),
            Some(text) => match text.strip_prefix("0x").map(|digits| u64::from_str_radix(digits, 16)) {
                Some(Ok(number)) => Ok(Some(number)),
                _ => Err(Refused(INVALID_PARAMS, "invalid block number".to_owned())),
            },
        }
    }

    fn contract_call(&self, params: &[Value]) -> Result<Value, Refused> {
        let call = params.first().ok_or_else(|| Refused(INVALID_PARAMS, "missing value for argument 0".to_owned()))?;
        let to = address(call.get("to"))?;
        let data = call.get("input").or_else(|| call.get("data")).and_then(Value::as_str).unwrap_or("0x");
        let data = hex_bytes(data).ok_or_else(|| Refused(INVALID_PARAMS, "invalid hex".to_owned()))?;
        let head = self.head();
        let number = self.block_number(params.get(1))?.filter(|number| *number <= head);
        let number = number.ok_or_else(|| Refused(SERVER_ERROR, "header not found".to_owned()))?;
        if self.archive_blocks.is_some_and(|archived| head - number > archived) {
            return Err(Refused(SERVER_ERROR, "missing trie node".to_owned()));
        }
        let answer = match to {
            EVM_POOL => self.pool(&data, block_time(number))?,
            EVM_BITCOIN_TOKEN => token(&data, 8)?,
            EVM_USD_TOKEN => token(&data, 6)?,
            // An address without code answers nothing.
            _ => Vec::new(),
        };
        Ok(json!(format!("0x{}", HEXLOWER.encode(&answer))))
    }

    fn pool(&self, data: &[u8], time: u64) -> Result<Vec<u8>, Refused> {
        let Some((selector, arguments)) = data.split_first_chunk::<4>() else { return Err(reverted("")) };
        let now = self.walk.lock().at(time);
        Ok(match *selector {
            slot0Call::SELECTOR => slot0Call::abi_encode_returns(&slot0Return {
                sqrtPriceX96: U160::from(sqrt_price(now.tick)),
                tick: I24::unchecked_from(now.tick),
                observationIndex: 0,
                observationCardinality: 1,
                observationCardinalityNext: 1,
                feeProtocol: 0,
                unlocked: true,
            }),
            observeCall::SELECTOR => self.observe(arguments, time)?,
            // The lower address first.
            token0Call::SELECTOR => token0Call::abi_encode_returns(&Address::from(EVM_BITCOIN_TOKEN)),
            token1Call::SELECTOR => token1Call::abi_encode_returns(&Address::from(EVM_USD_TOKEN)),
            liquidityCall::SELECTOR => liquidityCall::abi_encode_returns(&(1 << LIQUIDITY_BITS)),
            feeCall::SELECTOR => feeCall::abi_encode_returns(&U24::from(FEE_PPM)),
            feeGrowthGlobal0X128Call::SELECTOR => feeGrowthGlobal0X128Call::abi_encode_returns(&growth(&now, 0)),
            feeGrowthGlobal1X128Call::SELECTOR => feeGrowthGlobal1X128Call::abi_encode_returns(&growth(&now, 1)),
            _ => return Err(reverted("")),
        })
    }

    /// `observe`: the sums of ticks so many seconds ago.
    fn observe(&self, arguments: &[u8], time: u64) -> Result<Vec<u8>, Refused> {
        /// Wider than the function's type, so that all that the pool does not remember is refused alike.
        type Arguments = (Array<Uint<64>>,);
        let strict = AbiDecoderConfig::new().strict(true);
        let decoded = Arguments::abi_decode_sequence_with_config(arguments, strict);
        let (ago,) = decoded.map_err(|_| reverted(""))?;
        if ago.is_empty() || ago.len() > 100 {
            return Err(reverted(""));
        }
        let mut walk = self.walk.lock();
        let mut sums = Vec::new();
        for seconds in &ago {
            if *seconds > MEMORY_SECONDS || time - GENESIS_TIME < *seconds {
                return Err(reverted("OLD"));
            }
            sums.push(I56::unchecked_from(walk.at(time - seconds).tick_sum));
        }
        let seconds = ago.iter().map(|seconds| U160::from(time - GENESIS_TIME - seconds));
        Ok(observeCall::abi_encode_returns(&observeReturn {
            tickCumulatives: sums,
            secondsPerLiquidityCumulativeX128s: seconds.collect(),
        }))
    }
}

fn block_at(time: u64) -> u64 {
    time.saturating_sub(GENESIS_TIME) / BLOCK_SECONDS
}

fn block_time(number: u64) -> u64 {
    GENESIS_TIME.saturating_add(number.saturating_mul(BLOCK_SECONDS))
}

fn block(number: u64) -> Value {
    let hash = |number: u64| format!("0x{number:064x}");
    json!({
        "number": quantity(number),
        "hash": hash(number + 1),
        "parentHash": hash(number),
        "timestamp": quantity(block_time(number)),
        "miner": format!("0x{:040x}", 0),
        "gasLimit": quantity(30_000_000),
        "gasUsed": quantity(0),
        "transactions": [],
        "uncles": [],
    })
}

/// Dollars for one bitcoin at a tick: base units of 6 decimals for one of 8.
fn dollars(tick: f64) -> f64 {
    1.0001_f64.powf(tick) * 100.0
}

/// The square root of the price in the middle of a tick, times 2^96.
#[expect(clippy::cast_sign_loss, reason = "a power is positive")]
fn sqrt_price(tick: i32) -> u128 {
    (1.0001_f64.powf(f64::midpoint(f64::from(tick), f64::from(tick + 1)) / 2.0) * 2_f64.powi(96)) as u128
}

/// Fees for one unit of liquidity, times 2^128.
fn growth(pool: &PoolAt, token: usize) -> U256 {
    U256::from(pool.fees[token]) << (128 - LIQUIDITY_BITS)
}

fn token(data: &[u8], decimals: u8) -> Result<Vec<u8>, Refused> {
    if data == decimalsCall::SELECTOR { Ok(decimalsCall::abi_encode_returns(&decimals)) } else { Err(reverted("")) }
}

fn reverted(reason: &str) -> Refused {
    let after = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    Refused(REVERTED, format!("execution reverted{after}"))
}

fn error(id: &Value, Refused(code, message): &Refused) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

fn quantity(number: u64) -> Value {
    json!(format!("{number:#x}"))
}

fn address(text: Option<&Value>) -> Result<[u8; 20], Refused> {
    let bytes = text.and_then(Value::as_str).and_then(hex_bytes);
    bytes.and_then(|bytes| bytes.try_into().ok()).ok_or_else(|| Refused(INVALID_PARAMS, "invalid address".to_owned()))
}

fn hex_bytes(text: &str) -> Option<Vec<u8>> {
    HEXLOWER_PERMISSIVE.decode(text.strip_prefix("0x")?.as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(archive_blocks: Option<u64>) -> Answers {
        Answers::new(Walk::new(1), Arc::new(|| GENESIS_TIME + 400 * 86_400 + 5), archive_blocks)
    }

    fn ask(answers: &Answers, method: &str, params: &Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        serde_json::from_str(&answers.answer(body.as_bytes())).unwrap()
    }

    fn pool(answers: &Answers, data: &str, block: &str) -> Value {
        let call = json!([{ "to": format!("0x{}", HEXLOWER.encode(&EVM_POOL)), "data": data }, block]);
        ask(answers, "eth_call", &call)
    }

    #[test]
    fn blocks_follow_the_clock() {
        let answers = answers(None);
        let head = 400 * 86_400 / 12;
        assert_eq!(ask(&answers, "eth_blockNumber", &json!([]))["result"], format!("{head:#x}"));
        let block = &ask(&answers, "eth_getBlockByNumber", &json!(["latest", false]))["result"];
        assert_eq!((&block["number"], &block["timestamp"]), (&json!(format!("{head:#x}")), &json!("0x6553f100")));
        assert_eq!(
            ask(&answers, "eth_getBlockByNumber", &json!([format!("{:#x}", head + 1), false]))["result"],
            Value::Null
        );
        let parent = &ask(&answers, "eth_getBlockByNumber", &json!([format!("{:#x}", head - 1), false]))["result"];
        assert_eq!(parent["hash"], block["parentHash"]);
        assert_eq!(
            ask(&answers, "eth_getBlockByNumber", &json!(["0xfffffffffffffffff", false]))["error"]["code"],
            -32602
        );
    }

    #[test]
    fn the_pool_answers_words_of_the_abi() {
        let answers = answers(None);
        let slot0 = pool(&answers, "0x3850c7bd", "latest")["result"].as_str().unwrap().to_owned();
        assert_eq!(slot0.len(), 2 + 7 * 64);
        let tick = i64::from_str_radix(&slot0[2 + 2 * 64 - 16..2 + 2 * 64], 16).unwrap();
        let sqrt_price = u128::from_str_radix(&slot0[2 + 64 - 32..2 + 64], 16).unwrap();
        assert_eq!(i128::from(tick), i128::from(answers.walk.lock().at(GENESIS_TIME + 400 * 86_400).tick));
        assert_eq!(sqrt_price, super::sqrt_price(i32::try_from(tick).unwrap()));
        let word = |value: u64| format!("{value:064x}");
        let observe = format!("0x883bdbfd{}{}{}{}", word(32), word(2), word(600), word(0));
        let sums = pool(&answers, &observe, "latest")["result"].as_str().unwrap().to_owned();
        assert_eq!(sums.len(), 2 + 8 * 64);
        assert_eq!(sums[2..2 + 3 * 64], format!("{}{}{}", word(64), word(160), word(2)));
        let old = format!("0x883bdbfd{}{}{}{}", word(32), word(2), word(60 * 86_400), word(0));
        assert_eq!(pool(&answers, &old, "latest")["error"]["message"], "execution reverted: OLD");
        for bad in ["0x", "0x00", "0x12345678", "0x883bdbfd", &observe[..observe.len() - 64], "0x883bdbfdff"] {
            assert_eq!(pool(&answers, bad, "latest")["error"]["code"], REVERTED, "{bad}");
        }
        assert_eq!(pool(&answers, "0x0902f1ac", "latest")["error"]["code"], REVERTED, "no reserves in such a pool");
    }

    #[test]
    fn a_pruned_endpoint_forgets_old_state_and_not_blocks() {
        let answers = answers(Some(128));
        assert!(pool(&answers, "0x3850c7bd", "latest")["result"].is_string());
        assert_eq!(pool(&answers, "0x3850c7bd", "0x1")["error"]["message"], "missing trie node");
        assert!(ask(&answers, "eth_getBlockByNumber", &json!(["0x1", false]))["result"].is_object());
        assert_eq!(pool(&answers, "0x3850c7bd", "0xfffffff")["error"]["message"], "header not found");
    }

    #[test]
    fn requests_that_are_none_are_refused() {
        let answers = answers(None);
        for (body, code) in [
            ("", PARSE_ERROR),
            ("{", PARSE_ERROR),
            ("{}", INVALID_REQUEST),
            ("[]", INVALID_REQUEST),
            ("5", INVALID_REQUEST),
        ] {
            let answer: Value = serde_json::from_str(&answers.answer(body.as_bytes())).unwrap();
            assert_eq!(answer["error"]["code"], code, "{body}");
        }
        assert_eq!(ask(&answers, "eth_sendRawTransaction", &json!(["0x"]))["error"]["code"], METHOD_NOT_FOUND);
        assert_eq!(ask(&answers, "eth_call", &json!([]))["error"]["code"], INVALID_PARAMS);
        let elsewhere = json!([{ "to": format!("0x{:040x}", 5), "data": "0x3850c7bd" }, "latest"]);
        assert_eq!(ask(&answers, "eth_call", &elsewhere)["result"], "0x");
        assert_eq!(answers.answer(br#"{"jsonrpc":"2.0","method":"eth_chainId"}"#), "");
        let batch = answers.answer(br#"[{"id":1,"method":"eth_chainId"},{"id":2,"method":"net_version"}]"#);
        let batch: Value = serde_json::from_str(&batch).unwrap();
        assert_eq!((&batch[0]["result"], &batch[1]["result"]), (&json!("0x1"), &json!("1")));
    }
}
