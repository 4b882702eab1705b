//! Which script an output pays, and what spends it. Both follow from the seed, the number of the transaction and that of the output.
//!
//! Scripts and witnesses have the lengths and the forms of real ones and arbitrary bytes: no reader checks a signature.

use super::random::{Random, mix};
use super::shape::Row;

const SCRIPTS: u64 = 1;
const KINDS: u64 = 2;
const BUSY: u64 = 3;
const REUSED: u64 = 4;
/// Levels of reuse: scripts are paid again within 512 transactions, within four times as many, and so on.
const LEVELS: u64 = 8;
/// Rows of busy scripts: the first gets a thirteenth of all their payments, the next two another, the next four, and so on.
const BUSY_OCTAVES: u64 = 13;

/// Forms of outputs that can be spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    PublicKey { long: bool },
    PublicKeyHash { long: bool },
    TwoOfTwo,
    TwoOfThree,
    Nested,
    WitnessPublicKeyHash,
    WitnessScriptHash,
    Taproot,
}

/// A script: its form, and where its bytes come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Script {
    pub(crate) kind: Kind,
    identity: u64,
}

impl Script {
    /// The script of output `vout` of transaction `number`, made under `row`, the one with number `row_number` of the table.
    pub(crate) fn of(seed: u64, row: &Row, row_number: u8, number: u32, vout: u16) -> Self {
        let place = u64::from(number) << 16 | u64::from(vout);
        let mut random = Random::new(seed, SCRIPTS, place);
        let drawn = random.below(1000);
        if drawn < u64::from(row.busy) {
            let octave = random.below(BUSY_OCTAVES);
            let rank = (1 << octave) - 1 + random.below(1 << octave);
            // Services change their scripts when witnesses come.
            let era = u64::from(row.has_witnesses());
            let identity = mix(seed ^ mix(BUSY << 56 | era << 48 | rank));
            let kind = match (era, Random::new(identity, KINDS, 0).below(20)) {
                (0, 0..=15) | (_, 0..=3) => Kind::PublicKeyHash { long: false },
                (0, _) => Kind::TwoOfThree,
                (_, 4..=8) => Kind::Nested,
                (_, 9..=10) => Kind::WitnessScriptHash,
                _ => Kind::WitnessPublicKeyHash,
            };
            return Self { kind, identity };
        }
        let identity = if drawn < u64::from(row.busy + row.fresh) {
            mix(seed ^ mix(place))
        } else {
            let level = random.below(LEVELS);
            let window = u64::from(number) >> (9 + 2 * level);
            let slot = random.below(1 << (4 + 2 * level));
            mix(seed
                ^ mix(REUSED << 56 | level << 48 | u64::from(row_number) << 40 | slot)
                ^ mix(window).rotate_left(17))
        };
        Self { kind: kind(row, identity), identity }
    }

    /// Appends the output script.
    pub(crate) fn write(self, bytes: &mut Vec<u8>) {
        let mut random = Random::new(self.identity, 0, 0);
        let (before, len, after): (&[u8], usize, &[u8]) = match self.kind {
            Kind::PublicKey { long: true } => (&[0x41, 0x04], 64, &[0xac]),
            Kind::PublicKey { long: false } => (&[0x21, 0x02], 32, &[0xac]),
            Kind::PublicKeyHash { .. } => (&[0x76, 0xa9, 0x14], 20, &[0x88, 0xac]),
            Kind::TwoOfTwo | Kind::TwoOfThree | Kind::Nested => (&[0xa9, 0x14], 20, &[0x87]),
            Kind::WitnessPublicKeyHash => (&[0x00, 0x14], 20, &[]),
            Kind::WitnessScriptHash => (&[0x00, 0x20], 32, &[]),
            Kind::Taproot => (&[0x51, 0x20], 32, &[]),
        };
        bytes.extend_from_slice(before);
        random.fill(bytes, len);
        bytes.extend_from_slice(after);
    }

    /// Length of the output script.
    pub(crate) const fn len(self) -> u8 {
        match self.kind {
            Kind::PublicKey { long: true } => 67,
            Kind::PublicKey { long: false } => 35,
            Kind::PublicKeyHash { .. } => 25,
            Kind::TwoOfTwo | Kind::TwoOfThree | Kind::Nested => 23,
            Kind::WitnessPublicKeyHash => 22,
            Kind::WitnessScriptHash | Kind::Taproot => 34,
        }
    }

    /// Appends the input script with its length to `script` and, where the form has one, the witness stack to `witness`.
    /// True when there is a witness.
    pub(crate) fn write_spend(self, random: &mut Random, script: &mut Vec<u8>, witness: &mut Vec<u8>) -> bool {
        // One signature in two has 71 bytes, the other 72.
        let signature = 71 + (random.next() & 1) as usize;
        let mut key = Random::new(self.identity, 0, 1);
        match self.kind {
            Kind::PublicKey { .. } => {
                script.push(signature as u8 + 1);
                push(random, script, signature);
            }
            Kind::PublicKeyHash { long } => {
                let len = if long { 65 } else { 33 };
                script.push((signature + 1 + len + 1) as u8);
                push(random, script, signature);
                push(&mut key, script, len);
            }
            Kind::TwoOfTwo => {
                // 0, two signatures, two keys of 33 bytes between three operators.
                script.push((1 + signature + 1 + 73 + 1 + 71) as u8);
                script.push(0);
                push(random, script, signature);
                push(random, script, 72);
                push(&mut key, script, 71);
            }
            Kind::TwoOfThree => {
                script.extend_from_slice(&[0xfd, (1 + signature + 1 + 73 + 2 + 105) as u8, 0]);
                script.push(0);
                push(random, script, signature);
                push(random, script, 72);
                script.push(0x4c);
                push(&mut key, script, 105);
            }
            Kind::Nested => {
                script.extend_from_slice(&[0x17, 0x16, 0x00, 0x14]);
                key.fill(script, 20);
            }
            Kind::WitnessPublicKeyHash | Kind::WitnessScriptHash | Kind::Taproot => script.push(0),
        }
        match self.kind {
            Kind::Nested | Kind::WitnessPublicKeyHash => {
                witness.push(2);
                push(random, witness, signature);
                push(&mut key, witness, 33);
            }
            Kind::WitnessScriptHash => {
                witness.extend_from_slice(&[4, 0]);
                push(random, witness, signature);
                push(random, witness, 72);
                push(&mut key, witness, 105);
            }
            Kind::Taproot => {
                witness.push(1);
                push(random, witness, 64);
            }
            _ => return false,
        }
        true
    }
}

/// A length below 128 and as many bytes.
fn push(random: &mut Random, bytes: &mut Vec<u8>, len: usize) {
    bytes.push(len as u8);
    random.fill(bytes, len);
}

/// The form of the script with `identity`, by the shares of `row`.
fn kind(row: &Row, identity: u64) -> Kind {
    let mut random = Random::new(identity, KINDS, 0);
    let mut drawn = random.below(1000) as u32;
    let mut number = 0;
    for (place, share) in row.kinds.iter().enumerate() {
        number = place;
        if drawn < *share {
            break;
        }
        drawn -= share;
    }
    match number {
        0 => Kind::PublicKey { long: random.thousandths(row.long_keys) },
        1 => Kind::PublicKeyHash { long: random.thousandths(row.long_keys) },
        2 if random.thousandths(row.nested) => Kind::Nested,
        2 if random.below(3) == 0 => Kind::TwoOfTwo,
        2 => Kind::TwoOfThree,
        3 => Kind::WitnessPublicKeyHash,
        4 => Kind::WitnessScriptHash,
        _ => Kind::Taproot,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use bitcoin::ScriptBuf;

    use super::*;
    use crate::large::shape::Shape;

    #[test]
    fn scripts_are_of_the_form_that_they_are_said_to_be() {
        let shape = Shape::committed(1_000).unwrap();
        let mut seen = HashMap::new();
        for height in [0, 300, 500, 700, 1_000] {
            let number = shape.at(height);
            for transaction in 0..3_000 {
                let script = Script::of(1, shape.row(number), number, transaction, 0);
                let mut bytes = Vec::new();
                script.write(&mut bytes);
                assert_eq!(bytes.len(), usize::from(script.len()));
                let bytes = ScriptBuf::from_bytes(bytes);
                assert!(match script.kind {
                    Kind::PublicKey { .. } => bytes.is_p2pk() || bytes.len() == 67 || bytes.len() == 35,
                    Kind::PublicKeyHash { .. } => bytes.is_p2pkh(),
                    Kind::TwoOfTwo | Kind::TwoOfThree | Kind::Nested => bytes.is_p2sh(),
                    Kind::WitnessPublicKeyHash => bytes.is_p2wpkh(),
                    Kind::WitnessScriptHash => bytes.is_p2wsh(),
                    Kind::Taproot => bytes.is_p2tr(),
                });
                *seen.entry(std::mem::discriminant(&script.kind)).or_insert(0) += 1;
            }
        }
        assert_eq!(seen.len(), 8, "{seen:?}");
    }

    #[test]
    fn scripts_are_reused_with_a_heavy_tail() {
        let shape = Shape::committed(1_000).unwrap();
        let number = shape.at(700);
        let row = shape.row(number);
        let mut counts: HashMap<Script, u32> = HashMap::new();
        for transaction in 0..200_000 {
            for vout in 0..2 {
                *counts.entry(Script::of(1, row, number, transaction, vout)).or_default() += 1;
            }
        }
        let largest = *counts.values().max().unwrap();
        // Busy scripts get 9 % of all payments and the first of them a thirteenth of that.
        assert!((2_000..4_000).contains(&largest), "{largest}");
        let distinct = crate::import::float(counts.len() as u64) / 400_000.0;
        // The widest windows of reuse are not full in so few transactions.
        assert!((0.40..0.56).contains(&distinct), "{distinct}");
    }
}
