//! A store whose contracts were indexed by the rules of an older release: the error names the module, and only this module and
//! its readers are indexed anew.
#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use paraffin_alkanes::{AlkanesModule, CodeCache, NativeEngine};
use paraffin_amm::{AmmModule, Parameters};
use paraffin_bitcoin_index::{BitcoinModule, RawTransactions};
use paraffin_devnet::market::{MarketChain, builtins};
use paraffin_indexer::{Indexer, IndexerOptions};
use paraffin_primitives::{ConnectedBlock, Network};
use paraffin_store::{Module, ModuleError, ModuleSchema, ModuleWriter, Rewound, Store, StoreError, StoreOptions};

/// Blocks that each module has seen.
type Seen = Arc<Mutex<BTreeMap<&'static str, usize>>>;

/// A module that counts its blocks, and perhaps is the one of an older release.
struct Counted {
    module: Box<dyn Module>,
    seen: Seen,
    is_older: bool,
}

impl Module for Counted {
    fn schema(&self) -> ModuleSchema {
        let schema = self.module.schema();
        if self.is_older { older(schema) } else { schema }
    }

    fn connect(&mut self, block: &ConnectedBlock, rows: &mut ModuleWriter<'_>) -> Result<(), ModuleError> {
        *self.seen.lock().unwrap().entry(self.module.schema().name).or_default() += 1;
        self.module.connect(block, rows)?;
        if self.is_older {
            // Rows by the older rules.
            let table = paraffin_alkanes::TABLES.iter().find(|table| table.name == "totals").unwrap();
            rows.put(table, &[99], &block.id.height.to_be_bytes())?;
        }
        Ok(())
    }
}

/// The rules before those of release 2.2 of the reference: `/last_block` one lower, no balances at deployment.
const OLDER: u32 = 4;

fn older(schema: ModuleSchema) -> ModuleSchema {
    ModuleSchema { version: OLDER, ..schema }
}

fn modules(has_older_contracts: bool, seen: &Seen) -> Vec<Box<dyn Module>> {
    let engine = NativeEngine::new(Network::Regtest, Arc::new(builtins()), Arc::new(CodeCache::default()));
    let contracts = AlkanesModule::new(Box::new(engine), Network::Regtest);
    let modules: [(Box<dyn Module>, bool); 3] = [
        (Box::new(BitcoinModule::new(RawTransactions::Store)), false),
        (Box::new(contracts), has_older_contracts),
        (Box::new(AmmModule::new(Parameters::default())), false),
    ];
    let counted =
        |(module, is_older)| -> Box<dyn Module> { Box::new(Counted { module, seen: Arc::clone(seen), is_older }) };
    modules.into_iter().map(counted).collect()
}

fn schemas(modules: &[Box<dyn Module>]) -> Vec<ModuleSchema> {
    modules.iter().map(|module| module.schema()).collect()
}

const OPTIONS: StoreOptions = StoreOptions { network: Network::Regtest, undo_blocks: None, memory_bytes: 256 << 20 };

/// Indexes the chain in a folder, and returns the digests for the comparison of two stores.
fn index(folder: &Path, modules: Vec<Box<dyn Module>>, blocks: &[ConnectedBlock]) -> [[u8; 32]; 2] {
    let store = Store::open(folder, &OPTIONS, &schemas(&modules)).unwrap();
    let mut indexer = Indexer::new(store, modules, IndexerOptions::default()).unwrap();
    for block in blocks {
        indexer.apply(block).unwrap();
    }
    indexer.commit().unwrap();
    content(&indexer)
}

fn content(indexer: &Indexer) -> [[u8; 32]; 2] {
    let snapshot = indexer.store().snapshot();
    [snapshot.tip().unwrap().cumulative, snapshot.content_digest().unwrap()]
}

#[test]
fn contracts_of_older_rules_are_indexed_anew_with_their_readers_and_nothing_else() {
    let mut town = MarketChain::new(5);
    town.grow(112).unwrap();
    let blocks = town.blocks();
    let (folder, straight) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let before = index(folder.path(), modules(true, &Seen::default()), &blocks);
    let expected = index(straight.path(), modules(false, &Seen::default()), &blocks);
    assert_ne!(before, expected);

    let seen = Seen::default();
    let modules = modules(false, &seen);
    let schemas = schemas(&modules);
    let error = Store::open(folder.path(), &OPTIONS, &schemas).err().unwrap();
    let wanted = paraffin_alkanes::SCHEMA.version;
    assert!(
        matches!(&error, StoreError::ModuleVersion { name, found, wanted: named }
            if name == "alkanes" && *found == OLDER && *named == wanted),
        "{error}"
    );
    assert!(error.to_string().ends_with("run `paraffin reindex alkanes --from 0`"), "{error}");

    // The steps of that command.
    let store = Store::open_for_reindex(folder.path(), &OPTIONS, &schemas, paraffin_alkanes::MODULE).unwrap();
    let mut indexer = Indexer::new(store, modules, IndexerOptions::default()).unwrap();
    let plan = indexer.rewind_module("alkanes", 0).unwrap();
    assert_eq!((plan.rewound, plan.readers, plan.from), (Rewound::Cleared, vec!["amm"], 0));
    while let Some((module, block)) = indexer.next_missing().unwrap() {
        indexer.catch_up(module, &blocks[block.height as usize]).unwrap();
    }
    indexer.commit().unwrap();
    assert_eq!(content(&indexer), expected);
    assert_eq!(*seen.lock().unwrap(), BTreeMap::from([("alkanes", blocks.len()), ("amm", blocks.len())]));
    drop(indexer);
    assert!(Store::open(folder.path(), &OPTIONS, &schemas).is_ok());
}
