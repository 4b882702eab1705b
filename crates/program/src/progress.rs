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
use crate::import_time::ImportTime;
use crate::{disk, instance};

/// Time between two looks at the state.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// An index that is fewer blocks behind (about a day) is not being imported.
const IMPORTED_BLOCKS_MIN: u32 = 144;
/// A bar for fewer bytes than this would only flicker.
const BAR_BYTES_MIN: u64 = 64 << 20;

/// Prints what disk an import will need, then shows its progress until the task is aborted: a bar on a terminal, lines in the
/// log elsewhere.
pub(crate) fn show(config: &Config, store: &Store, status: watch::Receiver<IndexStatus>) -> JoinHandle<()> {
    let config = config.clone();
    // What is there before the import goes on.
    let snapshot = store.snapshot();
    let (tables, undo, journal) = store.disk_bytes();
    tokio::spawn(async move {
        let Some((chain_bytes, height)) = chain(&config).await else { return };
        let blocks = height.saturating_add(1);
        let indexed = snapshot.tip().map_or(0, |tip| tip.id.height.saturating_add(1));
        if blocks.saturating_sub(indexed) < IMPORTED_BLOCKS_MIN {
            return;
        }
        // No other error of a disk comes before this one: the message is worth its own line.
        if let Ok(free) = disk::free_bytes(&config.data_dir()) {
            match instance::disk_need(&config, chain_bytes, blocks).say(tables + undo + journal, free) {
                Ok(text) => tracing::info!("{text}"),
                Err(text) => tracing::warn!("{text}"),
            }
        }
        let network = config.network;
        let started_with =
            tokio::task::spawn_blocking(move || BitcoinIndex::new(snapshot, network).block_bytes().unwrap_or_default())
                .await
                .unwrap_or_default();
        let line_every = Duration::from_secs(config.log.progress_seconds);
        watch_import(ImportTime::of(network, chain_bytes), (started_with, chain_bytes), line_every, status).await;
    })
}

/// Bytes of the node's blocks and the height of the last one; asks until the node answers.
async fn chain(config: &Config) -> Option<(u64, u32)> {
    let client = NodeClient::new(config.node_config()).ok()?;
    loop {
        match client.chain_info().await {
            Ok(info) => return Some((info.size_on_disk, info.blocks)),
            Err(error) if error.is_retryable() => tokio::time::sleep(Duration::from_secs(5)).await,
            Err(_) => return None,
        }
    }
}

async fn watch_import(
    time: ImportTime,
    (started_with, chain_bytes): (u64, u64),
    line_every: Duration,
    status: watch::Receiver<IndexStatus>,
) {
    let bytes_total = chain_bytes.saturating_sub(started_with);
    let is_bar = std::io::stderr().is_terminal() && bytes_total >= BAR_BYTES_MIN;
    let bar = is_bar.then(|| {
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
        let elapsed = started.elapsed();
        let progress = Progress {
            time_left: time.left(started_with, now.bytes_applied, elapsed),
            ..Progress::measure(now.blocks_applied, now.bytes_applied, elapsed, left)
        };
        let text = describe(&now, &progress);
        if let Some(bar) = &bar {
            bar.set_position(now.bytes_applied.min(bytes_total));
            bar.set_message(text);
        } else if last_line.elapsed() >= line_every {
            last_line = Instant::now();
            tracing::info!("{text}");
        }
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
}

fn describe(status: &IndexStatus, progress: &Progress) -> String {
    let height = status.applied.or(status.tip).map_or(0, |block| block.height);
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
