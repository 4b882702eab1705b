//! What addresses and outputs hold.

use std::collections::{BTreeMap, HashSet};

use bitcoin::{OutPoint, Script};
use paraffin_alkanes::Transfer;
use paraffin_alkanes::views::{self, ViewError};
use paraffin_bitcoin_index::ScriptKey;
use paraffin_bitcoin_index::esplora::UnspentOutput;
use paraffin_primitives::{format_outpoint, parse_outpoint};
use serde_json::{Map, Value, json};

use super::super::address::{SharedText, Utxo};
use super::super::{RestBody, RestResult};
use super::fields::{address_text, flat_error, script};
use crate::alkanes::{self, ImageBudget, Moment, Token, named_amount, token, words};
use crate::errors::RestError;
use crate::markets::read_priced;
use crate::respond::Reply;
use crate::rest::part::Part;
use crate::state::{BoxFuture, RequestContext};
use crate::surfaces::esplora::unconfirmed_of;

/// Outputs and sums read from the index at once.
const PAGE: usize = 1_000;
/// Records of a part that a caller may ask for.
const LIMIT_MAX: usize = 20_000;

/// All sums of a script.
pub(in crate::rest) fn sums(moment: &Moment<'_>, script: &Script) -> Result<Vec<Transfer>, ViewError> {
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

/// An unspent output with the alkanes in it.
pub(in crate::rest) struct Held {
    /// Which output.
    pub(in crate::rest) outpoint: OutPoint,
    /// Satoshis.
    value: u64,
    /// What it holds.
    pub(in crate::rest) alkanes: Vec<Transfer>,
}

/// The part of a script's unspent outputs with alkanes, oldest first. A part costs what stands before it and in it.
pub(in crate::rest) fn outputs(moment: &Moment<'_>, script: &Script, part: Part) -> Result<Vec<Held>, ViewError> {
    let wanted = part.offset.saturating_add(part.limit.unwrap_or(usize::MAX));
    let (mut seen, mut held, mut after) = (0_usize, Vec::new(), None);
    while seen < wanted {
        moment.check()?;
        let page = moment.state.outputs_of(script, after.as_ref(), PAGE.min(wanted - seen))?;
        for output in page.items {
            seen += 1;
            if seen <= part.offset {
                continue;
            }
            if held.len() >= moment.view.limits.records_max {
                return Err(ViewError::TooLarge);
            }
            let alkanes = moment.state.sheet(&output.outpoint)?.load().transfers();
            held.push(Held { outpoint: output.outpoint, value: output.value, alkanes });
        }
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    Ok(held)
}

/// POST `/get-alkanes-by-address`: an array of tokens with `balance`, the greatest first.
pub(crate) fn alkanes_by_address(context: &RequestContext, body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let part = Part::read(&body, None, LIMIT_MAX)?;
        Reply::enveloped(&tokens_of(context, body.text("address")?, part).await?)
    })
}

pub(super) async fn tokens_of(context: &RequestContext, address: &str, part: Part) -> Result<Vec<Token>, RestError> {
    let script = script(context, address)?;
    let read = read_priced(context, move |moment, pricing| {
        let mut sums = sums(moment, &script)?;
        sums.sort_by(|one, other| other.value.cmp(&one.value).then(one.id.cmp(&other.id)));
        let (mut tokens, mut images) = (Vec::new(), ImageBudget::default());
        for sum in part.of(sums) {
            if let Some(token) = token(moment, pricing, sum.id)? {
                let mut token = images.allow(token);
                token.balance = Some(sum.value.to_string());
                tokens.push(token);
            }
        }
        Ok(tokens)
    });
    Ok(read.await?)
}

/// `"block:tx"` to `{balance, name, symbol}`, as records of outputs show it.
pub(in crate::rest) fn alkanes_map(moment: &Moment<'_>, held: &[Transfer]) -> Result<Map<String, Value>, ViewError> {
    let mut map = Map::new();
    for transfer in held {
        let words = match moment.state.creation(transfer.id)? {
            Some(creation) => words(moment, creation)?,
            None => alkanes::Words::default(),
        };
        map.insert(
            transfer.id.to_string(),
            json!({ "balance": transfer.value.to_string(), "name": words.0, "symbol": words.1 }),
        );
    }
    Ok(map)
}

/// What outputs hold, for records of outputs; without entries where this instance does not index alkanes.
pub(crate) async fn alkanes_in(
    context: &RequestContext,
    outpoints: Vec<OutPoint>,
) -> Result<BTreeMap<OutPoint, Map<String, Value>>, RestError> {
    if outpoints.is_empty() || alkanes::of(context).is_err() {
        return Ok(BTreeMap::new());
    }
    let read = alkanes::read(context, None, None, move |moment| {
        let mut held = BTreeMap::new();
        for outpoint in outpoints {
            moment.check()?;
            let alkanes = moment.state.sheet(&outpoint)?.load().transfers();
            if !alkanes.is_empty() {
                held.insert(outpoint, alkanes_map(moment, &alkanes)?);
            }
        }
        Ok(held)
    });
    Ok(read.await?)
}

/// Outputs of a script that unconfirmed transactions spend.
pub(in crate::rest) async fn spent_by_pending(
    context: &RequestContext,
    key: &ScriptKey,
) -> Result<HashSet<OutPoint>, RestError> {
    let pending = unconfirmed_of(context, key).await?;
    let inputs = pending.iter().flat_map(|(_, one)| one.transaction.input.iter().map(|input| input.previous_output));
    Ok(inputs.collect())
}

/// An output with its place in the chain; `None` when a reorg has taken it away.
pub(in crate::rest) fn placed(moment: &Moment<'_>, held: &Held) -> Result<Option<UnspentOutput>, ViewError> {
    let OutPoint { txid, vout } = held.outpoint;
    let location = moment.bitcoin.transaction_location(&txid);
    let location = location.map_err(|error| ViewError::Chain(error.to_string()))?;
    Ok(location.map(|location| UnspentOutput { txid, vout, status: location.status(), value: held.value }))
}

/// POST `/get-alkanes-utxo`: an array of the unspent outputs that hold alkanes; those that an unconfirmed transaction spends
/// are left out.
pub(crate) fn alkanes_utxo(context: &RequestContext, body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let address = body.text("address")?;
        let part = Part::read(&body, None, LIMIT_MAX)?;
        let script = script(context, address)?;
        let spent = spent_by_pending(context, &ScriptKey::from_script(&script)).await?;
        let digits = script.to_hex_string();
        let read = alkanes::read(context, None, None, move |moment| {
            let mut found = Vec::new();
            // Some of those read may be spent by now, so that many more are read.
            let limit = part.limit.map(|limit| part.offset.saturating_add(limit).saturating_add(spent.len()));
            let held = outputs(moment, &script, Part { offset: 0, limit })?;
            for held in part.of(held.into_iter().filter(|held| !spent.contains(&held.outpoint)).collect()) {
                moment.check()?;
                let Some(output) = placed(moment, &held)? else { continue };
                found.push((output, alkanes_map(moment, &held.alkanes)?));
            }
            Ok(found)
        });
        let tip = context.tip().map_or(0, |tip| tip.height);
        let found = read.await?;
        let (address, digits) = (SharedText::new(address), SharedText::new(&digits));
        let utxos: Vec<Utxo> = found
            .into_iter()
            .map(|(output, alkanes)| Utxo::new(&output, Some(address.clone()), digits.clone(), tip).holding(alkanes))
            .collect();
        Reply::enveloped(&utxos)
    })
}

fn entries(alkanes: &[Transfer]) -> Vec<Value> {
    let entry = |held: &Transfer| json!({ "alkane": held.id.to_string(), "amount": held.value.to_string() });
    alkanes.iter().map(entry).collect()
}

fn outpoint_entries(held: &[Held]) -> Vec<Value> {
    let outpoint =
        |held: &Held| json!({ "outpoint": format_outpoint(&held.outpoint), "entries": entries(&held.alkanes) });
    held.iter().map(outpoint).collect()
}

/// POST `/get-address-outpoints`: `{address, outpoints:[{outpoint, entries:[{alkane, amount}]}]}`, in the envelope and, for
/// clients that know none, beside it.
pub(crate) fn address_outpoints(context: &RequestContext, body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let address = body.text("address")?;
        let part = Part::read(&body, None, LIMIT_MAX)?;
        let script = script(context, address)?;
        let held = alkanes::read(context, None, None, move |moment| outputs(moment, &script, part)).await?;
        let outpoints = outpoint_entries(&held);
        Reply::bare(&json!({
            "statusCode": 200,
            "data": { "address": address, "outpoints": outpoints },
            "ok": true,
            "address": address,
            "outpoints": outpoints,
        }))
    })
}

/// POST `/get-address-balances`, without envelope: `{ok, address, balances:{"b:t":"amount"}, outpoints?}`.
pub(crate) fn address_balances(context: &RequestContext, body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let address = body.text("address")?;
        let include_outpoints = body.flag("include_outpoints")? || body.flag("includeOutpoints")?;
        let script = script(context, address)?;
        let read = alkanes::read(context, None, None, move |moment| {
            let all = Part { offset: 0, limit: None };
            let held = if include_outpoints { Some(outputs(moment, &script, all)?) } else { None };
            Ok((sums(moment, &script)?, held))
        });
        let (sums, held) = read.await?;
        let balances: Map<String, Value> =
            sums.iter().map(|sum| (sum.id.to_string(), json!(sum.value.to_string()))).collect();
        let mut told = json!({ "ok": true, "address": address, "balances": balances });
        if let Some(held) = held {
            told["outpoints"] = json!(outpoint_entries(&held));
        }
        Reply::bare(&told)
    })
}

/// What an address holds, `{address, balances:[{id, amount, name, symbol}]}` (docs/api.md).
pub(super) async fn named_balances(context: &RequestContext, address: &str) -> Result<Value, RestError> {
    let script = script(context, address)?;
    let read = alkanes::read(context, None, None, move |moment| {
        let sums = sums(moment, &script)?;
        sums.iter().map(|sum| named_amount(moment, sum.id, sum.value)).collect::<Result<Vec<_>, _>>()
    });
    Ok(json!({ "address": address, "balances": read.await? }))
}

/// POST `/get-outpoint-balances`, without envelope: `{ok, outpoint, items:[{outpoint, address, entries}]}`.
pub(crate) fn outpoint_balances(context: &RequestContext, body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let Ok(outpoint) = parse_outpoint(body.text("outpoint")?) else {
            return Ok(flat_error("invalid_outpoint_format", "outpoint must be txid:vout"));
        };
        let items = items_of(context, outpoint).await?;
        Reply::bare(&json!({ "ok": true, "outpoint": format_outpoint(&outpoint), "items": items }))
    })
}

/// What an output holds; no items when it holds nothing.
pub(super) async fn items_of(context: &RequestContext, outpoint: OutPoint) -> Result<Vec<Value>, RestError> {
    let network = context.network();
    let held = alkanes::read(context, None, None, move |moment| views::held_by_output(&outpoint, &moment.view)).await?;
    let held = held.filter(|held| !held.alkanes.is_empty());
    Ok(held
        .iter()
        .map(|held| {
            json!({
                "outpoint": format_outpoint(&outpoint),
                "address": address_text(&held.placed.output.script_pubkey, network),
                "entries": entries(&held.alkanes),
            })
        })
        .collect())
}
