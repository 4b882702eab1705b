use bitcoin::hashes::Hash;
use bitcoin::opcodes::all::{OP_CHECKSIG, OP_PUSHBYTES_33};
use bitcoin::{PubkeyHash, Script, ScriptBuf, ScriptHash, WPubkeyHash, WScriptHash, WitnessProgram, WitnessVersion};

use super::varint::{put_varint, take_varint};
use super::{RowError, take};

/// Tags below [`LITERAL`] name a template and are followed by its hash or key; from there on, a tag is a length plus
/// [`LITERAL`] and the script's own bytes follow.
const P2PKH: u64 = 0;
const P2SH: u64 = 1;
const P2WPKH: u64 = 2;
const P2WSH: u64 = 3;
const P2TR: u64 = 4;
const P2PK_COMPRESSED: u64 = 5;
const LITERAL: u64 = 6;

/// Longest script that a transaction may execute, in bytes (consensus); a longer one can never be spent.
const EXECUTABLE_BYTES_MAX: usize = 10_000;

/// A script that no input can ever spend: it starts with `OP_RETURN` or is longer than consensus lets a script be.
/// Such outputs have no history and are in no UTXO set, as in Bitcoin Core's chain state.
pub(crate) fn is_unspendable(script: &Script) -> bool {
    script.is_op_return() || script.len() > EXECUTABLE_BYTES_MAX
}

/// Appends the packed form of `script`. Equal scripts have equal packed forms.
pub(crate) fn pack_script(output: &mut Vec<u8>, script: &Script) {
    let bytes = script.as_bytes();
    let (tag, body) = if script.is_p2pkh() {
        (P2PKH, &bytes[3..23])
    } else if script.is_p2sh() {
        (P2SH, &bytes[2..22])
    } else if script.is_p2wpkh() {
        (P2WPKH, &bytes[2..])
    } else if script.is_p2wsh() {
        (P2WSH, &bytes[2..])
    } else if script.is_p2tr() {
        (P2TR, &bytes[2..])
    } else if let [push, key @ .., check] = bytes
        && key.len() == 33
        && *push == OP_PUSHBYTES_33.to_u8()
        && *check == OP_CHECKSIG.to_u8()
    {
        (P2PK_COMPRESSED, key)
    } else {
        (LITERAL + bytes.len() as u64, bytes)
    };
    put_varint(output, tag);
    output.extend_from_slice(body);
}

/// A packed script inside a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PackedScript<'a> {
    packed: &'a [u8],
    tag: u64,
    body: &'a [u8],
}

pub(super) fn take_script<'a>(input: &mut &'a [u8]) -> Result<PackedScript<'a>, RowError> {
    let whole = *input;
    let tag = take_varint(input)?;
    let length = match tag {
        P2PKH | P2SH | P2WPKH => 20,
        P2WSH | P2TR => 32,
        P2PK_COMPRESSED => 33,
        _ => usize::try_from(tag - LITERAL).map_err(|_| RowError("a script is too long"))?,
    };
    let body = take(input, length)?;
    Ok(PackedScript { packed: &whole[..whole.len() - input.len()], tag, body })
}

impl<'a> PackedScript<'a> {
    /// The packed bytes, tag included.
    pub(crate) fn packed(&self) -> &'a [u8] {
        self.packed
    }

    /// The script as in the output.
    pub(crate) fn to_script(self) -> ScriptBuf {
        match (self.tag, self.body.first_chunk::<20>(), self.body.first_chunk::<32>()) {
            (P2PKH, Some(hash), _) => ScriptBuf::new_p2pkh(&PubkeyHash::from_byte_array(*hash)),
            (P2SH, Some(hash), _) => ScriptBuf::new_p2sh(&ScriptHash::from_byte_array(*hash)),
            (P2WPKH, Some(hash), _) => ScriptBuf::new_p2wpkh(&WPubkeyHash::from_byte_array(*hash)),
            (P2WSH, _, Some(hash)) => ScriptBuf::new_p2wsh(&WScriptHash::from_byte_array(*hash)),
            (P2TR, _, Some(key)) => ScriptBuf::new_witness_program(
                &WitnessProgram::new(WitnessVersion::V1, key).expect("version 1 takes programs of 2 to 40 bytes"),
            ),
            (P2PK_COMPRESSED, ..) => {
                let mut bytes = Vec::with_capacity(35);
                bytes.push(OP_PUSHBYTES_33.to_u8());
                bytes.extend_from_slice(self.body);
                bytes.push(OP_CHECKSIG.to_u8());
                ScriptBuf::from_bytes(bytes)
            }
            _ => ScriptBuf::from_bytes(self.body.to_vec()),
        }
    }

    pub(crate) fn is_unspendable(&self) -> bool {
        self.tag >= LITERAL && is_unspendable(Script::from_bytes(self.body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packed(script: &Script) -> Vec<u8> {
        let mut bytes = Vec::new();
        pack_script(&mut bytes, script);
        bytes
    }

    fn assert_round_trip(script: &Script) {
        let bytes = packed(script);
        let mut input = bytes.as_slice();
        let unpacked = take_script(&mut input).unwrap();
        assert_eq!(unpacked.to_script().as_script(), script);
        assert_eq!(unpacked.packed(), bytes);
        assert_eq!(unpacked.is_unspendable(), is_unspendable(script));
        assert!(input.is_empty());
    }

    /// Opcodes and lengths of the templates with a free middle, so that every neighbour of a template is met too.
    fn template_like() -> impl Strategy<Value = Vec<u8>> {
        let heads = prop_oneof![
            Just(vec![0x76, 0xa9, 0x14]),
            Just(vec![0xa9, 0x14]),
            Just(vec![0x00, 0x14]),
            Just(vec![0x00, 0x20]),
            Just(vec![0x51, 0x20]),
            Just(vec![0x21]),
            Just(vec![0x41]),
            Just(vec![0x6a]),
        ];
        let tails = prop_oneof![Just(vec![]), Just(vec![0x88, 0xac]), Just(vec![0x87]), Just(vec![0xac])];
        (
            heads,
            proptest::collection::vec(any::<u8>(), 18..36),
            prop_oneof![Just(20usize), Just(32), Just(33), 0..36usize],
            tails,
        )
            .prop_map(|(mut script, body, length, tail)| {
                script.extend(body.iter().copied().cycle().take(length));
                script.extend(tail);
                script
            })
    }

    proptest! {
        #[test]
        fn scripts_near_the_templates_round_trip(bytes in template_like()) {
            assert_round_trip(Script::from_bytes(&bytes));
        }

        #[test]
        fn any_script_round_trips(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            assert_round_trip(Script::from_bytes(&bytes));
        }
    }

    #[test]
    fn templates_take_their_hash_and_one_byte() {
        let hash = [7; 32];
        assert_eq!(packed(&ScriptBuf::new_p2wpkh(&WPubkeyHash::from_byte_array([7; 20]))).len(), 21);
        assert_eq!(packed(&ScriptBuf::new_p2wsh(&WScriptHash::from_byte_array(hash))).len(), 33);
        assert_eq!(packed(Script::from_bytes(&[&[0x51, 0x20][..], &hash].concat())).len(), 33);
    }

    #[test]
    fn op_return_and_scripts_beyond_ten_thousand_bytes_are_unspendable() {
        assert!(is_unspendable(Script::from_bytes(&[0x6a])));
        assert!(is_unspendable(Script::from_bytes(&vec![0x51; 10_001])));
        assert!(!is_unspendable(Script::from_bytes(&vec![0x51; 10_000])));
        assert!(!is_unspendable(Script::from_bytes(&[])));
        assert_round_trip(Script::from_bytes(&vec![0x51; 10_001]));
    }
}
