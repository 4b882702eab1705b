//! Where the socket is. The system takes addresses of about a hundred bytes, and paths of folders are longer at times.

use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::ControlError;

/// Longest path in an address: 104 bytes with the final zero on the systems that take fewest.
const PATH_BYTES_MAX: usize = 103;

/// A path by which the system reaches a file of a folder.
pub(super) struct Place {
    path: PathBuf,
    /// Open as long as `path` goes through it.
    _folder: Option<File>,
}

impl Place {
    /// `name` in `folder`: the path itself, or for a long one the way through the open folder that Linux has.
    ///
    /// # Errors
    /// The path is too long and there is no other way, or the folder cannot be opened.
    pub(super) fn of(folder: &Path, name: &str) -> Result<Self, ControlError> {
        let path = folder.join(name);
        if path.as_os_str().as_bytes().len() <= PATH_BYTES_MAX {
            return Ok(Self { path, _folder: None });
        }
        let open = File::open(folder).map_err(|source| ControlError::Socket { path: path.clone(), source })?;
        let through = PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd()));
        if !through.exists() {
            return Err(ControlError::TooLong(path));
        }
        Ok(Self { path: through.join(name), _folder: Some(open) })
    }

    /// The path for the system.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::*;

    #[test]
    fn a_socket_in_a_folder_of_any_depth_is_bound_and_reached() {
        let folder = tempfile::tempdir().unwrap();
        let mut deep = folder.path().to_owned();
        for _ in 0..12 {
            deep.push("a-folder-of-twenty-ch");
            std::fs::create_dir(&deep).unwrap();
            let place = Place::of(&deep, "control.sock").unwrap();
            assert!(place.path().as_os_str().len() <= PATH_BYTES_MAX);
            let _listener = UnixListener::bind(place.path()).unwrap();
            assert!(deep.join("control.sock").exists());
            UnixStream::connect(Place::of(&deep, "control.sock").unwrap().path()).unwrap();
        }
        assert!(deep.as_os_str().len() > 250);
    }
}
