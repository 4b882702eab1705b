//! What a caller sends to a view of the contract index: every payload is answered or refused, within the limits of a view.

use std::cell::Cell;
use std::sync::Arc;

use crate::alkanes::{DIESEL, Memory, deployed};
use bitcoin::{OutPoint, Script};
use paraffin_alkanes::views::{self, NAMES, PlacedOutput, ViewChain, ViewContext, ViewError, ViewLimits, ViewState};
use paraffin_alkanes::{BlockTrace, Etching, Parameters, StateError, Trace, Transfer};
use paraffin_primitives::{AlkaneId, Height, Network};

const LIMITS: ViewLimits = ViewLimits { fuel_max: 400_000, calls_max: 20, records_max: 100, answer_bytes_max: 1 << 20 };
/// How often a view may look at the clock.
const PATIENCE: u32 = 10_000;

impl ViewState for Memory {
    fn trace(&self, _: &OutPoint) -> Result<Option<Trace>, StateError> {
        Ok(self.traces.first().cloned())
    }

    fn traces_of_block(&self, _: Height, _: u64) -> Result<Option<Vec<BlockTrace>>, StateError> {
        let placed = self.traces.iter().map(|trace| BlockTrace {
            stands: true,
            outpoint: OutPoint::null(),
            transaction_index: 0,
            trace: trace.clone(),
        });
        Ok(Some(placed.collect()))
    }

    fn first_seen(&self, _: Height) -> Result<Vec<AlkaneId>, StateError> {
        Ok(vec![DIESEL])
    }

    fn etched(&self, _: Height) -> Result<Vec<(AlkaneId, Etching)>, StateError> {
        Ok(Vec::new())
    }

    fn inventory(&self, _: AlkaneId, _: usize) -> Result<Vec<Transfer>, StateError> {
        Ok(Vec::new())
    }

    fn funded(&self, _: &Script, _: usize) -> Result<Vec<OutPoint>, StateError> {
        Ok(vec![Parameters::of(Network::Regtest).genesis_outpoint()])
    }
}

/// A chain without outputs.
struct Nothing;

impl ViewChain for Nothing {
    fn output(&self, _: &OutPoint) -> Result<Option<PlacedOutput>, ViewError> {
        Ok(None)
    }

    fn unspent(&self, _: &Script) -> Result<Vec<OutPoint>, ViewError> {
        Ok(Vec::new())
    }

    fn is_unspent(&self, _: &OutPoint) -> Result<bool, ViewError> {
        Ok(false)
    }
}

pub(crate) fn run(bytes: &[u8]) {
    let Some((first, payload)) = bytes.split_first() else { return };
    let name = NAMES[usize::from(*first) % NAMES.len()];
    let stage = deployed();
    let left = Cell::new(PATIENCE);
    let context = ViewContext {
        parameters: &Parameters::of(Network::Regtest),
        builtins: &Arc::clone(&stage.builtins),
        codes: &Arc::clone(&stage.codes),
        height: 1,
        state: &stage.state,
        chain: &Nothing,
        block: Some(payload),
        limits: &LIMITS,
        is_over: &|| {
            left.set(left.get().saturating_sub(1));
            left.get() == 0
        },
    };
    let _ = views::block_wanted(name, payload);
    if let Ok(answer) = views::call(name, payload, &context) {
        assert!(answer.len() <= LIMITS.answer_bytes_max, "{name}: {} bytes", answer.len());
    }
    if let Ok(block) = bitcoin::consensus::deserialize(payload) {
        let _ = views::preview(&block, "sequence", &[], &context);
    }
}
