//! Source trees by content: every file is stored once, under its SHA-256, and so is the list of a tree's files.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::archive::SourceFile;
use crate::verdict::sha256_hex;

/// The files of one tree, as they are stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceList {
    /// All files by path.
    pub files: Vec<SourceFile>,
}

/// The folder of all files.
#[derive(Debug, Clone)]
pub(crate) struct Blobs {
    folder: PathBuf,
}

/// A stored file or list is damaged.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BlobError {
    #[error("the stored sources are damaged: {0}")]
    Damaged(String),
    #[error("the stored sources: {0}")]
    Io(#[from] io::Error),
}

static TEMPORARY: AtomicU64 = AtomicU64::new(0);

impl Blobs {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn path(&self, digest: &str) -> Option<PathBuf> {
        let is_digest = digest.len() == 64 && digest.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
        is_digest.then(|| self.folder.join(&digest[..2]).join(&digest[2..]))
    }

    /// The content of one file, whose hash is checked.
    pub(crate) fn get(&self, digest: &str) -> Result<Vec<u8>, BlobError> {
        let path = self.path(digest).ok_or_else(|| BlobError::Damaged("no digest".to_owned()))?;
        let bytes = fs::read(path)?;
        if sha256_hex(&bytes) == digest { Ok(bytes) } else { Err(BlobError::Damaged(digest.to_owned())) }
    }

    /// The list with a digest.
    pub(crate) fn list(&self, digest: &str) -> Result<SourceList, BlobError> {
        serde_json::from_slice(&self.get(digest)?).map_err(|error| BlobError::Damaged(error.to_string()))
    }

    /// Stores the tree of a folder; `None` where its new files take more than `bytes_max`. Returns the digest of its list, and
    /// the bytes that it added.
    pub(crate) fn put_tree(
        &self,
        tree: &Path,
        files: &[SourceFile],
        bytes_max: u64,
    ) -> Result<Option<(String, u64)>, BlobError> {
        let list = serde_json::to_vec(&SourceList { files: files.to_vec() }).map_err(io::Error::other)?;
        let mut wanted = HashSet::new();
        let is_new = |file: &&SourceFile| self.path(&file.sha256).is_some_and(|path| !path.exists());
        let new: Vec<&SourceFile> =
            files.iter().filter(is_new).filter(|file| wanted.insert(file.sha256.clone())).collect();
        let added = new.iter().map(|file| file.size).sum::<u64>() + list.len() as u64;
        if added > bytes_max {
            return Ok(None);
        }
        for file in new {
            let mut bytes = Vec::new();
            // A build that is not isolated may have replaced it by anything, even a pipe without a writer.
            let mut source = File::options();
            source.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
            source.open(tree.join(&file.path))?.take(file.size + 1).read_to_end(&mut bytes)?;
            self.put(&file.sha256, &bytes)?;
        }
        let digest = sha256_hex(&list);
        self.put(&digest, &list)?;
        // All files are synced to the disk before the tree is reported.
        rustix::fs::syncfs(File::open(&self.folder)?).map_err(io::Error::from)?;
        Ok(Some((digest, added)))
    }

    fn put(&self, digest: &str, bytes: &[u8]) -> Result<(), BlobError> {
        let path = self.path(digest).ok_or_else(|| BlobError::Damaged("no digest".to_owned()))?;
        if sha256_hex(bytes) != digest {
            return Err(BlobError::Damaged(digest.to_owned()));
        }
        let folder = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(folder)?;
        let number = TEMPORARY.fetch_add(1, Ordering::Relaxed);
        let temporary = folder.join(format!("new-{}-{number}", std::process::id()));
        fs::write(&temporary, bytes)?;
        fs::rename(&temporary, path)?;
        Ok(())
    }

    /// Removes what no list of `lists` names, and returns the bytes that remain. Nothing may be stored meanwhile.
    pub(crate) fn sweep(&self, lists: &[String]) -> Result<u64, BlobError> {
        fs::create_dir_all(&self.folder)?;
        let mut named: HashSet<String> = HashSet::new();
        for digest in lists {
            named.insert(digest.clone());
            // The files of a list that cannot be read are lost; reads of its record report that.
            if let Ok(list) = self.list(digest) {
                named.extend(list.files.into_iter().map(|file| file.sha256));
            }
        }
        let mut left = 0;
        for folder in fs::read_dir(&self.folder)?.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()) {
            let beginning = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            for entry in fs::read_dir(&folder)?.flatten() {
                let digest = format!("{beginning}{}", entry.file_name().to_string_lossy());
                if named.contains(&digest) {
                    left += entry.metadata().map_or(0, |metadata| metadata.len());
                } else {
                    fs::remove_file(entry.path())?;
                }
            }
        }
        Ok(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(folder: &Path, files: &[(&str, &str)]) -> Vec<SourceFile> {
        let mut list = Vec::new();
        for (path, text) in files {
            fs::write(folder.join(path), text).unwrap();
            list.push(SourceFile {
                path: (*path).to_owned(),
                size: text.len() as u64,
                sha256: sha256_hex(text.as_bytes()),
            });
        }
        list
    }

    #[test]
    fn a_tree_comes_back_and_equal_files_are_stored_once() {
        let (store, source) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let blobs = Blobs::new(store.path().join("blobs"));
        fs::create_dir(store.path().join("blobs")).unwrap();
        let files = tree(source.path(), &[("a", "same"), ("b", "same"), ("c", "other")]);
        let (digest, added) = blobs.put_tree(source.path(), &files, 1 << 20).unwrap().unwrap();
        let list = blobs.list(&digest).unwrap();
        assert_eq!(list.files, files);
        assert_eq!(blobs.get(&files[2].sha256).unwrap(), b"other");
        let list_bytes = serde_json::to_vec(&list).unwrap().len() as u64;
        assert_eq!(added, 4 + 5 + list_bytes);
        // The second time only the list adds bytes; a tree that does not fit is not stored.
        assert_eq!(blobs.put_tree(source.path(), &files, 1 << 20).unwrap().unwrap().1, list_bytes);
        assert!(blobs.put_tree(source.path(), &tree(source.path(), &[("d", "new")]), 2).unwrap().is_none());

        assert_eq!(blobs.sweep(std::slice::from_ref(&digest)).unwrap(), added);
        assert_eq!(blobs.sweep(&[]).unwrap(), 0);
        assert!(blobs.list(&digest).is_err());
    }

    #[test]
    fn what_changed_on_the_disk_is_reported() {
        let (store, source) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let blobs = Blobs::new(store.path().to_owned());
        let files = tree(source.path(), &[("a", "text")]);
        blobs.put_tree(source.path(), &files, 1 << 20).unwrap().unwrap();
        fs::write(blobs.path(&files[0].sha256).unwrap(), "texT").unwrap();
        assert!(matches!(blobs.get(&files[0].sha256), Err(BlobError::Damaged(_))));
        assert!(matches!(blobs.get("../../etc/passwd"), Err(BlobError::Damaged(_))));
        // A file that does not have its hash is not stored.
        let wrong = SourceFile { sha256: sha256_hex(b"else"), ..files[0].clone() };
        assert!(blobs.put_tree(source.path(), &[wrong], 1 << 20).is_err());
        // Nor is one that a build has replaced by something else.
        for what in ["link", "pipe"] {
            let mut files = tree(source.path(), &[(what, what)]);
            files[0].sha256 = sha256_hex(b"never stored");
            fs::remove_file(source.path().join(what)).unwrap();
            if what == "link" {
                std::os::unix::fs::symlink("/etc/passwd", source.path().join(what)).unwrap();
            } else {
                let pipe = source.path().join(what);
                rustix::fs::mknodat(rustix::fs::CWD, pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
            }
            assert!(blobs.put_tree(source.path(), &files, 1 << 20).is_err(), "{what}");
        }
    }
}
