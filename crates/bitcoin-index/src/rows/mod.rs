//! Codecs of every row, pure functions over bytes. A decoder answers [`RowError`] for bytes it did not write and never panics.

mod amount;
mod block;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod history;
mod outpoint;
mod page;
mod script;
mod totals;
mod varint;

pub(crate) use block::BlockRow;
pub(crate) use history::{HistoryRow, PrefixWidth, history_key, history_value};
pub(crate) use outpoint::{Funding, UnspentRow, decode_spender, encode_spender, spend_key, take_outpoint, unspent_key};
pub(crate) use page::{PAGE_TRANSACTIONS, PageWriter, TransactionRow, page_number, row_in_page};
pub(crate) use script::{PackedScript, is_unspendable, pack_script};
pub use totals::ScriptTotals;

use bitcoin::Txid;
use bitcoin::hashes::Hash as _;

/// A stored row does not have the form that this version writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct RowError(pub(crate) &'static str);

/// Splits the first `length` bytes off `input`.
fn take<'a>(input: &mut &'a [u8], length: usize) -> Result<&'a [u8], RowError> {
    let (head, tail) = input.split_at_checked(length).ok_or(RowError("the row ends too early"))?;
    *input = tail;
    Ok(head)
}

/// Splits a big-endian 32-bit number off `input`.
fn take_u32(input: &mut &[u8]) -> Result<u32, RowError> {
    let bytes = take(input, 4)?;
    Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

fn finished(input: &[u8]) -> Result<(), RowError> {
    if input.is_empty() { Ok(()) } else { Err(RowError("the row is too long")) }
}

/// Bytes of a txid in a key. Two txids that agree in so many take 2^72 tries.
const TXID_KEY_LEN: usize = 18;

/// Key of table `transaction_numbers`: the first bytes of a txid, wire order.
pub(crate) fn txid_key(txid: &Txid) -> [u8; TXID_KEY_LEN] {
    let mut key = [0; TXID_KEY_LEN];
    key.copy_from_slice(&txid.as_byte_array()[..TXID_KEY_LEN]);
    key
}

/// Transaction numbers of one txid, oldest first, 4 bytes big-endian each.
pub(crate) fn decode_numbers(value: &[u8]) -> Result<impl DoubleEndedIterator<Item = u32> + '_, RowError> {
    let (numbers, rest) = value.as_chunks::<4>();
    if numbers.is_empty() || !rest.is_empty() {
        return Err(RowError("a list of transaction numbers holds one or more numbers of 4 bytes"));
    }
    Ok(numbers.iter().map(|bytes| u32::from_be_bytes(*bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// For any bytes, a decoder returns a value or an error.
        #[test]
        fn no_decoder_panics_on_arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400), slot in 0u32..16) {
            let _ = decode_numbers(&bytes).map(Iterator::count);
            let _ = BlockRow::decode(&bytes);
            let _ = ScriptTotals::decode(&bytes);
            let _ = HistoryRow::decode(&bytes, &bytes).map(|row| row.numbers().len());
            let (key, value) = bytes.split_at(bytes.len().min(12));
            let _ = HistoryRow::decode(key, value).map(|row| row.numbers().len());
            let _ = take_outpoint(&mut bytes.as_slice());
            let _ = decode_spender(slot, &bytes);
            let _ = UnspentRow::decode(&bytes);
            let _ = page::rows_of_page(slot, &bytes).map(|row| row.map(|row| (row.inputs().count(), row.outputs().count()))).collect::<Vec<_>>();
            let _ = row_in_page(slot, &bytes).map(|row| row.map(|row| row.outputs().all(|(_, script)| script.to_script().is_empty())));
            let _ = script::take_script(&mut bytes.as_slice()).map(PackedScript::to_script);
            let _ = varint::take_varint(&mut bytes.as_slice());
            let _ = amount::take_amount(&mut bytes.as_slice());
        }
    }
}
