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

pub(crate) use fields::{PoolIdText, admit, require_factory};
pub(crate) use flat::GROUP as TRADING;
pub(crate) use histories::GROUP as HISTORY;
pub(crate) use pool_record::PoolDetails;
pub(crate) use pools::GROUP as POOLS;
pub(crate) use pools::search;
pub(crate) use problem::{Problem, read};
pub(crate) use record::Record;
