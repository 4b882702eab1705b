use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

use bitcoin::consensus::encode;
use bitcoin::{Block, OutPoint, Transaction, Txid};

use paraffin_primitives::AlkaneId;

use crate::touched::TouchedStorage;
use crate::vm::{BlockCodes, PackedCode, Speculation, Stop};
use crate::{Builtins, CodeCache, FuelTank, Overlay, Parameters, TraceLog};

/// Layers around the first call of a message in a block.
const CALL_DEPTH: usize = 4;

/// The context of the messages of one block: its height, its bytes, the state so far, the fuel left.
pub struct World<'a> {
    /// Network parameters.
    pub parameters: &'a Parameters,
    /// Height of the block; of a simulation, the requested height.
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
    /// Traces so far: saved outside the layers, so they survive a void transaction (protocol B6.7).
    pub traces: TraceLog,
    /// Those of them whose effects were undone after the message.
    pub undone: Vec<OutPoint>,
    /// Transactions of this block that mint 2:0, once counted (protocol B13).
    pub diesel_mints: Option<u128>,
    /// Layers that the reference has opened when the first contract of a message makes a call (protocol B11.1).
    pub(crate) call_depth: usize,
    /// Of a trial: storage writes of contracts.
    pub(crate) touched: Option<TouchedStorage>,
    /// Code that its messages have run.
    pub(crate) block_codes: RefCell<BlockCodes>,
    /// The block as contracts read it, once one has (protocol B10).
    pub(crate) block_bytes: OnceCell<Arc<[u8]>>,
    /// After each transaction: work that it has done, and the tank.
    #[cfg(test)]
    pub(crate) counted: Vec<(u64, FuelTank)>,
    /// Messages of the block that are run before their turn.
    pub(crate) speculation: Option<Speculation<'a>>,
    /// Ids of the block's transactions, once an etching needs them (protocol B20).
    block_txids: OnceCell<Vec<Txid>>,
}

impl<'a> World<'a> {
    /// The world at the start of a block: its tank full, nothing traced.
    pub fn new(
        parameters: &'a Parameters,
        height: u64,
        block: &'a Block,
        state: Overlay<'a>,
        codes: &'a CodeCache,
        builtins: &'a Builtins,
    ) -> Self {
        let tank = FuelTank::fill(parameters, height, block);
        let traces = TraceLog::of(block, parameters.trace_bytes);
        Self { tank, traces, ..Self::of_attempt(parameters, height, block, state, codes, builtins) }
    }

    /// The world of one contract that is run before its turn: without fuel of the block and without traces.
    pub(crate) fn of_attempt(
        parameters: &'a Parameters,
        height: u64,
        block: &'a Block,
        state: Overlay<'a>,
        codes: &'a CodeCache,
        builtins: &'a Builtins,
    ) -> Self {
        Self {
            parameters,
            height,
            block,
            state,
            tank: FuelTank::default(),
            codes,
            builtins,
            traces: TraceLog::default(),
            undone: Vec::new(),
            diesel_mints: None,
            call_depth: CALL_DEPTH,
            touched: None,
            block_codes: RefCell::new(BlockCodes::within(parameters.code_bytes)),
            block_bytes: OnceCell::new(),
            #[cfg(test)]
            counted: Vec::new(),
            speculation: None,
            block_txids: OnceCell::new(),
        }
    }

    /// Notes which protostone of a trial comes next.
    pub(crate) fn begin_protostone(&mut self, index: usize) {
        if let Some(touched) = &mut self.touched {
            touched.begin_protostone(index);
        }
    }

    /// Notes the storage writes of a call in a trial, also when the call is undone later.
    pub(crate) fn record_touched(&mut self, contract: AlkaneId, pairs: &[(Vec<u8>, Vec<u8>)]) {
        if let Some(touched) = &mut self.touched {
            touched.record(contract, pairs);
        }
    }

    /// The code packed in `payload`, which the contract `holder` holds.
    pub(crate) fn packed_code(&self, holder: AlkaneId, payload: Vec<u8>) -> Result<PackedCode, Stop> {
        self.block_codes.borrow_mut().stored(self.codes, &self.state.work, holder, payload)
    }

    /// The block in consensus encoding.
    pub(crate) fn block_bytes(&self) -> Arc<[u8]> {
        self.block_bytes.get_or_init(|| encode::serialize(self.block).into()).clone()
    }

    /// Ids of the block's transactions, in its order.
    pub(crate) fn block_txids(&self) -> &[Txid] {
        self.block_txids.get_or_init(|| self.block.txdata.iter().map(Transaction::compute_txid).collect())
    }
}
