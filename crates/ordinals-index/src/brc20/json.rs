//! Reads the text members of a JSON object exactly as the reference indexer's JSON library does, in memory bounded by the text.
//!
//! What counts as JSON decides which inscriptions count at all, so the borders matter: nesting up to [`DEPTH_MAX`], numbers
//! that are no finite 64-bit float are refused, lone surrogates are refused, of equal keys the last one counts, and nothing
//! but white space may follow. `serde_json` with default features is that library. Here its feature `arbitrary_precision` is
//! on, which moves two of these borders, so the object is read by this file and `serde_json` is its judge in the tests.

use std::borrow::Cow;

/// Deepest nesting of arrays and objects, the object itself counted.
const DEPTH_MAX: usize = 127;
/// A number without an exponent is finite up to so many characters.
const FINITE_LEN_MAX: usize = 300;

/// The value of one key of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Member {
    /// The object does not have the key.
    Absent,
    /// A value that is no text.
    Other,
    /// A text.
    Text(String),
}

/// The members of an object with the given keys; `None` when the bytes are not one JSON object.
pub(super) fn members<const N: usize>(bytes: &[u8], keys: &[&str; N]) -> Option<[Member; N]> {
    let mut reader = Reader { bytes, at: 0 };
    reader.skip_space();
    if !reader.eat(b'{') {
        return None;
    }
    let mut values = [const { Member::Absent }; N];
    reader.skip_space();
    if !reader.eat(b'}') {
        loop {
            reader.skip_space();
            let key = reader.text()?;
            let wanted = keys.iter().position(|wanted| *wanted == key);
            reader.colon()?;
            match wanted {
                None => reader.skip_value(1)?,
                Some(index) => values[index] = reader.member()?,
            }
            reader.skip_space();
            match reader.next()? {
                b',' => {}
                b'}' => break,
                _ => return None,
            }
        }
    }
    reader.skip_space();
    (reader.at == bytes.len()).then_some(values)
}

/// An open array or object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Array,
    Object,
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Reader<'b> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn eat(&mut self, wanted: u8) -> bool {
        let is_there = self.peek() == Some(wanted);
        self.at += usize::from(is_there);
        is_there
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    fn skip_digits(&mut self) -> usize {
        let from = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        self.at - from
    }

    /// The value of a member that is wanted.
    fn member(&mut self) -> Option<Member> {
        self.skip_space();
        if self.peek() == Some(b'"') {
            return Some(Member::Text(self.text()?.into_owned()));
        }
        self.skip_value(1)?;
        Some(Member::Other)
    }

    /// Skips one value below `depth` open arrays and objects. Not recursive: depth costs a byte each, not a frame.
    fn skip_value(&mut self, depth: usize) -> Option<()> {
        let mut open = Vec::new();
        loop {
            self.skip_space();
            let is_opening = match self.peek()? {
                b'[' => Some(Open::Array),
                b'{' => Some(Open::Object),
                _ => None,
            };
            if let Some(kind) = is_opening {
                self.at += 1;
                if depth + open.len() >= DEPTH_MAX {
                    return None;
                }
                self.skip_space();
                let end = if kind == Open::Array { b']' } else { b'}' };
                if !self.eat(end) {
                    open.push(kind);
                    self.skip_key(kind)?;
                    continue;
                }
            } else {
                self.skip_scalar()?;
            }
            // One value is over, and with it everything that ends here.
            loop {
                let Some(kind) = open.last().copied() else { return Some(()) };
                self.skip_space();
                match (self.next()?, kind) {
                    (b',', kind) => {
                        self.skip_key(kind)?;
                        break;
                    }
                    (b']', Open::Array) | (b'}', Open::Object) => drop(open.pop()),
                    _ => return None,
                }
            }
        }
    }

    fn skip_key(&mut self, kind: Open) -> Option<()> {
        if kind == Open::Object {
            self.skip_space();
            self.text()?;
            self.colon()?;
        }
        Some(())
    }

    fn colon(&mut self) -> Option<()> {
        self.skip_space();
        self.eat(b':').then_some(())
    }

    fn skip_scalar(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => self.text().map(drop),
            b'-' | b'0'..=b'9' => self.skip_number(),
            _ => {
                let rest = &self.bytes[self.at..];
                let word = [&b"true"[..], b"false", b"null"].into_iter().find(|word| rest.starts_with(word))?;
                self.at += word.len();
                Some(())
            }
        }
    }

    fn skip_number(&mut self) -> Option<()> {
        let from = self.at;
        self.eat(b'-');
        match self.next()? {
            b'0' => {}
            b'1'..=b'9' => drop(self.skip_digits()),
            _ => return None,
        }
        // A zero is followed by no digit.
        if self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return None;
        }
        if self.eat(b'.') && self.skip_digits() == 0 {
            return None;
        }
        let has_exponent = matches!(self.peek(), Some(b'e' | b'E'));
        if has_exponent {
            self.at += 1;
            let _ = self.eat(b'+') || self.eat(b'-');
            if self.skip_digits() == 0 {
                return None;
            }
        }
        let number = &self.bytes[from..self.at];
        let is_finite =
            (!has_exponent && number.len() <= FINITE_LEN_MAX) || serde_json::from_slice::<f64>(number).is_ok();
        is_finite.then_some(())
    }

    /// A text in its quotation marks.
    fn text(&mut self) -> Option<Cow<'b, str>> {
        if !self.eat(b'"') {
            return None;
        }
        let from = self.at;
        loop {
            match self.next()? {
                b'"' => return std::str::from_utf8(&self.bytes[from..self.at - 1]).ok().map(Cow::Borrowed),
                b'\\' => break,
                0..=0x1f => return None,
                _ => {}
            }
        }
        let mut text = self.bytes[from..self.at - 1].to_vec();
        self.at -= 1;
        loop {
            match self.next()? {
                b'"' => return String::from_utf8(text).ok().map(Cow::Owned),
                b'\\' => {
                    let mut buffer = [0; 4];
                    text.extend_from_slice(self.escape()?.encode_utf8(&mut buffer).as_bytes());
                }
                0..=0x1f => return None,
                byte => text.push(byte),
            }
        }
    }

    /// Reads the escape after a backslash.
    fn escape(&mut self) -> Option<char> {
        Some(match self.next()? {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.code_point(),
            _ => return None,
        })
    }

    fn code_point(&mut self) -> Option<char> {
        let first = self.hex()?;
        if !(0xd800..0xdc00).contains(&first) {
            return char::from_u32(first);
        }
        if !(self.eat(b'\\') && self.eat(b'u')) {
            return None;
        }
        let second = self.hex()?.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
        char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + second)
    }

    fn hex(&mut self) -> Option<u32> {
        (0..4).try_fold(0, |value, _| Some(value << 4 | char::from(self.next()?).to_digit(16)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    const KEYS: [&str; 2] = ["a", "b"];

    /// The result of `serde_json`; numbers beyond the range of a float, which it accepts here, are for other tests.
    fn judge(bytes: &[u8]) -> Option<[Member; 2]> {
        let Ok(Value::Object(object)) = serde_json::from_slice::<Value>(bytes) else { return None };
        Some(KEYS.map(|key| match object.get(key) {
            None => Member::Absent,
            Some(Value::String(text)) => Member::Text(text.clone()),
            Some(_) => Member::Other,
        }))
    }

    fn check(bytes: &[u8]) {
        assert_eq!(members(bytes, &KEYS), judge(bytes), "{}", String::from_utf8_lossy(bytes));
    }

    fn text(text: &str) -> Member {
        Member::Text(text.to_owned())
    }

    #[test]
    fn of_equal_keys_the_last_one_counts() {
        assert_eq!(members(br#"{"a":"1","a":"2"}"#, &KEYS), Some([text("2"), Member::Absent]));
        assert_eq!(members(br#"{"a":"1","a":2}"#, &KEYS), Some([Member::Other, Member::Absent]));
        assert_eq!(members(br#"{"a":1,"\u0061":"2"}"#, &KEYS), Some([text("2"), Member::Absent]));
    }

    #[test]
    fn escapes_are_undone_in_keys_and_values() {
        let bytes = br#"{"\u0062":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"}"#;
        assert_eq!(members(bytes, &KEYS), Some([Member::Absent, text("\"\\/\u{8}\u{c}\n\r\té😀")]));
        check(bytes);
    }

    #[test]
    fn nesting_is_allowed_as_deep_as_the_reference_allows_it() {
        for depth in [1, 2, 126, 127, 128, 129, 100_000] {
            for (open, close) in [("[", "]"), ("{\"x\":", "}")] {
                let inner = depth - 1;
                let close = close.repeat(inner);
                let bytes = format!("{{\"a\":{}0{close}}}", open.repeat(inner)).into_bytes();
                assert_eq!(members(&bytes, &KEYS).is_some(), depth <= DEPTH_MAX, "{depth}");
                check(&bytes);
            }
        }
        // Empty ones count as well.
        for depth in [126, 127, 128] {
            let bytes = format!("{{\"a\":{}{}}}", "[".repeat(depth - 1), "]".repeat(depth - 1)).into_bytes();
            check(&bytes);
        }
    }

    #[test]
    fn numbers_beyond_a_float_are_refused_and_tiny_ones_are_not() {
        let with = |number: &str| members(format!("{{\"a\":{number}}}").as_bytes(), &KEYS).is_some();
        for number in ["1e308", "-1e308", "1e-400", "0e99999", "1e-99999999999999999999", "0.0000", "-0", "1E+2"] {
            assert!(with(number), "{number}");
        }
        for number in ["1e309", "-1e309", "1e400", "1e99999999999999999999", "123e307"] {
            assert!(!with(number), "{number}");
        }
        assert!(with(&"9".repeat(308)));
        assert!(!with(&"9".repeat(400)));
        assert!(!with(&"9".repeat(1_000_000)));
        assert!(with(&format!("0.{}", "9".repeat(1_000_000))));
        for number in ["01", "-", "+1", "1.", ".1", "1e", "1e+", "00", "0x1", "NaN", "Infinity", "1_0"] {
            assert!(!with(number), "{number}");
            check(format!("{{\"a\":{number}}}").as_bytes());
        }
    }

    #[test]
    fn an_object_named_like_a_number_of_the_library_is_an_object() {
        let bytes = br#"{"a":{"$serde_json::private::Number":"1"}}"#;
        assert_eq!(members(bytes, &KEYS), Some([Member::Other, Member::Absent]));
    }

    #[test]
    fn what_the_reference_refuses_is_refused() {
        for bytes in [
            &b""[..],
            b"{",
            b"}",
            b"[]",
            b"\"a\"",
            b"null",
            b"{\"a\":\"1\"}x",
            b"{\"a\":\"1\"}}",
            b"{\"a\":\"1\",}",
            b"{,}",
            b"{a:1}",
            b"{'a':1}",
            b"{\"a\" 1}",
            b"{\"a\":}",
            b"{\"a\":[1,]}",
            b"{\"a\":[1 2]}",
            b"{\"a\":{]}",
            b"{\"a\":tru}",
            b"{\"a\":True}",
            b"{\"a\":\"\n\"}",
            b"{\"a\":\"\\x\"}",
            b"{\"a\":\"\\u12\"}",
            b"{\"a\":\"\\u12g4\"}",
            b"{\"a\":\"\\ud800\"}",
            b"{\"a\":\"\\udc00\"}",
            b"{\"a\":\"\\ud800\\u0041\"}",
            b"{\"a\":\"\xff\"}",
            b"{\"\xff\":\"\"}",
            b"{\"c\":[\"\xff\"]}",
            b"\xef\xbb\xbf{}",
            b"{}\0",
            b"{/**/}",
        ] {
            assert_eq!(members(bytes, &KEYS), None, "{}", String::from_utf8_lossy(bytes));
            assert_eq!(judge(bytes), None, "{}", String::from_utf8_lossy(bytes));
        }
    }

    fn value() -> impl Strategy<Value = String> {
        let scalar = prop_oneof![
            Just("null".to_owned()),
            Just("true".to_owned()),
            any::<i64>().prop_map(|number| number.to_string()),
            "-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,3})?([eE][+-]?[0-9]{1,2})?",
            "\"[a-b\\\\\"u0-9 é]{0,6}\"",
            any::<String>().prop_map(|text| Value::String(text).to_string()),
        ];
        scalar.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(" ,"))),
                prop::collection::vec(("[abc]", inner), 0..4).prop_map(|members| {
                    let members: Vec<_> = members.iter().map(|(key, value)| format!("\"{key}\" :{value}")).collect();
                    format!("{{{}}}", members.join(","))
                }),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn generated_objects_read_as_the_judge_reads_them(values in prop::collection::vec(("[abc]", value()), 0..5)) {
            let members: Vec<_> = values.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
            check(format!(" {{{}}}\r\n", members.join(", ")).as_bytes());
        }

        #[test]
        fn damaged_objects_read_as_the_judge_reads_them(
            value in value(), at in any::<prop::sample::Index>(), byte in any::<u8>()
        ) {
            let mut bytes = format!("{{\"a\":{value},\"b\":\"x\"}}").into_bytes();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            // An exponent of three digits may leave the range of a float, where the judge of this build differs.
            let is_wide = bytes.windows(4).any(|window| {
                let digits = window.iter().filter(|byte| byte.is_ascii_digit()).count();
                window.iter().any(|byte| matches!(byte, b'e' | b'E')) && digits >= 3
            });
            if !is_wide {
                check(&bytes);
            }
        }
    }
}
