//! Token records: what contracts tell of themselves, asked once for each block and kept (`decisions` 4.6).

use std::collections::HashMap;
use std::sync::Arc;

use paraffin_alkanes::Creation;
use paraffin_alkanes::views::{TokenFacts, ViewError, token_facts, token_words};
use paraffin_primitives::AlkaneId;
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Moment, id_object};
use crate::markets::{Pricing, TokenMarket};

/// Decimal places of every alkane: contracts do not tell, and all clients assume it.
pub(crate) const DECIMALS: u32 = 8;
/// Memory of what contracts told, bytes.
const CACHE_BYTES_MAX: usize = 64 << 20;
/// Images in one answer, bytes of text; the tokens after that have none.
const ANSWER_IMAGES_BYTES_MAX: usize = 8 << 20;
/// Memory of one token beside its image, bytes.
const TOKEN_BYTES: usize = 512;

/// What contracts told as of the newest block. Another block, or another branch, makes it all old.
#[derive(Default)]
pub(crate) struct TokenCache(Mutex<Told>);

#[derive(Default)]
struct Told {
    tip: [u8; 32],
    facts: HashMap<AlkaneId, Arc<TokenFacts>>,
    bytes: usize,
    /// Names and symbols of the block before, kept as a first answer for searches.
    words: HashMap<AlkaneId, (Creation, Words)>,
}

/// Name and symbol.
pub(crate) type Words = Arc<(Option<String>, Option<String>)>;

impl TokenCache {
    fn get(&self, tip: [u8; 32], id: AlkaneId) -> Option<Arc<TokenFacts>> {
        let told = self.0.lock();
        told.facts.get(&id).filter(|_| told.tip == tip).map(Arc::clone)
    }

    fn put(&self, tip: [u8; 32], creation: Creation, facts: &Arc<TokenFacts>) {
        let mut told = self.0.lock();
        let bytes = TOKEN_BYTES + facts.image.as_ref().map_or(0, Vec::len);
        if told.tip != tip || told.bytes + bytes > CACHE_BYTES_MAX {
            told.facts.clear();
            told.bytes = 0;
            told.tip = tip;
        }
        told.bytes += bytes;
        told.facts.insert(creation.id, Arc::clone(facts));
        told.words.insert(creation.id, (creation, Arc::new((facts.name.clone(), facts.symbol.clone()))));
    }

    fn put_words(&self, creation: Creation, words: &Words) {
        self.0.lock().words.insert(creation.id, (creation, Arc::clone(words)));
    }

    /// The words of a contract, if it was asked since it was created.
    fn words(&self, creation: &Creation) -> Option<Words> {
        let told = self.0.lock();
        told.words.get(&creation.id).filter(|(known, _)| known == creation).map(|(_, words)| Arc::clone(words))
    }
}

/// What a contract tells, from the cache where the newest block is asked about.
pub(crate) fn facts(moment: &Moment<'_>, creation: Creation) -> Result<Arc<TokenFacts>, ViewError> {
    if let Some(known) = moment.alkanes.tokens.get(moment.tip, creation.id).filter(|_| moment.is_newest) {
        return Ok(known);
    }
    let facts = Arc::new(token_facts(creation.id, &moment.view)?);
    if moment.is_newest {
        moment.alkanes.tokens.put(moment.tip, creation, &facts);
    }
    Ok(facts)
}

/// Name and symbol, as of now or as of an earlier question: they hardly ever change, and a search goes through all. What was
/// asked stays known also when the search that asked has run out of time.
pub(crate) fn words(moment: &Moment<'_>, creation: Creation) -> Result<Words, ViewError> {
    match moment.alkanes.tokens.words(&creation) {
        Some(words) => Ok(words),
        None => {
            let words = Arc::new(token_words(creation.id, &moment.view)?);
            if moment.is_newest {
                moment.alkanes.tokens.put_words(creation, &words);
            }
            Ok(words)
        }
    }
}

/// A token as the REST routes tell it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Token {
    id: Value,
    alkane_id: Value,
    name: Option<String>,
    symbol: Option<String>,
    decimals: u32,
    image: Option<String>,
    /// The same under the name that some clients read.
    #[serde(rename = "tokenImage")]
    same_image: Option<String>,
    max: Option<String>,
    cap: Option<String>,
    minted: Option<String>,
    premine: Option<String>,
    total_supply: Option<String>,
    /// Only where an address is asked about.
    pub(crate) balance: Option<String>,
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
    let digits = |number: Option<u128>| number.map(|number| number.to_string());
    let image = facts.image.as_deref().map(image_text);
    Ok(Token {
        id: id_object(creation.id),
        alkane_id: id_object(creation.id),
        name: facts.name.clone(),
        symbol: facts.symbol.clone(),
        decimals: DECIMALS,
        image: image.clone(),
        same_image: image,
        max: digits(facts.value_per_mint),
        cap: digits(facts.cap),
        minted: digits(facts.minted),
        premine: digits(facts.premine()),
        total_supply: digits(facts.total_supply),
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
    format!("data:{kind};base64,{}", base64(data))
}

/// The standard alphabet with padding (RFC 4648, section 4).
pub(crate) fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |place: usize| u32::from(group.get(place).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let digit = ALPHABET[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(if place > group.len() { '=' } else { char::from(digit) });
        }
    }
    text
}

/// Id, name and symbol beside an amount.
pub(crate) fn named_amount(moment: &Moment<'_>, id: AlkaneId, amount: u128) -> Result<Value, ViewError> {
    let words = match moment.state.creation(id)? {
        Some(creation) => words(moment, creation)?,
        None => Words::default(),
    };
    Ok(json!({
        "id": id.to_string(),
        "alkaneId": id_object(id),
        "amount": amount.to_string(),
        "name": words.0,
        "symbol": words.1,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_text_or_a_data_uri() {
        assert_eq!(image_text(b"<svg/>"), "<svg/>");
        assert_eq!(image_text(b"\x89PNG\r\n"), "data:image/png;base64,iVBORw0K");
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(image_text(&[0xff, 0xfe]), "data:application/octet-stream;base64,//4=");
    }

    #[test]
    fn images_take_a_bounded_part_of_an_answer() {
        let token = |bytes: usize| Token {
            id: Value::Null,
            alkane_id: Value::Null,
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

    #[test]
    fn another_block_makes_what_was_told_old_and_keeps_the_words_of_the_same_contract() {
        let cache = TokenCache::default();
        let id = AlkaneId { block: 2, tx: 7 };
        let creation = Creation { id, height: 5, place: 0 };
        let facts = Arc::new(TokenFacts { name: Some("A".into()), ..TokenFacts::default() });
        cache.put([1; 32], creation, &facts);
        assert_eq!(cache.get([1; 32], id).as_deref(), Some(&*facts));
        assert_eq!(cache.get([2; 32], id), None);
        assert_eq!(cache.words(&creation).unwrap().0.as_deref(), Some("A"));
        // A reorg may have given the id to another contract.
        assert!(cache.words(&Creation { height: 6, ..creation }).is_none());
        let large =
            Arc::new(TokenFacts { image: Some(vec![0; CACHE_BYTES_MAX - TOKEN_BYTES]), ..TokenFacts::default() });
        cache.put([1; 32], Creation { id: AlkaneId { block: 2, tx: 8 }, ..creation }, &large);
        assert_eq!(cache.get([1; 32], id), None);
        assert!(cache.0.lock().bytes <= CACHE_BYTES_MAX);
    }
}
