//! `ord_*`: inscriptions, sats and runes in the shapes of `ord`'s JSON interface (seed A, main JSON-RPC; `decisions` 3.6).

mod content;
mod params;

use bitcoin::consensus::encode::deserialize;
use bitcoin::{Block, OutPoint, Transaction, Txid};
use ordinals::Sat;
use paraffin_ordinals_index::OrdinalsIndex;
use paraffin_ordinals_index::ReadError;
use paraffin_ordinals_index::reader::{InscriptionQuery, OutputKind, RuneQuery};
use serde::Serialize;
use serde_json::json;

use super::esplora::{Fault, raw_transactions, unconfirmed_transaction};
use super::main_rpc::MethodFamily;
use super::{RpcResult, integer_to_raw, to_raw};
use crate::errors::{RpcError, rpc_code};
use crate::jsonrpc::Params;
use crate::state::{BoxFuture, RequestContext, unix_millis};

/// All methods of the family.
const METHODS: [&str; 21] = [
    "blockcount",
    "blockheight",
    "blockhash",
    "blocktime",
    "block",
    "blocks",
    "inscription",
    "inscriptions",
    "inscriptions::block",
    "children",
    "parents",
    "content",
    "metadata",
    "rune",
    "runes",
    "sat",
    "output",
    "outputs",
    "address",
    "address::inscriptions",
    "tx",
];

/// Other ways to write some of them: without punctuation, as scripts do, and as clients do.
const ALIASES: [(&str, &str); 8] = [
    ("inscriptions:block", "inscriptions::block"),
    ("inscriptions_block", "inscriptions::block"),
    ("inscriptionsblock", "inscriptions::block"),
    ("inscriptionsinblock", "inscriptions::block"),
    ("addressinscriptions", "address::inscriptions"),
    ("address_inscriptions", "address::inscriptions"),
    ("r:metadata", "metadata"),
    ("rmetadata", "metadata"),
];

pub(super) struct OrdFamily;

impl MethodFamily for OrdFamily {
    fn name(&self) -> &'static str {
        "ord"
    }

    fn methods(&self) -> Vec<&'static str> {
        METHODS.to_vec()
    }

    fn call<'a>(&'a self, context: &'a RequestContext, method: &'a str, params: Params) -> BoxFuture<'a, RpcResult> {
        Box::pin(async move {
            let alias = ALIASES.iter().find(|(alias, _)| *alias == method);
            call(context, alias.map_or(method, |(_, name)| name), &params).await
        })
    }
}

async fn call(context: &RequestContext, method: &str, params: &Params) -> RpcResult {
    match method {
        "blockcount" => block_count(context, params, 1).await,
        "blockheight" => block_count(context, params, 0).await,
        "blockhash" => block_hash(context, params).await,
        "blocktime" => block_time(context, params).await,
        "block" => block(context, params).await,
        "blocks" => {
            params.none()?;
            read_json(context, |index| index.newest_blocks().map(Some), "").await
        }
        "inscription" => content::inscription(context, params).await,
        "inscriptions" => {
            params.at_most(1)?;
            let page = params::page(params, 0)?;
            read_json(context, move |index| index.inscriptions(page).map(Some), "").await
        }
        "inscriptions::block" => {
            params.at_most(2)?;
            let (height, page) = (params::height(params, 0)?, params::page(params, 1)?);
            read_json(context, move |index| index.inscriptions_of_block(height, page).map(Some), "").await
        }
        "children" => {
            params.at_most(2)?;
            let (id, page) = (params::inscription_id(params, 0)?, params::page(params, 1)?);
            read_json(context, move |index| index.children(&id, page), content::NO_INSCRIPTION).await
        }
        "parents" => {
            params.at_most(2)?;
            let (id, page) = (params::inscription_id(params, 0)?, params::page(params, 1)?);
            read_json(context, move |index| index.parents(&id, page), content::NO_INSCRIPTION).await
        }
        "content" => content::content(context, params).await,
        "metadata" => content::metadata(context, params).await,
        "rune" => {
            params.at_most(1)?;
            let query: RuneQuery = params::parsed(params, 0, "the rune")?;
            read_json(context, move |index| index.rune(&query), "there is no such rune").await
        }
        "runes" => {
            params.at_most(1)?;
            let page = params::page(params, 0)?;
            read_json(context, move |index| index.runes(page).map(Some), "").await
        }
        "sat" => sat(context, params).await,
        "output" => output(context, params).await,
        "outputs" | "address" | "address::inscriptions" => address(context, method, params).await,
        "tx" => transaction(context, params).await,
        _ => Err(RpcError::method_not_found()),
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
    let network = context.network();
    let tip = context.tip().ok_or_else(RpcError::starting)?.height;
    let outcome = context.read(move |snapshot| {
        let index = OrdinalsIndex::new(snapshot.clone(), network);
        match index.height().map_err(|error| failed(&error))? {
            Some(height) if height == tip => read(&index),
            Some(height) => {
                Err(not_indexed(format!("inscriptions and runes are indexed up to block {height} of {tip}")))
            }
            None => Err(not_indexed("this instance does not index inscriptions and runes".to_owned())),
        }
    });
    outcome.await.map_err(|error| RpcError::internal(&error))?
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

async fn block_count(context: &RequestContext, params: &Params, beyond: u32) -> RpcResult {
    params.none()?;
    let height = read(context, |index| index.height().map_err(|error| failed(&error))).await?;
    integer_to_raw(height.unwrap_or_default().saturating_add(beyond))
}

/// `[height]`: hash of a block, of the newest without a height.
async fn block_hash(context: &RequestContext, params: &Params) -> RpcResult {
    params.at_most(1)?;
    let height = params::optional_height(params, 0)?;
    let tip = context.tip().ok_or_else(RpcError::starting)?.height;
    let find = move |index: &OrdinalsIndex| Ok(index.bitcoin().block_hash(height.unwrap_or(tip))?);
    read_json(context, find, "there is no block at this height").await
}

/// Time of the newest block in Unix seconds.
async fn block_time(context: &RequestContext, params: &Params) -> RpcResult {
    params.none()?;
    let tip = context.tip().ok_or_else(RpcError::starting)?.height;
    let find = move |index: &OrdinalsIndex| Ok(index.bitcoin().block_header(tip)?.map(|header| header.time));
    read_json(context, find, "there is no block at this height").await
}

/// `[height or hash]`: a block with its transactions, which the node gives.
async fn block(context: &RequestContext, params: &Params) -> RpcResult {
    const MISSING: &str = "there is no such block in the chain";
    params.at_most(1)?;
    let query = params::block(params, 0)?;
    let found = read(context, move |index| {
        let bitcoin = index.bitcoin();
        let height = match query {
            params::BlockQuery::Height(height) => Ok(Some(height)),
            params::BlockQuery::Hash(hash) => bitcoin.block_height(&hash),
        };
        let Some(height) = height.map_err(|error| RpcError::internal(&error))? else { return Ok(None) };
        let hash = bitcoin.block_hash(height).map_err(|error| RpcError::internal(&error))?;
        Ok(hash.map(|hash| (height, hash)))
    });
    let (height, hash) = found.await?.ok_or_else(|| RpcError::not_found(MISSING))?;
    let bytes = context.node().block(hash).await.map_err(|error| super::btc::from_node(&error))?;
    let render = move |index: &OrdinalsIndex| {
        let block: Block = deserialize(&bytes).map_err(|error| RpcError::internal(&error))?;
        to_raw(&index.block_record(height, block).map_err(|error| failed(&error))?)
    };
    read(context, render).await
}

/// `[number or name]`.
async fn sat(context: &RequestContext, params: &Params) -> RpcResult {
    params.at_most(1)?;
    let sat: Sat = params::sat(params, 0)?;
    let (limit, now) = (context.limits().list_records_max, unix_millis() / 1_000);
    read_json(context, move |index| index.sat(sat, limit, now.unsigned_abs()).map(Some), "").await
}

/// `[outpoint]`. One that no block holds is asked from the node.
async fn output(context: &RequestContext, params: &Params) -> RpcResult {
    const MISSING: &str = "there is no such output";
    params.at_most(1)?;
    let outpoint: OutPoint = params::outpoint(params, 0)?;
    let limit = context.limits().list_records_max;
    let found = read(context, move |index| index.output(&outpoint, limit).map_err(|error| failed(&error))).await?;
    if let Some(record) = found {
        return to_raw(&record);
    }
    let unconfirmed = unconfirmed_transaction(context, outpoint.txid).await.map_err(of_fault)?;
    let output = unconfirmed.and_then(|transaction| transaction.output.get(outpoint.vout as usize).cloned());
    let output = output.ok_or_else(|| RpcError::not_found(MISSING))?;
    read_json(context, move |index| Ok(Some(index.unconfirmed_output(outpoint, &output))), MISSING).await
}

/// `[address]`, and for `outputs` the kind of outputs.
async fn address(context: &RequestContext, method: &str, params: &Params) -> RpcResult {
    params.at_most(if method == "outputs" { 2 } else { 1 })?;
    let address = context.network().parse_address(&params.text(0, "the address")?).map_err(RpcError::invalid_params)?;
    let limit = context.limits().list_records_max;
    let kind: OutputKind = match params.optional_text(1, "the kind of outputs")? {
        None => OutputKind::Any,
        Some(kind) => kind.parse().map_err(RpcError::invalid_params)?,
    };
    let method = method.to_owned();
    read(context, move |index| {
        if method == "outputs" {
            let outputs = index.outputs_of(&address, kind, limit).map_err(|error| failed(&error))?;
            return to_raw(&outputs.ok_or_else(RpcError::response_too_large)?);
        }
        let record = index.address_record(&address, limit).map_err(|error| failed(&error))?;
        let record = record.ok_or_else(RpcError::response_too_large)?;
        if method == "address" { to_raw(&record) } else { to_raw(&record.inscriptions) }
    })
    .await
}

/// `[txid]`: a confirmed or unconfirmed transaction.
async fn transaction(context: &RequestContext, params: &Params) -> RpcResult {
    const MISSING: &str = "there is no such transaction";
    params.at_most(1)?;
    let txid: Txid = params::txid(params, 0)?;
    let found = match confirmed(context, txid).await? {
        Some(transaction) => Some(transaction),
        None => unconfirmed_transaction(context, txid).await.map_err(of_fault)?,
    };
    let found = found.ok_or_else(|| RpcError::not_found(MISSING))?;
    read_json(context, move |index| index.transaction_record(txid, found).map(Some), MISSING).await
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
