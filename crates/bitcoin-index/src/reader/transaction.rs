use bitcoin::consensus::{deserialize, serialize};
use bitcoin::hashes::{Hash, sha256d};
use bitcoin::{MerkleBlock, OutPoint, Transaction, TxMerkleNode, TxOut, Txid};
use bytes::Bytes;
use paraffin_primitives::Height;

use super::location::Locator;
use super::{BitcoinIndex, TxLocation};
use crate::activity::{PageCursor, number_of};
use crate::error::ReadError;
use crate::outputs::{load_outputs, visit_outputs};
use crate::rows::Funding;
use crate::script_key::ScriptKey;

/// What one transaction did to one script, from the index alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScriptEffect {
    /// Satoshis that its outputs pay to the script.
    pub received: u64,
    /// Satoshis of the script that its inputs spend.
    pub sent: u64,
    /// Fee of the whole transaction in satoshis, 0 for a coinbase; `None` when an output that it spends is unknown.
    pub fee: Option<u64>,
}

/// The branch of a block's Merkle tree that proves a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MerkleProof {
    /// Height of the block.
    pub height: Height,
    /// Position of the transaction in the block.
    pub index: u32,
    /// Sibling hashes from the leaves to the root.
    pub branch: Vec<TxMerkleNode>,
}

/// Errors are those of reading unless another is named.
#[allow(clippy::missing_errors_doc)]
impl BitcoinIndex {
    /// Location of the transaction; `None` when it is not in the indexed chain. Of two with one id (BIP30), the newer.
    pub fn transaction_location(&self, txid: &Txid) -> Result<Option<TxLocation>, ReadError> {
        let Some(number) = number_of(&self.snapshot, txid)? else { return Ok(None) };
        let mut cursor = PageCursor::default();
        let row = cursor.transaction(&self.snapshot, number)?;
        Locator::new(self).locate(&row).map(Some)
    }

    /// Outputs of a confirmed transaction.
    pub fn transaction_outputs(&self, txid: &Txid) -> Result<Option<Vec<TxOut>>, ReadError> {
        let Some(number) = number_of(&self.snapshot, txid)? else { return Ok(None) };
        let mut cursor = PageCursor::default();
        let row = cursor.transaction(&self.snapshot, number)?;
        Ok(Some((0..row.output_count).filter_map(|vout| row.tx_out(vout)).collect()))
    }

    /// One confirmed output, spent or not.
    pub fn output(&self, outpoint: &OutPoint) -> Result<Option<TxOut>, ReadError> {
        let Some(number) = number_of(&self.snapshot, &outpoint.txid)? else { return Ok(None) };
        Ok(PageCursor::default().transaction(&self.snapshot, number)?.tx_out(outpoint.vout))
    }

    /// The confirmed outputs that the inputs of any transaction spend, in input order; `None` where the output is not in
    /// the indexed chain (an unconfirmed parent, or a coinbase).
    pub fn prevouts(&self, transaction: &Transaction) -> Result<Vec<Option<TxOut>>, ReadError> {
        let inputs = transaction.input.iter();
        inputs
            .map(|input| if input.previous_output.is_null() { Ok(None) } else { self.output(&input.previous_output) })
            .collect()
    }

    /// Visits a page of transactions in order, each with the outputs that its inputs spend, in input order, `None` where there is none
    /// (a coinbase) or it is not in the index. `raw` holds the bytes of each, as a source fetched them; what they spend is read together.
    ///
    /// # Errors
    /// [`ReadError::RawBytes`] when `raw` has another length, or when bytes are not the transaction at their location.
    pub fn visit_transactions(
        &self,
        locations: &[TxLocation],
        raw: &[Bytes],
        mut visit: impl FnMut(&TxLocation, &Transaction, &[Option<TxOut>]),
    ) -> Result<(), ReadError> {
        if let (Some(first), true) = (locations.first(), locations.len() != raw.len()) {
            let reason = format!("{} transactions were asked for and {} came", locations.len(), raw.len());
            return Err(ReadError::RawBytes { txid: first.txid, reason });
        }
        let mut cursor = PageCursor::default();
        let of_coinbase = [None];
        let mut waiting = Vec::new();
        let mut fundings: Vec<Option<Funding>> = Vec::new();
        for (index, (location, raw)) in locations.iter().zip(raw).enumerate() {
            let transaction = parse(location, raw)?;
            let first_input = fundings.len();
            fundings.extend(cursor.transaction(&self.snapshot, location.number)?.inputs());
            waiting.push((location, transaction, first_input..fundings.len()));
            if fundings.len() >= INPUTS_TOGETHER || index + 1 == locations.len() {
                let prevouts = load_outputs(&self.snapshot, &fundings)?;
                for (location, transaction, inputs) in waiting.drain(..) {
                    let spent = if transaction.is_coinbase() { &of_coinbase } else { &prevouts[inputs] };
                    visit(location, &transaction, spent);
                }
                fundings.clear();
            }
        }
        Ok(())
    }

    /// What the transaction at `location` did to `script`, and its fee, without its raw bytes.
    pub fn script_effect(&self, script: &ScriptKey, location: &TxLocation) -> Result<ScriptEffect, ReadError> {
        let mut cursor = PageCursor::default();
        let row = cursor.transaction(&self.snapshot, location.number)?;
        let mut effect = ScriptEffect::default();
        let mut paid_out = 0u64;
        for (satoshis, output_script) in row.outputs() {
            paid_out = paid_out.saturating_add(satoshis);
            if script.matches(&output_script) {
                effect.received = effect.received.saturating_add(satoshis);
            }
        }
        let mut wanted: Vec<(Funding, ())> = row.inputs().flatten().map(|funding| (funding, ())).collect();
        let (mut paid_in, mut visited) = (0u64, 0);
        visit_outputs(&self.snapshot, &mut wanted, |(), _, satoshis, output_script| {
            visited += 1;
            paid_in = paid_in.saturating_add(satoshis);
            if script.matches(output_script) {
                effect.sent = effect.sent.saturating_add(satoshis);
            }
            Ok(())
        })?;
        let paid_in = (visited == row.input_count).then_some(paid_in);
        effect.fee = if row.is_coinbase() { Some(0) } else { paid_in.and_then(|sum| sum.checked_sub(paid_out)) };
        Ok(effect)
    }

    /// Merkle branch of a confirmed transaction.
    pub fn merkle_proof(&self, txid: &Txid) -> Result<Option<MerkleProof>, ReadError> {
        let Some(location) = self.transaction_location(txid)? else { return Ok(None) };
        let Some(txids) = self.block_txids(location.height)? else { return Ok(None) };
        let leaves = txids.iter().map(|txid| txid.to_raw_hash()).collect();
        let branch = merkle_branch(leaves, location.index as usize);
        Ok(Some(MerkleProof { height: location.height, index: location.index, branch }))
    }

    /// Id and merkle branch of the transaction at position `index` of the block at `height`.
    pub fn merkle_proof_at(&self, height: Height, index: u32) -> Result<Option<(Txid, Vec<TxMerkleNode>)>, ReadError> {
        let Some(txids) = self.block_txids(height)? else { return Ok(None) };
        let Some(txid) = txids.get(index as usize).copied() else { return Ok(None) };
        let leaves = txids.iter().map(|txid| txid.to_raw_hash()).collect();
        Ok(Some((txid, merkle_branch(leaves, index as usize))))
    }

    /// The same proof as a BIP37 `merkleblock` message body, as Bitcoin Core's `gettxoutproof` gives it.
    pub fn merkle_block(&self, txid: &Txid) -> Result<Option<Vec<u8>>, ReadError> {
        let Some(location) = self.transaction_location(txid)? else { return Ok(None) };
        let (Some(row), Some(txids)) = (self.block_row(location.height)?, self.block_txids(location.height)?) else {
            return Ok(None);
        };
        let proof = MerkleBlock::from_header_txids_with_predicate(&row.header, &txids, |candidate| candidate == txid);
        Ok(Some(serialize(&proof)))
    }
}

/// Hashes beside the path from leaf `position` to the root; an odd last hash is its own sibling.
fn merkle_branch(mut level: Vec<sha256d::Hash>, mut position: usize) -> Vec<TxMerkleNode> {
    let mut branch = Vec::new();
    while level.len() > 1 {
        let sibling = (position ^ 1).min(level.len() - 1);
        branch.push(TxMerkleNode::from_raw_hash(level[sibling]));
        level = level
            .chunks(2)
            .map(|pair| {
                let (left, right) = (pair[0], pair[pair.len() - 1]);
                sha256d::Hash::hash(&[left.to_byte_array(), right.to_byte_array()].concat())
            })
            .collect();
        position /= 2;
    }
    branch
}

/// Inputs whose outputs are read together while a page is visited; bounds the memory.
const INPUTS_TOGETHER: usize = 10_000;

fn parse(location: &TxLocation, raw: &[u8]) -> Result<Transaction, ReadError> {
    let wrong = |reason: String| ReadError::RawBytes { txid: location.txid, reason };
    let transaction: Transaction = deserialize(raw).map_err(|error| wrong(error.to_string()))?;
    let txid = transaction.compute_txid();
    if txid == location.txid { Ok(transaction) } else { Err(wrong(format!("they are transaction {txid}"))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The root of a tree is what a leaf and its branch hash to, whatever the number of leaves.
    #[test]
    fn every_branch_leads_to_the_root() {
        for count in 1..40u8 {
            let leaves: Vec<sha256d::Hash> = (0..count).map(|leaf| sha256d::Hash::hash(&[leaf])).collect();
            let root = bitcoin::merkle_tree::calculate_root(leaves.iter().copied()).unwrap();
            for (position, leaf) in leaves.iter().enumerate() {
                let mut node = position;
                let mut hash = *leaf;
                for sibling in merkle_branch(leaves.clone(), position) {
                    let sibling = sibling.to_raw_hash().to_byte_array();
                    let own = hash.to_byte_array();
                    let pair = if node % 2 == 0 { [own, sibling] } else { [sibling, own] };
                    hash = sha256d::Hash::hash(&pair.concat());
                    node /= 2;
                }
                assert_eq!(hash, root, "leaf {position} of {count}");
            }
        }
    }
}
