//! The parts that a gateway is assembled from (index, node, key store, surfaces), and the context of one request.

use std::any::Any;
use std::collections::BTreeMap;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bitcoin::{BlockHash, Txid};
use bytes::Bytes;
use paraffin_access::{AliasRecord, KeyRecord, KeyStore, OriginRecord, Plans, UnixMillis, Windows};
use paraffin_chain::{Keep, NodeClient, NodeError, NodeStatus};
use paraffin_prices::BitcoinPrices;
use paraffin_primitives::{BlockId, Height, Network};
use paraffin_site::Site;
use paraffin_spans::Tracer;
use paraffin_store::{ReadCounts, Snapshot};
use parking_lot::Mutex;
use serde_json::value::RawValue;

use crate::admission::counted;
use crate::alkanes::{Alkanes, AlkanesParts};
use crate::auth_failures::{AuthFailureLimiter, HealthCheckLimiter};
use crate::budget::RequestBudget;
use crate::byte_budget::{ByteBudget, ByteHolder, HeldBytes, HeldFor, UNCOUNTED_BYTES_MAX};
use crate::call_windows::{CallWindow, CallWindows};
use crate::config::{AccessConfig, GatewayConfig};
use crate::deadline::{SteadyTimer, within};
use crate::drain::Draining;
use crate::erased::{self, Answer};
use crate::errors::{ApiError, Refusal};
use crate::events::EventFeed;
use crate::fairness::{CallerId, FairPermit, FairSemaphore};
use crate::families::{Families, FamilyServers};
use crate::forward::Upstreams;
use crate::header_values::HeaderNumbers;
use crate::hosted::{HostedProgram, ShadowState};
use crate::interrupt::{HeldRows, Interrupt};
use crate::log_thread::LogWriter;
use crate::markets::MarketsParts;
use crate::metrics::{Meter, Metrics};
use crate::request_id::RequestNames;
use crate::scripts::ScriptParts;
use crate::sessions::{ListenerParts, Sessions};
use crate::surface::{HttpSurface, KeyedHandler, KeyedSurface, RpcSurface, SurfaceState, Surfaces};
use crate::waiting::WaitingLines;
use crate::webhooks::WebhooksParts;
use crate::websocket::Streams;

/// How long work waits for a permit before its request is overloaded.
const PERMIT_WAIT: Duration = Duration::from_secs(10);

/// A boxed future, as the dyn-safe traits of this crate return it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
/// A read of the store with a type-erased result.
type ErasedRead = Box<dyn FnOnce(&Snapshot, &Interrupt) -> Answer + Send>;
/// Work without a snapshot, with a type-erased result.
type ErasedWork = Box<dyn FnOnce(&Interrupt) -> Answer + Send>;

/// State of the index, as health reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexingStatus {
    /// Nothing indexed yet, or no contact with the node yet.
    Starting,
    /// Behind the node by that many blocks.
    Importing {
        /// Blocks between the index and the node's best chain.
        blocks_left: u32,
    },
    /// Equal to the node's best chain when last compared.
    Synced,
    /// Indexing has stopped; reads go on.
    Stopped,
}

/// The chain as indexed.
pub trait ChainState: Send + Sync {
    /// The network of this instance.
    fn network(&self) -> Network;
    /// A consistent view of the newest committed block.
    fn snapshot(&self) -> Snapshot;
    /// State of the index.
    fn indexing(&self) -> IndexingStatus;
    /// Reads of the store since it was opened; `None` without one.
    fn store_reads(&self) -> Option<ReadCounts> {
        None
    }
    /// Comparison of the native engine with a hosted program, where both run.
    fn shadow(&self) -> Option<ShadowState> {
        None
    }
}

/// The Bitcoin node as surfaces use it.
pub trait Node: Send + Sync {
    /// One JSON-RPC call; the result as the node wrote it.
    fn rpc<'a>(
        &'a self,
        method: &'a str,
        params: &'a [Box<RawValue>],
    ) -> BoxFuture<'a, Result<Box<RawValue>, NodeError>>;
    /// As [`Node::rpc`], for an answer that is passed on: [`NodeError::TooLarge`] beyond `bytes_max`, and [`NodeError::NoMemory`]
    /// where `keep` refuses so many bytes.
    fn rpc_at_most<'a>(
        &'a self,
        method: &'a str,
        params: &'a [Box<RawValue>],
        bytes_max: usize,
        keep: Keep,
    ) -> BoxFuture<'a, Result<Box<RawValue>, NodeError>> {
        Box::pin(async move {
            let answer = self.rpc(method, params).await?;
            match answer.get().len() {
                bytes if bytes > bytes_max => Err(NodeError::TooLarge(bytes_max)),
                bytes if !keep(bytes) => Err(NodeError::NoMemory),
                _ => Ok(answer),
            }
        })
    }
    /// `size` bytes of a block from `offset`.
    fn block_part(&self, hash: BlockHash, offset: u32, size: u32) -> BoxFuture<'_, Result<Bytes, NodeError>>;
    /// The whole block in consensus encoding.
    fn block(&self, hash: BlockHash) -> BoxFuture<'_, Result<Bytes, NodeError>>;
    /// Raw bytes of an unconfirmed transaction, if the node has it.
    fn raw_transaction(&self, txid: Txid) -> BoxFuture<'_, Result<Option<Bytes>, NodeError>>;
    /// Whether the node answers, and its height.
    fn status(&self) -> NodeStatus;
}

impl Node for NodeClient {
    fn rpc<'a>(
        &'a self,
        method: &'a str,
        params: &'a [Box<RawValue>],
    ) -> BoxFuture<'a, Result<Box<RawValue>, NodeError>> {
        Box::pin(self.rpc_raw(method, params))
    }

    fn rpc_at_most<'a>(
        &'a self,
        method: &'a str,
        params: &'a [Box<RawValue>],
        bytes_max: usize,
        keep: Keep,
    ) -> BoxFuture<'a, Result<Box<RawValue>, NodeError>> {
        Box::pin(self.rpc_counted(method, params, bytes_max, Some(keep)))
    }

    fn block_part(&self, hash: BlockHash, offset: u32, size: u32) -> BoxFuture<'_, Result<Bytes, NodeError>> {
        Box::pin(Self::block_part(self, hash, offset, size))
    }

    fn block(&self, hash: BlockHash) -> BoxFuture<'_, Result<Bytes, NodeError>> {
        Box::pin(Self::block(self, hash))
    }

    fn raw_transaction(&self, txid: Txid) -> BoxFuture<'_, Result<Option<Bytes>, NodeError>> {
        Box::pin(Self::raw_transaction(self, txid))
    }

    fn status(&self) -> NodeStatus {
        Self::status(self).borrow().clone()
    }
}

/// Everything that the gateway serves from.
pub struct GatewayParts {
    /// The chain as indexed.
    pub chain: Arc<dyn ChainState>,
    /// The Bitcoin node.
    pub node: Arc<dyn Node>,
    /// The contract index; without it everything about alkanes answers `ALKANES_NOT_INDEXED`.
    pub alkanes: Option<AlkanesParts>,
    /// The indexer program that answers `metashrew_*`; without it the contract index does.
    pub hosted: Option<Arc<dyn HostedProgram>>,
    /// The market index; without it, or without the contract index, markets answer `ALKANES_NOT_INDEXED`.
    pub markets: Option<MarketsParts>,
    /// The bitcoin price; without it everything in US dollars is `null` or answers `PRICES_NOT_CONFIGURED`.
    pub prices: Option<Arc<dyn BitcoinPrices>>,
    /// The live set of unconfirmed transactions, for Esplora; without it, or while it differs from the node, the node is
    /// queried.
    pub mempool: Option<Arc<paraffin_mempool::Mempool>>,
    /// The surfaces of this build.
    pub surfaces: &'static Surfaces,
    /// The listener for the Electrum protocol; without it, or without an address in its settings, there is none.
    pub electrum: Option<Box<dyn ListenerParts>>,
    /// Webhooks; without them their surface is not there.
    pub webhooks: Option<WebhooksParts>,
    /// Servers that answer families of methods instead of our own index.
    pub families: Families,
    /// Instances that requests are forwarded to; they are then also `chain` and `node`.
    pub upstreams: Option<Arc<Upstreams>>,
    /// Scripts; without them `lua_*` answers `LUA_NOT_ENABLED`.
    pub scripts: Option<ScriptParts>,
    /// The key store. The gateway flushes its counts when it stops; the program that opened the store closes it.
    pub keys: Arc<dyn KeyStore>,
    /// Request counters, shared between gateways where configured.
    pub windows: Arc<dyn Windows>,
    /// Limits of each plan.
    pub plans: Plans,
    /// Rules of access.
    pub access: AccessConfig,
    /// Handlers of the surfaces below a key that this instance has.
    pub keyed: Vec<KeyedHandler>,
    /// The console; without it its pages are not there.
    pub site: Option<Site>,
    /// The metrics to write to; a new set when the program has none.
    pub metrics: Metrics,
    /// Writer of the access log, used unless [`GatewayConfig::access_log`] is off.
    pub access_log: Option<LogWriter>,
    /// Records spans of requests; without it none is measured.
    pub tracer: Option<Tracer>,
}

/// The caller of a request.
#[derive(Debug, Clone)]
pub enum Caller {
    /// The holder of an active key.
    Key(Arc<KeyRecord>),
    /// A caller by an alias.
    Alias(Arc<AliasRecord>),
    /// A page of a registered origin.
    Origin(Arc<OriginRecord>),
    /// An anonymous caller.
    Keyless,
}

/// What all requests of an instance share.
pub struct Shared {
    pub(crate) config: GatewayConfig,
    /// The chain as indexed.
    pub chain: Arc<dyn ChainState>,
    pub(crate) node: Arc<dyn Node>,
    pub(crate) alkanes: Option<Arc<Alkanes>>,
    /// The indexer program that answers `metashrew_*`.
    pub hosted: Option<Arc<dyn HostedProgram>>,
    pub(crate) markets: Option<MarketsParts>,
    pub(crate) books: Arc<paraffin_amm::MarketBooks>,
    /// The bitcoin price.
    pub prices: Option<Arc<dyn BitcoinPrices>>,
    /// The key store.
    pub keys: Arc<dyn KeyStore>,
    /// Request counters.
    pub windows: Arc<dyn Windows>,
    pub(crate) plans: Plans,
    /// Rules of access.
    pub access: AccessConfig,
    /// The main JSON-RPC.
    pub main: Arc<dyn RpcSurface>,
    /// By the names of their surfaces.
    pub(crate) keyed: BTreeMap<&'static str, KeyedHandler>,
    pub(crate) site: Option<Site>,
    pub(crate) metrics: Metrics,
    pub(crate) access_log: Option<LogWriter>,
    pub(crate) tracer: Option<Tracer>,
    pub(crate) store_reads: FairSemaphore,
    pub(crate) account_scans: FairSemaphore,
    pub(crate) hosted_views: FairSemaphore,
    /// Permits for calls of callers to the node.
    pub node_calls: FairSemaphore,
    /// Bytes of requests and answers that the process holds.
    pub byte_budget: Arc<ByteBudget>,
    pub(crate) call_windows: CallWindows,
    pub(crate) waiting: WaitingLines,
    pub(crate) auth_failures: AuthFailureLimiter,
    pub(crate) health_checks: HealthCheckLimiter,
    /// The live set of unconfirmed transactions.
    pub mempool: Option<Arc<paraffin_mempool::Mempool>>,
    /// Servers that answer families of methods.
    pub families: FamilyServers,
    /// Instances that requests are forwarded to.
    pub upstreams: Option<Arc<Upstreams>>,
    pub(crate) surfaces: &'static Surfaces,
    /// What surfaces keep between requests.
    pub(crate) surface_state: SurfaceState,
    pub(crate) streams: Streams,
    pub(crate) draining: Draining,
    /// What runs and stores scripts.
    pub scripts: Option<ScriptParts>,
    /// Permits for scripts.
    pub script_runs: FairSemaphore,
    /// Events of the instance.
    pub events: Arc<EventFeed>,
    pub(crate) webhooks: Option<Arc<paraffin_webhooks::Webhooks>>,
    /// Sessions of the Electrum protocol, once its listener is bound.
    pub electrum: OnceLock<Arc<dyn Sessions>>,
}

impl Shared {
    /// The handler of a surface, if it is of this type.
    pub fn surface<T: HttpSurface>(&self, surface: &KeyedSurface) -> Option<&T> {
        let http: &dyn Any = self.keyed.get(surface.name)?.http.as_deref()?;
        http.downcast_ref()
    }

    /// All surfaces of this build.
    pub fn surfaces(&self) -> &'static Surfaces {
        self.surfaces
    }

    /// The state of a surface, by its type.
    ///
    /// # Errors
    /// 500 where [`Surfaces::state`] makes none of that type.
    pub fn state_of<T: Any>(&self) -> Result<&T, ApiError> {
        let found = self.surface_state.iter().find_map(|state| state.downcast_ref());
        found.ok_or_else(|| ApiError::inconsistent("a surface without its state"))
    }

    /// Reports the memory that each part uses, and the sessions and subscriptions of Electrum.
    #[allow(clippy::cast_precision_loss)] // far below 2^52
    pub fn measure_memory(&self, meter: &Meter<'_>) {
        for (part, _, (_, used)) in self.memory_parts() {
            let text = "Memory that a part of the program takes, by what it counts";
            meter.gauge("paraffin_memory_used_bytes", text, &[("part", part)], used as f64);
        }
        if let Some(electrum) = self.electrum.get() {
            let (sessions, subscriptions) = electrum.counts();
            let text = "Open sessions of the Electrum protocol";
            meter.gauge("paraffin_electrum_sessions", text, &[], sessions as f64);
            let text = "Scripts that sessions of the Electrum protocol have subscribed to";
            meter.gauge("paraffin_electrum_subscriptions", text, &[], subscriptions as f64);
        }
    }

    /// The parts that work for callers: the label of each in metrics, what its memory is for, and how many bytes it may take and
    /// takes now.
    pub fn memory_parts(&self) -> Vec<(&'static str, &'static str, (usize, usize))> {
        let mut parts = vec![
            ("gateway", "Large requests and answers", self.byte_budget.bytes()),
            ("scans", "Scans of accounts", self.account_scans.bytes()),
        ];
        if let Some(alkanes) = &self.alkanes {
            parts.push(("contracts", "Contracts that run for callers", alkanes.simulations_bytes()));
            parts.push(("views", "Views of contracts", alkanes.views_bytes()));
        }
        if self.hosted.is_some() {
            parts.push(("hosted_views", "Views of the operator's program", self.hosted_views.bytes()));
        }
        if self.scripts.is_some() {
            parts.push(("scripts", "Scripts", self.script_runs.bytes()));
        }
        if let Some(electrum) = self.electrum.get() {
            parts.push(("electrum", "Sessions of the Electrum protocol", electrum.bytes()));
        }
        parts
    }

    /// Height of the index that answers: our own, or that of an instance.
    pub fn height(&self) -> Option<Height> {
        match &self.upstreams {
            Some(upstreams) => upstreams.height(),
            None => self.chain.snapshot().tip().map(|record| record.id.height),
        }
    }
}

/// State that the requests of one connection share, so that they do not contend with other connections.
pub struct Connection {
    pub(crate) shared: Arc<Shared>,
    pub(crate) peer: SocketAddr,
    pub(crate) names: RequestNames,
    pub(crate) body_timer: SteadyTimer,
    pub(crate) header_numbers: Mutex<HeaderNumbers>,
}

impl Connection {
    /// State of a new connection from `peer`.
    pub fn new(shared: Arc<Shared>, peer: SocketAddr) -> Self {
        Self {
            shared,
            peer,
            names: RequestNames::new(),
            body_timer: SteadyTimer::default(),
            header_numbers: Mutex::default(),
        }
    }
}

/// The context of one HTTP request in its surface. All calls of a batch see the same snapshot.
pub struct RequestContext {
    connection: Arc<Connection>,
    caller: Caller,
    client: IpAddr,
    segments: Vec<String>,
    budget: RequestBudget,
    snapshot: OnceLock<Snapshot>,
}

/// A read of the store was not carried out.
#[derive(Debug, thiserror::Error)]
#[error("a read of the store was not carried out")]
pub struct ReadAbandoned;

impl RequestContext {
    /// `client` is the address that the caller was counted by.
    pub fn new(connection: Arc<Connection>, caller: Caller, client: IpAddr, segments: Vec<String>) -> Self {
        let budget = RequestBudget::new(&connection.shared.config.limits);
        Self { connection, caller, client, segments, budget, snapshot: OnceLock::new() }
    }

    /// A request of the same caller with its own budget and snapshot: a step of a stream.
    #[must_use]
    pub fn again(&self) -> Self {
        Self::new(Arc::clone(&self.connection), self.caller.clone(), self.client, Vec::new())
    }

    /// The caller of the request.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Asks for a key flagged admin.
    ///
    /// # Errors
    /// 403 `ADMIN_KEY_REQUIRED` for every other caller.
    pub fn require_admin(&self) -> Result<&KeyRecord, ApiError> {
        match &self.caller {
            Caller::Key(record) if record.admin => Ok(record),
            _ => Err(ApiError::admin_key_required()),
        }
    }

    /// Segments of the path after the surface's own name.
    pub fn segments(&self) -> &[String] {
        &self.segments
    }

    /// The network of this instance.
    pub fn network(&self) -> Network {
        self.connection.shared.chain.network()
    }

    /// The Bitcoin node.
    pub fn node(&self) -> &Arc<dyn Node> {
        &self.connection.shared.node
    }

    /// Address of the client, as trusted proxies report it.
    pub fn client(&self) -> IpAddr {
        self.client
    }

    /// The caller whose share of permits the request uses.
    pub fn caller_id(&self) -> CallerId {
        CallerId::of(&self.caller, self.client)
    }

    /// The keys.
    pub fn keys(&self) -> &dyn KeyStore {
        self.connection.shared.keys.as_ref()
    }

    /// All limits.
    pub fn limits(&self) -> &crate::limits::Limits {
        &self.connection.shared.config.limits
    }

    /// The budget of all calls of this request.
    pub fn budget(&self) -> &RequestBudget {
        &self.budget
    }

    /// The calls of this caller in this minute; `None` where they have no limit.
    pub(crate) fn call_window(&self) -> Option<Arc<CallWindow>> {
        let shared = self.shared();
        let (caller, per_minute) = counted(&self.caller, self.client, shared);
        let limit = CallWindows::limit(per_minute, self.limits())?;
        Some(shared.call_windows.of(caller, limit, unix_millis()))
    }

    /// An empty count of bytes of this request among those that the process holds.
    pub fn held_bytes(&self, purpose: HeldFor) -> HeldBytes {
        HeldBytes::none(&self.connection.shared.byte_budget, ByteHolder::of(&self.caller, self.client), purpose)
    }

    /// A permit for expensive work, once one is free. `None` when none becomes free in time; the request is then overloaded.
    pub async fn permit(&self, permits: &FairSemaphore) -> Option<FairPermit> {
        self.permits(permits, 1).await
    }

    /// As [`RequestContext::permit`], for work that needs several.
    pub async fn permits(&self, permits: &FairSemaphore, count: u32) -> Option<FairPermit> {
        let _wait = paraffin_spans::wait("permit");
        let permit = within(PERMIT_WAIT, permits.acquire_many(self.caller_id(), count)).await.ok().flatten();
        if permit.is_none() {
            self.budget.overload();
        }
        permit
    }

    /// Counts a large answer among the bytes that the process holds until the last of it has been sent; a small one is not counted.
    ///
    /// # Errors
    /// `OVERLOADED`.
    pub async fn hold_answer(&self, body: Bytes) -> Result<Bytes, Refusal> {
        let held = self.budget.take_held();
        if body.len() <= UNCOUNTED_BYTES_MAX {
            return Ok(body);
        }
        let mut held = held.unwrap_or_else(|| self.held_bytes(HeldFor::Answers));
        held.reach(body.len()).await?;
        Ok(held.with(body))
    }

    /// What all requests share.
    pub fn shared(&self) -> &Shared {
        &self.connection.shared
    }

    /// As [`Self::shared`], to be held longer than the request.
    pub fn shared_handle(&self) -> &Arc<Shared> {
        &self.connection.shared
    }

    pub(crate) fn body_timer(&self) -> &SteadyTimer {
        &self.connection.body_timer
    }

    /// The metrics of the instance.
    pub fn metrics(&self) -> &Metrics {
        &self.connection.shared.metrics
    }

    /// The snapshot that this request reads from, taken at its first use; the answer then carries `X-Indexed-Height`.
    pub fn snapshot(&self) -> &Snapshot {
        self.snapshot.get_or_init(|| self.connection.shared.chain.snapshot())
    }

    /// Newest block of [`RequestContext::snapshot`].
    pub fn tip(&self) -> Option<BlockId> {
        self.snapshot().tip().map(|record| record.id)
    }

    /// Height of the snapshot, if the request has read from one.
    pub fn height_read(&self) -> Option<Height> {
        self.snapshot.get()?.tip().map(|record| record.id.height)
    }

    /// Runs a read that may be long on a blocking thread, at most [`crate::Limits::store_reads_max`] at a time and a
    /// quarter of them for one caller.
    ///
    /// # Errors
    /// [`ReadAbandoned`] when the process is stopping or the read panicked.
    pub async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Snapshot) -> T + Send + 'static,
    ) -> Result<T, ReadAbandoned> {
        self.read_until(move |snapshot, _| read(snapshot)).await
    }

    /// As [`RequestContext::read`], for a read that checks whether it should end early: when its caller has disconnected or the
    /// request has timed out. Its result is then dropped. Every access to the snapshot checks as well.
    ///
    /// # Errors
    /// As [`RequestContext::read`].
    pub async fn read_until<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Snapshot, &Interrupt) -> T + Send + 'static,
    ) -> Result<T, ReadAbandoned> {
        self.read_with(&self.connection.shared.store_reads, None, read).await
    }

    /// As [`RequestContext::read_until`], for a list that may be long: its rows are counted with [`Interrupt::keep`], and stay
    /// counted until the returned [`HeldRows`] is dropped.
    ///
    /// # Errors
    /// As [`RequestContext::read`].
    pub async fn read_rows<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Snapshot, &Interrupt) -> T + Send + 'static,
    ) -> Result<(T, HeldRows), ReadAbandoned> {
        let rows = self.held_rows();
        Ok((self.read_into(&rows, read).await?, rows))
    }

    /// An empty count of the rows that this request holds.
    pub fn held_rows(&self) -> HeldRows {
        HeldRows::new(self.held_bytes(HeldFor::Rows))
    }

    /// As [`RequestContext::read_rows`], for one of several reads that share one count.
    ///
    /// # Errors
    /// As [`RequestContext::read`].
    pub async fn read_into<T: Send + 'static>(
        &self,
        rows: &HeldRows,
        read: impl FnOnce(&Snapshot, &Interrupt) -> T + Send + 'static,
    ) -> Result<T, ReadAbandoned> {
        self.read_with(&self.connection.shared.store_reads, Some(rows), read).await
    }

    /// As [`RequestContext::read_until`], for reads that derive keys: four at a time, one of one caller.
    ///
    /// # Errors
    /// As [`RequestContext::read`].
    pub async fn scan_account<T: Send + 'static>(
        &self,
        scan: impl FnOnce(&Snapshot, &Interrupt) -> T + Send + 'static,
    ) -> Result<T, ReadAbandoned> {
        let rows = self.held_rows();
        self.read_with(&self.connection.shared.account_scans, Some(&rows), scan).await
    }

    async fn read_with<T: Send + 'static>(
        &self,
        permits: &FairSemaphore,
        rows: Option<&HeldRows>,
        read: impl FnOnce(&Snapshot, &Interrupt) -> T + Send + 'static,
    ) -> Result<T, ReadAbandoned> {
        let read = Box::new(move |snapshot: &Snapshot, interrupt: &Interrupt| erased::erase(read(snapshot, interrupt)));
        self.read_erased(permits, rows, read).await.map(erased::restore)
    }

    /// As [`RequestContext::read`], for work that takes no snapshot; the answer then has no height.
    ///
    /// # Errors
    /// As [`RequestContext::read`].
    pub async fn work<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, ReadAbandoned> {
        let work = Box::new(move |_: &Interrupt| erased::erase(work())) as ErasedWork;
        self.run_permitted(&self.connection.shared.store_reads, None, Box::new(move || work)).await.map(erased::restore)
    }

    fn read_erased<'a>(
        &'a self,
        permits: &'a FairSemaphore,
        rows: Option<&'a HeldRows>,
        read: ErasedRead,
    ) -> BoxFuture<'a, Result<Answer, ReadAbandoned>> {
        let work = move || {
            let snapshot = self.snapshot().clone();
            Box::new(move |interrupt: &Interrupt| {
                let cancelled = interrupt.clone();
                read(&snapshot.until(Arc::new(move || cancelled.is_over())), interrupt)
            }) as ErasedWork
        };
        self.run_permitted(permits, rows, Box::new(work))
    }

    /// Runs the work that `begin` returns on a blocking thread, once a permit is free.
    fn run_permitted<'a>(
        &'a self,
        permits: &'a FairSemaphore,
        rows: Option<&'a HeldRows>,
        begin: Box<dyn FnOnce() -> ErasedWork + Send + 'a>,
    ) -> BoxFuture<'a, Result<Answer, ReadAbandoned>> {
        Box::pin(async move {
            let permit = self.permit(permits).await.ok_or(ReadAbandoned)?;
            let work = begin();
            let _span = paraffin_spans::child("read");
            let (awaited, interrupt) = Interrupt::at(Instant::now() + self.limits().handler_timeout());
            let interrupt = match rows {
                Some(rows) => interrupt.counting(rows),
                None => interrupt,
            };
            // The permit moves into the task: an abandoned request frees it when its read has ended.
            let task = tokio::task::spawn_blocking(move || {
                let _permit = permit;
                // Not started for a request that was abandoned meanwhile.
                (!interrupt.is_over()).then(|| work(&interrupt))
            });
            let answer = task.await.ok().flatten().ok_or(ReadAbandoned);
            drop(awaited);
            if rows.is_some_and(HeldRows::is_refused) {
                self.budget.overload();
                return Err(ReadAbandoned);
            }
            answer
        })
    }
}

/// Milliseconds since the Unix epoch.
pub fn unix_millis() -> UnixMillis {
    // A clock before 1970 counts as 1970.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixMillis::try_from(since.as_millis()).unwrap_or(UnixMillis::MAX)
}
