//! Bank of Russia: XML in windows-1251, roubles with a decimal comma for a number of units, and the day from which the rates are valid.
//! All that is read is ASCII; the names of currencies are skipped, in any encoding.

use super::xml::{Piece, Pieces, attribute};
use crate::clock::dotted_day;
use crate::currency::Currency;
use crate::error::{FeedError, RowError};
use crate::ratio::Ratio;
use crate::sheet::{Reading, Sheet, rate, units};

/// One `Valute`.
#[derive(Default)]
struct Entry<'a> {
    code: Option<&'a str>,
    nominal: Option<&'a str>,
    value: Option<&'a str>,
}

impl Entry<'_> {
    fn row(&self, time: u64) -> Result<(Ratio, u64), RowError> {
        let units = units(self.nominal.ok_or(RowError::Units)?)?;
        let value = self.value.ok_or(RowError::NotANumber)?;
        if value.contains('.') {
            return Err(RowError::NotANumber);
        }
        let roubles = rate(&value.replacen(',', ".", 1))?;
        Ok((units.over(&roubles).ok_or(RowError::Zero)?, time))
    }
}

pub(super) fn read(bytes: &[u8], now: u64) -> Result<Reading, FeedError> {
    let mut pieces = Pieces::new(bytes);
    let mut path: Vec<&[u8]> = Vec::new();
    let mut list: Option<(Sheet, u64)> = None;
    let mut entry = Entry::default();
    while let Some(piece) = pieces.next()? {
        match piece {
            Piece::Open(name, attributes) => {
                if path.is_empty() {
                    if name != b"ValCurs" || list.is_some() {
                        return Err(FeedError::Form("its root is not one ValCurs"));
                    }
                    let day = attribute(attributes, "Date").and_then(|day| dotted_day(std::str::from_utf8(day).ok()?));
                    let day = day.ok_or(FeedError::Form("ValCurs has no Date of the form 25.04.2026"))?;
                    list = Some((Sheet::new(Currency::RUB, now), day));
                }
                path.push(name);
            }
            Piece::Text(text) => {
                let member = match path[..] {
                    [b"ValCurs", b"Valute", b"CharCode"] => &mut entry.code,
                    [b"ValCurs", b"Valute", b"Nominal"] => &mut entry.nominal,
                    [b"ValCurs", b"Valute", b"Value"] => &mut entry.value,
                    _ => continue,
                };
                *member = std::str::from_utf8(text).ok();
            }
            Piece::Close(name) => {
                path.pop();
                if let (b"Valute", [b"ValCurs"], Some((sheet, day))) = (name, &path[..], &mut list) {
                    let entry = std::mem::take(&mut entry);
                    sheet.add(entry.code.unwrap_or_default(), &entry.row(*day));
                }
            }
        }
    }
    let (sheet, _) = list.ok_or(FeedError::Form("it is no list of rates"))?;
    sheet.finish()
}
