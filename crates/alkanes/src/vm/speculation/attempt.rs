use std::sync::Arc;

use super::super::cache::Compiled;
use super::super::guard::guarded;
use super::super::instance::{Outcome, execute};
#[cfg(feature = "machine-code")]
use super::super::machine_code::{self, MachineCode, Runner, Slot};
use super::super::session::{Frame, Session};
use super::{Job, Series};
use crate::state::{Read, RecordedReads};
use crate::trace_log::TraceRecorder;
use crate::work::{TRANSACTION_WORK, Work};
use crate::{Builtins, CodeCache, Overlay, Parameters, World};

/// Memory that the instance of an attempt may take, in bytes: one memory of the largest size, and a table.
const MEMORY_BYTES: u64 = 64 << 20;

/// Work that an attempt may do, and that its message must have left for it to be taken: that of reading its values comes on top.
const WORK: u64 = 4 * TRANSACTION_WORK;

/// Reads of an attempt that can be taken, and bytes of its answer: attempts wait for their turn.
const READS_MAX: usize = 256;
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// What an attempt needs of its block.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub(crate) parameters: &'a Parameters,
    pub(crate) height: u64,
    pub(crate) series: &'a Series<'a>,
    pub(crate) codes: &'a CodeCache,
    pub(crate) builtins: &'a Builtins,
    /// Contracts are compiled at once: tests so run all of them as machine code.
    #[cfg_attr(not(feature = "machine-code"), allow(dead_code))]
    pub(crate) is_eager: bool,
}

/// A message that was run before its turn.
pub(crate) struct Attempt {
    code: Arc<Compiled>,
    frame: Frame,
    /// Fuel that it was given, and whether it has looked how much is left.
    fuel: u64,
    has_shown_fuel: bool,
    reads: Vec<Read>,
    /// Beside that of its reads.
    work: u64,
    events: TraceRecorder,
    burnt_fuel: u64,
    outcome: Outcome,
}

impl Run<'_> {
    /// Runs a message on foretold values; `None` where it fails, or does what can only be done in its turn.
    pub(super) fn attempt(&self, job: &Job, code: &Arc<Compiled>) -> Option<Box<Attempt>> {
        let mut attempt = None;
        // A panic is in the log, and comes again in the turn of the message.
        guarded(|| attempt = self.attempt_unguarded(job, code)).ok()?;
        attempt.map(Box::new)
    }

    #[cfg(not(feature = "machine-code"))]
    fn attempt_unguarded(&self, job: &Job, code: &Arc<Compiled>) -> Option<Attempt> {
        self.interpreted(job, code)
    }

    /// Runs it as machine code, where the contract is compiled.
    #[cfg(feature = "machine-code")]
    fn attempt_unguarded(&self, job: &Job, code: &Arc<Compiled>) -> Option<Attempt> {
        let slot = &job.code.machine;
        let compiled = |machine: &MachineCode| {
            self.run(job, |session, frame| machine_code::execute(session, frame, &job.code, machine, job.fuel))
        };
        match Slot::runner(&job.code, self.is_eager) {
            Runner::Interpreter => self.interpreted(job, code),
            Runner::Machine(machine) => compiled(&machine).or_else(|| {
                let interpreted = self.interpreted(job, code)?;
                slot.note_failure();
                Some(interpreted)
            }),
            Runner::Both(machine) => {
                let interpreted = self.interpreted(job, code);
                match (&interpreted, compiled(&machine)) {
                    (None, None) => {}
                    (Some(_), None) => slot.note_failure(),
                    (Some(interpreted), Some(compiled)) if compiled.is_equal(interpreted) => slot.note_equal(),
                    _ => slot.refuse(),
                }
                interpreted
            }
        }
    }

    fn interpreted(&self, job: &Job, code: &Arc<Compiled>) -> Option<Attempt> {
        self.run(job, |session, frame| execute(session, frame, code, job.fuel).ok())
    }

    fn run(&self, job: &Job, execute: impl FnOnce(&mut Session<'_, '_>, Frame) -> Option<Outcome>) -> Option<Attempt> {
        let message = &self.series.messages[job.position];
        let mut state = Overlay::new(&job.values);
        state.work = Work::of_block(WORK - TRANSACTION_WORK, MEMORY_BYTES);
        state.work.begin_transaction(message.transaction.weight());
        state.record_reads();
        let mut world =
            World::of_attempt(self.parameters, self.height, self.series.block, state, self.codes, self.builtins);
        world.diesel_mints = job.diesel_mints;
        if let Some(bytes) = &job.block_bytes {
            world.block_bytes = bytes.clone().into();
        }
        let mut session = Session::message(&mut world, message.transaction, message.txid, message.vout);
        session.is_speculative = true;
        let outcome = execute(&mut session, job.frame.clone())?;
        let (events, burnt_fuel) = (std::mem::take(&mut session.events), session.burnt_fuel);
        let (has_shown_fuel, was_refused) = (session.has_shown_fuel, session.was_refused_growth);
        let recorded = world.state.recorded_reads();
        let can_be_taken = recorded.is_whole()
            && recorded.reads.len() <= READS_MAX
            && outcome.response.buffer_len() <= ANSWER_BYTES_MAX
            && !was_refused
            && !events.is_over()
            && !world.state.is_changed();
        let RecordedReads { reads, work: read_work, .. } = recorded;
        let work = world.state.work.done() - read_work;
        can_be_taken.then(|| Attempt {
            code: Arc::clone(&job.code),
            frame: job.frame.clone(),
            fuel: job.fuel,
            has_shown_fuel,
            reads,
            work,
            events,
            burnt_fuel,
            outcome,
        })
    }
}

impl Attempt {
    /// Whether both have done the same with the same fuel.
    #[cfg(feature = "machine-code")]
    fn is_equal(&self, other: &Self) -> bool {
        let counts = |attempt: &Self| {
            let Attempt { work, burnt_fuel, outcome, has_shown_fuel, .. } = attempt;
            (*work, *burnt_fuel, outcome.fuel_used, *has_shown_fuel)
        };
        counts(self) == counts(other)
            && self.reads == other.reads
            && self.events.is_equal(&other.events)
            && self.outcome.response == other.outcome.response
    }

    /// Takes the attempt as the result of its message, whose turn it is: does to the state and to the counts what running it would.
    /// Returns what it has read, too. `None` where it could have ended otherwise now; then nothing was done.
    pub(super) fn take(
        self,
        session: &mut Session<'_, '_>,
        frame: &Frame,
        code: &Arc<Compiled>,
        fuel: u64,
    ) -> Option<(Outcome, Vec<Read>)> {
        let state = &session.world.state;
        // No limit can end it: it did not reach those of an attempt, which are narrower.
        let memory_left = session.instance_bytes_left.min(state.memory_left()) as u64;
        let is_free = state.check_limits().is_ok() && state.work.left() >= 2 * WORK && memory_left >= MEMORY_BYTES;
        let has_fuel = if self.has_shown_fuel { self.fuel == fuel } else { self.fuel <= fuel };
        let is_equal = self.frame == *frame && Arc::ptr_eq(&self.code, code) && has_fuel;
        let reads_same = |(key, value): &Read| state.peek(key).is_ok_and(|now| now == *value);
        if !is_free || !is_equal || !self.reads.iter().all(reads_same) {
            return None;
        }
        for (key, _) in &self.reads {
            // It was looked at, so it can be read.
            let _ = state.get(key);
        }
        state.work.add(self.work);
        session.events.append(self.events);
        session.burnt_fuel = self.burnt_fuel;
        Some((self.outcome, self.reads))
    }
}
