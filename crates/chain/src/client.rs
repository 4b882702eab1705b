use std::hash::RandomState;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bitcoin::BlockHash;
use bytes::Bytes;
use paraffin_primitives::Network;
use parking_lot::Mutex;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{OptionsBuilder, Weighter};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore, SemaphorePermit, watch};

use crate::calls::ChainInfo;
use crate::config::NodeConfig;
use crate::error::{NodeError, RPC_INVALID_PARAMETER, RPC_NOT_FOUND};
use crate::http::{Answer, Exchange, Keep, Transport};
use crate::rest::{self, MissingRoutes, RestAnswer, Route};
use crate::rpc;
use crate::status::{NodeStatus, StatusCell};

/// Calls under way at once, for JSON-RPC and for REST each. Bitcoin Core turns callers away when its queue of 16 (64 since
/// release 30) is full.
const CALLS_MAX: usize = 8;
/// Whole blocks kept for [`NodeClient::block_part`] where the node cannot cut them, in bytes.
const CACHE_BYTES_MAX: u64 = 64 << 20;
/// Calls in one JSON-RPC batch.
pub(crate) const BATCH_MAX: usize = 500;

/// A client of one node; cheap to clone, connections are pooled.
#[derive(Clone)]
pub struct NodeClient {
    inner: Arc<Inner>,
}

struct Inner {
    config: NodeConfig,
    transport: Transport,
    status: StatusCell,
    /// Set once the node was checked to follow our network; cleared when the connection is lost.
    connected: AtomicBool,
    connecting: tokio::sync::Mutex<()>,
    /// Number of failed attempts to connect, and the last error.
    failed: Mutex<(u64, Option<NodeError>)>,
    missing: Mutex<MissingRoutes>,
    /// Stores one announcement that comes while the follower is busy.
    block_announced: Notify,
    rpc_calls: Semaphore,
    rest_calls: Semaphore,
    next_id: AtomicU64,
    blocks: BlockCache,
}

/// Whole blocks, bounded in bytes.
pub(crate) type BlockCache = Cache<BlockHash, Bytes, BlockBytes, RandomState>;

/// Weighs a block by its size.
#[derive(Clone)]
pub(crate) struct BlockBytes;

impl Weighter<BlockHash, Bytes> for BlockBytes {
    fn weight(&self, _: &BlockHash, block: &Bytes) -> u64 {
        block.len() as u64
    }
}

/// A pending call of a node. Boxed, so that the connection is compiled in this crate alone.
type NodeFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = Result<T, NodeError>> + Send + 'a>>;

impl NodeClient {
    /// A client for `config`. Nothing is sent yet; the first call checks that the node follows the right network.
    ///
    /// # Errors
    /// `Unavailable` when the URL is not usable.
    pub fn new(config: NodeConfig) -> Result<Self, NodeError> {
        let options = OptionsBuilder::new()
            .shards(1)
            .estimated_items_capacity(64)
            .weight_capacity(CACHE_BYTES_MAX)
            .build()
            .map_err(|error| NodeError::Unavailable(format!("the block cache cannot be made: {error}")))?;
        let blocks = Cache::with_options(options, BlockBytes, RandomState::default(), DefaultLifecycle::default());
        Ok(Self {
            inner: Arc::new(Inner {
                transport: Transport::new(&config)?,
                config,
                status: StatusCell::new(),
                connected: AtomicBool::new(false),
                connecting: tokio::sync::Mutex::default(),
                failed: Mutex::default(),
                missing: Mutex::default(),
                block_announced: Notify::new(),
                rpc_calls: Semaphore::new(CALLS_MAX),
                rest_calls: Semaphore::new(CALLS_MAX),
                next_id: AtomicU64::new(1),
                blocks,
            }),
        })
    }

    /// To be called when a peer announces a block: followers of this client or a clone of it then poll the node at once.
    pub fn announce_block(&self) {
        self.inner.block_announced.notify_one();
    }

    /// Waits for [`Self::announce_block`].
    pub(crate) async fn block_announced(&self) {
        self.inner.block_announced.notified().await;
    }

    /// One JSON-RPC call; `params` is an array or object. Numbers keep every digit.
    ///
    /// # Errors
    /// `Rpc` with the node's own code and message, or the failure of the connection.
    pub async fn rpc(&self, method: &str, params: Value) -> Result<Value, NodeError> {
        self.typed(method, params).await
    }

    /// One JSON-RPC call whose result is returned byte for byte as the node sent it.
    ///
    /// # Errors
    /// As [`Self::rpc`].
    pub async fn rpc_raw(&self, method: &str, params: impl Serialize + Send) -> Result<Box<RawValue>, NodeError> {
        self.rpc_at_most(method, params, rpc::reply_limit(method)).await.map_err(NodeError::into_invalid)
    }

    /// As [`Self::rpc_raw`], with an answer of at most `limit` bytes.
    ///
    /// # Errors
    /// As [`Self::rpc`], and `TooLarge`.
    pub async fn rpc_at_most(
        &self,
        method: &str,
        params: impl Serialize + Send,
        limit: usize,
    ) -> Result<Box<RawValue>, NodeError> {
        self.rpc_counted(method, params, limit, None).await
    }

    /// As [`Self::rpc_at_most`], and `keep` is called before more of the answer is buffered.
    ///
    /// # Errors
    /// As [`Self::rpc_at_most`], and `NoMemory` when it returns false.
    pub async fn rpc_counted(
        &self,
        method: &str,
        params: impl Serialize + Send,
        limit: usize,
        keep: Option<Keep>,
    ) -> Result<Box<RawValue>, NodeError> {
        let id = self.inner.next_id.fetch_add(1, Ordering::Relaxed);
        let body = rpc::encode_call(id, method, params)?;
        self.connect().await?;
        self.call_counted(method, body, limit, keep, |answer| rpc::decode_call(answer, id)).await
    }

    /// Watches the status of the node, which every call updates.
    pub fn status(&self) -> watch::Receiver<NodeStatus> {
        self.inner.status.subscribe()
    }

    /// The network that the node must follow.
    pub fn network(&self) -> Network {
        self.inner.config.network
    }

    /// The configuration.
    pub fn config(&self) -> &NodeConfig {
        &self.inner.config
    }

    pub(crate) fn status_cell(&self) -> &StatusCell {
        &self.inner.status
    }

    pub(crate) fn block_cache(&self) -> &BlockCache {
        &self.inner.blocks
    }

    /// The result of one call as `T`.
    pub(crate) async fn typed<T: DeserializeOwned>(&self, method: &str, params: Value) -> Result<T, NodeError> {
        let result = self.rpc_raw(method, params).await?;
        serde_json::from_str(result.get())
            .map_err(|error| self.invalid(format!("asked for {method}, got an unexpected result: {error}")))
    }

    /// One batch of at most [`BATCH_MAX`] calls; `None` where the node knows no such block or height.
    pub(crate) async fn batch<P, T>(&self, method: &str, calls: &[P]) -> Result<Vec<Option<T>>, NodeError>
    where
        P: Serialize,
        T: DeserializeOwned,
    {
        if calls.is_empty() {
            return Ok(Vec::new());
        }
        let first_id = self.inner.next_id.fetch_add(calls.len() as u64, Ordering::Relaxed);
        let body = rpc::encode_batch(first_id, method, calls)?;
        self.connect().await?;
        let decode = |answer: &Answer| rpc::decode_batch(answer, first_id, calls.len());
        let results =
            self.call(method, body, rpc::reply_limit(method), decode).await.map_err(NodeError::into_invalid)?;
        results
            .into_iter()
            .map(|result| match result {
                Err(NodeError::Rpc { code: RPC_NOT_FOUND | RPC_INVALID_PARAMETER, .. }) => Ok(None),
                Err(error) => Err(error),
                Ok(text) => serde_json::from_str(text.get())
                    .map(Some)
                    .map_err(|error| self.invalid(format!("asked for {method}, got an unexpected result: {error}"))),
            })
            .collect()
    }

    /// Checks once per connection that the node follows our network.
    fn connect(&self) -> NodeFuture<'_, ()> {
        Box::pin(async move {
            let inner = &self.inner;
            if inner.connected.load(Ordering::Acquire) {
                return Ok(());
            }
            let failed_before = inner.failed.lock().0;
            let _one_at_a_time = inner.connecting.lock().await;
            if inner.connected.load(Ordering::Acquire) {
                return Ok(());
            }
            // A call that waited for a failed attempt shares its error: a node that hangs costs one timeout, not many.
            if let (count, Some(error)) = &*inner.failed.lock()
                && *count != failed_before
            {
                return Err(error.clone());
            }
            let outcome = self.introduce().await;
            match &outcome {
                Ok(()) => inner.connected.store(true, Ordering::Release),
                Err(error) => {
                    let mut failed = inner.failed.lock();
                    *failed = (failed.0 + 1, Some(error.clone()));
                }
            }
            outcome
        })
    }

    async fn introduce(&self) -> Result<(), NodeError> {
        let inner = &self.inner;
        let id = inner.next_id.fetch_add(1, Ordering::Relaxed);
        let body = rpc::encode_call(id, "getblockchaininfo", json!([]))?;
        let decode = |answer: &Answer| rpc::decode_call(answer, id);
        let result = self.call("getblockchaininfo", body, rpc::reply_limit("getblockchaininfo"), decode).await;
        let result = result.map_err(NodeError::into_invalid)?;
        let info: ChainInfo = serde_json::from_str(result.get())
            .map_err(|error| self.invalid(format!("asked for getblockchaininfo, got an unexpected result: {error}")))?;
        if info.chain != self.network().core_name() {
            return Err(self.noted(NodeError::wrong_chain(self.network(), &info.chain)));
        }
        *inner.missing.lock() = MissingRoutes::default();
        inner.status.set_height(info.blocks);
        Ok(())
    }

    async fn call<T>(
        &self,
        method: &str,
        body: Bytes,
        limit: usize,
        decode: impl FnOnce(&Answer) -> Result<T, NodeError>,
    ) -> Result<T, NodeError> {
        self.call_counted(method, body, limit, None, decode).await
    }

    async fn call_counted<T>(
        &self,
        method: &str,
        body: Bytes,
        limit: usize,
        keep: Option<Keep>,
        decode: impl FnOnce(&Answer) -> Result<T, NodeError>,
    ) -> Result<T, NodeError> {
        let _permit = self.permit(&self.inner.rpc_calls).await?;
        let repeatable = rpc::is_repeatable(method);
        let answer =
            self.exchange(Exchange { path: "/".to_owned(), body: Some(body), limit, repeatable, keep }).await?;
        let outcome = decode(&answer);
        self.record(answer.status.as_u16(), &outcome);
        outcome
    }

    /// One REST request; `NoRoute` without a request where the route is known to be missing.
    pub(crate) async fn rest(
        &self,
        route: Route,
        hash: BlockHash,
        query: &str,
        limit: usize,
    ) -> Result<RestAnswer, NodeError> {
        self.connect().await?;
        if self.inner.missing.lock().contains(route) {
            return Ok(RestAnswer::NoRoute);
        }
        let _permit = self.permit(&self.inner.rest_calls).await?;
        let answer = self
            .exchange(Exchange { path: route.path(hash, query), body: None, limit, repeatable: true, keep: None })
            .await;
        let answer = answer.map_err(NodeError::into_invalid)?;
        let status = answer.status.as_u16();
        let outcome = rest::sort_answer(answer, hash);
        if matches!(outcome, Ok(RestAnswer::NoRoute)) {
            tracing::debug!(?route, status, "the node does not serve this REST route");
            self.inner.missing.lock().insert(route);
        }
        self.record(status, &outcome);
        outcome
    }

    async fn permit<'a>(&self, calls: &'a Semaphore) -> Result<SemaphorePermit<'a>, NodeError> {
        match tokio::time::timeout(self.inner.config.timeout, calls.acquire()).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(NodeError::Unavailable("too many calls are waiting for it".to_owned())),
        }
    }

    fn exchange(&self, exchange: Exchange) -> NodeFuture<'_, Answer> {
        Box::pin(async move {
            let outcome = self.inner.transport.exchange(&exchange).await;
            if outcome.is_err() {
                self.record(0, &outcome);
            }
            outcome
        })
    }

    /// Records the outcome of a call. HTTP 503 from a running node is a full queue, which is temporary; while it starts or stops, and
    /// whenever there is no answer at all, the connection counts as lost.
    fn record<T>(&self, http_status: u16, outcome: &Result<T, NodeError>) {
        match outcome {
            Err(NodeError::Unavailable(text)) if http_status == 503 && !rpc::is_start_or_stop(text) => {
                self.inner.status.record_busy(text);
            }
            _ => {
                if matches!(outcome, Err(NodeError::Unavailable(_) | NodeError::Unauthorized)) {
                    self.inner.connected.store(false, Ordering::Release);
                }
                self.inner.status.record(outcome);
            }
        }
    }

    /// An `Invalid` error, recorded in the status.
    pub(crate) fn invalid(&self, text: String) -> NodeError {
        self.noted(NodeError::Invalid(text))
    }

    pub(crate) fn noted(&self, error: NodeError) -> NodeError {
        tracing::warn!(%error, "the node's answer was refused");
        let outcome = Err::<(), _>(error.clone());
        self.inner.status.record(&outcome);
        error
    }
}
