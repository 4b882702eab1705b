/// Wait after the first failure, milliseconds.
const FIRST_MS: i64 = 5_000;
/// Longest wait, milliseconds.
const LONGEST_MS: i64 = 6 * 3_600_000;

/// Milliseconds until the next attempt after so many failures in a row: twice as long after each, from 5 seconds to 6 hours, of
/// which `random` takes away up to a half, so that endpoints that failed together do not come back together.
pub fn retry_after_ms(failures: u32, random: u64) -> i64 {
    let doublings = failures.saturating_sub(1).min(32);
    let whole = FIRST_MS.saturating_mul(1 << doublings).min(LONGEST_MS);
    let half = whole / 2;
    // Below 2^31, so it fits.
    whole - i64::try_from(random % half.unsigned_abs()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_from_seconds_to_hours_and_are_spread() {
        assert_eq!(retry_after_ms(1, 0), 5_000);
        assert_eq!(retry_after_ms(2, 0), 10_000);
        assert_eq!(retry_after_ms(3, 2_500), 17_500);
        assert_eq!(retry_after_ms(u32::MAX, 0), 6 * 3_600_000);
        for failures in 1..40 {
            for random in [0, 1, 12_345_678, u64::MAX] {
                let (wait, longest) = (retry_after_ms(failures, random), retry_after_ms(failures, 0));
                assert!(wait > longest / 2 - 1 && wait <= longest, "{failures} {random}: {wait}");
            }
        }
    }
}
