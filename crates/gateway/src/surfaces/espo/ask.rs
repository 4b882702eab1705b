//! The members of a call's parameters.

use bitcoin::ScriptBuf;
use paraffin_primitives::{AlkaneId, Height};
use serde_json::Value;

use super::failure::{Failure, Refusal};
use crate::alkanes::decimal;
use crate::errors::RpcError;
use crate::state::RequestContext;
pub(super) use crate::surfaces::named::Named as Ask;
use crate::surfaces::named::wrong;

/// Items of a page when nothing is said, and at most (docs/api.md, "Analytics").
const LIMIT_DEFAULT: u32 = 100;
pub(super) const LIMIT_MAX: u32 = 10_000;
/// Rows of a listing without numbers that are walked over to reach a page; further pages are reached by `cursor`.
pub(super) const WALK_MAX: u64 = 100_000;

/// Which page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    /// Counted from 0.
    pub(super) page: u64,
    /// Items of a page, 1 to [`LIMIT_MAX`].
    pub(super) limit: u32,
}

impl Part {
    /// Items before the page.
    pub(super) fn offset(self) -> u64 {
        self.page.saturating_mul(u64::from(self.limit))
    }

    /// The same for listings of at most 2^32 items.
    pub(super) fn offset_32(self) -> u32 {
        u32::try_from(self.offset()).unwrap_or(u32::MAX)
    }

    /// Whether items come after a page of `count`.
    pub(super) fn has_more(self, count: usize, total: u64) -> bool {
        self.offset().saturating_add(count as u64) < total
    }

    /// The page of a whole listing.
    pub(super) fn of<T>(self, all: impl IntoIterator<Item = T>) -> Vec<T> {
        let offset = usize::try_from(self.offset()).unwrap_or(usize::MAX);
        all.into_iter().skip(offset).take(self.limit as usize).collect()
    }
}

/// What the analytics module reads on top of the members.
impl Ask {
    /// `page` from 0, and `limit` (or `size`).
    pub(super) fn part(&self) -> Result<Part, RpcError> {
        let page = self.integer("page")?.unwrap_or(0);
        let limit = match self.integer("limit")? {
            Some(limit) => Some(limit),
            None => self.integer("size")?,
        };
        let limit = limit.unwrap_or(u64::from(LIMIT_DEFAULT));
        if limit == 0 {
            return Err(wrong("limit", "at least 1"));
        }
        Ok(Part { page, limit: u32::try_from(limit).unwrap_or(u32::MAX).min(LIMIT_MAX) })
    }

    /// An id `block:tx`, each half decimal or hexadecimal after `0x`. `refusal` is the word of one that cannot be read.
    pub(super) fn id(&self, name: &'static str, refusal: &'static str) -> Result<AlkaneId, Failure> {
        Ok(read_id(self.text(name)?).ok_or_else(|| malformed(name, refusal))?)
    }

    pub(super) fn optional_id(&self, name: &'static str, refusal: &'static str) -> Result<Option<AlkaneId>, Failure> {
        let Some(text) = self.optional_text(name)? else { return Ok(None) };
        Ok(Some(read_id(text).ok_or_else(|| malformed(name, refusal))?))
    }

    /// Base units as decimal text or as a JSON integer.
    pub(super) fn amount(&self, name: &'static str, refusal: &'static str) -> Result<Option<u128>, Failure> {
        let unreadable =
            || Refusal::new(refusal, format!("{name} must be an integer from 0 to 2^128-1 in decimal digits"));
        match self.member(name) {
            None => Ok(None),
            Some(Value::String(digits)) => {
                let is_decimal = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
                let amount = is_decimal.then(|| digits.parse().ok()).flatten();
                Ok(Some(amount.ok_or_else(unreadable)?))
            }
            Some(Value::Number(number)) => {
                let digits = number.to_string();
                if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
                    return Err(wrong(name, "decimal digits as a string").into());
                }
                Ok(Some(digits.parse().map_err(|_| unreadable())?))
            }
            Some(_) => Err(wrong(name, "decimal digits as a string").into()),
        }
    }

    /// The height that is asked about; the newest when none is.
    pub(super) fn height(&self, newest: Height) -> Result<Height, Failure> {
        let height = match self.member("height") {
            None => return Ok(newest),
            Some(Value::String(text)) if text == "latest" => return Ok(newest),
            Some(text @ Value::String(_)) => {
                decimal(text).ok_or_else(|| Refusal::height("height_unreadable", "height must be a block height"))?
            }
            Some(_) => u128::from(self.integer("height")?.unwrap_or_default()),
        };
        let height = Height::try_from(height)
            .map_err(|_| Refusal::height("height_out_of_range", "a height has at most 32 bits"))?;
        if height > newest {
            return Err(Refusal::height("height_not_indexed", format!("the newest indexed height is {newest}")).into());
        }
        Ok(height)
    }

    /// One of some words, each with its other spellings; the first word is the one that is answered.
    pub(super) fn word(
        &self,
        names: &[&'static str],
        words: &[&[&'static str]],
        default: &'static str,
        refusal: &'static str,
    ) -> Result<&'static str, Failure> {
        let mut asked = None;
        for name in names {
            asked = asked.or(self.optional_text(name)?);
        }
        let Some(asked) = asked else { return Ok(default) };
        let found = words.iter().find(|spellings| spellings.contains(&asked));
        let known = || {
            let first: Vec<&str> = words.iter().map(|spellings| spellings[0]).collect();
            Refusal::new(refusal, format!("{} is one of {}", names[0], first.join(", ")))
        };
        Ok(found.ok_or_else(known)?[0])
    }

    /// The script of `address`.
    pub(super) fn script(&self, context: &RequestContext) -> Result<ScriptBuf, Failure> {
        let address = context.network().parse_address(self.text("address")?);
        let address = address.map_err(|sentence| Refusal::new("invalid_address_format", sentence))?;
        Ok(address.script_pubkey())
    }
}

fn read_id(text: &str) -> Option<AlkaneId> {
    let (block, tx) = text.split_once(':')?;
    let part = |half: &str| decimal(&Value::String(half.to_owned()));
    Some(AlkaneId { block: part(block)?, tx: part(tx)? })
}

fn malformed(name: &str, refusal: &'static str) -> Refusal {
    Refusal::new(refusal, format!("{name} must be an id block:tx, for example 2:0"))
}
