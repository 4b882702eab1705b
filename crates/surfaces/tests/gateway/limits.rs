//! Limits of a caller.

use std::time::{Duration, Instant};

use paraffin_access::{KeyStore as _, NewKey, Plan, ThrottleSettings, WindowLimits};
use paraffin_gateway::AccessConfig;
use serde_json::json;

use crate::client::Response;
use crate::instance::{Instance, Setup};

pub(crate) const COUNT: &str = r#"{"method":"btc_getblockcount","id":1}"#;
const HEADERS: [&str; 5] = [
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "x-ratelimit-daily-limit",
    "x-ratelimit-daily-remaining",
];

pub(crate) fn quota(response: &Response) -> [i64; 5] {
    HEADERS.map(|name| {
        let value = response
            .header(name)
            .unwrap_or_else(|| panic!("{name} is missing: {} {}", response.status, response.text()));
        value.parse().unwrap()
    })
}

pub(crate) async fn limited_key(instance: &Instance, per_minute: u32) -> String {
    let limits = WindowLimits { per_minute: Some(per_minute), per_day: None };
    let new = NewKey { limits, ..NewKey::on_plan("limited", Plan::BUSINESS) };
    instance.keys.create(new, "test", 0).await.unwrap().key.reveal()
}

/// Waits for the beginning of a minute when the current one is about to end.
pub(crate) async fn wait_for_time_in_minute(seconds: u64) {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let left = 60 - now.as_secs() % 60;
    if left <= seconds {
        tokio::time::sleep(Duration::from_secs(left + 1)).await;
    }
}

fn keyless(burst: u32, refill_per_minute: u32, wait_ms_max: u32) -> Setup {
    let keyless = ThrottleSettings { burst, refill_per_minute, wait_ms_max, ..ThrottleSettings::default() };
    Setup { access: AccessConfig { keyless, ..AccessConfig::default() }, ..Setup::default() }
}

/// row RL05
/// row RL03
#[tokio::test]
async fn every_counted_answer_tells_the_windows_unlimited_plans_and_errors_included() {
    let instance = Instance::start().await;
    let key = instance.key.key.reveal();
    let header = [("x-service-api-key", key.as_str())];
    for response in [
        instance.post(&instance.keyed(""), COUNT).await,
        instance.post(&instance.keyed(""), "not json").await,
        instance.post(&instance.keyed(""), r#"{"method":"no_such","id":1}"#).await,
        instance.get(&instance.keyed("")).await,
        instance.post(&instance.keyed("/get-nothing"), "{}").await,
        instance.post(&instance.keyed("/mempool"), "{}").await,
        instance.post(&instance.keyed("/opi"), "{}").await,
        instance.send("GET", "/v4/api/indexer/height", &header, "").await,
        instance.send("POST", "/v4/api", &header, COUNT).await,
    ] {
        let [limit, remaining, reset, daily_limit, daily_remaining] = quota(&response);
        assert_eq!([limit, remaining, daily_limit, daily_remaining], [2_147_483_647; 4], "{}", response.status);
        assert_eq!(reset % 60, 0);
    }
    let keyless = instance.post("/v4/jsonrpc", COUNT).await;
    assert_eq!(quota(&keyless)[3..], [2_147_483_647; 2]);
    for response in [
        instance.get("/v4/api/health").await,
        instance.get(&instance.keyed("/health")).await,
        instance.send("OPTIONS", &instance.keyed(""), &[], "").await,
        instance.post("/v4/mempool", COUNT).await,
    ] {
        assert_eq!(response.header("x-ratelimit-limit"), None, "{} is not counted", response.status);
    }
}

/// row RL01
/// row RL04
/// row RL05
#[tokio::test]
async fn a_free_key_is_refused_after_60_requests_in_the_envelope_of_each_surface() {
    let instance = Instance::start().await;
    wait_for_time_in_minute(20).await;
    let free = instance.keys.create(NewKey::named("free"), "test", 0).await.unwrap().key.reveal();
    let other = instance.keys.create(NewKey::named("other"), "test", 0).await.unwrap().key.reveal();
    for left in (0..60).rev() {
        let response = instance.post(&format!("/v4/{free}"), COUNT).await;
        assert_eq!(response.status, 200);
        let [limit, remaining, reset, daily_limit, daily_remaining] = quota(&response);
        assert_eq!([limit, remaining, daily_limit, daily_remaining], [60, left, 1_000, 940 + left]);
        assert_eq!(reset % 60, 0);
    }
    for (path, code) in [
        ("", Some(-32000)),
        ("/mempool", Some(-32005)),
        ("/forex", Some(-32005)),
        ("/espo", Some(-32005)),
        ("/btcusd", Some(-32005)),
        ("/reorg/5", Some(-32005)),
        ("/get-address-balance", None),
        ("/orderbook/markets", None),
    ] {
        let response = instance.post(&format!("/v4/{free}{path}"), COUNT).await;
        let body = response.json();
        let seconds: i64 = response.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=60).contains(&seconds));
        assert_eq!((response.status, &body["code"]), (429, &json!("RATE_LIMITED")), "{path}");
        let message = format!("Rate limit exceeded. Try again in {seconds} seconds.");
        match code {
            Some(code) => {
                assert_eq!(
                    (&body["error"]["code"], &body["error"]["message"]),
                    (&json!(code), &json!(message)),
                    "{path}"
                );
                assert_eq!((&body["jsonrpc"], &body["id"]), (&json!("2.0"), &json!(null)));
            }
            None => assert_eq!((&body["statusCode"], &body["error"]), (&json!(429), &json!(message)), "{path}"),
        }
        assert_eq!(quota(&response)[..2], [60, 0]);
    }
    assert_eq!(quota(&instance.post(&format!("/v4/{other}"), COUNT).await)[1], 59, "keys do not share a counter");
}

/// row RL04
#[tokio::test]
async fn a_batch_counts_once_and_a_key_counts_the_same_in_path_and_header() {
    let instance = Instance::start().await;
    wait_for_time_in_minute(10).await;
    let key = limited_key(&instance, 5).await;
    let path = format!("/v4/{key}");
    let batch = format!("[{COUNT},{COUNT},{COUNT}]");
    assert_eq!(quota(&instance.post(&path, batch).await)[1], 4);
    let header = [("x-service-api-key", key.as_str())];
    assert_eq!(quota(&instance.send("POST", "/v4/jsonrpc", &header, COUNT).await)[1], 3);
    assert_eq!(quota(&instance.send("GET", "/v4/api/indexer/height", &header, "").await)[1], 2);
    assert_eq!(quota(&instance.get(&format!("{path}/indexer/height")).await)[1], 1);
    assert_eq!(quota(&instance.post(&path, COUNT).await)[1], 0);
    assert_eq!(instance.post(&path, COUNT).await.status, 429);
}

#[tokio::test]
async fn calls_of_a_caller_in_a_minute_are_bounded_beside_his_requests() {
    let mut setup = Setup::default();
    setup.config.limits.calls_per_request_max = 10;
    setup.config.limits.calls_per_request_of_minute = 2;
    let instance = Instance::with(setup).await;
    wait_for_time_in_minute(20).await;
    // Ten requests, and twenty calls.
    let (key, other) = (limited_key(&instance, 10).await, limited_key(&instance, 10).await);
    let path = format!("/v4/{key}");
    let batch = |entries: usize| format!("[{}]", vec![COUNT; entries].join(","));
    let results = |response: &Response| {
        let answers = response.json();
        answers.as_array().unwrap().iter().filter(|answer| answer.get("result").is_some()).count()
    };
    assert_eq!(instance.post(&path, COUNT).await.status, 200);
    assert_eq!(results(&instance.post(&path, batch(10)).await), 10);
    let last = instance.post(&path, batch(10)).await;
    assert_eq!(results(&last), 10);
    let refused = instance.post(&path, COUNT).await;
    let seconds: i64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&seconds));
    assert_eq!(
        (refused.status, &refused.json()["code"], &refused.json()["error"]["code"]),
        (429, &json!("RATE_LIMITED"), &json!(-32000))
    );
    assert_eq!(instance.get(&format!("{path}/indexer/height")).await.status, 429, "all requests of the caller");
    assert_eq!(instance.post(&format!("/v4/{other}"), batch(10)).await.status, 200, "keys do not share a counter");

    // In the middle of a request the rest of it is not run.
    let half = limited_key(&instance, 6).await;
    let path = format!("/v4/{half}");
    assert_eq!(results(&instance.post(&path, batch(7)).await), 7);
    let cut = instance.post(&path, batch(9)).await;
    assert_eq!((cut.status, results(&cut)), (200, 5));
    let error = cut.json()[8]["error"].clone();
    assert_eq!(error["data"]["code"], "BUDGET_EXCEEDED");
    assert!(error["message"].as_str().unwrap().contains("next minute"), "{error}");
    // A caller without a limit has none here either.
    for _ in 0..5 {
        assert_eq!(results(&instance.post(&instance.keyed(""), batch(10)).await), 10);
    }
}

/// row AU11
#[tokio::test]
async fn without_a_key_requests_above_the_burst_wait_their_turn_in_order() {
    // A slot every 250 ms.
    let instance = Instance::with(keyless(3, 240, 10_000)).await;
    let started = Instant::now();
    for _ in 0..3 {
        assert_eq!(instance.post("/v4/jsonrpc", COUNT).await.status, 200);
    }
    assert!(started.elapsed() < Duration::from_millis(500), "the burst does not wait");
    let (burst_over, mut waiting) = (Instant::now(), Vec::new());
    for number in 0..5 {
        let address = instance.address;
        waiting.push(tokio::spawn(async move {
            let response = crate::client::request(address, "POST", "/v4/jsonrpc", &[], COUNT.as_bytes()).await;
            (number, response.status, quota(&response)[0], Instant::now())
        }));
        tokio::time::sleep(Duration::from_millis(15)).await;
    }
    // A caller with a key does not wait behind anonymous ones.
    assert_eq!(instance.post(&instance.keyed(""), COUNT).await.status, 200);
    let with_key = Instant::now();
    let mut ends = Vec::new();
    for task in waiting {
        let (number, status, limit, end) = task.await.unwrap();
        assert_eq!((status, limit), (200, 3), "{number}");
        ends.push(end);
    }
    assert!(ends.is_sorted(), "in the order of arrival");
    // Five beyond the burst; while it lasted at most two places came back, and a part of a third.
    assert!(burst_over.elapsed() >= Duration::from_millis(500), "{:?}", burst_over.elapsed());
    assert!(ends.last().is_some_and(|last| with_key < *last), "it waited behind them");
}

/// row AU11
#[tokio::test]
async fn the_wait_is_outside_the_time_of_the_handler_and_too_long_a_wait_is_429() {
    let mut setup = keyless(1, 60, 1_000);
    setup.config.limits.handler_timeout_ms = 300;
    let instance = Instance::with(setup).await;
    assert_eq!(instance.post("/v4/jsonrpc", COUNT).await.status, 200);
    let waited = instance.post("/v4/jsonrpc", COUNT);
    let refused = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        instance.post("/v4/jsonrpc", COUNT).await
    };
    let (waited, refused) = tokio::join!(waited, refused);
    assert_eq!(waited.status, 200, "{}", waited.text());
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (429, &json!(-32000)));
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(quota(&refused)[1], 0);
    let rest = instance.get("/v4/api/indexer/height").await;
    assert!(matches!(rest.status, 200 | 429));
}

/// row AU11
#[tokio::test]
async fn clients_behind_a_proxy_are_told_apart_only_when_the_proxy_is_ours() {
    let mut setup = keyless(1, 1, 0);
    setup.access.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
    let instance = Instance::with(setup).await;
    let from = |address: &'static str| {
        let instance = &instance;
        async move { instance.send("POST", "/v4/jsonrpc", &[("X-Forwarded-For", address)], COUNT).await.status }
    };
    assert_eq!(from("198.51.100.1").await, 200);
    assert_eq!(from("198.51.100.1").await, 429);
    assert_eq!(from("203.0.113.5, 198.51.100.1").await, 429, "what the client wrote himself does not count");
    assert_eq!(from("198.51.100.2").await, 200);
    assert_eq!(from("2001:db8:1:2::1").await, 200);
    assert_eq!(from("2001:db8:1:2:ffff::9").await, 429, "one line has one bucket");
    assert_eq!(from("2001:db8:1:3::1").await, 200);

    let anonymous = Instance::with(keyless(1, 1, 0)).await;
    let forwarded = [("X-Forwarded-For", "198.51.100.1")];
    assert_eq!(anonymous.send("POST", "/v4/jsonrpc", &forwarded, COUNT).await.status, 200);
    let other = [("X-Forwarded-For", "198.51.100.2")];
    assert_eq!(anonymous.send("POST", "/v4/jsonrpc", &other, COUNT).await.status, 429);
}

#[tokio::test]
async fn counts_of_the_day_are_there_after_a_restart() {
    paraffin_testkit::wait_out_midnight(30);
    let mut instance = Instance::start().await;
    let key = instance.keys.create(NewKey::named("free"), "test", 0).await.unwrap().key.reveal();
    let mut last = 0;
    for _ in 0..7 {
        last = quota(&instance.post(&format!("/v4/{key}"), COUNT).await)[4];
    }
    instance.stop.take().unwrap().send(()).unwrap();
    instance.served.take().unwrap().await.unwrap();
    let again = paraffin_access::DatabaseKeyStore::open(&instance.keys_path).await.unwrap();
    let found = again.authenticate(&key.parse().unwrap(), 0).await.unwrap().unwrap();
    let now =
        i64::try_from(std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis()).unwrap();
    let subject = paraffin_access::Subject::Key(found.id);
    let limits = WindowLimits { per_minute: None, per_day: Some(1_000) };
    let decision = paraffin_access::Windows::admit(&again, subject, limits, now).await.unwrap();
    assert_eq!((last, decision.daily_remaining), (1_000 - 7, 1_000 - 8), "{decision:?}");
}
