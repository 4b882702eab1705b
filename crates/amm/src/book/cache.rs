//! Books of blocks, each built once and shared by all who read the block.

use std::sync::Arc;
use std::time::Duration;

use paraffin_primitives::{BlockId, Height};
use parking_lot::{Condvar, Mutex};

use super::{BookRules, ContractHistory, MarketBook};
use crate::{AmmError, Markets};

/// Blocks whose books are held. Almost everybody asks about the newest one.
const BLOCKS_MAX: usize = 4;
/// How often a reader who waits for a book asks whether its own time is over.
const PATIENCE: Duration = Duration::from_millis(20);

/// Books of the blocks that were asked about last. At most four, of them always that of the newest block.
#[derive(Default)]
pub struct MarketBooks(BlockCache<MarketBook>);

impl MarketBooks {
    /// The book of the block that `markets` stands at. It is built with another one at hand, as [`MarketBook::build`] does; others who ask
    /// for the same meanwhile wait for it.
    ///
    /// # Errors
    /// Those of [`MarketBook::build`]; the store has no such block.
    pub fn at(
        &self,
        markets: &Markets,
        contracts: &dyn ContractHistory,
        rules: &BookRules,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Arc<MarketBook>, AmmError> {
        let height = markets.height();
        let block = markets.snapshot().block(height)?;
        let block = block.ok_or_else(|| AmmError::Damaged(format!("there is no block {height}")))?;
        self.0
            .get_or_make(block.id, is_over, |previous| MarketBook::build(markets, contracts, rules, previous, is_over))
    }
}

/// What was made for blocks.
struct BlockCache<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    /// The one used last stands first.
    made: Vec<(BlockId, Arc<T>)>,
    /// Being made by another reader.
    making: Vec<BlockId>,
}

impl<T> Default for BlockCache<T> {
    fn default() -> Self {
        Self { state: Mutex::new(State { made: Vec::new(), making: Vec::new() }), changed: Condvar::new() }
    }
}

/// Lets others try when a maker gives up, also by a panic.
struct Making<'s, T>(&'s BlockCache<T>, BlockId);

impl<T> Drop for Making<'_, T> {
    fn drop(&mut self) {
        self.0.state.lock().making.retain(|block| *block != self.1);
        self.0.changed.notify_all();
    }
}

impl<T> State<T> {
    /// What was made for the block, which then counts as used last.
    fn take(&mut self, block: BlockId) -> Option<Arc<T>> {
        let place = self.made.iter().position(|(made, _)| *made == block)?;
        self.made[..=place].rotate_right(1);
        self.made.first().map(|(_, what)| Arc::clone(what))
    }

    /// What was made for the nearest block below, or else for any.
    fn nearest(&self, height: Height) -> Option<Arc<T>> {
        let below = self.made.iter().filter(|(made, _)| made.height <= height).max_by_key(|(made, _)| made.height);
        below.or(self.made.first()).map(|(_, what)| Arc::clone(what))
    }

    fn put(&mut self, block: BlockId, what: Arc<T>) {
        self.made.insert(0, (block, what));
        if self.made.len() > BLOCKS_MAX {
            // The newest block's stays, whatever is asked about the past.
            let newest = self.made.iter().map(|(made, _)| made.height).max();
            let least_used = self.made.iter().rposition(|(made, _)| Some(made.height) != newest);
            self.made.remove(least_used.unwrap_or(BLOCKS_MAX));
        }
    }
}

impl<T> BlockCache<T> {
    /// What was made for a block, or what `make` makes with that of another block at hand. Others who ask for the same meanwhile
    /// wait for it.
    fn get_or_make(
        &self,
        block: BlockId,
        is_over: &dyn Fn() -> bool,
        make: impl FnOnce(Option<&T>) -> Result<T, AmmError>,
    ) -> Result<Arc<T>, AmmError> {
        let nearest = {
            let mut state = self.state.lock();
            loop {
                if let Some(what) = state.take(block) {
                    return Ok(what);
                }
                if !state.making.contains(&block) {
                    break;
                }
                if is_over() {
                    return Err(AmmError::Interrupted);
                }
                self.changed.wait_for(&mut state, PATIENCE);
            }
            state.making.push(block);
            state.nearest(block.height)
        };
        let _making = Making(self, block);
        let what = Arc::new(make(nearest.as_deref())?);
        self.state.lock().put(block, Arc::clone(&what));
        Ok(what)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use bitcoin::BlockHash;
    use bitcoin::hashes::Hash as _;

    use super::*;

    fn block(height: Height) -> BlockId {
        BlockId { height, hash: BlockHash::from_byte_array([u8::try_from(height).unwrap(); 32]) }
    }

    fn never() -> bool {
        false
    }

    #[test]
    fn many_readers_of_a_block_make_its_book_once_and_share_it() {
        let cache = BlockCache::<usize>::default();
        let made = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let readers: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        cache.get_or_make(block(7), &never, |_| {
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
        let cache = BlockCache::<u32>::default();
        assert!(matches!(
            cache.get_or_make(block(1), &never, |_| Err(AmmError::Interrupted)),
            Err(AmmError::Interrupted)
        ));
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _ = cache.get_or_make(block(1), &never, |_| panic!("on purpose"));
        }));
        assert!(panicked.is_err());
        assert_eq!(*cache.get_or_make(block(1), &never, |_| Ok(5)).unwrap(), 5);
        assert_eq!(*cache.get_or_make(block(1), &never, |_| Ok(6)).unwrap(), 5, "it is still there");
    }

    #[test]
    fn a_reader_who_waits_too_long_is_interrupted() {
        let cache = BlockCache::<u32>::default();
        let (begun, wait) = (std::sync::Barrier::new(2), std::sync::Barrier::new(2));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let made = cache.get_or_make(block(1), &never, |_| {
                    begun.wait();
                    wait.wait();
                    Ok(1)
                });
                assert_eq!(*made.unwrap(), 1);
            });
            begun.wait();
            assert!(matches!(cache.get_or_make(block(1), &|| true, |_| Ok(2)), Err(AmmError::Interrupted)));
            wait.wait();
        });
    }

    #[test]
    fn a_few_stay_and_the_newest_block_is_among_them() {
        let cache = BlockCache::<Height>::default();
        let get = |height| {
            let from = std::cell::Cell::new(None);
            let made = cache.get_or_make(block(height), &never, |nearest| {
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
        assert!(cache.state.lock().made.len() <= BLOCKS_MAX);
        assert_eq!(get(101), (101, None), "still there");
        assert!(cache.state.lock().making.is_empty());
    }
}
