//! Client of the control socket, used by commands.

use std::io;
use std::path::{Path, PathBuf};

use paraffin_store::snapshot_file::SnapshotProgress;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;

use super::socket_path::SocketPath;
use super::{ControlError, Line, NAME, Request};
use crate::rows_file::{ExportRequest, RowsProgress};

/// Longest line of an answer, in bytes.
const LINE_BYTES_MAX: u64 = 64 << 10;

/// The instance that runs on a data folder.
pub(crate) struct Running {
    stream: UnixStream,
    path: PathBuf,
}

/// The instance that runs on `data_dir`; `None` when none listens.
///
/// # Errors
/// The socket exists and this user may not connect to it.
pub(crate) async fn find(data_dir: &Path) -> Result<Option<Running>, ControlError> {
    let path = data_dir.join(NAME);
    if !path.exists() {
        return Ok(None);
    }
    let socket = SocketPath::of(data_dir, NAME)?;
    match UnixStream::connect(socket.path()).await {
        Ok(stream) => Ok(Some(Running { stream, path })),
        // A stale socket of a killed process.
        Err(error) if matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound) => Ok(None),
        Err(source) => Err(ControlError::Socket { path, source }),
    }
}

impl Running {
    /// Requests a snapshot in the new file `file`, an absolute path; returns the summary to print. After `give_up` the instance
    /// removes the partial file.
    ///
    /// # Errors
    /// The instance refuses the request or closes the connection.
    pub(crate) async fn export(
        self,
        file: &Path,
        bytes_per_second: Option<u64>,
        progress: &mut (dyn FnMut(SnapshotProgress) + Send),
        give_up: impl Future<Output = ()>,
    ) -> Result<Value, ControlError> {
        let request = Request::SnapshotExport { file: file.to_owned(), bytes_per_second };
        let mut show = |line| {
            if let Line::Progress { bytes, bytes_total, rows } = line {
                progress(SnapshotProgress { bytes, bytes_total, rows });
            }
        };
        self.ask(&request, &mut show, give_up).await
    }

    /// Requests an export of rows to a file, an absolute path; otherwise as [`Running::export`].
    ///
    /// # Errors
    /// The instance refuses the request or closes the connection.
    pub(crate) async fn export_rows(
        self,
        request: ExportRequest,
        progress: &mut (dyn FnMut(RowsProgress) + Send),
        give_up: impl Future<Output = ()>,
    ) -> Result<Value, ControlError> {
        let mut show = |line| {
            if let Line::Rows(now) = line {
                progress(now);
            }
        };
        self.ask(&Request::Export(request), &mut show, give_up).await
    }

    /// Sends a request and reads lines until it is done or refused.
    async fn ask(
        self,
        request: &Request,
        progress: &mut (dyn FnMut(Line) + Send),
        give_up: impl Future<Output = ()>,
    ) -> Result<Value, ControlError> {
        let Self { stream, path } = self;
        let failed = |source| ControlError::Socket { path: path.clone(), source };
        let mut text = serde_json::to_vec(request).map_err(|error| failed(error.into()))?;
        text.push(b'\n');
        let (reader, mut writer) = stream.into_split();
        writer.write_all(&text).await.map_err(failed)?;
        let mut reader = BufReader::new(reader);
        let mut give_up = std::pin::pin!(give_up);
        let mut is_given_up = false;
        let mut line = Vec::new();
        loop {
            let mut limited = (&mut reader).take(LINE_BYTES_MAX - line.len() as u64);
            tokio::select! {
                read = limited.read_until(b'\n', &mut line) => {
                    read.map_err(failed)?;
                    if !line.ends_with(b"\n") {
                        return Err(ControlError::Gone);
                    }
                }
                () = &mut give_up, if !is_given_up => {
                    is_given_up = true;
                    // Closing our side signals this to the instance; its last line says how it ended.
                    let _ = writer.shutdown().await;
                    continue;
                }
            }
            match serde_json::from_slice(&line) {
                Ok(line @ (Line::Progress { .. } | Line::Rows(_))) => progress(line),
                Ok(Line::Done(summary)) => return Ok(summary),
                Ok(Line::Refused(reason)) => return Err(ControlError::Refused(reason)),
                Err(_) => return Err(ControlError::OtherVersion),
            }
            line.clear();
        }
    }
}
