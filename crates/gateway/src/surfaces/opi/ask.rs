//! Parameters of the query.

use bitcoin::ScriptBuf;
use bitcoin::hex::FromHex as _;
use paraffin_ordinals_index::event::InscriptionId;
use paraffin_primitives::Height;

use super::Request;
use crate::errors::RestError;
use crate::jsonrpc::parse_unsigned;

/// Records of a page of the history, and the most that one can have.
const PAGE_DEFAULT: usize = 50;
const PAGE_MAX: usize = 500;

/// A part of a list.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) offset: usize,
    pub(super) limit: Option<usize>,
}

impl Request<'_> {
    /// The ticker, in the lower case by which tokens are distinguished.
    pub(super) fn ticker(&self) -> Result<String, RestError> {
        let ticker = self.query.text("ticker")?.to_lowercase();
        if ticker.is_empty() { Err(RestError::bad_request("ticker is empty")) } else { Ok(ticker) }
    }

    /// The ticker, if there is one.
    pub(super) fn optional_ticker(&self) -> Result<Option<String>, RestError> {
        self.query.optional_text("ticker")?.map(|_| self.ticker()).transpose()
    }

    /// A script in hexadecimal digits.
    pub(super) fn pkscript(&self) -> Result<Option<ScriptBuf>, RestError> {
        let Some(text) = self.query.optional_text("pkscript")? else { return Ok(None) };
        let wrong = |_| RestError::bad_request("pkscript must be a script in hexadecimal digits");
        Ok(Some(ScriptBuf::from(Vec::from_hex(text).map_err(wrong)?)))
    }

    /// The script that `address` or `pkscript` names, if one of them is given.
    pub(super) fn optional_wallet(&self) -> Result<Option<ScriptBuf>, RestError> {
        let address = match self.query.optional_text("address")? {
            None => None,
            Some(text) => {
                let address = self.context.network().parse_address(text).map_err(RestError::bad_request)?;
                Some(address.script_pubkey())
            }
        };
        match (address, self.pkscript()?) {
            (Some(address), Some(script)) if address != script => {
                Err(RestError::bad_request("address and pkscript differ"))
            }
            (address, script) => Ok(address.or(script)),
        }
    }

    /// The script that `address` or `pkscript` names.
    pub(super) fn wallet(&self) -> Result<ScriptBuf, RestError> {
        self.optional_wallet()?.ok_or_else(|| RestError::bad_request("address or pkscript is required"))
    }

    /// The height of `name`, if it is given. One beyond 32 bits is as good as the largest: no chain has either.
    pub(super) fn optional_height(&self, name: &str) -> Result<Option<Height>, RestError> {
        let height = self.query.natural(name, Height::MAX as usize)?;
        Ok(height.map(|height| Height::try_from(height).unwrap_or(Height::MAX)))
    }

    /// Refuses a history of everything.
    pub(super) fn check_history(&self) -> Result<(), RestError> {
        if self.optional_wallet()?.is_none() && self.optional_height("height")?.is_none() {
            return Err(RestError::bad_request("address, pkscript or height is required"));
        }
        Ok(())
    }

    /// `block_height`.
    pub(super) fn block_height(&self) -> Result<Height, RestError> {
        let height = self.optional_height("block_height")?;
        height.ok_or_else(|| RestError::bad_request("block_height is required"))
    }

    /// `inscription_id`.
    pub(super) fn inscription(&self) -> Result<InscriptionId, RestError> {
        let text = self.query.optional_text("inscription_id")?;
        let text =
            text.filter(|text| !text.is_empty()).ok_or_else(|| RestError::bad_request("inscription_id is required"))?;
        text.parse().map_err(|_| RestError::bad_request("inscription_id must be <txid>i<index>"))
    }

    /// `limit` and `offset` of a list that is given whole unless a part is asked for.
    pub(super) fn part(&self) -> Result<Part, RestError> {
        let list_max = self.context.limits().list_records_max;
        let offset = self.query.natural("offset", usize::MAX)?.unwrap_or(0);
        // To skip rows costs what it costs to list them.
        if offset > list_max {
            return Err(RestError::bad_request(format!("offset must be at most {list_max}")));
        }
        Ok(Part { offset, limit: self.query.positive("limit", list_max)? })
    }

    /// `limit` of a page.
    pub(super) fn page(&self) -> Result<usize, RestError> {
        Ok(self.query.positive("limit", PAGE_MAX)?.unwrap_or(PAGE_DEFAULT))
    }

    /// `cursor`: the height and place of the last event of the page before.
    pub(super) fn cursor(&self) -> Result<Option<(Height, u32)>, RestError> {
        let Some(text) = self.query.optional_text("cursor")? else { return Ok(None) };
        let number = |text: &str| parse_unsigned(text).and_then(|number| u32::try_from(number).ok());
        let cursor = text.split_once(':').and_then(|(height, place)| Some((number(height)?, number(place)?)));
        cursor.map(Some).ok_or_else(|| RestError::bad_request("cursor must be that of the page before, height:place"))
    }
}
