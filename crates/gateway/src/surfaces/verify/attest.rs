//! Attestations: an admin says where the source of a module is.

use std::sync::Arc;

use paraffin_verify::{Attestation, Verifier, sha256_hex};

use super::{deployed, fields, key_id};
use crate::errors::RestError;
use crate::respond::Reply;
use crate::rest::RestBody;
use crate::state::RequestContext;

/// What is recorded when nothing is said.
const DEFAULT_VERDICT: &str = "verified";
/// Digits of a SHA-256.
const HASH_DIGITS: usize = 64;

/// `POST /attest`.
pub(super) async fn attest(
    context: &RequestContext,
    verifier: &Arc<Verifier>,
    body: &[u8],
) -> Result<Reply, RestError> {
    context.require_admin()?;
    let key = key_id(context)?;
    let body = RestBody::parse(body, context.limits().json_depth_max)?;
    let repo_url = fields::text(&body, "repo_url")?.ok_or_else(|| RestError::bad_request("repo_url is required"))?;
    let hash = fields::text(&body, "wasm_sha256")?;
    let (block, tx) = (fields::text(&body, "block")?, fields::text(&body, "tx")?);
    let mut attestation = Attestation {
        wasm_sha256: String::new(),
        repo_url,
        commit: fields::text(&body, "commit")?,
        subdir: fields::text(&body, "subdir")?,
        rustc: fields::text(&body, "rustc")?,
        alkanes_rev: fields::text(&body, "alkanes_rev")?,
        verdict: fields::text(&body, "verdict")?.unwrap_or_else(|| DEFAULT_VERDICT.to_owned()),
        match_pct: fields::number(&body, "match_pct")?,
        note: fields::text(&body, "note")?,
        verified_via: None,
        manifest: fields::object(&body, "manifest")?,
    };
    match (hash, block, tx) {
        (Some(hash), _, _) => attestation.wasm_sha256 = checked(&hash)?,
        (None, Some(block), Some(tx)) => {
            let id = fields::alkane(&format!("{block}:{tx}"))
                .ok_or_else(|| RestError::bad_request("block and tx must be numbers as text"))?;
            attestation.wasm_sha256 = sha256_hex(&deployed(context, id).await?);
            attestation.verified_via = Some(id.to_string());
        }
        _ => return Err(RestError::bad_request("give wasm_sha256, or block and tx")),
    }
    verifier.attest(&attestation, key).await?;
    Reply::bare(&attestation)
}

fn checked(hash: &str) -> Result<String, RestError> {
    let is_hash = hash.len() == HASH_DIGITS && hash.bytes().all(|digit| digit.is_ascii_hexdigit());
    if is_hash {
        Ok(hash.to_ascii_lowercase())
    } else {
        Err(RestError::bad_request("wasm_sha256 must be 64 hex digits"))
    }
}
