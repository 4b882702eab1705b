//! The published `electrs` beside the node of a test.

use std::collections::HashSet;
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::json;

use super::Wire;
use crate::support::process::Running;
use crate::support::served::{Backend, Served};
use crate::support::{free_port, wait_for};

pub struct Electrs {
    _process: Running,
    _folder: tempfile::TempDir,
    /// Where it speaks the Electrum protocol, `host:port`.
    pub address: String,
}

impl Electrs {
    /// Starts it beside the node of `served`; `None` where it is not at hand.
    pub fn start(served: &Served) -> Option<Self> {
        let Some(program) = paraffin_testkit::shared("bin/electrs") else {
            paraffin_testkit::skipped("electrs is not at hand: cargo xtask peers build");
            return None;
        };
        let Backend::Core { node, .. } = &served.backend else { panic!("a real node is needed") };
        let folder = tempfile::tempdir().unwrap();
        let settings = folder.path().join("electrs.toml");
        std::fs::write(&settings, "auth = \"paraffin:test\"\n").unwrap();
        let address = format!("127.0.0.1:{}", free_port());
        let mut command = Command::new(program);
        command
            .args(["--skip-default-conf-files", "--network", "regtest", "--log-filters", "WARN"])
            // It reads the mempool that often; ten seconds unless it is asked for.
            .args(["--wait-duration-secs", "1"])
            .args(["--skip-block-download-wait", "--conf"])
            .arg(&settings)
            .args(["--db-dir".as_ref(), folder.path().join("db").as_os_str()])
            .args(["--daemon-rpc-addr", &format!("127.0.0.1:{}", node.rpc_port)])
            .args(["--electrum-rpc-addr", &address])
            .args(["--monitoring-addr", &format!("127.0.0.1:{}", free_port())])
            .stdin(Stdio::null());
        let process = Running::start(&mut command);
        // It listens before it has headers, and ends when it is asked for the newest of none.
        let height = served.backend.height();
        wait_for("electrs to have the chain", Duration::from_secs(60), || {
            TcpStream::connect(&address).ok()?;
            let answer = Wire::connect(&address).ask("blockchain.block.header", json!([height]));
            answer["error"].is_null().then_some(())
        });
        Some(Self { _process: process, _folder: folder, address })
    }
}

/// Waits until both are at the node's tip and have its mempool, whose transactions all touch some of the scripts.
pub fn settle(served: &mut Served, both: &mut [Wire; 2], scripts: &[String]) {
    served.wait_for_tip();
    let tip = served.backend.height();
    let unconfirmed: HashSet<String> = served.backend.mempool().iter().map(ToString::to_string).collect();
    wait_for("both to have the tip and the mempool", Duration::from_secs(60), || {
        both.iter_mut()
            .all(|wire| {
                let height = wire.call("blockchain.headers.subscribe", json!([]))["height"].as_u64();
                let mut seen = HashSet::new();
                for script in scripts {
                    let history = wire.call("blockchain.scripthash.get_history", json!([script]));
                    let rows = history.as_array().unwrap().iter();
                    let rows = rows.filter(|row| row["height"].as_i64().unwrap() <= 0);
                    seen.extend(rows.map(|row| row["tx_hash"].as_str().unwrap().to_owned()));
                }
                height == Some(tip.into()) && seen == unconfirmed
            })
            .then_some(())
    });
}
