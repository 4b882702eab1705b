use serde_json::json;

use super::upstream::{Upstream, answer};
use super::{asking, opi_at};
use crate::opi::{paths, with_tokens, wrong};

/// row OP01
#[tokio::test]
async fn every_path_answers_alike_from_a_server_of_opi_and_from_our_own_index() {
    let own = with_tokens().await;
    let asking = asking(opi_at(&format!("http://{}/v4/opi/", own.address))).await;
    let paths: Vec<String> = paths().into_iter().chain(wrong().into_iter().map(|(path, _)| path)).collect();
    let mut found = 0;
    for path in paths {
        let path = format!("/v4/opi/v1/brc20/{}", path.replace('é', "%E9"));
        let (ours, theirs) = (own.get(&path).await, asking.get(&path).await);
        assert_eq!((theirs.status, theirs.text()), (ours.status, ours.text()), "{path}");
        assert_eq!(theirs.header("content-type"), ours.header("content-type"), "{path}");
        assert_eq!(theirs.header("x-indexed-height"), None, "{path}");
        // The height of the other server is unknown here.
        assert_eq!(theirs.header("etag"), None, "{path}");
        found += usize::from(ours.status == 200);
    }
    assert!(found >= 18, "{found} answers");
    // Below a key and with another verb as ever.
    let path = "/opi/v1/brc20/block_height";
    assert_eq!(asking.get(&asking.keyed(path)).await.text(), "3");
    assert_eq!(asking.send("POST", &format!("/v4{path}"), &[], "{}").await.status, 405);
    assert_eq!(asking.get("/v4/opi/v1/brc20/nothing").await.status, 404);
    // The routes are described although nothing is indexed here.
    assert!(asking.get("/v4/openapi.json").await.text().contains("brc20/holders"));
}

/// The published program knows no `balance`; the hashes of all balances take it minutes.
#[tokio::test]
async fn names_of_ours_are_asked_for_by_those_of_opi() {
    let server = Upstream::start(|received| {
        Box::pin(async move {
            match received.path.split('?').next().unwrap() {
                "/v1/brc20/get_current_balance_of_wallet" => answer(
                    200,
                    "",
                    r#"{"error":null,"result":{"overall_balance":"340282366920938463463374607431768211455"}}"#,
                ),
                "/v1/brc20/holders" => answer(400, "", r#"{"error":"not supported","result":null}"#),
                _ => answer(404, "", "Cannot GET"),
            }
        })
    })
    .await;
    let asking = asking(opi_at(&server.url())).await;
    let balance = asking.get("/v4/opi/v1/brc20/balance?ticker=A%26B&pkscript=51").await;
    let digits = r#"{"error":null,"result":{"overall_balance":"340282366920938463463374607431768211455"}}"#;
    assert_eq!((balance.status, balance.text()), (200, digits));
    assert_eq!(server.requests()[0].path, "/v1/brc20/get_current_balance_of_wallet?ticker=a%26b&pkscript=51");
    let holders = asking.get("/v4/opi/v1/brc20/holders?ticker=a").await;
    assert_eq!((holders.status, &holders.json()["code"]), (503, &json!("BRC20_NOT_INDEXED")));
    let summary = asking.get("/v4/opi/v1/brc20/token_summary?ticker=a").await;
    assert_eq!((summary.status, &summary.json()["result"]), (404, &json!(null)));
    // Routes about the caller do not use the other server.
    let received = server.requests().len();
    assert_eq!(asking.get("/v4/opi/v1/brc20/ip").await.text(), "127.0.0.1");
    assert_eq!(server.requests().len(), received);
}
