//! The server is not there, is killed, stands still: events are refused in bounded time, reads go on, nothing is lost or doubled.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use paraffin_orderbook::{EventsError, IngestError, Orderbook, StreamState};
use serde_json::{Value, json};

use crate::server::{Server, wait};
use crate::support::{NOW, listing};
use crate::{Harness, view};

/// Longest time until a server that is back is noticed.
const BACK: Duration = Duration::from_secs(30);

fn ready(orderbook: &Orderbook) -> bool {
    orderbook.stream_state() == StreamState::Ready
}

/// row OB06
#[test]
fn without_the_server_the_kept_book_is_served_and_events_wait_outside() {
    let Some(mut server) = Server::start("") else { return };
    let (harness, folder) = (Harness::new(), tempfile::tempdir().unwrap());
    let orderbook = harness.open(folder.path(), server.options());
    assert_eq!(
        harness.ingest(&orderbook, &json!([listing("clx1", "open", 1, 1), listing("clx2", "open", 2, 2)])).unwrap(),
        2
    );
    let saved = view(&orderbook);
    orderbook.close();
    drop(orderbook);
    server.kill();
    let begin = Instant::now();
    let orderbook = harness.open(folder.path(), server.options());
    assert!(begin.elapsed() < Duration::from_secs(8), "{:?}", begin.elapsed());
    assert_eq!((view(&orderbook), orderbook.stream_state()), (saved, StreamState::Away));
    let begin = Instant::now();
    let event = listing("clx3", "open", 3, 3);
    assert!(matches!(harness.ingest(&orderbook, &event), Err(IngestError::Unavailable)));
    assert!(matches!(harness.runtime.block_on(orderbook.events(0, 1)), Err(EventsError::Unavailable)));
    assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
    // What is wrong with a body is reported all the same.
    assert!(matches!(harness.ingest(&orderbook, &json!({ "op": "x" })), Err(IngestError::Event(_))));
    assert_eq!(orderbook.figures().refused_unavailable, 1);
    server.run();
    wait(BACK, "the stream", || ready(&orderbook));
    assert_eq!(harness.ingest(&orderbook, &event).unwrap(), 1);
    assert_eq!(orderbook.read(paraffin_orderbook::MarketBook::active), 3);
    assert_eq!(harness.stored(&orderbook).len(), 3);
}

/// row OB06
#[test]
fn a_server_that_is_killed_again_and_again_loses_and_doubles_nothing() {
    let Some(mut server) = Server::start("") else { return };
    let (harness, folders) = (Harness::new(), [(); 2].map(|()| tempfile::tempdir().unwrap()));
    let gateways = folders.each_ref().map(|folder| harness.open(folder.path(), server.options()));
    let stop = Arc::new(AtomicBool::new(false));
    let refused = Arc::new(AtomicU64::new(0));
    let tasks: Vec<_> = (0..4_u64)
        .map(|task| {
            let orderbook = Arc::clone(&gateways[task as usize % 2]);
            let (stop, refused) = (Arc::clone(&stop), Arc::clone(&refused));
            harness.runtime.spawn(async move {
                let mut batch = 0;
                while !stop.load(Ordering::Relaxed) {
                    let event = |one| listing(&format!("clx{task}-{batch}-{one}"), "open", one, batch * 20 + one + 1);
                    let events: Vec<Value> = (0..20).map(event).collect();
                    let body = Value::Array(events).to_string();
                    // A refused publisher sends the same again.
                    while let Err(error) = orderbook.ingest(body.clone().into(), NOW).await {
                        assert!(matches!(error, IngestError::Unavailable), "{error}");
                        refused.fetch_add(1, Ordering::Relaxed);
                        tokio::time::sleep(Duration::from_millis(100)).await;
                    }
                    batch += 1;
                }
                batch
            })
        })
        .collect();
    for round in 0..3_u64 {
        std::thread::sleep(Duration::from_millis(400 + round * 170));
        server.kill();
        // A short absence may pass unnoticed, since what waits is sent afterwards; the last one is longer than any caller waits.
        std::thread::sleep(if round == 2 { Duration::from_secs(6) } else { Duration::from_millis(300) });
        server.run();
        for gateway in &gateways {
            wait(BACK, "the stream", || ready(gateway));
        }
    }
    std::thread::sleep(Duration::from_millis(500));
    stop.store(true, Ordering::Relaxed);
    let batches: Vec<u64> = tasks.into_iter().map(|task| harness.runtime.block_on(task).unwrap()).collect();
    assert!(batches.iter().all(|count| *count > 3), "{batches:?}");
    assert!(refused.load(Ordering::Relaxed) > 0, "no kill fell into a request");
    let total = batches.iter().sum::<u64>() * 20;
    for gateway in &gateways {
        wait(BACK, "the book", || gateway.read(paraffin_orderbook::MarketBook::active) as u64 == total);
        for (task, count) in batches.iter().enumerate() {
            for (batch, one) in (0..*count).flat_map(|batch| (0..20).map(move |one| (batch, one))) {
                let id = format!("clx{task}-{batch}-{one}");
                assert!(gateway.read(|book| book.order("orbitals", &id).is_some()), "{id}");
            }
        }
    }
    assert_eq!(view(&gateways[0]), view(&gateways[1]));
    let stored = harness.stored(&gateways[0]);
    let distinct: BTreeSet<&String> = stored.iter().map(|(_, text)| text).collect();
    assert_eq!((stored.len() as u64, distinct.len() as u64), (total, total));
    assert_eq!(gateways[0].read(paraffin_orderbook::MarketBook::newest), total, "one change for each order");
}

/// row OB06
#[test]
fn a_server_that_stands_still_costs_one_request_its_time_and_the_others_none() {
    let Some(server) = Server::start("") else { return };
    let (harness, folder) = (Harness::new(), tempfile::tempdir().unwrap());
    let orderbook = harness.open(folder.path(), server.options());
    harness.ingest(&orderbook, &listing("clx1", "open", 1, 1)).unwrap();
    server.signal("STOP");
    let (event, other) = (listing("clx2", "open", 2, 2), listing("clx3", "open", 3, 3));
    let begin = Instant::now();
    assert!(matches!(harness.ingest(&orderbook, &event), Err(IngestError::Unavailable)));
    assert!(begin.elapsed() < Duration::from_secs(15), "{:?}", begin.elapsed());
    let begin = Instant::now();
    assert!(matches!(harness.ingest(&orderbook, &other), Err(IngestError::Unavailable)));
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    assert_eq!(
        (orderbook.read(paraffin_orderbook::MarketBook::active), orderbook.stream_state()),
        (1, StreamState::Away)
    );
    server.signal("CONT");
    wait(BACK, "the stream", || ready(&orderbook));
    assert_eq!(harness.ingest(&orderbook, &json!([event, other])).unwrap(), 2);
    assert_eq!(orderbook.read(paraffin_orderbook::MarketBook::active), 3);
    let stored = harness.stored(&orderbook);
    assert_eq!(stored.len(), 3, "the refused event came late, and was not stored twice: {stored:?}");
}

#[test]
fn a_server_that_stands_still_is_noticed_without_any_request() {
    let Some(server) = Server::start("") else { return };
    let (harness, folder) = (Harness::new(), tempfile::tempdir().unwrap());
    let orderbook = harness.open(folder.path(), server.options());
    server.signal("STOP");
    wait(BACK, "the state", || !ready(&orderbook));
    server.signal("CONT");
    wait(BACK, "the stream", || ready(&orderbook));
}

#[test]
fn a_stream_that_is_taken_away_under_the_book_is_not_made_again() {
    let Some(server) = Server::start("") else { return };
    let (harness, folder) = (Harness::new(), tempfile::tempdir().unwrap());
    let orderbook = harness.open(folder.path(), server.options());
    harness.ingest(&orderbook, &listing("clx1", "open", 1, 1)).unwrap();
    let context = harness.jetstream(&server.url());
    harness.runtime.block_on(async { context.delete_stream("orderbook").await.unwrap() });
    wait(BACK, "the state", || orderbook.stream_state() == StreamState::Mismatch);
    assert!(matches!(harness.ingest(&orderbook, &listing("clx2", "open", 2, 2)), Err(IngestError::Unavailable)));
    assert_eq!(orderbook.read(paraffin_orderbook::MarketBook::active), 1);
    assert!(harness.runtime.block_on(context.get_stream("orderbook")).is_err());
}

#[test]
fn a_server_without_jetstream_is_away() {
    let Some(mut server) = Server::prepare("") else { return };
    let config = server.config().to_owned();
    let lines = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, lines.lines().next().unwrap()).unwrap();
    server.run();
    let (harness, folder) = (Harness::new(), tempfile::tempdir().unwrap());
    let orderbook = harness.open(folder.path(), server.options());
    assert_eq!(orderbook.stream_state(), StreamState::Away);
    assert!(matches!(harness.ingest(&orderbook, &listing("clx1", "open", 1, 1)), Err(IngestError::Unavailable)));
    server.kill();
    std::fs::write(&config, lines).unwrap();
    server.run();
    wait(BACK, "the stream", || ready(&orderbook));
    assert_eq!(harness.ingest(&orderbook, &listing("clx1", "open", 1, 1)).unwrap(), 1);
}
