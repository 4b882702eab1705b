//! Unconfirmed transactions from the live set, or from the node's mempool while the live set is not known to agree with the
//! node (docs/decisions/0016-esplora-from-the-live-set.md).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use bitcoin::consensus::encode::deserialize;
use bitcoin::{OutPoint, Transaction, TxOut, Txid};
use paraffin_bitcoin_index::{BitcoinIndex, ScriptKey};
use paraffin_mempool::{Entry, Mempool, Origin, ScriptHash};
use tokio::sync::{Mutex, Semaphore};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::{Fault, Outcome, json, read};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::state::{Node, RequestContext, unix_millis};

/// Transactions fetched from the node at most; the rest of a larger mempool is left out.
const TRANSACTIONS_MAX: usize = 10_000;
/// Calls to the node at the same time.
const PARALLEL_MAX: usize = 16;
/// After this time a refresh answers with what it has so far.
const REFRESH_BUDGET: Duration = Duration::from_secs(5);
/// A node that takes longer to list its mempool counts as unavailable.
const LIST_BUDGET: Duration = Duration::from_secs(2);
/// A large mempool is read from the node at most this often, a small one for every request.
const REFRESH_INTERVAL: Duration = Duration::from_secs(2);
/// A mempool of up to this many transactions is small: listing it is quick enough for every request.
const SMALL: usize = 1_000;
/// Longest wait for a large live set to agree with the node after a block.
const AGREEMENT_BUDGET: Duration = Duration::from_secs(3);

/// One unconfirmed transaction.
pub struct Pending {
    /// The transaction.
    pub transaction: Transaction,
    /// Outputs that its inputs spend, `None` where unknown.
    pub prevouts: Vec<Option<TxOut>>,
    scripts: HashSet<[u8; 32]>,
}

/// Unconfirmed transactions of one script in one answer at most.
const OF_SCRIPT_MAX: usize = 25_000;

/// The mempool, as this process follows it or as the node lists it.
pub enum View {
    /// The live set, which changes concurrently.
    Live(Arc<Mempool>),
    /// The mempool that the node listed.
    Node(Arc<NodeMempool>),
}

/// The node's mempool at one moment.
#[derive(Default)]
pub struct NodeMempool {
    pending: HashMap<Txid, Arc<Pending>>,
    spends: HashMap<OutPoint, (Txid, u32)>,
    by_script: HashMap<[u8; 32], Vec<Txid>>,
}

/// The node's mempool as last read, shared by all requests.
#[derive(Default)]
pub struct Unconfirmed(Mutex<LastRead>);

#[derive(Default)]
struct LastRead {
    at: Option<Instant>,
    failed_at: Option<Instant>,
    view: Arc<NodeMempool>,
}

impl NodeMempool {
    fn of(pending: HashMap<Txid, Arc<Pending>>) -> Self {
        let mut view = Self { pending, ..Self::default() };
        for (txid, one) in &view.pending {
            for (vin, input) in (0..).zip(&one.transaction.input) {
                view.spends.insert(input.previous_output, (*txid, vin));
            }
            for script in &one.scripts {
                view.by_script.entry(*script).or_default().push(*txid);
            }
        }
        view
    }
}

impl View {
    /// The transaction that spends the outpoint, and its input.
    pub(super) fn spender(&self, outpoint: &OutPoint) -> Option<(Txid, u32)> {
        match self {
            Self::Live(mempool) => mempool.read(|pool| pool.spender(outpoint)),
            Self::Node(listed) => listed.spends.get(outpoint).copied(),
        }
    }

    /// Whether a transaction funds or spends the script.
    pub fn is_touched(&self, script: &ScriptKey) -> bool {
        match self {
            Self::Live(mempool) => mempool.read(|pool| pool.touches(&ScriptHash(*script.digest()))),
            Self::Node(listed) => listed.by_script.contains_key(script.digest()),
        }
    }

    /// The transactions that fund or spend the script.
    pub fn touching(&self, script: &ScriptKey) -> Vec<(Txid, Arc<Pending>)> {
        match self {
            Self::Live(mempool) => {
                let entries = mempool.read(|pool| pool.of_script(&ScriptHash(*script.digest()), OF_SCRIPT_MAX));
                entries.iter().filter_map(|entry| Some((entry.txid, Arc::new(Pending::of(entry)?)))).collect()
            }
            Self::Node(listed) => {
                let txids = listed.by_script.get(script.digest()).map_or(&[][..], Vec::as_slice);
                txids.iter().filter_map(|txid| Some((*txid, Arc::clone(listed.pending.get(txid)?)))).collect()
            }
        }
    }
}

impl Pending {
    fn of(entry: &Entry) -> Option<Self> {
        let transaction = entry.transaction()?;
        // The live set has its own index of scripts.
        Some(Self { transaction, prevouts: entry.prevouts.to_vec(), scripts: HashSet::new() })
    }

    /// Satoshis that the transaction pays to a script, and satoshis of the script that it spends.
    pub fn effect(&self, script: &ScriptKey) -> (u64, u64) {
        let sum = |outputs: &mut dyn Iterator<Item = &TxOut>| {
            let ours = outputs.filter(|output| owns(script, output));
            ours.fold(0_u64, |sum, output| sum.saturating_add(output.value.to_sat()))
        };
        (sum(&mut self.transaction.output.iter()), sum(&mut self.prevouts.iter().flatten()))
    }

    /// Satoshis; `None` when an output that it spends is unknown.
    pub fn fee(&self) -> Option<u64> {
        let paid_in: Option<u64> = self.prevouts.iter().map(|output| Some(output.as_ref()?.value.to_sat())).sum();
        let paid_out: u64 = self.transaction.output.iter().map(|output| output.value.to_sat()).sum();
        paid_in?.checked_sub(paid_out)
    }

    fn is_resolved(&self) -> bool {
        self.prevouts.len() == self.transaction.input.len() && self.prevouts.iter().all(Option::is_some)
    }
}

/// Whether an output pays the script.
pub(super) fn owns(script: &ScriptKey, output: &TxOut) -> bool {
    ScriptKey::from_script(&output.script_pubkey).digest() == script.digest()
}

/// The mempool now. Without a live set it is empty while the node is unavailable.
pub async fn view(context: &RequestContext) -> View {
    match live(context).await {
        Some(mempool) => View::Live(Arc::clone(mempool)),
        None => View::Node(node_mempool(context).await),
    }
}

/// The live set, while it agrees with the node at the newest indexed block. After a block or a reorg agreement takes a moment: a
/// request waits for it when the mempool is large, and reads the node's mempool, which is quicker, when it is small.
pub(super) async fn live(context: &RequestContext) -> Option<&Arc<Mempool>> {
    let mempool = context.shared().mempool.as_ref()?;
    let agreement = mempool.agreement();
    let is_small = mempool.read(paraffin_mempool::TransactionSet::len) <= SMALL;
    if is_small && context.node().status().reachable {
        // Peers may receive a transaction seconds after the node has it.
        agreement.refresh(LIST_BUDGET).await;
    }
    let tip = context.shared().chain.snapshot().tip().map(|record| record.id.hash)?;
    let agrees = agreement.holds_at(tip)
        || (!is_small && agreement.is_expected() && agreement.wait_at(tip, AGREEMENT_BUDGET).await);
    agrees.then_some(mempool)
}

/// Adds a transaction that the node has just accepted to the live set: its sender may query it before peers announce it.
pub(crate) async fn accepted(context: &RequestContext, hex: &str) {
    let Some(mempool) = context.shared().mempool.clone() else { return };
    let Ok(raw) = <Vec<u8> as bitcoin::hex::FromHex>::from_hex(hex.trim()) else { return };
    let now = u64::try_from(unix_millis()).unwrap_or_default();
    let taken = tokio::task::spawn_blocking(move || {
        let transaction: Transaction = deserialize(&raw).ok()?;
        mempool.insert(&transaction, raw.into(), Origin::P2p, now).ok()
    });
    // The broadcast succeeded even if the set refuses it, for example because it is full.
    let _ = taken.await;
}

async fn node_mempool(context: &RequestContext) -> Arc<NodeMempool> {
    let Ok(unconfirmed) = context.shared().state_of::<Unconfirmed>() else { return Arc::default() };
    let mut seen = unconfirmed.0.lock().await;
    let is_fresh = seen.at.is_some_and(|at| at.elapsed() < REFRESH_INTERVAL);
    if is_fresh && seen.view.pending.len() > SMALL {
        return Arc::clone(&seen.view);
    }
    // An unavailable node must not delay answers from the index.
    let failed_lately = seen.failed_at.is_some_and(|at| at.elapsed() < REFRESH_INTERVAL);
    if failed_lately || !context.node().status().reachable {
        return Arc::default();
    }
    let Ok(Some(listed)) = tokio::time::timeout(LIST_BUDGET, list(context)).await else {
        seen.failed_at = Some(Instant::now());
        return Arc::default();
    };
    let mut pending: HashMap<Txid, Arc<Pending>> =
        listed.iter().filter_map(|txid| Some((*txid, Arc::clone(seen.view.pending.get(txid)?)))).collect();
    // A parent may have been in a block that was not indexed yet.
    pending.retain(|_, one| one.is_resolved());
    if pending.len() != listed.len() || seen.view.pending.len() != listed.len() {
        let missing = listed
            .iter()
            .filter(|txid| !pending.contains_key(*txid))
            .copied()
            .take(TRANSACTIONS_MAX - pending.len().min(TRANSACTIONS_MAX));
        let new = fetch(context, missing.collect()).await;
        pending.extend(resolve(context, new, &pending).await);
        seen.view = Arc::new(NodeMempool::of(pending));
    }
    seen.at = Some(Instant::now());
    Arc::clone(&seen.view)
}

async fn list(context: &RequestContext) -> Option<Vec<Txid>> {
    let listed = context.node().rpc("getrawmempool", &[]).await.ok()?;
    serde_json::from_str(listed.get()).ok()
}

async fn fetch(context: &RequestContext, txids: Vec<Txid>) -> HashMap<Txid, Transaction> {
    let deadline = Instant::now() + REFRESH_BUDGET;
    let permits = Arc::new(Semaphore::new(PARALLEL_MAX));
    let mut calls = JoinSet::new();
    for txid in txids {
        let (node, permits): (Arc<dyn Node>, _) = (Arc::clone(context.node()), Arc::clone(&permits));
        calls.spawn(async move {
            let _permit = permits.acquire().await.ok()?;
            let raw = node.raw_transaction(txid).await.ok()??;
            let transaction = deserialize::<Transaction>(&raw).ok()?;
            (transaction.compute_txid() == txid).then_some((txid, transaction))
        });
    }
    let mut fetched = HashMap::new();
    while let Ok(Some(call)) = tokio::time::timeout_at(deadline, calls.join_next()).await {
        fetched.extend(call.ok().flatten());
    }
    fetched
}

/// Looks up the outputs that the new transactions spend: in the index, else among the unconfirmed transactions.
async fn resolve(
    context: &RequestContext,
    new: HashMap<Txid, Transaction>,
    known: &HashMap<Txid, Arc<Pending>>,
) -> HashMap<Txid, Arc<Pending>> {
    if new.is_empty() {
        return HashMap::new();
    }
    let new = Arc::new(new);
    let copy = Arc::clone(&new);
    let confirmed = read(context, move |index: &BitcoinIndex| {
        copy.iter()
            .map(|(txid, transaction)| Ok((*txid, index.prevouts(transaction)?)))
            .collect::<Result<HashMap<_, _>, _>>()
    });
    let Ok(mut confirmed) = confirmed.await else { return HashMap::new() };
    let output = |outpoint: &OutPoint| {
        let parent = new.get(&outpoint.txid).or_else(|| known.get(&outpoint.txid).map(|parent| &parent.transaction))?;
        parent.output.get(outpoint.vout as usize).cloned()
    };
    let resolved = new.iter().map(|(txid, transaction)| {
        let mut prevouts = confirmed.remove(txid).unwrap_or_default();
        for (prevout, input) in prevouts.iter_mut().zip(&transaction.input) {
            if prevout.is_none() {
                *prevout = output(&input.previous_output);
            }
        }
        let outputs = transaction.output.iter().chain(prevouts.iter().flatten());
        let scripts = outputs.map(|output| *ScriptKey::from_script(&output.script_pubkey).digest()).collect();
        (*txid, Arc::new(Pending { transaction: transaction.clone(), prevouts, scripts }))
    });
    resolved.collect()
}

/// Unconfirmed transactions that fund or spend the script, without those that the request's snapshot has confirmed.
///
/// # Errors
/// The index cannot be read.
pub async fn of_script(context: &RequestContext, script: &ScriptKey) -> Result<Vec<(Txid, Arc<Pending>)>, Fault> {
    // The mempool first: a transaction that is mined meanwhile is then in both and listed once, not in neither.
    let view = view(context).await;
    if !view.is_touched(script) {
        context.snapshot();
        return Ok(Vec::new());
    }
    // Thousands of transactions may be decoded here.
    let script = script.clone();
    let mut touching = context.work(move || view.touching(&script)).await?;
    context.snapshot();
    // The node's order has no meaning; this one is deterministic.
    touching.sort_unstable_by_key(|(txid, _)| *txid);
    read(context, move |index| {
        let mut unconfirmed = Vec::new();
        for (txid, pending) in touching {
            if index.transaction_location(&txid)?.is_none() {
                unconfirmed.push((txid, pending));
            }
        }
        Ok(unconfirmed)
    })
    .await
}

/// Txids of the node's whole mempool.
pub(super) async fn txids(context: &RequestContext) -> Outcome {
    if let Some(mempool) = live(context).await {
        return json(&mempool.read(|pool| pool.txids(usize::MAX)));
    }
    let listed = list(context).await.ok_or_else(ApiError::upstream_unavailable)?;
    json(&listed)
}
