//! The devnet from outside: its rules by direct calls, its protocols over the network, and, where a `bitcoind` is at hand,
//! side by side with Bitcoin Core.
#![allow(clippy::unwrap_used, reason = "a test ends where an expectation fails")]

mod consensus;
mod core;
mod hostile;
mod inscribers;
mod market;
mod mempool;
mod p2p;
mod reorg;
mod rest;
mod rpc;
mod scenario;
mod support;
