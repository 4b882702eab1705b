//! The running feeds: the handle that the rest of the program holds.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::{Mutex, watch};
use tokio::task::JoinHandle;

use crate::adapters;
use crate::board::Board;
use crate::clock::Clock;
use crate::config::{Checked, ForexConfig, Way};
use crate::error::{FeedError, ForexError};
use crate::history;
use crate::poller::{Poller, QuoteLog};
use crate::sheet::AHEAD_MAX;
use crate::web::{Validators, Web};

/// All sources with a task each, and their quotes in a folder. Dropping it stops them as well, without waiting.
pub struct ForexFeed {
    board: Arc<Board>,
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
    quote_log: Option<Arc<QuoteLog>>,
}

impl ForexFeed {
    /// Reads the quotes of earlier runs from `folder` and begins to poll the sources. An unavailable source delays its rates and
    /// nothing else. Where there is nothing but the sample, no folder is made and no task runs. Must be called within an async runtime.
    ///
    /// # Errors
    /// A setting cannot be used, another process uses the folder, or the disk refuses.
    pub fn start(config: &ForexConfig, folder: &Path, clock: &Clock) -> Result<Self, ForexError> {
        let sources = config.checked()?;
        let names = sources.iter().map(|source| (source.name.clone(), source.kind));
        let board = Arc::new(Board::new(config.rules(), names));
        let (stop, stopping) = watch::channel(false);
        let mut feed = Self { board: Arc::clone(&board), stop, tasks: Vec::new(), quote_log: None };
        let (samples, polled): (Vec<_>, Vec<_>) =
            sources.into_iter().enumerate().partition(|(_, source)| matches!(source.way, Way::Sample));
        for (source_index, _) in samples {
            take_sample(&board, source_index, clock());
        }
        if !polled.is_empty() {
            feed.begin(polled, config, folder, clock, &stopping)?;
        }
        Ok(feed)
    }

    fn begin(
        &mut self,
        polled: Vec<(usize, Checked)>,
        config: &ForexConfig,
        folder: &Path,
        clock: &Clock,
        stopping: &watch::Receiver<bool>,
    ) -> Result<(), ForexError> {
        let now = clock();
        let (log, loaded) = history::open(folder, now)?;
        for (name, mut quotes) in loaded {
            // A rate written while the clock was wrong must not block all later ones.
            quotes.retain(|quote| quote.time <= now.saturating_add(AHEAD_MAX));
            self.board.restore(&name, quotes);
        }
        let quote_log = Arc::new(QuoteLog { log, is_writable: Arc::new(Mutex::new(true)) });
        self.quote_log = Some(Arc::clone(&quote_log));
        let web = Web::new(config.timeout);
        for (source_index, source) in polled {
            let poller = Poller {
                board: Arc::clone(&self.board),
                source_index,
                source,
                web: web.clone(),
                clock: Arc::clone(clock),
                quote_log: Arc::clone(&quote_log),
                validators: Validators::default(),
                failures: 0,
            };
            self.tasks.push(tokio::spawn(poller.run(stopping.clone())));
        }
        Ok(())
    }

    /// The board from which requests are answered.
    pub fn board(&self) -> Arc<Board> {
        Arc::clone(&self.board)
    }

    /// Stops polling and waits until nothing is being written.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        for task in std::mem::take(&mut self.tasks) {
            // A task ends by itself; a panic in it was reported already.
            let _ = task.await;
        }
        if let Some(quote_log) = self.quote_log.take() {
            drop(quote_log.is_writable.lock().await);
        }
    }
}

impl Drop for ForexFeed {
    fn drop(&mut self) {
        self.stop.send_replace(true);
    }
}

fn take_sample(board: &Board, source_index: usize, now: u64) {
    let outcome: Result<_, FeedError> = adapters::sample(now);
    match outcome {
        Ok(reading) => _ = board.take(source_index, reading, now),
        // A test reads it.
        Err(error) => _ = board.failed(source_index, error),
    }
}
