//! The main JSON-RPC: one endpoint, many families of methods (docs/api.md, "JSON-RPC").

use super::admin::AdminFamily;
use super::alkanes::AlkanesFamily;
use super::btc::BtcFamily;
use super::esplora::EsploraFamily;
use super::lua::LuaFamily;
use super::metashrew::MetashrewFamily;
use super::ord::OrdFamily;
use super::sandshrew::SandshrewFamily;
use super::{RpcResult, RpcSurface};
use crate::describe;
use crate::errors::RpcError;
use crate::jsonrpc::Params;
use crate::state::{BoxFuture, RequestContext};

/// The methods whose names begin with one word and `_`.
pub(super) trait MethodFamily: Send + Sync {
    /// The word, without `_`.
    fn name(&self) -> &'static str;

    /// What may follow the first `_`. A name that is not among them is answered only where it is another way to write one.
    fn methods(&self) -> Vec<&'static str>;

    /// Runs one method; `method` is what follows the first `_`.
    fn call<'a>(&'a self, context: &'a RequestContext, method: &'a str, params: Params) -> BoxFuture<'a, RpcResult>;
}

/// Methods whose body may be as large as a transaction or a block.
const LARGE_BODIES: [&str; 3] = ["btc_sendrawtransaction", "sendrawtransaction", "metashrew_preview"];

pub(crate) struct MainRpc {
    families: Vec<Box<dyn MethodFamily>>,
}

impl MainRpc {
    pub(crate) fn new() -> Self {
        Self {
            families: vec![
                Box::new(BtcFamily),
                Box::new(EsploraFamily),
                Box::new(OrdFamily),
                Box::new(MetashrewFamily),
                Box::new(AlkanesFamily),
                Box::new(SandshrewFamily),
                Box::new(LuaFamily),
                Box::new(AdminFamily),
            ],
        }
    }

    /// The full names of all methods, for their description.
    pub(crate) fn methods(&self) -> Vec<String> {
        let of = |family: &dyn MethodFamily| {
            let name = family.name();
            family.methods().into_iter().map(move |method| format!("{name}_{method}"))
        };
        self.families.iter().flat_map(|family| of(family.as_ref())).collect()
    }

    /// The family and the rest of the name. A name without `_` is one of the node's, but for one view that all clients of
    /// alkanes know by its bare name.
    fn find<'a>(&self, method: &'a str) -> Option<(&dyn MethodFamily, &'a str)> {
        let family = if method == "spendablesbyaddress" { "alkanes" } else { "btc" };
        let (family, rest) = method.split_once('_').unwrap_or((family, method));
        let found = self.families.iter().find(|known| known.name() == family)?;
        Some((found.as_ref(), rest))
    }
}

impl RpcSurface for MainRpc {
    fn family(&self, method: &str) -> &'static str {
        self.find(method).map_or("unknown", |(family, _)| family.name())
    }

    fn takes_large_body(&self, method: &str) -> bool {
        LARGE_BODIES.contains(&method)
    }

    fn call<'a>(&'a self, context: &'a RequestContext, method: &'a str, params: Params) -> BoxFuture<'a, RpcResult> {
        if method == describe::DISCOVER {
            return Box::pin(async move { describe::discover(&params) });
        }
        match self.find(method) {
            Some((family, rest)) => family.call(context, rest, params),
            None => Box::pin(async { Err(RpcError::method_not_found()) }),
        }
    }
}
