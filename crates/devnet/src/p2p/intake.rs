//! Messages of a peer: inventories, headers, blocks and transactions.

use std::collections::BTreeSet;
use std::sync::Arc;

use bitcoin::block::Header;
use bitcoin::p2p::message::NetworkMessage;
use bitcoin::p2p::message_blockdata::Inventory;
use bitcoin::{Block, BlockHash, Transaction};

use super::peer::{HEADERS_MAX, INVENTORY_MAX, Peer, PeerError};
use crate::node::{Rejection, RejectionKind};

/// Most orphan transactions that are held for a peer.
const ORPHANS_MAX: usize = 100;
/// Bytes that they may have together.
const ORPHAN_BYTES_MAX: usize = 1 << 20;

impl Peer {
    pub(super) async fn take_inventory(&mut self, offered: Vec<Inventory>) -> Result<(), PeerError> {
        if offered.len() > INVENTORY_MAX {
            return Err(PeerError::Protocol("an inventory is too long"));
        }
        let mut wanted = Vec::new();
        let mut new_block = false;
        {
            let state = self.node.read();
            for item in offered {
                match item {
                    Inventory::WTx(wtxid) if state.mempool.get_by_wtxid(&wtxid).is_none() => wanted.push(item),
                    Inventory::Transaction(txid) | Inventory::WitnessTransaction(txid) => {
                        let confirmed = state.chain.transaction_block(&txid).is_some();
                        if !confirmed && state.mempool.get(&txid).is_none() {
                            wanted.push(Inventory::WitnessTransaction(txid));
                        }
                    }
                    Inventory::Block(hash) | Inventory::WitnessBlock(hash) | Inventory::CompactBlock(hash) => {
                        new_block |= state.chain.block(&hash).is_none();
                    }
                    _ => {}
                }
            }
        }
        if new_block {
            self.ask_for_headers().await?;
        }
        if wanted.is_empty() { Ok(()) } else { self.send(NetworkMessage::GetData(wanted)).await }
    }

    pub(super) async fn take_headers(&mut self, headers: &[Header]) -> Result<(), PeerError> {
        if headers.len() > HEADERS_MAX {
            return Err(PeerError::Protocol("a headers message is too long"));
        }
        let Some(first) = headers.first() else { return Ok(()) };
        let linked = headers.windows(2).all(|pair| pair[1].prev_blockhash == pair[0].block_hash());
        if !linked || headers.iter().any(|header| !header.target().is_met_by(header.block_hash())) {
            return Err(PeerError::Protocol("headers do not form a chain with proof of work"));
        }
        let known = |hash: &BlockHash| self.node.block(hash).is_some() || self.requested.contains(hash);
        if !known(&first.prev_blockhash) {
            return self.ask_for_headers().await;
        }
        let hashes = headers.iter().map(Header::block_hash);
        let wanted: Vec<BlockHash> = hashes.filter(|hash| !known(hash)).collect();
        if wanted.is_empty() || self.requested.len() > HEADERS_MAX {
            return Ok(());
        }
        self.requested.extend(&wanted);
        self.send(NetworkMessage::GetData(wanted.into_iter().map(Inventory::WitnessBlock).collect())).await
    }

    pub(super) async fn take_block(&mut self, block: Block) -> Result<(), PeerError> {
        let hash = block.block_hash();
        let was_requested = self.requested.remove(&hash);
        if self.given.len() >= HEADERS_MAX {
            self.given.clear();
        }
        self.given.insert(hash);
        let node = Arc::clone(&self.node);
        let taken = tokio::task::spawn_blocking(move || node.submit_block(block)).await;
        let taken = taken.map_err(|_| PeerError::Stopping)?;
        let height = self.node.read().chain.block(&hash).map_or(0, |entry| entry.height);
        self.synced(height);
        match taken {
            // All of a headers message has arrived: there may be more.
            Ok(_) if was_requested && self.requested.is_empty() => self.ask_for_headers().await,
            Ok(_) => Ok(()),
            Err(rejection) if rejection.reason == "prev-blk-not-found" => self.ask_for_headers().await,
            Err(rejection) if rejection.kind == RejectionKind::Duplicate => Ok(()),
            Err(rejection) => Err(PeerError::InvalidBlock(rejection)),
        }
    }

    pub(super) async fn take_transaction(&mut self, tx: Arc<Transaction>) -> Result<(), PeerError> {
        self.remember(tx.compute_wtxid());
        match self.admit(Arc::clone(&tx)).await? {
            Ok(()) => self.retry_orphans().await,
            Err(rejection) if rejection.is_missing_inputs() => {
                let parents: BTreeSet<_> = {
                    let state = self.node.read();
                    let unknown = tx.input.iter().map(|input| input.previous_output.txid).filter(|txid| {
                        state.mempool.get(txid).is_none() && state.chain.transaction_block(txid).is_none()
                    });
                    unknown.collect()
                };
                if parents.is_empty() {
                    return Ok(());
                }
                self.orphans.push_back(tx);
                while self.orphans.len() > ORPHANS_MAX
                    || self.orphans.iter().map(|tx| tx.total_size()).sum::<usize>() > ORPHAN_BYTES_MAX
                {
                    self.orphans.pop_front();
                }
                self.send(NetworkMessage::GetData(parents.into_iter().map(Inventory::WitnessTransaction).collect()))
                    .await
            }
            Err(rejection) => {
                tracing::debug!(%rejection, "a peer sent a transaction that was not accepted");
                Ok(())
            }
        }
    }

    pub(super) async fn admit(&self, tx: Arc<Transaction>) -> Result<Result<(), Rejection>, PeerError> {
        let node = Arc::clone(&self.node);
        let admitted = tokio::task::spawn_blocking(move || node.admit(tx).map(|_| ())).await;
        admitted.map_err(|_| PeerError::Stopping)
    }

    /// Tries the orphans again as long as one of them finds its parents.
    pub(super) async fn retry_orphans(&mut self) -> Result<(), PeerError> {
        loop {
            let mut progress = false;
            for tx in std::mem::take(&mut self.orphans) {
                match self.admit(Arc::clone(&tx)).await? {
                    Ok(()) => progress = true,
                    Err(rejection) if rejection.is_missing_inputs() => self.orphans.push_back(tx),
                    Err(_) => {}
                }
            }
            if !progress {
                return Ok(());
            }
        }
    }

    pub(super) fn synced(&self, height: u32) {
        let mut info = self.handle.info.lock();
        info.synced_height = info.synced_height.max(height);
    }
}
