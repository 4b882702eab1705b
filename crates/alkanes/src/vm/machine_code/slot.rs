use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use parking_lot::RwLock;

use super::super::cache::Compiled;
use super::super::guard::guarded;
use super::MachineCode;

/// Runs of a contract after which it is compiled: that takes as long as some thousand of its runs by the interpreter.
const RUNS_MIN: u32 = 2_000;

/// Contracts that are machine code at a time.
const CONTRACTS_MAX: usize = 16;

/// Runs that are made by the interpreter too: the first ones, and one of so many.
const CHECKED_FIRST: u32 = 16;
const CHECKED_EACH: u32 = 256;

/// Runs without an answer where the interpreter has one, after which the contract is left to it.
const FAILURES_MAX: u32 = 16;

static CONTRACTS: AtomicUsize = AtomicUsize::new(0);
static IS_COMPILING: AtomicBool = AtomicBool::new(false);

/// The machine code of a contract, once it has run often enough.
#[derive(Default)]
pub(crate) struct Slot {
    /// It is built in. Contracts that anyone has deployed stay with the interpreter.
    is_built_in: AtomicBool,
    runs: AtomicU32,
    /// Runs by both that were equal.
    checked: AtomicU32,
    failures: AtomicU32,
    state: RwLock<State>,
}

#[derive(Default)]
enum State {
    #[default]
    NotCompiled,
    /// It cannot be run so, or has done something else than in the interpreter.
    Refused,
    Compiled(Arc<Counted>),
}

/// Machine code among those that there can be.
pub(crate) struct Counted(MachineCode);

impl std::ops::Deref for Counted {
    type Target = MachineCode;

    fn deref(&self) -> &MachineCode {
        &self.0
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        CONTRACTS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Runs of a contract as machine code.
#[cfg(test)]
#[derive(Debug)]
pub(crate) struct SlotCounts {
    pub(crate) checked: u32,
    pub(crate) failures: u32,
    pub(crate) is_refused: bool,
}

/// Who runs an attempt.
pub(crate) enum Runner {
    Interpreter,
    Machine(Arc<Counted>),
    /// Both, to compare them.
    Both(Arc<Counted>),
}

impl Slot {
    /// Notes that the contract is built in.
    pub(crate) fn note_built_in(&self) {
        self.is_built_in.store(true, Ordering::Relaxed);
    }

    /// Who runs the next attempt of the contract. `is_eager`, for tests: the first one has it compiled and waits, whoever has deployed it, and every other one is made by both.
    pub(crate) fn runner(compiled: &Arc<Compiled>, is_eager: bool) -> Runner {
        let slot = &compiled.machine;
        if is_eager {
            slot.compile(compiled);
        }
        let runs = Self::count_run(compiled);
        let Some(machine) = slot.code() else { return Runner::Interpreter };
        let is_first = slot.checked.load(Ordering::Relaxed) < CHECKED_FIRST && !is_eager;
        let checked_each = if is_eager { 2 } else { CHECKED_EACH };
        if is_first || runs % checked_each == 1 { Runner::Both(machine) } else { Runner::Machine(machine) }
    }

    /// Counts a run. The one that makes it worth it has the contract compiled beside.
    pub(crate) fn count_run(compiled: &Arc<Compiled>) -> u32 {
        let slot = &compiled.machine;
        let runs = slot.runs.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        if runs >= RUNS_MIN && slot.is_built_in.load(Ordering::Relaxed) && slot.is_not_compiled() {
            compile_beside(compiled);
        }
        runs
    }

    fn is_not_compiled(&self) -> bool {
        matches!(*self.state.read(), State::NotCompiled)
    }

    /// The machine code, where there is some that can be used.
    pub(crate) fn code(&self) -> Option<Arc<Counted>> {
        match &*self.state.read() {
            State::Compiled(machine) => Some(Arc::clone(machine)),
            State::NotCompiled | State::Refused => None,
        }
    }

    /// Compiles the contract, unless that is done or there are as many as there can be.
    fn compile(&self, compiled: &Compiled) {
        if !self.is_not_compiled() {
            return;
        }
        if CONTRACTS.fetch_add(1, Ordering::Relaxed) >= CONTRACTS_MAX {
            CONTRACTS.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let mut machine = Err("compiling it panicked".to_owned());
        // A panic is in the log; it is the one reason that is left then.
        let _ = guarded(|| machine = MachineCode::of(compiled));
        let state = match machine {
            Ok(machine) => State::Compiled(Arc::new(Counted(machine))),
            Err(reason) => {
                CONTRACTS.fetch_sub(1, Ordering::Relaxed);
                tracing::debug!(%reason, "a contract is not compiled");
                State::Refused
            }
        };
        *self.state.write() = state;
    }

    /// Whether no contract is being compiled.
    #[cfg(test)]
    pub(crate) fn is_idle() -> bool {
        !IS_COMPILING.load(Ordering::Acquire)
    }

    #[cfg(test)]
    pub(crate) fn counts(&self) -> SlotCounts {
        SlotCounts {
            checked: self.checked.load(Ordering::Relaxed),
            failures: self.failures.load(Ordering::Relaxed),
            is_refused: matches!(*self.state.read(), State::Refused),
        }
    }

    /// Machine code for which every function costs a unit too much.
    #[cfg(test)]
    pub(crate) fn set_dearer(&self, compiled: &Compiled) {
        let machine = MachineCode::with(compiled, |costs| {
            for function in costs {
                function.blocks[0] += 1;
            }
        });
        CONTRACTS.fetch_add(1, Ordering::Relaxed);
        *self.state.write() = State::Compiled(Arc::new(Counted(machine.unwrap())));
    }

    /// Notes that both were compared, and were equal.
    pub(crate) fn note_equal(&self) {
        self.checked.fetch_add(1, Ordering::Relaxed);
    }

    /// Leaves the contract to the interpreter: they differ.
    pub(crate) fn refuse(&self) {
        *self.state.write() = State::Refused;
        tracing::error!(
            "a contract does as machine code what it does not do in the interpreter, which runs it alone from now on"
        );
    }

    /// Notes a run that has no answer, and the interpreter has one.
    pub(crate) fn note_failure(&self) {
        if self.failures.fetch_add(1, Ordering::Relaxed) >= FAILURES_MAX {
            *self.state.write() = State::Refused;
        }
    }
}

/// Compiles the contract on a thread of its own, unless that is done for another.
fn compile_beside(compiled: &Arc<Compiled>) {
    if IS_COMPILING.swap(true, Ordering::AcqRel) {
        return;
    }
    let compiled = Arc::clone(compiled);
    let compiling = std::thread::Builder::new().name("contract-code".to_owned()).spawn(move || {
        compiled.machine.compile(&compiled);
        IS_COMPILING.store(false, Ordering::Release);
    });
    if compiling.is_err() {
        IS_COMPILING.store(false, Ordering::Release);
    }
}
