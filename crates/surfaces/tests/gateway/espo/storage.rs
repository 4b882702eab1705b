//! The storage of contracts, compared with the writes in traces.

use std::collections::BTreeMap;

use bitcoin::hex::DisplayHex as _;
use paraffin_devnet::market::{DIESEL, FACTORY};
use paraffin_primitives::AlkaneId;
use serde_json::{Value, json};

use super::scene::{Scene, text};
use crate::traces::frames;

type Slots = BTreeMap<Vec<u8>, Vec<u8>>;

/// Writes of successful calls, up to a height.
fn stored(scene: &Scene, contract: AlkaneId, height: u32) -> Slots {
    let contracts = scene.contracts(height);
    // The engine itself sets the built-in contracts up, which leaves no trace.
    let mut slots: Slots = scene.contracts(1).storage(contract, b"", None, 100).unwrap().items.into_iter().collect();
    assert!(slots.is_empty() || contract == DIESEL);
    for at in 0..=height {
        for message in contracts.block_traces(at).unwrap().into_iter().filter(|message| message.stands) {
            for call in
                frames(&message.trace).0.into_iter().filter(|call| call.answer.is_some() && call.myself == contract)
            {
                slots.extend(call.stored);
            }
        }
    }
    slots
}

/// The last writer of a slot: the last call that stored it in the newest block that changed its value.
fn writers(scene: &Scene, contract: AlkaneId, height: u32) -> BTreeMap<String, Value> {
    let contracts = scene.contracts(height);
    let before: Slots = scene.contracts(1).storage(contract, b"", None, 100).unwrap().items.into_iter().collect();
    let mut slots: BTreeMap<Vec<u8>, (Vec<u8>, Value)> =
        before.into_iter().map(|(key, value)| (key, (value, Value::Null))).collect();
    for at in 2..=height {
        let mut stored = BTreeMap::new();
        for message in contracts.block_traces(at).unwrap().into_iter().filter(|message| message.stands) {
            for call in
                frames(&message.trace).0.into_iter().filter(|call| call.answer.is_some() && call.myself == contract)
            {
                for (key, value) in call.stored {
                    stored.insert(key, (value, json!(message.outpoint.txid)));
                }
            }
        }
        stored.retain(|key, (value, _)| slots.get(key).is_none_or(|(old, _)| old != value));
        slots.extend(stored);
    }
    slots.into_iter().map(|(key, (_, writer))| (hex(&key), writer)).collect()
}

fn hex(bytes: &[u8]) -> String {
    format!("0x{}", bytes.to_lower_hex_string())
}

fn reported(items: &Value) -> BTreeMap<String, String> {
    let items = items.as_object().unwrap().iter();
    items.map(|(key, item)| (key.clone(), item["value_hex"].as_str().unwrap().to_owned())).collect()
}

/// row AN08
#[tokio::test]
async fn keys_are_what_calls_stored_now_and_then_each_under_its_own_bytes() {
    let scene = Scene::start(7, 122).await;
    let pool: AlkaneId = scene.ok("ammdata.get_pools", json!({})).await["pools"]
        .as_object()
        .unwrap()
        .keys()
        .next()
        .unwrap()
        .parse()
        .unwrap();
    for contract in [DIESEL, FACTORY, pool] {
        for height in [scene.height(), 113] {
            let mut expected: BTreeMap<String, String> =
                stored(&scene, contract, height).iter().map(|(key, value)| (hex(key), hex(value))).collect();
            if [FACTORY, pool].contains(&contract) && height > 103 {
                // What a proxy stores before it calls its template goes along with that call and not into its answer.
                expected.insert(hex(b"/proxy_initialized"), hex(&[1]));
            }
            let ask = json!({ "alkane": text(contract), "height": height, "limit": 10_000 });
            let answer = scene.ok("get_keys", ask).await;
            assert_eq!(reported(&answer["items"]), expected, "{contract} {height}");
            let items = answer["items"].as_object().unwrap();
            for (key, writer) in writers(&scene, contract, height) {
                assert_eq!(items[&key]["last_txid"], writer, "{contract} {height} {key}");
            }
            assert_eq!((&answer["total"], &answer["has_more"]), (&json!(expected.len()), &json!(false)));
            let mut paged = BTreeMap::new();
            for page in 0.. {
                let ask = json!({ "alkane": text(contract), "height": height, "page": page, "limit": 3 });
                let answer = scene.ok("essentials.get_keys", ask).await;
                assert_eq!(answer["total"], expected.len());
                assert!(answer["items"].as_object().unwrap().len() <= 3);
                paged.extend(reported(&answer["items"]));
                if answer["has_more"] == false {
                    break;
                }
            }
            assert_eq!(paged, expected);
        }
    }

    let name = hex(b"/name");
    let ask = json!({ "alkane": text(pool), "keys": ["/name", name, "/nothing", "0xff00"], "limit": 10 });
    let answer = scene.ok("get_keys", ask).await;
    assert_eq!((answer["items"].as_object().unwrap().len(), &answer["total"]), (3, &json!(3)));
    let item = &answer["items"][&name];
    let value = stored(&scene, pool, scene.height())[&b"/name"[..]].clone();
    assert_eq!((&item["hex"], &item["utf8"], &item["key_str"]), (&json!(name), &json!("/name"), &json!("/name")));
    assert_eq!(item["value_utf8"], String::from_utf8(value).unwrap());
    let absent = &answer["items"]["0xff00"];
    assert_eq!(
        (&absent["value_hex"], &absent["utf8"], &absent["value_utf8"]),
        (&json!("0x"), &Value::Null, &Value::Null)
    );
    let raw = scene.ok("get_keys", json!({ "alkane": text(pool), "keys": ["/name"], "try_decode_utf8": false })).await;
    assert_eq!((&raw["items"][&name]["utf8"], &raw["items"][&name]["value_utf8"]), (&Value::Null, &Value::Null));
    let supply = scene.ok("get_keys", json!({ "alkane": text(pool), "keys": ["/totalsupply"] })).await;
    let pools = scene.ok("ammdata.get_pools", json!({})).await;
    assert_eq!(supply["items"][hex(b"/totalsupply")]["value_u128"], pools["pools"][text(pool)]["total_supply"]);

    let beyond = scene.ok("get_keys", json!({ "alkane": text(pool), "page": u64::MAX, "limit": 10_000 })).await;
    assert_eq!((&beyond["items"], &beyond["has_more"]), (&json!({}), &json!(false)));
    for keys in [json!("/name"), json!([1]), json!(["0xabc"]), json!({})] {
        assert_eq!(scene.error("get_keys", json!({ "alkane": text(pool), "keys": keys })).await, -32602);
    }
    assert_eq!(scene.refused("get_keys", json!({ "alkane": "2:999999" })).await, "alkane_not_found");
}
