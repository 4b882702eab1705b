//! Etchings and their commitments (protocol B20).

use bitcoin::{Network, TxIn};
use ordinals::{Height, Rune};
use paraffin_primitives::AlkaneId;

use crate::codec::leaf_script;
use crate::protorune::Placed;
use crate::rows::Etching;
use crate::{Halt, StateKey, World};

/// Confirmations that a commitment needs, its own block counted (protocol B20).
const COMMIT_CONFIRMATIONS: u64 = 6;

/// Records an etching. Returns its id; `None` when it is ignored: the name is taken, not free yet, reserved or not
/// committed to.
pub(super) fn register(
    world: &mut World<'_>,
    placed: Placed<'_>,
    etching: &ordinals::Etching,
) -> Result<Option<AlkaneId>, Halt> {
    let rune = match etching.rune {
        Some(rune) if is_free(rune, world.height) && is_committed(world, placed, rune)? => rune,
        Some(_) => return Ok(None),
        None => Rune::reserved(world.height, placed.index),
    };
    let taken = StateKey::EtchedName(rune.0);
    if world.state.get(&taken)?.is_some_and(|id| !id.is_empty()) {
        return Ok(None);
    }
    let id = AlkaneId { block: u128::from(world.height), tx: u128::from(placed.index) };
    let terms = etching.terms.unwrap_or_default();
    let row = Etching {
        name: rune.0,
        divisibility: etching.divisibility.unwrap_or_default(),
        premine: etching.premine.unwrap_or_default(),
        spacers: etching.spacers.unwrap_or_default(),
        symbol: etching.symbol.unwrap_or('¤'),
        amount: terms.amount.unwrap_or_default(),
        cap: terms.cap.unwrap_or_default(),
        height_start: terms.height.0.unwrap_or_default(),
        height_end: terms.height.1.unwrap_or_default(),
        offset_start: terms.offset.0.unwrap_or_default(),
        offset_end: terms.offset.1.unwrap_or_default(),
    };
    let mut id_bytes = id.block.to_le_bytes().to_vec();
    id_bytes.extend_from_slice(&id.tx.to_le_bytes());
    world.state.put(taken, id_bytes);
    if let Some(cap) = terms.cap {
        world.state.put(StateKey::MintsRemaining(id), cap.to_le_bytes().to_vec());
    }
    world.state.put(StateKey::Etching(id), row.encode());
    Ok(Some(id))
}

/// Whether a name may be etched at a height. The reference counts by mainnet's schedule on every network.
fn is_free(rune: Rune, height: u64) -> bool {
    let height = Height(u32::try_from(height).unwrap_or(u32::MAX));
    rune >= Rune::minimum_at_height(Network::Bitcoin, height) && !rune.is_reserved()
}

/// Whether an input reveals a commitment to the name whose output is deep enough.
fn is_committed(world: &World<'_>, placed: Placed<'_>, rune: Rune) -> Result<bool, Halt> {
    let commitment = rune.commitment();
    for input in &placed.transaction.input {
        if pushes(input, &commitment) && confirmations(world, input)? >= COMMIT_CONFIRMATIONS {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the tapscript of an input pushes exactly these bytes, up to where the script breaks off.
fn pushes(input: &TxIn, bytes: &[u8]) -> bool {
    let Some(tapscript) = leaf_script(&input.witness) else { return false };
    let instructions = tapscript.instructions().map_while(Result::ok);
    instructions
        .filter_map(|instruction| instruction.push_bytes().map(|push| push.as_bytes() == bytes))
        .any(|same| same)
}

/// Confirmations of the output that an input spends. An output from before the first active block has none on record, and
/// its height counts as 0.
fn confirmations(world: &World<'_>, input: &TxIn) -> Result<u64, Halt> {
    let txid = input.previous_output.txid;
    let height = match world.state.reader().recent_height(&txid)? {
        Some(height) => height,
        None if world.block_txids().contains(&txid) => world.height,
        None => 0,
    };
    Ok(world.height.saturating_sub(height) + 1)
}
