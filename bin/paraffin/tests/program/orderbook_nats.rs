//! `paraffin serve` with NATS JetStream as the order book's durable stream: kills of the gateway and of the server.

use std::time::Duration;

use crate::support::devnet::DevnetNode;
use crate::support::http::{Answer, try_request};
use crate::support::node::TestNode;
use crate::support::process::{Running, paraffin, write_config};
use crate::support::{free_port, http, wait_for};
use paraffin_testkit::NatsServer;
use serde_json::{Value, json};

const BOOK: &str = "orbitals:regtest:book:*";

/// A gateway with a data folder of its own.
struct Gateway {
    folder: tempfile::TempDir,
    address: String,
    path: String,
    process: Option<Running>,
}

impl Gateway {
    fn new(node: &dyn TestNode, nats: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let address = format!("127.0.0.1:{}", free_port());
        let text = format!(
            "network = \"regtest\"\ndata_dir = \"{}\"\n{}\n[gateway]\nlisten = \"{address}\"\n[index]\nmemory_mib = 256\n\
             [orderbook]\nnats_url = \"{nats}\"\n",
            data.display(),
            node.config()
        );
        write_config(folder.path(), &text);
        let mut create = paraffin();
        create.args(["keys", "create", "test", "--plan", "business", "--admin", "--data-dir"]).arg(&data);
        let created = create.output().unwrap();
        let key = String::from_utf8(created.stdout).unwrap().trim().to_owned();
        assert_eq!(key.len(), 32, "{}", String::from_utf8_lossy(&created.stderr));
        Self { folder, address, path: format!("/v4/{key}/orderbook"), process: None }
    }

    fn run(&mut self) {
        let config = self.folder.path().join("paraffin.toml");
        let mut process = Running::start(paraffin().args(["serve", "--config"]).arg(config));
        process.wait_for_output("listening on", Duration::from_secs(60));
        self.process = Some(process);
    }

    /// SIGKILL.
    fn kill(&mut self) {
        self.process.take().unwrap().kill();
    }

    fn ingest(&self, events: &Value) -> Answer {
        try_request(&self.address, "POST", &format!("{}/ingest", self.path), &[], events.to_string().as_bytes())
            .unwrap()
    }

    fn get(&self, below: &str) -> Value {
        let answer = http::get(&self.address, &format!("{}{below}", self.path));
        assert_eq!(answer.status, 200, "{below}: {}", answer.text());
        answer.json()
    }

    fn has(&self, id: &str) -> bool {
        http::get(&self.address, &format!("{}/order/orbitals/{id}", self.path)).status == 200
    }

    fn health(&self) -> Value {
        http::get(&self.address, "/v4/api/health").json()
    }
}

fn listing(id: &str, lsn: u64) -> Value {
    json!({
        "op": "c", "source": { "table": "orbital_listings", "lsn": lsn },
        "after": { "id": id, "module": "fire-pos", "collection": "2:100", "token_id": "2:107", "price": lsn.to_string() },
    })
}

/// row OB04
#[test]
fn what_a_gateway_acknowledged_survives_its_kill_and_is_in_the_book_of_every_other() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut server) = NatsServer::prepare(folder.path(), "") else { return };
    server.run();
    let node = DevnetNode::start();
    let (mut first, mut second) = (Gateway::new(&node, &server.url()), Gateway::new(&node, &server.url()));
    second.run();
    let mut kept: Vec<String> = Vec::new();
    for round in 0..3_u64 {
        first.run();
        for part in 0..=round {
            let ids: Vec<String> = (0..50).map(|one| format!("clx{round}-{part}-{one}")).collect();
            let lsn = |one: usize| (round * 10 + part) * 100 + one as u64 + 1;
            let events: Vec<Value> = ids.iter().enumerate().map(|(one, id)| listing(id, lsn(one))).collect();
            let answer = first.ingest(&Value::Array(events));
            assert_eq!((answer.status, answer.json()), (202, json!({ "status": "queued", "events": 50 })));
            kept.extend(ids);
        }
        // Nothing of it runs any more after the answer was read.
        first.kill();
    }
    first.run();
    for id in &kept {
        assert!(first.has(id), "{id}");
    }
    let snapshot = |gateway: &Gateway| gateway.get(&format!("/snapshot?market={BOOK}"));
    wait_for("the other gateway's book", Duration::from_secs(20), || {
        (snapshot(&second)["orders"].as_array().unwrap().len() == kept.len()).then_some(())
    });
    assert_eq!(snapshot(&first), snapshot(&second));
    let events = |gateway: &Gateway| gateway.get("/events?limit=10000");
    assert_eq!(events(&first)["events"].as_array().unwrap().len(), kept.len());
    assert_eq!(events(&first), events(&second));
}

/// row OB06
#[test]
fn a_gateway_whose_stream_is_away_reads_on_refuses_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut server) = NatsServer::prepare(folder.path(), "") else { return };
    let node = DevnetNode::start();
    let mut gateway = Gateway::new(&node, &server.url());
    // It starts without the server.
    gateway.run();
    let refused = gateway.ingest(&listing("clx1", 1));
    assert_eq!((refused.status, refused.json()["code"].clone()), (503, json!("INGEST_UNAVAILABLE")));
    assert_eq!(gateway.get("/markets"), json!({ "markets": [] }));
    wait_for("health", Duration::from_secs(30), || (gateway.health()["status"] == "degraded").then_some(()));
    assert_eq!(gateway.health()["orderbook"], json!({ "stream": "away" }));
    assert!(gateway.process.as_ref().unwrap().errors().contains("nats-server runs with JetStream"));
    server.run();
    wait_for("the stream", Duration::from_secs(30), || {
        (gateway.ingest(&listing("clx1", 1)).status == 202).then_some(())
    });
    wait_for("health", Duration::from_secs(30), || (gateway.health()["status"] == "ok").then_some(()));
    assert_eq!(gateway.health()["orderbook"], json!({ "stream": "ready" }));
    server.kill();
    wait_for("a refusal", Duration::from_secs(30), || {
        (gateway.ingest(&listing("clx2", 2)).status == 503).then_some(())
    });
    assert!(gateway.has("clx1"));
    server.run();
    wait_for("the stream", Duration::from_secs(30), || {
        (gateway.ingest(&listing("clx2", 2)).status == 202).then_some(())
    });
    assert_eq!(gateway.get("/events")["events"].as_array().unwrap().len(), 2);
}
