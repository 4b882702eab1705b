//! An EVM endpoint with one pool of wrapped bitcoin and dollars, so that prices have the same source as in production: JSON-RPC over
//! HTTP and contract calls.
//!
//! The chain begins 400 days before the Bitcoin chain, has a block every 12 seconds and ends at the clock. The price walks at random from
//! the seed; the same seed gives the same prices at the same times, whenever the endpoint was started. Every block can be queried,
//! unless [`EvmOptions::archive_blocks`] forgets old ones as a pruned node does.

mod abi;
mod answers;
mod server;
mod walk;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::{DevnetError, listen};
use answers::Answers;
use walk::Walk;

/// The chain that the endpoint claims to serve: that of the real pool.
pub const EVM_CHAIN_ID: u64 = 1;
/// The pool, at the address of the real one.
pub const EVM_POOL: [u8; 20] = *b"\x99\xac\x8c\xa7\x08\x7f\xa4\xa2\xa1\xfb\x63\x57\x26\x99\x65\xa2\x01\x4a\xbc\x35";
/// The bitcoin token of the pool, at the address of the real one; 8 decimals.
pub const EVM_BITCOIN_TOKEN: [u8; 20] =
    *b"\x22\x60\xfa\xc5\xe5\x54\x2a\x77\x3a\xa4\x4f\xbc\xfe\xdf\x7c\x19\x3b\xc2\xc5\x99";
/// The dollar token of the pool, at the address of the real one; 6 decimals.
pub const EVM_USD_TOKEN: [u8; 20] =
    *b"\xa0\xb8\x69\x91\xc6\x21\x8b\x36\xc1\xd1\x9d\x4a\x2e\x9e\xb0\xce\x36\x06\xeb\x48";

/// What kind of endpoint to start.
#[derive(Clone)]
pub struct EvmOptions {
    /// Decides the prices.
    pub seed: u64,
    /// Where it is served; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Unix seconds; the newest block is the last one that began before.
    pub clock: Arc<dyn Fn() -> u64 + Send + Sync>,
    /// For how many blocks behind the newest the state of contracts is available; `None`: all.
    pub archive_blocks: Option<u64>,
}

impl EvmOptions {
    /// On a free port of this machine, with every block.
    pub fn new(seed: u64, clock: Arc<dyn Fn() -> u64 + Send + Sync>) -> Self {
        Self { seed, listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), clock, archive_blocks: None }
    }
}

/// A running endpoint. Dropping it stops it as well, without waiting.
#[derive(Debug)]
pub struct EvmEndpoint {
    address: SocketAddr,
    answers: Arc<Answers>,
    stop: watch::Sender<bool>,
    task: Option<JoinHandle<()>>,
}

impl EvmEndpoint {
    /// Makes the prices and answers.
    ///
    /// # Errors
    /// The address cannot be listened on.
    pub async fn start(options: EvmOptions) -> Result<Self, DevnetError> {
        let (listener, address) = listen(options.listen).await?;
        let answers = Arc::new(Answers::new(Walk::new(options.seed), options.clock, options.archive_blocks));
        let (stop, stopping) = watch::channel(false);
        let task = tokio::spawn(server::serve(listener, Arc::clone(&answers), stopping));
        Ok(Self { address, answers, stop, task: Some(task) })
    }

    /// `http://host:port` of the endpoint.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// US dollars for one bitcoin in the pool at a time, Unix seconds.
    pub fn dollars_at(&self, time: u64) -> f64 {
        self.answers.dollars_at(time)
    }

    /// US dollars for one bitcoin, the geometric mean over the `seconds` before a time.
    pub fn mean_dollars_at(&self, time: u64, seconds: u64) -> f64 {
        self.answers.mean_dollars_at(time, seconds)
    }

    /// US dollars that were traded in the pool from one time to another, Unix seconds.
    pub fn traded_dollars(&self, from: u64, to: u64) -> f64 {
        self.answers.traded_dollars(from, to)
    }

    /// Requests answered so far.
    pub fn requests(&self) -> u64 {
        self.answers.requests()
    }

    /// Stops answering; returns when it has ended.
    pub async fn shutdown(mut self) {
        let _ = self.stop.send(true);
        if let Some(task) = self.task.take() {
            let _ = task.await;
        }
    }
}

impl Drop for EvmEndpoint {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
    }
}
