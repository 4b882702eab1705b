//! A path segment or header that may be a key: exactly 32 hexadecimal digits are one, in either case.
#![no_main]

use libfuzzer_sys::fuzz_target;
use paraffin_access::ApiKey;

fuzz_target!(|text: &str| {
    let is_key = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parsed = text.parse::<ApiKey>();
    assert_eq!(parsed.is_ok(), is_key);
    if let Ok(key) = parsed {
        assert_eq!(key.reveal(), text.to_ascii_lowercase());
        assert!(text.to_ascii_lowercase().starts_with(&key.prefix()[..4]));
    }
});
