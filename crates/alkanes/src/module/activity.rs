//! Scripts that took part in transactions with protostones.

use std::collections::{BTreeMap, HashSet};

use bitcoin::{OutPoint, Script, Transaction};
use paraffin_primitives::ConnectedBlock;

use super::TransactionIndices;
use super::messages::Scripts;
use super::outputs::SpentOutputs;
use crate::BlockEffects;
use crate::codec::{ALKANES_PROTOCOL, Protostone, Runestone};
use crate::reader::{RECEIVES, SPENDS};
use crate::rows::ScriptKey;

/// Adds each transaction that has a protostone for alkanes, void transactions included, to its scripts.
pub(super) fn add<'b>(
    block: &'b ConnectedBlock,
    effects: &BlockEffects,
    indices: &TransactionIndices,
    known: &'b SpentOutputs,
    scripts: &mut Scripts<'b>,
) {
    let funded: HashSet<&OutPoint> = effects.funded.iter().collect();
    for (position, (transaction, txid)) in block.block.txdata.iter().zip(&block.txids).enumerate() {
        let Some(stones) = protostones(transaction) else { continue };
        let mut roles: BTreeMap<ScriptKey, (&Script, u8)> = BTreeMap::new();
        let mut note = |script, role: u8| {
            if !Script::is_op_return(script) {
                roles.entry(ScriptKey::of(script)).or_insert((script, 0)).1 |= role;
            }
        };
        let spent = block.spent.as_ref().and_then(|spent| spent.get(position));
        for (index, input) in transaction.input.iter().enumerate() {
            let OutPoint { txid, vout } = input.previous_output;
            let own = || block.block.txdata.get(*indices.get(&txid)? as usize)?.output.get(vout as usize);
            let spent_script =
                spent.and_then(|spent| spent.get(index)).or_else(own).map(|output| &*output.script_pubkey);
            if let Some(script) =
                spent_script.or_else(|| known.facts(&input.previous_output).map(|output| &*output.script))
            {
                note(script, SPENDS);
            }
        }
        let pointed = |vout: u32| {
            let mut messages = stones.iter().filter(|stone| stone.is_alkanes_message());
            messages.any(|stone| stone.pointer == Some(vout))
        };
        for (vout, output) in (0u32..).zip(&transaction.output) {
            if pointed(vout) || funded.contains(&OutPoint { txid: *txid, vout }) {
                note(&output.script_pubkey, RECEIVES);
            }
        }
        scripts.add(*txid, position as u32, roles);
    }
}

/// The protostones of a transaction when one of them is for alkanes.
fn protostones(transaction: &Transaction) -> Option<Vec<Protostone>> {
    let stones = Runestone::with_protocol(transaction)?.protostones().ok()?;
    stones.iter().any(|stone| stone.protocol_tag == ALKANES_PROTOCOL).then_some(stones)
}
