//! Random runestones, well-formed and not.

use bitcoin::ScriptBuf;
use bitcoin::opcodes::all::{OP_PUSHNUM_13, OP_RETURN, OP_VERIFY};
use bitcoin::script::Builder;
use ordinals::{Edict, Etching, Rune, RuneId, Runestone, Terms, varint};

use crate::envelopes::push;
use crate::random::Random;

/// The ids, names and outputs that a random runestone may refer to.
pub struct RunestoneContext<'a> {
    /// Ids of etchings, some of which may have failed.
    pub runes: &'a [RuneId],
    /// Names to which an input of the transaction commits.
    pub names: &'a [Rune],
    pub outputs: u32,
    pub height: u64,
}

pub fn random(random: &mut Random, context: &RunestoneContext<'_>) -> ScriptBuf {
    if random.chance(8) {
        return broken(random);
    }
    let mut runestone = Runestone::default();
    if !context.names.is_empty() && random.chance(85) || random.chance(6) {
        runestone.etching = Some(etching(random, context));
    }
    if random.chance(35) {
        runestone.mint = random.pick(context.runes).copied();
    }
    if random.chance(25) {
        runestone.pointer = Some(random.below(u64::from(context.outputs)) as u32);
    }
    let edicts = if random.chance(60) { random.below(5) } else { 0 };
    for _ in 0..edicts {
        let is_own = runestone.etching.is_some() && random.chance(40);
        let id = if is_own { Some(RuneId::default()) } else { random.pick(context.runes).copied() };
        let amount = amount(random);
        let output = random.below(u64::from(context.outputs) + 1) as u32;
        runestone.edicts.extend(id.map(|id| Edict { id, amount, output }));
    }
    let mut script = runestone.encipher();
    if random.chance(5) {
        // Unrecognized fields: an odd one is passed over, an even one makes a cenotaph.
        let mut payload = Vec::new();
        for number in [if random.chance(50) { 127 } else { 126 }, 1] {
            varint::encode_to_vec(number, &mut payload);
        }
        let mut whole = push(Builder::new().push_opcode(OP_RETURN).push_opcode(OP_PUSHNUM_13), &payload).into_bytes();
        whole.extend_from_slice(&script.as_bytes()[2..]);
        script = ScriptBuf::from_bytes(whole);
    }
    script
}

/// Cenotaphs: an opcode among the pushes, a varint cut short, an etching under an unknown flag.
fn broken(random: &mut Random) -> ScriptBuf {
    let begun = Builder::new().push_opcode(OP_RETURN).push_opcode(OP_PUSHNUM_13);
    match random.below(3) {
        0 => begun.push_opcode(OP_VERIFY).into_script(),
        1 => push(begun, &[0x80]).into_script(),
        _ => {
            let mut payload = Vec::new();
            for number in [2, 1 | 1 << 9, 4, u128::from(random.next()) << 40] {
                varint::encode_to_vec(number, &mut payload);
            }
            push(begun, &payload).into_script()
        }
    }
}

fn amount(random: &mut Random) -> u128 {
    match random.below(5) {
        0 => 0,
        1 => u128::from(random.next()) * u128::from(random.next()),
        2 => u128::from(random.below(1_000_000)),
        _ => u128::from(random.below(50)),
    }
}

fn etching(random: &mut Random, context: &RunestoneContext<'_>) -> Etching {
    let rune = if random.chance(90) { random.pick(context.names).copied() } else { None };
    let height = |random: &mut Random| random.chance(30).then(|| context.height.saturating_sub(3) + random.below(12));
    let offset = |random: &mut Random| random.chance(30).then(|| random.below(12));
    let is_huge = random.chance(10);
    let terms = random.chance(75).then(|| Terms {
        amount: random.chance(90).then(|| u128::from(random.below(1_000))),
        cap: random.chance(90).then(|| if is_huge { u128::MAX / 2_000 } else { u128::from(random.below(6)) }),
        height: (height(random), height(random)),
        offset: (offset(random), offset(random)),
    });
    Etching {
        divisibility: random.chance(50).then(|| random.below(39) as u8),
        premine: random.chance(60).then(|| if is_huge { u128::MAX / 3 } else { u128::from(random.below(5_000)) }),
        rune,
        spacers: random.chance(40).then(|| random.below(8) as u32),
        symbol: random.chance(50).then_some('\u{29c9}'),
        terms,
        turbo: random.chance(30),
    }
}
