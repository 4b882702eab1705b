//! The export of a selection of rows.

use std::ops::ControlFlow;
use std::path::Path;

use paraffin_amm::Timeframe;
use paraffin_primitives::{AlkaneId, BlockId, Height, Network};
use paraffin_store::{ModuleId, Snapshot};

use crate::cell::Cell;
use crate::column::Column;
use crate::file::NewFile;
use crate::writer::TableWriter;
use crate::{ExportError, balances, candles, swaps, transfers};

/// Datasets that can be exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dataset {
    /// Successful trades with pools, in the order of the chain.
    Swaps,
    /// Candles of pools.
    Candles(Timeframe),
    /// Transfers of alkanes, in the order of the chain.
    Transfers,
    /// Balances of holders.
    Balances,
}

impl Dataset {
    /// Its name on the command line and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Swaps => "swaps",
            Self::Candles(_) => "candles",
            Self::Transfers => "transfers",
            Self::Balances => "balances",
        }
    }

    /// The module whose rows it is made of, and the name of that index in errors.
    const fn module(self) -> (ModuleId, &'static str) {
        match self {
            Self::Swaps | Self::Candles(_) => (paraffin_amm::MODULE, "markets"),
            Self::Transfers | Self::Balances => (paraffin_alkanes::MODULE, "alkanes"),
        }
    }
}

/// Which rows are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selection {
    /// What.
    pub dataset: Dataset,
    /// Height of the first block; candles begin with the bucket of its time. Balances have none.
    pub from: Height,
    /// Height of the last block, as of whose end everything is; the newest when absent.
    pub to: Option<Height>,
    /// Of swaps and candles: this pool alone.
    pub pool: Option<AlkaneId>,
    /// Of pools with this alkane alone, or of this alkane alone.
    pub token: Option<AlkaneId>,
}

/// The source of the rows, and the program that reads it.
#[derive(Clone, Copy)]
pub struct Source<'s> {
    /// The index.
    pub snapshot: &'s Snapshot,
    /// Its network.
    pub network: Network,
    /// Version of the program, for the metadata of the file.
    pub version: &'s str,
}

/// Progress of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportProgress {
    /// Blocks, pools or alkanes that are done.
    pub done: u64,
    /// How many there are.
    pub total: u64,
    /// Rows so far.
    pub rows: u64,
}

/// Summary of the written file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportSummary {
    /// The block as of whose end all rows are.
    pub block: BlockId,
    /// Rows of the file.
    pub rows: u64,
    /// Length of the file.
    pub bytes: u64,
}

/// Writes the rows of a selection into the file `path`, on the calling thread; an existing file is replaced if `is_replacing` is true.
/// `progress` is called at intervals and may stop the export.
///
/// # Errors
/// See [`ExportError`]; then the folder is as it was.
pub fn export(
    source: Source<'_>,
    selection: &Selection,
    path: &Path,
    is_replacing: bool,
    progress: &mut dyn FnMut(ExportProgress) -> ControlFlow<()>,
) -> Result<ExportSummary, ExportError> {
    let (block, time) = last_block(source.snapshot, selection)?;
    let columns = match selection.dataset {
        Dataset::Swaps => swaps::COLUMNS,
        Dataset::Candles(_) => candles::COLUMNS,
        Dataset::Transfers => transfers::COLUMNS,
        Dataset::Balances => balances::COLUMNS,
    };
    let file = NewFile::create(path, is_replacing)?;
    let mut output = Output::new(&file, path, columns, notes(source, selection, block, time), progress)?;
    let span = Span { source, from: selection.from, to: block.height };
    match selection.dataset {
        Dataset::Swaps => swaps::write(span, selection, &mut output)?,
        Dataset::Candles(timeframe) => candles::write(span, selection, timeframe, &mut output)?,
        Dataset::Transfers => transfers::write(span, selection.token, &mut output)?,
        Dataset::Balances => balances::write(span, selection.token, &mut output)?,
    }
    let rows = output.finish()?;
    Ok(ExportSummary { block, rows, bytes: file.finish()? })
}

/// The block as of whose end everything is, and its time.
fn last_block(snapshot: &Snapshot, selection: &Selection) -> Result<(BlockId, u32), ExportError> {
    let tip = snapshot.tip().ok_or(ExportError::Empty)?;
    let (module, name) = selection.dataset.module();
    let indexed = snapshot.module_height(module)?.ok_or(ExportError::NotIndexed(name))?;
    let mut newest = indexed.min(tip.id.height);
    if module == paraffin_amm::MODULE {
        // Absent where the instance has no index of other pools.
        newest = snapshot.module_height(paraffin_cryptoswap::MODULE)?.map_or(newest, |height| height.min(newest));
    }
    let to = selection.to.unwrap_or(newest);
    if to > newest {
        return Err(ExportError::AboveIndex { requested: to, newest });
    }
    if selection.from > to {
        return Err(ExportError::Range { from: selection.from, to });
    }
    let record = snapshot.block(to)?.ok_or(ExportError::AboveIndex { requested: to, newest })?;
    Ok((record.id, record.time))
}

/// Metadata of the file beside the units of its columns.
fn notes(source: Source<'_>, selection: &Selection, block: BlockId, time: u32) -> Vec<(String, String)> {
    let Selection { dataset, from, pool, token, .. } = selection;
    let mut notes = vec![
        ("dataset", dataset.name().to_owned()),
        ("version", source.version.to_owned()),
        ("network", source.network.name().to_owned()),
        ("height", block.height.to_string()),
        ("block_hash", block.hash.to_string()),
        ("block_time", time.to_string()),
    ];
    if *dataset != Dataset::Balances {
        notes.push(("from_height", from.to_string()));
    }
    if let Dataset::Candles(timeframe) = dataset {
        notes.push(("bucket", timeframe.name().to_owned()));
    }
    notes.extend(pool.map(|pool| ("pool", pool.to_string())));
    notes.extend(token.map(|token| ("token", token.to_string())));
    notes.into_iter().map(|(key, value)| (format!("paraffin.{key}"), value)).collect()
}

/// The blocks of which rows are wanted.
#[derive(Clone, Copy)]
pub(crate) struct Span<'s> {
    pub(crate) source: Source<'s>,
    pub(crate) from: Height,
    pub(crate) to: Height,
}

impl Span<'_> {
    /// Time in the header of a block, Unix seconds.
    pub(crate) fn time_of(&self, height: Height) -> Result<u32, ExportError> {
        let above = ExportError::AboveIndex { requested: height, newest: self.to };
        Ok(self.source.snapshot.block(height)?.ok_or(above)?.time)
    }

    /// The address of a script; `None` where it has none.
    pub(crate) fn address(&self, script: &bitcoin::Script) -> Option<bitcoin::Address> {
        bitcoin::Address::from_script(script, self.source.network.bitcoin()).ok()
    }
}

/// Receives the rows.
pub(crate) struct Output<'o> {
    writer: TableWriter<std::fs::File>,
    path: &'o Path,
    progress: &'o mut dyn FnMut(ExportProgress) -> ControlFlow<()>,
    total: u64,
    done: u64,
}

/// Rows between two progress reports.
const ROWS_PER_REPORT: u64 = 1 << 12;

impl<'o> Output<'o> {
    fn new(
        file: &NewFile,
        path: &'o Path,
        columns: &'static [Column],
        notes: Vec<(String, String)>,
        progress: &'o mut dyn FnMut(ExportProgress) -> ControlFlow<()>,
    ) -> Result<Self, ExportError> {
        let writer = TableWriter::new(file.handle()?, "rows", columns, notes);
        let writer = writer.map_err(|error| ExportError::written(path, error))?;
        Ok(Self { writer, path, progress, total: 0, done: 0 })
    }

    /// How many blocks, pools or alkanes there are.
    pub(crate) fn expect(&mut self, total: u64) {
        self.total = total;
    }

    /// Reports how many of them are done.
    ///
    /// # Errors
    /// [`ExportError::GivenUp`].
    pub(crate) fn done(&mut self, done: u64) -> Result<(), ExportError> {
        self.done = done.min(self.total);
        self.report()
    }

    /// Writes a row.
    ///
    /// # Errors
    /// The file cannot be written; [`ExportError::GivenUp`].
    pub(crate) fn row(&mut self, cells: Vec<Cell>) -> Result<(), ExportError> {
        self.writer.row(cells).map_err(|error| ExportError::written(self.path, error))?;
        if self.writer.rows().is_multiple_of(ROWS_PER_REPORT) { self.report() } else { Ok(()) }
    }

    fn report(&mut self) -> Result<(), ExportError> {
        let now = ExportProgress { done: self.done, total: self.total, rows: self.writer.rows() };
        match (self.progress)(now) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(ExportError::GivenUp),
        }
    }

    fn finish(self) -> Result<u64, ExportError> {
        let Self { writer, path, .. } = self;
        writer.finish().map_err(|error| ExportError::written(path, error))
    }
}
