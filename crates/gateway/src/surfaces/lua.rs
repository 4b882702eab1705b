//! `lua_*`, and the same by the names `sandshrew_*`: scripts of callers, run away from this process (docs/lua.md).
//!
//! What a script asks goes the way of its caller's own calls: the same key, the same methods, the same snapshot. It counts
//! as the one request that it came in.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use bitcoin::hashes::{Hash as _, sha256};
use bitcoin::hex::{DisplayHex as _, FromHex as _};
use paraffin_access::{AccessError, ClientNet, ScriptHash, ScriptLimits, ScriptOwner, ScriptStore};
use paraffin_lua::{CallError, Host, NotRun, Outcome, Runner, Script, ScriptError, ScriptFuture, is_callable};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::main_rpc::{MainRpc, MethodFamily};
use super::{RpcResult, sandshrew, to_raw};
use crate::errors::{RpcError, rpc_code};
use crate::fairness::{CallerId, FairPermit, FairSemaphore};
use crate::jsonrpc::{Panicked, Params, catch_panic};
use crate::state::{BoxFuture, Caller, RequestContext};

/// All methods of the family.
pub(super) const METHODS: [&str; 3] = ["evalscript", "savescript", "evalsaved"];

/// Code of what a script does wrong while it runs, and of what it uses too much of.
const SCRIPT_FAILED: i64 = -1;
/// Digits of a hash that a message shows.
const HASH_DIGITS_SHOWN: usize = 16;

/// What an instance that runs scripts gives the gateway.
#[derive(Clone)]
pub struct ScriptParts {
    /// Runs them.
    pub runner: Arc<dyn Runner>,
    /// Keeps those that are saved.
    pub store: Arc<dyn ScriptStore>,
}

/// The methods in `_RPC`, by their real names.
static CALLABLE: LazyLock<Vec<String>> = LazyLock::new(|| {
    let named = MainRpc::new().methods().into_iter().chain(["spendablesbyaddress".to_owned()]);
    named.filter(|method| is_callable(method)).collect()
});

pub(super) struct LuaFamily;

impl MethodFamily for LuaFamily {
    fn name(&self) -> &'static str {
        "lua"
    }

    fn methods(&self) -> Vec<&'static str> {
        METHODS.to_vec()
    }

    fn call<'a>(&'a self, context: &'a RequestContext, method: &'a str, params: Params) -> BoxFuture<'a, RpcResult> {
        call(context, method, params)
    }
}

/// Runs one of [`METHODS`].
pub(super) fn call<'a>(context: &'a RequestContext, method: &'a str, params: Params) -> BoxFuture<'a, RpcResult> {
    Box::pin(async move {
        if !METHODS.contains(&method) {
            return Err(RpcError::method_not_found());
        }
        let Some(scripts) = context.shared().scripts.as_ref() else {
            return Err(RpcError {
                data: Some(json!({ "code": "LUA_NOT_ENABLED" })),
                ..RpcError::new(rpc_code::INTERNAL, "this instance does not run scripts")
            });
        };
        match method {
            "evalscript" => run(context, scripts, text(&params, "script")?, &params).await,
            "savescript" => save(context, scripts, &params).await,
            _ => run_saved(context, scripts, &params).await,
        }
    })
}

/// The first parameter, a text and nothing that stands for one.
fn text(params: &Params, name: &str) -> Result<String, RpcError> {
    let raw = params.get(0).ok_or_else(|| RpcError::invalid_params(format!("missing parameter: {name}")))?;
    serde_json::from_str(raw.get()).map_err(|_| RpcError::invalid_params(format!("{name} must be a string")))
}

/// `[source, …]`: the result of a script; what follows the source stands in its `args`.
async fn run(context: &RequestContext, scripts: &ScriptParts, source: String, params: &Params) -> RpcResult {
    let arguments = params.raw().iter().skip(1).cloned().collect();
    let script = Script { source, arguments, methods: CALLABLE.clone() };
    let host = CallerHost(context);
    let _permit = permit(context, scripts).await?;
    let outcome = scripts.runner.run(&caller(context), script, &host).await.map_err(not_run)?;
    told(&outcome)
}

/// `[source]`: keeps a script by the hash of its source.
async fn save(context: &RequestContext, scripts: &ScriptParts, params: &Params) -> RpcResult {
    params.at_most(1)?;
    let source = text(params, "script")?;
    let _permit = permit(context, scripts).await?;
    let checked = scripts.runner.check(&caller(context), &source).await.map_err(not_run)?;
    if let Err(error) = checked {
        return Err(RpcError { data: problem(&error), ..RpcError::new(code(&error), error.to_string()) });
    }
    let settings = scripts.runner.settings();
    let limits = ScriptLimits { scripts_max: settings.saved_scripts_max, bytes_max: settings.saved_bytes_max };
    let hash: ScriptHash = sha256::Hash::hash(source.as_bytes()).to_byte_array();
    let saved = scripts.store.save_script(owner(context), hash, &source, limits).await;
    saved.map_err(|error| match error {
        AccessError::ScriptsFull => RpcError {
            data: Some(json!({ "code": "SCRIPTS_FULL" })),
            ..RpcError::new(rpc_code::INTERNAL, error.to_string())
        },
        error => RpcError::internal(&error),
    })?;
    to_raw(&json!({ "hash": hash.to_lower_hex_string() }))
}

/// `[hash, …]`: as [`run`], for a script that was saved.
async fn run_saved(context: &RequestContext, scripts: &ScriptParts, params: &Params) -> RpcResult {
    let name = text(params, "hash")?;
    let source = match ScriptHash::from_hex(name.strip_prefix("0x").unwrap_or(&name)) {
        Ok(hash) => scripts.store.find_script(hash).await.map_err(|error| RpcError::internal(&error))?,
        Err(_) => None,
    };
    match source {
        Some(source) => run(context, scripts, source, params).await,
        None => {
            let shown: String = name.chars().take(HASH_DIGITS_SHOWN).collect();
            let message = format!("Script not found for hash: {shown}...");
            let error = json!({ "code": rpc_code::INVALID_PARAMS, "message": message });
            to_raw(&json!({ "calls": 0, "returns": null, "error": error, "runtime": 0 }))
        }
    }
}

fn told(outcome: &Outcome) -> RpcResult {
    let (returns, error) = match &outcome.returns {
        Ok(returns) => (returns.get(), Value::Null),
        Err(error) => {
            let mut told = json!({ "code": code(error), "message": error.to_string() });
            if let Some(data) = problem(error) {
                told["data"] = data;
            }
            ("null", told)
        }
    };
    let (calls, runtime) = (outcome.calls, outcome.runtime_ms);
    let answer = format!(r#"{{"calls":{calls},"returns":{returns},"error":{error},"runtime":{runtime}}}"#);
    RawValue::from_string(answer).map_err(|error| RpcError::internal(&error))
}

fn code(error: &ScriptError) -> i64 {
    match error {
        ScriptError::SourceTooLarge | ScriptError::Syntax(_) => rpc_code::INVALID_PARAMS,
        ScriptError::Exhausted(_) | ScriptError::Raised(_) => SCRIPT_FAILED,
        ScriptError::Broken => rpc_code::INTERNAL,
    }
}

/// What a program can distinguish an error by.
fn problem(error: &ScriptError) -> Option<Value> {
    match error {
        ScriptError::Exhausted(budget) => Some(json!({ "code": "BUDGET_EXCEEDED", "budget": budget.name() })),
        ScriptError::Broken => Some(json!({ "code": "SCRIPT_BROKEN" })),
        _ => None,
    }
}

fn not_run(error: NotRun) -> RpcError {
    match error {
        NotRun::Busy => RpcError {
            data: Some(json!({ "code": "BUSY" })),
            ..RpcError::new(rpc_code::INTERNAL, "too many scripts are running; try again later")
        },
        NotRun::NoWorker => RpcError::internal(&error),
    }
}

/// Whose limits a saved script counts for.
fn owner(context: &RequestContext) -> ScriptOwner {
    match context.caller() {
        Caller::Key(record) => ScriptOwner::Keys(record.account),
        Caller::Alias(record) => ScriptOwner::Public(record.account),
        Caller::Origin(record) => ScriptOwner::Public(record.account),
        Caller::Keyless => ScriptOwner::Anonymous(match context.caller_id() {
            CallerId::Client(client) => client,
            CallerId::Admin | CallerId::Account(_) => ClientNet::from(context.client()),
        }),
    }
}

/// Whose scripts wait for each other.
fn caller(context: &RequestContext) -> String {
    match (context.caller(), context.caller_id()) {
        (Caller::Key(record), _) => format!("account:{}", record.account.0),
        (_, CallerId::Client(client)) => format!("client:{client}"),
        (_, CallerId::Admin | CallerId::Account(_)) => "client".to_owned(),
    }
}

/// Permits for the scripts of an instance: as many as run at the same time, half of them for anonymous callers together.
pub(crate) fn permits(scripts: Option<&ScriptParts>) -> FairSemaphore {
    let (all, own) = scripts.map_or((1, 1), |scripts| {
        let settings = scripts.runner.settings();
        (settings.scripts_max, settings.scripts_per_caller_max)
    });
    let bytes = scripts.map_or(0, |scripts| scripts.runner.settings().memory_bytes_max);
    FairSemaphore::new(all, all / own.max(1)).of_bytes(bytes)
}

async fn permit(context: &RequestContext, scripts: &ScriptParts) -> Result<FairPermit, RpcError> {
    let wait = Duration::from_millis(scripts.runner.settings().wait_ms_max);
    let permit = tokio::time::timeout(wait, context.shared().script_runs.acquire(context.caller_id())).await;
    permit.ok().flatten().ok_or_else(|| not_run(NotRun::Busy))
}

/// Answers a script's calls as its caller's.
struct CallerHost<'c>(&'c RequestContext);

impl Host for CallerHost<'_> {
    fn call<'a>(
        &'a self,
        method: &'a str,
        params: Box<RawValue>,
    ) -> ScriptFuture<'a, Result<Box<RawValue>, CallError>> {
        Box::pin(async move {
            let context = self.0;
            let answered = catch_panic(async {
                context.budget().take_call(context)?;
                let params = Params::parse(Some(&params))?;
                if method == sandshrew::MULTICALL {
                    return sandshrew::multicall_of_script(context, params).await;
                }
                context.shared().main.call(context, method, params).await
            });
            let answer = answered.await.unwrap_or_else(|Panicked| {
                context.metrics().panic();
                Err(RpcError::panicked())
            });
            answer.map_err(|error| CallError { code: error.code, message: error.message.into_owned() })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_have_every_read_method_and_none_that_manages_keys_or_runs_scripts() {
        for method in
            ["btc_getblockcount", "esplora_address::utxo", "metashrew_view", "alkanes_simulate", "sandshrew_multicall"]
        {
            assert!(CALLABLE.iter().any(|known| known == method), "{method}");
        }
        // The names that scripts in use have, as Lua spells them.
        let spelled: Vec<String> = CALLABLE.iter().map(|method| paraffin_lua::lua_spelling(method)).collect();
        for (family, names) in [
            (
                "btc",
                // The rest of what scripts elsewhere have under `btc_` is about the node and not about the chain.
                "getbestblockhash getblock getblockcount getblockhash getblockheader getblockstats getchaintips getchaintxstats \
                 getdifficulty getmempoolancestors getmempooldescendants getblockchaininfo getrawtransaction sendrawtransaction \
                 getmempoolinfo getrawmempool getmempoolentry gettxout decoderawtransaction",
            ),
            (
                "esplora",
                "addressutxo addresstxs addresstxschain addresstxsmempool address tx txstatus txhex txraw txoutspends block \
                 blockstatus blocktxs blocktxids blockheight mempool mempooltxids mempoolrecent feeestimates",
            ),
            (
                "ord",
                "content blockheight blockcount blockhash blocktime blocks outputs inscription inscriptions block output rune \
                 runes sat children parents address",
            ),
            ("alkanes", "getbytecode protorunesbyaddress protorunesbyoutpoint protorunes_by_outpoint"),
            ("metashrew", "view height"),
            ("sandshrew", "multicall balances"),
        ] {
            for name in names.split_ascii_whitespace() {
                let method = format!("{family}_{name}");
                assert!(spelled.contains(&method), "{method}");
            }
        }
        for part in ["admin_", "lua_", "evalscript", "savescript", "evalsaved"] {
            assert!(!CALLABLE.iter().any(|known| known.contains(part)), "{part}");
        }
    }
}
