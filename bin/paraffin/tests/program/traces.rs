//! Spans of requests and blocks, as a collector gets them: what is in them, what never is, and what a collector that is away costs.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bitcoin::hex::DisplayHex as _;
use prost::Message as _;
use serde_json::{Value, json};

use crate::support::devnet::DevnetNode;
use crate::support::instance::Instance;
use crate::support::node::TestNode as _;
use crate::support::process::{Running, paraffin, write_config};
use crate::support::{free_port, http, wait_for};

/// Messages of OTLP (opentelemetry/proto/trace/v1), with the members that are looked at.
mod otlp {
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Request {
        #[prost(message, repeated, tag = "1")]
        pub resource_spans: Vec<ResourceSpans>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct ResourceSpans {
        #[prost(message, optional, tag = "1")]
        pub resource: Option<Resource>,
        #[prost(message, repeated, tag = "2")]
        pub scope_spans: Vec<ScopeSpans>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Resource {
        #[prost(message, repeated, tag = "1")]
        pub attributes: Vec<KeyValue>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct ScopeSpans {
        #[prost(message, repeated, tag = "2")]
        pub spans: Vec<Span>,
    }

    // The names of the message.
    #[allow(clippy::struct_field_names)]
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Span {
        #[prost(bytes = "vec", tag = "1")]
        pub trace_id: Vec<u8>,
        #[prost(bytes = "vec", tag = "2")]
        pub span_id: Vec<u8>,
        #[prost(bytes = "vec", tag = "4")]
        pub parent_span_id: Vec<u8>,
        #[prost(string, tag = "5")]
        pub name: String,
        #[prost(int32, tag = "6")]
        pub kind: i32,
        #[prost(fixed64, tag = "7")]
        pub start: u64,
        #[prost(fixed64, tag = "8")]
        pub end: u64,
        #[prost(message, repeated, tag = "9")]
        pub attributes: Vec<KeyValue>,
        #[prost(message, optional, tag = "15")]
        pub status: Option<Status>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Status {
        #[prost(int32, tag = "3")]
        pub code: i32,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct KeyValue {
        #[prost(string, tag = "1")]
        pub key: String,
        #[prost(message, optional, tag = "2")]
        pub value: Option<AnyValue>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct AnyValue {
        #[prost(string, optional, tag = "1")]
        pub text: Option<String>,
        #[prost(int64, optional, tag = "3")]
        pub number: Option<i64>,
    }
}

const SERVER: i32 = 2;
const CLIENT: i32 = 3;
const ERROR: i32 = 2;

/// A span with the service that sent it.
#[derive(Debug, Clone)]
struct Seen {
    service: String,
    span: otlp::Span,
    attributes: BTreeMap<String, String>,
}

impl Seen {
    fn get(&self, key: &str) -> &str {
        self.attributes.get(key).map_or("", String::as_str)
    }

    fn is_error(&self) -> bool {
        self.span.status.as_ref().is_some_and(|status| status.code == ERROR)
    }

    fn trace(&self) -> String {
        self.span.trace_id.to_lower_hex_string()
    }
}

/// Headers, in lower case, and body of a request.
type Received = (String, Vec<u8>);

/// A collector that keeps what it gets.
struct Collector {
    address: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Collector {
    fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let received: Arc<Mutex<Vec<Received>>> = Arc::default();
        let kept = Arc::clone(&received);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let kept = Arc::clone(&kept);
                std::thread::spawn(move || while answer(&stream, &kept).is_some() {});
            }
        });
        Self { address, received }
    }

    /// All spans so far.
    fn spans(&self) -> Vec<Seen> {
        let received = self.received.lock().unwrap();
        let requests = received.iter().map(|(_, body)| otlp::Request::decode(body.as_slice()).unwrap());
        let mut seen = Vec::new();
        for resource in requests.flat_map(|request| request.resource_spans) {
            let service = texts(&resource.resource.unwrap().attributes).remove("service.name").unwrap();
            for span in resource.scope_spans.into_iter().flat_map(|scope| scope.spans) {
                seen.push(Seen { service: service.clone(), attributes: texts(&span.attributes), span });
            }
        }
        seen
    }

    /// Waits for a span.
    fn wait(&self, what: &str, is_it: impl Fn(&Seen) -> bool) -> Seen {
        wait_for(what, Duration::from_secs(20), || self.spans().into_iter().find(|seen| is_it(seen)))
    }

    /// Whether a text is anywhere in what was received, headers aside.
    fn has(&self, text: &str) -> bool {
        let text = text.to_ascii_lowercase();
        let received = self.received.lock().unwrap();
        received.iter().any(|(_, body)| {
            let body = body.to_ascii_lowercase();
            body.windows(text.len()).any(|window| window == text.as_bytes())
        })
    }
}

fn texts(attributes: &[otlp::KeyValue]) -> BTreeMap<String, String> {
    let text = |value: &otlp::AnyValue| value.text.clone().or_else(|| value.number.map(|number| number.to_string()));
    attributes.iter().filter_map(|entry| Some((entry.key.clone(), text(entry.value.as_ref()?)?))).collect()
}

/// Reads one request and answers it; `None` at the end of the connection.
fn answer(stream: &TcpStream, kept: &Mutex<Vec<Received>>) -> Option<()> {
    let (mut reader, mut head) = (BufReader::new(stream), String::new());
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let head = head.to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "))?;
    let mut body = vec![0; length.parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    kept.lock().unwrap().push((head, body));
    let mut writer = stream;
    writer.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n").ok()
}

/// An instance with some blocks that sends its spans to `endpoint`; the address of its metrics.
fn instance(folder: &Path, node: &DevnetNode, endpoint: &str, more: &str) -> (Instance, String) {
    let metrics = format!("127.0.0.1:{}", free_port());
    let section = format!("[tracing]\nendpoint = \"http://{endpoint}\"\n{more}\n");
    let instance = Instance::prepare(folder, &node.config(), &section)
        .with("PARAFFIN_GATEWAY__METRICS_LISTEN", &metrics)
        .with("PARAFFIN_TRACING__HEADERS__AUTHORIZATION", "Bearer hunter2");
    (instance, metrics)
}

/// A figure of the metrics.
fn figure(metrics: &str, name: &str) -> u64 {
    let text = http::get(metrics, "/metrics").text();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{name}: {text}"));
    line.trim().parse().unwrap()
}

fn rpc(method: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": []})
}

#[test]
fn a_collector_gets_requests_calls_and_blocks_and_never_a_key() {
    let (folder, edge_folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (node, collector) = (DevnetNode::start(), Collector::start());
    let script_address = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080";
    node.mine(3, script_address);
    let (mut instance, metrics) = instance(folder.path(), &node, &collector.address, "sample = 1.0");
    instance.start();
    instance.wait_for_block(node.mine(1, script_address).last().unwrap());
    let key = instance.path.strip_prefix("/v4/").unwrap().to_owned();
    let send = |path: &str, headers: &[(&str, &str)], body: &Value| {
        http::try_request(&instance.address, "POST", path, headers, body.to_string().as_bytes()).unwrap()
    };

    // A caller's trace is taken over.
    let (trace, parent) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
    let traceparent = format!("00-{trace}-{parent}-01");
    let answer = send(&instance.path, &[("traceparent", &traceparent)], &rpc("btc_getblockcount"));
    assert_eq!(answer.json()["result"], 4);
    let span = collector.wait("the trace of a caller", |seen| seen.trace() == trace && seen.span.kind == SERVER);
    assert_eq!((span.service.as_str(), span.span.name.as_str()), ("paraffin", "POST /v4/{key}"));
    assert_eq!(span.span.parent_span_id, u64::from_str_radix(parent, 16).unwrap().to_be_bytes());
    assert!(span.span.start > 0 && span.span.end >= span.span.start && !span.is_error());
    for (attribute, value) in [
        ("http.request.method", "POST"),
        ("http.route", "/v4/{key}"),
        ("http.response.status_code", "200"),
        ("rpc.system.name", "jsonrpc"),
        ("rpc.method", "btc_getblockcount"),
        ("paraffin.surface", "main"),
        ("paraffin.caller", "key"),
        ("paraffin.request_id", answer.header("x-request-id").unwrap()),
    ] {
        assert_eq!(span.get(attribute), value, "{attribute}: {span:?}");
    }
    assert!(!span.get("user.id").is_empty(), "{span:?}");
    let children: Vec<Seen> =
        collector.spans().into_iter().filter(|seen| seen.span.parent_span_id == span.span.span_id).collect();
    let names: Vec<&str> = children.iter().map(|seen| seen.span.name.as_str()).collect();
    assert!(names.contains(&"authenticate") && names.contains(&"btc_getblockcount"), "{names:?}");

    // A caller that does not record its own span, or sends nonsense, is not followed.
    let unsampled = "00-11111111111111111111111111111111-b7ad6b7169203331-00";
    send(&instance.path, &[("traceparent", unsampled)], &rpc("btc_getblockcount"));
    send(&instance.path, &[("traceparent", "00-22222222222222222222222222222222-nonsense")], &rpc("btc_getblockcount"));

    // A batch has a span for each call; what does not exist has no name, for it may be a key.
    let batch = json!([rpc("btc_getblockcount"), rpc("btc_getbestblockhash"), rpc(&format!("btc_{key}")), rpc(&key)]);
    send(&format!("{}?key={key}", instance.path), &[("x-whatever", &key)], &batch);
    let batch = collector.wait("a batch", |seen| seen.get("paraffin.batch.calls") == "4");
    let calls: Vec<Seen> = collector
        .spans()
        .into_iter()
        .filter(|seen| seen.span.parent_span_id == batch.span.span_id && seen.get("rpc.system.name") == "jsonrpc")
        .collect();
    let failed: Vec<&Seen> = calls.iter().filter(|seen| seen.is_error()).collect();
    assert_eq!((calls.len(), failed.len()), (4, 2), "{calls:?}");
    assert!(failed.iter().all(|seen| seen.span.name == "_OTHER" && seen.get("rpc.response.status_code") == "-32601"));

    // Paths with a key, whole, broken, escaped and in the wrong place.
    let escaped = key.bytes().fold(String::new(), |escaped, byte| format!("{escaped}%{byte:02x}"));
    for path in [
        format!("/v4/{key}/blockheight"),
        format!("/v4/{key}0/blockheight"),
        format!("/v4/{escaped}/blockheight"),
        format!("/{key}"),
        format!("/v4/api/{key}"),
        format!("/v4/{key}/mempool/{key}"),
    ] {
        http::get(&instance.address, &path);
    }
    let rest = collector.wait("a REST route", |seen| seen.span.name == "GET /v4/{key}/blockheight");
    assert_eq!(rest.get("url.path"), format!("/v4/{}…/blockheight", &key[..4]));
    collector.wait("the last path", |seen| seen.span.name == "GET /v4/{key}/mempool");

    // The block that was mined while the instance ran.
    let block = collector.wait("a block", |seen| seen.span.name == "block" && seen.get("paraffin.block.height") == "4");
    let parts: Vec<String> = collector
        .spans()
        .into_iter()
        .filter(|seen| seen.span.parent_span_id == block.span.span_id)
        .map(|seen| seen.span.name)
        .collect();
    for part in ["fetch", "modules", "commit"] {
        assert!(parts.iter().any(|name| name == part), "{parts:?}");
    }

    // A gateway before the instance goes on with the trace where it is asked to.
    let address = format!("127.0.0.1:{}", free_port());
    let config = write_config(
        edge_folder.path(),
        &format!(
            "network = \"regtest\"\ndata_dir = \"{}\"\n[upstream]\nurl = \"http://{}\"\nkey = \"{key}\"\n[gateway]\nlisten = \"{address}\"\n\
             [tracing]\nendpoint = \"http://{}\"\nsample = 1.0\nservice_name = \"edge\"\npropagate = true\n",
            edge_folder.path().join("data").display(),
            instance.address,
            collector.address
        ),
    );
    let mut edge = Running::start(paraffin().args(["serve", "--config"]).arg(config));
    edge.wait_for_output("without a store", Duration::from_secs(20));
    wait_for("the instance behind the gateway", Duration::from_secs(20), || {
        (http::get(&address, "/v4/api/health").json()["upstreams"]["reachable"] == 1).then_some(())
    });
    assert_eq!(http::post(&address, "/v4/jsonrpc", &rpc("btc_getblockcount")).json()["result"], 4);
    let asked = collector.wait("a question of the gateway", |seen| seen.service == "edge" && seen.span.kind == CLIENT);
    assert_eq!((asked.get("http.response.status_code"), asked.get("paraffin.upstream")), ("200", "0"));
    let behind = collector.wait("its answer", |seen| seen.span.parent_span_id == asked.span.span_id);
    assert_eq!((behind.service.as_str(), behind.span.kind, behind.trace()), ("paraffin", SERVER, asked.trace()));
    assert!(edge.terminate(Duration::from_secs(20)).success());

    // What waits is sent at the end.
    let last = "00-33333333333333333333333333333333-b7ad6b7169203331-01";
    send(&instance.path, &[("traceparent", last)], &rpc("btc_getblockcount"));
    assert!(figure(&metrics, "paraffin_spans_exported_total") > 20);
    instance.stop();
    let spans = collector.spans();
    let of = |trace: &str| spans.iter().filter(|seen| seen.trace() == trace.repeat(32)).count();
    assert!((of("1"), of("2")) == (0, 0) && of("3") > 1, "{} {} {}", of("1"), of("2"), of("3"));
    assert!(!collector.has(&key) && !collector.has(&key[4..]) && !collector.has("hunter2"));
    let received = collector.received.lock().unwrap();
    let head = received.iter().map(|(head, _)| head).find(|head| head.contains("bearer hunter2")).unwrap();
    assert!(head.starts_with("post /v1/traces http/1.1") && head.contains("content-type: application/x-protobuf"));
}

#[test]
fn a_collector_that_never_answers_costs_spans_and_no_request() {
    let folder = tempfile::tempdir().unwrap();
    let node = DevnetNode::start();
    node.mine(1, "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080");
    // Connections are made by the system, and nothing is read from them.
    let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let endpoint = silent.local_addr().unwrap().to_string();
    let more = "sample = 1.0\nqueue_spans = 64\nspans_per_second = 200";
    let (mut instance, metrics) = instance(folder.path(), &node, &endpoint, more);
    instance.start();
    let begun = Instant::now();
    for _ in 0..300 {
        let answer = http::post(&instance.address, &instance.path, &rpc("btc_getblockcount"));
        assert_eq!((answer.status, answer.header("retry-after")), (200, None));
    }
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    let dropped = |reason: &str| figure(&metrics, &format!("paraffin_spans_dropped_total{{reason=\"{reason}\"}}"));
    assert!(dropped("queue") > 0);
    assert!(dropped("budget") > 0);
    wait_for("a batch that is given up", Duration::from_secs(20), || (dropped("collector") > 0).then_some(()));
    assert_eq!(figure(&metrics, "paraffin_spans_exported_total"), 0);
    let begun = Instant::now();
    instance.stop();
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}
