//! `CryptoSwap` pools, which no factory lists, where a request names one (docs/api.md, "Markets").

use std::collections::HashMap;

use paraffin_amm::{Dollars, MarketBook, PoolQuery, Ratio};
use paraffin_cryptoswap::{IndexError, PoolIndex, PoolRecord, Slot, Swap};
use paraffin_primitives::AlkaneId;
use serde_json::{Value, json};

use super::pool_record::{PoolDetails, number};
use super::problem::Problem;
use super::record::{Members, Record};
use crate::alkanes::words;
use crate::markets::MarketMoment;

/// Seconds of the candles that windows are summed from.
const HOUR: u32 = 3_600;
/// Hours of the windows that records report.
const WINDOWS: [(&str, u64); 3] = [("1d", 24), ("7d", 168), ("30d", 720)];

/// A pool that this instance's pool index knows.
pub(super) struct CryptoPool {
    record: PoolRecord,
    index: PoolIndex,
}

impl From<IndexError> for Problem {
    fn from(error: IndexError) -> Self {
        Self::View(error.into())
    }
}

/// The pool; `None` when the id is that of none, or pools are not indexed here.
pub(super) fn find(moment: &MarketMoment<'_>, id: AlkaneId) -> Result<Option<CryptoPool>, Problem> {
    let Some(index) = moment.cryptoswap()? else { return Ok(None) };
    Ok(index.pool(id)?.map(|record| CryptoPool { record, index }))
}

/// The main pools that a search among all pools finds.
pub(super) fn found(
    moment: &MarketMoment<'_>,
    query: &PoolQuery,
    symbols: &HashMap<AlkaneId, String>,
) -> Result<Vec<CryptoPool>, Problem> {
    let mut found = Vec::new();
    for pool in &moment.parts.cryptoswap_pools {
        let Some(known) = find(moment, *pool)? else { continue };
        let named = name(moment, *pool)?.unwrap_or_default();
        let tokens = known.tokens();
        let symbols = tokens.map(|token| symbols.get(&token).map(String::as_str));
        if query.rank(*pool, tokens, &named, symbols).is_some() {
            found.push(known);
        }
    }
    Ok(found)
}

/// The name of a contract.
pub(super) fn name(moment: &MarketMoment<'_>, id: AlkaneId) -> Result<Option<String>, Problem> {
    let creation = moment.chain.state.creation(id)?;
    Ok(creation.map(|creation| words(moment.chain, creation)).transpose()?.and_then(|words| words.name.clone()))
}

impl CryptoPool {
    /// Its alkanes as prices see them.
    fn tokens(&self) -> [AlkaneId; 2] {
        self.record.identity.tokens()
    }

    /// What it holds of them.
    fn reserves(&self, moment: &MarketMoment<'_>) -> Result<[u128; 2], Problem> {
        let [first, second] = self.tokens();
        let held = |token| moment.chain.state.balance(token, self.record.id);
        Ok([held(first)?, held(second)?])
    }

    /// The record of the pool: the members of other pools that it has, and `type`.
    pub(super) fn details(&self, moment: &MarketMoment<'_>, dollars: Dollars) -> Result<Record<PoolDetails>, Problem> {
        let book = moment.book()?;
        let id = self.record.id;
        let (tokens, reserves) = (self.tokens(), self.reserves(moment)?);
        let supply = self.index.state(id)?.map(|state| state.number(Slot::TotalSupply).to_string());
        let mut record = Members::default()
            .with("type", "cryptoswap")
            .with("id", id.to_string())
            .with("block", id.block.to_string())
            .with("tx", id.tx.to_string())
            .with_id("poolId", id)
            .with("factoryId", Value::Null)
            .with_parts("pool", id)
            .with_id("token0", tokens[0])
            .with_id("token1", tokens[1])
            .with_parts("token0", tokens[0])
            .with_parts("token1", tokens[1])
            .with("poolName", name(moment, self.record.id)?)
            .with_amount("token0Amount", reserves[0])
            .with_amount("token1Amount", reserves[1])
            .with_amount("reserve0", reserves[0])
            .with_amount("reserve1", reserves[1])
            .with("tokenSupply", supply.clone())
            .with("totalSupply", supply)
            .with("creatorAddress", Value::Null)
            .with("creationBlockHeight", self.record.first_height);
        let mut put = |name: &str, value: Value| record = std::mem::take(&mut record).with(name, value);
        let held = |place: usize| {
            let price = book.price(tokens[place])?;
            Some(price.price.value(reserves[place]).min(price.depth))
        };
        let (first, second) = (held(0), held(1));
        let both = first.zip(second).map(|(first, second)| first.saturating_add(second));
        for (name, satoshis) in [("token0Tvl", first), ("token1Tvl", second), ("poolTvl", both)] {
            put(&format!("{name}InSats"), json!(satoshis));
            put(&format!("{name}InUsd"), dollars.of(satoshis).into());
        }
        put("tvl", dollars.of(both).into());
        for (window, traded) in self.traded(&book)? {
            put(&format!("token0Volume{window}"), traded.amounts[0].clone().into());
            put(&format!("token1Volume{window}"), traded.amounts[1].clone().into());
            put(&format!("trades{window}"), traded.trades.into());
            put(&format!("poolVolume{window}InSats"), json!(traded.satoshis));
            put(&format!("poolVolume{window}InUsd"), dollars.of(traded.satoshis).into());
            put(&format!("volume{window}"), dollars.of(traded.satoshis).into());
        }
        // Members of other pools that these do not have, or that are not reckoned for them.
        for name in [
            "factoryBlockId",
            "factoryTxId",
            "feePer1000",
            "initialToken0Amount",
            "initialToken1Amount",
            "lPTokenValueInSats",
            "lPTokenValueInUsd",
            "tvlChange",
            "tvlChange24h",
            "tvlChange7d",
            "poolApr",
            "apr",
            "priceChange24h",
            "priceChange7d",
        ] {
            put(name, Value::Null);
        }
        put("price", number(self.index.newest_priced_swap(id)?.and_then(|swap| price(&swap))));
        Ok(record.finish(moment.parts.snake_case_twins))
    }

    /// What was traded in each window, which end with the hour of the newest trade, and ever.
    fn traded(&self, book: &MarketBook) -> Result<Vec<(&'static str, Traded)>, Problem> {
        let id = self.record.id;
        let newest = self.index.swaps(id, 0, 1)?.items.first().map_or(0, |swap| u64::from(swap.time));
        let hour = newest - newest % u64::from(HOUR);
        let satoshis = |volumes: [_; 2]| {
            let side = |place: usize| Some(book.price(self.tokens()[place])?.price.value_of(volumes[place]));
            [side(0), side(1)].into_iter().flatten().min()
        };
        let mut windows = Vec::new();
        for (name, hours) in WINDOWS {
            let from = hour.saturating_sub((hours - 1) * u64::from(HOUR));
            let candles = self.index.candles(id, HOUR, (from, hour), 0, u32::MAX)?.items;
            let volumes = candles.iter().fold(Default::default(), |sums: [_; 2], candle| {
                [0, 1].map(|place: usize| candle.volumes[place].saturating_add(sums[place]))
            });
            let trades = candles.iter().map(|candle| candle.trades).sum();
            let amounts = volumes.map(|volume| volume.to_string());
            windows.push((name, Traded { amounts, trades, satoshis: satoshis(volumes) }));
        }
        let totals = self.index.totals(id)?;
        let amounts = totals.volumes.map(|volume| volume.to_string());
        windows.push(("AllTime", Traded { amounts, trades: totals.swaps, satoshis: satoshis(totals.volumes) }));
        Ok(windows)
    }
}

/// What was traded in a window.
struct Traded {
    amounts: [String; 2],
    trades: u32,
    satoshis: Option<u128>,
}

/// Units of the second alkane for one of the first.
fn price(swap: &Swap) -> Option<Ratio> {
    if swap.zero_for_one {
        Ratio::new(swap.amount_out, swap.amount_in)
    } else {
        Ratio::new(swap.amount_in, swap.amount_out)
    }
}
