//! Spans of requests and blocks: measurement, sampling, and the data of ended spans.
//!
//! A [`Tracer`] decides once for each request or block; an unrecorded [`Span`] is empty, and neither it nor its children measure or
//! allocate. A [`SpanSink`] exports the spans, so that this crate does not depend on OpenTelemetry's libraries (docs/decisions/0068).
//!
//! Invariants: recording a span never waits; all recorded spans of a process stay within [`TracerSettings::spans_per_second`], whatever callers ask for.
#![forbid(unsafe_code)]

mod budget;
mod current;
mod ids;
mod span;
mod traceparent;
mod tracer;

pub use current::{Wait, child, in_current, is_recorded, note, wait};
pub use ids::{SpanId, TraceId};
pub use span::{EndedSpan, Kind, Span, Value};
pub use traceparent::Traceparent;
pub use tracer::{Dropped, SinkCounts, SpanSink, Tracer, TracerSettings};
