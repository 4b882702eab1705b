//! The instance that is tried: `paraffin dev` on a port of its own.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::bars::node::request;
use crate::bars::target;
use crate::process::{Failure, Outcome, run};

/// A start takes longer where the program is not optimised.
const START_TIMEOUT: Duration = Duration::from_secs(180);

/// A running `paraffin dev`; stopped when dropped.
pub(super) struct Platform {
    process: Child,
    manifest: Value,
}

impl Platform {
    /// Builds the program as the tests have it, unless `PARAFFIN_BIN` names one, and starts it with an empty folder.
    pub(super) fn start(root: &Path, folder: &Path) -> Outcome<Self> {
        let program = if let Some(given) = std::env::var_os("PARAFFIN_BIN") {
            PathBuf::from(given)
        } else {
            run(Command::new("cargo").current_dir(root).args([
                "build",
                "--quiet",
                "--locked",
                "--package",
                "paraffin",
            ]))?;
            target(root).join("debug/paraffin")
        };
        let failed = |what: String| Failure::new(format!("`{} dev`: {what}", program.display()));
        std::fs::create_dir_all(folder).map_err(|error| failed(error.to_string()))?;
        let manifest = folder.join("dev.json");
        // That of an earlier run would be taken for this one's.
        let _ = std::fs::remove_file(&manifest);
        let process = Command::new(&program)
            .args(["dev", "--fresh", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| failed(error.to_string()))?;
        let mut platform = Self { process, manifest: Value::Null };
        let begin = Instant::now();
        let (sender, ready) = std::sync::mpsc::channel();
        let output = platform.process.stdout.take();
        // Read to its end, for who writes into a full pipe stands still.
        std::thread::spawn(move || {
            let Some(output) = output else { return };
            let mut lines = BufReader::new(output);
            let mut line = String::new();
            while lines.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
                if line.trim_end() == "ready" {
                    let _ = sender.send(());
                    break;
                }
                line.clear();
            }
            let _ = lines.read_to_end(&mut Vec::new());
        });
        if ready.recv_timeout(START_TIMEOUT).is_err() {
            return Err(failed(format!("it was not ready after {} s", begin.elapsed().as_secs())));
        }
        let text = std::fs::read_to_string(&manifest).map_err(|error| failed(error.to_string()))?;
        platform.manifest = serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
        Ok(platform)
    }

    /// What `dev.json` tells.
    pub(super) fn manifest(&self) -> &Value {
        &self.manifest
    }

    fn base_url(&self) -> &str {
        self.manifest["base_url"].as_str().unwrap_or_default()
    }

    /// Where REST is, with a key that has no limits and may feed the orderbook.
    pub(super) fn keyed_url(&self) -> String {
        format!("{}/v4/{}", self.base_url(), self.manifest["keys"]["admin"].as_str().unwrap_or_default())
    }

    /// Where contract verification is, with the same key.
    pub(super) fn explorer_url(&self) -> String {
        format!("{}/api/v1/{}", self.base_url(), self.manifest["keys"]["business"].as_str().unwrap_or_default())
    }

    /// The description that the instance gives of its REST data API.
    pub(super) fn description(&self) -> Outcome<Value> {
        self.described("/v4/openapi.json")
    }

    /// The description of contract verification.
    pub(super) fn explorer_description(&self) -> Outcome<Value> {
        self.described("/api/v1/openapi.json")
    }

    fn described(&self, path: &str) -> Outcome<Value> {
        let address = self.base_url().trim_start_matches("http://");
        match request(address, "GET", path, "", "") {
            Some((200, text)) => {
                serde_json::from_str(&text).map_err(|error| Failure::new(format!("{path} is not JSON: {error}")))
            }
            Some((status, text)) => Err(Failure::new(format!("{path} answers {status}: {text}"))),
            None => Err(Failure::new(format!("nothing answers at {address}"))),
        }
    }
}

impl Drop for Platform {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.process.id().to_string()).status();
        for _ in 0..200 {
            if self.process.try_wait().is_ok_and(|status| status.is_some()) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
