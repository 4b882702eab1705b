//! `paraffin snapshot`: an instance that starts from another's file is equal to it and goes on from there.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::support::process::{Running, paraffin, write_config};
use paraffin_devnet::{Devnet, DevnetOptions};
use serde_json::Value;

const BLOCKS: u32 = 130;
const LIMIT: Duration = Duration::from_secs(120);

fn local() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

fn devnet(runtime: &tokio::runtime::Runtime) -> Devnet {
    runtime
        .block_on(Devnet::start(DevnetOptions {
            blocks: BLOCKS,
            rpc_listen: local(),
            p2p_listen: local(),
            ..DevnetOptions::default()
        }))
        .unwrap()
}

fn config(folder: &Path, devnet: &Devnet, network: &str, more: &str) -> PathBuf {
    std::fs::create_dir_all(folder).unwrap();
    write_config(
        folder,
        &format!(
            "network = \"{network}\"\ndata_dir = \"{}\"\n[node]\nurl = \"{}\"\nuser = \"{}\"\npassword = \"{}\"\n[index]\n{more}\n",
            folder.join("data").display(),
            devnet.rpc_url(),
            devnet.user(),
            devnet.password()
        ),
    )
}

/// Runs to the end; the printed line of JSON, or what was said instead.
fn run(arguments: &[&str], config: &Path, file: Option<&Path>) -> Result<Value, String> {
    let mut command = paraffin();
    command.args(arguments).arg("--config").arg(config).args(file);
    let mut process = Running::start(&mut command);
    let status = process.wait(LIMIT);
    // The pipes are read by threads of their own.
    std::thread::sleep(Duration::from_millis(50));
    if status.success() { Ok(serde_json::from_str(process.output().trim()).unwrap()) } else { Err(process.errors()) }
}

fn index(config: &Path) -> Value {
    run(&["index", "--once"], config, None).unwrap()
}

fn equal(left: &Value, right: &Value) {
    for name in ["height", "hash", "digest", "cumulative", "content"] {
        assert!(!left[name].is_null());
        assert_eq!(left[name], right[name], "{name}");
    }
}

#[test]
fn an_instance_from_a_snapshot_is_equal_and_follows_the_node_through_a_reorg_below_it() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let devnet = devnet(&runtime);
    let folder = tempfile::tempdir().unwrap();
    let source = config(&folder.path().join("source"), &devnet, "regtest", "");
    let target = config(&folder.path().join("target"), &devnet, "regtest", "");
    let file = folder.path().join("file");

    let nothing = run(&["snapshot", "export"], &source, Some(&file)).unwrap_err();
    assert!(nothing.contains("nothing to export"), "{nothing}");
    let indexed = index(&source);
    let exported = run(&["snapshot", "export"], &source, Some(&file)).unwrap();
    equal(&exported, &indexed);
    assert_eq!(exported["bytes"].as_u64(), Some(std::fs::metadata(&file).unwrap().len()));
    let twice = run(&["snapshot", "export"], &source, Some(&file)).unwrap_err();
    assert!(twice.contains("exists already"), "{twice}");

    let imported = run(&["snapshot", "import"], &target, Some(&file)).unwrap();
    equal(&imported, &indexed);
    let again = run(&["snapshot", "import"], &target, Some(&file)).unwrap_err();
    assert!(again.contains("already holds a store"), "{again}");

    // Fifteen blocks of the snapshot leave the chain, twenty others come.
    let node = devnet.node();
    let first = node.block_hash(BLOCKS - 14).unwrap();
    node.invalidate(&first).unwrap();
    for _ in 0..20 {
        node.mine_block(&bitcoin::ScriptBuf::from_bytes(vec![0x51])).unwrap();
    }
    let followed = index(&target);
    equal(&followed, &index(&source));
    assert_eq!(followed["height"], BLOCKS + 5);
    equal(&followed, &index(&config(&folder.path().join("fresh"), &devnet, "regtest", "")));
    runtime.block_on(devnet.shutdown());
}

#[test]
fn a_snapshot_that_does_not_fit_leaves_the_folder_as_it_was_and_says_why() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let devnet = devnet(&runtime);
    let folder = tempfile::tempdir().unwrap();
    let source = config(&folder.path().join("source"), &devnet, "regtest", "");
    let file = folder.path().join("file");
    index(&source);
    run(&["snapshot", "export"], &source, Some(&file)).unwrap();

    let target = folder.path().join("target");
    let refused = |network: &str, more: &str, file: &Path| {
        let error = run(&["snapshot", "import"], &config(&target, &devnet, network, more), Some(file)).unwrap_err();
        assert_eq!(std::fs::read_dir(target.join("data")).unwrap().count(), 0, "{error}");
        error
    };
    let error = refused("signet", "", &file);
    assert!(error.contains("holds regtest") && error.contains("asks for signet"), "{error}");
    let error = refused("regtest", "raw_transactions = \"node\"", &file);
    assert!(error.contains("raw_transactions = \"store\""), "{error}");
    let error = refused("regtest", "address_search = false", &file);
    assert!(error.contains("holds module `addresses`"), "{error}");
    let bytes = std::fs::read(&file).unwrap();
    let cut = folder.path().join("cut");
    std::fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    assert!(refused("regtest", "", &cut).contains("cut off"));
    let mut altered = bytes;
    let middle = altered.len() / 2;
    altered[middle] ^= 1;
    let damaged = folder.path().join("damaged");
    std::fs::write(&damaged, &altered).unwrap();
    assert!(refused("regtest", "", &damaged).contains("damaged in frame"));
    assert!(refused("regtest", "", &folder.path().join("absent")).contains("absent"));

    // A kill leaves the folder of the import; a start refuses it, the next import clears it.
    std::fs::create_dir_all(target.join("data/store-import/engine")).unwrap();
    let config = config(&target, &devnet, "regtest", "");
    let error = run(&["index", "--once"], &config, None).unwrap_err();
    assert!(error.contains("the import of a snapshot was broken off"), "{error}");
    run(&["snapshot", "import"], &config, Some(&file)).unwrap();
    equal(&index(&config), &index(&source));
    runtime.block_on(devnet.shutdown());
}
