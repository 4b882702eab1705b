//! Raw blocks through an indexer program.

use std::path::Path;
use std::sync::Arc;

use paraffin_hosted::{BlockLimits, BlockRow, HostedModule, SCHEMA, load_file};
use paraffin_indexer::{Indexer, IndexerOptions};
use paraffin_primitives::{ConnectedBlock, Network};

use super::{ReplayError, open_run};
use data_encoding::HEXLOWER;

/// Runs every block and prints what the program wrote in it as one line: height, hash, digest, pairs, bytes.
pub(super) fn run(
    program: &Path,
    folder: &Path,
    network: Network,
    runs: Vec<Vec<ConnectedBlock>>,
    output: &mut impl std::io::Write,
) -> Result<(), ReplayError> {
    let program = load_file(program)?;
    let mut blocks = 0;
    for run in runs {
        let store = open_run(folder, network, &run, SCHEMA)?;
        let module = HostedModule::new(Arc::clone(&program), BlockLimits::default(), 0);
        let mut indexer = Indexer::new(store.clone(), vec![Box::new(module)], IndexerOptions::default())?;
        for block in &run {
            indexer.apply(block)?;
            indexer.commit()?;
            let Some(row) = BlockRow::at(&store.snapshot(), block.id.height)? else { continue };
            let line = format!(
                "{} {} {} {} pairs {} bytes",
                block.id.height,
                block.id.hash,
                HEXLOWER.encode(&row.digest),
                row.pairs,
                row.bytes
            );
            writeln!(output, "{line}").map_err(ReplayError::Output)?;
            blocks += 1;
        }
    }
    writeln!(output, "{blocks} blocks run by the program {}", HEXLOWER.encode(&program.hash()))
        .map_err(ReplayError::Output)
}
