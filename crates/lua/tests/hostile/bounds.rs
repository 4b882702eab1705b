//! Memory, and loops of the library over lengths that a script claims.

use paraffin_lua::{Budget, LuaSettings, ScriptError};

use crate::{exhausts, exhausts_instructions, raised, result, small, with};

fn memory(source: &str) {
    let settings = LuaSettings { instructions_max: u64::MAX, time_ms_max: 600_000, ..small() };
    assert_eq!(with(&settings, source), Err(ScriptError::Exhausted(Budget::Memory)), "{source}");
}

#[test]
fn memory_bombs_by_tables_and_closures() {
    for source in [
        "local t = {} while true do t[#t + 1] = {} end",
        "local t = {} while true do t = {t, t} t[3] = {t} end",
        "local t = {} for i = 1, 1e9 do local x = i t[i] = function() return x end end",
        "local t = {} for i = 1, 1e9 do t[i] = ('x'):rep(1000) .. i end",
        "local s = ('x'):rep(1000000) local t = {} while true do t[#t + 1] = s .. #t end",
        "local function f(...) return f(1, 2, 3, 4, 5, 6, 7, 8, ...) end f()",
        "local t = {} for i = 1, 1e9 do t[i + 0.5] = i end",
        "local t = {} while true do pcall(function() while true do t[#t + 1] = {} end end) end",
    ] {
        memory(source);
    }
}

#[test]
fn what_a_script_lets_go_is_not_counted() {
    let settings = LuaSettings { instructions_max: 50_000_000, time_ms_max: 60_000, ..small() };
    let churn = "local last for i = 1, 3000 do last = ('x'):rep(10000) .. i end return #last";
    assert_eq!(with(&settings, churn).unwrap(), "10004");
}

#[test]
fn the_collector_is_not_the_scripts() {
    for source in [
        "collectgarbage('stop') while true do local _ = {} end",
        "while true do collectgarbage('collect') end",
        "collectgarbage('generational') collectgarbage('setpause', 1000) while true do local _ = {} end",
    ] {
        exhausts_instructions(source);
    }
    assert_eq!(result("return collectgarbage('count') > 1"), "true");
    assert_eq!(result("return collectgarbage('collect')"), "0");
}

#[test]
fn lengths_that_lie() {
    let long =
        "local t = setmetatable({}, {__len = function() return 1 << 53 end, __index = function() return 'x' end}) ";
    for source in [
        "table.insert(t, 1, 1)",
        "table.remove(t, 1)",
        "return table.concat(t)",
        "return table.concat(t, '', 1, math.maxinteger)",
        "table.move(t, 1, 1 << 53, 2)",
        "table.move({}, 1, math.maxinteger - 1, 2)",
    ] {
        exhausts(&format!("{long}{source}"));
    }
    for source in ["return table.unpack(t)", "return table.unpack(t, 1, 1e7)", "return table.unpack({}, 1, 1 << 40)"] {
        assert!(raised(&format!("{long}{source}")).contains("too many results"), "{source}");
    }
    // A length that grows between two looks.
    exhausts(
        "local n = 0 local t = setmetatable({}, {__len = function() n = n + (1 << 40) return n end}) table.insert(t, 1, 1)",
    );
    // A function of the library instead of one of the script's.
    exhausts("return table.concat(setmetatable({}, {__index = rawlen}), '', 1, math.maxinteger)");
}

#[test]
fn ranges_of_tables_beyond_all_sizes() {
    assert!(raised("return table.unpack({}, math.mininteger, math.maxinteger)").contains("too many results"));
    assert!(raised("table.move({}, math.mininteger, math.maxinteger, 1)").contains("too many elements"));
    assert!(raised("table.move({}, 1, 10, math.maxinteger)").contains("wrap around"));
    assert!(raised("table.insert({}, 5, 1)").contains("out of bounds"));
    assert!(raised("table.insert({}, math.mininteger, 1)").contains("out of bounds"));
    assert!(raised("table.remove({}, 5)").contains("out of bounds"));
    assert!(raised("table.insert(nil, 1)").contains("table expected"));
    assert!(raised("table.concat({1, {}, 3})").contains("invalid value (at index 2)"));
    assert_eq!(result("return table.concat({}, ',', 1, 0)"), "\"\"");
    assert_eq!(result("return select('#', table.unpack({}, 5, 1))"), "0");
    assert!(raised("return select(-5, 1)").contains("out of range"));
    assert_eq!(result("return select('#', select(math.maxinteger, 1))"), "0");
}

#[test]
fn order_functions_without_an_order() {
    let many = "local t = {} for i = 1, 2000 do t[i] = i % 7 end ";
    let answer = with(&small(), &format!("{many} table.sort(t, function() return true end) return 1"));
    assert!(
        matches!(&answer, Err(ScriptError::Raised(words)) if words.contains("invalid order function")),
        "{answer:?}"
    );
    exhausts_instructions(&format!("{many} table.sort(t, function() while true do end end)"));
    exhausts_instructions(&format!(
        "{many} while true do pcall(table.sort, t, function() return math.random() < 0.5 end) end"
    ));
    exhausts_instructions(&format!("{many} while true do table.sort(t) end"));
    assert!(raised("table.sort({1, 'x', 3})").contains("compare"));
    assert!(raised("table.sort({1, 2}, 5)").contains("function expected"));
    let long =
        "local t = setmetatable({}, {__len = function() return (1 << 31) - 3 end, __index = function() return 1 end}) ";
    exhausts(&format!("{long} table.sort(t)"));
    assert!(raised("table.sort(setmetatable({}, {__len = function() return 1 << 40 end}))").contains("too big"));
}

#[test]
fn order_functions_that_change_the_list_or_fail() {
    for change in [
        "list[#list] = nil return a < b",
        "for i = 1, #list do list[i] = nil end return true",
        "list[1] = {} return a < b",
        "setmetatable(list, {__len = function() return 0 end}) return a < b",
        "table.insert(list, 1, a) return a < b",
        "error(list)",
        "return nil",
        "table.sort(list, order) return a < b",
    ] {
        let source = format!(
            "local list, order = {{}} for i = 1, 100 do list[i] = i % 7 end
            order = function(a, b) {change} end return (pcall(table.sort, list, order))"
        );
        // It ends, with an order or without, or by a budget.
        let ended = with(&small(), &source);
        let is_told = matches!(&ended, Ok(text) if text == "true" || text == "false");
        assert!(is_told || matches!(ended, Err(ScriptError::Exhausted(_))), "{change}: {ended:?}");
    }
}

#[test]
fn joining_more_than_fits() {
    memory("local t = {} for i = 1, 1000 do t[i] = 'x' end return table.concat(t, ('y'):rep(1000000))");
    memory("local s, t = ('x'):rep(1000000), {} for i = 1, 100 do t[i] = s end return table.concat(t)");
    exhausts(
        "local t = setmetatable({}, {__index = function() return 'x' end}) return table.concat(t, 'y', 1, 1 << 40)",
    );
    assert!(
        raised("return table.concat(setmetatable({}, {__index = function() error('read') end}), '', 1, 2)")
            .contains("read")
    );
}

#[test]
fn sources_that_are_too_large_or_too_deep() {
    let large = LuaSettings { source_bytes_max: 1000, ..small() };
    assert_eq!(with(&large, &" ".repeat(1001)), Err(ScriptError::SourceTooLarge));
    assert!(with(&large, &" ".repeat(1000)).is_ok());
    for source in ["(".repeat(100_000), "{".repeat(100_000), "if x then ".repeat(20_000), "not ".repeat(60_000) + "1"] {
        assert!(with(&small(), &format!("return {source}")).is_err());
    }
    assert_eq!(result("return load(('('):rep(300000))"), "null");
    exhausts("while true do load('return ' .. ('1 + '):rep(50000) .. '1') end");
}
