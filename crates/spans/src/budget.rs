use std::time::Instant;

use parking_lot::Mutex;

/// Token bucket of spans: so many a second, and as many saved for a burst.
#[derive(Debug)]
pub(crate) struct Budget {
    per_second: f64,
    burst: f64,
    left: Mutex<(f64, Instant)>,
}

impl Budget {
    pub(crate) fn new(per_second: f64, burst: f64, now: Instant) -> Self {
        Self { per_second, burst, left: Mutex::new((burst, now)) }
    }

    /// Takes one, if afterwards the share `reserve` of a burst is left.
    pub(crate) fn take(&self, reserve: f64, now: Instant) -> bool {
        let mut state = self.left.lock();
        let (left, since) = *state;
        let left = (left + now.saturating_duration_since(since).as_secs_f64() * self.per_second).min(self.burst);
        let is_granted = left - 1.0 >= self.burst * reserve;
        *state = (if is_granted { left - 1.0 } else { left }, now.max(since));
        is_granted
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_second_gives_so_many_and_a_reserve_is_left() {
        let start = Instant::now();
        let budget = Budget::new(100.0, 100.0, start);
        let taken = |reserve, at| (0..1_000).filter(|_| budget.take(reserve, at)).count();
        assert_eq!(taken(0.5, start), 50);
        assert_eq!(taken(0.0, start), 50);
        let later = start + Duration::from_millis(250);
        assert_eq!((taken(0.5, later), taken(0.0, later)), (0, 25));
        assert_eq!(taken(0.0, start + Duration::from_hours(1)), 100);
        // A clock that goes back adds no tokens.
        assert_eq!(taken(0.0, start), 0);
    }
}
