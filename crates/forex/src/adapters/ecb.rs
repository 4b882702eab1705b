//! European Central Bank: comma-separated values with a header; units for one euro, one row per currency and day.

use crate::clock::iso_day;
use crate::currency::Currency;
use crate::error::{FeedError, RowError};
use crate::sheet::{Reading, Sheet, rate};

/// Most columns of a row; the feed has some forty with all its details.
const COLUMNS_MAX: usize = 200;

/// Indexes of the columns that are read.
struct Columns {
    currency: usize,
    day: usize,
    value: usize,
    /// Columns that must hold these words where they are there: other series share the form.
    fixed: Vec<(usize, &'static str)>,
}

impl Columns {
    fn of(header: &[String]) -> Option<Self> {
        let index = |name: &str| header.iter().position(|column| column == name);
        let fixed = [("FREQ", "D"), ("CURRENCY_DENOM", "EUR"), ("EXR_TYPE", "SP00"), ("EXR_SUFFIX", "A")];
        Some(Self {
            currency: index("CURRENCY")?,
            day: index("TIME_PERIOD")?,
            value: index("OBS_VALUE")?,
            fixed: fixed.into_iter().filter_map(|(name, word)| Some((index(name)?, word))).collect(),
        })
    }
}

pub(super) fn read(bytes: &[u8], now: u64) -> Result<Reading, FeedError> {
    let text = std::str::from_utf8(bytes).map_err(|_| FeedError::Form("it is not UTF-8"))?;
    let mut lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines().filter(|line| !line.trim().is_empty());
    let header = lines.next().ok_or(FeedError::Empty)?;
    let columns = Columns::of(&fields(header)?)
        .ok_or(FeedError::Form("its first line does not name CURRENCY, TIME_PERIOD and OBS_VALUE"))?;
    let mut sheet = Sheet::new(Currency::EUR, now);
    for line in lines {
        let fields = fields(line)?;
        let field = |index: usize| fields.get(index).map_or("", String::as_str);
        if columns.fixed.iter().any(|(index, word)| field(*index) != *word) {
            continue;
        }
        // A day without trading has a row without a value.
        if field(columns.value).is_empty() {
            continue;
        }
        let row =
            rate(field(columns.value)).and_then(|rate| Ok((rate, iso_day(field(columns.day)).ok_or(RowError::Date)?)));
        sheet.add(field(columns.currency), &row);
    }
    sheet.finish()
}

/// The fields of a line; a field in quotes may hold commas, and a doubled quote stands for one.
fn fields(line: &str) -> Result<Vec<String>, FeedError> {
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => {
                letters.next();
                push(&mut fields, '"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => {
                if fields.len() == COLUMNS_MAX {
                    return Err(FeedError::Form("a line has more than 200 columns"));
                }
                fields.push(String::new());
            }
            other => push(&mut fields, other),
        }
    }
    Ok(fields)
}

fn push(fields: &mut [String], letter: char) {
    if let Some(field) = fields.last_mut() {
        field.push(letter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_fields_keep_their_commas() {
        let row = fields(r#"D,"Euro, ""spot""",1.5,"#).unwrap();
        assert_eq!(row, ["D", "Euro, \"spot\"", "1.5", ""]);
        assert!(fields(&",".repeat(200)).is_err() && fields(&",".repeat(199)).is_ok());
    }
}
