use std::borrow::Cow;
use std::mem::take;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use crate::current::{cut, within};
use crate::ids::{SpanId, TraceId};
use crate::traceparent::Traceparent;
use crate::tracer::Trace;

/// Attributes of one span; further ones are left out.
const ATTRIBUTES_MAX: usize = 32;

/// Kind of a span, as OpenTelemetry names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A request that is answered.
    Server,
    /// A request to another server.
    Client,
    /// Work in this process.
    Internal,
}

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A text, cut to 256 bytes.
    Text(Cow<'static, str>),
    /// A number.
    Number(i64),
}

impl From<&'static str> for Value {
    fn from(text: &'static str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<u16> for Value {
    fn from(number: u16) -> Self {
        Self::Number(number.into())
    }
}

/// Attributes in the order in which they were set; the last of a key counts.
type Attributes = Vec<(&'static str, Value)>;

fn set(attributes: &mut Attributes, key: &'static str, value: Value) {
    let value = match value {
        Value::Text(text) => Value::Text(cut(text)),
        number @ Value::Number(_) => number,
    };
    if let Some((_, existing)) = attributes.iter_mut().find(|(other, _)| *other == key) {
        *existing = value;
    } else if attributes.len() < ATTRIBUTES_MAX {
        attributes.push((key, value));
    }
}

/// A span that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct EndedSpan {
    /// Its trace.
    pub trace: TraceId,
    /// Its id.
    pub id: SpanId,
    /// Its parent.
    pub parent: Option<SpanId>,
    /// Whether the parent is a span of the caller.
    pub is_parent_remote: bool,
    /// Its kind.
    pub kind: Kind,
    /// Its name; never a text of a caller.
    pub name: Cow<'static, str>,
    /// When it began.
    pub started: SystemTime,
    /// When it ended.
    pub ended: SystemTime,
    /// Its attributes.
    pub attributes: Attributes,
    /// Whether the operation failed.
    pub is_error: bool,
}

/// A measurement that ends when it is dropped; empty if it is not recorded.
#[must_use = "a span ends when it is dropped"]
#[derive(Default)]
pub struct Span(Option<Box<Open>>);

struct Open {
    parent: Parent,
    of: Option<(SpanId, bool)>,
    kind: Kind,
    name: Cow<'static, str>,
    started: SystemTime,
    began: Instant,
    attributes: Attributes,
    is_error: bool,
}

/// Data of a span for its children.
#[derive(Clone)]
pub(crate) struct Parent {
    trace: Arc<Trace>,
    id: SpanId,
}

impl Parent {
    pub(crate) fn child(&self, name: &'static str) -> Span {
        if !self.trace.may_have_child() {
            return Span::none();
        }
        let parent = Self { trace: Arc::clone(&self.trace), id: self.trace.tracer.new_span_id() };
        Span::open(parent, Some((self.id, false)), Kind::Internal, name)
    }

    pub(crate) fn note(&self, key: &'static str, value: Value) {
        set(&mut self.trace.notes.lock(), key, value);
    }
}

impl Span {
    /// An empty span: it measures nothing and has no children.
    pub const fn none() -> Self {
        Self(None)
    }

    /// The first span of a trace in this process.
    pub(crate) fn first(trace: Trace, caller: Option<SpanId>, kind: Kind, name: &'static str) -> Self {
        let id = trace.tracer.new_span_id();
        Self::open(Parent { trace: Arc::new(trace), id }, caller.map(|span| (span, true)), kind, name)
    }

    fn open(parent: Parent, of: Option<(SpanId, bool)>, kind: Kind, name: &'static str) -> Self {
        let (started, began) = (SystemTime::now(), Instant::now());
        let attributes = Vec::new();
        Self(Some(Box::new(Open { parent, of, kind, name: name.into(), started, began, attributes, is_error: false })))
    }

    /// Whether it is measured.
    pub fn is_recorded(&self) -> bool {
        self.0.is_some()
    }

    /// A child span.
    pub fn child(&self, name: &'static str) -> Self {
        self.0.as_ref().map_or_else(Self::none, |open| open.parent.child(name))
    }

    /// A child span for a request to another server.
    pub fn of_client(mut self) -> Self {
        if let Some(open) = &mut self.0 {
            open.kind = Kind::Client;
        }
        self
    }

    /// A child span that began earlier and ends when it is dropped.
    pub fn since(mut self, started: SystemTime) -> Self {
        if let Some(open) = &mut self.0 {
            let earlier = open.started.duration_since(started).unwrap_or_default();
            if let Some(began) = open.began.checked_sub(earlier) {
                (open.started, open.began) = (started.min(open.started), began);
            }
        }
        self
    }

    /// Ends it as of an earlier time.
    pub fn end_at(mut self, ended: SystemTime) {
        if let Some(open) = self.0.take() {
            (*open).end(ended);
        }
    }

    /// Gives it another name; only called for one that is recorded.
    pub fn rename(&mut self, name: impl FnOnce() -> String) {
        if let Some(open) = &mut self.0 {
            open.name = cut(name().into());
        }
    }

    /// Sets an attribute.
    pub fn set(&mut self, key: &'static str, value: impl Into<Value>) {
        if let Some(open) = &mut self.0 {
            set(&mut open.attributes, key, value.into());
        }
    }

    /// Marks it as failed, for a reason from a closed set (`error.type`).
    pub fn fail(&mut self, reason: impl Into<Value>) {
        if let Some(open) = &mut self.0 {
            open.is_error = true;
            set(&mut open.attributes, "error.type", reason.into());
        }
    }

    /// The context that is propagated to another server, where that is configured.
    pub fn traceparent(&self) -> Option<String> {
        let open = self.0.as_ref()?;
        let trace = &open.parent.trace;
        let header = || Traceparent { trace: trace.id, span: open.parent.id, is_sampled: true }.to_string();
        trace.tracer.propagates().then(header)
    }

    /// Wraps a future so that this is the current span within it.
    pub fn scope<F: Future + Unpin>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        within(self.0.as_ref().map(|open| open.parent.clone()), future)
    }
}

impl Open {
    fn end(mut self, ended: SystemTime) {
        let trace = &self.parent.trace;
        // The first span of a trace has the attributes that were noted below it.
        if self.of.is_none_or(|(_, is_remote)| is_remote) {
            for (key, value) in take(&mut *trace.notes.lock()) {
                set(&mut self.attributes, key, value);
            }
        }
        let span = EndedSpan {
            trace: trace.id,
            id: self.parent.id,
            parent: self.of.map(|(id, _)| id),
            is_parent_remote: self.of.is_some_and(|(_, is_remote)| is_remote),
            kind: self.kind,
            name: take(&mut self.name),
            started: self.started,
            ended,
            attributes: take(&mut self.attributes),
            is_error: self.is_error,
        };
        trace.tracer.end(span);
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        if let Some(open) = self.0.take() {
            // The wall clock may be set during a measurement.
            let ended = open.started + open.began.elapsed();
            (*open).end(ended);
        }
    }
}
