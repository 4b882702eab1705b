//! Whatever reaches a log line: no run of digits long enough to be a key stays whole, and redacting twice changes nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use paraffin_gateway::redact;

fuzz_target!(|text: &str| {
    let redacted = redact(text);
    for run in redacted.split(|letter: char| !letter.is_ascii_hexdigit()) {
        assert!(run.len() < 32 || run.len() == 64, "{run}");
    }
    assert_eq!(redact(&redacted), redacted);
});
