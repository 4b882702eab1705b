//! Who holds an alkane.

use paraffin_alkanes::views::ViewError;
use paraffin_alkanes::{Holder, Holding};
use paraffin_primitives::{AlkaneId, Network};
use serde_json::{Value, json};

use super::ask::{Ask, Part, WALK_MAX};
use super::failure::{Failure, Refusal};
use super::{Outcome, read, to_raw};
use crate::alkanes::Moment;
use crate::state::RequestContext;

/// Rows read from the index at once, of its newest block.
const PAGE: usize = 1_000;

/// The alkane that a question is about.
fn asked(ask: &Ask) -> Result<AlkaneId, Failure> {
    ask.id("alkane", "missing_or_invalid_alkane")
}

/// The answer about an alkane that does not exist.
pub(super) fn unknown(id: AlkaneId) -> Refusal {
    Refusal::new("alkane_not_found", format!("there is no alkane {id}"))
}

fn count_of(moment: &Moment<'_>, id: AlkaneId, with_contracts: bool) -> Result<u64, ViewError> {
    let counts = moment.state.holder_counts(id)?;
    Ok(if with_contracts { counts.scripts.saturating_add(counts.contracts) } else { counts.scripts })
}

/// `get_holders`
pub(super) async fn page(context: &RequestContext, ask: &Ask) -> Outcome {
    let id = asked(ask)?;
    let part = ask.part()?;
    let with_contracts = ask.flag("include_contracts", false)?;
    let network = context.network();
    let found = read(context, ask, move |moment| {
        if moment.state.creation(id)?.is_none() {
            return Ok(Err(unknown(id)));
        }
        let total = count_of(moment, id, with_contracts)?;
        if part.offset() < total && part.offset() > WALK_MAX {
            let hint = format!("pages begin within the first {WALK_MAX} holders");
            return Ok(Err(Refusal::new("page_too_far", hint)));
        }
        let items = if part.offset() < total { items(moment, id, part, with_contracts, network)? } else { Vec::new() };
        Ok(Ok((items, total)))
    });
    let (items, total) = found.await??;
    Ok(to_raw(&json!({
        "ok": true,
        "alkane": id.to_string(),
        "page": part.page,
        "limit": part.limit,
        "total": total,
        "has_more": part.has_more(items.len(), total),
        "items": items,
    }))?)
}

/// Holders of a page, the greatest amount first.
fn items(
    moment: &Moment<'_>,
    id: AlkaneId,
    part: Part,
    with_contracts: bool,
    network: Network,
) -> Result<Vec<Value>, ViewError> {
    let (mut items, mut seen, mut after) = (Vec::new(), 0, None);
    // As of an older block every page costs a walk over all holders, so one page has to do where it can.
    let older = usize::try_from(part.offset()).unwrap_or(usize::MAX).saturating_add(part.limit as usize);
    let rows = if moment.is_newest { PAGE } else { older };
    loop {
        moment.check()?;
        let page = moment.state.holders(id, after.as_ref(), rows)?;
        for Holding { holder, amount } in page.items {
            let is_asked = with_contracts || matches!(holder, Holder::Script(_));
            if !is_asked {
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
                    // A script without an address is written as its bytes.
                    let address = bitcoin::Address::from_script(&script, network.bitcoin())
                        .map_or_else(|_| script.to_hex_string(), |address| address.to_string());
                    json!({ "type": "address", "address": address, "amount": amount })
                }
                Holder::Contract(contract) => {
                    let contract = contract.to_string();
                    json!({ "type": "alkane", "alkane": contract, "address": contract, "amount": amount })
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

/// `get_holders_count`
pub(super) async fn count(context: &RequestContext, ask: &Ask) -> Outcome {
    let id = asked(ask)?;
    let with_contracts = ask.flag("include_contracts", false)?;
    let count = read(context, ask, move |moment| {
        if moment.state.creation(id)?.is_none() {
            return Ok(Err(unknown(id)));
        }
        Ok(Ok(count_of(moment, id, with_contracts)?))
    });
    let count = count.await??;
    Ok(to_raw(&json!({ "ok": true, "count": count }))?)
}
