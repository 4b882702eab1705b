use std::sync::Arc;

use bitcoin::consensus::encode::deserialize;
use bitcoin::hex::DisplayHex as _;
use bitcoin::{OutPoint, Transaction, TxOut, Txid};
use bytes::Bytes;
use paraffin_bitcoin_index::{
    RawTransactions, SourceError, SourceFuture, Spender, StoredTransactions, TransactionSource, TxLocation,
};
use paraffin_chain::NodeError;
use tokio::task::JoinSet;

use super::records::{EsploraSpend, EsploraTransaction, MerkleProof, TransactionStatus};
use super::unconfirmed::View;
use super::{Answer, Fault, Outcome, hash, json, number, read};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::state::{Node, RequestContext};

const NOT_FOUND: Fault = Fault::NotFound("Transaction not found");

/// Bytes of confirmed transactions, cut out of the node's blocks.
pub struct NodeTransactions(Arc<dyn Node>);

impl NodeTransactions {
    /// Reads from `node`.
    pub fn new(node: Arc<dyn Node>) -> Self {
        Self(node)
    }
}

/// Transactions close together in one block, fetched as one range.
struct Stretch {
    first: usize,
    locations: Vec<TxLocation>,
}

fn stretches(locations: Vec<TxLocation>) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    for (position, location) in locations.into_iter().enumerate() {
        let continued = stretches.last_mut().filter(|stretch| {
            let last = stretch.locations.last();
            last.is_some_and(|last| {
                last.block_hash == location.block_hash && last.offset.checked_add(last.size) == Some(location.offset)
            })
        });
        match continued {
            Some(stretch) => stretch.locations.push(location),
            None => stretches.push(Stretch { first: position, locations: vec![location] }),
        }
    }
    stretches
}

impl TransactionSource for NodeTransactions {
    fn fetch(&self, locations: Vec<TxLocation>) -> SourceFuture<'_> {
        Box::pin(async move {
            let count = locations.len();
            let mut parts = JoinSet::new();
            for stretch in stretches(locations) {
                let node = Arc::clone(&self.0);
                parts.spawn(async move {
                    let pieces = fetch_stretch(node.as_ref(), &stretch.locations).await?;
                    Ok::<_, SourceError>((stretch.first, pieces))
                });
            }
            let mut whole = vec![Bytes::new(); count];
            while let Some(part) = parts.join_next().await {
                let part = part.map_err(|_| SourceError::Unavailable("the read was given up".to_owned()))?;
                let (first, pieces) = part?;
                whole[first..first + pieces.len()].clone_from_slice(&pieces);
            }
            Ok(whole)
        })
    }
}

async fn fetch_stretch(node: &dyn Node, locations: &[TxLocation]) -> Result<Vec<Bytes>, SourceError> {
    let size = locations.iter().map(|location| location.size).sum();
    let part =
        node.block_part(locations[0].block_hash, locations[0].offset, size).await.map_err(|error| match error {
            NodeError::Invalid(reason) => SourceError::Wrong(reason),
            error => SourceError::Unavailable(error.to_string()),
        })?;
    if part.len() != size as usize {
        return Err(SourceError::Wrong("a part of a block has another length".to_owned()));
    }
    let mut start = 0;
    let cut = |location: &TxLocation| {
        let end = start + location.size as usize;
        let piece = part.slice(start..end);
        start = end;
        piece
    };
    Ok(locations.iter().map(cut).collect())
}

/// Bytes of confirmed transactions, from whichever source this instance uses.
pub(crate) async fn raw(context: &RequestContext, locations: Vec<TxLocation>) -> Result<Vec<Bytes>, Fault> {
    if locations.is_empty() {
        return Ok(Vec::new());
    }
    let kept = read(context, paraffin_bitcoin_index::BitcoinIndex::raw_transactions).await?;
    Ok(match kept {
        Some(RawTransactions::Store) => {
            context.read(move |snapshot| StoredTransactions::new(snapshot.clone()).read(&locations)).await??
        }
        Some(RawTransactions::Node) | None => {
            NodeTransactions::new(Arc::clone(context.node())).fetch(locations).await?
        }
    })
}

/// Complete records of confirmed transactions.
pub(super) async fn render(
    context: &RequestContext,
    locations: Vec<TxLocation>,
) -> Result<Vec<EsploraTransaction>, Fault> {
    let raw = raw(context, locations.clone()).await?;
    let network = context.network();
    read(context, move |index| {
        let mut records = Vec::with_capacity(locations.len());
        index.visit_transactions(&locations, &raw, |location, transaction, prevouts| {
            let status = location.confirmation().into();
            records.push(EsploraTransaction::new(transaction, prevouts, status, network));
        })?;
        Ok(records)
    })
    .await
}

/// A transaction that the node has and the index does not. Wallets drop transactions reported as missing, so an unavailable node
/// is an error.
pub(crate) async fn unconfirmed(context: &RequestContext, txid: Txid) -> Result<Option<Transaction>, Fault> {
    let raw = context.node().raw_transaction(txid).await.map_err(|error| crate::btc::from_node(&error))?;
    let transaction = raw.and_then(|raw| deserialize::<Transaction>(&raw).ok());
    Ok(transaction.filter(|transaction| transaction.compute_txid() == txid))
}

/// Complete record of an unconfirmed transaction; outputs of unconfirmed parents are requested from the node.
pub(super) async fn render_unconfirmed(
    context: &RequestContext,
    transaction: Transaction,
) -> Result<EsploraTransaction, Fault> {
    let copy = transaction.clone();
    let mut prevouts: Vec<Option<TxOut>> = read(context, move |index| index.prevouts(&copy)).await?;
    let mut parents: std::collections::HashMap<Txid, Option<Transaction>> = std::collections::HashMap::new();
    for (prevout, input) in prevouts.iter_mut().zip(&transaction.input) {
        if prevout.is_none() {
            let OutPoint { txid, vout } = input.previous_output;
            let parent = match parents.entry(txid) {
                std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
                std::collections::hash_map::Entry::Vacant(unknown) => {
                    // The record is useful without it.
                    unknown.insert(unconfirmed(context, txid).await.ok().flatten())
                }
            };
            *prevout = parent.as_ref().and_then(|parent| parent.output.get(vout as usize).cloned());
        }
    }
    Ok(EsploraTransaction::unconfirmed(&transaction, &prevouts, context.network()))
}

/// `/tx/:txid` and the paths below it.
pub(super) async fn transaction(context: &RequestContext, txid: &str, below: &[&str]) -> Outcome {
    // An unknown path is reported before an invalid parameter.
    if !matches!(
        below,
        [] | ["status" | "hex" | "raw" | "outspends" | "merkle-proof" | "merkleblock-proof"] | ["outspend", _]
    ) {
        return Err(Fault::Unknown);
    }
    let txid: Txid = hash(txid, "txid")?;
    match below {
        ["status"] => {
            let location = read(context, move |index| index.transaction_location(&txid)).await?;
            let confirmed = location.map(|location| location.confirmation().into());
            return json(&confirmed.unwrap_or(TransactionStatus::UNCONFIRMED));
        }
        ["outspends"] => return outspends(context, txid).await,
        ["outspend", vout] => return outspend(context, txid, number(vout, "output index")?).await,
        ["merkle-proof"] => {
            let proof = read(context, move |index| index.merkle_proof(&txid)).await?;
            let proof = proof.ok_or(Fault::NotFound("Transaction not found or is unconfirmed"))?;
            return json(&MerkleProof::from(proof));
        }
        ["merkleblock-proof"] => {
            let proof = read(context, move |index| index.merkle_block(&txid)).await?;
            let proof = proof.ok_or(Fault::NotFound("Transaction not found or is unconfirmed"))?;
            return Ok(Answer::Text(proof.to_lower_hex_string()));
        }
        _ => {}
    }
    let location = read(context, move |index| index.transaction_location(&txid)).await?;
    let Some(location) = location else {
        let transaction = unconfirmed(context, txid).await?.ok_or(NOT_FOUND)?;
        return match below {
            [] => json(&render_unconfirmed(context, transaction).await?),
            below => Ok(bytes(below, bitcoin::consensus::serialize(&transaction).into())),
        };
    };
    if below.is_empty() {
        let records = render(context, vec![location]).await?;
        return json(records.first().ok_or(NOT_FOUND)?);
    }
    // Rendering checks the bytes against the txid; the bytes alone must be checked here.
    let raw = raw(context, vec![location]).await?.pop().ok_or(NOT_FOUND)?;
    let is_right = deserialize::<Transaction>(&raw).is_ok_and(|transaction| transaction.compute_txid() == txid);
    if !is_right {
        return Err(Fault::Failed(ApiError::inconsistent("the bytes of a transaction do not hash to its txid")));
    }
    Ok(bytes(below, raw))
}

fn bytes(below: &[&str], raw: Bytes) -> Answer {
    match below {
        ["hex"] => Answer::Text(raw.to_lower_hex_string()),
        _ => Answer::Binary(raw),
    }
}

async fn outspends(context: &RequestContext, txid: Txid) -> Outcome {
    // The mempool first: a spender that is mined meanwhile is then in both, not in neither.
    let view = super::unconfirmed::view(context).await;
    let spenders = match read(context, move |index| index.outspends(&txid)).await? {
        Some(spenders) => spenders,
        None => vec![None; unconfirmed(context, txid).await?.ok_or(NOT_FOUND)?.output.len()],
    };
    let spends = (0..).zip(spenders).map(|(vout, spender)| spend(spender, &view, &OutPoint { txid, vout }));
    json(&spends.collect::<Vec<_>>())
}

async fn outspend(context: &RequestContext, txid: Txid, vout: u32) -> Outcome {
    let outpoint = OutPoint { txid, vout };
    let view = super::unconfirmed::view(context).await;
    let spender = read(context, move |index| index.outspend(&outpoint)).await?;
    json(&spend(spender, &view, &outpoint))
}

fn spend(confirmed: Option<Spender>, view: &View, outpoint: &OutPoint) -> EsploraSpend {
    let pending = || view.spender(outpoint).map(|(txid, vin)| EsploraSpend::unconfirmed(txid, vin));
    confirmed.map(EsploraSpend::from).or_else(pending).unwrap_or(EsploraSpend::UNSPENT)
}
