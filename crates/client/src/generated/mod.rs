//! Types of every method and route, from their descriptions.
// Written from the declarations: docs/clients.md says how.

pub mod btcusd;
pub mod espo;
pub mod forex;
pub mod jsonrpc;
pub mod mempool;
pub mod reorg;
pub mod rest;
pub mod verification;
pub mod webhooks;
