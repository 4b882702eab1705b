//! A full disk stops the writer with a message; the API stays readable.

use std::net::SocketAddr;
use std::time::Duration;

use crate::support::process::{Running, paraffin, write_config};
use crate::support::{free_port, http, wait_for};
use paraffin_devnet::{Devnet, DevnetOptions};
use serde_json::json;

fn local() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

/// A command prefix that gives the child mounts of its own: as root, or in a user namespace.
fn private_mounts() -> Option<std::process::Command> {
    for options in [&["--mount"][..], &["--user", "--map-root-user", "--mount"]] {
        let mut command = std::process::Command::new("unshare");
        command.args(options);
        if std::process::Command::new("unshare")
            .args(options)
            .arg("true")
            .output()
            .is_ok_and(|run| run.status.success())
        {
            return Some(command);
        }
    }
    paraffin_testkit::missing("`unshare --mount` does not work here, neither as this user nor in a user namespace");
    None
}

#[test]
fn a_full_disk_stops_the_writer_with_a_message_and_reads_go_on() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let devnet = runtime
        .block_on(Devnet::start(DevnetOptions {
            blocks: 500,
            rpc_listen: local(),
            p2p_listen: local(),
            ..DevnetOptions::default()
        }))
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let listen = format!("127.0.0.1:{}", free_port());
    let config = write_config(
        folder.path(),
        &format!(
            "network = \"regtest\"\ndata_dir = \"{}\"\n[node]\nurl = \"{}\"\nuser = \"{}\"\npassword = \"{}\"\n[gateway]\nlisten = \"{listen}\"\ndrain_seconds = 0\n[index]\ncommit_kib = 1\n",
            folder.path().join("data").display(),
            devnet.rpc_url(),
            devnet.user(),
            devnet.password()
        ),
    );
    // The data folder of the child is a file system of 1 MiB of its own, which the import fills.
    std::fs::create_dir(folder.path().join("data")).unwrap();
    let data = folder.path().join("data");
    let program = paraffin();
    let Some(mut unshare) = private_mounts() else { return };
    let mut process = Running::start(
        unshare
            .args(["sh", "-c", "mount -t tmpfs -o size=1m tmpfs \"$1\" && shift && exec \"$@\"", "sh"])
            .arg(&data)
            .arg(program.get_program())
            .args(["serve", "--config"])
            .arg(config),
    );
    process.wait_for_output("listening on", Duration::from_secs(20));
    let health = wait_for("health to report that indexing stopped", Duration::from_secs(60), || {
        let answer = http::get(&listen, "/v4/api/health");
        (answer.json()["status"] == "stalled").then_some(answer)
    });
    assert_eq!(health.status, 503);
    let errors = process.errors();
    assert!(errors.contains("the disk is full"), "{errors}");
    // The warning asks the node how much there is to come, beside the import: on a disk of 1 MiB either can be first.
    let warned = wait_for("the warning", Duration::from_secs(10), || {
        let errors = process.errors();
        errors.lines().find(|line| line.contains("the disk is too small for the whole index")).map(str::to_owned)
    });
    assert!(warned.contains("WARN") && warned.contains("of blocks needs about"), "{warned}");
    assert!(warned.contains("move `data_dir` to a larger disk"), "{warned}");

    // What was committed stays readable and whole.
    let count = http::result(&listen, "/v4/jsonrpc", "btc_getblockcount", json!([])).as_u64().unwrap();
    let hash = http::result(&listen, "/v4/jsonrpc", "btc_getblockhash", json!([count]));
    let block = http::result(&listen, "/v4/jsonrpc", "esplora_block", json!([hash]));
    assert_eq!(block["height"], json!(count));
    assert!(process.is_running());
    process.terminate(Duration::from_secs(5));
    runtime.block_on(devnet.shutdown());
}
