//! Lua to JSON. No metamethod of a value is run: the raw content of tables is written.

use std::collections::BTreeMap;
use std::ffi::c_void;

use mlua::{Table, Value};
use serde_json::value::RawValue;

use crate::LuaSettings;
use crate::exact::Exact;
use crate::fault::raise;
use crate::meter::Meter;

/// A list may have holes, written as `null`, as long as it is not mostly holes: so many for each value, and so many more.
const HOLES_PER_VALUE: usize = 1;
const HOLES_FREE: usize = 16;
/// A member beside its name, at least: quotes, a colon, a digit, a comma or the brace.
const MEMBER_BYTES_MIN: usize = 5;

/// Writes values one after the other: several as an array, or one alone.
pub(crate) fn write_values(
    settings: &LuaSettings,
    meter: &Meter,
    values: &[Value],
    is_array: bool,
) -> mlua::Result<Box<RawValue>> {
    let mut writer = Writer { settings, meter, out: String::new(), above: Vec::new() };
    if is_array {
        writer.push("[")?;
        for (index, value) in values.iter().enumerate() {
            if index > 0 {
                writer.push(",")?;
            }
            writer.value(value)?;
        }
        writer.push("]")?;
    } else {
        writer.value(values.first().unwrap_or(&Value::Nil))?;
    }
    RawValue::from_string(writer.out).map_err(|_| refused("a value has no form in JSON"))
}

struct Writer<'a> {
    settings: &'a LuaSettings,
    meter: &'a Meter,
    out: String,
    /// The tables around the value that is being written.
    above: Vec<*const c_void>,
}

impl Writer<'_> {
    fn push(&mut self, text: &str) -> mlua::Result<()> {
        if self.out.len() + text.len() > self.settings.result_bytes_max {
            return Err(self.too_long());
        }
        self.out.push_str(text);
        Ok(())
    }

    fn too_long(&self) -> mlua::Error {
        refused(&format!("more than {} bytes of JSON", self.settings.result_bytes_max))
    }

    fn value(&mut self, value: &Value) -> mlua::Result<()> {
        self.meter.spend(1).map_err(raise)?;
        match value {
            Value::Nil => self.push("null"),
            Value::Boolean(true) => self.push("true"),
            Value::Boolean(false) => self.push("false"),
            Value::Integer(integer) => self.push(&integer.to_string()),
            // JSON has neither infinities nor NaN.
            Value::Number(float) if !float.is_finite() => self.push("null"),
            Value::Number(float) => self.push(&serde_json::json!(float).to_string()),
            Value::String(text) => {
                self.meter.spend_bytes(text.as_bytes().len()).map_err(raise)?;
                let text = text.to_str().map_err(|_| refused("a string is not UTF-8 and has no form in JSON"))?;
                self.text(&text)
            }
            Value::Table(table) => self.table(table),
            Value::UserData(data) => {
                let exact = data.borrow::<Exact>().map_err(|_| refused("a userdata has no form in JSON"))?;
                self.push(exact.digits())
            }
            other => Err(refused(&format!("a {} has no form in JSON", other.type_name()))),
        }
    }

    fn text(&mut self, text: &str) -> mlua::Result<()> {
        // Escapes make it longer; what is too long as it stands need not be written first.
        if text.len() > self.settings.result_bytes_max {
            return self.push(text);
        }
        let written = serde_json::to_string(text).map_err(|_| refused("a string has no form in JSON"))?;
        self.push(&written)
    }

    fn table(&mut self, table: &Table) -> mlua::Result<()> {
        let pointer = table.to_pointer();
        if self.above.contains(&pointer) {
            return Err(refused("a table that holds itself has no form in JSON"));
        }
        if self.above.len() >= self.settings.depth_max {
            return Err(refused(&format!("tables nested deeper than {}", self.settings.depth_max)));
        }
        self.above.push(pointer);
        match self.list_length(table)? {
            Some(length) => self.list(table, length)?,
            None => self.object(table)?,
        }
        self.above.pop();
        Ok(())
    }

    /// The length of a table that is a list: its keys are the integers from 1 on. An empty table is none: it becomes `{}`.
    fn list_length(&self, table: &Table) -> mlua::Result<Option<usize>> {
        let length = table.raw_len();
        if length == 0 {
            return Ok(None);
        }
        let mut count = 0;
        for pair in table.pairs::<Value, Value>() {
            self.meter.spend(1).map_err(raise)?;
            let (Value::Integer(key), _) = pair? else { return Ok(None) };
            if !usize::try_from(key).is_ok_and(|key| (1..=length).contains(&key)) {
                return Ok(None);
            }
            count += 1;
        }
        let holes = length - count;
        Ok((holes <= count * HOLES_PER_VALUE + HOLES_FREE).then_some(length))
    }

    fn list(&mut self, table: &Table, length: usize) -> mlua::Result<()> {
        self.push("[")?;
        for index in 1..=length {
            if index > 1 {
                self.push(",")?;
            }
            self.value(&table.raw_get(index)?)?;
        }
        self.push("]")
    }

    /// Members in the order of their names, so that the same table gives the same text.
    fn object(&mut self, table: &Table) -> mlua::Result<()> {
        let mut members = BTreeMap::new();
        let mut bytes = 0;
        for pair in table.pairs::<Value, Value>() {
            self.meter.spend(1).map_err(raise)?;
            let (key, value) = pair?;
            let name = match key {
                Value::String(name) => {
                    self.meter.spend_bytes(name.as_bytes().len()).map_err(raise)?;
                    let name = name.to_str().map_err(|_| refused("a key is not UTF-8 and has no form in JSON"))?;
                    name.to_owned()
                }
                Value::Integer(number) => number.to_string(),
                Value::Number(number) => number.to_string(),
                other => return Err(refused(&format!("a key of type {} has no form in JSON", other.type_name()))),
            };
            // Every member is held until all are in order, so they are counted before they are written.
            bytes += name.len() + MEMBER_BYTES_MIN;
            if self.out.len() + bytes > self.settings.result_bytes_max + 1 {
                return Err(self.too_long());
            }
            members.insert(name, value);
        }
        self.push("{")?;
        for (index, (name, value)) in members.into_iter().enumerate() {
            if index > 0 {
                self.push(",")?;
            }
            self.text(&name)?;
            self.push(":")?;
            self.value(&value)?;
        }
        self.push("}")
    }
}

fn refused(words: &str) -> mlua::Error {
    mlua::Error::runtime(words)
}
