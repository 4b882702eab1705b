//! Scales and the labels on them.

use time::OffsetDateTime;

use super::super::text;
use super::{VALUE_MAX, count};

/// From values to units of the drawing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    /// Positions of `low` and `high`.
    from: f64,
    to: f64,
}

impl Scale {
    /// A scale over some values, with a non-zero extent.
    pub(super) fn over(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| value.is_finite()) {
            let value = value.clamp(-VALUE_MAX, VALUE_MAX);
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        let size = low.abs().max(high.abs());
        if high - low <= size * 1e-9 {
            let half = if size == 0.0 { 1.0 } else { size * 0.05 };
            (low, high) = (low - half, high + half);
        }
        Self { low, high, from, to }
    }

    /// Adds a margin on both sides, but not below zero for non-negative values.
    pub(super) fn with_air(mut self) -> Self {
        let air = (self.high - self.low) * 0.06;
        self.low = if self.low >= 0.0 { (self.low - air).max(0.0) } else { self.low - air };
        self.high += air;
        self
    }

    pub(super) fn at(self, value: f64) -> f64 {
        let value = if value.is_finite() { value.clamp(-VALUE_MAX, VALUE_MAX) } else { self.low };
        let share = ((value - self.low) / (self.high - self.low)).clamp(-0.1, 1.1);
        self.from + share * (self.to - self.from)
    }

    /// Round values on the scale, at most so many.
    pub(super) fn ticks(self, most: usize) -> Vec<(f64, String)> {
        let step = round_step((self.high - self.low) / count(most.max(1)));
        if !step.is_normal() || step <= 0.0 {
            return Vec::new();
        }
        let first = (self.low / step - 1e-6).ceil();
        (0..=most)
            .map(|index| (first + count(index)) * step)
            .take_while(|&value| value <= self.high + step * 1e-6)
            .map(|value| (value, value_label(value, step)))
            .collect()
    }
}

/// The next of 1, 2 and 5 times a power of ten.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let factor = least / power;
    power
        * match factor {
            factor if factor <= 1.0 => 1.0,
            factor if factor <= 2.0 => 2.0,
            factor if factor <= 5.0 => 5.0,
            _ => 10.0,
        }
}

/// A value with as many decimal places as the step needs.
fn value_label(value: f64, step: f64) -> String {
    let size = value.abs();
    if size < step / 2.0 {
        return "0".to_owned();
    }
    for (unit, name) in [(1e12, "T"), (1e9, "B"), (1e6, "M")] {
        if size >= unit * 1_000.0 {
            break;
        }
        if size >= unit {
            return format!("{:.places$}{name}", value / unit, places = places(step / unit).min(4));
        }
    }
    if !(1e-6..1e15).contains(&size) {
        return format!("{value:.2e}");
    }
    let text = format!("{size:.places$}", places = places(step));
    let (whole, fraction) = text.split_once('.').map_or((text.as_str(), None), |(whole, rest)| (whole, Some(rest)));
    let whole = whole.parse::<i64>().map_or_else(|_| whole.to_owned(), crate::html::grouped);
    let sign = if value < 0.0 { "-" } else { "" };
    fraction.map_or_else(|| format!("{sign}{whole}"), |fraction| format!("{sign}{whole}.{fraction}"))
}

fn places(step: f64) -> usize {
    const MOST: u8 = 12;
    (0..MOST).find(|&places| step * 10_f64.powi(places.into()) >= 1.0 - 1e-9).unwrap_or(MOST).into()
}

const TIME_STEPS: [i64; 16] = [
    60,
    300,
    600,
    1_800,
    3_600,
    3 * 3_600,
    6 * 3_600,
    12 * 3_600,
    86_400,
    2 * 86_400,
    7 * 86_400,
    14 * 86_400,
    30 * 86_400,
    91 * 86_400,
    182 * 86_400,
    365 * 86_400,
];

/// Round times between two Unix seconds, at most `most`, with their labels.
pub(super) fn time_ticks(from: i64, to: i64, most: usize) -> Vec<(i64, String)> {
    let span = to.saturating_sub(from).max(0);
    let parts = i64::try_from(most.max(1)).unwrap_or(1);
    let step = TIME_STEPS.into_iter().find(|step| span / step <= parts).unwrap_or_else(|| (span / parts).max(1));
    let mut at = from.div_euclid(step).saturating_add(i64::from(from.rem_euclid(step) != 0)).saturating_mul(step);
    let mut ticks = Vec::new();
    while at <= to && ticks.len() <= most {
        ticks.push((at, time_label(at, step)));
        at = at.saturating_add(step);
    }
    ticks
}

fn time_label(at: i64, step: i64) -> String {
    let Ok(moment) = OffsetDateTime::from_unix_timestamp(at) else { return String::new() };
    let (month, day) = (&moment.month().to_string()[..3], moment.day());
    match step {
        0..86_400 if moment.hour() == 0 && moment.minute() == 0 => format!("{day} {month}"),
        0..86_400 => format!("{:02}:{:02}", moment.hour(), moment.minute()),
        86_400..7_776_000 => format!("{day} {month}"),
        _ => format!("{month} {}", moment.year()),
    }
}

/// A moment in a sentence.
pub(super) fn moment(at: i64) -> String {
    crate::html::moment(at.saturating_mul(1_000))
}

/// A value in a sentence.
pub(super) fn value(value: f64) -> String {
    text::number(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(values: &[f64], most: usize) -> Vec<String> {
        let scale = Scale::over(values.iter().copied(), 0.0, 100.0);
        scale.ticks(most).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn labels_are_round_and_as_long_as_they_must_be() {
        assert_eq!(labels(&[0.0, 10.0], 5), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(labels(&[-1.0, 1.0], 4), ["-1.0", "-0.5", "0", "0.5", "1.0"]);
        assert_eq!(labels(&[71_000.0, 72_900.0], 4), ["71,000", "71,500", "72,000", "72,500"]);
        assert_eq!(labels(&[0.002_05, 0.002_65], 3), ["0.0022", "0.0024", "0.0026"]);
        assert_eq!(labels(&[0.0, 4e6], 4), ["0", "1M", "2M", "3M", "4M"]);
        assert_eq!(labels(&[1e-9, 3e-9], 2), ["1.00e-9", "2.00e-9", "3.00e-9"]);
    }

    #[test]
    fn every_scale_has_an_extent_and_few_ticks() {
        for values in [&[][..], &[f64::NAN], &[0.0, 0.0], &[7.0, 7.0], &[f64::MAX, -f64::MAX], &[1.0, 1.0 + 1e-13]] {
            let scale = Scale::over(values.iter().copied(), 0.0, 100.0);
            let ticks = scale.ticks(5);
            assert!(ticks.len() <= 6, "{ticks:?}");
            assert!(!ticks.is_empty(), "{values:?}");
            for value in values.iter().copied().chain([f64::INFINITY, f64::NEG_INFINITY]) {
                assert!((-10.0..=110.0).contains(&scale.at(value)));
            }
        }
    }

    #[test]
    fn times_are_round_and_bounded() {
        let labels = |from, to, most| -> Vec<String> {
            time_ticks(from, to, most).into_iter().map(|(_, label)| label).collect()
        };
        assert_eq!(labels(1_700_006_400, 1_700_006_400 + 86_400, 4), ["15 Nov", "06:00", "12:00", "18:00", "16 Nov"]);
        assert_eq!(labels(1_700_006_400, 1_700_006_400 + 4 * 86_400, 4).len(), 5);
        assert!(labels(i64::MIN, i64::MAX, 5).len() <= 6);
        assert!(labels(5, 5, 5).len() <= 1 && labels(9, 3, 5).is_empty());
    }
}
