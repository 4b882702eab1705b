//! The book of all pools: for the newest block as soon as it is there, for others by the first request that needs one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use paraffin_alkanes::ChainState as AlkanesState;
use paraffin_alkanes::views::ViewError;
use paraffin_amm::{BookRules, ChainContracts, Dollars, MarketBook, MarketBooks, Markets};
use paraffin_store::Snapshot;
use tokio::time::MissedTickBehavior;

use super::{MarketMoment, MarketsParts, failed, newest_in};
use crate::state::Shared;

/// How often the newest block is looked at; its book is built when it stands there for two looks.
const LOOK_EVERY: Duration = Duration::from_millis(100);

impl MarketsParts {
    /// By which rules pools are valued here.
    fn rules(&self) -> BookRules {
        BookRules::of_network(self.wrapped_bitcoin, self.factory)
    }
}

impl MarketMoment<'_> {
    /// All pools at this height and what they are worth: shared by everybody who asks about the block.
    ///
    /// # Errors
    /// The index cannot be read, or the view took too long.
    pub fn book(&self) -> Result<Arc<MarketBook>, ViewError> {
        let book = self.books.at(&self.markets, &self.contracts, &self.parts.rules(), self.chain.view.is_over);
        book.map_err(failed)
    }

    /// What makes dollars of satoshis at this moment.
    pub fn dollars(&self) -> Dollars {
        Dollars { for_bitcoin: self.dollars_for_bitcoin }
    }
}

/// Builds the book of each new block, so that no request waits for it, until the task is dropped. While blocks come faster than it
/// looks, as on a first import, none is built.
pub async fn build_books(shared: Arc<Shared>) {
    let Some(parts) = shared.markets.clone() else { return };
    let time = shared.config.limits.view_timeout();
    let (mut seen, mut built) = (None, None);
    let mut looks = tokio::time::interval(LOOK_EVERY);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        looks.tick().await;
        let snapshot = shared.chain.snapshot();
        let tip = snapshot.tip().map(|record| record.id);
        if tip.is_none() || built == tip || std::mem::replace(&mut seen, tip) != tip {
            continue;
        }
        built = tip;
        let (books, parts) = (Arc::clone(&shared.books), parts.clone());
        let work = move || build_newest(&snapshot, &books, &parts, Instant::now() + time);
        match tokio::task::spawn_blocking(work).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, "the book of the newest block was not built ahead"),
            Err(error) => tracing::warn!(%error, "building the book of the newest block ended unexpectedly"),
        }
    }
}

fn build_newest(snapshot: &Snapshot, books: &MarketBooks, parts: &MarketsParts, end: Instant) -> Result<(), ViewError> {
    let Some(height) = newest_in(snapshot)? else { return Ok(()) };
    let clock: Arc<dyn Fn() -> bool + Send + Sync> = Arc::new(move || Instant::now() >= end);
    let snapshot = snapshot.clone().until(Arc::clone(&clock));
    let contracts = ChainContracts(AlkanesState::at(&snapshot, height).until(Arc::clone(&clock)));
    let built = books.at(&Markets::at(&snapshot, height), &contracts, &parts.rules(), &*clock);
    built.map(drop).map_err(failed)
}
