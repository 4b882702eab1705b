//! The page of an address: its holdings and history.

use askama::Template;
use axum::extract::{Path, Query};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use super::holdings::{List, holdings};
use super::rows::{Transaction, TransactionRow, signed_bitcoin};
use super::sides::is_address;
use super::{Pairs, value};
use crate::api::Call;
use crate::explorer::{AskError, Reader, View, text};
use crate::failure::Failure;
use crate::html::{Page, grouped};

/// Confirmed transactions of a page, as the API gives them.
const PAGE_ROWS: usize = 25;
/// Most transactions of a page: the unconfirmed ones come with its first.
const ROWS_MAX: usize = 75;

#[derive(Deserialize)]
struct Stats {
    funded_txo_sum: u64,
    spent_txo_sum: u64,
    tx_count: u64,
}

#[derive(Deserialize)]
struct Totals {
    chain_stats: Stats,
    mempool_stats: Stats,
}

#[derive(Template)]
#[template(path = "explorer/chain/address.html")]
struct AddressPage {
    view: View,
    address: String,
    confirmed: String,
    unconfirmed: String,
    received: String,
    sent: String,
    count: String,
    holdings: Vec<List>,
    history: Vec<TransactionRow>,
    is_first: bool,
    after: String,
}

pub(super) async fn page(
    Path(address): Path<String>,
    Query(query): Query<Pairs>,
    reader: Reader,
) -> Result<Response, Failure> {
    let none = || Failure::NotThere("There is no such address on this network.".to_owned());
    if !is_address(&address) {
        return Err(none());
    }
    let totals: Totals = match reader.ask(Call::rpc("esplora_address", json!([address]))).await {
        Err(AskError::Refused(_)) => return Err(none()),
        totals => totals?,
    };
    let after = value(&query, "after").filter(|after| super::is_hash(after));
    let history = match after {
        None => Call::rpc("esplora_address::txs", json!([address])),
        Some(after) => Call::rpc("esplora_address::txs:chain", json!([address, after])),
    };
    let history: Vec<Transaction> = reader.ask(history).await?;
    let mut confirmed = history.iter().rev().filter(|transaction| transaction.status.confirmed);
    let last = if confirmed.clone().count() >= PAGE_ROWS { confirmed.next() } else { None };
    let holdings = holdings(&address, &reader).await?;
    let Totals { chain_stats: chain, mempool_stats: mempool } = totals;
    let balance = |stats: &Stats| i128::from(stats.funded_txo_sum) - i128::from(stats.spent_txo_sum);
    Ok(Page(AddressPage {
        confirmed: text::bitcoin(u64::try_from(balance(&chain)).unwrap_or_default()),
        unconfirmed: signed_bitcoin(balance(&mempool)),
        received: text::bitcoin(chain.funded_txo_sum),
        sent: text::bitcoin(chain.spent_txo_sum),
        count: grouped(chain.tx_count.saturating_add(mempool.tx_count)),
        holdings,
        history: history
            .iter()
            .take(ROWS_MAX)
            .map(|transaction| TransactionRow::of(transaction, &reader).for_address(transaction, &address))
            .collect(),
        is_first: after.is_none(),
        after: last
            .filter(|last| super::is_hash(&last.txid))
            .map(|last| format!("/explorer/address/{address}?after={}#history", last.txid))
            .unwrap_or_default(),
        address,
        view: reader.view(""),
    })
    .into_response())
}
