//! The real node that the bars run against, kept with its chain between runs.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::chain::ChainFile;
use xtask::process::{Failure, Outcome};

const RPC_PORT: u16 = 29_443;
const P2P_PORT: u16 = 29_444;
/// `paraffin:bars`
const AUTHORISATION: &str = "Basic cGFyYWZmaW46YmFycw==";

/// A node with the whole chain; stopped when dropped.
pub(crate) struct Node {
    process: Child,
}

/// How long a node may take to read a chain: one of 5 GB takes a quarter of an hour.
const LOAD_MAX: Duration = Duration::from_secs(3_600);

impl Node {
    /// Starts the node on its folder under `place`; the first time it reads the chain from the file.
    pub(crate) fn start(executable: &Path, place: &Path, chain: &ChainFile) -> Outcome<Self> {
        Self::start_with(executable, place, chain, &[])
    }

    /// The same with further arguments.
    pub(crate) fn start_with(
        executable: &Path,
        place: &Path,
        chain: &ChainFile,
        arguments: &[String],
    ) -> Outcome<Self> {
        let name = chain.path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = place.join(format!("node-{name}"));
        std::fs::create_dir_all(&folder).map_err(|error| Failure::new(format!("{}: {error}", folder.display())))?;
        let process = Command::new(executable)
            .arg("-regtest")
            .arg(format!("-datadir={}", folder.display()))
            .arg(format!("-rpcport={RPC_PORT}"))
            .arg(format!("-bind=127.0.0.1:{P2P_PORT}"))
            .arg(format!("-loadblock={}", chain.path.display()))
            .args(["-server=1", "-rest=1", "-listenonion=0", "-discover=0", "-dnsseed=0", "-fixedseeds=0"])
            .args(["-natpmp=0", "-rpcbind=127.0.0.1", "-rpcallowip=127.0.0.1", "-rpcuser=paraffin"])
            .args(arguments)
            .args(["-rpcpassword=bars", "-printtoconsole=0", "-dbcache=300", "-checkblocks=1", "-checkblockindex=0"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| Failure::new(format!("{}: {error}", executable.display())))?;
        let mut node = Self { process };
        let begin = Instant::now();
        loop {
            let height = Self::rpc("getblockcount", &json!([])).and_then(|height| height.as_u64());
            if height == Some(u64::from(chain.height)) {
                return Ok(node);
            }
            if begin.elapsed() > LOAD_MAX || node.process.try_wait().is_ok_and(|ended| ended.is_some()) {
                return Err(Failure::new(format!(
                    "the node stands at height {height:?} of {}: see {}/regtest/debug.log",
                    chain.height,
                    folder.display()
                )));
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// `[node]` of a configuration.
    pub(crate) fn config() -> String {
        format!("[node]\nurl = \"http://127.0.0.1:{RPC_PORT}\"\nuser = \"paraffin\"\npassword = \"bars\"\n")
    }

    /// Where it takes peers.
    pub(crate) fn p2p() -> String {
        format!("127.0.0.1:{P2P_PORT}")
    }

    pub(crate) const fn rpc_port() -> u16 {
        RPC_PORT
    }

    /// The result of a call; `None` when there is no answer.
    pub(crate) fn rpc(method: &str, params: &Value) -> Option<Value> {
        let body = json!({"id": 1, "method": method, "params": params}).to_string();
        let address = format!("127.0.0.1:{RPC_PORT}");
        let headers = format!("authorization: {AUTHORISATION}\r\ncontent-type: application/json\r\n");
        let (_, answer) = request(&address, "POST", "/", &headers, &body)?;
        serde_json::from_str::<Value>(&answer).ok().map(|answer| answer["result"].clone())
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        Self::rpc("stop", &json!([]));
        for _ in 0..600 {
            if self.process.try_wait().is_ok_and(|ended| ended.is_some()) {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        // A node that does not stop when asked is not worth keeping.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// One HTTP request on a connection of its own: status and body.
pub(crate) fn request(address: &str, method: &str, path: &str, headers: &str, body: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(30))).ok()?;
    // At once: a body that follows waits until the head is acknowledged.
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let status = text.split(' ').nth(1)?.parse().ok()?;
    let (_, body) = text.split_once("\r\n\r\n")?;
    Some((status, body.to_owned()))
}
