//! Random blocks: transactions with every kind of protostone, well-formed and not.

use bitcoin::consensus::deserialize;
use bitcoin::hashes::{Hash, sha256};
use bitcoin::{Amount, BlockHash, OutPoint, ScriptBuf, Transaction, TxOut};
use paraffin_alkanes::codec::{Cellpack, Edict, Protostone, Runestone, encode_protostones};
use paraffin_primitives::{AlkaneId, ConnectedBlock, Height};

use crate::chain::{block, id, op_return, output, script, spend, transaction};
use crate::stand_in;

/// Numbers that depend on a seed alone.
#[derive(Debug, Clone)]
pub(crate) struct Numbers {
    state: u64,
    /// Whether amounts near 2^128 are drawn. A single one of them can make a token unusable, so most scenarios have none.
    has_extremes: bool,
}

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed, has_extremes: seed.is_multiple_of(4) }
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }
}

/// A chain that grows by random blocks.
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    pub(crate) numbers: Numbers,
    unspent: Vec<OutPoint>,
    pub(crate) blocks: Vec<ConnectedBlock>,
}

impl Scenario {
    pub(crate) fn new(seed: u64) -> Self {
        Self { numbers: Numbers::new(seed), unspent: Vec::new(), blocks: Vec::new() }
    }

    pub(crate) fn grow(&mut self, transactions: usize) -> &ConnectedBlock {
        let height = self.blocks.len() as Height;
        let previous = self.blocks.last().map_or(BlockHash::all_zeros(), |block| block.id.hash);
        let transactions = (0..transactions).map(|_| self.transaction()).collect();
        self.blocks.push(block(height, previous, transactions));
        &self.blocks[self.blocks.len() - 1]
    }

    fn transaction(&mut self) -> Transaction {
        let numbers = &mut self.numbers;
        let count = numbers.below(4).min(self.unspent.len());
        let mut inputs: Vec<_> =
            (0..count).map(|_| spend(self.unspent.swap_remove(numbers.below(self.unspent.len())))).collect();
        if inputs.is_empty() {
            // A transaction of its own: it spends an unknown output.
            let txid = sha256::Hash::hash(&numbers.next().to_le_bytes()).to_byte_array();
            inputs.push(spend(OutPoint { txid: deserialize(&txid).unwrap(), vout: 0 }));
        }
        let mut outputs: Vec<TxOut> = Vec::new();
        for _ in 0..=numbers.below(4) {
            let script = if numbers.chance(15) { op_return() } else { script(numbers.below(6) as u64) };
            outputs.push(output(script));
        }
        if numbers.chance(90) {
            let index = numbers.below(outputs.len() + 1);
            let script_pubkey = runestone(numbers, outputs.len() + 1);
            outputs.insert(index, TxOut { value: Amount::ZERO, script_pubkey });
        }
        let transaction = transaction(inputs, outputs);
        let txid = transaction.compute_txid();
        self.unspent.extend((0..transaction.output.len() as u32).map(|vout| OutPoint { txid, vout }));
        transaction
    }
}

fn runestone(numbers: &mut Numbers, output_count: usize) -> ScriptBuf {
    if numbers.chance(3) {
        // A cenotaph: the runestone's fields break off.
        return ScriptBuf::from_bytes(vec![0x6a, 0x5d, 0x01, 0x16]);
    }
    let count = numbers.pick(&[0, 1, 1, 1, 2, 2, 3, 5]);
    let stones: Vec<_> = (0..count).map(|_| stone(numbers, output_count as u32, count)).collect();
    let mut protocol = encode_protostones(&stones).unwrap();
    if numbers.chance(3) {
        // A varint without an end, or a protostone that is cut short.
        protocol.push(numbers.pick(&[0xff_u128 << 112, 0x7f01]));
    }
    Runestone { protocol, ..Runestone::default() }.encode(output_count).unwrap()
}

fn vout(numbers: &mut Numbers, n: u32, stones: u32) -> u32 {
    let last = n + stones;
    match numbers.below(40) {
        0 => n,
        1 => last + 1,
        2 => u32::MAX,
        3..8 => n + 1 + numbers.below(stones as usize) as u32,
        _ => numbers.below(n as usize) as u32,
    }
}

fn stone(numbers: &mut Numbers, n: u32, stones: u32) -> Protostone {
    let mut stone = Protostone { protocol_tag: if numbers.chance(85) { 1 } else { 7 }, ..Protostone::default() };
    if numbers.chance(65) {
        stone.message = message(numbers);
    }
    // A message without pointers voids its transaction, so most have them.
    let wanted = if stone.message.is_empty() { 60 } else { 97 };
    stone.pointer = numbers.chance(wanted).then(|| vout(numbers, n, stones));
    stone.refund = numbers.chance(wanted).then(|| vout(numbers, n, stones));
    if numbers.chance(40) {
        stone.edicts = (0..=numbers.below(3)).map(|_| edict(numbers, n, stones)).collect();
    }
    stone
}

fn message(numbers: &mut Numbers) -> Vec<u8> {
    if numbers.chance(3) {
        return numbers.pick(&[vec![2], vec![0x80; 15], vec![9, 9, 0x80]]);
    }
    let contract = token(numbers);
    let operation = numbers.pick(&[
        stand_in::FORWARD,
        stand_in::KEEP,
        stand_in::KEEP,
        stand_in::MINT,
        stand_in::MINT,
        stand_in::MINT,
        stand_in::MINT,
        stand_in::MINT,
        stand_in::WITHDRAW,
        stand_in::FAIL,
        stand_in::DOUBLE_MINT,
    ]);
    let inputs = match operation {
        stand_in::MINT | stand_in::DOUBLE_MINT => vec![operation, amount(numbers)],
        stand_in::WITHDRAW => vec![operation, numbers.below(4) as u128, amount(numbers)],
        _ => vec![operation],
    };
    Cellpack { target: contract, inputs }.encode()
}

fn edict(numbers: &mut Numbers, n: u32, stones: u32) -> Edict {
    let id = if numbers.chance(2) { id(0, 5) } else { token(numbers) };
    let output = match numbers.below(30) {
        0 => u128::from(n) + (1 << 32),
        1 => (1 << 32) + 7,
        2 => u128::from(u32::MAX),
        3..11 => u128::from(n),
        _ => u128::from(vout(numbers, n, stones)),
    };
    let amount = if numbers.chance(40) { 0 } else { amount(numbers) };
    Edict { id, amount: paraffin_primitives::Amount(amount), output }
}

fn token(numbers: &mut Numbers) -> AlkaneId {
    id(2, numbers.below(4) as u128)
}

fn amount(numbers: &mut Numbers) -> u128 {
    match numbers.below(100) {
        0 if numbers.has_extremes => u128::MAX,
        1 if numbers.has_extremes => 1 << 127,
        2..6 => 0,
        6..25 => numbers.below(4) as u128,
        _ => numbers.below(1_000_000) as u128,
    }
}
