//! The candles of a pool as a numbered series, so that any page of them costs as much as the first, as of every height.

use paraffin_primitives::AlkaneId;
use paraffin_store::ModuleWriter;

use crate::candles::{candle_key, candle_prefix};
use crate::rows::{Parser, decode_count};
use crate::{AmmError, Candle, Journal, Markets, Page, Timeframe};

/// The candles of a pool in one timeframe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Series {
    /// Number of candles in the series.
    pub count: u32,
    /// Start of the oldest, Unix seconds.
    pub oldest: u32,
    /// Start of the newest, Unix seconds.
    pub newest: u32,
}

fn start_key(prefix: &[u8], number: u32) -> Vec<u8> {
    [prefix, &number.to_be_bytes()].concat()
}

/// Gives a new candle its number. Block times may go back a little, so a bucket can be new and not the newest: then the few
/// after it move up by one.
pub(crate) fn insert(
    journal: &Journal,
    pool: AlkaneId,
    timeframe: Timeframe,
    start: u32,
    rows: &mut ModuleWriter<'_>,
) -> Result<(), AmmError> {
    let prefix = candle_prefix(pool, timeframe);
    let count = decode_count("candle_counts", rows.get(&journal.candle_counts, &prefix)?.as_deref())?;
    let mut index = count;
    while let Some(below) = index.checked_sub(1) {
        let stored = rows.get(&journal.candle_starts, &start_key(&prefix, below))?;
        let other = stored.ok_or_else(|| missing(&prefix))?;
        if decode_count("candle_starts", Some(&other))? < start {
            break;
        }
        rows.put(&journal.candle_starts, &start_key(&prefix, index), &other)?;
        index = below;
    }
    rows.put(&journal.candle_starts, &start_key(&prefix, index), &start.to_be_bytes())?;
    let count = count.checked_add(1).ok_or_else(|| AmmError::Damaged("a series of candles is full".to_owned()))?;
    rows.put(&journal.candle_counts, &prefix, &count.to_be_bytes())?;
    Ok(())
}

fn missing(prefix: &[u8]) -> AmmError {
    AmmError::Damaged(format!("a series of candles has a gap (timeframe {})", prefix.last().copied().unwrap_or(0)))
}

impl Markets {
    /// How many candles a pool has, and where they begin and end; `None` without trades.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn series(&self, pool: AlkaneId, timeframe: Timeframe) -> Result<Option<Series>, AmmError> {
        let prefix = candle_prefix(pool, timeframe);
        let stored = self.snapshot.get_at(&self.journal.candle_counts, &prefix, self.height)?;
        let count = decode_count("candle_counts", stored.as_deref())?;
        let Some(last) = count.checked_sub(1) else { return Ok(None) };
        Ok(Some(Series { count, oldest: self.candle_start(&prefix, 0)?, newest: self.candle_start(&prefix, last)? }))
    }

    /// Candles of a pool, the newest first, after the newest `offset`; at most `limit`. Buckets without trades have none.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn candles_page(
        &self,
        pool: AlkaneId,
        timeframe: Timeframe,
        offset: u32,
        limit: u32,
    ) -> Result<Page<Candle>, AmmError> {
        let total = self.series(pool, timeframe)?.map_or(0, |series| series.count);
        let end = total.saturating_sub(offset);
        let items = match end.checked_sub(1) {
            Some(newest) if limit > 0 => {
                self.candles_numbered(pool, timeframe, end.saturating_sub(limit), newest, 0)?
            }
            _ => Vec::new(),
        };
        Ok(Page { items, total })
    }

    /// The candles from number `oldest` to `newest` that begin at `from` or later, Unix seconds, the newest first. One scan; wide ones,
    /// which have up to 144 versions a day, are looked for one by one after a scan of where they begin.
    pub(crate) fn candles_numbered(
        &self,
        pool: AlkaneId,
        timeframe: Timeframe,
        oldest: u32,
        newest: u32,
        from: u32,
    ) -> Result<Vec<Candle>, AmmError> {
        let prefix = candle_prefix(pool, timeframe);
        if matches!(timeframe, Timeframe::TenMinutes | Timeframe::Hour) {
            let begin = self.candle_start(&prefix, oldest)?;
            let end = self.candle_start(&prefix, newest)?;
            if from > end {
                return Ok(Vec::new());
            }
            let candles: Vec<Candle> =
                self.candles_between(pool, timeframe, begin.max(from), end)?.collect::<Result<_, _>>()?;
            let is_whole = candles.len() == (newest - oldest) as usize + 1;
            return if is_whole || begin < from { Ok(candles) } else { Err(missing(&prefix)) };
        }
        let (first, last) = (start_key(&prefix, oldest), start_key(&prefix, newest));
        let rows = self.snapshot.range_at(&self.journal.candle_starts, &first, &last, self.height)?;
        let starts = rows.rev().map(|row| decode_count("candle_starts", Some(&row?.1)));
        let starts =
            starts.take_while(|start: &Result<u32, AmmError>| start.as_ref().map_or(true, |start| *start >= from));
        starts.map(|start| self.candle(pool, timeframe, start?)).collect()
    }

    /// The newest candle that begins at or before a time, and how many begin before that candle; by halving.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn candle_before(
        &self,
        pool: AlkaneId,
        timeframe: Timeframe,
        time: u32,
    ) -> Result<Option<(Candle, u32)>, AmmError> {
        let Some(series) = self.series(pool, timeframe)? else { return Ok(None) };
        let prefix = candle_prefix(pool, timeframe);
        // All below `low` begin at or before the time, all from `high` on after it.
        let (mut low, mut high) = (0, series.count);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.candle_start(&prefix, middle)? <= time {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let Some(number) = low.checked_sub(1) else { return Ok(None) };
        let start = self.candle_start(&prefix, number)?;
        Ok(Some((self.candle(pool, timeframe, start)?, number)))
    }

    fn candle_start(&self, prefix: &[u8], number: u32) -> Result<u32, AmmError> {
        let stored = self.snapshot.get_at(&self.journal.candle_starts, &start_key(prefix, number), self.height)?;
        let stored = stored.ok_or_else(|| missing(prefix))?;
        let mut parser = Parser::new("candle_starts", &stored);
        let start = parser.number()?;
        parser.end(start)
    }

    /// The candle that begins at `start`, Unix seconds.
    fn candle(&self, pool: AlkaneId, timeframe: Timeframe, start: u32) -> Result<Candle, AmmError> {
        let stored = self.snapshot.get_at(&self.journal.candles, &candle_key(pool, timeframe, start), self.height)?;
        Candle::decode(start, &stored.ok_or_else(|| missing(&candle_prefix(pool, timeframe)))?)
    }
}

#[cfg(test)]
mod tests {
    use bitcoin::BlockHash;
    use bitcoin::hashes::Hash as _;
    use paraffin_primitives::{BlockId, Height, Network};
    use paraffin_store::{ModuleId, ModuleSchema, Store, StoreOptions};
    use proptest::prelude::*;

    use super::*;
    use crate::Ratio;
    use crate::tables::{JOURNAL, MODULE, SCHEMA};

    /// The same tables without the modules that they are filled from.
    const ALONE: ModuleSchema = ModuleSchema { reads: &[], ..SCHEMA };
    const POOL: AlkaneId = AlkaneId { block: 2, tx: 7 };

    fn id(height: Height) -> BlockId {
        BlockId { height, hash: BlockHash::from_byte_array([height as u8 + 1; 32]) }
    }

    /// Prices of 500 candles with six versions each are one scan, as of every height; an older page is no dearer.
    #[test]
    fn a_page_of_candles_is_one_scan() {
        let folder = tempfile::tempdir().unwrap();
        let options = StoreOptions { network: Network::Regtest, undo_blocks: None, memory_bytes: 256 << 20 };
        let store = Store::open(folder.path(), &options, &[ALONE]).unwrap();
        let mut writer = store.writer().unwrap();
        let hash =
            |height: u32| BlockHash::from_byte_array(std::array::from_fn(|index| (height >> (8 * (index % 4))) as u8));
        for height in 0_u32..3_600 {
            let previous = height.checked_sub(1).map_or(BlockHash::all_zeros(), hash);
            writer.begin_block(BlockId { height, hash: hash(height) }, previous, 0).unwrap();
            let mut rows = writer.module(ModuleId(MODULE.0)).unwrap();
            for (timeframe, blocks) in [(Timeframe::Hour, 6), (Timeframe::Day, 6)] {
                let start = height / blocks * 3_600;
                if height.is_multiple_of(blocks) {
                    insert(&JOURNAL, POOL, timeframe, start, &mut rows).unwrap();
                }
                let candle = Candle::of(start, Ratio::new(3, u128::from(height) + 1).unwrap(), [4, 3]);
                rows.put(&JOURNAL.candles, &candle_key(POOL, timeframe, start), &candle.encode()).unwrap();
            }
            writer.end_block().unwrap();
        }
        writer.commit(false).unwrap();
        for height in [3_599, 3_300] {
            let markets = Markets::at(&store.snapshot(), height);
            for (timeframe, looks) in [(Timeframe::Hour, 0), (Timeframe::Day, 500)] {
                let before = store.reads();
                let page = markets.candles_page(POOL, timeframe, 10, 500).unwrap();
                let after = store.reads();
                let last = height / 6 - 10;
                let numbers: Vec<u32> = page.items.iter().map(|candle| candle.start / 3_600).collect();
                assert_eq!(numbers, (last - 499..=last).rev().collect::<Vec<_>>());
                assert_eq!(page.items[0].close, Ratio::new(3, u128::from(last * 6 + 6)).unwrap());
                // Count, the two ends of the series and of the page, the scan; two reads for what was written since.
                let asked = after.gets + after.seeks - before.gets - before.seeks;
                assert!(asked <= looks + 8, "{asked} reads for a page of {}", timeframe.name());
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

        #[test]
        fn buckets_in_any_order_are_numbered_by_time_as_of_every_height(
            starts in prop::collection::vec(0u32..30, 1..30),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let options = StoreOptions { network: Network::Regtest, undo_blocks: None, memory_bytes: 256 << 20 };
            let store = Store::open(folder.path(), &options, &[ALONE]).unwrap();
            let mut writer = store.writer().unwrap();
            let candle = |start| Candle::of(start, Ratio::new(3, 4).unwrap(), [4, 3]);
            let mut known: Vec<Vec<u32>> = Vec::new();
            for (height, start) in (0u32..).zip(starts) {
                let start = start * 600;
                let mut now = known.last().cloned().unwrap_or_default();
                let previous = height.checked_sub(1).map_or(BlockHash::all_zeros(), |below| id(below).hash);
                writer.begin_block(id(height), previous, 0).unwrap();
                let mut rows = writer.module(ModuleId(MODULE.0)).unwrap();
                if !now.contains(&start) {
                    insert(&JOURNAL, POOL, Timeframe::TenMinutes, start, &mut rows).unwrap();
                    now.push(start);
                    now.sort_unstable();
                }
                let key = candle_key(POOL, Timeframe::TenMinutes, start);
                rows.put(&JOURNAL.candles, &key, &candle(start).encode()).unwrap();
                writer.end_block().unwrap();
                known.push(now);
            }
            writer.commit(false).unwrap();
            for (height, known) in (0u32..).zip(&known) {
                let markets = Markets::at(&store.snapshot(), height);
                let page = markets.candles_page(POOL, Timeframe::TenMinutes, 0, u32::MAX).unwrap();
                let newest_first: Vec<u32> = known.iter().rev().copied().collect();
                prop_assert_eq!(page.items.iter().map(|candle| candle.start).collect::<Vec<_>>(), newest_first);
                let series = markets.series(POOL, Timeframe::TenMinutes).unwrap().unwrap();
                prop_assert_eq!((series.count as usize, series.oldest), (known.len(), known[0]));
                prop_assert_eq!(Some(series.newest), known.last().copied());
                for time in [0, 599, 600, 9_000, 17_399, u32::MAX] {
                    let found = markets.candle_before(POOL, Timeframe::TenMinutes, time).unwrap();
                    let below = known.iter().filter(|start| **start <= time).count();
                    let expected = below.checked_sub(1).map(|number| (candle(known[number]), number as u32));
                    prop_assert_eq!(found, expected);
                }
            }
        }
    }
}
