//! Liquidity that addresses hold.

use std::collections::{HashMap, HashSet};

use bitcoin::OutPoint;
use paraffin_amm::{BookPool, Position};
use paraffin_bitcoin_index::ScriptKey;
use paraffin_primitives::Network;
use serde_json::{Value, json};

use super::super::address::{SharedText, Utxo};
use super::super::alkanes::fields::script;
use super::super::alkanes::{alkanes_map, outputs, placed, spent_by_pending, sums};
use super::super::{RestBody, RestResult};
use super::cryptoswap;
use super::fields::{factory_id, require_factory};
use super::pool_record::details;
use super::problem::read;
use super::record::Record;
use crate::markets::worth::Dollars;
use crate::respond::Reply;
use crate::rest::part::{LIMIT_MAX, Part};
use crate::state::{BoxFuture, RequestContext};

/// What an address holds of a pool.
#[allow(clippy::cast_precision_loss)]
fn position(
    pool: &BookPool,
    held: u128,
    worth: &Position,
    address: &str,
    dollars: Dollars,
    (network, twins): (Network, bool),
) -> Value {
    let Position { amounts: [first, second], values: [first_value, second_value], value } = *worth;
    let identity = pool.record.pool;
    let supply = pool.state.supply;
    let share = if supply == 0 { 0.0 } else { held as f64 / supply as f64 };
    Record::default()
        .with("pool", details(pool, network, dollars).finish(twins))
        .with_id("poolId", identity.id)
        .with("poolName", pool.state.name.clone())
        .with_id("token0", identity.tokens[0])
        .with_id("token1", identity.tokens[1])
        .with("address", address)
        .with_amount("liquidityAmount", held)
        .with_amount("balance", held)
        .with_amount("token0Amount", first)
        .with_amount("token1Amount", second)
        .with("token0ValueInSats", json!(first_value))
        .with("token1ValueInSats", json!(second_value))
        .with("totalValueInSats", json!(value))
        .with("token0ValueInUsd", dollars.of(first_value))
        .with("token1ValueInUsd", dollars.of(second_value))
        .with("totalValueInUsd", dollars.of(value))
        .with("share", share)
        .finish(twins)
}

/// POST `/address-positions`: from what the address's unspent outputs hold, no matter who deposited it; the oldest pool first.
pub(in crate::rest) fn positions(context: &RequestContext, body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let address = body.text("address")?.to_owned();
        let (script, factory) = (script(context, &address)?, factory_id(context, &body)?);
        let part = Part::read(&body, None, LIMIT_MAX)?;
        let network = context.network();
        let answer = read(context, move |moment| {
            require_factory(moment, factory)?;
            let book = moment.book()?;
            let held: HashMap<_, _> =
                sums(moment.chain, &script)?.into_iter().map(|held| (held.id, held.value)).collect();
            let mut pools: Vec<(&BookPool, u128)> = held
                .iter()
                .filter_map(|(id, held)| Some((book.pool(*id)?, *held)))
                .filter(|(pool, held)| pool.record.pool.factory == factory && *held > 0)
                .collect();
            pools.sort_unstable_by_key(|(pool, _)| pool.record.created);
            let (total, dollars) = (pools.len(), Dollars::now(moment));
            let told = (network, moment.parts.snake_case_twins);
            let shown = part.of(pools).into_iter();
            let positions: Vec<Value> = shown
                .map(|(pool, held)| position(pool, held, &book.position(pool, held), &address, dollars, told))
                .collect();
            Ok(json!({
                "total": total,
                "count": positions.len(),
                "limit": part.limit,
                "offset": part.offset,
                "positions": positions,
            }))
        });
        Reply::enveloped(&answer.await?)
    })
}

/// POST `/get-amm-utxos`: the unspent outputs that hold liquidity of any pool, the oldest first; those that an unconfirmed
/// transaction spends are left out.
pub(in crate::rest) fn utxos(context: &RequestContext, body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let address = body.text("address")?.to_owned();
        let part = Part::read(&body, None, LIMIT_MAX)?;
        let script = script(context, &address)?;
        let digits = script.to_hex_string();
        let spent: HashSet<OutPoint> = spent_by_pending(context, &ScriptKey::from_script(&script)).await?;
        let answer = read(context, move |moment| {
            let mut found = Vec::new();
            let all = Part { offset: 0, limit: None };
            for held in outputs(moment.chain, &script, all)? {
                if spent.contains(&held.outpoint) {
                    continue;
                }
                let mut is_liquidity = false;
                for alkane in &held.alkanes {
                    is_liquidity |=
                        moment.markets.pool(alkane.id)?.is_some() || cryptoswap::find(moment, alkane.id)?.is_some();
                }
                if is_liquidity {
                    found.push(held);
                }
            }
            let total = found.len();
            let mut shown = Vec::new();
            for held in part.of(found) {
                if let Some(output) = placed(moment.chain, &held)? {
                    shown.push((output, alkanes_map(moment.chain, &held.alkanes)?));
                }
            }
            Ok((total, shown))
        });
        let (total, found) = answer.await?;
        let tip = context.tip().map_or(0, |tip| tip.height);
        let (address, digits) = (SharedText::new(&address), SharedText::new(&digits));
        let utxos: Vec<Utxo> = found
            .into_iter()
            .map(|(output, alkanes)| Utxo::new(&output, Some(address.clone()), digits.clone(), tip).holding(alkanes))
            .collect();
        Reply::enveloped(&json!({ "total": total, "count": utxos.len(), "utxos": utxos }))
    })
}
