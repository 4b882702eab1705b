//! Random schedules: blocks, reorganisations, lost connections, killed servers.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use bitcoin::{OutPoint, ScriptBuf};
use serde_json::{Value, json};

use super::client::Client;
use super::follow_to;
use super::receiver::Receiver;
use crate::support::http;
use crate::support::served::{Backend, Numbers, Served, address};

const END: u64 = (1 << 53) - 1;
/// Steps of a schedule.
const STEPS: u32 = 60;

/// One who follows, with or without a connection at the moment.
struct Follower {
    is_socket: bool,
    client: Option<Client>,
    receiver: Receiver,
}

impl Follower {
    /// Connects where it has none, and goes on where it was.
    fn client(&mut self, served: &Served, filter: &Value) -> &mut Client {
        let (cursor, is_socket) = (&self.receiver.cursor, self.is_socket);
        self.client.get_or_insert_with(|| {
            if is_socket {
                let mut client = Client::socket(&served.address, &served.keyed("/events"));
                match cursor {
                    None => client.subscribe(filter, ("from_height", json!(0))),
                    Some(cursor) => client.subscribe(filter, ("cursor", json!(cursor))),
                }
                client
            } else {
                let from = cursor.as_ref().map_or("from_height=0".to_owned(), |cursor| format!("cursor={cursor}"));
                let path = format!("/events?{from}&{}", query(filter));
                Client::sent(&served.address, &served.keyed(&path))
            }
        })
    }
}

fn query(filter: &Value) -> String {
    let lists = filter.as_object().unwrap().iter().map(|(name, list)| {
        let texts: Vec<&str> = list.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
        format!("{name}={}", texts.join(","))
    });
    lists.collect::<Vec<_>>().join("&")
}

fn end(served: &Served) -> String {
    let height = served.backend.height();
    format!("{height}-{}-{END}", served.backend.hash(height))
}

/// What the raw blocks say of some scripts: transaction, whether it spends, number, outpoint, value, in order.
fn of_raw_blocks(served: &Served, scripts: &BTreeSet<ScriptBuf>) -> Vec<Value> {
    let mut made: HashMap<OutPoint, bitcoin::TxOut> = HashMap::new();
    let mut found = Vec::new();
    for (height, block) in served.backend.chain().iter().enumerate() {
        let hash = block.block_hash();
        for transaction in &block.txdata {
            let txid = transaction.compute_txid();
            let event = |direction: &str, number: usize, outpoint: OutPoint, output: &bitcoin::TxOut| {
                json!({
                    "type": "address", "height": height, "block_hash": hash, "txid": txid, "direction": direction,
                    "number": number, "outpoint": outpoint, "value": output.value.to_sat().to_string(),
                    "address": address(&output.script_pubkey), "script": output.script_pubkey.to_hex_string(),
                })
            };
            for (number, input) in transaction.input.iter().enumerate() {
                if let Some(output) = made.remove(&input.previous_output)
                    && scripts.contains(&output.script_pubkey)
                {
                    found.push(event("spend", number, input.previous_output, &output));
                }
            }
            for (number, output) in transaction.output.iter().enumerate() {
                let outpoint = OutPoint { txid, vout: u32::try_from(number).unwrap() };
                made.insert(outpoint, output.clone());
                if scripts.contains(&output.script_pubkey) {
                    found.push(event("receive", number, outpoint, output));
                }
            }
        }
    }
    found
}

#[test]
fn a_client_that_resumes_over_reorganisations_and_restarts_has_the_events_of_the_chain_alone() {
    // Another one makes another schedule.
    let seed = std::env::var("PARAFFIN_EVENTS_SEED").map_or(0x6576_656e_7473, |seed| seed.parse().unwrap());
    let mut numbers = Numbers::new(seed);
    let mut served = Served::start(Backend::devnet());
    served.backend.mine(101, &served.scripts[0]);
    served.mine_traffic(&mut numbers, 10);
    served.wait_for_tip();
    let watched: BTreeSet<ScriptBuf> = served.scripts.iter().step_by(2).cloned().collect();
    let addresses: Vec<String> = watched.iter().map(address).collect();
    let filter = json!({ "kinds": ["block", "address"], "addresses": addresses });
    let mut followers: Vec<Follower> = (0..4)
        .map(|number| Follower { is_socket: number % 2 == 0, client: None, receiver: Receiver::default() })
        .collect();
    let mut undone = 0;
    for step in 0..STEPS {
        match numbers.below(10) {
            0..4 => {
                let count = 1 + u32::try_from(numbers.below(3)).unwrap();
                served.mine_traffic(&mut numbers, count);
            }
            4..8 => {
                let depth = 1 + u32::try_from(numbers.below(7)).unwrap();
                served.reorganise(&mut numbers, depth);
                undone += depth;
            }
            8 => drop(followers[numbers.below(4) as usize].client.take()),
            _ => {
                // Everybody loses the connection, some in the middle of a block.
                served.restart();
                for follower in &mut followers {
                    follower.client = None;
                }
            }
        }
        if numbers.below(2) == 0 {
            served.wait_for_tip();
        }
        for follower in &mut followers {
            if numbers.below(4) == 0 {
                continue;
            }
            // Read a little, or until nothing comes for a moment; a connection may be lost anywhere.
            for _ in 0..numbers.below(60) {
                let text = follower.client(&served, &filter).read(Duration::from_millis(30));
                let Some(text) = text else { break };
                follower.receiver.take(&text);
            }
            if numbers.below(5) == 0 {
                follower.client = None;
            }
        }
        if step % 20 == 19 {
            served.wait_for_tip();
            let end = end(&served);
            for follower in &mut followers {
                follower.client(&served, &filter);
                follow_to(follower.client.as_mut().unwrap(), &mut follower.receiver, &end);
            }
        }
    }
    served.wait_for_tip();
    let mut fresh = Receiver::default();
    let mut replay = Client::sent(&served.address, &served.keyed(&format!("/events?from_height=0&{}", query(&filter))));
    follow_to(&mut replay, &mut fresh, &end(&served));
    assert_eq!((fresh.undone, fresh.blocks.len()), (0, served.backend.height() as usize + 1));
    for follower in &mut followers {
        follower.client(&served, &filter);
        follow_to(follower.client.as_mut().unwrap(), &mut follower.receiver, &end(&served));
        assert!(follower.receiver.blocks == fresh.blocks, "a receiver has other events than a replay");
        assert!(follower.receiver.undone > 10 && follower.receiver.checkpoints > 50, "it saw little");
    }
    assert!(undone > 30, "{undone}");

    let mut sent: Vec<Value> = fresh.events().filter(|event| event["type"] == "address").collect();
    for event in &mut sent {
        event.as_object_mut().unwrap().remove("cursor");
    }
    assert!(sent == of_raw_blocks(&served, &watched), "the events of addresses are not those of the raw blocks");

    check_branches_that_the_index_never_had(&mut served, &mut numbers, &filter, &fresh);
}

/// A cursor of a branch that this index has not followed: the node knows it, or none of them does.
fn check_branches_that_the_index_never_had(
    served: &mut Served,
    numbers: &mut Numbers,
    filter: &Value,
    fresh: &Receiver,
) {
    let before = fresh.cursor.clone().unwrap();
    // The blocks come and go while the program does not run.
    served.stop();
    served.mine_traffic(numbers, 3);
    let height = served.backend.height();
    let orphan = format!("{height}-{}-5", served.backend.hash(height));
    let mut hashes: Vec<Value> = (height - 2..=height).map(|height| json!(served.backend.hash(height))).collect();
    hashes.reverse();
    served.reorganise(numbers, 3);
    served.launch();
    served.wait_for_tip();
    let mut client = Client::socket(&served.address, &served.keyed("/events"));
    client.subscribe(filter, ("cursor", json!(orphan)));
    let undone: Vec<Value> = (0..3).map(|_| client.read_type("block_disconnected")).collect();
    assert_eq!(undone.iter().map(|event| event["block_hash"].clone()).collect::<Vec<_>>(), hashes);
    assert_eq!(undone[2]["cursor"], before.as_str());
    assert_eq!(client.read_type("block_connected")["height"], height - 2);

    let unknown = format!("{height}-{}-5", "ab".repeat(32));
    client.subscribe(filter, ("cursor", json!(unknown)));
    let error = client.read_type("error");
    assert_eq!(error["code"], "unknown_cursor", "{error}");
    assert!(error["message"].as_str().unwrap().contains("from_height"), "{error}");
    let answer = http::get(&served.address, &served.keyed(&format!("/events?cursor={unknown}")));
    assert_eq!((answer.status, &answer.json()["code"]), (410, &json!("UNKNOWN_CURSOR")));
    // The hash is that of a block, at another height.
    let wrong = format!("{}-{}-5", height - 5, served.backend.hash(height - 4));
    let answer = http::get(&served.address, &served.keyed(&format!("/events?cursor={wrong}")));
    assert_eq!(answer.status, 400, "{}", answer.text());
}
