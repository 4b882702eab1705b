//! The development chain, asked through a server of `ord` and from our own index: a stand-in for it in every run, the published
//! program beside a real Bitcoin Core with `cargo xtask peers ord`.

use std::collections::BTreeSet;

use bitcoin::{Address, Block};
use paraffin_devnet::{Devnet, DevnetOptions};
use paraffin_ordinals_index::OrdinalsOptions;
use serde_json::{Value, json};

use super::node::{Core, Ord};
use super::{asking, ord_at, ord_server};
use crate::instance::{Instance, Setup};

/// By height 110 the development chain has all its inscriptions and runes.
const BLOCKS: u32 = 114;

type Call = (&'static str, Value);

/// An instance that indexes the development chain with its sats.
async fn development() -> Instance {
    let options = DevnetOptions { seed: 3, blocks: BLOCKS, pending_transactions: 0, ..DevnetOptions::default() };
    let devnet = Devnet::start(options).await.unwrap();
    let node = devnet.node();
    let ordinals = Some(OrdinalsOptions { sats: true, ..OrdinalsOptions::default() });
    let mut own = Instance::with(Setup { ordinals, empty_chain: true, ..Setup::default() }).await;
    for height in 0..=devnet.tip().height {
        let block = node.block(&node.block_hash(height).unwrap()).unwrap();
        own.chain.add((*block).clone());
        own.node.add_block(&block);
    }
    own
}

/// Every method for all existing objects, and for missing ones.
async fn calls(own: &Instance) -> Vec<Call> {
    let mut calls = vec![
        ("blockcount", json!([])),
        ("blockheight", json!([])),
        ("blocktime", json!([])),
        ("blockhash", json!([])),
        ("blockhash", json!([99_999])),
        ("blocks", json!([])),
        ("block", json!([99_999])),
        ("block", json!(["11".repeat(32)])),
        ("inscription", json!([-1_000])),
        ("inscription", json!([1_000_000])),
        ("inscription", json!(["nvtdijuwxlp"])),
        ("inscriptions::block", json!([99_999, 0])),
        ("rune", json!(["AAAA"])),
        ("rune", json!(["99:99"])),
        ("rune", json!([1_000_000])),
        ("sat", json!([0])),
        ("sat", json!(["nvtdijuwxlp"])),
        ("sat", json!([5_000_000_000_u64])),
        ("r:sat", json!([u64::MAX])),
        ("r:sat::at", json!([2_099_999_997_689_999_u64, -1])),
        ("tx", json!(["11".repeat(32)])),
        ("output", json!([format!("{}:0", "11".repeat(32))])),
    ];
    for method in ["inscription", "children", "parents", "content", "metadata"] {
        calls.push((method, json!([format!("{}i0", "11".repeat(32))])));
    }
    for (height, block) in (0u32..).zip(&own.chain.blocks) {
        calls.push(("blockhash", json!([height])));
        calls.push(("block", json!([if height % 2 == 0 { json!(height) } else { json!(block.block_hash()) }])));
        calls.push(("inscriptions::block", json!([height, height % 2])));
    }
    calls.extend(of_transactions(&own.chain.blocks));
    let page = own.result("ord_inscriptions", json!([0])).await;
    assert_eq!(page["more"], false, "the chain has few inscriptions");
    calls.push(("inscriptions", json!([0])));
    for (place, id) in page["ids"].as_array().unwrap().iter().enumerate() {
        calls.extend(["children", "parents"].map(|method| (method, json!([id, place % 2]))));
        calls.extend(["inscription", "content", "metadata"].map(|method| (method, json!([id]))));
        calls.push(("inscription", json!([id, place % 2])));
        let record = own.result("ord_inscription", json!([id])).await;
        calls.push(("inscription", json!([record["number"]])));
        let sat = own.result("ord_sat", json!([record["sat"]])).await;
        for name in ["number", "name", "decimal", "degree", "percentile"] {
            calls.push(("sat", json!([sat[name]])));
            calls.push(("r:sat::at", json!([sat[name], 0])));
        }
        calls.extend([0, 1].map(|page| ("r:sat", json!([sat["number"], page]))));
        calls.extend([1, -1, -2, 7].map(|place| ("r:sat::at", json!([sat["number"], place]))));
    }
    let runes = own.result("ord_runes", json!([0])).await;
    calls.push(("runes", json!([0])));
    for entry in runes["entries"].as_array().unwrap() {
        let names = [entry[0].clone(), entry[1]["spaced_rune"].clone(), entry[1]["number"].clone()];
        calls.extend(names.map(|name| ("rune", json!([name]))));
    }
    calls
}

/// Transactions of the last blocks, their outputs, and the owners of these.
fn of_transactions(blocks: &[Block]) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut addresses = BTreeSet::new();
    for transaction in blocks[99..].iter().flat_map(|block| &block.txdata) {
        let txid = transaction.compute_txid();
        calls.push(("tx", json!([txid])));
        for (vout, output) in transaction.output.iter().enumerate() {
            calls.push(("output", json!([format!("{txid}:{vout}")])));
            let address = Address::from_script(&output.script_pubkey, bitcoin::Network::Regtest);
            addresses.extend(address.map(|address| address.to_string()));
        }
        calls.push(("output", json!([format!("{txid}:{}", transaction.output.len())])));
    }
    for address in addresses {
        calls.extend(["address", "address::inscriptions"].map(|method| (method, json!([address]))));
        calls.extend(["any", "cardinal", "inscribed", "runic"].map(|kind| ("outputs", json!([address, kind]))));
    }
    calls
}

/// Asks both for everything; answers of how many calls there was something.
async fn compare(own: &Instance, asking: &Instance) -> usize {
    let mut found = BTreeSet::new();
    let (mut answers, mut nothing) = (0, 0);
    for (method, params) in calls(own).await {
        let body = json!({ "id": 1, "method": format!("ord_{method}"), "params": params }).to_string();
        let ours = own.post(&own.keyed(""), &body).await;
        let theirs = asking.post(&asking.keyed(""), &body).await;
        assert_eq!((theirs.status, theirs.json()), (ours.status, ours.json()), "{body}");
        if ours.json().get("error").is_none() {
            found.insert(method);
            answers += 1;
        } else {
            nothing += 1;
        }
    }
    assert_eq!(found.len(), super::super::ord::METHODS.len(), "{found:?}");
    assert!(nothing > 50, "{nothing} calls for what is not there");
    answers
}

/// row MR08
#[tokio::test]
async fn every_method_on_the_development_chain_answers_alike_through_a_stand_in_for_ord() {
    let own = development().await;
    let server = ord_server::start(&own).await;
    let asking = asking(ord_at(&server.url())).await;
    let answers = compare(&own, &asking).await;
    assert!(answers > 500, "{answers} answers");
}

/// row MR08
#[tokio::test]
async fn every_method_answers_alike_through_the_published_ord() {
    let (Some(program), Some(bitcoind)) = (paraffin_testkit::ord(), paraffin_testkit::bitcoind()) else { return };
    let own = development().await;
    let core = Core::start(&bitcoind);
    own.chain.blocks.iter().skip(1).for_each(|block| core.submit(block));
    core.wait_for_index(BLOCKS);
    let server = Ord::start(&program, &core, true, BLOCKS + 1);
    let asking = asking(ord_at(&server.url())).await;
    let answers = compare(&own, &asking).await;
    println!("{answers} answers of the published ord handed on as our own index has them");
}
