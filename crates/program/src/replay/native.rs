//! Raw blocks through our own engine of contracts.

use std::path::Path;
use std::sync::Arc;

use paraffin_alkanes::{AlkanesModule, Builtins, ChainState, CodeCache, NativeEngine, Parameters, SCHEMA};
use paraffin_indexer::{Indexer, IndexerOptions};
use paraffin_primitives::{ConnectedBlock, Network};

use super::{ReplayError, open_run};
use data_encoding::HEXLOWER;

/// Runs every block and prints what it did to contracts as one line: height, hash, digest, messages. Blocks below the first active one
/// of the network do nothing and have no line.
pub(super) fn run(
    builtins: Builtins,
    folder: &Path,
    network: Network,
    runs: Vec<Vec<ConnectedBlock>>,
    output: &mut impl std::io::Write,
) -> Result<(), ReplayError> {
    let (builtins, codes) = (Arc::new(builtins), Arc::new(CodeCache::default()));
    let first_active = Parameters::of(network).genesis_height;
    let (mut active, mut below) = (0, 0);
    for run in runs {
        let store = open_run(folder, network, &run, SCHEMA)?;
        let engine = NativeEngine::new(network, Arc::clone(&builtins), Arc::clone(&codes));
        let module = AlkanesModule::new(Box::new(engine), network);
        let mut indexer = Indexer::new(store.clone(), vec![Box::new(module)], IndexerOptions::default())?;
        for block in &run {
            indexer.apply(block)?;
            indexer.commit()?;
            let height = block.id.height;
            if u64::from(height) < first_active {
                below += 1;
                continue;
            }
            let snapshot = store.snapshot();
            let state = ChainState::at(&snapshot, height);
            let digest = state.effects_digest(height)?.unwrap_or_default();
            let messages = state.traced_outpoints(height)?.len();
            writeln!(output, "{height} {} {} {messages} messages", block.id.hash, HEXLOWER.encode(&digest))
                .map_err(ReplayError::Output)?;
            active += 1;
        }
    }
    let below = match below {
        0 => String::new(),
        count => format!("; {count} below block {first_active}, the first one with contracts"),
    };
    writeln!(output, "{active} blocks run by the native engine{below}").map_err(ReplayError::Output)
}
