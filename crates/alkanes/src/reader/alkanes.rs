use bitcoin::OutPoint;
use paraffin_primitives::{AlkaneId, Height};

use super::ChainState;
use crate::rows::{Cursor, Etching, Page, Parser, append_ordered, decode_amount, id_key, position_key};
use crate::tables::{CREATED, CREATIONS, ETCHINGS, SEEN_AT, TOTALS};
use crate::{StateError, StateKey, StateReader};

/// The creation of a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Creation {
    /// The contract.
    pub id: AlkaneId,
    /// Height of the block.
    pub height: Height,
    /// Index among the contracts created in that block.
    pub index: u32,
}

/// Order of the listing of contracts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The oldest first.
    Oldest,
    /// The newest first.
    Newest,
}

impl ChainState {
    /// Contracts by their creation, built-in ones included. As of an older block, those created up to it.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn alkanes(&self, order: Order, after: Option<&Cursor>, limit: usize) -> Result<Page<Creation>, StateError> {
        let newest = Cursor(position_key(self.height, u32::MAX).to_vec());
        let (after, backwards) = match order {
            Order::Oldest => (after, false),
            Order::Newest => (after.or(Some(&newest)), true),
        };
        let mut page = self.page(&CREATED, &[], after, backwards, limit, |(key, value)| {
            let mut parser = Parser::new("created", &key);
            let (height, index) = (parser.number()?, parser.number()?);
            Ok(Some(Creation { id: Parser::new("created", &value).id()?, height, index }))
        })?;
        let count = page.items.len();
        page.items.retain(|creation| creation.height <= self.height);
        if page.items.len() < count {
            page.next = None;
        }
        Ok(page)
    }

    /// Contracts created so far, built-in ones included; always as of the newest block.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn alkane_count(&self) -> Result<u64, StateError> {
        let count = decode_amount(&self.snapshot.get(&TOTALS, &[1])?.unwrap_or_default())?;
        u64::try_from(count).map_err(|_| StateError::Damaged("the number of contracts is out of range".to_owned()))
    }

    /// The creation of a contract; `None` when it was created after the requested height, or never.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn creation(&self, id: AlkaneId) -> Result<Option<Creation>, StateError> {
        let Some(stored) = self.snapshot.get(&CREATIONS, &id_key(id))? else { return Ok(None) };
        let mut parser = Parser::new("creations", &stored);
        let (height, index) = (parser.number()?, parser.number()?);
        Ok((height <= self.height).then_some(Creation { id, height, index }))
    }

    /// The shadow outpoint of the message that created a contract; `None` for a built-in one (protocol B7).
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn created_at(&self, id: AlkaneId) -> Result<Option<OutPoint>, StateError> {
        let stored = self.get(&StateKey::Deployment(id))?;
        stored.map(|bytes| crate::state::decode_outpoint(&bytes)).transpose()
    }

    /// Number of the next contract 2:n.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn sequence(&self) -> Result<u128, StateError> {
        decode_amount(&self.get(&StateKey::Sequence)?.unwrap_or_default())
    }

    /// Alkanes that sheets named for the first time in the block at a height, in order (view `protorunesbyheight`).
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn first_seen(&self, height: Height) -> Result<Vec<AlkaneId>, StateError> {
        if height > self.height {
            return Ok(Vec::new());
        }
        let rows = self.snapshot.prefix(&SEEN_AT, &height.to_be_bytes());
        rows.map(|row| Parser::new("seen_at", &row?.1).id()).collect()
    }

    /// Base runes etched in the block at a height, in order.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn etchings(&self, height: Height) -> Result<Vec<(AlkaneId, Etching)>, StateError> {
        let mut prefix = Vec::new();
        append_ordered(u128::from(height), &mut prefix);
        let rows = self.snapshot.prefix_at(&ETCHINGS, &prefix, self.height)?;
        rows.map(|row| {
            let (key, value) = row?;
            Ok((Parser::new("etchings", &key).id()?, Etching::decode(&value)?))
        })
        .collect()
    }

    /// The etching of a base rune.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn etching(&self, id: AlkaneId) -> Result<Option<Etching>, StateError> {
        self.get(&StateKey::Etching(id))?.map(|bytes| Etching::decode(&bytes)).transpose()
    }
}
