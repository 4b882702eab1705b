//! What addresses and outputs hold.

use bitcoin::{OutPoint, Script};
use paraffin_alkanes::views::{self, ViewError};
use paraffin_alkanes::{FundedOutput, Transfer};
use paraffin_primitives::{AlkaneId, format_outpoint, parse_outpoint};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::ask::{Ask, Part};
use super::failure::Refusal;
use super::{Outcome, read, to_raw};
use crate::alkanes::Moment;
use crate::state::RequestContext;

/// Rows read from the index at once.
const PAGE: usize = 1_000;

/// An alkane that an output holds.
#[derive(Serialize)]
pub(super) struct Entry {
    alkane: String,
    amount: String,
}

/// An output and what it holds.
#[derive(Serialize)]
struct Outpoint {
    outpoint: String,
    entries: Vec<Entry>,
}

pub(super) fn entries(held: &[Transfer]) -> Vec<Entry> {
    held.iter().map(|held| Entry { alkane: held.id.to_string(), amount: held.value.to_string() }).collect()
}

/// An output with what it holds.
type Held = (FundedOutput, Vec<Transfer>);

/// The unspent outputs of a script that hold alkanes, oldest first, with what they hold, as of the height of the moment; and
/// whether there are more behind the page.
fn outputs(moment: &Moment<'_>, script: &Script, part: Option<Part>) -> Result<(Vec<Held>, bool), ViewError> {
    let (mut found, mut seen, mut after) = (Vec::new(), 0, None);
    loop {
        moment.check()?;
        let page = moment.state.outputs_of(script, after.as_ref(), PAGE)?;
        for output in page.items {
            seen += 1;
            if part.is_some_and(|part| seen <= part.offset()) {
                continue;
            }
            if part.is_some_and(|part| found.len() == part.limit as usize) {
                return Ok((found, true));
            }
            let held = moment.state.sheet(&output.outpoint)?.load().transfers();
            if !held.is_empty() {
                found.push((output, held));
            }
        }
        if found.len() > moment.view.limits.records_max {
            return Err(ViewError::TooLarge);
        }
        after = page.next;
        if after.is_none() {
            return Ok((found, false));
        }
    }
}

/// What a script holds in sum now, from the rows that are kept for it.
fn sums_now(moment: &Moment<'_>, script: &Script) -> Result<Vec<Transfer>, ViewError> {
    let (mut sums, mut after) = (Vec::new(), None);
    loop {
        moment.check()?;
        let page = moment.state.held_by_script(script, after.as_ref(), PAGE)?;
        sums.extend(page.items.into_iter().map(|held| Transfer { id: held.id, value: held.amount }));
        if sums.len() > moment.view.limits.records_max {
            return Err(ViewError::TooLarge);
        }
        after = page.next;
        if after.is_none() {
            return Ok(sums);
        }
    }
}

/// The same from outputs. A sum above 2^128 - 1 stays there, as in the rows.
fn sums_of(outputs: &[Held]) -> Vec<Transfer> {
    let mut sums = std::collections::BTreeMap::<AlkaneId, u128>::new();
    for transfer in outputs.iter().flat_map(|(_, held)| held) {
        let sum = sums.entry(transfer.id).or_default();
        *sum = sum.saturating_add(transfer.value);
    }
    sums.into_iter().map(|(id, value)| Transfer { id, value }).collect()
}

fn told(outputs: &[Held]) -> Vec<Outpoint> {
    let outpoint =
        |(output, held): &Held| Outpoint { outpoint: format_outpoint(&output.outpoint), entries: entries(held) };
    outputs.iter().map(outpoint).collect()
}

/// `get_address_balances`
pub(super) async fn of_address(context: &RequestContext, ask: &Ask) -> Outcome {
    let script = ask.script(context)?;
    let include_outpoints = ask.flag("include_outpoints", false)?;
    let (sums, held) = read(context, ask, move |moment| {
        if moment.is_newest && !include_outpoints {
            return Ok((sums_now(moment, &script)?, Vec::new()));
        }
        let (held, _) = outputs(moment, &script, None)?;
        Ok((sums_of(&held), held))
    })
    .await?;
    let balances: Map<String, Value> =
        sums.iter().map(|sum| (sum.id.to_string(), json!(sum.value.to_string()))).collect();
    let mut answer = json!({ "ok": true, "address": ask.text("address")?, "balances": balances });
    if include_outpoints {
        answer["outpoints"] = json!(told(&held));
    }
    Ok(to_raw(&answer)?)
}

/// `get_address_outpoints`
pub(super) async fn outpoints(context: &RequestContext, ask: &Ask) -> Outcome {
    let script = ask.script(context)?;
    // A wallet must see all its coins, so that only who asks for a page is given one.
    let asked = ask.part()?;
    let part = ask.member("limit").is_some().then_some(asked);
    let (held, has_more) = read(context, ask, move |moment| outputs(moment, &script, part)).await?;
    let mut answer = json!({ "ok": true, "address": ask.text("address")?, "outpoints": told(&held) });
    if let Some(part) = part {
        answer["page"] = json!(part.page);
        answer["limit"] = json!(part.limit);
        answer["has_more"] = json!(has_more);
    }
    Ok(to_raw(&answer)?)
}

/// `get_outpoint_balances`
pub(super) async fn of_outpoint(context: &RequestContext, ask: &Ask) -> Outcome {
    let text = ask.text("outpoint")?;
    let outpoint = parse_outpoint(text).map_err(|_| {
        Refusal::new("invalid_outpoint_format", "outpoint must be txid:vout, 64 hexadecimal digits and a number")
    })?;
    let network = context.network();
    let item = read(context, ask, move |moment| {
        let Some(held) = views::held_by_output(&outpoint, &moment.view)? else {
            return Ok(
                json!({ "outpoint": format_outpoint(&outpoint), "entries": [], "known": false, "spent": false }),
            );
        };
        let spender = spender(moment, &outpoint)?;
        let output = &held.placed.output;
        let address = bitcoin::Address::from_script(&output.script_pubkey, network.bitcoin()).ok();
        Ok(json!({
            "outpoint": format_outpoint(&outpoint),
            "entries": entries(&held.alkanes),
            "address": address.map(|address| address.to_string()),
            "value": output.value.to_sat(),
            "block_height": held.placed.height,
            "known": true,
            "spent": spender.is_some(),
            "spent_by": spender,
        }))
    })
    .await?;
    Ok(to_raw(&json!({ "ok": true, "outpoint": format_outpoint(&outpoint), "items": [item] }))?)
}

/// The transaction that spends an output, up to the height of the moment.
fn spender(moment: &Moment<'_>, outpoint: &OutPoint) -> Result<Option<String>, ViewError> {
    let spend = moment.bitcoin.outspend(outpoint).map_err(|error| ViewError::Chain(error.to_string()))?;
    let at = spend.status.and_then(|status| status.block_height);
    let is_spent = spend.spent && at.is_none_or(|at| at <= moment.view.height);
    Ok(spend.txid.filter(|_| is_spent).map(|txid| txid.to_string()))
}
