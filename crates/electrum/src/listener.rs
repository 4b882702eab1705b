//! The TCP and TLS listeners.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::api::{Api, Server};
use crate::clients::{Caller, Clients};
use crate::output::Stream;
use crate::session::{Session, Shared};
use crate::settings::ElectrumSettings;
use crate::tls;

/// Pause after the system refused a connection (out of file handles).
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Errors of starting the listener.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}; choose another `[electrum] {setting}`")]
    Address {
        /// The configured address.
        address: SocketAddr,
        /// Name of the setting that holds it.
        setting: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The certificate or the key cannot be used.
    #[error("[electrum] {setting}: {path}: {reason}")]
    Tls {
        /// Name of the setting.
        setting: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}

/// The listener, bound and not yet serving.
pub struct Listener {
    plain: Option<(TcpListener, SocketAddr)>,
    encrypted: Option<(TcpListener, SocketAddr)>,
    acceptor: Option<TlsAcceptor>,
    sessions: Sessions,
    stop: watch::Sender<bool>,
}

/// Serves connections as sessions.
#[derive(Clone)]
pub struct Sessions {
    server: Arc<dyn Server>,
    shared: Arc<Shared>,
    clients: Arc<Clients>,
}

impl Listener {
    /// Binds the addresses of the settings. Connections wait in the listen queue until [`Listener::serve`].
    ///
    /// # Errors
    /// See [`ListenError`].
    pub async fn bind(settings: ElectrumSettings, server: Arc<dyn Server>) -> Result<Self, ListenError> {
        let plain = match settings.listen {
            Some(address) => Some(listen(address, "listen").await?),
            None => None,
        };
        let encrypted = match settings.tls_listen {
            Some(address) => Some(listen(address, "tls_listen").await?),
            None => None,
        };
        let acceptor = match (&settings.tls_certificate, &settings.tls_key) {
            (Some(certificate), Some(key)) => Some(tls::acceptor(certificate, key)?),
            _ => None,
        };
        let (stop, stopping) = watch::channel(false);
        let identity = server.identity().clone();
        let shared = Arc::new(Shared { identity, settings: Arc::new(settings), stopping });
        Ok(Self { plain, encrypted, acceptor, sessions: Sessions { server, shared, clients: Clients::new() }, stop })
    }

    /// Address without encryption; the actual port when port 0 was configured.
    pub fn local_addr(&self) -> Option<SocketAddr> {
        self.plain.as_ref().map(|(_, address)| *address)
    }

    /// Address with TLS.
    pub fn tls_addr(&self) -> Option<SocketAddr> {
        self.encrypted.as_ref().map(|(_, address)| *address)
    }

    /// Serves connections that do not come by this listener.
    pub fn sessions(&self) -> Sessions {
        self.sessions.clone()
    }

    /// Open sessions and subscribed scripts, at any time.
    pub fn counts(&self) -> impl Fn() -> (usize, usize) + Send + Sync + use<> {
        let clients = Arc::clone(&self.sessions.clients);
        move || clients.counts()
    }

    /// Serves until `shutdown` ends; sessions are cut then.
    pub async fn serve(self, shutdown: impl Future<Output = ()>) {
        let Self { plain, encrypted, acceptor, sessions, stop } = self;
        let mut tasks = JoinSet::new();
        {
            let mut shutdown = std::pin::pin!(shutdown);
            loop {
                tokio::select! {
                    () = &mut shutdown => break,
                    (stream, peer) = accept(plain.as_ref()) => {
                        let sessions = sessions.clone();
                        tasks.spawn(async move { sessions.serve(stream, peer, None).await });
                    }
                    (stream, peer) = accept(encrypted.as_ref()) => {
                        let (sessions, acceptor) = (sessions.clone(), acceptor.clone());
                        tasks.spawn(async move { sessions.serve(stream, peer, acceptor).await });
                    }
                    Some(_) = tasks.join_next() => {}
                }
            }
        }
        stop.send_replace(true);
        while tasks.join_next().await.is_some() {}
    }
}

impl Sessions {
    /// Serves one connection of an admitted caller, until it disconnects, exceeds a limit, or the server stops. `false`: the caller has
    /// too many sessions or has cost too much, or there are too many sessions in all.
    pub async fn join(
        &self,
        caller: Caller,
        api: Arc<dyn Api>,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + Sync + 'static,
    ) -> bool {
        let permit = self.clients.enter(caller, &self.shared.settings, tokio::time::Instant::now());
        let Some(permit) = permit else { return false };
        self.run(Box::new(stream), api, permit).await;
        true
    }

    /// Serves one connection of a client without a key.
    async fn serve(self, stream: TcpStream, peer: SocketAddr, acceptor: Option<TlsAcceptor>) {
        let caller = Caller::client(peer.ip());
        // Counted before the key store is queried, so that a client over its limit is refused at once.
        let Some(permit) = self.clients.enter(caller, &self.shared.settings, tokio::time::Instant::now()) else {
            return;
        };
        let Some(api) = self.server.open(peer).await else { return };
        let stream: Box<dyn Stream> = match acceptor {
            None => Box::new(stream),
            Some(acceptor) => {
                let handshake = acceptor.accept(stream);
                match tokio::time::timeout(self.shared.settings.write_timeout(), handshake).await {
                    Ok(Ok(stream)) => Box::new(stream),
                    _ => return,
                }
            }
        };
        self.run(stream, api, permit).await;
    }

    async fn run(&self, stream: Box<dyn Stream>, api: Arc<dyn Api>, permit: crate::clients::SessionPermit) {
        let changes = self.server.changes();
        Session::new(Arc::clone(&self.shared), api, permit, changes, stream).run().await;
    }
}

async fn listen(address: SocketAddr, setting: &'static str) -> Result<(TcpListener, SocketAddr), ListenError> {
    let failed = |source| ListenError::Address { address, setting, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let local = listener.local_addr().map_err(failed)?;
    Ok((listener, local))
}

/// The next connection; pending for ever without a listener.
async fn accept(listener: Option<&(TcpListener, SocketAddr)>) -> (TcpStream, SocketAddr) {
    let Some((listener, _)) = listener else { return std::future::pending().await };
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                let _ = stream.set_nodelay(true);
                return (stream, peer);
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}
