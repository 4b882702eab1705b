//! What happened on markets, as rows of histories (docs/api.md, "Markets").

use bitcoin::Address;
use paraffin_amm::{Action, Event, EventKind, PoolIdentity};
use paraffin_primitives::{AlkaneId, Network};
use serde_json::{Number, Value, json};

use super::super::address::timestamp;
use super::record::Record;
use crate::alkanes::id_object;
use crate::errors::RestError;

/// Name of a list of events of a kind.
pub(super) const fn plural(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Creation => "creations",
        EventKind::Swap => "swaps",
        EventKind::Mint => "mints",
        EventKind::Burn => "burns",
        EventKind::Wrap => "wraps",
        EventKind::Unwrap => "unwraps",
    }
}

/// Name of the member that holds who did it.
const fn actor(kind: EventKind) -> Option<&'static str> {
    match kind {
        EventKind::Creation => Some("creatorAddress"),
        EventKind::Swap => Some("sellerAddress"),
        EventKind::Mint => Some("minterAddress"),
        EventKind::Burn => Some("burnerAddress"),
        EventKind::Wrap | EventKind::Unwrap => None,
    }
}

/// The address of who did it; `null` when its script has none.
pub(super) fn actor_address(event: &Event, network: Network) -> Value {
    let address = event.actor.as_ref().and_then(|script| Address::from_script(script, network.bitcoin()).ok());
    address.map_or(Value::Null, |address| address.to_string().into())
}

/// The row of an event.
pub(super) fn row(event: &Event, network: Network) -> Result<Record, RestError> {
    let address = actor_address(event, network);
    let kind = event.action.kind();
    let own = match event.action.pool() {
        // Pools that no factory lists count their events for themselves.
        Some(pool) if pool.factory == AlkaneId::default() => {
            format!("{}:{}:{}", event.txid, pool.id, event.place.event)
        }
        _ => format!("{}:{}", event.txid, event.place.event),
    };
    let mut row = Record::default()
        .with("id", own)
        .with("transactionId", event.txid.to_string())
        .with("blockHeight", event.place.height)
        .with("transactionIndex", event.place.transaction)
        .with("eventIndex", event.place.event)
        .with("vout", event.vout)
        .with("timestamp", timestamp(event.time)?)
        .with("successful", event.successful)
        .with("address", address.clone());
    if let Some(name) = actor(kind) {
        row = row.with(name, address);
    }
    Ok(match &event.action {
        Action::Creation { pool, amounts, liquidity } => {
            deposit(row, pool, *amounts, *liquidity).with_amount("tokenSupply", *liquidity)
        }
        Action::Mint { pool, amounts, liquidity } | Action::Burn { pool, amounts, liquidity } => {
            deposit(row, pool, *amounts, *liquidity)
        }
        Action::Swap { pool, sold, bought } => {
            let price = event.action.price().and_then(|price| price.to_decimal().parse::<Number>().ok());
            of_pool(row, pool)
                .with_parts("soldToken", sold.id)
                .with_parts("boughtToken", bought.id)
                .with_counted("soldAmount", "sold_amount", sold.value)
                .with_counted("boughtAmount", "bought_amount", bought.value)
                .with("pay", json!({ "tokenId": id_object(sold.id), "amount": sold.value.to_string() }))
                .with("receive", json!({ "tokenId": id_object(bought.id), "amount": bought.value.to_string() }))
                .with("price", price.map_or(Value::Null, Value::Number))
        }
        Action::Wrap { amount } | Action::Unwrap { amount } => row.with_amount("amount", *amount),
    })
}

fn of_pool(row: Record, pool: &PoolIdentity) -> Record {
    row.with_parts("pool", pool.id).with_id("poolId", pool.id)
}

fn deposit(row: Record, pool: &PoolIdentity, [first, second]: [u128; 2], liquidity: u128) -> Record {
    of_pool(row, pool)
        .with_parts("token0", pool.tokens[0])
        .with_parts("token1", pool.tokens[1])
        .with_amount("token0Amount", first)
        .with_amount("token1Amount", second)
        .with_amount("lpTokenAmount", liquidity)
}
