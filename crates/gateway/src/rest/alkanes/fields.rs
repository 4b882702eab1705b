//! Fields that several routes share, in every way that clients write them (docs/api.md).

use bitcoin::{Address, Script, ScriptBuf};
use hyper::StatusCode;
use paraffin_primitives::{AlkaneId, Network};
use serde_json::json;

use super::super::RestBody;
use crate::alkanes::alkane_id;
use crate::errors::RestError;
use crate::respond::Reply;
use crate::state::RequestContext;

/// Names of the field that holds an alkane's id.
pub(in crate::rest) const ID_FIELDS: [&str; 4] = ["alkaneId", "id", "tokenId", "alkane"];
/// Records of a page when nothing is said, and at most.
const LIMIT_DEFAULT: usize = 50;
pub(in crate::rest) const LIMIT_MAX: usize = 500;
/// Furthest record that a page can begin with; no list is so long.
const OFFSET_MAX: usize = u32::MAX as usize;

/// The id of an alkane.
pub(in crate::rest) fn id(body: &RestBody) -> Result<AlkaneId, RestError> {
    let value = body.one_of(&ID_FIELDS)?.ok_or_else(|| RestError::missing(&ID_FIELDS))?;
    let wrong = |_| RestError::bad_request("alkaneId must be {block, tx}, two integers, or block:tx");
    alkane_id(value).map_err(wrong)
}

/// Which part of a listing is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::rest) struct Part {
    /// Records before it.
    pub(in crate::rest) offset: usize,
    /// Records in it; `None`: all.
    pub(in crate::rest) limit: Option<usize>,
}

impl Part {
    /// `limit` or `count`, and `offset` or a page that counts from 1, where 0 acts as 1.
    pub(in crate::rest) fn read(body: &RestBody, default: Option<usize>, cap: usize) -> Result<Self, RestError> {
        let limit = match (body.positive("limit", cap)?, body.positive("count", cap)?) {
            (Some(limit), Some(count)) if limit != count => {
                return Err(RestError::bad_request("limit and count differ"));
            }
            (limit, count) => limit.or(count).or(default),
        };
        let offset = body.natural("offset", OFFSET_MAX)?;
        let page = body.natural("page", OFFSET_MAX)?;
        let paged =
            page.map(|page| page.saturating_sub(1).saturating_mul(limit.unwrap_or(LIMIT_DEFAULT)).min(OFFSET_MAX));
        let limit = if paged.is_some() { limit.or(Some(LIMIT_DEFAULT)) } else { limit };
        match (offset, paged) {
            (Some(offset), Some(paged)) if offset != paged => Err(RestError::bad_request("offset and page differ")),
            (offset, paged) => Ok(Self { offset: paged.or(offset).unwrap_or(0), limit }),
        }
    }

    /// As every route does whose row has a limit.
    pub(in crate::rest) fn limited(body: &RestBody) -> Result<Self, RestError> {
        Self::read(body, Some(LIMIT_DEFAULT), LIMIT_MAX)
    }

    /// The part of a whole listing.
    pub(in crate::rest) fn of<T>(self, all: Vec<T>) -> Vec<T> {
        all.into_iter().skip(self.offset).take(self.limit.unwrap_or(usize::MAX)).collect()
    }
}

/// The script of an address of this instance's network.
pub(in crate::rest) fn script(context: &RequestContext, address: &str) -> Result<ScriptBuf, RestError> {
    Ok(context.network().parse_address(address).map_err(RestError::bad_request)?.script_pubkey())
}

/// A script as its address, or in hexadecimal digits where it has none.
pub(in crate::rest) fn address_text(script: &Script, network: Network) -> String {
    Address::from_script(script, network.bitcoin())
        .map_or_else(|_| script.to_hex_string(), |address| address.to_string())
}

/// An error of the routes without envelope: a word for programs that stands where they look, and our own members.
pub(in crate::rest) fn flat_error(error: &'static str, hint: &str) -> Reply {
    let status = StatusCode::BAD_REQUEST;
    let body = json!({
        "ok": false,
        "error": error,
        "hint": hint,
        "statusCode": status.as_u16(),
        "code": "INVALID_REQUEST",
    });
    Reply::json(status, body.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(body: &str) -> Result<Part, u16> {
        let body = RestBody::parse(body.as_bytes(), 8).unwrap();
        Part::limited(&body).map_err(|error| error.status.as_u16())
    }

    /// row RA01
    #[test]
    fn a_part_is_told_by_limit_or_count_and_by_offset_or_page() {
        let told = |offset, limit| Ok(Part { offset, limit: Some(limit) });
        for (body, expected) in [
            ("{}", told(0, 50)),
            (r#"{"limit":null,"offset":null}"#, told(0, 50)),
            (r#"{"limit":7,"offset":3}"#, told(3, 7)),
            (r#"{"count":7}"#, told(0, 7)),
            (r#"{"limit":7,"count":7}"#, told(0, 7)),
            (r#"{"limit":9999}"#, told(0, 500)),
            (r#"{"page":0,"limit":100}"#, told(0, 100)),
            (r#"{"page":1,"limit":100}"#, told(0, 100)),
            (r#"{"page":3,"limit":100}"#, told(200, 100)),
            (r#"{"page":3,"limit":100,"offset":200}"#, told(200, 100)),
            (r#"{"limit":7,"count":8}"#, Err(400)),
            (r#"{"page":3,"limit":100,"offset":100}"#, Err(400)),
            (r#"{"limit":0}"#, Err(400)),
            (r#"{"limit":-1}"#, Err(400)),
            (r#"{"offset":-1}"#, Err(400)),
            (r#"{"offset":1.5}"#, Err(400)),
            (r#"{"page":"x"}"#, Err(400)),
        ] {
            assert_eq!(part(body), expected, "{body}");
        }
    }

    #[test]
    fn an_id_has_four_names_which_must_agree() {
        let id = |body: &str| id(&RestBody::parse(body.as_bytes(), 8).unwrap()).map_err(|error| error.message);
        let expected = Ok(AlkaneId { block: 4, tx: 65_522 });
        for body in [
            r#"{"alkaneId":{"block":"4","tx":"65522"}}"#,
            r#"{"id":{"block":4,"tx":65522}}"#,
            r#"{"tokenId":"4:65522"}"#,
            r#"{"alkane":"4:65522","id":null}"#,
            r#"{"alkaneId":"4:65522","id":"4:65522"}"#,
        ] {
            assert_eq!(id(body), expected, "{body}");
        }
        assert!(id("{}").unwrap_err().contains("alkaneId"));
        assert!(id(r#"{"id":"4"}"#).unwrap_err().contains("alkaneId"));
        assert!(id(r#"{"id":"4:1","alkaneId":"4:2"}"#).unwrap_err().contains("differ"));
    }
}
