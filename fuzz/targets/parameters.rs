//! The `params` member of a JSON-RPC request: every accessor answers or refuses, whatever the JSON.
#![no_main]

use libfuzzer_sys::fuzz_target;
use paraffin_gateway::Params;
use serde_json::value::RawValue;

fuzz_target!(|text: &str| {
    let Ok(raw) = serde_json::from_str::<&RawValue>(text) else { return };
    let Ok(params) = Params::parse(Some(raw)) else { return };
    assert_eq!(params.is_empty(), params.len() == 0);
    assert!(params.at_most(params.len()).is_ok());
    let _ = params.none();
    for index in 0..params.len() + 1 {
        let text = params.text(index, "name");
        if let Ok(number) = params.unsigned(index, "name") {
            let text = text.expect("a number is text as well");
            assert_eq!(text.trim_start_matches('0'), number.to_string().trim_start_matches('0'));
        }
        let _ = params.optional_text(index, "name");
    }
});
