//! Compares everything that the index answers as of a height with the recomputed history.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use paraffin_alkanes::{ChainState, ScriptKey, StateKey, StateReader as _};
use paraffin_amm::{
    Action, Candle, ChainContracts, ChainPosition, Event, EventKind, Figures, Markets, PoolIdentity, PoolRecord, Ratio,
    Scope, Series, Side, Status, Timeframe, Volumes, pool_state,
};
use paraffin_primitives::AlkaneId;
use ruint::aliases::{U256, U512};

use crate::chance::Chance;
use crate::history::History;

const NOBODY: AlkaneId = AlkaneId { block: 2, tx: u128::MAX };
const WRAPPED_BITCOIN: AlkaneId = AlkaneId { block: 32, tx: 0 };
/// Fee of a pool that was given none, per 1000.
const FEE: u128 = 10;

/// A trade: time of its block, and what the pool's first and second alkane moved.
type Trade = (u32, [u128; 2]);

/// Every answer of the index.
pub(crate) fn compare(history: &History, markets: &Markets, state: &ChainState, chance: &mut Chance) {
    events_are(history, markets);
    lists_are(history, markets, chance);
    pools_are(history, markets, chance);
    sums_are(history, markets);
    states_are(history, state);
    for (pool, _) in &history.pools {
        prices_are(history, markets, pool, chance);
    }
}

fn events_are(history: &History, markets: &Markets) {
    let page = markets.events(Scope::All, None, Status::Any, 0, u32::MAX).unwrap();
    let found: Vec<Event> = page.items.into_iter().rev().collect();
    for (found, expected) in found.iter().zip(&history.events) {
        assert_eq!(found, expected);
    }
    assert_eq!((found.len(), page.total as usize), (history.events.len(), history.events.len()));
}

const fn kind_of(action: &Action) -> EventKind {
    match action {
        Action::Creation { .. } => EventKind::Creation,
        Action::Swap { .. } => EventKind::Swap,
        Action::Mint { .. } => EventKind::Mint,
        Action::Burn { .. } => EventKind::Burn,
        Action::Wrap { .. } => EventKind::Wrap,
        Action::Unwrap { .. } => EventKind::Unwrap,
    }
}

const fn pool_of(action: &Action) -> Option<&PoolIdentity> {
    match action {
        Action::Creation { pool, .. }
        | Action::Swap { pool, .. }
        | Action::Mint { pool, .. }
        | Action::Burn { pool, .. } => Some(pool),
        Action::Wrap { .. } | Action::Unwrap { .. } => None,
    }
}

/// Whether an event belongs to a scope, and whether the scope keeps its kind and a list of all kinds.
fn belongs(scope: &Scope, event: &Event) -> (bool, bool) {
    let pool = pool_of(&event.action);
    let is_on = |id: &AlkaneId| pool.is_some_and(|pool| pool.id == *id);
    let is_with = |token: &AlkaneId| pool.is_some_and(|pool| pool.tokens.contains(token));
    let is_by = |key: &ScriptKey| event.actor.as_ref().is_some_and(|actor| ScriptKey::of(actor) == *key);
    let kind = kind_of(&event.action);
    match scope {
        Scope::All => (true, true),
        Scope::Factory(id) => (pool.is_some_and(|pool| pool.factory == *id), true),
        Scope::Pool(id) => (is_on(id), true),
        Scope::Token(id) => (is_with(id) && matches!(kind, EventKind::Swap | EventKind::Creation), false),
        Scope::Script(key) => (is_by(key), true),
        Scope::ScriptPool(key, id) => (is_by(key) && is_on(id), true),
        Scope::ScriptToken(key, id) => (is_by(key) && is_with(id) && kind == EventKind::Swap, false),
    }
}

/// Every scope that any event belongs to, and some that none does.
fn scopes(history: &History) -> Vec<Scope> {
    let mut ids: [BTreeSet<AlkaneId>; 3] = Default::default();
    let mut scripts = BTreeSet::new();
    for event in &history.events {
        scripts.extend(event.actor.clone());
        if let Some(pool) = pool_of(&event.action) {
            ids[0].insert(pool.factory);
            ids[1].insert(pool.id);
            ids[2].extend(pool.tokens);
        }
    }
    for ids in &mut ids {
        ids.insert(NOBODY);
    }
    let scripts: Vec<ScriptKey> = scripts.iter().map(|script| ScriptKey::of(script)).collect();
    let mut scopes = vec![Scope::All];
    scopes.extend(ids[0].iter().map(|id| Scope::Factory(*id)));
    scopes.extend(ids[1].iter().map(|id| Scope::Pool(*id)));
    scopes.extend(ids[2].iter().map(|id| Scope::Token(*id)));
    for script in scripts {
        scopes.push(Scope::Script(script));
        scopes.extend(ids[1].iter().map(|id| Scope::ScriptPool(script, *id)));
        scopes.extend(ids[2].iter().map(|id| Scope::ScriptToken(script, *id)));
    }
    scopes
}

/// Every list of every scope, kind and status, whole and cut into pages anywhere.
fn lists_are(history: &History, markets: &Markets, chance: &mut Chance) {
    for scope in scopes(history) {
        let mut lists: HashMap<(Option<EventKind>, Status), Vec<&Event>> = HashMap::new();
        for event in history.events.iter().rev() {
            let (is_here, has_mixed) = belongs(&scope, event);
            if !is_here {
                continue;
            }
            let status = if event.successful { Status::Successful } else { Status::Failed };
            for kind in [Some(kind_of(&event.action)), None].into_iter().take(1 + usize::from(has_mixed)) {
                for status in [status, Status::Any] {
                    lists.entry((kind, status)).or_default().push(event);
                }
            }
        }
        for kind in EventKind::ALL.into_iter().map(Some).chain([None]) {
            for status in [Status::Successful, Status::Failed, Status::Any] {
                let expected = lists.remove(&(kind, status)).unwrap_or_default();
                let length = expected.len() as u32;
                let seen = |offset: u32, limit: u32| {
                    let page = markets.events(scope, kind, status, offset, limit).unwrap();
                    let from = offset.min(length) as usize;
                    let to = offset.saturating_add(limit).min(length) as usize;
                    assert!(page.items.iter().eq(expected[from..to].iter().copied()), "{scope:?} {kind:?} {status:?}");
                    assert_eq!(page.total, length, "{scope:?} {kind:?} {status:?}");
                };
                assert_eq!(markets.count(scope, kind, status).unwrap(), length);
                seen(0, u32::MAX);
                if length > 0 {
                    seen(chance.below(length.into()) as u32, chance.below(9) as u32);
                    seen(length - 1, 2);
                    seen(length, u32::MAX);
                    seen(u32::MAX, u32::MAX);
                }
            }
        }
    }
}

fn pools_are(history: &History, markets: &Markets, chance: &mut Chance) {
    let records = |belongs: &dyn Fn(&PoolIdentity) -> bool| -> Vec<PoolRecord> {
        let pools = history.pools.iter().filter(|(pool, _)| belongs(pool));
        pools.map(|(pool, created)| PoolRecord { pool: *pool, created: *created }).collect()
    };
    let check = |scope: Scope, expected: &[PoolRecord], offset: u32, limit: u32| {
        let page = markets.pools(scope, offset, limit).unwrap();
        let from = (offset as usize).min(expected.len());
        let to = (offset.saturating_add(limit) as usize).min(expected.len());
        assert_eq!((page.items, page.total as usize), (expected[from..to].to_vec(), expected.len()), "{scope:?}");
    };
    let mut factories: BTreeMap<AlkaneId, u32> = BTreeMap::new();
    let mut tokens = BTreeSet::from([NOBODY]);
    for (pool, created) in &history.pools {
        *factories.entry(pool.factory).or_default() += 1;
        tokens.extend(pool.tokens);
        let record = PoolRecord { pool: *pool, created: *created };
        assert_eq!(markets.pool(pool.id).unwrap().as_ref(), Some(&record));
        let creation = history.events.iter().find(|event| event.position == *created);
        assert_eq!(Some(&markets.creation(&record).unwrap()), creation);
        assert!(matches!(creation.unwrap().action, Action::Creation { pool: other, .. } if other == *pool));
    }
    let mut scopes = vec![(Scope::All, records(&|_| true))];
    scopes.extend(tokens.iter().map(|id| (Scope::Token(*id), records(&|pool| pool.tokens.contains(id)))));
    scopes.extend(factories.keys().map(|id| (Scope::Factory(*id), records(&|pool| pool.factory == *id))));
    for (scope, expected) in scopes {
        check(scope, &expected, 0, u32::MAX);
        check(scope, &expected, chance.below(4) as u32, chance.below(4) as u32);
        check(scope, &expected, u32::MAX, u32::MAX);
    }
    let factories: Vec<_> = factories.into_iter().collect();
    assert_eq!(markets.factories(None, usize::MAX).unwrap(), factories);
    if let [first, rest @ ..] = &factories[..] {
        assert_eq!(markets.factories(Some(first.0), 1).unwrap(), rest[..rest.len().min(1)]);
    }
    assert_eq!(markets.pool(NOBODY).unwrap(), None);
    assert_eq!(markets.pool(WRAPPED_BITCOIN).unwrap(), None);
}

fn sums_are(history: &History, markets: &Markets) {
    let (mut wrapped, mut unwrapped) = (U256::ZERO, U256::ZERO);
    for event in &history.events {
        match event.action {
            Action::Wrap { amount } => wrapped += U256::from(amount),
            Action::Unwrap { amount } => unwrapped += U256::from(amount),
            _ => {}
        }
    }
    for kind in EventKind::ALL {
        let expected = match kind {
            EventKind::Wrap => wrapped,
            EventKind::Unwrap => unwrapped,
            _ => U256::ZERO,
        };
        assert_eq!(markets.sum(kind).unwrap(), expected);
    }
    let supply = history.number(WRAPPED_BITCOIN, "/totalsupply").unwrap_or_default();
    assert_eq!(wrapped - unwrapped, U256::from(supply));
}

/// What pools hold, owe and are called: in the ledger, in the contracts' state and in the index's words for it.
pub(crate) fn states_are(history: &History, state: &ChainState) {
    for (pool, _) in &history.pools {
        let found = pool_state(&ChainContracts(state.clone()), *pool).unwrap();
        for (token, reserve) in pool.tokens.into_iter().zip(found.reserves) {
            let held = state.get(&StateKey::Balance { what: token, who: pool.id }).unwrap();
            let held = held.map_or(0, |held| u128::from_le_bytes(held.try_into().unwrap()));
            assert_eq!((history.holds(pool.id, token), reserve), (held.cast_signed(), held), "{}", pool.id);
        }
        assert_eq!(found.pool, *pool);
        assert_eq!(Some(found.supply), history.number(pool.id, "/totalsupply"));
        assert_eq!(found.fee_per_1000, history.number(pool.id, "/totalfeeper1000").unwrap_or(FEE));
        assert_eq!(found.claimable_fees, history.number(pool.id, "/claimablefees").unwrap_or_default());
        assert_eq!(found.name, history.text(pool.id, "/name"));
    }
}

/// A price as one integer: two different ratios of amounts of 128 bits differ by more than 2^-256.
fn scaled([first, second]: [u128; 2]) -> U512 {
    (U512::from(second) << 256) / U512::from(first)
}

fn is_price(found: Ratio, [first, second]: [u128; 2]) -> bool {
    (found.numerator, found.denominator) == (second, first)
}

fn width(timeframe: Timeframe) -> Option<u32> {
    match timeframe {
        Timeframe::TenMinutes => Some(600),
        Timeframe::Hour => Some(3_600),
        Timeframe::Day => Some(86_400),
        Timeframe::Week | Timeframe::Month => None,
    }
}

/// The day of the month, from 1, of a day counted from 1970-01-01, by counting through years of March to February.
fn day_of_month(day: u32) -> u32 {
    // 719,468 days lie between the first of March of year 0 and 1970.
    let of_era = (day + 719_468) % 146_097;
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    of_year - (153 * month + 2) / 5 + 1
}

/// Start of the bucket of a time.
fn start(timeframe: Timeframe, time: u32) -> u32 {
    let day = time / 86_400;
    match (timeframe, width(timeframe)) {
        (_, Some(width)) => time / width * width,
        // The fifth of January 1970 was a Monday.
        (Timeframe::Week, None) => ((day - 4) / 7 * 7 + 4) * 86_400,
        (_, None) => (day - (day_of_month(day) - 1)) * 86_400,
    }
}

fn prices_are(history: &History, markets: &Markets, pool: &PoolIdentity, chance: &mut Chance) {
    let trades: Vec<Trade> = history.events.iter().filter_map(|event| trade(event, pool)).collect();
    for timeframe in Timeframe::ALL {
        let mut buckets: BTreeMap<u32, Vec<[u128; 2]>> = BTreeMap::new();
        for (time, amounts) in &trades {
            buckets.entry(start(timeframe, *time)).or_default().push(*amounts);
        }
        let candles = markets.candles(pool.id, timeframe, 0, u32::MAX, 0, usize::MAX).unwrap();
        assert_eq!(candles.len(), buckets.len(), "{} {timeframe:?}", pool.id);
        for (candle, (start, trades)) in candles.iter().rev().zip(&buckets) {
            candle_is(candle, *start, trades);
        }
        if !candles.is_empty() {
            let mut any = || candles[chance.below(candles.len() as u64) as usize].start;
            let (from, to) = (any(), any());
            let (skip, limit) = (chance.below(3) as usize, chance.below(6) as usize);
            let inside = candles.iter().filter(|candle| (from..=to).contains(&candle.start));
            let expected: Vec<Candle> = inside.skip(skip).take(limit).copied().collect();
            assert_eq!(markets.candles(pool.id, timeframe, from, to, skip, limit).unwrap(), expected);
        }
        series_are(markets, pool, timeframe, &candles, chance);
    }
    let totals = (!trades.is_empty()).then(|| volumes(trades.iter()));
    assert_eq!(markets.totals(pool.id).unwrap(), totals);
    figures_are(&markets.figures(pool.id).unwrap(), &trades);
}

/// The same candles by number, the newest first, and by the time that they cover.
fn series_are(markets: &Markets, pool: &PoolIdentity, timeframe: Timeframe, candles: &[Candle], chance: &mut Chance) {
    let ends = candles.first().zip(candles.last());
    let series =
        ends.map(|(newest, oldest)| Series { count: candles.len() as u32, oldest: oldest.start, newest: newest.start });
    assert_eq!(markets.series(pool.id, timeframe).unwrap(), series);
    let length = candles.len();
    let (any, few) = (chance.below(length as u64 + 1) as usize, chance.below(5) as usize);
    for (offset, limit) in [(0, length), (any, few), (length.saturating_sub(1), 9), (length, 9)] {
        let page = markets.candles_page(pool.id, timeframe, offset as u32, limit as u32).unwrap();
        let expected: Vec<Candle> = candles.iter().skip(offset).take(limit).copied().collect();
        assert_eq!((page.items, page.total as usize), (expected, length), "{} {timeframe:?}", pool.id);
    }
    let starts = candles.iter().map(|candle| candle.start);
    for time in starts.flat_map(|start| [start - 1, start, start + 1]).chain([0, u32::MAX]) {
        let covered = candles.iter().position(|candle| candle.start <= time);
        let expected = covered.map(|index| (candles[index], (length - 1 - index) as u32));
        assert_eq!(markets.candle_before(pool.id, timeframe, time).unwrap(), expected);
    }
}

/// A kept swap of the pool that gave something for something.
fn trade(event: &Event, pool: &PoolIdentity) -> Option<Trade> {
    match event.action {
        Action::Swap { pool: other, sold, bought } if other == *pool && event.successful => {
            let amounts = pool
                .tokens
                .map(|token| [sold, bought].iter().find(|side| side.id == token).map_or(0, |side| side.value));
            (amounts[0] > 0 && amounts[1] > 0).then_some((event.time, amounts))
        }
        _ => None,
    }
}

fn candle_is(candle: &Candle, start: u32, trades: &[[u128; 2]]) {
    let highest = trades.iter().map(|trade| scaled(*trade)).max().unwrap();
    let lowest = trades.iter().map(|trade| scaled(*trade)).min().unwrap();
    let sum = |side: usize| trades.iter().map(|trade| U256::from(trade[side])).sum::<U256>();
    let price = |ratio: Ratio| scaled([ratio.denominator, ratio.numerator]);
    assert_eq!((candle.start, candle.trades as usize), (start, trades.len()));
    assert!(is_price(candle.open, trades[0]) && is_price(candle.close, trades[trades.len() - 1]), "{candle:?}");
    assert_eq!((price(candle.high), price(candle.low)), (highest, lowest), "{candle:?}");
    assert_eq!(candle.volumes, [sum(0), sum(1)]);
    let (base, quote) = (candle.seen_from(Side::Base), candle.seen_from(Side::Quote));
    assert_eq!((base.volume, quote.volume), (sum(0), sum(1)));
    assert_eq!((base.open, base.high, base.low, base.close), (candle.open, candle.high, candle.low, candle.close));
    let turned = |ratio: Ratio| scaled([ratio.numerator, ratio.denominator]);
    assert_eq!(
        [quote.open, quote.high, quote.low, quote.close].map(price),
        [turned(candle.open), turned(candle.low), turned(candle.high), turned(candle.close)]
    );
}

fn volumes<'t>(trades: impl Iterator<Item = &'t Trade>) -> Volumes {
    trades.fold(Volumes::default(), |sum, (_, [first, second])| Volumes {
        amounts: [sum.amounts[0] + U256::from(*first), sum.amounts[1] + U256::from(*second)],
        trades: sum.trades + 1,
    })
}

/// The figures of every pool: whether a trade lies just inside or just outside a window shows only at few heights.
pub(crate) fn all_figures_are(history: &History, markets: &Markets) {
    for (pool, _) in &history.pools {
        let trades: Vec<Trade> = history.events.iter().filter_map(|event| trade(event, pool)).collect();
        figures_are(&markets.figures(pool.id).unwrap(), &trades);
    }
}

/// Windows are the newest 24, 168 and 720 whole hours; the newest is that of the latest trade.
fn figures_are(figures: &Figures, trades: &[Trade]) {
    let hour = |trade: &Trade| trade.0 / 3_600;
    let Some(newest) = trades.iter().map(hour).max() else {
        assert_eq!(*figures, Figures::default());
        return;
    };
    let window = |hours: u32| volumes(trades.iter().filter(|trade| hour(trade) + hours > newest));
    assert_eq!([figures.day, figures.week, figures.month], [window(24), window(168), window(720)]);
    assert_eq!(figures.all_time, volumes(trades.iter()));
    // By hour, and within an hour as the chain has them.
    let mut sorted: Vec<&Trade> = trades.iter().collect();
    sorted.sort_by_key(|trade| hour(trade));
    assert!(figures.price.is_some_and(|price| is_price(price, sorted[sorted.len() - 1].1)));
    for (hours, found) in [(24, figures.price_a_day_ago), (168, figures.price_a_week_ago)] {
        let first_inside = sorted.iter().position(|trade| hour(trade) + hours > newest).unwrap();
        let before = first_inside.checked_sub(1).map(|last| sorted[last].1);
        assert_eq!(found.is_some(), before.is_some(), "{hours} hours");
        assert!(found.zip(before).is_none_or(|(price, amounts)| is_price(price, amounts)), "{hours} hours");
    }
}

/// The position of an event never repeats and only grows.
pub(crate) fn positions_grow(history: &History) {
    let positions: Vec<ChainPosition> = history.events.iter().map(|event| event.position).collect();
    assert!(positions.is_sorted_by(|a, b| a < b));
}
