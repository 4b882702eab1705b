//! Token records: what contracts report about themselves, queried once for each block and cached (docs/api.md, "REST").

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use bitcoin::hashes::Hash as _;
use data_encoding::BASE64;
use paraffin_alkanes::Creation;
use paraffin_alkanes::views::{
    LIQUIDITY_DECIMALS, TokenFacts, TokenWords, ViewError, entered_by, token_numbers, token_words,
};
use paraffin_cryptoswap::PoolIndex;
use paraffin_primitives::{AlkaneId, Height};
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Serialize;

use super::Moment;
use crate::markets::{Pricing, TokenMarket};
use crate::rest::{Digits, IdObject, IdText};

/// Decimal places of every alkane whose contract does not report them: all clients assume this number.
pub(crate) const DECIMALS: u32 = 8;
/// Memory for what contracts reported, bytes.
const CACHE_BYTES_MAX: usize = 64 << 20;
/// Images in one answer, bytes of text; the tokens after that have none.
const ANSWER_IMAGES_BYTES_MAX: usize = 8 << 20;
/// Memory of one token beside its image, bytes.
const TOKEN_BYTES: usize = 512;
/// Blocks whose words are kept: requests of the block before may still run when those of the next one begin.
const BLOCKS_KEPT: usize = 3;
/// Blocks that words are carried across; after more of them all contracts are asked anew.
const BLOCKS_CARRIED_MAX: Height = 16;
/// Contracts that an answer may hang on and be carried to the next block.
const ASKED_MAX: usize = 8;

/// What contracts reported as of the newest blocks. Nothing in it outlives the block at which it was read, except names and
/// symbols: they are carried to a block that follows on the same branch, unless a block in between has run one of the
/// contracts that they depend on.
#[derive(Default)]
pub(crate) struct TokenCache(Mutex<Told>);

#[derive(Default)]
struct Told {
    /// Hash of the block that the facts are of.
    block: [u8; 32],
    facts: HashMap<AlkaneId, Arc<TokenFacts>>,
    bytes: usize,
    /// The newest one last.
    words: Vec<BlockWords>,
}

/// Names and symbols at one block.
struct BlockWords {
    height: Height,
    hash: [u8; 32],
    of: HashMap<AlkaneId, Known>,
}

#[derive(Clone)]
struct Known {
    words: Words,
    /// Contracts that the answer hangs on; `None` when they are too many.
    asked: Option<Arc<[AlkaneId]>>,
}

impl Known {
    fn new(told: TokenWords) -> Self {
        let asked = (told.asked.len() <= ASKED_MAX).then(|| told.asked.into());
        Self { words: Arc::new((told.name, told.symbol)), asked }
    }

    /// Whether the answer is the same after blocks that ran these contracts. Code of contracts that are not on chain may
    /// change with the height alone.
    fn outlives(&self, entered: &HashSet<AlkaneId>) -> bool {
        let is_builtin = |id: &AlkaneId| id.block == 32 || *id == AlkaneId { block: 2, tx: 0 };
        self.asked.as_ref().is_some_and(|asked| !asked.iter().any(|id| is_builtin(id) || entered.contains(id)))
    }
}

/// Name and symbol.
pub(crate) type Words = Arc<(Option<String>, Option<String>)>;

impl TokenCache {
    fn facts(&self, block: [u8; 32], id: AlkaneId) -> Option<Arc<TokenFacts>> {
        let told = self.0.lock();
        told.facts.get(&id).filter(|_| told.block == block).map(Arc::clone)
    }

    fn put_facts(&self, block: [u8; 32], id: AlkaneId, facts: &Arc<TokenFacts>) {
        let mut told = self.0.lock();
        let bytes = TOKEN_BYTES + facts.image.as_ref().map_or(0, Vec::len);
        if told.block != block || told.bytes + bytes > CACHE_BYTES_MAX {
            told.facts.clear();
            told.bytes = 0;
            told.block = block;
        }
        told.bytes += bytes;
        told.facts.insert(id, Arc::clone(facts));
    }

    fn knows(&self, block: [u8; 32]) -> bool {
        self.0.lock().words.iter().any(|words| words.hash == block)
    }

    /// The words of a contract that was asked at a block.
    fn words(&self, block: [u8; 32], id: AlkaneId) -> Option<Words> {
        let told = self.0.lock();
        let words = told.words.iter().find(|words| words.hash == block)?;
        words.of.get(&id).map(|known| Arc::clone(&known.words))
    }

    fn put_words(&self, block: [u8; 32], id: AlkaneId, known: Known) {
        let mut told = self.0.lock();
        if let Some(words) = told.words.iter_mut().find(|words| words.hash == block) {
            words.of.insert(id, known);
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
        let mut known: Vec<_> = self.0.lock().words.iter().map(|words| (words.height, words.hash)).collect();
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
            let told = self.0.lock();
            if let Some(words) = told.words.iter().find(|words| words.hash == known) {
                let lasting = words.of.iter().filter(|(_, known)| known.outlives(&touched));
                of = lasting.map(|(id, known)| (*id, known.clone())).collect();
            }
            break;
        }
        let mut told = self.0.lock();
        if !told.words.iter().any(|words| words.hash == hash) {
            if told.words.len() == BLOCKS_KEPT {
                told.words.remove(0);
            }
            told.words.push(BlockWords { height, hash, of });
        }
        Ok(())
    }
}

/// What a contract reports, from the cache where it was read at this same block.
pub(crate) fn facts(moment: &Moment<'_>, creation: Creation) -> Result<Arc<TokenFacts>, ViewError> {
    let id = creation.id;
    let cache = &moment.alkanes.tokens;
    if let Some(known) = cache.facts(moment.block, id) {
        return Ok(known);
    }
    let words = words(moment, creation)?;
    let mut facts = token_numbers(id, words.0.clone(), words.1.clone(), &moment.view)?;
    if facts.decimals.is_none() && is_cryptoswap(moment, id)? {
        facts.decimals = Some(LIQUIDITY_DECIMALS);
    }
    let facts = Arc::new(facts);
    if moment.is_newest {
        cache.put_facts(moment.block, id, &facts);
    }
    Ok(facts)
}

/// Whether the pool index knows the contract as a pool.
fn is_cryptoswap(moment: &Moment<'_>, id: AlkaneId) -> Result<bool, ViewError> {
    if PoolIndex::newest(moment.snapshot)?.is_none() {
        return Ok(false);
    }
    Ok(PoolIndex::at(moment.snapshot, moment.view.height).pool(id)?.is_some())
}

/// Name and symbol as of the moment's block. What was asked stays known also when the search that asked has run out of time.
pub(crate) fn words(moment: &Moment<'_>, creation: Creation) -> Result<Words, ViewError> {
    let cache = &moment.alkanes.tokens;
    if moment.is_newest && !cache.knows(moment.block) {
        begin(moment)?;
    }
    if let Some(words) = cache.words(moment.block, creation.id) {
        return Ok(words);
    }
    let known = Known::new(token_words(creation.id, &moment.view)?);
    let words = Arc::clone(&known.words);
    cache.put_words(moment.block, creation.id, known);
    Ok(words)
}

fn begin(moment: &Moment<'_>) -> Result<(), ViewError> {
    let hash_at = |height| {
        let record = moment.snapshot.block(height).map_err(|error| ViewError::Chain(error.into()))?;
        Ok(record.map(|record| record.id.hash.to_byte_array()))
    };
    let entered = |height| {
        moment.check()?;
        let mut entered = HashSet::new();
        for message in moment.state.each_block_trace(height)? {
            entered.extend(entered_by(&message?.trace));
        }
        Ok(entered)
    };
    moment.alkanes.tokens.begin((moment.view.height, moment.block), hash_at, entered)
}

/// A contract; what it is worth is of 10^8 base units, null where no price is known.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Token {
    id: IdObject,
    alkane_id: IdObject,
    name: Option<String>,
    symbol: Option<String>,
    decimals: u32,
    /// What the contract tells: text, or a data URI.
    image: Option<String>,
    /// The same under the name that some clients read.
    #[serde(rename = "tokenImage")]
    same_image: Option<String>,
    /// Amount of one mint.
    max: Option<Digits>,
    /// How many mints there may be.
    cap: Option<Digits>,
    /// How many mints there were.
    minted: Option<Digits>,
    /// The supply without all mints, of a contract that counts them.
    premine: Option<Digits>,
    total_supply: Option<Digits>,
    /// Where an address is asked about.
    pub(crate) balance: Option<Digits>,
    holders: u64,
    created_at_height: u32,
    #[serde(flatten)]
    market: TokenMarket,
}

/// The record of a token; `None` when there is no such contract.
pub(crate) fn token(moment: &Moment<'_>, pricing: Option<&Pricing>, id: AlkaneId) -> Result<Option<Token>, ViewError> {
    let Some(creation) = moment.state.creation(id)? else { return Ok(None) };
    record(moment, pricing, creation).map(Some)
}

/// The records of contracts, in their order.
pub(crate) fn tokens(
    moment: &Moment<'_>,
    pricing: Option<&Pricing>,
    creations: &[Creation],
) -> Result<Vec<Token>, ViewError> {
    let mut images = ImageBudget::default();
    creations.iter().map(|creation| Ok(images.allow(record(moment, pricing, *creation)?))).collect()
}

/// How much of one answer images may take.
pub(crate) struct ImageBudget(usize);

impl Default for ImageBudget {
    fn default() -> Self {
        Self(ANSWER_IMAGES_BYTES_MAX)
    }
}

impl ImageBudget {
    /// The token, without its image when there is no room for it.
    pub(crate) fn allow(&mut self, mut token: Token) -> Token {
        let bytes = 2 * token.image.as_ref().map_or(0, String::len);
        match self.0.checked_sub(bytes) {
            Some(left) => self.0 = left,
            None => (token.image, token.same_image) = (None, None),
        }
        token
    }
}

fn record(moment: &Moment<'_>, pricing: Option<&Pricing>, creation: Creation) -> Result<Token, ViewError> {
    let facts = facts(moment, creation)?;
    let holders = moment.state.holder_counts(creation.id)?.scripts;
    let image = facts.image.as_deref().map(image_text);
    Ok(Token {
        id: creation.id.into(),
        alkane_id: creation.id.into(),
        name: facts.name.clone(),
        symbol: facts.symbol.clone(),
        decimals: facts.decimals.unwrap_or(DECIMALS),
        image: image.clone(),
        same_image: image,
        max: facts.mints.map(|mints| Digits(mints.value_per_mint)),
        cap: facts.mints.map(|mints| Digits(mints.cap)),
        minted: facts.mints.map(|mints| Digits(mints.minted)),
        premine: facts.premine().map(Digits),
        total_supply: facts.total_supply.map(Digits),
        balance: None,
        holders,
        created_at_height: creation.height,
        market: pricing.map(|pricing| pricing.of(creation.id, &facts)).unwrap_or_default(),
    })
}

/// The data of a token as text: as it is when it is text, else a data URI.
fn image_text(data: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(data)
        && !text.chars().any(|character| character.is_control() && !character.is_whitespace())
    {
        return text.to_owned();
    }
    let kind = match data {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [0xff, 0xd8, 0xff, ..] => "image/jpeg",
        [b'G', b'I', b'F', b'8', ..] => "image/gif",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
        _ => "application/octet-stream",
    };
    format!("data:{kind};base64,{}", BASE64.encode(data))
}

/// Id, name and symbol beside an amount.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub(crate) struct NamedAmount {
    id: IdText,
    alkane_id: IdObject,
    amount: Digits,
    name: Option<String>,
    symbol: Option<String>,
}

pub(crate) fn named_amount(moment: &Moment<'_>, id: AlkaneId, amount: u128) -> Result<NamedAmount, ViewError> {
    let words = match moment.state.creation(id)? {
        Some(creation) => words(moment, creation)?,
        None => Words::default(),
    };
    let (name, symbol) = Arc::unwrap_or_clone(words);
    Ok(NamedAmount { id: IdText(id), alkane_id: id.into(), amount: Digits(amount), name, symbol })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_text_or_a_data_uri() {
        assert_eq!(image_text(b"<svg/>"), "<svg/>");
        assert_eq!(image_text(b"\x89PNG\r\n"), "data:image/png;base64,iVBORw0K");
        assert_eq!(image_text(&[0xff, 0xfe]), "data:application/octet-stream;base64,//4=");
    }

    #[test]
    fn images_take_a_bounded_part_of_an_answer() {
        let token = |bytes: usize| Token {
            id: ID.into(),
            alkane_id: ID.into(),
            name: None,
            symbol: None,
            decimals: DECIMALS,
            image: Some("x".repeat(bytes)),
            same_image: Some("x".repeat(bytes)),
            max: None,
            cap: None,
            minted: None,
            premine: None,
            total_supply: None,
            balance: None,
            holders: 0,
            created_at_height: 0,
            market: TokenMarket::default(),
        };
        let mut images = ImageBudget(100);
        assert!(images.allow(token(40)).image.is_some());
        let without = images.allow(token(20));
        assert!(without.image.is_none() && without.same_image.is_none());
        assert!(images.allow(token(10)).same_image.is_some());
    }

    const ID: AlkaneId = AlkaneId { block: 2, tx: 7 };
    const OTHER: AlkaneId = AlkaneId { block: 2, tx: 8 };

    #[test]
    fn facts_are_those_of_one_block_and_take_a_bounded_memory() {
        let cache = TokenCache::default();
        let facts = Arc::new(TokenFacts { name: Some("A".into()), ..TokenFacts::default() });
        cache.put_facts([1; 32], ID, &facts);
        assert_eq!(cache.facts([1; 32], ID).as_deref(), Some(&*facts));
        assert_eq!(cache.facts([2; 32], ID), None);
        let large =
            Arc::new(TokenFacts { image: Some(vec![0; CACHE_BYTES_MAX - TOKEN_BYTES]), ..TokenFacts::default() });
        cache.put_facts([1; 32], OTHER, &large);
        assert_eq!(cache.facts([1; 32], ID), None);
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

    fn tell(cache: &TokenCache, block: [u8; 32], id: AlkaneId, asked: &[AlkaneId]) {
        let told = TokenWords { name: Some("A".into()), symbol: None, asked: asked.to_vec() };
        cache.put_words(block, id, Known::new(told));
    }

    fn knows(cache: &TokenCache, block: [u8; 32], id: AlkaneId) -> bool {
        assert!(cache.knows(block));
        cache.words(block, id).is_some()
    }

    #[test]
    fn words_are_carried_along_a_branch_until_a_block_runs_a_contract_that_they_hang_on() {
        let builtin = AlkaneId { block: 32, tx: 0 };
        let proxy = AlkaneId { block: 2, tx: 9 };
        let cache = TokenCache::default();
        let first = begin(&cache, 5, 99, &[]);
        assert!(!cache.knows([9; 32]));
        tell(&cache, first, ID, &[ID]);
        tell(&cache, first, OTHER, &[OTHER]);
        tell(&cache, first, proxy, &[OTHER, proxy]);
        tell(&cache, first, builtin, &[builtin]);
        let many: Vec<_> = (10..30).map(|tx| AlkaneId { block: 2, tx }).collect();
        tell(&cache, first, many[0], &many);
        let later = begin(&cache, 8, 99, &[(5, ID), (7, OTHER)]);
        assert!(knows(&cache, later, ID), "called only in the block that it was told at");
        for id in [OTHER, proxy, builtin, many[0]] {
            assert!(knows(&cache, first, id) && !knows(&cache, later, id), "{id}");
        }
        // A request of the block before does not take away what is known of the newest.
        begin(&cache, 7, 99, &[]);
        assert!(knows(&cache, later, ID));
        let far = begin(&cache, 8 + BLOCKS_CARRIED_MAX + 1, 99, &[]);
        assert!(!knows(&cache, far, ID));
        assert!(cache.0.lock().words.len() <= BLOCKS_KEPT);
    }

    #[test]
    fn nothing_is_carried_to_another_branch() {
        let cache = TokenCache::default();
        let trunk = begin(&cache, 5, 99, &[]);
        tell(&cache, trunk, ID, &[ID]);
        let left = begin(&cache, 7, 99, &[]);
        tell(&cache, left, OTHER, &[OTHER]);
        let other = begin(&cache, 8, 6, &[]);
        assert!(knows(&cache, other, ID), "told before the branches part");
        assert!(!knows(&cache, other, OTHER));
        let same_height = begin(&cache, 7, 4, &[]);
        assert!(!knows(&cache, same_height, ID) && !knows(&cache, same_height, OTHER));
    }
}
