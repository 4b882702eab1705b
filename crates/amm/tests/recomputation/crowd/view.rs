//! What the crowd knows of the chain: pools and what they hold.

use bitcoin::{OutPoint, ScriptBuf};
use paraffin_alkanes::{ChainState, SavedSheet, Sheet, StateKey, StateReader as _};
use paraffin_devnet::market::FACTORY;
use paraffin_primitives::AlkaneId;

use super::SECOND_FACTORY;
use crate::history::id_of;

/// A contract that executes the instructions in its inputs.
pub(super) const PROBE: AlkaneId = AlkaneId { block: 4, tx: 70_001 };
pub(super) const DIESEL: AlkaneId = AlkaneId { block: 2, tx: 0 };
pub(super) const WRAPPED_BITCOIN: AlkaneId = AlkaneId { block: 32, tx: 0 };

#[derive(Debug, Clone)]
pub(super) struct Pool {
    pub(super) id: AlkaneId,
    pub(super) factory: AlkaneId,
    pub(super) tokens: [AlkaneId; 2],
    pub(super) reserves: [u128; 2],
    pub(super) fee: u128,
}

impl Pool {
    /// The output of a swap for an input.
    pub(super) fn out(&self, place_in: usize, amount: u128) -> Option<u128> {
        let paid = amount.checked_mul(1_000 - self.fee)?;
        let below = self.reserves[place_in].checked_mul(1_000)?.checked_add(paid)?;
        paid.checked_mul(self.reserves[1 - place_in])?.checked_div(below)
    }
}

pub(super) struct View {
    /// Height of the block that is made.
    pub(super) height: u32,
    /// A token that any account can mint.
    pub(super) token: AlkaneId,
    pub(super) pools: Vec<Pool>,
    /// Has a pool's code and state, and no factory knows it.
    pub(super) lookalike: Option<Pool>,
    /// A copy of a pool that was not set up.
    pub(super) bare: Option<AlkaneId>,
    pub(super) signer: ScriptBuf,
}

pub(super) fn sheet(state: &ChainState, outpoint: OutPoint) -> Sheet {
    let mut sheet = Sheet::new();
    if let Some(bytes) = state.get(&StateKey::Sheet(outpoint)).unwrap() {
        for (id, amount) in SavedSheet::decode(&bytes).unwrap().entries {
            sheet.set(id, amount);
        }
    }
    sheet
}

fn number(bytes: &[u8]) -> u128 {
    u128::from_le_bytes(bytes.try_into().unwrap())
}

impl View {
    pub(super) fn of(state: &ChainState, height: u32, token: AlkaneId) -> Self {
        let slot = |id: AlkaneId, key: &[u8]| state.get(&StateKey::Storage(id, key.to_vec())).unwrap();
        let pool = |id: AlkaneId| {
            let tokens = [id_of(&slot(id, b"/alkane/0")?), id_of(&slot(id, b"/alkane/1")?)];
            let held = |what| state.get(&StateKey::Balance { what, who: id }).unwrap().map_or(0, |held| number(&held));
            let fee = slot(id, b"/totalfeeper1000").map_or(10, |fee| number(&fee));
            Some(Pool { id, factory: id_of(&slot(id, b"/factory_id")?), tokens, reserves: tokens.map(held), fee })
        };
        let next = state.get(&StateKey::Sequence).unwrap().map_or(0, |next| number(&next));
        let (mut pools, mut lookalike, mut bare) = (Vec::new(), None, None);
        for id in (0..next).map(|tx| AlkaneId { block: 2, tx }) {
            if slot(id, b"/beacon").is_none() {
                continue;
            }
            match pool(id) {
                None => bare = Some(id),
                Some(pool) if [FACTORY, SECOND_FACTORY].contains(&pool.factory) => pools.push(pool),
                Some(pool) => lookalike = Some(pool),
            }
        }
        let signer = ScriptBuf::from_bytes(slot(WRAPPED_BITCOIN, b"/signer_script_cached").unwrap());
        Self { height, token, pools, lookalike, bare, signer }
    }
}
