//! Parts of snapshot files, opened for the fuzz targets.

use super::header::Header;
use crate::frame::{HEAD_LEN, Head, KEY_MAX, RowReader, RowWriter};

/// The body of a header.
///
/// # Panics
/// A header that is read is written differently.
pub fn snapshot_header(body: &[u8]) -> bool {
    let Some(header) = Header::decode(body) else { return false };
    assert_eq!(header.encode(), body);
    true
}

/// The head of a frame with its payload.
///
/// # Panics
/// A head that is read is written differently.
pub fn snapshot_frame(bytes: &[u8]) -> bool {
    let Some((head, payload)) = bytes.split_first_chunk::<HEAD_LEN>() else { return false };
    let decoded = Head::decode(head);
    assert_eq!(decoded.encode(), *head);
    decoded.fits(payload)
}

/// The rows of a payload; returns how many could be read.
///
/// # Panics
/// Rows that were read do not come back when they are written again.
pub fn snapshot_rows(payload: &[u8]) -> usize {
    let mut reader = RowReader::new(payload);
    let mut rows = Vec::new();
    while !reader.is_at_end() {
        let Some((key, value)) = reader.next() else { break };
        assert!(key.len() <= KEY_MAX && value.len() <= payload.len());
        rows.push((key.to_vec(), value));
    }
    let mut writer = RowWriter::default();
    for (key, value) in &rows {
        writer.row(key, value);
    }
    let mut again = RowReader::new(&writer.payload);
    for (key, value) in &rows {
        assert_eq!(again.next(), Some((key.as_slice(), *value)));
    }
    assert!(again.is_at_end());
    rows.len()
}
