use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::super::cache::Compiled;
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
    runs: AtomicU32,
    /// Runs by both that were equal.
    checked: AtomicU32,
    failures: AtomicU32,
    is_refused: AtomicBool,
    /// `None`: it cannot be run so.
    machine: OnceLock<Option<Counted>>,
}

/// Machine code among those that there can be.
struct Counted(MachineCode);

impl Counted {
    fn of(compiled: &Compiled) -> Option<Self> {
        if CONTRACTS.fetch_add(1, Ordering::Relaxed) >= CONTRACTS_MAX {
            CONTRACTS.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        let machine = MachineCode::of(compiled);
        if let Err(reason) = &machine {
            CONTRACTS.fetch_sub(1, Ordering::Relaxed);
            tracing::debug!(%reason, "a contract is not compiled");
        }
        machine.ok().map(Self)
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
pub(crate) enum Runner<'m> {
    Interpreter,
    Machine(&'m MachineCode),
    /// Both, to compare them.
    Both(&'m MachineCode),
}

impl Slot {
    /// Who runs the next attempt of the contract. `is_eager`, for tests: the first one has it compiled and waits, and every other one is made by both.
    pub(crate) fn runner(compiled: &Arc<Compiled>, is_eager: bool) -> Runner<'_> {
        let slot = &compiled.machine;
        if is_eager {
            slot.machine.get_or_init(|| Counted::of(compiled));
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
        if runs >= RUNS_MIN && slot.machine.get().is_none() {
            compile_beside(compiled);
        }
        runs
    }

    /// The machine code, where there is some that can be used.
    pub(crate) fn code(&self) -> Option<&MachineCode> {
        let Counted(machine) = self.machine.get()?.as_ref()?;
        (!self.is_refused.load(Ordering::Relaxed)).then_some(machine)
    }

    #[cfg(test)]
    pub(crate) fn counts(&self) -> SlotCounts {
        SlotCounts {
            checked: self.checked.load(Ordering::Relaxed),
            failures: self.failures.load(Ordering::Relaxed),
            is_refused: self.is_refused.load(Ordering::Relaxed),
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
        assert!(self.machine.set(Some(Counted(machine.unwrap()))).is_ok());
    }

    /// Notes that both were compared, and were equal.
    pub(crate) fn note_equal(&self) {
        self.checked.fetch_add(1, Ordering::Relaxed);
    }

    /// Leaves the contract to the interpreter: they differ.
    pub(crate) fn refuse(&self) {
        if !self.is_refused.swap(true, Ordering::Relaxed) {
            tracing::error!(
                "a contract does as machine code what it does not do in the interpreter; it is run by the interpreter alone"
            );
        }
    }

    /// Notes a run that has no answer, and the interpreter has one.
    pub(crate) fn note_failure(&self) {
        if self.failures.fetch_add(1, Ordering::Relaxed) >= FAILURES_MAX {
            self.is_refused.store(true, Ordering::Relaxed);
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
        let _ended = Ended;
        compiled.machine.machine.get_or_init(|| Counted::of(&compiled));
    });
    if compiling.is_err() {
        IS_COMPILING.store(false, Ordering::Release);
    }
}

/// Lets the next contract be compiled, also where compiling panics.
struct Ended;

impl Drop for Ended {
    fn drop(&mut self) {
        IS_COMPILING.store(false, Ordering::Release);
    }
}
