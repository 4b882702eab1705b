//! Handlers of the surfaces below a key.

use std::sync::Arc;

use paraffin_gateway::surface::{HttpSurface, KeyedHandler};

use crate::{electrum, esplora_http, mempool, reorg};

/// Plain HTTP Esplora.
pub fn esplora() -> KeyedHandler {
    KeyedHandler { surface: &esplora_http::SURFACE, http: Some(Arc::new(esplora_http::EsploraHttp)), rpc: None }
}

/// The Electrum protocol over WebSocket.
pub fn electrum() -> KeyedHandler {
    KeyedHandler { surface: &electrum::SURFACE, http: Some(Arc::new(electrum::ElectrumHttp)), rpc: None }
}

/// The live set of unconfirmed transactions.
pub fn mempool(mempool: Arc<paraffin_mempool::Mempool>) -> KeyedHandler {
    let handler = Arc::new(mempool::MempoolSurface(mempool));
    let http: Arc<dyn HttpSurface> = Arc::clone(&handler) as _;
    KeyedHandler { surface: &mempool::SURFACE, http: Some(http), rpc: Some(handler) }
}

/// The rollback endpoint.
pub fn reorg() -> KeyedHandler {
    KeyedHandler {
        surface: &reorg::SURFACE,
        http: Some(Arc::new(reorg::ReorgHttp)),
        rpc: Some(Arc::new(reorg::ReorgRpc)),
    }
}
