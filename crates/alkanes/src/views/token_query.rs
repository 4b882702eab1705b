//! Searching tokens.

use paraffin_primitives::AlkaneId;

use super::TokenNames;

/// A text that tokens are searched by. Letters count in either case.
#[derive(Debug, Clone)]
pub struct TokenQuery {
    text: String,
    id: Option<AlkaneId>,
}

impl TokenQuery {
    /// Of what somebody typed.
    pub fn new(text: &str) -> Self {
        let text = text.to_lowercase();
        Self { id: text.parse().ok(), text }
    }

    /// Whether there is nothing to search for.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// How well a token fits, 0 best: it has this id, its symbol is the text, its name or symbol begins with it, or contains it.
    /// `None` where nothing fits.
    pub fn rank(&self, id: AlkaneId, names: &TokenNames) -> Option<u8> {
        if self.id == Some(id) {
            return Some(0);
        }
        let lower = |word: &Option<String>| word.as_ref().map(|word| word.to_lowercase()).unwrap_or_default();
        let (query, name, symbol) = (self.text.as_str(), lower(&names.name), lower(&names.symbol));
        if symbol == query {
            Some(1)
        } else if name.starts_with(query) || symbol.starts_with(query) {
            Some(2)
        } else if name.contains(query) || symbol.contains(query) {
            Some(3)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// row RA03
    #[test]
    fn a_search_ranks_id_symbol_beginning_and_part_in_either_case() {
        let of = |query: &str, name: &str, symbol: &str| {
            let names = TokenNames { name: Some(name.to_owned()), symbol: Some(symbol.to_owned()) };
            TokenQuery::new(query).rank(AlkaneId { block: 2, tx: 0 }, &names)
        };
        assert_eq!(of("2:0", "DIESEL", "DIESEL"), Some(0));
        assert_eq!(of("diesel", "Other", "DIESEL"), Some(1));
        assert_eq!(of("DIE", "diesel", "x"), Some(2));
        assert_eq!(of("sel", "diesel", "x"), Some(3));
        assert_eq!(of("gas", "diesel", "x"), None);
        assert_eq!(TokenQuery::new("a").rank(AlkaneId { block: 2, tx: 0 }, &TokenNames::default()), None);
    }
}
