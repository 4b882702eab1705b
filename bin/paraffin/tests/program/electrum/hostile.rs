//! Clients that send too much, take too little, or open too much.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use super::Wire;
use crate::support::dev::Dev;
use crate::support::{http, wait_for};

fn dev(further: &[&str]) -> Dev {
    Dev::start_with(further)
}

fn address(dev: &Dev) -> String {
    dev.text("/electrum_url").strip_prefix("tcp://").unwrap().to_owned()
}

/// Resident memory of a process, in MiB.
fn resident_mib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10
}

/// Sessions from many addresses, each with a hundred subscriptions, take no more than their part of the memory, and all of them are
/// notified of a block: ten thousand where tests take their long form, and of the release build by `cargo xtask bars electrum`.
#[test]
fn very_many_sessions_with_a_hundred_subscriptions_stay_within_their_memory() {
    if !paraffin_testkit::long_tests() {
        return;
    }
    let sessions_max: u32 = if std::env::var_os("PARAFFIN_LONG").is_some() { 10_000 } else { 1_000 };
    let dev = dev(&[]);
    let address = address(&dev);
    let before = resident_mib(dev.process.id());
    let mut sessions = Vec::new();
    for number in 0..sessions_max {
        let [_, _, high, low] = (number / 50).to_be_bytes();
        let stream = http::connect_from([127, 1, high, low + 1], &address).unwrap();
        let mut wire = Wire::over(stream);
        let batch: Vec<_> = (0..100)
            .map(|id| {
                let script = format!("{number:032x}{id:032x}");
                json!({"id": id, "method": "blockchain.scripthash.subscribe", "params": [script]})
            })
            .collect();
        wire.send(&json!(batch).to_string());
        assert_eq!(wire.line().as_array().unwrap().len(), 100);
        sessions.push(wire);
    }
    let grown = resident_mib(dev.process.id()) - before;
    eprintln!("{sessions_max} sessions with 100 subscriptions each: {grown} MiB");
    // 20 KiB for a session and 120 bytes for a subscription, and what the process needs beside.
    let part = u64::from(sessions_max) * (20 * 1_024 + 100 * 120);
    assert!(grown <= (part >> 20) + 16, "{grown} MiB");
    for wire in &mut sessions {
        wire.call("blockchain.headers.subscribe", json!([]));
    }
    dev.mine(1);
    for wire in &mut sessions {
        wire.notification("a header", |line| line["method"] == "blockchain.headers.subscribe");
    }
}

/// Sessions and subscriptions of one address have bounds, and those of another have their own.
#[test]
fn a_client_has_so_many_sessions_and_subscriptions_and_no_more() {
    let dev = Dev::start_with(&["--blocks", "120"]);
    let address = address(&dev);
    let mut sessions: Vec<Wire> = (0..60).map(|_| Wire::connect(&address)).collect();
    for wire in &mut sessions {
        wire.call("server.ping", json!([]));
    }
    // The bucket of the address is empty: the next session waits for its turn, from another address it does not.
    let mut other = Wire::over(http::connect_from([127, 0, 0, 9], &address).unwrap());
    other.call("server.ping", json!([]));
    let mut more: Vec<Wire> = (0..41).map(|_| Wire::connect(&address)).collect();
    assert_eq!(more.last_mut().unwrap().try_line(), None, "the hundred and first is closed at once");
}

/// What does not fit ends its own session and no other; a session that waits is served on.
#[test]
fn what_is_too_much_ends_the_session_of_its_client_alone() {
    let dev = dev(&[]);
    let address = address(&dev);
    let mut other = Wire::connect(&address);
    other.call("server.version", json!(["test", "1.4"]));
    // A line without an end.
    let mut endless = TcpStream::connect(&address).unwrap();
    endless.set_write_timeout(Some(Duration::from_secs(10))).unwrap();
    let part = vec![b'x'; 1 << 20];
    let written = (0..16).take_while(|_| endless.write_all(&part).is_ok()).count();
    assert!(written < 16, "it was read on");
    // A batch with too many entries, and lines that are odd.
    let mut wire = Wire::connect(&address);
    wire.send(&format!("[{}]", vec!["1"; 20_000].join(",")));
    assert_eq!(wire.line()["error"]["code"], -32600);
    wire.send(&"[".repeat(100_000));
    assert_eq!(wire.line()["error"]["code"], -32700);
    wire.send(r#"{"id":1,"method":"blockchain.block.headers","params":[4294967295,4294967295,4294967295]}"#);
    assert_eq!(wire.line()["result"]["count"], 0);
    // One that asks and does not read: what waits for it is bounded, since nothing more is read of it.
    let mut deaf = TcpStream::connect(&address).unwrap();
    deaf.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    let line = b"{\"id\":1,\"method\":\"blockchain.block.headers\",\"params\":[0,2000]}\n";
    let asked = (0..200_000).take_while(|_| deaf.write_all(line).is_ok()).count();
    assert!(asked < 200_000, "all of it was read");
    assert_eq!(other.call("server.ping", json!([])), json!(null));
    drop(deaf);
    // One that leaves in the middle of a line.
    TcpStream::connect(&address).unwrap().write_all(b"{\"id\":1").unwrap();
    assert_eq!(other.call("server.ping", json!([])), json!(null));
}

/// While the accounts cannot be consulted, no session is answered: a new one is closed, and so is one that was there.
#[test]
fn without_the_key_store_sessions_are_closed_without_an_answer() {
    let dev = dev(&[]);
    let address = address(&dev);
    let request = b"{\"id\":1,\"method\":\"server.ping\",\"params\":[]}\n";
    let ask = |stream: &mut TcpStream| {
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        // The other side may have closed before.
        let _ = stream.write_all(request);
        let mut answer = [0; 200];
        stream.read(&mut answer).unwrap_or(0)
    };
    let mut before = TcpStream::connect(&address).unwrap();
    assert!(ask(&mut before) > 0);
    let accounts = dev.folder().join("accounts.sqlite");
    std::fs::rename(&accounts, accounts.with_extension("aside")).unwrap();
    wait_for("the key store to be missed", Duration::from_secs(20), || {
        (http::get(dev.listen(), "/v4/api/indexer/height").status == 503).then_some(())
    });
    assert_eq!(ask(&mut before), 0, "a session that was there is answered");
    assert_eq!(ask(&mut TcpStream::connect(&address).unwrap()), 0, "a new session is answered");
}
