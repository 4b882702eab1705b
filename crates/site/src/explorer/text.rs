//! Formatting of texts and numbers of the chain.

/// Characters that change the direction of text, or are invisible.
const fn is_hidden(character: char) -> bool {
    matches!(character,
        '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// A text of the chain, at most `characters_max` long: without hidden and control characters, so that it stays on one line and cannot
/// imitate another text. A cut end is an ellipsis.
pub(crate) fn clean(text: &str, characters_max: usize) -> String {
    let mut cleaned = String::new();
    let visible = text.chars().filter(|&character| !is_hidden(character));
    let visible = visible.map(|character| if character.is_control() { ' ' } else { character });
    for (index, character) in visible.enumerate() {
        if index == characters_max {
            cleaned.push('…');
            break;
        }
        cleaned.push(character);
    }
    cleaned
}

/// The beginning and the end of a long word, such as a hash.
pub(crate) fn short(word: &str) -> String {
    const ENDS: usize = 8;
    if word.len() <= 2 * ENDS + 3 || !word.is_ascii() {
        return clean(word, 40);
    }
    format!("{}…{}", &word[..ENDS], &word[word.len() - ENDS..])
}

/// Digits with separated thousands.
fn grouped_digits(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// An amount in its smallest unit, with this many decimals: exact, without zeros at its end.
pub(crate) fn amount(units: u128, decimals: u32) -> String {
    let decimals = decimals as usize;
    let digits = units.to_string();
    let digits = if digits.len() <= decimals { format!("{digits:0>width$}", width = decimals + 1) } else { digits };
    let (whole, fraction) = digits.split_at(digits.len() - decimals);
    let fraction = fraction.trim_end_matches('0');
    let whole = grouped_digits(whole);
    if fraction.is_empty() { whole } else { format!("{whole}.{fraction}") }
}

/// As [`amount`], for the digits of an answer; a dash for an invalid number.
pub(crate) fn amount_text(digits: &str, decimals: u32) -> String {
    digits.parse().map_or_else(|_| "—".to_owned(), |units| amount(units, decimals))
}

/// Satoshis as bitcoin, all eight decimals.
pub(crate) fn bitcoin(sats: u64) -> String {
    let (whole, fraction) = (sats / 100_000_000, sats % 100_000_000);
    format!("{}.{fraction:08}", grouped_digits(&whole.to_string()))
}

/// A number of any size with about six significant digits; a dash for NaN and infinities.
pub(crate) fn number(value: f64) -> String {
    if !value.is_finite() {
        return "—".to_owned();
    }
    let size = value.abs();
    let decimals = match size {
        0.0 => 0,
        size if size >= 1_000.0 => 0,
        size if size >= 1.0 => 4,
        size if size >= 1e-12 => {
            #[allow(clippy::cast_possible_truncation)] // -12 to 0
            let zeros = -size.log10().floor() as i32;
            usize::try_from(zeros).unwrap_or(0) + 4
        }
        _ => return format!("{value:e}"),
    };
    if size >= 1e15 {
        return format!("{value:.4e}");
    }
    let text = format!("{size:.decimals$}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let fraction = fraction.trim_end_matches('0');
    let sign = if value < 0.0 { "-" } else { "" };
    let whole = grouped_digits(whole);
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

/// US dollars.
pub(crate) fn dollars(value: f64) -> String {
    if value.abs() >= 1.0 && value.abs() < 1_000.0 { format!("${value:.2}") } else { format!("${}", number(value)) }
}

/// US dollars to the cent, for any size; for prices that are compared.
pub(crate) fn dollars_in_full(value: f64) -> String {
    if !(1.0..1e15).contains(&value.abs()) {
        return dollars(value);
    }
    let text = format!("{:.2}", value.abs());
    let (whole, cents) = text.split_once('.').unwrap_or((&text, "00"));
    format!("{}${}.{cents}", if value < 0.0 { "-" } else { "" }, grouped_digits(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_texts_are_cleaned() {
        assert_eq!(clean("a\u{202e}b\nc\u{200b}", 9), "ab c");
        assert_eq!(clean(&"x".repeat(100_000), 5), "xxxxx…");
        assert_eq!(clean("five5", 5), "five5");
    }

    #[test]
    fn amounts_are_exact() {
        for (units, decimals, text) in [
            (0, 8, "0"),
            (1, 8, "0.00000001"),
            (123_456_789_000, 8, "1,234.56789"),
            (1_000, 0, "1,000"),
            (u128::MAX, 18, "340,282,366,920,938,463,463.374607431768211455"),
        ] {
            assert_eq!(amount(units, decimals), text);
        }
        assert_eq!(amount_text("x", 8), "—");
        assert_eq!(bitcoin(2_100_000_000_000_001), "21,000,000.00000001");
        assert_eq!(amount(5, 300).len(), 302);
    }

    #[test]
    fn numbers_of_any_size_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (1_234.5, "1,234"),
            (-2.5, "-2.5"),
            (0.000_012_345_6, "0.000012346"),
            (f64::NAN, "—"),
            (1e300, "1.0000e300"),
        ] {
            assert_eq!(number(value), text);
        }
        assert_eq!(dollars(12.345), "$12.35");
        assert_eq!(dollars_in_full(72_674.566), "$72,674.57");
        assert_eq!(dollars_in_full(f64::INFINITY), "$—");
    }

    #[test]
    fn hashes_keep_both_ends() {
        assert_eq!(short(&"ab".repeat(32)), "abababab…abababab");
        assert_eq!(short("2:0"), "2:0");
    }
}
