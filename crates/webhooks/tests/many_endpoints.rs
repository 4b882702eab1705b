//! A block that is delivered to as many endpoints as an instance serves: 10,000 with `PARAFFIN_LONG=1`, which also prints the figures
//! of `benches/results/*-webhook-endpoints.csv`.
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use paraffin_webhooks::{
    AccountId, Attempt, BoxFuture, Deliverer, EventPage, EventSource, Owner, SourceError, Transport, WebhookSettings,
    Webhooks,
};
use serde_json::value::RawValue;
use support::{Time, endpoint, settings};
use tokio::sync::Notify;

/// A filter that no event matches.
const NOTHING: &str = r#"{"kinds":[]}"#;

/// Blocks of one event; positions are their numbers.
#[derive(Clone, Default)]
struct Blocks(Arc<(AtomicU64, Notify, AtomicU64)>);

impl Blocks {
    fn add(&self) {
        self.0.0.fetch_add(1, Ordering::SeqCst);
        self.0.1.notify_waiters();
    }

    /// Reads that were answered.
    fn reads(&self) -> u64 {
        self.0.2.load(Ordering::SeqCst)
    }
}

impl EventSource for Blocks {
    fn check<'a>(&'a self, filter: &'a RawValue) -> BoxFuture<'a, Result<Box<RawValue>, String>> {
        Box::pin(std::future::ready(Ok(filter.to_owned())))
    }

    fn tip(&self) -> BoxFuture<'_, Result<String, SourceError>> {
        Box::pin(std::future::ready(Ok(self.0.0.load(Ordering::SeqCst).to_string())))
    }

    fn after<'a>(
        &'a self,
        cursor: &'a str,
        filter: &'a RawValue,
        _count_max: usize,
    ) -> BoxFuture<'a, Result<EventPage, SourceError>> {
        let (from, newest) = (cursor.parse::<u64>().unwrap(), self.0.0.load(Ordering::SeqCst));
        self.0.2.fetch_add(1, Ordering::SeqCst);
        let event = |height| {
            let hash = "ab".repeat(32);
            let text = format!(r#"{{"type":"block_connected","height":{height},"block_hash":"{hash}"}}"#);
            RawValue::from_string(text).unwrap()
        };
        let events = if filter.get() == NOTHING { Vec::new() } else { (from + 1..=newest).map(event).collect() };
        Box::pin(std::future::ready(Ok(EventPage { events, cursor: newest.to_string(), is_at_tip: true })))
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.0.1.notified())
    }
}

/// Acknowledges everything.
#[derive(Clone, Default)]
struct Receivers(Arc<AtomicU64>);

impl Transport for Receivers {
    fn post(&self, _attempt: Attempt) -> BoxFuture<'static, Result<u16, String>> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(Ok(204)))
    }
}

/// Seconds until a condition holds.
async fn until(is_so: impl Fn() -> bool) -> f64 {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(300), "a round takes more than five minutes");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    began.elapsed().as_secs_f64()
}

/// A line of this process's status, MiB.
fn status_mib(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1_024
}

/// Delivers two blocks to endpoints of so many accounts, and lets one pass by those that want nothing: the seconds of each.
async fn rounds(endpoints: u64, accounts: i64) -> Option<[f64; 3]> {
    let database = support::database()?;
    let (blocks, receivers, time) = (Blocks::default(), Receivers::default(), Time::default());
    let settings = WebhookSettings { endpoints_per_account_max: 10_000, endpoints_max: 20_000, ..settings() };
    let store = database.open().await;
    let began = Instant::now();
    for number in 0..endpoints {
        let account = AccountId(i64::try_from(number).unwrap() % accounts);
        let new = endpoint(&format!("https://hooks.example/{number}"), "0");
        store.create(Owner { account, actor: "test" }, &new, &settings, time.now()).await.unwrap();
    }
    let made = began.elapsed().as_secs_f64();
    let (source, transport) = (Arc::new(blocks.clone()), Arc::new(receivers.clone()));
    let deliverer = Deliverer::new(store.clone(), source, transport, settings.clone(), time.clock());
    let webhooks = Arc::new(Webhooks::with(deliverer));
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn({
        let webhooks = Arc::clone(&webhooks);
        async move { webhooks.run(async { drop(stopped.await) }).await }
    });
    let looked = until(|| blocks.reads() >= endpoints).await;
    println!("# made in {made:.1} s, looked at for the first time in {looked:.1} s");
    blocks.add();
    let first = until(|| receivers.0.load(Ordering::SeqCst) >= endpoints).await;
    blocks.add();
    let second = until(|| receivers.0.load(Ordering::SeqCst) >= 2 * endpoints).await;
    // Each of them has got each block once, and is at the newest one.
    let is_done = async || {
        for account in 0..accounts {
            let all = webhooks.list(AccountId(account)).await.unwrap();
            if !all.iter().all(|endpoint| endpoint.cursor == "2" && endpoint.message_id.is_none()) {
                return false;
            }
        }
        true
    };
    while !is_done().await {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(receivers.0.load(Ordering::SeqCst), 2 * endpoints);
    for account in 0..accounts {
        let owner = Owner { account: AccountId(account), actor: "test" };
        for record in webhooks.list(owner.account).await.unwrap() {
            let changes = paraffin_webhooks::EndpointChanges { filter: Some(NOTHING.to_owned()), ..Default::default() };
            store.update(owner, record.id, &changes, time.now()).await.unwrap();
        }
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    let before = blocks.reads();
    blocks.add();
    let passed_over = until(|| blocks.reads() >= before + endpoints).await;
    stop.send(()).unwrap();
    running.await.unwrap();
    Some([first, second, passed_over])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_block_reaches_all_endpoints_whether_of_many_accounts_or_of_one() {
    let is_long = std::env::var_os("PARAFFIN_LONG").is_some();
    let endpoints = if is_long { 10_000 } else { 200 };
    println!("endpoints,accounts,delivered_seconds,delivered_again_seconds,passed_over_seconds,grown_mib");
    for accounts in [500, 1] {
        let before = status_mib("VmRSS:");
        let Some([first, second, passed_over]) = rounds(endpoints, accounts).await else { return };
        let grown = status_mib("VmHWM:").saturating_sub(before);
        println!("{endpoints},{accounts},{first:.1},{second:.1},{passed_over:.1},{grown}");
        // 12 ms for each endpoint, whatever the accounts.
        if is_long {
            assert!(second < 120.0 && grown < 128, "{second} s, {grown} MiB");
        }
    }
}
