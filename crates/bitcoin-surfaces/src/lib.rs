//! What an instance answers about Bitcoin: methods of the node, Esplora, `ord`, BRC-20, the live mempool, the rollback endpoint and the
//! Electrum protocol.
//!
//! Invariant: a surface holds no rule of the data that it serves.
#![forbid(unsafe_code)]

mod btc;
mod electrum;
pub mod esplora;
mod esplora_http;
pub mod handlers;
mod mempool;
mod node_cost;
pub mod opi;
mod ord;
mod reorg;

pub use btc::BTC;
pub use electrum::ElectrumParts;
pub use electrum::SURFACE as ELECTRUM;
pub use esplora_http::SURFACE as ESPLORA_HTTP;
pub use mempool::SURFACE as MEMPOOL;
pub use ord::ORD;
pub use reorg::SURFACE as REORG;
