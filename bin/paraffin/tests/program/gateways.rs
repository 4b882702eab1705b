//! Many `paraffin serve` on one PostgreSQL and one Redis: limits that are exact between them, and each part paused, killed and cut off
//! under load.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::support::devnet::DevnetNode;
use crate::support::node::TestNode as _;
use crate::support::process::{Running, paraffin, write_config};
use crate::support::relay::Relay;
use crate::support::{free_port, http, wait_for};
use paraffin_testkit::{PostgresServer, RedisServer};
use serde_json::json;

/// How long gateways keep to their parts after one has come back, with a margin.
const CAREFUL: Duration = Duration::from_secs(3);
const LONG: Duration = Duration::from_secs(60);

/// What the gateways share.
struct Shared {
    folder: tempfile::TempDir,
    node: DevnetNode,
    postgres: PostgresServer,
    redis: RedisServer,
}

/// One gateway, which reaches both servers through relays of its own.
struct Gateway {
    config: PathBuf,
    address: String,
    metrics: String,
    to_postgres: Relay,
    to_redis: Relay,
    process: Option<Running>,
}

impl Shared {
    fn start() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut postgres = PostgresServer::prepare(folder.path())?;
        let mut redis = RedisServer::prepare(folder.path())?;
        postgres.run();
        redis.run();
        Some(Self { folder, node: DevnetNode::start(), postgres, redis })
    }

    fn gateway(&self, number: u32, gateways: u32) -> Gateway {
        let folder = self.folder.path().join(format!("gateway-{number}"));
        std::fs::create_dir(&folder).unwrap();
        let (to_postgres, to_redis) = (Relay::start(self.postgres.port()), Relay::start(self.redis.port()));
        let local = || format!("127.0.0.1:{}", free_port());
        let (address, metrics) = (local(), local());
        let text = format!(
            "network = \"regtest\"\ndata_dir = \"{}\"\n{}\n[gateway]\nlisten = \"{address}\"\nmetrics_listen = \"{metrics}\"\n\
             access_log = false\n[index]\nmemory_mib = 256\n[verify]\nenabled = false\n[lua]\nenabled = false\n[orderbook]\nenabled = false\n\
             [mempool]\nenabled = false\n[access]\ndatabase_url = \"postgres://postgres:hunter2@127.0.0.1:{}/postgres\"\n\
             redis_url = \"redis://127.0.0.1:{}/0\"\ngateways = {gateways}\nredis_timeout_ms = 1000\n",
            folder.join("data").display(),
            self.node.config(),
            to_postgres.port(),
            to_redis.port(),
        );
        let config = write_config(&folder, &text);
        let mut gateway = Gateway { config, address, metrics, to_postgres, to_redis, process: None };
        gateway.run();
        gateway
    }

    /// So many gateways, which count together.
    fn gateways(&self, count: u32) -> Vec<Gateway> {
        let all: Vec<Gateway> = (0..count).map(|number| self.gateway(number, count)).collect();
        for gateway in &all {
            gateway.wait_until_shared();
        }
        std::thread::sleep(CAREFUL);
        all
    }
}

impl Gateway {
    fn run(&mut self) {
        let mut process = Running::start(paraffin().args(["serve", "--config"]).arg(&self.config));
        process.wait_for_output("listening on", LONG);
        self.process = Some(process);
    }

    /// SIGKILL.
    fn kill(&mut self) {
        self.process.take().unwrap().kill();
    }

    fn errors(&self) -> String {
        self.process.as_ref().unwrap().errors()
    }

    fn call(&self, key: &str) -> http::Answer {
        call(&self.address, key).unwrap_or_else(|| panic!("no answer from {}", self.address))
    }

    fn figure(&self, name: &str) -> Option<f64> {
        let text = http::get(&self.metrics, "/metrics").text();
        text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
    }

    fn wait_until_shared(&self) {
        wait_for("the shared windows", LONG, || (self.figure("paraffin_windows_shared ") == Some(1.0)).then_some(()));
    }

    fn wait_until_alone(&self) {
        wait_for("a gateway alone", LONG, || (self.figure("paraffin_windows_shared ") == Some(0.0)).then_some(()));
    }
}

fn call(address: &str, key: &str) -> Option<http::Answer> {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "btc_getblockcount", "params": [] }).to_string();
    http::try_request(address, "POST", &format!("/v4/{key}"), &[], body.as_bytes())
}

fn keys(config: &Path, arguments: &[&str]) -> String {
    let run = paraffin().arg("keys").args(arguments).arg("--config").arg(config).output().unwrap();
    assert!(run.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap().trim().to_owned()
}

/// A key with a limit of the day.
fn key_with(config: &Path, per_day: u32) -> String {
    keys(config, &["create", "k", "--plan", "business", "--per-day", &per_day.to_string()])
}

/// Clients that call until they are stopped; answers by status, and when which came last.
struct Load {
    stop: Arc<AtomicBool>,
    clients: Vec<JoinHandle<Vec<(Instant, Instant, u16)>>>,
}

impl Load {
    fn start(gateways: &[Gateway], clients: usize, key: &str) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let of = |gateway: &Gateway| {
            let (address, key, stop) = (gateway.address.clone(), key.to_owned(), Arc::clone(&stop));
            std::thread::spawn(move || {
                let mut answers = Vec::new();
                while !stop.load(Ordering::Relaxed) {
                    let began = Instant::now();
                    match call(&address, &key) {
                        Some(answer) => answers.push((began, Instant::now(), answer.status)),
                        // Its gateway is gone for now.
                        None => std::thread::sleep(Duration::from_millis(20)),
                    }
                }
                answers
            })
        };
        let clients = gateways.iter().flat_map(|gateway| (0..clients).map(move |_| gateway)).map(of).collect();
        Self { stop, clients }
    }

    /// Every answer: when its request was sent, when it was there, and its status.
    fn end(self) -> Vec<(Instant, Instant, u16)> {
        self.stop.store(true, Ordering::Relaxed);
        self.clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    }
}

fn by_status(answers: &[(Instant, Instant, u16)]) -> BTreeMap<u16, usize> {
    let mut statuses = BTreeMap::new();
    for (_, _, status) in answers {
        *statuses.entry(*status).or_default() += 1;
    }
    statuses
}

/// Calls at every gateway in turn until each refuses; how many were served.
fn exhaust(gateways: &[Gateway], key: &str) -> usize {
    let mut served = 0;
    for gateway in gateways {
        loop {
            match gateway.call(key).status {
                200 => served += 1,
                429 => break,
                other => panic!("{other}"),
            }
        }
    }
    served
}

#[test]
fn two_and_five_gateways_serve_exactly_the_limit_between_them_whichever_is_killed() {
    let Some(mut shared) = Shared::start() else { return };
    let mut gateways = shared.gateways(5);
    let config = gateways[0].config.clone();
    for count in [2, 5] {
        let key = key_with(&config, 150);
        let load = Load::start(&gateways[..count], 2, &key);
        wait_for("a limit that is used up", LONG, || (gateways[0].call(&key).status == 429).then_some(()));
        let served = by_status(&load.end());
        // The question above may have been served as well.
        let all = served.get(&200).copied().unwrap_or(0);
        assert!(all <= 150 && served.keys().all(|status| [200, 429].contains(status)), "{served:?}");
        assert_eq!(exhaust(&gateways, &key), 0);
    }
    // Killed under load: what it granted stays granted, and the rest is there for the others.
    let key = key_with(&config, 400);
    let load = Load::start(&gateways[..2], 2, &key);
    std::thread::sleep(Duration::from_millis(300));
    gateways[1].kill();
    std::thread::sleep(Duration::from_millis(300));
    let under_load = by_status(&load.end()).get(&200).copied().unwrap_or(0);
    gateways[1].run();
    gateways[1].wait_until_shared();
    std::thread::sleep(CAREFUL);
    let rest = exhaust(&gateways, &key);
    // A request that was granted and whose answer its killed gateway could not send: one for each client.
    assert!((398..=400).contains(&(under_load + rest)), "{under_load} and {rest}");
    assert!(gateways.iter().all(|gateway| !gateway.errors().contains("hunter2")));
    shared.redis.kill();
}

/// row AU04
#[test]
fn no_gateway_serves_a_key_after_its_revocation_was_answered() {
    let Some(mut shared) = Shared::start() else { return };
    let gateways = shared.gateways(3);
    let config = gateways[0].config.clone();
    for round in 0..4 {
        if round == 2 {
            // The same holds while Redis is away.
            shared.redis.kill();
            gateways.iter().for_each(Gateway::wait_until_alone);
        }
        let key = keys(&config, &["create", "k", "--plan", "business"]);
        let load = Load::start(&gateways, 2, &key);
        std::thread::sleep(Duration::from_millis(300));
        keys(&config, &["revoke", &key]);
        let revoked = Instant::now();
        std::thread::sleep(Duration::from_millis(500));
        let answers = load.end();
        assert!(answers.iter().any(|(_, _, status)| *status == 200));
        // Refused as unknown, or for too many failed look-ups.
        let is_refused = |status: &u16| [401, 429].contains(status);
        let late = answers.iter().filter(|(sent, _, status)| *sent > revoked && !is_refused(status)).count();
        assert_eq!(late, 0, "{:?}", by_status(&answers));
        assert!(answers.iter().any(|(sent, _, _)| *sent > revoked));
    }
}

/// row AU10
#[test]
fn without_postgresql_nobody_is_served_after_a_second_and_everybody_when_it_is_back() {
    let Some(mut shared) = Shared::start() else { return };
    let gateways = shared.gateways(2);
    let config = gateways[0].config.clone();
    let key = keys(&config, &["create", "k", "--plan", "business"]);
    for way in ["paused", "killed", "cut off", "frozen"] {
        let load = Load::start(&gateways, 2, &key);
        std::thread::sleep(Duration::from_millis(500));
        let relays = || gateways.iter().map(|gateway| &gateway.to_postgres);
        let before = Instant::now();
        match way {
            "paused" => shared.postgres.signal("STOP"),
            "killed" => shared.postgres.kill(),
            "cut off" => relays().for_each(Relay::cut),
            _ => relays().for_each(Relay::freeze),
        }
        // Its processes are stopped one after the other, and the last of them may have answered.
        let gone = Instant::now();
        std::thread::sleep(Duration::from_millis(3_000));
        // Anonymous callers are not served either, and health answers.
        let anonymous = http::try_request(&gateways[0].address, "GET", "/v4/api/get-alkanes", &[], b"").unwrap();
        assert_eq!(anonymous.status, 503, "{way}: {}", anonymous.text());
        assert!(anonymous.header("retry-after").is_none());
        assert_eq!(http::get(&gateways[0].address, "/health").status, 200);
        let back = Instant::now();
        match way {
            "paused" => shared.postgres.signal("CONT"),
            "killed" => shared.postgres.run(),
            _ => relays().for_each(Relay::restore),
        }
        for gateway in &gateways {
            wait_for("service", LONG, || (gateway.call(&key).status == 200).then_some(()));
        }
        let answers = load.end();
        assert!(answers.iter().any(|(_, at, status)| *at < before && *status == 200), "{way}");
        // The lease of a second, and a request that was let in at its end.
        let after = gone + Duration::from_millis(1_100);
        let meanwhile: Vec<_> = answers.iter().filter(|(sent, at, _)| *sent > after && *at < back).copied().collect();
        assert!(
            !meanwhile.is_empty() && meanwhile.iter().all(|(_, _, status)| *status == 503),
            "{way}: {:?}",
            by_status(&meanwhile)
        );
        let slowest = meanwhile.iter().map(|(sent, at, _)| *at - *sent).max().unwrap();
        assert!(slowest < Duration::from_millis(1_500), "{way}: {slowest:?}");
    }
}

#[test]
fn without_redis_each_gateway_serves_its_part_and_all_of_it_counts_when_it_is_back() {
    let Some(mut shared) = Shared::start() else { return };
    let gateways = shared.gateways(2);
    let config = gateways[0].config.clone();
    for way in ["killed", "paused", "cut off", "frozen"] {
        let key = key_with(&config, 200);
        for gateway in &gateways {
            for _ in 0..20 {
                assert_eq!(gateway.call(&key).status, 200);
            }
        }
        let relays = || gateways.iter().map(|gateway| &gateway.to_redis);
        match way {
            "killed" => shared.redis.kill(),
            "paused" => shared.redis.signal("STOP"),
            "cut off" => relays().for_each(Relay::cut),
            _ => relays().for_each(Relay::freeze),
        }
        // Under load from the first moment on: no request waits longer than for one answer of Redis.
        let load = Load::start(&gateways, 2, &key);
        wait_for("gateways alone", LONG, || {
            gateways.iter().all(|gateway| gateway.figure("paraffin_windows_shared ") == Some(0.0)).then_some(())
        });
        wait_for("parts that are used up", LONG, || {
            gateways.iter().all(|gateway| gateway.call(&key).status == 429).then_some(())
        });
        let answers = load.end();
        let slowest = answers.iter().map(|(sent, at, _)| *at - *sent).max().unwrap();
        assert!(slowest < Duration::from_millis(2_500), "{way}: {slowest:?}");
        let served = by_status(&answers).get(&200).copied().unwrap_or(0);
        assert!(served <= 160, "{way}: 40 of 200 were used, and {served} more were served");
        match way {
            "killed" => shared.redis.run(),
            "paused" => shared.redis.signal("CONT"),
            _ => relays().for_each(Relay::restore),
        }
        gateways.iter().for_each(Gateway::wait_until_shared);
        std::thread::sleep(CAREFUL);
        // Both parts are used up, and the counts say so.
        let rest = exhaust(&gateways, &key);
        assert!(rest <= 2, "{way}: {rest} of a limit that was used up");
    }
}

/// What PostgreSQL has is at most half a second old, and what others have heard counts as well.
#[test]
fn what_a_killed_gateway_granted_is_counted_when_redis_is_back_but_for_its_last_half_second() {
    let Some(mut shared) = Shared::start() else { return };
    let mut gateways = shared.gateways(2);
    let config = gateways[0].config.clone();
    let grant = |gateway: &Gateway, key: &str, times: u32| {
        for _ in 0..times {
            assert_eq!(gateway.call(key).status, 200);
        }
    };
    for is_heard in [false, true] {
        let key = key_with(&config, 200);
        grant(&gateways[1], &key, 30);
        if !is_heard {
            std::thread::sleep(Duration::from_secs(2));
        }
        grant(&gateways[1], &key, 10);
        if is_heard {
            grant(&gateways[0], &key, 1);
        }
        let lost = gateways[0].figure("paraffin_windows_lost_total ").unwrap();
        gateways[1].kill();
        shared.redis.kill();
        shared.redis.run();
        wait_for("it was noticed", LONG, || (gateways[0].figure("paraffin_windows_lost_total ")? > lost).then_some(()));
        gateways[0].wait_until_shared();
        std::thread::sleep(CAREFUL);
        let answer = gateways[0].call(&key);
        let left: u32 = answer.header("x-ratelimit-daily-remaining").unwrap().parse().unwrap();
        let granted = 200 - left - 1;
        if is_heard {
            assert_eq!(granted, 41);
        } else {
            assert!((30..=40).contains(&granted), "{granted}");
        }
        gateways[1].run();
        gateways[1].wait_until_shared();
        std::thread::sleep(CAREFUL);
    }
}

#[test]
fn a_gateway_that_alone_is_cut_off_from_redis_grants_its_part_and_not_more() {
    let Some(shared) = Shared::start() else { return };
    let gateways = shared.gateways(2);
    let key = key_with(&gateways[0].config, 100);
    gateways[1].to_redis.freeze();
    gateways[1].call(&key);
    gateways[1].wait_until_alone();
    let together = exhaust(&gateways[..1], &key);
    let alone = exhaust(&gateways[1..], &key);
    assert!(together <= 100 && alone <= 50, "{together} and {alone}");
    assert!(together + alone >= 99);
    gateways[1].to_redis.restore();
    gateways[1].wait_until_shared();
    std::thread::sleep(CAREFUL);
    assert_eq!(exhaust(&gateways, &key), 0);
}

#[test]
fn doctor_and_keys_work_on_the_shared_accounts_and_show_no_address() {
    let Some(mut shared) = Shared::start() else { return };
    let gateways = shared.gateways(1);
    let config = gateways[0].config.clone();
    let key = keys(&config, &["create", "shared", "--plan", "pro"]);
    assert_eq!(gateways[0].call(&key).status, 200);
    wait_for("a count", LONG, || {
        let listed = keys(&config, &["list", "--json"]);
        (listed.contains("\"requestCount\":1") && listed.contains("\"name\":\"shared\"")).then_some(())
    });
    let doctor = || {
        let run = paraffin().args(["doctor", "--config"]).arg(&config).output().unwrap();
        format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr))
    };
    let well = doctor();
    assert!(well.contains("accounts   the database") && well.contains("windows    Redis"), "{well}");
    shared.redis.kill();
    shared.postgres.kill();
    let ill = doctor();
    assert!(ill.contains("WRONG    accounts") && ill.contains("WRONG    windows"), "{ill}");
    for text in [well, ill, gateways[0].errors()] {
        assert!(!text.contains("hunter2") && !text.contains("postgres://") && !text.contains("redis://"), "{text}");
    }
}
