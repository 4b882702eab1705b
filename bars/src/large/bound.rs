//! Keeps what the page cache holds of the index below a bound: by a memory group of version 1 where one can be made, else by
//! advising the kernel again and again that the files of the store are not needed.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{Advice, fadvise};

/// Where groups of version 1 are made.
const GROUPS: &str = "/sys/fs/cgroup/memory";

/// The bound.
#[derive(Debug)]
pub(crate) enum Bound {
    /// The group's folder. Its limit is lowered to what the program itself uses and the bound, which pushes files out, and lifted again
    /// at once: under a limit that stays, a read that finds no memory ends early, which the store takes for damage.
    Group(PathBuf),
    /// Files are given up as a whole, so the page cache holds less than the bound most of the time and more now and then.
    Advice,
}

impl Bound {
    pub(crate) fn new() -> Self {
        let folder = Path::new(GROUPS).join(format!("paraffin-bars-{}", std::process::id()));
        if std::fs::create_dir(&folder).is_ok() { Self::Group(folder) } else { Self::Advice }
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

    /// Pushes files of `store` out until `allowed` bytes are left; what the page cache held, where that is known.
    pub(crate) fn hold(&self, store: &Path, allowed: u64) -> Option<u64> {
        match self {
            Self::Group(folder) => {
                let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
                let usage: u64 = read("memory.usage_in_bytes").trim().parse().ok()?;
                let cached: u64 =
                    read("memory.stat").lines().find_map(|line| line.strip_prefix("cache ")?.parse().ok())?;
                if cached > allowed {
                    let limit = folder.join("memory.limit_in_bytes");
                    // Refused when it cannot be reached at once; the next time comes soon.
                    let _ = std::fs::write(&limit, (usage - cached.min(usage) + allowed).to_string());
                    let _ = std::fs::write(&limit, "-1");
                }
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
            Self::Group(_) => "page cache pushed back four times a second by the limit of a memory group",
            Self::Advice => "files given up four times a second by posix_fadvise",
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

/// Gives the files of a folder up to the page cache.
pub(crate) fn advise(folder: &Path) {
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
