//! Unconfirmed traffic between blocks: payments, packages of payments that spend one another, and replacements of whole
//! packages.

use std::sync::Arc;

use bitcoin::{Amount, OutPoint, Transaction, TxOut, Txid};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

use crate::node::Node;
use crate::scenario::{Coins, ScenarioError, purses};
use crate::wallet::{OutputKind, Wallet};

/// Random numbers of its own, so that the transactions of the chain do not change.
const SALT: u64 = 0x6275_7374_6c65;
/// Smallest coin that a package spends, in satoshis.
const COIN_MIN: u64 = 1_000_000;
/// Most packages at a time.
const PACKAGES_MAX: usize = 4;
/// Transactions of one package.
const MEMBERS_MAX: usize = 5;
/// How often one package is replaced.
const REPLACEMENTS_MAX: u32 = 3;

/// Senders of unconfirmed transactions between blocks.
#[derive(Debug)]
pub(crate) struct MempoolTraffic {
    wallet: Arc<Wallet>,
    random: ChaCha8Rng,
    packages: Vec<Package>,
}

/// A payment and its descendants, all unconfirmed.
#[derive(Debug)]
struct Package {
    payer: usize,
    coins: Coins,
    /// Oldest first, each spends the one before.
    members: Vec<Txid>,
    /// Sum of the members' feerates, satoshis per 1,000 virtual bytes.
    feerates: u64,
    /// Account that can spend the newest member, and the output to spend.
    holder: usize,
    unspent: (OutPoint, TxOut),
    replacements: u32,
}

impl MempoolTraffic {
    pub(crate) fn new(seed: u64, wallet: Arc<Wallet>) -> Self {
        Self { wallet, random: ChaCha8Rng::seed_from_u64(seed ^ SALT), packages: Vec::new() }
    }

    /// The first transactions: a package of three, and a single payment.
    ///
    /// # Errors
    /// The node refuses a transaction.
    pub(crate) fn open(&mut self, node: &Node) -> Result<(), ScenarioError> {
        if !self.begin(node)? {
            return Ok(());
        }
        self.extend(node, 0)?;
        self.extend(node, 0)?;
        self.begin(node).map(|_| ())
    }

    /// Replaces the first package by another of two transactions.
    ///
    /// # Errors
    /// The node refuses a transaction.
    pub(crate) fn replace_first(&mut self, node: &Node) -> Result<(), ScenarioError> {
        self.replace(node, 0)?;
        self.extend(node, 0)
    }

    /// Sends one transaction: of a new package, a further member, or a replacement.
    ///
    /// # Errors
    /// The node refuses a transaction.
    pub(crate) fn step(&mut self, node: &Node) -> Result<(), ScenarioError> {
        // Packages with a confirmed or replaced member are done.
        self.packages.retain(|package| package.members.iter().all(|txid| node.mempool_transaction(txid).is_some()));
        if self.packages.len() < 2 || (self.packages.len() < PACKAGES_MAX && self.below(3) == 0) {
            return self.begin(node).map(|_| ());
        }
        let index = self.below(self.packages.len());
        let package = &self.packages[index];
        let (is_long, is_exhausted) = (package.members.len() >= MEMBERS_MAX, package.replacements >= REPLACEMENTS_MAX);
        if is_long && is_exhausted {
            self.packages.swap_remove(index);
            return Ok(());
        }
        let is_replaced = is_long || (!is_exhausted && self.below(3) == 0);
        let outcome = if is_replaced { self.replace(node, index) } else { self.extend(node, index) };
        if outcome.is_err() {
            // A conflicting transaction was accepted.
            self.packages.swap_remove(index);
        }
        outcome
    }

    /// Begins a package; returns whether an account could pay for it.
    fn begin(&mut self, node: &Node) -> Result<bool, ScenarioError> {
        let mut purses = purses(&self.wallet, node);
        let payer = self.below(purses.len());
        let purse = &mut purses[payer];
        purse.retain(|(_, output)| output.value.to_sat() >= COIN_MIN);
        if purse.is_empty() {
            return Ok(false);
        }
        let coin = purse.swap_remove(self.below(purse.len()));
        let (coins, feerate) = (vec![coin], 1_000 + self.random.next_u64() % 4_000);
        let holder = self.other_account(payer);
        let (txid, unspent) = self.pay(node, payer, &coins, holder, feerate)?;
        let members = vec![txid];
        self.packages.push(Package { payer, coins, members, feerates: feerate, holder, unspent, replacements: 0 });
        Ok(true)
    }

    /// The account that was paid last pays the next one.
    fn extend(&mut self, node: &Node, index: usize) -> Result<(), ScenarioError> {
        let feerate = 1_000 + self.random.next_u64() % 4_000;
        let Some(package) = self.packages.get(index) else { return Ok(()) };
        let (payer, coins) = (package.holder, vec![package.unspent.clone()]);
        let holder = self.other_account(payer);
        let (txid, unspent) = self.pay(node, payer, &coins, holder, feerate)?;
        if let Some(package) = self.packages.get_mut(index) {
            package.members.push(txid);
            package.feerates += feerate;
            (package.holder, package.unspent) = (holder, unspent);
        }
        Ok(())
    }

    /// Replaces the first payment by one to another account, for a higher fee than the whole package pays.
    fn replace(&mut self, node: &Node, index: usize) -> Result<(), ScenarioError> {
        let Some(package) = self.packages.get(index) else { return Ok(()) };
        // Members are of nearly the same size, so twice the sum is more than enough.
        let (payer, coins, feerate) = (package.payer, package.coins.clone(), package.feerates * 2);
        let holder = self.other_account(payer);
        let (txid, unspent) = self.pay(node, payer, &coins, holder, feerate)?;
        if let Some(package) = self.packages.get_mut(index) {
            package.members = vec![txid];
            package.feerates = feerate;
            (package.holder, package.unspent) = (holder, unspent);
            package.replacements += 1;
        }
        Ok(())
    }

    /// Pays half of the coins to another account; returns the txid and the output of that account.
    fn pay(
        &self,
        node: &Node,
        payer: usize,
        coins: &Coins,
        payee: usize,
        feerate: u64,
    ) -> Result<(Txid, (OutPoint, TxOut)), ScenarioError> {
        let half = coins.iter().map(|(_, output)| output.value.to_sat()).sum::<u64>() / 2;
        let script = |account| self.wallet.script(account, OutputKind::Taproot);
        let output = TxOut { value: Amount::from_sat(half), script_pubkey: script(payee) };
        let payment: Transaction = self.wallet.pay(coins, std::slice::from_ref(&output), &script(payer), feerate)?;
        let vout = (0..).zip(&payment.output).find(|(_, made)| **made == output).map_or(0, |(vout, _)| vout);
        let txid = node.submit_transaction(payment)?;
        Ok((txid, (OutPoint { txid, vout }, output)))
    }

    fn other_account(&mut self, account: usize) -> usize {
        let accounts = self.wallet.accounts().len();
        (account + 1 + self.below(accounts.saturating_sub(1))) % accounts.max(1)
    }

    /// A number below `limit`; 0 when `limit` is 0.
    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.random.next_u64() % (limit as u64).max(1)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::{ACCOUNT_NAMES, NodeEvent, Scenario};

    fn funded_chain(seed: u64) -> (Node, Scenario, MempoolTraffic) {
        let wallet = Arc::new(Wallet::new(seed, &ACCOUNT_NAMES));
        let (node, scenario) = (Node::new(None), Scenario::new(seed, Arc::clone(&wallet)));
        for height in 1..=120 {
            node.mine_block(&scenario.miner_script(height)).unwrap();
        }
        (node, scenario, MempoolTraffic::new(seed, wallet))
    }

    #[test]
    fn the_opening_is_the_same_every_time_and_holds_a_replaced_package() {
        let run = || {
            let (node, _, mut traffic) = funded_chain(5);
            let mut events = node.subscribe();
            traffic.open(&node).unwrap();
            traffic.replace_first(&node).unwrap();
            let mut announced = Vec::new();
            while let Ok(NodeEvent::Transaction(transaction)) = events.try_recv() {
                announced.push(transaction.compute_txid());
            }
            (announced, node.mempool_txids())
        };
        let (announced, left) = run();
        assert_eq!((announced.len(), left.len()), (6, 3), "three of six were replaced");
        assert_eq!(run(), (announced, left));
    }

    #[test]
    fn packages_grow_are_replaced_and_end_with_blocks() {
        let (node, scenario, mut traffic) = funded_chain(6);
        let mut events = node.subscribe();
        for step in 0..300u32 {
            traffic.step(&node).unwrap();
            if step % 50 == 49 {
                node.mine_block(&scenario.miner_script(node.tip().height + 1)).unwrap();
            }
        }
        let (mut announced, mut confirmed) = (HashSet::new(), HashSet::new());
        while let Ok(event) = events.try_recv() {
            match event {
                NodeEvent::Transaction(transaction) => _ = announced.insert(transaction.compute_txid()),
                NodeEvent::Chain { connected, .. } => {
                    let blocks = connected.iter().filter_map(|hash| node.block(hash));
                    confirmed.extend(blocks.flat_map(|block| {
                        block.txdata.iter().skip(1).map(Transaction::compute_txid).collect::<Vec<_>>()
                    }));
                }
            }
        }
        let pending = node.mempool_txids().len();
        assert!(announced.len() > 150 && confirmed.len() > 50, "{} {}", announced.len(), confirmed.len());
        assert!(announced.len() > confirmed.len() + pending + 30, "{} {} {pending}", announced.len(), confirmed.len());
    }

    #[test]
    fn without_coins_nothing_is_sent() {
        let (node, wallet) = (Node::new(None), Arc::new(Wallet::new(1, &ACCOUNT_NAMES)));
        let mut traffic = MempoolTraffic::new(1, wallet);
        traffic.open(&node).unwrap();
        traffic.replace_first(&node).unwrap();
        traffic.step(&node).unwrap();
        assert!(node.mempool_txids().is_empty());
    }
}
