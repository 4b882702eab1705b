//! What happened on markets, replayed from raw traces: every transfer of every call is booked in one ledger, and what an
//! operation moved is the difference that it made to what the pool has.

use std::collections::{BTreeMap, HashMap};

use bitcoin::ScriptBuf;
use paraffin_alkanes::{BlockTrace, CallKind, TraceContext, Transfer};
use paraffin_amm::{Action, ChainPosition, Event, PoolIdentity};
use paraffin_primitives::{AlkaneId, ConnectedBlock};

use crate::raw::{self, Frame};

const NOBODY: AlkaneId = AlkaneId { block: 0, tx: 0 };
const WRAPPED_BITCOIN: AlkaneId = AlkaneId { block: 32, tx: 0 };
/// Scripts longer than this have no owner.
const SCRIPT_BYTES_MAX: usize = 520;

const ONLY_ASKED: &str = "operation that was only asked";

/// What was seen beside the events: a run without these cases tests nothing.
#[derive(Debug, Default, Clone)]
pub(crate) struct Census {
    pub(crate) counts: BTreeMap<&'static str, u32>,
}

impl Census {
    pub(crate) fn count(&mut self, what: &'static str, happened: bool) {
        *self.counts.entry(what).or_default() += u32::from(happened);
    }
}

/// Everything up to the end of a block.
#[derive(Default)]
pub(crate) struct History {
    pub(crate) events: Vec<Event>,
    /// Oldest first, each with the position of its creation.
    pub(crate) pools: Vec<(PoolIdentity, ChainPosition)>,
    /// What a contract has of an alkane, by holder. Of itself it may have less than nothing: that is what it has given out.
    ledger: HashMap<(AlkaneId, AlkaneId), i128>,
    storage: HashMap<(AlkaneId, Vec<u8>), Vec<u8>>,
    pub(crate) census: Census,
    /// Operations that have begun and not ended.
    open: u32,
}

/// Where the calls of a message stand.
struct Position<'b> {
    block: &'b ConnectedBlock,
    message: &'b BlockTrace,
    protostone: u32,
    actor: Option<ScriptBuf>,
    /// Number of the transaction's events so far.
    events: u32,
}

enum Operation {
    Initialize(PoolIdentity),
    Add(PoolIdentity),
    Withdraw(PoolIdentity),
    Swap(PoolIdentity),
    Wrap,
    Unwrap,
}

fn signed(value: u128) -> i128 {
    i128::try_from(value).unwrap()
}

fn unsigned(value: i128) -> u128 {
    u128::try_from(value).unwrap_or(0)
}

pub(crate) fn id_of(bytes: &[u8]) -> AlkaneId {
    let half = |bytes: &[u8]| u128::from_le_bytes(bytes.try_into().unwrap());
    AlkaneId { block: half(&bytes[..16]), tx: half(&bytes[16..]) }
}

/// All calls of a message that were meant to be kept, in the order in which they began.
fn active<'f, 't>(frame: &'f Frame<'t>, found: &mut Vec<&'f Frame<'t>>) {
    if frame.kind != CallKind::Static {
        found.push(frame);
        frame.inner.iter().for_each(|inner| active(inner, found));
    }
}

impl History {
    pub(crate) fn holds(&self, who: AlkaneId, what: AlkaneId) -> i128 {
        self.ledger.get(&(who, what)).copied().unwrap_or_default()
    }

    /// The newest value that a contract stored, as a number; 0 when there is none.
    pub(crate) fn number(&self, contract: AlkaneId, slot: &str) -> Option<u128> {
        let stored = self.storage.get(&(contract, slot.as_bytes().to_vec()))?;
        Some(u128::from_le_bytes(stored[..].try_into().unwrap()))
    }

    pub(crate) fn text(&self, contract: AlkaneId, slot: &str) -> String {
        let stored = self.storage.get(&(contract, slot.as_bytes().to_vec()));
        String::from_utf8(stored.cloned().unwrap_or_default()).unwrap()
    }

    pub(crate) fn take_block(&mut self, block: &ConnectedBlock, traces: &[BlockTrace]) {
        let mut events = 0;
        let mut newest = None;
        for message in traces {
            if newest.replace(message.transaction_index) != Some(message.transaction_index) {
                events = 0;
            }
            let transaction = &block.block.txdata[message.transaction_index as usize];
            assert_eq!(message.outpoint.txid, transaction.compute_txid());
            let stones = raw::stones(transaction);
            let protostone = message.outpoint.vout - transaction.output.len() as u32 - 1;
            let pointer = stones[protostone as usize].pointer.and_then(|pointer| usize::try_from(pointer).ok());
            let actor = pointer.and_then(|pointer| transaction.output.get(pointer));
            let actor = actor.map(|output| output.script_pubkey.clone());
            self.census.count("actor without an address", actor.as_ref().is_some_and(|script| script.is_op_return()));
            let actor = actor.filter(|script| script.len() <= SCRIPT_BYTES_MAX);

            let is_void = raw::is_void(&stones, transaction.output.len());
            assert_eq!(message.stands, !is_void, "{}", message.outpoint);
            let tree = raw::tree(&message.trace, &block.block);
            let position = &mut Position { block, message, protostone, actor, events };
            if tree.answer.is_some() && !is_void {
                self.create(&tree, position);
                self.run(&tree, position);
            } else {
                self.fail(&tree, position, tree.answer.is_some());
            }
            events = position.events;
        }
    }

    /// Pools that factories register in this message.
    fn create(&mut self, tree: &Frame<'_>, position: &Position<'_>) {
        let mut calls = Vec::new();
        active(tree, &mut calls);
        for call in &calls {
            let factory = call.context.myself;
            for (key, value) in call.answer.iter().flat_map(|answer| &answer.storage) {
                let is_listed = key.strip_prefix(b"/all_pools/").is_some_and(|index| index.len() == 16);
                let is_own = |other: &&&Frame<'_>| other.context.myself == factory;
                let pool = if is_listed { id_of(value) } else { continue };
                if self.pools.iter().any(|(known, _)| known.id == pool) {
                    continue;
                }
                assert!(
                    calls.iter().filter(is_own).any(|call| call.created.contains(&pool)),
                    "{pool} was not created here"
                );
                let token = |slot: &[u8]| {
                    let mut answers =
                        calls.iter().filter(|call| call.context.myself == pool).filter_map(|call| call.answer);
                    answers
                        .find_map(|answer| answer.storage.iter().find(|(key, _)| key == slot).map(|(_, id)| id_of(id)))
                };
                let tokens = [token(b"/alkane/0").unwrap(), token(b"/alkane/1").unwrap()];
                let created = ChainPosition { height: position.block.id.height, transaction: 0, event: 0 };
                self.pools.push((PoolIdentity { id: pool, factory, tokens }, created));
            }
        }
    }

    fn known(&self, id: AlkaneId) -> Option<PoolIdentity> {
        self.pools.iter().find(|(pool, _)| pool.id == id).map(|(pool, _)| *pool)
    }

    fn operation(&self, frame: &Frame<'_>) -> Option<Operation> {
        let TraceContext { myself, caller, inputs, .. } = frame.context;
        if frame.kind != CallKind::Call {
            return None;
        }
        let opcode = *inputs.first()?;
        match (*myself == WRAPPED_BITCOIN, opcode) {
            (true, 77) => return Some(Operation::Wrap),
            (true, 78) => return Some(Operation::Unwrap),
            _ => {}
        }
        let pool = self.known(*myself)?;
        match opcode {
            0 if *caller == pool.factory => Some(Operation::Initialize(pool)),
            1 => Some(Operation::Add(pool)),
            2 => Some(Operation::Withdraw(pool)),
            3 => Some(Operation::Swap(pool)),
            _ => None,
        }
    }

    /// Whether it would be an operation if it were made in earnest.
    fn is_operation(&self, frame: &Frame<'_>) -> bool {
        let opcode = frame.context.inputs.first().copied().unwrap_or_default();
        let is_wrap = frame.context.myself == WRAPPED_BITCOIN && opcode == 77;
        is_wrap || ((1..=3).contains(&opcode) && self.known(frame.context.myself).is_some())
    }

    /// A call that is kept, with all that it called.
    fn run(&mut self, frame: &Frame<'_>, position: &mut Position<'_>) {
        if frame.kind == CallKind::Static {
            self.census.count(ONLY_ASKED, self.is_operation(frame));
            let is_deeper = frame.inner.iter().any(|inner| self.is_operation(inner));
            self.census.count("operation inside what was only asked", is_deeper);
            return;
        }
        let answer = frame.answer.expect("a caller fails with its callee");
        let TraceContext { myself, caller, incoming, inputs, .. } = frame.context;
        let operation = self.operation(frame);
        let before: Vec<i128> = self.reserves(operation.as_ref());
        self.census.count("operation inside another", operation.is_some() && self.open > 0);
        self.open += u32::from(operation.is_some());
        let index = operation.is_some().then(|| {
            let index = self.events.len();
            self.push(position, true, Action::Wrap { amount: 0 });
            index
        });
        if frame.kind == CallKind::Call {
            self.book(*caller, *myself, incoming);
        }
        for inner in &frame.inner {
            self.run(inner, position);
        }
        for (key, value) in &answer.storage {
            self.storage.insert((*myself, key.clone()), value.clone());
        }
        if frame.kind == CallKind::Call {
            self.book(*myself, *caller, &answer.alkanes);
        }
        if let (Some(operation), Some(index)) = (operation, index) {
            self.open -= 1;
            let after = self.reserves(Some(&operation));
            let gained: Vec<i128> = after.iter().zip(before).map(|(after, before)| after - before).collect();
            self.events[index].action = done(&operation, &gained);
            if let Operation::Initialize(pool) = operation {
                let created = self.events[index].position;
                self.pools.iter_mut().filter(|(known, _)| known.id == pool.id).for_each(|(_, at)| *at = created);
            }
            let is_callback = inputs.first() == Some(&3) && inputs.get(5).is_some_and(|length| *length > 0);
            self.census.count("swap that called its receiver", is_callback && myself.block == 2);
        } else if inputs.first() == Some(&3) && inputs.len() >= 6 && frame.kind == CallKind::Call && myself.block == 2 {
            self.census.count("swap with something that only looks like a pool", true);
        }
    }

    /// What the market of an operation has of its alkanes and of itself.
    fn reserves(&self, operation: Option<&Operation>) -> Vec<i128> {
        match operation {
            None => Vec::new(),
            Some(Operation::Wrap | Operation::Unwrap) => vec![self.holds(WRAPPED_BITCOIN, WRAPPED_BITCOIN)],
            Some(
                Operation::Initialize(pool) | Operation::Add(pool) | Operation::Withdraw(pool) | Operation::Swap(pool),
            ) => [pool.tokens[0], pool.tokens[1], pool.id].map(|what| self.holds(pool.id, what)).to_vec(),
        }
    }

    fn book(&mut self, from: AlkaneId, to: AlkaneId, transfers: &[Transfer]) {
        for Transfer { id, value } in transfers {
            if from != NOBODY {
                *self.ledger.entry((from, *id)).or_default() -= signed(*value);
            }
            if to != NOBODY {
                *self.ledger.entry((to, *id)).or_default() += signed(*value);
            }
        }
    }

    /// A message that was undone: what was tried in it.
    fn fail(&mut self, tree: &Frame<'_>, position: &mut Position<'_>, seemed_good: bool) {
        let mut calls = Vec::new();
        active(tree, &mut calls);
        for asked in calls.iter().flat_map(|call| &call.inner).filter(|inner| inner.kind == CallKind::Static) {
            self.census.count("failed operation that was only asked", self.is_operation(asked));
        }
        for frame in calls {
            let Some(operation) = self.operation(frame) else { continue };
            let action = match operation {
                // What was not created is no pool.
                Operation::Initialize(_) => continue,
                Operation::Swap(pool) => {
                    let sold = tried(frame, &pool);
                    let nothing = |index: usize| Transfer { id: pool.tokens[index], value: 0 };
                    Action::Swap { pool, sold: nothing(sold), bought: nothing(1 - sold) }
                }
                other => done(&other, &[0; 3]),
            };
            self.census.count("operation whose trace says that it succeeded, undone", seemed_good);
            self.push(position, false, action);
        }
    }

    fn push(&mut self, position: &mut Position<'_>, successful: bool, action: Action) {
        let BlockTrace { outpoint, transaction_index, .. } = position.message;
        let event =
            ChainPosition { height: position.block.id.height, transaction: *transaction_index, event: position.events };
        position.events += 1;
        self.events.push(Event {
            position: event,
            txid: outpoint.txid,
            time: position.block.block.header.time,
            protostone: position.protostone,
            vout: outpoint.vout,
            actor: position.actor.clone(),
            successful,
            action,
        });
    }
}

/// What an operation was, by what its market gained of its two alkanes and of itself.
fn done(operation: &Operation, gained: &[i128]) -> Action {
    let given = |index: usize| unsigned(-gained[index]);
    let gained = |index: usize| unsigned(gained[index]);
    match operation {
        Operation::Wrap => Action::Wrap { amount: given(0) },
        Operation::Unwrap => Action::Unwrap { amount: gained(0) },
        Operation::Initialize(pool) => {
            Action::Creation { pool: *pool, amounts: [gained(0), gained(1)], liquidity: given(2) }
        }
        Operation::Add(pool) => Action::Mint { pool: *pool, amounts: [gained(0), gained(1)], liquidity: given(2) },
        Operation::Withdraw(pool) => Action::Burn { pool: *pool, amounts: [given(0), given(1)], liquidity: gained(2) },
        Operation::Swap(pool) => {
            // The pool gives one, or, when its receiver gave it back, gets one.
            let sold = match ([given(0) > 0, given(1) > 0], [gained(0) > 0, gained(1) > 0]) {
                ([false, true], _) | ([false, false], [true, false]) => 0,
                ([true, false], _) | ([false, false], [_, true]) => 1,
                other => panic!("a swap that moved {other:?}"),
            };
            let side = |index: usize, value| Transfer { id: pool.tokens[index], value };
            Action::Swap { pool: *pool, sold: side(sold, gained(sold)), bought: side(1 - sold, given(1 - sold)) }
        }
    }
}

/// Which alkane an attempt would have sold: not the only one that it asked for, or else the first if that came in.
fn tried(frame: &Frame<'_>, pool: &PoolIdentity) -> usize {
    let asked: Vec<usize> =
        (0..2).filter(|index| frame.context.inputs.get(index + 1).is_some_and(|out| *out > 0)).collect();
    match asked[..] {
        [only] if frame.context.inputs.len() > 2 => 1 - only,
        _ => usize::from(frame.context.incoming.iter().all(|transfer| transfer.id != pool.tokens[0])),
    }
}
