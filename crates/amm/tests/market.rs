//! Real trades of the development network's market, recomputed by other means.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeMap;

use paraffin_alkanes::{CallKind, StateKey, StateReader, Trace, TraceContext, TraceEvent, TraceStatus, Transfer};
use paraffin_amm::routing::{Fees, Graph, RoutePool};
use paraffin_amm::{
    Action, Candle, ChainContracts, Event, EventKind, Markets, PoolIdentity, Ratio, Scope, Side, Status, Timeframe,
    pool_state,
};
use paraffin_devnet::market::{FACTORY, MarketChain, WRAPPED_BITCOIN};
use paraffin_primitives::{AlkaneId, Height};
use ruint::aliases::U256;
use support::Index;

/// Blocks of the founding and of a while of trade.
const HEIGHT: Height = 230;

fn all_events(markets: &Markets) -> Vec<Event> {
    let page = markets.events(Scope::All, None, Status::Any, 0, u32::MAX).unwrap();
    assert_eq!(page.items.len() as u32, page.total);
    page.items.into_iter().rev().collect()
}

/// Delegated calls to a pool's swap with the answer of each, by a walk of its own.
fn delegated_swaps(trace: &Trace) -> Vec<(TraceContext, Option<Vec<Transfer>>)> {
    let mut open: Vec<Option<usize>> = Vec::new();
    let mut swaps: Vec<(TraceContext, Option<Vec<Transfer>>)> = Vec::new();
    let mut undone = false;
    for event in &trace.events {
        match event {
            TraceEvent::Enter { kind, context, .. } => {
                let is_swap = *kind == CallKind::Delegate
                    && context.inputs.first() == Some(&3)
                    && context.inputs.len() == 6
                    && context.myself.block == 2;
                open.push(is_swap.then_some(swaps.len()));
                if is_swap {
                    swaps.push((context.clone(), None));
                }
            }
            TraceEvent::Create(_) | TraceEvent::Omitted { .. } | TraceEvent::Exit { fuel_used: 0, .. } => {}
            TraceEvent::Exit { status, response, .. } => {
                let index = open.pop().flatten();
                match (status, index) {
                    (TraceStatus::Revert, _) => undone = true,
                    (TraceStatus::Success, Some(index)) => swaps[index].1 = Some(response.alkanes.clone()),
                    _ => {}
                }
            }
        }
    }
    // No contract on this market catches a failure.
    if undone {
        for (_, answer) in &mut swaps {
            *answer = None;
        }
    }
    swaps
}

fn number(index: &Index, height: Height, key: &StateKey) -> i128 {
    let stored = index.state(height).get(key).unwrap();
    stored.map_or(0, |bytes| i128::try_from(u128::from_le_bytes(bytes.try_into().unwrap())).unwrap())
}

#[test]
fn the_market_is_what_its_traces_and_balances_say() {
    let mut town = MarketChain::new(7);
    town.grow(HEIGHT).unwrap();
    let blocks = town.blocks();
    let mut index = Index::new();
    index.follow(&blocks);
    let markets = index.markets();
    let events = all_events(&markets);
    assert!(events.is_sorted_by(|a, b| a.position < b.position));
    for kind in EventKind::ALL {
        let count = events.iter().filter(|event| event.action.kind() == kind && event.successful).count();
        assert!(count >= 3, "{count} of {kind:?}");
    }
    assert!(events.iter().any(|event| !event.successful), "no failed attempt");

    swaps_equal_traces(&index, &events);
    reserves_equal_events(&index, &events);
    candles_equal_swaps(&markets, &events);
    lists_hold_their_own(&markets, &events);
    for event in &events {
        // The market's messages point at output 0.
        let block = &blocks[event.position.height as usize];
        let transaction = &block.block.txdata[event.position.transaction as usize];
        assert_eq!(event.txid, transaction.compute_txid());
        assert_eq!(event.actor.as_ref(), Some(&transaction.output[0].script_pubkey));
        assert_eq!(event.time, block.block.header.time);
        assert_eq!(event.protostone, 1);
    }
    let factories = markets.factories(None, 10).unwrap();
    assert_eq!(factories, [(FACTORY, 3)]);
    assert_eq!(markets.factories(Some(FACTORY), 10).unwrap(), []);
}

fn swaps_equal_traces(index: &Index, events: &[Event]) {
    let mut expected = Vec::new();
    let mut several = 0;
    for height in 0..=HEIGHT {
        for message in index.state(HEIGHT).block_traces(height).unwrap() {
            let swaps = delegated_swaps(&message.trace);
            several += usize::from(swaps.len() > 1);
            for (context, answer) in swaps {
                let sold = context.incoming[0];
                let bought = answer.map(|answer| {
                    assert_eq!(answer.len(), 1, "a swap of this market gives one alkane");
                    answer[0]
                });
                expected.push((message.outpoint, context.myself, sold, bought));
            }
        }
    }
    assert!(several > 0, "no trade went through two pools");
    let swaps: Vec<&Event> = events.iter().filter(|event| event.action.kind() == EventKind::Swap).collect();
    assert_eq!(swaps.len(), expected.len());
    for (event, (outpoint, pool, paid, answer)) in swaps.into_iter().zip(expected) {
        let Action::Swap { pool: found, sold, bought } = event.action else { unreachable!() };
        assert_eq!((event.txid, event.vout, found.id), (outpoint.txid, outpoint.vout, pool));
        assert_eq!(event.successful, answer.is_some());
        assert_eq!(sold.id, paid.id);
        match answer {
            Some(answer) => assert_eq!((sold.value, bought), (paid.value, answer)),
            None => assert_eq!((sold.value, bought.value, event.action.price()), (0, 0, None)),
        }
    }
}

/// What events say moved is what the balances of pools and the supply of wrapped bitcoin say.
fn reserves_equal_events(index: &Index, events: &[Event]) {
    let contracts = |height| ChainContracts(index.state(height));
    let pools = index.markets().pools(Scope::Factory(FACTORY), 0, 100).unwrap();
    assert_eq!((pools.total, pools.items.len()), (3, 3));
    for record in &pools.items {
        let pool = record.pool;
        assert_eq!(index.markets().pool(pool.id).unwrap().as_ref(), Some(record));
        let (mut reserves, mut supply) = ([0i128; 2], 1_000i128);
        let mut of_pool = events
            .iter()
            .filter(|event| event.successful)
            .filter(|event| event.action.pool() == Some(&pool))
            .peekable();
        for height in record.created.height..=HEIGHT {
            while let Some(event) = of_pool.next_if(|event| event.position.height == height) {
                let signed = |amounts: [u128; 2]| amounts.map(|amount| i128::try_from(amount).unwrap());
                let (change, liquidity) = match event.action {
                    Action::Creation { amounts, liquidity, .. } | Action::Mint { amounts, liquidity, .. } => {
                        (signed(amounts), liquidity.cast_signed())
                    }
                    Action::Burn { amounts, liquidity, .. } => {
                        (signed(amounts).map(|amount| -amount), -liquidity.cast_signed())
                    }
                    Action::Swap { sold, bought, .. } => {
                        check_quote(&pool, reserves, sold, bought);
                        let [first, second] = signed(event.action.traded().unwrap());
                        (if sold.id == pool.tokens[0] { [first, -second] } else { [-first, second] }, 0)
                    }
                    _ => unreachable!(),
                };
                reserves = [reserves[0] + change[0], reserves[1] + change[1]];
                supply += liquidity;
            }
            let state = pool_state(&contracts(height), pool).unwrap();
            assert_eq!(state.reserves.map(u128::cast_signed), reserves, "{} at {height}", pool.id);
            // What the protocol earned is liquidity too, which is not paid out yet.
            assert_eq!(
                state.supply.cast_signed(),
                supply + state.claimable_fees.cast_signed(),
                "{} at {height}",
                pool.id
            );
            assert_eq!(state.fee_per_1000, 10);
            assert!(state.name.ends_with(" LP"), "{}", state.name);
        }
        assert!(of_pool.next().is_none());
        let before = record.created.height - 1;
        assert_eq!(pool_state(&contracts(before), pool).unwrap().reserves, [0, 0]);
    }
    let wrapped: i128 = events
        .iter()
        .map(|event| match event.action {
            Action::Wrap { amount } => amount.cast_signed(),
            Action::Unwrap { amount } => -amount.cast_signed(),
            _ => 0,
        })
        .sum();
    let supply = StateKey::Storage(WRAPPED_BITCOIN, b"/totalsupply".to_vec());
    assert_eq!(number(index, HEIGHT, &supply), wrapped);
    let sum = |kind| index.markets().sum(kind).unwrap();
    assert_eq!(sum(EventKind::Wrap) - sum(EventKind::Unwrap), U256::from(wrapped.unsigned_abs()));
}

/// What was executed is what routing quotes at the reserves before it, by what went in or by what came out.
fn check_quote(pool: &PoolIdentity, reserves: [i128; 2], sold: Transfer, bought: Transfer) {
    let reserves = reserves.map(|reserve| u128::try_from(reserve).unwrap());
    let pools = vec![RoutePool { id: pool.id, tokens: pool.tokens, reserves, fee_per_1000: 10 }];
    let graph = Graph::new(pools);
    let exact_in = graph.exact_in(sold.id, bought.id, sold.value, Fees::Pool, 3).unwrap();
    let exact_out = graph.exact_out(sold.id, bought.id, bought.value, Fees::Pool, 3).unwrap();
    assert!(exact_in.amount_out() == bought.value || exact_out.amount_in() == sold.value, "{sold:?} for {bought:?}");
}

/// Candles are those that all swaps at once would give.
fn candles_equal_swaps(markets: &Markets, events: &[Event]) {
    for record in markets.pools(Scope::All, 0, 100).unwrap().items {
        for timeframe in Timeframe::ALL {
            let mut buckets: BTreeMap<u32, Vec<[u128; 2]>> = BTreeMap::new();
            for event in events.iter().filter(|event| event.successful && event.action.pool() == Some(&record.pool)) {
                if let Some(amounts) = event.action.traded() {
                    buckets.entry(timeframe.start(event.time)).or_default().push(amounts);
                }
            }
            let candles = markets.candles(record.pool.id, timeframe, 0, u32::MAX, 0, usize::MAX).unwrap();
            assert_eq!(candles.len(), buckets.len());
            for (candle, (start, trades)) in candles.iter().rev().zip(&buckets) {
                check_candle(candle, *start, trades);
            }
            let series = markets.series(record.pool.id, timeframe).unwrap();
            assert_eq!(series.map_or(0, |series| series.count) as usize, candles.len());
            for (offset, limit) in [(0, 1), (0, u32::MAX), (1, 3), (candles.len() as u32, 9), (u32::MAX, 9)] {
                let page = markets.candles_page(record.pool.id, timeframe, offset, limit).unwrap();
                assert_eq!(page.total as usize, candles.len());
                let wanted = candles.iter().skip(offset as usize).take(limit as usize).copied();
                assert_eq!(page.items, wanted.collect::<Vec<_>>());
            }
            if let [newest, second, ..] = candles[..] {
                assert_eq!(markets.candles(record.pool.id, timeframe, 0, u32::MAX, 1, 1).unwrap(), [second]);
                assert_eq!(markets.candles(record.pool.id, timeframe, newest.start, u32::MAX, 0, 9).unwrap(), [newest]);
                assert_eq!(markets.candles(record.pool.id, timeframe, newest.start, second.start, 0, 9).unwrap(), []);
            }
        }
        let figures = markets.figures(record.pool.id).unwrap();
        let newest = events.iter().rev().filter(|event| event.action.pool() == Some(&record.pool));
        assert_eq!(figures.price, newest.clone().find_map(|event| event.action.price()));
        let trades = newest.filter(|event| event.successful && event.action.traded().is_some()).count();
        assert_eq!(figures.all_time.trades as usize, trades);
        assert!(figures.day.trades <= figures.week.trades && figures.week.trades <= figures.month.trades);
    }
}

fn check_candle(candle: &Candle, start: u32, trades: &[[u128; 2]]) {
    let wide = |amount: u128| U256::from(amount);
    let is = |ratio: Ratio, [first, second]: [u128; 2]| (ratio.numerator, ratio.denominator) == (second, first);
    let seen = candle.seen_from(Side::Base);
    assert_eq!((candle.start, candle.trades as usize), (start, trades.len()));
    assert!(is(seen.open, trades[0]) && is(seen.close, trades[trades.len() - 1]));
    for [first, second] in trades {
        let (price, high, low) = (wide(*second), seen.high, seen.low);
        assert!(price * wide(high.denominator) <= wide(high.numerator) * wide(*first));
        assert!(price * wide(low.denominator) >= wide(low.numerator) * wide(*first));
    }
    assert!(trades.iter().any(|trade| is(seen.high, *trade)) && trades.iter().any(|trade| is(seen.low, *trade)));
    for side in 0..2 {
        let sum: u128 = trades.iter().map(|trade| trade[side]).sum();
        assert_eq!(candle.volumes[side], wide(sum));
    }
    let inverse = candle.seen_from(Side::Quote);
    assert!(inverse.high.compare(&inverse.low).is_ge());
    assert_eq!(inverse.open, seen.open.inverse());
    assert_eq!((inverse.high, inverse.low), (seen.low.inverse(), seen.high.inverse()));
}

type Belongs<'b> = Box<dyn Fn(&Event) -> bool + 'b>;

/// Every list holds what belongs to it, the newest first, and its pages meet without gap or overlap.
fn lists_hold_their_own(markets: &Markets, events: &[Event]) {
    let pool = events.iter().find_map(|event| event.action.pool().copied()).unwrap();
    let script = events.iter().rev().find_map(|event| event.action.traded().and(event.actor.clone())).unwrap();
    let key = paraffin_alkanes::ScriptKey::of(&script);
    let of_pool = |event: &Event| event.action.pool().is_some_and(|other| other.id == pool.id);
    let of_token = |event: &Event| event.action.pool().is_some_and(|other| other.tokens.contains(&WRAPPED_BITCOIN));
    let of_script = |event: &Event| event.actor.as_ref() == Some(&script);
    let scopes: [(Scope, bool, Belongs<'_>); 7] = [
        (Scope::All, true, Box::new(|_| true)),
        (Scope::Factory(FACTORY), true, Box::new(|event| event.action.pool().is_some())),
        (Scope::Pool(pool.id), true, Box::new(of_pool)),
        (Scope::Token(WRAPPED_BITCOIN), false, Box::new(of_token)),
        (Scope::Script(key), true, Box::new(of_script)),
        (Scope::ScriptPool(key, pool.id), true, Box::new(|event| of_script(event) && of_pool(event))),
        (Scope::ScriptToken(key, WRAPPED_BITCOIN), false, Box::new(|event| of_script(event) && of_token(event))),
    ];
    for (scope, is_mixed, belongs) in &scopes {
        let kinds = [Some(EventKind::Swap), Some(EventKind::Mint), is_mixed.then_some(EventKind::Burn)];
        for kind in kinds.into_iter().take(if *is_mixed { 3 } else { 1 }).chain(is_mixed.then_some(None)) {
            for status in [Status::Successful, Status::Failed, Status::Any] {
                let expected: Vec<&Event> = events
                    .iter()
                    .rev()
                    .filter(|event| kind.is_none_or(|kind| event.action.kind() == kind) && belongs(event))
                    .filter(|event| status == Status::Any || event.successful == (status == Status::Successful))
                    .collect();
                let mut found = Vec::new();
                loop {
                    let page = markets.events(*scope, kind, status, found.len() as u32, 7).unwrap();
                    assert_eq!(page.total as usize, expected.len(), "{scope:?} {kind:?} {status:?}");
                    if page.items.is_empty() {
                        break;
                    }
                    found.extend(page.items);
                }
                assert!(found.iter().eq(expected), "{scope:?} {kind:?} {status:?}");
                assert_eq!(markets.events(*scope, kind, status, u32::MAX, u32::MAX).unwrap().items, []);
            }
        }
    }
    let no_pool = Scope::Pool(AlkaneId { block: 2, tx: u128::MAX });
    assert_eq!(markets.events(no_pool, None, Status::Any, 0, 50).unwrap().total, 0);
    assert_eq!(markets.pool(WRAPPED_BITCOIN).unwrap(), None);
}

#[test]
fn an_index_that_followed_a_reorg_equals_a_fresh_one() {
    let mut town = MarketChain::new(11);
    town.grow(150).unwrap();
    let mut index = Index::new();
    index.follow(&town.blocks());
    let first = index.content();
    // Deep enough that pools are founded again, in other blocks.
    town.fork(107, 160).unwrap();
    let blocks = town.blocks();
    index.follow(&blocks);
    let mut fresh = Index::new();
    fresh.follow(&blocks);
    assert_ne!(index.content(), first);
    assert_eq!(index.content(), fresh.content());
    assert_eq!(all_events(&index.markets()), all_events(&fresh.markets()));
    assert!(!all_events(&fresh.markets()).is_empty());
}

#[test]
fn an_index_read_as_of_an_older_block_equals_one_that_ends_there() {
    let mut town = MarketChain::new(5);
    town.grow(150).unwrap();
    let blocks = town.blocks();
    let mut whole = Index::new();
    whole.follow(&blocks);
    for height in [50, 108, 109, 125, 140, 150] {
        let mut short = Index::new();
        short.follow(&blocks[..=height as usize]);
        let (past, then) = (whole.markets_at(height), short.markets());
        let events = all_events(&then);
        assert_eq!(events.is_empty(), height == 50);
        assert_eq!(all_events(&past), events);
        assert_eq!(past.factories(None, 9).unwrap(), then.factories(None, 9).unwrap());
        for kind in EventKind::ALL {
            assert_eq!(past.sum(kind).unwrap(), then.sum(kind).unwrap());
        }
        let pools = then.pools(Scope::All, 0, 9).unwrap();
        assert_eq!(past.pools(Scope::All, 0, 9).unwrap(), pools);
        for record in whole.markets().pools(Scope::All, 0, 9).unwrap().items {
            let id = record.pool.id;
            assert_eq!(past.pool(id).unwrap(), then.pool(id).unwrap());
            assert_eq!(past.figures(id).unwrap(), then.figures(id).unwrap());
            for timeframe in Timeframe::ALL {
                let candles = |markets: &Markets| markets.candles(id, timeframe, 0, u32::MAX, 0, 999).unwrap();
                assert_eq!(candles(&past), candles(&then));
                if let [newest, second, ..] = candles(&then)[..] {
                    let (from, to) = (second.start, newest.start - 1);
                    assert_eq!(past.candles(id, timeframe, from, to, 0, 9).unwrap(), [second]);
                }
            }
        }
    }
}

/// A module that is run again reads the contracts as of each block, although they stand at the tip.
#[test]
fn markets_that_are_indexed_alone_later_are_the_same() {
    let mut town = MarketChain::new(11);
    town.grow(140).unwrap();
    let blocks = town.blocks();
    let mut index = Index::new();
    index.follow(&blocks);
    let (content, events) = (index.content(), all_events(&index.markets()));
    index.run_markets_again(&blocks);
    assert_eq!(all_events(&index.markets()), events);
    assert_eq!(index.content(), content);
}
