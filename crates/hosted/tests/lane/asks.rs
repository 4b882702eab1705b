//! View requests to both engines, and the comparison of their answers.

use bitcoin::consensus::serialize;
use bitcoin::hashes::Hash as _;
use bitcoin::hex::DisplayHex as _;
use bitcoin::{Address, OutPoint};
use paraffin_alkanes::codec::{Cellpack, append_varint};
use paraffin_alkanes::proto::alkanes::{
    AlkaneIdToOutpointRequest, AlkaneInventoryRequest, AlkaneStorageRequest, AlkaneTransfer, BlockRequest,
    BytecodeRequest, KeyValuePair, MessageContextParcel, MultiSimulateRequest, Outpoint, SimulateBlockRequest,
    SimulateProtostonesRequest, SimulateTransactionRequest, StorageOverride,
};
use paraffin_alkanes::proto::protorune::{
    OutpointWithProtocol, ProtorunesByHeightRequest, ProtorunesWalletRequest, RunesByHeightRequest, WalletRequest,
};
use paraffin_primitives::{AlkaneId, Height};
use prost::Message as _;
use serde::{Deserialize, Serialize};

use crate::answers::Compared;
use crate::chain::{Bytes, Rules, Source};
use crate::generator::Generator;
use crate::lane::Lane;
use crate::modules::Id;

/// Views that both sides have.
pub(crate) const VIEWS: [&str; 22] = [
    "alkanes_id_to_outpoint",
    "getblock",
    "getbytecode",
    "getinventory",
    "getstorageat",
    "meta",
    "multisimluate",
    "protorunesbyaddress",
    "protorunesbyheight",
    "protorunesbyoutpoint",
    "runesbyaddress",
    "runesbyheight",
    "runesbyoutpoint",
    "sequence",
    "simulate",
    "spendablesbyaddress",
    "trace",
    "traceblock",
    "unwrap",
    "simulatetransaction",
    "simulateblock",
    "simulateprotostones",
];

/// A view request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ask {
    pub(crate) view: String,
    /// Blocks between the newest and the one at whose end the view is answered.
    pub(crate) below: Height,
    pub(crate) payload: Payload,
}

/// The payload, in a form that stays valid when the chain before it changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Payload {
    Bytes(Bytes),
    /// An output, and of some views the protocol.
    Output(Source, Option<u128>),
    /// A message's shadow output: of which transaction, and how many outputs behind the last.
    Shadow(Source),
    /// An address, and of some views the protocol.
    Wallet(String, Option<u128>),
}

impl Ask {
    /// Draws a request for the chain as it is.
    pub(crate) fn draw(view: &str, lane: &Lane, generator: &mut Generator) -> Self {
        let below = generator.numbers.pick(&[0, 0, 1, 2, 5]).min(lane.blocks.connected.len() as Height - 1);
        let tip = lane.blocks.next_height() - 1;
        let tag = |generator: &mut Generator| {
            generator.numbers.pick(&[None, Some(1), Some(1), Some(1), Some(1), Some(0), Some(7)])
        };
        let payload = match view {
            "protorunesbyoutpoint" => {
                let tag = tag(generator);
                Payload::Output(source(generator), tag)
            }
            "runesbyoutpoint" => Payload::Output(source(generator), None),
            "trace" => Payload::Shadow(source(generator)),
            "protorunesbyaddress" | "spendablesbyaddress" => {
                let tag = tag(generator);
                Payload::Wallet(address(lane, generator), tag)
            }
            "runesbyaddress" => Payload::Wallet(address(lane, generator), None),
            _ => {
                let mut bytes = plain(view, lane, generator, tip);
                let is_trial = view.starts_with("simulate") && view != "simulate";
                if generator.numbers.chance(if is_trial { 8 } else { 2 }) {
                    spoil(&mut bytes, generator);
                }
                Payload::Bytes(Bytes(bytes))
            }
        };
        Self { view: view.to_owned(), below, payload }
    }

    /// The bytes of the request.
    fn encode(&self, lane: &Lane) -> Vec<u8> {
        match &self.payload {
            Payload::Bytes(bytes) => bytes.0.clone(),
            Payload::Output(source, protocol) => {
                let OutPoint { txid, vout } = lane.blocks.outpoint(*source);
                let txid = txid.to_byte_array().to_vec();
                if self.view == "runesbyoutpoint" {
                    return Outpoint { txid, vout }.encode_to_vec();
                }
                OutpointWithProtocol { txid, vout, protocol: protocol.map(Into::into) }.encode_to_vec()
            }
            Payload::Shadow(source) => {
                let OutPoint { txid, vout } = lane.blocks.outpoint(*source);
                let transactions =
                    lane.blocks.connected.iter().flat_map(|block| block.block.txdata.iter().zip(&block.txids));
                let outputs = transactions.filter(|(_, other)| **other == txid).map(|(one, _)| one.output.len()).next();
                let vout = outputs.unwrap_or(0) as u32 + 1 + vout % 3;
                Outpoint { txid: txid.to_byte_array().to_vec(), vout }.encode_to_vec()
            }
            Payload::Wallet(address, protocol) => {
                let wallet = address.clone().into_bytes();
                if self.view == "runesbyaddress" {
                    return WalletRequest { wallet }.encode_to_vec();
                }
                ProtorunesWalletRequest { wallet, protocol_tag: protocol.map(Into::into) }.encode_to_vec()
            }
        }
    }

    fn height(&self, lane: &Lane) -> Height {
        (lane.blocks.next_height() - 1).saturating_sub(self.below).max(lane.start())
    }

    /// The native engine's answer, as hexadecimal digits or as the reason of its error.
    pub(crate) fn native_answer(&self, lane: &Lane) -> String {
        let answer = lane.native_view(self.height(lane), &self.view, &self.encode(lane));
        answer.map_or_else(|error| format!("error: {error}"), |bytes| bytes.to_lower_hex_string())
    }

    /// Sends the request to both engines.
    pub(crate) fn compare(&self, lane: &Lane) -> Compared {
        let height = self.height(lane);
        let payload = self.encode(lane);
        let native = lane.native_view(height, &self.view, &payload);
        let reference = lane.reference_view(height, &self.view, &payload);
        match crate::answers::compare(&self.view, &native, &reference) {
            Compared::Parted(text) => Compared::Parted(format!("{} at {height}: {text}", self.view)),
            compared => compared,
        }
    }

    /// The difference between both answers, if any.
    pub(crate) fn difference(&self, lane: &Lane) -> Option<String> {
        match self.compare(lane) {
            Compared::Parted(text) => Some(text),
            Compared::Same | Compared::Trapped => None,
        }
    }
}

/// Changes a bit, anywhere or among the first bytes, or cuts off the end.
fn spoil(bytes: &mut Vec<u8>, generator: &mut Generator) {
    if bytes.is_empty() {
        return;
    }
    let numbers = &mut generator.numbers;
    let offset = match numbers.below(4) {
        0 => numbers.below(bytes.len().min(12)),
        _ => numbers.below(bytes.len()),
    };
    if numbers.chance(20) {
        bytes.truncate(offset);
    } else {
        bytes[offset] ^= 1 << numbers.below(8);
    }
}

fn source(generator: &mut Generator) -> Source {
    let number = generator.numbers.next();
    let pick = generator.numbers.below(20);
    let (unspent, rich) = generator.outputs();
    let of = |sources: &[Source]| sources.get(number as usize % sources.len().max(1)).copied();
    let found = match pick {
        0 => Some(Source::Genesis),
        1 => None,
        2..12 => of(rich),
        12..15 => of(unspent),
        // Spent or not.
        _ => Some(Source::Output(2 + number as u32 % 400, (number >> 40) as u32 % 4)),
    };
    found.unwrap_or(Source::Unknown(number))
}

fn address(lane: &Lane, generator: &mut Generator) -> String {
    let blocks = &lane.blocks.connected;
    if generator.numbers.chance(4) {
        return generator
            .numbers
            .pick(&["", "nobody", "bcrt1qqqqq", "bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr"])
            .to_owned();
    }
    let block = &blocks[generator.numbers.below(blocks.len())].block;
    let transaction = &block.txdata[generator.numbers.below(block.txdata.len())];
    let output = &transaction.output[generator.numbers.below(transaction.output.len())];
    // The reference writes other addresses of regtest in a form of its own.
    if lane.rules == Rules::Regtest && !output.script_pubkey.is_witness_program() {
        return "none".to_owned();
    }
    Address::from_script(&output.script_pubkey, lane.rules.network().bitcoin())
        .map_or_else(|_| "none".to_owned(), |address| address.to_string())
}

fn id(generator: &mut Generator) -> AlkaneId {
    let (block, tx): Id = match generator.numbers.below(10) {
        0 => (generator.numbers.number(), generator.numbers.number()),
        1 => (2, generator.numbers.below(30) as u128),
        2 => (4, generator.numbers.below(40) as u128),
        _ => {
            let ids = generator.ids().to_vec();
            generator.numbers.pick(&ids)
        }
    };
    AlkaneId { block, tx }
}

fn parcel(lane: &Lane, generator: &mut Generator, tip: Height) -> MessageContextParcel {
    let target = id(generator);
    let numbers = &mut generator.numbers;
    let mut inputs = vec![numbers.pick(&[
        0, 1, 10, 11, 12, 13, 14, 15, 19, 20, 31, 40, 45, 60, 61, 62, 77, 78, 99, 100, 101, 102, 103, 104, 105, 1000,
    ])];
    for _ in 0..numbers.below(5) {
        inputs.push(numbers.number());
    }
    let mut calldata = Cellpack { target, inputs }.encode();
    if numbers.chance(3) {
        calldata.clear();
        append_varint(numbers.number(), &mut calldata);
    }
    let mut alkanes = Vec::new();
    for _ in 0..numbers.pick(&[0, 0, 0, 1, 2]) {
        let id = id(generator);
        alkanes.push(AlkaneTransfer { id: Some(id.into()), value: Some(generator.numbers.number().into()) });
    }
    let numbers = &mut generator.numbers;
    let block = &lane.blocks.connected[numbers.below(lane.blocks.connected.len())].block;
    let transaction = &block.txdata[numbers.below(block.txdata.len())];
    MessageContextParcel {
        alkanes,
        transaction: if numbers.chance(50) { serialize(transaction) } else { Vec::new() },
        block: if numbers.chance(15) { serialize(block) } else { Vec::new() },
        height: numbers.pick(&[u64::from(tip), u64::from(tip), u64::from(tip) + 1, 0, 880_000, 910_000, 945_000]),
        calldata,
        txindex: numbers.below(3) as u32,
        vout: numbers.below(5) as u32,
        pointer: numbers.below(3) as u32,
        refund_pointer: numbers.below(3) as u32,
    }
}

fn plain(view: &str, lane: &Lane, generator: &mut Generator, tip: Height) -> Vec<u8> {
    let height = |generator: &mut Generator| {
        u64::from(tip).saturating_sub(generator.numbers.below(6) as u64) + u64::from(generator.numbers.chance(5)) * 7
    };
    match view {
        "alkanes_id_to_outpoint" => AlkaneIdToOutpointRequest { id: Some(id(generator).into()) }.encode_to_vec(),
        "getblock" => BlockRequest { height: height(generator) as u32 }.encode_to_vec(),
        "getbytecode" => BytecodeRequest { id: Some(id(generator).into()) }.encode_to_vec(),
        "getinventory" => AlkaneInventoryRequest { id: Some(id(generator).into()) }.encode_to_vec(),
        "getstorageat" => {
            let paths: [&[u8]; 9] = [
                b"/last_block",
                b"/totalsupply",
                b"/initialized",
                b"/name",
                b"/k0",
                b"/k1",
                b"",
                b"/signer",
                b"/premium",
            ];
            let path = generator.numbers.pick(&paths).to_vec();
            AlkaneStorageRequest { id: Some(id(generator).into()), path }.encode_to_vec()
        }
        "simulate" | "meta" => parcel(lane, generator, tip).encode_to_vec(),
        "multisimluate" => {
            let parcels = (0..generator.numbers.below(4)).map(|_| parcel(lane, generator, tip)).collect();
            MultiSimulateRequest { parcels }.encode_to_vec()
        }
        "protorunesbyheight" => {
            let protocol_tag = generator.numbers.pick(&[None, Some(1), Some(1), Some(0)]).map(Into::into);
            ProtorunesByHeightRequest { height: height(generator), protocol_tag }.encode_to_vec()
        }
        "runesbyheight" => RunesByHeightRequest { height: height(generator) }.encode_to_vec(),
        "simulatetransaction" | "simulateblock" | "simulateprotostones" => whole(view, lane, generator, tip),
        _ => Vec::new(),
    }
}

/// A transaction of the chain tried again, or a block.
fn whole(view: &str, lane: &Lane, generator: &mut Generator, tip: Height) -> Vec<u8> {
    let mut overrides = Vec::new();
    if generator.numbers.chance(10) {
        let entries = vec![KeyValuePair { key: b"/k0".to_vec(), value: b"value".to_vec() }];
        overrides.push(StorageOverride { alkane: Some(id(generator).into()), entries });
    }
    let input = AlkaneTransfer { id: Some(id(generator).into()), value: Some(generator.numbers.number().into()) };
    let (mut stones, mut trial) = generator.trial(&lane.blocks);
    let block = block(lane, &trial, generator);
    let numbers = &mut generator.numbers;
    if numbers.chance(5) {
        stones = numbers.bytes(12);
    }
    let tip = u64::from(tip);
    let height =
        numbers.pick(&[0, 1, tip, tip, tip + 1, tip + 1, tip + 1, tip + 2, 910_000, (1 << 32) + tip, u64::MAX]);
    if numbers.chance(40) && !block.txdata.is_empty() {
        trial = block.txdata[numbers.below(block.txdata.len())].clone();
    }
    if numbers.chance(2) {
        trial.input.clear();
    }
    let mut transaction = if numbers.chance(4) { numbers.bytes(7) } else { serialize(&trial) };
    if numbers.chance(8) {
        trial.input.iter_mut().for_each(|input| input.witness.clear());
        trial.input.iter_mut().for_each(|input| input.script_sig = bitcoin::ScriptBuf::new());
        transaction = bitcoin::Psbt::from_unsigned_tx(trial).unwrap().serialize();
    }
    match view {
        "simulatetransaction" => {
            SimulateTransactionRequest { height, transaction, storage_overrides: overrides }.encode_to_vec()
        }
        "simulateblock" => {
            let block = if numbers.chance(4) { numbers.bytes(90) } else { serialize(&block) };
            SimulateBlockRequest { height, block, storage_overrides: overrides }.encode_to_vec()
        }
        _ => SimulateProtostonesRequest {
            height,
            alkane_inputs: vec![input; numbers.below(3)],
            protostones: stones,
            transaction: if numbers.chance(30) { transaction } else { Vec::new() },
            block: if numbers.chance(20) { serialize(&block) } else { Vec::new() },
            storage_overrides: overrides,
        }
        .encode_to_vec(),
    }
}

/// A block of the chain, or one whose transactions stand anywhere in it, some of them twice.
fn block(lane: &Lane, trial: &bitcoin::Transaction, generator: &mut Generator) -> bitcoin::Block {
    let numbers = &mut generator.numbers;
    let blocks = &lane.blocks.connected;
    let mut block = blocks[numbers.below(blocks.len())].block.clone();
    if numbers.chance(50) {
        return block;
    }
    if numbers.chance(20) {
        block.txdata.clear();
    }
    for _ in 0..numbers.below(5) {
        let from = &blocks[numbers.below(blocks.len())].block.txdata;
        block.txdata.push(from[numbers.below(from.len())].clone());
    }
    if numbers.chance(60) {
        let twice = if numbers.chance(30) { 2 } else { 1 };
        block.txdata.extend(vec![trial.clone(); twice]);
    }
    block
}
