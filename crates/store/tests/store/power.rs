//! The power fails: what was written after the last flush of a file or folder is lost, all of it or a part.
//!
//! A library that is loaded into the writing process notes its operations on files in their order. The disk as it may be found after
//! a loss of power follows from the operations before it: what was flushed is there; of what was not, data of each file up to some
//! point, where a last write may be torn, and names up to some point. Names change in order and a flush of anything makes those
//! before it durable, as the journals of ext4 and XFS have it; data of a file has nothing to do with that of another.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use bitcoin::BlockHash;
use bitcoin::hashes::Hash as _;
use paraffin_store::Store;

use crate::crash::{Random, check, command, seed};
use crate::model::{options, schemas};

/// An operation as `recorder.c` writes it.
#[derive(Debug)]
enum Operation {
    Create {
        inode: u64,
        path: PathBuf,
    },
    Write {
        inode: u64,
        offset: u64,
        data: Vec<u8>,
    },
    Resize {
        inode: u64,
        size: u64,
    },
    Sync {
        inode: u64,
    },
    Rename {
        from: PathBuf,
        to: PathBuf,
    },
    Remove {
        path: PathBuf,
    },
    MakeFolder {
        path: PathBuf,
    },
    /// With its names and their inodes; `None` for folders.
    SyncFolder {
        path: PathBuf,
        names: Vec<(PathBuf, Option<u64>)>,
    },
    Mark {
        tip: BlockHash,
        is_durable: bool,
    },
}

fn text(bytes: &[u8]) -> PathBuf {
    PathBuf::from(std::str::from_utf8(bytes).unwrap())
}

fn operations(mut log: &[u8]) -> Vec<Operation> {
    let mut operations = Vec::new();
    let mut names = Vec::new();
    // The process was killed, so the last entry may be cut off.
    while log.len() >= 25 {
        let number = |from: usize, bytes: usize| {
            let mut number = [0; 8];
            number[..bytes].copy_from_slice(&log[from..from + bytes]);
            u64::from_le_bytes(number)
        };
        let (kind, inode, offset) = (log[0], number(1, 8), number(9, 8));
        let (name_bytes, data_bytes) = (number(17, 4) as usize, number(21, 4) as usize);
        if log.len() < 25 + name_bytes + data_bytes {
            break;
        }
        let (name, data) = (&log[25..25 + name_bytes], &log[25 + name_bytes..25 + name_bytes + data_bytes]);
        operations.push(match kind {
            1 => Operation::Create { inode, path: text(name) },
            2 => Operation::Write { inode, offset, data: data.to_vec() },
            3 => Operation::Resize { inode, size: offset },
            4 => Operation::Sync { inode },
            5 => Operation::Rename { from: text(name), to: text(data) },
            6 | 8 => Operation::Remove { path: text(name) },
            7 => Operation::MakeFolder { path: text(name) },
            9 => Operation::SyncFolder { path: text(name), names: std::mem::take(&mut names) },
            10 => {
                names.push((text(name), (offset == 0).then_some(inode)));
                log = &log[25 + name_bytes + data_bytes..];
                continue;
            }
            11 => Operation::Mark {
                tip: BlockHash::from_byte_array(data[1..].try_into().unwrap()),
                is_durable: data[0] == 1,
            },
            _ => panic!("the store calls {} on its files, which the recorder does not follow", text(name).display()),
        });
        log = &log[25 + name_bytes + data_bytes..];
    }
    operations
}

#[derive(Debug, Clone)]
enum Name {
    File(usize),
    Folder,
}

/// A change of names that is not durable yet.
#[derive(Debug)]
enum NameChange {
    /// `None`: the name is gone.
    Set(PathBuf, Option<Name>),
    /// What is in a folder goes along.
    Move { from: PathBuf, to: PathBuf },
}

impl NameChange {
    fn apply(&self, names: &mut BTreeMap<PathBuf, Name>) {
        match self {
            Self::Set(path, Some(name)) => drop(names.insert(path.clone(), name.clone())),
            Self::Set(path, None) => drop(names.remove(path)),
            Self::Move { from, to } => {
                let moved: Vec<PathBuf> = names.keys().filter(|path| path.starts_with(from)).cloned().collect();
                for path in moved {
                    let target = to.join(path.strip_prefix(from).unwrap());
                    // Joining nothing leaves a slash at the end.
                    let target = if path == *from { to.clone() } else { target };
                    let name = names.remove(&path).unwrap();
                    names.insert(target, name);
                }
            }
        }
    }
}

#[derive(Debug, Clone)]
enum DataChange {
    Write { offset: u64, data: Vec<u8> },
    Resize(u64),
}

/// Content of a file: zeros after the last byte that was written.
#[derive(Debug, Clone, Default)]
struct Content {
    written: Vec<u8>,
    size: u64,
}

impl Content {
    /// The first `bytes` of a write arrive.
    fn apply(&mut self, change: &DataChange, bytes: usize) {
        match change {
            DataChange::Write { offset, data } => {
                let (begin, data) = (*offset as usize, &data[..bytes.min(data.len())]);
                self.written.resize(self.written.len().max(begin + data.len()), 0);
                self.written[begin..begin + data.len()].copy_from_slice(data);
                self.size = self.size.max(self.written.len() as u64);
            }
            DataChange::Resize(size) => {
                self.size = *size;
                self.written.truncate(*size as usize);
            }
        }
    }
}

#[derive(Debug, Default)]
struct File {
    durable: Content,
    waiting: Vec<DataChange>,
}

/// State of the folder after some operations, and its durable part.
#[derive(Default)]
struct Disk {
    files: Vec<File>,
    /// The file that an inode is now.
    inodes: HashMap<u64, usize>,
    names: BTreeMap<PathBuf, Name>,
    durable_names: BTreeMap<PathBuf, Name>,
    waiting: Vec<NameChange>,
}

impl Disk {
    fn change(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.waiting.push(change);
    }

    fn file(&mut self, inode: u64) -> &mut File {
        let index = self.inodes[&inode];
        &mut self.files[index]
    }

    fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Create { inode, path } => {
                let index = self.files.len();
                self.files.push(File::default());
                self.inodes.insert(*inode, index);
                self.change(NameChange::Set(path.clone(), Some(Name::File(index))));
            }
            Operation::Write { inode, offset, data } => {
                self.file(*inode).waiting.push(DataChange::Write { offset: *offset, data: data.clone() });
            }
            Operation::Resize { inode, size } => self.file(*inode).waiting.push(DataChange::Resize(*size)),
            Operation::Sync { inode } => {
                let file = self.file(*inode);
                for change in std::mem::take(&mut file.waiting) {
                    file.durable.apply(&change, usize::MAX);
                }
                self.sync_names();
            }
            Operation::Rename { from, to } => self.change(NameChange::Move { from: from.clone(), to: to.clone() }),
            Operation::Remove { path } => self.change(NameChange::Set(path.clone(), None)),
            Operation::MakeFolder { path } => self.change(NameChange::Set(path.clone(), Some(Name::Folder))),
            Operation::SyncFolder { path, names } => self.sync_folder(path, names),
            Operation::Mark { .. } => {}
        }
    }

    fn sync_folder(&mut self, folder: &Path, names: &[(PathBuf, Option<u64>)]) {
        // Renames by calls that are not seen: a name stands for another file now, or is there no more.
        for (name, inode) in names {
            let path = folder.join(name);
            let found = match inode {
                Some(inode) => self.inodes.get(inode).copied().map(Name::File),
                None => Some(Name::Folder),
            };
            let is_known = match (self.names.get(&path), &found) {
                (Some(Name::File(known)), Some(Name::File(found))) => known == found,
                (Some(Name::Folder), Some(Name::Folder)) | (_, None) => true,
                _ => false,
            };
            if !is_known {
                self.change(NameChange::Set(path, found));
            }
        }
        let is_gone = |path: &&PathBuf| {
            path.parent() == Some(folder) && !names.iter().any(|(name, _)| folder.join(name) == **path)
        };
        let gone: Vec<PathBuf> = self.names.keys().filter(is_gone).cloned().collect();
        for path in gone {
            self.change(NameChange::Set(path, None));
        }
        self.sync_names();
    }

    fn sync_names(&mut self) {
        for change in std::mem::take(&mut self.waiting) {
            change.apply(&mut self.durable_names);
        }
    }

    /// Writes the folder as it may be found now. `kept` returns how many of `count` pending changes survive.
    fn write(&self, root: &Path, folder: &Path, mut kept: impl FnMut(usize) -> usize) {
        let mut names = self.durable_names.clone();
        for change in self.waiting.iter().take(kept(self.waiting.len())) {
            change.apply(&mut names);
        }
        fs::create_dir_all(folder).unwrap();
        // A folder comes before what is in it.
        for (path, name) in &names {
            let target = folder.join(path.strip_prefix(root).unwrap());
            if !target.parent().unwrap().is_dir() {
                continue;
            }
            match name {
                Name::Folder => fs::create_dir(target).unwrap(),
                Name::File(index) => {
                    let file = &self.files[*index];
                    let (mut content, count) = (file.durable.clone(), kept(file.waiting.len()));
                    for change in &file.waiting[..count] {
                        content.apply(change, usize::MAX);
                    }
                    // The write after them may have arrived in part.
                    if let Some(torn @ DataChange::Write { data, .. }) = file.waiting.get(count) {
                        content.apply(torn, kept(data.len()));
                    }
                    fs::write(&target, content.written).unwrap();
                    fs::OpenOptions::new().write(true).open(target).unwrap().set_len(content.size).unwrap();
                }
            }
        }
    }
}

/// Lets the writing process of the tests of kills write for some time, with the recorder.
fn record(library: &Path, seed: u64, only_runs: bool, time: Duration) -> (PathBuf, Vec<Operation>) {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().join("store");
    fs::create_dir(&root).unwrap();
    let log = scratch.path().join("log");
    let mut child = command(&root, seed, only_runs)
        .env("LD_PRELOAD", library)
        .env("POWER_LOG", &log)
        .env("POWER_FOLDER", &root)
        .env("POWER_MARKER", scratch.path().join("marks"))
        .spawn()
        .unwrap();
    let started = Instant::now();
    // On a busy machine it may take a while until there is something to lose.
    while started.elapsed() < time
        || (fs::metadata(&log).map_or(0, |log| log.len()) < 1 << 20 && started.elapsed() < 20 * time)
    {
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), None, "the process ended by itself: {status}");
    let operations = operations(&fs::read(log).unwrap());
    assert!(operations.iter().any(|operation| matches!(operation, Operation::Sync { .. })), "nothing was recorded");
    (root, operations)
}

/// The blocks one of which must be the newest after a loss of power before operation `cut`: the last that is durable, and all that
/// were committed since, the one that was being committed among them.
fn expected(operations: &[Operation], cut: usize) -> Vec<BlockHash> {
    let mut expected = vec![BlockHash::all_zeros()];
    for (index, operation) in operations.iter().enumerate() {
        if let Operation::Mark { tip, is_durable } = operation {
            if *is_durable && index < cut {
                expected.clear();
            }
            expected.push(*tip);
            if index >= cut {
                return expected;
            }
        }
    }
    // The process was killed while it committed: what, it could not say.
    Vec::new()
}

#[test]
fn after_a_loss_of_power_the_store_opens_on_a_block_that_was_committed_and_keeps_what_was_durable() {
    let cuts: usize = std::env::var("STORE_POWER_CUTS").ok().and_then(|text| text.parse().ok()).unwrap_or(200);
    let mut random = Random(seed());
    // Flushes of the stores that are checked are of no use, and cost nothing in memory.
    let memory = Path::new("/dev/shm");
    let has_space = rustix::fs::statvfs(memory).is_ok_and(|found| found.f_bavail * found.f_frsize > 512 << 20);
    let scratch = if has_space { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    let library = scratch.path().join("recorder.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/store/power/recorder.c");
    let compiled =
        Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).arg("-ldl").status();
    assert!(compiled.expect("a C compiler is needed").success());
    let (mut blocks, mut lost, mut in_redo) = (0, 0, 0);
    for (part, only_runs) in [(0, false), (1, true), (2, false), (3, true)] {
        let (root, operations) = record(&library, random.next(), only_runs, Duration::from_millis(400));
        let mut indices: Vec<usize> =
            (0..cuts.div_ceil(4)).map(|_| random.below(operations.len() as u64) as usize).collect();
        indices.sort_unstable();
        let (mut disk, mut applied) = (Disk::default(), 0);
        for index in indices {
            for operation in &operations[applied..index] {
                disk.apply(operation);
            }
            applied = index;
            // Nothing that waits is there, or all, or some.
            let mode = random.below(4);
            let folder = scratch.path().join("found");
            disk.write(&root, &folder, |count| match mode {
                0 => 0,
                1 => count,
                _ => random.below(count as u64 + 1) as usize,
            });
            in_redo += u32::from(folder.join("run.part").exists() || folder.join("run").exists());
            println!("before operation {index} of {} of part {part}, mode {mode}", operations.len());
            blocks += check(&folder);
            let store = Store::open(&folder, &options(Some(30)), &schemas()).unwrap();
            let tip = store.snapshot().tip().map_or_else(BlockHash::all_zeros, |tip| tip.id.hash);
            let expected = expected(&operations, index);
            assert!(
                expected.is_empty() || expected.contains(&tip),
                "part {part}, before operation {index} of {}, mode {mode}: a block that was durable is lost",
                operations.len()
            );
            lost += u32::from(expected.last().is_some_and(|last| *last != tip));
            drop(store);
            fs::remove_dir_all(&folder).unwrap();
        }
    }
    println!(
        "{cuts} losses of power, {lost} of them lost a block, {in_redo} with a redo file, {blocks} blocks checked"
    );
    assert!(blocks > 100 && lost > 0 && in_redo > 0, "{blocks} blocks, {lost} lost, {in_redo} with a redo file");
}
