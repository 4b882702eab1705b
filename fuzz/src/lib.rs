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
}

/// Every target.
pub const TARGETS: [Target; 28] = [
    Target { name: "account", run: targets::account::run },
    Target { name: "alkanes_calls", run: targets::alkanes_calls::run },
    Target { name: "alkanes_code", run: targets::alkanes_code::run },
    Target { name: "alkanes_ledger", run: targets::alkanes_ledger::run },
    Target { name: "alkanes_views", run: targets::alkanes_views::run },
    Target { name: "api_key", run: targets::api_key::run },
    Target { name: "bitcoin_rows", run: targets::bitcoin_rows::run },
    Target { name: "block", run: targets::block::run },
    Target { name: "brc20_inscription", run: targets::brc20_inscription::run },
    Target { name: "esplora_transaction", run: targets::esplora_transaction::run },
    Target { name: "forex_json", run: targets::forex_json::run },
    Target { name: "forex_tables", run: targets::forex_tables::run },
    Target { name: "headers", run: targets::headers::run },
    Target { name: "lua_script", run: targets::lua_script::run },
    Target { name: "order_events", run: targets::order_events::run },
    Target { name: "ordinals_envelope", run: targets::ordinals_envelope::run },
    Target { name: "parameters", run: targets::parameters::run },
    Target { name: "peer_message", run: targets::peer_message::run },
    Target { name: "price_answers", run: targets::price_answers::run },
    Target { name: "primitives", run: targets::primitives::run },
    Target { name: "redaction", run: targets::redaction::run },
    Target { name: "rest_answers", run: targets::rest_answers::run },
    Target { name: "rest_body", run: targets::rest_body::run },
    Target { name: "routes", run: targets::routes::run },
    Target { name: "rpc_envelope", run: targets::rpc_envelope::run },
    Target { name: "source_archive", run: targets::source_archive::run },
    Target { name: "store_records", run: targets::store_records::run },
    Target { name: "undo_record", run: targets::undo_record::run },
];
