//! A child of the worker, watched: by the clock, and by what it has taken of memory and disk.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

/// Time between two looks.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// How long output may still come after the child has ended: whoever holds the pipe then is not waited for.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);
/// What is kept of the beginning of an output that is too long, as a share of the whole.
const BEGINNING_SHARE: usize = 4;

/// What a child may take.
pub(crate) struct Watch {
    /// When it must have ended.
    pub(crate) deadline: Instant,
    /// Memory of it and of all that it started, together, in bytes.
    pub(crate) memory_bytes: u64,
    /// Folders that may hold so many bytes and entries together.
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) disk_bytes: u64,
    pub(crate) disk_entries: u64,
    /// Bytes kept of each of its two outputs.
    pub(crate) output_bytes: usize,
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
    let output = child.stdout.take().map(|pipe| keep(pipe, watch.output_bytes));
    let errors = child.stderr.take().map(|pipe| keep(pipe, watch.output_bytes));
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
    // Of what it left behind, nothing goes on.
    end(&mut child);
    let drained = Instant::now() + DRAIN_TIMEOUT;
    Ok(Finished { ended, output: collected(output, drained), errors: collected(errors, drained) })
}

fn passed(child: &Child, watch: &Watch) -> Option<Ended> {
    if Instant::now() >= watch.deadline {
        return Some(Ended::Time);
    }
    let family = Processes::read().family(child.id());
    if family.iter().map(|process| process.memory_bytes).sum::<u64>() > watch.memory_bytes {
        return Some(Ended::Memory);
    }
    let mut taken = Taken::default();
    for folder in &watch.folders {
        taken.add(folder.clone(), watch.disk_entries);
    }
    (taken.bytes > watch.disk_bytes || taken.entries > watch.disk_entries).then_some(Ended::Disk)
}

/// Ends a child, its process group, and every process below it, until none is left. In a world of processes of its own the
/// kernel does the rest; without one, a process that has left the group is found by its parents.
fn end(child: &mut Child) {
    const ROUNDS: usize = 50;
    let id = child.id();
    let group = i32::try_from(id).ok().and_then(Pid::from_raw);
    for _ in 0..ROUNDS {
        let family = Processes::read().family(id);
        if let Some(group) = group {
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
        for process in family.iter().filter(|process| process.id != id) {
            if let Some(pid) = Pid::from_raw(process.id.cast_signed()) {
                let _ = rustix::process::kill_process(pid, Signal::KILL);
            }
        }
        let is_over = matches!(child.try_wait(), Ok(Some(_)) | Err(_));
        if is_over && family.iter().all(|process| process.id == id) {
            return;
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
}

impl Taken {
    fn add(&mut self, folder: PathBuf, entries_max: u64) {
        use std::os::unix::fs::MetadataExt as _;
        const BLOCK_BYTES: u64 = 512;
        let mut ahead = vec![folder];
        while let Some(folder) = ahead.pop() {
            // What vanishes while it is looked at takes nothing.
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                self.entries += 1;
                if self.entries > entries_max {
                    return;
                }
                if let Ok(found) = entry.metadata() {
                    self.bytes += found.blocks() * BLOCK_BYTES;
                    if found.is_dir() {
                        ahead.push(entry.path());
                    }
                }
            }
        }
    }
}

/// A process of this machine.
#[derive(Debug, Clone, Copy)]
struct Process {
    id: u32,
    parent: u32,
    memory_bytes: u64,
}

struct Processes(Vec<Process>);

impl Processes {
    fn read() -> Self {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        Self(ids.filter_map(Self::one).collect())
    }

    fn one(id: u32) -> Option<Process> {
        let text = fs::read(format!("/proc/{id}/stat")).ok()?;
        // The name stands in brackets and may hold anything, brackets too.
        let tail = &text[text.iter().rposition(|byte| *byte == b')')? + 1..];
        let fields: Vec<&str> = std::str::from_utf8(tail).ok()?.split_ascii_whitespace().collect();
        let pages: u64 = fields.get(21)?.parse().ok()?;
        Some(Process {
            id,
            parent: fields.get(1)?.parse().ok()?,
            memory_bytes: pages * rustix::param::page_size() as u64,
        })
    }

    /// A process and all below it.
    fn family(&self, id: u32) -> Vec<Process> {
        let mut children: HashMap<u32, Vec<Process>> = HashMap::new();
        for process in &self.0 {
            children.entry(process.parent).or_default().push(*process);
        }
        let mut family: Vec<Process> = self.0.iter().copied().filter(|process| process.id == id).collect();
        let mut seen = HashSet::from([id]);
        let mut ahead = vec![id];
        while let Some(parent) = ahead.pop() {
            for child in children.get(&parent).into_iter().flatten() {
                if seen.insert(child.id) {
                    family.push(*child);
                    ahead.push(child.id);
                }
            }
        }
        family
    }
}

/// A reader of one pipe, and what it has kept so far.
struct Keeper {
    thread: JoinHandle<()>,
    kept: std::sync::Arc<parking_lot::Mutex<Kept>>,
}

/// The beginning and the end of an output.
struct Kept {
    beginning: Vec<u8>,
    end: std::collections::VecDeque<u8>,
    bytes_max: usize,
    left_out: u64,
}

impl Kept {
    fn add(&mut self, piece: &[u8]) {
        let beginning_max = self.bytes_max / BEGINNING_SHARE;
        let room = beginning_max.saturating_sub(self.beginning.len()).min(piece.len());
        self.beginning.extend_from_slice(&piece[..room]);
        self.end.extend(&piece[room..]);
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

fn keep(mut pipe: impl Read + Send + 'static, bytes_max: usize) -> Keeper {
    let kept = Kept { beginning: Vec::new(), end: std::collections::VecDeque::new(), bytes_max, left_out: 0 };
    let kept = std::sync::Arc::new(parking_lot::Mutex::new(kept));
    let shared = std::sync::Arc::clone(&kept);
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
    Keeper { thread, kept }
}

fn collected(keeper: Option<Keeper>, until: Instant) -> Vec<u8> {
    let Some(keeper) = keeper else { return Vec::new() };
    while !keeper.thread.is_finished() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    keeper.kept.lock().text()
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
