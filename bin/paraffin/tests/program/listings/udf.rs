//! The charting library of `TradingView`: configuration, search, resolving a symbol, bars.

use serde_json::{Value, json};

use super::{Kind, assert_fields, get, list, refused, text};
use crate::support::dev::Dev;
use crate::support::http;

/// Resolutions with the names that the analytics surface has for them.
const RESOLUTIONS: [(&str, Option<&str>); 6] = [
    ("10", Some("10m")),
    ("60", Some("1h")),
    ("240", None),
    ("1D", Some("1d")),
    ("1W", Some("1w")),
    ("1M", Some("1M")),
];
const FOUR_HOURS: u64 = 4 * 3_600;

/// A bar: its start, open, high, low, close, volume.
type Bar = (u64, [f64; 5]);

/// Bars of an answer, which must be columns of one length, ascending.
#[track_caller]
fn bars(answer: &Value) -> Vec<Bar> {
    assert_fields(
        answer,
        &[
            ("s", Kind::Text),
            ("t", Kind::List),
            ("o", Kind::List),
            ("h", Kind::List),
            ("l", Kind::List),
            ("c", Kind::List),
            ("v", Kind::List),
        ],
        &[],
    );
    assert_eq!(answer["s"], "ok");
    let columns = ["o", "h", "l", "c", "v"].map(|name| list(&answer[name]));
    let times = list(&answer["t"]);
    assert!(!times.is_empty() && columns.iter().all(|column| column.len() == times.len()), "{answer}");
    let bars: Vec<Bar> = times
        .iter()
        .enumerate()
        .map(|(place, time)| (time.as_u64().unwrap(), columns.map(|column| column[place].as_f64().unwrap())))
        .collect();
    assert!(bars.is_sorted_by(|one, other| one.0 < other.0), "{answer}");
    for (_, [open, high, low, close, volume]) in &bars {
        assert!(
            low <= open && low <= close && high >= open && high >= close && *volume > 0.0 && *low > 0.0,
            "{answer}"
        );
    }
    bars
}

fn number(value: &Value) -> f64 {
    text(value).parse().unwrap()
}

/// The same bars from the candles of the analytics surface.
fn candles(dev: &Dev, pool: &str, timeframe: &str) -> Vec<Bar> {
    let params = json!({ "pool": pool, "timeframe": timeframe, "limit": 10_000 });
    let answer = http::result(dev.listen(), &format!("{}/espo", dev.path()), "ammdata.get_candles", params);
    let rows = list(&answer["candles"]).iter();
    rows.map(|row| {
        let prices = ["open", "high", "low", "close"].map(|name| number(&row[name]));
        let [open, high, low, close] = prices;
        (row["ts"].as_u64().unwrap(), [open, high, low, close, number(&row["volume"]) / 1e8])
    })
    .collect()
}

/// Bars of four hours out of those of one.
fn four_hours(hours: &[Bar]) -> Vec<Bar> {
    let parts = hours.chunk_by(|one, other| one.0 / FOUR_HOURS == other.0 / FOUR_HOURS);
    let whole = parts.map(|part| {
        let extreme =
            |place: usize, of: fn(f64, f64) -> f64| part.iter().map(|(_, bar)| bar[place]).reduce(of).unwrap();
        let volume = part.iter().map(|(_, bar)| bar[4]).sum();
        let (first, last) = (part.first().unwrap(), part.last().unwrap());
        (first.0 - first.0 % FOUR_HOURS, [first.1[0], extreme(1, f64::max), extreme(2, f64::min), last.1[3], volume])
    });
    whole.collect()
}

#[track_caller]
fn assert_same(answered: &[Bar], expected: &[Bar]) {
    assert_eq!(answered.len(), expected.len());
    for (one, other) in answered.iter().zip(expected) {
        let is_same = one.1.iter().zip(other.1).all(|(one, other)| (one - other).abs() <= other * 1e-12);
        assert!(one.0 == other.0 && is_same, "{one:?} {other:?}");
    }
}

#[test]
fn a_chart_finds_a_symbol_and_its_bars_are_the_candles() {
    let dev = Dev::start();
    let config = get(&dev, "udf/config");
    assert_fields(
        &config,
        &[
            ("supported_resolutions", Kind::List),
            ("supports_group_request", Kind::Flag),
            ("supports_marks", Kind::Flag),
            ("supports_search", Kind::Flag),
            ("supports_time", Kind::Flag),
            ("supports_timescale_marks", Kind::Flag),
            ("exchanges", Kind::List),
            ("symbols_types", Kind::List),
        ],
        &[],
    );
    // One of the two must be true, and not both.
    assert_ne!(config["supports_search"], config["supports_group_request"]);
    assert_eq!(config["supported_resolutions"], json!(RESOLUTIONS.map(|(name, _)| name)));
    let factory = dev.text("/alkanes/factory").to_owned();
    assert!(list(&config["exchanges"]).iter().any(|exchange| exchange["value"] == factory), "{config}");

    let now = http::get(dev.listen(), &format!("{}/udf/time", dev.path())).text();
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    assert!(now.parse::<u64>().unwrap().abs_diff(clock) < 60, "plain Unix seconds: {now}");

    let pools: Vec<&str> = list(&dev.described["alkanes"]["pools"]).iter().map(text).collect();
    let found = get(&dev, "udf/search?query=&type=&exchange=&limit=50");
    let fields = [
        ("symbol", Kind::Text),
        ("full_name", Kind::Text),
        ("description", Kind::Text),
        ("exchange", Kind::Text),
        ("ticker", Kind::Text),
        ("type", Kind::Text),
    ];
    for found in list(&found) {
        assert_fields(found, &fields, &[]);
    }
    for pool in &pools {
        assert!(list(&found).iter().any(|found| found["ticker"] == *pool), "{pool} is not found: {found}");
        let by_id = get(&dev, &format!("udf/search?query={pool}&type=crypto&exchange={factory}&limit=1"));
        assert_eq!(by_id[0]["ticker"], *pool, "{by_id}");
    }
    assert_eq!(get(&dev, "udf/search?query=&type=stock&limit=5"), json!([]));
    assert_eq!(get(&dev, "udf/search?query=&exchange=9:9"), json!([]));
    assert_eq!(list(&get(&dev, "udf/search?limit=1")).len(), 1);

    let mut seen = 0;
    for found in list(&found) {
        let (pool, symbol) = (text(&found["ticker"]), text(&found["symbol"]));
        // People type what they see.
        let typed = get(&dev, &format!("udf/search?query={}&limit=50", symbol.replace('/', "%2F").replace(' ', "%20")));
        assert!(list(&typed).iter().any(|other| other["ticker"] == pool), "{symbol}: {typed}");
        let resolved = get(&dev, &format!("udf/symbols?symbol={pool}"));
        assert_symbol(&resolved, found);
        assert_eq!(resolved, get(&dev, &format!("udf/symbols?symbol={}", text(&found["full_name"]))));
        for (resolution, timeframe) in RESOLUTIONS {
            let expected = match timeframe {
                Some(timeframe) => candles(&dev, pool, timeframe),
                None => four_hours(&candles(&dev, pool, "1h")),
            };
            if expected.is_empty() {
                let none =
                    get(&dev, &format!("udf/history?symbol={pool}&resolution={resolution}&from=0&to=4000000000"));
                assert_eq!(none, json!({ "s": "no_data" }));
                continue;
            }
            seen += 1;
            assert_history(&dev, pool, resolution, &expected);
        }
    }
    assert!(seen >= 6, "pools were traded");

    for (path, status) in [
        ("udf/symbols?symbol=9:9", 404),
        ("udf/symbols?symbol=DIESEL", 400),
        ("udf/symbols", 400),
        ("udf/history?symbol=9:9&resolution=60&to=5", 404),
        ("udf/history?symbol=2:5&resolution=7&to=5", 400),
        ("udf/history?symbol=2:5&resolution=60&from=x&to=5", 400),
        ("udf/nothing", 404),
    ] {
        let (refused, body) = refused(&dev, path);
        assert_eq!((refused, &body["s"]), (status, &json!("error")), "{path}");
        assert!(body["errmsg"].is_string() && body["errmsg"] == body["error"], "{path}: {body}");
    }
}

fn assert_symbol(resolved: &Value, found: &Value) {
    let fields = [
        ("name", Kind::Text),
        ("ticker", Kind::Text),
        ("full_name", Kind::Text),
        ("description", Kind::Text),
        ("type", Kind::Text),
        ("session", Kind::Text),
        ("timezone", Kind::Text),
        ("exchange", Kind::Text),
        ("listed_exchange", Kind::Text),
        ("currency_code", Kind::Text),
        ("format", Kind::Text),
        ("minmov", Kind::Integer),
        ("pricescale", Kind::Integer),
        ("has_intraday", Kind::Flag),
        ("has_daily", Kind::Flag),
        ("has_weekly_and_monthly", Kind::Flag),
        ("has_empty_bars", Kind::Flag),
        ("supported_resolutions", Kind::List),
        ("intraday_multipliers", Kind::List),
        ("volume_precision", Kind::Integer),
        ("data_status", Kind::Text),
    ];
    assert_fields(resolved, &fields, &[]);
    assert_eq!((&resolved["session"], &resolved["timezone"]), (&json!("24x7"), &json!("Etc/UTC")));
    for (one, other) in
        [("name", "symbol"), ("ticker", "ticker"), ("exchange", "exchange"), ("description", "description")]
    {
        assert_eq!(resolved[one], found[other], "{resolved} {found}");
    }
    let scale = resolved["pricescale"].as_u64().unwrap();
    assert!(scale.is_power_of_ten(), "{resolved}");
}

trait PowerOfTen {
    fn is_power_of_ten(&self) -> bool;
}

impl PowerOfTen for u64 {
    fn is_power_of_ten(&self) -> bool {
        *self > 0 && 10u64.pow(self.ilog10()) == *self
    }
}

/// Every way to ask for bars.
fn assert_history(dev: &Dev, pool: &str, resolution: &str, expected: &[Bar]) {
    let ask = |query: &str| get(dev, &format!("udf/history?symbol={pool}&resolution={resolution}&{query}"));
    let all = bars(&ask("from=0&to=4000000000"));
    assert_same(&all, expected);
    assert_same(&bars(&ask("to=4000000000&countback=5000")), expected);
    let (first, last) = (all[0].0, all[all.len() - 1].0);
    // `from` belongs to the span, `to` does not.
    for (place, (time, _)) in all.iter().enumerate() {
        let (before, beginning_here) = all.split_at(place);
        if !before.is_empty() {
            assert_same(&bars(&ask(&format!("from={first}&to={time}"))), before);
        }
        assert_same(&bars(&ask(&format!("from={time}&to={}", last + 1))), beginning_here);
        // So many before `to`, whatever `from` is.
        for count in [1, 2, 7] {
            let expected = &before[before.len().saturating_sub(count)..];
            let answer = ask(&format!("from={last}&to={time}&countback={count}"));
            if expected.is_empty() {
                assert_eq!(answer, json!({ "s": "no_data" }));
            } else {
                assert_same(&bars(&answer), expected);
            }
        }
    }
    // Nothing in the span: where the next bar to the left is.
    assert_eq!(ask(&format!("from={}&to={}", last + 1, last + 2)), json!({ "s": "no_data", "nextTime": last }));
    assert_eq!(ask(&format!("from=-9&to={first}")), json!({ "s": "no_data" }));
}
