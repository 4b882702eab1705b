//! `CoinGecko`: pairs, tickers, and for each of them its depth and its trades.

use serde_json::{Value, json};

use super::{Kind, assert_fields, get, list, refused, text, units};
use crate::support::dev::Dev;

fn number(value: &Value) -> f64 {
    text(value).parse().unwrap()
}

/// Price and amount of every order of one side.
fn orders(side: &Value) -> Vec<(f64, u128)> {
    let orders = list(side).iter();
    orders.map(|order| (number(&order[0]), units(&order[1]))).collect()
}

#[test]
fn tickers_agree_with_the_trades_and_the_depth_of_their_pools() {
    let dev = Dev::start();
    let pairs = get(&dev, "coingecko/pairs");
    let fields = [("ticker_id", Kind::Text), ("base", Kind::Text), ("target", Kind::Text), ("pool_id", Kind::Text)];
    for pair in list(&pairs) {
        assert_fields(pair, &fields, &[]);
        assert_eq!(text(&pair["ticker_id"]), format!("{}_{}", text(&pair["base"]), text(&pair["target"])));
    }
    let pools: Vec<&Value> = list(&dev.described["alkanes"]["pools"]).iter().collect();
    assert!(pools.iter().all(|pool| list(&pairs).iter().any(|pair| pair["pool_id"] == **pool)), "{pairs}");

    let newest = get(&dev, "dexscreener/latest-block")["block"]["blockTimestamp"].as_u64().unwrap();
    // The newest 144 buckets of ten minutes.
    let begin = newest - newest % 600 - 143 * 600;
    let tickers = get(&dev, "coingecko/tickers");
    assert!(!list(&tickers).is_empty());
    let mut volume = 0;
    for ticker in list(&tickers) {
        assert_ticker(ticker, &pairs);
        let id = text(&ticker["ticker_id"]);
        let all = get(&dev, &format!("coingecko/historical_trades?ticker_id={id}&limit=0"));
        let day = get(&dev, &format!("coingecko/historical_trades?ticker_id={id}&limit=0&start_time={begin}"));
        assert_trades(&all);
        let sum = |trades: &Value, name: &str| -> u128 {
            ["buy", "sell"].iter().flat_map(|side| list(&trades[*side])).map(|trade| units(&trade[name])).sum()
        };
        for name in ["base_volume", "target_volume"] {
            assert_eq!(units(&ticker[name]), sum(&day, name), "{name} of {id}");
        }
        volume += units(&ticker["base_volume"]);
        assert_prices(ticker, &all, &day);
        assert_sides(&dev, id, &all);
        assert_book(&dev, ticker);
    }
    assert!(volume > 0, "there was trade in the last day");

    assert_eq!(list(&get(&dev, "coingecko/tickers?limit=1"))[0], list(&tickers)[0]);
    let own = dev.text("/alkanes/factory");
    assert_eq!(get(&dev, &format!("coingecko/pairs?factory={own}")), pairs);
    for (path, status) in [
        ("coingecko/tickers?factory=9:9", 404),
        ("coingecko/orderbook", 400),
        ("coingecko/orderbook?ticker_id=BTC_USD", 400),
        ("coingecko/orderbook?ticker_id=9:9_9:8", 404),
        ("coingecko/historical_trades?ticker_id=9:9_9:8", 404),
        ("coingecko/historical_trades?ticker_id=2:0_32:0&type=hold", 400),
        ("coingecko/historical_trades?ticker_id=2:0_32:0&start_time=x", 400),
    ] {
        let (refused, body) = refused(&dev, path);
        assert_eq!(refused, status, "{path}: {body}");
        assert!(body["error"].is_string(), "{path}: {body}");
    }
}

fn assert_ticker(ticker: &Value, pairs: &Value) {
    let needed = [
        ("ticker_id", Kind::Text),
        ("base_currency", Kind::Text),
        ("target_currency", Kind::Text),
        ("pool_id", Kind::Text),
        ("last_price", Kind::Decimal),
        ("base_volume", Kind::Decimal),
        ("target_volume", Kind::Decimal),
    ];
    let optional = ["liquidity_in_usd", "bid", "ask", "high", "low"].map(|name| (name, Kind::Decimal));
    assert_fields(ticker, &needed, &optional);
    assert!(number(&ticker["last_price"]) > 0.0, "{ticker}");
    let pair = json!({
        "ticker_id": ticker["ticker_id"],
        "base": ticker["base_currency"],
        "target": ticker["target_currency"],
        "pool_id": ticker["pool_id"],
    });
    assert!(list(pairs).contains(&pair), "{ticker} is no pair");
}

/// Both sides, the newest first, each trade with a number of its own.
#[allow(clippy::cast_precision_loss)] // compared with a tolerance
fn assert_trades(trades: &Value) {
    assert_fields(trades, &[("buy", Kind::List), ("sell", Kind::List)], &[]);
    let mut numbers = Vec::new();
    for side in ["buy", "sell"] {
        let listed = list(&trades[side]);
        for trade in listed {
            let needed = [
                ("trade_id", Kind::Integer),
                ("price", Kind::Decimal),
                ("base_volume", Kind::Decimal),
                ("target_volume", Kind::Decimal),
                ("trade_timestamp", Kind::Integer),
                ("type", Kind::Text),
            ];
            assert_fields(trade, &needed, &[]);
            assert_eq!(trade["type"], side);
            assert_eq!(trade["trade_timestamp"].as_u64().unwrap() % 1_000, 0, "milliseconds of a block's time");
            let price = units(&trade["target_volume"]) as f64 / units(&trade["base_volume"]) as f64;
            assert!((number(&trade["price"]) - price).abs() <= price * 1e-9, "{trade}");
            numbers.push(trade["trade_id"].as_u64().unwrap());
        }
        assert!(listed.is_sorted_by(|one, other| one["trade_id"].as_u64() > other["trade_id"].as_u64()));
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "numbered from 1");
}

/// Trades of a pool by number, the oldest first.
fn by_number(trades: &Value) -> Vec<Value> {
    let mut all: Vec<Value> = ["buy", "sell"].iter().flat_map(|side| list(&trades[*side])).cloned().collect();
    all.sort_by_key(|trade| trade["trade_id"].as_u64());
    all
}

fn assert_prices(ticker: &Value, all: &Value, day: &Value) {
    assert_eq!(ticker["last_price"], by_number(all).last().unwrap()["price"], "{ticker}");
    let prices: Vec<f64> = by_number(day).iter().map(|trade| number(&trade["price"])).collect();
    let answered = ["high", "low"].map(|name| ticker.get(name).map(number));
    let expected = [prices.iter().copied().reduce(f64::max), prices.iter().copied().reduce(f64::min)];
    assert_eq!(answered, expected, "{ticker}");
}

/// One side alone, a limit, and a span of time.
fn assert_sides(dev: &Dev, id: &str, all: &Value) {
    let ask = |query: &str| get(dev, &format!("coingecko/historical_trades?ticker_id={id}&{query}"));
    for (side, other) in [("buy", "sell"), ("sell", "buy")] {
        let one = ask(&format!("type={side}&limit=0"));
        assert_eq!((&one[side], &one[other]), (&all[side], &json!([])), "{id}");
        let newest = ask(&format!("type={side}&limit=2"));
        assert_eq!(list(&newest[side]), &list(&all[side])[..list(&all[side]).len().min(2)]);
    }
    let ordered = by_number(all);
    let middle = ordered[ordered.len() / 2]["trade_timestamp"].as_u64().unwrap();
    let until = by_number(&ask(&format!("limit=0&end_time={}", middle / 1_000)));
    let expected: Vec<_> =
        ordered.iter().filter(|trade| trade["trade_timestamp"].as_u64().unwrap() <= middle).cloned().collect();
    assert_eq!(until, expected, "{id}");
}

fn assert_book(dev: &Dev, ticker: &Value) {
    let id = text(&ticker["ticker_id"]);
    let book = get(dev, &format!("coingecko/orderbook?ticker_id={id}&depth=200"));
    let needed = [
        ("ticker_id", Kind::Text),
        ("pool_id", Kind::Text),
        ("timestamp", Kind::Integer),
        ("bids", Kind::List),
        ("asks", Kind::List),
    ];
    assert_fields(&book, &needed, &[]);
    assert_eq!((&book["ticker_id"], &book["pool_id"]), (&ticker["ticker_id"], &ticker["pool_id"]));
    let (bids, asks) = (orders(&book["bids"]), orders(&book["asks"]));
    assert!((1..=100).contains(&bids.len()) && (1..=100).contains(&asks.len()), "{book}");
    assert!(bids.is_sorted_by(|one, other| one.0 >= other.0) && asks.is_sorted_by(|one, other| one.0 <= other.0));
    assert!(bids[0].0 < asks[0].0, "{book}");
    let best = |side: &str| &list(&book[side])[0][0];
    assert!(number(&ticker["bid"]) >= bids[0].0 && number(&ticker["ask"]) <= asks[0].0, "{ticker} {book}");
    let two = get(dev, &format!("coingecko/orderbook?ticker_id={id}&depth=2"));
    assert_eq!((list(&two["bids"]).len(), list(&two["asks"]).len()), (1, 1), "{two}");
    assert_eq!((&two["bids"][0][0], &two["asks"][0][0]), (&ticker["bid"], &ticker["ask"]), "{two} {:?}", best("bids"));
    // What the orders cost is what one trade of their size costs, whatever the book's levels are.
    let reserves = dev.post("get-reserves", json!({ "pool": ticker["pool_id"] }));
    let held = text(&reserves["reserve0"]).parse::<u128>().unwrap();
    let offered: u128 = asks.iter().map(|(_, amount)| amount).sum();
    assert!(offered <= held && offered >= held / 1_000 * 100, "a tenth of what the pool holds: {book}");
}
