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

/// row RL04
#[test]
fn a_kill_loses_at_most_the_last_second_of_counts() {
    let mut first = dev();
    let key = first.manifest["keys"]["free"].as_str().unwrap().to_owned();
    let path = format!("/v4/{key}");
    let mut left = 0;
    for _ in 0..20 {
        left = remaining(&count(&first.address, &path, &[]));
    }
    std::thread::sleep(Duration::from_secs(1));
    first.process.kill();
    let Dev { folder, process, .. } = first;
    drop(process);
    let mut second = start(folder);
    let after = remaining(&count(&second.address, &path, &[]));
    // Midnight UTC may pass in between.
    assert!(after == left - 1 || after == 999, "{left} before, {after} after");
    assert!(second.process.terminate(Duration::from_secs(10)).success());
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

/// row AU01
#[test]
fn no_key_is_in_the_output_or_the_folder_of_a_running_instance() {
    let mut dev = dev();
    let key = ok(dev.folder.path(), &["create", "secret"]);
    for path in [format!("/v4/{key}"), format!("/v4/{key}/mempool"), format!("/v4/{key}0"), format!("/{key}")] {
        count(&dev.address, &path, &[("x-request-id", &key), ("x-service-api-key", &key)]);
    }
    let listed = ok(dev.folder.path(), &["list", "--json"]);
    std::thread::sleep(Duration::from_secs(1));
    let mut texts = vec![listed.into_bytes(), dev.process.errors().into_bytes()];
    for name in ["accounts.sqlite", "accounts.sqlite-wal", "dev.json"] {
        texts.push(std::fs::read(dev.folder.path().join(name)).unwrap_or_default());
    }
    for text in texts {
        assert!(!text.windows(28).any(|window| window.eq_ignore_ascii_case(&key.as_bytes()[4..])));
    }
    assert!(dev.process.terminate(Duration::from_secs(10)).success());
}
