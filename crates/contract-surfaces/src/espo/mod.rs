//! `/v4/<KEY>/espo`: balances, holders, storage, candles, trades and routes as JSON-RPC with named parameters.
//!
//! Two kinds of failure: malformed parameters (no object, a missing member, a wrong JSON type) are -32602; a well-formed call
//! without an answer gets a result `{ok:false, error, hint}`.

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
mod status;
mod trades;

use std::future::Future;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use self::ask::AtHeight;
pub(crate) use self::failure::Failure;
use self::failure::Refusal;
use paraffin_gateway::alkanes::{self, Moment};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::jsonrpc::Params;
use paraffin_gateway::markets::{self, MarketMoment};
use paraffin_gateway::methods::{Declared, Form, Method, Surface};
use paraffin_gateway::state::{BoxFuture, RequestContext};
use paraffin_gateway::surface::{KeyedSurface, RpcResult, RpcSurface};

use paraffin_alkanes::views::ViewError;
use paraffin_primitives::Height;

/// The analytics surface.
#[derive(Default)]
pub(crate) struct Espo {
    counts: keys::KeyCounts,
}

/// The methods of the analytics.
/// `/v4/<KEY>/espo`.
pub static SURFACE: KeyedSurface = KeyedSurface::rpc("espo", &ESPO);

static ESPO: Surface<Espo> =
    Surface::new("espo", &[
        of::<status::Ping>(),
        of::<status::IndexHeight>(),
        of::<balances::AddressBalances>(),
        of::<balances::AddressOutpoints>(),
        of::<balances::OutpointBalances>(),
        of::<spendable::SpendableOutpoints>(),
        of::<holders::Holders>(),
        of::<holders::HoldersCount>(),
        of::<keys::Keys>(),
        of::<status::MarketPing>(),
        of::<candles::Candles>(),
        of::<trades::Trades>(),
        of::<trades::Activity>(),
        of::<pools::Pools>(),
        of::<pools::Factories>(),
        of::<paths::BestSwapPath>(),
        of::<paths::BestCycle>(),
        of::<price::BitcoinPrice>(),
    ])
.introduced("Balances, holders, storage, candles, trades and routes. Parameters are members of an object; the prefix \
        `essentials.` of a method may be left out. What is written well but has no answer is the result `{ok: false, error, hint}`: \
        `error` is a stable word, `hint` says what to do.");

impl RpcSurface for Espo {
    fn family(&self, method: &str) -> &'static str {
        if method.starts_with("ammdata.") { "ammdata" } else { "espo" }
    }

    fn call<'a>(&'a self, context: &'a RequestContext, method: &'a str, params: Params) -> BoxFuture<'a, RpcResult> {
        ESPO.serve(context, self, method, &params)
    }
}

/// A method whose failures may be results.
pub(crate) trait EspoMethod: DeserializeOwned + JsonSchema + Send + 'static {
    const NAME: &'static str;
    const ALIASES: &'static [&'static str] = &[];
    const FORM: Form = Form::Named;
    const EXAMPLE: &'static str;
    type Answer: Serialize + JsonSchema + Send;

    fn answer(
        self,
        context: &RequestContext,
        espo: &Espo,
    ) -> impl Future<Output = Result<Self::Answer, Failure>> + Send;
}

/// An answer or a failure result.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub(crate) enum Outcome<T> {
    Answer(T),
    Refused(Refusal),
}

// A method of the surface as those of every surface are declared; it has the schema of what it wraps.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent, bound = "M: DeserializeOwned")]
struct Fallible<M>(M);

const fn of<M: EspoMethod>() -> Declared<Espo> {
    Declared::of::<Fallible<M>>()
}

impl<M: EspoMethod> Method for Fallible<M> {
    const NAME: &'static str = M::NAME;
    const ALIASES: &'static [&'static str] = M::ALIASES;
    const FORM: Form = M::FORM;
    const EXAMPLE: &'static str = M::EXAMPLE;
    type Surface = Espo;
    type Answer = Outcome<M::Answer>;

    async fn call(self, context: &RequestContext, espo: &Espo) -> Result<Self::Answer, ApiError> {
        match self.0.answer(context, espo).await {
            Ok(answer) => Ok(Outcome::Answer(answer)),
            Err(Failure::Domain(refusal)) => Ok(Outcome::Refused(refusal)),
            Err(Failure::Call(error)) => Err(error),
        }
    }
}

/// Newest height that every method of this instance can answer for.
fn newest(context: &RequestContext) -> Result<Height, Failure> {
    if markets::of(context).is_ok() { Ok(markets::newest(context)?) } else { Ok(alkanes::newest(context)?) }
}

/// Runs a read of contracts as of the requested height.
async fn read<T: Send + 'static>(
    context: &RequestContext,
    height: Option<&AtHeight>,
    work: impl FnOnce(&Moment<'_>) -> Result<T, ViewError> + Send + 'static,
) -> Result<T, Failure> {
    let height = AtHeight::resolve(height, alkanes::newest(context)?)?;
    Ok(alkanes::read(context, Some(height), None, work).await?)
}

/// Runs a read of markets as of the requested height.
async fn read_markets<T: Send + 'static>(
    context: &RequestContext,
    height: Option<&AtHeight>,
    work: impl FnOnce(&MarketMoment<'_>) -> Result<T, ViewError> + Send + 'static,
) -> Result<T, Failure> {
    let height = AtHeight::resolve(height, markets::newest(context)?)?;
    Ok(markets::read(context, Some(height), work).await?)
}
