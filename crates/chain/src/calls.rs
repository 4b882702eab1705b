//! Requests of the instance to its node: blocks, parts of blocks, spent outputs, headers, transactions.

use bitcoin::block::Header;
use bitcoin::hex::FromHex;
use bitcoin::{BlockHash, Transaction, TxOut, Txid};
use bytes::Bytes;
use paraffin_primitives::{BlockId, ConnectedBlock, Height};
use serde::Deserialize;
use serde_json::json;

use crate::block_check::{self, BlockFault, CheckedBlock};
use crate::client::{BATCH_MAX, NodeClient};
use crate::error::{NodeError, RPC_INVALID_PARAMETER};
use crate::prefetch;
use crate::rest::{self, RestAnswer, Route};

/// The reply of `getblockchaininfo`.
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

/// The reply of `getrawtransaction` with verbosity 1.
#[derive(Debug, Deserialize)]
struct RawTransactionReply {
    hex: String,
    /// Absent while it is unconfirmed.
    blockhash: Option<BlockHash>,
    /// 0 or absent for a block outside of the best chain.
    #[serde(default)]
    confirmations: u64,
}

/// Confirmations and height of a block by the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) struct HeaderStanding {
    /// -1 when the block is not on the node's best chain.
    pub(crate) confirmations: i64,
    pub(crate) height: Height,
}

impl NodeClient {
    /// The whole block in consensus encoding (REST, else JSON-RPC). Its hash, merkle root and, where it has witnesses, its
    /// witness commitment have been checked against the bytes.
    ///
    /// # Errors
    /// `Rpc` -5 when the node knows no such block, -1 when it has pruned it; `Invalid` when it returns another one.
    pub async fn block(&self, hash: BlockHash) -> Result<Bytes, NodeError> {
        let bytes = self.fetch_block(hash).await?;
        let copy = bytes.clone();
        self.checked(hash, move || block_check::check_block(&bytes, hash, false)).await?;
        Ok(copy)
    }

    /// The block `id` with everything that modules need, the spent outputs included where the node has them; checked like
    /// [`Self::block`]. For blocks that have been followed before.
    /// Boxed, so that blocks are read by this crate alone.
    ///
    /// # Errors
    /// As [`Self::block`].
    pub fn connected_block(
        &self,
        id: BlockId,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<ConnectedBlock, NodeError>> + Send + '_>> {
        Box::pin(async move { prefetch::connected_block(self, id, true).await })
    }

    /// The block at `height` with `hash`, checked and decoded off the async threads.
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
            Ok(Err(fault)) => Err(self.invalid(format!("asked for block {hash}, but {fault}"))),
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
                return Err(self.invalid(format!("asked for {size} bytes of block {hash}, got {}", bytes.len())));
            }
            RestAnswer::Refused => return Err(outside()),
            RestAnswer::NotThisBlock | RestAnswer::NoRoute => {}
        }
        let block = self.block_cache().get_or_insert_async(&hash, self.block(hash)).await?;
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
        self.status_cell().set_height(height);
        Ok(height)
    }

    /// Hash of the node's best block.
    ///
    /// # Errors
    /// As [`Self::rpc`].
    pub async fn best_block_hash(&self) -> Result<BlockHash, NodeError> {
        self.typed("getbestblockhash", json!([])).await
    }

    /// The node's report about its chain.
    ///
    /// # Errors
    /// As [`Self::rpc`].
    pub async fn chain_info(&self) -> Result<ChainInfo, NodeError> {
        let info: ChainInfo = self.typed("getblockchaininfo", json!([])).await?;
        self.status_cell().set_height(info.blocks);
        Ok(info)
    }

    /// The header with `hash`, on the best chain or not; `None` when the node does not know it.
    ///
    /// # Errors
    /// `Invalid` when the node returns another header.
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
            .map_err(|error| self.invalid(format!("asked for the header {hash}, got what does not decode: {error}")))?;
        if header.block_hash() == hash {
            Ok(header)
        } else {
            Err(self.invalid(format!("asked for the header {hash}, got {}", header.block_hash())))
        }
    }

    /// Confirmations and height of the block `hash`; `None` when the node does not know it.
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
    /// `Invalid` when the answer does not begin with the requested header.
    pub async fn headers_after(&self, hash: BlockHash) -> Result<Option<Vec<Header>>, NodeError> {
        let query = format!("?count={}", rest::HEADERS_PER_REQUEST_MAX);
        let limit = rest::HEADERS_PER_REQUEST_MAX * Header::SIZE;
        match self.rest(Route::Headers, hash, &query, limit).await? {
            RestAnswer::Found(bytes) => {
                let mut headers = rest::decode_headers(&bytes).map_err(|error| self.noted(error))?;
                match headers.first() {
                    None => Ok(None),
                    Some(first) if first.block_hash() == hash => Ok(Some(headers.split_off(1))),
                    Some(first) => {
                        Err(self.invalid(format!("asked for headers from {hash}, got {}", first.block_hash())))
                    }
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
        // The chain may change between the calls: headers that still link are used.
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

    /// Raw bytes of an unconfirmed transaction, if the node has it. A node with `txindex` also returns those of
    /// blocks: those of the best chain are returned, since they may not be indexed here yet; a transaction of a stale block alone
    /// is not.
    ///
    /// # Errors
    /// `Invalid` when the node returns another transaction.
    pub async fn raw_transaction(&self, txid: Txid) -> Result<Option<Bytes>, NodeError> {
        let reply: RawTransactionReply = match self.typed("getrawtransaction", json!([txid, 1])).await {
            Err(error) if error.is_not_found() => return Ok(None),
            outcome => outcome?,
        };
        if reply.blockhash.is_some() && reply.confirmations == 0 {
            return Ok(None);
        }
        let bytes = Vec::<u8>::from_hex(&reply.hex)
            .map_err(|_| self.invalid(format!("asked for transaction {txid}, got something that is not hex")))?;
        let transaction: Transaction = bitcoin::consensus::deserialize(&bytes).map_err(|error| {
            self.invalid(format!("asked for transaction {txid}, got what does not decode: {error}"))
        })?;
        if transaction.compute_txid() != txid {
            return Err(self.invalid(format!("asked for transaction {txid}, got {}", transaction.compute_txid())));
        }
        Ok(Some(bytes.into()))
    }

    async fn fetch_block(&self, hash: BlockHash) -> Result<Bytes, NodeError> {
        if let RestAnswer::Found(bytes) = self.rest(Route::Block, hash, "", rest::BLOCK_BYTES_MAX).await? {
            return Ok(bytes);
        }
        let limit = rest::BLOCK_BYTES_MAX * 2 + 1024;
        let result = self.rpc_at_most("getblock", json!([hash, 0]), limit).await.map_err(NodeError::into_invalid)?;
        serde_json::from_str::<&str>(result.get())
            .ok()
            .and_then(|hex| Vec::<u8>::from_hex(hex).ok())
            .map(Bytes::from)
            .ok_or_else(|| self.invalid(format!("asked for block {hash} as hex, got something else")))
    }
}
