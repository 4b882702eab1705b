//! Reads of markets that may end in an answer like "there is no such pool".

use paraffin_alkanes::StateError;
use paraffin_alkanes::views::ViewError;
use paraffin_amm::AmmError;

use crate::errors::ApiError;
use crate::markets::{self, MarketMoment};
use crate::state::RequestContext;

/// Why a read of markets has no answer.
pub(in crate::rest) enum Problem {
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
pub(in crate::rest) async fn read<T: Send + 'static>(
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
