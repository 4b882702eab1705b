//! What token contracts report, asked once for each block and held for the newest ones.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use bitcoin::hashes::Hash as _;
use paraffin_primitives::{AlkaneId, Height};
use parking_lot::Mutex;

use super::{TokenFacts, TokenWords, ViewContext, ViewError, entered_by, token_numbers, token_words};
use crate::ChainState;

/// Memory for what contracts reported, bytes.
const CACHE_BYTES_MAX: usize = 64 << 20;
/// Memory of one token beside its image, bytes.
const TOKEN_BYTES: usize = 512;
/// Blocks whose names are held: requests of the block before may still run when those of the next one begin.
const BLOCKS_MAX: usize = 3;
/// Blocks that names are carried across; after more of them all contracts are asked anew.
const BLOCKS_CARRIED_MAX: Height = 16;
/// Contracts that an answer may depend on and be carried to the next block.
const ASKED_MAX: usize = 8;

/// Name and symbol of a token.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TokenNames {
    /// Name; `None` where the contract reports none.
    pub name: Option<String>,
    /// Symbol; `None` where the contract reports none.
    pub symbol: Option<String>,
}

/// The moment at which tokens are asked.
#[derive(Clone, Copy)]
pub struct TokenMoment<'a> {
    /// Asks them.
    pub view: &'a ViewContext<'a>,
    /// The contracts at the height of the view.
    pub state: &'a ChainState,
    /// Hash of the block at that height.
    pub block: [u8; 32],
    /// Whether that block is the newest: of others nothing new is held.
    pub is_newest: bool,
}

/// What contracts reported as of the newest blocks. Nothing in it outlives the block at which it was read, except names and
/// symbols: they are carried to a block that follows on the same branch, unless a block in between has run one of the
/// contracts that they depend on.
#[derive(Default)]
pub struct TokenCache(Mutex<State>);

#[derive(Default)]
struct State {
    /// Hash of the block that the facts are of.
    block: [u8; 32],
    facts: HashMap<AlkaneId, Arc<TokenFacts>>,
    bytes: usize,
    /// The newest one last.
    names: Vec<BlockNames>,
}

/// Names and symbols at one block.
struct BlockNames {
    height: Height,
    hash: [u8; 32],
    of: HashMap<AlkaneId, Reported>,
}

#[derive(Clone)]
struct Reported {
    names: Arc<TokenNames>,
    /// Contracts that the answer depends on; `None` when they are too many.
    asked: Option<Arc<[AlkaneId]>>,
}

impl Reported {
    fn new(TokenWords { name, symbol, asked }: TokenWords) -> Self {
        let asked = (asked.len() <= ASKED_MAX).then(|| asked.into());
        Self { names: Arc::new(TokenNames { name, symbol }), asked }
    }

    /// Whether the answer is the same after blocks that ran these contracts. Code of contracts that are not on chain may
    /// change with the height alone.
    fn outlives(&self, entered: &HashSet<AlkaneId>) -> bool {
        let is_builtin = |id: &AlkaneId| id.block == 32 || *id == AlkaneId { block: 2, tx: 0 };
        self.asked.as_ref().is_some_and(|asked| !asked.iter().any(|id| is_builtin(id) || entered.contains(id)))
    }
}

impl TokenCache {
    /// Everything that a contract reports, asked where it is not held of this same block. `decimals` is asked where the contract
    /// does not report its decimal places.
    ///
    /// # Errors
    /// [`ViewError`]; those of `decimals`.
    pub fn facts(
        &self,
        moment: &TokenMoment<'_>,
        id: AlkaneId,
        decimals: impl FnOnce() -> Result<Option<u32>, ViewError>,
    ) -> Result<Arc<TokenFacts>, ViewError> {
        if let Some(known) = self.known_facts(moment.block, id) {
            return Ok(known);
        }
        let names = self.names(moment, id)?;
        let mut facts = token_numbers(id, names.name.clone(), names.symbol.clone(), moment.view)?;
        if facts.decimals.is_none() {
            facts.decimals = decimals()?;
        }
        let facts = Arc::new(facts);
        if moment.is_newest {
            self.put_facts(moment.block, id, &facts);
        }
        Ok(facts)
    }

    /// Name and symbol of a contract. What was asked stays known also when the search that asked has run out of time.
    ///
    /// # Errors
    /// [`ViewError`].
    pub fn names(&self, moment: &TokenMoment<'_>, id: AlkaneId) -> Result<Arc<TokenNames>, ViewError> {
        if moment.is_newest && !self.has_begun(moment.block) {
            self.begin_at(moment)?;
        }
        if let Some(names) = self.known_names(moment.block, id) {
            return Ok(names);
        }
        let reported = Reported::new(token_words(id, moment.view)?);
        let names = Arc::clone(&reported.names);
        self.put_names(moment.block, id, reported);
        Ok(names)
    }

    fn begin_at(&self, moment: &TokenMoment<'_>) -> Result<(), ViewError> {
        let hash_at = |height| {
            let record = moment.state.snapshot().block(height).map_err(|error| ViewError::Chain(error.into()))?;
            Ok(record.map(|record| record.id.hash.to_byte_array()))
        };
        let entered = |height| {
            moment.view.check()?;
            let mut entered = HashSet::new();
            for message in moment.state.each_block_trace(height)? {
                entered.extend(entered_by(&message?.trace));
            }
            Ok(entered)
        };
        self.begin((moment.view.height, moment.block), hash_at, entered)
    }

    fn known_facts(&self, block: [u8; 32], id: AlkaneId) -> Option<Arc<TokenFacts>> {
        let state = self.0.lock();
        state.facts.get(&id).filter(|_| state.block == block).map(Arc::clone)
    }

    fn put_facts(&self, block: [u8; 32], id: AlkaneId, facts: &Arc<TokenFacts>) {
        let mut state = self.0.lock();
        let bytes = TOKEN_BYTES + facts.image.as_ref().map_or(0, Vec::len);
        if state.block != block || state.bytes + bytes > CACHE_BYTES_MAX {
            state.facts.clear();
            state.bytes = 0;
            state.block = block;
        }
        state.bytes += bytes;
        state.facts.insert(id, Arc::clone(facts));
    }

    /// Whether names of the block are held.
    fn has_begun(&self, block: [u8; 32]) -> bool {
        self.0.lock().names.iter().any(|names| names.hash == block)
    }

    /// The names of a contract that was asked at a block.
    fn known_names(&self, block: [u8; 32], id: AlkaneId) -> Option<Arc<TokenNames>> {
        let state = self.0.lock();
        let names = state.names.iter().find(|names| names.hash == block)?;
        names.of.get(&id).map(|reported| Arc::clone(&reported.names))
    }

    fn put_names(&self, block: [u8; 32], id: AlkaneId, reported: Reported) {
        let mut state = self.0.lock();
        if let Some(names) = state.names.iter_mut().find(|names| names.hash == block) {
            names.of.insert(id, reported);
        }
    }

    /// Begins a block with what is carried over from the highest known one that it follows. `hash_at` returns the hashes of
    /// its branch, `entered` the contracts that one of its blocks ran.
    fn begin(
        &self,
        (height, hash): (Height, [u8; 32]),
        hash_at: impl Fn(Height) -> Result<Option<[u8; 32]>, ViewError>,
        entered: impl Fn(Height) -> Result<HashSet<AlkaneId>, ViewError>,
    ) -> Result<(), ViewError> {
        let mut known: Vec<_> = self.0.lock().names.iter().map(|names| (names.height, names.hash)).collect();
        known.retain(|(known, _)| *known < height && height - known <= BLOCKS_CARRIED_MAX);
        known.sort_unstable();
        let mut of = HashMap::new();
        for (below, known) in known.into_iter().rev() {
            if hash_at(below)? != Some(known) {
                continue;
            }
            let mut touched = HashSet::new();
            for height in below + 1..=height {
                touched.extend(entered(height)?);
            }
            let state = self.0.lock();
            if let Some(names) = state.names.iter().find(|names| names.hash == known) {
                let lasting = names.of.iter().filter(|(_, reported)| reported.outlives(&touched));
                of = lasting.map(|(id, reported)| (*id, reported.clone())).collect();
            }
            break;
        }
        let mut state = self.0.lock();
        if !state.names.iter().any(|names| names.hash == hash) {
            if state.names.len() == BLOCKS_MAX {
                state.names.remove(0);
            }
            state.names.push(BlockNames { height, hash, of });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: AlkaneId = AlkaneId { block: 2, tx: 7 };
    const OTHER: AlkaneId = AlkaneId { block: 2, tx: 8 };

    #[test]
    fn facts_are_those_of_one_block_and_take_a_bounded_memory() {
        let cache = TokenCache::default();
        let facts = Arc::new(TokenFacts { name: Some("A".into()), ..TokenFacts::default() });
        cache.put_facts([1; 32], ID, &facts);
        assert_eq!(cache.known_facts([1; 32], ID).as_deref(), Some(&*facts));
        assert_eq!(cache.known_facts([2; 32], ID), None);
        let large =
            Arc::new(TokenFacts { image: Some(vec![0; CACHE_BYTES_MAX - TOKEN_BYTES]), ..TokenFacts::default() });
        cache.put_facts([1; 32], OTHER, &large);
        assert_eq!(cache.known_facts([1; 32], ID), None);
        assert!(cache.0.lock().bytes <= CACHE_BYTES_MAX);
    }

    /// A branch: block `n` has the hash `[n; 32]` up to the height where it parts, then `[100 + n; 32]`.
    fn begin(cache: &TokenCache, height: Height, parts_above: Height, entered: &[(Height, AlkaneId)]) -> [u8; 32] {
        let hash = |at: Height| [u8::try_from(if at > parts_above { 100 + at } else { at }).unwrap(); 32];
        let of = |at: Height| {
            assert!(at <= height);
            Ok(entered.iter().filter(|(height, _)| *height == at).map(|(_, id)| *id).collect())
        };
        cache.begin((height, hash(height)), |at| Ok(Some(hash(at))), of).unwrap();
        hash(height)
    }

    fn report(cache: &TokenCache, block: [u8; 32], id: AlkaneId, asked: &[AlkaneId]) {
        let words = TokenWords { name: Some("A".into()), symbol: None, asked: asked.to_vec() };
        cache.put_names(block, id, Reported::new(words));
    }

    fn knows(cache: &TokenCache, block: [u8; 32], id: AlkaneId) -> bool {
        assert!(cache.has_begun(block));
        cache.known_names(block, id).is_some()
    }

    #[test]
    fn names_are_carried_along_a_branch_until_a_block_runs_a_contract_that_they_depend_on() {
        let builtin = AlkaneId { block: 32, tx: 0 };
        let proxy = AlkaneId { block: 2, tx: 9 };
        let cache = TokenCache::default();
        let first = begin(&cache, 5, 99, &[]);
        assert!(!cache.has_begun([9; 32]));
        report(&cache, first, ID, &[ID]);
        report(&cache, first, OTHER, &[OTHER]);
        report(&cache, first, proxy, &[OTHER, proxy]);
        report(&cache, first, builtin, &[builtin]);
        let many: Vec<_> = (10..30).map(|tx| AlkaneId { block: 2, tx }).collect();
        report(&cache, first, many[0], &many);
        let later = begin(&cache, 8, 99, &[(5, ID), (7, OTHER)]);
        assert!(knows(&cache, later, ID), "called only in the block that it was asked at");
        for id in [OTHER, proxy, builtin, many[0]] {
            assert!(knows(&cache, first, id) && !knows(&cache, later, id), "{id}");
        }
        // A request of the block before does not take away what is known of the newest.
        begin(&cache, 7, 99, &[]);
        assert!(knows(&cache, later, ID));
        let far = begin(&cache, 8 + BLOCKS_CARRIED_MAX + 1, 99, &[]);
        assert!(!knows(&cache, far, ID));
        assert!(cache.0.lock().names.len() <= BLOCKS_MAX);
    }

    #[test]
    fn nothing_is_carried_to_another_branch() {
        let cache = TokenCache::default();
        let trunk = begin(&cache, 5, 99, &[]);
        report(&cache, trunk, ID, &[ID]);
        let left = begin(&cache, 7, 99, &[]);
        report(&cache, left, OTHER, &[OTHER]);
        let other = begin(&cache, 8, 6, &[]);
        assert!(knows(&cache, other, ID), "asked before the branches part");
        assert!(!knows(&cache, other, OTHER));
        let same_height = begin(&cache, 7, 4, &[]);
        assert!(!knows(&cache, same_height, ID) && !knows(&cache, same_height, OTHER));
    }
}
