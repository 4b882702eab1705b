//! Errors between the script and our functions.

use mlua::{Error, Lua, LuaString, MultiValue, Value};

use crate::Budget;
use crate::meter::{Exhausted, Meter};
use crate::outcome::ScriptError;

/// Name of the chunk that builds the environment of scripts; error messages never give its lines.
pub(crate) const LIBRARY_CHUNK: &str = "library";
/// Most stack levels that are searched for the location of an error.
const LEVELS_MAX: usize = 8;
/// Longest error text of a script that a caller gets, in bytes.
const MESSAGE_BYTES_MAX: usize = 4096;
/// Lua's own message when the allocator refuses.
const OUT_OF_MEMORY: &str = "not enough memory";

/// Ends the script: no `pcall` stops it.
pub(crate) fn raise(exhausted: Exhausted) -> Error {
    Error::external(exhausted)
}

/// An error that the script may catch, with the location in the script that called.
pub(crate) fn fail(lua: &Lua, message: &str) -> Error {
    Error::runtime(script_location(lua).unwrap_or_default() + message)
}

/// `script:7: `, the innermost location on the stack that is not inside of the library.
pub(crate) fn script_location(lua: &Lua) -> Option<String> {
    (1..=LEVELS_MAX).find_map(|level| {
        let location = lua.inspect_stack(level, |debug| {
            let source = debug.source().short_src.map(std::borrow::Cow::into_owned)?;
            let line = debug.current_line().filter(|_| source != LIBRARY_CHUNK)?;
            Some(format!("{source}:{line}: "))
        });
        location.flatten()
    })
}

/// A text argument; a number is taken as its digits, as the library does.
pub(crate) fn text_argument(lua: &Lua, arguments: &MultiValue, index: usize, name: &str) -> mlua::Result<LuaString> {
    let value = arguments.get(index).cloned().unwrap_or(Value::Nil);
    let kind = value.type_name();
    match value {
        Value::String(text) => Ok(text),
        value @ (Value::Integer(_) | Value::Number(_)) => {
            lua.coerce_string(value)?.ok_or_else(|| Error::MemoryError(OUT_OF_MEMORY.to_owned()))
        }
        _ => Err(fail(lua, &format!("bad argument #{} to '{name}' (string expected, got {kind})", index + 1))),
    }
}

/// The root cause of an error that passed through our functions.
fn root(error: &Error) -> &Error {
    match error {
        Error::CallbackError { cause, .. } | Error::WithContext { cause, .. } => root(cause),
        error => error,
    }
}

/// The exhausted budget that a raised value stands for.
pub(crate) fn exhausted_by(meter: &Meter, raised: &Value) -> Option<Exhausted> {
    if let Some(exhausted) = meter.exhausted() {
        return Some(exhausted);
    }
    let is_memory = match raised {
        Value::Error(error) => matches!(root(error), Error::MemoryError(_)),
        Value::String(text) => text.as_bytes() == OUT_OF_MEMORY.as_bytes(),
        _ => false,
    };
    is_memory.then(|| meter.exhaust(Budget::Memory))
}

/// The message of an error of ours, without the stack trace.
pub(crate) fn words(error: &Error) -> String {
    let words = match root(error) {
        Error::RuntimeError(words) => words.clone(),
        Error::SyntaxError { message, .. } => message.clone(),
        Error::BadArgument { cause, .. } => words(cause),
        other => other.to_string(),
    };
    let words = words.split_once("\nstack traceback:").map_or(words.as_str(), |(words, _)| words);
    shortened(words)
}

/// The error that the caller gets for a value that nothing in the script caught. No method of the value is run.
pub(crate) fn uncaught(meter: &Meter, raised: &Value) -> ScriptError {
    if let Some(Exhausted(budget)) = exhausted_by(meter, raised) {
        return ScriptError::Exhausted(budget);
    }
    ScriptError::Raised(match raised {
        Value::String(text) => shortened(&String::from_utf8_lossy(&text.as_bytes())),
        Value::Error(error) => words(error),
        Value::Integer(number) => number.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Table(table) => match table.raw_get::<Value>("message") {
            Ok(Value::String(text)) => shortened(&String::from_utf8_lossy(&text.as_bytes())),
            _ => "(error object is a table value)".to_owned(),
        },
        other => format!("(error object is a {} value)", other.type_name()),
    })
}

fn shortened(words: &str) -> String {
    let mut end = words.len().min(MESSAGE_BYTES_MAX);
    while !words.is_char_boundary(end) {
        end -= 1;
    }
    words[..end].to_owned()
}
