//! Scripts through the main JSON-RPC. They run on a thread here; that each has a process of its own in the product is shown
//! with the built program.

use std::sync::Arc;
use std::sync::mpsc;

use paraffin_access::{DatabaseKeyStore, KeyStore as _, NewAlias, NewKey, Plan};
use paraffin_gateway::ScriptParts;
use paraffin_lua::{
    CallError, Calls, Host, LuaSettings, NotRun, Outcome, Runner, Script, ScriptError, ScriptFuture, check, run,
};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::instance::{Instance, Setup};

/// Runs scripts on threads.
struct Threads(LuaSettings);

type Answer = Result<Box<RawValue>, CallError>;

/// Hands calls to the task that waits for the script.
struct Line(tokio::sync::mpsc::UnboundedSender<(String, Box<RawValue>, mpsc::Sender<Answer>)>);

impl Calls for Line {
    fn call(&mut self, method: &str, params: Box<RawValue>) -> Answer {
        let (sender, answer) = mpsc::channel();
        let gone = |()| CallError { code: -32603, message: "gone".to_owned() };
        self.0.send((method.to_owned(), params, sender)).map_err(|_| gone(()))?;
        answer.recv().map_err(|_| gone(()))?
    }
}

impl Runner for Threads {
    fn settings(&self) -> &LuaSettings {
        &self.0
    }

    fn run<'a>(&'a self, _: &'a str, script: Script, host: &'a dyn Host) -> ScriptFuture<'a, Result<Outcome, NotRun>> {
        Box::pin(async move {
            let (sender, mut asked) = tokio::sync::mpsc::unbounded_channel();
            let settings = self.0.clone();
            let script = tokio::task::spawn_blocking(move || run(&settings, &script, Box::new(Line(sender))));
            let mut calls = 0;
            while let Some((method, params, answer)) = asked.recv().await {
                calls += 1;
                answer.send(host.call(&method, params).await).unwrap();
            }
            Ok(Outcome { calls, returns: script.await.unwrap(), runtime_ms: 1 })
        })
    }

    fn check<'a>(&'a self, _: &'a str, source: &'a str) -> ScriptFuture<'a, Result<Result<(), ScriptError>, NotRun>> {
        Box::pin(async move { Ok(check(&self.0, source)) })
    }
}

fn parts(settings: LuaSettings, store: &DatabaseKeyStore) -> ScriptParts {
    ScriptParts { runner: Arc::new(Threads(settings)), store: Arc::new(store.clone()) }
}

async fn instance() -> Instance {
    with(LuaSettings::default()).await
}

/// An instance that runs scripts.
pub(crate) fn setup() -> Setup {
    with_settings(LuaSettings::default())
}

fn with_settings(settings: LuaSettings) -> Setup {
    let scripts = Box::new(|store: &DatabaseKeyStore| parts(settings, store));
    Setup { scripts: Some(scripts), ..Setup::default() }
}

async fn with(settings: LuaSettings) -> Instance {
    Instance::with(with_settings(settings)).await
}

/// row MR11
#[tokio::test]
async fn a_script_gets_its_arguments_and_asks_what_its_caller_may_ask() {
    let instance = instance().await;
    let script = "local height = _RPC.btc_getblockcount()
        return { height = height, hash = _RPC.btc_getblockhash(height), first = args[1], second = args[2].x }";
    let hash = instance.result("btc_getblockhash", json!([3])).await;
    for method in ["lua_evalscript", "sandshrew_evalscript"] {
        let answer = instance.result(method, json!([script, "one", { "x": [1, 2] }])).await;
        assert_eq!(answer["returns"], json!({ "height": 3, "hash": hash, "first": "one", "second": [1, 2] }));
        assert_eq!((&answer["calls"], &answer["error"]), (&json!(2), &Value::Null));
        assert!(answer["runtime"].is_u64());
    }
}

/// row MR11
#[tokio::test]
async fn every_method_has_its_real_name_and_the_one_of_lua() {
    let instance = instance().await;
    let script = "local by_real_name = _RPC['esplora_address::utxo'](args[1])
        local by_lua_name = _RPC.esplora_addressutxo(args[1])
        return { #by_real_name, #by_lua_name, by_lua_name[1].value, _RPC.esplora_blockheight(0), _RPC.metashrew_height == nil }";
    let answer = instance.result("lua_evalscript", json!([script, instance.payee])).await;
    let genesis = instance.result("esplora_block-height", json!([0])).await;
    assert_eq!(answer["returns"], json!([1, 1, 1_000_000, genesis, false]), "{answer}");
    let names = instance
        .result("lua_evalscript", json!(["local t = {} for name in pairs(_RPC) do t[#t + 1] = name end return t"]));
    let names = names.await["returns"].as_array().unwrap().clone();
    for name in [
        "btc_getblock",
        "btc_sendrawtransaction",
        "esplora_tx",
        "esplora_txoutspends",
        "esplora_feeestimates",
        "esplora_mempoolrecent",
        "metashrew_view",
        "alkanes_protorunesbyaddress",
        "alkanes_protorunes_by_outpoint",
        "spendablesbyaddress",
        "sandshrew_balances",
    ] {
        assert!(names.contains(&json!(name)), "{name}");
    }
}

/// row MR11
#[tokio::test]
async fn errors_stand_in_the_result_and_failed_calls_can_be_caught() {
    let instance = instance().await;
    let error = |source: &str| {
        let source = source.to_owned();
        let instance = &instance;
        async move {
            let answer = instance.result("lua_evalscript", json!([source])).await;
            assert_eq!(answer["returns"], Value::Null, "{answer}");
            answer["error"].clone()
        }
    };
    let nil = error("local t = nil return t.x").await;
    assert_eq!(
        (nil["code"].as_i64(), nil["message"].as_str().unwrap().contains("attempt to index a nil value")),
        (Some(-1), true)
    );
    let failed = error("return _RPC.btc_getblock(('0'):rep(64))").await;
    assert_eq!(failed, json!({ "code": -1, "message": "RPC error -5: Block not found" }));
    let syntax = error("return return").await;
    assert_eq!(syntax["code"], -32602);
    assert!(syntax["message"].as_str().unwrap().starts_with("Lua syntax error: script:1:"), "{syntax}");
    let large = error(&" ".repeat((256 << 10) + 1)).await;
    assert_eq!(large, json!({ "code": -32602, "message": "Script exceeds maximum size limit" }));
    let caught = "local ok, e = pcall(_RPC.btc_getblock, ('0'):rep(64)) return {ok, e}";
    let answer = instance.result("lua_evalscript", json!([caught])).await;
    assert_eq!(answer["returns"], json!([false, "RPC error -5: Block not found"]));
    assert_eq!(answer["calls"], 1);
    // An error in a handler affects nothing else.
    assert_eq!(error("return _RPC.btc_getchaintips()").await["message"], "RPC error -32603: Internal error");
    for (params, part) in [
        (json!([]), "required"),
        (json!([7]), "string"),
        (json!([null]), "required"),
        (json!([["return 1"]]), "string"),
    ] {
        let (code, message) = instance.error("lua_evalscript", params).await;
        assert_eq!(code, -32602);
        assert!(message.contains(part), "{message}");
    }
}

/// row MR11
#[tokio::test]
async fn a_budget_that_is_used_up_is_told_in_the_result() {
    let instance = with(LuaSettings { instructions_max: 20_000_000, rpc_calls_max: 5, ..LuaSettings::default() }).await;
    for (script, budget) in [
        ("while true do end", "instructions"),
        ("for _ = 1, 10 do pcall(_RPC.btc_getblockcount) end", "rpc_calls"),
        ("local t = {} for i = 1, 1e9 do t[i] = ('x'):rep(100000) .. i end", "memory"),
    ] {
        let answer = instance.result("lua_evalscript", json!([script])).await;
        assert_eq!(answer["error"]["code"], -1);
        assert_eq!(answer["error"]["data"], json!({ "code": "BUDGET_EXCEEDED", "budget": budget }), "{script}");
        assert_eq!(answer["returns"], Value::Null);
    }
    assert_eq!(instance.get("/health").await.status, 200);
}

/// row MR11
#[tokio::test]
async fn scripts_are_kept_by_their_hash_and_found_after_a_restart() {
    let instance = instance().await;
    let script = "return {#args, args[1]}";
    let hash = instance.result("lua_savescript", json!([script])).await["hash"].as_str().unwrap().to_owned();
    assert_eq!(hash, instance.result("sandshrew_savescript", json!([script])).await["hash"]);
    assert_eq!(hash, "257a9698d9f528950c3ea3e10965f40d318073102d5953fb745a90619319f736");
    for method in ["lua_evalsaved", "sandshrew_evalsaved"] {
        let answer = instance.result(method, json!([hash, "x"])).await;
        assert_eq!(answer["returns"], json!([1, "x"]), "{answer}");
    }
    // Another caller finds it as well.
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "lua_evalsaved", "params": [hash] }).to_string();
    assert_eq!(instance.post("/v4/jsonrpc", body).await.json()["result"]["returns"], json!([0]));
    // Another process finds the saved scripts.
    let again = DatabaseKeyStore::open(&instance.keys_path).await.unwrap();
    let found = paraffin_access::ScriptStore::find_script(&again, bitcoin_hash(&hash)).await.unwrap();
    assert_eq!(found.as_deref(), Some(script));
}

fn bitcoin_hash(digits: &str) -> [u8; 32] {
    bitcoin::hex::FromHex::from_hex(digits).unwrap()
}

#[tokio::test]
async fn what_cannot_be_saved_or_found_has_its_own_errors() {
    let instance = with(LuaSettings { source_bytes_max: 1000, saved_bytes_max: 1000, ..LuaSettings::default() }).await;
    let (code, message) = instance.error("lua_savescript", json!(["return return"])).await;
    assert_eq!((code, message.starts_with("Lua syntax error: ")), (-32602, true), "{message}");
    let too_large = (-32602, "Script exceeds maximum size limit".to_owned());
    assert_eq!(instance.error("lua_savescript", json!([" ".repeat(1001)])).await, too_large);
    for params in [json!([]), json!([5]), json!(["return 1", "return 2"])] {
        assert_eq!(instance.error("lua_savescript", params).await.0, -32602);
    }
    for hash in ["0".repeat(64), "f".repeat(63), "no hash at all".to_owned(), "\u{e9}".repeat(40)] {
        let answer = instance.result("lua_evalsaved", json!([hash])).await;
        let shown: String = hash.chars().take(16).collect();
        assert_eq!(
            answer,
            json!({ "calls": 0, "returns": null, "runtime": 0,
                "error": { "code": -32602, "message": format!("Script not found for hash: {shown}...") } })
        );
    }
    assert_eq!(instance.error("lua_evalsaved", json!([])).await.0, -32602);
    assert_eq!(instance.error("lua_nothing", json!([])).await.0, -32601);
    assert_eq!(instance.error("sandshrew_nothing", json!([])).await.0, -32601);
}

#[tokio::test]
async fn a_script_counts_once_whatever_it_asks() {
    let instance = instance().await;
    let key = paraffin_access::KeyStore::create(&instance.keys, NewKey::on_plan("free", Plan::FREE), "test", 0)
        .await
        .unwrap();
    let path = format!("/v4/{}", key.key.reveal());
    let script = "for _ = 1, 100 do _RPC.btc_getblockcount() end return 1";
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "lua_evalscript", "params": [script] }).to_string();
    let left = |response: &crate::client::Response| -> u32 {
        response.header("x-ratelimit-remaining").unwrap().parse().unwrap()
    };
    crate::limits::wait_for_time_in_minute(20).await;
    let first = instance.post(&path, &body).await;
    assert_eq!(first.json()["result"]["calls"], 100);
    let second = instance.post(&path, &body).await;
    assert_eq!((left(&first), left(&second)), (59, 58));
}

#[tokio::test]
async fn a_script_manages_no_keys_and_runs_no_scripts_by_any_way() {
    let instance = instance().await;
    let script = "local answers = _RPC.sandshrew_multicall({'btc_getblockcount', {}}, {'admin_listApiKeys', {}},
            {'lua_evalscript', {'return 1'}}, {'sandshrew_multicall', {{'sandshrew_evalscript', {'return 1'}}}})
        return {_RPC.admin_listApiKeys == nil, _RPC.lua_evalscript == nil, _RPC.sandshrew_evalsaved == nil, answers}";
    let answer = instance.result("lua_evalscript", json!([script])).await;
    let refused = json!({ "error": { "code": -32601, "message": "Method not found" } });
    assert_eq!(
        answer["returns"],
        json!([true, true, true, [{ "result": 3 }, refused, refused, { "result": [refused] }]]),
        "{answer}"
    );
}

#[tokio::test]
async fn an_instance_without_scripts_says_so() {
    let instance = Instance::start().await;
    for method in ["lua_evalscript", "lua_savescript", "lua_evalsaved", "sandshrew_evalscript"] {
        let answer = instance.call(method, json!(["return 1"])).await;
        assert_eq!(
            (&answer["error"]["code"], &answer["error"]["data"]["code"]),
            (&json!(-32603), &json!("LUA_NOT_ENABLED"))
        );
    }
}

/// An alias is public: its callers must not evict what the account's keys have saved.
#[tokio::test]
async fn what_a_key_has_saved_stays_whatever_an_alias_saves() {
    let instance = with(LuaSettings { saved_scripts_max: 2, ..LuaSettings::default() }).await;
    let alias =
        NewAlias { surfaces: vec!["main".to_owned()], ..NewAlias::named(instance.key.record.account, "my-app") };
    instance.keys.create_alias(alias, "test", 0).await.unwrap();
    let hash = instance.result("lua_savescript", json!(["return 'kept'"])).await["hash"].clone();
    for path in ["/v4/my-app", "/v4/jsonrpc"] {
        for number in 0..4 {
            let body = json!({ "method": "lua_savescript", "params": [format!("return {number}")], "id": 1 });
            let answer = instance.post(path, body.to_string()).await.json();
            assert!(answer["result"]["hash"].is_string(), "{answer}");
        }
    }
    assert_eq!(instance.result("lua_evalsaved", json!([hash])).await["returns"], "kept");
}
