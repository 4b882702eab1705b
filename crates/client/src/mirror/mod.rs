//! Local copies of an instance's data over reconnecting streams: unconfirmed transactions, a market of the order book, chain events.

mod connection;
mod event;
mod events;
mod mempool;
mod orderbook;

pub use event::{
    CallStatus, CallType, ChainEvent, Direction, EventContent, EventFilter, EventKind, Holder, InscriptionAction,
    InscriptionLocation, TokenAmount,
};
pub use events::{EventStart, EventStream};
pub use mempool::{MempoolEvent, MempoolMirror};
pub use orderbook::{OrderbookEvent, OrderbookMirror};

/// The local copy differs from the instance's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Diverged;
