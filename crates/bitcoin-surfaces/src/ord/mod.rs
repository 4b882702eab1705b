//! `ord_*`: inscriptions, sats and runes in the shapes of `ord`'s JSON interface (docs/api.md), from our
//! own index or from a server of `ord`.

mod content;
mod methods;
mod params;
mod proxied;
mod question;
mod shapes;

use std::sync::Arc;

use bitcoin::consensus::encode::deserialize;
use bitcoin::{Address, Block, OutPoint, Transaction, Txid};
use paraffin_bitcoin_index::ScriptKey;
use paraffin_ordinals_index::ReadError;
use paraffin_ordinals_index::reader::{AddressRecord, InscriptionQuery};
use paraffin_ordinals_index::{ORD_SERVER, OrdinalsIndex};
use serde::Serialize;

pub use self::methods::ORD;
use self::params::BlockQuery;
use self::question::Question;
use super::esplora::{raw_transactions, unconfirmed_transaction};
use paraffin_gateway::erased::{self, Answer};
use paraffin_gateway::errors::{ApiError, kind};
use paraffin_gateway::interrupt::HeldRows;
use paraffin_gateway::state::{BoxFuture, RequestContext, unix_millis};
use paraffin_gateway::surface::{RpcResult, integer_to_raw, to_raw};

/// Bytes of an output of a list in memory and in the answer, about.
const OUTPUT_BYTES: usize = 320;

/// Memory for a transaction, decoded and rendered, as a multiple of its serialised size: an input of 41 bytes takes 110 bytes
/// decoded and 150 rendered.
const DECODED_FACTOR: usize = 8;

/// Answers from our own index, or from the server of `ord` where one is configured.
async fn ask(context: &RequestContext, question: Question) -> RpcResult {
    match context.shared().families.of(ORD_SERVER) {
        Some(server) => proxied::answer(context, server, question).await,
        None => answer(&Call { context, kept: context.held_rows() }, question).await,
    }
}

/// A call that our own index answers. Memory that its reads hold is counted in one sum until the answer is written.
struct Call<'a> {
    context: &'a RequestContext,
    kept: HeldRows,
}

/// Answers from our own index.
async fn answer(call: &Call<'_>, question: Question) -> RpcResult {
    let missing = question.missing();
    let limit = call.context.limits().list_records_max;
    match question {
        Question::BlockCount => block_count(call, 1).await,
        Question::BlockHeight => block_count(call, 0).await,
        Question::BlockHash(height) => {
            let tip = call.context.tip().ok_or_else(ApiError::starting)?.height;
            let find = move |index: &OrdinalsIndex| Ok(index.bitcoin().block_hash(height.unwrap_or(tip))?);
            read_json(call, find, missing).await
        }
        Question::BlockTime => {
            let tip = call.context.tip().ok_or_else(ApiError::starting)?.height;
            let find = move |index: &OrdinalsIndex| Ok(index.bitcoin().block_header(tip)?.map(|header| header.time));
            read_json(call, find, missing).await
        }
        Question::Block(query) => block(call, query, missing).await,
        Question::Blocks => read_json(call, |index| index.newest_blocks().map(Some), missing).await,
        Question::Inscription(query, child) => content::inscription(call, query, child).await,
        Question::Inscriptions(page) => read_json(call, move |index| index.inscriptions(page).map(Some), missing).await,
        Question::InscriptionsOfBlock(height, page) => {
            read_json(call, move |index| index.inscriptions_of_block(height, page).map(Some), missing).await
        }
        Question::Children(id, page) => read_json(call, move |index| index.children(&id, page), missing).await,
        Question::Parents(id, page) => read_json(call, move |index| index.parents(&id, page), missing).await,
        Question::Content(id) => content::content(call, id).await,
        Question::Metadata(id) => content::metadata(call, id).await,
        Question::Rune(query) => read_json(call, move |index| index.rune(&query), missing).await,
        Question::Runes(page) => read_json(call, move |index| index.runes(page).map(Some), missing).await,
        Question::Sat(sat) => {
            let now = unix_millis() / 1_000;
            read_json(call, move |index| index.sat(sat, limit, now.unsigned_abs()).map(Some), missing).await
        }
        Question::InscriptionsOnSat(number, page) => {
            read_sats(call, move |index| index.inscriptions_on_sat(number, page)).await
        }
        Question::InscriptionOnSat(sat, position) => {
            read_sats(call, move |index| index.inscription_on_sat(sat, position)).await
        }
        Question::Output(outpoint) => output(call, outpoint, missing).await,
        Question::Outputs(address, kind) => {
            read_outputs(call, address, move |index, address| {
                let outputs = index.outputs_of(address, kind, limit).map_err(|error| failed(&error))?;
                to_raw(&outputs.ok_or_else(ApiError::response_too_large)?)
            })
            .await
        }
        Question::Address(address) => address_record(call, address, to_raw).await,
        Question::AddressInscriptions(address) => {
            address_record(call, address, |record| to_raw(&record.inscriptions)).await
        }
        Question::Transaction(txid) => transaction(call, txid, missing).await,
    }
}

/// The index is missing or behind.
fn not_indexed(message: String) -> ApiError {
    ApiError::new(kind::ORDINALS_NOT_INDEXED, message)
}

fn failed(error: &ReadError) -> ApiError {
    ApiError::internal(error)
}

/// Runs a read of the index off the async threads. Fails while the index is behind the other modules.
async fn read<T: Send + 'static>(
    call: &Call<'_>,
    read: impl FnOnce(&OrdinalsIndex) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    read_erased(call, Box::new(move |index| read(index).map(erased::erase))).await.map(erased::restore)
}

/// A read of the index with an erased type of answer.
type ErasedRead = Box<dyn FnOnce(&OrdinalsIndex) -> Result<Answer, ApiError> + Send>;

fn read_erased<'a>(call: &'a Call<'_>, read: ErasedRead) -> BoxFuture<'a, Result<Answer, ApiError>> {
    Box::pin(async move {
        let network = call.context.network();
        let tip = call.context.tip().ok_or_else(ApiError::starting)?.height;
        let outcome = call.context.read_into(&call.kept, move |snapshot, interrupt| {
            let counted = interrupt.clone();
            let index =
                OrdinalsIndex::new(snapshot.clone(), network).counting(Arc::new(move |bytes| counted.keep(bytes)));
            match index.height().map_err(|error| failed(&error))? {
                Some(height) if height == tip => read(&index),
                Some(height) => {
                    Err(not_indexed(format!("inscriptions and runes are indexed up to block {height} of {tip}")))
                }
                None => Err(not_indexed("this instance does not index inscriptions and runes".to_owned())),
            }
        });
        outcome.await.map_err(|error| ApiError::internal(&error))?
    })
}

/// As [`read`], for a list about an address: its memory is counted by the number of outputs before it is read.
async fn read_outputs(
    call: &Call<'_>,
    address: Address,
    read: impl FnOnce(&OrdinalsIndex, &Address) -> RpcResult + Send + 'static,
) -> RpcResult {
    let limit = call.context.limits().list_records_max as u64;
    let counted = move |index: &OrdinalsIndex| {
        let totals = index.bitcoin().script_totals(&ScriptKey::from_script(&address.script_pubkey()));
        let totals = totals.map_err(|error| ApiError::internal(&error))?;
        let count = totals.funded_txo_count.saturating_sub(totals.spent_txo_count).min(limit);
        let bytes = usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(OUTPUT_BYTES);
        index.keep(bytes).map_err(|error| failed(&error))?;
        read(index, &address).map(erased::erase)
    };
    read_erased(call, Box::new(counted)).await.map(erased::restore)
}

/// Reads and renders the answer; `missing` is the message when there is none.
async fn read_json<T: Serialize>(
    call: &Call<'_>,
    find: impl FnOnce(&OrdinalsIndex) -> Result<Option<T>, ReadError> + Send + 'static,
    missing: &'static str,
) -> RpcResult {
    read(call, move |index| {
        let found = find(index).map_err(|error| failed(&error))?;
        to_raw(&found.ok_or_else(|| ApiError::not_found(missing))?)
    })
    .await
}

/// As [`read_json`], for answers that need an index of sats.
async fn read_sats<T: Serialize>(
    call: &Call<'_>,
    find: impl FnOnce(&OrdinalsIndex) -> Result<Option<T>, ReadError> + Send + 'static,
) -> RpcResult {
    read(call, move |index| {
        let found = find(index).map_err(|error| failed(&error))?;
        to_raw(&found.ok_or_else(|| not_indexed("this instance does not follow sats".to_owned()))?)
    })
    .await
}

async fn block_count(call: &Call<'_>, beyond: u32) -> RpcResult {
    let height = read(call, |index| index.height().map_err(|error| failed(&error))).await?;
    integer_to_raw(height.unwrap_or_default().saturating_add(beyond))
}

/// A block with its transactions, which the node gives.
async fn block(call: &Call<'_>, query: BlockQuery, missing: &'static str) -> RpcResult {
    let found = read(call, move |index| {
        let bitcoin = index.bitcoin();
        let height = match query {
            BlockQuery::Height(height) => Ok(Some(height)),
            BlockQuery::Hash(hash) => bitcoin.block_height(&hash),
        };
        let Some(height) = height.map_err(|error| ApiError::internal(&error))? else { return Ok(None) };
        let hash = bitcoin.block_hash(height).map_err(|error| ApiError::internal(&error))?;
        Ok(hash.map(|hash| (height, hash)))
    });
    let (height, hash) = found.await?.ok_or_else(|| ApiError::not_found(missing))?;
    let bytes = call.context.node().block(hash).await.map_err(|error| super::btc::from_node(&error))?;
    let limit = call.context.limits().list_records_max;
    let render = move |index: &OrdinalsIndex| {
        index.keep(bytes.len().saturating_mul(DECODED_FACTOR)).map_err(|error| failed(&error))?;
        let block: Block = deserialize(&bytes).map_err(|error| ApiError::internal(&error))?;
        let record = index.block_record(height, block, limit).map_err(|error| failed(&error))?;
        to_raw(&record.ok_or_else(ApiError::response_too_large)?)
    };
    read(call, render).await
}

/// An output. An unconfirmed one is requested from the node.
async fn output(call: &Call<'_>, outpoint: OutPoint, missing: &'static str) -> RpcResult {
    let limit = call.context.limits().list_records_max;
    let found = read(call, move |index| index.output(&outpoint, limit).map_err(|error| failed(&error))).await?;
    if let Some(record) = found {
        return to_raw(&record);
    }
    let unconfirmed = unconfirmed_transaction(call.context, outpoint.txid).await?;
    let output = unconfirmed.and_then(|transaction| transaction.output.get(outpoint.vout as usize).cloned());
    let output = output.ok_or_else(|| ApiError::not_found(missing))?;
    read_json(call, move |index| Ok(Some(index.unconfirmed_output(outpoint, &output))), missing).await
}

/// The record of an address, rendered by `render`.
async fn address_record(
    call: &Call<'_>,
    address: Address,
    render: impl FnOnce(&AddressRecord) -> RpcResult + Send + 'static,
) -> RpcResult {
    let limit = call.context.limits().list_records_max;
    read_outputs(call, address, move |index, address| {
        let record = index.address_record(address, limit).map_err(|error| failed(&error))?;
        render(&record.ok_or_else(ApiError::response_too_large)?)
    })
    .await
}

/// A confirmed or unconfirmed transaction.
async fn transaction(call: &Call<'_>, txid: Txid, missing: &'static str) -> RpcResult {
    let found = match confirmed(call, txid).await? {
        Some(transaction) => Some(transaction),
        None => unconfirmed_transaction(call.context, txid).await?,
    };
    let found = found.ok_or_else(|| ApiError::not_found(missing))?;
    let record = move |index: &OrdinalsIndex| {
        index.keep(found.total_size().saturating_mul(DECODED_FACTOR))?;
        index.transaction_record(txid, found).map(Some)
    };
    read_json(call, record, missing).await
}

/// A confirmed transaction, from whichever source this instance uses.
async fn confirmed(call: &Call<'_>, txid: Txid) -> Result<Option<Transaction>, ApiError> {
    let find = move |index: &OrdinalsIndex| index.bitcoin().transaction_location(&txid);
    let location = read(call, move |index| find(index).map_err(|error| ApiError::internal(&error))).await?;
    let Some(location) = location else { return Ok(None) };
    let raw = raw_transactions(call.context, vec![location]).await?;
    let Some(raw) = raw.into_iter().next() else { return Ok(None) };
    let decode = move |index: &OrdinalsIndex| {
        index.keep(raw.len().saturating_mul(DECODED_FACTOR)).map_err(|error| failed(&error))?;
        let transaction: Transaction = deserialize(&raw).map_err(|error| ApiError::internal(&error))?;
        if transaction.compute_txid() == txid {
            return Ok(Some(transaction));
        }
        Err(ApiError::inconsistent(format!("the bytes of transaction {txid} are those of another")))
    };
    read(call, decode).await
}

/// Sequence number of an inscription.
async fn sequence(call: &Call<'_>, query: InscriptionQuery) -> Result<Option<u32>, ApiError> {
    read(call, move |index| index.sequence(&query).map_err(|error| failed(&error))).await
}
