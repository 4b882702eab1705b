//! The protocol over WebSocket below a key.

use std::net::TcpStream;
use std::time::Duration;

use bitcoin::ScriptBuf;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_tungstenite::tungstenite::{Message, WebSocket};

use super::{Wire, script_hash, status};
use crate::support::dev::Dev;
use crate::support::http;
use crate::support::served::{Backend, Served};

/// A client that sends messages.
struct Client(WebSocket<TcpStream>);

impl Client {
    /// Connects to the API at `address`, below the path of a key.
    fn connect(address: &str, path: &str) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let request = format!(
            "GET {path}/electrum HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            std::io::Read::read_exact(&mut stream, &mut byte).unwrap();
            head.push(byte[0]);
        }
        assert!(head.starts_with(b"HTTP/1.1 101 "), "{}", String::from_utf8_lossy(&head));
        Self(WebSocket::from_raw_socket(stream, Role::Client, None))
    }

    fn send(&mut self, message: &Value) {
        self.0.send(Message::text(message.to_string())).unwrap();
    }

    /// The next message; the reason of the server where it has closed the connection.
    fn message(&mut self) -> Result<Value, String> {
        loop {
            match self.0.read().unwrap() {
                Message::Text(text) => {
                    assert!(!text.contains('\n'), "{text}");
                    return Ok(serde_json::from_str(&text).unwrap());
                }
                Message::Close(frame) => return Err(frame.unwrap().reason.to_string()),
                _ => {}
            }
        }
    }

    fn call(&mut self, method: &str, params: &Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": method, "method": method, "params": params}));
        let answer = self.message().unwrap();
        assert_eq!(answer["id"], method, "{answer}");
        answer["result"].clone()
    }
}

#[test]
fn a_key_opens_a_session_that_answers_as_the_listener_does() {
    let dev = Dev::start_with(&["--blocks", "120"]);
    let (mut client, mut wire) = (
        Client::connect(dev.listen(), &dev.path()),
        Wire::connect(dev.text("/electrum_url").strip_prefix("tcp://").unwrap()),
    );
    let hash = script_hash(&ScriptBuf::from_hex(dev.text("/accounts/4/script")).unwrap());
    for (method, params) in [
        ("server.version", json!(["test", ["1.4", "1.6"]])),
        ("server.features", json!([])),
        ("blockchain.headers.subscribe", json!([])),
        // Of many times the bytes that are carried at once.
        ("blockchain.block.headers", json!([0, 2_016])),
        ("blockchain.scripthash.get_history", json!([hash])),
        ("blockchain.scripthash.get_balance", json!([hash])),
        ("blockchain.scripthash.listunspent", json!([hash])),
        ("blockchain.scripthash.subscribe", json!([hash])),
        ("mempool.get_fee_histogram", json!([])),
    ] {
        assert_eq!(client.call(method, &params), wire.call(method, params.clone()), "{method}");
    }
    // Many requests in one message, and more in messages of their own than a stream of another kind takes.
    let batch: Vec<Value> =
        (0..500).map(|id| json!({"id": id, "method": "blockchain.block.header", "params": [id % 100]})).collect();
    client.send(&json!(batch));
    let answers = client.message().unwrap();
    assert!((0..500).all(|id| answers[id]["id"] == id), "{answers}");
    for id in 0..500 {
        client.send(&json!({"id": id, "method": "server.ping"}));
    }
    for id in 0..500 {
        assert_eq!(client.message().unwrap()["id"], id);
    }
    dev.mine(1);
    let mut notified = [client.message().unwrap(), client.message().unwrap()];
    notified.sort_by_key(|message| message["method"].as_str().unwrap().len());
    assert_eq!(notified[0]["params"][0]["height"], dev.height() + 1);
    let history = client.call("blockchain.scripthash.get_history", &json!([hash]));
    assert_eq!(notified[1]["params"], json!([hash, status(&history)]));
    // What the session says last arrives before the end.
    client.send(&json!({"id": 1, "method": "server.version", "params": ["test", "1.3"]}));
    assert_eq!(client.message().unwrap()["error"]["code"], 1);

    let keyed = format!("{}/electrum", dev.path());
    assert_eq!(http::get(dev.listen(), &keyed).status, 426);
    assert_eq!(http::try_request(dev.listen(), "POST", &keyed, &[], b"{}").unwrap().status, 405);
    assert_eq!(http::get(dev.listen(), "/v4/electrum").status, 401);
    let unknown = format!("/v4/{}/electrum", "0".repeat(32));
    assert_eq!(http::get(dev.listen(), &unknown).status, 401);
}

#[test]
fn a_session_that_costs_too_much_is_closed_with_the_reason() {
    // Without a listener: nothing but the WebSocket.
    let settings = "[electrum]\nwebsocket = true\ncost_soft = 1\ncost_hard = 3\n";
    let mut served = Served::start_with(Backend::devnet(), settings);
    served.backend.mine(101, &served.scripts[0]);
    served.wait_for_tip();
    let connect = || Client::connect(&served.address, &served.keyed(""));
    let mut client = connect();
    for id in 0..100 {
        client.send(&json!({"id": id, "method": "blockchain.block.headers", "params": [0, 100]}));
    }
    let last = std::iter::from_fn(|| Some(client.message())).find(|message| match message {
        Ok(message) => message["error"]["code"] == -101,
        Err(_) => true,
    });
    assert_eq!(last.unwrap().expect("the error comes before the end")["error"]["code"], -101);
    assert_eq!(client.message().unwrap_err(), "the session has ended");
    let mut refused = connect();
    assert_eq!(refused.message().unwrap_err(), "too many sessions, or excessive resource usage");
}
