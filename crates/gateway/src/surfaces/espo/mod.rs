//! `/v4/<KEY>/espo`: balances, holders, storage, candles, trades and routes as JSON-RPC with named parameters.
//! `docs/api.md` describes every method.
//!
//! Two kinds of failure: what a caller wrote wrongly (no object, a missing member, a wrong JSON type) is -32602; what is
//! written well but has no answer is a result `{ok:false, error, hint}`.

mod ask;
mod balances;
mod candles;
mod failure;
mod holders;
mod keys;
mod paths;
mod pools;
mod price;
mod spendable;
mod trades;

use serde_json::json;
use serde_json::value::RawValue;

use self::ask::Ask;
use self::failure::Failure;
use super::{RpcResult, RpcSurface, to_raw};
use crate::alkanes::{self, Moment};
use crate::errors::RpcError;
use crate::jsonrpc::Params;
use crate::markets::{self, MarketMoment};
use crate::state::{BoxFuture, RequestContext};

use paraffin_alkanes::views::ViewError;
use paraffin_primitives::Height;

/// What a method answers.
type Outcome = Result<Box<RawValue>, Failure>;

/// The analytics surface.
#[derive(Default)]
pub(super) struct Espo {
    counts: keys::KeyCounts,
}

/// The methods by what they read.
enum Group<'m> {
    /// Contracts and outputs; the prefix `essentials.` may be left out.
    Essentials(&'m str),
    /// Markets.
    Market(&'m str),
}

fn group(method: &str) -> Group<'_> {
    match method.strip_prefix("ammdata.") {
        Some(name) => Group::Market(name),
        None => Group::Essentials(method.strip_prefix("essentials.").unwrap_or(method)),
    }
}

impl RpcSurface for Espo {
    fn family(&self, method: &str) -> &'static str {
        match group(method) {
            Group::Essentials(_) => "espo",
            Group::Market(_) => "ammdata",
        }
    }

    fn call<'a>(&'a self, context: &'a RequestContext, method: &'a str, params: Params) -> BoxFuture<'a, RpcResult> {
        Box::pin(async move {
            match self.answer(context, method, &params).await {
                Ok(answer) => Ok(answer),
                Err(Failure::Call(error)) => Err(error),
                Err(Failure::Domain(refusal)) => to_raw(&refusal),
            }
        })
    }
}

impl Espo {
    async fn answer(&self, context: &RequestContext, method: &str, params: &Params) -> Outcome {
        match group(method) {
            Group::Essentials("ping") | Group::Market("ping") => {
                check_none(params)?;
                Ok(to_raw(&"pong")?)
            }
            Group::Essentials("get_espo_height") => {
                check_none(params)?;
                Ok(to_raw(&json!({ "height": newest(context)? }))?)
            }
            Group::Essentials(name) => {
                let ask = || Ask::read(params);
                match name {
                    "get_address_balances" => balances::of_address(context, &ask()?).await,
                    "get_address_outpoints" => balances::outpoints(context, &ask()?).await,
                    "get_outpoint_balances" => balances::of_outpoint(context, &ask()?).await,
                    "get_address_spendable_outpoints" => spendable::outpoints(context, &ask()?).await,
                    "get_holders" => holders::page(context, &ask()?).await,
                    "get_holders_count" => holders::count(context, &ask()?).await,
                    "get_keys" => keys::page(context, &ask()?, &self.counts).await,
                    _ => Err(RpcError::method_not_found().into()),
                }
            }
            Group::Market(name) => {
                let ask = || Ask::read(params);
                match name {
                    "get_candles" => candles::page(context, &ask()?).await,
                    "get_trades" => trades::trades(context, &ask()?).await,
                    "get_activity" => trades::activity(context, &ask()?).await,
                    "get_pools" => pools::page(context, &ask()?).await,
                    "get_amm_factories" => pools::factories(context, &ask()?).await,
                    "find_best_swap_path" => paths::best_path(context, &ask()?).await,
                    "get_best_mev_swap" => paths::best_cycle(context, &ask()?).await,
                    "get_btc_usd_price" => price::bitcoin(context, &Ask::read_in_array(params)?).await,
                    _ => Err(RpcError::method_not_found().into()),
                }
            }
        }
    }
}

/// Refuses parameters. An array is none of the ways to write an object, but a shipped client sends an empty one.
fn check_none(params: &Params) -> Result<(), RpcError> {
    if params.is_array() && !params.is_empty() {
        return Err(RpcError::invalid_params(
            "params must be an object or an empty array: this method takes no parameters",
        ));
    }
    params.none()
}

/// Newest height that every method of this instance can be asked about.
fn newest(context: &RequestContext) -> Result<Height, Failure> {
    if markets::of(context).is_ok() { Ok(markets::newest(context)?) } else { Ok(alkanes::newest(context)?) }
}

/// Runs a read of contracts as of the height that is asked about.
async fn read<T: Send + 'static>(
    context: &RequestContext,
    ask: &Ask,
    work: impl FnOnce(&Moment<'_>) -> Result<T, ViewError> + Send + 'static,
) -> Result<T, Failure> {
    let height = ask.height(alkanes::newest(context)?)?;
    Ok(alkanes::read(context, Some(height), None, work).await?)
}

/// Runs a read of markets as of the height that is asked about.
async fn read_markets<T: Send + 'static>(
    context: &RequestContext,
    ask: &Ask,
    work: impl FnOnce(&MarketMoment<'_>) -> Result<T, ViewError> + Send + 'static,
) -> Result<T, Failure> {
    let height = ask.height(markets::newest(context)?)?;
    Ok(markets::read(context, Some(height), work).await?)
}
