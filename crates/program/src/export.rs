//! `paraffin export`: swaps, candles, transfers and balances of the index as Parquet files (docs/export.md).
//!
//! A running instance has the store and writes the file itself; of a stopped one the command does. Both need a program with the feature
//! `parquet`.

mod arguments;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use paraffin_store::StoreError;
use serde_json::Value;

pub(crate) use self::arguments::ExportArguments;
use crate::config::{Config, LogSection};
use crate::control::{self, ControlError};
use crate::instance::{self, InstanceError, shutdown_signal};
use crate::log;
use crate::rows_file::{ExportRequest, Origin, RowsProgress, WriteError, write};
use crate::snapshot::Shown;

/// No file was written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExportError {
    /// The rows or the file.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The instance.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// The running instance.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// The file's path cannot be completed.
    #[error("{path}: {source}", path = .path.display())]
    Path {
        /// As it was given.
        path: PathBuf,
        /// The I/O error.
        source: std::io::Error,
    },
    /// A data folder says too little of a stopped instance.
    #[error("no instance runs on {0}: start it, or give its configuration with --config")]
    NotRunning(PathBuf),
    /// There is no index.
    #[error("there is no index in {0}")]
    NoIndex(PathBuf),
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
}

/// Writes the file and prints what it holds.
///
/// # Errors
/// See [`ExportError`]; then nothing is left of the file. After `SIGINT` or `SIGTERM` as well.
pub(crate) async fn run(arguments: ExportArguments, version: &'static str) -> Result<(), Box<dyn std::error::Error>> {
    let (mut request, source) = arguments.request();
    let file = source.config.filter(|_| source.data_dir.is_none());
    let config = file.as_deref().map(Config::load).transpose()?;
    let log = config.as_ref().map_or_else(LogSection::default, |config| config.log.clone());
    let _log = log::start(&log)?;
    let folder = match (&config, source.data_dir) {
        (Some(config), _) => config.data_dir(),
        (None, folder) => folder.unwrap_or_default(),
    };
    let shutdown = shutdown_signal().map_err(ExportError::Signal)?;
    request.file = std::path::absolute(&request.file)
        .map_err(|source| ExportError::Path { path: request.file.clone(), source })?;
    let mut shown = Shown::new("exported");
    let written = if let Some(running) = control::find(&folder).await? {
        tracing::info!("the running instance writes the file");
        running.export_rows(request, &mut |now| show(&mut shown, now), shutdown).await.map_err(ExportError::from)
    } else {
        match config {
            Some(config) => export_stopped(&config, request, version, &mut shown, shutdown).await,
            None => Err(ExportError::NotRunning(folder)),
        }
    };
    shown.finish();
    println!("{}", written?);
    Ok(())
}

/// Writes the file while no instance runs.
async fn export_stopped(
    config: &Config,
    request: ExportRequest,
    version: &'static str,
    shown: &mut Shown,
    shutdown: impl Future<Output = ()>,
) -> Result<Value, ExportError> {
    // Opening would create a store where there is none.
    if !config.data_dir().join("store").exists() {
        return Err(ExportError::NoIndex(config.data_dir()));
    }
    let store = instance::open_store(config).map_err(|error| match error {
        InstanceError::Store(locked @ StoreError::Locked { .. }) => ExportError::Locked(locked),
        other => other.into(),
    })?;
    let origin = Origin { store, network: config.network, version };
    let given_up = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&given_up);
    let (progress, mut progressed) = tokio::sync::watch::channel(None);
    let mut writing = tokio::task::spawn_blocking(move || {
        write(&origin, &request, &flag, &mut |now| {
            progress.send_replace(Some(now));
        })
    });
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        tokio::select! {
            written = &mut writing => return Ok(written.map_err(|_| ExportError::ThreadEnded)??),
            () = &mut shutdown, if !given_up.load(Ordering::Relaxed) => given_up.store(true, Ordering::Relaxed),
            Ok(()) = progressed.changed() => {
                if let Some(now) = *progressed.borrow_and_update() {
                    show(shown, now);
                }
            }
        }
    }
}

fn show(shown: &mut Shown, now: RowsProgress) {
    let RowsProgress { done, total, rows } = now;
    let percent = done.saturating_mul(100).checked_div(total).unwrap_or(0);
    shown.update(done, total, || format!("{percent}% exported, {rows} rows"));
}
