//! A block whose transactions carry any integers as their protocol message: it is applied whole, and no output gets more of
//! a token than came in and was issued.

use std::collections::BTreeMap;

use crate::alkanes::{block, deployed, output, transaction};
use bitcoin::{Amount, OutPoint, ScriptBuf, TxOut};
use paraffin_alkanes::{Engine, SavedSheet, StateKey, StateReader, TraceEvent};
use paraffin_primitives::AlkaneId;

/// Cuts the bytes into integers: one byte says how many bytes the next has, 0 to 16.
fn integers(bytes: &[u8]) -> Vec<u128> {
    let mut integers = Vec::new();
    let mut rest = bytes;
    while let Some((length, tail)) = rest.split_first() {
        let length = usize::from(*length % 17).min(tail.len());
        let mut integer = [0; 16];
        integer[..length].copy_from_slice(&tail[..length]);
        integers.push(u128::from_le_bytes(integer));
        rest = &tail[length..];
    }
    integers
}

fn sheet(state: &dyn StateReader, outpoint: OutPoint) -> BTreeMap<AlkaneId, u128> {
    let saved = state.get(&StateKey::Sheet(outpoint)).expect("memory can be read").unwrap_or_default();
    SavedSheet::decode(&saved).expect("the engine writes sheets").entries.into_iter().collect()
}

pub(crate) fn run(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    let stage = deployed();
    let mut state = stage.state.clone();
    let mut outputs: Vec<TxOut> = (0..first % 4).map(|number| output(number + 1)).collect();
    if first & 4 != 0 {
        outputs.push(TxOut { value: Amount::ZERO, script_pubkey: ScriptBuf::new_op_return([1, 2, 3]) });
    }
    let (one, two) = rest.split_at(rest.len() / 2);
    let earlier = transaction(stage.funded, outputs.clone(), &integers(one));
    let spent = OutPoint { txid: earlier.compute_txid(), vout: 0 };
    let later = transaction(spent, outputs, &integers(two));
    let came_in = sheet(&state, stage.funded);
    let block = block(2, vec![earlier, later]);
    let Ok(effects) = stage.engine().run_block(2, &block, &state) else { return };
    let traces: Vec<_> = effects.traces.iter().map(|(_, trace)| trace.clone()).collect();
    state.take_in(effects);

    // What contracts gave in their answers, whether it was undone or not.
    let mut given = BTreeMap::<AlkaneId, u128>::new();
    for event in traces.iter().flat_map(|trace| &trace.events) {
        if let TraceEvent::Exit { response, .. } = event {
            for transfer in &response.alkanes {
                let sum = given.entry(transfer.id).or_default();
                *sum = sum.saturating_add(transfer.value);
            }
        }
    }
    let mut held = BTreeMap::<AlkaneId, u128>::new();
    for (transaction, txid) in block.block.txdata.iter().zip(&block.txids) {
        for vout in 0..u32::try_from(transaction.output.len()).expect("a few outputs") {
            for (id, value) in sheet(&state, OutPoint { txid: *txid, vout }) {
                let sum = held.entry(id).or_default();
                *sum = sum.checked_add(value).expect("sums that overflow make a transaction void");
            }
        }
    }
    for (id, value) in held {
        let of = |amounts: &BTreeMap<AlkaneId, u128>| amounts.get(&id).copied().unwrap_or_default();
        assert!(value <= of(&came_in).saturating_add(of(&given)), "{id}: {value} of {}", of(&came_in));
    }
}
