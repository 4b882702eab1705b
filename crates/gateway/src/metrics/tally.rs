//! Counts that every request raises: without a lock, without a look-up by labels, and without contention on
//! one cache line.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// Cells of one count; a thread keeps to one of them.
const CELLS: usize = 8;
/// Names of one kind; there are a dozen surfaces and families.
const NAMES_MAX: usize = 32;

/// A count, spread over cells that lie in cache lines of their own.
#[derive(Default)]
pub(super) struct Tally([AlignedCell; CELLS]);

#[derive(Default)]
#[repr(align(128))]
struct AlignedCell(AtomicU64);

impl Tally {
    pub(super) fn add(&self, count: u64) {
        self.0[own_cell()].0.fetch_add(count, Ordering::Relaxed);
    }

    /// Subtracts a count that was added on any thread: single cells may wrap, their sum does not.
    pub(super) fn take_away(&self, count: u64) {
        self.0[own_cell()].0.fetch_sub(count, Ordering::Relaxed);
    }

    pub(super) fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, cell| sum.wrapping_add(cell.0.load(Ordering::Relaxed)))
    }
}

fn own_cell() -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static CELL: Cell<usize> = const { Cell::new(CELLS) });
    CELL.with(|cell| {
        if cell.get() == CELLS {
            cell.set(THREADS.fetch_add(1, Ordering::Relaxed) % CELLS);
        }
        cell.get()
    })
}

/// Figures by a name out of a small closed set. Names beyond [`NAMES_MAX`] count together as `other`.
pub(super) struct ByName<T>([OnceLock<(&'static str, Box<T>)>; NAMES_MAX]);

impl<T> Default for ByName<T> {
    fn default() -> Self {
        Self([const { OnceLock::new() }; NAMES_MAX])
    }
}

impl<T: Default> ByName<T> {
    pub(super) fn of(&self, name: &'static str) -> &T {
        for slot in &self.0[..NAMES_MAX - 1] {
            let (taken, figures) = slot.get_or_init(|| (name, Box::default()));
            // Nearly always the same text at the same address.
            if std::ptr::eq(*taken, name) || *taken == name {
                return figures;
            }
        }
        &self.0[NAMES_MAX - 1].get_or_init(|| ("other", Box::default())).1
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, &T)> {
        self.0.iter().filter_map(OnceLock::get).map(|(name, figures)| (*name, figures.as_ref()))
    }
}

/// How long something took: upper ends of the buckets in microseconds, and as Prometheus writes them in seconds.
const BUCKETS: [(u64, &str); 12] = [
    (500, "0.0005"),
    (1_000, "0.001"),
    (2_500, "0.0025"),
    (5_000, "0.005"),
    (10_000, "0.01"),
    (25_000, "0.025"),
    (50_000, "0.05"),
    (100_000, "0.1"),
    (500_000, "0.5"),
    (1_000_000, "1"),
    (5_000_000, "5"),
    (30_000_000, "30"),
];

#[derive(Default)]
pub(super) struct Latency {
    /// By bucket; the last one has no upper end.
    counts: [Tally; BUCKETS.len() + 1],
    micros: Tally,
}

impl Latency {
    pub(super) fn record(&self, elapsed: Duration) {
        let micros = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
        let bucket = BUCKETS.iter().position(|(end, _)| micros <= *end).unwrap_or(BUCKETS.len());
        self.counts[bucket].add(1);
        self.micros.add(micros);
    }

    /// Appends the lines of one histogram in Prometheus's text form.
    pub(super) fn render(&self, out: &mut String, name: &str, label: &str) {
        use std::fmt::Write as _;
        let mut count = 0;
        let ends = BUCKETS.iter().map(|(_, end)| *end).chain(["+Inf"]);
        // Writing to a string cannot fail.
        for (end, tally) in ends.zip(&self.counts) {
            count += tally.total();
            let _ = writeln!(out, "{name}_bucket{{{label},le=\"{end}\"}} {count}");
        }
        let micros = self.micros.total();
        let _ = writeln!(out, "{name}_sum{{{label}}} {}.{:06}", micros / 1_000_000, micros % 1_000_000);
        let _ = writeln!(out, "{name}_count{{{label}}} {count}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_exact_whatever_the_threads() {
        let tally = Tally::default();
        std::thread::scope(|scope| {
            for _ in 0..20 {
                scope.spawn(|| (0..1_000).for_each(|_| tally.add(2)));
            }
        });
        // Subtracted on this thread, whose cell may hold less.
        tally.take_away(39_999);
        assert_eq!(tally.total(), 1);
    }

    #[test]
    fn names_beyond_the_limit_count_as_other_and_none_is_lost() {
        let by_name = ByName::<Tally>::default();
        let names: Vec<&'static str> = (0..40).map(|number| &*format!("name{number}").leak()).collect();
        for name in names.iter().chain(&names) {
            by_name.of(name).add(1);
        }
        assert_eq!(by_name.iter().find(|(name, _)| *name == "name0").unwrap().1.total(), 2);
        assert_eq!(by_name.iter().find(|(name, _)| *name == "other").unwrap().1.total(), 2 * 9);
        assert_eq!(by_name.iter().map(|(_, tally)| tally.total()).sum::<u64>(), 80);
    }

    #[test]
    fn a_histogram_is_cumulative_and_its_ends_belong_to_their_bucket() {
        let latency = Latency::default();
        for micros in [499, 500, 501, 30_000_001] {
            latency.record(Duration::from_micros(micros));
        }
        let mut text = String::new();
        latency.render(&mut text, "t", "surface=\"main\"");
        for line in [
            "t_bucket{surface=\"main\",le=\"0.0005\"} 2",
            "t_bucket{surface=\"main\",le=\"0.001\"} 3",
            "t_bucket{surface=\"main\",le=\"30\"} 3",
            "t_bucket{surface=\"main\",le=\"+Inf\"} 4",
            "t_sum{surface=\"main\"} 30.001501",
            "t_count{surface=\"main\"} 4",
        ] {
            assert!(text.lines().any(|written| written == line), "{line} in {text}");
        }
    }
}
