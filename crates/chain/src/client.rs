use std::hash::RandomState;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bitcoin::block::Header;
use bitcoin::hex::FromHex;
use bitcoin::{BlockHash, Transaction, TxOut, Txid};
use bytes::Bytes;
use paraffin_primitives::{BlockId, ConnectedBlock, Height, Network};
use parking_lot::Mutex;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{OptionsBuilder, Weighter};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, SemaphorePermit, watch};

use crate::block_check::{self, BlockFault, CheckedBlock};
use crate::config::NodeConfig;
use crate::error::{NodeError, RPC_INVALID_PARAMETER, RPC_NOT_FOUND};
use crate::http::{Answer, Exchange, Transport};
use crate::prefetch;
use crate::rest::{self, MissingRoutes, RestAnswer, Route};
use crate::rpc;
use crate::status::{NodeStatus, StatusCell};

/// Calls under way at once, for JSON-RPC and for REST each. Bitcoin Core turns callers away when its queue of 16 (64 since
/// release 30) is full.
const CALLS_MAX: usize = 8;
/// Whole blocks kept for [`NodeClient::block_part`] where the node cannot cut them, in bytes.
const CACHE_BYTES_MAX: u64 = 64 << 20;
/// Calls in one JSON-RPC batch.
const BATCH_MAX: usize = 500;

/// A client of one node; cheap to clone, connections are pooled.
#[derive(Clone)]
pub struct NodeClient {
    inner: Arc<Inner>,
}

struct Inner {
    config: NodeConfig,
    transport: Transport,
    status: StatusCell,
    /// Set once the node has proven to follow our network; cleared when it goes away.
    connected: AtomicBool,
    connecting: tokio::sync::Mutex<()>,
    /// Attempts to connect that failed, and how the last one did.
    failed: Mutex<(u64, Option<NodeError>)>,
    missing: Mutex<MissingRoutes>,
    rpc_calls: Semaphore,
    rest_calls: Semaphore,
    next_id: AtomicU64,
    blocks: Cache<BlockHash, Bytes, BlockBytes, RandomState>,
}

#[derive(Clone)]
struct BlockBytes;

impl Weighter<BlockHash, Bytes> for BlockBytes {
    fn weight(&self, _: &BlockHash, block: &Bytes) -> u64 {
        block.len() as u64
    }
}

/// What `getblockchaininfo` tells about the node's chain.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ChainInfo {
    /// The node's name of its network: `main`, `signet`, `regtest`.
    pub chain: String,
    /// Height of the best block.
    pub blocks: Height,
    /// Height of the best header; above `blocks` while the node catches up.
    #[serde(default)]
    pub headers: Height,
    /// Hash of the best block.
    #[serde(rename = "bestblockhash")]
    pub best_hash: BlockHash,
    /// Whether the node discards old blocks.
    #[serde(default)]
    pub pruned: bool,
    /// Bytes of the node's block and undo files.
    #[serde(default)]
    pub size_on_disk: u64,
}

/// Where a block stands for the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) struct HeaderStanding {
    /// -1 when the block is not on the node's best chain.
    pub(crate) confirmations: i64,
    pub(crate) height: Height,
}

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
                rpc_calls: Semaphore::new(CALLS_MAX),
                rest_calls: Semaphore::new(CALLS_MAX),
                next_id: AtomicU64::new(1),
                blocks,
            }),
        })
    }

    /// One JSON-RPC call; `params` is an array or object. Numbers keep every digit.
    ///
    /// # Errors
    /// `Rpc` with the node's own code and message, or why there is no answer.
    pub async fn rpc(&self, method: &str, params: Value) -> Result<Value, NodeError> {
        self.typed(method, params).await
    }

    /// One JSON-RPC call whose result is handed over byte for byte as the node wrote it.
    ///
    /// # Errors
    /// As [`Self::rpc`].
    pub async fn rpc_raw(&self, method: &str, params: impl Serialize + Send) -> Result<Box<RawValue>, NodeError> {
        let body_id = self.inner.next_id.fetch_add(1, Ordering::Relaxed);
        let body = rpc::encode_call(body_id, method, params)?;
        self.connect().await?;
        self.call(method, body, rpc::reply_limit(method), |answer| rpc::decode_call(answer, body_id)).await
    }

    /// The whole block in consensus encoding (REST, else JSON-RPC). Its hash, merkle root and, where it has witnesses, its
    /// witness commitment have been checked against the bytes.
    ///
    /// # Errors
    /// `Rpc` -5 when the node knows no such block, -1 when it has pruned it; `Invalid` when it answers another.
    pub async fn block(&self, hash: BlockHash) -> Result<Bytes, NodeError> {
        let bytes = self.fetch_block(hash).await?;
        let kept = bytes.clone();
        self.checked(hash, move || block_check::check_block(&bytes, hash, false)).await?;
        Ok(kept)
    }

    /// The block at `height` with `hash`, checked and decoded off the async threads.
    /// The block `id` with everything that modules need, the spent outputs included where the node has them; checked like
    /// [`Self::block`]. For blocks that have been followed before.
    ///
    /// # Errors
    /// As [`Self::block`].
    pub async fn connected_block(&self, id: BlockId) -> Result<ConnectedBlock, NodeError> {
        prefetch::connected_block(self, id, true).await
    }

    pub(crate) async fn checked_block(&self, hash: BlockHash, height: Height) -> Result<CheckedBlock, NodeError> {
        let bytes = self.fetch_block(hash).await?;
        let witness_required = block_check::witness_required(self.network(), height);
        self.checked(hash, move || block_check::check_block(&bytes, hash, witness_required)).await
    }

    async fn checked<T: Send + 'static>(
        &self,
        hash: BlockHash,
        check: impl FnOnce() -> Result<T, BlockFault> + Send + 'static,
    ) -> Result<T, NodeError> {
        match tokio::task::spawn_blocking(check).await {
            Ok(Ok(checked)) => Ok(checked),
            Ok(Err(fault)) => Err(self.lie(format!("asked for block {hash}, but {fault}"))),
            Err(_) => Err(NodeError::Unavailable("the instance is shutting down".to_owned())),
        }
    }

    /// `size` bytes of a block from `offset` (REST `blockpart` where the node has it, else cut from the whole block).
    /// Only the length of a part from the node can be checked.
    ///
    /// # Errors
    /// `Rpc` -8 when the block has no such bytes, else as [`Self::block`].
    pub async fn block_part(&self, hash: BlockHash, offset: u32, size: u32) -> Result<Bytes, NodeError> {
        let outside = || NodeError::Rpc {
            code: RPC_INVALID_PARAMETER,
            message: format!("block {hash} has no {size} bytes at offset {offset}"),
        };
        let query = format!("?offset={offset}&size={size}");
        if size as usize > rest::BLOCK_BYTES_MAX {
            return Err(outside());
        }
        match self.rest(Route::BlockPart, hash, &query, rest::BLOCK_BYTES_MAX).await? {
            RestAnswer::Found(bytes) if bytes.len() == size as usize => return Ok(bytes),
            RestAnswer::Found(bytes) => {
                return Err(self.lie(format!("asked for {size} bytes of block {hash}, got {}", bytes.len())));
            }
            RestAnswer::Refused => return Err(outside()),
            RestAnswer::NotThisBlock | RestAnswer::NoRoute => {}
        }
        let block = self.inner.blocks.get_or_insert_async(&hash, self.block(hash)).await?;
        let start = offset as usize;
        match start.checked_add(size as usize) {
            Some(end) if end <= block.len() => Ok(block.slice(start..end)),
            _ => Err(outside()),
        }
    }

    /// Outputs spent by every transaction of the block (REST `spenttxouts`, Bitcoin Core 30); `None` where the node has no
    /// such route or no undo data for this block.
    ///
    /// # Errors
    /// `Invalid` when the answer does not decode.
    pub async fn spent_outputs(&self, hash: BlockHash) -> Result<Option<Vec<Vec<TxOut>>>, NodeError> {
        let RestAnswer::Found(bytes) = self.rest(Route::SpentOutputs, hash, "", rest::SPENT_BYTES_MAX).await? else {
            return Ok(None);
        };
        match tokio::task::spawn_blocking(move || rest::decode_spent_outputs(&bytes)).await {
            Ok(Ok(spent)) => Ok(Some(spent)),
            Ok(Err(error)) => Err(self.noted(error)),
            Err(_) => Err(NodeError::Unavailable("the instance is shutting down".to_owned())),
        }
    }

    /// Hash of the block at `height` of the node's best chain.
    ///
    /// # Errors
    /// `Rpc` -8 above the node's tip.
    pub async fn block_hash(&self, height: Height) -> Result<BlockHash, NodeError> {
        self.typed("getblockhash", json!([height])).await
    }

    /// Height of the node's best block.
    ///
    /// # Errors
    /// As [`Self::rpc`].
    pub async fn block_count(&self) -> Result<Height, NodeError> {
        let height = self.typed("getblockcount", json!([])).await?;
        self.inner.status.set_height(height);
        Ok(height)
    }

    /// Hash of the node's best block.
    ///
    /// # Errors
    /// As [`Self::rpc`].
    pub async fn best_block_hash(&self) -> Result<BlockHash, NodeError> {
        self.typed("getbestblockhash", json!([])).await
    }

    /// What the node tells about its chain.
    ///
    /// # Errors
    /// As [`Self::rpc`].
    pub async fn chain_info(&self) -> Result<ChainInfo, NodeError> {
        let info: ChainInfo = self.typed("getblockchaininfo", json!([])).await?;
        self.inner.status.set_height(info.blocks);
        Ok(info)
    }

    /// The header with `hash`, on the best chain or not; `None` when the node does not know it.
    ///
    /// # Errors
    /// `Invalid` when the node answers another header.
    pub async fn header(&self, hash: BlockHash) -> Result<Option<Header>, NodeError> {
        let text: String = match self.typed("getblockheader", json!([hash, false])).await {
            Err(error) if error.is_not_found() => return Ok(None),
            outcome => outcome?,
        };
        self.decode_header(hash, &text).map(Some)
    }

    /// The headers with these hashes, each `None` where the node does not know it. At most 500 hashes.
    pub(crate) async fn headers(&self, hashes: &[BlockHash]) -> Result<Vec<Option<Header>>, NodeError> {
        let calls: Vec<(BlockHash, bool)> = hashes.iter().map(|hash| (*hash, false)).collect();
        let texts: Vec<Option<String>> = self.batch("getblockheader", &calls).await?;
        let decoded = hashes.iter().zip(texts);
        decoded.map(|(hash, text)| text.map(|text| self.decode_header(*hash, &text)).transpose()).collect()
    }

    fn decode_header(&self, hash: BlockHash, hex: &str) -> Result<Header, NodeError> {
        let header: Header = bitcoin::consensus::encode::deserialize_hex(hex)
            .map_err(|error| self.lie(format!("asked for the header {hash}, got what does not decode: {error}")))?;
        if header.block_hash() == hash {
            Ok(header)
        } else {
            Err(self.lie(format!("asked for the header {hash}, got {}", header.block_hash())))
        }
    }

    /// Where the block `hash` stands; `None` when the node does not know it.
    pub(crate) async fn standing(&self, hash: BlockHash) -> Result<Option<HeaderStanding>, NodeError> {
        match self.typed("getblockheader", json!([hash, true])).await {
            Err(error) if error.is_not_found() => Ok(None),
            outcome => outcome.map(Some),
        }
    }

    /// Headers that follow `hash` on the node's best chain, oldest first, at most 1,999; `None` when `hash` is not on it.
    /// An empty list means that `hash` is the node's tip. That the headers link to each other is for the caller to verify.
    ///
    /// # Errors
    /// `Invalid` when the answer does not begin with the header asked for.
    pub async fn headers_after(&self, hash: BlockHash) -> Result<Option<Vec<Header>>, NodeError> {
        let query = format!("?count={}", rest::HEADERS_PER_REQUEST_MAX);
        let limit = rest::HEADERS_PER_REQUEST_MAX * Header::SIZE;
        match self.rest(Route::Headers, hash, &query, limit).await? {
            RestAnswer::Found(bytes) => {
                let mut headers = rest::decode_headers(&bytes).map_err(|error| self.noted(error))?;
                match headers.first() {
                    None => Ok(None),
                    Some(first) if first.block_hash() == hash => Ok(Some(headers.split_off(1))),
                    Some(first) => Err(self.lie(format!("asked for headers from {hash}, got {}", first.block_hash()))),
                }
            }
            RestAnswer::NotThisBlock => Ok(None),
            RestAnswer::Refused | RestAnswer::NoRoute => self.headers_after_by_rpc(hash).await,
        }
    }

    async fn headers_after_by_rpc(&self, hash: BlockHash) -> Result<Option<Vec<Header>>, NodeError> {
        let Some(standing) = self.standing(hash).await? else { return Ok(None) };
        let Ok(following) = usize::try_from(standing.confirmations - 1) else { return Ok(None) };
        if standing.confirmations < 1 {
            return Ok(None);
        }
        let heights: Vec<[Height; 1]> =
            (1..=following.min(BATCH_MAX)).map(|step| [standing.height.saturating_add(step as Height)]).collect();
        // The chain may change between the calls: what is still there and links is worth having.
        let hashes: Vec<Option<BlockHash>> = self.batch("getblockhash", &heights).await?;
        let hashes: Vec<BlockHash> = hashes.into_iter().map_while(|hash| hash).collect();
        let mut headers: Vec<Header> = self.headers(&hashes).await?.into_iter().map_while(|header| header).collect();
        let links = std::iter::once(&hash)
            .chain(&hashes)
            .zip(&headers)
            .take_while(|(previous, header)| header.prev_blockhash == **previous)
            .count();
        headers.truncate(links);
        Ok(Some(headers))
    }

    /// Raw bytes of an unconfirmed (or indexed by the node) transaction, if the node knows it.
    ///
    /// # Errors
    /// `Invalid` when the node answers another transaction.
    pub async fn raw_transaction(&self, txid: Txid) -> Result<Option<Bytes>, NodeError> {
        let text: String = match self.typed("getrawtransaction", json!([txid, false])).await {
            Err(error) if error.is_not_found() => return Ok(None),
            outcome => outcome?,
        };
        let bytes = Vec::<u8>::from_hex(&text)
            .map_err(|_| self.lie(format!("asked for transaction {txid}, got something that is not hex")))?;
        let transaction: Transaction = bitcoin::consensus::deserialize(&bytes)
            .map_err(|error| self.lie(format!("asked for transaction {txid}, got what does not decode: {error}")))?;
        if transaction.compute_txid() != txid {
            return Err(self.lie(format!("asked for transaction {txid}, got {}", transaction.compute_txid())));
        }
        Ok(Some(bytes.into()))
    }

    /// Follows what the instance knows about its node; every call updates it.
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

    async fn fetch_block(&self, hash: BlockHash) -> Result<Bytes, NodeError> {
        if let RestAnswer::Found(bytes) = self.rest(Route::Block, hash, "", rest::BLOCK_BYTES_MAX).await? {
            return Ok(bytes);
        }
        let id = self.inner.next_id.fetch_add(1, Ordering::Relaxed);
        let body = rpc::encode_call(id, "getblock", json!([hash, 0]))?;
        let limit = rest::BLOCK_BYTES_MAX * 2 + 1024;
        let result = self.call("getblock", body, limit, |answer| rpc::decode_call(answer, id)).await?;
        serde_json::from_str::<&str>(result.get())
            .ok()
            .and_then(|hex| Vec::<u8>::from_hex(hex).ok())
            .map(Bytes::from)
            .ok_or_else(|| self.lie(format!("asked for block {hash} as hex, got something else")))
    }

    async fn typed<T: DeserializeOwned>(&self, method: &str, params: Value) -> Result<T, NodeError> {
        let result = self.rpc_raw(method, params).await?;
        serde_json::from_str(result.get())
            .map_err(|error| self.lie(format!("asked for {method}, got an unexpected result: {error}")))
    }

    /// One batch of at most [`BATCH_MAX`] calls; `None` where the node knows no such block or height.
    async fn batch<P, T>(&self, method: &str, calls: &[P]) -> Result<Vec<Option<T>>, NodeError>
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
        let results = self.call(method, body, rpc::reply_limit(method), decode).await?;
        results
            .into_iter()
            .map(|result| match result {
                Err(NodeError::Rpc { code: RPC_NOT_FOUND | RPC_INVALID_PARAMETER, .. }) => Ok(None),
                Err(error) => Err(error),
                Ok(text) => serde_json::from_str(text.get())
                    .map(Some)
                    .map_err(|error| self.lie(format!("asked for {method}, got an unexpected result: {error}"))),
            })
            .collect()
    }

    /// Checks once per connection that the node follows our network.
    async fn connect(&self) -> Result<(), NodeError> {
        let inner = &self.inner;
        if inner.connected.load(Ordering::Acquire) {
            return Ok(());
        }
        let failed_before = inner.failed.lock().0;
        let _one_at_a_time = inner.connecting.lock().await;
        if inner.connected.load(Ordering::Acquire) {
            return Ok(());
        }
        // Whoever waited for an attempt that failed shares its outcome: a node that hangs costs one time-out, not one each.
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
    }

    async fn introduce(&self) -> Result<(), NodeError> {
        let inner = &self.inner;
        let id = inner.next_id.fetch_add(1, Ordering::Relaxed);
        let body = rpc::encode_call(id, "getblockchaininfo", json!([]))?;
        let decode = |answer: &Answer| rpc::decode_call(answer, id);
        let result = self.call("getblockchaininfo", body, rpc::reply_limit("getblockchaininfo"), decode).await?;
        let info: ChainInfo = serde_json::from_str(result.get())
            .map_err(|error| self.lie(format!("asked for getblockchaininfo, got an unexpected result: {error}")))?;
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
        let _permit = self.permit(&self.inner.rpc_calls).await?;
        let repeatable = rpc::is_repeatable(method);
        let answer = self.exchange(Exchange { path: "/".to_owned(), body: Some(body), limit, repeatable }).await?;
        let outcome = decode(&answer);
        self.record(answer.status.as_u16(), &outcome);
        outcome
    }

    async fn rest(&self, route: Route, hash: BlockHash, query: &str, limit: usize) -> Result<RestAnswer, NodeError> {
        self.connect().await?;
        if self.inner.missing.lock().contains(route) {
            return Ok(RestAnswer::NoRoute);
        }
        let _permit = self.permit(&self.inner.rest_calls).await?;
        let answer =
            self.exchange(Exchange { path: route.path(hash, query), body: None, limit, repeatable: true }).await?;
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

    async fn exchange(&self, exchange: Exchange) -> Result<Answer, NodeError> {
        let outcome = self.inner.transport.exchange(&exchange).await;
        if outcome.is_err() {
            self.record(0, &outcome);
        }
        outcome
    }

    /// Notes how a call ended. HTTP 503 from a running node is a full queue, which passes; while it starts, and whenever
    /// there is no answer at all, the connection counts as lost.
    fn record<T>(&self, http_status: u16, outcome: &Result<T, NodeError>) {
        match outcome {
            Err(NodeError::Unavailable(text)) if http_status == 503 && !text.contains("temporarily unavailable") => {
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

    /// An `Invalid` error that is noted in the status.
    pub(crate) fn lie(&self, text: String) -> NodeError {
        self.noted(NodeError::Invalid(text))
    }

    pub(crate) fn noted(&self, error: NodeError) -> NodeError {
        tracing::warn!(%error, "the node's answer was refused");
        let outcome = Err::<(), _>(error.clone());
        self.inner.status.record(&outcome);
        error
    }
}
