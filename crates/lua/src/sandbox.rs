//! One script in a Lua state of its own, from its source to its result.

use std::rc::Rc;

use mlua::chunk::ChunkMode;
use mlua::{Function, HookTriggers, Lua, LuaOptions, MultiValue, StdLib, Table, Value, VmState};
use serde_json::value::RawValue;

use crate::fault::{LIBRARY_CHUNK, exhausted_by, fail, raise, script_location, uncaught, words};
use crate::meter::{INSTRUCTIONS_PER_LOOK, Meter};
use crate::outcome::ScriptError;
use crate::{LuaSettings, json, names, patterns};

const LIBRARY: &str = include_str!("library.lua");
/// Name of the script in messages.
const SCRIPT_CHUNK: &str = "=script";

/// Answers the calls of a script's `_RPC`, while the script waits.
pub trait Calls {
    /// Runs one method with an array of parameters.
    ///
    /// # Errors
    /// Code and message, which the script gets as an error.
    fn call(&mut self, method: &str, params: Box<RawValue>) -> Result<Box<RawValue>, CallError>;
}

/// A call of `_RPC` that failed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CallError {
    /// The code of JSON-RPC.
    pub code: i64,
    /// The message for the caller.
    pub message: String,
}

/// A script and its environment.
#[derive(Debug, Clone)]
pub struct Script {
    /// Its text.
    pub source: String,
    /// The values of `args`, from index 1 on.
    pub arguments: Vec<Box<RawValue>>,
    /// The methods in `_RPC`, by their real names.
    pub methods: Vec<String>,
}

/// Runs a script on this thread until it ends or a budget is used up; gives its result as JSON.
///
/// Most of what a script can do is interrupted at its budget. What remains stuck inside the library's C code is ended from
/// outside, by [`crate::Workers`].
///
/// # Errors
/// What the script did not catch, or the budget that it used up.
pub fn run(settings: &LuaSettings, script: &Script, calls: Box<dyn Calls>) -> Result<Box<RawValue>, ScriptError> {
    if script.source.len() > settings.source_bytes_max {
        return Err(ScriptError::SourceTooLarge);
    }
    let meter = Rc::new(Meter::start(settings));
    // What fails outside of the script's own protected call is our part of the work: its arguments, its result.
    let to_error = |error: mlua::Error| uncaught(&meter, &Value::Error(Box::new(error)));
    let sandbox = Sandbox::new(settings, &meter).map_err(to_error)?;
    let chunk = sandbox.load(&script.source)?;
    sandbox.fill(settings, &meter, script, calls).map_err(to_error)?;
    let mut ended = sandbox.protected.call::<MultiValue>(chunk).map_err(to_error)?;
    let ok = ended.pop_front();
    let value = ended.pop_front().unwrap_or(Value::Nil);
    if ok != Some(Value::Boolean(true)) || meter.exhausted().is_some() {
        return Err(uncaught(&meter, &value));
    }
    json::write_values(settings, &meter, &[value], false).map_err(to_error)
}

/// Whether a source is Lua.
///
/// # Errors
/// [`ScriptError::SourceTooLarge`], [`ScriptError::Syntax`] with the location, [`ScriptError::Exhausted`] for memory.
pub fn check(settings: &LuaSettings, source: &str) -> Result<(), ScriptError> {
    if source.len() > settings.source_bytes_max {
        return Err(ScriptError::SourceTooLarge);
    }
    let meter = Rc::new(Meter::start(settings));
    let to_error = |error: mlua::Error| uncaught(&meter, &Value::Error(Box::new(error)));
    Sandbox::new(settings, &meter).map_err(to_error)?.load(source).map(drop)
}

struct Sandbox {
    lua: Lua,
    /// The globals of the script.
    env: Table,
    /// Runs a function and returns what it raises unchanged.
    protected: Function,
}

impl Sandbox {
    fn new(settings: &LuaSettings, meter: &Rc<Meter>) -> mlua::Result<Self> {
        let libraries = StdLib::TABLE | StdLib::STRING | StdLib::MATH | StdLib::UTF8;
        // With `catch_rust_panics` Lua's own `pcall` and `xpcall` stay. The others are not to be used here: mlua 0.12's `xpcall`
        // writes beyond its part of the stack when nested calls have used it up.
        let lua = Lua::new_with(libraries, LuaOptions::new().catch_rust_panics(true))?;
        lua.set_memory_limit(settings.memory_bytes_max)?;
        let own = primitives(&lua, settings, meter)?;
        let library = lua.load(LIBRARY).set_name(format!("={LIBRARY_CHUNK}")).set_mode(ChunkMode::Text);
        let (env, protected) = library.call(own)?;
        let hooked = Rc::clone(meter);
        lua.set_global_hook(HookTriggers::new().every_nth_instruction(INSTRUCTIONS_PER_LOOK), move |_, _| {
            hooked.spend(INSTRUCTIONS_PER_LOOK.into()).map_err(raise)?;
            Ok(VmState::Continue)
        })?;
        Ok(Self { lua, env, protected })
    }

    fn load(&self, source: &str) -> Result<Function, ScriptError> {
        let chunk = self.lua.load(source).set_name(SCRIPT_CHUNK).set_mode(ChunkMode::Text);
        chunk.set_environment(self.env.clone()).into_function().map_err(|error| match error {
            mlua::Error::MemoryError(_) => ScriptError::Exhausted(crate::Budget::Memory),
            error => ScriptError::Syntax(words(&error)),
        })
    }

    /// Sets `args` and `_RPC`.
    fn fill(
        &self,
        settings: &LuaSettings,
        meter: &Rc<Meter>,
        script: &Script,
        calls: Box<dyn Calls>,
    ) -> mlua::Result<()> {
        let arguments = self.lua.create_table_with_capacity(script.arguments.len(), 0)?;
        for (index, argument) in script.arguments.iter().enumerate() {
            arguments.raw_set(index + 1, json::read(&self.lua, meter, argument, settings.depth_max)?)?;
        }
        self.env.raw_set("args", arguments)?;
        let rpc = self.lua.create_table()?;
        let calls = Rc::new(std::cell::RefCell::new(calls));
        let methods = script.methods.iter().filter(|method| names::is_callable(method));
        for method in methods {
            let (settings, meter, calls) = (settings.clone(), Rc::clone(meter), Rc::clone(&calls));
            let name = method.clone();
            let function = self.lua.create_function(move |lua, arguments: MultiValue| {
                meter.spend_call().map_err(raise)?;
                let arguments: Vec<Value> = arguments.into_iter().collect();
                let params = json::write_values(&settings, &meter, &arguments, true)
                    .map_err(|error| spoken(lua, &meter, error, &format!("parameters of {name}: ")))?;
                drop(arguments);
                let answer = calls.borrow_mut().call(&name, params);
                // The time may have run out meanwhile.
                meter.spend(1).map_err(raise)?;
                match answer {
                    Ok(answer) => json::read(lua, &meter, &answer, settings.depth_max)
                        .map_err(|error| spoken(lua, &meter, error, &format!("answer of {name}: "))),
                    Err(CallError { code, message }) => {
                        // Without a location, as scripts expect it.
                        Err(mlua::Error::runtime(format!("RPC error {code}: {message}")))
                    }
                }
            })?;
            let spelled = names::lua_spelling(method);
            if spelled != *method {
                rpc.raw_set(spelled, function.clone())?;
            }
            rpc.raw_set(method.as_str(), function)?;
        }
        self.env.raw_set("_RPC", rpc)
    }
}

/// An error of the conversion between JSON and Lua, with what was converted and the location; an exhausted budget stays one.
fn spoken(lua: &Lua, meter: &Meter, error: mlua::Error, what: &str) -> mlua::Error {
    let error = Value::Error(Box::new(error));
    if let Some(exhausted) = exhausted_by(meter, &error) {
        return raise(exhausted);
    }
    match error {
        Value::Error(error) => fail(lua, &format!("{what}{}", words(&error))),
        _ => fail(lua, what),
    }
}

/// Replaces a location inside of the library in an error text by that of the calling script. To be run where
/// the error was raised.
fn placed(lua: &Lua, raised: &Value) -> Option<mlua::Result<mlua::LuaString>> {
    let text = raised.as_string()?.as_bytes();
    let after_chunk = text.strip_prefix(LIBRARY_CHUNK.as_bytes())?.strip_prefix(b":")?;
    let line = after_chunk.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let words = after_chunk[line..].strip_prefix(b": ")?;
    let mut whole = script_location(lua).unwrap_or_default().into_bytes();
    whole.extend_from_slice(words);
    Some(lua.create_string(whole))
}

/// The primitives on which the library is built.
fn primitives(lua: &Lua, settings: &LuaSettings, meter: &Rc<Meter>) -> mlua::Result<Table> {
    let own = lua.create_table()?;
    own.set("source_bytes_max", settings.source_bytes_max)?;
    patterns::install(lua, &own, meter, settings.memory_bytes_max)?;
    let counted = Rc::clone(meter);
    // Casts saturate: anything above the budget has the same effect.
    #[allow(clippy::cast_sign_loss)]
    let spend = move |_: &Lua, instructions: f64| counted.spend(instructions.max(0.0) as u64).map_err(raise);
    own.set("spend", lua.create_function(spend)?)?;
    let counted = Rc::clone(meter);
    let weigh = move |_: &Lua, values: MultiValue| {
        let size = |value: &Value| value.as_string().map_or(0, |text| text.as_bytes().len());
        counted.spend_bytes(values.iter().map(size).sum()).map_err(raise)
    };
    own.set("weigh", lua.create_function(weigh)?)?;
    let counted = Rc::clone(meter);
    let caught = move |lua: &Lua, raised: Value| match exhausted_by(&counted, &raised) {
        Some(exhausted) => Err(raise(exhausted)),
        None => match raised {
            // What our own functions raise comes as a text, as everything that Lua's own raise.
            Value::Error(error) => Ok(Value::String(lua.create_string(words(&error))?)),
            other => Ok(other),
        },
    };
    own.set("caught", lua.create_function(caught)?)?;
    let placed = |lua: &Lua, raised: Value| placed(lua, &raised).map_or(Ok(raised), |text| text.map(Value::String));
    own.set("placed", lua.create_function(placed)?)?;
    let counted = Rc::clone(meter);
    let is_over = move |_: &Lua, raised: Value| Ok(exhausted_by(&counted, &raised).is_some());
    own.set("is_over", lua.create_function(is_over)?)?;
    Ok(own)
}
