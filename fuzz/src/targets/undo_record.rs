//! Undo records read from a damaged disk: applied or refused, with memory that follows the length of the record.

use std::sync::OnceLock;

use paraffin_store::fuzzing::UndoRecords;

static RECORDS: OnceLock<UndoRecords> = OnceLock::new();

pub(crate) fn run(record: &[u8]) {
    let records = RECORDS.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("paraffin-fuzz-undo-{}", std::process::id()));
        UndoRecords::open(&folder, 100).expect("a store opens in the folder for temporary files")
    });
    records.apply(record);
}
