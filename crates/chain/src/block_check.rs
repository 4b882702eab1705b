//! Checks of a block from a node: not the scripts of its transactions, but everything that ties the bytes
//! to the header's hash.

use bitcoin::block::Header;
use bitcoin::consensus::encode::{Decodable, VarInt};
use bitcoin::hashes::{Hash, sha256d};
use bitcoin::{Block, BlockHash, Transaction, TxOut, Txid, Wtxid};
use paraffin_primitives::{Height, Network};
use sha2::{Digest as _, Sha256};

use crate::rest::BLOCK_BYTES_MAX;

/// Consensus limit of a block's weight (BIP141).
const BLOCK_WEIGHT_MAX: usize = 4_000_000;
/// Smallest transaction: version, two counts, one input of 41 bytes, one output of 9, lock time.
const TRANSACTION_BYTES_MIN: usize = 60;
/// Start of a witness commitment output: `OP_RETURN`, a push of 36 bytes, the BIP141 marker.
const COMMITMENT_MARKER: [u8; 6] = [0x6a, 0x24, 0xaa, 0x21, 0xa9, 0xed];
/// Mainnet's first block under the rules of BIP141.
const MAINNET_SEGWIT_HEIGHT: Height = 481_824;

/// A block whose bytes have been checked, decoded and hashed once.
#[derive(Debug, Clone)]
pub struct CheckedBlock {
    /// The decoded block.
    pub block: Block,
    /// Size of the consensus encoding in bytes.
    pub size: u32,
    /// Transaction ids in block order.
    pub txids: Vec<Txid>,
    /// Byte offset of every transaction in the encoding.
    pub offsets: Vec<u32>,
}

/// Why bytes are not the requested block.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BlockFault {
    /// The bytes end too early, go on too long or do not decode.
    #[error("it does not decode: {0}")]
    Undecodable(String),
    /// The bytes are another block.
    #[error("it is the block {0}")]
    WrongHash(BlockHash),
    /// More than 4,000,000 bytes or weight units.
    #[error("it is larger than consensus allows")]
    TooLarge,
    /// The first transaction is no coinbase, or another one is.
    #[error("its coinbase is missing or not the only one")]
    Coinbase,
    /// The transactions are not those that the header commits to.
    #[error("its transactions do not match the merkle root")]
    MerkleRoot,
    /// The tail of the transactions is repeated, which leaves the merkle root as it is (CVE-2012-2459).
    #[error("its list of transactions repeats itself (CVE-2012-2459)")]
    DuplicatedTransactions,
    /// The witnesses are not those that the coinbase commits to, or are missing.
    #[error("its witnesses do not match the witness commitment")]
    WitnessCommitment,
}

/// Whether a block at `height` must carry the witness of its commitment. Before BIP141 was active miners wrote
/// commitments without one.
pub(crate) fn witness_required(network: Network, height: Height) -> bool {
    match network {
        Network::Mainnet => height >= MAINNET_SEGWIT_HEIGHT,
        Network::Signet | Network::Regtest => true,
    }
}

/// Decodes `bytes` and checks them to be the block `expected`: hash, size, one coinbase, merkle root without repetition,
/// witness commitment. `witness_required` refuses a block whose witnesses were stripped; without it a commitment is checked
/// only where there is a witness.
///
/// # Errors
/// [`BlockFault`] names the first check that fails.
pub fn check_block(bytes: &[u8], expected: BlockHash, witness_required: bool) -> Result<CheckedBlock, BlockFault> {
    if bytes.len() > BLOCK_BYTES_MAX {
        return Err(BlockFault::TooLarge);
    }
    let undecodable = |error: bitcoin::consensus::encode::Error| BlockFault::Undecodable(error.to_string());
    let mut rest = bytes;
    let header = Header::consensus_decode(&mut rest).map_err(undecodable)?;
    let hash = header.block_hash();
    if hash != expected {
        return Err(BlockFault::WrongHash(hash));
    }
    let count = VarInt::consensus_decode(&mut rest).map_err(undecodable)?.0;
    if count > (rest.len() / TRANSACTION_BYTES_MIN) as u64 {
        return Err(BlockFault::Undecodable(format!("{count} transactions in {} bytes", rest.len())));
    }
    let mut txdata = Vec::with_capacity(count as usize);
    let mut offsets = Vec::with_capacity(count as usize);
    let mut ids = Vec::with_capacity(count as usize);
    for _ in 0..count {
        // Below 4,000,000, see above.
        offsets.push((bytes.len() - rest.len()) as u32);
        let begins = rest;
        let transaction = Transaction::consensus_decode(&mut rest).map_err(undecodable)?;
        ids.push(TransactionIds::of(&begins[..begins.len() - rest.len()], &transaction));
        txdata.push(transaction);
    }
    if !rest.is_empty() {
        return Err(BlockFault::Undecodable(format!("{} bytes after the last transaction", rest.len())));
    }
    let block = Block { header, txdata };
    check_decoded(&block, bytes.len(), &ids, witness_required)?;
    let txids = ids.into_iter().map(|ids| ids.txid).collect();
    Ok(CheckedBlock { block, size: bytes.len() as u32, txids, offsets })
}

/// The double SHA-256 of the parts one after the other; an eighth quicker than that of `bitcoin`, which matters for each byte of the chain.
fn hash(parts: &[&[u8]]) -> sha256d::Hash {
    let once = parts.iter().fold(Sha256::new(), Sha256::chain_update).finalize();
    sha256d::Hash::from_byte_array(Sha256::digest(once).into())
}

/// Identifiers and sizes of a transaction.
#[derive(Debug, PartialEq, Eq)]
struct TransactionIds {
    txid: Txid,
    wtxid: Wtxid,
    /// Bytes that only the encoding with witnesses has: marker, flag, witnesses.
    witness_bytes: usize,
}

impl TransactionIds {
    /// Hashes the encoding that `transaction` was decoded from: it is the only one, so nothing has to be encoded again.
    fn of(encoded: &[u8], transaction: &Transaction) -> Self {
        // Behind the version comes the number of inputs, which is never zero, or the marker of BIP144, which is.
        const VERSION_LEN: usize = 4;
        const MARKER_AND_FLAG_LEN: usize = 2;
        const LOCK_TIME_LEN: usize = 4;
        let whole = hash(&[encoded]);
        if encoded[VERSION_LEN] != 0 {
            return Self { txid: whole.into(), wtxid: whole.into(), witness_bytes: 0 };
        }
        let witnesses: usize = transaction.input.iter().map(|input| input.witness.size()).sum();
        let (version, rest) = encoded.split_at(VERSION_LEN);
        let (rest, lock_time) = rest.split_at(rest.len() - LOCK_TIME_LEN);
        let txid = hash(&[version, &rest[MARKER_AND_FLAG_LEN..rest.len() - witnesses], lock_time]);
        Self { txid: txid.into(), wtxid: whole.into(), witness_bytes: MARKER_AND_FLAG_LEN + witnesses }
    }
}

/// The checks of a decoded block whose hash is known to be right; `size` is that of its encoding.
fn check_decoded(block: &Block, size: usize, ids: &[TransactionIds], witness_required: bool) -> Result<(), BlockFault> {
    let Some((coinbase, others)) = block.txdata.split_first() else { return Err(BlockFault::Coinbase) };
    if !coinbase.is_coinbase() || others.iter().any(Transaction::is_coinbase) {
        return Err(BlockFault::Coinbase);
    }
    let (root, repeated) = merkle_root(ids.iter().map(|ids| ids.txid.to_raw_hash()).collect());
    if root != block.header.merkle_root.to_raw_hash() {
        return Err(BlockFault::MerkleRoot);
    }
    if repeated {
        return Err(BlockFault::DuplicatedTransactions);
    }
    check_weight(ids, size)?;
    check_witness_commitment(block, ids, witness_required)
}

fn check_weight(ids: &[TransactionIds], size: usize) -> Result<(), BlockFault> {
    let witness: usize = ids.iter().map(|ids| ids.witness_bytes).sum();
    // Every byte weighs four, except those of witnesses, which weigh one.
    if size * 4 - witness * 3 > BLOCK_WEIGHT_MAX { Err(BlockFault::TooLarge) } else { Ok(()) }
}

fn check_witness_commitment(block: &Block, ids: &[TransactionIds], required: bool) -> Result<(), BlockFault> {
    let any_witness = ids.iter().any(|ids| ids.witness_bytes > 0);
    if !any_witness && !required {
        return Ok(());
    }
    let coinbase = &block.txdata[0];
    // The last such output counts.
    let commitment = coinbase.output.iter().rev().find_map(|output| {
        let script = output.script_pubkey.as_bytes();
        (script.len() >= 38 && script.starts_with(&COMMITMENT_MARKER)).then(|| &script[6..38])
    });
    let Some(commitment) = commitment else {
        return if any_witness { Err(BlockFault::WitnessCommitment) } else { Ok(()) };
    };
    let witness = &coinbase.input[0].witness;
    let reserved = match (witness.len(), witness.nth(0)) {
        (1, Some(reserved)) if reserved.len() == 32 => reserved,
        _ => return Err(BlockFault::WitnessCommitment),
    };
    // That of the coinbase counts as zeros.
    let wtxids = std::iter::once(sha256d::Hash::all_zeros()).chain(ids[1..].iter().map(|ids| ids.wtxid.to_raw_hash()));
    let (root, _) = merkle_root(wtxids.collect());
    let computed = hash(&[root.as_byte_array(), reserved]);
    if computed.as_byte_array() == commitment { Ok(()) } else { Err(BlockFault::WitnessCommitment) }
}

/// The merkle root of at least one hash, and whether a pair of equal hashes met on the way, which a tail that is repeated
/// causes.
fn merkle_root(mut level: Vec<sha256d::Hash>) -> (sha256d::Hash, bool) {
    let mut repeated = false;
    while level.len() > 1 {
        let pairs = level.len().div_ceil(2);
        for pair in 0..pairs {
            let left = level[2 * pair];
            let right = level.get(2 * pair + 1).copied();
            repeated |= right == Some(left);
            level[pair] = hash(&[left.as_byte_array(), right.unwrap_or(left).as_byte_array()]);
        }
        level.truncate(pairs);
    }
    (level[0], repeated)
}

/// Whether `spent` can be what the block's inputs spend: one list per transaction, one output per input, none for the
/// coinbase, and no transaction creates more than it spends. Amounts themselves cannot be checked without an index.
pub fn spent_outputs_fit(block: &Block, spent: &[Vec<TxOut>]) -> bool {
    spent.len() == block.txdata.len()
        && block.txdata.iter().zip(spent).all(|(transaction, spent)| {
            if transaction.is_coinbase() {
                return spent.is_empty();
            }
            let sum = |outputs: &[TxOut]| outputs.iter().map(|output| u128::from(output.value.to_sat())).sum::<u128>();
            spent.len() == transaction.input.len() && sum(spent) >= sum(&transaction.output)
        })
}

#[cfg(test)]
mod tests {
    use bitcoin::consensus::serialize;
    use bitcoin::constants::genesis_block;
    use bitcoin::{OutPoint, TxIn, Witness};
    use proptest::prelude::*;

    use super::*;

    fn hashes(count: u8) -> Vec<sha256d::Hash> {
        (0..count).map(|byte| sha256d::Hash::hash(&[byte])).collect()
    }

    #[test]
    fn the_genesis_blocks_pass_every_check() {
        for network in Network::ALL {
            let genesis = genesis_block(network.bitcoin());
            let checked =
                check_block(&serialize(&genesis), genesis.block_hash(), witness_required(network, 0)).unwrap();
            assert_eq!(checked.block, genesis);
            assert_eq!(checked.offsets, [81]);
            assert_eq!(checked.size, 285, "{network}");
        }
    }

    #[test]
    fn every_truncation_and_every_extension_is_refused() {
        let genesis = genesis_block(bitcoin::Network::Regtest);
        let bytes = serialize(&genesis);
        for length in 0..bytes.len() {
            assert!(check_block(&bytes[..length], genesis.block_hash(), true).is_err(), "{length}");
        }
        let longer = [bytes.as_slice(), &[0]].concat();
        assert!(matches!(check_block(&longer, genesis.block_hash(), true), Err(BlockFault::Undecodable(_))));
    }

    #[test]
    fn ids_are_those_of_the_bitcoin_crate() {
        let input = |script: Vec<u8>, witness: Vec<Vec<u8>>| TxIn {
            previous_output: OutPoint { txid: Txid::hash(&script), vout: script.len() as u32 },
            script_sig: script.into(),
            sequence: bitcoin::Sequence(7),
            witness: Witness::from_slice(&witness),
        };
        let inputs = [
            input(vec![], vec![]),
            input(vec![1; 300], vec![]),
            input(vec![2; 22], vec![vec![], vec![3; 72], vec![4; 33]]),
            input(vec![], vec![vec![5; 70_000]; 2]),
            input(vec![], vec![vec![]; 253]),
        ];
        // Every choice of inputs.
        for choice in 1_u32..1 << inputs.len() {
            for outputs in [0, 1, 260] {
                let transaction = Transaction {
                    version: bitcoin::transaction::Version::TWO,
                    lock_time: bitcoin::absolute::LockTime::from_consensus(choice),
                    input: inputs
                        .iter()
                        .enumerate()
                        .filter(|(bit, _)| choice >> bit & 1 == 1)
                        .map(|(_, input)| input.clone())
                        .collect(),
                    output: vec![TxOut { value: bitcoin::Amount::ONE_SAT, script_pubkey: vec![6; 34].into() }; outputs],
                };
                let encoded = serialize(&transaction);
                let expected = TransactionIds {
                    txid: transaction.compute_txid(),
                    wtxid: transaction.compute_wtxid(),
                    witness_bytes: transaction.total_size() - transaction.base_size(),
                };
                assert_eq!(TransactionIds::of(&encoded, &transaction), expected, "{choice:b} {outputs}");
            }
        }
    }

    #[test]
    fn merkle_root_agrees_with_the_bitcoin_crate() {
        for count in 1..40 {
            let (root, repeated) = merkle_root(hashes(count));
            assert_eq!(Some(root), bitcoin::merkle_tree::calculate_root(hashes(count).into_iter()), "{count}");
            assert!(!repeated);
        }
    }

    #[test]
    fn a_repeated_tail_keeps_the_root_and_is_detected() {
        for (count, tail) in [(3, 1), (5, 1), (6, 2), (12, 4)] {
            let whole = hashes(count);
            let mut longer = whole.clone();
            longer.extend_from_slice(&whole[whole.len() - tail..]);
            let (root, repeated) = merkle_root(longer);
            assert_eq!(root, merkle_root(whole).0, "{count} {tail}");
            assert!(repeated, "{count} {tail}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), cut in 0usize..285, byte in any::<u8>()) {
            let _ = check_block(&bytes, BlockHash::all_zeros(), true);
            // Behind a true header, where decoding goes on.
            let genesis = genesis_block(bitcoin::Network::Regtest);
            let mut near = serialize(&genesis);
            near[cut] ^= byte;
            prop_assert_eq!(check_block(&near, genesis.block_hash(), true).is_ok(), byte == 0);
            let tail = [&serialize(&genesis.header)[..], &bytes].concat();
            prop_assert!(check_block(&tail, genesis.block_hash(), true).is_err());
        }
    }
}
