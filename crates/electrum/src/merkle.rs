//! The tree over block headers that checkpoints are roots of (`cp_height`).

use bitcoin::hashes::{Hash as _, sha256d};
use bitcoin::hex::DisplayHex as _;

/// Depth of the chunks of which only the roots are stored.
const CHUNK_DEPTH: usize = 10;
/// Headers below one stored root.
pub const CHUNK_HEADERS: u32 = 1 << CHUNK_DEPTH;

type Node = [u8; 32];

/// Proof that a header is among all headers up to a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderProof {
    /// Siblings along the path to the root, deepest first, as text.
    pub branch: Vec<String>,
    /// Root of the tree, as text.
    pub root: String,
}

/// Roots of whole chunks of [`CHUNK_HEADERS`] headers from height 0 on.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct HeaderTree {
    chunks: Vec<Node>,
    /// Hash of the newest header below them.
    last: Option<Node>,
}

impl HeaderTree {
    /// Height of the first header that is in no chunk.
    pub fn next_height(&self) -> u32 {
        u32::try_from(self.chunks.len()).unwrap_or(u32::MAX).saturating_mul(CHUNK_HEADERS)
    }

    /// Hash of the newest header that is in a chunk. When the chain has another one there, the tree is of another chain.
    pub fn last(&self) -> Option<[u8; 32]> {
        self.last
    }

    /// Adds the next chunk; ignored unless it is whole.
    pub fn push(&mut self, hashes: &[[u8; 32]]) {
        if hashes.len() == CHUNK_HEADERS as usize {
            self.chunks.push(climb(hashes.to_vec(), CHUNK_DEPTH, None).1);
            self.last = hashes.last().copied();
        }
    }

    /// Proves the header at `height` against all up to `checkpoint`, at least `height`. `own` are the hashes of the chunk of `height`,
    /// `end` those of the chunk of `checkpoint`, each up to the checkpoint at most; all chunks before them are in the tree.
    pub fn prove(&self, height: u32, checkpoint: u32, own: &[[u8; 32]], end: &[[u8; 32]]) -> Option<HeaderProof> {
        let position = usize::try_from(height % CHUNK_HEADERS).ok()?;
        let (chunk, last) =
            (usize::try_from(height / CHUNK_HEADERS).ok()?, usize::try_from(checkpoint / CHUNK_HEADERS).ok()?);
        let (own_max, end_len) = (CHUNK_HEADERS as usize, usize::try_from(checkpoint % CHUNK_HEADERS).ok()? + 1);
        let own = own.get(..if chunk == last { end_len } else { own_max })?;
        if last == 0 {
            // A tree of one chunk ends at its root, however deep that is.
            let (branch, root) = climb(own.to_vec(), usize::MAX, Some(position));
            return Some(HeaderProof { branch: texts(&branch), root: text(&root) });
        }
        let (mut branch, own_root) = climb(own.to_vec(), CHUNK_DEPTH, Some(position));
        let end_root = if chunk == last { own_root } else { climb(end.get(..end_len)?.to_vec(), CHUNK_DEPTH, None).1 };
        let mut roots = self.chunks.get(..last)?.to_vec();
        roots.push(end_root);
        let (above, root) = climb(roots, usize::MAX, Some(chunk));
        branch.extend(above);
        Some(HeaderProof { branch: texts(&branch), root: text(&root) })
    }
}

/// Climbs so many levels, or to the root, and returns the siblings along the path of `position` and the reached node. An odd last node
/// is paired with itself.
fn climb(mut level: Vec<Node>, levels: usize, position: Option<usize>) -> (Vec<Node>, Node) {
    let mut branch = Vec::new();
    let mut position = position;
    let mut climbed = 0;
    while climbed < levels && (level.len() > 1 || levels != usize::MAX) {
        if let Some(index) = position.as_mut() {
            let sibling = (*index ^ 1).min(level.len().saturating_sub(1));
            branch.extend(level.get(sibling).copied());
            *index /= 2;
        }
        level = level.chunks(2).map(pair).collect();
        climbed += 1;
    }
    (branch, level.first().copied().unwrap_or_default())
}

fn pair(nodes: &[Node]) -> Node {
    let (left, right) = match nodes {
        [left, right, ..] => (left, right),
        [only] => (only, only),
        [] => return Node::default(),
    };
    let mut both = [0; 64];
    both[..32].copy_from_slice(left);
    both[32..].copy_from_slice(right);
    sha256d::Hash::hash(&both).to_byte_array()
}

fn text(node: &Node) -> String {
    let mut reversed = *node;
    reversed.reverse();
    reversed.to_lower_hex_string()
}

fn texts(nodes: &[Node]) -> Vec<String> {
    nodes.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(count: u32) -> Vec<Node> {
        (0..count).map(|number| sha256d::Hash::hash(&number.to_le_bytes()).to_byte_array()).collect()
    }

    /// The tree as a whole.
    fn plainly(all: &[Node], position: usize) -> HeaderProof {
        let (branch, root) = climb(all.to_vec(), usize::MAX, Some(position));
        HeaderProof { branch: texts(&branch), root: text(&root) }
    }

    #[test]
    fn the_example_of_the_protocol_has_its_root() {
        // Hashes of the headers 0 to 8 of mainnet.
        let shown = [
            "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f",
            "00000000839a8e6886ab5951d76f411475428afc90947ee320161bbf18eb6048",
            "000000006a625f06636b8bb6ac7b960a8d03705d1ace08b1a19da3fdcc99ddbd",
            "0000000082b5015589a3fdf2d4baff403e6f0be035a5d9742c1cae6295464449",
            "000000004ebadb55ee9096c9a2f8880e09da59c0d68b1c228da88e48844a1485",
            "000000009b7262315dbf071787ad3656097b892abffd1f95a1a022f896f533fc",
            "000000003031a0e73735690c5a1ff2a4be82553b2a12b776fbd3a215dc8f778d",
            "0000000071966c2b1d065fd446b1e485b2c9d9594acd2007ccbd5441cfc89444",
            "00000000408c48f847aa786c2268fc3e6ec2af68e8468a34a28c61b7f1de0dc6",
        ];
        let hashes = shown.map(|hash| hash.parse::<bitcoin::BlockHash>().unwrap().to_byte_array());
        let proof = HeaderTree::default().prove(5, 8, &hashes, &hashes).unwrap();
        assert_eq!(proof.root, "e347b1c43fd9b5415bf0d92708db8284b78daf4d0e24f9c3405f45feb85e25db");
        assert_eq!(proof.branch[0], shown[4]);
        assert_eq!(proof.branch[1], "96cbbc84783888e4cc971ae8acf86dd3c1a419370336bb3c634c97695a8c5ac9");
        assert_eq!(proof.branch.len(), 4);
    }

    #[test]
    fn a_tree_by_chunks_is_the_whole_tree() {
        let all = hashes(4_100);
        let mut tree = HeaderTree::default();
        for chunk in all.chunks_exact(CHUNK_HEADERS as usize) {
            tree.push(chunk);
        }
        assert_eq!((tree.next_height(), tree.last()), (4_096, Some(all[4_095])));
        let chunk_of = |height: u32| {
            let first = (height / CHUNK_HEADERS * CHUNK_HEADERS) as usize;
            all[first..all.len().min(first + CHUNK_HEADERS as usize)].to_vec()
        };
        for checkpoint in [0, 1, 5, 1_022, 1_023, 1_024, 1_025, 2_047, 2_048, 3_000, 4_095, 4_096, 4_099] {
            for height in [0, 1, 3, 1_023, 1_024, 2_050, 3_000, 4_096, 4_099] {
                if height <= checkpoint {
                    let proof = tree.prove(height, checkpoint, &chunk_of(height), &chunk_of(checkpoint));
                    let expected = plainly(&all[..=checkpoint as usize], height as usize);
                    assert_eq!(proof, Some(expected), "{height} of {checkpoint}");
                }
            }
        }
        assert_eq!(HeaderTree::default().prove(0, 5_000, &all[..1_024], &all[..1_024]), None);
    }
}
