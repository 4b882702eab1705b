//! A random regtest chain that Bitcoin Core accepts: anyone may spend its outputs, most of them by a tapscript with
//! envelopes or commitments.

use std::collections::HashMap;
use std::sync::Arc;

use bitcoin::absolute::LockTime;
use bitcoin::block::{Header, Version};
use bitcoin::hashes::Hash as _;
use bitcoin::opcodes::all::{OP_DROP, OP_PUSHNUM_1, OP_RETURN};
use bitcoin::script::Builder;
use bitcoin::secp256k1::{Secp256k1, VerifyOnly, XOnlyPublicKey};
use bitcoin::taproot::{LeafVersion, TaprootBuilder};
use bitcoin::{
    Amount, Block, BlockHash, CompactTarget, Network, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxMerkleNode,
    TxOut, Txid, Witness, transaction,
};
use ordinals::{Height, Rune, RuneId};
use paraffin_ordinals_index::envelope::envelopes;
use paraffin_ordinals_index::event::InscriptionId;

use crate::envelopes;
use crate::naive::Naive;
use crate::random::Random;
use crate::runestones::{self, RunestoneContext};

/// A point whose private key is unknown (BIP341).
const NUMS_POINT: &str = "50929b74c1a04954b78b4b6035e97a5e078a5a0f28ec96d547bfee9ace803ac0";
/// Blocks before the output of a coinbase can be spent.
const MATURITY: u32 = 100;
/// Blocks between halvings on Core's regtest. The reference indexer counts by mainnet's.
const HALVING: u32 = 150;

/// How an output can be spent, and the rune name to which its script commits.
struct Plan {
    output: ScriptBuf,
    witness: Vec<Vec<u8>>,
    name: Option<Rune>,
}

#[derive(Clone)]
struct Coin {
    outpoint: OutPoint,
    value: u64,
    /// When it can be spent.
    from: u32,
    plan: Arc<Plan>,
}

/// The chain, and what can be spent of it.
#[derive(Clone)]
pub struct Chain {
    pub blocks: Vec<Block>,
    random: Random,
    coins: Vec<Coin>,
    plans: HashMap<OutPoint, (u64, ScriptBuf)>,
    ids: Vec<InscriptionId>,
    runes: Vec<RuneId>,
    names: Vec<Rune>,
    secp: Secp256k1<VerifyOnly>,
}

impl Chain {
    pub fn new(seed: u64) -> Self {
        Self {
            blocks: vec![bitcoin::constants::genesis_block(Network::Regtest)],
            random: Random(seed),
            coins: Vec::new(),
            plans: HashMap::new(),
            ids: Vec::new(),
            runes: Vec::new(),
            names: Vec::new(),
            secp: Secp256k1::verification_only(),
        }
    }

    /// Makes what follows differ from what a clone of this chain would make.
    pub fn reseed(&mut self, seed: u64) {
        self.random.0 ^= seed;
    }

    pub fn height(&self) -> u32 {
        self.blocks.len() as u32 - 1
    }

    /// The outputs that each transaction of a block spends, as a node reports them.
    pub fn spent(&self, block: &Block) -> Vec<Vec<TxOut>> {
        let output = |input: &TxIn| {
            let (value, script) = &self.plans[&input.previous_output];
            TxOut { value: Amount::from_sat(*value), script_pubkey: script.clone() }
        };
        let spent = |(place, transaction): (usize, &Transaction)| {
            transaction.input.iter().take_while(|_| place > 0).map(output).collect()
        };
        block.txdata.iter().enumerate().map(spent).collect()
    }

    /// Adds a block of up to `transactions` random transactions.
    pub fn grow(&mut self, transactions: u64) {
        let height = self.height() + 1;
        let naive = if transactions > 0 { Naive::of(&self.blocks) } else { Naive::default() };
        let mut txdata = Vec::new();
        let mut fees = 0;
        for _ in 0..self.random.below(transactions + 1) {
            if let Some((transaction, fee)) = self.transaction(height, txdata.len() as u32 + 1, &naive) {
                fees += fee;
                txdata.push(transaction);
            }
        }
        txdata.insert(0, self.coinbase(height, fees));
        self.mine(txdata);
    }

    /// Adds a block of these transactions, the first of which is a coinbase without a commitment yet.
    pub fn mine(&mut self, txdata: Vec<Transaction>) {
        let previous = self.blocks.last().unwrap();
        let header = Header {
            version: Version::from_consensus(0x2000_0000),
            prev_blockhash: previous.block_hash(),
            merkle_root: TxMerkleNode::all_zeros(),
            time: previous.header.time + 60 + self.random.below(1_000) as u32,
            bits: CompactTarget::from_consensus(0x207f_ffff),
            nonce: 0,
        };
        let mut block = Block { header, txdata };
        commit_to_witnesses(&mut block);
        block.header.merkle_root = block.compute_merkle_root().unwrap();
        while block.header.validate_pow(block.header.target()).is_err() {
            block.header.nonce += 1;
        }
        self.blocks.push(block);
    }

    /// A coinbase that may leave something unclaimed. Its outputs are put among the coins.
    fn coinbase(&mut self, height: u32, fees: u64) -> Transaction {
        let subsidy = (50 * 100_000_000) >> (height / HALVING);
        let mut left = subsidy + fees;
        if self.random.chance(30) {
            left -= self.random.below(left.min(fees + 20_000) + 1);
        }
        let mut values = Vec::new();
        for _ in 0..6 {
            values.push(self.random.below(left / 4 + 1));
            left -= values.last().unwrap();
        }
        values.push(left);
        let script_sig = Builder::new().push_int(i64::from(height)).push_int(self.random.below(1 << 30).cast_signed());
        let input = TxIn {
            previous_output: OutPoint::null(),
            script_sig: script_sig.into_script(),
            sequence: Sequence::MAX,
            witness: Witness::from_slice(&[[0; 32]]),
        };
        let (plans, outputs) = self.outputs(&values, height);
        let mut transaction = assembled(vec![input], outputs);
        transaction.output.push(TxOut { value: Amount::ZERO, script_pubkey: ScriptBuf::new() });
        // The id depends on the commitment, which is set with the block.
        self.coins.retain(|coin| coin.outpoint.txid != Txid::all_zeros());
        let pending = (0u32..).zip(values.iter().zip(plans)).map(|(vout, (value, plan))| Coin {
            outpoint: OutPoint { txid: Txid::all_zeros(), vout },
            value: *value,
            from: height + MATURITY,
            plan,
        });
        let pending: Vec<Coin> = pending.collect();
        self.coins.extend(pending);
        transaction
    }

    /// Gives the coins of the newest coinbase their id. To be called after each block.
    pub fn settle(&mut self) {
        let coinbase = &self.blocks.last().unwrap().txdata[0];
        let txid = coinbase.compute_txid();
        for coin in self.coins.iter_mut().filter(|coin| coin.outpoint.txid == Txid::all_zeros()) {
            coin.outpoint.txid = txid;
            self.plans.insert(coin.outpoint, (coin.value, coin.plan.output.clone()));
        }
    }

    /// A random transaction and its fee.
    fn transaction(&mut self, height: u32, place: u32, naive: &Naive) -> Option<(Transaction, u64)> {
        let mut coins = Vec::new();
        for _ in 0..=self.random.below(3) {
            let ready: Vec<usize> = (0..self.coins.len())
                .filter(|place| {
                    self.coins[*place].from <= height && self.coins[*place].outpoint.txid != Txid::all_zeros()
                })
                .collect();
            let Some(mut chosen) = self.random.pick(&ready).copied() else { break };
            if self.random.chance(50) {
                // Young ones are preferred, so that things move.
                chosen = *ready.last().unwrap();
            }
            let coin = self.coins.swap_remove(chosen);
            // Inscriptions named as parents come along, now and then.
            let parents = named_parents(&coin.plan);
            coins.push(coin);
            for parent in parents {
                let holder = naive.by_id.get(&parent).and_then(|place| naive.inscriptions[*place].satpoint);
                let found = holder.and_then(|satpoint| {
                    self.coins.iter().position(|coin| coin.outpoint == satpoint.outpoint && coin.from <= height)
                });
                if let Some(found) = found.filter(|_| self.random.chance(75)) {
                    coins.push(self.coins.swap_remove(found));
                }
            }
        }
        if coins.is_empty() {
            return None;
        }
        let available: u64 = coins.iter().map(|coin| coin.value).sum();
        let names: Vec<Rune> = coins.iter().filter_map(|coin| coin.plan.name).collect();
        let fee = if self.random.chance(40) {
            self.random.below(available / 3 + 1)
        } else {
            self.random.below(200).min(available)
        };
        let values = self.split(available - fee);
        let (mut plans, mut outputs) = self.outputs(&values, height);
        self.burn_some(&mut plans, &mut outputs);
        if self.random.chance(40) || !names.is_empty() {
            let vout = self.random.below(outputs.len() as u64 + 1) as usize;
            let context = RunestoneContext {
                runes: &self.runes,
                names: &names,
                outputs: outputs.len() as u32 + 1,
                height: u64::from(height),
            };
            let script_pubkey = runestones::random(&mut self.random, &context);
            outputs.insert(vout, TxOut { value: Amount::ZERO, script_pubkey });
            plans.insert(vout, nothing());
            self.runes.push(RuneId { block: u64::from(height), tx: place });
        }
        let inputs = coins.iter().map(|coin| self.input(coin)).collect();
        let transaction = assembled(inputs, outputs);
        let txid = transaction.compute_txid();
        for ((vout, output), plan) in (0u32..).zip(&transaction.output).zip(plans) {
            let outpoint = OutPoint { txid, vout };
            self.plans.insert(outpoint, (output.value.to_sat(), output.script_pubkey.clone()));
            if !output.script_pubkey.is_op_return() {
                self.coins.push(Coin { outpoint, value: output.value.to_sat(), from: height, plan });
            }
        }
        let revealed = envelopes(&transaction).count() as u32;
        self.ids.extend((0..revealed).map(|index| InscriptionId { txid, index }));
        Some((transaction, fee))
    }

    fn input(&mut self, coin: &Coin) -> TxIn {
        let mut witness = Witness::from_slice(&coin.plan.witness);
        if !witness.is_empty() && self.random.chance(3) {
            witness.push([0x50, 7]);
        }
        TxIn { previous_output: coin.outpoint, script_sig: ScriptBuf::new(), sequence: Sequence::MAX, witness }
    }

    fn split(&mut self, mut left: u64) -> Vec<u64> {
        let mut values = Vec::new();
        for _ in 0..self.random.below(4) {
            let bound = match self.random.below(4) {
                0 => 0,
                1 => left / 2,
                _ => left.min(20_000),
            };
            values.push(self.random.below(bound + 1));
            left -= values.last().unwrap();
        }
        values.push(left);
        let turn = self.random.below(values.len() as u64) as usize;
        values.rotate_left(turn);
        values
    }

    fn burn_some(&mut self, plans: &mut [Arc<Plan>], outputs: &mut [TxOut]) {
        for (plan, output) in plans.iter_mut().zip(outputs) {
            if self.random.chance(6) {
                *plan = nothing();
                output.script_pubkey = Builder::new().push_opcode(OP_RETURN).into_script();
            }
        }
    }

    fn outputs(&mut self, values: &[u64], height: u32) -> (Vec<Arc<Plan>>, Vec<TxOut>) {
        let plans: Vec<Arc<Plan>> = values.iter().map(|_| Arc::new(self.plan(height))).collect();
        let output = |(value, plan): (&u64, &Arc<Plan>)| TxOut {
            value: Amount::from_sat(*value),
            script_pubkey: plan.output.clone(),
        };
        let outputs = values.iter().zip(&plans).map(output).collect();
        (plans, outputs)
    }

    fn plan(&mut self, height: u32) -> Plan {
        match self.random.below(100) {
            0..5 => {
                Plan { output: Builder::new().push_opcode(OP_PUSHNUM_1).into_script(), witness: Vec::new(), name: None }
            }
            5..45 => {
                let byte = 20 + self.random.below(8) as u8;
                let script = envelopes::push(Builder::new(), &[byte]).push_opcode(OP_DROP);
                self.taproot(script.push_opcode(OP_PUSHNUM_1).into_bytes(), None)
            }
            45..60 => {
                let name = self.name(height);
                let mut script = envelopes::push(Builder::new(), &name.commitment()).push_opcode(OP_DROP);
                if self.random.chance(50) {
                    script = envelopes::random(&mut self.random, script, &self.ids);
                }
                self.taproot(script.push_opcode(OP_PUSHNUM_1).into_bytes(), Some(name))
            }
            _ => {
                let mut script = Builder::new();
                for _ in 0..if self.random.chance(20) { 1 + self.random.below(4) } else { 1 } {
                    script = envelopes::random(&mut self.random, script, &self.ids);
                }
                let mut script = script.push_opcode(OP_PUSHNUM_1).into_bytes();
                if self.random.chance(3) {
                    // What follows OP_SUCCESS is not even decoded by a node.
                    script.extend_from_slice(&[0x50, 0x4c, 0xff]);
                }
                self.taproot(script, None)
            }
        }
    }

    /// A name that may be etched; now and then one that may not, or that an earlier one used.
    fn name(&mut self, height: u32) -> Rune {
        let minimum = Rune::minimum_at_height(Network::Regtest, Height(height)).0;
        let known = self.random.pick(&self.names).copied();
        let name = match self.random.below(20) {
            0 => Rune(u128::from(self.random.below(1_000_000))),
            1 => Rune(Rune::RESERVED + u128::from(self.random.next())),
            2 | 3 => known.unwrap_or(Rune(minimum)),
            _ => Rune(minimum + u128::from(self.random.next())),
        };
        self.names.push(name);
        name
    }

    fn taproot(&self, script: Vec<u8>, name: Option<Rune>) -> Plan {
        let script = ScriptBuf::from_bytes(script);
        let internal_key: XOnlyPublicKey = NUMS_POINT.parse().unwrap();
        let spend =
            TaprootBuilder::new().add_leaf(0, script.clone()).unwrap().finalize(&self.secp, internal_key).unwrap();
        let control = spend.control_block(&(script.clone(), LeafVersion::TapScript)).unwrap().serialize();
        let output = ScriptBuf::new_p2tr_tweaked(spend.output_key());
        Plan { output, witness: vec![script.into_bytes(), control], name }
    }
}

fn nothing() -> Arc<Plan> {
    Arc::new(Plan { output: ScriptBuf::new(), witness: Vec::new(), name: None })
}

fn assembled(input: Vec<TxIn>, output: Vec<TxOut>) -> Transaction {
    Transaction { version: transaction::Version::TWO, lock_time: LockTime::ZERO, input, output }
}

/// The inscriptions that an output's script will name as parents.
fn named_parents(plan: &Plan) -> Vec<InscriptionId> {
    let input = TxIn { witness: Witness::from_slice(&plan.witness), ..TxIn::default() };
    let transaction = assembled(vec![input], Vec::new());
    envelopes(&transaction).flat_map(|envelope| envelope.inscription.parents).collect()
}

/// Puts the commitment of BIP141 into the last output of the coinbase.
fn commit_to_witnesses(block: &mut Block) {
    let root = block.witness_root().unwrap();
    let commitment = Block::compute_witness_commitment(&root, &[0; 32]);
    let data = [&[0xaa, 0x21, 0xa9, 0xed][..], commitment.as_byte_array()].concat();
    let script = envelopes::push(Builder::new().push_opcode(OP_RETURN), &data).into_script();
    if let Some(last) = block.txdata[0].output.last_mut() {
        last.script_pubkey = script;
    }
}

/// A chain of `length` blocks, quiet until coinbases can be spent.
pub fn random_chain(seed: u64, length: u32, transactions: u64) -> Chain {
    let mut chain = Chain::new(seed);
    extend(&mut chain, length, transactions);
    chain
}

/// Adds blocks until the chain has `length`.
pub fn extend(chain: &mut Chain, length: u32, transactions: u64) {
    while chain.height() < length {
        let quiet = chain.height() < MATURITY;
        chain.grow(if quiet { 0 } else { transactions });
        chain.settle();
    }
}

pub fn tip(chain: &Chain) -> BlockHash {
    chain.blocks.last().unwrap().block_hash()
}
