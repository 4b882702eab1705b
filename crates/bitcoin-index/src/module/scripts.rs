use std::collections::HashMap;

use bitcoin::hashes::Hash;
use bitcoin::{Script, TxOut, Txid};
use paraffin_primitives::ConnectedBlock;
use paraffin_store::{ModuleError, ModuleWriter, read_together};

use super::history_bounds::HistoryBounds;
use super::recent::DigestHashing;
use crate::activity::{
    READ_BY_ONE, RowSource, busy_totals, history_numbers, read_page, script_activities, script_activity,
};
use crate::error::ReadError;
use crate::rows::{
    Funding, HistoryRow, PrefixWidth, ScriptTotals, UnspentRow, encode_spender, history_key, history_value,
    page_number, spend_key, unspent_key,
};
use crate::script_key::{ScriptKey, script_digest};
use crate::tables::{HISTORY, SCRIPT_TOTALS, SPENDS, UNSPENT};

/// A script becomes busy when it is counted with this many transactions.
const BUSY_TRANSACTIONS: u8 = 32;
/// A script that is not busy is counted when a block brings it a new transaction, with a chance of one in this many for
/// each; so it stays quiet beyond [`BUSY_TRANSACTIONS`] + n transactions with a probability of (31/32)^n.
const COUNTING_ODDS: u64 = 32;

/// Scripts of a block that one thread counts. Each is looked for in most files of the table, which during an import costs tens of reads of
/// the disk, one after the other.
const COUNTED_BY_ONE: usize = 1;

/// The fundings and spends of one block by script.
pub(super) struct BlockScripts<'a> {
    block: &'a ConnectedBlock,
    first_number: u32,
    /// Positions in `scripts` by digest.
    script_indexes: HashMap<[u8; 32], u32, DigestHashing>,
    scripts: Vec<BlockScript<'a>>,
    events: Vec<Event>,
}

struct BlockScript<'a> {
    script: &'a Script,
    digest: [u8; 32],
}

#[derive(Clone, Copy)]
struct Event {
    /// Position in `scripts`.
    script: u32,
    /// Transaction of this block that did it.
    number: u32,
    kind: EventKind,
    funding: Funding,
    satoshis: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EventKind {
    Funded,
    Spent,
    /// An earlier coinbase lost the output (BIP30).
    Withdrawn,
}

impl<'a> BlockScripts<'a> {
    pub(super) fn new(block: &'a ConnectedBlock, first_number: u32) -> Self {
        let expected = block.block.txdata.len() * 4;
        Self {
            block,
            first_number,
            script_indexes: HashMap::with_capacity_and_hasher(expected, DigestHashing::default()),
            scripts: Vec::with_capacity(expected),
            events: Vec::with_capacity(expected),
        }
    }

    /// Transaction `index` pays `output`, whose script has this digest if it is known.
    pub(super) fn funded(&mut self, index: usize, vout: u32, output: &'a TxOut, digest: Option<[u8; 32]>) {
        let funding = Funding { number: self.first_number + index as u32, vout };
        self.push(EventKind::Funded, funding.number, funding, output, digest);
    }

    /// Transaction `index` spends `output`, which is `funding` and whose script has this digest if it is known.
    pub(super) fn spent(&mut self, index: usize, funding: Funding, output: &'a TxOut, digest: Option<[u8; 32]>) {
        self.push(EventKind::Spent, self.first_number + index as u32, funding, output, digest);
    }

    /// The coinbase of this block replaces the coinbase `number` and its `output`.
    pub(super) fn withdrawn(&mut self, number: u32, vout: u32, output: &'a TxOut) {
        self.push(EventKind::Withdrawn, self.first_number, Funding { number, vout }, output, None);
    }

    fn push(&mut self, kind: EventKind, number: u32, funding: Funding, output: &'a TxOut, digest: Option<[u8; 32]>) {
        let script = output.script_pubkey.as_script();
        let digest = digest.unwrap_or_else(|| script_digest(script));
        let next = self.scripts.len() as u32;
        let index = *self.script_indexes.entry(digest).or_insert(next);
        if index == next {
            self.scripts.push(BlockScript { script, digest });
        }
        self.events.push(Event { script: index, number, kind, funding, satoshis: output.value.to_sat() });
    }

    /// Writes history, and totals, unspent outputs and spends of the busy scripts. All other rows of the block are there.
    pub(super) fn write(
        mut self,
        rows: &mut ModuleWriter<'_>,
        width: PrefixWidth,
        bounds: &mut HistoryBounds,
    ) -> Result<(), ModuleError> {
        self.sort_events();
        bounds.begin_block(self.block.id.height);
        let are_below = self.write_history(rows, width, bounds)?;
        bounds.end_block(self.block.id.height);
        let mut to_count = Vec::new();
        let of_prefixes = self.events.chunk_by(|left, right| self.same_prefix(width, left, right)).zip(are_below);
        let looked_at = of_prefixes.filter(|(_, is_below)| !is_below).map(|(events, _)| events);
        for events in looked_at.flat_map(|events| events.chunk_by(|left, right| left.script == right.script)) {
            let script = &self.scripts[events[0].script as usize];
            match busy_totals(rows, &script.digest)? {
                Some(totals) => self.update_busy(rows, script, totals, events)?,
                None if self.is_to_be_counted(script, transaction_count(events)) => to_count.push(script),
                None => {}
            }
        }
        let are_busy = read_together(&to_count, COUNTED_BY_ONE, |script| has_busy_history(rows, width, script))?;
        let busy = to_count.iter().zip(are_busy).filter(|(_, is_busy)| *is_busy);
        let busy: Vec<ScriptKey> = busy.map(|(script, _)| ScriptKey::from_script(script.script)).collect();
        make_busy(rows, width, &busy)
    }

    /// Puts the events in order of their scripts' digests, and those of a script in the order of the block.
    fn sort_events(&mut self) {
        let scripts = &self.scripts;
        // The first eight bytes distinguish nearly all digests.
        let head = |digest: &[u8; 32]| digest.first_chunk::<8>().map_or(0, |head| u64::from_be_bytes(*head));
        let mut order: Vec<(u64, u32)> =
            (0..).zip(scripts).map(|(index, script)| (head(&script.digest), index)).collect();
        order.sort_unstable_by(|(left_head, left), (right_head, right)| {
            let digest = |index: &u32| &scripts[*index as usize].digest;
            left_head.cmp(right_head).then_with(|| digest(left).cmp(digest(right)))
        });
        // Where the events of each script begin.
        let mut counts = vec![0_u32; scripts.len()];
        for event in &self.events {
            counts[event.script as usize] += 1;
        }
        let mut begins = vec![0_u32; scripts.len()];
        let mut next = 0;
        for (_, index) in order {
            begins[index as usize] = next;
            next += counts[index as usize];
        }
        let mut sorted = vec![0_u32; self.events.len()];
        for (index, event) in (0..).zip(&self.events) {
            let begin = &mut begins[event.script as usize];
            sorted[*begin as usize] = index;
            *begin += 1;
        }
        self.events = sorted.into_iter().map(|index| self.events[index as usize]).collect();
    }

    fn prefix(&self, width: PrefixWidth, event: &Event) -> [u8; 8] {
        width.prefix(&self.scripts[event.script as usize].digest)
    }

    fn same_prefix(&self, width: PrefixWidth, left: &Event, right: &Event) -> bool {
        left.script == right.script || self.prefix(width, left) == self.prefix(width, right)
    }

    /// One row for each script prefix of the block. Scripts that share a prefix share the row: readers compare scripts. Returns for each
    /// whether it has too few transactions for a busy script for certain.
    fn write_history(
        &self,
        rows: &mut ModuleWriter<'_>,
        width: PrefixWidth,
        bounds: &mut HistoryBounds,
    ) -> Result<Vec<bool>, ModuleError> {
        let mut numbers = Vec::new();
        let mut counts = Vec::with_capacity(self.scripts.len());
        for events in self.events.chunk_by(|left, right| self.same_prefix(width, left, right)) {
            let prefix = self.prefix(width, &events[0]);
            numbers.clear();
            numbers.extend(events.iter().filter(|event| event.kind != EventKind::Withdrawn).map(|event| event.number));
            numbers.sort_unstable();
            numbers.dedup();
            counts.push((prefix, events.iter().filter(|event| event.kind == EventKind::Funded).count()));
            if let Some(first) = numbers.first() {
                rows.put(&HISTORY, &history_key(prefix, *first), &history_value(&numbers))?;
            }
        }
        Ok(bounds.count(&counts, BUSY_TRANSACTIONS))
    }

    /// Brings totals, unspent outputs and spends of a busy script up to date.
    fn update_busy(
        &self,
        rows: &mut ModuleWriter<'_>,
        script: &BlockScript<'_>,
        mut totals: ScriptTotals,
        events: &[Event],
    ) -> Result<(), ModuleError> {
        let mut withdrawn = None;
        totals.tx_count += transaction_count(events);
        for event in events {
            let unspent = unspent_key(&script.digest, event.funding);
            match event.kind {
                EventKind::Funded => {
                    totals.funded_txo_count += 1;
                    totals.funded_txo_sum = totals.funded_txo_sum.saturating_add(event.satoshis);
                    let row =
                        UnspentRow { txid: self.txid(event), height: self.block.id.height, satoshis: event.satoshis };
                    rows.put(&UNSPENT, &unspent, &row.encode())?;
                }
                EventKind::Spent => {
                    totals.spent_txo_count += 1;
                    totals.spent_txo_sum = totals.spent_txo_sum.saturating_add(event.satoshis);
                    rows.delete(&UNSPENT, &unspent)?;
                    put_spend(rows, event.funding, event.number)?;
                }
                EventKind::Withdrawn => {
                    totals.funded_txo_count = totals.funded_txo_count.saturating_sub(1);
                    totals.funded_txo_sum = totals.funded_txo_sum.saturating_sub(event.satoshis);
                    if withdrawn != Some(event.funding.number) {
                        totals.tx_count = totals.tx_count.saturating_sub(1);
                        withdrawn = Some(event.funding.number);
                    }
                    rows.delete(&UNSPENT, &unspent)?;
                }
            }
        }
        rows.put(&SCRIPT_TOTALS, &script.digest, &totals.encode())?;
        Ok(())
    }

    /// Id of the transaction of this block that an event is of.
    fn txid(&self, event: &Event) -> Txid {
        self.block.txids[(event.number - self.first_number) as usize]
    }

    /// Draws from the hashes of block and script, so every instance draws alike and no attacker can dodge it by timing.
    fn is_to_be_counted(&self, script: &BlockScript<'_>, transactions: u64) -> bool {
        draw(self.block, &script.digest) < transactions
    }
}

/// Distinct transactions of the block among the events of one script, which are in the order of the block.
fn transaction_count(events: &[Event]) -> u64 {
    let mut count = 0;
    let mut last = None;
    for event in events.iter().filter(|event| event.kind != EventKind::Withdrawn) {
        count += u64::from(last != Some(event.number));
        last = Some(event.number);
    }
    count
}

fn put_spend(rows: &mut ModuleWriter<'_>, funding: Funding, spender: u32) -> Result<(), ModuleError> {
    Ok(rows.put(&SPENDS, &spend_key(funding), &encode_spender(funding.number, spender))?)
}

/// Of a script of the block with this digest, below [`COUNTING_ODDS`].
fn draw(block: &ConnectedBlock, digest: &[u8; 32]) -> u64 {
    u64::from(block.id.hash.to_byte_array()[0] ^ digest[31]) % COUNTING_ODDS
}

/// Scripts of a block that it will count if they are not busy yet, but for some of those with several transactions in it.
pub(super) fn drawn(block: &ConnectedBlock, width: PrefixWidth, bounds: &HistoryBounds) -> Vec<ScriptKey> {
    let Some(digests) = &block.script_digests else { return Vec::new() };
    let made = block.block.txdata.iter().flat_map(|transaction| &transaction.output).zip(&digests.outputs);
    let spent = block.spent.iter().flatten().flatten().zip(&digests.spent);
    let is_drawn =
        |digest: &[u8; 32]| draw(block, digest) == 0 && !bounds.is_below(width.prefix(digest), BUSY_TRANSACTIONS);
    let mut drawn: Vec<(&TxOut, &[u8; 32])> = made.chain(spent).filter(|(_, digest)| is_drawn(digest)).collect();
    drawn.sort_unstable_by_key(|(_, digest)| *digest);
    drawn.dedup_by_key(|(_, digest)| *digest);
    drawn.into_iter().map(|(output, _)| ScriptKey::from_script(&output.script_pubkey)).collect()
}

/// Reads what is read of scripts that a block counts: their histories, and the transactions of those that become busy, each once however many
/// of the scripts it has. Nothing is made of them.
///
/// # Errors
/// Those of the reads; the block reads in its turn what is left.
pub(super) fn read_histories(
    rows: &impl RowSource,
    width: PrefixWidth,
    scripts: &[ScriptKey],
) -> Result<(), ReadError> {
    let read = |script: &ScriptKey| {
        if busy_totals(rows, script.digest())?.is_some() {
            return Ok::<_, ReadError>(Vec::new());
        }
        let mut numbers = history_numbers(rows, width, script)?;
        // The block itself adds one transaction at least.
        if numbers.len() + 1 < usize::from(BUSY_TRANSACTIONS) {
            numbers.clear();
        }
        Ok(numbers)
    };
    let mut numbers: Vec<u32> = read_together(scripts, COUNTED_BY_ONE, read)?.into_iter().flatten().collect();
    numbers.sort_unstable();
    numbers.dedup_by_key(|number| page_number(*number));
    read_together(&numbers, READ_BY_ONE, |number| read_page(rows, *number).map(drop)).map(drop)
}

/// Whether the script's history has reached [`BUSY_TRANSACTIONS`]; reads no more rows than that.
fn has_busy_history(
    rows: &ModuleWriter<'_>,
    width: PrefixWidth,
    script: &BlockScript<'_>,
) -> Result<bool, ModuleError> {
    let mut transactions = 0;
    let enough = usize::from(BUSY_TRANSACTIONS);
    for (key, value) in rows.prefix_rows(&HISTORY, &width.prefix(&script.digest), enough)? {
        let row = HistoryRow::decode(&key, &value).map_err(|error| ReadError::damaged(&HISTORY, error))?;
        transactions += row.numbers().len();
    }
    Ok(transactions >= enough)
}

/// Writes what busy scripts have beyond quiet ones, from their whole history with this block.
fn make_busy(rows: &mut ModuleWriter<'_>, width: PrefixWidth, keys: &[ScriptKey]) -> Result<(), ModuleError> {
    let activities = script_activities(rows, width, keys)?;
    for (key, activity) in keys.iter().zip(activities) {
        for output in &activity.outputs {
            match output.spender {
                Some(spender) => put_spend(rows, output.funding, spender)?,
                None => rows.put(&UNSPENT, &unspent_key(key.digest(), output.funding), &output.row.encode())?,
            }
        }
        rows.put(&SCRIPT_TOTALS, key.digest(), &activity.totals.encode())?;
    }
    Ok(())
}

/// Whether any of the `outputs` of transaction `number` was spent in an earlier block.
pub(super) fn any_output_spent(
    rows: &ModuleWriter<'_>,
    width: PrefixWidth,
    number: u32,
    outputs: &[TxOut],
) -> Result<bool, ModuleError> {
    for (vout, output) in (0u32..).zip(outputs) {
        let funding = Funding { number, vout };
        let key = ScriptKey::from_script(&output.script_pubkey);
        let spent = if busy_totals(rows, key.digest())?.is_some() {
            rows.get(&SPENDS, &spend_key(funding))?.is_some()
        } else {
            let activity = script_activity(rows, width, &key)?;
            activity.outputs.iter().any(|owned| owned.funding == funding && owned.spender.is_some())
        };
        if spent {
            return Ok(true);
        }
    }
    Ok(false)
}
