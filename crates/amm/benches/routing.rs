//! Quotes of up to three hops over 1,000 pools: how many in a second on one core.
//!
//! Catches: trying every route, or every pool for each hop, where the pools between what is reached and what leads to the end
//! are enough; wide numbers where narrow ones hold the same product. The answers are compared with trying every route.
//! `cargo bench -p paraffin-amm --bench routing`; `--test` runs a small one.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss)] // a bench stops at the first failure and rounds its figures

use std::collections::HashMap;
use std::hint::black_box;

use paraffin_amm::routing::{Fees, Graph, RoutePool, amount_out};
use paraffin_primitives::AlkaneId;

const BAR_PER_SECOND: f64 = 2_000.0;
const POOLS: usize = 1_000;
/// Alkanes; the first are in many pools, as the few are that everything is traded against.
const TOKENS: u64 = 250;
const HUBS: u64 = 6;
/// Pools of hubs among all.
const HUB_POOLS_PER_100: u64 = 40;

fn main() {
    let small = std::env::args().any(|argument| argument == "--test");
    let (quotes, compared, rounds) = if small { (200, 10, 1) } else { (4_000, 200, 15) };
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let pools = pools(&mut random);
    let graph = Graph::new(pools.clone());
    let asked: Vec<(AlkaneId, AlkaneId, u128)> = (0..quotes)
        .map(|_| {
            let from = random.below(TOKENS);
            let to = (from + 1 + random.below(TOKENS - 1)) % TOKENS;
            (id(from), id(to), 1_000 + u128::from(random.below(1 << 34)))
        })
        .collect();

    let every = Every::new(&pools);
    let started = processor_nanoseconds();
    for (from, to, amount) in &asked[..compared] {
        let best = every.best(*from, *to, *amount);
        let found = graph.exact_in(*from, *to, *amount, Fees::Pool, 3).map_or(0, |route| route.amount_out());
        assert_eq!(found, best, "{from} to {to}");
    }
    let tried = (processor_nanoseconds() - started) as f64 / compared as f64;

    let (mut answered, mut long) = (0, 0);
    let mut times = Vec::new();
    for _ in 0..rounds {
        (answered, long) = (0, 0);
        let started = processor_nanoseconds();
        for (number, (from, to, amount)) in asked.iter().enumerate() {
            // In turns by what goes in and by what comes out.
            let route = if number % 2 == 0 {
                graph.exact_in(*from, *to, *amount, Fees::Pool, 3)
            } else {
                graph.exact_out(*from, *to, *amount, Fees::Pool, 3)
            };
            answered += usize::from(route.is_some());
            long += usize::from(black_box(route).is_some_and(|route| route.hops.len() == 3));
        }
        times.push((processor_nanoseconds() - started) as f64 / f64::from(quotes));
    }
    times.sort_by(f64::total_cmp);
    let median = times[times.len() / 2];
    let per_second = 1e9 / median;

    let cycles = if small { HUBS } else { HUBS * 50 };
    let mut profitable = 0;
    let started = processor_nanoseconds();
    for number in 0..cycles {
        profitable += u32::from(black_box(graph.best_cycle(id(number % HUBS), Fees::Pool, 3)).is_some());
    }
    let cycle = (processor_nanoseconds() - started) as f64 / cycles as f64 / 1e6;
    assert!(profitable > 0);
    println!(
        "{{\"bar\":\"routing\",\"value\":{per_second:.0},\"at_least\":{BAR_PER_SECOND},\"microseconds\":{:.1},\"times_every_route\":{:.1},\"cycle_ms\":{cycle:.2},\"how\":\"quotes a second on one core, up to three hops, {POOLS} pools of {TOKENS} alkanes, in turns by what goes in and by what comes out, processor time, median of {rounds} rounds of {quotes}; {answered} of them had a route, {long} of three hops; {:.0} times as fast as trying every route, whose answers are the same; the best cycle through an alkane of many pools {cycle:.2} ms\"}}",
        median / 1_000.0,
        tried / median,
        tried / median
    );
}

fn id(number: u64) -> AlkaneId {
    AlkaneId { block: 2, tx: u128::from(number) }
}

/// Pools of every size whose prices nearly agree: each alkane has a worth, and a pool is off by up to 4 % of it.
fn pools(random: &mut Random) -> Vec<RoutePool> {
    let worth: Vec<u64> = (0..TOKENS).map(|_| 1 << random.below(16)).collect();
    let mut pairs = std::collections::BTreeSet::new();
    let mut pools = Vec::new();
    while pools.len() < POOLS {
        let is_of_hub = random.below(100) < HUB_POOLS_PER_100;
        let first = random.below(if is_of_hub { HUBS } else { TOKENS });
        let second = random.below(TOKENS);
        let pair = (first.min(second), first.max(second));
        if first == second || !pairs.insert(pair) {
            continue;
        }
        let size = 1_u128 << (30 + random.below(20));
        let mut held = |token: u64| {
            let percent = u128::from(98 + random.below(5));
            size * percent / 100 * 1_024 / u128::from(worth[token as usize])
        };
        pools.push(RoutePool {
            id: AlkaneId { block: 4, tx: pools.len() as u128 },
            tokens: [id(pair.0), id(pair.1)],
            reserves: [held(pair.0), held(pair.1)],
            fee_per_1000: 10,
        });
    }
    pools
}

/// The other way: every route, one after the other.
struct Every<'p> {
    of: HashMap<AlkaneId, Vec<(&'p RoutePool, usize)>>,
}

impl<'p> Every<'p> {
    fn new(pools: &'p [RoutePool]) -> Self {
        let mut of: HashMap<AlkaneId, Vec<(&RoutePool, usize)>> = HashMap::new();
        for (pool, index) in pools.iter().flat_map(|pool| [(pool, 0), (pool, 1)]) {
            of.entry(pool.tokens[index]).or_default().push((pool, index));
        }
        Self { of }
    }

    fn best(&self, from: AlkaneId, to: AlkaneId, amount: u128) -> u128 {
        self.go(&mut vec![from], to, amount)
    }

    fn go(&self, path: &mut Vec<AlkaneId>, to: AlkaneId, amount: u128) -> u128 {
        let here = path[path.len() - 1];
        if here == to {
            return amount;
        }
        let mut best = 0;
        for (pool, index) in self.of.get(&here).filter(|_| path.len() <= 3).into_iter().flatten() {
            let there = pool.tokens[1 - index];
            if path.contains(&there) {
                continue;
            }
            if let Some(out) = amount_out(pool, *index, amount, Fees::Pool) {
                path.push(there);
                best = best.max(self.go(path, to, out));
                path.pop();
            }
        }
        best
    }
}

/// xorshift64: the same pools and quotes in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }
}

/// Time that this thread has had a processor, so that what other programs take is not counted as ours.
fn processor_nanoseconds() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let on_processor = text.split_whitespace().next().and_then(|field| field.parse().ok());
    on_processor.expect("Linux reports the processor time of a thread")
}
