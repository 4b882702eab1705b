//! Transactions of the market.
//!
//! ```text
//!  inputs   everything with alkanes that the trader has, then one plain coin
//!  outputs  0 postage with all alkanes afterwards   1 runestone   2… what the call asks for   last: change
//!  stones   0 sends what the call needs to stone 1, the rest to output 0   1 the message
//! ```

use bitcoin::absolute::LockTime;
use bitcoin::script::Builder;
use bitcoin::transaction::Version;
use bitcoin::{Amount, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxOut, Txid, Witness};
use paraffin_alkanes::Transfer;
use paraffin_alkanes::codec::{
    ALKANES_PROTOCOL, Cellpack, Edict, Protostone, Runestone, append_envelope, encode_protostones, gzip, shadow_vout,
};
use paraffin_primitives::Amount as Units;

use super::{FOUNDER, Market, MarketError, POSTAGE_SAT, Purse, postage};
use crate::node::Node;
use crate::scenario::largest_mature;

/// Satoshis per 1,000 virtual bytes.
const FEERATE: u64 = 3_000;
/// Output of all alkanes that a transaction does not send elsewhere.
const PURSE_VOUT: u32 = 0;
/// First output that a call may ask for.
pub(super) const FIRST_FREE_VOUT: u128 = 2;

/// What a transaction is to do.
#[derive(Default)]
pub(super) struct Order {
    /// What goes into the call.
    pub sends: Vec<Transfer>,
    /// The call.
    pub call: Option<Cellpack>,
    /// What goes to other people: the first to output 2, the next to output 3, and so on.
    pub gifts: Vec<Transfer>,
    /// Outputs 2 and further.
    pub outputs: Vec<TxOut>,
}

impl Market {
    /// A transaction of a trader; `None` when he has no plain coin.
    pub(super) fn compose(
        &self,
        trader: usize,
        purse: &Purse,
        coin: usize,
        order: &Order,
    ) -> Result<Option<Transaction>, MarketError> {
        let Some(coin) = purse.coins.get(coin) else { return Ok(None) };
        let spent: Vec<(OutPoint, TxOut)> = purse.alkanes.iter().chain([coin]).cloned().collect();
        let build = |change: u64| -> Result<Transaction, MarketError> {
            let mut output = vec![postage(self.script(trader)), TxOut::NULL];
            output.extend(order.outputs.iter().cloned());
            output.push(TxOut { value: Amount::from_sat(change), script_pubkey: self.script(trader) });
            output[1] =
                TxOut { value: Amount::ZERO, script_pubkey: runestone(&stones(order, output.len()), output.len())? };
            Ok(unsigned(spent.iter().map(|(outpoint, _)| *outpoint), output))
        };
        let outputs: Vec<TxOut> = spent.iter().map(|(_, output)| output.clone()).collect();
        let mut draft = build(POSTAGE_SAT)?;
        self.wallet.sign(&mut draft, &outputs)?;
        let paid: u64 = draft.output.iter().map(|output| output.value.to_sat()).sum::<u64>() - POSTAGE_SAT;
        let available: u64 = outputs.iter().map(|output| output.value.to_sat()).sum();
        let Some(change) = available.checked_sub(paid + fee(&draft)).filter(|change| *change > POSTAGE_SAT) else {
            return Ok(None);
        };
        let mut transaction = build(change)?;
        self.wallet.sign(&mut transaction, &outputs)?;
        Ok(Some(transaction))
    }

    /// Composes and hands to the node; returns the txid.
    pub(super) fn send(
        &self,
        node: &Node,
        trader: usize,
        purse: &Purse,
        order: &Order,
    ) -> Result<Option<Txid>, MarketError> {
        match self.compose(trader, purse, 0, order)? {
            Some(transaction) => Ok(Some(node.submit_transaction(transaction)?)),
            None => Ok(None),
        }
    }

    /// Deploys code with the founder's plain coin number `coin`: one transaction commits to the script that holds the code,
    /// the next spends it and carries the message. Returns the txid of the second.
    pub(super) fn deploy(
        &self,
        node: &Node,
        purse: &Purse,
        coin: usize,
        code: &[u8],
        call: Cellpack,
    ) -> Result<Txid, MarketError> {
        let short = || MarketError::Inconsistent("the founder has no coin left to deploy with".to_owned());
        let coin = purse.coins.get(coin).ok_or_else(short)?;
        let key = self.wallet.internal_key(FOUNDER);
        let start = Builder::new().push_x_only_key(&key).push_opcode(bitcoin::opcodes::all::OP_CHECKSIG);
        let leaf = append_envelope(start, &gzip(code)).into_script();
        let commitment = self.wallet.script_path(FOUNDER, &leaf);

        let order = Order { call: Some(call), ..Order::default() };
        let reveal = |from: OutPoint, value: u64| -> Result<Transaction, MarketError> {
            let script_pubkey = runestone(&stones(&order, 3), 3)?;
            let runestone = TxOut { value: Amount::ZERO, script_pubkey };
            let change = TxOut { value: Amount::from_sat(value), script_pubkey: self.script(FOUNDER) };
            Ok(unsigned([from], vec![postage(self.script(FOUNDER)), runestone, change]))
        };
        let available = coin.1.value.to_sat();
        let commit = |value: u64| {
            let output = TxOut { value: Amount::from_sat(value), script_pubkey: commitment.clone() };
            unsigned([coin.0], vec![output])
        };
        let mut draft = commit(available);
        self.wallet.sign(&mut draft, std::slice::from_ref(&coin.1))?;
        let committed = available.checked_sub(fee(&draft)).ok_or_else(short)?;
        let mut first = commit(committed);
        self.wallet.sign(&mut first, std::slice::from_ref(&coin.1))?;

        let from = OutPoint { txid: first.compute_txid(), vout: 0 };
        let mut second = reveal(from, POSTAGE_SAT)?;
        self.wallet.sign_script_path(&mut second, FOUNDER, &first.output, &leaf)?;
        let rest = committed.checked_sub(fee(&second) + POSTAGE_SAT).ok_or_else(short)?;
        let mut second = reveal(from, rest)?;
        self.wallet.sign_script_path(&mut second, FOUNDER, &first.output, &leaf)?;
        node.submit_transaction(first)?;
        Ok(node.submit_transaction(second)?)
    }

    /// Pays the market's accounts out of the patron's largest mature coin.
    pub(super) fn fund(&self, node: &Node, values: &[(usize, u64)]) -> Result<Vec<Txid>, MarketError> {
        let (outpoint, coin) = largest_mature(&self.patron, node).ok_or_else(|| {
            MarketError::Inconsistent("no account has a mature coin to found the market with".to_owned())
        })?;
        let outputs: Vec<TxOut> = values
            .iter()
            .map(|(trader, value)| TxOut { value: Amount::from_sat(*value), script_pubkey: self.script(*trader) })
            .collect();
        let change = coin.script_pubkey.clone();
        let transaction = self.patron.pay(&[(outpoint, coin)], &outputs, &change, FEERATE)?;
        Ok(vec![node.submit_transaction(transaction)?])
    }
}

fn unsigned(inputs: impl IntoIterator<Item = OutPoint>, output: Vec<TxOut>) -> Transaction {
    let input = inputs.into_iter().map(|previous_output| TxIn {
        previous_output,
        script_sig: ScriptBuf::new(),
        sequence: Sequence::ENABLE_RBF_NO_LOCKTIME,
        witness: Witness::new(),
    });
    Transaction { version: Version::TWO, lock_time: LockTime::ZERO, input: input.collect(), output }
}

fn fee(transaction: &Transaction) -> u64 {
    (transaction.vsize() as u64 * FEERATE).div_ceil(1_000)
}

/// The protostones of an order in a transaction of `output_count` outputs.
fn stones(order: &Order, output_count: usize) -> Vec<Protostone> {
    let message = u128::from(shadow_vout(output_count, 1));
    let sends = order.sends.iter().map(|transfer| (transfer, message));
    let edicts = sends.chain(order.gifts.iter().zip(FIRST_FREE_VOUT..)).map(|(transfer, output)| Edict {
        id: transfer.id,
        amount: Units(transfer.value),
        output,
    });
    let mut stones = vec![Protostone {
        protocol_tag: ALKANES_PROTOCOL,
        pointer: Some(PURSE_VOUT),
        edicts: edicts.collect(),
        ..Protostone::default()
    }];
    if let Some(call) = &order.call {
        stones.push(Protostone {
            protocol_tag: ALKANES_PROTOCOL,
            message: call.encode(),
            pointer: Some(PURSE_VOUT),
            refund: Some(PURSE_VOUT),
            ..Protostone::default()
        });
    }
    stones
}

fn runestone(stones: &[Protostone], output_count: usize) -> Result<ScriptBuf, MarketError> {
    let broken = |error: String| MarketError::Inconsistent(format!("a runestone cannot be written: {error}"));
    let protocol = encode_protostones(stones).map_err(|error| broken(error.to_string()))?;
    let stone = Runestone { base: ordinals::Runestone::default(), protocol };
    stone.encode(output_count).map_err(|error| broken(error.to_string()))
}
