//! The limiter at 1,000,000 keys: nanoseconds for one decision, both windows, keys in random order.
//!
//! Catches a lock that all requests share, a hash that is slow, and entries that do not fit a cache line.
//! `cargo bench -p paraffin-access --bench limiter`; `--test` runs a small one.

use std::hint::black_box;
use std::time::Instant;

use paraffin_access::{KeyId, Subject, WindowLimits, WindowTable};

const BAR_NANOSECONDS: f64 = 200.0;
const NOW: i64 = 1_700_000_000_000;

fn main() {
    let small = std::env::args().any(|argument| argument == "--test");
    let (keys, rounds) = if small { (1_000, 1_000) } else { (1_000_000_u64, 5_000_000_u64) };
    let table = WindowTable::default();
    let limits = WindowLimits { per_minute: Some(600), per_day: Some(50_000) };
    for key in 0..keys {
        table.admit(Subject::Key(KeyId(key.cast_signed())), limits, NOW);
    }
    // xorshift64: the order of keys must not be one that the processor foresees.
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut times = Vec::new();
    for _ in 0..5 {
        let started = Instant::now();
        for _ in 0..rounds {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let key = KeyId((random % keys).cast_signed());
            black_box(table.admit(Subject::Key(black_box(key)), limits, NOW));
        }
        #[allow(clippy::cast_precision_loss)]
        times.push(started.elapsed().as_nanos() as f64 / rounds as f64);
    }
    // The machine may be shared: the quickest round is the one that others disturbed least.
    let best = times.into_iter().fold(f64::INFINITY, f64::min);
    println!(
        "{{\"bar\":\"limiter\",\"value\":{best:.1},\"floor\":{BAR_NANOSECONDS},\"how\":\"ns per decision, {keys} keys in random order, one thread, best of 5\"}}"
    );
    assert!(small || best <= BAR_NANOSECONDS, "{best:.1} ns for one decision");
}
