//! A store with the module in it, random chains, and a naive recomputation of every answer.
#![allow(dead_code, missing_docs, unreachable_pub, clippy::unwrap_used, reason = "each test uses its part")]

pub mod chain;
pub mod fixtures;
pub mod naive;
pub mod shaped;

use bitcoin::{Block, TxOut};
use paraffin_bitcoin_index::{BitcoinIndex, BitcoinModule, RawTransactions, SCHEMA};
use paraffin_primitives::{ConnectedBlock, Height, Network};
use paraffin_store::{Module, ModuleError, RowsAhead, Store, StoreOptions, Writer};

pub const NETWORK: Network = Network::Regtest;

/// The block as the indexer hands it to a module.
pub fn connected(height: Height, block: &Block, spent: Option<Vec<Vec<TxOut>>>) -> ConnectedBlock {
    ConnectedBlock { spent, ..ConnectedBlock::new(height, block.clone()) }
}

pub struct Instance {
    pub store: Store,
    pub writer: Writer,
    pub module: BitcoinModule,
    bits: u32,
    _folder: tempfile::TempDir,
}

impl Instance {
    pub fn new(module: BitcoinModule, bits: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = StoreOptions { network: NETWORK, undo_blocks: None, memory_bytes: 256 * 1024 * 1024 };
        let store = Store::open(folder.path(), &options, &[SCHEMA]).unwrap();
        let writer = store.writer().unwrap();
        Self { store, writer, module: module.with_prefix_bits(bits), bits, _folder: folder }
    }

    pub fn storing_raw() -> Self {
        Self::new(BitcoinModule::new(RawTransactions::Store), 64)
    }

    /// Applies a block without committing it.
    pub fn apply(&mut self, block: &ConnectedBlock) -> Result<(), ModuleError> {
        self.apply_with(block, None)
    }

    /// The same with rows that were read for it.
    pub fn apply_with(&mut self, block: &ConnectedBlock, ahead: Option<RowsAhead>) -> Result<(), ModuleError> {
        let header = &block.block.header;
        self.writer.begin_block(block.id, header.prev_blockhash, header.time)?;
        self.writer.use_rows_ahead(ahead);
        let mut rows = self.writer.module(SCHEMA.id)?;
        match self.module.connect(block, &mut rows) {
            Ok(()) => {
                self.writer.end_block()?;
                Ok(())
            }
            Err(error) => {
                self.writer.abandon_block();
                Err(error)
            }
        }
    }

    pub fn connect(&mut self, height: Height, block: &Block, spent: Option<Vec<Vec<TxOut>>>) {
        self.apply(&connected(height, block, spent)).unwrap();
    }

    pub fn commit(&mut self) {
        self.writer.commit(false).unwrap();
    }

    pub fn undo(&mut self) {
        self.writer.undo_block().unwrap();
    }

    pub fn index(&self) -> BitcoinIndex {
        BitcoinIndex::new(self.store.snapshot(), NETWORK).with_prefix_bits(self.bits)
    }
}
