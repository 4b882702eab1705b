//! The reference's view functions over the state as of a height: bytes in, bytes out (protocol B21), and the same answers as
//! Rust values for the other APIs.
//!
//! Invariant: a view changes nothing, ends by its deadline, and does at most what [`ViewLimits`] allow. The clock is the
//! caller's.

mod contract;
mod ledger;
mod outputs;
mod preview;
mod run;
mod runes;
mod token;
mod token_cache;
mod token_order;
mod token_query;
mod trace;
mod transaction;
mod unwrap;
mod words;

use std::sync::Arc;

use bitcoin::{OutPoint, Script, TxOut, Txid};
use paraffin_primitives::{AlkaneId, Height};
use prost::Message as _;

pub use contract::{bytecode, created_at, inventory, sequence, storage_at};
pub use outputs::{OutputHoldings, held_by_address, held_by_output, totals};
pub use preview::preview;
pub use run::{Parcel, Simulated, call_contract, meta, simulate, simulate_traced};
pub use runes::{RuneTerms, rune};
pub use token::{
    LIQUIDITY_DECIMALS, Mints, TokenFacts, TokenWords, entered_by, token_facts, token_numbers, token_words,
};
pub use token_cache::{TokenCache, TokenMoment, TokenNames};
pub use token_order::TokenKey;
pub use token_query::TokenQuery;
pub use trace::{trace_from_proto, trace_to_proto};
pub use unwrap::{PendingPayment, pending_unwraps};
pub use words::{Words, WordsLimits};

use crate::proto::{self, DecodeError, alkanes, protorune};
use crate::{BlockTrace, Builtins, CodeCache, Etching, Halt, Parameters, StateError, StateReader, Trace, Transfer};

/// The state as of the height of a view, with the lists that views read.
pub trait ViewState: StateReader {
    /// The trace of the message at a shadow output.
    ///
    /// # Errors
    /// Reading failed.
    fn trace(&self, shadow: &OutPoint) -> Result<Option<Trace>, StateError>;

    /// The traces of the messages of one block, in the order of the block; `None` when the traces count more than `bytes_max`
    /// ([`Trace::bytes`]).
    ///
    /// # Errors
    /// Reading failed.
    fn traces_of_block(&self, height: Height, bytes_max: u64) -> Result<Option<Vec<BlockTrace>>, StateError>;

    /// Alkanes that outputs held for the first time in one block, in that order.
    ///
    /// # Errors
    /// Reading failed.
    fn first_seen(&self, height: Height) -> Result<Vec<AlkaneId>, StateError>;

    /// Base runes etched in one block, in that order.
    ///
    /// # Errors
    /// Reading failed.
    fn etched(&self, height: Height) -> Result<Vec<(AlkaneId, Etching)>, StateError>;

    /// The inventory of a contract with current balances, in the order of the ids; at most `limit`.
    ///
    /// # Errors
    /// Reading failed.
    fn inventory(&self, who: AlkaneId, limit: usize) -> Result<Vec<Transfer>, StateError>;

    /// Unspent outputs of a script that hold alkanes, oldest first, at most `limit`.
    ///
    /// # Errors
    /// Reading failed.
    fn funded(&self, script: &Script, limit: usize) -> Result<Vec<OutPoint>, StateError>;
}

/// An output and its position in the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedOutput {
    /// The output.
    pub output: TxOut,
    /// Height of its block.
    pub height: Height,
    /// Index of its transaction in the block.
    pub index: u32,
}

/// The blocks up to the height of a view, as far as views need them.
pub trait ViewChain {
    /// An output of a transaction up to the view's height; `None` when there is none.
    ///
    /// # Errors
    /// Reading failed.
    fn output(&self, outpoint: &OutPoint) -> Result<Option<PlacedOutput>, ViewError>;

    /// Outputs that pay a script and that no transaction up to the view's height spends, oldest first.
    ///
    /// # Errors
    /// Reading failed, or there are more than a view may list.
    fn unspent(&self, script: &Script) -> Result<Vec<OutPoint>, ViewError>;

    /// Whether an output exists and no transaction up to the view's height spends it.
    ///
    /// # Errors
    /// Reading failed.
    fn is_unspent(&self, outpoint: &OutPoint) -> Result<bool, ViewError>;
}

/// Bounds of one view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ViewLimits {
    /// Fuel of a tried call; about a second for each billion, which is what all calls of a block have together.
    pub fuel_max: u64,
    /// Calls of one `multisimluate`.
    pub calls_max: usize,
    /// Outputs, tokens or traces in one answer.
    pub records_max: usize,
    /// Bytes of an answer.
    pub answer_bytes_max: usize,
}

impl Default for ViewLimits {
    fn default() -> Self {
        Self { fuel_max: 1_000_000_000, calls_max: 1_000, records_max: 20_000, answer_bytes_max: 32 << 20 }
    }
}

/// The data that a view is answered from, all of one snapshot.
#[derive(Clone, Copy)]
pub struct ViewContext<'a> {
    /// Parameters of the network.
    pub parameters: &'a Parameters,
    /// Code of the contracts that are never on chain.
    pub builtins: &'a Arc<Builtins>,
    /// Compiled contracts.
    pub codes: &'a Arc<CodeCache>,
    /// The height of the view.
    pub height: Height,
    /// The state at its end.
    pub state: &'a dyn ViewState,
    /// The blocks up to it.
    pub chain: &'a dyn ViewChain,
    /// The block that [`block_wanted`] named, if it is there, in consensus encoding.
    pub block: Option<&'a [u8]>,
    /// Bounds of this view.
    pub limits: &'a ViewLimits,
    /// Whether the caller has waited long enough.
    pub is_over: &'a dyn Fn() -> bool,
}

impl ViewContext<'_> {
    /// Ends a view that has taken too long.
    fn check(&self) -> Result<(), ViewError> {
        if (self.is_over)() { Err(ViewError::TooLong) } else { Ok(()) }
    }
}

/// The reason why a view has no answer.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// There is no view of this name.
    #[error("there is no view of this name")]
    Unknown,
    /// The payload cannot be read.
    #[error(transparent)]
    Payload(#[from] DecodeError),
    /// A part of the payload has no meaning.
    #[error("{0}")]
    Meaningless(String),
    /// The answer would be larger than answers may be.
    #[error("the answer is too large: ask for less at once")]
    TooLarge,
    /// The time of the view is over.
    #[error("the view took too long")]
    TooLong,
    /// The state cannot be read.
    #[error("{0}")]
    State(#[source] StateError),
    /// The blocks cannot be read.
    #[error("{0}")]
    Chain(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The engine cannot run the request.
    #[error("{0}")]
    Halt(#[from] Halt),
}

impl From<StateError> for ViewError {
    fn from(error: StateError) -> Self {
        if matches!(error, StateError::Interrupted) { Self::TooLong } else { Self::State(error) }
    }
}

/// Names of all views. `multisimluate` is spelt as everywhere; the right spelling is taken as well.
pub const NAMES: [&str; 24] = [
    "alkanes_id_to_outpoint",
    "getblock",
    "getbytecode",
    "getdeployment",
    "getinventory",
    "getstorageat",
    "meta",
    "multisimluate",
    "multisimulate",
    "protorunesbyaddress",
    "protorunesbyheight",
    "protorunesbyoutpoint",
    "runesbyaddress",
    "runesbyheight",
    "runesbyoutpoint",
    "sequence",
    "simulate",
    "simulateblock",
    "simulateprotostones",
    "simulatetransaction",
    "spendablesbyaddress",
    "trace",
    "traceblock",
    "unwrap",
];

/// Whether there is a view of this name.
pub fn is_known(name: &str) -> bool {
    NAMES.contains(&name)
}

/// Whether a view runs what its caller gives it, for as long as fuel and time allow.
pub fn runs_contracts(name: &str) -> bool {
    name.starts_with("simulate") || matches!(name, "meta" | "multisimluate" | "multisimulate")
}

/// The block that a view needs beside the state, so that the caller can fetch it before [`call`]: the one that `getblock` hands
/// out, the one behind which `simulatetransaction` tries. `None`: it needs none.
pub fn block_wanted(name: &str, payload: &[u8]) -> Option<Height> {
    match name {
        "getblock" => proto::decode::<alkanes::BlockRequest>(payload).ok().map(|request| request.height),
        "simulatetransaction" => transaction::block_wanted(payload),
        _ => None,
    }
}

/// Answers a view (protocol B21). Views that the reference answers with an empty or default message when their payload
/// makes no sense do so here.
///
/// # Errors
/// [`ViewError`]; contracts that fail are no errors but answers.
pub fn call(name: &str, payload: &[u8], context: &ViewContext<'_>) -> Result<Vec<u8>, ViewError> {
    let answer = match name {
        "simulate" => run::simulate_view(payload, context)?.encode_to_vec(),
        "multisimluate" | "multisimulate" => run::multi_simulate_view(payload, context)?.encode_to_vec(),
        "simulatetransaction" => transaction::transaction_view(payload, context)?.encode_to_vec(),
        "simulateprotostones" => transaction::protostones_view(payload, context)?.encode_to_vec(),
        "simulateblock" => transaction::block_view(payload, context)?.encode_to_vec(),
        "meta" => run::meta_view(payload, context)?,
        "sequence" => contract::sequence(context)?.to_le_bytes().to_vec(),
        "trace" => trace::trace_view(payload, context)?,
        "traceblock" => trace::block_view(context)?.encode_to_vec(),
        "protorunesbyaddress" => or_default(outputs::by_address(payload, context, false))?.encode_to_vec(),
        "spendablesbyaddress" => or_default(outputs::by_address(payload, context, true))?.encode_to_vec(),
        "protorunesbyoutpoint" => or_default(outputs::by_outpoint(payload, context))?.encode_to_vec(),
        "protorunesbyheight" => or_default(outputs::by_height(payload, context))?.encode_to_vec(),
        "runesbyaddress" => or_default(runes::by_address(payload, context))?.encode_to_vec(),
        "runesbyoutpoint" => or_default(runes::by_outpoint(payload, context))?.encode_to_vec(),
        "runesbyheight" => or_default(runes::by_height(payload, context))?.encode_to_vec(),
        "alkanes_id_to_outpoint" | "getdeployment" => {
            or_default(contract::deployment_view(payload, context))?.encode_to_vec()
        }
        "getbytecode" => contract::bytecode_view(payload, context)?,
        "getinventory" => contract::inventory_view(payload, context)?.encode_to_vec(),
        "getstorageat" => contract::storage_view(payload, context)?.encode_to_vec(),
        "getblock" => contract::block_view(payload, context)?.encode_to_vec(),
        "unwrap" => unwrap::view(context)?.encode_to_vec(),
        _ => return Err(ViewError::Unknown),
    };
    if answer.len() > context.limits.answer_bytes_max {
        return Err(ViewError::TooLarge);
    }
    Ok(answer)
}

/// A payload that cannot be read or has no meaning is answered with the default message.
fn or_default<T: Default>(answer: Result<T, ViewError>) -> Result<T, ViewError> {
    match answer {
        Err(ViewError::Payload(_) | ViewError::Meaningless(_)) => Ok(T::default()),
        answer => answer,
    }
}

/// Reads an outpoint as views take it, the txid in internal order.
fn outpoint(txid: &[u8], vout: u32) -> Result<OutPoint, ViewError> {
    use bitcoin::hashes::Hash as _;
    let txid = Txid::from_slice(txid).map_err(|_| ViewError::Meaningless("a txid has 32 bytes".to_owned()))?;
    Ok(OutPoint { txid, vout })
}

/// Writes an outpoint as views give it.
fn outpoint_to_proto(outpoint: &OutPoint) -> alkanes::Outpoint {
    use bitcoin::hashes::Hash as _;
    alkanes::Outpoint { txid: outpoint.txid.as_byte_array().to_vec(), vout: outpoint.vout }
}

/// Writes an output as views give it.
fn output_to_proto(output: &TxOut) -> protorune::Output {
    protorune::Output { script: output.script_pubkey.to_bytes(), value: output.value.to_sat() }
}
