//! The Electrum protocol ([`paraffin_electrum`]) over the index, the mempool and the node of this instance.

mod chain;
mod changes;
mod node;
mod scripts;
mod websocket;

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Weak};

use bitcoin::Txid;
use bytes::Bytes;
use paraffin_access::ClientNet;
use paraffin_electrum::{
    Api, ApiFuture, Changes, ElectrumSettings, Estimate, Fault, FeeHistogram, HeaderProof, HeaderTree, Holder,
    Identity, Listener, MempoolFees, PackageResult, Proof, ScriptAnswers, ScriptQuestion, Server, Tip,
};
use paraffin_gateway::GatewayError;
use paraffin_mempool::Mempool;
use parking_lot::Mutex;
use serde_json::value::RawValue;
use tokio::sync::broadcast;
use tokio::time::Instant;

use paraffin_gateway::byte_budget::{ByteHolder, HeldBytes, HeldFor};
use paraffin_gateway::errors::{ApiError, kind, rpc_code};
use paraffin_gateway::sessions::{self, ListenerParts};
use paraffin_gateway::state::{BoxFuture, Caller, Connection, ReadAbandoned, RequestContext, Shared, unix_millis};

pub(crate) use websocket::ElectrumHttp;
use websocket::ElectrumSessions;
pub use websocket::SURFACE;

/// Changes that a session may lag behind before it reads all of its scripts again.
const CHANGES_KEPT: usize = 64;

/// Parts of the Electrum listener beside those of the gateway.
pub struct ElectrumParts {
    /// Its settings; the protocol is not spoken unless they have an address or `websocket`.
    pub settings: ElectrumSettings,
    /// The live set of unconfirmed transactions.
    pub mempool: Arc<Mempool>,
}

impl ListenerParts for ElectrumParts {
    fn is_used(&self) -> bool {
        self.settings.is_used()
    }

    fn bind(self: Box<Self>, shared: &Arc<Shared>) -> BoxFuture<'_, Result<Box<dyn sessions::Listener>, GatewayError>> {
        Box::pin(
            async move { Ok(Box::new(ElectrumListener::bind(*self, shared).await?) as Box<dyn sessions::Listener>) },
        )
    }
}

/// The listener with the task that watches for changes.
struct ElectrumListener {
    listener: Listener,
    instance: Arc<Instance>,
    sessions: Arc<ElectrumSessions>,
}

impl ElectrumListener {
    async fn bind(parts: ElectrumParts, shared: &Arc<Shared>) -> Result<Self, GatewayError> {
        let instance = Arc::new_cyclic(|own| Instance {
            own: Weak::clone(own),
            identity: Identity {
                software: concat!("Paraffin ", env!("CARGO_PKG_VERSION")).to_owned(),
                genesis: bitcoin::constants::genesis_block(shared.chain.network().bitcoin()).block_hash(),
            },
            history_max: parts.settings.history_max,
            shared: Arc::clone(shared),
            mempool: parts.mempool,
            changes: broadcast::channel(CHANGES_KEPT).0,
            headers: Mutex::default(),
            histogram: Mutex::default(),
            estimates: Mutex::default(),
        });
        let bytes_max = usize::try_from(parts.settings.memory_bytes()).unwrap_or(usize::MAX);
        let listener = Listener::bind(parts.settings, Arc::clone(&instance) as Arc<dyn Server>).await;
        let listener = listener.map_err(|error| GatewayError::Config(error.to_string()))?;
        let sessions = Arc::new(ElectrumSessions {
            instance: Arc::clone(&instance),
            sessions: listener.sessions(),
            counts: Box::new(listener.counts()),
            bytes_max,
        });
        Ok(Self { listener, instance, sessions })
    }
}

impl sessions::Listener for ElectrumListener {
    fn local_addr(&self) -> Option<SocketAddr> {
        self.listener.local_addr()
    }

    fn sessions(&self) -> Arc<dyn sessions::Sessions> {
        Arc::clone(&self.sessions) as Arc<dyn sessions::Sessions>
    }

    fn serve(self: Box<Self>, shutdown: BoxFuture<'static, ()>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let watcher = tokio::spawn(changes::watch(Arc::clone(&self.instance)));
            self.listener.serve(shutdown).await;
            watcher.abort();
        })
    }
}

/// State that all sessions share.
struct Instance {
    own: Weak<Instance>,
    identity: Identity,
    history_max: usize,
    shared: Arc<Shared>,
    mempool: Arc<Mempool>,
    changes: broadcast::Sender<Arc<Changes>>,
    headers: Mutex<HeaderTree>,
    histogram: Mutex<Option<(Instant, FeeHistogram)>>,
    estimates: Mutex<Estimates>,
}

/// Cached estimates of the node by target in blocks and mode, each with its time.
type Estimates = HashMap<(u16, Option<&'static str>), (Instant, Estimate)>;

impl Instance {
    fn tip(&self) -> Option<Tip> {
        let snapshot = self.shared.chain.snapshot();
        let id = snapshot.tip()?.id;
        let index = paraffin_bitcoin_index::BitcoinIndex::new(snapshot, self.shared.chain.network());
        let header = index.block_header(id.height).ok().flatten()?;
        Some(Tip { height: id.height, hash: id.hash, header: chain::header_bytes(&header) })
    }
}

impl Server for Instance {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn open(&self, peer: SocketAddr) -> ApiFuture<'_, Option<Arc<dyn Api>>> {
        Box::pin(async move {
            let shared = &self.shared;
            // A session counts as one request of a caller without a key.
            let settings = shared.access.keyless;
            let reservation = shared.windows.reserve(ClientNet::from(peer.ip()), settings, unix_millis()).await.ok()?;
            if !reservation.granted {
                return None;
            }
            if reservation.wait_ms > 0 {
                tokio::time::sleep(std::time::Duration::from_millis(reservation.wait_ms.into())).await;
            }
            shared.keys.available().await.ok()?;
            let connection = Arc::new(Connection::new(Arc::clone(shared), peer));
            let instance = self.own.upgrade()?;
            Some(Arc::new(SessionApi { instance, connection, caller: Caller::Keyless, client: peer.ip() })
                as Arc<dyn Api>)
        })
    }

    fn changes(&self) -> broadcast::Receiver<Arc<Changes>> {
        self.changes.subscribe()
    }
}

/// One session: its caller and connection.
struct SessionApi {
    instance: Arc<Instance>,
    connection: Arc<Connection>,
    caller: Caller,
    client: IpAddr,
}

impl SessionApi {
    /// The context of one request; its snapshot is taken at its first read.
    fn context(&self) -> RequestContext {
        RequestContext::new(Arc::clone(&self.connection), self.caller.clone(), self.client, Vec::new())
    }
}

struct SessionBytes(HeldBytes);

impl Holder for SessionBytes {
    fn reach(&mut self, bytes: usize) -> bool {
        self.0.reach_exactly(bytes)
    }

    fn shrink(&mut self, bytes: usize) {
        self.0.shrink_exactly(bytes);
    }
}

impl Api for SessionApi {
    fn may_go_on(&self) -> ApiFuture<'_, bool> {
        Box::pin(async move { self.instance.shared.keys.available().await.is_ok() })
    }

    fn holder(&self) -> Box<dyn Holder> {
        let holder = ByteHolder::of(&self.caller, self.client);
        Box::new(SessionBytes(HeldBytes::none(&self.instance.shared.byte_budget, holder, HeldFor::Bodies)))
    }

    fn tip(&self) -> Option<Tip> {
        self.instance.tip()
    }

    fn headers(&self, first: u32, count: u32) -> ApiFuture<'_, Result<Vec<[u8; 80]>, Fault>> {
        Box::pin(chain::headers(self, first, count))
    }

    fn header_proof(&self, height: u32, checkpoint: u32) -> ApiFuture<'_, Result<HeaderProof, Fault>> {
        Box::pin(chain::header_proof(self, height, checkpoint))
    }

    fn scripts(&self, questions: Vec<ScriptQuestion>) -> ApiFuture<'_, ScriptAnswers> {
        Box::pin(scripts::answer(self, questions))
    }

    fn transaction(&self, txid: Txid) -> ApiFuture<'_, Result<Bytes, Fault>> {
        Box::pin(chain::transaction(self, txid))
    }

    fn transaction_record(&self, txid: Txid) -> ApiFuture<'_, Result<Box<RawValue>, Fault>> {
        Box::pin(node::transaction_record(self, txid))
    }

    fn proof(&self, txid: Txid, height: u32) -> ApiFuture<'_, Result<Proof, Fault>> {
        Box::pin(chain::proof(self, txid, height))
    }

    fn transaction_at(&self, height: u32, position: u32, has_branch: bool) -> ApiFuture<'_, Result<Proof, Fault>> {
        Box::pin(chain::transaction_at(self, height, position, has_branch))
    }

    fn estimate(&self, blocks: u16, mode: Option<&'static str>) -> ApiFuture<'_, Result<Estimate, Fault>> {
        Box::pin(node::estimate(self, blocks, mode))
    }

    fn mempool_fees(&self) -> ApiFuture<'_, Result<MempoolFees, Fault>> {
        Box::pin(node::mempool_fees(self))
    }

    fn fee_histogram(&self) -> ApiFuture<'_, Result<FeeHistogram, Fault>> {
        Box::pin(node::fee_histogram(self))
    }

    fn broadcast(&self, transaction: String) -> ApiFuture<'_, Result<Txid, Fault>> {
        Box::pin(node::broadcast(self, transaction))
    }

    fn broadcast_package(&self, transactions: Vec<String>) -> ApiFuture<'_, Result<PackageResult, Fault>> {
        Box::pin(node::broadcast_package(self, transactions))
    }
}

/// The fault of a read that was not carried out: no memory or permits, or an internal failure.
fn abandoned(context: &RequestContext, _: ReadAbandoned) -> Fault {
    if context.budget().is_overloaded() { Fault::Busy } else { Fault::Internal }
}

/// The fault of an unreadable store.
fn unreadable(error: &paraffin_bitcoin_index::ReadError) -> Fault {
    tracing::error!(%error, "a read for a session of Electrum failed");
    Fault::Internal
}

/// Converts an error of a surface.
fn of_rpc(context: &RequestContext, error: ApiError) -> Fault {
    match error.kind {
        _ if context.budget().is_overloaded() => Fault::Busy,
        kind::UPSTREAM_UNAVAILABLE => Fault::NodeAway,
        kind::RESPONSE_TOO_LARGE => Fault::BadRequest("the answer is too large".to_owned()),
        kind if kind.rpc_code == rpc_code::INTERNAL => Fault::Internal,
        _ => Fault::Node(error.message.into_owned()),
    }
}
