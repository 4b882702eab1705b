//! Support for tests of several crates: servers, programs, ports and files of the machine. Only tests import it.
#![forbid(unsafe_code)]

mod clock;
mod nats;
mod ports;
mod postgres;
mod programs;
mod redis;
mod signal;

pub use clock::wait_out_midnight;
pub use nats::NatsServer;
pub use ports::free_port;
pub use postgres::PostgresServer;
pub use programs::{
    bitcoind, in_ci, installed, long_tests, missing, ord, real_block, real_blocks, reference_program, shared, skipped,
};
pub use redis::RedisServer;

/// A small seeded generator of pseudo-random numbers.
#[derive(Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next number.
    #[allow(clippy::should_implement_trait, reason = "there is always one more")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// One below `bound`, which is not 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}
