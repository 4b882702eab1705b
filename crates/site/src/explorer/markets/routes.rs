//! Routes from one alkane to another through pools, and their outputs.

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::Query;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use super::super::alkane::{AlkaneId, Coin, parse_amount};
use super::super::contracts::Token;
use super::super::{Part, Reader, View, text};
use super::pool::coin;
use super::pools::Record;
use crate::api::Call;
use crate::failure::Failure;
use crate::html::Page;

/// Alkanes that the form suggests, and routes that are shown.
const SUGGESTED: u64 = 100;
const ROUTES: u64 = 50;

#[derive(Deserialize)]
pub(super) struct PageQuery {
    from: Option<String>,
    to: Option<String>,
    amount: Option<String>,
}

#[derive(Deserialize)]
struct Tokens {
    tokens: Vec<Token>,
}

#[derive(Deserialize)]
struct Best {
    paths: Vec<BestPath>,
}

#[derive(Deserialize)]
struct BestPath {
    hops: Vec<BestHop>,
    estimated_output: String,
}

#[derive(Deserialize)]
struct BestHop {
    pool: String,
    token_out: String,
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Paths {
    paths: Vec<PathOfPools>,
}

#[derive(Deserialize)]
struct PathOfPools {
    path: Vec<AlkaneId>,
    pools: Vec<Record>,
}

/// A route as a row.
struct Route {
    is_best: bool,
    /// Hops after the first alkane: the pool, and its output.
    hops: Vec<(String, String)>,
    pays: String,
    price: String,
    /// How much lower its output is than the best one.
    behind: String,
}

struct RouteResults {
    from: Coin,
    to: Coin,
    amount: String,
    routes: Vec<Route>,
}

#[derive(Template)]
#[template(path = "explorer/markets/routes.html")]
struct RoutesPage {
    view: View,
    from: String,
    to: String,
    amount: String,
    suggested: Vec<(String, String)>,
    results: Option<Part<RouteResults>>,
}

/// The form, and the routes between the typed alkanes.
pub(super) async fn page(reader: Reader, query: Query<PageQuery>) -> Result<Response, Failure> {
    let typed_text =
        |typed: &Option<String>| typed.as_deref().unwrap_or_default().trim().chars().take(100).collect::<String>();
    let (from, to, amount) = (typed_text(&query.from), typed_text(&query.to), typed_text(&query.amount));
    let body = json!({ "limit": SUGGESTED, "sortBy": "volume", "order": "desc" });
    let tokens: Part<Tokens> = reader.part(Call::rest("get-alkanes", &body)).await?;
    let coins: Vec<(AlkaneId, Coin)> =
        tokens.iter().flat_map(|tokens| &tokens.tokens).map(|token| (token.id, token.coin())).collect();
    let results =
        if from.is_empty() || to.is_empty() { None } else { Some(find(&reader, &coins, (&from, &to, &amount)).await?) };
    let suggested = coins.into_iter().map(|(_, coin)| (coin.id, coin.name)).collect();
    Ok(Page(RoutesPage { from, to, amount, suggested, results, view: reader.view("markets") }).into_response())
}

/// The id that was typed, or that of the most traded alkane with this name or symbol.
fn alkane(typed: &str, coins: &[(AlkaneId, Coin)]) -> Option<AlkaneId> {
    typed.parse().ok().or_else(|| {
        let is_it = |coin: &Coin| coin.symbol.eq_ignore_ascii_case(typed) || coin.name.eq_ignore_ascii_case(typed);
        coins.iter().find(|(_, coin)| is_it(coin)).map(|(id, _)| *id)
    })
}

async fn find(
    reader: &Reader,
    coins: &[(AlkaneId, Coin)],
    (from, to, amount): (&str, &str, &str),
) -> Result<Part<RouteResults>, Failure> {
    let wrong =
        |field: &str| Ok(Err(format!("{field}: there is no such token. Ids are written block:tx, such as 2:0.")));
    let Some(from) = alkane(from, coins) else { return wrong("From") };
    let Some(to) = alkane(to, coins) else { return wrong("To") };
    if from == to {
        return Ok(Err("To: this is the same token.".to_owned()));
    }
    let mut names: BTreeMap<AlkaneId, Coin> = coins.iter().cloned().collect();
    for id in [from, to] {
        if let std::collections::btree_map::Entry::Vacant(entry) = names.entry(id) {
            entry.insert(coin(reader, id).await?);
        }
    }
    let of = |id: AlkaneId| names.get(&id).cloned().unwrap_or_else(|| Coin::unknown(id));
    let (from_coin, to_coin) = (of(from), of(to));
    let units = match parse_amount(if amount.is_empty() { "1" } else { amount }, from_coin.decimals) {
        Ok(units) if units > 0 => units,
        Ok(_) => return Ok(Err("Amount: it is more than nothing.".to_owned())),
        Err(sentence) => return Ok(Err(format!("Amount: {sentence}"))),
    };
    let body = json!({ "token_in": from.to_string(), "token_out": to.to_string(), "amount_in": units.to_string() });
    let best: Part<Best> = reader.part(Call::rest("pathfind", &body)).await?;
    let body = json!({ "tokenAId": from.to_string(), "tokenBId": to.to_string(), "limit": ROUTES });
    let paths: Part<Paths> = reader.part(Call::rest("get-alkane-swap-pair-details", &body)).await?;
    let (best, paths) = match (best, paths) {
        (Err(sentence), Err(_)) => return Ok(Err(sentence)),
        (best, paths) => (
            best.map_or_else(|_| Vec::new(), |best| best.paths),
            paths.map_or_else(|_| Vec::new(), |paths| paths.paths),
        ),
    };
    let routes = routes(&best, &paths, units, (from, &from_coin, &to_coin), &of);
    let amount = from_coin.amount(&units.to_string());
    Ok(Ok(RouteResults { from: from_coin, to: to_coin, amount, routes }))
}

/// The best route as the API answers it, then the others by output.
fn routes(
    best: &[BestPath],
    paths: &[PathOfPools],
    units: u128,
    (from, from_coin, to_coin): (AlkaneId, &Coin, &Coin),
    of: &impl Fn(AlkaneId) -> Coin,
) -> Vec<Route> {
    let symbol = |id: &str| id.parse().map_or_else(|_| text::clean(id, 40), |id| of(id).symbol);
    let pool_of = |id: &str| id.parse::<AlkaneId>().map(|id| id.to_string()).unwrap_or_default();
    let price = |out: u128| {
        let ratio = to_coin.units(&out.to_string()) / from_coin.units(&units.to_string());
        format!("{} {}", text::number(ratio), to_coin.symbol)
    };
    let best_out = best.first().and_then(|path| path.estimated_output.parse::<u128>().ok());
    let mut rows: Vec<(Option<u128>, Route)> = Vec::new();
    let mut seen: Vec<Vec<String>> = Vec::new();
    for path in best.iter().take(1) {
        seen.push(path.hops.iter().map(|hop| hop.pool.clone()).collect());
        let hops = path.hops.iter().map(|hop| {
            let kind = if hop.kind.as_deref() == Some("cryptoswap") { " (CryptoSwap)" } else { "" };
            (pool_of(&hop.pool), format!("{}{kind}", symbol(&hop.token_out)))
        });
        let route = Route {
            is_best: true,
            hops: hops.collect(),
            pays: to_coin.amount(&path.estimated_output),
            price: best_out.map(price).unwrap_or_default(),
            behind: String::new(),
        };
        rows.push((best_out, route));
    }
    let mut others: Vec<(Option<u128>, Route)> = Vec::new();
    for path in paths {
        let pools: Vec<String> = path.pools.iter().map(|pool| pool.pool_id.to_string()).collect();
        if seen.contains(&pools) {
            continue;
        }
        let out = payout(units, from, &path.pools);
        let behind = best_out.zip(out).and_then(|(best, out)| percent_behind(best, out));
        let hops = pools.iter().cloned().zip(path.path.iter().skip(1).map(|id| of(*id).symbol)).collect();
        let route = Route {
            is_best: false,
            hops,
            pays: out.map_or_else(|| "—".to_owned(), |out| to_coin.amount(&out.to_string())),
            price: out.map_or_else(|| "—".to_owned(), price),
            behind: behind.unwrap_or_default(),
        };
        others.push((out, route));
        seen.push(pools);
    }
    others.sort_by_key(|(out, _)| std::cmp::Reverse(*out));
    rows.extend(others);
    rows.into_iter().map(|(_, route)| route).collect()
}

/// Output of a route through constant-product pools, each with its own fee, in base units. `None` where a pool does not match
/// the route, or a number exceeds 128 bits.
fn payout(amount: u128, from: AlkaneId, pools: &[Record]) -> Option<u128> {
    let (mut amount, mut at) = (amount, from);
    for pool in pools {
        let reserves = (pool.token0_amount.parse::<u128>().ok()?, pool.token1_amount.parse::<u128>().ok()?);
        let ((own, other), next) = if pool.token0 == at {
            (reserves, pool.token1)
        } else if pool.token1 == at {
            ((reserves.1, reserves.0), pool.token0)
        } else {
            return None;
        };
        let per_thousand = 1_000_u128.checked_sub(u128::from(pool.fee_per1000?))?;
        let paid = amount.checked_mul(per_thousand)?;
        let all = own.checked_mul(1_000)?.checked_add(paid)?;
        amount = paid.checked_mul(other)?.checked_div(all)?;
        at = next;
    }
    Some(amount)
}

/// Percentage by which an output is lower than the best.
fn percent_behind(best: u128, out: u128) -> Option<String> {
    let parts = best.checked_sub(out)?.checked_mul(10_000)?.checked_div(best)?;
    Some(format!("{} % less", text::amount(parts, 2)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> serde_json::Value {
        let (block, tx) = text.split_once(':').unwrap();
        json!({ "block": block, "tx": tx })
    }

    fn pool(pool: &str, token0: &str, token1: &str, reserves: (&str, &str)) -> Record {
        let record = json!({ "poolId": id(pool), "token0": id(token0), "token1": id(token1), "feePer1000": 10,
            "token0Amount": reserves.0, "token1Amount": reserves.1 });
        serde_json::from_value(record).unwrap()
    }

    #[test]
    fn payouts_are_those_of_the_contract() {
        // Reserves and answers of a development chain's `pathfind`.
        let first = pool("2:8", "2:0", "2:3", ("1805210965", "27494932743"));
        let second = pool("2:6", "2:3", "32:0", ("45583412459", "99331058"));
        let from = "2:0".parse().unwrap();
        assert_eq!(payout(1_000_000, from, &[first]), Some(15_070_296));
        let first = pool("2:8", "2:0", "2:3", ("1805210965", "27494932743"));
        assert_eq!(payout(1_000_000, from, &[first, second]), Some(32_500));
    }

    #[test]
    fn payouts_that_cannot_be_computed_are_left_out() {
        let from: AlkaneId = "2:0".parse().unwrap();
        let most = u128::MAX.to_string();
        assert_eq!(payout(5, from, &[pool("2:8", "2:1", "2:3", ("5", "5"))]), None);
        assert_eq!(payout(5, from, &[pool("2:8", "2:0", "2:3", (&most, &most))]), None);
        assert_eq!(payout(u128::MAX, from, &[pool("2:8", "2:0", "2:3", ("5", "5"))]), None);
        assert_eq!(payout(0, from, &[pool("2:8", "2:0", "2:3", ("0", "0"))]), None);
        assert_eq!(payout(5, from, &[pool("2:8", "2:0", "2:3", ("x", "5"))]), None);
        assert_eq!(percent_behind(200, 150).as_deref(), Some("25 % less"));
        assert_eq!((percent_behind(0, 0), percent_behind(1, 2)), (None, None));
    }

    #[test]
    fn tokens_are_named_by_id_name_or_symbol() {
        let of = |id: &str, name: &str| {
            let id: AlkaneId = id.parse().unwrap();
            (id, Coin::new(id, Some(name), Some("SYM"), None))
        };
        let coins = [of("2:3", "One"), of("2:4", "Other")];
        assert_eq!(alkane("7:7", &coins).map(|id| id.to_string()).as_deref(), Some("7:7"));
        assert_eq!(alkane("other", &coins), Some(coins[1].0));
        assert_eq!(alkane("sym", &coins), Some(coins[0].0));
        assert_eq!(alkane("none", &coins), None);
    }
}
