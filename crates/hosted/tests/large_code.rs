//! The longest code of a contract in the reference's program and in the native engine (decision 0011).
//!
//! `PARAFFIN_LONG=1` also finds the greatest length, to the byte, and takes a minute.
#![cfg(feature = "machine")]
#![allow(clippy::unwrap_used, missing_docs)]

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use bitcoin::absolute::LockTime;
use bitcoin::block::{Header, Version as BlockVersion};
use bitcoin::consensus::serialize;
use bitcoin::hashes::Hash as _;
use bitcoin::transaction::Version;
use bitcoin::{
    Amount, Block, BlockHash, CompactTarget, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxMerkleNode, TxOut,
    Txid, Witness,
};
use paraffin_alkanes::codec::{
    ALKANES_PROTOCOL, CODE_LEN_MAX_BYTES, Cellpack, Protostone, Runestone, append_envelope, append_varint,
    encode_protostones, gzip,
};
use paraffin_alkanes::{CodeCache, Engine as _, NativeEngine, StateError, StateKey, StateReader};
use paraffin_devnet::market::builtins;
use paraffin_hosted::{Program, ReadError, Reads, RunLimits, load};
use paraffin_primitives::{AlkaneId, ConnectedBlock, Height, Network};
use paraffin_testkit::reference_program;

/// State of the program, or of the native engine.
struct Memory<K>(RefCell<HashMap<K, Vec<u8>>>);

impl Reads for Memory<Vec<u8>> {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, ReadError> {
        Ok(self.0.borrow().get(key).cloned())
    }
}

impl StateReader for Memory<StateKey> {
    fn get(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        Ok(self.0.borrow().get(key).cloned())
    }
}

/// Calls `target`, with a payload in the witness.
fn call(target: AlkaneId, payload: Option<&[u8]>) -> Transaction {
    let stone = Protostone {
        protocol_tag: ALKANES_PROTOCOL,
        message: Cellpack { target, inputs: vec![50] }.encode(),
        pointer: Some(0),
        refund: Some(0),
        ..Protostone::default()
    };
    let runestone = Runestone { protocol: encode_protostones(&[stone]).unwrap(), ..Runestone::default() };
    let mut witness = Witness::new();
    if let Some(payload) = payload {
        witness.push(append_envelope(bitcoin::script::Builder::new(), payload).into_script().as_bytes());
        witness.push([0xc0; 33]);
    }
    let previous_output = OutPoint { txid: Txid::from_byte_array([7; 32]), vout: u32::from(payload.is_none()) };
    transaction(
        TxIn { previous_output, script_sig: ScriptBuf::new(), sequence: Sequence::MAX, witness },
        runestone.encode(2).unwrap(),
    )
}

fn coinbase(height: Height) -> Transaction {
    let script_sig = ScriptBuf::from_bytes([&[4][..], &height.to_le_bytes()].concat());
    let witness = Witness::new();
    transaction(
        TxIn { previous_output: OutPoint::null(), script_sig, sequence: Sequence::MAX, witness },
        ScriptBuf::from_bytes(vec![0x51]),
    )
}

fn transaction(input: TxIn, second: ScriptBuf) -> Transaction {
    let output = |script_pubkey| TxOut { value: Amount::from_sat(546), script_pubkey };
    let output = vec![output(ScriptBuf::from_bytes(vec![0x51])), output(second)];
    Transaction { version: Version::TWO, lock_time: LockTime::ZERO, input: vec![input], output }
}

/// Two empty blocks, one that deploys the code, and one that calls it.
fn chain(code: &[u8]) -> Vec<ConnectedBlock> {
    let header = Header {
        version: BlockVersion::TWO,
        prev_blockhash: BlockHash::all_zeros(),
        merkle_root: TxMerkleNode::all_zeros(),
        time: 7,
        bits: CompactTarget::from_consensus(0x207f_ffff),
        nonce: 9,
    };
    let deploy = call(AlkaneId { block: 1, tx: 0 }, Some(&gzip(code)));
    let created = call(AlkaneId { block: 2, tx: 1 }, None);
    let blocks = [vec![], vec![], vec![deploy], vec![created]];
    let blocks = blocks.into_iter().enumerate().map(|(height, mut txdata)| {
        txdata.insert(0, coinbase(height as Height));
        ConnectedBlock::new(height as Height, Block { header, txdata })
    });
    blocks.collect()
}

/// Whether the program creates a contract on the chain.
fn program_creates(program: &dyn Program, chain: &[ConnectedBlock]) -> bool {
    let state = Memory(RefCell::default());
    let limits = RunLimits { memory_bytes_max: 4 << 30, is_over: &|| false };
    for block in chain {
        let pairs: BTreeMap<_, _> =
            program.run_block(block.id.height, &serialize(&block.block), &state, limits).unwrap().pairs;
        state.0.borrow_mut().extend(pairs);
    }
    let key = [b"/alkanes/", &2_u128.to_le_bytes()[..], &1_u128.to_le_bytes()].concat();
    state.0.borrow().get(&key).is_some_and(|code| !code.is_empty())
}

/// Whether the native engine does.
fn native_creates(chain: &[ConnectedBlock]) -> bool {
    let state = Memory(RefCell::default());
    let codes = Arc::new(CodeCache::default());
    let mut engine = NativeEngine::new(Network::Regtest, Arc::new(builtins()), codes);
    for block in chain {
        let effects = engine.run_block(block.id.height, block, &state).unwrap();
        state.0.borrow_mut().extend(effects.writes);
    }
    let code = StateKey::Code(AlkaneId { block: 2, tx: 1 });
    state.0.borrow().get(&code).is_some_and(|code| !code.is_empty())
}

const SMALL: &str = r#"(module (memory (export "memory") 1)
    (data (i32.const 1024) "\14\00\00\00" "\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00" "\00\00\00\00")
    (func (export "__execute") (result i32) (i32.const 1028)) "#;

fn small(rest: &str) -> Vec<u8> {
    wat::parse_str(format!("{SMALL} {rest})")).unwrap()
}

/// A module of exactly `len` bytes, most of which are a custom section.
fn padded(len: usize) -> Vec<u8> {
    let mut code = small("");
    // The length of the section takes five bytes whatever it is.
    let body_len = len - code.len() - 6;
    code.push(0);
    let mut size = Vec::new();
    append_varint(body_len as u128 | 1 << 31, &mut size);
    size[4] &= 0x07;
    code.extend(size);
    code.extend(b"\x01x");
    code.resize(len, 0);
    code
}

/// Modules that unpack to more than 64 MiB, each with its name.
fn large() -> Vec<(&'static str, Vec<u8>)> {
    let len = 65 << 20;
    let text = "nop ".repeat(len);
    let body = small(&format!("(func {text})"));
    vec![
        ("a custom section", padded(len)),
        ("instructions", body),
        ("behind its end", [small(""), vec![0; len]].concat()),
    ]
}

#[test]
fn the_reference_and_the_engine_run_long_code_alike() {
    let Some(path) = reference_program("alkanes-2.2.1-regtest.wasm") else { return };
    let program = load(&std::fs::read(path).unwrap()).unwrap();
    for (name, code) in large() {
        let chain = chain(&code);
        assert_eq!(program_creates(&*program, &chain), native_creates(&chain), "{name}");
    }
    if std::env::var_os("PARAFFIN_LONG").is_none() {
        return;
    }
    for (len, creates) in [(CODE_LEN_MAX_BYTES, true), (CODE_LEN_MAX_BYTES + 1, false)] {
        let chain = chain(&padded(len));
        assert_eq!((program_creates(&*program, &chain), native_creates(&chain)), (creates, creates), "{len}");
    }
}
