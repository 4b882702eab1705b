#![allow(clippy::unwrap_used)]

use super::*;
use crate::{child, in_current, is_recorded, note};

#[derive(Default)]
struct RecordedSpans(Mutex<Vec<EndedSpan>>);

impl SpanSink for RecordedSpans {
    fn take(&self, span: EndedSpan) {
        self.0.lock().push(span);
    }

    fn counts(&self) -> SinkCounts {
        SinkCounts::default()
    }
}

fn tracer(sample: f64, spans_per_second: u32) -> (Tracer, Arc<RecordedSpans>) {
    let recorded = Arc::new(RecordedSpans::default());
    let settings = TracerSettings { sample, spans_per_second, propagate: true };
    (Tracer::new(settings, Arc::clone(&recorded) as Arc<dyn SpanSink>), recorded)
}

fn caller(is_sampled: bool) -> Traceparent {
    Traceparent { trace: TraceId([7; 16]), span: SpanId([9; 8]), is_sampled }
}

#[tokio::test]
async fn children_belong_to_the_span_of_their_task() {
    let (tracer, recorded) = tracer(1.0, 100);
    let request = tracer.request(None);
    assert!(!is_recorded() && !child("outside").is_recorded());
    request
        .scope(Box::pin(async {
            note("late", || "noted".into());
            let call = child("call");
            call.scope(Box::pin(async {
                let spawned = tokio::spawn(in_current(async { drop(child("read")) }));
                spawned.await.unwrap();
            }))
            .await;
        }))
        .await;
    drop(request);
    let spans = recorded.0.lock();
    let [read, call, request] = spans.as_slice() else { panic!("{spans:?}") };
    assert_eq!((&*read.name, &*call.name, &*request.name), ("read", "call", "request"));
    assert_eq!((read.parent, call.parent, request.parent), (Some(call.id), Some(request.id), None));
    assert!(spans.iter().all(|span| span.trace == request.trace && span.ended >= span.started));
    assert_eq!(request.attributes, [("late", "noted".into())]);
    assert!(call.attributes.is_empty());
}

#[test]
fn a_caller_names_the_trace_and_whether_it_is_recorded() {
    let (tracer, recorded) = tracer(1.0, 100);
    assert!(!tracer.request(Some(caller(false))).is_recorded());
    let span = tracer.request(Some(caller(true)));
    let passed_on = Traceparent::parse(span.child("upstream").of_client().traceparent().unwrap().as_bytes()).unwrap();
    drop(span);
    let spans = recorded.0.lock();
    let [upstream, request] = spans.as_slice() else { panic!("{spans:?}") };
    assert_eq!(
        (request.trace, request.parent, request.is_parent_remote),
        (TraceId([7; 16]), Some(SpanId([9; 8])), true)
    );
    assert_eq!((upstream.parent, upstream.kind), (Some(request.id), Kind::Client));
    assert_eq!((passed_on.trace, passed_on.span), (request.trace, upstream.id));
}

#[test]
fn callers_take_no_more_than_half_of_the_budget_and_what_is_refused_is_counted() {
    let (tracer, recorded) = tracer(1.0, 1_000);
    let by_callers = (0..2_000).filter(|_| tracer.request(Some(caller(true))).is_recorded()).count();
    let own = (0..2_000).filter(|_| tracer.request(None).is_recorded()).count();
    // Tokens that are added while this runs come on top.
    assert!((500..900).contains(&by_callers) && (500..900).contains(&own), "{by_callers} {own}");
    assert_eq!(tracer.dropped().budget as usize, 4_000 - by_callers - own);
    assert_eq!(recorded.0.lock().len(), by_callers + own);
}

#[test]
fn one_request_has_few_children_and_short_texts() {
    let (tracer, recorded) = tracer(1.0, 1_000);
    let mut request = tracer.request(None);
    request.set("text", "é".repeat(1_000));
    assert_eq!((0..1_000).filter(|_| request.child("call").is_recorded()).count(), CHILDREN_MAX as usize);
    drop(request);
    let spans = recorded.0.lock();
    let Value::Text(text) = &spans.last().unwrap().attributes[0].1 else { panic!("{spans:?}") };
    assert_eq!(text.len(), 256);
}

#[test]
fn a_part_of_all_requests_is_chosen() {
    let (tracer, _) = tracer(0.1, 100_000);
    let chosen = (0..20_000).filter(|_| tracer.request(None).is_recorded()).count();
    assert!((1_700..2_300).contains(&chosen), "{chosen}");
    let (none, _) = self::tracer(0.0, 100_000);
    assert!(!(0..1_000).any(|_| none.request(None).is_recorded()));
}

#[test]
fn an_import_records_few_blocks() {
    let (tracer, _) = tracer(0.0, 1);
    let recorded = (0..10_000).filter(|_| tracer.block().is_recorded()).count();
    assert!((10..13).contains(&recorded), "{recorded}");
}
