//! The page of BRC-20: events of a block, and a form for a ticker, since the API has no list of all tickers.

use askama::Template;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

use super::{Query, encoded, inscription_id, txid_of};
use crate::api::Call;
use crate::explorer::{Part, Reader, View, text};
use crate::failure::Failure;
use crate::html::Page;

/// Decimals of all amounts of the API.
pub(super) const DECIMALS: u32 = 18;
/// Events of a page.
const PAGE: usize = 50;
/// Longest accepted ticker, bytes. Valid ones have at most six.
pub(super) const TICKER_BYTES_MAX: usize = 24;

/// A change of balances.
#[derive(Deserialize)]
pub(super) struct Event {
    #[serde(rename = "event_type")]
    kind: String,
    inscription_id: String,
    height: u32,
    txid: Option<String>,
    original_tick: Option<String>,
    /// Of all but a deployment.
    amount: Option<String>,
    /// Of a deployment.
    max_supply: Option<String>,
    deployer_wallet: Option<String>,
    minted_wallet: Option<String>,
    source_wallet: Option<String>,
    spent_wallet: Option<String>,
}

#[derive(Deserialize)]
struct Events {
    events: Vec<Event>,
    cursor: Option<String>,
}

/// A change of balances, as it is shown.
pub(super) struct EventRow {
    pub(super) kind: &'static str,
    pub(super) inscription: String,
    pub(super) short_inscription: String,
    pub(super) ticker: String,
    pub(super) ticker_path: String,
    pub(super) amount: String,
    pub(super) from: String,
    pub(super) short_from: String,
    pub(super) to: String,
    pub(super) short_to: String,
    pub(super) height: u32,
    pub(super) txid: String,
}

impl EventRow {
    pub(super) fn new(event: Event) -> Self {
        let ticker = event.original_tick.unwrap_or_default();
        let receiver = event.deployer_wallet.or(event.minted_wallet);
        let (from, to) = match event.kind.as_str() {
            "transfer-inscribe" | "transfer-transfer" => (event.source_wallet, event.spent_wallet),
            _ => (None, receiver),
        };
        let wallet = |wallet: Option<String>| text::clean(&wallet.unwrap_or_default(), 100);
        let (from, to) = (wallet(from), wallet(to));
        let inscription = inscription_id(&event.inscription_id).unwrap_or_default();
        Self {
            kind: match event.kind.as_str() {
                "deploy-inscribe" => "Deploy",
                "mint-inscribe" => "Mint",
                "transfer-inscribe" => "Inscribe transfer",
                "transfer-transfer" => "Transfer",
                "predeploy-inscribe" => "Predeploy",
                _ => "Other",
            },
            short_inscription: text::short(&inscription),
            inscription,
            ticker_path: encoded(&ticker),
            ticker: text::clean(&ticker, 20),
            amount: text::amount_text(event.amount.or(event.max_supply).as_deref().unwrap_or_default(), DECIMALS),
            short_from: text::short(&from),
            from,
            short_to: text::short(&to),
            to,
            height: event.height,
            txid: event.txid.as_deref().and_then(txid_of).unwrap_or_default().to_owned(),
        }
    }
}

#[derive(Template)]
#[template(path = "explorer/brc20.html")]
struct Brc20 {
    view: View,
    height: u32,
    events: Part<Vec<EventRow>>,
    first: String,
    after: String,
    earlier: String,
    later: String,
}

/// The page.
pub(crate) async fn page(reader: Reader, query: Query) -> Result<Response, Failure> {
    if let Some(ticker) = query.get("ticker").map(|ticker| ticker.trim()).filter(|ticker| !ticker.is_empty()) {
        if ticker.len() > TICKER_BYTES_MAX {
            return Err(Failure::NotThere("No ticker is as long as this.".to_owned()));
        }
        return Ok(Redirect::to(&format!("/explorer/brc20/{}", encoded(ticker))).into_response());
    }
    let tip = reader.tip().height.unwrap_or(0);
    let height = query.get("block").and_then(|height| height.parse().ok()).unwrap_or(tip);
    let cursor = query.get("from").filter(|cursor| cursor.len() <= 200 && !cursor.is_empty());
    let mut path = format!("/v4/opi/v1/brc20/history?height={height}&limit={PAGE}");
    if let Some(cursor) = cursor {
        path.push_str("&cursor=");
        path.push_str(&encoded(cursor));
    }
    let answer = reader.part::<Events>(Call::get(path)).await?;
    let at = |height: u32| format!("/explorer/brc20?block={height}");
    let after = answer.as_ref().ok().and_then(|answer| answer.cursor.as_deref());
    let page = Brc20 {
        height,
        after: after.map(|cursor| format!("{}&from={}", at(height), encoded(cursor))).unwrap_or_default(),
        first: if cursor.is_some() { at(height) } else { String::new() },
        events: answer.map(|answer| answer.events.into_iter().take(PAGE).map(EventRow::new).collect()),
        earlier: height.checked_sub(1).map(at).unwrap_or_default(),
        later: if height < tip { at(height.saturating_add(1)) } else { String::new() },
        view: reader.view("inscriptions"),
    };
    Ok(Page(page).into_response())
}
