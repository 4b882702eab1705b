//! Rates between currencies, with their ages and sources.

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::Query;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use super::super::history::unix_seconds;
use super::super::{Part, Reader, View, text};
use crate::api::Call;
use crate::failure::Failure;
use crate::html::{Page, grouped, moment};

#[derive(Deserialize)]
pub(super) struct PageQuery {
    base: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Quotes {
    base: String,
    pub(super) rates: BTreeMap<String, String>,
    #[serde(default)]
    age_seconds_by_currency: BTreeMap<String, i64>,
    #[serde(default)]
    missing_reasons: BTreeMap<String, String>,
    #[serde(default)]
    stale: bool,
    as_of_unix: Option<i64>,
    provenance: Option<BTreeMap<String, Provenance>>,
}

#[derive(Deserialize)]
struct Provenance {
    method: Option<String>,
    #[serde(default)]
    sources: Vec<Quote>,
}

#[derive(Deserialize)]
struct Quote {
    source: String,
    role: Option<String>,
}

#[derive(Deserialize)]
struct Status {
    #[serde(default)]
    available: Vec<String>,
    #[serde(default)]
    sources: Vec<Source>,
}

#[derive(Deserialize)]
struct Source {
    name: String,
    kind: Option<String>,
    currencies: Option<u64>,
    as_of: Option<String>,
    answered_at: Option<String>,
    failure: Option<String>,
}

struct Row {
    code: String,
    rate: String,
    inverse: String,
    age: String,
    sources: String,
}

struct SourceRow {
    name: String,
    kind: String,
    currencies: String,
    as_of: (String, String),
    answered: (String, String),
    failure: String,
}

struct Table {
    base: String,
    stale: bool,
    as_of: Option<(String, String)>,
    rows: Vec<Row>,
    missing: Vec<(String, String)>,
}

#[derive(Template)]
#[template(path = "explorer/markets/rates.html")]
struct RatesPage {
    view: View,
    base: String,
    choices: Vec<String>,
    table: Part<Table>,
    sources: Part<Vec<SourceRow>>,
}

/// All rates against one currency.
pub(super) async fn page(reader: Reader, query: Query<PageQuery>) -> Result<Response, Failure> {
    let base = code(query.0.base.as_deref().unwrap_or_default());
    let status: Part<Status> = reader.part(Call::keyed_rpc("forex", "forex_status", json!({}))).await?;
    let params = json!({ "base": base, "provenance": true });
    let rates: Part<Quotes> = reader.part(Call::keyed_rpc("forex", "forex_rates", params)).await?;
    let choices = status.as_ref().map_or_else(
        |_| Vec::new(),
        |status| {
            let codes = status.available.iter().take(100).map(|currency| code(currency));
            codes.collect::<Vec<_>>()
        },
    );
    let sources = status.map(|status| status.sources.iter().take(50).map(|source| source.row(&reader)).collect());
    let table = rates.map(|rates| table(&reader, &rates));
    Ok(Page(RatesPage { base, choices, table, sources, view: reader.view("markets").refreshing(60) }).into_response())
}

/// Three capital letters; `USD` for anything else.
fn code(typed: &str) -> String {
    let code = typed.trim().to_ascii_uppercase();
    if code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_uppercase()) { code } else { "USD".to_owned() }
}

fn table(reader: &Reader, rates: &Quotes) -> Table {
    let row = |(code, rate): (&String, &String)| Row {
        rate: text::clean(rate, 40),
        inverse: rate.parse::<f64>().map_or_else(|_| "—".to_owned(), |rate| text::number(rate.recip())),
        age: rates.age_seconds_by_currency.get(code).map(|seconds| lasted(*seconds)).unwrap_or_default(),
        sources: rates.provenance.as_ref().and_then(|of| of.get(code)).map(Provenance::sentence).unwrap_or_default(),
        code: text::clean(code, 8),
    };
    Table {
        base: text::clean(&rates.base, 8),
        stale: rates.stale,
        as_of: rates.as_of_unix.map(|time| (reader.age(time), moment(time.saturating_mul(1_000)))),
        rows: rates.rates.iter().filter(|(code, _)| **code != rates.base).take(200).map(row).collect(),
        missing: rates
            .missing_reasons
            .iter()
            .take(200)
            .map(|(code, reason)| (text::clean(code, 8), text::clean(reason, 60).replace('_', " ")))
            .collect(),
    }
}

/// A duration in seconds as text.
fn lasted(seconds: i64) -> String {
    crate::html::age(seconds.saturating_mul(1_000), 0)
}

impl Provenance {
    fn sentence(&self) -> String {
        let names: Vec<String> = self
            .sources
            .iter()
            .take(10)
            .map(|quote| match quote.role.as_deref() {
                None | Some("used") => text::clean(&quote.source, 40),
                Some(role) => {
                    format!("{} ({})", text::clean(&quote.source, 40), text::clean(role, 24).replace('_', " "))
                }
            })
            .collect();
        let method = text::clean(self.method.as_deref().unwrap_or_default(), 24);
        let method = if names.len() > 1 && !method.is_empty() { format!("{method} of ") } else { String::new() };
        format!("{method}{}", names.join(", "))
    }
}

impl Source {
    fn row(&self, reader: &Reader) -> SourceRow {
        let time = |moment_text: &Option<String>| {
            let time = moment_text.as_deref().and_then(unix_seconds);
            time.map(|time| (reader.age(time), moment(time.saturating_mul(1_000)))).unwrap_or_default()
        };
        SourceRow {
            name: text::clean(&self.name, 60),
            kind: text::clean(self.kind.as_deref().unwrap_or_default(), 40),
            currencies: self.currencies.map(grouped).unwrap_or_default(),
            as_of: time(&self.as_of),
            answered: time(&self.answered_at),
            failure: text::clean(self.failure.as_deref().unwrap_or_default(), 200),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_three_letters() {
        assert_eq!((code(" eur ").as_str(), code("euro").as_str(), code("<b>").as_str()), ("EUR", "USD", "USD"));
    }

    #[test]
    fn sources_that_do_not_count_say_why() {
        let of = |sources: serde_json::Value| {
            let value = json!({ "method": "median", "sources": sources });
            serde_json::from_value::<Provenance>(value).unwrap().sentence()
        };
        assert_eq!(of(json!([{ "source": "ecb", "role": "used" }])), "ecb");
        let two = json!([{ "source": "ecb", "role": "used" }, { "source": "b\u{202e}", "role": "stale_beyond_limit" }]);
        assert_eq!(of(two), "median of ecb, b (stale beyond limit)");
        assert_eq!(lasted(7_200), "2 hours ago");
    }
}
