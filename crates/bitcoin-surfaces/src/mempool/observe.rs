//! `POST /v4/<ADMIN KEY>/mempool/observe`: adds a transaction that was seen elsewhere to the live set. It is not broadcast.

use std::sync::Arc;

use bytes::Bytes;
use http::StatusCode;
use paraffin_mempool::{Mempool, ObserveError, Refused};
use serde::Deserialize;
use serde_json::json;

use paraffin_gateway::errors::{ApiError, ErrorKind};
use paraffin_gateway::respond::Reply;
use paraffin_gateway::state::{RequestContext, unix_millis};

/// The body as JSON.
#[derive(Deserialize)]
struct JsonBody {
    hex: String,
}

/// The bytes of the transaction: a JSON object with `hex`, or the body as it is (docs/mempool.md, "Admins").
fn raw(body: Bytes) -> Result<Bytes, ApiError> {
    if body.is_empty() {
        return Err(ApiError::invalid("the body is empty: send {\"hex\": …} or the raw transaction"));
    }
    let is_object = body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    if !is_object {
        return Ok(body);
    }
    // Raw bytes may begin like an object; a body that does not parse as JSON is taken as raw bytes.
    let Ok(value) = serde_json::from_slice::<serde_json::Value>(&body) else { return Ok(body) };
    let JsonBody { hex } =
        serde_json::from_value(value).map_err(|_| ApiError::invalid("hex is required and must be a string"))?;
    let bytes: Result<Vec<u8>, _> = bitcoin::hex::FromHex::from_hex(hex.trim());
    bytes.map(Bytes::from).map_err(|_| ApiError::invalid("hex must be hexadecimal digits"))
}

pub(super) async fn observe(context: &RequestContext, mempool: &Arc<Mempool>, body: Bytes) -> Result<Reply, ApiError> {
    context.require_admin()?;
    let raw = raw(body)?;
    let mempool = Arc::clone(mempool);
    let now = u64::try_from(unix_millis()).unwrap_or_default();
    // Off the async threads, as it reads the index.
    let observed = tokio::task::spawn_blocking(move || mempool.observe(raw, now)).await;
    match observed.map_err(|_| ApiError::panicked())? {
        Ok(inserted) => {
            let entry = &inserted.entry;
            let answer = json!({
                "txid": entry.txid,
                "seq": entry.seq,
                "provisional": entry.provisional,
                "known": inserted.known,
            });
            Ok(Reply::json(StatusCode::OK, answer.to_string()))
        }
        Err(ObserveError::Refused(refused @ Refused::Conflict { .. })) => {
            Err(ApiError::new(ErrorKind::new("CONFLICT", StatusCode::CONFLICT), refused.to_string()))
        }
        Err(ObserveError::Refused(refused @ Refused::PaysTooLittle)) => {
            Err(ApiError::new(ErrorKind::new("MEMPOOL_FULL", StatusCode::SERVICE_UNAVAILABLE), refused.to_string()))
        }
        Err(error) => Err(ApiError::invalid(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_an_object_with_hex_or_the_transaction_itself() {
        let read = |body: &'static [u8]| raw(Bytes::from_static(body));
        assert_eq!(read(b"{\"hex\":\"00ff\"}").unwrap(), [0, 255].as_slice());
        assert_eq!(read(b"  {\"hex\": \" 00FF \"}").unwrap(), [0, 255].as_slice());
        assert_eq!(read(b"\x02\x00\x00\x00").unwrap(), b"\x02\x00\x00\x00".as_slice());
        assert_eq!(read(b"{\x00").unwrap(), b"{\x00".as_slice());
        for body in [&b""[..], b"{}", b"{\"hex\":5}", b"{\"hex\":\"0\"}", b"{\"hex\":\"xy\"}"] {
            assert_eq!(read(body).unwrap_err().kind.status, StatusCode::BAD_REQUEST, "{body:?}");
        }
    }
}
