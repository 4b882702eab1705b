//! `paraffin serve` on a folder of its own beside a node that others share, to be stopped, killed and started again.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use paraffin_bitcoin_index::ADDRESSES_SCHEMA;
use paraffin_primitives::Network;
use paraffin_store::{Store, StoreOptions};
use serde_json::{Value, json};

use super::process::{Running, paraffin, write_config};
use super::{free_port, http, wait_for};

/// An instance that runs or does not.
pub struct Instance {
    pub folder: PathBuf,
    pub address: String,
    /// `/v4/<KEY>` with a key of a plan without limits.
    pub path: String,
    pub config: PathBuf,
    further: Vec<(String, String)>,
    pub process: Option<Running>,
}

impl Instance {
    /// Makes the folder with its configuration; `node` is the section `[node]`, `more` further sections.
    pub fn prepare(folder: &Path, node: &str, more: &str) -> Self {
        let data = folder.join("data");
        std::fs::create_dir_all(&data).unwrap();
        let address = format!("127.0.0.1:{}", free_port());
        let text = format!(
            "network = \"regtest\"\ndata_dir = \"{}\"\n{node}\n[gateway]\nlisten = \"{address}\"\naccess_log = false\n{more}\n",
            data.display()
        );
        let config = write_config(folder, &text);
        let created = paraffin()
            .args(["keys", "create", "test", "--plan", "business", "--data-dir"])
            .arg(&data)
            .output()
            .unwrap();
        let path = format!("/v4/{}", String::from_utf8_lossy(&created.stdout).trim());
        assert_eq!(path.len(), 36, "{}", String::from_utf8_lossy(&created.stderr));
        Self { folder: folder.to_owned(), address, path, config, further: Vec::new(), process: None }
    }

    /// As [`Instance::prepare`], with the accounts of another instance that does not run.
    pub fn prepare_beside(other: &Self, folder: &Path, node: &str, more: &str) -> Self {
        let mut instance = Self::prepare(folder, node, more);
        for name in ["accounts.sqlite", "accounts.sqlite-wal", "accounts.sqlite-shm"] {
            let (from, to) = (other.data().join(name), instance.data().join(name));
            let _ = std::fs::remove_file(&to);
            if from.exists() {
                std::fs::copy(from, to).unwrap();
            }
        }
        instance.path.clone_from(&other.path);
        instance
    }

    /// Sets an environment variable of the process.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.further.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// The program with this instance's configuration.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = paraffin();
        command.args(words).arg("--config").arg(&self.config);
        for (name, value) in &self.further {
            command.env(name, value);
        }
        command
    }

    /// Starts `serve` and waits until it listens.
    pub fn start(&mut self) {
        self.launch();
        self.process.as_mut().unwrap().wait_for_output("listening on", Duration::from_secs(60));
    }

    /// Starts `serve`.
    pub fn launch(&mut self) {
        self.process = Some(Running::start(&mut self.command(&["serve"])));
    }

    /// `SIGTERM`, and waits.
    pub fn stop(&mut self) {
        let mut process = self.process.take().unwrap();
        assert!(process.terminate(Duration::from_secs(30)).success(), "{}", process.errors());
    }

    /// `SIGKILL`.
    pub fn kill(&mut self) {
        self.process.take().unwrap().kill();
    }

    /// Writes other rows of one part from `height` on, as a faulty program would; all digests above follow. It must not run.
    pub fn alter(&self, height: u32) {
        let options = StoreOptions { network: Network::Regtest, undo_blocks: None, memory_bytes: 256 << 20 };
        let store = Store::open(&self.data().join("store"), &options, &[ADDRESSES_SCHEMA]).unwrap();
        let mut writer = store.writer().unwrap();
        writer.rewind_module(ADDRESSES_SCHEMA.id, Some(height - 1)).unwrap();
        while let Some(block) = writer.next_replay(ADDRESSES_SCHEMA.id).unwrap() {
            writer.replay_block(ADDRESSES_SCHEMA.id, block).unwrap();
            let row = format!("nobody{}", block.height);
            writer.module(ADDRESSES_SCHEMA.id).unwrap().put(&ADDRESSES_SCHEMA.tables[0], row.as_bytes(), &[]).unwrap();
            writer.end_block().unwrap();
            writer.commit(true).unwrap();
        }
    }

    /// The result of one call; `None` when there is no answer or an error.
    pub fn try_result(&self, method: &str, params: Value) -> Option<Value> {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let headers = [("content-type", "application/json")];
        let answer = http::try_request(&self.address, "POST", &self.path, &headers, body.as_bytes())?;
        let answer: Value = serde_json::from_slice(&answer.body).ok()?;
        answer.get("result").cloned()
    }

    pub fn result(&self, method: &str, params: Value) -> Value {
        http::result(&self.address, &self.path, method, params)
    }

    /// Waits until the newest indexed block is `hash`.
    pub fn wait_for_block(&self, hash: &str) {
        wait_for("the index to reach a block", Duration::from_secs(120), || {
            (self.try_result("btc_getbestblockhash", json!([])) == Some(json!(hash))).then_some(())
        });
    }
}
