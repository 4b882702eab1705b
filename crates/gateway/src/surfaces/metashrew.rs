//! `metashrew_*`, as far as it needs no contract index.

use super::main_rpc::MethodFamily;
use super::{RpcResult, to_raw};
use crate::errors::RpcError;
use crate::jsonrpc::Params;
use crate::state::{BoxFuture, RequestContext};

pub(super) struct MetashrewFamily;

impl MethodFamily for MetashrewFamily {
    fn name(&self) -> &'static str {
        "metashrew"
    }

    fn call<'a>(&'a self, context: &'a RequestContext, method: &'a str, params: Params) -> BoxFuture<'a, RpcResult> {
        Box::pin(async move {
            match method {
                "height" => height(context, &params),
                _ => Err(RpcError::method_not_found()),
            }
        })
    }
}

/// The indexed height as a decimal string (`decisions` 3.4).
fn height(context: &RequestContext, params: &Params) -> RpcResult {
    params.none()?;
    to_raw(&context.tip().ok_or_else(RpcError::starting)?.height.to_string())
}
