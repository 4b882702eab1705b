//! Transactions in the form of the API, and as rows of a table.

use serde::Deserialize;

use super::stones;
use crate::explorer::{Reader, text};
use crate::html::{grouped, moment};

/// A transaction in the Esplora form.
#[derive(Deserialize)]
pub(in crate::explorer) struct Transaction {
    pub(super) txid: String,
    pub(super) version: i64,
    pub(super) locktime: u32,
    pub(super) vin: Vec<Input>,
    pub(super) vout: Vec<Output>,
    pub(super) size: u64,
    pub(super) weight: u64,
    #[serde(default)]
    pub(super) fee: Option<u64>,
    pub(super) status: Status,
}

/// An input of a transaction.
#[derive(Deserialize)]
pub(super) struct Input {
    pub(super) txid: String,
    pub(super) vout: u32,
    #[serde(default)]
    pub(super) prevout: Option<Output>,
    #[serde(default)]
    pub(super) scriptsig: String,
    #[serde(default)]
    pub(super) witness: Vec<String>,
    pub(super) is_coinbase: bool,
    pub(super) sequence: u32,
}

/// An output.
#[derive(Deserialize)]
pub(super) struct Output {
    pub(super) scriptpubkey: String,
    #[serde(default)]
    pub(super) scriptpubkey_asm: String,
    #[serde(default)]
    pub(super) scriptpubkey_type: String,
    #[serde(default)]
    pub(super) scriptpubkey_address: Option<String>,
    pub(super) value: u64,
}

/// Confirmation status.
#[derive(Deserialize, Default)]
pub(super) struct Status {
    pub(super) confirmed: bool,
    #[serde(default)]
    pub(super) block_height: Option<u32>,
    #[serde(default)]
    pub(super) block_time: Option<i64>,
}

impl Transaction {
    /// Virtual bytes: a quarter of the weight, rounded up.
    pub(super) fn vsize(&self) -> u64 {
        self.weight.div_ceil(4)
    }

    pub(super) fn is_coinbase(&self) -> bool {
        self.vin.iter().any(|input| input.is_coinbase)
    }

    /// Satoshis of all outputs.
    pub(super) fn paid(&self) -> u64 {
        self.vout.iter().fold(0, |sum, output| sum.saturating_add(output.value))
    }

    /// Change of an address's balance, satoshis; negative where it pays.
    pub(super) fn change_of(&self, address: &str) -> i128 {
        let own = |output: &&Output| output.scriptpubkey_address.as_deref() == Some(address);
        let gained: i128 = self.vout.iter().filter(own).map(|output| i128::from(output.value)).sum();
        let spent = self.vin.iter().filter_map(|input| input.prevout.as_ref()).filter(own);
        gained - spent.map(|output| i128::from(output.value)).sum::<i128>()
    }
}

/// Satoshis for one virtual byte, two digits.
pub(super) fn feerate(fee_sats: u64, weight: u64) -> String {
    let hundredths = (u128::from(fee_sats) * 400).checked_div(u128::from(weight)).unwrap_or_default();
    text::amount(hundredths, 2)
}

/// Satoshis with a sign as bitcoin.
pub(super) fn signed_bitcoin(sats: i128) -> String {
    let sign = match sats {
        0 => "",
        ..0 => "−",
        _ => "+",
    };
    format!("{sign}{}", text::bitcoin(u64::try_from(sats.unsigned_abs()).unwrap_or(u64::MAX)))
}

/// A transaction in a table.
pub(in crate::explorer) struct TransactionRow {
    pub(in crate::explorer) txid: String,
    pub(in crate::explorer) short_txid: String,
    /// A label such as `coinbase`.
    pub(in crate::explorer) tags: Vec<String>,
    /// Contracts that it calls.
    pub(in crate::explorer) calls: Vec<stones::CallSummary>,
    pub(in crate::explorer) inputs: String,
    pub(in crate::explorer) outputs: String,
    pub(in crate::explorer) paid: String,
    pub(in crate::explorer) feerate: String,
    pub(in crate::explorer) vsize: String,
    /// Its block, or empty.
    pub(in crate::explorer) height: String,
    pub(in crate::explorer) age: String,
    pub(in crate::explorer) moment: String,
    /// Change of the balance of the page's address, and whether it pays.
    pub(in crate::explorer) change: String,
    pub(in crate::explorer) is_loss: bool,
}

impl TransactionRow {
    pub(in crate::explorer) fn of(transaction: &Transaction, reader: &Reader) -> Self {
        let stones = stones::summary(&transaction.vout);
        let mut tags = Vec::new();
        if transaction.is_coinbase() {
            tags.push("coinbase".to_owned());
        }
        tags.extend(stones.tags);
        let time = transaction.status.block_time;
        let fee = transaction.fee.filter(|_| !transaction.is_coinbase());
        Self {
            txid: text::clean(&transaction.txid, 64),
            short_txid: text::short(&transaction.txid),
            tags,
            calls: stones.calls,
            inputs: grouped(i128::try_from(transaction.vin.len()).unwrap_or_default()),
            outputs: grouped(i128::try_from(transaction.vout.len()).unwrap_or_default()),
            paid: text::bitcoin(transaction.paid()),
            feerate: fee.map_or_else(|| "—".to_owned(), |fee| feerate(fee, transaction.weight)),
            vsize: grouped(transaction.vsize()),
            height: transaction.status.block_height.map(|height| height.to_string()).unwrap_or_default(),
            age: time.map_or_else(|| "unconfirmed".to_owned(), |time| reader.age(time)),
            moment: time.map(|time| moment(time.saturating_mul(1_000))).unwrap_or_default(),
            change: String::new(),
            is_loss: false,
        }
    }

    /// Whether it calls a contract.
    pub(in crate::explorer) fn is_call(&self) -> bool {
        !self.calls.is_empty()
    }

    /// Adds the change of an address's balance, for the page of the address.
    #[must_use]
    pub(super) fn for_address(mut self, transaction: &Transaction, address: &str) -> Self {
        let change = transaction.change_of(address);
        self.change = signed_bitcoin(change);
        self.is_loss = change < 0;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feerates_have_two_digits() {
        for (fee, weight, text) in [(3_543, 798, "17.75"), (0, 4, "0"), (1, 0, "0"), (5, 10, "2")] {
            assert_eq!(feerate(fee, weight), text);
        }
        assert_eq!(feerate(u64::MAX, 1), "73,786,976,294,838,206,460");
    }

    #[test]
    fn changes_have_their_sign() {
        for (sats, text) in [(0, "0.00000000"), (1, "+0.00000001"), (-100_000_000, "−1.00000000")] {
            assert_eq!(signed_bitcoin(sats), text);
        }
        assert!(signed_bitcoin(i128::MIN).starts_with('−'));
    }
}
