//! The one store of an instance: height-versioned and current tables over an embedded engine, committed block by block.
//!
//! Invariant: no other crate depends on the engine, and a commit is atomic.
//!
//! A [`Module`] declares its tables as constants and writes rows through a [`ModuleWriter`]; the [`Writer`] collects one or
//! more whole blocks and commits them with their block records, undo records and digests in one atomic write. Readers take
//! a [`Snapshot`]. `docs/design/store.md` draws the format on disk and gives the crash argument.
#![forbid(unsafe_code)]

mod ahead;
mod appended;
mod content;
mod digest;
mod earlier;
mod engine;
mod error;
mod frame;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod key;
mod module_writer;
mod options;
mod overlay;
mod reading;
mod record;
mod rerun;
mod rows;
mod snapshot;
pub mod snapshot_file;
mod store;
mod table;
mod together;
mod turn;
mod undo;
mod version;
mod writer;

pub use ahead::{CommittedRows, KeysAhead, ReadAhead, ReadingAhead, RowsAhead};
pub use earlier::EarlierTables;
pub use engine::ReadCounts;
pub use error::StoreError;
pub use key::KEY_LEN_MAX;
pub use module_writer::{ModuleWriter, VALUE_LEN_MAX};
pub use options::{MemorySplit, StoreOptions};
pub use overlay::KeyHashing;
pub use record::{BlockDigests, BlockRecord, FORMAT_VERSION, ModuleDigest, UndoneBlock};
pub use rerun::Rewound;
pub use snapshot::{IsOver, Snapshot, SnapshotMark};
pub use store::{SpaceStats, Store, StoreStats};
pub use table::{Module, ModuleError, ModuleId, ModuleSchema, Placement, Table, TableKind};
pub use together::read_together;
pub use turn::ModuleTurn;
pub use writer::Writer;

/// An owned row: key without the table prefix, value.
pub type Row = (Vec<u8>, Vec<u8>);
