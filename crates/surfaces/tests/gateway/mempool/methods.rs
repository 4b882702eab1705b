use std::collections::HashSet;

use bitcoin::Transaction;
use bitcoin::hashes::Hash as _;
use bitcoin::hex::DisplayHex as _;
use paraffin_mempool::Limits;
use serde_json::{Value, json};

use super::{NOW, add, admin, call, code, instance, named, raw, result, transaction};
use crate::instance::{Instance, Setup};

/// row MP02
/// row MP10
#[tokio::test]
async fn info_and_entries_have_the_members_of_the_seed() {
    let (instance, mempool) = instance(Limits::default()).await;
    let empty = result(&instance, "mempool_info", json!({})).await;
    assert_eq!((&empty["count"], &empty["fee_coverage"], &empty["seq"]), (&json!(0), &json!(1.0), &json!(0)));
    let first = transaction(1, 1_410);
    add(&mempool, &first);
    let unknown = bitcoin::OutPoint { txid: first.compute_txid(), vout: 7 };
    let second = crate::chain::payment(&[unknown], &[(5, first.output[0].script_pubkey.clone())]);
    add(&mempool, &second);
    let info = result(&instance, "mempool_info", json!({})).await;
    for (name, value) in [
        ("count", json!(2)),
        ("bytes", json!(raw(&first).len() + raw(&second).len())),
        ("vbytes", json!(first.vsize() + second.vsize())),
        ("total_fee", json!(1_410)),
        ("fee_known", json!(1)),
        ("fee_coverage", json!(0.5)),
        ("provisional", json!(0)),
        ("seq", json!(2)),
        ("instance", json!("a3f1c07e")),
        ("added_total", json!(2)),
        ("removed_total", json!(0)),
        ("subscribers", json!(0)),
        ("oldest_seq", json!(1)),
    ] {
        assert_eq!(info[name], value, "{name}");
    }
    let sums = [&first, &second].map(|one| u64::from_str_radix(&one.compute_txid().to_string()[..16], 16).unwrap());
    assert_eq!(info["checksum"], format!("{:016x}", sums[0] ^ sums[1]));

    let entry = result(&instance, "mempool_entry", json!({ "txid": first.compute_txid() })).await;
    let vsize = first.vsize() as u64;
    #[allow(clippy::cast_precision_loss)] // small numbers
    let feerate = 1_410.0 / vsize as f64;
    let expected = json!({
        "txid": first.compute_txid(),
        "wtxid": first.compute_wtxid(),
        "vsize": vsize,
        "weight": first.weight().to_wu(),
        "fee": 1_410,
        "feerate": feerate,
        "first_seen": NOW,
        "seq": 1,
        "origin": "p2p",
        "provisional": false,
        "rbf": true,
    });
    assert_eq!(entry, expected);
    let without = result(&instance, "mempool_entry", json!({ "txid": second.compute_txid() })).await;
    assert!(without.get("fee").is_none() && without.get("feerate").is_none(), "{without}");
}

/// The time of this machine, in milliseconds.
fn unix_millis() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    u64::try_from(since.as_millis()).unwrap()
}

async fn txids(instance: &Instance, params: Value) -> usize {
    result(instance, "mempool_txids", params).await["txids"].as_array().unwrap().len()
}

/// row MP03
/// row MP06
/// row MP07
/// row MP08
/// row MP17
/// row RL06
#[tokio::test]
async fn no_answer_holds_more_than_five_thousand() {
    const MOST: usize = 5_000;
    let (instance, mempool) = instance(Limits::default()).await;
    let all: Vec<Transaction> = (0..MOST + 2).map(unknown).collect();
    for one in &all {
        add(&mempool, one);
    }
    let known: HashSet<String> = all.iter().map(|one| one.compute_txid().to_string()).collect();
    for (params, length) in [
        (json!({}), MOST),
        (json!({ "limit": MOST - 1 }), MOST - 1),
        (json!({ "limit": MOST }), MOST),
        (json!({ "limit": MOST + 1 }), MOST),
        (json!({ "limit": 99_999 }), MOST),
    ] {
        let reported = result(&instance, "mempool_txids", params.clone()).await;
        // In whatever order, each once and of the set.
        let ids: HashSet<&str> = list(&reported, "txids").iter().map(|id| id.as_str().unwrap()).collect();
        assert_eq!((list(&reported, "txids").len(), ids.len()), (length, length), "{params}");
        assert!(ids.iter().all(|id| known.contains(*id)), "{params}");
        assert_eq!((&reported["count"], &reported["seq"]), (&json!(MOST + 2), &json!(MOST + 2)));

        let recent = result(&instance, "mempool_recent", params.clone()).await;
        let length = if params == json!({}) { 100 } else { length };
        let newest: Vec<u64> = (1..=MOST as u64 + 2).rev().take(length).collect();
        assert_eq!(seqs(&recent), newest, "{params}");

        let page = result(&instance, "mempool_snapshot", params.clone()).await;
        let length = if params == json!({}) { 1_000 } else { length };
        let oldest: Vec<u64> = (1..=length as u64).collect();
        assert_eq!((seqs(&page), &page["has_more"]), (oldest, &json!(true)), "{params}");
        assert_eq!((&page["cursor"], &page["seq"]), (&json!(length), &json!(MOST + 2)));
        assert_eq!(page["count"], MOST + 2, "of the whole set");
    }
    let last = result(&instance, "mempool_snapshot", json!({ "cursor": MOST, "limit": 99_999 })).await;
    let expected = (vec![MOST as u64 + 1, MOST as u64 + 2], &json!(false));
    assert_eq!((seqs(&last), &last["has_more"]), expected);

    let ids: Vec<String> = all.iter().map(|one| one.compute_txid().to_string()).collect();
    let found = result(&instance, "mempool_entries", json!({ "txids": ids[2..] })).await;
    assert_eq!((list(&found, "entries").len(), &found["missing"]), (MOST, &json!([])));
    assert_eq!(code(&instance, "mempool_entries", json!({ "txids": ids[1..] })).await, -32602);
}

fn list<'a>(answer: &'a Value, name: &str) -> &'a [Value] {
    answer[name].as_array().unwrap()
}

fn seqs(answer: &Value) -> Vec<u64> {
    list(answer, "entries").iter().map(|entry| entry["seq"].as_u64().unwrap()).collect()
}

/// A distinct transaction per `number`; the output that it spends is unknown.
fn unknown(number: usize) -> Transaction {
    let txid = bitcoin::Txid::hash(&number.to_le_bytes());
    crate::chain::payment(&[bitcoin::OutPoint { txid, vout: 0 }], &[(5_000, bitcoin::ScriptBuf::new())])
}

/// row MP01
/// row MP04
/// row MP05
/// row MP06
/// row MP07
/// row MP18
#[tokio::test]
async fn ids_entries_and_raw_bytes_are_read_one_by_one_and_many_at_once() {
    let (instance, mempool) = instance(Limits::default()).await;
    let all: Vec<_> = (1..=20).map(|coin| transaction(coin, 500)).collect();
    for one in &all {
        add(&mempool, one);
    }
    assert_eq!((txids(&instance, json!({})).await, txids(&instance, json!({"limit": 3})).await), (20, 3));
    assert_eq!(
        (txids(&instance, json!({"limit": 0})).await, txids(&instance, json!({"limit": 99_999})).await),
        (0, 20)
    );
    let some = result(&instance, "mempool_txids", json!({"limit": 3})).await;
    assert_eq!((&some["count"], &some["seq"]), (&json!(20), &json!(20)));

    let first = &all[0];
    let hex = raw(first).to_lower_hex_string();
    let id = first.compute_txid();
    let with = result(&instance, "mempool_entry", json!({"txid": id, "include_hex": true})).await;
    assert_eq!(with["hex"], hex);
    assert_eq!(result(&instance, "mempool_raw", json!({"txid": id})).await, json!({ "hex": hex }));
    let absent = "00".repeat(32);
    for method in ["mempool_entry", "mempool_raw"] {
        assert_eq!(code(&instance, method, json!({ "txid": absent })).await, -32000);
        for bad in [json!({}), json!({"txid": 5}), json!({"txid": "xy"}), json!({"txid": id.to_string()[1..]})] {
            assert_eq!(code(&instance, method, bad.clone()).await, -32602, "{bad}");
        }
    }
    let many = result(&instance, "mempool_entries", json!({"txids": [id, absent, all[1].compute_txid()]})).await;
    assert_eq!((many["entries"].as_array().unwrap().len(), &many["missing"]), (2, &json!([absent])));
    assert_eq!(many["entries"][0]["txid"], id.to_string());
    assert!(many["entries"][0].get("hex").is_none());
    let most = vec![absent.clone(); 5_000];
    assert_eq!(
        result(&instance, "mempool_entries", json!({ "txids": most })).await["missing"].as_array().unwrap().len(),
        5_000
    );
    for bad in [json!({"txids": vec![absent.clone(); 5_001]}), json!({}), json!({"txids": "x"}), json!({"txids": [5]})]
    {
        assert_eq!(code(&instance, "mempool_entries", bad).await, -32602);
    }

    let recent = result(&instance, "mempool_recent", json!({"limit": 2})).await;
    let seqs: Vec<_> =
        recent["entries"].as_array().unwrap().iter().map(|entry| entry["seq"].as_u64().unwrap()).collect();
    assert_eq!((seqs, &recent["seq"]), (vec![20, 19], &json!(20)));

    // Named parameters only; several calls at once; unknown methods.
    for method in ["mempool_info", "mempool_txids", "mempool_recent", "mempool_snapshot"] {
        for positional in [json!([]), json!([5]), json!([{"limit": 5}]), json!("x")] {
            assert_eq!(code(&instance, method, positional).await, -32602, "{method}");
        }
        assert!(call(&instance, method, Value::Null).await.get("result").is_some());
        if method != "mempool_info" {
            assert_eq!(code(&instance, method, json!({"limit": -1})).await, -32602, "{method}");
        }
    }
    assert_eq!(code(&instance, "mempool_nothing", json!({})).await, -32601);
    let batch = json!([
        {"jsonrpc": "2.0", "id": 1, "method": "mempool_info"},
        {"jsonrpc": "2.0", "id": "b", "method": "mempool_raw", "params": [id]},
        {"jsonrpc": "2.0", "method": "mempool_info"},
    ]);
    let answers = instance.post(&instance.keyed("/mempool"), batch.to_string()).await.json();
    assert_eq!(
        (answers[0]["result"]["count"].clone(), answers[1]["error"]["code"].clone()),
        (json!(20), json!(-32602))
    );
    assert_eq!(answers.as_array().unwrap().len(), 2);
}

/// row MP08
/// row MP11
#[tokio::test]
async fn pages_of_a_snapshot_follow_the_numbers_while_the_set_changes() {
    let (instance, mempool) = instance(Limits::default()).await;
    for coin in 1..=10 {
        add(&mempool, &transaction(coin, 500));
    }
    let mut seen = Vec::new();
    let mut cursor = 0;
    let mut pages = 0;
    loop {
        let page = result(&instance, "mempool_snapshot", json!({"limit": 4, "cursor": cursor})).await;
        assert_eq!(page["instance"], "a3f1c07e");
        let entries = page["entries"].as_array().unwrap();
        seen.extend(entries.iter().map(|entry| entry["seq"].as_u64().unwrap()));
        cursor = page["cursor"].as_u64().unwrap();
        pages += 1;
        // Entries already read are removed, new ones are appended.
        mempool.drop_unknown(&[transaction(pages, 500).compute_txid()]);
        add(&mempool, &transaction(20 + pages, 500));
        if !page["has_more"].as_bool().unwrap() {
            break;
        }
        assert!(pages < 9);
    }
    assert!(seen.is_sorted() && seen.windows(2).all(|pair| pair[0] != pair[1]), "{seen:?}");
    assert!((5..=10).all(|seq| seen.contains(&seq)), "what stayed is skipped nowhere: {seen:?}");
    let past = result(&instance, "mempool_snapshot", json!({"cursor": 999_999})).await;
    assert_eq!((&past["entries"], &past["has_more"], &past["cursor"]), (&json!([]), &json!(false), &json!(999_999)));
    for bad in [json!({"cursor": -1}), json!({"cursor": "1"}), json!({"instance": "00000000"}), json!({"limit": 1.5})] {
        assert_eq!(code(&instance, "mempool_snapshot", bad).await, -32602);
    }
}

/// row MP09
/// row MP13
#[tokio::test]
async fn the_histogram_counts_known_fees_by_ascending_floors() {
    let (instance, mempool) = instance(Limits::default()).await;
    let vsize = transaction(1, 500).vsize() as u64;
    for (coin, rate) in [(1u8, 1u64), (2, 5), (3, 5), (4, 40)] {
        add(&mempool, &transaction(coin, rate * vsize));
    }
    let unknown = bitcoin::OutPoint { txid: transaction(1, 500).compute_txid(), vout: 7 };
    add(&mempool, &crate::chain::payment(&[unknown], &[(5, bitcoin::ScriptBuf::new())]));
    let reported = result(&instance, "mempool_feerate_histogram", json!({"buckets": [0, 1, 2, 5, 10, 20, 50]})).await;
    let expected = [(0u8, 0), (1, vsize), (2, 0), (5, 2 * vsize), (10, 0), (20, vsize), (50, 0)];
    for (reported, (floor, vbytes)) in reported["histogram"].as_array().unwrap().iter().zip(expected) {
        assert_eq!((reported[0].as_f64(), reported[1].as_u64()), (Some(f64::from(floor)), Some(vbytes)));
    }
    assert_eq!((&reported["fee_coverage"], &reported["count"]), (&json!(0.8), &json!(5)));
    let default = result(&instance, "mempool_feerate_histogram", json!({})).await;
    let floors: Vec<f64> =
        default["histogram"].as_array().unwrap().iter().map(|row| row[0].as_f64().unwrap()).collect();
    assert_eq!((floors.len(), floors[0], floors[23]), (24, 0.1, 1000.0));
    let ratio = 10_000f64.powf(1.0 / 23.0);
    assert!(floors.windows(2).all(|pair| (pair[1] / pair[0] - ratio).abs() < 1e-6), "{floors:?}");
    for bad in [json!([]), json!([2, 1]), json!([1, 1]), json!(["x"]), json!([null]), json!([-1, 5]), json!(7)] {
        assert_eq!(code(&instance, "mempool_feerate_histogram", json!({ "buckets": bad })).await, -32602, "{bad}");
    }
}

/// row MP10
/// row MP15
#[tokio::test]
async fn an_admin_makes_a_transaction_visible_that_goes_to_no_node() {
    let (instance, mempool) = instance(Limits::default()).await;
    let seen = transaction(1, 700);
    let hex = raw(&seen).to_lower_hex_string();
    let admin = admin(&instance).await;
    let path = format!("/v4/{admin}/mempool/observe");
    let ordinary = instance.post(&instance.keyed("/mempool/observe"), json!({"hex": hex}).to_string()).await;
    assert_eq!((ordinary.status, ordinary.json()["code"].as_str()), (403, Some("ADMIN_KEY_REQUIRED")));
    let before = unix_millis();
    let reported = instance.post(&path, json!({"hex": hex}).to_string()).await;
    let after = unix_millis();
    let expected = json!({"txid": seen.compute_txid(), "seq": 1, "provisional": true, "known": false});
    assert_eq!((reported.status, reported.json()), (200, expected));
    let entry = result(&instance, "mempool_entry", json!({"txid": seen.compute_txid()})).await;
    assert_eq!((&entry["origin"], &entry["provisional"], &entry["fee"]), (&json!("edge"), &json!(true), &json!(700)));
    let first_seen = entry["first_seen"].as_u64().unwrap();
    assert!((before..=after).contains(&first_seen), "{first_seen} is not between {before} and {after}");
    let again = instance.post(&path, raw(&seen)).await;
    assert_eq!((again.status, &again.json()["known"]), (200, &json!(true)));
    // A peer announces it as well.
    add(&mempool, &seen);
    let entry = result(&instance, "mempool_entry", json!({"txid": seen.compute_txid()})).await;
    assert_eq!((&entry["origin"], &entry["provisional"], &entry["seq"]), (&json!("p2p"), &json!(false), &json!(1)));
    for (body, status) in [
        (b"{}".to_vec(), 400),
        (b"{\"hex\":\"zz\"}".to_vec(), 400),
        (b"\x00\x01".to_vec(), 400),
        (Vec::new(), 400),
        (raw(&transaction(1, 900)).to_vec(), 409),
    ] {
        let refused = instance.post(&path, &body).await;
        assert_eq!(
            (refused.status, refused.json()["statusCode"].as_u64()),
            (status, Some(u64::from(status))),
            "{body:?}"
        );
    }
    assert_eq!(instance.get(&path).await.status, 405);
    assert!(instance.node.calls.lock().unwrap().is_empty(), "nothing goes to the node");
}

/// A transaction of some 90 kB.
fn long(number: usize) -> Transaction {
    let mut transaction = unknown(number);
    transaction.output[0].script_pubkey = bitcoin::ScriptBuf::from(vec![0x6a; 90_000]);
    transaction
}

#[tokio::test]
async fn an_entry_that_is_named_often_is_listed_once() {
    let (instance, mempool) = instance(Limits::default()).await;
    let transactions = [long(1), long(2)];
    for one in &transactions {
        add(&mempool, one);
    }
    let ids = transactions.each_ref().map(|one| one.compute_txid().to_string());
    let other = unknown(3).compute_txid().to_string();
    let mut asked = vec![ids[1].clone(), other.clone(), ids[0].clone(), other.clone()];
    asked.resize(5_000, ids[1].clone());
    let body = json!({ "id": 1, "method": "mempool_entries", "params": { "txids": asked, "include_hex": true } });
    let answer = instance.post(&instance.keyed("/mempool"), body.to_string()).await;
    assert!(answer.body.len() < 500_000, "{} bytes", answer.body.len());
    let found = answer.json()["result"].clone();
    let txids: Vec<&str> = list(&found, "entries").iter().map(|entry| entry["txid"].as_str().unwrap()).collect();
    assert_eq!((txids, &found["missing"]), (vec![&*ids[1], &*ids[0]], &json!([other, other])));
}

#[tokio::test]
async fn entries_with_their_bytes_are_written_no_further_than_an_answer_may_be_long() {
    let mut setup = Setup::default();
    setup.config.limits.response_bytes_max = 400_000;
    let (instance, mempool) = named(Limits::default(), 7, setup).await;
    let transactions: Vec<Transaction> = (0..4).map(long).collect();
    for one in &transactions {
        add(&mempool, one);
    }
    let ids: Vec<String> = transactions.iter().map(|one| one.compute_txid().to_string()).collect();
    for (method, params) in [
        ("mempool_entries", json!({ "txids": ids, "include_hex": true })),
        ("mempool_recent", json!({ "include_hex": true })),
        ("mempool_snapshot", json!({ "include_hex": true })),
    ] {
        let answer = call(&instance, method, params.clone()).await;
        assert_eq!(answer["error"]["data"]["code"], "RESPONSE_TOO_LARGE", "{method}");
        let mut less = params;
        less["limit"] = json!(2);
        less["txids"] = json!(ids[..2]);
        assert_eq!(list(&result(&instance, method, less).await, "entries").len(), 2, "{method}");
    }
}
