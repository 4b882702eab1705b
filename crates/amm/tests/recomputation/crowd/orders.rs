//! What an account wants in a transaction.

use bitcoin::{Amount, ScriptBuf, TxOut};
use paraffin_alkanes::Transfer;
use paraffin_alkanes::codec::Cellpack;
use paraffin_devnet::market::FACTORY;
use paraffin_primitives::AlkaneId;

use super::view::{DIESEL, PROBE, Pool, View, WRAPPED_BITCOIN};
use super::{Aim, Message, Plan, Purse, SECOND_FACTORY};
use crate::chance::Chance;

/// More pools than this are not made.
const POOLS_MAX: usize = 14;
/// More than any account has.
const TOO_MUCH: u128 = u128::MAX >> 2;

/// One plan being made.
struct Maker<'a> {
    chance: &'a mut Chance,
    view: &'a View,
    purse: &'a Purse,
}

fn words(ids: &[AlkaneId]) -> impl Iterator<Item = u128> + '_ {
    ids.iter().flat_map(|id| [id.block, id.tx])
}

/// A call that the probe makes with all that it is given.
pub(super) fn through_probe(target: AlkaneId, inputs: &[u128]) -> Cellpack {
    let head = [40, target.block, target.tx, inputs.len() as u128];
    Cellpack { target: PROBE, inputs: [&head, inputs].concat() }
}

fn message(sends: Vec<Transfer>, target: AlkaneId, inputs: Vec<u128>) -> Message {
    Message { sends, call: Cellpack { target, inputs }, aim: Aim::Purse }
}

/// Pays to the signer in up to three outputs.
pub(super) fn wrap(chance: &mut Chance, view: &View, sat: u64) -> Plan {
    let parts = 1 + chance.below(3);
    let output = TxOut { value: Amount::from_sat(sat / parts), script_pubkey: view.signer.clone() };
    let messages = vec![message(Vec::new(), WRAPPED_BITCOIN, vec![77])];
    Plan { messages, outputs: vec![output; parts as usize], ends_void: false }
}

/// Something to do, if one has what it takes.
pub(super) fn plan(chance: &mut Chance, view: &View, purse: &Purse, is_owner: bool, own: &ScriptBuf) -> Option<Plan> {
    let mut maker = Maker { chance, view, purse };
    let kind = maker.chance.below(32);
    let one = |message: Option<Message>| message.map(|message| vec![message]);
    let mut plan = match kind {
        0..=3 if is_owner => one(maker.as_owner()),
        0..=4 => one(maker.swap()),
        5..=7 => one(maker.direct_swap()),
        8..=10 => one(maker.add()),
        11..=13 => one(maker.remove()),
        14 => maker.there_and_back(),
        15..=17 => maker.several(),
        18 => maker.chained(),
        19 => one(maker.swap()).map(|mut swap| {
            // One that cannot succeed beside one that can.
            swap.insert(
                maker.chance.below(2) as usize,
                message(Vec::new(), FACTORY, vec![13, 2, 2, 0, 32, 0, 5, 1, 0]),
            );
            swap.extend(maker.greedy());
            swap
        }),
        20 | 21 => one(maker.create()),
        22 if maker.chance.one_in(2) => one(maker.nested()),
        22 => one(maker.static_swap()),
        23 | 24 => one(maker.with_lookalike()),
        25..=27 => return Some(maker.wraps()),
        28 | 29 => return maker.unwrap(own),
        _ => one(Some(maker.mint())),
    }
    .map(|messages| Plan { messages, ..Plan::default() })?;
    // What gives the owner his rights must not get lost.
    if !is_owner {
        maker.twist(&mut plan, own);
    }
    Some(plan)
}

impl Maker<'_> {
    /// A part of what is held: between a tenth and a thousandth.
    fn some(&mut self, id: AlkaneId) -> Option<Transfer> {
        let held = self.purse.held.get(id);
        let value = held / (10 + u128::from(self.chance.below(990)));
        (value > 0).then_some(Transfer { id, value })
    }

    fn pool(&mut self) -> Option<&Pool> {
        let index = self.chance.below(self.view.pools.len() as u64) as usize;
        self.view.pools.get(index)
    }

    /// A pool of which the one alkane is held, and its index.
    fn pool_to_sell(&mut self) -> Option<(Pool, usize)> {
        for _ in 0..8 {
            let index = self.chance.below(2) as usize;
            let pool = self.pool()?.clone();
            if self.purse.held.get(pool.tokens[index]) > 1_000 {
                return Some((pool, index));
            }
        }
        None
    }

    /// None, one that lies ahead, or one that has passed.
    fn deadline(&mut self) -> u128 {
        match self.chance.below(12) {
            0 => u128::from(self.view.height) - 1,
            1..=4 => u128::from(self.view.height) + 30,
            _ => 0,
        }
    }

    /// A least amount: 1, or one that cannot be met.
    fn least(&mut self) -> u128 {
        if self.chance.one_in(7) { TOO_MUCH } else { 1 }
    }

    /// Up to three pools of one factory in a row, also twice the same.
    fn path(&mut self) -> Option<(AlkaneId, Vec<AlkaneId>, Pool)> {
        let (first, index) = self.pool_to_sell()?;
        let mut path = vec![first.tokens[index], first.tokens[1 - index]];
        let mut last = first;
        for _ in 0..self.chance.below(3) {
            let end = path[path.len() - 1];
            let near: Vec<Pool> = self.view.pools.iter().filter(|pool| pool.factory == last.factory).cloned().collect();
            let near: Vec<Pool> = near.into_iter().filter(|pool| pool.tokens.contains(&end)).collect();
            last = self.chance.pick(&near)?.clone();
            path.push(last.tokens[usize::from(last.tokens[0] == end)]);
        }
        Some((last.factory, path, last))
    }

    fn swap(&mut self) -> Option<Message> {
        let (factory, path, last) = self.path()?;
        let sold = self.some(path[0])?;
        let (least, deadline) = (self.least(), self.deadline());
        let inputs: Vec<u128> = match self.chance.below(4) {
            0 => {
                let length = path.len() as u128 - 1;
                [29, length].into_iter().chain(words(&path[1..])).chain([least, deadline]).collect()
            }
            1 => {
                let out = last.reserves[usize::from(last.tokens[0] != path[path.len() - 1])] / 20_000;
                let brought = Transfer { id: path[0], value: self.purse.held.get(path[0]) / 2 };
                let limit = if least == TOO_MUCH { 0 } else { brought.value };
                let inputs = [14, path.len() as u128].into_iter().chain(words(&path)).chain([out, limit, deadline]);
                return Some(message(vec![brought], factory, inputs.collect()));
            }
            _ => {
                let length = path.len() as u128;
                [13, length].into_iter().chain(words(&path)).chain([sold.value, least, deadline]).collect()
            }
        };
        Some(message(vec![sold], factory, inputs))
    }

    /// A swap that asks for more than there is.
    fn greedy(&mut self) -> Option<Message> {
        let (pool, index) = self.pool_to_sell()?;
        let sold = self.some(pool.tokens[index])?;
        let path = [pool.tokens[index], pool.tokens[1 - index]];
        let inputs = [13, 2].into_iter().chain(words(&path)).chain([sold.value, TOO_MUCH, 0]);
        Some(message(vec![sold], pool.factory, inputs.collect()))
    }

    /// A pool is called without its factory: for a little less than it would give, or too much, or with a receiver that pays
    /// everything back.
    fn direct_swap(&mut self) -> Option<Message> {
        let (pool, index) = self.pool_to_sell()?;
        let sold = self.some(pool.tokens[index])?;
        Some(self.swap_with(&pool, index, sold))
    }

    fn swap_with(&mut self, pool: &Pool, index: usize, sold: Transfer) -> Message {
        let fair = pool.out(index, sold.value).unwrap_or_default();
        let mut out = fair * u128::from(90 + self.chance.below(8)) / 100;
        let mut behind = vec![0, 0, 0];
        match self.chance.below(8) {
            0 => out = fair + fair / 3 + 1,
            1 => {
                out = fair / 10;
                behind = vec![PROBE.block, PROBE.tx, 1, 63];
            }
            _ => {}
        }
        let mut inputs = vec![3, 0, 0];
        inputs[2 - index] = out;
        inputs.extend(behind);
        if self.chance.one_in(4) {
            let call = through_probe(pool.id, &inputs);
            return Message { sends: vec![sold], call, aim: Aim::Purse };
        }
        message(vec![sold], pool.id, inputs)
    }

    /// A swap whose receiver trades what it got with another pool before the first swap ends.
    ///
    /// The first pool calls the probe with the opcode 40, then its caller (the probe, which is called again), then both
    /// amounts: 10 inputs follow, the first of them 40 as well.
    fn nested(&mut self) -> Option<Message> {
        const OUT: [u128; 2] = [10, 40];
        let (outer, index) = self.pool_to_sell()?;
        let sold = self.some(outer.tokens[index])?;
        let mut inner = None;
        for pool in self.view.pools.iter().filter(|pool| pool.id != outer.id) {
            for (side, other) in [(0, 1), (1, 0)] {
                let paid = outer.tokens.iter().position(|token| *token == pool.tokens[side]).map(|token| OUT[token]);
                let out = paid.and_then(|paid| pool.out(side, paid)).filter(|out| *out > 0);
                // Alkanes that both pools have would be taken for payment.
                let is_apart = !outer.tokens.contains(&pool.tokens[other]);
                if let Some(out) = out.filter(|_| is_apart) {
                    let mut call = [3, 0, 0, 0, 0, 0];
                    call[1 + other] = out;
                    inner = Some((pool.id, call));
                }
            }
        }
        let (pool, call) = inner?;
        let data = [&[40, pool.block, pool.tx, call.len() as u128], &call[..]].concat();
        let head = [3, OUT[0], OUT[1], PROBE.block, PROBE.tx, data.len() as u128];
        let inputs = [&head[..], &data].concat();
        Some(Message { sends: vec![sold], call: through_probe(outer.id, &inputs), aim: Aim::Purse })
    }

    /// A deposit by the factory or straight to the pool, sometimes with limits that cannot be met or with one alkane alone.
    fn add(&mut self) -> Option<Message> {
        let pool = self.pool()?.clone();
        let (first, second) = (self.some(pool.tokens[0])?, self.some(pool.tokens[1])?);
        let mut sends = vec![first, second];
        if self.chance.one_in(3) {
            sends.truncate(if self.chance.one_in(4) { 1 } else { 2 });
            return Some(message(sends, pool.id, vec![1]));
        }
        let (least, deadline) = (self.least(), self.deadline());
        let limits = [first.value, second.value, 0, if least == 1 { 0 } else { least }, deadline];
        let inputs = [11].into_iter().chain(words(&pool.tokens)).chain(limits);
        Some(message(sends, pool.factory, inputs.collect()))
    }

    fn remove(&mut self) -> Option<Message> {
        let held: Vec<Pool> =
            self.view.pools.iter().filter(|pool| self.purse.held.get(pool.id) > 1_000).cloned().collect();
        let pool = self.chance.pick(&held)?.clone();
        let shares = self.some(pool.id)?;
        if self.chance.one_in(3) {
            return Some(message(vec![shares], pool.id, vec![2]));
        }
        let (least, deadline) = (self.least(), self.deadline());
        let limits = [shares.value, 0, if least == 1 { 0 } else { least }, deadline];
        let inputs = [12].into_iter().chain(words(&pool.tokens)).chain(limits);
        Some(message(vec![shares], pool.factory, inputs.collect()))
    }

    /// Both directions of one pool in one transaction.
    fn there_and_back(&mut self) -> Option<Vec<Message>> {
        let (pool, index) = self.pool_to_sell()?;
        let mut messages = Vec::new();
        for index in [index, 1 - index, index].into_iter().take(2 + self.chance.below(2) as usize) {
            let sold = self.some(pool.tokens[index])?;
            let path = [pool.tokens[index], pool.tokens[1 - index]];
            let inputs = [13, 2].into_iter().chain(words(&path)).chain([sold.value, 1, 0]);
            messages.push(message(vec![sold], pool.factory, inputs.collect()));
        }
        Some(messages)
    }

    /// Two to four things of any kind.
    fn several(&mut self) -> Option<Vec<Message>> {
        let mut messages = Vec::new();
        for _ in 0..2 + self.chance.below(3) {
            messages.extend(match self.chance.below(4) {
                0 => self.add(),
                1 => self.remove(),
                2 => self.direct_swap(),
                _ => self.swap(),
            });
        }
        (!messages.is_empty()).then_some(messages)
    }

    /// What a swap gives goes into the next.
    fn chained(&mut self) -> Option<Vec<Message>> {
        let (pool, index) = self.pool_to_sell()?;
        let sold = self.some(pool.tokens[index])?;
        let other = pool.tokens[1 - index];
        let path = [pool.tokens[index], other];
        let first = [13, 2].into_iter().chain(words(&path)).chain([sold.value, 1, 0]);
        let mut first = message(vec![sold], pool.factory, first.collect());
        first.aim = Aim::Next;
        let near: Vec<&Pool> = self.view.pools.iter().filter(|pool| pool.tokens.contains(&other)).collect();
        let next = *self.chance.pick(&near)?;
        let bought = next.tokens[usize::from(next.tokens[0] == other)];
        let second =
            message(Vec::new(), next.factory, [29, 1].into_iter().chain(words(&[bought])).chain([1, 0]).collect());
        Some(vec![first, second])
    }

    /// A pool of any two alkanes that are held; often there is one already.
    fn create(&mut self) -> Option<Message> {
        let held: Vec<AlkaneId> = self.purse.held.transfers().into_iter().map(|held| held.id).collect();
        let (a, b) = (*self.chance.pick(&held)?, *self.chance.pick(&held)?);
        let (a, b) = (self.some(a)?, self.some(b)?);
        let factory = if self.chance.one_in(2) { FACTORY } else { SECOND_FACTORY };
        if self.view.pools.len() >= POOLS_MAX && !self.chance.one_in(4) {
            return self.greedy();
        }
        let inputs = [1].into_iter().chain(words(&[a.id, b.id])).chain([a.value, b.value]).collect();
        Some(message(vec![a, b], factory, inputs))
    }

    /// A swap without incoming alkanes: it fails.
    fn static_swap(&mut self) -> Option<Message> {
        let (pool, index) = self.pool_to_sell()?;
        let mut inputs = vec![42, pool.id.block, pool.id.tx];
        let mut swap = vec![3, 0, 0, 0, 0, 0];
        swap[2 - index] = 1;
        inputs.push(swap.len() as u128);
        inputs.extend(swap);
        Some(message(Vec::new(), PROBE, inputs))
    }

    /// Another fee, or what the protocol earned, of a pool of the second factory.
    fn as_owner(&mut self) -> Option<Message> {
        let own: Vec<&Pool> = self.view.pools.iter().filter(|pool| pool.factory == SECOND_FACTORY).collect();
        let pool = self.chance.pick(&own)?.id;
        let sends = self.purse.held.transfers().into_iter().filter(|held| held.value == 1).collect();
        let inputs = match self.chance.below(2) {
            0 => vec![10, pool.block, pool.tx],
            _ => vec![21, pool.block, pool.tx, u128::from(2 + self.chance.below(60))],
        };
        Some(message(sends, SECOND_FACTORY, inputs))
    }

    /// The same with something that no factory made.
    fn with_lookalike(&mut self) -> Option<Message> {
        let pool = self.view.lookalike.clone()?;
        let index = self.chance.below(2) as usize;
        let sold = self.some(pool.tokens[index])?;
        Some(self.swap_with(&pool, index, sold))
    }

    fn mint(&mut self) -> Message {
        let target = if self.chance.one_in(2) { DIESEL } else { self.view.token };
        message(Vec::new(), target, vec![77])
    }

    /// Once, twice in a transaction, or without paying.
    fn wraps(&mut self) -> Plan {
        let sat = 1_000_000 + self.chance.below(50_000_000);
        let mut plan = wrap(self.chance, self.view, sat);
        match self.chance.below(7) {
            0 => plan.messages.push(message(Vec::new(), WRAPPED_BITCOIN, vec![77])),
            1 => plan.outputs.clear(),
            2 => plan.messages[0].call = through_probe(WRAPPED_BITCOIN, &[77]),
            // A static call for a quote, directly or by way of another contract, and then the swap itself.
            4 => {
                let mut asked = vec![42, 32, 0, 1, 77];
                if self.chance.one_in(2) {
                    asked = vec![42, PROBE.block, PROBE.tx, 5, 40, 32, 0, 1, 77];
                }
                plan.messages.insert(0, message(Vec::new(), PROBE, asked));
            }
            3 => plan.messages.extend(self.swap()),
            _ => {}
        }
        plan
    }

    /// All, a part, more than is there, nothing, or with the wrong output.
    fn unwrap(&mut self, own: &ScriptBuf) -> Option<Plan> {
        let sold = self.some(WRAPPED_BITCOIN)?;
        let marker = TxOut { value: Amount::from_sat(1_000), script_pubkey: self.view.signer.clone() };
        let mut inputs = vec![78, 2, sold.value];
        match self.chance.below(8) {
            0..=2 => inputs[2] = sold.value / 3,
            3 => inputs[2] = sold.value * 2,
            4 => inputs[2] = 0,
            5 => inputs[1] = 0,
            _ => {}
        }
        let mut unwrap = message(vec![sold], WRAPPED_BITCOIN, inputs);
        let mut outputs = vec![marker];
        match self.chance.below(8) {
            0 => unwrap.aim = Aim::Nowhere,
            1 => unwrap.aim = Aim::Change,
            2 => {
                outputs.push(TxOut { value: Amount::from_sat(1_000), script_pubkey: own.clone() });
                unwrap.aim = Aim::Added(1);
            }
            3 => unwrap.call = through_probe(WRAPPED_BITCOIN, &unwrap.call.inputs),
            _ => {}
        }
        Some(Plan { messages: vec![unwrap], outputs, ends_void: false })
    }

    /// Unusual destinations of the results, and transactions that are void although every call in them succeeded.
    fn twist(&mut self, plan: &mut Plan, own: &ScriptBuf) {
        let last = plan.messages.len() - 1;
        if plan.messages[last].aim != Aim::Purse {
            return;
        }
        let aim = &mut plan.messages[last].aim;
        match self.chance.below(60) {
            0..=2 => *aim = Aim::Next,
            3 => *aim = Aim::Nowhere,
            4 => *aim = Aim::Runestone,
            5..=8 => *aim = Aim::Change,
            9..=12 => {
                plan.outputs.push(TxOut { value: Amount::from_sat(1_000), script_pubkey: own.clone() });
                *aim = Aim::Added(plan.outputs.len() as u32 - 1);
            }
            13 => *aim = Aim::Beyond,
            14 => *aim = Aim::Missing,
            15 | 16 => plan.ends_void = true,
            _ => {}
        }
    }
}
