//! What tests of several crates need of the machine that they run on. Only tests import it.
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
