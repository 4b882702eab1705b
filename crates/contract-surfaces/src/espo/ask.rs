//! Parameters that several methods share.

use bitcoin::ScriptBuf;
use paraffin_primitives::{AlkaneId, Height};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::failure::{Failure, Refusal};
use paraffin_gateway::api_types::decimal;
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::methods::{Natural, Verbatim, scalar};
use paraffin_gateway::state::RequestContext;

/// Default and largest number of items of a page (docs/api.md, "Analytics").
const LIMIT_DEFAULT: u32 = 100;
pub(super) const LIMIT_MAX: u32 = 10_000;
/// Rows of a listing without numbers that are walked over to reach a page; further pages are reached by `cursor`.
pub(super) const WALK_MAX: u64 = 100_000;

/// The requested page of a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    /// Page number, from 0.
    pub(super) page: u64,
    /// Items of a page, 1 to [`LIMIT_MAX`].
    pub(super) limit: u32,
}

impl Part {
    /// Reads the parameters `page`, and `limit` or else `size`.
    pub(super) fn read(page: Option<Natural>, limit: Option<Natural>, size: Option<Natural>) -> Result<Self, ApiError> {
        let limit = limit.or(size).map_or(u64::from(LIMIT_DEFAULT), Natural::get);
        if limit == 0 {
            return Err(ApiError::invalid("limit must be at least 1"));
        }
        let limit = u32::try_from(limit).unwrap_or(u32::MAX).min(LIMIT_MAX);
        Ok(Self { page: page.map_or(0, Natural::get), limit })
    }

    /// Items before the page.
    pub(super) fn offset(self) -> u64 {
        self.page.saturating_mul(u64::from(self.limit))
    }

    /// [`Self::offset`] for listings of at most 2^32 items.
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

/// An id `block:tx`, each half decimal or hexadecimal after `0x`. `refusal` is the error word for an invalid one.
pub(super) fn id(name: &'static str, text: &str, refusal: &'static str) -> Result<AlkaneId, Refusal> {
    let half = |half: &str| decimal(&Value::String(half.to_owned()));
    let read = || {
        let (block, tx) = text.split_once(':')?;
        Some(AlkaneId { block: half(block)?, tx: half(tx)? })
    };
    read().ok_or_else(|| Refusal::new(refusal, format!("{name} must be an id block:tx, for example 2:0")))
}

/// Base units as decimal text or as a JSON integer.
#[derive(JsonSchema)]
#[schemars(inline, with = "Verbatim", extend("type" = ["string", "integer"]))]
pub(super) struct Amount(String);

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let is_decimal = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
        match scalar(deserializer)? {
            Value::String(text) => Ok(Self(text)),
            Value::Number(number) if is_decimal(&number.to_string()) => Ok(Self(number.to_string())),
            _ => Err(D::Error::custom("must be decimal digits as a string")),
        }
    }
}

/// The amount of a parameter. `refusal` is the error word for an invalid one.
pub(super) fn amount(
    name: &'static str,
    amount: Option<Amount>,
    refusal: &'static str,
) -> Result<Option<u128>, Refusal> {
    let Some(Amount(digits)) = amount else { return Ok(None) };
    let is_decimal = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    let amount = is_decimal.then(|| digits.parse().ok()).flatten();
    let unreadable = || Refusal::new(refusal, format!("{name} must be an integer from 0 to 2^128-1 in decimal digits"));
    amount.map(Some).ok_or_else(unreadable)
}

/// The height as of which a method answers: a number, its digits, or `latest`.
#[derive(Clone, JsonSchema)]
#[schemars(inline, with = "Verbatim", extend("type" = ["string", "integer"]))]
pub(super) struct AtHeight(Value);

impl<'de> Deserialize<'de> for AtHeight {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = scalar(deserializer)?;
        let is_readable = match &value {
            Value::String(_) => true,
            Value::Number(number) => number.to_string().bytes().all(|digit| digit.is_ascii_digit()),
            _ => false,
        };
        if is_readable { Ok(Self(value)) } else { Err(D::Error::custom("must be a non-negative integer")) }
    }
}

impl AtHeight {
    /// Whether it is the tag `latest`.
    pub(super) fn is_latest(&self) -> bool {
        self.0 == "latest"
    }

    /// The requested height; `newest` when none is given.
    pub(super) fn resolve(requested: Option<&Self>, newest: Height) -> Result<Height, Refusal> {
        let Some(requested) = requested.filter(|height| !height.is_latest()) else { return Ok(newest) };
        let height = match &requested.0 {
            text @ Value::String(_) => {
                decimal(text).ok_or_else(|| Refusal::height("height_unreadable", "height must be a block height"))?
            }
            number => number.to_string().parse().unwrap_or(u128::MAX),
        };
        let height = Height::try_from(height)
            .map_err(|_| Refusal::height("height_out_of_range", "a height has at most 32 bits"))?;
        if height > newest {
            return Err(Refusal::height("height_not_indexed", format!("the newest indexed height is {newest}")));
        }
        Ok(height)
    }
}

/// Reads one of `words`, each a list of spellings, and returns its first spelling.
pub(super) fn word(
    name: &'static str,
    text: Option<&str>,
    words: &[&[&'static str]],
    default: &'static str,
    refusal: &'static str,
) -> Result<&'static str, Refusal> {
    let Some(text) = text else { return Ok(default) };
    let spellings = words.iter().find(|spellings| spellings.contains(&text));
    let refuse = || {
        let first: Vec<&str> = words.iter().map(|spellings| spellings[0]).collect();
        Refusal::new(refusal, format!("{name} is one of {}", first.join(", ")))
    };
    Ok(spellings.ok_or_else(refuse)?[0])
}

/// The script of an address.
pub(super) fn script(context: &RequestContext, address: &str) -> Result<ScriptBuf, Failure> {
    let address = context.network().parse_address(address);
    let address = address.map_err(|sentence| Refusal::new("invalid_address_format", sentence))?;
    Ok(address.script_pubkey())
}
