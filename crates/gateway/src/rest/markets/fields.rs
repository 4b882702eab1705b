//! Fields of requests about markets (docs/api.md, "Markets").

use paraffin_alkanes::ScriptKey;
use paraffin_amm::{EventKind, Scope, Status};
use paraffin_primitives::AlkaneId;
use serde_json::Value;

use super::super::RestBody;
use super::super::alkanes::fields::{ID_FIELDS, script};
use super::problem::Problem;
use crate::alkanes::alkane_id;
use crate::errors::RestError;
use crate::markets::{self, MarketMoment};
use crate::state::RequestContext;

/// Names of the field that holds a pool's id.
pub(super) const POOL_FIELDS: [&str; 3] = ["poolId", "pool_id", "id"];
/// Names of the field that holds a factory's id.
pub(super) const FACTORY_FIELDS: [&str; 2] = ["factoryId", "factory_id"];

/// The id that any of these fields holds. Two that hold the same id in different ways agree.
pub(super) fn optional_id(body: &RestBody, names: &[&str]) -> Result<Option<AlkaneId>, RestError> {
    let mut found: Option<(&str, AlkaneId)> = None;
    for name in names {
        let Some(value) = body.one_of(&[name])? else { continue };
        let id = alkane_id(value)
            .map_err(|_| RestError::bad_request(format!("{name} must be {{block, tx}}, two integers, or block:tx")))?;
        match found {
            Some((known, first)) if first != id => {
                return Err(RestError::bad_request(format!("{known} and {name} differ")));
            }
            _ => found = Some((name, id)),
        }
    }
    Ok(found.map(|(_, id)| id))
}

/// The same where the first of the names is required.
pub(super) fn required_id(body: &RestBody, names: &[&str]) -> Result<AlkaneId, RestError> {
    optional_id(body, names)?.ok_or_else(|| RestError::missing(names))
}

/// The id of a token.
pub(super) fn token_id(body: &RestBody) -> Result<AlkaneId, RestError> {
    required_id(body, &ID_FIELDS)
}

/// The factory that is asked about: the network's own where none is named.
pub(super) fn factory_id(context: &RequestContext, body: &RestBody) -> Result<AlkaneId, RestError> {
    let own = markets::of(context)?.factory;
    Ok(optional_id(body, &FACTORY_FIELDS)?.unwrap_or(own))
}

/// Who owns an address of this network.
pub(super) fn owner(context: &RequestContext, body: &RestBody) -> Result<ScriptKey, RestError> {
    Ok(ScriptKey::of(&script(context, body.text("address")?)?))
}

/// Which outcomes are asked for: `successful` `true` (default), `false` or `"all"`, or `successfulOnly`.
pub(super) fn status(body: &RestBody) -> Result<Status, RestError> {
    let wrong = |()| RestError::bad_request("successful must be true, false or \"all\"");
    let status = body.one_of(&["successful"])?.map(status_of).transpose().map_err(wrong)?;
    let only = match body.one_of(&["successfulOnly", "successful_only"])? {
        None => None,
        Some(Value::Bool(true)) => Some(Status::Successful),
        Some(Value::Bool(false)) => Some(Status::Any),
        Some(_) => return Err(RestError::bad_request("successfulOnly must be true or false")),
    };
    match (status, only) {
        (Some(one), Some(other)) if one != other => Err(RestError::bad_request("successful and successfulOnly differ")),
        (one, other) => Ok(one.or(other).unwrap_or(Status::Successful)),
    }
}

fn status_of(value: &Value) -> Result<Status, ()> {
    match value {
        Value::Bool(true) => Ok(Status::Successful),
        Value::Bool(false) => Ok(Status::Failed),
        Value::String(text) => match text.as_str() {
            "true" => Ok(Status::Successful),
            "false" => Ok(Status::Failed),
            "all" => Ok(Status::Any),
            _ => Err(()),
        },
        _ => Err(()),
    }
}

/// The kind of event that a field names; `None` when it is absent. With `many` also its plural, and `all` for every kind.
pub(super) fn kind(body: &RestBody, field: &str, many: bool) -> Result<Option<EventKind>, RestError> {
    let Some(name) = body.optional_text(field)? else { return Ok(None) };
    let wanted = if many { name.strip_suffix('s').unwrap_or(name) } else { name };
    let found = EventKind::ALL.into_iter().find(|kind| kind.name() == wanted);
    match found {
        None if many && name == "all" => Ok(None),
        None => {
            let names = EventKind::ALL.map(EventKind::name);
            let named = [EventKind::Swap, EventKind::Mint, EventKind::Burn, EventKind::Creation].map(EventKind::name);
            let [.., wrap, unwrap] = names;
            Err(RestError::bad_request(format!("{field} must be one of: {}, {wrap}, {unwrap}", named.join(", "))))
        }
        found => Ok(found),
    }
}

/// 404 when there is no alkane with this id.
pub(super) fn require_token(moment: &MarketMoment<'_>, id: AlkaneId) -> Result<(), Problem> {
    if moment.chain.state.creation(id)?.is_some() {
        return Ok(());
    }
    Err(RestError::not_found(format!("there is no alkane {id}")).into())
}

/// 404 when the id is not that of a factory: of a contract that has created a pool, or the network's own, which may still
/// be without any.
pub(super) fn require_factory(moment: &MarketMoment<'_>, id: AlkaneId) -> Result<(), Problem> {
    if id == moment.parts.factory {
        return Ok(());
    }
    match moment.markets.count(Scope::Factory(id), Some(EventKind::Creation), Status::Successful)? {
        0 => Err(RestError::not_found(format!("there is no factory {id}")).into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(text: &str) -> RestBody {
        RestBody::parse(text.as_bytes(), 8).unwrap()
    }

    #[test]
    fn a_pool_has_three_names_that_must_mean_the_same() {
        let pool = |text: &str| required_id(&body(text), &POOL_FIELDS).map_err(|error| error.message);
        let expected = Ok(AlkaneId { block: 2, tx: 9 });
        for text in [
            r#"{"poolId":{"block":"2","tx":"9"}}"#,
            r#"{"pool_id":"2:9","poolId":null}"#,
            r#"{"id":{"block":2,"tx":9},"poolId":"2:9","pool_id":{"block":"2","tx":"0x9"}}"#,
        ] {
            assert_eq!(pool(text), expected, "{text}");
        }
        assert_eq!(pool("{}").unwrap_err(), "poolId, pool_id or id is required");
        assert_eq!(pool(r#"{"poolId":"2:9","id":"2:8"}"#).unwrap_err(), "poolId and id differ");
        assert!(pool(r#"{"pool_id":7}"#).unwrap_err().starts_with("pool_id must be"));
    }

    #[test]
    fn outcomes_are_kept_ones_unless_asked_otherwise() {
        let asked = |text: &str| status(&body(text)).ok();
        for (text, expected) in [
            ("{}", Some(Status::Successful)),
            (r#"{"successful":null}"#, Some(Status::Successful)),
            (r#"{"successful":true}"#, Some(Status::Successful)),
            (r#"{"successful":false}"#, Some(Status::Failed)),
            (r#"{"successful":"all"}"#, Some(Status::Any)),
            (r#"{"successfulOnly":false}"#, Some(Status::Any)),
            (r#"{"successfulOnly":true,"successful":true}"#, Some(Status::Successful)),
            (r#"{"successfulOnly":true,"successful":"all"}"#, None),
            (r#"{"successful":"some"}"#, None),
            (r#"{"successful":1}"#, None),
            (r#"{"successfulOnly":"x"}"#, None),
        ] {
            assert_eq!(asked(text), expected, "{text}");
        }
    }

    #[test]
    fn a_kind_is_named_in_lower_case_and_a_category_also_in_the_plural() {
        let named = |text: &str| kind(&body(text), "transactionType", false);
        assert_eq!(named("{}").unwrap(), None);
        assert_eq!(named(r#"{"transactionType":"unwrap"}"#).unwrap(), Some(EventKind::Unwrap));
        for wrong in ["Swap", "swaps", "", "all"] {
            let error = named(&format!(r#"{{"transactionType":"{wrong}"}}"#)).unwrap_err();
            assert_eq!(error.message, "transactionType must be one of: swap, mint, burn, creation, wrap, unwrap");
        }
        assert_eq!(named(r#"{"transactionType":5}"#).unwrap_err().message, "transactionType must be a string");
        let category = |text: &str| kind(&body(text), "category", true);
        assert_eq!(category(r#"{"category":"mints"}"#).unwrap(), Some(EventKind::Mint));
        assert_eq!(category(r#"{"category":"all"}"#).unwrap(), None);
        assert!(category(r#"{"category":"alls"}"#).is_err());
    }
}
