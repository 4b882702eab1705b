//! Properties: every program ends within its budgets; and our patterns mean what Lua's own mean.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

use std::time::{Duration, Instant};

use mlua::{Lua, LuaOptions, StdLib};
use paraffin_lua::{CallError, Calls, LuaSettings, Script, run};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::value::{RawValue, to_raw_value};

struct Echo;

impl Calls for Echo {
    fn call(&mut self, _: &str, params: Box<RawValue>) -> Result<Box<RawValue>, CallError> {
        Ok(params)
    }
}

fn tiny() -> LuaSettings {
    LuaSettings { instructions_max: 50_000, time_ms_max: 2_000, memory_bytes_max: 2 << 20, ..LuaSettings::default() }
}

/// Expressions of every kind, the hostile ones as often as the others.
fn expression() -> impl Strategy<Value = String> {
    let leaf = select(vec![
        "nil",
        "true",
        "1",
        "-1",
        "0.5",
        "1 << 62",
        "math.huge",
        "0/0",
        "math.mininteger",
        "''",
        "'x'",
        "'%a*'",
        "('x'):rep(999)",
        "{}",
        "{1, 2, 3}",
        "x",
        "y",
        "_G",
        "_ENV",
        "_RPC",
        "args",
        "string",
        "table",
        "pcall",
        "error",
        "print",
        "next",
        "rawlen",
        "load",
        "setmetatable",
        "function(...) return ... end",
        "function() while true do end end",
        "function() return x end",
    ]);
    leaf.prop_map(ToOwned::to_owned).prop_recursive(4, 40, 3, |inner| {
        let unary = (
            select(vec![
                "#%",
                "-%",
                "not %",
                "{%}",
                "{x = %}",
                "tostring(%)",
                "pcall(%)",
                "load(%)",
                "table.unpack(%)",
                "table.concat(%)",
                "table.sort(%)",
                "string.byte(%, 1, -1)",
                "(%)()",
                "select('#', %)",
                "_RPC.test_echo(%)",
                "utf8.len(%)",
                "string.upper(%)",
                "function() return % end",
                "setmetatable({}, {__index = %})",
                "setmetatable({}, {__call = %, __len = %, __eq = %, __lt = %, __concat = %, __close = %})",
                "string.pack('s', %)",
                "tonumber(%)",
                "getmetatable(%)",
                "rawequal(%, x)",
            ]),
            inner.clone(),
        );
        let unary = unary.prop_map(|(form, one)| form.replace('%', &format!("({one})")));
        let binary = (
            select(vec![
                "@ .. %",
                "@ + %",
                "@ < %",
                "@ == %",
                "@ // %",
                "(@)[%]",
                "(@)(%)",
                "string.rep(@, %)",
                "string.find(@, %)",
                "string.gsub(@, '.', %)",
                "string.gsub('xyx', @, %)",
                "xpcall(@, %)",
                "pcall(@, %)",
                "table.insert(@, %)",
                "table.remove(@, %)",
                "table.sort(@, %)",
                "table.move(@, 1, %, 2)",
                "setmetatable(@, %)",
                "string.format(@, %)",
                "load(@, 'c', 't', %)",
                "rawset(@, 'k', %)",
                "string.match(@, %)",
                "select(@, %)",
                "table.concat(@, %)",
                "utf8.codepoint(@, 1, %)",
                "math.random(@, %)",
            ]),
            inner.clone(),
            inner,
        );
        let binary = binary
            .prop_map(|(form, one, other)| form.replace('@', &format!("({one})")).replace('%', &format!("({other})")));
        prop_oneof![unary, binary]
    })
}

/// Statements, in protected calls as often as not.
fn program() -> impl Strategy<Value = String> {
    let statement = (
        select(vec![
            "local x = %",
            "y = %",
            "x = %",
            "local _ = %",
            "pcall(function() x = % end)",
            "while % do x = @ end",
            "for _ = 1, 10 do x = % end",
            "repeat x = @ until %",
            "if % then y = @ end",
            "for k, v in pairs(%) do x = v end",
            "pcall(function() error(%) end)",
            "local _ = pcall(function() local z <close> = setmetatable({}, {__close = %}) x = @ end)",
            "pcall(function() for a in % do y = a end end)",
            "pcall(function() (%)(@) end)",
            "xpcall(function() return % end, function() return @ end)",
            "pcall(function() x[%] = @ end)",
            "for a in ('abc'):gmatch('.') do pcall(function() x = % end) end",
        ]),
        expression(),
        expression(),
    );
    let statement = statement
        .prop_map(|(form, one, other)| form.replace('%', &format!("({one})")).replace('@', &format!("({other})")));
    (prop::collection::vec(statement, 1..6), expression())
        .prop_map(|(statements, result)| format!("{}\nreturn {result}", statements.join("\n")))
}

/// Calls a function of `string` and returns all that it gave as one text; of an error only that there was one.
const TELL: &str = "local function tell(...)
    local told = {}
    for index = 1, select('#', ...) do told[index] = tostring((select(index, ...))) end
    return (...) and table.concat(told, '|') or 'raised'
  end
  local name, text, pattern, third = args[1], args[2], args[3], args[4]
  if name == 'gmatch' then
    return tell(pcall(function()
      local all = {}
      for a, b in text:gmatch(pattern, third) do all[#all + 1] = tostring(a) .. ':' .. tostring(b) end
      return table.concat(all, ';')
    end))
  end
  if third == 'function' then third = function(a, b) return b and b .. a end end
  if third == 'table' then third = {a = 'A', b = false, ['1'] = 1} end
  return tell(pcall(string[name], text, pattern, third))";

fn by_lua_itself(lua: &Lua, arguments: &[serde_json::Value]) -> String {
    let args = lua.create_table().unwrap();
    for (index, argument) in arguments.iter().enumerate() {
        match argument {
            serde_json::Value::String(text) => args.set(index + 1, text.as_str()).unwrap(),
            serde_json::Value::Number(number) => args.set(index + 1, number.as_i64().unwrap()).unwrap(),
            _ => {}
        }
    }
    lua.globals().set("args", args).unwrap();
    lua.load(TELL).eval().unwrap()
}

fn by_us(arguments: &[serde_json::Value]) -> String {
    let arguments = arguments.iter().map(|argument| to_raw_value(argument).unwrap()).collect();
    let script = Script { source: TELL.to_owned(), arguments, methods: Vec::new() };
    let settings = LuaSettings { time_ms_max: 60_000, ..LuaSettings::default() };
    serde_json::from_str(run(&settings, &script, Box::new(Echo)).unwrap().get()).unwrap()
}

fn pattern() -> impl Strategy<Value = String> {
    let piece = select(vec![
        "a", "b", ".", "%a", "%d", "%W", "[ab]", "[^a]", "[a-c1]", "[%a-]", "[]]", "[^]b]", "*", "+", "-", "?", "(",
        ")", "()", "(a)", "(.-)", "%1", "%2", "%b()", "%bab", "%f[a]", "%f[%A]", "$", "^", "%%", "%", "[", "]", "%.",
        "1",
    ]);
    prop::collection::vec(piece, 0..7).prop_map(|pieces| pieces.concat())
}

fn third() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::json;
    select(vec![
        json!(null),
        json!(0),
        json!(1),
        json!(3),
        json!(-2),
        json!(99),
        json!(-99),
        json!("x"),
        json!("<%0>"),
        json!("%1%%"),
        json!("%2"),
        json!("%"),
        json!(""),
        json!("function"),
        json!("table"),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_program_ends_within_its_budgets(source in program()) {
        let started = Instant::now();
        let methods = vec!["test_echo".to_owned()];
        let script = Script { source: source.clone(), arguments: Vec::new(), methods };
        if let Ok(result) = run(&tiny(), &script, Box::new(Echo)) {
            prop_assert!(result.get().len() <= tiny().result_bytes_max);
        }
        prop_assert!(started.elapsed() < Duration::from_secs(20), "{:?}: {}", started.elapsed(), source);
    }

    #[test]
    fn patterns_mean_what_luas_own_mean(
        name in select(vec!["find", "match", "gmatch", "gsub"]),
        text in "[ab1() .]{0,10}",
        pattern in pattern(),
        third in third(),
    ) {
        // A number as replacement, a text as place: refused or taken alike, but reported in words of our own.
        let third = if name == "gsub" || third.is_number() { third } else { serde_json::Value::Null };
        let arguments = [name.into(), text.into(), pattern.into(), third];
        let lua = Lua::new_with(StdLib::STRING | StdLib::TABLE, LuaOptions::default()).unwrap();
        prop_assert_eq!(by_us(&arguments), by_lua_itself(&lua, &arguments));
    }
}
