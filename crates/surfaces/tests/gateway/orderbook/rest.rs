use paraffin_orderbook::Limits;
use serde_json::{Value, json};

use super::{BOOK, FIRE, OrderbookFixture, checksum, listing};
use crate::instance::Setup;

/// row AU17
/// row OB01
/// row OB02
/// row OB03
/// row OB04
#[tokio::test]
async fn what_an_admin_feeds_any_key_reads() {
    let fixture = OrderbookFixture::start().await;
    assert_eq!(fixture.get("/markets").await.json(), json!({ "markets": [] }));
    let mut matched = listing("clx2", "matched", 1_200, 2);
    matched["after"]["module"] = "ember".into();
    let listings = json!([
        listing("clx1", "open", 7, 1),
        matched,
        listing("clx3", "pending", 9, 3),
        listing("clx4", "filled", 9, 4)
    ]);
    fixture.ingest(&listings).await;
    // One event needs no array.
    let loan = json!({
        "op": "c", "source": { "table": "lending_offers", "lsn": 9 },
        "after": { "id": "clx9", "role": "creditor", "loan_token_id": "2:0", "loan_amount": "1000000", "collateral_token_id": "32:0",
            "collateral_amount": "5", "apr_bp": "1200", "status": "open" },
    });
    fixture.ingest(&loan).await;
    let pair = "lending:mainnet:pair:2:0_32:0";
    let record = |source: &str, market: &str, count: u32| json!({ "source": source, "network": "mainnet", "market_key": market, "open_orders": count });
    let markets = json!([
        record("lending", pair, 1),
        record("orbitals", "orbitals:mainnet:module:ember", 1),
        record("orbitals", FIRE, 2),
    ]);
    let answer = fixture.get("/markets").await;
    assert_eq!((answer.status, answer.header("cache-control")), (200, Some("no-store")));
    assert_eq!(answer.json(), json!({ "markets": markets }));
    for (market, ids) in [
        (BOOK, &["clx1", "clx2", "clx3"][..]),
        (FIRE, &["clx1", "clx3"]),
        ("orbitals:mainnet:collection:2:100", &["clx1", "clx2", "clx3"]),
        ("lending:mainnet:book:*", &["clx9"]),
        ("lending:mainnet:loan-token:2:0", &["clx9"]),
        (pair, &["clx9"]),
        ("lending:mainnet:pair:32:0_2:0", &[]),
        ("orbitals:mainnet:module:a:b:c:d:e", &[]),
    ] {
        for market in [market.to_owned(), market.replace(':', "%3A").replace('*', "%2A")] {
            let answer = fixture.get(&format!("/snapshot?market={market}")).await.json();
            let orders = answer["orders"].as_array().unwrap();
            let found: Vec<&str> = orders.iter().map(|order| order["id"].as_str().unwrap()).collect();
            assert_eq!(found, ids, "{market}");
            assert_eq!((&answer["checksum"], &answer["seq"]), (&json!(checksum(orders)), &json!(4)));
        }
    }
    let order = fixture.get("/order/lending/clx9").await.json();
    assert_eq!(
        (&order["side"], &order["price"], &order["marketKey"]),
        (&json!("creditor"), &json!("1200"), &json!(pair))
    );
    assert_eq!(fixture.get(&format!("/snapshot?market={pair}")).await.json()["orders"], json!([order]));
    // One that has ended can be asked for.
    assert_eq!(fixture.get("/order/orbitals/clx4/").await.json()["status"], "filled");
    for unknown in ["/order/orbitals/clx9", "/order/nobody/clx1", "/order/orbitals/%F0%9F%A6%80"] {
        let answer = fixture.get(unknown).await;
        assert_eq!((answer.status, &answer.json()["code"]), (404, &json!("NOT_FOUND")));
    }
}

/// row AU09
/// row AU17
#[tokio::test]
async fn only_an_admin_key_feeds_and_no_key_reads_nothing() {
    let fixture = OrderbookFixture::start().await;
    let refused = fixture
        .instance
        .post(&fixture.instance.keyed("/orderbook/ingest"), listing("clx1", "open", 1, 1).to_string())
        .await;
    assert_eq!((refused.status, &refused.json()["code"]), (403, &json!("ADMIN_KEY_REQUIRED")));
    assert_eq!(fixture.get("/order/orbitals/clx1").await.status, 404);
    for path in ["markets", "snapshot?market=a:b:c:d", "order/a/b", "events", "ws", "ingest"] {
        let answer = fixture.instance.get(&format!("/v4/orderbook/{path}")).await;
        assert_eq!((answer.status, &answer.json()["code"]), (401, &json!("INVALID_API_KEY")), "{path}");
    }
}

#[tokio::test]
async fn what_is_wrong_is_refused_whole_and_named() {
    let fixture = OrderbookFixture::start().await;
    let good = listing("clx1", "open", 1, 1);
    let broken = |change: &dyn Fn(&mut Value)| {
        let mut event = listing("clx2", "open", 1, 2);
        change(&mut event);
        event
    };
    let without_op = broken(&|event| {
        event.as_object_mut().unwrap().remove("op");
    });
    let events = [
        (json!([good, good, without_op]), "event 2: op is required"),
        (without_op, "event 0: op is required"),
        (json!([good, broken(&|event| event["after"]["price"] = "NaN".into())]), "event 1: price must be"),
        (
            json!([good, broken(&|event| event["after"]["status"] = "asleep".into())]),
            "event 1: status is no known state",
        ),
        (json!([good, [good]]), "event 1: the event is no object"),
        (json!("text"), "the body must be one change event"),
    ];
    for (body, reason) in events {
        let answer = fixture.post(&body.to_string()).await;
        assert_eq!((answer.status, &answer.json()["code"]), (400, &json!("INVALID_REQUEST")));
        assert!(answer.json()["error"].as_str().unwrap().starts_with(reason), "{}", answer.text());
    }
    for body in ["", "{", "[{\"op\":NaN}]", "\u{0}"] {
        assert_eq!(fixture.post(body).await.status, 400, "{body}");
    }
    assert_eq!(fixture.get("/order/orbitals/clx1").await.status, 404);
    let mut huge = good.clone();
    huge["after"]["price"] = format!("1{}", "0".repeat(80)).into();
    fixture.ingest(&huge).await;
    assert_eq!(fixture.get("/order/orbitals/clx1").await.json()["price"], huge["after"]["price"]);
    for path in [
        "/snapshot",
        "/snapshot?market=",
        "/snapshot?market=orbitals",
        "/snapshot?market=a:b:c:",
        "/snapshot?market=%zz",
        "/events?limit=0",
        "/events?since=-1",
        "/events?limit=x",
    ] {
        let answer = fixture.get(path).await;
        assert_eq!((answer.status, &answer.json()["statusCode"]), (400, &json!(400)), "{path}");
    }
    for path in ["", "/order", "/order/orbitals", "/order/a/b/c", "/other"] {
        assert_eq!(fixture.get(path).await.status, 404, "{path}");
    }
    let wrong = fixture.get("/ingest").await;
    assert_eq!((wrong.status, wrong.header("allow")), (405, Some("POST, OPTIONS")));
    let wrong = fixture.instance.post(&fixture.instance.keyed("/orderbook/markets"), "{}").await;
    assert_eq!((wrong.status, wrong.header("allow")), (405, Some("GET, HEAD, OPTIONS")));
}

/// row OB05
#[tokio::test]
async fn every_event_is_in_the_durable_stream_as_it_came() {
    let fixture = OrderbookFixture::start().await;
    let events = [
        listing("clx1", "open", 1, 1),
        listing("clx1", "open", 1, 1),
        json!({ "op": "m" }),
        json!({ "op": "c", "source": { "table": "users" }, "after": {} }),
    ];
    fixture.ingest(&json!(events)).await;
    let page = fixture.get("/events?limit=3").await.json();
    assert_eq!((&page["next"], &page["has_more"]), (&json!(3), &json!(true)));
    let rest = fixture.get("/events?since=3").await.json();
    assert_eq!((&rest["next"], &rest["has_more"]), (&json!(4), &json!(false)));
    let all: Vec<&Value> =
        page["events"].as_array().unwrap().iter().chain(rest["events"].as_array().unwrap()).collect();
    for (place, event) in all.iter().enumerate() {
        assert_eq!((&event["seq"], &event["event"]), (&json!(place + 1), &events[place]));
        assert!(event["received_at"].as_u64().unwrap() > 1_700_000_000_000_000);
    }
    assert_eq!(fixture.get("/events?since=4").await.json(), json!({ "events": [], "next": 4, "has_more": false }));
}

/// row OB06
#[tokio::test]
async fn while_events_cannot_be_kept_the_answer_is_503_and_reads_go_on() {
    let fixture = OrderbookFixture::start().await;
    fixture.ingest(&listing("clx1", "open", 1, 1)).await;
    let orderbook = std::sync::Arc::clone(&fixture.orderbook);
    tokio::task::spawn_blocking(move || orderbook.close()).await.unwrap();
    let answer = fixture.post(&listing("clx2", "open", 1, 2).to_string()).await;
    assert_eq!((answer.status, &answer.json()["code"]), (503, &json!("INGEST_UNAVAILABLE")));
    assert_eq!(fixture.get("/order/orbitals/clx1").await.status, 200);
    assert_eq!(fixture.get("/events").await.status, 503);
}

async fn metrics_of(fixture: &OrderbookFixture) -> String {
    crate::client::request(fixture.instance.metrics, "GET", "/metrics", &[], b"").await.text().to_owned()
}

#[tokio::test]
async fn metrics_and_health_report_the_orderbook() {
    let fixture = OrderbookFixture::start().await;
    fixture.ingest(&json!([listing("clx1", "open", 1, 1), listing("clx2", "filled", 1, 2)])).await;
    assert_eq!(fixture.post("[1]").await.status, 400);
    assert_eq!(fixture.instance.get("/v4/api/health").await.json()["orderbook"], json!({ "stream": "ready" }));
    let metrics = metrics_of(&fixture).await;
    for line in [
        "paraffin_orderbook_events_total 2",
        "paraffin_orderbook_requests_refused_total{reason=\"invalid\"} 1",
        "paraffin_orderbook_requests_refused_total{reason=\"unavailable\"} 0",
        "paraffin_orderbook_messages_skipped_total 0",
        "paraffin_orderbook_stream_ready 1",
        "paraffin_orderbook_active_orders 1",
        "paraffin_orderbook_changes_total 1",
        "paraffin_orderbook_subscribers 0",
        "# TYPE paraffin_orderbook_events_total counter",
    ] {
        assert!(metrics.lines().any(|reported| reported == line), "{line}\n{metrics}");
    }
    let orderbook = std::sync::Arc::clone(&fixture.orderbook);
    tokio::task::spawn_blocking(move || orderbook.close()).await.unwrap();
    assert_eq!(fixture.post(&listing("clx3", "open", 1, 3).to_string()).await.status, 503);
    let health = fixture.instance.get("/v4/api/health").await;
    assert_eq!((health.status, &health.json()["status"]), (200, &json!("degraded")));
    assert_eq!(health.json()["orderbook"], json!({ "stream": "away" }));
    let metrics = metrics_of(&fixture).await;
    assert!(metrics.contains("paraffin_orderbook_stream_ready 0"), "{metrics}");
    assert!(metrics.contains("paraffin_orderbook_requests_refused_total{reason=\"unavailable\"} 1"), "{metrics}");
}

#[tokio::test]
async fn a_market_is_read_no_further_than_an_answer_may_be_long() {
    let mut setup = Setup::default();
    setup.config.limits.response_bytes_max = 100_000;
    let fixture = OrderbookFixture::of(Limits::default(), setup).await;
    let listings = |from: u64| (from..from + 300).map(|at| listing(&format!("clx{at}"), "open", 7, at)).collect();
    fixture.ingest(&Value::Array(listings(1))).await;
    let fits = fixture.get(&format!("/snapshot?market={BOOK}")).await;
    assert_eq!(fits.json()["orders"].as_array().map(Vec::len), Some(300), "{} bytes", fits.body.len());
    for from in [301, 601, 901] {
        fixture.ingest(&Value::Array(listings(from))).await;
    }
    let refused = fixture.get(&format!("/snapshot?market={BOOK}")).await;
    assert_eq!((refused.status, &refused.json()["code"]), (400, &json!("RESPONSE_TOO_LARGE")));
}
