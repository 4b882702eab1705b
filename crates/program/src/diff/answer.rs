//! What an instance reports about one block.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;

use crate::client::{CallError, Client};

/// The method that returns the digests.
const METHOD: &str = "metashrew_blockdigest";
/// Longest text, in bytes, and most parts of a plausible answer.
const TEXT_BYTES_MAX: usize = 100;
const PARTS_MAX: usize = 100;
/// JSON-RPC error code for a height above the tip.
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

/// Result of a request for a block.
pub(super) enum Lookup {
    /// The digests of the block.
    Block(Digests),
    /// The height is above the tip.
    AboveTip,
}

/// Asks for the block at `height`; `None` for the newest.
///
/// # Errors
/// See [`CallError`].
pub(super) async fn ask(client: &Client, height: Option<u32>) -> Result<Lookup, CallError> {
    let params = height.map_or_else(|| json!([]), |height| json!([height]));
    match client.method(METHOD, params).await {
        Ok(value) => match serde_json::from_value::<Digests>(value) {
            Ok(digests) if digests.is_sound(height) => Ok(Lookup::Block(digests)),
            _ => Err(CallError::Answer(format!("{METHOD} was answered in another form: another program version?"))),
        },
        Err(CallError::Refused(refusal)) if refusal.code == Some(INVALID_PARAMS) => Ok(Lookup::AboveTip),
        Err(CallError::Refused(refusal)) if refusal.is_unknown() => {
            Err(CallError::Answer(format!("the instance does not have {METHOD}: it runs an older program")))
        }
        Err(other) => Err(other),
    }
}

impl Digests {
    /// Whether this is an answer for the requested height. Its texts are printed, so they must be short and printable ASCII.
    fn is_sound(&self, asked: Option<u32>) -> bool {
        let texts = [&self.network, &self.hash, &self.digest, &self.cumulative];
        let parts = self.modules.iter().flat_map(|(name, part)| [name, &part.digest]);
        let is_plain = |text: &String| text.len() <= TEXT_BYTES_MAX && text.bytes().all(|byte| byte.is_ascii_graphic());
        asked.is_none_or(|height| height == self.height)
            && self.modules.len() <= PARTS_MAX
            && texts.into_iter().chain(parts).all(is_plain)
    }

    /// Whether all blocks up to this one have the same digests.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_of_another_height_or_with_other_words_is_none() {
        let part = Part { version: 1, digest: "0f".repeat(32) };
        let sound = Digests {
            network: "regtest".to_owned(),
            format: 1,
            height: 7,
            hash: "00".repeat(32),
            digest: "01".repeat(32),
            cumulative: "02".repeat(32),
            modules: [("bitcoin".to_owned(), part.clone())].into(),
        };
        assert!(sound.is_sound(None) && sound.is_sound(Some(7)) && !sound.is_sound(Some(8)));
        let many = (0..=PARTS_MAX).map(|number| (number.to_string(), part.clone())).collect();
        for wrong in [
            Digests { hash: "\u{1b}[2J".to_owned(), ..sound.clone() },
            Digests { network: "a b".to_owned(), ..sound.clone() },
            Digests { cumulative: "0".repeat(TEXT_BYTES_MAX + 1), ..sound.clone() },
            Digests { modules: [("\n".to_owned(), part)].into(), ..sound.clone() },
            Digests { modules: many, ..sound.clone() },
        ] {
            assert!(!wrong.is_sound(None), "{wrong:?}");
        }
    }
}
