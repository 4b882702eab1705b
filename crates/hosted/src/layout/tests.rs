use std::collections::HashMap;

use bitcoin::absolute::LockTime;
use bitcoin::block::{Header, Version};
use bitcoin::hashes::Hash as _;
use bitcoin::{Block, BlockHash, CompactTarget, Transaction, TxMerkleNode, Txid, transaction};
use proptest::prelude::*;

use super::*;

struct State(HashMap<StateKey, Vec<u8>>);

impl StateReader for State {
    fn get(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        Ok(self.0.get(key).cloned())
    }
}

const TOKEN: AlkaneId = AlkaneId { block: 2, tx: 7 };
const OTHER: AlkaneId = AlkaneId { block: 4, tx: 1 };

fn id32(id: AlkaneId) -> Vec<u8> {
    [id.block.to_le_bytes(), id.tx.to_le_bytes()].concat()
}

/// A block with one transaction, at height 9.
fn block() -> ConnectedBlock {
    let transaction =
        Transaction { version: transaction::Version::TWO, lock_time: LockTime::ZERO, input: vec![], output: vec![] };
    let header = Header {
        version: Version::ONE,
        prev_blockhash: BlockHash::all_zeros(),
        merkle_root: TxMerkleNode::all_zeros(),
        time: 0,
        bits: CompactTarget::from_consensus(0),
        nonce: 0,
    };
    ConnectedBlock::new(9, Block { header, txdata: vec![transaction] })
}

fn outpoint(vout: u32) -> OutPoint {
    OutPoint { txid: block().txids[0], vout }
}

fn translated(pairs: &[(Vec<u8>, Vec<u8>)], before: &State) -> Result<Translated, LayoutError> {
    translate(&Flush { pairs: pairs.iter().cloned().collect() }, &block(), before)
}

fn sheet_key(outpoint: OutPoint, rest: &str) -> Vec<u8> {
    [b"/runes/proto/1/byoutpoint/", &bitcoin::consensus::serialize(&outpoint)[..], rest.as_bytes()].concat()
}

#[test]
fn a_sheet_is_the_lists_on_top_of_what_was_there() {
    let (new, old) = (outpoint(1), OutPoint { txid: Txid::from_byte_array([3; 32]), vout: 0 });
    let before = SavedSheet { entries: vec![(TOKEN, 5), (OTHER, 6)] };
    let state = State(HashMap::from([(StateKey::Sheet(old), before.encode())]));
    let pairs = [
        (sheet_key(new, "/runes/0"), id32(OTHER)),
        (sheet_key(new, "/runes/1"), id32(TOKEN)),
        (sheet_key(new, "/balances/0"), 3u128.to_le_bytes().to_vec()),
        (sheet_key(new, "/balances/1"), 4u128.to_le_bytes().to_vec()),
        (sheet_key(new, "/runes/length"), vec![2, 0, 0, 0]),
        // An output that is spent: amounts alone.
        (sheet_key(old, "/balances/0"), vec![0; 16]),
        (sheet_key(old, "/balances/1"), vec![0; 16]),
    ];
    let Translated { effects, unknown, .. } = translated(&pairs, &state).unwrap();
    let of = |entries: &[(AlkaneId, u128)]| SavedSheet { entries: entries.to_vec() }.encode();
    let mut expected = vec![
        (StateKey::Sheet(new), of(&[(OTHER, 3), (TOKEN, 4)])),
        (StateKey::Sheet(old), of(&[(TOKEN, 0), (OTHER, 0)])),
    ];
    expected.sort();
    assert_eq!((effects.writes, effects.funded, unknown), (expected, vec![new], None));
}

#[test]
fn lists_with_holes_and_values_of_another_form_are_refused() {
    let none = State(HashMap::new());
    let refused = |key: Vec<u8>, value: &[u8]| translated(&[(key, value.to_vec())], &none).unwrap_err().to_string();
    let hole = refused(sheet_key(outpoint(0), "/runes/4000000000"), &id32(TOKEN));
    assert!(hole.contains("entry 4000000000") && hole.contains("0 entries"), "{hole}");
    assert!(refused(sheet_key(outpoint(0), "/balances/0"), &[0; 16]).contains("entry 0"));
    assert!(refused(sheet_key(outpoint(0), "/balances/0"), &[0; 15]).contains("an amount of 16 bytes"));
    assert!(refused(sheet_key(outpoint(0), "/runes/0"), &[0; 31]).contains("an id"));
    let trace = [b"/trace/", &[7; 36][..]].concat();
    assert!(refused(trace, &[0xff]).contains("a trace"));
    let other_block = [b"/trace/", &8u64.to_le_bytes()[..], b"/0"].concat();
    assert!(refused(other_block, &[7; 36]).contains("another height"));
}

#[test]
fn what_was_there_before_is_no_change_and_built_in_code_is_a_mark() {
    let state = State(HashMap::from([(StateKey::Sequence, 4u128.to_le_bytes().to_vec())]));
    let pairs = [
        (b"/alkanes/sequence".to_vec(), 4u128.to_le_bytes().to_vec()),
        ([b"/alkanes/", &id32(BUILTINS[1])[..]].concat(), b"any bytes".to_vec()),
        ([b"/alkanes/", &id32(TOKEN)[..]].concat(), b"code".to_vec()),
    ];
    let writes = translated(&pairs, &state).unwrap().effects.writes;
    assert_eq!(writes, [(StateKey::Code(TOKEN), b"code".to_vec()), (StateKey::Code(BUILTINS[1]), vec![1])]);
}

#[test]
fn keys_are_told_apart_by_their_form() {
    let at = |prefix: &str, rest: &[u8]| parse(&[prefix.as_bytes(), rest].concat());
    let state = |key| Some(ForeignKey::State(key));
    let contract = |rest: &[u8]| at("/alkanes/", &[&id32(TOKEN), rest].concat());
    assert_eq!(contract(b""), state(StateKey::Code(TOKEN)));
    assert_eq!(contract(b"/storage//auth"), state(StateKey::Storage(TOKEN, b"/auth".to_vec())));
    assert_eq!(contract(b"/storage/"), state(StateKey::Storage(TOKEN, Vec::new())));
    let balance = [b"/balances/", &id32(OTHER)[..]].concat();
    assert_eq!(contract(&balance), state(StateKey::Balance { what: TOKEN, who: OTHER }));
    assert_eq!(contract(b"/inventory//12"), Some(ForeignKey::Inventory(TOKEN)));
    assert_eq!(contract(b"/inventory//length"), Some(ForeignKey::LeftOut));
    for unknown in [&b"/balances/short"[..], b"/inventory//x", b"/inventory//+1", b"/other", b"x"] {
        assert_eq!(contract(unknown), None, "{unknown:?}");
    }
    assert_eq!(at("/trace/", &[1; 36]), Some(ForeignKey::Trace(key::outpoint(&[1; 36]).unwrap())));
    assert_eq!(at("/trace/", b"\x09\0\0\0\0\0\0\0/3"), Some(ForeignKey::TraceAt { height: 9, index: 3 }));
    assert_eq!(at("/trace/", b"\x09\0\0\0\0\0\0\0/length"), Some(ForeignKey::LeftOut));
    assert_eq!(at("/trace/", b"short"), None);
    assert_eq!(at("/alkanes", b""), None);
    for (prefix, reason) in LEFT_OUT {
        assert_eq!(at(prefix, b"anything"), Some(ForeignKey::LeftOut), "{prefix}: {reason}");
    }
}

#[test]
fn keys_are_shown_readable_and_short() {
    assert_eq!(readable(b"/a\x00b"), "/a\\00b");
    assert!(readable(&[b'k'; 300]).ends_with("… (300 bytes)"));
}

proptest! {
    #[test]
    fn any_pairs_are_translated_or_refused(
        pairs in proptest::collection::vec((
            prop_oneof![
                Just("/alkanes/"), Just("/trace/"), Just("/runes/proto/1/byoutpoint/"), Just("/runes/proto/1/byheight/"),
                Just("/alkanes_id_to_outpoint/"), Just("/runes/proto/1/runtime/balance/id_to_balance"), Just("/runes/byoutpoint/"),
            ],
            proptest::collection::vec(any::<u8>(), 0..50),
            prop_oneof![Just(""), Just("/runes/0"), Just("/balances/1"), Just("/storage/"), Just("/7"), Just("/length")],
            proptest::collection::vec(any::<u8>(), 0..40),
        ), 0..8)
    ) {
        let pairs: Vec<_> = pairs
            .into_iter()
            .map(|(prefix, bytes, end, value)| ([prefix.as_bytes(), &bytes, end.as_bytes()].concat(), value))
            .collect();
        _ = translated(&pairs, &State(HashMap::new()));
    }
}
