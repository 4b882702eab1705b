//! Attacks on the sandbox, each a test that names it. All run on a thread of the test itself: what these show is that the
//! machine ends by its own budgets. That a process is ended where it does not is shown with the built program.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

mod bounds;
mod escapes;
mod loops;
mod results;
mod rpc;
mod texts;

use std::time::{Duration, Instant};

use paraffin_lua::{Budget, CallError, Calls, LuaSettings, Script, ScriptError, run};
use serde_json::value::RawValue;

/// Answers `echo` with its parameters, `fail` with an error, `one` with 1, and everything else with `null`.
pub(crate) struct Echo;

impl Calls for Echo {
    fn call(&mut self, method: &str, params: Box<RawValue>) -> Result<Box<RawValue>, CallError> {
        match method {
            "test_echo" => Ok(params),
            "test_fail" => Err(CallError { code: -5, message: "Block not found".to_owned() }),
            "test_one" => Ok(RawValue::from_string("1".to_owned()).unwrap()),
            _ => Ok(RawValue::NULL.to_owned()),
        }
    }
}

/// Budgets with which every attack ends soon, also in a build without optimisation.
pub(crate) fn small() -> LuaSettings {
    LuaSettings { instructions_max: 2_000_000, time_ms_max: 3_000, memory_bytes_max: 8 << 20, ..LuaSettings::default() }
}

pub(crate) fn with(settings: &LuaSettings, source: &str) -> Result<String, ScriptError> {
    let methods = ["test_echo", "test_fail", "test_one", "esplora_address::utxo", "admin_createApiKey"];
    let script =
        Script { source: source.to_owned(), arguments: Vec::new(), methods: methods.map(ToOwned::to_owned).to_vec() };
    run(settings, &script, Box::new(Echo)).map(|result| result.get().to_owned())
}

/// The result of a script as JSON.
#[track_caller]
pub(crate) fn result(source: &str) -> String {
    with(&small(), source).unwrap_or_else(|error| panic!("{source}: {error}"))
}

/// What a script raises.
#[track_caller]
pub(crate) fn raised(source: &str) -> String {
    match with(&small(), source) {
        Err(ScriptError::Raised(words)) => words,
        other => panic!("{source}: {other:?}"),
    }
}

/// A script that has to end by a budget, and soon.
#[track_caller]
pub(crate) fn exhausts(source: &str) -> Budget {
    let started = Instant::now();
    let outcome = with(&small(), source);
    assert!(started.elapsed() < Duration::from_secs(20), "{source}: {:?}", started.elapsed());
    match outcome {
        Err(ScriptError::Exhausted(budget)) => budget,
        other => panic!("{source}: {other:?}"),
    }
}

/// Ends by the count of instructions, however fast the machine is.
#[track_caller]
pub(crate) fn exhausts_instructions(source: &str) {
    let settings = LuaSettings { time_ms_max: 600_000, ..small() };
    assert_eq!(with(&settings, source), Err(ScriptError::Exhausted(Budget::Instructions)), "{source}");
}
