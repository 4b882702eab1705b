//! Windows that gateways share through Redis, each gateway a store of its own on one PostgreSQL.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use paraffin_access::{
    ClientNet, DatabaseKeyStore, DatabaseLocation, Decision, KeyId, KeyStore as _, NewKey, Plans, SharedOptions,
    Subject, ThrottleSettings, WindowLimits, Windows as _,
};
use paraffin_testkit::{PostgresServer, RedisServer};
use proptest::prelude::*;
use support::clock;

/// Long enough for a machine that does much else at the same time.
const PATIENT: Duration = Duration::from_secs(3);
/// How long gateways keep to their parts after one has come back.
const CAREFUL: Duration = Duration::from_millis(2_500);

struct Servers {
    _folder: tempfile::TempDir,
    postgres: PostgresServer,
    redis: RedisServer,
}

fn servers() -> Option<Servers> {
    let folder = tempfile::tempdir().unwrap();
    let mut postgres = PostgresServer::prepare(folder.path())?;
    let mut redis = RedisServer::prepare(folder.path())?;
    postgres.run();
    redis.run();
    Some(Servers { _folder: folder, postgres, redis })
}

impl Servers {
    async fn gateway(&self, gateways: u32, within: Duration) -> DatabaseKeyStore {
        let shared = SharedOptions::new(&self.redis.url(), gateways, within).unwrap();
        let location = DatabaseLocation::Server(self.postgres.url().parse().unwrap());
        DatabaseKeyStore::open_shared(&location, Plans::default(), shared).await.unwrap()
    }

    async fn gateways(&self, count: u32) -> Vec<DatabaseKeyStore> {
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(self.gateway(count, PATIENT).await);
        }
        all
    }
}

fn is_shared(store: &DatabaseKeyStore) -> bool {
    store.shared().unwrap().is_shared
}

async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(30), "timed out: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn key(number: i64) -> Subject {
    Subject::Key(KeyId(number))
}

async fn admit(store: &DatabaseKeyStore, subject: Subject, limits: WindowLimits) -> Decision {
    store.admit(subject, limits, clock()).await.unwrap()
}

/// Requests of all gateways at once, `each` at every gateway; those admitted, by the window that they counted in.
async fn storm(stores: &[DatabaseKeyStore], each: usize, limits: WindowLimits, subject: Subject) -> HashMap<i64, u32> {
    let mut tasks = Vec::new();
    for store in stores {
        for _ in 0..8 {
            let store = store.clone();
            tasks.push(tokio::spawn(async move {
                let mut admitted: HashMap<i64, u32> = HashMap::new();
                for _ in 0..each / 8 {
                    let decision = admit(&store, subject, limits).await;
                    if decision.admitted {
                        *admitted.entry(decision.reset).or_default() += 1;
                    }
                }
                admitted
            }));
        }
    }
    let mut all: HashMap<i64, u32> = HashMap::new();
    for task in tasks {
        for (window, count) in task.await.unwrap() {
            *all.entry(window).or_default() += count;
        }
    }
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_and_five_gateways_grant_exactly_the_limit_between_them() {
    let Some(servers) = servers() else { return };
    for count in [2, 5] {
        let stores = servers.gateways(count).await;
        tokio::time::sleep(CAREFUL).await;
        for (number, limit) in [(1, 1), (2, 7), (3, 60), (4, 333)] {
            let subject = key(i64::from(count) * 100 + number);
            // Of the day, so that no window begins anew in between; midnight UTC apart.
            let limits = WindowLimits { per_minute: None, per_day: Some(limit) };
            let admitted = storm(&stores, 400, limits, subject).await;
            assert!(admitted.values().all(|count| *count == limit), "{count} gateways, {limit}: {admitted:?}");
            let limits = WindowLimits { per_minute: Some(limit), per_day: None };
            let subject = key(i64::from(count) * 100 + number + 50);
            let admitted = storm(&stores, 400, limits, subject).await;
            assert!(admitted.values().all(|count| *count <= limit), "{count} gateways, {limit}: {admitted:?}");
            assert!(admitted.values().any(|count| *count == limit), "{count} gateways, {limit}: {admitted:?}");
        }
        // What one has counted the others know at once.
        paraffin_testkit::wait_out_midnight(30);
        let limits = WindowLimits { per_minute: None, per_day: Some(1_000) };
        for (left, store) in (0..1_000).rev().zip(stores.iter().cycle().take(20)) {
            let decision = admit(store, key(i64::from(count) * 100), limits).await;
            assert_eq!(decision.daily_remaining, left, "{decision:?}");
        }
        assert!(stores.iter().all(|store| store.shared().unwrap().alone == 0));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_interleaving_of_any_gateways_grants_more_or_less_than_the_limit() {
    let Some(servers) = servers() else { return };
    let stores = Arc::new(servers.gateways(3).await);
    tokio::time::sleep(CAREFUL).await;
    let runtime = tokio::runtime::Handle::current();
    let outcome = tokio::task::spawn_blocking(move || {
        let mut runner =
            proptest::test_runner::TestRunner::new(ProptestConfig { cases: 40, ..ProptestConfig::default() });
        let number = std::cell::Cell::new(10_000);
        runner.run(&(1u32..40, proptest::collection::vec(0usize..3, 1..120)), |(limit, turns)| {
            number.set(number.get() + 1);
            let (stores, subject) = (Arc::clone(&stores), key(number.get()));
            let limits = WindowLimits { per_minute: Some(1_000), per_day: Some(limit) };
            let requests = turns.len();
            let admitted = runtime.block_on(async move {
                let tasks: Vec<_> = turns
                    .into_iter()
                    .map(|turn| {
                        let store = stores[turn].clone();
                        tokio::spawn(async move { admit(&store, subject, limits).await.admitted })
                    })
                    .collect();
                let mut admitted = 0;
                for task in tasks {
                    admitted += usize::from(task.await.unwrap());
                }
                admitted
            });
            prop_assert_eq!(admitted, requests.min(limit as usize));
            Ok(())
        })
    });
    outcome.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn without_redis_each_grants_its_part_and_its_grants_count_when_redis_is_back() {
    let Some(mut servers) = servers() else { return };
    let stores = servers.gateways(2).await;
    tokio::time::sleep(CAREFUL).await;
    let limits = WindowLimits { per_minute: None, per_day: Some(100) };
    for store in &stores {
        for _ in 0..10 {
            assert!(admit(store, key(1), limits).await.admitted);
        }
    }
    // Everything in Redis is lost with it: nothing was saved.
    servers.redis.kill();
    let admitted = storm(&stores[..1], 400, limits, key(1)).await;
    assert_eq!(admitted.values().sum::<u32>(), 40, "50 of 100 are the part of one, 10 of them were granted before");
    let other = storm(&stores[1..], 16, limits, key(1)).await;
    assert_eq!(other.values().sum::<u32>(), 16);
    let small = WindowLimits { per_minute: None, per_day: Some(1) };
    for store in &stores {
        assert!(admit(store, key(2), small).await.admitted, "a limit below the number of gateways is 1 for each");
        assert!(!admit(store, key(2), small).await.admitted);
        assert!(!is_shared(store) && store.shared().unwrap().alone > 0);
    }
    servers.redis.run();
    until("both share again", || stores.iter().all(is_shared)).await;
    tokio::time::sleep(CAREFUL).await;
    // 20 together, 40 and 16 alone.
    let decision = admit(&stores[0], key(1), limits).await;
    assert_eq!(decision.daily_remaining, 100 - 20 - 40 - 16 - 1, "{decision:?}");
    let rest = storm(&stores, 400, limits, key(1)).await;
    assert_eq!(rest.values().sum::<u32>(), 23);
    assert!(!admit(&stores[1], key(2), small).await.admitted);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn counts_that_redis_lost_or_brought_from_the_past_are_built_from_the_database() {
    let Some(mut servers) = servers() else { return };
    let stores = servers.gateways(2).await;
    tokio::time::sleep(CAREFUL).await;
    let limits = WindowLimits { per_minute: None, per_day: Some(1_000) };
    let mut used = 0;
    for way in 0..5 {
        for store in &stores {
            for _ in 0..10 {
                assert!(admit(store, key(1), limits).await.admitted);
                used += 1;
            }
        }
        let lost = stores[0].shared().unwrap().lost;
        match way {
            0 => drop(servers.redis.ask(&["FLUSHALL"])),
            // It was full, and the one key of the counts had to go.
            1 => drop(servers.redis.ask(&["EVAL", "return redis.call('DEL', unpack(redis.call('KEYS', '*')))", "0"])),
            // It is full and refuses to write, and then has free memory again.
            2 => {
                servers.redis.ask(&["CONFIG", "SET", "maxmemory", "1"]);
                for store in &stores {
                    assert!(admit(store, key(1), limits).await.admitted);
                    used += 1;
                }
                servers.redis.ask(&["CONFIG", "SET", "maxmemory", "0"]);
            }
            // It is full and evicts keys, which all have an expiry.
            3 => {
                servers.redis.ask(&["CONFIG", "SET", "maxmemory-policy", "volatile-lru"]);
                servers.redis.ask(&["CONFIG", "SET", "maxmemory", "1"]);
                tokio::time::sleep(Duration::from_millis(500)).await;
                servers.redis.ask(&["CONFIG", "SET", "maxmemory", "0"]);
            }
            // It starts with the old snapshot on disk.
            _ => {
                servers.redis.save();
                for _ in 0..10 {
                    assert!(admit(&stores[0], key(1), limits).await.admitted);
                    used += 1;
                }
                servers.redis.kill();
                servers.redis.run();
            }
        }
        until("it was noticed", || stores.iter().all(|store| store.shared().unwrap().lost > lost)).await;
        until("both share again", || stores.iter().all(is_shared)).await;
        tokio::time::sleep(CAREFUL).await;
        used += 1;
        let decision = admit(&stores[1], key(1), limits).await;
        assert_eq!(decision.daily_remaining, 1_000 - used, "way {way}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_paused_redis_delays_no_request_beyond_the_timeout_and_late_grants_do_not_count() {
    let Some(servers) = servers() else { return };
    let within = Duration::from_millis(500);
    let store = servers.gateway(1, within).await;
    tokio::time::sleep(CAREFUL).await;
    let limits = WindowLimits { per_minute: None, per_day: Some(1_000) };
    assert!(admit(&store, key(1), limits).await.admitted);
    until("it is shared", || is_shared(&store)).await;
    servers.redis.signal("STOP");
    let tasks: Vec<_> = (0..50)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move {
                let began = Instant::now();
                assert!(admit(&store, key(1), limits).await.admitted);
                began.elapsed()
            })
        })
        .collect();
    for task in tasks {
        let took = task.await.unwrap();
        assert!(took < within + Duration::from_millis(500), "{took:?}");
    }
    let began = Instant::now();
    assert!(admit(&store, key(1), limits).await.admitted);
    assert!(began.elapsed() < within, "it is known to be away");
    tokio::time::sleep(within).await;
    servers.redis.signal("CONT");
    until("it shares again", || is_shared(&store)).await;
    tokio::time::sleep(CAREFUL).await;
    // 1, 50 and 1 before, and this one.
    assert_eq!(admit(&store, key(1), limits).await.daily_remaining, 1_000 - 53);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn grants_of_a_killed_gateway_are_counted_by_the_others() {
    let Some(servers) = servers() else { return };
    let stores = servers.gateways(2).await;
    tokio::time::sleep(CAREFUL).await;
    let limits = WindowLimits { per_minute: None, per_day: Some(100) };
    servers.redis.signal("STOP");
    // The second gateway ends with what it granted in the database alone.
    assert_eq!(storm(&stores[1..], 80, limits, key(1)).await.values().sum::<u32>(), 50);
    stores[1].close().await.unwrap();
    until("the first has noticed", || !is_shared(&stores[0])).await;
    servers.redis.signal("CONT");
    until("the first shares again", || is_shared(&stores[0])).await;
    tokio::time::sleep(CAREFUL).await;
    assert_eq!(storm(&stores[..1], 400, limits, key(1)).await.values().sum::<u32>(), 50);
}

/// row AU11
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn callers_without_credentials_have_one_bucket_at_all_gateways() {
    let Some(mut servers) = servers() else { return };
    let stores = servers.gateways(2).await;
    // A request a minute: so slow that nothing comes back while the test runs.
    let settings = ThrottleSettings { burst: 10, refill_per_minute: 1, wait_ms_max: 180_000, clients_max: 100 };
    let reserve = |at: usize, number: u8| {
        let client = ClientNet::from(std::net::IpAddr::from([192, 0, 2, number]));
        let store = stores[at].clone();
        async move { store.reserve(client, settings, clock()).await.unwrap() }
    };
    let mut waits = Vec::new();
    for turn in 0..14 {
        waits.push(reserve(turn % 2, 1).await);
    }
    assert!(waits[..10].iter().all(|slot| slot.granted && slot.wait_ms == 0), "{waits:?}");
    for (slot, minutes) in waits[10..13].iter().zip(1..) {
        assert!(slot.granted && (minutes * 60_000 - 30_000..=minutes * 60_000).contains(&slot.wait_ms), "{waits:?}");
    }
    assert!(!waits[13].granted, "{waits:?}");
    let client = ClientNet::from(std::net::IpAddr::from([192, 0, 2, 2]));
    for turn in 0..13 {
        assert!(reserve(turn % 2, 2).await.granted);
    }
    assert!(!reserve(1, 2).await.granted);
    stores[0].give_back(client, settings, clock());
    let began = Instant::now();
    while !reserve(1, 2).await.granted {
        assert!(began.elapsed() < Duration::from_secs(5));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // Each key in Redis ends by itself.
    assert!(servers.redis.ask(&["EVAL", "for _, key in ipairs(redis.call('KEYS', '*')) do if redis.call('PTTL', key) < 0 then return key end end return 'all end'", "0"]).contains("all end"));
    // Alone, each gives its part of the burst.
    servers.redis.kill();
    for at in 0..2 {
        let mut granted = 0;
        for _ in 0..10 {
            let slot = reserve(at, 3).await;
            granted += usize::from(slot.granted && slot.wait_ms == 0);
        }
        assert_eq!(granted, 5);
    }
    assert!(!stores.iter().any(is_shared));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn while_redis_is_unreachable_every_key_is_looked_up_in_the_store() {
    let Some(mut servers) = servers() else { return };
    let stores = servers.gateways(2).await;
    let now = clock();
    let created = stores[0].create(NewKey::named("k"), "test", now).await.unwrap();
    for store in &stores {
        assert!(store.authenticate(&created.key, now).await.unwrap().is_some());
        assert!(store.recall_key(&created.key, now).is_some());
    }
    servers.redis.kill();
    until("both have noticed", || !stores.iter().any(is_shared)).await;
    assert!(stores.iter().all(|store| store.recall_key(&created.key, now).is_none()));
    // Without waiting for any lease.
    stores[0].revoke(paraffin_access::KeySelector::Id(created.record.id), "test", now).await.unwrap();
    assert!(stores[1].authenticate(&created.key, now).await.unwrap().is_none());
    // A gateway that starts now serves as well.
    let late = servers.gateway(2, PATIENT).await;
    assert!(!is_shared(&late));
    assert!(admit(&late, key(9), WindowLimits { per_minute: Some(2), per_day: None }).await.admitted);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_decision_takes_less_than_a_millisecond_more_than_a_query_of_redis() {
    let Some(servers) = servers() else { return };
    let store = servers.gateway(1, PATIENT).await;
    let limits = WindowLimits { per_minute: None, per_day: Some(1_000_000) };
    let mut times = Vec::new();
    for _ in 0..500 {
        let began = Instant::now();
        assert!(admit(&store, key(1), limits).await.admitted);
        times.push(began.elapsed());
    }
    times.sort_unstable();
    println!("quickest {:?}, tenth {:?}, median {:?}, slowest {:?}", times[0], times[50], times[250], times[499]);
    // Of the undisturbed ones: this machine does much else.
    assert!(times[50] < Duration::from_millis(5), "{:?}", times[50]);
}
