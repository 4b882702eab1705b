//! The page of a BRC-20 token: its terms, holders, and pending transfers.

use askama::Template;
use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::brc20::{DECIMALS, TICKER_BYTES_MAX};
use super::{Query, encoded, inscription_id, natural, share};
use crate::api::Call;
use crate::explorer::{Part, Reader, View, text};
use crate::failure::Failure;
use crate::html::{Page, grouped};

/// Holders of a page, and transfers.
const PAGE: usize = 50;

#[derive(Deserialize)]
struct Summary {
    original_tick: String,
    max_supply: String,
    minted_supply: String,
    remaining_supply: String,
    burned_supply: String,
    limit_per_mint: String,
    decimals: u32,
    is_self_mint: bool,
    deploy_inscription_id: String,
    deploy_block_height: u32,
    deployer_wallet: String,
    holders: u64,
    mints: u64,
    transfers: u64,
}

#[derive(Deserialize)]
struct ResultList<T> {
    unused_txes: Vec<T>,
}

#[derive(Deserialize)]
struct Holder {
    pkscript: String,
    wallet: String,
    overall_balance: String,
    available_balance: String,
}

#[derive(Deserialize)]
struct Waiting {
    current_holder_wallet: String,
    inscription_id: String,
    amount: String,
    genesis_height: u32,
}

struct HolderRow {
    rank: String,
    wallet: Wallet,
    balance: String,
    available: String,
    share: String,
}

struct WaitingRow {
    id: String,
    short_id: String,
    wallet: Wallet,
    amount: String,
    height: u32,
}

/// An address, or a script without one.
struct Wallet {
    address: String,
    short: String,
}

impl Wallet {
    fn new(address: &str, script: &str) -> Self {
        let address = text::clean(address, 100);
        let short = text::short(if address.is_empty() { script } else { &address });
        Self { address, short }
    }
}

#[derive(Template)]
#[template(path = "explorer/brc20_token.html")]
struct Token {
    view: View,
    ticker: String,
    max_supply: String,
    minted: String,
    minted_share: String,
    remaining: String,
    burned: String,
    limit: String,
    decimals: u32,
    is_self_mint: bool,
    deploy: String,
    deploy_height: u32,
    deployer: Wallet,
    holder_count: String,
    mints: String,
    transfers: String,
    holders: Part<Vec<HolderRow>>,
    before: String,
    after: String,
    waiting: Part<Vec<WaitingRow>>,
    waiting_before: String,
    waiting_after: String,
}

/// The page.
pub(crate) async fn page(reader: Reader, Path(ticker): Path<String>, query: Query) -> Result<Response, Failure> {
    if ticker.len() > TICKER_BYTES_MAX {
        return Err(Failure::NotThere("No ticker is as long as this.".to_owned()));
    }
    let encoded_ticker = encoded(&ticker);
    let route = |route: &str, rest: &str| Call::get(format!("/v4/opi/v1/brc20/{route}?ticker={encoded_ticker}{rest}"));
    let summary: Summary = reader.ask(route("token_summary", "")).await?;
    let (page, waiting_page) = (natural(&query, "page"), natural(&query, "transfers"));
    let offset = |page: u32| u64::from(page) * PAGE as u64;
    // One extra row shows whether there is another page.
    let rest = |page: u32| format!("&limit={}&offset={}", PAGE + 1, offset(page));
    let holders = reader.part::<ResultList<Holder>>(route("holders", &rest(page))).await?;
    let waiting =
        reader.part::<ResultList<Waiting>>(route("get_valid_tx_notes_of_ticker", &rest(waiting_page))).await?;
    let at = |page: u32, waiting: u32| format!("/explorer/brc20/{encoded_ticker}?page={page}&transfers={waiting}");
    let has_more = |count: Option<usize>| count.is_some_and(|count| count > PAGE);
    let more = has_more(holders.as_ref().ok().map(|list| list.unused_txes.len()));
    let more_waiting = has_more(waiting.as_ref().ok().map(|list| list.unused_txes.len()));
    let minted = summary.minted_supply.parse().unwrap_or(0);
    let units = |digits: &str| text::amount_text(digits, DECIMALS);
    let holder = |(index, holder): (usize, Holder)| HolderRow {
        rank: grouped(i128::from(offset(page)) + i128::try_from(index).unwrap_or(0) + 1),
        wallet: Wallet::new(&holder.wallet, &holder.pkscript),
        balance: units(&holder.overall_balance),
        available: units(&holder.available_balance),
        share: share(holder.overall_balance.parse().unwrap_or(0), minted),
    };
    let wait = |one: Waiting| WaitingRow {
        id: inscription_id(&one.inscription_id).unwrap_or_default(),
        short_id: text::short(&one.inscription_id),
        wallet: Wallet::new(&one.current_holder_wallet, ""),
        amount: units(&one.amount),
        height: one.genesis_height,
    };
    let max: u128 = summary.max_supply.parse().unwrap_or(0);
    let token = Token {
        ticker: text::clean(&summary.original_tick, 20),
        max_supply: units(&summary.max_supply),
        minted: units(&summary.minted_supply),
        minted_share: share(minted, max),
        remaining: units(&summary.remaining_supply),
        burned: units(&summary.burned_supply),
        limit: units(&summary.limit_per_mint),
        decimals: summary.decimals,
        is_self_mint: summary.is_self_mint,
        deploy: inscription_id(&summary.deploy_inscription_id).unwrap_or_default(),
        deploy_height: summary.deploy_block_height,
        deployer: Wallet::new(&summary.deployer_wallet, "no address"),
        holder_count: grouped(summary.holders),
        mints: grouped(summary.mints),
        transfers: grouped(summary.transfers),
        holders: holders.map(|list| list.unused_txes.into_iter().take(PAGE).enumerate().map(holder).collect()),
        before: page.checked_sub(1).map(|page| at(page, waiting_page)).unwrap_or_default(),
        after: if more { at(page.saturating_add(1), waiting_page) } else { String::new() },
        waiting: waiting.map(|list| list.unused_txes.into_iter().take(PAGE).map(wait).collect()),
        waiting_before: waiting_page.checked_sub(1).map(|waiting| at(page, waiting)).unwrap_or_default(),
        waiting_after: if more_waiting { at(page, waiting_page.saturating_add(1)) } else { String::new() },
        view: reader.view("inscriptions"),
    };
    Ok(Page(token).into_response())
}
