//! One change of the set, as sent to subscribers.

use std::sync::{Arc, OnceLock};

use bitcoin::{BlockHash, Txid};
use bytes::Bytes;
use serde::Serialize;

use crate::entry::ShownEntry;
use crate::{Entry, Origin};

/// Why a transaction left the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It is in a block.
    Mined,
    /// Another transaction spends the same output.
    Replaced,
    /// The set is full and it paid least.
    Evicted,
    /// An admin submitted it, and no peer announced it in time.
    ProvisionalExpired,
    /// It is too old.
    Expired,
}

impl Reason {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Mined, Self::Replaced, Self::Evicted, Self::ProvisionalExpired, Self::Expired];

    /// Its name in frames.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Mined => "mined",
            Self::Replaced => "replaced",
            Self::Evicted => "evicted",
            Self::ProvisionalExpired => "provisional_expired",
            Self::Expired => "expired",
        }
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A transaction is new.
    Add(Arc<Entry>),
    /// A transaction has changed: a peer announced it, its fee became known, or whether it may be replaced.
    Update(Arc<Entry>),
    /// A transaction left.
    Remove {
        /// The transaction.
        txid: Txid,
        /// Its virtual bytes.
        vsize: u32,
        /// Why.
        reason: Reason,
    },
    /// A block was applied; the frames of removed transactions come before this one.
    Block {
        /// Its height.
        height: u32,
        /// Its hash.
        hash: BlockHash,
        /// How many transactions it removed.
        removed: u32,
        /// [`crate::TransactionSet::checksum`] afterwards.
        checksum: u64,
    },
}

/// A change with its number. Its text is rendered at most once, whatever the number of subscribers.
#[derive(Debug)]
pub struct Frame {
    /// Its number.
    pub seq: u64,
    /// What happened.
    pub change: Change,
    text: OnceLock<Bytes>,
    hex_text: OnceLock<Bytes>,
}

impl Frame {
    pub(crate) fn new(seq: u64, change: Change) -> Self {
        Self { seq, change, text: OnceLock::new(), hex_text: OnceLock::new() }
    }

    /// The frame as JSON text in UTF-8; with `hex`, the bytes of what was added as well.
    pub fn text(&self, hex: bool) -> Bytes {
        let hex = hex && matches!(self.change, Change::Add(_));
        let text = if hex { &self.hex_text } else { &self.text };
        let write = || serde_json::to_vec(&Message::new(self, hex)).unwrap_or_default().into();
        text.get_or_init(write).clone()
    }

    /// Estimated memory, bytes.
    pub(crate) fn bytes(&self) -> usize {
        /// Overhead of a frame, its text and its slot in the ring.
        const FRAME_BYTES: usize = 600;
        match &self.change {
            Change::Add(entry) | Change::Update(entry) => FRAME_BYTES + entry.bytes(),
            Change::Remove { .. } | Change::Block { .. } => FRAME_BYTES,
        }
    }
}

/// A checksum as text: 16 hexadecimal digits.
pub(crate) fn checksum_text(checksum: u64) -> String {
    format!("{checksum:016x}")
}

/// A frame as the stream shows it.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Message<'f> {
    /// The entry's own number is that of its frame.
    Add(ShownEntry<'f>),
    Update {
        seq: u64,
        txid: &'f Txid,
        #[serde(skip_serializing_if = "Option::is_none")]
        fee: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        feerate: Option<f64>,
        origin: Origin,
        provisional: bool,
        rbf: bool,
    },
    Remove {
        seq: u64,
        txid: &'f Txid,
        vsize: u32,
        reason: Reason,
    },
    Block {
        seq: u64,
        height: u32,
        hash: &'f BlockHash,
        removed: u32,
        checksum: String,
    },
}

impl<'f> Message<'f> {
    fn new(frame: &'f Frame, hex: bool) -> Self {
        let seq = frame.seq;
        match &frame.change {
            Change::Add(entry) => Self::Add(entry.shown(hex)),
            Change::Update(entry) => Self::Update {
                seq,
                txid: &entry.txid,
                fee: entry.fee,
                feerate: entry.feerate(),
                origin: entry.origin,
                provisional: entry.provisional,
                rbf: entry.rbf,
            },
            Change::Remove { txid, vsize, reason } => Self::Remove { seq, txid, vsize: *vsize, reason: *reason },
            Change::Block { height, hash, removed, checksum } => {
                Self::Block { seq, height: *height, hash, removed: *removed, checksum: checksum_text(*checksum) }
            }
        }
    }
}
