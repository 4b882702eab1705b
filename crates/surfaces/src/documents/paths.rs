//! Paths of all surfaces, and what a gateway without a store makes of them.

use hyper::Method;
use paraffin_access::{RESERVED_SINCE, RESERVED_WORDS};
use paraffin_gateway::rest::Base;
use paraffin_gateway::routes::{Credential, ErrorForm, Route, Target};
use paraffin_gateway::rules::{is_repeatable, names_own, path_of};
use proptest::prelude::*;

use crate::{SURFACES, VERIFY};

const OTHER: &str = "ffffffffffffffffffffffffffffffff";

fn parse(path: &str) -> Route {
    Route::parse(&SURFACES, path)
}

fn route(path: &str) -> Route {
    parse(&path.replace("KEY", KEY))
}

/// No alias can have the name of a surface, or none that is new.
#[test]
fn names_of_surfaces_are_reserved() {
    let named = SURFACES.keyed.iter().filter(|surface| surface.base == Base::Keyed).map(|surface| surface.name);
    for name in named.chain([SURFACES.beside.name]) {
        assert!(RESERVED_WORDS.contains(&name) || RESERVED_SINCE.contains(&name), "{name}");
    }
}

const KEY: &str = "0123456789abcdef0123456789abcdef";

fn key() -> Credential {
    Credential::PathKey(KEY.parse().unwrap())
}

fn check(path: &str, credential: Credential, target: Target) {
    let route = parse(path);
    assert_eq!((&route.credential, &route.target), (&credential, &target), "{path}");
    let slashed = parse(&format!("{path}/"));
    assert_eq!((slashed.credential, slashed.target), (credential, target), "{path}/");
}

fn segments(text: &str) -> Vec<String> {
    text.split_whitespace().map(ToOwned::to_owned).collect()
}

/// row GW21
#[test]
fn every_path_of_the_surface_table_is_known() {
    use Credential::{HeaderBelowMain, HeaderOrAnonymous, HeaderOrOrigin, HeaderOriginOrAnonymous, Missing, Open};
    check("/v4/jsonrpc", HeaderOrAnonymous, Target::Main);
    check("/v4/api", HeaderOrOrigin, Target::Main);
    check(&format!("/v4/{KEY}"), key(), Target::Main);
    check(&format!("/v4/{KEY}/jsonrpc"), key(), Target::Main);
    check("/v4/my-app", Credential::PathAlias("my-app".into()), Target::Main);
    check("/v4/api/health", Open, Target::Health);
    check("/health", Open, Target::PlainHealth);
    check(&format!("/v4/{KEY}/health"), key(), Target::PlainHealth);
    check("/v4/api/get-alkanes", HeaderOriginOrAnonymous, Target::Rest(segments("get-alkanes")));
    check(&format!("/v4/{KEY}/get-alkanes"), key(), Target::Rest(segments("get-alkanes")));
    check(&format!("/v4/{KEY}/api/v1/get-alkanes"), key(), Target::Rest(segments("get-alkanes")));
    check(&format!("/v4/{KEY}/indexer/height"), key(), Target::Rest(segments("indexer height")));
    check("/v4/opi/v1/brc20/balance", HeaderOrAnonymous, Target::Beside("opi", segments("v1 brc20 balance")));
    check(&format!("/v4/{KEY}/opi"), key(), Target::Beside("opi", vec![]));
    for &surface in SURFACES.keyed.iter().filter(|surface| surface.base == Base::Keyed) {
        let name = surface.name;
        check(&format!("/v4/{KEY}/{name}/7"), key(), Target::Surface(surface, segments("7")));
        let is_new = RESERVED_SINCE.contains(&name);
        for (prefix, credential) in [("", Missing), ("/jsonrpc", HeaderBelowMain), ("/api", Missing)] {
            if prefix.is_empty() && is_new {
                check(&format!("/v4/{name}"), Credential::PathAlias(name.into()), Target::Main);
                let other = format!("/v4/{name}/{name}/7");
                check(&other, Credential::PathAlias(name.into()), Target::Surface(surface, segments("7")));
                continue;
            }
            check(&format!("/v4{prefix}/{name}"), credential, Target::Surface(surface, vec![]));
        }
    }
    check(&format!("/api/v1/{KEY}/verify"), key(), Target::Surface(&VERIFY, segments("verify")));
    for path in ["/v4", "/v5/x", "/v4/docs", "/v4/admin/x", "/v4/jsonrpc/unknown", "/v4%zz"] {
        assert_eq!(parse(path).target, Target::Nothing, "{path}");
    }
}

#[test]
fn a_segment_of_31_or_33_digits_is_no_key_and_upper_case_is_one() {
    for text in [&KEY[1..], &format!("{KEY}0"), "0123456789abcdef0123456789abcdeg"] {
        assert_eq!(parse(&format!("/v4/{text}")).credential, Credential::PathAlias(text.to_owned()));
    }
    assert_eq!(parse(&format!("/v4/{}", KEY.to_uppercase())).credential, key());
    assert_eq!(parse(&format!("//v4//%30{}//mempool", &KEY[1..])).credential, key());
}

#[test]
fn a_slash_inside_a_segment_stays_inside_it() {
    assert_eq!(parse("/v4/api/a%2Fb").target, Target::Rest(vec!["a/b".into()]));
}

#[test]
fn error_bodies_have_the_form_of_the_path() {
    use ErrorForm::{JsonRpc, Rest};
    for (path, form) in [
        ("/v4/unlisted", JsonRpc),
        ("/v4/jsonrpc", JsonRpc),
        ("/v4/jsonrpc/espo", JsonRpc),
        ("/v4/mempool", JsonRpc),
        ("/v4/unlisted/mempool", JsonRpc),
        ("/v4/unlisted/mempool/observe", Rest),
        ("/v4/unlisted/mempool/ws", Rest),
        ("/v4/forex", JsonRpc),
        ("/v4/espo", JsonRpc),
        ("/v4/btcusd", JsonRpc),
        ("/v4/reorg/5", JsonRpc),
        ("/v4/orderbook/markets", Rest),
        ("/v4/unlisted/get-alkanes", Rest),
        ("/v4/opi", Rest),
        ("/nothing", Rest),
    ] {
        assert_eq!(parse(path).form, form, "{path}");
    }
}

proptest! {
    #[test]
    fn no_path_panics(path in "\\PC{0,200}") {
        let _ = parse(&path);
    }

    #[test]
    fn a_reserved_word_is_never_an_alias(index in 0..RESERVED_WORDS.len(), tail in "[a-z/]{0,20}") {
        let route = parse(&format!("/v4/{}/{tail}", RESERVED_WORDS[index]));
        prop_assert!(!matches!(route.credential, Credential::PathAlias(_)));
    }
}

#[test]
fn only_what_reads_is_asked_again() {
    let body = |method: &str| format!(r#"{{"method":"{method}","params":[]}}"#);
    for (path, verb, text, expected) in [
        ("/v4/KEY", Method::POST, body("btc_getblockcount"), true),
        ("/v4/KEY", Method::POST, body("btc_sendrawtransaction"), false),
        ("/v4/KEY", Method::POST, body(r"btc_\u0073endrawtransaction"), false),
        ("/v4/KEY", Method::POST, body("submitpackage"), false),
        ("/v4/KEY", Method::POST, body("esplora_txs::package"), false),
        ("/v4/KEY", Method::POST, body("esplora_broadcast"), false),
        ("/v4/KEY", Method::POST, body("esplora_post-tx"), false),
        ("/v4/KEY", Method::POST, body("lua_evalscript"), false),
        ("/v4/KEY", Method::POST, body("sandshrew_evalsaved"), false),
        ("/v4/KEY", Method::POST, body("lua_savescript"), false),
        ("/v4/KEY", Method::POST, r#"[["sandshrew_multicall",[["btc_sendrawtransaction",["00"]]]]]"#.into(), false),
        ("/v4/KEY/get-alkanes", Method::POST, "{}".into(), true),
        ("/v4/KEY/mempool", Method::POST, body("mempool_info"), true),
        ("/v4/KEY/mempool/observe", Method::POST, "00".into(), false),
        ("/v4/KEY/orderbook/ingest", Method::POST, "[]".into(), false),
        ("/v4/KEY/orderbook/markets", Method::GET, String::new(), true),
        ("/v4/KEY/esplora/tx", Method::POST, "00".into(), false),
        ("/v4/KEY/esplora/broadcast", Method::GET, String::new(), false),
        ("/v4/KEY/esplora/blocks/tip/height", Method::HEAD, String::new(), true),
        ("/v4/KEY/reorg/5", Method::POST, body("sendrawtransaction"), false),
        ("/api/v1/KEY/verify", Method::POST, String::new(), false),
        ("/v4/KEY/get-alkanes", Method::DELETE, String::new(), false),
    ] {
        assert_eq!(is_repeatable(&SURFACES, &route(path), &verb, text.as_bytes()), expected, "{verb} {path} {text}");
    }
}

#[test]
fn no_writing_puts_a_method_of_accounts_through() {
    for text in [
        r#"{"method":"admin_createApiKey","params":{"name":"x"}}"#,
        r#"{"method":"\u0061dmin_createApiKey"}"#,
        r#"[{"method":"btc_getblockcount"},{"method":"admin_listApiKeys"}]"#,
        r#"{"method":"sandshrew_multicall","params":[["admin_createApiKey",{"name":"x"}]]}"#,
        r#"{"method":"sandshrew_multicall","params":[["\u0061dmin_createApiKey",{"name":"\ud800"}]]}"#,
        r#"{"method":"admin_x","method":"#,
        &format!("{}\"admin_x\"{}", "[".repeat(65), "]".repeat(65)),
        &format!("{}\"\\u0061\"{}", "[".repeat(65), "]".repeat(65)),
    ] {
        assert!(names_own(text.as_bytes(), "admin_", 64), "{text}");
    }
    for text in
        [r#"{"method":"btc_getblockcount"}"#, r#"{"id":"\u00e9","method":"ord_rune"}"#, "", "x", r#"["an admin_"]"#]
    {
        assert!(!names_own(text.as_bytes(), "admin_", 64), "{text}");
    }
}

#[test]
fn a_route_is_the_same_at_the_instance() {
    for path in [
        "/v4/KEY",
        "/v4/KEY/get-alkanes",
        "/v4/KEY/api/v1/mempool",
        "/v4/KEY/api/v1/api/v1/health",
        "/v4/KEY/address/bc1q%2F..%2F%00%0d%0a%23%3F/balances",
        "/v4/KEY/../../etc",
        "/v4/KEY/%zz",
        "/v4/KEY/opi/v1/brc20/balance",
        "/v4/KEY/mempool/observe",
        "/v4/KEY/reorg/5",
        "/v4/KEY/udf/config",
        "/api/v1/KEY/source/4:0/a%2Fb",
    ] {
        let ours = route(path);
        let there = parse(&path_of(&ours.target, OTHER).unwrap());
        assert_eq!((there.target, there.form), (ours.target, ours.form), "{path}");
        assert_eq!(there.credential, route(&path.replace("KEY", OTHER)).credential, "{path}");
    }
}

proptest! {
    #[test]
    fn any_path_is_the_same_at_the_instance(tail in "\\PC{0,80}") {
        let ours = parse(&format!("/v4/{KEY}/{tail}"));
        if let Some(path) = path_of(&ours.target, OTHER) {
            prop_assert!(path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/%-_".contains(&byte)), "{path}");
            prop_assert_eq!(parse(&path).target, ours.target);
        }
    }
}
