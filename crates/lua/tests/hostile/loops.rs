//! What never ends by itself.

use paraffin_lua::{Budget, LuaSettings, ScriptError};

use crate::{exhausts, exhausts_instructions, raised, result, small, with};

#[test]
fn endless_loops() {
    for source in [
        "while true do end",
        "repeat until false",
        "for _ = 1, math.huge do end",
        "::again:: goto again",
        "local function f() return f() end f()",
        "for _ in function() return 1 end do end",
    ] {
        exhausts_instructions(source);
    }
}

#[test]
fn the_clock_ends_what_counts_few_instructions() {
    let settings = LuaSettings { time_ms_max: 200, instructions_max: u64::MAX, ..small() };
    assert_eq!(with(&settings, "while true do end"), Err(ScriptError::Exhausted(Budget::Time)));
    let building = "local s = ('x'):rep(1000000) while true do local _ = s .. s end";
    assert_eq!(with(&settings, building), Err(ScriptError::Exhausted(Budget::Time)));
}

#[test]
fn endless_recursion() {
    for source in [
        "local t = setmetatable({}, {}) getmetatable(t).__index = function(t, k) return t[k] end return t.x",
        "local t = setmetatable({}, {__call = pcall}) return error(select(2, t()))",
        "local function f() return tostring(setmetatable({}, {__tostring = f})) end return f()",
        "local function f(e) return select(2, xpcall(error, f, e)) end error(f('x'))",
    ] {
        let ended = with(&small(), source);
        assert!(matches!(ended, Err(ScriptError::Raised(_) | ScriptError::Exhausted(_))), "{source}: {ended:?}");
    }
    let deep = "local t = setmetatable({}, {}) getmetatable(t).__index = function(t, k) return t[k] end return t.x";
    assert!(raised(deep).contains("stack overflow"));
    assert_eq!(exhausts("local function f() return 1 + f() end return f()"), Budget::Memory);
    // Caught again and again, it still ends.
    exhausts_instructions("local function f() pcall(f) return f() end f()");
}

#[test]
fn pcall_does_not_swallow_a_budget() {
    for source in [
        "pcall(function() while true do end end) return 1",
        "while true do pcall(function() while true do end end) end",
        "local function f() while true do pcall(f) end end f()",
        "pcall(pcall, pcall, function() while true do end end) return 1",
        "for _ = 1, 1e9 do pcall(error) end",
        "return select(2, pcall(string.rep, '', 1 << 62))",
    ] {
        exhausts_instructions(source);
    }
}

#[test]
fn xpcall_handlers_that_loop() {
    for source in [
        "xpcall(function() while true do end end, function() while true do end end) return 1",
        "xpcall(error, function() while true do end end) return 1",
        "while true do xpcall(error, function(e) error(e) end) end",
        "xpcall(function() while true do end end, function(e) return pcall(error, e) end) return 1",
        "local function h() return xpcall(error, h) end while true do h() end",
        "xpcall(function() string.rep('', 1 << 62) end, function() while true do end end) return 1",
    ] {
        exhausts_instructions(source);
    }
    assert_eq!(result("return xpcall(error, function(e) return e .. '!' end, 'x')"), "false");
}

#[test]
fn load_does_not_swallow_a_budget_of_its_reader() {
    for source in [
        "while true do load(function() while true do end end) end",
        "load(function() return ' ' end) while true do end",
        "while true do load('return 1')() end",
    ] {
        exhausts_instructions(source);
    }
}

#[test]
fn finalizers_never_run() {
    // A finalizer runs without hooks: one that loops could not be stopped.
    for source in [
        "setmetatable({}, {__gc = function() while true do end end})",
        "local m = {} m.__gc = function() while true do end end setmetatable({}, m)",
        "local t = setmetatable({}, {}) local m = getmetatable(t) m.__gc = print setmetatable(t, m)",
    ] {
        assert!(raised(source).contains("__gc"), "{source}");
    }
    // The mark is set with the metatable, so one that comes later does nothing.
    let late = "local m = {} for _ = 1, 1e4 do setmetatable({}, m) m.__gc = function() while true do end end
        m = {} end return 'ended'";
    assert_eq!(result(late), "\"ended\"");
}

#[test]
fn closing_variables_that_loop() {
    // Where a hook ends the script in the variable's own frame, the handler runs without hooks: `bin/paraffin/tests/lua.rs`.
    for source in [
        "local x <close> = setmetatable({}, {__close = function() while true do end end})",
        "for _ in next, {1}, nil, setmetatable({}, {__close = function() while true do end end}) do end",
        "pcall(function() local x <close> = setmetatable({}, {__close = function() while true do end end}) error(x) end)",
    ] {
        exhausts(source);
    }
}

#[test]
fn metamethods_that_loop() {
    for source in [
        "local t = setmetatable({}, {__index = function() while true do end end}) return t.x",
        "local a = setmetatable({}, {__eq = function() while true do end end}) return a == setmetatable({}, getmetatable(a))",
        "return #setmetatable({}, {__len = function() while true do end end})",
        "return tostring(setmetatable({}, {__tostring = function() while true do end end}))",
        "local t = {} setmetatable(t, {__lt = function() while true do end end}) table.sort({t, t, t})",
        "return setmetatable({}, {__concat = function() while true do end end}) .. ''",
        "for _ in pairs(setmetatable({}, {__pairs = function() while true do end end})) do end",
        "return setmetatable({}, {__call = function(self) return self() end})()",
    ] {
        exhausts_instructions(source);
    }
    // Lua itself detects a cyclic chain.
    assert!(raised("local t = {} setmetatable(t, {__index = t}) return t.x.y").contains("loop"));
}

#[test]
fn errors_that_are_tables_with_methods() {
    // What reports the error runs nothing of it.
    let loops = "error(setmetatable({}, {__tostring = function() while true do end end, __index = function() while true do end end}))";
    assert_eq!(raised(loops), "(error object is a table value)");
    assert_eq!(raised("error(setmetatable({message = 'text'}, {__name = 'x'}))"), "text");
    // A type's name may have any length, and an error may not.
    let named = "local t = setmetatable({}, {__name = ('x'):rep(1000000)}) ";
    assert_eq!(raised(&format!("{named} return t + 1")).len(), 4096);
    assert_eq!(raised(&format!("{named} error(tostring(t))")).len(), 4096);
    assert!(raised(&format!("{named} string.rep(t, 1)")).len() <= 4096);
    assert_eq!(raised(r"error({message = '\xff\xfe'})"), "\u{fffd}\u{fffd}");
    // A script's own claim that memory is used up is accepted.
    assert_eq!(exhausts("error('not enough memory', 0)"), Budget::Memory);
    assert_eq!(raised("error()"), "(error object is a nil value)");
    assert_eq!(raised("error(print)"), "(error object is a function value)");
    assert_eq!(raised("error({message = ('x'):rep(100000)})").len(), 4096);
    assert_eq!(result("local ok, e = pcall(error, {code = 7}) return e.code"), "7");
}
