//! Messages of an address to contracts.

use bitcoin::{Script, Txid};
use paraffin_alkanes::views::ViewError;
use paraffin_alkanes::{ScriptMessage, Trace, TraceEvent, TraceStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fields::{ADDRESS_EXAMPLE, PAGES, script};
use paraffin_gateway::alkanes::{self, Moment};
use paraffin_gateway::api_types::{AddressText, Count, Digits, IdObject, Time};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::methods::Hash;
use paraffin_gateway::rest::part::Part;
use paraffin_gateway::rest::route::Pages;
use paraffin_gateway::rest::{Route, Verb};
use paraffin_gateway::state::RequestContext;

/// Messages of the transactions of an address, newest first.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct IntentHistory {
    address: AddressText,
    /// Alias of `limit`, which takes precedence.
    #[expect(dead_code, reason = "it is the limit of the part")]
    total_txs: Option<Count>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct History {
    intents: Vec<Intent>,
    total: usize,
}

/// A message of one of the address's transactions.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Intent {
    txid: Hash,
    block_height: u32,
    timestamp: Time,
    vout: u32,
    /// The called contract; null when the message led to no call.
    target: Option<IdObject>,
    opcode: Option<Digits>,
    inputs: Vec<Digits>,
    /// `revert` also when all effects of the message were undone.
    status: Status,
    incoming: Vec<Transfer>,
    outgoing: Vec<Transfer>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Status {
    Success,
    Revert,
}

#[derive(Serialize, JsonSchema)]
struct Transfer {
    id: IdObject,
    value: Digits,
}

impl Route for IntentHistory {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Post, "get-intent-history")];
    const EXAMPLE: &'static str = ADDRESS_EXAMPLE;
    const PAGES: Option<Pages> = Some(PAGES);
    const LIMIT_FIELD: Option<&'static str> = Some("totalTxs");
    type Answer = History;

    async fn answer(self, context: &RequestContext, part: Part) -> Result<History, ApiError> {
        let script = script(context, &self.address.0)?;
        Ok(alkanes::read(context, None, None, move |moment| history(moment, &script, part)).await?)
    }
}

/// A part of the messages, and the number of all.
fn history(moment: &Moment<'_>, script: &Script, part: Part) -> Result<History, ViewError> {
    moment.check()?;
    let (messages, total) = moment.state.messages_of(script, part.offset, part.limit.unwrap_or(PAGES.max))?;
    let mut intents = Vec::with_capacity(messages.len());
    for message in messages {
        moment.check()?;
        let Some(trace) = moment.state.trace(&message.outpoint)? else { continue };
        intents.push(Intent::of(&message, &trace, block_time(moment, &message.outpoint.txid)?));
    }
    Ok(History { intents, total })
}

impl Intent {
    /// Only the first and last event of a trace are held in memory, as a page may have hundreds of large traces.
    fn of(message: &ScriptMessage, trace: &Trace, timestamp: Time) -> Self {
        let transfers = |transfers: &[paraffin_alkanes::Transfer]| {
            transfers.iter().map(|one| Transfer { id: one.id.into(), value: Digits(one.value) }).collect()
        };
        let outgoing = match trace.events.last() {
            Some(TraceEvent::Exit { status: TraceStatus::Success, response, .. }) if message.stands => {
                Some(transfers(&response.alkanes))
            }
            _ => None,
        };
        // The first call of the message; `None` when it led to none.
        let entered = trace.events.iter().find_map(|event| match event {
            TraceEvent::Enter { context, .. } => Some(context),
            _ => None,
        });
        let inputs: Vec<Digits> =
            entered.map(|context| context.inputs.iter().copied().map(Digits).collect()).unwrap_or_default();
        Self {
            txid: Hash::of(message.outpoint.txid),
            block_height: message.height,
            timestamp,
            vout: message.outpoint.vout,
            target: entered.map(|context| context.myself.into()),
            opcode: inputs.first().copied(),
            inputs,
            status: if outgoing.is_some() { Status::Success } else { Status::Revert },
            incoming: entered.map(|context| transfers(&context.incoming)).unwrap_or_default(),
            outgoing: outgoing.unwrap_or_default(),
        }
    }
}

fn block_time(moment: &Moment<'_>, txid: &Txid) -> Result<Time, ViewError> {
    let location = moment.bitcoin.transaction_location(txid);
    let location = location.map_err(|error| ViewError::Chain(error.into()))?;
    let seconds = location.map_or(0, |location| location.block_time);
    Time::of(seconds).map_err(|error| ViewError::Chain(error.message.into()))
}
