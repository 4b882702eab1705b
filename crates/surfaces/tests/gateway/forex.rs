//! The forex surface: its four methods over rates of a minute ago.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use paraffin_forex::Board;
use paraffin_surfaces::handlers;
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::instance::{Instance, Setup};

const HOUR: u64 = 3_600;
const TWENTY: [&str; 20] = [
    "USD", "EUR", "GBP", "JPY", "CNY", "INR", "CAD", "AUD", "CHF", "BRL", "MXN", "ARS", "NGN", "ZAR", "TRY", "RUB",
    "KRW", "IDR", "PHP", "VND",
];

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// An instance whose rates are `age` seconds old.
async fn instance(rates: Value, age: u64) -> (Instance, u64) {
    let time = now() - age;
    let as_of = OffsetDateTime::from_unix_timestamp(i64::try_from(time).unwrap()).unwrap().format(&Rfc3339).unwrap();
    let text = json!({ "as_of": as_of, "base": "USD", "rates": rates }).to_string();
    let board = Board::of_file(text.as_bytes(), 96 * HOUR, Some(336 * HOUR), now()).unwrap();
    let keyed = vec![handlers::forex(Arc::new(board))];
    (Instance::with(Setup { keyed, ..Setup::default() }).await, time)
}

fn some_rates() -> Value {
    json!({ "EUR": "0.625", "JPY": "150.7", "VND": "26361.456789", "NGN": 1448.30 })
}

/// Sends params as they are written, so that a number reaches the server with the digits of the test.
async fn raw_call(instance: &Instance, method: &str, params: &str) -> Value {
    let body = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{params}}}"#);
    instance.post(&instance.keyed("/forex"), body).await.json()
}

async fn result(instance: &Instance, method: &str, params: Value) -> Value {
    let answer = raw_call(instance, method, &params.to_string()).await;
    assert!(answer.get("error").is_none(), "{answer}");
    answer["result"].clone()
}

async fn error(instance: &Instance, method: &str, params: &str) -> (i64, Value) {
    let answer = raw_call(instance, method, params).await;
    let code = answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{params}: {answer}"));
    (code, answer["error"]["data"].clone())
}

/// row FX02
/// row FX03
/// row FX04
/// row FX05
/// row FX09
/// row FX10
#[tokio::test]
async fn rates_have_the_members_of_the_seed() {
    let (instance, time) = instance(some_rates(), 60).await;
    let reported = result(&instance, "forex_rates", json!({})).await;
    let rates = json!({ "USD": "1", "EUR": "0.625", "JPY": "150.7", "VND": "26361.456789", "NGN": "1448.3" });
    assert_eq!((&reported["base"], &reported["rates"]), (&json!("USD"), &rates));
    let missing: Vec<&str> = TWENTY.into_iter().filter(|code| rates.get(code).is_none()).collect();
    assert_eq!(reported["missing"], json!(missing));
    assert!(missing.iter().all(|code| reported["missing_reasons"][code] == "no_quotes"), "{reported}");
    let ages = reported["age_seconds_by_currency"].as_object().unwrap();
    assert_eq!(ages.keys().collect::<Vec<_>>(), ["EUR", "JPY", "NGN", "VND"]);
    assert!(ages.values().all(|age| (60..120).contains(&age.as_u64().unwrap())), "{reported}");
    let as_of = OffsetDateTime::parse(reported["as_of"].as_str().unwrap(), &Rfc3339).unwrap();
    assert_eq!((reported["as_of_unix"].as_u64(), as_of.unix_timestamp().unsigned_abs()), (Some(time), time));
    assert!(
        reported["as_of"].as_str().unwrap().ends_with('Z')
            && reported["stale"] == false
            && reported.get("provenance").is_none()
    );

    let reported =
        result(&instance, "forex_rates", json!({ "base": "eur", "quotes": ["usd", "XXX", "gbp", "USD"] })).await;
    assert_eq!((&reported["base"], &reported["rates"]), (&json!("EUR"), &json!({ "EUR": "1", "USD": "1.6" })));
    assert_eq!(reported["missing"], json!(["XXX", "GBP"]));
    assert_eq!(reported["missing_reasons"], json!({ "XXX": "unsupported", "GBP": "no_quotes" }));
    // Null counts as absent, and members that were not requested are left out.
    let reported = result(&instance, "forex_rates", json!({ "base": null, "quotes": [], "provenance": null })).await;
    assert_eq!((&reported["rates"], &reported["missing"]), (&json!({ "USD": "1" }), &json!([])));
    assert_eq!((&reported["as_of_unix"], &reported["stale"]), (&json!(time), &json!(false)));
}

/// row FX02
#[tokio::test]
async fn provenance_names_the_sources_of_every_rate() {
    let (instance, time) = instance(some_rates(), 60).await;
    let reported =
        result(&instance, "forex_rates", json!({ "base": "EUR", "quotes": ["JPY"], "provenance": true })).await;
    let provenance = reported["provenance"].as_object().unwrap();
    assert_eq!(provenance.keys().collect::<Vec<_>>(), ["EUR", "JPY"]);
    let yen = &provenance["JPY"];
    assert_eq!((&yen["per_usd"], &yen["method"]), (&json!("150.7"), &json!("median")));
    let source = &yen["sources"][0];
    assert_eq!(
        (&source["source"], &source["role"], &source["per_usd"]),
        (&json!("file"), &json!("used"), &json!("150.7"))
    );
    let as_of = OffsetDateTime::parse(source["as_of"].as_str().unwrap(), &Rfc3339).unwrap();
    assert_eq!(as_of.unix_timestamp().unsigned_abs(), time);
}

/// row FX01
/// row FX06
#[tokio::test]
async fn amounts_are_taken_as_written_and_results_are_exact() {
    let (instance, time) = instance(some_rates(), 60).await;
    for (from, to, amount, expected) in [
        ("USD", "EUR", "\"100\"", "62.5"),
        ("usd", "eur", "100", "62.5"),
        ("USD", "EUR", "0.1", "0.0625"),
        // As a floating-point number this would lose its end.
        ("USD", "USD", "123456789012345678901234567890.123456789012", "123456789012345678901234567890.123456789012"),
        ("USD", "USD", "\"9007199254740993\"", "9007199254740993"),
        ("USD", "USD", "9007199254740993", "9007199254740993"),
        ("USD", "USD", "0.30000000000000004", "0.3"),
        ("USD", "USD", "1.5e3", "1500"),
        ("JPY", "EUR", "1000000000000", "4147312541.473125414731"),
        ("EUR", "NGN", "\"0\"", "0"),
    ] {
        let params = format!(r#"{{"from":"{from}","to":"{to}","amount":{amount}}}"#);
        let answer = raw_call(&instance, "forex_convert", &params).await;
        assert_eq!(answer["result"]["result"], expected, "{params}: {answer}");
    }
    let reported = result(&instance, "forex_convert", json!({ "from": "EUR", "to": "JPY", "amount": "2" })).await;
    assert_eq!((&reported["rate"], &reported["result"]), (&json!("241.12"), &json!("482.24")));
    let ages = reported["age_seconds_by_currency"].as_object().unwrap();
    assert_eq!((ages.len(), ages["JPY"].as_u64().unwrap() >= 60), (1, true));
    assert_eq!((&reported["as_of_unix"], &reported["stale"]), (&json!(time), &json!(false)));
    assert!(reported.get("missing").is_none() && reported["as_of"].is_string(), "{reported}");
}

/// row FX01
/// row FX06
#[tokio::test]
async fn a_pair_without_a_price_and_bad_parameters_are_told_apart() {
    let (instance, _) = instance(some_rates(), 60).await;
    for (method, params, missing, reason) in [
        ("forex_convert", r#"{"from":"USD","to":"GBP","amount":"1"}"#, json!(["GBP"]), "no_quotes"),
        ("forex_convert", r#"{"from":"xxx","to":"EUR","amount":"1"}"#, json!(["XXX"]), "unsupported"),
        ("forex_convert", r#"{"from":"XXX","to":"YYY","amount":1}"#, json!(["XXX", "YYY"]), "unsupported"),
        ("forex_rates", r#"{"base":"XXX"}"#, json!(["XXX"]), "unsupported"),
    ] {
        let (code, data) = error(&instance, method, params).await;
        assert_eq!((code, &data["missing"], &data["reason"]), (-32_001, &missing, &json!(reason)), "{params}");
    }
    let eighty = format!(r#"{{"from":"USD","to":"EUR","amount":"1{}"}}"#, "0".repeat(80));
    let long = format!(r#"{{"quotes":["{}"]}}"#, "X".repeat(17));
    let many = json!({ "quotes": vec!["EUR"; 201] }).to_string();
    for (method, params) in [
        ("forex_convert", r#"{"from":"USD","to":"EUR"}"#),
        ("forex_convert", r#"{"from":"USD","amount":"1"}"#),
        ("forex_convert", r#"{"to":"EUR","amount":"1"}"#),
        ("forex_convert", r#"{"from":"USD","to":"EUR","amount":"-1"}"#),
        ("forex_convert", r#"{"from":"USD","to":"EUR","amount":-0.5}"#),
        ("forex_convert", r#"{"from":"USD","to":"EUR","amount":"NaN"}"#),
        ("forex_convert", r#"{"from":"USD","to":"EUR","amount":"Infinity"}"#),
        ("forex_convert", r#"{"from":"USD","to":"EUR","amount":"1,5"}"#),
        ("forex_convert", r#"{"from":"USD","to":"EUR","amount":""}"#),
        ("forex_convert", r#"{"from":"USD","to":"EUR","amount":true}"#),
        ("forex_convert", r#"{"from":"USD","to":"EUR","amount":1e80}"#),
        ("forex_convert", r#"{"from":"USD","to":"EUR","amount":1e999999999999}"#),
        ("forex_convert", &eighty),
        ("forex_convert", r#"{"from":5,"to":"EUR","amount":"1"}"#),
        ("forex_rates", r#"["USD"]"#),
        ("forex_rates", "[]"),
        ("forex_rates", r#"{"base":7}"#),
        ("forex_rates", r#"{"base":""}"#),
        ("forex_rates", r#"{"quotes":"EUR"}"#),
        ("forex_rates", r#"{"quotes":[5]}"#),
        ("forex_rates", r#"{"provenance":"yes"}"#),
        ("forex_rates", &long),
        ("forex_rates", &many),
        ("forex_status", "[]"),
        ("forex_currencies", r#"["USD"]"#),
    ] {
        assert_eq!(error(&instance, method, params).await.0, -32_602, "{method} {params}");
    }
    for method in ["forex_history", "rates", "mempool_info"] {
        assert_eq!(error(&instance, method, "{}").await.0, -32_601, "{method}");
    }
}

/// row FX07
/// row FX08
#[tokio::test]
async fn status_and_currencies_answer_whatever_there_is() {
    let (instance, time) = instance(some_rates(), 60).await;
    let status = result(&instance, "forex_status", Value::Null).await;
    assert_eq!(status["available"], json!(["USD", "EUR", "JPY", "NGN", "VND"]));
    assert_eq!((&status["as_of_unix"], &status["stale"]), (&json!(time), &json!(false)));
    assert!(status["age_seconds"].as_u64().unwrap() >= 60 && status["as_of"].is_string(), "{status}");
    assert_eq!((&status["sources"][0]["name"], &status["sources"][0]["failure"]), (&json!("file"), &Value::Null));
    let coverage = result(&instance, "forex_currencies", json!({})).await;
    assert_eq!((&coverage["currencies"], &coverage["default_base"]), (&json!(TWENTY), &json!("USD")));
    assert_eq!(coverage["available"], status["available"]);
    assert_eq!(coverage["missing"].as_array().unwrap().len(), 15);

    // Old rates are reported as stale; rates beyond the limit are none, and the status still answers.
    let (stale, _) = self::instance(some_rates(), 97 * HOUR).await;
    let status = result(&stale, "forex_status", json!({})).await;
    assert_eq!((&status["stale"], status["available"].as_array().unwrap().len()), (&json!(true), 5));
    let (gone, _) = self::instance(some_rates(), 337 * HOUR).await;
    let status = result(&gone, "forex_status", json!({})).await;
    let expected = (&json!(true), &json!([]), &Value::Null, &Value::Null, &Value::Null);
    let reported =
        (&status["stale"], &status["available"], &status["age_seconds"], &status["as_of"], &status["as_of_unix"]);
    assert_eq!(reported, expected);
    let rates = result(&gone, "forex_rates", json!({ "quotes": ["EUR"] })).await;
    assert_eq!((&rates["rates"], &rates["missing"]), (&json!({ "USD": "1" }), &json!(["EUR"])));
    assert_eq!((&rates["missing_reasons"]["EUR"], &rates["as_of"]), (&json!("stale_beyond_limit"), &Value::Null));
    let (code, data) = error(&gone, "forex_convert", r#"{"from":"USD","to":"EUR","amount":"1"}"#).await;
    assert_eq!((code, &data["reason"]), (-32_001, &json!("stale_beyond_limit")));
}

#[tokio::test]
async fn the_surface_stands_below_a_key_alone_and_takes_batches() {
    let (instance, _) = instance(some_rates(), 60).await;
    let body = r#"[{"method":"forex_status","id":1},{"method":"forex_rates","params":{"quotes":["EUR"]},"id":2}]"#;
    let answers = instance.post(&instance.keyed("/forex"), body).await.json();
    assert_eq!((answers.as_array().unwrap().len(), &answers[1]["result"]["rates"]["EUR"]), (2, &json!("0.625")));
    let refused = instance.post("/v4/forex", body).await;
    assert_eq!((refused.status, &refused.json()["code"]), (401, &json!("INVALID_API_KEY")));
    assert_eq!(instance.get(&instance.keyed("/forex")).await.status, 405);
}
