use paraffin_forex::{Board, Currency, Reason};

const NOW: u64 = 1_795_104_000;
const HOUR: u64 = 3_600;

/// Rates of 100 seconds ago: five euros for eight dollars, a yen that does not divide, dong in the ten thousands.
fn board() -> Board {
    let text = r#"{"as_of":"2026-11-19T15:58:20Z","base":"USD","rates":{"EUR":"0.625","JPY":"150.7","VND":26361.456789,"NGN":"1448.3"}}"#;
    Board::of_file(text.as_bytes(), 96 * HOUR, Some(336 * HOUR), NOW).unwrap()
}

fn codes(codes: &[&str]) -> Vec<String> {
    codes.iter().map(|code| (*code).to_owned()).collect()
}

fn texts(rates: &[(Currency, String)]) -> Vec<(&str, &str)> {
    rates.iter().map(|(currency, rate)| (currency.code(), rate.as_str())).collect()
}

/// row FX02
/// row FX03
/// row FX05
/// row FX10
#[test]
fn rates_of_any_base_are_exact_and_what_has_no_price_is_missing() {
    let board = board();
    let dollar = board.rates("USD", Some(&codes(&["jpy", "EUR", "eur", "USD"])), false, NOW).unwrap();
    assert_eq!(texts(&dollar.rates), [("USD", "1"), ("JPY", "150.7"), ("EUR", "0.625")]);
    assert_eq!(dollar.missing, []);
    let euro = board.rates("eur", Some(&codes(&["USD", "JPY", "GBP", "xxx"])), false, NOW).unwrap();
    assert_eq!(texts(&euro.rates), [("EUR", "1"), ("USD", "1.6"), ("JPY", "241.12")]);
    assert_eq!(euro.missing, [("GBP".to_owned(), Reason::NoQuotes), ("XXX".to_owned(), Reason::Unsupported)]);
    let yen = board.rates("JPY", None, false, NOW).unwrap();
    // 0.625 / 150.7 to twelve digits, and 26361.456789 / 150.7.
    assert_eq!(texts(&yen.rates)[2], ("EUR", "0.00414731254147"));
    assert_eq!(yen.rates.last().unwrap().1, "174.926720564");
    assert_eq!((yen.rates.len(), yen.missing.len()), (5, 15));
    let pound = board.rates("GBP", None, false, NOW).unwrap();
    assert_eq!((texts(&pound.rates), pound.missing.len()), (vec![("GBP", "1")], 19));
    assert!(pound.freshness.as_of.is_none() && pound.freshness.is_stale);
    let unpriced = board.rates("SEK", None, false, NOW).unwrap_err();
    assert_eq!(unpriced.missing, [("SEK".to_owned(), Reason::Unsupported)]);
}

/// row FX04
#[test]
fn ages_follow_the_clock_until_rates_are_stale_and_then_no_rates() {
    let board = board();
    let time = NOW - 100;
    for (age, is_stale) in [(0, false), (100, false), (96 * HOUR, false), (96 * HOUR + 1, true), (336 * HOUR, true)] {
        let rates = board.rates("EUR", None, false, time + age).unwrap();
        assert_eq!((rates.rates.len(), rates.freshness.ages.len()), (5, 4), "{age}");
        assert!(rates.freshness.ages.iter().all(|(_, served)| *served == age), "{age}");
        assert_eq!((rates.freshness.as_of, rates.freshness.is_stale), (Some(time), is_stale), "{age}");
    }
    let late = time + 336 * HOUR + 1;
    let rates = board.rates("USD", Some(&codes(&["EUR", "GBP"])), true, late).unwrap();
    assert_eq!(texts(&rates.rates), [("USD", "1")]);
    let missing = [("EUR".to_owned(), Reason::StaleBeyondLimit), ("GBP".to_owned(), Reason::NoQuotes)];
    assert_eq!((rates.missing, rates.freshness.as_of, rates.freshness.is_stale), (missing.to_vec(), None, true));
    assert_eq!(board.coverage(late).available, []);
    // A clock that goes back finds the rates again.
    assert_eq!(board.coverage(NOW).available.len(), 5);
}

/// row FX06
#[test]
fn conversions_multiply_the_exact_rate() {
    let board = board();
    let convert = |from: &str, to: &str, amount: &str| board.convert(from, to, &amount.parse().unwrap(), NOW);
    for (from, to, amount, expected) in [
        ("USD", "EUR", "100", "62.5"),
        ("eur", "usd", "62.5", "100"),
        ("JPY", "EUR", "1", "0.004147312541"),
        // The rounded rate would give 4147312541.47.
        ("JPY", "EUR", "1000000000000", "4147312541.473125414731"),
        ("USD", "USD", "0.10", "0.1"),
        ("SEK", "SEK", "1", ""),
        ("GBP", "GBP", "7", "7"),
        ("USD", "JPY", "0", "0"),
        ("USD", "JPY", "0.000000000001", "0.000000000151"),
        ("EUR", "USD", "1e-64", "0"),
    ] {
        let result = convert(from, to, amount).map(|conversion| conversion.result).unwrap_or_default();
        assert_eq!(result, expected, "{amount} {from} to {to}");
    }
    let conversion = convert("VND", "EUR", "5").unwrap();
    assert_eq!(conversion.freshness.ages, [(conversion.to, 100)]);
    let missing = |from: &str, to: &str| convert(from, to, "1").unwrap_err().missing;
    assert_eq!(missing("USD", "GBP"), [("GBP".to_owned(), Reason::NoQuotes)]);
    assert_eq!(missing("gbp", "USD"), [("GBP".to_owned(), Reason::NoQuotes)]);
    let both = [("XXX".to_owned(), Reason::Unsupported), ("YYY".to_owned(), Reason::Unsupported)];
    assert_eq!(missing("xxx", "yyy"), both);
    for bad in ["-1", "NaN", "1e64", "", "1,5", "inf"] {
        assert!(bad.parse::<paraffin_forex::Amount>().is_err(), "{bad}");
    }
}

/// Half a unit of the last place is lost on the way there, which is worth at most half a unit of the way back's rate, and half a unit on
/// the way back.
#[test]
fn there_and_back_loses_less_than_one_unit_of_the_last_place() {
    let board = board();
    let available = board.coverage(NOW).available;
    // Amounts in units of the twelfth place, so that whole numbers show the loss.
    let units = |text: &str| -> i128 {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        format!("{whole}{fraction:0<12}").parse().unwrap()
    };
    for from in &available {
        for to in &available {
            let rate_back = board.convert(to.code(), from.code(), &"1".parse().unwrap(), NOW).unwrap().result;
            for amount in ["1", "0.01", "12345.678901", "999999999.999999999999", "0.000000000001"] {
                let there = board.convert(from.code(), to.code(), &amount.parse().unwrap(), NOW).unwrap().result;
                let back = board.convert(to.code(), from.code(), &there.parse().unwrap(), NOW).unwrap().result;
                let lost = (units(&back) - units(amount)).abs();
                // What one unit of the last place over there is worth here, in units of here, rounded up, and never less than one.
                let unit = units(&rate_back) / 1_000_000_000_000 + 1;
                assert!(lost <= unit, "{amount} {from} to {to} and back: {back}");
            }
        }
    }
}

/// row FX07
/// row FX08
#[test]
fn status_and_coverage_answer_whatever_is_known() {
    let board = board();
    let status = board.status(NOW);
    assert_eq!((status.age, status.as_of, status.is_stale), (Some(100), Some(NOW - 100), false));
    let available: Vec<&str> = status.available.iter().map(|currency| currency.code()).collect();
    assert_eq!(available, ["USD", "EUR", "JPY", "NGN", "VND"]);
    assert_eq!((status.sources[0].name.as_str(), status.sources[0].currencies), ("file", 4));
    let far = board.status(u64::MAX);
    assert_eq!((far.age, far.as_of, far.is_stale, far.available.len()), (None, None, true, 0));
    let beginning = board.status(0);
    assert_eq!((beginning.age, beginning.is_stale), (Some(0), false));
    let coverage = board.coverage(NOW);
    assert_eq!((coverage.available.len(), coverage.missing.len()), (5, 15));
}
