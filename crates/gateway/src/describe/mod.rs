//! The API's descriptions of itself: an OpenAPI document for REST, OpenRPC documents for the JSON-RPC surfaces, the message
//! files of the views, and pages for browsers (docs/api.md). None needs a key, none is counted, and all answer while the
//! key store is away.
//!
//! Methods and routes are described by the declarations ([`crate::methods`], [`crate::rest::Route`]) that also route them.

#[cfg(test)]
mod clients;
mod esplora;
#[cfg(test)]
mod markdown;
mod openapi;
mod openrpc;
mod page;
mod rest;
mod schema;

use std::sync::LazyLock;

use bytes::Bytes;
use hyper::{Method, StatusCode};
use serde_json::value::RawValue;

use crate::errors::{ApiError, Refusal};
use crate::jsonrpc::Params;
use crate::respond::Reply;
use crate::routes::ErrorForm;
use crate::state::{BoxFuture, RequestContext};
use crate::surfaces::{DECLARED, RpcResult, RpcSurface};

pub(crate) use self::rest::{Field, Route, part};
pub(crate) use self::schema::record;
pub(crate) use crate::methods::DISCOVER;

const VERBS: &str = "GET, HEAD, OPTIONS";

/// Message files by their names.
const PROTOS: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/protos.rs"));

static OPENAPI: LazyLock<Bytes> = LazyLock::new(|| openapi::document(openapi::Tokens::LeftOut).to_string().into());
static OPENAPI_WITH_TOKENS: LazyLock<Bytes> =
    LazyLock::new(|| openapi::document(openapi::Tokens::Described).to_string().into());
static ESPLORA: LazyLock<Bytes> = LazyLock::new(|| esplora::document().to_string().into());
static EXPLORER: LazyLock<Bytes> = LazyLock::new(|| openapi::explorer().to_string().into());
static OPENRPC: LazyLock<Box<RawValue>> = LazyLock::new(|| {
    let text = openrpc::document().to_string();
    // Invariant: a JSON value written down is JSON.
    RawValue::from_string(text).unwrap_or_default()
});

/// One of the descriptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Description {
    /// `/v4/openapi.json`.
    OpenApi,
    /// `/v4/openapi/esplora.json`.
    Esplora,
    /// `/api/v1/openapi.json`.
    Explorer,
    /// `/v4/openrpc.json`.
    OpenRpc,
    /// `/v4/openrpc/<surface>.json`, by its index in [`DECLARED`].
    Surface(usize),
    /// `/`, `/docs` and their parts.
    Page(page::Part),
    /// `/v4/proto/<name>`, by its index in [`PROTOS`].
    Proto(usize),
}

impl Description {
    /// The description at a path.
    pub(crate) fn at(segments: &[&str]) -> Option<Self> {
        match segments {
            ["v4", "openapi.json"] => Some(Self::OpenApi),
            ["v4", "openapi", "esplora.json"] => Some(Self::Esplora),
            ["api", "v1", "openapi.json"] => Some(Self::Explorer),
            ["v4", "openrpc.json"] => Some(Self::OpenRpc),
            ["v4", "openrpc", file] => {
                let name = file.strip_suffix(".json")?;
                DECLARED.iter().position(|surface| surface.name() == name).map(Self::Surface)
            }
            ["v4", "proto", name] => PROTOS.iter().position(|(file, _)| file == name).map(Self::Proto),
            [] => Some(Self::Page(page::Part::Home)),
            // Requested by browsers that open a description itself.
            ["favicon.ico"] => Some(Self::Page(page::Part::Icon)),
            ["docs", part @ ..] => page::Part::at(part).map(Self::Page),
            _ => None,
        }
    }

    /// The answer to a request with this verb. The routes of BRC-20 are described where BRC-20 is indexed.
    pub(crate) fn answer(self, verb: &Method, indexes_tokens: impl FnOnce() -> bool) -> Reply {
        if !matches!(*verb, Method::GET | Method::HEAD) {
            // `/` is a page for browsers and no endpoint: for other verbs it has always answered as an unknown path.
            let is_home = self == Self::Page(page::Part::Home);
            let refusal = if is_home { Refusal::NotFound } else { Refusal::WrongVerb(VERBS) };
            return Reply::refusal(refusal, ErrorForm::Rest);
        }
        match self {
            Self::OpenApi if indexes_tokens() => Reply::json(StatusCode::OK, OPENAPI_WITH_TOKENS.clone()),
            Self::OpenApi => Reply::json(StatusCode::OK, OPENAPI.clone()),
            Self::Esplora => Reply::json(StatusCode::OK, ESPLORA.clone()),
            Self::Explorer => Reply::json(StatusCode::OK, EXPLORER.clone()),
            Self::OpenRpc => Reply::json(StatusCode::OK, Bytes::from_static(OPENRPC.get().as_bytes())),
            Self::Surface(index) => {
                let document = DECLARED.get(index).map(|surface| surface.document()).unwrap_or_default();
                Reply::json(StatusCode::OK, document)
            }
            Self::Page(part) => part.answer(),
            Self::Proto(index) => {
                let text = PROTOS.get(index).map_or("", |(_, text)| *text);
                Reply::text(StatusCode::OK, Bytes::from_static(text.as_bytes()))
            }
        }
    }
}

/// Answers `rpc.discover`.
///
/// # Errors
/// -32602 when there are parameters.
pub(crate) fn discover(params: &Params) -> RpcResult {
    params.none()?;
    if OPENRPC.get() == "null" { Err(ApiError::panicked()) } else { Ok(OPENRPC.clone()) }
}

/// The main JSON-RPC while no caller can be identified: it has no method but `rpc.discover`.
pub(crate) struct Alone;

impl RpcSurface for Alone {
    fn family(&self, _method: &str) -> &'static str {
        "rpc"
    }

    fn call<'a>(&'a self, _context: &'a RequestContext, method: &'a str, params: Params) -> BoxFuture<'a, RpcResult> {
        Box::pin(async move { if method == DISCOVER { discover(&params) } else { Err(ApiError::method_not_found()) } })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::methods::Described;
    use crate::rest::{Base, Group, Verb};
    use crate::surfaces::MainRpc;

    #[test]
    fn no_route_is_declared_twice() {
        let mut seen = BTreeSet::new();
        for route in rest::groups().flat_map(Group::paths) {
            assert!(seen.insert((route.path, route.verb == Verb::Post)), "{} is declared twice", route.path);
        }
    }

    /// Pages that list routes list all of them.
    #[test]
    fn pages_about_surfaces_have_every_route() {
        let pages = [
            (Base::BesideApi, "opi/v1/brc20", include_str!("../../../../docs/api.md")),
            (Base::Keyed, "orderbook", include_str!("../../../../docs/orderbook.md")),
            (Base::Keyed, "udf", include_str!("../../../../docs/listings.md")),
            (Base::Keyed, "dexscreener", include_str!("../../../../docs/listings.md")),
            (Base::Keyed, "coingecko", include_str!("../../../../docs/listings.md")),
            (Base::Explorer, "", include_str!("../../../../docs/verification.md")),
            (Base::Open, "", include_str!("../../../../docs/api.md")),
        ];
        for group in rest::groups().filter(|group| group.base != Base::Api) {
            for route in group.paths() {
                let is_about =
                    |(base, before, _): &&(Base, &str, &str)| *base == group.base && route.path.starts_with(before);
                let (_, before, page) =
                    pages.iter().find(is_about).unwrap_or_else(|| panic!("no page has {}", route.path));
                let below = route.path.strip_prefix(before).unwrap().trim_start_matches('/');
                let written = [format!("/{below}"), format!("/{below}").replace('{', "<").replace('}', ">")];
                assert!(written.iter().any(|path| page.contains(path)), "{} is not in its page", route.path);
            }
        }
    }

    /// Every `$ref` of a document resolves, and every schema is used.
    fn check_references(document: &serde_json::Value) {
        let text = document.to_string();
        let mut used = BTreeSet::new();
        for piece in text.split("\"$ref\":\"#").skip(1) {
            let pointer = piece.split('"').next().unwrap();
            assert!(document.pointer(pointer).is_some(), "{pointer}");
            used.insert(pointer.to_owned());
        }
        for name in document["components"]["schemas"].as_object().unwrap().keys() {
            assert!(used.contains(&format!("/components/schemas/{name}")), "{name} is used nowhere");
        }
    }

    #[test]
    fn references_resolve_and_every_schema_is_used() {
        check_references(&openapi::document(openapi::Tokens::Described));
        check_references(&openapi::document(openapi::Tokens::LeftOut));
        check_references(&openapi::explorer());
        check_references(&esplora::document());
        check_references(&openrpc::document());
        for surface in DECLARED {
            check_references(&serde_json::from_slice(&surface.document()).unwrap());
        }
    }

    #[test]
    fn every_declaration_has_its_sentences_and_an_example_that_can_be_read() {
        let families = MainRpc::families().map(|family| family as &dyn Described);
        for surface in families.chain(DECLARED) {
            assert_eq!(surface.finding(), None, "{}", surface.name());
        }
        for group in rest::groups() {
            assert_eq!(group.finding(), None, "{}", group.tag);
        }
    }

    #[test]
    fn every_message_file_is_served() {
        let mut files: Vec<String> = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../proto"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        assert!(files.contains(&"alkanes.proto".to_owned()));
        assert_eq!(PROTOS.iter().map(|(name, _)| *name).collect::<Vec<_>>(), files);
    }
}
