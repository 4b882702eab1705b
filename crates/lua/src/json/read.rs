//! JSON to Lua: arrays become lists from 1, objects tables by name, `null` becomes nil, numbers keep their value.

use std::fmt;

use mlua::{IntoLua as _, Lua, Value};
use serde::Deserializer as _;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::exact::Exact;
use crate::fault::raise;
use crate::meter::Meter;

/// Turns one value; nothing but the value of Lua is held, however large the text.
pub(crate) fn read(lua: &Lua, meter: &Meter, raw: &RawValue, depth_left: usize) -> mlua::Result<Value> {
    let text = raw.get();
    match text.as_bytes().first() {
        Some(b'"') => {
            meter.spend_bytes(text.len()).map_err(raise)?;
            let text: String = serde_json::from_str(text).map_err(|_| unreadable())?;
            lua.create_string(text)?.into_lua(lua)
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(text).map_err(|_| unreadable())?;
            let depth_left = deeper(meter, text, depth_left)?;
            let list = lua.create_table_with_capacity(items.len(), 0)?;
            for (index, item) in items.into_iter().enumerate() {
                list.raw_set(index + 1, read(lua, meter, item, depth_left)?)?;
            }
            Ok(Value::Table(list))
        }
        Some(b'{') => {
            let mut deserializer = serde_json::Deserializer::from_str(text);
            let members = deserializer.deserialize_map(Members).map_err(|_| unreadable())?;
            let depth_left = deeper(meter, text, depth_left)?;
            let table = lua.create_table_with_capacity(0, members.len())?;
            for (name, member) in members {
                table.raw_set(name, read(lua, meter, member, depth_left)?)?;
            }
            Ok(Value::Table(table))
        }
        Some(b't') => Ok(Value::Boolean(true)),
        Some(b'f') => Ok(Value::Boolean(false)),
        Some(b'n') => Ok(Value::Nil),
        _ => number(lua, text),
    }
}

/// Every level reads the text of the levels below it once more.
fn deeper(meter: &Meter, text: &str, depth_left: usize) -> mlua::Result<usize> {
    meter.spend_bytes(text.len()).map_err(raise)?;
    depth_left.checked_sub(1).ok_or_else(|| mlua::Error::runtime("JSON is nested too deep"))
}

/// 64-bit integers as such, larger ones by their digits, all others as floats.
fn number(lua: &Lua, text: &str) -> mlua::Result<Value> {
    if let Ok(integer) = text.parse::<i64>() {
        return Ok(Value::Integer(integer));
    }
    match Exact::read(text) {
        Some(exact) => exact.into_lua(lua),
        None => text.parse::<f64>().map(Value::Number).map_err(|_| unreadable()),
    }
}

fn unreadable() -> mlua::Error {
    mlua::Error::runtime("JSON holds a text that is not Unicode")
}

/// The members of one object, in their order.
struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(members)
    }
}
