//! The BTC/USD pool of the development network's market: every state from the raw writes alone, every quote against the
//! executed trade.
#![allow(clippy::unwrap_used)]

mod chain;

use std::collections::HashMap;

use chain::{Chain, OF_POOL, POOL, pool};
use paraffin_alkanes::{CallKind, Trace, TraceEvent, TraceStatus};
use paraffin_cryptoswap::proto::{
    AlkaneId, GetBlockSummaryRequest, GetBlockSummaryResponse, GetPoolStateResponse, GetSwapsRequest, GetSwapsResponse,
    QuoteRequest, QuoteResponse,
};
use paraffin_cryptoswap::{PoolIndex, Slot};
use paraffin_primitives::Height;

const SEED: u64 = 11;
/// Blocks of the founding, a ramp, a pause and much trade.
const HEIGHT: Height = 210;

/// Slots by name.
type Slots = HashMap<Vec<u8>, Vec<u8>>;

/// Effective storage writes of a message to the pool: those of calls that succeeded with all calls above them. Computed
/// independently of the index.
fn kept_writes(trace: &Trace) -> Slots {
    let mut open: Vec<(bool, bool, Slots)> = Vec::new();
    for event in &trace.events {
        match event {
            TraceEvent::Enter { kind, context, .. } => {
                open.push((context.myself == POOL, *kind == CallKind::Static, Slots::new()));
            }
            TraceEvent::Create(_) | TraceEvent::Omitted { .. } | TraceEvent::Exit { fuel_used: 0, .. } => {}
            TraceEvent::Exit { status, response, .. } => {
                let Some((is_pool, is_static, mut writes)) = open.pop() else { continue };
                if is_pool {
                    writes.extend(response.storage.iter().cloned());
                }
                if *status == TraceStatus::Revert || is_static {
                    writes.clear();
                }
                match open.last_mut() {
                    Some((_, _, above)) => above.extend(writes),
                    None => return writes,
                }
            }
        }
    }
    Slots::new()
}

/// Decimal text of a number of at most 128 bits.
fn text(slots: &Slots, name: &str) -> String {
    let bytes = slots.get(name.as_bytes()).cloned().unwrap_or_default();
    assert!(bytes.iter().skip(16).all(|byte| *byte == 0), "{name}");
    bytes.iter().take(16).rev().fold(0u128, |number, byte| number << 8 | u128::from(*byte)).to_string()
}

/// row PI09
/// row PI32
#[test]
fn states_follow_from_raw_writes_and_quotes_are_paid() {
    let chain = Chain::of_market(SEED, HEIGHT);
    let mut slots = Slots::new();
    let (mut changed, mut states, mut kinds) = (0, 0, [0u32; 3]);
    for height in 0..=HEIGHT {
        for trace in chain.state(height).block_traces(height).unwrap() {
            let writes = if trace.stands { kept_writes(&trace.trace) } else { Slots::new() };
            if !writes.is_empty() {
                changed = height;
                slots.extend(writes);
            }
        }
        let answer: GetPoolStateResponse = chain.view_at(height, "getpoolstate", &OF_POOL);
        let Some(state) = answer.state else {
            assert!(!slots.contains_key(&b"/price_scale"[..]), "{height}");
            continue;
        };
        states += 1;
        assert_eq!(state.height, changed);
        assert_eq!(state.timestamp, u64::from(chain.blocks[changed as usize].block.header.time));
        for (reported, name) in [
            (&state.reserve0, "/balances/1"),
            (&state.reserve1, "/balances/0"),
            (&state.total_supply, "/totalsupply"),
            (&state.price_scale, "/price_scale"),
            (&state.price_oracle, "/price_oracle"),
            (&state.last_prices, "/last_prices"),
            (&state.last_prices_height.to_string(), "/last_prices_height"),
            (&state.d, "/D"),
            (&state.virtual_price, "/virtual_price"),
            (&state.xcp_profit, "/xcp_profit"),
            (&u8::from(state.is_killed).to_string(), "/is_killed"),
            (&state.future_ag_height.to_string(), "/future_A_gamma_height"),
        ] {
            assert_eq!(*reported, text(&slots, name), "{name} at {height}");
        }
        assert_eq!(state.ramping, state.future_ag_height > u64::from(height));
        assert_eq!(state.marginal_price_q.as_ref(), Some(&state.price_scale));
        kinds[0] += u32::from(state.ramping);
        kinds[1] += u32::from(state.is_killed);
        let summary: GetBlockSummaryResponse =
            chain.view_at(height, "getblocksummary", &GetBlockSummaryRequest { height });
        kinds[2] += summary.add_liquidity_count + summary.remove_liquidity_count;
    }
    assert!(states > 50, "{states} blocks with a state");
    assert!(kinds.iter().all(|kind| *kind > 0), "{kinds:?} ramping, killed, liquidity");
    quotes_are_paid(&chain);
}

fn quotes_are_paid(chain: &Chain) {
    let request = GetSwapsRequest { pool: pool(), page: None, limit: None };
    let swaps: GetSwapsResponse = chain.view("getswaps", &request);
    let mut compared = 0;
    for swap in &swaps.swaps {
        let before = swap.height - 1;
        // The first to touch the pool in its block trades with the state that the quote is made from.
        let block = chain.state(swap.height).block_traces(swap.height).unwrap();
        let first = block.iter().find(|trace| trace.stands && !kept_writes(&trace.trace).is_empty()).unwrap();
        let txid = swap.txid.iter().rev().copied().collect::<Vec<u8>>();
        if bitcoin::hashes::Hash::as_byte_array(&first.outpoint.txid)[..] != txid[..] {
            continue;
        }
        let token_in: Option<AlkaneId> = swap.token_in;
        let request = QuoteRequest { pool: pool(), token_in, amount_in: swap.amount_in.clone() };
        let quote: QuoteResponse = chain.view_at(before, "quote", &request);
        assert!(quote.ok, "{quote:?}");
        assert_eq!((&quote.amount_out, quote.token_out), (&swap.amount_out, swap.token_out), "{}", swap.height);
        compared += 1;
    }
    assert!(compared >= 10, "{compared} of {} trades", swaps.total);
}

#[test]
fn routes_go_through_trusted_pools_that_trade_and_whose_curve_rests() {
    let chain = Chain::of_market(SEED, HEIGHT);
    let other = paraffin_primitives::AlkaneId { block: 4, tx: 1 };
    let mut heights = [0; 2];
    for height in 0..=HEIGHT {
        let index = PoolIndex::at(&chain.store.snapshot(), height);
        let serves = index
            .state(POOL)
            .unwrap()
            .is_some_and(|state| !state.is_killed() && !state.is_ramping(height) && !state.number(Slot::D).is_zero());
        let routes = index.routes(&[other, POOL]).unwrap();
        let ids: Vec<_> = routes.iter().map(|route| route.id).collect();
        assert_eq!(ids, if serves { vec![POOL] } else { vec![] }, "{height}");
        assert!(index.routes(&[other]).unwrap().is_empty(), "{height}: the pool is not trusted");
        heights[usize::from(serves)] += 1;
    }
    assert!(heights.iter().all(|count| *count > 0), "{heights:?}");
}
