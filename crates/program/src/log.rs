//! Structured logs on standard error.

use std::sync::OnceLock;
use std::time::Duration;

use paraffin_gateway::{LogForm, LogThread, LogWriter};
use tracing::Level;
use tracing_subscriber::filter::{LevelFilter, ParseError, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::config::{LogFormat, LogSection};

/// Has a panic report where it happened and nothing else: its message may hold what a caller sent, a key included.
pub(crate) fn hush_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let location = location(panic);
        if tracing::event_enabled!(tracing::Level::ERROR) {
            tracing::error!(place = location, "the program has a defect: a panic");
        } else {
            eprintln!("paraffin: the program has a defect: a panic at {location}");
        }
    }));
}

fn location(panic: &std::panic::PanicHookInfo<'_>) -> String {
    panic.location().map_or_else(|| "an unknown location".to_owned(), ToString::to_string)
}

/// How often lines that were dropped are reported.
const REPORT_EVERY: Duration = Duration::from_secs(10);

/// Where lines about requests go, once the log has been started with a filter that lets them through.
static REQUESTS: OnceLock<LogWriter> = OnceLock::new();

/// Where lines about requests go, if anywhere.
pub(crate) fn of_requests() -> Option<LogWriter> {
    REQUESTS.get().cloned()
}

/// Starts the log; a bad filter falls back to `info` and says so. Lines are written until what it returns is dropped.
///
/// Lines are written by a thread of their own, many with one system call: a terminal, pipe or disk that is slow holds up no
/// request. Must be called within the runtime.
///
/// # Errors
/// The system gives no thread.
pub(crate) fn start(section: &LogSection) -> std::io::Result<LogThread> {
    let (filter, complaint) = match filter(&section.filter) {
        Ok(filter) => (filter, None),
        Err(error) => (Targets::new().with_default(LevelFilter::INFO), Some(error)),
    };
    let is_json = section.format == LogFormat::Json;
    let is_colored = !is_json && std::io::IsTerminal::is_terminal(&std::io::stderr());
    let has_connection = filter.would_enable("paraffin_gateway::server", &Level::ERROR);
    let form = LogForm { is_json, is_colored, has_connection };
    let has_requests = filter.would_enable("paraffin::access", &Level::INFO);
    let thread = LogThread::start(form, std::io::stderr())?;
    let writer = thread.writer();
    if has_requests {
        // The log of a process is started once.
        let _ = REQUESTS.set(writer.clone());
    }
    let each_line = writer.clone();
    let lines = tracing_subscriber::fmt::layer().with_writer(move || each_line.clone()).with_target(false);
    let log = tracing_subscriber::registry().with(filter);
    match section.format {
        LogFormat::Text => log.with(lines.with_ansi(is_colored)).init(),
        LogFormat::Json => log.with(lines.json()).init(),
    }
    if let Some(error) = complaint {
        tracing::warn!(%error, "[log] filter cannot be read; using info");
    }
    tokio::spawn(async move {
        let mut reported = 0;
        loop {
            tokio::time::sleep(REPORT_EVERY).await;
            let lines = writer.dropped_lines();
            if lines > reported {
                tracing::warn!(
                    lines = lines - reported,
                    "log lines were dropped: standard error does not take them quickly enough"
                );
                reported = lines;
            }
        }
    });
    Ok(thread)
}

/// Levels, alone or after the beginning of a target and `=`, with commas between.
fn filter(text: &str) -> Result<Targets, ParseError> {
    // An empty part would be a level of its own, `error`.
    let parts: Vec<&str> = text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    parts.join(",").parse()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[test]
    fn a_filter_is_levels_by_the_beginning_of_targets() {
        let shipped = filter(&LogSection::default().filter).unwrap();
        assert!(shipped.would_enable("paraffin_gateway::server", &Level::INFO));
        assert!(!shipped.would_enable("paraffin_gateway::server", &Level::DEBUG));
        assert!(!shipped.would_enable("fjall::journal", &Level::INFO));
        assert!(!shipped.would_enable("async_nats", &Level::ERROR));
        let spaced = filter("WARN, paraffin_chain=debug,").unwrap();
        assert!(spaced.would_enable("paraffin_chain::p2p", &Level::DEBUG));
        assert!(spaced.would_enable("hyper", &Level::WARN) && !spaced.would_enable("hyper", &Level::INFO));
        assert!(filter("info,paraffin_chain=loud").is_err());
    }

    #[test]
    fn a_panic_tells_its_place_and_not_what_it_says() {
        let logged = Arc::new(Mutex::new(String::new()));
        let heard = Arc::clone(&logged);
        std::panic::set_hook(Box::new(move |panic| *heard.lock().unwrap() = super::location(panic)));
        let key = "0123456789abcdef0123456789abcdef";
        assert!(std::panic::catch_unwind(|| panic!("no such key: {key}")).is_err());
        let _ = std::panic::take_hook();
        let logged = logged.lock().unwrap();
        assert!(logged.contains("log.rs:") && !logged.contains(&key[4..]), "{logged}");
    }
}
