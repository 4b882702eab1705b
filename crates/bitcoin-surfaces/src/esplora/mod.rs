//! `esplora_*`, from our own index (docs/api.md). The paths are those of Esplora's HTTP interface, so plain HTTP
//! (`esplora_http.rs`) is served by the same table.

mod address;
mod blocks;
mod document;
mod fees;
mod mempool;
mod methods;
mod prefix;
mod records;
mod transactions;
mod unconfirmed;

use std::borrow::Cow;

use bitcoin::hex::DisplayHex as _;
use bytes::Bytes;
use paraffin_bitcoin_index::{BitcoinIndex, ReadError, SourceError};
use serde::Serialize;
use serde_json::value::RawValue;

use paraffin_gateway::errors::ApiError;
use paraffin_gateway::state::RequestContext;
use paraffin_gateway::surface::{RpcResult, to_raw};

pub use address::{AddressRoute, Totals, UNSPENT_BYTES, totals, unspent};
pub use document::DOCUMENT;
pub use fees::FeeEstimates;
pub(crate) use mempool::histogram as fee_histogram;
pub(crate) use mempool::{broadcast, package};
pub use methods::{ESPLORA, by_path};
pub use records::{
    BlockStatus, EsploraBlock, EsploraSpend, EsploraTransaction, MerkleProof, TransactionStatus, UnspentOutput,
    script_type,
};
pub use transactions::NodeTransactions;
pub(crate) use transactions::{raw as raw_transactions, unconfirmed as unconfirmed_transaction};
pub(crate) use unconfirmed::accepted;
pub use unconfirmed::{Pending, Unconfirmed, View, of_script as unconfirmed_of, view as unconfirmed_view};

/// The answer of a path.
pub(crate) enum Answer {
    Json(Box<RawValue>),
    Text(String),
    Binary(Bytes),
}

/// Why a path has no answer.
pub enum Fault {
    /// No such path.
    Unknown,
    /// A segment cannot be read (Esplora: 400).
    Malformed(Malformed),
    /// What the path names does not exist (Esplora: 404).
    NotFound(&'static str),
    /// Any other error.
    Failed(ApiError),
}

/// What is wrong with a segment.
pub struct Malformed {
    /// Esplora's own sentence, which clients of its HTTP interface match on.
    pub(crate) esplora: Cow<'static, str>,
    /// A sentence that names the parameter.
    pub(crate) sentence: String,
}

impl Fault {
    pub(crate) fn malformed(esplora: &'static str, sentence: impl Into<String>) -> Self {
        Self::Malformed(Malformed { esplora: esplora.into(), sentence: sentence.into() })
    }

    /// In the same words for all.
    pub(crate) fn refused(words: String) -> Self {
        Self::Malformed(Malformed { esplora: words.clone().into(), sentence: words })
    }
}

pub(crate) type Outcome = Result<Answer, Fault>;

impl From<ReadError> for Fault {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::NotInHistory(_) => Self::NotFound("Transaction not found in this history"),
            ReadError::ScriptHash => {
                Self::malformed("Invalid scripthash", "Invalid scripthash: 64 hex digits are expected")
            }
            error => Self::Failed(ApiError::internal(&error)),
        }
    }
}

impl From<SourceError> for Fault {
    fn from(error: SourceError) -> Self {
        match error {
            SourceError::Read(error) => error.into(),
            SourceError::Unavailable(_) => Self::Failed(ApiError::upstream_unavailable()),
            error => Self::Failed(ApiError::internal(&error)),
        }
    }
}

impl From<paraffin_gateway::state::ReadAbandoned> for Fault {
    fn from(error: paraffin_gateway::state::ReadAbandoned) -> Self {
        Self::Failed(ApiError::internal(&error))
    }
}

impl From<Fault> for ApiError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Unknown => Self::method_not_found(),
            Fault::Malformed(malformed) => Self::invalid(malformed.sentence),
            Fault::NotFound(message) => Self::not_found(message),
            Fault::Failed(error) => error,
        }
    }
}

impl From<ApiError> for Fault {
    fn from(error: ApiError) -> Self {
        Self::Failed(error)
    }
}

fn json(value: &impl Serialize) -> Outcome {
    Ok(Answer::Json(to_raw(value)?))
}

/// Runs a read of the index off the async threads.
///
/// # Errors
/// The index cannot be read.
pub async fn read<T: Send + 'static>(
    context: &RequestContext,
    read: impl FnOnce(&BitcoinIndex) -> Result<T, ReadError> + Send + 'static,
) -> Result<T, Fault> {
    let network = context.network();
    let outcome = context.read(move |snapshot| read(&BitcoinIndex::new(snapshot.clone(), network))).await?;
    outcome.map_err(Fault::from)
}

/// The one table of Esplora's paths.
pub(crate) async fn get(context: &RequestContext, path: &[&str]) -> Outcome {
    match path {
        ["blocks", "tip", "height"] => blocks::tip_height(context),
        ["blocks", "tip", "hash"] => blocks::tip_hash(context),
        ["blocks"] => blocks::list(context, None).await,
        ["blocks", newest] => blocks::list(context, Some(newest)).await,
        ["block-height", height] => blocks::hash_at(context, height).await,
        ["block", hash, below @ ..] => blocks::block(context, hash, below).await,
        ["tx", txid, below @ ..] => transactions::transaction(context, txid, below).await,
        ["address" | "scripthash", _, below @ ..] if !address::is_path(below) => Err(Fault::Unknown),
        ["address", address, below @ ..] => {
            address::answer(context, &AddressRoute::address(context, address)?, below).await
        }
        ["scripthash", hash, below @ ..] => address::answer(context, &AddressRoute::script_hash(hash)?, below).await,
        ["address-prefix", prefix] => prefix::search(context, prefix).await,
        ["fee-estimates"] => fees::estimates(context).await,
        ["mempool"] => mempool::summary(context).await,
        ["mempool", "recent"] => mempool::recent(context).await,
        ["mempool", "txids"] => unconfirmed::txids(context).await,
        _ => Err(Fault::Unknown),
    }
}

/// As the JSON-RPC answer: JSON as it is, text as JSON where it is a number, else as a string, bytes as hex.
fn render(answer: Answer) -> RpcResult {
    match answer {
        Answer::Json(raw) => Ok(raw),
        Answer::Text(text) => match text.parse::<u32>() {
            Ok(number) => to_raw(&number),
            Err(_) => to_raw(&text),
        },
        Answer::Binary(bytes) => to_raw(&bytes.to_lower_hex_string()),
    }
}

/// Reads a decimal segment.
fn number<T: std::str::FromStr>(text: &str, name: &str) -> Result<T, Fault> {
    let malformed =
        || Fault::malformed("Invalid number", format!("Invalid {name}: a non-negative integer is expected"));
    if text.is_empty() || !text.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(malformed());
    }
    text.parse().map_err(|_| malformed())
}

/// Reads a decimal segment that is a height or an index: a number beyond 32 bits is past every end.
fn saturating_number(text: &str, name: &str) -> Result<u32, Fault> {
    number::<u128>(text, name).map(|number| u32::try_from(number).unwrap_or(u32::MAX))
}

/// Reads a hash in display order.
fn hash<T: std::str::FromStr>(text: &str, name: &str) -> Result<T, Fault> {
    text.parse()
        .map_err(|_| Fault::malformed("Invalid hex string", format!("Invalid {name}: 64 hex digits are expected")))
}
