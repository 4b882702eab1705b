use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::Halt;

/// Runs a closure that passes untrusted code to the interpreter. A panic in there is a halt, as it is in the reference, and not the
/// end of the process.
///
/// The caller discards the state that `run` was changing: a halted block is not applied, a simulation is rolled back.
pub(crate) fn guarded(run: impl FnOnce()) -> Result<(), Halt> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|_| Halt::EnginePanic)
}
