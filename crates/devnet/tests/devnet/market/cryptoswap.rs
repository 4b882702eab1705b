//! The BTC/USD pool of the market: it stands, everything that can be done with it is done, and its numbers are those of its
//! alkanes.

use std::collections::BTreeMap;

use paraffin_alkanes::{StateKey, StateReader as _, Trace, TraceEvent, TraceStatus};
use paraffin_devnet::market::{BTC_USD_POOL, BTC_USD_POOL_CODE, USD_TOKEN, WRAPPED_BITCOIN};
use paraffin_primitives::AlkaneId;

use super::grown;
use super::ledger::{Ledger, Moment};

/// Fuel that a message gets on a chain with regtest parameters.
const MESSAGE_FUEL: u64 = 3_500_000;

fn stored(moment: &Moment, name: &str) -> Vec<u8> {
    moment.get(&StateKey::Storage(BTC_USD_POOL, name.as_bytes().to_vec())).unwrap().unwrap_or_default()
}

/// A stored number that fits into 128 bits.
fn number(moment: &Moment, name: &str) -> u128 {
    let bytes = stored(moment, name);
    assert_eq!(bytes.len(), 32, "{name}");
    assert_eq!(bytes[16..], [0; 16], "{name}");
    u128::from_le_bytes(bytes[..16].try_into().unwrap())
}

fn small(bytes: Vec<u8>) -> u128 {
    bytes.try_into().map_or(0, u128::from_le_bytes)
}

fn held(moment: &Moment, what: AlkaneId) -> u128 {
    small(moment.get(&StateKey::Balance { what, who: BTC_USD_POOL }).unwrap().unwrap_or_default())
}

/// Opcode, outcome and fuel of a message to the pool.
fn operation(trace: &Trace) -> Option<(u128, bool, u64)> {
    let called = trace.events.iter().find_map(|event| match event {
        TraceEvent::Enter { context, .. } => Some(context),
        _ => None,
    });
    let opcode = *called.filter(|context| context.myself == BTC_USD_POOL)?.inputs.first()?;
    match trace.events.last()? {
        TraceEvent::Exit { status, fuel_used, .. } => Some((opcode, *status == TraceStatus::Success, *fuel_used)),
        _ => None,
    }
}

/// row PI24
#[test]
fn everything_that_can_be_done_with_the_btc_usd_pool_is_done() {
    let (node, market) = grown(1, 200);
    let summary = market.summary().unwrap();
    assert_eq!((summary.usd_token, summary.btc_usd_pool), (Some(USD_TOKEN), Some(BTC_USD_POOL)));
    let mut ledger = Ledger::new();
    let (mut succeeded, mut failed) = (BTreeMap::<u128, u32>::new(), BTreeMap::<u128, u32>::new());
    let mut most = 0;
    for (_, trace) in ledger.follow(&node).iter().flat_map(|effects| &effects.traces) {
        let Some((opcode, is_success, fuel)) = operation(trace) else { continue };
        let outcome = if is_success { &mut succeeded } else { &mut failed };
        *outcome.entry(opcode).or_default() += 1;
        if is_success {
            most = most.max(fuel);
        }
    }
    for opcode in [0, 1, 2, 3, 5, 10, 11, 12, 13, 14, 15] {
        assert!(succeeded.contains_key(&opcode), "opcode {opcode} never succeeded: {succeeded:?}, {failed:?}");
    }
    assert!(succeeded[&5] > 60 && failed[&5] > 3, "{succeeded:?}, {failed:?}");
    for opcode in [10, 11, 12, 13, 14, 15] {
        assert!(!failed.contains_key(&opcode), "opcode {opcode} of the owner failed: {failed:?}");
    }
    assert!((500_000..MESSAGE_FUEL).contains(&most), "{most}");

    let moment = ledger.now();
    assert_eq!(stored(moment, "/implementation")[16..24], BTC_USD_POOL_CODE.tx.to_le_bytes()[..8]);
    assert_eq!(number(moment, "/balances/0"), held(moment, WRAPPED_BITCOIN));
    assert_eq!(number(moment, "/balances/1"), held(moment, USD_TOKEN));
    assert!(number(moment, "/virtual_price") >= 1_000_000_000_000_000_000);
    assert!(number(moment, "/xcp_profit") > 1_000_000_000_000_000_000, "fees were earned");
    assert_ne!(number(moment, "/price_scale"), 15_604_533_105_145, "the price scale has moved");
    let outside = moment.in_outputs()[&BTC_USD_POOL];
    assert_eq!(small(stored(moment, "/totalsupply")), outside + small(stored(moment, "/claimable_fees")));
}

/// Who starts a development chain finds a pool that trades.
#[test]
fn at_the_height_at_which_a_development_chain_starts_the_pool_trades() {
    for seed in [1, 2, 0xbeef] {
        let (node, market) = grown(seed, 160);
        assert_eq!(market.summary().unwrap().btc_usd_pool, Some(BTC_USD_POOL));
        let mut ledger = Ledger::new();
        let effects = ledger.follow(&node);
        let operations = effects.iter().flat_map(|effects| &effects.traces).filter_map(|(_, trace)| operation(trace));
        let trades = operations.filter(|(opcode, is_success, _)| *opcode == 5 && *is_success).count();
        assert!(trades > 20, "seed {seed}: {trades} trades");
        assert_eq!(number(ledger.now(), "/is_killed"), 0, "seed {seed}");
        assert!(number(ledger.now(), "/future_A_gamma_height") <= 160, "seed {seed}: no ramp is on");
    }
}

#[test]
fn there_is_no_pool_before_it_has_liquidity() {
    let (_, market) = grown(1, 111);
    let summary = market.summary().unwrap();
    assert_eq!((summary.usd_token, summary.btc_usd_pool), (Some(USD_TOKEN), None));
}
