//! Queues of clients without credentials that wait for their turn; turns of clients that disconnect are passed on.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use paraffin_access::{ClientNet, ThrottleSettings, Windows};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::state::unix_millis;

/// The requests of each client that wait in this process. Bounded by the connections that are open.
///
/// A turn is a point in time that the windows have granted. When a client disconnects before its turn, each request of
/// the same client behind it moves up by one turn, and only the last turn goes back to the windows: so no request is overtaken,
/// and no more is served than the windows have given.
#[derive(Default)]
pub(crate) struct WaitingLines {
    lines: Mutex<HashMap<ClientNet, Line>>,
    tickets: AtomicU64,
}

#[derive(Default)]
struct Line {
    /// Turns and their tickets, the next one first.
    turns: Vec<(Instant, u64)>,
    moved: Arc<Notify>,
}

/// One request in its line.
pub(crate) struct Waiter<'a> {
    lines: &'a WaitingLines,
    windows: &'a dyn Windows,
    settings: ThrottleSettings,
    client: ClientNet,
    ticket: u64,
}

impl WaitingLines {
    /// Enters a request whose turn comes in `wait`.
    pub(crate) fn enter<'a>(
        &'a self,
        windows: &'a dyn Windows,
        settings: ThrottleSettings,
        client: ClientNet,
        wait: Duration,
    ) -> Waiter<'a> {
        let turn = Instant::now() + wait;
        let ticket = self.tickets.fetch_add(1, Ordering::Relaxed);
        let mut lines = self.lines.lock();
        let line = lines.entry(client).or_default();
        let index = line.turns.partition_point(|(other, _)| *other <= turn);
        line.turns.insert(index, (turn, ticket));
        Waiter { lines: self, windows, settings, client, ticket }
    }

    #[cfg(test)]
    fn is_empty(&self) -> bool {
        self.lines.lock().is_empty()
    }
}

impl Waiter<'_> {
    /// Waits for the turn. A future that is dropped early leaves the queue, and the requests behind it move up.
    pub(crate) async fn turn(self) {
        loop {
            let (turn, moved) = {
                let lines = self.lines.lines.lock();
                let Some(line) = lines.get(&self.client) else { return };
                let Some((turn, _)) = line.turns.iter().find(|(_, ticket)| *ticket == self.ticket) else { return };
                (*turn, Arc::clone(&line.moved).notified_owned())
            };
            // `notified_owned` counts from its creation, under the lock: no move in between is missed.
            tokio::select! {
                () = tokio::time::sleep_until(turn) => break,
                () = moved => {}
            }
        }
        self.leave(true);
    }

    fn leave(&self, served: bool) {
        let mut lines = self.lines.lines.lock();
        let Some(line) = lines.get_mut(&self.client) else { return };
        let Some(index) = line.turns.iter().position(|(_, ticket)| *ticket == self.ticket) else { return };
        if !served {
            for behind in (index + 1..line.turns.len()).rev() {
                line.turns[behind].0 = line.turns[behind - 1].0;
            }
            line.moved.notify_waiters();
        }
        line.turns.remove(index);
        if line.turns.is_empty() {
            lines.remove(&self.client);
        }
        drop(lines);
        if !served {
            self.windows.give_back(self.client, self.settings, unix_millis());
        }
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.leave(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paraffin_access::{AccessFuture, Decision, Reservation, Subject, Throttle, UnixMillis, WindowLimits};

    const CLIENT: [u8; 4] = [192, 0, 2, 1];
    const STEP: Duration = Duration::from_millis(200);

    #[derive(Default)]
    struct Buckets(Throttle, Mutex<u32>);

    impl Windows for Buckets {
        fn admit(&self, _: Subject, _: WindowLimits, _: UnixMillis) -> AccessFuture<'_, Decision> {
            unreachable!("only callers without credentials wait")
        }

        fn reserve(
            &self,
            client: ClientNet,
            settings: ThrottleSettings,
            now: UnixMillis,
        ) -> AccessFuture<'_, Reservation> {
            Box::pin(std::future::ready(Ok(self.0.reserve(client, settings, now))))
        }

        fn give_back(&self, client: ClientNet, settings: ThrottleSettings, now: UnixMillis) {
            *self.1.lock() += 1;
            self.0.give_back(client, settings, now);
        }
    }

    /// row AU11
    #[tokio::test]
    async fn whoever_stands_behind_one_that_leaves_moves_up_and_the_last_turn_goes_back() {
        let (lines, windows) = (WaitingLines::default(), Buckets::default());
        let client = ClientNet::from(std::net::IpAddr::from(CLIENT));
        let enter = |steps: u32| lines.enter(&windows, ThrottleSettings::default(), client, steps * STEP);
        let started = Instant::now();
        let (first, second, third, fourth) = (enter(1), enter(2), enter(3), enter(4));
        let turn = |waiter| async {
            Waiter::turn(waiter).await;
            started.elapsed()
        };
        let leaving = async {
            tokio::time::sleep(STEP / 2).await;
            drop(second);
        };
        let (first, third, fourth, ()) = tokio::join!(turn(first), turn(third), turn(fourth), leaving);
        let whole = |time: Duration| time.as_millis() / STEP.as_millis();
        assert_eq!([whole(first), whole(third), whole(fourth)], [1, 2, 3]);
        assert_eq!(*windows.1.lock(), 1, "one left, one turn went back");
        assert!(lines.is_empty());
    }

    #[tokio::test]
    async fn those_who_have_had_their_turn_give_nothing_back() {
        let (lines, windows) = (WaitingLines::default(), Buckets::default());
        let client = ClientNet::from(std::net::IpAddr::from(CLIENT));
        for _ in 0..3 {
            lines.enter(&windows, ThrottleSettings::default(), client, STEP / 10).turn().await;
        }
        assert_eq!(*windows.1.lock(), 0);
        assert!(lines.is_empty());
    }
}
