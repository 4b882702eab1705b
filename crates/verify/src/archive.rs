//! Archives of source trees from third parties: every entry is checked before anything of it is written; only plain files,
//! folders and links that stay inside are accepted.

use data_encoding::HEXLOWER;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tar::{Archive, EntryType};

use crate::paths::{self, Names, PathError};

/// Heads, padding and long names of an entry, in bytes; what an archive may have beside its files.
const HEAD_BYTES: u64 = 4 << 10;
/// Size of the pieces in which files are written.
const PIECE_BYTES: usize = 64 << 10;

/// Limits of the size of a source tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveLimits {
    /// Bytes of all files together.
    pub bytes_max: u64,
    /// Bytes of one file.
    pub file_bytes_max: u64,
    /// Files, folders and links.
    pub entries_max: usize,
}

/// A file of a source tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Path from the root of the tree, `/` between its parts.
    pub path: String,
    /// Bytes.
    pub size: u64,
    /// SHA-256 of the content, 64 hex digits.
    pub sha256: String,
}

/// An archive is refused. The messages contain no path of this machine.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// Not a gzip-compressed tar file, or cut short.
    #[error("the archive cannot be read as a gzip-compressed tar file")]
    Unreadable,
    /// A path that a source tree cannot have.
    #[error("an entry of the archive has a path that is refused: {0}")]
    Path(#[from] PathError),
    /// Neither file nor folder nor symbolic link.
    #[error("`{0}` is neither a file nor a folder nor a symbolic link")]
    Kind(String),
    /// A limit is exceeded.
    #[error("the archive is too large: {0}")]
    TooLarge(String),
    /// It is empty.
    #[error("the archive holds no file")]
    Empty,
    /// This machine cannot write the tree.
    #[error("the source tree cannot be written: {0}")]
    Write(io::Error),
}

/// Unpacks a tar file, compressed with gzip or not, into an empty folder, and returns its files by path.
///
/// # Errors
/// [`ArchiveError`]; what was written until then stays.
pub fn unpack(
    reader: impl Read,
    is_gzip: bool,
    into: &Path,
    limits: &ArchiveLimits,
) -> Result<Vec<SourceFile>, ArchiveError> {
    let whole = limits.bytes_max.saturating_add(HEAD_BYTES.saturating_mul(limits.entries_max as u64));
    if is_gzip {
        unpack_tar(Bounded { inner: MultiGzDecoder::new(reader), left: whole }, into, limits)
    } else {
        unpack_tar(Bounded { inner: reader, left: whole }, into, limits)
    }
}

fn unpack_tar(reader: impl Read, into: &Path, limits: &ArchiveLimits) -> Result<Vec<SourceFile>, ArchiveError> {
    let mut names = Names::new(limits.entries_max);
    let mut files = Vec::new();
    let mut bytes_left = limits.bytes_max;
    let mut archive = Archive::new(reader);
    for entry in archive.entries().map_err(|error| unreadable(&error))? {
        let mut entry = entry.map_err(|error| unreadable(&error))?;
        let kind = entry.header().entry_type();
        // A comment of git's, and settings for all entries: neither is part of the tree.
        if kind == EntryType::XGlobalHeader {
            continue;
        }
        let Some(path) = paths::tree_path(&entry.path_bytes())? else { continue };
        match kind {
            EntryType::Regular | EntryType::Continuous => {
                if entry.size() > limits.file_bytes_max {
                    return Err(ArchiveError::TooLarge(format!("`{path}` has {} bytes", entry.size())));
                }
                bytes_left = bytes_left
                    .checked_sub(entry.size())
                    .ok_or_else(|| ArchiveError::TooLarge(format!("more than {} bytes of files", limits.bytes_max)))?;
                names.file(&path)?;
                let is_program = entry.header().mode().is_ok_and(|mode| mode & 0o100 != 0);
                files.push(write(&mut entry, path, is_program, into)?);
            }
            EntryType::Directory => {
                names.folder(&path)?;
                fs::create_dir_all(into.join(&path)).map_err(ArchiveError::Write)?;
            }
            EntryType::Symlink => {
                let target = entry.link_name_bytes().unwrap_or_default();
                names.link(&path, &target)?;
            }
            _ => return Err(ArchiveError::Kind(path)),
        }
    }
    if files.is_empty() {
        return Err(ArchiveError::Empty);
    }
    // No link has been written before, so no path led through one.
    for (path, target) in names.checked_links()? {
        let link_path = into.join(&path);
        if let Some(folder) = link_path.parent() {
            fs::create_dir_all(folder).map_err(ArchiveError::Write)?;
        }
        std::os::unix::fs::symlink(target, link_path).map_err(ArchiveError::Write)?;
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

/// Writes one file, and creates its folders where the archive does not name them.
fn write(content: &mut impl Read, path: String, is_program: bool, into: &Path) -> Result<SourceFile, ArchiveError> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let file_path = into.join(&path);
    if let Some(folder) = file_path.parent() {
        fs::create_dir_all(folder).map_err(ArchiveError::Write)?;
    }
    let mode = if is_program { 0o755 } else { 0o644 };
    let mut file: File =
        File::options().write(true).create_new(true).mode(mode).open(&file_path).map_err(ArchiveError::Write)?;
    let mut digest = Sha256::new();
    let mut size = 0;
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let read = match content.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(unreadable(&error)),
        };
        digest.update(&piece[..read]);
        file.write_all(&piece[..read]).map_err(ArchiveError::Write)?;
        size += read as u64;
    }
    Ok(SourceFile { path, size, sha256: HEXLOWER.encode(&digest.finalize()) })
}

fn unreadable(error: &io::Error) -> ArchiveError {
    if error.kind() == io::ErrorKind::FileTooLarge {
        ArchiveError::TooLarge("it unpacks to more than a source tree may have".to_owned())
    } else {
        ArchiveError::Unreadable
    }
}

/// Reads at most this many bytes and fails at the next one: a bomb must not look like the end of a file.
struct Bounded<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return match self.inner.read(&mut [0])? {
                0 => Ok(0),
                _ => Err(io::ErrorKind::FileTooLarge.into()),
            };
        }
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.inner.read(&mut buffer[..most])?;
        self.left -= read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests;
