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

/// The id of an alkane.
pub(in crate::rest) fn id(body: &RestBody) -> Result<AlkaneId, RestError> {
    let value = body.one_of(&ID_FIELDS)?.ok_or_else(|| RestError::missing(&ID_FIELDS))?;
    let wrong = |_| RestError::bad_request("alkaneId must be {block, tx}, two integers, or block:tx");
    alkane_id(value).map_err(wrong)
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
