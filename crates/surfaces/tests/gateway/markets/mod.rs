//! Everything about markets, over the development network's market: real transactions, and what they did read from traces
//! and balances by other code than the index's.

mod cryptoswap;
mod histories;
mod hostile;
mod listings;
mod pools;
mod reorg;
mod searches;
mod truth;

use paraffin_gateway::ChainState as _;
use paraffin_primitives::AlkaneId;
use paraffin_surfaces::handlers;
use serde_json::{Value, json};

use crate::instance::{Instance, Setup};
use crate::market_chain;
use truth::{Deed, Truth};

/// A seed whose market has all kinds of operations within few blocks.
const SEED: u64 = 7;
/// Blocks of the setup of the market and of some trade.
const HEIGHT: u32 = 190;

/// A running instance over the market, with the expected operations.
struct MarketFixture {
    instance: Instance,
    truth: Truth,
}

impl MarketFixture {
    async fn open() -> Self {
        let keyed = vec![handlers::udf(), handlers::dexscreener(), handlers::coingecko()];
        let market = Some(market_chain::market_blocks(SEED, HEIGHT));
        let instance = Instance::with(Setup { keyed, market, ..Setup::default() }).await;
        let truth = Truth::read(&instance.state.snapshot(), &instance.chain.blocks);
        Self { instance, truth }
    }

    async fn post(&self, route: &str, body: &Value) -> (u16, Value) {
        post(&self.instance, route, body).await
    }

    /// The data of a route's answer.
    async fn data(&self, route: &str, body: Value) -> Value {
        let (status, answer) = self.post(route, &body).await;
        assert_eq!((status, &answer["statusCode"]), (200, &json!(200)), "{route} {body}: {answer}");
        answer["data"].clone()
    }

    /// The status of a refusal, whose body is checked.
    async fn refusal(&self, route: &str, body: Value) -> u16 {
        let (status, answer) = self.post(route, &body).await;
        assert!(answer["error"].is_string() && answer["code"].is_string(), "{route} {body}: {answer}");
        assert_eq!(answer["statusCode"], json!(status), "{route} {body}");
        status
    }

    /// The address with the most operations of a kind.
    fn busiest(&self, does: impl Fn(&Deed) -> bool) -> String {
        let mut counts = std::collections::BTreeMap::<&str, usize>::new();
        for deed in self.truth.deeds.iter().filter(|deed| deed.successful && does(deed)) {
            *counts.entry(&deed.address).or_default() += 1;
        }
        let busiest = counts.into_iter().max_by_key(|(_, count)| *count).map(|(address, _)| address.to_owned());
        busiest.expect("somebody does it")
    }
}

async fn post(instance: &Instance, route: &str, body: &Value) -> (u16, Value) {
    let response = instance.post(&format!("/v4/api/{route}"), body.to_string()).await;
    (response.status, response.json())
}

fn object(id: AlkaneId) -> Value {
    json!({ "block": id.block.to_string(), "tx": id.tx.to_string() })
}

/// The members of a list, under a name.
fn list<'v>(data: &'v Value, name: &str) -> &'v [Value] {
    data[name].as_array().unwrap_or_else(|| panic!("no {name} in {data}"))
}

/// Every member of `expected` is in `reported` and equal.
#[track_caller]
fn assert_contains(reported: &Value, expected: &Value) {
    for (name, value) in expected.as_object().expect("an object") {
        assert_eq!(&reported[name], value, "{name} of {reported}");
    }
}
