use bitcoin::Script;
use paraffin_primitives::AlkaneId;

use super::ChainState;
use crate::StateError;
use crate::rows::{
    CountsRow, Cursor, HeldRow, Holder, HolderCounts, Page, Parser, ScriptKey, held_key, id_key, parse_ranking_key,
};
use crate::tables::{HELD, HOLDER_COUNTS, RANKING};

/// Who holds how much of an alkane, now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holding {
    /// Who.
    pub holder: Holder,
    /// Base units, all outputs of a script together; 2^128 - 1 also stands for more.
    pub amount: u128,
}

/// What a holder has of one alkane, now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HoldingOf {
    /// What.
    pub id: AlkaneId,
    /// Base units; 2^128 - 1 also stands for more.
    pub amount: u128,
    /// Unspent outputs that it lies in; 0 of a contract.
    pub outputs: u64,
}

impl ChainState {
    /// Holders of an alkane, the greatest amount first. A page costs its rows. The script of a holder: [`Self::script`].
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn holders(&self, what: AlkaneId, after: Option<&Cursor>, limit: usize) -> Result<Page<Holding>, StateError> {
        let prefix = id_key(what);
        self.page(&RANKING, &prefix, after, false, limit, |(key, _)| {
            let (amount, holder) = parse_ranking_key(&mut Parser::new("ranking", &key[prefix.len()..]))?;
            Ok(Some(Holding { holder, amount: amount.saturated() }))
        })
    }

    /// How many hold an alkane, and how much.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn holder_counts(&self, what: AlkaneId) -> Result<HolderCounts, StateError> {
        let stored = self.snapshot.get(&HOLDER_COUNTS, &id_key(what))?;
        Ok(stored.map(|stored| CountsRow::decode(&stored)).transpose()?.unwrap_or_default().into())
    }

    /// What the unspent outputs of a script hold in sum, in the order of the ids. A page costs its rows, not the outputs.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn held_by_script(
        &self,
        script: &Script,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<HoldingOf>, StateError> {
        let prefix = held_key(Holder::Script(ScriptKey::of(script)), None);
        self.page(&HELD, &prefix, after, false, limit, |(key, value)| {
            let HeldRow { outputs, amount } = HeldRow::decode(&value)?;
            let id = Parser::new("held", &key[prefix.len()..]).id()?;
            Ok(Some(HoldingOf { id, amount: amount.saturated(), outputs }))
        })
    }
}
