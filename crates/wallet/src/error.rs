//! Why there is no plan.

use bitcoin::{OutPoint, ScriptBuf, Txid};
use paraffin_alkanes::codec::RunestoneEncodeError;
use paraffin_primitives::AlkaneId;

use crate::alkanes::AlkanesOverflow;
use crate::coin::ExclusionReason;
use crate::fee_rate::FeeRate;
use crate::ledger::LedgerError;

/// Why a transaction cannot be planned; the text names a remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Not enough satoshis in coins that may be spent.
    #[error("the coins that may be spent hold {available} satoshis, {needed} are needed{}", kept_back(excluded))]
    InsufficientFunds {
        /// Satoshis of the coins that may be spent.
        available: u64,
        /// Satoshis of the outputs and the fee.
        needed: u64,
        /// Coins that were not touched: reason, number, satoshis.
        excluded: Vec<(ExclusionReason, usize, u64)>,
    },
    /// Not enough of an alkane.
    #[error("the coins that may be spent hold {available} of {id}, {needed} are needed{}", kept_back(excluded))]
    InsufficientAlkanes {
        /// Which one.
        id: AlkaneId,
        /// Base units in coins that may be spent.
        available: u128,
        /// Base units that the intent needs.
        needed: u128,
        /// Coins that may hold more and were not touched: reason, number, satoshis.
        excluded: Vec<(ExclusionReason, usize, u64)>,
    },
    /// Amounts add up beyond 128 bits; such a transaction would lose everything.
    #[error("{0}: spend fewer coins at once")]
    Overflow(#[from] AlkanesOverflow),
    /// Satoshis add up to more than there are.
    #[error("the values of the coins add up to more than all bitcoin: the list of coins is wrong")]
    ImpossibleValue,
    /// A coin was listed twice.
    #[error("the coin {0} is listed twice: the list of coins is wrong")]
    ListedTwice(OutPoint),
    /// A named coin is not among the owner's coins.
    #[error("the coin {0} is not an unspent output of the address")]
    UnknownCoin(OutPoint),
    /// A named coin cannot be spent yet.
    #[error("the coin {0} is the reward of a block with fewer than 100 confirmations: wait")]
    Immature(OutPoint),
    /// A coin whose script this wallet cannot spend.
    #[error(
        "the coin {0} is of a kind that cannot be spent here: use a taproot (p2tr) or witness public key hash (p2wpkh) \
         address"
    )]
    UnsupportedCoin(OutPoint),
    /// An output below the dust limit.
    #[error("an output of {sats} satoshis to {script} would not be relayed: pay at least {minimum}")]
    Dust {
        /// Script that it pays.
        script: ScriptBuf,
        /// Satoshis of the output.
        sats: u64,
        /// The limit for this kind of script.
        minimum: u64,
    },
    /// Nothing is sent.
    #[error("there is nothing to send: name an amount")]
    Nothing,
    /// The fee is out of proportion.
    #[error(
        "the fee would be {fee} satoshis, more than a tenth of the {moved} that move: lower the feerate, or allow it with \
         --allow-high-fee"
    )]
    HighFee {
        /// Satoshis.
        fee: u64,
        /// Satoshis of all outputs but the change.
        moved: u64,
    },
    /// Heavier than nodes relay.
    #[error("the transaction would weigh {weight} weight units; nodes relay up to 400000: {advice}")]
    TooHeavy {
        /// Weight units.
        weight: u64,
        /// What to do.
        advice: &'static str,
    },
    /// The runestone is larger than any node relays.
    #[error("the OP_RETURN output would take {bytes} bytes; nodes relay up to 100000: give fewer inputs")]
    OpReturnTooLong {
        /// Bytes of the script.
        bytes: usize,
    },
    /// The runestone cannot be written.
    #[error("the runestone cannot be written: {0}")]
    Runestone(#[from] RunestoneEncodeError),
    /// The contract code has no bytes.
    #[error("the contract code is empty")]
    NoCode,
    /// The output that waits for its reveal holds too little.
    #[error(
        "the commit output holds {available} satoshis, the reveal needs {needed}: use a feerate of at most {affordable}"
    )]
    CommitTooSmall {
        /// Satoshis of the commit output, and of coins that are spent with it.
        available: u64,
        /// Satoshis of outputs and fee.
        needed: u64,
        /// What it suffices for, in satoshis per virtual byte.
        affordable: FeeRate,
    },
    /// The commit output was made with another key, other code or another leaf.
    #[error("output {vout} of {txid} does not commit to this code and key: give the same file and key as then")]
    OtherCommit {
        /// Transaction of the commit.
        txid: Txid,
        /// Its output.
        vout: u32,
    },
    /// The finished transaction was read again and would lose alkanes. A defect of this program; nothing was signed.
    #[error("refused: the transaction would lose alkanes ({0}); please report this")]
    WouldLose(String),
    /// The finished transaction cannot be followed.
    #[error("refused: {0}")]
    Ledger(#[from] LedgerError),
}

fn kept_back(excluded: &[(ExclusionReason, usize, u64)]) -> String {
    let parts: Vec<String> = excluded
        .iter()
        .map(|(why, coins, sats)| {
            let noun = if *coins == 1 { "coin" } else { "coins" };
            format!("{coins} {noun} {} ({sats} satoshis)", why.reason())
        })
        .collect();
    if parts.is_empty() { String::new() } else { format!("; kept back: {}", parts.join(", ")) }
}
