//! The import of a whole chain from a real node: speed, bytes read and written, size of the index, memory. In the default
//! configuration by sorted runs, and the Bitcoin index alone by sorted runs and block by block, which must end in the same digests.
//!
//! Catches: a second hash of a transaction or a second read of a block (first import, block import, import reads); rows that
//! pass through write buffers or a journal during the first import, runs that are merged again and again, a redo file that is
//! not packed (first import, first import writes); compaction that runs wild (import writes); a table that stores hashes where
//! numbers do, a level of tables that is not compressed (index size); a run without a bound (memory).

use std::fmt::Write as _;
use std::hint::black_box;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use bitcoin::Block;
use bitcoin::consensus::deserialize;

use crate::node::Node;
use xtask::bar::{Bar, Floor};

use crate::{Bench, chain};
use xtask::process::{Failure, Outcome, typed};

/// Ceiling of the index in these runs, in MiB.
const MEMORY_MIB: u64 = 1024;
const SAMPLE_EVERY: Duration = Duration::from_millis(100);

/// Results of one run of the program.
pub(crate) struct Import {
    pub(crate) seconds: f64,
    /// From the start of the process until its index holds the chain, before the digest of all rows.
    pub(crate) seconds_to_tip: f64,
    pub(crate) command: String,
    written: u64,
    served: u64,
    resident_max: u64,
    /// The line that the program prints at the end.
    digests: String,
    samples: String,
}

/// How an import commits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Commits {
    /// As the program does by itself.
    SortedRuns,
    /// Through journal and write buffers, as near the tip.
    BlockByBlock,
}

/// What is indexed, how it commits, and in how much memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Setup {
    pub(crate) modules: Modules,
    pub(crate) commits: Commits,
    /// `None`: as much as the program takes by itself on this machine.
    pub(crate) memory_mib: Option<u64>,
}

/// Which modules are on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Modules {
    /// The default configuration: contracts, markets, inscriptions and runes beside the Bitcoin index.
    Default,
    /// The Bitcoin index alone.
    BitcoinAlone,
}

/// The default configuration of a first import.
pub(crate) const DEFAULT: Setup =
    Setup { modules: Modules::Default, commits: Commits::SortedRuns, memory_mib: Some(MEMORY_MIB) };
/// The Bitcoin index alone, in the same way.
pub(crate) const LEAN: Setup = Setup { modules: Modules::BitcoinAlone, ..DEFAULT };
/// The Bitcoin index alone, as it follows the tip.
const LEAN_BY_BLOCK: Setup = Setup { commits: Commits::BlockByBlock, ..LEAN };

/// One import and the same command again on the finished index: start, comparison with the node, digest of all rows, stop.
struct Measured {
    import: Import,
    rest_seconds: f64,
    parts: Parts,
}

impl Measured {
    fn run(bench: &Bench, data: &Path, setup: Setup) -> Outcome<Self> {
        let import = fresh_import(bench, data, setup)?;
        let rest = follow(bench, data, setup)?;
        if import.digests != rest.digests {
            return Err(Failure::new("a second start has other digests than the import"));
        }
        Ok(Self { import, rest_seconds: rest.seconds, parts: Parts::of(data)? })
    }

    fn seconds(&self) -> f64 {
        (self.import.seconds - self.rest_seconds).max(0.001)
    }

    /// Bytes written for each byte of tables and undo records kept.
    fn write_ratio(&self) -> f64 {
        float(self.import.written) / float(self.parts.index + self.parts.undo)
    }

    fn say_speed(&self, block_bytes: u64, parse_rate: f64) -> String {
        format!(
            "{:.1} MB/s ({:.1} s for {:.0} MB of blocks) against parse and txids alone {parse_rate:.0} MB/s, the middle \
             one of three rounds; start, stop and the digest of all rows ({:.1} s) taken off",
            rate(block_bytes, self.seconds()),
            self.seconds(),
            float(block_bytes) / 1e6,
            self.rest_seconds
        )
    }

    fn say_writes(&self) -> String {
        format!(
            "{:.1} MB written by the process, journal included, for {:.1} MB of tables and {:.1} MB of undo kept",
            float(self.import.written) / 1e6,
            float(self.parts.index) / 1e6,
            float(self.parts.undo) / 1e6
        )
    }
}

/// Imports of one kind. Other programs slow some rounds down, so each has its own measure of parsing right before and after,
/// and the round in the middle counts.
const ROUNDS: usize = 3;

/// The round in the middle: the import, and how fast parsing alone was around it, in MB/s.
fn rounds(bench: &Bench, data: &Path, setup: Setup) -> Outcome<(Measured, f64)> {
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let (bytes_before, before) = parse_alone(&bench.chain.path)?;
        let measured = Measured::run(bench, data, setup)?;
        let (bytes_after, after) = parse_alone(&bench.chain.path)?;
        rounds.push((measured, rate(bytes_before + bytes_after, before + after)));
    }
    rounds.sort_by(|(a, a_parse), (b, b_parse)| (a.seconds() * a_parse).total_cmp(&(b.seconds() * b_parse)));
    Ok(rounds.swap_remove(ROUNDS / 2))
}

pub(crate) fn measure(bench: &Bench) -> Outcome<Vec<Bar>> {
    let (block_bytes, _) = parse_alone(&bench.chain.path)?;
    let _node = Node::start(&bench.bitcoind, &bench.place, &bench.chain)?;
    let data = bench.place.join("index");
    let (by_block, by_block_parse) = rounds(bench, &data, LEAN_BY_BLOCK)?;
    let (lean, lean_parse) = rounds(bench, &data, LEAN)?;
    if lean.import.digests != by_block.import.digests {
        return Err(Failure::new(format!(
            "the two ways to import differ: {} and {}",
            lean.import.digests, by_block.import.digests
        )));
    }
    let (whole, whole_parse) = rounds(bench, &data, DEFAULT)?;
    let block_bytes_f = float(block_bytes);
    let mut bars = Vec::new();
    let mut report = |of: &Measured, rows: &str, name: &str, value: f64, floor: Floor, how: String| -> Outcome {
        let bar = Bar { name: name.to_owned(), value, floor, how };
        bar.report(&bench.root, &of.import.command, rows)?;
        bars.push(bar);
        Ok(())
    };
    let runs =
        [(&whole, whole_parse, "", "default configuration"), (&lean, lean_parse, ", lean", "Bitcoin index alone")];
    for (of, parse, mark, what) in runs {
        let rows = of.import.samples.as_str();
        let speed = rate(block_bytes, of.seconds()) / parse;
        let how = format!("{what}, sorted runs {}", of.say_speed(block_bytes, parse));
        report(of, rows, &format!("first import{mark}"), speed, Floor::AtLeast(0.08), how)?;
        let how = format!("{what}, sorted runs, redo files among them: {}", of.say_writes());
        report(of, rows, &format!("first import writes{mark}"), of.write_ratio(), Floor::AtMost(3.0), how)?;
        let how = format!(
            "{what}: at most {:.1} MB over the loopback interface (whatever else uses it included) for {:.1} MB of blocks",
            float(of.import.served) / 1e6,
            block_bytes_f / 1e6
        );
        let reads = float(of.import.served) / block_bytes_f;
        report(of, rows, &format!("import reads{mark}"), reads, Floor::AtMost(1.2), how)?;
        let how = format!(
            "{what}: largest resident size {} MiB at a ceiling of {MEMORY_MIB} MiB, sampled every 100 ms",
            of.import.resident_max >> 20
        );
        let share = float(of.import.resident_max) / float(MEMORY_MIB << 20);
        report(of, rows, &format!("memory{mark}"), share, Floor::AtMost(1.0), how)?;
        // The floor is one of the Bitcoin index.
        let floor = if mark.is_empty() { Floor::None } else { Floor::AtMost(0.35) };
        let how = format!(
            "{what}, after the first import, per block byte, without undo, journal, raw transactions: {}",
            of.parts.describe(block_bytes)
        );
        let size = float(of.parts.index) / block_bytes_f;
        report(of, &of.parts.rows(), &format!("index size{mark}"), size, floor, how)?;
    }
    let rows = by_block.import.samples.as_str();
    let how = format!(
        "Bitcoin index alone, per-block path {}; index {:.1} % of block bytes",
        by_block.say_speed(block_bytes, by_block_parse),
        100.0 * float(by_block.parts.index) / block_bytes_f
    );
    let speed = rate(block_bytes, by_block.seconds()) / by_block_parse;
    report(&by_block, rows, "block import, lean", speed, Floor::AtLeast(0.03), how)?;
    let how = format!("Bitcoin index alone, per-block path: {}", by_block.say_writes());
    report(&by_block, rows, "import writes, lean", by_block.write_ratio(), Floor::AtMost(12.0), how)?;
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
pub(crate) fn fresh_import(bench: &Bench, data: &Path, setup: Setup) -> Outcome<Import> {
    if data.exists() {
        std::fs::remove_dir_all(data).map_err(|error| Failure::new(format!("{}: {error}", data.display())))?;
    }
    follow(bench, data, setup)
}

/// The configuration of an index in `data`. What mainnet's default leaves to the node or switches off is so here as well, and
/// only the last blocks can be undone, as in the long part of a first import.
pub(crate) fn config_file(bench: &Bench, data: &Path, setup: Setup) -> Outcome<PathBuf> {
    let file = bench.place.join("paraffin.toml");
    let import = if setup.commits == Commits::BlockByBlock { "import_kib = 0\n" } else { "" };
    let modules = match setup.modules {
        Modules::Default => "",
        Modules::BitcoinAlone => "[alkanes]\nenabled = false\n[ordinals]\nenabled = false\n",
    };
    let memory = setup.memory_mib.map_or_else(String::new, |mib| format!("memory_mib = {mib}\n"));
    let text = format!(
        "network = \"regtest\"\ndata_dir = \"{}\"\n{}[index]\n{memory}undo_blocks = 10\n\
         raw_transactions = \"node\"\naddress_search = false\n{import}\
         {modules}[gateway]\nlisten = \"127.0.0.1:{}\"\n",
        data.display(),
        Node::config(),
        crate::start::SERVE_PORT
    );
    std::fs::write(&file, text).map_err(|error| Failure::new(format!("{}: {error}", file.display())))?;
    Ok(file)
}

fn follow(bench: &Bench, data: &Path, setup: Setup) -> Outcome<Import> {
    let mut command = Command::new(&bench.paraffin);
    command.args(["index", "--once", "--config"]).arg(config_file(bench, data, setup)?);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let failed = |error| Failure::new(format!("{}: {error}", bench.paraffin.display()));
    let served_before = loopback_bytes();
    let begin = Instant::now();
    let mut process = command.spawn().map_err(failed)?;
    let reached = Arc::new(OnceLock::new());
    let log = process.stderr.take().map(|log| pass_on(log, begin, Arc::clone(&reached)));
    let id = process.id();
    let mut samples = "milliseconds,resident_kib,written_bytes,read_bytes,loopback_bytes\n".to_owned();
    let (mut written, mut resident_max) = (0, 0);
    // A second start has nothing to write, so what counts is whether it could be read.
    let mut is_counted = false;
    let status = loop {
        let ended = process.try_wait().map_err(failed)?;
        let resident = counter(id, "status", "VmHWM:");
        let now = counter(id, "io", "write_bytes:");
        is_counted |= std::fs::read_to_string(format!("/proc/{id}/io")).is_ok_and(|text| text.contains("write_bytes:"));
        written = written.max(now);
        resident_max = resident_max.max(resident * 1024);
        let sent = loopback_bytes().saturating_sub(served_before);
        let read = counter(id, "io", "read_bytes:");
        let _ = writeln!(samples, "{},{resident},{now},{read},{sent}", begin.elapsed().as_millis());
        if let Some(status) = ended {
            break status;
        }
        thread::sleep(SAMPLE_EVERY);
    };
    if !status.success() {
        return Err(Failure::new(format!("`{}` ended with {status}", typed(&command))));
    }
    let served = loopback_bytes().saturating_sub(served_before);
    if !is_counted {
        return Err(Failure::new("what the program wrote is counted in its /proc/<id>/io, which root alone can read"));
    }
    let seconds = begin.elapsed().as_secs_f64();
    // One short line, which a pipe holds.
    let mut digests = String::new();
    if let Some(mut output) = process.stdout.take() {
        output.read_to_string(&mut digests).map_err(failed)?;
    }
    let seconds_to_tip = at_tip(log, &reached)?;
    // Local paths are omitted from the results.
    let by_block = if setup.commits == Commits::BlockByBlock { ", [index] import_kib = 0" } else { "" };
    let modules = if setup.modules == Modules::Default { "all modules" } else { "Bitcoin index alone" };
    let command = format!("paraffin index --once --config paraffin.toml # {modules}{by_block}");
    Ok(Import { seconds, seconds_to_tip, command, written, served, resident_max, digests, samples })
}

/// Passes the log of the program on, and notes in `reached` how many seconds after `begin` it said that its index holds the chain.
pub(crate) fn pass_on(log: ChildStderr, begin: Instant, reached: Arc<OnceLock<f64>>) -> JoinHandle<()> {
    thread::spawn(move || {
        for line in BufReader::new(log).lines().map_while(Result::ok) {
            if line.contains("the index holds the node's chain") {
                // The first time counts.
                let _ = reached.set(begin.elapsed().as_secs_f64());
            }
            eprintln!("{line}");
        }
    })
}

/// What [`pass_on`] has noted, when the program has ended.
///
/// # Errors
/// The log did not say it.
pub(crate) fn at_tip(log: Option<JoinHandle<()>>, reached: &OnceLock<f64>) -> Outcome<f64> {
    if let Some(log) = log {
        let _ = log.join();
    }
    let missing = || Failure::new("the program's log does not say when its index held the chain");
    reached.get().copied().ok_or_else(missing)
}

/// A number of `/proc/<id>/<file>`; 0 when the process is gone.
pub(crate) fn counter(id: u32, file: &str, name: &str) -> u64 {
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
    const NAMES: [&'static str; 6] = ["ordered", "hashed", "bulk", "meta", "undo", "appended"];

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
        let undo = spaces[4].1;
        let index = spaces.iter().map(|(_, bytes)| bytes).sum::<u64>() - undo;
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
