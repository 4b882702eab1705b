//! The page of an alkane: supply, price, holders, pools and trades.

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::{Path, Query};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use super::super::alkane::{AlkaneId, Coin, Links, PageOf, change, worth};
use super::super::chart::{Bar, Caption, Drawing, bars};
use super::super::history::{Event, Events};
use super::super::{Part, Reader, View, text};
use super::{PairRow, Pairs, Token};
use crate::api::Call;
use crate::failure::Failure;
use crate::html::{Page, grouped};

const HOLDERS: u64 = 25;
const TRADES: u64 = 15;
const PAIRS: u64 = 50;

#[derive(Deserialize)]
pub(super) struct PageQuery {
    page: Option<String>,
    trades: Option<String>,
}

#[derive(Deserialize)]
struct Holders {
    total: u64,
    holders: Vec<Holder>,
}

#[derive(Deserialize)]
struct Holder {
    address: String,
    balance: String,
}

struct HolderRow {
    rank: String,
    address: String,
    amount: String,
    share: String,
}

#[derive(Template)]
#[template(path = "explorer/contracts/token.html")]
struct TokenPage {
    view: View,
    coin: Coin,
    facts: Vec<(&'static str, String)>,
    price: String,
    change: Option<String>,
    created: Option<String>,
    holders: Part<(Vec<HolderRow>, Links)>,
    shares: Option<Drawing>,
    pairs: Part<Vec<PairRow>>,
    trades: Part<(Vec<Event>, Links)>,
}

/// An alkane.
pub(super) async fn page(reader: Reader, id: Path<String>, query: Query<PageQuery>) -> Result<Response, Failure> {
    let id = AlkaneId::of_path(&id)?;
    let id_text = id.to_string();
    let token: Token = reader.ask(Call::rest("get-alkane-details", &json!({ "alkaneId": id_text }))).await?;
    let coin = token.coin();
    let of_holders = PageOf::new(query.page.as_deref(), HOLDERS);
    let of_trades = PageOf::new(query.trades.as_deref(), TRADES);
    let body = json!({ "alkaneId": id_text, "limit": HOLDERS, "offset": of_holders.offset() });
    let holders: Part<Holders> = reader.part(Call::rest("get-holders", &body)).await?;
    let body = json!({ "alkaneId": id_text, "limit": PAIRS });
    let pairs: Part<Pairs> = reader.part(Call::rest("get-token-pairs", &body)).await?;
    let body = json!({ "alkaneId": id_text, "limit": TRADES, "offset": of_trades.offset() });
    let trades: Part<Events> = reader.part(Call::rest("get-token-swap-history", &body)).await?;

    let mut coins = BTreeMap::from([(id, coin.clone())]);
    for pair in pairs.iter().flat_map(|pairs| &pairs.pairs) {
        for side in [&pair.token0, &pair.token1] {
            coins.entry(side.alkane_id).or_insert_with(|| side.coin());
        }
    }
    let supply = token.total_supply.as_deref().and_then(|supply| supply.parse().ok());
    let row = |(index, holder): (u64, &Holder)| HolderRow {
        rank: grouped(of_holders.offset() + index + 1),
        address: text::clean(&holder.address, 100),
        amount: coin.digits(&holder.balance),
        share: share(&holder.balance, supply),
    };
    let pages = format!("/explorer/token/{id}?page=");
    let shares = holders.as_ref().ok().and_then(|answer| shares(&coin, &answer.holders, of_holders.offset()));
    let holders = holders.map(|answer| {
        let rows = (0..of_holders.rows()).zip(&answer.holders).map(row).collect();
        (rows, of_holders.links(&pages, answer.total, "#holders"))
    });
    let pages = format!("/explorer/token/{id}?trades=");
    let trades = trades.map(|answer| {
        let links = of_trades.links(&pages, answer.total, "#trades");
        (answer.rows(&reader, &coins), links)
    });
    Ok(Page(TokenPage {
        facts: facts(&token, &coin),
        price: token.price(),
        change: change(token.price_change24h),
        created: token.created_at_height.map(|height| height.to_string()),
        holders,
        shares,
        pairs: pairs.map(|pairs| pairs.pairs.iter().map(PairRow::from).collect()),
        trades,
        coin,
        view: reader.view("tokens"),
    })
    .into_response())
}

/// Names and values of the facts of an alkane.
fn facts(token: &Token, coin: &Coin) -> Vec<(&'static str, String)> {
    let amount = |digits: &Option<String>| digits.as_deref().map(|digits| coin.amount(digits));
    let count = |digits: &Option<String>| {
        digits.as_deref().map(|digits| {
            if digits == u128::MAX.to_string() { "without limit".to_owned() } else { text::amount_text(digits, 0) }
        })
    };
    let money = |dollars: Option<f64>, sats: Option<f64>| dollars.or(sats).map(|_| worth(dollars, sats));
    [
        ("Supply", amount(&token.total_supply)),
        ("Holders", token.holders.map(grouped)),
        ("Market cap", money(token.marketcap, token.marketcap_in_sats)),
        ("Fully diluted", money(token.fdv, token.fdv_in_sats)),
        ("Volume, 1 day", money(token.volume1d_in_usd, token.volume1d_in_sats)),
        ("Volume, 30 days", money(token.volume30d_in_usd, token.volume30d_in_sats)),
        ("Premine", amount(&token.premine)),
        ("Amount of a mint", amount(&token.max)),
        ("Mints", count(&token.minted)),
        ("Mints at most", count(&token.cap)),
        ("Decimals", Some(coin.decimals.to_string())),
    ]
    .into_iter()
    .filter_map(|(name, value)| value.map(|value| (name, value)))
    .collect()
}

/// A bar chart of the holders on a page; `None` for fewer than two.
fn shares(coin: &Coin, holders: &[Holder], before: u64) -> Option<Drawing> {
    let name = |index: u64| grouped(before.saturating_add(index).saturating_add(1));
    let bar = |(index, holder): (u64, &Holder)| Bar { name: name(index), value: coin.units(&holder.balance) };
    let drawn: Vec<Bar> = (0..).zip(holders).map(bar).collect();
    let caption = Caption {
        title: format!("Holders of {}", coin.name),
        description: format!("What each of {} holders has, the largest first, in {}.", drawn.len(), coin.symbol),
    };
    (drawn.len() > 1).then(|| bars(&caption, &drawn))
}

/// Share of an amount in the supply, in percent with two decimals, rounded down.
fn share(amount: &str, supply: Option<u128>) -> String {
    let (Ok(amount), Some(supply)) = (amount.parse::<u128>(), supply.filter(|supply| *supply > 0)) else {
        return "—".to_owned();
    };
    // For very large numbers the lowest digits are negligible.
    let shift = 128_u32.saturating_sub(amount.max(supply).leading_zeros()).saturating_sub(112);
    let (amount, supply) = (amount >> shift, (supply >> shift).max(1));
    let parts = amount * 10_000 / supply;
    if parts == 0 && amount > 0 { "< 0.01 %".to_owned() } else { format!("{} %", text::amount(parts, 2)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_supply() {
        for (amount, supply, expected) in [
            ("50", Some(200), "25 %"),
            ("1", Some(1_000_000), "< 0.01 %"),
            ("0", Some(7), "0 %"),
            ("1", Some(3), "33.33 %"),
            ("340282366920938463463374607431768211455", Some(u128::MAX), "100 %"),
            ("170141183460469231731687303715884105727", Some(u128::MAX), "49.99 %"),
            ("5", Some(0), "—"),
            ("5", None, "—"),
            ("x", Some(5), "—"),
        ] {
            assert_eq!(share(amount, supply), expected);
        }
        assert!(share(&u128::MAX.to_string(), Some(1)).ends_with(" %"));
    }
}
