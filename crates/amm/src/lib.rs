//! Markets derived from traces of contracts: pools, swaps, liquidity, wraps, and their prices in time.
//!
//! ```text
//!  traces of a block ─▶ calls (a tree) ─▶ events ─▶ module ─┬─▶ lists by pool, token, script, factory
//!  state after it    ──────────────────────▲               └─▶ candles, volumes
//!  reader ◀─ pages, candles, figures        pools ◀─ reserves as of a height
//!  book ◀─ all pools of a block: reserves, figures, prices in satoshis, the graph that routes are found in
//! ```
//!
//! Invariants: everything follows from traces and balances alone; a pool is what a factory created and registered, whatever
//! its code; a call that was undone by anyone above it counts for nothing; prices are ratios of integers.
#![forbid(unsafe_code)]

mod blocks;
pub mod book;
mod calendar;
mod calls;
mod candles;
mod contracts;
mod depth;
mod error;
mod events;
mod interval;
mod journal;
mod lists;
mod module;
mod pools;
mod ratio;
mod reader;
pub mod routing;
mod rows;
mod sender;
mod series;
mod tables;
mod trades;

pub use blocks::{PoolEvent, with_reserves};
pub use book::{
    BookPool, BookRules, ChartQuery, ContractHistory, Dollars, MarketBook, MarketBooks, PoolOrder, PoolPath, PoolPaths,
    PoolQuery, PoolTotals, PoolWorth, Position, TokenPrice, TokenWorth, UnitPrice, WHOLE,
};
pub use calendar::Timeframe;
pub use calls::{Call, calls};
pub use candles::{Candle, Side, SidedCandle};
pub use contracts::{BlockContracts, ChainContracts, ContractReads, MessageTrace};
pub use depth::{Depth, DepthLevel, depth};
pub use error::AmmError;
pub use events::{Action, ChainPosition, Event, EventKind, PoolIdentity, PoolLookup, transaction_events};
pub use interval::Interval;
pub use journal::{EventList, Journal, merged};
pub use lists::{Scope, Status};
pub use module::{AmmModule, Parameters};
pub use pools::{PoolState, pool_reserves, pool_state};
pub use ratio::Ratio;
pub use reader::{Figures, Markets, Page, PoolRecord, Volumes};
pub use sender::{Sender, Senders};
pub use series::Series;
pub use tables::{MODULE, SCHEMA, TABLES};
pub use trades::{NumberedTrade, TradeSpan};
