//! Decoders of records on disk, for the fuzz targets of `fuzz/`. Not part of the product: it needs the feature
//! `fuzzing`, which only the targets enable.

use crate::record::{ModuleState, StoredBlock, decode_number, decode_store};
use crate::version::stored_value;
use crate::{ModuleId, Placement, Table, TableKind, key};

pub use crate::snapshot_file::fuzzing::{snapshot_frame, snapshot_header, snapshot_rows};
pub use crate::undo::fuzzing::UndoRecords;

/// Records of the `meta` keyspace; returns whether the bytes are one of a block.
///
/// # Panics
/// A decoded record is encoded differently.
pub fn records(height: u32, bytes: &[u8]) -> bool {
    let _ = decode_store(bytes);
    let _ = decode_number(bytes, "a number");
    if let Ok(state) = ModuleState::decode(bytes) {
        assert_eq!(ModuleState::decode(&state.encode()).ok(), Some(state));
    }
    let Ok(block) = StoredBlock::decode(height, bytes) else { return false };
    assert_eq!(block.encode(), bytes);
    true
}

/// A key and a value of a Versioned table; returns whether the key is valid.
///
/// # Panics
/// A key that is read is not the one that the row would get.
pub fn versioned_row(engine_key: &[u8], stored: &[u8]) -> bool {
    let _ = stored_value(stored);
    let Some((stem, height)) = key::split_height(engine_key) else { return false };
    assert_eq!(key::at_height(stem, height), engine_key);
    let Some(row_key) = key::unescape(stem) else { return false };
    let table = Table {
        module: ModuleId(stem[0]),
        id: stem[1],
        name: "fuzzed",
        kind: TableKind::Versioned,
        placement: Placement::Ordered,
    };
    assert_eq!(key::stem(&table, &row_key), stem);
    assert!(stem < key::after_prefix(stem).as_slice() || stem.iter().all(|byte| *byte == u8::MAX));
    true
}
