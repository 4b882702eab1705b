//! The published `electrum-client` while blocks come and reorganise.

use std::time::Duration;

use bitcoin::ScriptBuf;
use electrum_client::{Client, ElectrumApi as _};
use serde_json::json;

use super::script_hash;
use crate::support::served::{Backend, Numbers, Served};
use crate::support::{free_port, wait_for};

/// What raw blocks say of a script, as rows of a history.
fn expected(served: &Served, script: &ScriptBuf) -> Vec<(String, i32)> {
    let mut owned = std::collections::HashSet::new();
    let mut rows = Vec::new();
    for (height, block) in served.backend.chain().iter().enumerate() {
        for transaction in &block.txdata {
            let txid = transaction.compute_txid();
            let spends = transaction.input.iter().any(|input| owned.remove(&input.previous_output));
            let mut pays = false;
            for (vout, output) in (0..).zip(&transaction.output) {
                if output.script_pubkey == *script {
                    owned.insert(bitcoin::OutPoint { txid, vout });
                    pays = true;
                }
            }
            if spends || pays {
                rows.push((txid.to_string(), i32::try_from(height).unwrap()));
            }
        }
    }
    rows
}

#[test]
fn a_published_client_follows_blocks_and_reorganisations() {
    let address = format!("127.0.0.1:{}", free_port());
    let further = format!("[electrum]\nlisten = \"{address}\"\n");
    let mut served = Served::start_with(Backend::devnet(), &further);
    let mut numbers = Numbers::new(5);
    served.backend.mine(105, &served.scripts[0]);
    // No reorganisation takes a whole history away: the client does not read a status of `null` in a notification, and connects
    // anew without its subscriptions.
    for script in &served.scripts {
        served.backend.mine(1, script);
    }
    served.mine_traffic(&mut numbers, 10);
    served.wait_for_tip();
    let client = Client::new(&format!("tcp://{address}")).unwrap();
    assert_eq!(client.server_features().unwrap().protocol_max, "1.6");
    client.block_headers_subscribe().unwrap();
    let scripts = served.scripts.clone();
    for script in &scripts {
        client.script_subscribe(script).unwrap();
    }
    for round in 0..4 {
        if round % 2 == 0 {
            served.mine_traffic(&mut numbers, 3);
        } else {
            served.reorganise(&mut numbers, 3);
        }
        served.mine_mempool();
        served.wait_for_tip();
        let tip = served.backend.height();
        let mut newest = None;
        wait_for("the header of the tip", Duration::from_secs(60), || {
            client.ping().unwrap();
            while let Some(header) = client.block_headers_pop().unwrap() {
                newest = Some(header);
            }
            newest.as_ref().filter(|header| header.height as u32 == tip).map(|_| ())
        });
        assert_eq!(newest.unwrap().header.block_hash(), served.backend.hash(tip));
        for script in &scripts {
            let history = client.script_get_history(script).unwrap();
            let rows: Vec<_> = history.iter().map(|row| (row.tx_hash.to_string(), row.height)).collect();
            assert_eq!(rows, expected(&served, script), "{}", script_hash(script));
        }
        // Notified statuses are those of the histories.
        for script in &scripts {
            let history = client.script_get_history(script).unwrap();
            let rows: Vec<_> =
                history.iter().map(|row| json!({"tx_hash": row.tx_hash, "height": row.height})).collect();
            let status = super::status(&json!(rows));
            let mut last = None;
            while let Some(popped) = client.script_pop(script).unwrap() {
                last = Some(popped);
            }
            if let Some(last) = last {
                let text = bitcoin::hex::DisplayHex::to_lower_hex_string(&last[..]);
                assert_eq!(json!(text), status, "{}", script_hash(script));
            }
        }
    }
    let batch = client.batch_script_get_history(scripts.iter().map(ScriptBuf::as_script)).unwrap();
    assert_eq!(batch.len(), scripts.len());
    assert!(client.batch_estimate_fee([1, 6, 25]).is_ok());
    assert!(client.transaction_broadcast_raw(&[0]).is_err());
}
