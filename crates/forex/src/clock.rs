//! Time as feeds write it, in Unix seconds.

use std::sync::Arc;

use time::format_description::well_known::Rfc3339;
use time::{Date, Month, OffsetDateTime};

/// Where the time comes from, Unix seconds.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// The beginning of a day, UTC. A feed that states a day and no hour is taken to be as old as that:
/// an age is never reported too small.
pub(crate) fn day(year: &str, month: &str, day: &str) -> Option<u64> {
    let number = |text: &str, len: usize| {
        let is_digits = text.len() == len && text.bytes().all(|byte| byte.is_ascii_digit());
        is_digits.then(|| text.parse::<u16>().ok()).flatten()
    };
    let month = Month::try_from(u8::try_from(number(month, 2)?).ok()?).ok()?;
    let day = u8::try_from(number(day, 2)?).ok()?;
    let date = Date::from_calendar_date(i32::from(number(year, 4)?), month, day).ok()?;
    u64::try_from(date.midnight().assume_utc().unix_timestamp()).ok()
}

/// `2026-02-17`.
pub(crate) fn iso_day(text: &str) -> Option<u64> {
    let mut parts = text.splitn(3, '-');
    day(parts.next()?, parts.next()?, parts.next()?)
}

/// `25.04.2026`.
pub(crate) fn dotted_day(text: &str) -> Option<u64> {
    let mut parts = text.splitn(3, '.');
    let (days, month, year) = (parts.next()?, parts.next()?, parts.next()?);
    day(year, month, days)
}

/// A day, or a moment with its offset, as in ISO 8601.
pub(crate) fn iso_moment(text: &str) -> Option<u64> {
    iso_day(text).or_else(|| u64::try_from(OffsetDateTime::parse(text, &Rfc3339).ok()?.unix_timestamp()).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_moments_are_read_and_what_is_none_is_refused() {
        assert_eq!(iso_day("2026-02-17"), Some(1_771_286_400));
        assert_eq!(dotted_day("17.02.2026"), iso_day("2026-02-17"));
        assert_eq!(iso_moment("2026-02-17T01:00:00+01:00"), iso_day("2026-02-17"));
        assert_eq!(iso_moment("1970-01-01"), Some(0));
        for bad in
            ["", "2026-02-30", "2026-13-01", "1969-12-31", "2026-2-17", "17.02.2026", "2026-02-17 ", "٢٠٢٦-02-17"]
        {
            assert_eq!(iso_moment(bad), None, "{bad}");
        }
        for bad in ["17.02.26", "2026-02-17", "31.02.2026", "..", "17.02.2026.1"] {
            assert_eq!(dotted_day(bad), None, "{bad}");
        }
    }
}
