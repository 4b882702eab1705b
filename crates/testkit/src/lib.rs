//! What tests of several rooms need of the machine they run on. Tests alone import this room.
#![forbid(unsafe_code)]

mod nats;
mod ports;
mod postgres;
mod programs;
mod redis;
mod signal;

pub use nats::NatsServer;
pub use ports::free_port;
pub use postgres::PostgresServer;
pub use programs::{bitcoind, in_ci, installed, left_out};
pub use redis::RedisServer;
