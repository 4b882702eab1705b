//! One import by the program, looked at from outside while it runs.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::bound::Bound;
use super::node::Node;
use crate::import::{at_tip, float, pass_on};
use xtask::process::{Failure, Outcome};

/// Time between two looks at the program.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Time between two rows.
const ROW_EVERY: Duration = Duration::from_secs(5);
/// What the index may have of the page cache however small it is: the kernel needs some for what is being written.
const CACHE_MIN: u64 = 32 << 20;
/// Share of the index that store and page cache hold together.
const HELD_SHARE: u64 = 20;
/// Clock ticks of `/proc` in a second.
const TICKS: f64 = 100.0;
/// Bytes of a page.
const PAGE: f64 = 4096.0;

/// Configuration of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Setup {
    /// The Bitcoin index alone.
    pub(crate) lean: bool,
    /// `[index] memory_mib`.
    pub(crate) memory_mib: u64,
}

impl Setup {
    /// Bytes of the store's own cache, by the arithmetic of docs/design/store.md.
    fn store_cache(self) -> u64 {
        const MIB: u64 = 1 << 20;
        let memory = self.memory_mib * MIB;
        let part = |share: u64, least: u64, most: u64| (memory / share).clamp(least * MIB, most * MIB);
        let buffers = 18 * part(80, 3, 32) + part(32, 64, 128) + 2 * part(16, 16, 128);
        let beside_cache = (memory - memory / 8).saturating_sub(480 * MIB) / 3;
        let runs = 3 * (memory / 8).max(beside_cache).min(1024 * MIB);
        memory.saturating_sub(buffers.max(runs) + memory / 8)
    }
}

/// Counters at one time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counters {
    pub(crate) height: u32,
    pub(crate) read: u64,
    pub(crate) read_calls: u64,
    pub(crate) written: u64,
    pub(crate) compacted: u64,
    pub(crate) compacted_by: [u64; KEYSPACES.len()],
    pub(crate) processor: f64,
    pub(crate) generator: f64,
    pub(crate) stalled: f64,
}

/// Results of one run, until the index holds the chain.
#[derive(Debug, Clone, Default)]
pub(crate) struct Run {
    pub(crate) seconds: f64,
    pub(crate) last: Counters,
    pub(crate) resident_max: u64,
    pub(crate) descriptors_max: usize,
    pub(crate) store_max: u64,
    /// Bytes of the store at the end.
    pub(crate) kept: u64,
    pub(crate) kept_by: [u64; KEYSPACES.len()],
    /// The most that store and page cache could hold at a time, of the index as it was at the end.
    pub(crate) held: f64,
    pub(crate) rows: String,
    output: String,
}

/// Names of the store's keyspaces, in the order in which it makes them; the first is the engine's own.
pub(crate) const KEYSPACES: [&str; 7] = ["engine", "ordered", "hashed", "bulk", "meta", "undo", "appended"];

/// MB by keyspace, of those with more than one.
pub(crate) fn by_name(bytes: &[u64; KEYSPACES.len()]) -> String {
    let parts = KEYSPACES.iter().zip(bytes).filter(|(_, bytes)| **bytes > 1_000_000);
    let parts: Vec<String> = parts.map(|(name, bytes)| format!("{name} {:.0}", float(*bytes) / 1e6)).collect();
    parts.join(", ")
}

/// The files of tables, to see which of them are merged away.
#[derive(Debug, Default)]
struct Tables {
    sizes: HashMap<PathBuf, u64>,
    /// By keyspace, in the order in which the store makes them; the first is the engine's own.
    gone: [u64; KEYSPACES.len()],
}

impl Tables {
    /// Bytes of all files of the store. What was there before and is gone was merged into others.
    fn look(&mut self, store: &Path) -> u64 {
        let mut now = HashMap::new();
        list(store, &mut now);
        let gone = self.sizes.iter().filter(|(path, _)| !now.contains_key(*path));
        add_by_keyspace(store, gone, &mut self.gone);
        self.sizes = now;
        self.sizes.values().sum()
    }

    /// Bytes of the files by keyspace.
    fn by_keyspace(&self, store: &Path) -> [u64; KEYSPACES.len()] {
        let mut sums = [0; KEYSPACES.len()];
        add_by_keyspace(store, &self.sizes, &mut sums);
        sums
    }
}

fn add_by_keyspace<'a>(
    store: &Path,
    sizes: impl IntoIterator<Item = (&'a PathBuf, &'a u64)>,
    sums: &mut [u64; KEYSPACES.len()],
) {
    let tables = store.join("engine/keyspaces");
    for (path, size) in sizes {
        let keyspace = path.strip_prefix(&tables).ok().and_then(|path| path.iter().next()?.to_str()?.parse().ok());
        if let Some(sum) = keyspace.and_then(|number: usize| sums.get_mut(number)) {
            *sum += size;
        }
    }
}

fn list(folder: &Path, sizes: &mut HashMap<PathBuf, u64>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => list(&entry.path(), sizes),
            Ok(metadata) => {
                sizes.insert(entry.path(), metadata.len());
            }
            Err(_) => {}
        }
    }
}

/// The configuration of an import into an empty folder of `place`, and the folder.
pub(crate) fn fresh(place: &Path, address: &str, setup: Setup) -> Outcome<(PathBuf, PathBuf)> {
    let data = place.join("index");
    if data.exists() {
        std::fs::remove_dir_all(&data).map_err(|error| Failure::new(format!("{}: {error}", data.display())))?;
    }
    Ok((configuration(place, &data, address, setup)?, data))
}

/// Imports the node's chain into an empty folder, then starts the program again on what it made: its digest of all rows is to be
/// the same. What is counted is that until the index holds the chain.
pub(crate) fn import(program: &Path, place: &Path, node: &Node, address: &str, setup: Setup) -> Outcome<Run> {
    let (config, data) = fresh(place, address, setup)?;
    let bound = Bound::new();
    let run = follow(program, &config, &data, node, &bound, setup)?;
    if run.last.written == 0 {
        return Err(Failure::new("what the program wrote is counted in its /proc/<id>/io, which root alone can read"));
    }
    let rest = follow(program, &config, &data, node, &bound, setup)?;
    if run.output != rest.output {
        return Err(Failure::new("a second start has other digests than the import"));
    }
    let height = serde_json::from_str::<serde_json::Value>(&run.output).ok().and_then(|line| line["height"].as_u64());
    if height != Some(u64::from(node.chain.height())) {
        return Err(Failure::new(format!("the index ends at {height:?}, the chain at {}", node.chain.height())));
    }
    Ok(run)
}

fn configuration(place: &Path, data: &Path, address: &str, setup: Setup) -> Outcome<PathBuf> {
    let file = place.join("paraffin.toml");
    let modules = if setup.lean { "[alkanes]\nenabled = false\n[ordinals]\nenabled = false\n" } else { "" };
    // What mainnet's default leaves to the node or switches off is so here as well.
    let text = format!(
        "network = \"regtest\"\ndata_dir = \"{}\"\n[node]\nurl = \"http://{address}\"\nuser = \"paraffin\"\n\
         password = \"bars\"\n[index]\nmemory_mib = {}\nundo_blocks = 10\nraw_transactions = \"node\"\n\
         address_search = false\n{modules}",
        data.display(),
        setup.memory_mib
    );
    std::fs::write(&file, text).map_err(|error| Failure::new(format!("{}: {error}", file.display())))?;
    Ok(file)
}

/// Kills the program when the bar ends early.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn follow(program: &Path, config: &Path, data: &Path, node: &Node, bound: &Bound, setup: Setup) -> Outcome<Run> {
    let failed = |error| Failure::new(format!("{}: {error}", program.display()));
    let store = data.join("store");
    let mut command = bound.command(program);
    command.args(["index", "--once", "--config"]).arg(config);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let begin = Instant::now();
    let generator_before = processor(std::process::id());
    let mut process = Running(command.spawn().map_err(failed)?);
    let reached = Arc::new(OnceLock::new());
    let log = process.0.stderr.take().map(|log| pass_on(log, begin, Arc::clone(&reached)));
    let id = process.0.id();
    let mut run = Run {
        rows:
            "seconds,height,block_mb,mb_per_second,resident_mib,page_cache_mib,descriptors,store_mb,read_mb,written_mb,\
               read_calls,compacted_mb,processor_seconds,generator_seconds,stalled_seconds\n"
                .to_owned(),
        ..Run::default()
    };
    let mut tables = Tables::default();
    let (mut row_at, mut row_bytes, mut cached_max) = (Duration::ZERO, 0, 0);
    let mut looks = 0_u32;
    let mut size = 0;
    let status = loop {
        let ended = process.0.try_wait().map_err(failed)?;
        let elapsed = begin.elapsed();
        if looks.is_multiple_of(4) || ended.is_some() {
            size = tables.look(&store);
            run.store_max = run.store_max.max(size);
        }
        looks += 1;
        let allowed = (size / HELD_SHARE).saturating_sub(setup.store_cache()).max(CACHE_MIN);
        let cached = bound.hold(&store, allowed).unwrap_or(0);
        cached_max = cached_max.max(cached);
        let height = node.served();
        // The digest of all rows comes after the import.
        if ended.is_none() && reached.get().is_none() {
            let stalled = height == run.last.height && height > 0 && height < node.chain.height();
            run.last = Counters {
                height,
                read: counter(id, "io", "read_bytes:").max(run.last.read),
                read_calls: counter(id, "io", "syscr:").max(run.last.read_calls),
                written: counter(id, "io", "write_bytes:").max(run.last.written),
                compacted: tables.gone.iter().sum(),
                compacted_by: tables.gone,
                processor: processor(id).max(run.last.processor),
                generator: processor(std::process::id()) - generator_before,
                stalled: run.last.stalled + if stalled { LOOK_EVERY.as_secs_f64() } else { 0.0 },
            };
            run.resident_max = run.resident_max.max(counter(id, "status", "VmHWM:") * 1024);
        }
        let descriptors = std::fs::read_dir(format!("/proc/{id}/fd")).map_or(0, Iterator::count);
        run.descriptors_max = run.descriptors_max.max(descriptors);
        if elapsed >= row_at + ROW_EVERY || ended.is_some() {
            let bytes = node.chain.bytes(height);
            let rate = float(bytes - row_bytes) / 1e6 / elapsed.saturating_sub(row_at).as_secs_f64().max(0.001);
            let now = run.last;
            let _ = writeln!(
                run.rows,
                "{:.1},{height},{:.1},{rate:.1},{},{},{descriptors},{:.1},{:.1},{:.1},{},{:.1},{:.1},{:.1},{:.1}",
                elapsed.as_secs_f64(),
                float(bytes) / 1e6,
                counter(id, "status", "VmRSS:") >> 10,
                cached >> 20,
                float(size) / 1e6,
                float(now.read) / 1e6,
                float(now.written) / 1e6,
                now.read_calls,
                float(now.compacted) / 1e6,
                now.processor,
                now.generator,
                now.stalled
            );
            (row_at, row_bytes) = (elapsed, bytes);
        }
        if let Some(status) = ended {
            break status;
        }
        std::thread::sleep(LOOK_EVERY);
    };
    if !status.success() {
        return Err(Failure::new(format!("`paraffin index --once` ended with {status}")));
    }
    run.seconds = at_tip(log, &reached)?;
    run.kept = size;
    run.kept_by = tables.by_keyspace(&store);
    run.held = float(setup.store_cache() + cached_max) / float(size.max(1));
    // One short line, which a pipe holds.
    if let Some(mut output) = process.0.stdout.take() {
        output.read_to_string(&mut run.output).map_err(failed)?;
    }
    Ok(run)
}

impl Run {
    /// Pages that the device had to give, for each input of the chain.
    pub(crate) fn misses_per_input(&self, inputs: u64) -> f64 {
        float(self.last.read) / PAGE / float(inputs.max(1))
    }

    /// Seconds that the import would take beside a node that takes `node` processor seconds, where it takes as many of both together in a
    /// second as beside the node of the bars.
    pub(crate) fn seconds_beside(&self, node: f64) -> f64 {
        let taken = self.last.processor + self.last.generator;
        if taken > 0.0 { self.seconds * (self.last.processor + node) / taken } else { self.seconds }
    }
}

/// Processor seconds of a process; 0 when it is gone.
pub(crate) fn processor(id: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    // Behind the name, which may hold blanks: state is the first, user and system time are the twelfth and the thirteenth.
    let rest = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = rest.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    float(ticks) / TICKS
}

/// A number of `/proc/<id>/<file>`; 0 when the process is gone.
fn counter(id: u32, file: &str, name: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{id}/{file}")).unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(name));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}
