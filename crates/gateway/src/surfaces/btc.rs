//! `btc_*`: the node's own read methods, through the list of what may pass ([`NODE_METHODS`]).

use std::sync::Arc;

use paraffin_chain::NodeError;
use parking_lot::Mutex;
use serde_json::value::RawValue;
use tracing::Instrument as _;

use super::esplora::accepted;
use super::main_rpc::MethodFamily;
use super::node_cost;
use super::{RpcResult, integer_to_raw, to_raw};
use crate::byte_budget::HeldFor;
use crate::describe::NODE_METHODS;
use crate::errors::RpcError;
use crate::jsonrpc::Params;
use crate::state::{BoxFuture, Caller, Node, RequestContext};

/// Bitcoin Core's code and words for a height that does not exist.
const OUT_OF_RANGE: (i64, &str) = (-8, "Block height out of range");

pub(super) struct BtcFamily;

impl MethodFamily for BtcFamily {
    fn name(&self) -> &'static str {
        "btc"
    }

    fn methods(&self) -> Vec<&'static str> {
        NODE_METHODS.iter().map(|(name, ..)| *name).collect()
    }

    fn takes_large_body(&self, method: &str) -> bool {
        method == "sendrawtransaction"
    }

    fn call<'a>(&'a self, context: &'a RequestContext, method: &'a str, params: Params) -> BoxFuture<'a, RpcResult> {
        Box::pin(async move {
            match method {
                "getblockcount" => block_count(context, &params),
                "getbestblockhash" => best_block_hash(context, &params),
                "getblockhash" => block_hash(context, &params),
                "sendrawtransaction" => {
                    let told = pass(context, method, params.raw()).await?;
                    accepted(context, &params.text(0, "the transaction")?).await;
                    Ok(told)
                }
                method if is_allowed(method) => pass(context, method, params.raw()).await,
                _ => Err(RpcError::method_not_found()),
            }
        })
    }
}

// The first three come from the index, so that they agree with everything else that is answered.

fn block_count(context: &RequestContext, params: &Params) -> RpcResult {
    params.none()?;
    integer_to_raw(context.tip().ok_or_else(RpcError::starting)?.height)
}

fn best_block_hash(context: &RequestContext, params: &Params) -> RpcResult {
    params.none()?;
    to_raw(&context.tip().ok_or_else(RpcError::starting)?.hash)
}

fn block_hash(context: &RequestContext, params: &Params) -> RpcResult {
    params.at_most(1)?;
    let text = params.text(0, "height")?;
    let tip = context.tip().ok_or_else(RpcError::starting)?;
    let is_integer = text.strip_prefix('-').unwrap_or(&text).bytes().all(|digit| digit.is_ascii_digit())
        && !text.is_empty()
        && text != "-";
    if !is_integer {
        return Err(RpcError::invalid_params("height must be an integer"));
    }
    let out_of_range = || RpcError::new(OUT_OF_RANGE.0, OUT_OF_RANGE.1);
    let height: u32 = text.parse().ok().filter(|height| *height <= tip.height).ok_or_else(out_of_range)?;
    let record = context.snapshot().block(height).map_err(|error| RpcError::internal(&error))?;
    to_raw(&record.ok_or_else(out_of_range)?.id.hash)
}

/// Whether a method of the node's may be called by anyone.
pub(super) fn is_allowed(method: &str) -> bool {
    NODE_METHODS.iter().any(|(name, ..)| *name == method)
}

/// Asks the node what a caller asks and hands over what it says, a few calls of all and fewer of one caller at a time.
pub(super) async fn pass(context: &RequestContext, method: &str, params: &[Box<RawValue>]) -> RpcResult {
    node_cost::check(method, params, matches!(context.caller(), Caller::Key(_)))?;
    let permit = context.permit(&context.shared().node_calls).await.ok_or_else(RpcError::panicked)?;
    let held = Arc::new(Mutex::new(context.held_bytes(HeldFor::Node)));
    let (node, method, params) = (Arc::clone(context.node()), method.to_owned(), params.to_vec());
    let bytes_max = context.limits().response_bytes_max;
    // A task of its own holds the permit until the node has answered, for the node goes on when the caller has left.
    let call = async move {
        let _permit = permit;
        let keep = Arc::clone(&held);
        let answer = node.rpc_at_most(&method, &params, bytes_max, Arc::new(move |bytes| keep.lock().reach_now(bytes)));
        (answer.await, held)
    };
    match tokio::spawn(call.in_current_span()).await {
        Ok((Err(NodeError::NoMemory), _)) => {
            context.budget().overload();
            Err(RpcError::panicked())
        }
        Ok((answer, _held)) => answer.map_err(|error| from_node(&error)),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(RpcError::panicked()),
        },
    }
}

/// Asks the node on behalf of all callers, where one answer serves many.
pub(super) async fn ask(node: &dyn Node, method: &str, params: &[Box<RawValue>]) -> RpcResult {
    node.rpc(method, params).await.map_err(|error| from_node(&error))
}

/// Errors of the node's own keep code and message; everything else says only that the node is not available.
pub(super) fn from_node(error: &NodeError) -> RpcError {
    match error {
        NodeError::Rpc { code, message } => RpcError::new(*code, message.clone()),
        NodeError::TooLarge(_) => RpcError::response_too_large(),
        NodeError::NoMemory | NodeError::Unavailable(_) | NodeError::Unauthorized | NodeError::WrongNetwork(_) => {
            RpcError::upstream_unavailable()
        }
        NodeError::Invalid(reason) => {
            tracing::warn!(reason, "the node answered something unusable");
            RpcError::upstream_unavailable()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_changes_reveals_or_blocks_a_node_is_allowed() {
        for forbidden in [
            "stop",
            "addnode",
            "setban",
            "getpeerinfo",
            "getnetworkinfo",
            "getnodeaddresses",
            "generatetoaddress",
            "generateblock",
            "invalidateblock",
            "reconsiderblock",
            "submitblock",
            "submitheader",
            "getblocktemplate",
            "prioritisetransaction",
            "preciousblock",
            "importmempool",
            "savemempool",
            "loadtxoutset",
            "dumptxoutset",
            "pruneblockchain",
            "logging",
            "getrpcinfo",
            "help",
            "signrawtransactionwithkey",
            "signmessagewithprivkey",
            "descriptorprocesspsbt",
            "getbalance",
            "sendtoaddress",
            "createwallet",
            "walletpassphrase",
            "dumpprivkey",
            "waitfornewblock",
            "waitforblock",
            "waitforblockheight",
            "scantxoutset",
            "gettxoutsetinfo",
            "getzmqnotifications",
            "echo",
            "mockscheduler",
            "setmocktime",
            "syncwithvalidationinterfacequeue",
            "getblockfrompeer",
        ] {
            assert!(!is_allowed(forbidden), "{forbidden}");
        }
        assert!(BtcFamily.methods().iter().all(|method| method.bytes().all(|byte| byte.is_ascii_lowercase())));
    }

    #[test]
    fn only_the_nodes_own_errors_tell_their_words() {
        let told = from_node(&NodeError::Rpc { code: -26, message: "bad-txns-inputs-missingorspent".into() });
        assert_eq!((told.code, told.message.as_ref()), (-26, "bad-txns-inputs-missingorspent"));
        for error in [
            NodeError::Unavailable("http://10.0.0.7:8332".into()),
            NodeError::Unauthorized,
            NodeError::Invalid("10.0.0.7".into()),
        ] {
            let told = serde_json::to_string(&from_node(&error)).unwrap();
            assert!(
                told.contains("UPSTREAM_UNAVAILABLE") && told.contains("-32603") && !told.contains("10.0.0.7"),
                "{told}"
            );
        }
    }
}
