//! What traders do once the market stands: swaps along one or two pools, liquidity in and out by the factory or straight to
//! the pool, wraps, unwraps, mints, gifts, and now and then an order that fails: too late, for too little, for too much.

use bitcoin::Txid;
use paraffin_alkanes::Transfer;
use paraffin_alkanes::codec::Cellpack;
use paraffin_primitives::AlkaneId;

use super::compose::{FIRST_FREE_VOUT, Order};
use super::state::Pool;
use super::{DIESEL, FACTORY, Market, MarketError, NAMES, Purse, WRAPPED_BITCOIN, postage};
use crate::node::Node;

/// Opcodes of the factory.
const ADD_LIQUIDITY: u128 = 11;
const REMOVE_LIQUIDITY: u128 = 12;
const SWAP_EXACT_IN: u128 = 13;
const SWAP_EXACT_OUT: u128 = 14;
const SWAP_IMPLICIT: u128 = 29;
/// Opcodes of a pool.
const DEPOSIT: u128 = 1;
const WITHDRAW: u128 = 2;
/// Opcodes of tokens.
const MINT: u128 = 77;
const UNWRAP: u128 = 78;
/// Part of a holding that one order moves at most: a tenth.
const PART: u128 = 10;
/// More than any pool holds: a limit that cannot be met.
const TOO_MUCH: u128 = u128::MAX >> 1;
/// Blocks that an order with a deadline may wait.
const PATIENCE: u128 = 20;

/// Two ids of a list, each as its two integers.
fn words(ids: &[AlkaneId]) -> impl Iterator<Item = u128> + '_ {
    ids.iter().flat_map(|id| [id.block, id.tx])
}

impl Market {
    /// Each trader but one in four does something.
    pub(super) fn trade(&mut self, node: &Node) -> Result<Vec<Txid>, MarketError> {
        let pools = self.state.pools()?;
        let height = u128::from(node.tip().height) + 1;
        let mut sent = Vec::new();
        for trader in 1..NAMES.len() {
            let (choice, part) = (self.below(16), u128::from(1 + self.below(1_000)));
            let other = 1 + self.below(NAMES.len() as u64 - 1) as usize;
            let pick = self.below(pools.len() as u64) as usize;
            let purse = self.purse(node, trader)?;
            let Some(pool) = pools.get(pick) else { continue };
            let order = match choice {
                0..=3 => continue,
                4..=6 => swap(&purse, pool, part, SWAP_EXACT_IN, deadline(height, part)),
                7 if part % 3 == 0 => two_hops(&purse, &pools, pick, part, SWAP_IMPLICIT),
                7 => swap(&purse, pool, part, SWAP_IMPLICIT, deadline(height, part)),
                8 => exact_out(&purse, pool, part),
                9 if part % 3 == 0 => two_hops(&purse, &pools, pick, part, SWAP_EXACT_OUT),
                9 => two_hops(&purse, &pools, pick, part, SWAP_EXACT_IN),
                10 => add(&purse, pool, part),
                11 => remove(&purse, pool, part),
                12 => Some(self.wrap_order(part)?),
                13 => self.unwrap_order(&purse, part)?,
                14 => Some(mint(if part % 2 == 0 { DIESEL } else { self.tokens.get(1).copied().unwrap_or(DIESEL) })),
                _ if part % 3 == 0 => too_greedy(&purse, pool, part),
                _ => self.gift(&purse, pool, part, other),
            };
            let Some(order) = order else { continue };
            let Some(txid) = self.send(node, trader, &purse, &order)? else { continue };
            if choice == 13 {
                self.unwrap = Some(txid);
            }
            sent.push(txid);
        }
        Ok(sent)
    }

    /// Wraps bitcoin, paid in one output or in two.
    fn wrap_order(&self, part: u128) -> Result<Order, MarketError> {
        let mut order = self.wrap(1_000_000 + 10_000 * part as u64)?;
        if part.is_multiple_of(4) {
            order.outputs.extend(order.outputs.clone());
        }
        Ok(order)
    }

    /// Burns some wrapped bitcoin, or a half of what it brings; the signer owes it to the trader.
    fn unwrap_order(&self, purse: &Purse, part: u128) -> Result<Option<Order>, MarketError> {
        let Some(sold) = purse.some(WRAPPED_BITCOIN, some_of(purse, WRAPPED_BITCOIN, part).max(10_000)) else {
            return Ok(None);
        };
        let marker = postage(self.state.signer_script()?);
        let burned = if part.is_multiple_of(3) { sold.value / 2 } else { sold.value };
        let call = Cellpack { target: WRAPPED_BITCOIN, inputs: vec![UNWRAP, FIRST_FREE_VOUT, burned] };
        Ok(Some(Order { sends: vec![sold], call: Some(call), outputs: vec![marker], ..Order::default() }))
    }

    fn gift(&self, purse: &Purse, pool: &Pool, part: u128, other: usize) -> Option<Order> {
        let id = pool.tokens[part as usize % 2];
        let gift = purse.some(id, some_of(purse, id, part))?;
        Some(Order { gifts: vec![gift], outputs: vec![postage(self.script(other))], ..Order::default() })
    }
}

fn mint(target: AlkaneId) -> Order {
    Order { call: Some(Cellpack { target, inputs: vec![MINT] }), ..Order::default() }
}

/// A part of a tenth of what is held: `part` thousandths of it.
fn some_of(purse: &Purse, id: AlkaneId, part: u128) -> u128 {
    purse.held.get(id) / PART * part / 1_000
}

/// The two tokens in the direction that `part` chooses, where the trader has some of the first.
fn direction(purse: &Purse, pool: &Pool, part: u128) -> Option<[AlkaneId; 2]> {
    let [a, b] = pool.tokens;
    let wanted = if part.is_multiple_of(2) { [a, b] } else { [b, a] };
    let other = [wanted[1], wanted[0]];
    [wanted, other].into_iter().find(|[sold, _]| some_of(purse, *sold, part) > 0)
}

fn factory(sends: Vec<Transfer>, inputs: Vec<u128>) -> Order {
    Order { sends, call: Some(Cellpack { target: FACTORY, inputs }), ..Order::default() }
}

/// Mostly none, sometimes one in the future, seldom one that has passed.
fn deadline(height: u128, part: u128) -> u128 {
    match part % 24 {
        0 => height - 1,
        1..=6 => height + PATIENCE,
        _ => 0,
    }
}

fn swap(purse: &Purse, pool: &Pool, part: u128, opcode: u128, deadline: u128) -> Option<Order> {
    let path = direction(purse, pool, part)?;
    let sold = purse.some(path[0], some_of(purse, path[0], part))?;
    let inputs = if opcode == SWAP_IMPLICIT {
        [opcode, 1].into_iter().chain(words(&path[1..])).chain([1, deadline]).collect()
    } else {
        [opcode, 2].into_iter().chain(words(&path)).chain([sold.value, 1, deadline]).collect()
    };
    Some(factory(vec![sold], inputs))
}

/// Asks for an exact amount out, and sends more than it can cost.
fn exact_out(purse: &Purse, pool: &Pool, part: u128) -> Option<Order> {
    let path = direction(purse, pool, part)?;
    let brought = purse.some(path[0], some_of(purse, path[0], 1_000))?;
    let sold = usize::from(pool.tokens[0] != path[0]);
    let (reserve_in, reserve_out) = (pool.reserves[sold], pool.reserves[1 - sold]);
    let spent = brought.value.min(reserve_in / PART);
    // A twentieth below the price without fee, which the pool's own price meets.
    let out = reserve_out.checked_mul(spent)? / (reserve_in + spent) * 19 / 20;
    let path = words(&path);
    (out > 0).then(|| {
        factory(vec![brought], [SWAP_EXACT_OUT, 2].into_iter().chain(path).chain([out, brought.value, 0]).collect())
    })
}

/// From one pool's token through the token that both pools share to the other pool's.
fn two_hops(purse: &Purse, pools: &[Pool], pick: usize, part: u128, opcode: u128) -> Option<Order> {
    let (first, second) = (pools.get(pick)?, pools.get((pick + 1) % pools.len())?);
    let shared = first.tokens.into_iter().find(|token| second.tokens.contains(token))?;
    let other = |pool: &Pool| pool.tokens.into_iter().find(|token| *token != shared);
    let path = [other(first)?, shared, other(second)?];
    let sold = purse.some(path[0], some_of(purse, path[0], part))?;
    let inputs = match opcode {
        SWAP_IMPLICIT => [opcode, 2].into_iter().chain(words(&path[1..])).chain([1, 0]).collect(),
        SWAP_EXACT_OUT => {
            // So little that what is brought mostly pays for it.
            let out = second.reserves[usize::from(second.tokens[0] != path[2])] / 100_000 * part;
            [opcode, 3].into_iter().chain(words(&path)).chain([out, sold.value, 0]).collect()
        }
        _ => [opcode, 3].into_iter().chain(words(&path)).chain([sold.value, 1, 0]).collect(),
    };
    Some(factory(vec![sold], inputs))
}

/// A limit that holds, or now and then one that cannot.
fn least(part: u128) -> u128 {
    if part.is_multiple_of(9) { TOO_MUCH } else { 0 }
}

fn add(purse: &Purse, pool: &Pool, part: u128) -> Option<Order> {
    let sends: Vec<Transfer> = pool.tokens.iter().filter_map(|id| purse.some(*id, some_of(purse, *id, part))).collect();
    let [a, b] = sends[..] else { return None };
    if part.is_multiple_of(5) {
        return Some(straight(pool, sends, DEPOSIT));
    }
    let limits = [a.value, b.value, 0, least(part), 0];
    let inputs = [ADD_LIQUIDITY].into_iter().chain(words(&pool.tokens)).chain(limits).collect();
    Some(factory(sends, inputs))
}

fn remove(purse: &Purse, pool: &Pool, part: u128) -> Option<Order> {
    let shares = purse.some(pool.id, some_of(purse, pool.id, part))?;
    if part.is_multiple_of(5) {
        return Some(straight(pool, vec![shares], WITHDRAW));
    }
    let limits = [shares.value, 0, least(part), 0];
    let inputs = [REMOVE_LIQUIDITY].into_iter().chain(words(&pool.tokens)).chain(limits).collect();
    Some(factory(vec![shares], inputs))
}

/// To the pool without its factory: what does not fit its ratio stays there.
fn straight(pool: &Pool, sends: Vec<Transfer>, opcode: u128) -> Order {
    Order { sends, call: Some(Cellpack { target: pool.id, inputs: vec![opcode] }), ..Order::default() }
}

/// A swap that asks for more than the pool holds: it reverts, and everything comes back.
fn too_greedy(purse: &Purse, pool: &Pool, part: u128) -> Option<Order> {
    let path = direction(purse, pool, part)?;
    let sold = purse.some(path[0], some_of(purse, path[0], part))?;
    let inputs = [SWAP_EXACT_IN, 2].into_iter().chain(words(&path)).chain([sold.value, TOO_MUCH, 0]).collect();
    Some(factory(vec![sold], inputs))
}
