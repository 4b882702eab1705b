//! Every answer computed from the raw blocks by looping over all of them; shares nothing with the index.

use std::collections::HashMap;

use bitcoin::hashes::{Hash, HashEngine, sha256, sha256d};
use bitcoin::hex::DisplayHex;
use bitcoin::{Address, Block, OutPoint, Script, ScriptBuf, Transaction, TxOut, Txid};
use serde_json::{Value, json};

use super::NETWORK;

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

    pub fn totals(&self, script: &Script) -> Value {
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
        json!({
            "funded_txo_count": funded, "funded_txo_sum": funded_sum,
            "spent_txo_count": spent, "spent_txo_sum": spent_sum, "tx_count": indexes.len(),
        })
    }

    /// Unspent outputs, newest first.
    pub fn unspent(&self, script: &Script) -> Vec<(OutPoint, Value)> {
        let mut unspent = Vec::new();
        for index in self.indexes(script) {
            let entry = &self.entries[index];
            for (vout, output) in (0u32..).zip(&entry.transaction.output).collect::<Vec<_>>().into_iter().rev() {
                if output.script_pubkey.as_script() == script && !self.spends.contains_key(&(index, vout)) {
                    let record = json!({
                        "txid": entry.txid.to_string(), "vout": vout,
                        "status": self.status(entry), "value": output.value.to_sat(),
                    });
                    unspent.push((OutPoint { txid: entry.txid, vout }, record));
                }
            }
        }
        unspent
    }

    pub fn status(&self, entry: &Entry) -> Value {
        let block = &self.blocks[entry.height as usize];
        json!({
            "confirmed": true, "block_height": entry.height,
            "block_hash": block.block_hash().to_string(), "block_time": block.header.time,
        })
    }

    pub fn outspends(&self, txid: &Txid) -> Value {
        let index = self.newest[txid];
        let outputs = 0..self.entries[index].transaction.output.len() as u32;
        outputs
            .map(|vout| match self.spends.get(&(index, vout)) {
                None => json!({"spent": false}),
                Some((spender, vin)) => {
                    let entry = &self.entries[*spender];
                    json!({"spent": true, "txid": entry.txid.to_string(), "vin": vin, "status": self.status(entry)})
                }
            })
            .collect()
    }

    pub fn transaction(&self, txid: &Txid) -> Value {
        let index = self.newest[txid];
        let entry = &self.entries[index];
        let transaction = &entry.transaction;
        let prevouts: Vec<Option<&TxOut>> =
            self.sources[index].iter().map(|source| source.map(|source| self.source_output(source))).collect();
        let paid_in: u64 = prevouts.iter().flatten().map(|output| output.value.to_sat()).sum();
        let paid_out: u64 = transaction.output.iter().map(|output| output.value.to_sat()).sum();
        let fee = if entry.index == 0 { 0 } else { paid_in - paid_out };
        let vin: Vec<Value> = transaction
            .input
            .iter()
            .zip(&prevouts)
            .map(|(input, prevout)| {
                let mut record = json!({
                    "txid": input.previous_output.txid.to_string(),
                    "vout": input.previous_output.vout,
                    "prevout": prevout.map(render_output),
                    "scriptsig": hex(input.script_sig.as_bytes()),
                    "scriptsig_asm": input.script_sig.to_asm_string(),
                    "is_coinbase": entry.index == 0,
                    "sequence": input.sequence.0,
                });
                if !input.witness.is_empty() {
                    record["witness"] = input.witness.iter().map(hex).collect();
                }
                if let Some(prevout) = prevout {
                    let redeem =
                        (kind(&prevout.script_pubkey) == "p2sh").then(|| last_push(input.script_sig.as_bytes()));
                    let behind = redeem.clone().unwrap_or_else(|| prevout.script_pubkey.to_bytes());
                    if let Some(redeem) = redeem {
                        record["inner_redeemscript_asm"] = ScriptBuf::from_bytes(redeem).to_asm_string().into();
                    }
                    if kind(Script::from_bytes(&behind)) == "v0_p2wsh"
                        && let Some(last) = input.witness.last()
                    {
                        record["inner_witnessscript_asm"] = Script::from_bytes(last).to_asm_string().into();
                    }
                }
                record
            })
            .collect();
        json!({
            "txid": txid.to_string(),
            "version": transaction.version.0.cast_unsigned(),
            "locktime": 0,
            "vin": vin,
            "vout": transaction.output.iter().map(render_output).collect::<Vec<_>>(),
            "size": bitcoin::consensus::serialize(transaction).len(),
            "weight": transaction.weight().to_wu(),
            "fee": fee,
            "status": self.status(entry),
        })
    }

    pub fn block(&self, height: u32) -> Value {
        let block = &self.blocks[height as usize];
        let first = height.saturating_sub(10) as usize;
        let mut times: Vec<u32> = self.blocks[first..=height as usize].iter().map(|block| block.header.time).collect();
        times.sort_unstable();
        json!({
            "id": block.block_hash().to_string(),
            "height": height,
            "version": 0x2000_0000,
            "timestamp": block.header.time,
            "tx_count": block.txdata.len(),
            "size": bitcoin::consensus::serialize(block).len(),
            "weight": block.weight().to_wu(),
            "merkle_root": block.compute_merkle_root().unwrap().to_string(),
            "previousblockhash": (height > 0).then(|| self.blocks[height as usize - 1].block_hash().to_string()),
            "mediantime": times[times.len() / 2],
            "nonce": block.header.nonce,
            "bits": 0x207f_ffff,
            "difficulty": 4.656_542_373_906_925e-10,
        })
    }

    /// Folds a Merkle branch and answers whether it ends in the root of the block.
    pub fn branch_holds(&self, txid: &Txid, branch: &[String], mut position: usize) -> bool {
        let entry = self.find(txid).unwrap();
        let mut hash = txid.to_byte_array();
        for sibling in branch {
            let sibling = sibling.parse::<sha256d::Hash>().unwrap().to_byte_array();
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
    hex(&sha256::Hash::hash(script.as_bytes()).to_byte_array())
}

fn hex(bytes: &[u8]) -> String {
    bytes.to_lower_hex_string()
}

/// The last push of a script that this test wrote: pushes of at most 75 bytes, or garbage without any.
fn last_push(script: &[u8]) -> Vec<u8> {
    let mut last = Vec::new();
    let mut rest = script;
    while let Some((length, tail)) = rest.split_first() {
        let (push, tail) = tail.split_at(usize::from(*length));
        last = push.to_vec();
        rest = tail;
    }
    last
}

fn kind(script: &Script) -> &'static str {
    match script.as_bytes() {
        [] => "empty",
        [0x6a, ..] => "op_return",
        [0x21, 2 | 3, .., 0xac] if script.len() == 35 => "p2pk",
        [0x76, 0xa9, 0x14, .., 0x88, 0xac] if script.len() == 25 => "p2pkh",
        [0xa9, 0x14, .., 0x87] if script.len() == 23 => "p2sh",
        [0x00, 0x14, ..] if script.len() == 22 => "v0_p2wpkh",
        [0x00, 0x20, ..] if script.len() == 34 => "v0_p2wsh",
        [0x51, 0x20, ..] if script.len() == 34 => "v1_p2tr",
        _ => "unknown",
    }
}

fn render_output(output: &TxOut) -> Value {
    let script = &output.script_pubkey;
    let mut record = json!({
        "scriptpubkey": hex(script.as_bytes()),
        "scriptpubkey_asm": script.to_asm_string(),
        "scriptpubkey_type": kind(script),
        "value": output.value.to_sat(),
    });
    if let Ok(address) = Address::from_script(script, NETWORK.bitcoin()) {
        record["scriptpubkey_address"] = address.to_string().into();
    }
    record
}
