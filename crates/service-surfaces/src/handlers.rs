//! Handlers of the surfaces below a key.

use std::sync::Arc;

use paraffin_gateway::surface::KeyedHandler;

use crate::{events, webhooks};

/// Streams of what happens on the chain, for [`paraffin_gateway::KeyedSurface::Events`].
pub fn events() -> KeyedHandler {
    KeyedHandler { http: Some(Arc::new(events::EventsHttp)), rpc: None }
}

/// Webhooks, for [`paraffin_gateway::KeyedSurface::Webhooks`].
pub fn webhooks(webhooks: Arc<paraffin_webhooks::Webhooks>) -> KeyedHandler {
    KeyedHandler { http: None, rpc: Some(Arc::new(webhooks::WebhooksRpc(webhooks))) }
}
