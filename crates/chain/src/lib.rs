//! Clients for a Bitcoin node and the follower that turns its chain into connect and disconnect events.
//!
//! Invariant: this crate depends on no module, and it refuses a reorg that it has not verified.
//!
//! # Connection to the node
//! [`NodeClient`] speaks JSON-RPC and, where the node serves it (`-rest=1`), REST. Missing routes have a fallback:
//!
//! | wanted | first choice | else |
//! |---|---|---|
//! | a block | `/rest/block/<hash>.bin` | `getblock` with verbosity 0 |
//! | part of a block | `/rest/blockpart/<hash>.bin?offset=&size=` (Bitcoin Core 31) | cut from the whole block |
//! | headers | `/rest/headers/<hash>.bin?count=` | batches of `getblockhash` and `getblockheader` |
//! | spent outputs | `/rest/spenttxouts/<hash>.bin` (Bitcoin Core 30) | none: modules look them up |
//!
//! A missing route is detected by its first answer and tried again after a reconnect. The node is not
//! trusted: headers and blocks are checked against the requested hash, answers are limited in size and time.
//!
//! # Following the chain
//! [`Follower`] verifies headers (link, proof of work, the retarget rule on mainnet) before it requests blocks, fetches blocks
//! ahead in parallel, and delivers them in order. It switches to another branch only when all headers of that
//! branch have been fetched and verified, its first blocks are ready, and
//!
//! 1. it has more work than the local branch above the fork, or
//! 2. the node has definitely dropped the local tip: it knows that block, counts -1 confirmations for it, and has connected
//!    every header that it knows (`blocks` equals `headers`). This is `invalidateblock`, after which a node's best chain may
//!    have less work than before. A node that is still catching up also counts -1 for blocks it has yet to connect, but its
//!    `headers` are ahead of its `blocks`, so the follower waits for it.
//!
//! A node whose best chain has less work for any other reason is behind; the follower waits and reports that in the status.
#![forbid(unsafe_code)]

mod block_check;
mod calls;
mod client;
mod config;
mod error;
mod follower;
mod headers;
mod http;
pub mod p2p;
mod plan;
mod prefetch;
mod rest;
mod rpc;
mod status;

pub use block_check::{BlockFault, CheckedBlock, check_block, spent_outputs_fit};
pub use calls::ChainInfo;
pub use client::NodeClient;
pub use config::{NodeAuth, NodeConfig};
pub use error::NodeError;
pub use follower::{ChainEvent, Follower, FollowerOptions, LocalChain};
pub use headers::{HeaderFault, HeaderVerifier};
pub use http::Keep;
pub use prefetch::FetchPeriod;
pub use rest::{decode_headers, decode_spent_outputs};
pub use status::NodeStatus;
