//! Debian's Electrum wallet without its window: it creates a wallet, receives, sends, replaces, and restores it from its seed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use data_encoding::BASE64;
use serde_json::{Value, json};

use super::Wire;
use super::electrs::{Electrs, settle};
use crate::support::process::Running;
use crate::support::served::{Backend, Served, address};
use crate::support::{free_port, http, wait_for};

/// Its process, which has wallets open and one server.
struct Electrum {
    _process: Running,
    folder: tempfile::TempDir,
    address: String,
}

impl Electrum {
    /// Starts `program` and waits until it has the server's chain.
    fn start(program: &Path, server: &str, height: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let mut command = Command::new(program);
        command
            .args(["--regtest", "--rpcuser", "paraffin", "--rpcpassword", "test", "-D"])
            .arg(folder.path())
            .args(["daemon", "--rpcsock", "tcp", "--rpcport", &port.to_string()])
            .args(["--oneserver", "--server", &format!("{server}:t")])
            .env("HOME", folder.path())
            .stdin(Stdio::null());
        let process = Running::start(&mut command);
        let electrum = Self { _process: process, folder, address: format!("127.0.0.1:{port}") };
        electrum.wait_for_height(height);
        electrum
    }

    /// Waits until it has the headers up to there: histories come before them.
    fn wait_for_height(&self, height: u32) {
        wait_for("Electrum to have the chain", Duration::from_secs(60), || {
            let about = self.try_call("getinfo", &json!({}))?;
            (about["connected"] == true && about["blockchain_height"] == height).then_some(())
        });
    }

    /// The result of a command; `None` where there is no answer yet.
    fn try_call(&self, method: &str, params: &Value) -> Option<Value> {
        let body = json!({"id": 1, "method": method, "params": params}).to_string();
        let key = format!("Basic {}", BASE64.encode(b"paraffin:test"));
        let headers = [("authorization", key.as_str()), ("content-type", "application/json")];
        let answer = http::try_request(&self.address, "POST", "/", &headers, body.as_bytes())?.json();
        assert!(answer["error"].is_null(), "{method} {params}: {answer}");
        Some(answer["result"].clone())
    }

    fn call(&self, method: &str, params: &Value) -> Value {
        self.try_call(method, params).unwrap_or_else(|| panic!("{method}: no answer"))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn create(&self, name: &str) -> Opened<'_> {
        let file = self.file(name);
        self.call("create", &json!({"wallet_path": file, "encrypt_file": false}));
        self.open(file)
    }

    fn restore(&self, name: &str, seed: &Value) -> Opened<'_> {
        let file = self.file(name);
        self.call("restore", &json!({"text": seed, "wallet_path": file, "encrypt_file": false}));
        self.open(file)
    }

    fn open(&self, file: PathBuf) -> Opened<'_> {
        assert_eq!(self.call("load_wallet", &json!({"wallet_path": file})), true);
        Opened { electrum: self, file }
    }
}

/// One wallet of the process.
struct Opened<'e> {
    electrum: &'e Electrum,
    file: PathBuf,
}

impl Opened<'_> {
    /// The result of a command about this wallet.
    fn call(&self, method: &str, mut params: Value) -> Value {
        params["wallet"] = json!(self.file);
        self.electrum.call(method, &params)
    }

    /// All that it knows: transactions with heights, times, amounts and fees, the balance, and the coins.
    fn state(&self) -> [Value; 3] {
        ["onchain_history", "getbalance", "listunspent"].map(|method| self.call(method, json!({})))
    }

    /// Waits until its transactions are those, each with its height, 0 for an unconfirmed one, and the others proved by their blocks.
    fn wait_for_history(&self, expected: &[(&Value, u32)]) {
        let expected = json!(expected);
        wait_for(&format!("the history {expected}"), Duration::from_secs(30), || {
            let history = self.call("onchain_history", json!({}));
            let all = history["transactions"].as_array().unwrap().iter();
            let is_proved = all.clone().all(|row| row["height"] == 0 || row["confirmations"] != 0);
            let rows: Vec<Value> = all.map(|row| json!([row["txid"], row["height"]])).collect();
            let is_whole = is_proved && self.call("is_synchronized", json!({})) == true;
            (json!(rows) == expected && is_whole).then_some(())
        });
    }

    fn receiving_script(&self) -> bitcoin::ScriptBuf {
        let text = self.call("getunusedaddress", json!({}));
        let address: bitcoin::Address<_> = text.as_str().unwrap().parse().unwrap();
        address.assume_checked().script_pubkey()
    }
}

#[test]
fn debians_electrum_creates_receives_sends_replaces_and_restores() {
    let Some([program]) = paraffin_testkit::installed(["electrum"], "electrum") else { return };
    let Some(core) = Backend::core() else { return };
    let ours = format!("127.0.0.1:{}", free_port());
    let mut served = Served::start_with(core, &format!("[electrum]\nlisten = \"{ours}\"\n"));
    served.backend.mine(1, &served.scripts[0]);
    served.wait_for_tip();
    let electrum = Electrum::start(&program, &ours, 1);
    let wallet = electrum.create("created");
    wallet.wait_for_history(&[]);
    let seed = wallet.call("getseed", json!({}));

    // It receives a coin in block 2, which can be spent after block 101.
    let own = wallet.receiving_script();
    served.backend.mine(1, &own);
    served.backend.mine(100, &served.scripts[0]);
    served.wait_for_tip();
    let coin = json!(served.backend.block(&served.backend.hash(2)).txdata[0].compute_txid());
    wallet.wait_for_history(&[(&coin, 2)]);
    electrum.wait_for_height(102);

    // It sends half of it, then replaces that by one that pays a higher fee. Both are signed before, since Debian's Electrum makes
    // none that replaces another (CVE-2026-117601).
    let sign = |feerate: &str| {
        let to = address(&served.scripts[1]);
        wallet.call("payto", json!({"destination": to, "amount": "20", "feerate": feerate, "rbf": true}))
    };
    let (first, second) = (sign("5"), sign("25"));
    let first = electrum.call("broadcast", &json!({"tx": first}));
    wallet.wait_for_history(&[(&coin, 2), (&first, 0)]);
    let second = electrum.call("broadcast", &json!({"tx": second}));
    wallet.wait_for_history(&[(&coin, 2), (&second, 0)]);
    served.backend.mine(1, &served.scripts[0]);
    wallet.wait_for_history(&[(&coin, 2), (&second, 103)]);
    let state = wallet.state();
    let balance: f64 = state[1]["confirmed"].as_str().unwrap().parse().unwrap();
    assert!((29.999..30.0).contains(&balance), "{state:?}");

    let restored = electrum.restore("restored", &seed);
    restored.wait_for_history(&[(&coin, 2), (&second, 103)]);
    assert_eq!(restored.state(), state);

    // The published `electrs` says the same of the seed.
    let Some(electrs) = Electrs::start(&served) else { return };
    settle(&mut served, &mut [&ours, &electrs.address].map(|address| Wire::connect(address)), &[]);
    let electrum = Electrum::start(&program, &electrs.address, 103);
    let restored = electrum.restore("restored", &seed);
    restored.wait_for_history(&[(&coin, 2), (&second, 103)]);
    assert_eq!(restored.state(), state);
}
