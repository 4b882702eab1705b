//! The OpenAPI 3.1 document of contract verification, whose paths begin elsewhere than those of the REST data API.

use serde_json::{Map, Value, json};

use super::schema::{about, boolean, component, integer, list, natural, number, one_of, or_null, pattern, text};

const INTRODUCTION: &str = "\
Whether the source that somebody shows is that of a deployed contract. Any active key may submit and read; it stands in the \
path and nowhere else. Unknown fields, nulls and empty texts are dropped.";

/// Fields of a submission that are text and nothing more.
const SUBMISSION: [(&str, &str); 13] = [
    ("commit", "40 hex digits, or the name of a branch or tag; the default branch when absent"),
    ("package", "The package of the workspace"),
    ("subdir", "Folder of the workspace or package inside the source"),
    ("rustc", "Version of the compiler, one of those that GET /verify tells"),
    ("home_dir", "Home folder that the build sees"),
    ("clang_version", "Kept with the run"),
    ("freeze_commit", "Kept with the run"),
    ("git_url", "Kept with the run"),
    ("alkanes_rev", "Kept with the run"),
    ("git_source_form", "Kept with the run"),
    ("git_pins", "Kept with the run"),
    ("git_date", "Kept with the run"),
    ("inline_src_b64", "Base64 of a tar.gz with the source; the repository then only says where it comes from"),
];

/// The whole document.
pub(super) fn document() -> Value {
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Paraffin contract verification",
            "version": env!("CARGO_PKG_VERSION"),
            "description": INTRODUCTION,
            "license": { "name": "MIT OR Apache-2.0" },
        },
        "servers": [{
            "url": "/api/v1/{key}",
            "variables": { "key": { "default": "KEY", "description": "An API key" } },
        }],
        "paths": {
            "/verify": {
                "get": get("read-compilers", "The compilers of this instance", &[], &compilers()),
                "post": post("verify", "Submit a contract's source for verification", &submission(), &component("Run")),
            },
            "/verify/{run_id}": {
                "get": get("read-run", "Where a run is, and how it ended", &["run_id"], &ok("run", component("Run"))),
            },
            "/attest": {
                "post": post("attest", "Say where the source of a module is; needs an admin key", &attestation(), &component("Attestation")),
            },
            "/source/{block}/{tx}": {
                "get": get("read-source", "What is known of a contract's source", &["block", "tx"], &ok("source", source())),
            },
            "/source/{block}/{tx}/tree": {
                "get": get("read-tree", "The files of a contract's source", &["block", "tx"], &ok("tree", tree())),
            },
            "/source/{block}/{tx}/blob": { "get": blob() },
        },
        "components": {
            "schemas": schemas(),
            "responses": { "refused": {
                "description": "400 a field or id, 401 the key, 403 no admin key, 404 nothing there, 413 the body, 422 the type of a field, \
                                429 too many requests, 502 the records, 503 no build at the moment",
                "content": { "application/json": { "schema": component("Error") } },
            } },
        },
    })
}

fn object(required: &[&str], members: Vec<(&str, Value)>) -> Value {
    let members: Map<String, Value> = members.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    json!({ "type": "object", "required": required, "properties": members })
}

fn ok(name: &str, schema: Value) -> Value {
    object(&["ok", name], vec![("ok", json!({ "const": true })), (name, schema)])
}

fn responses(schema: &Value) -> Value {
    json!({
        "200": { "description": "The answer", "content": { "application/json": { "schema": schema } } },
        "default": { "$ref": "#/components/responses/refused" },
    })
}

fn get(id: &str, summary: &str, parameters: &[&str], schema: &Value) -> Value {
    let parameters: Vec<Value> = parameters
        .iter()
        .map(|name| {
            let digits = if *name == "run_id" { "^[0-9a-f]{32}$" } else { "^[0-9]{1,39}$" };
            json!({ "name": name, "in": "path", "required": true, "schema": pattern(digits) })
        })
        .collect();
    json!({ "operationId": id, "summary": summary, "parameters": parameters, "responses": responses(schema) })
}

fn post(id: &str, summary: &str, body: &Value, schema: &Value) -> Value {
    let content = json!({ "application/json": { "schema": body } });
    json!({
        "operationId": id,
        "summary": summary,
        "requestBody": { "required": true, "content": content },
        "responses": responses(schema),
    })
}

fn submission() -> Value {
    let mut members = vec![
        ("alkane", about(pattern("^[0-9]{1,39}:[0-9]{1,39}$"), "The contract, block:tx")),
        ("repo_url", about(text(), "An https URL of a host that this instance fetches from")),
        (
            "build_env",
            about(
                json!({ "type": ["string", "array", "null"], "items": text() }),
                "Lines of KEY=VALUE, or a list of them",
            ),
        ),
        ("typo_fix", about(or_null(boolean()), "Kept with the run")),
    ];
    members.extend(SUBMISSION.map(|(name, told)| (name, about(or_null(text()), told))));
    object(&["alkane", "repo_url"], members)
}

fn attestation() -> Value {
    let members = ["block", "tx", "wasm_sha256", "commit", "subdir", "rustc", "alkanes_rev", "verdict", "note"];
    let mut members: Vec<(&str, Value)> = members.map(|name| (name, or_null(text()))).to_vec();
    members.extend([
        ("repo_url", text()),
        ("match_pct", or_null(number())),
        ("manifest", json!({ "type": ["object", "null"] })),
    ]);
    object(&["repo_url"], members)
}

fn compilers() -> Value {
    let compiler = object(
        &["name", "rustc", "version", "builds_library"],
        vec![("name", text()), ("rustc", text()), ("version", text()), ("builds_library", boolean())],
    );
    object(
        &["ok", "accepts", "toolchains"],
        vec![
            ("ok", json!({ "const": true })),
            ("accepts", about(boolean(), "Whether submissions are taken")),
            ("toolchains", list(compiler)),
        ],
    )
}

fn verdict() -> Value {
    one_of(&["reproducible", "verified", "partial", "mismatch"])
}

fn source() -> Value {
    let mut members = vec![
        ("verified", boolean()),
        ("verdict", verdict()),
        ("match_pct", number()),
        ("origin", one_of(&["db"])),
        ("fileCount", natural()),
        ("private", boolean()),
        ("attestation", component("Attestation")),
        ("built", about(built(), "How it was built, where that is known")),
        ("attempts", about(list(attempt()), "The newest runs for the module, whatever they found")),
    ];
    let texts = ["alkane", "block", "tx", "repo", "owner", "name", "commit", "subdir", "package", "entrypoint"];
    members.extend(texts.map(|name| (name, text())));
    object(&["alkane", "block", "tx", "verified", "verdict", "match_pct", "origin", "fileCount"], members)
}

/// A program that came with a source.
fn program() -> Value {
    let members = vec![("kind", one_of(&["build-script", "macro"])), ("name", text()), ("version", text())];
    object(&["kind", "name", "version"], members)
}

fn variables() -> Value {
    json!({ "type": "object", "additionalProperties": text() })
}

fn built() -> Value {
    object(
        &["rustc", "build_env", "programs", "ignored", "repeated", "isolated"],
        vec![
            ("rustc", text()),
            ("build_env", variables()),
            ("home_dir", text()),
            ("programs", list(program())),
            ("ignored", list(text())),
            ("repeated", boolean()),
            ("isolated", boolean()),
        ],
    )
}

fn attempt() -> Value {
    object(
        &["run_id", "repo"],
        vec![
            ("run_id", pattern("^[0-9a-f]{32}$")),
            ("ended_at", or_null(text())),
            ("repo", text()),
            ("commit", or_null(text())),
            ("verdict", verdict()),
            ("match_pct", number()),
            ("programs", about(natural(), "Programs of the submission that ran")),
            ("failure", text()),
        ],
    )
}

fn tree() -> Value {
    let node = object(
        &["path", "type"],
        vec![("path", text()), ("type", one_of(&["blob", "tree"])), ("size", about(natural(), "Bytes, of files"))],
    );
    let mut members = vec![("nodes", list(node))];
    members.extend(["alkane", "origin", "repo", "commit", "subdir", "entrypoint"].map(|name| (name, text())));
    object(&["alkane", "origin", "nodes"], members)
}

/// JSON, or the bytes themselves.
fn blob() -> Value {
    let members = vec![
        ("alkane", text()),
        ("path", text()),
        ("bytes", natural()),
        ("truncated", boolean()),
        ("binary", boolean()),
        ("text", or_null(text())),
        ("base64", about(text(), "Of binary files")),
    ];
    let blob = ok("blob", object(&["alkane", "path", "bytes", "truncated", "binary", "text"], members));
    let mut operation = get("read-blob", "One file of a contract's source", &["block", "tx"], &blob);
    for media in ["text/plain", "application/octet-stream"] {
        operation["responses"]["200"]["content"][media] = json!({});
    }
    for (name, needed, told) in [("path", true, "Path of the file"), ("raw", false, "1: the bytes themselves")] {
        let parameter =
            json!({ "name": name, "in": "query", "required": needed, "description": told, "schema": text() });
        if let Some(parameters) = operation["parameters"].as_array_mut() {
            parameters.push(parameter);
        }
    }
    operation
}

fn schemas() -> Value {
    let alkane = object(&["block", "tx"], vec![("block", text()), ("tx", text())]);
    let failure = object(&["code", "reason"], vec![("code", text()), ("reason", text())]);
    let section = object(
        &["name", "built_size", "deployed_size", "identical"],
        vec![("name", text()), ("built_size", natural()), ("deployed_size", natural()), ("identical", boolean())],
    );
    let result = object(
        &[
            "verdict",
            "match_pct",
            "built_sha256",
            "code_identical",
            "sections",
            "package",
            "rustc",
            "isolated",
            "source_stored",
        ],
        vec![
            ("verdict", verdict()),
            ("match_pct", about(number(), "Share of bytes in sections that are the same, per cent")),
            ("built_sha256", text()),
            ("code_identical", boolean()),
            ("sections", list(section)),
            ("package", text()),
            ("commit", or_null(text())),
            ("rustc", text()),
            ("isolated", boolean()),
            ("source_stored", boolean()),
            ("programs", about(list(program()), "Programs of the submission that ran")),
            ("repeated", about(boolean(), "Whether a second build without build scripts made the same module")),
            ("ignored", about(list(text()), "Settings of the submission that had no effect")),
        ],
    );
    let run = object(
        &["run_id", "alkane", "repo_url", "status", "stage"],
        vec![
            ("run_id", pattern("^[0-9a-f]{32}$")),
            ("alkane", alkane),
            ("repo_url", text()),
            ("commit", or_null(text())),
            ("package", or_null(text())),
            ("status", one_of(&["building", "done", "failed"])),
            ("stage", one_of(&["queued", "fetching", "unpacking", "building", "comparing", "finished"])),
            ("created_at", text()),
            ("ended_at", or_null(text())),
            ("deployed_sha256", text()),
            ("build_env", variables()),
            ("home_dir", or_null(text())),
            ("result", result),
            ("failure", failure),
            ("log", text()),
        ],
    );
    let mut attested: Vec<(&str, Value)> =
        ["wasm_sha256", "repo_url", "commit", "subdir", "rustc", "alkanes_rev", "verdict", "note", "verified_via"]
            .map(|name| (name, text()))
            .to_vec();
    attested.extend([("match_pct", number()), ("manifest", json!({ "type": "object" }))]);
    json!({
        "Run": run,
        "Attestation": object(&["wasm_sha256", "repo_url", "verdict"], attested),
        "Error": object(&["statusCode", "code", "error"], vec![("statusCode", integer()), ("code", text()), ("error", text())]),
    })
}
