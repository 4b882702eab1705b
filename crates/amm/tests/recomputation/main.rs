//! The index against a recomputation from raw blocks and traces that shares nothing with it: other parsers, one ledger of all
//! transfers instead of flows by call, whole histories instead of lists, after random trades and reorganisations.
//!
//! `PARAFFIN_LONG=1` goes on until a thousand transactions on markets stand in the chain.
#![allow(clippy::unwrap_used)]

mod chance;
mod crowd;
mod history;
mod raw;
#[path = "../support/mod.rs"]
mod support;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bitcoin::hashes::Hash as _;
use bitcoin::{ScriptBuf, Txid, WScriptHash};
use paraffin_alkanes::{TraceEvent, TraceStatus};
use paraffin_amm::{Action, Event, EventKind, Scope, Status};
use paraffin_devnet::market::{Market, MarketError};
use paraffin_devnet::{ACCOUNT_NAMES, Node, OutputKind, Wallet};
use paraffin_primitives::{ConnectedBlock, Height};

use crate::chance::Chance;
use crate::crowd::{Crowd, SECOND_FACTORY};
use crate::history::History;
use crate::support::Index;

/// First height whose block may leave the chain: everything is founded below.
const FOUNDED: Height = 124;
const DEPTH_MAX: u64 = 20;
/// At heights that are multiples of this the chain turns.
const TURN_BLOCKS: Height = 9;
/// How many of the [`CASES`] even a short run has.
const COMMON: usize = 10;

/// A chain with a market and a crowd, and the index that has followed every turn of it.
struct World {
    node: Node,
    wallet: Arc<Wallet>,
    market: Market,
    crowd: Crowd,
    chance: Chance,
    blocks: Vec<ConnectedBlock>,
    index: Index,
    /// Depth of each reorganisation.
    turns: Vec<u32>,
    /// Transactions that a reorganisation has put into a block at another height.
    moved: usize,
}

/// Every case that must have happened in a long run; the first few in a short one.
const CASES: [&str; 33] = [
    "creation",
    "swap",
    "mint",
    "wrap",
    "unwrap",
    "failed swap",
    "failed unwrap",
    "both directions of a pool in one transaction",
    "transaction that a reorganisation moved",
    "several kinds in one transaction",
    "burn",
    "failed mint",
    "failed burn",
    "failed wrap",
    "actor that is none",
    "actor without an address",
    "another fee",
    "block before the one before it in time",
    "failed operation that was only asked",
    "fees collected",
    "good and bad in one transaction",
    "on a pool of the second factory",
    "operation inside another",
    "operation inside what was only asked",
    "operation that was only asked",
    "operation whose trace says that it succeeded, undone",
    "pool that exists already, or of one alkane",
    "swap that called its receiver",
    "swap with something that only looks like a pool",
    "swap without a price",
    "swaps of one pool in one transaction",
    "three pools and more in one transaction",
    "with another pool's liquidity",
];

/// Brings a copy of the chain to the node's tip.
fn follow(node: &Node, blocks: &mut Vec<ConnectedBlock>) {
    while blocks.last().is_some_and(|block| node.block_hash(block.id.height) != Some(block.id.hash)) {
        blocks.pop();
    }
    while let Some(hash) = node.block_hash(blocks.len() as u32) {
        let block = node.block(&hash).unwrap();
        blocks.push(ConnectedBlock::new(blocks.len() as u32, bitcoin::Block::clone(&block)));
    }
}

impl World {
    fn new(seed: u64) -> Self {
        let wallet = Arc::new(Wallet::new(seed, &ACCOUNT_NAMES));
        Self {
            node: Node::new(None),
            market: Market::new(seed, Arc::clone(&wallet)),
            wallet,
            crowd: Crowd::new(seed),
            chance: Chance(seed ^ 0x0c_1a5e),
            blocks: Vec::new(),
            index: Index::new(),
            turns: Vec::new(),
            moved: 0,
        }
    }

    fn height(&self) -> Height {
        self.node.tip().height
    }

    /// One block, with everything that people do meanwhile. Time mostly goes on by minutes, sometimes by days, and sometimes
    /// back.
    fn grow(&mut self) {
        self.market.observe(&self.node).unwrap();
        match self.market.step(&self.node) {
            // Orders of a dropped block wait again, and a new one of the same trader can get in their way.
            Ok(_) | Err(MarketError::Refused(_)) => {}
            Err(error) => panic!("block {}: {error}", self.height()),
        }
        let token = self.market.summary().unwrap().tokens.get(1).copied();
        self.crowd.step(&self.node, &self.index.state(Height::MAX), token);
        let next = self.height() + 1;
        // The market's patron needs one coin; the crowd gets those that are mature when it begins.
        let script = match next {
            1 => self.wallet.script(0, OutputKind::Taproot),
            2..=40 => self.crowd.miner(next),
            _ => self.unowned_script(),
        };
        self.mine(&script);
    }

    fn mine(&mut self, script: &ScriptBuf) {
        self.set_time();
        self.node.mine_block(script).unwrap();
        self.catch_up();
    }

    /// The time of the next block; the median of the newest eleven is the bound.
    fn set_time(&mut self) {
        let times = self.blocks.iter().rev().take(11).map(|block| u64::from(block.block.header.time));
        let mut times: Vec<u64> = times.collect();
        let tip = times.first().copied().unwrap_or(1_700_000_000);
        times.sort_unstable();
        let median = times.get(times.len() / 2).copied().unwrap_or_default();
        // Trades that lie as far apart as a window is wide.
        let hours = self.chance.pick(&[23, 24, 24, 24, 25, 167, 168, 719, 720]).copied().unwrap_or_default();
        let time = match self.chance.below(40) {
            0 => tip + 86_400 * (1 + self.chance.below(9)),
            1 => tip + 3_600 * (1 + self.chance.below(30)),
            2..=6 => tip + 3_600 * hours,
            7..=9 => tip - 60 * self.chance.below(60),
            10 => tip - 3_600 * self.chance.below(100),
            _ => tip + 60 + self.chance.below(1_200),
        };
        self.node.set_mock_time(Some(time.max(median + 1)));
    }

    fn catch_up(&mut self) {
        follow(&self.node, &mut self.blocks);
        self.index.follow(&self.blocks);
    }

    /// A script without an owner, so that a block that was dropped is not made again.
    fn unowned_script(&mut self) -> ScriptBuf {
        let mut hash = [0; 32];
        for byte in &mut hash {
            *byte = self.chance.below(256) as u8;
        }
        ScriptBuf::new_p2wsh(&WScriptHash::from_byte_array(hash))
    }

    /// Drops the newest blocks and grows another branch, longer by one, in which their transactions are in other blocks.
    fn turn(&mut self, depth: u32) {
        let height = self.height();
        let before = self.heights();
        let hash = self.node.block_hash(height + 1 - depth).unwrap();
        self.node.invalidate(&hash).unwrap();
        let script = self.unowned_script();
        follow(&self.node, &mut self.blocks);
        self.set_time();
        self.node.mine_block_with(Vec::new(), &script, true).unwrap();
        self.catch_up();
        while self.height() <= height {
            if self.chance.one_in(3) {
                let script = self.unowned_script();
                self.mine(&script);
            } else {
                self.grow();
            }
        }
        self.turns.push(depth);
        let after = self.heights();
        let moved = after.iter().filter(|(txid, height)| before.get(*txid).is_some_and(|before| before != *height));
        self.moved += moved.count();
    }

    /// Whether so many transactions did or tried something on a market.
    fn has(&self, transactions: usize) -> bool {
        let events = self.index.markets_at(Height::MAX).count(Scope::All, None, Status::Any).unwrap();
        // There are at least as many events, and they are cheaper to count.
        events as usize >= transactions && self.heights().len() >= transactions
    }

    /// Where the transactions stand that did or tried something on a market.
    fn heights(&self) -> BTreeMap<Txid, Height> {
        let markets = self.index.markets_at(Height::MAX);
        let page = markets.events(Scope::All, None, Status::Any, 0, u32::MAX).unwrap();
        page.items.iter().map(|event| (event.txid, event.position.height)).collect()
    }

    /// The history of the chain as it is now; `visit` sees it after every block.
    fn history(&self, mut visit: impl FnMut(Height, &History)) -> History {
        let mut history = History::default();
        let state = self.index.state(Height::MAX);
        for block in &self.blocks {
            let height = block.id.height;
            history.take_block(block, &state.block_traces(height).unwrap());
            visit(height, &history);
        }
        history
    }

    /// Compares everything at the tip and as of `past` random heights; what pools hold after every block, and with `past` also
    /// their figures.
    fn check(&self, past: usize, chance: &mut Chance) -> History {
        let heights: BTreeSet<Height> = (0..past).map(|_| chance.below(self.height().into()) as Height).collect();
        let history = self.history(|height, history| {
            verdict::states_are(history, &self.index.state(height));
            if past > 0 {
                verdict::all_figures_are(history, &self.index.markets_at(height));
            }
            if heights.contains(&height) {
                verdict::compare(history, &self.index.markets_at(height), &self.index.state(height), chance);
            }
        });
        verdict::positions_grow(&history);
        verdict::compare(&history, &self.index.markets_at(Height::MAX), &self.index.state(Height::MAX), chance);
        history
    }
}

/// Until so many transactions stand, with a reorganisation every few blocks.
fn run(seed: u64, transactions: usize) -> (World, History) {
    let mut world = World::new(seed);
    let mut chance = Chance(seed ^ 0x7e57);
    while world.height() < FOUNDED {
        world.grow();
    }
    while !world.has(transactions) {
        world.grow();
        let height = world.height();
        if height > FOUNDED + 2 && height.is_multiple_of(TURN_BLOCKS) {
            let depth = 1 + chance.below(DEPTH_MAX.min(u64::from(height - FOUNDED))) as u32;
            world.turn(depth);
            world.check(0, &mut chance);
        }
    }
    let history = world.check(12, &mut chance);
    let mut fresh = Index::new();
    fresh.follow(&world.blocks);
    assert_eq!(world.index.content(), fresh.content());
    (world, history)
}

/// Counts of each unusual case in the chain.
fn census(world: &World, history: &History) -> BTreeMap<&'static str, u32> {
    let mut census = history.census.clone();
    for case in CASES {
        census.count(case, false);
    }
    census.counts.insert("transaction that a reorganisation moved", world.moved as u32);
    let events = &history.events;
    for event in events {
        let name = |kept: &'static str, failed: &'static str| if event.successful { kept } else { failed };
        let kind = match event.action.kind() {
            EventKind::Creation => name("creation", "failed creation"),
            EventKind::Swap => name("swap", "failed swap"),
            EventKind::Mint => name("mint", "failed mint"),
            EventKind::Burn => name("burn", "failed burn"),
            EventKind::Wrap => name("wrap", "failed wrap"),
            EventKind::Unwrap => name("unwrap", "failed unwrap"),
        };
        census.count(kind, true);
        census.count("actor that is none", event.actor.is_none());
        census.count(
            "swap without a price",
            event.successful && event.action.traded().is_some_and(|moved| moved.contains(&0)),
        );
        let pool = event.action.pool();
        census.count("on a pool of the second factory", pool.is_some_and(|pool| pool.factory == SECOND_FACTORY));
        let is_share = |token| history.pools.iter().any(|(pool, _)| pool.id == token);
        census.count("with another pool's liquidity", pool.is_some_and(|pool| pool.tokens.into_iter().any(is_share)));
    }
    for messages in events.chunk_by(|a, b| a.txid == b.txid) {
        let sold = |event: &Event| match event.action {
            Action::Swap { pool, sold, .. } if event.successful => Some((pool.id, sold.id)),
            _ => None,
        };
        let sides: BTreeSet<_> = messages.iter().filter_map(sold).collect();
        let pools: BTreeSet<_> = sides.iter().map(|(pool, _)| pool).collect();
        census.count("both directions of a pool in one transaction", sides.len() > pools.len());
        census.count("three pools and more in one transaction", pools.len() > 2);
        census.count("swaps of one pool in one transaction", messages.iter().filter_map(sold).count() > pools.len());
        let kinds: BTreeSet<_> = messages.iter().map(|event| event.action.kind()).collect();
        census.count("several kinds in one transaction", kinds.len() > 1);
        census.count(
            "good and bad in one transaction",
            messages.iter().any(|event| event.successful != messages[0].successful),
        );
    }
    let state = world.index.state(Height::MAX);
    for block in &world.blocks {
        for message in state.block_traces(block.id.height).unwrap() {
            let factory = message.trace.events.iter().find_map(|event| match event {
                TraceEvent::Enter { context, .. } if context.myself.block == 4 => context.inputs.first().copied(),
                _ => None,
            });
            let ended =
                matches!(message.trace.events.last(), Some(TraceEvent::Exit { status: TraceStatus::Success, .. }));
            census.count("pool that exists already, or of one alkane", factory == Some(1) && !ended);
            census.count("another fee", factory == Some(21) && ended);
            census.count("fees collected", factory == Some(10) && ended);
        }
    }
    census.count("block before the one before it in time", {
        !world.blocks.is_sorted_by_key(|block| block.block.header.time)
    });
    census.counts
}

#[test]
fn an_independent_recomputation_agrees_on_every_row() {
    let is_long = std::env::var_os("PARAFFIN_LONG").is_some();
    let (seeds, transactions, turns, needed) =
        if is_long { (&[3, 5, 8][..], 1_000, 10, &CASES[..]) } else { (&[3][..], 200, 2, &CASES[..COMMON]) };
    for seed in seeds {
        let (world, history) = run(*seed, transactions);
        let census = census(&world, &history);
        println!(
            "seed {seed}: {} blocks, {} transactions on {} pools with {} events, reorganisations of depth {:?}",
            world.blocks.len(),
            world.heights().len(),
            history.pools.len(),
            history.events.len(),
            world.turns
        );
        println!("{census:#?}");
        assert!(world.turns.len() >= turns, "{:?}", world.turns);
        let missing: Vec<_> = needed.iter().filter(|case| census[**case] == 0).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
