//! Protostones of real mainnet blocks and of invented ones, against a second, independent decoder.
#![allow(clippy::unwrap_used)]

use bitcoin::hex::DisplayHex as _;
use bitcoin::{Block, Transaction};
use paraffin_alkanes::codec::{
    Artifact, CODE_LEN_MAX_BYTES, Cellpack, Envelope, MessageRoute, Protostone, append_varint, decode_protostones,
    encode_protostones, gunzip, pack_chunks,
};
use paraffin_primitives::AlkaneId;
use proptest::prelude::*;

/// The block; `None` after counting the test as skipped.
fn real_block(name: &str) -> Option<Block> {
    paraffin_testkit::real_block(name).map(|bytes| bitcoin::consensus::deserialize(&bytes).unwrap())
}

/// The second decoder. It works backwards from bits and slices and assumes a well-formed runestone.
mod second {
    use bitcoin::Transaction;

    #[derive(Debug, PartialEq, Default)]
    pub(super) struct Stone {
        pub(super) tag: u128,
        pub(super) singles: Vec<(u128, Option<u128>)>,
        pub(super) message: Vec<u8>,
        /// block, tx, amount, output
        pub(super) edicts: Vec<[u128; 4]>,
    }

    /// The bytes behind `6a 5d` in the first output that has them; `Err` when they are not all pushes.
    pub(super) fn payload(transaction: &Transaction) -> Option<Result<Vec<u8>, ()>> {
        let scripts = transaction.output.iter().map(|output| output.script_pubkey.as_bytes());
        let mut rest = scripts.into_iter().find_map(|script| script.strip_prefix(&[0x6a, 0x5d]))?;
        let mut payload = Vec::new();
        while let [opcode, behind @ ..] = rest {
            let width = match opcode {
                0..=75 => 0,
                76 => 1,
                77 => 2,
                78 => 4,
                _ => return Some(Err(())),
            };
            let Some((length, behind)) = behind.split_at_checked(width) else { return Some(Err(())) };
            let length = if width == 0 {
                usize::from(*opcode)
            } else {
                length.iter().rev().fold(0, |length, byte| length << 8 | usize::from(*byte))
            };
            let Some((push, behind)) = behind.split_at_checked(length) else { return Some(Err(())) };
            payload.extend(push);
            rest = behind;
        }
        Some(Ok(payload))
    }

    pub(super) fn integers(bytes: &[u8]) -> Option<Vec<u128>> {
        let groups = bytes.split_inclusive(|byte| *byte < 0x80);
        groups.map(|group| integer(group).filter(|_| group.last().is_some_and(|last| *last < 0x80))).collect()
    }

    fn integer(group: &[u8]) -> Option<u128> {
        if group.len() > 19 {
            return None;
        }
        let digits = group.iter().rev().map(|byte| u128::from(byte % 128));
        digits.into_iter().try_fold(0_u128, |value, digit| value.checked_mul(128)?.checked_add(digit))
    }

    pub(super) fn stones(transaction: &Transaction) -> Option<Vec<Stone>> {
        let fields = integers(&payload(transaction)?.ok()?)?;
        let body = fields.iter().step_by(2).position(|tag| *tag == 0).map_or(fields.len(), |pair| pair * 2);
        let pairs = fields[..body].chunks_exact(2).filter(|pair| pair[0] == 16383);
        stones_in(&pairs.map(|pair| pair[1]).collect::<Vec<_>>())
    }

    /// `None` when the list is malformed.
    pub(super) fn stones_in(protocol: &[u128]) -> Option<Vec<Stone>> {
        let bytes = protocol.iter().flat_map(|integer| (0..15).map(move |byte| (integer >> (8 * byte)) as u8));
        let list = integers(&bytes.collect::<Vec<_>>())?;
        let mut stones = Vec::new();
        let mut at = 0;
        while list.get(at).is_some_and(|tag| *tag != 0) && at + 1 < list.len() {
            let count = usize::try_from(list[at + 1]).ok()?;
            stones.push(stone(list[at], list.get(at + 2..)?.get(..count)?));
            at += 2 + count;
        }
        Some(stones)
    }

    fn stone(tag: u128, fields: &[u128]) -> Stone {
        let body = fields.iter().step_by(2).position(|key| *key == 0).map_or(fields.len(), |pair| pair * 2);
        let pairs = || fields[..body].chunks_exact(2);
        let first = |key: u128| pairs().find(|pair| pair[0] == key).map(|pair| pair[1]);
        let vout = |key| first(key).map(|value| value % (1 << 32));
        let messages = pairs().filter(|pair| pair[0] == 81);
        let message = messages.flat_map(|pair| pair[1].to_le_bytes().into_iter().take(15)).collect();
        let mut edicts: Vec<[u128; 4]> = Vec::new();
        for group in fields.get(body + 1..).unwrap_or_default().chunks(4) {
            let [last_block, last_tx, ..] = edicts.last().copied().unwrap_or_default();
            let [block, tx, amount, output] = group else {
                edicts.clear();
                break;
            };
            let next_tx = if *block == 0 { last_tx.checked_add(*tx) } else { Some(*tx) };
            let (Some(next_block), Some(next_tx)) = (last_block.checked_add(*block), next_tx) else {
                edicts.clear();
                break;
            };
            edicts.push([next_block, next_tx, *amount, *output]);
        }
        let singles = vec![(83, first(83)), (91, vout(91)), (93, vout(93)), (95, vout(95))];
        Stone { tag, singles, message, edicts }
    }
}

fn as_second(stone: &Protostone) -> second::Stone {
    let wide = |vout: Option<u32>| vout.map(u128::from);
    let edicts = stone.edicts.iter().map(|edict| [edict.id.block, edict.id.tx, edict.amount.0, edict.output]);
    second::Stone {
        tag: stone.protocol_tag,
        singles: vec![(83, stone.burn), (91, wide(stone.pointer)), (93, wide(stone.refund)), (95, wide(stone.from))],
        message: stone.message.clone(),
        edicts: edicts.collect(),
    }
}

/// What a block holds, counted by the decoder under test after agreement with the second one.
#[derive(Debug, PartialEq, Default, Clone, Copy)]
struct Counts {
    transactions: usize,
    runestones: usize,
    cenotaphs: usize,
    stones: usize,
    messages: usize,
    edicts: usize,
}

fn counts_of(block: &Block) -> Counts {
    let mut counts = Counts { transactions: block.txdata.len(), ..Counts::default() };
    for transaction in &block.txdata {
        let txid = transaction.compute_txid();
        match Artifact::read(transaction) {
            None => assert_eq!(second::payload(transaction), None, "{txid}"),
            Some(Artifact::Cenotaph(_)) => counts.cenotaphs += 1,
            Some(Artifact::Runestone(runestone)) => {
                counts.runestones += 1;
                let stones = runestone.protostones().unwrap();
                let found: Vec<_> = stones.iter().map(as_second).collect();
                assert_eq!(Some(found), second::stones(transaction), "{txid}");
                counts.stones += stones.len();
                counts.edicts += stones.iter().map(|stone| stone.edicts.len()).sum::<usize>();
                counts.messages += stones.iter().filter(|stone| stone.is_alkanes_message()).count();
                assert_eq!(
                    encode_protostones(&stones).unwrap(),
                    runestone.protocol,
                    "{txid} is written as it was read"
                );
            }
        }
    }
    counts
}

fn only_stone(transaction: &Transaction) -> Protostone {
    let Some(Artifact::Runestone(runestone)) = Artifact::read(transaction) else { panic!("no runestone") };
    let [stone] = <[Protostone; 1]>::try_from(runestone.protostones().unwrap()).unwrap();
    stone
}

#[test]
fn two_decoders_agree_on_every_protostone_of_block_892614() {
    let Some(block) = real_block("mainnet-892614") else { return };
    let expected = Counts { transactions: 2489, runestones: 309, cenotaphs: 0, stones: 169, messages: 165, edicts: 7 };
    assert_eq!(counts_of(&block), expected);
}

#[test]
fn two_decoders_agree_on_blocks_full_of_runes_and_of_edicts() {
    let none = Counts::default();
    for (name, expected) in [
        ("mainnet-849236", Counts { transactions: 2410, runestones: 1813, ..none }),
        ("mainnet-849250", Counts { transactions: 5131, runestones: 4849, ..none }),
        // Height 905646.
        (
            "mainnet-00b93d1e",
            Counts { transactions: 3491, runestones: 938, stones: 21, messages: 1, edicts: 44, ..none },
        ),
    ] {
        let Some(block) = real_block(name) else { return };
        assert_eq!(counts_of(&block), expected, "{name}");
    }
}

#[test]
fn the_messages_of_block_892614_call_their_known_targets() {
    let Some(block) = real_block("mainnet-892614") else { return };
    let mut targets = std::collections::BTreeMap::<AlkaneId, usize>::new();
    for transaction in &block.txdata {
        let Some(Artifact::Runestone(runestone)) = Artifact::read(transaction) else { continue };
        let stones = runestone.protostones().unwrap();
        for (index, stone) in stones.iter().enumerate().filter(|(_, stone)| stone.is_alkanes_message()) {
            let route = MessageRoute::of(stone, index, transaction.output.len(), stones.len()).unwrap();
            assert_eq!(route.shadow as usize, transaction.output.len() + 1);
            *targets.entry(Cellpack::decode(&stone.message).unwrap().target).or_default() += 1;
        }
    }
    let found: Vec<_> = targets.into_iter().map(|(id, count)| (id.to_string(), count)).collect();
    let expected = [("2:0", 4), ("2:19", 158), ("2:56", 1), ("2:215", 1), ("6:33", 1)];
    assert_eq!(found, expected.map(|(id, count)| (id.to_owned(), count)));
}

#[test]
fn known_protostones_of_block_892614() {
    let Some(block) = real_block("mainnet-892614") else { return };
    let mint = only_stone(&block.txdata[1]);
    assert_eq!((mint.pointer, mint.refund, mint.burn, mint.from), (Some(0), Some(0), None, None));
    assert_eq!(mint.message.to_lower_hex_string(), "02004d000000000000000000000000");

    let clone = Cellpack::decode(&only_stone(&block.txdata[1377]).message).unwrap();
    assert_eq!(clone.target, AlkaneId { block: 6, tx: 33 });
    assert_eq!(clone.inputs, [0, 0, 100_000, 1_000_000_000, 1_259_877_289_045_384_579_159, 0, 1_414_283_603, 0]);

    let transfer = only_stone(&block.txdata[738]);
    assert!(!transfer.is_message());
    let moved: Vec<_> =
        transfer.edicts.iter().map(|edict| (edict.id.to_string(), edict.amount.0, edict.output)).collect();
    let trillions = [(1, 0), (1, 1), (2, 2), (24, 3)];
    assert_eq!(moved, trillions.map(|(amount, output)| ("2:16".to_owned(), amount * 1_000_000_000_000_u128, output)));
}

#[test]
fn the_only_envelope_of_block_892614_unpacks() {
    let Some(block) = real_block("mainnet-892614") else { return };
    let found = block.txdata.iter().enumerate().filter_map(|(index, tx)| Some((index, Envelope::first(tx)?)));
    let [(index, envelope)] = <[_; 1]>::try_from(found.collect::<Vec<_>>()).unwrap();
    assert_eq!((index, envelope.input, envelope.payload.len()), (1377, 0, 31_687));
    let unpacked = gunzip(&envelope.payload, CODE_LEN_MAX_BYTES).unwrap();
    assert_eq!(unpacked.len(), 31_659);
    assert!(unpacked.starts_with(b"\x89PNG\r\n\x1a\n"), "a token's picture, not code");
}

/// Integers that often mean something: tags, keys, counts, and now and then a very large one.
fn any_integer() -> impl Strategy<Value = u128> {
    prop_oneof![
        4 => 0..4_u128,
        4 => 0..20_u128,
        8 => prop::sample::select(vec![81_u128, 83, 91, 93, 95]),
        1 => any::<u128>(),
        1 => (0..4_u128).prop_map(|below| u128::MAX - below),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn two_decoders_agree_on_invented_protostones(lists in prop::collection::vec(prop::collection::vec(any_integer(), 0..24), 0..4), stray: u8, tail: Vec<u8>) {
        let mut bytes = Vec::new();
        for list in lists {
            // Most stones state their true length, some are off by a few.
            let count = list.len() as u128;
            let count = if stray.is_multiple_of(8) { count + u128::from(stray % 3) } else { count };
            for integer in [1, count].into_iter().chain(list) {
                append_varint(integer, &mut bytes);
            }
        }
        if stray.is_multiple_of(16) {
            bytes.extend(tail);
        }
        let protocol = pack_chunks(&bytes);
        let found = decode_protostones(&protocol).ok().map(|stones| stones.iter().map(as_second).collect::<Vec<_>>());
        prop_assert_eq!(found, second::stones_in(&protocol));
    }

    #[test]
    fn two_decoders_agree_on_arbitrary_integers(protocol: Vec<u128>, small in prop::collection::vec(0..256_u128, 0..40)) {
        for protocol in [protocol, small] {
            let found = decode_protostones(&protocol).ok().map(|stones| stones.iter().map(as_second).collect::<Vec<_>>());
            prop_assert_eq!(found, second::stones_in(&protocol));
        }
    }
}
