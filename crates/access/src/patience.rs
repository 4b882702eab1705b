//! How long a request waits for the store, on a machine that may have no processor for either of them.

use std::pin::pin;
use std::time::{Duration, Instant};

/// A timer that is so late says that this process had no processor meanwhile, and nothing about the store.
const LATE: Duration = Duration::from_millis(50);
/// How often the wait begins anew for that reason.
const STARVED_MAX: usize = 4;

/// The answer, if it comes within `limit`. Time in which this process was not run does not count, a few times over.
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
    async fn a_process_that_did_not_run_asks_on() {
        let still = async {
            tokio::time::sleep(LIMIT / 4).await;
            // Nothing runs meanwhile, so that the timer is late.
            std::thread::sleep(LIMIT);
        };
        let answer = tokio::time::sleep(LIMIT + LIMIT / 2);
        assert_eq!(tokio::join!(within(LIMIT, answer), still).0, Some(()));
    }
}
