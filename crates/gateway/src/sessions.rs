//! A listener of another protocol beside HTTP, as the core binds, serves and measures it.

use std::any::Any;
use std::net::SocketAddr;
use std::sync::Arc;

use crate::server::GatewayError;
use crate::state::{BoxFuture, Shared};

/// Parts of a listener that is not bound yet.
pub trait ListenerParts: Send {
    /// Whether its settings ask for it.
    fn is_used(&self) -> bool;

    /// Binds its addresses.
    ///
    /// # Errors
    /// An address is in use, or a setting is invalid.
    fn bind(self: Box<Self>, shared: &Arc<Shared>) -> BoxFuture<'_, Result<Box<dyn Listener>, GatewayError>>;
}

/// A listener that is bound and not yet serving.
pub trait Listener: Send {
    /// Its address without TLS.
    fn local_addr(&self) -> Option<SocketAddr>;

    /// Its sessions.
    fn sessions(&self) -> Arc<dyn Sessions>;

    /// Serves until `shutdown` ends.
    fn serve(self: Box<Self>, shutdown: BoxFuture<'static, ()>) -> BoxFuture<'static, ()>;
}

/// Open sessions of the protocol.
pub trait Sessions: Any + Send + Sync {
    /// How many are open, and how many subscriptions they have.
    fn counts(&self) -> (usize, usize);

    /// Memory that they may take and take now, bytes.
    fn bytes(&self) -> (usize, usize);
}
