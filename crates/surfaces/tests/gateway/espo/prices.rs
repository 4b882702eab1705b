//! The price of bitcoin, from a source that is set by hand.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use paraffin_prices::{BitcoinPrices, PricePoint, PriceReport, UsdPrice};
use paraffin_surfaces::handlers;
use serde_json::json;

use super::scene::Scene;
use crate::instance::{Instance, Setup};
use crate::market_chain;

/// Prices by their time.
#[derive(Default)]
struct Quotes(Mutex<BTreeMap<u64, u128>>);

fn point((time, price): (&u64, &u128)) -> PricePoint {
    PricePoint { time: *time, price: UsdPrice(*price) }
}

impl BitcoinPrices for Quotes {
    fn current(&self) -> Option<PriceReport> {
        let newest = self.0.lock().unwrap().last_key_value().map(point)?;
        Some(PriceReport { newest, source: "hand".into(), is_stale: false })
    }

    fn at(&self, time: u64) -> Option<PricePoint> {
        self.0.lock().unwrap().range(..=time).next_back().map(point)
    }

    fn range(&self, from: u64, to: u64) -> Vec<PricePoint> {
        self.0.lock().unwrap().range(from..=to).map(point).collect()
    }

    fn volume_day(&self) -> Option<f64> {
        None
    }
}

const PRICE: &str = "ammdata.get_btc_usd_price";

/// row AN15
#[tokio::test]
async fn the_price_is_text_scaled_by_ten_to_the_sixteenth_and_never_that_of_a_later_time() {
    let quotes = Arc::new(Quotes::default());
    let keyed = vec![handlers::espo()];
    let prices = Arc::clone(&quotes) as Arc<dyn BitcoinPrices>;
    let market = Some(market_chain::market_blocks(5, 106));
    let scene =
        Scene { instance: Instance::with(Setup { market, keyed, prices: Some(prices), ..Setup::default() }).await };
    assert_eq!(scene.refused(PRICE, json!([{}])).await, "price_unavailable");
    let time = |height: usize| u64::from(scene.blocks()[height].header.time);
    let (early, late) = (635_720_265_865_300_000_000, 640_000_000_000_000_000_001);
    quotes.0.lock().unwrap().extend([(time(50), early), (time(104) + 1, late)]);
    for params in [json!([{}]), json!({}), json!([]), json!(null)] {
        assert_eq!(scene.result(PRICE, params).await, json!(late.to_string()));
    }
    for (height, expected) in [(106, late), (105, late), (104, early), (50, early)] {
        assert_eq!(scene.result(PRICE, json!({ "height": height })).await, json!(expected.to_string()), "{height}");
        assert_eq!(scene.result(PRICE, json!([{ "height": height }])).await, json!(expected.to_string()));
    }
    assert_eq!(scene.result(PRICE, json!({ "height": "latest" })).await, json!(late.to_string()));
    assert_eq!(scene.refused(PRICE, json!({ "height": 49 })).await, "price_unavailable");
    assert_eq!(scene.refused(PRICE, json!({ "height": 107 })).await, "missing_or_invalid_height");
    assert_eq!(scene.error(PRICE, json!({ "height": -1 })).await, -32602);
    for wrong in [json!([1]), json!([{}, {}]), json!(["x"])] {
        assert_eq!(scene.error(PRICE, wrong).await, -32602);
    }
}

/// row AN15
#[tokio::test]
async fn without_a_source_there_is_no_price() {
    let scene = Scene::start(5, 102).await;
    assert_eq!(scene.refused(PRICE, json!([{}])).await, "price_unavailable");
}
