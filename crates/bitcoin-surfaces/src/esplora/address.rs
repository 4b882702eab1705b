use std::collections::HashSet;

use bitcoin::address::NetworkUnchecked;
use bitcoin::{Address, OutPoint, ScriptBuf, Txid};
use paraffin_bitcoin_index::{BitcoinIndex, ScriptKey, ScriptTotals};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use super::records::{EsploraTransaction, TransactionStatus, UnspentOutput};
use super::unconfirmed::owns;
use super::{Fault, Outcome, hash, json, read, transactions, unconfirmed};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::interrupt::HeldRows;
use paraffin_gateway::state::RequestContext;

/// Confirmed transactions on a page of history; clients take a shorter page for the last one.
const CONFIRMED_PER_PAGE: usize = 25;
/// Unconfirmed transactions before the first page.
const UNCONFIRMED_MAX: usize = 50;

/// The subject of a request: an address, or the SHA-256 of a script.
pub struct AddressRoute {
    kind: &'static str,
    text: String,
    /// Its script, as histories know it.
    pub key: ScriptKey,
    /// Known for addresses.
    pub script: Option<ScriptBuf>,
}

impl AddressRoute {
    /// An address of this instance's network.
    ///
    /// # Errors
    /// [`Fault::Malformed`]: it is none.
    pub fn address(context: &RequestContext, text: &str) -> Result<Self, Fault> {
        let address = context.network().parse_address(text).map_err(|sentence| {
            let is_address = text.parse::<Address<NetworkUnchecked>>().is_ok();
            let esplora = if is_address { "Address on invalid network" } else { "Invalid Bitcoin address" };
            Fault::malformed(esplora, sentence)
        })?;
        Ok(Self {
            kind: "address",
            text: text.to_owned(),
            key: ScriptKey::from_address(&address),
            script: Some(address.script_pubkey()),
        })
    }

    pub(super) fn script_hash(text: &str) -> Result<Self, Fault> {
        Ok(Self { kind: "scripthash", text: text.to_owned(), key: ScriptKey::from_script_hash(text)?, script: None })
    }
}

/// Totals of a script, confirmed and unconfirmed separately.
pub struct Totals {
    /// Of confirmed transactions.
    pub chain: ScriptTotals,
    /// Of unconfirmed transactions.
    pub mempool: ScriptTotals,
}

impl Totals {
    /// Number of unspent outputs, unconfirmed ones included.
    pub fn unspent_count(&self) -> u64 {
        let funded = self.chain.funded_txo_count + self.mempool.funded_txo_count;
        funded.saturating_sub(self.chain.spent_txo_count + self.mempool.spent_txo_count)
    }

    /// Satoshis that unconfirmed transactions add (or, negative, take away).
    pub fn unconfirmed_balance(&self) -> i128 {
        i128::from(self.mempool.funded_txo_sum) - i128::from(self.mempool.spent_txo_sum)
    }
}

/// Whether a path below an address exists.
pub(super) fn is_path(below: &[&str]) -> bool {
    matches!(below, [] | ["utxo" | "txs"] | ["txs", "mempool" | "chain"] | ["txs", "chain", _])
}

/// `/address/:address` and the paths below it.
pub(super) async fn answer(context: &RequestContext, route: &AddressRoute, below: &[&str]) -> Outcome {
    match below {
        [] => json(&AddressRecord { route, totals: &totals(context, &route.key).await? }),
        ["utxo"] => {
            let (unspent, _kept) = unspent(context, &route.key, None).await?;
            json(&unspent)
        }
        ["txs"] => {
            let mut page = pending_page(context, &route.key).await?;
            page.extend(confirmed_page(context, &route.key, None).await?);
            json(&page)
        }
        ["txs", "mempool"] => json(&pending_page(context, &route.key).await?),
        ["txs", "chain"] => json(&confirmed_page(context, &route.key, None).await?),
        ["txs", "chain", last] => {
            let last = hash(last, "txid")?;
            json(&confirmed_page(context, &route.key, Some(last)).await?)
        }
        _ => Err(Fault::Unknown),
    }
}

/// Totals of a script.
///
/// # Errors
/// The index or the node cannot be read.
pub async fn totals(context: &RequestContext, key: &ScriptKey) -> Result<Totals, Fault> {
    let pending = unconfirmed::of_script(context, key).await?;
    let copy = key.clone();
    let chain = read(context, move |index| index.script_totals(&copy)).await?;
    let mut mempool = ScriptTotals::default();
    for (_, pending) in pending {
        mempool.tx_count += 1;
        for output in pending.transaction.output.iter().filter(|output| owns(key, output)) {
            mempool.funded_txo_count += 1;
            mempool.funded_txo_sum = mempool.funded_txo_sum.saturating_add(output.value.to_sat());
        }
        for output in pending.prevouts.iter().flatten().filter(|output| owns(key, output)) {
            mempool.spent_txo_count += 1;
            mempool.spent_txo_sum = mempool.spent_txo_sum.saturating_add(output.value.to_sat());
        }
    }
    Ok(Totals { chain, mempool })
}

/// Bytes of an unspent output in memory and in the answer, about.
pub const UNSPENT_BYTES: usize = 320;

/// Unspent outputs of a script, unconfirmed first, then the newest first; those that unconfirmed transactions spend are left
/// out. All of them unless `limit` is given.
///
/// # Errors
/// The index or the node cannot be read.
pub async fn unspent(
    context: &RequestContext,
    key: &ScriptKey,
    limit: Option<usize>,
) -> Result<(Vec<UnspentOutput>, HeldRows), Fault> {
    let records_max = context.limits().list_records_max;
    let pending = unconfirmed::of_script(context, key).await?;
    let spent: HashSet<OutPoint> =
        pending.iter().flat_map(|(_, one)| one.transaction.input.iter().map(|input| input.previous_output)).collect();
    // Some may be spent by unconfirmed transactions, so that as many more are read.
    let wanted = limit.map_or(records_max.saturating_add(1), |limit| limit.saturating_add(spent.len()));
    let copy = key.clone();
    let network = context.network();
    let listed = context.read_rows(move |snapshot, interrupt| {
        let index = BitcoinIndex::new(snapshot.clone(), network);
        let totals = index.script_totals(&copy)?;
        let count = totals.funded_txo_count.saturating_sub(totals.spent_txo_count);
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(wanted);
        if !interrupt.keep(count.saturating_mul(UNSPENT_BYTES)) {
            return Ok(Vec::new());
        }
        index.unspent(&copy, None, Some(wanted))
    });
    let (confirmed, kept) = listed.await?;
    let confirmed = confirmed.map_err(Fault::from)?;
    if limit.is_none() && confirmed.len() > records_max {
        return Err(Fault::Failed(ApiError::response_too_large()));
    }
    let mut unspent = Vec::new();
    for (txid, one) in &pending {
        for (vout, output) in (0..).zip(&one.transaction.output) {
            if owns(key, output) && !spent.contains(&OutPoint { txid: *txid, vout }) {
                let status = TransactionStatus::UNCONFIRMED;
                unspent.push(UnspentOutput { txid: *txid, vout, status, value: output.value.to_sat() });
            }
        }
    }
    unspent.extend(confirmed.into_iter().filter(|output| !spent.contains(&output.outpoint)).map(UnspentOutput::from));
    unspent.truncate(limit.unwrap_or(usize::MAX));
    Ok((unspent, kept))
}

async fn pending_page(context: &RequestContext, key: &ScriptKey) -> Result<Vec<EsploraTransaction>, Fault> {
    let network = context.network();
    let pending = unconfirmed::of_script(context, key).await?;
    let shown = pending.iter().take(UNCONFIRMED_MAX);
    Ok(shown.map(|(_, one)| EsploraTransaction::unconfirmed(&one.transaction, &one.prevouts, network)).collect())
}

async fn confirmed_page(
    context: &RequestContext,
    key: &ScriptKey,
    after: Option<Txid>,
) -> Result<Vec<EsploraTransaction>, Fault> {
    let copy = key.clone();
    let page = read(context, move |index| index.history(&copy, after.as_ref(), CONFIRMED_PER_PAGE)).await?;
    transactions::render(context, page).await
}

/// The record of `/address/:address`, in Esplora's order.
struct AddressRecord<'a> {
    route: &'a AddressRoute,
    totals: &'a Totals,
}

impl Serialize for AddressRecord<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry(self.route.kind, &self.route.text)?;
        map.serialize_entry("chain_stats", &Stats(&self.totals.chain))?;
        map.serialize_entry("mempool_stats", &Stats(&self.totals.mempool))?;
        map.end()
    }
}

struct Stats<'a>(&'a ScriptTotals);

impl Serialize for Stats<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(5))?;
        map.serialize_entry("funded_txo_count", &self.0.funded_txo_count)?;
        map.serialize_entry("funded_txo_sum", &self.0.funded_txo_sum)?;
        map.serialize_entry("spent_txo_count", &self.0.spent_txo_count)?;
        map.serialize_entry("spent_txo_sum", &self.0.spent_txo_sum)?;
        map.serialize_entry("tx_count", &self.0.tx_count)?;
        map.end()
    }
}
