//! Binary REST answers of a node: headers and spent outputs. What decodes has no more rows than its bytes can hold.

use paraffin_chain::{decode_headers, decode_spent_outputs};

pub(crate) fn run(bytes: &[u8]) {
    if let Ok(headers) = decode_headers(bytes) {
        assert_eq!(headers.len() * 80, bytes.len());
    }
    if let Ok(spent) = decode_spent_outputs(bytes) {
        assert!(spent.len() <= bytes.len());
        // An output takes eight bytes of value and one of script length at least.
        assert!(spent.iter().map(Vec::len).sum::<usize>() * 9 <= bytes.len());
    }
}
