//! Parameters of `ord_*`.

use std::fmt::Display;
use std::str::FromStr;

use bitcoin::{BlockHash, OutPoint, Txid};
use ordinals::Sat;
use paraffin_ordinals_index::event::InscriptionId;
use paraffin_primitives::Height;

use crate::errors::RpcError;
use crate::jsonrpc::{Params, parse_unsigned};

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

/// A number, or a name in lower-case letters.
pub(super) fn sat(params: &Params, index: usize) -> Result<Sat, RpcError> {
    let text = params.text(index, "the sat")?;
    let wrong = || RpcError::invalid_params("the sat must be its number or its name in lower-case letters");
    if let Some(number) = parse_unsigned(&text) {
        return if number < Sat::SUPPLY {
            Ok(Sat(number))
        } else {
            Err(RpcError::invalid_params("there are fewer sats than this number"))
        };
    }
    let is_name = !text.is_empty() && text.len() <= 11 && text.bytes().all(|byte| byte.is_ascii_lowercase());
    if is_name { text.parse().map_err(|_| wrong()) } else { Err(wrong()) }
}
