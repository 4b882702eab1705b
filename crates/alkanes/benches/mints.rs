//! What a mint of the genesis token costs in a block that is full of them, one after the other in the interpreter and with the other cores ahead
//! of them, with the feature `machine-code` as machine code.
//!
//! Catches: attempts that are not taken, or that cost their message as much as running it. `cargo bench -p paraffin-alkanes --bench mints`;
//! `--test` runs a short one. Prints one line of JSON, its samples, and fails when attempts are missed. `PARAFFIN_OPERATOR_WASM` names an
//! indexer program whose contracts it runs instead of our own.
#![allow(missing_docs, clippy::unwrap_used, clippy::cast_precision_loss)] // a bench stops at the first failure

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

use bitcoin::absolute::LockTime;
use bitcoin::block::{Header, Version as BlockVersion};
use bitcoin::hashes::Hash as _;
use bitcoin::transaction::Version;
use bitcoin::{
    Amount, Block, BlockHash, CompactTarget, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxMerkleNode, TxOut,
    Witness,
};
use paraffin_alkanes::codec::{ALKANES_PROTOCOL, Cellpack, Protostone, Runestone, encode_protostones};
use paraffin_alkanes::{Builtins, CodeCache, Engine, NativeEngine, Parameters, StateError, StateKey, StateReader};
use paraffin_primitives::{AlkaneId, ConnectedBlock, Height, Network};

/// With two cores, of the interpreter alone.
const RATIO_MIN: f64 = if cfg!(feature = "machine-code") { 2.0 } else { 1.25 };

const FIRST: Height = 955_000;
const MINTS: usize = 2_800;
/// Mints that spend each other's output.
const CHAIN: usize = 25;

#[derive(Default)]
struct Memory(HashMap<StateKey, Vec<u8>>);

impl StateReader for Memory {
    fn get(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        Ok(self.0.get(key).cloned())
    }
}

fn main() {
    let short = std::env::args().any(|argument| argument == "--test");
    let (rounds, blocks, mints) = if short { (1, 2, 50) } else { (5, 4, MINTS) };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).saturating_sub(1).clamp(1, 3);
    let (mut rows, mut ratios) = (String::new(), Vec::new());
    let (mut taken, mut missed) = (0, 0);
    // In turns, so that a busy moment of the machine meets both.
    for round in 1..=rounds {
        let (alone, _, effects) = measured(0, blocks, mints);
        let (ahead, counts, same) = measured(threads, blocks, mints);
        assert!(effects == same, "the same blocks have other effects");
        (taken, missed) = (taken + counts.0, missed + counts.1);
        ratios.push(alone / ahead);
        writeln!(rows, "{round},{alone:.1},{ahead:.1}").unwrap();
    }
    ratios.sort_by(f64::total_cmp);
    let ratio = ratios[ratios.len() / 2];
    println!(
        r#"{{"bar":"mints","value":{ratio:.2},"at_least":{RATIO_MIN},"how":"times as fast with {threads} threads ahead: mints of the genesis token in the last of {blocks} blocks with {mints} each, median of {rounds} rounds; {taken} attempts taken, {missed} missed"}}"#
    );
    print!("round,microseconds a mint alone,with threads ahead\n{rows}");
    assert!(taken > 10 * missed, "{taken} attempts taken, {missed} missed");
}

/// Microseconds a mint in the last block, attempts taken and missed, and what all blocks did.
fn measured(threads: usize, blocks: u32, mints: usize) -> (f64, (u64, u64), Vec<paraffin_alkanes::BlockEffects>) {
    let mut engine = NativeEngine::new(Network::Mainnet, Arc::new(builtins()), Arc::new(CodeCache::default()))
        .with_speculation_of(threads, 8);
    let mut state = Memory::default();
    let (mut microseconds, mut all) = (0.0, Vec::new());
    // As on mainnet, where the premine was spent into the upgrade: without it the released contract mints once a block.
    let upgraded = StateKey::Storage(AlkaneId { block: 2, tx: 0 }, b"/upgrade_initialized".to_vec());
    state.0.insert(upgraded, vec![1, 0, 0, 0]);
    for height in FIRST..FIRST + blocks {
        let block = block(height, mints);
        let begun = Instant::now();
        let effects = engine.run_block(height, &block, &state).unwrap();
        microseconds = begun.elapsed().as_secs_f64() * 1e6 / mints as f64;
        state.0.extend(effects.writes.iter().cloned());
        all.push(effects);
    }
    (microseconds, engine.speculation_counts(), all)
}

fn builtins() -> Builtins {
    if let Ok(path) = std::env::var("PARAFFIN_OPERATOR_WASM") {
        return Builtins::from_operator_wasm(&Parameters::of(Network::Mainnet), &std::fs::read(path).unwrap()).unwrap();
    }
    let wasm =
        |name| std::fs::read(format!("{}/../../contracts/wasm/{name}.wasm", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let id = |block, tx| AlkaneId { block, tx };
    let codes = [(id(2, 0), "genesis-token"), (id(32, 0), "wrapped-bitcoin"), (id(32, 1), "auth-token")];
    Builtins::given(codes.map(|(id, name)| (id, wasm(name))))
}

fn block(height: Height, mints: usize) -> ConnectedBlock {
    let spend = |previous_output| TxIn {
        previous_output,
        script_sig: ScriptBuf::new(),
        sequence: Sequence::MAX,
        witness: Witness::new(),
    };
    let output = |script_pubkey| TxOut { value: Amount::from_sat(546), script_pubkey };
    let mut coinbase = Transaction {
        version: Version::TWO,
        lock_time: LockTime::ZERO,
        input: vec![spend(OutPoint::null())],
        output: vec![TxOut { value: Amount::from_sat(312_500_000 + 1_000_000), script_pubkey: script(0) }],
    };
    coinbase.input[0].script_sig = ScriptBuf::builder().push_int(i64::from(height)).push_int(7).into_script();
    let mut txdata = vec![coinbase];
    let message = Cellpack { target: AlkaneId { block: 2, tx: 0 }, inputs: vec![77] }.encode();
    let stone = Protostone {
        protocol_tag: ALKANES_PROTOCOL,
        message,
        pointer: Some(0),
        refund: Some(0),
        ..Protostone::default()
    };
    let protocol = encode_protostones(&[stone]).unwrap();
    let runestone = Runestone { protocol, ..Runestone::default() }.encode(2).unwrap();
    let mut previous = OutPoint::null();
    for mint in 0..mints {
        if mint % CHAIN == 0 {
            let mut txid = [0; 32];
            txid[..4].copy_from_slice(&height.to_le_bytes());
            txid[4..8].copy_from_slice(&(mint as u32).to_le_bytes());
            previous = OutPoint { txid: bitcoin::Txid::from_byte_array(txid), vout: 0 };
        }
        let mint = Transaction {
            version: Version::TWO,
            lock_time: LockTime::ZERO,
            input: vec![spend(previous)],
            output: vec![output(script(mint as u64)), TxOut { value: Amount::ZERO, script_pubkey: runestone.clone() }],
        };
        previous = OutPoint { txid: mint.compute_txid(), vout: 0 };
        txdata.push(mint);
    }
    let header = Header {
        version: BlockVersion::TWO,
        prev_blockhash: BlockHash::all_zeros(),
        merkle_root: TxMerkleNode::all_zeros(),
        time: height,
        bits: CompactTarget::from_consensus(0x207f_ffff),
        nonce: 0,
    };
    ConnectedBlock::new(height, Block { header, txdata })
}

fn script(number: u64) -> ScriptBuf {
    let mut bytes = vec![0x51, 0x20];
    bytes.extend_from_slice(&[0; 24]);
    bytes.extend_from_slice(&number.to_be_bytes());
    ScriptBuf::from_bytes(bytes)
}
