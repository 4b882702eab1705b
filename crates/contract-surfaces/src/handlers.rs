//! Handlers of the surfaces below a key.

use std::sync::Arc;

use paraffin_gateway::surface::KeyedHandler;

use crate::{espo, verify};

/// Analytics, for [`paraffin_gateway::KeyedSurface::Espo`].
pub fn espo() -> KeyedHandler {
    KeyedHandler { http: None, rpc: Some(Arc::new(espo::Espo::default())) }
}

/// Contracts and their sources, for [`paraffin_gateway::KeyedSurface::Explorer`].
pub fn verify(verifier: Arc<paraffin_verify::Verifier>) -> KeyedHandler {
    KeyedHandler { http: Some(Arc::new(verify::VerifyHttp(verifier))), rpc: None }
}
