//! Blocks fetched and checked ahead, in parallel, bounded in number and in memory.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use paraffin_primitives::{BlockId, ConnectedBlock, ScriptDigests};
use tokio::task::JoinHandle;

use crate::block_check::{CheckedBlock, spent_outputs_fit};
use crate::client::NodeClient;
use crate::error::NodeError;

/// Memory that blocks fetched ahead may take, in bytes, estimated. One block is always fetched, whatever its size.
const AHEAD_BYTES_MAX: usize = 128 << 20;
/// Assumed size of a block before any is known: a full one.
const FIRST_ESTIMATE: usize = 16 << 20;
/// Least estimate of a block, since single ones are larger than the average.
const ESTIMATE_MIN: usize = 1 << 20;

/// The queue of blocks under way, in chain order.
pub(crate) struct Prefetch {
    client: NodeClient,
    count_max: usize,
    spent_outputs: bool,
    queue: VecDeque<Slot>,
    held: Arc<AtomicUsize>,
    /// Running average of the memory that one block takes.
    estimate: usize,
    /// Of the block that was delivered last.
    last: Option<FetchPeriod>,
}

struct Slot {
    id: BlockId,
    state: State,
}

enum State {
    Running(JoinHandle<Result<Fetched, NodeError>>),
    Ready(Fetched),
}

struct Fetched {
    block: Box<ConnectedBlock>,
    held: Held,
    period: FetchPeriod,
}

/// When a block was requested, and when it was received and checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchPeriod {
    /// Time of the request.
    pub began: SystemTime,
    /// Time at which it was received and checked.
    pub ended: SystemTime,
}

/// Memory counted until the block is delivered or dropped.
struct Held {
    total: Arc<AtomicUsize>,
    bytes: usize,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.total.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Prefetch {
    pub(crate) fn new(client: NodeClient, count_max: usize, spent_outputs: bool) -> Self {
        Self {
            client,
            count_max: count_max.max(1),
            spent_outputs,
            queue: VecDeque::new(),
            held: Arc::default(),
            estimate: FIRST_ESTIMATE,
            last: None,
        }
    }

    /// Starts fetching `upcoming` as far as the bounds allow. Fetches of other blocks are cancelled.
    pub(crate) fn fill(&mut self, mut upcoming: impl Iterator<Item = BlockId>) {
        let mut matching = 0;
        let mut next = upcoming.next();
        while let (Some(slot), Some(id)) = (self.queue.get(matching), next) {
            if slot.id != id {
                break;
            }
            matching += 1;
            next = upcoming.next();
        }
        self.give_up_from(matching);
        while let Some(id) = next {
            if !self.has_room() {
                break;
            }
            let task = fetch(self.client.clone(), id, self.spent_outputs, Arc::clone(&self.held));
            self.queue.push_back(Slot { id, state: State::Running(tokio::spawn(task)) });
            next = upcoming.next();
        }
    }

    fn has_room(&self) -> bool {
        if self.queue.is_empty() {
            return true;
        }
        let running =
            self.queue.iter().filter(|slot| matches!(&slot.state, State::Running(task) if !task.is_finished())).count();
        let expected = self.held.load(Ordering::Relaxed) + (running + 1) * self.estimate;
        self.queue.len() < self.count_max && expected <= AHEAD_BYTES_MAX
    }

    /// Waits for the first block and returns it. Nothing is lost when the wait is cancelled.
    ///
    /// # Errors
    /// The failure to fetch the block; all other fetches are cancelled.
    pub(crate) async fn first(&mut self) -> Result<Option<Box<ConnectedBlock>>, NodeError> {
        self.settle(0).await?;
        let Some(Slot { state: State::Ready(fetched), .. }) = self.queue.pop_front() else { return Ok(None) };
        self.estimate = ((self.estimate * 3 + fetched.held.bytes) / 4).max(ESTIMATE_MIN);
        self.last = Some(fetched.period);
        Ok(Some(fetched.block))
    }

    /// The block that [`Self::first`] would return, if it need not wait.
    pub(crate) async fn ready(&mut self) -> Option<&ConnectedBlock> {
        if let State::Running(task) = &self.queue.front()?.state {
            if !task.is_finished() {
                return None;
            }
            // A failure has cancelled the other fetches, and the block is fetched again when its turn comes.
            self.settle(0).await.ok()?;
        }
        match &self.queue.front()?.state {
            State::Ready(fetched) => Some(&fetched.block),
            State::Running(_) => None,
        }
    }

    /// When the block that was delivered last was fetched.
    pub(crate) fn last(&self) -> Option<FetchPeriod> {
        self.last
    }

    /// Waits until everything under way has been fetched and checked.
    ///
    /// # Errors
    /// As [`Self::first`].
    pub(crate) async fn settle_all(&mut self) -> Result<(), NodeError> {
        for index in 0..self.queue.len() {
            self.settle(index).await?;
        }
        Ok(())
    }

    async fn settle(&mut self, index: usize) -> Result<(), NodeError> {
        let Some(slot) = self.queue.get_mut(index) else { return Ok(()) };
        let State::Running(task) = &mut slot.state else { return Ok(()) };
        let outcome =
            task.await.unwrap_or_else(|_| Err(NodeError::Unavailable("the instance is shutting down".to_owned())));
        match outcome {
            Ok(fetched) => {
                slot.state = State::Ready(fetched);
                Ok(())
            }
            Err(error) => {
                self.clear();
                Err(error)
            }
        }
    }

    /// Cancels all fetches.
    pub(crate) fn clear(&mut self) {
        self.give_up_from(0);
    }

    fn give_up_from(&mut self, index: usize) {
        for slot in self.queue.drain(index..) {
            if let State::Running(task) = slot.state {
                task.abort();
            }
        }
    }
}

impl Drop for Prefetch {
    fn drop(&mut self) {
        self.clear();
    }
}

/// The block, checked, with the outputs that it spends where the node reports them and they are wanted.
pub(crate) async fn connected_block(
    client: &NodeClient,
    id: BlockId,
    wants_spent: bool,
) -> Result<ConnectedBlock, NodeError> {
    let spent = async {
        if !wants_spent {
            return Ok(None);
        }
        match client.spent_outputs(id.hash).await {
            // Modules can look up the outputs, so a failure of this optional request does not stop the index.
            Err(NodeError::Invalid(_)) => Ok(None),
            outcome => outcome,
        }
    };
    let (checked, spent) = tokio::join!(client.checked_block(id.hash, id.height), spent);
    let CheckedBlock { block, size, txids, offsets } = checked.map_err(|error| explain_pruned(error, id))?;
    let spent = spent?.filter(|spent| {
        let fits = spent_outputs_fit(&block, spent);
        if !fits {
            client
                .invalid(format!("asked for the outputs that block {id} spends, got others; looking them up instead"));
        }
        fits
    });
    // Beside the thread that indexes, which is the busiest one of a first import.
    let hashed = tokio::task::spawn_blocking(move || {
        let script_digests = Some(ScriptDigests::of(&block, spent.as_ref()));
        ConnectedBlock { id, block, size, txids, offsets, spent, script_digests }
    });
    hashed.await.map_err(|_| NodeError::Unavailable("the instance is shutting down".to_owned()))
}

async fn fetch(
    client: NodeClient,
    id: BlockId,
    wants_spent: bool,
    total: Arc<AtomicUsize>,
) -> Result<Fetched, NodeError> {
    let began = SystemTime::now();
    let block = connected_block(&client, id, wants_spent).await?;
    let period = FetchPeriod { began, ended: SystemTime::now() };
    let spent_bytes: usize = block.spent.iter().flatten().flatten().map(|output| 48 + output.script_pubkey.len()).sum();
    let digest_bytes: usize =
        block.script_digests.iter().map(|digests| 32 * (digests.outputs.len() + digests.spent.len())).sum();
    // A decoded block takes about four times its encoding.
    let bytes = block.size as usize * 4 + spent_bytes + digest_bytes;
    total.fetch_add(bytes, Ordering::Relaxed);
    let held = Held { total, bytes };
    Ok(Fetched { block: Box::new(block), held, period })
}

fn explain_pruned(error: NodeError, id: BlockId) -> NodeError {
    match error {
        NodeError::Rpc { code, message } if message.contains("pruned") => NodeError::Rpc {
            code,
            message: format!(
                "the Bitcoin node has pruned block {id}, which the index needs next: use a node without `prune`, \
                 or import a snapshot that reaches into what the node still holds"
            ),
        },
        other => other,
    }
}
