//! Events of the chain as an instance sends them, and their filter (docs/events.md).

use serde::{Deserialize, Serialize};

use crate::value::Amount;

/// A kind of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// Blocks that were connected.
    Block,
    /// Outputs of watched scripts that were made or spent.
    Address,
    /// Alkanes that moved.
    Transfer,
    /// Calls of contracts.
    Call,
    /// Trades with pools.
    Trade,
    /// Inscriptions that were created or moved.
    Inscription,
    /// Runes that moved.
    Rune,
}

/// Filter of events. Each list narrows its kind; a kind without its list passes whole. Without `kinds` those pass whose lists
/// are given, and without any list the blocks. All lists together have at most 1,000 entries.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct EventFilter {
    /// The kinds that pass.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<EventKind>,
    /// Of `address`: addresses. The kind needs this list or the next one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<String>,
    /// Of `address`: output descriptors or extended public keys, at most 10.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub descriptors: Vec<String>,
    /// Of `transfer`: ids of alkanes, block:tx.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alkanes: Vec<String>,
    /// Of `call`: ids of contracts, block:tx.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contracts: Vec<String>,
    /// Of `trade`: ids of pools, block:tx.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<String>,
    /// Of `inscription`: ids of inscriptions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inscriptions: Vec<String>,
    /// Of `rune`: names of runes, or their ids.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runes: Vec<String>,
}

/// One event, the disconnection of a block, or the end of a block.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ChainEvent {
    /// The position after it, with which a stream is resumed.
    pub cursor: String,
    /// Height of its block.
    pub height: u32,
    /// Hash of its block in display order.
    pub block_hash: String,
    /// The transaction, if the event belongs to one.
    #[serde(default)]
    pub txid: Option<String>,
    /// The content of the event.
    #[serde(flatten)]
    pub content: EventContent,
    /// Its JSON, byte for byte as the instance sent it.
    #[serde(skip)]
    pub text: String,
}

/// The content of an event.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventContent {
    /// A block became the newest one.
    BlockConnected {
        /// Hash of the block before.
        previous_hash: String,
        /// Time in its header, Unix seconds.
        time: u32,
    },
    /// The newest block was disconnected: every event with its `block_hash` is void.
    BlockDisconnected {},
    /// An output of a watched script was made or spent.
    Address {
        /// Whether it was made or spent.
        direction: Direction,
        /// Number of the input or output in the transaction.
        number: u32,
        /// The output, `<txid>:<vout>`.
        outpoint: String,
        /// Satoshis.
        value: Amount,
        /// Absent where the script has none.
        #[serde(default)]
        address: Option<String>,
        /// The script, hexadecimal.
        script: String,
    },
    /// Alkanes moved.
    Transfer {
        /// Its id, block:tx.
        alkane: String,
        /// Base units.
        amount: Amount,
        /// Previous holder.
        from: Holder,
        /// New holder.
        to: Holder,
    },
    /// A contract was called.
    Call {
        /// Shadow output of the message.
        vout: u32,
        /// The contract, block:tx.
        contract: String,
        /// The contract that called it; absent when the message did.
        #[serde(default)]
        caller: Option<String>,
        /// How it was entered.
        call_type: CallType,
        /// Its inputs, the operation first.
        inputs: Vec<Amount>,
        /// Its outcome.
        status: CallStatus,
    },
    /// A trade with a pool.
    Trade {
        /// Shadow output of the message.
        vout: u32,
        /// The pool, block:tx.
        pool: String,
        /// Its factory, block:tx; absent for a `CryptoSwap` pool, which has none.
        #[serde(default)]
        factory: Option<String>,
        /// Amount that the pool received.
        sold: TokenAmount,
        /// Amount that the pool paid.
        bought: TokenAmount,
        /// Address of the trader; absent where it has none.
        #[serde(default)]
        address: Option<String>,
    },
    /// An inscription was created or moved.
    Inscription {
        /// Its id, `<txid>i<index>`.
        inscription: String,
        /// Its number; negative when it is cursed.
        number: i32,
        /// Whether it was created or moved.
        action: InscriptionAction,
        /// Its location before the block; absent when it was created.
        #[serde(default)]
        from: Option<InscriptionLocation>,
        /// Its location after the block; absent when its sat was lost, or it is unbound.
        #[serde(default)]
        to: Option<InscriptionLocation>,
    },
    /// Runes moved.
    Rune {
        /// Its id, block:tx.
        rune: String,
        /// Its name with spacers.
        name: String,
        /// Smallest units.
        amount: Amount,
        /// Previous holder.
        from: Holder,
        /// New holder.
        to: Holder,
    },
    /// The end of a block: all of its events that pass the filter were returned, and their checksum matches the instance's.
    Checkpoint {
        /// Number of these events.
        count: u64,
    },
    /// An event of a later version.
    #[serde(other)]
    Other,
}

/// Whether an output was made or spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// It was made.
    Receive,
    /// It was spent.
    Spend,
}

/// A holder of alkanes or runes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Holder {
    /// An output.
    Output {
        /// `<txid>:<vout>`.
        outpoint: String,
        /// Absent where the script has none.
        #[serde(default)]
        address: Option<String>,
    },
    /// A contract.
    Contract {
        /// Its id, block:tx.
        id: String,
    },
    /// The transaction itself: what its inputs bring and its outputs and messages get.
    Transaction {},
}

/// How a contract was entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallType {
    /// In its own name.
    Call,
    /// In the name of its caller.
    Delegate,
    /// Unknown, since the trace was too large to be stored.
    Omitted,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// Its effects were committed.
    Success,
    /// It, or a call above it, was reverted.
    Revert,
}

/// An amount of an alkane.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct TokenAmount {
    /// Its id, block:tx.
    pub alkane: String,
    /// Base units.
    pub amount: Amount,
}

/// A change of an inscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InscriptionAction {
    /// It was created.
    Created,
    /// It moved.
    Moved,
}

/// Location of an inscription.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct InscriptionLocation {
    /// The output, `<txid>:<vout>`.
    pub outpoint: String,
    /// Offset of its satoshi in the output.
    pub offset: u64,
    /// Absent where the script has none.
    #[serde(default)]
    pub address: Option<String>,
}
