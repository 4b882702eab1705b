//! What the targets of the contract engine share: a chain of two blocks in memory with our own contracts.
#![allow(dead_code)] // every target uses another part

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use bitcoin::absolute::LockTime;
use bitcoin::block::{Header, Version as BlockVersion};
use bitcoin::hashes::Hash;
use bitcoin::transaction::Version;
use bitcoin::{
    Amount, Block, BlockHash, CompactTarget, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxMerkleNode, TxOut,
    Witness,
};
use paraffin_alkanes::codec::{ALKANES_PROTOCOL, Cellpack, Protostone, Runestone, encode_protostones, gzip};
use paraffin_alkanes::{
    BlockEffects, Builtins, CodeCache, Engine, NativeEngine, StateError, StateKey, StateReader, Trace,
};
use paraffin_primitives::{AlkaneId, ConnectedBlock, Network};

pub(crate) const DIESEL: AlkaneId = AlkaneId { block: 2, tx: 0 };
/// A contract that can do anything.
pub(crate) const PROBE: AlkaneId = AlkaneId { block: 4, tx: 7 };
pub(crate) const PROBE_CODE: &[u8] = include_bytes!("../../contracts/wasm/probe.wasm");

/// A state in memory.
#[derive(Clone, Default)]
pub(crate) struct Memory {
    pub(crate) values: BTreeMap<StateKey, Vec<u8>>,
    pub(crate) traces: Vec<Trace>,
}

impl StateReader for Memory {
    fn get(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        Ok(self.values.get(key).cloned())
    }
}

impl Memory {
    pub(crate) fn take_in(&mut self, effects: BlockEffects) {
        self.values.extend(effects.writes);
        self.traces.extend(effects.traces.into_iter().map(|(_, trace)| trace));
    }
}

/// A chain in which the built-in contracts, the probe and an output with some of 2:0 stand.
pub(crate) struct Stage {
    pub(crate) builtins: Arc<Builtins>,
    pub(crate) codes: Arc<CodeCache>,
    pub(crate) state: Memory,
    /// Holds some of 2:0.
    pub(crate) funded: OutPoint,
}

impl Stage {
    pub(crate) fn engine(&self) -> NativeEngine {
        NativeEngine::new(Network::Regtest, Arc::clone(&self.builtins), Arc::clone(&self.codes))
    }
}

/// The stage, made once.
pub(crate) fn deployed() -> &'static Stage {
    static STAGE: OnceLock<Stage> = OnceLock::new();
    STAGE.get_or_init(|| {
        let builtins = Arc::new(Builtins::given([
            (DIESEL, include_bytes!("../../contracts/wasm/genesis-token.wasm").to_vec()),
            (AlkaneId { block: 32, tx: 0 }, include_bytes!("../../contracts/wasm/wrapped-bitcoin.wasm").to_vec()),
            (AlkaneId { block: 32, tx: 1 }, include_bytes!("../../contracts/wasm/auth-token.wasm").to_vec()),
        ]));
        let mut stage = Stage {
            builtins,
            codes: Arc::new(CodeCache::default()),
            state: Memory::default(),
            funded: OutPoint::null(),
        };
        stage.state.values.insert(StateKey::Code(PROBE), gzip(PROBE_CODE));
        let mut engine = stage.engine();
        let first = block(0, vec![]);
        let effects = engine.run_block(0, &first, &stage.state).expect("an empty block does not halt the engine");
        stage.state.take_in(effects);
        let mint = transaction(OutPoint::null(), vec![output(1)], &stones(&[call(DIESEL, &[77])]));
        stage.funded = OutPoint { txid: mint.compute_txid(), vout: 0 };
        let second = block(1, vec![mint]);
        let effects = engine.run_block(1, &second, &stage.state).expect("a mint does not halt the engine");
        stage.state.take_in(effects);
        stage
    })
}

pub(crate) fn call(target: AlkaneId, inputs: &[u128]) -> Protostone {
    Protostone {
        protocol_tag: ALKANES_PROTOCOL,
        message: Cellpack { target, inputs: inputs.to_vec() }.encode(),
        pointer: Some(0),
        refund: Some(0),
        ..Protostone::default()
    }
}

pub(crate) fn stones(stones: &[Protostone]) -> Vec<u128> {
    encode_protostones(stones).expect("every stone has a tag")
}

pub(crate) fn output(number: u8) -> TxOut {
    let script_pubkey = ScriptBuf::from_bytes([&[0x51, 0x20][..], &[number; 32]].concat());
    TxOut { value: Amount::from_sat(546), script_pubkey }
}

/// One input, these outputs, and a last one with the integers of the protocol.
pub(crate) fn transaction(spent: OutPoint, mut outputs: Vec<TxOut>, protocol: &[u128]) -> Transaction {
    let runestone = Runestone { protocol: protocol.to_vec(), ..Runestone::default() };
    if let Ok(script_pubkey) = runestone.encode(outputs.len() + 1) {
        outputs.push(TxOut { value: Amount::ZERO, script_pubkey });
    }
    let input =
        TxIn { previous_output: spent, script_sig: ScriptBuf::new(), sequence: Sequence::MAX, witness: Witness::new() };
    Transaction { version: Version::TWO, lock_time: LockTime::ZERO, input: vec![input], output: outputs }
}

pub(crate) fn block(height: u32, mut transactions: Vec<Transaction>) -> ConnectedBlock {
    let mut coinbase = transaction(OutPoint::null(), vec![output(9)], &[]);
    coinbase.input[0].script_sig = ScriptBuf::builder().push_int(i64::from(height)).push_int(7).into_script();
    transactions.insert(0, coinbase);
    let header = Header {
        version: BlockVersion::TWO,
        prev_blockhash: BlockHash::all_zeros(),
        merkle_root: TxMerkleNode::all_zeros(),
        time: height,
        bits: CompactTarget::from_consensus(0x207f_ffff),
        nonce: 0,
    };
    ConnectedBlock::new(height, Block { header, txdata: transactions })
}
