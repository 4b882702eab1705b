//! The histogram of fee rates as a drawing.

use svg::Document;
use svg::node::element::{Group, Line, Rectangle, Text, Title};

use crate::explorer::text;

/// Size of the drawing, and the margins for labels below and above the bars.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 220.0;
const BELOW: f64 = 24.0;
const ABOVE: f64 = 18.0;
/// Width of a bar relative to its column.
const BAR_PART: f64 = 0.8;
/// Most bars that are drawn.
const BARS_MAX: usize = 64;

/// A bar.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bar {
    /// Feerates, such as `2 to 3`.
    pub(super) range: String,
    /// Lower bound of its fee rates.
    lower: String,
    vbytes: f64,
    /// The virtual bytes, as text.
    pub(super) amount: String,
}

impl Bar {
    /// Of feerates at which buckets begin, with the virtual bytes in them.
    pub(super) fn of_buckets(buckets: &[(f64, f64)]) -> Vec<Self> {
        let ends = buckets.iter().skip(1).map(|(lower, _)| Some(*lower)).chain([None]);
        let bars = buckets.iter().zip(ends).take(BARS_MAX);
        bars.map(|((lower, vbytes), end)| {
            let lower = text::number(*lower);
            let range = match end {
                Some(end) => format!("{lower} to {}", text::number(end)),
                None => format!("{lower} and more"),
            };
            let vbytes = if vbytes.is_finite() { vbytes.max(0.0) } else { 0.0 };
            Self { range, lower, vbytes, amount: text::number(vbytes) }
        })
        .collect()
    }
}

/// A coordinate to a tenth, so that drawings are small.
fn tenth(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// The drawing, without a style of its own: classes of the style sheet alone.
pub(super) fn svg(bars: &[Bar]) -> String {
    let most = bars.iter().map(|bar| bar.vbytes).fold(0.0, f64::max).max(1.0);
    #[allow(clippy::cast_precision_loss)] // 64 at most
    let column = WIDTH / bars.len().max(1) as f64;
    let plot = HEIGHT - BELOW - ABOVE;
    let mut drawing = Document::new()
        .set("viewBox", (0, 0, 720, 220))
        .set("class", "histogram")
        .set("role", "img")
        .set("aria-label", "Virtual bytes by feerate");
    let mut left = 0.0;
    for bar in bars {
        let height = if bar.vbytes > 0.0 { (bar.vbytes / most * plot).max(2.0) } else { 0.0 };
        let middle = tenth(left + column / 2.0);
        let rectangle = Rectangle::new()
            .set("class", "bar")
            .set("x", tenth(left + column * (1.0 - BAR_PART) / 2.0))
            .set("y", tenth(HEIGHT - BELOW - height))
            .set("width", tenth(column * BAR_PART))
            .set("height", tenth(height))
            .set("rx", 2);
        let title = Title::new(format!("{} sat/vB: {} vB", bar.range, bar.amount));
        let mut group = Group::new().add(title).add(rectangle);
        let label = |content: &str, y: f64| {
            Text::new(content).set("class", "label").set("x", middle).set("y", tenth(y)).set("text-anchor", "middle")
        };
        group = group.add(label(&bar.lower, HEIGHT - 7.0));
        if bar.vbytes > 0.0 {
            group = group.add(label(&bar.amount, HEIGHT - BELOW - height - 5.0));
        }
        drawing = drawing.add(group);
        left += column;
    }
    let base = tenth(HEIGHT - BELOW);
    drawing =
        drawing.add(Line::new().set("class", "axis").set("x1", 0).set("x2", WIDTH).set("y1", base).set("y2", base));
    drawing.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_high_as_their_share() {
        let bars = Bar::of_buckets(&[(0.0, 100.0), (1.0, 50.0), (2.5, 0.0)]);
        assert_eq!(bars.iter().map(|bar| &*bar.range).collect::<Vec<_>>(), ["0 to 1", "1 to 2.5", "2.5 and more"]);
        let drawing = svg(&bars);
        assert!(drawing.contains("height=\"178\"") && drawing.contains("height=\"89\""), "{drawing}");
        assert!(!drawing.contains("style"), "{drawing}");
    }

    #[test]
    fn drawings_of_hostile_numbers_are_bounded() {
        let bars = Bar::of_buckets(&[(f64::NAN, f64::INFINITY), (-1e300, -5.0), (1e300, 1e300)]);
        let drawing = svg(&bars);
        assert!(!drawing.contains("NaN") && !drawing.contains("inf"), "{drawing}");
        assert_eq!(Bar::of_buckets(&vec![(1.0, 1.0); 1_000]).len(), BARS_MAX);
        assert!(svg(&[]).contains("<svg"));
    }
}
