//! One process serves one network; each starts without its node and knows its own addresses.

use std::time::Duration;

use crate::support::process::{Running, paraffin, write_config};
use crate::support::{free_port, http};
use serde_json::json;

const ADDRESSES: [(&str, &str); 3] = [
    ("mainnet", "bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr"),
    ("signet", "tb1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqp3mvzv"),
    ("regtest", "bcrt1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqvg32hk"),
];

/// row GW10
#[test]
fn each_network_is_served_and_takes_only_its_own_addresses() {
    for (network, own) in ADDRESSES {
        let folder = tempfile::tempdir().unwrap();
        let listen = format!("127.0.0.1:{}", free_port());
        let config = write_config(
            folder.path(),
            &format!(
                "network = \"{network}\"\ndata_dir = \"{}\"\n[node]\nurl = \"http://127.0.0.1:{}\"\n[gateway]\nlisten = \"{listen}\"\n",
                folder.path().join("data").display(),
                free_port()
            ),
        );
        let mut process = Running::start(paraffin().args(["serve", "--config"]).arg(&config));
        process.wait_for_output("listening on", Duration::from_secs(20));
        let health = http::get(&listen, "/v4/api/health").json();
        assert_eq!(health["network"], network);
        assert_eq!(health["node"]["reachable"], json!(false), "{health}");
        for (other, address) in ADDRESSES {
            let answer = http::post(&listen, "/v4/api/get-address-balance", &json!({"address": address}));
            assert_eq!(
                answer.status,
                if other == network { 200 } else { 400 },
                "{network} {address}: {}",
                answer.text()
            );
            let called = http::call(&listen, "/v4/jsonrpc", "esplora_address", json!([address]));
            assert_eq!(called.get("error").is_none(), address == own, "{network} {address}: {called}");
            if other != network {
                assert_eq!(called["error"]["code"], -32602);
                assert!(answer.json()["error"].as_str().unwrap().contains(network), "{}", answer.text());
            }
        }
        assert!(process.terminate(Duration::from_secs(5)).success());
    }
}

/// What an instance of a network answers about contracts and markets: the code of each refusal, `None` where there is none.
fn refusals_of_contracts(network: &str, alkanes: &str) -> Vec<(String, Option<String>)> {
    let folder = tempfile::tempdir().unwrap();
    let listen = format!("127.0.0.1:{}", free_port());
    let data = folder.path().join("data");
    let text = format!(
        "network = \"{network}\"\ndata_dir = \"{}\"\n[node]\nurl = \"http://127.0.0.1:{}\"\n[gateway]\nlisten = \"{listen}\"\n{alkanes}",
        data.display(),
        free_port()
    );
    let config = write_config(folder.path(), &text);
    let mut process = Running::start(paraffin().args(["serve", "--config"]).arg(&config));
    process.wait_for_output("listening on", Duration::from_secs(60));
    let created = paraffin().args(["keys", "create", "test", "--data-dir"]).arg(&data).output().unwrap();
    let key = String::from_utf8(created.stdout).unwrap().trim().to_owned();
    let own = ADDRESSES.iter().find(|(name, _)| *name == network).unwrap().1;
    let mut all = Vec::new();
    for (route, body) in [
        ("get-alkanes", json!({})),
        ("get-alkanes-by-address", json!({ "address": own })),
        ("get-pools", json!({ "factoryId": "4:65522" })),
        ("get-all-history", json!({})),
    ] {
        let answer = http::post(&listen, &format!("/v4/api/{route}"), &body).json();
        all.push((route.to_owned(), answer["code"].as_str().map(str::to_owned)));
    }
    for (path, method, params) in [
        ("", "alkanes_protorunesbyaddress", json!([{ "address": own }])),
        ("/espo", "essentials.get_address_balances", json!({ "address": own })),
        ("/btcusd", "metashrew_view", json!(["getpools", "0x", "latest"])),
    ] {
        let answer = http::call(&listen, &format!("/v4/{key}{path}"), method, params);
        all.push((method.to_owned(), answer["error"]["data"]["code"].as_str().map(str::to_owned)));
    }
    assert!(process.terminate(Duration::from_secs(10)).success());
    all
}

/// row GW10
#[test]
fn contracts_are_served_on_regtest_and_elsewhere_named_as_not_indexed_without_the_operators_program() {
    for (route, code) in refusals_of_contracts("regtest", "") {
        assert_ne!(code.as_deref(), Some("ALKANES_NOT_INDEXED"), "{route}");
    }
    for network in ["mainnet", "signet"] {
        for (route, code) in refusals_of_contracts(network, "") {
            assert_eq!(code.as_deref(), Some("ALKANES_NOT_INDEXED"), "{network} {route}");
        }
    }
}

#[test]
fn with_the_operators_program_contracts_are_served_on_mainnet() {
    let Some(program) = paraffin_testkit::reference_program("alkanes-2.2.1-mainnet.wasm") else { return };
    let alkanes = format!("[alkanes]\nwasm_path = \"{}\"\n", program.display());
    for (route, code) in refusals_of_contracts("mainnet", &alkanes) {
        assert_ne!(code.as_deref(), Some("ALKANES_NOT_INDEXED"), "{route}");
    }
}

#[test]
fn a_store_of_another_network_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let listen = format!("127.0.0.1:{}", free_port());
    let text = |network: &str| {
        format!(
            "network = \"{network}\"\ndata_dir = \"{}\"\n[node]\nurl = \"http://127.0.0.1:{}\"\n[gateway]\nlisten = \"{listen}\"\n",
            folder.path().join("data").display(),
            free_port()
        )
    };
    let config = write_config(folder.path(), &text("regtest"));
    let mut process = Running::start(paraffin().args(["serve", "--config"]).arg(&config));
    process.wait_for_output("listening on", Duration::from_secs(20));
    process.terminate(Duration::from_secs(5));
    let config = write_config(folder.path(), &text("signet"));
    let mut process = Running::start(paraffin().args(["serve", "--config"]).arg(&config));
    assert!(!process.wait(Duration::from_secs(20)).success());
    let errors = process.errors();
    assert!(errors.contains("regtest") && errors.contains("signet"), "{errors}");
}

#[test]
fn a_configuration_that_cannot_be_used_is_refused_with_the_member_named() {
    let folder = tempfile::tempdir().unwrap();
    let url = "url = \"http://127.0.0.1:1\"\n";
    for (text, word) in [
        ("", "node"),
        ("[node]\nurl = 5\n", "url"),
        ("network = \"testnet\"\n[node]\nurl = \"http://127.0.0.1:1\"\n", "network"),
        ("[node]\nurl = \"https://127.0.0.1:1\"\n", "http://"),
        (&format!("[node]\n{url}user = \"a\"\n"), "password"),
        (&format!("[node]\n{url}[index]\nmemory_mib = 1\n"), "memory_mib"),
        (&format!("[node]\n{url}[index]\nmemory = 1\n"), "memory"),
    ] {
        let config = write_config(folder.path(), text);
        let run = paraffin().args(["serve", "--config"]).arg(&config).output().unwrap();
        assert!(!run.status.success(), "{text}");
        let errors = String::from_utf8_lossy(&run.stderr);
        assert!(errors.contains(word), "{text}: {errors}");
    }
    let run = paraffin().args(["serve", "--config"]).arg(folder.path().join("absent")).output().unwrap();
    assert!(String::from_utf8_lossy(&run.stderr).contains("[node]"));
}
