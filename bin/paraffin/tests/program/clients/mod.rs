//! The clients against a running `paraffin dev`: the Rust crate by calls of each kind, the TypeScript types by real answers of every
//! method and route.

// Its layout is the generator's.
#[rustfmt::skip]
#[allow(clippy::unnested_or_patterns)]
mod answers;
mod real_node;
mod streams;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use paraffin_client::{Batch, Client, Error, MempoolEvent, MempoolMirror, forex, jsonrpc, mempool, reorg, rest};
use serde_json::Value;

use crate::recorded::{all_questions, form};
use crate::support::dev::Dev;
use crate::support::http;

fn client(dev: &Dev) -> Client {
    Client::new(dev.text("/base_url")).unwrap().with_key(dev.text("/keys/business")).unwrap()
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

#[test]
fn methods_routes_and_batches_are_asked_with_their_types() {
    let dev = Dev::start();
    let client = client(&dev);
    run(async {
        let height = client.call(&jsonrpc::BtcGetblockcount::new()).await.unwrap();
        assert_eq!(u64::from(height), dev.height());
        let hash = client.call(&jsonrpc::BtcGetblockhash::new(140_u64)).await.unwrap();
        // A route with an amount: exact, from its digits.
        let diesel = dev.text("/alkanes/diesel");
        let page =
            client.ask(&rest::GetAlkanes { limit: Some(500_u64.into()), ..rest::GetAlkanes::new() }).await.unwrap();
        let (block, tx) = diesel.split_once(':').unwrap();
        let is_diesel = |token: &&rest::Token| {
            (token.id.block.to_string(), token.id.tx.to_string()) == (block.to_owned(), tx.to_owned())
        };
        assert!(page.tokens.iter().any(|token| is_diesel(&token)), "{page:?}");
        // A route with a member in its path, and one by POST.
        let pool = dev.text("/alkanes/pools/0");
        let history = client.ask(&rest::ReadUdfSymbols::new(pool)).await.unwrap();
        assert_eq!(history.ticker, pool);
        // Many at once, each with its type; one fails apart.
        let mut batch = Batch::new();
        let first = batch.add(&jsonrpc::BtcGetblockcount::new()).unwrap();
        let wrong = batch.add(&jsonrpc::BtcGetblockhash::new(9_999_999_u64)).unwrap();
        let again = batch.add(&jsonrpc::BtcGetblockhash::new(140_u64)).unwrap();
        let mut answers = client.batch(batch).await.unwrap();
        assert_eq!(answers.take(first), Ok(height));
        assert!(matches!(answers.take(wrong), Err(Error::Refused(refusal)) if refusal.code.is_some()));
        assert_eq!(answers.take(again).unwrap(), hash);
        // Surfaces of their own, one with a height in its path.
        assert_eq!(client.call(&reorg::Getblockcount::new(150)).await.unwrap(), 150);
        assert!(client.call(&mempool::MempoolInfo::new()).await.unwrap().count > 0);
        assert!(!client.call(&forex::ForexCurrencies::new()).await.unwrap().currencies.is_empty());
        // A refusal has the word for programs.
        let missing = client.ask(&rest::ReadOrderbookOrderSourceId::new("orbitals", "none")).await.unwrap_err();
        assert!(matches!(missing, Error::Refused(refusal) if refusal.word.as_deref() == Some("NOT_FOUND")));
        let unauthenticated = Client::new(dev.text("/base_url")).unwrap().with_key("no-such-key").unwrap();
        let refused = unauthenticated.call(&jsonrpc::BtcGetblockcount::new()).await.unwrap_err();
        assert!(matches!(refused, Error::Refused(refusal) if refusal.word.as_deref() == Some("INVALID_API_KEY")));
    });
}

#[test]
fn a_mirror_of_the_mempool_has_the_checksum_of_the_instance_after_blocks() {
    let dev = Dev::start();
    let client = client(&dev);
    run(async {
        let mut mirror = MempoolMirror::open(&client).await.unwrap();
        assert!(!mirror.entries().is_empty());
        dev.mine(2);
        let mut blocks = 0;
        while blocks < 2 {
            let event = tokio::time::timeout(Duration::from_secs(30), mirror.next()).await.unwrap().unwrap();
            assert_ne!(event, MempoolEvent::Resynced);
            blocks += u32::from(matches!(event, MempoolEvent::Block { .. }));
        }
        let info = client.call(&mempool::MempoolInfo::new()).await.unwrap();
        assert_eq!((mirror.checksum(), mirror.entries().len() as u64), (info.checksum, info.count));
    });
}

/// The answer that a type of the TypeScript client describes: without its envelope.
fn described_part(module: &str, status: u16, answer: &Value) -> Option<Value> {
    if !matches!(module, "rest" | "verification") {
        return answer.get("result").filter(|_| answer.get("error").is_none()).cloned();
    }
    if !(200..300).contains(&status) {
        return None;
    }
    let members = answer.as_object().map_or(0, serde_json::Map::len);
    if members == 2 && answer["statusCode"] == 200 {
        return answer.get("data").cloned();
    }
    if members == 2 && answer.get("error") == Some(&Value::Null) {
        return answer.get("result").cloned();
    }
    Some(answer.clone())
}

/// An answer of an instance with the module and the name by which the clients have it.
struct Real {
    module: String,
    name: String,
    answer: Value,
}

/// One answer of each form of every method and route.
fn real_answers(dev: &Dev) -> Vec<Real> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for question in all_questions(dev) {
        let Some((module, name)) = question.described else { continue };
        let body = question.body.as_ref().map(Value::to_string).unwrap_or_default();
        let headers: &[(&str, &str)] = &[("content-type", "application/json")];
        let answer = http::try_request(dev.listen(), question.verb, &question.path, headers, body.as_bytes()).unwrap();
        // Texts are not compared: a number alone would be read as JSON.
        if answer.header("content-type") != Some("application/json") {
            continue;
        }
        // `btc_` may be left out of a name, which no description says of each.
        let is_short = module == "jsonrpc" && name == "getblockcount";
        let Some(answer) = described_part(&module, answer.status, &answer.json()).filter(|_| !is_short) else {
            continue;
        };
        if seen.insert((module.clone(), name.clone(), form(&answer).to_string())) {
            all.push(Real { module, name, answer });
        }
    }
    let names: BTreeSet<_> = all.iter().map(|real| (&real.module, &real.name)).collect();
    println!("{} answers of {} methods and routes", all.len(), names.len());
    assert!(names.len() > 220, "only {} methods and routes have an answer", names.len());
    all
}

#[test]
fn real_answers_have_the_types_of_the_clients() {
    let dev = Dev::start();
    let all = real_answers(&dev);
    let wrong = all.iter().filter_map(|Real { module, name, answer }| {
        answers::finding(module, name, answer).map(|finding| format!("{module} {name}: {finding} in {answer:.300}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let Some(compiler) = std::env::var_os("PARAFFIN_TSC") else {
        return paraffin_testkit::missing(
            "`cargo xtask typescript` installs the compiler of TypeScript and runs this test",
        );
    };
    let mut text = String::new();
    for module in all.iter().map(|real| &real.module).collect::<BTreeSet<_>>() {
        let _ = writeln!(text, "import type * as {module} from \"./client/{module}.js\";");
    }
    for (number, Real { module, name, answer }) in all.iter().enumerate() {
        let kind = if matches!(module.as_str(), "rest" | "verification") { "Routes" } else { "Methods" };
        let _ = writeln!(text, "export const answer{number}: {module}.{kind}[{name:?}][\"answer\"] = {answer};");
    }
    let folder = tempfile::tempdir().unwrap();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients/typescript");
    std::fs::create_dir(folder.path().join("client")).unwrap();
    for entry in std::fs::read_dir(sources.join("src")).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), folder.path().join("client").join(entry.file_name())).unwrap();
    }
    let mut config: Value =
        serde_json::from_str(&std::fs::read_to_string(sources.join("tsconfig.json")).unwrap()).unwrap();
    config["include"] = serde_json::json!(["answers.ts", "client"]);
    config["compilerOptions"]["rootDir"] = ".".into();
    let package = "{\"type\":\"module\"}".to_owned();
    for (file, text) in [("answers.ts", text), ("package.json", package), ("tsconfig.json", config.to_string())] {
        std::fs::write(folder.path().join(file), text).unwrap();
    }
    let compile = || {
        let mut compiler = Command::new(&compiler);
        compiler.args(["--noEmit", "--strict", "--pretty", "false"]).current_dir(folder.path());
        compiler.output().unwrap()
    };
    let output = compile();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    // A wrong one is found.
    let wrong =
        "import type * as rest from \"./client/rest.js\";\nexport const id: rest.Id = { block: 2, tx: \"0\" };\n";
    std::fs::write(folder.path().join("answers.ts"), wrong).unwrap();
    let output = compile();
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stdout).contains("TS2322"), "{output:?}");
}
