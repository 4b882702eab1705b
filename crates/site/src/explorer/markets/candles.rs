//! The candles of a pool: the window of the request, and the links that move the chart.

use serde::Deserialize;
use serde_json::json;

use super::super::alkane::{AlkaneId, Coin};
use super::super::chart::{Candle, Caption, Drawing, candles as draw};
use super::super::history::unix_seconds;
use super::super::{Part, Reader};
use crate::api::Call;
use crate::failure::Failure;

/// Most candles of a chart.
const CANDLES: u64 = 120;
/// Accepted times, Unix seconds: from 2009 to 2100.
const TIMES: std::ops::RangeInclusive<i64> = 1_230_768_000..=4_102_444_800;

/// Widths of candles: their word in the address, and seconds.
const INTERVALS: [(&str, i64); 3] = [("1h", 3_600), ("4h", 4 * 3_600), ("1d", 86_400)];

/// The requested part of the chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) interval: &'static str,
    seconds: i64,
    from: Option<i64>,
    to: Option<i64>,
    /// Whether the second alkane is priced in the first.
    pub(super) turned: bool,
}

impl Window {
    pub(super) fn new(interval: Option<&str>, from: Option<&str>, to: Option<&str>, turned: bool) -> Self {
        let (name, seconds) = INTERVALS.into_iter().find(|(name, _)| interval == Some(*name)).unwrap_or(("1h", 3_600));
        let time = |typed: Option<&str>| typed?.trim().parse().ok().filter(|time| TIMES.contains(time));
        let (from, to) = (time(from), time(to));
        let (from, to) = if from >= to && to.is_some() { (None, to) } else { (from, to) };
        Self { interval: name, seconds, from, to, turned }
    }
}

#[derive(Deserialize)]
struct Candles {
    candles: Vec<Record>,
}

#[derive(Deserialize)]
struct Record {
    open_time: String,
    open: String,
    high: String,
    low: String,
    close: String,
    volume0: String,
    volume1: String,
}

/// A chart of candles with the links that move it.
pub(super) struct CandleChart {
    pub(super) drawing: Drawing,
    /// Titles, addresses, and whether each is the current one.
    pub(super) intervals: Vec<Link>,
    pub(super) moves: Vec<Link>,
    pub(super) count: usize,
}

/// A link beside a chart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) title: &'static str,
    pub(super) address: String,
    pub(super) is_shown: bool,
}

/// Reads the candles of a pool and draws them. `address` is that of the page with its query up to `&`.
pub(super) async fn read(
    reader: &Reader,
    pool: AlkaneId,
    window: Window,
    (coin0, coin1): (&Coin, &Coin),
    address: &str,
) -> Result<Part<CandleChart>, Failure> {
    let mut body = json!({ "pool": pool.to_string(), "interval": window.interval, "limit": CANDLES });
    if let Some(members) = body.as_object_mut() {
        for (name, time) in [("start_time", window.from), ("end_time", window.to)] {
            if let Some(time) = time {
                members.insert(name.to_owned(), json!(time));
            }
        }
    }
    let answer: Part<Candles> = reader.part(Call::rest("get-candles", &body)).await?;
    Ok(answer.map(|answer| {
        let (one, other) = if window.turned { (coin1, coin0) } else { (coin0, coin1) };
        // Factor from a ratio of base units to one of whole units.
        let factor = coin1.unit() / coin0.unit();
        let candles: Vec<Candle> = answer
            .candles
            .iter()
            .rev()
            .filter_map(|record| record.candle(window.turned, factor, (coin0, coin1)))
            .collect();
        let caption = Caption {
            title: format!("Price of {} in {}", one.name, other.symbol),
            description: format!(
                "Candles of {} of executed trades, with the volume in {} below. A time without trades has none.",
                window.interval, one.symbol
            ),
        };
        let shown = candles.first().zip(candles.last());
        let shown = shown.map(|(first, last)| (first.time, last.time.saturating_add(window.seconds)));
        let intervals = INTERVALS.into_iter().map(|(name, _)| Link {
            title: name,
            address: format!("{address}interval={name}"),
            is_shown: name == window.interval,
        });
        CandleChart {
            drawing: draw(&caption, &candles, window.seconds),
            intervals: intervals.collect(),
            moves: moves(window, shown, &format!("{address}interval={}", window.interval)),
            count: candles.len(),
        }
    }))
}

impl Record {
    fn candle(&self, turned: bool, factor: f64, (coin0, coin1): (&Coin, &Coin)) -> Option<Candle> {
        let price = |text: &str| {
            let price = text.parse::<f64>().ok()? / factor;
            let price = if turned { price.recip() } else { price };
            price.is_finite().then_some(price)
        };
        let (high, low) = if turned { (&self.low, &self.high) } else { (&self.high, &self.low) };
        let volume = if turned { coin1.units(&self.volume1) } else { coin0.units(&self.volume0) };
        Some(Candle {
            time: unix_seconds(&self.open_time)?,
            open: price(&self.open)?,
            high: price(high)?,
            low: price(low)?,
            close: price(&self.close)?,
            volume: if volume.is_finite() { volume } else { 0.0 },
        })
    }
}

/// Links to other parts of the chart.
fn moves(window: Window, shown: Option<(i64, i64)>, address: &str) -> Vec<Link> {
    let (first, last) = shown.unwrap_or((0, 0));
    let (from, to) = (window.from.unwrap_or(first), window.to.unwrap_or(last));
    let span = to.saturating_sub(from);
    let at = |title: &'static str, from: i64, to: i64| {
        let (from, to) = (from.clamp(*TIMES.start(), *TIMES.end()), to.clamp(*TIMES.start(), *TIMES.end()));
        (from < to).then(|| Link { title, address: format!("{address}&from={from}&to={to}"), is_shown: false })
    };
    let is_part = window.from.is_some() || window.to.is_some();
    let mut links = Vec::new();
    if span > 0 {
        links.extend(at("Earlier", from.saturating_sub(span), from));
        if is_part {
            links.extend(at("Later", to, to.saturating_add(span)));
        }
        if span >= 4 * window.seconds {
            links.extend(at("Closer", to.saturating_sub(span / 2), to));
        }
        links.extend(at("Wider", from.saturating_sub(span), to));
    }
    if is_part {
        links.push(Link { title: "Newest", address: address.to_owned(), is_shown: false });
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coin(decimals: u32) -> Coin {
        Coin::new("2:0".parse().unwrap(), Some("A"), None, Some(decimals))
    }

    fn record(price: &str) -> Record {
        let text = |text: &str| text.to_owned();
        Record {
            open_time: text("2023-11-16T00:00:00Z"),
            open: text(price),
            high: text("4"),
            low: text("1"),
            close: text("2"),
            volume0: text("300"),
            volume1: text("20"),
        }
    }

    #[test]
    fn candles_are_in_whole_units_and_can_be_turned() {
        let (coin0, coin1) = (coin(2), coin(1));
        let factor = coin1.unit() / coin0.unit();
        let plain = record("2").candle(false, factor, (&coin0, &coin1)).unwrap();
        assert_eq!((plain.time, plain.open, plain.high, plain.low, plain.volume), (1_700_092_800, 0.2, 0.4, 0.1, 3.0));
        let turned = record("2").candle(true, factor, (&coin0, &coin1)).unwrap();
        assert_eq!((turned.open, turned.high, turned.low, turned.volume), (5.0, 10.0, 2.5, 2.0));
        assert_eq!(record("0").candle(true, factor, (&coin0, &coin1)), None);
        assert_eq!(record("x").candle(false, factor, (&coin0, &coin1)), None);
    }

    #[test]
    fn windows_are_checked() {
        let of = |interval, from, to| Window::new(interval, from, to, false);
        let (from, to) = (Some("1700000000"), Some("1700003600"));
        assert_eq!((of(Some("1d"), None, None).seconds, of(Some("2d"), None, None).interval), (86_400, "1h"));
        assert_eq!((of(None, from, to).from, of(None, from, to).to), (Some(1_700_000_000), Some(1_700_003_600)));
        assert_eq!(of(None, to, from).from, None);
        assert_eq!(of(None, Some("-5"), Some("99999999999999999999")).to, None);
    }

    #[test]
    fn links_move_the_chart() {
        let titles = |window, shown| -> Vec<String> {
            moves(window, shown, "?a").into_iter().map(|link| format!("{} {}", link.title, link.address)).collect()
        };
        let all = Window::new(None, None, None, false);
        assert!(titles(all, None).is_empty());
        let shown = Some((1_700_000_000, 1_700_040_000));
        assert_eq!(
            titles(all, shown),
            [
                "Earlier ?a&from=1699960000&to=1700000000",
                "Closer ?a&from=1700020000&to=1700040000",
                "Wider ?a&from=1699960000&to=1700040000"
            ]
        );
        let part = Window::new(None, Some("1700000000"), Some("1700003600"), false);
        let titles = titles(part, None);
        assert!(titles.contains(&"Later ?a&from=1700003600&to=1700007200".to_owned()));
        assert!(titles.contains(&"Newest ?a".to_owned()) && !titles.iter().any(|title| title.starts_with("Closer")));
    }
}
