//! Routes about pools, pairs and liquidity.

use serde_json::{Value, json};

use super::super::schema::{
    about, any_of, boolean, component, list, natural, number, one_of, or_null, record, record_and, text,
};
use super::{Field, Route, address, needed, optional, paged, part, with_twins};
use crate::rest::Verb;

const TAG: &str = "Pools";

pub(super) fn factory() -> Field {
    let schema = about(component("FactoryId"), "The factory; the network's own when absent");
    optional(&["factoryId", "factory_id"], schema)
}

fn pool_id() -> Field {
    needed(&["poolId", "pool_id", "id"], component("PoolId"))
}

/// Everything unless a part is asked for, of which there is a greatest.
fn all_or_part() -> [Field; 3] {
    part("All when absent; more than 20,000 is taken as that")
}

/// What listings of pools take.
fn listing() -> impl Iterator<Item = Field> {
    let sorts = [
        "height",
        "age",
        "name",
        "tvl",
        "volume",
        "volume1d",
        "volume7d",
        "volume30d",
        "volumeAllTime",
        "apr",
        "tvlChange",
    ];
    let by = about(one_of(&sorts), "The factory's own order when absent");
    let search = about(text(), "Part of a name, or the id of a pool or of one of its alkanes");
    let holder = about(component("Address"), "Only pools whose liquidity this address holds");
    let fields = [
        factory(),
        optional(&["sortBy", "sort_by"], by),
        optional(
            &["order"],
            about(one_of(&["asc", "desc"]), "The greatest first when absent, but the oldest, and names from A"),
        ),
        optional(&["searchQuery", "search", "query"], search),
        optional(&["address"], holder),
    ];
    fields.into_iter().chain(all_or_part())
}

/// The members of a page beside its records.
pub(super) fn page_of(name: &'static str, records: Value, others: &[(&str, Value)]) -> Value {
    let mut members = vec![
        ("total", natural()),
        ("count", natural()),
        ("limit", or_null(natural())),
        ("offset", natural()),
        (name, records),
    ];
    members.extend(others.iter().cloned());
    record(&members)
}

pub(super) fn routes() -> Vec<Route> {
    let post = |path, summary| Route::new(path, Verb::Post, TAG, summary);
    let get = |path, summary| Route::new(path, Verb::Get, TAG, summary);
    let token = || about(component("AlkaneId"), "An alkane");
    let ends = || {
        let between = json!({
            "required": ["tokenAId", "tokenBId"],
            "properties": { "tokenAId": component("AlkaneId"), "tokenBId": component("AlkaneId") },
        });
        between
    };
    let mut swap_pairs =
        post("get-alkane-swap-pair-details", "Pairs of an alkane, or the ways between two through at most three pools")
            .takes([
                factory(),
                optional(&["tokenId", "alkaneId", "id", "alkane"], token()),
                optional(&["tokenAId", "token_a_id"], token()),
                optional(&["tokenBId", "token_b_id"], token()),
            ])
            .takes(paged())
            .gives(record_and(
                &[
                    ("total", natural()),
                    ("count", natural()),
                    ("limit", natural()),
                    ("offset", natural()),
                    ("pairs", list(component("Pair"))),
                    ("paths", list(component("Path"))),
                ],
                &[("isWhole", about(boolean(), "Whether there are no other ways; only between two alkanes"))],
            ))
            .or_missing();
    let one = ["tokenId", "alkaneId", "id", "alkane"]
        .map(|name| json!({ "required": [name], "properties": { name: component("AlkaneId") } }));
    swap_pairs.condition = Some(any_of(&one.into_iter().chain([ends()]).collect::<Vec<_>>()));
    vec![
        post("get-pools", "Pools of a factory").takes(listing()).gives(component("PoolPage")).or_missing(),
        post("get-all-pools-details", "Pools of a factory with what they are worth")
            .takes(listing())
            .gives(page_of(
                "pools",
                list(component("PoolDetails")),
                &[
                    ("totalTvl", or_null(number())),
                    ("totalTvlInSats", natural()),
                    ("totalPoolVolume24h", or_null(number())),
                    ("totalPoolVolume24hInSats", natural()),
                    ("largestPool", or_null(component("PoolDetails"))),
                    ("trendingPools", or_null(record(&[("1d", component("PoolDetails"))]))),
                ],
            ))
            .or_missing(),
        post("get-pool-details", "One pool with what it is worth")
            .takes([
                pool_id(),
                optional(
                    &["factoryId", "factory_id"],
                    about(component("FactoryId"), "404 when it did not create the pool"),
                ),
            ])
            .gives(component("PoolDetails"))
            .or_missing(),
        post("get-pool-by-id", "The same as get-pool-details")
            .takes([
                pool_id(),
                optional(
                    &["factoryId", "factory_id"],
                    about(component("FactoryId"), "404 when it did not create the pool"),
                ),
            ])
            .gives(component("PoolDetails"))
            .or_missing(),
        post("get-all-token-pairs", "Pairs that pools of a factory trade")
            .takes([factory()])
            .takes(all_or_part())
            .gives(component("PairPage"))
            .or_missing(),
        post("get-token-pairs", "Pairs with an alkane on either side")
            .takes([factory(), needed(&["alkaneId", "id", "tokenId", "alkane"], token())])
            .takes(all_or_part())
            .gives(component("PairPage"))
            .or_missing(),
        post("address-positions", "Liquidity that an address holds")
            .takes([address(), factory()])
            .takes(part("All when absent"))
            .gives(page_of("positions", list(component("Position")), &[]))
            .or_missing(),
        post("get-amm-utxos", "Unspent outputs of an address that hold liquidity")
            .takes([address()])
            .takes(part("All when absent"))
            .gives(record(&[("total", natural()), ("count", natural()), ("utxos", list(component("Utxo")))])),
        swap_pairs,
        get("pools", "Pools of the network's factory").gives(component("PoolPage")),
        get("pools/{id}", "One pool with what it is worth").gives(component("PoolDetails")).without_tag(),
        get("pools/{id}/history", "The newest 50 events of a pool").gives(component("Activity")),
        get("pools/{id}/swaps", "The newest 50 swaps of a pool").gives(component("SwapPage")),
    ]
}

pub(super) fn schemas() -> Vec<(&'static str, Value)> {
    let dollars = || or_null(number());
    let satoshis = || or_null(natural());
    let who = [
        ("id", component("IdText")),
        ("block", component("Digits")),
        ("tx", component("Digits")),
        ("poolId", component("Id")),
        ("factoryId", component("Id")),
        ("token0", component("Id")),
        ("token1", component("Id")),
        ("factoryBlockId", component("Digits")),
        ("factoryTxId", component("Digits")),
        ("poolBlockId", component("Digits")),
        ("poolTxId", component("Digits")),
        ("token0BlockId", component("Digits")),
        ("token0TxId", component("Digits")),
        ("token1BlockId", component("Digits")),
        ("token1TxId", component("Digits")),
        ("poolName", text()),
        ("token0Amount", component("Digits")),
        ("token1Amount", component("Digits")),
        ("reserve0", component("Digits")),
        ("reserve1", component("Digits")),
        ("tokenSupply", component("Digits")),
        ("totalSupply", component("Digits")),
        ("feePer1000", or_null(number())),
        ("creatorAddress", or_null(text())),
        ("creationBlockHeight", natural()),
    ];
    let mut worth = Vec::new();
    for name in
        ["token0Tvl", "token1Tvl", "poolTvl", "poolVolume1d", "poolVolume7d", "poolVolume30d", "poolVolumeAllTime"]
    {
        worth.push((format!("{name}InSats"), satoshis()));
        worth.push((format!("{name}InUsd"), dollars()));
    }
    for name in ["tvl", "volume1d", "volume7d", "volume30d", "volumeAllTime"] {
        worth.push((name.to_owned(), dollars()));
    }
    for window in ["1d", "7d", "30d", "AllTime"] {
        worth.push((format!("token0Volume{window}"), component("Digits")));
        worth.push((format!("token1Volume{window}"), component("Digits")));
        worth.push((format!("trades{window}"), natural()));
    }
    worth.push(("lPTokenValueInSats".to_owned(), satoshis()));
    for name in [
        "lPTokenValueInUsd",
        "tvlChange24h",
        "tvlChange7d",
        "tvlChange",
        "poolApr",
        "apr",
        "price",
        "priceChange24h",
        "priceChange7d",
    ] {
        worth.push((name.to_owned(), dollars()));
    }
    let details: Vec<(&str, Value)> =
        who.iter().cloned().chain(worth.iter().map(|(name, schema)| (name.as_str(), schema.clone()))).collect();
    let twins = "Every member stands there a second time under its snake_case name, where the instance is set up so";
    let side = |amount: &str| {
        record(&[
            ("alkaneId", component("Id")),
            ("name", or_null(text())),
            ("symbol", or_null(text())),
            ("decimals", natural()),
            ("amount", component("Digits")),
            (amount, component("Digits")),
        ])
    };
    let pair = record(&[
        ("poolId", component("Id")),
        ("poolName", text()),
        ("token0", side("token0Amount")),
        ("token1", side("token1Amount")),
        ("reserve0", component("Digits")),
        ("reserve1", component("Digits")),
        ("poolTvlInSats", satoshis()),
        ("poolTvlInUsd", dollars()),
        ("poolVolume1dInSats", satoshis()),
        ("poolVolume1dInUsd", dollars()),
    ]);
    let position = record(&[
        ("pool", component("PoolDetails")),
        ("poolId", component("Id")),
        ("poolName", text()),
        ("token0", component("Id")),
        ("token1", component("Id")),
        ("address", text()),
        ("liquidityAmount", component("Digits")),
        ("balance", component("Digits")),
        ("token0Amount", component("Digits")),
        ("token1Amount", component("Digits")),
        ("token0ValueInSats", satoshis()),
        ("token1ValueInSats", satoshis()),
        ("totalValueInSats", satoshis()),
        ("token0ValueInUsd", dollars()),
        ("token1ValueInUsd", dollars()),
        ("totalValueInUsd", dollars()),
        ("share", about(json!({ "type": "number", "minimum": 0 }), "Part of the liquidity, 1 for all of it")),
    ]);
    let path = record(&[
        ("type", one_of(&["direct", "multi"])),
        ("path", list(component("Id"))),
        ("pools", list(component("Pool"))),
    ]);
    vec![
        ("Pool", with_twins(about(record(&who), twins))),
        ("PoolDetails", {
            let initial = [
                ("initialToken0Amount", component("Digits")),
                ("initialToken1Amount", component("Digits")),
                (
                    "trend",
                    about(or_null(number()), "Change of the value in a day in percent, of the pool that rose most"),
                ),
            ];
            let sentence = format!("A pool with what it is worth; null where no price is known. {twins}");
            with_twins(about(record_and(&details, &initial), &sentence))
        }),
        ("PoolPage", page_of("pools", list(component("Pool")), &[])),
        ("Pair", pair),
        ("PairPage", page_of("pairs", list(component("Pair")), &[])),
        ("Path", path),
        ("Position", with_twins(about(position, twins))),
    ]
}
