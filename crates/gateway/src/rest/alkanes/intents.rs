//! What an address asked contracts for.

use bitcoin::{Script, Txid};
use paraffin_alkanes::views::ViewError;
use paraffin_alkanes::{ScriptMessage, Trace, TraceContext, TraceEvent, TraceStatus, Transfer};
use serde_json::{Value, json};

use super::super::address::timestamp;
use super::super::{RestBody, RestResult};
use super::fields::script;
use crate::alkanes::{self, Moment, id_object, transfers};
use crate::respond::Reply;
use crate::rest::part::{LIMIT_MAX, Part};
use crate::state::{BoxFuture, RequestContext};

/// Messages when nothing is said.
const LIMIT_DEFAULT: usize = 50;

/// A message of one of the address's transactions.
struct Intent {
    message: ScriptMessage,
    block_time: u32,
    /// The call that the message began with; none when it came to none.
    entered: Option<TraceContext>,
    /// What the message gave back; none when nothing of it was kept.
    outgoing: Option<Vec<Transfer>>,
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
    moment.check()?;
    let limit = part.limit.unwrap_or(LIMIT_DEFAULT);
    let (messages, total) = moment.state.messages_of(script, part.offset, limit)?;
    let mut found = Vec::with_capacity(messages.len());
    for message in messages {
        moment.check()?;
        let Some(trace) = moment.state.trace(&message.outpoint)? else { continue };
        found.push(Intent::read(message, trace, block_time(moment, &message.outpoint.txid)?));
    }
    Ok((found, total))
}

impl Intent {
    /// Of a trace only its two ends are kept, because a page may have hundreds of large ones.
    fn read(message: ScriptMessage, trace: Trace, block_time: u32) -> Self {
        let outgoing = match trace.events.last() {
            Some(TraceEvent::Exit { status: TraceStatus::Success, response, .. }) if message.stands => {
                Some(response.alkanes.clone())
            }
            _ => None,
        };
        let entered = trace.events.into_iter().find_map(|event| match event {
            TraceEvent::Enter { context, .. } => Some(context),
            _ => None,
        });
        Self { message, block_time, entered, outgoing }
    }
}

fn block_time(moment: &Moment<'_>, txid: &Txid) -> Result<u32, ViewError> {
    let location = moment.bitcoin.transaction_location(txid);
    let location = location.map_err(|error| ViewError::Chain(error.to_string()))?;
    Ok(location.map_or(0, |location| location.block_time))
}

fn told(intent: &Intent) -> Result<Value, crate::errors::RestError> {
    let Intent { message, block_time, entered, outgoing } = intent;
    let inputs = entered.as_ref().map(|context| context.inputs.as_slice()).unwrap_or_default();
    let digits = |number: &u128| number.to_string();
    Ok(json!({
        "txid": message.outpoint.txid.to_string(),
        "blockHeight": message.height,
        "timestamp": timestamp(*block_time)?,
        "vout": message.outpoint.vout,
        "target": entered.as_ref().map(|context| id_object(context.myself)),
        "opcode": inputs.first().map(digits),
        "inputs": inputs.iter().map(digits).collect::<Vec<_>>(),
        "status": if outgoing.is_some() { "success" } else { "revert" },
        "incoming": entered.as_ref().map(|context| transfers(&context.incoming)).unwrap_or_default(),
        "outgoing": outgoing.as_deref().map(transfers).unwrap_or_default(),
    }))
}
