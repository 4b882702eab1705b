//! `kill -9` at random moments during import leaves a store that ends equal to a fresh sync.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::process::{Running, paraffin, write_config};
use paraffin_devnet::{Devnet, DevnetOptions};
use serde_json::Value;

const KILLS: u32 = 20;
const BLOCKS: u32 = 200;

fn local() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

/// How an import commits in these tests.
#[derive(Debug, Clone, Copy)]
enum Commits {
    /// Every block on its own, so that an import takes many commits.
    BlockByBlock,
    /// As sorted runs of a few blocks; only the last blocks can be undone.
    SortedRuns,
}

/// `paraffin index --once` on `folder`.
fn index(folder: &Path, devnet: &Devnet, commits: Commits) -> Running {
    let how = match commits {
        Commits::BlockByBlock => "commit_kib = 1\nundo_blocks = 20\nimport_kib = 0",
        Commits::SortedRuns => "commit_kib = 1\nundo_blocks = 20\nimport_kib = 40",
    };
    let config = write_config(
        folder,
        &format!(
            "network = \"regtest\"\ndata_dir = \"{}\"\n[node]\nurl = \"{}\"\nuser = \"{}\"\npassword = \"{}\"\n[index]\n{how}\n",
            folder.join("data").display(),
            devnet.rpc_url(),
            devnet.user(),
            devnet.password()
        ),
    );
    Running::start(paraffin().args(["index", "--once", "--config"]).arg(config))
}

/// Waits for the end and answers the printed digests.
fn finish(mut process: Running) -> Value {
    let status = process.wait(Duration::from_secs(120));
    assert!(status.success(), "{}", process.errors());
    std::thread::sleep(Duration::from_millis(50));
    serde_json::from_str(process.output().trim()).unwrap()
}

/// A small generator of sleeping times; the seed is printed so that a failure can be looked at.
struct Moments(u64);

impl Moments {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit.max(1)
    }
}

#[test]
fn twenty_kills_during_import_leave_a_store_equal_to_a_fresh_sync() {
    if !paraffin_testkit::long_tests() {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let devnet = runtime
        .block_on(Devnet::start(DevnetOptions {
            blocks: BLOCKS,
            rpc_listen: local(),
            p2p_listen: local(),
            ..DevnetOptions::default()
        }))
        .unwrap();

    let fresh = tempfile::tempdir().unwrap();
    let expected = finish(index(fresh.path(), &devnet, Commits::BlockByBlock));
    assert_eq!(expected["height"], BLOCKS);
    for commits in [Commits::BlockByBlock, Commits::SortedRuns] {
        kill_imports(&devnet, commits, &expected);
    }
    runtime.block_on(devnet.shutdown());
}

/// Kills imports at random moments until [`KILLS`] were met, and lets some of them end.
fn kill_imports(devnet: &Devnet, commits: Commits, expected: &Value) {
    let fresh = tempfile::tempdir().unwrap();
    let started = Instant::now();
    assert_eq!(finish(index(fresh.path(), devnet, commits)), *expected, "{commits:?}");
    let whole = u64::try_from(started.elapsed().as_millis()).unwrap();
    let seed = u64::from(std::process::id()) << 20 | 1;
    eprintln!("{commits:?}: seed of the moments: {seed}, a whole import takes {whole} ms");
    let mut moments = Moments(seed);
    let (mut kills, mut finished, mut in_runs) = (0, 0, 0);
    while kills < KILLS {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("data/store");
        loop {
            let mut process = index(folder.path(), devnet, commits);
            std::thread::sleep(Duration::from_millis(moments.below(whole / 3)));
            if kills >= KILLS || !process.is_running() {
                assert_eq!(finish(process), *expected, "after {kills} kills");
                finished += 1;
                break;
            }
            process.kill();
            // Only a kill before the digests were printed fell inside an import.
            if process.output().is_empty() {
                kills += 1;
                in_runs += u32::from(store.join("run").exists() || store.join("run.part").exists());
            }
        }
    }
    eprintln!("{kills} kills inside an import, {in_runs} of them inside a sorted run, {finished} imports finished");
    assert!(finished > 0);
    // Where kills fall within a run is forced by the tests of the store; here runs must have been written at all.
    if matches!(commits, Commits::BlockByBlock) {
        assert_eq!(in_runs, 0, "no run is written block by block");
    }
}
