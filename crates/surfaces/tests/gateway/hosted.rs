//! `metashrew_*` where an indexer program answers instead of the contract index.

use std::sync::Arc;

use paraffin_gateway::{HostedFault, HostedProgram, IndexingStatus, ShadowState};
use paraffin_primitives::Height;
use paraffin_store::Snapshot;
use serde_json::{Value, json};

use crate::instance::{Instance, Setup};

/// A program that echoes its parameters, or fails as the view's name says.
struct EchoProgram;

impl HostedProgram for EchoProgram {
    fn has_view(&self, name: &str) -> bool {
        name != "unknown"
    }

    fn newest(&self, snapshot: &Snapshot) -> Result<Option<Height>, HostedFault> {
        // One block behind the chain.
        Ok(snapshot.tip().map(|tip| tip.id.height - 1))
    }

    fn digest(&self, _: &Snapshot, height: Height) -> Result<Option<[u8; 32]>, HostedFault> {
        Ok((height > 0).then_some([height as u8; 32]))
    }

    fn view(
        &self,
        _: &Snapshot,
        height: Height,
        name: &str,
        payload: &[u8],
        is_over: &dyn Fn() -> bool,
    ) -> Result<Vec<u8>, HostedFault> {
        match name {
            "saturated" => Err(HostedFault::Saturated),
            "memory" => Err(HostedFault::TooMuchMemory),
            "large" => Err(HostedFault::TooLarge),
            "failed" => Err(HostedFault::Failed("it trapped".repeat(100))),
            "inside" => Err(HostedFault::Inside("a path of ours".to_owned())),
            "long" => {
                while !is_over() {
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
                Err(HostedFault::TooLong)
            }
            _ => Ok([name.as_bytes(), &[height as u8], payload].concat()),
        }
    }

    fn preview(
        &self,
        snapshot: &Snapshot,
        height: Height,
        block: &[u8],
        name: &str,
        payload: &[u8],
        is_over: &dyn Fn() -> bool,
    ) -> Result<Vec<u8>, HostedFault> {
        let answer = self.view(snapshot, height + 1, name, payload, is_over)?;
        Ok([&answer, &block[..4]].concat())
    }
}

async fn start() -> Instance {
    let mut setup = Setup { hosted: Some(Arc::new(EchoProgram)), ..Setup::default() };
    setup.config.limits.view_timeout_ms = 50;
    Instance::with(setup).await
}

/// row MR09
/// row MR10
#[tokio::test]
async fn a_program_answers_any_view_by_name_at_its_heights() {
    let instance = start().await;
    assert_eq!(instance.result("metashrew_height", json!([])).await, "2");
    let view = |params: Value| instance.result("metashrew_view", params);
    assert_eq!(view(json!(["any", "0x0aff", "latest"])).await, "0x616e79020aff");
    assert_eq!(view(json!(["any", "", 1])).await, "0x616e7901");
    assert_eq!(view(json!(["any"])).await, "0x616e7902");
    // Above what the program has run, although the chain has it.
    let (code, text) = instance.error("metashrew_view", json!(["any", "0x", 3])).await;
    assert_eq!((code, text.contains("newest indexed one, 2")), (-32602, true), "{text}");
    assert_eq!(instance.error("metashrew_view", json!(["any", "0xz"])).await.0, -32602);
    assert_eq!(instance.error("metashrew_view", json!(["unknown", "0x"])).await.0, -32601);

    let root = |height: Value| instance.result("metashrew_stateroot", json!([height]));
    assert_eq!(root(json!("latest")).await, format!("0x{}", "02".repeat(32)));
    assert_eq!(root(json!(0)).await, format!("0x{}", "00".repeat(32)));
    let hash = format!("0x{}", instance.chain.blocks[2].block_hash());
    assert_eq!(instance.result("metashrew_getblockhash", json!([2])).await, hash);
    let reported = instance.result("metashrew_snapshot", json!([])).await;
    let reported: Value = serde_json::from_str(reported.as_str().unwrap()).unwrap();
    assert_eq!(reported["indexed_height"], 2);

    let block = bitcoin::consensus::serialize(&instance.chain.blocks[1]);
    let hex = bitcoin::hex::DisplayHex::to_lower_hex_string(&block[..]);
    let previewed = instance.result("metashrew_preview", json!([hex, "any", "0x01", "latest"])).await;
    assert_eq!(previewed, format!("0x616e790301{}", &hex[..8]));
    assert_eq!(instance.error("metashrew_preview", json!([hex, "unknown", "0x"])).await.0, -32601);
}

#[tokio::test]
async fn failures_of_a_program_are_distinguished_and_reveal_no_internals() {
    let instance = start().await;
    for (view, code) in [
        ("saturated", "VIEWS_SATURATED"),
        ("memory", "VIEW_MEMORY"),
        ("large", "RESPONSE_TOO_LARGE"),
        ("long", "TIMEOUT"),
        ("failed", "VIEW_FAILED"),
        ("inside", "INTERNAL_ERROR"),
    ] {
        let body = json!({"id": 1, "method": "metashrew_view", "params": [view, "0x"]}).to_string();
        let response = instance.post(&instance.keyed(""), body).await;
        assert_eq!(response.status, if code == "TIMEOUT" { 504 } else { 200 });
        let answer = response.json();
        assert_eq!(answer["error"]["data"]["code"], code, "{answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.len() <= 300 && !message.contains("path"), "{message}");
    }
}

#[tokio::test]
async fn health_and_metrics_report_how_both_engines_compare() {
    let instance = Instance::start().await;
    let figures = async || {
        let answer = crate::client::request(instance.metrics, "GET", "/metrics", &[], b"").await;
        let lines = answer.text().lines().filter(|line| line.starts_with("paraffin_shadow_"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let health = async || {
        let answer = instance.get("/v4/api/health").await;
        let reported = answer.json();
        (answer.status, reported["status"].as_str().unwrap().to_owned(), reported["shadow"].clone())
    };
    // One engine alone.
    assert_eq!(health().await, (200, "ok".to_owned(), Value::Null));
    assert_eq!(figures().await, Vec::<String>::new());
    let set = |compared, differences, comparing| {
        *instance.state.shadow.lock().unwrap() = Some(ShadowState { compared, differences, comparing });
    };
    set(7, 0, true);
    let reported = |compared: u64, differences: u64, comparing: bool| json!({ "compared": compared, "differences": differences, "comparing": comparing });
    assert_eq!(health().await, (200, "ok".to_owned(), reported(7, 0, true)));
    // A difference that is only reported leaves the status as it is.
    set(8, 1, true);
    assert_eq!(health().await, (200, "ok".to_owned(), reported(8, 1, true)));
    // The native engine has stopped beside a program that serves.
    set(9, 2, false);
    assert_eq!(health().await, (200, "degraded".to_owned(), reported(9, 2, false)));
    let figures = figures().await;
    for line in ["paraffin_shadow_blocks_total 9", "paraffin_shadow_differences_total 2", "paraffin_shadow_comparing 0"]
    {
        assert!(figures.iter().any(|found| found == line), "{line}: {figures:?}");
    }
    // Where it serves, indexing has stopped with it.
    *instance.state.indexing.lock().unwrap() = IndexingStatus::Stopped;
    assert_eq!(health().await, (503, "stalled".to_owned(), reported(9, 2, false)));
}
