//! Inscriptions of a block: which there are, their numbers, and where their sats go.
//!
//! Transactions are walked in order, the coinbase last, for it takes the fees. Within a transaction everything is located by
//! the distance from its first input's first sat; numbers are given in the order in which sats land.

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
use crate::event::{EventKind, InscriptionEvent, InscriptionId, Landing, Said};
use crate::parameters::{Parameters, unbound_outpoint};
use crate::rows::{
    Arrival, Fields, HeldInscription, HighestFees, InscriptionRow, Location, RevealedRow, put_varint, sequence_of,
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

/// Where a sat lands.
#[derive(Clone, Copy)]
struct Spot<'a> {
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

impl Spot<'_> {
    fn is_burned(&self) -> bool {
        self.script.is_some_and(|of| of.script.is_op_return())
    }

    fn landing(&self) -> Landing {
        match self.script {
            None => Landing::Lost,
            Some(OutputScript { script, shared }) => {
                let script_pubkey = Arc::clone(shared.get_or_init(|| Arc::from(script)));
                Landing::Output { outpoint: self.outpoint, offset: self.offset, script_pubkey }
            }
        }
    }
}

/// One transaction, while its inscriptions are followed.
#[derive(Clone, Copy)]
struct Placed<'a> {
    transaction: &'a Transaction,
    txid: Txid,
    place: u32,
}

/// What is on a sat of a transaction's inputs.
#[derive(Clone, Copy)]
struct OnSat {
    /// The first one that was found there, when it has a number.
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
    /// Paid as fees.
    fees: Vec<Flotsam>,
    child_counts: HashMap<u32, u64>,
    highest: HighestFees,
    listener: Option<&'a dyn EventConsumer>,
    /// What the listener wants to receive.
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
        for place in (1..count).chain(0..1.min(count)) {
            let (Some(transaction), Some(txid)) = (self.block.block.txdata.get(place), self.block.txids.get(place))
            else {
                break;
            };
            let placed = Placed { transaction, txid: *txid, place: u32::try_from(place).unwrap_or(u32::MAX) };
            let ranges = match &mut self.ranges {
                None => None,
                Some(ranges) => Some(ranges.inputs(transaction, place == 0, rows)?),
            };
            let lost_before = (place == 0).then_some(self.totals.lost_sats);
            self.transaction(placed, &spent.values(place), ranges.as_deref(), holdings, rows)?;
            if let (Some(all), Some(inputs)) = (&mut self.ranges, &ranges) {
                all.assign(transaction, *txid, inputs, lost_before, rows)?;
            }
        }
        Ok(())
    }

    /// Writes what is left and answers the events.
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
        placed: Placed<'a>,
        values: &[u64],
        ranges: Option<&[Range]>,
        holdings: &mut Holdings,
        rows: &mut ModuleWriter<'_>,
    ) -> Result<(), ModuleError> {
        let is_coinbase = placed.place == 0;
        let paid_out =
            placed.transaction.output.iter().fold(0u64, |sum, output| sum.saturating_add(output.value.to_sat()));
        let (mut floating, paid_in) = if is_coinbase {
            (std::mem::take(&mut self.fees), self.reward)
        } else {
            self.float(placed, values, paid_out, holdings, rows)?
        };
        floating.sort_by_key(|flotsam| flotsam.offset);

        let mut floating = floating.into_iter().peekable();
        let mut sats = ranges.map(SatWalk::new);
        let mut before = 0u64;
        for (vout, output) in (0u32..).zip(&placed.transaction.output) {
            let end = before.saturating_add(output.value.to_sat());
            let shared = OnceCell::new();
            let script = OutputScript { script: &output.script_pubkey, shared: &shared };
            while let Some(flotsam) = floating.next_if(|flotsam| flotsam.offset < end) {
                let outpoint = OutPoint { txid: placed.txid, vout };
                let offset = flotsam.offset - before;
                let spot = Spot { outpoint, offset, script: Some(script) };
                self.land(placed, flotsam, spot, sats.as_mut(), holdings, rows)?;
            }
            before = end;
        }
        if is_coinbase {
            for flotsam in floating {
                let offset = self.totals.lost_sats.saturating_add(flotsam.offset - before);
                let spot = Spot { outpoint: OutPoint::null(), offset, script: None };
                self.land(placed, flotsam, spot, sats.as_mut(), holdings, rows)?;
            }
            self.totals.lost_sats = self.totals.lost_sats.saturating_add(self.reward.saturating_sub(paid_out));
        } else {
            for flotsam in floating {
                self.pay(placed, flotsam, before);
            }
            self.reward = self.reward.saturating_add(paid_in.saturating_sub(paid_out));
        }
        Ok(())
    }

    /// The inscriptions that a transaction moves and reveals, by their distance from the first sat of its inputs, and what
    /// its inputs are worth.
    fn float(
        &mut self,
        placed: Placed<'a>,
        values: &[u64],
        paid_out: u64,
        holdings: &mut Holdings,
        rows: &ModuleWriter<'_>,
    ) -> Result<(Vec<Flotsam>, u64), ModuleError> {
        let is_active = self.block.id.height >= self.parameters.first_inscription_height;
        let left = self.parameters.inscriptions_max.saturating_sub(self.first_sequence).saturating_sub(self.revealed);
        let waiting = is_active.then(|| envelopes(placed.transaction)).into_iter().flatten();
        let mut waiting = waiting.take(left as usize).peekable();
        let reveals = waiting.peek().is_some();
        let mut floating = Vec::new();
        let mut on_sats: BTreeMap<u64, OnSat> = BTreeMap::new();
        let (mut paid_in, mut revealed) = (0u64, 0u32);
        for (index, input) in (0u32..).zip(&placed.transaction.input) {
            for held in holdings.take_inscriptions(&input.previous_output) {
                let offset = paid_in.saturating_add(held.offset);
                let moves = match held.arrival {
                    Some(arrival) => arrival.moves,
                    None => location(rows, held.sequence)?.moves,
                };
                let id = if self.wants_moves(moves) { Some(inscription(rows, held.sequence)?.id) } else { None };
                floating.push(Flotsam { offset, origin: Origin::Old { sequence: held.sequence, moves, id } });
                if reveals {
                    on_sats.entry(offset).or_insert(OnSat { first: Some(held.sequence), count: 0 }).count += 1;
                }
            }
            let value = values.get(index as usize).copied().unwrap_or_default();
            while let Some(envelope) = waiting.next_if(|envelope| envelope.input == index) {
                let id = InscriptionId { txid: placed.txid, index: revealed };
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

    /// Whether the listener wants to receive a move, or of the one that follows when it is paid as a fee.
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
            said: self.listener.and_then(|_| Said::of(inscription)),
        }
    }

    /// An inscription is paid as a fee: the coinbase will take it.
    fn pay(&mut self, placed: Placed<'_>, mut flotsam: Flotsam, before: u64) {
        match &mut flotsam.origin {
            Origin::Old { moves, id, .. } => {
                self.tell(placed, *id, EventKind::Moved { moves: *moves }, || Landing::Fee);
                *moves = moves.saturating_add(1);
            }
            Origin::New(reveal) => {
                let landing = if reveal.is_unbound { Landing::Lost } else { Landing::Fee };
                reveal.is_paid = true;
                let kind = revealed_event(reveal, 0);
                reveal.event = self.tell(placed, Some(reveal.id), kind, || landing);
            }
        }
        flotsam.offset = self.reward.saturating_add(flotsam.offset - before);
        self.fees.push(flotsam);
    }

    /// An inscription arrives.
    fn land(
        &mut self,
        placed: Placed<'_>,
        flotsam: Flotsam,
        spot: Spot<'_>,
        sats: Option<&mut SatWalk<'_>>,
        holdings: &mut Holdings,
        rows: &mut ModuleWriter<'_>,
    ) -> Result<(), ModuleError> {
        let (sequence, moves, is_unbound) = match flotsam.origin {
            Origin::Old { sequence, moves, id } => {
                self.tell(placed, id, EventKind::Moved { moves }, || spot.landing());
                (sequence, moves.saturating_add(1), false)
            }
            Origin::New(mut reveal) => {
                let sat = if reveal.is_unbound { None } else { sats.and_then(|sats| sats.at(flotsam.offset)) };
                let sequence = self.number(placed, &mut reveal, &spot, sat, rows)?;
                // Through the fees it has moved once already.
                let is_moved = reveal.is_paid && !reveal.is_unbound;
                (sequence, u32::from(is_moved), reveal.is_unbound)
            }
        };
        if is_unbound {
            let offset = self.totals.unbound;
            self.totals.unbound += 1;
            let location = Location { outpoint: unbound_outpoint(), offset, moves, is_burned: false };
            rows.put(&LOCATIONS, &sequence.to_be_bytes(), &location.encode())?;
            rows.put(&NOWHERE, &nowhere_key(UNBOUND, sequence), &[])?;
        } else if spot.script.is_none() {
            let location = Location { outpoint: spot.outpoint, offset: spot.offset, moves, is_burned: false };
            rows.put(&LOCATIONS, &sequence.to_be_bytes(), &location.encode())?;
            rows.put(&NOWHERE, &nowhere_key(LOST, sequence), &[])?;
        } else {
            let arrival = Some(Arrival { moves, is_burned: spot.is_burned() });
            let held = HeldInscription { sequence, offset: spot.offset, arrival };
            holdings.put_inscription(spot.outpoint, held);
        }
        Ok(())
    }

    /// Numbers a new inscription and writes its rows.
    fn number(
        &mut self,
        placed: Placed<'_>,
        reveal: &mut Reveal,
        spot: &Spot<'_>,
        sat: Option<u64>,
        rows: &mut ModuleWriter<'_>,
    ) -> Result<u32, ModuleError> {
        let sequence = rows.sequence_len(&INSCRIPTIONS)?;
        let place = rows.append(if reveal.is_cursed { &CURSED } else { &BLESSED }, &sequence.to_be_bytes())?;
        let full = || ModuleError::Block(format!("block {}: there are no inscription numbers left", self.block.id));
        let place = i32::try_from(place).map_err(|_| full())?;
        let number = if reveal.is_cursed { !place } else { place };
        let mut parents = Vec::new();
        for parent in &reveal.parents {
            // One of the same transaction that lands later has no number yet.
            if let Some(parent) = sequence_of_id(rows, parent)? {
                let place = u32::try_from(self.count_child(parent, rows)?).map_err(|_| full())?;
                rows.put(&CHILDREN, &child_key(parent, place), &sequence.to_be_bytes())?;
                parents.push(parent);
            }
        }
        if let Some(sat) = sat {
            rows.put(&INSCRIBED_SATS, &[&sat.to_be_bytes()[..], &sequence.to_be_bytes()].concat(), &[])?;
        }
        let charms = charms(reveal, spot, sat);
        let (height, time) = (self.block.id.height, self.block.block.header.time);
        let id = reveal.id;
        let row = InscriptionRow { id, number, fee: reveal.fee, height, time, charms, sat, parents };
        rows.append(&INSCRIPTIONS, &row.encode())?;
        rows.put(&IDS, &id_key(&id), &sequence.to_be_bytes())?;
        self.highest.add(reveal.fee, sequence);
        self.tell_number(placed, reveal, spot, number);
        Ok(sequence)
    }

    /// Counts a child; answers how many there were before it.
    fn count_child(&mut self, parent: u32, rows: &ModuleWriter<'_>) -> Result<u64, ModuleError> {
        let count = match self.child_counts.get(&parent) {
            Some(count) => *count,
            None => child_count(rows.get(&CHILD_COUNTS, &parent.to_be_bytes())?.as_deref())?,
        };
        self.child_counts.insert(parent, count + 1);
        Ok(count)
    }

    /// Reports a new inscription, or gives the event that did so its number.
    fn tell_number(&mut self, placed: Placed<'_>, reveal: &mut Reveal, spot: &Spot<'_>, given: i32) {
        let id = Some(reveal.id);
        if !reveal.is_paid {
            let is_unbound = reveal.is_unbound;
            let landing = || if is_unbound { Landing::Lost } else { spot.landing() };
            self.tell(placed, id, revealed_event(reveal, given), landing);
            return;
        }
        let told = reveal.event.and_then(|event| self.events.get_mut(event));
        if let Some(InscriptionEvent { kind: EventKind::Revealed { number, .. }, .. }) = told {
            *number = given;
        }
        if !reveal.is_unbound {
            self.tell(placed, id, EventKind::Moved { moves: 0 }, || spot.landing());
        }
    }

    /// Notes an event if events are wanted; answers its place.
    fn tell(
        &mut self,
        placed: Placed<'_>,
        id: Option<InscriptionId>,
        kind: EventKind,
        landing: impl FnOnce() -> Landing,
    ) -> Option<usize> {
        let id = id.filter(|_| self.listener.is_some_and(|listener| listener.wants(&kind)))?;
        self.events.push(InscriptionEvent { txid: placed.txid, place: placed.place, id, landing: landing(), kind });
        Some(self.events.len() - 1)
    }
}

fn location(rows: &ModuleWriter<'_>, sequence: u32) -> Result<Location, ReadError> {
    let row = rows.get(&LOCATIONS, &sequence.to_be_bytes())?.ok_or_else(|| ReadError::missing(&LOCATIONS))?;
    Location::decode(&row).map_err(ReadError::of(&LOCATIONS))
}

/// Whether one is on the sat already. The first of a sat whose only predecessor was cursed, or would have been, is not.
fn is_cursed_again(rows: &ModuleWriter<'_>, on_sat: Option<&OnSat>) -> Result<bool, ReadError> {
    let Some(on_sat) = on_sat else { return Ok(false) };
    let (1, Some(first)) = (on_sat.count, on_sat.first) else { return Ok(true) };
    let first = inscription(rows, first)?;
    Ok(first.number >= 0 && !Charm::Vindicated.is_set(first.charms))
}

fn charms(reveal: &Reveal, spot: &Spot<'_>, sat: Option<u64>) -> u16 {
    let mut charms = sat.map_or(0, |sat| Sat(sat).charms());
    let given = [
        (Charm::Cursed, reveal.is_cursed),
        (Charm::Reinscription, reveal.is_reinscription),
        (Charm::Burned, spot.is_burned()),
        (Charm::Lost, spot.script.is_none()),
        (Charm::Unbound, reveal.is_unbound),
        (Charm::Vindicated, reveal.is_vindicated),
    ];
    for (charm, _) in given.into_iter().filter(|(_, is_given)| *is_given) {
        charm.set(&mut charms);
    }
    charms
}

/// The event of a reveal, which is reported once: it takes what the envelope says.
fn revealed_event(reveal: &mut Reveal, number: i32) -> EventKind {
    EventKind::Revealed {
        number,
        is_vindicated: reveal.is_vindicated,
        is_first_on_sat: !reveal.is_reinscription,
        parents: reveal.parents.clone(),
        said: reveal.said.take(),
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
pub(crate) fn child_key(parent: u32, place: u32) -> [u8; 8] {
    (u64::from(parent) << 32 | u64::from(place)).to_be_bytes()
}

fn nowhere_key(place: u8, sequence: u32) -> [u8; 5] {
    let [a, b, c, d] = sequence.to_be_bytes();
    [place, a, b, c, d]
}
