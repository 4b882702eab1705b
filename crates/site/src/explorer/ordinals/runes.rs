//! The newest runes.

use askama::Template;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use super::rune::Entry;
use super::{Query, encoded, natural};
use crate::api::Call;
use crate::explorer::{Reader, View, text};
use crate::failure::Failure;
use crate::html::{Page, moment};

/// Runes of a page of the API.
const PAGE: usize = 50;

#[derive(Deserialize)]
struct Runes {
    entries: Vec<(String, Entry)>,
    more: bool,
}

struct Row {
    path: String,
    name: String,
    symbol: String,
    id: String,
    supply: String,
    mints: String,
    /// Whether it has terms of minting.
    progress: String,
    age: String,
    moment: String,
}

#[derive(Template)]
#[template(path = "explorer/runes.html")]
struct RunesPage {
    view: View,
    rows: Vec<Row>,
    before: String,
    after: String,
}

/// The page.
pub(crate) async fn page(reader: Reader, query: Query) -> Result<Response, Failure> {
    let page = natural(&query, "page");
    let runes: Runes = reader.ask(Call::rpc("ord_runes", json!([page]))).await?;
    let rows = runes.entries.into_iter().take(PAGE).map(|(id, rune)| Row {
        path: encoded(&rune.spaced_rune),
        name: text::clean(&rune.spaced_rune, 60),
        symbol: rune.symbol(),
        id: text::clean(&id, 30),
        supply: rune.supply().map_or_else(|| "—".to_owned(), |units| rune.amount(units)),
        mints: text::amount(rune.mints, 0),
        progress: rune.progress(),
        age: reader.age(rune.timestamp),
        moment: moment(rune.timestamp.saturating_mul(1_000)),
    });
    let rows = rows.collect();
    let at = |page: u32| format!("/explorer/runes?page={page}");
    let before = page.checked_sub(1).map(at).unwrap_or_default();
    let after = if runes.more { at(page.saturating_add(1)) } else { String::new() };
    Ok(Page(RunesPage { view: reader.view("runes"), rows, before, after }).into_response())
}
