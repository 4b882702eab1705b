//! Handlers of the surfaces below a key.

use std::sync::Arc;

use paraffin_gateway::surface::KeyedHandler;

use crate::{espo, verify};

/// Analytics.
pub fn espo() -> KeyedHandler {
    KeyedHandler { surface: &espo::SURFACE, http: None, rpc: Some(Arc::new(espo::Espo::default())) }
}

/// Contracts and their sources.
pub fn verify(verifier: Arc<paraffin_verify::Verifier>) -> KeyedHandler {
    KeyedHandler { surface: &verify::SURFACE, http: Some(Arc::new(verify::VerifyHttp(verifier))), rpc: None }
}
