//! `/v4/<KEY>/btcusd`: the views of the pool index over JSON-RPC, `metashrew_view` and `metashrew_height` (docs/api.md,
//! "Pool index"). Messages are those of `proto/cryptoswap.proto`, which is to be had at `/v4/proto/cryptoswap.proto`.

use std::sync::Arc;

use paraffin_alkanes::views::{ViewContext, ViewError, bytecode};
use paraffin_alkanes::{ChainState, StateKey, StateReader as _};
use paraffin_cryptoswap::views::{PoolContracts, PoolViews, call, is_known};
use paraffin_cryptoswap::{PoolIndex, PoolRules};
use paraffin_primitives::{AlkaneId, Height};
use serde_json::json;

use super::kept::Kept;
use super::metashrew::{hex_bytes, tag};
use super::{RpcResult, RpcSurface, to_raw};
use crate::alkanes::{self, Fault, hex};
use crate::errors::{RpcError, rpc_code};
use crate::jsonrpc::Params;
use crate::state::{BoxFuture, RequestContext};

/// The pool index as a surface.
pub(super) struct BtcusdRpc {
    rules: Arc<PoolRules>,
    kept: Kept,
}

impl BtcusdRpc {
    pub(super) fn new(rules: PoolRules) -> Self {
        Self { rules: Arc::new(rules), kept: Kept::default() }
    }
}

impl RpcSurface for BtcusdRpc {
    fn family(&self, _method: &str) -> &'static str {
        "btcusd"
    }

    fn call<'a>(&'a self, context: &'a RequestContext, method: &'a str, params: Params) -> BoxFuture<'a, RpcResult> {
        // What is kept needs no more room than its answer: the future that computes one is large.
        match method {
            "metashrew_view" => match self.kept.get(context.snapshot(), &question(&params)) {
                Some(answer) => Box::pin(std::future::ready(Ok(answer))),
                None => Box::pin(self.view(context, params)),
            },
            "metashrew_height" => Box::pin(std::future::ready(height(context, &params))),
            _ => Box::pin(std::future::ready(Err(RpcError::method_not_found()))),
        }
    }
}

/// What is asked, by which answers are kept. No text of JSON is two such texts with a line between them, so two questions never
/// look alike.
fn question(params: &Params) -> String {
    let mut question = String::with_capacity(params.raw().iter().map(|value| value.get().len() + 1).sum());
    for value in params.raw() {
        question.push_str(value.get());
        question.push('\n');
    }
    question
}

fn height(context: &RequestContext, params: &Params) -> RpcResult {
    params.none()?;
    to_raw(&newest(context)?.to_string())
}

impl BtcusdRpc {
    /// `[name, input, tag]`: hexadecimal in, hexadecimal out. Answers are kept, for many ask the same between two blocks.
    async fn view(&self, context: &RequestContext, params: Params) -> RpcResult {
        let answer = self.compute(context, &params).await?;
        self.kept.put(context.snapshot(), &question(&params), &answer);
        Ok(answer)
    }

    async fn compute(&self, context: &RequestContext, params: &Params) -> RpcResult {
        params.at_most(3)?;
        let name = params.text(0, "the name of the view")?;
        if !is_known(&name) {
            return Err(RpcError::method_not_found());
        }
        let payload = match params.optional_text(1, "the input of the view")? {
            Some(text) => hex_bytes(&text, "the input of the view")?,
            None => Vec::new(),
        };
        let newest = newest(context)?;
        let height = tag(context, params, 2)?.unwrap_or(newest);
        if height > newest {
            return Err(Fault::AboveTip { newest }.into());
        }
        let (rules, snapshot) = (Arc::clone(&self.rules), context.snapshot().clone());
        let answer = alkanes::read(context, Some(height), None, move |moment| {
            let contracts = Contracts { view: &moment.view, state: moment.state };
            let index = PoolIndex::at(&snapshot, height);
            let views = PoolViews { index: &index, rules: &rules, contracts: &contracts, is_over: moment.view.is_over };
            call(&name, &payload, &views)
        });
        to_raw(&hex(&answer.await?))
    }
}

/// Newest height of the pool index.
fn newest(context: &RequestContext) -> Result<Height, RpcError> {
    let contracts = alkanes::newest(context)?;
    let pools = PoolIndex::newest(context.snapshot()).map_err(|error| RpcError::internal(&error))?;
    let pools = pools.ok_or_else(|| RpcError {
        data: Some(json!({ "code": "POOLS_NOT_INDEXED" })),
        ..RpcError::new(rpc_code::INTERNAL, "this instance does not index pools")
    })?;
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
