//! Swaps, candles, transfers and balances out of the index, as Parquet files for analysis (docs/export.md).
//!
//! ```text
//!  snapshot ─▶ rows (one file for each dataset) ─▶ writer (columns, row groups of bounded bytes) ─▶ file.part ─▶ file
//! ```
//!
//! Invariants: all rows of a file are those of one block of one snapshot; what is in memory does not depend on the length of the chain; amounts
//! are exact; a file has its name only when it is whole and on the disk.
#![forbid(unsafe_code)]

mod balances;
mod candles;
mod cell;
mod column;
mod error;
mod export;
mod file;
mod swaps;
mod transfers;
mod writer;

pub use error::ExportError;
pub use export::{Dataset, ExportProgress, ExportSummary, Selection, Source, export};
