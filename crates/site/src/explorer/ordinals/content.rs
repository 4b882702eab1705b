//! Serving the content of inscriptions to browsers.
//!
//! Content is untrusted: anyone can inscribe anything. It is isolated as follows:
//!
//! - It is served as a type of [`Kind`]'s table alone, never as a script or a style sheet, and never another type than named
//!   (`nosniff`): no page of this site can be made to run it. Other types are downloads.
//! - Its policy has `sandbox` without `allow-same-origin`: its origin is opaque, so it has no access to cookies, storage or this
//!   site, wherever it is opened. It has no forms and no windows of its own, and can be framed only by this site.
//! - It loads nothing but its own inline data, and images of other content of this instance.
//! - Scripts run only when a visitor requests it (`?run` in a frame of an inscription's page). Even then they have no network
//!   access, but no policy keeps a script from using the processor, or from contacting a host over WebRTC, so they never run by default.
//!   The frame's page has `frame-src 'self'`, so a script cannot lead its frame to another host. Opened by itself instead of in a
//!   frame, HTML is shown as its source: under this site's address it could pass for a page of it.

use std::io::Read as _;

use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use data_encoding::BASE64;
use hyper::HeaderMap;
use hyper::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, VARY,
};
use serde::Deserialize;
use serde_json::json;

use super::kind::Kind;
use super::{Query, inscription_id, reveal};
use crate::api::Call;
use crate::explorer::{AskError, Reader};
use crate::failure::Failure;

/// Longest content, bytes, before and after it is decoded. A block has at most 4 MB.
pub(super) const CONTENT_BYTES_MAX: usize = 8 << 20;
/// The browser's purpose of a request: `iframe`, `image`, `document`. Sent over TLS and to localhost.
const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");
/// Policy directives for all content.
const NOTHING: &str = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

#[derive(Deserialize)]
struct Inscription {
    effective_content_type: Option<String>,
}

/// Content as it is shown.
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    /// The content encoding that could not be decoded.
    pub(super) encoding: Option<String>,
}

/// Answers with the content of an inscription, or of its delegate.
pub(crate) async fn serve(reader: Reader, Path(id): Path<String>, query: Query, headers: HeaderMap) -> Response {
    let destination = headers.get(SEC_FETCH_DEST).and_then(|destination| destination.to_str().ok());
    let view = Viewing { is_framed: destination != Some("document"), runs: is_run(&query, destination) };
    let answer = match inscription_id(&id) {
        None => Err(Failure::NotThere("An inscription id is a transaction id, an i and a number.".to_owned())),
        Some(id) => answer(&reader, &id, view).await,
    };
    answer.unwrap_or_else(|failure| {
        let mut response = failure.into_response();
        let policy = format!("sandbox; style-src 'self'; img-src 'self'; {NOTHING}");
        set(&mut response, CONTENT_SECURITY_POLICY, &policy);
        response
    })
}

/// Whether scripts run: only in frames, as reported by the browser.
fn is_run(query: &Query, destination: Option<&str>) -> bool {
    query.contains_key("run") && destination == Some("iframe")
}

/// How content is viewed.
#[derive(Debug, Clone, Copy)]
struct Viewing {
    /// Not opened as a document, as far as the browser reports.
    is_framed: bool,
    /// Its scripts run.
    runs: bool,
}

async fn answer(reader: &Reader, id: &str, view: Viewing) -> Result<Response, Failure> {
    let facts: Inscription = reader.ask(Call::rpc("ord_inscription", json!([id]))).await?;
    let kind = Kind::of(facts.effective_content_type.as_deref().unwrap_or_default());
    let content = read(reader, id, kind).await?;
    let base = reader.visit().base.clone();
    Ok(response(id, kind, content, view, &base))
}

fn response(id: &str, kind: Kind, content: Content, view: Viewing, base: &str) -> Response {
    let kind = if content.encoding.is_some() { Kind::Other } else { kind };
    let named = match kind {
        Kind::Html if !view.is_framed => "text/plain; charset=utf-8",
        kind => kind.served_as(),
    };
    let disposition = if kind == Kind::Other { "attachment" } else { "inline" };
    let disposition = format!("{disposition}; filename=\"{id}\"");
    let mut response = content.bytes.into_response();
    let all = [
        (CONTENT_TYPE, named),
        (CONTENT_DISPOSITION, disposition.as_str()),
        (CONTENT_SECURITY_POLICY, &policy(kind, view, base)),
        // The content of an inscription does not change.
        (CACHE_CONTROL, "private, max-age=86400"),
        (VARY, "sec-fetch-dest"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("x-dns-prefetch-control"), "off"),
    ];
    for (name, value) in all {
        set(&mut response, name, value);
    }
    response
}

/// Replaces a header, unless the value is invalid.
fn set(response: &mut Response, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

/// The policy of content.
fn policy(kind: Kind, view: Viewing, base: &str) -> String {
    // The host comes from the request: it must not be able to extend the policy.
    let is_plain = base.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":/.-[]_".contains(&byte));
    let others = if is_plain && !base.is_empty() { format!("{base}/explorer/content/") } else { String::new() };
    let may = match kind {
        Kind::Html if view.runs => format!(
            "sandbox allow-scripts; script-src 'unsafe-inline' 'unsafe-eval' data: blob:; style-src 'unsafe-inline' data: blob:; \
             img-src data: blob: {others}; media-src data: blob:; font-src data: blob:; connect-src data: blob:; worker-src blob:; \
             webrtc 'block'"
        ),
        Kind::Html => {
            format!("sandbox; style-src 'unsafe-inline' data:; img-src data: {others}; media-src data:; font-src data:")
        }
        Kind::Svg => "sandbox; style-src 'unsafe-inline'; img-src data:; font-src data:".to_owned(),
        Kind::Audio(_) | Kind::Video(_) => "sandbox; media-src 'self'; style-src 'unsafe-inline'".to_owned(),
        Kind::Image(_) | Kind::Text(_) | Kind::Other => "sandbox; img-src 'self'; style-src 'unsafe-inline'".to_owned(),
    };
    format!("{may}; {NOTHING}")
}

/// The content of an inscription, decoded.
pub(super) async fn read(reader: &Reader, id: &str, kind: Kind) -> Result<Content, AskError> {
    let text: String = reader.ask(Call::rpc("ord_content", json!([id]))).await?;
    if text.len() / 4 > CONTENT_BYTES_MAX / 3 {
        return Err(AskError::Refused("This content is too large to be shown.".to_owned()));
    }
    let unreadable = || AskError::Away("The content of this inscription cannot be read.".to_owned());
    let bytes = BASE64.decode(text.as_bytes()).map_err(|_| unreadable())?;
    if kind == Kind::Other || bytes.is_empty() || kind.accepts(&bytes) {
        return Ok(Content { bytes, encoding: None });
    }
    let Some(encoding) = encoding_of(reader, id).await? else { return Ok(Content { bytes, encoding: None }) };
    let undone = tokio::task::spawn_blocking(move || match decoded(&encoding, &bytes) {
        Some(bytes) => Content { bytes, encoding: None },
        None => Content { bytes, encoding: Some(String::from_utf8_lossy(&encoding).into_owned()) },
    });
    undone.await.map_err(|_| unreadable())
}

/// The encoding in which the content of an inscription or of its delegate is stored. A delegate's own delegate does not count.
async fn encoding_of(reader: &Reader, id: &str) -> Result<Option<Vec<u8>>, AskError> {
    let mut envelope = reveal::reveal(reader, id).await?;
    if let Some(delegate) = envelope.as_ref().and_then(|envelope| envelope.delegate.clone()) {
        envelope = reveal::reveal(reader, &delegate).await?;
    }
    Ok(envelope.and_then(|envelope| envelope.content_encoding))
}

/// Decodes bytes; `None` for an unknown encoding, and for invalid or too many bytes.
fn decoded(encoding: &[u8], bytes: &[u8]) -> Option<Vec<u8>> {
    const BUFFER_BYTES: usize = 16 << 10;
    let mut plain = Vec::new();
    let limit = CONTENT_BYTES_MAX as u64 + 1;
    match encoding {
        b"br" => {
            brotli_decompressor::Decompressor::new(bytes, BUFFER_BYTES).take(limit).read_to_end(&mut plain).ok()?
        }
        b"gzip" => flate2::read::GzDecoder::new(bytes).take(limit).read_to_end(&mut plain).ok()?,
        b"deflate" => flate2::read::ZlibDecoder::new(bytes).take(limit).read_to_end(&mut plain).ok()?,
        _ => return None,
    };
    (plain.len() <= CONTENT_BYTES_MAX).then_some(plain)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    const FRAMED: Viewing = Viewing { is_framed: true, runs: false };
    const RUN: Viewing = Viewing { is_framed: true, runs: true };

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap()
    }

    #[test]
    fn encodings_are_decoded_within_bounds() {
        assert_eq!(decoded(b"br", b"\x0b\x02\x80hello\x03"), Some(b"hello".to_vec()));
        assert_eq!(decoded(b"gzip", &gzip(b"hello")), Some(b"hello".to_vec()));
        assert_eq!(
            decoded(b"gzip", &gzip(&vec![0; CONTENT_BYTES_MAX])).map(|plain| plain.len()),
            Some(CONTENT_BYTES_MAX)
        );
        assert_eq!(decoded(b"gzip", &gzip(&vec![0; CONTENT_BYTES_MAX + 1])), None);
        for (encoding, bytes) in [(&b"zstd"[..], &b"x"[..]), (b"", b"x"), (b"br", b"\xff\xff\xff"), (b"gzip", b"x")] {
            assert_eq!(decoded(encoding, bytes), None, "{encoding:?}");
        }
    }

    #[test]
    fn no_policy_gives_content_an_origin_or_another_host() {
        for kind in [
            Kind::Html,
            Kind::Svg,
            Kind::Other,
            Kind::Image("image/png"),
            Kind::Text("text/plain"),
            Kind::Video("video/mp4"),
            Kind::Audio("audio/mpeg"),
        ] {
            for view in [FRAMED, RUN, Viewing { is_framed: false, runs: false }] {
                let policy = policy(kind, view, "https://node.example");
                assert!(policy.starts_with("sandbox"), "{policy}");
                assert!(policy.ends_with(NOTHING), "{policy}");
                for never in ["allow-same-origin", "allow-top", "allow-popups", "allow-forms", "*", "http:"] {
                    assert!(!policy.contains(never), "{never} in {policy}");
                }
                assert_eq!(policy.contains("script"), kind == Kind::Html && view.runs, "{policy}");
            }
        }
    }

    #[test]
    fn a_host_cannot_add_to_a_policy() {
        let with = policy(Kind::Html, FRAMED, "http://127.0.0.1:8563");
        assert!(with.contains("img-src data: http://127.0.0.1:8563/explorer/content/;"), "{with}");
        let without = policy(Kind::Html, FRAMED, "http://a; script-src *");
        assert!(without.contains("img-src data: ;") && !without.contains('*'), "{without}");
    }

    #[test]
    fn scripts_run_in_frames_alone() {
        let query = |text: &str| axum::extract::Query([(text.to_owned(), String::new())].into_iter().collect());
        assert!(is_run(&query("run"), Some("iframe")));
        assert!(!is_run(&query("run"), Some("document")) && !is_run(&query("run"), None));
        assert!(!is_run(&query("x"), Some("iframe")));
    }
}
