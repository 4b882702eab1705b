//! Plain HTTP Esplora under `/v4/<KEY>/esplora/…` (docs/api.md): the paths, texts and status codes of Blockstream's
//! server, from the same table as `esplora_*`.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Method, StatusCode};
use serde_json::json;

use super::esplora::{self, Answer, Fault, Outcome};
use paraffin_gateway::errors::{ApiError, ErrorKind};
use paraffin_gateway::respond::Reply;
use paraffin_gateway::rest::Validator;
use paraffin_gateway::routes::decode_segment;
use paraffin_gateway::state::{BoxFuture, RequestContext};
use paraffin_gateway::surface::{HttpRequest, HttpSurface, KeyedSurface};

/// Bodies of requests that need none are read up to this, bytes.
const UNUSED_BODY_BYTES_MAX: usize = 4096;
/// Characters of an unknown path that the error repeats.
const REPORTED_PATH_CHARS_MAX: usize = 100;

/// `/v4/<KEY>/esplora`.
pub static SURFACE: KeyedSurface =
    KeyedSurface { takes_large_bodies: true, changed_by_get: Some("broadcast"), ..KeyedSurface::http("esplora") };

/// The surface; it has no state.
pub(crate) struct EsploraHttp;

impl HttpSurface for EsploraHttp {
    fn body_limit(&self, verb: &Method, segments: &[String]) -> Option<usize> {
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let has_body = *verb == Method::POST && matches!(segments.as_slice(), ["tx"] | ["txs", "package"]);
        // The server's own limit for large bodies holds as well.
        Some(if has_body { usize::MAX } else { UNUSED_BODY_BYTES_MAX })
    }

    fn handle<'a>(
        &'a self,
        context: &'a RequestContext,
        request: HttpRequest,
    ) -> BoxFuture<'a, Result<Reply, ApiError>> {
        Box::pin(async move {
            let path: Vec<&str> = context.segments().iter().map(String::as_str).collect();
            let answered = match (&request.verb, path.as_slice()) {
                (&Method::POST, ["tx"]) => written("sendrawtransaction", broadcast(context, &request.body).await),
                // Kept by Blockstream's server for old clients.
                (&Method::GET, ["broadcast"]) => {
                    let transaction = query_value(request.query.as_deref(), "tx");
                    match transaction {
                        Some(hex) => written("sendrawtransaction", broadcast(context, hex.as_bytes()).await),
                        None => Ok(Reply::text(StatusCode::BAD_REQUEST, "Missing tx")),
                    }
                }
                (&Method::POST, ["txs", "package"]) => written("submitpackage", package(context, &request).await),
                (&Method::GET, path) if is_confirmed_alone(path) => {
                    validated(context, &request.headers, without_words(path)).await
                }
                (&Method::GET, path) => esplora::get(context, path).await.map(render),
                _ => Err(Fault::Unknown),
            };
            Ok(answered.unwrap_or_else(|fault| refuse(fault, &path)))
        })
    }
}

/// Whether the answer depends on confirmed blocks alone (docs/api.md).
fn is_confirmed_alone(path: &[&str]) -> bool {
    matches!(
        path,
        ["blocks" | "block-height" | "block" | "address-prefix", ..]
            | ["tx", _, "merkle-proof" | "merkleblock-proof"]
            | ["address" | "scripthash", _, "txs", "chain", ..]
    )
}

/// Blockstream's server treats any word instead of an optional number as absent, and mempool.js sends `undefined` there.
fn without_words<'a, 'b>(path: &'a [&'b str]) -> &'a [&'b str] {
    let is_word = |text: &str| !text.bytes().all(|byte| byte.is_ascii_digit());
    match path {
        [plain @ .., word] if matches!(plain, ["blocks"] | ["block", _, "txs"]) && is_word(word) => plain,
        path => path,
    }
}

/// A GET whose answer changes only with the tip: 304 for a client that has it already.
async fn validated(context: &RequestContext, headers: &HeaderMap, path: &[&str]) -> Result<Reply, Fault> {
    let validator = Validator::new(context).ok_or_else(|| Fault::Failed(ApiError::starting()))?;
    // An error is never "unchanged".
    let answer = esplora::get(context, path).await?;
    Ok(validator.unchanged(headers).unwrap_or_else(|| validator.mark(render(answer))))
}

async fn broadcast(context: &RequestContext, body: &[u8]) -> Outcome {
    let Ok(hex) = std::str::from_utf8(body) else { return Err(Fault::malformed("Invalid hex string", "not text")) };
    esplora::broadcast(context, hex.trim()).await
}

async fn package(context: &RequestContext, request: &HttpRequest) -> Outcome {
    let transactions = serde_json::from_slice::<Vec<String>>(&request.body);
    let transactions = transactions.map_err(|_| {
        Fault::malformed("Invalid package: a JSON array of transactions in hex is expected", "not an array of strings")
    })?;
    check_transactions(&transactions)?;
    let value = |name| query_value(request.query.as_deref(), name);
    esplora::package(context, &transactions, value("maxfeerate").as_deref(), value("maxburnamount").as_deref()).await
}

/// As Blockstream's server, checks the transactions of a package before the node does: hex, and of a size that may be relayed.
fn check_transactions(transactions: &[String]) -> Result<(), Fault> {
    /// More than 60 bytes, less than 400,000.
    const HEX_DIGITS: std::ops::Range<usize> = 120..800_000;
    // An error about the number of them takes precedence.
    for (index, hex) in transactions.iter().enumerate().take_while(|_| transactions.len() <= 25) {
        if !HEX_DIGITS.contains(&hex.len()) {
            return Err(Fault::refused(format!("Invalid transaction size for item {index}")));
        }
        if hex.len() % 2 != 0 || !hex.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(Fault::refused(format!("Invalid transaction hex for item {index}")));
        }
    }
    Ok(())
}

/// The value of a member of the query.
fn query_value(query: Option<&str>, name: &str) -> Option<String> {
    let pairs = query?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.filter(|(known, _)| *known == name).find_map(|(_, value)| decode_segment(&value.replace('+', " ")))
}

/// The answer of a broadcast; a refusal by the node is reported with its own code and message.
fn written(method: &str, outcome: Outcome) -> Result<Reply, Fault> {
    match outcome {
        Err(Fault::Failed(ApiError { kind, message, .. })) if kind == ErrorKind::of_node(kind.rpc_code) => {
            let error = json!({ "code": kind.rpc_code, "message": message });
            Ok(Reply::text(StatusCode::BAD_REQUEST, format!("{method} RPC error: {error}")))
        }
        outcome => outcome.map(render),
    }
}

fn render(answer: Answer) -> Reply {
    match answer {
        Answer::Json(raw) => Reply::json(StatusCode::OK, raw.get().to_owned()),
        Answer::Text(text) => Reply::text(StatusCode::OK, text),
        Answer::Binary(bytes) => binary(bytes),
    }
}

fn binary(bytes: Bytes) -> Reply {
    let mut reply = Reply::text(StatusCode::OK, bytes);
    reply.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    reply
}

/// Errors are plain text, as Blockstream's are.
fn refuse(fault: Fault, path: &[&str]) -> Reply {
    match fault {
        Fault::Unknown => {
            let path: String = path.join("/").chars().take(REPORTED_PATH_CHARS_MAX).collect();
            Reply::text(StatusCode::NOT_FOUND, format!("endpoint does not exist {:?}", format!("/{path}")))
        }
        Fault::Malformed(malformed) => Reply::text(StatusCode::BAD_REQUEST, malformed.esplora.into_owned()),
        Fault::NotFound(text) => Reply::text(StatusCode::NOT_FOUND, text),
        Fault::Failed(error) => Reply::text(error.kind.status, error.message.into_owned()),
    }
}
