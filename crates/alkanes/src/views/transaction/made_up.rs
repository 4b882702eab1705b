//! The synthetic transaction and block that the reference puts around a trial run.

use bitcoin::absolute::LockTime;
use bitcoin::block::{Header, Version as BlockVersion};
use bitcoin::consensus::encode::deserialize_partial;
use bitcoin::hashes::Hash as _;
use bitcoin::transaction::Version;
use bitcoin::{
    Amount, Block, BlockHash, CompactTarget, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxMerkleNode, TxOut,
    Txid, Witness,
};
use paraffin_primitives::Height;

use super::super::run::no_block;
use super::super::{ViewContext, ViewError};
use crate::codec::{Runestone, decode_protostones};
use crate::proto;
use crate::proto::alkanes::SimulateTransactionRequest;

/// Seconds between the block before and the one that is made up.
const BLOCK_SECONDS: u32 = 600;

/// High half of the nonce, which marks a header without proof of work.
const NONCE: u32 = 0xdead_0000;

/// Most outputs of a transaction that is made up, beside the one of its runestone.
const OUTPUTS_MAX: usize = 4096;

/// The block before the one that is made up for a request of `simulatetransaction`.
pub(in super::super) fn block_wanted(payload: &[u8]) -> Option<Height> {
    let request = proto::decode::<SimulateTransactionRequest>(payload).ok()?;
    before(request.height)
}

/// Only the low 32 bits of a height are looked at.
fn before(height: u64) -> Option<Height> {
    height.checked_sub(1).map(|before| before as Height)
}

/// A block with a coinbase and the transaction, behind the block at the height below if that is there.
pub(super) fn block_of(transaction: &Transaction, height: u64, context: &ViewContext<'_>) -> Block {
    let is_known = before(height).is_some_and(|before| before <= context.height);
    let previous = context.block.filter(|_| is_known).and_then(|bytes| deserialize_partial::<Header>(bytes).ok());
    let (prev_blockhash, time, bits) = match previous {
        Some((header, _)) => (header.block_hash(), header.time, header.bits),
        None => (BlockHash::all_zeros(), 0, CompactTarget::from_consensus(0)),
    };
    let mut seed = transaction.compute_txid().to_byte_array().to_vec();
    seed.extend_from_slice(&height.to_le_bytes());
    let header = Header {
        version: BlockVersion::ONE,
        prev_blockhash,
        merkle_root: TxMerkleNode::all_zeros(),
        time: time.saturating_add(BLOCK_SECONDS),
        bits,
        nonce: NONCE | (crc32(&seed) & 0xffff),
    };
    let mut block = Block { header, txdata: vec![coinbase(height), transaction.clone()] };
    block.header.merkle_root = block.compute_merkle_root().unwrap_or_else(TxMerkleNode::all_zeros);
    block
}

/// A block with an empty header around its transactions.
pub(super) fn block_with(txdata: Vec<Transaction>) -> Block {
    Block { txdata, ..no_block() }
}

/// A transaction that carries protostones, with outputs as far as their pointers reach. It spends an output of no transaction.
pub(super) fn transaction_around(protocol: &[u128]) -> Result<Transaction, ViewError> {
    let stones = decode_protostones(protocol).unwrap_or_default();
    let last = stones.iter().filter_map(|stone| stone.pointer).max().unwrap_or(0);
    let outputs = (last as usize).saturating_add(1).min(OUTPUTS_MAX);
    let runestone = Runestone { base: ordinals::Runestone::default(), protocol: protocol.to_vec() };
    let script = runestone.encode(outputs + 1).map_err(|error| ViewError::Meaningless(error.to_string()))?;
    let mut output = vec![empty_output(ScriptBuf::new()); outputs];
    output.push(empty_output(script));
    Ok(spending(OutPoint { txid: Txid::all_zeros(), vout: 0 }, ScriptBuf::new(), output))
}

/// A coinbase that names its height, without the sign byte that BIP34 wants.
fn coinbase(height: u64) -> Transaction {
    let bytes = height.to_le_bytes();
    let length = bytes.iter().rposition(|byte| *byte != 0).map_or(1, |last| last + 1);
    let mut script = vec![length as u8];
    script.extend_from_slice(&bytes[..length]);
    spending(OutPoint::null(), ScriptBuf::from_bytes(script), vec![empty_output(ScriptBuf::new())])
}

fn spending(previous_output: OutPoint, script_sig: ScriptBuf, output: Vec<TxOut>) -> Transaction {
    let input = vec![TxIn { previous_output, script_sig, sequence: Sequence::MAX, witness: Witness::new() }];
    Transaction { version: Version::ONE, lock_time: LockTime::ZERO, input, output }
}

fn empty_output(script_pubkey: ScriptBuf) -> TxOut {
    TxOut { value: Amount::ZERO, script_pubkey }
}

/// The checksum of zip and PNG.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coinbase_names_its_height_in_as_few_bytes_as_it_has() {
        let script = |height| coinbase(height).input[0].script_sig.to_bytes();
        assert_eq!(script(0), [1, 0]);
        assert_eq!(script(0x80), [1, 0x80]);
        assert_eq!(script(880_000), [3, 0x80, 0x6d, 0x0d]);
        assert_eq!(script(1 << 56), [8, 0, 0, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn the_checksum_is_the_one_of_zip() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn outputs_reach_as_far_as_pointers_and_no_further_than_some() {
        let stones = |pointer| {
            let stone = crate::codec::Protostone { protocol_tag: 1, pointer, ..Default::default() };
            transaction_around(&crate::codec::encode_protostones(&[stone]).unwrap()).unwrap().output.len()
        };
        assert_eq!((stones(None), stones(Some(3)), stones(Some(u32::MAX))), (2, 5, OUTPUTS_MAX + 1));
        assert_eq!(transaction_around(&[]).unwrap().output.len(), 2);
    }
}
