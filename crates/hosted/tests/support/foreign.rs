//! Effects in the layout of the alkanes indexer program: a second reading of protocol B15 to B17, which shares nothing with the
//! translation but the protocol.

use std::collections::BTreeMap;

use bitcoin::OutPoint;
use bitcoin::consensus::serialize;
use paraffin_alkanes::views::trace_to_proto;
use paraffin_alkanes::{BlockEffects, SavedSheet, StateKey};
use paraffin_hosted::Flush;
use paraffin_primitives::{AlkaneId, Height};
use prost::Message as _;

/// An id in 32 bytes.
fn id32(id: &AlkaneId) -> Vec<u8> {
    [id.block.to_le_bytes(), id.tx.to_le_bytes()].concat()
}

fn key(pieces: &[&[u8]]) -> Vec<u8> {
    pieces.concat()
}

/// The flush of a block with these effects.
pub(crate) fn encode(height: Height, effects: &BlockEffects) -> Flush {
    let mut pairs = BTreeMap::new();
    let at = u64::from(height).to_le_bytes();
    for (index, (state, value)) in effects.writes.iter().enumerate() {
        match state {
            StateKey::SeenGenesis => _ = pairs.insert(b"/seen-genesis".to_vec(), value.clone()),
            StateKey::Sequence => _ = pairs.insert(b"/alkanes/sequence".to_vec(), value.clone()),
            // Of a built-in the program keeps compressed bytes of its own; they are never read.
            StateKey::Code(id) if value == &[1] => {
                pairs.insert(key(&[b"/alkanes/", &id32(id)]), b"\x1f\x8bmark".to_vec());
            }
            StateKey::Code(id) => _ = pairs.insert(key(&[b"/alkanes/", &id32(id)]), value.clone()),
            StateKey::Storage(id, name) => {
                pairs.insert(key(&[b"/alkanes/", &id32(id), b"/storage/", name]), value.clone());
            }
            StateKey::Balance { what, who } => {
                pairs.insert(key(&[b"/alkanes/", &id32(what), b"/balances/", &id32(who)]), value.clone());
            }
            StateKey::Inventory { who, what } => {
                // The program appends at every touch; the number of an entry has no meaning.
                let list = key(&[b"/alkanes/", &id32(who), b"/inventory/"]);
                pairs.insert(key(&[&list, format!("/{}", index + 40).as_bytes()]), id32(what));
                pairs.insert(key(&[&list, b"/length"]), 999u32.to_le_bytes().to_vec());
            }
            StateKey::Deployment(id) => {
                pairs.insert(key(&[b"/alkanes_id_to_outpoint/", &id32(id)]), value.clone());
            }
            StateKey::Sheet(outpoint) => {
                let is_new = effects.funded.contains(outpoint);
                sheet(&mut pairs, b"/runes/proto/1/byoutpoint/", outpoint, value, is_new);
            }
            StateKey::BaseSheet(outpoint) => sheet(&mut pairs, b"/runes/byoutpoint/", outpoint, value, true),
            StateKey::Runtime(id) => {
                let runtime = b"/runes/proto/1/runtime/balance";
                pairs.insert(key(&[runtime, b"/id_to_balance", &id32(id)]), value.clone());
                pairs.insert(key(&[runtime, b"/runes/3"]), id32(id));
                pairs.insert(key(&[runtime, b"/balances/length"]), 4u32.to_le_bytes().to_vec());
            }
            StateKey::FirstSeen(id) => {
                let index = u32::from_le_bytes(value[8..].try_into().unwrap());
                let entry = format!("/{index}");
                pairs.insert(key(&[b"/runes/proto/1/byheight/", &at, entry.as_bytes()]), id32(id));
                pairs.insert(key(&[b"/runes/proto/1/initialized/", &id32(id)]), vec![1]);
            }
            StateKey::Etching(id) => _ = pairs.insert(key(&[b"/etching/byruneid/", &id32(id)]), b"NAME".to_vec()),
            StateKey::EtchedName(name) => {
                pairs.insert(key(&[b"/runeid/byetching/", &name.to_le_bytes()]), vec![0; 32]);
            }
            StateKey::MintsRemaining(id) => {
                pairs.insert(key(&[b"/runes/mints-remaining/", &id32(id)]), value.clone());
            }
            StateKey::PendingPayments => {
                pairs.insert(b"/__INTERNAL/pending_unwraps/length".to_vec(), vec![0; 4]);
            }
        }
    }
    for (index, (outpoint, trace)) in effects.traces.iter().enumerate() {
        let op36 = serialize(outpoint);
        pairs.insert(key(&[b"/trace/", &op36]), trace_to_proto(trace).encode_to_vec());
        pairs.insert(key(&[b"/trace/", &at, format!("/{index}").as_bytes()]), op36);
        pairs.insert(key(&[b"/trace/", &at, b"/length"]), (index as u32 + 1).to_le_bytes().to_vec());
    }
    // Further keys of every block.
    pairs.insert(key(&[b"/blockdata/", &height.to_le_bytes()]), vec![0; 100]);
    pairs.insert(key(&[b"/txids/byheight", &at, b"/0"]), vec![1; 32]);
    pairs.insert(key(&[b"/blockhash/byheight/", &at]), vec![2; 32]);
    Flush { pairs }
}

/// A sheet as its lists; an entry that was not touched is written all the same, because the value is the same.
fn sheet(pairs: &mut BTreeMap<Vec<u8>, Vec<u8>>, prefix: &[u8], outpoint: &OutPoint, value: &[u8], is_new: bool) {
    let list = key(&[prefix, &serialize(outpoint)]);
    let saved = SavedSheet::decode(value).unwrap();
    for (index, (id, amount)) in saved.entries.iter().enumerate() {
        let entry = format!("/{index}");
        // A sheet that is cleared writes amounts alone; the ids of an older block stay.
        if is_new || *amount > 0 {
            pairs.insert(key(&[&list, b"/runes", entry.as_bytes()]), id32(id));
        }
        pairs.insert(key(&[&list, b"/balances", entry.as_bytes()]), amount.to_le_bytes().to_vec());
        pairs.insert(key(&[&list, b"/id_to_balance", &id32(id)]), amount.to_le_bytes().to_vec());
    }
    let length = (saved.entries.len() as u32).to_le_bytes();
    pairs.insert(key(&[&list, b"/runes/length"]), length.to_vec());
    pairs.insert(key(&[&list, b"/balances/length"]), length.to_vec());
}
