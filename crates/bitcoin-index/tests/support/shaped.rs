//! An endless chain of blocks with the shape of real ones: the same transactions, sizes, script kinds and witnesses, with
//! other scripts and with inputs that spend what the chain itself has paid.

use std::collections::HashMap;

use bitcoin::{Block, BlockHash, OutPoint, ScriptBuf, Transaction, TxOut, Txid};

use super::chain::{self, Random};

/// Percent of the scripts met three times or more in a block that stay the same in every copy of it: exchanges, pools.
const LASTING_PERCENT: u64 = 50;
/// Percent of outside inputs that spend an output of the newest tenth of what is unspent.
const YOUNG_PERCENT: usize = 60;

/// Makes blocks one after the other.
pub struct ShapedChain {
    models: Vec<Model>,
    random: Random,
    tip: BlockHash,
    made: u64,
    unspent: Vec<(OutPoint, TxOut)>,
}

struct Model {
    block: Block,
    txids: HashMap<Txid, usize>,
    lasting: HashMap<ScriptBuf, bool>,
}

impl ShapedChain {
    /// Copies the shape of `blocks` in turn.
    pub fn new(blocks: Vec<Block>, seed: u64) -> Self {
        let models = blocks.into_iter().map(Model::new).collect();
        let tip = BlockHash::from_raw_hash(bitcoin::hashes::Hash::all_zeros());
        Self { models, random: Random(seed), tip, made: 0, unspent: Vec::new() }
    }

    /// A block that pays `outputs` different scripts, four in a transaction, for the first inputs to spend; not of the shape
    /// of anything.
    pub fn funding_block(&mut self, outputs: usize) -> Block {
        let pay = |random: &mut Random| chain::output(20_000 + random.next() % 1_000_000, chain::script(random.next()));
        self.made += 1;
        let mut txdata = vec![chain::coinbase(self.made, vec![pay(&mut self.random)])];
        for _ in 0..outputs / 4 {
            let last = OutPoint { txid: txdata[txdata.len() - 1].compute_txid(), vout: 0 };
            let outputs = (0..5).map(|_| pay(&mut self.random)).collect();
            txdata.push(chain::transaction(vec![chain::spend(last)], outputs, 2));
        }
        let block = chain::block(self.tip, self.made as u32, 0, txdata);
        self.take(&block);
        block
    }

    /// The next block, with the outputs that each transaction spends.
    pub fn next_block(&mut self) -> (Block, Vec<Vec<TxOut>>) {
        let model_index = self.made as usize % self.models.len();
        self.made += 1;
        let mut txdata: Vec<Transaction> = Vec::new();
        let mut txids = Vec::new();
        let mut spent = Vec::new();
        for index in 0..self.models[model_index].block.txdata.len() {
            let mut transaction = self.models[model_index].block.txdata[index].clone();
            let mut outputs = Vec::new();
            if index == 0 {
                // Eight bytes of the script make the coinbase unique without changing its size.
                let mut script = transaction.input[0].script_sig.to_bytes();
                let start = script.len().saturating_sub(8);
                let end = script.len();
                script[start..].copy_from_slice(&self.made.to_le_bytes()[..end - start]);
                transaction.input[0].script_sig = ScriptBuf::from_bytes(script);
            } else {
                for input in &mut transaction.input {
                    let model = &self.models[model_index];
                    let funding = model.txids.get(&input.previous_output.txid).copied();
                    let (outpoint, output) = match funding {
                        Some(earlier) => {
                            let vout = input.previous_output.vout;
                            (OutPoint { txid: txids[earlier], vout }, txdata[earlier].output[vout as usize].clone())
                        }
                        None => self.take_unspent(),
                    };
                    input.previous_output = outpoint;
                    outputs.push(output);
                }
            }
            for output in &mut transaction.output {
                output.script_pubkey = self.models[model_index].script_for(&output.script_pubkey, self.made);
            }
            txids.push(transaction.compute_txid());
            txdata.push(transaction);
            spent.push(outputs);
        }
        let time = 1_718_000_000 + self.made as u32 * 600;
        let block = chain::block(self.tip, time, 0, txdata);
        self.take(&block);
        (block, spent)
    }

    /// Outputs that nothing spends yet.
    pub fn unspent_count(&self) -> usize {
        self.unspent.len()
    }

    fn take_unspent(&mut self) -> (OutPoint, TxOut) {
        let young = self.unspent.len() / 10;
        let reach = if self.random.chance(YOUNG_PERCENT) && young > 0 { young } else { self.unspent.len() };
        let position = self.unspent.len() - 1 - self.random.below(reach);
        self.unspent.swap_remove(position)
    }

    fn take(&mut self, block: &Block) {
        self.tip = block.block_hash();
        let mut funded: HashMap<OutPoint, &TxOut> = HashMap::new();
        for transaction in &block.txdata {
            for input in &transaction.input {
                funded.remove(&input.previous_output);
            }
            let txid = transaction.compute_txid();
            for (vout, output) in (0u32..).zip(&transaction.output) {
                if !output.script_pubkey.is_op_return() {
                    funded.insert(OutPoint { txid, vout }, output);
                }
            }
        }
        let mut funded: Vec<_> = funded.into_iter().map(|(outpoint, output)| (outpoint, output.clone())).collect();
        funded.sort_by_key(|(outpoint, _)| *outpoint);
        self.unspent.append(&mut funded);
    }
}

impl Model {
    fn new(block: Block) -> Self {
        let txids = block.txdata.iter().enumerate().map(|(index, tx)| (tx.compute_txid(), index)).collect();
        let mut counts: HashMap<&ScriptBuf, u32> = HashMap::new();
        for output in block.txdata.iter().flat_map(|transaction| &transaction.output) {
            *counts.entry(&output.script_pubkey).or_default() += 1;
        }
        let lasts = |script: &ScriptBuf| {
            u64::from(script.as_bytes().iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte))) * 100 / 256
                < LASTING_PERCENT
        };
        let lasting = counts.into_iter().map(|(script, count)| (script.clone(), count >= 3 && lasts(script))).collect();
        Self { block, txids, lasting }
    }

    /// The script of the same kind for copy `copy`; equal scripts stay equal within it.
    fn script_for(&self, script: &ScriptBuf, copy: u64) -> ScriptBuf {
        if script.is_op_return() || script.len() < 20 || self.lasting.get(script) == Some(&true) {
            return script.clone();
        }
        let mut bytes = script.to_bytes();
        let middle = bytes.len() / 2;
        let mut mask = Random(copy);
        for byte in &mut bytes[middle - 6..middle + 6] {
            *byte ^= mask.next() as u8;
        }
        ScriptBuf::from_bytes(bytes)
    }
}
