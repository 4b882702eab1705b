//! From a request to rows in a file.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use paraffin_amm::Timeframe;
use paraffin_export::{Dataset, ExportError, Selection, Source, export};
use paraffin_primitives::{AlkaneId, ParseAlkaneIdError};
use serde_json::{Value, json};

use super::{DatasetName, ExportRequest, Origin, RowsProgress};

/// No file was written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    /// The request makes no sense.
    #[error("{0}")]
    Request(String),
    /// The rows or the file.
    #[error(transparent)]
    Export(#[from] ExportError),
}

/// Writes what is asked for out of what the store holds now, on the calling thread, while others go on with the store; what the command
/// prints.
///
/// # Errors
/// See [`WriteError`]; also after `given_up` turned true. Then nothing is left of the file.
pub(crate) fn write(
    origin: &Origin,
    request: &ExportRequest,
    given_up: &AtomicBool,
    progress: &mut dyn FnMut(RowsProgress),
) -> Result<Value, WriteError> {
    let snapshot = origin.store.snapshot();
    let source = Source { snapshot: &snapshot, network: origin.network, version: origin.version };
    let selection = request.selection()?;
    let summary = export(source, &selection, &request.file, request.force, &mut |now| {
        progress(RowsProgress { done: now.done, total: now.total, rows: now.rows });
        if given_up.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(json!({
        "dataset": selection.dataset.name(),
        "height": summary.block.height,
        "hash": summary.block.hash.to_string(),
        "rows": summary.rows,
        "bytes": summary.bytes,
    }))
}

impl ExportRequest {
    fn selection(&self) -> Result<Selection, WriteError> {
        let dataset = match self.dataset {
            DatasetName::Swaps => Dataset::Swaps,
            DatasetName::Candles => Dataset::Candles(timeframe(self.bucket.as_deref())?),
            DatasetName::Transfers => Dataset::Transfers,
            DatasetName::Balances => Dataset::Balances,
        };
        let (pool, token) = (alkane_id(self.pool.as_deref())?, alkane_id(self.token.as_deref())?);
        Ok(Selection { dataset, from: self.from, to: self.to, pool, token })
    }
}

fn alkane_id(text: Option<&str>) -> Result<Option<AlkaneId>, WriteError> {
    text.map(str::parse).transpose().map_err(|error: ParseAlkaneIdError| WriteError::Request(error.to_string()))
}

fn timeframe(name: Option<&str>) -> Result<Timeframe, WriteError> {
    let Some(name) = name else { return Ok(Timeframe::Hour) };
    let names = || Timeframe::ALL.map(Timeframe::name).join(", ");
    Timeframe::parse(name).ok_or_else(|| WriteError::Request(format!("no bucket {name}: {}", names())))
}
