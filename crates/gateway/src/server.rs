use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use paraffin_webhooks::Webhooks;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tracing::Instrument as _;

use crate::alkanes::Alkanes;
use crate::auth_failures::{AuthFailureLimiter, HealthCheckLimiter};
use crate::byte_budget::ByteBudget;
use crate::call_windows::CallWindows;
use crate::config::GatewayConfig;
use crate::connections::{Activity, Closing, OpenConnections};
use crate::drain::Draining;
use crate::events::EventFeed;
use crate::fairness::FairSemaphore;
use crate::families::FamilyServers;
use crate::hosted::HOSTED_VIEW_BYTES;
use crate::markets::build_books;
use crate::patient_stream::PatientStream;
use crate::respond::Reply;
use crate::scripts::permits as script_permits;
use crate::sessions::Listener;
use crate::state::{BoxFuture, Connection, GatewayParts, Shared};
use crate::waiting::WaitingLines;
use crate::websocket::Streams;

/// Factor by which hyper's limit of a head is larger than ours, so that ours can answer with a body.
const HEAD_HEADROOM: usize = 2;
/// Pause after the system refused a connection (out of file handles).
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How often old figures are folded into the histograms.
const METRICS_UPKEEP: Duration = Duration::from_secs(5);
const METRICS_CONNECTIONS_MAX: usize = 16;
/// One caller may have one of so many parts of the concurrent reads of the store.
const READ_PARTS: usize = 4;
/// Accounts whose scripts are derived at the same time, one of one caller.
const ACCOUNT_SCANS_MAX: usize = 4;
/// Memory of one of them, bytes: the used scripts and their unconfirmed transactions.
const ACCOUNT_SCAN_BYTES: usize = 8 << 20;
/// Calls of callers that the node answers at the same time. The client of the node has eight: two are left for the index.
const NODE_CALLS_MAX: usize = 6;
/// One caller may have one of so many parts of [`NODE_CALLS_MAX`].
const NODE_PARTS: usize = 3;
/// How often an idle connection is closed while the limit of connections is reached.
const PRESSURE_EVERY: Duration = Duration::from_millis(250);
/// Backlog of the listening socket.
const LISTEN_QUEUE: usize = 1024;

/// The gateway could not be started.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}; choose another `{setting}`")]
    Listen {
        /// The configured address.
        address: SocketAddr,
        /// Name of the setting that holds it.
        setting: &'static str,
        /// Error of the system.
        source: io::Error,
    },
    /// A setting has a value with which no request could be served.
    #[error("{0}")]
    Config(String),
}

/// The HTTP server of an instance, bound and not yet serving.
pub struct Gateway {
    listener: TcpListener,
    local_addr: SocketAddr,
    metrics: Option<(TcpListener, SocketAddr)>,
    electrum: Option<Box<dyn Listener>>,
    webhooks: Option<Arc<Webhooks>>,
    shared: Arc<Shared>,
}

impl Gateway {
    /// Binds the addresses of `config`. Connections wait in the listen queue until [`Gateway::serve`].
    ///
    /// # Errors
    /// [`GatewayError::Listen`] when an address is in use or not local, [`GatewayError::Config`] for an invalid setting.
    pub fn bind(config: GatewayConfig, parts: GatewayParts) -> BoxFuture<'static, Result<Self, GatewayError>> {
        Box::pin(async move {
            config.check().and_then(|()| parts.access.check()).map_err(GatewayError::Config)?;
            let (listener, local_addr) = listen(config.listen, "gateway.listen").await?;
            let metrics = match config.metrics_listen {
                Some(address) => Some(listen(address, "gateway.metrics_listen").await?),
                None => None,
            };
            let store_reads = FairSemaphore::new(config.limits.store_reads_max, READ_PARTS);
            let byte_budget = ByteBudget::new(&config.limits);
            let alkanes = parts.alkanes.map(|parts| Arc::new(Alkanes::new(parts, &config.limits)));
            let hosted_views =
                FairSemaphore::of_heaviest(config.limits.hosted_views_max, READ_PARTS, config.limits.preview_permits());
            let families = FamilyServers::new(&parts.families, &config.limits);
            let access_log = parts.access_log.filter(|_| config.access_log);
            let mut keyed = parts.keyed;
            let settings = parts.webhooks.as_ref().map(|webhooks| webhooks.settings.clone()).unwrap_or_default();
            let (chain, node) = (Arc::clone(&parts.chain), Arc::clone(&parts.node));
            let events = Arc::new(EventFeed::new(chain, node, settings.read_bytes_max));
            let webhooks = parts.webhooks.map(|webhooks| webhooks.over(&events));
            if let Some(webhooks) = &webhooks {
                keyed.push((parts.surfaces.webhooks)(Arc::clone(webhooks)));
            }
            let shared = Arc::new(Shared {
                config,
                chain: parts.chain,
                node: parts.node,
                alkanes,
                hosted: parts.hosted,
                markets: parts.markets,
                books: Arc::default(),
                prices: parts.prices,
                keys: parts.keys,
                windows: parts.windows,
                plans: parts.plans,
                access: parts.access,
                main: (parts.surfaces.main)(),
                keyed: keyed.into_iter().map(|handler| (handler.surface.name, handler)).collect(),
                site: parts.site,
                metrics: parts.metrics,
                access_log,
                tracer: parts.tracer,
                store_reads,
                account_scans: FairSemaphore::new(ACCOUNT_SCANS_MAX, ACCOUNT_SCANS_MAX).of_bytes(ACCOUNT_SCAN_BYTES),
                node_calls: FairSemaphore::new(NODE_CALLS_MAX, NODE_PARTS),
                hosted_views: hosted_views.of_bytes(HOSTED_VIEW_BYTES),
                byte_budget,
                call_windows: CallWindows::default(),
                waiting: WaitingLines::default(),
                auth_failures: AuthFailureLimiter::default(),
                health_checks: HealthCheckLimiter::default(),
                mempool: parts.mempool,
                families,
                upstreams: parts.upstreams,
                script_runs: script_permits(parts.scripts.as_ref()),
                scripts: parts.scripts,
                surfaces: parts.surfaces,
                surface_state: (parts.surfaces.state)(),
                streams: Streams::default(),
                draining: Draining::default(),
                electrum: OnceLock::new(),
                events,
                webhooks: webhooks.clone(),
            });
            let electrum = match parts.electrum.filter(|parts| parts.is_used()) {
                Some(parts) => {
                    let listener = parts.bind(&shared).await?;
                    shared.electrum.set(listener.sessions()).ok();
                    Some(listener)
                }
                None => None,
            };
            Ok(Self { listener, local_addr, metrics, electrum, webhooks, shared })
        })
    }

    /// Address of the API; with the actual port when port 0 is configured.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Address of `/metrics`.
    pub fn metrics_addr(&self) -> Option<SocketAddr> {
        self.metrics.as_ref().map(|(_, address)| *address)
    }

    /// Address of the Electrum listener without TLS.
    pub fn electrum_addr(&self) -> Option<SocketAddr> {
        self.electrum.as_ref().and_then(|electrum| electrum.local_addr())
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

    /// Not generic, so that the server is compiled in this crate.
    fn serve_erased<'a>(self, leave: BoxFuture<'a, ()>, stop: BoxFuture<'a, ()>) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let Self { listener, metrics, electrum, webhooks, shared, .. } = self;
            let metrics_task = metrics.map(|(listener, _)| tokio::spawn(serve_metrics(listener, Arc::clone(&shared))));
            let (electrum_stop, stopped) = tokio::sync::oneshot::channel::<()>();
            let electrum_task = electrum.map(|electrum| {
                tokio::spawn(async move {
                    // It ends when the sender is dropped, too.
                    electrum.serve(Box::pin(async { drop(stopped.await) })).await;
                })
            });
            let (webhooks_stop, webhooks_stopped) = tokio::sync::oneshot::channel::<()>();
            let webhooks_task = webhooks.map(|webhooks| {
                tokio::spawn(async move { webhooks.run(async { drop(webhooks_stopped.await) }).await })
            });
            let books_task = tokio::spawn(build_books(Arc::clone(&shared)));
            let permits = Arc::new(Semaphore::new(shared.config.limits.connections_max));
            let mut open = OpenConnections::default();
            let mut pressure = tokio::time::interval(PRESSURE_EVERY);
            let time = Duration::from_secs(shared.config.drain_seconds);
            {
                let mut over = pin!(shared.draining.over(leave, stop, time));
                loop {
                    tokio::select! {
                        () = &mut over => break,
                        (stream, peer, permit) = accept(&listener, &permits) => open.serve(&shared, stream, peer, permit),
                        () = open.one_ended(), if !open.is_empty() => {}
                        // At the limit nothing is accepted, so that no other branch would close one.
                        _ = pressure.tick(), if permits.available_permits() == 0 => open.close_idle(),
                    }
                }
            }
            // Connections that were made before the end are served; those that wait in the queue would be reset.
            for _ in 0..LISTEN_QUEUE {
                tokio::select! {
                    biased;
                    (stream, peer, permit) = accept(&listener, &permits) => open.serve(&shared, stream, peer, permit),
                    () = std::future::ready(()) => break,
                }
            }
            drop(listener);
            let _ = electrum_stop.send(());
            let _ = webhooks_stop.send(());
            let mut connections = open.close();
            let ended = async {
                shared.streams.stop().await;
                if let Some(task) = electrum_task {
                    let _ = task.await;
                }
                if let Some(task) = webhooks_task {
                    let _ = task.await;
                }
                while connections.join_next().await.is_some() {}
            };
            if tokio::time::timeout(shared.config.limits.shutdown_timeout(), ended).await.is_err() {
                tracing::warn!(
                    connections = connections.len(),
                    "requests in flight did not finish in time and were cut"
                );
            }
            connections.shutdown().await;
            books_task.abort();
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
    /// Serves the main JSON-RPC without keys, windows, metrics, headers or limits: the baseline that the cost of the gateway is
    /// measured against.
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

async fn listen(address: SocketAddr, setting: &'static str) -> Result<(TcpListener, SocketAddr), GatewayError> {
    let failed = |source| GatewayError::Listen { address, setting, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let local = listener.local_addr().map_err(failed)?;
    Ok((listener, local))
}

/// The next connection, once a connection permit is free.
async fn accept(listener: &TcpListener, permits: &Arc<Semaphore>) -> (TcpStream, SocketAddr, OwnedSemaphorePermit) {
    loop {
        let Ok(permit) = Arc::clone(permits).acquire_owned().await else {
            // The semaphore is never closed; were it, nothing could be accepted any more.
            std::future::pending::<()>().await;
            continue;
        };
        match listener.accept().await {
            Ok((stream, peer)) => {
                let _ = stream.set_nodelay(true);
                return (stream, peer, permit);
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Serves one connection until its client disconnects, or until the request in flight has been answered after `closing`.
pub(crate) async fn serve_connection(
    shared: Arc<Shared>,
    stream: TcpStream,
    peer: SocketAddr,
    activity: Arc<Activity>,
    closing: Closing,
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
    let requests = Arc::clone(&activity);
    let service = service_fn(move |request| {
        let active = requests.begin();
        let answered = crate::request::answer(Arc::clone(&state), request);
        async move {
            let _active = active;
            answered.await
        }
    });
    let _open = shared.metrics.connection();
    let connection = async {
        let mut connection = pin!(builder.serve_connection(io, service).with_upgrades());
        // A client that disconnects or sends invalid HTTP is not an error of ours.
        tokio::select! {
            biased;
            _ = connection.as_mut() => return,
            // Idle ones end below at once; hyper waits for the first head of one that has sent nothing yet.
            why = closing => if why.is_ok() && !activity.has_begun() { return },
        }
        connection.as_mut().graceful_shutdown();
        let _ = connection.await;
    };
    connection.instrument(span).await;
}

async fn serve_metrics(listener: TcpListener, shared: Arc<Shared>) {
    let permits = Arc::new(Semaphore::new(METRICS_CONNECTIONS_MAX));
    let mut connections = JoinSet::new();
    let mut upkeep = tokio::time::interval(METRICS_UPKEEP);
    loop {
        tokio::select! {
            _ = upkeep.tick() => shared.metrics.upkeep(),
            (stream, _, permit) = accept(&listener, &permits) => {
                let shared = Arc::clone(&shared);
                connections.spawn(async move {
                    let _permit = permit;
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
