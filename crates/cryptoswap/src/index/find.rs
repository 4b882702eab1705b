//! Derives the effects of a block on pools from its traces. Nothing is written here.

use std::collections::{BTreeMap, BTreeSet};

use bitcoin::{Transaction, Txid};
use paraffin_alkanes::{BlockTrace, Transfer};
use paraffin_amm::{Action, Call, Event, PoolIdentity, Senders, calls};
use paraffin_primitives::{AlkaneId, Height};
use paraffin_store::ModuleWriter;
use ruint::aliases::U256;

use super::calls::{Visit, visits, writes};
use super::rows::{BlockSummary, Identity, PoolRow, SwapRow, decode_count, decode_slot, id_key, slot_key};
use super::rules::Operation;
use super::slots::{Slot, alkane_id, integer};
use super::state::PoolState;
use super::tables::{COUNTS, POOLS, SLOTS};
use super::{CanonicalPool, ContractFacts, IndexError, PoolRules};

/// Most contracts that are called in one block to see whether they are pools. Further ones are called when they next write their
/// curve.
const PROBES_MAX: usize = 32;

/// Key in table `counts`.
pub(crate) const POOL_COUNT: &[u8] = b"pools";

/// Precision of a coin of 8 decimals, for contracts that do not report it.
const PRECISION_DEFAULT: U256 = U256::from_limbs([10_000_000_000, 0, 0, 0]);

/// The effects of a block on pools and on contracts that may be pools.
#[derive(Debug, Default)]
pub(crate) struct BlockFindings {
    pub(crate) contracts: BTreeMap<AlkaneId, Contract>,
    /// Trades, deposits and withdrawals, in the order in which their calls began.
    pub(crate) events: Vec<Event>,
    pub(crate) summary: BlockSummary,
}

/// The state of a contract's row in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum News {
    /// Its row is the stored one.
    Nothing,
    /// Its row has changed.
    Met,
    /// It was found to be a pool.
    IsPool,
}

/// The effects of a block on one contract.
#[derive(Debug)]
pub(crate) struct Contract {
    pub(crate) row: PoolRow,
    pub(crate) news: News,
    /// Slots by name: the last writer, and the value.
    pub(crate) slots: BTreeMap<Vec<u8>, (Option<Txid>, Vec<u8>)>,
    pub(crate) swaps: Vec<SwapRow>,
    pub(crate) state: Option<PoolState>,
    /// Whether anything was stored.
    is_changed: bool,
    /// Whether the contract's curve was written, so that it is called.
    has_curve: bool,
    /// Whether it was created as a pool in this block.
    has_begun: bool,
    /// The last transaction that called it.
    newest: Option<Txid>,
}

/// Position and transactions of the block whose traces are read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockContext<'b> {
    pub(crate) height: Height,
    pub(crate) time: u32,
    pub(crate) txids: &'b [Txid],
    pub(crate) transactions: &'b [Transaction],
}

/// Looks through the traces of a block.
pub(crate) fn find(
    rules: &PoolRules,
    block: BlockContext<'_>,
    facts: &dyn ContractFacts,
    rows: &ModuleWriter<'_>,
) -> Result<BlockFindings, IndexError> {
    let traces: Vec<BlockTrace> = facts.traces()?.into_iter().filter(|trace| trace.stands).collect();
    let messages: Vec<(&BlockTrace, Vec<Call<'_>>)> = traces.iter().map(|trace| (trace, calls(&trace.trace))).collect();
    let mut search = Search { rules, block, facts, rows, found: BlockFindings::default(), senders: None };
    search.meet(&messages)?;
    if search.found.contracts.is_empty() {
        return Ok(search.found);
    }
    for (trace, calls) in &messages {
        search.note_writes(trace, calls)?;
    }
    search.identify()?;
    let mut touching = BTreeSet::new();
    for (trace, calls) in &messages {
        for visit in visits(calls) {
            if search.count(trace, &visit)? {
                touching.insert(trace.transaction_index);
            }
        }
    }
    search.found.summary.transactions = touching.len() as u32;
    search.read_states()?;
    Ok(search.found)
}

struct Search<'s> {
    rules: &'s PoolRules,
    block: BlockContext<'s>,
    facts: &'s dyn ContractFacts,
    rows: &'s ModuleWriter<'s>,
    found: BlockFindings,
    /// Senders of the transaction that was looked up last.
    senders: Option<(u32, Senders<'s>)>,
}

impl Search<'_> {
    /// Picks the contracts that are pools or may be: those with a row, canonical ones, and those that wrote a curve.
    fn meet(&mut self, messages: &[(&BlockTrace, Vec<Call<'_>>)]) -> Result<(), IndexError> {
        let mut met: BTreeMap<AlkaneId, [bool; 2]> = BTreeMap::new();
        let curve = [Slot::PriceScale, Slot::D].map(|slot| self.rules.slots.name(slot));
        for call in messages.iter().flat_map(|(_, calls)| calls).filter(|call| call.stands) {
            let [wrote_curve, saw_init] = met.entry(call.context.myself).or_default();
            let storage = call.response.map_or(&[][..], |response| &response.storage);
            *wrote_curve |= storage.iter().any(|(name, _)| curve.contains(&name.as_slice()));
            let opcode = call.context.inputs.first().copied();
            *saw_init |= self.rules.opcodes.operation(opcode) == Operation::Init;
        }
        for (id, [wrote_curve, saw_init]) in met {
            if !is_nameable(id) {
                continue;
            }
            let stored = self.rows.get(&POOLS, &id_key(id))?;
            if stored.is_none() && !wrote_curve && self.rules.canonical(id).is_none() {
                continue;
            }
            let row = stored.as_deref().map(PoolRow::decode).transpose()?;
            let BlockContext { height: first_height, time: first_time, .. } = self.block;
            let mut now = row.unwrap_or(PoolRow { first_height, first_time, from_init: false, identity: None });
            now.from_init |= saw_init;
            let contract = Contract {
                row: now,
                news: if row == Some(now) { News::Nothing } else { News::Met },
                slots: BTreeMap::new(),
                swaps: Vec::new(),
                state: None,
                is_changed: false,
                has_curve: wrote_curve,
                has_begun: saw_init,
                newest: None,
            };
            self.found.contracts.insert(id, contract);
        }
        Ok(())
    }

    fn txid(&self, trace: &BlockTrace) -> Result<Txid, IndexError> {
        let txid = self.block.txids.get(trace.transaction_index as usize).copied();
        txid.filter(|txid| *txid == trace.outpoint.txid).ok_or_else(|| IndexError::Mismatch {
            height: self.block.height,
            what: format!("transaction {} is not that of {}", trace.transaction_index, trace.outpoint),
        })
    }

    fn note_writes(&mut self, trace: &BlockTrace, calls: &[Call<'_>]) -> Result<(), IndexError> {
        for (id, name, value) in writes(calls) {
            if !self.found.contracts.contains_key(&id) {
                continue;
            }
            let txid = self.txid(trace)?;
            if let Some(contract) = self.found.contracts.get_mut(&id) {
                contract.is_changed = true;
                contract.newest = Some(txid);
                contract.slots.insert(name.to_vec(), (Some(txid), value.to_vec()));
            }
        }
        Ok(())
    }

    /// Calls the contracts that are not identified as pools, and numbers new pools.
    fn identify(&mut self) -> Result<(), IndexError> {
        let Self { rules, facts, rows, found: BlockFindings { contracts, summary, .. }, .. } = self;
        let mut number = decode_count("counts", rows.get(&COUNTS, POOL_COUNT)?.as_deref())?;
        let mut probes = 0;
        for (id, contract) in contracts {
            let known = rules.canonical(*id);
            if let Some(before) = contract.row.identity {
                // A canonical pool can be configured before it is created; then its creation shows its coins.
                if known.is_some()
                    && contract.has_begun
                    && let Some(identity) = read_identity(*id, before.number, known, rules, *facts)?
                    && identity != before
                {
                    contract.row.identity = Some(identity);
                    contract.news = News::Met;
                }
                continue;
            }
            if known.is_none() {
                if !contract.has_curve || probes == PROBES_MAX {
                    continue;
                }
                probes += 1;
                // Figures are answered as 256-bit integers.
                let answer = facts.ask(*id, rules.opcodes.lp_price)?;
                if answer.is_none_or(|answer| answer.len() != 32) {
                    continue;
                }
            }
            let Some(identity) = read_identity(*id, number, known, rules, *facts)? else { continue };
            contract.row.identity = Some(identity);
            contract.news = News::IsPool;
            number = number.checked_add(1).ok_or_else(|| IndexError::Damaged("there are too many pools".to_owned()))?;
            summary.new_pools += 1;
        }
        Ok(())
    }

    /// Counts a visit. Returns whether it was to a pool.
    fn count(&mut self, trace: &BlockTrace, visit: &Visit<'_>) -> Result<bool, IndexError> {
        let Some(identity) = self.found.contracts.get(&visit.contract).and_then(|contract| contract.row.identity)
        else {
            return Ok(false);
        };
        let txid = self.txid(trace)?;
        let BlockFindings { contracts, summary, .. } = &mut self.found;
        let Some(contract) = contracts.get_mut(&visit.contract) else { return Ok(false) };
        contract.newest = Some(txid);
        let mut action = None;
        match self.rules.opcodes.operation(visit.opcode) {
            Operation::Exchange => {
                if let Some(trade) = visit.trade(identity.coins) {
                    summary.swaps += 1;
                    let moved = |coin: usize, value| Transfer { id: identity.coins[coin], value };
                    action = Some(Action::Swap {
                        pool: pool_identity(visit.contract, &identity),
                        sold: moved(trade.sold, trade.amount_in),
                        bought: moved(1 - trade.sold, trade.amount_out),
                    });
                    contract.swaps.push(SwapRow {
                        height: self.block.height,
                        time: self.block.time,
                        txid,
                        vout: trace.outpoint.vout,
                        zero_for_one: (trade.sold == 0) == identity.coin0_is_token0(),
                        amount_in: trade.amount_in,
                        amount_out: trade.amount_out,
                    });
                }
            }
            operation @ (Operation::AddLiquidity | Operation::RemoveLiquidity) => {
                let is_deposit = operation == Operation::AddLiquidity;
                *(if is_deposit { &mut summary.deposits } else { &mut summary.withdrawals }) += 1;
                let (amounts, liquidity) = visit.liquidity(is_deposit, identity.coins);
                let (pool, amounts) = (pool_identity(visit.contract, &identity), identity.to_tokens(amounts));
                action = Some(if is_deposit {
                    Action::Mint { pool, amounts, liquidity }
                } else {
                    Action::Burn { pool, amounts, liquidity }
                });
            }
            Operation::ClaimFees => summary.claims += 1,
            Operation::Admin => summary.admin += 1,
            Operation::Init | Operation::Other => {}
        }
        if let Some(action) = action {
            self.note(trace, action);
        }
        Ok(true)
    }

    /// Records an event with its sender.
    fn note(&mut self, trace: &BlockTrace, action: Action) {
        let BlockContext { height, time, transactions, .. } = self.block;
        let (transaction, vout) = (trace.transaction_index, trace.outpoint.vout);
        if self.senders.as_ref().is_none_or(|(known, _)| *known != transaction) {
            let read = transactions.get(transaction as usize);
            self.senders = read.map(|read| (transaction, Senders::of_transaction(read)));
        }
        let sender = self.senders.as_ref().and_then(|(_, senders)| senders.of(vout));
        let (protostone, actor) = sender.map_or((0, None), |sender| (sender.protostone, sender.actor));
        let last = self.found.events.last().filter(|last| last.position.transaction == transaction);
        let event = last.map_or(0, |last| last.position.event + 1);
        self.found.events.push(Event {
            position: paraffin_amm::ChainPosition { height, transaction, event },
            txid: trace.outpoint.txid,
            time,
            protostone,
            vout,
            actor,
            successful: true,
            action,
        });
    }

    /// Reads the slots of the pools that have changed. Writes that a contract passes to another call leave no trace, so the
    /// state decides, and slots that differ from it are corrected.
    fn read_states(&mut self) -> Result<(), IndexError> {
        let Self { rules, block, facts, rows, found, .. } = self;
        for (id, contract) in &mut found.contracts {
            let Some(identity) = contract.row.identity else { continue };
            if !contract.is_changed && contract.news != News::IsPool {
                continue;
            }
            let at = (block.height, block.time);
            contract.state = PoolState::read(at, *id, &identity, &rules.slots, *facts)?;
            let is_watched_from_birth = contract.news != News::IsPool || contract.row.from_init;
            let writer = contract.newest.filter(|_| is_watched_from_birth);
            for slot in Slot::ALL {
                let name = rules.slots.name(*slot);
                let Some(value) = facts.storage(*id, name)? else { continue };
                let known = match contract.slots.get(name) {
                    Some((_, known)) => Some(known.clone()),
                    None => {
                        let stored = rows.get(&SLOTS, &slot_key(*id, name))?;
                        stored.as_deref().map(decode_slot).transpose()?.map(|(_, value)| value)
                    }
                };
                if known.as_ref() != Some(&value) {
                    contract.slots.insert(name.to_vec(), (writer, value));
                }
            }
        }
        Ok(())
    }
}

/// Coins and precisions as the contract reports them, or as configured; `None` when its coins have no ids that messages can name.
fn read_identity(
    id: AlkaneId,
    number: u32,
    known: Option<&CanonicalPool>,
    rules: &PoolRules,
    facts: &dyn ContractFacts,
) -> Result<Option<Identity>, IndexError> {
    let slot = |slot| facts.storage(id, rules.slots.name(slot));
    let mut coins = [AlkaneId::default(); 2];
    for (index, name) in [Slot::Coin0, Slot::Coin1].into_iter().enumerate() {
        let stored = slot(name)?.as_deref().and_then(alkane_id).or(known.map(|known| known.coins[index]));
        let Some(coin) = stored.filter(|coin| is_nameable(*coin)) else { return Ok(None) };
        coins[index] = coin;
    }
    if coins[0] == coins[1] {
        return Ok(None);
    }
    let mut precisions = [PRECISION_DEFAULT; 2];
    for (precision, name) in precisions.iter_mut().zip([Slot::Precision0, Slot::Precision1]) {
        let stored = slot(name)?.as_deref().and_then(integer);
        *precision = stored.filter(|stored| !stored.is_zero()).unwrap_or(PRECISION_DEFAULT);
    }
    Ok(Some(Identity { number, coins, precisions }))
}

/// A pool as events name it: of no factory, which is written as 0:0.
fn pool_identity(id: AlkaneId, identity: &Identity) -> PoolIdentity {
    PoolIdentity { id, factory: AlkaneId::default(), tokens: identity.tokens() }
}

/// Whether the messages of the pool index can name an id.
fn is_nameable(id: AlkaneId) -> bool {
    u32::try_from(id.block).is_ok() && u64::try_from(id.tx).is_ok()
}
