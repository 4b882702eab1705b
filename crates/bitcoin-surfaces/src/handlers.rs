//! Handlers of the surfaces below a key.

use std::sync::Arc;

use paraffin_gateway::surface::{HttpSurface, KeyedHandler};

use crate::{electrum, esplora_http, mempool, reorg};

/// Plain HTTP Esplora, for [`paraffin_gateway::KeyedSurface::Esplora`].
pub fn esplora() -> KeyedHandler {
    KeyedHandler { http: Some(Arc::new(esplora_http::EsploraHttp)), rpc: None }
}

/// The Electrum protocol over WebSocket, for [`paraffin_gateway::KeyedSurface::Electrum`].
pub fn electrum() -> KeyedHandler {
    KeyedHandler { http: Some(Arc::new(electrum::ElectrumHttp)), rpc: None }
}

/// The live set of unconfirmed transactions, for [`paraffin_gateway::KeyedSurface::Mempool`].
pub fn mempool(mempool: Arc<paraffin_mempool::Mempool>) -> KeyedHandler {
    let surface = Arc::new(mempool::MempoolSurface(mempool));
    KeyedHandler { http: Some(Arc::clone(&surface) as Arc<dyn HttpSurface>), rpc: Some(surface) }
}

/// The rollback endpoint, for [`paraffin_gateway::KeyedSurface::Reorg`].
pub fn reorg() -> KeyedHandler {
    KeyedHandler { http: Some(Arc::new(reorg::ReorgHttp)), rpc: Some(Arc::new(reorg::ReorgRpc)) }
}
