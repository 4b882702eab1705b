//! Paraffin JSON-RPC: forex.
// Written from the declarations: docs/clients.md says how.

use crate::method::{Form, Method};
#[allow(unused_imports, reason = "not every document has all")]
use crate::value::{Amount, NumberOrText, one_of};

/// Exchange rates of a currency.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct ForexRates {
    /// The base currency; `USD` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The currencies to answer; all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quotes: Option<Vec<String>>,
    /// Whether to list the sources of each rate; `false` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<bool>,
}

impl ForexRates {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { base: None, quotes: None, provenance: None }
    }
}

impl Method for ForexRates {
    const NAME: &'static str = "forex_rates";
    const SURFACE: &'static str = "forex";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["base", "quotes", "provenance"];
    type Answer = RatesAnswer;
}

/// Converts an amount of one currency to another.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ForexConvert {
    /// The currency of the amount.
    pub from: String,
    /// The currency of the result.
    pub to: String,
    /// Decimal digits as text, or a number whose digits count as they are written; at most 64.
    pub amount: ForexConvertAmount,
}

impl ForexConvert {
    /// With what must be given.
    #[must_use]
    pub fn new(from: impl Into<String>, to: impl Into<String>, amount: impl Into<ForexConvertAmount>) -> Self {
        Self { from: from.into(), to: to.into(), amount: amount.into() }
    }
}

impl Method for ForexConvert {
    const NAME: &'static str = "forex_convert";
    const SURFACE: &'static str = "forex";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["from", "to", "amount"];
    type Answer = ConvertAnswer;
}

/// State of the sources.
///
/// It has no errors of its own: without any rate the answer says so.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct ForexStatus {}

impl ForexStatus {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Method for ForexStatus {
    const NAME: &'static str = "forex_status";
    const SURFACE: &'static str = "forex";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = StatusAnswer;
}

/// Supported currencies, and which of them have a rate now.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct ForexCurrencies {}

impl ForexCurrencies {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Method for ForexCurrencies {
    const NAME: &'static str = "forex_currencies";
    const SURFACE: &'static str = "forex";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = CurrenciesAnswer;
}

/// What the amount is worth.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ConvertAnswer {
    /// By code, of both currencies but the dollar, seconds.
    pub age_seconds_by_currency: std::collections::BTreeMap<String, u64>,
    /// Of the fresher rate, ISO 8601 in UTC.
    #[serde(default)]
    pub as_of: Option<String>,
    /// The same in Unix seconds.
    #[serde(default)]
    pub as_of_unix: Option<u64>,
    /// `from`.
    pub from: String,
    /// Units of `to` for one of `from`, 12 significant digits.
    pub rate: String,
    /// 12 decimal places at most.
    pub result: String,
    /// Whether the rate is older than `stale_after_hours`.
    pub stale: bool,
    /// `to`.
    pub to: String,
}

/// The twenty currencies.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct CurrenciesAnswer {
    /// `available`.
    pub available: Vec<String>,
    /// `currencies`.
    pub currencies: Vec<String>,
    /// `default_base`.
    pub default_base: String,
    /// `missing`.
    pub missing: Vec<String>,
    /// By code, as in `forex_rates`.
    pub missing_reasons: std::collections::BTreeMap<String, String>,
}

one_of! {
/// `ForexConvertAmount` of the descriptions.
ForexConvertAmount {
    Text(String),
    Number(serde_json::Number),
} }

/// Sources of a rate.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RateProvenance {
    /// `method`.
    pub method: String,
    /// Units of the currency for one dollar.
    pub per_usd: String,
    /// `sources`.
    pub sources: Vec<RateSource>,
}

/// The quote of one source.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RateSource {
    /// `age_seconds`.
    pub age_seconds: u64,
    /// `as_of`.
    #[serde(default)]
    pub as_of: Option<String>,
    /// `per_usd`.
    pub per_usd: String,
    /// `used`, `outlier`, `stale` or `stale_beyond_limit`.
    pub role: String,
    /// `source`.
    pub source: String,
}

/// Rates, and how old they are.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RatesAnswer {
    /// By code, of every rate but the base's own, seconds.
    pub age_seconds_by_currency: std::collections::BTreeMap<String, u64>,
    /// Of the freshest rate, ISO 8601 in UTC; `null` where there is none.
    #[serde(default)]
    pub as_of: Option<String>,
    /// The same in Unix seconds.
    #[serde(default)]
    pub as_of_unix: Option<u64>,
    /// `base`.
    pub base: String,
    /// Requested codes without a rate.
    pub missing: Vec<String>,
    /// By code: `no_quotes`, `unsupported` or `stale_beyond_limit`.
    pub missing_reasons: std::collections::BTreeMap<String, String>,
    /// By code, without the dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<std::collections::BTreeMap<String, RateProvenance>>,
    /// By code, units of the currency for one of the base.
    pub rates: std::collections::BTreeMap<String, String>,
    /// Whether even the freshest is older than `stale_after_hours`.
    pub stale: bool,
}

/// A configured source.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SourceAnswer {
    /// When it answered last.
    #[serde(default)]
    pub answered_at: Option<String>,
    /// The time of its freshest rate.
    #[serde(default)]
    pub as_of: Option<String>,
    /// Number of currencies that it quotes.
    pub currencies: u64,
    /// Why the last poll failed.
    #[serde(default)]
    pub failure: Option<String>,
    /// Its kind, as in `\[\[forex.sources\]\]`.
    pub kind: String,
    /// `name`.
    pub name: String,
    /// By code, why a quote was rejected.
    pub refused: std::collections::BTreeMap<String, String>,
}

/// Age of the rates, and state of their sources.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct StatusAnswer {
    /// Of the freshest rate.
    #[serde(default)]
    pub age_seconds: Option<u64>,
    /// `as_of`.
    #[serde(default)]
    pub as_of: Option<String>,
    /// `as_of_unix`.
    #[serde(default)]
    pub as_of_unix: Option<u64>,
    /// Codes that have a rate.
    pub available: Vec<String>,
    /// `sources`.
    pub sources: Vec<SourceAnswer>,
    /// `stale`.
    pub stale: bool,
}
