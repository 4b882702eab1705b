//! Declarations of a module to the store, and the trait that it implements.

use bitcoin::OutPoint;
use paraffin_primitives::ConnectedBlock;

use crate::{KeysAhead, ModuleWriter, StoreError};

/// How a table stores its rows, which determines the cost of undo and the possible reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableKind {
    /// One value per key, the newest; the value before a block is kept in the undo record.
    Current,
    /// Every value a key ever had, by height; the newest is read in one point read, "as of height h" in one more seek.
    Versioned,
    /// Keys are written once and never changed or deleted; the undo record keeps the key alone.
    WriteOnce,
    /// Keys are 4-byte big-endian numbers 0, 1, 2, … without gaps, only ever appended; undo keeps one number.
    Sequence,
}

impl TableKind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Current => "Current",
            Self::Versioned => "Versioned",
            Self::WriteOnce => "WriteOnce",
            Self::Sequence => "Sequence",
        }
    }
}

/// Which keyspace of the engine holds the rows; tables with the same access pattern share one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Placement {
    /// Rows of the one largest Sequence table: their files are moved instead of merged.
    Appended,
    /// Keys that are read together are adjacent: numbers that grow with the chain, or a script or owner and a number.
    Ordered,
    /// Keys start with a hash.
    Hashed,
    /// Large values (raw transactions).
    Bulk,
}

/// One table of a module. Declared as a constant; `id` is unique within the module and never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// Module the table belongs to.
    pub module: ModuleId,
    /// Number within the module, part of every key on disk.
    pub id: u8,
    /// Name for messages and tools.
    pub name: &'static str,
    /// See [`TableKind`].
    pub kind: TableKind,
    /// See [`Placement`].
    pub placement: Placement,
}

/// Number of a module, part of every key on disk; never reused. 255 is reserved for the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleId(pub u8);

/// Declaration of a module to the store.
#[derive(Debug, Clone, Copy)]
pub struct ModuleSchema {
    /// Number on disk.
    pub id: ModuleId,
    /// Name on the command line, for example `bitcoin`.
    pub name: &'static str,
    /// Version of the module's tables; a store written with another one is refused with a message that names `reindex`.
    pub version: u32,
    /// All tables of the module.
    pub tables: &'static [Table],
    /// Modules whose rows it reads while a block is applied ([`crate::EarlierTables`]). They have lower numbers, are declared
    /// with it and see each block before it; when one of them is run again, so is it.
    pub reads: &'static [ModuleId],
}

impl ModuleSchema {
    /// Checks the declarations: no reserved id, tables of this module with distinct numbers, one Sequence table appended at
    /// most.
    pub(crate) fn check(modules: &[Self]) -> Result<(), StoreError> {
        let invalid = |text: String| Err(StoreError::InvalidSchema(text));
        let mut appended: Option<&Table> = None;
        for (index, module) in modules.iter().enumerate() {
            if module.id.0 == u8::MAX {
                return invalid(format!("module `{}` has the reserved number 255", module.name));
            }
            if modules[..index].iter().any(|other| other.id == module.id || other.name == module.name) {
                return invalid(format!("two modules share number {} or name `{}`", module.id.0, module.name));
            }
            for read in module.reads {
                if *read >= module.id || !modules.iter().any(|other| other.id == *read) {
                    return invalid(format!(
                        "module `{}` reads module {}, which does not come before it",
                        module.name, read.0
                    ));
                }
            }
            for (index, table) in module.tables.iter().enumerate() {
                if table.module != module.id {
                    return invalid(format!("table `{}` does not belong to module `{}`", table.name, module.name));
                }
                if table.placement == Placement::Appended {
                    if table.kind != TableKind::Sequence {
                        return invalid(format!("table `{}` is appended and no Sequence table", table.name));
                    }
                    if let Some(other) = appended.replace(table) {
                        let names = (other.name, table.name);
                        return invalid(format!(
                            "tables {names:?} are both appended: the files of one table alone never overlap"
                        ));
                    }
                }
                if module.tables[..index].iter().any(|other| other.id == table.id) {
                    return invalid(format!("two tables of module `{}` have number {}", module.name, table.id));
                }
            }
        }
        Ok(())
    }
}

/// One indexer module: it turns a block into rows. Rollback comes from the store, never from the module.
pub trait Module: Send {
    /// Names and tables.
    fn schema(&self) -> ModuleSchema;

    /// Adds rows that [`Self::connect`] will look for in block `next`, which spends these outputs, so that they are read while the block
    /// before is applied. Outputs of that block and of its own are not among them. It saves time and changes nothing else.
    ///
    /// # Errors
    /// Those of [`KeysAhead::add`].
    fn reads_ahead(
        &self,
        _next: &ConnectedBlock,
        _spent: &[OutPoint],
        _keys: &mut KeysAhead<'_>,
    ) -> Result<(), StoreError> {
        Ok(())
    }

    /// A module that must have applied a block before this one begins it, because something passes between them beside rows. In the list
    /// of modules it stands before this one.
    fn follows(&self) -> Option<ModuleId> {
        None
    }

    /// Writes the rows of `block`, the block after the newest one that the module has seen.
    ///
    /// # Errors
    /// Anything that makes the block unusable; nothing of the block is committed then.
    fn connect(&mut self, block: &ConnectedBlock, rows: &mut ModuleWriter<'_>) -> Result<(), ModuleError>;
}

/// A module could not apply a block.
#[derive(Debug, thiserror::Error)]
pub enum ModuleError {
    /// The store failed.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The block contradicts what the module has indexed, or holds what the module must halt on.
    #[error("{0}")]
    Block(String),
}
