//! A path segment or header that may be a key: exactly 32 hexadecimal digits are one, in either case.

use paraffin_access::ApiKey;

pub(crate) fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let is_key = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parsed = text.parse::<ApiKey>();
    assert_eq!(parsed.is_ok(), is_key);
    if let Ok(key) = parsed {
        assert_eq!(key.reveal(), text.to_ascii_lowercase());
        assert!(text.to_ascii_lowercase().starts_with(&key.prefix()[..4]));
    }
}
