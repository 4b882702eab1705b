//! `/v4/<KEY>/forex`: rates between currencies (docs/forex.md). Numbers are decimal texts in every answer.

use std::sync::Arc;

use paraffin_forex::{Amount, Board, Currency, Freshness, Offer, Provenance, Reason, SourceStatus, Unpriced};
use serde_json::{Map, Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::named::Named;
use super::{RpcResult, RpcSurface, to_raw};
use crate::errors::{RpcError, rpc_code};
use crate::jsonrpc::Params;
use crate::metrics::Meter;
use crate::state::{BoxFuture, RequestContext, unix_millis};

/// Codes in one question.
const QUOTES_MAX: usize = 200;
/// Longest text that is looked up as a code, characters.
const CODE_CHARS_MAX: usize = 16;

/// The surface over one board.
pub(super) struct ForexRpc(pub(super) Arc<Board>);

impl RpcSurface for ForexRpc {
    fn family(&self, _method: &str) -> &'static str {
        "forex"
    }

    fn measure(&self, meter: &Meter<'_>) {
        measure(&self.0, meter, u64::try_from(unix_millis() / 1_000).unwrap_or_default());
    }

    fn call<'a>(&'a self, _context: &'a RequestContext, method: &'a str, params: Params) -> BoxFuture<'a, RpcResult> {
        Box::pin(async move { answer(&self.0, method, &params) })
    }
}

fn answer(board: &Board, method: &str, params: &Params) -> RpcResult {
    let named = || Named::read(params);
    let now = u64::try_from(unix_millis() / 1_000).unwrap_or_default();
    match method {
        "forex_rates" => rates(board, &named()?, now),
        "forex_convert" => convert(board, &named()?, now),
        "forex_status" => {
            named()?;
            status(board, now)
        }
        "forex_currencies" => {
            named()?;
            currencies(board, now)
        }
        _ => Err(RpcError::method_not_found()),
    }
}

fn rates(board: &Board, named: &Named, now: u64) -> RpcResult {
    let base = code(named.optional_text("base")?.unwrap_or(Currency::USD.code()), "base")?;
    let quotes = named.member("quotes").map(quotes).transpose()?;
    let with_provenance = named.flag("provenance", false)?;
    let rates = board.rates(base, quotes.as_deref(), with_provenance, now).map_err(|error| unpriced(&error))?;
    let missing: Vec<&str> = rates.missing.iter().map(|(code, _)| code.as_str()).collect();
    let reasons = rates.missing.iter().map(|(code, reason)| (code.clone(), json!(reason.word())));
    let told = rates.rates.iter().map(|(currency, rate)| (currency.code().to_owned(), json!(rate)));
    let mut answer = freshness(&rates.freshness);
    answer.extend([
        ("base".to_owned(), json!(rates.base.code())),
        ("rates".to_owned(), Value::Object(told.collect())),
        ("missing".to_owned(), json!(missing)),
        ("missing_reasons".to_owned(), Value::Object(reasons.collect())),
    ]);
    if let Some(told) = &rates.provenance {
        let told = told.iter().map(|(currency, told)| (currency.code().to_owned(), provenance(told)));
        answer.insert("provenance".to_owned(), Value::Object(told.collect()));
    }
    to_raw(&answer)
}

fn convert(board: &Board, named: &Named, now: u64) -> RpcResult {
    let (from, to) = (code(named.text("from")?, "from")?, code(named.text("to")?, "to")?);
    let amount = amount(named)?;
    let conversion = board.convert(from, to, &amount, now).map_err(|error| unpriced(&error))?;
    let mut answer = freshness(&conversion.freshness);
    answer.extend([
        ("from".to_owned(), json!(conversion.from.code())),
        ("to".to_owned(), json!(conversion.to.code())),
        ("rate".to_owned(), json!(conversion.rate)),
        ("result".to_owned(), json!(conversion.result)),
    ]);
    to_raw(&answer)
}

/// This method has no errors of its own: without any rate it reports that there is none.
fn status(board: &Board, now: u64) -> RpcResult {
    let status = board.status(now);
    to_raw(&json!({
        "age_seconds": status.age,
        "stale": status.is_stale,
        "as_of": status.as_of.and_then(instant),
        "as_of_unix": status.as_of,
        "available": codes(&status.available),
        "sources": status.sources.iter().map(source).collect::<Vec<_>>(),
    }))
}

fn currencies(board: &Board, now: u64) -> RpcResult {
    let coverage = board.coverage(now);
    let all: Vec<Currency> = Currency::all().collect();
    let missing: Vec<Currency> = coverage.missing.iter().map(|(currency, _)| *currency).collect();
    let reason = |(currency, reason): &(Currency, Reason)| (currency.code().to_owned(), json!(reason.word()));
    to_raw(&json!({
        "available": codes(&coverage.available),
        "currencies": codes(&all),
        "default_base": Currency::USD.code(),
        "missing": codes(&missing),
        "missing_reasons": coverage.missing.iter().map(reason).collect::<Map<_, _>>(),
    }))
}

fn codes(currencies: &[Currency]) -> Vec<&'static str> {
    currencies.iter().map(|currency| currency.code()).collect()
}

/// A text that may be a code; whether it is one is for the board to say.
fn code<'a>(text: &'a str, name: &str) -> Result<&'a str, RpcError> {
    let is_short = (1..=CODE_CHARS_MAX).contains(&text.chars().count());
    let wrong = || RpcError::invalid_params(format!("{name} must be a currency code of three letters"));
    is_short.then_some(text).ok_or_else(wrong)
}

fn quotes(value: &Value) -> Result<Vec<String>, RpcError> {
    let wrong = || RpcError::invalid_params("quotes must be an array of currency codes");
    let listed = value.as_array().ok_or_else(wrong)?;
    if listed.len() > QUOTES_MAX {
        return Err(RpcError::invalid_params(format!("quotes may hold at most {QUOTES_MAX} codes")));
    }
    listed.iter().map(|one| Ok(code(one.as_str().ok_or_else(wrong)?, "each of quotes")?.to_owned())).collect()
}

/// A decimal text, or a JSON number by its digits as they were written.
fn amount(named: &Named) -> Result<Amount, RpcError> {
    let text = match named.member("amount") {
        None => return Err(RpcError::invalid_params("amount is required")),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        Some(_) => return Err(RpcError::invalid_params("amount must be a decimal string or a number")),
    };
    text.parse().map_err(|error: paraffin_forex::AmountError| RpcError::invalid_params(error.to_string()))
}

/// -32001 with the codes that have no price (docs/forex.md).
fn unpriced(error: &Unpriced) -> RpcError {
    let missing: Vec<&str> = error.missing.iter().map(|(code, _)| code.as_str()).collect();
    let reason = error.missing.first().map_or(Reason::NoQuotes, |(_, reason)| *reason);
    RpcError {
        data: Some(json!({ "code": "NOT_PRICED", "missing": missing, "reason": reason.word() })),
        ..RpcError::new(rpc_code::NOT_ALLOWED, error.to_string())
    }
}

fn freshness(freshness: &Freshness) -> Map<String, Value> {
    let ages = freshness.ages.iter().map(|(currency, age)| (currency.code().to_owned(), json!(age)));
    Map::from_iter([
        ("age_seconds_by_currency".to_owned(), Value::Object(ages.collect())),
        ("as_of".to_owned(), json!(freshness.as_of.and_then(instant))),
        ("as_of_unix".to_owned(), json!(freshness.as_of)),
        ("stale".to_owned(), json!(freshness.is_stale)),
    ])
}

fn provenance(provenance: &Provenance) -> Value {
    let offer = |offer: &Offer| {
        json!({
            "source": offer.source,
            "per_usd": offer.per_usd,
            "as_of": instant(offer.time),
            "age_seconds": offer.age,
            "role": offer.role.word(),
        })
    };
    json!({
        "per_usd": provenance.per_usd,
        "method": "median",
        "sources": provenance.offers.iter().map(offer).collect::<Vec<_>>(),
    })
}

fn source(source: &SourceStatus) -> Value {
    let refused = source.refused.iter().map(|(currency, reason)| (currency.code().to_owned(), json!(reason)));
    json!({
        "name": source.name,
        "kind": source.kind.name(),
        "currencies": source.currencies,
        "as_of": source.as_of.and_then(instant),
        "answered_at": source.answered_at.and_then(instant),
        "failure": source.failure,
        "refused": Value::Object(refused.collect()),
    })
}

/// What operators see: how old rates are, and how the sources do. Names of sources are the operator's own.
#[allow(clippy::cast_precision_loss)] // figures for people
fn measure(board: &Board, meter: &Meter<'_>, now: u64) {
    let ages =
        board.rates(Currency::USD.code(), None, false, now).map(|rates| rates.freshness.ages).unwrap_or_default();
    for currency in Currency::all().filter(|currency| *currency != Currency::USD) {
        let age = ages.iter().find(|(told, _)| *told == currency).map_or(f64::NAN, |(_, age)| *age as f64);
        let text = "Age of the rate to the US dollar; NaN where there is none";
        meter.gauge("paraffin_forex_rate_age_seconds", text, &[("currency", currency.code())], age);
    }
    for source in board.status(now).sources {
        let label = [("source", source.name.as_str())];
        let age = source.as_of.map_or(f64::NAN, |time| now.saturating_sub(time) as f64);
        meter.gauge("paraffin_forex_source_age_seconds", "Age of a source's freshest rate", &label, age);
        let text = "Currencies that a source tells";
        meter.gauge("paraffin_forex_source_currencies", text, &label, source.currencies as f64);
        meter.count("paraffin_forex_polls_total", "Questions to a source", &label, source.polls);
        let text = "Questions to a source that brought no rates";
        meter.count("paraffin_forex_poll_failures_total", text, &label, source.failures);
    }
}

/// ISO 8601 in whole seconds, UTC; `None` beyond the year 9999.
fn instant(unix_seconds: u64) -> Option<String> {
    let seconds = i64::try_from(unix_seconds).ok()?;
    OffsetDateTime::from_unix_timestamp(seconds).ok()?.format(&Rfc3339).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_whole_seconds_with_a_z() {
        assert_eq!(instant(1_789_059_439).as_deref(), Some("2026-09-10T16:57:19Z"));
        assert_eq!((instant(u64::MAX), instant(0).as_deref()), (None, Some("1970-01-01T00:00:00Z")));
    }
}
