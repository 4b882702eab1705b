//! Books over a chain of market events.

use proptest::prelude::*;

use super::fake::{FACTORY, MarketFixture, WRAPPED, id};
use super::*;

/// A book with its prices and volumes as text, to be compared.
fn rendered(book: &MarketBook) -> String {
    let mut tokens: Vec<AlkaneId> = book.by_token.keys().copied().collect();
    tokens.push(id(999_999));
    tokens.sort_unstable();
    let tokens: Vec<_> =
        tokens.iter().map(|token| (token, book.price(*token), book.volumes_of_token(*token))).collect();
    let factories: Vec<_> = book.factories().map(|factory| (factory, book.pools_of(factory).len())).collect();
    format!("{:?} {} {:#?} {tokens:#?} {factories:?}", book.block(), book.time(), book.pools())
}

const TOKEN: AlkaneId = id(0);
const T0: u32 = 1_700_000_000;

#[test]
fn a_pool_is_worth_what_its_reserves_are_at_its_own_price() {
    let mut fixture = MarketFixture::new();
    let mut pool = None;
    fixture.block(T0, |_| {});
    fixture.block(T0 + 600, |block| {
        pool = Some(block.create(FACTORY, 100, [(TOKEN, 4_000_000), (WRAPPED, 1_000_000)]));
    });
    let pool = pool.unwrap();
    let book = fixture.book(None);
    assert_eq!((book.height(), book.time(), book.pools().len()), (1, T0 + 600, 1));
    let price = book.price(TOKEN).unwrap();
    assert_eq!((price.price.to_decimal().as_str(), price.depth, price.change_day), ("0.25", 1_000_000, None));
    let of_wrapped = book.price(WRAPPED).unwrap();
    assert_eq!((of_wrapped.price, of_wrapped.depth), (UnitPrice::ONE, u128::MAX));
    let found = book.pool(pool.id).unwrap();
    assert_eq!(found.record.pool, pool);
    assert_eq!(found.creation.action.pool(), Some(&pool));
    let expected = PoolWorth {
        tvl: Some(2_000_000),
        token_tvl: [Some(1_000_000); 2],
        volume_day: Some(0),
        volume_week: Some(0),
        volume_month: Some(0),
        volume_all: Some(0),
        apr: Some(0.0),
        liquidity_price: UnitPrice::from_scaled(UnitPrice::ONE.scaled() * ruint::aliases::U256::from(2)),
        ..PoolWorth::default()
    };
    assert_eq!(found.worth, expected);
    let position = book.position(found, 250_000);
    assert_eq!(position, Position { amounts: [1_000_000, 250_000], values: [Some(250_000); 2], value: Some(500_000) });

    // A day later comes a purchase for 100,000 satoshis.
    fixture.block(T0 + 600 + DAY, |block| block.swap(&pool, 1, 100_000));
    let book = fixture.book(Some(&book));
    let [tokens, wrapped] = fixture.reserves(&pool);
    assert_eq!((tokens, wrapped), (4_000_000 - 360_327, 1_100_000));
    let worth = book.pool(pool.id).unwrap().worth;
    // The price is 1,100,000 / 3,639,673.
    assert_eq!((worth.tvl, worth.token_tvl), (Some(2_199_999), [Some(1_099_999), Some(1_100_000)]));
    // The lower side counts: the amount bought, at the price after the trade.
    assert_eq!((worth.volume_day, worth.volume_all), (Some(100_000), Some(100_000)));
    assert!((worth.tvl_change_day.unwrap() - 199_999.0 / 2_000_000.0).abs() < 1e-12);
    assert_eq!(worth.tvl_change_week, None);
    // 8 of 1,000 stay with liquidity; 365/30 months.
    let apr = 100_000.0 * 0.008 * 365.0 / 30.0 / 2_199_999.0 * 100.0;
    assert!((worth.apr.unwrap() - apr).abs() < 1e-9, "{:?} {apr}", worth.apr);
    let change = book.price(TOKEN).unwrap().change_day.unwrap();
    assert!((change - (1_100_000.0 / 3_639_673.0 / 0.25 - 1.0)).abs() < 1e-12, "{change}");
    assert_eq!(book.volumes_of_token(TOKEN), [Some(100_000); 4]);
    assert_eq!(rendered(&book), rendered(&fixture.book(None)));
}

#[test]
fn an_empty_index_has_an_empty_book() {
    let fixture = MarketFixture::new();
    let book = fixture.book(None);
    assert_eq!((book.height(), book.block(), book.pools().len()), (0, None, 0));
    assert_eq!(book.price(WRAPPED).unwrap().price, UnitPrice::ONE);
    assert_eq!((book.price(TOKEN), book.volumes_of_token(TOKEN)), (None, [None; 4]));
    assert!(book.graph(None).exact_in(TOKEN, WRAPPED, 5, crate::routing::Fees::Pool, 3).is_none());
}

#[test]
fn a_build_whose_time_is_over_is_interrupted() {
    let fixture = MarketFixture::new();
    let over = MarketBook::build(&fixture.markets_at(0), &fixture, &BookRules::default(), None, &|| true);
    assert!(matches!(over, Err(AmmError::Interrupted)));
}

#[test]
fn a_block_by_time_is_one_before_it_with_one_after_it_next_to_it() {
    let mut fixture = MarketFixture::new();
    let times = [100, 200, 150, 300, 250, 250, 400];
    for time in times {
        fixture.block(time, |_| {});
    }
    let snapshot = fixture.store.snapshot();
    for newest in 0..times.len() as Height {
        for time in 0..500 {
            match block_at(&snapshot, newest, time).unwrap() {
                None => assert!(time < times[0]),
                Some(block) => {
                    assert!(times[block.height as usize] <= time);
                    assert!(block.height == newest || times[block.height as usize + 1] > time, "{time}");
                }
            }
        }
    }
}

/// Something that happens on a market.
#[derive(Debug, Clone)]
enum Step {
    /// A block this much later (negative: earlier) with trades (pool, index, amount) and gifts.
    Block {
        later: i32,
        created: Option<(u128, u128)>,
        trades: Vec<(usize, usize, u128)>,
        gift: Option<(usize, [u128; 2])>,
    },
    /// So many blocks are undone.
    Undo(usize),
    /// The book is built here.
    Read,
}

fn step() -> impl Strategy<Value = Step> {
    let later = prop_oneof![6 => 300i32..2_000, 1 => -900i32..300, 2 => 20_000i32..90_000];
    let trades = prop::collection::vec((0usize..8, 0usize..2, 1u128..3_000_000), 0..4);
    let created = prop::option::weighted(0.3, (0u128..5, 0u128..5));
    let gift = prop::option::weighted(0.2, (0usize..8, prop::array::uniform2(0u128..50_000_000)));
    let block = (later, created, trades, gift).prop_map(|(later, created, trades, gift)| Step::Block {
        later,
        created,
        trades,
        gift,
    });
    prop_oneof![6 => block, 1 => (1usize..7).prop_map(Step::Undo), 3 => Just(Step::Read)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn a_book_made_from_an_older_one_is_that_made_from_nothing(steps in prop::collection::vec(step(), 1..60)) {
        let mut fixture = MarketFixture::new();
        let mut times = vec![T0];
        fixture.block(T0, |_| {});
        let mut number = 100;
        let mut previous: Option<MarketBook> = None;
        let mut kept: Vec<(Option<BlockId>, String)> = Vec::new();
        for step in steps.into_iter().chain([Step::Read]) {
            match step {
                Step::Block { later, created, trades, gift } => {
                    let time = times[times.len() - 1].saturating_add_signed(later);
                    times.push(time);
                    let pools = fixture.pools();
                    fixture.block(time, |block| {
                        if let Some((a, b)) = created.filter(|(a, b)| a != b) {
                            number += 1;
                            let token = |number| if number == 0 { WRAPPED } else { id(number) };
                            let factory = if number % 5 == 0 { id(50) } else { FACTORY };
                            block.create(factory, number, [(token(a), 10_000_000 + a), (token(b), 20_000_000 + b)]);
                        }
                        for (pool, index, amount) in trades {
                            if let Some(pool) = pools.get(pool) {
                                block.swap(pool, index, amount);
                            }
                        }
                        if let Some((pool, reserves)) = gift
                            && let Some(pool) = pools.get(pool)
                        {
                            block.hold(pool, reserves);
                        }
                    });
                }
                Step::Undo(count) => {
                    for _ in 0..count.min(times.len() - 1) {
                        fixture.undo();
                        times.pop();
                    }
                }
                Step::Read => {
                    let book = fixture.book(previous.as_ref());
                    prop_assert_eq!(rendered(&book), rendered(&fixture.book(None)));
                    // A book of an older block, from one of a newer.
                    let height = fixture.height() / 2;
                    let older = fixture.book_at(height, Some(&book));
                    prop_assert_eq!(older.height(), height);
                    prop_assert_eq!(rendered(&older), rendered(&fixture.book_at(height, None)));
                    kept.push((book.block(), rendered(&book)));
                    previous = Some(book);
                }
            }
        }
        // A book of an older block is the one that was built when the block was the newest.
        for (block, then) in kept {
            let height = block.map_or(0, |block| block.height);
            let book = fixture.book_at(height, None);
            if book.block() == block {
                prop_assert_eq!(rendered(&book), then);
            }
        }
    }
}

#[test]
fn ten_thousand_pools_cost_no_more_reads_than_what_changed() {
    const POOLS: u128 = 10_000;
    let mut fixture = MarketFixture::new();
    let start = T0;
    fixture.block(start, |_| {});
    fixture.block(start + 600, |block| {
        let name = vec![b'x'; 100_000];
        for number in 0..POOLS {
            // Alkanes that were never created, names alike and huge.
            let pool = block.create(FACTORY, 1_000_000 + number, [(id(number), 1_000_000), (WRAPPED, 1_000_000)]);
            if number < 100 {
                block.name(pool.id, &name);
            }
        }
    });
    for day in 1..=9 {
        fixture.block(start + 600 + day * DAY, |_| {});
    }
    let cold = fixture.book(None);
    assert_eq!(cold.pools().len() as u128, POOLS);
    assert!(cold.pools().iter().all(|pool| pool.worth.tvl == Some(2_000_000) && pool.state.name.len() <= 256));
    assert_eq!(cold.pool(id(1_000_007)).unwrap().worth.tvl_change_week, Some(0.0));
    let pools = fixture.pools();
    fixture.block(start + 1_200 + 9 * DAY, |block| block.swap(&pools[77], 0, 50_000));

    let (contracts, rows) = (fixture.reads.get(), fixture.store.reads().total());
    let warm = fixture.book(Some(&cold));
    let (contracts, rows) = (fixture.reads.get() - contracts, fixture.store.reads().total() - rows);
    assert!(contracts <= 6, "{contracts} reads of contracts for one pool");
    assert!(rows <= 200, "{rows} rows read for one pool");
    assert_eq!(rendered(&warm), rendered(&fixture.book(None)));
    assert!(warm.price(id(77)).unwrap().change_day.unwrap() < 0.0);
}
