//! `paraffin replay`: raw blocks from files through the index, without a node.
//!
//! Every run of consecutive blocks gets a store of its own (`docs/decisions/0004`). The result does not depend on the order of
//! the files.

mod heights;
mod hosted;
mod native;

use data_encoding::HEXLOWER;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use bitcoin::consensus::deserialize;
use bitcoin::{Transaction, Txid};
use paraffin_alkanes::{BuiltinsError, StateError};
use paraffin_bitcoin_index::{
    BitcoinIndex, BitcoinModule, MissingPrevouts, Options, RawTransactions, ReadError, SourceError, StoredTransactions,
};
use paraffin_chain::{BlockFault, CheckedBlock, check_block};
use paraffin_hosted::{LoadError, read_file as read_program};
use paraffin_indexer::{Indexer, IndexerError, IndexerOptions};
use paraffin_primitives::{BlockId, ConnectedBlock, Network};
use paraffin_store::{ModuleSchema, Snapshot, Store, StoreError, StoreOptions};

use self::heights::{LooseBlock, with_heights};
use crate::command_line::{ReplayArguments, ReplayEngine};
use crate::contracts::{Sources, builtins};

/// Memory of the store of one run, in bytes.
const STORE_MEMORY: u64 = 256 << 20;
/// Transactions that are read back at once.
const READ_BACK: usize = 256;

/// A replay cannot go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplayError {
    /// A file cannot be read.
    #[error("{file}: {source}")]
    File {
        /// The file.
        file: String,
        /// The I/O error.
        source: std::io::Error,
    },
    /// A file holds something else.
    #[error("{file}: block {number} of the file is unusable: {reason}")]
    Block {
        /// The file.
        file: String,
        /// Position in the file, from 1.
        number: usize,
        /// What is wrong.
        reason: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The index refused a block.
    #[error(transparent)]
    Indexer(#[from] IndexerError),
    /// The index cannot be read back.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A stored transaction cannot be read back.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The folder already holds something.
    #[error("{0} already holds an index: give an empty folder")]
    FolderUsed(PathBuf),
    /// Transactions are answered incorrectly.
    #[error("{wrong} of {total} transactions are not answered rightly, the first is {first}")]
    Unanswered {
        /// Number of wrong answers.
        wrong: usize,
        /// Number of transactions.
        total: usize,
        /// The first transaction with a wrong answer.
        first: Txid,
    },
    /// The indexer program cannot be run.
    #[error(transparent)]
    Program(#[from] LoadError),
    /// No program is named.
    #[error("--engine hosted runs an indexer program: name its file with --alkanes-wasm")]
    NoProgram,
    /// The native engine has not all built-in contracts.
    #[error(transparent)]
    Builtins(#[from] BuiltinsError),
    /// The state of the native engine cannot be read.
    #[error(transparent)]
    State(#[from] StateError),
    /// The state of the program cannot be read.
    #[error(transparent)]
    Hosted(#[from] paraffin_hosted::ReadError),
    /// Standard output is closed.
    #[error("standard output: {0}")]
    Output(std::io::Error),
}

/// Runs the command.
///
/// # Errors
/// See [`ReplayError`].
pub(crate) fn run(arguments: &ReplayArguments) -> Result<(), ReplayError> {
    let mut blocks = Vec::new();
    for file in &arguments.blocks {
        blocks.extend(read_file(file)?);
    }
    let temporary;
    let folder = match &arguments.data_dir {
        Some(folder) => folder.as_path(),
        None => {
            temporary = tempfile::tempdir()
                .map_err(|source| ReplayError::File { file: "temporary folder".to_owned(), source })?;
            temporary.path()
        }
    };
    let mut output = std::io::stdout().lock();
    let runs = consecutive_runs(with_heights(blocks, arguments.network)?);
    match (arguments.engine, arguments.alkanes_wasm.as_deref()) {
        (Some(ReplayEngine::Native), program) => {
            let program = program.map(read_program).transpose()?;
            let sources = Sources { program: program.as_deref(), folder: None, runs_program: false };
            let builtins = builtins(arguments.network, &sources)?;
            return native::run(builtins, folder, arguments.network, runs, &mut output);
        }
        // A program that is named is run.
        (Some(ReplayEngine::Hosted) | None, Some(program)) => {
            return hosted::run(program, folder, arguments.network, runs, &mut output);
        }
        (Some(ReplayEngine::Hosted), None) => return Err(ReplayError::NoProgram),
        (None, None) => {}
    }
    let (mut answered, mut total) = (0, 0);
    for run in runs {
        let store = index_run(folder, arguments.network, &run)?;
        let snapshot = store.snapshot();
        for block in &run {
            if arguments.digest {
                print_digest(&mut output, &snapshot, block.id)?;
            }
            read_back(&snapshot, arguments.network, block)?;
            total += block.txids.len();
            answered += block.txids.len();
        }
    }
    writeln!(output, "{answered} of {total} transactions answered").map_err(ReplayError::Output)
}

fn print_digest(output: &mut impl std::io::Write, snapshot: &Snapshot, id: BlockId) -> Result<(), ReplayError> {
    let Some(record) = snapshot.block(id.height)? else { return Ok(()) };
    writeln!(
        output,
        "{} {} {} {}",
        id.height,
        id.hash,
        HEXLOWER.encode(&record.digest),
        HEXLOWER.encode(&record.cumulative)
    )
    .map_err(ReplayError::Output)
}

/// One block alone, or many with their lengths before them.
fn read_file(file: &Path) -> Result<Vec<LooseBlock>, ReplayError> {
    let name = file.display().to_string();
    let bytes = std::fs::read(file).map_err(|source| ReplayError::File { file: name.clone(), source })?;
    let refuse = |number, reason| ReplayError::Block { file: name.clone(), number, reason };
    let loose = |number, checked| LooseBlock { file: name.clone(), number, checked };
    let reason = match checked(&bytes) {
        Ok(checked) => return Ok(vec![loose(1, checked)]),
        Err(reason) => reason,
    };
    let mut rest = bytes.as_slice();
    let mut blocks = Vec::new();
    while !rest.is_empty() {
        let number = blocks.len() + 1;
        let length = rest.first_chunk::<4>().map(|length| u32::from_le_bytes(*length) as usize);
        match length.and_then(|length| rest.get(4..4 + length)) {
            Some(block) => {
                blocks.push(loose(number, checked(block).map_err(|reason| refuse(number, reason))?));
                rest = &rest[4 + block.len()..];
            }
            // Neither form fits; what is wrong with the whole file as one block says more about a file of one block.
            None => return Err(refuse(number, reason)),
        }
    }
    if blocks.is_empty() {
        return Err(refuse(1, "the file is empty".to_owned()));
    }
    Ok(blocks)
}

fn checked(bytes: &[u8]) -> Result<CheckedBlock, String> {
    let header = bytes.get(..80).ok_or("it is shorter than a block header")?;
    let header: bitcoin::block::Header = deserialize(header).map_err(|error| error.to_string())?;
    check_block(bytes, header.block_hash(), false).map_err(|fault: BlockFault| fault.to_string())
}

/// Runs of blocks that follow each other, by height; each block once.
fn consecutive_runs(mut blocks: Vec<ConnectedBlock>) -> Vec<Vec<ConnectedBlock>> {
    blocks.sort_by_key(|block| (block.id.height, block.id.hash));
    blocks.dedup_by_key(|block| block.id);
    let mut runs: Vec<Vec<ConnectedBlock>> = Vec::new();
    for block in blocks {
        let follows = |run: &&mut Vec<ConnectedBlock>| {
            run.last().is_some_and(|last| {
                last.id.hash == block.block.header.prev_blockhash && last.id.height + 1 == block.id.height
            })
        };
        match runs.iter_mut().find(follows) {
            Some(run) => run.push(block),
            None => runs.push(vec![block]),
        }
    }
    runs
}

/// A store of its own for a run of blocks.
fn open_run(
    folder: &Path,
    network: Network,
    run: &[ConnectedBlock],
    schema: ModuleSchema,
) -> Result<Store, ReplayError> {
    let first = run[0].id;
    let folder = folder.join(format!("run-{}-{}", first.height, first.hash));
    if folder.exists() {
        return Err(ReplayError::FolderUsed(folder));
    }
    std::fs::create_dir_all(&folder)
        .map_err(|source| ReplayError::File { file: folder.display().to_string(), source })?;
    let options = StoreOptions { network, undo_blocks: Some(0), memory_bytes: STORE_MEMORY };
    Ok(Store::open(&folder.join("store"), &options, &[schema])?)
}

fn index_run(folder: &Path, network: Network, run: &[ConnectedBlock]) -> Result<Store, ReplayError> {
    let store = open_run(folder, network, run, paraffin_bitcoin_index::SCHEMA)?;
    let bitcoin = BitcoinModule::with_options(Options {
        raw_transactions: RawTransactions::Store,
        missing_prevouts: MissingPrevouts::Tolerate,
    });
    let mut indexer = Indexer::new(store.clone(), vec![Box::new(bitcoin)], IndexerOptions::default())?;
    for block in run {
        indexer.apply(block)?;
    }
    indexer.commit()?;
    Ok(store)
}

/// Asks the index for every transaction of the block and compares what comes back.
fn read_back(snapshot: &Snapshot, network: Network, block: &ConnectedBlock) -> Result<(), ReplayError> {
    let index = BitcoinIndex::new(snapshot.clone(), network);
    let source = StoredTransactions::new(snapshot.clone());
    let mut wrong = Vec::new();
    for (txids, transactions) in block.txids.chunks(READ_BACK).zip(block.block.txdata.chunks(READ_BACK)) {
        let mut locations = Vec::with_capacity(txids.len());
        for txid in txids {
            match index.transaction_location(txid)? {
                Some(location) => locations.push(location),
                None => wrong.push(*txid),
            }
        }
        if locations.len() < txids.len() {
            continue;
        }
        for ((raw, expected), txid) in source.read(&locations)?.iter().zip(transactions).zip(txids) {
            let same = deserialize::<Transaction>(raw)
                .is_ok_and(|transaction| transaction == *expected && transaction.compute_txid() == *txid);
            if !same {
                wrong.push(*txid);
            }
        }
    }
    match wrong.first() {
        None => Ok(()),
        Some(first) => Err(ReplayError::Unanswered { wrong: wrong.len(), total: block.txids.len(), first: *first }),
    }
}
