use bitcoin::Txid;
use paraffin_store::{ModuleError, StoreError};

use crate::rows::RowError;

/// A read from the index failed.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The store could not answer.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// A row is damaged or was written by something else; `paraffin reindex bitcoin` writes it anew.
    #[error("table {table} of the Bitcoin index holds a damaged row ({reason}): run `paraffin reindex bitcoin`")]
    Damaged {
        /// Name of the table.
        table: &'static str,
        /// What is wrong.
        reason: &'static str,
    },
    /// The transaction named as the last one seen is not in this script's history, so there is no page after it.
    #[error("transaction {0} is not in this history")]
    NotInHistory(Txid),
    /// The raw bytes given for a transaction are not that transaction.
    #[error("the raw bytes of transaction {txid} do not fit: {reason}")]
    RawBytes {
        /// The requested transaction.
        txid: Txid,
        /// What is wrong.
        reason: String,
    },
    /// The text is not the 64 hexadecimal digits of a script's SHA-256.
    #[error("a script hash is 64 hexadecimal digits")]
    ScriptHash,
}

impl ReadError {
    pub(crate) fn damaged(table: &paraffin_store::Table, error: RowError) -> Self {
        Self::Damaged { table: table.name, reason: error.0 }
    }
}

impl From<ReadError> for ModuleError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Store(error) => Self::Store(error),
            other => Self::Block(other.to_string()),
        }
    }
}
