use bitcoin::{OutPoint, Script, TxOut};
use ordinals::{Charm, Sat, SatPoint, SpacedRune};
use paraffin_primitives::Height;
use serde::Serialize;

use super::{OrdinalsIndex, PAGE_INSCRIPTIONS};
use crate::error::ReadError;
use crate::event::InscriptionId;
use crate::inscription::Inscription;
use crate::module::{child_count, child_key, id_key};
use crate::parameters::unbound_outpoint;
use crate::properties::Properties;
use crate::rows::{INSCRIPTION_BYTES, InscriptionRow, Location, RevealedRow, sequence_of};
use crate::tables::{BLESSED, CHILD_COUNTS, CHILDREN, CURSED, IDS, INSCRIBED_SATS, INSCRIPTIONS, LOCATIONS, REVEALED};

/// Children and parents that a record names.
const NAMED_RELATIVES: u32 = 4;

/// How an inscription is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InscriptionQuery {
    /// By id.
    Id(InscriptionId),
    /// By number.
    Number(i32),
    /// The first one on a sat; only where sats are followed.
    Sat(u64),
}

impl std::str::FromStr for InscriptionQuery {
    type Err = &'static str;

    /// An id, a number, or the name of a sat in lower-case letters.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WRONG: &str = "an inscription is named by its id, its number, or the name of its sat";
        let digits = text.strip_prefix('-').unwrap_or(text);
        if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return text.parse().map(Self::Number).map_err(|_| "no inscription has a number beyond 31 bits");
        }
        if !text.is_empty() && text.len() <= 11 && text.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return text.parse::<Sat>().map(|sat| Self::Sat(sat.n())).map_err(|_| "no sat has this name");
        }
        text.parse().map(Self::Id).map_err(|_| WRONG)
    }
}

/// What the index has of an inscription; its fields are in its transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InscriptionFacts {
    /// Its id.
    pub id: InscriptionId,
    row: InscriptionRow,
    satpoint: SatPoint,
    is_burned: bool,
    output: Option<TxOut>,
    address: Option<String>,
    previous: Option<InscriptionId>,
    next: Option<InscriptionId>,
    children: Vec<InscriptionId>,
    child_count: u64,
    parents: Vec<InscriptionId>,
    rune: Option<SpacedRune>,
}

/// An inscription as `ord` shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the members are those of ord's interface")]
pub struct InscriptionRecord {
    pub address: Option<String>,
    pub charms: Vec<Charm>,
    pub child_count: u64,
    pub children: Vec<InscriptionId>,
    pub content_length: Option<usize>,
    pub content_type: Option<String>,
    pub effective_content_type: Option<String>,
    pub fee: u64,
    pub height: Height,
    pub id: InscriptionId,
    pub metaprotocol: Option<String>,
    pub next: Option<InscriptionId>,
    pub number: i32,
    pub parents: Vec<InscriptionId>,
    pub previous: Option<InscriptionId>,
    pub properties: Properties,
    pub rune: Option<SpacedRune>,
    pub sat: Option<Sat>,
    pub satpoint: SatPoint,
    pub timestamp: i64,
    pub value: Option<u64>,
}

impl InscriptionFacts {
    /// The record, with the fields of the inscription and of its delegate, if the index has one. `may_keep` is called for its
    /// properties, which are left out when it returns false.
    pub fn record(
        self,
        inscription: &Inscription,
        delegate: Option<&Inscription>,
        may_keep: &dyn Fn(usize) -> bool,
    ) -> InscriptionRecord {
        let mut charms = self.row.charms;
        if self.is_burned {
            Charm::Burned.set(&mut charms);
        }
        if self.satpoint.outpoint == OutPoint::null() {
            Charm::Lost.set(&mut charms);
        }
        InscriptionRecord {
            address: self.address,
            charms: Charm::charms(charms),
            child_count: self.child_count,
            children: self.children,
            content_length: inscription.body.as_ref().map(bytes::Bytes::len),
            content_type: inscription.content_type().map(str::to_owned),
            effective_content_type: delegate.unwrap_or(inscription).content_type().map(str::to_owned),
            fee: self.row.fee,
            height: self.row.height,
            id: self.id,
            metaprotocol: inscription.metaprotocol().map(str::to_owned),
            next: self.next,
            number: self.row.number,
            parents: self.parents,
            previous: self.previous,
            properties: Properties::of(inscription, may_keep),
            rune: self.rune,
            sat: self.row.sat.map(Sat),
            satpoint: self.satpoint,
            timestamp: i64::from(self.row.time),
            value: self.output.map(|output| output.value.to_sat()),
        }
    }
}

/// A page of inscriptions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the members are those of ord's interface")]
pub struct InscriptionsPage {
    pub ids: Vec<InscriptionId>,
    pub more: bool,
    pub page_index: u32,
}

/// A page of the children of an inscription.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the members are those of ord's interface")]
pub struct ChildrenPage {
    pub ids: Vec<InscriptionId>,
    pub more: bool,
    pub page: u32,
}

/// A page of the parents of an inscription. Clients decode either name of the page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the members are those of ord's interface")]
pub struct ParentsPage {
    pub ids: Vec<InscriptionId>,
    pub more: bool,
    pub page: u32,
    pub page_index: u32,
}

/// Errors are those of reading.
#[allow(clippy::missing_errors_doc)]
impl OrdinalsIndex {
    /// Sequence number of an inscription.
    pub fn sequence(&self, query: &InscriptionQuery) -> Result<Option<u32>, ReadError> {
        let (table, row) = match query {
            InscriptionQuery::Id(id) => (&IDS, self.snapshot.get(&IDS, &id_key(id))?),
            InscriptionQuery::Number(number) => {
                let (table, ordinal) = if *number < 0 { (&CURSED, !number) } else { (&BLESSED, *number) };
                (table, self.snapshot.get(table, &ordinal.to_be_bytes())?)
            }
            InscriptionQuery::Sat(sat) => {
                let first = self.snapshot.prefix(&INSCRIBED_SATS, &sat.to_be_bytes()).next().transpose()?;
                (&INSCRIBED_SATS, first.map(|(key, _)| key[8..].to_vec()))
            }
        };
        row.map(|row| sequence_of(&row).map_err(ReadError::of(table))).transpose()
    }

    /// The child of an inscription at an index, counted from 0.
    pub fn child(&self, parent: u32, index: u64) -> Result<Option<u32>, ReadError> {
        let Ok(index) = u32::try_from(index) else { return Ok(None) };
        let row = self.snapshot.get(&CHILDREN, &child_key(parent, index))?;
        row.map(|row| sequence_of(&row).map_err(ReadError::of(&CHILDREN))).transpose()
    }

    /// What the index has of the inscription with a sequence number.
    pub fn facts(&self, sequence: u32) -> Result<Option<InscriptionFacts>, ReadError> {
        let Some(row) = self.inscription_row(sequence)? else { return Ok(None) };
        let stored = self.snapshot.get(&LOCATIONS, &sequence.to_be_bytes())?;
        let stored = stored.ok_or_else(|| ReadError::missing(&LOCATIONS))?;
        let location = Location::decode(&stored).map_err(ReadError::of(&LOCATIONS))?;
        let output = self.real_output(&location.outpoint)?;
        let previous = sequence.checked_sub(1).map(|previous| self.id(previous)).transpose()?;
        let next = self.inscription_row(sequence.saturating_add(1))?.map(|row| row.id);
        let children = self.children_rows(sequence, 0, NAMED_RELATIVES)?;
        let child_count = self.child_count(sequence)?;
        let parents = row.parents.iter().take(NAMED_RELATIVES as usize);
        Ok(Some(InscriptionFacts {
            id: row.id,
            satpoint: location.satpoint(),
            is_burned: location.is_burned,
            address: output
                .as_ref()
                .and_then(|output| self.address(Script::from_bytes(output.script_pubkey.as_bytes()))),
            output,
            previous,
            next,
            children: children.into_iter().map(|child| self.id(child)).collect::<Result<_, _>>()?,
            child_count,
            parents: parents.map(|parent| self.id(*parent)).collect::<Result<_, _>>()?,
            // Only the first inscription of an etching transaction belongs to the rune.
            rune: if row.id.index == 0 { self.etched_by(&row.id.txid)? } else { None },
            row,
        }))
    }

    /// A page of all inscriptions, newest first.
    pub fn inscriptions(&self, page_index: u32) -> Result<InscriptionsPage, ReadError> {
        let count = self.snapshot.sequence_len(&INSCRIPTIONS)?;
        let end = count.saturating_sub(page_index.saturating_mul(PAGE_INSCRIPTIONS));
        let start = end.saturating_sub(PAGE_INSCRIPTIONS);
        let ids = (start..end).rev().map(|sequence| self.id(sequence)).collect::<Result<_, _>>()?;
        Ok(InscriptionsPage { ids, more: start > 0, page_index })
    }

    /// A page of the inscriptions revealed in a block, in their order.
    pub fn inscriptions_of_block(&self, height: Height, page_index: u32) -> Result<InscriptionsPage, ReadError> {
        let revealed = self.revealed(height)?;
        let end = revealed.end();
        let start = revealed.first.saturating_add(page_index.saturating_mul(PAGE_INSCRIPTIONS)).min(end);
        let stop = start.saturating_add(PAGE_INSCRIPTIONS).min(end);
        let ids = (start..stop).map(|sequence| self.id(sequence)).collect::<Result<_, _>>()?;
        Ok(InscriptionsPage { ids, more: stop < end, page_index })
    }

    /// All inscriptions revealed in a block, in their order; `None` when there are more than `limit`.
    pub fn ids_of_block(&self, height: Height, limit: usize) -> Result<Option<Vec<InscriptionId>>, ReadError> {
        let revealed = self.revealed(height)?;
        if revealed.count as usize > limit {
            return Ok(None);
        }
        self.keep((revealed.count as usize).saturating_mul(INSCRIPTION_BYTES))?;
        (revealed.first..revealed.end()).map(|sequence| self.id(sequence)).collect::<Result<_, _>>().map(Some)
    }

    /// The inscriptions of a block that paid the most, at most eight, the highest fee first.
    pub(super) fn highest_paying(&self, height: Height) -> Result<Vec<InscriptionId>, ReadError> {
        self.revealed(height)?.highest.into_iter().map(|sequence| self.id(sequence)).collect()
    }

    /// A page of children, oldest first; `None` when there is no such inscription.
    pub fn children(&self, id: &InscriptionId, page: u32) -> Result<Option<ChildrenPage>, ReadError> {
        let Some(parent) = self.sequence(&InscriptionQuery::Id(*id))? else { return Ok(None) };
        let start = u64::from(page) * u64::from(PAGE_INSCRIPTIONS);
        let rows = self.children_rows(parent, start, PAGE_INSCRIPTIONS)?;
        let more = self.child_count(parent)? > start.saturating_add(u64::from(PAGE_INSCRIPTIONS));
        let ids = rows.into_iter().map(|child| self.id(child)).collect::<Result<_, _>>()?;
        Ok(Some(ChildrenPage { ids, more, page }))
    }

    /// A page of parents, in the order in which the inscription names them; `None` when there is no such inscription.
    pub fn parents(&self, id: &InscriptionId, page: u32) -> Result<Option<ParentsPage>, ReadError> {
        let Some(child) = self.sequence(&InscriptionQuery::Id(*id))? else { return Ok(None) };
        let Some(row) = self.inscription_row(child)? else { return Ok(None) };
        let skipped = page.saturating_mul(PAGE_INSCRIPTIONS) as usize;
        let shown = row.parents.iter().skip(skipped).take(PAGE_INSCRIPTIONS as usize);
        let ids = shown.map(|parent| self.id(*parent)).collect::<Result<_, _>>()?;
        let more = row.parents.len() > skipped.saturating_add(PAGE_INSCRIPTIONS as usize);
        Ok(Some(ParentsPage { ids, more, page, page_index: page }))
    }

    /// How many inscriptions a transaction revealed. Their indexes have no gaps, so a binary search finds the last one.
    pub fn inscription_count(&self, txid: &bitcoin::Txid) -> Result<u32, ReadError> {
        let is_there =
            |index| self.snapshot.get(&IDS, &id_key(&InscriptionId { txid: *txid, index })).map(|row| row.is_some());
        // All below `present` exist; the one at `missing` does not.
        let (mut present, mut missing) = (0u32, 0u32);
        while is_there(missing)? {
            present = missing + 1;
            missing = missing.saturating_mul(2).saturating_add(1);
        }
        while present < missing {
            let middle = present + (missing - present) / 2;
            if is_there(middle)? {
                present = middle + 1;
            } else {
                missing = middle;
            }
        }
        Ok(present)
    }

    pub(super) fn id(&self, sequence: u32) -> Result<InscriptionId, ReadError> {
        Ok(self.inscription_row(sequence)?.ok_or_else(|| ReadError::missing(&INSCRIPTIONS))?.id)
    }

    pub(super) fn inscription_row(&self, sequence: u32) -> Result<Option<InscriptionRow>, ReadError> {
        let row = self.snapshot.get(&INSCRIPTIONS, &sequence.to_be_bytes())?;
        row.map(|row| InscriptionRow::decode(&row).map_err(ReadError::of(&INSCRIPTIONS))).transpose()
    }

    pub(super) fn satpoint_of(&self, sequence: u32) -> Result<Option<SatPoint>, ReadError> {
        let row = self.snapshot.get(&LOCATIONS, &sequence.to_be_bytes())?;
        let location = row.map(|row| Location::decode(&row).map_err(ReadError::of(&LOCATIONS))).transpose()?;
        Ok(location.map(|location| location.satpoint()))
    }

    /// An output of a transaction; `None` for the null and the unbound outpoint.
    pub(super) fn real_output(&self, outpoint: &OutPoint) -> Result<Option<TxOut>, ReadError> {
        if *outpoint == OutPoint::null() || *outpoint == unbound_outpoint() {
            return Ok(None);
        }
        Ok(self.bitcoin.output(outpoint)?)
    }

    /// Sequence numbers of at most `limit` children from index `start` on, oldest first.
    fn children_rows(&self, parent: u32, start: u64, limit: u32) -> Result<Vec<u32>, ReadError> {
        let end = self.child_count(parent)?.min(start.saturating_add(u64::from(limit)));
        let child = |index| self.child(parent, index)?.ok_or_else(|| ReadError::missing(&CHILDREN));
        (start..end).map(child).collect()
    }

    fn child_count(&self, parent: u32) -> Result<u64, ReadError> {
        child_count(self.snapshot.get(&CHILD_COUNTS, &parent.to_be_bytes())?.as_deref())
    }

    /// The inscriptions of a block.
    fn revealed(&self, height: Height) -> Result<RevealedRow, ReadError> {
        let row = self.snapshot.get(&REVEALED, &height.to_be_bytes())?;
        row.map_or(Ok(RevealedRow::default()), |row| RevealedRow::decode(&row).map_err(ReadError::of(&REVEALED)))
    }
}
