//! Holders of an alkane.

use paraffin_alkanes::views::ViewError;
use paraffin_alkanes::{Holder, Holding};
use paraffin_primitives::{AlkaneId, Network};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fields::{ALKANE, ALKANE_ID, Flat, Names, WRONG_ALKANE, address_text};
use paraffin_gateway::alkanes::{self, Moment};
use paraffin_gateway::api_types::{AlkaneIdParam, Amount, Digits, IdText, OkTrue};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::rest::part::Part;
use paraffin_gateway::rest::route::Pages;
use paraffin_gateway::rest::{Route, Verb, Wrapping};
use paraffin_gateway::state::RequestContext;

/// Holders read from the index at once.
const PAGE: usize = 1_000;
/// Default number of holders of a page.
const LIMIT_DEFAULT: usize = 100;
const PAGES: Pages = Pages { default: Some(LIMIT_DEFAULT), max: 1_000 };

/// Addresses that hold an alkane with their amounts, the greatest first, and the number of all holders.
type AddressAmounts = (Vec<(String, u128)>, u64);

/// A part of the holders with at least `least`. Contracts are left out, as they have no address.
fn page(
    moment: &Moment<'_>,
    what: AlkaneId,
    part: Part,
    least: u128,
    network: Network,
) -> Result<AddressAmounts, ViewError> {
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
    let total = if least <= 1 { moment.state.holder_counts(what)?.scripts } else { seen as u64 };
    Ok((holders, total))
}

async fn read(context: &RequestContext, what: AlkaneId, part: Part, least: u128) -> Result<AddressAmounts, ApiError> {
    let network = context.network();
    Ok(alkanes::read(context, None, None, move |moment| page(moment, what, part, least, network)).await?)
}

/// 404 when there is no such contract.
async fn require(context: &RequestContext, what: AlkaneId) -> Result<(), ApiError> {
    let exists = alkanes::read(context, None, None, move |moment| Ok(moment.state.creation(what)?.is_some())).await?;
    if exists { Ok(()) } else { Err(ApiError::not_found(format!("there is no alkane {what}"))) }
}

async fn count(context: &RequestContext, what: AlkaneId) -> Result<u64, ApiError> {
    Ok(alkanes::read(context, None, None, move |moment| Ok(moment.state.holder_counts(what)?.scripts)).await?)
}

#[derive(Serialize, JsonSchema)]
pub(super) struct HolderPage {
    ok: OkTrue,
    alkane: IdText,
    /// Rank, from 1.
    page: usize,
    limit: usize,
    total: u64,
    has_more: bool,
    items: Vec<HolderItem>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct HolderItem {
    address: String,
    amount: Digits,
}

async fn flat_page(context: &RequestContext, what: AlkaneId, part: Part) -> Result<HolderPage, ApiError> {
    let (holders, total) = read(context, what, part, 1).await?;
    let limit = part.limit.unwrap_or(LIMIT_DEFAULT);
    Ok(HolderPage {
        ok: OkTrue,
        alkane: IdText(what),
        page: part.offset / limit + 1,
        limit,
        total,
        has_more: ((part.offset + holders.len()) as u64) < total,
        items: holders.into_iter().map(|(address, amount)| HolderItem { address, amount: Digits(amount) }).collect(),
    })
}

/// Addresses that hold an alkane, the greatest amount first, without envelope.
#[derive(Deserialize, JsonSchema)]
pub(super) struct FlatHolders {
    alkane: AlkaneIdParam,
}

impl Route for FlatHolders {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Post, "get-alkane-holders")];
    const EXAMPLE: &'static str = r#"{"alkane":"2:0","limit":10}"#;
    const OTHER_NAMES: &'static [Names] = ALKANE;
    const PAGES: Option<Pages> = Some(PAGES);
    const WRAPPING: Wrapping = Wrapping::Flat;
    const FIELD_ERRORS: &'static [(&'static str, &'static str)] = WRONG_ALKANE;
    type Answer = HolderPage;

    async fn answer(self, context: &RequestContext, part: Part) -> Result<HolderPage, ApiError> {
        flat_page(context, self.alkane.0, part).await
    }
}

/// The 100 addresses with the greatest amounts of an alkane.
#[derive(Deserialize, JsonSchema)]
pub(super) struct FirstHolders {
    id: AlkaneIdParam,
}

impl Route for FirstHolders {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "alkanes/{id}/holders")];
    const EXAMPLE: &'static str = r#"{"id":"2:0"}"#;
    const MAY_BE_MISSING: bool = true;
    type Answer = HolderPage;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<HolderPage, ApiError> {
        require(context, self.id.0).await?;
        flat_page(context, self.id.0, Part { offset: 0, limit: PAGES.default }).await
    }
}

/// Addresses that hold an alkane, the greatest amount first.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Holders {
    alkane_id: AlkaneIdParam,
    /// Smallest amount of the addresses that are listed.
    min_balance: Option<Amount>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct HoldersAnswer {
    holders: Vec<HolderRecord>,
    total: u64,
    count: usize,
    limit: usize,
    offset: usize,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct HolderRecord {
    address: String,
    balance: Digits,
    amount: Digits,
    last_updated_block: Option<u32>,
}

impl Route for Holders {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Post, "get-holders")];
    const EXAMPLE: &'static str = r#"{"alkaneId":"2:0","limit":10}"#;
    const OTHER_NAMES: &'static [Names] = ALKANE_ID;
    const PAGES: Option<Pages> = Some(PAGES);
    const MAY_BE_MISSING: bool = true;
    type Answer = HoldersAnswer;

    async fn answer(self, context: &RequestContext, part: Part) -> Result<HoldersAnswer, ApiError> {
        let (what, least) = (self.alkane_id.0, self.min_balance.map_or(1, |least| least.0.max(1)));
        require(context, what).await?;
        let (found, total) = read(context, what, part, least).await?;
        let record = |(address, amount)| {
            let amount = Digits(amount);
            HolderRecord { address, balance: amount, amount, last_updated_block: None }
        };
        Ok(HoldersAnswer {
            count: found.len(),
            holders: found.into_iter().map(record).collect(),
            total,
            limit: part.limit.unwrap_or(LIMIT_DEFAULT),
            offset: part.offset,
        })
    }
}

/// Number of addresses that hold an alkane, without envelope.
#[derive(Deserialize, JsonSchema)]
pub(super) struct FlatHolderCount {
    alkane: AlkaneIdParam,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct FlatCount {
    alkane: IdText,
    count: u64,
}

impl Route for FlatHolderCount {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Post, "get-alkane-holders-count")];
    const EXAMPLE: &'static str = r#"{"alkane":"2:0"}"#;
    const OTHER_NAMES: &'static [Names] = ALKANE;
    const WRAPPING: Wrapping = Wrapping::Flat;
    const FIELD_ERRORS: &'static [(&'static str, &'static str)] = WRONG_ALKANE;
    type Answer = Flat<FlatCount>;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Flat<FlatCount>, ApiError> {
        let what = self.alkane.0;
        Ok(Flat::of(FlatCount { alkane: IdText(what), count: count(context, what).await? }))
    }
}

/// Number of addresses that hold an alkane.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct HolderCount {
    pub(super) alkane_id: AlkaneIdParam,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct Count {
    count: u64,
}

impl Route for HolderCount {
    const PATHS: &'static [(Verb, &'static str)] = &[
        (Verb::Post, "get-holder-count"),
        (Verb::Post, "get-holders-count"),
        (Verb::Get, "alkanes/{id}/holders/count"),
    ];
    const EXAMPLE: &'static str = r#"{"alkaneId":"2:0"}"#;
    const OTHER_NAMES: &'static [Names] = ALKANE_ID;
    const MAY_BE_MISSING: bool = true;
    type Answer = Count;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Count, ApiError> {
        require(context, self.alkane_id.0).await?;
        Ok(Count { count: count(context, self.alkane_id.0).await? })
    }
}
