//! Methods about the node itself.

use serde_json::{Value, json};

use super::params::{Params, RpcError, RpcResult, code};
use super::{METHODS, RpcContext, help_text};

pub(super) fn echo(_: &RpcContext, params: &Params<'_>) -> RpcResult {
    Ok(Value::Array(params.values.clone()))
}

pub(super) fn help(_: &RpcContext, params: &Params<'_>) -> RpcResult {
    if params.get(0).is_none() {
        return Ok(json!(help_text()));
    }
    let name = params.text(0)?;
    Ok(match METHODS.iter().find(|method| method.name == name) {
        Some(method) => json!(method.usage()),
        None => json!(format!("help: unknown command: {}", super::params::excerpt(name))),
    })
}

pub(super) fn set_mock_time(context: &RpcContext, params: &Params<'_>) -> RpcResult {
    let Some(Value::Number(number)) = params.get(0) else { return Err(params.wrong_type(0, "number")) };
    let time = number.as_u64().and_then(|time| u32::try_from(time).ok()).ok_or_else(|| {
        let message = format!("Mocktime must be in the range [0, 4294967295], not {number}.");
        RpcError::new(code::INVALID_PARAMETER, message)
    })?;
    context.node.set_mock_time((time != 0).then_some(u64::from(time)));
    Ok(Value::Null)
}

/// The node lives and dies with the process that holds it, so a client cannot stop it.
pub(super) fn stop(_: &RpcContext, _: &Params<'_>) -> RpcResult {
    Err(RpcError::new(code::MISC, "this node is part of another process: stop that process instead"))
}

pub(super) fn uptime(context: &RpcContext, _: &Params<'_>) -> RpcResult {
    Ok(json!(context.started.elapsed().as_secs()))
}

pub(super) fn get_index_info(context: &RpcContext, params: &Params<'_>) -> RpcResult {
    let wanted = if params.get(0).is_some() { params.text(0)? } else { "" };
    if wanted.is_empty() || wanted == "txindex" {
        let height = context.node.tip().height;
        return Ok(json!({"txindex": {"synced": true, "best_block_height": height}}));
    }
    Ok(json!({}))
}
