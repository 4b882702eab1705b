//! Where the buckets of candles begin, in UTC.

/// Seconds of a day.
const DAY: u64 = 86_400;

/// The width of a candle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timeframe {
    /// 600 seconds.
    TenMinutes,
    /// An hour.
    Hour,
    /// A day.
    Day,
    /// A week that begins on Monday.
    Week,
    /// A calendar month.
    Month,
}

impl Timeframe {
    /// All of them, the narrowest first.
    pub const ALL: [Self; 5] = [Self::TenMinutes, Self::Hour, Self::Day, Self::Week, Self::Month];

    /// Its name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TenMinutes => "10m",
            Self::Hour => "1h",
            Self::Day => "1d",
            Self::Week => "1w",
            Self::Month => "1M",
        }
    }

    /// The one of this name; names are case-sensitive.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|timeframe| timeframe.name() == name)
    }

    pub(crate) const fn number(self) -> u8 {
        match self {
            Self::TenMinutes => 1,
            Self::Hour => 2,
            Self::Day => 3,
            Self::Week => 4,
            Self::Month => 5,
        }
    }

    /// Start of the bucket that holds `time`, both Unix seconds. The first week of 1970 is cut at the epoch.
    pub fn start(self, time: u32) -> u32 {
        let time = u64::from(time);
        let start = match self {
            Self::TenMinutes => time - time % 600,
            Self::Hour => time - time % 3_600,
            Self::Day => time - time % DAY,
            // 1970-01-01 was a Thursday, three days after a Monday.
            Self::Week => (time + 3 * DAY - (time + 3 * DAY) % (7 * DAY)).saturating_sub(3 * DAY),
            Self::Month => {
                let (year, month) = month_of(time / DAY);
                first_day(year, month) * DAY
            }
        };
        u32::try_from(start).expect("a bucket begins no later than a time of 32 bits")
    }

    /// Start of the bucket after the one that begins at `start`; `None` beyond 32 bits.
    pub fn next(self, start: u32) -> Option<u32> {
        let next = match self {
            Self::TenMinutes => u64::from(start) + 600,
            Self::Hour => u64::from(start) + 3_600,
            Self::Day => u64::from(start) + DAY,
            Self::Week => {
                let start = u64::from(start) + 3 * DAY;
                start - start % (7 * DAY) + 4 * DAY
            }
            Self::Month => {
                let (year, month) = month_of(u64::from(start) / DAY);
                let (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
                first_day(year, month) * DAY
            }
        };
        u32::try_from(next).ok()
    }
}

const fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

const fn days_in(year: u64, month: u64) -> u64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from the epoch to the first of January.
const fn days_before(year: u64) -> u64 {
    365 * (year - 1970) + leap_count(year - 1) - leap_count(1969)
}

/// Leap years up to and with a year.
const fn leap_count(year: u64) -> u64 {
    year / 4 - year / 100 + year / 400
}

fn first_day(year: u64, month: u64) -> u64 {
    days_before(year) + (1..month).map(|month| days_in(year, month)).sum::<u64>()
}

/// Year and month of a day counted from the epoch.
fn month_of(day: u64) -> (u64, u64) {
    // Never too early: no year has more than 366 days.
    let mut year = 1970 + day / 366;
    while days_before(year + 1) <= day {
        year += 1;
    }
    let mut month = 1;
    while month < 12 && first_day(year, month + 1) <= day {
        month += 1;
    }
    (year, month)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn weeks_begin_on_monday_and_months_on_the_first() {
        // 2024-02-29 12:34:56, a Thursday.
        let time = 1_709_210_096;
        assert_eq!(Timeframe::TenMinutes.start(time), 1_709_209_800);
        assert_eq!(Timeframe::Hour.start(time), 1_709_208_000);
        assert_eq!(Timeframe::Day.start(time), 1_709_164_800);
        assert_eq!(Timeframe::Week.start(time), 1_708_905_600);
        assert_eq!(Timeframe::Month.start(time), 1_706_745_600);
        assert_eq!(Timeframe::Month.next(1_706_745_600), Some(1_709_251_200));
        // 2100 is no leap year: the first of March.
        assert_eq!(Timeframe::Month.start(4_107_542_400), 4_107_542_400);
        assert_eq!(Timeframe::Month.start(4_107_542_399), 4_105_123_200);
        assert_eq!(Timeframe::Week.start(0), 0);
        assert_eq!(Timeframe::Week.next(0), Some(4 * 86_400));
    }

    proptest! {
        #[test]
        fn every_time_lies_in_exactly_one_bucket(time: u32) {
            for timeframe in Timeframe::ALL {
                let start = timeframe.start(time);
                prop_assert!(start <= time);
                prop_assert_eq!(timeframe.start(start), start);
                if let Some(next) = timeframe.next(start) {
                    prop_assert!(next > time);
                    prop_assert_eq!(timeframe.start(next), next);
                    prop_assert_eq!(timeframe.start(next - 1), start);
                }
            }
        }
    }
}
