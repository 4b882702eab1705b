use paraffin_primitives::{BlockId, ConnectedBlock};
use paraffin_spans::Span;
use paraffin_store::{ModuleId, ModuleSchema, Rewound};

use crate::{Indexer, IndexerError};

/// Plan of a re-run, reported before the long part starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReindexPlan {
    /// Module that is run again.
    pub module: ModuleId,
    /// Modules that read its rows and are therefore run again as well.
    pub readers: Vec<&'static str>,
    /// How its tables were rewound.
    pub rewound: Rewound,
    /// First height that will be applied again.
    pub from: u32,
    /// Last height.
    pub to: u32,
}

impl Indexer {
    /// Brings the tables of the module called `name`, and of those that read its rows, back to what they were before block
    /// `from`; the other modules stay. [`Indexer::catch_up`] then applies the blocks again.
    ///
    /// # Errors
    /// The module does not exist, `from` lies above the tip, or the store failed.
    pub fn rewind_module(&mut self, name: &str, from: u32) -> Result<ReindexPlan, IndexerError> {
        let Some(schema) = self.modules().iter().map(|module| module.schema()).find(|schema| schema.name == name)
        else {
            let known = self.modules().iter().map(|module| module.schema().name).collect::<Vec<_>>().join(", ");
            return Err(IndexerError::UnknownModule { name: name.to_owned(), known });
        };
        let tip = self.tip().map_or(0, |record| record.id.height);
        if from > tip {
            return Err(IndexerError::AboveTip { from, tip });
        }
        self.commit()?;
        // The readers first: after an interruption none of them has rows that depend on removed ones.
        let readers = self.readers_of(schema.id);
        for reader in readers.iter().rev() {
            self.writer().rewind_module(reader.id, from.checked_sub(1))?;
        }
        let rewound = self.writer().rewind_module(schema.id, from.checked_sub(1))?;
        let first = self.writer().next_replay(schema.id)?.map_or(tip, |block| block.height);
        // A module whose undo does not reach so far is emptied, and so must be those that read it.
        if first < from {
            for reader in readers.iter().rev() {
                self.writer().rewind_module(reader.id, first.checked_sub(1))?;
            }
        }
        let readers = readers.iter().map(|reader| reader.name).collect();
        Ok(ReindexPlan { module: schema.id, readers, rewound, from: first, to: tip })
    }

    /// The modules that read rows of a module, or of one that does, in the order in which they see blocks.
    fn readers_of(&self, module: ModuleId) -> Vec<ModuleSchema> {
        let mut read = vec![module];
        let mut readers = Vec::new();
        for schema in self.modules().iter().map(|module| module.schema()) {
            if schema.reads.iter().any(|id| read.contains(id)) {
                read.push(schema.id);
                readers.push(schema);
            }
        }
        readers
    }

    /// The next block that some module still has to see although the index has it, with the module: after a re-run that
    /// was broken off, or with a module that is new in this build.
    ///
    /// # Errors
    /// The store failed.
    pub fn next_missing(&mut self) -> Result<Option<(ModuleId, BlockId)>, IndexerError> {
        let modules: Vec<ModuleId> = self.modules().iter().map(|module| module.schema().id).collect();
        for module in modules {
            if let Some(block) = self.writer().next_replay(module)? {
                return Ok(Some((module, block)));
            }
        }
        Ok(None)
    }

    /// Applies `block`, which the index has, to one module that has not seen it.
    ///
    /// # Errors
    /// The module or the store refused; the block leaves no trace.
    pub fn catch_up(&mut self, module: ModuleId, block: &ConnectedBlock) -> Result<(), IndexerError> {
        // Blocks of one module's re-run cannot wait beside those of another's.
        if self.rerun != Some(module) {
            self.commit()?;
            self.rerun = Some(module);
        }
        self.writer().replay_block(module, block.id)?;
        self.connect_open_block(block, Some(module), &Span::none())
    }
}
