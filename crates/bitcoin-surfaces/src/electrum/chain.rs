//! Answers from the index: headers, proofs and transactions.

use bitcoin::block::Header;
use bitcoin::consensus::serialize;
use bitcoin::hashes::Hash as _;
use bitcoin::{BlockHash, Txid};
use bytes::Bytes;
use paraffin_bitcoin_index::{BitcoinIndex, ReadError};
use paraffin_electrum::{CHUNK_HEADERS, Fault, HeaderProof, Proof};

use super::{SessionApi, abandoned, of_rpc, unreadable};
use crate::esplora;
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::interrupt::Interrupt;
use paraffin_gateway::state::RequestContext;

/// A header in consensus encoding.
pub(super) fn header_bytes(header: &Header) -> [u8; 80] {
    let mut bytes = [0; 80];
    // A header always has 80 bytes.
    bytes.iter_mut().zip(serialize(header)).for_each(|(byte, of_header)| *byte = of_header);
    bytes
}

/// Reads the index on a blocking thread.
async fn read<T: Send + 'static>(
    context: &RequestContext,
    read: impl FnOnce(&BitcoinIndex, &Interrupt) -> Result<T, ReadError> + Send + 'static,
) -> Result<T, Fault> {
    let network = context.network();
    let outcome = context
        .read_until(move |snapshot, interrupt| read(&BitcoinIndex::new(snapshot.clone(), network), interrupt))
        .await;
    outcome.map_err(|error| abandoned(context, error))?.map_err(|error| unreadable(&error))
}

pub(super) async fn headers(session: &SessionApi, first: u32, count: u32) -> Result<Vec<[u8; 80]>, Fault> {
    let headers = read(&session.context(), move |index, _| index.headers(first, count)).await?;
    Ok(headers.iter().map(header_bytes).collect())
}

/// Roots of whole chunks are cached; missing ones are read first, which takes some seconds once on mainnet.
pub(super) async fn header_proof(session: &SessionApi, height: u32, checkpoint: u32) -> Result<HeaderProof, Fault> {
    let instance = std::sync::Arc::clone(&session.instance);
    let context = session.context();
    let proof = read(&context, move |index, interrupt| {
        let chunk_from = |first: u32| -> Result<Vec<[u8; 32]>, ReadError> {
            let headers = index.headers(first, CHUNK_HEADERS)?;
            Ok(headers.iter().map(|header| header.block_hash().to_byte_array()).collect())
        };
        let mut tree = instance.headers.lock().clone();
        if let (Some(last), Some(at)) = (tree.last(), tree.next_height().checked_sub(1))
            && index.block_hash(at)?.map(BlockHash::to_byte_array) != Some(last)
        {
            tree = paraffin_electrum::HeaderTree::default();
        }
        while tree.next_height().saturating_add(CHUNK_HEADERS) <= checkpoint && !interrupt.is_over() {
            let (before, hashes) = (tree.next_height(), chunk_from(tree.next_height())?);
            tree.push(&hashes);
            if tree.next_height() == before {
                break;
            }
        }
        let own = chunk_from(height / CHUNK_HEADERS * CHUNK_HEADERS)?;
        let end = chunk_from(checkpoint / CHUNK_HEADERS * CHUNK_HEADERS)?;
        let proof = tree.prove(height, checkpoint, &own, &end);
        *instance.headers.lock() = tree;
        Ok(proof)
    });
    proof.await?.ok_or(Fault::Busy)
}

pub(super) async fn transaction(session: &SessionApi, txid: Txid) -> Result<Bytes, Fault> {
    let context = session.context();
    let unconfirmed = session.instance.mempool.read(|mempool| mempool.get(&txid).map(|entry| entry.raw.clone()));
    if let Some(raw) = unconfirmed {
        return Ok(raw);
    }
    let missing = || Fault::BadRequest(format!("no such transaction: {txid}"));
    let of_fault = |fault: esplora::Fault| of_rpc(&context, ApiError::from(fault));
    let location = read(&context, move |index, _| index.transaction_location(&txid)).await?;
    match location {
        Some(location) => {
            let raw = crate::esplora::raw_transactions(&context, vec![location]).await.map_err(of_fault)?;
            let raw = raw.into_iter().next().ok_or(Fault::Internal)?;
            let is_right = bitcoin::consensus::deserialize::<bitcoin::Transaction>(&raw)
                .is_ok_and(|transaction| transaction.compute_txid() == txid);
            if is_right {
                Ok(raw)
            } else {
                Err(of_rpc(&context, ApiError::inconsistent("a transaction has another id")))
            }
        }
        None => {
            let transaction = crate::esplora::unconfirmed_transaction(&context, txid).await.map_err(of_fault)?;
            transaction.map(|transaction| serialize(&transaction).into()).ok_or_else(missing)
        }
    }
}

pub(super) async fn proof(session: &SessionApi, txid: Txid, height: u32) -> Result<Proof, Fault> {
    let proof = read(&session.context(), move |index, _| index.merkle_proof(&txid)).await?;
    let proof = proof.filter(|proof| proof.height == height);
    let proof =
        proof.ok_or_else(|| Fault::BadRequest(format!("no transaction {txid} in the block at height {height}")))?;
    let branch = proof.branch.iter().map(ToString::to_string).collect();
    Ok(Proof { txid, height, position: proof.index, branch })
}

pub(super) async fn transaction_at(
    session: &SessionApi,
    height: u32,
    position: u32,
    has_branch: bool,
) -> Result<Proof, Fault> {
    let context = session.context();
    let located = if has_branch {
        let proof = read(&context, move |index, _| index.merkle_proof_at(height, position)).await?;
        proof.map(|(txid, branch)| (txid, branch.iter().map(ToString::to_string).collect()))
    } else {
        let txid = read(&context, move |index, _| index.block_txid(height, position)).await?;
        txid.map(|txid| (txid, Vec::new()))
    };
    let missing =
        || Fault::BadRequest(format!("no transaction at position {position} of the block at height {height}"));
    let (txid, branch) = located.ok_or_else(missing)?;
    Ok(Proof { txid, height, position, branch })
}
