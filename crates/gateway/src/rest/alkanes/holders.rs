//! Who holds an alkane.

use paraffin_alkanes::views::ViewError;
use paraffin_alkanes::{Holder, Holding};
use paraffin_primitives::{AlkaneId, Network};
use serde_json::{Value, json};

use super::super::{RestBody, RestResult};
use super::fields::{address_text, flat_error, id};
use crate::alkanes::{self, Moment, decimal};
use crate::errors::RestError;
use crate::respond::Reply;
use crate::rest::part::Part;
use crate::state::{BoxFuture, RequestContext};

/// Holders read from the index at once.
const PAGE: usize = 1_000;
/// Holders of a page when nothing is said, and at most.
const LIMIT_DEFAULT: usize = 100;
const LIMIT_MAX: usize = 1_000;

/// Addresses that hold an alkane, the greatest amount first, and how many there are.
pub(super) struct HolderPage {
    /// Address and amount.
    pub(super) holders: Vec<(String, u128)>,
    pub(super) total: u64,
}

/// The part of the holders that have at least `least`. Contracts are left out: they have no address.
pub(super) fn page(
    moment: &Moment<'_>,
    what: AlkaneId,
    part: Part,
    least: u128,
    network: Network,
) -> Result<HolderPage, ViewError> {
    let mut total = 0;
    let mut holders = Vec::new();
    let wanted = part.offset.saturating_add(part.limit.unwrap_or(usize::MAX));
    let (mut seen, mut after) = (0_usize, None);
    'pages: loop {
        moment.check()?;
        let page = moment.state.holders(what, after.as_ref(), PAGE)?;
        for Holding { holder, amount } in page.items {
            if amount < least || (least <= 1 && seen >= wanted) {
                break 'pages;
            }
            let Holder::Script(key) = holder else { continue };
            if (part.offset..wanted).contains(&seen) {
                let script = moment.state.script(key)?.unwrap_or_default();
                holders.push((address_text(&script, network), amount));
            }
            seen += 1;
        }
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    total += if least <= 1 { moment.state.holder_counts(what)?.scripts } else { seen as u64 };
    Ok(HolderPage { holders, total })
}

async fn read(context: &RequestContext, what: AlkaneId, part: Part, least: u128) -> Result<HolderPage, RestError> {
    let network = context.network();
    Ok(alkanes::read(context, None, None, move |moment| page(moment, what, part, least, network)).await?)
}

/// 404 when there is no such contract.
async fn require(context: &RequestContext, what: AlkaneId) -> Result<(), RestError> {
    let known = alkanes::read(context, None, None, move |moment| Ok(moment.state.creation(what)?.is_some())).await?;
    if known { Ok(()) } else { Err(RestError::not_found(format!("there is no alkane {what}"))) }
}

async fn count(context: &RequestContext, what: AlkaneId) -> Result<u64, RestError> {
    Ok(alkanes::read(context, None, None, move |moment| Ok(moment.state.holder_counts(what)?.scripts)).await?)
}

fn items(holders: &[(String, u128)], amount: &str) -> Vec<Value> {
    let item = |(address, held): &(String, u128)| json!({ "address": address, amount: held.to_string() });
    holders.iter().map(item).collect()
}

/// POST `/get-alkane-holders`, without envelope: `{ok, alkane, page, limit, total, has_more, items}`; pages count from 1.
pub(crate) fn alkane_holders(context: &RequestContext, body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let Ok(what) = id(&body) else { return Ok(flat_error("invalid_alkane_format", "alkane must be block:tx")) };
        let part = Part::read(&body, Some(LIMIT_DEFAULT), LIMIT_MAX)?;
        let page = read(context, what, part, 1).await?;
        Reply::bare(&told(what, part, &page))
    })
}

/// The answer of the routes without envelope.
pub(super) fn told(what: AlkaneId, part: Part, page: &HolderPage) -> Value {
    let limit = part.limit.unwrap_or(LIMIT_DEFAULT);
    json!({
        "ok": true,
        "alkane": what.to_string(),
        "page": part.offset / limit + 1,
        "limit": limit,
        "total": page.total,
        "has_more": ((part.offset + page.holders.len()) as u64) < page.total,
        "items": items(&page.holders, "amount"),
    })
}

/// The first page as GET routes give it.
pub(super) async fn first_page(context: &RequestContext, what: AlkaneId) -> Result<Value, RestError> {
    let part = Part { offset: 0, limit: Some(LIMIT_DEFAULT) };
    require(context, what).await?;
    let page = read(context, what, part, 1).await?;
    Ok(told(what, part, &page))
}

/// POST `/get-alkane-holders-count`, without envelope: `{ok, alkane, count}`.
pub(crate) fn alkane_holders_count(context: &RequestContext, body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let Ok(what) = id(&body) else { return Ok(flat_error("invalid_alkane_format", "alkane must be block:tx")) };
        Reply::bare(&json!({ "ok": true, "alkane": what.to_string(), "count": count(context, what).await? }))
    })
}

/// POST `/get-holders`: `{holders:[{address, balance, lastUpdatedBlock}], total, limit, offset}`.
pub(crate) fn holders(context: &RequestContext, body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let what = id(&body)?;
        let part = Part::read(&body, Some(LIMIT_DEFAULT), LIMIT_MAX)?;
        let least = match body.one_of(&["minBalance"])? {
            None => 1,
            Some(least) => {
                decimal(least).ok_or_else(|| RestError::bad_request("minBalance must be a non-negative integer"))?
            }
        };
        require(context, what).await?;
        let page = read(context, what, part, least.max(1)).await?;
        let mut holders = items(&page.holders, "balance");
        for (holder, (_, amount)) in holders.iter_mut().zip(&page.holders) {
            holder["amount"] = json!(amount.to_string());
            holder["lastUpdatedBlock"] = Value::Null;
        }
        Reply::enveloped(&json!({
            "holders": holders,
            "total": page.total,
            "count": page.holders.len(),
            "limit": part.limit,
            "offset": part.offset,
        }))
    })
}

/// POST `/get-holder-count` and `/get-holders-count`: `{count}`.
pub(crate) fn holder_count(context: &RequestContext, body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move { Reply::enveloped(&count_of(context, id(&body)?).await?) })
}

/// `{count}`.
pub(super) async fn count_of(context: &RequestContext, what: AlkaneId) -> Result<Value, RestError> {
    require(context, what).await?;
    Ok(json!({ "count": count(context, what).await? }))
}
