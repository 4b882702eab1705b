//! Accounts, keys, aliases and origins from the command line, against a running instance.

use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use crate::support::process::{Running, paraffin};
use crate::support::{free_port, http};
use serde_json::{Value, json};

struct Dev {
    folder: tempfile::TempDir,
    process: Running,
    manifest: Value,
    address: String,
}

fn start(folder: tempfile::TempDir) -> Dev {
    let listen = format!("127.0.0.1:{}", free_port());
    let mut process = Running::start(
        paraffin().args(["dev", "--blocks", "120", "--listen", &listen, "--data-dir"]).arg(folder.path()),
    );
    process.wait_for_output("ready", Duration::from_secs(30));
    let manifest = serde_json::from_slice(&std::fs::read(folder.path().join("dev.json")).unwrap()).unwrap();
    Dev { folder, process, manifest, address: listen }
}

fn dev() -> Dev {
    start(tempfile::tempdir().unwrap())
}

fn keys(folder: &Path, arguments: &[&str]) -> Output {
    paraffin().arg("keys").args(arguments).arg("--data-dir").arg(folder).output().unwrap()
}

fn ok(folder: &Path, arguments: &[&str]) -> String {
    let run = keys(folder, arguments);
    assert!(run.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap().trim().to_owned()
}

fn refused(folder: &Path, arguments: &[&str]) -> String {
    let run = keys(folder, arguments);
    assert_eq!(run.status.code(), Some(1), "{arguments:?}");
    String::from_utf8(run.stderr).unwrap()
}

fn count(address: &str, path: &str, headers: &[(&str, &str)]) -> http::Answer {
    let body = br#"{"jsonrpc":"2.0","id":1,"method":"btc_getblockcount","params":[]}"#;
    http::try_request(address, "POST", path, headers, body).unwrap()
}

/// row AU04
#[test]
fn a_key_that_the_command_line_calls_revoked_is_refused_from_then_on() {
    let mut dev = dev();
    let folder = dev.folder.path();
    for round in 0..3 {
        let key = ok(folder, &["create", "short-lived"]);
        assert_eq!(count(&dev.address, &format!("/v4/{key}"), &[]).status, 200, "{round}: a new key works at once");
        ok(folder, &["revoke", &key]);
        assert_eq!(count(&dev.address, &format!("/v4/{key}"), &[]).status, 401, "{round}");
    }
    let key = ok(folder, &["create", "replaced"]);
    let fresh = ok(folder, &["reroll", &key]);
    assert_eq!(count(&dev.address, &format!("/v4/{key}"), &[]).status, 401);
    assert_eq!(count(&dev.address, &format!("/v4/{fresh}"), &[]).status, 200);
    assert!(dev.process.terminate(Duration::from_secs(10)).success());
}

/// row GW03
/// row GW04
/// row RL01
/// row RL02
/// row RL03
/// row AU13
#[test]
fn dev_has_an_alias_an_origin_and_a_key_of_each_plan_that_say_what_they_allow() {
    let mut dev = dev();
    for (plan, limit, daily) in
        [("free", "60", "1000"), ("pro", "600", "50000"), ("business", "2147483647", "2147483647")]
    {
        let key = dev.manifest["keys"][plan].as_str().unwrap();
        let answer = count(&dev.address, &format!("/v4/{key}"), &[]);
        assert_eq!(
            (answer.header("x-ratelimit-limit"), answer.header("x-ratelimit-daily-limit")),
            (Some(limit), Some(daily))
        );
    }
    let alias = dev.manifest["alias"].as_str().unwrap();
    assert_eq!(count(&dev.address, &format!("/v4/{alias}"), &[]).json()["result"], 120);
    let origin = dev.manifest["origin"].as_str().unwrap();
    let page = count(&dev.address, "/v4/api", &[("origin", origin)]);
    assert_eq!((page.json()["result"].clone(), page.header("access-control-allow-origin")), (json!(120), Some(origin)));
    assert_eq!(count(&dev.address, "/v4/api", &[("origin", "http://localhost:1")]).status, 403);
    for (name, manages) in [("business", true), ("admin", true), ("pro", false), ("free", false)] {
        let key = dev.manifest["keys"][name].as_str().unwrap();
        let made = http::call(&dev.address, &format!("/v4/{key}"), "admin_createApiKey", json!({"name": "made"}));
        assert_eq!(made["result"]["key"].is_string(), manages, "{name}: {made}");
    }
    assert!(dev.process.terminate(Duration::from_secs(10)).success());
}

/// row AU07
/// row AU06
#[test]
fn accounts_aliases_and_origins_are_managed_beside_a_running_instance() {
    let mut dev = dev();
    let folder = dev.folder.path();
    let account = ok(folder, &["account", "create", "team", "--plan", "pro"]);
    for _ in 0..10 {
        ok(folder, &["create", "k", "--account", &account]);
    }
    assert!(refused(folder, &["create", "k", "--account", &account]).contains("10 active keys"));
    ok(folder, &["account", "plan", &account, "business"]);
    ok(folder, &["create", "k", "--account", &account, "--per-minute", "3"]);
    assert!(ok(folder, &["account", "list"]).contains("team"));

    ok(folder, &["alias", "create", "our-app", "--account", &account, "--surfaces", "main", "--per-minute", "5"]);
    let answer = count(&dev.address, "/v4/our-app", &[]);
    assert_eq!((answer.status, answer.header("x-ratelimit-limit")), (200, Some("5")));
    assert_eq!(http::get(&dev.address, "/v4/our-app/indexer/height").status, 403);
    for bad in ["mempool", "ab", "Our-App", "0123456789abcdef0123456789abcdef", &"a".repeat(10_240)] {
        assert!(
            refused(folder, &["alias", "create", bad, "--account", &account]).contains("an alias has 3 to 32"),
            "{bad}"
        );
    }
    assert!(refused(folder, &["alias", "create", "our-app", "--account", &account]).contains("taken"));
    ok(folder, &["alias", "remove", "our-app"]);
    assert_eq!(count(&dev.address, "/v4/our-app", &[]).status, 401);

    let added = ok(folder, &["origin", "add", "https://app.example.com", "--account", &account]);
    assert!(added.contains("waits for proof") && added.contains("_paraffin.app.example.com"), "{added}");
    assert!(added.contains("http://app.example.com/.well-known/paraffin-verify.txt"), "{added}");
    let page = [("origin", "https://app.example.com")];
    assert_eq!(count(&dev.address, "/v4/api", &page).status, 403);
    let trusted = ok(folder, &["origin", "add", "https://shop.example.com", "--account", &account, "--trust"]);
    assert!(trusted.contains("is served"), "{trusted}");
    let shop = [("origin", "https://shop.example.com")];
    assert_eq!(count(&dev.address, "/v4/api", &shop).status, 200);
    let id = trusted.split(' ').nth(1).unwrap().to_owned();
    ok(folder, &["origin", "remove", &id]);
    assert_eq!(count(&dev.address, "/v4/api", &shop).status, 403);
    assert!(
        refused(folder, &["origin", "add", "https://example.com/path", "--account", &account])
            .contains("not an origin")
    );

    assert!(refused(folder, &["create", &"a".repeat(10_240)]).contains("1 to 128 characters"));
    assert!(refused(folder, &["create", "k", "--plan", "gold"]).contains("free"));
    assert!(refused(folder, &["create", "k", "--per-minute", "0"]).contains("a limit is a number"));
    let audit = ok(folder, &["audit"]);
    for words in ["remove    alias:", "register  origin:", "plan      account:", "create    key:"] {
        assert!(audit.contains(words), "{words} in {audit}");
    }
    assert!(dev.process.terminate(Duration::from_secs(10)).success());
}

#[test]
fn a_kill_loses_at_most_the_last_second_of_counts_and_a_clean_stop_none() {
    paraffin_testkit::wait_out_midnight(120);
    let mut first = dev();
    let key = first.manifest["keys"]["free"].as_str().unwrap().to_owned();
    let path = format!("/v4/{key}");
    for left in (1_000 - 20..1_000).rev() {
        assert_eq!(remaining(&count(&first.address, &path, &[])), left);
    }
    std::thread::sleep(Duration::from_secs(1));
    first.process.kill();
    let Dev { folder, process, .. } = first;
    drop(process);
    let mut second = start(folder);
    for left in (1_000 - 40..1_000 - 20).rev() {
        assert_eq!(remaining(&count(&second.address, &path, &[])), left, "after a kill");
    }
    // At once, so that nothing but the stop itself can have written the last ones.
    assert!(second.process.terminate(Duration::from_secs(10)).success());
    let Dev { folder, process, .. } = second;
    drop(process);
    let mut third = start(folder);
    assert_eq!(remaining(&count(&third.address, &path, &[])), 1_000 - 41, "after a clean stop");
    assert!(third.process.terminate(Duration::from_secs(10)).success());
}

fn remaining(answer: &http::Answer) -> i64 {
    answer.header("x-ratelimit-daily-remaining").unwrap().parse().unwrap()
}

/// row AU11
#[test]
fn without_a_key_dev_slows_down_instead_of_refusing() {
    let mut dev = dev();
    let (started, mut slow) = (Instant::now(), 0);
    for _ in 0..64 {
        let one = Instant::now();
        assert_eq!(count(&dev.address, "/v4/jsonrpc", &[]).status, 200);
        slow += u32::from(one.elapsed() > Duration::from_millis(400));
    }
    assert!((1..=4).contains(&slow), "{slow} of 64 requests waited, in {:?}", started.elapsed());
    assert!(dev.process.terminate(Duration::from_secs(10)).success());
}

/// All files of a folder and of those in it.
fn files(folder: &Path) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            all.extend(files(&entry.path()));
        }
        // The folder has a socket as well.
        if !kind.is_file() {
            continue;
        }
        match std::fs::read(entry.path()) {
            Ok(content) => all.push(content),
            // A running instance removes files.
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{}", entry.path().display()),
        }
    }
    all
}

/// row AU01
#[test]
fn no_key_is_in_the_output_or_the_folder_of_a_running_instance() {
    const NAME: &str = "a name that stands beside the digest";
    let mut dev = dev();
    let key = ok(dev.folder.path(), &["create", NAME]);
    for path in [format!("/v4/{key}"), format!("/v4/{key}/mempool"), format!("/v4/{key}0"), format!("/{key}")] {
        count(&dev.address, &path, &[("x-request-id", &key), ("x-service-api-key", &key)]);
    }
    let listed = ok(dev.folder.path(), &["list", "--json"]);
    std::thread::sleep(Duration::from_secs(1));
    let mut texts = vec![listed.into_bytes(), dev.process.errors().into_bytes()];
    texts.extend(files(dev.folder.path()));
    // The record of the key is among what is searched.
    assert!(texts[2..].iter().any(|text| text.windows(NAME.len()).any(|window| window == NAME.as_bytes())));
    let secret = &key.as_bytes()[4..];
    for text in texts {
        for digits in text.split(|byte| !byte.is_ascii_hexdigit()).filter(|digits| digits.len() >= secret.len()) {
            assert!(!digits.windows(secret.len()).any(|window| window.eq_ignore_ascii_case(secret)));
        }
    }
    assert!(dev.process.terminate(Duration::from_secs(10)).success());
}

/// Every keyed surface with a request that it answers, below `/v4/<KEY>` unless the path says otherwise.
fn keyed_requests(key: &str) -> Vec<(&'static str, String, Value)> {
    let rpc = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    vec![
        ("POST", format!("/v4/{key}/mempool"), rpc("mempool_info", json!({}))),
        ("POST", format!("/v4/{key}/forex"), rpc("forex_currencies", json!({}))),
        ("GET", format!("/v4/{key}/orderbook/markets"), Value::Null),
        ("POST", format!("/v4/{key}/btcusd"), rpc("metashrew_height", json!([]))),
        ("POST", format!("/v4/{key}/espo"), rpc("essentials.ping", json!({}))),
        ("POST", format!("/v4/{key}/reorg/5"), rpc("getblockcount", json!([]))),
        ("GET", format!("/v4/{key}/esplora/blocks/tip/height"), Value::Null),
        ("GET", format!("/api/v1/{key}/verify"), Value::Null),
    ]
}

fn send(dev: &Dev, verb: &str, path: &str, headers: &[(&str, &str)], body: &Value) -> http::Answer {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    http::try_request(&dev.address, verb, path, headers, body.as_bytes()).unwrap()
}

/// row GW09
/// row AU12
#[test]
fn every_keyed_surface_answers_below_a_key_and_nowhere_else() {
    let dev = dev();
    for name in ["free", "admin"] {
        let key = dev.manifest["keys"][name].as_str().unwrap();
        for (verb, path, body) in keyed_requests(key) {
            let answer = send(&dev, verb, &path, &[], &body);
            assert_eq!(answer.status, 200, "{path}: {}", answer.text());
            assert!(!answer.text().contains("\"error\":{"), "{path}: {}", answer.text());
        }
    }
    // A key in a header is not read there.
    let header = [("x-service-api-key", dev.manifest["keys"]["admin"].as_str().unwrap())];
    for (verb, path, body) in keyed_requests("nobody") {
        for headers in [&[][..], &header[..]] {
            assert_eq!(send(&dev, verb, &path, headers, &body).status, 401, "{path}");
        }
    }
    for path in ["/api/v1//verify", "/api/v1/verify", "/api/v1"] {
        let refused = send(&dev, "GET", path, &header, &Value::Null).status;
        assert!(matches!(refused, 401 | 404), "{path}: {refused}");
    }
}

/// row AU03
/// row AU09
/// row AU16
/// row AU17
#[test]
fn one_key_serves_gateway_and_explorer_and_admin_operations_need_an_admin_key() {
    let dev = dev();
    let key = |name: &str| dev.manifest["keys"][name].as_str().unwrap().to_owned();
    let main =
        |key: &str| send(&dev, "POST", &format!("/v4/{key}"), &[], &json!({ "method": "btc_getblockcount", "id": 1 }));
    let mempool = |method: &str, params: Value| {
        let path = format!("/v4/{}/mempool", key("free"));
        send(&dev, "POST", &path, &[], &json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })).json()
    };
    for name in ["free", "admin"] {
        let key = key(name);
        assert_eq!(main(&key).status, 200);
        assert_eq!(send(&dev, "GET", &format!("/api/v1/{key}/verify"), &[], &Value::Null).status, 200);
        // Read before it is refused for what it lacks.
        assert_eq!(send(&dev, "POST", &format!("/api/v1/{key}/verify"), &[], &json!({})).status, 400);
        assert_eq!(send(&dev, "GET", &format!("/api/v1/{key}/source/4/65517"), &[], &Value::Null).status, 404);
        assert_eq!(send(&dev, "GET", &format!("/v4/{key}/orderbook/markets"), &[], &Value::Null).status, 200);
    }
    let txid = mempool("mempool_txids", json!({ "limit": 1 }))["result"]["txids"][0].clone();
    let hex = mempool("mempool_raw", json!({ "txid": txid }))["result"]["hex"].clone();
    let order = json!({
        "op": "c",
        "source": { "table": "orbital_listings", "lsn": 99_999_999 },
        "after": { "id": "of-this-test", "module": "fire-pos", "collection": "2:100", "price": "7", "status": "open" },
    });
    let attested = json!({ "repo_url": "https://github.com/a/b", "block": "4", "tx": "65517", "match_pct": 100 });
    let (free, admin) = (key("free"), key("admin"));
    for (path, body, status) in [
        ("/api/v1/KEY/attest", attested, 200),
        ("/v4/KEY/orderbook/ingest", order, 202),
        ("/v4/KEY/mempool/observe", json!({ "hex": hex }), 200),
    ] {
        let refused = send(&dev, "POST", &path.replace("KEY", &free), &[], &body);
        assert_eq!((refused.status, &refused.json()["code"]), (403, &json!("ADMIN_KEY_REQUIRED")), "{path}");
        let taken = send(&dev, "POST", &path.replace("KEY", &admin), &[], &body);
        assert_eq!(taken.status, status, "{path}: {}", taken.text());
    }
    // What the refused requests carried was not taken, what the others did was.
    let path = format!("/v4/{free}/orderbook/order/orbitals/of-this-test");
    assert_eq!(send(&dev, "GET", &path, &[], &Value::Null).status, 200);
}
