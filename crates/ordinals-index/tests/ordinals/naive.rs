//! Where every inscription is and which number it has, computed again from nothing: every sat has its ordinal number, an
//! inscription is bound to one, and it is where that sat is. No offset is ever carried from one transaction to another.

use std::collections::HashMap;

use bitcoin::{Block, OutPoint, Transaction};
use ordinals::{Height, SatPoint};
use paraffin_ordinals_index::envelope::{Envelope, envelopes};
use paraffin_ordinals_index::event::InscriptionId;
use paraffin_ordinals_index::unbound_outpoint;

/// From here on nothing is cursed on regtest.
const JUBILEE: u32 = 110;

#[derive(Debug, Clone)]
pub struct NaiveInscription {
    pub id: InscriptionId,
    pub number: i32,
    /// `None`: bound to no sat.
    pub sat: Option<u64>,
    is_vindicated: bool,
    /// Where it is after the last block.
    pub satpoint: Option<SatPoint>,
}

#[derive(Debug, Default)]
pub struct Naive {
    /// In the order of their numbering.
    pub inscriptions: Vec<NaiveInscription>,
    pub by_id: HashMap<InscriptionId, usize>,
    pub outputs: HashMap<OutPoint, Vec<(u64, u64)>>,
    on_sats: HashMap<u64, Vec<usize>>,
    lost: Vec<(u64, u64)>,
    numbers: [i32; 2],
    unbound: u64,
}

/// Revealed and not yet numbered.
struct Waiting {
    id: InscriptionId,
    sat: Option<u64>,
    is_cursed: bool,
    is_vindicated: bool,
    /// Sats of the outputs before it.
    offset: u64,
}

impl Naive {
    pub fn of(blocks: &[Block]) -> Self {
        let mut naive = Self::default();
        for (height, block) in (0u32..).zip(blocks) {
            naive.block(height, block);
        }
        naive.locate();
        naive
    }

    fn block(&mut self, height: u32, block: &Block) {
        let start = Height(height).starting_sat().n();
        let mut reward = vec![(start, start + Height(height).subsidy())];
        let mut unnumbered = Vec::new();
        for transaction in block.txdata.iter().skip(1) {
            let mut ranges = Vec::new();
            let mut starts = Vec::new();
            for input in &transaction.input {
                let spent = self.outputs.remove(&input.previous_output).unwrap();
                starts.push((size(&ranges), size(&spent)));
                ranges.extend(spent);
            }
            let mut new = self.reveals(height, transaction, &ranges, &starts);
            new.sort_by_key(|waiting| waiting.offset);
            let paid: u64 = transaction.output.iter().map(|output| output.value.to_sat()).sum();
            let (landed, fees): (Vec<_>, Vec<_>) = new.into_iter().partition(|waiting| waiting.offset < paid);
            for waiting in &landed {
                self.number(waiting);
            }
            unnumbered.extend(fees);
            reward.extend(self.pay_out(transaction, ranges));
        }
        for waiting in &unnumbered {
            self.number(waiting);
        }
        let left = self.pay_out(&block.txdata[0], reward);
        self.lost.extend(left);
    }

    fn reveals(
        &self,
        height: u32,
        transaction: &Transaction,
        ranges: &[(u64, u64)],
        starts: &[(u64, u64)],
    ) -> Vec<Waiting> {
        let txid = transaction.compute_txid();
        let paid: u64 = transaction.output.iter().map(|output| output.value.to_sat()).sum();
        let mut new = Vec::new();
        for (index, envelope) in (0u32..).zip(envelopes(transaction)) {
            let (start, value) = starts[envelope.input as usize];
            let pointer = envelope.inscription.pointer().filter(|pointer| *pointer < paid);
            let offset = pointer.unwrap_or(start);
            let is_unbound = value == 0 || envelope.inscription.has_unrecognized_even_field;
            let first_sat = nth(ranges, start).filter(|_| value > 0);
            let would_be_cursed = is_cursed(&envelope) || first_sat.is_some_and(|sat| self.is_taken(sat));
            new.push(Waiting {
                id: InscriptionId { txid, index },
                sat: nth(ranges, offset).filter(|_| !is_unbound),
                is_cursed: would_be_cursed && height < JUBILEE,
                is_vindicated: would_be_cursed && height >= JUBILEE,
                offset,
            });
        }
        new
    }

    /// Whether one more on this sat is a reinscription that counts against it.
    fn is_taken(&self, sat: u64) -> bool {
        match self.on_sats.get(&sat).map(Vec::as_slice) {
            None | Some([]) => false,
            Some([only]) => {
                let only = &self.inscriptions[*only];
                only.number >= 0 && !only.is_vindicated
            }
            Some(_) => true,
        }
    }

    fn number(&mut self, waiting: &Waiting) {
        let place = self.inscriptions.len();
        let counter = &mut self.numbers[usize::from(waiting.is_cursed)];
        let number = if waiting.is_cursed { -*counter - 1 } else { *counter };
        *counter += 1;
        let mut satpoint = None;
        match waiting.sat {
            Some(sat) => self.on_sats.entry(sat).or_default().push(place),
            None => {
                satpoint = Some(SatPoint { outpoint: unbound_outpoint(), offset: self.unbound });
                self.unbound += 1;
            }
        }
        self.by_id.insert(waiting.id, place);
        let (id, sat, is_vindicated) = (waiting.id, waiting.sat, waiting.is_vindicated);
        self.inscriptions.push(NaiveInscription { id, number, sat, is_vindicated, satpoint });
    }

    /// Gives the outputs their sats and answers what is left.
    fn pay_out(&mut self, transaction: &Transaction, mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
        let txid = transaction.compute_txid();
        for (vout, output) in (0u32..).zip(&transaction.output) {
            let rest = split_off(&mut ranges, output.value.to_sat());
            self.outputs.insert(OutPoint { txid, vout }, std::mem::replace(&mut ranges, rest));
        }
        ranges
    }

    fn locate(&mut self) {
        let places = self.outputs.iter().map(|(outpoint, ranges)| (*outpoint, ranges.as_slice()));
        let mut found = Vec::new();
        for (outpoint, ranges) in places.chain([(OutPoint::null(), self.lost.as_slice())]) {
            let mut before = 0;
            for (start, end) in ranges {
                for (sat, on_sat) in &self.on_sats {
                    if (*start..*end).contains(sat) {
                        let satpoint = SatPoint { outpoint, offset: before + sat - start };
                        found.extend(on_sat.iter().map(|place| (*place, satpoint)));
                    }
                }
                before += end - start;
            }
        }
        for (place, satpoint) in found {
            self.inscriptions[place].satpoint = Some(satpoint);
        }
    }
}

fn is_cursed(envelope: &Envelope) -> bool {
    let inscription = &envelope.inscription;
    let by_fields =
        inscription.has_unrecognized_even_field || inscription.has_duplicate_field || inscription.has_incomplete_field;
    let by_position = envelope.input > 0 || envelope.offset > 0 || inscription.pointer.is_some();
    by_fields || by_position || envelope.has_pushnum || envelope.is_stutter
}

fn size(ranges: &[(u64, u64)]) -> u64 {
    ranges.iter().map(|(start, end)| end - start).sum()
}

fn nth(ranges: &[(u64, u64)], mut offset: u64) -> Option<u64> {
    for (start, end) in ranges {
        if offset < end - start {
            return Some(start + offset);
        }
        offset -= end - start;
    }
    None
}

/// Keeps the first `value` sats and answers the others.
fn split_off(ranges: &mut Vec<(u64, u64)>, value: u64) -> Vec<(u64, u64)> {
    let mut left = value;
    for place in 0..ranges.len() {
        let (start, end) = ranges[place];
        if end - start > left {
            let mut rest = ranges.split_off(place);
            rest[0].0 = start + left;
            if left > 0 {
                ranges.push((start, start + left));
            }
            return rest;
        }
        left -= end - start;
    }
    Vec::new()
}
