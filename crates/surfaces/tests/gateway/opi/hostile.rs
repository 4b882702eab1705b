use serde_json::json;

use super::scene::{address, blocks, get, hex, module, refused, with_tokens};
use crate::instance::Setup;

/// Paths with parameters that are wrong, and a word that the message holds.
pub(crate) fn wrong() -> Vec<(String, &'static str)> {
    let pkscript = format!("pkscript={}", hex(0));
    [
        ("balance", "ticker"),
        ("balance?ticker=", "ticker"),
        ("balance?ticker=ordi", "address or pkscript"),
        ("balance?ticker=ordi&pkscript=0", "pkscript"),
        ("balance?ticker=ordi&pkscript=zz", "pkscript"),
        ("balance?ticker=ordi&pkscript=é", "percent"),
        ("balance?ticker=ordi&address=nobody", "address"),
        ("balance?ticker=ordi&address=bc1qrj03km5h9ag24cpynyn3l5tvny9cyd0x0le42u", "regtest"),
        ("balance?ticker=ordi&ticker=other&pkscript=51", "twice"),
        ("balance?ticker=%&pkscript=51", "percent"),
        ("balance?ticker=%ff&pkscript=51", "percent"),
        ("token_summary", "ticker"),
        ("holders?ticker=ordi&limit=0", "limit"),
        ("holders?ticker=ordi&limit=-1", "limit"),
        ("holders?ticker=ordi&offset=x", "offset"),
        ("activity_on_block", "block_height"),
        ("activity_on_block?block_height=", "block_height"),
        ("activity_on_block?block_height=-1", "block_height"),
        ("activity_on_block?block_height=1.5", "block_height"),
        ("activity_on_block?block_height=0x1", "block_height"),
        ("activity_on_block?block_height=latest", "block_height"),
        ("activity_on_block?block_height=99999999999999999999999999", "not indexed"),
        ("balance_on_block?block_height=1&ticker=ordi", "pkscript"),
        ("balance_on_block?block_height=4294967296&ticker=ordi&pkscript=51", "not indexed"),
        ("event?inscription_id=", "inscription_id"),
        ("event?inscription_id=abc", "inscription_id"),
        ("history", "address, pkscript or height"),
        ("history?ticker=ordi", "address, pkscript or height"),
        ("history?height=1&cursor=5", "cursor"),
        ("history?height=1&cursor=a:b", "cursor"),
        ("history?height=1&cursor=1:99999999999", "cursor"),
        ("history?height=1&limit=0", "limit"),
        ("get_valid_tx_notes_of_wallet", "address or pkscript"),
        ("get_hash_of_all_activity?block_height=", "block_height"),
    ]
    .into_iter()
    .map(|(path, word)| (path.to_owned(), word))
    .chain([(format!("balance?ticker=ordi&address={}&{pkscript}", address(1)), "differ")])
    .collect()
}

#[tokio::test]
async fn wrong_parameters_are_refused_with_a_message_that_names_them() {
    let instance = with_tokens().await;
    for (path, word) in wrong() {
        let (status, message) = refused(&instance, &path.replace('é', "%E9")).await;
        assert_eq!(status, 400, "{path}");
        assert!(message.contains(word), "{path}: {message}");
    }
}

#[tokio::test]
async fn paths_that_do_not_exist_are_404_and_other_verbs_405() {
    let instance = with_tokens().await;
    for path in
        ["", "/v1", "/v1/brc20", "/v1/brc20/nothing", "/v1/brc20/balance/x", "/v1/runes/holders", "/v2/brc20/balance"]
    {
        let response = instance.get(&format!("/v4/opi{path}")).await;
        let body = response.json();
        assert_eq!(
            (response.status, &body["code"], &body["result"]),
            (404, &json!("NOT_FOUND"), &json!(null)),
            "{path}"
        );
    }
    for verb in ["POST", "PUT", "DELETE"] {
        let response = instance.send(verb, "/v4/opi/v1/brc20/balance", &[], "{}").await;
        assert_eq!((response.status, response.header("allow")), (405, Some("GET, HEAD, OPTIONS")), "{verb}");
    }
    // It stands beside the REST routes, not among them.
    assert_eq!(instance.get("/v4/api/opi/v1/brc20/block_height").await.status, 404);
}

#[tokio::test]
async fn hostile_tickers_find_nothing_and_break_nothing() {
    let instance = with_tokens().await;
    let long = "x".repeat(20_000);
    for ticker in ["%00", "ordi%00", "%00ordi", "%F0%9F%98%80", "%2F..%2F", "%27%3B--", "a%7Cb%3Bc", &long] {
        for path in ["balance?pkscript=51&", "token_summary?", "holders?", "get_valid_tx_notes_of_ticker?"] {
            let (status, _) = refused(&instance, &format!("{path}ticker={ticker}")).await;
            assert_eq!(status, 400, "{path} {ticker}");
        }
    }
    let script = "51".repeat(10_000);
    assert_eq!(refused(&instance, &format!("balance?ticker=ordi&pkscript={script}")).await.0, 400);
    assert_eq!(get(&instance, &format!("history?pkscript={script}")).await.status, 200);
}

#[tokio::test]
async fn a_list_that_is_too_long_asks_for_a_limit() {
    let mut setup = Setup { last_module: Some(module(blocks())), ..Setup::default() };
    setup.config.limits.list_records_max = 1;
    let instance = crate::instance::Instance::with(setup).await;
    let (status, message) = refused(&instance, "holders?ticker=ordi").await;
    assert_eq!(status, 400);
    assert!(message.contains("limit"), "{message}");
    assert_eq!(get(&instance, "holders?ticker=ordi&limit=1").await.status, 200);
}
