use serde_json::json;

use super::scene::{address, refused, result, with_tokens};

#[tokio::test]
async fn what_a_block_did_is_gone_with_it() {
    let mut instance = with_tokens().await;
    let balance = format!("balance?ticker=ordi&address={}", address(0));
    let before = result(&instance, "get_hash_of_all_current_balances").await;
    let hashes = result(&instance, "get_hash_of_all_activity?block_height=2").await;
    instance.chain.undo();
    let undone = result(&instance, &balance).await;
    assert_eq!((&undone["available_balance"], &undone["block_height"]), (&json!("49500000000000000000"), &json!(2)));
    assert_eq!(undone["overall_balance"], "100000000000000000000");
    assert_eq!(refused(&instance, "activity_on_block?block_height=3").await.0, 400);
    assert_eq!(result(&instance, "get_hash_of_all_activity?block_height=2").await, hashes);
    // The hash over all balances is that of the new tip.
    let after = result(&instance, "get_hash_of_all_current_balances").await;
    assert_eq!(after["block_height"], 2);
    assert_ne!(after["current_balances_hash"], before["current_balances_hash"]);
    instance.chain.undo();
    instance.chain.undo();
    assert_eq!(refused(&instance, &balance).await, (400, "no balance found".into()));
    assert_eq!(refused(&instance, "token_summary?ticker=ordi").await, (400, "no ticker found".into()));
}
