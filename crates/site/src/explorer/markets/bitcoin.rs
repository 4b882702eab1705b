//! The price of bitcoin in US dollars: of the price feed, and of the BTC/USD pool.

use askama::Template;
use axum::extract::Query;
use axum::response::{IntoResponse, Response};
use paraffin_cryptoswap::proto::GetPriceResponse;
use serde::Deserialize;
use serde_json::json;

use super::super::alkane::AlkaneId;
use super::super::chart::{Caption, Drawing, Point, line};
use super::super::contracts::decode;
use super::super::history::unix_seconds;
use super::super::{Part, Reader, View, text};
use super::candles::{self, CandleChart, Link, Window};
use super::pool::coin;
use super::pools::Record;
use super::view_messages::{price_request, prices};
use crate::api::Call;
use crate::failure::Failure;
use crate::html::{Page, moment};

/// The BTC/USD pool of the protocol.
const POOL: &str = "4:1778";
/// Periods of the feed's chart, days: the value in the address and in the API, and their titles.
const DAYS: [(&str, &str); 4] = [("1", "1 day"), ("7", "7 days"), ("30", "30 days"), ("365", "1 year")];

#[derive(Deserialize)]
pub(super) struct PageQuery {
    days: Option<String>,
    interval: Option<String>,
    from: Option<String>,
    to: Option<String>,
}

/// The price of the feed.
#[derive(Deserialize)]
pub(super) struct Feed {
    bitcoin: InDollars,
    source: Option<String>,
    timestamp: Option<String>,
    #[serde(default)]
    stale: bool,
}

#[derive(Deserialize)]
struct InDollars {
    usd: f64,
}

impl Feed {
    pub(super) fn price(&self) -> String {
        text::dollars_in_full(self.bitcoin.usd)
    }
}

#[derive(Deserialize)]
struct MarketChart {
    prices: Vec<(i64, f64)>,
}

struct FeedRow {
    price: String,
    source: String,
    age: String,
    moment: String,
    stale: bool,
}

struct PoolPrice {
    title: &'static str,
    price: String,
    meaning: &'static str,
}

#[derive(Template)]
#[template(path = "explorer/markets/bitcoin.html")]
struct BitcoinPage {
    view: View,
    feed: Part<FeedRow>,
    days: Vec<Link>,
    chart: Part<Drawing>,
    pool: &'static str,
    prices: Part<Vec<PoolPrice>>,
    executed: Option<(String, String, String)>,
    candles: Part<CandleChart>,
}

/// The page with the prices of the feed and the pool.
pub(super) async fn page(reader: Reader, query: Query<PageQuery>) -> Result<Response, Failure> {
    let query = query.0;
    let feed: Part<Feed> = reader.part(Call::rest("get-bitcoin-price", &json!({}))).await?;
    let (days, days_title) =
        DAYS.into_iter().find(|(days, _)| query.days.as_deref() == Some(*days)).unwrap_or(("1", "1 day"));
    let chart: Part<MarketChart> =
        reader.part(Call::rest("get-bitcoin-market-chart", &json!({ "days": days }))).await?;
    let id = AlkaneId::of_path(POOL)?;
    let answer: Part<String> = match price_request(id) {
        Some(request) => {
            let params = json!(["getprice", request, "latest"]);
            reader.part(Call::keyed_rpc("btcusd", "metashrew_view", params)).await?
        }
        None => Err("The pool index does not know this pool.".to_owned()),
    };
    let of_index = answer.and_then(|answer| {
        let prices = decode(&answer).and_then(|message| prices(&message));
        prices.ok_or_else(|| format!("There is no pool {POOL} on this chain."))
    });
    let pool: Part<Record> = reader.part(Call::rest("get-pool-details", &json!({ "poolId": POOL }))).await?;
    let (candles, factor) = match &pool {
        Err(sentence) => (Err(sentence.clone()), 1.0),
        Ok(pool) => {
            let coin0 = coin(&reader, pool.token0).await?;
            let coin1 = coin(&reader, pool.token1).await?;
            let window = Window::new(
                query.interval.as_deref(),
                query.from.as_deref(),
                query.to.as_deref(),
                pool.token1.is_frbtc(),
            );
            let address = format!("/explorer/bitcoin-price?days={days}&");
            let chart = candles::read(&reader, id, window, (&coin0, &coin1), &address).await?;
            (chart, coin1.unit() / coin0.unit())
        }
    };
    let executed = of_index.as_ref().ok().and_then(|prices| {
        let time = i64::try_from(prices.executed_timestamp?).ok()?;
        Some((prices.executed_height?.to_string(), reader.age(time), moment(time.saturating_mul(1_000))))
    });
    let prices = match (of_index, &pool) {
        (Ok(prices), _) => Ok(rows(&prices, factor)),
        (Err(sentence), Ok(pool)) if !reader.is_signed_in() => {
            // The price of the newest trade needs no key.
            let price = pool.price.map(|price| (price * factor).recip());
            let mut row = row("Executed", price.filter(|price| price.is_finite()), EXECUTED);
            if row.price == "—" {
                row.price = sentence;
            }
            Ok(vec![row])
        }
        (Err(sentence), _) => Err(sentence),
    };
    let days = DAYS.into_iter().map(|(word, title)| Link {
        title,
        address: format!("/explorer/bitcoin-price?days={word}"),
        is_shown: word == days,
    });
    Ok(Page(BitcoinPage {
        feed: feed.map(|feed| feed_row(&reader, &feed)),
        days: days.collect(),
        chart: chart.map(|chart| draw(&chart.prices, days_title)),
        pool: POOL,
        prices,
        executed,
        candles,
        view: reader.view("markets").refreshing(60),
    })
    .into_response())
}

fn feed_row(reader: &Reader, feed: &Feed) -> FeedRow {
    let time = feed.timestamp.as_deref().and_then(unix_seconds);
    FeedRow {
        price: feed.price(),
        source: text::clean(feed.source.as_deref().unwrap_or_default(), 80),
        age: time.map(|time| reader.age(time)).unwrap_or_default(),
        moment: time.map(|time| moment(time.saturating_mul(1_000))).unwrap_or_default(),
        stale: feed.stale,
    }
}

fn draw(prices: &[(i64, f64)], title: &str) -> Drawing {
    let points: Vec<Point> =
        prices.iter().map(|(ms, value)| Point { time: ms.div_euclid(1_000), value: *value }).collect();
    let caption = Caption {
        title: format!("Bitcoin in US dollars, {title}"),
        description: "Prices of the feed in time.".to_owned(),
    };
    line(&caption, &points)
}

const EXECUTED: &str = "what the newest trade paid, its fee included";

fn rows(prices: &GetPriceResponse, factor: f64) -> Vec<PoolPrice> {
    let dollars = |price: &Option<String>| {
        let price: f64 = price.as_deref()?.parse().ok()?;
        Some((price * 1e-18 * factor).recip()).filter(|price| price.is_finite())
    };
    vec![
        row("Executed", dollars(&prices.executed_price_q), EXECUTED),
        row("Marginal", dollars(&prices.marginal_price_q), "what the pool itself prices the smallest trade at"),
        row(
            "Oracle",
            dollars(&prices.oracle_price_q),
            "the pool's own average of recent prices; slow to move, so hard to manipulate",
        ),
    ]
}

fn row(title: &'static str, dollars: Option<f64>, meaning: &'static str) -> PoolPrice {
    PoolPrice { title, price: dollars.map_or_else(|| "—".to_owned(), text::dollars_in_full), meaning }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_of_the_index_are_turned_into_dollars() {
        let text = |digits: &str| Some(digits.to_owned());
        let prices = GetPriceResponse {
            executed_price_q: text("16514698526847"),
            marginal_price_q: text("0"),
            ..GetPriceResponse::default()
        };
        let rows = rows(&prices, 1.0);
        let shown: Vec<&str> = rows.iter().map(|row| row.price.as_str()).collect();
        assert_eq!(shown, ["$60,552.12", "—", "—"]);
    }
}
