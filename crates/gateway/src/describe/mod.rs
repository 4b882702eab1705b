//! The API's descriptions of itself: an OpenAPI document for REST, OpenRPC documents for the JSON-RPC surfaces, the message
//! files of the views, and pages for browsers (docs/api.md). None needs a key, none is counted, and all answer while the
//! key store is away.
//!
//! Methods and routes are described by the declarations ([`crate::methods`], [`crate::rest::Route`]) that also route them.

pub mod openapi;
mod openrpc;
mod page;
mod rest;

use std::sync::OnceLock;

use bytes::Bytes;
use hyper::{Method, StatusCode};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::errors::{ApiError, Refusal};
use crate::jsonrpc::Params;
use crate::respond::Reply;
use crate::rest::Group;
use crate::routes::ErrorForm;
use crate::state::{BoxFuture, RequestContext, Shared};
use crate::surface::{KeyedSurface, RpcResult, RpcSurface, Surfaces};

pub use crate::methods::DISCOVER;

const VERBS: &str = "GET, HEAD, OPTIONS";

/// Message files by their names.
const PROTOS: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/protos.rs"));

/// The documents about the surfaces of a build, each made at its first request.
pub struct Descriptions {
    openapi: OnceLock<Bytes>,
    openapi_with_beside: OnceLock<Bytes>,
    openrpc: OnceLock<Box<RawValue>>,
}

impl Descriptions {
    /// None is made yet.
    #[allow(clippy::new_without_default)] // a static needs a constant
    pub const fn new() -> Self {
        Self { openapi: OnceLock::new(), openapi_with_beside: OnceLock::new(), openrpc: OnceLock::new() }
    }
}

impl Surfaces {
    /// All groups of routes: those of the REST data API, then those of other surfaces.
    pub fn groups(&self) -> impl Iterator<Item = &'static Group> {
        let lists = [self.rest, self.beside.groups].into_iter().chain(self.others.iter().copied());
        lists.flatten().copied()
    }

    /// The OpenAPI document of the REST data API, with or without the routes beside it.
    pub fn openapi(&self, with_beside: bool) -> Value {
        openapi::document(self, with_beside)
    }

    /// The OpenRPC document of the main JSON-RPC.
    pub fn openrpc(&self) -> Value {
        openrpc::document(self)
    }

    fn openrpc_text(&self) -> &RawValue {
        self.descriptions.openrpc.get_or_init(|| {
            // Invariant: a JSON value written down is JSON.
            RawValue::from_string(self.openrpc().to_string()).unwrap_or_default()
        })
    }
}

/// A document that a surface declares beside those of the gateway, made at its first request.
pub struct Document {
    path: &'static [&'static str],
    write: fn() -> Value,
    made: OnceLock<Bytes>,
}

impl Document {
    /// The document at a path, by its segments.
    pub const fn new(path: &'static [&'static str], write: fn() -> Value) -> Self {
        Self { path, write, made: OnceLock::new() }
    }

    /// Writes it.
    pub fn write(&self) -> Value {
        (self.write)()
    }

    fn text(&self) -> Bytes {
        self.made.get_or_init(|| self.write().to_string().into()).clone()
    }
}

/// One of the descriptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Description {
    /// `/v4/openapi.json`.
    OpenApi,
    /// One of [`Surfaces::documents`], by its index there.
    Document(usize),
    /// `/v4/openrpc.json`.
    OpenRpc,
    /// `/v4/openrpc/<surface>.json`.
    Surface(&'static KeyedSurface),
    /// `/`, `/docs` and their parts.
    Page(page::Part),
    /// `/v4/proto/<name>`, by its index in the list of those files.
    Proto(usize),
}

impl Description {
    /// The description at a path.
    pub fn at(surfaces: &Surfaces, segments: &[&str]) -> Option<Self> {
        match segments {
            ["v4", "openapi.json"] => Some(Self::OpenApi),
            ["v4", "openrpc.json"] => Some(Self::OpenRpc),
            ["v4", "openrpc", file] => {
                let name = file.strip_suffix(".json")?;
                surfaces.named(name).filter(|surface| surface.methods.is_some()).map(Self::Surface)
            }
            ["v4", "proto", name] => PROTOS.iter().position(|(file, _)| file == name).map(Self::Proto),
            [] => Some(Self::Page(page::Part::Home)),
            // Requested by browsers that open a description itself.
            ["favicon.ico"] => Some(Self::Page(page::Part::Icon)),
            ["docs", part @ ..] => page::Part::at(part).map(Self::Page),
            _ => surfaces.documents.iter().position(|document| document.path == segments).map(Self::Document),
        }
    }

    /// The answer to a request with this verb. The routes beside REST are described where they are served.
    pub fn answer(self, verb: &Method, shared: &Shared) -> Reply {
        if !matches!(*verb, Method::GET | Method::HEAD) {
            // `/` is a page for browsers and no endpoint: for other verbs it has always answered as an unknown path.
            let is_home = self == Self::Page(page::Part::Home);
            let refusal = if is_home { Refusal::NotFound } else { Refusal::WrongVerb(VERBS) };
            return Reply::refusal(refusal, ErrorForm::Rest);
        }
        let surfaces = shared.surfaces;
        let made_once = &surfaces.descriptions;
        let made = |once: &OnceLock<Bytes>, document: fn(&Surfaces) -> Value| {
            let document = once.get_or_init(|| document(surfaces).to_string().into());
            Reply::json(StatusCode::OK, document.clone())
        };
        match self {
            Self::OpenApi if (surfaces.beside.is_served)(shared) => {
                made(&made_once.openapi_with_beside, |surfaces| surfaces.openapi(true))
            }
            Self::OpenApi => made(&made_once.openapi, |surfaces| surfaces.openapi(false)),
            Self::Document(index) => {
                let text = surfaces.documents.get(index).map(|document| document.text()).unwrap_or_default();
                Reply::json(StatusCode::OK, text)
            }
            Self::OpenRpc => Reply::json(StatusCode::OK, Bytes::from_static(surfaces.openrpc_text().get().as_bytes())),
            Self::Surface(surface) => match surface.methods {
                Some(methods) => Reply::json(StatusCode::OK, methods.document()),
                None => Reply::refusal(Refusal::NotFound, ErrorForm::Rest),
            },
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
pub fn discover(context: &RequestContext, params: &Params) -> RpcResult {
    params.none()?;
    let text = context.shared().surfaces.openrpc_text();
    if text.get() == "null" { Err(ApiError::panicked()) } else { Ok(text.to_owned()) }
}

/// The main JSON-RPC while no caller can be identified: it has no method but `rpc.discover`.
pub struct Alone;

impl RpcSurface for Alone {
    fn family(&self, _method: &str) -> &'static str {
        "rpc"
    }

    fn call<'a>(&'a self, context: &'a RequestContext, method: &'a str, params: Params) -> BoxFuture<'a, RpcResult> {
        Box::pin(async move {
            if method == DISCOVER { discover(context, &params) } else { Err(ApiError::method_not_found()) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
