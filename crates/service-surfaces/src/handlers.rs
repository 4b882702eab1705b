//! Handlers of the surfaces below a key.

use std::sync::Arc;

use paraffin_gateway::surface::KeyedHandler;

use crate::{events, webhooks};

/// Streams of what happens on the chain.
pub fn events() -> KeyedHandler {
    KeyedHandler { surface: &events::SURFACE, http: Some(Arc::new(events::EventsHttp)), rpc: None }
}

/// Webhooks.
pub fn webhooks(webhooks: Arc<paraffin_webhooks::Webhooks>) -> KeyedHandler {
    KeyedHandler { surface: &webhooks::SURFACE, http: None, rpc: Some(Arc::new(webhooks::WebhooksRpc(webhooks))) }
}
