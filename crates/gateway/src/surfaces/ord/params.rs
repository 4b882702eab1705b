//! Parameters of `ord_*`.

use std::fmt::Display;
use std::str::FromStr;

use bitcoin::{BlockHash, OutPoint, Txid};
use ordinals::Sat;
use paraffin_ordinals_index::event::InscriptionId;
use paraffin_primitives::Height;

use crate::errors::RpcError;
use crate::jsonrpc::{Params, parse_unsigned};

/// Letters of the longest name that a sat has.
const NAME_BYTES_MAX: usize = 11;
/// More bytes than the longest degree or percentile has.
const NOTATION_BYTES_MAX: usize = 64;

/// More cycles than there are: the last sats are of cycle 5.
const CYCLES_MAX: u32 = 10;

/// How a block is named.
pub(super) enum BlockQuery {
    Height(Height),
    Hash(BlockHash),
}

/// A parameter that is read as its type reads text; the type's own words say what is wrong.
pub(super) fn parsed<T: FromStr<Err: Display>>(params: &Params, index: usize, name: &str) -> Result<T, RpcError> {
    params.text(index, name)?.parse().map_err(|error: T::Err| RpcError::invalid_params(error.to_string()))
}

pub(super) fn inscription_id(params: &Params, index: usize) -> Result<InscriptionId, RpcError> {
    parsed(params, index, "the inscription id")
}

/// A page, the first when it is left out.
pub(super) fn page(params: &Params, index: usize) -> Result<u32, RpcError> {
    if params.get(index).is_none() {
        return Ok(0);
    }
    let page = params.unsigned(index, "the page")?;
    // No list has so many pages: the last one that can be named is empty.
    Ok(u32::try_from(page).unwrap_or(u32::MAX))
}

/// As [`page`]; a client writes an empty text for the first, which in `ord`'s path is the first as well.
pub(super) fn page_or_empty(params: &Params, index: usize) -> Result<u32, RpcError> {
    if params.get(index).is_some_and(|page| page.get() == r#""""#) { Ok(0) } else { page(params, index) }
}

/// A place in a list: from 0 counted from its beginning, below 0 from its end.
pub(super) fn position(params: &Params, index: usize) -> Result<i64, RpcError> {
    let text = params.text(index, "the place on the sat")?;
    let digits = text.strip_prefix('-').unwrap_or(&text);
    let place = parse_unsigned(digits).and_then(|_| text.parse().ok());
    place.ok_or_else(|| RpcError::invalid_params("the place on the sat must be an integer"))
}

pub(super) fn height(params: &Params, index: usize) -> Result<Height, RpcError> {
    // A height beyond 32 bits is above every tip.
    Ok(Height::try_from(params.unsigned(index, "the height")?).unwrap_or(Height::MAX))
}

pub(super) fn optional_height(params: &Params, index: usize) -> Result<Option<Height>, RpcError> {
    params.get(index).map(|_| height(params, index)).transpose()
}

/// A height, or a hash in display order.
pub(super) fn block(params: &Params, index: usize) -> Result<BlockQuery, RpcError> {
    let text = params.text(index, "the block")?;
    // 64 digits are a hash, also when none of them is a letter.
    if let Some(height) = parse_unsigned(&text).filter(|_| text.len() < 64) {
        return Ok(BlockQuery::Height(Height::try_from(height).unwrap_or(Height::MAX)));
    }
    let hash = text.parse().map_err(|_| RpcError::invalid_params("the block must be a height or a block hash"))?;
    Ok(BlockQuery::Hash(hash))
}

pub(super) fn txid(params: &Params, index: usize) -> Result<Txid, RpcError> {
    let text = params.text(index, "the txid")?;
    text.parse().map_err(|_| RpcError::invalid_params("the txid must be 64 hexadecimal digits"))
}

pub(super) fn outpoint(params: &Params, index: usize) -> Result<OutPoint, RpcError> {
    let text = params.text(index, "the outpoint")?;
    let wrong = || RpcError::invalid_params("the outpoint must be <txid>:<vout>");
    let (txid, vout) = text.split_once(':').ok_or_else(wrong)?;
    let vout = parse_unsigned(vout).and_then(|vout| u32::try_from(vout).ok()).ok_or_else(wrong)?;
    Ok(OutPoint { txid: txid.parse().map_err(|_| wrong())?, vout })
}

/// A number, a name in lower-case letters, or decimal, degree or percentile notation, as `ord` reads them.
pub(super) fn sat(params: &Params, index: usize) -> Result<Sat, RpcError> {
    let text = params.text(index, "the sat")?;
    read_sat(&text)
        .ok_or_else(|| RpcError::invalid_params("the sat must be its number, name, decimal, degree or percentile"))
}

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
