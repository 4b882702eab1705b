//! Messages that run before their turn, on other threads (decision 0078).
//!
//! Messages run one after the other, because each can read what the one before wrote. A block full of equal messages, such as mints
//! of the genesis token, would so have one core. But what they read can be foretold: a supply grows by the same amount each time. Other
//! threads run messages that are to come on the values that they will probably read, and record what they read. When the turn of a message
//! comes, the record is compared with the state. Where it is equal, the code would do the same again, and its result is taken;
//! otherwise it runs as it would have.
//!
//! ```text
//!  turn of message n ─▶ forecast for n+1 … n+w ─▶ queue ─▶ threads: run on foretold values, record reads
//!        │                      ▲                                  │
//!        ▼                      │ reads of n                       ▼
//!  result of n, if what it read is what the state has  ◀────── attempts
//! ```
//!
//! Invariants: an attempt is taken only where nothing that its code could observe differs from its turn: context, transaction, block,
//! values read, and of the fuel no more than that there is enough. What is counted as work is the same either way.

mod attempt;
mod forecast;
mod queue;
mod series;

use std::sync::Arc;

use bitcoin::{Block, OutPoint, Txid};
use parking_lot::Mutex;

use attempt::Attempt;
pub(crate) use attempt::Run;
use forecast::{Forecast, sheet_of};
pub(crate) use queue::Queue;
use queue::Taken;
pub(crate) use series::Series;

use super::cache::Compiled;
use super::instance::{Outcome, execute};
use super::session::{Frame, Session};
use super::stop::Stop;
use crate::World;

/// Threads of an engine beside its own, by default one for each further core: this many at most, since each holds an instance of up to 64 MiB.
const THREADS_MAX: usize = 3;

/// Equal messages of a block that are worth its threads.
const SERIES_LEN_MIN: usize = 8;

/// Attempts that a block may miss, beyond one for so many that were taken.
const MISSES_MAX: u32 = 8;
const HITS_PER_MISS: u32 = 16;

/// Most fuel of a message that is run ahead: attempts that are missed take little of the time that a block may take.
const FUEL_MAX: u64 = 20_000_000;

/// How an engine runs messages before their turn.
#[derive(Debug)]
pub(crate) struct Speculating {
    /// Length of the shortest series, messages.
    series_len_min: usize,
    /// For each thread, the newest module that it has run.
    copies: Vec<Mutex<Option<CopiedCode>>>,
    /// Attempts that no other thread has begun are made in the turn of their message: tests so see all of them.
    pub(crate) is_eager: bool,
    /// Attempts are made without further threads: as machine code they are quicker than messages in their turn.
    is_worth_it_alone: bool,
}

/// A module, and a copy that one thread alone runs.
struct CopiedCode {
    of: Arc<Compiled>,
    copy: Arc<Compiled>,
}

impl std::fmt::Debug for CopiedCode {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("CopiedCode")
    }
}

impl Speculating {
    /// As many threads as this machine has further cores, three at most.
    pub(crate) fn by_cores() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let is_worth_it_alone = cfg!(feature = "machine-code");
        Self { is_worth_it_alone, ..Self::with(cores.saturating_sub(1).min(THREADS_MAX), SERIES_LEN_MIN) }
    }

    /// `threads` beside the engine's own, 0 for none, for series of so many messages and more.
    pub(crate) fn with(threads: usize, series_len_min: usize) -> Self {
        let copies = (0..threads).map(|_| Mutex::default()).collect();
        Self { series_len_min, copies, is_eager: false, is_worth_it_alone: false }
    }

    /// The longest series of equal messages of a block, where attempts are made and it is long enough for them.
    pub(crate) fn series<'b>(&self, block: &'b Block, txids: &'b [Txid]) -> Option<Series<'b>> {
        if self.copies.is_empty() && !self.is_eager && !self.is_worth_it_alone {
            return None;
        }
        Series::of(block, txids).filter(|series| series.messages.len() >= self.series_len_min)
    }

    /// Runs `body`, which processes the block, beside the threads that serve `queue`.
    pub(crate) fn beside<R>(&self, queue: &Queue, run: Run<'_>, body: impl FnOnce() -> R) -> R {
        std::thread::scope(|scope| {
            // Also when the body panics, the threads end.
            let _closing = queue.closing();
            for copied in &self.copies {
                let thread = std::thread::Builder::new().name("speculation".to_owned());
                // Without a thread the messages run in their turn.
                let _ = thread.spawn_scoped(scope, || {
                    let mut copied = copied.lock();
                    queue.serve(|job| run.attempt(job, copy_of(&mut copied, &job.code).as_ref()?));
                });
            }
            body()
        })
    }
}

/// The copy that belongs to a thread, made where the newest one is of another module.
fn copy_of(copied: &mut Option<CopiedCode>, code: &Arc<Compiled>) -> Option<Arc<Compiled>> {
    if copied.as_ref().is_none_or(|copied| !Arc::ptr_eq(&copied.of, code)) {
        *copied = None;
        let copy = Arc::new(code.copied()?);
        *copied = Some(CopiedCode { of: Arc::clone(code), copy });
    }
    copied.as_ref().map(|copied| Arc::clone(&copied.copy))
}

/// A message to be run before its turn.
pub(crate) struct Job {
    /// In the series.
    position: usize,
    code: Arc<Compiled>,
    frame: Frame,
    /// Fuel that it will probably have.
    fuel: u64,
    /// What it will probably read.
    values: forecast::Values,
    /// Transactions of the block that mint 2:0, where they have been counted.
    diesel_mints: Option<u128>,
    /// The block as contracts read it, where one has.
    block_bytes: Option<Arc<[u8]>>,
}

/// The series of the block that is being processed, on the thread that processes it.
pub(crate) struct Speculation<'a> {
    series: &'a Series<'a>,
    queue: &'a Queue,
    run: Run<'a>,
    forecast: Forecast,
    /// Position of the first message that no job was made of.
    next: usize,
    /// Messages that are run ahead at a time.
    window: usize,
    is_eager: bool,
    hits: u32,
    misses: u32,
}

impl<'a> Speculation<'a> {
    pub(crate) fn new(speculating: &Speculating, series: &'a Series<'a>, queue: &'a Queue, run: Run<'a>) -> Self {
        let window = 2 * speculating.copies.len() + 1;
        let is_eager = speculating.is_eager;
        Self { series, queue, run, forecast: Forecast::default(), next: 0, window, is_eager, hits: 0, misses: 0 }
    }

    /// Attempts that were taken, and those that were missed.
    pub(crate) const fn counts(&self) -> (u32, u32) {
        (self.hits, self.misses)
    }

    const fn is_worth_it(&self) -> bool {
        self.misses <= MISSES_MAX + self.hits / HITS_PER_MISS
    }

    /// Queues the messages after `position`, as far as what they read can be foretold. `fuel`: what this one has, and they probably too,
    /// since in a full block each has the least.
    fn queue_after(&mut self, position: usize, world: &World<'_>, frame: &Frame, code: &Arc<Compiled>, fuel: u64) {
        self.forecast.expect(&self.series.messages[position], Some(sheet_of(&frame.incoming)));
        self.next = self.next.max(position + 1);
        if !self.forecast.is_ready() {
            return;
        }
        let end = self.series.messages.len().min(position + 1 + self.window);
        for position in self.next..end {
            let message = &self.series.messages[position];
            let Some((values, incoming)) = self.forecast.of(position, message, &world.state) else { continue };
            self.queue.push(Job {
                position,
                code: Arc::clone(code),
                frame: self.series.frame(incoming),
                fuel,
                values,
                diesel_mints: world.diesel_mints,
                block_bytes: world.block_bytes.get().cloned(),
            });
        }
        self.next = end.max(self.next);
    }

    /// Runs the message at `position`, or takes the attempt that was made of it.
    fn turn(
        &mut self,
        position: usize,
        session: &mut Session<'_, '_>,
        frame: Frame,
        code: &Arc<Compiled>,
        fuel: u64,
    ) -> Result<Outcome, Stop> {
        let incoming = frame.incoming.clone();
        if self.is_worth_it() && fuel <= FUEL_MAX {
            self.queue_after(position, session.world, &frame, code, fuel);
            // As machine code an attempt is quicker than the message in its turn, also on this thread.
            let is_eager = self.is_eager || code.is_machine_code();
            let taken = self.queue.take(position, is_eager, |job| self.run.attempt(job, &job.code));
            let is_ended = !matches!(taken, Taken::Nothing);
            let result = match taken {
                Taken::Attempt(attempt) => attempt.take(session, &frame, code, fuel),
                Taken::Failed | Taken::Nothing => None,
            };
            session.world.state.end_peeking();
            if let Some((outcome, reads)) = result {
                self.hits += 1;
                self.forecast.learn(position, &self.series.messages[position], reads, &incoming, &outcome);
                return Ok(outcome);
            }
            if is_ended {
                self.misses += 1;
                // The others were made with the same forecast.
                self.queue.clear();
                self.next = position + 1;
            }
        }
        code.count_run();
        session.world.state.record_reads();
        let outcome = execute(session, frame, code, fuel);
        let recorded = session.world.state.recorded_reads();
        if let Ok(outcome) = &outcome
            && recorded.is_whole()
        {
            self.forecast.learn(position, &self.series.messages[position], recorded.reads, &incoming, outcome);
        }
        outcome
    }
}

/// [`execute`] of a message's first contract, or the result of an attempt that was made before.
///
/// # Errors
/// As [`execute`].
pub(crate) fn execute_in_turn(
    session: &mut Session<'_, '_>,
    frame: Frame,
    code: &Arc<Compiled>,
    fuel: u64,
) -> Result<Outcome, Stop> {
    let shadow = OutPoint { txid: session.txid, vout: session.vout };
    let position = session.world.speculation.as_ref().and_then(|speculation| speculation.series.position(&shadow));
    let Some((mut speculation, position)) = position.and_then(|at| Some((session.world.speculation.take()?, at)))
    else {
        return execute(session, frame, code, fuel);
    };
    let outcome = speculation.turn(position, session, frame, code, fuel);
    session.world.speculation = Some(speculation);
    outcome
}
