//! `/v4/<KEY>/btcusd`: the views of the pool index over JSON-RPC, `metashrew_view` and `metashrew_height` (seed B, Pool index;
//! `decisions` 9). Messages are those of `proto/cryptoswap.proto`, which is to be had at `/v4/proto/cryptoswap.proto`.

use std::sync::Arc;

use paraffin_alkanes::views::{ViewContext, ViewError, bytecode};
use paraffin_alkanes::{ChainState, StateKey, StateReader as _};
use paraffin_cryptoswap::views::{PoolContracts, PoolViews, call, is_known};
use paraffin_cryptoswap::{PoolIndex, PoolRules};
use paraffin_primitives::{AlkaneId, Height};
use serde_json::json;

use super::metashrew::{hex_bytes, tag};
use super::{RpcResult, RpcSurface, to_raw};
use crate::alkanes::{self, Fault, hex};
use crate::errors::{RpcError, rpc_code};
use crate::jsonrpc::Params;
use crate::state::{BoxFuture, RequestContext};

/// The pool index as a surface.
pub(super) struct BtcusdRpc {
    rules: Arc<PoolRules>,
}

impl BtcusdRpc {
    pub(super) fn new(rules: PoolRules) -> Self {
        Self { rules: Arc::new(rules) }
    }
}

impl RpcSurface for BtcusdRpc {
    fn family(&self, _method: &str) -> &'static str {
        "btcusd"
    }

    fn call<'a>(&'a self, context: &'a RequestContext, method: &'a str, params: Params) -> BoxFuture<'a, RpcResult> {
        Box::pin(async move {
            match method {
                "metashrew_height" => {
                    params.none()?;
                    to_raw(&newest(context)?.to_string())
                }
                "metashrew_view" => self.view(context, &params).await,
                _ => Err(RpcError::method_not_found()),
            }
        })
    }
}

impl BtcusdRpc {
    /// `[name, input, tag]`: hexadecimal in, hexadecimal out.
    async fn view(&self, context: &RequestContext, params: &Params) -> RpcResult {
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
