//! After a reorg the index is what a fresh sync of the new chain makes.

use paraffin_ordinals_index::MODULE;

use crate::chain::{extend, random_chain};
use crate::instance::{Instance, PLAIN, WITH_SATS};
use crate::satpoints::agree;

#[test]
fn a_reorg_leaves_what_a_fresh_sync_makes() {
    for (seed, options, depth) in [(1, PLAIN, 1), (2, WITH_SATS, 9), (3, PLAIN, 20)] {
        let old = random_chain(seed, 125, 8);
        let mut instance = Instance::new(options);
        instance.follow(&old, 0);
        let mut new = random_chain(seed, 125 - depth, 8);
        new.reseed(99);
        extend(&mut new, 130, 8);
        for _ in 0..depth {
            instance.writer.undo_block().unwrap();
        }
        instance.follow(&new, 126 - depth);
        let mut fresh = Instance::new(options);
        fresh.follow(&new, 0);
        assert_eq!(
            instance.store.snapshot().content_digest().unwrap(),
            fresh.store.snapshot().content_digest().unwrap()
        );
        agree(&instance, &new, options.sats);
    }
}

/// What it reads of the Bitcoin index is the same when that stands at the tip already.
#[test]
fn a_module_that_catches_up_alone_writes_the_same() {
    let chain = random_chain(5, 122, 8);
    let mut instance = Instance::new(WITH_SATS);
    instance.follow(&chain, 0);
    let digest = instance.store.snapshot().content_digest().unwrap();
    instance.writer.rewind_module(MODULE, Some(104)).unwrap();
    assert_ne!(instance.store.snapshot().content_digest().unwrap(), digest);
    let mut module =
        paraffin_ordinals_index::OrdinalsModule::new(crate::instance::NETWORK, WITH_SATS).with_part_bytes_max(32);
    while let Some(block) = instance.writer.next_replay(MODULE).unwrap() {
        use paraffin_store::Module as _;
        instance.writer.replay_block(MODULE, block).unwrap();
        let connected = crate::instance::connected(block.height, &chain.blocks[block.height as usize], None);
        module.connect(&connected, &mut instance.writer.module(MODULE).unwrap()).unwrap();
        instance.writer.end_block().unwrap();
    }
    instance.commit();
    assert_eq!(instance.store.snapshot().content_digest().unwrap(), digest);
}
