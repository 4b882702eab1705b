//! Ways out of the sandbox, and from one script into another.

use paraffin_lua::{Budget, LuaSettings};

use crate::{exhausts, raised, result, small, with};

#[test]
fn nothing_of_the_host_is_there() {
    for name in [
        "io",
        "os",
        "package",
        "debug",
        "coroutine",
        "require",
        "dofile",
        "loadfile",
        "loadstring",
        "warn",
        "arg",
        "own",
        "string.dump",
        "_LOADED",
        "jit",
        "ffi",
    ] {
        assert_eq!(result(&format!("return {name} == nil")), "true", "{name}");
    }
    assert_eq!(
        result("local names = {} for name in pairs(_G) do names[#names + 1] = name end table.sort(names) return names"),
        r#"["_G","_RPC","_VERSION","args","assert","collectgarbage","error","getmetatable","ipairs","load","math","next","pairs","pcall","print","rawequal","rawget","rawlen","rawset","select","setmetatable","string","table","tonumber","tostring","type","utf8","xpcall"]"#
    );
    assert_eq!(result("return _VERSION"), "\"Lua 5.4\"");
    assert_eq!(result("print('not captured') return 1"), "1");
}

#[test]
fn coroutines_are_absent() {
    assert!(raised("coroutine.wrap(function() while true do end end)()").contains("nil value (global 'coroutine')"));
    assert!(raised("return ('').wrap(print)").contains("nil value"));
}

#[test]
fn bytecode_is_not_loaded() {
    assert_eq!(result(r"return load('\27Lua')"), "null");
    assert!(
        result(r"return select(2, load('\27Lua\84\0\25\147\13\10\26\10\4\8\8', 'x', 'bt'))").contains("binary chunk")
    );
    assert!(result(r"return select(2, load('\27Lua', 'x', 'b'))").contains("mode is 'b'"));
    assert!(
        result(r"local done return select(2, load(function() if not done then done = true return '\27Lua' end end))")
            .contains("binary chunk")
    );
    assert!(raised("return string.dump(print)").contains("nil value"));
}

#[test]
fn what_is_loaded_sees_no_more_than_its_loader() {
    assert_eq!(result("x = 7 return load('return x')()"), "7");
    assert_eq!(result("return load('return _G == args or io or os or debug')()"), "null");
    assert_eq!(result("return load('return x', 'chunk', 't', {x = 8})()"), "8");
    assert!(raised("return load('return x.y', 'chunk', 't', nil)()").contains("index a nil value"));
    assert_eq!(result("local env = {} load('y = 1', 'c', 't', env)() return {env.y, y == nil}"), "[1,true]");
    assert_eq!(result("return _G._G._G == _G and _ENV == _G"), "true");
    assert_eq!(result("return load(('x'):rep(10))"), "null");
    assert_eq!(result("local s = 'return 5' return load(function() local t = s s = nil return t end)()"), "5");
}

#[test]
fn the_metatable_of_texts_is_out_of_reach() {
    assert_eq!(result("return getmetatable('')"), "false");
    assert!(raised("setmetatable('', {})").contains("table expected"));
    assert!(raised("getmetatable('').__index = nil").contains("index a boolean"));
    // Changed functions are the script's own, and what stands behind the library is not touched by them.
    assert_eq!(result("string.rep = nil string.find = nil return ('x').rep == nil"), "true");
    assert_eq!(
        result("table.concat = nil string.sub = nil rawget = nil return (('a-b'):gsub('%w', {a = 'c'}))"),
        "\"c-b\""
    );
    assert_eq!(
        result("error = nil type = nil pcall = nil return ('abc'):gsub('b', function() return 'x' end)"),
        "\"axc\""
    );
}

#[test]
fn own_functions_give_nothing_of_themselves() {
    // Without `debug` there is no way to upvalues; the functions themselves have no fields and no metatable.
    for function in ["pcall", "load", "string.find", "table.sort", "_RPC.test_one", "setmetatable"] {
        assert!(raised(&format!("return {function}.x")).contains("index a function value"), "{function}");
        assert_eq!(result(&format!("return getmetatable({function})")), "null", "{function}");
    }
    // An error of ours is a text like any other.
    assert_eq!(result("local ok, e = pcall(_RPC.test_fail) return type(e)"), "\"string\"");
    assert_eq!(result("local _, e = pcall(string.find, 'x', '[') return type(e)"), "\"string\"");
    // One that passes a closing variable is not; nothing can be had from it.
    let seen = "local seen pcall(function() local x <close> = setmetatable({}, {__close = function(_, e) seen = e end}) _RPC.test_fail() end) ";
    assert_eq!(result(&format!("{seen} return getmetatable(seen) == false")), "true");
    assert!(raised(&format!("{seen} return seen.x")).contains("index"));
}

#[test]
fn two_scripts_do_not_see_each_other() {
    assert_eq!(result("secret = 'mine' string.secret = secret math.pi = 3 _RPC.secret = 1 return secret"), "\"mine\"");
    assert_eq!(
        result("return {secret == nil, string.secret == nil, math.pi > 3.1, _RPC.secret == nil}"),
        "[true,true,true,true]"
    );
}

#[test]
fn the_state_of_random_numbers_is_the_scripts_own() {
    let seeded = "math.randomseed(42) return {math.random(1 << 40), math.random(1 << 40)}";
    let first = result(seeded);
    result("math.randomseed(7) for _ = 1, 100 do math.random() end");
    assert_eq!(result(seeded), first);
    // Without a seed of its own no script can know what another drew.
    assert_ne!(result("return math.random(0)"), result("return math.random(0)"));
    assert!(raised("return math.random(2, 1)").contains("interval is empty"));
    assert_eq!(result("local n = math.random(math.mininteger, math.maxinteger) return math.type(n)"), "\"integer\"");
}

#[test]
fn a_budget_is_not_won_back() {
    // Whatever is tried after the first budget error, nothing runs on.
    let tries = "local function try() while true do end end
        local x <close> = setmetatable({}, {__close = function() for _ = 1, 100 do pcall(try) end end})
        pcall(try) xpcall(try, try) load(try) string.gsub('x', 'x', try) table.sort({1, 2, 3}, try)
        tostring(setmetatable({}, {__tostring = try})) return 'free'";
    let settings = LuaSettings { time_ms_max: 600_000, ..small() };
    assert_eq!(with(&settings, tries), Err(paraffin_lua::ScriptError::Exhausted(Budget::Instructions)));
    exhausts(tries);
}
