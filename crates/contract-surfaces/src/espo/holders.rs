//! Holders of an alkane.

use paraffin_alkanes::views::ViewError;
use paraffin_alkanes::{Holder, Holding};
use paraffin_primitives::{AlkaneId, Network};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ask::{AtHeight, Part, WALK_MAX, id};
use super::failure::{Failure, Refusal};
use super::{Espo, EspoMethod, read};
use paraffin_gateway::alkanes::Moment;
use paraffin_gateway::methods::Natural;
use paraffin_gateway::state::RequestContext;

/// Rows read from the index at once, of its newest block.
const PAGE: usize = 1_000;

/// Reads the id of the alkane.
pub(super) fn alkane(text: &str) -> Result<AlkaneId, Refusal> {
    id("alkane", text, "missing_or_invalid_alkane")
}

/// The failure for an alkane that does not exist.
pub(super) fn unknown(id: AlkaneId) -> Refusal {
    Refusal::new("alkane_not_found", format!("there is no alkane {id}"))
}

fn count_of(moment: &Moment<'_>, id: AlkaneId, with_contracts: bool) -> Result<u64, ViewError> {
    let counts = moment.state.holder_counts(id)?;
    Ok(if with_contracts { counts.scripts.saturating_add(counts.contracts) } else { counts.scripts })
}

/// Holders of an alkane, the greatest amount first.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Holders {
    /// Its id `block:tx`.
    alkane: String,
    /// Block to answer as of; the newest when absent.
    height: Option<AtHeight>,
    /// Whether contracts count as holders; `false` when absent.
    include_contracts: Option<bool>,
    /// Page number, from 0; a page must begin within the first 100,000 holders.
    page: Option<Natural>,
    /// Holders of a page: 100 when absent, 10,000 at most.
    limit: Option<Natural>,
    /// Alias of `limit`, which takes precedence.
    size: Option<Natural>,
}

/// A page of holders.
#[derive(Serialize, JsonSchema)]
pub(super) struct HoldersAnswer {
    ok: bool,
    alkane: String,
    page: u64,
    limit: u32,
    /// Number of items on all pages.
    total: u64,
    has_more: bool,
    items: Vec<HolderItem>,
}

/// A holder.
#[derive(Serialize, JsonSchema)]
struct HolderItem {
    /// `address` or `alkane`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The id of a contract.
    #[serde(skip_serializing_if = "Option::is_none")]
    alkane: Option<String>,
    /// An address, the script in hexadecimal digits where it has none, or a contract's id.
    address: String,
    /// Base units in decimal digits.
    amount: String,
}

impl EspoMethod for Holders {
    const NAME: &'static str = "essentials.get_holders";
    const ALIASES: &'static [&'static str] = &["get_holders"];
    const EXAMPLE: &'static str = r#"{"alkane":"2:0","limit":10}"#;
    type Answer = HoldersAnswer;

    async fn answer(self, context: &RequestContext, _espo: &Espo) -> Result<HoldersAnswer, Failure> {
        let id = alkane(&self.alkane)?;
        let part = Part::read(self.page, self.limit, self.size)?;
        let with_contracts = self.include_contracts.unwrap_or(false);
        let network = context.network();
        let found = read(context, self.height.as_ref(), move |moment| {
            if moment.state.creation(id)?.is_none() {
                return Ok(Err(unknown(id)));
            }
            let total = count_of(moment, id, with_contracts)?;
            if part.offset() < total && part.offset() > WALK_MAX {
                let hint = format!("pages begin within the first {WALK_MAX} holders");
                return Ok(Err(Refusal::new("page_too_far", hint)));
            }
            let is_within = part.offset() < total;
            let items = if is_within { items(moment, id, part, with_contracts, network)? } else { Vec::new() };
            Ok(Ok((items, total)))
        });
        let (items, total) = found.await??;
        Ok(HoldersAnswer {
            alkane: id.to_string(),
            has_more: part.has_more(items.len(), total),
            items,
            limit: part.limit,
            ok: true,
            page: part.page,
            total,
        })
    }
}

/// Holders of a page, the greatest amount first.
fn items(
    moment: &Moment<'_>,
    id: AlkaneId,
    part: Part,
    with_contracts: bool,
    network: Network,
) -> Result<Vec<HolderItem>, ViewError> {
    let (mut items, mut seen, mut after) = (Vec::new(), 0, None);
    // As of an older block every read costs a walk over all holders, so one large read is used.
    let older = usize::try_from(part.offset()).unwrap_or(usize::MAX).saturating_add(part.limit as usize);
    let rows = if moment.is_newest { PAGE } else { older };
    loop {
        moment.check()?;
        let page = moment.state.holders(id, after.as_ref(), rows)?;
        for Holding { holder, amount } in page.items {
            let is_counted = with_contracts || matches!(holder, Holder::Script(_));
            if !is_counted {
                continue;
            }
            seen += 1;
            if seen <= part.offset() {
                continue;
            }
            let amount = amount.to_string();
            items.push(match holder {
                Holder::Script(key) => {
                    let script = moment.state.script(key)?.unwrap_or_default();
                    // A script without an address is given in hexadecimal digits.
                    let address = bitcoin::Address::from_script(&script, network.bitcoin())
                        .map_or_else(|_| script.to_hex_string(), |address| address.to_string());
                    HolderItem { address, alkane: None, amount, kind: "address" }
                }
                Holder::Contract(contract) => {
                    let contract = contract.to_string();
                    HolderItem { address: contract.clone(), alkane: Some(contract), amount, kind: "alkane" }
                }
            });
            if items.len() == part.limit as usize {
                return Ok(items);
            }
        }
        after = page.next;
        if after.is_none() {
            return Ok(items);
        }
    }
}

/// Number of holders of an alkane.
#[derive(Deserialize, JsonSchema)]
pub(super) struct HoldersCount {
    /// Its id `block:tx`.
    alkane: String,
    /// Block to answer as of; the newest when absent.
    height: Option<AtHeight>,
    /// Whether contracts count as holders; `false` when absent.
    include_contracts: Option<bool>,
}

/// A count.
#[derive(Serialize, JsonSchema)]
pub(super) struct HoldersCountAnswer {
    ok: bool,
    count: u64,
}

impl EspoMethod for HoldersCount {
    const NAME: &'static str = "essentials.get_holders_count";
    const ALIASES: &'static [&'static str] = &["get_holders_count"];
    const EXAMPLE: &'static str = r#"{"alkane":"2:0"}"#;
    type Answer = HoldersCountAnswer;

    async fn answer(self, context: &RequestContext, _espo: &Espo) -> Result<HoldersCountAnswer, Failure> {
        let id = alkane(&self.alkane)?;
        let with_contracts = self.include_contracts.unwrap_or(false);
        let count = read(context, self.height.as_ref(), move |moment| {
            if moment.state.creation(id)?.is_none() {
                return Ok(Err(unknown(id)));
            }
            Ok(Ok(count_of(moment, id, with_contracts)?))
        });
        Ok(HoldersCountAnswer { count: count.await??, ok: true })
    }
}
