//! The set of unspent outputs of the best chain, and a view on top of it for a block that is being checked.

use std::collections::{HashMap, HashSet};

use bitcoin::{OutPoint, Script, ScriptBuf, Transaction, TxOut, Txid};

/// One unspent output and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coin {
    /// Value and script.
    pub output: TxOut,
    /// Height of the block that created it; [`MEMPOOL_HEIGHT`] for an unconfirmed one.
    pub height: u32,
    /// Whether a coinbase created it.
    pub coinbase: bool,
}

/// Height given to outputs of unconfirmed transactions.
pub const MEMPOOL_HEIGHT: u32 = 0x7fff_ffff;

/// Scripts above this size can never be spent (consensus).
const MAX_SCRIPT_SIZE: usize = 10_000;

/// Whether an output can provably never be spent and is therefore not in the set.
pub(crate) fn is_unspendable(script: &Script) -> bool {
    script.is_op_return() || script.len() > MAX_SCRIPT_SIZE
}

/// The unspent outputs of the best chain.
#[derive(Debug, Default)]
pub(crate) struct Coins {
    coins: HashMap<OutPoint, Coin>,
}

impl Coins {
    pub(crate) fn get(&self, outpoint: &OutPoint) -> Option<&Coin> {
        self.coins.get(outpoint)
    }

    /// The outputs that pay one of `scripts`, in outpoint order.
    pub(crate) fn paying(&self, scripts: &HashSet<ScriptBuf>) -> Vec<(OutPoint, Coin)> {
        let mut found: Vec<_> = self
            .coins
            .iter()
            .filter(|(_, coin)| scripts.contains(&coin.output.script_pubkey))
            .map(|(outpoint, coin)| (*outpoint, coin.clone()))
            .collect();
        found.sort_by_key(|(outpoint, _)| *outpoint);
        found
    }

    /// Makes the changes of a checked block permanent.
    pub(crate) fn apply(&mut self, changes: HashMap<OutPoint, Option<Coin>>) {
        for (outpoint, change) in changes {
            match change {
                Some(coin) => self.coins.insert(outpoint, coin),
                None => self.coins.remove(&outpoint),
            };
        }
    }

    /// Takes back what one transaction did: removes its outputs and restores what it spent.
    pub(crate) fn undo(&mut self, tx: &Transaction, txid: Txid, spent: &[Coin]) {
        for vout in 0..u32::try_from(tx.output.len()).unwrap_or(u32::MAX) {
            self.coins.remove(&OutPoint { txid, vout });
        }
        for (input, coin) in tx.input.iter().zip(spent) {
            self.coins.insert(input.previous_output, coin.clone());
        }
    }
}

/// The set as it looks after some transactions of a block that is being checked.
pub(crate) struct CoinsView<'a> {
    base: &'a Coins,
    changes: HashMap<OutPoint, Option<Coin>>,
}

impl<'a> CoinsView<'a> {
    pub(crate) fn new(base: &'a Coins) -> Self {
        Self { base, changes: HashMap::new() }
    }

    pub(crate) fn get(&self, outpoint: &OutPoint) -> Option<&Coin> {
        match self.changes.get(outpoint) {
            Some(change) => change.as_ref(),
            None => self.base.get(outpoint),
        }
    }

    pub(crate) fn spend(&mut self, outpoint: OutPoint) {
        self.changes.insert(outpoint, None);
    }

    pub(crate) fn add_outputs(&mut self, tx: &Transaction, txid: Txid, height: u32) {
        let coinbase = tx.is_coinbase();
        for (vout, output) in (0..).zip(&tx.output) {
            if !is_unspendable(&output.script_pubkey) {
                let coin = Coin { output: output.clone(), height, coinbase };
                self.changes.insert(OutPoint { txid, vout }, Some(coin));
            }
        }
    }

    pub(crate) fn into_changes(self) -> HashMap<OutPoint, Option<Coin>> {
        self.changes
    }
}
