//! Whatever reaches a log line: no run of digits long enough to be a key stays whole, and redacting twice changes nothing.

use paraffin_gateway::redact;

pub(crate) fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let redacted = redact(text);
    for run in redacted.split(|letter: char| !letter.is_ascii_hexdigit()) {
        assert!(run.len() < 32 || run.len() == 64, "{run}");
    }
    assert_eq!(redact(&redacted), redacted);
}
