//! Reads over one consistent snapshot, in the shapes of `ord`'s JSON interface. All of it is blocking and touches the disk.
//!
//! Methods return `None` for what is not in the indexed chain. The fields of an inscription are not stored: the caller
//! reads its transaction by the location in the Bitcoin index and passes it in.

mod blocks;
mod decimal;
mod inscriptions;
mod moves;
mod outputs;
mod runes;
mod sats;

use std::sync::Arc;

use bitcoin::OutPoint;
use paraffin_bitcoin_index::BitcoinIndex;
use paraffin_primitives::{Height, Network};
use paraffin_store::Snapshot;

pub use self::blocks::{BlockRecord, BlocksRecord, TransactionRecord};
pub use self::inscriptions::{
    ChildrenPage, InscriptionFacts, InscriptionQuery, InscriptionRecord, InscriptionsPage, ParentsPage,
};
pub use self::moves::{BlockMoves, InscriptionMove, MovesReader, MovesWanted, RuneHolding};
pub use self::outputs::{AddressRecord, OutputKind, OutputRecord};
pub use self::runes::{RunePile, RuneQuery, RuneRecord, RunesPage};
pub use self::sats::SatRecord;
use crate::error::ReadError;
use crate::rows::{Held, RUNE_BYTES, SharedRunes, get_whole, shared_entries};
use crate::tables::{HELD, MODULE, SATS_SETTING, SETTINGS, SHARED_RUNES, outpoint_key};

/// Inscriptions on a page of any list.
pub const PAGE_INSCRIPTIONS: u32 = 100;
/// Runes on a page.
pub const PAGE_RUNES: u32 = 50;

/// The ordinals index as of one block. Cheap to make and to clone; keep it for one request.
#[derive(Clone)]
pub struct OrdinalsIndex {
    snapshot: Snapshot,
    bitcoin: BitcoinIndex,
    may_keep: Option<MayKeep>,
}

/// Called with the number of further bytes of an answer before they are allocated; returns whether there is memory for them.
pub type MayKeep = Arc<dyn Fn(usize) -> bool + Send + Sync>;

impl OrdinalsIndex {
    /// Reads `snapshot`, whose addresses belong to `network`.
    pub fn new(snapshot: Snapshot, network: Network) -> Self {
        let bitcoin = BitcoinIndex::new(snapshot.clone(), network);
        Self { snapshot, bitcoin, may_keep: None }
    }

    /// Calls `may_keep` for the entries of every list, in memory and serialized, before they are added. A read that it refuses
    /// ends with [`ReadError::OutOfMemory`].
    #[must_use]
    pub fn counting(mut self, may_keep: MayKeep) -> Self {
        self.may_keep = Some(may_keep);
        self
    }

    /// Counts bytes of an answer that are not entries of a list of this index.
    ///
    /// # Errors
    /// [`ReadError::OutOfMemory`].
    pub fn keep(&self, bytes: usize) -> Result<(), ReadError> {
        if self.may_keep(bytes) { Ok(()) } else { Err(ReadError::OutOfMemory) }
    }

    fn may_keep(&self, bytes: usize) -> bool {
        self.may_keep.as_ref().is_none_or(|may_keep| may_keep(bytes))
    }

    /// The Bitcoin index of the same snapshot.
    pub fn bitcoin(&self) -> &BitcoinIndex {
        &self.bitcoin
    }

    /// Newest block of this index; `None` while it is empty.
    ///
    /// # Errors
    /// Those of reading.
    pub fn height(&self) -> Result<Option<Height>, ReadError> {
        Ok(self.snapshot.module_height(MODULE)?)
    }

    /// Whether the index follows sats.
    ///
    /// # Errors
    /// Those of reading.
    pub fn has_sats(&self) -> Result<bool, ReadError> {
        Ok(self.snapshot.get(&SETTINGS, SATS_SETTING)?.as_deref() == Some(&[1]))
    }

    /// What an output holds; at most `limit` + 1 inscriptions of it.
    fn held(&self, outpoint: &OutPoint, limit: usize) -> Result<Held, ReadError> {
        let row = get_whole(&HELD, &outpoint_key(outpoint), |key| self.snapshot.get(&HELD, key))?;
        row.map_or_else(|| Ok(Held::default()), |row| self.held_of_row(&row.bytes, limit))
    }

    fn held_of_row(&self, row: &[u8], limit: usize) -> Result<Held, ReadError> {
        self.keep(row.len())?;
        let may_keep = |bytes| self.may_keep(bytes);
        let mut held = Held::decode_first(row, limit, may_keep).map_err(ReadError::of(&HELD))?;
        if let Some(SharedRunes { txid, len }) = held.shared.take() {
            let missing = || ReadError::missing(&SHARED_RUNES);
            let row = self.snapshot.get(&SHARED_RUNES, txid.as_ref())?.ok_or_else(missing)?;
            let mut entries = shared_entries(&row);
            for _ in 0..len {
                self.keep(RUNE_BYTES)?;
                let entry = entries.next().ok_or_else(missing)?.map_err(ReadError::of(&SHARED_RUNES))?;
                held.add_shared(&[entry]);
            }
        }
        Ok(held)
    }

    fn network(&self) -> Network {
        self.bitcoin.network()
    }

    fn address(&self, script: &bitcoin::Script) -> Option<String> {
        let address = bitcoin::Address::from_script(script, self.network().bitcoin()).ok()?;
        Some(address.to_string())
    }
}
