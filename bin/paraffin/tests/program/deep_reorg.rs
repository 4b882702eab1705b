//! A reorg that reaches below the undo records: the index stays whole, says what happened, and can be rebuilt.

use std::time::Duration;

use crate::support::process::{Running, paraffin, write_config};
use crate::support::served::{Backend, Numbers};
use crate::support::{free_port, http, wait_for};
use serde_json::{Value, json};

/// Blocks that can be undone.
const UNDO_BLOCKS: u32 = 6;

fn health(address: &str) -> (u16, Value) {
    let answer = http::get(address, "/v4/api/health");
    (answer.status, answer.json())
}

#[test]
fn a_reorg_below_the_undo_records_stops_indexing_whole_and_a_new_store_recovers() {
    let backend = Backend::devnet();
    let miner = bitcoin::ScriptBuf::new_p2wpkh(&bitcoin::WPubkeyHash::from_raw_hash(bitcoin::hashes::Hash::hash(b"a")));
    backend.mine(30, &miner);
    let folder = tempfile::tempdir().unwrap();
    let (data, address) = (folder.path().join("data"), format!("127.0.0.1:{}", free_port()));
    let text = format!(
        "network = \"regtest\"\ndata_dir = \"{}\"\n{}\n[gateway]\nlisten = \"{address}\"\n[index]\n\
         memory_mib = 256\npoll_milliseconds = 50\nundo_blocks = {UNDO_BLOCKS}\n",
        data.display(),
        backend.config()
    );
    let config = write_config(folder.path(), &text);
    let serve = || {
        let mut process = Running::start(paraffin().args(["serve", "--config"]).arg(&config));
        process.wait_for_output("listening on", Duration::from_secs(30));
        process
    };
    let created = paraffin().args(["keys", "create", "test", "--plan", "business", "--data-dir"]).arg(&data).output();
    let path = format!("/v4/{}", String::from_utf8_lossy(&created.unwrap().stdout).trim());
    let best = |address: &str| http::call(address, &path, "btc_getbestblockhash", json!([]))["result"].clone();
    let wait_for_best = |hash: &bitcoin::BlockHash| {
        wait_for("the index to reach the node's tip", Duration::from_secs(60), || {
            (best(&address) == json!(hash)).then_some(())
        });
    };
    let mut process = serve();
    wait_for_best(&backend.hash(30));
    // Blocks that came one by one have undo records; those of the import do not.
    backend.mine(10, &miner);
    wait_for_best(&backend.hash(40));

    // As deep as the records reach is followed.
    let replace = |depth: u32, seed: u64| {
        backend.drop_blocks(depth);
        let hash = bitcoin::hashes::Hash::hash(&Numbers::new(seed).below(u64::MAX).to_le_bytes());
        backend.mine(depth + 1, &bitcoin::ScriptBuf::new_p2wsh(&bitcoin::WScriptHash::from_raw_hash(hash)));
    };
    replace(UNDO_BLOCKS, 1);
    wait_for_best(&backend.hash(41));
    let before = best(&address);

    // One block deeper is refused before anything changes; the log says what helps, health reports `stalled`.
    replace(UNDO_BLOCKS + 1, 2);
    wait_for("health to report it", Duration::from_secs(60), || {
        let (status, body) = health(&address);
        (status == 503 && body["status"] == "stalled").then_some(())
    });
    assert_eq!(best(&address), before, "what was indexed is still whole and served");
    assert!(process.is_running());
    let text = process.errors();
    assert!(text.contains("cannot be undone") && text.contains("`paraffin reindex all`"), "{text}");
    process.terminate(Duration::from_secs(10));

    // The advice helps, and the key made before still works.
    let rebuilt = paraffin().args(["reindex", "all", "--config"]).arg(&config).output().unwrap();
    let log = String::from_utf8_lossy(&rebuilt.stderr).into_owned();
    assert!(rebuilt.status.success(), "{log}");
    let process = serve();
    wait_for_best(&backend.hash(42));
    wait_for("the health to be ok", Duration::from_secs(30), || (health(&address).0 == 200).then_some(()));
    drop(process);
}
