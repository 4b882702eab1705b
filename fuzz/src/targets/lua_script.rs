//! Any text as a script, with any JSON as its arguments: it ends within tiny budgets, whatever it does, and what it gives is
//! JSON of a bounded length. The bytes are cut at zero bytes: the source, then arguments.

use paraffin_lua::{CallError, Calls, LuaSettings, Script, ScriptError, check};
use serde_json::value::RawValue;

const METHODS: [&str; 2] = ["btc_getblockcount", "esplora_address::utxo"];

/// Gives back what it is asked, and an error now and then.
struct Echo(u32);

impl Calls for Echo {
    fn call(&mut self, method: &str, params: Box<RawValue>) -> Result<Box<RawValue>, CallError> {
        assert!(METHODS.contains(&method), "{method}");
        self.0 += 1;
        if self.0.is_multiple_of(3) { Err(CallError { code: -5, message: "no".to_owned() }) } else { Ok(params) }
    }
}

fn settings() -> LuaSettings {
    LuaSettings {
        instructions_max: 20_000,
        time_ms_max: 1_000,
        memory_bytes_max: 1 << 20,
        rpc_calls_max: 10,
        source_bytes_max: 4 << 10,
        result_bytes_max: 16 << 10,
        ..LuaSettings::default()
    }
}

pub(crate) fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let mut parts = text.split('\0');
    let source = parts.next().unwrap_or_default().to_owned();
    let arguments = parts.take(4).filter_map(|part| RawValue::from_string(part.to_owned()).ok()).collect();
    let settings = settings();
    let checked = check(&settings, &source);
    let script = Script { source, arguments, methods: METHODS.map(str::to_owned).to_vec() };
    match paraffin_lua::run(&settings, &script, Box::new(Echo(0))) {
        Ok(result) => {
            assert!(checked.is_ok(), "what runs is Lua");
            assert!(result.get().len() <= settings.result_bytes_max);
            serde_json::from_str::<serde::de::IgnoredAny>(result.get()).expect("a result is JSON");
        }
        Err(ScriptError::Syntax(_)) => assert!(checked.is_err(), "what does not load is no Lua"),
        Err(error) => assert_ne!(error, ScriptError::Broken),
    }
}
