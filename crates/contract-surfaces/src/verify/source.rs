//! The source of a contract: its record, its tree, and single files.

use data_encoding::BASE64;
use http::StatusCode;
use http::header::{CONTENT_SECURITY_POLICY, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use paraffin_primitives::AlkaneId;
use paraffin_verify::{
    Attestation, HowBuilt, Node, ReadError, Record, SourceFile, Verdict, entrypoint, nodes, sha256_hex,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fields::IdDigits;
use super::submit::{Attempt, percent};
use super::{REFUSALS, deployed, of, unreachable};
use paraffin_gateway::api_types::{Digits, IdText, OkTrue};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::respond::Reply;
use paraffin_gateway::rest::part::Part;
use paraffin_gateway::rest::{Changes, Made, Route, Verb, Wrapping};
use paraffin_gateway::state::RequestContext;

const EXAMPLE: &str = r#"{"block":"2","tx":"0"}"#;

/// Where the files of an answer come from: the stored copy.
const ORIGIN: &str = "db";

/// How many of the newest attempts at one module are listed.
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
    /// 400 for ids that are not numbers, 404 when there is no source, 502 when the stored source cannot be read.
    async fn find(
        context: &RequestContext,
        IdDigits(block): IdDigits,
        IdDigits(tx): IdDigits,
    ) -> Result<Self, ApiError> {
        let (id, verifier) = (AlkaneId { block, tx }, of(context)?);
        let nothing = || ApiError::not_found("there is no source of this contract");
        let hash = sha256_hex(&deployed(context, id).await?);
        let record = verifier.record(&hash).await.map_err(|error| unreachable(&error))?.ok_or_else(nothing)?;
        let digest = record.sources.clone().ok_or_else(nothing)?;
        let files = verifier.list(&digest).await.map_err(|error: ReadError| unreachable(&error))?.files;
        Ok(Self { id, record, files })
    }

    fn described(&self) -> Described {
        let (record, text) = (&self.record, |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty()));
        Described {
            alkane: IdText(self.id),
            origin: ORIGIN,
            repo: record.repo_url.clone(),
            commit: record.commit.clone(),
            subdir: text(&record.subdir),
            entrypoint: entrypoint(&self.files, &record.subdir, &record.package).map(str::to_owned),
        }
    }
}

/// Members that the description and the tree share.
#[derive(Serialize, JsonSchema)]
struct Described {
    alkane: IdText,
    origin: &'static str,
    repo: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subdir: Option<String>,
    /// The file to look at first.
    #[serde(skip_serializing_if = "Option::is_none")]
    entrypoint: Option<String>,
}

/// The record of a contract's source.
#[derive(Deserialize, JsonSchema)]
pub(super) struct SourceOf {
    /// The first half of the contract's id.
    block: IdDigits,
    /// The second half.
    tx: IdDigits,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct SourceAnswer {
    ok: OkTrue,
    source: Source,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Source {
    #[serde(flatten)]
    described: Described,
    block: Digits,
    tx: Digits,
    verified: bool,
    verdict: Verdict,
    match_pct: f64,
    package: String,
    #[serde(rename = "fileCount")]
    file_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    private: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// How it was built, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    built: Option<HowBuilt>,
    /// The newest runs for the module, whatever their verdict.
    attempts: Vec<Attempt>,
    /// An admin's attestation of the same module; it does not cover these files.
    #[serde(skip_serializing_if = "Option::is_none")]
    attestation: Option<Attestation>,
}

impl Route for SourceOf {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "source/{block}/{tx}")];
    const EXAMPLE: &'static str = EXAMPLE;
    const WRAPPING: Wrapping = Wrapping::Bare;
    const CHANGES: Changes = Changes::Anytime;
    const REFUSALS: &'static [StatusCode] = REFUSALS;
    type Answer = SourceAnswer;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<SourceAnswer, ApiError> {
        let source = Browsable::find(context, self.block, self.tx).await?;
        let verifier = of(context)?;
        let attempts =
            verifier.attempts(&source.record.wasm_sha256, ATTEMPTS_MAX).await.map_err(|error| unreachable(&error))?;
        let attestation =
            verifier.attestation(&source.record.wasm_sha256).await.map_err(|error| unreachable(&error))?;
        let (described, record) = (source.described(), source.record);
        let (owner, name) = owner_and_name(&record.repo_url).unzip();
        let source = Source {
            described,
            block: Digits(source.id.block),
            tx: Digits(source.id.tx),
            verified: record.verdict.promotes(),
            verdict: record.verdict,
            match_pct: percent(record.similarity),
            file_count: source.files.len(),
            private: record.private,
            owner: owner.map(str::to_owned),
            name: name.map(str::to_owned),
            package: record.package,
            built: record.how_built,
            attempts: attempts.iter().map(Attempt::from).collect(),
            attestation,
        };
        Ok(SourceAnswer { ok: OkTrue, source })
    }
}

/// The first two parts of a repository's path, as hosts have them.
fn owner_and_name(url: &str) -> Option<(&str, &str)> {
    let mut parts = url.strip_prefix("https://")?.split('/').skip(1);
    let (owner, name) = (parts.next()?, parts.next()?);
    let name = name.strip_suffix(".git").unwrap_or(name);
    (!owner.is_empty() && !name.is_empty()).then_some((owner, name))
}

/// The files of a contract's source.
#[derive(Deserialize, JsonSchema)]
pub(super) struct TreeOf {
    /// The first half of the contract's id.
    block: IdDigits,
    /// The second half.
    tx: IdDigits,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct TreeAnswer {
    ok: OkTrue,
    tree: Tree,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Tree {
    #[serde(flatten)]
    described: Described,
    nodes: Vec<Node>,
}

impl Route for TreeOf {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "source/{block}/{tx}/tree")];
    const EXAMPLE: &'static str = EXAMPLE;
    const WRAPPING: Wrapping = Wrapping::Bare;
    const CHANGES: Changes = Changes::Anytime;
    const REFUSALS: &'static [StatusCode] = REFUSALS;
    type Answer = TreeAnswer;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<TreeAnswer, ApiError> {
        let source = Browsable::find(context, self.block, self.tx).await?;
        Ok(TreeAnswer { ok: OkTrue, tree: Tree { described: source.described(), nodes: nodes(&source.files) } })
    }
}

/// One file of a contract's source.
#[derive(Deserialize, JsonSchema)]
pub(super) struct BlobOf {
    /// The first half of the contract's id.
    block: IdDigits,
    /// The second half.
    tx: IdDigits,
    /// Path of the file.
    path: String,
    /// `1` or `true`: the bytes themselves.
    raw: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct BlobAnswer {
    ok: OkTrue,
    blob: Blob,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Blob {
    alkane: IdText,
    path: String,
    bytes: usize,
    truncated: bool,
    binary: bool,
    text: Option<String>,
    /// Of binary files.
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

impl Route for BlobOf {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "source/{block}/{tx}/blob")];
    const EXAMPLE: &'static str = r#"{"block":"2","tx":"0","path":"src/lib.rs"}"#;
    const WRAPPING: Wrapping = Wrapping::Bare;
    const CHANGES: Changes = Changes::Anytime;
    const MEDIA_TYPES: &'static [&'static str] = &["application/json", "text/plain", "application/octet-stream"];
    const REFUSALS: &'static [StatusCode] = REFUSALS;
    type Answer = Made<BlobAnswer>;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Made<BlobAnswer>, ApiError> {
        if self.path.is_empty() {
            return Err(ApiError::missing(&["path"]));
        }
        let source = Browsable::find(context, self.block, self.tx).await?;
        // Paths are compared and never opened: stored files are addressed by hash.
        let file = source.files.into_iter().find(|file| file.path == self.path);
        let file = file.ok_or_else(|| ApiError::not_found("there is no such file in the source"))?;
        let bytes = of(context)?.blob(&file.sha256).await.map_err(|error: ReadError| unreachable(&error))?;
        let text = std::str::from_utf8(&bytes).ok().filter(|text| !text.contains('\0'));
        if matches!(self.raw.as_deref(), Some("1" | "true")) {
            return Ok(raw(text.is_some(), bytes).into());
        }
        let blob = Blob {
            alkane: IdText(source.id),
            path: file.path,
            bytes: bytes.len(),
            truncated: false,
            binary: text.is_none(),
            text: text.map(str::to_owned),
            base64: text.is_none().then(|| BASE64.encode(&bytes)),
        };
        Reply::bare(&BlobAnswer { ok: OkTrue, blob }).map(Made::from)
    }
}

/// The file's bytes. They are untrusted input, so browsers must not sniff their type.
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
