//! What an address asked contracts for.

use bitcoin::{OutPoint, Script, Txid};
use paraffin_alkanes::views::ViewError;
use paraffin_alkanes::{ActivityEntry, Trace, TraceEvent, TraceStatus};
use serde_json::{Value, json};

use super::super::address::timestamp;
use super::super::{RestBody, RestResult};
use super::fields::{LIMIT_MAX, Part, script};
use crate::alkanes::{self, Moment, id_object, transfers};
use crate::respond::Reply;
use crate::state::{BoxFuture, RequestContext};

/// Transactions read from the index at once.
const PAGE: usize = 500;
/// Messages when nothing is said.
const LIMIT_DEFAULT: usize = 50;

/// A message of one of the address's transactions.
struct Intent {
    entry: ActivityEntry,
    block_time: u32,
    outpoint: OutPoint,
    trace: Trace,
}

/// POST `/get-intent-history`: the alkane messages of transactions that an address had a part in, newest first.
pub(crate) fn history(context: &RequestContext, body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let total_wanted = body.positive("totalTxs", LIMIT_MAX)?;
        let part = Part::read(&body, Some(total_wanted.unwrap_or(LIMIT_DEFAULT)), LIMIT_MAX)?;
        let script = script(context, body.text("address")?)?;
        let (intents, total) = alkanes::read(context, None, None, move |moment| intents(moment, &script, part)).await?;
        let intents = intents.iter().map(told).collect::<Result<Vec<_>, _>>()?;
        Reply::enveloped(&json!({ "intents": intents, "total": total }))
    })
}

/// The part of the messages, and how many there are.
fn intents(moment: &Moment<'_>, script: &Script, part: Part) -> Result<(Vec<Intent>, usize), ViewError> {
    let wanted = part.offset..part.offset.saturating_add(part.limit.unwrap_or(LIMIT_DEFAULT));
    let (mut found, mut total, mut before) = (Vec::new(), 0, None);
    loop {
        moment.check()?;
        let page = moment.state.activity_of(script, before.as_ref(), PAGE)?;
        for entry in page.items {
            for outpoint in messages(moment, &entry)? {
                if wanted.contains(&total)
                    && let Some(trace) = moment.state.trace(&outpoint)?
                {
                    found.push(Intent { entry, block_time: block_time(moment, &entry.txid)?, outpoint, trace });
                }
                total += 1;
            }
        }
        before = page.next;
        if before.is_none() {
            return Ok((found, total));
        }
    }
}

/// Shadow outputs of the messages of a transaction.
fn messages(moment: &Moment<'_>, entry: &ActivityEntry) -> Result<Vec<OutPoint>, ViewError> {
    let traced = moment.state.traced_outpoints(entry.height)?.into_iter();
    Ok(traced.map(|(outpoint, _)| outpoint).filter(|outpoint| outpoint.txid == entry.txid).collect())
}

fn block_time(moment: &Moment<'_>, txid: &Txid) -> Result<u32, ViewError> {
    let location = moment.bitcoin.transaction_location(txid);
    let location = location.map_err(|error| ViewError::Chain(error.to_string()))?;
    Ok(location.map_or(0, |location| location.block_time))
}

fn told(intent: &Intent) -> Result<Value, crate::errors::RestError> {
    let entered = intent.trace.events.iter().find_map(|event| match event {
        TraceEvent::Enter { context, .. } => Some(context),
        _ => None,
    });
    let (status, outgoing) = match intent.trace.events.last() {
        Some(TraceEvent::Exit { status: TraceStatus::Success, response, .. }) => {
            ("success", transfers(&response.alkanes))
        }
        _ => ("revert", json!([])),
    };
    let inputs = entered.map(|context| context.inputs.as_slice()).unwrap_or_default();
    let digits = |number: &u128| number.to_string();
    Ok(json!({
        "txid": intent.entry.txid.to_string(),
        "blockHeight": intent.entry.height,
        "timestamp": timestamp(intent.block_time)?,
        "vout": intent.outpoint.vout,
        "target": entered.map(|context| id_object(context.myself)),
        "opcode": inputs.first().map(digits),
        "inputs": inputs.iter().map(digits).collect::<Vec<_>>(),
        "status": status,
        "incoming": entered.map_or_else(|| json!([]), |context| transfers(&context.incoming)),
        "outgoing": outgoing,
    }))
}
