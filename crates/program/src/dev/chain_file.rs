//! Keeps the blocks of `dev` between runs (`docs/decisions/0007`).
//!
//! The form is that of `paraffin replay`: every block preceded by its length, 4 bytes little-endian. A block that a kill cut
//! short at the end is dropped by the next start.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bitcoin::consensus::{deserialize, serialize};
use bitcoin::{Block, BlockHash};
use paraffin_devnet::{Devnet, Node, NodeEvent};
use tokio::sync::{broadcast, watch};
use tokio::task::JoinHandle;

/// Name of the file.
pub(crate) const NAME: &str = "devnet-blocks.dat";
/// Longest block, in bytes.
const BLOCK_BYTES_MAX: usize = 4_000_000;

/// The blocks cannot be kept.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChainFileError {
    /// I/O.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The I/O error.
        source: std::io::Error,
    },
    /// The file holds something else.
    #[error("{path} is damaged at byte {offset} ({reason}): start with --fresh")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where.
        offset: usize,
        /// What is wrong.
        reason: String,
    },
}

/// The task that appends blocks.
pub(crate) struct ChainFile {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl ChainFile {
    /// Gives the node the blocks of earlier runs, then appends every block that it connects.
    ///
    /// # Errors
    /// See [`ChainFileError`].
    pub(crate) fn attach(folder: &Path, devnet: &Devnet) -> Result<Self, ChainFileError> {
        let path = folder.join(NAME);
        let failed = |source| ChainFileError::Io { path: path.clone(), source };
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(&path).map_err(failed)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let node = devnet.node();
        let whole = restore(&node, &bytes).map_err(|(offset, reason)| ChainFileError::Damaged {
            path: path.clone(),
            offset,
            reason,
        })?;
        file.set_len(whole as u64).map_err(failed)?;
        let events = node.subscribe();
        let (stop, stopped) = watch::channel(false);
        let task = tokio::spawn(append_blocks(node, events, stopped, file, path.clone()));
        Ok(Self { stop, task })
    }

    /// Ends the task.
    pub(crate) async fn close(self) {
        self.stop.send_replace(true);
        if self.task.await.is_err() {
            tracing::error!("the task that keeps the blocks of the chain had panicked");
        }
    }
}

/// Submits the blocks; answers the length of the whole ones.
fn restore(node: &Node, bytes: &[u8]) -> Result<usize, (usize, String)> {
    let mut offset = 0;
    while let Some(length) = bytes.get(offset..offset + 4).and_then(|length| length.first_chunk::<4>()) {
        let length = u32::from_le_bytes(*length) as usize;
        if length > BLOCK_BYTES_MAX {
            return Err((offset, "a block cannot be that long".to_owned()));
        }
        let Some(block) = bytes.get(offset + 4..offset + 4 + length) else { break };
        let block: Block = deserialize(block).map_err(|error| (offset, error.to_string()))?;
        // A block of a branch that lost is not refused; one that the node knows is no error either.
        if let Err(rejection) = node.submit_block(block) {
            return Err((offset, rejection.to_string()));
        }
        offset += 4 + length;
    }
    Ok(offset)
}

async fn append_blocks(
    node: Arc<Node>,
    mut events: broadcast::Receiver<NodeEvent>,
    mut stopped: watch::Receiver<bool>,
    mut file: File,
    path: PathBuf,
) {
    let mut known = best_chain(&node);
    loop {
        let ended = tokio::select! {
            event = events.recv() => matches!(event, Err(broadcast::error::RecvError::Closed)),
            _ = stopped.wait_for(|stopped| *stopped) => true,
        };
        // Whatever the event said, the file is brought up to the tip: events may have been missed.
        if let Err(error) = append_new(&node, &mut known, &mut file) {
            tracing::error!(%error, path = %path.display(), "the blocks of the chain are no longer kept");
            return;
        }
        if ended {
            return;
        }
    }
}

/// Hashes of the best chain: blocks of the scenario and of the file.
fn best_chain(node: &Node) -> HashSet<BlockHash> {
    let height = node.tip().height;
    (0..=height).filter_map(|height| node.block_hash(height)).collect()
}

/// Appends the blocks of the best chain that the file does not have, oldest first.
fn append_new(node: &Node, known: &mut HashSet<BlockHash>, file: &mut File) -> std::io::Result<()> {
    let mut missing = Vec::new();
    let mut hash = node.tip().hash;
    while !known.contains(&hash) {
        let Some(block) = node.block(&hash) else { break };
        let previous = block.header.prev_blockhash;
        missing.push((hash, block));
        hash = previous;
    }
    for (hash, block) in missing.iter().rev() {
        let bytes = serialize(block.as_ref());
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        file.write_all(&length.to_le_bytes())?;
        file.write_all(&bytes)?;
        known.insert(*hash);
    }
    file.flush()
}
