//! Contract data that the module reads while a block is applied.

use std::sync::Arc;

use bitcoin::Block;
use bitcoin::Transaction;
use bitcoin::absolute::LockTime;
use bitcoin::transaction::Version;
use paraffin_alkanes::codec::Cellpack;
use paraffin_alkanes::{
    BlockState, BlockTrace, Builtins, CodeCache, Halt, Overlay, Parameters, SimulatedCall, StateKey, StateReader as _,
    World, simulate,
};
use paraffin_primitives::{AlkaneId, Height};

use super::IndexError;

/// Fuel of the call that shows whether a contract is a pool: ten times what a normal answer takes.
const PROBE_FUEL: u64 = 20_000_000;

/// Traces of the block that is being applied and the contracts at its end.
pub trait ContractFacts {
    /// All traces of the block, in its order.
    ///
    /// # Errors
    /// Reading failed.
    fn traces(&self) -> Result<Vec<BlockTrace>, IndexError>;

    /// The value that a contract has stored under a name; `None` without one.
    ///
    /// # Errors
    /// Reading failed.
    fn storage(&self, contract: AlkaneId, name: &[u8]) -> Result<Option<Vec<u8>>, IndexError>;

    /// A contract's balance of an alkane, base units.
    ///
    /// # Errors
    /// Reading failed.
    fn balance(&self, contract: AlkaneId, of: AlkaneId) -> Result<u128, IndexError>;

    /// A contract's answer to one input; `None` when it reverts.
    ///
    /// # Errors
    /// Reading failed, or the engine cannot run.
    fn ask(&self, contract: AlkaneId, opcode: u128) -> Result<Option<Vec<u8>>, IndexError>;
}

/// The environment of calls to contracts: the same that views use.
#[derive(Clone)]
pub struct PoolProbe {
    /// Parameters of the network.
    pub parameters: Parameters,
    /// Code of the contracts that are never on chain.
    pub builtins: Arc<Builtins>,
    /// Compiled contracts.
    pub codes: Arc<CodeCache>,
}

/// The contract index as it is while a block is applied.
pub(crate) struct IndexedContracts<'a> {
    pub(crate) state: BlockState<'a>,
    pub(crate) probe: &'a PoolProbe,
    pub(crate) block: &'a Block,
    pub(crate) height: Height,
}

impl ContractFacts for IndexedContracts<'_> {
    fn traces(&self) -> Result<Vec<BlockTrace>, IndexError> {
        Ok(self.state.traces()?)
    }

    fn storage(&self, contract: AlkaneId, name: &[u8]) -> Result<Option<Vec<u8>>, IndexError> {
        Ok(self.state.get(&StateKey::Storage(contract, name.to_vec()))?)
    }

    fn balance(&self, contract: AlkaneId, of: AlkaneId) -> Result<u128, IndexError> {
        let stored = self.state.get(&StateKey::Balance { what: of, who: contract })?.unwrap_or_default();
        Ok(stored.try_into().map(u128::from_le_bytes).unwrap_or_default())
    }

    fn ask(&self, contract: AlkaneId, opcode: u128) -> Result<Option<Vec<u8>>, IndexError> {
        let PoolProbe { parameters, builtins, codes } = self.probe;
        let overlay = Overlay::new(&self.state);
        let mut world = World::new(parameters, u64::from(self.height), self.block, overlay, codes, builtins);
        let transaction =
            Transaction { version: Version::TWO, lock_time: LockTime::ZERO, input: Vec::new(), output: Vec::new() };
        let calldata = Cellpack { target: contract, inputs: vec![opcode] }.encode();
        let call = SimulatedCall {
            transaction: &transaction,
            vout: 0,
            calldata: &calldata,
            incoming: &[],
            fuel: PROBE_FUEL,
            interrupted: &|| false,
        };
        match simulate(&mut world, &call) {
            Ok(simulation) => Ok(simulation.result.ok().map(|response| response.data)),
            Err(halt @ (Halt::State(_) | Halt::MissingBuiltin(_))) => Err(halt.into()),
            // A contract on which the engine halts is no pool.
            Err(_) => Ok(None),
        }
    }
}
