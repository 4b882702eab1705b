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
    // xorshift64: the processor must not be able to predict the order of keys.
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
    let mut sorted = times.clone();
    sorted.sort_by(f64::total_cmp);
    let median = sorted[sorted.len() / 2];
    println!(
        "{{\"bar\":\"limiter\",\"value\":{median:.1},\"at_most\":{BAR_NANOSECONDS},\"how\":\"ns per decision, {keys} keys in random order, one thread, processor time, median of {rounds} rounds of {decisions}\"}}"
    );
    println!("round,nanoseconds");
    for (round, nanoseconds) in (1..).zip(&times) {
        println!("{round},{nanoseconds:.1}");
    }
}

/// Time that this thread has had a processor, so that what other programs take is not counted as ours.
fn processor_nanoseconds() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let on_processor = text.split_whitespace().next().and_then(|field| field.parse().ok());
    on_processor.expect("Linux reports the processor time of a thread")
}
