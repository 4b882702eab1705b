//! Events of the development network's market, recomputed from raw blocks and from traces.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use bitcoin::hashes::Hash as _;
use bitcoin::{BlockHash, OutPoint, ScriptBuf, TxOut};
use paraffin_alkanes::{AlkanesModule, CallKind, ChainState, CodeCache, NativeEngine, Trace, TraceEvent, TraceStatus};
use paraffin_amm::{Action, AmmModule, Markets, Parameters};
use paraffin_bitcoin_index::{BitcoinModule, RawTransactions};
use paraffin_cryptoswap::{CryptoSwapModule, PoolProbe, PoolRules};
use paraffin_devnet::market::{BTC_USD_POOL, MarketChain, builtins};
use paraffin_events::{
    Bounds, Checksum, Cursor, EventError, EventReader, Filter, INDEX_MAX, Kind, PoolModule, Position, PreparedFilter,
    Step, advance,
};
use paraffin_primitives::{ConnectedBlock, Height, Network};
use paraffin_store::{Module, Snapshot, Store, StoreOptions, Writer};
use serde_json::Value;
use tempfile::TempDir;

/// The `CryptoSwap` pool is founded behind the rest of the market, and traded with for some blocks.
const HEIGHT: Height = 190;

fn probe() -> PoolProbe {
    let parameters = paraffin_alkanes::Parameters::of(Network::Regtest);
    PoolProbe { parameters, builtins: Arc::new(builtins()), codes: Arc::new(CodeCache::default()) }
}

/// The index of one chain.
struct Index {
    _folder: TempDir,
    store: Store,
    writer: Writer,
    modules: Vec<Box<dyn Module>>,
}

impl Index {
    fn new() -> Self {
        let engine = NativeEngine::new(Network::Regtest, Arc::new(builtins()), Arc::new(CodeCache::default()));
        let modules: Vec<Box<dyn Module>> = vec![
            Box::new(BitcoinModule::new(RawTransactions::Node)),
            Box::new(AlkanesModule::new(Box::new(engine), Network::Regtest)),
            Box::new(AmmModule::new(Parameters::default())),
            Box::new(CryptoSwapModule::new(PoolRules::default(), probe())),
        ];
        let schemas: Vec<_> = modules.iter().map(|module| module.schema()).collect();
        let folder = TempDir::new().unwrap();
        let options = StoreOptions { network: Network::Regtest, undo_blocks: None, memory_bytes: 256 << 20 };
        let store = Store::open(folder.path(), &options, &schemas).unwrap();
        let writer = store.writer().unwrap();
        Self { _folder: folder, store, writer, modules }
    }

    /// Undoes blocks that are not of the chain, then connects the rest.
    fn follow(&mut self, blocks: &[ConnectedBlock]) {
        while let Some(tip) = self.writer.tip().map(|tip| tip.id) {
            if blocks.get(tip.height as usize).is_some_and(|block| block.id == tip) {
                break;
            }
            self.writer.undo_block().unwrap();
        }
        let next = self.writer.tip().map_or(0, |tip| tip.id.height as usize + 1);
        for block in &blocks[next..] {
            let previous = self.writer.tip().map_or(BlockHash::all_zeros(), |tip| tip.id.hash);
            self.writer.begin_block(block.id, previous, block.block.header.time).unwrap();
            for module in &mut self.modules {
                let id = module.schema().id;
                module.connect(block, &mut self.writer.module(id).unwrap()).unwrap();
            }
            self.writer.end_block().unwrap();
            self.writer.commit(false).unwrap();
        }
    }

    fn snapshot(&self) -> Snapshot {
        self.store.snapshot()
    }
}

fn filter(kinds: &[Kind], addresses: &[String]) -> PreparedFilter {
    let filter = Filter { kinds: kinds.to_vec(), addresses: addresses.to_vec(), ..Filter::default() };
    filter.prepare(Network::Regtest, |_| Err(String::new())).unwrap()
}

fn step(
    snapshot: &Snapshot,
    position: Position,
    filter: &PreparedFilter,
    events_max: usize,
) -> Result<Step, EventError> {
    let pools =
        PoolModule { id: paraffin_cryptoswap::MODULE, journal: paraffin_cryptoswap::JOURNAL, name: "CryptoSwap pools" };
    let mut reader = EventReader::new(snapshot, Network::Regtest, Arc::new(|_| true)).with_unlisted_pools(pools);
    let bounds = Bounds { bytes_max: usize::MAX, blocks_max: u32::MAX, events_max, is_over: &|| false };
    advance(&mut reader, position, filter, &BTreeMap::new(), &bounds)
}

fn replay(snapshot: &Snapshot, filter: &PreparedFilter) -> Vec<Value> {
    let step = step(snapshot, Position::Beginning, filter, usize::MAX).unwrap();
    assert!(step.is_at_tip);
    let events = step.messages.iter().filter(|message| message.is_event());
    events.map(|message| serde_json::from_str(&message.text).unwrap()).collect()
}

fn of<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}

fn address(script: &ScriptBuf) -> Option<String> {
    bitcoin::Address::from_script(script, bitcoin::Network::Regtest).ok().map(|address| address.to_string())
}

#[test]
fn events_are_those_of_raw_blocks_and_of_traces_from_any_position_on() {
    let mut town = MarketChain::new(6);
    town.grow(HEIGHT).unwrap();
    let blocks = town.blocks();
    let mut index = Index::new();
    index.follow(&blocks);
    check_addresses(&index, &blocks);
    check_contracts(&index, &blocks);
    check_pages(&index);
}

fn check_addresses(index: &Index, blocks: &[ConnectedBlock]) {
    let mut uses: HashMap<ScriptBuf, u32> = HashMap::new();
    let outputs = blocks.iter().flat_map(|block| &block.block.txdata).flat_map(|transaction| &transaction.output);
    outputs.for_each(|output| *uses.entry(output.script_pubkey.clone()).or_default() += 1);
    let watched: HashSet<ScriptBuf> = uses
        .into_iter()
        .filter(|(script, uses)| uses % 2 == 0 && address(script).is_some())
        .map(|(script, _)| script)
        .collect();
    let addresses: Vec<String> = watched.iter().filter_map(address).collect();
    let events = replay(&index.snapshot(), &filter(&[Kind::Address], &addresses));
    let read: Vec<_> = events
        .iter()
        .map(|event| {
            let text = |name: &str| event[name].as_str().unwrap().to_owned();
            (
                event["height"].as_u64().unwrap(),
                text("txid"),
                text("direction"),
                event["number"].as_u64().unwrap(),
                text("outpoint"),
                text("value"),
            )
        })
        .collect();
    let mut made: HashMap<OutPoint, TxOut> = HashMap::new();
    let mut expected = Vec::new();
    for block in blocks {
        for transaction in &block.block.txdata {
            let txid = transaction.compute_txid();
            let mut add = |direction: &str, number: usize, outpoint: OutPoint, output: &TxOut| {
                if watched.contains(&output.script_pubkey) {
                    let value = output.value.to_sat().to_string();
                    expected.push((
                        u64::from(block.id.height),
                        txid.to_string(),
                        direction.to_owned(),
                        number as u64,
                        outpoint.to_string(),
                        value,
                    ));
                }
            };
            for (number, input) in transaction.input.iter().enumerate() {
                if let Some(output) = made.remove(&input.previous_output) {
                    add("spend", number, input.previous_output, &output);
                }
            }
            for (number, output) in transaction.output.iter().enumerate() {
                let outpoint = OutPoint { txid, vout: number as u32 };
                add("receive", number, outpoint, output);
                made.insert(outpoint, output.clone());
            }
        }
    }
    assert!(expected.len() > 100, "{}", expected.len());
    assert_eq!(read, expected);
}

/// Amounts by holder and alkane.
type Sums = BTreeMap<(String, String), i128>;

/// Transfers of successful calls: contract, whether it received, alkane, amount; by an independent walk over a trace, at whose end it
/// is known whether a call succeeded.
fn moved(trace: &Trace, is_kept: bool, sums: &mut Sums) {
    fn walk(events: &[TraceEvent], index: &mut usize, sums: &mut Vec<(String, String, i128)>, is_kept: bool) -> bool {
        let TraceEvent::Enter { kind, context, fuel } = &events[*index] else { panic!("no call begins here") };
        *index += 1;
        let mut own = Vec::new();
        loop {
            match &events[*index] {
                TraceEvent::Enter { .. } => drop(walk(events, index, &mut own, is_kept)),
                TraceEvent::Create(_) | TraceEvent::Omitted { .. } => *index += 1,
                TraceEvent::Exit { fuel_used: 0, .. } if *fuel != 0 && *index + 1 < events.len() => *index += 1,
                TraceEvent::Exit { status, response, .. } => {
                    *index += 1;
                    let is_success = *status == TraceStatus::Success && *kind != CallKind::Static;
                    if is_success && is_kept {
                        if *kind == CallKind::Call {
                            let top = context.caller.block == 0 && context.caller.tx == 0;
                            let (me, caller) = (context.myself.to_string(), context.caller.to_string());
                            let moves = context.incoming.iter().map(|transfer| (transfer, 1));
                            for (transfer, sign) in moves.chain(response.alkanes.iter().map(|transfer| (transfer, -1)))
                            {
                                let amount = sign * i128::try_from(transfer.value).unwrap();
                                own.push((me.clone(), transfer.id.to_string(), amount));
                                if !top {
                                    own.push((caller.clone(), transfer.id.to_string(), -amount));
                                }
                            }
                        }
                        sums.append(&mut own);
                    }
                    return is_success;
                }
            }
        }
    }
    let mut found = Vec::new();
    let mut index = 0;
    // The trace of a message that creates a contract begins with the creation.
    while let Some(event) = trace.events.get(index) {
        if matches!(event, TraceEvent::Enter { .. }) {
            walk(&trace.events, &mut index, &mut found, is_kept);
            break;
        }
        index += 1;
    }
    for (contract, alkane, amount) in found {
        *sums.entry((contract, alkane)).or_default() += amount;
    }
}

/// What exchanges with the `CryptoSwap` pool that were kept moved: what it has more of one coin, what it has less of the other. A walk of its
/// own; a proxy hands its inputs on by delegation, so that only calls in a contract's own name count.
fn exchanged(trace: &Trace) -> Vec<((String, i128), (String, i128))> {
    /// Operation of an exchange.
    const EXCHANGE: u128 = 5;
    let mut found: Vec<((String, i128), (String, i128))> = Vec::new();
    let mut open: Vec<(usize, Option<usize>)> = Vec::new();
    for (index, event) in trace.events.iter().enumerate() {
        match event {
            TraceEvent::Enter { kind, context, .. } => {
                let is_exchange = context.myself == BTC_USD_POOL
                    && *kind == CallKind::Call
                    && context.inputs.first() == Some(&EXCHANGE);
                open.push((found.len(), is_exchange.then_some(index)));
            }
            TraceEvent::Create(_) | TraceEvent::Omitted { .. } | TraceEvent::Exit { fuel_used: 0, .. } => {}
            TraceEvent::Exit { status, response, .. } => {
                let Some((before, exchange)) = open.pop() else { continue };
                if *status == TraceStatus::Revert {
                    found.truncate(before);
                    continue;
                }
                let Some(TraceEvent::Enter { context, .. }) = exchange.map(|index| &trace.events[index]) else {
                    continue;
                };
                let mut gains: BTreeMap<String, i128> = BTreeMap::new();
                for (transfers, sign) in [(&context.incoming, 1), (&response.alkanes, -1)] {
                    for transfer in transfers {
                        *gains.entry(transfer.id.to_string()).or_default() +=
                            sign * i128::try_from(transfer.value).unwrap();
                    }
                }
                let side = |sign: i128| {
                    let (coin, gain) = gains.iter().find(|(_, gain)| **gain * sign > 0).unwrap();
                    (coin.clone(), gain * sign)
                };
                found.push((side(1), side(-1)));
            }
        }
    }
    found
}

/// Transfers, calls and trades equal those of traces and of the balances of outputs.
fn check_contracts(index: &Index, blocks: &[ConnectedBlock]) {
    let snapshot = index.snapshot();
    let begun = Instant::now();
    let events = replay(&snapshot, &filter(&[Kind::Block, Kind::Transfer, Kind::Call, Kind::Trade], &[]));
    println!("{} events of {} blocks in {:?}", events.len(), blocks.len(), begun.elapsed());

    // Outputs: received less spent amounts are the balance.
    let state = ChainState::at(&snapshot, HEIGHT);
    let (mut held, mut contracts) = (Sums::new(), Sums::new());
    for event in of(&events, "transfer") {
        let amount: i128 = event["amount"].as_str().unwrap().parse().unwrap();
        for (side, sign) in [("to", amount), ("from", -amount)] {
            let (sums, name) = match event[side]["type"].as_str().unwrap() {
                "output" => (&mut held, &event[side]["outpoint"]),
                "contract" => (&mut contracts, &event[side]["id"]),
                _ => continue,
            };
            *sums
                .entry((name.as_str().unwrap().to_owned(), event["alkane"].as_str().unwrap().to_owned()))
                .or_default() += sign;
        }
    }
    held.retain(|_, amount| *amount != 0);
    contracts.retain(|_, amount| *amount != 0);
    let mut unspent: HashSet<OutPoint> = HashSet::new();
    for transaction in blocks.iter().flat_map(|block| &block.block.txdata) {
        for input in &transaction.input {
            unspent.remove(&input.previous_output);
        }
        let txid = transaction.compute_txid();
        unspent.extend((0..).zip(&transaction.output).map(|(vout, _)| OutPoint { txid, vout }));
    }
    let mut expected = Sums::new();
    for outpoint in unspent {
        for (id, amount) in state.sheet(&outpoint).unwrap().load().iter().filter(|(_, amount)| *amount > 0) {
            expected.insert((outpoint.to_string(), id.to_string()), i128::try_from(amount).unwrap());
        }
    }
    assert!(expected.len() > 20, "{}", expected.len());
    assert_eq!(held, expected);

    // Contracts and calls: by the traces.
    let (mut moves, mut calls, mut exchanges) = (BTreeMap::new(), 0, Vec::new());
    let mut swaps = Vec::new();
    for height in 0..=HEIGHT {
        for traced in state.block_traces(height).unwrap() {
            moved(&traced.trace, traced.stands, &mut moves);
            if traced.stands {
                exchanges.extend(exchanged(&traced.trace).into_iter().map(|trade| (traced.outpoint.txid, trade)));
            }
            let mut statics = Vec::new();
            for event in &traced.trace.events {
                match event {
                    TraceEvent::Enter { kind, .. } => {
                        let is_static = *kind == CallKind::Static || statics.last() == Some(&true);
                        statics.push(is_static);
                        calls += usize::from(!is_static);
                    }
                    TraceEvent::Exit { fuel_used: 0, .. } => {}
                    _ => drop(statics.pop()),
                }
            }
        }
        let found = Markets::at(&snapshot, height).events_of_blocks(height, height, usize::MAX).unwrap().unwrap();
        swaps.extend(found.into_iter().filter(|event| matches!(event.action, Action::Swap { .. })));
    }
    moves.retain(|_, amount| *amount != 0);
    assert!(moves.len() > 10, "{}", moves.len());
    assert_eq!(contracts, moves);
    assert!(
        calls > 50 && of(&events, "call").len().abs_diff(calls) * 50 < calls,
        "{} {calls}",
        of(&events, "call").len()
    );
    let (trades, unlisted): (Vec<&Value>, Vec<&Value>) =
        of(&events, "trade").into_iter().partition(|trade| trade.get("factory").is_some());
    assert!(swaps.len() > 5);
    assert_eq!(trades.len(), swaps.len());
    for (trade, swap) in trades.iter().zip(&swaps) {
        assert_eq!(trade["txid"], swap.txid.to_string());
    }
    assert!(exchanges.len() > 5, "{}", exchanges.len());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let unlisted: Vec<_> = unlisted
        .into_iter()
        .map(|trade| {
            assert_eq!(trade["pool"], BTC_USD_POOL.to_string());
            let moved = |side: &Value| (text(&side["alkane"]), text(&side["amount"]).parse::<i128>().unwrap());
            (text(&trade["txid"]), moved(&trade["sold"]), moved(&trade["bought"]))
        })
        .collect();
    let expected: Vec<_> =
        exchanges.into_iter().map(|(txid, (sold, bought))| (txid.to_string(), sold, bought)).collect();
    assert_eq!(unlisted, expected);
}

/// Pages of any length are the whole.
fn check_pages(index: &Index) {
    let snapshot = index.snapshot();
    let filter = filter(&[Kind::Block, Kind::Transfer, Kind::Call, Kind::Trade], &[]);
    let whole = step(&snapshot, Position::Beginning, &filter, usize::MAX).unwrap();
    for events_max in [7, 100] {
        let (mut position, mut messages) = (Position::Beginning, Vec::new());
        loop {
            let next = step(&snapshot, position, &filter, events_max).unwrap();
            assert!(next.messages.iter().filter(|message| message.is_event()).count() <= events_max);
            messages.extend(next.messages);
            position = next.position;
            if next.is_at_tip {
                break;
            }
        }
        assert!(messages == whole.messages, "by {events_max}");
    }
    // The checkpoint of each block is about all of its events.
    let mut sums: HashMap<BlockHash, (u64, Checksum)> = HashMap::new();
    for message in &whole.messages {
        if message.is_event() {
            let (count, sum) = sums.entry(message.cursor.hash).or_default();
            *count += 1;
            sum.add(&message.text);
        } else {
            let checkpoint: Value = serde_json::from_str(&message.text).unwrap();
            let (count, sum) = sums[&message.cursor.hash];
            assert_eq!((&checkpoint["count"], &checkpoint["checksum"]), (&count.into(), &sum.to_string().into()));
        }
    }
}

#[test]
fn a_cursor_of_a_branch_that_was_left_is_taken_back_block_by_block() {
    let mut town = MarketChain::new(8);
    town.grow(125).unwrap();
    let one = town.blocks();
    town.fork(119, 128).unwrap();
    let other = town.blocks();
    let fork = one.iter().zip(&other).take_while(|(one, other)| one.id == other.id).count() - 1;
    let mut index = Index::new();
    index.follow(&one);
    let filter = filter(&[Kind::Block, Kind::Transfer], &[]);
    let before = step(&index.snapshot(), Position::Beginning, &filter, usize::MAX).unwrap();
    index.follow(&other);
    let after = step(&index.snapshot(), before.position, &filter, usize::MAX).unwrap();
    let left = &one[fork + 1..];
    let undone: Vec<Value> =
        after.messages.iter().map(|message| serde_json::from_str(&message.text).unwrap()).collect();
    for (message, block) in undone.iter().zip(left.iter().rev()) {
        assert_eq!(
            (&message["type"], &message["block_hash"]),
            (&"block_disconnected".into(), &block.id.hash.to_string().into())
        );
        let parent = &one[block.id.height as usize - 1];
        assert_eq!(message["cursor"], Cursor::end_of(parent.id).to_string());
    }
    assert_eq!(undone[left.len()]["type"], "block_connected");
    let kept =
        before.messages.into_iter().filter(|message| message.cursor.height as usize <= fork && message.is_event());
    let applied: Vec<_> =
        kept.chain(after.messages.into_iter().skip(left.len()).filter(paraffin_events::Message::is_event)).collect();
    let fresh = step(&index.snapshot(), Position::Beginning, &filter, usize::MAX).unwrap();
    let fresh: Vec<_> = fresh.messages.into_iter().filter(paraffin_events::Message::is_event).collect();
    assert!(applied == fresh);

    let nowhere = Cursor { height: 120, hash: BlockHash::from_byte_array([7; 32]), index: INDEX_MAX };
    let error = step(&index.snapshot(), Position::After(nowhere), &filter, 1).unwrap_err();
    assert!(matches!(error, EventError::UnknownBlock(block) if block == nowhere.block()), "{error}");
}
