use bitcoin::hashes::Hash;
use bitcoin::{ScriptBuf, TxOut, Txid};

use super::amount::{put_amount, take_amount};
use super::outpoint::Funding;
use super::script::{PackedScript, pack_script, take_script};
use super::varint::{put_varint, take_varint_u32};
use super::{RowError, take};

/// Transactions per row of table `transactions`. A block starts a new row, so the last row of a block may hold fewer;
/// the numbers that it leaves unused name no transaction.
pub(crate) const PAGE_TRANSACTIONS: u32 = 8;

/// Row of table `transactions` that holds transaction `number`.
pub(crate) fn page_number(number: u32) -> u32 {
    number / PAGE_TRANSACTIONS
}

/// Builds one row of table `transactions`:
///
/// ```text
/// height | byte offset of the first transaction in its block | transaction 1..=8
/// transaction = txid (32) | size | witness size
///             | input count | inputs  = distance to the funding transaction's number, 0: unknown; else | output index
///             | output count | outputs = amount | packed script
/// ```
///
/// All numbers are varints. A coinbase has no inputs here.
#[derive(Debug, Default)]
pub(crate) struct PageWriter {
    bytes: Vec<u8>,
    transactions: u32,
}

impl PageWriter {
    /// Starts a row whose first transaction begins at `offset` of block `height`.
    pub(crate) fn start(&mut self, height: u32, offset: u32) {
        self.bytes.clear();
        self.transactions = 0;
        put_varint(&mut self.bytes, u64::from(height));
        put_varint(&mut self.bytes, u64::from(offset));
    }

    pub(crate) fn is_full(&self) -> bool {
        self.transactions == PAGE_TRANSACTIONS
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Adds transaction `number`; `inputs` are empty for a coinbase, and `None` stands for an unknown output.
    pub(crate) fn push(
        &mut self,
        number: u32,
        txid: Txid,
        size: u32,
        witness_size: u32,
        inputs: impl ExactSizeIterator<Item = Option<Funding>>,
        outputs: &[TxOut],
    ) {
        let bytes = &mut self.bytes;
        bytes.extend_from_slice(txid.as_byte_array());
        put_varint(bytes, u64::from(size));
        put_varint(bytes, u64::from(witness_size));
        put_varint(bytes, inputs.len() as u64);
        for input in inputs {
            match input {
                Some(funding) if funding.number < number => {
                    put_varint(bytes, u64::from(number - funding.number));
                    put_varint(bytes, u64::from(funding.vout));
                }
                _ => put_varint(bytes, 0),
            }
        }
        put_varint(bytes, outputs.len() as u64);
        for output in outputs {
            put_amount(bytes, output.value.to_sat());
            pack_script(bytes, &output.script_pubkey);
        }
        self.transactions += 1;
    }
}

/// One transaction as encoded in its row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TransactionRow<'a> {
    pub(crate) number: u32,
    pub(crate) txid: Txid,
    pub(crate) height: u32,
    /// Bytes from the start of the block's consensus encoding.
    pub(crate) offset: u32,
    /// Bytes of the consensus encoding.
    pub(crate) size: u32,
    /// Bytes of marker, flag and witnesses (BIP144).
    pub(crate) witness_size: u32,
    pub(crate) input_count: u32,
    pub(crate) output_count: u32,
    inputs: &'a [u8],
    outputs: &'a [u8],
}

/// What an input spends; `None` when that output was unknown to the index.
pub(crate) type InputRow = Option<Funding>;

impl<'a> TransactionRow<'a> {
    /// A coinbase is the only transaction without inputs here.
    pub(crate) fn is_coinbase(&self) -> bool {
        self.input_count == 0
    }

    pub(crate) fn inputs(&self) -> impl Iterator<Item = InputRow> + use<'a> {
        let (mut rest, number, mut left) = (self.inputs, self.number, self.input_count);
        std::iter::from_fn(move || {
            left = left.checked_sub(1)?;
            take_input(&mut rest, number).ok()
        })
    }

    /// Amount in satoshis and script of every output.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = (u64, PackedScript<'a>)> + use<'a> {
        let (mut rest, mut left) = (self.outputs, self.output_count);
        std::iter::from_fn(move || {
            left = left.checked_sub(1)?;
            take_output(&mut rest).ok()
        })
    }

    pub(crate) fn output(&self, vout: u32) -> Option<(u64, PackedScript<'a>)> {
        self.outputs().nth(usize::try_from(vout).ok()?)
    }

    pub(crate) fn tx_out(&self, vout: u32) -> Option<TxOut> {
        let (satoshis, script) = self.output(vout)?;
        Some(tx_out(satoshis, script.to_script()))
    }
}

fn tx_out(satoshis: u64, script_pubkey: ScriptBuf) -> TxOut {
    TxOut { value: bitcoin::Amount::from_sat(satoshis), script_pubkey }
}

fn take_input(rest: &mut &[u8], number: u32) -> Result<InputRow, RowError> {
    let distance = take_varint_u32(rest)?;
    if distance == 0 {
        return Ok(None);
    }
    let number = number.checked_sub(distance).ok_or(RowError("an input points before the first transaction"))?;
    Ok(Some(Funding { number, vout: take_varint_u32(rest)? }))
}

fn take_output<'a>(rest: &mut &'a [u8]) -> Result<(u64, PackedScript<'a>), RowError> {
    Ok((take_amount(rest)?, take_script(rest)?))
}

/// All transactions of row `page` of table `transactions`, in order. Ends after the first error.
pub(crate) fn rows_of_page(page: u32, bytes: &[u8]) -> impl Iterator<Item = Result<TransactionRow<'_>, RowError>> {
    let mut rest = bytes;
    let mut start = None;
    let mut slot = 0;
    let mut failed = false;
    std::iter::from_fn(move || {
        if failed || (start.is_some() && rest.is_empty()) {
            return None;
        }
        let row = take_transaction(&mut rest, &mut start, page, slot);
        slot += 1;
        failed = row.is_err();
        Some(row)
    })
}

fn take_transaction<'a>(
    rest: &mut &'a [u8],
    start: &mut Option<(u32, u32)>,
    page: u32,
    slot: u32,
) -> Result<TransactionRow<'a>, RowError> {
    let (height, offset) = match *start {
        Some(start) => start,
        None => (take_varint_u32(rest)?, take_varint_u32(rest)?),
    };
    let number = page
        .checked_mul(PAGE_TRANSACTIONS)
        .and_then(|first| first.checked_add(slot))
        .filter(|_| slot < PAGE_TRANSACTIONS)
        .ok_or(RowError("the page holds too many transactions"))?;
    let mut txid = [0; 32];
    txid.copy_from_slice(take(rest, 32)?);
    let size = take_varint_u32(rest)?;
    let witness_size = take_varint_u32(rest)?;
    let (input_count, inputs) = take_run(rest, |rest| take_input(rest, number).map(drop))?;
    let (output_count, outputs) = take_run(rest, |rest| take_output(rest).map(drop))?;
    *start = Some((height, offset.checked_add(size).ok_or(RowError("an offset exceeds 32 bits"))?));
    let txid = Txid::from_byte_array(txid);
    Ok(TransactionRow { number, txid, height, offset, size, witness_size, input_count, output_count, inputs, outputs })
}

/// A count and as many items; returns the count and the bytes of the items.
fn take_run<'a>(
    rest: &mut &'a [u8],
    mut item: impl FnMut(&mut &'a [u8]) -> Result<(), RowError>,
) -> Result<(u32, &'a [u8]), RowError> {
    let count = take_varint_u32(rest)?;
    let whole = *rest;
    for _ in 0..count {
        item(rest)?;
    }
    Ok((count, &whole[..whole.len() - rest.len()]))
}

/// Transaction `number` in the row that holds it; `None` when the row has no such transaction.
pub(crate) fn row_in_page(number: u32, bytes: &[u8]) -> Result<Option<TransactionRow<'_>>, RowError> {
    let slot = (number % PAGE_TRANSACTIONS) as usize;
    rows_of_page(page_number(number), bytes).nth(slot).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, Clone)]
    struct Sample {
        txid: [u8; 32],
        size: u32,
        witness_size: u32,
        inputs: Vec<(u32, u32, bool)>,
        outputs: Vec<(u64, Vec<u8>)>,
    }

    fn sample() -> impl Strategy<Value = Sample> {
        (
            any::<[u8; 32]>(),
            0u32..4_000_000,
            any::<u32>(),
            proptest::collection::vec((any::<u32>(), any::<u32>(), any::<bool>()), 0..6),
            proptest::collection::vec((any::<u64>(), proptest::collection::vec(any::<u8>(), 0..40)), 0..6),
        )
            .prop_map(|(txid, size, witness_size, inputs, outputs)| Sample {
                txid,
                size,
                witness_size,
                inputs,
                outputs,
            })
    }

    proptest! {
        #[test]
        fn pages_round_trip(page in 1u32..u32::MAX / 8, height: u32, offset in 0u32..1000, samples in proptest::collection::vec(sample(), 1..9)) {
            let first = page * PAGE_TRANSACTIONS;
            let mut writer = PageWriter::default();
            writer.start(height, offset);
            let mut expected_offset = offset;
            let mut expected = Vec::new();
            for (number, sample) in (first..).zip(&samples) {
                let inputs: Vec<InputRow> = sample.inputs.iter()
                    .map(|(funding, vout, known)| known.then_some(Funding { number: funding % number, vout: *vout })).collect();
                let outputs: Vec<TxOut> = sample.outputs.iter()
                    .map(|(value, script)| tx_out(*value, ScriptBuf::from_bytes(script.clone()))).collect();
                writer.push(number, Txid::from_byte_array(sample.txid), sample.size, sample.witness_size, inputs.iter().copied(), &outputs);
                expected.push((number, expected_offset, inputs, outputs));
                expected_offset += sample.size;
            }
            prop_assert_eq!(writer.is_full(), samples.len() == 8);
            prop_assert_eq!(rows_of_page(page, writer.bytes()).count(), samples.len());
            for ((number, offset, inputs, outputs), sample) in expected.iter().zip(&samples) {
                let row = row_in_page(*number, writer.bytes()).unwrap().unwrap();
                prop_assert_eq!((row.number, row.height, row.offset, row.size, row.witness_size), (*number, height, *offset, sample.size, sample.witness_size));
                prop_assert_eq!(row.txid.to_byte_array(), sample.txid);
                prop_assert_eq!(&row.inputs().collect::<Vec<_>>(), inputs);
                prop_assert_eq!(&row.outputs().map(|(value, script)| tx_out(value, script.to_script())).collect::<Vec<_>>(), outputs);
                prop_assert_eq!(row.tx_out(outputs.len() as u32), None);
            }
            let after = first + samples.len() as u32;
            if samples.len() < 8 {
                prop_assert!(row_in_page(after, writer.bytes()).unwrap().is_none());
            }
        }

        #[test]
        fn a_damaged_page_is_an_error_or_other_rows_but_never_a_panic(samples in proptest::collection::vec(sample(), 1..9), cut: usize, flip: (usize, u8)) {
            let mut writer = PageWriter::default();
            writer.start(1, 81);
            for (number, sample) in (8..).zip(&samples) {
                let outputs: Vec<TxOut> = sample.outputs.iter().map(|(value, script)| tx_out(*value, ScriptBuf::from_bytes(script.clone()))).collect();
                writer.push(number, Txid::from_byte_array(sample.txid), sample.size, 0, std::iter::empty(), &outputs);
            }
            let mut bytes = writer.bytes().to_vec();
            let position = flip.0 % bytes.len();
            bytes[position] ^= flip.1;
            bytes.truncate(cut % (bytes.len() + 1));
            for row in rows_of_page(1, &bytes).flatten() {
                let _ = (row.inputs().count(), row.outputs().map(|(_, script)| script.to_script().len()).sum::<usize>());
            }
        }
    }
}
