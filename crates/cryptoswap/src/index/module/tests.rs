//! Lists with more rows than a page may have.

use bitcoin::hashes::Hash as _;
use bitcoin::{BlockHash, Txid};
use paraffin_alkanes::views::ViewError;
use paraffin_primitives::{BlockId, Network};
use paraffin_store::{Store, StoreOptions};
use prost::Message;

use super::*;
use crate::PoolIndex;
use crate::index::rows::PoolRow;
use crate::index::tables::MODULE;
use crate::proto::{self, GetCandlesRequest, GetPoolsRequest, GetPoolsResponse, GetSwapsRequest};
use crate::proto::{GetCandlesResponse, GetSwapsResponse};
use crate::views::{PAGE_ITEMS_MAX, PoolContracts, PoolViews, call};

/// Five more than a page may have; the second block adds one more of each.
const ROWS: u32 = PAGE_ITEMS_MAX + 5;
/// A day, so that every trade has a bucket of its own in both widths.
const DAY: u32 = 86_400;

fn id(tx: u128) -> AlkaneId {
    AlkaneId { block: 4, tx }
}

struct NoContracts;

impl PoolContracts for NoContracts {
    fn code(&self, _id: AlkaneId) -> Result<Vec<u8>, ViewError> {
        Ok(Vec::new())
    }

    fn storage(&self, _id: AlkaneId, _name: &[u8]) -> Result<Option<Vec<u8>>, ViewError> {
        Ok(None)
    }
}

/// Writes pools and trades of pool 0 with these numbers, by the code of the module.
fn write_rows(numbers: std::ops::Range<u32>, rows: &mut ModuleWriter<'_>) {
    let identity = |number: u32| Identity {
        number,
        coins: [id(u128::from(u32::MAX)), id(u128::from(u32::MAX) + 1)],
        precisions: [U256::from(10_000_000_000u64); 2],
    };
    let mut totals =
        rows.get(&TOTALS, &id_key(id(0))).unwrap().map(|stored| Totals::decode(&stored).unwrap()).unwrap_or_default();
    for number in numbers {
        let identity = identity(number);
        let pool = PoolRow { first_height: 0, first_time: 0, from_init: true, identity: Some(identity) };
        let key = id_key(id(u128::from(number)));
        rows.put(&POOLS, &key, &pool.encode()).unwrap();
        rows.put(&POOL_LIST, &number.to_be_bytes(), &key).unwrap();
        rows.put(&COUNTS, POOL_COUNT, &(number + 1).to_be_bytes()).unwrap();
        let swap = SwapRow {
            height: 0,
            time: number * DAY,
            txid: Txid::all_zeros(),
            vout: number,
            zero_for_one: true,
            amount_in: 1_000,
            amount_out: u128::from(number) + 1,
        };
        write_swap(id(0), &identity, &swap, &mut totals, rows).unwrap();
    }
    rows.put(&TOTALS, &id_key(id(0)), &totals.encode()).unwrap();
}

/// Answers of one list by pages of the most that is allowed: how many rows each has, its `total` and its `has_more`, and the rows.
fn pages<T: PartialEq + Clone>(
    read: impl Fn(Option<u32>, Option<u32>) -> (Vec<T>, u32, bool, u32),
    rows: u32,
) -> Vec<T> {
    let cap = PAGE_ITEMS_MAX as usize;
    let mut all = Vec::new();
    // Without a limit, and with more than is allowed.
    for limit in [None, Some(PAGE_ITEMS_MAX + 1)] {
        let (first, total, has_more, limit_used) = read(None, limit);
        assert_eq!((first.len(), total, has_more, limit_used), (cap, rows, true, PAGE_ITEMS_MAX), "{limit:?}");
        let (second, total, has_more, _) = read(Some(1), limit);
        assert_eq!((second.len(), total, has_more), (rows as usize - cap, rows, false), "{limit:?}");
        let both = [first, second].concat();
        assert!(all.is_empty() || all == both, "{limit:?}");
        all = both;
    }
    assert!(read(Some(2), None).0.is_empty());
    all
}

/// row PI21
#[test]
fn a_page_of_each_list_has_twenty_thousand_rows_of_more_and_the_next_one_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions { network: Network::Regtest, undo_blocks: None, memory_bytes: 256 << 20 };
    let store = Store::open(folder.path(), &options, &[paraffin_alkanes::SCHEMA, SCHEMA]).unwrap();
    let mut writer = store.writer().unwrap();
    let mut previous = BlockHash::all_zeros();
    for (height, numbers) in [(0, 0..ROWS), (1, ROWS..ROWS + 1)] {
        let hash = BlockHash::from_byte_array([height as u8 + 1; 32]);
        writer.begin_block(BlockId { height, hash }, previous, 0).unwrap();
        write_rows(numbers, &mut writer.module(MODULE).unwrap());
        writer.end_block().unwrap();
        writer.commit(false).unwrap();
        previous = hash;
    }
    // As of the newest block, and of the one before, which is read in another way.
    for (height, rows) in [(1, ROWS + 1), (0, ROWS)] {
        let index = PoolIndex::at(&store.snapshot(), height);
        let rules = PoolRules::default();
        let views = PoolViews { index: &index, rules: &rules, contracts: &NoContracts, is_over: &|| false };
        let pool = Some(proto::AlkaneId::from(id(0)));

        let pools = pages(
            |page, limit| {
                let request = GetPoolsRequest { canonical: None, page, limit }.encode_to_vec();
                let answer = GetPoolsResponse::decode(&call("getpools", &request, &views).unwrap()[..]).unwrap();
                let ids = answer.pools.into_iter().map(|pool| AlkaneId::from(pool.pool.unwrap()).tx).collect();
                (ids, answer.total, answer.has_more, answer.limit)
            },
            rows,
        );
        assert!(pools.iter().copied().eq((0..u128::from(rows)).rev()), "every pool once, the newest first");

        let swaps = pages(
            |page, limit| {
                let request = GetSwapsRequest { pool, page, limit }.encode_to_vec();
                let answer = GetSwapsResponse::decode(&call("getswaps", &request, &views).unwrap()[..]).unwrap();
                let times = answer.swaps.into_iter().map(|swap| swap.timestamp).collect();
                (times, answer.total, answer.has_more, answer.limit)
            },
            rows,
        );
        assert!(swaps.iter().copied().eq((0..u64::from(rows)).rev().map(|number| number * u64::from(DAY))));

        for bucket in BUCKET_WIDTHS {
            let candles = pages(
                |page, limit| {
                    let request = GetCandlesRequest { pool, bucket, page, limit, ..GetCandlesRequest::default() };
                    let answer = call("getcandles", &request.encode_to_vec(), &views).unwrap();
                    let answer = GetCandlesResponse::decode(&answer[..]).unwrap();
                    let starts = answer.candles.into_iter().map(|candle| candle.bucket_start).collect();
                    (starts, answer.total, answer.has_more, answer.limit)
                },
                rows,
            );
            assert!(candles.iter().copied().eq((0..u64::from(rows)).map(|number| number * u64::from(DAY))), "{bucket}");
        }
    }
}
