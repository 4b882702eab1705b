//! Timeout of a query of the store, extended when this process itself was not scheduled.

use std::pin::pin;
use std::time::{Duration, Instant};

/// A timer that is late by this much shows that this process was not scheduled; it does not show that the store is slow.
const LATE: Duration = Duration::from_millis(50);
/// How often the wait is restarted for that reason.
const STARVED_MAX: usize = 4;

/// The answer, if it comes within `limit`. Time in which this process was not scheduled does not count, up to a few restarts.
pub(crate) async fn within<T>(limit: Duration, question: impl Future<Output = T>) -> Option<T> {
    let mut question = pin!(question);
    for _ in 0..=STARVED_MAX {
        let began = Instant::now();
        match tokio::time::timeout(limit, question.as_mut()).await {
            Ok(answer) => return Some(answer),
            Err(_) if began.elapsed() > limit + LATE => {}
            Err(_) => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_millis(400);

    #[tokio::test]
    async fn a_silent_store_has_its_time_and_no_more() {
        let began = Instant::now();
        assert_eq!(within(LIMIT, std::future::pending::<()>()).await, None);
        assert!(began.elapsed() >= LIMIT);
    }

    #[tokio::test]
    async fn a_process_that_was_not_scheduled_waits_on() {
        let still = async {
            tokio::time::sleep(LIMIT / 4).await;
            // Nothing runs meanwhile, so that the timer is late.
            std::thread::sleep(LIMIT);
        };
        let answer = tokio::time::sleep(LIMIT + LIMIT / 2);
        assert_eq!(tokio::join!(within(LIMIT, answer), still).0, Some(()));
    }
}
