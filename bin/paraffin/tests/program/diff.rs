//! `paraffin diff`: two instances that agree, and two that do not, found by halving.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::free_port;
use crate::support::instance::Instance;
use crate::support::process::paraffin;
use paraffin_devnet::{Devnet, DevnetOptions};
use serde_json::{Value, json};

const BLOCKS: u32 = 130;
/// The height at which one store is altered.
const ALTERED: u32 = 57;

/// The same seed gives the same chain, so `blocks` is all that two nodes differ in.
fn devnet(runtime: &tokio::runtime::Runtime, blocks: u32) -> Devnet {
    runtime.block_on(Devnet::start(DevnetOptions { blocks, ..DevnetOptions::default() })).unwrap()
}

fn config(devnet: &Devnet) -> String {
    let (url, user, password) = (devnet.rpc_url(), devnet.user(), devnet.password());
    format!("[node]\nurl = \"{url}\"\nuser = \"{user}\"\npassword = \"{password}\"\n")
}

fn instance(folder: &Path, devnet: &Devnet, more: &str) -> Instance {
    let mut instance = Instance::prepare(folder, &config(devnet), more);
    instance.start();
    instance.wait_for_block(&devnet.tip().hash.to_string());
    instance
}

fn diff(a: &str, b: &str, more: &[&str]) -> Output {
    let mut command: Command = paraffin();
    command.args(["diff", &format!("http://{a}"), &format!("http://{b}")]).args(more).output().unwrap()
}

fn keyed(a: &Instance, b: &Instance, more: &[&str]) -> (i32, Value, String) {
    let key = |instance: &Instance| instance.path.trim_start_matches("/v4/").to_owned();
    let (key_a, key_b) = (key(a), key(b));
    let keys = ["--json", "--key-a", &key_a, "--key-b", &key_b];
    let output = diff(&a.address, &b.address, &[&keys[..], more].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    let report = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    (output.status.code().unwrap(), report, said)
}

#[test]
fn equal_instances_are_equal_and_the_first_altered_block_is_found_with_few_calls() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let devnet = devnet(&runtime, BLOCKS);
    let folder = tempfile::tempdir().unwrap();
    let a = instance(&folder.path().join("a"), &devnet, "");
    let mut b = instance(&folder.path().join("b"), &devnet, "");

    let (code, report, said) = keyed(&a, &b, &[]);
    assert_eq!((code, &report["equal"], &report["tips"]), (0, &json!(true), &json!([BLOCKS, BLOCKS])), "{said}");
    assert!(report["calls"].as_u64().unwrap() <= 4, "{report}");
    let text = diff(&a.address, &b.address, &[]);
    assert_eq!(text.status.code(), Some(0));
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.starts_with(&format!("equal from height 0 to {BLOCKS} (")), "{text}");

    b.stop();
    b.alter(ALTERED);
    b.start();
    let (code, report, said) = keyed(&a, &b, &[]);
    assert_eq!((code, &report["equal"]), (1, &json!(false)), "{said}");
    let first = &report["first"];
    let hash = a.result("btc_getblockhash", json!([ALTERED]));
    assert_eq!(
        (&first["height"], &first["fork"], &first["parts"]),
        (&json!(ALTERED), &json!(false), &json!(["addresses"]))
    );
    assert_eq!(first["hashes"], json!([hash, hash]));
    assert_ne!(first["digests"][0], first["digests"][1]);
    // Both are asked at the tips, at the last height, log2(131) times, and twice to make sure.
    assert!(report["calls"].as_u64().unwrap() <= 2 * (2 + 8 + 2), "{report}");
    let text = diff(&a.address, &b.address, &[]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(
        text.contains(&format!("different from height {ALTERED} on")) && text.contains("parts  addresses"),
        "{text}"
    );

    // Ranges.
    let below = (ALTERED - 1).to_string();
    assert_eq!(keyed(&a, &b, &["--to", &below]).0, 0);
    assert_eq!(keyed(&a, &b, &["--from", "40", "--to", "70"]).1["first"]["height"], ALTERED);
    let (code, _, said) = keyed(&a, &b, &["--from", "80"]);
    assert!(code == 2 && said.contains("differ already at height 79"), "{said}");
    let (code, _, said) = keyed(&a, &b, &["--from", "500"]);
    assert!(code == 2 && said.contains("above 130"), "{said}");
    runtime.block_on(devnet.shutdown());
}

#[test]
fn tips_forks_other_settings_and_absence_are_distinguished() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (long, short) = (devnet(&runtime, BLOCKS), devnet(&runtime, BLOCKS - 10));
    let folder = tempfile::tempdir().unwrap();
    let a = instance(&folder.path().join("a"), &long, "");
    let b = instance(&folder.path().join("b"), &short, "");
    let (code, report, said) = keyed(&a, &b, &[]);
    assert_eq!((code, &report["equal"], &report["to"]), (0, &json!(true), &json!(BLOCKS - 10)), "{said}");
    assert_eq!(report["tips"], json!([BLOCKS, BLOCKS - 10]));
    let text = String::from_utf8(diff(&b.address, &a.address, &[]).stdout).unwrap();
    assert!(text.contains("B is 10 blocks ahead"), "{text}");

    // Another branch: the hashes differ from the fork on.
    for _ in 0..4 {
        short.node().mine_block(&bitcoin::ScriptBuf::from_bytes(vec![0x51])).unwrap();
    }
    b.wait_for_block(&short.tip().hash.to_string());
    let (code, report, said) = keyed(&a, &b, &[]);
    assert_eq!(
        (code, &report["first"]["height"], &report["first"]["fork"]),
        (1, &json!(BLOCKS - 9), &json!(true)),
        "{said}"
    );
    let hashes = [&a, &b].map(|side| side.result("btc_getblockhash", json!([BLOCKS - 9])));
    assert_eq!(report["first"]["hashes"], json!(hashes));
    let text = String::from_utf8(diff(&a.address, &b.address, &[]).stdout).unwrap();
    assert!(text.contains("different branches of the chain"), "{text}");

    // One that indexes other things.
    let c = instance(&folder.path().join("c"), &long, "[index]\naddress_search = false\n");
    let (code, report, said) = keyed(&a, &c, &[]);
    assert!(code == 2 && report.is_null() && said.contains("what is indexed") && said.contains("addresses"), "{said}");

    // No listener, something else, and an instance of another network or format.
    let unreachable = diff(&a.address, &format!("127.0.0.1:{}", free_port()), &[]);
    let said = String::from_utf8(unreachable.stderr).unwrap();
    assert!(
        unreachable.status.code() == Some(2) && said.contains("B (http://") && said.contains("does not answer"),
        "{said}"
    );
    let other = diff(long.rpc_url().trim_start_matches("http://"), &a.address, &[]);
    assert_eq!(other.status.code(), Some(2));
    let newest = a.result("metashrew_blockdigest", json!([]));
    for (name, value, what) in
        [("network", json!("signet"), "the network"), ("format", json!(99), "the format of the store")]
    {
        let mut answer = newest.clone();
        answer[name] = value;
        let address = pretend(&json!({"jsonrpc": "2.0", "id": 1, "result": answer}));
        let output = diff(&a.address, &address, &[]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && said.contains(&format!("{what} differs")), "{said}");
    }
    for answer in [
        json!({"jsonrpc": "2.0", "id": 1, "result": {"height": "x"}}),
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "Method not found"}}),
    ] {
        assert_eq!(diff(&a.address, &pretend(&answer), &[]).status.code(), Some(2), "{answer}");
    }
    runtime.block_on(async { tokio::join!(long.shutdown(), short.shutdown()) });
}

/// A server that answers two requests with the same JSON; its address.
fn pretend(answer: &Value) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let body = answer.to_string();
    std::thread::spawn(move || {
        for _ in 0..2 {
            let Ok((mut stream, _)) = listener.accept() else { return };
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            let head = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
            let _ = stream.write_all(format!("{head}{body}").as_bytes());
        }
    });
    address
}
