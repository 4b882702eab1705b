//! Scripts as text: assembly, type names and inferred descriptors, in Bitcoin Core's words.

use std::fmt::Write as _;

use bitcoin::ecdsa;
use bitcoin::hex::DisplayHex;
use bitcoin::opcodes::all::{OP_CHECKMULTISIG, OP_CHECKSIG, OP_RETURN};
use bitcoin::script::Instruction;
use bitcoin::{Address, Network, Script};
use serde_json::{Map, Value, json};

/// Names of the opcodes from 0x61 (`OP_NOP`) to 0xba (`OP_CHECKSIGADD`).
const OPCODE_NAMES: [&str; 90] = [
    "OP_NOP",
    "OP_VER",
    "OP_IF",
    "OP_NOTIF",
    "OP_VERIF",
    "OP_VERNOTIF",
    "OP_ELSE",
    "OP_ENDIF",
    "OP_VERIFY",
    "OP_RETURN",
    "OP_TOALTSTACK",
    "OP_FROMALTSTACK",
    "OP_2DROP",
    "OP_2DUP",
    "OP_3DUP",
    "OP_2OVER",
    "OP_2ROT",
    "OP_2SWAP",
    "OP_IFDUP",
    "OP_DEPTH",
    "OP_DROP",
    "OP_DUP",
    "OP_NIP",
    "OP_OVER",
    "OP_PICK",
    "OP_ROLL",
    "OP_ROT",
    "OP_SWAP",
    "OP_TUCK",
    "OP_CAT",
    "OP_SUBSTR",
    "OP_LEFT",
    "OP_RIGHT",
    "OP_SIZE",
    "OP_INVERT",
    "OP_AND",
    "OP_OR",
    "OP_XOR",
    "OP_EQUAL",
    "OP_EQUALVERIFY",
    "OP_RESERVED1",
    "OP_RESERVED2",
    "OP_1ADD",
    "OP_1SUB",
    "OP_2MUL",
    "OP_2DIV",
    "OP_NEGATE",
    "OP_ABS",
    "OP_NOT",
    "OP_0NOTEQUAL",
    "OP_ADD",
    "OP_SUB",
    "OP_MUL",
    "OP_DIV",
    "OP_MOD",
    "OP_LSHIFT",
    "OP_RSHIFT",
    "OP_BOOLAND",
    "OP_BOOLOR",
    "OP_NUMEQUAL",
    "OP_NUMEQUALVERIFY",
    "OP_NUMNOTEQUAL",
    "OP_LESSTHAN",
    "OP_GREATERTHAN",
    "OP_LESSTHANOREQUAL",
    "OP_GREATERTHANOREQUAL",
    "OP_MIN",
    "OP_MAX",
    "OP_WITHIN",
    "OP_RIPEMD160",
    "OP_SHA1",
    "OP_SHA256",
    "OP_HASH160",
    "OP_HASH256",
    "OP_CODESEPARATOR",
    "OP_CHECKSIG",
    "OP_CHECKSIGVERIFY",
    "OP_CHECKMULTISIG",
    "OP_CHECKMULTISIGVERIFY",
    "OP_NOP1",
    "OP_CHECKLOCKTIMEVERIFY",
    "OP_CHECKSEQUENCEVERIFY",
    "OP_NOP4",
    "OP_NOP5",
    "OP_NOP6",
    "OP_NOP7",
    "OP_NOP8",
    "OP_NOP9",
    "OP_NOP10",
    "OP_CHECKSIGADD",
];

fn opcode_name(code: u8) -> String {
    match code {
        0x4f => "-1".to_owned(),
        0x50 => "OP_RESERVED".to_owned(),
        0x51..=0x60 => (code - 0x50).to_string(),
        0xff => "OP_INVALIDOPCODE".to_owned(),
        _ => code
            .checked_sub(0x61)
            .and_then(|index| OPCODE_NAMES.get(usize::from(index)))
            .map_or_else(|| "OP_UNKNOWN".to_owned(), |name| (*name).to_owned()),
    }
}

/// A push of at most four bytes is shown as the number that it stands for.
fn script_number(bytes: &[u8]) -> i64 {
    let Some((last, _)) = bytes.split_last() else { return 0 };
    let magnitude = bytes.iter().rev().fold(0_i64, |value, byte| (value << 8) | i64::from(*byte));
    let sign_bit = 0x80_i64 << (8 * (bytes.len() - 1));
    if last & 0x80 == 0 { magnitude } else { -(magnitude & !sign_bit) }
}

/// The name of the sighash type if `bytes` is a signature with a defined one.
fn sighash_name(bytes: &[u8]) -> Option<&'static str> {
    let name = match bytes.last()? {
        0x01 => "ALL",
        0x02 => "NONE",
        0x03 => "SINGLE",
        0x81 => "ALL|ANYONECANPAY",
        0x82 => "NONE|ANYONECANPAY",
        0x83 => "SINGLE|ANYONECANPAY",
        _ => return None,
    };
    (bytes.len() >= 9 && ecdsa::Signature::from_slice(bytes).is_ok()).then_some(name)
}

/// The assembly of a script. `signatures`: pushes that are signatures are shown with the name of their sighash type,
/// as in the scripts of inputs.
pub(crate) fn asm(script: &Script, signatures: bool) -> String {
    let mut text = String::new();
    for instruction in script.instructions() {
        if !text.is_empty() {
            text.push(' ');
        }
        match instruction {
            Err(_) => {
                text.push_str("[error]");
                break;
            }
            Ok(Instruction::PushBytes(bytes)) if bytes.len() <= 4 => {
                let _ = write!(text, "{}", script_number(bytes.as_bytes()));
            }
            Ok(Instruction::PushBytes(bytes)) => {
                let bytes = bytes.as_bytes();
                match sighash_name(bytes).filter(|_| signatures && !script.is_op_return()) {
                    Some(name) => {
                        let _ = write!(text, "{:x}[{name}]", bytes[..bytes.len() - 1].as_hex());
                    }
                    None => {
                        let _ = write!(text, "{:x}", bytes.as_hex());
                    }
                }
            }
            Ok(Instruction::Op(op)) => text.push_str(&opcode_name(op.to_u8())),
        }
    }
    text
}

/// The type of a script, if it has a standard form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ScriptForm {
    PublicKey(Vec<u8>),
    PublicKeyHash,
    ScriptHash,
    MultiSignature { required: u8, keys: Vec<Vec<u8>> },
    NullData,
    WitnessKeyHash,
    WitnessScriptHash,
    Taproot,
    Anchor,
    WitnessUnknown,
    NonStandard,
}

impl ScriptForm {
    pub(crate) fn of(script: &Script) -> Self {
        let bytes = script.as_bytes();
        if script.is_p2sh() {
            return Self::ScriptHash;
        }
        if let Some(version) = script.witness_version() {
            return match (version.to_num(), bytes.len() - 2) {
                (0, 20) => Self::WitnessKeyHash,
                (0, 32) => Self::WitnessScriptHash,
                (0, _) => Self::NonStandard,
                (1, 32) => Self::Taproot,
                (1, 2) if bytes[2..] == [0x4e, 0x73] => Self::Anchor,
                _ => Self::WitnessUnknown,
            };
        }
        if bytes.first() == Some(&OP_RETURN.to_u8()) && Script::from_bytes(&bytes[1..]).is_push_only() {
            return Self::NullData;
        }
        if script.is_p2pkh() {
            return Self::PublicKeyHash;
        }
        if let [length, key @ .., last] = bytes
            && usize::from(*length) == key.len()
            && *last == OP_CHECKSIG.to_u8()
            && is_public_key(key)
        {
            return Self::PublicKey(key.to_vec());
        }
        multi_signature(script).unwrap_or(Self::NonStandard)
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::PublicKey(_) => "pubkey",
            Self::PublicKeyHash => "pubkeyhash",
            Self::ScriptHash => "scripthash",
            Self::MultiSignature { .. } => "multisig",
            Self::NullData => "nulldata",
            Self::WitnessKeyHash => "witness_v0_keyhash",
            Self::WitnessScriptHash => "witness_v0_scripthash",
            Self::Taproot => "witness_v1_taproot",
            Self::Anchor => "anchor",
            Self::WitnessUnknown => "witness_unknown",
            Self::NonStandard => "nonstandard",
        }
    }
}

fn is_public_key(key: &[u8]) -> bool {
    matches!((key.len(), key.first()), (33, Some(2 | 3)) | (65, Some(4 | 6 | 7)))
}

fn multi_signature(script: &Script) -> Option<ScriptForm> {
    const NUMBER_1: u8 = 0x51;
    const NUMBER_16: u8 = 0x60;
    let number = |instruction: &Instruction<'_>| match instruction {
        Instruction::Op(op) if (NUMBER_1..=NUMBER_16).contains(&op.to_u8()) => Some(op.to_u8() - NUMBER_1 + 1),
        _ => None,
    };
    let instructions: Vec<Instruction<'_>> = script.instructions().collect::<Result<_, _>>().ok()?;
    let [first, keys @ .., count, last] = instructions.as_slice() else { return None };
    if *last != Instruction::Op(OP_CHECKMULTISIG) {
        return None;
    }
    let (required, count) = (number(first)?, number(count)?);
    let keys: Vec<Vec<u8>> = keys
        .iter()
        .map(|key| key.push_bytes().map(|bytes| bytes.as_bytes().to_vec()).filter(|key| is_public_key(key)))
        .collect::<Option<_>>()?;
    (keys.len() == usize::from(count) && required <= count).then_some(ScriptForm::MultiSignature { required, keys })
}

/// The descriptor that can be derived from the script alone, with its checksum.
pub(crate) fn descriptor(script: &Script) -> String {
    let raw = || format!("raw({:x})", script.as_bytes().as_hex());
    let body = match ScriptForm::of(script) {
        ScriptForm::PublicKey(key) => format!("pk({:x})", key.as_hex()),
        ref form @ ScriptForm::MultiSignature { ref keys, .. } if keys.len() <= 3 => {
            multi_descriptor(form).unwrap_or_else(raw)
        }
        ScriptForm::Taproot if bitcoin::XOnlyPublicKey::from_slice(&script.as_bytes()[2..]).is_ok() => {
            format!("rawtr({:x})", script.as_bytes()[2..].as_hex())
        }
        _ => {
            Address::from_script(script, Network::Regtest).map_or_else(|_| raw(), |address| format!("addr({address})"))
        }
    };
    with_checksum(body)
}

/// The `multi(…)` expression of a bare multi-signature script.
pub(crate) fn multi_descriptor(form: &ScriptForm) -> Option<String> {
    let ScriptForm::MultiSignature { required, keys } = form else { return None };
    let keys: Vec<String> = keys.iter().map(DisplayHex::to_lower_hex_string).collect();
    Some(format!("multi({required},{})", keys.join(",")))
}

/// A descriptor followed by its checksum.
pub(crate) fn with_checksum(descriptor: String) -> String {
    match descriptor_checksum(&descriptor) {
        Some(checksum) => format!("{descriptor}#{checksum}"),
        None => descriptor,
    }
}

/// The eight characters that follow `#` in a descriptor (BIP380); `None` if the text holds a character that no
/// descriptor may hold.
pub(crate) fn descriptor_checksum(descriptor: &str) -> Option<String> {
    const INPUT: &str =
        "0123456789()[],'/*abcdefgh@:$%{}IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~ijklmnopqrstuvwxyzABCDEFGH`#\"\\ ";
    const CHECKSUM: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";
    const GENERATOR: [u64; 5] =
        [0x00f5_dee5_1989, 0x00a9_fdca_3312, 0x001b_ab10_e32d, 0x0037_06b1_677a, 0x0064_4d62_6ffd];
    fn step(state: u64, value: u64) -> u64 {
        let top = state >> 35;
        let shifted = ((state & 0x7_ffff_ffff) << 5) ^ value;
        (0..)
            .zip(GENERATOR)
            .fold(shifted, |state, (bit, term)| if (top >> bit) & 1 == 1 { state ^ term } else { state })
    }
    let (mut state, mut group, mut count) = (1_u64, 0_u64, 0);
    for character in descriptor.chars() {
        let position = INPUT.find(character)? as u64;
        state = step(state, position & 31);
        group = group * 3 + (position >> 5);
        count += 1;
        if count == 3 {
            state = step(state, group);
            (group, count) = (0, 0);
        }
    }
    if count > 0 {
        state = step(state, group);
    }
    state = (0..8).fold(state, |state, _| step(state, 0)) ^ 1;
    Some((0..8).map(|index| char::from(CHECKSUM[((state >> (5 * (7 - index))) & 31) as usize])).collect())
}

/// The `scriptPubKey` object of an output.
pub(crate) fn script_json(script: &Script, hex: bool) -> Map<String, Value> {
    let form = ScriptForm::of(script);
    let mut object = Map::new();
    object.insert("asm".to_owned(), json!(asm(script, false)));
    object.insert("desc".to_owned(), json!(descriptor(script)));
    if hex {
        object.insert("hex".to_owned(), json!(script.to_hex_string()));
    }
    if let Ok(address) = Address::from_script(script, Network::Regtest) {
        object.insert("address".to_owned(), json!(address.to_string()));
    }
    object.insert("type".to_owned(), json!(form.name()));
    object
}

#[cfg(test)]
mod tests {
    use bitcoin::ScriptBuf;

    use super::*;

    fn check(hex: &str, expected_asm: &str, expected_type: &str) {
        let script = ScriptBuf::from_hex(hex).unwrap();
        assert_eq!(asm(&script, false), expected_asm);
        assert_eq!(ScriptForm::of(&script).name(), expected_type);
    }

    #[test]
    fn scripts_are_named_and_spelled_as_core_does() {
        check("", "", "nonstandard");
        check("00", "0", "nonstandard");
        check("51", "1", "nonstandard");
        check("4f", "-1", "nonstandard");
        check("6a0568656c6c6f", "OP_RETURN 68656c6c6f", "nulldata");
        check("6a0101", "OP_RETURN 1", "nulldata");
        check("6a0181", "OP_RETURN -1", "nulldata");
        check("6a02ff7f", "OP_RETURN 32767", "nulldata");
        check("6a05", "OP_RETURN [error]", "nonstandard");
        check(
            "0014000102030405060708090a0b0c0d0e0f10111213",
            "0 000102030405060708090a0b0c0d0e0f10111213",
            "witness_v0_keyhash",
        );
        check("51024e73", "1 29518", "anchor");
        check("5102aabb", "1 -15274", "witness_unknown");
        check("00020102", "0 513", "nonstandard");
        check("b1b2baba", "OP_CHECKLOCKTIMEVERIFY OP_CHECKSEQUENCEVERIFY OP_CHECKSIGADD OP_CHECKSIGADD", "nonstandard");
        check("fe", "OP_UNKNOWN", "nonstandard");
        let key = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
        check(&format!("21{key}ac"), &format!("{key} OP_CHECKSIG"), "pubkey");
        check(&format!("5121{key}51ae"), &format!("1 {key} 1 OP_CHECKMULTISIG"), "multisig");
        check(&format!("5221{key}51ae"), &format!("2 {key} 1 OP_CHECKMULTISIG"), "nonstandard");
    }

    #[test]
    fn descriptor_checksums_follow_bip380() {
        assert_eq!(descriptor_checksum("raw(deadbeef)").as_deref(), Some("89f8spxm"));
        assert_eq!(descriptor_checksum("raw(deadbeef\u{e9})"), None);
    }
}
