use paraffin_primitives::{AlkaneId, Height};

use super::ChainState;
use crate::rows::{Cursor, Page, Parser, STORAGE_KEY_LEN_MAX, decode_amount, id_key, storage_key, storage_row};
use crate::tables::{BALANCES, INVENTORIES, STORAGE};
use crate::{StateError, StateKey, StateReader};

/// A key of a contract's storage and its value.
pub type StorageEntry = (Vec<u8>, Vec<u8>);

impl ChainState {
    /// Height of the block that stored a contract's current value of a key; `None` without a value.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn storage_written_at(&self, contract: AlkaneId, key: &[u8]) -> Result<Option<Height>, StateError> {
        Ok(self.snapshot.written_at(&STORAGE, &storage_key(contract, key), self.height)?)
    }

    /// Storage of a contract under keys that begin with `prefix`, in the order of the keys. `limit` counts entries.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn storage(
        &self,
        contract: AlkaneId,
        prefix: &[u8],
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<StorageEntry>, StateError> {
        let contract_key = id_key(contract);
        let kept = &prefix[..prefix.len().min(STORAGE_KEY_LEN_MAX)];
        let mut from = contract_key.clone();
        from.extend_from_slice(after.map_or(kept, Cursor::bound).max(kept));
        let mut to = storage_key(contract, kept);
        // Stored keys have at most 4,032 bytes behind the contract, the store takes 4,096.
        to.resize(paraffin_store::KEY_LEN_MAX, u8::MAX);
        let mut entries = Vec::new();
        let mut last = None;
        if from > to {
            return Ok(Page { items: entries, next: None });
        }
        // Contracts never remove a key, so those of today are all that there ever were.
        for row in self.snapshot.range(&STORAGE, &from, &to) {
            let (key, newest) = row?;
            let suffix = &key[contract_key.len()..];
            if after.is_some_and(|after| after.0 == suffix) {
                continue;
            }
            let stored =
                if self.is_newest { Some(newest) } else { self.snapshot.get_at(&STORAGE, &key, self.height)? };
            let Some(stored) = stored else { continue };
            let (name, value) = storage_row(suffix, &stored)?;
            if !name.starts_with(prefix) {
                continue;
            }
            if entries.len() == limit {
                return Ok(Page { items: entries, next: last.map(Cursor) });
            }
            last = Some(suffix.to_vec());
            entries.push((name, value));
        }
        Ok(Page { items: entries, next: None })
    }

    /// The inventory of a contract with its balances, in the order of the ids (protocol B15, inventory).
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn inventory(
        &self,
        who: AlkaneId,
        after: Option<AlkaneId>,
        limit: usize,
    ) -> Result<Page<(AlkaneId, u128)>, StateError> {
        let cursor = after.map(|after| Cursor(id_key(after)));
        self.page(&INVENTORIES, &id_key(who), cursor.as_ref(), false, limit, |(key, _)| {
            let mut parser = Parser::new("inventories", &key);
            let (_, what) = (parser.id()?, parser.id()?);
            let seen = self.get(&StateKey::Inventory { who, what })?;
            seen.map(|_| Ok((what, self.balance(what, who)?))).transpose()
        })
    }

    /// Contracts that have or had a balance of `what`, in the order of their ids.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn balances_of(
        &self,
        what: AlkaneId,
        after: Option<AlkaneId>,
        limit: usize,
    ) -> Result<Page<(AlkaneId, u128)>, StateError> {
        let cursor = after.map(|after| Cursor(id_key(after)));
        self.page(&BALANCES, &id_key(what), cursor.as_ref(), false, limit, |(key, newest)| {
            let mut parser = Parser::new("balances", &key);
            let (_, who) = (parser.id()?, parser.id()?);
            if self.is_newest {
                return Ok(Some((who, decode_amount(&newest)?)));
            }
            let stored = self.snapshot.get_at(&BALANCES, &key, self.height)?;
            stored.map(|stored| Ok((who, decode_amount(&stored)?))).transpose()
        })
    }

    /// Base units of `what` that a contract holds.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn balance(&self, what: AlkaneId, who: AlkaneId) -> Result<u128, StateError> {
        decode_amount(&self.get(&StateKey::Balance { what, who })?.unwrap_or_default())
    }
}
