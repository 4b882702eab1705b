//! `lua_*`, also under the names `sandshrew_*`: scripts of callers, run in a separate process (docs/lua.md).
//!
//! Calls of a script are handled like its caller's own: the same key, methods and snapshot. The script and its calls count as one
//! request.

use std::time::Duration;

use bitcoin::hashes::{Hash as _, sha256};
use bitcoin::hex::{DisplayHex as _, FromHex as _};
use http::StatusCode;
use paraffin_access::{AccessError, ClientNet, ScriptHash, ScriptLimits, ScriptOwner};
use paraffin_lua::{CallError, Host, NotRun, Outcome, Script, ScriptError, ScriptFuture, is_callable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::sandshrew;
use paraffin_gateway::errors::{ApiError, ErrorKind, kind, rpc_code};
use paraffin_gateway::fairness::{CallerId, FairPermit};
use paraffin_gateway::jsonrpc::{Panicked, Params, catch_panic};
use paraffin_gateway::methods::{Declared, ErrorCase, Form, Method, RawParam, Surface};
use paraffin_gateway::scripts::ScriptParts;
use paraffin_gateway::state::{Caller, RequestContext};

/// The methods of scripts.
pub static LUA: Surface<()> =
    Surface::new("lua", &[Declared::of::<EvalScript>(), Declared::of::<SaveScript>(), Declared::of::<EvalSaved>()])
        .admitting(|context| scripts(context).map(drop));

/// Code of runtime errors of a script and of exceeded limits.
const SCRIPT_FAILED: i64 = -1;
/// Digits of a hash in an error message.
const HASH_DIGITS_SHOWN: usize = 16;

/// The methods in `_RPC`, by their real names: those of the families of the main JSON-RPC that scripts may call.
pub fn callable(families: &[&Surface<()>]) -> Vec<String> {
    let names = families.iter().flat_map(|family| family.names().map(|method| format!("{}_{method}", family.name)));
    names.chain(["spendablesbyaddress".to_owned()]).filter(|method| is_callable(method)).collect()
}

const LUA_NOT_ENABLED: ErrorCase =
    ErrorCase { code: rpc_code::INTERNAL, name: "LUA_NOT_ENABLED", when: "The instance does not run scripts" };
const BUSY: ErrorCase =
    ErrorCase { code: rpc_code::INTERNAL, name: "BUSY", when: "Too many scripts are running: try again later" };
const SCRIPTS_FULL: ErrorCase =
    ErrorCase { code: rpc_code::INTERNAL, name: "SCRIPTS_FULL", when: "The account keeps as many scripts as it may" };

/// The surface.
fn scripts(context: &RequestContext) -> Result<&ScriptParts, ApiError> {
    let scripts = context.shared().scripts.as_ref();
    scripts.ok_or_else(|| LUA_NOT_ENABLED.error("this instance does not run scripts"))
}

/// Runs a Lua script; what follows its source stands in its `args`, any number of parameters.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct EvalScript {
    /// The source.
    script: String,
    /// What the script finds in `args`, any number of parameters.
    #[serde(rename = "argument")]
    arguments: Vec<RawParam>,
}

/// What a script returned.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ScriptResult {
    /// Calls of `_RPC` that the script made.
    calls: u32,
    /// The first value that the script returned.
    #[schemars(with = "Value")]
    returns: Option<Box<RawValue>>,
    error: Option<ScriptResultError>,
    /// Milliseconds.
    runtime: u64,
}

/// Why a script ended early.
#[derive(Serialize, JsonSchema)]
struct ScriptResultError {
    code: i64,
    message: String,
    /// Machine-readable kind of the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
}

impl Method for EvalScript {
    const NAME: &'static str = "evalscript";
    const FORM: Form = Form::Variadic;
    const EXAMPLE: &'static str = r#"["return _RPC.btc_getblockcount()"]"#;
    const ERRORS: &'static [ErrorCase] = &[LUA_NOT_ENABLED, BUSY];
    type Surface = ();
    type Answer = ScriptResult;

    async fn call(self, context: &RequestContext, (): &()) -> Result<ScriptResult, ApiError> {
        run(context, self.script, self.arguments).await
    }
}

async fn run(context: &RequestContext, source: String, arguments: Vec<RawParam>) -> Result<ScriptResult, ApiError> {
    let scripts = scripts(context)?;
    let arguments = arguments.into_iter().map(|argument| argument.0).collect();
    let script = Script { source, arguments, methods: callable(context.shared().surfaces().families) };
    let host = CallerHost(context);
    let _permit = permit(context, scripts).await?;
    let outcome = scripts.runner.run(&caller(context), script, &host).await.map_err(not_run)?;
    Ok(ScriptResult::new(outcome))
}

/// Saves a Lua script under the SHA-256 of its source.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct SaveScript {
    /// The source.
    script: String,
}

/// The key of the saved script.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SavedScript {
    /// SHA-256 of the source, 64 hexadecimal digits.
    hash: String,
}

impl Method for SaveScript {
    const NAME: &'static str = "savescript";
    const FORM: Form = Form::Positional;
    const EXAMPLE: &'static str = r#"["return args[1]"]"#;
    const ERRORS: &'static [ErrorCase] = &[LUA_NOT_ENABLED, BUSY, SCRIPTS_FULL];
    type Surface = ();
    type Answer = SavedScript;

    async fn call(self, context: &RequestContext, (): &()) -> Result<SavedScript, ApiError> {
        let (scripts, source) = (scripts(context)?, self.script);
        let _permit = permit(context, scripts).await?;
        let checked = scripts.runner.check(&caller(context), &source).await.map_err(not_run)?;
        if let Err(error) = checked {
            return Err(of_script(&error));
        }
        let settings = scripts.runner.settings();
        let limits = ScriptLimits { scripts_max: settings.saved_scripts_max, bytes_max: settings.saved_bytes_max };
        let hash: ScriptHash = sha256::Hash::hash(source.as_bytes()).to_byte_array();
        let saved = scripts.store.save_script(owner(context), hash, &source, limits).await;
        saved.map_err(|error| match error {
            AccessError::ScriptsFull => SCRIPTS_FULL.error(error.to_string()),
            error => ApiError::internal(&error),
        })?;
        Ok(SavedScript { hash: hash.to_lower_hex_string() })
    }
}

/// Runs a saved script.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct EvalSaved {
    /// SHA-256 of its source, with or without `0x`.
    hash: String,
    /// What the script finds in `args`, any number of parameters.
    #[serde(rename = "argument")]
    arguments: Vec<RawParam>,
}

impl Method for EvalSaved {
    const NAME: &'static str = "evalsaved";
    const FORM: Form = Form::Variadic;
    const EXAMPLE: &'static str = r#"["a49dc7a4d1aa3c4bf4d0e9a5d4f4e8b5a7c5b1c9b3f1a2e6d7c8b9a0f1e2d3c4",7]"#;
    const ERRORS: &'static [ErrorCase] = &[LUA_NOT_ENABLED, BUSY];
    type Surface = ();
    type Answer = ScriptResult;

    async fn call(self, context: &RequestContext, (): &()) -> Result<ScriptResult, ApiError> {
        let name = self.hash;
        let source = match ScriptHash::from_hex(name.strip_prefix("0x").unwrap_or(&name)) {
            Ok(hash) => scripts(context)?.store.find_script(hash).await.map_err(|error| ApiError::internal(&error))?,
            Err(_) => None,
        };
        let Some(source) = source else {
            let shown: String = name.chars().take(HASH_DIGITS_SHOWN).collect();
            let message = format!("Script not found for hash: {shown}...");
            let error = ScriptResultError { code: rpc_code::INVALID_PARAMS, data: None, message };
            return Ok(ScriptResult { calls: 0, returns: None, error: Some(error), runtime: 0 });
        };
        run(context, source, self.arguments).await
    }
}

impl ScriptResult {
    fn new(outcome: Outcome) -> Self {
        let (returns, error) = match outcome.returns {
            Ok(returns) => (Some(returns), None),
            Err(error) => {
                let error = of_script(&error);
                let data = error.data();
                let code = error.kind.rpc_code;
                (None, Some(ScriptResultError { code, data, message: error.message.into_owned() }))
            }
        };
        Self { calls: outcome.calls, returns, error, runtime: outcome.runtime_ms }
    }
}

/// The error of a script.
fn of_script(error: &ScriptError) -> ApiError {
    let message = error.to_string();
    match error {
        ScriptError::SourceTooLarge | ScriptError::Syntax(_) => ApiError::invalid(message),
        ScriptError::Exhausted(budget) => {
            let kind = ErrorKind { rpc_code: SCRIPT_FAILED, ..kind::BUDGET_EXCEEDED };
            ApiError::new(kind, message).with("budget", budget.name())
        }
        ScriptError::Raised(_) => {
            ApiError::new(ErrorKind::new("SCRIPT_FAILED", StatusCode::BAD_REQUEST).of_code(SCRIPT_FAILED), message)
        }
        ScriptError::Broken => {
            ApiError::new(ErrorKind::new("SCRIPT_BROKEN", StatusCode::INTERNAL_SERVER_ERROR), message)
        }
    }
}

fn not_run(error: NotRun) -> ApiError {
    match error {
        NotRun::Busy => BUSY.error("too many scripts are running; try again later"),
        NotRun::NoWorker => ApiError::internal(&error),
    }
}

/// The owner whose limits a saved script counts against.
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

/// Key by which permits are shared fairly among callers.
fn caller(context: &RequestContext) -> String {
    match (context.caller(), context.caller_id()) {
        (Caller::Key(record), _) => format!("account:{}", record.account.0),
        (_, CallerId::Client(client)) => format!("client:{client}"),
        (_, CallerId::Admin | CallerId::Account(_)) => "client".to_owned(),
    }
}

async fn permit(context: &RequestContext, scripts: &ScriptParts) -> Result<FairPermit, ApiError> {
    let wait = Duration::from_millis(scripts.runner.settings().wait_ms_max);
    let permit = tokio::time::timeout(wait, context.shared().script_runs.acquire(context.caller_id())).await;
    permit.ok().flatten().ok_or_else(|| not_run(NotRun::Busy))
}

/// Answers a script's calls as calls of its caller.
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
                Err(ApiError::panicked())
            });
            answer.map_err(|error| CallError { code: error.kind.rpc_code, message: error.message.into_owned() })
        })
    }
}
