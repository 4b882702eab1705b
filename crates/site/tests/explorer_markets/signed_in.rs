//! Parts of the chain's pages that only signed-in users see.

use hyper::StatusCode;
use serde_json::{Value, json};

use crate::world::{World, hostile, result};

fn replacements(of: &str) -> Value {
    let side = |txid: &str, fee: Value| json!({ "txid": txid, "vsize": 200, "fee": fee });
    result(json!({ "replacements": [
        { "at": 1_799_999_940_000_u64, "replaced": side(of, json!(200)), "by": side(&"ef".repeat(32), json!(2_000)) },
        { "at": 1_799_999_000_000_u64, "replaced": side(&hostile(), json!(null)), "by": side(&"12".repeat(32), json!(null)) },
    ] }))
}

#[tokio::test]
async fn the_mempool_lists_which_transactions_were_replaced_and_by_which() {
    let totals = result(json!({ "count": 2, "vsize": 400, "total_fee": 2_400, "fee_histogram": [] }));
    let answers = vec![("esplora_mempool", 200, totals), ("mempool_replacements", 200, replacements(&"cd".repeat(32)))];
    let mut world = World::new(answers).await;
    let page = world.page("/explorer/mempool").await;
    assert!(page.contains("Sign in to see") && !page.contains(&"cd".repeat(32)), "{page}");
    assert!(world.bodies("mempool_replacements").is_empty());
    world.sign_in().await;
    let page = world.page("/explorer/mempool").await;
    let link = format!("href=\"/explorer/tx/{}\"", "ef".repeat(32));
    for text in [&"cd".repeat(32), &link, "<td class=\"number\">1</td>", "<td class=\"number\">10</td>", "1 minute ago"]
    {
        assert!(page.contains(text), "{text}: {page}");
    }
}

#[tokio::test]
async fn a_transaction_that_was_replaced_names_its_successor() {
    let (gone, unknown) = ("cd".repeat(32), "34".repeat(32));
    let missing =
        json!({ "error": { "code": -32004, "message": "no such transaction", "data": { "code": "NOT_FOUND" } } });
    let answers = vec![("esplora_tx", 200, missing), ("mempool_replacements", 200, replacements(&gone))];
    let mut world = World::new(answers).await;
    let (status, page) = world.get(&format!("/explorer/tx/{gone}")).await;
    assert!(status == StatusCode::NOT_FOUND && !page.contains(&"ef".repeat(32)), "{page}");
    world.sign_in().await;
    let (status, page) = world.get(&format!("/explorer/tx/{gone}")).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(
        page.contains(&format!("was replaced 1 minute ago by {}, which pays 10 sat/vB", "ef".repeat(32))),
        "{page}"
    );
    assert_eq!(world.bodies("mempool_replacements")[0]["params"]["txid"], gone);
    let (_, page) = world.get(&format!("/explorer/tx/{unknown}")).await;
    assert!(!page.contains("was replaced"), "{page}");
}

#[tokio::test]
async fn the_status_has_the_memory_budgets() {
    let mut world = World::new(Vec::new()).await;
    assert!(!world.page("/explorer/status").await.contains("Scripts"));
    world.sign_in().await;
    let page = world.page("/explorer/status").await;
    for text in ["<th scope=\"row\">Scripts</th>", "3 MiB", "4 MiB", "75 %"] {
        assert!(page.contains(text), "{text}: {page}");
    }
}
