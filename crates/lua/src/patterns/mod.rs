//! `find`, `match`, `gmatch` and `gsub`, on a matcher of our own.

mod class;
mod matcher;

use std::rc::Rc;

use memchr::memmem;
use mlua::{IntoLua as _, Lua, LuaString, MultiValue, Table, Value};

use crate::fault::{fail, raise, text_argument};
use crate::meter::Meter;
use matcher::{Capture, Matcher, PatternError};

/// Bytes with a special meaning in patterns.
const SPECIAL: &[u8] = b"^$*+?.([%-";

/// Puts the four primitives into `table`: `find`, `match`, and for the library's own loops `scan` and `replace`.
pub(crate) fn install(lua: &Lua, table: &Table, meter: &Rc<Meter>, bytes_max: usize) -> mlua::Result<()> {
    let own = Rc::clone(meter);
    table.set("find", lua.create_function(move |lua, arguments| find(lua, &own, &arguments))?)?;
    let own = Rc::clone(meter);
    table.set("match", lua.create_function(move |lua, arguments| match_once(lua, &own, &arguments))?)?;
    let own = Rc::clone(meter);
    table.set("scan", lua.create_function(move |lua, arguments| scan(lua, &own, arguments))?)?;
    let own = Rc::clone(meter);
    let replace = move |lua: &Lua, arguments| replace(lua, &own, bytes_max, arguments);
    table.set("replace", lua.create_function(replace)?)
}

/// Missing arguments count as `nil`.
fn argument(arguments: &MultiValue, index: usize) -> Value {
    arguments.get(index).cloned().unwrap_or(Value::Nil)
}

/// Where a search begins, from 0, for the optional third argument; `None` behind the end.
fn beginning(lua: &Lua, arguments: &MultiValue, name: &str, length: usize) -> mlua::Result<Option<usize>> {
    let from = match argument(arguments, 2) {
        Value::Nil => 1,
        value => match lua.coerce_integer(value)? {
            Some(from) => from,
            None => return Err(fail(lua, &format!("bad argument #3 to '{name}' (number expected)"))),
        },
    };
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let from = match from {
        1.. => from - 1,
        0 => 0,
        _ => length.saturating_add(from).max(0),
    };
    Ok(if from > length { None } else { usize::try_from(from).ok() })
}

fn find(lua: &Lua, meter: &Meter, arguments: &MultiValue) -> mlua::Result<MultiValue> {
    let text = text_argument(lua, arguments, 0, "find")?;
    let pattern = text_argument(lua, arguments, 1, "find")?;
    let (text_bytes, pattern_bytes) = (text.as_bytes(), pattern.as_bytes());
    let nothing = || MultiValue::from_vec(vec![Value::Nil]);
    let Some(from) = beginning(lua, arguments, "find", text_bytes.len())? else { return Ok(nothing()) };
    let plain = !matches!(argument(arguments, 3), Value::Nil | Value::Boolean(false));
    if plain || !pattern_bytes.iter().any(|byte| SPECIAL.contains(byte)) {
        meter.spend_bytes(text_bytes.len() - from + pattern_bytes.len()).map_err(raise)?;
        // Linear in all cases; the library's own search is not.
        let hit = memmem::find(&text_bytes[from..], &pattern_bytes);
        return Ok(hit.map_or_else(nothing, |at| {
            let first = from + at;
            MultiValue::from_vec(vec![lua_position(first), lua_end_position(first + pattern_bytes.len())])
        }));
    }
    let found = search(lua, meter, &text_bytes, &pattern_bytes, from)?;
    let Some((first, end, captures, own)) = found else { return Ok(nothing()) };
    let mut answer = vec![lua_position(first), lua_end_position(end)];
    if own {
        answer.extend(captures_of(lua, &text_bytes, &captures)?);
    }
    Ok(MultiValue::from_vec(answer))
}

fn match_once(lua: &Lua, meter: &Meter, arguments: &MultiValue) -> mlua::Result<MultiValue> {
    let text = text_argument(lua, arguments, 0, "match")?;
    let pattern = text_argument(lua, arguments, 1, "match")?;
    let (text, pattern) = (text.as_bytes(), pattern.as_bytes());
    let nothing = || MultiValue::from_vec(vec![Value::Nil]);
    let Some(from) = beginning(lua, arguments, "match", text.len())? else { return Ok(nothing()) };
    match search(lua, meter, &text, &pattern, from)? {
        Some((_, _, captures, _)) => Ok(MultiValue::from_vec(captures_of(lua, &text, &captures)?)),
        None => Ok(nothing()),
    }
}

/// A match: where it begins and ends, its captures, and whether the pattern has any of its own.
type PatternMatch = (usize, usize, Vec<Capture>, bool);

/// The first match from `from` on; `^` holds it there.
fn search(lua: &Lua, meter: &Meter, text: &[u8], pattern: &[u8], from: usize) -> mlua::Result<Option<PatternMatch>> {
    let (pattern, anchored) = pattern.strip_prefix(b"^").map_or((pattern, false), |rest| (rest, true));
    next_match(meter, text, pattern, (from, None, anchored), usize::MAX).map_err(|error| lua_error(lua, error))
}

/// The first match at or after `from` that does not end at `last`, with its first `most` captures.
fn next_match(
    meter: &Meter,
    text: &[u8],
    pattern: &[u8],
    (from, last, anchored): (usize, Option<usize>, bool),
    most: usize,
) -> Result<Option<PatternMatch>, PatternError> {
    let mut matcher = Matcher::new(text, pattern, meter);
    let starts = if anchored { from..=from } else { from..=text.len() };
    for first in starts {
        if let Some(end) = matcher.at(first)?.filter(|end| Some(*end) != last) {
            matcher.settle()?;
            return Ok(Some((first, end, matcher.captures(most, first, end)?, matcher.has_captures())));
        }
    }
    matcher.settle()?;
    Ok(None)
}

/// One step of the loops of `gmatch` and `gsub`: text, pattern, where to begin and where the last match ended (from 1; 0 for
/// none), whether `^` holds, whether the first capture is enough. Gives where the match begins, the position after it, and its
/// captures.
fn scan(
    lua: &Lua,
    meter: &Meter,
    (text, pattern, from, last, anchored, only_first): (LuaString, LuaString, usize, usize, bool, bool),
) -> mlua::Result<MultiValue> {
    let (text, pattern) = (text.as_bytes(), pattern.as_bytes());
    let pattern = if anchored { pattern.strip_prefix(b"^").unwrap_or(&pattern) } else { &pattern };
    let (from, last) = (from.saturating_sub(1), last.checked_sub(1));
    if from > text.len() {
        return Ok(MultiValue::new());
    }
    let found = next_match(meter, &text, pattern, (from, last, anchored), if only_first { 1 } else { usize::MAX });
    let found = found.map_err(|error| lua_error(lua, error))?;
    let Some((first, end, captures, _)) = found else { return Ok(MultiValue::new()) };
    let mut answer = vec![lua_position(first), lua_position(end)];
    answer.extend(captures_of(lua, &text, &captures)?);
    Ok(MultiValue::from_vec(answer))
}

/// `gsub` with a text: the new text and the number of replacements.
fn replace(
    lua: &Lua,
    meter: &Meter,
    bytes_max: usize,
    (text, pattern, replacement, most): (LuaString, LuaString, LuaString, i64),
) -> mlua::Result<(LuaString, i64)> {
    let (text, pattern, replacement) = (text.as_bytes(), pattern.as_bytes(), replacement.as_bytes());
    let to_error = |error| lua_error(lua, error);
    let (pattern, anchored) = pattern.strip_prefix(b"^").map_or((&*pattern, false), |rest| (rest, true));
    let mut matcher = Matcher::new(&text, pattern, meter);
    let mut out = Vec::new();
    let (mut at, mut last, mut count) = (0, None, 0);
    while count < most {
        match matcher.at(at).map_err(to_error)?.filter(|end| Some(*end) != last) {
            Some(end) => {
                count += 1;
                insert(&mut out, &replacement, &text, &matcher, (at, end)).map_err(to_error)?;
                meter.spend_bytes(replacement.len()).map_err(raise)?;
                (at, last) = (end, Some(end));
            }
            None if at < text.len() => {
                out.push(text[at]);
                at += 1;
            }
            None => break,
        }
        if out.len() > bytes_max {
            return Err(raise(meter.exhaust(crate::Budget::Memory)));
        }
        if anchored {
            break;
        }
    }
    matcher.settle().map_err(to_error)?;
    out.extend_from_slice(&text[at..]);
    meter.spend_bytes(out.len()).map_err(raise)?;
    Ok((lua.create_string(out)?, count))
}

/// Writes what stands for one match: `%0` is all of it, `%1` to `%9` its captures, `%%` a percent sign.
fn insert(
    out: &mut Vec<u8>,
    replacement: &[u8],
    text: &[u8],
    matcher: &Matcher<'_>,
    (first, end): (usize, usize),
) -> Result<(), PatternError> {
    let mut rest = replacement;
    while let Some(at) = memchr::memchr(b'%', rest) {
        out.extend_from_slice(&rest[..at]);
        match rest.get(at + 1) {
            Some(b'%') => out.push(b'%'),
            Some(b'0') => out.extend_from_slice(&text[first..end]),
            Some(digit @ b'1'..=b'9') => match matcher.capture(usize::from(digit - b'1'), first, end)? {
                Some(Capture::Bytes(from, length)) => out.extend_from_slice(&text[from..from + length]),
                Some(Capture::Position(at)) => out.extend_from_slice((at + 1).to_string().as_bytes()),
                None => return Err(PatternError::ReplacementIndex(digit - b'0')),
            },
            _ => return Err(PatternError::Malformed("invalid use of '%' in replacement string")),
        }
        rest = &rest[at + 2..];
    }
    out.extend_from_slice(rest);
    Ok(())
}

fn captures_of(lua: &Lua, text: &[u8], captures: &[Capture]) -> mlua::Result<Vec<Value>> {
    let value = |capture: &Capture| match *capture {
        Capture::Bytes(from, length) => lua.create_string(&text[from..from + length])?.into_lua(lua),
        Capture::Position(at) => Ok(lua_position(at)),
    };
    captures.iter().map(value).collect()
}

/// A position counted from 0, as Lua counts it.
fn lua_position(at: usize) -> Value {
    Value::Integer(i64::try_from(at + 1).unwrap_or(i64::MAX))
}

/// The last byte before a position counted from 0, as Lua counts it.
fn lua_end_position(at: usize) -> Value {
    Value::Integer(i64::try_from(at).unwrap_or(i64::MAX))
}

fn lua_error(lua: &Lua, error: PatternError) -> mlua::Error {
    match error {
        PatternError::Exhausted(exhausted) => raise(exhausted),
        error => fail(lua, &error.to_string()),
    }
}
