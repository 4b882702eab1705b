//! Killed at any moment, the store opens on a whole block.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bitcoin::BlockHash;
use bitcoin::hashes::Hash as _;
use paraffin_primitives::{BlockId, Height};
use paraffin_store::{Row, Store, TableKind};
pub(crate) use paraffin_testkit::Random;
use sha2::{Digest as _, Sha256};

use crate::model::{Operation, Rows, SECOND, apply, digest, options, schemas, tables, write_module};

/// Another one each time, and printed; `STORE_CRASH_BASE` gives it again.
pub(crate) fn seed() -> u64 {
    let seed = std::env::var("STORE_CRASH_BASE").ok().and_then(|text| text.parse().ok()).unwrap_or_else(|| {
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as u64
    });
    println!("STORE_CRASH_BASE={seed}");
    seed
}

/// Hash of a block; its first bytes determine what the block writes.
fn block_hash(salt: u64, height: Height) -> BlockHash {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&salt.to_be_bytes());
    bytes[8..12].copy_from_slice(&height.to_be_bytes());
    BlockHash::from_byte_array(bytes)
}

/// What the block with this hash writes, knowing the rows before it for what the kinds forbid.
fn operations(hash: BlockHash) -> Vec<Operation> {
    let bytes = hash.to_byte_array();
    let mut random = Random(u64::from_be_bytes(bytes[..8].try_into().unwrap()));
    let table_count = tables().count() as u64;
    (0..random.below(50))
        .map(|_| {
            let table = random.below(table_count) as usize;
            let key = random.below(200).to_be_bytes()[5..].to_vec();
            if random.below(5) == 0 {
                return Operation::Delete { table, key };
            }
            let len = if random.below(8) == 0 { random.below(20_000) } else { random.below(60) };
            let value = (0..len).map(|_| random.next() as u8).collect();
            Operation::Write { table, key, value }
        })
        .collect()
}

/// Applies a block to `rows`; returns the operations that the kinds allow.
fn step(rows: &mut Rows, hash: BlockHash) -> (Vec<Operation>, [u8; 32]) {
    let (after, allowed, writes) = apply(std::mem::take(rows), operations(hash));
    *rows = after;
    (allowed, digest(&writes))
}

/// Records commits for the test of power losses.
struct Marker(Option<std::fs::File>);

impl Marker {
    fn new() -> Self {
        Self(std::env::var_os("POWER_MARKER").map(|path| std::fs::File::create(path).unwrap()))
    }

    /// The newest block of the store, and whether it stays when the power fails now.
    fn committed(&self, tip: Option<&BlockHash>, is_durable: bool) {
        if let Some(mut file) = self.0.as_ref() {
            use std::io::Write as _;
            let tip = tip.map_or([0; 32], |tip| tip.to_byte_array());
            file.write_all(&[&[u8::from(is_durable)], &tip[..]].concat()).unwrap();
        }
    }
}

/// The process that is killed: opens the store, says so, and writes for ever.
#[test]
#[ignore = "run by the tests below as a process of its own"]
fn child() {
    let Ok(folder) = std::env::var("STORE_CRASH_FOLDER") else { return };
    let seed: u64 = std::env::var("STORE_CRASH_SEED").unwrap().parse().unwrap();
    // Sorted runs only, or every way to commit in turn.
    let only_runs = std::env::var("STORE_CRASH_RUNS").is_ok();
    let mut random = Random(seed);
    let store = Store::open(Path::new(&folder), &options(Some(30)), &schemas()).unwrap();
    println!("opened");
    let mut writer = store.writer().unwrap();
    let mark = Marker::new();
    // Rows before each block, so that undo can step back.
    let mut rows: Rows = tables().map(|_| BTreeMap::new()).collect();
    let mut history: Vec<Rows> = Vec::new();
    let mut hashes: Vec<BlockHash> = Vec::new();
    let snapshot = store.snapshot();
    for height in 0..snapshot.tip().map_or(0, |tip| tip.id.height + 1) {
        let hash = snapshot.block(height).unwrap().unwrap().id.hash;
        history.push(rows.clone());
        hashes.push(hash);
        step(&mut rows, hash);
    }
    drop(snapshot);
    loop {
        // A re-run that was broken off goes on first.
        if writer.module_height(SECOND.id) != writer.tip().map(|tip| tip.id.height) {
            if writer
                .replay_block(SECOND.id, BlockId { height: 0, hash: BlockHash::all_zeros() })
                .is_err_and(|error| error.to_string().contains("rewind"))
            {
                writer.rewind_module(SECOND.id, None).unwrap();
            }
            while let Some(id) = writer.next_replay(SECOND.id).unwrap() {
                writer.replay_block(SECOND.id, id).unwrap();
                let (allowed, _) = step(&mut history[id.height as usize].clone(), id.hash);
                write_module(&mut writer, SECOND.id, &allowed).unwrap();
                writer.end_block().unwrap();
                if random.below(3) == 0 {
                    writer.commit(false).unwrap();
                }
            }
            writer.commit(false).unwrap();
            mark.committed(hashes.last(), false);
        }
        match if only_runs { 39 } else { random.below(40) } {
            0 => {
                for _ in 0..random.below(6) {
                    if writer.check_undo(1).is_err() {
                        break;
                    }
                    writer.undo_block().unwrap();
                    hashes.pop();
                    rows = history.pop().unwrap();
                    mark.committed(hashes.last(), false);
                }
            }
            1 => {
                let to = random.below(hashes.len() as u64 + 1) as u32;
                writer.rewind_module(SECOND.id, (to > 0).then(|| to - 1)).unwrap();
            }
            2 => store.flush().unwrap(),
            _ => {
                for _ in 0..=random.below(3) {
                    let height = hashes.len() as u32;
                    let hash = block_hash(random.next(), height);
                    let previous = hashes.last().copied().unwrap_or_else(BlockHash::all_zeros);
                    history.push(rows.clone());
                    let (allowed, _) = step(&mut rows, hash);
                    writer.begin_block(BlockId { height, hash }, previous, height).unwrap();
                    for schema in schemas() {
                        write_module(&mut writer, schema.id, &allowed).unwrap();
                    }
                    writer.end_block().unwrap();
                    hashes.push(hash);
                }
                let is_durable = random.below(10) == 0;
                if only_runs || random.below(4) == 0 {
                    writer.commit_sorted().unwrap();
                    mark.committed(hashes.last(), false);
                    if is_durable {
                        writer.settle().unwrap();
                    }
                } else {
                    writer.commit(is_durable).unwrap();
                }
                mark.committed(hashes.last(), is_durable);
            }
        }
    }
}

fn spawn(folder: &Path, seed: u64, only_runs: bool) -> Child {
    command(folder, seed, only_runs).spawn().unwrap()
}

/// The process that writes for ever.
pub(crate) fn command(folder: &Path, seed: u64, only_runs: bool) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    if only_runs {
        command.env("STORE_CRASH_RUNS", "1");
    }
    command
        .args(["--exact", "crash::child", "--ignored", "--nocapture"])
        .env("STORE_CRASH_FOLDER", folder)
        .env("STORE_CRASH_SEED", seed.to_string())
        .stdout(Stdio::piped());
    command
}

/// Compares the whole store with what its block hashes say that it holds. Returns the number of blocks.
pub(crate) fn check(folder: &Path) -> u32 {
    let store = Store::open(folder, &options(Some(30)), &schemas()).unwrap();
    let snapshot = store.snapshot();
    let count = snapshot.tip().map_or(0, |tip| tip.id.height + 1);
    let second_height = snapshot.module_height(SECOND.id).unwrap();
    assert_eq!(snapshot.module_height(schemas()[0].id).unwrap(), count.checked_sub(1));
    let mut rows: Rows = tables().map(|_| BTreeMap::new()).collect();
    let mut second_rows = rows.clone();
    let (mut cumulative, mut previous) = ([0; 32], BlockHash::all_zeros());
    let mut samples: Vec<(Height, Rows)> = Vec::new();
    for height in 0..count {
        let record = snapshot.block(height).unwrap().expect("a record of every block");
        assert_eq!((record.previous, record.time), (previous, height));
        previous = record.id.hash;
        let (_, block_digest) = step(&mut rows, record.id.hash);
        assert_eq!(record.digest, block_digest, "digest of block {height}");
        let mut hasher = Sha256::new();
        hasher.update(cumulative);
        hasher.update(record.digest);
        cumulative = hasher.finalize().into();
        assert_eq!(record.cumulative, cumulative, "cumulative digest of block {height}");
        if second_height == Some(height) {
            second_rows.clone_from(&rows);
        }
        if height % 37 == 5 {
            samples.push((height, rows.clone()));
        }
    }
    let is_second_whole = second_height == count.checked_sub(1);
    for (index, table) in tables().enumerate() {
        let rows = if table.module == SECOND.id { &second_rows } else { &rows };
        if table.module == SECOND.id && second_height.is_none() && count > 0 {
            // Being emptied: what is left has no meaning.
            continue;
        }
        let wanted: Vec<Row> = rows[index].clone().into_iter().collect();
        let found: Vec<Row> = snapshot.prefix(&table, &[]).collect::<Result<_, _>>().unwrap();
        assert!(found == wanted, "rows of {} at {count} blocks", table.name);
        if table.kind == TableKind::Sequence {
            assert_eq!(snapshot.sequence_len(&table).unwrap() as usize, wanted.len(), "{}", table.name);
        }
        if table.kind == TableKind::Versioned && (is_second_whole || table.module != SECOND.id) {
            for (height, rows) in &samples {
                let wanted: Vec<Row> = rows[index].clone().into_iter().collect();
                let found: Vec<Row> =
                    snapshot.prefix_at(&table, &[], *height).unwrap().collect::<Result<_, _>>().unwrap();
                assert!(found == wanted, "rows of {} as of {height}", table.name);
            }
        }
    }
    count
}

/// Starts the writing process, kills it `after` it has opened the store (or after it was started), checks the store.
fn kill_once(folder: &Path, seed: u64, after: Duration, from_start: bool) -> bool {
    kill_child(spawn(folder, seed, false), after, from_start)
}

/// Kills the process when the file is there, or when that has taken too long.
fn kill_at(mut child: Child, within: Duration, file: &Path) -> bool {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let opened = lines.map(Result::unwrap).any(|line| line.contains("opened"));
    let started = Instant::now();
    while !file.exists() && started.elapsed() < within {}
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), None, "the process ended by itself: {status}");
    opened
}

fn kill_child(mut child: Child, after: Duration, from_start: bool) -> bool {
    let started = Instant::now();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut opened = false;
    if from_start {
        std::thread::sleep(after.saturating_sub(started.elapsed()));
    } else {
        opened = lines.by_ref().any(|line| line.unwrap().contains("opened"));
        std::thread::sleep(after);
    }
    // SIGKILL.
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), None, "the process ended by itself: {status}");
    opened || lines.any(|line| line.unwrap().contains("opened"))
}

#[test]
fn killed_at_random_moments_the_store_opens_on_a_whole_block() {
    let rounds: u64 = std::env::var("STORE_CRASH_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(24);
    let mut random = Random(seed());
    let (mut while_opening, mut blocks) = (0, 0);
    // How long an opening takes depends on the machine: a kill that came too late has the next one come sooner.
    let mut opening_micros = 30_000;
    let mut folder = tempfile::tempdir().unwrap();
    for round in 0..rounds {
        if round % 6 == 0 {
            folder = tempfile::tempdir().unwrap();
            kill_once(folder.path(), random.next(), Duration::from_millis(300), false);
            blocks += check(folder.path());
        }
        // Every third kill falls while the store is being opened, if it can be arranged.
        if round % 3 == 2 {
            let after = Duration::from_micros(opening_micros / 4 + random.below(opening_micros));
            let opened = kill_once(folder.path(), random.next(), after, true);
            opening_micros = if opened { opening_micros / 2 } else { opening_micros * 3 / 2 };
            while_opening += u32::from(!opened);
        } else {
            kill_once(folder.path(), random.next(), Duration::from_millis(random.below(250)), false);
        }
        blocks += check(folder.path());
    }
    println!("{while_opening} of {rounds} kills while opening, {blocks} blocks checked");
    assert!(while_opening > 0, "no kill fell into the opening of the store");
    assert!(blocks > 100, "only {blocks} blocks were written");
}

/// The same for the first import alone, until kills have fallen into every part of a run: its redo file, its table files,
/// the start that finishes it.
#[test]
fn killed_while_sorted_runs_are_written_or_finished_the_store_opens_on_a_whole_block() {
    let rounds: u64 = std::env::var("STORE_CRASH_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(12);
    let mut random = Random(seed());
    let (mut in_redo, mut in_tables, mut in_recovery, mut blocks, mut kills) = (0, 0, 0, 0, 0);
    while kills < rounds || in_redo == 0 || in_tables == 0 || in_recovery == 0 || blocks <= 20 {
        assert!(
            kills < rounds + 400,
            "{in_redo} kills in a redo file, {in_tables} in tables, {in_recovery} in recovery"
        );
        let folder = tempfile::tempdir().unwrap();
        let (part, run) = (folder.path().join("run.part"), folder.path().join("run"));
        for _ in 0..4 {
            let child = spawn(folder.path(), random.next(), true);
            let after = Duration::from_micros(random.below(150_000));
            // Redo files are short: every other kill waits for one.
            if kills % 2 == 0 {
                kill_child(child, after, false)
            } else {
                kill_at(child, after, &part)
            };
            kills += 1;
            in_redo += u32::from(part.exists());
            in_tables += u32::from(run.exists());
            // A start finds work to finish, and is killed at it, perhaps several times.
            for _ in 0..5 {
                if !run.exists() {
                    break;
                }
                let child = spawn(folder.path(), random.next(), true);
                let opened = kill_child(child, Duration::from_micros(random.below(60_000)), true);
                kills += 1;
                in_recovery += u32::from(!opened && run.exists());
            }
            blocks += check(folder.path());
            assert!(!part.exists() && !run.exists(), "an opened store has no redo file");
        }
    }
    println!(
        "{in_redo} kills in a redo file, {in_tables} in tables, {in_recovery} in recovery, {blocks} blocks checked"
    );
    assert!(blocks > 20, "only {blocks} blocks were written");
}
