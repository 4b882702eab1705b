use bitcoin::{OutPoint, Script};
use paraffin_primitives::Height;

use super::ChainState;
use super::traces::Traced;
use crate::StateError;
use crate::rows::{ActivityRow, Parser, ScriptKey, ScriptRow, activity_key, message_key, position_key};
use crate::tables::{ACTIVITY, BLOCK_TRACES, MESSAGES, SCRIPTS};

/// A message of a transaction that a script took part in. Its trace: [`ChainState::trace`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScriptMessage {
    /// Shadow outpoint of the message.
    pub outpoint: OutPoint,
    /// Height of its block.
    pub height: Height,
    /// Index of its transaction in the block.
    pub transaction_index: u32,
    /// Whether its effects were kept ([`BlockEffects::undone`](crate::BlockEffects::undone)).
    pub stands: bool,
}

impl ChainState {
    /// Messages of the transactions that [`Self::activity_of`] lists, the newest first: at most `limit` behind the first
    /// `offset`, and how many there are in all.
    ///
    /// A page costs the rows that it shows, whatever its offset and the length of the list.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn messages_of(
        &self,
        script: &Script,
        offset: usize,
        limit: usize,
    ) -> Result<(Vec<ScriptMessage>, usize), StateError> {
        let script = ScriptKey::of(script);
        let total = self.messages_until(script)?;
        // Numbers below this are still to come.
        let mut left = total.saturating_sub(u32::try_from(offset).unwrap_or(u32::MAX));
        let wanted = limit.min(left as usize);
        let mut items = Vec::new();
        let (from, to) = (message_key(script, 0), message_key(script, left.saturating_sub(1)));
        let mut rows = self.snapshot.range(&MESSAGES, &from, &to).rev();
        let missing = || StateError::Damaged("messages of a script are missing".to_owned());
        while items.len() < wanted {
            let (key, value) = rows.next().ok_or_else(missing)??;
            let first = Parser::new("messages", &key[32..]).number()?;
            let mut value = Parser::new("messages", &value);
            let (height, first_number) = (value.number()?, value.number()?);
            while left > first && items.len() < wanted {
                left -= 1;
                let number = first_number.checked_add(left - first).ok_or_else(missing)?;
                let traced = self.snapshot.get(&BLOCK_TRACES, &position_key(height, number))?.ok_or_else(missing)?;
                let Traced { outpoint, transaction_index, stands } = Traced::read(&traced)?;
                items.push(ScriptMessage { outpoint, height, transaction_index, stands });
            }
        }
        Ok((items, total as usize))
    }

    /// Messages of a script in the blocks up to this height.
    fn messages_until(&self, script: ScriptKey) -> Result<u32, StateError> {
        if self.is_newest {
            let row = self.snapshot.get(&SCRIPTS, &script.0)?;
            return Ok(row.map(|row| ScriptRow::decode(&row)).transpose()?.map_or(0, |row| row.messages));
        }
        let (from, to) = (activity_key(script, 0, 0), activity_key(script, self.height, u32::MAX));
        let newest = self.snapshot.range(&ACTIVITY, &from, &to).next_back().transpose()?;
        Ok(newest.map(|(_, row)| ActivityRow::decode(&row)).transpose()?.map_or(0, |row| row.messages))
    }
}
