//! The newest inscriptions.

use askama::Template;
use axum::response::{IntoResponse, Response};
use data_encoding::BASE64;
use serde::Deserialize;
use serde_json::json;

use super::kind::Kind;
use super::{Outcome, Query, inscription_id, natural, together};
use crate::api::Call;
use crate::explorer::{Reader, View, text};
use crate::failure::Failure;
use crate::html::{Page, grouped, moment};

/// Inscriptions of one page, a divisor of the API's hundred.
const PAGE: u32 = 20;
const API_PAGE: u32 = 100;
/// Longest text whose beginning is shown, bytes, and how much of it, characters.
const TEXT_BYTES_MAX: u64 = 4_096;
const TEXT_SHOWN: usize = 120;

#[derive(Deserialize)]
struct Ids {
    ids: Vec<String>,
    more: bool,
}

#[derive(Deserialize)]
struct Inscription {
    id: String,
    number: i64,
    effective_content_type: Option<String>,
    content_length: Option<u64>,
    timestamp: i64,
}

/// An inscription in the list.
struct Piece {
    id: String,
    number: String,
    /// Shown by itself.
    is_image: bool,
    /// Likely pixel art by its size, rendered without smoothing.
    is_small: bool,
    /// The beginning of a text.
    text: String,
    /// The kind of content in a word.
    kind: &'static str,
    age: String,
    moment: String,
}

#[derive(Template)]
#[template(path = "explorer/inscriptions.html")]
struct Inscriptions {
    view: View,
    pieces: Vec<Piece>,
    before: String,
    after: String,
}

/// The page.
pub(crate) async fn page(reader: Reader, query: Query) -> Result<Response, Failure> {
    let page = natural(&query, "page");
    let start = u64::from(page) * u64::from(PAGE);
    let ids: Ids = reader.ask(Call::rpc("ord_inscriptions", json!([start / u64::from(API_PAGE)]))).await?;
    let skipped = usize::try_from(start % u64::from(API_PAGE)).unwrap_or(usize::MAX);
    let rest = ids.ids.iter().skip(skipped).filter_map(|id| inscription_id(id));
    let shown: Vec<String> = rest.take(PAGE as usize).collect();
    let has_more = ids.more || ids.ids.len() > skipped.saturating_add(PAGE as usize);

    let calls = shown.iter().map(|id| ("ord_inscription", json!([id])));
    let outcomes: Vec<Outcome<Inscription>> =
        if shown.is_empty() { Vec::new() } else { reader.ask(together(calls)).await? };
    let listed: Vec<Inscription> = outcomes.into_iter().filter_map(|outcome| outcome.result).collect();
    let texts = texts(&reader, &listed).await?;
    let pieces = listed.into_iter().map(|one| {
        let named = one.effective_content_type.unwrap_or_default();
        let kind = Kind::of(&named);
        Piece {
            number: grouped(one.number),
            is_small: one.content_length.is_none_or(|length| length <= super::SMALL_BYTES_MAX),
            is_image: matches!(kind, Kind::Image(_) | Kind::Svg),
            text: texts.iter().find(|(id, _)| *id == one.id).map(|(_, text)| text.clone()).unwrap_or_default(),
            kind: if named.is_empty() { "no content" } else { kind.word() },
            age: reader.age(one.timestamp),
            moment: moment(one.timestamp.saturating_mul(1_000)),
            id: inscription_id(&one.id).unwrap_or_default(),
        }
    });
    let pieces = pieces.collect();
    let at = |page: u32| format!("/explorer/inscriptions?page={page}");
    let before = page.checked_sub(1).map(at).unwrap_or_default();
    let after = if has_more { at(page.saturating_add(1)) } else { String::new() };
    Ok(Page(Inscriptions { view: reader.view("inscriptions"), pieces, before, after }).into_response())
}

/// The beginnings of short texts, by inscription.
async fn texts(reader: &Reader, inscriptions: &[Inscription]) -> Result<Vec<(String, String)>, Failure> {
    let wanted: Vec<&Inscription> = inscriptions
        .iter()
        .filter(|one| {
            matches!(Kind::of(one.effective_content_type.as_deref().unwrap_or_default()), Kind::Text(_))
                && one.content_length.is_some_and(|length| length <= TEXT_BYTES_MAX)
        })
        .collect();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let calls = wanted.iter().map(|one| ("ord_content", json!([one.id])));
    let contents = reader.part::<Vec<Outcome<String>>>(together(calls)).await?.unwrap_or_default();
    let texts = wanted.iter().zip(contents).filter_map(|(one, content)| {
        let bytes = BASE64.decode(content.result?.as_bytes()).ok()?;
        let text = text::clean(std::str::from_utf8(&bytes).ok()?, TEXT_SHOWN);
        Some((one.id.clone(), text))
    });
    Ok(texts.collect())
}
