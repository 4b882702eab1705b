//! Inscriptions of a block: reveals, numbers, and the locations of their sats.
//!
//! Transactions are walked in order, the coinbase last, for it takes the fees. Within a transaction everything is located by
//! the distance from the first sat of its first input; numbers are assigned in the order in which sats reach outputs.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use bitcoin::hashes::Hash as _;
use bitcoin::{OutPoint, Script, Transaction, Txid};
use ordinals::{Charm, Sat};
use paraffin_primitives::ConnectedBlock;
use paraffin_store::{ModuleError, ModuleWriter};

use super::flotsam::{Flotsam, Origin, Reveal, is_cursed_by_form, keep_present_parents};
use super::holdings::Holdings;
use super::ranges::{BlockRanges, Range, SatWalk};
use super::spent::SpentOutputs;
use crate::EventConsumer;
use crate::envelope::{Envelope, envelopes};
use crate::error::ReadError;
use crate::event::{Destination, EnvelopeFields, EventKind, InscriptionEvent, InscriptionId};
use crate::parameters::{Parameters, unbound_outpoint};
use crate::rows::{
    Fields, HeldInscription, HighestFees, InscriptionRow, Location, RevealedRow, put_varint, sequence_of,
};
use crate::tables::{
    BLESSED, CHILD_COUNTS, CHILDREN, CURSED, IDS, INSCRIBED_SATS, INSCRIPTIONS, LOCATIONS, LOST, NOWHERE, REVEALED,
    TOTALS, TOTALS_KEY, UNBOUND,
};

/// Running totals of the index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Totals {
    lost_sats: u64,
    unbound: u64,
}

impl Totals {
    fn load(rows: &ModuleWriter<'_>) -> Result<Self, ReadError> {
        let Some(row) = rows.get(&TOTALS, TOTALS_KEY)? else { return Ok(Self::default()) };
        let mut fields = Fields::of(&row);
        let decoded = fields.varint().and_then(|lost_sats| Ok(Self { lost_sats, unbound: fields.varint()? }));
        decoded.map_err(ReadError::of(&TOTALS))
    }

    fn encode(self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_varint(&mut bytes, self.lost_sats);
        put_varint(&mut bytes, self.unbound);
        bytes
    }
}

/// Where the sat of an inscription is after a transaction.
#[derive(Clone, Copy)]
struct NewLocation<'a> {
    outpoint: OutPoint,
    offset: u64,
    /// `None`: lost.
    script: Option<OutputScript<'a>>,
}

/// The script of an output, and the copy of it that all events of the output share: there may be thousands of them, and a
/// script may be nearly as long as a block.
#[derive(Clone, Copy)]
struct OutputScript<'a> {
    script: &'a Script,
    shared: &'a OnceCell<Arc<Script>>,
}

impl NewLocation<'_> {
    fn is_burned(&self) -> bool {
        self.script.is_some_and(|of| of.script.is_op_return())
    }

    fn destination(&self) -> Destination {
        match self.script {
            None => Destination::Lost,
            Some(OutputScript { script, shared }) => {
                let script_pubkey = Arc::clone(shared.get_or_init(|| Arc::from(script)));
                Destination::Output { outpoint: self.outpoint, offset: self.offset, script_pubkey }
            }
        }
    }
}

/// The transaction whose inscriptions are being located.
#[derive(Clone, Copy)]
struct BlockTransaction<'a> {
    transaction: &'a Transaction,
    txid: Txid,
    /// Position in the block; the coinbase is 0.
    index: u32,
}

/// Inscriptions on one sat of a transaction's inputs.
#[derive(Clone, Copy)]
struct OnSat {
    /// Sequence number of the first one; `None` when this transaction reveals it.
    first: Option<u32>,
    count: u32,
}

pub(super) struct BlockInscriptions<'a> {
    block: &'a ConnectedBlock,
    parameters: Parameters,
    ranges: Option<BlockRanges>,
    before: Totals,
    totals: Totals,
    first_sequence: u32,
    /// Inscriptions of this block, with those that have no number yet.
    revealed: u32,
    /// What the coinbase may claim: the subsidy, and the fees so far.
    reward: u64,
    /// Inscriptions paid as fees, which the coinbase takes.
    fees: Vec<Flotsam>,
    child_counts: HashMap<u32, u64>,
    highest: HighestFees,
    listener: Option<&'a dyn EventConsumer>,
    /// Events that the listener wants.
    events: Vec<InscriptionEvent>,
}

impl<'a> BlockInscriptions<'a> {
    pub(super) fn begin(
        block: &'a ConnectedBlock,
        parameters: Parameters,
        ranges: Option<BlockRanges>,
        listener: Option<&'a dyn EventConsumer>,
        rows: &ModuleWriter<'_>,
    ) -> Result<Self, ModuleError> {
        let totals = Totals::load(rows)?;
        Ok(Self {
            block,
            parameters,
            ranges,
            before: totals,
            totals,
            first_sequence: rows.sequence_len(&INSCRIPTIONS)?,
            revealed: 0,
            reward: ordinals::Height(block.id.height).subsidy(),
            fees: Vec::new(),
            child_counts: HashMap::new(),
            highest: HighestFees::default(),
            listener,
            events: Vec::new(),
        })
    }

    pub(super) fn run(
        &mut self,
        spent: &SpentOutputs<'_>,
        holdings: &mut Holdings,
        rows: &mut ModuleWriter<'_>,
    ) -> Result<(), ModuleError> {
        let count = self.block.block.txdata.len();
        for index in (1..count).chain(0..1.min(count)) {
            let (Some(transaction), Some(txid)) = (self.block.block.txdata.get(index), self.block.txids.get(index))
            else {
                break;
            };
            let current =
                BlockTransaction { transaction, txid: *txid, index: u32::try_from(index).unwrap_or(u32::MAX) };
            let ranges = match &mut self.ranges {
                None => None,
                Some(ranges) => Some(ranges.inputs(transaction, index == 0, rows)?),
            };
            let lost_before = (index == 0).then_some(self.totals.lost_sats);
            self.transaction(current, &spent.values(index), ranges.as_deref(), holdings, rows)?;
            if let (Some(all), Some(inputs)) = (&mut self.ranges, &ranges) {
                all.assign(transaction, *txid, inputs, lost_before, rows)?;
            }
        }
        Ok(())
    }

    /// Writes the remaining rows and returns the events.
    pub(super) fn finish(self, rows: &mut ModuleWriter<'_>) -> Result<Vec<InscriptionEvent>, ModuleError> {
        for (sequence, count) in &self.child_counts {
            let mut row = Vec::new();
            put_varint(&mut row, *count);
            rows.put(&CHILD_COUNTS, &sequence.to_be_bytes(), &row)?;
        }
        if self.totals != self.before {
            rows.put(&TOTALS, TOTALS_KEY, &self.totals.encode())?;
        }
        let count = rows.sequence_len(&INSCRIPTIONS)?.saturating_sub(self.first_sequence);
        if count > 0 {
            let row = RevealedRow { first: self.first_sequence, count, highest: self.highest.sequences() };
            rows.put(&REVEALED, &self.block.id.height.to_be_bytes(), &row.encode())?;
        }
        if let Some(ranges) = self.ranges {
            ranges.finish(rows)?;
        }
        Ok(self.events)
    }

    fn transaction(
        &mut self,
        current: BlockTransaction<'a>,
        values: &[u64],
        ranges: Option<&[Range]>,
        holdings: &mut Holdings,
        rows: &mut ModuleWriter<'_>,
    ) -> Result<(), ModuleError> {
        let is_coinbase = current.index == 0;
        let paid_out =
            current.transaction.output.iter().fold(0u64, |sum, output| sum.saturating_add(output.value.to_sat()));
        let (mut floating, paid_in) = if is_coinbase {
            (std::mem::take(&mut self.fees), self.reward)
        } else {
            self.collect_flotsam(current, values, paid_out, holdings, rows)?
        };
        floating.sort_by_key(|flotsam| flotsam.offset);

        let mut floating = floating.into_iter().peekable();
        let mut sats = ranges.map(SatWalk::new);
        let mut before = 0u64;
        for (vout, output) in (0u32..).zip(&current.transaction.output) {
            let end = before.saturating_add(output.value.to_sat());
            let shared = OnceCell::new();
            let script = OutputScript { script: &output.script_pubkey, shared: &shared };
            while let Some(flotsam) = floating.next_if(|flotsam| flotsam.offset < end) {
                let outpoint = OutPoint { txid: current.txid, vout };
                let offset = flotsam.offset - before;
                let location_after = NewLocation { outpoint, offset, script: Some(script) };
                self.assign_location(current, flotsam, location_after, sats.as_mut(), holdings, rows)?;
            }
            before = end;
        }
        if is_coinbase {
            for flotsam in floating {
                let offset = self.totals.lost_sats.saturating_add(flotsam.offset - before);
                let location_after = NewLocation { outpoint: OutPoint::null(), offset, script: None };
                self.assign_location(current, flotsam, location_after, sats.as_mut(), holdings, rows)?;
            }
            self.totals.lost_sats = self.totals.lost_sats.saturating_add(self.reward.saturating_sub(paid_out));
        } else {
            for flotsam in floating {
                self.allocate_fee(current, flotsam, before);
            }
            self.reward = self.reward.saturating_add(paid_in.saturating_sub(paid_out));
        }
        Ok(())
    }

    /// The inscriptions that a transaction moves and reveals, by their distance from the first sat of its inputs, and what
    /// its inputs are worth.
    fn collect_flotsam(
        &mut self,
        current: BlockTransaction<'a>,
        values: &[u64],
        paid_out: u64,
        holdings: &mut Holdings,
        rows: &ModuleWriter<'_>,
    ) -> Result<(Vec<Flotsam>, u64), ModuleError> {
        let is_active = self.block.id.height >= self.parameters.first_inscription_height;
        let left = self.parameters.inscriptions_max.saturating_sub(self.first_sequence).saturating_sub(self.revealed);
        let waiting = is_active.then(|| envelopes(current.transaction)).into_iter().flatten();
        let mut waiting = waiting.take(left as usize).peekable();
        let reveals = waiting.peek().is_some();
        let mut floating = Vec::new();
        let mut on_sats: BTreeMap<u64, OnSat> = BTreeMap::new();
        let (mut paid_in, mut revealed) = (0u64, 0u32);
        for (index, input) in (0u32..).zip(&current.transaction.input) {
            for held in holdings.take_inscriptions(&input.previous_output) {
                let offset = paid_in.saturating_add(held.offset);
                let moves = held.moves;
                let id = match moves {
                    _ if !self.wants_moves(moves) => None,
                    0 => Some(InscriptionId { txid: input.previous_output.txid, index: held.index }),
                    _ => Some(inscription(rows, held.sequence)?.id),
                };
                floating.push(Flotsam { offset, origin: Origin::Old { sequence: held.sequence, moves, id } });
                if reveals {
                    on_sats.entry(offset).or_insert(OnSat { first: Some(held.sequence), count: 0 }).count += 1;
                }
            }
            let value = values.get(index as usize).copied().unwrap_or_default();
            while let Some(envelope) = waiting.next_if(|envelope| envelope.input == index) {
                let id = InscriptionId { txid: current.txid, index: revealed };
                let is_cursed = is_cursed_by_form(&envelope) || is_cursed_again(rows, on_sats.get(&paid_in))?;
                let pointer = envelope.inscription.pointer().filter(|pointer| *pointer < paid_out);
                let offset = pointer.unwrap_or(paid_in);
                let reveal = self.reveal(id, envelope, is_cursed, on_sats.contains_key(&offset), value == 0);
                floating.push(Flotsam { offset, origin: Origin::New(reveal) });
                on_sats.entry(offset).or_insert(OnSat { first: None, count: 0 }).count += 1;
                revealed += 1;
            }
            paid_in = paid_in.saturating_add(value);
        }
        self.revealed = self.revealed.saturating_add(revealed);
        keep_present_parents(&mut floating, |parent| sequence_of_id(rows, parent))?;
        let fee = paid_in.saturating_sub(paid_out) / u64::from(revealed.max(1));
        for flotsam in &mut floating {
            if let Origin::New(reveal) = &mut flotsam.origin {
                reveal.fee = fee;
            }
        }
        Ok((floating, paid_in))
    }

    /// Whether the listener wants this move, or the second one that follows when the inscription is paid as a fee.
    fn wants_moves(&self, moves: u32) -> bool {
        let wants = |listener: &dyn EventConsumer, moves| listener.wants(&EventKind::Moved { moves });
        self.listener.is_some_and(|listener| wants(listener, moves) || wants(listener, moves.saturating_add(1)))
    }

    fn reveal(
        &self,
        id: InscriptionId,
        envelope: Envelope,
        is_cursed: bool,
        is_reinscription: bool,
        is_worthless: bool,
    ) -> Reveal {
        let is_jubilant = self.block.id.height >= self.parameters.jubilee_height;
        let mut inscription = envelope.inscription;
        Reveal {
            id,
            is_cursed: is_cursed && !is_jubilant,
            is_vindicated: is_cursed && is_jubilant,
            is_unbound: is_worthless || inscription.has_unrecognized_even_field,
            is_reinscription,
            is_paid: false,
            fee: 0,
            parents: std::mem::take(&mut inscription.parents),
            event: None,
            envelope: self.listener.and_then(|_| EnvelopeFields::of(inscription)),
        }
    }

    /// Passes an inscription that a transaction pays as a fee on to the coinbase.
    fn allocate_fee(&mut self, current: BlockTransaction<'_>, mut flotsam: Flotsam, before: u64) {
        match &mut flotsam.origin {
            Origin::Old { moves, id, .. } => {
                self.record_event(current, *id, EventKind::Moved { moves: *moves }, || Destination::Fee);
                *moves = moves.saturating_add(1);
            }
            Origin::New(reveal) => {
                let destination = if reveal.is_unbound { Destination::Lost } else { Destination::Fee };
                reveal.is_paid = true;
                let kind = revealed_event(reveal, 0);
                reveal.event = self.record_event(current, Some(reveal.id), kind, || destination);
            }
        }
        flotsam.offset = self.reward.saturating_add(flotsam.offset - before);
        self.fees.push(flotsam);
    }

    /// Assigns an inscription its location: unbound, lost, or in an output.
    fn assign_location(
        &mut self,
        current: BlockTransaction<'_>,
        flotsam: Flotsam,
        location_after: NewLocation<'_>,
        sats: Option<&mut SatWalk<'_>>,
        holdings: &mut Holdings,
        rows: &mut ModuleWriter<'_>,
    ) -> Result<(), ModuleError> {
        let (sequence, moves, index, is_unbound) = match flotsam.origin {
            Origin::Old { sequence, moves, id } => {
                self.record_event(current, id, EventKind::Moved { moves }, || location_after.destination());
                (sequence, moves.saturating_add(1), 0, false)
            }
            Origin::New(mut reveal) => {
                let sat = if reveal.is_unbound { None } else { sats.and_then(|sats| sats.at(flotsam.offset)) };
                let sequence = self.number(current, &mut reveal, &location_after, sat, rows)?;
                // A reveal into the fees counts as one move.
                let is_moved = reveal.is_paid && !reveal.is_unbound;
                let index = if is_moved { 0 } else { reveal.id.index };
                (sequence, u32::from(is_moved), index, reveal.is_unbound)
            }
        };
        if is_unbound {
            let offset = self.totals.unbound;
            self.totals.unbound += 1;
            let location = Location { outpoint: unbound_outpoint(), offset, moves, is_burned: false };
            rows.put(&LOCATIONS, &sequence.to_be_bytes(), &location.encode())?;
            rows.put(&NOWHERE, &nowhere_key(UNBOUND, sequence), &[])?;
        } else if location_after.script.is_none() {
            let location =
                Location { outpoint: location_after.outpoint, offset: location_after.offset, moves, is_burned: false };
            rows.put(&LOCATIONS, &sequence.to_be_bytes(), &location.encode())?;
            rows.put(&NOWHERE, &nowhere_key(LOST, sequence), &[])?;
        } else {
            let arrival = Some(location_after.is_burned());
            let held = HeldInscription { sequence, offset: location_after.offset, moves, index, arrival };
            holdings.put_inscription(location_after.outpoint, held);
        }
        Ok(())
    }

    /// Numbers a new inscription and writes its rows.
    fn number(
        &mut self,
        current: BlockTransaction<'_>,
        reveal: &mut Reveal,
        location_after: &NewLocation<'_>,
        sat: Option<u64>,
        rows: &mut ModuleWriter<'_>,
    ) -> Result<u32, ModuleError> {
        let sequence = rows.sequence_len(&INSCRIPTIONS)?;
        let ordinal = rows.append(if reveal.is_cursed { &CURSED } else { &BLESSED }, &sequence.to_be_bytes())?;
        let full = || ModuleError::Block(format!("block {}: there are no inscription numbers left", self.block.id));
        let ordinal = i32::try_from(ordinal).map_err(|_| full())?;
        let number = if reveal.is_cursed { !ordinal } else { ordinal };
        let mut parents = Vec::new();
        for parent in &reveal.parents {
            // A parent that the same transaction reveals further on has no number yet.
            if let Some(parent) = sequence_of_id(rows, parent)? {
                let child = u32::try_from(self.count_child(parent, rows)?).map_err(|_| full())?;
                rows.put(&CHILDREN, &child_key(parent, child), &sequence.to_be_bytes())?;
                parents.push(parent);
            }
        }
        if let Some(sat) = sat {
            rows.put(&INSCRIBED_SATS, &[&sat.to_be_bytes()[..], &sequence.to_be_bytes()].concat(), &[])?;
        }
        let charms = charms(reveal, location_after, sat);
        let (height, time) = (self.block.id.height, self.block.block.header.time);
        let id = reveal.id;
        let row = InscriptionRow { id, number, fee: reveal.fee, height, time, charms, sat, parents };
        rows.append(&INSCRIPTIONS, &row.encode())?;
        rows.put(&IDS, &id_key(&id), &sequence.to_be_bytes())?;
        self.highest.add(reveal.fee, sequence);
        self.record_reveal(current, reveal, location_after, number);
        Ok(sequence)
    }

    /// Counts a child and returns how many there were before it.
    fn count_child(&mut self, parent: u32, rows: &ModuleWriter<'_>) -> Result<u64, ModuleError> {
        let count = match self.child_counts.get(&parent) {
            Some(count) => *count,
            None => child_count(rows.get(&CHILD_COUNTS, &parent.to_be_bytes())?.as_deref())?,
        };
        self.child_counts.insert(parent, count + 1);
        Ok(count)
    }

    /// Records the event of a reveal. One that was recorded when the inscription was paid as a fee only gets its number.
    fn record_reveal(
        &mut self,
        current: BlockTransaction<'_>,
        reveal: &mut Reveal,
        location_after: &NewLocation<'_>,
        given: i32,
    ) {
        let id = Some(reveal.id);
        if !reveal.is_paid {
            let is_unbound = reveal.is_unbound;
            let destination = || if is_unbound { Destination::Lost } else { location_after.destination() };
            self.record_event(current, id, revealed_event(reveal, given), destination);
            return;
        }
        let recorded = reveal.event.and_then(|event| self.events.get_mut(event));
        if let Some(InscriptionEvent { kind: EventKind::Revealed { number, .. }, .. }) = recorded {
            *number = given;
        }
        if !reveal.is_unbound {
            self.record_event(current, id, EventKind::Moved { moves: 0 }, || location_after.destination());
        }
    }

    /// Records an event if the listener wants it; returns its index in `events`.
    fn record_event(
        &mut self,
        current: BlockTransaction<'_>,
        id: Option<InscriptionId>,
        kind: EventKind,
        destination: impl FnOnce() -> Destination,
    ) -> Option<usize> {
        let id = id.filter(|_| self.listener.is_some_and(|listener| listener.wants(&kind)))?;
        self.events.push(InscriptionEvent {
            txid: current.txid,
            transaction_index: current.index,
            id,
            destination: destination(),
            kind,
        });
        Some(self.events.len() - 1)
    }
}

/// Whether a reinscription is cursed. A sat whose only inscription is cursed or vindicated takes one more without a curse.
fn is_cursed_again(rows: &ModuleWriter<'_>, on_sat: Option<&OnSat>) -> Result<bool, ReadError> {
    let Some(on_sat) = on_sat else { return Ok(false) };
    let (1, Some(first)) = (on_sat.count, on_sat.first) else { return Ok(true) };
    let first = inscription(rows, first)?;
    Ok(first.number >= 0 && !Charm::Vindicated.is_set(first.charms))
}

fn charms(reveal: &Reveal, location_after: &NewLocation<'_>, sat: Option<u64>) -> u16 {
    let mut charms = sat.map_or(0, |sat| Sat(sat).charms());
    let given = [
        (Charm::Cursed, reveal.is_cursed),
        (Charm::Reinscription, reveal.is_reinscription),
        (Charm::Burned, location_after.is_burned()),
        (Charm::Lost, location_after.script.is_none()),
        (Charm::Unbound, reveal.is_unbound),
        (Charm::Vindicated, reveal.is_vindicated),
    ];
    for (charm, _) in given.into_iter().filter(|(_, is_given)| *is_given) {
        charm.set(&mut charms);
    }
    charms
}

/// The event of a reveal. There is one for each, so the fields of the envelope are moved out of `reveal`.
fn revealed_event(reveal: &mut Reveal, number: i32) -> EventKind {
    EventKind::Revealed {
        number,
        is_vindicated: reveal.is_vindicated,
        is_first_on_sat: !reveal.is_reinscription,
        parents: reveal.parents.clone(),
        envelope: reveal.envelope.take(),
    }
}

fn inscription(rows: &ModuleWriter<'_>, sequence: u32) -> Result<InscriptionRow, ReadError> {
    let row = rows.get(&INSCRIPTIONS, &sequence.to_be_bytes())?.ok_or_else(|| ReadError::missing(&INSCRIPTIONS))?;
    InscriptionRow::decode(&row).map_err(ReadError::of(&INSCRIPTIONS))
}

fn sequence_of_id(rows: &ModuleWriter<'_>, id: &InscriptionId) -> Result<Option<u32>, ReadError> {
    let row = rows.get(&IDS, &id_key(id))?;
    row.map(|row| sequence_of(&row).map_err(ReadError::of(&IDS))).transpose()
}

/// Decodes a row of table `child_counts`.
pub(crate) fn child_count(row: Option<&[u8]>) -> Result<u64, ReadError> {
    row.map_or(Ok(0), |row| Fields::of(row).varint().map_err(ReadError::of(&CHILD_COUNTS)))
}

/// Key of table `ids`.
pub(crate) fn id_key(id: &InscriptionId) -> [u8; 36] {
    let mut key = [0; 36];
    key[..32].copy_from_slice(id.txid.as_byte_array());
    key[32..].copy_from_slice(&id.index.to_be_bytes());
    key
}

/// Key of table `children`.
pub(crate) fn child_key(parent: u32, index: u32) -> [u8; 8] {
    (u64::from(parent) << 32 | u64::from(index)).to_be_bytes()
}

fn nowhere_key(kind: u8, sequence: u32) -> [u8; 5] {
    let [a, b, c, d] = sequence.to_be_bytes();
    [kind, a, b, c, d]
}
