//! A JSON-RPC body: what is no request is refused, and every answer is JSON that carries the id as it was written.

use paraffin_gateway::fuzzing::{nests_deeper_than, read_envelope, top_level_method};
use serde_json::Value;
use serde_json::value::RawValue;

const DEPTH_MAX: usize = 64;
const ENTRIES_MAX: usize = 20;

#[derive(serde::Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    jsonrpc: &'a str,
    error: Option<Value>,
}

pub(crate) fn run(body: &[u8]) {
    let whole = serde_json::from_slice::<Value>(body);
    match read_envelope(body, DEPTH_MAX, ENTRIES_MAX) {
        Err(code) => {
            assert!(code == -32700 || code == -32600, "{code}");
            if code == -32700 {
                // What serde reads as a value with a broken surrogate or a number beyond all floats is JSON all the same.
                assert!(whole.is_err(), "JSON is called none");
            }
        }
        Ok(entries) => {
            assert!(!entries.is_empty() && entries.len() <= ENTRIES_MAX);
            assert!(!nests_deeper_than(body, DEPTH_MAX));
            for entry in &entries {
                for answer in &entry.answers {
                    let read: Answer<'_> = serde_json::from_str(answer).expect("an answer is JSON");
                    assert_eq!(read.jsonrpc, "2.0");
                    assert_eq!(read.id.get(), entry.id.as_deref().unwrap_or("null"));
                    assert_eq!(read.error.is_some(), entry.method.is_err());
                }
                if let Err(code) = entry.method {
                    assert_eq!(code, -32600);
                }
            }
            // What may be large is decided by looking, before anything is parsed.
            if let (Ok(Value::Object(members)), [entry]) = (&whole, entries.as_slice())
                && let (Ok(method), Some(seen)) = (&entry.method, top_level_method(body))
                && members.len() == count_members(body)
                && !body.contains(&b'\\')
            {
                assert_eq!(seen, method.as_bytes());
            }
        }
    }
    let _ = (nests_deeper_than(body, 3), top_level_method(body));
}

/// The members of an object, those counted again that come twice.
fn count_members(body: &[u8]) -> usize {
    struct Count(usize);
    impl<'de> serde::Deserialize<'de> for Count {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Members;
            impl<'de> serde::de::Visitor<'de> for Members {
                type Value = Count;

                fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    formatter.write_str("an object")
                }

                fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Count, A::Error> {
                    let mut count = 0;
                    while map.next_entry::<serde::de::IgnoredAny, serde::de::IgnoredAny>()?.is_some() {
                        count += 1;
                    }
                    Ok(Count(count))
                }
            }
            deserializer.deserialize_map(Members)
        }
    }
    serde_json::from_slice::<Count>(body).map_or(0, |count| count.0)
}
