//! Endpoints: ownership, changes of owners, and failures.
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use paraffin_database::{Row, query};
use paraffin_webhooks::{
    ATTEMPTS_KEPT, AccountId, Attempt, AttemptRecord, BoxFuture, Deliverer, EndpointChanges, EndpointRequest,
    EndpointState, EventSource as _, GRACE_MS, LEASE_MS, Owner, Progress, Start, Transport, WebhookError,
    WebhookSettings, WebhookStore, Webhooks, signature,
};
use serde_json::value::RawValue;
use support::chain::Chain;
use support::{BY, HOUR, OWNER, SECOND, Time, database, endpoint, settings};

const URL: &str = "https://hooks.example/in";

/// Records each attempt and answers as the test sets it. Attempts to `dead` never end.
#[derive(Clone)]
struct Script {
    attempts: Arc<Mutex<Vec<Attempt>>>,
    answer: Arc<Mutex<Result<u16, String>>>,
}

impl Script {
    fn new() -> Self {
        Self { attempts: Arc::default(), answer: Arc::new(Mutex::new(Ok(204))) }
    }

    fn answers(&self, answer: Result<u16, &str>) {
        *self.answer.lock().unwrap() = answer.map_err(ToOwned::to_owned);
    }

    fn attempts(&self) -> Vec<Attempt> {
        self.attempts.lock().unwrap().clone()
    }
}

impl Transport for Script {
    fn post(&self, attempt: Attempt) -> BoxFuture<'static, Result<u16, String>> {
        if attempt.url.contains("dead") {
            return Box::pin(std::future::pending());
        }
        self.attempts.lock().unwrap().push(attempt);
        let answer = self.answer.lock().unwrap().clone();
        Box::pin(std::future::ready(answer))
    }
}

struct Scene {
    database: support::TestDatabase,
    chain: Chain,
    time: Time,
    script: Script,
    store: WebhookStore,
    deliverer: Deliverer,
}

async fn scene() -> Option<Scene> {
    let database = database()?;
    let (chain, time, script) = (Chain::new(), Time::default(), Script::new());
    let store = database.open().await;
    let deliverer = deliverer(&store, &chain, &script, &time);
    Some(Scene { database, chain, time, script, store, deliverer })
}

fn deliverer(store: &WebhookStore, chain: &Chain, script: &Script, time: &Time) -> Deliverer {
    Deliverer::new(store.clone(), Arc::new(chain.clone()), Arc::new(script.clone()), settings(), time.clock())
}

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

#[tokio::test]
async fn a_secret_that_was_replaced_signs_beside_the_new_one_for_a_day() {
    let Some(Scene { chain, time, script, store, deliverer, database: _database }) = scene().await else { return };
    let (made, first) = store.create(BY, &endpoint(URL, &chain.first()), &settings(), time.now()).await.unwrap();
    let (rotated, second) = store.rotate_secret(BY, made.id, time.now()).await.unwrap();
    assert_eq!(rotated.old_secret_until, Some(time.now() + GRACE_MS));
    for is_over in [false, true] {
        if is_over {
            time.forward(GRACE_MS);
        }
        chain.add(1);
        assert_eq!(deliverer.deliver(made.id).await.unwrap(), Progress::Moved);
        let attempt = script.attempts().pop().unwrap();
        let secrets = if is_over { vec![second.clone()] } else { vec![second.clone(), first.clone()] };
        let expected = signature(&secrets, &attempt.id, time.now() / SECOND, &attempt.body);
        assert_eq!((attempt.signature, attempt.url.as_str()), (expected, URL));
    }
    assert_ne!(first.reveal(), second.reveal());
    assert_eq!(deliverer.deliver(made.id).await.unwrap(), Progress::AtTip(store_token(&deliverer, made.id).await));
}

/// The token of the next look at an endpoint that has nothing to deliver, less one.
async fn store_token(deliverer: &Deliverer, id: paraffin_webhooks::EndpointId) -> i64 {
    match deliverer.deliver(id).await.unwrap() {
        Progress::AtTip(token) => token - 1,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_message_is_sent_again_unchanged_and_ever_more_seldom_until_its_endpoint_is_paused() {
    let Some(Scene { chain, time, script, store, deliverer, database: _database }) = scene().await else { return };
    let (made, _) = store.create(BY, &endpoint(URL, &chain.first()), &settings(), time.now()).await.unwrap();
    chain.add(2);
    script.answers(Ok(500));
    let began = time.now();
    let mut waits = Vec::new();
    let paused = loop {
        assert_eq!(deliverer.deliver(made.id).await.unwrap(), Progress::Failed);
        // Not before its time.
        assert_eq!(deliverer.deliver(made.id).await.unwrap(), Progress::Lost);
        // A block that comes meanwhile changes nothing of the message.
        chain.add(1);
        let now = store.get(OWNER, made.id, time.now()).await.unwrap();
        assert_eq!(now.last_error.as_deref(), Some("the server answered 500"));
        if now.state != EndpointState::Active {
            break now;
        }
        let wait = now.next_attempt_at.unwrap() - time.now();
        waits.push(wait);
        time.forward(wait);
    };
    assert_eq!((paused.state, paused.failing_since), (EndpointState::Failing, Some(began)));
    assert!(time.now() - began >= 72 * HOUR, "paused too early");
    assert!(waits[0] <= 5 * SECOND && waits.iter().all(|wait| *wait <= 6 * HOUR) && waits.len() < 60, "{waits:?}");
    let attempts = script.attempts();
    assert!(attempts.iter().all(|attempt| (&attempt.id, &attempt.body) == (&attempts[0].id, &attempts[0].body)));
    assert!(
        attempts.last().unwrap().timestamp_seconds > attempts[0].timestamp_seconds,
        "each attempt has its own time"
    );
    assert_eq!(paused.message_id.as_deref(), Some(attempts[0].id.as_str()));

    script.answers(Ok(202));
    let resumed = store.resume(BY, made.id, time.now()).await.unwrap();
    assert_eq!((resumed.state, resumed.failures), (EndpointState::Active, 0));
    assert_eq!(deliverer.deliver(made.id).await.unwrap(), Progress::Moved);
    assert_eq!(script.attempts().last().unwrap().id, attempts[0].id);
    assert_eq!(deliverer.deliver(made.id).await.unwrap(), Progress::Moved);
    let moved = store.get(OWNER, made.id, time.now()).await.unwrap();
    assert_eq!(
        (moved.cursor, moved.message_id, moved.last_success_at),
        (chain.tip().await.unwrap(), None, Some(time.now()))
    );
}

#[tokio::test]
async fn an_endpoint_that_is_gone_or_whose_position_is_unknown_is_paused_at_once() {
    let Some(Scene { chain, time, script, store, deliverer, database: _database }) = scene().await else { return };
    let (gone, _) = store.create(BY, &endpoint(URL, &chain.first()), &settings(), time.now()).await.unwrap();
    let (lost, _) = store.create(BY, &endpoint(URL, "999-1"), &settings(), time.now()).await.unwrap();
    chain.add(1);
    script.answers(Ok(410));
    for (id, state, error) in [
        (gone.id, EndpointState::Gone, "the server answered 410"),
        (lost.id, EndpointState::Lost, "999-1 is no position"),
    ] {
        assert_eq!(deliverer.deliver(id).await.unwrap(), Progress::Failed);
        let now = store.get(OWNER, id, time.now()).await.unwrap();
        assert_eq!((now.state, now.last_error.as_deref()), (state, Some(error)));
        time.forward(24 * HOUR);
        assert_eq!(deliverer.deliver(id).await.unwrap(), Progress::Lost);
    }
    let changes = EndpointChanges { cursor: Some(chain.tip().await.unwrap()), ..Default::default() };
    store.update(BY, lost.id, &changes, time.now()).await.unwrap();
    store.resume(BY, lost.id, time.now()).await.unwrap();
    assert!(matches!(deliverer.deliver(lost.id).await.unwrap(), Progress::AtTip(_)));
}

#[tokio::test]
async fn one_instance_delivers_until_its_lease_expires_and_then_writes_nothing() {
    let Some(Scene { database, chain, time, script, store, deliverer }) = scene().await else { return };
    let (made, _) = store.create(BY, &endpoint("http://dead/", &chain.first()), &settings(), time.now()).await.unwrap();
    chain.add(1);
    // The first one waits for its answer for ever.
    let hanging = tokio::time::timeout(Duration::from_millis(300), deliverer.deliver(made.id));
    assert!(hanging.await.is_err());
    let other = self::deliverer(&database.open().await, &chain, &script, &time);
    assert_eq!(other.deliver(made.id).await.unwrap(), Progress::Lost);
    time.forward(LEASE_MS);
    let changes = EndpointChanges { url: Some(URL.to_owned()), ..Default::default() };
    let before = store.update(BY, made.id, &changes, time.now()).await.unwrap();
    assert_eq!(other.deliver(made.id).await.unwrap(), Progress::Moved);
    assert_eq!(script.attempts()[0].id, before.message_id.unwrap(), "the stored message is the one that is sent");
    assert_eq!(deliverer.deliver(made.id).await.unwrap(), Progress::Lost);
    // A stop hands over at once.
    chain.add(1);
    let first = self::deliverer(&store, &chain, &script, &time);
    time.forward(LEASE_MS);
    assert_eq!(first.deliver(made.id).await.unwrap(), Progress::Moved);
    assert_eq!(other.deliver(made.id).await.unwrap(), Progress::Lost);
    store.close().await;
    assert!(matches!(other.deliver(made.id).await.unwrap(), Progress::AtTip(_)));
}

#[tokio::test]
async fn a_change_of_an_owner_during_an_attempt_is_not_undone_by_its_answer() {
    let Some(Scene { database, chain, time, script, store, deliverer }) = scene().await else { return };
    let (made, _) = store.create(BY, &endpoint(URL, &chain.first()), &settings(), time.now()).await.unwrap();
    chain.add(1);
    script.answers(Ok(500));
    assert_eq!(deliverer.deliver(made.id).await.unwrap(), Progress::Failed);
    chain.add(1);
    let tip = chain.tip().await.unwrap();
    let owner = database.open().await;
    let changes =
        EndpointChanges { cursor: Some(tip.clone()), description: Some("new".to_owned()), ..Default::default() };
    let moved = owner.update(BY, made.id, &changes, time.now()).await.unwrap();
    assert_eq!((moved.message_id, moved.cursor.as_str()), (None, tip.as_str()));
    assert_eq!(moved.description.as_deref(), Some("new"));
    script.answers(Ok(200));
    assert!(matches!(deliverer.deliver(made.id).await.unwrap(), Progress::AtTip(_)));
    owner.pause(BY, made.id, time.now()).await.unwrap();
    chain.add(1);
    assert_eq!(deliverer.deliver(made.id).await.unwrap(), Progress::Lost);
    owner.delete(BY, made.id, time.now()).await.unwrap();
    assert_eq!(deliverer.deliver(made.id).await.unwrap(), Progress::Lost);
    assert!(matches!(owner.get(OWNER, made.id, 0).await, Err(WebhookError::NoSuchEndpoint)));
    assert_eq!(script.attempts().len(), 1);
}

#[tokio::test]
async fn an_account_has_its_own_endpoints_alone_and_not_too_many() {
    let Some(Scene { chain, time, store, deliverer, database: _database, .. }) = scene().await else { return };
    let few = WebhookSettings { endpoints_per_account_max: 2, endpoints_max: 3, ..settings() };
    let webhooks = Webhooks::with(deliverer);
    let of = |account| Owner { account: AccountId(account), actor: "user:1" };
    let new = endpoint(URL, &chain.first());
    let (own, _) = store.create(BY, &new, &few, time.now()).await.unwrap();
    store.create(BY, &new, &few, time.now()).await.unwrap();
    assert!(matches!(store.create(BY, &new, &few, time.now()).await, Err(WebhookError::TooManyEndpoints(2))));
    let (by, other) = (of(8), AccountId(8));
    store.create(by, &new, &few, time.now()).await.unwrap();
    assert!(matches!(store.create(of(9), &new, &few, time.now()).await, Err(WebhookError::Full)));
    assert_eq!((webhooks.list(OWNER).await.unwrap().len(), webhooks.list(other).await.unwrap().len()), (2, 1));
    for refused in [
        webhooks.get(other, own.id).await.map(drop),
        webhooks.pause(by, own.id).await.map(drop),
        webhooks.resume(by, own.id).await.map(drop),
        webhooks.rotate_secret(by, own.id).await.map(drop),
        webhooks.update(by, own.id, EndpointRequest::default()).await.map(drop),
        webhooks.test(other, own.id).await.map(drop),
        webhooks.delete(by, own.id).await.map(drop),
    ] {
        assert!(matches!(refused, Err(WebhookError::NoSuchEndpoint)));
    }
    let long = "x".repeat(3_000);
    for (url, filter, start, description) in [
        ("ftp://x", "{}", Start::Tip, None),
        (long.as_str(), "{}", Start::Tip, None),
        (URL, r#"{"x":1}"#, Start::Tip, None),
        (URL, "{}", Start::Height(1), None),
        (URL, "{}", Start::Tip, Some("é".repeat(201))),
    ] {
        let request =
            EndpointRequest { url: Some(url.to_owned()), filter: Some(raw(filter)), start: Some(start), description };
        assert!(webhooks.create(by, request).await.is_err(), "{url} {filter}");
    }
    assert_eq!(webhooks.get(OWNER, own.id).await.unwrap(), own);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dead_endpoints_do_not_hold_up_those_of_others_nor_pings() {
    let Some(Scene { chain, time, script, store, database: _database, .. }) = scene().await else { return };
    let settings = WebhookSettings { attempts_max: 3, attempts_per_account_max: 2, ..settings() };
    let deliverer = Deliverer::new(
        store.clone(),
        Arc::new(chain.clone()),
        Arc::new(script.clone()),
        settings.clone(),
        time.clock(),
    );
    let webhooks = Arc::new(Webhooks::with(deliverer));
    for _ in 0..10 {
        store.create(BY, &endpoint("http://dead/", &chain.first()), &settings, time.now()).await.unwrap();
    }
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn({
        let webhooks = Arc::clone(&webhooks);
        async move { webhooks.run(async { drop(stopped.await) }).await }
    });
    chain.add(3);
    let owner = Owner { account: AccountId(8), actor: "user:1" };
    let request = EndpointRequest { url: Some(URL.to_owned()), ..EndpointRequest::default() };
    let (good, _) = webhooks.create(owner, request).await.unwrap();
    for blocks in 1..=3 {
        chain.add(1);
        let began = std::time::Instant::now();
        while script.attempts().len() < blocks {
            assert!(began.elapsed() < Duration::from_secs(20), "block {blocks} does not come");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    let outcome = webhooks.test(AccountId(8), good.id).await.unwrap();
    assert_eq!((outcome.status, outcome.error), (Some(204), None));
    let ping = script.attempts().pop().unwrap();
    assert!(ping.body.starts_with(br#"{"type":"ping","#) && ping.id == outcome.message_id);
    stop.send(()).unwrap();
    running.await.unwrap();
}

#[tokio::test]
async fn the_last_attempts_of_an_endpoint_are_remembered_the_newest_first() {
    let Some(Scene { chain, time, script, store, deliverer, database: _database }) = scene().await else { return };
    let (made, _) = store.create(BY, &endpoint(URL, &chain.first()), &settings(), time.now()).await.unwrap();
    assert_eq!(made.attempts, []);
    chain.add(1);
    script.answers(Err(&"é".repeat(300)));
    assert_eq!(deliverer.deliver(made.id).await.unwrap(), Progress::Failed);
    time.forward(HOUR);
    script.answers(Ok(500));
    assert_eq!(deliverer.deliver(made.id).await.unwrap(), Progress::Failed);
    time.forward(HOUR);
    script.answers(Ok(204));
    assert_eq!(deliverer.deliver(made.id).await.unwrap(), Progress::Moved);
    let attempts = store.get(OWNER, made.id, time.now()).await.unwrap().attempts;
    let of = |at, status, error| AttemptRecord { at, elapsed_ms: 0, status, error };
    let begun = time.now();
    assert_eq!(
        attempts,
        [
            of(begun, Some(204), None),
            of(begun - HOUR, Some(500), None),
            of(begun - 2 * HOUR, None, Some("é".repeat(200)))
        ]
    );
    for _ in 0..2 * ATTEMPTS_KEPT {
        chain.add(1);
        assert_eq!(deliverer.deliver(made.id).await.unwrap(), Progress::Moved);
    }
    let attempts = store.get(OWNER, made.id, time.now()).await.unwrap().attempts;
    assert_eq!((attempts.len(), attempts[ATTEMPTS_KEPT - 1].status), (ATTEMPTS_KEPT, Some(204)));
}

#[tokio::test]
async fn changes_of_owners_are_in_the_audit_log_without_credentials() {
    let Some(Scene { chain, time, store, database, .. }) = scene().await else { return };
    let url = "https://hooks.example:8443/token-in-the-path?key=in-the-query";
    let (made, first) = store.create(BY, &endpoint(url, &chain.first()), &settings(), time.now()).await.unwrap();
    let id = made.id;
    let changes = EndpointChanges {
        url: Some("https://other.example/token-in-the-path".to_owned()),
        cursor: Some(chain.first()),
        ..EndpointChanges::default()
    };
    store.update(BY, id, &changes, time.now()).await.unwrap();
    store.pause(Owner { actor: "user:1", ..BY }, id, time.now()).await.unwrap();
    store.resume(BY, id, time.now()).await.unwrap();
    let (_, second) = store.rotate_secret(BY, id, time.now()).await.unwrap();
    store.delete(BY, id, time.now()).await.unwrap();
    // Refused requests change nothing.
    assert!(store.pause(BY, id, time.now()).await.is_err());
    let mut session = database.accounts().await.session().await.unwrap();
    let rows = query("SELECT at, actor, action, subject, detail FROM audit ORDER BY id");
    let rows = rows.fetch_all(&mut session).await.unwrap();
    let text = |row: &Row, column| row.get::<String>(column).unwrap();
    let lines: Vec<String> = rows
        .iter()
        .map(|row| ["actor", "action", "subject", "detail"].map(|column| text(row, column)).join(" "))
        .collect();
    let webhook = format!("webhook:{}", id.0);
    assert_eq!(
        lines,
        [
            format!("key:7 create {webhook} account=7 to=hooks.example:8443"),
            format!("key:7 update {webhook} account=7 to=other.example position"),
            format!("user:1 pause {webhook} account=7"),
            format!("key:7 resume {webhook} account=7"),
            format!("key:7 rotate-secret {webhook} account=7"),
            format!("key:7 delete {webhook} account=7 to=other.example"),
        ]
    );
    assert!(rows.iter().all(|row| row.get::<i64>("at").unwrap() == time.now()));
    for secret in [first, second] {
        assert!(lines.iter().all(|line| !line.contains(secret.reveal().trim_start_matches("whsec_"))));
    }
}
