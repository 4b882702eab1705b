//! Members of requests about markets, and what routes ask first (docs/api.md, "Markets").

use paraffin_alkanes::ScriptKey;
use paraffin_amm::{EventKind, Scope, Status};
use paraffin_primitives::AlkaneId;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::super::alkanes::fields::script;
use super::problem::Problem;
use paraffin_gateway::alkanes;
use paraffin_gateway::api_types::{AddressText, FactoryIdParam};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::markets::{self, MarketMoment};
use paraffin_gateway::methods::{Verbatim, scalar};
use paraffin_gateway::state::RequestContext;

/// Other names of members that many routes have.
pub(super) const FACTORY: (&str, &[&str]) = ("factoryId", &["factory_id"]);
pub(super) const POOL: (&str, &[&str]) = ("poolId", &["pool_id", "id"]);
pub(super) const TOKEN: (&str, &[&str]) = ("alkaneId", &["id", "tokenId", "alkane"]);

/// Refuses where markets are not indexed.
pub(crate) fn admit(context: &RequestContext) -> Result<(), ApiError> {
    alkanes::of(context)?;
    markets::of(context)?;
    Ok(())
}

/// The factory that is asked about: the network's own where none is named.
pub(super) fn factory_of(context: &RequestContext, named: Option<FactoryIdParam>) -> Result<AlkaneId, ApiError> {
    let own = markets::of(context)?.factory;
    Ok(named.map_or(own, FactoryIdParam::get))
}

/// Who owns an address of this network.
pub(super) fn owner(context: &RequestContext, address: &AddressText) -> Result<ScriptKey, ApiError> {
    Ok(ScriptKey::of(&script(context, &address.0)?))
}

/// The id of a pool, block:tx.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String", extend("pattern" = "^[0-9]{1,39}:[0-9]{1,39}$"))]
pub(crate) struct PoolIdText(pub(crate) AlkaneId);

impl TryFrom<String> for PoolIdText {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        text.parse().map(Self).map_err(|_| "must be the id of a pool as block:tx, for example 2:5")
    }
}

/// Which outcomes are asked for.
#[derive(Debug, Clone, Copy, JsonSchema)]
#[schemars(inline, with = "Verbatim", extend("anyOf" = [json!({ "type": "boolean" }), json!({ "enum": ["true", "false", "all"] })]))]
pub(super) struct Outcome(Status);

impl<'de> Deserialize<'de> for Outcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wanted = match scalar(deserializer)? {
            Value::Bool(true) => Some(Status::Successful),
            Value::Bool(false) => Some(Status::Failed),
            Value::String(text) => match text.as_str() {
                "true" => Some(Status::Successful),
                "false" => Some(Status::Failed),
                "all" => Some(Status::Any),
                _ => None,
            },
            _ => None,
        };
        wanted.map(Self).ok_or_else(|| D::Error::custom("must be true, false or \"all\""))
    }
}

/// The outcomes by both ways to tell them.
pub(super) fn status(successful: Option<Outcome>, successful_only: Option<bool>) -> Result<Status, ApiError> {
    let only = successful_only.map(|only| if only { Status::Successful } else { Status::Any });
    match (successful.map(|outcome| outcome.0), only) {
        (Some(one), Some(other)) if one != other => Err(ApiError::invalid("successful and successfulOnly differ")),
        (one, other) => Ok(one.or(other).unwrap_or(Status::Successful)),
    }
}

/// Kinds of events in the order in which they are described.
const KINDS: [EventKind; 6] =
    [EventKind::Swap, EventKind::Mint, EventKind::Burn, EventKind::Creation, EventKind::Wrap, EventKind::Unwrap];

fn kind_named<E: serde::de::Error>(name: &str) -> Result<EventKind, E> {
    let kind = KINDS.into_iter().find(|kind| kind.name() == name);
    kind.ok_or_else(|| E::custom(format_args!("must be one of: {}", KINDS.map(EventKind::name).join(", "))))
}

/// A kind of event.
#[derive(Debug, Clone, Copy, JsonSchema)]
#[schemars(inline, with = "String", extend("enum" = KINDS.map(EventKind::name)))]
pub(super) struct Kind(pub(super) EventKind);

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        kind_named(&String::deserialize(deserializer)?).map(Self)
    }
}

/// A kind of event, also in the plural, or `all` for every kind.
#[derive(Debug, Clone, Copy, JsonSchema)]
#[schemars(inline, with = "String", extend("enum" = categories()))]
pub(super) struct Category(pub(super) Option<EventKind>);

fn categories() -> Vec<String> {
    let one = KINDS.map(|kind| kind.name().to_owned());
    let many = KINDS.map(|kind| format!("{}s", kind.name()));
    [&one[..], &many, &["all".to_owned()]].concat()
}

impl<'de> Deserialize<'de> for Category {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        if name == "all" {
            return Ok(Self(None));
        }
        kind_named(name.strip_suffix('s').unwrap_or(&name)).map(|kind| Self(Some(kind)))
    }
}

/// 404 when there is no alkane with this id.
pub(super) fn require_token(moment: &MarketMoment<'_>, id: AlkaneId) -> Result<(), Problem> {
    if moment.chain.state.creation(id)?.is_some() {
        return Ok(());
    }
    Err(ApiError::not_found(format!("there is no alkane {id}")).into())
}

/// 404 when the id is not that of a factory: of a contract that has created a pool, or the network's own, which may still
/// be without any.
pub(crate) fn require_factory(moment: &MarketMoment<'_>, id: AlkaneId) -> Result<(), Problem> {
    if id == moment.parts.factory {
        return Ok(());
    }
    match moment.markets.count(Scope::Factory(id), Some(EventKind::Creation), Status::Successful)? {
        0 => Err(ApiError::not_found(format!("there is no factory {id}")).into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paraffin_gateway::methods::read_members;

    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Members {
        successful: Option<Outcome>,
        successful_only: Option<bool>,
        transaction_type: Option<Kind>,
        category: Option<Category>,
    }

    fn read(text: &str) -> Result<Members, String> {
        read_members(serde_json::from_str(text).unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn outcomes_are_kept_ones_unless_asked_otherwise() {
        let asked = |text: &str| {
            let members = read(text).ok()?;
            status(members.successful, members.successful_only).ok()
        };
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
        let named = |text: &str| read(text).map(|members| members.transaction_type.map(|kind| kind.0));
        assert_eq!(named("{}").unwrap(), None);
        assert_eq!(named(r#"{"transactionType":"unwrap"}"#).unwrap(), Some(EventKind::Unwrap));
        for wrong in ["Swap", "swaps", "", "all"] {
            let error = named(&format!(r#"{{"transactionType":"{wrong}"}}"#)).unwrap_err();
            assert_eq!(error, "transactionType must be one of: swap, mint, burn, creation, wrap, unwrap");
        }
        assert_eq!(named(r#"{"transactionType":5}"#).unwrap_err(), "transactionType must be a string");
        let category = |text: &str| read(text).map(|members| members.category.and_then(|category| category.0));
        assert_eq!(category(r#"{"category":"mints"}"#).unwrap(), Some(EventKind::Mint));
        assert_eq!(category(r#"{"category":"all"}"#).unwrap(), None);
        assert!(category(r#"{"category":"alls"}"#).is_err());
    }
}
