//! BRC-20 in the tables of the store.

mod keys;
mod module;
mod reader;
mod tables;
#[cfg(test)]
mod tests;
mod values;

pub use module::Brc20Module;
pub use reader::{BalancesDigest, Brc20Index, Holder, OpenNote, PlacedEvent};
pub use tables::{MODULE, TABLES, TABLES_VERSION};
