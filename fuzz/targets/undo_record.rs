//! Undo records as they may lie on a damaged disk: applied or refused, with memory that follows the length of the record.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use paraffin_store::fuzzing::UndoRecords;

static RECORDS: OnceLock<UndoRecords> = OnceLock::new();

fuzz_target!(|record: &[u8]| {
    let records = RECORDS.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("paraffin-fuzz-undo-{}", std::process::id()));
        UndoRecords::open(&folder, 100).expect("a store opens in the folder for temporary files")
    });
    records.apply(record);
});
