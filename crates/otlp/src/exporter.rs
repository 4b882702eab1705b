//! The exporter: OpenTelemetry's batches and encoding, our HTTP client, our counts.

mod client;
mod convert;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry_otlp::{Protocol, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, SpanData, SpanExporter, SpanProcessor as _};
use paraffin_spans::{EndedSpan, SinkCounts, SpanSink, Tracer};

use crate::settings::{ExportError, TracingSettings};
use client::CollectorClient;

/// Path of the collector for traces, below its address.
const TRACES_PATH: &str = "/v1/traces";
/// Spans that are sent together.
const BATCH_SPANS: usize = 512;
/// How long spans are gathered.
const GATHER: Duration = Duration::from_secs(1);
/// How long a batch may take, further attempts included.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the end of the program waits for what has not been sent.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Sends spans until it is closed.
pub struct Exporter {
    queue: Arc<Queue>,
    tracer: Tracer,
}

impl Exporter {
    /// Starts the thread that sends; `None` where nothing is to be recorded. `version` is that of the program. Must be called within the runtime,
    /// which makes the connections.
    ///
    /// # Errors
    /// [`ExportError`]: a setting is wrong.
    pub fn start(settings: &TracingSettings, version: &'static str) -> Result<Option<Self>, ExportError> {
        settings.check()?;
        let Some(endpoint) = &settings.endpoint else { return Ok(None) };
        let exporter = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_http_client(CollectorClient::new(EXPORT_TIMEOUT))
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(format!("{}{TRACES_PATH}", endpoint.trim_end_matches('/')))
            .with_headers(settings.headers.clone().into_iter().collect())
            .with_timeout(EXPORT_TIMEOUT)
            .build()
            .map_err(|error| ExportError::Refused(error.to_string()))?;
        let counts = Arc::new(Counts::default());
        let spans_max = settings.queue_spans as usize;
        let config = BatchConfigBuilder::default()
            .with_max_queue_size(spans_max)
            .with_max_export_batch_size(BATCH_SPANS.min(spans_max))
            .with_scheduled_delay(GATHER)
            .build();
        let mut processor = BatchSpanProcessor::new(Counted { exporter, counts: Arc::clone(&counts) }, config);
        let resource = Resource::builder()
            .with_service_name(settings.service_name.clone())
            .with_attribute(KeyValue::new("service.version", version))
            .build();
        processor.set_resource(&resource);
        let queue = Arc::new(Queue { processor, spans_max, counts });
        let tracer = Tracer::new(settings.tracer(), Arc::clone(&queue) as Arc<dyn SpanSink>);
        Ok(Some(Self { queue, tracer }))
    }

    /// Records spans for it.
    pub fn tracer(&self) -> Tracer {
        self.tracer.clone()
    }

    /// Sends waiting spans, for two seconds at most. Spans that end later are lost.
    pub async fn close(self) {
        let queue = self.queue;
        let closed = tokio::task::spawn_blocking(move || queue.processor.shutdown_with_timeout(CLOSE_TIMEOUT));
        if let Ok(Err(error)) = closed.await {
            tracing::warn!(%error, "the last spans could not be exported");
        }
    }
}

/// Counts of spans.
#[derive(Debug, Default)]
struct Counts {
    /// Queued, and neither exported nor refused yet.
    waiting: AtomicUsize,
    exported: AtomicU64,
    queue_full: AtomicU64,
    refused: AtomicU64,
    /// Whether the last batch was refused.
    is_failing: AtomicBool,
}

/// Spans that wait. OpenTelemetry's queue is bounded as well, but does not count dropped spans, so it is never filled.
struct Queue {
    processor: BatchSpanProcessor,
    spans_max: usize,
    counts: Arc<Counts>,
}

impl SpanSink for Queue {
    fn take(&self, span: EndedSpan) {
        if self.counts.waiting.fetch_add(1, Ordering::Relaxed) >= self.spans_max {
            self.counts.waiting.fetch_sub(1, Ordering::Relaxed);
            self.counts.queue_full.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.processor.on_end(convert::span(span));
    }

    fn counts(&self) -> SinkCounts {
        let counts = &self.counts;
        SinkCounts {
            exported: counts.exported.load(Ordering::Relaxed),
            queue_full: counts.queue_full.load(Ordering::Relaxed),
            refused: counts.refused.load(Ordering::Relaxed),
        }
    }
}

/// The exporter with counts.
#[derive(Debug)]
struct Counted {
    exporter: opentelemetry_otlp::SpanExporter,
    counts: Arc<Counts>,
}

impl SpanExporter for Counted {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len();
        let result = self.exporter.export(batch).await;
        let counter = if result.is_ok() { &self.counts.exported } else { &self.counts.refused };
        counter.fetch_add(spans as u64, Ordering::Relaxed);
        self.counts.waiting.fetch_sub(spans, Ordering::Relaxed);
        match (&result, self.counts.is_failing.swap(result.is_err(), Ordering::Relaxed)) {
            (Err(error), false) => {
                tracing::warn!(%error, "the collector of [tracing] takes no spans: they are dropped until it does");
            }
            (Ok(()), true) => tracing::info!("the collector of [tracing] takes spans again"),
            _ => {}
        }
        result
    }

    fn shutdown(&self) -> OTelSdkResult {
        self.exporter.shutdown()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}
