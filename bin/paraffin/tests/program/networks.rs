//! One process serves one network; each starts without its node and knows its own addresses.

use std::path::Path;
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

/// A configuration of a network whose node is away, with these lines at its end.
fn settings(folder: &Path, network: &str, alkanes: &str) -> std::path::PathBuf {
    let (data, node) = (folder.join("data"), free_port());
    write_config(
        folder,
        &format!(
            "network = \"{network}\"\ndata_dir = \"{}\"\n[node]\nurl = \"http://127.0.0.1:{node}\"\n[gateway]\nlisten = \
             \"127.0.0.1:{}\"\n[alkanes]\n{alkanes}\n",
            data.display(),
            free_port()
        ),
    )
}

/// The line of `paraffin doctor` about contracts.
fn doctor(config: &Path) -> String {
    let run = paraffin().args(["doctor", "--config"]).arg(config).output().unwrap();
    let output = String::from_utf8_lossy(&run.stdout).into_owned();
    output.lines().find(|line| line.contains("  contracts  ")).unwrap_or_else(|| panic!("{output}")).to_owned()
}

#[test]
fn an_instance_that_does_not_index_contracts_says_so_at_the_start_in_health_and_to_the_doctor() {
    for network in ["mainnet", "signet"] {
        let folder = tempfile::tempdir().unwrap();
        let listen = format!("127.0.0.1:{}", free_port());
        let config = settings(folder.path(), network, "");
        let mut process = Running::start(
            paraffin().args(["serve", "--config"]).arg(&config).env("PARAFFIN_GATEWAY__LISTEN", &listen),
        );
        process.wait_for_output("listening on", Duration::from_secs(20));
        let contracts = http::get(&listen, "/v4/api/health").json()["contracts"].clone();
        assert_eq!(contracts["answered"], json!(false), "{contracts}");
        let reason = contracts["reason"].as_str().unwrap();
        assert!(reason.contains("ALKANES_NOT_INDEXED") && reason.contains("[alkanes] wasm_path"), "{reason}");
        assert!(process.terminate(Duration::from_secs(5)).success());
        let errors = process.errors();
        let lines: Vec<&str> = errors.lines().filter(|line| line.contains("alkanes are not indexed")).collect();
        assert!(
            matches!(lines[..], [line] if line.contains("wasm_path") && line.contains("docs/hosted.md")),
            "{errors}"
        );

        let finding = doctor(&config);
        assert!(finding.starts_with("warning") && finding.contains("ALKANES_NOT_INDEXED"), "{finding}");
        let meant = doctor(&settings(folder.path(), network, "enabled = false"));
        assert!(meant.starts_with("ok") && meant.contains("enabled = false"), "{meant}");
    }
}

#[test]
fn the_doctor_judges_the_program_that_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let finding = |network: &str, program: &Path| {
        doctor(&settings(folder.path(), network, &format!("wasm_path = \"{}\"", program.display())))
    };
    let counter = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../contracts/wasm/block-counter.wasm"));
    let wrong = finding("mainnet", counter);
    assert!(wrong.starts_with("WRONG") && wrong.contains("holds no contract at all"), "{wrong}");
    let Some(program) = paraffin_testkit::reference_program("alkanes-2.2.1-mainnet.wasm") else { return };
    let good = finding("mainnet", &program);
    assert!(good.starts_with("ok") && good.contains("all 9 built-in contracts of mainnet are there"), "{good}");
    let good = finding("regtest", &program);
    assert!(good.starts_with("ok") && good.contains("all 3 built-in contracts of regtest are there"), "{good}");
    // No program that we know is signet's.
    let wrong = finding("signet", &program);
    assert!(wrong.starts_with("WRONG") && wrong.contains("2:0 (the first of signet"), "{wrong}");
    assert!(wrong.contains("engine = \"hosted\""), "{wrong}");
}

#[test]
fn the_built_in_contracts_of_a_program_are_extracted_checked_and_used_from_their_folder() {
    let Some(program) = paraffin_testkit::reference_program("alkanes-2.2.1-mainnet.wasm") else { return };
    let folder = tempfile::tempdir().unwrap();
    let builtins = folder.path().join("builtins");
    let extract = |program: &Path, network: &str| {
        let run = paraffin()
            .args(["hosted", "extract-builtins", "--network", network])
            .args([program, &builtins])
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (run.status.success(), text(&run.stdout), text(&run.stderr))
    };
    let (is_well, output, errors) = extract(&program, "mainnet");
    assert!(is_well, "{errors}");
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines.len(), 9, "{output}");
    for (line, part) in [
        (0, "2:0 (base) from block 0: 58cca703f5462c733975c068c6d1e245cc32941741f4b6e61a468257b4b5ffb6 "),
        (7, "32:0 (1.3.1) from block 960000: e67a857f56ca2a574fc1528caa38399a34cc2727057934553a63743c03d94a42 "),
    ] {
        assert!(lines[line].starts_with(part), "{output}");
    }
    assert_eq!(std::fs::read_dir(&builtins).unwrap().count(), 9);
    // Their folder serves as the program did.
    let config = settings(folder.path(), "mainnet", &format!("builtins_folder = \"{}\"", builtins.display()));
    let good = doctor(&config);
    assert!(good.starts_with("ok") && good.contains("all 9 built-in contracts of mainnet are there"), "{good}");

    // Once more changes nothing; a file that was changed is named and left, and no longer taken for what it was.
    assert!(extract(&program, "mainnet").0);
    let changed = builtins.join("frsigil.wasm");
    let mut bytes = std::fs::read(&changed).unwrap();
    bytes[1000] ^= 1;
    std::fs::write(&changed, &bytes).unwrap();
    let (is_well, _, errors) = extract(&program, "mainnet");
    assert!(!is_well && errors.contains("frsigil.wasm is there and holds something else"), "{errors}");
    assert_eq!(std::fs::read(&changed).unwrap(), bytes);
    let wrong = doctor(&config);
    assert!(wrong.starts_with("WRONG") && wrong.contains("missing built-in contracts: 32:1;"), "{wrong}");

    // Of a program of another network what there is is written, and the rest is named.
    std::fs::remove_dir_all(&builtins).unwrap();
    let Some(regtest) = paraffin_testkit::reference_program("alkanes-2.2.1-regtest.wasm") else { return };
    let (is_well, output, errors) = extract(&regtest, "mainnet");
    assert!(
        !is_well && errors.contains("missing built-in contracts: 2:0 (base), 2:0 (upgraded), 32:0 (first)"),
        "{errors}"
    );
    assert_eq!((output.lines().count(), std::fs::read_dir(&builtins).unwrap().count()), (3, 3), "{output}");
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
