//! Blocks of the benches that read.

use bitcoin::absolute::LockTime;
use bitcoin::block::{Header, Version};
use bitcoin::hashes::Hash as _;
use bitcoin::{
    Amount, Block, BlockHash, CompactTarget, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxMerkleNode, TxOut,
    Txid, Witness, transaction,
};
use paraffin_primitives::ConnectedBlock;

pub(crate) fn script(number: u64) -> ScriptBuf {
    let mut bytes = vec![0, 20];
    bytes.extend_from_slice(&number.to_be_bytes());
    bytes.extend_from_slice(&[7; 12]);
    ScriptBuf::from_bytes(bytes)
}

/// An output of a transaction that is not in the chain.
pub(crate) fn unknown(number: u64) -> OutPoint {
    let mut txid = [1; 32];
    txid[..8].copy_from_slice(&number.to_be_bytes());
    OutPoint { txid: Txid::from_byte_array(txid), vout: 0 }
}

/// A transaction that spends an output and pays 1,000 satoshis to each script.
pub(crate) fn payment(previous_output: OutPoint, scripts: impl IntoIterator<Item = u64>) -> Transaction {
    let pay = |number| TxOut { value: Amount::from_sat(1_000), script_pubkey: script(number) };
    let input =
        TxIn { previous_output, script_sig: ScriptBuf::new(), sequence: Sequence::MAX, witness: Witness::new() };
    Transaction {
        version: transaction::Version::TWO,
        lock_time: LockTime::ZERO,
        input: vec![input],
        output: scripts.into_iter().map(pay).collect(),
    }
}

pub(crate) fn coinbase(height: u32) -> Transaction {
    let mut made = payment(OutPoint::null(), [u64::MAX]);
    made.input[0].script_sig = ScriptBuf::from_bytes([&[4][..], &height.to_le_bytes()].concat());
    made
}

pub(crate) fn connected(height: u32, previous: BlockHash, txdata: Vec<Transaction>) -> ConnectedBlock {
    let header = Header {
        version: Version::TWO,
        prev_blockhash: previous,
        merkle_root: TxMerkleNode::all_zeros(),
        time: height,
        bits: CompactTarget::from_consensus(0x207f_ffff),
        nonce: height,
    };
    ConnectedBlock::new(height, Block { header, txdata })
}

pub(crate) fn median(times: &[f64]) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
