//! A test bench for messages: a state in memory, one block, contracts under chosen ids.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use bitcoin::absolute::LockTime;
use bitcoin::block::{Header, Version as BlockVersion};
use bitcoin::hashes::Hash as _;
use bitcoin::transaction::Version;
use bitcoin::{
    Amount, Block, BlockHash, CompactTarget, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxMerkleNode, TxOut,
    Witness,
};
use paraffin_alkanes::codec::{
    ALKANES_PROTOCOL, Cellpack, Protostone, Runestone, append_envelope, encode_protostones, gzip,
};
use paraffin_alkanes::{
    Builtins, CallResponse, CodeCache, Halt, Message, MessageEnd, Overlay, Parameters, Sheet, SimulatedCall,
    Simulation, StateError, StateKey, StateReader, Trace, TraceEvent, TraceStatus, Transfer, World, handle_message,
};
use paraffin_primitives::{AlkaneId, Network};

/// The contract that most tests call.
pub(crate) const SUBJECT: AlkaneId = id(4, 7);

pub(crate) const fn id(block: u128, tx: u128) -> AlkaneId {
    AlkaneId { block, tx }
}

pub(crate) const fn transfer(id: AlkaneId, value: u128) -> Transfer {
    Transfer { id, value }
}

/// A committed contract.
pub(crate) fn contract(name: &str) -> Vec<u8> {
    let path = format!("{}/../../contracts/wasm/{name}.wasm", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A module written as text.
pub(crate) fn wat(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap()
}

/// A module whose `__execute` is `body`, with all host functions imported under their own names, one page of memory and
/// an empty response at 1028.
pub(crate) fn module(body: &str) -> Vec<u8> {
    wat(&module_text("(memory (export \"memory\") 1)", body))
}

/// [`module`] with another memory.
pub(crate) fn module_text(memory: &str, body: &str) -> String {
    format!(
        r#"(module
        (import "env" "abort" (func $abort (param i32 i32 i32 i32)))
        (import "env" "__request_storage" (func $request_storage (param i32) (result i32)))
        (import "env" "__load_storage" (func $load_storage (param i32 i32) (result i32)))
        (import "env" "__request_context" (func $request_context (result i32)))
        (import "env" "__load_context" (func $load_context (param i32) (result i32)))
        (import "env" "__request_transaction" (func $request_transaction (result i32)))
        (import "env" "__load_transaction" (func $load_transaction (param i32)))
        (import "env" "__request_block" (func $request_block (result i32)))
        (import "env" "__load_block" (func $load_block (param i32)))
        (import "env" "__sequence" (func $sequence (param i32)))
        (import "env" "__fuel" (func $fuel (param i32)))
        (import "env" "__height" (func $height (param i32)))
        (import "env" "__balance" (func $balance (param i32 i32 i32)))
        (import "env" "__returndatacopy" (func $returndatacopy (param i32)))
        (import "env" "__log" (func $log (param i32)))
        (import "env" "__call" (func $call (param i32 i32 i32 i64) (result i32)))
        (import "env" "__delegatecall" (func $delegatecall (param i32 i32 i32 i64) (result i32)))
        (import "env" "__staticcall" (func $staticcall (param i32 i32 i32 i64) (result i32)))
        {memory}
        ;; at 1028: a response without alkanes, storage and data
        (data (i32.const 1024) "\14\00\00\00" "\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00" "\00\00\00\00")
        {body})"#
    )
}

/// `__execute` that does something and answers the empty response.
pub(crate) fn answering(body: &str) -> Vec<u8> {
    module(&format!(r#"(func (export "__execute") (result i32) {body} (i32.const 1028))"#))
}

/// State in memory, as of the block before.
#[derive(Default)]
pub(crate) struct Memory(RefCell<HashMap<StateKey, Vec<u8>>>);

impl StateReader for Memory {
    fn get(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        Ok(self.0.borrow().get(key).cloned())
    }
}

pub(crate) struct Stage {
    pub(crate) parameters: Parameters,
    pub(crate) height: u64,
    pub(crate) state: Memory,
    pub(crate) codes: Arc<CodeCache>,
    pub(crate) builtins: Builtins,
    /// Bytes of an envelope in the first witness.
    pub(crate) envelope: Option<Vec<u8>>,
    /// Transactions beside the one with the message.
    pub(crate) others: Vec<Transaction>,
    /// The runtime sheet before the message.
    pub(crate) runtime: Sheet,
}

/// How a message ended.
pub(crate) struct Ended {
    pub(crate) end: MessageEnd,
    pub(crate) events: Vec<TraceEvent>,
    /// Everything written, also what a failed message wrote below its layer.
    pub(crate) writes: HashMap<StateKey, Vec<u8>>,
    /// Fuel that the transaction has left, and what the block has.
    pub(crate) fuel_left: (u64, u64),
}

impl Ended {
    /// The answer of the message.
    #[track_caller]
    pub(crate) fn response(&self) -> &CallResponse {
        match self.events.last() {
            Some(TraceEvent::Exit { status: TraceStatus::Success, response, .. }) => response,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn data(&self) -> &[u8] {
        &self.response().data
    }

    /// Fuel that the message used.
    #[track_caller]
    pub(crate) fn fuel(&self) -> u64 {
        match self.events.last() {
            Some(TraceEvent::Exit { status: TraceStatus::Success, fuel_used, .. }) => *fuel_used,
            other => panic!("{other:?}"),
        }
    }

    /// Why the message was reverted.
    #[track_caller]
    pub(crate) fn revert(&self) -> String {
        assert_eq!(self.end, MessageEnd::Failed);
        match self.events.last() {
            Some(TraceEvent::Exit { status: TraceStatus::Revert, response, fuel_used: u64::MAX }) => {
                revert_text(response)
            }
            other => panic!("{other:?}"),
        }
    }

    /// Texts of all reverts, in order.
    pub(crate) fn reverts(&self) -> Vec<String> {
        let reverted = self.events.iter().filter_map(|event| match event {
            TraceEvent::Exit { status: TraceStatus::Revert, response, .. } => Some(revert_text(response)),
            _ => None,
        });
        reverted.collect()
    }

    pub(crate) fn stored(&self, contract: AlkaneId, key: &[u8]) -> Option<&[u8]> {
        self.writes.get(&StateKey::Storage(contract, key.to_vec())).map(Vec::as_slice)
    }
}

fn revert_text(response: &CallResponse) -> String {
    assert_eq!(response.data[..4], [0x08, 0xc3, 0x79, 0xa0]);
    String::from_utf8(response.data[4..].to_vec()).unwrap()
}

impl Stage {
    /// The rules of regtest: all forks active, 3,500,000 fuel for each transaction.
    pub(crate) fn new() -> Self {
        Self {
            parameters: Parameters::of(Network::Regtest),
            height: 100,
            state: Memory::default(),
            codes: Arc::default(),
            builtins: Builtins::default(),
            envelope: None,
            others: Vec::new(),
            runtime: Sheet::new(),
        }
    }

    /// With a contract at [`SUBJECT`].
    pub(crate) fn with(code: &[u8]) -> Self {
        let stage = Self::new();
        stage.put_code(SUBJECT, code);
        stage
    }

    pub(crate) fn put(&self, key: StateKey, value: impl Into<Vec<u8>>) {
        self.state.0.borrow_mut().insert(key, value.into());
    }

    pub(crate) fn put_code(&self, contract: AlkaneId, code: &[u8]) {
        self.put(StateKey::Code(contract), gzip(code));
    }

    pub(crate) fn put_balance(&self, who: AlkaneId, what: AlkaneId, value: u128) {
        self.put(StateKey::Balance { what, who }, value.to_le_bytes());
    }

    /// The block: a coinbase, `others`, the transaction with the message.
    pub(crate) fn block(&self, messages: &[&Cellpack]) -> Block {
        let mut txdata = vec![coinbase()];
        txdata.extend(self.others.iter().cloned());
        txdata.push(transaction(messages, self.envelope.as_deref()));
        let header = Header {
            version: BlockVersion::TWO,
            prev_blockhash: BlockHash::all_zeros(),
            merkle_root: TxMerkleNode::all_zeros(),
            time: 7,
            bits: CompactTarget::from_consensus(0),
            nonce: 9,
        };
        Block { header, txdata }
    }

    pub(crate) fn world<'a>(&'a self, block: &'a Block) -> World<'a> {
        World::new(&self.parameters, self.height, block, Overlay::new(&self.state), &self.codes, &self.builtins)
    }

    /// A message on a fresh world; nothing of it stays.
    pub(crate) fn try_message(&self, target: AlkaneId, inputs: &[u128], incoming: &[Transfer]) -> Result<Ended, Halt> {
        let cellpack = Cellpack { target, inputs: inputs.to_vec() };
        let block = self.block(&[&cellpack]);
        let mut world = self.world(&block);
        let index = block.txdata.len() - 1;
        let end = in_layers(&mut world, index, &cellpack, incoming, &self.runtime)?;
        let fuel_left = (world.tank.transaction_fuel(), world.tank.block_fuel());
        let events = world.traces.split_off(0).pop().map_or_else(Vec::new, |(_, Trace { events })| events);
        let writes = world.state.into_writes().unwrap().into_iter().collect();
        Ok(Ended { end, events, writes, fuel_left })
    }

    #[track_caller]
    pub(crate) fn message(&self, inputs: &[u128]) -> Ended {
        self.try_message(SUBJECT, inputs, &[]).unwrap()
    }

    #[track_caller]
    pub(crate) fn message_with(&self, inputs: &[u128], incoming: &[Transfer]) -> Ended {
        self.try_message(SUBJECT, inputs, incoming).unwrap()
    }

    #[track_caller]
    pub(crate) fn message_to(&self, target: AlkaneId, inputs: &[u128]) -> Ended {
        self.try_message(target, inputs, &[]).unwrap()
    }

    /// A message whose effects stay.
    #[track_caller]
    pub(crate) fn apply(&self, target: AlkaneId, inputs: &[u128]) -> Ended {
        let ended = self.try_message(target, inputs, &[]).unwrap();
        self.state.0.borrow_mut().extend(ended.writes.clone());
        ended
    }

    /// Compiles at every call, as the reference does.
    pub(crate) fn without_cache(mut self) -> Self {
        self.codes = Arc::new(CodeCache::disabled());
        self
    }

    /// A simulation with this much fuel.
    pub(crate) fn simulate(&self, target: AlkaneId, inputs: &[u128], fuel: u64) -> Result<Simulation, Halt> {
        self.simulate_within(target, inputs, fuel, fuel)
    }

    /// A simulation that is given `fuel` and may use `fuel_max` of it.
    pub(crate) fn simulate_within(
        &self,
        target: AlkaneId,
        inputs: &[u128],
        fuel: u64,
        fuel_max: u64,
    ) -> Result<Simulation, Halt> {
        let cellpack = Cellpack { target, inputs: inputs.to_vec() };
        let block = self.block(&[&cellpack]);
        let mut world = self.world(&block);
        let call = SimulatedCall {
            transaction: block.txdata.last().unwrap(),
            vout: 3,
            calldata: &cellpack.encode(),
            incoming: &[],
            fuel,
            interrupted: &|| false,
        };
        let simulation = paraffin_alkanes::simulate_within(&mut world, &call, fuel_max)?;
        assert_eq!(world.state.depth(), 0, "a simulation leaves no layer");
        Ok(simulation)
    }
}

/// Runs a message of the transaction at `index` as the ledger does: one layer for the transaction, one for the message.
pub(crate) fn in_layers(
    world: &mut World<'_>,
    index: usize,
    cellpack: &Cellpack,
    incoming: &[Transfer],
    runtime: &Sheet,
) -> Result<MessageEnd, Halt> {
    let transaction = &world.block.txdata[index];
    let message = Message {
        transaction,
        txid: transaction.compute_txid(),
        index: index as u32,
        vout: 3,
        calldata: &cellpack.encode(),
        incoming: incoming.to_vec(),
    };
    world.state.checkpoint();
    world.state.checkpoint();
    let end = handle_message(world, &message, runtime)?;
    assert_eq!(world.state.depth(), 2, "a message leaves the layers as they were");
    match end {
        MessageEnd::Done { .. } => world.state.commit(),
        MessageEnd::Failed => world.state.rollback(),
    }
    world.state.commit();
    Ok(end)
}

/// A transaction that carries messages, and an envelope when there is one.
pub(crate) fn transaction(messages: &[&Cellpack], envelope: Option<&[u8]>) -> Transaction {
    let stones: Vec<_> = messages
        .iter()
        .map(|cellpack| Protostone {
            protocol_tag: ALKANES_PROTOCOL,
            message: cellpack.encode(),
            pointer: Some(0),
            refund: Some(0),
            ..Protostone::default()
        })
        .collect();
    let runestone = Runestone { protocol: encode_protostones(&stones).unwrap(), ..Runestone::default() };
    let mut witness = Witness::new();
    if let Some(payload) = envelope {
        witness.push(append_envelope(bitcoin::script::Builder::new(), payload).into_script().as_bytes());
        witness.push([0xc0; 33]);
    }
    let input = TxIn {
        previous_output: OutPoint { txid: bitcoin::Txid::all_zeros(), vout: 5 },
        script_sig: ScriptBuf::new(),
        sequence: Sequence::MAX,
        witness,
    };
    let output = vec![
        TxOut { value: Amount::from_sat(546), script_pubkey: ScriptBuf::from_bytes(vec![0x51]) },
        TxOut { value: Amount::ZERO, script_pubkey: runestone.encode(2).unwrap() },
    ];
    Transaction { version: Version::TWO, lock_time: LockTime::ZERO, input: vec![input], output }
}

/// A coinbase that pays 50 and 12 satoshis.
pub(crate) fn coinbase() -> Transaction {
    let input = TxIn {
        previous_output: OutPoint::null(),
        script_sig: ScriptBuf::from_bytes(vec![1, 100]),
        sequence: Sequence::MAX,
        witness: Witness::new(),
    };
    let output =
        [50, 12].map(|sats| TxOut { value: Amount::from_sat(sats), script_pubkey: ScriptBuf::from_bytes(vec![0x51]) });
    Transaction { version: Version::TWO, lock_time: LockTime::ZERO, input: vec![input], output: output.into() }
}
