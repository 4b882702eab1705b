//! Indexer programs under the whole program. The build with the feature `hosted` serves and replays; the default build refuses and
//! says how to get the other.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::support::process::{Running, paraffin, write_config};
#[cfg(feature = "hosted")]
use crate::support::{free_port, http};
use paraffin_devnet::{Devnet, DevnetOptions};

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contracts/wasm/block-counter.wasm");

fn devnet(runtime: &tokio::runtime::Runtime, blocks: u32) -> Devnet {
    runtime.block_on(Devnet::start(DevnetOptions { blocks, ..DevnetOptions::default() })).unwrap()
}

/// A configuration whose section `[alkanes]` has these lines.
fn config(folder: &Path, devnet: &Devnet, listen: &str, alkanes: &str) -> PathBuf {
    settings(folder, devnet, "regtest", &format!("listen = \"{listen}\""), alkanes)
}

/// The same of any network, with these lines in the section `[gateway]`.
fn settings(folder: &Path, devnet: &Devnet, network: &str, gateway: &str, alkanes: &str) -> PathBuf {
    write_config(
        folder,
        &format!(
            "network = \"{network}\"\ndata_dir = \"{}\"\n[node]\nurl = \"{}\"\nuser = \"{}\"\npassword = \"{}\"\n[gateway]\n\
             {gateway}\n[alkanes]\n{alkanes}\n",
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
    for (lines, expected) in [
        ("engine = \"hosted\"", "name its file as wasm_path"),
        ("shadow = \"report\"", "name its file as wasm_path"),
        ("engine = \"fast\"", "unknown variant"),
        ("block_seconds = 0", "block_seconds must be from 1 to 86400"),
        ("block_seconds = 9000000000000000000", "block_seconds must be from 1 to 86400"),
        ("block_memory_mib = 5000", "block_memory_mib must be from 1 to 4096"),
    ] {
        let errors = refused(&["index", "--once"], &config(folder.path(), &devnet, "127.0.0.1:0", lines));
        assert!(errors.contains(expected), "{lines}: {errors}");
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
    assert!(errors.contains("--features hosted"), "{errors}");
}

#[cfg(feature = "hosted")]
mod with_the_machine {
    use serde_json::{Value, json};

    use super::*;

    const BLOCKS: u32 = 112;

    /// Blocks and transactions as the counter returns them.
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
            let height = height.to_string();
            crate::support::wait_for("the program at the height", Duration::from_secs(120), || {
                let answer = http::call(&listen, "/v4/jsonrpc", "metashrew_height", json!([]));
                (answer["result"] == height).then_some(())
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

        // It is no indexer of alkanes: what its keys say is not known, so nothing about alkanes is answered.
        crate::support::wait_for("the log line", Duration::from_secs(10), || {
            process.errors().contains("under a key of no known kind").then_some(())
        });
        for (method, params) in [
            ("alkanes_getinventory", json!([{ "block": 2, "tx": 0 }])),
            ("alkanes_simulate", json!([{ "target": "2:0", "inputs": ["101"] }])),
            ("metashrew_view", json!(["getinventory", { "id": { "block": 2, "tx": 0 } }, "latest"])),
            (
                "sandshrew_balances",
                json!([{ "address": "bcrt1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqvg32hk" }]),
            ),
        ] {
            let refused = http::call(&listen, "/v4/jsonrpc", method, params);
            assert_eq!(refused["error"]["data"]["code"], "ALKANES_UNREADABLE", "{method}: {refused}");
        }
        for route in ["get-alkanes", "get-all-pools-details", "get-all-history"] {
            let refused = http::post(&listen, &format!("/v4/api/{route}"), &json!({}));
            assert_eq!((refused.status, &refused.json()["code"]), (503, &json!("ALKANES_UNREADABLE")), "{route}");
        }
        let health = http::get(&listen, "/v4/api/health").json();
        assert_eq!(
            (&health["status"], &health["contracts"]["answered"]),
            (&json!("degraded"), &json!(false)),
            "{health}"
        );
        let reason = health["contracts"]["reason"].as_str().unwrap();
        assert!(reason.contains("since block 0") && reason.contains("ALKANES_UNREADABLE"), "{reason}");

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
    fn health_and_metrics_tell_how_engines_compare() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let devnet = devnet(&runtime, 3);
        for (engine, shadow, status, state, differences, comparing) in [
            ("native", "report", 200, "ok", 4, true),
            ("native", "halt", 503, "stalled", 1, false),
            // The counter writes keys of its own, so where it serves nothing about alkanes is answered.
            ("hosted", "report", 200, "degraded", 4, true),
            ("hosted", "halt", 200, "degraded", 1, false),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let (listen, metrics) = (format!("127.0.0.1:{}", free_port()), format!("127.0.0.1:{}", free_port()));
            let gateway = format!("listen = \"{listen}\"\nmetrics_listen = \"{metrics}\"");
            let lines = format!("engine = \"{engine}\"\nshadow = \"{shadow}\"\nwasm_path = \"{PROGRAM}\"");
            let config = settings(folder.path(), &devnet, "regtest", &gateway, &lines);
            let mut process = Running::start(paraffin().args(["serve", "--config"]).arg(&config));
            process.wait_for_output("listening on", Duration::from_secs(60));
            let health = crate::support::wait_for("the state in health", Duration::from_secs(120), || {
                let answer = http::get(&listen, "/v4/api/health");
                let health = answer.json();
                let is_there = health["status"] == state && health["shadow"]["differences"] == differences;
                (answer.status == status && is_there).then_some(health)
            });
            let named = format!("{engine} {shadow}: {health}");
            assert_eq!(health["shadow"]["comparing"], comparing, "{named}");
            assert_eq!(health["contracts"]["answered"], engine == "native", "{named}");
            let figures = http::get(&metrics, "/metrics").text();
            for line in [
                format!("paraffin_shadow_blocks_total {differences}"),
                format!("paraffin_shadow_differences_total {differences}"),
                format!("paraffin_shadow_comparing {}", u8::from(comparing)),
            ] {
                assert!(figures.lines().any(|found| found == line), "{named}: {line}\n{figures}");
            }
            process.terminate(Duration::from_secs(20));
        }
    }

    #[test]
    fn a_file_that_is_changed_under_a_running_program_counts_at_the_next_start() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let devnet = devnet(&runtime, 10);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("program.wasm");
        std::fs::copy(PROGRAM, &file).unwrap();
        let listen = format!("127.0.0.1:{}", free_port());
        let lines = format!("engine = \"hosted\"\nwasm_path = \"{}\"", file.display());
        let config = config(folder.path(), &devnet, &listen, &lines);
        let mut process = Running::start(paraffin().args(["serve", "--config"]).arg(&config));
        process.wait_for_output("listening on", Duration::from_secs(60));
        std::fs::write(&file, b"no module any more").unwrap();
        devnet.node().mine(1, &bitcoin::ScriptBuf::from_bytes(vec![0x51])).unwrap();
        crate::support::wait_for("the new block", Duration::from_secs(60), || {
            let answer = http::call(&listen, "/v4/jsonrpc", "metashrew_height", json!([]));
            (answer["result"] == "11").then_some(())
        });
        assert_eq!(result(&listen, "metashrew_view", json!(["counts"])), counts(&devnet, 11));
        assert!(process.terminate(Duration::from_secs(20)).success());
        let errors = refused(&["index", "--once"], &config);
        assert!(errors.contains("not a WASM module"), "{errors}");
        // With the file back it goes on.
        std::fs::copy(PROGRAM, &file).unwrap();
        let mut process = Running::start(paraffin().args(["index", "--once", "--config"]).arg(&config));
        assert!(process.wait(Duration::from_secs(120)).success());
    }

    #[test]
    fn the_state_of_a_program_goes_into_snapshots_and_has_one_writer() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let devnet = devnet(&runtime, 30);
        let folder = tempfile::tempdir().unwrap();
        let hosted = format!("engine = \"hosted\"\nwasm_path = \"{PROGRAM}\"");
        let at = |name: &str, network: &str, alkanes: &str| {
            let folder = folder.path().join(name);
            std::fs::create_dir_all(&folder).unwrap();
            settings(&folder, &devnet, network, "listen = \"127.0.0.1:0\"", alkanes)
        };
        let run = |arguments: &[&str], config: &Path, file: Option<&Path>| {
            let mut process = Running::start(paraffin().args(arguments).arg("--config").arg(config).args(file));
            let is_well = process.wait(Duration::from_secs(120)).success();
            std::thread::sleep(Duration::from_millis(50));
            if is_well { Ok(process.output()) } else { Err(process.errors()) }
        };
        let source = at("source", "regtest", &hosted);
        let indexed: Value = serde_json::from_str(run(&["index", "--once"], &source, None).unwrap().trim()).unwrap();
        let file = folder.path().join("file");
        run(&["snapshot", "export"], &source, Some(&file)).unwrap();

        let import = |config: &Path, file: &Path| run(&["snapshot", "import"], config, Some(file)).unwrap_err();
        let target = |network: &str, alkanes: &str| at("target", network, alkanes);
        let error = import(&target("regtest", ""), &file);
        assert!(error.contains("holds module `hosted`"), "{error}");
        let error = import(&target("signet", &hosted), &file);
        assert!(error.contains("holds regtest") && error.contains("asks for signet"), "{error}");
        let bytes = std::fs::read(&file).unwrap();
        let other = folder.path().join("other");
        std::fs::write(&other, &bytes[..bytes.len() / 2]).unwrap();
        let error = import(&target("regtest", &hosted), &other);
        assert!(error.contains("cut off"), "{error}");
        let mut altered = bytes;
        let middle = altered.len() / 2;
        altered[middle] ^= 1;
        std::fs::write(&other, &altered).unwrap();
        let error = import(&target("regtest", &hosted), &other);
        assert!(error.contains("damaged in frame"), "{error}");

        let target = target("regtest", &hosted);
        run(&["snapshot", "import"], &target, Some(&file)).unwrap();
        devnet.node().mine(1, &bitcoin::ScriptBuf::from_bytes(vec![0x51])).unwrap();
        let followed: Value = serde_json::from_str(run(&["index", "--once"], &target, None).unwrap().trim()).unwrap();
        let alone: Value = serde_json::from_str(run(&["index", "--once"], &source, None).unwrap().trim()).unwrap();
        assert_eq!((&indexed["height"], &followed["height"]), (&json!(30), &json!(31)));
        for name in ["hash", "digest", "cumulative", "content"] {
            assert!(!alone[name].is_null());
            assert_eq!(followed[name], alone[name], "{name}");
        }

        let mut first = Running::start(paraffin().args(["index", "--config"]).arg(&target));
        crate::support::wait_for("the control socket", Duration::from_secs(60), || {
            assert!(first.is_running(), "{}", first.errors());
            target.with_file_name("data").join("control.sock").exists().then_some(())
        });
        let error = run(&["index", "--once"], &target, None).unwrap_err();
        assert!(error.contains("another process is using this store"), "{error}");
        assert!(first.terminate(Duration::from_secs(20)).success());
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

    /// The regtest build of the reference, and that of a year before it.
    #[test]
    fn on_regtest_the_built_in_contracts_are_those_of_the_program_that_is_named() {
        let Some(program) = paraffin_testkit::reference_program("alkanes-2.2.1-regtest.wasm") else { return };
        let Some(old) = paraffin_testkit::reference_program("alkanes-2025-07-regtest.wasm") else { return };
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let devnet = devnet(&runtime, 12);
        let folder = tempfile::tempdir().unwrap();
        let lines = |program: &Path| format!("shadow = \"halt\"\nwasm_path = \"{}\"", program.display());

        // One whose contracts are not known is refused, and not run beside others than its own.
        let refused = refused(&["index", "--once"], &config(folder.path(), &devnet, "127.0.0.1:0", &lines(&old)));
        assert!(refused.contains("missing built-in contracts: 2:0 (EOA), 32:0 (1.3.1), 32:1"), "{refused}");
        assert!(refused.contains("another release or network") && refused.contains("getbytecode"), "{refused}");

        // Both engines do the same from the first block on, in which the contracts are deployed.
        let config = config(folder.path(), &devnet, "127.0.0.1:0", &lines(&program));
        let mut process = Running::start(paraffin().args(["index", "--once", "--config"]).arg(&config));
        assert!(process.wait(Duration::from_secs(600)).success(), "{}", process.errors());
        std::thread::sleep(Duration::from_millis(50));
        assert!(process.output().contains("\"height\":12"), "{}", process.output());
    }

    #[test]
    fn raw_blocks_are_replayed_through_a_program_with_their_digests() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let devnet = devnet(&runtime, 40);
        let folder = tempfile::tempdir().unwrap();
        let mut bytes = Vec::new();
        for height in 0..=40 {
            let block = devnet.node().block_bytes(&devnet.node().block_hash(height).unwrap()).unwrap();
            bytes.extend_from_slice(&u32::try_from(block.len()).unwrap().to_le_bytes());
            bytes.extend_from_slice(&block);
        }
        let file = folder.path().join("blocks");
        std::fs::write(&file, bytes).unwrap();
        let replay = |more: &[&str]| {
            let mut command = paraffin();
            command.args(["replay", "--network", "regtest", "--alkanes-wasm", PROGRAM]).args(more);
            let run = command.arg("--blocks").arg(&file).output().unwrap();
            assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
            String::from_utf8(run.stdout).unwrap()
        };
        let output = replay(&["--engine", "hosted"]);
        let lines: Vec<&str> = output.lines().collect();
        assert_eq!(lines.len(), 42, "{output}");
        for (height, line) in (0u32..).zip(&lines[..41]) {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(words[0], height.to_string());
            assert_eq!(words[1], devnet.node().block_hash(height).unwrap().to_string());
            assert_eq!((words[2].len(), &words[3..]), (64, &["2", "pairs", "115", "bytes"][..]), "{line}");
        }
        assert!(lines[41].starts_with("41 blocks run by the program "), "{output}");
        // A program that is named is run, whether an engine is named or not.
        assert_eq!(replay(&["--digest"]), output);
        assert_eq!(replay(&["--engine", "hosted", "--digest"]), output);
    }
}
