//! What the source routes answer about a contract that was verified from an archive.

use serde_json::json;

use super::source::{Source, get, post};
use crate::support::dev::Dev;
use crate::support::http;

/// The contract and where its source is in the tree.
pub struct Verified<'a> {
    /// Both numbers of its id.
    pub alkane: [&'a str; 2],
    pub subdir: &'a str,
    pub package: &'a str,
    pub entrypoint: &'a str,
    /// The folder of the entrypoint.
    pub folder: &'a str,
}

/// Asks every route below `/source` about the contract.
pub fn browse(dev: &Dev, tree: &Source, verified: &Verified<'_>) {
    let [block, number] = verified.alkane;
    let (id, base) = (format!("{block}:{number}"), format!("/source/{block}/{number}"));
    let shown = get(dev, &base).json();
    assert_eq!(shown["ok"], true);
    let shown = &shown["source"];
    for (name, value) in [
        ("alkane", json!(id)),
        ("block", json!(block)),
        ("tx", json!(number)),
        ("verified", json!(true)),
        ("verdict", json!("reproducible")),
        ("match_pct", json!(100.0)),
        ("origin", json!("db")),
        ("repo", json!("https://github.com/owner/name.git")),
        ("owner", json!("owner")),
        ("name", json!("name")),
        ("subdir", json!(verified.subdir)),
        ("package", json!(verified.package)),
        ("entrypoint", json!(verified.entrypoint)),
        ("fileCount", json!(tree.0.len())),
    ] {
        assert_eq!(shown[name], value, "{name}");
    }
    assert!(shown.get("commit").is_none() && shown.get("private").is_none(), "{shown}");

    let listed = get(dev, &format!("{base}/tree")).json()["tree"].clone();
    let nodes = listed["nodes"].as_array().unwrap();
    let blobs: Vec<&str> =
        nodes.iter().filter(|node| node["type"] == "blob").map(|node| node["path"].as_str().unwrap()).collect();
    assert_eq!(blobs.len(), tree.0.len());
    assert!(tree.0.keys().all(|path| blobs.contains(&path.as_str())), "{blobs:?}");
    assert!(nodes.contains(&json!({ "path": verified.folder, "type": "tree" })));

    let text = String::from_utf8(tree.0[verified.entrypoint].clone()).unwrap();
    let escaped = verified.entrypoint.replacen('/', "%2F", 1);
    let blob = get(dev, &format!("{base}/blob?path={escaped}")).json()["blob"].clone();
    assert_eq!((&blob["text"], &blob["bytes"]), (&json!(text), &json!(text.len())));
    assert_eq!((&blob["truncated"], &blob["binary"]), (&json!(false), &json!(false)));
    let raw = get(dev, &format!("{base}/blob?raw=1&path={}", verified.entrypoint));
    assert_eq!((raw.header("content-type"), raw.text().as_str()), (Some("text/plain"), text.as_str()));
    assert_eq!(raw.header("x-content-type-options"), Some("nosniff"));

    // The explorer shows it to people who are signed in.
    let page = format!("/explorer/contract/{id}?file={escaped}");
    let cookie = dev.session();
    let page = http::try_request(dev.listen(), "GET", &page, &[("cookie", &cookie)], b"").unwrap();
    let shown = page.text();
    let is_plain = |line: &&str| line.len() > 9 && line.chars().all(|c| c.is_alphanumeric() || " :;_,()".contains(c));
    let line = text.lines().find(is_plain).unwrap();
    for part in ["reproducible", verified.package, verified.entrypoint, "https://github.com/owner/name.git", line] {
        assert!(shown.contains(part), "{part}: {shown}");
    }

    for (path, status) in [
        (format!("{base}/blob"), 400),
        (format!("{base}/blob?path="), 400),
        (format!("{base}/blob?path=../../verify.sqlite"), 404),
        (format!("{base}/blob?path={}", verified.folder), 404),
        (format!("/source/{block}/x"), 400),
        (format!("/source/{block}/1"), 404),
        (format!("{base}/else"), 404),
    ] {
        assert_eq!(get(dev, &path).status, status, "{path}");
    }
    // An admin's word stands beside it, and is found by the module's hash.
    let body = json!({ "repo_url": "https://github.com/owner/name", "block": block, "tx": number, "match_pct": 100, "note": "seen" });
    let attested = post(dev, "admin", "/attest", body).json();
    assert_eq!((&attested["verified_via"], &attested["verdict"]), (&json!(id), &json!("verified")));
    assert_eq!(get(dev, &base).json()["source"]["attestation"], attested);
}
