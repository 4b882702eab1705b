use bitcoin::hashes::Hash;
use bitcoin::{BlockHash, CompactTarget, TxMerkleNode};
use paraffin_bitcoin_index::BlockSummary;
use paraffin_primitives::Height;
use serde::Serialize;

/// A block without its transactions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EsploraBlock {
    /// Hash of the block.
    id: BlockHash,
    /// Height of the block.
    height: Height,
    /// Header version, the four bytes read as an unsigned number.
    version: u32,
    /// Header time, Unix seconds.
    timestamp: u32,
    /// Number of transactions.
    tx_count: u32,
    /// Bytes of the consensus encoding.
    size: u32,
    /// Weight units (BIP141).
    weight: u64,
    /// Merkle root of the txids.
    merkle_root: TxMerkleNode,
    /// Hash of the block before; `null` for the genesis block.
    previousblockhash: Option<BlockHash>,
    /// Median time of this block and the ten before it, Unix seconds.
    mediantime: u32,
    /// Header nonce.
    nonce: u32,
    /// Compact target of the header.
    bits: CompactTarget,
    /// See [`difficulty`].
    difficulty: f64,
}

impl From<BlockSummary> for EsploraBlock {
    fn from(block: BlockSummary) -> Self {
        let header = block.header;
        let previous = header.prev_blockhash;
        Self {
            id: header.block_hash(),
            height: block.height,
            version: header.version.to_consensus().cast_unsigned(),
            timestamp: header.time,
            tx_count: block.transaction_count,
            size: block.size,
            weight: block.weight,
            merkle_root: header.merkle_root,
            previousblockhash: (previous != BlockHash::all_zeros()).then_some(previous),
            mediantime: block.median_time,
            nonce: header.nonce,
            bits: header.bits,
            difficulty: difficulty(header.bits),
        }
    }
}

/// Status of a block in the chain; all but the flag is `null` for a block that is unknown or not in the best chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct BlockStatus {
    /// Whether the block is in the indexed chain.
    in_best_chain: bool,
    /// Height of the block.
    height: Option<Height>,
    /// Hash of the block after it.
    next_best: Option<BlockHash>,
}

impl From<Option<(Height, Option<BlockHash>)>> for BlockStatus {
    fn from(position: Option<(Height, Option<BlockHash>)>) -> Self {
        Self {
            in_best_chain: position.is_some(),
            height: position.map(|(height, _)| height),
            next_best: position.and_then(|(_, next)| next),
        }
    }
}

/// How many times harder than the easiest mainnet target; computed step by step as Bitcoin Core does and rounded to the
/// 16 significant digits that it prints, so that the texts agree.
fn difficulty(bits: CompactTarget) -> f64 {
    const EASIEST_EXPONENT: u32 = 29;
    let bits = bits.to_consensus();
    let exponent = bits >> 24;
    let mut difficulty = f64::from(0xffff) / f64::from(bits & 0x00ff_ffff);
    for _ in exponent..EASIEST_EXPONENT {
        difficulty *= 256.0;
    }
    for _ in EASIEST_EXPONENT..exponent {
        difficulty /= 256.0;
    }
    format!("{difficulty:.15e}").parse().unwrap_or(difficulty)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn difficulty_agrees_with_known_values_of_bitcoin_core() {
        for (bits, text) in [
            (0x1d00_ffff, "1.0"),
            (0x207f_ffff, "4.656542373906925e-10"),
            (0x1b04_04cb, "16307.42093852398"),
            (0x1703_4219, "86388558925171.02"),
        ] {
            assert_eq!(serde_json::to_string(&difficulty(CompactTarget::from_consensus(bits))).unwrap(), text);
        }
    }
}
