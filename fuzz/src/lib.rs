//! One fuzz target for each parser of bytes from outside.
//!
//! A target takes any bytes and panics when a promise is broken. libFuzzer drives them (`cargo xtask fuzz`); the test of this crate
//! replays the committed corpora and changes of them, so that every run of the tests sees what fuzzing has found before.
#![forbid(unsafe_code)]

mod alkanes;
mod targets;

/// A parser under test, by the name of its corpus.
pub struct Target {
    /// Name, also of the folder below `corpus/`.
    pub name: &'static str,
    /// Panics when the input breaks a promise.
    pub run: fn(&[u8]),
    /// Changed inputs that the replay tries at least.
    pub changed: u32,
    /// Whether an input can take a minute: the replay then tries no more than it must.
    pub is_slow: bool,
}

/// Changed inputs of a target whose inputs take no time.
const CHANGED: u32 = 500;

/// Every target.
pub const TARGETS: [Target; 28] = [
    Target { name: "account", run: targets::account::run, changed: CHANGED, is_slow: false },
    Target { name: "alkanes_calls", run: targets::alkanes_calls::run, changed: 4, is_slow: true },
    Target { name: "alkanes_code", run: targets::alkanes_code::run, changed: CHANGED, is_slow: false },
    Target { name: "alkanes_ledger", run: targets::alkanes_ledger::run, changed: CHANGED, is_slow: false },
    Target { name: "alkanes_views", run: targets::alkanes_views::run, changed: CHANGED, is_slow: false },
    Target { name: "api_key", run: targets::api_key::run, changed: CHANGED, is_slow: false },
    Target { name: "bitcoin_rows", run: targets::bitcoin_rows::run, changed: CHANGED, is_slow: false },
    Target { name: "block", run: targets::block::run, changed: CHANGED, is_slow: false },
    Target { name: "brc20_inscription", run: targets::brc20_inscription::run, changed: CHANGED, is_slow: false },
    Target { name: "esplora_transaction", run: targets::esplora_transaction::run, changed: CHANGED, is_slow: false },
    Target { name: "forex_json", run: targets::forex_json::run, changed: CHANGED, is_slow: false },
    Target { name: "forex_tables", run: targets::forex_tables::run, changed: CHANGED, is_slow: false },
    Target { name: "headers", run: targets::headers::run, changed: CHANGED, is_slow: false },
    Target { name: "lua_script", run: targets::lua_script::run, changed: CHANGED, is_slow: false },
    Target { name: "order_events", run: targets::order_events::run, changed: CHANGED, is_slow: false },
    Target { name: "ordinals_envelope", run: targets::ordinals_envelope::run, changed: CHANGED, is_slow: false },
    Target { name: "parameters", run: targets::parameters::run, changed: CHANGED, is_slow: false },
    Target { name: "peer_message", run: targets::peer_message::run, changed: CHANGED, is_slow: false },
    Target { name: "price_answers", run: targets::price_answers::run, changed: CHANGED, is_slow: false },
    Target { name: "primitives", run: targets::primitives::run, changed: CHANGED, is_slow: false },
    Target { name: "redaction", run: targets::redaction::run, changed: CHANGED, is_slow: false },
    Target { name: "rest_answers", run: targets::rest_answers::run, changed: CHANGED, is_slow: false },
    Target { name: "rest_body", run: targets::rest_body::run, changed: CHANGED, is_slow: false },
    Target { name: "routes", run: targets::routes::run, changed: CHANGED, is_slow: false },
    Target { name: "rpc_envelope", run: targets::rpc_envelope::run, changed: CHANGED, is_slow: false },
    Target { name: "source_archive", run: targets::source_archive::run, changed: CHANGED, is_slow: false },
    Target { name: "store_records", run: targets::store_records::run, changed: CHANGED, is_slow: false },
    Target { name: "undo_record", run: targets::undo_record::run, changed: CHANGED, is_slow: false },
];
