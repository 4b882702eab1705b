//! Requests of the last days as bars, one for each day, stacked by surface; beside each the refused and the failed requests.

use std::collections::HashMap;

use paraffin_access::{SurfaceUsage, UsageCounts, day_text};
use svg::Document;
use svg::node::element::{Description, Line, Rectangle, Text, Title};

use crate::html::grouped;

/// Surfaces with a colour of their own; the others are one series together.
const SERIES_MAX: usize = 6;
/// Width of a day, and of its two bars.
const DAY_WIDTH: u32 = 24;
const BAR_WIDTH: u32 = 13;
const SIDE_WIDTH: u32 = 5;
/// Height of the bars, and of the line of text above and below them.
const HEIGHT: u32 = 160;
const TEXT_HEIGHT: u32 = 20;

/// One entry of the legend.
pub(super) struct Series {
    /// Class of its colour in `site.css`.
    pub(super) class: String,
    pub(super) name: String,
    /// Requests in all days.
    pub(super) requests: String,
}

/// Requests of one day.
pub(super) struct DayTotal {
    pub(super) date: String,
    pub(super) numbers: [String; 3],
}

/// A chart, and the same numbers as text.
pub(super) struct Chart {
    /// The drawing; its texts are escaped.
    pub(super) svg: String,
    pub(super) series: Vec<Series>,
    /// Days with requests, the newest first.
    pub(super) days: Vec<DayTotal>,
    pub(super) total: [String; 3],
}

fn date(day: i64) -> String {
    day_text(day).unwrap_or_else(|| "—".to_owned())
}

/// Surfaces in the order of their requests, most first.
fn by_requests(usage: &[SurfaceUsage]) -> Vec<(&str, i64)> {
    let mut totals: HashMap<&str, i64> = HashMap::new();
    for one in usage {
        let total = totals.entry(&one.surface).or_default();
        *total = total.saturating_add(one.counts.requests);
    }
    let mut totals: Vec<_> = totals.into_iter().collect();
    totals.sort_by_key(|(name, requests)| (std::cmp::Reverse(*requests), *name));
    totals
}

/// A bar of a height in proportion to `number` of `most`, stacked on `below`.
fn bar(x: u32, width: u32, below: u32, (number, most): (i64, i64)) -> (Rectangle, u32) {
    // Invariant: `number` is at most `most`, so the height is at most `HEIGHT`.
    let height = i128::from(number.max(0)) * i128::from(HEIGHT) / i128::from(most.max(1));
    let height = u32::try_from(height).unwrap_or(HEIGHT).max(u32::from(number > 0)).min(HEIGHT.saturating_sub(below));
    let y = TEXT_HEIGHT + HEIGHT - below - height;
    let rectangle = Rectangle::new().set("x", x).set("y", y).set("width", width).set("height", height);
    (rectangle, below + height)
}

fn text(x: u32, y: u32, anchor: &str, content: String) -> Text {
    Text::new(content).set("x", x).set("y", y).set("text-anchor", anchor)
}

impl Chart {
    /// The chart of `days` days up to `today`; days without requests are empty.
    pub(super) fn new(usage: &[SurfaceUsage], days: u32, today: i64) -> Self {
        let ranked = by_requests(usage);
        let slots: HashMap<&str, usize> =
            ranked.iter().enumerate().map(|(slot, (name, _))| (*name, slot.min(SERIES_MAX))).collect();
        let mut totals: HashMap<i64, UsageCounts> = HashMap::new();
        let mut stacks: HashMap<i64, [i64; SERIES_MAX + 1]> = HashMap::new();
        let mut total = UsageCounts::default();
        for one in usage {
            *totals.entry(one.day).or_default() += one.counts;
            total += one.counts;
            let part = &mut stacks.entry(one.day).or_default()[slots[&*one.surface]];
            *part = part.saturating_add(one.counts.requests);
        }
        let most = totals.values().map(|counts| counts.requests).max().unwrap_or(0);
        let first = today.saturating_sub(i64::from(days)).saturating_add(1);
        let sentence = format!(
            "{} requests from {} to {}, {} of them refused by a limit and {} failed; at most {} on one day.",
            grouped(total.requests),
            date(first),
            date(today),
            grouped(total.rate_limited),
            grouped(total.failed),
            grouped(most),
        );
        let (width, bottom) = (days * DAY_WIDTH, TEXT_HEIGHT + HEIGHT);
        let line = |y: u32| Line::new().set("x1", 0).set("x2", width).set("y1", y).set("y2", y);
        let mut drawing = Document::new()
            .set("viewBox", (0, 0, width, bottom + TEXT_HEIGHT))
            .set("class", "usage-chart")
            .set("role", "img")
            .set("aria-labelledby", "usage-title usage-description")
            .add(Title::new("Requests of each day by surface").set("id", "usage-title"))
            .add(Description::new().set("id", "usage-description").add(svg::node::Text::new(sentence)))
            .add(line(TEXT_HEIGHT))
            .add(line(bottom))
            .add(text(0, TEXT_HEIGHT - 6, "start", grouped(most)))
            .add(text(0, bottom + 15, "start", date(first)))
            .add(text(width, bottom + 15, "end", date(today)));
        let names: Vec<&str> = ranked.iter().take(SERIES_MAX).map(|(name, _)| *name).chain(["other"]).collect();
        for (offset, day) in (0..days).zip(first..=today) {
            let Some(stack) = stacks.get(&day) else { continue };
            let x = offset * DAY_WIDTH + 2;
            let mut below = 0;
            for (slot, number) in stack.iter().enumerate().filter(|(_, number)| **number > 0) {
                let label = format!("{}, {}: {}", date(day), names.get(slot).unwrap_or(&"other"), grouped(*number));
                let (bar, top) = bar(x, BAR_WIDTH, below, (*number, most));
                drawing = drawing.add(bar.set("class", format!("series-{slot}")).add(Title::new(label)));
                below = top;
            }
            let counts = totals.get(&day).copied().unwrap_or_default();
            let mut below = 0;
            for (class, name, number) in
                [("series-limited", "429", counts.rate_limited), ("series-failed", "errors", counts.failed)]
            {
                if number > 0 {
                    let label = format!("{}, {name}: {}", date(day), grouped(number));
                    let (bar, top) = bar(x + BAR_WIDTH + 1, SIDE_WIDTH, below, (number, most));
                    drawing = drawing.add(bar.set("class", class).add(Title::new(label)));
                    below = top;
                }
            }
        }
        let others = ranked.iter().skip(SERIES_MAX).map(|(_, requests)| *requests).fold(0_i64, i64::saturating_add);
        let own = ranked.iter().take(SERIES_MAX).enumerate();
        let mut series: Vec<Series> = own.map(|(slot, (name, requests))| legend(slot, name, *requests)).collect();
        if ranked.len() > SERIES_MAX {
            series.push(legend(SERIES_MAX, "other", others));
        }
        let mut totals: Vec<_> = totals.into_iter().collect();
        totals.sort_by_key(|(day, _)| std::cmp::Reverse(*day));
        let days =
            totals.into_iter().map(|(day, counts)| DayTotal { date: date(day), numbers: numbers(counts) }).collect();
        Self { svg: drawing.to_string(), series, days, total: numbers(total) }
    }
}

/// Requests, those that a limit refused, and those that failed.
pub(super) fn numbers(counts: UsageCounts) -> [String; 3] {
    [counts.requests, counts.rate_limited, counts.failed].map(grouped)
}

fn legend(slot: usize, name: &str, requests: i64) -> Series {
    Series { class: format!("series-{slot}"), name: name.to_owned(), requests: grouped(requests) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(day: i64, surface: &str, requests: i64, rate_limited: i64, failed: i64) -> SurfaceUsage {
        let counts = UsageCounts { requests, rate_limited, failed };
        SurfaceUsage { day, surface: surface.to_owned(), counts }
    }

    /// Height of the bar with this title.
    fn height(chart: &Chart, label: &str) -> u32 {
        let before = chart.svg.split(label).next().unwrap();
        let (_, tag) = before.rsplit_once("<rect").unwrap_or_else(|| panic!("no {label} in {}", chart.svg));
        tag.split("height=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
    }

    #[test]
    fn bars_are_as_high_as_their_share_of_the_largest_day() {
        let usage = [on(19, "main", 50, 0, 0), on(20, "main", 60, 25, 0), on(20, "rest", 40, 0, 50)];
        let chart = Chart::new(&usage, 30, 20);
        for (label, expected) in [
            ("1970-01-20, main: 50", 80),
            ("1970-01-21, main: 60", 96),
            ("1970-01-21, rest: 40", 64),
            ("1970-01-21, 429: 25", 40),
            ("1970-01-21, errors: 50", 80),
        ] {
            assert_eq!(height(&chart, label), expected, "{label}");
        }
        assert!(
            chart
                .svg
                .contains("150 requests from 1969-12-23 to 1970-01-21, 25 of them refused by a limit and 50 failed")
        );
        let days: Vec<_> = chart.days.iter().map(|day| (day.date.as_str(), day.numbers[0].as_str())).collect();
        assert_eq!(days, [("1970-01-21", "100"), ("1970-01-20", "50")]);
    }

    #[test]
    fn surfaces_beyond_the_colours_are_one_series() {
        let usage: Vec<_> = (0..9).map(|number| on(5, &format!("surface-{number}"), 10 + number, 0, 0)).collect();
        let chart = Chart::new(&usage, 30, 5);
        assert_eq!(chart.series.len(), SERIES_MAX + 1);
        assert_eq!((chart.series[0].name.as_str(), chart.series[6].name.as_str()), ("surface-8", "other"));
        assert_eq!(chart.series[6].requests, "33");
        assert!(chart.svg.contains("1970-01-06, other: 33"), "{}", chart.svg);
    }

    #[test]
    fn impossible_numbers_and_hostile_names_make_a_chart_nevertheless() {
        let hostile = "</title><script>alert(1)</script>";
        for (day, requests) in [(i64::MAX, i64::MAX), (i64::MIN, i64::MAX), (0, -5), (i64::MAX - 1, i64::MAX)] {
            let usage = [on(day, hostile, requests, i64::MAX, i64::MIN), on(day, "main", requests, 1, 1)];
            for today in [day, i64::MAX, i64::MIN, 0] {
                let chart = Chart::new(&usage, 30, today);
                assert!(!chart.svg.contains("<script") && !chart.svg.contains("style="), "{}", chart.svg);
            }
        }
        let empty = Chart::new(&[], 30, 0);
        assert!(empty.series.is_empty() && empty.days.is_empty() && !empty.svg.contains("<rect"));
    }
}
