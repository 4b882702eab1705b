//! Trades and liquidity events of a pool.
//!
//! Pages in chain order are read directly from the index. Any other order, or a filter by side, covers the newest [`WINDOW`]
//! events only; `window` in the answer then says so.

use std::cmp::Ordering;

use bitcoin::hex::DisplayHex as _;
use bitcoin::{Address, Script};
use paraffin_alkanes::views::ViewError;
use paraffin_amm::{Action, Event, EventKind, Markets, Page, PoolIdentity, Ratio, Scope, Side, Status};
use paraffin_primitives::{AlkaneId, Network};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Number;

use super::ask::{AtHeight, Part, id, word};
use super::candles::{side, unknown};
use super::failure::Failure;
use super::{Espo, EspoMethod, read_markets};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::markets::{MarketMoment, NamedPool, failed};
use paraffin_gateway::methods::{Natural, OrNull};
use paraffin_gateway::state::RequestContext;

/// How many of the newest events are sorted for an order other than the chain's.
const WINDOW: u32 = 10_000;

/// What a listing is ordered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Timestamp,
    BlockHeight,
    AmountIn,
    AmountOut,
    Price,
    Side,
}

impl Sort {
    const ALL: [(&'static str, Self); 6] = [
        ("timestamp", Self::Timestamp),
        ("block_height", Self::BlockHeight),
        ("amount_in", Self::AmountIn),
        ("amount_out", Self::AmountOut),
        ("price", Self::Price),
        ("side", Self::Side),
    ];

    fn read(text: Option<&str>) -> Result<(&'static str, Self), ApiError> {
        let Some(word) = text else { return Ok(Self::ALL[0]) };
        let word = if matches!(word, "ts" | "time") { "timestamp" } else { word };
        Self::ALL.into_iter().find(|(name, _)| *name == word).ok_or_else(|| {
            let names = Self::ALL.map(|(name, _)| name).join(", ");
            ApiError::invalid(format!("sort is one of {names}"))
        })
    }

    /// Whether it is the chain order, in which the index lists events.
    fn is_chain(self) -> bool {
        matches!(self, Self::Timestamp | Self::BlockHeight)
    }

    fn compare(self, one: &Row, other: &Row) -> Ordering {
        match self {
            Self::Timestamp | Self::BlockHeight => Ordering::Equal,
            Self::AmountIn => one.moved[0].cmp(&other.moved[0]),
            Self::AmountOut => one.moved[1].cmp(&other.moved[1]),
            Self::Side => one.side.cmp(other.side),
            Self::Price => match (one.price, other.price) {
                (Some(one), Some(other)) => one.compare(&other),
                (one, other) => one.is_some().cmp(&other.is_some()),
            },
        }
        .then(one.event.position.cmp(&other.event.position))
    }
}

/// Parameters of both methods, unparsed.
struct Params {
    pool: String,
    page: Option<Natural>,
    limit: Option<Natural>,
    size: Option<Natural>,
    side: Option<String>,
    filter_side: Option<String>,
    sort: Option<String>,
    dir: Option<String>,
}

/// Parameters of both methods, parsed.
struct Query {
    pool: AlkaneId,
    part: Part,
    side: (&'static str, Side),
    filter: &'static str,
    sort: (&'static str, Sort),
    dir: &'static str,
}

impl Query {
    fn read(params: &Params) -> Result<Self, Failure> {
        const FILTERS: [&[&str]; 3] = [&["all", "a", ""], &["buy", "b"], &["sell", "s"]];
        const DIRS: [&[&str]; 2] = [&["desc", "descending"], &["asc", "ascending"]];
        Ok(Self {
            pool: id("pool", &params.pool, "missing_or_invalid_pool")?,
            part: Part::read(params.page, params.limit, params.size)?,
            side: side(params.side.as_deref())?,
            filter: word("filter_side", params.filter_side.as_deref(), &FILTERS, "all", "invalid_filter_side")?,
            sort: Sort::read(params.sort.as_deref())?,
            dir: word("dir", params.dir.as_deref(), &DIRS, "desc", "invalid_dir")?,
        })
    }
}

/// An event from the point of view of one side of the pool.
struct Row {
    event: Event,
    pool: PoolIdentity,
    /// `buy` when the pool pays out the side's own alkane.
    side: &'static str,
    /// Amount in and amount out; for events that are not trades, amounts of the pool's first and second alkane.
    moved: [u128; 2],
    price: Option<Ratio>,
}

impl Row {
    fn new(event: Event, side: Side) -> Option<Self> {
        let pool = *event.action.pool()?;
        let own = pool.tokens[usize::from(side == Side::Quote)];
        let (word, moved) = match &event.action {
            Action::Swap { sold, bought, .. } => {
                (if bought.id == own { "buy" } else { "sell" }, [sold.value, bought.value])
            }
            Action::Creation { amounts, .. } | Action::Mint { amounts, .. } | Action::Burn { amounts, .. } => {
                ("neutral", *amounts)
            }
            Action::Wrap { .. } | Action::Unwrap { .. } => return None,
        };
        let price = event.action.price();
        let price = if side == Side::Quote { price.map(Ratio::inverse) } else { price };
        Some(Self { pool, side: word, moved, price, event })
    }

    fn is_trade(&self) -> bool {
        matches!(self.event.action, Action::Swap { .. })
    }

    /// Changes of the pool's two reserves.
    fn changes(&self) -> [String; 2] {
        let signed = |sign: &str, amount: u128| if amount == 0 { "0".to_owned() } else { format!("{sign}{amount}") };
        match &self.event.action {
            Action::Swap { sold, bought, .. } if sold.id == self.pool.tokens[0] => {
                [signed("", sold.value), signed("-", bought.value)]
            }
            Action::Swap { sold, bought, .. } => [signed("-", bought.value), signed("", sold.value)],
            Action::Burn { amounts, .. } => amounts.map(|amount| signed("-", amount)),
            _ => self.moved.map(|amount| signed("", amount)),
        }
    }

    fn actor(&self) -> Option<&Script> {
        self.event.actor.as_deref()
    }

    fn address(&self, network: Network) -> Option<String> {
        Address::from_script(self.actor()?, network.bitcoin()).ok().map(|address| address.to_string())
    }

    fn price(&self) -> Option<String> {
        self.price.map(Ratio::to_decimal)
    }
}

/// Rows of a page, the total, and `[newest events read, all events]` when not all events were read.
struct RowPage {
    rows: Vec<Row>,
    total: u64,
    window: Option<[u32; 2]>,
}

/// The rows of a page. `events` returns events of the pool by offset from the newest, with the total. `keeps` filters rows;
/// `is_filtered` says whether it rejects any.
fn row_page(
    query: &Query,
    events: impl Fn(u32, u32) -> Result<Page<Event>, ViewError>,
    keeps: impl Fn(&Row) -> bool,
    is_filtered: bool,
) -> Result<RowPage, ViewError> {
    let (part, side) = (query.part, query.side.1);
    let is_ascending = query.dir == "asc";
    if query.sort.1.is_chain() && !is_filtered {
        let total = events(0, 0)?.total;
        let start = part.offset_32().min(total);
        let end = start.saturating_add(part.limit).min(total);
        let mut items =
            if is_ascending { events(total - end, end - start)?.items } else { events(start, end - start)?.items };
        if is_ascending {
            items.reverse();
        }
        let rows = items.into_iter().filter_map(|event| Row::new(event, side)).collect();
        return Ok(RowPage { rows, total: u64::from(total), window: None });
    }
    let page = events(0, WINDOW)?;
    let seen = u32::try_from(page.items.len()).unwrap_or(u32::MAX);
    let window = (seen < page.total).then_some([seen, page.total]);
    let rows = page.items.into_iter().filter_map(|event| Row::new(event, side));
    let mut rows: Vec<Row> = rows.filter(keeps).collect();
    rows.sort_by(|one, other| query.sort.1.compare(one, other));
    if !is_ascending {
        rows.reverse();
    }
    let total = rows.len() as u64;
    Ok(RowPage { rows: part.of(rows), total, window })
}

/// The successful events of a pool, of one kind or of all.
fn of_pool(
    moment: &MarketMoment<'_>,
    markets: &Markets,
    pool: AlkaneId,
    kind: Option<EventKind>,
) -> impl Fn(u32, u32) -> Result<Page<Event>, ViewError> {
    move |offset, limit| {
        moment.chain.check()?;
        markets.events(Scope::Pool(pool), kind, Status::Successful, offset, limit).map_err(failed)
    }
}

/// The part of a pool's events that an answer covers, where it does not cover all.
#[derive(Serialize, JsonSchema)]
struct EventWindow {
    /// How many of the pool's newest events the answer covers.
    newest: u32,
    /// How many events the pool has.
    of: u32,
}

fn window(page: &RowPage) -> Option<EventWindow> {
    page.window.map(|[newest, of]| EventWindow { newest, of })
}

/// Trades of a pool.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Trades {
    /// The pool's id `block:tx`.
    pool: String,
    /// Token of the pool that prices and sides refer to: `base` or `quote`; `base` when absent.
    side: Option<String>,
    /// `all`, `buy` or `sell`; `all` when absent.
    filter_side: Option<String>,
    /// `timestamp`, `block_height`, `amount_in`, `amount_out`, `price` or `side`; `timestamp` when absent.
    sort: Option<String>,
    /// `desc` or `asc`; `desc` when absent.
    dir: Option<String>,
    /// Alias of `dir`, which takes precedence.
    direction: Option<String>,
    /// Block to answer as of; the newest when absent.
    height: Option<AtHeight>,
    /// Page number, from 0.
    page: Option<Natural>,
    /// Trades of a page: 100 when absent, 10,000 at most.
    limit: Option<Natural>,
    /// Alias of `limit`, which takes precedence.
    size: Option<Natural>,
}

/// A page of trades.
#[derive(Serialize, JsonSchema)]
pub(super) struct TradesAnswer {
    ok: bool,
    pool: String,
    side: &'static str,
    filter_side: &'static str,
    sort: &'static str,
    dir: &'static str,
    page: u64,
    limit: u32,
    /// Number of items on all pages.
    total: u64,
    has_more: bool,
    /// Present where a sort order or a filter covers the newest events only.
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<EventWindow>,
    trades: Vec<Trade>,
}

/// A trade. Amounts are base units in decimal digits.
#[derive(Serialize, JsonSchema)]
struct Trade {
    txid: String,
    vout: u32,
    /// Unix seconds.
    timestamp: String,
    block_height: u32,
    /// `buy` or `sell`.
    side: &'static str,
    amount_in: String,
    amount_out: String,
    price: Option<String>,
    /// Address of the trader; `null` where the script has none.
    address: Option<String>,
    /// The key in a taproot script, in hexadecimal digits; empty for other scripts.
    xpubkey: String,
    /// Change of the pool's reserve of its first alkane.
    base_inflow: String,
    /// Change of the pool's reserve of its second alkane.
    quote_inflow: String,
}

impl EspoMethod for Trades {
    const NAME: &'static str = "ammdata.get_trades";
    const EXAMPLE: &'static str = r#"{"pool":"2:1","limit":10}"#;
    type Answer = TradesAnswer;

    async fn answer(self, context: &RequestContext, _espo: &Espo) -> Result<TradesAnswer, Failure> {
        let query = Query::read(&Params {
            pool: self.pool,
            page: self.page,
            limit: self.limit,
            size: self.size,
            side: self.side,
            filter_side: self.filter_side,
            sort: self.sort,
            dir: self.dir.or(self.direction),
        })?;
        let filter = query.filter;
        let lookup = read_markets(context, self.height.as_ref(), move |moment| {
            let Some(NamedPool { markets, .. }) = moment.named_pool(query.pool)? else {
                return Ok(Err(unknown(query.pool)));
            };
            let keeps = |row: &Row| filter == "all" || row.side == filter;
            let events = of_pool(moment, &markets, query.pool, Some(EventKind::Swap));
            let rows = row_page(&query, events, keeps, filter != "all")?;
            Ok(Ok((query, rows)))
        });
        let (query, page) = lookup.await??;
        Ok(TradesAnswer {
            dir: query.dir,
            filter_side: query.filter,
            has_more: query.part.has_more(page.rows.len(), page.total),
            limit: query.part.limit,
            ok: true,
            page: query.part.page,
            pool: query.pool.to_string(),
            side: query.side.0,
            sort: query.sort.0,
            total: page.total,
            trades: page.rows.iter().map(|row| trade(row, context.network())).collect(),
            window: window(&page),
        })
    }
}

fn trade(row: &Row, network: Network) -> Trade {
    let [base_inflow, quote_inflow] = row.changes();
    Trade {
        address: row.address(network),
        amount_in: row.moved[0].to_string(),
        amount_out: row.moved[1].to_string(),
        base_inflow,
        block_height: row.event.position.height,
        price: row.price(),
        quote_inflow,
        side: row.side,
        timestamp: row.event.time.to_string(),
        txid: row.event.txid.to_string(),
        vout: row.event.vout,
        xpubkey: row.actor().and_then(taproot_key).unwrap_or_default(),
    }
}

/// The key in a taproot script, in hexadecimal digits.
fn taproot_key(script: &Script) -> Option<String> {
    script.is_p2tr().then(|| script.as_bytes()[2..].to_lower_hex_string())
}

/// Activity of a pool: trades, and liquidity that was added and removed.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Activity {
    /// The pool's id `block:tx`.
    pool: String,
    /// `all`, `trades`, or `events` for events other than trades; `all` when absent.
    #[serde(rename = "activity_type")]
    kinds: Option<String>,
    /// Token of the pool that prices and sides refer to: `base` or `quote`; `base` when absent.
    side: Option<String>,
    /// Filters trades: `all`, `buy` or `sell`; `all` when absent.
    filter_side: Option<String>,
    /// `timestamp`, `block_height`, `amount_in`, `amount_out`, `price` or `side`; `timestamp` when absent.
    sort: Option<String>,
    /// `desc` or `asc`; `desc` when absent.
    dir: Option<String>,
    /// Alias of `dir`, which takes precedence.
    direction: Option<String>,
    /// Block to answer as of; the newest when absent.
    height: Option<AtHeight>,
    /// Page number, from 0.
    page: Option<Natural>,
    /// Events of a page: 100 when absent, 10,000 at most.
    limit: Option<Natural>,
    /// Alias of `limit`, which takes precedence.
    size: Option<Natural>,
}

/// A page of events.
#[derive(Serialize, JsonSchema)]
pub(super) struct ActivityAnswer {
    ok: bool,
    pool: String,
    side: &'static str,
    filter_side: &'static str,
    sort: &'static str,
    dir: &'static str,
    page: u64,
    limit: u32,
    /// Number of items on all pages.
    total: u64,
    has_more: bool,
    /// Present where a sort order or a filter covers the newest events only.
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<EventWindow>,
    #[serde(rename = "activity_type")]
    kinds: &'static str,
    #[serde(rename = "activity")]
    items: Vec<ActivityItem>,
}

/// An event of a pool. Amounts are base units in decimal digits unless stated otherwise.
#[derive(Serialize, JsonSchema)]
struct ActivityItem {
    /// Unix seconds.
    timestamp: u32,
    txid: String,
    vout: u32,
    block_height: u32,
    /// `trade_buy`, `trade_sell`, `pool_create`, `liquidity_add` or `liquidity_remove`.
    kind: &'static str,
    /// Of a trade: `base_in` or `quote_in`.
    direction: Option<&'static str>,
    /// Signed change of the pool's reserve of its first alkane.
    base_delta: String,
    /// Signed change of the pool's reserve of its second alkane.
    quote_delta: String,
    /// `buy` or `sell` for a trade, else `neutral`.
    side: &'static str,
    /// Unsigned change of the reserve of the `side` token, in units of 10^8 base units.
    amount: Number,
    /// `null` where the script has none.
    address: Option<String>,
    /// Of a trade.
    #[serde(skip_serializing_if = "Option::is_none")]
    amount_in: Option<String>,
    /// Of a trade.
    #[serde(skip_serializing_if = "Option::is_none")]
    amount_out: Option<String>,
    /// Of a trade; `null` where the amount out was zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    price: Option<OrNull<String>>,
    /// Liquidity shares minted or burnt; absent for a trade.
    #[serde(skip_serializing_if = "Option::is_none")]
    liquidity: Option<OrNull<String>>,
}

impl EspoMethod for Activity {
    const NAME: &'static str = "ammdata.get_activity";
    const EXAMPLE: &'static str = r#"{"pool":"2:1","limit":10}"#;
    type Answer = ActivityAnswer;

    async fn answer(self, context: &RequestContext, _espo: &Espo) -> Result<ActivityAnswer, Failure> {
        const KINDS: [&[&str]; 3] = [&["all"], &["trades"], &["events"]];
        let query = Query::read(&Params {
            pool: self.pool,
            page: self.page,
            limit: self.limit,
            size: self.size,
            side: self.side,
            filter_side: self.filter_side,
            sort: self.sort,
            dir: self.dir.or(self.direction),
        })?;
        let kinds = word("activity_type", self.kinds.as_deref(), &KINDS, "all", "invalid_activity_type")?;
        let filter = query.filter;
        let lookup = read_markets(context, self.height.as_ref(), move |moment| {
            let Some(NamedPool { markets, .. }) = moment.named_pool(query.pool)? else {
                return Ok(Err(unknown(query.pool)));
            };
            // Only trades have a side, so the side filter does not apply to other events.
            let keeps = |row: &Row| match kinds {
                "events" => !row.is_trade(),
                _ => filter == "all" || row.side == filter || !row.is_trade(),
            };
            let kind = (kinds == "trades").then_some(EventKind::Swap);
            let is_filtered = kinds == "events" || filter != "all";
            let rows = row_page(&query, of_pool(moment, &markets, query.pool, kind), keeps, is_filtered)?;
            Ok(Ok((query, rows)))
        });
        let (query, page) = lookup.await??;
        let item = |row| activity_item(row, query.side.1, context.network());
        Ok(ActivityAnswer {
            items: page.rows.iter().map(item).collect(),
            kinds,
            dir: query.dir,
            filter_side: query.filter,
            has_more: query.part.has_more(page.rows.len(), page.total),
            limit: query.part.limit,
            ok: true,
            page: query.part.page,
            pool: query.pool.to_string(),
            side: query.side.0,
            sort: query.sort.0,
            total: page.total,
            window: window(&page),
        })
    }
}

fn activity_item(row: &Row, side: Side, network: Network) -> ActivityItem {
    let [base, quote] = row.changes();
    let (kind, liquidity) = match &row.event.action {
        Action::Creation { liquidity, .. } => ("pool_create", Some(*liquidity)),
        Action::Mint { liquidity, .. } => ("liquidity_add", Some(*liquidity)),
        Action::Burn { liquidity, .. } => ("liquidity_remove", Some(*liquidity)),
        _ if row.side == "buy" => ("trade_buy", None),
        _ => ("trade_sell", None),
    };
    let direction = match &row.event.action {
        Action::Swap { sold, .. } if sold.id == row.pool.tokens[0] => Some("base_in"),
        Action::Swap { .. } => Some("quote_in"),
        _ => None,
    };
    let of_trade = |amount: u128| row.is_trade().then(|| amount.to_string());
    ActivityItem {
        address: row.address(network),
        amount: coins(if side == Side::Base { &base } else { &quote }),
        amount_in: of_trade(row.moved[0]),
        amount_out: of_trade(row.moved[1]),
        base_delta: base,
        block_height: row.event.position.height,
        direction,
        kind,
        liquidity: (!row.is_trade()).then(|| OrNull(liquidity.map(|liquidity| liquidity.to_string()))),
        price: row.is_trade().then(|| OrNull(row.price())),
        quote_delta: quote,
        side: row.side,
        timestamp: row.event.time,
        txid: row.event.txid.to_string(),
        vout: row.event.vout,
    }
}

/// An amount without its sign in units of 10^8 base units, as a JSON number with all its digits.
fn coins(change: &str) -> Number {
    let digits = change.trim_start_matches('-');
    let padded = format!("{digits:0>9}");
    let (whole, fraction) = padded.split_at(padded.len() - 8);
    // Invariant: digits, a point and digits are a JSON number.
    serde_json::from_str(&format!("{whole}.{fraction}")).unwrap_or_else(|_| 0.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::cell::Cell;

    use bitcoin::Txid;
    use bitcoin::hashes::Hash as _;
    use paraffin_alkanes::Transfer;
    use paraffin_amm::ChainPosition;

    const POOL: PoolIdentity = PoolIdentity {
        id: AlkaneId { block: 2, tx: 9 },
        factory: AlkaneId { block: 4, tx: 65_522 },
        tokens: [AlkaneId { block: 2, tx: 1 }, AlkaneId { block: 2, tx: 2 }],
    };

    /// Trade `number`, counted from the oldest: amounts and sides vary.
    fn swap(number: u32) -> Event {
        let index = usize::from(number.is_multiple_of(3));
        let moved = |index: usize, value| Transfer { id: POOL.tokens[index], value };
        let sold = moved(index, u128::from(number % 101) + 1);
        let bought = moved(1 - index, u128::from(number % 37) + 1);
        Event {
            position: ChainPosition { height: number / 4, transaction: number % 4, event: 0 },
            txid: Txid::all_zeros(),
            time: 600 * (number / 4),
            protostone: 0,
            vout: 0,
            actor: None,
            successful: true,
            action: Action::Swap { pool: POOL, sold, bought },
        }
    }

    fn query(page: u64, limit: u32, sort: (&'static str, Sort), dir: &'static str) -> Query {
        Query { pool: POOL.id, part: Part { page, limit }, side: ("base", Side::Base), filter: "all", sort, dir }
    }

    #[test]
    fn a_page_in_the_chains_order_costs_its_rows_and_any_other_order_the_newest_ten_thousand() {
        let read = Cell::new(0);
        let events = |count: u32| {
            let read = &read;
            move |offset: u32, limit: u32| {
                let end = count.saturating_sub(offset);
                let items: Vec<Event> = (end.saturating_sub(limit)..end).rev().map(swap).collect();
                read.set(read.get() + items.len());
                Ok(Page { items, total: count })
            }
        };
        let number = |row: &Row| row.event.position.height * 4 + row.event.position.transaction;
        for count in [0, 7, WINDOW, 25_000] {
            for (dir, page) in [("desc", 0), ("asc", 0), ("desc", 3), ("asc", 3), ("asc", 2_499), ("desc", u64::MAX)] {
                read.set(0);
                let answer = row_page(&query(page, 10, Sort::ALL[0], dir), events(count), |_| true, false).unwrap();
                assert_eq!((answer.total, answer.window), (u64::from(count), None));
                assert!(read.get() <= 10);
                let all: Vec<u32> = if dir == "asc" { (0..count).collect() } else { (0..count).rev().collect() };
                let start = usize::try_from(page.saturating_mul(10)).unwrap().min(all.len());
                let expected = &all[start..(start + 10).min(all.len())];
                assert_eq!(answer.rows.iter().map(number).collect::<Vec<_>>(), expected, "{count} {dir} {page}");
            }
            let oldest = count.saturating_sub(WINDOW);
            let window = (oldest > 0).then_some([WINDOW, count]);
            for sort in Sort::ALL {
                read.set(0);
                // The filter by side forces sorting in every order.
                let buys = |row: &Row| row.side == "buy";
                let expected = (oldest..count).filter(|number| number.is_multiple_of(3)).count();
                let answer = row_page(&query(0, WINDOW, sort, "asc"), events(count), buys, true).unwrap();
                assert_eq!((answer.rows.len(), answer.total, answer.window), (expected, expected as u64, window));
                assert!(read.get() <= WINDOW as usize);
                let ascends = answer.rows.windows(2).all(|pair| sort.1.compare(&pair[0], &pair[1]).is_lt());
                assert!(ascends, "{sort:?} leaves the order of two rows open");
            }
        }
    }

    #[test]
    fn amounts_in_coins_keep_every_digit() {
        for (change, rendered) in [
            ("0", "0.00000000"),
            ("-5", "0.00000005"),
            ("100000000", "1.00000000"),
            ("-340282366920938463463374607431768211455", "3402823669209384634633746074317.68211455"),
        ] {
            assert_eq!(coins(change).to_string(), rendered);
        }
    }
}
