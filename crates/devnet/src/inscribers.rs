//! Inscriptions, a rune and a BRC-20 token on the devnet, made by real transactions of accounts of their own.
//!
//! Small outputs of these accounts hold an inscription or a rune, so the value alone identifies a plain coin.
//! Except for one coin of the [`Scenario`](crate::Scenario)'s accounts, which pays for everything, they touch no other
//! account's coins, so they never hold alkanes. What they give away is in outputs too small for any account's payments.

mod founding;
mod inscription;
mod rune;

use std::sync::Arc;

use bitcoin::absolute::LockTime;
use bitcoin::transaction::Version;
use bitcoin::{Amount, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxOut, Txid, Witness};
use ordinals::RuneId;

use self::inscription::InscriptionDraft;
use crate::node::Node;
use crate::scenario::{ScenarioError, largest_mature};
use crate::wallet::{OutputKind, Wallet, WalletError};

/// First height whose block holds a transaction of the inscribers: the first coinbase is mature.
const FIRST_HEIGHT: u32 = 101;
/// Accounts that inscribe and that mint the rune. The names determine the keys.
const NAMES: [&str; 2] = ["scribe", "minter"];
const INSCRIBER: usize = 0;
const MINTER: usize = 1;
/// Coins that each account begins with, in satoshis.
const FUNDS: [(usize, u64); 5] =
    [(INSCRIBER, COIN_SAT), (INSCRIBER, COIN_SAT), (MINTER, COIN_SAT), (MINTER, COIN_SAT), (MINTER, COIN_SAT)];
const COIN_SAT: u64 = 20_000_000;
/// Smallest plain coin, in satoshis. Smaller outputs hold inscriptions or runes.
const COIN_MIN: u64 = 50_000;
/// Value in satoshis of an output that holds an inscription or a rune and nothing else.
const POSTAGE_SAT: u64 = 1_000;
/// Satoshis per 1,000 virtual bytes.
const FEERATE: u64 = 3_000;

/// An unspent output.
type Held = (OutPoint, TxOut);

/// Samples that the inscribers have made so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InscribersSummary {
    /// Inscriptions of the founding by what each one shows, oldest first, with the transactions that reveal them.
    pub inscriptions: Vec<(&'static str, Txid)>,
    /// Name of the rune with its spacers, once it is etched.
    pub rune: Option<String>,
    /// Ticker of the BRC-20 token, once it is deployed.
    pub ticker: Option<&'static str>,
}

/// The inscribers with their keys and their state. Their transactions follow from the seed, the chain and the height.
pub struct Inscribers {
    wallet: Wallet,
    patron: Arc<Wallet>,
    made: Vec<(&'static str, Txid)>,
    has_token: bool,
    /// The output that commits to the rune's name, with its script, until it is old enough.
    committed: Option<(Held, ScriptBuf)>,
    etching: Option<Txid>,
    rune: Option<RuneId>,
}

impl std::fmt::Debug for Inscribers {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Inscribers").field("made", &self.made).field("rune", &self.rune).finish_non_exhaustive()
    }
}

impl Inscribers {
    /// Inscribers that are funded by an account of `patron`.
    pub fn new(seed: u64, patron: Arc<Wallet>) -> Self {
        let wallet = Wallet::new(seed ^ u64::from_le_bytes(*b"scribes\0"), &NAMES);
        Self { wallet, patron, made: Vec::new(), has_token: false, committed: None, etching: None, rune: None }
    }

    /// Makes the inscribers' transactions of the next block and hands them to the node. They must come before those of the
    /// [`Scenario`](crate::Scenario), which would spend the first coin.
    ///
    /// # Errors
    /// The node refuses a transaction.
    pub fn step(&mut self, node: &Node) -> Result<Vec<Txid>, ScenarioError> {
        let height = node.tip().height + 1;
        match height.checked_sub(FIRST_HEIGHT) {
            None => Ok(Vec::new()),
            Some(step) if step < founding::STEPS => self.found(node, step),
            Some(_) => self.go_on(node, height),
        }
    }

    /// The samples that exist now.
    pub fn summary(&self) -> InscribersSummary {
        InscribersSummary {
            inscriptions: self.made.clone(),
            rune: self.etching.map(|_| rune::name()),
            ticker: self.has_token.then_some(inscription::TICKER),
        }
    }

    /// By the height: a note, a mint of the token, a mint of the rune, some of the rune to one of the scenario's accounts.
    fn go_on(&mut self, node: &Node, height: u32) -> Result<Vec<Txid>, ScenarioError> {
        let account = if matches!(height % 5, 0 | 1) { INSCRIBER } else { MINTER };
        let Some(mut coin) = self.coins(node, account).into_iter().next() else { return Ok(Vec::new()) };
        let own = self.script(INSCRIBER);
        let sent = match height % 5 {
            0 => Some(self.inscribe(node, &mut coin, &InscriptionDraft::text(&format!("Block {height}.")), own)?),
            1 if self.has_token => Some(self.inscribe(node, &mut coin, &InscriptionDraft::mint(), own)?),
            2 => self.mint_rune(node, &mut coin)?,
            3 => {
                let guest = self.guest(height as usize / 5);
                self.send_rune(node, &mut coin, &[(u128::from(height), guest)])?
            }
            _ => None,
        };
        Ok(sent.into_iter().collect())
    }

    fn script(&self, account: usize) -> ScriptBuf {
        self.wallet.script(account, OutputKind::Taproot)
    }

    /// The script of one of the scenario's accounts, in turn.
    fn guest(&self, turn: usize) -> ScriptBuf {
        let accounts = self.patron.accounts().len().max(1);
        self.patron.script(turn % accounts, OutputKind::Taproot)
    }

    /// Plain coins that an account can spend in the next block, largest first.
    fn coins(&self, node: &Node, account: usize) -> Vec<Held> {
        let mut coins = self.held(node, account);
        coins.retain(|(_, output)| output.value.to_sat() >= COIN_MIN);
        coins.sort_by_key(|(outpoint, output)| (std::cmp::Reverse(output.value), *outpoint));
        coins
    }

    /// Every unspent output of an account.
    fn held(&self, node: &Node, account: usize) -> Vec<Held> {
        let coins = node.spendable(&[self.script(account)].into()).into_iter();
        coins.map(|(outpoint, coin)| (outpoint, coin.output)).collect()
    }

    /// Pays the inscribers' accounts out of the patron's largest mature coin.
    fn fund(&self, node: &Node) -> Result<Option<Txid>, ScenarioError> {
        let Some(coin) = largest_mature(&self.patron, node) else { return Ok(None) };
        let outputs: Vec<TxOut> = FUNDS
            .iter()
            .map(|(account, sats)| TxOut { value: Amount::from_sat(*sats), script_pubkey: self.script(*account) })
            .collect();
        let change = coin.1.script_pubkey.clone();
        let payment = self.patron.pay(&[coin], &outputs, &change, FEERATE)?;
        Ok(Some(node.submit_transaction(payment)?))
    }

    /// Commits to an inscription and reveals it at once, to `to`.
    fn inscribe(
        &self,
        node: &Node,
        coin: &mut Held,
        draft: &InscriptionDraft,
        to: ScriptBuf,
    ) -> Result<Txid, ScenarioError> {
        let (commitment, leaf) = self.commit(node, coin, draft, None)?;
        self.transact(node, INSCRIBER, &[commitment], coin, &[postage(to)], Some(&leaf))
    }

    /// The output that commits to `draft`, with the script that reveals it. The first sat of `onto`, an output of the
    /// inscriber, goes to it.
    fn commit(
        &self,
        node: &Node,
        coin: &mut Held,
        draft: &InscriptionDraft,
        onto: Option<&Held>,
    ) -> Result<(Held, ScriptBuf), ScenarioError> {
        let leaf = draft.script(&self.wallet.internal_key(INSCRIBER));
        let output = postage(self.wallet.script_path(INSCRIBER, &leaf));
        let txid = self.transact(
            node,
            INSCRIBER,
            onto.map_or(&[], std::slice::from_ref),
            coin,
            std::slice::from_ref(&output),
            None,
        )?;
        Ok(((OutPoint { txid, vout: 0 }, output), leaf))
    }

    /// Spends `spent` and then `coin`, all of `account`, to `outputs` and the change, which becomes `coin`. With a `leaf` the
    /// first of `spent` commits to it. Sats keep their order: an inscription goes to the output with the index of its input
    /// where all outputs up to that one have as many sats as the inputs of the same indexes.
    fn transact(
        &self,
        node: &Node,
        account: usize,
        spent: &[Held],
        coin: &mut Held,
        outputs: &[TxOut],
        leaf: Option<&ScriptBuf>,
    ) -> Result<Txid, ScenarioError> {
        let inputs: Vec<&Held> = spent.iter().chain([&*coin]).collect();
        let outputs_spent: Vec<TxOut> = inputs.iter().map(|(_, output)| output.clone()).collect();
        let sum = |outputs: &[TxOut]| outputs.iter().map(|output| output.value.to_sat()).sum::<u64>();
        let change_vout = outputs.len();
        let signed = |change: u64| -> Result<Transaction, WalletError> {
            let change = TxOut { value: Amount::from_sat(change), script_pubkey: self.script(account) };
            let mut transaction = Transaction {
                version: Version::TWO,
                lock_time: LockTime::ZERO,
                input: inputs.iter().map(|(outpoint, _)| unsigned_input(*outpoint)).collect(),
                output: outputs.iter().cloned().chain([change]).collect(),
            };
            match leaf {
                None => self.wallet.sign(&mut transaction, &outputs_spent)?,
                Some(leaf) => self.wallet.sign_script_path(&mut transaction, account, &outputs_spent, leaf)?,
            }
            Ok(transaction)
        };
        let draft = signed(COIN_MIN)?;
        let available = sum(&outputs_spent);
        let needed = sum(outputs) + (draft.vsize() as u64 * FEERATE).div_ceil(1_000);
        let change = available.checked_sub(needed).filter(|change| *change >= COIN_MIN);
        let transaction = signed(change.ok_or(WalletError::InsufficientFunds { available, needed })?)?;
        let change = transaction.output[change_vout].clone();
        let txid = node.submit_transaction(transaction)?;
        *coin = (OutPoint { txid, vout: u32::try_from(change_vout).unwrap_or(u32::MAX) }, change);
        Ok(txid)
    }
}

fn unsigned_input(previous_output: OutPoint) -> TxIn {
    TxIn {
        previous_output,
        script_sig: ScriptBuf::new(),
        sequence: Sequence::ENABLE_RBF_NO_LOCKTIME,
        witness: Witness::new(),
    }
}

/// An output that holds an inscription or a rune and nothing else.
fn postage(script_pubkey: ScriptBuf) -> TxOut {
    TxOut { value: Amount::from_sat(POSTAGE_SAT), script_pubkey }
}
