//! Indexer programs under the whole program. The build with the machine (`cargo xtask hosted --test`) serves and replays; the default
//! build refuses and says how to get the other.

#![allow(clippy::unwrap_used)] // a failed `unwrap` fails the test

mod support;

use std::path::{Path, PathBuf};
use std::time::Duration;

use paraffin_devnet::{Devnet, DevnetOptions};
use support::process::{Running, paraffin, write_config};
#[cfg(feature = "hosted")]
use support::{free_port, http};

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contracts/wasm/block-counter.wasm");

fn devnet(runtime: &tokio::runtime::Runtime, blocks: u32) -> Devnet {
    runtime.block_on(Devnet::start(DevnetOptions { blocks, ..DevnetOptions::default() })).unwrap()
}

/// A configuration whose section `[alkanes]` has these lines.
fn config(folder: &Path, devnet: &Devnet, listen: &str, alkanes: &str) -> PathBuf {
    write_config(
        folder,
        &format!(
            "network = \"regtest\"\ndata_dir = \"{}\"\n[node]\nurl = \"{}\"\nuser = \"{}\"\npassword = \"{}\"\n[gateway]\nlisten = \
             \"{listen}\"\n[alkanes]\n{alkanes}\n",
            folder.join("data").display(),
            devnet.rpc_url(),
            devnet.user(),
            devnet.password()
        ),
    )
}

/// Runs to the end and answers what was said on the way.
fn refused(arguments: &[&str], config: &Path) -> String {
    let mut process = Running::start(paraffin().args(arguments).arg("--config").arg(config));
    assert!(!process.wait(Duration::from_secs(120)).success());
    // The pipes are read by threads of their own.
    std::thread::sleep(Duration::from_millis(50));
    process.errors()
}

#[test]
fn settings_that_contradict_each_other_are_refused() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let devnet = devnet(&runtime, 0);
    let folder = tempfile::tempdir().unwrap();
    for (lines, told) in [
        ("engine = \"hosted\"", "name its file as wasm_path"),
        ("shadow = \"report\"", "name its file as wasm_path"),
        ("engine = \"fast\"", "unknown variant"),
        ("block_seconds = 0", "block_seconds must be at least 1"),
        ("block_memory_mib = 5000", "block_memory_mib must be from 1 to 4096"),
    ] {
        let errors = refused(&["index", "--once"], &config(folder.path(), &devnet, "127.0.0.1:0", lines));
        assert!(errors.contains(told), "{lines}: {errors}");
    }
}

#[test]
fn above_the_newest_known_height_the_native_engine_halts_and_names_the_way_out() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let devnet = devnet(&runtime, 5);
    let folder = tempfile::tempdir().unwrap();
    let file = config(folder.path(), &devnet, "127.0.0.1:0", "known_until = 3");
    let errors = refused(&["index", "--once"], &file);
    assert!(errors.contains("the rules of height 4 are not known to the native engine"), "{errors}");
    assert!(errors.contains("engine = \\\"hosted\\\"") || errors.contains("engine = \"hosted\""), "{errors}");
}

#[cfg(not(feature = "hosted"))]
#[test]
fn a_build_without_the_machine_says_how_to_get_it() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let devnet = devnet(&runtime, 0);
    let folder = tempfile::tempdir().unwrap();
    let lines = format!("engine = \"hosted\"\nwasm_path = \"{PROGRAM}\"");
    let errors = refused(&["index", "--once"], &config(folder.path(), &devnet, "127.0.0.1:0", &lines));
    assert!(errors.contains("cargo xtask hosted"), "{errors}");
}

#[cfg(feature = "hosted")]
mod with_the_machine {
    use serde_json::{Value, json};

    use super::*;

    const BLOCKS: u32 = 112;

    /// Blocks and transactions as the counter tells them.
    fn counts(devnet: &Devnet, until: u32) -> String {
        let transactions: usize = (0..=until)
            .map(|height| devnet.node().block(&devnet.node().block_hash(height).unwrap()).unwrap().txdata.len())
            .sum();
        let words = [u64::from(until) + 1, transactions as u64].map(u64::to_le_bytes).concat();
        format!("0x{}", bitcoin::hex::DisplayHex::to_lower_hex_string(&words[..]))
    }

    fn result(listen: &str, method: &str, params: Value) -> Value {
        http::result(listen, "/v4/jsonrpc", method, params)
    }

    #[test]
    fn a_served_program_answers_by_name_follows_a_reorganisation_and_goes_on_after_a_start() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let devnet = devnet(&runtime, BLOCKS);
        let folder = tempfile::tempdir().unwrap();
        let listen = format!("127.0.0.1:{}", free_port());
        let lines = format!("engine = \"hosted\"\nwasm_path = \"{PROGRAM}\"");
        let config = config(folder.path(), &devnet, &listen, &lines);
        let until = |height: u32| {
            support::wait_for("the program at the height", Duration::from_secs(120), || {
                let answer = http::call(&listen, "/v4/jsonrpc", "metashrew_height", json!([]));
                (answer["result"] == height.to_string()).then_some(())
            });
        };
        let mut process = Running::start(paraffin().args(["serve", "--config"]).arg(&config));
        process.wait_for_output("listening on", Duration::from_secs(60));
        until(BLOCKS);
        assert_eq!(result(&listen, "metashrew_view", json!(["counts", "0x", "latest"])), counts(&devnet, BLOCKS));
        assert_eq!(result(&listen, "metashrew_view", json!(["counts", "0x", 50])), counts(&devnet, 50));
        let unknown = http::call(&listen, "/v4/jsonrpc", "metashrew_view", json!(["sequence", "0x"]));
        assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
        let root = result(&listen, "metashrew_stateroot", json!([BLOCKS]));

        // A branch of two blocks takes the place of the newest.
        let node = devnet.node();
        node.invalidate(&node.block_hash(BLOCKS).unwrap()).unwrap();
        node.mine(2, &bitcoin::ScriptBuf::from_bytes(vec![0x51])).unwrap();
        until(BLOCKS + 1);
        assert_eq!(result(&listen, "metashrew_view", json!(["counts"])), counts(&devnet, BLOCKS + 1));
        assert_ne!(result(&listen, "metashrew_stateroot", json!([BLOCKS])), root);
        assert!(process.terminate(Duration::from_secs(20)).success());

        node.mine(1, &bitcoin::ScriptBuf::from_bytes(vec![0x51])).unwrap();
        let mut process = Running::start(paraffin().args(["serve", "--config"]).arg(&config));
        process.wait_for_output("listening on", Duration::from_secs(60));
        until(BLOCKS + 2);
        assert_eq!(result(&listen, "metashrew_view", json!(["counts"])), counts(&devnet, BLOCKS + 2));
        assert!(process.terminate(Duration::from_secs(20)).success());
    }

    #[test]
    fn beside_the_native_engine_a_program_of_another_kind_is_reported_or_halts() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let devnet = devnet(&runtime, 3);
        let folder = tempfile::tempdir().unwrap();
        let lines = |shadow: &str| format!("shadow = \"{shadow}\"\nwasm_path = \"{PROGRAM}\"");
        let halting = config(folder.path(), &devnet, "127.0.0.1:0", &lines("halt"));
        let errors = refused(&["index", "--once"], &halting);
        assert!(errors.contains("a key of no known kind: /counts"), "{errors}");
        let reporting = config(folder.path(), &devnet, "127.0.0.1:0", &lines("report"));
        let mut process = Running::start(paraffin().args(["index", "--once", "--config"]).arg(&reporting));
        assert!(process.wait(Duration::from_secs(120)).success());
        std::thread::sleep(Duration::from_millis(50));
        assert!(process.output().contains("\"height\":3"), "{}", process.output());
    }

    #[test]
    fn a_program_that_is_none_is_refused_at_the_start() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let devnet = devnet(&runtime, 0);
        let folder = tempfile::tempdir().unwrap();
        let contract = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contracts/wasm/counter.wasm");
        let lines = format!("engine = \"hosted\"\nwasm_path = \"{contract}\"");
        let errors = refused(&["index", "--once"], &config(folder.path(), &devnet, "127.0.0.1:0", &lines));
        assert!(errors.contains("not an indexer program") && errors.contains("_start"), "{errors}");
    }

    #[test]
    fn raw_blocks_are_replayed_through_a_program_with_their_digests() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let devnet = devnet(&runtime, 40);
        let folder = tempfile::tempdir().unwrap();
        let mut bytes = Vec::new();
        // Lower heights are not told by their blocks in a form that can be read back.
        for height in 20..=40 {
            let block = devnet.node().block_bytes(&devnet.node().block_hash(height).unwrap()).unwrap();
            bytes.extend_from_slice(&u32::try_from(block.len()).unwrap().to_le_bytes());
            bytes.extend_from_slice(&block);
        }
        let file = folder.path().join("blocks");
        std::fs::write(&file, bytes).unwrap();
        let replay = || {
            let mut command = paraffin();
            command.args(["replay", "--network", "regtest", "--engine", "hosted", "--alkanes-wasm", PROGRAM]);
            let run = command.arg("--blocks").arg(&file).output().unwrap();
            assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
            String::from_utf8(run.stdout).unwrap()
        };
        let output = replay();
        let lines: Vec<&str> = output.lines().collect();
        assert_eq!(lines.len(), 22, "{output}");
        for (height, line) in (20u32..).zip(&lines[..21]) {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(words[0], height.to_string());
            assert_eq!(words[1], devnet.node().block_hash(height).unwrap().to_string());
            assert_eq!((words[2].len(), &words[3..]), (64, &["2", "pairs", "115", "bytes"][..]), "{line}");
        }
        assert!(lines[21].starts_with("21 blocks run by the program "), "{output}");
        assert_eq!(replay(), output);
    }
}
