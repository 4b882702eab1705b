//! Token records: what contracts report about themselves (docs/api.md, "REST").

use std::sync::Arc;

use data_encoding::BASE64;
use paraffin_alkanes::Creation;
use paraffin_alkanes::views::{LIQUIDITY_DECIMALS, TokenFacts, TokenMoment, TokenNames, ViewError};
use paraffin_cryptoswap::PoolIndex;
use paraffin_primitives::AlkaneId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::alkanes::Moment;
use crate::api_types::{Digits, IdObject, IdText};
use crate::markets::{Pricing, TokenMarket};

/// Decimal places of every alkane whose contract does not report them: all clients assume this number.
pub const DECIMALS: u32 = 8;
/// Images in one answer, bytes of text; the tokens after that have none.
const ANSWER_IMAGES_BYTES_MAX: usize = 8 << 20;
/// Name and symbol.
pub type Words = Arc<TokenNames>;

/// What a contract reports, from the cache where it was read at this same block.
///
/// # Errors
/// The index cannot be read, or the view took too long.
pub fn facts(moment: &Moment<'_>, creation: Creation) -> Result<Arc<TokenFacts>, ViewError> {
    let id = creation.id;
    let decimals = || Ok(is_cryptoswap(moment, id)?.then_some(LIQUIDITY_DECIMALS));
    moment.alkanes.tokens.facts(&moment.of_tokens(), id, decimals)
}

/// Whether the pool index knows the contract as a pool.
fn is_cryptoswap(moment: &Moment<'_>, id: AlkaneId) -> Result<bool, ViewError> {
    if PoolIndex::newest(moment.snapshot)?.is_none() {
        return Ok(false);
    }
    Ok(PoolIndex::at(moment.snapshot, moment.view.height).pool(id)?.is_some())
}

/// Name and symbol as of the moment's block.
///
/// # Errors
/// The index cannot be read, or the view took too long.
pub fn words(moment: &Moment<'_>, creation: Creation) -> Result<Words, ViewError> {
    moment.alkanes.tokens.names(&moment.of_tokens(), creation.id)
}

impl Moment<'_> {
    fn of_tokens(&self) -> TokenMoment<'_> {
        TokenMoment { view: &self.view, state: self.state, block: self.block, is_newest: self.is_newest }
    }
}

/// A contract; what it is worth is of 10^8 base units, null where no price is known.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Token {
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
    pub balance: Option<Digits>,
    holders: u64,
    created_at_height: u32,
    #[serde(flatten)]
    market: TokenMarket,
}

/// The record of a token; `None` when there is no such contract.
///
/// # Errors
/// The index cannot be read, or the view took too long.
pub fn token(moment: &Moment<'_>, pricing: Option<&Pricing>, id: AlkaneId) -> Result<Option<Token>, ViewError> {
    let Some(creation) = moment.state.creation(id)? else { return Ok(None) };
    record(moment, pricing, creation).map(Some)
}

/// The records of contracts, in their order.
///
/// # Errors
/// The index cannot be read, or the view took too long.
pub fn tokens(moment: &Moment<'_>, pricing: Option<&Pricing>, creations: &[Creation]) -> Result<Vec<Token>, ViewError> {
    let mut images = ImageBudget::default();
    creations.iter().map(|creation| Ok(images.allow(record(moment, pricing, *creation)?))).collect()
}

/// How much of one answer images may take.
pub struct ImageBudget(usize);

impl Default for ImageBudget {
    fn default() -> Self {
        Self(ANSWER_IMAGES_BYTES_MAX)
    }
}

impl ImageBudget {
    /// The token, without its image when there is no room for it.
    pub fn allow(&mut self, mut token: Token) -> Token {
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
pub struct NamedAmount {
    id: IdText,
    alkane_id: IdObject,
    amount: Digits,
    name: Option<String>,
    symbol: Option<String>,
}

/// An amount of an alkane with its name.
///
/// # Errors
/// The contract cannot be read.
pub fn named_amount(moment: &Moment<'_>, id: AlkaneId, amount: u128) -> Result<NamedAmount, ViewError> {
    let words = match moment.state.creation(id)? {
        Some(creation) => words(moment, creation)?,
        None => Words::default(),
    };
    let TokenNames { name, symbol } = Arc::unwrap_or_clone(words);
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
}
