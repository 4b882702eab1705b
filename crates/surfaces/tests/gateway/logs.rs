//! No key ever shows in a log line, a metric or an error.

use std::io::Write;
use std::sync::{Arc, Mutex};

use paraffin_access::ApiKey;
use paraffin_gateway::{LogForm, LogThread, LogWriter};
use tracing_subscriber::fmt::MakeWriter;

use crate::client::request;
use crate::instance::{Instance, Setup};

#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Captured {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[test]
fn a_key_shows_its_first_four_digits_and_nothing_more_wherever_a_request_leaves_a_trace() {
    // With a single subscriber in the process, what other threads log first decides for it what is logged at all.
    let _second = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::default());
    let captured = Captured::default();
    let subscriber =
        tracing_subscriber::fmt().json().with_max_level(tracing::Level::TRACE).with_writer(captured.clone()).finish();
    let form = LogForm { is_json: true, is_colored: false, has_connection: true };
    let thread = LogThread::start(form, captured.clone()).unwrap();
    // Everything of the instance runs on this thread, so that this subscriber sees all of it and no other test.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (keys, bodies, metrics) =
        tracing::subscriber::with_default(subscriber, || runtime.block_on(drive(thread.writer())));
    drop(thread);
    let log = String::from_utf8(captured.0.lock().unwrap().clone()).unwrap();
    let access_lines = log.lines().filter(|line| line.contains("\"message\":\"request\"")).count();
    assert!(access_lines >= 15, "{access_lines} lines: {log}");
    assert!(log.contains(&format!("/v4/{}…", &keys[0][..4])), "{log}");
    assert!(metrics.contains("surface=\"main\""));
    for key in &keys {
        for text in [&log, &metrics, &bodies] {
            let text = text.to_lowercase();
            for part in [&key[..], &key[4..], &key[..16], &key[16..]] {
                assert!(!text.contains(&part.to_lowercase()), "{part} in {text}");
            }
        }
    }
}

/// Keys used, all answers, and the metrics.
async fn drive(log: LogWriter) -> (Vec<String>, String, String) {
    let instance = Instance::with(Setup { access_log: Some(log), ..Setup::default() }).await;
    let active = instance.key.key.reveal();
    let unknown = ApiKey::generate().unwrap().reveal();
    let mut bodies = String::new();
    for key in [&active, &unknown] {
        let upper = key.to_uppercase();
        for path in [
            format!("/v4/{key}"),
            format!("/v4/{upper}/"),
            format!("/v4/{key}/mempool"),
            format!("/v4/{key}/get-nothing"),
            format!("/v4/{key}/health"),
            format!("/v4/{key}0"),
            format!("/v4/{}", &key[1..]),
            format!("/{key}"),
            format!("/api/v1/{key}/verify"),
            format!("/v4/jsonrpc/{key}"),
            format!("/v4/jsonrpc?key={key}"),
            format!("/v4/api/{key}"),
        ] {
            bodies += instance.post(&path, r#"{"method":"getchaintips","id":1}"#).await.text();
        }
        let headers =
            [("x-service-api-key", key.as_str()), ("X-Request-Id", key.as_str()), ("User-Agent", key.as_str())];
        for body in [
            "{}",
            &format!(r#"{{"method":"{key}","id":1}}"#),
            &format!(r#"{{"method":"esplora_tx","params":["{key}"],"id":1}}"#),
        ] {
            let response = instance.send("POST", "/v4/jsonrpc", &headers, body).await;
            bodies += response.text();
            bodies += response.header("x-request-id").unwrap();
        }
        let broken = instance.send("POST", "/v4/jsonrpc", &headers, r#"{"method":"getchaintips","id":1}"#).await;
        bodies += broken.text();
        bodies += instance.send(key, "/v4/jsonrpc", &headers, "").await.text();
    }
    let metrics = request(instance.metrics, "GET", "/metrics", &[], b"").await.text().to_owned();
    (vec![active, unknown], bodies, metrics)
}
