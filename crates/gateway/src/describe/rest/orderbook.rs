//! Routes of the book of orders (docs/orderbook.md). Beta: shapes may change.

use serde_json::{Value, json};

use super::super::schema::{
    about, any_of, anything, boolean, component, list, map, natural, one_of, pattern, record, record_and, text,
};
use super::{Route, needed, optional};
use crate::rest::Verb;

const TAG: &str = "Orderbook (beta)";
/// Most events of one request.
const EVENTS_MAX: usize = paraffin_orderbook::EVENTS_MAX;

pub(super) fn routes() -> Vec<Route> {
    let get = |path, summary| Route::new(path, Verb::Get, TAG, summary).without_tag().below_a_key();
    let limit = "Events of a page: 1,000 when absent; more than 10,000 is taken as 10,000";
    let accepted = record(&[("status", json!({ "const": "queued" })), ("events", natural())]);
    vec![
        get("orderbook/markets", "The main markets that have active orders")
            .gives_bare(record(&[("markets", list(component("OrderMarketRecord")))])),
        get("orderbook/snapshot", "The active orders of a market")
            .takes([needed(&["market"], component("OrderMarket"))])
            .gives_bare(record(&[
                ("market", text()),
                ("orders", about(list(component("Order")), "Active ones by ascending id")),
                ("seq", about(natural(), "Number of the newest change; the stream goes on after it")),
                ("checksum", about(pattern("^[0-9a-f]{8}$"), "CRC-32 over id, status and price of each order")),
            ])),
        get("orderbook/order/{source}/{id}", "One order, ended or not").gives_bare(component("Order")),
        get("orderbook/events", "The durable stream of change events")
            .takes([
                optional(&["since"], about(component("Offset"), "Number of the last event that the caller has")),
                optional(&["limit"], about(component("Count"), limit)),
            ])
            .or(&["410"])
            .gives_bare(record(&[
                ("events", list(component("OrderEventRecord"))),
                ("next", about(natural(), "`since` of the next page")),
                ("has_more", about(boolean(), "Whether there are more now")),
            ])),
        Route::new("orderbook/ingest", Verb::Post, TAG, "Takes change events in; needs an admin key")
            .below_a_key()
            .accepts(component("ChangeEvents"), accepted),
    ]
}

pub(super) fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        (
            "OrderMarket",
            about(
                pattern("^[^:]+:[^:]+:[^:]+:.+$"),
                "<source>:<network>:<scope>:<key>, such as orbitals:mainnet:book:*; anything else is 400",
            ),
        ),
        ("OrderSource", about(pattern("^[A-Za-z0-9_-][^/]{0,127}$"), "Where an order comes from")),
        ("OrderId", about(pattern("^[A-Za-z0-9_-][^/]{0,127}$"), "Id of an order within its source")),
        ("ChangeEvents", change_events()),
        ("ChangeEvent", change_event()),
        // What follows stands in answers alone.
        (
            "OrderMarketRecord",
            record(&[
                ("source", text()),
                ("network", text()),
                ("market_key", text()),
                ("open_orders", about(natural(), "Active orders that have it as their main market")),
            ]),
        ),
        ("Order", order()),
        (
            "OrderEventRecord",
            record(&[
                ("seq", about(natural(), "Its number in the stream")),
                ("received_at", about(natural(), "Unix microseconds")),
                ("event", about(anything(), "As it came")),
            ]),
        ),
    ]
}

fn change_events() -> Value {
    let mut many = list(component("ChangeEvent"));
    many["maxItems"] = json!(EVENTS_MAX);
    let one = json!({ "$ref": "#/components/schemas/ChangeEvent", "type": "object" });
    let mut either = about(
        any_of(&[one, many]),
        "One change event or an array of them, as Debezium writes them; one that is wrong refuses all with 400",
    );
    either["examples"] = json!([{
        "op": "c",
        "source": { "table": "orbital_listings", "lsn": 1 },
        "before": null,
        "after": { "id": "example", "module": "fire-pos", "collection": "2:100", "token_id": "2:107", "price": "1200" },
    }]);
    either
}

fn change_event() -> Value {
    let place = || json!({ "type": "integer", "minimum": 0, "maximum": u64::MAX });
    let source = json!({
        "type": "object",
        "required": ["table"],
        "properties": {
            "table": about(text(), "Tables that are not configured change nothing"),
            "lsn": about(place(), "Place in the log of the database"),
            "ts_ms": about(place(), "Unix milliseconds of the change"),
        },
    });
    let row = || json!({ "type": "object" });
    let told = json!({
        "type": "object",
        "required": ["op", "source", "after"],
        "properties": { "op": one_of(&["c", "r", "u"]), "source": source, "after": about(row(), "The row as it is") },
    });
    let deleted = json!({
        "type": "object",
        "required": ["op", "source", "before"],
        "properties": { "op": { "const": "d" }, "source": source, "before": about(row(), "The row as it was") },
    });
    let emptied = json!({
        "type": "object",
        "required": ["op", "source"],
        "properties": { "op": { "const": "t" }, "source": source },
    });
    let message = json!({ "type": "object", "required": ["op"], "properties": { "op": { "const": "m" } } });
    let bare = any_of(&[told, deleted, emptied, message]);
    let wrapped = json!({ "type": "object", "required": ["payload"], "properties": { "schema": {}, "payload": bare } });
    let tombstone = json!({ "type": "null" });
    about(any_of(&[bare, wrapped, tombstone]), "Bare, or wrapped as schema and payload; null follows a deletion")
}

fn order() -> Value {
    let decimal = |sentence: &str| about(pattern("^[0-9]*\\.?[0-9]*$"), sentence);
    let asset = record_and(
        &[("tokenId", text())],
        &[("role", about(text(), "loan or collateral of a loan offer")), ("amountRaw", decimal("Base units"))],
    );
    let micros = || about(natural(), "Unix microseconds");
    let states = ["open", "matched", "pending", "filled", "taken", "cancelled", "expired", "removed"];
    record_and(
        &[
            ("source", text()),
            ("id", text()),
            ("network", text()),
            ("kind", one_of(&["listing", "offer"])),
            ("marketKey", about(text(), "Its main market")),
            ("topics", about(list(text()), "All its markets")),
            ("status", about(one_of(&states), "The first three are active")),
            ("assets", list(asset)),
            ("ext", about(map(anything()), "Columns that no other member tells")),
        ],
        &[
            ("side", text()),
            ("makerAddress", text()),
            ("price", decimal("Digit for digit as it came")),
            ("priceUnit", text()),
            ("psbt", about(text(), "base64")),
            ("createdAt", micros()),
            ("updatedAt", micros()),
        ],
    )
}
