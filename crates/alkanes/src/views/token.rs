//! What a token contract tells of itself.

use paraffin_primitives::AlkaneId;

use super::run::{Simulated, call_contract};
use super::words::{NAME, SYMBOL};
use super::{ViewContext, ViewError};

/// Operations that tokens answer (the conventions of all known token contracts).
mod operation {
    pub(super) const TOTAL_SUPPLY: u128 = 101;
    pub(super) const CAP: u128 = 102;
    pub(super) const MINTED: u128 = 103;
    pub(super) const VALUE_PER_MINT: u128 = 104;
    pub(super) const DATA: u128 = 1000;
}

/// Fuel of one question to a token; ten times what the views by output give.
const FUEL: u64 = 1_000_000;
/// Longest name and symbol that is taken for one, bytes.
const WORD_BYTES_MAX: usize = 256;
/// Largest image that is handed out, bytes.
const IMAGE_BYTES_MAX: usize = 256 << 10;

/// What a token contract tells of itself; `None` for what it does not tell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TokenFacts {
    /// Name.
    pub name: Option<String>,
    /// Symbol.
    pub symbol: Option<String>,
    /// Base units that exist.
    pub total_supply: Option<u128>,
    /// Mints that there may be.
    pub cap: Option<u128>,
    /// Mints that there were.
    pub minted: Option<u128>,
    /// Base units of one mint.
    pub value_per_mint: Option<u128>,
    /// Image or other data, as the contract holds it.
    pub image: Option<Vec<u8>>,
}

impl TokenFacts {
    /// Base units that were issued without a mint: the supply without what all mints made. `None` when the contract does
    /// not tell the supply, or tells more mints than it has supply for.
    pub fn premine(&self) -> Option<u128> {
        let supply = self.total_supply?;
        match (self.minted, self.value_per_mint) {
            (Some(minted), Some(value)) => supply.checked_sub(minted.checked_mul(value)?),
            _ => Some(supply),
        }
    }
}

/// Asks a contract for everything that tokens tell, as of the view's height.
///
/// # Errors
/// [`ViewError`]; a question that the contract does not answer is `None`.
pub fn token_facts(id: AlkaneId, context: &ViewContext<'_>) -> Result<TokenFacts, ViewError> {
    let (name, symbol) = token_words(id, context)?;
    let number = |operation| Ok::<_, ViewError>(ask(id, operation, context)?.and_then(|data| integer(&data)));
    let image = ask(id, operation::DATA, context)?;
    Ok(TokenFacts {
        name,
        symbol,
        total_supply: number(operation::TOTAL_SUPPLY)?,
        cap: number(operation::CAP)?,
        minted: number(operation::MINTED)?,
        value_per_mint: number(operation::VALUE_PER_MINT)?,
        image: image.filter(|data| !data.is_empty() && data.len() <= IMAGE_BYTES_MAX),
    })
}

/// Asks a contract for its name and symbol alone, as of the view's height.
///
/// # Errors
/// As [`token_facts`].
pub fn token_words(id: AlkaneId, context: &ViewContext<'_>) -> Result<(Option<String>, Option<String>), ViewError> {
    Ok((ask(id, NAME, context)?.and_then(word), ask(id, SYMBOL, context)?.and_then(word)))
}

fn ask(id: AlkaneId, operation: u128, context: &ViewContext<'_>) -> Result<Option<Vec<u8>>, ViewError> {
    let answer = call_contract(id, &[operation], u64::from(context.height), FUEL, context)?;
    Ok(match answer {
        Simulated::Done { response, .. } => Some(response.data),
        Simulated::Failed(_) => None,
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_premine_is_what_no_mint_made() {
        let facts = |total_supply, minted, value_per_mint| TokenFacts {
            total_supply,
            minted,
            value_per_mint,
            ..TokenFacts::default()
        };
        assert_eq!(facts(Some(1_100), Some(10), Some(100)).premine(), Some(100));
        assert_eq!(facts(Some(1_100), None, None).premine(), Some(1_100));
        assert_eq!(facts(None, Some(1), Some(1)).premine(), None);
        assert_eq!(facts(Some(5), Some(2), Some(3)).premine(), None);
        assert_eq!(facts(Some(u128::MAX), Some(u128::MAX), Some(2)).premine(), None);
    }

    #[test]
    fn a_name_is_text_of_a_sane_length() {
        assert_eq!(word(b"DIESEL\0\0".to_vec()), Some("DIESEL".to_owned()));
        for data in [vec![], vec![0; 16], vec![0xff, 0xfe], b"a\nb".to_vec(), vec![b'a'; 257]] {
            assert_eq!(word(data.clone()), None, "{data:?}");
        }
        assert_eq!(integer(&5_u128.to_le_bytes()), Some(5));
        assert_eq!(integer(&[1; 8]), None);
    }
}
