//! The source of a contract: what is known of it, its tree, and single files.

use data_encoding::BASE64;
use std::sync::Arc;

use hyper::StatusCode;
use hyper::header::{CONTENT_SECURITY_POLICY, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use paraffin_primitives::AlkaneId;
use paraffin_verify::{ReadError, Record, SourceFile, Verifier, entrypoint, nodes, sha256_hex};
use serde_json::{Map, Value, json};

use super::submit::{attempt, percent};
use super::{deployed, fields, unreachable};
use crate::errors::RestError;
use crate::respond::Reply;
use crate::rest::RestBody;
use crate::state::RequestContext;

/// Where the files of an answer come from: the stored copy.
const ORIGIN: &str = "db";

/// Attempts at one module that are shown, the newest.
const ATTEMPTS_MAX: usize = 50;

/// A source that can be browsed.
struct Browsable {
    id: AlkaneId,
    record: Record,
    files: Vec<SourceFile>,
}

impl Browsable {
    /// The source of the module that a contract runs.
    ///
    /// # Errors
    /// 400 for ids that are no numbers, 404 when there is nothing to browse, 502 when what is stored cannot be read.
    async fn find(context: &RequestContext, verifier: &Verifier, block: &str, tx: &str) -> Result<Self, RestError> {
        let id = fields::digits(block).zip(fields::digits(tx)).map(|(block, tx)| AlkaneId { block, tx });
        let id = id.ok_or_else(|| RestError::bad_request("block and tx must be numbers"))?;
        let nothing = || RestError::not_found("there is no source of this contract");
        let hash = sha256_hex(&deployed(context, id).await?);
        let record = verifier.record(&hash).await?.ok_or_else(nothing)?;
        let digest = record.sources.clone().ok_or_else(nothing)?;
        let files = verifier.list(&digest).await.map_err(|error: ReadError| unreachable(&error))?.files;
        Ok(Self { id, record, files })
    }

    fn entrypoint(&self) -> Option<&str> {
        entrypoint(&self.files, &self.record.subdir, &self.record.package)
    }

    /// Members that the description and the tree share; those without a value are left out.
    fn described(&self) -> Map<String, Value> {
        let record = &self.record;
        let mut told = Map::new();
        told.insert("alkane".to_owned(), self.id.to_string().into());
        told.insert("origin".to_owned(), ORIGIN.into());
        let subdir = Some(record.subdir.as_str()).filter(|subdir| !subdir.is_empty());
        for (name, value) in [
            ("repo", Some(record.repo_url.as_str())),
            ("commit", record.commit.as_deref()),
            ("subdir", subdir),
            ("entrypoint", self.entrypoint()),
        ] {
            if let Some(value) = value {
                told.insert(name.to_owned(), value.into());
            }
        }
        told
    }
}

/// `GET /source/{block}/{tx}`.
pub(super) async fn metadata(
    context: &RequestContext,
    verifier: &Arc<Verifier>,
    block: &str,
    tx: &str,
) -> Result<Reply, RestError> {
    let source = Browsable::find(context, verifier, block, tx).await?;
    let record = &source.record;
    let mut told = source.described();
    let Value::Object(more) = json!({
        "block": source.id.block.to_string(),
        "tx": source.id.tx.to_string(),
        "verified": record.verdict.promotes(),
        "verdict": record.verdict,
        "match_pct": percent(record.similarity),
        "package": record.package,
        "fileCount": source.files.len(),
    }) else {
        return Err(RestError::panicked());
    };
    told.extend(more);
    if let Some(private) = record.private {
        told.insert("private".to_owned(), private.into());
    }
    if let Some((owner, name)) = owner_and_name(&record.repo_url) {
        told.insert("owner".to_owned(), owner.into());
        told.insert("name".to_owned(), name.into());
    }
    if let Some(how_built) = &record.how_built {
        told.insert("built".to_owned(), serde_json::to_value(how_built).unwrap_or_default());
    }
    let attempts = verifier.attempts(&record.wasm_sha256, ATTEMPTS_MAX).await?;
    told.insert("attempts".to_owned(), attempts.iter().map(attempt).collect());
    // An admin's word for the same module stands beside what was built; it does not vouch for these files.
    if let Some(attestation) = verifier.attestation(&record.wasm_sha256).await? {
        told.insert("attestation".to_owned(), serde_json::to_value(attestation).unwrap_or_default());
    }
    Reply::bare(&json!({ "ok": true, "source": told }))
}

/// The first two parts of a repository's path, as hosts have them.
fn owner_and_name(url: &str) -> Option<(&str, &str)> {
    let mut parts = url.strip_prefix("https://")?.split('/').skip(1);
    let (owner, name) = (parts.next()?, parts.next()?);
    let name = name.strip_suffix(".git").unwrap_or(name);
    (!owner.is_empty() && !name.is_empty()).then_some((owner, name))
}

/// `GET /source/{block}/{tx}/tree`.
pub(super) async fn tree(
    context: &RequestContext,
    verifier: &Arc<Verifier>,
    block: &str,
    tx: &str,
) -> Result<Reply, RestError> {
    let source = Browsable::find(context, verifier, block, tx).await?;
    let mut told = source.described();
    told.insert("nodes".to_owned(), serde_json::to_value(nodes(&source.files)).unwrap_or_default());
    Reply::bare(&json!({ "ok": true, "tree": told }))
}

/// `GET /source/{block}/{tx}/blob?path=&raw=1`.
pub(super) async fn blob(
    context: &RequestContext,
    verifier: &Arc<Verifier>,
    block: &str,
    tx: &str,
    query: Option<&str>,
) -> Result<Reply, RestError> {
    let query = RestBody::of_query(query)?;
    let path = query.text("path")?;
    if path.is_empty() {
        return Err(RestError::bad_request("path is required"));
    }
    let is_raw = query.optional_text("raw")?.is_some_and(|raw| matches!(raw, "1" | "true"));
    let source = Browsable::find(context, verifier, block, tx).await?;
    // Paths are compared and never opened: what is stored lies under its hash.
    let file = source.files.iter().find(|file| file.path == path);
    let file = file.ok_or_else(|| RestError::not_found("there is no such file in the source"))?;
    let bytes = verifier.blob(&file.sha256).await.map_err(|error: ReadError| unreachable(&error))?;
    let text = std::str::from_utf8(&bytes).ok().filter(|text| !text.contains('\0'));
    if is_raw {
        return Ok(raw(text.is_some(), bytes));
    }
    let mut told = json!({
        "alkane": source.id.to_string(),
        "path": file.path,
        "bytes": bytes.len(),
        "truncated": false,
        "binary": text.is_none(),
        "text": text,
    });
    if text.is_none() {
        told["base64"] = BASE64.encode(&bytes).into();
    }
    Reply::bare(&json!({ "ok": true, "blob": told }))
}

/// The bytes themselves. They are untrusted input, so a browser must take them for nothing but what the type says.
fn raw(is_text: bool, bytes: Vec<u8>) -> Reply {
    let mut reply = Reply::text(StatusCode::OK, bytes);
    if !is_text {
        reply.content_type = Some("application/octet-stream");
    }
    reply
        .header(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
        .header(CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox; default-src 'none'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owner_and_name_come_from_the_url() {
        assert_eq!(owner_and_name("https://github.com/owner/name.git"), Some(("owner", "name")));
        assert_eq!(owner_and_name("https://github.com/owner"), None);
        assert_eq!(owner_and_name("file:///srv/owner/name"), None);
    }
}
