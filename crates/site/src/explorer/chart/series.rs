//! The charts themselves.

use svg::node::element::path::Data;
use svg::node::element::{Group, Path, Rectangle};

use super::axis::{Scale, moment, time_ticks, value};
use super::{Caption, DATA_MAX, Drawing, Layout, TOP, count, drawing, label, mark, plot, rounded, segment, to_f64};

/// The trades of an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Candle {
    /// Its beginning, Unix seconds.
    pub(crate) time: i64,
    pub(crate) open: f64,
    pub(crate) high: f64,
    pub(crate) low: f64,
    pub(crate) close: f64,
    /// Traded volume.
    pub(crate) volume: f64,
}

/// A value at a time, Unix seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub(crate) time: i64,
    pub(crate) value: f64,
}

/// The amount bid or asked at a price.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Level {
    pub(crate) price: f64,
    pub(crate) amount: f64,
}

/// A named value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bar {
    pub(crate) name: String,
    pub(crate) value: f64,
}

/// Share of a plot's height for volumes.
const VOLUME_SHARE: f64 = 0.2;

/// Candles with their volumes below; `seconds` is how long each of them lasts.
pub(crate) fn candles(caption: &Caption, candles: &[Candle], seconds: i64) -> Drawing {
    let drawn: Vec<Candle> = candles
        .iter()
        .filter(|candle| [candle.open, candle.high, candle.low, candle.close].iter().all(|price| price.is_finite()))
        .take(DATA_MAX)
        .copied()
        .collect();
    let seconds = seconds.max(1);
    let from = drawn.iter().map(|candle| candle.time).min().unwrap_or(0);
    let to = drawn.iter().map(|candle| candle.time).max().unwrap_or(0).saturating_add(seconds);
    drawing(caption, |layout| {
        let (width, height) = (layout.plot_width(), layout.plot_height());
        let prices_end = height * (1.0 - VOLUME_SHARE) - 8.0;
        let prices = drawn.iter().flat_map(|candle| [candle.low, candle.high, candle.open, candle.close]);
        let prices = Scale::over(prices, prices_end, 0.0).with_air();
        let volumes =
            Scale::over(drawn.iter().map(|candle| candle.volume).chain([0.0]), height, height * (1.0 - VOLUME_SHARE));
        let times = Scale::over([to_f64(from), to_f64(to)].into_iter(), 0.0, width);
        let candle_width = (times.at(to_f64(from.saturating_add(seconds))) - times.at(to_f64(from))).clamp(1.2, 26.0);
        let body_width = (candle_width * 0.7).max(1.0);
        let mut plot = plot(layout);
        for candle in &drawn {
            let middle = times.at(to_f64(candle.time.saturating_add(seconds / 2)));
            let class = if candle.close >= candle.open { "mark rise" } else { "mark fall" };
            let (top, bottom) = (prices.at(candle.open.max(candle.close)), prices.at(candle.open.min(candle.close)));
            let volume = volumes.at(candle.volume);
            let body = Rectangle::new()
                .set("x", rounded(middle - body_width / 2.0))
                .set("y", rounded(top))
                .set("width", rounded(body_width))
                .set("height", rounded((bottom - top).max(1.0)));
            let traded = Rectangle::new()
                .set("class", "volume")
                .set("x", rounded(middle - body_width / 2.0))
                .set("y", rounded(volume))
                .set("width", rounded(body_width))
                .set("height", rounded((height - volume).max(0.0)));
            let sentence = format!(
                "{}: open {}, high {}, low {}, close {}, volume {}",
                moment(candle.time),
                value(candle.open),
                value(candle.high),
                value(candle.low),
                value(candle.close),
                value(candle.volume)
            );
            let wick = segment("wick", (middle, prices.at(candle.high)), (middle, prices.at(candle.low)));
            plot = plot.add(mark(middle, sentence).set("class", class).add(wick).add(body).add(traded));
        }
        let group = values_grid(layout, prices, prices_end);
        times_grid(group, layout, times, (from, to), !drawn.is_empty()).add(plot)
    })
}

/// A line through values in time, from the oldest on.
pub(crate) fn line(caption: &Caption, points: &[Point]) -> Drawing {
    let mut drawn: Vec<Point> = points.iter().filter(|point| point.value.is_finite()).copied().collect();
    drawn.sort_by_key(|point| point.time);
    let step = drawn.len().div_ceil(DATA_MAX).max(1);
    let last = drawn.last().copied();
    let mut drawn: Vec<Point> = drawn.into_iter().step_by(step).collect();
    if let Some(last) = last.filter(|last| drawn.last() != Some(last)) {
        drawn.push(last);
    }
    let from = drawn.first().map_or(0, |point| point.time);
    let to = drawn.last().map_or(0, |point| point.time);
    drawing(caption, |layout| {
        let (width, height) = (layout.plot_width(), layout.plot_height());
        let values = Scale::over(drawn.iter().map(|point| point.value), height, 0.0).with_air();
        let times = if from == to {
            Scale::over([to_f64(from) - 1.0, to_f64(from) + 1.0].into_iter(), 0.0, width)
        } else {
            Scale::over([to_f64(from), to_f64(to)].into_iter(), 0.0, width)
        };
        let positions: Vec<(f64, f64)> =
            drawn.iter().map(|point| (times.at(to_f64(point.time)), values.at(point.value))).collect();
        let mut plot = plot(layout);
        if let (Some(path), Some(first), Some(last)) = (path_through(&positions), positions.first(), positions.last()) {
            let area = path.clone().line_to((rounded(last.0), rounded(height)));
            let area = area.line_to((rounded(first.0), rounded(height))).close();
            plot = plot.add(Path::new().set("class", "area").set("d", area));
            plot = plot.add(Path::new().set("class", "line").set("d", path));
        }
        for (point, position) in drawn.iter().zip(&positions) {
            let sentence = format!("{}: {}", moment(point.time), value(point.value));
            plot = plot.add(mark(position.0, sentence).add(spot(*position, drawn.len() == 1)));
        }
        let group = values_grid(layout, values, height);
        times_grid(group, layout, times, (from, to), !drawn.is_empty()).add(plot)
    })
}

/// Maximum ratio of a drawn level to the median price, in both directions: one absurd order must not hide the others.
const FAR: f64 = 5.0;

/// Cumulative bids at a price or more, and asks at a price or less. Levels may be in any order; outliers are left out.
pub(crate) fn depth(caption: &Caption, bids: &[Level], asks: &[Level]) -> Drawing {
    let near = near(bids.iter().chain(asks).map(|level| level.price));
    let bids = sums(bids, true, &near);
    let asks = sums(asks, false, &near);
    drawing(caption, |layout| {
        let (width, height) = (layout.plot_width(), layout.plot_height());
        let all = || bids.iter().chain(&asks);
        let prices = Scale::over(all().map(|level| level.price), 0.0, width).with_air();
        let amounts = Scale::over(all().map(|level| level.amount).chain([0.0]), height, 0.0).with_air();
        let mut plot = plot(layout);
        for (levels, class, verb, end) in [(&bids, "bid", "bid for", 0.0), (&asks, "ask", "asked for", width)] {
            let Some(first) = levels.first() else { continue };
            let mut path = Data::new().move_to((rounded(prices.at(first.price)), rounded(height)));
            for (index, level) in levels.iter().enumerate() {
                let until = levels.get(index + 1).map_or(end, |next| prices.at(next.price));
                path = path.line_to((rounded(prices.at(level.price)), rounded(amounts.at(level.amount))));
                path = path.line_to((rounded(until), rounded(amounts.at(level.amount))));
            }
            path = path.line_to((rounded(end), rounded(height)));
            plot = plot.add(Path::new().set("class", class).set("d", path));
            for level in levels {
                let position = (prices.at(level.price), amounts.at(level.amount));
                let sentence = format!("{} {verb} up to {}", value(level.amount), value(level.price));
                let sentence = if end == 0.0 { sentence.replace("up to", "from") } else { sentence };
                plot = plot.add(mark(position.0, sentence).add(spot(position, levels.len() == 1)));
            }
        }
        let mut group = values_grid(layout, amounts, height);
        for (price, text) in if bids.is_empty() && asks.is_empty() { Vec::new() } else { prices.ticks(layout.ticks_x) }
        {
            let x = prices.at(price);
            group = group.add(segment("grid", (x, TOP), (x, TOP + height)));
            if (24.0..=width - 12.0).contains(&x) {
                group = group.add(label("tick x", x, layout.height - 7.0, text));
            }
        }
        group.add(plot)
    })
}

/// Bars beside each other, each with its name.
pub(crate) fn bars(caption: &Caption, bars: &[Bar]) -> Drawing {
    let drawn: Vec<&Bar> = bars.iter().filter(|bar| bar.value.is_finite()).take(DATA_MAX).collect();
    drawing(caption, |layout| {
        let (width, height) = (layout.plot_width(), layout.plot_height());
        let values = Scale::over(drawn.iter().map(|bar| bar.value).chain([0.0]), height, 0.0);
        let each = width / count(drawn.len().max(1));
        let named = drawn.len().div_ceil(layout.ticks_x).max(1);
        let mut plot = plot(layout);
        let mut group = values_grid(layout, values, height);
        for (index, bar) in drawn.iter().enumerate() {
            let middle = each * (count(index) + 0.5);
            let (one, other) = (values.at(bar.value), values.at(0.0));
            let body = Rectangle::new()
                .set("x", rounded(middle - each * 0.35))
                .set("y", rounded(one.min(other)))
                .set("width", rounded((each * 0.7).max(0.5)))
                .set("height", rounded((one - other).abs().max(0.5)));
            let class = if bar.value < 0.0 { "mark fall" } else { "mark bar" };
            let sentence = format!("{}: {}", bar.name, value(bar.value));
            plot = plot.add(mark(middle, sentence).set("class", class).add(body));
            if index % named == 0 {
                group = group.add(label("tick x", middle, layout.height - 7.0, bar.name.clone()));
            }
        }
        group.add(plot)
    })
}

/// A path through positions.
fn path_through(positions: &[(f64, f64)]) -> Option<Data> {
    let first = positions.first()?;
    let mut path = Data::new().move_to((rounded(first.0), rounded(first.1)));
    for position in positions.iter().skip(1) {
        path = path.line_to((rounded(position.0), rounded(position.1)));
    }
    Some(path)
}

/// The pointer target of a datum in a line chart; visible where there is no line.
fn spot(at: (f64, f64), is_seen: bool) -> Rectangle {
    let size = 5.0;
    Rectangle::new()
        .set("class", if is_seen { "spot seen" } else { "spot" })
        .set("x", rounded(at.0 - size / 2.0))
        .set("y", rounded(at.1 - size / 2.0))
        .set("width", size)
        .set("height", size)
}

/// The range of prices that are drawn.
fn near(prices: impl Iterator<Item = f64>) -> std::ops::RangeInclusive<f64> {
    let mut prices: Vec<f64> = prices.filter(|price| price.is_finite()).collect();
    prices.sort_by(f64::total_cmp);
    match prices.get(prices.len() / 2) {
        Some(&middle) if middle > 0.0 => middle / FAR..=middle * FAR,
        _ => f64::MIN..=f64::MAX,
    }
}

/// Amounts added up from the best price on.
fn sums(levels: &[Level], is_bid: bool, near: &std::ops::RangeInclusive<f64>) -> Vec<Level> {
    let is_drawn = |level: &&Level| near.contains(&level.price) && level.amount.is_finite();
    let mut sorted: Vec<Level> = levels.iter().filter(is_drawn).take(DATA_MAX).copied().collect();
    sorted.sort_by(|one, other| {
        let order = one.price.total_cmp(&other.price);
        if is_bid { order.reverse() } else { order }
    });
    let mut sum = 0.0;
    for level in &mut sorted {
        sum += level.amount.clamp(0.0, super::VALUE_MAX);
        level.amount = sum;
    }
    sorted
}

/// Lines across the plot, with their values at the right.
fn values_grid(layout: Layout, values: Scale, until: f64) -> Group {
    let mut group = Group::new().set("class", "axes");
    for (tick, text) in values.ticks(layout.ticks_y) {
        let y = values.at(tick);
        if !(-0.5..=until + 0.5).contains(&y) {
            continue;
        }
        group = group.add(segment("grid", (0.0, TOP + y), (layout.plot_width(), TOP + y)));
        group = group.add(label("tick y", layout.plot_width() + 8.0, TOP + y + 4.0, text));
    }
    group
}

/// Lines up the plot, with their times below.
fn times_grid(mut group: Group, layout: Layout, times: Scale, span: (i64, i64), has_data: bool) -> Group {
    if !has_data {
        let middle = (layout.plot_width() / 2.0, TOP + layout.plot_height() / 2.0);
        return group.add(label("tick x", middle.0, middle.1, "no data".to_owned()));
    }
    for (at, text) in time_ticks(span.0, span.1, layout.ticks_x) {
        let x = times.at(to_f64(at));
        group = group.add(segment("grid up", (x, TOP), (x, TOP + layout.plot_height())));
        let edge = 24.0;
        if (edge..=layout.plot_width() - edge / 2.0).contains(&x) {
            group = group.add(label("tick x", x, layout.height - 7.0, text));
        }
    }
    group
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caption() -> Caption {
        Caption { title: "</svg><script>".to_owned(), description: "\"of & all\"".to_owned() }
    }

    fn candle(time: i64, price: f64) -> Candle {
        Candle { time, open: price, high: price * 1.1, low: price * 0.9, close: price * 1.05, volume: price }
    }

    /// Checks the invariants of every drawing.
    fn check(drawing: &Drawing) -> String {
        let text = drawing.to_string();
        for word in ["NaN", "inf", "style=", "<script"] {
            assert!(!text.contains(word), "{word} in {text}");
        }
        assert_eq!(text.matches("<title>").count(), text.matches("</title>").count());
        assert!(text.contains("&lt;/svg&gt;&lt;script&gt;") && text.contains("<desc>"));
        for number in [" x=\"", " y=\"", " width=\"", " height=\"", " x1=\"", " y2=\""] {
            for rest in text.split(number).skip(1) {
                let value: f64 = rest.split('"').next().unwrap().parse().unwrap();
                assert!(value.abs() < 10_000.0, "{value}");
                assert!(value >= 0.0 || !matches!(number, " width=\"" | " height=\""), "{value}");
            }
        }
        text
    }

    #[test]
    fn charts_of_nothing_are_drawn() {
        assert!(check(&candles(&caption(), &[], 3_600)).contains("no data"));
        assert!(check(&line(&caption(), &[])).contains("no data"));
        check(&depth(&caption(), &[], &[]));
        check(&bars(&caption(), &[]));
    }

    #[test]
    fn one_datum_is_seen() {
        let text = check(&candles(&caption(), &[candle(1_700_000_000, 5.0)], 3_600));
        assert_eq!(text.matches("class=\"mark rise\"").count(), 2);
        let text = check(&line(&caption(), &[Point { time: 1_700_000_000, value: 5.0 }]));
        assert_eq!(text.matches("spot seen").count(), 2);
        check(&depth(&caption(), &[Level { price: 5.0, amount: 1.0 }], &[]));
        check(&bars(&caption(), &[Bar { name: "<b>".to_owned(), value: 1.0 }]));
    }

    #[test]
    fn equal_huge_negative_and_broken_values_are_drawn() {
        let values = [0.0, -5.0, f64::MAX, f64::MIN, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE, 1e300];
        for value in values {
            let same: Vec<Candle> = (0..5).map(|hour| candle(hour * 3_600, value)).collect();
            check(&candles(&caption(), &same, 3_600));
            let point = |time| Point { time, value };
            check(&line(&caption(), &[point(1), point(2), point(3)]));
            let level = Level { price: value, amount: value };
            check(&depth(&caption(), &[level, level], &[level]));
            check(&bars(&caption(), &[Bar { name: String::new(), value }, Bar { name: String::new(), value: 1.0 }]));
        }
        let mixed: Vec<Candle> = values.into_iter().zip(0..).map(|(value, hour)| candle(hour * 3_600, value)).collect();
        check(&candles(&caption(), &mixed, 3_600));
        for time in [i64::MIN, i64::MAX] {
            check(&candles(&caption(), &[candle(time, 1.0), candle(0, 2.0)], i64::MAX));
            check(&line(&caption(), &[Point { time, value: 1.0 }, Point { time: 0, value: 2.0 }]));
        }
    }

    #[test]
    fn drawings_are_bounded() {
        let many: Vec<Point> = (0..50_000).map(|time| Point { time, value: to_f64(time) }).collect();
        let text = check(&line(&caption(), &many));
        assert!(text.matches("class=\"mark\"").count() <= 2 * (DATA_MAX + 1) && text.contains("49,999"));
        let many: Vec<Candle> = (0..50_000).map(|time| candle(time, 1.0)).collect();
        assert_eq!(check(&candles(&caption(), &many, 1)).matches("class=\"mark rise\"").count(), 2 * DATA_MAX);
    }

    #[test]
    fn depth_adds_up_from_the_best_price() {
        let level = |price: f64, amount: f64| Level { price, amount };
        let all = f64::MIN..=f64::MAX;
        assert_eq!(sums(&[level(1.0, 5.0), level(3.0, 2.0)], true, &all), [level(3.0, 2.0), level(1.0, 7.0)]);
        assert_eq!(sums(&[level(3.0, 2.0), level(1.0, 5.0)], false, &all), [level(1.0, 5.0), level(3.0, 7.0)]);
        let text = check(&depth(&caption(), &[level(1.0, 5.0), level(3.0, 2.0)], &[level(4.0, 1.0)]));
        assert!(text.contains("7 bid for from 1") && text.contains("1 asked for up to 4"));
        let text =
            check(&depth(&caption(), &[level(1.0, 5.0), level(3.0, 2.0)], &[level(9e9, 1.0), level(f64::NAN, 1.0)]));
        assert!(text.contains("7 bid for from 1") && !text.contains("asked for"));
    }

    #[test]
    fn falling_and_rising_candles_differ() {
        let mut fall = candle(0, 5.0);
        fall.close = 4.6;
        let text = check(&candles(&caption(), &[fall, candle(3_600, 5.0)], 3_600));
        assert!(text.contains("mark fall") && text.contains("mark rise"));
        assert!(text.contains("1970-01-01 00:00 UTC: open 5, high 5.5, low 4.5, close 4.6, volume 5"));
    }
}
