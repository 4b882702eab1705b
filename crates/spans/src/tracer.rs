use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use parking_lot::Mutex;

use crate::budget::Budget;
use crate::ids::{Numbers, SpanId, TraceId};
use crate::span::{EndedSpan, Kind, Span, Value};
use crate::traceparent::Traceparent;

/// Spans below the first of one trace; further ones are dropped and counted.
const CHILDREN_MAX: u32 = 64;
/// Share of a burst that requests with the sampled flag of their caller leave for those that this process samples.
const CALLERS_RESERVE: f64 = 0.5;
/// Blocks that are recorded: one a second, and so many at once.
const BLOCKS_PER_SECOND: f64 = 1.0;
const BLOCKS_AT_ONCE: f64 = 10.0;

/// Receiver of ended spans.
pub trait SpanSink: Send + Sync {
    /// Takes a span. It must not block: a span that does not fit is dropped and counted.
    fn take(&self, span: EndedSpan);
    /// Counts of the spans so far.
    fn counts(&self) -> SinkCounts;
}

/// Counts of the spans of a sink.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SinkCounts {
    /// Exported to the collector.
    pub exported: u64,
    /// Dropped because the queue was full.
    pub queue_full: u64,
    /// Refused by the collector, or not delivered.
    pub refused: u64,
}

/// Counts of dropped spans by reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dropped {
    /// More than [`TracerSettings::spans_per_second`], or than one request may have.
    pub budget: u64,
    /// The queue for the collector was full.
    pub queue_full: u64,
    /// Refused by the collector, or not delivered.
    pub refused: u64,
}

/// Settings of sampling.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TracerSettings {
    /// Part of the requests without a `traceparent` that is recorded, from 0 to 1.
    pub sample: f64,
    /// Spans of requests that may be recorded in a second.
    pub spans_per_second: u32,
    /// Whether instances behind this gateway are given a `traceparent`.
    pub propagate: bool,
}

/// Decides which requests and blocks are recorded. Cheap to clone.
#[derive(Clone)]
pub struct Tracer(Arc<Inner>);

struct Inner {
    settings: TracerSettings,
    sink: Arc<dyn SpanSink>,
    numbers: Numbers,
    requests: Budget,
    blocks: Budget,
    over_budget: AtomicU64,
}

/// Shared state of all spans of a trace in this process.
pub(crate) struct Trace {
    pub(crate) tracer: Tracer,
    pub(crate) id: TraceId,
    /// See [`Budget::take`].
    reserve: f64,
    /// Whether its spans are taken from the budget of requests.
    is_counted: bool,
    children: AtomicU32,
    /// Attributes of the first span that are set further down.
    pub(crate) notes: Mutex<Vec<(&'static str, Value)>>,
}

impl Tracer {
    /// A tracer whose spans go to `sink`.
    pub fn new(settings: TracerSettings, sink: Arc<dyn SpanSink>) -> Self {
        let (now, per_second) = (Instant::now(), f64::from(settings.spans_per_second));
        Self(Arc::new(Inner {
            settings,
            sink,
            numbers: Numbers::default(),
            requests: Budget::new(per_second, per_second, now),
            blocks: Budget::new(BLOCKS_PER_SECOND, BLOCKS_AT_ONCE, now),
            over_budget: AtomicU64::new(0),
        }))
    }

    /// The span of a request with this `traceparent`, if it is recorded: by the flag of the caller where there is one, and else a sample.
    /// Requests with the sampled flag leave half of the budget to the others.
    pub fn request(&self, caller: Option<Traceparent>) -> Span {
        let (is_wanted, reserve) = match caller {
            Some(caller) => (caller.is_sampled, CALLERS_RESERVE),
            None => (self.is_chosen(), 0.0),
        };
        if !is_wanted || !self.may_record(reserve) {
            return Span::none();
        }
        let id = caller.map_or_else(|| self.0.numbers.trace_id(), |caller| caller.trace);
        let trace = Trace::new(self.clone(), id, reserve, true);
        Span::first(trace, caller.map(|caller| caller.span), Kind::Server, "request")
    }

    /// The span of a block that is indexed: of one a second, so that an import has a negligible cost and each block at the tip is recorded.
    pub fn block(&self) -> Span {
        if !self.0.blocks.take(0.0, Instant::now()) {
            return Span::none();
        }
        let trace = Trace::new(self.clone(), self.0.numbers.trace_id(), 0.0, false);
        Span::first(trace, None, Kind::Internal, "block")
    }

    /// Exported spans.
    pub fn exported(&self) -> u64 {
        self.0.sink.counts().exported
    }

    /// Dropped spans.
    pub fn dropped(&self) -> Dropped {
        let counts = self.0.sink.counts();
        let budget = self.0.over_budget.load(Ordering::Relaxed);
        Dropped { budget, queue_full: counts.queue_full, refused: counts.refused }
    }

    pub(crate) fn propagates(&self) -> bool {
        self.0.settings.propagate
    }

    pub(crate) fn new_span_id(&self) -> SpanId {
        self.0.numbers.span_id()
    }

    pub(crate) fn end(&self, span: EndedSpan) {
        self.0.sink.take(span);
    }

    fn is_chosen(&self) -> bool {
        let sample = self.0.settings.sample;
        // 53 bits convert to a fraction without rounding.
        #[allow(clippy::cast_precision_loss)]
        let chance = || (self.0.numbers.next() >> 11) as f64 / (1_u64 << 53) as f64;
        sample > 0.0 && chance() < sample
    }

    fn may_record(&self, reserve: f64) -> bool {
        let may = self.0.requests.take(reserve, Instant::now());
        if !may {
            self.0.over_budget.fetch_add(1, Ordering::Relaxed);
        }
        may
    }
}

impl Trace {
    fn new(tracer: Tracer, id: TraceId, reserve: f64, is_counted: bool) -> Self {
        Self { tracer, id, reserve, is_counted, children: AtomicU32::new(0), notes: Mutex::default() }
    }

    /// Whether one more span below the first may be recorded.
    pub(crate) fn may_have_child(&self) -> bool {
        if self.children.fetch_add(1, Ordering::Relaxed) >= CHILDREN_MAX {
            self.tracer.0.over_budget.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        !self.is_counted || self.tracer.may_record(self.reserve)
    }
}

#[cfg(test)]
#[path = "tracer/tests.rs"]
mod tests;
