use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use paraffin_forex::{Board, Clock, ForexConfig, ForexFeed, SourceConfig, SourceKind, SourceStatus};

use crate::server::{Answer, Server};

const NOW: u64 = 1_795_104_000;
const PATIENCE: Duration = Duration::from_secs(20);

struct Rig {
    folder: tempfile::TempDir,
    clock: Arc<AtomicU64>,
}

impl Rig {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), clock: Arc::new(AtomicU64::new(NOW)) }
    }

    fn clock(&self) -> Clock {
        let clock = Arc::clone(&self.clock);
        Arc::new(move || clock.load(Ordering::Relaxed))
    }

    fn start(&self, sources: Vec<SourceConfig>) -> ForexFeed {
        let config = ForexConfig { timeout: Duration::from_millis(500), sources, ..ForexConfig::default() };
        ForexFeed::start(&config, &self.folder.path().join("forex"), &self.clock()).unwrap()
    }
}

fn source(kind: SourceKind, url: String) -> SourceConfig {
    SourceConfig { url: Some(url), poll: Some(Duration::from_millis(50)), ..SourceConfig::of_kind(kind) }
}

fn rates(euro: &str, time: u64) -> String {
    format!(r#"{{"timestamp":{time},"base":"USD","rates":{{"EUR":{euro},"XAU":0.0003}}}}"#)
}

async fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(value) = look() {
            return value;
        }
        assert!(start.elapsed() < PATIENCE, "{what} did not happen");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn euro(board: &Board) -> Option<String> {
    let rates = board.rates("USD", Some(&["EUR".to_owned()]), false, NOW).unwrap();
    rates.rates.get(1).map(|(_, rate)| rate.clone())
}

async fn euro_of(board: &Board, rate: &str) {
    until(rate, || euro(board).filter(|served| served == rate)).await;
}

fn only(board: &Board) -> SourceStatus {
    board.status(NOW).sources.into_iter().next().unwrap()
}

async fn failure(board: &Board, part: &str) {
    until(part, || only(board).failure.filter(|failure| failure.contains(part))).await;
}

#[tokio::test]
async fn rates_are_fetched_followed_and_there_again_after_a_restart_without_the_source() {
    let (rig, server) = (Rig::new(), Server::start(Answer::body(&rates("0.8631", NOW - 60))).await);
    let sources = vec![source(SourceKind::Openexchangerates, server.url())];
    let feed = rig.start(sources.clone());
    let board = feed.board();
    euro_of(&board, "0.8631").await;
    server.set_answer(Answer::body(&rates("0.87", NOW - 30)));
    euro_of(&board, "0.87").await;
    // An older answer never replaces a newer one; a correction of the same time does.
    server.set_answer(Answer::body(&rates("0.5", NOW - 31)));
    let before = server.heads().len();
    until("two more questions", || (server.heads().len() > before + 2).then_some(())).await;
    assert_eq!(euro(&board).as_deref(), Some("0.87"));
    server.set_answer(Answer::body(&rates("0.88", NOW - 30)));
    euro_of(&board, "0.88").await;
    feed.stop().await;
    drop(server);

    let feed = rig.start(sources);
    let board = feed.board();
    assert_eq!(euro(&board).as_deref(), Some("0.88"));
    failure(&board, "cannot connect").await;
    assert_eq!(board.status(NOW).age, Some(30));
    feed.stop().await;
    // Rates of a source that is configured no more are not served.
    let other =
        SourceConfig { name: Some("other".to_owned()), ..source(SourceKind::Ecb, "http://127.0.0.1:1".to_owned()) };
    let feed = rig.start(vec![other]);
    assert_eq!(euro(&feed.board()), None);
}

#[tokio::test]
async fn what_has_not_changed_is_not_sent_again() {
    let headers = "etag: \"v1\"\r\nlast-modified: Thu, 19 Nov 2026 12:00:00 GMT\r\n".to_owned();
    let server = Server::start(Answer::Silence).await;
    let body = rates("0.8631", NOW - 60);
    server.script(Arc::new(move |head, _| {
        if head.contains("if-none-match: \"v1\"") && head.contains("if-modified-since: thu, 19 nov 2026 12:00:00 gmt") {
            Answer::Http(304, String::new(), String::new())
        } else {
            Answer::Http(200, headers.clone(), body.clone())
        }
    }));
    let rig = Rig::new();
    let feed = rig.start(vec![source(SourceKind::Openexchangerates, server.url())]);
    let board = feed.board();
    until("three questions", || (server.heads().len() >= 3).then_some(())).await;
    let heads = server.heads();
    assert!(!heads[0].contains("if-none-match") && heads[1].contains("if-none-match"), "{heads:?}");
    assert!(heads[0].contains("user-agent: paraffin/"), "{heads:?}");
    assert_eq!(euro(&board).as_deref(), Some("0.8631"));
    rig.clock.store(NOW + 500, Ordering::Relaxed);
    until("an answer that nothing changed", || (only(&board).answered_at == Some(NOW + 500)).then_some(())).await;
    assert_eq!(only(&board).failure, None);
    feed.stop().await;
}

/// Every failure is reported, none of them shows the address with its key, and the rates stand.
#[tokio::test]
async fn a_source_that_fails_lies_or_goes_away_leaves_its_last_rates_standing() {
    let page = "<html>blocked</html>";
    for (answer, part) in [
        (Answer::body(page), "not JSON"),
        (
            Answer::Http(301, "location: http://127.0.0.1:1/\r\n".to_owned(), String::new()),
            "redirects are not followed",
        ),
        (Answer::Http(503, String::new(), page.to_owned()), "HTTP 503"),
        (Answer::Http(401, String::new(), page.to_owned()), "HTTP 401"),
        (Answer::Http(200, "x: y\r\n".to_owned(), rates("0", NOW)), "no rate can be used (EUR: its rate is zero)"),
        (Answer::body(&rates("0.5", NOW + 40 * 3_600)), "its date is in the future"),
        (Answer::Silence, "no answer within 500 ms"),
        (Answer::Flood, "more than"),
        (Answer::HangUp, "the connection closed"),
        (Answer::Http(200, "content-length: 99999999\r\n".to_owned(), String::new()), ""),
    ] {
        let (rig, server) = (Rig::new(), Server::start(Answer::body(&rates("0.8631", NOW - 60))).await);
        let feed = rig.start(vec![source(SourceKind::Openexchangerates, server.url())]);
        let board = feed.board();
        euro_of(&board, "0.8631").await;
        server.set_answer(answer);
        failure(&board, part).await;
        let status = format!("{:?}", board.status(NOW));
        assert!(!status.contains("0123456789abcdef") && !status.contains("blocked"), "{status}");
        assert_eq!(euro(&board).as_deref(), Some("0.8631"), "{part}");
        feed.stop().await;
    }
}

#[tokio::test]
async fn files_price_feeds_and_other_sources_are_read_side_by_side() {
    let rig = Rig::new();
    let path = rig.folder.path().join("rates.json");
    std::fs::write(&path, r#"{"as_of":"2026-11-19","base":"USD","rates":{"EUR":"0.90"}}"#).unwrap();
    let file = SourceConfig {
        path: Some(path.clone()),
        poll: Some(Duration::from_millis(50)),
        ..SourceConfig::of_kind(SourceKind::File)
    };
    let server = Server::start(Answer::Silence).await;
    // Dollars for a euro, 8 decimals: 1.25.
    server.script(Arc::new(|_, body| {
        let word = |number: u64| format!("{number:064x}");
        let words = if body.contains("0x313ce567") {
            word(8)
        } else {
            assert!(body.contains("0xfeaf968c") && body.contains(&"ab".repeat(20)), "{body}");
            [7, 125_000_000, NOW - 100, NOW - 100, 7].map(word).concat()
        };
        Answer::body(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":"0x{words}"}}"#))
    }));
    let chainlink = SourceConfig {
        feeds: BTreeMap::from([("EUR".to_owned(), format!("0x{}", "ab".repeat(20)))]),
        ..source(SourceKind::Chainlink, server.url())
    };
    let feed = rig.start(vec![file, chainlink]);
    let board = feed.board();
    // The mean of 0.9 and 0.8.
    euro_of(&board, "0.85").await;
    std::fs::write(&path, r#"{"as_of":"2026-11-19","base":"USD","rates":{"EUR":"0.82"}}"#).unwrap();
    euro_of(&board, "0.81").await;
    std::fs::remove_file(&path).unwrap();
    failure(&board, "the file cannot be read").await;
    assert_eq!(euro(&board).as_deref(), Some("0.81"));
    server.set_answer(Answer::body(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"reverted"}}"#));
    until("a refusal", || board.status(NOW).sources[1].failure.clone()).await;
    feed.stop().await;
}

#[tokio::test]
async fn the_sample_needs_no_folder_and_no_network() {
    let rig = Rig::new();
    let feed = rig.start(Vec::new());
    assert_eq!(feed.board().coverage(NOW).available.len(), 20);
    assert!(!rig.folder.path().join("forex").exists());
    feed.stop().await;
}
