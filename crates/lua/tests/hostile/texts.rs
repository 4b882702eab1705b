//! What the library does for long in one go: no hook reaches it there.

use paraffin_lua::{Budget, ScriptError};

use crate::{exhausts, exhausts_instructions, raised, result, small, with};

#[test]
fn repetition_bombs() {
    assert_eq!(exhausts("return ('x'):rep(1 << 23)"), Budget::Memory);
    assert_eq!(exhausts("return ('xx'):rep(1 << 19, 'x'):rep(1 << 10)"), Budget::Memory);
}

#[test]
fn repetition_whose_size_overflows() {
    for source in
        ["return ('x'):rep(math.maxinteger)", "return (''):rep(1 << 62)", "return ('ab'):rep((1 << 62) + 1, 'c')"]
    {
        assert_eq!(exhausts(source), Budget::Instructions, "{source}");
    }
    assert_eq!(
        result("return {('ab'):rep(3, '-'), ('x'):rep(0), ('x'):rep(-1), ('x'):rep(math.mininteger)}"),
        r#"["ab-ab-ab","","",""]"#
    );
}

#[test]
fn pattern_bombs() {
    for source in [
        "return ('a'):rep(30000):find(('a*'):rep(30) .. 'b')",
        "return ('a'):rep(30000):match('(a*)*(a*)*(a*)*b' .. '.-.-.-.-.-.-x')",
        "return ('a'):rep(30000):gsub('.-.-.-.-b', '')",
        "return ('a'):rep(30000):gsub('.-.-.-.-b', function() end)",
        "for _ in ('a'):rep(30000):gmatch('.-.-.-.-b') do end",
        "return ('('):rep(300000):find('%b()' .. '%b()') or ('('):rep(300000):gsub('%b()', '')",
        "return ('ab'):rep(30000):find('(.*)%1%1%1x')",
    ] {
        exhausts_instructions(source);
    }
    // Plain searches are linear: this one takes a library that compares at every position for ever.
    assert_eq!(result("return ('a'):rep(2000000):find(('a'):rep(1000000) .. 'b', 1, true)"), "null");
}

#[test]
fn patterns_that_nest() {
    assert!(raised("return ('a'):rep(1000):find(('a?'):rep(1000) .. 'b')").contains("pattern too complex"));
    assert!(raised("return ('a'):find(('('):rep(40))").contains("too many captures"));
    assert!(raised("return ('a'):find('[a')").contains("missing ']'"));
    assert!(raised("return ('a'):find('%')").contains("ends with '%'"));
    assert!(raised("return ('a'):gsub('a', '%2')").contains("invalid capture index"));
    assert!(raised("return ('a'):gsub('(a', '%1')").contains("unfinished capture"));
    assert!(raised("return ('a'):find('%1')").contains("invalid capture index"));
    assert!(raised("return ('a'):gsub('a', function() return {} end)").contains("invalid replacement value"));
}

#[test]
fn replacements_that_grow() {
    assert_eq!(exhausts("return ('a'):rep(4000):gsub('a', ('b'):rep(100000))"), Budget::Memory);
    assert_eq!(exhausts("return ('a'):rep(4000):gsub('a', function() return ('b'):rep(100000) end)"), Budget::Memory);
    exhausts("local s = 'a' while true do s = s:gsub('a', 'aa') end");
    exhausts("local s = 'a' while true do s = s .. s end");
}

#[test]
fn formats_with_huge_widths() {
    assert!(raised("return string.format('%99999d', 1)").contains("invalid conversion"));
    assert!(raised("return string.format('%.99999f', 1)").contains("invalid conversion"));
    assert!(raised("return string.format('%s')").contains("bad argument"));
    assert_eq!(result("return #string.format('%99.99f', 1e308)"), "409");
    exhausts("local s = ('x'):rep(1000000) while true do local _ = string.format('%s%s', s, s) end");
}

#[test]
fn formats_that_are_none() {
    for source in ["'%n', 1", "'%*d', 1, 2", "'%1$d', 1", "'%', 1", "'%-+ #0-+ #0-+ #0d', 1", "'%p', 1, '%'"] {
        let ended = with(&small(), &format!("return string.format({source})"));
        assert!(!matches!(ended, Err(ScriptError::Broken)), "{source}: {ended:?}");
    }
    assert!(raised("return string.format('%n', 1)").contains("invalid conversion"));
    assert!(raised("return string.format('%99999999d', 1)").contains("invalid conversion"));
    assert!(
        raised("return string.format('%s', setmetatable({}, {__tostring = function() return {} end}))")
            .contains("string")
    );
    exhausts_instructions(
        "return string.format('%s', setmetatable({}, {__tostring = function() while true do end end}))",
    );
}

#[test]
fn numerals_without_an_end() {
    // A hexadecimal numeral is read to its end by every operation.
    exhausts("local s = '0x' .. ('f'):rep(4000000) while true do local _ = s + 0 end");
    exhausts("local s = (' '):rep(4000000) .. '1' while true do local _ = s * 1 end");
    assert_eq!(result("return tonumber(('9'):rep(300)) == nil or tonumber(('9'):rep(300)) > 1e200"), "true");
}

#[test]
fn callbacks_that_come_back() {
    for source in [
        "local function f(s) return (s:gsub('.', f)) end return f('x')",
        "local function f(s) for w in s:gmatch('.') do f(w) end end f('x')",
        "local t t = setmetatable({}, {__index = function(_, k) return (k:gsub('.', t)) end}) return (('x'):gsub('.', t))",
    ] {
        let ended = with(&small(), source);
        assert!(matches!(ended, Err(ScriptError::Raised(_) | ScriptError::Exhausted(_))), "{source}: {ended:?}");
    }
    exhausts_instructions("return ('x'):gsub('', function() while true do end end)");
    assert!(raised("return ('x'):gsub('.', function() error('mine', 0) end)").contains("mine"));
}

#[test]
fn texts_that_are_no_utf8() {
    for source in [
        r"for _ in utf8.codes(('\x80'):rep(1000000)) do end",
        r"for _ in utf8.codes('x' .. ('\x80'):rep(1000000)) do end",
        r"utf8.codepoint('\xf7\xbf\xbf\xbf', 1)",
        "utf8.char(-1)",
        "utf8.char(1 << 31)",
    ] {
        assert!(!raised(source).is_empty(), "{source}");
    }
    assert_eq!(result(r"return (utf8.len(('\x80'):rep(1000000)))"), "null");
    assert!(raised("return utf8.char(0x7fffffff)").contains("not UTF-8"));
}

#[test]
fn packing_to_huge_sizes() {
    assert_eq!(exhausts("return string.pack('c2000000000', 'x')"), Budget::Memory);
    assert_eq!(result("return string.packsize(('c214748364'):rep(3))"), "644245092");
    assert!(raised("return string.unpack('c99', 'x')").contains("too short"));
}

#[test]
fn ranges_of_texts_beyond_all_sizes() {
    assert_eq!(result("return select('#', ('x'):byte(1, math.maxinteger))"), "1");
    assert!(raised("return ('x'):rep(2000000):byte(1, -1)").contains("too long"));
    assert_eq!(result("return ('abc'):sub(math.mininteger, math.maxinteger)"), "\"abc\"");
    assert_eq!(result("return ('abc'):find('b', math.mininteger)"), "2");
    assert_eq!(result("return ('abc'):find('b', math.maxinteger)"), "null");
    assert!(raised("return utf8.codepoint(('x'):rep(2000000), 1, -1)").contains("too long"));
    assert_eq!(result("return utf8.len(('x'):rep(2000000))"), "2000000");
    exhausts("local s = ('x'):rep(4000000) while true do utf8.len(s) end");
    exhausts("local s = ('x'):rep(4000000) while true do utf8.offset(s, -1) end");
    exhausts("local s = ('9'):rep(4000000) while true do tonumber(s) end");
    exhausts("local s = ('9'):rep(4000000) while true do s:upper() end");
}
