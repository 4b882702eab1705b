//! Blocks, a state in memory, and a store with the module in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use bitcoin::absolute::LockTime;
use bitcoin::block::{Header, Version as BlockVersion};
use bitcoin::hashes::Hash;
use bitcoin::transaction::Version;
use bitcoin::{
    Amount, Block, BlockHash, CompactTarget, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxMerkleNode, TxOut,
    Witness,
};
use paraffin_alkanes::codec::{Protostone, Runestone, encode_protostones};
use paraffin_alkanes::{
    AlkanesModule, BlockEffects, Builtins, ChainState, CodeCache, Engine, Halt, NativeEngine, Parameters, SCHEMA,
    SavedSheet, StateError, StateKey, StateReader, TABLES,
};
use paraffin_primitives::{AlkaneId, ConnectedBlock, Height, Network};
use paraffin_store::{Module, ModuleError, Snapshot, Store, StoreOptions, Writer};

use crate::stand_in;

pub(crate) const fn id(block: u128, tx: u128) -> AlkaneId {
    AlkaneId { block, tx }
}

/// A script with an address, one of many.
pub(crate) fn script(number: u64) -> ScriptBuf {
    let mut bytes = vec![0x51, 0x20];
    bytes.extend_from_slice(&[0; 24]);
    bytes.extend_from_slice(&number.to_be_bytes());
    ScriptBuf::from_bytes(bytes)
}

pub(crate) fn op_return() -> ScriptBuf {
    ScriptBuf::from_bytes(vec![0x6a, 0x01, 0x07])
}

pub(crate) fn output(script_pubkey: ScriptBuf) -> TxOut {
    TxOut { value: Amount::from_sat(546), script_pubkey }
}

pub(crate) fn spend(previous_output: OutPoint) -> TxIn {
    TxIn { previous_output, script_sig: ScriptBuf::new(), sequence: Sequence::MAX, witness: Witness::new() }
}

pub(crate) fn transaction(input: Vec<TxIn>, output: Vec<TxOut>) -> Transaction {
    Transaction { version: Version::TWO, lock_time: LockTime::ZERO, input, output }
}

/// A transaction with protostones, its runestone the last output.
pub(crate) fn with_stones(input: Vec<TxIn>, mut output: Vec<TxOut>, stones: &[Protostone]) -> Transaction {
    let runestone = Runestone { protocol: encode_protostones(stones).unwrap(), ..Runestone::default() };
    let script_pubkey = runestone.encode(output.len() + 1).unwrap();
    output.push(TxOut { value: Amount::ZERO, script_pubkey });
    transaction(input, output)
}

/// A block with a coinbase of its own before the transactions.
pub(crate) fn block(height: Height, previous: BlockHash, mut transactions: Vec<Transaction>) -> ConnectedBlock {
    let mut coinbase = transaction(vec![spend(OutPoint::null())], vec![output(script(u64::MAX))]);
    coinbase.input[0].script_sig = ScriptBuf::builder().push_int(i64::from(height)).push_int(7).into_script();
    coinbase.input[0].witness.push(previous.as_byte_array());
    transactions.insert(0, coinbase);
    ConnectedBlock::new(height, block_of(height, previous, transactions))
}

pub(crate) fn block_of(height: Height, prev_blockhash: BlockHash, txdata: Vec<Transaction>) -> Block {
    let txids: Vec<u8> = txdata.iter().flat_map(|transaction| transaction.compute_txid().to_byte_array()).collect();
    let header = Header {
        version: BlockVersion::TWO,
        prev_blockhash,
        merkle_root: TxMerkleNode::hash(&txids),
        time: height,
        bits: CompactTarget::from_consensus(0x207f_ffff),
        nonce: 0,
    };
    Block { header, txdata }
}

/// Regtest, with the rule for spread edicts changing at a height of its own.
pub(crate) fn parameters(spread_changes_at: u64) -> Parameters {
    Parameters { host_fuel_deducted: spread_changes_at, ..Parameters::of(Network::Regtest) }
}

pub(crate) fn engine(parameters: Parameters) -> NativeEngine {
    NativeEngine::new(Network::Regtest, Arc::new(Builtins::default()), Arc::new(CodeCache::default()))
        .with_parameters(parameters)
        .with_contracts(stand_in::run_message, stand_in::deploy_nothing)
}

/// A state in memory, grown block by block.
#[derive(Debug, Default, Clone)]
pub(crate) struct Memory {
    pub(crate) values: BTreeMap<StateKey, Vec<u8>>,
}

impl StateReader for Memory {
    fn get(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        Ok(self.values.get(key).cloned())
    }
}

impl Memory {
    pub(crate) fn run(&mut self, engine: &mut NativeEngine, block: &ConnectedBlock) -> Result<BlockEffects, Halt> {
        let effects = engine.run_block(block.id.height, block, self)?;
        self.values.extend(effects.writes.iter().cloned());
        Ok(effects)
    }

    pub(crate) fn saved(&self, outpoint: OutPoint) -> Vec<(AlkaneId, u128)> {
        let bytes = self.values.get(&StateKey::Sheet(outpoint)).cloned().unwrap_or_default();
        SavedSheet::decode(&bytes).unwrap().entries
    }

    pub(crate) fn amount(&self, key: &StateKey) -> Option<u128> {
        self.values.get(key).map(|bytes| u128::from_le_bytes(bytes[..].try_into().unwrap()))
    }
}

/// Runs transactions, each in a block of its own, on an empty regtest.
pub(crate) struct Bench {
    pub(crate) state: Memory,
    pub(crate) engine: NativeEngine,
    pub(crate) height: Height,
}

impl Bench {
    pub(crate) fn new(spread_changes_at: u64) -> Self {
        Self { state: Memory::default(), engine: engine(parameters(spread_changes_at)), height: 0 }
    }

    /// Puts a transaction into the next block.
    pub(crate) fn run(&mut self, transaction: Transaction) -> BlockEffects {
        self.height += 1;
        let block = block(self.height, BlockHash::all_zeros(), vec![transaction]);
        self.state.run(&mut self.engine, &block).unwrap()
    }

    /// An output with the given alkanes, made by minting each of them.
    pub(crate) fn fund(&mut self, alkanes: &[(AlkaneId, u128)]) -> OutPoint {
        let stones: Vec<_> =
            alkanes.iter().map(|(what, amount)| stand_in::message(*what, &[stand_in::MINT, *amount], 0, 0)).collect();
        let height = u64::from(self.height);
        let funding = with_stones(vec![], vec![output(script(height))], &stones);
        let outpoint = OutPoint { txid: funding.compute_txid(), vout: 0 };
        let effects = self.run(funding);
        assert_eq!(effects.funded, [outpoint]);
        outpoint
    }
}

/// A store with the module in it.
pub(crate) struct Instance {
    pub(crate) store: Store,
    pub(crate) writer: Writer,
    pub(crate) module: AlkanesModule,
    _folder: tempfile::TempDir,
}

impl Instance {
    pub(crate) fn new(module: AlkanesModule, network: Network) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = StoreOptions { network, undo_blocks: None, memory_bytes: 256 << 20 };
        let store = Store::open(folder.path(), &options, &[SCHEMA]).unwrap();
        let writer = store.writer().unwrap();
        Self { store, writer, module, _folder: folder }
    }

    pub(crate) fn regtest(parameters: Parameters) -> Self {
        let module = AlkanesModule::new(Box::new(engine(parameters)), Network::Regtest).with_parameters(parameters);
        Self::new(module, Network::Regtest)
    }

    pub(crate) fn apply(&mut self, block: &ConnectedBlock) -> Result<(), ModuleError> {
        let header = &block.block.header;
        self.writer.begin_block(block.id, header.prev_blockhash, header.time)?;
        let mut rows = self.writer.module(SCHEMA.id)?;
        let connected = self.module.connect(block, &mut rows);
        match connected {
            Ok(()) => _ = self.writer.end_block()?,
            Err(_) => self.writer.abandon_block(),
        }
        connected
    }

    pub(crate) fn connect(&mut self, block: &ConnectedBlock) {
        self.apply(block).unwrap();
        self.writer.commit(false).unwrap();
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        self.store.snapshot()
    }

    pub(crate) fn at(&self, height: Height) -> ChainState {
        ChainState::at(&self.snapshot(), height)
    }

    /// Every row of every table, as of now.
    pub(crate) fn rows(&self) -> Vec<(u8, Vec<u8>, Vec<u8>)> {
        let snapshot = self.snapshot();
        let rows = TABLES.iter().flat_map(|table| {
            snapshot.prefix(table, &[]).map(|row| row.map(|(key, value)| (table.id, key, value)).unwrap())
        });
        rows.collect()
    }
}
