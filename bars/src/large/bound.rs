//! Keeps what the page cache holds of the index below a bound: by a memory group of version 1 where one can be made, else by telling the
//! kernel again and again that the files of the store are not needed.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{Advice, fadvise};

/// Where groups of version 1 are made.
const GROUPS: &str = "/sys/fs/cgroup/memory";

/// The bound.
#[derive(Debug)]
pub(crate) enum Bound {
    /// The group's folder. Its limit follows what the program itself uses, so that only files are pushed out; a program that still
    /// finds no memory waits for the next time the limit is set instead of being killed.
    Group(PathBuf),
    /// Files are given up as a whole, so the page cache holds less than the bound most of the time and more now and then.
    Advice,
}

impl Bound {
    pub(crate) fn new() -> Self {
        let folder = Path::new(GROUPS).join(format!("paraffin-bars-{}", std::process::id()));
        let made = std::fs::create_dir(&folder).is_ok();
        if made && std::fs::write(folder.join("memory.oom_control"), "1").is_ok() {
            return Self::Group(folder);
        }
        if made {
            let _ = std::fs::remove_dir(&folder);
        }
        Self::Advice
    }

    /// A command that runs under the bound.
    pub(crate) fn command(&self, program: &Path) -> Command {
        match self {
            Self::Advice => Command::new(program),
            Self::Group(folder) => {
                let mut command = Command::new("sh");
                command.args(["-c", r#"echo $$ > "$0" && exec "$@""#]).arg(folder.join("cgroup.procs")).arg(program);
                command
            }
        }
    }

    /// Holds the files of `store` to `allowed` bytes from now on; what the page cache holds, where that is known.
    pub(crate) fn hold(&self, store: &Path, allowed: u64) -> Option<u64> {
        match self {
            Self::Group(folder) => {
                let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
                let usage: u64 = read("memory.usage_in_bytes").trim().parse().ok()?;
                let cached = read("memory.stat").lines().find_map(|line| line.strip_prefix("cache ")?.parse().ok())?;
                let limit = usage.saturating_sub(cached) + allowed;
                // Refused when it cannot be reached at once; the next time comes soon.
                let _ = std::fs::write(folder.join("memory.limit_in_bytes"), limit.to_string());
                Some(cached)
            }
            Self::Advice => {
                advise(store);
                None
            }
        }
    }

    pub(crate) const fn describe(&self) -> &'static str {
        match self {
            Self::Group(_) => "page cache bound by a memory group",
            Self::Advice => "files given up by posix_fadvise",
        }
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        if let Self::Group(folder) = self {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

fn advise(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            advise(&path);
        } else if let Ok(file) = File::open(&path) {
            // A file that went away meanwhile needs no advice.
            let _ = fadvise(&file, 0, None, Advice::DontNeed);
        }
    }
}
