//! GET routes about markets (docs/api.md, "Markets").

use schemars::JsonSchema;
use serde::Deserialize;

use super::events::{Activity, SwapPage};
use super::fields::PoolIdText;
use super::histories::{self, Wanted};
use super::pool_record::PoolDetails;
use super::pools::{self, PoolPage};
use super::record::Record;
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::rest::part::Part;
use paraffin_gateway::rest::route::Paths;
use paraffin_gateway::rest::{Changes, Route, Verb};
use paraffin_gateway::state::RequestContext;

/// Pools of the network's factory.
#[derive(Deserialize, JsonSchema)]
pub(super) struct OwnPools {}

impl Route for OwnPools {
    const PATHS: Paths = &[(Verb::Get, "pools")];
    type Answer = PoolPage;

    async fn answer(self, context: &RequestContext, part: Part) -> Result<PoolPage, ApiError> {
        pools::of_own_factory(context, part).await
    }
}

/// One pool with what it is worth.
#[derive(Deserialize, JsonSchema)]
pub(super) struct OnePool {
    id: PoolIdText,
}

impl Route for OnePool {
    const PATHS: Paths = &[(Verb::Get, "pools/{id}")];
    const EXAMPLE: &'static str = r#"{"id":"2:5"}"#;
    const CHANGES: Changes = Changes::WithPrices;
    const MAY_BE_MISSING: bool = true;
    type Answer = Record<PoolDetails>;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Record<PoolDetails>, ApiError> {
        pools::details_of(context, self.id.0, None).await
    }
}

/// The newest 50 events of a pool.
#[derive(Deserialize, JsonSchema)]
pub(super) struct PoolHistory {
    id: PoolIdText,
}

impl Route for PoolHistory {
    const PATHS: Paths = &[(Verb::Get, "pools/{id}/history")];
    const EXAMPLE: &'static str = r#"{"id":"2:5"}"#;
    const MAY_BE_MISSING: bool = true;
    type Answer = Activity;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Activity, ApiError> {
        histories::page(context, Wanted::on_pool(self.id.0)).await
    }
}

/// The newest 50 swaps of a pool.
#[derive(Deserialize, JsonSchema)]
pub(super) struct PoolSwaps {
    id: PoolIdText,
}

impl Route for PoolSwaps {
    const PATHS: Paths = &[(Verb::Get, "pools/{id}/swaps")];
    const EXAMPLE: &'static str = r#"{"id":"2:5"}"#;
    const MAY_BE_MISSING: bool = true;
    type Answer = SwapPage;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<SwapPage, ApiError> {
        histories::page(context, Wanted::on_pool(self.id.0)).await
    }
}
