//! The mempool surface: its methods, what admins send it, and its stream.

mod esplora;
mod figures;
mod methods;
mod schedules;
mod stream;

use std::sync::Arc;

use bitcoin::hashes::Hash as _;
use bitcoin::{OutPoint, Transaction, Txid};
use bytes::Bytes;
use paraffin_access::{KeyStore as _, NewKey, Plan};
use paraffin_mempool::{Limits, Mempool, Origin};
use paraffin_surfaces::handlers;
use serde_json::{Value, json};

use crate::chain::{payment, script_of, taproot};
use crate::instance::{Instance, Setup};

pub(super) const NOW: u64 = 1_754_770_000_123;

/// An instance with a live set that tests fill.
pub(super) async fn instance(limits: Limits) -> (Instance, Arc<Mempool>) {
    named(limits, 0xa3f1_c07e, Setup::default()).await
}

/// The same under a name of its own, with other settings.
pub(super) async fn named(limits: Limits, name: u32, setup: Setup) -> (Instance, Arc<Mempool>) {
    let confirmed = |outpoint: &OutPoint| {
        let is_coin = outpoint.txid.to_byte_array().iter().all(|byte| *byte == outpoint.txid.to_byte_array()[0]);
        is_coin.then(|| bitcoin::TxOut {
            value: bitcoin::Amount::from_sat(100_000),
            script_pubkey: script_of(
                paraffin_primitives::Network::Regtest,
                &taproot(paraffin_primitives::Network::Regtest, 3),
            ),
        })
    };
    let mempool = Mempool::new(limits, name, Arc::new(confirmed));
    let keyed = vec![handlers::mempool(Arc::clone(&mempool))];
    (Instance::with(Setup { keyed, mempool: Some(Arc::clone(&mempool)), ..setup }).await, mempool)
}

/// A transaction that spends a confirmed coin worth 100,000 and pays `fee`.
pub(super) fn transaction(coin: u8, fee: u64) -> Transaction {
    let network = paraffin_primitives::Network::Regtest;
    let from = OutPoint { txid: Txid::from_byte_array([coin; 32]), vout: 0 };
    payment(&[from], &[(100_000 - fee, script_of(network, &taproot(network, 1)))])
}

pub(super) fn raw(transaction: &Transaction) -> Bytes {
    bitcoin::consensus::serialize(transaction).into()
}

pub(super) fn add(mempool: &Mempool, transaction: &Transaction) -> u64 {
    mempool.insert(transaction, raw(transaction), Origin::P2p, NOW).unwrap().entry.seq
}

pub(super) async fn call(instance: &Instance, method: &str, params: Value) -> Value {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    instance.post(&instance.keyed("/mempool"), body.to_string()).await.json()
}

pub(super) async fn result(instance: &Instance, method: &str, params: Value) -> Value {
    let answer = call(instance, method, params).await;
    assert!(answer.get("error").is_none(), "{answer}");
    answer["result"].clone()
}

pub(super) async fn code(instance: &Instance, method: &str, params: Value) -> i64 {
    let answer = call(instance, method, params).await;
    answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{answer}"))
}

pub(super) async fn admin(instance: &Instance) -> String {
    let new = NewKey { admin: true, ..NewKey::on_plan("admin", Plan::BUSINESS) };
    instance.keys.create(new, "test", 0).await.unwrap().key.reveal()
}
