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
        let text = params.text(index, "name");
        if let Ok(number) = params.unsigned(index, "name") {
            let text = text.expect("a number is text as well");
            assert_eq!(text.trim_start_matches('0'), number.to_string().trim_start_matches('0'));
        }
        let _ = params.optional_text(index, "name");
    }
}
