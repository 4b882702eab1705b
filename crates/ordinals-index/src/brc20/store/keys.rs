//! Keys of the tables.

use std::cell::RefCell;

use bitcoin::hashes::Hash as _;
use bitcoin::{Script, ScriptBuf, Txid};
use paraffin_primitives::Height;

use crate::brc20::amount::Amount;
use crate::brc20::hashes::digest;
use crate::brc20::ledger::LedgerError;
use crate::event::InscriptionId;

/// Bytes of a longer script that a key has before its digest. Every script that has an address is far shorter.
const SCRIPT_LEN_MAX: usize = 512;
/// After the last byte of a script that is whole, and of one that is cut. A zero inside is followed by `ff`.
const WHOLE: u8 = 0;
const CUT: u8 = 1;
const ZERO: u8 = 0xff;
/// No text begins with it.
const NO_TICKER: u8 = 0xff;

/// A script that is longer takes longer to digest than to compare.
const HUGE_SCRIPT_LEN: usize = 10_000;

thread_local! {
    static LAST_HUGE: RefCell<(Vec<u8>, [u8; 32])> = const { RefCell::new((Vec::new(), [0; 32])) };
}

fn damaged(what: &'static str) -> LedgerError {
    LedgerError::Damaged(what)
}

/// Whether a script's key ends with its digest, so that the script itself is in another table.
pub(crate) fn is_long(script: &Script) -> bool {
    script.len() > SCRIPT_LEN_MAX
}

/// SHA-256 of a script.
///
/// The digest of the last huge one is cached: a block may move thousands of inscriptions to one output, and every row of each move
/// names the output's script.
pub(crate) fn script_digest(script: &Script) -> [u8; 32] {
    if script.len() <= HUGE_SCRIPT_LEN {
        return digest(script.as_bytes());
    }
    LAST_HUGE.with_borrow_mut(|(last, cached)| {
        if last != script.as_bytes() {
            *cached = digest(script.as_bytes());
            *last = script.to_bytes();
        }
        *cached
    })
}

/// A script as part of a key.
pub(crate) fn script_part(script: &Script) -> Vec<u8> {
    let bytes = script.as_bytes();
    let shown = &bytes[..bytes.len().min(SCRIPT_LEN_MAX)];
    let mut part = Vec::with_capacity(shown.len() + 40);
    for &byte in shown {
        part.push(byte);
        if byte == 0 {
            part.push(ZERO);
        }
    }
    if is_long(script) {
        part.extend_from_slice(&[0, CUT]);
        part.extend_from_slice(&script_digest(script));
    } else {
        part.extend_from_slice(&[0, WHOLE]);
    }
    part
}

/// A script read from a key: itself, or its digest, the key of table `long_scripts`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ScriptName {
    Whole(ScriptBuf),
    Digest([u8; 32]),
}

/// Takes a script from the front of a key.
pub(crate) fn take_script(key: &mut &[u8]) -> Result<ScriptName, LedgerError> {
    let wrong = || damaged("a script in a key has no end");
    let mut script = Vec::new();
    loop {
        let (&byte, rest) = key.split_first().ok_or_else(wrong)?;
        *key = rest;
        if byte != 0 {
            script.push(byte);
            continue;
        }
        let (&mark, rest) = key.split_first().ok_or_else(wrong)?;
        *key = rest;
        match mark {
            ZERO => script.push(0),
            WHOLE => return Ok(ScriptName::Whole(ScriptBuf::from(script))),
            CUT => {
                let (digest, rest) = key.split_first_chunk::<32>().ok_or_else(wrong)?;
                *key = rest;
                return Ok(ScriptName::Digest(*digest));
            }
            _ => return Err(wrong()),
        }
    }
}

/// A ticker as part of a key that goes on. No ticker has a null byte, so a name with one gets a part that no row has; as it is
/// it would be the beginning of other tickers' rows.
pub(crate) fn ticker_part(ticker: &str) -> Vec<u8> {
    if ticker.contains('\0') {
        return vec![NO_TICKER];
    }
    let mut part = Vec::with_capacity(ticker.len() + 1);
    part.extend_from_slice(ticker.as_bytes());
    part.push(0);
    part
}

/// Takes what [`ticker_part`] wrote from the front of a key.
pub(crate) fn take_ticker(key: &mut &[u8]) -> Result<String, LedgerError> {
    let wrong = || damaged("a ticker in a key has no end");
    let end = key.iter().position(|byte| *byte == 0).ok_or_else(wrong)?;
    let (ticker, rest) = key.split_at(end);
    *key = &rest[1..];
    String::from_utf8(ticker.to_vec()).map_err(|_| damaged("a ticker in a key is no text"))
}

/// An inscription as part of a key.
pub(crate) fn id_part(id: InscriptionId) -> [u8; 36] {
    let mut part = [0; 36];
    part[..32].copy_from_slice(id.txid.as_byte_array());
    part[32..].copy_from_slice(&id.index.to_be_bytes());
    part
}

/// Takes an inscription from the front of a key.
pub(crate) fn take_id(key: &mut &[u8]) -> Result<InscriptionId, LedgerError> {
    let (part, rest) = key.split_first_chunk::<36>().ok_or_else(|| damaged("an inscription in a key is cut short"))?;
    *key = rest;
    let (txid, index) = part.split_at(32);
    let txid = Txid::from_slice(txid).map_err(|_| damaged("an inscription in a key is cut short"))?;
    let index = index.iter().fold(0, |index, byte| index << 8 | u32::from(*byte));
    Ok(InscriptionId { txid, index })
}

/// A height and the index of an event as the end of a key.
pub(crate) fn position_part(height: Height, index: u32) -> [u8; 8] {
    let mut part = [0; 8];
    part[..4].copy_from_slice(&height.to_be_bytes());
    part[4..].copy_from_slice(&index.to_be_bytes());
    part
}

/// The height and the index of an event at the end of a key.
pub(crate) fn position_of(key: &[u8]) -> Result<(Height, u32), LedgerError> {
    let end = key.last_chunk::<8>().ok_or_else(|| damaged("a key has no position"))?;
    let number = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte));
    Ok((number(&end[..4]), number(&end[4..])))
}

/// The rank of an amount: larger amounts sort first.
pub(crate) fn rank(amount: Amount) -> [u8; 16] {
    (!amount.0).to_be_bytes()
}

/// Takes what [`rank`] wrote from the front of a key.
pub(crate) fn take_rank(key: &mut &[u8]) -> Result<Amount, LedgerError> {
    let (rank, rest) = key.split_first_chunk::<16>().ok_or_else(|| damaged("a rank is cut short"))?;
    *key = rest;
    Ok(Amount(!u128::from_be_bytes(*rank)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            prop::collection::vec(prop_oneof![Just(0u8), Just(1), Just(0xff), any::<u8>()], 0..12),
            prop::collection::vec(any::<u8>(), 500..530),
        ]
    }

    proptest! {
        #[test]
        fn scripts_sort_in_keys_as_they_do_themselves(left in bytes(), right in bytes()) {
            let parts = [&left, &right].map(|script| script_part(Script::from_bytes(script)));
            prop_assert_eq!(left == right, parts[0] == parts[1]);
            // Where the end of a cut one is not their only difference.
            if left.iter().take(SCRIPT_LEN_MAX).ne(right.iter().take(SCRIPT_LEN_MAX)) {
                prop_assert_eq!(left.cmp(&right), parts[0].cmp(&parts[1]));
            }
            if left != right {
                prop_assert!(!parts[0].starts_with(&parts[1]));
            }
        }

        #[test]
        fn keys_read_as_they_were_written(script in bytes(), ticker in "[^\0]{0,6}", txid: [u8; 32], index: u32) {
            let script = ScriptBuf::from(script);
            let id = InscriptionId { txid: Txid::from_byte_array(txid), index };
            let key = [&script_part(&script)[..], &ticker_part(&ticker), &id_part(id), &position_part(7, index)].concat();
            let mut rest = key.as_slice();
            let name = if is_long(&script) {
                ScriptName::Digest(script_digest(&script))
            } else {
                ScriptName::Whole(script)
            };
            prop_assert_eq!(take_script(&mut rest).unwrap(), name);
            prop_assert_eq!(take_ticker(&mut rest).unwrap(), ticker);
            prop_assert_eq!(take_id(&mut rest).unwrap(), id);
            prop_assert_eq!(position_of(rest).unwrap(), (7, index));
        }

        #[test]
        fn larger_amounts_come_first(left: u128, right: u128) {
            prop_assert_eq!(rank(Amount(left)).cmp(&rank(Amount(right))), right.cmp(&left));
            prop_assert_eq!(take_rank(&mut &rank(Amount(left))[..]).unwrap(), Amount(left));
        }

        #[test]
        fn no_key_panics(key in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = (take_script(&mut key.as_slice()), take_ticker(&mut key.as_slice()));
            let _ = (take_id(&mut key.as_slice()), position_of(&key), take_rank(&mut key.as_slice()));
        }
    }
}
