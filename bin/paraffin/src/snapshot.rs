//! `paraffin snapshot`: the index as one file, to start another instance from.

use std::io::IsTerminal as _;
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use paraffin_indexer::Progress;
use paraffin_store::snapshot_file::{self, SnapshotFileError, SnapshotProgress, SnapshotSummary};
use serde_json::json;

use crate::config::Config;
use crate::index::hex;
use crate::instance::{self, InstanceError};
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

/// Writes the index of the instance into the new file `path`.
///
/// # Errors
/// See [`SnapshotError`]; a running instance keeps its store locked, so it has to be stopped.
pub(crate) fn export(config: &Config, path: &Path) -> Result<(), SnapshotError> {
    // Opening would create a store where there is none.
    if !config.data_dir().join("store").exists() {
        return Err(SnapshotFileError::Empty.into());
    }
    let store = instance::open_store(config)?;
    let (tables, undo, _) = store.disk_bytes();
    // What is compressed on the disk is not in the file, which leaves out what keys share; the two are close.
    require_space(path.parent().unwrap_or(Path::new(".")), tables + undo)?;
    let mut shown = Shown::new("written");
    let summary = snapshot_file::export(&store, path, &mut |progress| shown.show(progress))?;
    shown.finish();
    print(&summary);
    Ok(())
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
    print(&imported.keep()?);
    Ok(())
}

/// Refuses early what would fail after hours.
fn require_space(folder: &Path, needed: u64) -> Result<(), SnapshotError> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    // A system that does not tell gets the benefit of the doubt; a full disk is an error of its own later.
    match disk::free_bytes(folder) {
        Ok(free) if free < needed => {
            Err(SnapshotError::DiskTooSmall { folder: folder.display().to_string(), free, needed })
        }
        _ => Ok(()),
    }
}

/// One line of JSON, the figures that two instances compare.
fn print(summary: &SnapshotSummary) {
    println!(
        "{}",
        json!({
            "height": summary.tip.id.height,
            "hash": summary.tip.id.hash.to_string(),
            "digest": hex(&summary.tip.digest),
            "cumulative": hex(&summary.tip.cumulative),
            "content": hex(&summary.content),
            "rows": summary.rows,
            "bytes": summary.bytes,
        })
    );
}

/// A bar on a terminal, lines in the log elsewhere.
struct Shown {
    verb: &'static str,
    started: Instant,
    last_line: Instant,
    bar: Option<ProgressBar>,
}

impl Shown {
    /// Time between two lines in a log.
    const LINE_EVERY: Duration = Duration::from_secs(10);

    fn new(verb: &'static str) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:30} {percent:>3}%  {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(0).with_style(style)
        });
        Self { verb, started: Instant::now(), last_line: Instant::now(), bar }
    }

    fn show(&mut self, now: SnapshotProgress) {
        // Frames come many times a second; a bar that moves ten times a second is enough.
        if self.last_line.elapsed() < self.bar.as_ref().map_or(Self::LINE_EVERY, |_| Duration::from_millis(100)) {
            return;
        }
        self.last_line = Instant::now();
        let text = describe(self.verb, now, self.started.elapsed());
        match &self.bar {
            Some(bar) => {
                bar.set_length(now.bytes_total.max(now.bytes));
                bar.set_position(now.bytes);
                bar.set_message(text);
            }
            None => tracing::info!("{text}"),
        }
    }

    fn finish(&self) {
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
    fn progress_tells_bytes_rate_and_time_left() {
        let now = SnapshotProgress { bytes: 10 << 20, bytes_total: 110 << 20, rows: 5 };
        let text = describe("read", now, Duration::from_secs(1));
        assert_eq!(text, "10.0 MiB read, 10.0 MiB/s, 100.0 MiB left, about 10 s");
    }
}
