//! `CryptoSwap` pools, which no factory lists, where a request names one (docs/api.md, "Markets").

use std::collections::HashMap;

use paraffin_amm::{Dollars, PoolQuery};
use paraffin_cryptoswap::{IndexError, PoolIndex, PoolRecord, Slot};
use paraffin_primitives::AlkaneId;
use serde_json::{Value, json};

use super::pool_record::{PoolDetails, number};
use super::problem::Problem;
use super::record::{Members, Record};
use paraffin_gateway::markets::MarketMoment;
use paraffin_gateway::tokens::words;

/// Spans of time in which trades are counted, as names of members.
const WINDOWS: [&str; 4] = ["1d", "7d", "30d", "AllTime"];

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
        let ([first, second], both) = book.value(tokens, reserves);
        for (name, satoshis) in [("token0Tvl", first), ("token1Tvl", second), ("poolTvl", both)] {
            put(&format!("{name}InSats"), json!(satoshis));
            put(&format!("{name}InUsd"), dollars.of(satoshis).into());
        }
        put("tvl", dollars.of(both).into());
        for (window, traded) in WINDOWS.into_iter().zip(self.index.volumes(id)?) {
            let satoshis = self.record.trade_value(&traded, &book);
            put(&format!("token0Volume{window}"), traded.amounts[0].to_string().into());
            put(&format!("token1Volume{window}"), traded.amounts[1].to_string().into());
            put(&format!("trades{window}"), traded.trades.into());
            put(&format!("poolVolume{window}InSats"), json!(satoshis));
            put(&format!("poolVolume{window}InUsd"), dollars.of(satoshis).into());
            put(&format!("volume{window}"), dollars.of(satoshis).into());
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
        put("price", number(self.index.newest_priced_swap(id)?.and_then(|swap| swap.price())));
        Ok(record.finish(moment.parts.snake_case_twins))
    }
}
