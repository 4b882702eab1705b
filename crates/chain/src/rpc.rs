//! JSON-RPC as Bitcoin Core speaks it: requests out, the raw result or the node's own error back.
//!
//! Requests have `"jsonrpc":"1.0"`, which every release understands. In that protocol Bitcoin Core answers errors with HTTP 500,
//! 404 or 400 and a JSON body, so the body decides and the status counts only where there is no JSON.

use bytes::Bytes;
use hyper::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::{NodeError, RPC_IN_WARMUP, RPC_METHOD_NOT_FOUND};
use crate::http::Answer;

/// Largest answer of an ordinary call.
const REPLY_BYTES_MAX: usize = 64 << 20;
/// Largest answer of calls that print a whole block or the whole mempool: a 4 MB block at verbosity 3 is about 100 MB.
const LARGE_REPLY_BYTES_MAX: usize = 512 << 20;

#[derive(Serialize)]
struct Request<'a, P> {
    jsonrpc: &'static str,
    id: u64,
    method: &'a str,
    params: P,
}

#[derive(Deserialize)]
struct Reply {
    #[serde(default)]
    result: Option<Box<RawValue>>,
    #[serde(default)]
    error: Option<Box<RawValue>>,
    #[serde(default)]
    id: Option<u64>,
}

#[derive(Deserialize)]
struct ReplyError {
    code: i64,
    #[serde(default)]
    message: String,
}

/// The size limit of a method's answer, in bytes.
pub(crate) fn reply_limit(method: &str) -> usize {
    match method {
        "getblock" | "getrawmempool" | "getblocktemplate" => LARGE_REPLY_BYTES_MAX,
        _ => REPLY_BYTES_MAX,
    }
}

/// Whether the call is idempotent: methods that create or send something are sent once.
pub(crate) fn is_repeatable(method: &str) -> bool {
    !["generate", "send", "submit", "prioritise", "create", "fund", "sign", "import", "load", "unload", "stop"]
        .iter()
        .any(|prefix| method.starts_with(prefix))
}

/// The body of one call.
pub(crate) fn encode_call(id: u64, method: &str, params: impl Serialize) -> Result<Bytes, NodeError> {
    encode(&Request { jsonrpc: "1.0", id, method, params })
}

/// The body of a batch of calls of one method; ids count up from `first_id`.
pub(crate) fn encode_batch<P: Serialize>(first_id: u64, method: &str, calls: &[P]) -> Result<Bytes, NodeError> {
    let requests: Vec<_> =
        (first_id..).zip(calls).map(|(id, params)| Request { jsonrpc: "1.0", id, method, params }).collect();
    encode(&requests)
}

fn encode(request: &impl Serialize) -> Result<Bytes, NodeError> {
    serde_json::to_vec(request).map(Bytes::from).map_err(|error| NodeError::Rpc {
        code: crate::error::RPC_INVALID_PARAMETER,
        message: format!("the parameters cannot be written as JSON: {error}"),
    })
}

/// The result of one call, byte for byte as the node sent it.
pub(crate) fn decode_call(answer: &Answer, id: u64) -> Result<Box<RawValue>, NodeError> {
    match serde_json::from_slice::<Reply>(&answer.body) {
        Ok(reply) => decode_reply(reply, id),
        Err(_) => Err(without_json(answer)),
    }
}

/// The results of a batch, in the order of the calls whatever the order of the answers.
pub(crate) fn decode_batch(
    answer: &Answer,
    first_id: u64,
    count: usize,
) -> Result<Vec<Result<Box<RawValue>, NodeError>>, NodeError> {
    let Ok(replies) = serde_json::from_slice::<Vec<Reply>>(&answer.body) else {
        // A node that refuses the whole batch answers with one object.
        return Err(decode_call(answer, first_id).err().unwrap_or_else(|| without_json(answer)));
    };
    let mut results: Vec<Option<Result<Box<RawValue>, NodeError>>> = Vec::new();
    results.resize_with(count, || None);
    for reply in replies {
        let id = reply.id.unwrap_or(u64::MAX);
        let index = id.checked_sub(first_id).and_then(|index| usize::try_from(index).ok());
        let Some(slot) = index.and_then(|index| results.get_mut(index)) else {
            return Err(NodeError::Invalid("a batch was answered with an id that was not asked".to_owned()));
        };
        *slot = Some(decode_reply(reply, id));
    }
    results
        .into_iter()
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| NodeError::Invalid(format!("a batch of {count} calls was answered in part")))
}

fn decode_reply(reply: Reply, id: u64) -> Result<Box<RawValue>, NodeError> {
    if let Some(error) = reply.error {
        return Err(match serde_json::from_str::<ReplyError>(error.get()) {
            Ok(ReplyError { code: RPC_IN_WARMUP, message }) => {
                NodeError::Unavailable(format!("it is starting: {message}"))
            }
            Ok(ReplyError { code, message }) => NodeError::Rpc { code, message },
            Err(_) => NodeError::Invalid("a JSON-RPC error without a code".to_owned()),
        });
    }
    if reply.id != Some(id) {
        return Err(NodeError::Invalid("a JSON-RPC answer to another request".to_owned()));
    }
    Ok(reply.result.unwrap_or_else(|| RawValue::NULL.to_owned()))
}

/// The error for a 5xx status, with the beginning of its text.
pub(crate) fn unavailable_by_http(answer: &Answer) -> NodeError {
    let begin = &answer.body[..answer.body.len().min(200)];
    let text = String::from_utf8_lossy(begin);
    NodeError::Unavailable(format!("it answered HTTP {}: {}", answer.status.as_u16(), text.trim()))
}

/// Whether the text of a 503 means that the node starts or stops, rather than that its queue is full.
pub(crate) fn is_start_or_stop(text: &str) -> bool {
    text.contains("temporarily unavailable") || text.contains("shutdown")
}

/// The error of an answer that is not JSON-RPC.
fn without_json(answer: &Answer) -> NodeError {
    match answer.status {
        StatusCode::UNAUTHORIZED => NodeError::Unauthorized,
        StatusCode::FORBIDDEN => NodeError::Rpc {
            code: RPC_METHOD_NOT_FOUND,
            message: "the node forbids this call: check its rpcallowip and rpcwhitelist".to_owned(),
        },
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT => {
            unavailable_by_http(answer)
        }
        status => NodeError::Invalid(format!(
            "asked for JSON-RPC, got HTTP {} with {} bytes of {}; check that [node] url is the node's RPC address",
            status.as_u16(),
            answer.body.len(),
            if answer.is_html { "HTML" } else { "something else" }
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, body: &str) -> Answer {
        Answer {
            status: StatusCode::from_u16(status).unwrap(),
            is_html: false,
            body: Bytes::copy_from_slice(body.as_bytes()),
        }
    }

    #[test]
    fn numbers_pass_through_unchanged() {
        let body = r#"{"result":{"big":123456789012345678901234567890,"fee":0.00001000},"error":null,"id":3}"#;
        let result = decode_call(&answer(200, body), 3).unwrap();
        assert_eq!(result.get(), r#"{"big":123456789012345678901234567890,"fee":0.00001000}"#);
        let value: serde_json::Value = serde_json::from_str(result.get()).unwrap();
        assert_eq!(value.to_string(), result.get());
    }

    #[test]
    fn errors_of_the_node_keep_code_and_message_whatever_the_http_status() {
        let body = r#"{"result":null,"error":{"code":-8,"message":"Block height out of range"},"id":1}"#;
        for status in [200, 400, 404, 500] {
            let error = decode_call(&answer(status, body), 1).unwrap_err();
            assert_eq!(error, NodeError::Rpc { code: -8, message: "Block height out of range".into() });
        }
        let version_2 = r#"{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"},"id":1}"#;
        assert!(matches!(decode_call(&answer(200, version_2), 1), Err(NodeError::Rpc { code: -32601, .. })));
    }

    #[test]
    fn warming_up_counts_as_not_available() {
        let body = r#"{"result":null,"error":{"code":-28,"message":"Loading block index…"},"id":1}"#;
        assert!(
            matches!(decode_call(&answer(500, body), 1), Err(NodeError::Unavailable(text)) if text.contains("Loading"))
        );
    }

    #[test]
    fn an_answer_without_json_rpc_is_an_error_by_its_status() {
        assert_eq!(decode_call(&answer(401, ""), 1).unwrap_err(), NodeError::Unauthorized);
        assert!(matches!(decode_call(&answer(503, "Work queue depth exceeded"), 1), Err(NodeError::Unavailable(_))));
        assert!(matches!(decode_call(&answer(403, ""), 1), Err(NodeError::Rpc { .. })));
        for body in ["<html>hello</html>", "", "[]", "1", r#"{"result":1,"id":2}"#, r#"{"error":{},"id":1}"#] {
            assert!(matches!(decode_call(&answer(200, body), 1), Err(NodeError::Invalid(_))), "{body}");
        }
    }

    #[test]
    fn a_null_result_is_a_result() {
        assert_eq!(decode_call(&answer(200, r#"{"result":null,"error":null,"id":1}"#), 1).unwrap().get(), "null");
    }

    #[test]
    fn batch_answers_are_sorted_by_id_and_must_be_complete() {
        let body = r#"[{"result":"b","error":null,"id":8},{"result":"a","error":null,"id":7}]"#;
        let results = decode_batch(&answer(200, body), 7, 2).unwrap();
        let texts: Vec<_> = results.into_iter().map(|result| result.unwrap().get().to_owned()).collect();
        assert_eq!(texts, [r#""a""#, r#""b""#]);
        assert!(decode_batch(&answer(200, body), 7, 3).is_err());
        assert!(decode_batch(&answer(200, body), 8, 2).is_err());
        assert!(
            decode_batch(&answer(200, r#"{"result":null,"error":{"code":-1,"message":"x"},"id":7}"#), 7, 2).is_err()
        );
    }

    #[test]
    fn calls_that_create_something_are_not_repeated() {
        for method in ["generatetoaddress", "sendrawtransaction", "submitblock", "submitpackage"] {
            assert!(!is_repeatable(method), "{method}");
        }
        for method in ["getblock", "getblockhash", "testmempoolaccept"] {
            assert!(is_repeatable(method), "{method}");
        }
    }
}
