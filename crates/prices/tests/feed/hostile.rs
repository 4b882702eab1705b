//! Endpoints that answer falsely, break off, flood or keep silent: the last price stands, no false price is taken, memory is bounded.

use std::sync::Arc;

use serde_json::json;

use crate::endpoint::{BITCOIN, Fault, Instead, Kind, POOL, USD};
use crate::rig::{NOW, Rig, failure, first_price, price_of, until};

const SLOT0: &str = "0x3850c7bd";

/// Replaces the answer of one kind of call.
fn fault(method: &'static str, selector: &'static str, instead: Instead) -> Fault {
    Arc::new(move |called, _, data| (called == method && data == selector).then(|| instead.clone()))
}

fn words(words: &[&str]) -> Instead {
    let text = words.iter().map(|word| format!("{word:0>64}")).collect::<Vec<_>>().concat();
    Instead::Result(json!(format!("0x{text}")))
}

fn slot0(sqrt_price: &str, tick: &str) -> Instead {
    words(&[sqrt_price, tick, "0", "1", "1", "0", "1"])
}

fn html() -> Instead {
    Instead::Http(200, "content-type: text/html\r\n", "<html>Sign in</html>".to_owned())
}

/// Every faulty answer with a word of the error that it causes.
fn faults() -> Vec<(&'static str, Fault, &'static str)> {
    let block =
        |number: &str, time: u64| Instead::Result(json!({ "number": number, "timestamp": format!("{time:#x}") }));
    let most = "fffd8963efd1fc6a506488495d951d5263988d25";
    let wide = "f".repeat(64);
    vec![
        ("html", fault("eth_blockNumber", "", html()), "something else"),
        ("html for calls", fault("eth_call", SLOT0, html()), "something else"),
        ("no json", fault("eth_blockNumber", "", Instead::Http(200, "", "{\"id\":".to_owned())), "something else"),
        ("empty", fault("eth_blockNumber", "", Instead::Http(200, "", String::new())), "something else"),
        ("deep", fault("eth_blockNumber", "", Instead::Http(200, "", "[".repeat(100_000))), "something else"),
        ("other id", fault("eth_blockNumber", "", Instead::OtherId), "something else"),
        (
            "redirect",
            fault("eth_blockNumber", "", Instead::Http(302, "location: http://127.0.0.1:1/\r\n", String::new())),
            "redirects",
        ),
        ("server error", fault("eth_blockNumber", "", Instead::Http(502, "", "bad gateway".to_owned())), "502"),
        ("unauthorized", fault("eth_blockNumber", "", Instead::Http(401, "", String::new())), "key"),
        ("slow down", fault("eth_blockNumber", "", Instead::Http(429, "", String::new())), "fewer calls"),
        (
            "error",
            fault(
                "eth_call",
                SLOT0,
                Instead::Error(json!({ "code": -32603, "message": "0123456789abcdef\u{1b}[31m" })),
            ),
            "refused",
        ),
        ("error without a code", fault("eth_blockNumber", "", Instead::Error(json!("no"))), "no message"),
        ("hang up", fault("eth_blockNumber", "", Instead::HangUp), "closed"),
        ("silence", fault("eth_blockNumber", "", Instead::Silence), "no answer"),
        ("drip", fault("eth_blockNumber", "", Instead::Drip), "no answer"),
        ("flood", fault("eth_blockNumber", "", Instead::Flood), "above the limit"),
        ("huge", fault("eth_blockNumber", "", Instead::Http(200, "", " ".repeat(2 << 20))), "above the limit"),
        ("null", fault("eth_blockNumber", "", Instead::Result(json!(null))), "no number"),
        ("number", fault("eth_blockNumber", "", Instead::Result(json!(5))), "no number"),
        (
            "head of the far future",
            fault("eth_blockNumber", "", Instead::Result(json!("0xffffffffffffffff"))),
            "no block",
        ),
        ("block of another number", fault("eth_getBlockByNumber", "", block("0x1", NOW)), "block 1"),
        ("block of the future", fault("eth_getBlockByNumber", "", block("0x1312cfe", NOW + 3_600)), "ahead"),
        ("block at the end of time", fault("eth_getBlockByNumber", "", block("0x1312cfe", u64::MAX)), "ahead"),
        ("odd hex", fault("eth_call", SLOT0, Instead::Result(json!("0x123"))), "hex"),
        (
            "truncated hex",
            fault("eth_call", SLOT0, Instead::Result(json!(format!("0x{}", "0".repeat(64))))),
            "32 bytes",
        ),
        ("no text", fault("eth_call", SLOT0, Instead::Result(json!({}))), "no text"),
        ("price zero", fault("eth_call", SLOT0, slot0("0", "0")), "sqrtPriceX96"),
        ("price at the top", fault("eth_call", SLOT0, slot0(most, "d89e7")), "below 1 or above"),
        ("price beyond the top", fault("eth_call", SLOT0, slot0(&wide, "0")), "sqrtPriceX96"),
        ("tick of another price", fault("eth_call", SLOT0, slot0("1000000000000000000000000", "5")), "disagree"),
        ("tick out of range", fault("eth_call", SLOT0, slot0("1000000000000000000000000", "d89e9")), "tick"),
        ("no liquidity", fault("eth_call", "0x1a686502", words(&["0"])), "liquidity"),
        (
            "mean of another time",
            fault("eth_call", "0x883bdbfd", words(&["40", "a0", "2", "0", "0", "2", "0", "0"])),
            "mean",
        ),
        (
            "mean beyond all ticks",
            fault("eth_call", "0x883bdbfd", words(&["40", "a0", "2", "0", "7fffffffffffff", "2", "0", "0"])),
            "below 1 or above",
        ),
        (
            "lists at other offsets",
            fault("eth_call", "0x883bdbfd", words(&["0", "0", "2", "0", "0", "2", "0", "0"])),
            "list",
        ),
    ]
}

#[tokio::test]
async fn no_faulty_answer_becomes_the_first_price() {
    for (name, fault, word) in faults() {
        let rig = Rig::new(|_| {}).await;
        rig.endpoint.set_fault(Some(fault));
        let feed = rig.start();
        let message = failure(&feed).await.to_string();
        // Before a pool is identified, a refusal of `slot0()` makes it one of the other kind.
        assert!(message.contains(word) || (name == "error" && message.contains("refused")), "{name}: {message}");
        assert!(
            !message.contains("0123456789abcdef") && !message.contains("127.0.0.1") && !message.contains('\u{1b}'),
            "{name}: {message}"
        );
        assert_eq!(feed.prices().current(), None, "{name}");
        feed.stop().await;
    }
}

#[tokio::test]
async fn a_faulty_answer_leaves_the_last_price_until_it_is_stale() {
    for (name, fault, _) in faults() {
        let rig = Rig::new(|_| {}).await;
        let feed = rig.start();
        let before = first_price(&feed).await;
        rig.endpoint.set_fault(Some(fault));
        failure(&feed).await;
        assert_eq!(feed.prices().current().as_ref(), Some(&before), "{name}");
        rig.pass_alone(3_600);
        let after = feed.prices().current().unwrap();
        assert_eq!((after.newest, after.is_stale), (before.newest, true), "{name}");
        feed.stop().await;
    }
}

#[tokio::test]
async fn another_chain_or_other_tokens_are_named() {
    type Change = fn(&mut crate::endpoint::World);
    let cases: [(Change, &str); 3] = [
        (|world| world.chain_id = 137, "chain 137, but [prices] chain_id is 1"),
        (|world| world.decimals[0] = 255, "decimals is outside its range"),
        (|world| world.decimals[1] = 37, "decimals is outside its range"),
    ];
    for (change, text) in cases {
        let rig = Rig::new(change).await;
        let feed = rig.start();
        let message = failure(&feed).await.to_string();
        assert!(message.contains(text), "{message}");
        assert_eq!(feed.prices().current(), None);
        feed.stop().await;
    }
    for (bitcoin, usd) in [(BITCOIN, BITCOIN.replace('2', "3")), (USD, POOL.to_owned())] {
        let mut rig = Rig::new(|_| {}).await;
        rig.config.bitcoin_token = bitcoin.parse().unwrap();
        rig.config.usd_token = usd.parse().unwrap();
        let feed = rig.start();
        let message = failure(&feed).await.to_string();
        assert!(message.contains(BITCOIN) && message.contains(USD) && message.contains("usd_token"), "{message}");
        feed.stop().await;
    }
    // Nothing at the address of the pool.
    let mut rig = Rig::new(|_| {}).await;
    rig.config.pool = USD.parse().unwrap();
    let feed = rig.start();
    failure(&feed).await;
    feed.stop().await;
}

#[tokio::test]
async fn a_chain_that_changes_behind_the_address_is_noticed() {
    let rig = Rig::new(|_| {}).await;
    let feed = rig.start();
    let before = first_price(&feed).await;
    // One failure is enough for everything to be checked again.
    rig.endpoint.set_fault(Some(fault("eth_blockNumber", "", Instead::HangUp)));
    failure(&feed).await;
    rig.endpoint.change(|world| world.chain_id = 5);
    rig.endpoint.set_fault(None);
    until("the other chain", || feed.failure().filter(|error| error.to_string().contains("chain 5"))).await;
    assert_eq!(feed.prices().current(), Some(before));
    feed.stop().await;
}

/// A pool that someone pushes stands far from its mean; a price that jumps waits for an hour.
#[tokio::test]
async fn a_price_far_from_the_mean_or_from_the_last_one_is_not_taken() {
    let rig = Rig::new(|_| {}).await;
    let feed = rig.start();
    let prices = feed.prices();
    let before = first_price(&feed).await;
    rig.endpoint.change(|world| world.mean = Some(61_000.0));
    rig.pass(60);
    assert!(failure(&feed).await.to_string().contains("mean"));
    rig.endpoint.change(|world| (world.dollars, world.mean) = (|_| 50_000.0, None));
    until("the jump", || feed.failure().filter(|error| error.to_string().contains("USD after"))).await;
    assert_eq!(prices.current().unwrap().newest, before.newest);
    rig.pass(3_600);
    price_of(&prices, 50_000.0).await;
    feed.stop().await;
    // The same holds for a pool without a mean.
    let rig = Rig::new(|world| world.kind = Kind::V2).await;
    let feed = rig.start();
    first_price(&feed).await;
    rig.endpoint.change(|world| world.dollars = |_| 90_000.0);
    rig.pass(60);
    assert!(failure(&feed).await.to_string().contains("implausible"));
    feed.stop().await;
}

#[tokio::test]
async fn reserves_of_zero_are_no_price() {
    for reserves in [["0", "0"], ["0", "1"], ["1", "0"]] {
        let rig = Rig::new(|world| world.kind = Kind::V2).await;
        rig.endpoint.set_fault(Some(fault("eth_call", "0x0902f1ac", words(&[reserves[0], reserves[1], "1"]))));
        let feed = rig.start();
        assert!(failure(&feed).await.to_string().contains("below 1"));
        assert_eq!(feed.prices().current(), None);
        feed.stop().await;
    }
}

#[tokio::test]
async fn a_failing_endpoint_is_asked_less_often() {
    let rig = Rig::new(|_| {}).await;
    let feed = rig.start();
    first_price(&feed).await;
    rig.endpoint.set_fault(Some(fault("eth_blockNumber", "", Instead::Http(429, "", String::new()))));
    failure(&feed).await;
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    let before = rig.endpoint.requests();
    tokio::time::sleep(std::time::Duration::from_millis(1_600)).await;
    // One in 800 ms instead of one in 100 ms.
    assert!(rig.endpoint.requests() - before <= 5, "{}", rig.endpoint.requests() - before);
    feed.stop().await;
}
