//! The indexer module: turns a block into rows, and into events for protocols on top of inscriptions.

mod flotsam;
mod holdings;
mod inscriptions;
mod ranges;
mod runes;
mod spent;

use bitcoin::{OutPoint, Transaction};
use paraffin_bitcoin_index::MissingPrevouts;
use paraffin_primitives::{ConnectedBlock, Network};
use paraffin_store::{KeysAhead, Module, ModuleError, ModuleSchema, ModuleWriter, Snapshot, StoreError};

use self::holdings::Holdings;
use self::inscriptions::BlockInscriptions;
pub(crate) use self::inscriptions::{child_count, child_key, id_key};
use self::ranges::BlockRanges;
use self::runes::BlockRunes;
use self::spent::SpentOutputs;
use crate::error::ReadError;
use crate::event::{EventKind, InscriptionEvent};
use crate::parameters::Parameters;
use crate::rows::PART_BYTES_MAX;
use crate::tables::{HELD, SATS_SETTING, SCHEMA, SETTINGS, outpoint_key};

/// Takes the events of each block, in order, after the inscriptions of the block have been written. Its rows go into tables
/// of the same module, so they are undone with the rest.
pub trait EventConsumer: Send {
    /// Takes the events of `block`; there may be none.
    ///
    /// # Errors
    /// Anything that makes the block unusable; nothing of the block is committed then.
    fn consume(
        &mut self,
        block: &ConnectedBlock,
        events: &[InscriptionEvent],
        rows: &mut ModuleWriter<'_>,
    ) -> Result<(), ModuleError>;

    /// Whether it wants an event of this kind. Other events take no memory: a block may reveal half a million inscriptions, and
    /// a chain of small transactions moves all that an output holds again and again.
    fn wants(&self, _kind: &EventKind) -> bool {
        true
    }
}

/// What is indexed beyond inscriptions and runes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OrdinalsOptions {
    /// Whether the sats of every unspent output are followed, from the first block on. Fixed when a store is created.
    pub sats: bool,
    /// How to treat inputs whose output is unknown.
    pub missing_prevouts: MissingPrevouts,
}

/// The indexer module of inscriptions, sats and runes. Undo is the store's.
pub struct OrdinalsModule {
    parameters: Parameters,
    options: OrdinalsOptions,
    consumer: Option<Box<dyn EventConsumer>>,
    part_bytes_max: usize,
}

impl OrdinalsModule {
    /// A module of the network's rules.
    pub fn new(network: Network, options: OrdinalsOptions) -> Self {
        Self { parameters: Parameters::of(network), options, consumer: None, part_bytes_max: PART_BYTES_MAX }
    }

    /// The same module with other heights than the network's.
    #[must_use]
    pub fn with_parameters(mut self, parameters: Parameters) -> Self {
        self.parameters = parameters;
        self
    }

    /// The same module with other lengths of parts of rows, so that tests have rows in parts.
    #[doc(hidden)]
    #[must_use]
    pub fn with_part_bytes_max(mut self, bytes: usize) -> Self {
        self.part_bytes_max = bytes.max(1);
        self
    }

    /// The same module, whose events go to `consumer`.
    #[must_use]
    pub fn with_consumer(mut self, consumer: Box<dyn EventConsumer>) -> Self {
        self.consumer = Some(consumer);
        self
    }

    /// Compares the options with those that the store was created with; to be called at start, before the first block.
    ///
    /// # Errors
    /// [`ModuleError::Block`] with a message for the operator when they differ; [`ModuleError::Store`] when reading fails.
    pub fn check_settings(&self, snapshot: &Snapshot) -> Result<(), ModuleError> {
        self.compare(snapshot.get(&SETTINGS, SATS_SETTING)?.as_deref())
    }

    fn compare(&self, stored: Option<&[u8]>) -> Result<(), ModuleError> {
        let text = |sats: bool| if sats { "true" } else { "false" };
        match stored {
            None => Ok(()),
            Some(stored) if stored == [u8::from(self.options.sats)] => Ok(()),
            Some(stored) => Err(ModuleError::Block(format!(
                "this store was created with [ordinals] sats = {} and the configuration says {}: set it back, or run \
                 `paraffin reindex ordinals`",
                text(stored == [1]),
                text(self.options.sats)
            ))),
        }
    }

    fn write_settings(&self, rows: &mut ModuleWriter<'_>) -> Result<(), ModuleError> {
        let stored = rows.get(&SETTINGS, SATS_SETTING)?;
        self.compare(stored.as_deref())?;
        if stored.is_none() {
            rows.put(&SETTINGS, SATS_SETTING, &[u8::from(self.options.sats)])?;
        }
        Ok(())
    }
}

impl Module for OrdinalsModule {
    fn schema(&self) -> ModuleSchema {
        SCHEMA
    }

    fn reads_ahead(
        &self,
        next: &ConnectedBlock,
        spent: &[OutPoint],
        keys: &mut KeysAhead<'_>,
    ) -> Result<(), StoreError> {
        if next.id.height <= self.parameters.first_inscription_height.min(self.parameters.first_rune_height) {
            return Ok(());
        }
        spent.iter().try_for_each(|outpoint| keys.add(&HELD, &outpoint_key(outpoint)))
    }

    fn connect(&mut self, block: &ConnectedBlock, rows: &mut ModuleWriter<'_>) -> Result<(), ModuleError> {
        self.write_settings(rows)?;
        let height = block.id.height;
        let has_inscriptions = height >= self.parameters.first_inscription_height;
        let has_runes = height >= self.parameters.first_rune_height;
        if !has_inscriptions && !has_runes && !self.options.sats {
            return Ok(());
        }
        check_shape(block)?;
        let spent = SpentOutputs::of(block, rows, self.options.missing_prevouts)?;
        let mut holdings = Holdings::load(block, rows, self.part_bytes_max)?;
        if has_inscriptions || self.options.sats {
            let ranges = self.options.sats.then(|| BlockRanges::new(height, self.part_bytes_max));
            let mut pass = BlockInscriptions::begin(block, self.parameters, ranges, self.consumer.as_deref(), rows)?;
            pass.run(&spent, &mut holdings, rows)?;
            let events = pass.finish(rows)?;
            if let Some(consumer) = &mut self.consumer {
                consumer.consume(block, &events, rows)?;
            }
        }
        if has_runes {
            BlockRunes::new(block, self.parameters, &spent).run(&mut holdings, rows)?;
        }
        Ok(holdings.write(rows)?)
    }
}

fn check_shape(block: &ConnectedBlock) -> Result<(), ModuleError> {
    let transactions = &block.block.txdata;
    let spent_fits = block.spent.as_ref().is_none_or(|spent| {
        spent.len() == transactions.len()
            && transactions.iter().zip(spent).skip(1).all(|(transaction, spent)| transaction.input.len() == spent.len())
    });
    if block.txids.len() == transactions.len()
        && spent_fits
        && transactions.first().is_some_and(Transaction::is_coinbase)
    {
        return Ok(());
    }
    Err(ModuleError::Block(format!("block {}: what came with its transactions does not fit them", block.id)))
}

impl From<ReadError> for ModuleError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Store(error) => Self::Store(error),
            ReadError::Bitcoin(error) => error.into(),
            other @ (ReadError::Damaged { .. } | ReadError::OutOfMemory) => Self::Block(other.to_string()),
        }
    }
}
