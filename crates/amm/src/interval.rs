//! Candle widths of charts: those of the index, and four hours merged from hourly candles.

use paraffin_primitives::AlkaneId;

use crate::{AmmError, Candle, Markets, Timeframe};

/// Seconds of four hours.
const FOUR_HOURS: u32 = 4 * 3_600;

/// The width of a candle on a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interval {
    /// A width of the index.
    Indexed(Timeframe),
    /// Four hours, from midnight in UTC on.
    FourHours,
}

impl Interval {
    /// All of them, the narrowest first.
    pub const ALL: [Self; 6] = [
        Self::Indexed(Timeframe::TenMinutes),
        Self::Indexed(Timeframe::Hour),
        Self::FourHours,
        Self::Indexed(Timeframe::Day),
        Self::Indexed(Timeframe::Week),
        Self::Indexed(Timeframe::Month),
    ];

    /// Its name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Indexed(timeframe) => timeframe.name(),
            Self::FourHours => "4h",
        }
    }

    /// The one of this name; names are case-sensitive.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|interval| interval.name() == name)
    }

    /// Start of the bucket that holds `time`, both Unix seconds.
    pub fn start(self, time: u32) -> u32 {
        match self {
            Self::Indexed(timeframe) => timeframe.start(time),
            Self::FourHours => time - time % FOUR_HOURS,
        }
    }

    /// Start of the bucket after the one that begins at `start`; `None` beyond 32 bits.
    pub fn next(self, start: u32) -> Option<u32> {
        match self {
            Self::Indexed(timeframe) => timeframe.next(start),
            Self::FourHours => start.checked_add(FOUR_HOURS),
        }
    }
}

impl Markets {
    /// The trades of a pool in buckets of ten minutes that begin at `from` or later, Unix seconds, as one candle that begins there;
    /// `None` without a trade. Of more than `buckets_max` the newest count.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn candle_since(&self, pool: AlkaneId, from: u32, buckets_max: usize) -> Result<Option<Candle>, AmmError> {
        let candles = self.candles(pool, Timeframe::TenMinutes, from, u32::MAX, 0, buckets_max)?;
        Ok(candles
            .into_iter()
            .rev()
            .reduce(|mut whole, next| {
                whole.merge(&next);
                whole
            })
            .map(|whole| Candle { start: from, ..whole }))
    }

    /// Candles of a pool that begin in `from..=to`, Unix seconds, the newest first; at most `limit`. Buckets without trades have
    /// none.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn candles_of(
        &self,
        pool: AlkaneId,
        interval: Interval,
        from: u32,
        to: u32,
        limit: usize,
    ) -> Result<Vec<Candle>, AmmError> {
        if let Interval::Indexed(timeframe) = interval {
            return self.candles(pool, timeframe, from, to, 0, limit);
        }
        // Whole candles only: all hours of the first and the last.
        let begin = interval.start(from.saturating_add(FOUR_HOURS - 1));
        let end = interval.start(to).saturating_add(FOUR_HOURS - 1);
        let hours = self.candles(pool, Timeframe::Hour, begin, end, 0, limit.saturating_mul(4))?;
        let mut candles: Vec<Candle> = Vec::new();
        for hour in hours {
            let start = interval.start(hour.start);
            if let Some(candle) = candles.last_mut().filter(|candle| candle.start == start) {
                let mut whole = Candle { start, ..hour };
                whole.merge(candle);
                *candle = whole;
                continue;
            }
            if candles.len() == limit {
                break;
            }
            candles.push(Candle { start, ..hour });
        }
        Ok(candles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_interval_has_a_name_and_its_buckets_follow_each_other() {
        let names = Interval::ALL.map(Interval::name);
        assert_eq!(names, ["10m", "1h", "4h", "1d", "1w", "1M"]);
        let time = 1_709_210_096;
        for interval in Interval::ALL {
            assert_eq!(Interval::parse(interval.name()), Some(interval));
            let start = interval.start(time);
            let next = interval.next(start).unwrap();
            assert!(start <= time && time < next, "{interval:?}");
            assert_eq!(interval.start(next - 1), start);
            assert_eq!(interval.start(next), next);
        }
        assert_eq!(Interval::parse("1m"), None);
        assert_eq!(Interval::FourHours.next(u32::MAX), None);
    }
}
