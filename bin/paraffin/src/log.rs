//! Structured logs on standard error.

use tracing_subscriber::EnvFilter;

use crate::config::{LogFormat, LogSection};

/// Starts the log; a bad filter falls back to `info` and says so.
pub(crate) fn start(section: &LogSection) {
    let (filter, complaint) = match EnvFilter::try_new(&section.filter) {
        Ok(filter) => (filter, None),
        Err(error) => (EnvFilter::new("info"), Some(error)),
    };
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    match section.format {
        LogFormat::Text => lines.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).init(),
        LogFormat::Json => lines.json().init(),
    }
    if let Some(error) = complaint {
        tracing::warn!(%error, "[log] filter cannot be read; using info");
    }
}
