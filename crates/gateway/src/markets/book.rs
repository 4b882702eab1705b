//! Books of pools, built once for each block: for the newest as soon as it is there, for others by the first request that needs one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bitcoin::BlockHash;
use paraffin_alkanes::ChainState as AlkanesState;
use paraffin_alkanes::views::ViewError;
use paraffin_amm::{BookRules, ChainContracts, MarketBook, Markets};
use paraffin_primitives::Height;
use paraffin_store::Snapshot;
use parking_lot::{Condvar, Mutex};
use tokio::time::MissedTickBehavior;

use super::{MarketMoment, MarketsParts, failed, newest_in};
use crate::state::Shared;

/// Books of blocks that are kept. Almost everybody asks about the newest one.
const KEPT_MAX: usize = 4;
/// How often a reader who waits for a book asks whether its own time is over.
const PATIENCE: Duration = Duration::from_millis(20);

/// How often the newest block is looked at; its book is built when it stands there for two looks.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The books of this instance.
pub(crate) type Books = Shelf<MarketBook>;

/// What was made for blocks, the newest made first.
pub(crate) struct Shelf<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    /// The one used last stands first.
    made: Vec<Made<T>>,
    /// Being built by another request.
    making: Vec<BlockHash>,
}

struct Made<T> {
    hash: BlockHash,
    height: Height,
    what: Arc<T>,
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self { state: Mutex::new(State { made: Vec::new(), making: Vec::new() }), changed: Condvar::new() }
    }
}

/// Lets others try when a maker gives up, also by a panic.
struct Making<'s, T>(&'s Shelf<T>, BlockHash);

impl<T> Drop for Making<'_, T> {
    fn drop(&mut self) {
        self.0.state.lock().making.retain(|hash| *hash != self.1);
        self.0.changed.notify_all();
    }
}

impl<T> State<T> {
    /// What was made for the block, which then counts as used last.
    fn take(&mut self, hash: BlockHash) -> Option<Arc<T>> {
        let place = self.made.iter().position(|made| made.hash == hash)?;
        let made = self.made.remove(place);
        let what = Arc::clone(&made.what);
        self.made.insert(0, made);
        Some(what)
    }

    /// What was made for the nearest block below, or else for any.
    fn nearest(&self, height: Height) -> Option<Arc<T>> {
        let below = self.made.iter().filter(|made| made.height <= height).max_by_key(|made| made.height);
        below.or(self.made.first()).map(|made| Arc::clone(&made.what))
    }
}

impl<T> Shelf<T> {
    /// What was made for a block, or what `make` makes of it with something of another block at hand. Others who ask for the
    /// same meanwhile wait for it.
    fn get(
        &self,
        (hash, height): (BlockHash, Height),
        is_over: &dyn Fn() -> bool,
        make: impl FnOnce(Option<&T>) -> Result<T, ViewError>,
    ) -> Result<Arc<T>, ViewError> {
        let nearest = {
            let mut state = self.state.lock();
            loop {
                if let Some(what) = state.take(hash) {
                    return Ok(what);
                }
                if !state.making.contains(&hash) {
                    break;
                }
                if is_over() {
                    return Err(ViewError::TooLong);
                }
                self.changed.wait_for(&mut state, PATIENCE);
            }
            state.making.push(hash);
            state.nearest(height)
        };
        let making = Making(self, hash);
        let what = Arc::new(make(nearest.as_deref())?);
        let mut state = self.state.lock();
        state.made.insert(0, Made { hash, height, what: Arc::clone(&what) });
        if state.made.len() > KEPT_MAX {
            // The newest block's stays, whatever is asked about the past.
            let newest = state.made.iter().map(|made| made.height).max();
            if let Some(place) = state.made.iter().rposition(|made| Some(made.height) != newest) {
                state.made.remove(place);
            } else {
                state.made.pop();
            }
        }
        drop(state);
        drop(making);
        Ok(what)
    }
}

impl MarketMoment<'_> {
    /// All pools at this height and what they are worth: shared by everybody who asks about the block.
    pub(crate) fn book(&self) -> Result<Arc<MarketBook>, ViewError> {
        book(&self.books, self.parts, &self.markets, &self.contracts, self.chain.view.is_over)
    }
}

/// The book of the block that `markets` stand at.
fn book(
    books: &Books,
    parts: &MarketsParts,
    markets: &Markets,
    contracts: &ChainContracts,
    is_over: &dyn Fn() -> bool,
) -> Result<Arc<MarketBook>, ViewError> {
    let height = markets.height();
    let block = markets.snapshot().block(height).map_err(|error| ViewError::Chain(error.into()))?;
    let block = block.ok_or_else(|| ViewError::Chain(format!("there is no block {height}").into()))?;
    books.get((block.id.hash, height), is_over, |previous| {
        let rules = BookRules::of_network(parts.wrapped_bitcoin, parts.factory);
        MarketBook::build(markets, contracts, &rules, previous, is_over).map_err(failed)
    })
}

/// Builds the book of each new block, so that no request waits for it, until the task is dropped. While blocks come faster than it
/// looks, as on a first import, none is built.
pub(crate) async fn build_books(shared: Arc<Shared>) {
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

fn build_newest(snapshot: &Snapshot, books: &Books, parts: &MarketsParts, end: Instant) -> Result<(), ViewError> {
    let Some(height) = newest_in(snapshot)? else { return Ok(()) };
    let clock: Arc<dyn Fn() -> bool + Send + Sync> = Arc::new(move || Instant::now() >= end);
    let snapshot = snapshot.clone().until(Arc::clone(&clock));
    let contracts = ChainContracts(AlkanesState::at(&snapshot, height).until(Arc::clone(&clock)));
    book(books, parts, &Markets::at(&snapshot, height), &contracts, &*clock).map(drop)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use bitcoin::hashes::Hash as _;

    use super::*;

    fn block(height: Height) -> (BlockHash, Height) {
        (BlockHash::from_byte_array([u8::try_from(height).unwrap(); 32]), height)
    }

    fn never() -> bool {
        false
    }

    #[test]
    fn many_readers_of_a_block_make_its_book_once_and_share_it() {
        let shelf = Shelf::<usize>::default();
        let made = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let readers: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        shelf.get(block(7), &never, |_| {
                            std::thread::sleep(Duration::from_millis(50));
                            Ok(made.fetch_add(1, Ordering::Relaxed) + 1)
                        })
                    })
                })
                .collect();
            for reader in readers {
                assert_eq!(*reader.join().unwrap().unwrap(), 1);
            }
        });
        assert_eq!(made.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_maker_that_fails_leaves_the_work_to_the_next() {
        let shelf = Shelf::<u32>::default();
        assert!(matches!(shelf.get(block(1), &never, |_| Err(ViewError::TooLong)), Err(ViewError::TooLong)));
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _ = shelf.get(block(1), &never, |_| panic!("on purpose"));
        }));
        assert!(panicked.is_err());
        assert_eq!(*shelf.get(block(1), &never, |_| Ok(5)).unwrap(), 5);
        assert_eq!(*shelf.get(block(1), &never, |_| Ok(6)).unwrap(), 5, "it is kept");
    }

    #[test]
    fn who_waits_too_long_is_told_so() {
        let shelf = Shelf::<u32>::default();
        let (begun, wait) = (std::sync::Barrier::new(2), std::sync::Barrier::new(2));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let made = shelf.get(block(1), &never, |_| {
                    begun.wait();
                    wait.wait();
                    Ok(1)
                });
                assert_eq!(*made.unwrap(), 1);
            });
            begun.wait();
            assert!(matches!(shelf.get(block(1), &|| true, |_| Ok(2)), Err(ViewError::TooLong)));
            wait.wait();
        });
    }

    #[test]
    fn a_few_are_kept_and_the_newest_block_is_among_them() {
        let shelf = Shelf::<Height>::default();
        let get = |height| {
            let from = std::cell::Cell::new(None);
            let made = shelf.get(block(height), &never, |nearest| {
                from.set(nearest.copied());
                Ok(height)
            });
            (*made.unwrap(), from.get())
        };
        assert_eq!(get(100), (100, None));
        assert_eq!(get(101), (101, Some(100)));
        assert_eq!(get(50), (50, Some(101)), "none below: any will do");
        assert_eq!(get(60), (60, Some(50)));
        for height in 61..70 {
            get(height);
        }
        assert!(shelf.state.lock().made.len() <= KEPT_MAX);
        assert_eq!(get(101), (101, None), "still there");
        assert!(shelf.state.lock().making.is_empty());
    }
}
