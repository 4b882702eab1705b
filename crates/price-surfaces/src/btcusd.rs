//! `/v4/<KEY>/btcusd`: the views of the pool index over JSON-RPC, `metashrew_view` and `metashrew_height` (docs/api.md,
//! "Pool index"). Messages are those of `proto/cryptoswap.proto`, served at `/v4/proto/cryptoswap.proto`.

use std::sync::Arc;

use paraffin_alkanes::views::{ViewContext, ViewError, bytecode};
use paraffin_alkanes::{ChainState, StateKey, StateReader as _};
use paraffin_cryptoswap::views::{PoolContracts, PoolViews, call, is_known};
use paraffin_cryptoswap::{PoolIndex, PoolRules};
use paraffin_primitives::{AlkaneId, Height};
use schemars::JsonSchema;
use serde::Deserialize;

use super::answer_cache::AnswerCache;
use paraffin_gateway::alkanes::{self, Fault, hex};
use paraffin_gateway::errors::{ApiError, rpc_code};
use paraffin_gateway::jsonrpc::Params;
use paraffin_gateway::methods::{BlockTag, Declared, ErrorCase, Form, HexBytes, Method, Surface, Text, Written};
use paraffin_gateway::state::{BoxFuture, RequestContext};
use paraffin_gateway::surface::{KeyedSurface, RpcResult, RpcSurface, to_raw};

/// The pool index as a surface.
pub(crate) struct BtcusdRpc {
    rules: Arc<PoolRules>,
    cache: AnswerCache,
}

impl BtcusdRpc {
    pub(crate) fn new(rules: PoolRules) -> Self {
        Self { rules: Arc::new(rules), cache: AnswerCache::default() }
    }
}

/// The methods of the pool index.
/// `/v4/<KEY>/btcusd`.
pub static SURFACE: KeyedSurface = KeyedSurface::rpc("btcusd", &BTCUSD);

static BTCUSD: Surface<BtcusdRpc> = Surface::new("btcusd", &[Declared::of::<View>(), Declared::of::<IndexHeight>()])
    .introduced(
        "The index of the CryptoSwap pool (docs/markets.md). The messages of its views are those of \
        `/v4/proto/cryptoswap.proto`. Parameters stand by position.",
    );

impl RpcSurface for BtcusdRpc {
    fn family(&self, _method: &str) -> &'static str {
        "btcusd"
    }

    fn call<'a>(&'a self, context: &'a RequestContext, method: &'a str, params: Params) -> BoxFuture<'a, RpcResult> {
        // A cached answer avoids the allocation of the large future that computes one.
        let cached = (method == View::NAME).then(|| self.cache.get(context.snapshot(), &question(&params))).flatten();
        match cached {
            Some(answer) => Box::pin(std::future::ready(Ok(answer))),
            None if method == View::NAME => Box::pin(async move {
                let answer = BTCUSD.call(context, self, method, &params).await?;
                self.cache.put(context.snapshot(), &question(&params), &answer);
                Ok(answer)
            }),
            None => BTCUSD.serve(context, self, method, &params),
        }
    }
}

/// Cache key of a call: many callers send the same one between two blocks. No JSON text is two JSON texts with a line break between
/// them, so keys of different calls differ.
fn question(params: &Params) -> String {
    let mut question = String::with_capacity(params.raw().iter().map(|value| value.get().len() + 1).sum());
    for value in params.raw() {
        question.push_str(value.get());
        question.push('\n');
    }
    question
}

const POOLS_NOT_INDEXED: ErrorCase =
    ErrorCase { code: rpc_code::INTERNAL, name: "POOLS_NOT_INDEXED", when: "The instance does not index pools" };

/// The newest height that views answer at, in decimal digits.
#[derive(Deserialize, JsonSchema)]
struct IndexHeight {}

impl Method for IndexHeight {
    const NAME: &'static str = "metashrew_height";
    const FORM: Form = Form::Nothing;
    const EXAMPLE: &'static str = "[]";
    const ERRORS: &'static [ErrorCase] = &[POOLS_NOT_INDEXED];
    type Surface = BtcusdRpc;
    type Answer = String;

    async fn call(self, context: &RequestContext, _surface: &BtcusdRpc) -> Result<String, ApiError> {
        Ok(newest(context)?.to_string())
    }
}

/// A view of the pool index: a protobuf message in and out.
#[derive(Deserialize, JsonSchema)]
struct View {
    /// The name of the view.
    name: Text,
    /// A message in hexadecimal digits, `0x` before them or not; empty when absent.
    input: Option<HexBytes>,
    /// Block to answer as of; the newest when absent.
    tag: Option<BlockTag>,
}

impl Method for View {
    const NAME: &'static str = "metashrew_view";
    const FORM: Form = Form::Positional;
    const EXAMPLE: &'static str = r#"["get_pool_details","0x","latest"]"#;
    const ERRORS: &'static [ErrorCase] = &[POOLS_NOT_INDEXED];
    type Surface = BtcusdRpc;
    type Answer = Written<String>;

    async fn call(self, context: &RequestContext, surface: &BtcusdRpc) -> Result<Self::Answer, ApiError> {
        let (name, payload) = (self.name.0, self.input.unwrap_or_default().0);
        if !is_known(&name) {
            return Err(ApiError::method_not_found());
        }
        let newest = newest(context)?;
        let height = BlockTag::height_of(self.tag.as_ref(), context)?.unwrap_or(newest);
        if height > newest {
            return Err(Fault::AboveTip { newest }.into());
        }
        let (rules, snapshot) = (Arc::clone(&surface.rules), context.snapshot().clone());
        let answer = alkanes::read(context, Some(height), None, move |moment| {
            let contracts = Contracts { view: &moment.view, state: moment.state };
            let index = PoolIndex::at(&snapshot, height);
            let views = PoolViews { index: &index, rules: &rules, contracts: &contracts, is_over: moment.view.is_over };
            call(&name, &payload, &views)
        });
        Ok(Written::raw(to_raw(&hex(&answer.await?))?))
    }
}

/// Newest height of the pool index.
fn newest(context: &RequestContext) -> Result<Height, ApiError> {
    let contracts = alkanes::newest(context)?;
    let pools = PoolIndex::newest(context.snapshot()).map_err(|error| ApiError::internal(&error))?;
    let pools = pools.ok_or_else(|| POOLS_NOT_INDEXED.error("this instance does not index pools"))?;
    Ok(pools.min(contracts))
}

/// The contract index at the height of a view.
struct Contracts<'a> {
    view: &'a ViewContext<'a>,
    state: &'a ChainState,
}

impl PoolContracts for Contracts<'_> {
    fn code(&self, id: AlkaneId) -> Result<Vec<u8>, ViewError> {
        bytecode(id, self.view)
    }

    fn storage(&self, id: AlkaneId, name: &[u8]) -> Result<Option<Vec<u8>>, ViewError> {
        Ok(self.state.get(&StateKey::Storage(id, name.to_vec()))?)
    }
}
