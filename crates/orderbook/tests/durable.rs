//! What was acknowledged survives: a kill in the middle, a start from a stored book, a log that fails for a while.
#![allow(clippy::unwrap_used)] // a failed `unwrap` fails the test

mod support;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use paraffin_orderbook::{EventsError, IngestError, Options, Orderbook};
use serde_json::{Value, json};
use support::{NOW, checksum, listing, tables};

const BOOK: &str = "orbitals:mainnet:book:*";
const CHILD: &str = "PARAFFIN_TEST_ORDERBOOK";

fn open(folder: &Path) -> Arc<Orderbook> {
    Orderbook::open(Options::new(folder.to_owned(), tables())).unwrap()
}

async fn ingest(orderbook: &Orderbook, events: Value) -> Result<usize, IngestError> {
    orderbook.ingest(events.to_string().into(), NOW).await
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Order `number` of task `task`; every event is another order.
fn id(task: u64, number: u64) -> String {
    format!("clx{task}-{number:06}")
}

/// Runs in a process of its own, which is killed: four tasks send events and print what was acknowledged.
#[test]
#[ignore = "the child of the test below"]
fn child() {
    let Ok(folder) = std::env::var(CHILD) else { return };
    let orderbook = open(Path::new(&folder));
    runtime().block_on(async {
        let tasks: Vec<_> = (0..4_u64)
            .map(|task| {
                let orderbook = Arc::clone(&orderbook);
                tokio::spawn(async move {
                    for number in 0.. {
                        let events =
                            [0, 1, 2].map(|one| listing(&id(task, number * 3 + one), "open", 7, number * 3 + one + 1));
                        ingest(&orderbook, json!(events)).await.unwrap();
                        println!("\nstored {task} {}", number * 3 + 3);
                        std::io::stdout().flush().unwrap();
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
}

/// row OB04
#[test]
fn a_kill_right_after_an_answer_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut stored = [0_u64; 4];
    for round in 0..3_u64 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--ignored", "--nocapture"])
            .env(CHILD, folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut answers = 0;
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let Ok(line) = line else { break };
            if let Some((task, number)) = line.strip_prefix("stored ").and_then(|rest| rest.split_once(' ')) {
                let count = &mut stored[task.parse::<usize>().unwrap()];
                *count = (*count).max(number.parse().unwrap());
                answers += 1;
                if answers == 40 + round * 23 {
                    // SIGKILL: nothing of the process runs any more.
                    child.kill().unwrap();
                }
            }
        }
        child.wait().unwrap();
        let orderbook = open(folder.path());
        for (task, count) in stored.iter().enumerate() {
            for number in 0..*count {
                let id = id(task as u64, number);
                assert!(orderbook.read(|book| book.order("orbitals", &id).is_some()), "{id} of {count}");
            }
        }
        orderbook.read(|book| assert_eq!(book.snapshot(BOOK).checksum, checksum(book, BOOK)));
    }
    assert!(stored.iter().sum::<u64>() > 100, "{stored:?}");
}

/// row OB05
#[test]
fn a_start_reads_the_kept_book_and_what_came_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { keep_every: 100, log_bytes: 0, ..Options::new(folder.path().to_owned(), tables()) };
    let runtime = runtime();
    let mut expected = None;
    for round in 0..5_u64 {
        let orderbook = Orderbook::open(options.clone()).unwrap();
        let view = |orderbook: &Orderbook| {
            orderbook.read(|book| {
                let orders: Vec<_> = book.snapshot(BOOK).orders.iter().map(|order| order.text().clone()).collect();
                (book.newest(), orders, book.snapshot(BOOK).checksum, book.order("orbitals", "clx3").cloned())
            })
        };
        if let Some(expected) = &expected {
            assert_eq!(view(&orderbook), *expected, "round {round}");
        }
        for part in 0..4_u64 {
            let lsn = round * 1_000 + part * 40;
            let events: Vec<Value> = (0..40)
                .map(|one| {
                    listing(
                        &format!("clx{}", one + part),
                        if one % 7 == 3 { "filled" } else { "open" },
                        lsn,
                        lsn + one + 1,
                    )
                })
                .collect();
            assert_eq!(runtime.block_on(ingest(&orderbook, Value::Array(events))).unwrap(), 40);
        }
        expected = Some(view(&orderbook));
        let page = runtime.block_on(orderbook.events(0, 1_000)).unwrap();
        assert_eq!((page.events.len() as u64, page.next, page.has_more), ((round + 1) * 160, (round + 1) * 160, false));
        orderbook.close();
        assert!(matches!(runtime.block_on(ingest(&orderbook, json!([null]))), Err(IngestError::Unavailable)));
        assert!(matches!(runtime.block_on(orderbook.events(0, 1)), Err(EventsError::Unavailable)));
    }
    let books = || {
        let mut books: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        books.retain(|path| path.file_name().unwrap().to_str().unwrap().starts_with("book-"));
        books.sort();
        books
    };
    assert_eq!(books().len(), 2);
    // The newest is damaged: the older one and the log give the same book.
    let newest = books().pop().unwrap();
    let mut bytes = std::fs::read(&newest).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&newest, bytes).unwrap();
    let orderbook = Orderbook::open(options).unwrap();
    orderbook.read(|book| assert_eq!(Some(book.snapshot(BOOK).checksum), expected.as_ref().map(|view| view.2)));
    assert_eq!(orderbook.read(paraffin_orderbook::MarketBook::newest), expected.unwrap().0);
}

#[test]
fn the_durable_stream_is_read_page_by_page_with_the_events_as_they_came() {
    let folder = tempfile::tempdir().unwrap();
    let orderbook = open(folder.path());
    let texts: Vec<String> = (0..5).map(|number| listing("clx1", "open", number, number + 1).to_string()).collect();
    let runtime = runtime();
    runtime.block_on(orderbook.ingest(format!("[ {} ]", texts.join(" , ")).into(), NOW)).unwrap();
    let events = |since, limit| runtime.block_on(orderbook.events(since, limit)).unwrap();
    let mut since = 0;
    let mut read = Vec::new();
    loop {
        let page = events(since, 2);
        assert!(page.events.iter().all(|event| event.received_at == NOW));
        read.extend(page.events.into_iter().map(|event| event.text));
        since = page.next;
        if !page.has_more {
            break;
        }
    }
    assert_eq!((read, since), (texts, 5));
    assert_eq!(events(99, 2).next, 99);
    assert!(events(u64::MAX, 2).events.is_empty());
}

/// row OB06
#[test]
fn while_the_log_takes_nothing_events_are_refused_and_afterwards_none_is_lost_or_doubled() {
    let folder = tempfile::tempdir().unwrap();
    let orderbook = open(folder.path());
    let runtime = runtime();
    let (log, away) = (folder.path().join("log"), folder.path().join("away"));
    let filler = "x".repeat(300_000);
    let mut stored = Vec::new();
    let event = |number: u64| {
        let mut event = listing(&format!("clx{number:03}"), "open", number, number + 1);
        event["after"]["filler"] = filler.as_str().into();
        event
    };
    // The next file of the log cannot be begun in a folder that is not there.
    std::fs::rename(&log, &away).unwrap();
    let refused = (0..100).find(|number| match runtime.block_on(ingest(&orderbook, event(*number))) {
        Ok(_) => {
            stored.push(*number);
            false
        }
        Err(error) => {
            assert!(matches!(error, IngestError::Unavailable), "{error}");
            true
        }
    });
    let refused = refused.unwrap();
    assert!(matches!(runtime.block_on(ingest(&orderbook, event(refused))), Err(IngestError::Unavailable)));
    std::fs::remove_dir_all(&log).ok();
    std::fs::rename(&away, &log).unwrap();
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while runtime.block_on(ingest(&orderbook, event(refused))).is_err() {
        assert!(std::time::Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(100));
    }
    stored.push(refused);
    let view = |orderbook: &Orderbook| {
        orderbook.read(|book| {
            book.snapshot(BOOK).orders.iter().map(|order| order.price().unwrap().parse().unwrap()).collect::<Vec<u64>>()
        })
    };
    assert_eq!(view(&orderbook), stored);
    orderbook.close();
    let again = open(folder.path());
    assert_eq!(view(&again), stored);
}

#[test]
fn many_requests_at_once_share_flushes_and_all_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let orderbook = open(folder.path());
    let runtime = runtime();
    runtime.block_on(async {
        let mut tasks = Vec::new();
        for task in 0..16 {
            let orderbook = Arc::clone(&orderbook);
            tasks.push(tokio::spawn(async move {
                for number in 0..10 {
                    ingest(&orderbook, listing(&id(task, number), "open", number, number + 1)).await.unwrap();
                }
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
    });
    assert_eq!(orderbook.read(paraffin_orderbook::MarketBook::active), 160);
    assert_eq!(runtime.block_on(orderbook.events(0, 1_000)).unwrap().events.len(), 160);
}

#[test]
fn a_full_book_takes_no_new_order_but_changes_of_those_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let limits = paraffin_orderbook::Limits { active_max: 2, ..paraffin_orderbook::Limits::default() };
    let orderbook = Orderbook::open(Options { limits, ..Options::new(folder.path().to_owned(), tables()) }).unwrap();
    let runtime = runtime();
    let send = |events: Value| runtime.block_on(ingest(&orderbook, events));
    assert_eq!(send(json!([listing("clx1", "open", 1, 1), listing("clx2", "open", 1, 2)])).unwrap(), 2);
    assert!(matches!(send(listing("clx3", "open", 1, 3)), Err(IngestError::Full)));
    assert_eq!(send(json!([listing("clx1", "matched", 1, 4), listing("clx2", "filled", 1, 5)])).unwrap(), 2);
    assert_eq!(send(listing("clx3", "open", 1, 3)).unwrap(), 1);
    assert_eq!(orderbook.read(paraffin_orderbook::MarketBook::active), 2);
}
