//! Change events and the orders that they become.
#![allow(clippy::unwrap_used)] // a failed `unwrap` fails the test

mod support;

use paraffin_orderbook::{Effect, EventError, Position, read};
use serde_json::{Value, json};
use support::{NOW, book, deletion, effects, envelope, listing, tables};

fn position(event: &Value) -> Position {
    match &effects(event)[0] {
        Effect::Order(order) => order.position(),
        other => panic!("{other:?}"),
    }
}

fn refusal(body: &str) -> String {
    read(body.as_bytes(), &tables(), NOW).unwrap_err().to_string()
}

/// row OB01
/// row OB07
#[test]
fn a_loan_offer_has_the_documented_envelope() {
    let event = json!({
        "op": "c",
        "source": { "table": "lending_offers", "lsn": 24_023_128, "db": "market", "snapshot": "false" },
        "before": null,
        "after": {
            "id": "clx1", "network": "mainnet", "role": "creditor", "loan_token_id": "2:0", "loan_amount": 1_000_000,
            "collateral_token_id": "32:0", "collateral_amount": "5", "apr_bp": 1200, "duration_blocks": 144,
            "maker_address": "bc1qmaker", "status": "open", "psbt": "cHNidP8=",
            "created_at": "2026-07-21T00:00:00Z", "updated_at": 1_784_592_000_000_u64, "note": {"seen": true}, "gone": null,
        },
        "transaction": null, "ts_ms": 1_784_592_000_111_u64,
    });
    let book = book(&event);
    let expected = json!({
        "source": "lending", "id": "clx1", "network": "mainnet", "kind": "offer",
        "marketKey": "lending:mainnet:pair:2:0_32:0",
        "topics": ["lending:mainnet:book:*", "lending:mainnet:loan-token:2:0", "lending:mainnet:pair:2:0_32:0"],
        "side": "creditor", "makerAddress": "bc1qmaker", "status": "open", "price": "1200", "priceUnit": "apr-bp",
        "assets": [
            { "role": "loan", "tokenId": "2:0", "amountRaw": "1000000" },
            { "role": "collateral", "tokenId": "32:0", "amountRaw": "5" },
        ],
        "psbt": "cHNidP8=", "createdAt": NOW, "updatedAt": NOW,
        "ext": { "aprBp": "1200", "durationBlocks": "144", "note": {"seen": true} },
    });
    assert_eq!(envelope(&book, "lending", "clx1"), expected);
    let markets = serde_json::to_value(book.markets()).unwrap();
    let market = json!([{
        "source": "lending", "network": "mainnet", "market_key": "lending:mainnet:pair:2:0_32:0", "open_orders": 1,
    }]);
    assert_eq!(markets, market);
}

#[test]
fn a_listing_is_in_its_module_its_collection_and_the_book() {
    let book = book(&json!([listing("clx1", "active", 1200, 1), listing("clx2", "cancelled", 7, 2)]));
    let order = envelope(&book, "orbitals", "clx1");
    assert_eq!((&order["status"], &order["ext"]["status"]), (&json!("open"), &json!("active")));
    assert_eq!(
        (&order["side"], &order["kind"], &order["priceUnit"]),
        (&json!("sell"), &json!("listing"), &json!("DIESEL"))
    );
    assert_eq!(order["assets"], json!([{ "tokenId": "2:107", "amountRaw": "1" }]));
    for market in ["orbitals:mainnet:book:*", "orbitals:mainnet:module:fire-pos", "orbitals:mainnet:collection:2:100"] {
        let snapshot = book.snapshot(market);
        assert_eq!(snapshot.orders.len(), 1, "{market}");
        assert_eq!(snapshot.checksum, support::checksum(&book, market));
    }
    assert_eq!(order["marketKey"], "orbitals:mainnet:module:fire-pos");
    assert_eq!(envelope(&book, "orbitals", "clx2")["status"], "cancelled");
    assert!(book.snapshot("orbitals:mainnet:module:other").orders.is_empty());
}

#[test]
fn the_smallest_event_is_an_open_order() {
    let book = book(&json!({ "op": "c", "source": { "table": "orbital_offers" }, "after": { "id": 17 } }));
    let order = envelope(&book, "orbitals", "17");
    assert_eq!((&order["status"], &order["side"]), (&json!("open"), &json!("buy")));
    assert_eq!(order["marketKey"], "orbitals:mainnet:book:*");
}

#[test]
fn events_come_bare_or_wrapped_alone_or_many_and_with_tombstones() {
    let bare = listing("clx1", "open", 5, 9);
    let wrapped = json!({ "schema": { "type": "struct" }, "payload": bare });
    assert_eq!(effects(&wrapped), effects(&bare));
    let many = json!([bare, wrapped, null, { "schema": null, "payload": null }, { "op": "m", "message": { "prefix": "x" } },
        { "op": "c", "source": { "table": "users" }, "after": { "name": "x" } }]);
    let many = effects(&many);
    assert_eq!(many.len(), 6);
    assert!(many[2..].iter().all(|effect| *effect == Effect::None));
    assert!(effects(&json!([])).is_empty());
}

#[test]
fn the_position_is_the_place_in_the_log_or_else_the_time() {
    let event = |source: Value, rest: Value| {
        let mut event = listing("clx1", "open", 5, 1);
        event["source"] = source;
        event["source"]["table"] = "orbital_listings".into();
        event["after"]["updated_at"] = rest["updated_at"].clone();
        event["ts_ms"] = rest["ts_ms"].clone();
        position(&event)
    };
    assert_eq!(event(json!({"lsn": 7, "pos": 8, "ts_us": 9}), json!({})), Position::Log(0, 7));
    assert_eq!(event(json!({"lsn": "7"}), json!({})), Position::Log(0, 7));
    assert_eq!(event(json!({"lsn": null, "file": "bin.000012", "pos": 8}), json!({})), Position::Log(12, 8));
    assert_eq!(event(json!({"ts_us": 9, "ts_ms": 1}), json!({"ts_ms": 5})), Position::Time(9));
    assert_eq!(event(json!({}), json!({"ts_ms": 5})), Position::Time(5_000));
    assert_eq!(event(json!({}), json!({"updated_at": 1_784_592_000})), Position::Time(NOW));
    assert_eq!(event(json!({}), json!({})), Position::Time(NOW));
}

#[test]
fn one_bad_event_refuses_all_and_is_named() {
    let good = listing("clx1", "open", 5, 1);
    let bad = |change: &dyn Fn(&mut Value)| {
        let mut event = listing("clx2", "open", 5, 1);
        change(&mut event);
        let refused = refusal(&json!([good, good, event]).to_string());
        assert!(refused.starts_with("event 2: "), "{refused}");
        refused
    };
    assert_eq!(
        bad(&|event| {
            event.as_object_mut().unwrap().remove("op");
        }),
        "event 2: op is required"
    );
    assert!(bad(&|event| event["op"] = "x".into()).contains("op must be"));
    assert!(bad(&|event| event["op"] = 5.into()).contains("op is required"));
    assert!(bad(&|event| event["source"] = Value::Null).contains("source is required"));
    assert!(bad(&|event| event["source"]["table"] = Value::Null).contains("source.table"));
    assert!(bad(&|event| event["source"]["lsn"] = json!(-1)).contains("source.lsn"));
    assert!(bad(&|event| event["after"] = Value::Null).contains("after is required"));
    assert!(bad(&|event| event["after"] = json!([1])).contains("after is no object"));
    assert!(bad(&|event| event["after"]["id"] = Value::Null).contains("id is required"));
    assert!(bad(&|event| event["after"]["id"] = "".into()).contains("id must have"));
    assert!(bad(&|event| event["after"]["id"] = "x".repeat(129).into()).contains("id must have"));
    assert!(bad(&|event| event["after"]["id"] = "a\nb".into()).contains("control"));
    assert!(bad(&|event| event["after"]["price"] = "NaN".into()).contains("price must be a decimal"));
    assert!(bad(&|event| event["after"]["price"] = "-1".into()).contains("price"));
    assert!(bad(&|event| event["after"]["price"] = "9".repeat(101).into()).contains("price"));
    assert!(bad(&|event| event["after"]["amount"] = "1e80".into()).contains("amount"));
    assert!(bad(&|event| event["after"]["status"] = "gone fishing".into()).contains("orderbook.statuses"));
    assert!(bad(&|event| event["after"]["updated_at"] = "soon".into()).contains("updated_at must be a time"));
    assert!(bad(&|event| event["after"]["network"] = "main:net".into()).contains("is no name of a market"));
    assert!(bad(&|event| *event = json!(5)).contains("is no object"));
    assert!(bad(&|event| *event = json!({"payload": 5})).contains("payload is no object"));
}

#[test]
fn a_body_that_is_neither_an_event_nor_a_list_of_them_is_refused() {
    for body in ["", " ", "null", "5", "\"x\"", "{", "[", "[1,]", "{\"op\": NaN}", "{} {}", "\u{feff}{}"] {
        let error = read(body.as_bytes(), &tables(), NOW).unwrap_err();
        assert!(matches!(error, EventError::Body(_)), "{body}: {error}");
    }
    assert!(matches!(read(&[0xff, 0xfe], &tables(), NOW), Err(EventError::Body(_))));
    let many = format!("[{}null]", "null,".repeat(10_000));
    assert!(refusal(&many).contains("at most 10000 events"), "{}", refusal(&many));
    let most = format!("[{}null]", "null,".repeat(9_999));
    assert_eq!(read(most.as_bytes(), &tables(), NOW).unwrap().len(), 10_000);
    let deep = format!(
        r#"{{"op":"c","source":{{"table":"orbital_offers"}},"after":{{"id":1,"x":{}{}}}}}"#,
        "[".repeat(100),
        "]".repeat(100)
    );
    assert!(refusal(&deep).contains("16 levels"));
    let deeper = format!(r#"{{"op":"c","x":{}"#, "[".repeat(200_000));
    assert!(matches!(read(deeper.as_bytes(), &tables(), NOW), Err(EventError::Body(_))));
}

#[test]
fn a_number_of_81_digits_is_kept_as_it_is() {
    let big = format!("1{}", "0".repeat(80));
    let mut event = listing("clx1", "open", 5, 1);
    event["after"]["price"] = big.as_str().into();
    event["after"]["amount"] = serde_json::from_str(&big).unwrap();
    let order = envelope(&book(&event), "orbitals", "clx1");
    assert_eq!(
        (order["price"].as_str(), order["assets"][0]["amountRaw"].as_str()),
        (Some(big.as_str()), Some(big.as_str()))
    );
}

#[test]
fn a_market_whose_key_has_five_colons_is_one_key() {
    let mut event = listing("clx1", "open", 5, 1);
    event["after"]["module"] = "a:b:c:d:e:f".into();
    let book = book(&event);
    assert_eq!(book.snapshot("orbitals:mainnet:module:a:b:c:d:e:f").orders.len(), 1);
    assert_eq!(book.markets()[0].source, "orbitals");
}

/// row OB03
#[test]
fn a_deleted_order_leaves_as_removed_and_can_still_be_asked_for() {
    let book = book(&json!([listing("clx1", "open", 5, 1), deletion("clx1", 2)]));
    assert_eq!(envelope(&book, "orbitals", "clx1")["status"], "removed");
    assert!(book.markets().is_empty() && book.snapshot("orbitals:mainnet:book:*").orders.is_empty());
}
