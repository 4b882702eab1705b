//! Path of the control socket. Socket addresses are limited to about a hundred bytes, and paths of folders may be longer.

use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::ControlError;

/// Longest path in an address, in bytes: the smallest limit of any system is 104 with the final zero.
const PATH_BYTES_MAX: usize = 103;

/// A path of a socket that fits into a socket address.
pub(super) struct SocketPath {
    path: PathBuf,
    /// Kept open while `path` refers to its descriptor.
    _folder: Option<File>,
}

impl SocketPath {
    /// `name` in `folder`: the path itself, or for a long one the path below `/proc/self/fd` of the opened folder (Linux).
    ///
    /// # Errors
    /// The path is too long and `/proc` is not mounted, or the folder cannot be opened.
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

    /// The path to bind or connect to.
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
            let socket = SocketPath::of(&deep, "control.sock").unwrap();
            assert!(socket.path().as_os_str().len() <= PATH_BYTES_MAX);
            let _listener = UnixListener::bind(socket.path()).unwrap();
            assert!(deep.join("control.sock").exists());
            UnixStream::connect(SocketPath::of(&deep, "control.sock").unwrap().path()).unwrap();
        }
        assert!(deep.as_os_str().len() > 250);
    }
}
