//! Source trees for submissions, and the calls that submit them.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::dev::Dev;
use crate::support::{http, wait_for};

/// Files by path, as they go into an archive.
#[derive(Clone, Default)]
pub struct Source(pub BTreeMap<String, Vec<u8>>);

impl Source {
    pub fn with(mut self, path: &str, text: impl Into<Vec<u8>>) -> Self {
        self.0.insert(path.to_owned(), text.into());
        self
    }

    /// Adds a folder of this machine, without what builds leave in it.
    pub fn with_folder(mut self, at: &str, folder: &Path) -> Self {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let name = entry.file_name().into_string().unwrap();
            let path = if at.is_empty() { name.clone() } else { format!("{at}/{name}") };
            if entry.file_type().unwrap().is_dir() {
                if !matches!(path.as_str(), "contracts/target" | "contracts/wasm") {
                    self = self.with_folder(&path, &entry.path());
                }
            } else {
                self.0.insert(path, std::fs::read(entry.path()).unwrap());
            }
        }
        self
    }

    pub fn archive(&self) -> Vec<u8> {
        let mut builder = tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
        for (path, content) in &self.0 {
            let mut header = tar::Header::new_gnu();
            header.set_size(content.len() as u64);
            let is_program = Path::new(path).extension().is_some_and(|kind| kind == "sh");
            header.set_mode(if is_program { 0o755 } else { 0o644 });
            builder.append_data(&mut header, path, content.as_slice()).unwrap();
        }
        builder.into_inner().unwrap().finish().unwrap()
    }

    /// Writes the tree, commits it, and answers the repository's URL and the commit.
    pub fn repository(&self, folder: &Path) -> (String, String) {
        for (path, content) in &self.0 {
            let place = folder.join(path);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::File::create(place).unwrap().write_all(content).unwrap();
        }
        commit(folder)
    }
}

/// Commits all files of a folder.
pub fn commit(folder: &Path) -> (String, String) {
    git(folder, &["init", "--quiet"]);
    // Dependencies are kept byte for byte, whatever their own attributes say.
    std::fs::create_dir_all(folder.join(".git/info")).unwrap();
    std::fs::write(folder.join(".git/info/attributes"), "* -text\n").unwrap();
    git(folder, &["add", "--all", "--force"]);
    let who = ["-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false"];
    git(folder, &[&who[..], &["commit", "--quiet", "--message=source"]].concat());
    (format!("file://{}", folder.display()), git(folder, &["rev-parse", "HEAD"]).trim().to_owned())
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = std::process::Command::new("git")
        .current_dir(folder)
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A path of the explorer below a key of the instance.
pub fn explorer(dev: &Dev, key: &str, path: &str) -> String {
    format!("/api/v1/{}{path}", dev.text(&format!("/keys/{key}")))
}

pub fn get(dev: &Dev, path: &str) -> http::Answer {
    http::get(dev.listen(), &explorer(dev, "business", path))
}

pub fn post(dev: &Dev, key: &str, path: &str, body: Value) -> http::Answer {
    http::post(dev.listen(), &explorer(dev, key, path), &body)
}

/// Submits and answers the id of the run.
pub fn submit(dev: &Dev, mut body: Value, source: Option<&Source>) -> String {
    if let Some(source) = source {
        body["inline_src_b64"] = data_encoding::BASE64.encode(&source.archive()).into();
    }
    let answer = post(dev, "business", "/verify", body);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let answer = answer.json();
    assert_eq!((&answer["status"], &answer["stage"]), (&json!("building"), &json!("queued")));
    answer["run_id"].as_str().unwrap().to_owned()
}

/// Waits until a run has ended, and answers it.
pub fn ended(dev: &Dev, id: &str, limit: Duration) -> Value {
    wait_for("a run to end", limit, || {
        let run = get(dev, &format!("/verify/{id}")).json()["run"].clone();
        (run["status"] != "building").then_some(run)
    })
}
