//! Routes about what happened on markets.

use serde_json::Value;

use super::super::schema::{
    about, any_of, boolean, component, list, natural, number, one_of, or_null, record, record_and, text,
};
use super::markets::{factory, page_of};
use super::{Field, Route, address, needed, optional, paged, same_as, with_twins};
use crate::rest::Verb;

const TAG: &str = "History";

/// What every history takes.
fn shared() -> impl Iterator<Item = Field> {
    let outcome = any_of(&[boolean(), one_of(&["true", "false", "all"])]);
    let fields = [
        optional(&["successful"], about(outcome, "true when absent; \"all\" for failed attempts as well")),
        optional(
            &["successfulOnly", "successful_only"],
            same_as(about(boolean(), "Another way to say it: true is true, false is \"all\""), "successful"),
        ),
    ];
    fields.into_iter().chain(paged())
}

fn some_pool() -> Field {
    optional(&["poolId", "pool_id", "id"], about(component("PoolId"), "A pool; all pools when absent"))
}

fn kind() -> Field {
    let kinds = one_of(&["swap", "mint", "burn", "creation", "wrap", "unwrap"]);
    optional(&["transactionType"], about(kinds, "Everything when absent"))
}

fn category() -> Field {
    let one = ["swap", "mint", "burn", "creation", "wrap", "unwrap"];
    let many = ["swaps", "mints", "burns", "creations", "wraps", "unwraps", "all"];
    let all: Vec<&str> = one.into_iter().chain(many).collect();
    optional(&["category"], about(one_of(&all), "Everything when absent"))
}

pub(super) fn routes() -> Vec<Route> {
    let post = |path, summary| Route::new(path, Verb::Post, TAG, summary);
    let token = || needed(&["alkaneId", "id", "tokenId", "alkane"], component("AlkaneId"));
    let pool = || needed(&["poolId", "pool_id", "id"], component("PoolId"));
    // Of an address and of an alkane at once: `id` is the alkane's.
    let of_pool = |path, summary, page| {
        post(path, summary).takes([some_pool()]).takes(shared()).gives(component(page)).or_missing()
    };
    let of_address =
        |path, summary, page| post(path, summary).takes([address()]).takes(shared()).gives(component(page));
    let of_all = |path, summary, page| post(path, summary).takes(shared()).gives(component(page));
    let activity = |path, summary| {
        post(path, summary)
            .takes([some_pool(), category()])
            .takes(shared())
            .gives(component("TaggedActivity"))
            .or_missing()
    };
    vec![
        of_pool("get-pool-swap-history", "Swaps of a pool, newest first", "SwapPage"),
        of_pool("get-swap-history", "The same as get-pool-swap-history", "SwapPage"),
        post("get-token-swap-history", "Swaps with an alkane on either side, newest first")
            .takes([token()])
            .takes(shared())
            .gives(component("SwapPage"))
            .or_missing(),
        of_pool("get-pool-mint-history", "Deposits into a pool, newest first", "MintPage"),
        of_pool("get-mint-history", "The same as get-pool-mint-history", "MintPage"),
        of_pool("get-pool-burn-history", "Withdrawals from a pool, newest first", "BurnPage"),
        of_pool("get-burn-history", "The same as get-pool-burn-history", "BurnPage"),
        post("get-pool-creation-history", "Pools that a factory created, newest first")
            .takes([factory(), some_pool()])
            .takes(shared())
            .gives(component("CreationPage"))
            .or_missing(),
        activity("get-pool-history", "Everything on a pool, newest first, also by kinds"),
        activity("get-all-history", "The same as get-pool-history"),
        of_all("get-all-wrap-history", "Bitcoin that was wrapped, newest first", "WrapPage"),
        of_all("get-all-unwrap-history", "Bitcoin that was unwrapped, newest first", "UnwrapPage"),
        of_address("get-address-wrap-history", "Bitcoin that an address wrapped, newest first", "WrapPage"),
        of_address("get-address-unwrap-history", "Bitcoin that an address unwrapped, newest first", "UnwrapPage"),
        post("get-address-swap-history-for-pool", "Swaps of an address with a pool, newest first")
            .takes([address(), pool()])
            .takes(shared())
            .gives(component("SwapPage"))
            .or_missing(),
        post("get-address-swap-history-for-token", "Swaps of an address with an alkane on either side, newest first")
            .takes([address(), token()])
            .takes(shared())
            .gives(component("SwapPage"))
            .or_missing(),
        of_address("get-address-pool-creation-history", "Pools that an address created, newest first", "CreationPage"),
        of_address("get-address-pool-mint-history", "Deposits of an address, newest first", "MintPage"),
        of_address("get-address-pool-burn-history", "Withdrawals of an address, newest first", "BurnPage"),
        post("get-all-amm-tx-history", "Everything on markets, newest first")
            .takes([kind()])
            .takes(shared())
            .gives(component("Activity")),
        post("get-all-address-amm-tx-history", "Everything that an address did on markets, newest first")
            .takes([address(), kind()])
            .takes(shared())
            .gives(component("Activity")),
        post("get-total-unwrap-amount", "All bitcoin that was ever unwrapped, in satoshis")
            .gives(record(&[("totalAmount", component("Digits"))])),
    ]
}

/// A row with the members of every kind, and its own.
fn row(own: &[(&str, Value)]) -> Value {
    let shared = [
        ("id", text()),
        ("transactionId", component("Hash")),
        ("blockHeight", natural()),
        ("transactionIndex", natural()),
        ("eventIndex", natural()),
        ("vout", natural()),
        ("timestamp", component("Time")),
        ("successful", boolean()),
        ("address", about(or_null(text()), "Who did it; null where that has no address")),
    ];
    let members: Vec<_> = shared.into_iter().chain(own.iter().cloned()).collect();
    // Where kinds are mixed each row names its own.
    with_twins(record_and(&members, &[("type", text()), ("kind", text())]))
}

pub(super) fn schemas() -> Vec<(&'static str, Value)> {
    let digits = || component("Digits");
    let paid = || record(&[("tokenId", component("Id")), ("amount", digits())]);
    let pool = [("poolId", component("Id")), ("poolBlockId", digits()), ("poolTxId", digits())];
    let deposit = [
        ("token0BlockId", digits()),
        ("token0TxId", digits()),
        ("token1BlockId", digits()),
        ("token1TxId", digits()),
        ("token0Amount", digits()),
        ("token1Amount", digits()),
        ("lpTokenAmount", digits()),
    ];
    let deposited =
        |own: &[(&'static str, Value)]| row(&pool.iter().chain(&deposit).chain(own).cloned().collect::<Vec<_>>());
    let swapped = [
        ("soldTokenBlockId", digits()),
        ("soldTokenTxId", digits()),
        ("boughtTokenBlockId", digits()),
        ("boughtTokenTxId", digits()),
        ("soldAmount", digits()),
        ("boughtAmount", digits()),
        ("pay", paid()),
        ("receive", paid()),
        ("price", or_null(number())),
        ("sellerAddress", or_null(text())),
    ];
    let kinds = ["Swap", "Mint", "Burn", "Creation", "Wrap", "Unwrap"];
    let any_row = any_of(&kinds.map(component));
    let page = |name, kind: &str| page_of(name, list(component(kind)), &[]);
    let mut swaps = page("swaps", "Swap");
    swaps["properties"]["pool"] = record(&[("poolId", component("Id")), ("poolName", text())]);
    let tagged = page_of(
        "transactions",
        list(any_row.clone()),
        &[
            ("swaps", list(component("Swap"))),
            ("mints", list(component("Mint"))),
            ("burns", list(component("Burn"))),
            ("creations", list(component("Creation"))),
        ],
    );
    vec![
        ("Swap", row(&pool.iter().chain(&swapped).cloned().collect::<Vec<_>>())),
        ("Mint", deposited(&[("minterAddress", or_null(text()))])),
        ("Burn", deposited(&[("burnerAddress", or_null(text()))])),
        ("Creation", deposited(&[("creatorAddress", or_null(text())), ("tokenSupply", digits())])),
        ("Wrap", row(&[("amount", digits())])),
        ("Unwrap", row(&[("amount", digits())])),
        ("SwapPage", swaps),
        ("MintPage", page("mints", "Mint")),
        ("BurnPage", page("burns", "Burn")),
        ("CreationPage", page("creations", "Creation")),
        ("WrapPage", page("wraps", "Wrap")),
        ("UnwrapPage", page("unwraps", "Unwrap")),
        ("Activity", page_of("transactions", list(any_row), &[])),
        ("TaggedActivity", tagged),
    ]
}
