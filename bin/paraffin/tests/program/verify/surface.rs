//! The explorer's routes: who may call, what is refused and how, and what a killed server leaves.

use std::time::Duration;

use serde_json::{Value, json};

use super::source::{Source, ended, explorer, get, post, submit};
use crate::support::dev::Dev;
use crate::support::{http, wait_for};

fn refused(dev: &Dev, path: &str, body: Value) -> (u16, String) {
    let answer = post(dev, "business", path, body.clone());
    let response = answer.json();
    assert_eq!(response["statusCode"], answer.status, "{body}");
    (answer.status, response["code"].as_str().unwrap().to_owned())
}

/// row VF01
/// row VF03
#[test]
fn submissions_and_attestations_are_refused_as_documented() {
    let dev = Dev::start();
    let repo = "https://github.com/a/b";
    for (body, status) in [
        (json!({}), 400),
        (json!({ "alkane": "4:65517" }), 400),
        (json!({ "alkane": "4:65517", "repo_url": "" }), 400),
        (json!({ "alkane": "4:65517", "repo_url": null }), 400),
        (json!({ "alkane": "4:x", "repo_url": repo }), 400),
        (json!({ "alkane": "4", "repo_url": repo }), 400),
        (json!({ "alkane": 4, "repo_url": repo }), 422),
        (json!({ "alkane": "4:65517", "repo_url": 1 }), 422),
        (json!({ "alkane": "4:65517", "repo_url": repo, "typo_fix": "yes" }), 422),
        (json!({ "alkane": "4:65517", "repo_url": repo, "build_env": [1] }), 422),
        (json!({ "alkane": "4:65517", "repo_url": repo, "commit": {} }), 422),
        (json!({ "alkane": "4:65517", "repo_url": repo, "inline_src_b64": "no base64!" }), 400),
        (json!({ "alkane": "2:999999", "repo_url": repo }), 404),
    ] {
        assert_eq!(refused(&dev, "/verify", body.clone()).0, status, "{body}");
    }
    let answer = http::try_request(dev.listen(), "POST", &explorer(&dev, "business", "/verify"), &[], b"{nonsense");
    assert_eq!(answer.unwrap().status, 400);
    // More than other requests may have is read here, up to 32 MiB; the rest of a larger one the server does not wait for.
    let send = |bytes: usize| {
        http::try_request(dev.listen(), "POST", &explorer(&dev, "business", "/verify"), &[], &vec![b' '; bytes])
    };
    assert_eq!(send(5 << 20).unwrap().json()["code"], "INVALID_REQUEST");
    assert!(send((32 << 20) + 1).is_none_or(|answer| answer.json()["code"] == "BODY_TOO_LARGE"));
    assert_eq!(get(&dev, "/verify/0123456789abcdef0123456789abcdef").status, 404);
    let wrong = get(&dev, "/attest");
    assert_eq!((wrong.status, wrong.header("allow")), (405, Some("POST, OPTIONS")));
    assert_eq!(get(&dev, "/else").status, 404);
    // Every route is described, and needs no key for that.
    let described = http::get(dev.listen(), "/api/v1/openapi.json").json();
    let mut paths: Vec<&String> = described["paths"].as_object().unwrap().keys().collect();
    paths.sort();
    assert_eq!(
        paths,
        [
            "/attest",
            "/source/{block}/{tx}",
            "/source/{block}/{tx}/blob",
            "/source/{block}/{tx}/tree",
            "/verify",
            "/verify/{run_id}"
        ]
    );
    // Any key may submit and read, anonymous callers may not.
    assert_eq!(http::get(dev.listen(), "/api/v1/nobody/verify").status, 401);
    assert_eq!(http::get(dev.listen(), &explorer(&dev, "free", "/verify")).json()["ok"], true);
    attestations(&dev, repo);
}

/// row VF01
#[test]
fn a_repository_that_leads_elsewhere_is_refused_before_anything_is_fetched() {
    let dev = Dev::start();
    if get(&dev, "/verify").json()["accepts"] != true {
        return paraffin_testkit::missing("nothing can be built here; `paraffin serve` logs why at its start");
    }
    for bad in ["ext::sh -c id", "--upload-pack=x", "https://127.0.0.1/a", "https://user@github.com/a/b", "file:///etc"]
    {
        let refusal = refused(&dev, "/verify", json!({ "alkane": "4:65517", "repo_url": bad }));
        assert_eq!(refusal, (400, "INVALID_REQUEST".to_owned()), "{bad}");
    }
}

fn attestations(dev: &Dev, repo: &str) {
    let body = json!({ "repo_url": repo, "wasm_sha256": "ab".repeat(32) });
    assert_eq!(post(dev, "business", "/attest", body.clone()).json()["code"], "ADMIN_KEY_REQUIRED");
    let attested = post(dev, "admin", "/attest", body);
    assert_eq!(attested.status, 200, "{}", attested.text());
    let expected = json!({ "wasm_sha256": "ab".repeat(32), "repo_url": repo, "verdict": "verified" });
    assert_eq!(attested.json(), expected);
    for (body, status) in [
        (json!({ "wasm_sha256": "ab".repeat(32) }), 400),
        (json!({ "repo_url": repo }), 400),
        (json!({ "repo_url": repo, "block": "2" }), 400),
        (json!({ "repo_url": repo, "wasm_sha256": "ab" }), 400),
        (json!({ "repo_url": repo, "block": 2, "tx": 0 }), 422),
        (json!({ "repo_url": repo, "block": "2", "tx": "0", "match_pct": "all" }), 422),
        (json!({ "repo_url": repo, "block": "2", "tx": "0", "manifest": [] }), 422),
        (json!({ "repo_url": repo, "block": "2", "tx": "999999" }), 404),
    ] {
        assert_eq!(post(dev, "admin", "/attest", body.clone()).status, status, "{body}");
    }
    // The hash wins where both are sent.
    let both = json!({ "repo_url": repo, "wasm_sha256": "CD".repeat(32), "block": "2", "tx": "0", "manifest": { "schema_version": "1.0.0" } });
    let response = post(dev, "admin", "/attest", both).json();
    assert_eq!((&response["wasm_sha256"], response.get("verified_via")), (&json!("cd".repeat(32)), None));
    assert_eq!(response["manifest"]["schema_version"], "1.0.0");
}

#[test]
fn a_killed_server_ends_its_builds_and_reports_them_as_failed() {
    let dev = Dev::start();
    if get(&dev, "/verify").json()["accepts"] != true {
        return paraffin_testkit::missing("nothing can be built here; `paraffin serve` logs why at its start");
    }
    let marker = format!("6{}", std::process::id());
    let script = format!("fn main() {{ std::process::Command::new(\"sleep\").arg(\"{marker}\").status().unwrap(); }}");
    let source = Source::default()
        .with("Cargo.toml", "[package]\nname = \"guest\"\nversion = \"1.0.0\"\nedition = \"2021\"\n[workspace]\n")
        .with("Cargo.lock", "version = 3\n\n[[package]]\nname = \"guest\"\nversion = \"1.0.0\"\n")
        .with("src/lib.rs", "#![no_std]\n")
        .with("build.rs", script);
    let id = submit(&dev, json!({ "alkane": "4:65517", "repo_url": "https://github.com/a/b" }), Some(&source));
    let sleeping = || {
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
        lines.filter(|line| line.as_slice() == format!("sleep\0{marker}\0").as_bytes()).count()
    };
    wait_for("the build script", Duration::from_secs(240), || (sleeping() == 1).then_some(()));
    assert_eq!(get(&dev, &format!("/verify/{id}")).json()["run"]["stage"], "building");
    let folder = dev.kill();
    wait_for("the build to end with the server", Duration::from_secs(30), || (sleeping() == 0).then_some(()));

    let dev = Dev::start_in(folder, &[]);
    let run = ended(&dev, &id, Duration::from_secs(10));
    assert_eq!((&run["status"], &run["failure"]["code"]), (&json!("failed"), &json!("INTERRUPTED")));
}
