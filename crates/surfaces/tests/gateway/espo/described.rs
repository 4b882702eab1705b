//! Description of the surface.

use serde_json::{Value, json};

use super::scene::Scene;

/// Surfaces below a key have separate, public descriptions, which list exactly the methods that they answer.
#[tokio::test]
async fn every_surface_is_described_and_this_one_answers_what_it_describes() {
    let scene = Scene::start(3, 104).await;
    let main = scene.instance.get("/v4/openrpc.json").await.json();
    let paths: Vec<&str> = main["x-surfaces"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    let names = ["espo", "btcusd", "mempool", "forex", "reorg", "webhooks"];
    assert_eq!(paths, names.map(|name| format!("/v4/openrpc/{name}.json")));
    for (path, name) in paths.iter().zip(names) {
        let response = scene.instance.get(path).await;
        assert_eq!((response.status, &response.json()["x-surface"]), (200, &json!(name)));
    }
    assert!([401, 404].contains(&scene.instance.get("/v4/openrpc/nothing.json").await.status));
    let document = scene.instance.get(paths[0]).await.json();
    assert_eq!(scene.result("rpc.discover", json!([])).await, document);
    assert_eq!(scene.error("rpc.discover", json!([1])).await, -32602);
    let methods = document["methods"].as_array().unwrap();
    assert!(methods.len() > 15, "{}", methods.len());
    for method in methods {
        let aliases = method["x-aliases"].as_array().into_iter().flatten();
        for name in aliases.chain([&method["name"]]).filter_map(Value::as_str) {
            // Some want parameters, and say which.
            let answer = scene.call(name, json!({})).await;
            let needed = method["params"].as_array().unwrap().iter().find(|param| param["required"] == true);
            let sentence = needed.map(|param| format!("{} is required", param["name"].as_str().unwrap()));
            assert_eq!(answer["error"]["message"].as_str(), sentence.as_deref(), "{name}: {answer}");
        }
    }
}
