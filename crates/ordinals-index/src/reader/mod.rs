//! Reads over one consistent snapshot, in the shapes of `ord`'s JSON interface. All of it is blocking and touches the disk.
//!
//! Methods answer `None` for what is not in the indexed chain. What an inscription says is not kept: its transaction is read
//! where the Bitcoin index says, and handed in.

mod blocks;
mod decimal;
mod inscriptions;
mod outputs;
mod runes;
mod sats;

use bitcoin::OutPoint;
use paraffin_bitcoin_index::BitcoinIndex;
use paraffin_primitives::{Height, Network};
use paraffin_store::Snapshot;

pub use self::blocks::{BlockRecord, BlocksRecord, TransactionRecord};
pub use self::inscriptions::{
    ChildrenPage, InscriptionFacts, InscriptionQuery, InscriptionRecord, InscriptionsPage, ParentsPage,
};
pub use self::outputs::{AddressRecord, OutputKind, OutputRecord};
pub use self::runes::{RunePile, RuneQuery, RuneRecord, RunesPage};
pub use self::sats::SatRecord;
use crate::error::ReadError;
use crate::rows::{Held, SharedRunes, decode_shared, get_whole};
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
}

impl OrdinalsIndex {
    /// Reads `snapshot`, whose addresses belong to `network`.
    pub fn new(snapshot: Snapshot, network: Network) -> Self {
        let bitcoin = BitcoinIndex::new(snapshot.clone(), network);
        Self { snapshot, bitcoin }
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

    /// What an output holds; of more than `limit` inscriptions one more than that.
    fn held(&self, outpoint: &OutPoint, limit: usize) -> Result<Held, ReadError> {
        let row = get_whole(&HELD, &outpoint_key(outpoint), |key| self.snapshot.get(&HELD, key))?;
        let Some(row) = row else { return Ok(Held::default()) };
        let mut held = Held::decode_first(&row.bytes, limit).map_err(ReadError::of(&HELD))?;
        if let Some(SharedRunes { txid, len }) = held.shared.take() {
            let missing = || ReadError::missing(&SHARED_RUNES);
            let row = self.snapshot.get(&SHARED_RUNES, txid.as_ref())?.ok_or_else(missing)?;
            let entries = decode_shared(&row).map_err(ReadError::of(&SHARED_RUNES))?;
            held.add_shared(entries.get(..len as usize).ok_or_else(missing)?);
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
