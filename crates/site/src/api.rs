//! The pages' access to the instance: the public methods and routes, called in the same process.

use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use hyper::StatusCode;
use paraffin_webhooks::Webhooks;
use serde_json::{Value, json};

/// A boxed future of an [`Api`].
pub type ApiFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Placeholder of a key in the path of a [`Call`].
pub const KEY_PLACEHOLDER: &str = "KEY";

/// A request to the API of this instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Path and query, with [`KEY_PLACEHOLDER`] instead of a key.
    pub path: String,
    /// The body of a POST; without one it is a GET.
    pub body: Option<String>,
}

impl Call {
    /// A method of the main JSON-RPC.
    pub fn rpc(method: &str, params: Value) -> Self {
        Self::at("/v4/jsonrpc".to_owned(), method, params)
    }

    /// A method of a JSON-RPC surface below a key, such as `espo`.
    pub fn keyed_rpc(surface: &str, method: &str, params: Value) -> Self {
        Self::at(format!("/v4/{KEY_PLACEHOLDER}/{surface}"), method, params)
    }

    #[allow(clippy::needless_pass_by_value)] // calls read better with values made in place
    fn at(path: String, method: &str, params: Value) -> Self {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        Self { path, body: Some(body.to_string()) }
    }

    /// A route of the REST data API, such as `get-pools`.
    pub fn rest(route: &str, body: &Value) -> Self {
        Self { path: format!("/v4/api/{route}"), body: Some(body.to_string()) }
    }

    /// A GET of a path and a query.
    pub fn get(path: impl Into<String>) -> Self {
        Self { path: path.into(), body: None }
    }

    /// Whether a caller needs a key for it.
    pub fn needs_key(&self) -> bool {
        self.path.split(['/', '?']).any(|segment| segment == KEY_PLACEHOLDER)
    }
}

/// An answer of the API.
#[derive(Debug, Clone)]
pub struct ApiAnswer {
    /// HTTP status.
    pub status: StatusCode,
    /// Seconds after which a refused request may be retried.
    pub retry_after: Option<u32>,
    /// The body as sent to callers.
    pub body: Bytes,
}

impl ApiAnswer {
    /// An answer without a body.
    pub fn refused(status: StatusCode) -> Self {
        Self { status, retry_after: None, body: Bytes::new() }
    }
}

/// The newest block of the index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tip {
    /// Name of the network, such as `mainnet`.
    pub network: String,
    /// Height; `None` while nothing is indexed.
    pub height: Option<u32>,
    /// Hash in display order; `None` also where the gateway has no index of its own.
    pub hash: Option<String>,
    /// Time of the block, Unix seconds.
    pub time: Option<i64>,
}

impl Tip {
    /// A text that is unique to each tip.
    pub fn id(&self) -> String {
        let height = self.height.map(|height| height.to_string()).unwrap_or_default();
        format!("{height}-{}", self.hash.as_deref().unwrap_or_default())
    }
}

/// Memory that a part of the instance may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryBudget {
    /// Purpose of the memory.
    pub name: &'static str,
    /// Bytes in use.
    pub used: u64,
    /// Limit, bytes.
    pub max: u64,
}

/// The API of the instance, for one page. Its limits are those of the caller of the page.
pub trait Api: Send + Sync {
    /// Answers a request.
    fn ask(&self, call: Call) -> ApiFuture<'_, ApiAnswer>;

    /// The newest block.
    fn tip(&self) -> Tip;

    /// The webhooks of the accounts, where they are delivered.
    fn webhooks(&self) -> Option<Arc<Webhooks>> {
        None
    }

    /// Memory limits and use of the parts of the instance.
    fn memory_budgets(&self) -> Vec<MemoryBudget> {
        Vec::new()
    }

    /// The newest block, once its [`Tip::id`] differs from `known`. It may wait indefinitely.
    fn tip_other_than(&self, known: String) -> ApiFuture<'_, Tip>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_below_a_key_are_known() {
        assert!(Call::keyed_rpc("espo", "ping", json!([])).needs_key());
        assert!(Call::get("/api/v1/KEY/verify?x=1").needs_key());
        assert!(Call::get("/v4/KEY?x=1").needs_key());
        assert!(!Call::rpc("btc_getblockcount", json!([])).needs_key());
        assert!(!Call::rest("get-pools", &json!({})).needs_key());
        assert!(!Call::get("/v4/opi/v1/brc20/ticker?ticker=KEYS").needs_key());
    }

    #[test]
    fn blocks_at_one_height_have_different_ids() {
        let at = |hash: &str| Tip { height: Some(7), hash: Some(hash.to_owned()), ..Tip::default() };
        assert_eq!(at("ab").id(), "7-ab");
        assert_ne!(at("ab").id(), at("cd").id());
        assert_eq!(Tip::default().id(), "-");
    }
}
