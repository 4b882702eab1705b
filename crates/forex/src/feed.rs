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
use crate::poller::{Diary, Poller};
use crate::sheet::AHEAD_MAX;
use crate::web::{Validators, Web};

/// All sources with a task each, and what they reported in a folder. Dropping it stops them as well, without waiting.
pub struct ForexFeed {
    board: Arc<Board>,
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
    diary: Option<Arc<Diary>>,
}

impl ForexFeed {
    /// Reads what an earlier run learnt from `folder` and begins to ask the sources. A source that is away delays its rates and nothing
    /// else. Where there is nothing but the sample, no folder is made and no task runs. Must be called within an async runtime.
    ///
    /// # Errors
    /// A setting cannot be used, another process uses the folder, or the disk refuses.
    pub fn start(config: &ForexConfig, folder: &Path, clock: &Clock) -> Result<Self, ForexError> {
        let sources = config.checked()?;
        let names = sources.iter().map(|source| (source.name.clone(), source.kind));
        let board = Arc::new(Board::new(config.rules(), names));
        let (stop, stopping) = watch::channel(false);
        let mut feed = Self { board: Arc::clone(&board), stop, tasks: Vec::new(), diary: None };
        let (samples, asked): (Vec<_>, Vec<_>) =
            sources.into_iter().enumerate().partition(|(_, source)| matches!(source.way, Way::Sample));
        for (place, _) in samples {
            take_sample(&board, place, clock());
        }
        if !asked.is_empty() {
            feed.begin(asked, config, folder, clock, &stopping)?;
        }
        Ok(feed)
    }

    fn begin(
        &mut self,
        asked: Vec<(usize, Checked)>,
        config: &ForexConfig,
        folder: &Path,
        clock: &Clock,
        stopping: &watch::Receiver<bool>,
    ) -> Result<(), ForexError> {
        let now = clock();
        let (log, loaded) = history::open(folder, now)?;
        for (name, mut quotes) in loaded {
            // A clock that was wrong when a rate was written must not hold back all later ones.
            quotes.retain(|quote| quote.time <= now.saturating_add(AHEAD_MAX));
            self.board.restore(&name, quotes);
        }
        let diary = Arc::new(Diary { log, works: Arc::new(Mutex::new(true)) });
        self.diary = Some(Arc::clone(&diary));
        let web = Web::new(config.timeout);
        for (place, source) in asked {
            let poller = Poller {
                board: Arc::clone(&self.board),
                place,
                source,
                web: web.clone(),
                clock: Arc::clone(clock),
                diary: Arc::clone(&diary),
                validators: Validators::default(),
                failures: 0,
            };
            self.tasks.push(tokio::spawn(poller.run(stopping.clone())));
        }
        Ok(())
    }

    /// What is known, for those who answer.
    pub fn board(&self) -> Arc<Board> {
        Arc::clone(&self.board)
    }

    /// Stops asking and waits until nothing is being written.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        for task in std::mem::take(&mut self.tasks) {
            // A task ends by itself; a panic in it was reported already.
            let _ = task.await;
        }
        if let Some(diary) = self.diary.take() {
            drop(diary.works.lock().await);
        }
    }
}

impl Drop for ForexFeed {
    fn drop(&mut self) {
        self.stop.send_replace(true);
    }
}

fn take_sample(board: &Board, place: usize, now: u64) {
    let outcome: Result<_, FeedError> = adapters::sample(now);
    match outcome {
        Ok(reading) => _ = board.take(place, reading, now),
        // A test reads it.
        Err(error) => _ = board.failed(place, error),
    }
}
