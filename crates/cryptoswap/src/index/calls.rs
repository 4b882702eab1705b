//! Derives visits, storage writes and trades from the calls of a message.

use std::collections::HashMap;

use paraffin_alkanes::{CallKind, TraceContext, Transfer};
use paraffin_amm::Call;
use paraffin_primitives::AlkaneId;
use ruint::aliases::U256;

/// One call on a contract that was kept. A proxy and the implementation that it runs are one visit: the implementation is
/// entered by delegation with the very inputs of the proxy (docs/contracts.md).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Visit<'t> {
    /// The contract whose storage and balances were used.
    pub(crate) contract: AlkaneId,
    /// First input.
    pub(crate) opcode: Option<u128>,
    /// Incoming alkanes.
    incoming: &'t [Transfer],
    /// Alkanes that were returned to the caller.
    returned: &'t [Transfer],
}

/// The visits of a message in the order in which they began. Static calls and calls that were undone are none.
pub(crate) fn visits<'t>(calls: &[Call<'t>]) -> Vec<Visit<'t>> {
    let kept = calls.iter().filter(|call| call.stands && call.kind == CallKind::Call);
    kept.filter_map(|call| {
        let TraceContext { myself, incoming, inputs, .. } = call.context;
        let returned = &call.response?.alkanes;
        Some(Visit { contract: *myself, opcode: inputs.first().copied(), incoming, returned })
    })
    .collect()
}

/// Storage writes of a message: contract, name, value, in the order in which they took effect.
pub(crate) fn writes<'t>(calls: &[Call<'t>]) -> Vec<(AlkaneId, &'t [u8], &'t [u8])> {
    let mut order = Vec::with_capacity(calls.len());
    let mut open: Vec<usize> = Vec::new();
    // A call's storage is written when it ends, which is after the calls that it made.
    for (index, call) in calls.iter().enumerate() {
        while let Some(top) = open.pop_if(|top| call.parent != Some(*top)) {
            order.push(top);
        }
        open.push(index);
    }
    order.extend(open.into_iter().rev());
    let kept = order.into_iter().map(|index| &calls[index]).filter(|call| call.stands);
    kept.flat_map(|call| {
        let storage: &'t [(Vec<u8>, Vec<u8>)] = call.response.map_or(&[], |response| &response.storage);
        storage.iter().map(|(name, value)| (call.context.myself, name.as_slice(), value.as_slice()))
    })
    .collect()
}

/// A trade between two coins of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Trade {
    /// Index of the coin that was sold.
    pub(crate) sold: usize,
    /// The amount of it that the pool kept, base units.
    pub(crate) amount_in: u128,
    /// The amount of the other that it paid, base units.
    pub(crate) amount_out: u128,
}

impl Visit<'_> {
    /// The amounts of an exchange: the incoming amount of one coin less what was returned of it, for the outgoing amount of the other.
    /// `None` when the pool gained neither coin. It does not depend on the order of the call's inputs, of which two are described.
    pub(crate) fn trade(&self, coins: [AlkaneId; 2]) -> Option<Trade> {
        let [zero, one] = self.gains(coins);
        let sold = match (zero, one) {
            (Gain::Got(_), Gain::Got(_)) | (Gain::Gave(_), Gain::Gave(_)) => return None,
            (Gain::Got(_), Gain::Gave(_)) => 0,
            (Gain::Gave(_), Gain::Got(_)) => 1,
        };
        let ([Gain::Got(amount_in), Gain::Gave(amount_out)] | [Gain::Gave(amount_out), Gain::Got(amount_in)]) =
            [zero, one]
        else {
            return None;
        };
        Some(Trade { sold, amount_in, amount_out })
    }

    /// The amounts of a deposit (a withdrawal otherwise): base units of each coin that the pool gained (gave), and of its own token
    /// that it gave out (took back).
    pub(crate) fn liquidity(&self, is_deposit: bool, coins: [AlkaneId; 2]) -> ([u128; 2], u128) {
        let moved = |gain, came: bool| match gain {
            Gain::Got(amount) if came => amount,
            Gain::Gave(amount) if !came => amount,
            Gain::Got(_) | Gain::Gave(_) => 0,
        };
        let [own, _] = self.gains([self.contract; 2]);
        (self.gains(coins).map(|gain| moved(gain, is_deposit)), moved(own, !is_deposit))
    }

    fn gains(&self, coins: [AlkaneId; 2]) -> [Gain; 2] {
        let mut sums: HashMap<AlkaneId, [U256; 2]> = HashMap::new();
        for (direction, transfers) in [self.incoming, self.returned].into_iter().enumerate() {
            for transfer in transfers.iter().filter(|transfer| coins.contains(&transfer.id)) {
                let sum = &mut sums.entry(transfer.id).or_default()[direction];
                *sum = sum.saturating_add(U256::from(transfer.value));
            }
        }
        coins.map(|coin| {
            let [received, paid] = sums.get(&coin).copied().unwrap_or_default();
            let amount = u128::try_from(received.abs_diff(paid)).unwrap_or(u128::MAX);
            if received > paid { Gain::Got(amount) } else { Gain::Gave(amount) }
        })
    }
}

/// The change of a contract's balance of a coin.
#[derive(Debug, Clone, Copy)]
enum Gain {
    Got(u128),
    Gave(u128),
}
