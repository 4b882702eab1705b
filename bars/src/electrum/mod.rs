//! The Electrum protocol: many scripts beside the published `electrs` on the same node, and as many sessions as the settings allow.
//!
//! Catches: a read for each script where one read serves many, sessions that keep their buffers, notifications that wait for each other.

mod scripts;
mod sessions;

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bitcoin::hashes::Hash as _;
use bitcoin::{ScriptBuf, WScriptHash};
use serde_json::{Value, json};

use crate::node::Node;
use crate::start::SERVE_PORT;
use crate::{Bench, chain};
use xtask::bar::Bar;
use xtask::process::{Failure, Outcome};

/// Where the program speaks the Electrum protocol.
const PORT: u16 = 29_449;
/// Scripts that have a history, unless `PARAFFIN_BARS_SCRIPTS` says another number.
const SCRIPTS: u32 = 100_000;
/// Scripts that one transaction pays.
const SCRIPTS_PAID: usize = 1_000;
/// Longest wait for anything.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) fn measure(bench: &Bench) -> Outcome<Vec<Bar>> {
    let count = given("PARAFFIN_BARS_SCRIPTS", SCRIPTS);
    // Of the scripts the first third is paid once, the second twice, the last three times.
    let mut lists = Vec::new();
    for times in 0..3 {
        let scripts: Vec<ScriptBuf> = (0..count).filter(|number| number % 3 >= times).map(script).collect();
        lists.extend(scripts.chunks(SCRIPTS_PAID).map(<[ScriptBuf]>::to_vec));
    }
    let chain = chain::paying(&bench.place.join("chain-electrum.dat"), &lists)?;
    // A node of an earlier run has a block more.
    let _ = std::fs::remove_dir_all(bench.place.join("node-chain-electrum"));
    // The blocks are of 2011: without it the node takes them for a download under way, and announces none.
    let arguments = [format!("-maxtipage={}", u32::MAX)];
    let _node = Node::start_with(&bench.bitcoind, &bench.place, &chain, &arguments)?;
    Ok(vec![scripts::measure(bench, chain.height, count)?, sessions::measure(bench, chain.height, count)?])
}

/// A number that a run takes instead of the usual one.
fn given(name: &str, usual: u32) -> u32 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).filter(|number| *number >= 1_000).unwrap_or(usual)
}

fn script(number: u32) -> ScriptBuf {
    let mut hash = [7; 32];
    hash[..4].copy_from_slice(&number.to_le_bytes());
    ScriptBuf::new_p2wsh(&WScriptHash::from_byte_array(hash))
}

/// `paraffin serve` with the Electrum protocol; killed when dropped.
struct Serve(Child);

impl Serve {
    /// Starts it with an empty index and waits until that holds the chain.
    fn start(bench: &Bench, further: &str, height: u32) -> Outcome<Self> {
        let (data, config) = (bench.place.join("electrum"), bench.place.join("electrum.toml"));
        let failed = |path: &Path, error| Failure::new(format!("{}: {error}", path.display()));
        if data.exists() {
            std::fs::remove_dir_all(&data).map_err(|error| failed(&data, error))?;
        }
        let text = format!(
            "network = \"regtest\"\ndata_dir = \"{}\"\n{}p2p = \"{}\"\n[gateway]\nlisten = \"127.0.0.1:{SERVE_PORT}\"\n\
             [electrum]\nlisten = \"127.0.0.1:{PORT}\"\n{further}",
            data.display(),
            Node::config(),
            Node::p2p()
        );
        std::fs::write(&config, text).map_err(|error| failed(&config, error))?;
        let mut command = Command::new(&bench.paraffin);
        command.args(["serve", "--config"]).arg(&config);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut serve = Self(command.spawn().map_err(|error| failed(&bench.paraffin, error))?);
        serve.wait_for(height)?;
        Ok(serve)
    }

    /// Waits until it answers with the height.
    fn wait_for(&mut self, height: u32) -> Outcome {
        let begin = Instant::now();
        let mut last = None;
        while begin.elapsed() < PATIENCE {
            if let Ok(Some(status)) = self.0.try_wait() {
                return Err(Failure::new(format!("the program ended with {status}")));
            }
            last = Wire::connect(PORT).and_then(|mut wire| wire.call("blockchain.headers.subscribe", &json!([]))).ok();
            if last.as_ref().is_some_and(|answer| answer["result"]["height"] == height) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        Err(Failure::new(format!("height {height} is not served within {PATIENCE:?}: {last:?}")))
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A client that writes lines.
struct Wire(BufReader<TcpStream>);

impl Wire {
    fn connect(port: u16) -> Outcome<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port));
        Self::over(stream.map_err(|error| Failure::new(format!("port {port}: {error}")))?)
    }

    fn over(stream: TcpStream) -> Outcome<Self> {
        stream.set_read_timeout(Some(PATIENCE)).map_err(|error| Failure::new(error.to_string()))?;
        Ok(Self(BufReader::with_capacity(1 << 10, stream)))
    }

    fn send(&mut self, request: &Value) -> Outcome {
        let sent = self.0.get_mut().write_all(format!("{request}\n").as_bytes());
        sent.map_err(|error| Failure::new(format!("a request cannot be sent: {error}")))
    }

    /// The next line.
    fn line(&mut self) -> Outcome<String> {
        let mut line = String::new();
        match self.0.read_line(&mut line) {
            Ok(0) => Err(Failure::new("the server has closed the connection")),
            Ok(_) => Ok(line),
            Err(error) => Err(Failure::new(format!("no answer: {error}"))),
        }
    }

    fn call(&mut self, method: &str, params: &Value) -> Outcome<Value> {
        self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))?;
        parse(&self.line()?)
    }
}

fn parse(line: &str) -> Outcome<Value> {
    serde_json::from_str(line).map_err(|error| Failure::new(format!("{error}: {line}")))
}

/// The same question about each script, in one batch.
fn batch(method: &str, scripts: &[String]) -> Value {
    let method = format!("blockchain.scripthash.{method}");
    let request =
        |(id, script): (u32, &String)| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": [script]});
    (0..).zip(scripts).map(request).collect()
}
