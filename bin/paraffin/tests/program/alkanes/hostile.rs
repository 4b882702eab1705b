//! Callers who want to bring the process down: every call ends, others are answered meanwhile, blocks are taken in, and
//! memory stays bounded.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bitcoin::absolute::LockTime;
use bitcoin::consensus::encode::serialize_hex;
use bitcoin::hashes::Hash as _;
use bitcoin::script::Builder;
use bitcoin::transaction::Version;
use bitcoin::{OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxOut, Txid, Witness};
use paraffin_alkanes::codec::{append_envelope, gzip};
use serde_json::{Value, json};

use crate::support::dev::Dev;
use crate::support::{http, wait_for};

/// Callers at once, more than there are places for reads and simulations together.
const CALLERS: usize = 8;
/// Resident memory of the process, in KiB.
const RESIDENT_MAX_KIB: u64 = 2 << 20;
/// The longest that a plain call may take meanwhile.
const PLAIN_CALL_MAX: Duration = Duration::from_secs(5);
/// The longest that a block may take into the index meanwhile.
const BLOCK_MAX: Duration = Duration::from_secs(15);

/// A transaction whose witness brings a contract, so that a simulation can create it.
fn bringing(code: &[u8]) -> String {
    let script = append_envelope(Builder::new(), &gzip(code)).into_script();
    let input = TxIn {
        previous_output: OutPoint { txid: Txid::from_byte_array([3; 32]), vout: 0 },
        script_sig: ScriptBuf::new(),
        sequence: Sequence::MAX,
        witness: Witness::from_slice(&[script.as_bytes(), &[0xc0; 33]]),
    };
    let transaction =
        Transaction { version: Version::TWO, lock_time: LockTime::ZERO, input: vec![input], output: vec![TxOut::NULL] };
    serialize_hex(&transaction)
}

fn probe() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contracts/wasm/probe.wasm");
    bringing(&std::fs::read(path).unwrap())
}

fn resident_kib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().trim().parse().unwrap()
}

#[test]
fn views_that_spin_delay_neither_other_callers_nor_the_import_of_blocks() {
    if !paraffin_testkit::long_tests() {
        return;
    }
    let dev = Dev::start();
    let (listen, path) = (dev.listen().to_owned(), dev.path());
    let stop = Arc::new(AtomicBool::new(false));
    let ended = Arc::new(AtomicU64::new(0));
    let transaction = probe();
    // Loops, memory, recursion, nesting, storage.
    let attacks = [
        json!(["80"]),
        json!(["82"]),
        json!(["81", "1000000"]),
        json!(["45", "25"]),
        json!(["34", "1000", "100000"]),
        json!(["84", "1099511627776"]),
    ];
    let callers: Vec<_> = (0..CALLERS)
        .map(|caller| {
            let (listen, path, stop, ended) = (listen.clone(), path.clone(), Arc::clone(&stop), Arc::clone(&ended));
            // Most of them loop, which takes longest.
            let inputs = if caller < 5 { attacks[0].clone() } else { attacks[1 + caller % 5].clone() };
            let asked = json!([{"target": "1:0", "inputs": inputs, "transaction": transaction}]);
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let begun = Instant::now();
                    let answer = http::call(&listen, &path, "alkanes_simulate", asked.clone());
                    assert!(begun.elapsed() < Duration::from_secs(45), "{inputs} took {:?}", begun.elapsed());
                    let failed = answer["result"]["status"] == 1 || answer["error"]["code"] == -32603;
                    assert!(failed, "{inputs}: {answer}");
                    ended.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();

    std::thread::sleep(Duration::from_secs(1));
    let mut largest = 0;
    for _ in 0..20 {
        let begun = Instant::now();
        dev.call("btc_getblockcount", json!([]));
        dev.call("metashrew_height", json!([]));
        // These read contracts, but run none: simulations take no place of theirs.
        for (method, asked) in [
            ("alkanes_sequence", json!([])),
            ("alkanes_getstorageat", json!([{"id": {"block": "2", "tx": "0"}, "path": "0x2f746f74616c737570706c79"}])),
        ] {
            let answer = http::call(&listen, &path, method, asked);
            assert!(answer["error"].is_null(), "{method}: {answer}");
        }
        assert!(begun.elapsed() < PLAIN_CALL_MAX, "plain calls took {:?}", begun.elapsed());
        let took = dev.mine(1);
        assert!(took < BLOCK_MAX, "the index took {took:?} for a block");
        largest = largest.max(resident_kib(dev.process.id()));
        std::thread::sleep(Duration::from_millis(300));
    }
    stop.store(true, Ordering::Relaxed);
    for caller in callers {
        caller.join().unwrap();
    }
    assert!(ended.load(Ordering::Relaxed) >= CALLERS as u64);
    assert!(largest < RESIDENT_MAX_KIB, "{largest} KiB");
    // A loop that asks the host for nothing ends with its fuel, which outlasts the answer where the machine is slow.
    wait_for("views to be answered again", Duration::from_secs(90), || {
        let answer = http::call(&listen, &path, "alkanes_simulate", json!([{"target": "2:0", "inputs": ["99"]}]));
        (answer["result"]["status"] == 0).then_some(())
    });
}

#[test]
fn payloads_that_are_none_are_refused_in_one_answer() {
    let dev = Dev::start();
    let bomb = format!("0x{}", "0a00".repeat(100_000));
    let long = format!("0x{}", "ff".repeat(100_000));
    let names = paraffin_alkanes::views::NAMES;
    for name in names {
        for payload in ["0xff", "0x0a", "zz", "0xabc", bomb.as_str(), long.as_str()] {
            let begun = Instant::now();
            let answer = http::call(dev.listen(), &dev.path(), "metashrew_view", json!([name, payload, "latest"]));
            assert!(begun.elapsed() < Duration::from_secs(30), "{name}");
            let code = answer["error"]["code"].as_i64();
            assert!(
                answer.get("result").is_some_and(Value::is_string) || matches!(code, Some(-32602 | -32603)),
                "{name}: {answer}"
            );
        }
        for tag in [json!(-1), json!("earliest"), json!({}), json!(1.5)] {
            let answer = http::call(dev.listen(), &dev.path(), "metashrew_view", json!([name, "0x", tag]));
            assert_eq!(answer["error"]["code"], -32602, "{name} {tag}: {answer}");
        }
    }
    for block in ["", "00", &"ff".repeat(200)] {
        let answer =
            http::call(dev.listen(), &dev.path(), "metashrew_preview", json!([block, "sequence", "0x", "latest"]));
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    for asked in
        [json!([]), json!([{}]), json!([{"target": "2:0", "inputs": ["x"]}]), json!([{"target": {}}]), json!(["2:0"])]
    {
        let answer = http::call(dev.listen(), &dev.path(), "alkanes_simulate", asked.clone());
        assert_eq!(answer["error"]["code"], -32602, "{asked}: {answer}");
    }
}
