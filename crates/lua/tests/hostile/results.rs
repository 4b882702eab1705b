//! Results that have no end, no form, or no exact one.

use paraffin_lua::{LuaSettings, Script, ScriptError, run};
use serde_json::value::RawValue;

use crate::{Echo, raised, result, small, with};

#[test]
fn giant_results() {
    let settings = LuaSettings { result_bytes_max: 10_000, ..small() };
    let refused = |source: &str| match with(&settings, source) {
        Err(ScriptError::Raised(words)) => assert!(words.contains("10000 bytes"), "{words}"),
        other => panic!("{source}: {other:?}"),
    };
    refused("return ('x'):rep(10000)");
    refused("local t = {} for i = 1, 10000 do t[i] = i end return t");
    refused("local t = {} for i = 1, 10000 do t['k' .. i] = i end return t");
    // One small table that stands for 2^50 others.
    refused("local t = {1} for _ = 1, 50 do t = {t, t} end return t");
    assert_eq!(with(&settings, "return ('x'):rep(9998)").unwrap().len(), 10_000);
}

#[test]
fn more_members_and_parameters_than_can_be_held() {
    let settings = LuaSettings { instructions_max: u64::MAX, time_ms_max: 600_000, ..LuaSettings::default() };
    // One small table under a million keys: each would be held beside its name until all names are in order.
    let many = "local t, one = {}, {} for i = 1, 1000000 do t[i + 0.5] = one end ";
    for source in [format!("{many} return t"), format!("{many} return _RPC.test_echo(t)")] {
        match with(&settings, &source) {
            Err(ScriptError::Raised(words)) => assert!(words.contains("4194304 bytes of JSON"), "{words}"),
            other => panic!("{other:?}"),
        }
    }
    let names = "local t = {} for i = 1, 50 do t[('x'):rep(100000) .. i] = 1 end return t";
    assert!(matches!(with(&settings, names), Err(ScriptError::Raised(words)) if words.contains("bytes of JSON")));
    // What fits is written: the bound is that of the text.
    let tight = LuaSettings { result_bytes_max: 20, ..small() };
    assert_eq!(with(&tight, "return {aa = 1, b = 2, c = 3}").unwrap(), r#"{"aa":1,"b":2,"c":3}"#);
    assert!(with(&tight, "return {aa = 1, b = 2, c = 34}").is_err());
    for count in ["250000", "990000"] {
        let parameters = format!(
            "local t, one = {{}}, {{}} for i = 1, {count} do t[i] = one end
            return #_RPC.test_echo(table.unpack(t))"
        );
        let ended = with(&settings, &parameters);
        assert!(matches!(ended, Ok(_) | Err(ScriptError::Raised(_) | ScriptError::Exhausted(_))), "{ended:?}");
    }
}

#[test]
fn deep_nesting() {
    assert!(raised("local t = {1} for _ = 1, 100000 do t = {t} end return t").contains("nested deeper than 64"));
    assert_eq!(result("local t = {} for _ = 1, 63 do t = {t} end return t").len(), 63 * 2 + 2);
    assert!(
        raised("return _RPC.test_echo((function() local t = {} for _ = 1, 65 do t = {t} end return t end)())")
            .contains("deeper")
    );
}

#[test]
fn cyclic_tables() {
    assert!(raised("local t = {} t[1] = t return t").contains("holds itself"));
    assert!(raised("local t = {} t.a = {b = {c = t}} return t").contains("holds itself"));
    assert!(raised("return _G").contains("form in JSON"));
    // The same table twice is no cycle.
    assert_eq!(result("local t = {1} return {t, t}"), "[[1],[1]]");
}

#[test]
fn values_without_a_form() {
    for (source, words) in [
        ("return print", "a function has no form"),
        ("return {a = {print}}", "a function has no form"),
        ("return {[{}] = 1}", "key of type table"),
        ("return {[true] = 1}", "key of type boolean"),
        (r"return '\255'", "not UTF-8"),
        (r"return {['\255'] = 1}", "not UTF-8"),
    ] {
        assert!(raised(source).contains(words), "{source}: {}", raised(source));
    }
    // Metamethods for display are not called.
    assert_eq!(
        result("return setmetatable({a = 1}, {__index = error, __pairs = error, __len = error, __tostring = error})"),
        r#"{"a":1}"#
    );
}

#[test]
fn numbers_at_the_ends() {
    assert_eq!(
        result("return {math.maxinteger, math.mininteger, 0.1, 1e300, 0/0, 1/0, -1/0, 3.0, 1 << 53}"),
        "[9223372036854775807,-9223372036854775808,0.1,1e+300,null,null,null,3.0,9007199254740992]"
    );
    assert_eq!(result("return math.maxinteger + 1"), "-9223372036854775808");
}

#[test]
fn lists_with_holes_and_mixed_tables() {
    assert_eq!(result("return {}"), "{}");
    assert_eq!(result("return {1, nil, 3}"), "[1,null,3]");
    assert_eq!(result("return {1, 2, x = 3}"), r#"{"1":1,"2":2,"x":3}"#);
    assert_eq!(result("return {b = 1, a = 2}"), r#"{"a":2,"b":1}"#);
    // Some sixty values whose length is 2^62.
    let sparse = "local t = {} for i = 0, 62 do t[1 << i] = 1 end return t";
    assert!(result(sparse).starts_with('{'));
    assert_eq!(result("return nil"), "null");
    assert_eq!(result("return"), "null");
    assert_eq!(result("return 1, 2, 3"), "1");
}

fn with_arguments(source: &str, arguments: &[&str]) -> Result<String, ScriptError> {
    let arguments = arguments.iter().map(|argument| RawValue::from_string((*argument).to_owned()).unwrap()).collect();
    let script = Script { source: source.to_owned(), arguments, methods: vec!["test_echo".to_owned()] };
    run(&small(), &script, Box::new(Echo)).map(|result| result.get().to_owned())
}

#[test]
fn whole_numbers_keep_every_digit() {
    let big = "340282366920938463463374607431768211455";
    for number in [big, "-340282366920938463463374607431768211455", "9223372036854775808", "9223372036854775807"] {
        assert_eq!(with_arguments("return args[1]", &[number]).unwrap(), number);
        assert_eq!(
            with_arguments("return _RPC.test_echo(args[1], {a = args[1]})", &[number]).unwrap(),
            format!(r#"[{number},{{"a":{number}}}]"#)
        );
        assert_eq!(with_arguments("return tostring(args[1])", &[number]).unwrap(), format!("\"{number}\""));
    }
    let truths = "local n, m = args[1], args[2] return {n > 0, 0 < n, n > math.maxinteger, n == m, n <= m, n + 1 > 1e38, n // 2 > 1e38,
        'n' .. n == 'n' .. m, tonumber(n) == 3.4028236692093846e38, -n < 0, n > '5'}";
    assert_eq!(
        with_arguments(truths, &[big, big]).unwrap(),
        "[true,true,true,true,true,true,true,true,true,true,true]"
    );
    assert!(matches!(with_arguments("return args[1] + {}", &[big]), Err(ScriptError::Raised(_))));
    assert!(matches!(with_arguments("return args[1].x", &[big]), Err(ScriptError::Raised(_))));
    assert_eq!(with_arguments("return getmetatable(args[1])", &[big]).unwrap(), "false");
    assert_eq!(with_arguments("return args[1]", &["0.30000000000000004"]).unwrap(), "0.30000000000000004");
    assert_eq!(with_arguments("return args[1]", &[&"9".repeat(400)]).unwrap(), "null");
}

#[test]
fn arguments_of_every_kind_come_as_they_are() {
    let given = ["\"a\\u0000\u{e9}\"", "[1,[2],{\"x\":null,\"y\":true}]", "null", "1e3", "false"];
    assert_eq!(
        with_arguments(
            "return {args[1], args[2], args[4], args[5], #args, args[3] == nil, args[2][3].x == nil}",
            &given
        )
        .unwrap(),
        "[\"a\\u0000\u{e9}\",[1,[2],{\"y\":true}],1000.0,false,5,true,true]"
    );
    assert!(matches!(with_arguments("return 1", &["\"\\ud800\""]), Err(ScriptError::Raised(_))));
    let deep = "[".repeat(70) + &"]".repeat(70);
    assert!(
        matches!(with_arguments("return 1", &[&deep]), Err(ScriptError::Raised(words)) if words.contains("too deep"))
    );
    // A million empty tables do not fit.
    let many = format!("[{}[]]", "[],".repeat(1_000_000));
    assert!(matches!(with_arguments("return 1", &[&many]), Err(ScriptError::Exhausted(_))));
}
