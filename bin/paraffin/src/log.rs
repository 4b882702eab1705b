//! Structured logs on standard error.

use tracing_subscriber::EnvFilter;

use crate::config::{LogFormat, LogSection};

/// Has a panic tell where it happened and nothing else: its message may hold what a caller sent, a key included.
pub(crate) fn hush_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = place(panic);
        if tracing::event_enabled!(tracing::Level::ERROR) {
            tracing::error!(place, "the program has a defect: a panic");
        } else {
            eprintln!("paraffin: the program has a defect: a panic at {place}");
        }
    }));
}

fn place(panic: &std::panic::PanicHookInfo<'_>) -> String {
    panic.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string)
}

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

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    #[test]
    fn a_panic_tells_its_place_and_not_what_it_says() {
        let told = Arc::new(Mutex::new(String::new()));
        let heard = Arc::clone(&told);
        std::panic::set_hook(Box::new(move |panic| *heard.lock().unwrap() = super::place(panic)));
        let key = "0123456789abcdef0123456789abcdef";
        assert!(std::panic::catch_unwind(|| panic!("no such key: {key}")).is_err());
        let _ = std::panic::take_hook();
        let told = told.lock().unwrap();
        assert!(told.contains("log.rs:") && !told.contains(&key[4..]), "{told}");
    }
}
