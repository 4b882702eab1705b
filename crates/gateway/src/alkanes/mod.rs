//! Views of the contract index, run for requests: a few at a time, away from the async threads, until their time is over.

mod blocks;
mod render;

use std::sync::Arc;
use std::time::Instant;

use bitcoin::hashes::Hash as _;
use paraffin_alkanes::views::{TokenCache, ViewContext, ViewError, ViewLimits};
use paraffin_alkanes::{Builtins, ChainState as AlkanesState, CodeCache, MODULE, Parameters};
use paraffin_bitcoin_index::BitcoinIndex;
use paraffin_primitives::Height;
use paraffin_store::{BlockRecord, Snapshot};

use crate::erased::{self, Answer};
use crate::errors::{ApiError, kind};
use crate::fairness::FairSemaphore;
use crate::interrupt::Interrupt;
use crate::limits::Limits;
use crate::state::{BoxFuture, RequestContext, Shared};

pub use blocks::IndexedBlocks;
pub use render::{EventItem, IdDigits, ResponseItem, TransferItem, hex, id_object, response, trace_events, transfers};

/// What an instance that indexes contracts gives the gateway.
#[derive(Clone)]
pub struct AlkanesParts {
    /// Parameters of the network.
    pub parameters: Parameters,
    /// Code of the contracts that are never on chain.
    pub builtins: Arc<Builtins>,
    /// Compiled contracts, shared with the engine that indexes.
    pub codes: Arc<CodeCache>,
    /// What one view may do.
    pub limits: ViewLimits,
}

/// The contract index as requests use it.
pub struct Alkanes {
    pub(crate) parts: AlkanesParts,
    pub(crate) tokens: TokenCache,
    views: FairSemaphore,
    /// For reads that run untrusted contracts; they take no permit of the others.
    simulations: FairSemaphore,
    /// What both take of the memory for contracts, MiB.
    memory: FairSemaphore,
    /// The parameters with the bounds of memory of each lane.
    of_views: Parameters,
    of_simulations: Parameters,
    simulation_mib: u32,
}

/// One caller may have half of the views, half of the simulations, and half of the memory for contracts.
const PARTS: usize = 2;
/// Memory of a view, MiB: three contracts that call each other, as many as a token behind a proxy has, and the answer.
const VIEW_MIB: u32 = 144;

impl Alkanes {
    pub(crate) fn new(parts: AlkanesParts, limits: &Limits) -> Self {
        let permits = |count| FairSemaphore::new(count, PARTS);
        let mib = |bytes: usize| u32::try_from(bytes >> 20).unwrap_or(u32::MAX);
        let simulation_mib = mib(limits.simulation_bytes_max).max(1);
        let memory = FairSemaphore::of_heaviest(limits.contracts_bytes_max >> 20, PARTS, simulation_mib as usize);
        Self {
            tokens: TokenCache::default(),
            views: permits(limits.views_max).of_bytes((VIEW_MIB as usize) << 20),
            simulations: permits(limits.simulations_max),
            memory: memory.of_bytes(1 << 20),
            of_views: parts.parameters.within((VIEW_MIB as usize) << 20),
            of_simulations: parts.parameters.within(limits.simulation_bytes_max),
            simulation_mib,
            parts,
        }
    }

    /// Memory that contracts which run for callers may take in all, and what those that run now may, bytes.
    pub fn simulations_bytes(&self) -> (usize, usize) {
        self.memory.bytes()
    }

    /// Memory that views may take in all, and what those that run now may, bytes.
    pub fn views_bytes(&self) -> (usize, usize) {
        self.views.bytes()
    }
}

/// Why a view of a request has no answer.
#[derive(Debug)]
pub enum Fault {
    /// This instance does not index contracts.
    NotIndexed,
    /// The index is filled from a program that writes under keys of no known kind.
    Unreadable {
        /// First height at which it did.
        from: Height,
    },
    /// Nothing is indexed yet.
    Starting,
    /// The height is above the tip.
    AboveTip {
        /// Newest height that can be asked about.
        newest: Height,
    },
    /// The view failed.
    View(ViewError),
    /// The node was asked and did not answer.
    Node,
    /// The process is stopping, or the view broke.
    Abandoned,
}

impl From<ViewError> for Fault {
    fn from(error: ViewError) -> Self {
        Self::View(error)
    }
}

/// The error message for a caller when contracts are not indexed.
const NOT_INDEXED: &str = "this instance does not index alkanes";

/// The error message for a caller when the index cannot be trusted.
fn unreadable(from: Height) -> String {
    format!(
        "the indexer program of this instance writes what cannot be read since block {from}: alkanes are not answered from it"
    )
}

impl From<Fault> for ApiError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::NotIndexed => Self::new(kind::ALKANES_NOT_INDEXED, NOT_INDEXED),
            Fault::Unreadable { from } => Self::new(kind::ALKANES_UNREADABLE, unreadable(from)),
            Fault::Starting => Self::starting(),
            Fault::AboveTip { newest } => {
                Self::invalid(format!("the height is above the newest indexed one, {newest}"))
            }
            Fault::View(ViewError::Unknown) => Self::method_not_found(),
            Fault::View(error @ (ViewError::Payload(_) | ViewError::Meaningless(_))) => {
                Self::invalid(error.to_string())
            }
            Fault::View(ViewError::TooLarge) => Self::response_too_large(),
            Fault::View(ViewError::TooLong) => Self::timeout(),
            Fault::View(error) => Self::internal(&error),
            Fault::Node => Self::upstream_unavailable(),
            Fault::Abandoned => Self::panicked(),
        }
    }
}

/// The contract index of this instance.
///
/// # Errors
/// [`Fault::NotIndexed`], [`Fault::Unreadable`].
pub fn of(context: &RequestContext) -> Result<&Arc<Alkanes>, Fault> {
    let alkanes = context.shared().alkanes.as_ref().ok_or(Fault::NotIndexed)?;
    match unknown_key(context.shared(), context.snapshot())? {
        None => Ok(alkanes),
        Some(from) => Err(Fault::Unreadable { from }),
    }
}

/// First height at which the program that fills the index wrote under a key of no known kind.
///
/// # Errors
/// The store cannot be read.
pub fn unknown_key(shared: &Shared, snapshot: &Snapshot) -> Result<Option<Height>, ViewError> {
    let Some(program) = &shared.hosted else { return Ok(None) };
    program.unknown_key(snapshot).map_err(|fault| ViewError::Chain(format!("{fault:?}").into()))
}

/// Newest height that views can be asked about: the tip, or less while the contracts are indexed anew.
///
/// # Errors
/// As [`of`], and [`Fault::Starting`].
pub fn newest(context: &RequestContext) -> Result<Height, Fault> {
    of(context)?;
    let height =
        context.snapshot().module_height(MODULE).map_err(|error| Fault::View(ViewError::Chain(error.into())))?;
    height.ok_or(Fault::Starting)
}

/// Everything of one moment that a read of contracts needs.
pub struct Moment<'a> {
    /// For views.
    pub view: ViewContext<'a>,
    /// The contract index at the height.
    pub state: &'a AlkanesState,
    /// The Bitcoin index of the newest block.
    pub bitcoin: &'a BitcoinIndex,
    /// Contracts already asked.
    pub alkanes: &'a Alkanes,
    /// Everything indexed.
    pub snapshot: &'a Snapshot,
    /// Hash of the newest block.
    pub tip: [u8; 32],
    /// Hash of the block at the height; zeros below the first block that is kept.
    pub block: [u8; 32],
    /// Whether the height is the newest.
    pub is_newest: bool,
}

impl Moment<'_> {
    /// Ends a read that has taken too long.
    ///
    /// # Errors
    /// [`ViewError::TooLong`].
    pub fn check(&self) -> Result<(), ViewError> {
        if (self.view.is_over)() { Err(ViewError::TooLong) } else { Ok(()) }
    }
}

/// Which permits a read of contracts takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// At most [`crate::Limits::views_max`] at a time, half of them for one caller.
    Views,
    /// At most [`crate::Limits::simulations_max`] at a time, half of them for one caller.
    Simulations,
}

/// Runs a read of contracts as of `height` (`None`: the newest).
///
/// # Errors
/// A [`Fault`], for each reason why there is no answer.
pub async fn read<T: Send + 'static>(
    context: &RequestContext,
    height: Option<Height>,
    block: Option<bytes::Bytes>,
    work: impl FnOnce(&Moment<'_>) -> Result<T, ViewError> + Send + 'static,
) -> Result<T, Fault> {
    in_lane(context, Lane::Views, height, block, work).await
}

/// As [`read`], for work that runs contracts as its caller asks, so that calls which burn all their fuel do not delay reads.
///
/// # Errors
/// A [`Fault`], for each reason why there is no answer.
pub async fn try_out<T: Send + 'static>(
    context: &RequestContext,
    height: Option<Height>,
    work: impl FnOnce(&Moment<'_>) -> Result<T, ViewError> + Send + 'static,
) -> Result<T, Fault> {
    in_lane(context, Lane::Simulations, height, None, work).await
}

/// As [`read`], in the lane of the caller's choice.
///
/// # Errors
/// A [`Fault`], for each reason why there is no answer.
pub async fn in_lane<T: Send + 'static>(
    context: &RequestContext,
    lane: Lane,
    height: Option<Height>,
    block: Option<bytes::Bytes>,
    work: impl FnOnce(&Moment<'_>) -> Result<T, ViewError> + Send + 'static,
) -> Result<T, Fault> {
    let work = Box::new(move |moment: &Moment<'_>| work(moment).map(erased::erase));
    in_lane_erased(context, lane, height, block, work).await.map(erased::restore)
}

/// A view that does not name what it answers.
type ErasedView = Box<dyn FnOnce(&Moment<'_>) -> Result<Answer, ViewError> + Send>;

fn in_lane_erased(
    context: &RequestContext,
    lane: Lane,
    height: Option<Height>,
    block: Option<bytes::Bytes>,
    work: ErasedView,
) -> BoxFuture<'_, Result<Answer, Fault>> {
    Box::pin(async move {
        let alkanes = Arc::clone(of(context)?);
        let newest = newest(context)?;
        let height = match height {
            Some(height) if height > newest => return Err(Fault::AboveTip { newest }),
            height => height.unwrap_or(newest),
        };
        let snapshot = context.snapshot().clone();
        let network = context.network();
        let timeout = context.limits().view_timeout();
        // A permit of a view is its memory too, so that no simulation delays a view.
        let (permit, memory) = match lane {
            Lane::Views => (context.permit(&alkanes.views).await.ok_or(Fault::Abandoned)?, None),
            Lane::Simulations => {
                let permit = context.permit(&alkanes.simulations).await.ok_or(Fault::Abandoned)?;
                let memory = context.permits(&alkanes.memory, alkanes.simulation_mib).await;
                (permit, Some(memory.ok_or(Fault::Abandoned)?))
            }
        };
        let (awaited, interrupt) = Interrupt::at(Instant::now() + timeout);
        // The permit goes along: a request that is given up frees it when its view has ended.
        let task = tokio::task::spawn_blocking(move || {
            let _permits = (permit, memory);
            let clock: Arc<dyn Fn() -> bool + Send + Sync> = Arc::new(move || interrupt.is_over());
            let is_over = || clock();
            let snapshot = snapshot.until(Arc::clone(&clock));
            let state = AlkanesState::at(&snapshot, height).until(Arc::clone(&clock));
            let bitcoin = BitcoinIndex::new(snapshot.clone(), network);
            let blocks =
                IndexedBlocks::new(&bitcoin, height, height == newest, alkanes.parts.limits.records_max, &is_over);
            let view = ViewContext {
                parameters: if lane == Lane::Views { &alkanes.of_views } else { &alkanes.of_simulations },
                builtins: &alkanes.parts.builtins,
                codes: &alkanes.parts.codes,
                height,
                state: &state,
                chain: &blocks,
                block: block.as_deref(),
                limits: &alkanes.parts.limits,
                is_over: &is_over,
            };
            let hash = |record: &BlockRecord| record.id.hash.to_byte_array();
            let tip = snapshot.tip().map_or([0; 32], hash);
            let record = snapshot.block(height).map_err(|error| ViewError::Chain(error.into()))?;
            let block = record.as_ref().map_or([0; 32], hash);
            let is_newest = height == newest;
            let (state, bitcoin, alkanes, snapshot) = (&state, &bitcoin, &*alkanes, &snapshot);
            let worked = work(&Moment { view, state, bitcoin, alkanes, snapshot, tip, block, is_newest });
            // Whatever a read says that ended because its time was over.
            worked.map_err(|error| if clock() { ViewError::TooLong } else { error })
        });
        let answer = task.await.map_err(|_| Fault::Abandoned)?;
        drop(awaited);
        Ok(answer?)
    })
}

/// Answers a view by its name; the block that it may hand out comes from the node.
///
/// # Errors
/// A [`Fault`], for each reason why there is no answer.
pub async fn call(
    context: &RequestContext,
    name: String,
    payload: Vec<u8>,
    height: Option<Height>,
) -> Result<Vec<u8>, Fault> {
    if !paraffin_alkanes::views::is_known(&name) {
        return Err(ViewError::Unknown.into());
    }
    let lane = if paraffin_alkanes::views::runs_contracts(&name) { Lane::Simulations } else { Lane::Views };
    let block = block_of_view(context, &name, &payload).await?;
    let answer = move |moment: &Moment<'_>| paraffin_alkanes::views::call(&name, &payload, &moment.view);
    in_lane(context, lane, height, block, answer).await
}

/// The block that a view needs, if it needs one that is there.
///
/// # Errors
/// As [`block_at`].
pub async fn block_of_view(
    context: &RequestContext,
    name: &str,
    payload: &[u8],
) -> Result<Option<bytes::Bytes>, Fault> {
    match paraffin_alkanes::views::block_wanted(name, payload) {
        Some(wanted) => block_at(context, wanted).await,
        None => Ok(None),
    }
}

/// A block of the indexed chain, checked against its hash; `None` above the tip.
///
/// # Errors
/// [`Fault::Node`], or the store cannot be read.
pub async fn block_at(context: &RequestContext, height: Height) -> Result<Option<bytes::Bytes>, Fault> {
    let record = context.snapshot().block(height).map_err(|error| Fault::View(ViewError::Chain(error.into())))?;
    let Some(record) = record else { return Ok(None) };
    let bytes = context.node().block(record.id.hash).await.map_err(|_| Fault::Node)?;
    let header = bytes.get(..80).ok_or(Fault::Node)?;
    let hash = bitcoin::hashes::sha256d::Hash::hash(header);
    if hash != record.id.hash.to_raw_hash() {
        return Err(Fault::Node);
    }
    Ok(Some(bytes))
}
