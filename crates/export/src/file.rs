//! A file that gets its name only when it is complete.

use std::fs::File;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::ExportError;

/// A file under a temporary name beside its own, which is removed when this is dropped.
pub(crate) struct NewFile {
    part: NamedTempFile,
    path: PathBuf,
    is_replacing: bool,
}

impl NewFile {
    /// Begins the file `path`; an existing one is replaced at the end if `is_replacing` is true.
    ///
    /// # Errors
    /// [`ExportError::Exists`], or the system refuses.
    pub(crate) fn create(path: &Path, is_replacing: bool) -> Result<Self, ExportError> {
        if !is_replacing && path.exists() {
            return Err(ExportError::Exists(path.to_owned()));
        }
        let name = path.file_name().map(|name| format!("{}.", name.to_string_lossy())).unwrap_or_default();
        let part = tempfile::Builder::new().prefix(&name).suffix(".part").tempfile_in(folder(path));
        let part = part.map_err(|source| ExportError::file(path, source))?;
        Ok(Self { part, path: path.to_owned(), is_replacing })
    }

    /// For writing.
    pub(crate) fn handle(&self) -> Result<File, ExportError> {
        self.part.as_file().try_clone().map_err(|source| ExportError::file(&self.path, source))
    }

    /// Gives the whole file its name; its length in bytes.
    ///
    /// # Errors
    /// As in [`NewFile::create`]: another may have made the file meanwhile.
    pub(crate) fn finish(self) -> Result<u64, ExportError> {
        let Self { part, path, is_replacing } = self;
        let failed = |source| ExportError::file(&path, source);
        part.as_file().sync_all().map_err(failed)?;
        let bytes = part.as_file().metadata().map_err(failed)?.len();
        let named = if is_replacing { part.persist(&path) } else { part.persist_noclobber(&path) };
        named.map_err(|error| match error.error.kind() {
            std::io::ErrorKind::AlreadyExists => ExportError::Exists(path.clone()),
            _ => failed(error.error),
        })?;
        // So that the name is on the disk as well.
        File::open(folder(&path)).and_then(|folder| folder.sync_all()).map_err(failed)?;
        Ok(bytes)
    }
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let names = std::fs::read_dir(folder).unwrap();
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_has_its_name_when_it_is_whole_and_replaces_another_only_when_asked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.parquet");
        let given_up = NewFile::create(&path, false).unwrap();
        let [part] = &names(folder.path())[..] else { panic!("one file") };
        assert!(
            part.starts_with("rows.parquet.") && Path::new(part).extension().is_some_and(|last| last == "part"),
            "{part}"
        );
        drop(given_up);
        assert!(names(folder.path()).is_empty());

        let write = |is_replacing, text: &str| {
            let file = NewFile::create(&path, is_replacing)?;
            file.handle()?.write_all(text.as_bytes()).unwrap();
            file.finish()
        };
        let late = NewFile::create(&path, false).unwrap();
        assert_eq!(write(false, "one").unwrap(), 3);
        assert!(matches!(write(false, "two"), Err(ExportError::Exists(_))));
        assert!(matches!(late.finish(), Err(ExportError::Exists(_))));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one");
        write(true, "two").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(names(folder.path()), ["rows.parquet"]);
    }

    #[test]
    fn a_folder_that_is_not_there_and_a_full_disk_are_named() {
        let absent = NewFile::create(Path::new("/absent/rows.parquet"), false).map(|_| ()).unwrap_err();
        assert!(absent.to_string().starts_with("/absent/rows.parquet: "), "{absent}");
        let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
        let full = ExportError::written(Path::new("rows"), parquet::errors::ParquetError::from(full));
        assert!(matches!(full, ExportError::DiskFull { .. }), "{full}");
    }
}
