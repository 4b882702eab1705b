//! Unconfirmed traffic between blocks: payments, payments that spend those at once, and replacements that take such a family
//! away.

use std::sync::Arc;

use bitcoin::{Amount, OutPoint, Transaction, TxOut, Txid};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

use crate::node::Node;
use crate::scenario::{Coins, ScenarioError, purses};
use crate::wallet::{OutputKind, Wallet};

/// Chance of its own, so that the traffic of the chain stays as it is.
const SALT: u64 = 0x6275_7374_6c65;
/// Smallest coin that a family begins with, in satoshis.
const COIN_MIN: u64 = 1_000_000;
/// Families that are kept going.
const FAMILIES_MAX: usize = 4;
/// Transactions of one family.
const MEMBERS_MAX: usize = 5;
/// How often one family is replaced.
const REPLACEMENTS_MAX: u32 = 3;

/// People who are in a hurry.
#[derive(Debug)]
pub(crate) struct Bustle {
    wallet: Arc<Wallet>,
    random: ChaCha8Rng,
    families: Vec<Family>,
}

/// A payment with what spends it, all unconfirmed.
#[derive(Debug)]
struct Family {
    payer: usize,
    coins: Coins,
    /// Oldest first, each spends the one before.
    members: Vec<Txid>,
    /// Sum of the members' feerates, satoshis per 1,000 virtual bytes.
    feerates: u64,
    /// Who can spend the newest member, and what.
    holder: usize,
    loose: (OutPoint, TxOut),
    replacements: u32,
}

impl Bustle {
    pub(crate) fn new(seed: u64, wallet: Arc<Wallet>) -> Self {
        Self { wallet, random: ChaCha8Rng::seed_from_u64(seed ^ SALT), families: Vec::new() }
    }

    /// What a quiet network shows first: a family of three, and a lone payment.
    ///
    /// # Errors
    /// The node refuses a transaction.
    pub(crate) fn gather(&mut self, node: &Node) -> Result<(), ScenarioError> {
        if !self.begin(node)? {
            return Ok(());
        }
        self.extend(node, 0)?;
        self.extend(node, 0)?;
        self.begin(node).map(|_| ())
    }

    /// And then: the first family replaced by another of two.
    ///
    /// # Errors
    /// The node refuses a transaction.
    pub(crate) fn displace(&mut self, node: &Node) -> Result<(), ScenarioError> {
        self.replace(node, 0)?;
        self.extend(node, 0)
    }

    /// One of these: a new family, another member, a replacement.
    ///
    /// # Errors
    /// The node refuses a transaction.
    pub(crate) fn step(&mut self, node: &Node) -> Result<(), ScenarioError> {
        // Those that a block has taken are over.
        self.families.retain(|family| family.members.iter().all(|txid| node.mempool_transaction(txid).is_some()));
        if self.families.len() < 2 || (self.families.len() < FAMILIES_MAX && self.below(3) == 0) {
            return self.begin(node).map(|_| ());
        }
        let place = self.below(self.families.len());
        let family = &self.families[place];
        let (is_long, is_worn) = (family.members.len() >= MEMBERS_MAX, family.replacements >= REPLACEMENTS_MAX);
        if is_long && is_worn {
            self.families.swap_remove(place);
            return Ok(());
        }
        let is_replaced = is_long || (!is_worn && self.below(3) == 0);
        let outcome = if is_replaced { self.replace(node, place) } else { self.extend(node, place) };
        if outcome.is_err() {
            // Another transaction got in its way.
            self.families.swap_remove(place);
        }
        outcome
    }

    /// A new family; whether an account could pay for it.
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
        let (txid, loose) = self.pay(node, payer, &coins, holder, feerate)?;
        let members = vec![txid];
        self.families.push(Family { payer, coins, members, feerates: feerate, holder, loose, replacements: 0 });
        Ok(true)
    }

    /// The account that was paid last pays the next one.
    fn extend(&mut self, node: &Node, place: usize) -> Result<(), ScenarioError> {
        let feerate = 1_000 + self.random.next_u64() % 4_000;
        let Some(family) = self.families.get(place) else { return Ok(()) };
        let (payer, coins) = (family.holder, vec![family.loose.clone()]);
        let holder = self.other_account(payer);
        let (txid, loose) = self.pay(node, payer, &coins, holder, feerate)?;
        if let Some(family) = self.families.get_mut(place) {
            family.members.push(txid);
            family.feerates += feerate;
            (family.holder, family.loose) = (holder, loose);
        }
        Ok(())
    }

    /// The first payment once more, to another account and for more than the whole family pays.
    fn replace(&mut self, node: &Node, place: usize) -> Result<(), ScenarioError> {
        let Some(family) = self.families.get(place) else { return Ok(()) };
        // Members are of nearly the same size, so twice the sum is more than enough.
        let (payer, coins, feerate) = (family.payer, family.coins.clone(), family.feerates * 2);
        let holder = self.other_account(payer);
        let (txid, loose) = self.pay(node, payer, &coins, holder, feerate)?;
        if let Some(family) = self.families.get_mut(place) {
            family.members = vec![txid];
            family.feerates = feerate;
            (family.holder, family.loose) = (holder, loose);
            family.replacements += 1;
        }
        Ok(())
    }

    /// Half of the coins to another account; the payment and what it made for that account.
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

    fn town(seed: u64) -> (Node, Scenario, Bustle) {
        let wallet = Arc::new(Wallet::new(seed, &ACCOUNT_NAMES));
        let (node, scenario) = (Node::new(None), Scenario::new(seed, Arc::clone(&wallet)));
        for height in 1..=120 {
            node.mine_block(&scenario.miner_script(height)).unwrap();
        }
        (node, scenario, Bustle::new(seed, wallet))
    }

    #[test]
    fn the_opening_is_the_same_every_time_and_holds_a_replaced_family() {
        let open = || {
            let (node, _, mut bustle) = town(5);
            let mut events = node.subscribe();
            bustle.gather(&node).unwrap();
            bustle.displace(&node).unwrap();
            let mut told = Vec::new();
            while let Ok(NodeEvent::Transaction(transaction)) = events.try_recv() {
                told.push(transaction.compute_txid());
            }
            (told, node.mempool_txids())
        };
        let (told, left) = open();
        assert_eq!((told.len(), left.len()), (6, 3), "three of six were replaced");
        assert_eq!(open(), (told, left));
    }

    #[test]
    fn families_grow_are_replaced_and_end_with_blocks() {
        let (node, scenario, mut bustle) = town(6);
        let mut events = node.subscribe();
        for step in 0..300u32 {
            bustle.step(&node).unwrap();
            if step % 50 == 49 {
                node.mine_block(&scenario.miner_script(node.tip().height + 1)).unwrap();
            }
        }
        let (mut told, mut confirmed) = (HashSet::new(), HashSet::new());
        while let Ok(event) = events.try_recv() {
            match event {
                NodeEvent::Transaction(transaction) => _ = told.insert(transaction.compute_txid()),
                NodeEvent::Chain { connected, .. } => {
                    let blocks = connected.iter().filter_map(|hash| node.block(hash));
                    confirmed.extend(blocks.flat_map(|block| {
                        block.txdata.iter().skip(1).map(Transaction::compute_txid).collect::<Vec<_>>()
                    }));
                }
            }
        }
        let pending = node.mempool_txids().len();
        assert!(told.len() > 150 && confirmed.len() > 50, "{} {}", told.len(), confirmed.len());
        assert!(told.len() > confirmed.len() + pending + 30, "{} {} {pending}", told.len(), confirmed.len());
    }

    #[test]
    fn without_money_nothing_is_sent() {
        let (node, wallet) = (Node::new(None), Arc::new(Wallet::new(1, &ACCOUNT_NAMES)));
        let mut bustle = Bustle::new(1, wallet);
        bustle.gather(&node).unwrap();
        bustle.displace(&node).unwrap();
        bustle.step(&node).unwrap();
        assert!(node.mempool_txids().is_empty());
    }
}
