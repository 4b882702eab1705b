use ordinals::{Charm, Rarity, Sat, SatPoint};
use paraffin_primitives::{Height, Network};
use serde::Serialize;

use super::{OrdinalsIndex, PAGE_INSCRIPTIONS};
use crate::error::ReadError;
use crate::event::InscriptionId;
use crate::rows::{Fields, INSCRIPTION_BYTES, sequence_of};
use crate::tables::{INSCRIBED_SATS, RARE};

/// Seconds that are expected between blocks.
const BLOCK_SECONDS: u64 = 600;

/// A sat as `ord` shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the members are those of ord's interface")]
pub struct SatRecord {
    pub address: Option<String>,
    pub block: Height,
    pub charms: Vec<Charm>,
    pub cycle: u32,
    pub decimal: String,
    pub degree: String,
    pub epoch: u32,
    pub inscriptions: Vec<InscriptionId>,
    pub name: String,
    pub number: u64,
    pub offset: u64,
    pub percentile: String,
    pub period: u32,
    pub rarity: Rarity,
    pub satpoint: Option<SatPoint>,
    /// Of the block that made it, or when that block is expected.
    pub timestamp: u64,
}

/// A page of the inscriptions on a sat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the members are those of ord's interface")]
pub struct SatInscriptionsPage {
    pub ids: Vec<InscriptionId>,
    pub more: bool,
    pub page: u32,
}

/// One inscription on a sat, if there is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the member is that of ord's interface")]
pub struct SatInscription {
    pub id: Option<InscriptionId>,
}

/// Errors are those of reading.
#[allow(clippy::missing_errors_doc)]
impl OrdinalsIndex {
    /// A page of the inscriptions on a sat, oldest first; empty for a number that no sat has. `None` where sats are not followed.
    pub fn inscriptions_on_sat(&self, number: u64, page: u32) -> Result<Option<SatInscriptionsPage>, ReadError> {
        if !self.has_sats()? {
            return Ok(None);
        }
        let skipped = page.saturating_mul(PAGE_INSCRIPTIONS) as usize;
        let rows = self.snapshot.prefix(&INSCRIBED_SATS, &number.to_be_bytes()).skip(skipped);
        let mut ids = Vec::new();
        for row in rows.take(PAGE_INSCRIPTIONS as usize + 1) {
            ids.push(self.id_on_sat(&row?.0)?);
        }
        let more = ids.len() > PAGE_INSCRIPTIONS as usize;
        ids.truncate(PAGE_INSCRIPTIONS as usize);
        Ok(Some(SatInscriptionsPage { ids, more, page }))
    }

    /// The inscription at a position on a sat, counted from the oldest, or below 0 from the newest, which is -1. `None` where sats
    /// are not followed.
    pub fn inscription_on_sat(&self, sat: Sat, position: i64) -> Result<Option<SatInscription>, ReadError> {
        if !self.has_sats()? {
            return Ok(None);
        }
        let mut rows = self.snapshot.prefix(&INSCRIBED_SATS, &sat.n().to_be_bytes());
        let skipped = if position < 0 { position.saturating_add(1) } else { position };
        let skipped = usize::try_from(skipped.unsigned_abs()).unwrap_or(usize::MAX);
        let row = if position < 0 { rows.nth_back(skipped) } else { rows.nth(skipped) };
        let id = row.map(|row| self.id_on_sat(&row?.0)).transpose()?;
        Ok(Some(SatInscription { id }))
    }

    /// The inscription of a key of table `inscribed_sats`.
    fn id_on_sat(&self, key: &[u8]) -> Result<InscriptionId, ReadError> {
        let sequence = sequence_of(key.get(8..).unwrap_or_default()).map_err(ReadError::of(&INSCRIBED_SATS))?;
        self.id(sequence)
    }

    /// A sat. At most `limit` of its inscriptions are named; `now` is in Unix seconds. Where sats are not followed the answer
    /// contains what follows from the number alone.
    pub fn sat(&self, sat: Sat, limit: usize, now: u64) -> Result<SatRecord, ReadError> {
        let mut sequences = Vec::new();
        for row in self.snapshot.prefix(&INSCRIBED_SATS, &sat.n().to_be_bytes()).take(limit.max(1)) {
            self.keep(INSCRIPTION_BYTES)?;
            sequences.push(sequence_of(row?.0.get(8..).unwrap_or_default()).map_err(ReadError::of(&INSCRIBED_SATS))?);
        }
        let mut satpoint = self.rare_satpoint(sat)?;
        if let (None, Some(first)) = (satpoint, sequences.first()) {
            satpoint = self.satpoint_of(*first)?;
        }
        let output = satpoint.map(|satpoint| self.real_output(&satpoint.outpoint)).transpose()?.flatten();
        let inscriptions = sequences.into_iter().take(limit).map(|sequence| self.id(sequence));
        Ok(SatRecord {
            address: output.and_then(|output| self.address(&output.script_pubkey)),
            block: sat.height().n(),
            charms: Charm::charms(sat.charms()),
            cycle: sat.cycle(),
            decimal: sat.decimal().to_string(),
            degree: sat.degree().to_string(),
            epoch: sat.epoch().0,
            inscriptions: inscriptions.collect::<Result<_, _>>()?,
            name: sat.name(),
            number: sat.n(),
            offset: sat.third(),
            percentile: sat.percentile(),
            period: sat.period(),
            rarity: sat.rarity(),
            satpoint,
            timestamp: self.time_of(sat.height().n(), now)?,
        })
    }

    fn rare_satpoint(&self, sat: Sat) -> Result<Option<SatPoint>, ReadError> {
        let Some(row) = self.snapshot.get(&RARE, &sat.n().to_be_bytes())? else { return Ok(None) };
        let mut fields = Fields::of(&row);
        let decoded = fields.outpoint().and_then(|outpoint| Ok(SatPoint { outpoint, offset: fields.varint()? }));
        decoded.map(Some).map_err(ReadError::of(&RARE))
    }

    /// Time of a block, or when it is expected. A regression-test chain has no clock, so that its future counts from 1970.
    fn time_of(&self, height: Height, now: u64) -> Result<u64, ReadError> {
        if let Some(header) = self.bitcoin.block_header(height)? {
            return Ok(u64::from(header.time));
        }
        let newest = self.bitcoin.tip()?.map_or(0, |tip| tip.height);
        let now = if self.network() == Network::Regtest { 0 } else { now };
        Ok(now.saturating_add(BLOCK_SECONDS.saturating_mul(u64::from(height.saturating_sub(newest)))))
    }
}
