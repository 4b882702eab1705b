//! A pool as records show it (docs/api.md, "Markets").

use std::borrow::Cow;

use bitcoin::Address;
use paraffin_amm::{Action, BookPool, Dollars, Figures, PoolWorth, Ratio, Volumes, WHOLE};
use paraffin_primitives::Network;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Number, Value, json};

use super::record::Members;
use paraffin_gateway::api_types::{Digits, IdObject, IdText};
use paraffin_gateway::markets::percent;

/// A member, and which of the values of `T` it has.
type Named<T, V> = (&'static str, fn(&T) -> V);

/// What stands in satoshis and in dollars.
const VALUES: [Named<PoolWorth, Option<u128>>; 7] = [
    ("token0Tvl", |worth| worth.token_tvl[0]),
    ("token1Tvl", |worth| worth.token_tvl[1]),
    ("poolTvl", |worth| worth.tvl),
    ("poolVolume1d", |worth| worth.volume_day),
    ("poolVolume7d", |worth| worth.volume_week),
    ("poolVolume30d", |worth| worth.volume_month),
    ("poolVolumeAllTime", |worth| worth.volume_all),
];
/// The same under shorter names, in dollars alone.
const SHORT_VALUES: [Named<PoolWorth, Option<u128>>; 5] = [
    ("tvl", |worth| worth.tvl),
    ("volume1d", |worth| worth.volume_day),
    ("volume7d", |worth| worth.volume_week),
    ("volume30d", |worth| worth.volume_month),
    ("volumeAllTime", |worth| worth.volume_all),
];
/// Spans of time in which trades are counted.
const WINDOWS: [Named<Figures, Volumes>; 4] = [
    ("1d", |figures| figures.day),
    ("7d", |figures| figures.week),
    ("30d", |figures| figures.month),
    ("AllTime", |figures| figures.all_time),
];

/// Who the pool is, what it holds, and how it came to be.
pub(super) fn record(pool: &BookPool, network: Network) -> Members {
    let identity = pool.record.pool;
    let creator = pool.creation.actor.as_ref().and_then(|script| Address::from_script(script, network.bitcoin()).ok());
    let [first, second] = pool.state.reserves;
    Members::default()
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
pub(super) fn details(pool: &BookPool, network: Network, dollars: Dollars) -> Members {
    let mut record = record(pool, network);
    let worth = &pool.worth;
    let mut put = |name: &str, value: Value| record = std::mem::take(&mut record).with(name, value);
    for (name, value) in VALUES {
        put(&format!("{name}InSats"), json!(value(worth)));
        put(&format!("{name}InUsd"), dollars.of(value(worth)).into());
    }
    for (name, value) in SHORT_VALUES {
        put(name, dollars.of(value(worth)).into());
    }
    let figures = &pool.figures;
    for (window, volumes) in WINDOWS {
        let Volumes { amounts: [first, second], trades } = volumes(figures);
        put(&format!("token0Volume{window}"), first.to_string().into());
        put(&format!("token1Volume{window}"), second.to_string().into());
        put(&format!("trades{window}"), trades.into());
    }
    put("lPTokenValueInSats", json!(worth.liquidity_price.map(|price| price.value(WHOLE))));
    put("lPTokenValueInUsd", json!(worth.liquidity_price.and_then(|price| dollars.at(price, WHOLE))));
    put("tvlChange24h", percent(worth.tvl_change_day).into());
    put("tvlChange7d", percent(worth.tvl_change_week).into());
    put("tvlChange", percent(worth.tvl_change_day).into());
    put("poolApr", json!(worth.apr));
    put("apr", json!(worth.apr));
    put("price", number(figures.price));
    put("priceChange24h", percent(figures.price_change_day()).into());
    put("priceChange7d", percent(figures.price_change_week()).into());
    if let Action::Creation { amounts: [first, second], .. } = pool.creation.action {
        put("initialToken0Amount", first.to_string().into());
        put("initialToken1Amount", second.to_string().into());
    }
    record
}

/// The shape of [`record`].
pub(super) enum Pool {}

/// The shape of [`details`].
pub(crate) enum PoolDetails {}

impl JsonSchema for Pool {
    fn schema_name() -> Cow<'static, str> {
        "Pool".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        described("A pool.", &members(generator), &[])
    }
}

impl JsonSchema for PoolDetails {
    fn schema_name() -> Cow<'static, str> {
        "PoolDetails".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut all = members(generator);
        let mut put = |schema: &Schema, name: &str| all.push((name.to_owned(), schema.clone()));
        let digits = generator.subschema_for::<Digits>();
        let satoshis = generator.subschema_for::<Option<u128>>();
        let number = generator.subschema_for::<Option<f64>>();
        for (name, _) in VALUES {
            put(&satoshis, &format!("{name}InSats"));
            put(&number, &format!("{name}InUsd"));
        }
        for (window, _) in WINDOWS {
            put(&digits, &format!("token0Volume{window}"));
            put(&digits, &format!("token1Volume{window}"));
            put(&generator.subschema_for::<u32>(), &format!("trades{window}"));
        }
        put(&satoshis, "lPTokenValueInSats");
        let changes = ["tvlChange24h", "tvlChange7d", "tvlChange", "priceChange24h", "priceChange7d"];
        let others = ["lPTokenValueInUsd", "poolApr", "apr", "price"];
        for name in SHORT_VALUES.map(|(name, _)| name).into_iter().chain(changes).chain(others) {
            put(&number, name);
        }
        let mut trend = number.clone();
        trend.insert(
            "description".to_owned(),
            "Change of the value in a day in percent, of the pool that rose most.".into(),
        );
        // A CryptoSwap pool has no factory and no fee of its own, and may have no name; `type` is its own member.
        let nullable_id = generator.subschema_for::<Option<IdObject>>();
        let nullable_digits = generator.subschema_for::<Option<Digits>>();
        let nullable_text = generator.subschema_for::<Option<String>>();
        for (name, schema) in &mut all {
            match name.as_str() {
                "factoryId" => schema.clone_from(&nullable_id),
                "factoryBlockId" | "factoryTxId" | "tokenSupply" | "totalSupply" => schema.clone_from(&nullable_digits),
                "poolName" => schema.clone_from(&nullable_text),
                _ => {}
            }
        }
        let kind = json_schema!({ "const": "cryptoswap", "description": "Of a CryptoSwap pool alone." });
        let at_times = [
            ("initialToken0Amount", nullable_digits.clone()),
            ("initialToken1Amount", nullable_digits),
            ("trend", trend),
            ("type", kind),
        ];
        described("A pool with what it is worth; null where no price is known.", &all, &at_times)
    }
}

/// The members of a pool.
fn members(generator: &mut SchemaGenerator) -> Vec<(String, Schema)> {
    let digits = [
        "block",
        "tx",
        "factoryBlockId",
        "factoryTxId",
        "poolBlockId",
        "poolTxId",
        "token0BlockId",
        "token0TxId",
        "token1BlockId",
        "token1TxId",
        "token0Amount",
        "token1Amount",
        "reserve0",
        "reserve1",
        "tokenSupply",
        "totalSupply",
    ];
    let of = [
        (generator.subschema_for::<Digits>(), &digits[..]),
        (generator.subschema_for::<IdText>(), &["id"]),
        (generator.subschema_for::<IdObject>(), &["poolId", "factoryId", "token0", "token1"]),
        (generator.subschema_for::<String>(), &["poolName"]),
        (generator.subschema_for::<Option<f64>>(), &["feePer1000"]),
        (generator.subschema_for::<Option<String>>(), &["creatorAddress"]),
        (generator.subschema_for::<u32>(), &["creationBlockHeight"]),
    ];
    of.iter().flat_map(|(schema, names)| names.iter().map(|name| ((*name).to_owned(), schema.clone()))).collect()
}

/// A record with these members, and some that may be absent.
fn described(about: &str, members: &[(String, Schema)], at_times: &[(&str, Schema)]) -> Schema {
    let required: Vec<&String> = members.iter().map(|(name, _)| name).collect();
    let all = members.iter().map(|(name, schema)| (&**name, schema));
    let all = all.chain(at_times.iter().map(|(name, schema)| (*name, schema)));
    let properties: Map<String, Value> =
        all.map(|(name, schema)| (name.to_owned(), schema.clone().to_value())).collect();
    let twins = "Every member stands there a second time under its snake_case name, some amounts as numbers, where the instance is set up so.";
    json_schema!({
        "description": format!("{about} {twins}"),
        "type": "object",
        "required": required,
        "properties": properties,
        "x-twins": true,
    })
}

/// A ratio as a number with all its digits.
pub(super) fn number(ratio: Option<Ratio>) -> Value {
    let number = ratio.and_then(|ratio| ratio.to_decimal().parse::<Number>().ok());
    number.map_or(Value::Null, Value::Number)
}
