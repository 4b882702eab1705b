//! A chain of market events in a real store, with contracts that are only a map: blocks of thousands of pools in no time.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use bitcoin::hashes::Hash as _;
use bitcoin::{BlockHash, ScriptBuf, Txid};
use paraffin_alkanes::{StateKey, Transfer};
use paraffin_primitives::{AlkaneId, BlockId, Height, Network};
use paraffin_store::{ModuleSchema, Store, StoreOptions, Writer};
use tempfile::TempDir;

use super::{BookRules, ContractHistory, MarketBook};
use crate::routing::{Fees, amount_out};
use crate::tables::{MODULE, SCHEMA};
use crate::{Action, AmmError, ChainPosition, ContractReads, Event, Markets, MessageTrace, PoolIdentity, PoolState};

pub(super) const FACTORY: AlkaneId = AlkaneId { block: 4, tx: 65_522 };
pub(super) const WRAPPED: AlkaneId = AlkaneId { block: 32, tx: 0 };

pub(super) const fn id(tx: u128) -> AlkaneId {
    AlkaneId { block: 2, tx }
}

type Slots = BTreeMap<StateKey, Vec<u8>>;

struct Block {
    id: BlockId,
    /// Changed values of the block.
    changes: Slots,
    touched: HashSet<AlkaneId>,
}

/// The chain, its index, and its contracts.
pub(super) struct MarketFixture {
    _folder: TempDir,
    pub(super) store: Store,
    writer: Writer,
    blocks: Vec<Block>,
    /// Every value of a key by height.
    state: HashMap<StateKey, BTreeMap<Height, Vec<u8>>>,
    pools: Vec<(Height, PoolIdentity)>,
    /// Reads of contracts so far.
    pub(super) reads: Rc<Cell<u64>>,
    branch: u8,
}

impl MarketFixture {
    pub(super) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let options = StoreOptions { network: Network::Regtest, undo_blocks: None, memory_bytes: 256 << 20 };
        let schema = ModuleSchema { reads: &[], ..SCHEMA };
        let store = Store::open(folder.path(), &options, &[schema]).unwrap();
        let writer = store.writer().unwrap();
        let (blocks, state, pools) = (Vec::new(), HashMap::new(), Vec::new());
        Self { _folder: folder, store, writer, blocks, state, pools, reads: Rc::default(), branch: 0 }
    }

    /// Appends a block with the operations of `fill`.
    pub(super) fn block(&mut self, time: u32, fill: impl FnOnce(&mut Filling<'_>)) {
        let height = self.blocks.len() as Height;
        let mut bytes = [self.branch; 32];
        bytes[..4].copy_from_slice(&height.to_be_bytes());
        let hash = BlockHash::from_byte_array(bytes);
        let previous = self.blocks.last().map_or(BlockHash::all_zeros(), |block| block.id.hash);
        let id = BlockId { height, hash };
        let (events, changes, touched) = (Vec::new(), Slots::new(), HashSet::new());
        let mut filling = Filling { fixture: self, time, height, events, changes, touched };
        fill(&mut filling);
        let Filling { events, changes, touched, .. } = filling;
        for (key, value) in &changes {
            self.state.entry(key.clone()).or_default().insert(height, value.clone());
        }
        self.writer.begin_block(id, previous, time).unwrap();
        crate::module::write(&events, &mut self.writer.module(MODULE).unwrap()).unwrap();
        self.writer.end_block().unwrap();
        self.writer.commit(false).unwrap();
        self.blocks.push(Block { id, changes, touched });
    }

    /// Undoes the newest block; later blocks are another branch.
    pub(super) fn undo(&mut self) {
        let block = self.blocks.pop().unwrap();
        self.writer.undo_block().unwrap();
        for key in block.changes.keys() {
            self.state.get_mut(key).unwrap().remove(&block.id.height);
        }
        self.pools.retain(|(height, _)| *height < block.id.height);
        self.branch = self.branch.wrapping_add(1);
    }

    pub(super) fn height(&self) -> Height {
        self.blocks.len() as Height - 1
    }

    pub(super) fn pools(&self) -> Vec<PoolIdentity> {
        self.pools.iter().map(|(_, pool)| *pool).collect()
    }

    fn read(&self, key: &StateKey, height: Height) -> Option<&Vec<u8>> {
        Some(self.state.get(key)?.range(..=height).next_back()?.1)
    }

    pub(super) fn reserves(&self, pool: &PoolIdentity) -> [u128; 2] {
        pool.tokens.map(|what| {
            let held = self.read(&StateKey::Balance { what, who: pool.id }, Height::MAX);
            held.map_or(0, |bytes| u128::from_le_bytes(bytes[..].try_into().unwrap()))
        })
    }

    pub(super) fn markets_at(&self, height: Height) -> Markets {
        Markets::at(&self.store.snapshot(), height)
    }

    pub(super) fn book_at(&self, height: Height, previous: Option<&MarketBook>) -> MarketBook {
        MarketBook::build(&self.markets_at(height), self, &BookRules::default(), previous, &|| false).unwrap()
    }

    pub(super) fn book(&self, previous: Option<&MarketBook>) -> MarketBook {
        self.book_at(Height::MAX, previous)
    }
}

struct Reads<'t>(&'t MarketFixture, Height);

impl ContractReads for Reads<'_> {
    fn traces(&self, _: Height) -> Result<Vec<MessageTrace>, AmmError> {
        Ok(Vec::new())
    }

    fn state(&self, key: &StateKey) -> Result<Option<Vec<u8>>, AmmError> {
        self.0.reads.set(self.0.reads.get() + 1);
        Ok(self.0.read(key, self.1).cloned())
    }
}

impl ContractHistory for MarketFixture {
    fn at(&self, height: Height) -> Box<dyn ContractReads + '_> {
        Box::new(Reads(self, height))
    }

    fn touched(&self, height: Height) -> Result<Option<HashSet<AlkaneId>>, AmmError> {
        Ok(self.blocks.get(height as usize).map(|block| block.touched.clone()))
    }
}

/// A block under construction.
pub(super) struct Filling<'t> {
    fixture: &'t mut MarketFixture,
    time: u32,
    height: Height,
    events: Vec<Event>,
    changes: Slots,
    touched: HashSet<AlkaneId>,
}

impl Filling<'_> {
    fn event(&mut self, action: Action) {
        let position = ChainPosition { height: self.height, transaction: self.events.len() as u32, event: 0 };
        self.events.push(Event {
            position,
            txid: Txid::all_zeros(),
            time: self.time,
            protostone: 0,
            vout: 3,
            actor: Some(ScriptBuf::from_bytes(vec![0x51])),
            successful: true,
            action,
        });
    }

    fn slot(&mut self, pool: AlkaneId, name: &str, value: &[u8]) {
        self.touched.insert(pool);
        self.changes.insert(StateKey::Storage(pool, name.as_bytes().to_vec()), value.to_vec());
    }

    pub(super) fn name(&mut self, pool: AlkaneId, name: &[u8]) {
        self.slot(pool, "/name", name);
    }

    /// Sets the reserves of a pool without an event, as by a transfer to it.
    pub(super) fn hold(&mut self, pool: &PoolIdentity, reserves: [u128; 2]) {
        self.touched.insert(pool.id);
        for (what, held) in pool.tokens.into_iter().zip(reserves) {
            self.changes.insert(StateKey::Balance { what, who: pool.id }, held.to_le_bytes().to_vec());
        }
    }

    pub(super) fn create(&mut self, factory: AlkaneId, number: u128, mut sides: [(AlkaneId, u128); 2]) -> PoolIdentity {
        sides.sort_unstable_by_key(|(token, _)| *token);
        let pool = PoolIdentity { id: id(number), factory, tokens: sides.map(|(token, _)| token) };
        let amounts = sides.map(|(_, amount)| amount);
        self.hold(&pool, amounts);
        self.slot(pool.id, "/totalsupply", &1_000_000u128.to_le_bytes());
        self.fixture.pools.push((self.height, pool));
        self.event(Action::Creation { pool, amounts, liquidity: 999_000 });
        pool
    }

    /// Sells `amount` of the alkane at `index`; nothing happens when nothing would come out.
    pub(super) fn swap(&mut self, pool: &PoolIdentity, index: usize, amount: u128) {
        let reserves = pool.tokens.map(|what| {
            let key = StateKey::Balance { what, who: pool.id };
            let held = self.changes.get(&key).or_else(|| self.fixture.read(&key, Height::MAX));
            held.map_or(0, |bytes| u128::from_le_bytes(bytes[..].try_into().unwrap()))
        });
        let state =
            PoolState { pool: *pool, reserves, supply: 0, fee_per_1000: 10, claimable_fees: 0, name: String::new() };
        let Some(out) = amount_out(&state.for_routes(), index, amount, Fees::Pool) else { return };
        let mut after = reserves;
        after[index] += amount;
        after[1 - index] -= out;
        self.hold(pool, after);
        self.event(Action::Swap {
            pool: *pool,
            sold: Transfer { id: pool.tokens[index], value: amount },
            bought: Transfer { id: pool.tokens[1 - index], value: out },
        });
    }
}
