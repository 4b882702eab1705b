//! Parsed calls, independent of the server that answers them.

use bitcoin::{Address, OutPoint, Txid};
use ordinals::Sat;
use paraffin_ordinals_index::event::InscriptionId;
use paraffin_ordinals_index::reader::{InscriptionQuery, OutputKind, RuneQuery};
use paraffin_primitives::Height;

use super::params::BlockQuery;

/// A call with its parameters read.
pub(super) enum Question {
    BlockCount,
    BlockHeight,
    /// The newest block when `None`.
    BlockHash(Option<Height>),
    BlockTime,
    Block(BlockQuery),
    Blocks,
    /// With the index of a child that is requested instead.
    Inscription(InscriptionQuery, Option<u64>),
    /// A page.
    Inscriptions(u32),
    InscriptionsOfBlock(Height, u32),
    Children(InscriptionId, u32),
    Parents(InscriptionId, u32),
    Content(InscriptionId),
    Metadata(InscriptionId),
    Rune(RuneQuery),
    /// A page.
    Runes(u32),
    Sat(Sat),
    /// The number of a sat, possibly out of range, and a page.
    InscriptionsOnSat(u64, u32),
    /// Counted from the oldest, or below 0 from the newest.
    InscriptionOnSat(Sat, i64),
    Output(OutPoint),
    Outputs(Address, OutputKind),
    Address(Address),
    AddressInscriptions(Address),
    Transaction(Txid),
}

impl Question {
    /// The message when the object does not exist.
    pub(super) const fn missing(&self) -> &'static str {
        match self {
            Self::BlockHash(_) | Self::BlockTime => "there is no block at this height",
            Self::Block(_) => "there is no such block in the chain",
            Self::Inscription(..) | Self::Children(..) | Self::Parents(..) | Self::Content(_) | Self::Metadata(_) => {
                NO_INSCRIPTION
            }
            Self::Rune(_) => "there is no such rune",
            Self::Output(_) => "there is no such output",
            Self::Transaction(_) => "there is no such transaction",
            _ => "",
        }
    }
}

pub(super) const NO_INSCRIPTION: &str = "there is no such inscription";
pub(super) const NO_DELEGATE: &str = "there is no such delegate";
pub(super) const NO_CONTENT: &str = "the inscription has no content";
pub(super) const NO_METADATA: &str = "the inscription has no metadata";
