//! The sender of a message.

use std::cell::OnceCell;

use bitcoin::{ScriptBuf, Transaction};
use paraffin_alkanes::codec::{Artifact, Protostone, shadow_vout};

/// Longer scripts are no actors: no address stands for one, and every event would store it.
const ACTOR_BYTES_MAX: usize = 520;

/// The senders of the messages of one transaction; its protostones are decoded on first use.
pub struct Senders<'t> {
    transaction: &'t Transaction,
    stones: OnceCell<Vec<Protostone>>,
}

/// The sender of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sender {
    /// Index of the protostone among those of the transaction.
    pub protostone: u32,
    /// Script of its pointer output; `None` when it points at no real output or at one that no address has (docs/api.md).
    pub actor: Option<ScriptBuf>,
}

impl<'t> Senders<'t> {
    /// The senders of a transaction's messages.
    pub fn of_transaction(transaction: &'t Transaction) -> Self {
        Self { transaction, stones: OnceCell::new() }
    }

    /// The sender of the message at a shadow output; `None` when there is none.
    pub fn of(&self, vout: u32) -> Option<Sender> {
        let stones = self.stones.get_or_init(|| match Artifact::read(self.transaction) {
            Some(Artifact::Runestone(runestone)) => runestone.protostones().unwrap_or_default(),
            _ => Vec::new(),
        });
        let outputs = &self.transaction.output;
        let protostone = vout.checked_sub(shadow_vout(outputs.len(), 0))?;
        let output = stones.get(protostone as usize)?.pointer.and_then(|pointer| outputs.get(pointer as usize));
        let actor = output.map(|output| &output.script_pubkey).filter(|script| script.len() <= ACTOR_BYTES_MAX);
        Some(Sender { protostone, actor: actor.cloned() })
    }
}
