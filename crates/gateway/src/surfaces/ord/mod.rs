//! `ord_*`: inscriptions, sats and runes in the shapes of `ord`'s JSON interface (docs/api.md), from our
//! own index or from a server of `ord`.

mod content;
mod params;
mod proxied;
mod question;

use bitcoin::consensus::encode::deserialize;
use bitcoin::{Address, Block, OutPoint, Transaction, Txid};
use paraffin_bitcoin_index::ScriptKey;
use paraffin_ordinals_index::OrdinalsIndex;
use paraffin_ordinals_index::ReadError;
use paraffin_ordinals_index::reader::{AddressRecord, InscriptionQuery};
use serde::Serialize;
use serde_json::json;

use self::params::BlockQuery;
use self::question::{METHODS, Question};
use super::esplora::{Fault, raw_transactions, unconfirmed_transaction};
use super::main_rpc::MethodFamily;
use super::{RpcResult, integer_to_raw, to_raw};
use crate::erased::{self, Answer};
use crate::errors::{RpcError, rpc_code};
use crate::interrupt::Interrupt;
use crate::jsonrpc::Params;
use crate::state::{BoxFuture, RequestContext, unix_millis};

/// Other ways to write some of them: without punctuation, as scripts do, and as clients do.
const ALIASES: [(&str, &str); 9] = [
    ("inscriptions:block", "inscriptions::block"),
    ("inscriptions_block", "inscriptions::block"),
    ("inscriptionsblock", "inscriptions::block"),
    ("inscriptionsinblock", "inscriptions::block"),
    ("addressinscriptions", "address::inscriptions"),
    ("address_inscriptions", "address::inscriptions"),
    ("r:children", "children"),
    ("r:metadata", "metadata"),
    ("rmetadata", "metadata"),
];

/// About what an output takes in a list, with what is written of it.
const OUTPUT_BYTES: usize = 320;

pub(super) struct OrdFamily;

impl MethodFamily for OrdFamily {
    fn name(&self) -> &'static str {
        "ord"
    }

    fn methods(&self) -> Vec<&'static str> {
        METHODS.map(|(name, _)| name).to_vec()
    }

    fn call<'a>(&'a self, context: &'a RequestContext, method: &'a str, params: Params) -> BoxFuture<'a, RpcResult> {
        Box::pin(async move {
            let alias = ALIASES.iter().find(|(alias, _)| *alias == method);
            let question = Question::read(context, alias.map_or(method, |(_, name)| name), &params)?;
            match &context.shared().families.ord {
                Some(server) => proxied::answer(context, server, question).await,
                None => answer(context, question).await,
            }
        })
    }
}

/// Answers from our own index.
async fn answer(context: &RequestContext, question: Question) -> RpcResult {
    let missing = question.missing();
    let limit = context.limits().list_records_max;
    match question {
        Question::BlockCount => block_count(context, 1).await,
        Question::BlockHeight => block_count(context, 0).await,
        Question::BlockHash(height) => {
            let tip = context.tip().ok_or_else(RpcError::starting)?.height;
            let find = move |index: &OrdinalsIndex| Ok(index.bitcoin().block_hash(height.unwrap_or(tip))?);
            read_json(context, find, missing).await
        }
        Question::BlockTime => {
            let tip = context.tip().ok_or_else(RpcError::starting)?.height;
            let find = move |index: &OrdinalsIndex| Ok(index.bitcoin().block_header(tip)?.map(|header| header.time));
            read_json(context, find, missing).await
        }
        Question::Block(query) => block(context, query, missing).await,
        Question::Blocks => read_json(context, |index| index.newest_blocks().map(Some), missing).await,
        Question::Inscription(query, child) => content::inscription(context, query, child).await,
        Question::Inscriptions(page) => {
            read_json(context, move |index| index.inscriptions(page).map(Some), missing).await
        }
        Question::InscriptionsOfBlock(height, page) => {
            read_json(context, move |index| index.inscriptions_of_block(height, page).map(Some), missing).await
        }
        Question::Children(id, page) => read_json(context, move |index| index.children(&id, page), missing).await,
        Question::Parents(id, page) => read_json(context, move |index| index.parents(&id, page), missing).await,
        Question::Content(id) => content::content(context, id).await,
        Question::Metadata(id) => content::metadata(context, id).await,
        Question::Rune(query) => read_json(context, move |index| index.rune(&query), missing).await,
        Question::Runes(page) => read_json(context, move |index| index.runes(page).map(Some), missing).await,
        Question::Sat(sat) => {
            let now = unix_millis() / 1_000;
            read_json(context, move |index| index.sat(sat, limit, now.unsigned_abs()).map(Some), missing).await
        }
        Question::InscriptionsOnSat(number, page) => {
            read_sats(context, move |index| index.inscriptions_on_sat(number, page)).await
        }
        Question::InscriptionOnSat(sat, position) => {
            read_sats(context, move |index| index.inscription_on_sat(sat, position)).await
        }
        Question::Output(outpoint) => output(context, outpoint, missing).await,
        Question::Outputs(address, kind) => {
            read_outputs(context, address, move |index, address| {
                let outputs = index.outputs_of(address, kind, limit).map_err(|error| failed(&error))?;
                to_raw(&outputs.ok_or_else(RpcError::response_too_large)?)
            })
            .await
        }
        Question::Address(address) => address_record(context, address, to_raw).await,
        Question::AddressInscriptions(address) => {
            address_record(context, address, |record| to_raw(&record.inscriptions)).await
        }
        Question::Transaction(txid) => transaction(context, txid, missing).await,
    }
}

/// The index is missing or behind.
fn not_indexed(message: String) -> RpcError {
    RpcError { data: Some(json!({ "code": "ORDINALS_NOT_INDEXED" })), ..RpcError::new(rpc_code::INTERNAL, message) }
}

fn failed(error: &ReadError) -> RpcError {
    RpcError::internal(error)
}

fn of_fault(fault: Fault) -> RpcError {
    match fault {
        Fault::Unknown => RpcError::method_not_found(),
        Fault::Malformed(malformed) => RpcError::invalid_params(malformed.sentence),
        Fault::NotFound(message) => RpcError::not_found(message),
        Fault::Failed(error) => error,
    }
}

/// Runs a read of the index away from the async threads. What is behind the other modules is not answered from.
async fn read<T: Send + 'static>(
    context: &RequestContext,
    read: impl FnOnce(&OrdinalsIndex) -> Result<T, RpcError> + Send + 'static,
) -> Result<T, RpcError> {
    read_erased(context, Box::new(move |index, _| read(index).map(erased::erase))).await.map(erased::restore)
}

/// A read of the index that does not name what it answers.
type ErasedRead = Box<dyn FnOnce(&OrdinalsIndex, &Interrupt) -> Result<Answer, RpcError> + Send>;

fn read_erased(context: &RequestContext, read: ErasedRead) -> BoxFuture<'_, Result<Answer, RpcError>> {
    Box::pin(async move {
        let network = context.network();
        let tip = context.tip().ok_or_else(RpcError::starting)?.height;
        let outcome = context.read_kept(move |snapshot, interrupt| {
            let index = OrdinalsIndex::new(snapshot.clone(), network);
            match index.height().map_err(|error| failed(&error))? {
                Some(height) if height == tip => read(&index, interrupt),
                Some(height) => {
                    Err(not_indexed(format!("inscriptions and runes are indexed up to block {height} of {tip}")))
                }
                None => Err(not_indexed("this instance does not index inscriptions and runes".to_owned())),
            }
        });
        let (answer, _kept) = outcome.await.map_err(|error| RpcError::internal(&error))?;
        answer
    })
}

/// As [`read`], for a list of what an address holds: counted, before it is read, by the outputs of the address.
async fn read_outputs(
    context: &RequestContext,
    address: Address,
    read: impl FnOnce(&OrdinalsIndex, &Address) -> RpcResult + Send + 'static,
) -> RpcResult {
    let limit = context.limits().list_records_max as u64;
    let counted = move |index: &OrdinalsIndex, interrupt: &Interrupt| {
        let totals = index.bitcoin().script_totals(&ScriptKey::from_script(&address.script_pubkey()));
        let totals = totals.map_err(|error| RpcError::internal(&error))?;
        let count = totals.funded_txo_count.saturating_sub(totals.spent_txo_count).min(limit);
        if !interrupt.keep(usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(OUTPUT_BYTES)) {
            return Err(RpcError::panicked());
        }
        read(index, &address).map(erased::erase)
    };
    read_erased(context, Box::new(counted)).await.map(erased::restore)
}

/// Reads and writes the answer; `missing` says what there is none of.
async fn read_json<T: Serialize>(
    context: &RequestContext,
    find: impl FnOnce(&OrdinalsIndex) -> Result<Option<T>, ReadError> + Send + 'static,
    missing: &'static str,
) -> RpcResult {
    read(context, move |index| {
        let found = find(index).map_err(|error| failed(&error))?;
        to_raw(&found.ok_or_else(|| RpcError::not_found(missing))?)
    })
    .await
}

/// As [`read_json`], for answers that need an index of sats.
async fn read_sats<T: Serialize>(
    context: &RequestContext,
    find: impl FnOnce(&OrdinalsIndex) -> Result<Option<T>, ReadError> + Send + 'static,
) -> RpcResult {
    read(context, move |index| {
        let found = find(index).map_err(|error| failed(&error))?;
        to_raw(&found.ok_or_else(|| not_indexed("this instance does not follow sats".to_owned()))?)
    })
    .await
}

async fn block_count(context: &RequestContext, beyond: u32) -> RpcResult {
    let height = read(context, |index| index.height().map_err(|error| failed(&error))).await?;
    integer_to_raw(height.unwrap_or_default().saturating_add(beyond))
}

/// A block with its transactions, which the node gives.
async fn block(context: &RequestContext, query: BlockQuery, missing: &'static str) -> RpcResult {
    let found = read(context, move |index| {
        let bitcoin = index.bitcoin();
        let height = match query {
            BlockQuery::Height(height) => Ok(Some(height)),
            BlockQuery::Hash(hash) => bitcoin.block_height(&hash),
        };
        let Some(height) = height.map_err(|error| RpcError::internal(&error))? else { return Ok(None) };
        let hash = bitcoin.block_hash(height).map_err(|error| RpcError::internal(&error))?;
        Ok(hash.map(|hash| (height, hash)))
    });
    let (height, hash) = found.await?.ok_or_else(|| RpcError::not_found(missing))?;
    let bytes = context.node().block(hash).await.map_err(|error| super::btc::from_node(&error))?;
    let limit = context.limits().list_records_max;
    let render = move |index: &OrdinalsIndex| {
        let block: Block = deserialize(&bytes).map_err(|error| RpcError::internal(&error))?;
        let record = index.block_record(height, block, limit).map_err(|error| failed(&error))?;
        to_raw(&record.ok_or_else(RpcError::response_too_large)?)
    };
    read(context, render).await
}

/// An output. One that no block holds is asked from the node.
async fn output(context: &RequestContext, outpoint: OutPoint, missing: &'static str) -> RpcResult {
    let limit = context.limits().list_records_max;
    let found = read(context, move |index| index.output(&outpoint, limit).map_err(|error| failed(&error))).await?;
    if let Some(record) = found {
        return to_raw(&record);
    }
    let unconfirmed = unconfirmed_transaction(context, outpoint.txid).await.map_err(of_fault)?;
    let output = unconfirmed.and_then(|transaction| transaction.output.get(outpoint.vout as usize).cloned());
    let output = output.ok_or_else(|| RpcError::not_found(missing))?;
    read_json(context, move |index| Ok(Some(index.unconfirmed_output(outpoint, &output))), missing).await
}

/// What an address holds, as far as `render` writes it.
async fn address_record(
    context: &RequestContext,
    address: Address,
    render: impl FnOnce(&AddressRecord) -> RpcResult + Send + 'static,
) -> RpcResult {
    let limit = context.limits().list_records_max;
    read_outputs(context, address, move |index, address| {
        let record = index.address_record(address, limit).map_err(|error| failed(&error))?;
        render(&record.ok_or_else(RpcError::response_too_large)?)
    })
    .await
}

/// A confirmed or unconfirmed transaction.
async fn transaction(context: &RequestContext, txid: Txid, missing: &'static str) -> RpcResult {
    let found = match confirmed(context, txid).await? {
        Some(transaction) => Some(transaction),
        None => unconfirmed_transaction(context, txid).await.map_err(of_fault)?,
    };
    let found = found.ok_or_else(|| RpcError::not_found(missing))?;
    read_json(context, move |index| index.transaction_record(txid, found).map(Some), missing).await
}

/// A confirmed transaction, from wherever this instance keeps them.
async fn confirmed(context: &RequestContext, txid: Txid) -> Result<Option<Transaction>, RpcError> {
    let find = move |index: &OrdinalsIndex| index.bitcoin().transaction_location(&txid);
    let location = read(context, move |index| find(index).map_err(|error| RpcError::internal(&error))).await?;
    let Some(location) = location else { return Ok(None) };
    let raw = raw_transactions(context, vec![location]).await.map_err(of_fault)?;
    let Some(raw) = raw.into_iter().next() else { return Ok(None) };
    let decode = move |_: &OrdinalsIndex| {
        let transaction: Transaction = deserialize(&raw).map_err(|error| RpcError::internal(&error))?;
        if transaction.compute_txid() == txid {
            return Ok(Some(transaction));
        }
        Err(RpcError::internal(&format!("the bytes of transaction {txid} are those of another")))
    };
    read(context, decode).await
}

/// Sequence number of an inscription.
async fn sequence(context: &RequestContext, query: InscriptionQuery) -> Result<Option<u32>, RpcError> {
    read(context, move |index| index.sequence(&query).map_err(|error| failed(&error))).await
}
