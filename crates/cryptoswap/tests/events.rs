//! Trades, deposits and withdrawals in the form of the market index, against the scripted operations of the chain and the balances,
//! as of every height, and after blocks were undone.
#![allow(clippy::unwrap_used)]

mod chain;

use chain::{BTC, Chain, POOL, USD, deed, rules, sell_btc, sell_usd, traded};
use paraffin_alkanes::ScriptKey;
use paraffin_amm::{Action, Event, EventKind, Scope, Status, Timeframe};
use paraffin_cryptoswap::PoolIndex;
use paraffin_primitives::Height;

fn events(index: &PoolIndex, scope: Scope, kind: Option<EventKind>) -> Vec<Event> {
    let page = index.markets().events(scope, kind, Status::Any, 0, u32::MAX).unwrap();
    assert_eq!(page.total as usize, page.items.len());
    page.items
}

fn of_pool(chain: &Chain, height: Height) -> Vec<Event> {
    events(&PoolIndex::at(&chain.store.snapshot(), height), Scope::Pool(POOL), None)
}

/// Balances of the pool at a height: USD, BTC, and the supply of its own token.
fn held(chain: &Chain, height: Height) -> [i128; 3] {
    let state = chain.state(height);
    let [usd, btc] = [USD, BTC].map(|coin| state.balance(coin, POOL).unwrap());
    let supply = chain_supply(chain, height);
    [usd, btc, supply].map(|amount| amount.try_into().unwrap())
}

fn chain_supply(chain: &Chain, height: Height) -> u128 {
    use paraffin_alkanes::{StateKey, StateReader as _};
    let stored = chain.state(height).get(&StateKey::Storage(POOL, b"/totalsupply".to_vec())).unwrap();
    stored.unwrap_or_default().iter().take(16).rev().fold(0, |sum, byte| sum << 8 | u128::from(*byte))
}

/// By how much an event changed the same three.
fn change(event: &Event) -> [i128; 3] {
    let signed = |amount: u128| i128::try_from(amount).unwrap();
    match event.action {
        Action::Swap { sold, bought, .. } if sold.id == USD => [signed(sold.value), -signed(bought.value), 0],
        Action::Swap { sold, bought, .. } => [-signed(bought.value), signed(sold.value), 0],
        Action::Mint { amounts: [usd, btc], liquidity, .. } => [usd, btc, liquidity].map(signed),
        Action::Burn { amounts: [usd, btc], liquidity, .. } => [usd, btc, liquidity].map(|amount| -signed(amount)),
        _ => panic!("{event:?}"),
    }
}

#[test]
fn what_events_moved_is_what_the_pool_holds_after_every_block() {
    let mut chain = traded(rules());
    let supply = chain_supply(&chain, chain.tip());
    chain.mine(&[sell_btc(1_000_000), deed(POOL, &[2, supply / 7, 0, 0]), sell_usd(5_000_000_000)]);
    chain.mine(&[deed(POOL, &[3, supply / 9, 1, 0]), deed(POOL, &[1, 1_000_000, 64_000_000_000, 0])]);
    // A trade with too high a minimum fails and is not indexed.
    chain.mine(&[deed(POOL, &[5, 0, 1, 1_000, u128::MAX >> 1])]);
    let all = of_pool(&chain, chain.tip());
    for kind in [EventKind::Swap, EventKind::Mint, EventKind::Burn] {
        assert!(all.iter().any(|event| event.action.kind() == kind), "{kind:?}");
    }
    assert!(all.windows(2).all(|pair| pair[0].position > pair[1].position), "the newest first");
    let mut exact = 0;
    for height in 4..=chain.tip() {
        let then = of_pool(&chain, height);
        assert_eq!(then, all.iter().filter(|event| event.position.height <= height).cloned().collect::<Vec<_>>());
        let (before, after) = (held(&chain, height - 1), held(&chain, height));
        let moved = then.iter().filter(|event| event.position.height == height).map(change);
        let sums = moved.fold([0; 3], |sums, change| [0, 1, 2].map(|index: usize| sums[index] + change[index]));
        let changes = [0, 1, 2].map(|index: usize| after[index] - before[index]);
        assert_eq!(changes[..2], sums[..2], "{height}");
        // With an operation the owner's part of the fees may be given out as liquidity: more than was deposited, never less.
        assert!(changes[2] >= sums[2], "{height}: {changes:?} {sums:?}");
        exact += usize::from(changes[2] == sums[2]);
    }
    assert!(exact > 3, "{exact} blocks in which liquidity is that of the events");
    for event in &all {
        let block = &chain.blocks[event.position.height as usize];
        assert_eq!(block.txids[event.position.transaction as usize], event.txid);
        assert_eq!((event.time, event.vout, event.protostone), (block.block.header.time, 3, 0));
        let transaction = &block.block.txdata[event.position.transaction as usize];
        assert_eq!(event.actor.as_ref(), Some(&transaction.output[0].script_pubkey));
        assert!(event.successful);
    }
}

#[test]
fn every_list_is_the_events_of_its_scope_and_what_is_taken_back_leaves_them() {
    let mut chain = traded(rules());
    let before = chain.tip();
    let owner = ScriptKey::of(&chain.blocks[0].block.txdata[0].output[0].script_pubkey);
    let indexed = |chain: &Chain| {
        let index = chain.index();
        let all = events(&index, Scope::Pool(POOL), None);
        for kind in [EventKind::Swap, EventKind::Mint, EventKind::Burn] {
            let own: Vec<Event> = all.iter().filter(|event| event.action.kind() == kind).cloned().collect();
            // One script owns everything here.
            for scope in [Scope::Pool(POOL), Scope::Script(owner), Scope::ScriptPool(owner, POOL)] {
                assert_eq!(events(&index, scope, Some(kind)), own, "{scope:?}");
            }
            for token in [USD, BTC] {
                let of_token = if kind == EventKind::Swap { &own[..] } else { &[] };
                for scope in [Scope::Token(token), Scope::ScriptToken(owner, token)] {
                    assert_eq!(events(&index, scope, Some(kind)), of_token, "{scope:?}");
                }
            }
            for scope in [Scope::All, Scope::Factory(POOL), Scope::Pool(USD), Scope::Token(POOL)] {
                assert!(events(&index, scope, Some(kind)).is_empty(), "{scope:?}");
            }
        }
        let candles = index.markets().candles_page(POOL, Timeframe::TenMinutes, 0, u32::MAX).unwrap().items;
        let trades: u32 = candles.iter().map(|candle| candle.trades).sum();
        let priced = all.iter().filter(|event| event.action.price().is_some()).count();
        assert_eq!(trades as usize, priced);
        (all, candles)
    };
    let first = indexed(&chain);
    chain.mine(&[sell_btc(700_000), sell_usd(9_000_000_000)]);
    chain.mine(&[deed(POOL, &[1, 1_000_000, 64_000_000_000, 0])]);
    let left = indexed(&chain);
    assert_eq!(left.0.len(), first.0.len() + 3);
    while chain.tip() > before {
        chain.undo();
    }
    assert_eq!(indexed(&chain), first);
    chain.mine(&[sell_usd(9_000_000_000)]);
    assert_eq!(indexed(&chain).0.len(), first.0.len() + 1);
}
