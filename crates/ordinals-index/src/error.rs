use paraffin_store::{StoreError, Table};

use crate::rows::RowError;

/// A read from the index failed.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The store could not answer.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The Bitcoin index could not answer.
    #[error("{0}")]
    Bitcoin(#[from] paraffin_bitcoin_index::ReadError),
    /// A row is damaged or missing; `paraffin reindex ordinals` writes it anew.
    #[error("table {table} of the ordinals index holds a damaged row ({reason}): run `paraffin reindex ordinals`")]
    Damaged {
        /// Name of the table.
        table: &'static str,
        /// What is wrong.
        reason: &'static str,
    },
    /// The memory check of [`crate::OrdinalsIndex::counting`] refused the answer.
    #[error("there is no memory for the answer")]
    OutOfMemory,
}

impl ReadError {
    pub(crate) fn missing(table: &Table) -> Self {
        Self::Damaged { table: table.name, reason: "a row that others name is missing" }
    }

    /// Makes an error of reading out of one of decoding.
    pub(crate) fn of(table: &'static Table) -> impl Fn(RowError) -> Self {
        |error| match error {
            RowError::NO_MEMORY => Self::OutOfMemory,
            RowError(reason) => Self::Damaged { table: table.name, reason },
        }
    }
}
