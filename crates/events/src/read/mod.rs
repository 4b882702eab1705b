//! The events of one block, out of the index.

mod contracts;
mod ordinals;
mod outputs;
mod trades;

use std::sync::Arc;

use bitcoin::{Address, Script, Txid};
use paraffin_amm::Journal;
use paraffin_bitcoin_index::BitcoinIndex;
use paraffin_ordinals_index::OrdinalsIndex;
use paraffin_ordinals_index::reader::{MayKeep, MovesReader};
use paraffin_primitives::{BlockId, Height, Network};
use paraffin_store::{ModuleId, Snapshot};

use crate::cursor::index_of;
use crate::event::{BlockConnected, Event, Occasion, TransferEvent};
use crate::{Checksum, Cursor, EventError, Kind, PreparedFilter};

/// Estimated memory of an event beside its text, bytes.
const EVENT_BYTES: usize = 48;
/// Estimated memory of a transfer with its addresses, bytes.
const TRANSFER_BYTES: usize = size_of::<(u64, TransferEvent)>() + 160;
/// First number of the second group of events of a kind in a transaction: created after spent outputs.
const SECOND_HALF: u32 = 1 << 28;

/// An event as it is sent, and its position in its block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocatedEvent {
    /// The index of its cursor.
    pub index: u64,
    /// Its JSON.
    pub text: String,
}

/// The events of a block that pass a filter, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockEvents {
    /// The block.
    pub block: BlockId,
    /// The events.
    pub events: Vec<LocatedEvent>,
    /// Their checksum.
    pub checksum: Checksum,
}

/// A module beside the market index with the trades of pools that no factory lists.
#[derive(Debug, Clone, Copy)]
pub struct PoolModule {
    /// Its number in the store.
    pub id: ModuleId,
    /// Its tables of trades.
    pub journal: Journal,
    /// Its name in the error where it is missing.
    pub name: &'static str,
}

/// Reads the events of blocks, all as of one snapshot. Blocking.
pub struct EventReader {
    bitcoin: BitcoinIndex,
    /// Pools whose trades follow those of factory pools.
    unlisted_pools: Option<PoolModule>,
    moves: MovesReader,
    may_keep: MayKeep,
}

impl EventReader {
    /// Reads `snapshot`, whose addresses belong to `network`. Asks `may_keep` with the bytes of each event before it is kept,
    /// and with those of rows of undo records.
    pub fn new(snapshot: &Snapshot, network: Network, may_keep: MayKeep) -> Self {
        Self {
            bitcoin: BitcoinIndex::new(snapshot.clone(), network),
            unlisted_pools: None,
            moves: OrdinalsIndex::new(snapshot.clone(), network).counting(Arc::clone(&may_keep)).moves(),
            may_keep,
        }
    }

    /// With the trades of pools that no factory lists.
    #[must_use]
    pub fn with_unlisted_pools(self, pools: PoolModule) -> Self {
        Self { unlisted_pools: Some(pools), ..self }
    }

    pub(crate) fn bitcoin(&self) -> &BitcoinIndex {
        &self.bitcoin
    }

    fn snapshot(&self) -> &Snapshot {
        self.bitcoin.snapshot()
    }

    /// The newest block whose events can be read by a filter; `None` while there is none.
    ///
    /// # Errors
    /// [`EventError::NotIndexed`] where the filter needs an index that this instance does not have; those of reading.
    pub fn newest(&self, filter: &PreparedFilter) -> Result<Option<Height>, EventError> {
        let Some(tip) = self.bitcoin.tip()? else { return Ok(None) };
        let unlisted = self.unlisted_pools.map(|pools| (&[Kind::Trade][..], pools.id, pools.name));
        let modules: [(&[Kind], ModuleId, &'static str); 3] = [
            (&[Kind::Transfer, Kind::Call], paraffin_alkanes::MODULE, "alkanes"),
            (&[Kind::Trade], paraffin_amm::MODULE, "markets"),
            (&[Kind::Inscription, Kind::Rune], paraffin_ordinals_index::MODULE, "inscriptions and runes"),
        ];
        let mut newest = tip.height;
        for (kinds, module, name) in modules.into_iter().chain(unlisted) {
            if kinds.iter().any(|kind| filter.wants(*kind)) {
                let height = self.snapshot().module_height(module)?.ok_or(EventError::NotIndexed(name))?;
                newest = newest.min(height);
            }
        }
        Ok(Some(newest))
    }

    /// The events of the block at `height` that pass a filter; `None` when it is not indexed. Kinds that the filter does not want are not
    /// read.
    ///
    /// # Errors
    /// Those of reading, [`EventError::HistoryNotKept`], [`EventError::OutOfMemory`].
    pub fn block(&mut self, height: Height, filter: &PreparedFilter) -> Result<Option<BlockEvents>, EventError> {
        let Some(header) = self.bitcoin.block_header(height)? else { return Ok(None) };
        let block = BlockId { height, hash: header.block_hash() };
        let may_keep = Arc::clone(&self.may_keep);
        let mut collector =
            EventCollector { block, network: self.bitcoin.network(), events: Vec::new(), transfers: None, may_keep };
        if filter.wants(Kind::Block) {
            let previous_hash = header.prev_blockhash;
            collector.push_at(0, None, |occasion| {
                Event::BlockConnected(BlockConnected { occasion, previous_hash, time: header.time })
            })?;
        }
        if filter.wants(Kind::Address) || filter.wants(Kind::Transfer) {
            self.outputs(filter, &mut collector)?;
        }
        if filter.wants(Kind::Transfer) || filter.wants(Kind::Call) {
            self.contracts(filter, &mut collector)?;
        }
        if filter.wants(Kind::Trade) {
            self.trades(filter, &mut collector)?;
        }
        if filter.wants(Kind::Inscription) || filter.wants(Kind::Rune) {
            self.ordinals(filter, &mut collector)?;
        }
        Ok(Some(collector.finish()))
    }

    /// The transfers of the block at `height` that pass a filter, in the order of their events, for programs that have no use for their
    /// JSON; `None` when it is not indexed. Other kinds that the filter wants are left out.
    ///
    /// # Errors
    /// Those of reading, [`EventError::OutOfMemory`].
    pub fn transfers(
        &mut self,
        height: Height,
        filter: &PreparedFilter,
    ) -> Result<Option<Vec<TransferEvent>>, EventError> {
        let Some(header) = self.bitcoin.block_header(height)? else { return Ok(None) };
        if !filter.wants(Kind::Transfer) {
            return Ok(Some(Vec::new()));
        }
        let block = BlockId { height, hash: header.block_hash() };
        let (network, may_keep) = (self.bitcoin.network(), Arc::clone(&self.may_keep));
        let mut collector =
            EventCollector { block, network, events: Vec::new(), transfers: Some(Vec::new()), may_keep };
        self.outputs(filter, &mut collector)?;
        self.contracts(filter, &mut collector)?;
        let mut transfers = collector.transfers.unwrap_or_default();
        transfers.sort_by_key(|(index, _)| *index);
        Ok(Some(transfers.into_iter().map(|(_, transfer)| transfer).collect()))
    }
}

/// Collects the events of a block.
struct EventCollector {
    block: BlockId,
    network: Network,
    events: Vec<LocatedEvent>,
    /// Transfers by their index; with it no event is rendered.
    transfers: Option<Vec<(u64, TransferEvent)>>,
    may_keep: MayKeep,
}

/// A transaction and its index in the block.
#[derive(Clone, Copy)]
struct TransactionPosition {
    transaction: u32,
    txid: Txid,
}

impl EventCollector {
    /// Adds an event of a transaction. `number` is its number among those of its kind, whether or not the others are wanted.
    fn push(
        &mut self,
        of: TransactionPosition,
        kind: Kind,
        number: u32,
        event: impl FnOnce(Occasion) -> Event,
    ) -> Result<(), EventError> {
        self.push_at(index_of(of.transaction, kind, number), Some(of.txid), event)
    }

    fn push_at(
        &mut self,
        index: u64,
        txid: Option<Txid>,
        event: impl FnOnce(Occasion) -> Event,
    ) -> Result<(), EventError> {
        let BlockId { height, hash } = self.block;
        let occasion = Occasion { cursor: Cursor { height, hash, index }, height, block_hash: hash, txid };
        let event = event(occasion);
        if let Some(transfers) = &mut self.transfers {
            if let Event::Transfer(transfer) = event {
                if !(self.may_keep)(TRANSFER_BYTES) {
                    return Err(EventError::OutOfMemory);
                }
                transfers.push((index, transfer));
            }
            return Ok(());
        }
        let text = serde_json::to_string(&event)?;
        if !(self.may_keep)(text.len() + EVENT_BYTES) {
            return Err(EventError::OutOfMemory);
        }
        self.events.push(LocatedEvent { index, text });
        Ok(())
    }

    fn address(&self, script: &Script) -> Option<String> {
        Address::from_script(script, self.network.bitcoin()).ok().map(|address| address.to_string())
    }

    fn finish(mut self) -> BlockEvents {
        self.events.sort_by_key(|event| event.index);
        let mut checksum = Checksum::default();
        self.events.iter().for_each(|event| checksum.add(&event.text));
        BlockEvents { block: self.block, events: self.events, checksum }
    }
}

/// The next number of each transaction.
#[derive(Default)]
struct Numbers {
    transaction: u32,
    next: u32,
}

impl Numbers {
    /// The next number; transactions come one after the other.
    fn next(&mut self, transaction: u32) -> u32 {
        if self.transaction != transaction {
            *self = Self { transaction, next: 0 };
        }
        let number = self.next;
        self.next = number.saturating_add(1);
        number
    }
}
