use paraffin_access::ApiKey;
use percent_encoding::percent_decode_str;

/// Hex runs at least this long are treated as keys, possibly mistyped ones.
const SUSPICIOUS_RUN: usize = 24;
/// Length of a transaction id or a block hash, which may be shown.
const HASH_DIGITS: usize = 64;
/// Digits of a key that may be shown.
const SHOWN: usize = 4;

/// `text` with everything in it that is or could be a key cut to its first four characters and `…` (docs/security.md).
///
/// Longer than a key's own 32 digits on purpose: a key with a digit too few or too many is still most of a secret.
/// A run of exactly 64 digits is a hash and stays.
pub fn redact(text: &str) -> String {
    redact_but(text, |digits| digits == HASH_DIGITS)
}

/// As [`redact`], with runs of a length that `may_stay` left as they are.
fn redact_but(text: &str, may_stay: impl Fn(usize) -> bool) -> String {
    let mut redacted = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let run = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        if run >= SUSPICIOUS_RUN && !may_stay(run) {
            redacted.push_str(&rest[..SHOWN]);
            redacted.push('…');
        } else {
            redacted.push_str(&rest[..run]);
        }
        rest = &rest[run..];
        let other = rest.bytes().take_while(|byte| !byte.is_ascii_hexdigit()).count();
        redacted.push_str(&rest[..other]);
        rest = &rest[other..];
    }
    redacted
}

/// The path of a request for a log line: percent-encoding resolved, so that it hides no key, control characters
/// escaped again, and keys redacted. Hashes are cut as well: a key followed by other digits can look like one, and a log of requests
/// does not need whole hashes.
pub(crate) fn redacted_path(path: &str) -> String {
    let text = percent_decode_str(path).decode_utf8_lossy();
    // A one-time sign-in token of the console follows.
    let mut segments = text.split('/').filter(|segment| !segment.is_empty());
    if segments.next() == Some("console") && segments.next() == Some("link") {
        return "/console/link/…".to_owned();
    }
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\'' | b'\\'));
    let escaped = if is_plain { text } else { text.escape_debug().to_string().into() };
    redact_but(&escaped, |_| false)
}

/// How logs name a key: its first four digits and `…`.
pub fn redacted_key(key: &ApiKey) -> String {
    format!("{}…", key.prefix())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn links_of_the_console_are_cut() {
        for path in ["/console/link/aB-3", "//console//link/aB-3/", "/console/%6cink/aB-3", "/console%2flink/aB-3"] {
            assert_eq!(redacted_path(path), "/console/link/…", "{path}");
        }
        assert_eq!(redacted_path("/console/keys"), "/console/keys");
    }

    #[test]
    fn keys_near_keys_and_keys_inside_words_are_cut_and_hashes_stay() {
        let key = "0123456789abcdef0123456789ABCDEF";
        let hash = "a".repeat(64);
        for (text, expected) in [
            (format!("/v4/{key}/mempool"), "/v4/0123…/mempool".to_owned()),
            (format!("/v4/{}", &key[1..]), "/v4/1234…".to_owned()),
            (format!("/v4/{key}0"), "/v4/0123…".to_owned()),
            (format!("x={key};y={key}"), "x=0123…;y=0123…".to_owned()),
            (format!("tx {hash}"), format!("tx {hash}")),
            ("/v4/api/get-alkanes".to_owned(), "/v4/api/get-alkanes".to_owned()),
            ("é0123".to_owned(), "é0123".to_owned()),
        ] {
            assert_eq!(redact(&text), expected);
        }
    }

    #[test]
    fn a_key_does_not_hide_behind_escapes_and_no_escape_breaks_the_line() {
        let key = "0123456789abcdef0123456789ABCDEF";
        let escaped: String = key.bytes().fold(String::new(), |text, byte| text + &format!("%{byte:02X}"));
        for (path, expected) in [
            (format!("/v4/{key}/mempool"), "/v4/0123…/mempool"),
            (format!("/v4/{escaped}/mempool"), "/v4/0123…/mempool"),
            (format!("/v4/{}%34{}", &key[..20], &key[21..]), "/v4/0123…"),
            (format!("/v4/%zz%/{escaped}%"), "/v4/%zz%/0123…%"),
            (format!("/v4/{key}{key}"), "/v4/0123…"),
            (format!("/v4/jsonrpc/tx/{}", "b".repeat(64)), "/v4/jsonrpc/tx/bbbb…"),
            ("/a%0a%1b%ff".to_owned(), "/a\\n\\u{1b}\u{fffd}"),
        ] {
            assert_eq!(redacted_path(&path), expected, "{path}");
        }
    }

    proptest! {
        #[test]
        fn a_key_between_other_characters_never_survives(before in "[^0-9a-fA-F]{0,8}", after in "[^0-9a-fA-F]{0,8}", key in "[0-9a-fA-F]{32}") {
            let redacted = redact(&format!("{before}{key}{after}"));
            prop_assert!(!redacted.contains(&key[4..]));
            prop_assert!(redacted.starts_with(&before) && redacted.ends_with(&after));
        }
    }
}
