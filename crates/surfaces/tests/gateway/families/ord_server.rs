//! The JSON interface of `ord` over an instance that has the index: its paths, its plain texts, its words for what is not there.

use std::net::SocketAddr;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::upstream::{Reaction, ReceivedRequest, Upstream, answer};
use crate::client::request;
use crate::instance::Instance;

/// The main endpoint of the instance with the index.
#[derive(Clone)]
struct Index {
    address: SocketAddr,
    path: String,
}

/// Starts a server that answers from `instance`.
pub(super) async fn start(instance: &Instance) -> Upstream {
    let index = Index { address: instance.address, path: instance.keyed("") };
    Upstream::start(move |received| {
        let index = index.clone();
        Box::pin(async move { react(&index, &received).await })
    })
    .await
}

/// The members of the answer to a method, as raw JSON.
async fn call(index: &Index, method: &str, params: Value) -> std::collections::BTreeMap<String, Box<RawValue>> {
    let body = json!({ "id": 1, "method": format!("ord_{method}"), "params": params }).to_string();
    let answer = request(index.address, "POST", &index.path, &[], body.as_bytes()).await;
    serde_json::from_slice(&answer.body).unwrap()
}

/// The result of a method, or `None` when the object does not exist.
async fn ask(index: &Index, method: &str, params: Value) -> Option<Box<RawValue>> {
    let members = call(index, method, params).await;
    if let Some(error) = members.get("error") {
        let error: Value = serde_json::from_str(error.get()).unwrap();
        assert_eq!(error["code"], -32004, "{method}: {error}");
        return None;
    }
    members.get("result").cloned()
}

/// The message for missing content.
async fn absent_content(index: &Index, id: &str) -> String {
    match ask(index, "inscription", json!([id])).await {
        None => format!("inscription {id} not found"),
        Some(_) => {
            let is_delegate = call(index, "content", json!([id])).await["error"].get().contains("delegate");
            if is_delegate { format!("delegate {id} not found") } else { format!("inscription {id} content not found") }
        }
    }
}

async fn react(index: &Index, received: &ReceivedRequest) -> Reaction {
    let (path, query) = received.path.split_once('?').unwrap_or((&received.path, ""));
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    let number = |text: &str| text.parse::<u64>().unwrap();
    let (method, params) = match parts.as_slice() {
        [name @ ("blockcount" | "blockheight" | "blocktime" | "blockhash" | "blocks")] => (*name, json!([])),
        ["blockhash", height] => ("blockhash", json!([number(height)])),
        ["block", query] => ("block", json!([query])),
        ["inscription", query] => ("inscription", json!([query])),
        ["inscription", query, child] => ("inscription", json!([query, number(child)])),
        ["inscriptions", page] => ("inscriptions", json!([number(page)])),
        ["inscriptions", "block", height, page] => ("inscriptions::block", json!([number(height), number(page)])),
        ["r", "children", id, page] => ("children", json!([id, number(page)])),
        ["r", "parents", id, page] => ("parents", json!([id, number(page)])),
        ["r", "sat", sat, page] => ("r:sat", json!([sat, number(page)])),
        ["r", "sat", sat, "at", place] => ("r:sat::at", json!([sat, place])),
        ["content", id] => ("content", json!([id])),
        ["r", "metadata", id] => ("metadata", json!([id])),
        [name @ ("rune" | "sat" | "output" | "address" | "tx"), what] => (*name, json!([what])),
        ["runes", page] => ("runes", json!([number(page)])),
        ["outputs", address] => ("outputs", json!([address, query.strip_prefix("type=").unwrap()])),
        _ => return answer(404, "", "no such route"),
    };
    // Only the pages of the browser have no JSON form.
    assert!(received.head.contains("accept: application/json\r\n"), "{}", received.head);
    let Some(result) = ask(index, method, params).await else {
        let id = parts.last().unwrap();
        return match method {
            "content" => answer(404, "", absent_content(index, id).await),
            "metadata" if ask(index, "inscription", json!([id])).await.is_some() => {
                answer(404, "", format!("inscription {id} metadata not found"))
            }
            "inscription" => answer(404, "content-type: application/json\r\n", "null"),
            _ => answer(404, "", format!("{id} not found")),
        };
    };
    let text: String = serde_json::from_str(result.get()).unwrap_or_default();
    match method {
        "blockcount" | "blockheight" | "blocktime" => answer(200, "content-type: text/plain\r\n", result.get()),
        "blockhash" => answer(200, "content-type: text/plain\r\n", text),
        "content" => {
            let content = data_encoding::BASE64.decode(text.as_bytes()).unwrap();
            answer(200, "content-type: text/plain\r\n", content)
        }
        "parents" => {
            let mut page: Value = serde_json::from_str(result.get()).unwrap();
            page.as_object_mut().unwrap().remove("page");
            answer(200, "content-type: application/json\r\n", page.to_string())
        }
        _ => answer(200, "content-type: application/json\r\n", result.get()),
    }
}
