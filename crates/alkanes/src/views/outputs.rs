//! Alkanes of outputs, by output, by address and by height (protocol B21).

use std::collections::BTreeMap;

use bitcoin::{Amount, OutPoint, Script, ScriptBuf, TxOut};
use paraffin_primitives::{AlkaneId, Height};

use super::words::{Words, WordsLimits};
use super::{PlacedOutput, ViewContext, ViewError, ViewState, outpoint, outpoint_to_proto, output_to_proto};
use crate::codec::ALKANES_PROTOCOL;
use crate::proto::protorune::{
    BalanceSheet, BalanceSheetItem, OutpointResponse, OutpointWithProtocol, ProtorunesByHeightRequest,
    ProtorunesWalletRequest, RunesResponse, WalletResponse,
};
use crate::proto::{self, alkanes, integer};
use crate::{SavedSheet, Sheet, StateKey, Transfer};

/// An output and the alkanes in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputHoldings {
    /// Its outpoint.
    pub outpoint: OutPoint,
    /// The output and its position in the chain.
    pub placed: PlacedOutput,
    /// Positive amounts in the order of their ids.
    pub alkanes: Vec<Transfer>,
    /// Ids of which it held something until a transaction with protostones spent it, in their order.
    pub emptied: Vec<AlkaneId>,
}

impl OutputHoldings {
    /// The holdings of an output with this sheet.
    pub(super) fn new(outpoint: OutPoint, placed: PlacedOutput, sheet: &Sheet) -> Self {
        let emptied = sheet.iter().filter(|(_, value)| *value == 0).map(|(id, _)| id).collect();
        Self { outpoint, placed, alkanes: sheet.transfers(), emptied }
    }

    /// As the reference lists them: in the order of the ids, with 0 for spent ones (protocol B16, B21).
    pub fn listed(&self) -> Vec<Transfer> {
        let emptied = self.emptied.iter().map(|id| Transfer { id: *id, value: 0 });
        let mut listed: Vec<Transfer> = self.alkanes.iter().copied().chain(emptied).collect();
        listed.sort_unstable_by_key(|transfer| transfer.id);
        listed
    }

    /// Height and index as the reference reports them: the parts of the first id that is listed, or those of the output
    /// (protocol B21). Parts above 32 bits keep their low ones.
    pub fn reported_position(&self) -> (u32, u32) {
        let first = self.alkanes.first().map(|first| first.id).into_iter().chain(self.emptied.first().copied()).min();
        first.map_or((self.placed.height, self.placed.index), |id| (id.block as u32, id.tx as u32))
    }

    /// The same output as a protocol sees it that keeps nothing in it.
    pub fn clear(&mut self) {
        self.alkanes.clear();
        self.emptied.clear();
    }
}

/// Alkanes of an output; `None` when there is no such output up to the view's height.
///
/// # Errors
/// [`ViewError::State`].
pub fn held_by_output(outpoint: &OutPoint, context: &ViewContext<'_>) -> Result<Option<OutputHoldings>, ViewError> {
    let Some(placed) = placed(outpoint, context)? else { return Ok(None) };
    let sheet = sheet(context.state, &StateKey::Sheet(*outpoint))?;
    Ok(Some(OutputHoldings::new(*outpoint, placed, &sheet)))
}

/// An output and its position in the chain. The genesis output is one of mainnet, on every network; the reference has no more of it
/// than its height.
pub(super) fn placed(outpoint: &OutPoint, context: &ViewContext<'_>) -> Result<Option<PlacedOutput>, ViewError> {
    if *outpoint != context.parameters.genesis_outpoint() {
        return context.chain.output(outpoint);
    }
    Ok(Some(PlacedOutput {
        output: TxOut { value: Amount::ZERO, script_pubkey: ScriptBuf::new() },
        height: Height::try_from(context.parameters.genesis_outpoint_height).unwrap_or(0),
        index: 0,
    }))
}

/// Alkanes of the unspent outputs of a script, oldest first. Outputs without alkanes are left out unless `empty_too`.
///
/// # Errors
/// [`ViewError`]; [`ViewError::TooLarge`] when there are more than [`super::ViewLimits::records_max`].
pub fn held_by_address(
    script: &Script,
    empty_too: bool,
    context: &ViewContext<'_>,
) -> Result<Vec<OutputHoldings>, ViewError> {
    let limit = context.limits.records_max.saturating_add(1);
    let outpoints = if empty_too { context.chain.unspent(script)? } else { context.state.funded(script, limit)? };
    let mut held = Vec::new();
    for outpoint in outpoints {
        context.check()?;
        let sheet = sheet(context.state, &StateKey::Sheet(outpoint))?;
        if sheet.is_empty() && !empty_too {
            continue;
        }
        if held.len() >= context.limits.records_max {
            return Err(ViewError::TooLarge);
        }
        if let Some(placed) = context.chain.output(&outpoint)? {
            held.push(OutputHoldings::new(outpoint, placed, &sheet));
        }
    }
    Ok(held)
}

/// A sheet of the state; empty when it was never set.
pub(super) fn sheet(state: &dyn ViewState, key: &StateKey) -> Result<Sheet, ViewError> {
    match state.get(key)? {
        None => Ok(Sheet::new()),
        Some(bytes) => Ok(SavedSheet::decode(&bytes)?.load()),
    }
}

pub(super) fn by_outpoint(payload: &[u8], context: &ViewContext<'_>) -> Result<OutpointResponse, ViewError> {
    let request: OutpointWithProtocol = proto::decode(payload)?;
    let outpoint = outpoint(&request.txid, request.vout)?;
    let Some(mut held) = held_by_output(&outpoint, context)? else { return Ok(OutpointResponse::default()) };
    if !is_alkanes(request.protocol) {
        held.clear();
    }
    let mut words = Words::new(context, WordsLimits::VIEWS);
    response(&held, &mut words)
}

/// No protocol tag means alkanes.
fn is_alkanes(tag: Option<alkanes::Uint128>) -> bool {
    tag.is_none_or(|tag| integer(Some(tag)) == ALKANES_PROTOCOL)
}

/// Reads the address of a request as text of the view's network.
pub(super) fn script_of(wallet: &[u8], context: &ViewContext<'_>) -> Result<ScriptBuf, ViewError> {
    let text = std::str::from_utf8(wallet).map_err(|_| ViewError::Meaningless("an address is text".to_owned()))?;
    let address = context.parameters.network.parse_address(text).map_err(ViewError::Meaningless)?;
    Ok(address.script_pubkey())
}

pub(super) fn by_address(
    payload: &[u8],
    context: &ViewContext<'_>,
    empty_too: bool,
) -> Result<WalletResponse, ViewError> {
    let request: ProtorunesWalletRequest = proto::decode(payload)?;
    let script = script_of(&request.wallet, context)?;
    let is_alkanes = is_alkanes(request.protocol_tag);
    if !is_alkanes && !empty_too {
        return Ok(WalletResponse::default());
    }
    let mut words = Words::new(context, WordsLimits::VIEWS);
    let mut outpoints = Vec::new();
    for mut held in held_by_address(&script, empty_too, context)? {
        if !is_alkanes {
            held.clear();
        }
        outpoints.push(response(&held, &mut words)?);
    }
    Ok(WalletResponse { outpoints, balances: None })
}

/// Tokens first seen in a block; without a name where the contract has none. Here no protocol tag means base runes, as the reference
/// has it, which sees none of them.
pub(super) fn by_height(payload: &[u8], context: &ViewContext<'_>) -> Result<RunesResponse, ViewError> {
    let request: ProtorunesByHeightRequest = proto::decode(payload)?;
    let height = Height::try_from(request.height).ok().filter(|height| *height <= context.height);
    let is_alkanes = integer(request.protocol_tag) == ALKANES_PROTOCOL;
    let Some(height) = height.filter(|_| is_alkanes) else { return Ok(RunesResponse::default()) };
    let ids = context.state.first_seen(height)?;
    if ids.len() > context.limits.records_max {
        return Err(ViewError::TooLarge);
    }
    let mut words = Words::new(context, WordsLimits::VIEWS);
    let mut runes = Vec::new();
    for id in ids {
        let mut rune = words.rune(id)?;
        rune.divisibility = 0;
        if rune.spacers != 0 {
            (rune.spacers, rune.name, rune.symbol) = (0, String::new(), String::new());
        }
        runes.push(rune);
    }
    Ok(RunesResponse { runes })
}

fn response(held: &OutputHoldings, words: &mut Words<'_, '_>) -> Result<OutpointResponse, ViewError> {
    let mut entries = Vec::new();
    for Transfer { id, value } in held.listed() {
        entries.push(BalanceSheetItem { rune: Some(words.rune(id)?), balance: Some(value.into()) });
    }
    Ok(answer(held, entries))
}

/// The answer for one output.
pub(super) fn answer(held: &OutputHoldings, entries: Vec<BalanceSheetItem>) -> OutpointResponse {
    let (height, txindex) = held.reported_position();
    OutpointResponse {
        balances: Some(BalanceSheet { entries }),
        outpoint: Some(outpoint_to_proto(&held.outpoint)),
        output: Some(output_to_proto(&held.placed.output)),
        height,
        txindex,
    }
}

/// Sums of the alkanes of outputs, in the order of the ids; at most 2^128 - 1 each.
pub fn totals<'a>(held: impl IntoIterator<Item = &'a OutputHoldings>) -> Vec<Transfer> {
    let mut totals: BTreeMap<_, u128> = BTreeMap::new();
    for transfer in held.into_iter().flat_map(|held| &held.alkanes) {
        let total = totals.entry(transfer.id).or_default();
        *total = total.saturating_add(transfer.value);
    }
    totals.into_iter().map(|(id, value)| Transfer { id, value }).collect()
}
