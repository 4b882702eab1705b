//! Types of the parameters of `ord_*`.

use std::fmt::Display;
use std::str::FromStr;

use bitcoin::{BlockHash, OutPoint};
use ordinals::Sat;
use paraffin_ordinals_index::event::InscriptionId;
use paraffin_ordinals_index::reader::{InscriptionQuery, OutputKind, RuneQuery};
use paraffin_primitives::Height;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use paraffin_gateway::jsonrpc::parse_unsigned;
use paraffin_gateway::methods::{NaturalText, Text, schema};

/// Letters of the longest name that a sat has.
const NAME_BYTES_MAX: usize = 11;
/// More bytes than the longest degree or percentile has.
const NOTATION_BYTES_MAX: usize = 64;

/// More cycles than there are: the last sats are of cycle 5.
const CYCLES_MAX: u32 = 10;

/// A parameter parsed with the `FromStr` of its type, whose error is the message.
pub(super) struct Parsed<T>(pub(super) T);

impl<'de, T: FromStr<Err: Display>> Deserialize<'de> for Parsed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Text(text) = Text::deserialize(deserializer)?;
        text.parse().map(Self).map_err(|error| D::Error::custom(format_args!("cannot be read: {error}")))
    }
}

/// A page.
#[derive(Default, JsonSchema)]
#[schemars(inline)]
pub(super) struct Page(#[schemars(with = "NaturalText")] pub(super) u32);

impl<'de> Deserialize<'de> for Page {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // No list has that many pages: the last representable one is empty.
        NaturalText::deserialize(deserializer).map(|page| Self(u32::try_from(page.0).unwrap_or(u32::MAX)))
    }
}

/// A page; an empty text is the first page, as in `ord`'s paths.
#[derive(Default, JsonSchema)]
#[schemars(inline)]
pub(super) struct PageOrEmpty(#[schemars(with = "NaturalText")] pub(super) u32);

impl<'de> Deserialize<'de> for PageOrEmpty {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wrong = || D::Error::custom("must be a non-negative integer");
        let Text(text) = Text::deserialize(deserializer).map_err(|_| wrong())?;
        let page = if text.is_empty() { 0 } else { parse_unsigned(&text).ok_or_else(wrong)? };
        Ok(Self(u32::try_from(page).unwrap_or(u32::MAX)))
    }
}

/// An index into a list: from 0 counted from its beginning, below 0 from its end.
pub(super) struct ListIndex(pub(super) i64);

impl FromStr for ListIndex {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let index = parse_unsigned(digits).and_then(|_| text.parse().ok());
        index.map(Self).ok_or("a place is an integer")
    }
}

/// A height beyond 32 bits is above every tip.
pub(super) fn height(height: NaturalText) -> Height {
    Height::try_from(height.0).unwrap_or(Height::MAX)
}

/// How a block is named.
pub(super) enum BlockQuery {
    Height(Height),
    Hash(BlockHash),
}

impl FromStr for BlockQuery {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        // 64 digits are a hash, also when none of them is a letter.
        if let Some(height) = parse_unsigned(text).filter(|_| text.len() < 64) {
            return Ok(Self::Height(Height::try_from(height).unwrap_or(Height::MAX)));
        }
        text.parse().map(Self::Hash).map_err(|_| "a block is named by its height or its hash")
    }
}

/// `txid:vout`.
pub(super) struct OutPointText(pub(super) OutPoint);

impl FromStr for OutPointText {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        const WRONG: &str = "an outpoint is <txid>:<vout>";
        let (txid, vout) = text.split_once(':').ok_or(WRONG)?;
        let vout = parse_unsigned(vout).and_then(|vout| u32::try_from(vout).ok()).ok_or(WRONG)?;
        Ok(Self(OutPoint { txid: txid.parse().map_err(|_| WRONG)?, vout }))
    }
}

/// A number, a name in lower-case letters, or decimal, degree or percentile notation, as `ord` reads them.
pub(super) struct SatText(pub(super) Sat);

impl FromStr for SatText {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        read_sat(text).map(Self).ok_or("a sat is its number, name, decimal, degree or percentile")
    }
}

schema!(Parsed<BlockQuery>, "HeightOrHash", {
    "anyOf": [{ "type": "integer", "minimum": 0 }, { "type": "string", "pattern": "^([0-9]+|[0-9a-fA-F]{64})$" }],
});
schema!(Parsed<InscriptionId>, "InscriptionId", { "type": "string", "pattern": "^[0-9a-fA-F]{64}i(0|[1-9][0-9]*)$" });
schema!(Parsed<InscriptionQuery>, "InscriptionQuery", inline { "type": "string" });
schema!(Parsed<OutPointText>, "OutPointText", inline { "type": "string" });
schema!(Parsed<OutputKind>, "OutputKind", inline { "type": "string" });
schema!(Parsed<ListIndex>, "Place", inline {});
schema!(Parsed<RuneQuery>, "RuneQuery", inline { "type": "string" });
schema!(Parsed<SatText>, "SatText", inline { "type": "string" });

fn read_sat(text: &str) -> Option<Sat> {
    let is_name = text.bytes().all(|byte| byte.is_ascii_lowercase());
    // The name of sat 0 has eleven letters; the parser multiplies before it looks at the length.
    let is_long = text.len() > if is_name { NAME_BYTES_MAX } else { NOTATION_BYTES_MAX };
    // Nor does it expect a cycle whose first height has more than 32 bits.
    let is_beyond =
        text.split_once('°').is_some_and(|(cycle, _)| !cycle.parse().is_ok_and(|cycle: u32| cycle < CYCLES_MAX));
    let is_plain = is_name || text.chars().all(|letter| letter.is_ascii_digit() || ".%°′″‴".contains(letter));
    if text.is_empty() || is_long || is_beyond || !is_plain { None } else { text.parse().ok() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_notation_of_a_sat_names_it(number in 0..Sat::SUPPLY) {
            let sat = Sat(number);
            for text in [number.to_string(), sat.name(), sat.decimal().to_string(), sat.degree().to_string()] {
                prop_assert_eq!(read_sat(&text), Some(sat), "{}", text);
            }
        }

        #[test]
        fn no_text_panics(text in "[0-9a-z.%°′″‴+-]{0,30}") {
            let _ = read_sat(&text);
        }
    }

    #[test]
    fn the_first_and_the_last_sat_have_every_notation_and_nothing_is_beyond_them() {
        let last = Sat::LAST;
        for text in ["2099999997689999", "a", "6929999.0", "5°209999′1007″0‴", "100%"] {
            assert_eq!(read_sat(text), Some(last), "{text}");
        }
        for text in ["0", "nvtdijuwxlp", "0.0", "0°0′0″0‴", "0°0′0″", "0%"] {
            assert_eq!(read_sat(text), Some(Sat(0)), "{text}");
        }
        for text in [
            "",
            "2099999997690000",
            "nvtdijuwxlq",
            "zzzzzzzzzzzzzz",
            "6930000.0",
            "0.5000000000",
            "1.",
            ".1",
            "1.2.3",
            "6°0′0″0‴",
            "715827883°0′0″0‴",
            "4294967295°1′1″1‴",
            "0°1′0″0‴",
            "0°210000′0″0‴",
            "0°0′2016″0‴",
            "0°0′0″0‴1",
            "°′″‴",
            "101%",
            "-1%",
            "NaN%",
            "+1",
            "-1",
            " 1",
            "A",
            "1e3",
        ] {
            assert_eq!(read_sat(text), None, "{text}");
        }
    }
}
