//! Contract code travels as gzip (protocol B7, B8).

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

/// The most that code may unpack to, in bytes: below 1 GiB, where the growing buffer of the reference reaches the end of what
/// its 32-bit machine can allocate at once (decision 0011).
pub const CODE_LEN_MAX_BYTES: usize = (1 << 30) - 1;

/// An error of unpacking code.
#[derive(Debug, thiserror::Error)]
pub enum GzipError {
    /// Not gzip, cut short, or the checksum differs.
    #[error("the code is not whole gzip data: {0}")]
    Malformed(#[source] std::io::Error),
    /// More than the limit.
    #[error("the code unpacks to more than {limit_bytes} bytes")]
    TooLarge {
        /// The limit that was given.
        limit_bytes: usize,
    },
}

/// Unpacks one gzip member and checks its checksum; bytes behind it are ignored (protocol B7).
///
/// Memory stays within twice the limit, whatever the data claims.
///
/// # Errors
/// The data is malformed, or unpacks to more than `limit_bytes`.
pub fn gunzip(packed: &[u8], limit_bytes: usize) -> Result<Vec<u8>, GzipError> {
    let mut code = Vec::new();
    // One byte beyond the limit distinguishes "too large" from "just fits", and lets what just fits reach its checksum.
    let unpacked_max = (limit_bytes as u64).saturating_add(1);
    GzDecoder::new(packed).take(unpacked_max).read_to_end(&mut code).map_err(GzipError::Malformed)?;
    if code.len() > limit_bytes {
        return Err(GzipError::TooLarge { limit_bytes });
    }
    Ok(code)
}

/// Packs code as small as gzip can; the same bytes each time.
pub fn gzip(code: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let packed = encoder.write_all(code).and_then(|()| encoder.finish());
    packed.expect("writing to memory does not fail")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_limit_is_exact() {
        let packed = gzip(&[7; 1000]);
        assert_eq!(gunzip(&packed, 1000).unwrap(), [7; 1000]);
        assert!(matches!(gunzip(&packed, 999), Err(GzipError::TooLarge { limit_bytes: 999 })));
        assert!(matches!(gunzip(&gzip(&[]), 0), Ok(empty) if empty.is_empty()));
    }

    #[test]
    fn a_bomb_is_stopped_at_the_limit() {
        let bomb = gzip(&vec![0; 32 << 20]);
        assert!(bomb.len() < 40_000, "{}", bomb.len());
        assert!(matches!(gunzip(&bomb, 1 << 20), Err(GzipError::TooLarge { .. })));
    }

    #[test]
    fn checksum_and_length_are_checked_and_a_cut_is_noticed() {
        let packed = gzip(b"some code");
        for index in packed.len() - 8..packed.len() {
            let mut spoiled = packed.clone();
            spoiled[index] ^= 1;
            assert!(matches!(gunzip(&spoiled, 100), Err(GzipError::Malformed(_))), "byte {index}");
        }
        for len in 0..packed.len() {
            assert!(matches!(gunzip(&packed[..len], 100), Err(GzipError::Malformed(_))), "cut at {len}");
        }
    }

    #[test]
    fn one_member_is_read_and_bytes_behind_it_are_ignored() {
        let twice = [gzip(b"first"), gzip(b"second")].concat();
        assert_eq!(gunzip(&twice, 100).unwrap(), b"first");
        let garbage = [&gzip(b"first")[..], &[0xff; 9]].concat();
        assert_eq!(gunzip(&garbage, 100).unwrap(), b"first");
    }

    proptest! {
        #[test]
        fn code_round_trips_and_packs_the_same_each_time(code: Vec<u8>) {
            let packed = gzip(&code);
            prop_assert_eq!(&packed, &gzip(&code));
            prop_assert_eq!(gunzip(&packed, code.len()).unwrap(), code);
        }

        #[test]
        fn arbitrary_bytes_never_panic_and_stay_within_the_limit(bytes: Vec<u8>) {
            let opened = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff][..], &bytes].concat();
            for packed in [bytes, opened] {
                prop_assert!(gunzip(&packed, 64).map_or(0, |code| code.len()) <= 64);
            }
        }
    }
}
