//! Traders: a seeded stream of payments, batches, consolidations, replacements and chains of unconfirmed transactions.

use std::sync::Arc;

use bitcoin::script::PushBytesBuf;
use bitcoin::{Amount, OutPoint, ScriptBuf, Transaction, TxOut, Txid};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

use crate::node::{Node, Rejection};
use crate::wallet::{OutputKind, Wallet, WalletError};

/// Blocks before a coinbase may be spent.
const MATURITY: u32 = 100;
/// Smallest payment, in satoshis.
const PAYMENT_MIN: u64 = 10_000;
/// Largest payment, in satoshis.
const PAYMENT_MAX: u64 = 200_000_000;
/// Most coins that one consolidation gathers.
const CONSOLIDATED_MAX: usize = 12;

/// Why a step of the scenario could not be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScenarioError {
    /// The node refused a transaction of a trader.
    #[error("the node refused a transaction of the scenario: {0}")]
    Refused(#[from] Rejection),
    /// A transaction could not be made.
    #[error("a transaction of the scenario could not be made: {0}")]
    Wallet(#[from] WalletError),
}

pub(crate) type Coins = Vec<(OutPoint, TxOut)>;

/// The traders with their keys and their random numbers. The same seed on the same chain makes the same transactions.
#[derive(Debug)]
pub struct Scenario {
    wallet: Arc<Wallet>,
    random: ChaCha8Rng,
}

impl Scenario {
    /// Traders who own `wallet`.
    pub fn new(seed: u64, wallet: Arc<Wallet>) -> Self {
        Self { wallet, random: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// The script that the block at `height` pays: the accounts take turns.
    pub fn miner_script(&self, height: u32) -> ScriptBuf {
        let accounts = self.wallet.accounts().len().max(1);
        self.wallet.script(height as usize % accounts, OutputKind::Taproot)
    }

    /// Makes the transactions of one block and hands them to the node's mempool; mining is left to the caller.
    /// Returns those that are in the mempool afterwards.
    ///
    /// # Errors
    /// The node refuses a transaction.
    pub fn step(&mut self, node: &Node) -> Result<Vec<Txid>, ScenarioError> {
        let mut purses = purses(&self.wallet, node);
        let mut sent = Vec::new();
        for _ in 0..2 + self.below(4) {
            sent.extend(self.act(node, &mut purses)?);
        }
        Ok(sent)
    }

    /// Makes `count` payments that stay unconfirmed.
    ///
    /// # Errors
    /// The node refuses a transaction.
    pub fn leave_pending(&mut self, node: &Node, count: u32) -> Result<Vec<Txid>, ScenarioError> {
        let mut purses = purses(&self.wallet, node);
        let mut sent = Vec::new();
        for _ in 0..count {
            if let Some(tx) = self.payment(&mut purses)? {
                sent.push(node.submit_transaction(tx)?);
            }
        }
        Ok(sent)
    }

    fn act(&mut self, node: &Node, purses: &mut [Coins]) -> Result<Vec<Txid>, ScenarioError> {
        match self.below(16) {
            0 => self.batch(node, purses),
            1 => self.consolidation(node, purses),
            2 => self.note(node, purses),
            3 => self.replacement(node, purses),
            4 => self.chain(node, purses),
            5..=8 => self.other_kind(node, purses),
            _ => match self.payment(purses)? {
                Some(tx) => Ok(vec![node.submit_transaction(tx)?]),
                None => Ok(Vec::new()),
            },
        }
    }

    fn payment(&mut self, purses: &mut [Coins]) -> Result<Option<Transaction>, ScenarioError> {
        let Some((payer, amount, coins)) = self.draw(purses) else { return Ok(None) };
        let payee = self.other_account(payer);
        let output = self.output(payee, OutputKind::Taproot, amount);
        Ok(Some(self.pay(payer, &coins, &[output])?))
    }

    fn other_kind(&mut self, node: &Node, purses: &mut [Coins]) -> Result<Vec<Txid>, ScenarioError> {
        let Some((payer, amount, coins)) = self.draw(purses) else { return Ok(Vec::new()) };
        let payee = self.other_account(payer);
        let kind = OutputKind::ALL[1 + self.below(4)];
        let tx = self.pay(payer, &coins, &[self.output(payee, kind, amount)])?;
        Ok(vec![node.submit_transaction(tx)?])
    }

    fn batch(&mut self, node: &Node, purses: &mut [Coins]) -> Result<Vec<Txid>, ScenarioError> {
        let Some((payer, amount, coins)) = self.draw(purses) else { return Ok(Vec::new()) };
        let share = (amount / self.wallet.accounts().len() as u64).max(1_000);
        let payees = (0..self.wallet.accounts().len()).filter(|account| *account != payer);
        let outputs: Vec<TxOut> = payees.map(|account| self.output(account, OutputKind::Taproot, share)).collect();
        let tx = self.pay(payer, &coins, &outputs)?;
        Ok(vec![node.submit_transaction(tx)?])
    }

    fn consolidation(&mut self, node: &Node, purses: &mut [Coins]) -> Result<Vec<Txid>, ScenarioError> {
        let account = self.below(purses.len());
        let count = purses[account].len().min(CONSOLIDATED_MAX);
        if count < 3 {
            return Ok(Vec::new());
        }
        let coins: Coins = purses[account].drain(..count).collect();
        let tx = self.pay(account, &coins, &[])?;
        Ok(vec![node.submit_transaction(tx)?])
    }

    fn note(&mut self, node: &Node, purses: &mut [Coins]) -> Result<Vec<Txid>, ScenarioError> {
        let Some((payer, _, coins)) = self.draw(purses) else { return Ok(Vec::new()) };
        let text = format!("paraffin note {}", self.below(1_000_000));
        let payload = PushBytesBuf::try_from(text.into_bytes()).expect("a short text fits into one push");
        let note = TxOut { value: Amount::ZERO, script_pubkey: ScriptBuf::new_op_return(payload) };
        let tx = self.pay(payer, &coins, &[note])?;
        Ok(vec![node.submit_transaction(tx)?])
    }

    fn replacement(&mut self, node: &Node, purses: &mut [Coins]) -> Result<Vec<Txid>, ScenarioError> {
        let Some((payer, amount, coins)) = self.draw(purses) else { return Ok(Vec::new()) };
        let payee = self.other_account(payer);
        let output = self.output(payee, OutputKind::Taproot, amount);
        let change = self.wallet.script(payer, OutputKind::Taproot);
        let first = self.wallet.pay(&coins, std::slice::from_ref(&output), &change, 1_000)?;
        node.submit_transaction(first)?;
        let second = self.wallet.pay(&coins, &[output], &change, 12_000)?;
        Ok(vec![node.submit_transaction(second)?])
    }

    fn chain(&mut self, node: &Node, purses: &mut [Coins]) -> Result<Vec<Txid>, ScenarioError> {
        let Some((payer, amount, mut coins)) = self.draw(purses) else { return Ok(Vec::new()) };
        let (mut holder, mut amount) = (payer, amount);
        let mut sent = Vec::new();
        for _ in 0..2 + self.below(3) {
            let payee = self.other_account(holder);
            let output = self.output(payee, OutputKind::Taproot, amount);
            let tx = self.pay(holder, &coins, std::slice::from_ref(&output))?;
            let txid = node.submit_transaction(tx.clone())?;
            sent.push(txid);
            let Some((vout, _)) = (0..).zip(&tx.output).find(|(_, candidate)| **candidate == output) else { break };
            coins = vec![(OutPoint { txid, vout }, output)];
            holder = payee;
            amount /= 2;
            if amount < PAYMENT_MIN {
                break;
            }
        }
        Ok(sent)
    }

    /// A payer, an amount and coins that cover it and the fee, taken out of the payer's purse.
    fn draw(&mut self, purses: &mut [Coins]) -> Option<(usize, u64, Coins)> {
        const FEE_MAX: u64 = 100_000;
        let payer = self.below(purses.len());
        let balance: u64 = purses[payer].iter().map(|(_, output)| output.value.to_sat()).sum();
        let most = (balance / 4).min(PAYMENT_MAX);
        if most <= PAYMENT_MIN + FEE_MAX {
            return None;
        }
        let amount = PAYMENT_MIN + self.random.next_u64() % (most - PAYMENT_MIN);
        let mut coins = Coins::new();
        let mut gathered = 0;
        while gathered < amount + FEE_MAX && !purses[payer].is_empty() {
            let index = self.below(purses[payer].len());
            let coin = purses[payer].remove(index);
            gathered += coin.1.value.to_sat();
            coins.push(coin);
        }
        Some((payer, amount, coins))
    }

    fn pay(&mut self, payer: usize, coins: &Coins, outputs: &[TxOut]) -> Result<Transaction, WalletError> {
        let feerate = 1_000 + self.random.next_u64() % 20_000;
        self.wallet.pay(coins, outputs, &self.wallet.script(payer, OutputKind::Taproot), feerate)
    }

    fn output(&self, account: usize, kind: OutputKind, sats: u64) -> TxOut {
        TxOut { value: Amount::from_sat(sats), script_pubkey: self.wallet.script(account, kind) }
    }

    fn other_account(&mut self, account: usize) -> usize {
        let accounts = self.wallet.accounts().len();
        (account + 1 + self.below(accounts.saturating_sub(1).max(1))) % accounts
    }

    /// A number below `limit`; 0 when `limit` is 0.
    fn below(&mut self, limit: usize) -> usize {
        let limit = (limit as u64).max(1);
        usize::try_from(self.random.next_u64() % limit).unwrap_or(0)
    }
}

/// What every account can spend in the next block.
pub(crate) fn purses(wallet: &Wallet, node: &Node) -> Vec<Coins> {
    let next = node.tip().height + 1;
    (0..wallet.accounts().len())
        .map(|account| {
            node.spendable(&wallet.scripts(account))
                .into_iter()
                // The chain may have grown between the two reads.
                .filter(|(_, coin)| !coin.coinbase || next.saturating_sub(coin.height) >= MATURITY)
                // Postage: a received output may hold tokens.
                .filter(|(_, coin)| coin.output.value.to_sat() >= PAYMENT_MIN)
                .map(|(outpoint, coin)| (outpoint, coin.output))
                .collect()
        })
        .collect()
}

/// The largest mature output of all accounts that nothing spends; none while the chain is too short.
pub(crate) fn largest_mature(wallet: &Wallet, node: &Node) -> Option<(OutPoint, TxOut)> {
    let next = node.tip().height + 1;
    let scripts = (0..wallet.accounts().len()).flat_map(|account| wallet.scripts(account)).collect();
    let coins = node.spendable(&scripts).into_iter();
    let mature = coins.filter(|(_, coin)| !coin.coinbase || next - coin.height >= MATURITY);
    let largest = mature.max_by_key(|(outpoint, coin)| (coin.output.value, *outpoint));
    largest.map(|(outpoint, coin)| (outpoint, coin.output))
}
