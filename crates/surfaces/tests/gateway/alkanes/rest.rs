//! REST routes about alkanes.

use paraffin_alkanes::{TraceEvent, TraceStatus};
use serde_json::{Value, json};

use super::scenario::{Scenario, TOKEN, message, parts, with_stones};
use crate::chain::{script_of, taproot};
use crate::instance::{Instance, Setup};

async fn post(instance: &Instance, route: &str, body: Value) -> (u16, Value) {
    let response = instance.post(&format!("/v4/api/{route}"), body.to_string()).await;
    (response.status, response.json())
}

async fn data(instance: &Instance, route: &str, body: Value) -> Value {
    let (status, answer) = post(instance, route, body).await;
    assert_eq!((status, &answer["statusCode"]), (200, &json!(200)), "{answer}");
    answer["data"].clone()
}

fn token_id() -> Value {
    json!({ "block": "2", "tx": "1" })
}

/// row RA01
/// row RL06
#[tokio::test]
async fn get_alkanes_lists_the_newest_first_with_paging_and_other_orders() {
    let Scenario { instance, .. } = Scenario::start().await;
    let page = data(&instance, "get-alkanes", json!({})).await;
    let ids = |page: &Value| {
        let tokens = page["tokens"].as_array().unwrap();
        tokens
            .iter()
            .map(|token| format!("{}:{}", token["id"]["block"].as_str().unwrap(), token["id"]["tx"].as_str().unwrap()))
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&page), ["2:1", "32:1", "32:0", "2:0"]);
    assert_eq!(
        (&page["total"], &page["count"], &page["limit"], &page["offset"]),
        (&json!(4), &json!(4), &json!(50), &json!(0))
    );
    let token = &page["tokens"][0];
    for (member, expected) in [
        ("id", token_id()),
        ("alkaneId", token_id()),
        ("name", json!("Paraffin Wax")),
        ("symbol", json!("WAX")),
        ("decimals", json!(8)),
        ("image", Value::Null),
        ("tokenImage", Value::Null),
        ("max", json!("100")),
        ("cap", json!("5")),
        ("minted", json!("1")),
        ("premine", json!("1000")),
        ("totalSupply", json!("1100")),
        ("balance", Value::Null),
        ("holders", json!(2)),
        ("createdAtHeight", json!(4)),
        ("floorPrice", Value::Null),
        ("priceUsd", Value::Null),
        ("busdPoolPriceInUsd", Value::Null),
        ("priceInSatoshi", Value::Null),
    ] {
        assert_eq!(token[member], expected, "{member}");
    }
    let listed = |body: Value| {
        let instance = &instance;
        async move { ids(&data(instance, "get-alkanes", body).await) }
    };
    assert_eq!(listed(json!({ "limit": 1, "offset": 1 })).await, ["32:1"]);
    assert_eq!(listed(json!({ "page": 2, "limit": 3 })).await, ["2:0"]);
    assert_eq!(listed(json!({ "offset": 9 })).await, [] as [&str; 0]);
    assert_eq!(listed(json!({ "order": "asc" })).await, ["2:0", "32:0", "32:1", "2:1"]);
    assert_eq!(listed(json!({ "sortBy": "holders", "limit": 1 })).await, ["2:1"]);
    assert_eq!(listed(json!({ "searchQuery": "wax" })).await, ["2:1"]);
    let by_name = data(&instance, "get-alkanes", json!({ "sortBy": "name" })).await;
    let names: Vec<String> = by_name["tokens"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|token| token["name"].as_str())
        .map(str::to_lowercase)
        .collect();
    assert!(names.len() >= 3 && names.is_sorted(), "{names:?}");
    for wrong in [
        json!({ "limit": 0 }),
        json!({ "sortBy": "luck" }),
        json!({ "order": 5 }),
        json!({ "order": "up" }),
        json!({ "searchQuery": 5 }),
        json!({ "offset": -1 }),
    ] {
        assert_eq!(post(&instance, "get-alkanes", wrong.clone()).await.0, 400, "{wrong}");
    }
}

/// row RA02
#[tokio::test]
async fn get_alkane_details_takes_every_name_of_the_id() {
    let Scenario { instance, .. } = Scenario::start().await;
    for body in [
        json!({ "alkaneId": token_id() }),
        json!({ "id": { "block": 2, "tx": 1 } }),
        json!({ "tokenId": "2:1" }),
        json!({ "alkane": "2:1", "id": null }),
    ] {
        let token = data(&instance, "get-alkane-details", body).await;
        assert_eq!((&token["id"], &token["name"]), (&token_id(), &json!("Paraffin Wax")));
    }
    let (status, answer) = post(&instance, "get-alkane-details", json!({ "id": "2:99" })).await;
    assert_eq!((status, &answer["code"]), (404, &json!("NOT_FOUND")));
    for wrong in [json!({}), json!({ "id": "2" }), json!({ "id": "2:1", "alkaneId": "2:0" })] {
        assert_eq!(post(&instance, "get-alkane-details", wrong.clone()).await.0, 400, "{wrong}");
    }
}

/// row RA03
#[tokio::test]
async fn global_alkanes_search_finds_ids_symbols_and_parts_of_names() {
    let Scenario { instance, .. } = Scenario::start().await;
    for query in ["2:1", "wax", "PARA", "fin w"] {
        let found = data(&instance, "global-alkanes-search", json!({ "searchQuery": query })).await;
        assert_eq!(found["tokens"][0]["id"], token_id(), "{query}");
        assert_eq!(found["pools"], json!([]));
    }
    let none = data(&instance, "global-alkanes-search", json!({ "query": "unheard of" })).await;
    assert_eq!(none["tokens"], json!([]));
    for wrong in [json!({}), json!({ "searchQuery": 5 }), json!({ "searchQuery": "x".repeat(201) })] {
        assert_eq!(post(&instance, "global-alkanes-search", wrong).await.0, 400);
    }
}

/// row RA04
#[tokio::test]
async fn get_alkanes_by_address_is_an_array_of_tokens_with_balances() {
    let Scenario { instance, .. } = Scenario::start().await;
    let tokens = data(&instance, "get-alkanes-by-address", json!({ "address": instance.miner })).await;
    let tokens = tokens.as_array().unwrap();
    assert_eq!(tokens.len(), 1);
    assert_eq!((&tokens[0]["id"], &tokens[0]["balance"]), (&token_id(), &json!("1000")));
    let unused = json!({ "address": taproot(instance.chain.network, 3) });
    assert_eq!(data(&instance, "get-alkanes-by-address", unused).await, json!([]));
    for wrong in [json!({}), json!({ "address": "nobody" }), json!({ "address": 5 })] {
        assert_eq!(post(&instance, "get-alkanes-by-address", wrong).await.0, 400);
    }
}

/// row RA05
#[tokio::test]
async fn get_alkanes_utxo_and_all_other_lists_of_outputs_tell_what_lies_in_them() {
    let Scenario { instance, mint, .. } = Scenario::start().await;
    let utxos = data(&instance, "get-alkanes-utxo", json!({ "address": instance.payee })).await;
    let utxos = utxos.as_array().unwrap();
    assert_eq!(utxos.len(), 1);
    let held = json!({ "2:1": { "balance": "100", "name": "Paraffin Wax", "symbol": "WAX" } });
    assert_eq!(
        (&utxos[0]["txId"], &utxos[0]["outputIndex"], &utxos[0]["alkanes"]),
        (&json!(mint.to_string()), &json!(0), &held)
    );
    assert_eq!((&utxos[0]["confirmations"], &utxos[0]["satoshis"]), (&json!(2), &json!(546)));
    for (route, body) in [
        ("get-address-utxos", json!({ "address": instance.payee })),
        ("get-account-utxos", json!({ "account": instance.payee })),
    ] {
        let all = data(&instance, route, body).await;
        let of: Vec<_> = all["utxos"].as_array().unwrap().iter().map(|utxo| utxo["alkanes"].clone()).collect();
        assert_eq!(of, [held.clone(), json!({})], "{route}");
    }
    // Outputs that an unconfirmed transaction spends are left out.
    let spend =
        crate::chain::payment(&[bitcoin::OutPoint { txid: mint, vout: 0 }], &[(500, bitcoin::ScriptBuf::new())]);
    instance.node.add_unconfirmed(&spend);
    assert_eq!(data(&instance, "get-alkanes-utxo", json!({ "address": instance.payee })).await, json!([]));
}

/// row RA07
#[tokio::test]
async fn get_address_outpoints_answers_in_the_envelope_and_beside_it() {
    let Scenario { instance, mint, .. } = Scenario::start().await;
    let (status, answer) = post(&instance, "get-address-outpoints", json!({ "address": instance.payee })).await;
    let outpoints = json!([{ "outpoint": format!("{mint}:0"), "entries": [{ "alkane": "2:1", "amount": "100" }] }]);
    assert_eq!((status, &answer["statusCode"], &answer["ok"]), (200, &json!(200), &json!(true)));
    assert_eq!(answer["data"], json!({ "address": instance.payee, "outpoints": outpoints }));
    assert_eq!((&answer["address"], &answer["outpoints"]), (&json!(instance.payee), &outpoints));
}

/// row RB11
#[tokio::test]
async fn get_intent_history_tells_the_messages_of_an_address() {
    let Scenario { instance, deploy, mint } = Scenario::start().await;
    let history = data(&instance, "get-intent-history", json!({ "address": instance.payee })).await;
    assert_eq!(history["total"], 1);
    let intent = &history["intents"][0];
    let wax = json!([{ "id": token_id(), "value": "100" }]);
    for (member, expected) in [
        ("txid", json!(mint.to_string())),
        ("blockHeight", json!(5)),
        ("timestamp", json!("2023-11-14T23:03:20Z")),
        ("target", token_id()),
        ("opcode", json!("77")),
        ("status", json!("success")),
        ("incoming", json!([])),
        ("outgoing", wax),
    ] {
        assert_eq!(intent[member], expected, "{member}");
    }
    // A message is padded with zeros, which are inputs as well.
    assert_eq!(intent["inputs"].as_array().unwrap()[..2], ["77", "0"]);
    let first =
        data(&instance, "get-intent-history", json!({ "address": instance.miner, "limit": 1, "page": 1 })).await;
    assert_eq!((&first["intents"][0]["txid"], &first["total"]), (&json!(deploy.to_string()), &json!(1)));
    assert_eq!(first["intents"][0]["inputs"].as_array().unwrap()[..4], ["0", "1000", "100", "5"]);
    let past = data(&instance, "get-intent-history", json!({ "address": instance.miner, "offset": 1 })).await;
    assert_eq!(past, json!({ "intents": [], "total": 1 }));
    assert_eq!(post(&instance, "get-intent-history", json!({ "address": "nobody" })).await.0, 400);
}

/// row RB11
#[tokio::test]
async fn get_intent_history_tells_no_success_of_a_message_whose_transaction_is_void() {
    let Scenario { mut instance, mint, .. } = Scenario::start().await;
    let network = instance.chain.network;
    let coin = bitcoin::OutPoint { txid: instance.chain.blocks[4].txdata[0].compute_txid(), vout: 0 };
    // The first message mints; the second has no pointer, which undoes both.
    let mint_again = message(TOKEN, &[77], Some(0));
    let stones = [mint_again.clone(), message(TOKEN, &[77], None)];
    let payee = script_of(network, &instance.payee);
    let void = with_stones(coin, payee, &stones);
    instance.chain.mine(script_of(network, &taproot(network, 2)), vec![void.clone()]);
    instance.node.add_block(instance.chain.blocks.last().unwrap());
    let history = data(&instance, "get-intent-history", json!({ "address": instance.payee })).await;
    let [undone, kept] = &history["intents"].as_array().unwrap()[..] else { panic!("{history}") };
    for (member, expected) in [
        ("txid", json!(void.compute_txid().to_string())),
        ("vout", json!(3)),
        ("target", token_id()),
        ("opcode", json!("77")),
        ("status", json!("revert")),
        ("outgoing", json!([])),
    ] {
        assert_eq!(undone[member], expected, "{member}");
    }
    assert_eq!((&kept["txid"], &kept["status"]), (&json!(mint.to_string()), &json!("success")));
    assert_eq!(history["total"], 2);
    // What the trace itself ends with.
    let shadow = bitcoin::OutPoint { txid: void.compute_txid(), vout: 3 };
    let state = paraffin_alkanes::ChainState::at(&instance.chain.store.snapshot(), 7);
    let trace = state.trace(&shadow).unwrap().unwrap();
    let is_success = matches!(
        trace.events.last(),
        Some(TraceEvent::Exit { status: TraceStatus::Success, response, .. }) if !response.alkanes.is_empty()
    );
    assert!(is_success, "{trace:?}");
}

#[tokio::test]
async fn the_routes_without_envelope_answer_balances_holders_and_storage() {
    let Scenario { instance, deploy, mint } = Scenario::start().await;
    let (_, balances) = post(&instance, "get-address-balances", json!({ "address": instance.payee })).await;
    assert_eq!(balances, json!({ "ok": true, "address": instance.payee, "balances": { "2:1": "100" } }));
    let with = json!({ "address": instance.payee, "include_outpoints": true });
    assert_eq!(post(&instance, "get-address-balances", with).await.1["outpoints"][0]["outpoint"], format!("{mint}:0"));
    let (_, outpoint) = post(&instance, "get-outpoint-balances", json!({ "outpoint": format!("{deploy}:0") })).await;
    assert_eq!(
        outpoint["items"],
        json!([{ "outpoint": format!("{deploy}:0"), "address": instance.miner, "entries": [{ "alkane": "2:1", "amount": "1000" }] }])
    );
    let (_, empty) = post(&instance, "get-outpoint-balances", json!({ "outpoint": format!("{deploy}:1") })).await;
    assert_eq!((&empty["ok"], &empty["items"]), (&json!(true), &json!([])));
    let (_, holders) = post(&instance, "get-alkane-holders", json!({ "alkane": "2:1" })).await;
    assert_eq!(
        holders,
        json!({ "ok": true, "alkane": "2:1", "page": 1, "limit": 100, "total": 2, "has_more": false,
            "items": [{ "address": instance.miner, "amount": "1000" }, { "address": instance.payee, "amount": "100" }] })
    );
    let (_, second) = post(&instance, "get-alkane-holders", json!({ "alkane": "2:1", "page": 2, "limit": 1 })).await;
    assert_eq!(
        (&second["page"], &second["items"][0]["amount"], &second["has_more"]),
        (&json!(2), &json!("100"), &json!(false))
    );
    let (_, count) = post(&instance, "get-alkane-holders-count", json!({ "alkane": "2:1" })).await;
    assert_eq!(count, json!({ "ok": true, "alkane": "2:1", "count": 2 }));
    let (_, keys) = post(&instance, "get-keys", json!({ "alkane": "2:1", "prefix": "/mint" })).await;
    assert_eq!(keys["keys"].as_object().unwrap().keys().collect::<Vec<_>>(), ["/minted"]);
    assert_eq!(keys["keys"]["/minted"]["value"], "0x01000000000000000000000000000000");
    let (_, keys) = post(&instance, "get-keys", json!({ "alkane": "2:1", "limit": 2 })).await;
    assert_eq!(keys["keys"].as_object().unwrap().len(), 2);
    for (route, body, error) in [
        ("get-keys", json!({ "alkane": "x" }), "invalid_alkane_format"),
        ("get-alkane-holders", json!({}), "invalid_alkane_format"),
        ("get-alkane-holders-count", json!({ "alkane": 5 }), "invalid_alkane_format"),
        ("get-outpoint-balances", json!({ "outpoint": "x" }), "invalid_outpoint_format"),
    ] {
        let (status, answer) = post(&instance, route, body).await;
        assert_eq!(
            (status, &answer["ok"], &answer["error"], &answer["statusCode"]),
            (400, &json!(false), &json!(error), &json!(400))
        );
    }
    for route in ["get-holders", "get-holder-count", "get-holders-count"] {
        let (status, reported) = post(&instance, route, json!({ "alkaneId": "2:999" })).await;
        assert_eq!((status, &reported["code"]), (404, &json!("NOT_FOUND")), "{route}: {reported}");
    }
    let enveloped = data(&instance, "get-holders", json!({ "alkaneId": token_id(), "minBalance": "101" })).await;
    assert_eq!(enveloped["total"], 1);
    assert_eq!(
        (&enveloped["holders"][0]["balance"], &enveloped["holders"][0]["lastUpdatedBlock"]),
        (&json!("1000"), &Value::Null)
    );
    for route in ["get-holder-count", "get-holders-count"] {
        assert_eq!(data(&instance, route, json!({ "id": "2:1" })).await, json!({ "count": 2 }));
    }
}

/// row RG01
/// row RG03
#[tokio::test]
async fn get_routes_answer_the_same_and_know_who_has_it_already() {
    let Scenario { instance, mint, .. } = Scenario::start().await;
    let payee = &instance.payee;
    for (path, member, expected) in [
        ("alkanes".to_owned(), "/total", json!(4)),
        ("alkanes/2:1".to_owned(), "/name", json!("Paraffin Wax")),
        ("alkanes/2:1/holders".to_owned(), "/total", json!(2)),
        ("alkanes/2:1/holders/count".to_owned(), "/count", json!(2)),
        (format!("address/{payee}/balances"), "/balances/0/amount", json!("100")),
        (format!("address/{payee}/alkanes"), "/0/balance", json!("100")),
        (format!("outpoint/{mint}:0/balances"), "/items/0/entries/0/amount", json!("100")),
    ] {
        let response = instance.get(&instance.keyed(&format!("/{path}"))).await;
        assert_eq!(response.status, 200, "{path}: {}", response.text());
        let data = response.json()["data"].clone();
        assert_eq!(data.pointer(member), Some(&expected), "{path}: {data}");
        let tag = response.header("etag").unwrap().to_owned();
        let again = instance.send("GET", &format!("/v4/api/{path}"), &[("If-None-Match", &tag)], "").await;
        assert_eq!((again.status, again.header("x-indexed-height")), (304, Some("6")), "{path}");
    }
    for (path, status) in
        [("alkanes/2:99", 404), ("alkanes/x", 400), ("address/nobody/balances", 400), ("outpoint/x/balances", 400)]
    {
        assert_eq!(instance.get(&format!("/v4/api/{path}")).await.status, status, "{path}");
    }
    assert_eq!(instance.post("/v4/api/alkanes", "{}").await.status, 405);
}

#[tokio::test]
async fn a_time_limit_ends_a_read_with_504() {
    let mut setup = crate::instance::Setup { alkanes: Some(super::scenario::parts()), ..Default::default() };
    setup.config.limits.view_timeout_ms = 0;
    let scenario = Scenario::with(setup).await;
    let response = scenario.instance.post("/v4/api/get-alkanes", "{}").await;
    assert_eq!((response.status, response.json()["code"].clone()), (504, json!("TIMEOUT")));
}

#[tokio::test]
async fn stored_values_are_written_no_further_than_an_answer_may_be_long() {
    let mut setup = Setup { alkanes: Some(parts()), ..Setup::default() };
    setup.config.limits.response_bytes_max = 400;
    let Scenario { instance, .. } = Scenario::with(setup).await;
    let (status, refused) = post(&instance, "get-keys", json!({ "alkane": "2:1" })).await;
    assert_eq!((status, &refused["code"]), (400, &json!("RESPONSE_TOO_LARGE")), "{refused}");
    let (status, one) = post(&instance, "get-keys", json!({ "alkane": "2:1", "prefix": "/mint", "limit": 1 })).await;
    assert_eq!((status, one["keys"].as_object().map(serde_json::Map::len)), (200, Some(1)), "{one}");
}
