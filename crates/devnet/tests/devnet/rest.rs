//! The REST routes: bytes as the consensus encoding has them, refusals as Bitcoin Core words them.

use bitcoin::consensus::encode::{Decodable, VarInt, serialize};
use bitcoin::hex::DisplayHex;
use bitcoin::{Block, BlockHash, Transaction, TxOut};
use paraffin_devnet::{Devnet, DevnetOptions};

use crate::support::{Answer, address, http, rest};

const UNKNOWN: &str = "1111111111111111111111111111111111111111111111111111111111111111";

async fn start() -> (Devnet, String) {
    let devnet = Devnet::start(DevnetOptions::default()).await.unwrap();
    let address = address(&devnet);
    (devnet, address)
}

fn check(answer: &Answer, content_type: &str, body: &[u8]) {
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.content_type.as_deref(), Some(content_type));
    assert_eq!(answer.body.to_lower_hex_string(), body.to_lower_hex_string());
}

/// Checks the three forms of a binary answer: `.bin`, `.hex` and, where given, a member of `.json`.
async fn check_forms(node: &str, path: &str, query: &str, bytes: &[u8]) {
    check(&rest(node, &format!("{path}.bin{query}")).await, "application/octet-stream", bytes);
    let hex = format!("{}\n", bytes.to_lower_hex_string());
    check(&rest(node, &format!("{path}.hex{query}")).await, "text/plain", hex.as_bytes());
}

#[tokio::test]
async fn blocks_and_their_parts_are_the_consensus_encoding() {
    let (devnet, node) = start().await;
    let hash = devnet.tip().hash;
    let bytes = serialize(&*devnet.node().block(&hash).unwrap());
    check_forms(&node, &format!("/rest/block/{hash}"), "", &bytes).await;
    check_forms(&node, &format!("/rest/block/notxdetails/{hash}"), "", &bytes).await;
    check_forms(&node, &format!("/rest/blockpart/{hash}"), "?offset=80&size=7", &bytes[80..87]).await;
    let all = format!("?offset=0&size={}", bytes.len());
    check_forms(&node, &format!("/rest/blockpart/{hash}"), &all, &bytes).await;
    let json = rest(&node, &format!("/rest/block/{hash}.json")).await.json();
    assert_eq!(json["height"], 160);
    assert!(json["tx"][0].is_object());
    let json = rest(&node, &format!("/rest/block/notxdetails/{hash}.json")).await.json();
    assert!(json["tx"][0].is_string());
}

#[tokio::test]
async fn headers_follow_each_other_from_the_one_named() {
    let (devnet, node) = start().await;
    let local = devnet.node();
    let headers = |from: u32, count: u32| -> Vec<u8> {
        (from..from + count)
            .filter_map(|height| local.block_hash(height))
            .flat_map(|hash| serialize(&local.block(&hash).unwrap().header))
            .collect()
    };
    let hash = local.block_hash(150).unwrap();
    check_forms(&node, &format!("/rest/headers/{hash}"), "", &headers(150, 5)).await;
    check_forms(&node, &format!("/rest/headers/{hash}"), "?count=3", &headers(150, 3)).await;
    check_forms(&node, &format!("/rest/headers/2000/{hash}"), "", &headers(150, 11)).await;
    check_forms(&node, &format!("/rest/headers/{UNKNOWN}"), "", &[]).await;
    let json = rest(&node, &format!("/rest/headers/{hash}.json?count=2")).await.json();
    assert_eq!((json.as_array().unwrap().len(), &json[0]["height"]), (2, &serde_json::json!(150)));
    // A block that left the chain has no headers to follow.
    let tip = devnet.tip().hash;
    local.invalidate(&tip).unwrap();
    check_forms(&node, &format!("/rest/headers/{tip}"), "", &[]).await;
}

#[tokio::test]
async fn hashes_by_height_come_in_wire_order_as_bytes_and_in_display_order_as_text() {
    let (devnet, node) = start().await;
    let hash = devnet.node().block_hash(42).unwrap();
    check(&rest(&node, "/rest/blockhashbyheight/42.bin").await, "application/octet-stream", &serialize(&hash));
    check(&rest(&node, "/rest/blockhashbyheight/42.hex").await, "text/plain", format!("{hash}\n").as_bytes());
    assert_eq!(rest(&node, "/rest/blockhashbyheight/42.json").await.json()["blockhash"], hash.to_string());
}

#[tokio::test]
async fn transactions_are_found_confirmed_and_unconfirmed() {
    let (devnet, node) = start().await;
    let local = devnet.node();
    let pending = local.mempool_transaction(&local.mempool_txids()[0]).unwrap();
    let confirmed = local.block(&devnet.tip().hash).unwrap().txdata[0].clone();
    for tx in [&*pending, &confirmed] {
        check_forms(&node, &format!("/rest/tx/{}", tx.compute_txid()), "", &serialize(tx)).await;
    }
    let json = rest(&node, &format!("/rest/tx/{}.json", confirmed.compute_txid())).await.json();
    assert_eq!(json["blockhash"], devnet.tip().hash.to_string());
}

fn decode_spent(bytes: &[u8]) -> Vec<Vec<TxOut>> {
    let mut reader = bytes;
    let count = VarInt::consensus_decode(&mut reader).unwrap().0;
    let lists = (0..count)
        .map(|_| {
            let length = VarInt::consensus_decode(&mut reader).unwrap().0;
            (0..length).map(|_| TxOut::consensus_decode(&mut reader).unwrap()).collect()
        })
        .collect();
    assert!(reader.is_empty(), "nothing follows the lists");
    lists
}

#[tokio::test]
async fn spent_outputs_are_listed_for_every_transaction_in_input_order() {
    let (devnet, node) = start().await;
    let local = devnet.node();
    let chain: Vec<Block> =
        (0..=160).map(|height| Block::clone(&local.block(&local.block_hash(height).unwrap()).unwrap())).collect();
    let find = |outpoint: &bitcoin::OutPoint| {
        let tx = chain.iter().flat_map(|block| &block.txdata).find(|tx| tx.compute_txid() == outpoint.txid).unwrap();
        tx.output[outpoint.vout as usize].clone()
    };
    for block in [&chain[0], &chain[1], &chain[140], &chain[150], &chain[160]] {
        let hash = block.block_hash();
        let answer = rest(&node, &format!("/rest/spenttxouts/{hash}.bin")).await;
        assert_eq!(answer.content_type.as_deref(), Some("application/octet-stream"));
        let spent = decode_spent(&answer.body);
        let expected: Vec<Vec<TxOut>> = block
            .txdata
            .iter()
            .map(|tx: &Transaction| {
                let inputs = tx.input.iter().filter(|_| !tx.is_coinbase());
                inputs.map(|input| find(&input.previous_output)).collect()
            })
            .collect();
        assert_eq!(spent, expected);
    }
    let json = rest(&node, &format!("/rest/spenttxouts/{}.json", devnet.tip().hash)).await.json();
    assert_eq!(json[0], serde_json::json!([]));
}

#[tokio::test]
async fn unspent_outputs_are_answered_as_bip64_says() {
    let (devnet, node) = start().await;
    let local = devnet.node();
    let pending = local.mempool_transaction(&local.mempool_txids()[0]).unwrap();
    let spent = pending.input[0].previous_output;
    let unspent = local.block(&devnet.tip().hash).unwrap().txdata[0].compute_txid();
    let path = format!("{}-{}/{unspent}-0/{}-0", spent.txid, spent.vout, pending.compute_txid());
    let confirmed_only = rest(&node, &format!("/rest/getutxos/{path}.json")).await.json();
    assert_eq!(confirmed_only["bitmap"], "110");
    assert_eq!(confirmed_only["chainHeight"], 160);
    let with_mempool = rest(&node, &format!("/rest/getutxos/checkmempool/{path}.json")).await.json();
    assert_eq!(with_mempool["bitmap"], "011");
    assert_eq!(with_mempool["utxos"][1]["height"], 0x7fff_ffff);
    let outpoints = [vec![0_u8, 1], serialize(&spent)].concat();
    let answer = http(&node, "POST", "/rest/getutxos.bin", "", &outpoints).await;
    assert_eq!(answer.body[..4], 160_u32.to_le_bytes());
    assert_eq!(BlockHash::consensus_decode(&mut &answer.body[4..]).unwrap(), devnet.tip().hash);
    assert_eq!(answer.body[36..39], [1, 1, 1], "one byte of bitmap with the first bit set, one output");
}

#[tokio::test]
async fn the_mempool_and_the_chain_are_described() {
    let (devnet, node) = start().await;
    let info = rest(&node, "/rest/chaininfo.json").await.json();
    assert_eq!(info["bestblockhash"], devnet.tip().hash.to_string());
    assert_eq!(rest(&node, "/rest/mempool/info.json").await.json()["size"], 3);
    assert_eq!(rest(&node, "/rest/mempool/contents.json").await.json().as_object().unwrap().len(), 3);
    let list = rest(&node, "/rest/mempool/contents.json?verbose=false&mempool_sequence=true").await.json();
    assert_eq!(list["txids"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn refusals_have_core_s_status_and_words() {
    let (devnet, node) = start().await;
    let tip = devnet.tip().hash;
    let formats = "output format not found (available: .bin, .hex, .json)\r\n";
    for (path, status, text) in [
        ("block/zz.bin".to_owned(), 400, "Invalid hash: zz\r\n".to_owned()),
        (format!("block/{UNKNOWN}.bin"), 404, format!("{UNKNOWN} not found\r\n")),
        (format!("block/{tip}"), 404, formats.to_owned()),
        (
            format!("headers/{tip}.bin?count=0"),
            400,
            "Header count is invalid or out of acceptable range (1-2000): 0\r\n".to_owned(),
        ),
        (
            format!("headers/{tip}.bin?count=2001"),
            400,
            "Header count is invalid or out of acceptable range (1-2000): 2001\r\n".to_owned(),
        ),
        (
            "headers/1/2/3.bin".to_owned(),
            400,
            "Invalid URI format. Expected /rest/headers/<hash>.<ext>?count=<count>\r\n".to_owned(),
        ),
        ("blockhashbyheight/161.bin".to_owned(), 404, "Block height out of range\r\n".to_owned()),
        ("blockhashbyheight/-1.bin".to_owned(), 400, "Invalid height: -1\r\n".to_owned()),
        (format!("tx/{UNKNOWN}.hex"), 404, format!("{UNKNOWN} not found\r\n")),
        (format!("spenttxouts/{UNKNOWN}.bin"), 404, format!("{UNKNOWN} not found\r\n")),
        (format!("blockpart/{tip}.bin"), 400, "Block part offset missing or invalid\r\n".to_owned()),
        (format!("blockpart/{tip}.bin?offset=1"), 400, "Block part size missing or invalid\r\n".to_owned()),
        (format!("blockpart/{tip}.bin?offset=0&size=0"), 400, format!("Bad block part offset/size 0/0 for {tip}\r\n")),
        (
            format!("blockpart/{tip}.bin?offset=1&size=999999"),
            400,
            format!("Bad block part offset/size 1/999999 for {tip}\r\n"),
        ),
        (
            format!("blockpart/{tip}.json?offset=0&size=1"),
            400,
            "JSON output is not supported for this request type\r\n".to_owned(),
        ),
        (
            "mempool/other.json".to_owned(),
            400,
            "Invalid URI format. Expected /rest/mempool/<info|contents>.json\r\n".to_owned(),
        ),
        ("mempool/info.bin".to_owned(), 404, "output format not found (available: json)\r\n".to_owned()),
        ("getutxos.json".to_owned(), 400, "Error: empty request\r\n".to_owned()),
        ("getutxos/x.json".to_owned(), 400, "Parse error\r\n".to_owned()),
        (
            format!("getutxos/{}.json", vec![format!("{UNKNOWN}-0"); 16].join("/")),
            400,
            "Error: max outpoints exceeded (max: 15, tried: 16)\r\n".to_owned(),
        ),
    ] {
        let answer = rest(&node, &format!("/rest/{path}")).await;
        assert_eq!((answer.status, answer.text()), (status, text), "{path}");
        assert_eq!(answer.content_type.as_deref(), Some("text/plain"));
    }
    assert_eq!(rest(&node, "/rest/nothing").await.status, 404);
}
