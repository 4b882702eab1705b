//! Scans JSON text without parsing it, for checks that must come before parsing.

/// Prefix of names that are special to `serde_json`: it parses the string behind them as JSON again, so that brackets in a string
/// can nest.
const PRIVATE_NAMES: &[u8] = b"$serde_json::private::";

/// Whether arrays and objects nest deeper than `limit`, or may do so behind a private name of the library. For text that is not JSON
/// the result is unspecified, but it never panics.
pub fn nests_deeper_than(text: &[u8], limit: usize) -> bool {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for (index, &byte) in text.iter().enumerate() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' if begins_private(&text[index + 1..]) => return true,
            b'"' => in_string = true,
            b'[' | b'{' => {
                depth += 1;
                if depth > limit {
                    return true;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// Whether the content of a string begins with [`PRIVATE_NAMES`], escaped or not.
fn begins_private(content: &[u8]) -> bool {
    let mut rest = content;
    for &expected in PRIVATE_NAMES {
        rest = match rest {
            [byte, tail @ ..] if *byte == expected => tail,
            [b'\\', b'u', b'0', b'0', high, low, tail @ ..] => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                if digit(high).zip(digit(low)).map(|(high, low)| high * 16 + low) != Some(u32::from(expected)) {
                    return false;
                }
                tail
            }
            _ => return false,
        };
    }
    true
}

/// The `method` of a single request, found in the beginning of its body; `None` when it is not there.
///
/// A body larger than the ordinary limit is read on only for methods that may have one, so the method must come before the
/// large parameter, as in what all known clients send.
pub fn top_level_method(beginning: &[u8]) -> Option<&[u8]> {
    let mut at = skip_space(beginning, 0);
    if beginning.get(at) != Some(&b'{') {
        return None;
    }
    at += 1;
    loop {
        at = skip_space(beginning, at);
        let (name, after) = string_at(beginning, at)?;
        at = skip_space(beginning, after);
        if beginning.get(at) != Some(&b':') {
            return None;
        }
        at = skip_space(beginning, at + 1);
        if name == b"method" {
            return string_at(beginning, at).map(|(method, _)| method);
        }
        at = skip_space(beginning, skip_value(beginning, at)?);
        if beginning.get(at) != Some(&b',') {
            return None;
        }
        at += 1;
    }
}

fn skip_space(text: &[u8], mut at: usize) -> usize {
    while text.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

/// The bytes between the quotes, escapes left as they are, and the offset after the closing quote.
fn string_at(text: &[u8], at: usize) -> Option<(&[u8], usize)> {
    if text.get(at) != Some(&b'"') {
        return None;
    }
    let start = at + 1;
    let mut end = start;
    loop {
        match text.get(end)? {
            b'"' => return Some((&text[start..end], end + 1)),
            b'\\' => end += 2,
            _ => end += 1,
        }
    }
}

/// The offset after the value that starts at `at`.
fn skip_value(text: &[u8], at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut offset = at;
    loop {
        match text.get(offset)? {
            b'"' => offset = string_at(text, offset)?.1,
            b'[' | b'{' => {
                depth += 1;
                offset += 1;
            }
            b']' | b'}' => {
                if depth == 0 {
                    return Some(offset);
                }
                depth -= 1;
                offset += 1;
            }
            b',' if depth == 0 => return Some(offset),
            _ => offset += 1,
        }
        if depth == 0 && matches!(text.get(offset), Some(b',' | b'}')) {
            return Some(offset);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn depth_counts_brackets_outside_strings() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(!nests_deeper_than(nested(64).as_bytes(), 64));
        assert!(nests_deeper_than(nested(65).as_bytes(), 64));
        assert!(nests_deeper_than(format!("{{\"a\":{}}}", nested(64)).as_bytes(), 64));
        assert!(!nests_deeper_than(format!("\"{}\\\"{}\"", "[".repeat(80), "[".repeat(80)).as_bytes(), 64));
        assert!(!nests_deeper_than("[],".repeat(100).as_bytes(), 64));
    }

    #[test]
    fn brackets_that_the_library_would_find_in_a_text_count_as_too_deep() {
        for name in [
            "$serde_json::private::RawValue",
            "$serde_json::private::Number",
            r"\u0024serde_json::private::RawValue",
            r"$serde\u005fjson\u003A\u003a\u0070rivate::RawValue",
        ] {
            let text = json_object(name, "[[[[]]]]");
            assert!(nests_deeper_than(text.as_bytes(), 64), "{text}");
        }
        // The library does parse such text again.
        let text = json_object("$serde_json::private::RawValue", "[[[[]]]]");
        assert!(serde_json::from_str::<serde_json::Value>(&text).unwrap().is_array());
        for name in ["$serde_json", "serde_json::private::RawValue", r"\u0025serde_json::private::", "$", ""] {
            assert!(!nests_deeper_than(json_object(name, "[[[[]]]]").as_bytes(), 1), "{name}");
        }
    }

    fn json_object(name: &str, text: &str) -> String {
        format!(r#"{{"{name}":"{text}"}}"#)
    }

    #[test]
    fn the_method_is_found_wherever_it_stands_before_the_end_of_the_beginning() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(top_level_method(text.as_bytes()), expected.map(str::as_bytes), "{text}");
        };
        check(r#"{"method":"btc_sendrawtransaction","params":["00"#, Some("btc_sendrawtransaction"));
        check(r#" { "jsonrpc" : "2.0", "id" : {"method":"no"} , "method" : "m" "#, Some("m"));
        check(r#"{"id":[1,{"a":"]}"}],"x":null,"y":-1e5,"method":"m""#, Some("m"));
        check(r#"{"id":"\"method\":\"no\"","method":"m""#, Some("m"));
        check(r#"{"params":["00000"#, None);
        check(r#"[{"method":"m"}]"#, None);
        check(r#"{"method":5}"#, None);
        check(r#"{"method":"m"#, None);
        check("", None);
        check("{", None);
        check(r#"{"a":1}"#, None);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
            let _ = nests_deeper_than(&bytes, 3);
            let _ = top_level_method(&bytes);
        }

        #[test]
        fn json_like_bytes_never_panic(text in r#"[\[\]{}":,\\a1 ]{0,60}"#) {
            let _ = nests_deeper_than(text.as_bytes(), 3);
            let _ = top_level_method(text.as_bytes());
        }
    }
}
