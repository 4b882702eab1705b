//! Blocks: choosing transactions by feerate, the coinbase, and the search for a nonce. The same chain, mempool and clock
//! give the same block.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use bitcoin::absolute::LockTime;
use bitcoin::block::{Header, Version};
use bitcoin::hashes::Hash;
use bitcoin::script::{Builder, PushBytesBuf};
use bitcoin::{
    Amount, Block, BlockHash, CompactTarget, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxMerkleNode, TxOut,
    Txid, Witness, transaction,
};

use super::State;
use super::mempool::{Mempool, MempoolEntry};
use super::validate::{self, MAX_BLOCK_SIGOPS_COST, MAX_BLOCK_WEIGHT, REGTEST_BITS};

/// Unix time that block times are counted from when the clock does not set them.
pub const BLOCK_TIME_EPOCH: u32 = 1_700_000_000;
/// Seconds between two blocks when the clock does not set their times.
pub const BLOCK_SPACING: u32 = 600;
/// Weight reserved for header and coinbase.
const RESERVED_WEIGHT: u64 = 8_000;
/// Signature operation cost reserved for the coinbase.
const RESERVED_SIGOPS: usize = 400;
/// Base version of blocks with version bits.
const BLOCK_VERSION: i32 = 0x2000_0000;

/// A block without proof of work, and what its transactions pay.
pub(crate) struct Template {
    pub(crate) block: Block,
    pub(crate) height: u32,
    /// Fee and signature operation cost of every transaction after the coinbase.
    pub(crate) costs: Vec<(u64, usize)>,
}

/// Feerate of a transaction together with the unconfirmed ones that it needs; the best sorts last.
#[derive(Debug, PartialEq, Eq)]
struct Score {
    fee: u64,
    vsize: u64,
    txid: Txid,
}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        let (left, right) =
            (u128::from(self.fee) * u128::from(other.vsize), u128::from(other.fee) * u128::from(self.vsize));
        left.cmp(&right).then_with(|| other.txid.cmp(&self.txid))
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Transactions in block order: packages of a transaction and its ancestors, best feerate first.
fn select(mempool: &Mempool) -> Vec<&MempoolEntry> {
    let mut packages: HashMap<Txid, (u64, u64)> = HashMap::new();
    let mut scores = BTreeSet::new();
    for entry in mempool.iter() {
        let ancestors = mempool.totals(&mempool.ancestors(&entry.tx));
        let (fee, vsize) = (ancestors.fees + entry.fee, ancestors.vsize + entry.vsize);
        packages.insert(entry.txid, (fee, vsize));
        scores.insert(Score { fee, vsize, txid: entry.txid });
    }
    let (mut weight, mut sigops) = (RESERVED_WEIGHT, RESERVED_SIGOPS);
    let mut chosen: HashSet<Txid> = HashSet::new();
    let mut selected = Vec::new();
    while let Some(best) = scores.pop_last() {
        let Some(entry) = mempool.get(&best.txid) else { continue };
        let mut package: Vec<&MempoolEntry> = mempool
            .ancestors(&entry.tx)
            .iter()
            .filter(|txid| !chosen.contains(*txid))
            .filter_map(|txid| mempool.get(txid))
            .collect();
        package.push(entry);
        package.sort_by_cached_key(|entry| (mempool.ancestors(&entry.tx).len(), entry.txid));
        let package_weight: u64 = package.iter().map(|entry| entry.weight).sum();
        let package_sigops: usize = package.iter().map(|entry| entry.sigop_cost).sum();
        if weight + package_weight > MAX_BLOCK_WEIGHT || sigops + package_sigops > MAX_BLOCK_SIGOPS_COST {
            continue;
        }
        weight += package_weight;
        sigops += package_sigops;
        for entry in package {
            chosen.insert(entry.txid);
            if let Some((fee, vsize)) = packages.get(&entry.txid) {
                scores.remove(&Score { fee: *fee, vsize: *vsize, txid: entry.txid });
            }
            for descendant in mempool.descendants(entry.txid) {
                if descendant == entry.txid || chosen.contains(&descendant) {
                    continue;
                }
                if let Some((fee, vsize)) = packages.get_mut(&descendant)
                    && scores.remove(&Score { fee: *fee, vsize: *vsize, txid: descendant })
                {
                    *fee -= entry.fee;
                    *vsize -= entry.vsize;
                    scores.insert(Score { fee: *fee, vsize: *vsize, txid: descendant });
                }
            }
            selected.push(entry);
        }
    }
    selected
}

impl State {
    /// The time of the next block, in Unix seconds.
    fn next_block_time(&self) -> u32 {
        let height = self.chain.height() + 1;
        let by_height = BLOCK_TIME_EPOCH.saturating_add(BLOCK_SPACING.saturating_mul(height));
        let wanted = self.block_clock().map_or(by_height, |now| u32::try_from(now).unwrap_or(u32::MAX));
        wanted.max(self.chain.tip().median_time_past.saturating_add(1))
    }

    /// A block on top of the tip with the best of the mempool, paying `script`.
    pub(crate) fn template(&self, script: &ScriptBuf) -> Template {
        let selected = select(&self.mempool);
        let fees = selected.iter().map(|entry| entry.fee).sum();
        let costs = selected.iter().map(|entry| (entry.fee, entry.sigop_cost)).collect();
        let transactions = selected.iter().map(|entry| Transaction::clone(&entry.tx)).collect();
        self.template_of(transactions, fees, costs, script)
    }

    /// A block on top of the tip with exactly `transactions`; their fees are not collected.
    pub(crate) fn template_with(&self, transactions: Vec<Transaction>, script: &ScriptBuf) -> Template {
        let costs = vec![(0, 0); transactions.len()];
        self.template_of(transactions, 0, costs, script)
    }

    fn template_of(
        &self,
        transactions: Vec<Transaction>,
        fees: u64,
        costs: Vec<(u64, usize)>,
        script: &ScriptBuf,
    ) -> Template {
        let height = self.chain.height() + 1;
        let mut txdata = vec![coinbase(height, 0, validate::subsidy(height) + fees, script)];
        txdata.extend(transactions);
        let header = Header {
            version: Version::from_consensus(BLOCK_VERSION),
            prev_blockhash: self.chain.tip_hash(),
            merkle_root: TxMerkleNode::all_zeros(),
            time: self.next_block_time(),
            bits: CompactTarget::from_consensus(REGTEST_BITS),
            nonce: 0,
        };
        let mut block = Block { header, txdata };
        commit(&mut block);
        Template { block, height, costs }
    }

    /// Finds a nonce. A block that is in the tree already (mined again after `invalidateblock`) gets another coinbase.
    pub(crate) fn solve(&self, template: Template, script: &ScriptBuf) -> Arc<Block> {
        let Template { mut block, height, .. } = template;
        let value = block.txdata[0].output[0].value.to_sat();
        let mut extra = 0;
        loop {
            block.header.nonce = 0;
            while !block.header.target().is_met_by(block.block_hash()) {
                block.header.nonce += 1;
            }
            let hash: BlockHash = block.block_hash();
            if self.chain.block(&hash).is_none() {
                return Arc::new(block);
            }
            extra += 1;
            block.txdata[0] = coinbase(height, extra, value, script);
            commit(&mut block);
        }
    }
}

fn coinbase(height: u32, extra: i64, value: u64, script: &ScriptBuf) -> Transaction {
    let script_sig = Builder::new().push_int(i64::from(height)).push_slice(b"paraffin").push_int(extra).into_script();
    let input = TxIn {
        previous_output: OutPoint::null(),
        script_sig,
        sequence: Sequence::MAX,
        witness: Witness::from_slice(&[[0_u8; 32]]),
    };
    Transaction {
        version: transaction::Version::TWO,
        lock_time: LockTime::ZERO,
        input: vec![input],
        output: vec![TxOut { value: Amount::from_sat(value), script_pubkey: script.clone() }],
    }
}

/// Puts the witness commitment into the coinbase and the merkle root into the header.
pub(crate) fn commit(block: &mut Block) {
    block.txdata[0].output.truncate(1);
    if let Some(root) = block.witness_root() {
        let commitment = Block::compute_witness_commitment(&root, &[0; 32]);
        let mut payload = PushBytesBuf::new();
        let bytes = [&[0xaa, 0x21, 0xa9, 0xed], commitment.as_byte_array().as_slice()].concat();
        payload.extend_from_slice(&bytes).expect("36 bytes fit into one push");
        block.txdata[0].output.push(TxOut { value: Amount::ZERO, script_pubkey: ScriptBuf::new_op_return(payload) });
    }
    let txids: Vec<Txid> = block.txdata.iter().map(Transaction::compute_txid).collect();
    block.header.merkle_root = TxMerkleNode::from_raw_hash(validate::merkle_root(&txids).0);
}
