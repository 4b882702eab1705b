//! Records, keys, snapshot files and log records read from a damaged disk.

use paraffin_log::fuzzing as log;
use paraffin_store::fuzzing as store;

pub(crate) fn run(bytes: &[u8]) {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    match kind % 7 {
        0 => drop(store::records(9, bytes)),
        1 => {
            let (value, key) = bytes.split_at(bytes.len().min(2));
            store::versioned_row(key, value);
        }
        2 => drop(store::snapshot_header(bytes)),
        3 => drop(store::snapshot_frame(bytes)),
        4 => {
            store::snapshot_rows(bytes);
        }
        5 => drop(log::log_record(bytes)),
        _ => drop(log::log_tail(bytes, 1)),
    }
}
