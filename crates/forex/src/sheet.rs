//! The rates of one answer of a feed, checked and turned into units for one US dollar.

use crate::currency::Currency;
use crate::decimal::{Decimal, RATE_DIGITS_MAX};
use crate::error::{FeedError, RowError};
use crate::ratio::Ratio;

/// Most seconds by which a source's own time may be ahead of our clock: some feeds state the day for which their rates are valid,
/// which begins up to a day and a half after they were set.
pub(crate) const AHEAD_MAX: u64 = 36 * 3_600;
/// Most units that a rate is stated for.
pub(crate) const UNITS_MAX: u32 = 1_000_000;

/// The rate of one currency at one source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quote {
    pub(crate) currency: Currency,
    /// Units for one US dollar, above zero.
    pub(crate) per_usd: Ratio,
    /// The source's own time, Unix seconds.
    pub(crate) time: u64,
}

/// The usable and the refused rates of one answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    /// At most one of each currency, never of the dollar, ordered by currency.
    pub(crate) quotes: Vec<Quote>,
    /// Currencies whose rate cannot be used.
    pub(crate) refused: Vec<(Currency, RowError)>,
}

/// Rates being gathered.
pub(crate) struct Sheet {
    pivot: Currency,
    now: u64,
    rows: [Option<Row>; Currency::COUNT],
}

/// Units for one of the pivot and the time, or why they are not used.
pub(crate) type Row = Result<(Ratio, u64), RowError>;

/// A number of a feed, above zero.
pub(crate) fn rate(text: &str) -> Result<Ratio, RowError> {
    positive(&Ratio::of(Decimal::parse(text, RATE_DIGITS_MAX)?))
}

pub(crate) fn positive(ratio: &Ratio) -> Result<Ratio, RowError> {
    if ratio.is_zero() { Err(RowError::Zero) } else { Ok(*ratio) }
}

/// Whole units that a rate is for.
pub(crate) fn units(text: &str) -> Result<Ratio, RowError> {
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let units = is_digits.then(|| text.parse::<u32>().ok()).flatten();
    units.filter(|units| (1..=UNITS_MAX).contains(units)).map(Ratio::whole).ok_or(RowError::Units)
}

/// The same from a number that may be written with a point, such as `1.0`.
pub(crate) fn whole_units(text: &str) -> Result<Ratio, RowError> {
    let number = Decimal::parse(text, RATE_DIGITS_MAX)?;
    if number.scale > 0 { Err(RowError::Units) } else { units(&number.mantissa.to_string()) }
}

impl Sheet {
    /// For rates in `pivot`, read at `now` (Unix seconds).
    pub(crate) fn new(pivot: Currency, now: u64) -> Self {
        Self { pivot, now, rows: [None; Currency::COUNT] }
    }

    /// Adds units of `code` for one of the pivot, with the source's own time. Codes that are not covered are passed over, as is the pivot.
    /// Of several days the newest counts.
    pub(crate) fn add(&mut self, code: &str, row: &Row) {
        let Some(currency) = Currency::of_code(code).filter(|currency| *currency != self.pivot) else { return };
        let row = row.and_then(|(rate, time)| {
            if time > self.now.saturating_add(AHEAD_MAX) { Err(RowError::Future) } else { Ok((rate, time)) }
        });
        let held = &mut self.rows[currency.index()];
        *held = Some(match (*held, row) {
            (None, row) => row,
            (Some(Ok(old)), Ok(new)) if new.1 > old.1 => Ok(new),
            (Some(Ok(old)), Ok(new)) if new.1 < old.1 => Ok(old),
            (Some(Ok(old)), Ok(new)) if new.0 == old.0 => Ok(old),
            (Some(Ok(_)), Ok(_)) => Err(RowError::Contradiction),
            (Some(Err(error)), _) | (Some(Ok(_)), Err(error)) => Err(error),
        });
    }

    /// The rates for one dollar.
    pub(crate) fn finish(self) -> Result<Reading, FeedError> {
        let rows = || Currency::all().zip(&self.rows).filter_map(|(currency, row)| Some((currency, (*row)?)));
        let refused: Vec<(Currency, RowError)> =
            rows().filter_map(|(currency, row)| Some((currency, row.err()?))).collect();
        let usable = || rows().filter_map(|(currency, row)| Some((currency, row.ok()?)));
        if usable().next().is_none() {
            let error =
                refused.first().map(|(currency, error)| FeedError::NoUsableRate { currency: *currency, error: *error });
            return Err(error.unwrap_or(FeedError::Empty));
        }
        let dollar = if self.pivot == Currency::USD {
            None
        } else {
            let (_, dollar) = usable().find(|(currency, _)| *currency == Currency::USD).ok_or(FeedError::NoDollar)?;
            Some(dollar)
        };
        let mut quotes = Vec::with_capacity(Currency::COUNT);
        for (currency, (rate, time)) in usable().filter(|(currency, _)| *currency != Currency::USD) {
            let quote = match dollar {
                None => Quote { currency, per_usd: rate, time },
                Some((dollars, dollars_time)) => {
                    let per_usd = rate.over(&dollars).ok_or(FeedError::NoDollar)?;
                    // A cross rate is as old as the older of its two sides.
                    Quote { currency, per_usd, time: time.min(dollars_time) }
                }
            };
            quotes.push(quote);
        }
        if let Some((dollars, time)) = dollar {
            let per_usd = dollars.inverse().ok_or(FeedError::NoDollar)?;
            quotes.push(Quote { currency: self.pivot, per_usd, time });
        }
        quotes.sort_unstable_by_key(|quote| quote.currency);
        Ok(Reading { quotes, refused })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_800_000_000;

    fn row(text: &str, time: u64) -> Row {
        Ok((rate(text)?, time))
    }

    fn texts(reading: &Reading) -> Vec<(String, String, u64)> {
        reading.quotes.iter().map(|quote| (quote.currency.to_string(), quote.per_usd.to_rate(), quote.time)).collect()
    }

    #[test]
    fn rates_of_any_pivot_become_rates_of_the_dollar_as_old_as_the_older_side() {
        let mut sheet = Sheet::new(Currency::EUR, NOW);
        sheet.add("JPY", &row("150", NOW));
        sheet.add("USD", &row("1.25", NOW - 60));
        sheet.add("GBP", &row("0.5", NOW - 90));
        sheet.add("SEK", &row("11", NOW));
        sheet.add("EUR", &row("7", NOW));
        let expected = [("EUR", "0.8", NOW - 60), ("GBP", "0.4", NOW - 90), ("JPY", "120", NOW - 60)];
        let expected = expected.map(|(code, rate, time)| (code.to_owned(), rate.to_owned(), time));
        assert_eq!(texts(&sheet.finish().unwrap()), expected);
    }

    #[test]
    fn what_stands_twice_counts_once_and_never_when_it_contradicts_itself() {
        let mut sheet = Sheet::new(Currency::USD, NOW);
        for (code, text, time) in [
            ("EUR", "0.8", NOW),
            ("eur", "0.80", NOW),
            ("GBP", "0.5", NOW),
            ("GBP", "0.6", NOW),
            ("JPY", "150", NOW - 1),
            ("JPY", "151", NOW),
            ("JPY", "149", NOW - 2),
        ] {
            sheet.add(code, &row(text, time));
        }
        let reading = sheet.finish().unwrap();
        let codes: Vec<String> = texts(&reading).into_iter().map(|(code, rate, _)| format!("{code} {rate}")).collect();
        assert_eq!(codes, ["EUR 0.8", "JPY 151"]);
        assert_eq!(reading.refused, [(Currency::of_code("GBP").unwrap(), RowError::Contradiction)]);
    }

    #[test]
    fn a_day_that_has_not_come_is_refused_but_the_day_of_validity_is_not() {
        let mut sheet = Sheet::new(Currency::USD, NOW);
        sheet.add("EUR", &row("0.8", NOW + AHEAD_MAX));
        sheet.add("GBP", &row("0.5", NOW + AHEAD_MAX + 1));
        let reading = sheet.finish().unwrap();
        assert_eq!((reading.quotes.len(), reading.refused.len()), (1, 1));
        assert_eq!(reading.refused[0].1, RowError::Future);
    }

    #[test]
    fn zero_negative_and_no_numbers_are_named() {
        for (text, error) in [
            ("0", RowError::Zero),
            ("0.00", RowError::Zero),
            ("-1", RowError::Negative),
            ("NaN", RowError::NotANumber),
            ("1,5", RowError::NotANumber),
            ("1e40", RowError::TooLong),
        ] {
            let mut sheet = Sheet::new(Currency::USD, NOW);
            sheet.add("EUR", &row(text, NOW));
            assert_eq!(sheet.finish(), Err(FeedError::NoUsableRate { currency: Currency::EUR, error }), "{text}");
        }
        assert_eq!(Sheet::new(Currency::USD, NOW).finish(), Err(FeedError::Empty));
        let mut sheet = Sheet::new(Currency::EUR, NOW);
        sheet.add("GBP", &row("0.5", NOW));
        sheet.add("USD", &row("0", NOW));
        assert_eq!(sheet.finish(), Err(FeedError::NoDollar));
        assert_eq!(["0", "", "1.5", "1000001", "99999999999", "-1"].map(|text| units(text).is_err()), [true; 6]);
        assert_eq!(units("10000").unwrap(), Ratio::whole(10_000));
        assert_eq!(["0.5", "1.5", "0", "-1", "1e7"].map(|text| whole_units(text).is_err()), [true; 5]);
        assert_eq!(["1", "1.0", "1e0"].map(|text| whole_units(text).ok()), [Some(Ratio::ONE); 3]);
    }
}
