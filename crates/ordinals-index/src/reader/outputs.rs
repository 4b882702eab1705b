use std::collections::BTreeMap;

use bitcoin::{Address, Amount, OutPoint, ScriptBuf, TxOut, Txid};
use ordinals::SpacedRune;
use paraffin_bitcoin_index::{ScriptKey, UnspentOutput};
use serde::Serialize;

use super::decimal::Decimal;
use super::runes::PILE_BYTES;
use super::{OrdinalsIndex, RunePile};
use crate::error::ReadError;
use crate::event::InscriptionId;
use crate::parameters::unbound_outpoint;
use crate::rows::{Held, INSCRIPTION_BYTES, decode_ranges, get_whole, sequence_of};
use crate::tables::{LOST, NOWHERE, RANGES, UNBOUND, outpoint_key};

/// An output as `ord` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the members are those of ord's interface")]
pub struct OutputRecord {
    pub address: Option<String>,
    pub confirmations: u32,
    pub indexed: bool,
    pub inscriptions: Vec<InscriptionId>,
    pub outpoint: OutPoint,
    pub runes: BTreeMap<SpacedRune, RunePile>,
    pub sat_ranges: Option<Vec<(u64, u64)>>,
    pub script_pubkey: ScriptBuf,
    pub spent: bool,
    pub transaction: Txid,
    pub value: u64,
}

/// What an address holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the members are those of ord's interface")]
pub struct AddressRecord {
    pub outputs: Vec<OutPoint>,
    pub inscriptions: Vec<InscriptionId>,
    pub sat_balance: u64,
    runes_balances: Vec<(SpacedRune, Decimal, Option<char>)>,
}

/// Which outputs of an address to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutputKind {
    /// All outputs.
    #[default]
    Any,
    /// Those without inscriptions and runes.
    Cardinal,
    /// Those with inscriptions.
    Inscribed,
    /// Those with runes.
    Runic,
}

impl std::str::FromStr for OutputKind {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "any" => Ok(Self::Any),
            "cardinal" => Ok(Self::Cardinal),
            "inscribed" => Ok(Self::Inscribed),
            "runic" => Ok(Self::Runic),
            _ => Err("the kind of outputs is any, cardinal, inscribed or runic"),
        }
    }
}

impl OutputKind {
    fn takes(self, held: &Held) -> bool {
        match self {
            Self::Any => true,
            Self::Cardinal => held.is_empty(),
            Self::Inscribed => !held.inscriptions.is_empty(),
            Self::Runic => !held.runes.is_empty(),
        }
    }
}

/// Errors are those of reading.
#[allow(clippy::missing_errors_doc)]
impl OrdinalsIndex {
    /// A confirmed output, or the null or the unbound outpoint. At most `limit` inscriptions are named, in the order of their
    /// numbers: a block can put half a million into one output.
    pub fn output(&self, outpoint: &OutPoint, limit: usize) -> Result<Option<OutputRecord>, ReadError> {
        self.output_holding(outpoint, None, limit)
    }

    fn output_holding(
        &self,
        outpoint: &OutPoint,
        held: Option<Held>,
        limit: usize,
    ) -> Result<Option<OutputRecord>, ReadError> {
        if *outpoint == OutPoint::null() {
            return self.nowhere(*outpoint, LOST, limit).map(Some);
        }
        if *outpoint == unbound_outpoint() {
            return self.nowhere(*outpoint, UNBOUND, limit).map(Some);
        }
        let Some(location) = self.bitcoin.transaction_location(&outpoint.txid)? else { return Ok(None) };
        let Some(output) = self.bitcoin.output(outpoint)? else { return Ok(None) };
        let held = match held {
            Some(held) => held,
            None => self.held(outpoint, limit)?,
        };
        let tip = self.bitcoin.tip()?.map_or(location.height, |tip| tip.height);
        let is_spent = self.bitcoin.outspend(outpoint)?.is_some();
        let mut record = self.output_record(*outpoint, &output, held, limit)?;
        record.indexed = !is_spent;
        record.confirmations = tip.saturating_sub(location.height).saturating_add(1);
        // What cannot be spent is in no node's set of unspent outputs, and reported as spent; except for the genesis block's.
        let is_unspendable = output.script_pubkey.is_op_return() || output.script_pubkey.len() > 10_000;
        record.spent = is_spent || is_unspendable;
        Ok(Some(record))
    }

    /// The record of an output that is in no block: it holds neither inscriptions nor runes.
    pub fn unconfirmed_output(&self, outpoint: OutPoint, output: &TxOut) -> OutputRecord {
        OutputRecord {
            address: self.address(&output.script_pubkey),
            confirmations: 0,
            indexed: false,
            inscriptions: Vec::new(),
            outpoint,
            runes: BTreeMap::new(),
            sat_ranges: None,
            script_pubkey: output.script_pubkey.clone(),
            spent: false,
            transaction: outpoint.txid,
            value: output.value.to_sat(),
        }
    }

    /// The unspent outputs of an address, in the order of their txids in wire order; `None` when there are more than `limit`
    /// of any kind, or more inscriptions and amounts of runes in them.
    pub fn outputs_of(
        &self,
        address: &Address,
        kind: OutputKind,
        limit: usize,
    ) -> Result<Option<Vec<OutputRecord>>, ReadError> {
        let Some(unspent) = self.unspent(address, limit)? else { return Ok(None) };
        let mut outputs: Vec<OutPoint> = unspent.iter().map(|output| output.outpoint).collect();
        outputs.sort_unstable_by_key(|outpoint| {
            let mut key = outpoint_key(outpoint);
            key[32..].copy_from_slice(&outpoint.vout.to_le_bytes());
            key
        });
        let (mut records, mut named) = (Vec::new(), 0);
        for outpoint in outputs {
            let held = self.held(&outpoint, limit)?;
            if kind.takes(&held) {
                named += held.inscriptions.len() + held.runes.len();
                if named > limit {
                    return Ok(None);
                }
                records.extend(self.output_holding(&outpoint, Some(held), limit)?);
            }
        }
        Ok(Some(records))
    }

    /// Everything that an address holds; `None` when it has more than `limit` outputs or inscriptions.
    pub fn address_record(&self, address: &Address, limit: usize) -> Result<Option<AddressRecord>, ReadError> {
        let Some(unspent) = self.unspent(address, limit)? else { return Ok(None) };
        let sat_balance = unspent.iter().fold(0u64, |sum, output| sum.saturating_add(output.value));
        let mut outputs: Vec<OutPoint> = unspent.iter().map(|output| output.outpoint).collect();
        outputs.sort_unstable();
        let mut inscriptions = Vec::new();
        let mut runes: BTreeMap<SpacedRune, RunePile> = BTreeMap::new();
        for outpoint in &outputs {
            let held = self.held(outpoint, limit)?;
            if inscriptions.len() + held.inscriptions.len() > limit {
                return Ok(None);
            }
            for (name, pile) in self.piles(&held.runes)? {
                if let Some(sum) = runes.get_mut(&name) {
                    sum.amount = sum.amount.saturating_add(pile.amount);
                } else {
                    self.keep(PILE_BYTES)?;
                    runes.insert(name, pile);
                }
            }
            inscriptions.append(&mut self.ids_of(held, limit)?);
        }
        let balance = |(name, pile): (SpacedRune, RunePile)| {
            (name, Decimal { value: pile.amount, scale: pile.divisibility }, pile.symbol)
        };
        let runes_balances = runes.into_iter().map(balance).collect();
        Ok(Some(AddressRecord { outputs, inscriptions, sat_balance, runes_balances }))
    }

    fn unspent(&self, address: &Address, limit: usize) -> Result<Option<Vec<UnspentOutput>>, ReadError> {
        let script = ScriptKey::from_address(address);
        let unspent = self.bitcoin.unspent(&script, None, Some(limit.saturating_add(1)))?;
        Ok((unspent.len() <= limit).then_some(unspent))
    }

    fn output_record(
        &self,
        outpoint: OutPoint,
        output: &TxOut,
        held: Held,
        limit: usize,
    ) -> Result<OutputRecord, ReadError> {
        self.keep(output.script_pubkey.len().saturating_mul(SCRIPT_FACTOR))?;
        let mut record = self.unconfirmed_output(outpoint, output);
        self.keep(held.runes.len().saturating_mul(PILE_BYTES))?;
        record.runes = self.piles(&held.runes)?;
        record.inscriptions = self.ids_of(held, limit)?;
        record.sat_ranges = self.ranges(&outpoint)?;
        Ok(record)
    }

    /// In the order of their numbering, at most `limit`.
    fn ids_of(&self, held: Held, limit: usize) -> Result<Vec<InscriptionId>, ReadError> {
        let mut inscriptions = held.inscriptions;
        inscriptions.sort_unstable_by_key(|held| held.sequence);
        inscriptions.iter().take(limit).map(|held| self.id(held.sequence)).collect()
    }

    /// Ranges of an unspent output, where sats are followed.
    pub(super) fn ranges(&self, outpoint: &OutPoint) -> Result<Option<Vec<(u64, u64)>>, ReadError> {
        if !self.has_sats()? {
            return Ok(None);
        }
        let row = get_whole(&RANGES, &outpoint_key(outpoint), |key| self.snapshot.get(&RANGES, key))?;
        let Some(row) = row else { return Ok(None) };
        self.keep(row.bytes.len())?;
        decode_ranges(&row.bytes, |bytes| self.may_keep(bytes)).map(Some).map_err(ReadError::of(&RANGES))
    }

    fn nowhere(&self, outpoint: OutPoint, kind: u8, limit: usize) -> Result<OutputRecord, ReadError> {
        let sat_ranges = self.ranges(&outpoint)?;
        let value = sat_ranges.iter().flatten().fold(0u64, |sum, (start, end)| sum.saturating_add(end - start));
        let output = TxOut { value: Amount::from_sat(value), script_pubkey: ScriptBuf::new() };
        let mut record = self.unconfirmed_output(outpoint, &output);
        record.indexed = true;
        record.sat_ranges = sat_ranges;
        for row in self.snapshot.prefix(&NOWHERE, &[kind]).take(limit) {
            let sequence = sequence_of(row?.0.get(1..).unwrap_or_default()).map_err(ReadError::of(&NOWHERE))?;
            self.keep(INSCRIPTION_BYTES)?;
            record.inscriptions.push(self.id(sequence)?);
        }
        // Unbound inscriptions have an empty list of ranges, not none.
        if record.sat_ranges.is_none() && !record.inscriptions.is_empty() && self.has_sats()? {
            record.sat_ranges = Some(Vec::new());
        }
        Ok(record)
    }
}

/// A script is in a record as bytes and as its address, and in the answer in hexadecimal digits.
const SCRIPT_FACTOR: usize = 4;
