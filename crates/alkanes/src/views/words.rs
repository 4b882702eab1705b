//! Names and symbols of alkanes, as their contracts report them (protocol B21).

use std::collections::HashMap;

use paraffin_primitives::AlkaneId;

use super::run::{Simulated, call_contract};
use super::{ViewContext, ViewError};
use crate::proto::protorune::Rune;

/// The operation that answers the name.
pub(super) const NAME: u128 = 99;
/// The operation that answers the symbol.
pub(super) const SYMBOL: u128 = 100;
/// The words of a contract that fails.
const FAILED: &str = "{REVERT}";
/// Blocks of ids that have contracts.
const CONTRACT_BLOCKS: [u128; 3] = [2, 4, 32];

/// Bounds of a view on calls for words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WordsLimits {
    /// Contracts that are called for one answer; the words of further ones are their ids.
    pub contracts_max: usize,
    /// Fuel of one question.
    pub fuel: u64,
}

impl WordsLimits {
    /// Those of the reference's views (protocol B21).
    pub const VIEWS: Self = Self { contracts_max: 300, fuel: 100_000 };
}

/// The words of the contracts of one answer, each called once.
pub struct Words<'c, 'a> {
    context: &'c ViewContext<'a>,
    limits: WordsLimits,
    known: HashMap<AlkaneId, (String, String)>,
}

impl<'c, 'a> Words<'c, 'a> {
    /// Without any words yet.
    pub fn new(context: &'c ViewContext<'a>, limits: WordsLimits) -> Self {
        Self { context, limits, known: HashMap::new() }
    }

    /// Name and symbol. The contract is called as of height 0, as the reference's views do; the state is that of the view.
    ///
    /// # Errors
    /// [`ViewError`]; a contract that fails has the words `{REVERT}`.
    pub fn of(&mut self, id: AlkaneId) -> Result<(String, String), ViewError> {
        if let Some(words) = self.known.get(&id) {
            return Ok(words.clone());
        }
        if self.known.len() >= self.limits.contracts_max {
            return Ok((id.to_string(), id.to_string()));
        }
        self.context.check()?;
        let words = (self.ask(id, NAME)?, self.ask(id, SYMBOL)?);
        self.known.insert(id, words.clone());
        Ok(words)
    }

    fn ask(&self, id: AlkaneId, operation: u128) -> Result<String, ViewError> {
        let answer = call_contract(id, &[operation], 0, self.limits.fuel, self.context)?;
        Ok(match answer {
            Simulated::Done { response, .. } => String::from_utf8(response.data).unwrap_or_else(|_| FAILED.to_owned()),
            Simulated::Failed(_) => FAILED.to_owned(),
        })
    }

    /// An alkane in the form of the views by output, address and height; ids that have no contract keep the placeholders of
    /// the reference.
    pub(super) fn rune(&mut self, id: AlkaneId) -> Result<Rune, ViewError> {
        let mut rune = Rune {
            rune_id: Some(id.into()),
            name: "UNKNOWN".to_owned(),
            divisibility: 1,
            spacers: 1,
            symbol: "0".to_owned(),
        };
        if CONTRACT_BLOCKS.contains(&id.block) {
            (rune.name, rune.symbol) = self.of(id)?;
            rune.spacers = 0;
        }
        Ok(rune)
    }
}
