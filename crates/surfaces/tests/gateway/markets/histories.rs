//! The history routes.

use paraffin_devnet::market::{BTC_USD_POOL, DIESEL, FACTORY, WRAPPED_BITCOIN};
use serde_json::{Value, json};

use super::truth::{Deed, Doing};
use super::{MarketFixture, assert_contains, list, object};

/// The name of a member in snake case.
fn snake(name: &str) -> String {
    name.chars()
        .flat_map(|letter| letter.is_uppercase().then_some('_').into_iter().chain(letter.to_lowercase()))
        .collect()
}

/// A history is exactly the rows of the given deeds, page by page, with correct totals on every page.
pub(super) async fn assert_history(
    fixture: &MarketFixture,
    route: &str,
    body: Value,
    name: &str,
    which: impl Fn(&Deed) -> bool,
) {
    let has_twins = name != "transactions";
    for (status, successful) in [(json!(null), Some(true)), (json!(false), Some(false)), (json!("all"), None)] {
        let which = |deed: &Deed| which(deed) && successful.is_none_or(|is| is == deed.successful);
        let expected =
            if is_everywhere(route, &body) { fixture.truth.rows_everywhere(which) } else { fixture.truth.rows(which) };
        let mut body = body.clone();
        body["successful"] = status;
        body["count"] = json!(500);
        let data = fixture.data(route, body.clone()).await;
        let rows = list(&data, name);
        assert_eq!(data["total"], json!(expected.len()), "{route} {body}");
        assert_eq!((&data["count"], &data["limit"], &data["offset"]), (&json!(rows.len()), &json!(500), &json!(0)));
        assert_eq!(rows.len(), expected.len(), "{route} {body}");
        for (row, expected) in rows.iter().zip(&expected) {
            assert_contains(row, expected);
            for (member, value) in expected.as_object().unwrap() {
                match (has_twins, snake(member)) {
                    // A shipped client reads these two as numbers.
                    (true, twin) if ["sold_amount", "bought_amount"].contains(&&*twin) => {
                        assert_eq!(row[&twin].to_string(), value.as_str().unwrap(), "{twin} of {row}");
                    }
                    (true, twin) => assert_eq!(&row[&twin], value, "{twin} of {row}"),
                    (false, twin) if twin != *member => assert!(row.get(&twin).is_none(), "{twin} of {row}"),
                    _ => {}
                }
            }
        }
        // The pages together are the whole history, and the page after the last is empty.
        let mut paged = Vec::new();
        for page in 1..=expected.len() / 7 + 1 {
            body["count"] = json!(null);
            (body["limit"], body["page"]) = (json!(7), json!(page));
            let data = fixture.data(route, body.clone()).await;
            assert_eq!(data["total"], json!(expected.len()));
            paged.extend_from_slice(list(&data, name));
        }
        assert_eq!(paged, rows, "{route}");
        (body["page"], body["offset"]) = (json!(null), json!(9_999_999));
        let data = fixture.data(route, body.clone()).await;
        assert_eq!((&data[name], &data["total"]), (&json!([]), &json!(expected.len())), "{route}");
    }
    let usual = fixture.data(route, body).await;
    assert_eq!(usual["limit"], json!(50), "{route}");
}

/// Whether a history holds pools that no factory lists: of tokens and addresses, and where such a pool is named.
fn is_everywhere(route: &str, body: &Value) -> bool {
    let of_all = [
        "get-token-swap-history",
        "get-address-swap-history-for-token",
        "get-address-pool-mint-history",
        "get-address-pool-burn-history",
    ];
    of_all.contains(&route) || body["poolId"] == object(BTC_USD_POOL)
}

pub(super) fn is(kind: &'static str) -> impl Fn(&Deed) -> bool {
    move |deed: &Deed| deed.kind() == kind
}

/// row RL06
/// row RH01, RH02, RH03, RH04, RH05
#[tokio::test]
async fn histories_of_pools_and_tokens_are_what_traces_say() {
    let fixture = MarketFixture::open().await;
    let pools = fixture.truth.pools.clone();
    assert_eq!(pools.len(), 3);
    for kind in ["swap", "mint", "burn"] {
        let route = format!("get-pool-{kind}-history");
        let name = format!("{kind}s");
        for pool in &pools {
            let body = json!({ "poolId": object(pool.id) });
            assert_history(&fixture, &route, body, &name, |deed| is(kind)(deed) && deed.is_on(pool.id)).await;
        }
        // Without a pool: all of them; and under the name without "pool".
        assert_history(&fixture, &route, json!({}), &name, is(kind)).await;
        let body = json!({ "pool_id": pools[0].id.to_string() });
        let other = format!("get-{kind}-history");
        assert_eq!(fixture.data(&other, body.clone()).await, fixture.data(&route, body).await);
    }
    let body = json!({ "poolId": object(pools[0].id) });
    let swaps = fixture.data("get-pool-swap-history", body).await;
    let name = fixture.truth.text(pools[0].id, "/name");
    assert_eq!(swaps["pool"], json!({ "poolId": object(pools[0].id), "poolName": name }));
    let newest =
        fixture.truth.deeds.iter().rev().find(|deed| deed.is_on(pools[0].id) && deed.successful && is("swap")(deed));
    let Doing::Swap { sold, bought } = newest.unwrap().doing else { unreachable!() };
    let row = &list(&swaps, "swaps")[0];
    assert_eq!(row["pay"], json!({ "tokenId": object(sold.id), "amount": sold.value.to_string() }));
    assert_eq!(row["receive"], json!({ "tokenId": object(bought.id), "amount": bought.value.to_string() }));
    let [first, second] = if sold.id == pools[0].tokens[0] { [sold, bought] } else { [bought, sold] };
    #[allow(clippy::cast_precision_loss)]
    let price = second.value as f64 / first.value as f64;
    assert!((row["price"].as_f64().unwrap() / price - 1.0).abs() < 1e-12, "{row}");

    for token in [DIESEL, WRAPPED_BITCOIN, pools[1].tokens[0]] {
        for field in ["alkaneId", "tokenId"] {
            let body = json!({ field: object(token) });
            assert_history(&fixture, "get-token-swap-history", body, "swaps", |deed| deed.trades(token)).await;
        }
    }
    assert_history(&fixture, "get-pool-creation-history", json!({}), "creations", is("creation")).await;
    let body = json!({ "factoryId": object(FACTORY) });
    assert_history(&fixture, "get-pool-creation-history", body, "creations", is("creation")).await;
    let body = json!({ "poolId": object(pools[2].id) });
    let of_pool = |deed: &Deed| is("creation")(deed) && deed.is_on(pools[2].id);
    assert_history(&fixture, "get-pool-creation-history", body, "creations", of_pool).await;
}

/// row RH06, RH07, RH08, RH09, RH10
#[tokio::test]
async fn wraps_and_unwraps_are_what_traces_say() {
    let fixture = MarketFixture::open().await;
    let mut total = 0;
    for deed in fixture.truth.deeds.iter().filter(|deed| deed.successful) {
        if let Doing::Unwrap(amount) = deed.doing {
            total += amount;
        }
    }
    assert!(total > 0);
    assert_eq!(fixture.data("get-total-unwrap-amount", json!({})).await, json!({ "totalAmount": total.to_string() }));
    for kind in ["wrap", "unwrap"] {
        let name = format!("{kind}s");
        assert_history(&fixture, &format!("get-all-{kind}-history"), json!({}), &name, is(kind)).await;
        let somebody = fixture.busiest(is(kind));
        let route = format!("get-address-{kind}-history");
        let body = json!({ "address": somebody });
        assert_history(&fixture, &route, body, &name, |deed| is(kind)(deed) && deed.address == somebody).await;
        assert_eq!(fixture.refusal(&route, json!({})).await, 400);
        let inactive = fixture.data(&route, json!({ "address": fixture.instance.payee })).await;
        assert_eq!((&inactive[&name], &inactive["total"]), (&json!([]), &json!(0)));
    }
}

/// row RH11, RH12, RH13, RH14, RH15
#[tokio::test]
async fn histories_of_addresses_are_what_traces_say() {
    let fixture = MarketFixture::open().await;
    let pool = fixture.truth.pools[0];
    let trader = fixture.busiest(|deed| is("swap")(deed) && deed.is_on(pool.id));
    let body = json!({ "address": trader, "poolId": object(pool.id) });
    let by_trader = |deed: &Deed| is("swap")(deed) && deed.address == trader;
    let on_pool = |deed: &Deed| by_trader(deed) && deed.is_on(pool.id);
    assert_history(&fixture, "get-address-swap-history-for-pool", body, "swaps", on_pool).await;
    for (field, token) in [("tokenId", WRAPPED_BITCOIN), ("alkaneId", pool.tokens[0])] {
        let body = json!({ "address": trader, field: object(token) });
        let with_token = |deed: &Deed| by_trader(deed) && deed.trades(token);
        assert_history(&fixture, "get-address-swap-history-for-token", body, "swaps", with_token).await;
    }
    for (route, kind) in [
        ("get-address-pool-creation-history", "creation"),
        ("get-address-pool-mint-history", "mint"),
        ("get-address-pool-burn-history", "burn"),
    ] {
        let somebody = fixture.busiest(is(kind));
        let body = json!({ "address": somebody });
        let of_somebody = |deed: &Deed| is(kind)(deed) && deed.address == somebody;
        assert_history(&fixture, route, body, &format!("{kind}s"), of_somebody).await;
    }
}

/// row RH16, RH17
#[tokio::test]
async fn the_mixed_histories_hold_every_kind_with_its_type() {
    let fixture = MarketFixture::open().await;
    let somebody = fixture.busiest(|_| true);
    for (route, body) in
        [("get-all-amm-tx-history", json!({})), ("get-all-address-amm-tx-history", json!({ "address": somebody }))]
    {
        let mine = |deed: &Deed| body.get("address").is_none() || deed.address == somebody;
        assert_history(&fixture, route, body.clone(), "transactions", mine).await;
        for kind in ["swap", "mint", "burn", "creation", "wrap", "unwrap"] {
            let mut body = body.clone();
            body["transactionType"] = kind.into();
            let of_kind = |deed: &Deed| mine(deed) && is(kind)(deed);
            assert_history(&fixture, route, body.clone(), "transactions", of_kind).await;
            body["count"] = json!(500);
            let data = fixture.data(route, body).await;
            assert!(list(&data, "transactions").iter().all(|row| row["type"] == kind));
        }
        for wrong in [json!("Swap"), json!("swaps"), json!(""), json!(5), json!(["swap"])] {
            let mut body = body.clone();
            body["transactionType"] = wrong;
            assert_eq!(fixture.refusal(route, body).await, 400);
        }
    }
    // For clients of older hosts: `type` with a capital letter, members in snake case, and lists by kind.
    let pool = fixture.truth.pools[0].id;
    let of_pool = fixture.data("get-pool-history", json!({ "poolId": object(pool), "limit": 500 })).await;
    let expected = fixture.truth.rows(|deed| deed.is_on(pool) && deed.successful);
    assert_eq!(of_pool["total"], json!(expected.len()));
    for (row, expected) in list(&of_pool, "transactions").iter().zip(&expected) {
        assert_contains(row, expected);
        assert_eq!(row["transaction_id"], expected["transactionId"]);
        let kind = row["kind"].as_str().unwrap();
        assert_eq!(row["type"].as_str().unwrap().to_lowercase(), kind);
        assert!(list(&of_pool, &format!("{kind}s")).contains(row));
    }
    let mints = fixture.data("get-pool-history", json!({ "pool_id": pool.to_string(), "category": "mint" })).await;
    assert_eq!(
        mints["total"],
        json!(fixture.truth.rows(|deed| deed.is_on(pool) && deed.successful && is("mint")(deed)).len())
    );
    let all = fixture.data("get-all-history", json!({ "limit": 500, "successfulOnly": false })).await;
    assert_eq!(all["total"], json!(fixture.truth.rows(|deed| deed.pool.is_some()).len()));
}
