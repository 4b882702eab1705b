//! A chain of blocks with the shape of real ones, valid for a regtest node without a single signature.
//!
//! Transactions keep the number of inputs and outputs, the lengths of their scripts, the reuse of scripts and their size
//! from model blocks. What needs a signature on mainnet is replaced by a script of nearly the same length that anyone can
//! spend: P2PKH, P2WPKH and P2SH by P2SH, P2WSH and P2TR by P2WSH with a witness of padding. Equal seeds give equal files.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use bitcoin::absolute::LockTime;
use bitcoin::block::{Header, Version};
use bitcoin::consensus::{deserialize, serialize};
use bitcoin::hashes::Hash as _;
use bitcoin::opcodes::OP_TRUE;
use bitcoin::opcodes::all::{OP_2DROP, OP_DROP};
use bitcoin::script::{Builder, PushBytesBuf};
use bitcoin::{
    Amount, Block, BlockHash, CompactTarget, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxMerkleNode, TxOut,
    Txid, Witness, transaction,
};

use xtask::process::{Failure, Outcome};

/// Coinbases that are mined before the first is spent.
const MATURITY: u32 = 100;
/// Blocks that split coinbases into outputs for the shaped blocks to spend, and outputs of each.
const FUNDING_BLOCKS: u32 = 10;
const FUNDING_OUTPUTS: u32 = 24_000;
/// With fewer outputs left than this another coinbase is split, in a block of its own: the model blocks spend more than they leave to spend.
const UNSPENT_MIN: usize = 10_000;
/// Percent of the scripts that a model block pays three times or more which stay the same in every copy of it.
const LASTING_PERCENT: u64 = 50;
/// Percent of the inputs that spend an output of the newest tenth of what is unspent.
const YOUNG_PERCENT: u64 = 60;
/// Greatest weight of a block that is made, below the consensus limit of 4,000,000.
const WEIGHT_MAX: usize = 3_990_000;
/// Longest element of a witness stack that consensus takes for a version 0 program.
const PADDING_MAX: usize = 520;
/// First bytes of each block in a node's block files on regtest.
const MAGIC: [u8; 4] = [0xfa, 0xbf, 0xb5, 0xda];

/// A chain in a file, in the form that a node reads with `-loadblock`.
pub(crate) struct ChainFile {
    pub(crate) path: PathBuf,
    /// Height of the last block.
    pub(crate) height: u32,
}

/// The chain of `shaped` blocks for `seed`, made when it is not there yet.
pub(crate) fn provide(folder: &Path, fixtures: &Path, shaped: u32, seed: u64) -> Outcome<ChainFile> {
    let path = folder.join(format!("chain-2-{seed}-{shaped}.dat"));
    let height = MATURITY + FUNDING_BLOCKS + shaped;
    if path.is_file() {
        return Ok(ChainFile { path, height });
    }
    std::fs::create_dir_all(folder).map_err(|error| Failure::new(format!("{}: {error}", folder.display())))?;
    let failed = |error| Failure::new(format!("{}: {error}", path.display()));
    let part = path.with_extension("part");
    let mut output = BufWriter::new(File::create(&part).map_err(failed)?);
    let mut chain = Chain::new(models(fixtures)?, seed);
    for _ in 0..height {
        let block = chain.next_block();
        let bytes = serialize(&block);
        output.write_all(&framed(&bytes)).map_err(failed)?;
    }
    output.flush().map_err(failed)?;
    std::fs::rename(&part, &path).map_err(failed)?;
    Ok(ChainFile { path, height })
}

/// A chain that pays each of the lists of scripts in a block of its own, from one coinbase, in one transaction; `path` is its file.
pub(crate) fn paying(path: &Path, lists: &[Vec<ScriptBuf>]) -> Outcome<ChainFile> {
    let failed = |error| Failure::new(format!("{}: {error}", path.display()));
    let mut chain = Chain::new(Vec::new(), 1);
    let mut bytes = Vec::new();
    for _ in 0..MATURITY {
        bytes.extend(framed(&serialize(&chain.next_block())));
    }
    for scripts in lists {
        let coin = chain.coinbases.remove(0);
        let value = coin.value / (scripts.len() as u64 + 1);
        let output = scripts.iter().map(|script| pay(value, script.clone())).collect();
        let payment = assemble(vec![coin.lock.input(coin.outpoint)], output);
        chain.height += 1;
        bytes.extend(framed(&serialize(&chain.solve(vec![payment]))));
    }
    std::fs::write(path, bytes).map_err(failed)?;
    Ok(ChainFile { path: path.to_path_buf(), height: chain.height })
}

/// A block as it stands in a file.
pub(crate) fn framed(block: &[u8]) -> Vec<u8> {
    [&MAGIC[..], &(block.len() as u32).to_le_bytes(), block].concat()
}

/// The blocks of a file, as bytes.
pub(crate) fn split(bytes: &[u8]) -> Vec<&[u8]> {
    let mut blocks = Vec::new();
    let mut rest = bytes;
    while let Some((head, after)) = rest.split_first_chunk::<8>() {
        let len = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        let Some((block, after)) = after.split_at_checked(len) else { break };
        blocks.push(block);
        rest = after;
    }
    blocks
}

fn models(fixtures: &Path) -> Outcome<Vec<Model>> {
    let failed = |error| Failure::new(format!("{}: {error}", fixtures.display()));
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(fixtures).map_err(failed)?.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let mut models = Vec::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "bin")) {
        let bytes = std::fs::read(file).map_err(failed)?;
        let block = deserialize(&bytes).map_err(|error| Failure::new(format!("{}: {error}", file.display())))?;
        models.push(Model::new(block));
    }
    if models.is_empty() {
        return Err(Failure::new(format!(
            "there is no real block (*.bin) in {}: set PARAFFIN_FIXTURES to a folder with some",
            fixtures.display()
        )));
    }
    Ok(models)
}

/// A real block whose shape is copied.
struct Model {
    block: Block,
    places: HashMap<Txid, usize>,
    /// Scripts that stay the same in every copy.
    lasting: HashMap<ScriptBuf, bool>,
}

impl Model {
    fn new(block: Block) -> Self {
        let places = block.txdata.iter().enumerate().map(|(place, one)| (one.compute_txid(), place)).collect();
        let mut counts: HashMap<ScriptBuf, u32> = HashMap::new();
        for output in block.txdata.iter().flat_map(|one| &one.output) {
            *counts.entry(output.script_pubkey.clone()).or_default() += 1;
        }
        let lasting = counts
            .into_iter()
            .map(|(script, count)| {
                let chosen = mix(fold(script.as_bytes())) % 100 < LASTING_PERCENT;
                (script, count > 2 && chosen)
            })
            .collect();
        Self { block, places, lasting }
    }
}

/// The kinds of script that anyone can spend, each with a number that distinguishes it from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Legacy(u32),
    Witness(u32),
}

impl Open {
    /// What a spender has to provide in the input.
    fn inner(self) -> ScriptBuf {
        match self {
            Self::Legacy(tag) => Builder::new().push_slice(tag.to_le_bytes()).push_opcode(OP_DROP).push_opcode(OP_TRUE),
            Self::Witness(tag) => {
                Builder::new().push_slice(tag.to_le_bytes()).push_opcode(OP_2DROP).push_opcode(OP_TRUE)
            }
        }
        .into_script()
    }

    fn script(self) -> ScriptBuf {
        match self {
            Self::Legacy(_) => self.inner().to_p2sh(),
            Self::Witness(_) => self.inner().to_p2wsh(),
        }
    }

    fn input(self, outpoint: OutPoint) -> TxIn {
        let inner = self.inner();
        let (script_sig, witness) = match self {
            Self::Legacy(_) => {
                let push = PushBytesBuf::try_from(inner.into_bytes()).expect("an inner script has seven bytes");
                (Builder::new().push_slice(push).into_script(), Witness::new())
            }
            Self::Witness(_) => (ScriptBuf::new(), Witness::from_slice(&[&[] as &[u8], inner.as_bytes()])),
        };
        TxIn { previous_output: outpoint, script_sig, sequence: Sequence::ENABLE_RBF_NO_LOCKTIME, witness }
    }
}

#[derive(Debug, Clone, Copy)]
struct Coin {
    outpoint: OutPoint,
    value: u64,
    lock: Open,
}

/// Makes the blocks one after the other.
struct Chain {
    models: Vec<Model>,
    random: u64,
    tip: BlockHash,
    height: u32,
    coinbases: Vec<Coin>,
    unspent: Vec<Coin>,
}

impl Chain {
    fn new(models: Vec<Model>, seed: u64) -> Self {
        let tip = bitcoin::constants::genesis_block(bitcoin::Network::Regtest).block_hash();
        Self { models, random: seed, tip, height: 0, coinbases: Vec::new(), unspent: Vec::new() }
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.random = self.random.wrapping_add(1);
        mix(self.random) % limit.max(1)
    }

    fn next_block(&mut self) -> Block {
        self.height += 1;
        let txdata = if self.height <= MATURITY {
            Vec::new()
        } else if self.height <= MATURITY + FUNDING_BLOCKS || self.unspent.len() < UNSPENT_MIN {
            vec![self.funding()]
        } else {
            self.shaped()
        };
        self.solve(txdata)
    }

    /// Splits the oldest coinbase.
    fn funding(&mut self) -> Transaction {
        let coin = self.coinbases.remove(0);
        let value = coin.value / u64::from(FUNDING_OUTPUTS);
        let locks: Vec<Open> = (0..FUNDING_OUTPUTS)
            .map(|number| {
                let tag = mix(u64::from(self.height) << 32 | u64::from(number)) as u32;
                if number % 2 == 0 { Open::Legacy(tag) } else { Open::Witness(tag) }
            })
            .collect();
        let output = locks.iter().map(|lock| pay(value, lock.script())).collect();
        let made = assemble(vec![coin.lock.input(coin.outpoint)], output);
        self.keep(&made, &locks.into_iter().map(Some).collect::<Vec<_>>());
        made
    }

    fn keep(&mut self, made: &Transaction, locks: &[Option<Open>]) {
        let txid = made.compute_txid();
        for ((vout, output), lock) in (0..).zip(&made.output).zip(locks) {
            if let Some(lock) = *lock {
                let outpoint = OutPoint { txid, vout };
                self.unspent.push(Coin { outpoint, value: output.value.to_sat(), lock });
            }
        }
    }

    fn take(&mut self) -> Option<Coin> {
        let count = self.unspent.len() as u64;
        let from = if self.below(100) < YOUNG_PERCENT { count - count / 10 } else { 0 };
        let place = from + self.below(count - from);
        // Removing in place would cost the length of the list for every input.
        (count > 0).then(|| self.unspent.swap_remove(place.min(count - 1) as usize))
    }

    fn shaped(&mut self) -> Vec<Transaction> {
        let place = self.height as usize % self.models.len();
        let count = self.models[place].block.txdata.len();
        let mut made: Vec<Transaction> = Vec::with_capacity(count);
        // What earlier transactions of this block pay, by their place in the model.
        let mut inside: HashMap<(usize, u32), Coin> = HashMap::new();
        let mut weight = 1_200;
        let mut owed = 0;
        for number in 1..count {
            let (coins, kinds, size) = self.plan(place, number, &mut inside);
            if coins.is_empty() {
                break;
            }
            let total: u64 = coins.iter().map(|coin| coin.value).sum();
            let value = total / (kinds.len() as u64 + 1);
            let output = kinds
                .iter()
                .map(|(script, lock)| pay(if lock.is_some() { value } else { 0 }, script.clone()))
                .collect();
            let mut built = assemble(coins.iter().map(|coin| coin.lock.input(coin.outpoint)).collect(), output);
            owed += size.saturating_sub(built.total_size());
            pad(&mut built, &mut owed);
            weight += built.weight().to_wu() as usize;
            if weight > WEIGHT_MAX {
                self.unspent.extend(coins);
                break;
            }
            let txid = built.compute_txid();
            for ((vout, output), (_, lock)) in (0..).zip(&built.output).zip(&kinds) {
                if let Some(lock) = *lock {
                    let outpoint = OutPoint { txid, vout };
                    inside.insert((number, vout), Coin { outpoint, value: output.value.to_sat(), lock });
                }
            }
            made.push(built);
        }
        let mut left: Vec<((usize, u32), Coin)> = inside.into_iter().collect();
        left.sort_by_key(|(key, _)| *key);
        self.unspent.extend(left.into_iter().map(|(_, coin)| coin));
        made
    }

    /// What one transaction of the model spends and pays here, and how long it is there.
    #[allow(clippy::type_complexity)] // named once, read once
    fn plan(
        &mut self,
        place: usize,
        number: usize,
        inside: &mut HashMap<(usize, u32), Coin>,
    ) -> (Vec<Coin>, Vec<(ScriptBuf, Option<Open>)>, usize) {
        let inputs: Vec<OutPoint> =
            self.models[place].block.txdata[number].input.iter().map(|input| input.previous_output).collect();
        let mut coins = Vec::with_capacity(inputs.len());
        for outpoint in inputs {
            let earlier = self.models[place].places.get(&outpoint.txid).copied();
            let coin = earlier.and_then(|earlier| inside.remove(&(earlier, outpoint.vout)));
            coins.extend(coin.or_else(|| self.take()));
        }
        let model = &self.models[place];
        let transaction = &model.block.txdata[number];
        let kinds = transaction
            .output
            .iter()
            .map(|output| {
                let script = &output.script_pubkey;
                let lasting = model.lasting.get(script).copied().unwrap_or(false);
                let salt = if lasting { 0 } else { u64::from(self.height) };
                let tag = mix(fold(script.as_bytes()) ^ salt) as u32;
                match script.len() {
                    _ if script.is_op_return() => (script.clone(), None),
                    34 => (Open::Witness(tag).script(), Some(Open::Witness(tag))),
                    22 | 23 | 25 => (Open::Legacy(tag).script(), Some(Open::Legacy(tag))),
                    _ => (script.clone(), None),
                }
            })
            .collect();
        (coins, kinds, transaction.total_size())
    }

    fn solve(&mut self, mut txdata: Vec<Transaction>) -> Block {
        let subsidy = (50 * 100_000_000_u64) >> (self.height / 150);
        let lock = Open::Witness(mix(0x00c0_117b_a5e0_0000 + u64::from(self.height)) as u32);
        let script_sig =
            Builder::new().push_int(i64::from(self.height)).push_slice(self.height.to_le_bytes()).into_script();
        let input = TxIn {
            previous_output: OutPoint::null(),
            script_sig,
            sequence: Sequence::MAX,
            witness: Witness::from_slice(&[[0_u8; 32]]),
        };
        txdata.insert(0, assemble(vec![input], vec![pay(subsidy, lock.script())]));
        let header = Header {
            version: Version::from_consensus(0x2000_0000),
            prev_blockhash: self.tip,
            merkle_root: TxMerkleNode::all_zeros(),
            time: 1_296_688_602 + self.height * 600,
            bits: CompactTarget::from_consensus(0x207f_ffff),
            nonce: 0,
        };
        let mut block = Block { header, txdata };
        if let Some(root) = block.witness_root() {
            let commitment = Block::compute_witness_commitment(&root, &[0; 32]);
            let mut script = vec![0x6a, 0x24, 0xaa, 0x21, 0xa9, 0xed];
            script.extend_from_slice(commitment.as_byte_array());
            block.txdata[0].output.push(pay(0, ScriptBuf::from_bytes(script)));
        }
        block.header.merkle_root = block.compute_merkle_root().expect("a block has a coinbase");
        while !block.header.target().is_met_by(block.block_hash()) {
            block.header.nonce += 1;
        }
        self.tip = block.block_hash();
        let outpoint = OutPoint { txid: block.txdata[0].compute_txid(), vout: 0 };
        self.coinbases.push(Coin { outpoint, value: subsidy, lock });
        block
    }
}

fn assemble(input: Vec<TxIn>, output: Vec<TxOut>) -> Transaction {
    Transaction { version: transaction::Version::TWO, lock_time: LockTime::ZERO, input, output }
}

fn pay(value: u64, script_pubkey: ScriptBuf) -> TxOut {
    TxOut { value: Amount::from_sat(value), script_pubkey }
}

/// Lengthens witnesses by what this and earlier transactions are shorter than their models.
fn pad(built: &mut Transaction, owed: &mut usize) {
    for input in &mut built.input {
        if input.witness.is_empty() || *owed < 3 {
            continue;
        }
        let len = (*owed - 2).min(PADDING_MAX);
        let inner = input.witness.last().map(<[u8]>::to_vec).unwrap_or_default();
        let seed = fold(&input.previous_output.txid.to_byte_array());
        let padding: Vec<u8> = (0..len as u64).map(|at| mix(seed ^ at) as u8).collect();
        input.witness = Witness::from_slice(&[padding, inner]);
        *owed -= len + 2;
    }
}

fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn fold(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
