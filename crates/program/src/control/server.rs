//! Server of the control socket, run by the instance.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Mutex, watch};
use tokio::task::{JoinHandle, JoinSet};

use super::socket_path::SocketPath;
use super::{ControlError, Line, NAME, Request};
use crate::rows_file::{self, ExportRequest, Origin};
use crate::snapshot::{self, Pace};

/// Longest request, in bytes.
const REQUEST_BYTES_MAX: u64 = 16 << 10;
/// A client must have sent its request within this time, and take each line within it.
const PATIENCE: Duration = Duration::from_secs(5);
/// Connections at the same time; further ones wait.
const CONNECTIONS_MAX: usize = 8;
/// Pause after the system refused a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The control socket of this process.
pub(crate) struct Control {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
    path: PathBuf,
}

impl Control {
    /// Listens in `data_dir`, whose store, that of `origin`, this process has open. An instance goes on without a control socket where there
    /// cannot be one.
    pub(crate) fn start(data_dir: &Path, origin: Origin) -> Option<Self> {
        let listener = match listen(data_dir) {
            Ok(listener) => listener,
            Err(error) => {
                tracing::warn!(%error, "no control socket: snapshots and rows can be exported only while this instance is stopped");
                return None;
            }
        };
        let (stop, stopping) = watch::channel(false);
        let task = tokio::spawn(serve(listener, origin, stopping));
        Some(Self { stop, task, path: data_dir.join(NAME) })
    }

    /// Cancels running requests, waits for their end and removes the socket.
    pub(crate) async fn stop(self) {
        self.stop.send_replace(true);
        let _ = self.task.await;
        // One that stays is replaced by the next start.
        let _ = std::fs::remove_file(self.path);
    }
}

/// Binds a socket that only its owner can connect to. This process holds the lock of the folder, so an existing socket is stale.
fn listen(data_dir: &Path) -> Result<UnixListener, ControlError> {
    let (path, new) = (data_dir.join(NAME), data_dir.join(format!("{NAME}.new")));
    let failed = |source| ControlError::Socket { path: path.clone(), source };
    match std::fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    let socket = SocketPath::of(data_dir, &format!("{NAME}.new"))?;
    let listener = UnixListener::bind(socket.path()).map_err(failed)?;
    std::fs::set_permissions(&new, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
    std::fs::rename(&new, &path).map_err(failed)?;
    Ok(listener)
}

async fn serve(listener: UnixListener, origin: Origin, mut stopping: watch::Receiver<bool>) {
    let exporting = Arc::new(Mutex::new(()));
    let mut connections = JoinSet::new();
    let stops = stopping.clone();
    loop {
        tokio::select! {
            () = stopped(&mut stopping) => break,
            accepted = listener.accept(), if connections.len() < CONNECTIONS_MAX => match accepted {
                Ok((stream, _)) => {
                    let (origin, exporting) = (origin.clone(), Arc::clone(&exporting));
                    let work = Work { origin, exporting, stopping: stops.clone() };
                    connections.spawn(work.serve(stream));
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection of the control socket could not be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
        }
    }
    while connections.join_next().await.is_some() {}
}

/// State of one connection.
struct Work {
    origin: Origin,
    /// Held by the one export that may run.
    exporting: Arc<Mutex<()>>,
    stopping: watch::Receiver<bool>,
}

impl Work {
    async fn serve(mut self, stream: UnixStream) {
        if !is_owner(&stream) {
            return;
        }
        let (reader, mut writer) = stream.into_split();
        let mut reader = BufReader::new(reader.take(REQUEST_BYTES_MAX));
        let mut line = Vec::new();
        tokio::select! {
            read = tokio::time::timeout(PATIENCE, reader.read_until(b'\n', &mut line)) => {
                if !matches!(read, Ok(Ok(_))) {
                    return;
                }
            }
            () = stopped(&mut self.stopping) => return,
        }
        let last = match serde_json::from_slice(&line) {
            Ok(Request::SnapshotExport { file, bytes_per_second }) => {
                self.export(&file, Pace::of(bytes_per_second), reader.into_inner().into_inner(), &mut writer).await
            }
            Ok(Request::Export(request)) => {
                self.export_rows(request, reader.into_inner().into_inner(), &mut writer).await
            }
            Err(error) => Line::Refused(format!("this is no request: {error}")),
        };
        let _ = say(&mut writer, &last).await;
    }

    /// Writes a snapshot.
    async fn export(&mut self, file: &Path, pace: Pace, reader: OwnedReadHalf, writer: &mut OwnedWriteHalf) -> Line {
        let Ok(_held) = Arc::clone(&self.exporting).try_lock_owned() else {
            return Line::Refused("another snapshot is being written: try again when it is done".to_owned());
        };
        if !file.is_absolute() {
            return Line::Refused("the file must be an absolute path".to_owned());
        }
        tracing::info!(file = %file.display(), "a snapshot is being written; indexing and answers go on");
        let (store, path) = (self.origin.store.clone(), file.to_owned());
        let work = move |given_up: &AtomicBool, progress: &watch::Sender<Option<Line>>| {
            snapshot::write(&store, &path, pace, given_up, &mut |now| {
                progress.send_replace(Some(Line::from(now)));
            })
        };
        match self.watched(work, reader, writer).await {
            Some((Ok(summary), _)) => {
                tracing::info!(file = %file.display(), tip = %summary.tip.id, bytes = summary.bytes, "the snapshot is written");
                Line::Done(snapshot::summary(&summary))
            }
            Some((Err(error), is_stopping)) => {
                tracing::warn!(file = %file.display(), %error, "no snapshot was written");
                refused(&error, is_stopping)
            }
            None => Line::Refused("the export failed: see the log of the instance".to_owned()),
        }
    }

    /// Writes rows.
    async fn export_rows(
        &mut self,
        request: ExportRequest,
        reader: OwnedReadHalf,
        writer: &mut OwnedWriteHalf,
    ) -> Line {
        let Ok(_held) = Arc::clone(&self.exporting).try_lock_owned() else {
            return Line::Refused("another export is being written: try again when it is done".to_owned());
        };
        if !request.file.is_absolute() {
            return Line::Refused("the file must be an absolute path".to_owned());
        }
        let (origin, file) = (self.origin.clone(), request.file.clone());
        tracing::info!(file = %file.display(), "rows are being exported; indexing and answers go on");
        let work = move |given_up: &AtomicBool, progress: &watch::Sender<Option<Line>>| {
            rows_file::write(&origin, &request, given_up, &mut |now| {
                progress.send_replace(Some(Line::Rows(now)));
            })
        };
        match self.watched(work, reader, writer).await {
            Some((Ok(summary), _)) => {
                tracing::info!(file = %file.display(), "the rows are exported");
                Line::Done(summary)
            }
            Some((Err(error), is_stopping)) => {
                tracing::warn!(file = %file.display(), %error, "no rows were exported");
                refused(&error, is_stopping)
            }
            None => Line::Refused("the export failed: see the log of the instance".to_owned()),
        }
    }

    /// Does work on a thread of its own and reports how far it is; it gives up when the client hangs up or the instance is stopped. What came
    /// of it, and whether the instance is being stopped; `None` when the work panicked.
    async fn watched<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&AtomicBool, &watch::Sender<Option<Line>>) -> T + Send + 'static,
        mut reader: OwnedReadHalf,
        writer: &mut OwnedWriteHalf,
    ) -> Option<(T, bool)> {
        let given_up = Arc::new(AtomicBool::new(false));
        let (progress, mut progressed) = watch::channel(None);
        let flag = Arc::clone(&given_up);
        let mut working = tokio::task::spawn_blocking(move || work(&flag, &progress));
        let give_up = || given_up.store(true, Ordering::Relaxed);
        let (mut is_heard, mut is_stopping) = (true, false);
        let mut byte = [0];
        loop {
            tokio::select! {
                done = &mut working => return done.ok().map(|done| (done, is_stopping)),
                // A client has nothing more to say: it has hung up.
                _ = reader.read(&mut byte), if is_heard => {
                    is_heard = false;
                    give_up();
                }
                () = stopped(&mut self.stopping), if !is_stopping => {
                    is_stopping = true;
                    give_up();
                }
                Ok(()) = progressed.changed() => {
                    let now = progressed.borrow_and_update().clone();
                    if let (Some(now), true) = (now, is_heard)
                        && say(writer, &now).await.is_err()
                    {
                        is_heard = false;
                        give_up();
                    }
                }
            }
        }
    }
}

fn refused(error: &impl std::fmt::Display, is_stopping: bool) -> Line {
    let why = if is_stopping { ": the instance is being stopped" } else { "" };
    Line::Refused(format!("{error}{why}"))
}

async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // A sender that is gone means the same.
    let _ = stopping.wait_for(|stopping| *stopping).await;
}

/// The rights of the socket say so already; for a moment after it was made they do not.
fn is_owner(stream: &UnixStream) -> bool {
    let owner = rustix::process::geteuid().as_raw();
    stream.peer_cred().is_ok_and(|peer| peer.uid() == owner || peer.uid() == 0)
}

async fn say(writer: &mut OwnedWriteHalf, line: &Line) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    tokio::time::timeout(PATIENCE, writer.write_all(&text)).await.map_err(|_| io::ErrorKind::TimedOut)?
}
