//! `paraffin snapshot`: the index as one file, to start another instance from.

use data_encoding::HEXLOWER;
use std::io::IsTerminal as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use paraffin_indexer::Progress;
use paraffin_store::snapshot_file::{self, SnapshotFileError, SnapshotProgress, SnapshotSummary};
use paraffin_store::{Store, StoreError};
use serde_json::{Value, json};

use crate::config::Config;
use crate::control::{self, ControlError};
use crate::instance::{self, InstanceError, shutdown_signal};
use crate::{disk, progress};

/// A snapshot cannot be made or used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SnapshotError {
    /// The file or the store.
    #[error(transparent)]
    File(#[from] SnapshotFileError),
    /// The instance.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// The running instance.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// The absolute path of the file cannot be determined.
    #[error("{path}: {source}", path = .path.display())]
    Path {
        /// As it was given.
        path: PathBuf,
        /// The I/O error.
        source: std::io::Error,
    },
    /// A process has the store and takes no requests.
    #[error(
        "{0}. That process takes no requests on its control socket (a reindex, an import or another program version does not): wait for its end"
    )]
    Locked(StoreError),
    /// No signal handler.
    #[error("no signal handler: {0}")]
    Signal(std::io::Error),
    /// The thread that writes is gone.
    #[error("the export ended without a result")]
    ThreadEnded,
    /// The disk would not hold it.
    #[error(
        "{folder} has {free} free and this needs about {needed}: free space, or give another place",
        free = disk::readable(*free),
        needed = disk::readable(*needed)
    )]
    DiskTooSmall {
        /// Where it would be written.
        folder: String,
        /// Bytes free.
        free: u64,
        /// Bytes needed.
        needed: u64,
    },
}

/// How quickly a snapshot may be written, so that the disk has time for the instance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace(Option<u64>);

impl Pace {
    /// Pause between two looks whether the export is given up.
    const LOOK_EVERY: Duration = Duration::from_millis(50);

    /// At most so many bytes in a second; `None`: as quickly as it goes.
    pub(crate) fn of(bytes_per_second: Option<u64>) -> Self {
        Self(bytes_per_second.map(|bytes| bytes.max(1)))
    }

    /// Waits until `bytes` may have been written since `started`, or until `given_up`.
    fn keep(self, bytes: u64, started: Instant, given_up: &AtomicBool) {
        let Some(rate) = self.0 else { return };
        let due =
            Duration::from_millis((u128::from(bytes) * 1_000 / u128::from(rate)).min(u128::from(u64::MAX)) as u64);
        while !given_up.load(Ordering::Relaxed) {
            let left = due.saturating_sub(started.elapsed());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(Self::LOOK_EVERY));
        }
    }
}

/// Writes what `store` holds now into the new file `path`, on the calling thread, while others go on with the store.
///
/// # Errors
/// The disk is too small, or see [`SnapshotFileError`]; after `given_up` turned true, [`SnapshotFileError::GivenUp`]. Then
/// nothing is left of the file.
pub(crate) fn write(
    store: &Store,
    path: &Path,
    pace: Pace,
    given_up: &AtomicBool,
    progress: &mut dyn FnMut(SnapshotProgress),
) -> Result<SnapshotSummary, SnapshotError> {
    let (tables, undo, _) = store.disk_bytes();
    // Tables are compressed on the disk, the file omits shared prefixes of keys; the sizes are close.
    require_space(path.parent().unwrap_or(Path::new(".")), tables + undo)?;
    let started = Instant::now();
    let summary = snapshot_file::export(store, path, &mut |now| {
        progress(now);
        pace.keep(now.bytes, started, given_up);
        if given_up.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(summary)
}

/// Writes the index of the instance into the new file `path`. A running instance is asked to do it and goes on meanwhile.
///
/// # Errors
/// See [`SnapshotError`]; then nothing is left of the file. After `SIGINT` or `SIGTERM` as well.
pub(crate) async fn export(config: &Config, path: &Path, bytes_per_second: Option<u64>) -> Result<(), SnapshotError> {
    let shutdown = shutdown_signal().map_err(SnapshotError::Signal)?;
    let path = std::path::absolute(path).map_err(|source| SnapshotError::Path { path: path.to_owned(), source })?;
    let mut shown = Shown::new("written");
    let result = if let Some(running) = control::find(&config.data_dir()).await? {
        tracing::info!("the running instance writes the snapshot");
        running.export(&path, bytes_per_second, &mut |now| shown.show(now), shutdown).await
    } else {
        let (written, still_shown) = export_stopped(config, path, Pace::of(bytes_per_second), shown, shutdown).await?;
        shown = still_shown;
        Ok(summary(&written))
    };
    shown.finish();
    println!("{}", result?);
    Ok(())
}

/// As [`export`], while no instance runs.
async fn export_stopped(
    config: &Config,
    path: PathBuf,
    pace: Pace,
    mut shown: Shown,
    shutdown: impl Future<Output = ()>,
) -> Result<(SnapshotSummary, Shown), SnapshotError> {
    // Opening would create a store where there is none.
    if !config.data_dir().join("store").exists() {
        return Err(SnapshotFileError::Empty.into());
    }
    let store = instance::open_store(config).map_err(|error| match error {
        InstanceError::Store(locked @ StoreError::Locked { .. }) => SnapshotError::Locked(locked),
        other => other.into(),
    })?;
    let given_up = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&given_up);
    let mut writing = tokio::task::spawn_blocking(move || {
        let written = write(&store, &path, pace, &flag, &mut |now| shown.show(now))?;
        Ok((written, shown))
    });
    tokio::select! {
        written = &mut writing => return written.map_err(|_| SnapshotError::ThreadEnded)?,
        () = shutdown => given_up.store(true, Ordering::Relaxed),
    }
    writing.await.map_err(|_| SnapshotError::ThreadEnded)?
}

/// Makes the store of the instance from the file `path`.
///
/// # Errors
/// See [`SnapshotError`]; then the data folder is as it was.
pub(crate) fn import(config: &Config, path: &Path) -> Result<(), SnapshotError> {
    let data_dir = config.data_dir();
    instance::create_folder(&data_dir)?;
    let len = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    require_space(&data_dir, len)?;
    let options = instance::store_options(config);
    let mut shown = Shown::new("read");
    let imported =
        snapshot_file::import(path, &data_dir.join("store"), &options, &instance::schemas(config), &mut |progress| {
            shown.show(progress);
        })?;
    shown.finish();
    // A snapshot that lives on would keep the folder locked.
    let checked = instance::check_settings(config, &imported.snapshot());
    if let Err(error) = checked {
        imported.discard()?;
        return Err(error.into());
    }
    println!("{}", summary(&imported.keep()?));
    Ok(())
}

/// Refuses early what would fail after hours.
fn require_space(folder: &Path, needed: u64) -> Result<(), SnapshotError> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    // A system that does not report its free space gets the benefit of the doubt; a full disk is an error of its own later.
    match disk::free_bytes(folder) {
        Ok(free) if free < needed => {
            Err(SnapshotError::DiskTooSmall { folder: folder.display().to_string(), free, needed })
        }
        _ => Ok(()),
    }
}

/// The figures that two instances compare.
pub(crate) fn summary(summary: &SnapshotSummary) -> Value {
    json!({
        "height": summary.tip.id.height,
        "hash": summary.tip.id.hash.to_string(),
        "digest": HEXLOWER.encode(&summary.tip.digest),
        "cumulative": HEXLOWER.encode(&summary.tip.cumulative),
        "content": HEXLOWER.encode(&summary.content),
        "rows": summary.rows,
        "bytes": summary.bytes,
    })
}

/// A bar on a terminal, lines in the log elsewhere.
pub(crate) struct Shown {
    verb: &'static str,
    started: Instant,
    last_line: Instant,
    bar: Option<ProgressBar>,
}

impl Shown {
    /// Time between two lines in a log.
    const LINE_EVERY: Duration = Duration::from_secs(10);

    pub(crate) fn new(verb: &'static str) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:30} {percent:>3}%  {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(0).with_style(style)
        });
        Self { verb, started: Instant::now(), last_line: Instant::now(), bar }
    }

    fn show(&mut self, now: SnapshotProgress) {
        let (verb, elapsed) = (self.verb, self.started.elapsed());
        self.update(now.bytes, now.bytes_total, || describe(verb, now, elapsed));
    }

    /// Shows that so much of a total is done, in these words.
    pub(crate) fn update(&mut self, done: u64, total: u64, text: impl FnOnce() -> String) {
        // Reports come many times a second; a bar that moves ten times a second is enough.
        if self.last_line.elapsed() < self.bar.as_ref().map_or(Self::LINE_EVERY, |_| Duration::from_millis(100)) {
            return;
        }
        self.last_line = Instant::now();
        let text = text();
        match &self.bar {
            Some(bar) => {
                bar.set_length(total.max(done));
                bar.set_position(done);
                bar.set_message(text);
            }
            None => tracing::info!("{text}"),
        }
    }

    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn describe(verb: &str, now: SnapshotProgress, elapsed: Duration) -> String {
    let left = now.bytes_total.saturating_sub(now.bytes);
    let progress = Progress::measure(now.rows, now.bytes, elapsed, left);
    let time = progress.time_left.map_or_else(|| "unknown".to_owned(), progress::duration_text);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a rate for people to read
    let rate = disk::readable(progress.bytes_per_second.max(0.0) as u64);
    format!("{} {verb}, {rate}/s, {} left, about {time}", disk::readable(now.bytes), disk::readable(left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_is_kept_until_the_export_is_given_up() {
        let given_up = AtomicBool::new(false);
        let started = Instant::now();
        Pace::of(None).keep(u64::MAX, started, &given_up);
        Pace::of(Some(1 << 20)).keep(0, started, &given_up);
        assert!(started.elapsed() < Duration::from_secs(1));
        Pace::of(Some(10_000)).keep(2_000, started, &given_up);
        assert!(started.elapsed() >= Duration::from_millis(200));
        given_up.store(true, Ordering::Relaxed);
        Pace::of(Some(0)).keep(u64::MAX, started, &given_up);
    }

    #[test]
    fn a_disk_that_is_too_small_is_reported_before_anything_is_written() {
        let folder = tempfile::tempdir().unwrap();
        assert!(require_space(folder.path(), 1).is_ok());
        let Err(error) = require_space(folder.path(), u64::MAX) else { panic!("there is no such disk") };
        assert!(error.to_string().contains("this needs about 16384.0 PiB: free space"), "{error}");
    }

    #[test]
    fn progress_shows_bytes_rate_and_time_left() {
        let now = SnapshotProgress { bytes: 10 << 20, bytes_total: 110 << 20, rows: 5 };
        let text = describe("read", now, Duration::from_secs(1));
        assert_eq!(text, "10.0 MiB read, 10.0 MiB/s, 100.0 MiB left, about 10 s");
    }
}
