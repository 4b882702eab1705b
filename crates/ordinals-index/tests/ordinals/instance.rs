//! A store with the Bitcoin index and the ordinals index in it.

use bitcoin::{Block, TxOut};
use paraffin_bitcoin_index::{BitcoinModule, MissingPrevouts, Options, RawTransactions};
use paraffin_ordinals_index::{EventConsumer, OrdinalsIndex, OrdinalsModule, OrdinalsOptions, Parameters};
use paraffin_primitives::{ConnectedBlock, Height, Network};
use paraffin_store::{Module, ModuleError, Store, StoreOptions, Writer};

use crate::chain::Chain;

pub const NETWORK: Network = Network::Regtest;

pub struct Instance {
    pub store: Store,
    pub writer: Writer,
    modules: Vec<Box<dyn Module>>,
    _folder: tempfile::TempDir,
}

impl Instance {
    pub fn new(options: OrdinalsOptions) -> Self {
        Self::of(NETWORK, options, None)
    }

    pub fn of(network: Network, options: OrdinalsOptions, consumer: Option<Box<dyn EventConsumer>>) -> Self {
        Self::with_parameters(Parameters::of(network), options, consumer)
    }

    /// With row parts so short that outputs which hold a little more than others are stored in several.
    pub fn with_parameters(
        parameters: Parameters,
        options: OrdinalsOptions,
        consumer: Option<Box<dyn EventConsumer>>,
    ) -> Self {
        let network = parameters.network;
        let bitcoin = Options { raw_transactions: RawTransactions::Node, missing_prevouts: options.missing_prevouts };
        let mut ordinals = OrdinalsModule::new(network, options).with_parameters(parameters).with_part_bytes_max(32);
        if let Some(consumer) = consumer {
            ordinals = ordinals.with_consumer(consumer);
        }
        let folder = tempfile::tempdir().unwrap();
        let store_options = StoreOptions { network, undo_blocks: None, memory_bytes: 256 << 20 };
        let schemas = [paraffin_bitcoin_index::SCHEMA, paraffin_ordinals_index::SCHEMA];
        let store = Store::open(folder.path(), &store_options, &schemas).unwrap();
        let writer = store.writer().unwrap();
        let modules: Vec<Box<dyn Module>> = vec![Box::new(BitcoinModule::with_options(bitcoin)), Box::new(ordinals)];
        Self { store, writer, modules, _folder: folder }
    }

    pub fn apply(&mut self, block: &ConnectedBlock) -> Result<(), ModuleError> {
        let header = &block.block.header;
        self.writer.begin_block(block.id, header.prev_blockhash, header.time)?;
        for module in &mut self.modules {
            let mut rows = self.writer.module(module.schema().id)?;
            if let Err(error) = module.connect(block, &mut rows) {
                self.writer.abandon_block();
                return Err(error);
            }
        }
        self.writer.end_block()?;
        Ok(())
    }

    pub fn connect(&mut self, height: Height, block: &Block, spent: Option<Vec<Vec<TxOut>>>) {
        self.apply(&connected(height, block, spent)).unwrap();
    }

    /// Applies the blocks of a chain from `first` on; each second one with what the node reports about its inputs.
    pub fn follow(&mut self, chain: &Chain, first: Height) {
        for (height, block) in (0u32..).zip(&chain.blocks).skip(first as usize) {
            let spent = (height % 2 == 1).then(|| chain.spent(block));
            self.connect(height, block, spent);
        }
        self.commit();
    }

    pub fn commit(&mut self) {
        self.writer.commit(false).unwrap();
    }

    pub fn index(&self) -> OrdinalsIndex {
        OrdinalsIndex::new(self.store.snapshot(), NETWORK)
    }
}

/// Of isolated blocks.
pub const TOLERANT: OrdinalsOptions = OrdinalsOptions { sats: false, missing_prevouts: MissingPrevouts::Tolerate };
/// The usual ones.
pub const PLAIN: OrdinalsOptions = OrdinalsOptions { sats: false, missing_prevouts: MissingPrevouts::Refuse };
/// With sats.
pub const WITH_SATS: OrdinalsOptions = OrdinalsOptions { sats: true, ..PLAIN };

/// The block as the indexer hands it to a module.
pub fn connected(height: Height, block: &Block, spent: Option<Vec<Vec<TxOut>>>) -> ConnectedBlock {
    ConnectedBlock { spent, ..ConnectedBlock::new(height, block.clone()) }
}
