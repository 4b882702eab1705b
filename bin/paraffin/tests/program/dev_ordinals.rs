//! What `paraffin dev` inscribes, etches and mints, as its surfaces return it; in the shortest chain already.

use crate::support::dev::Dev;
use crate::support::http;
use serde_json::{Value, json};

/// Units of one BRC-20 token.
const TOKEN: u128 = 1_000_000_000_000_000_000;

fn opi(dev: &Dev, route: &str) -> Value {
    let answer = http::get(dev.listen(), &format!("{}/opi/v1/brc20/{route}", dev.path()));
    assert_eq!(answer.status, 200, "{route}: {}", answer.text());
    answer.json()["result"].clone()
}

fn inscription(dev: &Dev, name: &str) -> Value {
    let response = dev.call("ord_inscription", json!([id(dev, name)]));
    assert_eq!(response["id"], id(dev, name));
    response
}

fn id<'a>(dev: &'a Dev, name: &str) -> &'a str {
    dev.text(&format!("/samples/inscriptions/{name}"))
}

fn content(dev: &Dev, name: &str) -> String {
    dev.call("ord_content", json!([id(dev, name)])).as_str().unwrap().to_owned()
}

#[test]
fn inscriptions_of_every_kind_answer_in_the_shortest_chain_with_the_market() {
    let dev = Dev::start_with(&["--blocks", "110"]);
    let alice = dev.text("/accounts/0/address");

    let (text, image) = (inscription(&dev, "text"), inscription(&dev, "image"));
    assert_eq!((&text["content_type"], &text["number"]), (&json!("text/plain;charset=utf-8"), &json!(0)));
    assert_eq!((&image["content_type"], &image["content_length"]), (&json!("image/png"), &json!(102)));
    assert!(text["address"].as_str().unwrap().starts_with("bcrt1p") && text["value"] == 1_000);
    assert!(content(&dev, "image").starts_with("iVBORw0KGgo"));

    let child = inscription(&dev, "child");
    assert_eq!(child["parents"], json!([id(&dev, "image")]));
    assert_eq!(dev.call("ord_children", json!([id(&dev, "image")]))["ids"], json!([id(&dev, "child")]));
    assert_eq!(image["child_count"], 1);
    assert_eq!(content(&dev, "delegate"), content(&dev, "image"));
    let metadata = dev.call("ord_metadata", json!([id(&dev, "metadata")]));
    assert_eq!(metadata, "a26661727469737468706172616666696e657769636b7303", "the map in CBOR");

    // The second on its sat is cursed, as every one before the jubilee at 110.
    let again = inscription(&dev, "reinscription");
    assert_eq!(again["satpoint"], text["satpoint"]);
    assert!(again["number"].as_i64().unwrap() < 0 && again["charms"].as_array().unwrap().contains(&json!("cursed")));

    let gift = inscription(&dev, "transferred");
    assert_eq!(gift["address"], alice);
    let held = dev.call("ord_address", json!([alice]));
    assert!(held["inscriptions"].as_array().unwrap().contains(&gift["id"]), "{held}");
}

#[test]
fn the_rune_is_etched_minted_and_sent() {
    let dev = Dev::start_with(&["--blocks", "110"]);
    let name = dev.text("/samples/rune");
    let rune = dev.call("ord_rune", json!([name]));
    let entry = &rune["entry"];
    assert_eq!((&entry["spaced_rune"], &entry["premine"]), (&json!(name), &json!(5_000_000)));
    assert_eq!((&entry["terms"]["amount"], &entry["terms"]["cap"]), (&json!(100_000), &json!(1_000_000)));
    assert_eq!((&entry["mints"], &entry["divisibility"], &rune["mintable"]), (&json!(3), &json!(2), &json!(true)));
    let etching = inscription(&dev, "rune");
    assert_eq!((&rune["parent"], &etching["rune"]), (&etching["id"], &json!(name)));
    for (account, amount) in [(0, "123.45"), (1, "678")] {
        let held = dev.call("ord_address", json!([dev.text(&format!("/accounts/{account}/address"))]));
        assert_eq!(held["runes_balances"][0][0], name, "{held}");
        assert_eq!(held["runes_balances"][0][1], amount, "{held}");
    }
}

#[test]
fn the_token_is_minted_sent_and_one_transfer_waits() {
    let dev = Dev::start_with(&["--blocks", "110"]);
    let ticker = dev.text("/samples/brc20_ticker");
    let alice = dev.text("/accounts/0/address");
    let units = |tokens: u128| (tokens * TOKEN).to_string();
    let summary = opi(&dev, &format!("token_summary?ticker={ticker}"));
    assert_eq!((&summary["minted_supply"], &summary["holders"]), (&json!(units(3_000)), &json!(2)), "{summary}");
    assert_eq!(summary["deploy_inscription_id"], id(&dev, "brc20_deploy"));
    let balance = opi(&dev, &format!("balance?ticker={ticker}&address={alice}"));
    assert_eq!(balance["overall_balance"], units(750));
    assert_eq!(balance["available_balance"], units(500));
    let scribe = summary["deployer_wallet"].as_str().unwrap();
    let balance = opi(&dev, &format!("balance?ticker={ticker}&address={scribe}"));
    assert_eq!(balance["overall_balance"], units(2_250));
    assert_eq!(balance["available_balance"], units(2_250));
    let waiting = opi(&dev, &format!("get_valid_tx_notes_of_ticker?ticker={ticker}"));
    assert_eq!(waiting["unused_txes"].as_array().unwrap().len(), 1);
    assert_eq!(waiting["unused_txes"][0]["inscription_id"], id(&dev, "brc20_pending"));
    let of_wallet = opi(&dev, &format!("get_valid_tx_notes_of_wallet?address={alice}"));
    assert_eq!(of_wallet["unused_txes"][0]["inscription_id"], id(&dev, "brc20_pending"));
    let kinds = |name: &str| -> Vec<Value> {
        let events = opi(&dev, &format!("event?inscription_id={}", id(&dev, name)));
        events.as_array().unwrap().iter().map(|event| event["event_type"].clone()).collect()
    };
    assert_eq!(kinds("brc20_transfer"), ["transfer-inscribe", "transfer-transfer"]);
    assert_eq!(kinds("brc20_pending"), ["transfer-inscribe"]);
}
