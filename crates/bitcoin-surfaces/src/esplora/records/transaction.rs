use bitcoin::hex::DisplayHex;
use bitcoin::script::Instruction;
use bitcoin::{BlockHash, OutPoint, Script, ScriptBuf, Sequence, Transaction, TxIn, TxMerkleNode, TxOut, Txid};
use paraffin_bitcoin_index::{Confirmation, Spender};
use paraffin_primitives::{Height, Network};
use schemars::JsonSchema;
use serde::Serialize;

use super::script::EsploraOutput;
use paraffin_gateway::methods::{Hash, Object};

/// Where a transaction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TransactionStatus {
    confirmed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    block_height: Option<Height>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Hash>")]
    block_hash: Option<BlockHash>,
    /// Unix seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    block_time: Option<u32>,
}

impl TransactionStatus {
    /// Not in the indexed chain.
    pub const UNCONFIRMED: Self = Self { confirmed: false, block_height: None, block_hash: None, block_time: None };

    /// Height of the block; `None` while the transaction is unconfirmed.
    pub fn height(&self) -> Option<Height> {
        self.block_height
    }
}

impl From<Confirmation> for TransactionStatus {
    fn from(Confirmation { height, hash, time }: Confirmation) -> Self {
        Self { confirmed: true, block_height: Some(height), block_hash: Some(hash), block_time: Some(time) }
    }
}

/// A transaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EsploraTransaction {
    #[schemars(with = "Hash")]
    txid: Txid,
    version: u32,
    locktime: u32,
    #[schemars(with = "Vec<Object>")]
    vin: Vec<EsploraInput>,
    #[schemars(with = "Vec<Object>")]
    vout: Vec<EsploraOutput>,
    size: u32,
    weight: u64,
    /// Satoshis; absent while an output that it spends is not known yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    fee: Option<u64>,
    status: TransactionStatus,
}

/// One input of a transaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct EsploraInput {
    /// Transaction whose output is spent; zeros for a coinbase.
    txid: Txid,
    /// Index of the output; 4294967295 for a coinbase.
    vout: u32,
    /// The output itself; `null` for a coinbase, or when it is unknown.
    prevout: Option<EsploraOutput>,
    /// The unlocking script, in hexadecimal.
    scriptsig: ScriptBuf,
    /// The unlocking script as words.
    scriptsig_asm: String,
    /// Witness items in hexadecimal; absent when there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<Vec<String>>,
    /// Whether the input creates new coins.
    is_coinbase: bool,
    /// Sequence number.
    sequence: Sequence,
    /// The script behind a P2SH output, as words.
    #[serde(skip_serializing_if = "Option::is_none")]
    inner_redeemscript_asm: Option<String>,
    /// The script behind a P2WSH output (plain or within P2SH), as words.
    #[serde(skip_serializing_if = "Option::is_none")]
    inner_witnessscript_asm: Option<String>,
}

impl EsploraTransaction {
    /// Renders a transaction. `prevouts` has one entry for each input, in order, `None` where the output is unknown; the
    /// coinbase's entry is not looked at.
    pub fn new(
        transaction: &Transaction,
        prevouts: &[Option<TxOut>],
        status: TransactionStatus,
        network: Network,
    ) -> Self {
        let prevout = |index: usize| prevouts.get(index).and_then(Option::as_ref);
        let inputs = transaction.input.iter().enumerate();
        Self {
            txid: transaction.compute_txid(),
            version: transaction.version.0.cast_unsigned(),
            locktime: transaction.lock_time.to_consensus_u32(),
            vin: inputs.map(|(index, input)| EsploraInput::new(input, prevout(index), network)).collect(),
            vout: transaction.output.iter().map(|output| EsploraOutput::new(output, network)).collect(),
            size: transaction.total_size() as u32,
            weight: transaction.weight().to_wu(),
            fee: fee(transaction, prevouts),
            status,
        }
    }

    /// Renders a transaction that is not in a block; the caller knows the outputs that it spends.
    pub fn unconfirmed(transaction: &Transaction, prevouts: &[Option<TxOut>], network: Network) -> Self {
        Self::new(transaction, prevouts, TransactionStatus::UNCONFIRMED, network)
    }
}

/// What the inputs hold beyond the outputs, satoshis.
fn fee(transaction: &Transaction, prevouts: &[Option<TxOut>]) -> Option<u64> {
    if transaction.is_coinbase() {
        return Some(0);
    }
    if prevouts.len() != transaction.input.len() {
        return None;
    }
    let sum = |total: u64, output: &TxOut| total.checked_add(output.value.to_sat());
    let paid_in = prevouts.iter().try_fold(0, |total, prevout| sum(total, prevout.as_ref()?))?;
    let paid_out = transaction.output.iter().try_fold(0, sum)?;
    paid_in.checked_sub(paid_out)
}

impl EsploraInput {
    fn new(input: &TxIn, prevout: Option<&TxOut>, network: Network) -> Self {
        let is_coinbase = input.previous_output.is_null();
        let prevout = prevout.filter(|_| !is_coinbase);
        let redeem_script = prevout.and_then(|output| redeem_script(input, &output.script_pubkey));
        let witness_script = prevout
            .and_then(|output| witness_script(input, &output.script_pubkey, redeem_script.map(Script::from_bytes)));
        let witness: Vec<String> = input.witness.iter().map(DisplayHex::to_lower_hex_string).collect();
        let OutPoint { txid, vout } = input.previous_output;
        Self {
            txid,
            vout,
            prevout: prevout.map(|output| EsploraOutput::new(output, network)),
            scriptsig: input.script_sig.clone(),
            scriptsig_asm: input.script_sig.to_asm_string(),
            witness: (!witness.is_empty()).then_some(witness),
            is_coinbase,
            sequence: input.sequence,
            inner_redeemscript_asm: redeem_script.map(|script| Script::from_bytes(script).to_asm_string()),
            inner_witnessscript_asm: witness_script.map(|script| Script::from_bytes(script).to_asm_string()),
        }
    }
}

/// The last push of the unlocking script of a P2SH output.
fn redeem_script<'a>(input: &'a TxIn, spent: &Script) -> Option<&'a [u8]> {
    if !spent.is_p2sh() {
        return None;
    }
    match input.script_sig.instructions().last() {
        Some(Ok(Instruction::PushBytes(push))) => Some(push.as_bytes()),
        _ => None,
    }
}

/// The last witness item of a P2WSH output, plain or behind P2SH.
fn witness_script<'a>(input: &'a TxIn, spent: &Script, redeem_script: Option<&Script>) -> Option<&'a [u8]> {
    if spent.is_p2wsh() || redeem_script.is_some_and(Script::is_p2wsh) { input.witness.last() } else { None }
}

/// What spent an output, if something did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EsploraSpend {
    spent: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Hash>")]
    txid: Option<Txid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vin: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<TransactionStatus>,
}

impl EsploraSpend {
    /// Nothing spends the output.
    pub const UNSPENT: Self = Self { spent: false, txid: None, vin: None, status: None };

    /// Input `vin` of an unconfirmed transaction spends the output.
    pub(crate) fn unconfirmed(txid: Txid, vin: u32) -> Self {
        Self { spent: true, txid: Some(txid), vin: Some(vin), status: Some(TransactionStatus::UNCONFIRMED) }
    }
}

impl From<Spender> for EsploraSpend {
    fn from(Spender { txid, vin, confirmation }: Spender) -> Self {
        Self { spent: true, txid: Some(txid), vin: Some(vin), status: Some(confirmation.into()) }
    }
}

/// An unspent output of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct UnspentOutput {
    /// Transaction that pays it.
    pub txid: Txid,
    /// Index of the output.
    pub vout: u32,
    /// Where that transaction is confirmed.
    pub status: TransactionStatus,
    /// Satoshis.
    pub value: u64,
}

impl From<paraffin_bitcoin_index::UnspentOutput> for UnspentOutput {
    fn from(output: paraffin_bitcoin_index::UnspentOutput) -> Self {
        let OutPoint { txid, vout } = output.outpoint;
        Self { txid, vout, status: output.confirmation.into(), value: output.value }
    }
}

/// The branch of a block's Merkle tree that proves a transaction, in the form of the Electrum protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MerkleProof {
    block_height: Height,
    /// From the leaves to the root.
    merkle: Vec<TxMerkleNode>,
    /// Position of the transaction in the block.
    pos: u32,
}

impl From<paraffin_bitcoin_index::MerkleProof> for MerkleProof {
    fn from(proof: paraffin_bitcoin_index::MerkleProof) -> Self {
        Self { block_height: proof.height, merkle: proof.branch, pos: proof.index }
    }
}
