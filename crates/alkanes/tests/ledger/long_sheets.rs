//! Sheets that do not fit the row of their output.

use bitcoin::hashes::Hash;
use bitcoin::{BlockHash, OutPoint};
use paraffin_alkanes::{AlkanesModule, BlockEffects, Engine, Halt, SavedSheet, StateKey, StateReader};
use paraffin_primitives::{ConnectedBlock, Height, Network};

use crate::chain::{Instance, block, id, spend, transaction};

/// So many entries of 25 bytes.
fn sheet(entries: u32) -> SavedSheet {
    SavedSheet { entries: (0..entries).map(|number| (id(2, u128::from(u32::MAX - number)), u128::MAX)).collect() }
}

fn keys(outpoint: OutPoint) -> [StateKey; 2] {
    [StateKey::Sheet(outpoint), StateKey::BaseSheet(outpoint)]
}

/// Gives the first output of every block 1.1 MB of alkanes and 11 MB of base runes, and clears what the block spends.
struct LongSheets;

impl Engine for LongSheets {
    fn name(&self) -> &'static str {
        "long"
    }

    fn run_block(&mut self, _: Height, block: &ConnectedBlock, state: &dyn StateReader) -> Result<BlockEffects, Halt> {
        let funded = OutPoint { txid: block.txids[0], vout: 0 };
        let mut writes: Vec<_> =
            keys(funded).into_iter().zip([45_000, 440_000].map(|entries| sheet(entries).encode())).collect();
        for input in block.block.txdata.iter().skip(1).flat_map(|transaction| &transaction.input) {
            for key in keys(input.previous_output) {
                let mut saved = SavedSheet::decode(&state.get(&key)?.unwrap()).unwrap();
                saved.clear();
                writes.push((key, saved.encode()));
            }
        }
        writes.sort();
        Ok(BlockEffects { writes, funded: vec![funded], ..BlockEffects::default() })
    }
}

#[test]
fn sheets_that_do_not_fit_a_row_are_read_as_of_every_height_and_undone() {
    let mut instance = Instance::new(AlkanesModule::new(Box::new(LongSheets), Network::Regtest), Network::Regtest);
    let mut previous = BlockHash::all_zeros();
    let mut outputs = Vec::new();
    for height in 0..3 {
        let next = block(height, previous, vec![]);
        outputs.push(OutPoint { txid: next.txids[0], vout: 0 });
        previous = next.id.hash;
        instance.connect(&next);
    }
    let before = instance.rows();
    assert!(before.iter().all(|(.., value)| value.len() <= 4 << 20));
    assert!(before.iter().map(|(.., value)| value.len()).sum::<usize>() > 36_000_000);
    // More than is remembered of the outputs that a block spends.
    let inputs = outputs.iter().map(|output| spend(*output)).collect();
    instance.connect(&block(3, previous, vec![transaction(inputs, vec![])]));
    let cleared = |mut saved: SavedSheet| {
        saved.clear();
        saved
    };
    let saved = [sheet(45_000), sheet(440_000)];
    for (height, saved) in [(2, saved.clone()), (3, saved.map(cleared))] {
        let state = instance.at(height);
        for output in &outputs {
            assert!(state.sheet(output).unwrap() == saved[0], "{height}");
            assert!(state.base_sheet(output).unwrap() == saved[1], "{height}");
        }
    }
    assert!(instance.at(0).sheet(&outputs[1]).unwrap().entries.is_empty());
    instance.writer.undo_block().unwrap();
    assert!(instance.rows() == before);
    assert!(instance.at(3).base_sheet(&outputs[0]).unwrap() == sheet(440_000));
}
