use time::OffsetDateTime;
use time::format_description::StaticFormatDescription;
use time::macros::format_description;

use crate::UnixMillis;

/// As ECMAScript's `Date.prototype.toISOString` writes it.
const FORMAT: StaticFormatDescription =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");

/// `at` as RFC 3339 text in UTC with exactly three digits for milliseconds, so that texts of the years 0 to 9999 sort as
/// their times do. `None` outside the years -9999 to 9999.
pub fn time_text(at: UnixMillis) -> Option<String> {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(at) * 1_000_000).ok()?.format(FORMAT).ok()
}

const DAY: StaticFormatDescription = format_description!("[year]-[month]-[day]");

/// A UTC day, counted from the Unix epoch, as `2026-11-28`. `None` outside the years -9999 to 9999.
pub fn day_text(day: i64) -> Option<String> {
    OffsetDateTime::from_unix_timestamp(day.checked_mul(86_400)?).ok()?.date().format(DAY).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_written_as_dates_and_impossible_ones_are_none() {
        assert_eq!(day_text(0).as_deref(), Some("1970-01-01"));
        assert_eq!(day_text(20_785).as_deref(), Some("2026-11-28"));
        assert_eq!(day_text(-1).as_deref(), Some("1969-12-31"));
        for day in [i64::MAX, i64::MIN, 106_751_991_167, 3_000_000] {
            assert_eq!(day_text(day), None, "{day}");
        }
    }

    #[test]
    fn times_are_written_with_milliseconds() {
        assert_eq!(time_text(0).as_deref(), Some("1970-01-01T00:00:00.000Z"));
        assert_eq!(time_text(1_231_006_505_120).as_deref(), Some("2009-01-03T18:15:05.120Z"));
        assert_eq!(time_text(-1).as_deref(), Some("1969-12-31T23:59:59.999Z"));
        assert_eq!(time_text(i64::MAX), None);
        assert_eq!(time_text(i64::MIN), None);
    }

    /// A fraction without its last zeros would sort after a later one: "….45Z" after "….453Z".
    #[test]
    fn texts_sort_as_their_times_do() {
        let texts: Vec<_> = (1_790_000_000_400..1_790_000_002_600).map(|at| time_text(at).unwrap()).collect();
        assert!(texts.is_sorted());
    }
}
