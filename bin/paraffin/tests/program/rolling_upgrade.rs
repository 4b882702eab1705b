//! Three instances behind a proxy, restarted one after the other under load: no request fails and no answer changes.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::support::devnet::DevnetNode;
use crate::support::instance::Instance;
use crate::support::node::TestNode as _;
use crate::support::process::Running;
use crate::support::proxy::Proxy;
use crate::support::{free_port, http, wait_for};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::{Method, Request};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

const ADDRESS: &str = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080";
const DRAIN: &str = "2";
/// Connections of clients.
const CLIENTS: usize = 16;

/// A request and the answer that it has to get.
struct Question {
    body: String,
    answer: Bytes,
}

/// Questions whose answers stay the same while blocks are added.
fn questions(instance: &Instance, tip: u32) -> Vec<Question> {
    let mut calls: Vec<(&str, Value)> = Vec::new();
    for height in (1..=tip).step_by(7) {
        let hash = instance.result("btc_getblockhash", json!([height]));
        let txids = instance.result("esplora_block::txids", json!([hash]));
        calls.push(("btc_getblockhash", json!([height])));
        calls.push(("metashrew_blockdigest", json!([height])));
        calls.push(("esplora_block", json!([hash])));
        calls.push(("esplora_tx", json!([txids[0]])));
    }
    let ask = |(method, params): (&str, Value)| {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let headers = [("content-type", "application/json")];
        let answer = http::try_request(&instance.address, "POST", &instance.path, &headers, body.as_bytes()).unwrap();
        assert!(answer.status == 200 && answer.json().get("result").is_some(), "{}", answer.text());
        Question { body, answer: Bytes::from(answer.body) }
    };
    calls.into_iter().map(ask).collect()
}

#[derive(Default)]
struct Tally {
    good: AtomicU64,
    failed: AtomicU64,
    wrong: AtomicU64,
    over: AtomicBool,
}

async fn client(uri: String, questions: Arc<Vec<Question>>, tally: Arc<Tally>, mut turn: usize) {
    let http = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    while !tally.over.load(Ordering::Relaxed) {
        turn += 1;
        let question = &questions[turn % questions.len()];
        let request = Request::builder().method(Method::POST).uri(&uri).header("content-type", "application/json");
        let answer = http.request(request.body(Full::new(Bytes::from(question.body.clone()))).unwrap()).await;
        let outcome = match answer {
            Ok(answer) if answer.status() == 200 => match answer.into_body().collect().await {
                Ok(body) => {
                    if body.to_bytes() == question.answer {
                        &tally.good
                    } else {
                        &tally.wrong
                    }
                }
                Err(_) => &tally.failed,
            },
            _ => &tally.failed,
        };
        outcome.fetch_add(1, Ordering::Relaxed);
    }
}

/// Three instances with one chain and the same accounts, and the node.
struct Row {
    node: DevnetNode,
    instances: Vec<Instance>,
    questions: Arc<Vec<Question>>,
    runtime: tokio::runtime::Runtime,
    _folder: tempfile::TempDir,
}

impl Row {
    fn start() -> Self {
        let node = DevnetNode::start();
        node.mine(120, ADDRESS);
        let folder = tempfile::tempdir().unwrap();
        let more = "[index]\nmemory_mib = 256\n";
        let mut instances = vec![Instance::prepare(&folder.path().join("0"), &node.config(), more)];
        for name in ["1", "2"] {
            instances.push(Instance::prepare_beside(&instances[0], &folder.path().join(name), &node.config(), more));
        }
        let drained = |one: Instance| one.with("PARAFFIN_GATEWAY__DRAIN_SECONDS", DRAIN);
        let mut instances: Vec<Instance> = instances.into_iter().map(drained).collect();
        let tip = node.rpc("getbestblockhash", json!([]));
        for one in &mut instances {
            one.start();
            one.wait_for_block(tip.as_str().unwrap());
        }
        let questions = Arc::new(questions(&instances[0], 120));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        Self { node, instances, questions, runtime, _folder: folder }
    }

    fn addresses(&self) -> Vec<String> {
        self.instances.iter().map(|one| one.address.clone()).collect()
    }

    /// Restarts one after the other under load through `address`; `is_taken` waits until one takes requests again.
    fn restart_under_load(mut self, address: &str, is_taken: impl Fn(usize)) {
        let tally = Arc::new(Tally::default());
        let uri = format!("http://{address}{}", self.instances[0].path);
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let (questions, tally) = (Arc::clone(&self.questions), Arc::clone(&tally));
                self.runtime.spawn(client(uri.clone(), questions, tally, number * 5))
            })
            .collect();
        let started = Instant::now();
        for place in 0..3 {
            std::thread::sleep(Duration::from_millis(500));
            self.node.mine(1, ADDRESS);
            let signalled = Instant::now();
            self.instances[place].process.as_ref().unwrap().signal(rustix::process::Signal::TERM);
            let address = self.instances[place].address.clone();
            wait_for("health to say draining", Duration::from_secs(5), || {
                let health = http::try_request(&address, "GET", "/v4/api/health", &[], b"")?;
                (health.status == 503 && health.json()["status"] == "draining").then_some(())
            });
            let status = self.instances[place].process.as_mut().unwrap().wait(Duration::from_secs(30));
            assert!(
                status.success() && signalled.elapsed() >= Duration::from_secs(2),
                "{status} after {:?}",
                signalled.elapsed()
            );
            self.instances[place].start();
            wait_for("health to be good again", Duration::from_secs(60), || {
                let health = http::try_request(&address, "GET", "/v4/api/health", &[], b"")?;
                (health.status == 200).then_some(())
            });
            is_taken(place);
        }
        let elapsed = started.elapsed();
        tally.over.store(true, Ordering::Relaxed);
        for client in clients {
            self.runtime.block_on(client).unwrap();
        }
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let good = of(&tally.good);
        #[allow(clippy::cast_precision_loss)] // for people to read
        let rate = good as f64 / elapsed.as_secs_f64();
        eprintln!("{good} answers in {elapsed:?}, {rate:.0} a second");
        assert_eq!((of(&tally.failed), of(&tally.wrong)), (0, 0), "failed and wrong beside {good}");
        assert!(good > 1_000, "{good} answers are no load");
    }
}

#[test]
fn three_instances_are_restarted_one_by_one_under_load_and_no_request_fails() {
    if !paraffin_testkit::long_tests() {
        return;
    }
    let row = Row::start();
    let proxy = row.runtime.block_on(Proxy::start(&row.addresses()));
    let answered = |place: usize| proxy.behind[place].answered.load(Ordering::Relaxed);
    let is_taken = |place: usize| {
        let before = answered(place);
        wait_for("the instance to take requests", Duration::from_secs(60), || {
            (answered(place) > before + 10).then_some(())
        });
    };
    for behind in &proxy.behind {
        wait_for("an instance to be well", Duration::from_secs(60), || behind.is_well().then_some(()));
    }
    let address = proxy.address.to_string();
    row.restart_under_load(&address, is_taken);
    assert_eq!(proxy.repeated.load(Ordering::Relaxed), 0, "requests that an instance took and did not answer");
}

/// The settings of docs/operations.md. nginx makes no health checks: it learns from requests that fail.
#[test]
fn behind_nginx_no_request_fails_either() {
    if !paraffin_testkit::long_tests() {
        return;
    }
    let Some([nginx]) = paraffin_testkit::installed(["nginx"], "nginx-light") else { return };
    let row = Row::start();
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().display();
    let address = format!("127.0.0.1:{}", free_port());
    let servers: Vec<String> =
        row.addresses().iter().map(|one| format!("server {one} max_fails=1 fail_timeout=2s;\n")).collect();
    let servers = servers.concat();
    let paths: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path {here}/{name};\n"))
        .concat();
    let text = format!(
        "daemon off;\nmaster_process off;\npid {here}/pid;\nerror_log {here}/errors.log;\nevents {{ worker_connections 512; }}\n\
         http {{\naccess_log off;\n{paths}upstream paraffin {{\n{servers}keepalive 64;\n}}\n\
         server {{\nlisten {address};\nlocation / {{\nproxy_pass http://paraffin;\nproxy_http_version 1.1;\n\
         proxy_set_header Connection \"\";\nproxy_next_upstream error timeout http_503 non_idempotent;\n}}\n}}\n}}\n"
    );
    let config = folder.path().join("nginx.conf");
    std::fs::write(&config, text).unwrap();
    let mut command = Command::new(nginx);
    command.arg("-p").arg(folder.path()).arg("-e").arg(folder.path().join("errors.log")).arg("-c").arg(config);
    let mut server = Running::start(&mut command);
    wait_for("nginx to answer", Duration::from_secs(20), || {
        assert!(server.is_running(), "{}", server.errors());
        let health = http::try_request(&address, "GET", "/v4/api/health", &[], b"")?;
        (health.status == 200).then_some(())
    });
    // Longer than nginx leaves out who has failed.
    row.restart_under_load(&address, |_| std::thread::sleep(Duration::from_millis(2_500)));
}

#[test]
fn a_second_signal_and_an_interrupt_do_not_wait() {
    let node = DevnetNode::start();
    node.mine(3, ADDRESS);
    let folder = tempfile::tempdir().unwrap();
    let instance = Instance::prepare(folder.path(), &node.config(), "[index]\nmemory_mib = 256\n");
    let mut instance = instance.with("PARAFFIN_GATEWAY__DRAIN_SECONDS", "60");
    for signals in [&[rustix::process::Signal::INT][..], &[rustix::process::Signal::TERM; 2]] {
        instance.start();
        let process = instance.process.as_mut().unwrap();
        for signal in signals {
            process.signal(*signal);
            std::thread::sleep(Duration::from_millis(300));
        }
        assert!(process.wait(Duration::from_secs(15)).success());
    }
}
