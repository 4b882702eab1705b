use std::cmp::Reverse;
use std::collections::HashMap;

use bitcoin::{Block, OutPoint, Transaction, Txid};
use paraffin_primitives::AlkaneId;

use super::super::session::Frame;
use crate::Transfer;
use crate::codec::{Cellpack, Runestone, default_destination, shadow_vout};

/// First parts of targets that are contracts already.
const CONTRACT_BLOCKS: [u128; 3] = [2, 4, 32];

/// Most inputs of a transaction that is run ahead: what each of them holds is looked up.
const INPUTS_MAX: usize = 16;

/// The longest series of equal messages of a block: one target, the same inputs, each the only message of its transaction.
pub(crate) struct Series<'b> {
    pub(super) block: &'b Block,
    pub(super) messages: Vec<Planned<'b>>,
    target: AlkaneId,
    inputs: Vec<u128>,
    positions: HashMap<OutPoint, usize>,
}

/// A message of a series.
pub(crate) struct Planned<'b> {
    pub(super) transaction: &'b Transaction,
    pub(super) txid: Txid,
    /// Its shadow output.
    pub(super) vout: u32,
    /// The output that gets all that the message returns, where that is plain to see.
    pub(super) pointer: Option<u32>,
}

impl<'b> Series<'b> {
    /// `None` for a block without messages to contracts.
    pub(super) fn of(block: &'b Block, txids: &'b [Txid]) -> Option<Self> {
        let mut by_calldata: HashMap<Vec<u8>, (Reverse<usize>, Vec<Planned<'b>>)> = HashMap::new();
        for (index, (transaction, txid)) in block.txdata.iter().zip(txids).enumerate() {
            if let Some((calldata, planned)) = planned(transaction, *txid) {
                by_calldata.entry(calldata).or_insert_with(|| (Reverse(index), Vec::new())).1.push(planned);
            }
        }
        // Of series of one length the one that begins first, so that a run can be repeated.
        let longest = by_calldata.into_iter().max_by_key(|(_, (first, messages))| (messages.len(), *first));
        let (calldata, (_, messages)) = longest?;
        let Cellpack { target, inputs } = Cellpack::decode(&calldata).ok()?;
        let shadow = |message: &Planned<'_>| OutPoint { txid: message.txid, vout: message.vout };
        let positions = messages.iter().enumerate().map(|(position, message)| (shadow(message), position)).collect();
        Some(Self { block, messages, target, inputs, positions })
    }

    /// Position of the message with this shadow output.
    pub(super) fn position(&self, shadow: &OutPoint) -> Option<usize> {
        self.positions.get(shadow).copied()
    }

    /// The call that a message makes with these alkanes.
    pub(super) fn frame(&self, incoming: Vec<Transfer>) -> Frame {
        Frame {
            myself: self.target,
            code: self.target,
            caller: AlkaneId::default(),
            incoming,
            inputs: self.inputs.clone(),
            nesting: 0,
        }
    }
}

fn planned(transaction: &Transaction, txid: Txid) -> Option<(Vec<u8>, Planned<'_>)> {
    if transaction.input.len() > INPUTS_MAX {
        return None;
    }
    let stones = Runestone::with_protocol(transaction)?.protostones().ok()?;
    let mut messages = stones.iter().enumerate().filter(|(_, stone)| stone.is_alkanes_message());
    let ((index, stone), None) = (messages.next()?, messages.next()) else { return None };
    Cellpack::decode(&stone.message).ok().filter(|cellpack| CONTRACT_BLOCKS.contains(&cellpack.target.block))?;
    let outputs = &transaction.output;
    let pointer = stone.pointer.unwrap_or_else(|| default_destination(outputs));
    let is_plain = stones.len() == 1 && stone.edicts.is_empty() && (pointer as usize) < outputs.len();
    let planned =
        Planned { transaction, txid, vout: shadow_vout(outputs.len(), index), pointer: is_plain.then_some(pointer) };
    Some((stone.message.clone(), planned))
}
