//! The `params` member of a JSON-RPC request: every accessor answers or refuses, whatever the JSON.

use paraffin_gateway::Params;
use serde_json::value::RawValue;

pub(crate) fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Ok(raw) = serde_json::from_str::<&RawValue>(text) else { return };
    let Ok(params) = Params::parse(Some(raw)) else { return };
    assert_eq!(params.is_empty(), matches!(params.len(), 0));
    assert!(params.at_most(params.len()).is_ok());
    let _ = params.none();
    for index in 0..=params.len() {
        let raw = params.get(index).map(RawValue::get);
        match params.optional_text(index, "name") {
            Ok(None) => assert_eq!(raw, None),
            Ok(Some(text)) => assert!(raw.is_some_and(|raw| raw == text || raw.starts_with('"'))),
            Err(error) => assert!(error.message.starts_with("name must be")),
        }
    }
}
