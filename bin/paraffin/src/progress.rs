//! Shows how far a long import is: rate, time left, bytes left, disk needed.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use paraffin_bitcoin_index::BitcoinIndex;
use paraffin_chain::NodeClient;
use paraffin_indexer::{IndexState, IndexStatus, Progress};
use paraffin_store::Store;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::config::Config;
use crate::{disk, doctor};

/// Time between two lines in a log.
const LINE_EVERY: Duration = Duration::from_secs(30);
/// Time between two looks at the state.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// An import of fewer bytes than this is not worth a line.
const SHOWN_BYTES_MIN: u64 = 64 << 20;

/// Shows the progress until the task is aborted: a bar on a terminal, lines in the log elsewhere.
pub(crate) fn show(config: Config, store: Store, status: watch::Receiver<IndexStatus>) -> JoinHandle<()> {
    tokio::spawn(async move {
        let Some(chain_bytes) = chain_bytes(&config).await else { return };
        let started_with = tokio::task::spawn_blocking({
            let store = store.clone();
            move || BitcoinIndex::new(store.snapshot(), config.network).block_bytes().unwrap_or_default()
        })
        .await
        .unwrap_or_default();
        if chain_bytes.saturating_sub(started_with) < SHOWN_BYTES_MIN {
            return;
        }
        warn_about_disk(&config, &store, chain_bytes);
        watch_import(chain_bytes.saturating_sub(started_with), status).await;
    })
}

/// Bytes of the node's blocks; asks until the node answers.
async fn chain_bytes(config: &Config) -> Option<u64> {
    let client = NodeClient::new(config.node_config()).ok()?;
    loop {
        match client.chain_info().await {
            Ok(info) => return Some(info.size_on_disk),
            Err(error) if error.is_retryable() => tokio::time::sleep(Duration::from_secs(5)).await,
            Err(_) => return None,
        }
    }
}

fn warn_about_disk(config: &Config, store: &Store, chain_bytes: u64) {
    let folder = config.data_dir();
    let (tables, undo, journal) = store.disk_bytes();
    let needed = doctor::disk_needed(chain_bytes, config.raw_transactions()).saturating_sub(tables + undo + journal);
    let Ok(free) = disk::free_bytes(&folder) else { return };
    let (free_text, needed_text) = (disk::readable(free), disk::readable(needed));
    if free < needed {
        tracing::warn!(free = free_text, needed = needed_text, "the disk is likely too small for the whole index");
    } else {
        tracing::info!(free = free_text, needed = needed_text, "disk");
    }
}

async fn watch_import(bytes_total: u64, status: watch::Receiver<IndexStatus>) {
    let bar = std::io::stderr().is_terminal().then(|| {
        let style = ProgressStyle::with_template("{bar:30} {percent:>3}%  {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        ProgressBar::new(bytes_total).with_style(style)
    });
    let started = Instant::now();
    let mut last_line = Instant::now();
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let now = status.borrow().clone();
        if now.state != IndexState::Importing && now.state != IndexState::Starting {
            break;
        }
        let left = bytes_total.saturating_sub(now.bytes_applied);
        let progress = Progress::measure(now.blocks_applied, now.bytes_applied, started.elapsed(), left);
        let text = describe(&now, &progress);
        if let Some(bar) = &bar {
            bar.set_position(now.bytes_applied.min(bytes_total));
            bar.set_message(text);
        } else if last_line.elapsed() >= LINE_EVERY {
            last_line = Instant::now();
            tracing::info!("{text}");
        }
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
}

fn describe(status: &IndexStatus, progress: &Progress) -> String {
    let height = status.tip.map_or(0, |tip| tip.height);
    let target = status.target_height.map_or_else(|| "?".to_owned(), |target| target.to_string());
    let left = progress.time_left.map_or_else(|| "unknown".to_owned(), duration_text);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a rate for people to read
    let rate = disk::readable(progress.bytes_per_second.max(0.0) as u64);
    format!(
        "block {height} of {target}, {rate}/s, {:.0} blocks/s, {} left, about {left}",
        progress.blocks_per_second,
        disk::readable(progress.bytes_left)
    )
}

/// `59 s`, `10 min`, `26 h 01 min`.
pub(crate) fn duration_text(duration: Duration) -> String {
    let minutes = duration.as_secs() / 60;
    match minutes {
        0 => format!("{} s", duration.as_secs()),
        1..60 => format!("{minutes} min"),
        _ => format!("{} h {:02} min", minutes / 60, minutes % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_in_the_largest_fitting_unit() {
        assert_eq!(duration_text(Duration::from_secs(59)), "59 s");
        assert_eq!(duration_text(Duration::from_secs(600)), "10 min");
        assert_eq!(duration_text(Duration::from_secs(3_600 * 26 + 65)), "26 h 01 min");
    }
}
