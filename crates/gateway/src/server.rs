use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use paraffin_access::ClientNet;
use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tracing::Instrument as _;

use crate::alkanes::Alkanes;
use crate::byte_budget::ByteBudget;
use crate::call_windows::CallWindows;
use crate::clients::is_trusted;
use crate::config::GatewayConfig;
use crate::drain::Draining;
use crate::families::FamilyServers;
use crate::patient_stream::PatientStream;
use crate::respond::Reply;
use crate::state::{BoxFuture, Connection, GatewayParts, Shared};
use crate::strangers::Strangers;
use crate::surfaces::MainRpc;
use crate::surfaces::esplora::{FeeEstimates, Unconfirmed};
use crate::surfaces::opi::BalancesHash;
use crate::waiting::WaitingLines;
use crate::websocket::Streams;

/// hyper's own bound on a head is larger than ours, so that ours can answer with a body.
const HEAD_HEADROOM: usize = 2;
/// Pause after the system refused a connection (out of file handles).
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How often old figures are folded into the histograms.
const METRICS_UPKEEP: Duration = Duration::from_secs(5);
const METRICS_CONNECTIONS_MAX: usize = 16;
/// Connections that the system keeps for us while nothing accepts them.
const LISTEN_QUEUE: usize = 1024;

/// The gateway could not be started.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}; choose another `{setting}`")]
    Listen {
        /// The address asked for.
        address: SocketAddr,
        /// Name of the setting that holds it.
        setting: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A setting has a value with which nothing could be served.
    #[error("{0}")]
    Config(String),
}

/// The HTTP server of an instance, bound and not yet serving.
pub struct Gateway {
    listener: TcpListener,
    local_addr: SocketAddr,
    metrics: Option<(TcpListener, SocketAddr)>,
    shared: Arc<Shared>,
}

impl Gateway {
    /// Binds the addresses of `config`. Connections wait in the listen queue until [`Gateway::serve`].
    ///
    /// # Errors
    /// [`GatewayError::Listen`] when an address is taken or not ours, [`GatewayError::Config`] for a setting that cannot be.
    pub fn bind(config: GatewayConfig, parts: GatewayParts) -> BoxFuture<'static, Result<Self, GatewayError>> {
        Box::pin(async move {
            config.check().and_then(|()| parts.access.check()).map_err(GatewayError::Config)?;
            let (listener, local_addr) = listen(config.listen, "gateway.listen").await?;
            let metrics = match config.metrics_listen {
                Some(address) => Some(listen(address, "gateway.metrics_listen").await?),
                None => None,
            };
            let store_reads = Arc::new(Semaphore::new(config.limits.store_reads_max));
            let (views_max, simulations_max) = (config.limits.views_max, config.limits.simulations_max);
            let byte_budget = ByteBudget::new(&config.limits);
            let families = FamilyServers::new(&parts.families, &config.limits);
            let shared = Arc::new(Shared {
                config,
                chain: parts.chain,
                node: parts.node,
                alkanes: parts.alkanes.map(|parts| Arc::new(Alkanes::new(parts, views_max, simulations_max))),
                hosted: parts.hosted,
                markets: parts.markets,
                books: Arc::default(),
                prices: parts.prices,
                keys: parts.keys,
                windows: parts.windows,
                plans: parts.plans,
                access: parts.access,
                main: Arc::new(MainRpc::new()),
                keyed: parts.keyed,
                metrics: parts.metrics,
                store_reads,
                byte_budget,
                call_windows: CallWindows::default(),
                waiting: WaitingLines::default(),
                strangers: Strangers::default(),
                mempool: parts.mempool,
                families,
                upstreams: parts.upstreams,
                scripts: parts.scripts,
                unconfirmed: Unconfirmed::default(),
                fee_estimates: FeeEstimates::default(),
                balances_hash: BalancesHash::default(),
                streams: Streams::default(),
                draining: Draining::default(),
            });
            Ok(Self { listener, local_addr, metrics, shared })
        })
    }

    /// Where the API listens; the real port when port 0 was asked for.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Where `/metrics` listens.
    pub fn metrics_addr(&self) -> Option<SocketAddr> {
        self.metrics.as_ref().map(|(_, address)| *address)
    }

    /// Serves until `shutdown` ends and for [`GatewayConfig::drain_seconds`] more; see [`Gateway::serve_until`].
    pub fn serve<'a>(self, shutdown: impl Future<Output = ()> + Send + 'a) -> BoxFuture<'a, ()> {
        self.serve_until(shutdown, std::future::pending())
    }

    /// Serves until `leave` ends. From then on health says `draining` and answers close their connections; after
    /// [`GatewayConfig::drain_seconds`], or as soon as `stop` ends, nothing more is accepted, requests in flight finish within
    /// [`crate::Limits::shutdown_timeout_ms`], streams end with 1001, and the counted uses of keys are written.
    pub fn serve_until<'a>(
        self,
        leave: impl Future<Output = ()> + Send + 'a,
        stop: impl Future<Output = ()> + Send + 'a,
    ) -> BoxFuture<'a, ()> {
        self.serve_erased(Box::pin(leave), Box::pin(stop))
    }

    /// Of one type for all callers, so that the server is compiled here and not where it is called.
    fn serve_erased<'a>(self, leave: BoxFuture<'a, ()>, stop: BoxFuture<'a, ()>) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let Self { listener, metrics, shared, .. } = self;
            let metrics_task = metrics.map(|(listener, _)| tokio::spawn(serve_metrics(listener, Arc::clone(&shared))));
            let places = Arc::new(Semaphore::new(shared.config.limits.connections_max));
            let mut open = OpenConnections::default();
            let time = Duration::from_secs(shared.config.drain_seconds);
            {
                let mut over = pin!(shared.draining.over(leave, stop, time));
                loop {
                    tokio::select! {
                        () = &mut over => break,
                        (stream, peer, place) = accept(&listener, &places) => open.serve(&shared, stream, peer, place),
                        () = open.one_ended(), if !open.tasks.is_empty() => {}
                    }
                }
            }
            // Connections that were made before the end are served; those that wait in the queue would be reset.
            for _ in 0..LISTEN_QUEUE {
                tokio::select! {
                    biased;
                    (stream, peer, place) = accept(&listener, &places) => open.serve(&shared, stream, peer, place),
                    () = std::future::ready(()) => break,
                }
            }
            drop(listener);
            let mut connections = open.close();
            let ended = async {
                shared.streams.stop().await;
                while connections.join_next().await.is_some() {}
            };
            if tokio::time::timeout(shared.config.limits.shutdown_timeout(), ended).await.is_err() {
                tracing::warn!(
                    connections = connections.len(),
                    "requests in flight did not finish in time and were cut"
                );
            }
            connections.shutdown().await;
            if let Some(task) = metrics_task {
                task.abort();
            }
            if let Err(error) = shared.keys.flush().await {
                tracing::error!(%error, "the last counted uses of keys could not be written");
            }
        })
    }
}

impl Gateway {
    /// Serves the main JSON-RPC and nothing around it: no key, no window, no metrics, no header of ours, no limit. What the
    /// gateway costs is measured against it.
    #[doc(hidden)]
    pub async fn serve_handler_alone(self) {
        loop {
            let Ok((stream, peer)) = self.listener.accept().await else { continue };
            let _ = stream.set_nodelay(true);
            let state = Arc::new(Connection::new(Arc::clone(&self.shared), peer));
            let service = service_fn(move |request| crate::request::handler_alone(Arc::clone(&state), request));
            let mut builder = http1::Builder::new();
            let connection = builder.timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), service);
            tokio::spawn(connection);
        }
    }
}

/// The connections that are served.
#[derive(Default)]
struct OpenConnections {
    tasks: JoinSet<()>,
    /// Dropped, they tell their connections to end. One for each: what all would have to look at is looked at often.
    closers: HashMap<tokio::task::Id, oneshot::Sender<Infallible>>,
    clients: Arc<ConnectionsByClient>,
}

impl OpenConnections {
    fn serve(&mut self, shared: &Arc<Shared>, stream: TcpStream, peer: SocketAddr, place: OwnedSemaphorePermit) {
        let Some(of_client) = self.clients.enter(shared, peer) else {
            // Closed without a word: who opens so many connections does not wait for one.
            shared.metrics.connection_refused();
            return;
        };
        let (closer, closing) = oneshot::channel();
        let shared = Arc::clone(shared);
        let task = self.tasks.spawn(async move {
            let _held = (place, of_client);
            serve_connection(shared, stream, peer, closing).await;
        });
        self.closers.insert(task.id(), closer);
    }

    /// Forgets a connection once it has ended.
    async fn one_ended(&mut self) {
        if let Some(ended) = self.tasks.join_next_with_id().await {
            self.closers.remove(&ended.map_or_else(|error| error.id(), |(id, ())| id));
        }
    }

    /// Tells all to end after the request that they are answering.
    fn close(self) -> JoinSet<()> {
        self.tasks
    }
}

/// How many connections each client has open, so that one of them cannot take the places of all.
#[derive(Default)]
struct ConnectionsByClient(Mutex<HashMap<ClientNet, usize>>);

impl ConnectionsByClient {
    /// A place for one more connection; `None` when the client has too many. Proxies of ours stand for many clients.
    fn enter(self: &Arc<Self>, shared: &Shared, peer: SocketAddr) -> Option<ClientPlace> {
        let client = ClientNet::from(peer.ip());
        let mut open = self.0.lock();
        let count = open.entry(client).or_default();
        if *count >= shared.config.limits.connections_per_client_max
            && !is_trusted(&shared.access.trusted_proxies, peer.ip())
        {
            return None;
        }
        *count += 1;
        Some(ClientPlace { clients: Arc::clone(self), client })
    }
}

struct ClientPlace {
    clients: Arc<ConnectionsByClient>,
    client: ClientNet,
}

impl Drop for ClientPlace {
    fn drop(&mut self) {
        let mut open = self.clients.0.lock();
        if let Some(count) = open.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.client);
            }
        }
    }
}

async fn listen(address: SocketAddr, setting: &'static str) -> Result<(TcpListener, SocketAddr), GatewayError> {
    let failed = |source| GatewayError::Listen { address, setting, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let local = listener.local_addr().map_err(failed)?;
    Ok((listener, local))
}

/// The next connection, once there is a place for it.
async fn accept(listener: &TcpListener, places: &Arc<Semaphore>) -> (TcpStream, SocketAddr, OwnedSemaphorePermit) {
    loop {
        let Ok(place) = Arc::clone(places).acquire_owned().await else {
            // The semaphore is never closed; were it, nothing could be accepted any more.
            std::future::pending::<()>().await;
            continue;
        };
        match listener.accept().await {
            Ok((stream, peer)) => {
                let _ = stream.set_nodelay(true);
                return (stream, peer, place);
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Serves one connection until its client goes away, or until the request in flight has been answered after `closing`.
async fn serve_connection(
    shared: Arc<Shared>,
    stream: TcpStream,
    peer: SocketAddr,
    closing: oneshot::Receiver<Infallible>,
) {
    let limits = &shared.config.limits;
    let io = TokioIo::new(PatientStream::new(stream, limits));
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_read_timeout())
        .max_header_size(limits.header_bytes_max * HEAD_HEADROOM);
    let state = Arc::new(Connection::new(Arc::clone(&shared), peer));
    let span = tracing::error_span!("connection", id = state.names.connection());
    let service = service_fn(move |request| crate::request::answer(Arc::clone(&state), request));
    let _open = shared.metrics.connection();
    let connection = async {
        let mut connection = pin!(builder.serve_connection(io, service).with_upgrades());
        // A client that goes away or sends no HTTP is its own affair.
        tokio::select! {
            biased;
            _ = connection.as_mut() => return,
            _ = closing => {}
        }
        connection.as_mut().graceful_shutdown();
        let _ = connection.await;
    };
    connection.instrument(span).await;
}

async fn serve_metrics(listener: TcpListener, shared: Arc<Shared>) {
    let places = Arc::new(Semaphore::new(METRICS_CONNECTIONS_MAX));
    let mut connections = JoinSet::new();
    let mut upkeep = tokio::time::interval(METRICS_UPKEEP);
    loop {
        tokio::select! {
            _ = upkeep.tick() => shared.metrics.upkeep(),
            (stream, _, place) = accept(&listener, &places) => {
                let shared = Arc::clone(&shared);
                connections.spawn(async move {
                    let _place = place;
                    let io = TokioIo::new(PatientStream::new(stream, &shared.config.limits));
                    let timeout = shared.config.limits.header_read_timeout();
                    let service = service_fn(move |request: Request<Incoming>| {
                        let shared = Arc::clone(&shared);
                        async move { Ok::<_, Infallible>(metrics_answer(&shared, &request)) }
                    });
                    let _ = http1::Builder::new().timer(TokioTimer::new()).header_read_timeout(timeout).serve_connection(io, service).await;
                });
            }
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
        }
    }
}

fn metrics_answer(shared: &Shared, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    let reply = if request.uri().path() == "/metrics" && matches!(*request.method(), Method::GET | Method::HEAD) {
        shared.metrics.observe(shared);
        Reply::text(StatusCode::OK, shared.metrics.render())
    } else {
        Reply::text(StatusCode::NOT_FOUND, "only GET /metrics is here\n")
    };
    let mut response = Response::new(Full::new(reply.body));
    *response.status_mut() = reply.status;
    *response.headers_mut() = reply.headers;
    response
}
