//! REST routes about markets (docs/api.md, "Markets").

mod cryptoswap;
mod events;
mod fields;
mod flat;
mod get;
mod histories;
mod pairs;
mod pathfind;
mod pool_record;
mod pools;
mod positions;
mod problem;
mod record;
mod sort;

pub(super) use fields::{PoolIdText, admit, require_factory};
pub(super) use flat::GROUP as TRADING;
pub(super) use histories::GROUP as HISTORY;
pub(super) use pool_record::PoolDetails;
pub(super) use pools::GROUP as POOLS;
pub(super) use pools::search;
pub(super) use problem::{Problem, read};
pub(super) use record::Record;
