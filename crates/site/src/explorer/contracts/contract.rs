//! The page of a contract.

use askama::Template;
use axum::extract::{Path, Query};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::alkane::{AlkaneId, Coin};
use super::super::{Part, Reader, View, text};
use super::source::Verification;
use super::storage::Storage;
use super::views::{Declared, Outcome};
use super::{PairRow, Pairs, Token, source, storage, views};
use crate::api::Call;
use crate::failure::Failure;
use crate::html::{Page, grouped};

/// Pools and alkanes that are listed.
const PAIRS: u64 = 20;
const HELD_MAX: usize = 50;

#[derive(Deserialize)]
pub(super) struct PageQuery {
    view: Option<String>,
    inputs: Option<String>,
    key: Option<String>,
    keys: Option<String>,
    file: Option<String>,
}

#[derive(Deserialize)]
struct Deployment {
    outpoint: Outpoint,
}

#[derive(Deserialize)]
struct Outpoint {
    txid: Option<String>,
}

#[derive(Deserialize)]
struct Inventory {
    alkanes: Vec<Held>,
}

#[derive(Deserialize)]
struct Held {
    id: AlkaneId,
    value: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PoolRecord {
    #[serde(rename = "type")]
    kind: Option<String>,
    creator_address: Option<String>,
}

#[derive(Template)]
#[template(path = "explorer/contracts/contract.html")]
struct Contract {
    view: View,
    coin: Coin,
    symbol: String,
    kind: &'static str,
    is_pool: bool,
    created: Option<String>,
    txid: Part<Option<String>>,
    creator: String,
    code_size: Part<String>,
    supply: Option<String>,
    holders: Option<String>,
    pairs: Part<Vec<PairRow>>,
    held: Part<Vec<(String, String)>>,
    declared: Declared,
    typed: views::Typed,
    outcome: Option<Part<Outcome>>,
    key: String,
    storage: Storage,
    source: Part<Verification>,
}

/// A contract: facts, views, and storage.
pub(super) async fn page(reader: Reader, id: Path<String>, query: Query<PageQuery>) -> Result<Response, Failure> {
    let id = AlkaneId::of_path(&id)?;
    let query = query.0;
    let id_text = id.to_string();
    let token: Token = reader.ask(Call::rest("get-alkane-details", &json!({ "alkaneId": id_text }))).await?;
    let pool: Part<PoolRecord> = reader.part(Call::rest("get-pool-details", &json!({ "poolId": id_text }))).await?;
    let deployment: Part<Deployment> = reader.part(Call::rpc("alkanes_getdeployment", json!([id_text]))).await?;
    let code: Part<String> = reader.part(Call::rpc("alkanes_getbytecode", json!([id_text]))).await?;
    let meta: Part<Value> = reader.part(Call::rpc("alkanes_meta", json!([id_text]))).await?;
    let inventory: Part<Inventory> = reader.part(Call::rpc("alkanes_getinventory", json!([id_text]))).await?;
    let pairs = json!({ "alkaneId": id_text, "limit": PAIRS });
    let pairs: Part<Pairs> = reader.part(Call::rest("get-token-pairs", &pairs)).await?;
    let typed = views::Typed { view: typed_text(query.view), inputs: typed_text(query.inputs) };
    let outcome = if typed.view.is_empty() { None } else { Some(views::call(&reader, id, &typed).await?) };
    let stored = storage::Typed { key: typed_text(query.key), page: query.keys };
    let storage = storage::read(&reader, id, &stored).await?;
    let source = source::read(&reader, id, query.file.as_deref()).await?;

    let coin = token.coin();
    let pool = pool.ok();
    let kind = match &pool {
        Some(pool) if pool.kind.as_deref() == Some("cryptoswap") => "CryptoSwap pool",
        Some(_) => "Constant-product pool",
        None if token.total_supply.is_some() => "Token",
        None => "Contract",
    };
    Ok(Page(Contract {
        symbol: token.symbol.as_deref().map(|symbol| text::clean(symbol, 40)).unwrap_or_default(),
        kind,
        is_pool: pool.is_some(),
        created: token.created_at_height.map(|height| height.to_string()),
        txid: deployment.map(|deployment| deployment.outpoint.txid.filter(|txid| is_txid(txid))),
        creator: pool
            .and_then(|pool| pool.creator_address)
            .map(|address| text::clean(&address, 100))
            .unwrap_or_default(),
        code_size: code.map(|code| grouped((code.len().saturating_sub(2) / 2) as u64)),
        supply: token.total_supply.as_deref().map(|supply| coin.amount(supply)),
        holders: token.holders.map(grouped),
        pairs: pairs.map(|pairs| pairs.pairs.iter().map(PairRow::from).collect()),
        held: inventory.map(|inventory| {
            let row = |held: &Held| (held.id.to_string(), text::amount_text(&held.value, 0));
            inventory.alkanes.iter().take(HELD_MAX).map(row).collect()
        }),
        declared: Declared::of(meta.ok().as_ref()),
        typed,
        outcome,
        key: stored.key,
        storage,
        source,
        coin,
        view: reader.view("contracts"),
    })
    .into_response())
}

/// The text of a field, trimmed and cut.
fn typed_text(typed: Option<String>) -> String {
    typed.unwrap_or_default().chars().take(2_100).collect()
}

fn is_txid(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
