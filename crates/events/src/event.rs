//! The messages as clients get them.

use bitcoin::Txid;
use paraffin_primitives::{AlkaneId, Height};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use crate::{Checksum, Cursor};

/// Kinds of events. The numbers are part of cursors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Blocks that were connected.
    Block = 0,
    /// Outputs of watched scripts that were made or spent.
    Address = 1,
    /// Alkanes that moved.
    Transfer = 2,
    /// Calls of contracts.
    Call = 3,
    /// Trades with pools.
    Trade = 4,
    /// Inscriptions that were created or moved.
    Inscription = 5,
    /// Runes that moved.
    Rune = 6,
}

impl Kind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 7] =
        [Self::Block, Self::Address, Self::Transfer, Self::Call, Self::Trade, Self::Inscription, Self::Rune];

    /// Its name in filters.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Address => "address",
            Self::Transfer => "transfer",
            Self::Call => "call",
            Self::Trade => "trade",
            Self::Inscription => "inscription",
            Self::Rune => "rune",
        }
    }

    /// The kind with a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The block and the transaction of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Occasion {
    /// Position in the stream; a client that has this event resumes strictly after it.
    #[schemars(with = "String")]
    pub cursor: Cursor,
    /// Height of the block.
    pub height: Height,
    /// Hash of the block.
    #[schemars(with = "String")]
    pub block_hash: bitcoin::BlockHash,
    /// The transaction; blocks have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub txid: Option<Txid>,
}

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// A block became the newest one.
    BlockConnected(BlockConnected),
    /// The newest block left the chain: all events with its `block_hash` are reverted. Its cursor is the end of the block before.
    BlockDisconnected(BlockDisconnected),
    /// An output of a watched script was made or spent.
    Address(AddressEvent),
    /// Alkanes moved.
    Transfer(TransferEvent),
    /// A contract was called.
    Call(CallEvent),
    /// A trade with a pool.
    Trade(TradeEvent),
    /// An inscription was created or moved.
    Inscription(InscriptionEvent),
    /// Runes moved.
    Rune(RuneEvent),
    /// The end of a block.
    Checkpoint(Checkpoint),
}

/// A block became the newest one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BlockConnected {
    /// Block and transaction of the event.
    #[serde(flatten)]
    pub occasion: Occasion,
    /// Hash of the block before.
    #[schemars(with = "String")]
    pub previous_hash: bitcoin::BlockHash,
    /// Time in its header, Unix seconds.
    pub time: u32,
}

/// A block left the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BlockDisconnected {
    /// Block of the event; the cursor is the end of the block before.
    #[serde(flatten)]
    pub occasion: Occasion,
}

/// Whether an output was made or spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// It was made.
    Receive,
    /// It was spent.
    Spend,
}

/// An output of a watched script was made or spent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AddressEvent {
    /// Block and transaction of the event.
    #[serde(flatten)]
    pub occasion: Occasion,
    /// Whether it was made or spent.
    pub direction: Direction,
    /// Number of the input, or of the output, in the transaction.
    pub number: u32,
    /// The output, `<txid>:<vout>`.
    #[schemars(with = "String")]
    pub outpoint: bitcoin::OutPoint,
    /// Satoshis in decimal digits.
    pub value: String,
    /// Absent where the script has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub address: Option<String>,
    /// The script, hexadecimal.
    pub script: String,
}

/// Source or destination of an amount.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Holder {
    /// An output.
    Output {
        /// `<txid>:<vout>`.
        #[schemars(with = "String")]
        outpoint: bitcoin::OutPoint,
        /// Absent where the script has none.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        address: Option<String>,
    },
    /// A contract.
    Contract {
        /// Its id, block:tx.
        #[serde(serialize_with = "text")]
        #[schemars(with = "String")]
        id: AlkaneId,
    },
    /// The transaction itself, between its inputs and its outputs and messages.
    Transaction,
}

/// Alkanes moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TransferEvent {
    /// Block and transaction of the event.
    #[serde(flatten)]
    pub occasion: Occasion,
    /// Id of the alkane, block:tx.
    #[serde(serialize_with = "text")]
    #[schemars(with = "String")]
    pub alkane: AlkaneId,
    /// Base units in decimal digits; never 0.
    #[serde(serialize_with = "text")]
    #[schemars(with = "String")]
    pub amount: u128,
    /// Source.
    pub from: Holder,
    /// Destination.
    pub to: Holder,
}

/// Kind of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallType {
    /// In its own name.
    Call,
    /// In the name of its caller.
    Delegate,
    /// Not known, since the trace was too large to be kept.
    Omitted,
}

/// Result of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// Its changes were committed.
    Success,
    /// It, or a calling one, was reverted.
    Revert,
}

/// A contract was called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CallEvent {
    /// Block and transaction of the event.
    #[serde(flatten)]
    pub occasion: Occasion,
    /// Shadow output of the message.
    pub vout: u32,
    /// The contract, block:tx.
    #[serde(serialize_with = "text")]
    #[schemars(with = "String")]
    pub contract: AlkaneId,
    /// The contract that called it; absent when the message did.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "optional_text")]
    #[schemars(with = "String")]
    pub caller: Option<AlkaneId>,
    /// Kind of the call.
    pub call_type: CallType,
    /// Its inputs in decimal digits, the operation first.
    pub inputs: Vec<String>,
    /// Result of the call.
    pub status: CallStatus,
}

/// An amount of an alkane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MovedAmount {
    /// Id of the alkane, block:tx.
    #[serde(serialize_with = "text")]
    #[schemars(with = "String")]
    pub alkane: AlkaneId,
    /// Base units in decimal digits.
    #[serde(serialize_with = "text")]
    #[schemars(with = "String")]
    pub amount: u128,
}

/// A trade with a pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TradeEvent {
    /// Block and transaction of the event.
    #[serde(flatten)]
    pub occasion: Occasion,
    /// Shadow output of the message.
    pub vout: u32,
    /// The pool, block:tx.
    #[serde(serialize_with = "text")]
    #[schemars(with = "String")]
    pub pool: AlkaneId,
    /// Its factory, block:tx; absent for a `CryptoSwap` pool, which none lists.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "optional_text")]
    #[schemars(with = "String")]
    pub factory: Option<AlkaneId>,
    /// The amount that the pool received.
    pub sold: MovedAmount,
    /// The amount that the pool paid out.
    pub bought: MovedAmount,
    /// Address of the trader; absent where its script has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub address: Option<String>,
}

/// Kind of an inscription event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InscriptionAction {
    /// It was created.
    Created,
    /// Its sat moved.
    Moved,
}

/// Where the sat of an inscription is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InscriptionPlace {
    /// The output, `<txid>:<vout>`.
    #[schemars(with = "String")]
    pub outpoint: bitcoin::OutPoint,
    /// Sats of the output before it.
    pub offset: u64,
    /// Absent where the script has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub address: Option<String>,
}

/// An inscription was created or moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InscriptionEvent {
    /// Block and transaction of the event.
    #[serde(flatten)]
    pub occasion: Occasion,
    /// Its id, `<txid>i<index>`.
    #[serde(serialize_with = "text")]
    #[schemars(with = "String")]
    pub inscription: paraffin_ordinals_index::event::InscriptionId,
    /// Its number; negative when it is cursed.
    pub number: i32,
    /// Kind of the event.
    pub action: InscriptionAction,
    /// Where it was before the block; absent when it was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "InscriptionPlace")]
    pub from: Option<InscriptionPlace>,
    /// Where it is after the block; absent when its sat was lost, or it was bound to none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "InscriptionPlace")]
    pub to: Option<InscriptionPlace>,
}

/// Runes moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RuneEvent {
    /// Block and transaction of the event.
    #[serde(flatten)]
    pub occasion: Occasion,
    /// Id of the rune, block:tx.
    #[serde(serialize_with = "text")]
    #[schemars(with = "String")]
    pub rune: ordinals::RuneId,
    /// Its name with spacers.
    pub name: String,
    /// Smallest units in decimal digits.
    #[serde(serialize_with = "text")]
    #[schemars(with = "String")]
    pub amount: u128,
    /// Source.
    pub from: Holder,
    /// Destination.
    pub to: Holder,
}

/// The end of a block: every event of it that passes the filter was sent before, to a client that follows from before the block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Checkpoint {
    /// Block of the event; the cursor is the end of the block.
    #[serde(flatten)]
    pub occasion: Occasion,
    /// Events of the block that pass the filter, those before a client's cursor among them.
    pub count: u64,
    /// Their checksum, 16 hexadecimal digits (docs/events.md).
    #[schemars(with = "String")]
    pub checksum: Checksum,
}

fn text<T: std::fmt::Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

#[allow(clippy::ref_option)] // the signature that serde requires
fn optional_text<T: std::fmt::Display, S: Serializer>(value: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        None => serializer.serialize_none(),
        Some(value) => serializer.collect_str(value),
    }
}
