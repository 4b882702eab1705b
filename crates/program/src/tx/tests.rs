//! Whole runs against canned answers: what is refused before anything is signed.

use std::path::PathBuf;

use bitcoin::consensus::encode::serialize_hex;
use bitcoin::hashes::Hash as _;
use bitcoin::{Amount, OutPoint, Sequence, Transaction, TxIn, TxOut, Txid, Witness};
use clap::Parser as _;
use paraffin_primitives::Network;
use paraffin_wallet::{AddressKind, Key};
use tempfile::TempDir;

use super::canned::{Canned, run as block_on, utxo};
use super::*;
use crate::client::Refusal;
use crate::command_line::{Command, CommandLine};

/// Regtest and mainnet form of the same key, made for these tests.
const WIF: &str = "cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA";
const MAINNET_WIF: &str = "KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn";

const STRANGER: &str = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080";

fn script() -> ScriptBuf {
    Key::from_wif(WIF, Network::Regtest).unwrap().script(AddressKind::Taproot)
}

/// A transaction that pays `sats` to the key.
fn funding(sats: u64, coinbase: bool) -> Transaction {
    let previous_output =
        if coinbase { OutPoint::null() } else { OutPoint { txid: Txid::from_byte_array([9; 32]), vout: 0 } };
    let input = TxIn {
        previous_output,
        script_sig: ScriptBuf::from_bytes(vec![0x51, 0x51]),
        sequence: Sequence::MAX,
        witness: Witness::new(),
    };
    Transaction {
        version: bitcoin::transaction::Version::TWO,
        lock_time: bitcoin::absolute::LockTime::ZERO,
        input: vec![input],
        output: vec![TxOut { value: Amount::from_sat(sats), script_pubkey: script() }],
    }
}

/// An instance with one coin of the key, which carries nothing.
fn with_coin(transaction: &Transaction, told_sats: u64, confirmations: u32) -> Canned {
    let txid = transaction.compute_txid().to_string();
    let nothing = json!({ "balance_sheet": { "cached": { "balances": [] } }, "output": { "value": told_sats } });
    Canned::default()
        .with("btc_getblockchaininfo", json!({ "chain": "regtest" }))
        .with("esplora_fee-estimates", json!({ "3": 2.0 }))
        .with("get-address-utxos", json!({ "utxos": [utxo(&txid, 0, told_sats, confirmations)] }))
        .with("metashrew_height", json!("1000"))
        .with("alkanes_protorunesbyoutpoint", nothing)
        .with("esplora_tx::hex", json!(serialize_hex(transaction)))
        .with_fn("btc_testmempoolaccept", |params| {
            let count = params[0].as_array().map_or(0, Vec::len);
            Ok(Value::Array(vec![json!({ "allowed": true }); count]))
        })
        .with("btc_sendrawtransaction", json!("sent"))
}

/// Runs `paraffin tx …` against canned answers.
fn tx(endpoint: Canned, arguments: &[&str], wif: &str) -> (Result<Value, TxError>, Canned) {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("key");
    std::fs::write(&file, wif).unwrap();
    let file = file.to_str().unwrap();
    let keyed = !arguments.contains(&"--address");
    let key: &[&str] = if keyed { &["--wif-file", file] } else { &[] };
    let line = CommandLine::try_parse_from([&["paraffin", "tx"][..], arguments, key, &["--json"]].concat()).unwrap();
    let Command::Tx(parsed) = line.command else { panic!("not tx") };
    let common = parsed.command.common();
    block_on(async {
        let session = match Session::open(endpoint, common).await {
            Ok(session) => session,
            Err(error) => return (Err(error), Canned::default()),
        };
        let result = perform(&session, &parsed.command).await;
        (result, session.into_endpoint())
    })
}

fn refused(endpoint: Canned, arguments: &[&str]) -> String {
    let (result, endpoint) = tx(endpoint, arguments, WIF);
    assert!(!endpoint.was_asked("btc_sendrawtransaction"), "something was sent");
    result.unwrap_err().to_string()
}

#[test]
fn a_payment_is_planned_checked_and_sent() {
    let funding = funding(100_000, false);
    let (result, endpoint) = tx(with_coin(&funding, 100_000, 6), &["send", STRANGER, "40000", "--yes"], WIF);
    let report = result.unwrap();
    assert_eq!((&report["sent"], report["outputs"][0]["value"].as_u64()), (&json!(true), Some(40_000)));
    assert_eq!(report["outputs"][0]["address"], STRANGER);
    assert!(endpoint.was_asked("btc_sendrawtransaction"));
    let (result, endpoint) = tx(with_coin(&funding, 100_000, 6), &["send", STRANGER, "40000", "--dry-run"], WIF);
    assert!(result.unwrap().get("sent").is_none() && !endpoint.was_asked("btc_sendrawtransaction"));
}

#[test]
fn without_a_person_or_a_yes_nothing_is_sent() {
    if std::io::IsTerminal::is_terminal(&std::io::stdin()) {
        return paraffin_testkit::missing("standard input is a terminal: run the tests with `< /dev/null`");
    }
    let message = refused(with_coin(&funding(100_000, false), 100_000, 6), &["send", STRANGER, "40000"]);
    assert!(message.contains("--yes"), "{message}");
}

#[test]
fn an_instance_with_a_wrong_value_is_detected() {
    let message = refused(with_coin(&funding(100_000, false), 90_000, 6), &["send", STRANGER, "40000", "--yes"]);
    assert!(message.contains("do not trust it"), "{message}");
}

#[test]
fn a_young_reward_of_a_block_is_not_spent() {
    let young = refused(with_coin(&funding(100_000, true), 100_000, 99), &["send", STRANGER, "40000", "--yes"]);
    assert!(young.contains("fewer than 100 confirmations"), "{young}");
    let old = tx(with_coin(&funding(100_000, true), 100_000, 100), &["send", STRANGER, "40000", "--yes"], WIF);
    assert!(old.0.is_ok());
}

#[test]
fn a_call_that_would_revert_is_refused_before_it_is_signed() {
    let revert = json!({ "status": 1, "execution": { "data": "0x", "error": "ALKANES: revert: no" } });
    let coin = || with_coin(&funding(100_000, false), 100_000, 6).with("alkanes_simulate", revert.clone());
    let message = refused(coin(), &["execute", "2:9", "--inputs", "7,0x2,4:1", "--yes"]);
    assert!(message.contains("ALKANES: revert: no") && message.contains("--force"), "{message}");
    let (forced, endpoint) = tx(coin(), &["execute", "2:9", "--inputs", "7,0x2,4:1", "--yes", "--force"], WIF);
    assert_eq!(forced.unwrap()["simulation"]["success"], false);
    let asked = endpoint.asked.borrow();
    let (_, params) = asked.iter().find(|(method, _)| method == "alkanes_simulate").unwrap();
    // Fourteen bytes of padding at most follow as inputs of zero, as the contract will see them.
    let inputs: Vec<&str> =
        params[0]["inputs"].as_array().unwrap().iter().map(|input| input.as_str().unwrap()).collect();
    assert_eq!(inputs[..4], ["7", "2", "4", "1"]);
    assert!(inputs[4..].iter().all(|input| *input == "0") && inputs.len() < 18);
    assert_eq!(params[0]["target"], json!({ "block": "2", "tx": "9" }));
    assert!(params[0]["transaction"].as_str().unwrap().len() > 100);
}

#[test]
fn a_call_that_needs_more_fuel_than_a_message_gets_is_refused_although_it_was_simulated() {
    let simulated = |fuel: u64| json!({ "status": 0, "gasUsed": fuel, "execution": { "data": "0x" } });
    let coin = |fuel| with_coin(&funding(100_000, false), 100_000, 6).with("alkanes_simulate", simulated(fuel));
    let call = ["execute", "2:9", "--inputs", "7", "--yes"];
    let message = refused(coin(3_500_001), &call);
    assert!(message.contains("3500001") && message.contains("3500000") && message.contains("--force"), "{message}");
    assert!(tx(coin(3_500_001), &[&call[..], &["--force"]].concat(), WIF).0.is_ok());
    assert!(tx(coin(3_500_000), &call, WIF).0.is_ok());
}

#[test]
fn a_key_of_another_network_is_refused_and_never_repeated() {
    let endpoint = with_coin(&funding(100_000, false), 100_000, 6);
    let message = tx(endpoint, &["send", STRANGER, "40000", "--yes"], MAINNET_WIF).0.unwrap_err().to_string();
    assert!(message.contains("another network") && !message.contains("KwDi"), "{message}");
    for wif in ["", "nonsense", &"c".repeat(500)] {
        let endpoint = with_coin(&funding(100_000, false), 100_000, 6);
        let message = tx(endpoint, &["send", STRANGER, "40000", "--yes"], wif).0.unwrap_err().to_string();
        assert!(message.contains("wallet import format"), "{message}");
    }
    let mainnet = Canned::default().with("btc_getblockchaininfo", json!({ "chain": "main" }));
    let message = tx(mainnet, &["send", STRANGER, "40000", "--yes"], MAINNET_WIF).0.unwrap_err().to_string();
    assert!(message.contains("PSBT"), "{message}");
}

#[test]
fn an_address_gives_a_psbt_and_sends_nothing() {
    let own = bitcoin::Address::from_script(&script(), bitcoin::Network::Regtest).unwrap().to_string();
    let folder = TempDir::new().unwrap();
    let file: PathBuf = folder.path().join("out.psbt");
    let arguments = ["send", STRANGER, "40000", "--address", &own, "--psbt-file", file.to_str().unwrap()];
    let (result, endpoint) = tx(with_coin(&funding(100_000, false), 100_000, 6), &arguments, WIF);
    let report = result.unwrap();
    assert!(!endpoint.was_asked("btc_sendrawtransaction"));
    let psbt: bitcoin::Psbt = report["psbt"].as_str().unwrap().parse().unwrap();
    assert_eq!(psbt.inputs[0].witness_utxo.as_ref().unwrap().value.to_sat(), 100_000);
    assert_eq!(json!(psbt.unsigned_tx.compute_txid()), report["txid"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap().trim(), report["psbt"]);
    // A file that is there is not overwritten.
    let again = refused(with_coin(&funding(100_000, false), 100_000, 6), &arguments);
    assert!(again.contains("overwritten"), "{again}");
}

#[test]
fn a_wrap_asks_the_contract_for_its_signer_and_pays_it() {
    let key = "7940ef3b659179a1371dec05793cb027cde47806fb66ce1e3d1b69d56de629dc";
    let answer = json!({ "status": 0, "execution": { "data": format!("0x{key}"), "alkanes": [], "storage": [] } });
    let endpoint = with_coin(&funding(200_000, false), 200_000, 6).with("alkanes_simulate", answer);
    let report = tx(endpoint, &["wrap", "100000", "--yes"], WIF).0.unwrap();
    let signer = &report["outputs"][1];
    assert_eq!((&signer["role"], &signer["value"]), (&json!("signer"), &json!(100_000)));
    // The output key of the mainnet signer, whose address is published.
    assert_eq!(signer["script"], "5120a7f90b8256f58c1074fe085d37b73dff3040774babc216dae106e281e020638b");
    let silent = refused(with_coin(&funding(200_000, false), 200_000, 6), &["wrap", "100000", "--yes"]);
    assert!(silent.contains("--signer"), "{silent}");
    let short = json!({ "status": 0, "execution": { "data": "0x00" } });
    let endpoint = with_coin(&funding(200_000, false), 200_000, 6).with("alkanes_simulate", short);
    assert!(refused(endpoint, &["wrap", "100000", "--yes"]).contains("32 bytes"));
    let dusty = refused(with_coin(&funding(200_000, false), 200_000, 6), &["unwrap", "545", "--yes"]);
    assert!(dusty.contains("at least 546"), "{dusty}");
}

#[test]
fn a_deployment_sends_two_transactions_and_says_how_to_go_on() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("contract.wasm");
    std::fs::write(&file, [&b"\0asm\x01\0\0\0"[..], &[7; 3000]].concat()).unwrap();
    let file = file.to_str().unwrap();
    let funding = funding(1_000_000, false);
    let arguments = ["deploy", file, "--init", "0,7", "--reserved", "77", "--yes"];
    let (result, endpoint) = tx(with_coin(&funding, 1_000_000, 6), &arguments, WIF);
    let report = result.unwrap();
    assert_eq!(report["reveal"]["call"]["target"], "3:77");
    let sent: Vec<Transaction> = endpoint
        .asked
        .borrow()
        .iter()
        .filter(|(method, _)| method == "btc_sendrawtransaction")
        .map(|(_, params)| bitcoin::consensus::encode::deserialize_hex(params[0].as_str().unwrap()).unwrap())
        .collect();
    assert_eq!(sent.len(), 2);
    assert_eq!(sent[1].input[0].previous_output.to_string(), report["commit_outpoint"]);
    let envelope = paraffin_alkanes::codec::Envelope::first(&sent[1]).unwrap();
    let module = paraffin_alkanes::codec::gunzip(&envelope.payload, 1 << 20).unwrap();
    assert_eq!(module, std::fs::read(file).unwrap());

    // A reveal that is refused names the way out.
    let endpoint = with_coin(&funding, 1_000_000, 6);
    let sends = std::cell::Cell::new(0);
    let endpoint = endpoint.with_fn("btc_sendrawtransaction", move |_| {
        sends.set(sends.get() + 1);
        if sends.get() == 1 {
            Ok(json!("sent"))
        } else {
            Err(Refusal { code: Some(-26), word: None, message: "min relay fee not met".to_owned() })
        }
    });
    let message = tx(endpoint, &arguments, WIF).0.unwrap_err().to_string();
    let commit = report["commit_outpoint"].as_str().unwrap();
    assert!(message.contains(&format!("--resume {commit}")) && message.contains("--recover"), "{message}");

    // Both ways work from the commit and the file alone.
    let commit_txid = sent[0].compute_txid();
    for way in ["--resume", "--recover"] {
        let (known, funding) = (sent[0].clone(), funding.clone());
        let endpoint = with_coin(&funding, 1_000_000, 6).with_fn("esplora_tx::hex", move |params| {
            let asked: Txid = params[0].as_str().unwrap().parse().unwrap();
            Ok(json!(serialize_hex(if asked == commit_txid { &known } else { &funding })))
        });
        let (result, endpoint) = tx(endpoint, &[&arguments[..], &[way, commit]].concat(), WIF);
        assert_eq!(result.unwrap()["sent"], true, "{way}");
        assert!(endpoint.was_asked("btc_sendrawtransaction"));
    }
}

#[test]
fn files_that_are_no_modules_are_refused() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("contract.wasm");
    for bytes in [&b""[..], b"\x7fELF", b"\x1f\x8bnot gzip"] {
        std::fs::write(&file, bytes).unwrap();
        let arguments = ["deploy", file.to_str().unwrap(), "--yes"];
        let message = refused(with_coin(&funding(1_000_000, false), 1_000_000, 6), &arguments);
        assert!(message.contains("contract.wasm"), "{message}");
    }
    let missing = folder.path().join("missing.wasm");
    let message =
        refused(with_coin(&funding(1_000_000, false), 1_000_000, 6), &["deploy", missing.to_str().unwrap(), "--yes"]);
    assert!(message.contains("missing.wasm"), "{message}");
}
