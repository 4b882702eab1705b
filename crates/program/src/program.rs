//! What stands above the commands: the version of the program, and its surfaces.

use std::sync::Arc;

use paraffin_cryptoswap::PoolRules;
use paraffin_electrum::ElectrumSettings;
use paraffin_forex::Board;
use paraffin_gateway::{KeyedHandler, ListenerParts, Surfaces};
use paraffin_mempool::Mempool;
use paraffin_orderbook::Orderbook;
use paraffin_verify::Verifier;

/// A program: its version and its surfaces. This crate names no surface, so that a change of one does not compile the commands anew.
#[derive(Clone, Copy)]
pub struct Program {
    /// Version and commit, as `--version` prints them.
    pub version: &'static str,
    /// The surfaces, with the documents about them.
    pub surfaces: &'static Surfaces,
    /// Makes the handlers of the surfaces below a key that an instance has.
    pub keyed: fn(KeyedSources) -> Vec<KeyedHandler>,
    /// Makes the listener of the Electrum protocol.
    pub electrum: fn(ElectrumSettings, Arc<Mempool>) -> Box<dyn ListenerParts>,
}

/// What the surfaces below a key read from; what an instance does not have is absent.
pub struct KeyedSources {
    /// The rates between currencies.
    pub forex: Arc<Board>,
    /// Which pools may be in routes.
    pub pools: PoolRules,
    /// Whether the Electrum protocol is spoken over WebSocket.
    pub electrum: bool,
    /// The live set of unconfirmed transactions.
    pub mempool: Option<Arc<Mempool>>,
    /// The book of orders.
    pub orderbook: Option<Arc<Orderbook>>,
    /// The verification of sources.
    pub verifier: Option<Arc<Verifier>>,
}
