//! Clients that send too much, take too little, or open too much.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use super::Wire;
use crate::support::dev::Dev;

fn dev(settings: &[(&str, &str)]) -> Dev {
    let settings: Vec<(&str, String)> = settings.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    Dev::start_with_environment(&settings)
}

fn address(dev: &Dev) -> String {
    dev.text("/electrum_url").strip_prefix("tcp://").unwrap().to_owned()
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
