//! The Electrum protocol of the built program: over plain sockets, with published clients and wallets, and beside the published `electrs`.

mod bdk;
mod beside;
mod client;
mod electrs;
mod hostile;
mod methods;
mod tls;
mod wallet;
mod websocket;

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use bitcoin::ScriptBuf;
use bitcoin::hashes::{Hash as _, sha256};
use serde_json::{Value, json};

/// A client that writes lines.
pub struct Wire {
    stream: BufReader<TcpStream>,
    next: u64,
    /// Notifications that came while an answer was waited for.
    notified: Vec<Value>,
}

impl Wire {
    /// Connects to `host:port`.
    pub fn connect(address: &str) -> Self {
        Self::over(TcpStream::connect(address).unwrap())
    }

    pub fn over(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Self { stream: BufReader::new(stream), next: 0, notified: Vec::new() }
    }

    pub fn send(&mut self, line: &str) {
        self.stream.get_mut().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// The next line; `None` when the server has closed the connection.
    pub fn try_line(&mut self) -> Option<Value> {
        let mut line = String::new();
        match self.stream.read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))),
        }
    }

    /// The next bytes that are a text with a first line; `None` when there are none: a refusal of TLS is no text.
    pub fn try_text(&mut self) -> Option<String> {
        let mut line = String::new();
        self.stream.read_line(&mut line).ok().filter(|bytes| *bytes > 0).map(|_| line)
    }

    pub fn line(&mut self) -> Value {
        self.try_line().expect("the server has closed the connection")
    }

    /// The answer to one call, error or not.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        loop {
            let line = self.line();
            if line["id"] == id {
                return line;
            }
            assert!(line["method"].is_string(), "{line}");
            self.notified.push(line);
        }
    }

    /// The result of one call.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params.clone());
        assert!(answer["error"].is_null(), "{method} {params}: {answer}");
        answer["result"].clone()
    }

    /// Code and message of a refusal.
    pub fn refused(&mut self, method: &str, params: Value) -> (i64, String) {
        let answer = self.ask(method, params.clone());
        let code = answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{method} {params}: {answer}"));
        (code, answer["error"]["message"].as_str().unwrap().to_owned())
    }

    /// Waits for a notification that `is_it`.
    pub fn notification(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.notified.iter().position(&is_it) {
            return self.notified.remove(at);
        }
        loop {
            let line = self.try_line().unwrap_or_else(|| panic!("waiting for {what}"));
            if is_it(&line) {
                return line;
            }
            self.notified.push(line);
        }
    }
}

/// The script hash of a script as the protocol writes it.
pub fn script_hash(script: &ScriptBuf) -> String {
    let mut bytes = sha256::Hash::hash(script.as_bytes()).to_byte_array();
    bytes.reverse();
    bitcoin::hex::DisplayHex::to_lower_hex_string(&bytes[..])
}

/// The status of a history, computed from its text.
pub fn status(history: &Value) -> Value {
    let rows = history.as_array().unwrap();
    let rows: Vec<String> =
        rows.iter().map(|row| format!("{}:{}:", row["tx_hash"].as_str().unwrap(), row["height"])).collect();
    let text = rows.concat();
    if text.is_empty() { Value::Null } else { json!(sha256::Hash::hash(text.as_bytes()).to_string()) }
}
