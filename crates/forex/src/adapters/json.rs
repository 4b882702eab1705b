//! Feeds that are one JSON text: open.er-api, openexchangerates, frankfurter, and our own file. Numbers are taken by their digits.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use crate::clock::{iso_day, iso_moment};
use crate::currency::Currency;
use crate::error::{FeedError, RowError};
use crate::ratio::Ratio;
use crate::sheet::{Reading, Sheet, rate, whole_units};

/// Most rates of an answer.
const ENTRIES_MAX: usize = 10_000;

/// The members of an object, duplicates included.
struct Pairs(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Pairs;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object of rates")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = members.next_entry()? {
                    if pairs.len() == ENTRIES_MAX {
                        return Err(serde::de::Error::custom("too many rates"));
                    }
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }

        deserializer.deserialize_map(Members)
    }
}

/// Reads JSON; what the feed wrote is not repeated in the error.
pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8], expected: &'static str) -> Result<T, FeedError> {
    match serde_json::from_slice(bytes) {
        Ok(answer) => Ok(answer),
        Err(error) if error.is_data() => Err(FeedError::Form(expected)),
        Err(_) => Err(FeedError::Form("it is not JSON")),
    }
}

/// The digits of a JSON number, or of a string that holds one.
pub(super) fn number(value: &Value) -> Result<String, RowError> {
    match value {
        Value::Number(number) => Ok(number.to_string()),
        Value::String(text) => Ok(text.clone()),
        _ => Err(RowError::NotANumber),
    }
}

fn unix(value: &Value) -> Result<u64, FeedError> {
    value.as_u64().ok_or(FeedError::Form("its time is not in Unix seconds"))
}

/// Units for `amount` of `base`, a whole number, all of one time.
fn sheet(base: &str, rates: &Pairs, amount: &Ratio, time: u64, now: u64) -> Result<Reading, FeedError> {
    let mut sheet = Sheet::new(Currency::of_code(base).ok_or(FeedError::Base)?, now);
    for (code, value) in &rates.0 {
        let row = number(value).and_then(|text| rate(&text)?.over(amount).ok_or(RowError::Zero));
        sheet.add(code, &row.map(|rate| (rate, time)));
    }
    sheet.finish()
}

/// `{result, time_last_update_unix, base_code, rates}`.
pub(super) fn open_er_api(bytes: &[u8], now: u64) -> Result<Reading, FeedError> {
    #[derive(Deserialize)]
    struct Answer {
        result: String,
        #[serde(default)]
        time_last_update_unix: Value,
        #[serde(default)]
        base_code: String,
        rates: Option<Pairs>,
    }
    let answer: Answer = parse(bytes, "it has no result and rates")?;
    if answer.result != "success" {
        return Err(FeedError::Form("its result is not \"success\""));
    }
    let rates = answer.rates.ok_or(FeedError::Empty)?;
    sheet(&answer.base_code, &rates, &Ratio::ONE, unix(&answer.time_last_update_unix)?, now)
}

/// `{timestamp, base, rates}`.
pub(super) fn openexchangerates(bytes: &[u8], now: u64) -> Result<Reading, FeedError> {
    #[derive(Deserialize)]
    struct Answer {
        timestamp: Value,
        base: String,
        rates: Pairs,
    }
    let answer: Answer = parse(bytes, "it has no timestamp, base and rates")?;
    sheet(&answer.base, &answer.rates, &Ratio::ONE, unix(&answer.timestamp)?, now)
}

/// v1 `{amount, base, date, rates}`; v2 an array of `{date, base, quote, rate}`.
pub(super) fn frankfurter(bytes: &[u8], now: u64) -> Result<Reading, FeedError> {
    #[derive(Deserialize)]
    struct Answer {
        #[serde(default)]
        amount: Value,
        base: String,
        date: String,
        rates: Pairs,
    }
    #[derive(Deserialize)]
    struct Row {
        date: String,
        base: String,
        quote: String,
        #[serde(default)]
        rate: Value,
    }
    if bytes.trim_ascii_start().first() != Some(&b'[') {
        let answer: Answer = parse(bytes, "it has no base, date and rates")?;
        let amount = if answer.amount.is_null() {
            Ratio::ONE
        } else {
            let amount = number(&answer.amount).and_then(|text| whole_units(&text));
            // Every rate of the list would be wrong.
            amount.map_err(|_| FeedError::Form("its amount is not a whole number from 1 to 1,000,000"))?
        };
        let day = iso_day(&answer.date).ok_or(FeedError::Form("its date is not a day like 2026-02-17"))?;
        return sheet(&answer.base, &answer.rates, &amount, day, now);
    }
    let rows: Vec<Row> = parse(bytes, "it is no list of date, base, quote and rate")?;
    let base = &rows.first().ok_or(FeedError::Empty)?.base;
    let mut sheet = Sheet::new(Currency::of_code(base).ok_or(FeedError::Base)?, now);
    for row in &rows {
        if row.base != *base {
            return Err(FeedError::Form("its rows have several bases"));
        }
        let rate = number(&row.rate).and_then(|text| rate(&text));
        sheet.add(&row.quote, &rate.and_then(|rate| Ok((rate, iso_day(&row.date).ok_or(RowError::Date)?))));
    }
    sheet.finish()
}

/// Our own form: `{as_of, base, rates}`, rates as decimal texts or numbers, `as_of` a day or a moment in ISO 8601.
pub(super) fn file(bytes: &[u8], now: u64) -> Result<Reading, FeedError> {
    #[derive(Deserialize)]
    struct Answer {
        as_of: String,
        base: String,
        rates: Pairs,
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let answer: Answer = parse(bytes, "it has no as_of, base and rates")?;
    let time = iso_moment(&answer.as_of).ok_or(FeedError::Form("as_of is not a day or a moment in ISO 8601"))?;
    sheet(&answer.base, &answer.rates, &Ratio::ONE, time, now)
}
