//! What clients of Blockstream's Esplora rely on beside the records: the status codes of the odd cases, and answers that say
//! "not found" only when nothing can be found.

// A failed `unwrap` fails the test, and calls read better with `json!` values given away.
use std::time::Duration;

use crate::support::http::{self, Answer};
use crate::support::process::{Running, paraffin, write_config};
use crate::support::served::{Backend, Numbers, Served, address};
use crate::support::{free_port, wait_for};
use bitcoin::bip32::{Xpriv, Xpub};
use bitcoin::secp256k1::Secp256k1;
use serde_json::json;

fn send(served: &Served, verb: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    let path = served.keyed(&format!("/esplora{path}"));
    http::try_request(&served.address, verb, &path, headers, body).unwrap()
}

fn get(served: &Served, path: &str) -> (u16, String) {
    let answer = send(served, "GET", path, &[], b"");
    (answer.status, answer.text())
}

/// Code and message of the refusal of one JSON-RPC call.
fn refused(served: &Served, method: &str, params: serde_json::Value) -> (i64, String) {
    let answer = http::call(&served.address, &served.keyed(""), method, params.clone());
    let error = &answer["error"];
    let code = error["code"].as_i64().unwrap_or_else(|| panic!("{method} {params} was not refused: {answer}"));
    (code, error["message"].as_str().unwrap().to_owned())
}

fn post(served: &Served, route: &str, body: &serde_json::Value) -> (u16, serde_json::Value) {
    let answer = http::post(&served.address, &served.keyed(&format!("/{route}")), body);
    (answer.status, answer.json())
}

fn served(blocks: u32) -> Served {
    let mut served = Served::start(Backend::devnet());
    served.backend.mine(blocks, &served.scripts[0]);
    served.wait_for_tip();
    served
}

/// A node may keep transactions of blocks that a reorg took away (Bitcoin Core with `-txindex` does, for ever). A coinbase of
/// such a block, or a payment that the new branch spends otherwise, can never confirm: shown as unconfirmed it would keep a
/// wallet waiting.
///
/// row MR05
#[test]
fn what_a_reorg_has_killed_is_not_shown_as_unconfirmed() {
    let mut served = served(110);
    let dead = served.backend.block(&served.backend.hash(110)).txdata[0].compute_txid().to_string();
    assert_eq!(get(&served, &format!("/tx/{dead}")).0, 200);
    served.reorganise(&mut Numbers::new(3), 1);
    served.wait_for_tip();
    let not_found = (404, "Transaction not found".to_owned());
    for below in ["", "/hex", "/raw", "/outspends"] {
        assert_eq!(get(&served, &format!("/tx/{dead}{below}")), not_found, "{below}");
    }
    assert_eq!(refused(&served, "esplora_tx", json!([dead])).0, -32004);
}

/// Wallets take 404 for "this transaction is gone" and drop what they were waiting for (BDK notes it as evicted). While the
/// node is away it is unknown what is unconfirmed, so the answer is 503, which clients try again.
///
/// row MR05
#[test]
fn while_the_node_is_away_an_unknown_transaction_is_not_said_to_be_missing() {
    let mut served = served(3);
    let known = served.backend.block(&served.backend.hash(2)).txdata[0].compute_txid();
    let unknown = "00".repeat(32);
    assert_eq!(get(&served, &format!("/tx/{unknown}")).0, 404);
    let Backend::Devnet { devnet, runtime } = std::mem::replace(&mut served.backend, Backend::devnet()) else {
        panic!()
    };
    runtime.block_on(devnet.shutdown());
    for below in ["", "/hex", "/raw", "/outspends"] {
        assert_eq!(get(&served, &format!("/tx/{unknown}{below}")).0, 503, "{below}");
        assert_eq!(get(&served, &format!("/tx/{known}{below}")).0, 200, "{below}");
    }
    let answer = http::call(&served.address, &served.keyed(""), "esplora_tx", json!([unknown]));
    assert_eq!(
        (&answer["error"]["code"], &answer["error"]["data"]["code"]),
        (&json!(-32603), &json!("UPSTREAM_UNAVAILABLE"))
    );
}

/// mempool.js writes `/blocks/undefined` and `/block/:hash/txs/undefined` when its optional parameter is left out, and lives on
/// the server taking any word there for none.
///
/// row MR05
#[test]
fn a_word_in_the_place_of_an_optional_number_counts_as_none() {
    let served = served(30);
    let tip = served.backend.hash(30);
    for (word, plain) in [
        ("/blocks/undefined".to_owned(), "/blocks".to_owned()),
        (format!("/block/{tip}/txs/undefined"), format!("/block/{tip}/txs")),
    ] {
        let answer = get(&served, &word);
        assert_eq!(answer.0, 200, "{word}: {}", answer.1);
        assert_eq!(answer, get(&served, &plain), "{word}");
    }
}

/// A number past the end is past the end however many digits it has; only what is no number is 400.
///
/// row MR05
#[test]
fn a_number_beyond_32_bits_is_past_the_end() {
    let served = served(3);
    let tip = served.backend.hash(3);
    for number in ["4294967296", "18446744073709551615"] {
        for (path, words) in [
            (format!("/block-height/{number}"), "Block not found"),
            (format!("/blocks/{number}"), "Block not found"),
            (format!("/block/{tip}/txid/{number}"), "tx index out of range"),
        ] {
            assert_eq!(get(&served, &path), (404, words.to_owned()), "{path}");
        }
        assert_eq!(refused(&served, "esplora_block-height", json!([number])).0, -32004);
    }
}

/// 304 stands for an answer that the client has; no client has one of what does not exist (RFC 9110, 13.1.2).
#[test]
fn what_does_not_exist_is_never_unchanged() {
    let served = served(3);
    let tip = served.backend.hash(3);
    let tag = send(&served, "GET", &format!("/block/{tip}"), &[], b"").header("etag").unwrap().to_owned();
    assert_eq!(send(&served, "GET", &format!("/block/{tip}"), &[("if-none-match", &tag)], b"").status, 304);
    for tag in [tag.as_str(), "*"] {
        for (path, status) in [
            ("/block/zz".to_owned(), 400),
            (format!("/block/{}", "00".repeat(32)), 404),
            ("/block-height/4".to_owned(), 404),
            ("/blocks/1/2/3".to_owned(), 404),
            (format!("/tx/{}/merkle-proof", "00".repeat(32)), 404),
        ] {
            let answer = send(&served, "GET", &path, &[("if-none-match", tag)], b"");
            assert_eq!((answer.status, answer.header("etag")), (status, None), "{path} {tag}");
        }
    }
}

/// -32601 is for a method that does not exist (docs/api.md); these exist and lack a parameter, or have one too many.
///
/// row MR05
#[test]
fn a_known_method_with_a_wrong_number_of_parameters_is_not_an_unknown_method() {
    let served = served(3);
    let (tip, txid) = (served.backend.hash(3), served.backend.block(&served.backend.hash(3)).txdata[0].compute_txid());
    let payee = address(&served.scripts[0]);
    for (method, params, expected) in [
        ("esplora_tx::outspend", json!([txid]), "vout is required"),
        ("esplora_block::txid", json!([tip]), "index is required"),
        ("esplora_address::txs:chain", json!([]), "address is required"),
        ("esplora_address::txs:mempool", json!([]), "address is required"),
        ("esplora_address::utxo", json!([]), "address is required"),
        ("esplora_address::utxo", json!([null]), "address is required"),
        ("esplora_tx::status", json!([]), "txid is required"),
        ("esplora_blocks:tip:height", json!(["x"]), "this method takes no parameters"),
        ("esplora_mempool:txids", json!(["x"]), "this method takes no parameters"),
        ("esplora_fee-estimates", json!([1]), "this method takes no parameters"),
        ("esplora_address", json!([payee, "extra"]), "this method takes at most 1 parameters"),
        ("esplora_tx::hex", json!([txid, "extra"]), "this method takes at most 1 parameters"),
    ] {
        let (code, message) = refused(&served, method, params.clone());
        assert_eq!((code, &*message), (-32602, expected), "{method} {params}");
    }
    for method in ["esplora_nothing", "esplora_tx::nothing", "esplora_"] {
        assert_eq!(refused(&served, method, json!([txid])).0, -32601, "{method}");
    }
}

/// The letters `prv` stand in one of some 1,800 extended public keys by chance.
///
/// row RB08
#[test]
fn a_public_key_is_not_called_private_for_its_letters() {
    let served = served(1);
    let secp = Secp256k1::new();
    let key = (0_u32..100_000)
        .map(|seed| Xpriv::new_master(bitcoin::Network::Regtest, &seed.to_be_bytes()).unwrap())
        .map(|key| Xpub::from_priv(&secp, &key).to_string())
        .find(|key| key.contains("prv"))
        .unwrap();
    for account in [key.clone(), format!("wpkh({key}/0/*)"), format!("tr({key}/<0;1>/*)")] {
        let (status, answer) = post(&served, "get-account-balance", &json!({ "account": account }));
        assert_eq!((status, &answer["data"]["balance"]), (200, &json!(0)), "{account}: {answer}");
    }
    // What is private is still refused, wherever it stands.
    let private = Xpriv::new_master(bitcoin::Network::Regtest, &[7; 32]).unwrap();
    for account in [
        private.to_string(),
        format!("wpkh({private}/0/*)"),
        format!("wsh(sortedmulti(1,{key}/0/*,[00000000/1h]{private}/0/*))"),
    ] {
        let (status, answer) = post(&served, "get-account-balance", &json!({ "account": account }));
        let sentence = answer["error"].as_str().unwrap();
        assert!(status == 400 && sentence.contains("private key") && !sentence.contains("prv"), "{answer}");
    }
}

/// A descriptor may nest deeper than a thread has stack, and a path may go deeper than keys do; one request ended the process.
///
/// row RB08
#[test]
fn a_descriptor_beyond_all_bounds_is_refused_and_the_process_lives() {
    let mut served = served(1);
    let secp = Secp256k1::new();
    let master = Xpriv::new_master(bitcoin::Network::Regtest, &[7; 32]).unwrap();
    let (key, point) =
        (Xpub::from_priv(&secp, &master), "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798");
    let nested = |depth: usize| format!("wsh({}pk({point}){})", "thresh(1,".repeat(depth), ")".repeat(depth));
    let deep = [250, 300, 350, 400].map(nested);
    let wrapped = format!("tr({},{}:pk({}))", &point[2..], "n".repeat(395), &point[2..]);
    let tree = format!("tr({},{}", &point[2..], "{".repeat(8000));
    let long = [256, 300, 2000].map(|steps| format!("wpkh({key}/{}*)", "0/".repeat(steps)));
    for account in deep.iter().chain([&wrapped, &tree]).chain(&long) {
        for route in ["get-account-balance", "get-account-utxos"] {
            let path = served.keyed(&format!("/{route}"));
            let body = json!({ "account": account }).to_string();
            let answer = http::try_request(&served.address, "POST", &path, &[], body.as_bytes());
            let answer =
                answer.unwrap_or_else(|| panic!("no answer to {} characters: {}…", account.len(), &account[..40]));
            assert_eq!(answer.status, 400, "{}…: {}", &account[..40], answer.text());
        }
        served.wait_for_tip();
    }
    // What wallets really use is far below the bounds.
    let usual =
        format!("wsh(or_d(pk({point}),and_v(v:thresh(2,pk({point}),s:pk({key}/0/*),s:pk({key}/1/*)),older(144))))");
    let (status, answer) = post(
        &served,
        "get-account-balance",
        &json!({ "account": usual.replacen(point, "02f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9", 1) }),
    );
    assert_eq!(status, 200, "{answer}");
}

/// A refusal names the field (docs/api.md, "REST"), and says what is wrong with the address.
///
/// row GW20
#[test]
fn a_malformed_address_is_refused_by_the_name_of_its_field() {
    let served = served(1);
    let good = address(&served.scripts[0]);
    let last = if good.ends_with('q') { "p" } else { "q" };
    let wrong = format!("{}{last}", &good[..good.len() - 1]);
    for (route, field) in [("get-address-balance", "address"), ("get-taproot-history", "taprootAddress")] {
        let (status, answer) = post(&served, route, &json!({ field: wrong }));
        let sentence = answer["error"].as_str().unwrap();
        assert!(status == 400 && sentence.contains(field), "{route}: {sentence}");
        assert!(!sentence.contains("base58"), "a bech32 address is reported as a bad legacy one: {sentence}");
    }
}

/// Blockstream's server reads the limits of a package as any decimal number, and looks at the transactions before the node does.
///
/// row MR05
#[test]
fn packages_are_read_as_blockstreams_server_reads_them() {
    let served = served(1);
    let hex = "00".repeat(60);
    for query in ["?maxfeerate=1e-5", "?maxfeerate=.1", "?maxfeerate=5.", "?maxburnamount=0e0"] {
        let body = json!([hex, hex]).to_string();
        let (status, words) = {
            let answer = send(&served, "POST", &format!("/txs/package{query}"), &[], body.as_bytes());
            (answer.status, answer.text())
        };
        assert!(!words.starts_with("Invalid max"), "{query}: {status} {words}");
    }
    let no_hex = "zz".repeat(60);
    for (package, words) in [
        (json!([hex, "00"]), "Invalid transaction size for item 1"),
        (json!([no_hex]), "Invalid transaction hex for item 0"),
    ] {
        let answer = send(&served, "POST", "/txs/package", &[], package.to_string().as_bytes());
        assert_eq!((answer.status, answer.text().as_str()), (400, words));
    }
}

/// An escape that is no text is a malformed segment of its path, not a path outside the API.
#[test]
fn a_broken_escape_is_answered_by_the_surface_that_it_is_sent_to() {
    let served = served(1);
    for escape in ["%ff", "%zz", "%"] {
        let answer = send(&served, "GET", &format!("/address/{escape}"), &[], b"");
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (400, Some("text/plain")),
            "{escape}: {}",
            answer.text()
        );
        let preflight =
            send(&served, "OPTIONS", &format!("/address/{escape}"), &[("origin", "https://a.example")], b"");
        assert_eq!(preflight.status, 204, "{escape}");
    }
}

/// A key is redacted in every log line (docs/security.md), also where some of its digits came as escapes.
///
/// row AU01
#[test]
fn a_key_with_escaped_digits_does_not_reach_the_log() {
    let backend = Backend::devnet();
    let folder = tempfile::tempdir().unwrap();
    let (data, address) = (folder.path().join("data"), format!("127.0.0.1:{}", free_port()));
    let created = paraffin().args(["keys", "create", "test", "--data-dir"]).arg(&data).output().unwrap();
    let key = String::from_utf8(created.stdout).unwrap().trim().to_owned();
    let text = format!(
        "network = \"regtest\"\ndata_dir = \"{}\"\n{}\n[gateway]\nlisten = \"{address}\"\n",
        data.display(),
        backend.config()
    );
    let config = write_config(folder.path(), &text);
    let mut process = Running::start(paraffin().args(["serve", "--config"]).arg(config));
    process.wait_for_output("listening on", Duration::from_secs(30));
    let escape = |text: &str| text.bytes().fold(String::new(), |text, byte| format!("{text}%{byte:02x}"));
    let written = [
        key.clone(),
        escape(&key),
        format!("{}{}{}", &key[..20], escape(&key[20..21]), &key[21..]),
        format!("%zz/{}{}", escape(&key[..1]), &key[1..]),
    ];
    for (place, key) in written.iter().enumerate() {
        let id = format!("request-{place}");
        http::try_request(&address, "GET", &format!("/v4/{key}/health"), &[("x-request-id", &id)], b"").unwrap();
        wait_for("the log line", Duration::from_secs(10), || process.errors().contains(&id).then_some(()));
    }
    // What a reader of the log could make of it.
    let log = process.errors().to_lowercase();
    let plain = percent_encoding::percent_decode_str(&log).decode_utf8_lossy();
    assert!(!plain.contains(&key[4..]), "the log contains the key:\n{log}");
}
