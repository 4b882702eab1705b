//! Replies and their bodies.

use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{HeaderMap, StatusCode};
use serde::Serialize;
use serde_json::json;

use crate::errors::{ApiError, ErrorKind, OVERLOADED_RETRY_SECONDS, Refusal};
use crate::events::EventBody;
use crate::routes::ErrorForm;

/// An answer without the headers that every answer carries.
#[derive(Debug)]
pub struct Reply {
    /// HTTP status.
    pub status: StatusCode,
    /// Headers of this answer alone.
    pub headers: HeaderMap,
    /// Body; its length is sent as `Content-Length`.
    pub body: Bytes,
    /// `Content-Type` where `headers` has none: most answers have no other header of their own, and no map for one.
    pub content_type: Option<&'static str>,
    /// A streamed body that ends when the client disconnects, instead of `body`.
    pub stream: Option<Box<EventBody>>,
}

impl Reply {
    /// A JSON answer, `Content-Type: application/json` exactly, without a charset.
    pub fn json(status: StatusCode, body: impl Into<Bytes>) -> Self {
        Self::with_type(status, "application/json", body)
    }

    /// A plain text answer.
    pub fn text(status: StatusCode, body: impl Into<Bytes>) -> Self {
        Self::with_type(status, "text/plain", body)
    }

    /// An answer without a body.
    pub fn empty(status: StatusCode) -> Self {
        Self { status, headers: HeaderMap::new(), body: Bytes::new(), content_type: None, stream: None }
    }

    fn with_type(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self { status, headers: HeaderMap::new(), body: body.into(), content_type: Some(content_type), stream: None }
    }

    /// A streamed answer that ends when the client disconnects.
    pub fn stream(status: StatusCode, content_type: &'static str, body: EventBody) -> Self {
        Self { stream: Some(Box::new(body)), ..Self::with_type(status, content_type, Bytes::new()) }
    }

    /// Moves all headers of the answer into `headers`.
    pub fn move_headers(&mut self, headers: &mut HeaderMap) {
        if let Some(content_type) = self.content_type {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        }
        headers.extend(std::mem::take(&mut self.headers));
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// `{"statusCode":200,"data":…}` (docs/api.md, "REST").
    ///
    /// # Errors
    /// 500 when the value cannot be written as JSON.
    pub fn enveloped(data: &impl Serialize) -> Result<Self, ApiError> {
        #[derive(Serialize)]
        struct Envelope<'a, T> {
            #[serde(rename = "statusCode")]
            status_code: u16,
            data: &'a T,
        }
        Self::bare(&Envelope { status_code: 200, data })
    }

    /// The value as JSON, without an envelope.
    ///
    /// # Errors
    /// 500 when the value cannot be written as JSON.
    pub fn bare(value: &impl Serialize) -> Result<Self, ApiError> {
        serde_json::to_vec(value)
            .map(|body| Self::json(StatusCode::OK, body))
            .map_err(|error| ApiError::internal(&error))
    }

    /// The body of an error of a surface that is not JSON-RPC.
    pub fn rest_error(error: &ApiError) -> Self {
        let body = json!({ "statusCode": error.kind.status.as_u16(), "code": error.kind.name, "error": error.message });
        Self::json(error.kind.status, body.to_string())
    }

    /// The body of a refusal in the form of the path (docs/api.md, "Who may call").
    pub fn refusal(refusal: Refusal, form: ErrorForm) -> Self {
        let error = refusal.error();
        let mut reply = match form {
            ErrorForm::Rest => Self::rest_error(&error),
            ErrorForm::JsonRpc => {
                let ErrorKind { name, status, rpc_code, .. } = error.kind;
                let in_envelope = json!({ "code": rpc_code, "message": error.message });
                let body = json!({ "jsonrpc": "2.0", "id": null, "code": name, "error": in_envelope });
                Self::json(status, body.to_string())
            }
        };
        if let Refusal::WrongVerb(verbs) = refusal {
            reply.headers.insert(hyper::header::ALLOW, HeaderValue::from_static(verbs));
        }
        let retry_after = match refusal {
            Refusal::RateLimited { retry_after, .. } => Some(retry_after),
            Refusal::Overloaded => Some(OVERLOADED_RETRY_SECONDS),
            _ => None,
        };
        if let Some(retry_after) = retry_after {
            reply.headers.insert(hyper::header::RETRY_AFTER, HeaderValue::from(retry_after));
        }
        reply
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// row AU08
    #[test]
    fn a_refusal_has_its_code_at_the_top_of_both_forms() {
        let rpc: serde_json::Value =
            serde_json::from_slice(&Reply::refusal(Refusal::InvalidApiKey, ErrorForm::JsonRpc).body).unwrap();
        assert_eq!(rpc["code"], "INVALID_API_KEY");
        assert_eq!(rpc["error"]["code"], -32001);
        assert_eq!((&rpc["jsonrpc"], &rpc["id"]), (&json!("2.0"), &json!(null)));
        let rest: serde_json::Value =
            serde_json::from_slice(&Reply::refusal(Refusal::InvalidApiKey, ErrorForm::Rest).body).unwrap();
        assert_eq!((&rest["statusCode"], &rest["code"]), (&json!(401), &json!("INVALID_API_KEY")));
        assert!(rest["error"].is_string());
    }
}
