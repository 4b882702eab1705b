//! Errors of the engine as errors of the store.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use crate::StoreError;
use crate::error::is_disk_full;

/// The store's error for one of the engine, met while `during`.
pub(super) fn classify(during: &'static str, error: fjall::Error, folder: &Path) -> StoreError {
    use fjall::{Error, LsmError};
    match error {
        Error::Io(source) | Error::Storage(LsmError::Io(source)) => match source.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::NotFound => {
                StoreError::Corrupt(format!("while {during}: {source}"))
            }
            _ => StoreError::io(during, source),
        },
        // A thread of the engine failed before and reported it only in its log. A full disk is by far the likeliest reason, and
        // it can be checked.
        Error::Poisoned => match probe_disk(folder) {
            Err(source) if is_disk_full(&source) => StoreError::DiskFull { during },
            Err(source) => StoreError::Io { during, source },
            Ok(()) => StoreError::Io {
                during,
                source: io::Error::other("a background write of the engine failed; its log line has the reason"),
            },
        },
        Error::Locked => StoreError::Locked { folder: folder.to_path_buf() },
        other => StoreError::Corrupt(format!("while {during}: {other}")),
    }
}

/// Writes a file like that of a flush, of the journal's size with some bytes in it.
fn probe_disk(folder: &Path) -> io::Result<()> {
    const ALLOCATED: u64 = 64 * 1024 * 1024;
    let path = folder.join("probe");
    let attempt = || {
        let mut file = File::create(&path)?;
        io::Write::write_all(&mut file, &vec![0x5a; 4 * 1024 * 1024])?;
        file.set_len(ALLOCATED)?;
        file.sync_all()
    };
    let outcome = attempt();
    // A file that cannot be removed is found and overwritten by the next probe.
    let _ = fs::remove_file(&path);
    outcome
}
