//! Shapes of the answers, for their description; `paraffin_bitcoin_index` writes them.
#![expect(dead_code, reason = "only the schemas")]

use std::collections::BTreeMap;

use schemars::JsonSchema;

use paraffin_gateway::methods::{Hash, Object};

/// Where a transaction is.
#[derive(JsonSchema)]
pub(super) struct TransactionStatus {
    confirmed: bool,
    #[schemars(skip_serializing_if = "Option::is_none")]
    block_height: Option<u32>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    block_hash: Option<Hash>,
    /// Unix seconds.
    #[schemars(skip_serializing_if = "Option::is_none")]
    block_time: Option<u32>,
}

/// A transaction.
#[derive(JsonSchema)]
pub(super) struct EsploraTransaction {
    txid: Hash,
    version: u32,
    locktime: u32,
    vin: Vec<Object>,
    vout: Vec<Object>,
    size: u32,
    weight: u64,
    /// Satoshis; absent while an output that it spends is not known yet.
    #[schemars(skip_serializing_if = "Option::is_none")]
    fee: Option<u64>,
    status: TransactionStatus,
}

/// An unspent output.
#[derive(JsonSchema)]
pub(super) struct EsploraOutput {
    txid: Hash,
    vout: u32,
    /// Satoshis.
    value: u64,
    status: TransactionStatus,
}

/// What spent an output, if something did.
#[derive(JsonSchema)]
pub(super) struct EsploraSpend {
    spent: bool,
    #[schemars(skip_serializing_if = "Option::is_none")]
    txid: Option<Hash>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    vin: Option<u32>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    status: Option<TransactionStatus>,
}

/// Target to feerate.
#[derive(JsonSchema)]
pub(super) struct EsploraFees(BTreeMap<String, f64>);
