//! Parameters of the query.

use bitcoin::ScriptBuf;
use bitcoin::hex::{DisplayHex as _, FromHex as _};
use paraffin_ordinals_index::event::InscriptionId;
use paraffin_primitives::Height;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use paraffin_gateway::api_types::{AddressText, Count, Offset};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::jsonrpc::parse_unsigned;
use paraffin_gateway::methods::schema;
use paraffin_gateway::state::RequestContext;

/// Records of a page of the history, and the most that one can have.
const PAGE_DEFAULT: usize = 50;
const PAGE_MAX: usize = 500;

/// A ticker, in the lower case by which tokens are distinguished.
pub(super) struct Ticker(pub(super) String);

impl<'de> Deserialize<'de> for Ticker {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let ticker = String::deserialize(deserializer)?.to_lowercase();
        if ticker.is_empty() { Err(D::Error::custom("is empty")) } else { Ok(Self(ticker)) }
    }
}

schema!(Ticker, "Brc20Ticker", { "description": "A ticker, in any case", "type": "string" });

/// A script in hexadecimal digits.
#[derive(Clone)]
pub(super) struct Script(pub(super) ScriptBuf);

impl Script {
    pub(super) fn hex(&self) -> String {
        self.0.as_bytes().to_lower_hex_string()
    }
}

impl<'de> Deserialize<'de> for Script {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = Vec::from_hex(&String::deserialize(deserializer)?);
        let bytes = bytes.map_err(|_| D::Error::custom("must be a script in hexadecimal digits"))?;
        Ok(Self(ScriptBuf::from(bytes)))
    }
}

schema!(Script, "Script", {
    "description": "A script in hexadecimal digits",
    "type": "string",
    "pattern": "^([0-9a-fA-F]{2})*$",
});

/// Height of a block. One beyond 32 bits stands for the largest: no chain has either.
#[derive(Clone, Copy)]
pub(super) struct BlockHeight(pub(super) Height);

impl<'de> Deserialize<'de> for BlockHeight {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Offset(height) = Offset::deserialize(deserializer)?;
        Ok(Self(Height::try_from(height).unwrap_or(Height::MAX)))
    }
}

schema!(BlockHeight, "Brc20Height", { "description": "Height of a block", "type": "integer", "minimum": 0 });

/// The id of an inscription.
pub(super) struct Inscription(pub(super) InscriptionId);

impl<'de> Deserialize<'de> for Inscription {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.is_empty() {
            return Err(D::Error::custom("is required"));
        }
        text.parse().map(Self).map_err(|_| D::Error::custom("must be <txid>i<index>"))
    }
}

schema!(Inscription, "InscriptionId", {
    "description": "txid, i, index",
    "type": "string",
    "pattern": "^[0-9a-fA-F]{64}i(0|[1-9][0-9]{0,9})$",
});

/// The height and index of the last event of the previous page.
#[derive(Clone, Copy)]
pub(super) struct Cursor(pub(super) Height, pub(super) u32);

impl<'de> Deserialize<'de> for Cursor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let number = |text: &str| parse_unsigned(text).and_then(|number| u32::try_from(number).ok());
        let cursor = text.split_once(':').and_then(|(height, place)| Some(Self(number(height)?, number(place)?)));
        cursor.ok_or_else(|| D::Error::custom("must be that of the page before, height:place"))
    }
}

schema!(Cursor, "Cursor", inline { "type": "string", "pattern": "^[0-9]+:[0-9]+$" });

/// The script that `address` or `pkscript` names, if one of them is given.
pub(super) fn optional_wallet(
    context: &RequestContext,
    address: Option<&AddressText>,
    script: Option<&Script>,
) -> Result<Option<ScriptBuf>, ApiError> {
    let address = match address {
        None => None,
        Some(AddressText(text)) => {
            let address = context.network().parse_address(text).map_err(ApiError::invalid)?;
            Some(address.script_pubkey())
        }
    };
    match (address, script) {
        (Some(address), Some(Script(script))) if address != *script => {
            Err(ApiError::invalid("address and pkscript differ"))
        }
        (address, script) => Ok(address.or_else(|| script.map(|script| script.0.clone()))),
    }
}

/// The script that `address` or `pkscript` names.
pub(super) fn wallet(
    context: &RequestContext,
    address: Option<&AddressText>,
    script: Option<&Script>,
) -> Result<ScriptBuf, ApiError> {
    optional_wallet(context, address, script)?.ok_or_else(|| ApiError::missing(&["address", "pkscript"]))
}

/// A part of a list.
#[derive(Clone, Copy)]
pub(super) struct ListPart {
    pub(super) offset: usize,
    pub(super) limit: Option<usize>,
}

impl ListPart {
    /// `limit` and `offset` of a list that is answered whole by default.
    pub(super) fn of(context: &RequestContext, limit: Option<Count>, offset: Option<Offset>) -> Result<Self, ApiError> {
        let list_max = context.limits().list_records_max;
        let offset = offset.map_or(0, |Offset(offset)| usize::try_from(offset).unwrap_or(usize::MAX));
        // Skipping rows costs as much as listing them.
        if offset > list_max {
            return Err(ApiError::invalid(format!("offset must be at most {list_max}")));
        }
        Ok(Self { offset, limit: limit.map(|limit| limit.at_most(list_max)) })
    }

    pub(super) fn offset_text(self) -> Option<String> {
        (self.offset > 0).then(|| self.offset.to_string())
    }

    pub(super) fn limit_text(self) -> Option<String> {
        self.limit.map(|limit| limit.to_string())
    }
}

/// `limit` of a page.
pub(super) fn page(limit: Option<Count>) -> usize {
    limit.map_or(PAGE_DEFAULT, |limit| limit.at_most(PAGE_MAX))
}
