//! Heights of blocks that come from files, which say them only sometimes.

use std::collections::{BTreeSet, HashMap};

use bitcoin::BlockHash;
use bitcoin::hashes::Hash as _;
use bitcoin::opcodes::all::{OP_PUSHBYTES_1, OP_PUSHBYTES_4, OP_PUSHNUM_1, OP_PUSHNUM_16};
use paraffin_chain::CheckedBlock;
use paraffin_primitives::{BlockId, ConnectedBlock, Height, Network};

use super::ReplayError;

/// Version of a block from which on its coinbase begins with the height (BIP34).
const STATES_HEIGHT: i32 = 2;

/// A block of a file, whose height is not known yet.
pub(super) struct LooseBlock {
    /// The file.
    pub(super) file: String,
    /// Position in the file, from 1.
    pub(super) number: usize,
    /// What was read.
    pub(super) checked: CheckedBlock,
}

impl LooseBlock {
    fn hash(&self) -> BlockHash {
        self.checked.block.block_hash()
    }

    fn parent(&self) -> BlockHash {
        self.checked.block.header.prev_blockhash
    }

    /// The height that the coinbase says.
    fn stated(&self) -> Option<Height> {
        let header = &self.checked.block.header;
        let script = &self.checked.block.txdata.first()?.input.first()?.script_sig;
        (header.version.to_consensus() >= STATES_HEIGHT).then(|| height_in(script.as_bytes())).flatten()
    }
}

/// First height at which the rules demand that a coinbase begins with it.
const fn states_from(network: Network) -> Height {
    match network {
        Network::Mainnet => 227_931,
        Network::Signet | Network::Regtest => 1,
    }
}

/// The height with which a coinbase begins, as Bitcoin Core writes numbers: 1 to 16 as one instruction, others pushed, the lowest byte
/// first.
fn height_in(script: &[u8]) -> Option<Height> {
    let (first, rest) = script.split_first()?;
    if (OP_PUSHNUM_1.to_u8()..=OP_PUSHNUM_16.to_u8()).contains(first) {
        return Some(Height::from(first - OP_PUSHNUM_1.to_u8() + 1));
    }
    if !(OP_PUSHBYTES_1.to_u8()..=OP_PUSHBYTES_4.to_u8()).contains(first) {
        return None;
    }
    let bytes = rest.get(..usize::from(*first))?;
    let (highest, below) = bytes.split_last()?;
    // The highest bit is a sign; a byte of nothing stands there only to keep that bit free.
    let is_shortest = *highest != 0 || below.last().is_some_and(|byte| byte & 0x80 != 0);
    let height = bytes.iter().rev().fold(0, |height: Height, byte| height << 8 | Height::from(*byte));
    (highest & 0x80 == 0 && is_shortest && height > 16).then_some(height)
}

/// Gives each block its height, once: linked blocks have consecutive heights, from the genesis block or from a block that says
/// its height.
///
/// # Errors
/// No linked block states its height, or the stated heights contradict each other.
pub(super) fn with_heights(blocks: Vec<LooseBlock>, network: Network) -> Result<Vec<ConnectedBlock>, ReplayError> {
    let mut index_by_hash: HashMap<BlockHash, usize> = HashMap::new();
    for (index, block) in blocks.iter().enumerate() {
        index_by_hash.entry(block.hash()).or_insert(index);
    }
    let depths = depths(&blocks, &index_by_hash);
    let mut chains: HashMap<usize, Vec<(usize, Height)>> = HashMap::new();
    for index in index_by_hash.into_values() {
        let (root, depth) = depths[index];
        chains.entry(root).or_default().push((index, depth));
    }
    let mut heights = HashMap::new();
    for (root, chain) in chains {
        let base = base(&blocks, root, &chain, network)?;
        heights.extend(chain.into_iter().map(|(index, depth)| (index, base.saturating_add(depth))));
    }
    let connected = blocks.into_iter().enumerate().filter_map(|(index, block)| {
        let height = *heights.get(&index)?;
        let id = BlockId { height, hash: block.hash() };
        let CheckedBlock { block, size, txids, offsets } = block.checked;
        Some(ConnectedBlock { id, block, size, txids, offsets, spent: None, script_digests: None })
    });
    Ok(connected.collect())
}

/// For each block the lowest one that it is linked with, and the number of blocks between them.
fn depths(blocks: &[LooseBlock], index_by_hash: &HashMap<BlockHash, usize>) -> Vec<(usize, Height)> {
    let mut known: Vec<Option<(usize, Height)>> = vec![None; blocks.len()];
    for start in 0..blocks.len() {
        let mut path = Vec::new();
        let mut index = start;
        let (root, mut depth) = loop {
            if let Some(found) = known[index] {
                break found;
            }
            path.push(index);
            match index_by_hash.get(&blocks[index].parent()) {
                // A block has a hash of its parent's, so no path comes back to where it was.
                Some(parent) => index = *parent,
                None => {
                    path.pop();
                    known[index] = Some((index, 0));
                    break (index, 0);
                }
            }
        };
        for index in path.into_iter().rev() {
            depth += 1;
            known[index] = Some((root, depth));
        }
    }
    known.into_iter().enumerate().map(|(index, found)| found.unwrap_or((index, 0))).collect()
}

/// Height of the lowest of linked blocks.
fn base(
    blocks: &[LooseBlock],
    root: usize,
    chain: &[(usize, Height)],
    network: Network,
) -> Result<Height, ReplayError> {
    let lowest = &blocks[root];
    if lowest.parent() == BlockHash::all_zeros() {
        return Ok(0);
    }
    let stated: Vec<(Height, Option<Height>)> =
        chain.iter().map(|(index, depth)| (*depth, blocks[*index].stated())).collect();
    let bases: BTreeSet<Height> =
        stated.iter().filter_map(|(depth, height)| height.as_ref()?.checked_sub(*depth)).collect();
    // Where BIP34 applies, every block must state the height that it would have.
    let agrees = |base: Height| {
        stated.iter().all(|(depth, height)| {
            let at = base.saturating_add(*depth);
            at < states_from(network) || *height == Some(at)
        })
    };
    let mut agreeing = bases.into_iter().filter(|base| agrees(*base));
    let reason = match (agreeing.next(), agreeing.next()) {
        (Some(base), None) => return Ok(base),
        (None, _) => {
            "its height is not known: neither it nor a block that it is linked with says one that fits all of them, and the genesis \
             block is not among them"
        }
        (Some(_), Some(_)) => "its height is not known: blocks that it is linked with contradict each other",
    };
    Err(ReplayError::Block { file: lowest.file.clone(), number: lowest.number, reason: reason.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitcoin::blockdata::script::Builder;

    #[test]
    fn heights_are_read_in_the_one_form_that_core_writes() {
        for (script, height) in [
            (&[0x51, 0][..], Some(1)),
            (&[0x60, 0], Some(16)),
            (&[1, 17], Some(17)),
            (&[1, 0x7f], Some(127)),
            (&[2, 0x80, 0], Some(128)),
            (&[3, 0x5b, 0x7a, 3], Some(227_931)),
            (&[4, 0, 0, 0, 1], Some(1 << 24)),
            // Longer than needed, negative, cut off, another instruction, nothing.
            (&[1, 16], None),
            (&[2, 17, 0], None),
            (&[1, 0x80], None),
            (&[3, 1, 2], None),
            (&[0x61], None),
            (&[0], None),
            (&[5, 1, 2, 3, 4, 5], None),
            (&[], None),
        ] {
            assert_eq!(height_in(script), height, "{script:?}");
        }
    }

    #[test]
    fn what_a_builder_pushes_is_read_back_and_cut_off_it_is_none() {
        let powers = (0..31).flat_map(|power| [(1_u32 << power) - 1, 1 << power, (1 << power) + 1]);
        for height in powers.filter(|height| (1..0x8000_0000).contains(height)) {
            let script = Builder::new().push_int(i64::from(height)).into_script();
            assert_eq!(height_in(&[script.as_bytes(), b"more"].concat()), Some(height));
            assert_eq!(height_in(&script.as_bytes()[..script.len() - 1]), None, "{height}");
        }
    }
}
