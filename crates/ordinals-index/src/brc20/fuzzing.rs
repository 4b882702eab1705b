//! Readers of bytes from outside, for the fuzz targets.

use std::sync::Arc;

use bitcoin::{OutPoint, Script, Txid, hashes::Hash as _};
use bytes::Bytes;
use serde_json::Value;

use super::json::{Member, members};
use super::{MemoryLedger, Rules, apply_block};
use crate::event::{Destination, EnvelopeFields, EventKind, InscriptionEvent, InscriptionId};

const KEYS: [&str; 4] = ["p", "op", "tick", "amt"];

/// Reads bytes as the JSON of an inscription, and compares with `serde_json`. True for an object.
///
/// # Panics
/// The two disagree, but where `serde_json` of this build is known to read more than the reference does: numbers beyond the
/// range of a float.
pub fn json(bytes: &[u8]) -> bool {
    let read = members(bytes, &KEYS);
    let judged = match serde_json::from_slice::<Value>(bytes) {
        Ok(Value::Object(object)) => Some(KEYS.map(|key| match object.get(key) {
            None => Member::Absent,
            Some(Value::String(text)) => Member::Text(text.clone()),
            Some(_) => Member::Other,
        })),
        _ => None,
    };
    let may_be_wide = || {
        let is_long = bytes.windows(300).any(|window| window.iter().all(u8::is_ascii_digit));
        is_long || bytes.iter().any(|byte| matches!(byte, b'e' | b'E'))
    };
    // The library's own name for a number that it keeps as text.
    let is_marked = || bytes.windows(11).any(|window| window == b"$serde_json");
    let agree = read == judged || is_marked() || (read.is_none() && may_be_wide());
    assert!(agree, "{read:?} and {judged:?} of {}", String::from_utf8_lossy(bytes));
    read.is_some()
}

/// Applies a block with inscriptions of these bodies, and moves all of them.
///
/// # Panics
/// A rule of the ledger is broken.
pub fn block(bodies: &[&[u8]]) {
    let rules = Rules { first_hash: 0, first_event: 0, self_mint: 0, six_bytes: 0, swap_refund: None };
    let owner: Arc<Script> = Script::from_bytes(&[0x51]).into();
    let event = |number: usize, kind: EventKind| {
        let mut txid = [0; 32];
        txid[..8].copy_from_slice(&(number as u64).to_le_bytes());
        let txid = Txid::from_byte_array(txid);
        let destination =
            Destination::Output { outpoint: OutPoint { txid, vout: 0 }, offset: 0, script_pubkey: Arc::clone(&owner) };
        InscriptionEvent { txid, transaction_index: 0, id: InscriptionId { txid, index: 0 }, destination, kind }
    };
    let reveals = bodies.iter().enumerate().map(|(number, body)| {
        let first = event(0, EventKind::Moved { moves: 0 }).id;
        event(
            number,
            EventKind::Revealed {
                number: 0,
                is_vindicated: false,
                is_first_on_sat: true,
                parents: vec![first],
                envelope: Some(Box::new(EnvelopeFields {
                    body: Some(Bytes::copy_from_slice(body)),
                    content_type: Some(Bytes::from_static(b"text/plain")),
                    ..EnvelopeFields::default()
                })),
            },
        )
    });
    let moves = (0..bodies.len()).map(|number| event(number, EventKind::Moved { moves: 0 }));
    let events: Vec<_> = reveals.chain(moves).collect();
    let mut ledger = MemoryLedger::default();
    for height in [0, 3] {
        let happened = apply_block(&rules, height, &events, &mut ledger).expect("the ledger fits together");
        assert!(happened.len() <= events.len());
    }
    assert!(ledger.notes.is_empty(), "everything has moved");
    for (ticker, token) in &ledger.tokens {
        let owned = ledger.balances.values().filter_map(|tokens| tokens.get(ticker));
        let owned: u128 = owned
            .inspect(|balance| assert_eq!(balance.available, balance.overall))
            .map(|balance| balance.overall.0)
            .sum();
        assert_eq!(owned + token.burned.0, token.minted().0, "{ticker}");
    }
}
