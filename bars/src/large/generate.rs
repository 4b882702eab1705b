//! The one pass forward that chooses what every transaction spends and writes the skeleton.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use bitcoin::hashes::{Hash as _, HashEngine as _, sha256d};
use bitcoin::{BlockHash, CompactTarget, TxMerkleNode, block, consensus};

use super::chain::{self, Chain, Entry};
use super::contracts::{self, STEPS, TOKEN_EVERY, TRADERS};
use super::measure::processor;
use super::message::{DEPLOY_EVERY, ETCH_EVERY, Purpose, compact_size};
use super::random::Random;
use super::script::Script;
use super::shape::{MAINNET_HEIGHT, Row, Shape};
use super::transaction::{self, Layout, Record, Spent};
use super::unspent::Unspent;
use xtask::process::{Failure, Outcome};

const BLOCKS: u64 = 7;
const PLANS: u64 = 8;
/// Weight at which a block is full: the largest transaction, of 320 inputs and outputs, still fits below the limit of 4,000,000.
const WEIGHT_FULL: usize = 3_500_000;
/// Blocks of mainnet between two halvings.
const HALVING: u64 = 210_000;
/// Regtest's least difficulty.
const BITS: u32 = 0x207f_ffff;

/// The chain of a shape for `seed`, made when it is not there yet, and the processor seconds that took.
pub(crate) fn provide(place: &Path, seed: u64, shape: Shape) -> Outcome<(Chain, f64)> {
    let height = shape.height();
    let folder = chain::folder(place, seed, height);
    let before = processor(std::process::id());
    if let Some(chain) = Chain::open(&folder, seed, shape.clone())? {
        return Ok((chain, 0.0));
    }
    std::fs::create_dir_all(&folder).map_err(|error| Failure::new(format!("{}: {error}", folder.display())))?;
    let mut maker = Maker::new(&folder, seed, shape.clone())?;
    for height in 1..=height {
        maker.next_block(height)?;
    }
    maker.finish(&folder)?;
    let seconds = processor(std::process::id()) - before;
    let opened = Chain::open(&folder, seed, shape)?;
    opened.map(|chain| (chain, seconds)).ok_or_else(|| Failure::new("a skeleton that was just written is not whole"))
}

/// A file that grows, and whose end is in memory.
struct Growing {
    file: File,
    written: u64,
    pending: Vec<u8>,
}

impl Growing {
    /// Bytes that are kept before they are written.
    const PENDING_MAX: usize = 8 << 20;

    fn create(path: &Path) -> Outcome<Self> {
        let file = File::options().read(true).write(true).create(true).truncate(true).open(path);
        let file = file.map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
        Ok(Self { file, written: 0, pending: Vec::new() })
    }

    fn flush(&mut self, least: usize) -> std::io::Result<()> {
        if self.pending.len() > least {
            self.file.write_all_at(&self.pending, self.written)?;
            self.written += self.pending.len() as u64;
            self.pending.clear();
        }
        Ok(())
    }

    fn read(&self, bytes: &mut [u8], at: u64) -> std::io::Result<()> {
        match at.checked_sub(self.written) {
            Some(at) => {
                let at = at as usize;
                bytes.copy_from_slice(&self.pending[at..at + bytes.len()]);
                Ok(())
            }
            None => self.file.read_exact_at(bytes, at),
        }
    }
}

/// Parameters of the next transaction.
struct Plan {
    purpose: Purpose,
    inputs: u16,
    outputs: u16,
    /// Step of the founding, or number of the trader.
    detail: u16,
}

struct Maker {
    seed: u64,
    shape: Shape,
    transactions: Growing,
    inputs: Growing,
    blocks: Vec<u8>,
    unspent: Unspent,
    /// The output with the founder's alkanes, and those of the traders: what only they spend.
    founder: Option<u64>,
    traders: [Option<u64>; TRADERS as usize],
    tip: BlockHash,
    next: u32,
    next_input: u64,
    total: u64,
    block: Vec<u8>,
    scratch: Vec<u8>,
    spent: Vec<Spent>,
}

impl Maker {
    fn new(folder: &Path, seed: u64, shape: Shape) -> Outcome<Self> {
        Ok(Self {
            seed,
            transactions: Growing::create(&folder.join("transactions"))?,
            inputs: Growing::create(&folder.join("inputs"))?,
            blocks: Vec::new(),
            unspent: Unspent::new(shape.height()),
            founder: None,
            traders: [None; TRADERS as usize],
            shape,
            tip: bitcoin::constants::genesis_block(bitcoin::Network::Regtest).block_hash(),
            next: 0,
            next_input: 0,
            total: 0,
            block: Vec::new(),
            scratch: Vec::new(),
            spent: Vec::new(),
        })
    }

    fn finish(mut self, folder: &Path) -> Outcome {
        let failed = |error| Failure::new(format!("{}: {error}", folder.display()));
        self.transactions.flush(0).map_err(failed)?;
        self.inputs.flush(0).map_err(failed)?;
        let part = folder.join("blocks.part");
        std::fs::write(&part, &self.blocks).map_err(failed)?;
        std::fs::rename(&part, folder.join("blocks")).map_err(failed)
    }

    fn next_block(&mut self, height: u32) -> Outcome {
        let failed = |error| Failure::new(format!("the skeleton at block {height}: {error}"));
        let (first, first_input) = (self.next, self.next_input);
        let row_number = self.shape.at(height);
        let row = *self.shape.row(row_number);
        let wanted = Random::new(self.seed, BLOCKS, u64::from(height)).below(41) + 80;
        let wanted = u64::from(row.transactions) * wanted / 100;
        self.unspent.begin(height);
        // The coinbase has the first number and is made last.
        let placeholder = self.transactions.pending.len();
        self.transactions.pending.resize(placeholder + Record::LEN, 0);
        self.next += 1;
        self.block.clear();
        let (mut txids, mut wtxids) = (vec![sha256d::Hash::all_zeros()], vec![sha256d::Hash::all_zeros()]);
        let mut weight = 0;
        for place in 1..=wanted as u32 {
            let plan = plan(self.seed, self.next, &row, (height, self.shape.contracts_from()), place);
            let Some((record, layout)) = self.write(height, row_number, &plan).map_err(failed)? else { break };
            weight += layout.weight();
            let bytes = &self.block[layout.start..layout.end];
            let txid = txid(&self.block, layout);
            wtxids.push(if layout.has_witness() { sha256d::Hash::hash(bytes) } else { txid });
            txids.push(txid);
            Record { txid: txid.to_byte_array(), ..record }.encode(&mut self.transactions.pending);
            for vout in 0..record.outputs {
                let coin = u64::from(self.next) << 16 | u64::from(vout);
                match self.holder(&plan, vout) {
                    Some(holder) => *holder = Some(coin),
                    None => self.unspent.add(coin),
                }
            }
            self.next += 1;
            if weight > WEIGHT_FULL {
                break;
            }
        }
        let commitment = row.has_witnesses().then(|| commitment(wtxids));
        let value =
            5_000_000_000_u64 >> (u64::from(height) * MAINNET_HEIGHT / u64::from(self.shape.height()) / HALVING);
        let script = Script::of(self.seed, &row, row_number, first, 0);
        let (whole, base) = chain::coinbase(height, value, script, commitment);
        txids[0] = sha256d::Hash::hash(&base);
        let record = Record {
            txid: txids[0].to_byte_array(),
            value,
            inputs: 0,
            outputs: 1,
            purpose: Purpose::Coinbase,
            row: row_number,
            detail: 0,
        };
        let mut encoded = Vec::with_capacity(Record::LEN);
        record.encode(&mut encoded);
        self.transactions.pending[placeholder..placeholder + Record::LEN].copy_from_slice(&encoded);
        self.unspent.add_coinbase(height, u64::from(first) << 16);
        let count = self.next - first;
        let header = self.solve(height, txids);
        let mut length = Vec::new();
        compact_size(u64::from(count), &mut length);
        let size = (80 + length.len() + whole.len() + self.block.len()) as u32;
        self.total += u64::from(size);
        let entry = Entry {
            first,
            count,
            first_input,
            inputs: (self.next_input - first_input) as u32,
            header,
            commitment: commitment.unwrap_or_default(),
            size,
            total: self.total,
        };
        entry.encode(&mut self.blocks);
        self.transactions.flush(Growing::PENDING_MAX).map_err(failed)?;
        self.inputs.flush(Growing::PENDING_MAX).map_err(failed)
    }

    /// The founder or trader who alone may spend output `vout` of a transaction.
    fn holder(&mut self, plan: &Plan, vout: u16) -> Option<&mut Option<u64>> {
        match (plan.purpose, vout) {
            (Purpose::Founding, 0) => Some(&mut self.founder),
            (Purpose::Founding, _) => self.traders.get_mut(usize::from(contracts::trader(plan.detail, vout))),
            (Purpose::Order, 0) => self.traders.get_mut(usize::from(plan.detail)),
            _ => None,
        }
    }

    /// Chooses what the next transaction spends and appends it to the block; `None` when nothing can be spent.
    fn write(&mut self, height: u32, row: u8, plan: &Plan) -> std::io::Result<Option<(Record, Layout)>> {
        let mut random = Random::new(self.seed, PLANS + 1, u64::from(self.next));
        self.spent.clear();
        let held = self.holder(plan, 0).and_then(Option::take);
        let others = std::iter::repeat_n((), usize::from(plan.inputs)).map_while(|()| self.unspent.take(&mut random));
        let coins: Vec<u64> = held.into_iter().chain(others).collect();
        for coin in coins {
            let reference = chain::reference(coin);
            let read = |number: u32| {
                let mut bytes = [0; Record::LEN];
                self.transactions.read(&mut bytes, u64::from(number) * Record::LEN as u64)?;
                Ok(Record::decode(&bytes))
            };
            self.spent.push(chain::resolve(self.seed, &self.shape, &reference, read)?);
            self.inputs.pending.extend_from_slice(&reference);
        }
        if self.spent.is_empty() {
            return Ok(None);
        }
        self.next_input += self.spent.len() as u64;
        let sum: u64 = self.spent.iter().map(|spent| spent.value).sum();
        let record = Record {
            txid: [0; 32],
            value: sum - (sum / 1_000).min(10_000),
            inputs: self.spent.len() as u16,
            outputs: plan.outputs,
            purpose: plan.purpose,
            row,
            detail: plan.detail,
        };
        let wrapped = record.wrapped_value();
        let value = record.value.checked_sub(wrapped).ok_or_else(|| std::io::Error::other("nothing left to wrap"))?;
        let record = Record { value, ..record };
        let number = self.next;
        let script_of = |vout| Script::of(self.seed, self.shape.row(row), row, number, vout);
        let buffers = (&mut self.block, &mut self.scratch);
        let layout = transaction::write(
            self.seed,
            (number, height, self.shape.contracts_from()),
            &record,
            &self.spent,
            script_of,
            buffers,
        );
        Ok(Some((record, layout)))
    }

    /// The header over these transactions, which becomes the tip.
    fn solve(&mut self, height: u32, txids: Vec<sha256d::Hash>) -> [u8; 80] {
        let mut header = block::Header {
            version: block::Version::from_consensus(0x2000_0000),
            prev_blockhash: self.tip,
            merkle_root: TxMerkleNode::from_raw_hash(root(txids)),
            time: 1_296_688_602 + height * 600,
            bits: CompactTarget::from_consensus(BITS),
            nonce: 0,
        };
        while !header.target().is_met_by(header.block_hash()) {
            header.nonce += 1;
        }
        self.tip = header.block_hash();
        let mut bytes = [0; 80];
        bytes.copy_from_slice(&consensus::serialize(&header));
        bytes
    }
}

/// What transaction `number` is to be, the one at `place` of a block.
fn plan(seed: u64, number: u32, row: &Row, (height, contracts_from): (u32, u32), place: u32) -> Plan {
    if height == contracts_from && place <= u32::from(STEPS) {
        let detail = place as u16 - 1;
        let (inputs, outputs) = (contracts::paid_with(detail), contracts::outputs(detail));
        return Plan { purpose: Purpose::Founding, inputs, outputs, detail };
    }
    let mut random = Random::new(seed, PLANS, u64::from(number));
    let drawn = random.below(1000) as u32;
    let shares = [
        (row.inscriptions, Purpose::Inscription),
        (row.runes, Purpose::Mint),
        (row.data, Purpose::Data),
        (row.contracts, Purpose::ContractMint),
    ];
    let mut from = 0;
    let mut purpose = Purpose::Payment;
    for (share, named) in shares {
        if (from..from + share).contains(&drawn) {
            purpose = named;
        }
        from += share;
    }
    if row.runes > 0 && place == 1 && height.is_multiple_of(ETCH_EVERY) {
        purpose = Purpose::Etching;
    } else if row.inscriptions > 0 && place == 2 && height.is_multiple_of(DEPLOY_EVERY) {
        purpose = Purpose::Deploy;
    } else if height > contracts_from && place == 3 && height.is_multiple_of(TOKEN_EVERY) {
        purpose = Purpose::NewToken;
    } else if purpose == Purpose::ContractMint {
        let drawn = random.below(1000) as u32;
        if drawn < row.orders {
            let detail = random.below(u64::from(TRADERS)) as u16;
            return Plan { purpose: Purpose::Order, inputs: 1, outputs: 2, detail };
        }
        if drawn < row.orders + row.genesis {
            return Plan { purpose: Purpose::GenesisMint, inputs: 1, outputs: 1, detail: 0 };
        }
    }
    if purpose.reveals() {
        return Plan { purpose, inputs: 1, outputs: 1 + u16::from(random.thousandths(300)), detail: 0 };
    }
    Plan { purpose, inputs: random.count(row.inputs), outputs: random.count(row.outputs), detail: 0 }
}

fn txid(bytes: &[u8], layout: Layout) -> sha256d::Hash {
    if !layout.has_witness() {
        return sha256d::Hash::hash(&bytes[layout.start..layout.end]);
    }
    let mut engine = sha256d::Hash::engine();
    engine.input(&bytes[layout.start..layout.start + 4]);
    engine.input(&bytes[layout.body..layout.witness]);
    engine.input(&bytes[layout.end - 4..layout.end]);
    sha256d::Hash::from_engine(engine)
}

fn root(mut level: Vec<sha256d::Hash>) -> sha256d::Hash {
    while level.len() > 1 {
        let pairs = level.len().div_ceil(2);
        for pair in 0..pairs {
            let mut both = [0; 64];
            both[..32].copy_from_slice(level[2 * pair].as_byte_array());
            both[32..].copy_from_slice(level.get(2 * pair + 1).unwrap_or(&level[2 * pair]).as_byte_array());
            level[pair] = sha256d::Hash::hash(&both);
        }
        level.truncate(pairs);
    }
    level[0]
}

/// What the coinbase commits to; its own place holds zeros, as does the reserved value.
fn commitment(wtxids: Vec<sha256d::Hash>) -> [u8; 32] {
    let mut both = [0; 64];
    both[..32].copy_from_slice(root(wtxids).as_byte_array());
    sha256d::Hash::hash(&both).to_byte_array()
}
