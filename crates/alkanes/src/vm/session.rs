use std::cell::OnceCell;
use std::sync::Arc;

use bitcoin::consensus::encode;
use bitcoin::{Transaction, Txid};
use paraffin_primitives::AlkaneId;

use super::stop::Stop;
use super::wire;
use crate::trace_log::{TraceContextRef, TraceRecorder};
use crate::{CallKind, Halt, Transfer, World};

/// Layers that the reference has opened when the first contract of a simulation makes a call (protocol B11.1): it has no layer
/// of a message.
const SIMULATION_DEPTH: usize = 3;

/// Layers that each nested call adds.
const CALL_DEPTH: usize = 3;

/// From this depth on a call is refused (protocol B11.1).
const DEPTH_END: usize = 75;

/// Most that a simulation may write in all, in bytes by [`Overlay::written_bytes`](crate::Overlay::written_bytes).
const SIMULATION_WRITTEN_BYTES_MAX: usize = 64 << 20;

/// Most amounts that one call of a simulation may hand on.
const SIMULATION_TRANSFERS_MAX: usize = 1 << 16;

/// One message or simulation with all its calls.
pub(crate) struct Session<'s, 'w> {
    pub(crate) world: &'s mut World<'w>,
    /// Height that contracts see and that chooses rules and built-in code.
    pub(crate) height: u64,
    pub(crate) transaction: &'s Transaction,
    pub(crate) txid: Txid,
    pub(crate) vout: u32,
    /// Events in strict order of calls.
    pub(crate) events: TraceRecorder,
    /// Of a simulation: checked at host calls, whether it has to end.
    pub(crate) interrupted: Option<&'s dyn Fn() -> bool>,
    /// Bytes that memories and tables may still take.
    pub(crate) instance_bytes_left: usize,
    /// Bytes counted for one byte of a table: 1 in a block.
    pub(crate) table_weight: usize,
    /// Fuel that the code of the newest call has burnt, however that ended.
    pub(crate) burnt_fuel: u64,
    /// Of a view: fuel that `__fuel` and traces report and that contracts cannot use.
    pub(crate) unusable_fuel: u64,
    /// It runs before its turn, where other contracts cannot be called.
    pub(crate) is_speculative: bool,
    /// A contract has asked how much fuel is left.
    pub(crate) has_shown_fuel: bool,
    /// A contract was refused memory or a larger table.
    pub(crate) was_refused_growth: bool,
    /// The transaction as contracts read it, once one has (protocol B10).
    transaction_bytes: OnceCell<Arc<[u8]>>,
    outer_depth: usize,
}

impl<'s, 'w> Session<'s, 'w> {
    pub(crate) fn message(world: &'s mut World<'w>, transaction: &'s Transaction, txid: Txid, vout: u32) -> Self {
        let (height, outer_depth) = (world.height, world.call_depth);
        let instance_bytes_left = usize::try_from(world.state.work.memory_max()).unwrap_or(usize::MAX);
        world.state.work.set_memory_left(instance_bytes_left);
        Self {
            world,
            height,
            transaction,
            txid,
            vout,
            events: TraceRecorder::default(),
            interrupted: None,
            instance_bytes_left,
            table_weight: 1,
            burnt_fuel: 0,
            unusable_fuel: 0,
            is_speculative: false,
            has_shown_fuel: false,
            was_refused_growth: false,
            transaction_bytes: OnceCell::new(),
            outer_depth,
        }
    }

    pub(crate) fn simulation(
        world: &'s mut World<'w>,
        transaction: &'s Transaction,
        vout: u32,
        interrupted: Option<&'s dyn Fn() -> bool>,
    ) -> Self {
        let txid = transaction.compute_txid();
        Self { interrupted, outer_depth: SIMULATION_DEPTH, ..Self::message(world, transaction, txid, vout) }
    }

    /// The fuel that `__fuel` and traces report where `fuel` is left.
    pub(crate) fn reported_fuel(&self, fuel: u64) -> u64 {
        fuel.saturating_add(self.unusable_fuel)
    }

    /// # Errors
    /// The message runs before its turn, and what comes next cannot be known then.
    pub(crate) fn check_turn(&self) -> Result<(), Stop> {
        if self.is_speculative { Err(Halt::Interrupted.into()) } else { Ok(()) }
    }

    /// The transaction in consensus encoding.
    pub(crate) fn transaction_bytes(&self) -> Arc<[u8]> {
        let serialize = || {
            // Each message of a transaction does it again.
            self.world.state.work.add(self.transaction.total_size() as u64);
            encode::serialize(self.transaction).into()
        };
        self.transaction_bytes.get_or_init(serialize).clone()
    }

    /// A simulation ends where its trace does, or when it has moved too much: both can cost no fuel at all.
    ///
    /// # Errors
    /// The simulation has reached a bound. A message of a block goes on whatever it does.
    pub(crate) fn check_bounds(&self) -> Result<(), Stop> {
        let written_bytes_max = SIMULATION_WRITTEN_BYTES_MAX.min(self.world.parameters.state_bytes);
        let is_over = self.events.is_over() || self.world.state.written_bytes() > written_bytes_max;
        if self.interrupted.is_some() && is_over { Err(Halt::SimulationTooLarge.into()) } else { Ok(()) }
    }

    /// Refuses to move very many amounts at once in a simulation.
    ///
    /// # Errors
    /// As [`Session::check_bounds`].
    pub(crate) fn check_parcel(&self, transfers: usize) -> Result<(), Stop> {
        if self.interrupted.is_some() && transfers > SIMULATION_TRANSFERS_MAX {
            return Err(Halt::SimulationTooLarge.into());
        }
        Ok(())
    }

    /// Refuses a call made by a contract that is itself called `nesting` times deep (protocol B11.1).
    pub(crate) fn check_depth(&self, nesting: usize) -> Result<(), Stop> {
        let depth = self.outer_depth + CALL_DEPTH * nesting;
        if depth >= DEPTH_END {
            let text = format!("Possible infinite recursion encountered: checkpoint depth too large({depth})");
            return Err(Stop::Revert(text));
        }
        Ok(())
    }
}

/// A contract that is being run: in whose name, for whom, with what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) myself: AlkaneId,
    /// Whose code it is: another's in a delegated call.
    pub(crate) code: AlkaneId,
    pub(crate) caller: AlkaneId,
    pub(crate) incoming: Vec<Transfer>,
    pub(crate) inputs: Vec<u128>,
    /// Calls above this one.
    pub(crate) nesting: usize,
}

impl Frame {
    /// The context of the call, as traces record it.
    fn context(&self, vout: u32) -> TraceContextRef<'_> {
        TraceContextRef {
            myself: self.myself,
            caller: self.caller,
            vout,
            incoming: &self.incoming,
            inputs: &self.inputs,
        }
    }

    /// Records that this contract is entered with `fuel`.
    pub(crate) fn record_enter(&self, events: &mut TraceRecorder, kind: CallKind, vout: u32, fuel: u64) {
        events.enter(kind, fuel, &self.context(vout));
    }

    /// The context of `__load_context`.
    pub(crate) fn serialized(&self, vout: u32) -> Vec<u8> {
        wire::context(&self.context(vout))
    }
}
