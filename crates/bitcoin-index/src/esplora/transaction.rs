use bitcoin::hex::DisplayHex;
use bitcoin::script::Instruction;
use bitcoin::{BlockHash, OutPoint, Script, ScriptBuf, Sequence, Transaction, TxIn, TxMerkleNode, TxOut, Txid};
use paraffin_primitives::{Height, Network};
use serde::Serialize;

use super::EsploraOutput;

/// Whether and where a transaction is confirmed; the block members are absent while it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TransactionStatus {
    /// Whether the transaction is in the indexed chain.
    pub confirmed: bool,
    /// Height of its block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_height: Option<Height>,
    /// Hash of its block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_hash: Option<BlockHash>,
    /// Header time of its block, Unix seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_time: Option<u32>,
}

impl TransactionStatus {
    /// Not in the indexed chain.
    pub const UNCONFIRMED: Self = Self { confirmed: false, block_height: None, block_hash: None, block_time: None };

    /// In the block named.
    pub const fn confirmed(height: Height, hash: BlockHash, time: u32) -> Self {
        Self { confirmed: true, block_height: Some(height), block_hash: Some(hash), block_time: Some(time) }
    }
}

/// A whole transaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EsploraTransaction {
    /// Transaction id.
    pub txid: Txid,
    /// The four version bytes read as an unsigned number.
    pub version: u32,
    /// Lock time, a height or Unix seconds.
    pub locktime: u32,
    /// Inputs.
    pub vin: Vec<EsploraInput>,
    /// Outputs.
    pub vout: Vec<EsploraOutput>,
    /// Bytes of the consensus encoding.
    pub size: u32,
    /// Weight units (BIP141).
    pub weight: u64,
    /// Satoshis; 0 for a coinbase. Absent when an output that the transaction spends is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fee: Option<u64>,
    /// Where it is confirmed.
    pub status: TransactionStatus,
}

/// One input of a transaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EsploraInput {
    /// Transaction whose output is spent; zeros for a coinbase.
    pub txid: Txid,
    /// Index of the output; 4294967295 for a coinbase.
    pub vout: u32,
    /// The output itself; `null` for a coinbase, or when it is unknown.
    pub prevout: Option<EsploraOutput>,
    /// The unlocking script, in hexadecimal.
    pub scriptsig: ScriptBuf,
    /// The unlocking script as words.
    pub scriptsig_asm: String,
    /// Witness items in hexadecimal; absent when there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<Vec<String>>,
    /// Whether the input creates new coins.
    pub is_coinbase: bool,
    /// Sequence number.
    pub sequence: Sequence,
    /// The script behind a P2SH output, as words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inner_redeemscript_asm: Option<String>,
    /// The script behind a P2WSH output (plain or within P2SH), as words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inner_witnessscript_asm: Option<String>,
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

/// Whether and by what an output is spent; all but the flag is absent while it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct OutputSpend {
    /// Whether a transaction of the indexed chain spends the output.
    pub spent: bool,
    /// The spending transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub txid: Option<Txid>,
    /// Index of the spending input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vin: Option<u32>,
    /// Where the spending transaction is confirmed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<TransactionStatus>,
}

impl OutputSpend {
    /// Nothing spends the output.
    pub const UNSPENT: Self = Self { spent: false, txid: None, vin: None, status: None };
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

/// The branch of a block's Merkle tree that proves a transaction, in the form of the Electrum protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MerkleProof {
    /// Height of the block.
    pub block_height: Height,
    /// Sibling hashes from the leaves to the root, display order.
    pub merkle: Vec<TxMerkleNode>,
    /// Position of the transaction in the block.
    pub pos: u32,
}
