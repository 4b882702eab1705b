//! Following the tip: from the moment the node has a block of full size until the program answers with it, and how soon a killed
//! program serves the tip again.
//!
//! Catches: a follower that waits for its next question, reads one after the other, a journal that grows.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bitcoin::hex::DisplayHex as _;
use serde_json::{Value, json};

use crate::chain::{self, ChainFile};
use crate::import::float;
use crate::large::advise;
use crate::node::{Node, request};
use crate::start::SERVE_PORT;
use crate::{Bench, SEED};
use xtask::bar::{Bar, Floor};
use xtask::process::{Failure, Outcome, capture};

/// Blocks of full size that come one at a time, half of them with warm caches.
const BLOCKS: u32 = 200;
/// How often the program is asked.
const EVERY: Duration = Duration::from_millis(2);
/// Between a block that is there and the next one.
const REST: Duration = Duration::from_millis(200);
/// Longest wait for anything.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn measure(bench: &Bench) -> Outcome<Vec<Bar>> {
    let whole = chain::provide(&bench.place, &bench.fixtures, BLOCKS, SEED)?;
    let bytes =
        std::fs::read(&whole.path).map_err(|error| Failure::new(format!("{}: {error}", whole.path.display())))?;
    let blocks = chain::split(&bytes);
    let (first, tips) = blocks.split_at(blocks.len() - BLOCKS as usize);
    // The blocks are of 2011: without it the node takes them for a download under way, and announces none.
    let arguments = [format!("-maxtipage={}", u32::MAX)];
    let node = Node::start_with(&bench.bitcoind, &bench.place, &beginning(&bench.place, first)?, &arguments)?;
    let data = bench.place.join("tip");
    if data.exists() {
        std::fs::remove_dir_all(&data).map_err(|error| Failure::new(format!("{}: {error}", data.display())))?;
    }
    let mut program = Program::new(bench, &data)?;
    program.start()?;
    let mut height = first.len() as u64;
    program.serves(height)?;
    let mut rows = "height,caches,milliseconds\n".to_owned();
    let (mut warm, mut cold) = (Vec::new(), Vec::new());
    for (number, block) in tips.iter().enumerate() {
        let is_cold = number >= tips.len() / 2;
        std::thread::sleep(REST);
        if is_cold {
            advise(&data);
        }
        let answer = Node::rpc("submitblock", &json!([block.to_lower_hex_string()]));
        let begin = Instant::now();
        if answer != Some(Value::Null) {
            return Err(Failure::new(format!("the node refuses block {}: {answer:?}", height + 1)));
        }
        height += 1;
        program.serves(height)?;
        let seconds = begin.elapsed().as_secs_f64();
        if is_cold {
            cold.push(seconds);
        } else {
            warm.push(seconds);
        }
        let _ = writeln!(rows, "{height},{},{:.1}", if is_cold { "cold" } else { "warm" }, seconds * 1e3);
    }
    program.kill()?;
    let begin = Instant::now();
    program.start()?;
    program.serves(height)?;
    let again = begin.elapsed().as_secs_f64();
    drop(program);
    drop(node);
    let [warm, cold] = [warm, cold].map(|mut times| {
        times.sort_by(f64::total_cmp);
        (times[times.len() / 2], times[times.len() * 99 / 100])
    });
    let bars = vec![
        Bar {
            name: "tip".to_owned(),
            value: warm.1,
            floor: Floor::AtMost(0.5),
            how: format!(
                "seconds from the answer of `submitblock` until the height is served, 99th of {} full blocks, median {:.3}; with \
                 the store's files pushed out of the page cache before each of {} more: {:.3}, median {:.3}; default configuration",
                BLOCKS / 2,
                warm.0,
                BLOCKS / 2,
                cold.1,
                cold.0
            ),
        },
        Bar {
            name: "tip after a kill".to_owned(),
            value: again,
            floor: Floor::AtMost(1.0),
            how: format!(
                "seconds from the start until the tip is served, killed after {:.0} MB of blocks",
                float(bytes.len() as u64) / 1e6
            ),
        },
    ];
    bars[0].report(&bench.root, "cargo xtask bars tip", &rows)?;
    bars[1].report(&bench.root, "cargo xtask bars tip", "")?;
    Ok(bars)
}

/// The first blocks of the chain as a chain of their own.
fn beginning(place: &Path, blocks: &[&[u8]]) -> Outcome<ChainFile> {
    let path = place.join("chain-tip.dat");
    let failed = |error| Failure::new(format!("{}: {error}", path.display()));
    let framed: Vec<u8> = blocks.iter().flat_map(|block| chain::framed(block)).collect();
    std::fs::write(&path, framed).map_err(failed)?;
    // A node of an earlier run has the other blocks already.
    let _ = std::fs::remove_dir_all(place.join("node-chain-tip"));
    Ok(ChainFile { path, height: blocks.len() as u32 })
}

/// `paraffin serve` and a key for it.
struct Program {
    executable: PathBuf,
    config: PathBuf,
    /// Path of the main endpoint.
    path: String,
    process: Option<Child>,
}

impl Program {
    fn new(bench: &Bench, data: &Path) -> Outcome<Self> {
        let config = bench.place.join("tip.toml");
        let text = format!(
            "network = \"regtest\"\ndata_dir = \"{}\"\n{}p2p = \"{}\"\n[index]\nundo_blocks = 100\nraw_transactions = \"node\"\n\
             poll_milliseconds = 1000\n[gateway]\nlisten = \"127.0.0.1:{SERVE_PORT}\"\n",
            data.display(),
            Node::config(),
            Node::p2p()
        );
        std::fs::write(&config, text).map_err(|error| Failure::new(format!("{}: {error}", config.display())))?;
        let mut command = Command::new(&bench.paraffin);
        let key = capture(command.args(["keys", "create", "bars", "--plan", "business", "--data-dir"]).arg(data))?;
        Ok(Self { executable: bench.paraffin.clone(), config, path: format!("/v4/{}", key.trim()), process: None })
    }

    fn start(&mut self) -> Outcome {
        let mut command = Command::new(&self.executable);
        command.args(["serve", "--config"]).arg(&self.config);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let failed = |error| Failure::new(format!("{}: {error}", self.executable.display()));
        self.process = Some(command.spawn().map_err(failed)?);
        Ok(())
    }

    /// Waits until the program answers with the height.
    fn serves(&self, height: u64) -> Outcome {
        let address = format!("127.0.0.1:{SERVE_PORT}");
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "btc_getblockcount", "params": []}).to_string();
        let begin = Instant::now();
        loop {
            let answer = request(&address, "POST", &self.path, "content-type: application/json\r\n", &body);
            let answer = answer.and_then(|(_, body)| serde_json::from_str::<Value>(&body).ok());
            let served = answer.as_ref().and_then(|answer| answer["result"].as_u64());
            if served == Some(height) {
                return Ok(());
            }
            if begin.elapsed() > PATIENCE {
                return Err(Failure::new(format!("height {height} is not served within {PATIENCE:?}: {answer:?}")));
            }
            std::thread::sleep(EVERY);
        }
    }

    /// Ends the process at once, as a loss of power or the system does.
    fn kill(&mut self) -> Outcome {
        let Some(mut process) = self.process.take() else { return Ok(()) };
        let ended = process.kill().and_then(|()| process.wait());
        ended.map(drop).map_err(|error| Failure::new(format!("{}: {error}", self.executable.display())))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}
