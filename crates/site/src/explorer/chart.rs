//! Charts as SVG, drawn on the server: candles, lines, depth and bars. Styled by classes alone.
//!
//! Invariant: for any values the drawing has finite numbers and a bounded size; attributes only contain numbers and words of
//! this module, texts are text nodes.

mod axis;
mod series;

use std::fmt;

use askama::filters::HtmlSafe;
use svg::node::Text as TextNode;
use svg::node::element::{Description, Element, Group, Line, SVG, Title};

pub(crate) use series::{Bar, Candle, Level, Point, bars, candles, depth, line};

/// Most data that one chart draws.
pub(crate) const DATA_MAX: usize = 1_000;
/// Values beyond this are drawn at it.
const VALUE_MAX: f64 = 1e100;

/// Title and description of a chart, for screen readers.
pub(crate) struct Caption {
    pub(crate) title: String,
    pub(crate) description: String,
}

/// A chart in two sizes, for wide and for narrow windows; a page shows one of them.
#[derive(Debug)]
pub(crate) struct Drawing(String);

impl fmt::Display for Drawing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl HtmlSafe for Drawing {}

/// Dimensions of a drawing, in units of its view box.
#[derive(Clone, Copy)]
struct Layout {
    class: &'static str,
    width: f64,
    height: f64,
    /// Right of the plot: the labels of values.
    right: f64,
    /// Below the plot: the labels of times.
    bottom: f64,
    ticks_x: usize,
    ticks_y: usize,
}

const WIDE: Layout = Layout {
    class: "chart wide-chart",
    width: 880.0,
    height: 340.0,
    right: 76.0,
    bottom: 24.0,
    ticks_x: 7,
    ticks_y: 6,
};
const NARROW: Layout = Layout {
    class: "chart narrow-chart",
    width: 380.0,
    height: 260.0,
    right: 68.0,
    bottom: 24.0,
    ticks_x: 3,
    ticks_y: 5,
};
/// Above the plot.
const TOP: f64 = 10.0;

impl Layout {
    fn plot_width(self) -> f64 {
        self.width - self.right
    }

    fn plot_height(self) -> f64 {
        self.height - self.bottom - TOP
    }
}

/// Draws both sizes.
fn drawing(caption: &Caption, draw: impl Fn(Layout) -> Group) -> Drawing {
    let text = |layout: Layout| {
        let svg = SVG::new()
            .set("class", layout.class)
            .set("viewBox", (0.0, 0.0, layout.width, layout.height))
            .set("role", "img")
            .add(Title::new(caption.title.clone()))
            .add(Description::new().add(TextNode::new(caption.description.clone())))
            .add(draw(layout));
        svg.to_string()
    };
    Drawing(format!("{}\n{}", text(WIDE), text(NARROW)))
}

/// The plot: a nested SVG, so that a script can zoom it.
fn plot(layout: Layout) -> SVG {
    SVG::new()
        .set("class", "plot")
        .set("x", 0)
        .set("y", TOP)
        .set("width", layout.plot_width())
        .set("height", layout.plot_height())
        .set("viewBox", (0.0, 0.0, layout.plot_width(), layout.plot_height()))
        .set("preserveAspectRatio", "none")
}

/// One datum of a plot, with its tooltip.
fn mark(at: f64, sentence: String) -> Group {
    Group::new().set("class", "mark").set("data-x", rounded(at)).add(Title::new(sentence))
}

fn label(class: &'static str, x: f64, y: f64, text: String) -> Element {
    let mut element = Element::new("text");
    for (name, value) in [("x", rounded(x)), ("y", rounded(y))] {
        svg::Node::assign(&mut element, name, value);
    }
    svg::Node::assign(&mut element, "class", class);
    svg::Node::append(&mut element, TextNode::new(text));
    element
}

fn segment(class: &'static str, from: (f64, f64), to: (f64, f64)) -> Line {
    Line::new()
        .set("class", class)
        .set("x1", rounded(from.0))
        .set("y1", rounded(from.1))
        .set("x2", rounded(to.0))
        .set("y2", rounded(to.1))
}

/// Two decimals: enough for a line, and short.
fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// Converts a value for drawing; the loss of precision does not matter.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn to_f64(value: i64) -> f64 {
    value as f64
}

/// Converts a count for drawing.
#[allow(clippy::cast_precision_loss)]
fn count(value: usize) -> f64 {
    value as f64
}
