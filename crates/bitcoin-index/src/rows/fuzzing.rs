//! The decoders of rows, opened for the fuzz targets. Each returns whether the bytes are a row; a valid one is encoded again
//! and must then have the same content.

use super::outpoint::Funding;
use super::{
    BlockRow, HistoryRow, ScriptTotals, UnspentRow, amount, decode_numbers, decode_spender, encode_spender, page,
    script, varint,
};
use super::{history_key, history_value, pack_script, spend_key, take_outpoint, unspent_key};

/// A row of table `blocks`.
///
/// # Panics
/// A row that is read differs once it is written again.
pub fn block(value: &[u8]) -> bool {
    let Ok(row) = BlockRow::decode(value) else { return false };
    assert_eq!(BlockRow::decode(&row.encode()), Ok(row));
    true
}

/// A row of table `script_totals`.
///
/// # Panics
/// As [`block`].
pub fn totals(value: &[u8]) -> bool {
    let Ok(totals) = ScriptTotals::decode(value) else { return false };
    assert_eq!(ScriptTotals::decode(&totals.encode()), Ok(totals));
    let _ = totals.balance();
    true
}

/// A row of table `history`; the key has 12 bytes.
///
/// # Panics
/// As [`block`].
pub fn history(key: &[u8], value: &[u8]) -> bool {
    let Ok(row) = HistoryRow::decode(key, value) else { return false };
    assert!(row.numbers().is_sorted_by(|left, right| left < right));
    assert!(row.numbers().len() <= value.len() + 1);
    let prefix: [u8; 8] = key[..8].try_into().expect("the key was read");
    let again = HistoryRow::decode(&history_key(prefix, row.numbers()[0]), &history_value(row.numbers()));
    assert_eq!(again.as_ref(), Ok(&row));
    true
}

/// A list of transaction numbers.
///
/// # Panics
/// Numbers come out that are not in the bytes.
pub fn numbers(value: &[u8]) -> bool {
    let Ok(numbers) = decode_numbers(value) else { return false };
    assert_eq!(numbers.flat_map(u32::to_be_bytes).collect::<Vec<_>>(), value);
    true
}

/// The end of a key of tables `spends` and `unspent`.
///
/// # Panics
/// As [`block`].
pub fn outpoint(key: &[u8]) -> bool {
    let Ok(funding) = take_outpoint(&mut &*key) else { return false };
    assert_eq!(take_outpoint(&mut spend_key(funding).as_slice()), Ok(funding));
    assert_eq!(take_outpoint(&mut &unspent_key(&[7; 32], funding)[32..]), Ok(funding));
    true
}

/// A row of table `unspent`.
///
/// # Panics
/// As [`block`].
pub fn unspent(value: &[u8]) -> bool {
    let Ok(row) = UnspentRow::decode(value) else { return false };
    assert_eq!(UnspentRow::decode(&row.encode()), Ok(row));
    true
}

/// A row of table `spends`.
///
/// # Panics
/// As [`block`].
pub fn spender(funding: u32, value: &[u8]) -> bool {
    let Ok(spender) = decode_spender(funding, value) else { return false };
    assert!(spender >= funding);
    assert_eq!(decode_spender(funding, &encode_spender(funding, spender)), Ok(spender));
    true
}

/// A row of table `transactions`; returns how many transactions could be read.
///
/// # Panics
/// The rows disagree with how the page reads them one by one, or promise more than their bytes hold.
pub fn page(number: u32, bytes: &[u8]) -> usize {
    let rows: Vec<_> = page::rows_of_page(number, bytes).map_while(Result::ok).collect();
    for row in &rows {
        assert_eq!(row.number / page::PAGE_TRANSACTIONS, number);
        let inputs: Vec<Option<Funding>> = row.inputs().collect();
        assert!(inputs.iter().flatten().all(|funding| funding.number < row.number));
        assert!(inputs.len() <= bytes.len());
        let outputs = row.outputs().count();
        assert!(outputs <= bytes.len());
        assert!(row.tx_out(u32::try_from(outputs).unwrap_or(u32::MAX)).is_none());
        for (_, packed) in row.outputs() {
            let script = packed.to_script();
            assert!(script.len() <= bytes.len() + 5);
            let _ = packed.is_unspendable();
        }
        let read = page::row_in_page(row.number, bytes).ok().flatten().expect("it was read a moment ago");
        assert_eq!((read.txid, read.height, read.offset), (row.txid, row.height, row.offset));
    }
    rows.len()
}

/// A packed script.
///
/// # Panics
/// As [`block`].
pub fn script(bytes: &[u8]) -> bool {
    let Ok(packed) = script::take_script(&mut &*bytes) else { return false };
    let plain = packed.to_script();
    let mut again = Vec::new();
    pack_script(&mut again, &plain);
    let unpacked = script::take_script(&mut again.as_slice()).map(script::PackedScript::to_script);
    assert_eq!(unpacked, Ok(plain));
    true
}

/// An amount, and a number.
///
/// # Panics
/// As [`block`].
pub fn amount(bytes: &[u8]) -> bool {
    let _ = varint::take_varint(&mut &*bytes);
    let _ = varint::take_ordered(&mut &*bytes);
    let Ok(satoshis) = amount::take_amount(&mut &*bytes) else { return false };
    let mut again = Vec::new();
    amount::put_amount(&mut again, satoshis);
    assert_eq!(amount::take_amount(&mut again.as_slice()), Ok(satoshis));
    true
}
