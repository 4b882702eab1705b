//! The live set of unconfirmed transactions: its entries, their fees, and every change under a sequence number.
//!
//! ```text
//!  peers, node, observe ─▶ TransactionSet ─┬─▶ entries by id, sequence number, feerate, script
//!  blocks ────────────────▶      └─▶ frames ─▶ ring ─▶ subscribers (each at a position of its own)
//! ```
//!
//! Invariants: every change has one sequence number, never given twice; a reader that takes the set at a number and the frames
//! after it has the set at any later number; memory has a bound; time comes from outside.
#![forbid(unsafe_code)]

mod agreement;
mod entry;
mod feed;
mod figures;
mod frame;
mod histogram;
mod live;
mod pool;
mod ring;
mod subscription;
mod touched;

pub use agreement::Agreement;
pub use entry::{Effect, Entry, Origin, ScriptHash, ShownEntry};
pub use feed::{Clock, FeedOptions, feed};
pub use figures::{Figures, RESETS};
pub use frame::{Change, Frame, Reason};
pub use histogram::{DEFAULT_FLOORS, default_floors};
pub use live::{Confirmed, Mempool, ObserveError};
pub use pool::{BlockEffect, Inserted, Limits, Page, Refused, Replacement, ReplacementSide, Summary, TransactionSet};
pub use ring::{Missed, Ring};
pub use subscription::{Subscribers, Subscription};
pub use touched::TouchedScripts;
