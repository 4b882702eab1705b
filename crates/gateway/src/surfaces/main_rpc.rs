//! The main JSON-RPC: one endpoint, many families of methods (docs/api.md, "JSON-RPC").

use super::admin::ADMIN;
use super::alkanes::ALKANES;
use super::btc::BtcFamily;
use super::esplora::EsploraFamily;
use super::lua::LUA;
use super::metashrew::METASHREW;
use super::ord::OrdFamily;
use super::sandshrew::SandshrewFamily;
use super::{RpcResult, RpcSurface};
use crate::describe;
use crate::errors::RpcError;
use crate::jsonrpc::Params;
use crate::methods::{Described, Surface};
use crate::state::{BoxFuture, RequestContext};

/// The methods whose names begin with one word and `_`.
pub(crate) trait MethodFamily: Send + Sync {
    /// The word, without `_`.
    fn name(&self) -> &'static str;

    /// What may follow the first `_`. A name that is not among them is answered only where it is another way to write one.
    fn methods(&self) -> Vec<&'static str>;

    /// The declarations of the methods, where they are declared.
    fn declared(&self) -> Option<&'static dyn Described> {
        None
    }

    /// Whether the body of a method may be as large as a transaction or a block.
    fn takes_large_body(&self, _method: &str) -> bool {
        false
    }

    /// Runs one method; `method` is what follows the first `_`.
    fn call<'a>(&'a self, context: &'a RequestContext, method: &'a str, params: Params) -> BoxFuture<'a, RpcResult>;
}

/// A family whose methods are declared.
struct DeclaredFamily(&'static Surface<()>);

impl MethodFamily for DeclaredFamily {
    fn name(&self) -> &'static str {
        self.0.name
    }

    fn methods(&self) -> Vec<&'static str> {
        self.0.names().collect()
    }

    fn declared(&self) -> Option<&'static dyn Described> {
        Some(self.0)
    }

    fn takes_large_body(&self, method: &str) -> bool {
        self.0.takes_large_body(method)
    }

    fn call<'a>(&'a self, context: &'a RequestContext, method: &'a str, params: Params) -> BoxFuture<'a, RpcResult> {
        self.0.call(context, &(), method, &params)
    }
}

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
                Box::new(DeclaredFamily(&METASHREW)),
                Box::new(DeclaredFamily(&ALKANES)),
                Box::new(SandshrewFamily),
                Box::new(DeclaredFamily(&LUA)),
                Box::new(DeclaredFamily(&ADMIN)),
            ],
        }
    }

    /// The families, in the order in which they are described.
    pub(crate) fn families(&self) -> impl Iterator<Item = &dyn MethodFamily> {
        self.families.iter().map(AsRef::as_ref)
    }

    /// The full names of all methods.
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
        self.find(method).is_some_and(|(family, rest)| family.takes_large_body(rest))
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
