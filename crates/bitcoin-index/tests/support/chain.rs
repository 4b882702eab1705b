//! Random chains without proof of work or valid signatures: the index checks neither.

use bitcoin::absolute::LockTime;
use bitcoin::block::{Header, Version};
use bitcoin::hashes::Hash;
use bitcoin::script::PushBytesBuf;
use bitcoin::{
    Amount, Block, BlockHash, CompactTarget, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxMerkleNode, TxOut,
    Witness, transaction,
};

/// A small deterministic generator (splitmix64); quality is enough for test data.
#[derive(Debug, Clone)]
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next() as u8).collect()
    }
}

/// A script of every kind that the index distinguishes; the same `seed` gives the same script.
pub fn script(seed: u64) -> ScriptBuf {
    let mut random = Random(seed);
    let body = random.bytes(64);
    let bytes = match seed % 11 {
        0 => [&[0x76, 0xa9, 0x14][..], &body[..20], &[0x88, 0xac]].concat(),
        1 => [&[0xa9, 0x14][..], &body[..20], &[0x87]].concat(),
        2 | 3 => [&[0x00, 0x14][..], &body[..20]].concat(),
        4 => [&[0x00, 0x20][..], &body[..32]].concat(),
        5 | 6 => [&[0x51, 0x20][..], &body[..32]].concat(),
        7 => [&[0x21, 0x02][..], &body[..32], &[0xac]].concat(),
        8 => [&[0x51, 0x21, 0x03][..], &body[..32], &[0x51, 0xae]].concat(),
        9 => [&[0x51, 0x02][..], &body[..2]].concat(),
        _ => body[..(seed % 40) as usize].iter().map(|byte| byte | 0x80).collect(),
    };
    ScriptBuf::from_bytes(bytes)
}

pub fn output(value: u64, script_pubkey: ScriptBuf) -> TxOut {
    TxOut { value: Amount::from_sat(value), script_pubkey }
}

pub fn transaction(inputs: Vec<TxIn>, outputs: Vec<TxOut>, version: i32) -> Transaction {
    Transaction { version: transaction::Version(version), lock_time: LockTime::ZERO, input: inputs, output: outputs }
}

pub fn spend(outpoint: OutPoint) -> TxIn {
    TxIn { previous_output: outpoint, script_sig: ScriptBuf::new(), sequence: Sequence::MAX, witness: Witness::new() }
}

/// A coinbase that `tag` makes unique.
pub fn coinbase(tag: u64, outputs: Vec<TxOut>) -> Transaction {
    let script_sig = ScriptBuf::from_bytes([&[8][..], &tag.to_le_bytes()].concat());
    let input =
        TxIn { previous_output: OutPoint::null(), script_sig, sequence: Sequence::MAX, witness: Witness::new() };
    transaction(vec![input], outputs, 1)
}

/// A block on `previous`; the Merkle root is right, the proof of work is not.
pub fn block(previous: BlockHash, time: u32, nonce: u32, txdata: Vec<Transaction>) -> Block {
    let header = Header {
        version: Version::from_consensus(0x2000_0000),
        prev_blockhash: previous,
        merkle_root: TxMerkleNode::all_zeros(),
        time,
        bits: CompactTarget::from_consensus(0x207f_ffff),
        nonce,
    };
    let mut block = Block { header, txdata };
    block.header.merkle_root = block.compute_merkle_root().unwrap();
    block
}

/// A growing random chain that knows what can still be spent.
#[derive(Clone)]
pub struct RandomChain {
    pub blocks: Vec<Block>,
    random: Random,
    unspent: Vec<(OutPoint, TxOut)>,
    /// Coinbases that were never spent from, with their height.
    untouched: Vec<Transaction>,
    scripts: u64,
}

impl RandomChain {
    /// Starts with a genesis block whose output cannot be spent. `scripts` is the number of different scripts.
    pub fn new(seed: u64, scripts: u64) -> Self {
        let genesis =
            block(BlockHash::all_zeros(), 1_296_688_602, 0, vec![coinbase(seed, vec![output(50, script(0))])]);
        Self { blocks: vec![genesis], random: Random(seed), unspent: Vec::new(), untouched: Vec::new(), scripts }
    }

    pub fn tip(&self) -> BlockHash {
        self.blocks.last().unwrap().block_hash()
    }

    /// Makes what follows differ from what a clone of this chain would make.
    pub fn reseed(&mut self, seed: u64) {
        self.random.0 ^= seed;
    }

    /// Adds a block of up to `transactions` random transactions.
    pub fn grow(&mut self, transactions: usize) {
        let height = self.blocks.len() as u32;
        let mut txdata = vec![self.random_coinbase(height)];
        let count = self.random.below(transactions + 1);
        let first = txdata[0].clone();
        // Coinbase outputs may be spent in the same block here: the index does not know maturity.
        self.add_outputs(&first);
        for _ in 0..count {
            if let Some(transaction) = self.random_transaction() {
                self.add_outputs(&transaction);
                txdata.push(transaction);
            }
        }
        let time = self.blocks.last().unwrap().header.time + self.random.below(1200) as u32 - 300;
        let nonce = self.random.next() as u32;
        self.blocks.push(block(self.tip(), time, nonce, txdata));
    }

    fn random_coinbase(&mut self, height: u32) -> Transaction {
        if self.random.chance(4) && !self.untouched.is_empty() {
            let position = self.random.below(self.untouched.len());
            let repeated = self.untouched[position].clone();
            if self.is_untouched(&repeated) {
                let txid = repeated.compute_txid();
                self.unspent.retain(|(outpoint, _)| outpoint.txid != txid);
                return repeated;
            }
        }
        let tag = (self.random.next() & 0xffff_ffff_0000_0000) | u64::from(height);
        let mut outputs = vec![output(5_000_000_000, self.random_script())];
        if self.random.chance(30) {
            outputs.push(output(0, ScriptBuf::from_bytes([&[0x6a, 0x24][..], &self.random.bytes(36)].concat())));
        }
        if self.random.chance(20) {
            outputs.push(output(self.random.next() % 1_000_000, self.random_script()));
        }
        let coinbase = coinbase(tag, outputs);
        self.untouched.push(coinbase.clone());
        coinbase
    }

    fn is_untouched(&self, coinbase: &Transaction) -> bool {
        let txid = coinbase.compute_txid();
        let spendable = coinbase.output.iter().filter(|output| !output.script_pubkey.is_op_return()).count();
        self.unspent.iter().filter(|(outpoint, _)| outpoint.txid == txid).count() == spendable
    }

    fn add_outputs(&mut self, transaction: &Transaction) {
        let txid = transaction.compute_txid();
        for (vout, output) in (0u32..).zip(&transaction.output) {
            if !output.script_pubkey.is_op_return() && output.script_pubkey.len() <= 10_000 {
                self.unspent.push((OutPoint { txid, vout }, output.clone()));
            }
        }
    }

    fn random_script(&mut self) -> ScriptBuf {
        // A fifth of all outputs goes to three scripts, so some scripts become busy.
        let seed = if self.random.chance(20) { self.random.next() % 3 } else { self.random.next() % self.scripts };
        script(seed)
    }

    fn random_transaction(&mut self) -> Option<Transaction> {
        let mut inputs = Vec::new();
        let mut available = 0u64;
        for _ in 0..=self.random.below(3) {
            if self.unspent.is_empty() {
                break;
            }
            // Young outputs are preferred, so some are spent in their own block.
            let window = if self.random.chance(50) { self.unspent.len().min(12) } else { self.unspent.len() };
            let position = self.unspent.len() - 1 - self.random.below(window);
            let (outpoint, spent) = self.unspent.swap_remove(position);
            available += spent.value.to_sat();
            inputs.push(self.random_input(outpoint, &spent));
        }
        if inputs.is_empty() {
            return None;
        }
        let mut outputs = Vec::new();
        for _ in 0..=self.random.below(4) {
            let value = if self.random.chance(10) { 0 } else { self.random.next() % (available / 5 + 1) };
            outputs.push(output(value, self.random_script()));
        }
        if self.random.chance(15) {
            let data = self.random.bytes(20);
            outputs.push(output(0, ScriptBuf::from_bytes([&[0x6a, 20][..], &data].concat())));
        }
        if self.random.chance(2) && available > 1000 {
            outputs.push(output(0, ScriptBuf::from_bytes(vec![0x51; 10_001])));
        }
        let version = if self.random.chance(5) { -7 } else { 2 };
        Some(transaction(inputs, outputs, version))
    }

    fn random_input(&mut self, outpoint: OutPoint, spent: &TxOut) -> TxIn {
        let mut input = spend(outpoint);
        input.sequence = Sequence(self.random.next() as u32);
        if spent.script_pubkey.is_p2sh() {
            let redeem = if self.random.chance(50) { script(4) } else { script(8) };
            let push = PushBytesBuf::try_from(redeem.into_bytes()).unwrap();
            input.script_sig = ScriptBuf::builder().push_slice([1; 3]).push_slice(push).into_script();
        } else if self.random.chance(30) {
            input.script_sig = ScriptBuf::from_bytes(self.random.bytes(12));
        }
        if spent.script_pubkey.is_witness_program() || self.random.chance(10) {
            input.witness.push(self.random.bytes(5));
            input.witness.push(script(8).as_bytes());
        }
        input
    }
}
