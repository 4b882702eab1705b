//! The processes of this machine, as `/proc` lists them.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions};

/// State of a zombie: a process or thread that only waits to be reaped.
const ENDED: char = 'Z';

/// A process of this machine.
#[derive(Debug, Clone, Copy)]
pub struct Process {
    /// Its number.
    pub id: u32,
    parent: u32,
    /// Its resident pages in bytes.
    pub memory_bytes: u64,
}

/// All processes at one moment.
pub struct Processes(Vec<Process>);

impl Processes {
    /// Lists them.
    pub fn read() -> Self {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        Self(ids.filter_map(Self::one).collect())
    }

    fn one(id: u32) -> Option<Process> {
        let (state, process) = Self::read_one(format!("/proc/{id}/stat"), id)?;
        if state != ENDED {
            return Some(process);
        }
        // The first thread may have ended before the others, and then reports no memory.
        let threads = fs::read_dir(format!("/proc/{id}/task")).ok()?.flatten();
        let alive = threads.filter_map(|thread| Self::read_one(thread.path().join("stat"), id));
        alive
            .filter(|(state, _)| *state != ENDED)
            .map(|(_, process)| process)
            .max_by_key(|process| process.memory_bytes)
    }

    /// The state of a process or thread, and its resident pages.
    fn read_one(stat: impl AsRef<Path>, id: u32) -> Option<(char, Process)> {
        let text = fs::read(stat).ok()?;
        // The name is in brackets and may hold any character, including brackets.
        let tail = &text[text.iter().rposition(|byte| *byte == b')')? + 1..];
        let fields: Vec<&str> = std::str::from_utf8(tail).ok()?.split_ascii_whitespace().collect();
        let pages: u64 = fields.get(21)?.parse().ok()?;
        let parent = fields.get(1)?.parse().ok()?;
        let memory_bytes = pages * rustix::param::page_size() as u64;
        Some((fields.first()?.chars().next()?, Process { id, parent, memory_bytes }))
    }

    /// All below a process.
    pub fn below(&self, id: u32) -> Vec<Process> {
        self.family(id).into_iter().filter(|process| process.id != id).collect()
    }

    /// A process and all below it.
    pub fn family(&self, id: u32) -> Vec<Process> {
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

/// Ends every process below this one, those included that have left their parents; for a process that takes them in.
pub fn end_all_below() {
    const ROUNDS: usize = 50;
    for _ in 0..ROUNDS {
        let below = Processes::read().below(std::process::id());
        if below.is_empty() {
            return;
        }
        kill(&below);
        while let Ok(Some(_)) = rustix::process::wait(WaitOptions::NOHANG) {}
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Sends `SIGKILL` to each of them.
pub fn kill(processes: &[Process]) {
    for pid in processes.iter().filter_map(|process| Pid::from_raw(process.id.cast_signed())) {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
}
