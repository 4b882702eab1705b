//! Which bytes a class of a pattern stands for (Lua 5.4 manual, 6.4.1), in the C locale whatever the process has.

/// Whether `byte` is in the class `%letter`; a letter in upper case is the rest of the bytes. Whatever is no letter of a
/// class stands for itself.
pub(super) fn has(letter: u8, byte: u8) -> bool {
    let inside = match letter.to_ascii_lowercase() {
        b'a' => byte.is_ascii_alphabetic(),
        b'c' => byte.is_ascii_control(),
        b'd' => byte.is_ascii_digit(),
        b'g' => byte.is_ascii_graphic(),
        b'l' => byte.is_ascii_lowercase(),
        b'p' => byte.is_ascii_punctuation(),
        b's' => matches!(byte, b' ' | b'\t'..=b'\r'),
        b'u' => byte.is_ascii_uppercase(),
        b'w' => byte.is_ascii_alphanumeric(),
        b'x' => byte.is_ascii_hexdigit(),
        _ => return letter == byte,
    };
    inside != letter.is_ascii_uppercase()
}

/// Whether `byte` is in the set whose content, between the brackets, is `set`.
pub(super) fn in_set(set: &[u8], byte: u8) -> bool {
    let (set, wanted) = match set.split_first() {
        Some((b'^', rest)) => (rest, false),
        _ => (set, true),
    };
    let mut rest = set;
    while let Some((&first, tail)) = rest.split_first() {
        rest = match (first, tail) {
            (b'%', [letter, after @ ..]) => {
                if has(*letter, byte) {
                    return wanted;
                }
                after
            }
            (low, [b'-', high, after @ ..]) => {
                if (low..=*high).contains(&byte) {
                    return wanted;
                }
                after
            }
            (same, after) => {
                if same == byte {
                    return wanted;
                }
                after
            }
        };
    }
    !wanted
}
