//! Removes what a run left. A build may nest folders deeper than a path is long or a stack is high, and close them; none of that may
//! reach the process that serves.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long to retry while processes that are being ended still use the folder.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(50);
/// Permissions that the owner needs to empty a folder.
const OWNERS: u32 = 0o700;

/// Removes a folder and its content; a missing one is no error. Links are removed and not followed.
///
/// # Errors
/// The error of the last attempt.
pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    let until = Instant::now() + PATIENCE;
    loop {
        match emptied(folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(_) if Instant::now() < until => std::thread::sleep(PAUSE),
            done => return done,
        }
    }
}

/// Every folder inside comes up to the first level before it is emptied, so no path grows, nothing recurses, and no more than two
/// folders are open at a time.
fn emptied(folder: &Path) -> io::Result<()> {
    opened(folder)?;
    let mut moved = 0_u64;
    loop {
        let mut is_empty = true;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            is_empty = false;
            if entry.file_type()?.is_dir() {
                raised(&entry.path(), folder, &mut moved)?;
            } else {
                gone(fs::remove_file(entry.path()))?;
            }
        }
        if is_empty {
            return fs::remove_dir(folder);
        }
    }
}

/// Empties one folder of the first level: its files are removed, its folders move beside it.
fn raised(folder: &Path, beside: &Path, moved: &mut u64) -> io::Result<()> {
    opened(folder)?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_type()?.is_dir() {
            gone(fs::remove_file(entry.path()))?;
            continue;
        }
        // A folder that moves has its `..` written.
        opened(&entry.path())?;
        let target = loop {
            let target = beside.join(format!("moved-{moved}"));
            *moved += 1;
            if target.symlink_metadata().is_err() {
                break target;
            }
        };
        fs::rename(entry.path(), target)?;
    }
    gone(fs::remove_dir(folder))
}

/// Ignores the error of a file that does not exist any more.
fn gone(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Gives the owner access to a folder.
fn opened(folder: &Path) -> io::Result<()> {
    let mut permissions = folder.symlink_metadata()?.permissions();
    if permissions.mode() & OWNERS == OWNERS {
        return Ok(());
    }
    permissions.set_mode(OWNERS);
    fs::set_permissions(folder, permissions)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of so many folders, made from its end, because no path to that end is short enough.
    fn chain(folder: &Path, depth: usize) {
        let (above, below) = (folder.join("above"), folder.join("below"));
        fs::create_dir(&below).unwrap();
        fs::write(below.join("file"), "x").unwrap();
        for _ in 0..depth {
            fs::create_dir(&above).unwrap();
            fs::rename(&below, above.join("folder")).unwrap();
            fs::rename(&above, &below).unwrap();
        }
    }

    #[test]
    fn folders_deeper_than_any_path_or_stack_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        fs::create_dir(&run).unwrap();
        chain(&run, 30_000);
        // A stack too small for a walk that recurses.
        let small = std::thread::Builder::new().stack_size(128 << 10);
        let removed = small.spawn({
            let run = run.clone();
            move || remove(&run)
        });
        removed.unwrap().join().unwrap().unwrap();
        assert!(run.symlink_metadata().is_err());
    }

    #[test]
    fn closed_folders_odd_files_and_names_of_our_own_are_removed_and_links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (run, other) = (folder.path().join("run"), folder.path().join("other"));
        fs::create_dir_all(run.join("closed/inside/deeper")).unwrap();
        fs::create_dir_all(run.join("moved-0/moved-1/moved-0")).unwrap();
        fs::write(run.join("moved-1"), "").unwrap();
        fs::create_dir(&other).unwrap();
        fs::write(other.join("kept"), "").unwrap();
        std::os::unix::fs::symlink(&other, run.join("link")).unwrap();
        std::os::unix::fs::symlink(&other, run.join("closed/inside/link")).unwrap();
        let pipe = run.join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        for folder in ["closed/inside/deeper", "closed/inside", "closed"] {
            fs::set_permissions(run.join(folder), fs::Permissions::from_mode(0o000)).unwrap();
        }
        remove(&run).unwrap();
        assert!(run.symlink_metadata().is_err() && other.join("kept").exists());
        // A folder that does not exist is no error.
        remove(&run).unwrap();
    }
}
