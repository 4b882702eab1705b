//! Many gateways on one stream: one book, one order of changes, nothing twice.

use std::time::Duration;

use async_nats::jetstream::stream::{RetentionPolicy, StorageType};
use paraffin_orderbook::{EventsError, Orderbook, StreamState};
use serde_json::{Value, json};

use crate::server::{Server, wait};
use crate::support::{NOW, Random, apply_events, checksum, deletion, listing};
use crate::{BOOK, Harness, stream_settings, view};

#[test]
fn the_stream_is_made_where_it_is_missing_and_holds_the_events_as_they_came() {
    let Some(server) = Server::start("") else { return };
    let (harness, folder) = (Harness::new(), tempfile::tempdir().unwrap());
    let orderbook = harness.open(folder.path(), server.options());
    let config = harness.stream_info(&server.url()).config;
    assert_eq!(config.subjects, ["orderbook.events"]);
    assert_eq!((config.storage, config.retention), (StorageType::File, RetentionPolicy::Limits));
    assert_eq!(config.duplicate_window, Duration::from_secs(120));
    assert_eq!((config.max_age, config.max_messages, config.max_bytes), (Duration::ZERO, -1, -1));
    let texts: Vec<String> = (0..25).map(|number| listing("clx1", "open", number, number + 1).to_string()).collect();
    let body = format!("[ {} ]", texts.join(" , "));
    assert_eq!(harness.runtime.block_on(orderbook.ingest(body.clone().into(), NOW)).unwrap(), 25);
    // It was in the book when it was answered.
    assert_eq!(orderbook.read(|book| book.order("orbitals", "clx1").unwrap().price().unwrap().to_owned()), "24");
    let expected: Vec<(u64, String)> = (1..).zip(texts.clone()).collect();
    assert_eq!(harness.stored(&orderbook), expected);
    let page = harness.runtime.block_on(orderbook.events(3, 4)).unwrap();
    assert_eq!((page.events.len(), page.events[0].seq, page.next, page.has_more), (4, 4, 7, true));
    let age = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_micros() as u64
        - page.events[0].received_at;
    assert!(age < 60_000_000, "{age} µs");
    for since in [25, 99, u64::MAX] {
        let page = harness.runtime.block_on(orderbook.events(since, 2)).unwrap();
        assert_eq!((page.events.len(), page.next, page.has_more), (0, since, false));
    }
    // The same once more: the server knows it, and the book stays as it is.
    let before = view(&orderbook);
    assert_eq!(harness.runtime.block_on(orderbook.ingest(body.into(), NOW)).unwrap(), 25);
    assert_eq!(harness.stored(&orderbook).len(), 25);
    assert_eq!(view(&orderbook), before);
    // A body with one bad event changes nothing at all.
    let bad = json!([listing("clx2", "open", 1, 90), { "op": "x" }]);
    let error = harness.ingest(&orderbook, &bad).unwrap_err();
    assert!(error.to_string().starts_with("event 1:"), "{error}");
    assert_eq!(harness.stored(&orderbook).len(), 25);
    orderbook.close();
    assert_eq!(orderbook.stream_state(), StreamState::Away);
    assert!(harness.ingest(&orderbook, &listing("clx3", "open", 1, 91)).is_err());
}

#[test]
fn two_changes_at_one_position_are_both_kept() {
    let Some(server) = Server::start("") else { return };
    let (harness, folder) = (Harness::new(), tempfile::tempdir().unwrap());
    let orderbook = harness.open(folder.path(), server.options());
    let events = json!([listing("clx1", "open", 5, 7), listing("clx1", "filled", 5, 7)]);
    assert_eq!(harness.ingest(&orderbook, &events).unwrap(), 2);
    assert_eq!(harness.stored(&orderbook).len(), 2);
    assert_eq!(orderbook.read(|book| book.order("orbitals", "clx1").unwrap().status().as_str()), "filled");
}

/// row OB05
#[test]
fn gateways_that_share_a_stream_have_one_book_and_one_order_of_changes() {
    let Some(server) = Server::start("") else { return };
    let (harness, folders) = (Harness::new(), [(); 3].map(|()| tempfile::tempdir().unwrap()));
    let first = harness.open(folders[0].path(), server.options());
    let second = harness.open(folders[1].path(), server.options());
    let mut random = Random(0x5eed_0b05);
    let states = ["open", "open", "matched", "pending", "filled", "cancelled"];
    let mut events: Vec<Value> = (1..=3_000)
        .map(|lsn| {
            let id = format!("clx{}", random.below(300));
            match random.below(12) {
                0 => deletion(&id, lsn),
                _ => listing(&id, states[random.below(6) as usize], random.below(900), lsn),
            }
        })
        .collect();
    let expected = {
        let mut book = paraffin_orderbook::MarketBook::new(paraffin_orderbook::Limits::default());
        apply_events(&mut book, &Value::Array(events.clone()));
        (book.snapshot(BOOK).checksum, book.active())
    };
    for _ in 0..700 {
        let again = events[random.below(3_000) as usize].clone();
        events.push(again);
    }
    random.shuffle(&mut events);
    // Both publish at once, pieces of different sizes.
    let pieces: Vec<Value> = events.chunks(157).map(|piece| Value::Array(piece.to_vec())).collect();
    harness.runtime.block_on(async {
        let mut tasks = Vec::new();
        for (number, piece) in pieces.into_iter().enumerate() {
            let orderbook = if number % 2 == 0 { first.clone() } else { second.clone() };
            tasks.push(tokio::spawn(async move { orderbook.ingest(piece.to_string().into(), NOW).await.unwrap() }));
        }
        for task in tasks {
            task.await.unwrap();
        }
    });
    let last = harness.stream_info(&server.url()).state.last_sequence;
    assert_eq!(last, 3_000, "those sent again are not stored again");
    let is_whole = |orderbook: &Orderbook| orderbook.read(|book| book.snapshot(BOOK).checksum) == expected.0;
    for orderbook in [&first, &second] {
        wait(Duration::from_secs(20), "the books", || is_whole(orderbook));
        assert_eq!(orderbook.read(paraffin_orderbook::MarketBook::active), expected.1);
        orderbook.read(|book| assert_eq!(book.snapshot(BOOK).checksum, checksum(book, BOOK)));
    }
    wait(Duration::from_secs(20), "one view", || view(&first) == view(&second));
    // One that comes later reads everything, one that comes back reads its saved book and the rest.
    let third = harness.open(folders[2].path(), server.options());
    assert_eq!(view(&third), view(&first));
    second.close();
    drop(second);
    assert_eq!(harness.ingest(&first, &listing("clx9999", "open", 1, 5_000)).unwrap(), 1);
    let second = harness.open(folders[1].path(), server.options());
    assert_eq!(view(&second), view(&first));
    assert_eq!(harness.stored(&second), harness.stored(&first));
}

#[test]
fn what_is_no_event_is_skipped_and_an_event_of_somebody_else_counts() {
    let Some(server) = Server::start("") else { return };
    let (harness, folder) = (Harness::new(), tempfile::tempdir().unwrap());
    let orderbook = harness.open(folder.path(), server.options());
    let foreign = listing("clx2", "open", 8, 2).to_string();
    let deep = "[".repeat(200_000);
    let aliens: [&[u8]; 7] =
        [b"hello", b"", b"\xff\xfe", b"{\"op\":\"c\"}", b"[1,2]", deep.as_bytes(), foreign.as_bytes()];
    harness.publish(&server.url(), &aliens);
    assert_eq!(harness.ingest(&orderbook, &listing("clx1", "open", 7, 1)).unwrap(), 1);
    assert_eq!(orderbook.read(paraffin_orderbook::MarketBook::active), 2);
    assert_eq!(orderbook.figures().skipped, 6);
    let numbers: Vec<u64> = harness.stored(&orderbook).into_iter().map(|(seq, _)| seq).collect();
    assert_eq!(numbers, [4, 7, 8], "what is no JSON object does not stand in a page");
    orderbook.close();
    let again = harness.open(folder.path(), server.options());
    assert_eq!(view(&again), view(&orderbook));
}

#[test]
fn a_stream_that_lost_its_beginning_or_is_another_one_is_refused() {
    let Some(server) = Server::start("") else { return };
    let (harness, folders) = (Harness::new(), [(); 2].map(|()| tempfile::tempdir().unwrap()));
    let send = |orderbook: &Orderbook, range: std::ops::Range<u64>| {
        let events: Vec<Value> = range.map(|lsn| listing(&format!("clx{lsn}"), "open", 1, lsn)).collect();
        harness.ingest(orderbook, &Value::Array(events)).unwrap();
    };
    let orderbook = harness.open(folders[0].path(), server.options());
    send(&orderbook, 1..11);
    orderbook.close();
    let context = harness.jetstream(&server.url());
    let purge = |before: u64| {
        harness.runtime.block_on(async {
            let stream = context.get_stream("orderbook").await.unwrap();
            stream.purge().sequence(before).await.unwrap();
        });
    };
    // Up to what the book has: nothing is missing.
    purge(11);
    let orderbook = harness.open(folders[0].path(), server.options());
    assert_eq!(orderbook.read(paraffin_orderbook::MarketBook::active), 10);
    assert!(matches!(harness.runtime.block_on(orderbook.events(3, 5)), Err(EventsError::Gone { oldest: 11 })));
    orderbook.close();
    // A book that has nothing cannot be built any more.
    let error = harness.try_open(folders[1].path(), server.options()).map(drop).unwrap_err().to_string();
    assert!(error.contains("begins at event 11") && error.contains("ends at 0"), "{error}");
    // Beyond what the book has.
    harness.publish(&server.url(), &[&b"null"[..]; 3]);
    purge(13);
    let error = harness.try_open(folders[0].path(), server.options()).map(drop).unwrap_err().to_string();
    assert!(error.contains("begins at event 13") && error.contains("ends at 10"), "{error}");
    // Made anew: shorter, and then as long as before with other events.
    harness.runtime.block_on(async { context.delete_stream("orderbook").await.unwrap() });
    let error = harness.try_open(folders[0].path(), server.options()).map(drop).unwrap_err().to_string();
    assert!(error.contains("does not hold event 10"), "{error}");
    let config = stream_settings();
    harness.runtime.block_on(async { context.create_stream(config).await.unwrap() });
    harness.publish(&server.url(), &[&b"null"[..]; 12]);
    let error = harness.try_open(folders[0].path(), server.options()).map(drop).unwrap_err().to_string();
    assert!(error.contains("does not hold event 10"), "{error}");
}

#[test]
fn a_stream_that_is_set_up_differently_is_refused_or_taken() {
    let Some(server) = Server::start("") else { return };
    let (harness, folder) = (Harness::new(), tempfile::tempdir().unwrap());
    let context = harness.jetstream(&server.url());
    let make = |config: async_nats::jetstream::stream::Config| {
        harness.runtime.block_on(async {
            let _ = context.delete_stream("orderbook").await;
            context.create_stream(config).await.unwrap();
        });
        harness.try_open(folder.path(), server.options())
    };
    let config = || stream_settings();
    let wide = async_nats::jetstream::stream::Config { subjects: vec!["orderbook.*".to_owned()], ..config() };
    let error = make(wide).map(drop).unwrap_err().to_string();
    assert!(error.contains("must have the one subject orderbook.events"), "{error}");
    let queue = async_nats::jetstream::stream::Config { retention: RetentionPolicy::WorkQueue, ..config() };
    let error = make(queue).map(drop).unwrap_err().to_string();
    assert!(error.contains("retention policy"), "{error}");
    // Limits are the operator's.
    let limited = async_nats::jetstream::stream::Config { max_messages: 5, ..config() };
    let orderbook = make(limited).unwrap();
    let events: Vec<Value> = (1..9).map(|lsn| listing(&format!("clx{lsn}"), "open", 1, lsn)).collect();
    assert_eq!(harness.ingest(&orderbook, &Value::Array(events)).unwrap(), 8);
    assert!(matches!(harness.runtime.block_on(orderbook.events(0, 5)), Err(EventsError::Gone { oldest: 4 })));
}
