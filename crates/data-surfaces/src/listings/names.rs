//! Names of alkanes and pools in listings. Contracts may report anything, and readers of listings stop at an empty name: the id
//! stands in for a missing name.

use bitcoin::Address;
use paraffin_alkanes::views::ViewError;
use paraffin_amm::{Event, PoolIdentity};
use paraffin_primitives::{AlkaneId, Network};

use paraffin_gateway::markets::MarketMoment;
use paraffin_gateway::tokens::words;

/// Longest name and symbol, characters; more is cut.
const NAME_CHARACTERS_MAX: usize = 64;
const SYMBOL_CHARACTERS_MAX: usize = 24;

/// Name and symbol of an alkane.
pub(super) struct Names {
    pub(super) name: String,
    pub(super) symbol: String,
}

impl Names {
    /// As its contract reports them at the newest block.
    pub(super) fn of(moment: &MarketMoment<'_>, id: AlkaneId) -> Result<Self, ViewError> {
        moment.chain.check()?;
        let reported = match moment.chain.state.creation(id)? {
            Some(creation) => words(moment.chain, creation)?,
            None => std::sync::Arc::default(),
        };
        let name = reported.name.as_deref().and_then(|name| printable(name, NAME_CHARACTERS_MAX));
        let symbol = reported.symbol.as_deref().and_then(|symbol| printable(symbol, SYMBOL_CHARACTERS_MAX));
        Ok(Self {
            symbol: symbol.clone().or_else(|| name.clone()).unwrap_or_else(|| id.to_string()),
            name: name.or(symbol).unwrap_or_else(|| id.to_string()),
        })
    }
}

/// The symbols of a pool's alkanes, `BASE/QUOTE`.
pub(super) fn pair_symbol(moment: &MarketMoment<'_>, pool: &PoolIdentity) -> Result<String, ViewError> {
    let [base, quote] = pool.tokens;
    Ok(format!("{}/{}", Names::of(moment, base)?.symbol, Names::of(moment, quote)?.symbol))
}

/// Text without control characters and without spaces around it, cut; `None` when nothing is left.
fn printable(text: &str, characters_max: usize) -> Option<String> {
    let printable: String = text.chars().filter(|character| !character.is_control()).take(characters_max).collect();
    let printable = printable.trim();
    (!printable.is_empty()).then(|| printable.to_owned())
}

/// Address of the actor of an event: the owner of the protostone's pointer output; `None` where that has none.
pub(super) fn actor(event: &Event, network: Network) -> Option<String> {
    let address = Address::from_script(event.actor.as_ref()?, network.bitcoin()).ok()?;
    Some(address.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_printable_or_none() {
        assert_eq!(printable(" a\u{0}b\n ", 9).as_deref(), Some("ab"));
        assert_eq!(printable("\u{7}\t", 9), None);
        assert_eq!(printable("", 9), None);
        assert_eq!(printable("éèà", 2).as_deref(), Some("éè"));
    }
}
