//! A pool as records show it (docs/api.md, "Markets").

use bitcoin::Address;
use paraffin_amm::{Action, BookPool, Ratio, Volumes};
use paraffin_primitives::Network;
use serde_json::{Number, Value, json};

use super::record::Record;
use crate::markets::worth::{Dollars, WHOLE, percent};

/// Who the pool is, what it holds, and how it came to be.
pub(super) fn record(pool: &BookPool, network: Network) -> Record {
    let identity = pool.record.pool;
    let creator = pool.creation.actor.as_ref().and_then(|script| Address::from_script(script, network.bitcoin()).ok());
    let [first, second] = pool.state.reserves;
    Record::default()
        .with("id", identity.id.to_string())
        .with("block", identity.id.block.to_string())
        .with("tx", identity.id.tx.to_string())
        .with_id("poolId", identity.id)
        .with_id("factoryId", identity.factory)
        .with_id("token0", identity.tokens[0])
        .with_id("token1", identity.tokens[1])
        .with_parts("factory", identity.factory)
        .with_parts("pool", identity.id)
        .with_parts("token0", identity.tokens[0])
        .with_parts("token1", identity.tokens[1])
        .with("poolName", pool.state.name.clone())
        .with_amount("token0Amount", first)
        .with_amount("token1Amount", second)
        .with_amount("reserve0", first)
        .with_amount("reserve1", second)
        .with_amount("tokenSupply", pool.state.supply)
        .with_amount("totalSupply", pool.state.supply)
        .with("feePer1000", json!(pool.state.fee_per_1000))
        .with("creatorAddress", creator.map(|creator| creator.to_string()))
        .with("creationBlockHeight", pool.record.created.height)
}

/// The same with what it is worth and what was traded.
pub(super) fn details(pool: &BookPool, network: Network, dollars: Dollars) -> Record {
    let mut record = record(pool, network);
    let worth = &pool.worth;
    let mut put = |name: &str, value: Value| record = std::mem::take(&mut record).with(name, value);
    for (name, satoshis) in [
        ("token0Tvl", worth.token_tvl[0]),
        ("token1Tvl", worth.token_tvl[1]),
        ("poolTvl", worth.tvl),
        ("poolVolume1d", worth.volume_day),
        ("poolVolume7d", worth.volume_week),
        ("poolVolume30d", worth.volume_month),
        ("poolVolumeAllTime", worth.volume_all),
    ] {
        put(&format!("{name}InSats"), json!(satoshis));
        put(&format!("{name}InUsd"), dollars.of(satoshis));
    }
    // The same under shorter names.
    for (name, satoshis) in [
        ("tvl", worth.tvl),
        ("volume1d", worth.volume_day),
        ("volume7d", worth.volume_week),
        ("volume30d", worth.volume_month),
        ("volumeAllTime", worth.volume_all),
    ] {
        put(name, dollars.of(satoshis));
    }
    let figures = &pool.figures;
    for (window, volumes) in
        [("1d", figures.day), ("7d", figures.week), ("30d", figures.month), ("AllTime", figures.all_time)]
    {
        let Volumes { amounts: [first, second], trades } = volumes;
        put(&format!("token0Volume{window}"), first.to_string().into());
        put(&format!("token1Volume{window}"), second.to_string().into());
        put(&format!("trades{window}"), trades.into());
    }
    put("lPTokenValueInSats", json!(worth.liquidity_price.map(|price| price.value(WHOLE))));
    put("lPTokenValueInUsd", json!(worth.liquidity_price.and_then(|price| dollars.at(price, WHOLE))));
    put("tvlChange24h", percent(worth.tvl_change_day));
    put("tvlChange7d", percent(worth.tvl_change_week));
    put("tvlChange", percent(worth.tvl_change_day));
    put("poolApr", json!(worth.apr));
    put("apr", json!(worth.apr));
    put("price", number(figures.price));
    put("priceChange24h", change(figures.price, figures.price_a_day_ago));
    put("priceChange7d", change(figures.price, figures.price_a_week_ago));
    if let Action::Creation { amounts: [first, second], .. } = pool.creation.action {
        put("initialToken0Amount", first.to_string().into());
        put("initialToken1Amount", second.to_string().into());
    }
    record
}

/// A ratio as a number with all its digits.
pub(super) fn number(ratio: Option<Ratio>) -> Value {
    let number = ratio.and_then(|ratio| ratio.to_decimal().parse::<Number>().ok());
    number.map_or(Value::Null, Value::Number)
}

/// Change of a price in percent.
#[allow(clippy::cast_precision_loss)]
fn change(now: Option<Ratio>, then: Option<Ratio>) -> Value {
    let value = |ratio: Ratio| ratio.numerator as f64 / ratio.denominator as f64;
    percent(now.zip(then).map(|(now, then)| value(now) / value(then) - 1.0))
}
