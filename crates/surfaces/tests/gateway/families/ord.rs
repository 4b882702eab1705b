use serde_json::{Value, json};

use super::upstream::{Reaction, Upstream, answer};
use super::{asking, ord_at, ord_server};
use crate::instance::{Instance, Setup};

/// All methods with parameters that find something, that find nothing, and that are wrong.
async fn calls(instance: &Instance, reveal: bitcoin::Txid) -> Vec<(&'static str, Value)> {
    let id = format!("{reveal}i0");
    let newest = instance.result("ord_inscriptions", json!([0])).await["ids"][0].clone();
    let name = instance.result("ord_rune", json!(["4:1"])).await["entry"]["spaced_rune"].clone();
    let tip = instance.result("ord_blockhash", json!([])).await;
    let (missing, payee) = (format!("{}i0", "00".repeat(32)), instance.payee.clone());
    let mut calls = vec![
        ("blockcount", json!([])),
        ("blockheight", json!({})),
        ("blocktime", json!(null)),
        ("blockhash", json!([])),
        ("blockhash", json!([2])),
        ("blockhash", json!([99])),
        ("blockhash", json!([99_999_999_999_u64])),
        ("block", json!([4])),
        ("block", json!([tip])),
        ("block", json!([99])),
        ("block", json!(["11".repeat(32)])),
        ("blocks", json!([])),
        ("inscription", json!([id])),
        ("inscription", json!([0])),
        ("inscription", json!(["1"])),
        ("inscription", json!([-1])),
        ("inscription", json!(["nvtdijuwxlp"])),
        ("inscription", json!([missing])),
        ("inscription", json!([id, 0])),
        ("inscriptions", json!([])),
        ("inscriptions", json!([7])),
        ("inscriptions::block", json!([4])),
        ("inscriptions_block", json!([5, 1])),
        ("inscriptionsinblock", json!([3])),
        ("children", json!([id])),
        ("children", json!([missing, 1])),
        ("parents", json!([id, 2])),
        ("parents", json!([missing])),
        ("content", json!([id])),
        ("content", json!([newest])),
        ("content", json!([missing])),
        ("metadata", json!([id])),
        ("rmetadata", json!([newest])),
        ("r:metadata", json!([missing])),
        ("rune", json!([name])),
        ("rune", json!(["4:1"])),
        ("rune", json!([0])),
        ("rune", json!(["AAAA"])),
        ("runes", json!([])),
        ("runes", json!([3])),
        ("sat", json!([0])),
        ("sat", json!(["nvtdijuwxlp"])),
        ("sat", json!(["1.0"])),
        ("sat", json!(["0°0′0″0‴"])),
        ("sat", json!(["50%"])),
        ("inscriptions", json!([""])),
        ("r:children", json!([id, 0])),
        ("output", json!([format!("{reveal}:0")])),
        ("output", json!([format!("{reveal}:7")])),
        ("outputs", json!([payee])),
        ("outputs", json!([payee, "runic"])),
        ("address", json!([payee])),
        ("address::inscriptions", json!([payee])),
        ("addressinscriptions", json!([payee])),
        ("tx", json!([reveal])),
        ("tx", json!(["11".repeat(32)])),
        ("nothing", json!([])),
    ];
    for method in super::super::ord::METHODS {
        calls.push((method, json!([{}, 1, 2])));
        calls.push((method, json!([""])));
        for hostile in ["../../status", "%2e%2e%2fstatus", "0\r\nHost: x", "0?x=1", "0#", "0/../0", "é", "\u{0}"] {
            calls.push((method, json!([hostile])));
        }
    }
    calls
}

/// row MR06
#[tokio::test]
async fn every_method_answers_alike_from_a_server_of_ord_and_from_our_own_index() {
    let (own, reveal) = crate::ord::inscribed().await;
    let calls = calls(&own, reveal).await;
    let server = ord_server::start(&own).await;
    let asking = asking(ord_at(&server.url())).await;
    let mut found = 0;
    for (method, params) in calls {
        let body = json!({ "id": 1, "method": format!("ord_{method}"), "params": params }).to_string();
        let ours = own.post(&own.keyed(""), &body).await;
        let theirs = asking.post(&asking.keyed(""), &body).await;
        assert_eq!((theirs.status, theirs.json()), (ours.status, ours.json()), "{body}");
        // The height of the other server is unknown here.
        assert_eq!(theirs.header("x-indexed-height"), None, "{body}");
        found += usize::from(ours.json().get("error").is_none());
    }
    assert!(found > 30, "{found} answers");
    let body = r#"{"id":1,"method":"ord_rune","params":["4:1"]}"#;
    let text = asking.post(&asking.keyed(""), body).await.text().to_owned();
    assert!(text.contains(r#""premine":340282366920938463463374607431768211448,"#), "{text}");
    // Text of a caller never leaves its segment of the path.
    for received in server.requests() {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/:?=-_".contains(&byte);
        assert!(received.path.bytes().all(is_plain), "{}", received.path);
    }
}

/// row MR08
#[tokio::test]
async fn multicalls_and_scripts_reach_the_server() {
    let (own, _) = crate::ord::inscribed().await;
    let server = ord_server::start(&own).await;
    let mut setup = crate::lua::setup();
    setup.families = ord_at(&server.url());
    let asking = Instance::with(setup).await;
    let answers =
        asking.result("sandshrew_multicall", json!([["ord_blockheight", []], ["ord_inscription", [0]]])).await;
    assert_eq!((&answers[0]["result"], &answers[1]["result"]["number"]), (&json!(5), &json!(0)));
    let script = "return { _RPC.ord_blockcount(), _RPC.ord_inscription(0).height }";
    assert_eq!(asking.result("lua_evalscript", json!([script])).await["returns"], json!([6, 4]));
}

/// Content stored compressed is answered as stored, whatever encoding the server prefers.
#[tokio::test]
async fn encoded_content_is_answered_as_it_is_stored() {
    let server = Upstream::start(|received| {
        Box::pin(async move {
            let accepted = received.head.lines().find_map(|line| line.strip_prefix("accept-encoding: ")).unwrap();
            // As the published program: content of an encoding goes to who names it, other content is packed for who prefers
            // that.
            let stored = if received.path.ends_with("1i0") { "br" } else { "zstd" };
            let names = accepted.split(',').map(|part| part.split(';').next().unwrap().trim().to_owned());
            if names.collect::<Vec<_>>().contains(&stored.to_owned()) {
                assert!(accepted.contains(&format!("{stored};q=0")), "{accepted}");
                return answer(200, &format!("content-encoding: {stored}\r\n"), "packed");
            }
            answer(406, "", format!("inscription content encoding `{stored}` is not acceptable."))
        })
    })
    .await;
    let asking = asking(ord_at(&server.url())).await;
    for id in [format!("{}i0", "11".repeat(32)), format!("{}i0", "22".repeat(32))] {
        assert_eq!(asking.result("ord_content", json!([id])).await, "cGFja2Vk", "{id}");
    }
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn a_server_without_an_address_index_is_reported() {
    let server = Upstream::always(|| answer(404, "", "this server has no address index")).await;
    let asking = asking(ord_at(&server.url())).await;
    let payee = asking.payee.clone();
    for method in ["ord_address", "ord_outputs", "ord_address::inscriptions"] {
        let error = asking.call(method, json!([payee])).await["error"].clone();
        assert_eq!((&error["code"], &error["data"]["code"]), (&json!(-32603), &json!("ORDINALS_NOT_INDEXED")));
    }
}

#[tokio::test]
async fn requests_to_the_server_at_the_same_time_are_bounded() {
    let late = || {
        let Reaction::Bytes(bytes) = answer(200, "", "7") else { unreachable!() };
        Reaction::Late(std::time::Duration::from_millis(100), bytes)
    };
    let server = Upstream::always(late).await;
    let mut setup = Setup { families: ord_at(&server.url()), ..Setup::default() };
    setup.config.limits.family_requests_max = 2;
    let asking = Instance::with(setup).await;
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..8 {
        // Two callers: one alone has its part.
        let path = if number % 2 == 0 { asking.keyed("") } else { "/v4/jsonrpc".to_owned() };
        let address = asking.address;
        let body = br#"{"id":1,"method":"ord_blockheight","params":[]}"#;
        calls.spawn(async move { crate::client::request(address, "POST", &path, &[], body).await });
    }
    while let Some(answer) = calls.join_next().await {
        assert_eq!(answer.unwrap().json()["result"], 7);
    }
    assert_eq!((server.requests().len(), server.most_open()), (8, 2));
}
