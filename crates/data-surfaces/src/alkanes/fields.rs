//! Fields that several routes share, in every notation that clients use (docs/api.md).

use bitcoin::{Address, Script, ScriptBuf};
use paraffin_primitives::Network;
use schemars::JsonSchema;
use serde::Serialize;

use paraffin_gateway::api_types::OkTrue;
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::rest::route::Pages;
use paraffin_gateway::state::RequestContext;

/// A field with its other names.
pub(crate) type Names = (&'static str, &'static [&'static str]);
/// The id of an alkane under every name that clients use.
pub(super) const ALKANE_ID: &[Names] = &[("alkaneId", &["id", "tokenId", "alkane"])];
/// The same where the route without envelope calls it `alkane`.
pub(super) const ALKANE: &[Names] = &[("alkane", &["alkaneId", "id", "tokenId"])];
/// Error word of routes without envelope for an invalid id.
pub(super) const WRONG_ALKANE: &[(&str, &str)] = &[("alkane", "invalid_alkane_format")];
/// A page of at most 500 records, 50 by default.
pub(crate) const PAGES: Pages = Pages { default: Some(50), max: 500 };
/// Members of a request about an address.
pub(super) const ADDRESS_EXAMPLE: &str = r#"{"address":"bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"}"#;

// An answer without envelope.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct Flat<T> {
    ok: OkTrue,
    #[serde(flatten)]
    answer: T,
}

impl<T> Flat<T> {
    pub(super) fn of(answer: T) -> Self {
        Self { ok: OkTrue, answer }
    }
}

/// The script of an address of this instance's network.
pub(crate) fn script(context: &RequestContext, address: &str) -> Result<ScriptBuf, ApiError> {
    Ok(context.network().parse_address(address).map_err(ApiError::invalid)?.script_pubkey())
}

/// A script as its address, or in hexadecimal digits where it has none.
pub(crate) fn address_text(script: &Script, network: Network) -> String {
    Address::from_script(script, network.bitcoin())
        .map_or_else(|_| script.to_hex_string(), |address| address.to_string())
}

#[cfg(test)]
mod tests {
    use paraffin_primitives::AlkaneId;

    use super::super::holders::HolderCount;
    use paraffin_gateway::rest::route::read_text;

    #[test]
    fn an_id_has_four_names_which_must_agree() {
        let id = |body: &str| match read_text::<HolderCount>(body) {
            Ok(route) => Ok(route.alkane_id.0),
            Err(error) => Err(error.message),
        };
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
        assert!(id(r#"{"id":"4"}"#).unwrap_err().starts_with("id must be"));
        assert!(id(r#"{"id":"4:1","alkaneId":"4:2"}"#).unwrap_err().contains("differ"));
    }
}
