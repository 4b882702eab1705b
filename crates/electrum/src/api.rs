//! Interface between sessions and the instance.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use bitcoin::{BlockHash, Txid};
use bytes::Bytes;
use serde_json::value::RawValue;
use tokio::sync::broadcast;

use crate::merkle::HeaderProof;
use crate::script_hash::{ScriptHash, Status};

/// A boxed future, so that the traits are object-safe.
pub type ApiFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Why a request has no result. Codes are those of `ElectrumX`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The requested item does not exist or is not allowed: code 1, with a sentence for the client.
    BadRequest(String),
    /// The script has more transactions than [`crate::ElectrumSettings::history_max`]: code 1, `history too large`.
    HistoryTooLarge,
    /// The node refused: code 2, with its reason.
    Node(String),
    /// The node is not available: code 2.
    NodeAway,
    /// No permit or no memory within the time of a request: code -102.
    Busy,
    /// An internal failure, logged where it occurred: code -32603.
    Internal,
}

/// The newest indexed block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tip {
    /// Its height.
    pub height: u32,
    /// Its hash.
    pub hash: BlockHash,
    /// Its header in consensus encoding.
    pub header: [u8; 80],
}

/// Identity of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Name and version of the software.
    pub software: String,
    /// Hash of block 0.
    pub genesis: BlockHash,
}

/// Scripts whose history may have changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Touched {
    /// Any script.
    All,
    /// These and no others.
    Scripts(HashSet<ScriptHash>),
}

/// Changes since the last report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// The newest block; `None` while nothing is indexed.
    pub tip: Option<Tip>,
    /// Scripts to check.
    pub touched: Touched,
}

/// One query about a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScriptQuestion {
    /// Hash of the script.
    pub script: ScriptHash,
    /// Kind of the query.
    pub wanted: Wanted,
}

/// Kinds of queries about a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// [`ScriptAnswer::History`].
    History,
    /// [`ScriptAnswer::Status`].
    Status,
    /// [`ScriptAnswer::Balance`].
    Balance,
    /// [`ScriptAnswer::Unspent`].
    Unspent,
    /// [`ScriptAnswer::Mempool`].
    Mempool,
}

/// The answer to one [`ScriptQuestion`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptAnswer {
    /// All transactions.
    History(History),
    /// The hash over all transactions; `None` when there are none.
    Status(Option<Status>),
    /// Satoshis.
    Balance(Balance),
    /// Unspent outputs, confirmed ones in the order of the chain, then unconfirmed ones.
    Unspent(Vec<Unspent>),
    /// Unconfirmed transactions in the order of the protocol.
    Mempool(Vec<Unconfirmed>),
}

/// A confirmed transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Confirmed {
    /// Its id.
    pub txid: Txid,
    /// Height of its block.
    pub height: u32,
}

/// An unconfirmed transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unconfirmed {
    /// Its id.
    pub txid: Txid,
    /// Whether it spends an output of an unconfirmed transaction: its height is then -1, else 0.
    pub has_unconfirmed_inputs: bool,
    /// Satoshis; 0 while an input is unknown.
    pub fee: u64,
}

/// All transactions of a script.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct History {
    /// In the order of the chain.
    pub confirmed: Vec<Confirmed>,
    /// In the order of the protocol: see [`Unconfirmed::sort`].
    pub unconfirmed: Vec<Unconfirmed>,
}

/// Balance of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Balance {
    /// Satoshis of confirmed unspent outputs.
    pub confirmed: u64,
    /// Satoshis that unconfirmed transactions add or, negative, take away.
    pub unconfirmed: i64,
}

/// An unspent output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unspent {
    /// Its transaction.
    pub txid: Txid,
    /// Its position among the outputs.
    pub vout: u32,
    /// Height of its block; 0 while it is unconfirmed.
    pub height: u32,
    /// Satoshis.
    pub value: u64,
}

/// A transaction in its block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// Its id.
    pub txid: Txid,
    /// Height of the block.
    pub height: u32,
    /// Position in the block.
    pub position: u32,
    /// Hashes beside the path to the root, deepest first, as text.
    pub branch: Vec<String>,
}

/// A feerate as the node wrote it, BTC for 1,000 virtual bytes; `None`: it has no estimate.
pub type Estimate = Option<Box<RawValue>>;

/// Least feerates as the node wrote them, BTC for 1,000 virtual bytes.
#[derive(Debug, Clone)]
pub struct MempoolFees {
    /// Of a full mempool.
    pub minimum: Box<RawValue>,
    /// As configured.
    pub relay: Box<RawValue>,
    /// Increment for a replacement.
    pub increment: Box<RawValue>,
}

/// Feerates in satoshis per virtual byte with the virtual bytes that pay them, highest first.
pub type FeeHistogram = Arc<Vec<(f64, u64)>>;

/// Answers to queries about scripts, and the reservation of their memory until it is dropped.
pub type ScriptAnswers = (Vec<Result<ScriptAnswer, Fault>>, Box<dyn Send + Sync>);

/// The node's result for a package.
#[derive(Debug, Clone)]
pub struct PackageResult {
    /// Whether all of it is in the mempool.
    pub is_accepted: bool,
    /// Ids and reasons of those that are not.
    pub errors: Vec<(String, String)>,
    /// The node's own answer.
    pub verbose: Box<RawValue>,
}

/// Memory of a session within the budget of the process.
pub trait Holder: Send + Sync {
    /// Sets the total number of bytes; returns whether there is memory for them.
    fn reach(&mut self, bytes: usize) -> bool;
    /// Releases bytes beyond so many.
    fn shrink(&mut self, bytes: usize);
}

/// An instance as the listener sees it.
pub trait Server: Send + Sync {
    /// Identity of the server.
    fn identity(&self) -> &Identity;
    /// Counts a new session of a client. `None`: it is closed without an answer, since the client opens too many or the key store is unavailable.
    fn open(&self, peer: SocketAddr) -> ApiFuture<'_, Option<Arc<dyn Api>>>;
    /// Changes from now on.
    fn changes(&self) -> broadcast::Receiver<Arc<Changes>>;
}

/// An instance as one session sees it.
pub trait Api: Send + Sync {
    /// Whether the caller may still be served. When not, the session is closed without an answer.
    fn may_go_on(&self) -> ApiFuture<'_, bool>;
    /// A new memory account of this session, with no bytes.
    fn holder(&self) -> Box<dyn Holder>;
    /// The newest indexed block.
    fn tip(&self) -> Option<Tip>;
    /// At most `count` headers from a height on, in consensus encoding; fewer at the end of the chain.
    fn headers(&self, first: u32, count: u32) -> ApiFuture<'_, Result<Vec<[u8; 80]>, Fault>>;
    /// Proves the header at `height` against all headers up to `checkpoint`, at most the tip's height and at least `height`.
    fn header_proof(&self, height: u32, checkpoint: u32) -> ApiFuture<'_, Result<HeaderProof, Fault>>;
    /// Answers a first part of the queries, at least one, in their order. The second part reserves their memory until it is dropped.
    fn scripts(&self, questions: Vec<ScriptQuestion>) -> ApiFuture<'_, ScriptAnswers>;
    /// Consensus encoding of a transaction.
    fn transaction(&self, txid: Txid) -> ApiFuture<'_, Result<Bytes, Fault>>;
    /// The node's own record of a transaction.
    fn transaction_record(&self, txid: Txid) -> ApiFuture<'_, Result<Box<RawValue>, Fault>>;
    /// Position and Merkle branch of a transaction in the block at `height`.
    fn proof(&self, txid: Txid, height: u32) -> ApiFuture<'_, Result<Proof, Fault>>;
    /// The transaction at a position of the block at `height`; the branch is empty unless it is requested.
    fn transaction_at(&self, height: u32, position: u32, has_branch: bool) -> ApiFuture<'_, Result<Proof, Fault>>;
    /// Estimated feerate for a number of blocks, with the node's name of a mode.
    fn estimate(&self, blocks: u16, mode: Option<&'static str>) -> ApiFuture<'_, Result<Estimate, Fault>>;
    /// Least feerates.
    fn mempool_fees(&self) -> ApiFuture<'_, Result<MempoolFees, Fault>>;
    /// Feerates of unconfirmed transactions.
    fn fee_histogram(&self) -> ApiFuture<'_, Result<FeeHistogram, Fault>>;
    /// Broadcasts a transaction in hexadecimal digits by the node; returns its id.
    fn broadcast(&self, transaction: String) -> ApiFuture<'_, Result<Txid, Fault>>;
    /// Broadcasts a package of transactions in hexadecimal digits by the node.
    fn broadcast_package(&self, transactions: Vec<String>) -> ApiFuture<'_, Result<PackageResult, Fault>>;
}
