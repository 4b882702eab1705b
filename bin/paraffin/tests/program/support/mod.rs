//! What the end-to-end tests share: the program as a child process, a plain HTTP client, and real nodes.
//!
//! Every test binary uses another part of it.
#![allow(dead_code, unreachable_pub)]
// A failed `unwrap` fails the test, and calls read better with `json!` values given away.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

pub mod bitcoind;
pub mod browser;
pub mod dev;
pub mod devnet;
pub mod http;
pub mod instance;
pub mod node;
pub mod page;
pub mod process;
pub mod protobuf;
pub mod proxy;
pub mod relay;
pub mod served;

use std::time::{Duration, Instant};

pub use paraffin_testkit::free_port;

/// Polls until `check` gives a value; panics with `what` after `limit`.
pub fn wait_for<T>(what: &str, limit: Duration, mut check: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(value) = check() {
            return value;
        }
        assert!(started.elapsed() < limit, "timed out after {limit:?} waiting for: {what}");
        std::thread::sleep(Duration::from_millis(25));
    }
}
