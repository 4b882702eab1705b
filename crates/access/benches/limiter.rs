//! The limiter at 1,000,000 keys: nanoseconds for one decision, both windows, keys in random order.
//!
//! Catches a lock that all requests share, a hash that is slow, and entries that do not fit a cache line.
//! `cargo bench -p paraffin-access --bench limiter`; `--test` runs a small one.

use std::hint::black_box;

use paraffin_access::{KeyId, Subject, WindowLimits, WindowTable};

const BAR_NANOSECONDS: f64 = 200.0;
const NOW: i64 = 1_700_000_000_000;

fn main() {
    let small = std::env::args().any(|argument| argument == "--test");
    let (keys, decisions, rounds) = if small { (1_000, 1_000, 3) } else { (1_000_000_u64, 1_000_000_u64, 50) };
    let table = WindowTable::default();
    let limits = WindowLimits { per_minute: Some(600), per_day: Some(50_000) };
    for key in 0..keys {
        table.admit(Subject::Key(KeyId(key.cast_signed())), limits, NOW);
    }
    // xorshift64: the order of keys must not be one that the processor foresees.
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut times = Vec::new();
    for _ in 0..rounds {
        let started = processor_nanoseconds();
        for _ in 0..decisions {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let key = KeyId((random % keys).cast_signed());
            black_box(table.admit(Subject::Key(black_box(key)), limits, NOW));
        }
        #[allow(clippy::cast_precision_loss)]
        times.push((processor_nanoseconds() - started) as f64 / decisions as f64);
    }
    times.sort_by(f64::total_cmp);
    // On a shared machine others empty the caches. A tenth of the rounds is enough to see what a decision costs; the
    // median stands beside it.
    let (undisturbed, median) = (times[times.len() / 10], times[times.len() / 2]);
    println!(
        "{{\"bar\":\"limiter\",\"value\":{undisturbed:.1},\"floor\":{BAR_NANOSECONDS},\"how\":\"ns per decision, {keys} keys in random order, one thread, processor time, the quickest tenth of {rounds} rounds of {decisions}; median {median:.1}\"}}"
    );
    println!(
        "quickest,tenth,median,slowest\n{:.1},{undisturbed:.1},{median:.1},{:.1}",
        times[0],
        times[times.len() - 1]
    );
    assert!(small || undisturbed <= BAR_NANOSECONDS, "{undisturbed:.1} ns for one decision");
}

/// Time that this thread has had a processor, so that what other programs take is not counted as ours.
fn processor_nanoseconds() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let on_processor = text.split_whitespace().next().and_then(|field| field.parse().ok());
    on_processor.expect("Linux tells the processor time of a thread")
}
