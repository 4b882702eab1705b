//! The rules for taking a transaction into the mempool.

use std::collections::BTreeSet;
use std::sync::Arc;

use bitcoin::{Transaction, Txid};

use super::State;
use super::chain::sigop_cost;
use super::mempool::{Mempool, MempoolEntry};
use super::rejection::{Rejection, RejectionKind};
use super::scripts::failing_input;
use super::utxo::{Coin, MEMPOOL_HEIGHT};
use super::validate::{self, format_btc};

/// Lowest feerate that is relayed, in satoshis per 1,000 virtual bytes.
pub(crate) const MIN_RELAY_SATS_PER_KVB: u64 = 100;
/// What a replacement pays on top, in satoshis per 1,000 virtual bytes of its own size.
pub(crate) const INCREMENTAL_SATS_PER_KVB: u64 = 100;
/// Most transactions of a cluster.
pub(crate) const CLUSTER_COUNT_MAX: usize = 64;
/// Most virtual bytes of a cluster.
pub(crate) const CLUSTER_VSIZE_MAX: u64 = 101_000;
/// Heaviest transaction that is relayed, in weight units.
const STANDARD_WEIGHT_MAX: u64 = 400_000;
/// Highest signature operation cost of a relayed transaction.
const STANDARD_SIGOPS_COST_MAX: usize = validate::MAX_BLOCK_SIGOPS_COST / 5;
/// Most transactions that one replacement may evict.
const REPLACED_MAX: usize = 100;
/// Smallest transaction without witness that is relayed, in bytes.
const NON_WITNESS_SIZE_MIN: usize = 65;

/// What is waived for a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiver {
    Nothing,
    /// It was in a block that left the chain: no fee is required.
    Fees,
}

/// A transaction that has passed every check, and what its admission evicts.
#[derive(Debug)]
pub(crate) struct Admissible {
    pub(crate) entry: MempoolEntry,
    pub(crate) replaced: BTreeSet<Txid>,
}

/// The fee for `vsize` at a feerate in satoshis per 1,000 virtual bytes, rounded up.
pub(crate) fn fee_for(sats_per_kvb: u64, vsize: u64) -> u64 {
    (u128::from(sats_per_kvb) * u128::from(vsize)).div_ceil(1000).try_into().unwrap_or(u64::MAX)
}

impl State {
    /// Checks `tx` against the chain and the mempool without changing either.
    pub(crate) fn examine(&self, tx: &Arc<Transaction>, waiver: Waiver) -> Result<Admissible, Rejection> {
        validate::check_transaction(tx)?;
        if tx.is_coinbase() {
            return Err(Rejection::consensus("coinbase"));
        }
        if tx.base_size() < NON_WITNESS_SIZE_MIN {
            return Err(Rejection::policy("tx-size-small", ""));
        }
        let weight = tx.weight().to_wu();
        if weight > STANDARD_WEIGHT_MAX {
            return Err(Rejection::policy("tx-size", ""));
        }
        let next_height = self.chain.height() + 1;
        if !validate::is_final(tx, next_height, self.chain.tip().median_time_past) {
            return Err(Rejection::policy("non-final", ""));
        }
        let (txid, wtxid) = (tx.compute_txid(), tx.compute_wtxid());
        if let Some(known) = self.mempool.get(&txid) {
            let same = known.wtxid == wtxid;
            let reason = if same { "txn-already-in-mempool" } else { "txn-same-nonwitness-data-in-mempool" };
            return Err(Rejection::policy(reason, ""));
        }
        let conflicts: BTreeSet<Txid> =
            tx.input.iter().filter_map(|input| self.mempool.spender(&input.previous_output)).collect();
        let coins = self.coins_of(tx, txid)?;
        let heights: Vec<u32> =
            coins.iter().map(|coin| if coin.height == MEMPOOL_HEIGHT { next_height } else { coin.height }).collect();
        if !validate::relative_locks_hold(tx, &heights, next_height, |at| self.chain.median_time_past_at(at)) {
            return Err(Rejection::policy("non-BIP68-final", ""));
        }
        let fee = validate::check_amounts(tx, &coins, next_height)?;
        let sigop_cost = sigop_cost(tx, &coins);
        if sigop_cost > STANDARD_SIGOPS_COST_MAX {
            return Err(Rejection::policy("bad-txns-too-many-sigops", sigop_cost.to_string()));
        }
        let vsize = weight.max(sigop_cost as u64 * 20).div_ceil(4);
        let required = fee_for(MIN_RELAY_SATS_PER_KVB, vsize);
        if waiver == Waiver::Nothing && fee < required {
            return Err(Rejection::policy("min relay fee not met", format!("{fee} < {required}")));
        }
        let replaced = check_replacement(&self.mempool, tx, txid, &conflicts, fee, vsize)?;
        check_cluster(&self.mempool, tx, &replaced, vsize)?;
        self.chain.scripts.verify(tx, wtxid, &coins).map_err(|index| {
            let reason = "mempool-script-verify-flag-failed (script verification failed)";
            Rejection::consensus(reason).with_detail(failing_input(tx, wtxid, index))
        })?;
        let entry = MempoolEntry {
            tx: Arc::clone(tx),
            txid,
            wtxid,
            fee,
            weight,
            vsize,
            sigop_cost,
            time: self.now(),
            height: self.chain.height(),
            order: 0,
        };
        Ok(Admissible { entry, replaced })
    }

    /// The outputs that `tx` spends, confirmed or not.
    fn coins_of(&self, tx: &Transaction, txid: Txid) -> Result<Vec<Coin>, Rejection> {
        tx.input
            .iter()
            .map(|input| {
                let outpoint = &input.previous_output;
                if let Some(coin) = self.chain.coins.get(outpoint) {
                    return Ok(coin.clone());
                }
                if let Some(output) = self.mempool.output(outpoint) {
                    return Ok(Coin { output: output.clone(), height: MEMPOOL_HEIGHT, coinbase: false });
                }
                if self.is_unspent_in_chain(tx, txid) {
                    return Err(Rejection::policy("txn-already-known", ""));
                }
                Err(validate::missing_inputs())
            })
            .collect()
    }

    /// Whether an output of `tx` is in the set of unspent outputs already.
    pub(crate) fn is_unspent_in_chain(&self, tx: &Transaction, txid: Txid) -> bool {
        (0..).zip(&tx.output).any(|(vout, _)| self.chain.coins.get(&bitcoin::OutPoint { txid, vout }).is_some())
    }

    /// Takes `tx` into the mempool; returns its entry and the txids that it replaced.
    pub(crate) fn admit(&mut self, tx: &Arc<Transaction>, waiver: Waiver) -> Result<Admissible, Rejection> {
        let Admissible { entry, replaced } = self.examine(tx, waiver)?;
        for txid in &replaced {
            self.mempool.remove_with_descendants(*txid);
        }
        self.chain.scripts.remember(entry.wtxid);
        self.mempool.insert(entry.clone());
        if self.mempool.trim().contains(&entry.txid) {
            return Err(Rejection::policy("mempool full", ""));
        }
        Ok(Admissible { entry, replaced })
    }
}

/// Replacement of conflicting transactions: the new one pays more per byte than each that it conflicts with, at least as
/// much in all as everything it evicts, and the relay fee of its own size on top. Signalling is not required.
fn check_replacement(
    mempool: &Mempool,
    tx: &Transaction,
    txid: Txid,
    conflicts: &BTreeSet<Txid>,
    fee: u64,
    vsize: u64,
) -> Result<BTreeSet<Txid>, Rejection> {
    if conflicts.is_empty() {
        return Ok(BTreeSet::new());
    }
    let ancestors = mempool.ancestors(tx);
    if let Some(conflict) = conflicts.intersection(&ancestors).next() {
        return Err(Rejection::consensus("bad-txns-spends-conflicting-tx")
            .with_detail(format!("{txid} spends conflicting transaction {conflict}")));
    }
    let replaced: BTreeSet<Txid> = conflicts.iter().flat_map(|conflict| mempool.descendants(*conflict)).collect();
    if replaced.len() > REPLACED_MAX {
        let count = replaced.len();
        let detail =
            format!("rejecting replacement {txid}; too many potential replacements ({count} > {REPLACED_MAX})");
        return Err(Rejection::policy("too many potential replacements", detail));
    }
    for entry in conflicts.iter().filter_map(|conflict| mempool.get(conflict)) {
        if u128::from(fee) * u128::from(entry.vsize) <= u128::from(entry.fee) * u128::from(vsize) {
            let (new, old) = (format_btc(fee * 1000 / vsize), format_btc(entry.fee * 1000 / entry.vsize));
            let detail =
                format!("rejecting replacement {txid}; new feerate {new} BTC/kvB <= old feerate {old} BTC/kvB");
            return Err(Rejection::policy("insufficient fee", detail));
        }
    }
    let original = mempool.totals(&replaced).fees;
    if fee < original {
        let (new, old) = (format_btc(fee), format_btc(original));
        let detail = format!("rejecting replacement {txid}, less fees than conflicting txs; {new} < {old}");
        return Err(Rejection::policy("insufficient fee", detail));
    }
    let (additional, relay) = (fee - original, fee_for(INCREMENTAL_SATS_PER_KVB, vsize));
    if additional < relay {
        let (new, old) = (format_btc(additional), format_btc(relay));
        let detail = format!("rejecting replacement {txid}, not enough additional fees to relay; {new} < {old}");
        return Err(Rejection::policy("insufficient fee", detail));
    }
    Ok(replaced)
}

fn check_cluster(mempool: &Mempool, tx: &Transaction, replaced: &BTreeSet<Txid>, vsize: u64) -> Result<(), Rejection> {
    let cluster = mempool.cluster(mempool.parents(tx).collect());
    let remaining: Vec<Txid> = cluster.difference(replaced).copied().collect();
    if remaining.len() + 1 > CLUSTER_COUNT_MAX || mempool.totals(&remaining).vsize + vsize > CLUSTER_VSIZE_MAX {
        return Err(Rejection::policy("too-large-cluster", ""));
    }
    Ok(())
}

impl Rejection {
    /// Whether the inputs are unknown, which a peer may resolve by sending the parent.
    pub(crate) fn is_missing_inputs(&self) -> bool {
        self.kind == RejectionKind::MissingInputs
    }
}
