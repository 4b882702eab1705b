//! Book-keeping for the wrapped-bitcoin contract 32:0: which of its payments are still to be made (protocol B19).
//!
//! The contract lists payments by height. A payment names an output that is spent when the payment is made. After each
//! block the lowest height that may still have open payments is written into the contract's own storage, where it can read it.

use std::collections::{BTreeSet, HashSet};

use bitcoin::consensus::Decodable;
use bitcoin::{Address, OutPoint, Script, TxOut};
use paraffin_primitives::{AlkaneId, ConnectedBlock, Network};

use crate::state::{OUTPOINT_LEN, decode_outpoint, encode_outpoint};
use crate::{Halt, StateError, StateKey, World};

/// The contract.
const WRAPPED_BITCOIN: AlkaneId = AlkaneId { block: 32, tx: 0 };

/// A payment that the contract has listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    /// The output that is spent when it is made.
    pub spendable: OutPoint,
    /// The output to be paid.
    pub output: TxOut,
}

/// Advances the lowest height that may still have open payments, at the end of a block.
///
/// Which outputs wait to be spent is kept in one value of the state. An output enters it when a payment of its own block
/// names it, which is the only kind that the contract can ask for: it names outputs of the transaction that called it.
pub(crate) fn advance(world: &mut World<'_>, block: &ConnectedBlock) -> Result<(), Halt> {
    let mut pending = decode_pending(&world.state.get(&StateKey::PendingPayments)?.unwrap_or_default())?;
    let before = pending.len();
    if !pending.is_empty() {
        for input in block.block.txdata.iter().flat_map(|transaction| &transaction.input) {
            pending.remove(&PendingKey(input.previous_output));
        }
    }
    let asked = payments(world, world.height)?;
    let mut changed = pending.len() != before;
    if !asked.is_empty() {
        let spent: HashSet<OutPoint> = block
            .block
            .txdata
            .iter()
            .flat_map(|transaction| &transaction.input)
            .map(|input| input.previous_output)
            .collect();
        for Payment { spendable, .. } in asked {
            if !spent.contains(&spendable) && is_addressed_output(world.parameters.network, block, &spendable) {
                changed |= pending.insert(PendingKey(spendable));
            }
        }
    }
    if changed {
        let bytes = pending.iter().flat_map(|PendingKey(outpoint)| encode_outpoint(outpoint)).collect();
        world.state.put_direct(StateKey::PendingPayments, bytes);
    }
    let lowest = lowest_open(world, &pending)?;
    world.state.put_direct(last_block_key(), lowest.to_le_bytes().to_vec());
    Ok(())
}

fn last_block_key() -> StateKey {
    StateKey::Storage(WRAPPED_BITCOIN, b"/last_block".to_vec())
}

/// The lowest height that may still have open payments: the one after the block at hand where none is open, or what is stored where
/// that is above.
fn lowest_open(world: &World<'_>, pending: &BTreeSet<PendingKey>) -> Result<u128, Halt> {
    let stored = world.state.get(&last_block_key())?.unwrap_or_default();
    let stored = integer::<16>(&stored, "/last_block of 32:0")?.map_or(0, u128::from_le_bytes);
    let mut lowest = stored.max(u128::from(world.parameters.genesis_height));
    while lowest <= u128::from(world.height) {
        let payments = payments(world, lowest as u64)?;
        if payments.iter().any(|payment| pending.contains(&PendingKey(payment.spendable))) {
            break;
        }
        lowest += 1;
    }
    Ok(lowest)
}

/// The payments that the contract lists at a height.
pub(crate) fn payments(world: &World<'_>, height: u64) -> Result<Vec<Payment>, Halt> {
    payments_with(height, |key| world.state.get(key))
}

/// As [`payments`], from any state.
pub(crate) fn payments_with(
    height: u64,
    get: impl Fn(&StateKey) -> Result<Option<Vec<u8>>, StateError>,
) -> Result<Vec<Payment>, Halt> {
    let list = |end: &[u8]| {
        let mut key = b"/payments/byheight/".to_vec();
        key.extend_from_slice(&height.to_le_bytes());
        key.extend_from_slice(end);
        get(&StateKey::Storage(WRAPPED_BITCOIN, key)).map(Option::unwrap_or_default)
    };
    let length = integer::<4>(&list(b"/length")?, "the number of payments of 32:0")?.map_or(0, u32::from_le_bytes);
    let mut payments = Vec::new();
    for index in 0..length {
        let item = list(format!("/{index}").as_bytes())?;
        let mut rest = &item[..];
        while !rest.is_empty() {
            let malformed = |_| Halt::MalformedPayment { height };
            let spendable = OutPoint::consensus_decode(&mut rest).map_err(malformed)?;
            let output = TxOut::consensus_decode(&mut rest).map_err(malformed)?;
            payments.push(Payment { spendable, output });
        }
    }
    Ok(payments)
}

/// The outputs that wait to be spent, as the state has them.
///
/// # Errors
/// The bytes are not a list of outpoints.
pub(crate) fn pending_outpoints(bytes: &[u8]) -> Result<HashSet<OutPoint>, StateError> {
    Ok(decode_pending(bytes)?.into_iter().map(|PendingKey(outpoint)| outpoint).collect())
}

/// An outpoint in the order of its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PendingKey(OutPoint);

fn decode_pending(bytes: &[u8]) -> Result<BTreeSet<PendingKey>, StateError> {
    let chunks = bytes.chunks(OUTPOINT_LEN);
    chunks.map(|chunk| decode_outpoint(chunk).map(PendingKey)).collect()
}

/// An integer as contracts store it: nothing stands for 0, any other length is a halt (protocol B22.5).
fn integer<const N: usize>(bytes: &[u8], what: &'static str) -> Result<Option<[u8; N]>, Halt> {
    if bytes.is_empty() {
        return Ok(None);
    }
    <[u8; N]>::try_from(bytes).map(Some).map_err(|_| Halt::WrongLength { what, length: bytes.len(), expected: N })
}

/// Whether an outpoint is an output of this block whose script has an address: the reference remembers no others.
fn is_addressed_output(network: Network, block: &ConnectedBlock, outpoint: &OutPoint) -> bool {
    let Some(index) = block.txids.iter().position(|txid| *txid == outpoint.txid) else { return false };
    let output = block.block.txdata.get(index).and_then(|transaction| transaction.output.get(outpoint.vout as usize));
    output.is_some_and(|output| has_address(network, &output.script_pubkey))
}

fn has_address(network: Network, script: &Script) -> bool {
    Address::from_script(script, network.bitcoin()).is_ok()
}
