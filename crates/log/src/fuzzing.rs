//! Records of the log, opened for the fuzz targets.

use super::frame::{HEAD_LEN, Head, encode};
use super::segment::has_record_after;

/// One record; returns whether its checksum matches.
///
/// # Panics
/// A decoded record is encoded differently.
pub fn log_record(bytes: &[u8]) -> bool {
    let Some((head, payload)) = bytes.split_first_chunk::<HEAD_LEN>() else { return false };
    let Some(head) = Head::decode(head) else { return false };
    if !head.matches(payload) {
        return false;
    }
    let mut again = Vec::new();
    encode(&mut again, head.seq, payload);
    assert_eq!(again, bytes);
    true
}

/// Whether a valid record with a number above `seq` follows damage.
pub fn log_tail(tail: &[u8], seq: u64) -> bool {
    has_record_after(tail, seq)
}
