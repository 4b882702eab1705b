use opentelemetry::trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use paraffin_spans::{EndedSpan, Kind, Value};

/// Converts a span to that of OpenTelemetry's libraries.
pub(super) fn span(span: EndedSpan) -> SpanData {
    let id = |id: paraffin_spans::SpanId| SpanId::from_bytes(id.0);
    let trace = TraceId::from_bytes(span.trace.0);
    SpanData {
        span_context: SpanContext::new(trace, id(span.id), TraceFlags::SAMPLED, false, TraceState::default()),
        parent_span_id: span.parent.map_or(SpanId::INVALID, id),
        parent_span_is_remote: span.is_parent_remote,
        span_kind: match span.kind {
            Kind::Server => SpanKind::Server,
            Kind::Client => SpanKind::Client,
            Kind::Internal => SpanKind::Internal,
        },
        name: span.name,
        start_time: span.started,
        end_time: span.ended,
        attributes: span.attributes.into_iter().map(|(key, value)| attribute(key, value)).collect(),
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        status: if span.is_error { Status::error("") } else { Status::Unset },
        instrumentation_scope: InstrumentationScope::builder("paraffin").build(),
    }
}

fn attribute(key: &'static str, value: Value) -> KeyValue {
    match value {
        Value::Text(text) => KeyValue::new(key, text),
        Value::Number(number) => KeyValue::new(key, number),
    }
}
