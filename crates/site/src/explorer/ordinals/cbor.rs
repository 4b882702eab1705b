//! CBOR (RFC 8949) as text, for metadata.

use std::fmt::Write as _;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};

use crate::explorer::text;

/// Deepest nesting, most items and most characters of a text that are written.
const DEPTH_MAX: usize = 16;
const ITEMS_MAX: usize = 400;
const TEXT_SHOWN: usize = 1_000;
/// Longest text that is written, bytes, before it ends with an ellipsis.
const WRITTEN_BYTES_MAX: usize = 40_000;
/// The additional information of an item of indefinite length, and the byte that ends it.
const INDEFINITE: u8 = 31;
const BREAK: u8 = 0xff;

/// CBOR in hexadecimal digits as text, in the manner of JSON; the digits themselves where they cannot be read.
pub(super) fn written(digits: &str) -> String {
    let bytes = HEXLOWER_PERMISSIVE.decode(digits.as_bytes()).ok();
    let whole = bytes.as_deref().and_then(|bytes| {
        let mut writer = Writer { rest: bytes, text: String::new(), items: 0 };
        writer.item(0)?;
        writer.rest.is_empty().then_some(writer.text)
    });
    whole.unwrap_or_else(|| text::clean(digits, TEXT_SHOWN))
}

struct Writer<'a> {
    rest: &'a [u8],
    text: String,
    items: usize,
}

impl<'a> Writer<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    /// The number after the first byte of an item.
    fn number(&mut self, information: u8) -> Option<u64> {
        let width = match information {
            0..24 => return Some(u64::from(information)),
            24..28 => 1 << (information - 24),
            _ => return None,
        };
        Some(self.take(width)?.iter().fold(0, |sum, &byte| (sum << 8) | u64::from(byte)))
    }

    /// The bytes of a string, whose parts stand apart where its length is indefinite.
    fn string(&mut self, information: u8) -> Option<Vec<u8>> {
        if information != INDEFINITE {
            let length = usize::try_from(self.number(information)?).ok()?;
            return self.take(length).map(<[u8]>::to_vec);
        }
        let mut whole = Vec::new();
        loop {
            let &[first] = self.take(1)? else { return None };
            if first == BREAK {
                return Some(whole);
            }
            if first & 31 == INDEFINITE {
                return None;
            }
            whole.extend(self.string(first & 31)?);
        }
    }

    fn item(&mut self, depth: usize) -> Option<()> {
        self.items += 1;
        if depth > DEPTH_MAX || self.items > ITEMS_MAX || self.text.len() > WRITTEN_BYTES_MAX {
            return None;
        }
        let &[first] = self.take(1)? else { return None };
        let information = first & 31;
        match first >> 5 {
            0 => {
                let number = self.number(information)?;
                let _ = write!(self.text, "{number}");
            }
            1 => {
                let number = -1 - i128::from(self.number(information)?);
                let _ = write!(self.text, "{number}");
            }
            2 => {
                let bytes = self.string(information)?;
                let shown = HEXLOWER.encode(bytes.get(..TEXT_SHOWN / 2).unwrap_or(&bytes));
                let more = if bytes.len() > TEXT_SHOWN / 2 { "…" } else { "" };
                let _ = write!(self.text, "h'{shown}{more}'");
            }
            3 => {
                let bytes = self.string(information)?;
                let shown = text::clean(std::str::from_utf8(&bytes).ok()?, TEXT_SHOWN);
                let _ = write!(self.text, "{shown:?}");
            }
            4 => self.list(information, depth, ['[', ']'], false)?,
            5 => self.list(information, depth, ['{', '}'], true)?,
            6 => {
                let tag = self.number(information)?;
                let _ = write!(self.text, "{tag}(");
                self.item(depth + 1)?;
                self.text.push(')');
            }
            _ => self.simple(information)?,
        }
        Some(())
    }

    /// The items of an array, or the pairs of a map.
    fn list(&mut self, information: u8, depth: usize, [open, close]: [char; 2], is_map: bool) -> Option<()> {
        let count = if information == INDEFINITE { None } else { Some(self.number(information)?) };
        self.text.push(open);
        let mut written = 0;
        while count.is_none_or(|count| written < count) {
            if count.is_none() && self.rest.first() == Some(&BREAK) {
                break;
            }
            self.text.push_str(if written == 0 { "\n" } else { ",\n" });
            self.indent(depth + 1);
            self.item(depth + 1)?;
            if is_map {
                self.text.push_str(": ");
                self.item(depth + 1)?;
            }
            written += 1;
        }
        if count.is_none() {
            self.take(1)?;
        }
        if written > 0 {
            self.text.push('\n');
            self.indent(depth);
        }
        self.text.push(close);
        Some(())
    }

    fn indent(&mut self, depth: usize) {
        self.text.extend(std::iter::repeat_n("  ", depth));
    }

    fn simple(&mut self, information: u8) -> Option<()> {
        match information {
            20 => self.text.push_str("false"),
            21 => self.text.push_str("true"),
            22 => self.text.push_str("null"),
            23 => self.text.push_str("undefined"),
            25 => {
                let half = u16::try_from(self.number(25)?).ok()?;
                let _ = write!(self.text, "{}", from_half(half));
            }
            26 => {
                let bits = u32::try_from(self.number(26)?).ok()?;
                let _ = write!(self.text, "{:?}", f32::from_bits(bits));
            }
            27 => {
                let bits = self.number(27)?;
                let _ = write!(self.text, "{:?}", f64::from_bits(bits));
            }
            0..=24 => {
                let value = self.number(information)?;
                let _ = write!(self.text, "simple({value})");
            }
            _ => return None,
        }
        Some(())
    }
}

/// A number of half precision (IEEE 754 binary16).
fn from_half(bits: u16) -> f64 {
    let exponent = i32::from((bits >> 10) & 31);
    let fraction = f64::from(bits & 1_023);
    let size = match exponent {
        0 => fraction * 2_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (fraction + 1_024.0) * 2_f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_written_in_the_manner_of_json() {
        for (digits, text) in [
            ("a26661727469737468706172616666696e657769636b7303", "{\n  \"artist\": \"paraffin\",\n  \"wicks\": 3\n}"),
            ("80", "[]"),
            ("820120", "[\n  1,\n  -1\n]"),
            ("9f01ff", "[\n  1\n]"),
            ("7f61616162ff", "\"ab\""),
            ("4301ff00", "h'01ff00'"),
            ("3bffffffffffffffff", "-18446744073709551616"),
            ("f93c00", "1"),
            ("f97bff", "65504"),
            ("fb3ff199999999999a", "1.1"),
            ("f6", "null"),
            ("c11a514b67b0", "1(1363896240)"),
            ("6222e2", "6222e2"),
        ] {
            assert_eq!(written(digits), text, "{digits}");
        }
    }

    #[test]
    fn hostile_metadata_is_bounded() {
        // Beyond the depth, more than there is, not even digits, two items.
        let bombs = ["81".repeat(5_000) + "00", "9bffffffffffffffff".to_owned(), "5bffffffffffffffff".to_owned()];
        for digits in bombs.iter().map(String::as_str).chain(["zz", "0102", "ff", "", "5f5f"]) {
            assert_eq!(written(digits), text::clean(digits, TEXT_SHOWN), "{digits}");
        }
        assert_eq!(written("63e280ae"), "\"\"");
        assert!(written(&format!("9a000f4240{}", "00".repeat(1_000_000))).len() < 2_000 + TEXT_SHOWN);
        let long = format!("7a0000ffff{}", "61".repeat(65_535));
        assert_eq!(written(&long).chars().count(), TEXT_SHOWN + 3);
    }
}
