//! The import of a whole chain from a real node: speed, bytes read and written, size of the index, memory.
//!
//! Catches: a second hash of a transaction or a second read of a block (block import, import reads), rows written twice or
//! compaction that runs wild (import writes), a table that stores hashes where numbers do (index size), a buffer without a
//! bound (memory).

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use bitcoin::Block;
use bitcoin::consensus::deserialize;

use super::node::Node;
use super::result::Floor;
use super::{Bar, Bench, chain};
use crate::process::{Failure, Outcome, typed};

/// Ceiling of the index in these runs, in MiB.
pub(crate) const MEMORY_MIB: u64 = 1024;
const SAMPLE_EVERY: Duration = Duration::from_millis(100);

/// What one run of the program did.
pub(crate) struct Import {
    pub(crate) seconds: f64,
    pub(crate) command: String,
    written: u64,
    served: u64,
    resident_max: u64,
    samples: String,
}

pub(crate) fn measure(bench: &Bench) -> Outcome<Vec<Bar>> {
    let (block_bytes, parse_seconds) = parse_alone(&bench.chain.path)?;
    let _node = Node::start(&bench.bitcoind, &bench.place, &bench.chain)?;
    let data = bench.place.join("index");
    let import = fresh_import(bench, &data)?;
    // The same command on the finished index: start, comparison with the node, digest of all rows, stop.
    let rest = follow(bench, &data)?;
    let (parse_again, again_seconds) = parse_alone(&bench.chain.path)?;
    let parse_rate = rate(block_bytes + parse_again, parse_seconds + again_seconds);
    let seconds = (import.seconds - rest.seconds).max(0.001);
    let import_rate = rate(block_bytes, seconds);
    let parts = Parts::of(&data)?;
    let block_bytes_f = float(block_bytes);
    let index = float(parts.index);
    let bars = vec![
        Bar {
            name: "block import",
            value: import_rate / parse_rate,
            floor: Floor::AtLeast(0.03),
            how: format!(
                "per-block path {import_rate:.1} MB/s ({seconds:.1} s for {:.0} MB, {} blocks) against parse and txids alone \
                 {parse_rate:.0} MB/s; start, stop and the digest of all rows ({:.1} s) taken off",
                block_bytes_f / 1e6,
                bench.chain.height + 1,
                rest.seconds
            ),
        },
        Bar {
            name: "import writes",
            value: float(import.written) / (index + float(parts.undo)),
            floor: Floor::AtMost(12.0),
            how: format!(
                "{:.1} MB written by the process, journal included, for {:.1} MB of tables and {:.1} MB of undo kept",
                float(import.written) / 1e6,
                index / 1e6,
                float(parts.undo) / 1e6
            ),
        },
        Bar {
            name: "import reads",
            value: float(import.served) / block_bytes_f,
            floor: Floor::AtMost(1.2),
            how: format!(
                "at most {:.1} MB over the loopback interface (whatever else uses it included) for {:.1} MB of blocks",
                float(import.served) / 1e6,
                block_bytes_f / 1e6
            ),
        },
        Bar {
            name: "index size",
            value: index / block_bytes_f,
            floor: Floor::AtMost(0.35),
            how: format!("per block byte, without undo, journal, raw transactions: {}", parts.describe(block_bytes)),
        },
        Bar {
            name: "memory",
            value: float(import.resident_max) / float(MEMORY_MIB << 20),
            floor: Floor::AtMost(1.0),
            how: format!(
                "largest resident size {} MiB at a ceiling of {MEMORY_MIB} MiB, sampled every 100 ms",
                import.resident_max >> 20
            ),
        },
    ];
    for bar in &bars {
        let rows = if bar.name == "index size" { parts.rows() } else { import.samples.clone() };
        bar.report(&bench.root, &bar.name.replace(' ', "-"), &import.command, &rows)?;
    }
    Ok(bars)
}

/// Bytes per second in MB.
pub(crate) fn rate(bytes: u64, seconds: f64) -> f64 {
    float(bytes) / 1e6 / seconds
}

#[allow(clippy::cast_precision_loss)] // figures for people
pub(crate) fn float(number: u64) -> f64 {
    number as f64
}

/// Decodes every block and hashes every transaction: block bytes and seconds.
pub(crate) fn parse_alone(path: &Path) -> Outcome<(u64, f64)> {
    let bytes = std::fs::read(path).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
    let blocks = chain::split(&bytes);
    let begin = Instant::now();
    let mut total = 0;
    for bytes in blocks {
        let block: Block = deserialize(bytes).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
        for transaction in &block.txdata {
            black_box(transaction.compute_txid());
        }
        total += bytes.len() as u64;
    }
    Ok((total, begin.elapsed().as_secs_f64()))
}

/// Indexes the node's chain into the empty folder `data`.
pub(crate) fn fresh_import(bench: &Bench, data: &Path) -> Outcome<Import> {
    if data.exists() {
        std::fs::remove_dir_all(data).map_err(|error| Failure::new(format!("{}: {error}", data.display())))?;
    }
    follow(bench, data)
}

/// The configuration of an index in `data`.
pub(crate) fn config_file(bench: &Bench, data: &Path) -> Outcome<PathBuf> {
    let file = bench.place.join("paraffin.toml");
    let text = format!(
        "network = \"regtest\"\ndata_dir = \"{}\"\n{}[index]\nmemory_mib = {MEMORY_MIB}\nundo_blocks = 10\n\
         raw_transactions = \"node\"\n[gateway]\nlisten = \"127.0.0.1:{}\"\n",
        data.display(),
        Node::config(),
        super::start::SERVE_PORT
    );
    std::fs::write(&file, text).map_err(|error| Failure::new(format!("{}: {error}", file.display())))?;
    Ok(file)
}

fn follow(bench: &Bench, data: &Path) -> Outcome<Import> {
    let mut command = Command::new(&bench.paraffin);
    command.args(["index", "--once", "--config"]).arg(config_file(bench, data)?);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
    let failed = |error| Failure::new(format!("{}: {error}", bench.paraffin.display()));
    let served_before = loopback_bytes();
    let begin = Instant::now();
    let mut process = command.spawn().map_err(failed)?;
    let id = process.id();
    let mut samples = "milliseconds,resident_kib,written_bytes,read_bytes,loopback_bytes\n".to_owned();
    let (mut written, mut resident_max) = (0, 0);
    let status = loop {
        let ended = process.try_wait().map_err(failed)?;
        let resident = counter(id, "status", "VmHWM:");
        let now = counter(id, "io", "write_bytes:");
        if now > 0 {
            written = now;
        }
        resident_max = resident_max.max(resident * 1024);
        let sent = loopback_bytes().saturating_sub(served_before);
        let read = counter(id, "io", "read_bytes:");
        let _ = writeln!(samples, "{},{resident},{now},{read},{sent}", begin.elapsed().as_millis());
        if let Some(status) = ended {
            break status;
        }
        std::thread::sleep(SAMPLE_EVERY);
    };
    if !status.success() {
        return Err(Failure::new(format!("`{}` ended with {status}", typed(&command))));
    }
    let served = loopback_bytes().saturating_sub(served_before);
    let seconds = begin.elapsed().as_secs_f64();
    // Paths of this machine say nothing to others.
    let command = "paraffin index --once --config paraffin.toml".to_owned();
    Ok(Import { seconds, command, written, served, resident_max, samples })
}

/// A number of `/proc/<id>/<file>`; 0 when the process is gone.
fn counter(id: u32, file: &str, name: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{id}/{file}")).unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(name));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}

/// Bytes received over the loopback interface; a node's process counters leave sockets out.
fn loopback_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/net/dev").unwrap_or_default();
    let line = text.lines().find(|line| line.trim_start().starts_with("lo:"));
    line.and_then(|line| line.split(':').nth(1)?.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Bytes of the store by part.
pub(crate) struct Parts {
    /// All tables, without raw transactions (the run keeps none) and undo.
    pub(crate) index: u64,
    pub(crate) undo: u64,
    journal: u64,
    spaces: Vec<(String, u64)>,
}

impl Parts {
    /// Keyspaces in the order in which the store creates them; the engine numbers them from 1.
    const NAMES: [&'static str; 6] = ["numbered", "hashed", "listed", "bulk", "meta", "undo"];

    pub(crate) fn of(data: &Path) -> Outcome<Self> {
        let engine = data.join("store/engine");
        let failed = |error| Failure::new(format!("{}: {error}", engine.display()));
        let mut spaces = Vec::new();
        for (number, name) in (1..).zip(Self::NAMES) {
            let folder = engine.join(format!("keyspaces/{number}"));
            if !folder.is_dir() {
                return Err(Failure::new(format!(
                    "{} is not there: has the engine changed its folders?",
                    folder.display()
                )));
            }
            spaces.push((name.to_owned(), folder_bytes(&folder)));
        }
        let journal = std::fs::read_dir(&engine)
            .map_err(failed)?
            .flatten()
            .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "jnl"))
            .map(|entry| entry.metadata().map_or(0, |metadata| metadata.len()))
            .sum();
        let undo = spaces[5].1;
        let index = spaces[..5].iter().map(|(_, bytes)| bytes).sum();
        Ok(Self { index, undo, journal, spaces })
    }

    fn describe(&self, block_bytes: u64) -> String {
        let share = |bytes: u64| format!("{:.1} %", 100.0 * float(bytes) / float(block_bytes));
        let spaces: Vec<String> = self.spaces.iter().map(|(name, bytes)| format!("{name} {}", share(*bytes))).collect();
        format!("{}; journal files {:.0} MB", spaces.join(", "), float(self.journal) / 1e6)
    }

    fn rows(&self) -> String {
        let mut text = "part,bytes\n".to_owned();
        for (name, bytes) in &self.spaces {
            let _ = writeln!(text, "{name},{bytes}");
        }
        let _ = writeln!(text, "journal,{}", self.journal);
        text
    }
}

/// Bytes of all files below a folder.
pub(crate) fn folder_bytes(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => folder_bytes(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}
