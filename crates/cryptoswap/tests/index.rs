//! The pool index over real runs of the pool's contract: rows and answers.
#![allow(clippy::unwrap_used)]

mod chain;

use std::collections::BTreeMap;

use bitcoin::Txid;
use bitcoin::hashes::Hash as _;
use chain::{
    BEGIN, BTC, Chain, NOTHING, OF_POOL, OWNER, POOL, POOL_CODE, USD, deed, deploy, id, init, pool, rules, traded,
};
use paraffin_alkanes::{StateKey, StateReader as _};
use paraffin_cryptoswap::proto::{
    self, GetBlockSummaryRequest, GetBlockSummaryResponse, GetCandleAtRequest, GetCandleAtResponse, GetCandlesRequest,
    GetCandlesResponse, GetPoolRequest, GetPoolResponse, GetPoolStateResponse, GetPoolsRequest, GetPoolsResponse,
    GetPriceResponse, GetRawValueRequest, GetRawValueResponse, GetReservesResponse, GetSwapsRequest, GetSwapsResponse,
    IndexHeightRequest, IndexHeightResponse,
};
use paraffin_cryptoswap::views::PRICE_Q_SCALE;
use paraffin_cryptoswap::{PoolIndex, PoolRules};
use paraffin_cryptoswap_math::U256;
use paraffin_primitives::{AlkaneId, Height};
use prost::Message;

/// As it is displayed.
fn displayed(txid: &Txid) -> Vec<u8> {
    let mut bytes = txid.to_byte_array().to_vec();
    bytes.reverse();
    bytes
}

/// row PI02
/// row PI08
/// row PI27
#[test]
fn a_pool_is_found_from_its_proxy_on_and_has_a_state_once_it_has_written_one() {
    let mut chain = Chain::deployed(rules());
    assert_eq!(chain.bytes_at(1, "getpool", &OF_POOL.encode_to_vec()).unwrap(), NOTHING);
    let bare: GetPoolResponse = chain.view("getpool", &OF_POOL);
    assert!(bare.found && bare.state.is_none());
    let record = bare.pool.unwrap();
    assert_eq!((record.first_seen_height, record.from_init, record.is_canonical), (2, false, true));
    for name in ["getpoolstate", "getreserves"] {
        assert_eq!(chain.bytes_at(2, name, &OF_POOL.encode_to_vec()).unwrap(), NOTHING, "{name}");
    }
    chain.mine(&[deed(POOL, &init([BTC, USD]))]);
    let begun: GetPoolResponse = chain.view("getpool", &OF_POOL);
    let (record, state) = (begun.pool.unwrap(), begun.state.unwrap());
    assert!(record.from_init);
    assert_eq!((state.height, state.d.as_str(), state.reserve0.as_str()), (3, "0", "0"));
    // The height before still answers as it did.
    let before: GetPoolResponse = chain.view_at(2, "getpool", &OF_POOL);
    assert!(before.state.is_none() && !before.pool.unwrap().from_init);
}

/// row PI24
/// row PI25
#[test]
fn any_pool_is_found_by_its_answer_to_106_and_nothing_else_is() {
    let none = PoolRules { canonical: Vec::new(), ..PoolRules::default() };
    let mut chain = Chain::founded(none);
    let second = id(4, 1779);
    chain.mine(&[
        deploy(second.tx, "cryptoswap-pool", &[50]),
        // No proxy: a pool of its own, whose coin order is that of the tokens.
        deploy(1780, "upgradeable-proxy", &[0x7ffc, POOL_CODE.block, POOL_CODE.tx, OWNER.block, OWNER.tx]),
    ]);
    let third = id(4, 1780);
    chain.mine(&[deed(third, &init([USD, BTC])), deed(POOL, &[5, 0, 1, 1_000_000, 1])]);
    let all: GetPoolsResponse = chain.view("getpools", &GetPoolsRequest::default());
    let found: Vec<_> = all.pools.iter().map(|pool| AlkaneId::from(pool.pool.unwrap())).collect();
    // The newest first; neither the code of the pools nor a token is one.
    assert_eq!(found, [third, POOL]);
    assert_eq!((all.total, all.page, all.limit, all.has_more), (2, 0, 20_000, false));
    assert!(all.pools.iter().all(|pool| !pool.is_canonical && pool.from_init));
    let orders: Vec<bool> = all.pools.iter().map(|pool| pool.coin0_is_token0).collect();
    assert_eq!(orders, [true, false]);
    for pool in &all.pools {
        assert_eq!([pool.token0, pool.token1], [Some(USD.into()), Some(BTC.into())]);
    }
    let summary: GetBlockSummaryResponse = chain.view("getblocksummary", &GetBlockSummaryRequest { height: 3 });
    assert_eq!((summary.new_pool_count, summary.tx_count), (1, 1));
    // Turned round: the raw slot is USD per BTC there, the price BTC per USD.
    let request = GetPoolRequest { pool: Some(third.into()) };
    let state = chain.view::<GetPoolStateResponse>("getpoolstate", &request).state.unwrap();
    let slot: U256 = state.price_scale.parse().unwrap();
    let square = U256::from(10).pow(U256::from(36));
    assert_eq!(state.marginal_price_q, Some((square / slot).to_string()));
    assert!(!chain.view::<GetPoolResponse>("getpool", &GetPoolRequest { pool: Some(USD.into()) }).found);
}

/// row PI07
#[test]
fn main_pools_and_others_are_listed_apart_and_by_pages() {
    let mut chain = Chain::founded(rules());
    let others = [id(4, 1_001), id(4, 1_002), id(4, 1_003)];
    for other in others {
        let implementation = [0x7ffc, POOL_CODE.block, POOL_CODE.tx, OWNER.block, OWNER.tx];
        chain.mine(&[deploy(other.tx, "upgradeable-proxy", &implementation), deed(other, &init([BTC, USD]))]);
    }
    let list = |canonical, page, limit| {
        let answer: GetPoolsResponse = chain.view("getpools", &GetPoolsRequest { canonical, page, limit });
        assert!(answer.ok && answer.price_q_scale == PRICE_Q_SCALE);
        let pools: Vec<_> = answer.pools.iter().map(|pool| pool.pool.unwrap().tx).collect();
        (pools, answer.total, answer.has_more)
    };
    assert_eq!(list(None, None, None), (vec![1_003, 1_002, 1_001, 1_778], 4, false));
    assert_eq!(list(Some(true), None, None), (vec![1_778], 1, false));
    assert_eq!(list(Some(false), None, None), (vec![1_003, 1_002, 1_001], 3, false));
    assert_eq!(list(Some(false), Some(0), Some(2)), (vec![1_003, 1_002], 3, true));
    assert_eq!(list(Some(false), Some(1), Some(2)), (vec![1_001], 3, false));
    assert_eq!(list(None, Some(1), Some(3)), (vec![1_778], 4, false));
    assert_eq!(list(None, Some(9), Some(3)), (vec![], 4, false));
    assert_eq!(list(None, None, Some(0)), (vec![], 4, true));
}

/// A state by another way: the raw slots, read one by one, and the orientation by hand.
fn recomputed(chain: &Chain, height: Height, changed: (Height, u32)) -> proto::PoolState {
    let state = chain.state(height);
    let slot = |name: &str| -> u128 {
        let stored = state.get(&StateKey::Storage(POOL, name.as_bytes().to_vec())).unwrap().unwrap_or_default();
        // Only curves have more than 128 bits.
        assert!(stored.iter().skip(16).all(|byte| *byte == 0), "{name}");
        stored.iter().take(16).rev().fold(0, |number, byte| number << 8 | u128::from(*byte))
    };
    let text = |name| slot(name).to_string();
    let price = |name| Some(text(name)).filter(|price| price != "0");
    let end = slot("/future_A_gamma_height");
    proto::PoolState {
        height: changed.0,
        timestamp: changed.1.into(),
        reserve0: text("/balances/1"),
        reserve1: text("/balances/0"),
        total_supply: text("/totalsupply"),
        price_scale: text("/price_scale"),
        price_oracle: text("/price_oracle"),
        last_prices: text("/last_prices"),
        last_prices_height: slot("/last_prices_height") as u64,
        marginal_price_q: price("/price_scale"),
        oracle_price_q: price("/price_oracle"),
        last_price_q: price("/last_prices"),
        d: text("/D"),
        virtual_price: text("/virtual_price"),
        xcp_profit: text("/xcp_profit"),
        is_killed: slot("/is_killed") == 1,
        ramping: end > u128::from(height),
        future_ag_height: end as u64,
    }
}

/// Messages of a block that went well, each with the index of its transaction: in this chain the last step of a message decides.
fn successes(chain: &Chain, height: Height) -> Vec<(u32, Vec<u128>, Vec<paraffin_alkanes::TraceEvent>)> {
    use paraffin_alkanes::{TraceEvent, TraceStatus};
    let traces = chain.state(height).block_traces(height).unwrap().into_iter();
    let kept = traces.filter(|trace| {
        matches!(trace.trace.events.last(), Some(TraceEvent::Exit { status: TraceStatus::Success, .. }))
    });
    kept.filter_map(|trace| {
        let enter = trace.trace.events.iter().find_map(|event| match event {
            TraceEvent::Enter { context, .. } if context.myself == POOL => Some(context.inputs.clone()),
            _ => None,
        });
        enter.map(|inputs| (trace.transaction_index, inputs, trace.trace.events))
    })
    .collect()
}

fn writes(event: &paraffin_alkanes::TraceEvent) -> bool {
    matches!(event, paraffin_alkanes::TraceEvent::Exit { response, .. } if !response.storage.is_empty())
}

/// row PI09
/// row PI10
/// row PI18
/// row PI22
#[test]
fn every_state_is_what_the_raw_slots_say_at_every_height() {
    let chain = traded(rules());
    let (mut changed, mut ramping, mut killed) = ((2, 0), 0, 0);
    for height in 3..=chain.tip() {
        if successes(&chain, height).iter().any(|(_, _, events)| events.iter().any(writes)) {
            changed = (height, chain.blocks[height as usize].block.header.time);
        }
        let answer: GetPoolStateResponse = chain.view_at(height, "getpoolstate", &OF_POOL);
        let expected = recomputed(&chain, height, changed);
        assert_eq!(answer.state.as_ref(), Some(&expected), "{height}");
        assert_eq!((answer.token0, answer.token1), (Some(USD.into()), Some(BTC.into())));
        ramping += u32::from(expected.ramping);
        killed += u32::from(expected.is_killed);
        let reserves: GetReservesResponse = chain.view_at(height, "getreserves", &OF_POOL);
        assert_eq!(reserves.reserve0, expected.reserve0);
        assert_eq!(reserves.reserve1, expected.reserve1);
        assert_eq!(reserves.total_supply, expected.total_supply);
        assert_eq!((reserves.height, reserves.timestamp), (expected.height, expected.timestamp));
        let price: GetPriceResponse = chain.view_at(height, "getprice", &OF_POOL);
        assert_eq!(
            (price.marginal_price_q, price.oracle_price_q),
            (expected.marginal_price_q, expected.oracle_price_q)
        );
        assert_eq!(price.state_height, Some(expected.height));
    }
    assert!(ramping > 2 && killed > 1, "{ramping} {killed}");
}

/// row PI06
/// row PI26
#[test]
fn every_slot_is_told_with_its_last_writer() {
    let chain = traded(rules());
    let mut writers: BTreeMap<Vec<u8>, (Txid, Vec<u8>)> = BTreeMap::new();
    let mut overwritten = 0;
    for height in 2..=chain.tip() {
        for (transaction, _, events) in successes(&chain, height) {
            let txid = chain.blocks[height as usize].txids[transaction as usize];
            for event in events {
                let paraffin_alkanes::TraceEvent::Exit { response, .. } = event else { continue };
                for (name, value) in response.storage {
                    overwritten += u32::from(writers.insert(name, (txid, value)).is_some());
                }
            }
        }
    }
    assert!(writers.len() >= 25 && overwritten > 100, "{} {overwritten}", writers.len());
    for (name, (txid, value)) in &writers {
        let request = GetRawValueRequest { pool: pool(), key: name.clone() };
        let answer: GetRawValueResponse = chain.view("getrawvalue", &request);
        assert!(answer.found);
        assert_eq!(answer.value, *value, "{}", String::from_utf8_lossy(name));
        assert_eq!(answer.txid, displayed(txid), "{}", String::from_utf8_lossy(name));
    }
    let key = |key: &[u8]| GetRawValueRequest { pool: pool(), key: key.to_vec() }.encode_to_vec();
    for (height, request) in [(chain.tip(), key(b"/no such slot")), (chain.tip(), key(b"")), (2, key(b"/price_scale"))]
    {
        assert_eq!(chain.bytes_at(height, "getrawvalue", &request).unwrap(), NOTHING);
    }
    // Another contract's slots are not returned.
    let other = GetRawValueRequest { pool: Some(USD.into()), key: b"/name".to_vec() };
    assert!(!chain.view::<GetRawValueResponse>("getrawvalue", &other).found);
}

/// A trade as its trace records it.
#[derive(Debug, Clone, PartialEq)]
struct TracedTrade {
    height: Height,
    time: u32,
    txid: Vec<u8>,
    sells_usd: bool,
    amount_in: u128,
    amount_out: u128,
}

fn traced_trades(chain: &Chain) -> Vec<TracedTrade> {
    let mut traced = Vec::new();
    for height in 3..=chain.tip() {
        let block = &chain.blocks[height as usize];
        for (transaction, inputs, events) in successes(chain, height) {
            if inputs[0] != 5 {
                continue;
            }
            let Some(paraffin_alkanes::TraceEvent::Exit { response, .. }) = events.last() else { unreachable!() };
            let amount_out = u128::from_le_bytes(response.data[..16].try_into().unwrap());
            let txid = displayed(&block.txids[transaction as usize]);
            let time = block.block.header.time;
            traced.push(TracedTrade {
                height,
                time,
                txid,
                sells_usd: inputs[1] == 1,
                amount_in: inputs[3],
                amount_out,
            });
        }
    }
    traced
}

fn price_q(traced: &TracedTrade) -> Option<u128> {
    let (usd, btc) =
        if traced.sells_usd { (traced.amount_in, traced.amount_out) } else { (traced.amount_out, traced.amount_in) };
    (btc * 1_000_000_000_000_000_000).checked_div(usd)
}

/// row PI11
/// row PI12
/// row PI17
/// row PI26
#[test]
fn swaps_are_those_of_the_traces_the_newest_first() {
    let chain = traded(rules());
    let mut traced = traced_trades(&chain);
    assert!(traced.len() >= 8, "{}", traced.len());
    traced.reverse();
    let all: GetSwapsResponse = chain.view("getswaps", &GetSwapsRequest { pool: pool(), page: None, limit: None });
    assert!(all.ok && !all.has_more);
    assert_eq!((all.total, all.page, all.limit), (traced.len() as u32, 0, 20_000));
    for (swap, traced) in all.swaps.iter().zip(&traced) {
        assert_eq!((swap.height, swap.timestamp), (traced.height, traced.time.into()));
        assert_eq!((&swap.txid, swap.vout), (&traced.txid, 3));
        assert_eq!(
            (swap.amount_in.clone(), swap.amount_out.clone()),
            (traced.amount_in.to_string(), traced.amount_out.to_string())
        );
        assert_eq!(swap.zero_for_one, traced.sells_usd);
        let (token_in, token_out) = if traced.sells_usd { (USD, BTC) } else { (BTC, USD) };
        assert_eq!((swap.token_in, swap.token_out), (Some(token_in.into()), Some(token_out.into())));
        assert_eq!(swap.price_q, price_q(traced).unwrap_or_default().to_string());
    }
    // Every size of page gives the same list.
    for limit in 1..=traced.len() as u32 + 1 {
        let mut pages = Vec::new();
        for page in 0.. {
            let request = GetSwapsRequest { pool: pool(), page: Some(page), limit: Some(limit) };
            let answer: GetSwapsResponse = chain.view("getswaps", &request);
            assert_eq!((answer.total, answer.page, answer.limit), (traced.len() as u32, page, limit));
            pages.extend(answer.swaps);
            assert_eq!(answer.has_more, pages.len() < traced.len());
            if !answer.has_more {
                break;
            }
        }
        assert_eq!(pages, all.swaps);
    }
    let nothing = GetSwapsRequest { pool: pool(), page: None, limit: Some(0) };
    let nothing: GetSwapsResponse = chain.view("getswaps", &nothing);
    assert_eq!((nothing.swaps.len(), nothing.total, nothing.has_more), (0, traced.len() as u32, true));
    let price: GetPriceResponse = chain.view("getprice", &OF_POOL);
    let newest = traced.iter().find(|traced| price_q(traced).is_some()).unwrap();
    assert_eq!(price.executed_price_q, price_q(newest).map(|price| price.to_string()));
    assert_eq!((price.executed_height, price.executed_txid), (Some(newest.height), newest.txid.clone()));
    assert_eq!(price.executed_timestamp, Some(newest.time.into()));
    // Before the first trade there is no executed price, though the pool has a price.
    let before: GetPriceResponse = chain.view_at(4, "getprice", &OF_POOL);
    assert!(before.executed_price_q.is_none() && before.executed_txid.is_empty() && before.marginal_price_q.is_some());
    let record = chain.view::<GetPoolResponse>("getpool", &OF_POOL).pool.unwrap();
    let sum = |sells: bool| -> u128 {
        traced.iter().map(|traced| if traced.sells_usd == sells { traced.amount_in } else { traced.amount_out }).sum()
    };
    assert_eq!(
        (record.swap_count, record.volume0, record.volume1),
        (traced.len().to_string(), sum(true).to_string(), sum(false).to_string())
    );
}

/// row PI13
/// row PI14
/// row PI19
/// row PI20
/// row PI21
/// row PI30
#[test]
fn candles_are_made_of_the_executed_trades_alone() {
    let chain = traded(rules());
    let traced = traced_trades(&chain);
    for width in [3_600u32, 86_400] {
        let mut expected: BTreeMap<u64, proto::Candle> = BTreeMap::new();
        for traced in &traced {
            let Some(price) = price_q(traced) else { continue };
            let start = u64::from(traced.time - traced.time % width);
            let (usd, btc) = if traced.sells_usd {
                (traced.amount_in, traced.amount_out)
            } else {
                (traced.amount_out, traced.amount_in)
            };
            let text = price.to_string();
            match expected.get_mut(&start) {
                None => {
                    let candle = proto::Candle {
                        bucket_start: start,
                        open: text.clone(),
                        high: text.clone(),
                        low: text.clone(),
                        close: text,
                        volume0: usd.to_string(),
                        volume1: btc.to_string(),
                        trades: 1,
                    };
                    expected.insert(start, candle);
                }
                Some(candle) => {
                    let number = |text: &String| text.parse::<u128>().unwrap();
                    candle.high = number(&candle.high).max(price).to_string();
                    candle.low = number(&candle.low).min(price).to_string();
                    candle.close = text;
                    candle.volume0 = (number(&candle.volume0) + usd).to_string();
                    candle.volume1 = (number(&candle.volume1) + btc).to_string();
                    candle.trades += 1;
                }
            }
        }
        let expected: Vec<proto::Candle> = expected.into_values().collect();
        assert!(expected.len() >= 3, "{width}: {}", expected.len());
        let request = GetCandlesRequest { pool: pool(), bucket: width, ..GetCandlesRequest::default() };
        let all: GetCandlesResponse = chain.view("getcandles", &request);
        assert!(all.ok && !all.has_more && all.supported_buckets == [3_600, 86_400]);
        assert_eq!(all.candles, expected);
        assert_eq!((all.total, all.limit, all.bucket), (expected.len() as u32, 20_000, width));
        // Both ends of the range are in it.
        let [first, .., last] = &expected[..] else { unreachable!() };
        let ranged = |from, to| -> Vec<proto::Candle> {
            chain.view::<GetCandlesResponse>("getcandles", &GetCandlesRequest { from, to, ..request }).candles
        };
        assert_eq!(ranged(Some(first.bucket_start), Some(last.bucket_start)), expected);
        assert_eq!(ranged(Some(first.bucket_start + 1), None), expected[1..]);
        assert_eq!(ranged(None, Some(last.bucket_start - 1)), expected[..expected.len() - 1]);
        assert_eq!(ranged(Some(last.bucket_start), Some(first.bucket_start)), []);
        // Pages ascend.
        let page = GetCandlesRequest { page: Some(1), limit: Some(2), ..request };
        let page: GetCandlesResponse = chain.view("getcandles", &page);
        assert_eq!(page.candles, expected[2..expected.len().min(4)]);
        assert_eq!(page.has_more, expected.len() > 4);
        let nothing: GetCandlesResponse = chain.view("getcandles", &GetCandlesRequest { limit: Some(0), ..request });
        assert_eq!((nothing.candles.len(), nothing.total, nothing.ok), (0, expected.len() as u32, true));
        for candle in &expected {
            for at in [candle.bucket_start, candle.bucket_start + u64::from(width) - 1] {
                let request = GetCandleAtRequest { pool: pool(), bucket: width, at };
                let answer: GetCandleAtResponse = chain.view("getcandleat", &request);
                assert_eq!((answer.found, answer.candle.as_ref()), (true, Some(candle)));
            }
        }
        let request = GetCandleAtRequest { pool: pool(), bucket: width, at: first.bucket_start - 1 };
        assert_eq!(chain.bytes_at(chain.tip(), "getcandleat", &request.encode_to_vec()).unwrap(), NOTHING);
    }
    // A pool without trades has a price and no candles.
    let request = GetCandlesRequest { pool: pool(), bucket: 3_600, ..GetCandlesRequest::default() };
    let before: GetCandlesResponse = chain.view_at(4, "getcandles", &request);
    assert!(before.ok && before.candles.is_empty() && before.total == 0);
    for bucket in [0, 1, 900, 3_601, 604_800] {
        let answer: GetCandlesResponse = chain.view("getcandles", &GetCandlesRequest { bucket, ..request });
        let expected = GetCandlesResponse {
            pool: pool(),
            bucket,
            supported_buckets: vec![3_600, 86_400],
            ..GetCandlesResponse::default()
        };
        assert_eq!(answer, expected);
        let at: GetCandleAtResponse =
            chain.view("getcandleat", &GetCandleAtRequest { pool: pool(), bucket, at: u64::from(BEGIN) });
        assert_eq!((at.found, at.supported_buckets), (false, vec![3_600, 86_400]));
    }
}

/// row PI05
/// row PI26
#[test]
fn a_block_is_summed_up_by_what_it_did() {
    let chain = traded(rules());
    let mut sum = [0u32; 7];
    for height in 1..=chain.tip() {
        let answer: GetBlockSummaryResponse = chain.view("getblocksummary", &GetBlockSummaryRequest { height });
        assert!(answer.found && answer.height == height);
        assert_eq!(answer.blockhash, chain.blocks[height as usize].id.hash.to_string());
        let deeds = successes(&chain, height);
        let count =
            |opcodes: &[u128]| deeds.iter().filter(|(_, inputs, _)| opcodes.contains(&inputs[0])).count() as u32;
        let counted = [
            answer.tx_count,
            answer.swap_count,
            answer.new_pool_count,
            answer.add_liquidity_count,
            answer.remove_liquidity_count,
            answer.claim_fees_count,
            answer.admin_count,
        ];
        let new = u32::from(height == 2);
        let all = deeds.len() as u32;
        let expected = [all, count(&[5]), new, count(&[1]), count(&[2, 3]), count(&[10]), count(&[11, 12, 13, 14, 15])];
        assert_eq!(counted, expected, "{height}");
        for (sum, counted) in sum.iter_mut().zip(counted) {
            *sum += counted;
        }
    }
    assert!(sum.iter().all(|sum| *sum > 0), "{sum:?}");
    for height in [0, chain.tip() + 1, u32::MAX] {
        let request = GetBlockSummaryRequest { height }.encode_to_vec();
        assert_eq!(chain.bytes_at(chain.tip(), "getblocksummary", &request).unwrap(), NOTHING);
    }
    // As of a height, the blocks above are not there.
    assert_eq!(
        chain.bytes_at(3, "getblocksummary", &GetBlockSummaryRequest { height: 4 }.encode_to_vec()).unwrap(),
        NOTHING
    );
}

/// row PI04
/// row PI29
#[test]
fn the_height_of_the_index_is_the_one_asked_about() {
    let chain = Chain::founded(rules());
    for height in 0..=chain.tip() {
        let answer: IndexHeightResponse = chain.view_at(height, "indexheight", &IndexHeightRequest {});
        assert_eq!(answer.height, Some(height));
    }
}

/// row PI03
/// row PI15
/// row PI28
#[test]
fn ping_answers_and_code_is_given_for_wrapped_ids_alone() {
    let chain = Chain::founded(rules());
    assert_eq!(chain.bytes_at(0, "ping", &[]).unwrap(), b"\x0a\x04pong");
    let wrapped = proto::BytecodeRequest { id: pool() }.encode_to_vec();
    assert_eq!(chain.bytes_at(3, "getbytecode", &wrapped).unwrap(), b"4:1778");
    for bare in [&[][..], &pool().unwrap().encode_to_vec()] {
        assert_eq!(chain.bytes_at(3, "getbytecode", bare).unwrap(), NOTHING);
    }
    assert!(matches!(chain.bytes_at(3, "getnothing", &[]), Err(paraffin_alkanes::views::ViewError::Unknown)));
}

/// Slots under other names are found by configuration; a pool that is configured needs none of them to be known.
#[test]
fn names_of_slots_are_configuration() {
    let mut other = rules();
    assert!(other.slots.set("price_scale", "/elsewhere"));
    let chain = Chain::founded(other);
    let answer: GetPoolResponse = chain.view("getpool", &OF_POOL);
    assert!(answer.found && answer.state.is_none());
    let mut coins = rules();
    for (key, name) in [("coin0", "/c0"), ("coin1", "/c1"), ("balance0", "/b0"), ("balance1", "/b1")] {
        assert!(coins.slots.set(key, name));
    }
    let chain = Chain::founded(coins);
    let answer: GetPoolResponse = chain.view("getpool", &OF_POOL);
    let (record, state) = (answer.pool.unwrap(), answer.state.unwrap());
    assert_eq!((record.token0, record.token1), (Some(USD.into()), Some(BTC.into())));
    // Without slots of their own the reserves are what the contract holds.
    assert_eq!((state.reserve0.as_str(), state.reserve1.as_str()), ("6408394000000", "100000000"));
    assert_eq!(PoolIndex::newest(&chain.store.snapshot()).unwrap(), Some(chain.tip()));
}
