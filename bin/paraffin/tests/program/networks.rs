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
