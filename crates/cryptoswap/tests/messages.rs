//! Messages recorded from the live endpoint are decoded and encoded again byte for byte, and the published file matches the
//! structs.
#![allow(clippy::unwrap_used)]

use paraffin_cryptoswap::proto::{
    AlkaneId, GetBlockSummaryRequest, GetCandleAtRequest, GetCandleAtResponse, GetCandlesRequest, GetCandlesResponse,
    GetPoolRequest, GetPoolStateResponse, GetPoolsRequest, GetRawValueRequest, GetSwapsRequest, IndexHeightResponse,
    PingResponse, PoolState,
};
use prost::Message;

const POOL: AlkaneId = AlkaneId { block: 4, tx: 1778 };
const USD: AlkaneId = AlkaneId { block: 4, tx: 1776 };
const BTC: AlkaneId = AlkaneId { block: 32, tx: 0 };

fn bytes(hex: &str) -> Vec<u8> {
    use bitcoin::hex::FromHex as _;
    Vec::from_hex(hex).unwrap()
}

fn hex(bytes: &[u8]) -> String {
    use bitcoin::hex::DisplayHex as _;
    bytes.to_lower_hex_string()
}

/// The state of the main pool at height 962472, as the live endpoint answered `getpoolstate` at 962502.
const STATE_CAPTURE: &str = "08011205080410f20d1a05080410f00d220208202adb0108a8df3a10c4eefdd3061a0d3138383132313433383930373822\
                             0832393532313930322a143734353136373739383134363038383937363236320e31353630343533333130353134353a0e\
                             3135363039303635313232313638420e313536303734393438353333323348a8df3a520e31353630343533333130353134\
                             355a0e3135363039303635313232313638620e31353630373439343835333332336a123538383737333631383733363239\
                             343934387213313030303038393532343433333539363934357a1331303030303933323631343731323132393432321331\
                             303030303030303030303030303030303030";

fn captured_state() -> GetPoolStateResponse {
    let text = |text: &str| text.to_owned();
    GetPoolStateResponse {
        found: true,
        pool: Some(POOL),
        token0: Some(USD),
        token1: Some(BTC),
        state: Some(PoolState {
            height: 962_472,
            timestamp: 1_786_738_500,
            reserve0: text("1881214389078"),
            reserve1: text("29521902"),
            total_supply: text("74516779814608897626"),
            price_scale: text("15604533105145"),
            price_oracle: text("15609065122168"),
            last_prices: text("15607494853323"),
            last_prices_height: 962_472,
            marginal_price_q: Some(text("15604533105145")),
            oracle_price_q: Some(text("15609065122168")),
            last_price_q: Some(text("15607494853323")),
            d: text("588773618736294948"),
            virtual_price: text("1000089524433596945"),
            xcp_profit: text("1000093261471212942"),
            is_killed: false,
            ramping: false,
            future_ag_height: 0,
        }),
        price_q_scale: text("1000000000000000000"),
    }
}

/// row PI09
/// row PI16
/// row PI26
#[test]
fn the_captured_answer_of_getpoolstate_is_read_and_written_byte_for_byte() {
    let capture = bytes(&STATE_CAPTURE.replace(char::is_whitespace, ""));
    assert_eq!(capture.len(), 263);
    let read = GetPoolStateResponse::decode(&capture[..]).unwrap();
    assert_eq!(read, captured_state());
    assert_eq!(hex(&captured_state().encode_to_vec()), hex(&capture));
}

/// row PI01
/// row PI08
#[test]
fn the_captured_request_is_read_and_written_byte_for_byte() {
    let capture = "0a05080410f20d";
    assert_eq!(GetPoolRequest::decode(&bytes(capture)[..]).unwrap(), GetPoolRequest { pool: Some(POOL) });
    assert_eq!(hex(&GetPoolRequest { pool: Some(POOL) }.encode_to_vec()), capture);
    // The first client sent a wrong inner length; the live endpoint answered `0x`.
    assert!(GetPoolRequest::decode(&bytes("0a06080410f20d")[..]).is_err());
}

fn same<T: Message + Default + PartialEq + std::fmt::Debug>(message: &T, expected: &str) {
    assert_eq!(hex(&message.encode_to_vec()), expected, "{message:?}");
    assert!(T::decode(&bytes(expected)[..]).unwrap() == *message, "{expected}");
}

/// row PI01
#[test]
fn requests_have_the_bytes_that_clients_send() {
    let pool = Some(POOL);
    let candles = GetCandlesRequest { pool, bucket: 3_600, ..GetCandlesRequest::default() };
    same(&candles, "0a05080410f20d10901c");
    same(&GetCandlesRequest { bucket: 86_400, limit: Some(30), ..candles }, "0a05080410f20d1080a305301e");
    same(&GetCandleAtRequest { pool, bucket: 3_600, at: 1_786_738_500 }, "0a05080410f20d10901c18c4eefdd306");
    same(&GetSwapsRequest { pool, page: None, limit: Some(10) }, "0a05080410f20d180a");
    same(&GetBlockSummaryRequest { height: 962_472 }, "08a8df3a");
    let raw = GetRawValueRequest { pool, key: b"/price_scale".to_vec() };
    same(&raw, "0a05080410f20d120c2f70726963655f7363616c65");
    for (canonical, expected) in [(Some(true), "0801"), (Some(false), "0800"), (None, "")] {
        same(&GetPoolsRequest { canonical, ..GetPoolsRequest::default() }, expected);
    }
}

/// row PI20
/// row PI30
#[test]
fn refused_widths_have_the_smallest_answers() {
    let (pool, supported_buckets) = (Some(POOL), vec![3_600, 86_400]);
    let candles = GetCandlesResponse {
        pool,
        bucket: 900,
        supported_buckets: supported_buckets.clone(),
        ..GetCandlesResponse::default()
    };
    same(&candles, "1205080410f20d1884075205901c80a305");
    let candle = GetCandleAtResponse { pool, bucket: 900, supported_buckets, ..GetCandleAtResponse::default() };
    same(&candle, "1205080410f20d1884073205901c80a305");
}

/// row PI22
#[test]
fn flags_stand_in_fields_16_and_17_and_defaults_nowhere() {
    same(&PoolState { is_killed: true, ..PoolState::default() }, "800101");
    same(&PoolState { ramping: true, ..PoolState::default() }, "880101");
    same(&PoolState::default(), "");
    // An optional height of 0 is there, an absent one is not.
    same(&IndexHeightResponse { height: Some(0) }, "0800");
    same(&IndexHeightResponse { height: None }, "");
    same(&PingResponse { message: "pong".to_owned() }, "0a04706f6e67");
}
