//! Shapes of members and answers, for their description; `paraffin_orderbook` reads and writes them.
#![expect(dead_code, reason = "mostly schemas alone")]

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use paraffin_gateway::methods::{List, Object, schema};

/// A body for [`ChangeEvents`].
pub(super) const EXAMPLE: &str = r#"{"op":"c","source":{"table":"orbital_listings","lsn":1},"before":null,"after":{"id":"example","module":"fire-pos","collection":"2:100","token_id":"2:107","price":"1200"}}"#;

/// The name of a market.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Market(pub(super) String);

schema!(Market, "OrderMarket", {
    "description": "<source>:<network>:<scope>:<key>, such as orbitals:mainnet:book:*; anything else is 400",
    "type": "string",
    "pattern": "^[^:]+:[^:]+:[^:]+:.+$",
});

/// Source of an order.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct OrderSource(pub(super) String);

schema!(OrderSource, "OrderSource", {
    "description": "Where an order comes from",
    "type": "string",
    "pattern": "^[A-Za-z0-9_-][^/]{0,127}$",
});

/// The id of an order.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct OrderId(pub(super) String);

schema!(OrderId, "OrderId", {
    "description": "Id of an order within its source",
    "type": "string",
    "pattern": "^[A-Za-z0-9_-][^/]{0,127}$",
});

/// One change event or an array of them, as Debezium writes them; an invalid one rejects all with 400.
#[derive(JsonSchema)]
#[schemars(untagged, example = serde_json::from_str::<Value>(EXAMPLE).unwrap_or_default())]
pub(super) enum ChangeEvents {
    One(ChangeEvent),
    /// `null` follows a deletion.
    Many(List<Option<ChangeEvent>, { paraffin_orderbook::EVENTS_MAX }>),
}

/// Bare, or wrapped as schema and payload.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum ChangeEvent {
    Bare(RowEvent),
    Wrapped { payload: RowEvent },
}

/// Operation on a row.
#[derive(JsonSchema)]
#[schemars(tag = "op", inline)]
pub(super) enum RowEvent {
    /// The row was inserted.
    #[schemars(rename = "c")]
    Created { source: EventSource, after: Object },
    /// The row is part of an initial snapshot.
    #[schemars(rename = "r")]
    Read { source: EventSource, after: Object },
    /// The row was updated.
    #[schemars(rename = "u")]
    Updated { source: EventSource, after: Object },
    /// The row was deleted.
    #[schemars(rename = "d")]
    Deleted { source: EventSource, before: Object },
    /// The table was truncated.
    #[schemars(rename = "t")]
    Emptied { source: EventSource },
    /// A message that concerns no row.
    #[schemars(rename = "m")]
    Message,
}

/// Origin of a change.
#[derive(JsonSchema)]
#[schemars(inline)]
pub(super) struct EventSource {
    /// Tables that are not configured are ignored.
    table: String,
    /// Position in the log of the database.
    lsn: Option<u64>,
    /// Unix milliseconds of the change.
    ts_ms: Option<u64>,
}

/// A market that has active orders.
#[derive(JsonSchema)]
pub(super) struct OrderMarketRecord {
    source: String,
    network: String,
    market_key: String,
    /// Active orders that have it as their main market.
    open_orders: usize,
}

/// The active orders of a market at one moment.
#[derive(JsonSchema)]
#[schemars(inline)]
pub(super) struct MarketOrders {
    market: String,
    /// Active ones by ascending id.
    orders: Vec<Order>,
    /// Number of the newest change; the stream goes on after it.
    seq: u64,
    /// CRC-32 over id, status and price of each order.
    checksum: Checksum,
}

struct Checksum;

schema!(Checksum, "Checksum", inline { "type": "string", "pattern": "^[0-9a-f]{8}$" });

/// A page of change events.
#[derive(JsonSchema)]
#[schemars(inline)]
pub(super) struct EventPage {
    events: Vec<OrderEventRecord>,
    /// `since` of the next page.
    next: u64,
    /// Whether more events are available now.
    has_more: bool,
}

/// A change event with its sequence number.
#[derive(JsonSchema)]
struct OrderEventRecord {
    /// Sequence number in the stream.
    seq: u64,
    /// Unix microseconds.
    received_at: u64,
    /// The event, verbatim.
    event: Value,
}

/// An order.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(super) struct Order {
    source: String,
    id: String,
    network: String,
    kind: OrderKind,
    /// Its main market.
    market_key: String,
    /// All its markets.
    topics: Vec<String>,
    /// The first three are active.
    status: OrderStatus,
    assets: Vec<OrderAsset>,
    /// Columns that no other member holds.
    ext: BTreeMap<String, Value>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    side: Option<String>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    maker_address: Option<String>,
    /// With all its digits, verbatim.
    #[schemars(skip_serializing_if = "Option::is_none")]
    price: Option<Decimal>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    price_unit: Option<String>,
    /// base64.
    #[schemars(skip_serializing_if = "Option::is_none")]
    psbt: Option<String>,
    /// Unix microseconds.
    #[schemars(skip_serializing_if = "Option::is_none")]
    created_at: Option<u64>,
    /// Unix microseconds.
    #[schemars(skip_serializing_if = "Option::is_none")]
    updated_at: Option<u64>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase", inline)]
enum OrderKind {
    Listing,
    Offer,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase", inline)]
enum OrderStatus {
    Open,
    Matched,
    Pending,
    Filled,
    Taken,
    Cancelled,
    Expired,
    Removed,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", inline)]
struct OrderAsset {
    token_id: String,
    /// loan or collateral of a loan offer.
    #[schemars(skip_serializing_if = "Option::is_none")]
    role: Option<String>,
    /// Base units.
    #[schemars(skip_serializing_if = "Option::is_none")]
    amount_raw: Option<Decimal>,
}

struct Decimal;

schema!(Decimal, "Decimal", inline { "type": "string", "pattern": "^[0-9]*\\.?[0-9]*$" });
