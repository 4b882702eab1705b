//! The best way through pools, without envelope (docs/api.md, "Markets").

use paraffin_amm::routing::{self, Fees, HOPS_MAX, HopFee};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fields::{FACTORY, factory_of, require_factory};
use super::problem::read;
use paraffin_gateway::api_types::{AlkaneIdParam, Amount, Count, Digits, FactoryIdParam, IdText, OkTrue};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::rest::part::Part;
use paraffin_gateway::rest::route::{OtherNames, Paths};
use paraffin_gateway::rest::{Route, Verb, Wrapping};
use paraffin_gateway::state::RequestContext;

/// The way through pools that gives most for an amount, with each pool's own fee and rounding.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Pathfind {
    /// What is sold.
    token_in: AlkaneIdParam,
    /// What is bought.
    token_out: AlkaneIdParam,
    /// Base units of what is sold.
    amount_in: Amount,
    /// Pools that the way may lead through; more than 3 is taken as 3, which is meant when absent.
    max_hops: Option<Count>,
    /// The factory; the network's own when absent.
    #[serde(rename = "factoryId")]
    factory: Option<FactoryIdParam>,
    /// Whether the way may lead through `CryptoSwap` pools; true when absent, and never where a factory is named.
    cryptoswap: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct PathfindAnswer {
    ok: OkTrue,
    token_in: IdText,
    token_out: IdText,
    amount_in: Digits,
    paths: Vec<FoundPath>,
}

#[derive(Serialize, JsonSchema)]
struct FoundPath {
    hops: Vec<FoundHop>,
    pools: Vec<IdText>,
    estimated_output: Digits,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct FoundHop {
    pool: IdText,
    token_in: IdText,
    token_out: IdText,
    amount_in: Digits,
    amount_out: Digits,
    kind: PoolKind,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum PoolKind {
    Factory,
    Cryptoswap,
}

impl From<&routing::Route> for FoundPath {
    fn from(route: &routing::Route) -> Self {
        let hops = route.hops.iter().map(|hop| FoundHop {
            pool: IdText(hop.pool),
            token_in: IdText(hop.token_in),
            token_out: IdText(hop.token_out),
            amount_in: Digits(hop.amount_in),
            amount_out: Digits(hop.amount_out),
            kind: if hop.fee == HopFee::Formula { PoolKind::Cryptoswap } else { PoolKind::Factory },
        });
        Self {
            hops: hops.collect(),
            pools: route.hops.iter().map(|hop| IdText(hop.pool)).collect(),
            estimated_output: Digits(route.amount_out()),
        }
    }
}

impl Route for Pathfind {
    const PATHS: Paths = &[(Verb::Post, "pathfind")];
    const EXAMPLE: &'static str = r#"{"token_in":"2:0","token_out":"32:0","amount_in":"100000000"}"#;
    const OTHER_NAMES: OtherNames =
        &[("token_in", &["tokenIn"]), ("token_out", &["tokenOut"]), ("amount_in", &["amountIn"]), FACTORY];
    const WRAPPING: Wrapping = Wrapping::Flat;
    const MAY_BE_MISSING: bool = true;
    const FIELD_ERRORS: &'static [(&'static str, &'static str)] =
        &[("token_in", "invalid_token_format"), ("token_out", "invalid_token_format")];
    type Answer = PathfindAnswer;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<PathfindAnswer, ApiError> {
        let (from, to, amount) = (self.token_in.0, self.token_out.0, self.amount_in.0);
        let hops_max = self.max_hops.map_or(HOPS_MAX, |hops| hops.at_most(HOPS_MAX));
        if self.factory.is_some() && self.cryptoswap == Some(true) {
            let sentence = "a factory means the pools of that factory alone: leave out cryptoswap or the factory";
            return Err(ApiError::invalid(sentence));
        }
        let beside = self.cryptoswap.unwrap_or(self.factory.is_none());
        let factory = factory_of(context, self.factory)?;
        read(context, move |moment| {
            require_factory(moment, factory)?;
            let book = moment.book()?;
            let route = if beside {
                let graph = book.graph_beside(factory, || moment.cryptoswap_routes())?;
                graph.exact_in(from, to, amount, Fees::Pool, hops_max)
            } else {
                book.graph(Some(factory)).exact_in(from, to, amount, Fees::Pool, hops_max)
            };
            Ok(PathfindAnswer {
                ok: OkTrue,
                token_in: IdText(from),
                token_out: IdText(to),
                amount_in: Digits(amount),
                paths: route.iter().map(FoundPath::from).collect(),
            })
        })
        .await
    }
}
