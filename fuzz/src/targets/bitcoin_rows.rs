//! Rows of the Bitcoin index read from a damaged disk: decoded or refused, and a decoded row survives a round trip.

use paraffin_bitcoin_index::fuzzing as rows;

pub(crate) fn run(bytes: &[u8]) {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    match kind % 10 {
        0 => drop(rows::block(bytes)),
        1 => drop(rows::totals(bytes)),
        2 => {
            let (key, value) = bytes.split_at(bytes.len().min(12));
            rows::history(key, value);
            rows::history(bytes, bytes);
        }
        3 => drop(rows::numbers(bytes)),
        4 => drop(rows::outpoint(bytes)),
        5 => {
            if let Some((funding, value)) = bytes.split_first_chunk::<4>() {
                rows::spender(u32::from_be_bytes(*funding), value);
            }
        }
        6 => {
            if let Some((number, page)) = bytes.split_first_chunk::<4>() {
                rows::page(u32::from_be_bytes(*number), page);
            }
        }
        7 => drop(rows::script(bytes)),
        8 => drop(rows::unspent(bytes)),
        _ => drop(rows::amount(bytes)),
    }
}
