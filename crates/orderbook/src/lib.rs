//! Orders of an external database, mirrored from its change events: the active book by market, every order by id, every
//! change under a number, every event in a durable log.
//!
//! ```text
//!  change events ─▶ checked as a whole ─▶ durable stream ─▶ MarketBook ─┬─▶ markets, snapshots, orders
//!                                                                       └─▶ changes ─▶ ring ─▶ subscribers
//!
//!  durable stream: a log in our own folder (one flush for many), or a stream of NATS JetStream that many gateways share
//! ```
//!
//! Invariants: what was acknowledged survives a power loss; the same event twice changes nothing, an older position never
//! overwrites a newer one, so the order in which events come does not matter; every change has one number, and the same log
//! gives the same numbers; memory has a bound; time comes from outside.
#![forbid(unsafe_code)]

mod book;
mod book_file;
mod book_writer;
mod change;
mod checksum;
mod durable;
mod event;
mod fields;
mod journal;
mod market;
mod market_orders;
mod members;
mod name;
mod nats;
mod order;
mod row;
pub mod sample;
mod service;
mod stream_state;
mod tables;
mod writer;

pub use book::{Limits, MarketBook, MarketRecord, Snapshot};
pub use change::{Change, Missed, Op, Part, checksum_text};
pub use event::{EVENT_BYTES_MAX, EVENTS_MAX, Effect, Event, EventError, read};
pub use fields::{DECIMAL_BYTES_MAX, FieldError};
pub use journal::JournalError;
pub use market::{MARKET_BYTES_MAX, Market, MarketError};
pub use name::Name;
pub use nats::{Login, NatsOptions, STREAM_DEFAULT, SUBJECT, StreamError, TlsFiles};
pub use order::{Order, Position, Status};
pub use service::{
    EventsError, EventsPage, Figures, IngestError, Options, Orderbook, OrderbookFuture, StoredEvent, Subscription,
};
pub use stream_state::StreamState;
pub use tables::{AssetColumns, Columns, Kind, MarketColumns, Table, Tables};
