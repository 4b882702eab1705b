//! What inscriptions and runes add to the import of blocks: the same chain with the Bitcoin index alone, with ordinals, and with
//! sats, in turns. The chain has blocks of a thousand payments, of which one in twenty reveals an inscription or moves runes.
//!
//! Catches: a read of the store for each output instead of each input; rows for outputs that hold nothing; contents stored twice.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "a bench stops at the first surprise"
)]

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use bitcoin::absolute::LockTime;
use bitcoin::consensus::serialize;
use bitcoin::hashes::Hash as _;
use bitcoin::opcodes::OP_FALSE;
use bitcoin::opcodes::all::{OP_ENDIF, OP_IF};
use bitcoin::script::{Builder, PushBytesBuf};
use bitcoin::{
    Amount, Block, BlockHash, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxOut, Witness, transaction,
};
use ordinals::{Edict, Etching, RuneId, Runestone};
use paraffin_bitcoin_index::{BitcoinModule, RawTransactions};
use paraffin_ordinals_index::brc20::Brc20Module;
use paraffin_ordinals_index::{OrdinalsModule, OrdinalsOptions};
use paraffin_primitives::{BlockId, ConnectedBlock, Network};
use paraffin_store::{Module, Store, StoreOptions};

const BLOCKS: u32 = 60;
const TRANSACTIONS: usize = 1_000;
const ROUNDS: usize = 3;
const SUBSIDY: u64 = 5_000_000_000;

/// One transaction in so many inscribes or moves runes, where time is measured.
const EVERY: u64 = 20;
/// The same where the disk is measured: each of two inputs mints a BRC-20 token.
const EVERY_OF_DISK: u64 = 4;

/// With the argument `disk` the disk alone is measured, for which an unoptimised build does as well.
fn main() {
    if std::env::args().all(|argument| argument != "disk") {
        time();
    }
    disk();
}

/// What an inscription takes on the disk, its BRC-20 event among it.
fn disk() {
    let blocks = chain(EVERY_OF_DISK, Kind::Mint);
    let bytes: u64 = blocks.iter().map(|block| u64::from(block.size)).sum();
    let count: usize = blocks
        .iter()
        .flat_map(|block| &block.block.txdata)
        .map(|transaction| paraffin_ordinals_index::envelope::envelopes(transaction).count())
        .sum();
    let size = |options| import(&blocks, options).1 as f64;
    let alone = size(None);
    for (name, sats) in [("without sats", false), ("with sats", true)] {
        let more = size(Some(OrdinalsOptions { sats, ..OrdinalsOptions::default() })) - alone;
        println!(
            "{{\"bar\":\"disk of a BRC-20 mint, {name}\",\"value\":{:.0},\"how\":\"bytes, {count} mints in {:.1} MB of blocks: {:.1} MB on disk beside {:.1} MB of the Bitcoin index, {:.0} bytes for 1,000 bytes of blocks, before tables are merged\"}}",
            more / count as f64,
            bytes as f64 / 1e6,
            more / 1e6,
            alone / 1e6,
            1_000.0 * more / bytes as f64
        );
    }
}

fn time() {
    let blocks = chain(EVERY, Kind::Mixed);
    let bytes: usize = blocks.iter().map(|block| block.size as usize).sum();
    let mut seconds: [Vec<f64>; 3] = Default::default();
    let mut disk = [0; 3];
    for _ in 0..ROUNDS {
        for (place, options) in
            [None, Some(OrdinalsOptions::default()), Some(OrdinalsOptions { sats: true, ..OrdinalsOptions::default() })]
                .into_iter()
                .enumerate()
        {
            let (taken, size) = import(&blocks, options);
            seconds[place].push(taken.as_secs_f64());
            disk[place] = size;
        }
    }
    // Of neighbouring imports, so that what else the machine does meets both.
    let times = |place: usize| {
        let mut ratios: Vec<f64> = seconds[place].iter().zip(&seconds[0]).map(|(one, alone)| one / alone).collect();
        ratios.sort_by(f64::total_cmp);
        ratios[ROUNDS / 2]
    };
    for (place, name) in [(1, "inscriptions and runes"), (2, "inscriptions, runes and sats")] {
        println!(
            "{{\"bar\":\"{name}\",\"value\":{:.3},\"how\":\"times the import of the Bitcoin index alone, {BLOCKS} blocks, {:.1} MB, median of {ROUNDS}; {:.1} MB on disk beside {:.1} MB\"}}",
            times(place),
            bytes as f64 / 1e6,
            disk[place] as f64 / 1e6,
            disk[0] as f64 / 1e6
        );
        println!("round,alone_seconds,with_seconds");
        for (round, (alone, with)) in (1..).zip(seconds[0].iter().zip(&seconds[place])) {
            println!("{round},{alone:.3},{with:.3}");
        }
    }
}

/// Applies all blocks in commits of ten; the time, and the size of the store.
fn import(blocks: &[ConnectedBlock], options: Option<OrdinalsOptions>) -> (Duration, u64) {
    let mut modules: Vec<Box<dyn Module>> = vec![Box::new(BitcoinModule::new(RawTransactions::Node))];
    if let Some(options) = options {
        let module = OrdinalsModule::new(Network::Regtest, options);
        modules.push(Box::new(module.with_consumer(Box::new(Brc20Module::new(Network::Regtest)))));
    }
    let schemas: Vec<_> = modules.iter().map(|module| module.schema()).collect();
    let folder = tempfile::tempdir().unwrap();
    let store_options = StoreOptions { network: Network::Regtest, undo_blocks: Some(10), memory_bytes: 1 << 30 };
    let store = Store::open(folder.path(), &store_options, &schemas).unwrap();
    let mut writer = store.writer().unwrap();
    let begin = Instant::now();
    for block in blocks {
        writer.begin_block(block.id, block.block.header.prev_blockhash, block.block.header.time).unwrap();
        for module in &mut modules {
            module.connect(block, &mut writer.module(module.schema().id).unwrap()).unwrap();
        }
        writer.end_block().unwrap();
        if block.id.height % 10 == 9 {
            writer.commit(true).unwrap();
        }
    }
    writer.commit(true).unwrap();
    let taken = begin.elapsed();
    store.flush().unwrap();
    (taken, size_of(folder.path()))
}

fn size_of(folder: &std::path::Path) -> u64 {
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let data = entry.metadata().unwrap();
            if data.is_dir() { size_of(&entry.path()) } else { data.len() }
        })
        .sum()
}

/// What the special transactions do.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Half of them inscribe, half of them etch and move runes.
    Mixed,
    /// All of them inscribe mints of the token that the first one deploys.
    Mint,
}

/// Blocks as a node hands them over, with what they spend. One transaction in `every` is special.
fn chain(every: u64, kind: Kind) -> Vec<ConnectedBlock> {
    let mut coins: VecDeque<(OutPoint, TxOut)> = VecDeque::new();
    let mut blocks: Vec<ConnectedBlock> = Vec::new();
    let mut serial = 0u64;
    for height in 0..BLOCKS {
        let mut txdata = vec![coinbase(height)];
        let mut spent = vec![Vec::new()];
        let made = if height < 2 { 0 } else { TRANSACTIONS };
        let mut fresh = Vec::new();
        for place in 0..made {
            let inputs: Vec<_> = (0..2).filter_map(|_| coins.pop_front()).collect();
            if inputs.is_empty() {
                break;
            }
            serial += 1;
            let transaction = payment(&inputs, serial, height, place as u64, every, kind);
            let txid = transaction.compute_txid();
            let spendable =
                (0u32..).zip(&transaction.output).filter(|(_, output)| !output.script_pubkey.is_op_return());
            fresh.extend(spendable.map(|(vout, output)| (OutPoint { txid, vout }, output.clone())));
            spent.push(inputs.into_iter().map(|(_, output)| output).collect());
            txdata.push(transaction);
        }
        let txid = txdata[0].compute_txid();
        fresh.extend((0u32..).zip(&txdata[0].output).map(|(vout, output)| (OutPoint { txid, vout }, output.clone())));
        coins.extend(fresh);
        let previous = blocks.last().map_or(BlockHash::all_zeros(), |block| block.id.hash);
        blocks.push(connected(height, previous, txdata, spent));
    }
    blocks
}

fn script(serial: u64) -> ScriptBuf {
    let mut program = [0x42; 32];
    program[..8].copy_from_slice(&serial.to_le_bytes());
    ScriptBuf::from_bytes([&[0x51, 0x20][..], &program].concat())
}

/// Many outputs, so that there is something to spend from the second block on.
fn coinbase(height: u32) -> Transaction {
    let input =
        TxIn { script_sig: Builder::new().push_int(i64::from(height)).push_int(7).into_script(), ..TxIn::default() };
    let outputs: u64 = if height < 2 { 2_000 } else { 4 };
    let output = |place| TxOut {
        value: Amount::from_sat(SUBSIDY / outputs),
        script_pubkey: script(u64::MAX - u64::from(height) * 10_000 - place),
    };
    assembled(vec![input], (0..outputs).map(output).collect())
}

fn payment(coins: &[(OutPoint, TxOut)], serial: u64, height: u32, place: u64, every: u64, kind: Kind) -> Transaction {
    let value: u64 = coins.iter().map(|(_, output)| output.value.to_sat()).sum();
    let mut witness = Witness::from_slice(&[[7u8; 64]]);
    let mut output = vec![
        TxOut { value: Amount::from_sat(value / 3), script_pubkey: script(serial * 2) },
        TxOut {
            value: Amount::from_sat(value - value / 3 - 200.min(value / 4)),
            script_pubkey: script(serial * 2 + 1),
        },
    ];
    if serial.is_multiple_of(2 * every) || (kind == Kind::Mint && serial.is_multiple_of(every)) {
        let begun = Builder::new().push_opcode(OP_FALSE).push_opcode(OP_IF).push_slice(b"ord");
        let body: &[u8] = match kind {
            Kind::Mixed => &[b'x'; 75],
            Kind::Mint if serial == every => {
                br#"{"p":"brc-20","op":"deploy","tick":"bars","max":"18446744073709551615","lim":"1"}"#
            }
            Kind::Mint => br#"{"p":"brc-20","op":"mint","tick":"bars","amt":"1"}"#,
        };
        let body = PushBytesBuf::try_from(body.to_vec()).unwrap();
        let reveal = begun.push_slice([1]).push_slice(b"text/plain").push_slice([]).push_slice(body);
        witness = Witness::from_slice(&[reveal.push_opcode(OP_ENDIF).into_script().into_bytes(), vec![0xc0; 33]]);
    } else if serial.is_multiple_of(every) {
        let etching = Etching { premine: Some(1_000_000), ..Etching::default() };
        let id = RuneId { block: u64::from(height.saturating_sub(1)), tx: place as u32 + 1 };
        let edicts = vec![Edict { id, amount: 5, output: 1 }];
        let runestone = Runestone { etching: Some(etching), edicts, ..Runestone::default() };
        output.push(TxOut { value: Amount::ZERO, script_pubkey: runestone.encipher() });
    }
    let input = |(outpoint, _): &(OutPoint, TxOut)| TxIn {
        previous_output: *outpoint,
        sequence: Sequence::MAX,
        witness: witness.clone(),
        ..TxIn::default()
    };
    assembled(coins.iter().map(input).collect(), output)
}

fn assembled(input: Vec<TxIn>, output: Vec<TxOut>) -> Transaction {
    Transaction { version: transaction::Version::TWO, lock_time: LockTime::ZERO, input, output }
}

fn connected(height: u32, previous: BlockHash, txdata: Vec<Transaction>, spent: Vec<Vec<TxOut>>) -> ConnectedBlock {
    let mut header = bitcoin::constants::genesis_block(bitcoin::Network::Regtest).header;
    header.prev_blockhash = previous;
    header.time += height;
    let mut block = Block { header, txdata };
    block.header.merkle_root = block.compute_merkle_root().unwrap();
    let mut offset = 80 + bitcoin::consensus::encode::VarInt::from(block.txdata.len()).size() as u32;
    let mut offsets = Vec::new();
    for transaction in &block.txdata {
        offsets.push(offset);
        offset += transaction.total_size() as u32;
    }
    ConnectedBlock {
        id: BlockId { height, hash: block.block_hash() },
        size: serialize(&block).len() as u32,
        txids: block.txdata.iter().map(Transaction::compute_txid).collect(),
        offsets,
        spent: Some(spent),
        script_digests: None,
        block,
    }
}
