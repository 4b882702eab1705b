//! Alkane ids and amounts of alkanes.

use alloc::vec::Vec;

use crate::codec::Reader;
use crate::revert::Revert;

/// The id of an alkane: a contract and the token that only it may mint.
///
/// `0:0` as a caller means that a transaction called, not a contract.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AlkaneId {
    /// 2 for numbered contracts, 4 for reserved ones, 32 for wrapped bitcoin.
    pub block: u128,
    /// Number within the block.
    pub tx: u128,
}

impl AlkaneId {
    /// `0:0`, the caller of a message.
    pub const TRANSACTION: Self = Self::new(0, 0);

    /// The id `block:tx`.
    pub const fn new(block: u128, tx: u128) -> Self {
        Self { block, tx }
    }

    /// 32 bytes: block and tx, little-endian, as in storage keys and values.
    pub fn to_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(&self.block.to_le_bytes());
        bytes[16..].copy_from_slice(&self.tx.to_le_bytes());
        bytes
    }

    /// Reads what [`Self::to_bytes`] wrote; `None` unless there are exactly 32 bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; 32] = bytes.try_into().ok()?;
        let mut reader = Reader::new(bytes);
        Some(Self::new(reader.word()?, reader.word()?))
    }
}

/// An amount of one alkane, in base units.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Transfer {
    /// Which alkane.
    pub id: AlkaneId,
    /// How many base units.
    pub value: u128,
}

/// The alkanes that move with a call or a response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parcel(pub Vec<Transfer>);

impl From<Transfer> for Parcel {
    fn from(transfer: Transfer) -> Self {
        Self::of(transfer.id, transfer.value)
    }
}

impl Parcel {
    /// Nothing.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// One amount of one alkane; nothing when the amount is 0.
    pub fn of(id: AlkaneId, value: u128) -> Self {
        let mut parcel = Self::new();
        parcel.add(id, value);
        parcel
    }

    /// Adds an amount unless it is 0.
    pub fn add(&mut self, id: AlkaneId, value: u128) {
        if value != 0 {
            self.0.push(Transfer { id, value });
        }
    }

    /// Adds everything in another parcel.
    pub fn extend(&mut self, other: &Self) {
        for transfer in &other.0 {
            self.add(transfer.id, transfer.value);
        }
    }

    /// Takes an amount out, across all entries of that alkane; reverts when there is less.
    pub fn take(&mut self, id: AlkaneId, value: u128) -> Result<Transfer, Revert> {
        let left = self.amount_of(id).checked_sub(value).ok_or("too little of an alkane came in")?;
        self.0.retain(|transfer| transfer.id != id);
        self.add(id, left);
        Ok(Transfer { id, value })
    }

    /// How much of an alkane is in the parcel.
    pub fn amount_of(&self, id: AlkaneId) -> u128 {
        self.0.iter().filter(|transfer| transfer.id == id).fold(0, |sum, transfer| sum.saturating_add(transfer.value))
    }

    /// The one amount in the parcel; reverts when there are none or several.
    pub fn single(&self) -> Result<Transfer, Revert> {
        match self.0.as_slice() {
            [only] => Ok(*only),
            _ => Err(Revert::from("exactly one alkane must come in")),
        }
    }

    /// Binary form: count, then block, tx and value of each, all u128 little-endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(16 + 48 * self.0.len());
        bytes.extend_from_slice(&(self.0.len() as u128).to_le_bytes());
        for transfer in &self.0 {
            bytes.extend_from_slice(&transfer.id.to_bytes());
            bytes.extend_from_slice(&transfer.value.to_le_bytes());
        }
        bytes
    }

    /// Reads a parcel and leaves the reader behind it; `None` when there are fewer than the count says.
    pub fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let count = reader.word()?;
        if count > (reader.remaining() / 48) as u128 {
            return None;
        }
        let mut parcel = Self::new();
        for _ in 0..count {
            let id = AlkaneId::new(reader.word()?, reader.word()?);
            parcel.0.push(Transfer { id, value: reader.word()? });
        }
        Some(parcel)
    }
}
