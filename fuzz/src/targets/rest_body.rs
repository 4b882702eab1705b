//! The body of a REST request: a JSON object or a refusal, and a count that is capped.

use paraffin_gateway::fuzzing::rest_body;
use serde_json::Value;

pub(crate) fn run(body: &[u8]) {
    let read = rest_body(body, 64, 500);
    let whole = serde_json::from_slice::<Value>(body);
    if !matches!(whole, Ok(Value::Object(_))) {
        assert!(read.is_err(), "only an object is a body");
        return;
    }
    if let Ok((_, Some(limit))) = read {
        assert!((1..=500).contains(&limit));
    }
}
