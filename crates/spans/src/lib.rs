//! Spans of requests and blocks: what is measured, which of them are recorded, and what they carry when they end.
//!
//! A [`Tracer`] decides once for each request or block; the [`Span`] of what is not recorded is nothing, and neither it nor its children measure or
//! allocate. Where the spans go is a [`SpanSink`]'s concern, so that nothing here knows OpenTelemetry's libraries (docs/decisions/0068).
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
