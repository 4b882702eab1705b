//! Instances beside a node whose chain turns: what they say is what an instance says that only ever saw the end.

use std::sync::Arc;
use std::time::Duration;

use bitcoin::hashes::Hash as _;
use bitcoin::{ScriptBuf, WScriptHash};
use paraffin_devnet::market::{Market, MarketError};
use paraffin_devnet::{ACCOUNT_NAMES, OutputKind, Wallet};
use serde_json::{Value, json};

use crate::support::process::{Running, paraffin, write_config};
use crate::support::served::{Backend, Numbers, Served};
use crate::support::{free_port, http, wait_for};

/// Height at which the market stands.
pub const FOUNDED: u32 = 112;

/// A second instance beside the same node.
struct Beside {
    _process: Running,
    address: String,
    /// Of the main endpoint.
    path: String,
    _folder: tempfile::TempDir,
}

impl Beside {
    fn start(backend: &Backend) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let mut create = paraffin();
        create.args(["keys", "create", "test", "--plan", "business", "--data-dir"]).arg(&data);
        let path = format!("/v4/{}", String::from_utf8(create.output().unwrap().stdout).unwrap().trim());
        let address = format!("127.0.0.1:{}", free_port());
        let text = format!(
            "network = \"regtest\"\ndata_dir = \"{}\"\n{}\n[gateway]\nlisten = \"{address}\"\n[index]\nmemory_mib = 256\n",
            data.display(),
            backend.config()
        );
        let config = write_config(folder.path(), &text);
        let mut process = Running::start(paraffin().args(["serve", "--config"]).arg(config));
        process.wait_for_output("listening on", Duration::from_secs(60));
        let beside = Self { _process: process, address, path, _folder: folder };
        let hash = json!(backend.hash(backend.height()));
        wait_for("the second instance to reach the tip", Duration::from_secs(120), || {
            (http::call(&beside.address, &beside.path, "btc_getbestblockhash", json!([]))["result"] == hash)
                .then_some(())
        });
        beside
    }
}

/// The market beside a served node.
pub struct Traded {
    pub served: Served,
    market: Market,
    patron: Arc<Wallet>,
}

impl Traded {
    pub fn new(seed: u64) -> Self {
        let patron = Arc::new(Wallet::new(seed, &ACCOUNT_NAMES));
        Self { served: Served::start(Backend::devnet()), market: Market::new(seed, Arc::clone(&patron)), patron }
    }

    pub fn mine(&mut self, count: u32) {
        let Backend::Devnet { devnet, .. } = &self.served.backend else { unreachable!("the market needs the devnet") };
        let node = devnet.node();
        for _ in 0..count {
            self.market.observe(&node).unwrap();
            match self.market.step(&node) {
                // Orders of a dropped block wait again, and a new one can get in their way.
                Ok(_) | Err(MarketError::Refused(_)) => {}
                Err(error) => panic!("{error}"),
            }
            node.mine_block(&self.patron.script(0, OutputKind::Taproot)).unwrap();
        }
    }

    pub fn drop_and_replace(&mut self, numbers: &mut Numbers, depth: u32) {
        self.served.backend.drop_blocks(depth);
        let mut hash = [0; 32];
        hash[..8].copy_from_slice(&numbers.below(u64::MAX).to_le_bytes());
        self.served.backend.mine(1, &ScriptBuf::new_p2wsh(&WScriptHash::from_byte_array(hash)));
        self.mine(depth);
    }
}

fn asked(address: &str, path: &str, height: u32) -> Vec<Value> {
    let calls = [
        ("metashrew_stateroot", json!([height])),
        ("metashrew_getblockhash", json!([height])),
        ("metashrew_view", json!(["sequence", "0x", height])),
        ("metashrew_view", json!(["traceblock", "0x", height])),
        ("metashrew_view", json!(["unwrap", "0x", height])),
        ("alkanes_getinventory", json!(["4:65522", height])),
        ("alkanes_getinventory", json!(["2:6", height])),
        ("alkanes_simulate", json!([{"target": "4:65522", "inputs": ["3"]}, height])),
    ];
    calls.into_iter().map(|(method, params)| http::result(address, path, method, params)).collect()
}

#[test]
fn an_instance_that_saw_reorganisations_says_what_one_says_that_saw_none() {
    let mut traded = Traded::new(3);
    let mut numbers = Numbers::new(3);
    traded.mine(FOUNDED);
    traded.served.wait_for_tip();
    for depth in [1, 3, 6] {
        traded.mine(6);
        traded.served.wait_for_tip();
        let path = traded.served.keyed("");
        let tip = traded.served.backend.height();
        let before = http::result(&traded.served.address, &path, "metashrew_stateroot", json!([tip]));
        traded.drop_and_replace(&mut numbers, depth);
        traded.served.wait_for_tip();
        let after = http::result(&traded.served.address, &path, "metashrew_stateroot", json!([tip]));
        assert_ne!(before, after, "the new branch is another one");
    }
    let fresh = Beside::start(&traded.served.backend);
    let tip = traded.served.backend.height();
    let path = traded.served.keyed("");
    for height in (0..=tip).filter(|height| *height < 5 || *height > 100) {
        let answer = asked(&traded.served.address, &path, height);
        assert_eq!(answer, asked(&fresh.address, &fresh.path, height), "height {height}");
    }
    for route in ["get-alkanes", "get-holders", "get-keys"] {
        let body = json!({"alkaneId": "32:0", "alkane": "4:65522", "limit": 50});
        let answer = http::post(&traded.served.address, &traded.served.keyed(&format!("/{route}")), &body).json();
        assert_eq!(answer, http::post(&fresh.address, &format!("{}/{route}", fresh.path), &body).json(), "{route}");
    }
}
