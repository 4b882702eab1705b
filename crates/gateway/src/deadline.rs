//! Time limits. A future that is ready at once, as most answers are, sets no timer.

use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{Instant, Sleep};

/// The time has run out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Elapsed;

/// `future`, if it ends within `time`. Without time left it is not polled.
pub(crate) async fn within<T>(time: Duration, future: impl Future<Output = T>) -> Result<T, Elapsed> {
    if time.is_zero() {
        return Err(Elapsed);
    }
    let mut future = pin!(future);
    match at_once(future.as_mut()).await {
        Some(output) => Ok(output),
        // Boxed, so that the future stays small where no timer is needed.
        None => Box::pin(tokio::time::timeout(time, future)).await.map_err(|_| Elapsed),
    }
}

async fn at_once<T>(mut future: Pin<&mut impl Future<Output = T>>) -> Option<T> {
    std::future::poll_fn(move |context| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// A timer that is reset again and again to the same duration. Resetting it to a later time touches no state that connections
/// share, unlike a new timer for each request.
#[derive(Default)]
pub(crate) struct SteadyTimer(Mutex<Option<Pin<Box<Sleep>>>>);

impl SteadyTimer {
    /// `future`, if it ends within `time`. Concurrent calls are allowed; one of them then creates its own timer.
    pub(crate) async fn within<T>(&self, time: Duration, future: impl Future<Output = T>) -> Result<T, Elapsed> {
        let mut future = pin!(future);
        if let Some(output) = at_once(future.as_mut()).await {
            return Ok(output);
        }
        let deadline = Instant::now() + time;
        let mut timer = match self.0.lock().take() {
            Some(mut timer) => {
                timer.as_mut().reset(deadline);
                timer
            }
            None => Box::pin(tokio::time::sleep_until(deadline)),
        };
        let outcome = std::future::poll_fn(|context| match future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending => timer.as_mut().poll(context).map(|()| Err(Elapsed)),
        })
        .await;
        *self.0.lock() = Some(timer);
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_has_no_time_left_is_not_begun() {
        let mut is_begun = false;
        assert_eq!(within(Duration::ZERO, async { is_begun = true }).await, Err(Elapsed));
        assert!(!is_begun);
    }

    #[tokio::test]
    async fn what_is_ready_is_answered_and_what_is_not_is_given_up_in_time() {
        let short = Duration::from_millis(30);
        let timer = SteadyTimer::default();
        for _ in 0..3 {
            assert_eq!(within(Duration::from_nanos(1), async { 1 }).await, Ok(1));
            assert_eq!(timer.within(Duration::ZERO, async { 1 }).await, Ok(1));
            let started = Instant::now();
            assert_eq!(within(short, std::future::pending::<()>()).await, Err(Elapsed));
            assert_eq!(timer.within(short, std::future::pending::<()>()).await, Err(Elapsed));
            assert!(started.elapsed() >= 2 * short && started.elapsed() < 50 * short, "{:?}", started.elapsed());
            let later = || tokio::time::sleep(short);
            assert_eq!(within(100 * short, later()).await, Ok(()));
            assert_eq!(timer.within(100 * short, later()).await, Ok(()));
        }
        let (one, other) = tokio::join!(
            timer.within(short, std::future::pending::<()>()),
            timer.within(2 * short, std::future::pending::<()>())
        );
        assert_eq!((one, other), (Err(Elapsed), Err(Elapsed)));
    }
}
