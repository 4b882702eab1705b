//! A real Bitcoin Core on a private regtest chain.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::node::TestNode;
use super::process::Running;
use super::{free_port, http, wait_for};

/// A node with its folder; stopped and removed when dropped.
pub struct Bitcoind {
    executable: PathBuf,
    folder: tempfile::TempDir,
    pub rpc_port: u16,
    pub p2p_port: u16,
    process: Option<Running>,
}

impl Bitcoind {
    /// Starts a node with an empty chain; `None` where there is no executable (never in CI).
    pub fn start() -> Option<Self> {
        let mut node = Self {
            executable: paraffin_testkit::bitcoind()?,
            folder: tempfile::tempdir().unwrap(),
            rpc_port: free_port(),
            p2p_port: free_port(),
            process: None,
        };
        node.launch();
        Some(node)
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.rpc_port)
    }
}

impl TestNode for Bitcoind {
    fn launch(&mut self) {
        let running = Running::start(
            Command::new(&self.executable)
                .arg("-regtest")
                .arg(format!("-datadir={}", self.folder.path().display()))
                .arg(format!("-rpcport={}", self.rpc_port))
                .arg(format!("-bind=127.0.0.1:{}", self.p2p_port))
                .args(["-server=1", "-rest=1", "-listenonion=0", "-discover=0", "-dnsseed=0", "-fixedseeds=0"])
                .args(["-natpmp=0", "-fallbackfee=0.0001", "-rpcbind=127.0.0.1", "-rpcallowip=127.0.0.1"])
                .args(["-rpcuser=paraffin", "-rpcpassword=test", "-printtoconsole=0", "-dbcache=64"])
                .stdin(Stdio::null()),
        );
        self.process = Some(running);
        wait_for("bitcoind to answer", Duration::from_secs(60), || {
            self.try_rpc("getblockcount", json!([])).filter(|answer| answer["error"].is_null())
        });
    }

    fn stop(&mut self) {
        if let Some(mut process) = self.process.take() {
            self.try_rpc("stop", json!([]));
            process.wait(Duration::from_secs(60));
        }
    }

    fn config(&self) -> String {
        format!(
            "[node]\nurl = \"{}\"\nuser = \"paraffin\"\npassword = \"test\"\np2p = \"127.0.0.1:{}\"\n",
            self.url(),
            self.p2p_port
        )
    }

    fn try_rpc(&self, method: &str, params: Value) -> Option<Value> {
        let body = json!({"id": 1, "method": method, "params": params}).to_string();
        // paraffin:test
        let headers = [("authorization", "Basic cGFyYWZmaW46dGVzdA=="), ("content-type", "application/json")];
        let answer =
            http::try_request(&format!("127.0.0.1:{}", self.rpc_port), "POST", "/", &headers, body.as_bytes())?;
        serde_json::from_slice(&answer.body).ok()
    }
}

impl Drop for Bitcoind {
    fn drop(&mut self) {
        self.stop();
    }
}
