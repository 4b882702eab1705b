//! Support for tests of counts by the day.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Length of a day of UTC, seconds.
const DAY: u64 = 86_400;

/// Waits for the next day of UTC where this one ends within `seconds`, so that a test may check exact counts of the day.
pub fn wait_out_midnight(seconds: u64) {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let left = DAY - since.as_secs() % DAY;
    if left <= seconds {
        std::thread::sleep(Duration::from_secs(left + 1));
    }
}
