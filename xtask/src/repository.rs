//! Where the repository is, and which of its files count.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{Failure, Outcome, capture};

/// The root of the workspace: the folder above `xtask/`.
pub fn root() -> PathBuf {
    // Cargo sets the variable for `cargo run` and `cargo test`; the compiled-in value serves a binary started by hand.
    let manifest =
        std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    manifest.parent().map_or_else(|| manifest.clone(), Path::to_path_buf)
}

/// Where cargo puts what it builds.
pub fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

/// One text file of the repository, by its path from the root with `/` between the parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Path from the root.
    pub path: String,
    /// Content.
    pub text: String,
}

impl SourceFile {
    /// Last part of the path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// True for Rust source.
    pub fn is_rust(&self) -> bool {
        self.extension() == Some("rs")
    }

    /// What follows the last dot of the name.
    pub fn extension(&self) -> Option<&str> {
        Path::new(&self.path).extension()?.to_str()
    }
}

/// Every text file that is tracked, or new and not ignored, sorted by path. Binary files are left out.
///
/// # Errors
/// Git lists no file.
pub fn files(root: &Path) -> Outcome<Vec<SourceFile>> {
    let mut command = Command::new("git");
    command.current_dir(root).args(["ls-files", "-z", "-c", "-o", "--exclude-standard"]);
    let listing = capture(&mut command)?;
    let mut files = Vec::new();
    for path in listing.split('\0').filter(|path| !path.is_empty()) {
        let full = root.join(path);
        // A tracked file may have been deleted or be a symbolic link to nowhere: neither has text to judge.
        let Ok(bytes) = std::fs::read(&full) else { continue };
        if let Ok(text) = String::from_utf8(bytes) {
            files.push(SourceFile { path: path.to_owned(), text });
        }
    }
    if files.is_empty() {
        return Err(Failure::new(format!("git lists no file under {}: is this a clone?", root.display())));
    }
    files.sort_by(|left, right| left.path.cmp(&right.path));
    files.dedup_by(|left, right| left.path == right.path);
    Ok(files)
}
