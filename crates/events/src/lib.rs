//! Events of the chain for clients that follow it: connected and disconnected blocks, outputs of watched scripts, alkanes that
//! move, calls of contracts, trades, inscriptions, and runes (docs/events.md).
//!
//! ```text
//!  index ─▶ read (the events of one block, by a filter) ─▶ chain (from a cursor to the newest block, over reorganisations) ─▶ streams
//! ```
//!
//! Invariants: events follow from the index alone and nothing is stored for them, so that two instances give the same ones; the position of an
//! event ([`Cursor`]) does not depend on the filter.
#![forbid(unsafe_code)]

mod chain;
mod checksum;
mod cursor;
mod error;
mod event;
mod filter;
mod read;

pub use chain::{BlockParent, Bounds, Message, Position, Step, advance, end_of_block};
pub use checksum::Checksum;
pub use cursor::{Cursor, INDEX_MAX, ParseCursorError};
pub use error::EventError;
pub use event::{
    AddressEvent, BlockConnected, BlockDisconnected, CallEvent, CallStatus, CallType, Checkpoint, Direction, Event,
    Holder, InscriptionAction, InscriptionEvent, InscriptionPlace, Kind, MovedAmount, Occasion, RuneEvent, TradeEvent,
    TransferEvent,
};
pub use filter::{ENTRIES_MAX, Filter, FilterError, PreparedFilter};
pub use read::{BlockEvents, EventReader, LocatedEvent, PoolModule};
