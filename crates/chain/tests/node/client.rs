//! The client: every way in which a node may answer.

use std::time::Duration;

use bitcoin::consensus::serialize;
use bitcoin::hashes::Hash;
use bitcoin::{Amount, Block, BlockHash, Txid};
use paraffin_chain::{NodeClient, NodeError, NodeStatus};
use paraffin_primitives::BlockId;
use serde_json::json;

use crate::chain_maker::{Chain, mine};
use crate::fake_node::{FakeNode, Reply, json_reply, ok};

fn invalid(outcome: Result<impl std::fmt::Debug, NodeError>) -> String {
    match outcome {
        Err(NodeError::Invalid(text)) => text,
        other => panic!("not refused: {other:?}"),
    }
}

fn unavailable(outcome: Result<impl std::fmt::Debug, NodeError>) -> String {
    match outcome {
        Err(NodeError::Unavailable(text)) => text,
        other => panic!("not unavailable: {other:?}"),
    }
}

fn status(client: &NodeClient) -> NodeStatus {
    client.status().borrow().clone()
}

fn html() -> Reply {
    Reply::Http { status: 200, content_type: "text/html; charset=utf-8", body: b"<html>welcome</html>".to_vec() }
}

/// A node whose REST interface serves `block` for every block.
async fn node_serving(chain: &Chain, block: Vec<u8>) -> (FakeNode, NodeClient) {
    let node = FakeNode::start(chain.clone()).await;
    node.hook(move |seen, _| seen.what.starts_with("/rest/block/").then(|| ok(block.clone())));
    let client = node.client();
    (node, client)
}

#[tokio::test]
async fn typed_calls_answer_from_the_chain() {
    let chain = Chain::new(5);
    let node = FakeNode::start(chain.clone()).await;
    let client = node.client();
    assert_eq!(client.block_count().await, Ok(5));
    assert_eq!(client.block_hash(3).await, Ok(chain.hash(3)));
    assert_eq!(client.best_block_hash().await, Ok(chain.tip()));
    assert_eq!(client.block(chain.hash(4)).await.unwrap(), serialize(&chain.blocks[4]));
    assert_eq!(client.spent_outputs(chain.hash(4)).await, Ok(Some(chain.spent(4))));
    assert_eq!(client.header(chain.hash(2)).await, Ok(Some(chain.blocks[2].header)));
    assert_eq!(client.header(BlockHash::all_zeros()).await, Ok(None));
    let transaction = &chain.blocks[3].txdata[1];
    assert_eq!(client.raw_transaction(transaction.compute_txid()).await.unwrap().unwrap(), serialize(transaction));
    assert_eq!(client.raw_transaction(Txid::all_zeros()).await, Ok(None));
    assert_eq!(status(&client).height, Some(5));
    assert!(status(&client).reachable);
    assert_eq!(node.count("getblockchaininfo"), 1, "the network is checked once");
}

#[tokio::test]
async fn errors_of_the_node_come_back_verbatim() {
    let node = FakeNode::start(Chain::new(1)).await;
    let client = node.client();
    let error = client.block_hash(99).await.unwrap_err();
    assert_eq!(error, NodeError::Rpc { code: -8, message: "Block height out of range".into() });
    assert_eq!(error.to_string(), "Block height out of range");
    let unknown = client.rpc("nosuchmethod", json!([])).await;
    assert_eq!(unknown, Err(NodeError::Rpc { code: -32601, message: "Method not found".into() }));
    let missing = client.block(BlockHash::all_zeros()).await;
    assert_eq!(missing, Err(NodeError::Rpc { code: -5, message: "Block not found".into() }));
    assert!(status(&client).reachable);
    assert_eq!(status(&client).error, None);
}

#[tokio::test]
async fn raw_results_pass_through_byte_for_byte() {
    let node = FakeNode::start(Chain::new(1)).await;
    let written = r#"{"fee" : 0.00001000, "a":1e-8,"total":20999999.97690000,"b":"é"}"#;
    node.hook(move |seen, _| {
        (seen.what == "getmempoolinfo").then(|| {
            let id = seen.id;
            let body = format!(r#"{{"result":{written},"error":null,"id":{id}}}"#).into_bytes();
            Reply::Http { status: 200, content_type: "application/json", body }
        })
    });
    let client = node.client();
    assert_eq!(client.rpc_raw("getmempoolinfo", json!([])).await.unwrap().get(), written);
    let value = client.rpc("getmempoolinfo", json!([])).await.unwrap();
    assert_eq!(value["fee"].to_string(), "0.00001000");
}

#[tokio::test]
async fn an_answer_with_another_hash_is_refused_with_both_hashes() {
    let chain = Chain::new(5);
    let (_node, client) = node_serving(&chain, serialize(&chain.blocks[2])).await;
    let text = invalid(client.block(chain.hash(3)).await);
    assert!(text.contains(&chain.hash(3).to_string()) && text.contains(&chain.hash(2).to_string()), "{text}");
    assert!(status(&client).error.unwrap().contains(&chain.hash(3).to_string()));
    assert_eq!(client.block(chain.hash(2)).await.unwrap(), serialize(&chain.blocks[2]));
    assert_eq!(status(&client).error, None);
}

#[tokio::test]
async fn truncated_and_altered_blocks_are_refused() {
    let chain = Chain::new(5);
    let whole = serialize(&chain.blocks[3]);
    let mut altered = whole.clone();
    *altered.last_mut().unwrap() ^= 1;
    for bytes in
        [whole[..whole.len() - 1].to_vec(), whole[..80].to_vec(), Vec::new(), altered, [whole, vec![0]].concat()]
    {
        let (_node, client) = node_serving(&chain, bytes).await;
        invalid(client.block(chain.hash(3)).await);
    }
}

#[tokio::test]
async fn a_wrong_merkle_root_is_refused() {
    let chain = Chain::new(5);
    let mut block = chain.blocks[3].clone();
    block.txdata[1].output[0].value = Amount::from_sat(1);
    let (_node, client) = node_serving(&chain, serialize(&block)).await;
    assert!(invalid(client.block(chain.hash(3)).await).contains("merkle root"));
}

#[tokio::test]
async fn repeated_transactions_that_keep_the_merkle_root_are_refused() {
    let mut chain = Chain::new(5);
    let mut block = chain.next_block(0);
    // Three transactions, the last one doubled, have the root of four: CVE-2012-2459.
    let mut third = block.txdata[1].clone();
    third.output[0].value = Amount::from_sat(7);
    block = crate::chain_maker::seal(block.header.prev_blockhash, 1, {
        let mut coinbase = block.txdata[0].clone();
        coinbase.output.truncate(1);
        vec![coinbase, block.txdata[1].clone(), third]
    });
    let mut repeated = block.clone();
    repeated.txdata.push(repeated.txdata[2].clone());
    assert!(repeated.check_merkle_root() && repeated.check_witness_commitment(), "the trick works");
    chain.blocks.push(block.clone());
    let (_node, client) = node_serving(&chain, serialize(&repeated)).await;
    assert!(invalid(client.block(block.block_hash()).await).contains("CVE-2012-2459"));
}

#[tokio::test]
async fn witnesses_without_a_commitment_or_against_it_are_refused() {
    let mut chain = Chain::new(5);
    let mut without: Block = chain.next_block(0);
    without.txdata[0].output.truncate(1);
    let without = mine(without);
    chain.blocks.push(without.clone());
    let (_node, client) = node_serving(&chain, serialize(&without)).await;
    assert!(invalid(client.block(without.block_hash()).await).contains("witness commitment"));

    let mut other = chain.blocks[4].clone();
    other.txdata[1].input[0].witness = bitcoin::Witness::from_slice(&[[8u8; 64]]);
    let (_node, client) = node_serving(&chain, serialize(&other)).await;
    assert!(invalid(client.block(other.block_hash()).await).contains("witness commitment"));
}

#[tokio::test]
async fn html_instead_of_rest_falls_back_and_html_instead_of_json_rpc_is_refused() {
    let chain = Chain::new(3);
    let node = FakeNode::start(chain.clone()).await;
    node.hook(|seen, _| seen.what.starts_with("/rest/").then(html));
    assert_eq!(node.client().block(chain.hash(2)).await.unwrap(), serialize(&chain.blocks[2]));
    node.hook(|_, _| Some(html()));
    assert!(invalid(node.client().block_count().await).contains("[node] url"));
}

#[tokio::test]
async fn a_node_that_hangs_or_hangs_up_is_not_available() {
    let node = FakeNode::start(Chain::new(3)).await;
    let client = node.client_with_timeout(Duration::from_secs(1));
    assert_eq!(client.block_count().await, Ok(3));
    let since = status(&client).since_unix;
    node.hook(|_, _| Some(Reply::Hang));
    assert!(unavailable(client.block_count().await).contains("1000 ms"));
    assert!(!status(&client).reachable && status(&client).since_unix >= since);
    node.hook(|_, _| Some(Reply::Close));
    unavailable(client.block_count().await);
    node.hook(|_, _| Some(Reply::CloseMidBody(b"{\"result\":3".to_vec())));
    assert!(unavailable(client.block_count().await).contains("middle"));
    node.unhook();
    assert_eq!(client.block_count().await, Ok(3));
    assert!(status(&client).reachable);
}

#[tokio::test]
async fn answers_above_the_limit_are_refused_when_announced_and_when_they_just_go_on() {
    let chain = Chain::new(3);
    let node = FakeNode::start(chain.clone()).await;
    let client = node.client();
    node.hook(|seen, _| seen.what.starts_with("/rest/").then_some(Reply::Announce(u64::MAX / 2)));
    assert!(invalid(client.block(chain.tip()).await).contains("4000000"));
    node.hook(|seen, _| seen.what.starts_with("/rest/").then_some(Reply::Endless));
    assert!(invalid(client.block(chain.tip()).await).contains("4000000"));
    node.hook(|_, _| Some(Reply::Endless));
    assert!(invalid(client.block_count().await).contains("67108864"));
    node.unhook();
    assert_eq!(client.block_count().await, Ok(3));
}

#[tokio::test]
async fn a_cookie_is_read_again_when_the_node_answers_401() {
    let node = FakeNode::start(Chain::new(3)).await;
    let directory = tempfile::tempdir().unwrap();
    let cookie = directory.path().join(".cookie");
    node.state.lock().credentials = Some("__cookie__:one".into());
    let client = node.client_with_cookie(cookie.clone());
    assert!(unavailable(client.block_count().await).contains("cookie_file"));
    std::fs::write(&cookie, "__cookie__:one\n").unwrap();
    assert_eq!(client.block_count().await, Ok(3));
    node.state.lock().credentials = Some("__cookie__:two".into());
    assert_eq!(client.block_count().await, Err(NodeError::Unauthorized));
    assert!(!status(&client).reachable);
    std::fs::write(&cookie, "__cookie__:two").unwrap();
    assert_eq!(client.block_count().await, Ok(3));
    std::fs::write(&cookie, "no colon").unwrap();
    assert_eq!(client.block_count().await, Ok(3), "a cookie that works is not read again");
}

#[tokio::test]
async fn user_and_password_are_sent_and_their_refusal_is_reported() {
    let node = FakeNode::start(Chain::new(3)).await;
    node.state.lock().credentials = Some("alice:pässword:".into());
    let auth =
        |password: &str| paraffin_chain::NodeAuth::UserPassword { user: "alice".into(), password: password.into() };
    let good = NodeClient::new(node.config(auth("pässword:"))).unwrap();
    assert_eq!(good.block_count().await, Ok(3));
    let bad = NodeClient::new(node.config(auth("other"))).unwrap();
    let error = bad.block_count().await.unwrap_err();
    assert_eq!(error, NodeError::Unauthorized);
    assert!(!error.to_string().contains("alice"));
}

#[tokio::test]
async fn a_node_that_warms_up_is_not_available_and_the_call_is_retried_later() {
    let node = FakeNode::start(Chain::new(3)).await;
    let client = node.client();
    let warming = json!({"result": null, "error": {"code": -28, "message": "Verifying blocks…"}, "id": 1});
    node.hook(move |_, _| Some(json_reply(500, &warming)));
    assert!(unavailable(client.block_count().await).contains("Verifying blocks…"));
    assert!(status(&client).error.unwrap().contains("Verifying blocks…"));
    node.unhook();
    assert_eq!(client.block_count().await, Ok(3));
}

#[tokio::test]
async fn a_full_work_queue_is_no_outage() {
    let node = FakeNode::start(Chain::new(3)).await;
    let client = node.client();
    assert_eq!(client.block_count().await, Ok(3));
    node.hook(|_, _| {
        let body = b"Work queue depth exceeded".to_vec();
        Some(Reply::Http { status: 503, content_type: "text/plain", body })
    });
    unavailable(client.block_count().await);
    assert!(status(&client).reachable);
    node.unhook();
    assert_eq!(client.block_count().await, Ok(3));
    assert_eq!(node.count("getblockchaininfo"), 1, "the connection was never taken for lost");
    // The same status from a node that stops or starts is an outage.
    for text in ["Request rejected during server shutdown", "Service temporarily unavailable: Loading block index"] {
        node.hook(move |_, _| {
            Some(Reply::Http { status: 503, content_type: "text/plain", body: text.as_bytes().to_vec() })
        });
        assert!(unavailable(client.block_count().await).contains(text));
        assert!(!status(&client).reachable);
        node.unhook();
        assert_eq!(client.block_count().await, Ok(3));
    }
}

#[tokio::test]
async fn a_block_that_was_followed_before_is_fetched_again_with_its_spent_outputs() {
    let chain = Chain::new(5);
    let node = FakeNode::start(chain.clone()).await;
    let id = BlockId { height: 4, hash: chain.hash(4) };
    let block = node.client().connected_block(id).await.unwrap();
    assert_eq!((block.id, &block.block, block.spent), (id, &chain.blocks[4], Some(chain.spent(4))));
}

#[tokio::test]
async fn another_chain_is_refused_before_any_other_call() {
    let node = FakeNode::start(Chain::new(3)).await;
    node.state.lock().chain_name = "main";
    let client = node.client();
    for _ in 0..2 {
        let Err(NodeError::WrongNetwork(text)) = client.block_count().await else { panic!("not refused") };
        assert!(text.contains("`main`") && text.contains("regtest"), "{text}");
    }
    assert_eq!(node.count("getblockcount"), 0);
    assert!(!status(&client).reachable);
    node.state.lock().chain_name = "regtest";
    assert_eq!(client.block_count().await, Ok(3));
}

#[tokio::test]
async fn without_rest_everything_is_done_over_json_rpc() {
    let chain = Chain::new(700);
    let node = FakeNode::start(chain.clone()).await;
    let by_rest = node.client().headers_after(chain.hash(1)).await.unwrap().unwrap();
    node.state.lock().serves_rest = false;
    let client = node.client();
    let by_rpc = client.headers_after(chain.hash(1)).await.unwrap().unwrap();
    assert_eq!(by_rest.len(), 699);
    assert_eq!(by_rpc, by_rest[..500], "one batch");
    assert_eq!(client.headers_after(chain.tip()).await, Ok(Some(vec![])));
    assert_eq!(client.headers_after(BlockHash::all_zeros()).await, Ok(None));
    assert_eq!(client.block(chain.hash(9)).await.unwrap(), serialize(&chain.blocks[9]));
    assert_eq!(client.spent_outputs(chain.hash(9)).await, Ok(None));
    let requests = node.count("/rest/");
    client.block(chain.hash(8)).await.unwrap();
    client.spent_outputs(chain.hash(8)).await.unwrap();
    assert_eq!(node.count("/rest/"), requests, "a missing route is not tried again");
}

#[tokio::test]
async fn headers_of_a_stale_branch_are_none() {
    let chain = Chain::new(10);
    let node = FakeNode::start(chain.clone()).await;
    node.set_chain(&chain.fork(5, 9, 1));
    for serves_rest in [true, false] {
        node.state.lock().serves_rest = serves_rest;
        assert_eq!(node.client().headers_after(chain.tip()).await, Ok(None), "{serves_rest}");
    }
}

#[tokio::test]
async fn headers_that_begin_elsewhere_are_refused() {
    let chain = Chain::new(10);
    let node = FakeNode::start(chain.clone()).await;
    let others: Vec<u8> = chain.blocks[4..].iter().flat_map(|block| serialize(&block.header)).collect();
    node.hook(move |seen, _| seen.what.starts_with("/rest/headers").then(|| ok(others.clone())));
    let text = invalid(node.client().headers_after(chain.hash(3)).await);
    assert!(text.contains(&chain.hash(3).to_string()) && text.contains(&chain.hash(4).to_string()), "{text}");
}

#[tokio::test]
async fn a_header_that_is_another_is_refused() {
    let chain = Chain::new(3);
    let node = FakeNode::start(chain.clone()).await;
    let other = bitcoin::consensus::encode::serialize_hex(&chain.blocks[2].header);
    node.hook(move |seen, _| {
        let reply = json!({"result": other, "error": null, "id": seen.id});
        (seen.what == "getblockheader").then(|| json_reply(200, &reply))
    });
    invalid(node.client().header(chain.hash(1)).await);
}

#[tokio::test]
async fn routes_are_tried_again_after_a_reconnect() {
    let chain = Chain::new(3);
    let mut node = FakeNode::start(chain.clone()).await;
    node.state.lock().serves_rest = false;
    let client = node.client();
    assert_eq!(client.spent_outputs(chain.hash(3)).await, Ok(None));
    node.stop().await;
    unavailable(client.block_count().await);
    node.state.lock().serves_rest = true;
    node.restart().await;
    assert_eq!(client.spent_outputs(chain.hash(3)).await, Ok(Some(chain.spent(3))));
}

#[tokio::test]
async fn spent_outputs_that_do_not_decode_are_refused() {
    let chain = Chain::new(3);
    let node = FakeNode::start(chain.clone()).await;
    node.hook(|seen, _| seen.what.starts_with("/rest/spenttxouts").then(|| ok(vec![5, 0, 1])));
    invalid(node.client().spent_outputs(chain.hash(3)).await);
}

#[tokio::test]
async fn parts_of_a_block_come_from_the_node_or_are_cut_from_the_whole() {
    let chain = Chain::new(3);
    let bytes = serialize(&chain.blocks[3]);
    let length = bytes.len() as u32;
    for serves_part in [true, false] {
        let node = FakeNode::start(chain.clone()).await;
        node.state.lock().serves_part = serves_part;
        let client = node.client();
        for (offset, size) in [(0, 80), (81, 100), (length - 1, 1), (0, length)] {
            let part = client.block_part(chain.hash(3), offset, size).await.unwrap();
            assert_eq!(part, bytes[offset as usize..(offset + size) as usize], "{serves_part} {offset} {size}");
        }
        for (offset, size) in [(0, length + 1), (length, 1), (u32::MAX, 1), (0, u32::MAX), (u32::MAX, u32::MAX)] {
            let outcome = client.block_part(chain.hash(3), offset, size).await;
            assert!(
                matches!(outcome, Err(NodeError::Rpc { code: -8, .. })),
                "{serves_part} {offset} {size} {outcome:?}"
            );
        }
        assert_eq!(node.count("/rest/block/"), usize::from(!serves_part), "the whole block is fetched once");
    }
    let node = FakeNode::start(chain.clone()).await;
    node.hook(|seen, _| seen.what.starts_with("/rest/blockpart").then(|| ok(vec![0; 3])));
    invalid(node.client().block_part(chain.hash(3), 0, 80).await);
}

#[tokio::test]
async fn a_connection_closed_under_us_costs_one_retry_and_only_where_that_is_harmless() {
    let node = FakeNode::start(Chain::new(3)).await;
    let client = node.client();
    assert_eq!(client.block_count().await, Ok(3));
    let mut closed = false;
    node.hook(move |_, _| (!std::mem::replace(&mut closed, true)).then_some(Reply::Close));
    assert_eq!(client.block_count().await, Ok(3));
    let mut closed = false;
    node.hook(move |_, _| (!std::mem::replace(&mut closed, true)).then_some(Reply::Close));
    unavailable(client.rpc("sendrawtransaction", json!(["00"])).await);
    assert_eq!(node.count("sendrawtransaction"), 1);
}

#[tokio::test]
async fn connections_are_kept_and_calls_are_bounded() {
    let node = FakeNode::start(Chain::new(3)).await;
    let client = node.client();
    for _ in 0..20 {
        client.block_count().await.unwrap();
    }
    assert_eq!(node.state.lock().connections, 1);
    node.hook(|_, _| Some(Reply::Later(Duration::from_millis(20))));
    let calls: Vec<_> = (0..64)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.block_count().await })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), Ok(3));
    }
    assert!(node.state.lock().connections <= 9, "at most eight calls at once");
}

#[tokio::test]
async fn a_node_that_hangs_costs_all_waiting_calls_one_timeout() {
    let node = FakeNode::start(Chain::new(3)).await;
    node.hook(|_, _| Some(Reply::Hang));
    let client = node.client_with_timeout(Duration::from_millis(300));
    let start = std::time::Instant::now();
    let calls: Vec<_> = (0..50)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.block_count().await })
        })
        .collect();
    for call in calls {
        unavailable(call.await.unwrap());
    }
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    assert!(node.count("getblockchaininfo") <= 2);
}

#[tokio::test]
async fn no_error_text_names_an_address_or_a_file() {
    let mut node = FakeNode::start(Chain::new(3)).await;
    let client = node.client();
    node.stop().await;
    let port = node.address.port().to_string();
    assert!(!client.block_count().await.unwrap_err().to_string().contains(&port));
    let client = node.client_with_cookie("/nowhere/secret.cookie".into());
    assert!(!client.block_count().await.unwrap_err().to_string().contains("secret"));
}
