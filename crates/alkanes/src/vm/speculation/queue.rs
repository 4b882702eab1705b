use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::{Attempt, Job};

/// How long a message waits for its attempt under way; most take a tenth of it, the dearest that are run ahead ten times as long.
const WAIT_MAX: Duration = Duration::from_millis(2);

/// Jobs and what came of them, between the thread that processes a block and those beside it.
#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    waiting: Condvar,
    /// A job has ended.
    ended: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Job>,
    /// Positions of jobs that are being run, with their generation.
    running: Vec<(u64, usize)>,
    /// By position; `None` where the attempt came to nothing.
    ended: HashMap<usize, Option<Box<Attempt>>>,
    /// Jobs of an earlier one are of no use any more.
    generation: u64,
    is_closed: bool,
}

/// What came of a job.
pub(super) enum Taken {
    /// No thread runs it.
    Nothing,
    /// It ended without a result, or not in time.
    Failed,
    Attempt(Box<Attempt>),
}

impl State {
    fn begin(&mut self) -> Option<(u64, Job)> {
        let job = self.waiting.pop_front()?;
        self.running.push((self.generation, job.position));
        Some((self.generation, job))
    }

    fn end(&mut self, generation: u64, position: usize, attempt: Option<Box<Attempt>>) {
        self.running.retain(|running| *running != (generation, position));
        if generation == self.generation {
            self.ended.insert(position, attempt);
        }
    }
}

impl Queue {
    pub(super) fn push(&self, job: Job) {
        self.state.lock().waiting.push_back(job);
        self.waiting.notify_one();
    }

    /// Drops all jobs and attempts; those that are running will be dropped.
    pub(super) fn clear(&self) {
        let mut state = self.state.lock();
        state.generation += 1;
        state.waiting.clear();
        state.ended.clear();
    }

    /// What came of the job at `position`. While another thread runs it, `help` runs the jobs that wait. Then it waits for that thread, but not
    /// long: on a busy machine it may have no core. `is_eager`: it also runs the one at `position`. Jobs before that position are dropped.
    pub(super) fn take(&self, position: usize, is_eager: bool, help: impl Fn(&Job) -> Option<Box<Attempt>>) -> Taken {
        let mut state = self.state.lock();
        state.waiting.retain(|job| job.position >= position);
        state.ended.retain(|ended, _| *ended >= position);
        loop {
            if let Some(ended) = state.ended.remove(&position) {
                return ended.map_or(Taken::Failed, Taken::Attempt);
            }
            let is_running = state.running.contains(&(state.generation, position));
            let is_next = state.waiting.front().is_some_and(|job| job.position == position);
            if !(is_running || is_eager && is_next) {
                // The caller is as quick as this thread would be.
                state.waiting.retain(|job| job.position != position);
                return Taken::Nothing;
            }
            match state.begin() {
                Some((generation, job)) => {
                    drop(state);
                    let attempt = help(&job);
                    state = self.state.lock();
                    state.end(generation, job.position, attempt);
                }
                // Running it here as well would take a core from that thread, which has done a part of it.
                None if self.ended.wait_for(&mut state, WAIT_MAX).timed_out() => return Taken::Failed,
                None => {}
            }
        }
    }

    /// Runs jobs until the queue is closed.
    pub(super) fn serve(&self, mut run: impl FnMut(&Job) -> Option<Box<Attempt>>) {
        let mut state = self.state.lock();
        while !state.is_closed {
            let Some((generation, job)) = state.begin() else {
                self.waiting.wait(&mut state);
                continue;
            };
            drop(state);
            let attempt = run(&job);
            state = self.state.lock();
            state.end(generation, job.position, attempt);
            self.ended.notify_one();
        }
    }

    /// Closes the queue when it is dropped.
    pub(super) fn closing(&self) -> impl Drop + '_ {
        Closing(self)
    }
}

struct Closing<'q>(&'q Queue);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.state.lock().is_closed = true;
        self.0.waiting.notify_all();
    }
}
