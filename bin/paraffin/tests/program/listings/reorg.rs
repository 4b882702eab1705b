//! Events of the adapter while the node changes its branch.

use serde_json::{Value, json};

use crate::alkanes::reorganised::{FOUNDED, Traded};
use crate::support::http;
use crate::support::served::Numbers;

/// A path below the key.
fn get(traded: &Traded, path: &str) -> Value {
    let answer = http::get(&traded.served.address, &traded.served.keyed(path));
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    answer.json()
}

/// The number of the first event of a CryptoSwap pool in its transaction (docs/decisions/0070); the histories have those of factories alone.
const FIRST_OF_CRYPTOSWAP: u64 = 1 << 28;

/// Every event of pools of factories up to the latest block, as block, transaction, number and kind, and the same from the histories.
fn both(traded: &Traded) -> [Vec<Value>; 2] {
    let latest = get(traded, "/dexscreener/latest-block")["block"]["blockNumber"].as_u64().unwrap();
    assert_eq!(latest, u64::from(traded.served.backend.height()));
    let answered = get(traded, &format!("/dexscreener/events?fromBlock=0&toBlock={latest}"));
    let answered = answered["events"].as_array().unwrap().iter();
    let answered = answered
        .filter(|event| event["eventIndex"].as_u64().unwrap() < FIRST_OF_CRYPTOSWAP)
        .map(|event| json!([event["block"]["blockNumber"], event["txnId"], event["eventIndex"], event["eventType"]]));
    let body = json!({ "limit": 500 });
    let path = traded.served.keyed("/get-all-amm-tx-history");
    let rows = http::post(&traded.served.address, &path, &body).json()["data"].clone();
    let rows = rows["transactions"].as_array().unwrap().clone();
    assert!(rows.len() < 500, "one page");
    let expected = rows.iter().rev().filter_map(|row| {
        let kind = match row["type"].as_str().unwrap() {
            "swap" => "swap",
            "mint" | "creation" => "join",
            "burn" => "exit",
            _ => return None,
        };
        Some(json!([row["blockHeight"], row["transactionId"], row["eventIndex"], kind]))
    });
    [answered.collect(), expected.collect()]
}

#[test]
fn events_follow_the_branch_that_won() {
    let mut traded = Traded::new(11);
    let mut numbers = Numbers::new(11);
    traded.mine(FOUNDED);
    traded.served.wait_for_tip();
    let mut changed = 0;
    for depth in [1, 3, 6] {
        traded.mine(6);
        traded.served.wait_for_tip();
        let [before, expected] = both(&traded);
        assert_eq!(before, expected);
        traded.drop_and_replace(&mut numbers, depth);
        traded.served.wait_for_tip();
        let [after, expected] = both(&traded);
        assert_eq!(after, expected);
        changed += usize::from(before != after);
    }
    assert!(changed > 0, "the branches had other events");
}
