//! `alkanes_*`.

use bitcoin::OutPoint;
use serde_json::{Value, json};

use super::scenario::{Scenario, TOKEN, calling, contract, turned};
use crate::chain::script_of;

/// row MR12
#[tokio::test]
async fn simulate_takes_every_writing_of_its_members_and_tells_status_gas_and_data() {
    let Scenario { instance, .. } = Scenario::start().await;
    let data = |text: &str| {
        use bitcoin::hex::DisplayHex as _;
        format!("0x{}", text.as_bytes().to_lower_hex_string())
    };
    // As the wallets send it: a constant for the height, prefixes without digits, text for numbers.
    let wallet = json!({
        "alkanes": [], "transaction": "0x", "block": "0x", "height": "20000", "txindex": 0,
        "inputs": ["99"], "pointer": 0, "refundPointer": 0, "vout": 0, "target": { "block": "2", "tx": "1" },
    });
    for call in [
        wallet,
        json!({ "target": "2:1", "inputs": [99] }),
        json!({ "target": { "block": 2, "tx": 1 }, "inputs": ["0x63"], "height": "0x", "alkanes": null }),
        json!({ "alkaneId": { "block": "2", "tx": "1" }, "inputs": ["99"], "transaction": [], "block": [] }),
    ] {
        let result = instance.result("alkanes_simulate", json!([call])).await;
        assert_eq!(result["status"], 0, "{result}");
        assert!(result["gasUsed"].as_u64().unwrap() > 0);
        assert_eq!(result["execution"]["data"], data("Paraffin Wax"));
        assert_eq!(
            (&result["execution"]["error"], &result["execution"]["alkanes"], &result["execution"]["storage"]),
            (&Value::Null, &json!([]), &json!([]))
        );
    }
    let mint = instance.result("alkanes_simulate", json!([{ "target": "2:1", "inputs": ["77"] }, "latest"])).await;
    assert_eq!(mint["execution"]["alkanes"], json!([{ "id": { "block": "2", "tx": "1" }, "value": "100" }]));
    let storage = mint["execution"]["storage"].as_array().unwrap();
    assert!(
        storage.iter().any(|entry| entry["key"] == "/minted" && entry["value"].as_str().unwrap().starts_with("0x02"))
    );
    let failed = instance.result("alkanes_simulate", json!([{ "target": "2:1", "inputs": ["55"] }])).await;
    assert_eq!((&failed["status"], &failed["execution"]["data"]), (&json!(1), &json!("0x")));
    assert!(failed["execution"]["error"].as_str().unwrap().contains("revert"));
    // Incoming alkanes need not exist, and their amounts have 128 bits.
    let id = json!({ "block": "2", "tx": "9" });
    let incoming = json!([{ "id": id, "value": u128::MAX.to_string() }]);
    let call = json!({ "target": "2:1", "inputs": ["77"], "alkanes": incoming });
    let forwarded = instance.result("alkanes_simulate", json!([call])).await;
    assert!(forwarded["execution"]["alkanes"].as_array().unwrap().contains(&incoming[0]), "{forwarded}");
    let past = instance.result("alkanes_simulate", json!([{ "target": "2:1", "inputs": ["99"] }, "3"])).await;
    assert_eq!(past["status"], 1);
    for wrong in [
        json!([]),
        json!(["2:1"]),
        json!([{}]),
        json!([{ "target": "2" }]),
        json!([{ "target": "2:1", "inputs": "99" }]),
        json!([{ "target": "2:1", "inputs": [-1] }]),
        json!([{ "target": "2:1", "inputs": [1.5] }]),
        json!([{ "target": "2:1", "inputs": ["340282366920938463463374607431768211456"] }]),
        json!([{ "target": "2:1", "transaction": "0xzz" }]),
        json!([{ "target": "2:1", "transaction": "0x00" }]),
        json!([{ "target": "2:1", "alkanes": [{ "id": "x" }] }]),
        json!([{ "target": "2:1", "vout": 4_294_967_296_u64 }]),
        json!([{ "target": "2:1" }, "99"]),
    ] {
        assert_eq!(instance.error("alkanes_simulate", wrong.clone()).await.0, -32602, "{wrong}");
    }
}

/// row MR12
#[tokio::test]
async fn what_is_known_of_a_contract_is_told() {
    let Scenario { instance, deploy, .. } = Scenario::start().await;
    for id in [json!({ "block": 2, "tx": 1 }), json!("2:1"), json!({ "target": { "block": "2", "tx": "1" } })] {
        let meta = instance.result("alkanes_meta", json!([id, "latest"])).await;
        assert!(meta["methods"].as_array().unwrap().iter().any(|method| method["name"] == "get_cap"), "{meta}");
        let code = instance.result("alkanes_getbytecode", json!([id])).await;
        assert_eq!(code.as_str().unwrap().len(), 2 + 2 * contract("free-mint").len());
        for method in ["alkanes_getdeployment", "alkanes_alkanesidtooutpoint", "alkanes_alkanes_id_to_outpoint"] {
            let created = instance.result(method, json!([id])).await;
            assert_eq!(created, json!({ "outpoint": { "txid": deploy.to_string(), "vout": 3 } }));
        }
    }
    let missing = json!([{ "block": 2, "tx": 99 }]);
    assert_eq!(instance.result("alkanes_getdeployment", missing.clone()).await, json!({ "outpoint": {} }));
    assert_eq!(instance.result("alkanes_getbytecode", missing.clone()).await, "0x");
    assert_eq!(instance.error("alkanes_meta", missing).await.0, -32004);
    let value = json!([{ "id": "2:1", "path": "/minted" }]);
    let minted = instance.result("alkanes_getstorageat", value).await;
    assert_eq!(minted, "0x01000000000000000000000000000000");
    assert_eq!(instance.result("alkanes_sequence", json!([])).await, "2");
    // A contract has touched its own token, and keeps none of it.
    let held = json!({ "alkanes": [{ "id": { "block": "2", "tx": "1" }, "value": "0" }] });
    assert_eq!(instance.result("alkanes_getinventory", json!(["2:1"])).await, held);
    assert_eq!(instance.result("alkanes_unwrap", json!([])).await, json!({ "payments": [] }));
    assert_eq!(instance.error("alkanes_nonsense", json!([])).await.0, -32601);
    // A view without a JSON form takes and returns hexadecimal digits.
    assert_eq!(instance.result("alkanes_runesbyheight", json!(["0x0805"])).await, "0x");
}

/// row MR12
#[tokio::test]
async fn traces_are_found_by_either_order_of_the_txid() {
    let Scenario { instance, deploy, mint } = Scenario::start().await;
    for txid in [turned(&deploy), deploy.to_string()] {
        let trace = instance.result("alkanes_trace", json!([{ "txid": txid, "vout": 3 }])).await;
        assert_eq!(trace[0], json!({ "event": "create", "data": { "block": "2", "tx": "1" } }));
        assert_eq!((&trace[1]["event"], &trace[1]["data"]["type"]), (&json!("invoke"), &json!("call")));
        assert_eq!(trace[1]["data"]["context"]["inputs"][1], "1000");
        let end = trace.as_array().unwrap().last().unwrap();
        assert_eq!((&end["event"], &end["data"]["status"]), (&json!("return"), &json!("success")));
    }
    assert_eq!(instance.result("alkanes_trace", json!([{ "txid": deploy.to_string(), "vout": 0 }])).await, json!([]));
    assert_eq!(instance.error("alkanes_trace", json!([{ "txid": "00", "vout": 0 }])).await.0, -32602);
    for params in [json!([5]), json!(["5"]), json!([{ "block": 5 }]), json!([{ "height": "5" }])] {
        let traces = instance.result("alkanes_traceblock", params).await;
        assert_eq!(traces.as_array().unwrap().len(), 1);
        assert_eq!(traces[0]["outpoint"], json!({ "txid": mint.to_string(), "vout": 3 }));
        assert_eq!(traces[0]["txindex"], 1);
    }
}

/// row MR12
#[tokio::test]
async fn an_output_is_told_as_an_array_to_who_sends_a_tag_and_as_an_object_to_others() {
    let Scenario { instance, mint, .. } = Scenario::start().await;
    let array = json!([{
        "token": { "id": { "block": "0x2", "tx": "0x1" }, "name": "Paraffin Wax", "symbol": "WAX" },
        "value": "0x64",
    }]);
    // Wallets send the txid reversed; the other order is understood as well.
    for txid in [turned(&mint), mint.to_string()] {
        let params = json!([{ "txid": txid, "vout": 0, "protocolTag": "1" }, "latest"]);
        assert_eq!(instance.result("alkanes_protorunesbyoutpoint", params).await, array);
    }
    for params in [
        json!([{ "txid": mint.to_string(), "vout": 0 }]),
        json!([{ "txid": mint.to_string(), "vout": "0", "protocolTag": "1" }]),
        json!([mint.to_string(), 0]),
        json!([mint.to_string(), 0, "latest", "1"]),
    ] {
        let object = instance.result("alkanes_protorunesbyoutpoint", params).await;
        assert_eq!(object["balance_sheet"]["cached"]["balances"], json!([{ "block": 2, "tx": 1, "amount": 100 }]));
        assert_eq!(object["outpoint"], json!({ "txid": mint.to_string(), "vout": 0 }));
        assert_eq!(object["output"]["value"], 546);
    }
    let unknown = "00".repeat(32);
    let nothing = instance.result("alkanes_protorunesbyoutpoint", json!([{ "txid": unknown, "vout": 0 }])).await;
    assert_eq!(nothing["balance_sheet"]["cached"]["balances"], json!([]));
    let nothing =
        instance.result("alkanes_protorunesbyoutpoint", json!([{ "txid": unknown, "vout": 0 }, "latest"])).await;
    assert_eq!(nothing, json!([]));
    let other = json!([{ "txid": mint.to_string(), "vout": 0, "protocolTag": "13" }]);
    let other = instance.result("alkanes_protorunesbyoutpoint", other).await;
    assert_eq!(other["balance_sheet"]["cached"]["balances"], json!([]));
}

/// As in the reference, whose height and place are the parts of the first id; what is so stands beside.
#[tokio::test]
async fn a_spent_output_lists_its_tokens_with_nothing_and_says_that_it_is_spent() {
    let Scenario { mut instance, mint, .. } = Scenario::start().await;
    let asked = json!([{ "txid": mint.to_string(), "vout": 0 }]);
    let members =
        |answer: &Value| json!([answer["height"], answer["txindex"], answer["block_height"], answer["spent"]]);
    let object = instance.result("alkanes_protorunesbyoutpoint", asked.clone()).await;
    assert_eq!(members(&object), json!([2, 1, 5, false]));

    let payee = script_of(instance.chain.network, &instance.payee);
    let spending = calling(OutPoint { txid: mint, vout: 0 }, payee.clone(), TOKEN, &[77], None);
    instance.chain.mine(payee, vec![spending]);
    instance.node.add_block(instance.chain.blocks.last().unwrap());
    let object = instance.result("alkanes_protorunesbyoutpoint", asked).await;
    assert_eq!(object["balance_sheet"]["cached"]["balances"], json!([{ "block": 2, "tx": 1, "amount": 0 }]));
    assert_eq!((&object["runes"][0]["amount"], &object["runes"][0]["balance"]), (&json!("0"), &json!("0x0")));
    assert_eq!(members(&object), json!([2, 1, 5, true]));
    let array = json!([{ "txid": turned(&mint), "vout": 0, "protocolTag": "1" }, "latest"]);
    let array = instance.result("alkanes_protorunesbyoutpoint", array).await;
    assert_eq!((&array[0]["token"]["symbol"], &array[0]["value"]), (&json!("WAX"), &json!("0x0")));
    let other = json!([{ "txid": mint.to_string(), "vout": 0, "protocolTag": "13" }]);
    let other = instance.result("alkanes_protorunesbyoutpoint", other).await;
    assert_eq!((members(&other), &other["runes"]), (json!([5, 1, 5, true]), &json!([])));
}

/// row MR12
#[tokio::test]
async fn an_address_is_told_with_the_members_of_both_families_of_clients() {
    let Scenario { instance, mint, .. } = Scenario::start().await;
    let display = mint.to_string();
    for (params, txid) in [
        (json!([{ "address": instance.payee, "protocolTag": "1" }]), turned(&mint)),
        (json!([{ "address": instance.payee, "protocolTag": "1" }, "latest"]), display.clone()),
        (json!([{ "address": instance.payee }]), display.clone()),
        (json!([instance.payee]), display.clone()),
        (json!([instance.payee, "latest", "1"]), display),
    ] {
        let result = instance.result("alkanes_protorunesbyaddress", params.clone()).await;
        let rows = result["outpoints"].as_array().unwrap();
        assert_eq!(rows.len(), 1, "{params}");
        assert_eq!(rows[0]["outpoint"], json!({ "txid": txid, "vout": 0 }), "{params}");
        let rune = &rows[0]["runes"][0];
        assert_eq!(rune["rune"]["id"], json!({ "block": "0x2", "tx": "0x1" }));
        assert_eq!(
            (&rune["rune"]["name"], &rune["balance"], &rune["amount"]),
            (&json!("Paraffin Wax"), &json!("0x64"), &json!("100"))
        );
        assert_eq!(rows[0]["balance_sheet"]["cached"]["balances"][0]["amount"], 100);
        assert_eq!(result["balances"], json!({ "entries": [] }));
    }
    // Coins as they were: those spent since count, those received since do not.
    for (height, expected) in
        [("1", vec![5_000_000_000_u64]), ("2", vec![5_000_000_000; 2]), ("3", vec![5_000_000_000, 4_998_999_500])]
    {
        let result = instance.result("spendablesbyaddress", json!([instance.miner, height])).await;
        let values: Vec<u64> =
            result["outpoints"].as_array().unwrap().iter().map(|row| row["value"].as_u64().unwrap()).collect();
        assert_eq!(values, expected, "{height}");
    }
    assert_eq!(instance.error("alkanes_protorunesbyaddress", json!(["nobody"])).await.0, -32602);
    let seen = instance.result("alkanes_protorunesbyheight", json!([{ "height": 4, "protocolTag": "1" }])).await;
    assert_eq!(seen["runes"][0]["symbol"], "WAX");
    for method in ["spendablesbyaddress", "alkanes_spendablesbyaddress"] {
        for params in [json!([instance.payee]), json!([{ "address": instance.payee }])] {
            let result = instance.result(method, params).await;
            let rows = result["outpoints"].as_array().unwrap();
            let values: Vec<_> = rows.iter().map(|row| (row["value"].clone(), row["height"].clone())).collect();
            assert_eq!(values, [(json!(1_000_000), json!(3)), (json!(546), json!(5))]);
            assert_eq!(rows[1]["outpoint"], json!({ "txid": mint.to_string(), "vout": 0 }));
        }
    }
}
