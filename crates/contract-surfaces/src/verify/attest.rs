//! Attestations: an admin states the source of a module.

use http::StatusCode;
use paraffin_verify::{Attestation, sha256_hex};
use schemars::JsonSchema;
use serde::Deserialize;

use super::fields::{AnyNumber, AnyObject, ShortText, WRONG_TYPE, alkane, given};
use super::{REFUSALS_OF_BODY, deployed, key_id, of, unreachable};
use paraffin_gateway::errors::{ApiError, ErrorKind};
use paraffin_gateway::rest::part::Part;
use paraffin_gateway::rest::{Route, Verb, Wrapping};
use paraffin_gateway::state::RequestContext;

/// Default verdict.
const DEFAULT_VERDICT: &str = "verified";
/// Digits of a SHA-256.
const HASH_DIGITS: usize = 64;

/// States the source of a module; needs an admin key.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Attest {
    /// SHA-256 of the module, 64 hex digits; this, or `block` and `tx`.
    wasm_sha256: Option<ShortText>,
    /// Of the id of a contract that has the module, as text.
    block: Option<ShortText>,
    /// Second half of the id.
    tx: Option<ShortText>,
    /// URL of the repository.
    repo_url: ShortText,
    /// Commit of the source.
    commit: Option<ShortText>,
    /// Folder of the source.
    subdir: Option<ShortText>,
    /// Compiler.
    rustc: Option<ShortText>,
    /// Revision of the library that it is built with.
    alkanes_rev: Option<ShortText>,
    /// `verified` when absent.
    verdict: Option<ShortText>,
    /// Share of equal bytes, per cent.
    match_pct: Option<AnyNumber>,
    /// Free-form note.
    note: Option<ShortText>,
    /// Description of the build.
    manifest: Option<AnyObject>,
}

impl Route for Attest {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Post, "attest")];
    const EXAMPLE: &'static str = r#"{"block":"2","tx":"0","repo_url":"https://github.com/example/contract"}"#;
    const WRAPPING: Wrapping = Wrapping::Bare;
    const TYPE_ERROR: Option<ErrorKind> = WRONG_TYPE;
    const REFUSALS: &'static [StatusCode] = REFUSALS_OF_BODY;
    /// It carries a description of a build.
    const BODY_BYTES_MAX: Option<usize> = Some(4 << 20);
    type Answer = Attestation;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Attestation, ApiError> {
        let key = key_id(context)?;
        let mut attestation = Attestation {
            wasm_sha256: String::new(),
            repo_url: given(Some(self.repo_url)).ok_or_else(|| ApiError::missing(&["repo_url"]))?,
            commit: given(self.commit),
            subdir: given(self.subdir),
            rustc: given(self.rustc),
            alkanes_rev: given(self.alkanes_rev),
            verdict: given(self.verdict).unwrap_or_else(|| DEFAULT_VERDICT.to_owned()),
            match_pct: self.match_pct.map(|number| number.0),
            note: given(self.note),
            verified_via: None,
            manifest: self.manifest.map(|manifest| manifest.0),
        };
        match (given(self.wasm_sha256), given(self.block), given(self.tx)) {
            (Some(hash), _, _) => attestation.wasm_sha256 = checked(&hash)?,
            (None, Some(block), Some(tx)) => {
                let id = alkane(&format!("{block}:{tx}"))
                    .ok_or_else(|| ApiError::invalid("block and tx must be numbers as text"))?;
                attestation.wasm_sha256 = sha256_hex(&deployed(context, id).await?);
                attestation.verified_via = Some(id.to_string());
            }
            _ => return Err(ApiError::invalid("give wasm_sha256, or block and tx")),
        }
        of(context)?.attest(&attestation, key).await.map_err(|error| unreachable(&error))?;
        Ok(attestation)
    }
}

fn checked(hash: &str) -> Result<String, ApiError> {
    let is_hash = hash.len() == HASH_DIGITS && hash.bytes().all(|digit| digit.is_ascii_hexdigit());
    if is_hash { Ok(hash.to_ascii_lowercase()) } else { Err(ApiError::invalid("wasm_sha256 must be 64 hex digits")) }
}
