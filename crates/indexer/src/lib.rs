//! Applies blocks to all modules, in order, in one atomic commit.
//!
//! Invariants: modules see every block once and in chain order; a block is committed with the rows of all modules or not at
//! all; what waits in memory for a commit, with what is being written, is bounded by twice [`IndexerOptions::commit_bytes`],
//! during the first import by twice [`IndexerOptions::run_bytes`]. Adding a module to the product is one line in the list that
//! the program hands over.
#![forbid(unsafe_code)]

mod apply;
mod error;
mod follow;
mod progress;
mod reindex;

pub use apply::{Indexer, IndexerOptions};
pub use error::IndexerError;
pub use follow::{FollowOptions, follow};
pub use progress::{IndexState, IndexStatus, Progress};
pub use reindex::ReindexPlan;
