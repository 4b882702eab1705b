//! Every form of feed by a fixture of its shape, and everything that a feed may send instead.

use proptest::prelude::*;

use super::*;
use crate::board::Board;
use crate::currency::Currency;
use crate::error::RowError;
use crate::policy::Rules;

/// 2026-11-19 16:00:00 UTC.
const NOW: u64 = 1_795_104_000;
/// 2026-11-19.
const DAY: u64 = 1_795_046_400;

const ECB: &[u8] = include_bytes!("../../fixtures/ecb.csv");
const BANK_OF_RUSSIA: &[u8] = include_bytes!("../../fixtures/bank_of_russia.xml");
const BCRA: &[u8] = include_bytes!("../../fixtures/bcra.json");
const FIXTURES: [(SourceKind, &[u8]); 7] = [
    (SourceKind::Ecb, ECB),
    (SourceKind::BankOfRussia, BANK_OF_RUSSIA),
    (SourceKind::Bcra, BCRA),
    (SourceKind::OpenErApi, include_bytes!("../../fixtures/open_er_api.json")),
    (SourceKind::Openexchangerates, include_bytes!("../../fixtures/openexchangerates.json")),
    (SourceKind::Frankfurter, include_bytes!("../../fixtures/frankfurter_v1.json")),
    (SourceKind::Frankfurter, include_bytes!("../../fixtures/frankfurter_v2.json")),
];

fn texts(kind: SourceKind, bytes: &[u8]) -> Vec<String> {
    let reading = read(kind, bytes, NOW + 86_400).unwrap();
    let quotes = reading.quotes.iter();
    quotes.map(|quote| format!("{} {} {}", quote.currency, quote.per_usd.to_rate(), quote.time)).collect()
}

/// row FX09
#[test]
fn three_official_feeds_cover_all_twenty_currencies() {
    let kinds = [SourceKind::Ecb, SourceKind::BankOfRussia, SourceKind::Bcra];
    let rules = Rules { stale_after: 345_600, limit: Some(1_209_600) };
    let board = Board::new(rules, kinds.map(|kind| (kind.name().to_owned(), kind)));
    for (index, bytes) in [ECB, BANK_OF_RUSSIA, BCRA].into_iter().enumerate() {
        let reading = read(kinds[index], bytes, NOW).unwrap();
        assert_eq!(reading.refused, [], "{:?}", kinds[index]);
        board.take(index, reading, NOW);
    }
    let coverage = board.coverage(NOW);
    assert_eq!((coverage.available.len(), coverage.missing.len()), (20, 0));
    let rates = board.rates("usd", None, true, NOW).unwrap();
    assert_eq!((rates.rates.len(), rates.missing.len()), (20, 0));
    let rate = |code: &str| rates.rates.iter().find(|(currency, _)| currency.code() == code).unwrap().1.as_str();
    // One source each: 10,000 dong for 30.7080 roubles, 1,000 naira for 55.8930, a dollar for 80.9470; a thousand dong for pesos.
    assert_eq!(rate("NGN"), "1448.24933355");
    assert_eq!(rate("ARS"), "1412.5");
    assert_eq!(rate("CHF"), "0.80269290523");
    // Two sources that agree within a hundredth of a percent: the mean.
    assert_eq!(rate("VND"), "26361.3402681");
    // The rouble of 2022 that the first feed still carries does not count.
    assert_eq!(rate("RUB"), "80.9469751887");
    // Nothing is older than the weekend that official feeds rest.
    assert!(!rates.freshness.is_stale && rates.freshness.ages.iter().all(|(_, age)| *age == NOW - DAY || *age == 0));
    let provenance = rates.provenance.unwrap();
    let roubles = &provenance.iter().find(|(currency, _)| *currency == Currency::RUB).unwrap().1;
    let roles: Vec<(&str, &str)> =
        roubles.offers.iter().map(|offer| (offer.source.as_str(), offer.role.word())).collect();
    assert_eq!(roles, [("ecb", "stale_beyond_limit"), ("bank_of_russia", "used"), ("bcra", "used")]);
}

#[test]
fn every_form_is_read_exactly() {
    assert_eq!(texts(SourceKind::OpenErApi, FIXTURES[3].1)[4], "VND 26361.456789 1795132801");
    let texts_of = |index: usize| texts(FIXTURES[index].0, FIXTURES[index].1);
    assert_eq!(
        texts_of(4),
        [
            "EUR 0.863105 1795132800",
            "GBP 0.75881 1795132800",
            "JPY 154.62137 1795132800",
            "VND 26361.456789 1795132800"
        ]
    );
    let euro = [("EUR", "0.863110650785"), ("GBP", "0.758760573105"), ("JPY", "154.617641982")];
    assert_eq!(texts_of(5), euro.map(|(code, rate)| format!("{code} {rate} {DAY}")));
    assert_eq!(texts_of(6), [format!("EUR 0.8631 {DAY}"), format!("NGN 1448.3 {}", DAY - 86_400)]);
}

#[test]
fn units_commas_and_the_encoding_of_names_are_understood() {
    assert!(String::from_utf8(BANK_OF_RUSSIA.to_vec()).is_err(), "the names are in windows-1251");
    let valute = |nominal: &str, value: &str| {
        let dollar = "<Valute><CharCode>USD</CharCode><Nominal>1</Nominal><Value>80,0</Value></Valute>";
        let text = format!(
            "<ValCurs Date=\"19.11.2026\">{dollar}<Valute><CharCode>JPY</CharCode><Nominal>{nominal}</Nominal><Value>{value}</Value></Valute></ValCurs>"
        );
        read(SourceKind::BankOfRussia, text.as_bytes(), NOW).unwrap()
    };
    for (nominal, value) in [("1", "0,5"), ("100", "50,0"), ("1000", "500"), ("10000", "5000,00")] {
        let reading = valute(nominal, value);
        assert_eq!(reading.quotes[0].per_usd.to_rate(), "160", "{nominal} {value}");
    }
    for (nominal, value, error) in [
        ("0", "50,0", RowError::Units),
        ("", "50,0", RowError::Units),
        ("1.000", "50,0", RowError::Units),
        ("2000000", "50,0", RowError::Units),
        ("1", "50.0", RowError::NotANumber),
        ("1", "1,050,0", RowError::NotANumber),
        ("1", "1 050,0", RowError::NotANumber),
        ("1", "", RowError::NotANumber),
        ("1", "-50,0", RowError::Negative),
        ("1", "0,0000", RowError::Zero),
    ] {
        assert_eq!(valute(nominal, value).refused, [(Currency::of_code("JPY").unwrap(), error)], "{nominal} {value}");
    }
}

#[test]
fn a_day_without_rates_is_told_from_an_answer_of_another_kind() {
    let empty = [
        (SourceKind::Bcra, r#"{"status":200,"results":{"fecha":null,"detalle":[]}}"#),
        (SourceKind::Ecb, "CURRENCY,TIME_PERIOD,OBS_VALUE\n"),
        (SourceKind::Ecb, ""),
        (SourceKind::Ecb, "CURRENCY,TIME_PERIOD,OBS_VALUE\nUSD,2026-11-19,\n"),
        (SourceKind::BankOfRussia, "<ValCurs Date=\"19.11.2026\"></ValCurs>"),
        (SourceKind::OpenErApi, r#"{"result":"success","time_last_update_unix":1,"base_code":"USD","rates":{}}"#),
        (SourceKind::OpenErApi, r#"{"result":"success"}"#),
        (SourceKind::Openexchangerates, r#"{"timestamp":1,"base":"USD","rates":{"USD":1}}"#),
        (SourceKind::Frankfurter, "[]"),
        (SourceKind::Frankfurter, r#"{"base":"USD","date":"2026-11-19","rates":{}}"#),
        (SourceKind::File, r#"{"as_of":"2026-11-19","base":"USD","rates":{"SEK":"9"}}"#),
    ];
    for (kind, text) in empty {
        assert_eq!(read(kind, text.as_bytes(), NOW), Err(FeedError::Empty), "{kind:?} {text}");
    }
}

#[test]
fn what_is_not_the_feed_is_refused_by_every_reader() {
    let deep = "[".repeat(100_000);
    let deep_xml = "<a>".repeat(100_000);
    let texts = [
        "<!DOCTYPE html><html><head><title>Just a moment</title></head><body>x</body></html>",
        "<html><body>blocked</body></html>",
        r#"{"error":"limit reached"}"#,
        r#"{"result":"error","error-type":"quota-reached"}"#,
        "null",
        "0",
        "\"USD\"",
        "{",
        "USD 1\n",
        "\u{0}\u{0}\u{0}",
        &deep,
        &deep_xml,
    ];
    for kind in FIXTURES.map(|(kind, _)| kind).into_iter().chain([SourceKind::File, SourceKind::Chainlink]) {
        for text in texts {
            let outcome = read(kind, text.as_bytes(), NOW);
            assert!(matches!(outcome, Err(FeedError::Form(_))), "{kind:?} {outcome:?}");
        }
        let huge = vec![b' '; BODY_BYTES_MAX + 1];
        assert_eq!(read(kind, &huge, NOW), Err(FeedError::TooLarge(BODY_BYTES_MAX)));
    }
    for (kind, bytes) in FIXTURES {
        for other in FIXTURES.map(|(kind, _)| kind).into_iter().filter(|other| *other != kind) {
            assert!(read(other, bytes, NOW + 86_400).is_err(), "{other:?} reads what {kind:?} sends");
        }
    }
}

#[test]
fn one_bad_rate_costs_that_rate_alone() {
    for (bad, error) in [
        ("NaN", None),
        ("Infinity", None),
        ("null", Some(RowError::NotANumber)),
        ("\"NaN\"", Some(RowError::NotANumber)),
        ("\"0,75\"", Some(RowError::NotANumber)),
        ("[0.75]", Some(RowError::NotANumber)),
        ("true", Some(RowError::NotANumber)),
        ("0", Some(RowError::Zero)),
        ("0e999", Some(RowError::Zero)),
        ("-0.75", Some(RowError::Negative)),
        ("1e400", Some(RowError::TooLong)),
        ("1e-400", Some(RowError::TooLong)),
        ("1e99999999999999999999999", Some(RowError::TooLong)),
        ("0.7500000000000000000000000001", Some(RowError::TooLong)),
        (r#"0.75,"GBP":0.76"#, Some(RowError::Contradiction)),
    ] {
        let text = format!(r#"{{"timestamp":{DAY},"base":"USD","rates":{{"EUR":0.8631,"GBP":{bad}}}}}"#);
        let outcome = read(SourceKind::Openexchangerates, text.as_bytes(), NOW);
        match error {
            None => assert_eq!(outcome, Err(FeedError::Form("it is not JSON")), "{bad}"),
            Some(error) => {
                let reading = outcome.unwrap();
                assert_eq!(reading.quotes.len(), 1, "{bad}");
                assert_eq!(reading.refused, [(Currency::of_code("GBP").unwrap(), error)], "{bad}");
            }
        }
    }
    let row = |value: &str, day: &str| {
        let text = format!("CURRENCY,TIME_PERIOD,OBS_VALUE\nUSD,2026-11-19,1.1586\nGBP,{day},{value}\n");
        read(SourceKind::Ecb, text.as_bytes(), NOW).unwrap().refused.first().map(|(_, error)| *error)
    };
    assert_eq!(row("NaN", "2026-11-19"), Some(RowError::NotANumber));
    assert_eq!(row("\"0,87\"", "2026-11-19"), Some(RowError::NotANumber));
    assert_eq!(row("0.87", "2026-11"), Some(RowError::Date));
    assert_eq!(row("0.87", "2027-11-19"), Some(RowError::Future));
    assert_eq!(row("0.87", "2026-11-19"), None);
}

#[test]
fn an_answer_of_the_future_or_without_a_time_is_no_answer() {
    let ahead = NOW + 40 * 3_600;
    let texts = [
        (SourceKind::Openexchangerates, format!(r#"{{"timestamp":{ahead},"base":"USD","rates":{{"EUR":0.8}}}}"#)),
        (SourceKind::Openexchangerates, r#"{"timestamp":-1,"base":"USD","rates":{"EUR":0.8}}"#.to_owned()),
        (SourceKind::Openexchangerates, r#"{"timestamp":1.5,"base":"USD","rates":{"EUR":0.8}}"#.to_owned()),
        (SourceKind::OpenErApi, r#"{"result":"success","base_code":"USD","rates":{"EUR":0.8}}"#.to_owned()),
        (SourceKind::Frankfurter, r#"{"base":"USD","date":"2026-11-23","rates":{"EUR":0.8}}"#.to_owned()),
        (SourceKind::Frankfurter, r#"{"base":"USD","date":"19.11.2026","rates":{"EUR":0.8}}"#.to_owned()),
        (SourceKind::Frankfurter, r#"{"amount":0,"base":"USD","date":"2026-11-19","rates":{"EUR":0.8}}"#.to_owned()),
        (SourceKind::File, r#"{"as_of":"tomorrow","base":"USD","rates":{"EUR":"0.8"}}"#.to_owned()),
        (SourceKind::Bcra, BCRA_WITHOUT_DAY.to_owned()),
        (SourceKind::BankOfRussia, "<ValCurs><Valute/></ValCurs>".to_owned()),
    ];
    for (kind, text) in texts {
        assert!(read(kind, text.as_bytes(), NOW).is_err(), "{kind:?} {text}");
    }
}

const BCRA_WITHOUT_DAY: &str =
    r#"{"results":{"fecha":null,"detalle":[{"codigoMoneda":"USD","tipoCotizacion":1412.5}]}}"#;

#[test]
fn a_base_that_is_not_covered_or_cannot_be_compared_is_told() {
    let text = |base: &str| format!(r#"{{"as_of":"2026-11-19","base":"{base}","rates":{{"GBP":"0.8"}}}}"#);
    assert_eq!(read(SourceKind::File, text("SEK").as_bytes(), NOW), Err(FeedError::Base));
    assert_eq!(read(SourceKind::File, text("EUR").as_bytes(), NOW), Err(FeedError::NoDollar));
    let mixed = r#"[{"date":"2026-11-19","base":"USD","quote":"EUR","rate":0.8},{"date":"2026-11-19","base":"EUR","quote":"GBP","rate":0.8}]"#;
    assert!(matches!(read(SourceKind::Frankfurter, mixed.as_bytes(), NOW), Err(FeedError::Form(_))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Fixtures with bytes changed, cut or doubled are read or refused, never a panic, and never a rate of zero.
    #[test]
    fn damaged_answers_never_panic(
        fixture in 0_usize..7, changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..20), end in any::<prop::sample::Index>(),
    ) {
        let (kind, bytes) = FIXTURES[fixture];
        let mut bytes = bytes.to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let cut = &bytes[..end.index(bytes.len() + 1)];
        for damaged in [&bytes[..], cut] {
            if let Ok(reading) = read(kind, damaged, NOW) {
                prop_assert!(reading.quotes.iter().all(|quote| !quote.per_usd.is_zero()));
            }
        }
    }
}
