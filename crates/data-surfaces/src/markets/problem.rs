//! Reads of markets that may end in an answer like "there is no such pool".

use paraffin_alkanes::StateError;
use paraffin_alkanes::views::ViewError;
use paraffin_amm::AmmError;

use paraffin_gateway::errors::ApiError;
use paraffin_gateway::markets::{self, MarketMoment};
use paraffin_gateway::state::RequestContext;

/// Why a read of markets has no answer.
pub(crate) enum Problem {
    /// An error that the caller receives as it is.
    Answer(ApiError),
    /// The read failed.
    View(ViewError),
}

impl From<ApiError> for Problem {
    fn from(error: ApiError) -> Self {
        Self::Answer(error)
    }
}

impl From<ViewError> for Problem {
    fn from(error: ViewError) -> Self {
        Self::View(error)
    }
}

impl From<AmmError> for Problem {
    fn from(error: AmmError) -> Self {
        Self::View(markets::failed(error))
    }
}

impl From<StateError> for Problem {
    fn from(error: StateError) -> Self {
        Self::View(error.into())
    }
}

/// Runs a read of markets as of the newest block.
pub(crate) async fn read<T: Send + 'static>(
    context: &RequestContext,
    work: impl FnOnce(&MarketMoment<'_>) -> Result<T, Problem> + Send + 'static,
) -> Result<T, ApiError> {
    let read = markets::read(context, None, |moment| match work(moment) {
        Ok(answer) => Ok(Ok(answer)),
        Err(Problem::Answer(error)) => Ok(Err(error)),
        Err(Problem::View(error)) => Err(error),
    });
    read.await?
}
