//! Supervises a child of the worker: its time, and its use of memory and disk.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use paraffin_confine::{Process, Processes, kill};
use rustix::process::{Pid, Signal};

/// Time between two checks of the limits.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// How long output is read after the child has ended, in case another process still holds the pipe.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);
/// Share of a truncated output that is its beginning; the rest is its end.
const BEGINNING_SHARE: usize = 4;
/// Free memory and disk below which a child is ended, bytes: usage that a child hides still lowers them.
const MEMORY_LEFT_MIN: u64 = 128 << 20;
const DISK_LEFT_MIN: u64 = 256 << 20;
/// Unit in which systems report the size of a file on the disk.
const BLOCK_BYTES: u64 = 512;

/// Limits of a child.
pub(crate) struct Watch {
    /// When it must have ended.
    pub(crate) deadline: Instant,
    /// Memory of it and of all that it started, together, in bytes.
    pub(crate) memory_bytes: u64,
    /// Folders, and the bytes and entries that they may hold together.
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) disk_bytes: u64,
    pub(crate) disk_entries: u64,
    /// Most bytes of its standard output and of its standard error that are returned.
    pub(crate) output_bytes: usize,
    pub(crate) errors_bytes: usize,
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// By itself, with this code.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// It took too long.
    Time,
    /// It took too much memory.
    Memory,
    /// It filled the disk.
    Disk,
}

/// A child that has ended.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) ended: Ended,
    pub(crate) output: Vec<u8>,
    pub(crate) errors: Vec<u8>,
}

/// Runs a program to its end and ends it when it passes a limit, with all that it started.
pub(crate) fn run(mut command: Command, watch: &Watch) -> io::Result<Finished> {
    use std::os::unix::process::ExitStatusExt as _;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn()?;
    let output = child.stdout.take().map(|pipe| read_pipe(pipe, watch.output_bytes));
    let errors = child.stderr.take().map(|pipe| read_pipe(pipe, watch.errors_bytes));
    let ended = loop {
        if let Some(status) = child.try_wait()? {
            break status.code().map_or_else(|| Ended::Signal(status.signal().unwrap_or_default()), Ended::Code);
        }
        if let Some(passed) = passed(&child, watch) {
            end(&mut child);
            break passed;
        }
        std::thread::sleep(LOOK_INTERVAL);
    };
    // Ends processes that it left behind.
    end(&mut child);
    let drained = Instant::now() + DRAIN_TIMEOUT;
    Ok(Finished { ended, output: collected(output, drained), errors: collected(errors, drained) })
}

fn passed(child: &Child, watch: &Watch) -> Option<Ended> {
    if Instant::now() >= watch.deadline {
        return Some(Ended::Time);
    }
    let family = Processes::read().family(child.id());
    let mut taken = Taken::default();
    for folder in &watch.folders {
        taken.add(folder.clone(), watch.disk_entries);
    }
    let nameless = Nameless::of(&family, &watch.folders, watch.disk_entries);
    let resident = family.iter().map(|process| process.memory_bytes).sum::<u64>();
    if resident + nameless.memory_bytes > watch.memory_bytes || memory_left() < MEMORY_LEFT_MIN {
        return Some(Ended::Memory);
    }
    let is_over = taken.bytes + nameless.disk_bytes > watch.disk_bytes
        || taken.entries + nameless.entries > watch.disk_entries
        || taken.is_hidden
        || watch.folders.iter().any(|folder| disk_left(folder) < DISK_LEFT_MIN);
    is_over.then_some(Ended::Disk)
}

/// Free bytes of the disk of a folder; `u64::MAX` where the system does not report them.
fn disk_left(folder: &Path) -> u64 {
    rustix::fs::statvfs(folder).map_or(u64::MAX, |disk| disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Bytes of memory that programs of this machine could still get; `u64::MAX` where the system does not report them.
fn memory_left() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib =
        text.lines().find_map(|line| line.strip_prefix("MemAvailable:")?.trim().strip_suffix(" kB")?.parse().ok());
    kib.map_or(u64::MAX, |kib: u64| kib << 10)
}

/// Ends a child, its process group, and every process below it, until none is left. In a process namespace of its own the
/// kernel does the rest; without one, a process that has left the group is found by its parents, as long as the child lives to
/// take in those whose parents have ended: so it goes last.
fn end(child: &mut Child) {
    const ROUNDS: usize = 50;
    let id = child.id();
    let group = i32::try_from(id).ok().and_then(Pid::from_raw);
    for round in 0..ROUNDS {
        let below = Processes::read().below(id);
        kill(&below);
        if below.is_empty() || round > ROUNDS / 2 {
            if let Some(group) = group {
                let _ = rustix::process::kill_process_group(group, Signal::KILL);
            }
            if matches!(child.try_wait(), Ok(Some(_)) | Err(_)) && below.is_empty() {
                return;
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
}

/// Blocks and entries of folders, links not followed.
#[derive(Default)]
struct Taken {
    bytes: u64,
    entries: u64,
    /// Whether there is a folder that cannot be read: without permission, or deeper than a path can be long.
    is_hidden: bool,
}

impl Taken {
    fn add(&mut self, folder: PathBuf, entries_max: u64) {
        let mut ahead = vec![folder];
        while let Some(folder) = ahead.pop() {
            let entries = match fs::read_dir(folder) {
                Ok(entries) => entries,
                Err(error) => {
                    self.is_hidden |= !is_gone(&error);
                    continue;
                }
            };
            for entry in entries.flatten() {
                self.entries += 1;
                if self.entries > entries_max {
                    return;
                }
                match entry.metadata() {
                    Ok(metadata) => {
                        self.bytes += metadata.blocks() * BLOCK_BYTES;
                        if metadata.is_dir() {
                            ahead.push(entry.path());
                        }
                    }
                    Err(error) => self.is_hidden |= !is_gone(&error),
                }
            }
        }
    }
}

/// What vanishes, or becomes something else, while it is looked at takes nothing.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Files without a name that processes hold open or mapped, each counted once: what was removed on a disk, and memory that
/// processes share, of which no single one shows what it takes.
#[derive(Default)]
struct Nameless {
    disk_bytes: u64,
    memory_bytes: u64,
    entries: u64,
}

/// Device and number of a file.
type FileId = (u64, u64);

impl Nameless {
    fn of(family: &[Process], folders: &[PathBuf], entries_max: u64) -> Self {
        let disks: HashSet<u64> = folders.iter().filter_map(|folder| Some(folder.metadata().ok()?.dev())).collect();
        let mut files: HashMap<FileId, u64> = HashMap::new();
        for process in family {
            let mut add = |(file, bytes): (FileId, u64)| {
                let most = files.entry(file).or_default();
                *most = bytes.max(*most);
            };
            Self::open(process.id).for_each(&mut add);
            Self::mapped(process.id).into_iter().for_each(&mut add);
            if files.len() as u64 > entries_max {
                break;
            }
        }
        let mut all = Self { entries: files.len() as u64, ..Self::default() };
        for ((device, _), bytes) in files {
            // Files on no disk of the run are in memory.
            *(if disks.contains(&device) { &mut all.disk_bytes } else { &mut all.memory_bytes }) += bytes;
        }
        all
    }

    fn open(id: u32) -> impl Iterator<Item = (FileId, u64)> {
        let files = fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten().flatten();
        let open = files.filter_map(|file| file.path().metadata().ok());
        open.filter(|file| file.is_file() && file.nlink() == 0)
            .map(|file| ((file.dev(), file.ino()), file.blocks() * BLOCK_BYTES))
    }

    /// Shared mappings with all that they may hold: pages that a process has let go are still the file's.
    fn mapped(id: u32) -> HashMap<FileId, u64> {
        let text = fs::read(format!("/proc/{id}/maps")).unwrap_or_default();
        let mut files = HashMap::new();
        for (file, bytes) in String::from_utf8_lossy(&text).lines().filter_map(Self::mapping) {
            *files.entry(file).or_default() += bytes;
        }
        files
    }

    /// One line of `/proc/<id>/maps`, where it shows a shared mapping of a file without a name.
    fn mapping(line: &str) -> Option<(FileId, u64)> {
        let mut fields = line.strip_suffix(" (deleted)")?.split_ascii_whitespace();
        let (range, access, _offset, device, number) =
            (fields.next()?, fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        let (from, to) = range.split_once('-')?;
        let (major, minor) = device.split_once(':')?;
        let hex = |text: &str| u64::from_str_radix(text, 16).ok();
        let device = rustix::fs::makedev(u32::try_from(hex(major)?).ok()?, u32::try_from(hex(minor)?).ok()?);
        let bytes = hex(to)?.checked_sub(hex(from)?)?;
        access.ends_with('s').then_some(((device, number.parse().ok()?), bytes))
    }
}

/// A reader of one pipe, and the output that it has read so far.
struct PipeReader {
    thread: JoinHandle<()>,
    output: std::sync::Arc<parking_lot::Mutex<TruncatedOutput>>,
}

/// The beginning and the end of an output.
struct TruncatedOutput {
    beginning: Vec<u8>,
    end: std::collections::VecDeque<u8>,
    bytes_max: usize,
    left_out: u64,
}

impl TruncatedOutput {
    fn add(&mut self, piece: &[u8]) {
        let beginning_max = self.bytes_max / BEGINNING_SHARE;
        let head = beginning_max.saturating_sub(self.beginning.len()).min(piece.len());
        self.beginning.extend_from_slice(&piece[..head]);
        self.end.extend(&piece[head..]);
        let over = self.end.len().saturating_sub(self.bytes_max - beginning_max);
        self.end.drain(..over);
        self.left_out += over as u64;
    }

    fn text(&self) -> Vec<u8> {
        let mut text = self.beginning.clone();
        if self.left_out > 0 {
            text.extend_from_slice(format!("\n[{} bytes left out]\n", self.left_out).as_bytes());
        }
        text.extend(&self.end);
        text
    }
}

fn read_pipe(mut pipe: impl Read + Send + 'static, bytes_max: usize) -> PipeReader {
    let output =
        TruncatedOutput { beginning: Vec::new(), end: std::collections::VecDeque::new(), bytes_max, left_out: 0 };
    let output = std::sync::Arc::new(parking_lot::Mutex::new(output));
    let shared = std::sync::Arc::clone(&output);
    let thread = std::thread::spawn(move || {
        let mut piece = vec![0; 64 << 10];
        loop {
            match pipe.read(&mut piece) {
                Ok(0) => return,
                Ok(read) => shared.lock().add(&piece[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    });
    PipeReader { thread, output }
}

fn collected(reader: Option<PipeReader>, until: Instant) -> Vec<u8> {
    let Some(reader) = reader else { return Vec::new() };
    while !reader.thread.is_finished() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    reader.output.lock().text()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(seconds: u64) -> Watch {
        Watch {
            deadline: Instant::now() + Duration::from_secs(seconds),
            memory_bytes: 1 << 30,
            folders: Vec::new(),
            disk_bytes: 1 << 20,
            disk_entries: 100,
            output_bytes: 4_000,
            errors_bytes: 4_000,
        }
    }

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn code_and_both_outputs_come_back() {
        let finished = run(shell("echo out; echo err >&2; exit 3"), &watch(20)).unwrap();
        assert_eq!(
            (finished.ended, &finished.output[..], &finished.errors[..]),
            (Ended::Code(3), &b"out\n"[..], &b"err\n"[..])
        );
        assert_eq!(run(shell("kill -9 $$"), &watch(20)).unwrap().ended, Ended::Signal(9));
    }

    #[test]
    fn what_never_ends_is_ended_with_all_that_it_started() {
        let marker = format!("8{}", std::process::id());
        // A grandchild that has left the process group, and one that holds the pipe.
        let script = format!("setsid sleep {marker} & sleep {marker} & wait");
        let started = Instant::now();
        assert_eq!(run(shell(&script), &watch(1)).unwrap().ended, Ended::Time);
        assert!(started.elapsed() < Duration::from_secs(15));
        let left = fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
            fs::read(entry.path().join("cmdline")).is_ok_and(|line| line == format!("sleep\0{marker}\0").as_bytes())
        });
        assert_eq!(left.count(), 0);
    }

    #[test]
    fn a_full_disk_and_many_files_end_it() {
        for script in
            ["exec 3>big; while :; do printf %65536s x >&3; done", "i=0; while :; do i=$((i+1)); : > f$i; done"]
        {
            let folder = tempfile::tempdir().unwrap();
            let mut command = shell(script);
            command.current_dir(folder.path());
            let watch = Watch { folders: vec![folder.path().to_owned()], ..watch(30) };
            assert_eq!(run(command, &watch).unwrap().ended, Ended::Disk, "{script}");
        }
    }

    #[test]
    fn what_is_written_out_of_sight_counts() {
        if !paraffin_testkit::long_tests() {
            return;
        }
        for script in [
            // A file without a name.
            "exec 3>big; rm big; while :; do printf %65536s x >&3; done",
            // A folder that the owner closes after it is full.
            "mkdir closed; chmod 0 closed; sleep 60",
            // A folder deeper than a path is long.
            "n=0; p=$(printf %0250d 0); while [ $n -lt 20 ]; do n=$((n+1)); mkdir $p; cd -P $p; done; sleep 60",
        ] {
            let folder = tempfile::tempdir().unwrap();
            let mut command = shell(script);
            command.current_dir(folder.path());
            let watch = Watch { folders: vec![folder.path().to_owned()], ..watch(20) };
            let ended = run(command, &watch).unwrap().ended;
            // Root can read everything.
            let is_root = rustix::process::geteuid().is_root();
            let expected = if is_root && script.contains("chmod") { Ended::Time } else { Ended::Disk };
            assert_eq!(ended, expected, "{script}");
            crate::removal::remove(folder.path()).unwrap();
        }
    }

    #[test]
    fn mappings_of_files_without_a_name_are_read_from_what_the_kernel_tells() {
        let shared = "7f7c0c000000-7f7c2c000000 rw-s 00000000 00:01 1026 /dev/zero (deleted)";
        assert_eq!(Nameless::mapping(shared), Some(((rustix::fs::makedev(0, 1), 1026), 0x2000_0000)));
        for other in [
            "7f7c0c000000-7f7c2c000000 rw-p 00000000 00:01 1026 /dev/zero (deleted)",
            "7f7c0c000000-7f7c2c000000 r-xs 00000000 fe:00 1026 /usr/lib/library.so",
            "7f7c0c000000-7f7c2c000000 rw-p 00000000 00:00 0 [heap]",
            "",
            " (deleted)",
            "x-y rw-s 0 0:1 1 /a (deleted)",
        ] {
            assert_eq!(Nameless::mapping(other), None, "{other}");
        }
    }

    #[test]
    fn memory_of_all_together_is_watched() {
        let script = "a=$(head -c 30000000 /dev/zero | tr '\\0' x); (b=$a; sleep 60) & (b=$a; sleep 60) & sleep 60";
        let watch = Watch { memory_bytes: 20 << 20, ..watch(60) };
        assert_eq!(run(shell(script), &watch).unwrap().ended, Ended::Memory);
    }

    #[test]
    fn of_an_enormous_log_the_beginning_and_the_end_are_kept() {
        let finished = run(
            shell("echo first; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo line $i; done; echo last"),
            &watch(60),
        );
        let text = String::from_utf8(finished.unwrap().output).unwrap();
        assert!(text.starts_with("first\n") && text.ends_with("last\n") && text.contains("bytes left out"), "{text}");
        assert!(text.len() < 4_100);
    }
}
