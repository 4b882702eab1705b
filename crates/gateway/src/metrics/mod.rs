use std::sync::Arc;
use std::time::Duration;

use metrics::{Key, Label, Level, Metadata, Recorder, Unit};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusRecorder};

use crate::state::Shared;

const METADATA: Metadata<'static> = Metadata::new("paraffin_gateway", Level::INFO, None);
const LATENCY: &str = "paraffin_http_request_seconds";
const REQUESTS: &str = "paraffin_http_requests_total";
const CALLS: &str = "paraffin_rpc_calls_total";
const IN_FLIGHT: &str = "paraffin_http_requests_in_flight";
const PANICS: &str = "paraffin_handler_panics_total";
const HEIGHT: &str = "paraffin_indexed_height";
const NODE: &str = "paraffin_node_reachable";
const WAITING: &str = "paraffin_keyless_requests_waiting";
const CUT: &str = "paraffin_http_connections_refused_total";
const CONNECTIONS: &str = "paraffin_http_connections";
const LATENCY_BUCKETS: [f64; 12] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0];

/// Counters and histograms of one instance, rendered as Prometheus text. Labels are closed sets: surface, family, status,
/// outcome; never a key, a path or anything else that a caller chose.
#[derive(Clone)]
pub struct Metrics(Arc<PrometheusRecorder>);

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// An empty set.
    pub fn new() -> Self {
        let builder = PrometheusBuilder::new();
        // The only error is an empty list of buckets.
        let builder = builder
            .set_buckets_for_metric(Matcher::Full(LATENCY.to_owned()), &LATENCY_BUCKETS)
            .unwrap_or_else(|_| PrometheusBuilder::new());
        let recorder = builder.build_recorder();
        for (name, text) in [
            (REQUESTS, "HTTP requests by surface and status"),
            (CALLS, "JSON-RPC calls by family and outcome"),
            (PANICS, "Handlers that panicked"),
            (CUT, "Connections closed at once because their client has too many"),
        ] {
            recorder.describe_counter(name.into(), Some(Unit::Count), text.into());
        }
        recorder.describe_histogram(
            LATENCY.into(),
            Some(Unit::Seconds),
            "Time from the request head to the answer".into(),
        );
        for (name, text) in [
            (IN_FLIGHT, "Requests being answered"),
            (CONNECTIONS, "Open connections"),
            (WAITING, "Requests without credentials that wait for their turn"),
            (HEIGHT, "Height of the newest indexed block"),
            (NODE, "1 when the Bitcoin node answers"),
        ] {
            recorder.describe_gauge(name.into(), Some(Unit::Count), text.into());
        }
        Self(Arc::new(recorder))
    }

    /// Makes this set the one that the `metrics` macros of the whole program write to.
    ///
    /// # Errors
    /// When the program already has one.
    pub fn install_globally(&self) -> Result<(), metrics::SetRecorderError<Arc<PrometheusRecorder>>> {
        metrics::set_global_recorder(Arc::clone(&self.0))
    }

    /// All figures as Prometheus text.
    pub fn render(&self) -> String {
        self.0.handle().render()
    }

    pub(crate) fn upkeep(&self) {
        self.0.handle().run_upkeep();
    }

    pub(crate) fn request(&self, surface: &'static str, status: u16, elapsed: Duration) {
        let labels = vec![Label::from_static_parts("surface", surface), Label::new("status", status.to_string())];
        self.0.register_counter(&Key::from_parts(REQUESTS, labels), &METADATA).increment(1);
        let labels = vec![Label::from_static_parts("surface", surface)];
        self.0.register_histogram(&Key::from_parts(LATENCY, labels), &METADATA).record(elapsed.as_secs_f64());
    }

    pub(crate) fn call(&self, family: &'static str, error_code: Option<i64>) {
        // Codes of the node are many; the classes are few.
        let outcome = match error_code {
            None => "ok",
            Some(-32603) => "internal",
            Some(-32602..=-32600) => "refused",
            Some(_) => "error",
        };
        let labels = vec![Label::from_static_parts("family", family), Label::from_static_parts("outcome", outcome)];
        self.0.register_counter(&Key::from_parts(CALLS, labels), &METADATA).increment(1);
    }

    pub(crate) fn panic(&self) {
        self.0.register_counter(&Key::from_name(PANICS), &METADATA).increment(1);
    }

    pub(crate) fn in_flight(&self) -> GaugeGuard {
        self.guard(IN_FLIGHT)
    }

    pub(crate) fn connection(&self) -> GaugeGuard {
        self.guard(CONNECTIONS)
    }

    pub(crate) fn waiting(&self) -> GaugeGuard {
        self.guard(WAITING)
    }

    pub(crate) fn connection_refused(&self) {
        self.0.register_counter(&Key::from_name(CUT), &METADATA).increment(1);
    }

    fn guard(&self, name: &'static str) -> GaugeGuard {
        let gauge = self.0.register_gauge(&Key::from_static_name(name), &METADATA);
        gauge.increment(1.0);
        GaugeGuard(gauge)
    }

    /// Takes the figures that nobody reports by himself.
    pub(crate) fn observe(&self, shared: &Shared) {
        let height = shared.chain.snapshot().tip().map_or(-1.0, |record| f64::from(record.id.height));
        self.0.register_gauge(&Key::from_static_name(HEIGHT), &METADATA).set(height);
        let reachable = if shared.node.status().reachable { 1.0 } else { 0.0 };
        self.0.register_gauge(&Key::from_static_name(NODE), &METADATA).set(reachable);
    }
}

/// Counts something that is under way, until it is dropped.
pub(crate) struct GaugeGuard(metrics::Gauge);

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.decrement(1.0);
    }
}
