//! What an instance has, followed over lost connections: unconfirmed transactions, a market of the order book, events of the chain.

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

/// What was followed is not what the instance has any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Diverged;
