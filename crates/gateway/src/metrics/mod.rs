//! What operators measure.

mod meter;
mod tally;

use std::sync::Arc;
use std::time::Duration;

use metrics::{Key, Label, Level, Metadata, Recorder, Unit};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusRecorder};
use paraffin_spans::Tracer;

use crate::state::Shared;
pub use meter::Meter;
use tally::{ByName, Latency, Tally};

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
const DRAINING: &str = "paraffin_draining";
const CONNECTIONS: &str = "paraffin_http_connections";

/// Statuses that the gateway answers with, in figures of their own.
const STATUSES: [(u16, &str); 20] = [
    (200, "200"),
    (202, "202"),
    (204, "204"),
    (304, "304"),
    (400, "400"),
    (401, "401"),
    (403, "403"),
    (404, "404"),
    (405, "405"),
    (408, "408"),
    (413, "413"),
    (422, "422"),
    (429, "429"),
    (431, "431"),
    (500, "500"),
    (501, "501"),
    (502, "502"),
    (503, "503"),
    (504, "504"),
    (0, "other"),
];

const OUTCOMES: [&str; 4] = ["ok", "internal", "refused", "error"];

/// Counters and histograms of one instance, rendered as Prometheus text. Labels are closed sets: surface, family, status,
/// outcome; never a key, a path or anything else that a caller chose.
#[derive(Clone)]
pub struct Metrics {
    recorder: Arc<PrometheusRecorder>,
    tallies: Arc<Tallies>,
}

/// Counters of requests. The recorder looks up each figure by its labels, which costs more than many requests; it gets the
/// totals when the metrics are scraped.
#[derive(Default)]
struct Tallies {
    surfaces: ByName<SurfaceTallies>,
    /// By family and [`OUTCOMES`].
    calls: ByName<[Tally; OUTCOMES.len()]>,
    in_flight: Tally,
    connections: Tally,
    waiting: Tally,
    panics: Tally,
    cut: Tally,
}

#[derive(Default)]
struct SurfaceTallies {
    /// By [`STATUSES`].
    statuses: [Tally; STATUSES.len()],
    latency: Latency,
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// An empty set.
    pub fn new() -> Self {
        let recorder = PrometheusBuilder::new().build_recorder();
        for (name, text) in [
            (REQUESTS, "HTTP requests by surface and status"),
            (CALLS, "JSON-RPC calls by family and outcome"),
            (PANICS, "Handlers that panicked"),
            (CUT, "Connections closed at once because their client has too many"),
        ] {
            recorder.describe_counter(name.into(), Some(Unit::Count), text.into());
        }
        for (name, text) in [
            (IN_FLIGHT, "Requests being answered"),
            (CONNECTIONS, "Open connections"),
            (WAITING, "Requests without credentials that wait for their turn"),
            (HEIGHT, "Height of the newest indexed block"),
            (NODE, "1 when the Bitcoin node answers"),
            (DRAINING, "1 while the server is about to stop"),
        ] {
            recorder.describe_gauge(name.into(), Some(Unit::Count), text.into());
        }
        Self { recorder: Arc::new(recorder), tallies: Arc::default() }
    }

    /// Makes this set the one that the `metrics` macros of the whole program write to.
    ///
    /// # Errors
    /// When the program already has one.
    pub fn install_globally(&self) -> Result<(), metrics::SetRecorderError<Arc<PrometheusRecorder>>> {
        metrics::set_global_recorder(Arc::clone(&self.recorder))
    }

    /// Takes figures that do not change, from the code that assembles the program.
    pub fn meter(&self) -> Meter<'_> {
        Meter::new(&self.recorder)
    }

    /// All figures as Prometheus text.
    pub fn render(&self) -> String {
        use std::fmt::Write as _;
        self.publish();
        let mut text = self.recorder.handle().render();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# HELP {LATENCY} Time from the request head to the answer\n# TYPE {LATENCY} histogram");
        for (surface, tallies) in self.tallies.surfaces.iter() {
            tallies.latency.render(&mut text, LATENCY, &format!("surface=\"{surface}\""));
        }
        text
    }

    /// Hands the totals to the recorder.
    fn publish(&self) {
        let tallies = &self.tallies;
        for (surface, by_status) in tallies.surfaces.iter() {
            for ((_, status), tally) in STATUSES.iter().zip(&by_status.statuses) {
                self.counter(REQUESTS, &[("surface", surface), ("status", status)], tally);
            }
        }
        for (family, by_outcome) in tallies.calls.iter() {
            for (outcome, tally) in OUTCOMES.iter().zip(by_outcome) {
                self.counter(CALLS, &[("family", family), ("outcome", outcome)], tally);
            }
        }
        self.counter(PANICS, &[], &tallies.panics);
        self.counter(CUT, &[], &tallies.cut);
        for (name, tally) in
            [(IN_FLIGHT, &tallies.in_flight), (CONNECTIONS, &tallies.connections), (WAITING, &tallies.waiting)]
        {
            // A request may end between the reading of two cells; the gauge is clamped at zero.
            let under_way = u32::try_from(tally.total().cast_signed().max(0)).unwrap_or(u32::MAX);
            self.recorder.register_gauge(&Key::from_static_name(name), &METADATA).set(f64::from(under_way));
        }
    }

    fn counter(&self, name: &'static str, labels: &[(&'static str, &'static str)], tally: &Tally) {
        let total = tally.total();
        // A figure without labels is there from the start, so that its first event is seen as a change.
        if total > 0 || labels.is_empty() {
            let labels: Vec<Label> = labels.iter().map(|(key, value)| Label::from_static_parts(key, value)).collect();
            self.recorder.register_counter(&Key::from_parts(name, labels), &METADATA).absolute(total);
        }
    }

    pub(crate) fn upkeep(&self) {
        self.recorder.handle().run_upkeep();
    }

    pub(crate) fn request(&self, surface: &'static str, status: u16, elapsed: Duration) {
        let tallies = self.tallies.surfaces.of(surface);
        let at = STATUSES.iter().position(|(known, _)| *known == status).unwrap_or(STATUSES.len() - 1);
        tallies.statuses[at].add(1);
        tallies.latency.record(elapsed);
    }

    pub(crate) fn call(&self, family: &'static str, error_code: Option<i64>) {
        // Many codes of the node, few classes.
        let outcome = match error_code {
            None => 0,
            Some(-32603) => 1,
            Some(-32602..=-32600) => 2,
            Some(_) => 3,
        };
        self.tallies.calls.of(family)[outcome].add(1);
    }

    /// Counts a handler that panicked.
    pub fn panic(&self) {
        self.tallies.panics.add(1);
    }

    pub(crate) fn in_flight(&self) -> UnderWay<'_> {
        UnderWay::new(&self.tallies.in_flight)
    }

    pub(crate) fn connection(&self) -> UnderWay<'_> {
        UnderWay::new(&self.tallies.connections)
    }

    pub(crate) fn waiting(&self) -> UnderWay<'_> {
        UnderWay::new(&self.tallies.waiting)
    }

    pub(crate) fn connection_refused(&self) {
        self.tallies.cut.add(1);
    }

    /// Takes the figures that no part of the program reports by itself.
    pub fn observe(&self, shared: &Shared) {
        let height = shared.height().map_or(-1.0, f64::from);
        self.recorder.register_gauge(&Key::from_static_name(HEIGHT), &METADATA).set(height);
        let reachable = if shared.node.status().reachable { 1.0 } else { 0.0 };
        self.recorder.register_gauge(&Key::from_static_name(NODE), &METADATA).set(reachable);
        let draining = if shared.draining.has_begun() { 1.0 } else { 0.0 };
        self.recorder.register_gauge(&Key::from_static_name(DRAINING), &METADATA).set(draining);
        let meter = self.meter();
        shared.byte_budget.measure(&meter);
        shared.measure_memory(&meter);
        if let Some(state) = shared.windows.shared() {
            let is_shared = if state.is_shared { 1.0 } else { 0.0 };
            meter.gauge("paraffin_windows_shared", "1 while gateways count together", &[], is_shared);
            meter.count("paraffin_windows_lost_total", "Times that the shared windows went away", &[], state.lost);
            meter.count(
                "paraffin_windows_alone_total",
                "Requests decided without the other gateways",
                &[],
                state.alone,
            );
        }
        if let Some(reads) = shared.chain.store_reads() {
            for (kind, total) in [("point", reads.gets), ("scan", reads.seeks), ("row", reads.rows)] {
                let text = "Reads of the store: points, scans begun, and rows that scans stepped over";
                meter.count("paraffin_store_reads_total", text, &[("kind", kind)], total);
            }
        }
        if let Some(shadow) = shared.chain.shadow() {
            shadow.measure(&meter);
        }
        if let Some(tracer) = &shared.tracer {
            measure_spans(tracer, &meter);
        }
        if let Some(upstreams) = &shared.upstreams {
            upstreams.measure(&meter);
        }
        for handler in shared.keyed.values() {
            handler.rpc.iter().for_each(|surface| surface.measure(&meter));
            handler.http.iter().for_each(|surface| surface.measure(&meter));
        }
    }
}

fn measure_spans(tracer: &Tracer, meter: &Meter<'_>) {
    let dropped = tracer.dropped();
    meter.count(
        "paraffin_spans_exported_total",
        "Spans that the collector of traces has taken",
        &[],
        tracer.exported(),
    );
    for (reason, total) in [("budget", dropped.budget), ("queue", dropped.queue_full), ("collector", dropped.refused)] {
        let text = "Spans that were dropped: beyond the budget, beyond the queue, or not taken by the collector";
        meter.count("paraffin_spans_dropped_total", text, &[("reason", reason)], total);
    }
}

/// Counts one operation in progress until it is dropped.
pub struct UnderWay<'a>(&'a Tally);

impl<'a> UnderWay<'a> {
    fn new(tally: &'a Tally) -> Self {
        tally.add(1);
        Self(tally)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.take_away(1);
    }
}
