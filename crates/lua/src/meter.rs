//! The resources that one script has used.

use std::cell::Cell;
use std::time::Instant;

use crate::{Budget, LuaSettings};

/// Instructions between two checks of the clock, and the most by which the budget of instructions is exceeded.
pub(crate) const INSTRUCTIONS_PER_LOOK: u32 = 256;

/// A budget is used up; nothing of the script runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.sentence())]
pub(crate) struct Exhausted(pub(crate) Budget);

/// Counts for one script. Once a budget is exhausted every further check fails, whatever the script catches.
pub(crate) struct Meter {
    instructions_left: Cell<u64>,
    calls_left: Cell<u32>,
    deadline: Instant,
    exhausted: Cell<Option<Budget>>,
}

impl Meter {
    pub(crate) fn start(settings: &LuaSettings) -> Self {
        Self {
            instructions_left: Cell::new(settings.instructions_max),
            calls_left: Cell::new(settings.rpc_calls_max),
            deadline: Instant::now() + settings.time(),
            exhausted: Cell::new(None),
        }
    }

    /// Charges instructions and checks the clock.
    pub(crate) fn spend(&self, instructions: u64) -> Result<(), Exhausted> {
        if let Some(budget) = self.exhausted.get() {
            return Err(Exhausted(budget));
        }
        match self.instructions_left.get().checked_sub(instructions) {
            None => return Err(self.exhaust(Budget::Instructions)),
            Some(left) => self.instructions_left.set(left),
        }
        if Instant::now() >= self.deadline {
            return Err(self.exhaust(Budget::Time));
        }
        Ok(())
    }

    /// The cost of reading this many bytes.
    pub(crate) fn spend_bytes(&self, bytes: usize) -> Result<(), Exhausted> {
        self.spend(1 + bytes as u64 / 16)
    }

    /// Charges one call of `_RPC`.
    pub(crate) fn spend_call(&self) -> Result<(), Exhausted> {
        self.spend(1)?;
        match self.calls_left.get().checked_sub(1) {
            None => Err(self.exhaust(Budget::RpcCalls)),
            Some(left) => {
                self.calls_left.set(left);
                Ok(())
            }
        }
    }

    /// Ends the script for a budget that was measured elsewhere. The first one stays.
    pub(crate) fn exhaust(&self, budget: Budget) -> Exhausted {
        let first = self.exhausted.get().unwrap_or(budget);
        self.exhausted.set(Some(first));
        Exhausted(first)
    }

    /// The budget that is used up, if any.
    pub(crate) fn exhausted(&self) -> Option<Exhausted> {
        self.exhausted.get().map(Exhausted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_that_is_used_up_stays_so_and_the_first_is_told() {
        let settings = LuaSettings { instructions_max: 10, rpc_calls_max: 1, ..LuaSettings::default() };
        let meter = Meter::start(&settings);
        assert_eq!((meter.spend(9), meter.spend_call()), (Ok(()), Ok(())));
        let over = Err(Exhausted(Budget::Instructions));
        assert_eq!((meter.spend(1), meter.spend(0), meter.spend_call()), (over, over, over));
        assert_eq!(meter.exhaust(Budget::Memory), Exhausted(Budget::Instructions));
        let meter = Meter::start(&LuaSettings { time_ms_max: 0, ..settings });
        assert_eq!(meter.spend(0), Err(Exhausted(Budget::Time)));
    }
}
