//! The book of pools on the development network's market, carried from block to block and across branches.
#![allow(clippy::unwrap_used)]

mod support;

use paraffin_amm::routing::Fees;
use paraffin_amm::{BookRules, ChainContracts, MarketBook, UnitPrice};
use paraffin_devnet::market::{FACTORY, MarketChain, WRAPPED_BITCOIN};
use paraffin_primitives::Height;
use support::Index;

fn book(index: &Index, height: Height, previous: Option<&MarketBook>) -> MarketBook {
    let contracts = ChainContracts(index.state(height));
    MarketBook::build(&index.markets_at(height), &contracts, &BookRules::default(), previous, &|| false).unwrap()
}

/// A book with its prices and volumes as text, to be compared.
fn rendered(book: &MarketBook) -> String {
    let tokens = book.pools().iter().flat_map(|pool| pool.record.pool.tokens);
    let tokens: Vec<_> = tokens.map(|token| (token, book.price(token), book.volumes_of_token(token))).collect();
    format!("{:?} {} {:#?} {tokens:#?}", book.block(), book.time(), book.pools())
}

#[test]
fn a_book_carried_along_is_that_read_anew_on_every_branch() {
    let mut town = MarketChain::new(11);
    town.grow(150).unwrap();
    let mut index = Index::new();
    let mut carried: Option<MarketBook> = None;
    let mut follow = |index: &mut Index, town: &MarketChain, heights: std::ops::RangeInclusive<Height>, step: usize| {
        let blocks = town.blocks();
        for height in heights.step_by(step) {
            index.follow(&blocks[..=height as usize]);
            let next = book(index, height, carried.as_ref());
            assert_eq!(next.height(), height);
            assert_eq!(rendered(&next), rendered(&book(index, height, None)), "at {height}");
            carried = Some(next);
        }
    };
    follow(&mut index, &town, 100..=150, 1);
    // Far enough behind that all is read anew.
    town.grow(190).unwrap();
    follow(&mut index, &town, 170..=190, 20);
    town.fork(175, 200).unwrap();
    follow(&mut index, &town, 176..=200, 3);
    town.fork(198, 203).unwrap();
    follow(&mut index, &town, 203..=203, 1);
    // An older block, from the book of a newer one.
    let older = book(&index, 160, carried.as_ref());
    assert_eq!(rendered(&older), rendered(&book(&index, 160, None)));
}

#[test]
fn the_figures_of_a_book_follow_from_reserves_and_trades() {
    let mut town = MarketChain::new(7);
    town.grow(240).unwrap();
    let mut index = Index::new();
    index.follow(&town.blocks());
    let now = book(&index, 240, None);
    // A block is 600 seconds: a day is 144 of them.
    let before = book(&index, 240 - 144, None);
    assert_eq!(now.time() - before.time(), 86_400);
    assert_eq!(now.pools().len(), 3);
    assert_eq!(now.factories().collect::<Vec<_>>(), [FACTORY]);
    assert_eq!(now.pools_of(FACTORY).count(), 3);
    assert_eq!(now.price(WRAPPED_BITCOIN).unwrap().price, UnitPrice::ONE);
    for pool in now.pools() {
        let worth = &pool.worth;
        let tvl = worth.tvl.expect("every alkane of this market has a price");
        assert_eq!(worth.token_tvl.map(Option::unwrap).iter().sum::<u128>(), tvl);
        let rational = |index: usize| now.price(pool.record.pool.tokens[index]).unwrap();
        for index in 0..2 {
            let value = rational(index).price.value(pool.state.reserves[index]);
            assert_eq!(worth.token_tvl[index], Some(value.min(rational(index).depth)));
        }
        let Some(held) = pool.record.pool.tokens.iter().position(|token| *token == WRAPPED_BITCOIN) else { continue };
        assert_eq!(worth.token_tvl[held], Some(pool.state.reserves[held]));
        assert!(worth.volume_day <= worth.volume_week && worth.volume_month <= worth.volume_all);
        assert!(worth.volume_all.unwrap() > 0 && worth.apr.unwrap() > 0.0);
        let then = before.pool(pool.record.pool.id).and_then(|pool| pool.worth.tvl);
        match (then, worth.tvl_change_day) {
            (Some(then), Some(change)) => {
                #[expect(clippy::cast_precision_loss, reason = "a ratio")]
                let expected = tvl as f64 / then as f64 - 1.0;
                assert!((change - expected).abs() < 1e-9);
            }
            (then, change) => assert_eq!((then, change), (None, None)),
        }
        // All liquidity is worth all that the pool holds, but for rounding.
        let position = now.position(pool, pool.state.supply);
        assert_eq!((position.amounts, position.value), (pool.state.reserves, Some(tvl)));
        let route = now.graph(Some(FACTORY)).exact_in(
            pool.record.pool.tokens[held],
            pool.record.pool.tokens[1 - held],
            1_000,
            Fees::Pool,
            3,
        );
        assert!(route.is_some());
    }
}
