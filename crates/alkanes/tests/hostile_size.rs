//! The worst that a transaction can unfold into in memory, measured. One test alone in its file: it reads the peak of the
//! whole process.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use bitcoin::absolute::LockTime;
use bitcoin::opcodes::all::{OP_PUSHNUM_13, OP_RETURN};
use bitcoin::script::{Builder, PushBytes};
use bitcoin::transaction::Version;
use bitcoin::{Amount, ScriptBuf, Transaction, TxOut};
use paraffin_alkanes::codec::{Artifact, Cellpack, append_varint, pack_chunks};

/// Bytes of outputs count four times, so this is the most that fits a block.
const SCRIPT_LEN_MAX: usize = 1_000_000;

/// From the estimate: 1,250,000 edicts of 64 bytes, the integers that they come from (5 MB) and their bytes (5 MB).
/// Collecting the numbers of the edicts before they are edicts would cost another 80 MB.
const PEAK_MAX_BYTES: usize = 112 << 20;

/// A line of the process status, in bytes.
fn status(name: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

/// A transaction whose protocol field holds the varints, as many as fit.
fn transaction(integers: impl Iterator<Item = u128>) -> Transaction {
    let mut inner = Vec::new();
    let mut payload = Vec::new();
    for integer in integers {
        append_varint(integer, &mut inner);
        let whole = inner.len() / 15 * 15;
        for chunk in pack_chunks(&inner[..whole]) {
            append_varint(16383, &mut payload);
            append_varint(chunk, &mut payload);
        }
        inner.drain(..whole);
        if payload.len() > SCRIPT_LEN_MAX - 64 {
            break;
        }
    }
    let builder = Builder::new().push_opcode(OP_RETURN).push_opcode(OP_PUSHNUM_13);
    let script_pubkey: ScriptBuf = builder.push_slice(<&PushBytes>::try_from(&payload[..]).unwrap()).into_script();
    let output = vec![TxOut { value: Amount::ZERO, script_pubkey }];
    Transaction { version: Version::TWO, lock_time: LockTime::ZERO, input: Vec::new(), output }
}

#[test]
fn a_block_full_of_protostones_stays_within_a_known_multiple_of_its_size() {
    let before = status("VmRSS:");

    // Edicts of zeros: three bytes of script for fifteen of them. The count is one that the bytes can fill.
    let zeros = [1, 4_900_001, 0].into_iter().chain(std::iter::repeat(0));
    let transaction_of_edicts = transaction(zeros);
    let Some(Artifact::Runestone(runestone)) = Artifact::read(&transaction_of_edicts) else { panic!("no runestone") };
    let stones = runestone.protostones().unwrap();
    assert_eq!(stones[0].edicts.len(), 1_225_000);
    drop((stones, runestone, transaction_of_edicts));

    // One message of zeros, every piece of it two bytes: key 81, value 0.
    let pieces = [1, 730_000].into_iter().chain([81, 0].into_iter().cycle());
    let Some(Artifact::Runestone(runestone)) = Artifact::read(&transaction(pieces)) else { panic!("no runestone") };
    let stones = runestone.protostones().unwrap();
    assert_eq!(stones[0].message.len(), 365_000 * 15);
    assert_eq!(Cellpack::decode(&stones[0].message).unwrap().inputs.len(), 365_000 * 15 - 2);
    drop((stones, runestone));

    // Nothing but empty protostones.
    let Some(Artifact::Runestone(runestone)) = Artifact::read(&transaction([1, 0].into_iter().cycle())) else {
        panic!("no runestone")
    };
    assert!(runestone.protostones().unwrap().len() > 350_000);

    let grown = status("VmHWM:") - before;
    assert!(grown < PEAK_MAX_BYTES, "grew by {} MiB", grown >> 20);
}
