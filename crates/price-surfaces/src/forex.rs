//! `/v4/<KEY>/forex`: rates between currencies (docs/forex.md). Numbers are decimal texts in every answer.

use std::sync::Arc;

use paraffin_forex::{
    Amount, AmountError, Board, Currency, Freshness, Offer, Provenance, Reason, SourceStatus, Unpriced,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use paraffin_gateway::errors::{ApiError, rpc_code};
use paraffin_gateway::jsonrpc::Params;
use paraffin_gateway::methods::{ByName, Declared, ErrorCase, List, Method, Surface, Verbatim, scalar};
use paraffin_gateway::metrics::Meter;
use paraffin_gateway::state::{BoxFuture, RequestContext, unix_millis};
use paraffin_gateway::surface::{KeyedSurface, RpcResult, RpcSurface};

/// Codes in one question.
const QUOTES_MAX: usize = 200;
/// Longest text that is looked up as a code, characters.
const CODE_CHARS_MAX: usize = 16;

/// The surface over one board.
pub(crate) struct ForexRpc(pub(crate) Arc<Board>);

/// The methods of rates between currencies.
/// `/v4/<KEY>/forex`.
pub static SURFACE: KeyedSurface = KeyedSurface::rpc("forex", &FOREX);

static FOREX: Surface<Board> = Surface::new(
    "forex",
    &[Declared::of::<Rates>(), Declared::of::<Convert>(), Declared::of::<Status>(), Declared::of::<Currencies>()],
)
.introduced(
    "Rates between twenty currencies. Codes are taken in upper or lower case. Rates, amounts and results are decimal \
        texts, exact to their last digit. Parameters are members of an object.",
);

impl RpcSurface for ForexRpc {
    fn family(&self, _method: &str) -> &'static str {
        "forex"
    }

    fn measure(&self, meter: &Meter<'_>) {
        measure(&self.0, meter, now());
    }

    fn call<'a>(&'a self, context: &'a RequestContext, method: &'a str, params: Params) -> BoxFuture<'a, RpcResult> {
        FOREX.serve(context, &*self.0, method, &params)
    }
}

/// Unix seconds.
fn now() -> u64 {
    u64::try_from(unix_millis() / 1_000).unwrap_or_default()
}

/// A text that may be a currency code; the board decides.
#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(inline, extend("minLength" = 1, "maxLength" = CODE_CHARS_MAX))]
struct Code(String);

impl TryFrom<String> for Code {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        let is_short = (1..=CODE_CHARS_MAX).contains(&text.chars().count());
        is_short.then_some(Self(text)).ok_or("must be a currency code of three letters")
    }
}

const NOT_PRICED: ErrorCase = ErrorCase {
    code: rpc_code::NOT_ALLOWED,
    name: "NOT_PRICED",
    when: "A currency is none of the twenty, or the pair has no rate now: `data` has `missing` and `reason`",
};

/// Exchange rates of a currency.
#[derive(Deserialize, JsonSchema)]
struct Rates {
    /// The base currency; `USD` when absent.
    base: Option<Code>,
    /// The currencies to answer; all when absent.
    quotes: Option<List<Code, QUOTES_MAX>>,
    /// Whether to list the sources of each rate; `false` when absent.
    provenance: Option<bool>,
}

/// Rates, and how old they are.
#[derive(Serialize, JsonSchema)]
struct RatesAnswer {
    /// By code, of every rate but the base's own, seconds.
    age_seconds_by_currency: ByName<u64>,
    /// Of the freshest rate, ISO 8601 in UTC; `null` where there is none.
    as_of: Option<String>,
    /// The same in Unix seconds.
    as_of_unix: Option<u64>,
    /// Whether even the freshest is older than `stale_after_hours`.
    stale: bool,
    base: &'static str,
    /// By code, units of the currency for one of the base.
    rates: ByName<String>,
    /// Requested codes without a rate.
    missing: Vec<String>,
    /// By code: `no_quotes`, `unsupported` or `stale_beyond_limit`.
    missing_reasons: ByName<&'static str>,
    /// By code, without the dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    provenance: Option<ByName<RateProvenance>>,
}

/// Sources of a rate.
#[derive(Serialize, JsonSchema)]
struct RateProvenance {
    /// Units of the currency for one dollar.
    per_usd: String,
    method: &'static str,
    sources: Vec<RateSource>,
}

/// The quote of one source.
#[derive(Serialize, JsonSchema)]
struct RateSource {
    source: String,
    per_usd: String,
    as_of: Option<String>,
    age_seconds: u64,
    /// `used`, `outlier`, `stale` or `stale_beyond_limit`.
    role: &'static str,
}

impl Method for Rates {
    const NAME: &'static str = "forex_rates";
    const EXAMPLE: &'static str = r#"{"base":"EUR","quotes":["USD","JPY"]}"#;
    const ERRORS: &'static [ErrorCase] = &[NOT_PRICED];
    type Surface = Board;
    type Answer = RatesAnswer;

    async fn call(self, _context: &RequestContext, board: &Board) -> Result<RatesAnswer, ApiError> {
        let base = self.base.map_or_else(|| Currency::USD.code().to_owned(), |base| base.0);
        let quotes: Option<Vec<String>> =
            self.quotes.map(|quotes| quotes.into_vec().into_iter().map(|code| code.0).collect());
        let with_provenance = self.provenance.unwrap_or(false);
        let rates = board.rates(&base, quotes.as_deref(), with_provenance, now()).map_err(|error| unpriced(&error))?;
        let (ages, as_of_unix, stale) = freshness(&rates.freshness);
        let provenance =
            rates.provenance.map(|all| all.iter().map(|(currency, of)| (currency.code(), provenance(of))).collect());
        Ok(RatesAnswer {
            age_seconds_by_currency: ages,
            as_of: as_of_unix.and_then(instant),
            as_of_unix,
            base: rates.base.code(),
            missing: rates.missing.iter().map(|(code, _)| code.clone()).collect(),
            missing_reasons: rates.missing.iter().map(|(code, reason)| (code.clone(), reason.word())).collect(),
            provenance,
            rates: rates.rates.iter().map(|(currency, rate)| (currency.code(), rate.clone())).collect(),
            stale,
        })
    }
}

/// A non-negative amount.
struct AmountParam(Amount);

impl<'de> Deserialize<'de> for AmountParam {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = match scalar(deserializer)? {
            Value::String(text) => text,
            Value::Number(number) => number.to_string(),
            _ => return Err(serde::de::Error::custom("must be a decimal string or a number")),
        };
        text.parse().map(Self).map_err(|error| {
            serde::de::Error::custom(match error {
                AmountError::NotANumber => "must be a decimal number such as \"12.5\"",
                AmountError::Negative => "must not be negative",
                AmountError::TooLong => "must have at most 64 digits",
            })
        })
    }
}

/// Converts an amount of one currency to another.
#[derive(Deserialize, JsonSchema)]
struct Convert {
    /// The currency of the amount.
    from: Code,
    /// The currency of the result.
    to: Code,
    /// Decimal digits as text, or a number whose digits count as they are written; at most 64.
    #[schemars(extend("type" = ["string", "number"]), with = "Verbatim")]
    amount: AmountParam,
}

/// What the amount is worth.
#[derive(Serialize, JsonSchema)]
struct ConvertAnswer {
    /// By code, of both currencies but the dollar, seconds.
    age_seconds_by_currency: ByName<u64>,
    /// Of the fresher rate, ISO 8601 in UTC.
    as_of: Option<String>,
    /// The same in Unix seconds.
    as_of_unix: Option<u64>,
    /// Whether the rate is older than `stale_after_hours`.
    stale: bool,
    from: &'static str,
    to: &'static str,
    /// Units of `to` for one of `from`, 12 significant digits.
    rate: String,
    /// 12 decimal places at most.
    result: String,
}

impl Method for Convert {
    const NAME: &'static str = "forex_convert";
    const EXAMPLE: &'static str = r#"{"from":"USD","to":"EUR","amount":"100"}"#;
    const ERRORS: &'static [ErrorCase] = &[NOT_PRICED];
    type Surface = Board;
    type Answer = ConvertAnswer;

    async fn call(self, _context: &RequestContext, board: &Board) -> Result<ConvertAnswer, ApiError> {
        let conversion = board.convert(&self.from.0, &self.to.0, &self.amount.0, now());
        let conversion = conversion.map_err(|error| unpriced(&error))?;
        let (ages, as_of_unix, stale) = freshness(&conversion.freshness);
        Ok(ConvertAnswer {
            age_seconds_by_currency: ages,
            as_of: as_of_unix.and_then(instant),
            as_of_unix,
            from: conversion.from.code(),
            rate: conversion.rate.clone(),
            result: conversion.result.clone(),
            stale,
            to: conversion.to.code(),
        })
    }
}

/// State of the sources.
///
/// It has no errors of its own: without any rate the answer says so.
#[derive(Deserialize, JsonSchema)]
struct Status {}

/// Age of the rates, and state of their sources.
#[derive(Serialize, JsonSchema)]
struct StatusAnswer {
    /// Of the freshest rate.
    age_seconds: Option<u64>,
    stale: bool,
    as_of: Option<String>,
    as_of_unix: Option<u64>,
    /// Codes that have a rate.
    available: Vec<&'static str>,
    sources: Vec<SourceAnswer>,
}

/// A configured source.
#[derive(Serialize, JsonSchema)]
struct SourceAnswer {
    name: String,
    /// Its kind, as in `[[forex.sources]]`.
    kind: &'static str,
    /// Number of currencies that it quotes.
    currencies: usize,
    /// The time of its freshest rate.
    as_of: Option<String>,
    /// When it answered last.
    answered_at: Option<String>,
    /// Why the last poll failed.
    failure: Option<String>,
    /// By code, why a quote was rejected.
    refused: ByName<String>,
}

impl Method for Status {
    const NAME: &'static str = "forex_status";
    const EXAMPLE: &'static str = "{}";
    type Surface = Board;
    type Answer = StatusAnswer;

    async fn call(self, _context: &RequestContext, board: &Board) -> Result<StatusAnswer, ApiError> {
        let status = board.status(now());
        Ok(StatusAnswer {
            age_seconds: status.age,
            as_of: status.as_of.and_then(instant),
            as_of_unix: status.as_of,
            available: codes(&status.available),
            sources: status.sources.into_iter().map(source).collect(),
            stale: status.is_stale,
        })
    }
}

/// Supported currencies, and which of them have a rate now.
#[derive(Deserialize, JsonSchema)]
struct Currencies {}

/// The twenty currencies.
#[derive(Serialize, JsonSchema)]
struct CurrenciesAnswer {
    available: Vec<&'static str>,
    currencies: Vec<&'static str>,
    default_base: &'static str,
    missing: Vec<&'static str>,
    /// By code, as in `forex_rates`.
    missing_reasons: ByName<&'static str>,
}

impl Method for Currencies {
    const NAME: &'static str = "forex_currencies";
    const EXAMPLE: &'static str = "{}";
    type Surface = Board;
    type Answer = CurrenciesAnswer;

    async fn call(self, _context: &RequestContext, board: &Board) -> Result<CurrenciesAnswer, ApiError> {
        let coverage = board.coverage(now());
        Ok(CurrenciesAnswer {
            available: codes(&coverage.available),
            currencies: Currency::all().map(Currency::code).collect(),
            default_base: Currency::USD.code(),
            missing: coverage.missing.iter().map(|(currency, _)| currency.code()).collect(),
            missing_reasons: coverage
                .missing
                .iter()
                .map(|(currency, reason)| (currency.code(), reason.word()))
                .collect(),
        })
    }
}

fn codes(currencies: &[Currency]) -> Vec<&'static str> {
    currencies.iter().map(|currency| currency.code()).collect()
}

/// -32001 with the codes that have no price (docs/forex.md).
fn unpriced(error: &Unpriced) -> ApiError {
    let missing: Vec<&str> = error.missing.iter().map(|(code, _)| code.as_str()).collect();
    let reason = error.missing.first().map_or(Reason::NoQuotes, |(_, reason)| *reason);
    NOT_PRICED.error(error.to_string()).with("missing", missing).with("reason", reason.word())
}

/// Ages by code, the time of the freshest rate, and whether even that is stale.
fn freshness(freshness: &Freshness) -> (ByName<u64>, Option<u64>, bool) {
    let ages = freshness.ages.iter().map(|(currency, age)| (currency.code(), *age)).collect();
    (ages, freshness.as_of, freshness.is_stale)
}

fn provenance(provenance: &Provenance) -> RateProvenance {
    let offer = |offer: &Offer| RateSource {
        age_seconds: offer.age,
        as_of: instant(offer.time),
        per_usd: offer.per_usd.clone(),
        role: offer.role.word(),
        source: offer.source.clone(),
    };
    RateProvenance {
        method: "median",
        per_usd: provenance.per_usd.clone(),
        sources: provenance.offers.iter().map(offer).collect(),
    }
}

fn source(source: SourceStatus) -> SourceAnswer {
    SourceAnswer {
        answered_at: source.answered_at.and_then(instant),
        as_of: source.as_of.and_then(instant),
        currencies: source.currencies,
        failure: source.failure,
        kind: source.kind.name(),
        name: source.name,
        refused: source.refused.into_iter().map(|(currency, reason)| (currency.code(), reason)).collect(),
    }
}

/// Metrics: ages of the rates and state of the sources. Names of sources are the operator's own.
#[allow(clippy::cast_precision_loss)] // metrics need no exact values
fn measure(board: &Board, meter: &Meter<'_>, now: u64) {
    let ages =
        board.rates(Currency::USD.code(), None, false, now).map(|rates| rates.freshness.ages).unwrap_or_default();
    for currency in Currency::all().filter(|currency| *currency != Currency::USD) {
        let age = ages.iter().find(|(code, _)| *code == currency).map_or(f64::NAN, |(_, age)| *age as f64);
        let text = "Age of the rate to the US dollar; NaN where there is none";
        meter.gauge("paraffin_forex_rate_age_seconds", text, &[("currency", currency.code())], age);
    }
    for source in board.status(now).sources {
        let label = [("source", source.name.as_str())];
        let age = source.as_of.map_or(f64::NAN, |time| now.saturating_sub(time) as f64);
        meter.gauge("paraffin_forex_source_age_seconds", "Age of a source's freshest rate", &label, age);
        let text = "Currencies that a source quotes";
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
