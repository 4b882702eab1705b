//! One unconfirmed transaction.

use bitcoin::hashes::{Hash as _, sha256};
use bitcoin::{OutPoint, Script, Transaction, TxOut, Txid, Wtxid};
use bytes::Bytes;
use data_encoding::HEXLOWER;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// SHA-256 of a script, by which addresses are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScriptHash(pub [u8; 32]);

impl ScriptHash {
    /// Of a script.
    pub fn of(script: &Script) -> Self {
        Self(sha256::Hash::hash(script.as_bytes()).to_byte_array())
    }
}

/// Where a transaction was seen first. It moves from edge to p2p, never back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Announced by a peer or the node.
    P2p,
    /// Submitted by an admin, who saw it elsewhere.
    Edge,
}

/// Effect of an input or output on a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effect {
    /// Hash of the script.
    pub script: ScriptHash,
    /// Satoshis.
    pub value: u64,
}

/// One unconfirmed transaction. Entries are never changed; a change makes a new one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its id.
    pub txid: Txid,
    /// Its id with witnesses.
    pub wtxid: Wtxid,
    /// Weight units.
    pub weight: u32,
    /// Satoshis; `None` while an input is unknown.
    pub fee: Option<u64>,
    /// When this process saw it first, milliseconds since 1970.
    pub first_seen: u64,
    /// Number of the frame that added it; it never changes.
    pub seq: u64,
    /// Where it was seen first.
    pub origin: Origin,
    /// Submitted by an admin and not yet announced by a peer.
    pub provisional: bool,
    /// Whether it, or an unconfirmed ancestor, signals replaceability (BIP125).
    pub rbf: bool,
    /// Consensus encoding.
    pub raw: Bytes,
    /// The outputs that it spends, in order.
    pub inputs: Box<[OutPoint]>,
    /// Script and value of each spent output, where known.
    pub prevouts: Box<[Option<TxOut>]>,
    /// Its outputs.
    pub outputs: Box<[Effect]>,
    /// Whether its own inputs signal replaceability.
    pub(crate) signals: bool,
}

impl Entry {
    /// The entry from the transaction alone.
    pub(crate) fn new(transaction: &Transaction, raw: Bytes, origin: Origin, now: u64, seq: u64) -> Self {
        let signals = transaction.input.iter().any(|input| input.sequence.is_rbf());
        Self {
            txid: transaction.compute_txid(),
            wtxid: transaction.compute_wtxid(),
            weight: u32::try_from(transaction.weight().to_wu()).unwrap_or(u32::MAX),
            fee: None,
            first_seen: now,
            seq,
            origin,
            provisional: origin == Origin::Edge,
            rbf: signals,
            raw,
            inputs: transaction.input.iter().map(|input| input.previous_output).collect(),
            prevouts: vec![None; transaction.input.len()].into(),
            outputs: transaction.output.iter().map(effect).collect(),
            signals,
        }
    }

    /// Virtual bytes: a quarter of the weight, rounded up.
    pub fn vsize(&self) -> u32 {
        self.weight.div_ceil(4)
    }

    /// Satoshis for one virtual byte.
    #[allow(clippy::cast_precision_loss)] // a rate for display
    pub fn feerate(&self) -> Option<f64> {
        self.fee.map(|fee| fee as f64 / f64::from(self.vsize()))
    }

    /// Millionths of a satoshi for one virtual byte, for ordering; 0 while the fee is unknown.
    pub(crate) fn rate(&self) -> u64 {
        let rate = u128::from(self.fee.unwrap_or(0)) * 1_000_000 / u128::from(self.vsize().max(1));
        u64::try_from(rate).unwrap_or(u64::MAX)
    }

    /// The fee once every input is known. It is 0 where the inputs are worth less than the outputs, which the node would not have relayed.
    pub(crate) fn settle_fee(&mut self) {
        let spent = self.prevouts.iter().map(|output| output.as_ref().map(|output| output.value.to_sat()));
        let spent = spent.collect::<Option<Vec<u64>>>().map(|values| values.into_iter().fold(0, u64::saturating_add));
        let paid = self.outputs.iter().fold(0u64, |sum, effect| sum.saturating_add(effect.value));
        self.fee = spent.map(|spent| spent.saturating_sub(paid));
    }

    /// The transaction itself, from its bytes; `None` does not occur, since they were decoded before.
    pub fn transaction(&self) -> Option<Transaction> {
        bitcoin::consensus::encode::deserialize(&self.raw).ok()
    }

    /// One of its outputs.
    pub(crate) fn output(&self, vout: u32) -> Option<TxOut> {
        self.transaction()?.output.into_iter().nth(vout as usize)
    }

    /// Estimated memory, bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.raw.len()
    }

    /// The entry as answers show it; `hex` where it was requested.
    pub fn shown(&self, hex: bool) -> ShownEntry<'_> {
        ShownEntry {
            txid: &self.txid,
            wtxid: &self.wtxid,
            vsize: self.vsize(),
            weight: self.weight,
            fee: self.fee,
            feerate: self.feerate(),
            first_seen: self.first_seen,
            seq: self.seq,
            origin: self.origin,
            provisional: self.provisional,
            rbf: self.rbf,
            hex: hex.then_some(HexOf(&self.raw)),
        }
    }
}

/// An unconfirmed transaction as answers and the stream show it (docs/mempool.md).
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "MempoolEntry")]
pub struct ShownEntry<'e> {
    #[schemars(with = "String")]
    txid: &'e Txid,
    #[schemars(with = "String")]
    wtxid: &'e Wtxid,
    /// Virtual bytes.
    vsize: u32,
    /// Weight units.
    weight: u32,
    /// Satoshis; absent while an input is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    fee: Option<u64>,
    /// Satoshis for one virtual byte; absent while the fee is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    feerate: Option<f64>,
    /// When this instance saw it first, milliseconds since 1970.
    first_seen: u64,
    /// Number of the frame of the stream that added it.
    seq: u64,
    origin: Origin,
    /// Whether an admin submitted it and no peer has announced it.
    provisional: bool,
    /// Whether it, or an unconfirmed ancestor, signals replaceability (BIP125).
    rbf: bool,
    /// Consensus encoding in hexadecimal digits, where it was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    hex: Option<HexOf<'e>>,
}

/// Effect of an output.
pub(crate) fn effect(output: &TxOut) -> Effect {
    Effect { script: ScriptHash::of(&output.script_pubkey), value: output.value.to_sat() }
}

/// Bytes as hexadecimal text.
#[derive(Debug)]
pub(crate) struct HexOf<'b>(pub(crate) &'b [u8]);

impl Serialize for HexOf<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&HEXLOWER.encode(self.0))
    }
}
