//! The market index as requests use it: pages of events, and one book of all pools for each block.

mod book;
mod cryptoswap;
mod pricing;

use std::sync::Arc;

use paraffin_alkanes::views::ViewError;
use paraffin_amm::{AmmError, ChainContracts, MODULE, MarketBooks, Markets};
use paraffin_cryptoswap::PoolIndex;
use paraffin_primitives::{AlkaneId, Height};
use paraffin_store::Snapshot;

use crate::alkanes::{self, Fault, Lane, Moment};
use crate::erased::{self, Answer};
use crate::state::{BoxFuture, RequestContext};

pub use book::build_books;
pub use cryptoswap::NamedPool;
pub use pricing::{Pricing, TokenMarket, read_priced, read_priced_in};

/// What an instance that indexes markets gives the gateway.
#[derive(Debug, Clone)]
pub struct MarketsParts {
    /// The contract that wraps bitcoin.
    pub wrapped_bitcoin: AlkaneId,
    /// The factory that is meant where a request names none (docs/configuration.md).
    pub factory: AlkaneId,
    /// Whether records carry every member a second time in snake case, as some clients read it (docs/configuration.md).
    pub snake_case_twins: bool,
    /// `CryptoSwap` pools that routes may go through where a request does not leave them out. A contract that only says to be one is
    /// none of them.
    pub cryptoswap_pools: Vec<AlkaneId>,
}

/// The markets of one moment, with everything else that a read of contracts has.
pub struct MarketMoment<'a> {
    /// Contracts, tokens, the Bitcoin index.
    pub chain: &'a Moment<'a>,
    /// Events, candles, figures.
    pub markets: Markets,
    /// What pools hold.
    pub contracts: ChainContracts,
    /// Settings.
    pub parts: &'a MarketsParts,
    /// Dollars for one bitcoin: the newest known for the newest block, else those of the block's time; `None` while no source
    /// reports them.
    pub dollars_for_bitcoin: Option<f64>,
    /// Books already made.
    books: Arc<MarketBooks>,
}

/// What is known of markets here.
///
/// # Errors
/// [`Fault::NotIndexed`], [`Fault::Unreadable`].
pub fn of(context: &RequestContext) -> Result<&MarketsParts, Fault> {
    context.shared().markets.as_ref().ok_or(Fault::NotIndexed)
}

/// Newest height that markets can be asked about.
///
/// # Errors
/// As [`of`], and [`Fault::Starting`].
pub fn newest(context: &RequestContext) -> Result<Height, Fault> {
    of(context)?;
    alkanes::of(context)?;
    newest_in(context.snapshot()).map_err(Fault::View)?.ok_or(Fault::Starting)
}

/// The same in a snapshot; `None` while an index that it needs holds no block.
fn newest_in(snapshot: &Snapshot) -> Result<Option<Height>, ViewError> {
    let height_of = |module| snapshot.module_height(module).map_err(|error| ViewError::Chain(error.into()));
    // Histories are of pools of both indexes: where one is behind, both are read as of its height.
    let others = PoolIndex::newest(snapshot)?.unwrap_or(Height::MAX);
    let heights = height_of(MODULE)?.zip(height_of(paraffin_alkanes::MODULE)?);
    Ok(heights.map(|(markets, contracts)| markets.min(contracts).min(others)))
}

/// Runs a read of markets as of `height` (`None`: the newest), as [`alkanes::read`] does.
///
/// # Errors
/// A [`Fault`], for each reason why there is no answer.
pub async fn read<T: Send + 'static>(
    context: &RequestContext,
    height: Option<Height>,
    work: impl FnOnce(&MarketMoment<'_>) -> Result<T, ViewError> + Send + 'static,
) -> Result<T, Fault> {
    read_in(context, Lane::Views, height, work).await
}

/// As [`read`], in the lane of the caller's choice.
async fn read_in<T: Send + 'static>(
    context: &RequestContext,
    lane: Lane,
    height: Option<Height>,
    work: impl FnOnce(&MarketMoment<'_>) -> Result<T, ViewError> + Send + 'static,
) -> Result<T, Fault> {
    let work = Box::new(move |moment: &MarketMoment<'_>| work(moment).map(erased::erase));
    read_erased(context, lane, height, work).await.map(erased::restore)
}

/// A read of markets that does not name what it answers.
type ErasedRead = Box<dyn FnOnce(&MarketMoment<'_>) -> Result<Answer, ViewError> + Send>;

fn read_erased(
    context: &RequestContext,
    lane: Lane,
    height: Option<Height>,
    work: ErasedRead,
) -> BoxFuture<'_, Result<Answer, Fault>> {
    Box::pin(async move {
        let newest = newest(context)?;
        let height = match height {
            Some(height) if height > newest => return Err(Fault::AboveTip { newest }),
            height => height.unwrap_or(newest),
        };
        let parts = of(context)?.clone();
        let snapshot = context.snapshot().clone();
        let books = Arc::clone(&context.shared().books);
        let prices = context.shared().prices.clone();
        alkanes::in_lane(context, lane, Some(height), None, move |chain| {
            let markets = Markets::at(&snapshot, height);
            let contracts = ChainContracts(chain.state.clone());
            let dollars_for_bitcoin = match &prices {
                None => None,
                Some(prices) if height == newest => prices.current().map(|report| report.newest.price.to_f64()),
                Some(prices) => {
                    let block = snapshot.block(height).map_err(|error| ViewError::Chain(error.into()))?;
                    let then = block.and_then(|block| prices.at(u64::from(block.time)));
                    then.map(|point| point.price.to_f64())
                }
            };
            work(&MarketMoment { chain, markets, contracts, parts: &parts, dollars_for_bitcoin, books })
        })
        .await
    })
}

/// Parts of one as percent.
pub fn percent(part: Option<f64>) -> Option<f64> {
    part.map(|part| part * 100.0)
}

/// A failure of the market index as one of a view.
pub fn failed(error: AmmError) -> ViewError {
    match error {
        AmmError::Interrupted => ViewError::TooLong,
        error => ViewError::Chain(error.into()),
    }
}
