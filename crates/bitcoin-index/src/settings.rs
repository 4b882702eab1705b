use std::fmt;

use crate::activity::RowSource;
use crate::error::ReadError;
use crate::tables::{RAW_TRANSACTIONS_SETTING, SETTINGS};

/// Where the bytes of confirmed transactions come from. Fixed when a store is created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawTransactions {
    /// The index stores them: about as many bytes more as the blocks have.
    Store,
    /// The part of the block is fetched from the node.
    Node,
}

impl RawTransactions {
    pub(crate) fn stored(self) -> u8 {
        match self {
            Self::Node => 0,
            Self::Store => 1,
        }
    }
}

impl fmt::Display for RawTransactions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Store => "store",
            Self::Node => "node",
        })
    }
}

/// What to do with an input whose output the index does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissingPrevouts {
    /// Halt: the block does not follow from what was indexed.
    #[default]
    Refuse,
    /// Note the input as one of an unknown output: it spends nothing here and the fee of its transaction is unknown.
    /// For isolated blocks only.
    Tolerate,
}

/// All options of the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// See [`RawTransactions`].
    pub raw_transactions: RawTransactions,
    /// See [`MissingPrevouts`].
    pub missing_prevouts: MissingPrevouts,
}

/// The setting that the store was created with; `None` before the first block.
pub(crate) fn stored_raw_transactions(rows: &impl RowSource) -> Result<Option<RawTransactions>, ReadError> {
    match rows.get(&SETTINGS, RAW_TRANSACTIONS_SETTING)?.as_deref() {
        None => Ok(None),
        Some([0]) => Ok(Some(RawTransactions::Node)),
        Some([1]) => Ok(Some(RawTransactions::Store)),
        Some(_) => Err(ReadError::Damaged { table: SETTINGS.name, reason: "unknown value of raw_transactions" }),
    }
}
