//! The pool index over JSON-RPC, on the chain of the development network's market.

use bitcoin::hex::{DisplayHex as _, FromHex as _};
use paraffin_cryptoswap::PoolRules;
use paraffin_cryptoswap::proto::{
    self, AlkaneId, GetBlockSummaryRequest, GetBlockSummaryResponse, GetCandleAtRequest, GetCandleAtResponse,
    GetCandlesRequest, GetCandlesResponse, GetPoolRequest, GetPoolResponse, GetPoolStateResponse, GetPoolsRequest,
    GetPoolsResponse, GetPriceResponse, GetRawValueRequest, GetRawValueResponse, GetReservesResponse, GetSwapsRequest,
    GetSwapsResponse, IndexHeightResponse, PingResponse, QuoteRequest, QuoteResponse,
};
use paraffin_surfaces::handlers;
use prost::Message;
use serde_json::{Value, json};

use crate::instance::{Instance, Setup};
use crate::market_chain::market_blocks;

const SEED: u64 = 5;
/// Blocks of the setup of the market and of some trade.
const HEIGHT: u32 = 160;
/// Enough blocks for tests that are not about pools.
const FEW: u32 = 8;

const POOL: AlkaneId = AlkaneId { block: 4, tx: 1778 };
const USD_TOKEN: AlkaneId = AlkaneId { block: 4, tx: 1776 };
const WRAPPED_BITCOIN: AlkaneId = AlkaneId { block: 32, tx: 0 };
const OF_POOL: GetPoolRequest = GetPoolRequest { pool: Some(POOL) };

struct Scene(Instance);

impl Scene {
    async fn start(height: u32) -> Self {
        let keyed = vec![handlers::btcusd(PoolRules::default())];
        Self(Instance::with(Setup { market: Some(market_blocks(SEED, height)), keyed, ..Setup::default() }).await)
    }

    async fn post(&self, body: &Value) -> Value {
        let response = self.0.post(&self.0.keyed("/btcusd"), body.to_string()).await;
        assert_eq!(response.status, 200, "{}", response.text());
        response.json()
    }

    async fn call(&self, method: &str, params: Value) -> Value {
        self.post(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })).await
    }

    async fn bytes(&self, name: &str, payload: &[u8], tag: Value) -> Vec<u8> {
        let payload = format!("0x{}", payload.to_lower_hex_string());
        let answer = self.call("metashrew_view", json!([name, payload, tag])).await;
        let text = answer["result"].as_str().unwrap_or_else(|| panic!("{name}: {answer}"));
        Vec::from_hex(text.strip_prefix("0x").unwrap()).unwrap()
    }

    async fn view<T: Message + Default>(&self, name: &str, request: &impl Message) -> T {
        T::decode(&self.bytes(name, &request.encode_to_vec(), json!("latest")).await[..]).unwrap()
    }

    async fn code(&self, method: &str, params: Value) -> i64 {
        let answer = self.call(method, params).await;
        assert!(answer["error"]["message"].is_string() && answer.get("result").is_none(), "{answer}");
        answer["error"]["code"].as_i64().unwrap()
    }
}

/// row PI01
/// row PI23
/// row PI31
#[tokio::test]
async fn views_take_and_give_hexadecimal_digits_and_errors_have_a_message() {
    let scene = Scene::start(FEW).await;
    let view = |params: Value| scene.call("metashrew_view", params);
    // Views without arguments, in every notation.
    for params in
        [json!(["ping", "0x", "latest"]), json!(["ping", "", "latest"]), json!(["ping", "0x"]), json!(["ping"])]
    {
        assert_eq!(view(params).await["result"], "0x0a04706f6e67");
    }
    assert_eq!(view(json!(["getpool", "0x", "latest"])).await["result"], "0x");
    assert_eq!(scene.call("metashrew_height", json!([])).await["result"], FEW.to_string());
    assert_eq!(scene.call("metashrew_height", json!([{}])).await["result"], FEW.to_string());

    assert_eq!(scene.code("metashrew_view", json!(["getnothing", "0x", "latest"])).await, -32601);
    assert_eq!(scene.code("metashrew_view", json!(["simulate", "0x", "latest"])).await, -32601);
    assert_eq!(scene.code("metashrew_preview", json!([])).await, -32601);
    for input in ["0x0", "0xzz", "xyz", "0x0a 05"] {
        assert_eq!(scene.code("metashrew_view", json!(["getpool", input, "latest"])).await, -32602, "{input}");
    }
    for tag in [json!(FEW + 1), json!("999999999999"), json!(-1), json!("newest"), json!([])] {
        assert_eq!(scene.code("metashrew_view", json!(["ping", "0x", tag])).await, -32602, "{tag}");
    }
    assert_eq!(scene.code("metashrew_view", json!([])).await, -32602);
    assert_eq!(scene.code("metashrew_view", json!(["ping", "0x", "latest", 5])).await, -32602);
    assert_eq!(scene.code("metashrew_height", json!([5])).await, -32602);
    // Several at once.
    let batch = json!([
        { "id": "a", "method": "metashrew_view", "params": ["ping", "0x", "latest"] },
        { "method": "metashrew_height" },
        { "id": 0, "method": "metashrew_height" },
    ]);
    let batch = scene.post(&batch).await;
    assert_eq!(batch[0]["result"], "0x0a04706f6e67");
    assert_eq!((&batch[1]["id"], &batch[1]["result"]), (&json!(0), &json!(FEW.to_string())));
    assert_eq!(batch.as_array().unwrap().len(), 2);
    let unkeyed = scene.0.post("/v4/btcusd", r#"{"id":1,"method":"metashrew_height"}"#).await;
    assert_eq!((unkeyed.status, unkeyed.json()["code"].clone()), (401, json!("INVALID_API_KEY")));
}

/// row PI33
#[tokio::test]
async fn the_messages_are_published() {
    let scene = Scene::start(FEW).await;
    let file = scene.0.get("/v4/proto/cryptoswap.proto").await;
    assert_eq!(file.status, 200);
    assert!(file.text().contains("package cryptoswap;") && file.text().contains("message GetPoolStateResponse {"));
}

/// Every view of the table, over the surface.
///
/// row PI03
/// row PI04
/// row PI05
/// row PI06
/// row PI07
/// row PI08
/// row PI09
/// row PI10
/// row PI11
/// row PI12
/// row PI13
/// row PI14
/// row PI29
#[tokio::test]
async fn every_view_answers_over_the_surface() {
    let scene = Scene::start(HEIGHT).await;
    let ping: PingResponse = scene.view("ping", &OF_POOL).await;
    assert_eq!(ping.message, "pong");
    for height in [0, 7, HEIGHT] {
        let answer = scene.bytes("indexheight", &[], json!(height)).await;
        assert_eq!(IndexHeightResponse::decode(&answer[..]).unwrap().height, Some(height));
    }
    let pools: GetPoolsResponse = scene.view("getpools", &GetPoolsRequest::default()).await;
    assert_eq!((pools.ok, pools.total, pools.pools.len()), (true, 1, 1));
    let answer: GetPoolResponse = scene.view("getpool", &OF_POOL).await;
    let (record, state) = (answer.pool.unwrap(), answer.state.unwrap());
    assert_eq!(pools.pools[0], record);
    // The order of the tokens is that of their ids, and the contract has it the other way round.
    assert_eq!((record.token0, record.token1), (Some(USD_TOKEN), Some(WRAPPED_BITCOIN)));
    assert!(record.is_canonical && !record.coin0_is_token0 && record.from_init);
    assert_eq!((record.mid_fee.as_str(), record.out_fee.as_str()), ("20000000", "80000000"));
    let alone: GetPoolStateResponse = scene.view("getpoolstate", &OF_POOL).await;
    assert_eq!(alone.state.as_ref(), Some(&state));
    let reserves: GetReservesResponse = scene.view("getreserves", &OF_POOL).await;
    assert_eq!((&reserves.reserve0, &reserves.reserve1), (&state.reserve0, &state.reserve1));
    let swaps: GetSwapsResponse =
        scene.view("getswaps", &GetSwapsRequest { pool: Some(POOL), page: None, limit: None }).await;
    assert!(swaps.ok && swaps.total > 5, "{} swaps", swaps.total);
    assert_eq!(record.swap_count, swaps.total.to_string());
    let newest = &swaps.swaps[0];
    let price: GetPriceResponse = scene.view("getprice", &OF_POOL).await;
    assert_eq!(price.executed_price_q.as_ref(), Some(&newest.price_q));
    assert_eq!((price.executed_txid, price.executed_height), (newest.txid.clone(), Some(newest.height)));
    let summary: GetBlockSummaryResponse =
        scene.view("getblocksummary", &GetBlockSummaryRequest { height: newest.height }).await;
    assert!(summary.found && summary.swap_count > 0);
    assert_eq!(summary.blockhash, scene.0.chain.blocks[newest.height as usize].block_hash().to_string());
    // The newest trade is a transaction of that block.
    let txid = newest.txid.to_lower_hex_string();
    let block = &scene.0.chain.blocks[newest.height as usize];
    assert!(block.txdata.iter().any(|transaction| transaction.compute_txid().to_string() == txid));
    let (pool, bucket) = (Some(POOL), 3_600);
    let request = GetCandlesRequest { pool, bucket, ..GetCandlesRequest::default() };
    let candles: GetCandlesResponse = scene.view("getcandles", &request).await;
    let trades: u32 = candles.candles.iter().map(|candle| candle.trades).sum();
    assert_eq!(trades, swaps.total);
    let at: GetCandleAtResponse =
        scene.view("getcandleat", &GetCandleAtRequest { pool, bucket, at: newest.timestamp }).await;
    assert!(candles.candles.contains(&at.candle.unwrap()));
    let raw = GetRawValueRequest { pool, key: b"/price_scale".to_vec() };
    let raw: GetRawValueResponse = scene.view("getrawvalue", &raw).await;
    let low = u128::from_le_bytes(raw.value[..16].try_into().unwrap());
    assert_eq!((raw.found, low.to_string(), raw.txid.len()), (true, state.price_scale.clone(), 32));
    // A view at the height of the newest trade ignores later blocks.
    let then = scene.bytes("getswaps", &OF_POOL.encode_to_vec(), json!(newest.height)).await;
    assert_eq!(GetSwapsResponse::decode(&then[..]).unwrap().swaps, swaps.swaps);
    let before = scene.bytes("getswaps", &OF_POOL.encode_to_vec(), json!(newest.height - 1)).await;
    assert!(GetSwapsResponse::decode(&before[..]).unwrap().total < swaps.total);
}

/// The quote is what the contract itself answers at the height that it is for.
///
/// row PI15
/// row PI24
/// row PI28
/// row PI32
#[tokio::test]
async fn code_and_quotes_are_what_the_contract_has_and_answers() {
    let scene = Scene::start(HEIGHT).await;
    // The published request.
    let found = scene.call("metashrew_view", json!(["getpoolstate", "0x0a05080410f20d", "latest"])).await;
    assert!(found["result"].as_str().unwrap().starts_with("0x0801120508"), "{found}");
    let wrapped = proto::BytecodeRequest { id: Some(POOL) };
    let code = scene.bytes("getbytecode", &wrapped.encode_to_vec(), json!("latest")).await;
    assert!(code.starts_with(b"\0asm"));
    let main = scene.0.result("metashrew_view", json!(["getbytecode", "0x0a090a020804120308f20d", "latest"])).await;
    assert_eq!(main, format!("0x{}", code.to_lower_hex_string()));
    let other = Vec::from_hex("0a090a020804120308f20d").unwrap();
    assert_eq!(scene.bytes("getbytecode", &other, json!("latest")).await, code);
    assert!(scene.bytes("getbytecode", &POOL.encode_to_vec(), json!("latest")).await.is_empty());

    for (place, (token, amount)) in
        [(WRAPPED_BITCOIN, 1_000_000u128), (USD_TOKEN, 12_345_678_900), (WRAPPED_BITCOIN, 77), (USD_TOKEN, 1_000_000)]
            .into_iter()
            .enumerate()
    {
        let request = QuoteRequest { pool: Some(POOL), token_in: Some(token), amount_in: amount.to_string() };
        let quote: QuoteResponse = scene.view("quote", &request).await;
        let (i, j) = if token == WRAPPED_BITCOIN { (0, 1) } else { (1, 0) };
        let call = json!([{
            "target": { "block": "4", "tx": "1778" },
            "inputs": ["107", i.to_string(), j.to_string(), amount.to_string()],
            "height": (HEIGHT + 1).to_string(),
        }]);
        let simulated = scene.0.result("alkanes_simulate", call).await;
        let data = simulated["execution"]["data"].as_str().unwrap_or_else(|| panic!("{place}: {simulated}"));
        let data = Vec::from_hex(data.trim_start_matches("0x")).unwrap();
        let reported = u128::from_le_bytes(data[..16].try_into().unwrap());
        assert!(data.len() == 32 && quote.ok, "{quote:?} {simulated}");
        assert_eq!(quote.amount_out, reported.to_string(), "{place}");
    }
}
