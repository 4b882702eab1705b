//! The published `electrs` on the same node and chain, next to ours.
//!
//! Catches: an import that loses more against the program that people run today.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use xtask::bar::{Bar, Floor};
use xtask::peers::{self, Peer};
use xtask::process::{Failure, Outcome};

use crate::import::{self, Setup, float, folder_bytes, fresh_import, parse_alone, rate};
use crate::{Bench, node::Node};

/// Where it speaks the Electrum protocol, on the loopback interface.
pub(crate) const ELECTRUM_PORT: u16 = 29_447;
const MONITORING_PORT: u16 = 29_448;
/// Rounds on the chain of the bars, whose noise is of the size of what is looked for.
const ROUNDS: usize = 3;
/// A chain above this many bytes takes minutes, and one round.
const LONG_BYTES: u64 = 1 << 30;

/// Indexes the chain with both, in the default configuration and with the Bitcoin index alone.
pub(crate) fn measure(bench: &Bench) -> Outcome<Vec<Bar>> {
    let program = peers::find(&bench.root, Peer::Electrs)?;
    let _node = Node::start(&bench.bitcoind, &bench.place, &bench.chain)?;
    let (block_bytes, _) = parse_alone(&bench.chain.path)?;
    let data = bench.place.join("index");
    let theirs_folder = bench.place.join("electrs");
    let mut bars = Vec::new();
    let (count, suffix) = if block_bytes > LONG_BYTES { (1, ", long") } else { (ROUNDS, "") };
    for (setup, name) in [(import::DEFAULT, "peer electrs"), (import::LEAN, "peer electrs, lean")] {
        let mut rounds = Vec::new();
        for _ in 0..count {
            let theirs = index_with(&program, &theirs_folder, bench.chain.height)?;
            // As the program is without a word about memory.
            let ours = fresh_import(bench, &data, Setup { memory_mib: None, ..setup })?;
            rounds.push((theirs, ours.seconds_to_tip, ours.seconds - ours.seconds_to_tip));
        }
        let mut sorted = rounds.clone();
        sorted.sort_by(|(a, a_ours, _), (b, b_ours, _)| (a / a_ours).total_cmp(&(b / b_ours)));
        let (theirs, ours, rest) = sorted[count / 2];
        let bar = Bar {
            name: format!("{name}{suffix}"),
            value: theirs / ours,
            floor: Floor::AtLeast(1.0),
            how: format!(
                "electrs {theirs:.1} s, {:.1} MB/s, {:.1} MB on disk; paraffin {ours:.1} s, {:.1} MB/s, {:.1} MB on disk without \
                 undo and journal; {:.0} MB of blocks, each from process start to tip, in turns, middle one of {count}; then our stop and the digest \
                 of all rows take {rest:.1} s",
                rate(block_bytes, theirs),
                float(folder_bytes(&theirs_folder)) / 1e6,
                rate(block_bytes, ours),
                float(import::Parts::of(&data)?.index) / 1e6,
                float(block_bytes) / 1e6
            ),
        };
        let rows = (1..).zip(&rounds).fold(
            "round,electrs_seconds,paraffin_seconds,paraffin_digest_seconds\n".to_owned(),
            |rows, (round, times)| format!("{rows}{round},{:.2},{:.2},{:.2}\n", times.0, times.1, times.2),
        );
        bar.report(&bench.root, "cargo xtask bars electrs", &rows)?;
        bars.push(bar);
    }
    Ok(bars)
}

/// Seconds from the start of the process until its index holds the chain.
fn index_with(program: &Path, folder: &Path, height: u32) -> Outcome<f64> {
    let begin = Instant::now();
    let mut process = Electrs::start(program, folder)?;
    process.wait_for(height).map(|()| begin.elapsed().as_secs_f64())
}

/// Its process beside the node of the bars; asked to stop, and waited for, when dropped.
pub(crate) struct Electrs(Child);

impl Electrs {
    /// Starts it with an empty index in `folder`.
    pub(crate) fn start(program: &Path, folder: &Path) -> Outcome<Self> {
        let failed = |error| Failure::new(format!("{}: {error}", folder.display()));
        if folder.exists() {
            std::fs::remove_dir_all(folder).map_err(failed)?;
        }
        std::fs::create_dir_all(folder).map_err(failed)?;
        let settings = folder.join("electrs.toml");
        std::fs::write(&settings, "auth = \"paraffin:bars\"\n").map_err(failed)?;
        let process = Command::new(program)
            .args(["--skip-default-conf-files", "--network", "regtest", "--log-filters", "WARN"])
            // The chain is not of today, so the node says that it is still downloading.
            .args(["--skip-block-download-wait", "--conf"])
            .arg(&settings)
            .args(["--db-dir".as_ref(), folder.join("db").as_os_str()])
            .args(["--daemon-rpc-addr", &format!("127.0.0.1:{}", Node::rpc_port())])
            .args(["--electrum-rpc-addr", &format!("127.0.0.1:{ELECTRUM_PORT}")])
            .args(["--monitoring-addr", &format!("127.0.0.1:{MONITORING_PORT}")])
            .stdin(Stdio::null())
            .spawn();
        process.map(Self).map_err(|error| Failure::new(format!("{}: {error}", program.display())))
    }

    /// Waits until its index holds the chain.
    pub(crate) fn wait_for(&mut self, height: u32) -> Outcome {
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(900) {
            if has_block(height) {
                return Ok(());
            }
            if let Ok(Some(status)) = self.0.try_wait() {
                return Err(Failure::new(format!("electrs ended with {status}")));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Err(Failure::new("electrs did not reach the tip within 15 minutes"))
    }
}

impl Drop for Electrs {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        let _ = self.0.wait();
    }
}

/// Whether its Electrum server knows the header of a height. It ends when it is asked for the newest of none.
fn has_block(height: u32) -> bool {
    use std::io::{BufRead as _, BufReader, Write as _};
    let ask = || {
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", ELECTRUM_PORT)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "blockchain.block.header", "params": [height]});
        stream.write_all(format!("{request}\n").as_bytes()).ok()?;
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).ok()?;
        serde_json::from_str::<Value>(&line).ok()
    };
    ask().is_some_and(|answer| answer["result"].is_string())
}
