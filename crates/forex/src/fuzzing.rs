//! Readers of feeds, for the fuzz targets.

use crate::adapters::{self, SourceKind, chainlink};
use crate::amount::Amount;
use crate::board::Board;
use crate::currency::Currency;
use crate::history;
use crate::policy::Rules;

/// The time at which every input is read, Unix seconds.
pub const NOW: u64 = 1_800_000_000;

/// Reads an answer of a feed. Whatever is read is above zero, of a time that may be, and comes back from the history and through a
/// conversion there and back. True when anything was read.
pub fn feed(kind: SourceKind, bytes: &[u8]) -> bool {
    let Ok(reading) = adapters::read(kind, bytes, NOW) else { return false };
    assert!(!reading.quotes.is_empty() && reading.quotes.len() < Currency::COUNT);
    for quote in &reading.quotes {
        assert!(
            !quote.per_usd.is_zero() && quote.time <= NOW + crate::sheet::AHEAD_MAX && quote.currency != Currency::USD
        );
    }
    let record = history::record("fuzz", &reading.quotes);
    assert_eq!(history::read_record(&record), Some(("fuzz".to_owned(), reading.quotes.clone())));
    let board = Board::new(Rules { stale_after: 345_600, limit: None }, [("fuzz".to_owned(), kind)]);
    let count = reading.quotes.len();
    board.take(0, reading, NOW);
    let rates = board.rates("USD", None, true, NOW).expect("the dollar is covered");
    assert_eq!(rates.rates.len(), count + 1);
    let greatest: Amount = "9".repeat(64).parse().expect("64 digits are an amount");
    for (currency, _) in &rates.rates {
        board.convert(currency.code(), "USD", &greatest, NOW).expect("it has a price");
        board.convert("USD", currency.code(), &greatest, NOW).expect("it has a price");
    }
    true
}

/// Reads an answer of an EVM endpoint as that of a price feed.
pub fn chainlink(bytes: &[u8], decimals: u32) -> bool {
    chainlink::words(bytes, 5).is_ok_and(|words| chainlink::row(&words, decimals.min(24)).is_ok())
}

/// Reads a record of the history.
pub fn record(bytes: &[u8]) -> bool {
    history::read_record(bytes).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bounds of the fractions hold for the longest numbers that any form of feed can bring, there and back.
    #[test]
    fn the_longest_numbers_of_every_form_are_computed_with() {
        let (long, small) = ("9".repeat(24), format!("0.{}7", "0".repeat(23)));
        let other = format!("0.{}", "7".repeat(24));
        for (one, two) in [(&long, &small), (&small, &long), (&other, &long), (&small, &other), (&long, &long)] {
            let (one_comma, two_comma) = (one.replace('.', ","), two.replace('.', ","));
            let valute = |code: &str, nominal: u32, value: &str| {
                format!(
                    "<Valute><CharCode>{code}</CharCode><Nominal>{nominal}</Nominal><Value>{value}</Value></Valute>"
                )
            };
            let entry = |code: &str, value: &str| {
                format!(r#"{{"codigoMoneda":"{code}","descripcion":"(C/999.983 UNIDADES)","tipoCotizacion":{value}}}"#)
            };
            let texts = [
                (
                    SourceKind::Ecb,
                    format!("CURRENCY,TIME_PERIOD,OBS_VALUE\nUSD,2026-11-19,{one}\nGBP,2026-11-19,{two}\n"),
                ),
                (
                    SourceKind::BankOfRussia,
                    format!(
                        "<ValCurs Date=\"19.11.2026\">{}{}</ValCurs>",
                        valute("USD", 999_983, &one_comma),
                        valute("GBP", 1_000_000, &two_comma)
                    ),
                ),
                (
                    SourceKind::Bcra,
                    format!(
                        r#"{{"results":{{"fecha":"2026-11-19","detalle":[{},{}]}}}}"#,
                        entry("USD", one),
                        entry("GBP", two)
                    ),
                ),
                (
                    SourceKind::Frankfurter,
                    format!(
                        r#"{{"amount":999983.0,"base":"EUR","date":"2026-11-19","rates":{{"USD":{one},"GBP":{two}}}}}"#
                    ),
                ),
                (
                    SourceKind::File,
                    format!(r#"{{"as_of":"2026-11-19","base":"EUR","rates":{{"USD":"{one}","GBP":"{two}"}}}}"#),
                ),
            ];
            for (kind, text) in texts {
                assert!(feed(kind, text.as_bytes()), "{kind:?} {text}");
            }
        }
    }

    #[test]
    fn noise_is_refused() {
        for kind in
            [SourceKind::Ecb, SourceKind::BankOfRussia, SourceKind::Bcra, SourceKind::Frankfurter, SourceKind::File]
        {
            assert!(!feed(kind, b"noise") && !feed(kind, b""));
        }
        assert!(!chainlink(b"{}", 8) && !record(b"\x01{}"));
    }
}
