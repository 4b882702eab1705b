//! Callers with limits at all disturbed instances, and whether any window was granted more than it may be.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::checker::{self, Counts, Place};
use crate::support::http;
use crate::support::served::Numbers;

/// Limits of the keys, requests in a minute; the last one holds for the day.
pub(crate) const LIMITS: [u32; 5] = [2, 30, 120, 600, 3_000];
/// Length of the window of a key.
const fn length(key: usize) -> u64 {
    if key + 1 == LIMITS.len() { 86_400 } else { 60 }
}
/// Callers at the same time.
const CALLERS: usize = 3;
/// Pause of a caller between two requests.
const PAUSE: Duration = Duration::from_millis(5);
/// How long after a fault an instance may find out that it was cut off.
const NOTICED: u64 = 3;

/// A time in which some instances, as bits, may have had no Redis; in seconds since 1970.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Alone {
    instances: u8,
    from: u64,
    to: u64,
}

impl Alone {
    /// From `from` until now.
    pub(crate) fn since(from: u64, instances: u8) -> Self {
        Self { instances, from, to: now() + NOTICED }
    }
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// Grants by key and end of the window.
type Granted = BTreeMap<(usize, u64), u32>;

/// The callers.
pub(crate) struct Callers {
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Granted>>,
}

impl Callers {
    /// `paths` are those of keys with [`LIMITS`].
    pub(crate) fn start(places: &[Place], paths: &[String], counts: &Arc<Counts>, seed: u64) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let caller = |number: usize| {
            let addresses: Vec<String> = places.iter().map(|(address, _)| address.clone()).collect();
            let (paths, counts, over) = (paths.to_vec(), Arc::clone(counts), Arc::clone(&over));
            std::thread::spawn(move || {
                let mut numbers = Numbers::new(seed ^ (0xca11 + number as u64));
                let mut granted = Granted::new();
                while !over.load(Ordering::Relaxed) {
                    let address = &addresses[numbers.below(addresses.len() as u64) as usize];
                    let key = numbers.below(paths.len() as u64) as usize;
                    match call(address, &paths[key]) {
                        Told::Granted(window) => *granted.entry((key, window)).or_default() += 1,
                        Told::Limited | Told::Nothing => {}
                        Told::Refused => counts.refused(),
                        Told::Wrong(what) => counts.wrong(&what),
                    }
                    std::thread::sleep(PAUSE);
                }
                granted
            })
        };
        Self { threads: (0..CALLERS).map(caller).collect(), over }
    }

    /// Ends them and judges every window, where these were the times without Redis.
    pub(crate) fn end(self, alone: &[Alone], gateways: u32) -> Judged {
        self.over.store(true, Ordering::Relaxed);
        let mut granted = Granted::new();
        for (window, count) in self.threads.into_iter().flat_map(|thread| thread.join().unwrap()) {
            *granted.entry(window).or_default() += count;
        }
        judge(&granted, alone, gateways)
    }
}

/// What became of the windows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Judged {
    seen: u32,
    /// In which all that may be was granted.
    full: u32,
    /// In which some instance had no Redis for a time.
    alone: u32,
    /// In which more was granted than may be. None may.
    pub(crate) above: u32,
}

impl Judged {
    pub(crate) fn report(&self) -> Value {
        json!({ "seen": self.seen, "full": self.full, "alone": self.alone, "above": self.above })
    }
}

/// The limit, and a part of it for each instance that was alone in the window.
fn judge(granted: &Granted, alone: &[Alone], gateways: u32) -> Judged {
    let mut judged = Judged::default();
    for (&(key, end), &count) in granted {
        let (limit, from) = (LIMITS[key], end - length(key));
        let overlapping = alone.iter().filter(|alone| alone.from < end && alone.to >= from);
        let instances = overlapping.fold(0, |bits, alone| bits | alone.instances).count_ones();
        let bound = limit + instances * (limit / gateways).max(1);
        judged.seen += 1;
        judged.full += u32::from(count >= limit);
        judged.alone += u32::from(instances > 0);
        if count > bound {
            judged.above += 1;
            eprintln!("ABOVE: {count} of {limit}, {instances} instances alone, until {end}");
        }
    }
    judged
}

enum Told {
    /// Served; the end of the window in which it was counted.
    Granted(u64),
    /// 429, as it may be.
    Limited,
    /// 503, as it may be while the accounts are away.
    Refused,
    Nothing,
    Wrong(String),
}

fn call(address: &str, path: &str) -> Told {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "btc_getblockcount", "params": [] }).to_string();
    let headers = [("content-type", "application/json")];
    let Some(answer) = http::try_request(address, "POST", path, &headers, body.as_bytes()) else {
        return Told::Nothing;
    };
    let number = |name: &str| answer.header(name).and_then(|value| value.parse::<u64>().ok());
    let code =
        serde_json::from_slice(&answer.body).ok().and_then(|body: Value| Some(body["code"].as_str()?.to_owned()));
    match (answer.status, code.as_deref()) {
        (200, None) if number("x-ratelimit-reset").is_some() => Told::Granted(number("x-ratelimit-reset").unwrap()),
        (429, Some("RATE_LIMITED")) if number("retry-after").is_some() => Told::Limited,
        _ if checker::is_refusal(&answer) => Told::Refused,
        _ => Told::Wrong(format!("HTTP {} {}", answer.status, answer.text())),
    }
}

#[test]
fn a_window_above_its_bound_is_found() {
    let minute = |number: u64| number * 60;
    let alone = [Alone { instances: 0b011, from: minute(10) - 5, to: minute(10) + 5 }];
    let judged = |key: usize, end: u64, count: u32| judge(&Granted::from([((key, end), count)]), &alone, 3);
    // No instance was alone in the minute before.
    assert_eq!(judged(1, minute(9), 30).above, 0);
    assert_eq!(judged(1, minute(9), 31).above, 1);
    // Two were in these, and each may grant a third.
    for end in [minute(10), minute(11)] {
        assert_eq!((judged(1, end, 50).above, judged(1, end, 51).above), (0, 1));
        assert_eq!((judged(0, end, 4).above, judged(0, end, 5).above), (0, 1));
    }
    assert_eq!(judged(4, 86_400, 3_000 + 2_000), Judged { seen: 1, full: 1, alone: 1, above: 0 });
}
