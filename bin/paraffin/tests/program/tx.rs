//! `paraffin tx` and `paraffin call simulate` as a developer uses them: against `dev`, and against `serve` beside both nodes.

use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use crate::support::process::{Running, paraffin};
use crate::support::served::{Backend, Served, address};
use crate::support::{free_port, http, wait_for};
use bitcoin::{Address, Network, ScriptBuf};
use paraffin_wallet::{AddressKind, Key};
use serde_json::{Value, json};

/// A regtest key made for these tests.
const WIF: &str = "cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA";

/// An address of a third party.
const STRANGER: &str = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080";

fn script(kind: AddressKind) -> ScriptBuf {
    Key::from_wif(WIF, paraffin_primitives::Network::Regtest).unwrap().script(kind)
}

/// One run of `paraffin tx` that must work; what it prints as JSON.
fn tx(base_url: &str, api_key: &str, wif: &str, arguments: &[&str]) -> Value {
    let output = try_tx(base_url, api_key, wif, arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {errors}");
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}\n{errors}", String::from_utf8_lossy(&output.stdout)))
}

fn try_tx(base_url: &str, api_key: &str, wif: &str, arguments: &[&str]) -> Output {
    let mut command: Command = paraffin();
    command.arg("tx").args(arguments).args(["--url", base_url, "--key", api_key, "--json"]).env("PARAFFIN_WIF", wif);
    command.output().unwrap()
}

/// Everything that does not need an index of alkanes, beside one node.
fn pay_call_and_deploy_beside(backend: Backend) {
    let mut served = Served::start(backend);
    // The first coin matures, the later ones are too young to be spent.
    served.backend.mine(1, &script(AddressKind::Taproot));
    served.backend.mine(100, &served.scripts[0]);
    served.backend.mine(1, &script(AddressKind::Taproot));
    served.wait_for_tip();
    let (base_url, key) = (format!("http://{}", served.address), served.key.clone());
    let run = |arguments: &[&str]| {
        tx(&base_url, &key, WIF, &[arguments, &["--yes", "--assume-plain", "--fee-rate", "2"]].concat())
    };

    // A payment, and one to the other address of the key.
    let paid = run(&["send", STRANGER, "40000"]);
    let txid = paid["txid"].as_str().unwrap().to_owned();
    assert!(served.backend.mempool().iter().any(|pending| pending.to_string() == txid), "{paid}");
    served.backend.mine(1, &served.scripts[0]);
    served.wait_for_tip();
    let own = address(&script(AddressKind::WitnessKey));
    run(&["send", &own, "3000000"]);
    served.backend.mine(1, &served.scripts[0]);
    served.wait_for_tip();

    // A call carries protostones in an OP_RETURN output, which both nodes take; spent is the coin of the other address.
    let called = run(&["execute", "2:0", "--inputs", "77", "--kind", "witness", "--no-simulate"]);
    let runestone = called["outputs"].as_array().unwrap().iter().find(|output| output["role"] == "runestone").unwrap();
    assert!(runestone["script"].as_str().unwrap().starts_with("6a5d"), "{called}");
    served.backend.mine(1, &served.scripts[0]);
    served.wait_for_tip();
    let esplora = served.esplora(&format!("/tx/{}", called["txid"].as_str().unwrap()));
    assert_eq!(esplora["status"]["confirmed"], true);

    // A deployment: the code goes through the witness of the second transaction, spent by script and signed by the key.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("contract.wasm");
    let noise = (0..20_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8);
    std::fs::write(&file, b"\0asm\x01\0\0\0".iter().copied().chain(noise).collect::<Vec<u8>>()).unwrap();
    let deployed = run(&["deploy", file.to_str().unwrap(), "--init", "0", "--no-simulate"]);
    let pending = served.backend.mempool();
    for part in ["commit", "reveal"] {
        let txid = deployed[part]["txid"].as_str().unwrap();
        assert!(pending.iter().any(|known| known.to_string() == txid), "{part} {deployed}");
    }
    served.backend.mine(1, &served.scripts[0]);
    served.wait_for_tip();

    // A commit alone can be taken back with the file and the key: its reveal was made, but is held back here.
    let dry = run(&["deploy", file.to_str().unwrap(), "--init", "1", "--no-simulate", "--dry-run"]);
    let commit = &dry["commit"]["outputs"][0];
    let (to, sats) = (commit["address"].as_str().unwrap(), commit["value"].as_u64().unwrap().to_string());
    let paid = run(&["send", to, &sats]);
    served.backend.mine(1, &served.scripts[0]);
    served.wait_for_tip();
    let outpoint = format!("{}:0", paid["txid"].as_str().unwrap());
    let back = run(&["deploy", file.to_str().unwrap(), "--init", "1", "--recover", &outpoint]);
    assert_eq!(back["sent"], true);
    served.backend.mine(1, &served.scripts[0]);
    served.wait_for_tip();
    let recovered = served.esplora(&format!("/tx/{}", back["recovery"]["txid"].as_str().unwrap()));
    assert_eq!(recovered["status"]["confirmed"], true, "{recovered}");
}

#[test]
fn payments_calls_and_deployments_are_taken_by_the_devnet() {
    pay_call_and_deploy_beside(Backend::devnet());
}

#[test]
fn payments_calls_and_deployments_are_taken_by_bitcoin_core() {
    let Some(backend) = Backend::core() else { return };
    pay_call_and_deploy_beside(backend);
}

/// A dev instance, its description, its address and a key without limits.
struct Dev {
    _process: Running,
    described: Value,
    _folder: tempfile::TempDir,
}

impl Dev {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listen = format!("127.0.0.1:{}", free_port());
        let mut process =
            Running::start(paraffin().args(["dev", "--listen", &listen, "--data-dir"]).arg(folder.path()));
        process.wait_for_output("ready", Duration::from_secs(60));
        let described =
            serde_json::from_str(&std::fs::read_to_string(folder.path().join("dev.json")).unwrap()).unwrap();
        Self { _process: process, described, _folder: folder }
    }

    fn text(&self, pointer: &str) -> &str {
        self.described.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("{pointer}"))
    }

    fn tx(&self, arguments: &[&str]) -> Value {
        let all = [arguments, &["--yes", "--fee-rate", "2"]].concat();
        tx(self.text("/base_url"), self.text("/keys/business"), self.text("/accounts/0/wif"), &all)
    }

    fn listen(&self) -> &str {
        self.text("/base_url").strip_prefix("http://").unwrap()
    }

    /// Mines a block by the node's own method and waits until the index has it.
    fn mine(&self) {
        let url = self.text("/node/rpc_url").strip_prefix("http://").unwrap();
        let user = format!("{}:{}", self.text("/node/user"), self.text("/node/password"));
        let credentials = format!("Basic {}", data_encoding::BASE64.encode(user.as_bytes()));
        let body = json!({"id": 1, "method": "generatetoaddress", "params": [1, STRANGER]}).to_string();
        let answer = http::try_request(url, "POST", "/", &[("authorization", &credentials)], body.as_bytes()).unwrap();
        let hash = answer.json()["result"][0].clone();
        let path = format!("/v4/{}", self.text("/keys/business"));
        wait_for("the index to reach the new block", Duration::from_secs(30), || {
            (http::call(self.listen(), &path, "btc_getbestblockhash", json!([]))["result"] == hash).then_some(())
        });
    }
}

#[test]
fn an_account_of_dev_pays_by_the_key_in_dev_json() {
    let dev = Dev::start();
    let to = Address::from_script(&script(AddressKind::Taproot), Network::Regtest).unwrap().to_string();
    // Accounts hold rewards of blocks, too young ones among them, which are passed over.
    let report = dev.tx(&["send", &to, "123456", "--assume-plain"]);
    assert_eq!(report["sent"], true);
    dev.mine();
    let body = json!({ "address": to });
    let listed = http::post(dev.listen(), "/v4/api/get-address-utxos", &body).json();
    assert_eq!(listed["data"]["utxos"][0]["value"], 123_456, "{listed}");

    // Without a key, with one of mainnet, and with too little, nothing is sent and the reason is printed.
    let (url, api_key) = (dev.text("/base_url"), dev.text("/keys/business"));
    for (wif, amount, expected) in [
        ("", "1000", "wallet import format"),
        ("KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn", "1000", "another network"),
        (dev.text("/accounts/0/wif"), "2100000000000000", "are needed"),
        (dev.text("/accounts/0/wif"), "100", "would not be relayed"),
    ] {
        let output = try_tx(url, api_key, wif, &["send", &to, amount, "--yes", "--assume-plain"]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && errors.contains(expected), "{amount}: {errors}");
    }
}

/// The path of the counter that the documentation teaches.
fn counter() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contracts/wasm/counter.wasm");
    path.canonicalize().unwrap().to_str().unwrap().to_owned()
}

/// An instance beside a devnet, on which the key of these tests has coins, and no other transactions are made.
struct Contracts {
    served: Served,
    base_url: String,
}

impl Contracts {
    fn start() -> Self {
        let mut served = Served::start(Backend::devnet());
        served.backend.mine(4, &script(AddressKind::Taproot));
        served.backend.mine(100, &served.scripts[0]);
        served.wait_for_tip();
        let base_url = format!("http://{}", served.address);
        Self { served, base_url }
    }

    fn try_tx(&self, arguments: &[&str]) -> Output {
        let all = [arguments, &["--yes", "--fee-rate", "2"]].concat();
        try_tx(&self.base_url, &self.served.key, WIF, &all)
    }

    /// Runs a command of `tx` with `--wait` while blocks are mined, as a developer does in two terminals.
    fn tx(&self, arguments: &[&str]) -> Value {
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let all = [arguments, &["--yes", "--fee-rate", "2", "--wait"]].concat();
                tx(&self.base_url, &self.served.key, WIF, &all)
            });
            while !waiting.is_finished() {
                std::thread::sleep(Duration::from_millis(500));
                self.served.backend.mine(1, &self.served.scripts[0]);
            }
            waiting.join().unwrap()
        })
    }

    fn simulate(&self, arguments: &[&str]) -> Value {
        let mut command = paraffin();
        command.args(["call", "simulate"]).args(arguments).args(["--json", "--url", &self.base_url]);
        let output = command.args(["--key", &self.served.key]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Base units of `id` on all outputs of an address.
    fn held(&mut self, address: &str, id: &str) -> u128 {
        self.served.wait_for_tip();
        let body = json!({ "address": address });
        let listed = http::post(&self.served.address, &self.served.keyed("/get-alkanes-utxo"), &body).json();
        let utxos = listed["data"].as_array().unwrap_or_else(|| panic!("{listed}")).clone();
        utxos.iter().filter_map(|utxo| utxo["alkanes"][id]["balance"].as_str()?.parse::<u128>().ok()).sum()
    }
}

#[test]
fn a_counter_is_deployed_called_and_read() {
    let contracts = Contracts::start();
    let deployed = contracts.tx(&["deploy", &counter(), "--init", "0"]);
    assert_eq!(deployed["outcome"]["success"], true, "{deployed}");
    let id = deployed["outcome"]["created"][0].as_str().unwrap().to_owned();
    assert!(id.starts_with("2:"), "{id}");

    let raised = contracts.tx(&["execute", &id, "--inputs", "1,41"]);
    assert_eq!(raised["simulation"]["integer"], "41", "{raised}");
    assert_eq!(raised["outcome"]["success"], true, "{raised}");

    assert_eq!(contracts.simulate(&[&id, "2"])["integer"], "41");
    assert_eq!(contracts.simulate(&[&id, "1", "1"])["integer"], "42");
    assert_eq!(contracts.simulate(&[&id, "2"])["integer"], "41", "a simulation leaves nothing behind");
    assert_eq!(contracts.simulate(&[&id, "999"])["success"], false);

    // A second initialisation reverts; it is refused before it is signed.
    let refused = contracts.try_tx(&["execute", &id, "--inputs", "0"]);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("would revert"));
}

#[test]
fn tokens_are_minted_sent_wrapped_and_unwrapped_without_losing_any() {
    let mut contracts = Contracts::start();
    let own = address(&script(AddressKind::Taproot));
    let minted = contracts.tx(&["mint", "2:0"]);
    assert_eq!(minted["outcome"]["success"], true, "{minted}");
    let total = contracts.held(&own, "2:0");
    assert!(total > 7, "{total}");

    let sent = contracts.tx(&["send", STRANGER, "2:0=7"]);
    assert_eq!(sent["sent"], true);
    assert_eq!((contracts.held(&own, "2:0"), contracts.held(STRANGER, "2:0")), (total - 7, 7));

    let wrapped = contracts.tx(&["wrap", "1000000"]);
    assert_eq!(wrapped["outcome"]["success"], true, "{wrapped}");
    let holding = contracts.held(&own, "32:0");
    assert!(holding > 500_000 && holding <= 1_000_000, "{holding}");
    let unwrapped = contracts.tx(&["unwrap", "500000"]);
    assert_eq!(unwrapped["outcome"]["success"], true, "{unwrapped}");
    assert_eq!(contracts.held(&own, "32:0"), holding - 500_000);
    assert_eq!(contracts.held(&own, "2:0"), total - 7, "nothing else moved");
}
