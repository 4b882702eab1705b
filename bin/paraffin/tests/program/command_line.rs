//! The program as a client and as a tool, as a person at a terminal uses it.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use crate::support::process::{Running, paraffin, write_config};
use crate::support::{free_port, http, wait_for};
use serde_json::{Value, json};

struct Dev {
    _folder: tempfile::TempDir,
    path: std::path::PathBuf,
    process: Running,
    manifest: Value,
}

fn dev() -> Dev {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    let listen = format!("127.0.0.1:{}", free_port());
    let mut process =
        Running::start(paraffin().args(["dev", "--blocks", "120", "--listen", &listen, "--data-dir"]).arg(&path));
    process.wait_for_output("ready", Duration::from_secs(15));
    let manifest = serde_json::from_slice(&std::fs::read(path.join("dev.json")).unwrap()).unwrap();
    Dev { _folder: folder, path, process, manifest }
}

fn call(url: &str, arguments: &[&str]) -> Output {
    paraffin().args(["call", "--url", url]).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// row CL01
#[test]
fn call_runs_methods_and_routes_and_prints_json() {
    let mut dev = dev();
    let url = dev.manifest["base_url"].as_str().unwrap().to_owned();
    let key = dev.manifest["keys"]["free"].as_str().unwrap().to_owned();
    let address = dev.manifest["accounts"][0]["address"].as_str().unwrap().to_owned();

    let count = call(&url, &["--key", &key, "btc_getblockcount"]);
    assert_eq!(text(&count.stdout).trim(), "120");
    assert!(count.stderr.is_empty(), "{}", text(&count.stderr));
    let hash = call(&url, &["--key", &key, "btc_getblockhash", "120"]);
    assert_eq!(text(&hash.stdout).trim(), format!("\"{}\"", dev.manifest["tip_hash"].as_str().unwrap()));
    let balance = call(&url, &["--key", &key, "get-address-balance", &format!("address={address}")]);
    let balance: Value = serde_json::from_slice(&balance.stdout).unwrap();
    assert_eq!(balance["address"], *address);

    // Errors go to standard error with code 1, in the instance's own words.
    let unknown = call(&url, &["--key", &key, "btc_nosuchmethod"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(text(&unknown.stderr).contains("-32601"), "{}", text(&unknown.stderr));
    let wrong = call(&url, &["--key", &key, "get-address-balance", "address=nonsense"]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(text(&wrong.stderr).contains("address"), "{}", text(&wrong.stderr));
    let form = call(&url, &["--key", &key, "get-address-balance", &address]);
    assert!(text(&form.stderr).contains("name=value"), "{}", text(&form.stderr));
    let refused = call(&url, &["--key", &"0".repeat(32), "btc_getblockcount"]);
    assert_eq!(refused.status.code(), Some(1));
    // What a trade would pay, for people and for programs.
    let quote = call(&url, &["--key", &key, "btcusd", "quote", "32:0", "1000"]);
    assert!(text(&quote.stdout).starts_with("sell    1000 of 32:0\nget     "), "{}", text(&quote.stderr));
    let quote = call(&url, &["--key", &key, "btcusd", "quote", "32:0", "1000", "--json"]);
    let quote: Value = serde_json::from_slice(&quote.stdout).unwrap();
    assert_eq!(
        (&quote["ok"], &quote["token_out"], &quote["for_height"]),
        (&json!(true), &json!("4:1776"), &json!(121))
    );
    // Methods of a surface, and what an instance says of its methods.
    let pools = call(&url, &["--key", &key, "espo", "ammdata.get_pools", "limit=1"]);
    let pools: Value = serde_json::from_slice(&pools.stdout).unwrap();
    assert_eq!((&pools["ok"], &pools["limit"]), (&json!(true), &json!(1)));
    let wrong = call(&url, &["--key", &key, "espo", "ammdata.get_pools", "limit=many"]);
    assert!(text(&wrong.stderr).contains("limit must be a non-negative integer"), "{}", text(&wrong.stderr));
    let methods = text(&call(&url, &["--key", &key, "help"]).stdout);
    for line in ["btc_getblockcount  ", "alkanes_simulate  ", "espo ammdata.get_candles  ", "forex forex_rates  "] {
        assert!(methods.lines().any(|one| one.starts_with(line)), "{line}: {methods}");
    }
    let one = text(&call(&url, &["--key", &key, "help", "get_keys"]).stdout);
    assert!(one.contains("\n  alkane  ") && one.contains("paraffin call espo essentials.get_keys alkane=2:0"), "{one}");
    let none = call(&url, &["--key", &key, "help", "nothing_of_this_name"]);
    assert!(!none.status.success() && text(&none.stderr).contains("there is no method"), "{}", text(&none.stderr));
    let refused = call(&url, &["--key", &key, "btcusd", "quote", "2:0", "1000"]);
    assert_eq!((refused.status.code(), text(&refused.stderr).contains("does not trade this token")), (Some(1), true));
    let unreachable = call(&format!("http://127.0.0.1:{}", free_port()), &["--key", &key, "btc_getblockcount"]);
    assert!(text(&unreachable.stderr).contains("does not answer"), "{}", text(&unreachable.stderr));
    dev.process.terminate(Duration::from_secs(5));
}

/// row CL02
/// row AU11
#[test]
fn call_without_a_key_says_so_uses_the_shared_endpoint_and_waits_when_throttled() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let mut paths = Vec::new();
        for answer in [
            "HTTP/1.1 429 Too Many Requests\r\nretry-after: 2\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}".to_owned(),
            "HTTP/1.1 200 OK\r\ncontent-length: 36\r\nconnection: close\r\n\r\n{\"jsonrpc\":\"2.0\",\"result\":7,\"id\":1}\n".to_owned(),
        ] {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            let mut buffer = [0; 4096];
            while !text(&request).contains("\r\n\r\n") || !text(&request).ends_with('}') {
                let read = stream.read(&mut buffer).unwrap();
                assert!(read > 0);
                request.extend_from_slice(&buffer[..read]);
            }
            paths.push(text(&request).lines().next().unwrap().to_owned());
            stream.write_all(answer.as_bytes()).unwrap();
        }
        paths
    });
    let started = Instant::now();
    let run = call(&url, &["btc_getblockcount"]);
    assert_eq!(text(&run.stdout).trim(), "7", "{}", text(&run.stderr));
    assert!(started.elapsed() >= Duration::from_secs(2), "it obeys Retry-After");
    assert_eq!(text(&run.stderr).matches("no API key").count(), 1, "it says so once");
    for path in server.join().unwrap() {
        assert!(path.starts_with("POST /v4/jsonrpc "), "{path}");
    }
}

/// row AU15
#[test]
fn call_does_not_retry_through_a_closed_key_store() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut buffer = [0; 8192];
        let _ = stream.read(&mut buffer).unwrap();
        let body = json!({"jsonrpc": "2.0", "id": null, "code": "AUTH_UNAVAILABLE", "error": {"code": -32001, "message": "the key store cannot be consulted"}}).to_string();
        let head =
            format!("HTTP/1.1 503 Service Unavailable\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        listener.set_nonblocking(true).unwrap();
        std::thread::sleep(Duration::from_secs(2));
        listener.accept().is_err()
    });
    let run = call(&url, &["--key", &"a".repeat(32), "btc_getblockcount"]);
    assert_eq!(run.status.code(), Some(1));
    assert!(text(&run.stderr).contains("key store"), "{}", text(&run.stderr));
    assert!(server.join().unwrap(), "there was no second request");
}

fn keys(folder: &Path, arguments: &[&str]) -> Output {
    paraffin().arg("keys").args(arguments).arg("--data-dir").arg(folder).output().unwrap()
}

/// row AU01
/// row AU02
/// row AU03
/// row AU04
/// row AU14
#[test]
fn keys_are_created_listed_replaced_and_revoked_beside_a_running_instance() {
    let mut dev = dev();
    let address = dev.manifest["base_url"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
    let works = |key: &str| {
        let body = json!({"id": 1, "method": "btc_getblockcount"});
        let answer = http::post(&address, &format!("/v4/{key}"), &body);
        if answer.status == 401 {
            assert_eq!(answer.json()["code"], "INVALID_API_KEY");
        }
        answer.status == 200
    };

    let created = keys(&dev.path, &["create", "production backend", "--plan", "pro", "--admin"]);
    let key = text(&created.stdout).trim().to_owned();
    assert_eq!(key.len(), 32);
    assert!(key.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)));
    assert!(works(&key));

    let listed = || -> Vec<Value> {
        let answer: Value = serde_json::from_slice(&keys(&dev.path, &["list", "--json"]).stdout).unwrap();
        answer["keys"].as_array().unwrap().clone()
    };
    let named = |rows: &[Value]| rows.iter().find(|row| row["name"] == "production backend").unwrap().clone();
    let row = wait_for("the use of the key to be counted", Duration::from_secs(5), || {
        let row = named(&listed());
        (row["requestCount"] == 1).then_some(row)
    });
    assert_eq!(row["prefix"], key[..4]);
    assert_eq!(row["plan"], "pro");
    assert_eq!(row["admin"], true);
    assert!(row["createdAt"].as_str().unwrap().ends_with('Z'));
    assert!(row["lastUsedAt"].as_str().unwrap() >= row["createdAt"].as_str().unwrap());
    assert!(row["revokedAt"].is_null());
    // Nowhere in the folder does the key stand.
    for entry in std::fs::read_dir(&dev.path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            assert!(!text(&std::fs::read(&path).unwrap()).contains(&key), "{}", path.display());
        }
    }

    // A new key instead of the old one, which has its grace; then both are revoked. The lease on the store is at most 1 s.
    let id = row["id"].as_str().unwrap().to_owned();
    let rerolled = keys(&dev.path, &["reroll", &id, "--grace-seconds", "600"]);
    let second = text(&rerolled.stdout).trim().to_owned();
    assert!(works(&second) && works(&key));
    assert!(keys(&dev.path, &["revoke", &id]).status.success());
    wait_for("the revocation to be seen by the running instance", Duration::from_millis(1_200), || {
        (!works(&key)).then_some(())
    });
    assert!(works(&second));
    assert!(keys(&dev.path, &["revoke", &second]).status.success(), "a key can be named by itself");
    wait_for("the revocation to be seen by the running instance", Duration::from_millis(1_200), || {
        (!works(&second)).then_some(())
    });

    // What is asked wrongly is refused with what to do.
    for (arguments, word) in [
        (&["create", "x", "--plan", "gold"][..], "free"),
        (&["create", ""][..], "name"),
        (&["revoke", "99999"][..], "no such key"),
        (&["revoke", "zzz"][..], "keys list"),
    ] {
        let run = keys(&dev.path, arguments);
        assert!(!run.status.success(), "{arguments:?}");
        assert!(text(&run.stderr).contains(word), "{arguments:?}: {}", text(&run.stderr));
    }
    let nowhere = tempfile::tempdir().unwrap();
    assert!(text(&keys(nowhere.path(), &["list"]).stderr).contains("no instance"));
    let unsaid = paraffin().args(["keys", "list"]).output().unwrap();
    assert!(text(&unsaid.stderr).contains("--data-dir"));
    dev.process.terminate(Duration::from_secs(5));
}

#[test]
fn doctor_distinguishes_a_good_node_from_a_missing_one() {
    let mut dev = dev();
    let folder = tempfile::tempdir().unwrap();
    let config = |url: &str| {
        write_config(
            folder.path(),
            &format!(
                "network = \"regtest\"\ndata_dir = \"{}\"\n[node]\nurl = \"{url}\"\nuser = \"{}\"\npassword = \"{}\"\n[gateway]\nlisten = \"127.0.0.1:{}\"\n",
                folder.path().join("data").display(),
                dev.manifest["node"]["user"].as_str().unwrap(),
                dev.manifest["node"]["password"].as_str().unwrap(),
                free_port()
            ),
        )
    };
    let good = paraffin()
        .args(["doctor", "--config"])
        .arg(config(dev.manifest["node"]["rpc_url"].as_str().unwrap()))
        .output()
        .unwrap();
    assert!(good.status.success(), "{}", text(&good.stdout));
    assert!(text(&good.stdout).contains("height 120"), "{}", text(&good.stdout));
    // An earlier version gave out names that are those of surfaces to come.
    let data = folder.path().join("data");
    for arguments in [&["create", "owner"][..], &["alias", "create", "my-events", "--account", "1"]] {
        let made = paraffin().arg("keys").args(arguments).arg("--data-dir").arg(&data).output().unwrap();
        assert!(made.status.success(), "{}", text(&made.stderr));
    }
    let refused =
        paraffin().args(["keys", "alias", "create", "console", "--account", "1", "--data-dir"]).arg(&data).output();
    assert!(text(&refused.unwrap().stderr).contains("no reserved word"));
    let rename = "import sqlite3, sys; all = sqlite3.connect(sys.argv[1]); all.execute(\"UPDATE alias SET name = 'console'\"); all.commit()";
    let renamed = Command::new("python3").args(["-c", rename]).arg(data.join("accounts.sqlite")).status().unwrap();
    assert!(renamed.success());
    let warned = paraffin().args(["doctor", "--config"]).arg(folder.path().join("paraffin.toml")).output().unwrap();
    assert!(
        text(&warned.stdout).contains("the alias console has the name of a surface to come"),
        "{}",
        text(&warned.stdout)
    );
    // Or that of one that came since.
    let rename = rename.replace("'console'", "'dexscreener'");
    let renamed = Command::new("python3").args(["-c", &rename]).arg(data.join("accounts.sqlite")).status().unwrap();
    assert!(renamed.success());
    let warned = paraffin().args(["doctor", "--config"]).arg(folder.path().join("paraffin.toml")).output().unwrap();
    assert!(
        text(&warned.stdout).contains("the alias dexscreener has the name of a surface: it works on"),
        "{}",
        text(&warned.stdout)
    );
    let bad = paraffin()
        .args(["doctor", "--config"])
        .arg(config(&format!("http://127.0.0.1:{}", free_port())))
        .output()
        .unwrap();
    assert_eq!(bad.status.code(), Some(1));
    assert!(text(&bad.stdout).contains("bitcoind"), "{}", text(&bad.stdout));
    dev.process.terminate(Duration::from_secs(5));
}

#[test]
fn one_module_is_run_again_and_the_digests_stay() {
    let mut dev = dev();
    let folder = tempfile::tempdir().unwrap();
    let config = write_config(
        folder.path(),
        &format!(
            "network = \"regtest\"\ndata_dir = \"{}\"\n[node]\nurl = \"{}\"\nuser = \"{}\"\npassword = \"{}\"\n",
            folder.path().join("data").display(),
            dev.manifest["node"]["rpc_url"].as_str().unwrap(),
            dev.manifest["node"]["user"].as_str().unwrap(),
            dev.manifest["node"]["password"].as_str().unwrap(),
        ),
    );
    let index = || -> Value {
        let run = paraffin().args(["index", "--once", "--config"]).arg(&config).output().unwrap();
        assert!(run.status.success(), "{}", text(&run.stderr));
        serde_json::from_slice(&run.stdout).unwrap()
    };
    let expected = index();
    assert_eq!(expected["height"], 120);
    for from in ["0", "60", "120"] {
        let run = paraffin().args(["reindex", "bitcoin", "--from", from, "--config"]).arg(&config).output().unwrap();
        assert!(run.status.success(), "{}", text(&run.stderr));
        assert_eq!(index(), expected, "from {from}");
    }
    for (module, from, word) in [("nothing", "0", "bitcoin"), ("bitcoin", "121", "120")] {
        let run = paraffin().args(["reindex", module, "--from", from, "--config"]).arg(&config).output().unwrap();
        assert!(!run.status.success());
        assert!(text(&run.stderr).contains(word), "{}", text(&run.stderr));
    }
    dev.process.terminate(Duration::from_secs(5));
}
