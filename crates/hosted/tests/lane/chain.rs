//! Chains in a form that stays whole when a part is taken out: transactions name each other by number, scripts of runestones and
//! protostones are lists.

use std::collections::HashMap;

use bitcoin::absolute::LockTime;
use bitcoin::block::{Header, Version as BlockVersion};
use bitcoin::hashes::{Hash as _, sha256};
use bitcoin::hex::{DisplayHex as _, FromHex as _};
use bitcoin::opcodes::all::{OP_PUSHNUM_13, OP_RETURN};
use bitcoin::script::{Builder, PushBytes};
use bitcoin::transaction::Version;
use bitcoin::{
    Amount, Block, BlockHash, CompactTarget, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxMerkleNode, TxOut,
    Txid, Witness,
};
use paraffin_alkanes::Parameters;
use paraffin_alkanes::codec::{append_envelope, append_varint, gzip, pack_chunks};
use paraffin_primitives::{ConnectedBlock, Height, Network};
use serde::{Deserialize, Serialize};

/// The release program and the rules of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Rules {
    Regtest,
    Mainnet,
}

impl Rules {
    pub(crate) fn network(self) -> Network {
        match self {
            Self::Regtest => Network::Regtest,
            Self::Mainnet => Network::Mainnet,
        }
    }

    pub(crate) fn parameters(self) -> Parameters {
        Parameters::of(self.network())
    }

    pub(crate) fn program(self) -> &'static str {
        match self {
            Self::Regtest => "alkanes-2.2.1-regtest.wasm",
            Self::Mainnet => "alkanes-2.2.1-mainnet.wasm",
        }
    }
}

/// A chain from its first block on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Chain {
    pub(crate) rules: Rules,
    /// Height of the first block.
    pub(crate) start: Height,
    pub(crate) steps: Vec<Step>,
}

/// The next step of an indexer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Step {
    /// The next block.
    Block(Vec<Recipe>),
    /// So many blocks are undone.
    Undo(usize),
}

/// A transaction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Recipe {
    pub(crate) name: u32,
    pub(crate) inputs: Vec<Input>,
    pub(crate) outputs: Vec<Output>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Input {
    pub(crate) source: Source,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) witness: Vec<Item>,
}

/// The output that an input spends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Source {
    /// A new coin, with a number that makes the transaction one of its own.
    Coinbase(u64),
    /// An output of a transaction of the chain.
    Output(u32, u32),
    /// An output of no transaction of the chain.
    Unknown(u64),
    /// The output that gets what the built-in contracts issue.
    Genesis,
}

/// An item of a witness.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Item {
    Bytes(Bytes),
    /// A script with one of the committed contracts in an envelope.
    Contract(String),
    /// The same with a module written as text.
    Module(String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Output {
    pub(crate) sats: u64,
    pub(crate) script: Script,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Script {
    Bytes(Bytes),
    Runestone(Runestone),
}

/// `OP_RETURN OP_13` and what follows.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Runestone {
    /// Tags and values of base runes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) fields: Vec<(u128, u128)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) stones: Vec<Stone>,
    /// Bytes behind the last protostone.
    #[serde(default, skip_serializing_if = "Bytes::is_empty")]
    pub(crate) tail: Bytes,
    /// Integers behind the tag that ends the fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) edicts: Vec<[u128; 4]>,
}

/// A protostone.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Stone {
    pub(crate) tag: u128,
    /// The number of integers that it announces, where that is not true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) count: Option<u128>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<Message>,
    /// Keys and values, and behind a key 0 edicts.
    pub(crate) fields: Vec<u128>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Message {
    /// Integers: the two parts of the target, then the inputs.
    Call(Vec<u128>),
    Bytes(Bytes),
}

/// Bytes, in files as hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl Bytes {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl TryFrom<String> for Bytes {
    type Error = bitcoin::hex::HexToBytesError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Vec::from_hex(&text).map(Self)
    }
}

impl From<Bytes> for String {
    fn from(bytes: Bytes) -> Self {
        bytes.0.to_lower_hex_string()
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

/// A committed contract.
pub(crate) fn contract(name: &str) -> Vec<u8> {
    let path = format!("{}/../../contracts/wasm/{name}.wasm", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

impl Item {
    fn bytes(&self) -> Vec<u8> {
        let code = match self {
            Self::Bytes(bytes) => return bytes.0.clone(),
            Self::Contract(name) => contract(name),
            Self::Module(text) => wat::parse_str(text).unwrap_or_else(|error| panic!("{error}\n{text}")),
        };
        envelope(&gzip(&code))
    }
}

/// A script with an envelope.
pub(crate) fn envelope(payload: &[u8]) -> Vec<u8> {
    append_envelope(Builder::new(), payload).into_script().into_bytes()
}

impl Stone {
    fn append(&self, bytes: &mut Vec<u8>) {
        /// Key of a piece of the message.
        const MESSAGE: u128 = 81;
        let mut integers = Vec::new();
        let message = match &self.message {
            None => Vec::new(),
            Some(Message::Bytes(bytes)) => bytes.0.clone(),
            Some(Message::Call(call)) => {
                let mut message = Vec::new();
                for integer in call {
                    append_varint(*integer, &mut message);
                }
                message
            }
        };
        integers.extend(pack_chunks(&message).into_iter().flat_map(|chunk| [MESSAGE, chunk]));
        integers.extend(&self.fields);
        append_varint(self.tag, bytes);
        append_varint(self.count.unwrap_or(integers.len() as u128), bytes);
        for integer in integers {
            append_varint(integer, bytes);
        }
    }
}

impl Runestone {
    /// The integers of the protocol field.
    pub(crate) fn integers(&self) -> Vec<u128> {
        let mut stones = Vec::new();
        self.stones.iter().for_each(|stone| stone.append(&mut stones));
        stones.extend(&self.tail.0);
        pack_chunks(&stones)
    }

    fn script(&self) -> ScriptBuf {
        /// Tag of an integer of the protocol field.
        const PROTOCOL: u128 = 16_383;
        let mut payload = Vec::new();
        for (tag, value) in &self.fields {
            append_varint(*tag, &mut payload);
            append_varint(*value, &mut payload);
        }
        for integer in self.integers() {
            append_varint(PROTOCOL, &mut payload);
            append_varint(integer, &mut payload);
        }
        if !self.edicts.is_empty() {
            append_varint(0, &mut payload);
            self.edicts.iter().flatten().for_each(|integer| append_varint(*integer, &mut payload));
        }
        let mut builder = Builder::new().push_opcode(OP_RETURN).push_opcode(OP_PUSHNUM_13);
        for piece in payload.chunks(520) {
            builder = builder.push_slice(<&PushBytes>::try_from(piece).unwrap());
        }
        builder.into_script()
    }
}

impl Script {
    fn build(&self) -> ScriptBuf {
        match self {
            Self::Bytes(bytes) => ScriptBuf::from_bytes(bytes.0.clone()),
            Self::Runestone(runestone) => runestone.script(),
        }
    }
}

/// Turns recipes into transactions and blocks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Blocks {
    txids: HashMap<u32, Txid>,
    names: HashMap<Txid, u32>,
    rules: Option<Rules>,
    start: Height,
    /// The blocks, oldest first.
    pub(crate) connected: Vec<ConnectedBlock>,
}

impl Blocks {
    pub(crate) fn new(rules: Rules, start: Height) -> Self {
        Self { rules: Some(rules), start, ..Self::default() }
    }

    pub(crate) fn next_height(&self) -> Height {
        self.start + self.connected.len() as Height
    }

    pub(crate) fn outpoint(&self, source: Source) -> OutPoint {
        match source {
            Source::Coinbase(_) => OutPoint::null(),
            Source::Output(name, vout) => match self.txids.get(&name) {
                Some(txid) => OutPoint { txid: *txid, vout },
                None => self.outpoint(Source::Unknown(u64::from(name) << 32 | u64::from(vout))),
            },
            Source::Unknown(number) => {
                let txid = Txid::from_byte_array(sha256::Hash::hash(&number.to_le_bytes()).to_byte_array());
                OutPoint { txid, vout: 0 }
            }
            Source::Genesis => self.rules.unwrap().parameters().genesis_outpoint(),
        }
    }

    /// The other way round; `None` for an output of no transaction of the chain.
    pub(crate) fn source(&self, outpoint: &OutPoint) -> Option<Source> {
        if *outpoint == self.outpoint(Source::Genesis) {
            return Some(Source::Genesis);
        }
        self.names.get(&outpoint.txid).map(|name| Source::Output(*name, outpoint.vout))
    }

    pub(crate) fn transaction(&mut self, recipe: &Recipe) -> Transaction {
        let input = recipe.inputs.iter().map(|input| TxIn {
            previous_output: self.outpoint(input.source),
            script_sig: match input.source {
                Source::Coinbase(number) => ScriptBuf::from_bytes([&[8][..], &number.to_le_bytes()].concat()),
                _ => ScriptBuf::new(),
            },
            sequence: Sequence::MAX,
            witness: Witness::from_slice(&input.witness.iter().map(Item::bytes).collect::<Vec<_>>()),
        });
        let input = input.collect();
        let output = recipe.outputs.iter();
        let output = output
            .map(|output| TxOut { value: Amount::from_sat(output.sats), script_pubkey: output.script.build() })
            .collect();
        let transaction = Transaction { version: Version::TWO, lock_time: LockTime::ZERO, input, output };
        let txid = transaction.compute_txid();
        self.txids.insert(recipe.name, txid);
        self.names.insert(txid, recipe.name);
        transaction
    }

    /// The next block, which is stored.
    pub(crate) fn push(&mut self, recipes: &[Recipe]) -> ConnectedBlock {
        let height = self.next_height();
        let txdata: Vec<Transaction> = recipes.iter().map(|recipe| self.transaction(recipe)).collect();
        let header = Header {
            version: BlockVersion::TWO,
            prev_blockhash: self.connected.last().map_or(BlockHash::all_zeros(), |block| block.id.hash),
            merkle_root: TxMerkleNode::all_zeros(),
            time: 1_700_000_000 + height * 600,
            bits: CompactTarget::from_consensus(0x207f_ffff),
            nonce: 0,
        };
        let mut block = Block { header, txdata };
        block.header.merkle_root = block.compute_merkle_root().unwrap();
        let block = ConnectedBlock::new(height, block);
        self.connected.push(block.clone());
        block
    }

    pub(crate) fn undo(&mut self, count: usize) {
        self.connected.truncate(self.connected.len().saturating_sub(count));
    }
}
