//! Versions and height of the index, as plain text.

use http::StatusCode;
use paraffin_ordinals_index::brc20::TABLES_VERSION;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{newest, proxied};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::methods::schema;
use paraffin_gateway::respond::Reply;
use paraffin_gateway::rest::part::Part;
use paraffin_gateway::rest::{Changes, Made, Route, Verb, Wrapping};
use paraffin_gateway::state::RequestContext;
use paraffin_ordinals_index::OPI_SERVER;

/// The form of event strings: tickers as written stand in them since 2 (OPI's `EVENT_HASH_VERSION`).
const EVENT_HASH_VERSION: u32 = 2;
const TEXT: &[&str] = &["text/plain"];

/// A number as plain text.
pub(super) struct NumberText;

schema!(NumberText, "NumberText", inline { "description": "Digits, as plain text", "type": "string", "pattern": "^[0-9]+$" });

/// Answers with a number of our own, or with that of a server of OPI at this path.
async fn number(
    context: &RequestContext,
    name: &'static str,
    own: impl FnOnce() -> Result<u32, ApiError>,
) -> Result<Made<NumberText>, ApiError> {
    match context.shared().families.of(OPI_SERVER) {
        Some(server) => proxied::number(server, context, name).await.map(Made::from),
        None => Ok(Reply::text(StatusCode::OK, own()?.to_string()).into()),
    }
}

/// Height of the newest block of the BRC-20 index.
#[derive(Deserialize, JsonSchema)]
pub(super) struct NewestHeight {}

impl Route for NewestHeight {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "opi/v1/brc20/block_height")];
    const WRAPPING: Wrapping = Wrapping::Bare;
    const MEDIA_TYPES: &'static [&'static str] = TEXT;
    const CHANGES: Changes = super::CHANGES;
    type Answer = Made<NumberText>;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Made<NumberText>, ApiError> {
        number(context, "block_height", || newest(context.snapshot())).await
    }
}

/// The same height: no data is indexed separately.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ExtrasHeight {}

impl Route for ExtrasHeight {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "opi/v1/brc20/extras_block_height")];
    const WRAPPING: Wrapping = Wrapping::Bare;
    const MEDIA_TYPES: &'static [&'static str] = TEXT;
    const CHANGES: Changes = super::CHANGES;
    type Answer = Made<NumberText>;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Made<NumberText>, ApiError> {
        number(context, "extras_block_height", || newest(context.snapshot())).await
    }
}

/// Version of the index's rows.
#[derive(Deserialize, JsonSchema)]
pub(super) struct RowsVersion {}

impl Route for RowsVersion {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "opi/v1/brc20/db_version")];
    const WRAPPING: Wrapping = Wrapping::Bare;
    const MEDIA_TYPES: &'static [&'static str] = TEXT;
    const CHANGES: Changes = Changes::Anytime;
    type Answer = Made<NumberText>;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Made<NumberText>, ApiError> {
        number(context, "db_version", || Ok(TABLES_VERSION)).await
    }
}

/// Version of the form of event strings.
#[derive(Deserialize, JsonSchema)]
pub(super) struct EventsVersion {}

impl Route for EventsVersion {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "opi/v1/brc20/event_hash_version")];
    const WRAPPING: Wrapping = Wrapping::Bare;
    const MEDIA_TYPES: &'static [&'static str] = TEXT;
    const CHANGES: Changes = Changes::Anytime;
    type Answer = Made<NumberText>;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Made<NumberText>, ApiError> {
        number(context, "event_hash_version", || Ok(EVENT_HASH_VERSION)).await
    }
}

/// The address under which this request is counted.
#[derive(Deserialize, JsonSchema)]
pub(super) struct CallerAddress {}

impl Route for CallerAddress {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "opi/v1/brc20/ip")];
    const WRAPPING: Wrapping = Wrapping::Bare;
    const MEDIA_TYPES: &'static [&'static str] = TEXT;
    const CHANGES: Changes = Changes::Anytime;
    type Answer = Made<String>;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Made<String>, ApiError> {
        Ok(Reply::text(StatusCode::OK, context.client().to_string()).into())
    }
}

/// Who made the hashes.
pub(super) fn version() -> String {
    format!("paraffin v{}", env!("CARGO_PKG_VERSION"))
}
