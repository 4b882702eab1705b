//! What an instance tells of one block.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;

use crate::client::{CallError, Client};

/// The method that tells it.
const METHOD: &str = "metashrew_blockdigest";
/// Code of JSON-RPC for a height above the tip.
const INVALID_PARAMS: i64 = -32602;

/// The digests of one block, as text.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Digests {
    pub(super) network: String,
    pub(super) format: u32,
    pub(super) height: u32,
    pub(super) hash: String,
    /// Of the block alone.
    pub(super) digest: String,
    /// Of everything up to the block.
    pub(super) cumulative: String,
    pub(super) modules: BTreeMap<String, Part>,
}

/// One part of the index.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Part {
    pub(super) version: u32,
    pub(super) digest: String,
}

/// Whether there is such a block.
pub(super) enum Asked {
    /// There is.
    Known(Digests),
    /// The height is above the tip.
    AboveTip,
}

/// Asks for the block at `height`; `None` for the newest.
///
/// # Errors
/// See [`CallError`].
pub(super) async fn ask(client: &Client, height: Option<u32>) -> Result<Asked, CallError> {
    let params = height.map_or_else(|| json!([]), |height| json!([height]));
    match client.method(METHOD, params).await {
        Ok(told) => serde_json::from_value(told)
            .map(Asked::Known)
            .map_err(|_| CallError::Answer(format!("{METHOD} was answered in another form: another program version?"))),
        Err(CallError::Refused(refusal)) if refusal.code == Some(INVALID_PARAMS) => Ok(Asked::AboveTip),
        Err(CallError::Refused(refusal)) if refusal.is_unknown() => {
            Err(CallError::Answer(format!("the instance does not have {METHOD}: it runs an older program")))
        }
        Err(other) => Err(other),
    }
}

impl Digests {
    /// Whether all up to this block is the same.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.hash == other.hash && self.cumulative == other.cumulative
    }

    /// Names of the parts that wrote other rows in this block.
    pub(super) fn differing<'d>(&'d self, other: &'d Self) -> Vec<&'d str> {
        let digest = |of: &Self, name: &str| of.modules.get(name).map(|part| part.digest.clone());
        let names: std::collections::BTreeSet<&String> = self.modules.keys().chain(other.modules.keys()).collect();
        names.into_iter().filter(|name| digest(self, name) != digest(other, name)).map(String::as_str).collect()
    }

    /// `bitcoin 3, addresses 1`.
    pub(super) fn versions(&self) -> String {
        let named: Vec<String> = self.modules.iter().map(|(name, part)| format!("{name} {}", part.version)).collect();
        named.join(", ")
    }
}
