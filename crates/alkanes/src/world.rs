use bitcoin::{Block, OutPoint};

use crate::{Builtins, CodeCache, FuelTank, Overlay, Parameters, Trace};

/// What messages of one block run in: its height, its bytes, the state so far, the fuel left.
pub struct World<'a> {
    /// Network parameters.
    pub parameters: &'a Parameters,
    /// Height of the block; of a simulation, the height asked for.
    pub height: u64,
    /// The block; empty in a simulation without one.
    pub block: &'a Block,
    /// The state.
    pub state: Overlay<'a>,
    /// Fuel of this block (protocol B12).
    pub tank: FuelTank,
    /// Compiled contracts.
    pub codes: &'a CodeCache,
    /// Code of the contracts that are never on chain (protocol B18).
    pub builtins: &'a Builtins,
    /// Traces so far: saved outside the layers, so they survive a void transaction (protocol B6).
    pub traces: Vec<(OutPoint, Trace)>,
    /// Transactions of this block that mint 2:0, once counted (protocol B13).
    pub diesel_mints: Option<u128>,
}
