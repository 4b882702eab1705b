//! Balances and holders.

use std::collections::{BTreeMap, BTreeSet};

use paraffin_devnet::market::{DIESEL, WRAPPED_BITCOIN};
use paraffin_primitives::{format_outpoint, parse_outpoint};
use serde_json::{Value, json};

use super::scene::{Holdings, Scene, number, text};

fn entries(entries: &Value) -> Holdings {
    let entries = entries.as_array().unwrap().iter();
    entries.map(|entry| (entry["alkane"].as_str().unwrap().parse().unwrap(), number(&entry["amount"]))).collect()
}

/// row AN01
/// row AN02
/// row AN09
#[tokio::test]
async fn pings_and_the_height_take_every_way_to_say_nothing() {
    let scene = Scene::start(3, 104).await;
    for params in [json!([]), json!({}), json!(null)] {
        for method in ["ping", "essentials.ping", "ammdata.ping"] {
            assert_eq!(scene.result(method, params.clone()).await, "pong");
        }
        for method in ["get_espo_height", "essentials.get_espo_height"] {
            assert_eq!(scene.result(method, params.clone()).await, json!({ "height": 104 }));
        }
    }
    for params in [json!([{}]), json!([null]), json!([1]), json!({ "x": 1 })] {
        for method in ["ping", "ammdata.ping", "get_espo_height"] {
            assert_eq!(scene.error(method, params.clone()).await, -32602, "{method} {params}");
        }
    }
    assert_eq!(scene.error("essentials.nonsense", json!({})).await, -32601);
    assert_eq!(scene.error("ammdata.get_holders", json!({})).await, -32601);
    assert_eq!(scene.error("get_pools", json!({})).await, -32601);
}

/// row AN03
/// row AN04
/// row AN17
/// row AN18
#[tokio::test]
async fn what_addresses_hold_is_what_their_unspent_outputs_hold_now_and_then() {
    let scene = Scene::start(5, 128).await;
    let newest = scene.height();
    for height in [newest, newest - 7, 112, 103] {
        let (expected, unspent) = (scene.holdings(height), scene.unspent(height));
        let contracts = scene.contracts(height);
        let mut scripts: Vec<_> = scene.holdings(newest).into_keys().chain(expected.keys().cloned()).collect();
        scripts.sort();
        scripts.dedup();
        assert!(scripts.len() > 3);
        for script in scripts {
            let address = scene.address(&script);
            let held = expected.get(&script).cloned().unwrap_or_default();
            let ask = json!({ "address": address, "include_outpoints": true, "height": height });
            let answer = scene.ok("get_address_balances", ask).await;
            assert_eq!(answer["address"], json!(address));
            let reported: Holdings = answer["balances"]
                .as_object()
                .unwrap()
                .iter()
                .map(|(id, amount)| (id.parse().unwrap(), number(amount)))
                .collect();
            assert_eq!(reported, held);
            let outputs: BTreeMap<String, Holdings> = unspent
                .iter()
                .filter(|(_, output)| output.script_pubkey == script)
                .map(|(outpoint, _)| {
                    let sheet = contracts.sheet(outpoint).unwrap().load().transfers();
                    (format_outpoint(outpoint), sheet.into_iter().map(|held| (held.id, held.value)).collect())
                })
                .filter(|(_, held): &(String, Holdings)| !held.is_empty())
                .collect();
            let listed: BTreeMap<String, Holdings> = answer["outpoints"]
                .as_array()
                .unwrap()
                .iter()
                .map(|output| (output["outpoint"].as_str().unwrap().to_owned(), entries(&output["entries"])))
                .collect();
            assert_eq!(listed, outputs);
            let alone =
                scene.ok("essentials.get_address_outpoints", json!({ "address": address, "height": height })).await;
            assert_eq!(alone["outpoints"], answer["outpoints"]);
            let mut paged = Vec::new();
            for page in 0.. {
                let ask = json!({ "address": address, "height": height, "limit": 2, "page": page });
                let answer = scene.ok("get_address_outpoints", ask).await;
                paged.extend(answer["outpoints"].as_array().unwrap().clone());
                if answer["has_more"] == false {
                    break;
                }
            }
            assert_eq!(json!(paged), answer["outpoints"]);
            let plain = scene.ok("essentials.get_address_balances", json!({ "address": address, "height": height }));
            let plain = plain.await;
            assert_eq!(plain["balances"], answer["balances"]);
            assert!(plain.get("outpoints").is_none());
        }
    }
    // A well-formed address that was never used.
    let unused = crate::chain::taproot(scene.instance.chain.network, 3);
    let nothing = scene.ok("get_address_balances", json!({ "address": unused, "include_outpoints": true })).await;
    assert_eq!(nothing, json!({ "ok": true, "address": unused, "balances": {}, "outpoints": [] }));
    for address in ["", "nonsense", "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0"] {
        let ask = json!({ "address": address });
        assert_eq!(scene.refused("get_address_balances", ask.clone()).await, "invalid_address_format");
        assert_eq!(scene.refused("get_address_outpoints", ask).await, "invalid_address_format");
    }
}

/// row AN05
#[tokio::test]
async fn an_output_tells_what_it_holds_and_whether_it_is_spent() {
    let scene = Scene::start(5, 118).await;
    let newest = scene.height();
    let unspent = scene.unspent(newest);
    let contracts = scene.contracts(newest);
    let (held, output) =
        unspent.iter().find(|(outpoint, _)| !contracts.sheet(outpoint).unwrap().load().transfers().is_empty()).unwrap();
    let answer = scene.ok("get_outpoint_balances", json!({ "outpoint": format_outpoint(held) })).await;
    assert_eq!(answer["outpoint"], format_outpoint(held));
    let item = &answer["items"][0];
    let sheet: Holdings =
        contracts.sheet(held).unwrap().load().transfers().into_iter().map(|held| (held.id, held.value)).collect();
    assert_eq!((entries(&item["entries"]), &item["spent"], &item["known"]), (sheet, &json!(false), &json!(true)));
    assert_eq!((&item["address"], &item["spent_by"]), (&json!(scene.address(&output.script_pubkey)), &Value::Null));
    assert_eq!(item["block_height"], scene.find(&held.txid).0);

    // A spent output: its former alkanes are answered as of an older height.
    let before = newest - 5;
    let then = scene.contracts(before);
    let spent = scene.unspent(before).into_keys().find(|outpoint| {
        !unspent.contains_key(outpoint) && !then.sheet(outpoint).unwrap().load().transfers().is_empty()
    });
    let spent = spent.unwrap();
    let now = scene.ok("get_outpoint_balances", json!({ "outpoint": format_outpoint(&spent) })).await;
    let item = &now["items"][0];
    assert_eq!((&item["entries"], &item["spent"]), (&json!([]), &json!(true)));
    let spender = item["spent_by"].as_str().unwrap().parse().unwrap();
    assert!(scene.find(&spender).1.input.iter().any(|input| input.previous_output == spent));
    let ask = json!({ "outpoint": format_outpoint(&spent), "height": before });
    let item = scene.ok("essentials.get_outpoint_balances", ask).await["items"][0].clone();
    let sheet: Holdings =
        then.sheet(&spent).unwrap().load().transfers().into_iter().map(|held| (held.id, held.value)).collect();
    assert_eq!((entries(&item["entries"]), &item["spent"]), (sheet, &json!(false)));

    let unused = format!("{}:7", "ab".repeat(32));
    let answer = scene.ok("get_outpoint_balances", json!({ "outpoint": unused })).await;
    let item = json!({ "outpoint": unused, "entries": [], "known": false, "spent": false });
    assert_eq!(answer["items"], json!([item]));
    for outpoint in ["", "ab:0", &format!("{}:-1", "ab".repeat(32)), &format!("{}:4294967296", "ab".repeat(32))] {
        let refused = scene.refused("get_outpoint_balances", json!({ "outpoint": outpoint })).await;
        assert_eq!(refused, "invalid_outpoint_format");
    }
}

/// row AN06
/// row AN07
/// row AN16
#[tokio::test]
async fn holders_are_the_scripts_that_hold_and_pages_of_them_leave_none_out() {
    let scene = Scene::start(5, 124).await;
    let newest = scene.height();
    let holdings = scene.holdings(newest);
    for id in [DIESEL, WRAPPED_BITCOIN] {
        let mut expected: Vec<(u128, String)> =
            holdings.iter().filter_map(|(script, held)| Some((*held.get(&id)?, scene.address(script)))).collect();
        expected.sort();
        expected.reverse();
        assert!(expected.len() > 2);
        let all = scene.ok("get_holders", json!({ "alkane": text(id) })).await;
        let items = all["items"].as_array().unwrap();
        let mut reported: Vec<(u128, String)> =
            items.iter().map(|item| (number(&item["amount"]), item["address"].as_str().unwrap().to_owned())).collect();
        assert!(reported.windows(2).all(|pair| pair[0].0 >= pair[1].0));
        reported.sort();
        reported.reverse();
        assert_eq!(reported, expected);
        let head = (&all["page"], &all["limit"], &all["total"], &all["has_more"]);
        assert_eq!(head, (&json!(0), &json!(100), &json!(expected.len()), &json!(false)));
        let count = scene.ok("get_holders_count", json!({ "alkane": text(id) })).await;
        assert_eq!(count, json!({ "ok": true, "count": expected.len() }));

        let mut paged = Vec::new();
        for page in 0.. {
            let ask = json!({ "alkane": text(id), "page": page, "limit": 2 });
            let answer = scene.ok("essentials.get_holders", ask).await;
            paged.extend(answer["items"].as_array().unwrap().clone());
            if answer["has_more"] == false {
                break;
            }
        }
        assert_eq!(&paged, items);
        let beyond = scene.ok("get_holders", json!({ "alkane": text(id), "page": 10_u64.pow(18) })).await;
        assert_eq!((&beyond["items"], &beyond["has_more"]), (&json!([]), &json!(false)));

        // Including contracts, the holders' amounts add up to those of outputs and contracts.
        let with = scene.ok("get_holders", json!({ "alkane": text(id), "include_contracts": true })).await;
        let contracts = scene.contracts(newest);
        for item in with["items"].as_array().unwrap().iter().filter(|item| item["type"] == "alkane") {
            let who = item["alkane"].as_str().unwrap().parse().unwrap();
            assert_eq!(number(&item["amount"]), contracts.balance(id, who).unwrap());
        }
        let sum: u128 = with["items"].as_array().unwrap().iter().map(|item| number(&item["amount"])).sum();
        let held: u128 = expected.iter().map(|(amount, _)| amount).sum();
        // One may also hold itself.
        let inside: u128 = scene.alkanes().into_iter().map(|who| contracts.balance(id, who).unwrap()).sum();
        assert_eq!(sum, held + inside);
        let count = scene.ok("get_holders_count", json!({ "alkane": text(id), "include_contracts": true })).await;
        assert_eq!(count["count"], with["total"]);
    }
    for method in ["get_holders", "get_holders_count"] {
        assert_eq!(scene.refused(method, json!({ "alkane": "2:999999" })).await, "alkane_not_found");
        assert_eq!(scene.refused(method, json!({ "alkane": "2" })).await, "missing_or_invalid_alkane");
    }
    // Every older height answers as of then, page by page.
    let mut changed = 0;
    for height in (newest - 20..=newest).rev() {
        let held = scene.holdings(height);
        let amounts = held.iter().filter_map(|(script, held)| Some((*held.get(&DIESEL)?, scene.address(script))));
        let expected: BTreeSet<(u128, String)> = amounts.collect();
        let ask = |page: usize| json!({ "alkane": text(DIESEL), "height": height, "page": page, "limit": 2 });
        let mut reported = Vec::new();
        for page in 0..expected.len().div_ceil(2) {
            let answer = scene.ok("get_holders", ask(page)).await;
            assert_eq!(answer["total"], expected.len());
            let items = answer["items"].as_array().unwrap().clone();
            reported.extend(
                items.iter().map(|item| (number(&item["amount"]), item["address"].as_str().unwrap().to_owned())),
            );
        }
        assert!(reported.windows(2).all(|pair| pair[0].0 >= pair[1].0));
        changed += usize::from(held != holdings);
        assert_eq!(reported.into_iter().collect::<BTreeSet<_>>(), expected, "at {height}");
        let count = scene.ok("get_holders_count", json!({ "alkane": text(DIESEL), "height": height })).await;
        assert_eq!(count["count"], expected.len());
    }
    assert!(changed > 5, "the heights differ");
}

#[tokio::test]
async fn spendable_outpoints_hold_everything_that_a_wallet_needs() {
    let scene = Scene::start(5, 118).await;
    let newest = scene.height();
    for height in [newest, newest - 4] {
        let (unspent, contracts) = (scene.unspent(height), scene.contracts(height));
        let script = scene.holdings(height).into_keys().next().unwrap();
        let mut expected: Vec<_> = unspent.iter().filter(|(_, output)| output.script_pubkey == script).collect();
        expected.sort_by_key(|(outpoint, _)| **outpoint);
        let ask = json!({ "address": scene.address(&script), "omit_raw_tx": false, "height": height });
        let answer = scene.ok("essentials.get_address_spendable_outpoints", ask).await;
        assert_eq!((&answer["height"], &answer["length"]), (&json!(height), &json!(expected.len())));
        let rows = answer["outpoints"].as_array().unwrap();
        for (row, (outpoint, output)) in rows.iter().zip(expected) {
            let (at, transaction) = scene.find(&outpoint.txid);
            assert_eq!(parse_outpoint(row["outpoint"].as_str().unwrap()).unwrap(), *outpoint);
            assert_eq!(row["value"], output.value.to_sat());
            assert_eq!(row["script_pubkey_hex"], script.to_hex_string());
            assert_eq!((&row["block_height"], &row["confirmations"]), (&json!(at), &json!(height - at + 1)));
            assert_eq!((&row["coinbase"], &row["runes"]), (&json!(transaction.is_coinbase()), &json!([])));
            let sheet = contracts.sheet(outpoint).unwrap().load().transfers();
            assert_eq!(entries(&row["alkanes"]), sheet.into_iter().map(|held| (held.id, held.value)).collect());
            assert_eq!(row["raw_tx_hex"], bitcoin::consensus::encode::serialize_hex(transaction));
        }
        let omitted = scene.ok("get_address_spendable_outpoints", json!({ "address": scene.address(&script) })).await;
        assert!(omitted["outpoints"].as_array().unwrap().iter().all(|row| row["raw_tx_hex"] == "0"));
    }
}

#[tokio::test]
async fn what_an_unconfirmed_transaction_spends_is_gone_and_what_it_pays_comes_only_when_asked_for() {
    let scene = Scene::start(5, 110).await;
    let script = scene.unspent(scene.height()).into_values().next().unwrap().script_pubkey;
    let own = scene.unspent(scene.height()).into_iter().find(|(_, output)| output.script_pubkey == script).unwrap();
    let pending = crate::chain::payment(&[own.0], &[(own.1.value.to_sat() - 500, script.clone())]);
    let outpoints = |members: Value| {
        let mut ask = json!({ "address": scene.address(&script) });
        ask.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        let scene = &scene;
        async move { scene.ok("get_address_spendable_outpoints", ask).await["outpoints"].as_array().unwrap().clone() }
    };
    let has = |rows: &[Value], outpoint: &str| rows.iter().any(|row| row["outpoint"] == outpoint);
    let (spent, paid) = (format_outpoint(&own.0), format!("{}:0", pending.compute_txid()));
    let before = outpoints(json!({})).await;
    assert!(has(&before, &spent));
    scene.instance.node.add_unconfirmed(&pending);
    let after = outpoints(json!({})).await;
    assert!(!has(&after, &spent) && !has(&after, &paid) && after.len() == before.len() - 1);
    let with = outpoints(json!({ "include_unconfirmed": true, "omit_raw_tx": false })).await;
    let row = with.iter().find(|row| row["outpoint"] == paid).unwrap();
    assert_eq!(
        (&row["confirmations"], &row["block_height"], &row["indexed"]),
        (&json!(0), &Value::Null, &json!(false))
    );
    assert_eq!(row["raw_tx_hex"], bitcoin::consensus::encode::serialize_hex(&pending));
    // An older height has no unconfirmed transactions.
    let height = json!(scene.height() - 1);
    let then = outpoints(json!({ "height": height, "include_unconfirmed": true })).await;
    assert!(has(&then, &spent) && !has(&then, &paid));
}
