//! Hand-made traces: calls that were undone, and contracts that only look like pools.
#![allow(clippy::unwrap_used)]

use std::cell::RefCell;
use std::collections::HashMap;

use bitcoin::block::{Header, Version};
use bitcoin::hashes::Hash as _;
use bitcoin::{Block, BlockHash, CompactTarget, OutPoint, TxMerkleNode, Txid};
use paraffin_alkanes::{BlockTrace, CallKind, CallResponse, Trace, TraceContext, TraceEvent, TraceStatus, Transfer};
use paraffin_cryptoswap::{
    ContractFacts, CryptoSwapModule, IndexError, PoolIndex, PoolRules, RawSlot, SCHEMA, Slot, Swap,
};
use paraffin_primitives::{AlkaneId, BlockId, ConnectedBlock, Height, Network};
use paraffin_store::{Store, StoreOptions, Writer};
use tempfile::TempDir;

const fn id(block: u128, tx: u128) -> AlkaneId {
    AlkaneId { block, tx }
}

const POOL: AlkaneId = id(2, 9);
/// Coin 0, which is token 0 here.
const ZERO: AlkaneId = id(2, 1);
/// Coin 1.
const ONE: AlkaneId = id(2, 2);

/// The scripted contracts of a block.
#[derive(Default)]
struct Facts {
    traces: Vec<BlockTrace>,
    storage: HashMap<(AlkaneId, Vec<u8>), Vec<u8>>,
    answers: HashMap<AlkaneId, Vec<u8>>,
    asked: RefCell<Vec<(AlkaneId, u128)>>,
}

impl ContractFacts for Facts {
    fn traces(&self) -> Result<Vec<BlockTrace>, IndexError> {
        Ok(self.traces.clone())
    }

    fn storage(&self, contract: AlkaneId, name: &[u8]) -> Result<Option<Vec<u8>>, IndexError> {
        Ok(self.storage.get(&(contract, name.to_vec())).cloned())
    }

    fn balance(&self, _: AlkaneId, _: AlkaneId) -> Result<u128, IndexError> {
        Ok(77)
    }

    fn ask(&self, contract: AlkaneId, opcode: u128) -> Result<Option<Vec<u8>>, IndexError> {
        self.asked.borrow_mut().push((contract, opcode));
        Ok(self.answers.get(&contract).cloned())
    }
}

fn id_bytes(id: AlkaneId) -> Vec<u8> {
    [id.block.to_le_bytes(), id.tx.to_le_bytes()].concat()
}

impl Facts {
    /// A contract that stores coins and a price scale and answers as a pool.
    fn with_pool(mut self, pool: AlkaneId) -> Self {
        for (name, value) in
            [("/coins/0", id_bytes(ZERO)), ("/coins/1", id_bytes(ONE)), ("/price_scale", vec![5]), ("/D", vec![1])]
        {
            self.storage.insert((pool, name.as_bytes().to_vec()), value);
        }
        self.answers.insert(pool, vec![0; 32]);
        self
    }

    /// Adds a message as the only one of the next transaction.
    fn with(mut self, stands: bool, events: Vec<TraceEvent>) -> Self {
        let transaction_index = self.traces.len() as u32 + 1;
        let outpoint = OutPoint { txid: txid(transaction_index), vout: 4 };
        self.traces.push(BlockTrace { outpoint, transaction_index, stands, trace: Trace { events } });
        self
    }
}

fn txid(number: u32) -> Txid {
    Txid::from_byte_array([number as u8; 32])
}

fn enter(kind: CallKind, contract: AlkaneId, opcode: u128, incoming: &[(AlkaneId, u128)]) -> TraceEvent {
    let context = TraceContext {
        myself: contract,
        caller: AlkaneId::default(),
        vout: 4,
        incoming: transfers(incoming),
        inputs: vec![opcode],
    };
    TraceEvent::Enter { kind, context, fuel: 1_000 }
}

fn exit(status: TraceStatus, storage: &[(&str, &[u8])], returned: &[(AlkaneId, u128)]) -> TraceEvent {
    let storage = storage.iter().map(|(name, value)| (name.as_bytes().to_vec(), value.to_vec())).collect();
    TraceEvent::Exit {
        status,
        response: CallResponse { alkanes: transfers(returned), storage, data: Vec::new() },
        fuel_used: 5,
    }
}

fn transfers(list: &[(AlkaneId, u128)]) -> Vec<Transfer> {
    list.iter().map(|(id, value)| Transfer { id: *id, value: *value }).collect()
}

fn good(storage: &[(&str, &[u8])], returned: &[(AlkaneId, u128)]) -> TraceEvent {
    exit(TraceStatus::Success, storage, returned)
}

fn bad() -> TraceEvent {
    exit(TraceStatus::Revert, &[("/price_scale", &[9])], &[(ONE, 9)])
}

/// Writes a curve with opcode 0.
fn birth(pool: AlkaneId) -> Vec<TraceEvent> {
    vec![enter(CallKind::Call, pool, 0, &[]), good(&[("/price_scale", &[5]), ("/coins/0", &id_bytes(ZERO))], &[])]
}

fn sale(pool: AlkaneId) -> Vec<TraceEvent> {
    vec![enter(CallKind::Call, pool, 5, &[(ZERO, 100)]), good(&[("/D", &[1])], &[(ONE, 50)])]
}

struct Shelf {
    _folder: TempDir,
    store: Store,
    writer: Writer,
    rules: PoolRules,
    previous: BlockHash,
    height: Height,
}

impl Shelf {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let options = StoreOptions { network: Network::Regtest, undo_blocks: None, memory_bytes: 256 << 20 };
        let store = Store::open(folder.path(), &options, &[paraffin_alkanes::SCHEMA, SCHEMA]).unwrap();
        let writer = store.writer().unwrap();
        let rules = PoolRules { canonical: Vec::new(), ..PoolRules::default() };
        Self { _folder: folder, store, writer, rules, previous: BlockHash::all_zeros(), height: 0 }
    }

    fn try_connect(&mut self, facts: &Facts) -> Result<(), IndexError> {
        let header = Header {
            version: Version::ONE,
            prev_blockhash: self.previous,
            merkle_root: TxMerkleNode::all_zeros(),
            time: 1_000 + self.height,
            bits: CompactTarget::from_consensus(0),
            nonce: self.height,
        };
        let id = BlockId { height: self.height, hash: header.block_hash() };
        let block = ConnectedBlock {
            id,
            block: Block { header, txdata: Vec::new() },
            size: 0,
            txids: (0..200).map(txid).collect(),
            offsets: Vec::new(),
            spent: None,
            script_digests: None,
        };
        self.writer.begin_block(id, self.previous, header.time).unwrap();
        let mut rows = self.writer.module(SCHEMA.id).unwrap();
        CryptoSwapModule::connect_with(&self.rules, &block, facts, &mut rows)?;
        self.writer.end_block().unwrap();
        self.writer.commit(false).unwrap();
        self.previous = id.hash;
        self.height += 1;
        Ok(())
    }

    /// Applies a block; returns its summary: transactions, swaps, new pools.
    fn connect(&mut self, facts: &Facts) -> [u32; 3] {
        self.try_connect(facts).unwrap();
        let (_, summary) = self.index().summary(self.height - 1).unwrap().unwrap();
        [summary.transactions, summary.swaps, summary.new_pools]
    }

    fn index(&self) -> PoolIndex {
        PoolIndex::at(&self.store.snapshot(), Height::MAX)
    }

    fn swaps(&self) -> Vec<Swap> {
        self.index().swaps(POOL, 0, 100).unwrap().items
    }

    /// With a pool from the first block on.
    fn with_pool() -> Self {
        let mut shelf = Self::new();
        assert_eq!(shelf.connect(&Facts::default().with_pool(POOL).with(true, birth(POOL))), [1, 0, 1]);
        shelf
    }
}

#[test]
fn only_what_was_kept_counts() {
    let mut shelf = Shelf::with_pool();
    let router = id(2, 30);
    let inside = |kind, end: TraceEvent| {
        let mut events = vec![enter(kind, router, 5, &[])];
        events.extend(sale(POOL));
        events.push(end);
        events
    };
    // A message whose transaction is void, one that failed, a call that failed, one that was undone above it, a static one.
    let facts = Facts::default()
        .with_pool(POOL)
        .with(false, sale(POOL))
        .with(true, vec![enter(CallKind::Call, POOL, 5, &[(ZERO, 100)]), bad()])
        .with(true, inside(CallKind::Call, bad()))
        .with(true, inside(CallKind::Static, good(&[], &[])));
    assert_eq!(shelf.connect(&facts), [0, 0, 0]);
    let caught = vec![
        enter(CallKind::Call, router, 1, &[]),
        enter(CallKind::Call, POOL, 5, &[(ZERO, 100)]),
        bad(),
        good(&[], &[]),
    ];
    assert_eq!(shelf.connect(&Facts::default().with_pool(POOL).with(true, caught)), [0, 0, 0]);
    assert_eq!(shelf.swaps(), []);
    // Two trades of one message, called by another contract.
    let mut twice = vec![enter(CallKind::Call, router, 1, &[])];
    twice.extend(sale(POOL));
    twice.extend(sale(POOL));
    twice.push(good(&[], &[]));
    assert_eq!(shelf.connect(&Facts::default().with_pool(POOL).with(true, twice)), [1, 2, 0]);
    assert_eq!(shelf.swaps().len(), 2);
}

#[test]
fn a_proxy_and_its_code_are_one_call_and_the_last_to_end_writes_last() {
    let mut shelf = Shelf::with_pool();
    let pair = vec![
        enter(CallKind::Call, POOL, 5, &[(ZERO, 100), (ONE, 7)]),
        enter(CallKind::Static, id(2, 40), 0x7ffd, &[]),
        good(&[("/price_scale", &[66])], &[]),
        enter(CallKind::Delegate, POOL, 5, &[(ZERO, 100), (ONE, 7)]),
        good(&[("/x", &[1]), ("/y", &[1])], &[(ONE, 57), (ZERO, 20)]),
        good(&[("/x", &[2])], &[(ONE, 57), (ZERO, 20)]),
    ];
    assert_eq!(shelf.connect(&Facts::default().with_pool(POOL).with(true, pair)), [1, 1, 0]);
    let [swap] = shelf.swaps()[..] else { panic!() };
    // What was given back is no part of the trade.
    assert_eq!((swap.amount_in, swap.amount_out, swap.zero_for_one), (80, 50, true));
    assert_eq!(swap.price_q.unwrap().to_string(), "625000000000000000");
    let slot = |name: &[u8]| shelf.index().slot(POOL, name).unwrap();
    assert_eq!(slot(b"/x"), Some(RawSlot { txid: Some(txid(1)), value: vec![2] }));
    assert_eq!(slot(b"/y"), Some(RawSlot { txid: Some(txid(1)), value: vec![1] }));
    assert_eq!(slot(b"/price_scale").unwrap().value, [5]);
}

#[test]
fn an_exchange_that_moves_nothing_or_both_coins_inwards_is_no_trade() {
    let mut shelf = Shelf::with_pool();
    let exchange = |incoming: &[(AlkaneId, u128)], returned: &[(AlkaneId, u128)]| {
        vec![enter(CallKind::Call, POOL, 5, incoming), good(&[], returned)]
    };
    let facts = Facts::default()
        .with_pool(POOL)
        .with(true, exchange(&[], &[]))
        .with(true, exchange(&[(ZERO, 5), (ONE, 5)], &[]))
        .with(true, exchange(&[(ZERO, 5)], &[(ZERO, 5)]))
        .with(true, exchange(&[], &[(ONE, 5)]));
    assert_eq!(shelf.connect(&facts), [4, 0, 0]);
    // A sale for nothing is one, and so is a purchase of token 1 for amounts of the greatest size; a price needs token 0.
    let large = [(ONE, u128::MAX), (ONE, u128::MAX)];
    let facts = Facts::default()
        .with_pool(POOL)
        .with(true, exchange(&[(ONE, 5)], &[]))
        .with(true, exchange(&large, &[(ZERO, 1)]));
    assert_eq!(shelf.connect(&facts), [2, 2, 0]);
    let swaps = shelf.swaps();
    assert_eq!((swaps[0].amount_in, swaps[1].price_q), (u128::MAX, None));
    assert!(swaps[0].price_q.is_some());
    assert_eq!(shelf.index().newest_priced_swap(POOL).unwrap(), Some(swaps[0]));
    assert_eq!(shelf.index().candles(POOL, 3_600, (0, u64::MAX), 0, 10).unwrap().items[0].trades, 1);
}

/// row PI24
#[test]
fn a_contract_that_stores_a_curve_is_a_pool_once_it_answers() {
    let mut shelf = Shelf::new();
    let mut silent = Facts::default().with_pool(POOL).with(true, birth(POOL));
    silent.answers.clear();
    assert_eq!(shelf.connect(&silent), [0, 0, 0]);
    assert_eq!(*silent.asked.borrow(), [(POOL, 106)]);
    assert_eq!(shelf.index().pool(POOL).unwrap(), None);
    // It is not called again until it writes its curve again.
    let mut other = Facts::default().with_pool(POOL);
    other = other.with(true, vec![enter(CallKind::Call, POOL, 1, &[]), good(&[("/other", &[3])], &[])]);
    assert_eq!(shelf.connect(&other), [0, 0, 0]);
    assert!(other.asked.borrow().is_empty());
    // An answer of another length is none.
    let mut short = Facts::default().with_pool(POOL).with(true, sale(POOL));
    short.answers.insert(POOL, vec![0; 16]);
    assert_eq!(shelf.connect(&short), [0, 0, 0]);
    let found = Facts::default().with_pool(POOL).with(true, sale(POOL));
    assert_eq!(shelf.connect(&found), [1, 1, 1]);
    let record = shelf.index().pool(POOL).unwrap().unwrap();
    assert_eq!((record.first_height, record.first_time, record.from_init), (0, 1_000, true));
    assert_eq!(record.identity.coins, [ZERO, ONE]);
    // Its writes from before it was identified are there with their writer.
    let slot = |name: &[u8]| shelf.index().slot(POOL, name).unwrap().unwrap();
    assert_eq!(slot(b"/price_scale"), RawSlot { txid: Some(txid(1)), value: vec![5] });
    assert_eq!(slot(b"/other"), RawSlot { txid: Some(txid(1)), value: vec![3] });
    assert!(PoolIndex::at(&shelf.store.snapshot(), 2).pool(POOL).unwrap().is_none());
    // Identified pools are not called.
    let later = Facts::default().with_pool(POOL).with(true, sale(POOL));
    shelf.connect(&later);
    assert!(later.asked.borrow().is_empty());
}

#[test]
fn contracts_that_cannot_be_pools_are_none() {
    let mut shelf = Shelf::new();
    let unnameable = [id(1 << 32, 1), id(2, 1 << 64)];
    let mut facts = Facts::default();
    for contract in unnameable {
        facts = facts.with_pool(contract).with(true, birth(contract));
    }
    let alike = id(2, 50);
    facts = facts.with_pool(alike).with(true, birth(alike));
    facts.storage.insert((alike, b"/coins/1".to_vec()), id_bytes(ZERO));
    let homeless = id(2, 51);
    facts = facts.with_pool(homeless).with(true, birth(homeless));
    facts.storage.remove(&(homeless, b"/coins/0".to_vec()));
    let strange = id(2, 52);
    facts = facts.with_pool(strange).with(true, birth(strange));
    facts.storage.insert((strange, b"/coins/0".to_vec()), id_bytes(id(2, 1 << 64)));
    assert_eq!(shelf.connect(&facts), [0, 0, 0]);
    assert_eq!(shelf.index().pools().unwrap().count(), 0);
    assert!(facts.asked.borrow().iter().all(|(contract, _)| !unnameable.contains(contract)));
}

#[test]
fn a_block_of_countless_look_alikes_asks_a_few() {
    let mut shelf = Shelf::new();
    let mut facts = Facts::default();
    for number in 0..100 {
        let contract = id(2, 1_000 + number);
        facts = facts.with_pool(contract).with(true, birth(contract));
    }
    assert_eq!(shelf.connect(&facts), [32, 0, 32]);
    assert_eq!(facts.asked.borrow().len(), 32);
    // The others are found when they next write.
    let late = id(2, 1_099);
    assert_eq!(shelf.connect(&Facts::default().with_pool(late).with(true, sale(late))), [1, 1, 1]);
}

#[test]
fn numbers_that_no_pool_can_have_count_as_none() {
    let mut shelf = Shelf::new();
    let mut facts = Facts::default().with_pool(POOL).with(true, birth(POOL));
    for slot in Slot::ALL.iter().filter(|slot| !matches!(slot, Slot::Coin0 | Slot::Coin1)) {
        let name = shelf.rules.slots.name(*slot).to_vec();
        facts.storage.insert((POOL, name), vec![0xff; 40]);
    }
    assert_eq!(shelf.connect(&facts), [1, 0, 1]);
    let state = shelf.index().state(POOL).unwrap().unwrap();
    assert!(state.number(Slot::D).is_zero() && !state.is_killed() && !state.is_ramping(0));
    // The reserves are what the contract holds.
    assert_eq!(state.number(Slot::Balance0).to_string(), "77");
}

#[test]
fn a_trace_of_another_block_is_refused() {
    let mut shelf = Shelf::with_pool();
    let mut facts = Facts::default().with_pool(POOL).with(true, sale(POOL));
    facts.traces[0].transaction_index = 2;
    assert!(matches!(shelf.try_connect(&facts), Err(IndexError::Mismatch { height: 1, .. })));
    shelf.writer.abandon_block();
    facts.traces[0].transaction_index = 5_000;
    assert!(matches!(shelf.try_connect(&facts), Err(IndexError::Mismatch { .. })));
}
