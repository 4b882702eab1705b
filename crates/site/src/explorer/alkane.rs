//! Alkanes on pages: ids, names, amounts and pages of lists.

use std::fmt;
use std::str::FromStr;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;

use super::text;
use crate::failure::Failure;
use crate::html::grouped;

/// Decimals of an alkane that reports none.
const DECIMALS: u32 = 8;
/// Most decimal places of an amount in a table.
const PLACES_MAX: usize = 18;
/// Most rows before a page.
const OFFSET_MAX: u64 = 1_000_000;

/// The id of a contract and of the alkane that it issues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "IdParts")]
pub(crate) struct AlkaneId {
    block: u128,
    tx: u128,
}

#[derive(Deserialize)]
struct IdParts {
    block: String,
    tx: String,
}

impl TryFrom<IdParts> for AlkaneId {
    type Error = &'static str;

    fn try_from(parts: IdParts) -> Result<Self, Self::Error> {
        format!("{}:{}", parts.block, parts.tx).parse()
    }
}

impl FromStr for AlkaneId {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WRONG: &str = "This is no id of a contract: ids are written block:tx, such as 2:0.";
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let (block, tx) =
            text.trim().split_once(':').filter(|(block, tx)| is_number(block) && is_number(tx)).ok_or(WRONG)?;
        Ok(Self { block: block.parse().map_err(|_| WRONG)?, tx: tx.parse().map_err(|_| WRONG)? })
    }
}

impl fmt::Display for AlkaneId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.block, self.tx)
    }
}

impl AlkaneId {
    /// The id in the path of a page.
    pub(crate) fn of_path(text: &str) -> Result<Self, Failure> {
        text.parse().map_err(|sentence: &str| Failure::NotThere(sentence.to_owned()))
    }

    pub(crate) fn block(self) -> u128 {
        self.block
    }

    pub(crate) fn tx(self) -> u128 {
        self.tx
    }

    /// Wrapped bitcoin.
    pub(crate) fn is_frbtc(self) -> bool {
        self == Self { block: 32, tx: 0 }
    }
}

/// Names and decimals of an alkane.
#[derive(Debug, Clone)]
pub(crate) struct Coin {
    pub(crate) id: String,
    /// Its name, or else its symbol, or its id.
    pub(crate) name: String,
    /// Its symbol, or else its name, or its id: after an amount.
    pub(crate) symbol: String,
    pub(crate) decimals: u32,
}

impl Coin {
    pub(crate) fn new(id: AlkaneId, name: Option<&str>, symbol: Option<&str>, decimals: Option<u32>) -> Self {
        let of = |text: Option<&str>, most: usize| {
            text.map(|text| text::clean(text, most).trim().to_owned()).filter(|text| !text.is_empty())
        };
        let id = id.to_string();
        let name_text = of(name, 40).or_else(|| of(symbol, 40)).unwrap_or_else(|| id.clone());
        let symbol = of(symbol, 16).or_else(|| of(name, 16)).unwrap_or_else(|| id.clone());
        Self { id, name: name_text, symbol, decimals: decimals.unwrap_or(DECIMALS).min(255) }
    }

    /// An alkane of which only the id is known.
    pub(crate) fn unknown(id: AlkaneId) -> Self {
        Self::new(id, None, None, None)
    }

    /// An amount with its unit.
    pub(crate) fn amount(&self, digits: &str) -> String {
        format!("{} {}", self.digits(digits), self.symbol)
    }

    /// An amount without its unit.
    pub(crate) fn digits(&self, digits: &str) -> String {
        let amount = text::amount_text(digits, self.decimals);
        match amount.split_once('.') {
            Some((whole, fraction)) if fraction.len() > PLACES_MAX => format!("{whole}.{}…", &fraction[..PLACES_MAX]),
            _ => amount,
        }
    }

    /// An amount in whole units, for charts and ratios.
    pub(crate) fn units(&self, digits: &str) -> f64 {
        digits.parse::<f64>().unwrap_or(f64::NAN) * self.unit()
    }

    /// Value of a base unit in whole units.
    pub(crate) fn unit(&self) -> f64 {
        10_f64.powi(-i32::try_from(self.decimals).unwrap_or(0))
    }
}

/// Parses a typed amount, in base units.
pub(crate) fn parse_amount(typed: &str, decimals: u32) -> Result<u128, &'static str> {
    const WRONG: &str = "The amount is a number such as 1000 or 0.25.";
    let typed: String = typed.trim().chars().filter(|character| !matches!(character, ',' | '_')).collect();
    let (whole, fraction) = typed.split_once('.').unwrap_or((&typed, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || digits.len() > 80 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(WRONG);
    }
    let missing = (decimals as usize).checked_sub(fraction.len()).ok_or("The amount has too many decimal places.")?;
    let digits = format!("{digits}{}", "0".repeat(missing));
    digits
        .trim_start_matches('0')
        .parse()
        .or_else(|_| if digits.bytes().all(|byte| byte == b'0') { Ok(0) } else { Err("The amount is too large.") })
}

/// US dollars, or satoshis where there is no price in dollars; a dash for neither.
pub(crate) fn worth(dollars: Option<f64>, sats: Option<f64>) -> String {
    match (dollars, sats) {
        (Some(dollars), _) => text::dollars(dollars),
        (None, Some(sats)) => format!("{} sat", text::number(sats)),
        (None, None) => "—".to_owned(),
    }
}

/// A change in percent, with its sign.
pub(crate) fn change(percent: Option<f64>) -> Option<String> {
    percent.filter(|percent| percent.is_finite()).map(|percent| format!("{percent:+.2} %"))
}

/// A page of a list: from 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageOf {
    page: u64,
    rows: u64,
}

impl PageOf {
    pub(crate) fn new(page: Option<&str>, rows: u64) -> Self {
        let page = page.and_then(|page| page.trim().parse().ok()).unwrap_or(1);
        Self { page: u64::clamp(page, 1, OFFSET_MAX / rows.max(1)), rows }
    }

    pub(crate) fn rows(self) -> u64 {
        self.rows
    }

    pub(crate) fn offset(self) -> u64 {
        (self.page - 1) * self.rows
    }

    /// Links to the previous and next pages, empty where there is none; `address` ends with the name of the parameter and `=`.
    pub(crate) fn links(self, address: &str, total: u64, anchor: &str) -> Links {
        let at = |page: u64| format!("{address}{page}{anchor}");
        let before = if self.page > 1 { at(self.page - 1) } else { String::new() };
        let after = if self.offset() + self.rows < total { at(self.page + 1) } else { String::new() };
        let last = (self.offset() + self.rows).min(total);
        let shown = if total == 0 || last <= self.offset() {
            format!("none of {}", grouped(total))
        } else {
            format!("{} to {} of {}", grouped(self.offset() + 1), grouped(last), grouped(total))
        };
        Links { before, after, shown }
    }
}

/// Links below a page of a list.
pub(crate) struct Links {
    pub(crate) before: String,
    pub(crate) after: String,
    pub(crate) shown: String,
}

/// A text, percent-encoded for a URL.
pub(crate) fn encoded(text: &str) -> String {
    const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    utf8_percent_encode(text, ESCAPED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_digits_alone() {
        for text in ["2:0", " 340282366920938463463374607431768211455:7 "] {
            assert_eq!(text.parse::<AlkaneId>().unwrap().to_string(), text.trim());
        }
        for text in
            ["", "2", "2:", ":0", "2:-1", "+2:0", "2:0:0", "2:x", "340282366920938463463374607431768211456:0", "<b>:1"]
        {
            assert!(text.parse::<AlkaneId>().is_err(), "{text}");
        }
    }

    #[test]
    fn coins_have_a_name_whatever_they_say() {
        let id: AlkaneId = "2:7".parse().unwrap();
        let coin = Coin::new(id, Some(" \u{202e}\n"), Some(&"x".repeat(100_000)), Some(300));
        assert_eq!((coin.name.chars().count(), coin.symbol.chars().count(), coin.decimals), (41, 17, 255));
        assert_eq!(coin.digits("5"), format!("0.{}…", "0".repeat(18)));
        let coin = Coin::unknown(id);
        assert_eq!((coin.name.as_str(), coin.amount("123456789012").as_str()), ("2:7", "1,234.56789012 2:7"));
        assert_eq!(coin.digits("-1"), "—");
        let coin = Coin::new(id, None, Some("A"), Some(0));
        assert_eq!(coin.amount(&u128::MAX.to_string()), "340,282,366,920,938,463,463,374,607,431,768,211,455 A");
    }

    #[test]
    fn typed_amounts_are_exact_or_refused() {
        for (typed, decimals, units) in [
            ("1", 8, Ok(100_000_000)),
            ("0.25", 2, Ok(25)),
            ("1,000.5", 1, Ok(10_005)),
            ("0", 8, Ok(0)),
            (".5", 1, Ok(5)),
        ] {
            assert_eq!(parse_amount(typed, decimals), units, "{typed}");
        }
        for typed in ["", ".", "-1", "1e5", "1.2.3", "x", "0.123", "340282366920938463463374607431768211456"] {
            assert!(parse_amount(typed, 2).is_err(), "{typed}");
        }
        assert!(parse_amount("1", 255).is_err());
        assert_eq!(parse_amount("0", 255), Ok(0));
    }

    #[test]
    fn pages_are_bounded() {
        let page = |text: &str| PageOf::new(Some(text), 50);
        assert_eq!((page("x").offset(), page("0").offset(), page("3").offset()), (0, 0, 100));
        assert!(page("99999999999999999").offset() < OFFSET_MAX);
        let links = page("2").links("/a?page=", 120, "#b");
        assert_eq!((links.before.as_str(), links.after.as_str()), ("/a?page=1#b", "/a?page=3#b"));
        assert_eq!(links.shown, "51 to 100 of 120");
        let links = page("3").links("/a?page=", 120, "");
        assert_eq!((links.after.as_str(), links.shown.as_str()), ("", "101 to 120 of 120"));
        assert_eq!(page("1").links("", 0, "").shown, "none of 0");
        assert_eq!(page("9").links("", 3, "").shown, "none of 3");
    }

    #[test]
    fn what_is_no_letter_is_encoded() {
        assert_eq!(encoded("a:b/ü&\"<"), "a%3Ab%2F%C3%BC%26%22%3C");
        assert_eq!(encoded("A9-._~"), "A9-._~");
    }

    #[test]
    fn worth_and_change_are_written_or_left_out() {
        assert_eq!(worth(Some(2.0), Some(9.0)), "$2.00");
        assert_eq!(worth(None, Some(1_500.0)), "1,500 sat");
        assert_eq!(worth(None, None), "—");
        assert_eq!((change(Some(1.234)).as_deref(), change(None)), (Some("+1.23 %"), None));
    }
}
