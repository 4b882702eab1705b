use std::collections::BTreeMap;

use bitcoin::Script;
use paraffin_primitives::AlkaneId;

use super::{ChainState, ROWS_PER_CHECK};
use crate::StateError;
use crate::rows::{
    CountsRow, Cursor, HeldRow, Holder, HolderCounts, Page, Parser, ScriptKey, WideAmount, held_key, id_key,
    parse_ranking_key, rank,
};
use crate::tables::{HELD, HOLDER_COUNTS, HOLDINGS, RANKING};

/// A holder of an alkane and its amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holding {
    /// The holder.
    pub holder: Holder,
    /// Base units, all outputs of a script together; 2^128 - 1 also stands for more.
    pub amount: u128,
}

/// A holder's amount of one alkane, as of the newest block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HoldingOf {
    /// The alkane.
    pub id: AlkaneId,
    /// Base units; 2^128 - 1 also stands for more.
    pub amount: u128,
    /// Number of unspent outputs with the amount; 0 of a contract.
    pub outputs: u64,
}

impl ChainState {
    /// Holders of an alkane, the greatest amount first. The script of a holder: [`Self::script`].
    ///
    /// A page costs its rows. As of an older block it costs a row for every past and present holder of the alkane, of which
    /// no more than a page is held in memory.
    ///
    /// # Errors
    /// The store cannot be read or is damaged, or the time of [`Self::until`] is over.
    pub fn holders(&self, what: AlkaneId, after: Option<&Cursor>, limit: usize) -> Result<Page<Holding>, StateError> {
        let prefix = id_key(what);
        if !self.is_newest {
            return self.older_holders(&prefix, after, limit);
        }
        self.page(&RANKING, &prefix, after, false, limit, |(key, _)| {
            let (amount, holder) = parse_ranking_key(&mut Parser::new("ranking", &key[prefix.len()..]))?;
            Ok(Some(Holding { holder, amount: amount.saturated() }))
        })
    }

    fn older_holders(&self, prefix: &[u8], after: Option<&Cursor>, limit: usize) -> Result<Page<Holding>, StateError> {
        // By rank, so the last is the one to give up for a greater. One more than asked for shows whether more follow.
        let mut greatest = BTreeMap::new();
        for (index, row) in self.snapshot.prefix_at(&HOLDINGS, prefix, self.height)?.enumerate() {
            if index % ROWS_PER_CHECK == 0 {
                self.check()?;
            }
            let (key, value) = row?;
            let holder = Holder::parse(&mut Parser::new("holdings", &key[prefix.len()..]))?;
            let amount = WideAmount::parse(&mut Parser::new("holdings", &value))?;
            let rank_key = rank(amount, holder);
            if after.is_some_and(|after| rank_key <= after.0) {
                continue;
            }
            greatest.insert(rank_key, Holding { holder, amount: amount.saturated() });
            if greatest.len() > limit.saturating_add(1) {
                greatest.pop_last();
            }
        }
        let more = greatest.len() > limit && greatest.pop_last().is_some();
        let next = greatest.last_key_value().filter(|_| more).map(|(rank_key, _)| Cursor(rank_key.clone()));
        Ok(Page { items: greatest.into_values().collect(), next })
    }

    /// Holders and amounts of every alkane, or of `what` alone, in the order of the ids. Rows are read as they are asked for: one for
    /// every past and present holder.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn holdings(
        &self,
        what: Option<AlkaneId>,
    ) -> Result<impl Iterator<Item = Result<(AlkaneId, Holding), StateError>> + use<>, StateError> {
        let prefix = what.map(id_key).unwrap_or_default();
        let rows = self.snapshot.prefix_at(&HOLDINGS, &prefix, self.height)?;
        Ok(rows.map(|row| {
            let (key, value) = row?;
            let mut key = Parser::new("holdings", &key);
            let (what, holder) = (key.id()?, Holder::parse(&mut key)?);
            let amount = WideAmount::parse(&mut Parser::new("holdings", &value))?;
            Ok((what, Holding { holder, amount: amount.saturated() }))
        }))
    }

    /// How many hold an alkane, and how much.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn holder_counts(&self, what: AlkaneId) -> Result<HolderCounts, StateError> {
        let stored = self.snapshot.get_at(&HOLDER_COUNTS, &id_key(what), self.height)?;
        Ok(stored.map(|stored| CountsRow::decode(&stored)).transpose()?.unwrap_or_default().into())
    }

    /// Sums of the unspent outputs of a script, in the order of the ids. A page costs its rows, not the outputs.
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
