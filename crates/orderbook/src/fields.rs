//! Single values of a row: every one bounded, none rounded.

use std::borrow::Cow;

use serde_json::value::RawValue;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{OffsetDateTime, PrimitiveDateTime};

use crate::members::string;

/// Longest amount or price, digits and point. A number of 256 bits has 78 digits.
pub const DECIMAL_BYTES_MAX: usize = 100;
/// Longest id, word or address, bytes.
pub(crate) const WORD_BYTES_MAX: usize = 128;

/// A member of an event is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{member} {reason}")]
pub struct FieldError {
    member: String,
    reason: Cow<'static, str>,
}

impl FieldError {
    pub(crate) fn new(member: &str, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { member: member.chars().take(80).collect(), reason: reason.into() }
    }
}

/// A whole number of at least 0, as number or text.
pub(crate) fn integer(member: &str, value: &RawValue) -> Result<u64, FieldError> {
    let text = string(value).unwrap_or(Cow::Borrowed(value.get()));
    text.parse().map_err(|_| FieldError::new(member, "must be a whole number from 0 to 2^64 - 1"))
}

/// A text or a number, as it was written.
pub(crate) fn word<'v>(member: &str, value: &'v RawValue, bytes_max: usize) -> Result<Cow<'v, str>, FieldError> {
    let text = match string(value) {
        Some(text) => text,
        None if value.get().starts_with(|first: char| first == '-' || first.is_ascii_digit()) => value.get().into(),
        None => return Err(FieldError::new(member, "must be a text")),
    };
    if text.is_empty() || text.len() > bytes_max {
        return Err(FieldError::new(member, format!("must have 1 to {bytes_max} bytes")));
    }
    if text.chars().any(char::is_control) {
        return Err(FieldError::new(member, "must hold no control characters"));
    }
    Ok(text)
}

/// An amount or a price: decimal digits, optionally with a point, stored as they are. No sign, no exponent, no NaN.
pub(crate) fn decimal(member: &str, value: &RawValue) -> Result<String, FieldError> {
    let wrong = || {
        FieldError::new(
            member,
            format!("must be a decimal number of at least 0 without exponent, at most {DECIMAL_BYTES_MAX} characters"),
        )
    };
    let text = string(value).unwrap_or(Cow::Borrowed(value.get()));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_decimal = match text.split_once('.') {
        Some((whole, part)) => is_number(whole) && is_number(part),
        None => is_number(&text),
    };
    if is_decimal && text.len() <= DECIMAL_BYTES_MAX { Ok(text.into_owned()) } else { Err(wrong()) }
}

/// A time in Unix microseconds: ISO 8601, or seconds, milliseconds or microseconds, distinguished by their size.
pub(crate) fn time(member: &str, value: &RawValue) -> Result<u64, FieldError> {
    /// Seconds from here on would be after the year 5000.
    const SECONDS_END: u64 = 100_000_000_000;
    const MILLISECONDS_END: u64 = SECONDS_END * 1_000;
    const MICROSECONDS_END: u64 = MILLISECONDS_END * 1_000;
    let wrong = || FieldError::new(member, "must be a time: ISO 8601, or Unix seconds, milliseconds or microseconds");
    let text = string(value).unwrap_or(Cow::Borrowed(value.get()));
    if let Ok(number) = text.parse::<u64>() {
        return match number {
            0..SECONDS_END => Ok(number * 1_000_000),
            SECONDS_END..MILLISECONDS_END => Ok(number * 1_000),
            MILLISECONDS_END..MICROSECONDS_END => Ok(number),
            _ => Err(wrong()),
        };
    }
    let moment = if let Ok(moment) = OffsetDateTime::parse(&text, &Rfc3339) {
        moment
    } else {
        // A time without a zone is UTC; databases write a space for the T.
        let plain = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second][optional [.[subsecond]]]");
        PrimitiveDateTime::parse(&text.replacen(' ', "T", 1), &plain).map_err(|_| wrong())?.assume_utc()
    };
    u64::try_from(moment.unix_timestamp_nanos() / 1_000).map_err(|_| wrong())
}

/// A value that is passed on unchanged: not deeper than 16 levels.
pub(crate) fn any(member: &str, value: &RawValue) -> Result<(), FieldError> {
    const DEPTH_MAX: u32 = 16;
    let (mut depth, mut is_text, mut is_escaped) = (0_u32, false, false);
    for byte in value.get().bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b'{' | b'[' if !is_text => depth += 1,
            b'}' | b']' if !is_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEPTH_MAX {
            return Err(FieldError::new(member, "is nested more than 16 levels deep"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn a_decimal_is_kept_digit_for_digit() {
        let big = format!("1{}", "0".repeat(80));
        for text in ["0", "1200", "0.10", "007", &big] {
            assert_eq!(decimal("price", &raw(&format!("\"{text}\""))).unwrap(), text);
        }
        assert_eq!(decimal("price", &raw("12.50")).unwrap(), "12.50");
        assert_eq!(decimal("price", &raw(&big)).unwrap(), big);
        let long = "1".repeat(DECIMAL_BYTES_MAX + 1);
        for text in [
            "\"NaN\"",
            "\"Infinity\"",
            "-1",
            "1e80",
            "\"1E+80\"",
            "\"\"",
            "\".5\"",
            "\"5.\"",
            "\"1.2.3\"",
            "true",
            "{}",
            "[]",
            &long,
            "\"١\"",
        ] {
            assert!(decimal("price", &raw(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn times_of_every_kind_are_microseconds() {
        for text in [
            "1784592000",
            "1784592000000",
            "1784592000000000",
            "\"1784592000\"",
            "\"2026-07-21T00:00:00Z\"",
            "\"2026-07-21T02:00:00+02:00\"",
            "\"2026-07-21T00:00:00\"",
            "\"2026-07-21 00:00:00.000\"",
        ] {
            assert_eq!(time("created_at", &raw(text)).unwrap(), 1_784_592_000_000_000, "{text}");
        }
        assert_eq!(time("created_at", &raw("\"2026-07-21T00:00:00.123456Z\"")).unwrap(), 1_784_592_000_123_456);
        for text in [
            "-1",
            "1.5",
            "\"yesterday\"",
            "\"1960-01-01T00:00:00Z\"",
            "99999999999999999999",
            "1784592000000000000",
            "{}",
        ] {
            assert!(time("created_at", &raw(text)).is_err(), "{text}");
        }
    }
}
