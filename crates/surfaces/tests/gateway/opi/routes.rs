use bitcoin::hashes::{Hash as _, sha256};
use serde_json::{Value, json};

use super::scene::{address, get, hex, id, module, mover, refused, result, with_tokens};
use crate::instance::{Instance, Setup};

const CENT: &str = "0000000000000000";

/// An amount of hundredths in base units.
fn cents(hundredths: u32) -> String {
    format!("{hundredths}{CENT}")
}

/// row GW08
#[tokio::test]
async fn the_paths_answer_with_a_key_in_the_path_or_a_header_and_without_one() {
    let instance = with_tokens().await;
    let key = instance.key.key.reveal();
    let path = "/opi/v1/brc20/block_height";
    let keyless = instance.get(&format!("/v4{path}")).await;
    let keyed = instance.get(&instance.keyed(path)).await;
    let header = [("x-service-api-key", key.as_str())];
    let by_header = instance.send("GET", &format!("/v4{path}"), &header, "").await;
    for response in [&keyless, &keyed, &by_header] {
        assert_eq!((response.status, response.text()), (200, "3"));
        assert_eq!(response.header("content-type"), Some("text/plain"));
        assert_eq!(response.header("x-indexed-height"), Some("3"));
    }
    let limit = |response: &crate::client::Response| response.header("x-ratelimit-limit").map(ToOwned::to_owned);
    assert_eq!(limit(&keyed), limit(&by_header));
    assert_ne!(limit(&keyed), limit(&keyless));
    let wrong =
        instance.send("GET", &format!("/v4{path}"), &[("x-service-api-key", "0".repeat(32).as_str())], "").await;
    assert_eq!((wrong.status, &wrong.json()["code"]), (401, &json!("INVALID_API_KEY")));
    // A trailing slash changes nothing, and HEAD is GET without the body.
    assert_eq!(instance.get(&format!("/v4{path}/")).await.text(), "3");
    let head = instance.send("HEAD", &format!("/v4{path}"), &[], "").await;
    assert_eq!((head.status, head.header("content-length")), (200, Some("1")));
}

/// Answers that depend on confirmed blocks alone are not sent twice (docs/api.md, "Headers").
#[tokio::test]
async fn an_answer_that_the_caller_has_is_not_sent_again() {
    let mut instance = with_tokens().await;
    let ask = async |instance: &Instance, path: &str, condition: &str| {
        instance.send("GET", &format!("/v4/opi/v1/brc20/{path}"), &[("If-None-Match", condition)], "").await
    };
    let untagged = ["db_version", "event_hash_version", "ip", "get_hash_of_all_current_balances"];
    let mut tags = Vec::new();
    for path in super::paths() {
        let whole = get(&instance, &path).await;
        let is_tagged = whole.status == 200 && !untagged.contains(&path.as_str());
        assert_eq!(whole.header("etag").is_some(), is_tagged, "{path}");
        assert_eq!(whole.header("cache-control"), Some(if is_tagged { "no-cache" } else { "no-store" }), "{path}");
        let tag = whole.header("etag").unwrap_or("*").to_owned();
        let again = ask(&instance, &path, &tag).await;
        if is_tagged {
            assert_eq!((again.status, again.text(), again.header("etag")), (304, "", Some(tag.as_str())), "{path}");
            assert_eq!(again.header("x-indexed-height"), whole.header("x-indexed-height"), "{path}");
            tags.push((path.clone(), tag));
        } else {
            assert_eq!((again.status, again.text()), (whole.status, whole.text()), "{path}");
        }
        assert_eq!(ask(&instance, &path, "\"other\"").await.status, whole.status, "{path}");
    }
    assert!(tags.len() > 20, "{}", tags.len());
    // A new block is another answer.
    let script = crate::chain::script_of(instance.chain.network, &instance.miner);
    instance.chain.mine(script, vec![]);
    for (path, tag) in tags {
        let changed = ask(&instance, &path, &tag).await;
        assert_eq!(changed.status, 200, "{path}");
        assert_ne!(changed.header("etag"), Some(tag.as_str()), "{path}");
    }
}

#[tokio::test]
async fn what_the_index_is_stands_as_plain_text() {
    let instance = with_tokens().await;
    for (path, text) in
        [("extras_block_height", "3"), ("db_version", "1"), ("event_hash_version", "2"), ("ip", "127.0.0.1")]
    {
        assert_eq!(get(&instance, path).await.text(), text, "{path}");
    }
}

/// row OP01
#[tokio::test]
async fn a_balance_is_told_by_address_and_by_script() {
    let instance = with_tokens().await;
    let expected = json!({ "overall_balance": cents(7000), "available_balance": cents(4950), "block_height": 3 });
    for path in ["balance", "get_current_balance_of_wallet"] {
        for wallet in [
            format!("address={}", address(0)),
            format!("pkscript={}", hex(0)),
            format!("pkscript={}", hex(0).to_uppercase()),
        ] {
            assert_eq!(result(&instance, &format!("{path}?{wallet}&ticker=ORDI")).await, expected, "{wallet}");
        }
        let both = format!("{path}?ticker=ordi&address={}&pkscript={}", address(0), hex(0));
        assert_eq!(result(&instance, &both).await, expected);
    }
    // The amount spent as a fee was refunded, and the amount sent arrived.
    let other = result(&instance, &format!("balance?ticker=ordi&address={}", address(1))).await;
    assert_eq!(
        other,
        json!({ "overall_balance": cents(13_000), "available_balance": cents(13_000), "block_height": 3 })
    );
    for query in [format!("ticker=ordi&address={}", address(2)), format!("ticker=none&address={}", address(0))] {
        assert_eq!(refused(&instance, &format!("balance?{query}")).await, (400, "no balance found".into()));
    }
}

#[tokio::test]
async fn a_balance_on_a_block_is_that_of_its_beginning() {
    let instance = with_tokens().await;
    let at = |height: u32| format!("balance_on_block?block_height={height}&pkscript={}&ticker=ordi", hex(0));
    for height in [0, 1] {
        assert_eq!(refused(&instance, &at(height)).await, (400, "no balance found".into()));
    }
    for (height, overall, available) in [(2, 10_000, 10_000), (3, 10_000, 4950), (4, 7000, 4950)] {
        let expected = json!({ "overall_balance": cents(overall), "available_balance": cents(available) });
        assert_eq!(result(&instance, &at(height)).await, expected, "{height}");
    }
    assert_eq!(refused(&instance, &at(5)).await, (400, "block not indexed yet".into()));
}

/// row OP02
#[tokio::test]
async fn a_history_is_told_by_script_token_and_block() {
    let instance = with_tokens().await;
    let kinds = |page: &Value| -> Vec<String> {
        let events = page["events"].as_array().unwrap().iter();
        events.map(|event| format!("{} {}", event["height"], event["event_type"].as_str().unwrap())).collect()
    };
    let wallet = format!("history?address={}", address(0));
    let all = result(&instance, &wallet).await;
    let expected = ["3 transfer-transfer", "2 transfer-inscribe", "2 transfer-inscribe", "1 mint-inscribe"];
    assert_eq!(kinds(&all), expected);
    assert_eq!((&all["cursor"], &all["block_height"]), (&json!(null), &json!(3)));
    assert_eq!(result(&instance, &format!("{wallet}&ticker=oRDI")).await, all);
    assert_eq!(kinds(&result(&instance, &format!("{wallet}&ticker=none")).await), [""; 0]);
    assert_eq!(kinds(&result(&instance, &format!("{wallet}&height=2")).await), expected[1..3]);
    assert_eq!(kinds(&result(&instance, &format!("{wallet}&height=9")).await), [""; 0]);

    // Pages join without a gap or a repetition.
    let mut pages = Vec::new();
    let mut query = format!("{wallet}&limit=3");
    loop {
        let page = result(&instance, &query).await;
        pages.extend(page["events"].as_array().unwrap().clone());
        let Some(cursor) = page["cursor"].as_str() else { break };
        query = format!("{wallet}&limit=3&cursor={cursor}");
    }
    assert_eq!(&json!(pages), &all["events"]);

    let block = result(&instance, "history?height=1").await;
    assert_eq!(kinds(&block), ["1 deploy-inscribe", "1 mint-inscribe", "1 mint-inscribe"]);
    assert_eq!(result(&instance, "history?height=1&ticker=ordi&limit=9").await, block);
    let first = result(&instance, "history?height=1&limit=1").await;
    assert_eq!((kinds(&first).len(), &first["cursor"]), (1, &json!("1:0")));
    let rest = result(&instance, "history?height=1&cursor=1:0").await;
    assert_eq!(kinds(&rest), ["1 mint-inscribe", "1 mint-inscribe"]);
    assert_eq!(refused(&instance, "history?height=4").await, (400, "block not indexed yet".into()));
}

/// row OP03
#[tokio::test]
async fn a_token_is_told_with_its_supply_and_its_deployer() {
    let instance = with_tokens().await;
    let expected = json!({
        "tick": "ordi",
        "original_tick": "ORDI",
        "max_supply": cents(100_000),
        "minted_supply": cents(20_000),
        "remaining_supply": cents(80_000),
        "burned_supply": "0",
        "limit_per_mint": cents(10_000),
        "decimals": 2,
        "is_self_mint": false,
        "deploy_inscription_id": id(1).to_string(),
        "deploy_block_height": 1,
        "deployer_pkScript": hex(3),
        "deployer_wallet": address(3),
        "holders": 2,
        "mints": 2,
        "transfers": 2,
        "block_height": 3,
    });
    assert_eq!(result(&instance, "token_summary?ticker=ordi").await, expected);
    assert_eq!(result(&instance, "token_summary?ticker=%4Frdi").await, expected);
    assert_eq!(refused(&instance, "token_summary?ticker=none").await, (400, "no ticker found".into()));
}

#[tokio::test]
async fn the_activity_of_a_block_has_the_members_of_opi() {
    let instance = with_tokens().await;
    assert_eq!(result(&instance, "activity_on_block?block_height=0").await, json!([]));
    let minted = json!([
        {
            "event_type": "deploy-inscribe", "inscription_id": id(1).to_string(), "deployer_pkScript": hex(3),
            "deployer_wallet": address(3), "tick": "ordi", "original_tick": "ORDI", "max_supply": cents(100_000),
            "decimals": "2", "limit_per_mint": cents(10_000), "is_self_mint": "false",
            "height": 1, "place": 0, "txid": id(1).txid.to_string(),
        },
        {
            "event_type": "mint-inscribe", "inscription_id": id(2).to_string(), "minted_pkScript": hex(0),
            "minted_wallet": address(0), "tick": "ordi", "original_tick": "ordi", "amount": cents(10_000),
            "parent_id": "", "height": 1, "place": 1, "txid": id(2).txid.to_string(),
        },
        {
            "event_type": "mint-inscribe", "inscription_id": id(3).to_string(), "minted_pkScript": hex(1),
            "minted_wallet": address(1), "tick": "ordi", "original_tick": "ordi", "amount": cents(10_000),
            "parent_id": "", "height": 1, "place": 2, "txid": id(3).txid.to_string(),
        },
    ]);
    assert_eq!(result(&instance, "activity_on_block?block_height=1").await, minted);
    let sent = result(&instance, "activity_on_block?block_height=3").await;
    assert_eq!(
        sent,
        json!([
            {
                "event_type": "transfer-transfer", "inscription_id": id(5).to_string(), "source_pkScript": hex(0),
                "source_wallet": address(0), "spent_pkScript": hex(1), "spent_wallet": address(1), "tick": "ordi",
                "original_tick": "OrDi", "amount": cents(3000), "using_tx_id": mover(5).to_string(),
                "height": 3, "place": 0, "txid": mover(5).to_string(),
            },
            {
                "event_type": "transfer-transfer", "inscription_id": id(7).to_string(), "source_pkScript": hex(1),
                "source_wallet": address(1), "spent_pkScript": null, "spent_wallet": null, "tick": "ordi",
                "original_tick": "OrDi", "amount": cents(100), "using_tx_id": mover(7).to_string(),
                "height": 3, "place": 1, "txid": mover(7).to_string(),
            },
        ])
    );
    assert_eq!(refused(&instance, "activity_on_block?block_height=4").await, (400, "block not indexed yet".into()));

    let events = result(&instance, &format!("event?inscription_id={}", id(5))).await;
    assert_eq!(events[1], sent[0]);
    assert_eq!(events[0]["event_type"], "transfer-inscribe");
    assert_eq!(events.as_array().unwrap().len(), 2);
    assert_eq!(result(&instance, &format!("event?inscription_id={}", id(4))).await, json!([]));
    assert_eq!(refused(&instance, "event").await, (400, "inscription_id is required".into()));
    assert_eq!(
        get(&instance, "event").await.json()["code"],
        "INVALID_REQUEST",
        "a request to mend, not something absent"
    );
    assert_eq!(result(&instance, "bitcoin_rpc_results_on_block?block_height=3").await, json!([]));
    assert_eq!(refused(&instance, "bitcoin_rpc_results_on_block?block_height=4").await.0, 400);
}

#[tokio::test]
async fn the_hashes_can_be_made_from_the_activity() {
    let instance = with_tokens().await;
    let mut cumulative = String::new();
    for height in 0..=3 {
        let mut texts = Vec::new();
        for event in result(&instance, &format!("activity_on_block?block_height={height}")).await.as_array().unwrap() {
            texts.push(canonical(event));
        }
        let block = sha256::Hash::hash(texts.join("|").as_bytes()).to_string();
        cumulative = match height {
            0 => block.clone(),
            _ => sha256::Hash::hash(format!("{cumulative}{block}").as_bytes()).to_string(),
        };
        let hashes = result(&instance, &format!("get_hash_of_all_activity?block_height={height}")).await;
        let version = format!("paraffin v{}", env!("CARGO_PKG_VERSION"));
        assert_eq!(
            hashes,
            json!({
                "cumulative_event_hash": cumulative, "block_event_hash": block, "cumulative_trace_hash": "",
                "block_trace_hash": "", "indexer_version": version, "block_height": height,
            })
        );
    }
    let refused = refused(&instance, "get_hash_of_all_activity?block_height=4").await;
    assert_eq!(refused, (400, "block not indexed yet".into()));
}

/// The event string of OPI's README from the members of its API, for a token with two decimals.
fn canonical(event: &Value) -> String {
    let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
    let amount = |name: &str| {
        let digits = text(name);
        let (whole, fraction) = digits.split_at(digits.len() - 18);
        format!("{whole}.{}", &fraction[..2])
    };
    let kind = text("event_type");
    let mut parts = vec![kind.clone(), text("inscription_id")];
    match kind.as_str() {
        "deploy-inscribe" => {
            let tail = [amount("max_supply"), text("decimals"), amount("limit_per_mint"), text("is_self_mint")];
            parts.extend([text("deployer_pkScript"), text("tick"), text("original_tick")]);
            parts.extend(tail);
        }
        "mint-inscribe" => {
            parts.extend([
                text("minted_pkScript"),
                text("tick"),
                text("original_tick"),
                amount("amount"),
                text("parent_id"),
            ]);
        }
        "transfer-inscribe" => {
            parts.extend([text("source_pkScript"), text("tick"), text("original_tick"), amount("amount")]);
        }
        _ => parts.extend([
            text("source_pkScript"),
            text("spent_pkScript"),
            text("tick"),
            text("original_tick"),
            amount("amount"),
        ]),
    }
    parts.join(";")
}

#[tokio::test]
async fn holders_and_open_transfers_are_listed_under_the_name_that_opi_gives_them() {
    let instance = with_tokens().await;
    let holders = json!([
        { "pkscript": hex(1), "wallet": address(1), "overall_balance": cents(13_000), "available_balance": cents(13_000) },
        { "pkscript": hex(0), "wallet": address(0), "overall_balance": cents(7000), "available_balance": cents(4950) },
    ]);
    let listed = result(&instance, "holders?ticker=ordi").await;
    assert_eq!(listed, json!({ "unused_txes": holders, "block_height": 3 }));
    let one = result(&instance, "holders?ticker=ordi&limit=1&offset=1").await;
    assert_eq!(one["unused_txes"], json!([holders[1]]));
    assert_eq!(result(&instance, "holders?ticker=ordi&offset=2").await["unused_txes"], json!([]));
    assert_eq!(refused(&instance, "holders?ticker=none").await, (400, "no unused tx found".into()));

    let note = json!({
        "tick": "ordi", "inscription_id": id(6).to_string(), "amount": cents(2050), "genesis_height": 2,
    });
    let of_wallet = result(&instance, &format!("get_valid_tx_notes_of_wallet?address={}", address(0))).await;
    assert_eq!(of_wallet, json!({ "unused_txes": [note], "block_height": 3 }));
    let mut with_owner = note;
    with_owner["current_holder_pkscript"] = json!(hex(0));
    with_owner["current_holder_wallet"] = json!(address(0));
    let of_ticker = result(&instance, "get_valid_tx_notes_of_ticker?ticker=ordi").await;
    assert_eq!(of_ticker, json!({ "unused_txes": [with_owner], "block_height": 3 }));
    for query in [format!("wallet?pkscript={}", hex(1)), "ticker?ticker=none".into()] {
        let refused = refused(&instance, &format!("get_valid_tx_notes_of_{query}")).await;
        assert_eq!(refused, (400, "no unused tx found".into()));
    }
}

#[tokio::test]
async fn the_hash_over_all_balances_is_computed_once_for_a_block() {
    let instance = with_tokens().await;
    let mut lines = [
        format!("{};ordi;{};{}", hex(0), cents(7000), cents(4950)),
        format!("{};ordi;{};{}", hex(1), cents(13_000), cents(13_000)),
    ];
    lines.sort();
    let hash = sha256::Hash::hash(lines.join("|").as_bytes()).to_string();
    let calls = (0..20).map(|_| result(&instance, "get_hash_of_all_current_balances"));
    for answer in futures_util::future::join_all(calls).await {
        assert_eq!((&answer["current_balances_hash"], &answer["block_height"]), (&json!(hash), &json!(3)));
    }
}

#[tokio::test]
async fn an_instance_without_the_index_says_so_and_an_empty_one_is_starting() {
    let without = Instance::start().await;
    for path in
        ["balance?ticker=ordi&pkscript=51", "block_height", "holders?ticker=a", "get_hash_of_all_current_balances"]
    {
        let response = get(&without, path).await;
        assert_eq!((response.status, &response.json()["code"]), (503, &json!("BRC20_NOT_INDEXED")), "{path}");
    }
    let empty = Setup { empty_chain: true, last_module: Some(module(Vec::new())), ..Setup::default() };
    let empty = Instance::with(empty).await;
    for path in ["balance?ticker=ordi&pkscript=51", "get_hash_of_all_current_balances"] {
        let response = get(&empty, path).await;
        assert_eq!((response.status, &response.json()["code"]), (503, &json!("STARTING")), "{path}");
    }
}

/// Every path of the description answers GET and nothing else; an instance without the index describes none.
#[tokio::test]
async fn the_routes_are_described_where_the_index_is_kept() {
    let instance = with_tokens().await;
    let document = instance.get("/v4/openapi.json").await.json();
    let mut count = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        let Some(below) = path.strip_prefix("/opi/v1/brc20/") else { continue };
        count += 1;
        assert_eq!(item.as_object().unwrap().keys().collect::<Vec<_>>(), ["get", "servers"], "{path}");
        assert_ne!(get(&instance, below).await.status, 404, "{path}");
        assert_eq!(instance.send("POST", &instance.keyed(path), &[], "{}").await.status, 405, "{path}");
    }
    assert_eq!(count, 18);
    let without = Instance::start().await.get("/v4/openapi.json").await;
    assert!(!without.text().contains("/opi/") && !without.text().contains("Brc20Event"));
}

/// Answers have exactly the described members.
#[tokio::test]
async fn answers_have_the_members_of_their_description() {
    let instance = with_tokens().await;
    let document = instance.get("/v4/openapi.json").await.json();
    let wallet = format!("address={}&ticker=ordi", address(0));
    for (path, query) in [
        ("balance", wallet.clone()),
        ("balance_on_block", format!("block_height=3&ticker=ordi&pkscript={}", hex(0))),
        ("token_summary", "ticker=ordi".to_owned()),
        ("history", wallet.clone()),
        ("holders", "ticker=ordi".to_owned()),
        ("get_valid_tx_notes_of_wallet", wallet),
        ("get_valid_tx_notes_of_ticker", "ticker=ordi".to_owned()),
        ("get_hash_of_all_activity", "block_height=1".to_owned()),
        ("get_hash_of_all_current_balances", String::new()),
    ] {
        let answer = result(&instance, &format!("{path}?{query}")).await;
        let reported = &document["paths"][format!("/opi/v1/brc20/{path}")]["get"];
        let schema = &reported["responses"]["200"]["content"]["application/json"]["schema"]["properties"]["result"];
        check_members(path, &answer, schema, &document);
    }
}

fn check_members(path: &str, value: &Value, schema: &Value, document: &Value) {
    let schema = match schema["$ref"].as_str() {
        Some(pointer) => document.pointer(pointer.trim_start_matches('#')).unwrap(),
        None => schema,
    };
    match value {
        Value::Object(members) if schema["properties"].is_object() => {
            for name in schema["required"].as_array().unwrap() {
                assert!(members.contains_key(name.as_str().unwrap()), "{path}: {name} is missing");
            }
            for (name, value) in members {
                assert!(schema["properties"].get(name).is_some(), "{path}: {name} is not described");
                check_members(path, value, &schema["properties"][name], document);
            }
        }
        Value::Array(items) => {
            assert!(!items.is_empty(), "{path}");
            for item in items {
                check_members(path, item, &schema["items"], document);
            }
        }
        _ => {}
    }
}
