//! Classifies requests by their path and bytes: whether they only read, and whether they manage accounts.

use hyper::Method;
use serde_json::Value;

use crate::jsonrpc::nests_deeper_than;
use crate::routes::{ErrorForm, KeyedSurface, Route, Target, push_encoded};

/// Parts of the names of all methods that may change state. A body that contains one of them counts as changing.
const CHANGES: [&[u8]; 8] =
    [b"sendraw", b"package", b"broadcast", b"post", b"evalscript", b"evalsaved", b"savescript", b"admin_"];

/// Whether the request only reads, so that it may be sent again after an instance has received it.
pub(super) fn is_repeatable(route: &Route, verb: &Method, body: &[u8]) -> bool {
    if let Target::Surface(KeyedSurface::Esplora, tail) = &route.target
        && tail.first().is_some_and(|first| first == "broadcast")
    {
        return false;
    }
    match *verb {
        Method::GET | Method::HEAD => true,
        Method::POST => match (&route.target, route.form) {
            (Target::Rest(_), _) => true,
            // An escape could hide a name.
            (_, ErrorForm::JsonRpc) => !holds(body, b"\\u") && CHANGES.iter().all(|word| !holds(body, word)),
            (_, ErrorForm::Rest) => false,
        },
        _ => false,
    }
}

/// Whether a string in the body begins with `admin_`, as methods that manage accounts do. A body that cannot be parsed and may hide
/// such a name counts as well.
pub(super) fn names_admin(body: &[u8], depth_max: usize) -> bool {
    if !holds(body, b"admin_") && !holds(body, b"\\u") {
        return false;
    }
    // Not parsed, so it may name anything; the instance may accept deeper nesting.
    if nests_deeper_than(body, depth_max) {
        return true;
    }
    serde_json::from_slice(body).map_or(true, |body: Value| contains_admin_text(&body))
}

fn contains_admin_text(value: &Value) -> bool {
    match value {
        Value::String(text) => text.starts_with("admin_"),
        Value::Array(values) => values.iter().any(contains_admin_text),
        Value::Object(members) => members.values().any(contains_admin_text),
        _ => false,
    }
}

fn holds(text: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(text, word).is_some()
}

/// The path of a request at an instance that identifies us by `key`. Each segment is percent-encoded, so that it stays one.
pub(super) fn path_of(target: &Target, key: &str) -> Option<String> {
    let (begin, tail): (String, &[String]) = match target {
        Target::Main => (format!("/v4/{key}"), &[]),
        // The prefix `api/v1` keeps a route here from being taken for a surface there.
        Target::Rest(segments) => (format!("/v4/{key}/api/v1"), segments),
        Target::Opi(segments) => (format!("/v4/{key}/opi"), segments),
        Target::Surface(KeyedSurface::Explorer, tail) => (format!("/api/v1/{key}"), tail),
        Target::Surface(surface, tail) => (format!("/v4/{key}/{}", surface.name()), tail),
        Target::Health | Target::PlainHealth | Target::Description(_) | Target::Site | Target::Nothing => return None,
    };
    let mut path = begin;
    for segment in tail {
        path.push('/');
        push_encoded(segment, &mut path);
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEY: &str = "0123456789abcdef0123456789abcdef";
    const OTHER: &str = "ffffffffffffffffffffffffffffffff";

    fn route(path: &str) -> Route {
        Route::parse(&path.replace("KEY", KEY))
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
            assert_eq!(is_repeatable(&route(path), &verb, text.as_bytes()), expected, "{verb} {path} {text}");
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
            assert!(names_admin(text.as_bytes(), 64), "{text}");
        }
        for text in
            [r#"{"method":"btc_getblockcount"}"#, r#"{"id":"\u00e9","method":"ord_rune"}"#, "", "x", r#"["an admin_"]"#]
        {
            assert!(!names_admin(text.as_bytes(), 64), "{text}");
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
            let there = Route::parse(&path_of(&ours.target, OTHER).unwrap());
            assert_eq!((there.target, there.form), (ours.target, ours.form), "{path}");
            assert_eq!(there.credential, route(&path.replace("KEY", OTHER)).credential, "{path}");
        }
    }

    proptest! {
        #[test]
        fn any_path_is_the_same_at_the_instance(tail in "\\PC{0,80}") {
            let ours = Route::parse(&format!("/v4/{KEY}/{tail}"));
            if let Some(path) = path_of(&ours.target, OTHER) {
                prop_assert!(path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/%-_".contains(&byte)), "{path}");
                prop_assert_eq!(Route::parse(&path).target, ours.target);
            }
        }
    }
}
