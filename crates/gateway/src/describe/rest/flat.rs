//! Routes about markets without envelope, `{ok, …}`.

use serde_json::{Value, json};

use super::super::schema::{about, boolean, component, list, natural, or_null, pattern, record, text};
use super::markets::factory;
use super::{Field, Route, needed, optional};
use crate::rest::Verb;

const TAG: &str = "Trading";

/// Intervals of candles.
const INTERVALS: &str = "^(10m|1h|4h|1d|1w|1M)$";

fn pool() -> Field {
    needed(&["pool", "poolId", "pool_id"], component("PoolId"))
}

fn times() -> [Field; 2] {
    [
        optional(&["start_time", "startTime"], about(component("Amount"), "Unix seconds")),
        optional(&["end_time", "endTime"], about(component("Amount"), "Unix seconds")),
    ]
}

fn answer(members: &[(&str, Value)]) -> Value {
    let ok = ("ok", json!({ "const": true }));
    record(&std::iter::once(ok).chain(members.iter().cloned()).collect::<Vec<_>>())
}

pub(super) fn routes() -> Vec<Route> {
    let post = |path, summary| Route::new(path, Verb::Post, TAG, summary);
    let digits = || component("Digits");
    let price = || about(pattern("^[0-9]+(\\.[0-9]+)?$"), "A decimal number");
    let count = |sentence: &str| optional(&["limit"], about(component("Count"), sentence));
    let token = || component("AlkaneId");
    vec![
        post("get-trades", "The newest trades of a pool, with what it held at the end of their blocks")
            .takes([pool(), count("100 when absent; more than 1,000 is taken as 1,000")])
            .takes(times())
            .gives_bare(answer(&[
                ("pool", component("IdText")),
                (
                    "trades",
                    list(record(&[
                        ("txid", component("Hash")),
                        ("vout", natural()),
                        ("token0", component("IdText")),
                        ("token1", component("IdText")),
                        ("amount0_in", digits()),
                        ("amount1_in", digits()),
                        ("amount0_out", digits()),
                        ("amount1_out", digits()),
                        ("reserve0_after", digits()),
                        ("reserve1_after", digits()),
                        ("timestamp", component("Time")),
                        ("block_height", natural()),
                    ])),
                ),
            ]))
            .or_missing(),
        post("get-candles", "The newest candles of a pool, of token 1 for token 0")
            .takes([
                pool(),
                optional(&["interval", "timeframe"], about(pattern(INTERVALS), "1h when absent")),
                count("500 when absent; more than 2,000 is taken as 2,000"),
            ])
            .takes(times())
            .gives_bare(answer(&[
                ("pool", component("IdText")),
                ("interval", text()),
                (
                    "candles",
                    list(record(&[
                        ("open_time", component("Time")),
                        ("close_time", or_null(component("Time"))),
                        ("open", price()),
                        ("high", price()),
                        ("low", price()),
                        ("close", price()),
                        ("volume0", digits()),
                        ("volume1", digits()),
                        ("trade_count", natural()),
                    ])),
                ),
            ]))
            .or_missing(),
        post("get-reserves", "What a pool holds")
            .takes([pool()])
            .gives_bare(answer(&[
                ("pool", component("IdText")),
                ("reserve0", digits()),
                ("reserve1", digits()),
                ("timestamp", or_null(component("Time"))),
                ("block_height", natural()),
            ]))
            .or_missing(),
        post("pathfind", "The way through pools that gives most for an amount")
            .takes([
                needed(&["token_in", "tokenIn"], token()),
                needed(&["token_out", "tokenOut"], token()),
                needed(&["amount_in", "amountIn"], component("Amount")),
                optional(&["max_hops"], component("Count")),
                factory(),
                optional(
                    &["cryptoswap"],
                    about(boolean(), "Whether the way may lead through `CryptoSwap` pools; true when absent, and never where a factory is named"),
                ),
            ])
            .gives_bare(answer(&[
                ("token_in", component("IdText")),
                ("token_out", component("IdText")),
                ("amount_in", digits()),
                ("paths", list(component("FoundPath"))),
            ]))
            .or_missing(),
    ]
}

pub(super) fn schemas() -> Vec<(&'static str, Value)> {
    let hop = record(&[
        ("pool", component("IdText")),
        ("token_in", component("IdText")),
        ("token_out", component("IdText")),
        ("amount_in", component("Digits")),
        ("amount_out", component("Digits")),
        ("kind", json!({ "enum": ["factory", "cryptoswap"] })),
    ]);
    vec![(
        "FoundPath",
        record(&[("hops", list(hop)), ("pools", list(component("IdText"))), ("estimated_output", component("Digits"))]),
    )]
}
