//! Every answer computed from the raw blocks by looping over all of them; shares nothing with the index but its records.

use std::collections::HashMap;

use bitcoin::hashes::{Hash, HashEngine, sha256, sha256d};
use bitcoin::hex::DisplayHex;
use bitcoin::{Block, OutPoint, Script, ScriptBuf, Transaction, TxMerkleNode, TxOut, Txid};
use paraffin_bitcoin_index::{BlockSummary, Confirmation, ScriptTotals, Spender, UnspentOutput};

pub struct Entry {
    pub txid: Txid,
    pub transaction: Transaction,
    pub height: u32,
    pub index: usize,
    /// Replaced by a later coinbase with the same id.
    pub gone: bool,
}

/// The chain replayed transaction by transaction.
pub struct Naive<'a> {
    pub blocks: &'a [Block],
    pub entries: Vec<Entry>,
    newest: HashMap<Txid, usize>,
    /// (entry, vout) to (spending entry, vin).
    spends: HashMap<(usize, u32), (usize, u32)>,
    /// What each input of each entry spends.
    sources: Vec<Vec<Option<(usize, u32)>>>,
}

fn spendable(script: &Script) -> bool {
    script.as_bytes().first() != Some(&0x6a) && script.len() <= 10_000
}

impl<'a> Naive<'a> {
    pub fn new(blocks: &'a [Block]) -> Self {
        let mut naive =
            Self { blocks, entries: Vec::new(), newest: HashMap::new(), spends: HashMap::new(), sources: Vec::new() };
        for (height, block) in (0u32..).zip(blocks) {
            for (index, transaction) in block.txdata.iter().enumerate() {
                naive.add(height, index, transaction);
            }
        }
        naive
    }

    fn add(&mut self, height: u32, index: usize, transaction: &Transaction) {
        let txid = transaction.compute_txid();
        let position = self.entries.len();
        if let Some(earlier) = self.newest.get(&txid).copied() {
            let spent = (0..transaction.output.len() as u32).any(|vout| self.spends.contains_key(&(earlier, vout)));
            assert!(!spent, "the random chain repeats only coinbases that nothing spends from");
            self.entries[earlier].gone = true;
        }
        let mut sources = Vec::new();
        for (vin, input) in (0u32..).zip(&transaction.input) {
            let outpoint = input.previous_output;
            sources.push(if outpoint.is_null() {
                None
            } else {
                let source = (self.newest[&outpoint.txid], outpoint.vout);
                assert_eq!(self.spends.insert(source, (position, vin)), None, "spent twice");
                Some(source)
            });
        }
        self.sources.push(sources);
        self.entries.push(Entry { txid, transaction: transaction.clone(), height, index, gone: false });
        self.newest.insert(txid, position);
    }

    pub fn find(&self, txid: &Txid) -> Option<&Entry> {
        self.newest.get(txid).map(|index| &self.entries[*index])
    }

    fn source_output(&self, source: (usize, u32)) -> &TxOut {
        &self.entries[source.0].transaction.output[source.1 as usize]
    }

    /// What the inputs of every transaction of a block spend, as a node reports it.
    pub fn spent_of_block(&self, height: u32) -> Vec<Vec<TxOut>> {
        let indexes = (0..self.entries.len()).filter(|index| self.entries[*index].height == height);
        indexes
            .map(|index| {
                self.sources[index].iter().flatten().map(|source| self.source_output(*source).clone()).collect()
            })
            .collect()
    }

    /// Indexes of the entries of a script, newest first.
    fn indexes(&self, script: &Script) -> Vec<usize> {
        let mut indexes = Vec::new();
        for (index, entry) in self.entries.iter().enumerate().rev() {
            let funds = entry.height > 0
                && spendable(script)
                && entry.transaction.output.iter().any(|output| output.script_pubkey.as_script() == script);
            let spends = self.sources[index]
                .iter()
                .flatten()
                .any(|source| self.source_output(*source).script_pubkey.as_script() == script);
            if !entry.gone && (funds || spends) {
                indexes.push(index);
            }
        }
        indexes
    }

    pub fn history(&self, script: &Script) -> Vec<Txid> {
        self.indexes(script).into_iter().map(|index| self.entries[index].txid).collect()
    }

    pub fn totals(&self, script: &Script) -> ScriptTotals {
        let (mut funded, mut funded_sum, mut spent, mut spent_sum) = (0u64, 0u64, 0u64, 0u64);
        let indexes = self.indexes(script);
        for index in &indexes {
            for (vout, output) in (0u32..).zip(&self.entries[*index].transaction.output) {
                if output.script_pubkey.as_script() == script {
                    funded += 1;
                    funded_sum += output.value.to_sat();
                    if self.spends.contains_key(&(*index, vout)) {
                        spent += 1;
                        spent_sum += output.value.to_sat();
                    }
                }
            }
        }
        ScriptTotals {
            funded_txo_count: funded,
            funded_txo_sum: funded_sum,
            spent_txo_count: spent,
            spent_txo_sum: spent_sum,
            tx_count: indexes.len() as u64,
        }
    }

    /// Unspent outputs, newest first.
    pub fn unspent(&self, script: &Script) -> Vec<UnspentOutput> {
        let mut unspent = Vec::new();
        for index in self.indexes(script) {
            let entry = &self.entries[index];
            for (vout, output) in (0u32..).zip(&entry.transaction.output).collect::<Vec<_>>().into_iter().rev() {
                if output.script_pubkey.as_script() == script && !self.spends.contains_key(&(index, vout)) {
                    let outpoint = OutPoint { txid: entry.txid, vout };
                    let confirmation = self.confirmation(entry);
                    unspent.push(UnspentOutput { outpoint, value: output.value.to_sat(), confirmation });
                }
            }
        }
        unspent
    }

    pub fn confirmation(&self, entry: &Entry) -> Confirmation {
        let block = &self.blocks[entry.height as usize];
        Confirmation { height: entry.height, hash: block.block_hash(), time: block.header.time }
    }

    pub fn outspends(&self, txid: &Txid) -> Vec<Option<Spender>> {
        let index = self.newest[txid];
        let outputs = 0..self.entries[index].transaction.output.len() as u32;
        outputs
            .map(|vout| {
                let (spender, vin) = *self.spends.get(&(index, vout))?;
                let entry = &self.entries[spender];
                Some(Spender { txid: entry.txid, vin, confirmation: self.confirmation(entry) })
            })
            .collect()
    }

    /// What the inputs of a transaction spend, in input order; `None` for a coinbase.
    pub fn prevouts(&self, txid: &Txid) -> Vec<Option<TxOut>> {
        let sources = &self.sources[self.newest[txid]];
        sources.iter().map(|source| source.map(|source| self.source_output(source).clone())).collect()
    }

    /// What the inputs of a transaction hold beyond its outputs, satoshis; 0 for a coinbase.
    pub fn fee(&self, txid: &Txid) -> u64 {
        let entry = &self.entries[self.newest[txid]];
        let paid_in: u64 = self.prevouts(txid).iter().flatten().map(|output| output.value.to_sat()).sum();
        let paid_out: u64 = entry.transaction.output.iter().map(|output| output.value.to_sat()).sum();
        if entry.index == 0 { 0 } else { paid_in - paid_out }
    }

    pub fn block(&self, height: u32) -> BlockSummary {
        let block = &self.blocks[height as usize];
        let first = height.saturating_sub(10) as usize;
        let mut times: Vec<u32> = self.blocks[first..=height as usize].iter().map(|block| block.header.time).collect();
        times.sort_unstable();
        BlockSummary {
            height,
            header: block.header,
            transaction_count: block.txdata.len() as u32,
            size: bitcoin::consensus::serialize(block).len() as u32,
            weight: block.weight().to_wu(),
            median_time: times[times.len() / 2],
        }
    }

    /// Folds a Merkle branch and answers whether it ends in the root of the block.
    pub fn branch_holds(&self, txid: &Txid, branch: &[TxMerkleNode], mut position: usize) -> bool {
        let entry = self.find(txid).unwrap();
        let mut hash = txid.to_byte_array();
        for sibling in branch {
            let sibling = sibling.to_byte_array();
            let mut engine = sha256d::Hash::engine();
            let (left, right) = if position.is_multiple_of(2) { (hash, sibling) } else { (sibling, hash) };
            engine.input(&left);
            engine.input(&right);
            hash = sha256d::Hash::from_engine(engine).to_byte_array();
            position /= 2;
        }
        hash == self.blocks[entry.height as usize].header.merkle_root.to_byte_array()
    }

    /// Every script that any output of the chain ever paid, unspendable ones included.
    pub fn scripts(&self) -> Vec<ScriptBuf> {
        let mut scripts: Vec<ScriptBuf> = self
            .entries
            .iter()
            .flat_map(|entry| entry.transaction.output.iter().map(|output| output.script_pubkey.clone()))
            .collect();
        scripts.sort();
        scripts.dedup();
        scripts
    }
}

pub fn script_hash(script: &Script) -> String {
    sha256::Hash::hash(script.as_bytes()).to_byte_array().to_lower_hex_string()
}
