//! `_RPC` in the hands of a hostile script.

use paraffin_lua::{Budget, LuaSettings, ScriptError};

use crate::{raised, result, small, with};

#[test]
fn calls_answer_and_errors_are_raised() {
    assert_eq!(result("return _RPC.test_echo(1, 'x', {a = {1, 2}}, nil, true)"), r#"[1,"x",{"a":[1,2]},null,true]"#);
    assert_eq!(raised("return _RPC.test_fail()"), "RPC error -5: Block not found");
    assert_eq!(
        result("local ok, e = pcall(_RPC.test_fail) return {ok, e}"),
        r#"[false,"RPC error -5: Block not found"]"#
    );
    assert_eq!(result("return _RPC['esplora_address::utxo'] == _RPC.esplora_addressutxo"), "true");
}

#[test]
fn the_1001st_call() {
    let settings = LuaSettings { instructions_max: 100_000_000, time_ms_max: 60_000, ..LuaSettings::default() };
    assert_eq!(with(&settings, "for _ = 1, 1000 do _RPC.test_one() end return 'all'").unwrap(), "\"all\"");
    for source in [
        "for _ = 1, 1001 do _RPC.test_one() end return 'all'",
        "for _ = 1, 1001 do pcall(_RPC.test_one) end return 'all'",
        "for _ = 1, 1001 do pcall(_RPC.test_fail) end return 'all'",
        "while true do pcall(_RPC.test_one, print) end",
    ] {
        assert_eq!(with(&settings, source), Err(ScriptError::Exhausted(Budget::RpcCalls)), "{source}");
    }
}

#[test]
fn parameters_without_a_form() {
    for (source, words) in [
        ("_RPC.test_echo(print)", "a function has no form"),
        ("_RPC.test_echo({{print}})", "a function has no form"),
        ("local t = {} t.t = t _RPC.test_echo(t)", "holds itself"),
        ("_RPC.test_echo(_G)", "form in JSON"),
        (r"_RPC.test_echo('\255')", "not UTF-8"),
    ] {
        let error = raised(source);
        assert!(
            error.contains("parameters of test_echo") && (error.contains(words) || error.contains("holds itself")),
            "{error}"
        );
        assert_eq!(result(&format!("local ok = pcall(function() {source} end) return ok")), "false");
    }
    let small = LuaSettings { result_bytes_max: 1000, ..small() };
    assert!(
        matches!(with(&small, "_RPC.test_echo(('x'):rep(1000))"), Err(ScriptError::Raised(words)) if words.contains("1000 bytes"))
    );
}

#[test]
fn methods_that_a_script_has_not() {
    for name in ["admin_createApiKey", "lua_evalscript", "nothing"] {
        assert_eq!(result(&format!("return _RPC.{name} == nil")), "true", "{name}");
    }
    assert!(raised("_RPC.nothing()").contains("nil value (field 'nothing')"));
}

#[test]
fn answers_that_are_kept_count_as_memory() {
    let settings = LuaSettings { instructions_max: u64::MAX, time_ms_max: 600_000, ..small() };
    let source = "local t, big = {}, ('x'):rep(100000) while true do t[#t + 1] = _RPC.test_echo(big) end";
    assert_eq!(with(&settings, source), Err(ScriptError::Exhausted(Budget::Memory)));
}
