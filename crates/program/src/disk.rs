//! Free and used disk space.

use std::io;
use std::path::Path;

/// Bytes free for this user on the file system of `folder`.
///
/// # Errors
/// The folder does not exist or the system does not report its free space.
pub(crate) fn free_bytes(folder: &Path) -> io::Result<u64> {
    let statistics = rustix::fs::statvfs(folder)?;
    Ok(statistics.f_bavail.saturating_mul(statistics.f_frsize))
}

/// Bytes of all files below `folder`; what cannot be read counts nothing.
pub(crate) fn folder_bytes(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => folder_bytes(&entry.path()),
            Ok(kind) if kind.is_file() => entry.metadata().map_or(0, |metadata| metadata.len()),
            _ => 0,
        })
        .sum()
}

/// `1.5 GiB`, `12.0 MiB`, `800 B`.
pub(crate) fn readable(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    #[allow(clippy::cast_precision_loss)] // for people to read
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_in_binary_units() {
        assert_eq!(readable(800), "800 B");
        assert_eq!(readable(1536 << 20), "1.5 GiB");
        assert_eq!(readable(u64::MAX), "16384.0 PiB");
    }

    #[test]
    fn a_folder_counts_its_files_at_every_depth() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("a")).unwrap();
        std::fs::write(folder.path().join("a/b"), [0; 100]).unwrap();
        std::fs::write(folder.path().join("c"), [0; 23]).unwrap();
        assert_eq!(folder_bytes(folder.path()), 123);
        assert!(free_bytes(folder.path()).unwrap() > 0);
        assert!(free_bytes(&folder.path().join("absent")).is_err());
    }
}
