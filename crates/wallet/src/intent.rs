//! The owner's intent.

use bitcoin::ScriptBuf;
use paraffin_alkanes::codec::Cellpack;
use paraffin_primitives::AlkaneId;

use crate::ALKANE_OUTPUT_SATS;
use crate::alkanes::{Alkanes, AlkanesOverflow};
use crate::plan::Role;

/// The contract of wrapped bitcoin (protocol B18).
pub const FRBTC: AlkaneId = AlkaneId { block: 32, tx: 0 };

/// Operation that wraps the satoshis which the transaction pays to the signer.
pub const WRAP_OPCODE: u128 = 77;

/// Operation that unwraps: takes the number of the output to be spent by the payment, and the amount.
pub const UNWRAP_OPCODE: u128 = 78;

/// Operation that mints, by convention of tokens.
const MINT_OPCODE: u128 = 77;

/// An output for a recipient.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipient {
    /// Whom it pays.
    pub script: ScriptBuf,
    /// Satoshis; at least the dust limit of the script.
    pub sats: u64,
    /// Alkanes that go there; an output that only carries alkanes has [`ALKANE_OUTPUT_SATS`].
    pub alkanes: Alkanes,
}

/// The purpose of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Intent {
    /// Pay bitcoin and alkanes.
    Send(Vec<Recipient>),
    /// Call a contract.
    Call {
        /// The contract and its inputs.
        cellpack: Cellpack,
        /// The alkanes that the contract receives.
        incoming: Alkanes,
        /// Recipient of the results; the owner when absent. A refund always goes to the owner.
        results_to: Option<ScriptBuf>,
        /// Outputs that the contract looks for. They follow the owner's output and that of the results.
        payments: Vec<(Role, Recipient)>,
    },
}

impl Intent {
    /// The alkanes that leave the owner's outputs.
    ///
    /// # Errors
    /// The amounts of an id add up to more than 128 bits hold.
    pub fn wanted(&self) -> Result<Alkanes, AlkanesOverflow> {
        let mut wanted = Alkanes::default();
        match self {
            Self::Send(recipients) => recipients.iter().try_for_each(|recipient| wanted.add_all(&recipient.alkanes))?,
            Self::Call { incoming, .. } => wanted.add_all(incoming)?,
        }
        Ok(wanted)
    }
}

/// Mints `id`, with further inputs behind the operation.
pub fn mint(id: AlkaneId, further: &[u128], results_to: Option<ScriptBuf>) -> Intent {
    let inputs = [&[MINT_OPCODE], further].concat();
    let cellpack = Cellpack { target: id, inputs };
    Intent::Call { cellpack, incoming: Alkanes::default(), results_to, payments: Vec::new() }
}

/// Wraps `sats` by paying them to the contract's `signer`.
pub fn wrap(sats: u64, signer: ScriptBuf, results_to: Option<ScriptBuf>) -> Intent {
    let cellpack = Cellpack { target: FRBTC, inputs: vec![WRAP_OPCODE] };
    let payment = Recipient { script: signer, sats, alkanes: Alkanes::default() };
    Intent::Call { cellpack, incoming: Alkanes::default(), results_to, payments: vec![(Role::Signer, payment)] }
}

/// Unwraps `amount` base units of wrapped bitcoin; the signer pays `pay_to`, or the owner.
///
/// The payment spends an output of this transaction that belongs to the signer; its number is passed to the contract.
pub fn unwrap(amount: u128, signer: ScriptBuf, pay_to: Option<ScriptBuf>) -> Intent {
    // The outputs before it: the owner's, and that of the results when there is one.
    let marker = 1 + u128::from(pay_to.is_some());
    let cellpack = Cellpack { target: FRBTC, inputs: vec![UNWRAP_OPCODE, marker, amount] };
    let payment = Recipient { script: signer, sats: ALKANE_OUTPUT_SATS, alkanes: Alkanes::default() };
    let mut incoming = Alkanes::default();
    incoming.add(FRBTC, amount).expect("one amount does not overflow");
    Intent::Call { cellpack, incoming, results_to: pay_to, payments: vec![(Role::Signer, payment)] }
}
