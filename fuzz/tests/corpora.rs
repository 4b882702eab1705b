//! The committed corpora, replayed, and each input changed in ways that a parser has to expect.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use paraffin_fuzz::{TARGETS, Target};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore as _, SeedableRng as _};

/// Time for changed inputs beyond those that a target asks for.
const PATIENCE: Duration = Duration::from_secs(1);
/// Longest changed input, in bytes.
const LENGTH_MAX: usize = 64 << 10;

fn corpus(target: &Target) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name);
    let files = std::fs::read_dir(folder).into_iter().flatten();
    let mut inputs: Vec<_> = files
        .map(|file| {
            let path = file.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            (path, bytes)
        })
        .collect();
    inputs.sort();
    inputs
}

/// One input changed: bits turned, bytes cut out or repeated, numbers at the ends of their range, a piece of another input.
fn changed(random: &mut ChaCha8Rng, inputs: &[(PathBuf, Vec<u8>)]) -> Vec<u8> {
    let mut below = |end: usize| random.next_u64() as usize % end.max(1);
    let mut bytes = inputs.get(below(inputs.len())).map_or_else(Vec::new, |(_, bytes)| bytes.clone());
    let other = inputs.get(below(inputs.len())).map_or(&[][..], |(_, bytes)| bytes.as_slice());
    for _ in 0..=below(4) {
        let start = below(bytes.len() + 1);
        let end = start + below((bytes.len() - start).min(64) + 1);
        match below(6) {
            0 => drop(bytes.drain(start..end)),
            1 => drop(bytes.splice(start..start, bytes[start..end].to_vec())),
            2 => bytes.truncate(start),
            3 => bytes[start..end].fill([0x00, 0x7f, 0x80, 0xff][below(4)]),
            4 if start < bytes.len() => bytes[start] ^= 1 << below(8),
            _ => {
                let from = below(other.len() + 1);
                let to = from + below((other.len() - from).min(64) + 1);
                drop(bytes.splice(start..end, other[from..to].iter().copied()));
            }
        }
    }
    bytes.truncate(LENGTH_MAX);
    bytes
}

#[test]
fn what_fuzzing_found_and_changes_of_it_break_no_promise() {
    for target in &TARGETS {
        let inputs = corpus(target);
        for (path, bytes) in &inputs {
            println!("{}", path.display());
            (target.run)(bytes);
        }
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let begin = Instant::now();
        let mut tried = 0;
        let patience = if target.is_slow { Duration::ZERO } else { PATIENCE };
        while tried < target.changed || begin.elapsed() < patience {
            let input = changed(&mut random, &inputs);
            let outcome = std::panic::catch_unwind(|| (target.run)(&input));
            assert!(outcome.is_ok(), "{}: this input panics: {}", target.name, input.escape_ascii());
            tried += 1;
        }
        println!("{}: {} inputs of the corpus, {tried} changed ones", target.name, inputs.len());
    }
}

#[test]
fn every_corpus_belongs_to_a_target_and_every_target_has_one() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut folders: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    folders.sort();
    let mut names = TARGETS.map(|target| target.name);
    names.sort_unstable();
    assert_eq!(folders, names);
}
