//! `paraffin dev` as a child, and its description.

use std::time::Duration;

use serde_json::{Value, json};

use super::process::{Running, paraffin};
use super::{free_port, http, wait_for};

/// A dev instance, its description, its address and a key without limits.
pub struct Dev {
    pub process: Running,
    pub described: Value,
    folder: tempfile::TempDir,
}

impl Dev {
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// With further arguments.
    pub fn start_with(further: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), further)
    }

    /// With further settings.
    pub fn start_with_environment(settings: &[(&str, String)]) -> Self {
        Self::start_command(tempfile::tempdir().unwrap(), &[], settings)
    }

    /// In a folder that may hold an earlier one's data, with further arguments.
    pub fn start_in(folder: tempfile::TempDir, arguments: &[&str]) -> Self {
        Self::start_command(folder, arguments, &[])
    }

    fn start_command(folder: tempfile::TempDir, arguments: &[&str], settings: &[(&str, String)]) -> Self {
        let listen = format!("127.0.0.1:{}", free_port());
        let mut command = paraffin();
        command.args(["dev", "--listen", &listen]).args(arguments).arg("--data-dir").arg(folder.path());
        command.envs(settings.iter().map(|(name, value)| (name, value)));
        let mut process = Running::start(&mut command);
        process.wait_for_output("ready", Duration::from_secs(120));
        let described =
            serde_json::from_str(&std::fs::read_to_string(folder.path().join("dev.json")).unwrap()).unwrap();
        Self { process, described, folder }
    }

    /// The data folder.
    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// Ends the process as a failing machine would; the folder stays.
    pub fn kill(mut self) -> tempfile::TempDir {
        self.process.kill();
        self.folder
    }

    pub fn text(&self, pointer: &str) -> &str {
        self.described.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("{pointer}"))
    }

    pub fn listen(&self) -> &str {
        self.text("/base_url").strip_prefix("http://").unwrap()
    }

    /// Signs the owner of the console in; the cookie.
    pub fn session(&self) -> String {
        let form = format!("name={}&password={}", self.text("/console/name"), self.text("/console/password"));
        let headers = [("content-type", "application/x-www-form-urlencoded"), ("sec-fetch-site", "same-origin")];
        let answer = http::try_request(self.listen(), "POST", "/console/sign-in", &headers, form.as_bytes()).unwrap();
        assert_eq!(answer.status, 303, "{}", answer.text());
        answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned()
    }

    pub fn path(&self) -> String {
        format!("/v4/{}", self.text("/keys/business"))
    }

    pub fn height(&self) -> u64 {
        self.described["height"].as_u64().unwrap()
    }

    /// The result of one call; panics on an error.
    pub fn call(&self, method: &str, params: Value) -> Value {
        http::result(self.listen(), &self.path(), method, params)
    }

    /// `data` of a REST route that takes POST.
    pub fn post(&self, route: &str, body: Value) -> Value {
        let answer = http::post(self.listen(), &format!("{}/{route}", self.path()), &body);
        assert_eq!(answer.status, 200, "{route} {body}: {}", answer.text());
        let answer = answer.json();
        answer.get("data").cloned().unwrap_or(answer)
    }

    /// `data` of a REST route that takes GET.
    pub fn get(&self, route: &str) -> Value {
        let answer = http::get(self.listen(), &format!("{}/{route}", self.path()));
        assert_eq!(answer.status, 200, "{route}: {}", answer.text());
        let answer = answer.json();
        answer.get("data").cloned().unwrap_or(answer)
    }

    /// One call of the node.
    pub fn node(&self, method: &str, params: Value) -> Value {
        let url = self.text("/node/rpc_url").strip_prefix("http://").unwrap().trim_end_matches('/').to_owned();
        let body = json!({"id": 1, "method": method, "params": params}).to_string();
        // dev:dev
        let headers = [("authorization", "Basic ZGV2OmRldg=="), ("content-type", "application/json")];
        let answer = http::try_request(&url, "POST", "/", &headers, body.as_bytes()).unwrap().json();
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Mines blocks to a script and waits until the index has them; how long that took after the node had them.
    pub fn mine(&self, count: u32) -> Duration {
        let hashes = self.node("generatetoaddress", json!([count, self.text("/accounts/4/address")]));
        let hash = hashes.as_array().unwrap().last().unwrap().clone();
        let begun = std::time::Instant::now();
        wait_for("the index to reach the new block", Duration::from_secs(60), || {
            (self.call("btc_getbestblockhash", json!([])) == hash).then_some(())
        });
        begun.elapsed()
    }
}
