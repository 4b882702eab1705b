//! Self-description of token contracts.

use paraffin_primitives::AlkaneId;

use super::run::{Parcel, Simulated, simulate_traced};
use super::words::{NAME, SYMBOL};
use super::{ViewContext, ViewError};
use crate::{Trace, TraceContext, TraceEvent};

/// Operations that tokens answer (conventions of token contracts).
mod operation {
    pub(super) const TOTAL_SUPPLY: u128 = 101;
    /// The cap of tokens that count mints, the decimals of those that do not.
    pub(super) const CAP_OR_DECIMALS: u128 = 102;
    pub(super) const MINTED: u128 = 103;
    pub(super) const VALUE_PER_MINT: u128 = 104;
    /// Of the wrapped bitcoin, whose 101 are payments.
    pub(super) const WRAPPED_SUPPLY: u128 = 105;
    /// Of pools whose liquidity is the pool itself.
    pub(super) const LIQUIDITY_PRICE: u128 = 106;
    pub(super) const LIQUIDITY_SUPPLY: u128 = 111;
    pub(super) const DATA: u128 = 1000;
}

/// Its numbers are under operations of its own.
const WRAPPED_BITCOIN: AlkaneId = AlkaneId { block: 32, tx: 0 };
/// Fuel of one call to a token; ten times that of the views by output.
const FUEL: u64 = 1_000_000;
/// Longest name and symbol that is taken for one, bytes.
const WORD_BYTES_MAX: usize = 256;
/// Largest image that is handed out, bytes.
const IMAGE_BYTES_MAX: usize = 256 << 10;
/// Largest number that is taken for decimal places.
const DECIMALS_MAX: u128 = 18;
/// Decimal places of the liquidity of a `CryptoSwap` pool.
pub const LIQUIDITY_DECIMALS: u32 = 18;

/// The self-description of a token contract; `None` for values that it does not report.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TokenFacts {
    /// Name.
    pub name: Option<String>,
    /// Symbol.
    pub symbol: Option<String>,
    /// Decimal places, 0 to 18. Contracts that count mints do not report them.
    pub decimals: Option<u32>,
    /// Base units that exist.
    pub total_supply: Option<u128>,
    /// Counted mints, of a contract that counts them.
    pub mints: Option<Mints>,
    /// Image or other data, as the contract holds it.
    pub image: Option<Vec<u8>>,
}

/// The answers of a contract to 102, 103 and 104, each with one integer: one of them alone means something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mints {
    /// Mints that there may be.
    pub cap: u128,
    /// Mints that there were.
    pub minted: u128,
    /// Base units of one mint.
    pub value_per_mint: u128,
}

impl TokenFacts {
    /// Base units that were issued without a mint: the supply without what all mints made. `None` when the contract does
    /// not report the supply, does not count mints, or reports more mints than it has supply for.
    pub fn premine(&self) -> Option<u128> {
        let Mints { minted, value_per_mint, .. } = self.mints?;
        self.total_supply?.checked_sub(minted.checked_mul(value_per_mint)?)
    }

    /// Base units that there can be at most: the premine and all mints. `None` when the contract does not report it, or has no
    /// limit.
    pub fn supply_max(&self) -> Option<u128> {
        let Mints { cap, value_per_mint, .. } = self.mints?;
        self.premine()?.checked_add(cap.checked_mul(value_per_mint)?)
    }
}

/// Name and symbol of a contract, and the contracts that the answer depends on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TokenWords {
    /// Name.
    pub name: Option<String>,
    /// Symbol.
    pub symbol: Option<String>,
    /// All contracts whose storage the answer can depend on, sorted: the contract, and those it called.
    pub asked: Vec<AlkaneId>,
}

/// Asks a contract for everything that tokens report, as of the view's height.
///
/// # Errors
/// [`ViewError`]; a question that the contract does not answer is `None`.
pub fn token_facts(id: AlkaneId, context: &ViewContext<'_>) -> Result<TokenFacts, ViewError> {
    let TokenWords { name, symbol, .. } = token_words(id, context)?;
    token_numbers(id, name, symbol, context)
}

/// The same for a contract whose name and symbol were read before.
///
/// # Errors
/// As [`token_facts`].
pub fn token_numbers(
    id: AlkaneId,
    name: Option<String>,
    symbol: Option<String>,
    context: &ViewContext<'_>,
) -> Result<TokenFacts, ViewError> {
    let asked = |operation| ask(id, operation, context);
    let number = |operation| Ok::<_, ViewError>(asked(operation)?.and_then(|data| integer(&data)));
    let image = asked(operation::DATA)?.filter(|data| !data.is_empty() && data.len() <= IMAGE_BYTES_MAX);
    let mut facts = TokenFacts { name, symbol, image, ..TokenFacts::default() };
    let second = number(operation::CAP_OR_DECIMALS)?;
    if id == WRAPPED_BITCOIN {
        facts.decimals = second.and_then(decimal_places);
        facts.total_supply = number(operation::WRAPPED_SUPPLY)?;
        return Ok(facts);
    }
    let first = asked(operation::TOTAL_SUPPLY)?;
    facts.total_supply = first.as_deref().and_then(integer);
    if first.is_some_and(|data| data.len() == 64) {
        // Two balances: a pool, if it answers the value of its liquidity.
        let wide = |operation| Ok::<_, ViewError>(asked(operation)?.filter(|data| data.len() == 32));
        facts.total_supply = wide(operation::LIQUIDITY_SUPPLY)?.as_deref().and_then(wide_integer);
        facts.decimals = wide(operation::LIQUIDITY_PRICE)?.map(|_| LIQUIDITY_DECIMALS);
        return Ok(facts);
    }
    let (third, fourth) = (asked(operation::MINTED)?, asked(operation::VALUE_PER_MINT)?);
    let counted = (second, third.as_deref().and_then(integer), fourth.as_deref().and_then(integer));
    match counted {
        (Some(cap), Some(minted), Some(value_per_mint)) => facts.mints = Some(Mints { cap, minted, value_per_mint }),
        // A token that reports a supply and a small 102, and knows nothing of 103 and 104, has decimals there.
        (Some(second), None, None) if third.is_none() && fourth.is_none() && facts.total_supply.is_some() => {
            facts.decimals = decimal_places(second);
        }
        _ => {}
    }
    Ok(facts)
}

/// Asks a contract for its name and symbol alone, as of the view's height.
///
/// # Errors
/// As [`token_facts`].
pub fn token_words(id: AlkaneId, context: &ViewContext<'_>) -> Result<TokenWords, ViewError> {
    let (name, first) = ask_traced(id, NAME, context)?;
    let (symbol, second) = ask_traced(id, SYMBOL, context)?;
    let mut asked = vec![id];
    asked.extend(entered_by(&first).chain(entered_by(&second)));
    asked.sort_unstable();
    asked.dedup();
    Ok(TokenWords { name: name.and_then(word), symbol: symbol.and_then(word), asked })
}

/// All contracts that a message created or ran: no other one can answer differently after its block, as long as it asks only
/// for what it and those it calls have stored.
pub fn entered_by(trace: &Trace) -> impl Iterator<Item = AlkaneId> + '_ {
    trace
        .events
        .iter()
        .flat_map(|event| match event {
            TraceEvent::Create(id) | TraceEvent::Enter { context: TraceContext { myself: id, .. }, .. } => {
                std::slice::from_ref(id)
            }
            TraceEvent::Omitted { contracts, .. } => contracts,
            TraceEvent::Exit { .. } => &[],
        })
        .copied()
}

fn ask(id: AlkaneId, operation: u128, context: &ViewContext<'_>) -> Result<Option<Vec<u8>>, ViewError> {
    Ok(ask_traced(id, operation, context)?.0)
}

fn ask_traced(id: AlkaneId, operation: u128, context: &ViewContext<'_>) -> Result<(Option<Vec<u8>>, Trace), ViewError> {
    let question = Parcel::calling(id, &[operation], u64::from(context.height));
    let (answer, trace) = simulate_traced(&question, FUEL, context)?;
    let data = match answer {
        Simulated::Done { response, .. } => Some(response.data),
        Simulated::Failed(_) => None,
    };
    Ok((data, trace))
}

fn decimal_places(number: u128) -> Option<u32> {
    u32::try_from(number).ok().filter(|_| number <= DECIMALS_MAX)
}

/// Text of a name; anything else is none. Zeros around it are filling.
fn word(data: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(data).ok().filter(|text| text.len() <= WORD_BYTES_MAX)?;
    let text = text.trim_matches('\0');
    (!text.is_empty() && !text.chars().any(char::is_control)).then(|| text.to_owned())
}

fn integer(data: &[u8]) -> Option<u128> {
    <[u8; 16]>::try_from(data).ok().map(u128::from_le_bytes)
}

/// Of 32 bytes, little-endian; `None` from 2^128.
fn wide_integer(data: &[u8]) -> Option<u128> {
    let (low, high) = data.split_at_checked(16)?;
    (integer(high) == Some(0)).then(|| integer(low)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_premine_is_what_no_mint_made() {
        let facts = |total_supply, minted, value_per_mint| TokenFacts {
            total_supply,
            mints: Some(Mints { cap: 0, minted, value_per_mint }),
            ..TokenFacts::default()
        };
        assert_eq!(facts(Some(1_100), 10, 100).premine(), Some(100));
        assert_eq!(facts(None, 1, 1).premine(), None);
        assert_eq!(facts(Some(5), 2, 3).premine(), None);
        assert_eq!(facts(Some(u128::MAX), u128::MAX, 2).premine(), None);
        let uncounted = TokenFacts { total_supply: Some(1_100), ..TokenFacts::default() };
        assert_eq!(uncounted.premine(), None, "who does not count mints does not tell what they made");
    }

    #[test]
    fn the_most_there_can_be_is_the_premine_and_all_mints() {
        let facts = |cap, value_per_mint| TokenFacts {
            total_supply: Some(1_500),
            mints: Some(Mints { cap, minted: 5, value_per_mint }),
            ..TokenFacts::default()
        };
        assert_eq!(facts(10, 100).supply_max(), Some(2_000));
        assert_eq!(facts(u128::MAX, 100).supply_max(), None, "no end");
        assert_eq!(TokenFacts::default().supply_max(), None);
    }

    #[test]
    fn a_name_is_text_of_a_sane_length() {
        assert_eq!(word(b"DIESEL\0\0".to_vec()), Some("DIESEL".to_owned()));
        for data in [vec![], vec![0; 16], vec![0xff, 0xfe], b"a\nb".to_vec(), vec![b'a'; 257]] {
            assert_eq!(word(data.clone()), None, "{data:?}");
        }
        assert_eq!(integer(&5_u128.to_le_bytes()), Some(5));
        assert_eq!(integer(&[1; 8]), None);
        let mut wide = [0; 32];
        wide[0] = 7;
        assert_eq!(wide_integer(&wide), Some(7));
        wide[16] = 1;
        assert_eq!(wide_integer(&wide), None);
        assert_eq!((decimal_places(18), decimal_places(19)), (Some(18), None));
    }
}
