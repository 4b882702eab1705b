//! All kinds of events of the development chain, against what other surfaces say of it; resuming anywhere; and bad requests.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use bitcoin::bip32::{ChildNumber, Xpriv, Xpub};
use bitcoin::secp256k1::Secp256k1;
use bitcoin::{Address, CompressedPublicKey};
use serde_json::{Value, json};

use super::client::Client;
use super::follow_to;
use super::receiver::Receiver;
use crate::support::dev::Dev;
use crate::support::http;

const KINDS: &str = "block,address,transfer,call,trade,inscription,rune";
const END: u64 = (1 << 53) - 1;

fn path(dev: &Dev, query: &str) -> String {
    format!("{}/events{query}", dev.path())
}

fn end(dev: &Dev) -> String {
    let hash = dev.call("btc_getbestblockhash", json!([]));
    format!("{}-{}-{END}", dev.height(), hash.as_str().unwrap())
}

/// The end of the newest block, after more of them were mined.
fn newest_end(dev: &Dev) -> String {
    let (height, hash) = (dev.call("btc_getblockcount", json!([])), dev.call("btc_getbestblockhash", json!([])));
    format!("{height}-{}-{END}", text(&hash))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

fn amount(value: &Value) -> i128 {
    text(value).parse().unwrap()
}

/// What outputs got less what they gave, by output and name.
fn balances(events: &[&Value], named: &str) -> BTreeMap<String, BTreeMap<String, i128>> {
    let mut sums: BTreeMap<String, BTreeMap<String, i128>> = BTreeMap::new();
    for event in events {
        for (side, sign) in [("to", 1), ("from", -1)] {
            if event[side]["type"] == "output" {
                let sum = sums.entry(text(&event[side]["outpoint"]).to_owned()).or_default();
                *sum.entry(text(&event[named]).to_owned()).or_default() += sign * amount(&event["amount"]);
            }
        }
    }
    for sums in sums.values_mut() {
        assert!(sums.values().all(|sum| *sum >= 0), "{sums:?}");
        sums.retain(|_, sum| *sum > 0);
    }
    sums.retain(|_, sums| !sums.is_empty());
    sums
}

#[test]
fn events_of_every_kind_are_what_other_surfaces_say_of_the_chain() {
    let dev = Dev::start_with(&["--blocks", "130", "--seed", "7"]);
    let alice = dev.text("/accounts/0/address").to_owned();
    let begun = Instant::now();
    let query = format!("?from_height=0&kinds={KINDS}&addresses={alice}");
    let (mut client, mut all) = (Client::sent(dev.listen(), &path(&dev, &query)), Receiver::default());
    follow_to(&mut client, &mut all, &end(&dev));
    let seconds = begun.elapsed().as_secs_f64();
    let events: Vec<Value> = all.events().collect();
    let of = |kind: &str| events.iter().filter(|event| event["type"] == kind).collect::<Vec<_>>();
    println!("{} events of {} blocks in {seconds:.2} s", events.len(), all.blocks.len());

    check_blocks(&dev, &of("block_connected"));
    check_alkanes(&dev, &of("transfer"));
    check_calls(&dev, &of("call"));
    check_trades(&dev, &of("trade"));
    check_inscriptions(&dev, &of("inscription"));
    check_runes(&dev, &of("rune"));
    check_address(&dev, &alice, &of("address"));
    check_filters(&dev, &events);
    check_resuming(&dev, &query, &all);
    check_refusals(&dev);
    check_slow_readers(&dev);
    check_descriptors(&dev);
}

fn check_blocks(dev: &Dev, events: &[&Value]) {
    assert_eq!(events.len() as u64, dev.height() + 1);
    for (height, event) in events.iter().enumerate() {
        assert_eq!(event["height"], height);
        if height % 10 == 0 {
            assert_eq!(event["block_hash"], dev.call("btc_getblockhash", json!([height])));
        }
    }
}

/// What outputs have in sum is what the index says of each of them, and contracts get and give what traces say.
fn check_alkanes(dev: &Dev, events: &[&Value]) {
    let balances = balances(events, "alkane");
    assert!(balances.len() > 10, "{}", balances.len());
    for (outpoint, expected) in &balances {
        let (txid, vout) = outpoint.split_once(':').unwrap();
        let answer =
            dev.call("alkanes_protorunesbyoutpoint", json!([{ "txid": txid, "vout": vout.parse::<u32>().unwrap() }]));
        let entries =
            answer["balance_sheet"]["cached"]["balances"].as_array().unwrap_or_else(|| panic!("{answer}")).iter();
        let number = |value: &Value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        let answer: BTreeMap<String, i128> = entries
            .map(|entry| {
                let id = format!("{}:{}", number(&entry["block"]), number(&entry["tx"]));
                (id, number(&entry["amount"]).parse().unwrap())
            })
            .collect();
        assert_eq!(&answer, expected, "{outpoint}");
    }
    // No side gives an alkane twice: what a transaction gets of one is at least what its outputs and contracts get.
    let contracts = events.iter().filter(|event| event["to"]["type"] == "contract").count();
    assert!(contracts > 20, "{contracts}");
}

/// Calls are those that the traces of each block have, static ones aside.
fn check_calls(dev: &Dev, events: &[&Value]) {
    let mut answer: HashMap<u64, Vec<(String, String, Vec<String>)>> = HashMap::new();
    for event in events {
        let inputs = event["inputs"].as_array().unwrap().iter().map(|input| text(input).to_owned()).collect();
        let call = (text(&event["txid"]).to_owned(), text(&event["contract"]).to_owned(), inputs);
        answer.entry(event["height"].as_u64().unwrap()).or_default().push(call);
    }
    let (mut count, mut reverted) = (0, 0);
    for height in 0..=dev.height() {
        let block = dev.call("alkanes_traceblock", json!([height]));
        let mut expected = Vec::new();
        for traced in block.as_array().unwrap() {
            let txid = text(&traced["outpoint"]["txid"]).to_owned();
            // Everything below a static call is left out with it.
            let mut open: Vec<bool> = Vec::new();
            let steps = traced["trace"].as_array().or_else(|| traced["trace"]["events"].as_array());
            for step in steps.unwrap_or_else(|| panic!("{traced}")) {
                let (name, data) = (text(&step["event"]), &step["data"]);
                if name == "invoke" {
                    let is_static = data["type"] == "staticcall" || open.last() == Some(&true);
                    open.push(is_static);
                    if !is_static {
                        let context = &data["context"];
                        expected.push((txid.clone(), id(&context["myself"]), numbers(&context["inputs"])));
                    }
                // The host answers for some contracts, without a call and for no fuel.
                } else if name == "return" && data["fuelUsed"] != 0 {
                    open.pop();
                    reverted += u32::from(data["status"] != "success");
                }
            }
        }
        count += expected.len();
        let mut answer = answer.remove(&height).unwrap_or_default();
        answer.sort();
        expected.sort();
        assert_eq!(answer, expected, "block {height}");
    }
    assert!(count > 20, "{count}");
    let undone = events.iter().filter(|event| event["status"] == "revert").count();
    assert_eq!(undone > 0, reverted > 0, "{undone} {reverted}");
}

/// A number in decimal or after `0x`.
fn number(value: &Value) -> u128 {
    let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
    text.strip_prefix("0x").map_or_else(|| text.parse().unwrap(), |digits| u128::from_str_radix(digits, 16).unwrap())
}

fn numbers(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|value| number(value).to_string()).collect()
}

fn id(value: &Value) -> String {
    format!("{}:{}", number(&value["block"]), number(&value["tx"]))
}

fn check_trades(dev: &Dev, events: &[&Value]) {
    let answer =
        http::get(dev.listen(), &format!("{}/dexscreener/events?fromBlock=0&toBlock={}", dev.path(), dev.height()));
    let listed = answer.json();
    let swaps = listed["events"].as_array().unwrap().iter().filter(|event| event["eventType"] == "swap");
    let swaps: Vec<_> = swaps.map(|swap| (text(&swap["txnId"]), text(&swap["pairId"]))).collect();
    assert!(swaps.len() > 3, "{}", swaps.len());
    let answer: Vec<_> = events.iter().map(|event| (text(&event["txid"]), text(&event["pool"]))).collect();
    assert_eq!(answer, swaps);
}

/// The last place of each inscription is where it is.
fn check_inscriptions(dev: &Dev, events: &[&Value]) {
    let mut places: BTreeMap<&str, &Value> = BTreeMap::new();
    for event in events {
        let before = places.insert(text(&event["inscription"]), &event["to"]);
        assert_eq!(event["action"] == "created", before.is_none(), "{event}");
        if let Some(before) = before {
            assert_eq!(&event["from"], before, "{event}");
        }
    }
    let moved = events.iter().filter(|event| event["action"] == "moved").count();
    assert!(places.len() > 6 && moved > 0, "{} {moved}", places.len());
    for (id, place) in places {
        let answer = dev.call("ord_inscription", json!([id]));
        assert_eq!(answer["satpoint"], format!("{}:{}", text(&place["outpoint"]), place["offset"]), "{id}");
        assert_eq!(answer["address"], place["address"], "{id}");
    }
}

fn check_runes(dev: &Dev, events: &[&Value]) {
    let balances = balances(events, "name");
    assert!(!balances.is_empty());
    for (outpoint, expected) in balances {
        let answer = dev.call("ord_output", json!([outpoint]));
        let answer = answer["runes"].as_object().unwrap_or_else(|| panic!("{outpoint}: {answer}")).iter();
        let answer: BTreeMap<String, i128> =
            answer.map(|(name, pile)| (name.clone(), i128::try_from(number(&pile["amount"])).unwrap())).collect();
        assert_eq!(answer, expected, "{outpoint}");
    }
}

fn check_address(dev: &Dev, address: &str, events: &[&Value]) {
    let mut sum = 0;
    let mut txids = BTreeSet::new();
    for event in events {
        assert_eq!(event["address"], address);
        sum += if event["direction"] == "receive" { 1 } else { -1 } * amount(&event["value"]);
        txids.insert(text(&event["txid"]));
    }
    let answer = http::get(dev.listen(), &format!("{}/esplora/address/{address}", dev.path())).json();
    let stats = &answer["chain_stats"];
    let balance = stats["funded_txo_sum"].as_i64().unwrap() - stats["spent_txo_sum"].as_i64().unwrap();
    assert_eq!(sum, i128::from(balance));
    assert_eq!(txids.len() as u64, stats["tx_count"].as_u64().unwrap());
}

/// What a narrower filter gives are the same events at the same places.
fn check_filters(dev: &Dev, events: &[Value]) {
    let one = |kind: &str, member: &str| {
        text(&events.iter().rfind(|event| event["type"] == kind).unwrap()[member]).to_owned()
    };
    for (kind, member, list) in [
        ("transfer", "alkane", "alkanes"),
        ("call", "contract", "contracts"),
        ("trade", "pool", "pools"),
        ("inscription", "inscription", "inscriptions"),
        ("rune", "name", "runes"),
    ] {
        let value = one(kind, member);
        let mut client = Client::socket(dev.listen(), &path(dev, ""));
        client.subscribe(&json!({ list: [value] }), ("from_height", json!(0)));
        let mut receiver = Receiver::default();
        follow_to(&mut client, &mut receiver, &end(dev));
        let answer: Vec<Value> = receiver.events().collect();
        let is_wanted = |event: &&Value| event["type"] == kind && event[member] == value.as_str();
        let expected: Vec<Value> = events.iter().filter(is_wanted).cloned().collect();
        assert!(!answer.is_empty() && answer == expected, "{kind} {value}: {} of {}", answer.len(), expected.len());
    }
}

/// A descriptor stands for the scripts of its addresses, used or not: what it gives is what these addresses give.
fn check_descriptors(dev: &Dev) {
    let secp = Secp256k1::new();
    let master = Xpriv::new_master(bitcoin::Network::Regtest, &[7; 32]).unwrap();
    let account = Xpub::from_priv(&secp, &master);
    let descriptor = format!("wpkh({account}/0/*)");
    // The first, one after a gap, and one behind what a descriptor stands for.
    let [first, later, beyond] = [0, 700, 1_000].map(|index| {
        let path = [0, index].map(|index| ChildNumber::from_normal_idx(index).unwrap());
        let key = CompressedPublicKey(account.derive_pub(&secp, &path).unwrap().public_key);
        Address::p2wpkh(&key, bitcoin::Network::Regtest).to_string()
    });
    for address in [&first, &later, &beyond] {
        dev.node("generatetoaddress", json!([1, address]));
    }
    dev.mine(1);
    let follow = |filter: &Value| {
        let mut client = Client::socket(dev.listen(), &path(dev, ""));
        client.subscribe(filter, ("from_height", json!(0)));
        let mut receiver = Receiver::default();
        follow_to(&mut client, &mut receiver, &newest_end(dev));
        receiver.events().collect::<Vec<Value>>()
    };
    let given = follow(&json!({ "descriptors": [descriptor] }));
    assert_eq!(given, follow(&json!({ "addresses": [first, later] })));
    let addresses: Vec<&str> = given.iter().map(|event| text(&event["address"])).collect();
    assert_eq!(addresses, [&first, &later]);
    // With an address beside it, and the same by the query of server-sent events.
    let both = follow(&json!({ "descriptors": [descriptor], "addresses": [beyond] }));
    assert_eq!(both.len(), 3);
    let query = format!("?from_height=0&descriptors={}", descriptor.replace('*', "%2A"));
    let (mut client, mut receiver) = (Client::sent(dev.listen(), &path(dev, &query)), Receiver::default());
    follow_to(&mut client, &mut receiver, &newest_end(dev));
    assert_eq!(receiver.events().collect::<Vec<Value>>(), given);
}

/// From every message on, what comes is what comes after it.
fn check_resuming(dev: &Dev, query: &str, all: &Receiver) {
    let step = (all.seen.len() / 40).max(1);
    for cursor in all.seen.iter().step_by(step) {
        let mut receiver = all.cut(cursor);
        let query = query.replace("from_height=0", &format!("cursor={cursor}"));
        let mut client = Client::sent(dev.listen(), &path(dev, &query));
        follow_to_last(&mut client, &mut receiver, &end(dev));
        assert!(receiver.blocks == all.blocks, "resumed from {cursor}");
    }
}

/// As [`follow_to`] for a client that may be at the end already.
fn follow_to_last(client: &mut Client, receiver: &mut Receiver, end: &str) {
    if receiver.cursor.as_deref() == Some(end) {
        assert!(client.read_type("subscribed")["filter"].is_object());
        assert_eq!(client.read(Duration::from_millis(100)), None);
    } else {
        follow_to(client, receiver, end);
    }
}

fn check_refusals(dev: &Dev) {
    let hash = "ab".repeat(32);
    let many = (0..1_001).map(|tx| format!("2:{tx}")).collect::<Vec<_>>().join(",");
    for (query, status) in [
        ("?kinds=everything".to_owned(), 400),
        ("?colour=red".to_owned(), 400),
        ("?cursor=5".to_owned(), 400),
        (format!("?cursor=5-{hash}-9007199254740992"), 400),
        (format!("?cursor=5-{hash}-0"), 410),
        ("?from_height=100000".to_owned(), 400),
        ("?from_height=1&from_height=1".to_owned(), 400),
        (format!("?alkanes={many}"), 400),
        ("?addresses=nonsense".to_owned(), 400),
        ("?descriptors=nothing".to_owned(), 400),
        ("?kinds=address".to_owned(), 400),
        ("/below".to_owned(), 404),
    ] {
        let answer = http::get(dev.listen(), &path(dev, &query));
        assert_eq!(answer.status, status, "{query:.60}: {}", answer.text());
        assert!(answer.json()["error"].is_string(), "{}", answer.text());
    }
    assert_eq!(http::post(dev.listen(), &path(dev, ""), &json!({})).status, 405);

    let mut client = Client::socket(dev.listen(), &path(dev, ""));
    assert_eq!(client.read_type("hello")["cursor"], end(dev).as_str());
    for (command, code) in [
        (json!({ "op": "dance" }), "malformed_message"),
        (json!({ "op": "subscribe", "since": 5 }), "malformed_message"),
        (json!({ "op": "subscribe", "filter": { "colour": ["red"] } }), "malformed_message"),
        (json!({ "op": "subscribe", "filter": { "alkanes": ["x"] } }), "invalid_filter"),
        (json!({ "op": "subscribe", "cursor": "x" }), "invalid_cursor"),
        (json!({ "op": "subscribe", "from_height": 100_000 }), "height_above_tip"),
        (json!({ "op": "subscribe", "cursor": format!("5-{hash}-0") }), "unknown_cursor"),
    ] {
        client.say(&command);
        let error = client.read_type("error");
        assert_eq!(error["code"], code, "{command}: {error}");
    }
    client.say(&json!({ "op": "ping" }));
    assert_eq!(client.read_type("pong")["cursor"], end(dev).as_str());
    client.say(&json!({ "op": "subscribe" }));
    assert_eq!(client.read_type("subscribed")["filter"], json!({ "kinds": ["block"] }));
}

/// Clients that read nothing hold up no other one, and what is read for them has a bound.
fn check_slow_readers(dev: &Dev) {
    let idle: Vec<TcpStream> = (0..30)
        .map(|_| {
            let mut stream = TcpStream::connect(dev.listen()).unwrap();
            let request = format!(
                "GET {} HTTP/1.1\r\nHost: x\r\n\r\n",
                path(dev, &format!("?from_height=0&kinds={}", KINDS.replace("address,", "")))
            );
            stream.write_all(request.as_bytes()).unwrap();
            stream
        })
        .collect();
    let begun = Instant::now();
    let mut receiver = Receiver::default();
    let mut client = Client::sent(dev.listen(), &path(dev, "?from_height=0"));
    follow_to(&mut client, &mut receiver, &end(dev));
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    drop(idle);
}
