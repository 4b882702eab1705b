//! What a peer is given: headers, blocks, transactions and announcements.

use std::sync::Arc;

use bitcoin::consensus::serialize;
use bitcoin::hashes::Hash;
use bitcoin::p2p::message::NetworkMessage;
use bitcoin::p2p::message_blockdata::{GetHeadersMessage, Inventory};
use bitcoin::{Block, BlockHash, Transaction, Wtxid};

use super::peer::{HEADERS_MAX, INVENTORY_MAX, Peer, PeerError};
use super::{PROTOCOL_VERSION, wire};
use crate::node::{Chain, NodeEvent};

/// Most block hashes in the answer to `getblocks`.
const HASHES_MAX: usize = 500;
/// Blocks that are announced by headers rather than by the newest hash alone.
const ANNOUNCED_HEADERS_MAX: usize = 8;
/// Most transactions that are remembered as known to a peer; the set is cleared then.
const KNOWN_MAX: usize = 50_000;

impl Peer {
    /// Asks for headers that follow what we have.
    pub(super) async fn ask_for_headers(&mut self) -> Result<(), PeerError> {
        let locator_hashes = locator(&self.node.read().chain);
        let question =
            GetHeadersMessage { version: PROTOCOL_VERSION, locator_hashes, stop_hash: BlockHash::all_zeros() };
        self.send(NetworkMessage::GetHeaders(question)).await
    }

    pub(super) async fn send_headers(&mut self, locator: &[BlockHash], stop: BlockHash) -> Result<(), PeerError> {
        let (headers, last) = {
            let state = self.node.read();
            let chain = &state.chain;
            let mut headers = Vec::new();
            let mut last = 0;
            if locator.is_empty() {
                // Without a locator the question is for the one header named.
                if let Some(entry) = chain.block(&stop).filter(|_| chain.is_main(&stop)) {
                    headers.push(entry.block.header);
                }
            } else {
                for hash in chain.main().iter().skip(first_unknown(chain, locator)).take(HEADERS_MAX) {
                    if let Some(entry) = chain.block(hash) {
                        headers.push(entry.block.header);
                        last = entry.height;
                    }
                    if *hash == stop {
                        break;
                    }
                }
            }
            (headers, last)
        };
        self.synced(last);
        self.send(NetworkMessage::Headers(headers)).await
    }

    pub(super) async fn send_hashes(&mut self, locator: &[BlockHash], stop: BlockHash) -> Result<(), PeerError> {
        let hashes: Vec<Inventory> = {
            let state = self.node.read();
            let first = first_unknown(&state.chain, locator);
            let hashes = state.chain.main().iter().skip(first).take(HASHES_MAX);
            hashes.take_while(|hash| **hash != stop).map(|hash| Inventory::Block(*hash)).collect()
        };
        if hashes.is_empty() { Ok(()) } else { self.send(NetworkMessage::Inv(hashes)).await }
    }

    pub(super) async fn send_data(&mut self, wanted: Vec<Inventory>) -> Result<(), PeerError> {
        if wanted.len() > INVENTORY_MAX {
            return Err(PeerError::Protocol("an inventory is too long"));
        }
        let mut missing = Vec::new();
        for item in wanted {
            let frame = match item {
                Inventory::Block(hash) => self.node.block(&hash).map(|block| wire::frame("block", &stripped(&block))),
                Inventory::WitnessBlock(hash) | Inventory::CompactBlock(hash) => {
                    self.node.block_bytes(&hash).map(|bytes| wire::frame("block", &bytes))
                }
                Inventory::Transaction(txid) => {
                    self.node.mempool_transaction(&txid).map(|tx| wire::frame("tx", &stripped_transaction(&tx)))
                }
                Inventory::WitnessTransaction(txid) => {
                    self.node.mempool_transaction(&txid).map(|tx| wire::frame("tx", &serialize(&*tx)))
                }
                Inventory::WTx(wtxid) => {
                    let tx = self.node.read().mempool.get_by_wtxid(&wtxid).map(|entry| Arc::clone(&entry.tx));
                    tx.map(|tx| wire::frame("tx", &serialize(&*tx)))
                }
                _ => None,
            };
            match frame {
                Some(frame) => self.write(frame).await?,
                None => missing.push(item),
            }
        }
        if missing.is_empty() { Ok(()) } else { self.send(NetworkMessage::NotFound(missing)).await }
    }

    pub(super) fn inventory(&self, tx: &Transaction) -> Inventory {
        if self.by_wtxid { Inventory::WTx(tx.compute_wtxid()) } else { Inventory::Transaction(tx.compute_txid()) }
    }

    pub(super) fn remember(&mut self, wtxid: Wtxid) -> bool {
        if self.known.len() >= KNOWN_MAX {
            self.known.clear();
        }
        self.known.insert(wtxid)
    }

    pub(super) async fn announce(&mut self, event: NodeEvent) -> Result<(), PeerError> {
        match event {
            NodeEvent::Transaction(tx) => {
                if !self.relay || !self.pays_enough(&tx) || !self.remember(tx.compute_wtxid()) {
                    return Ok(());
                }
                let item = self.inventory(&tx);
                self.send(NetworkMessage::Inv(vec![item])).await
            }
            NodeEvent::Chain { connected, .. } => self.announce_blocks(&connected).await,
        }
    }

    /// Whether the peer wants to hear of a transaction of this feerate.
    pub(super) fn pays_enough(&self, tx: &Transaction) -> bool {
        let filter = self.handle.info.lock().fee_filter;
        let state = self.node.read();
        let entry = state.mempool.get(&tx.compute_txid());
        entry.is_some_and(|entry| u128::from(entry.fee) * 1000 >= u128::from(filter) * u128::from(entry.vsize))
    }

    pub(super) async fn announce_blocks(&mut self, connected: &[BlockHash]) -> Result<(), PeerError> {
        let Some(newest) = connected.last().copied().filter(|hash| !self.given.contains(hash)) else {
            return Ok(());
        };
        if self.wants_headers && connected.len() <= ANNOUNCED_HEADERS_MAX {
            let headers: Vec<_> =
                connected.iter().filter_map(|hash| self.node.block(hash)).map(|block| block.header).collect();
            return self.send(NetworkMessage::Headers(headers)).await;
        }
        self.send(NetworkMessage::Inv(vec![Inventory::Block(newest)])).await
    }

    /// Events were missed: everything is announced.
    pub(super) async fn announce_all(&mut self) -> Result<(), PeerError> {
        let tip = self.node.tip().hash;
        self.announce_blocks(&[tip]).await?;
        if self.relay { self.announce_mempool().await } else { Ok(()) }
    }

    pub(super) async fn announce_mempool(&mut self) -> Result<(), PeerError> {
        let transactions: Vec<Arc<Transaction>> = {
            let state = self.node.read();
            let txids = state.mempool.txids();
            txids.iter().filter_map(|txid| state.mempool.get(txid)).map(|entry| Arc::clone(&entry.tx)).collect()
        };
        let mut items = Vec::with_capacity(transactions.len());
        for tx in &transactions {
            self.remember(tx.compute_wtxid());
            items.push(self.inventory(tx));
        }
        for part in items.chunks(INVENTORY_MAX) {
            self.send(NetworkMessage::Inv(part.to_vec())).await?;
        }
        Ok(())
    }
}

/// Hashes of the best chain from the tip back, at growing distances.
fn locator(chain: &Chain) -> Vec<BlockHash> {
    let mut hashes = Vec::new();
    let (mut height, mut step) = (chain.height(), 1);
    loop {
        hashes.extend(chain.hash_at(height));
        if height == 0 {
            return hashes;
        }
        if hashes.len() >= 10 {
            step *= 2;
        }
        height = height.saturating_sub(step);
    }
}

/// Position in the best chain of the first block after the newest one that the locator names.
fn first_unknown(chain: &Chain, locator: &[BlockHash]) -> usize {
    let known = locator.iter().find(|hash| chain.is_main(hash)).and_then(|hash| chain.block(hash));
    known.map_or(0, |entry| entry.height) as usize + 1
}

fn stripped_transaction(tx: &Transaction) -> Vec<u8> {
    let mut tx = tx.clone();
    for input in &mut tx.input {
        input.witness.clear();
    }
    serialize(&tx)
}

fn stripped(block: &Block) -> Vec<u8> {
    let mut block = block.clone();
    for input in block.txdata.iter_mut().flat_map(|tx| &mut tx.input) {
        input.witness.clear();
    }
    serialize(&block)
}
