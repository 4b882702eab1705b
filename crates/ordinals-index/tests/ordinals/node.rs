//! A real Bitcoin Core and the published `ord` beside it, queried over plain HTTP.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bitcoin::Block;
use bitcoin::consensus::encode::serialize_hex;
use paraffin_testkit::free_port;
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(120);
/// `dev:dev` for basic authentication.
const AUTHORIZATION: &str = "Basic ZGV2OmRldg==";

/// Ends a program when it is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub struct Core {
    program: PathBuf,
    process: Option<Running>,
    folder: tempfile::TempDir,
    port: u16,
}

impl Core {
    pub fn start(program: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut core = Self { program: program.to_owned(), process: None, folder, port: free_port() };
        core.run();
        core
    }

    fn run(&mut self) {
        let process = Command::new(&self.program)
            .args(["-regtest", "-txindex=1", "-rpcuser=dev", "-rpcpassword=dev", "-printtoconsole=0", "-listenonion=0"])
            .args(["-dnsseed=0", "-fixedseeds=0", "-discover=0", "-persistmempool=0"])
            .arg(format!("-datadir={}", self.folder.path().display()))
            .arg(format!("-rpcport={}", self.port))
            .arg(format!("-bind=127.0.0.1:{}", free_port()))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        self.process = Some(Running(process));
        wait_for("bitcoind answers", || {
            self.try_call("getblockcount", &json!([])).is_some_and(|answer| answer["error"] == Value::Null)
        });
    }

    /// Starts anew with an empty mempool: after a reorg the transactions of the blocks that left are in it, and `ord` counts
    /// what they spend as spent.
    pub fn restart(&mut self) {
        self.call("stop", &json!([]));
        let mut process = self.process.take().unwrap();
        process.0.wait().unwrap();
        self.run();
    }

    fn try_call(&self, method: &str, params: &Value) -> Option<Value> {
        let body = json!({ "id": 0, "method": method, "params": params }).to_string();
        let (_, answer) = request(self.port, "POST", "/", &body)?;
        serde_json::from_slice(&answer).ok()
    }

    pub fn call(&self, method: &str, params: &Value) -> Value {
        let answer = self.try_call(method, params).unwrap();
        assert_eq!(answer["error"], Value::Null, "{method}");
        answer["result"].clone()
    }

    /// Hands a block over; it must be taken.
    pub fn submit(&self, block: &Block) {
        let answer = self.call("submitblock", &json!([serialize_hex(block)]));
        assert!(answer == Value::Null || answer == "inconclusive", "{answer}");
    }

    pub fn wait_for_index(&self, height: u32) {
        wait_for("bitcoind indexes transactions", || {
            let info = self.call("getindexinfo", &json!([]));
            info["txindex"]["synced"] == true && info["txindex"]["best_block_height"] == json!(height)
        });
    }
}

pub struct Ord {
    _process: Running,
    folder: tempfile::TempDir,
    port: u16,
}

impl Ord {
    /// Indexes the chain of `core` from its beginning, and serves when it has `blocks` blocks.
    pub fn start(program: &Path, core: &Core, has_sats: bool, blocks: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let mut command = Command::new(program);
        command
            .args(["--regtest", "--index-runes", "--index-addresses", "--bitcoin-rpc-username", "dev"])
            .args(["--bitcoin-rpc-password", "dev", "--index-cache-size", "50000000"])
            .arg(format!("--bitcoin-rpc-url=127.0.0.1:{}", core.port))
            .arg(format!("--data-dir={}", folder.path().display()));
        if has_sats {
            command.arg("--index-sats");
        }
        command
            .args(["server", "--address", "127.0.0.1", "--http", "--polling-interval", "200ms"])
            .arg(format!("--http-port={port}"));
        let errors = std::fs::File::create(folder.path().join("errors")).unwrap();
        let process = command.stdout(Stdio::null()).stderr(errors).spawn().unwrap();
        let ord = Self { _process: Running(process), folder, port };
        wait_for("ord indexes the chain", || {
            let errors = std::fs::read_to_string(ord.folder.path().join("errors")).unwrap_or_default();
            assert!(!errors.contains("panicked"), "{errors}");
            ord.get("/blockcount").is_some_and(|(_, count)| count == blocks.to_string().as_bytes())
        });
        ord
    }

    /// Where it listens.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Status and body.
    pub fn get(&self, path: &str) -> Option<(u16, Vec<u8>)> {
        request(self.port, "GET", path, "")
    }

    /// `Null` for what it does not have.
    pub fn json(&self, path: &str) -> Value {
        let (status, body) = self.get(path).unwrap();
        if status == 404 {
            return Value::Null;
        }
        assert_eq!(status, 200, "{path}: {}", String::from_utf8_lossy(&body));
        serde_json::from_slice(&body).unwrap_or_else(|_| panic!("{path}: {}", String::from_utf8_lossy(&body)))
    }
}

fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "{what} within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn request(port: u16, verb: &str, path: &str, body: &str) -> Option<(u16, Vec<u8>)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    let head = format!(
        "{verb} {path} HTTP/1.0\r\nHost: 127.0.0.1\r\nAccept: application/json\r\nAuthorization: {AUTHORIZATION}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body.as_bytes()).ok()?;
    let mut answer = Vec::new();
    let end = loop {
        let mut part = [0; 8_192];
        let read = stream.read(&mut part).ok()?;
        answer.extend_from_slice(&part[..read]);
        let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").map(|place| place + 4);
        match end {
            Some(end) => {
                let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
                let length =
                    head.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse::<usize>().ok());
                if read == 0 || length.is_some_and(|length| answer.len() >= end + length) {
                    break end;
                }
            }
            None if read == 0 => return None,
            None => {}
        }
    };
    let status = String::from_utf8_lossy(&answer).split(' ').nth(1)?.parse().ok()?;
    Some((status, answer.split_off(end)))
}
