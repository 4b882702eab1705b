//! Alkanes of outputs, as JSON in every shape that clients of `alkanes_*` and `metashrew_view` read.
//!
//! Two families of clients read the same methods differently. A row therefore has the members of both; where they conflict, the
//! form of the request tells the families apart ([`Order`], and the tag of `alkanes_protorunesbyoutpoint`).

use bitcoin::hashes::Hash as _;
use bitcoin::{OutPoint, ScriptBuf, Txid};
use paraffin_alkanes::views::{self, OutputHoldings, ViewError, Words, WordsLimits};
use paraffin_primitives::{AlkaneId, Height};
use serde::Serialize;
use serde_json::{Value, json};

use paraffin_gateway::alkanes::{self, Moment, id_object};
use paraffin_gateway::api_types::{alkane_id, decimal};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::state::RequestContext;
use paraffin_gateway::surface::{RpcResult, to_raw};

/// The protocol tag of alkanes.
const ALKANES: u128 = 1;

/// Byte order of the txids of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Display order, as everywhere else.
    Display,
    /// Reversed, as some clients expect and reverse themselves.
    Internal,
}

impl Order {
    fn text(self, txid: &Txid) -> String {
        match self {
            Self::Display => txid.to_string(),
            Self::Internal => reversed(txid).to_string(),
        }
    }
}

fn reversed(txid: &Txid) -> Txid {
    let mut bytes = txid.to_byte_array();
    bytes.reverse();
    Txid::from_byte_array(bytes)
}

/// An alkane that an output holds, with the members of both families.
#[derive(Serialize)]
struct HeldRune {
    rune: Value,
    id: Value,
    /// Hexadecimal.
    balance: String,
    /// Decimal.
    amount: String,
}

/// An amount with all its digits, as numbers.
#[derive(Serialize)]
struct SheetEntry {
    block: u128,
    tx: u128,
    amount: u128,
}

fn held_runes(held: &OutputHoldings, words: &mut Words<'_, '_>) -> Result<Vec<HeldRune>, ViewError> {
    let mut runes = Vec::new();
    for transfer in held.listed() {
        let (name, symbol) = words.of(transfer.id)?;
        runes.push(HeldRune {
            rune: json!({
                "id": { "block": format!("{:#x}", transfer.id.block), "tx": format!("{:#x}", transfer.id.tx) },
                "name": name,
                "symbol": symbol,
                "spacers": 0,
                "divisibility": 8,
            }),
            id: json!({ "block": transfer.id.block, "tx": transfer.id.tx }),
            balance: format!("{:#x}", transfer.value),
            amount: transfer.value.to_string(),
        });
    }
    Ok(runes)
}

fn sheet(held: &OutputHoldings) -> Value {
    let entries = held.listed().into_iter().map(|transfer| SheetEntry {
        block: transfer.id.block,
        tx: transfer.id.tx,
        amount: transfer.value,
    });
    json!({ "cached": { "balances": entries.collect::<Vec<_>>() } })
}

/// One output in the superset shape.
fn row(held: &OutputHoldings, words: &mut Words<'_, '_>, order: Order) -> Result<Value, ViewError> {
    let (height, index) = held.reported_position();
    Ok(json!({
        "outpoint": { "txid": order.text(&held.outpoint.txid), "vout": held.outpoint.vout },
        "output": output(held),
        "value": held.placed.output.value.to_sat(),
        "height": height,
        "txindex": index,
        "block_height": held.placed.height,
        "runes": held_runes(held, words)?,
        "balance_sheet": sheet(held),
    }))
}

fn output(held: &OutputHoldings) -> Value {
    json!({
        "value": held.placed.output.value.to_sat(),
        "script": held.placed.output.script_pubkey.to_hex_string(),
    })
}

/// Whether a request is about alkanes; they are the default without a tag.
fn is_alkanes(input: &Value) -> Result<bool, ApiError> {
    match input.get("protocolTag").or_else(|| input.get("protocol_tag")).filter(|tag| !tag.is_null()) {
        None => Ok(true),
        Some(tag) => {
            let tag = decimal(tag).ok_or_else(|| ApiError::invalid("protocolTag must be an integer"))?;
            Ok(tag == ALKANES)
        }
    }
}

/// The script of the address in a request.
pub(crate) fn script(context: &RequestContext, text: &str) -> Result<ScriptBuf, ApiError> {
    Ok(context.network().parse_address(text).map_err(ApiError::invalid)?.script_pubkey())
}

fn address_of(input: &Value) -> Result<&str, ApiError> {
    input.get("address").and_then(Value::as_str).ok_or_else(|| ApiError::invalid("address must be a string"))
}

/// `{address, protocolTag}`: the outputs of an address; those without alkanes as well when `empty_too`.
pub(crate) async fn by_address(
    context: &RequestContext,
    input: &Value,
    height: Option<Height>,
    empty_too: bool,
    order: Order,
) -> Result<Value, ApiError> {
    let script = script(context, address_of(input)?)?;
    let is_alkanes = is_alkanes(input)?;
    let rows = alkanes::read(context, height, None, move |moment| {
        if !is_alkanes && !empty_too {
            return Ok(Vec::new());
        }
        let held = views::held_by_address(&script, empty_too, &moment.view)?;
        let mut words = Words::new(&moment.view, WordsLimits::VIEWS);
        held.iter().map(|held| row(held, &mut words, order)).collect::<Result<Vec<_>, _>>()
    });
    Ok(json!({ "outpoints": rows.await?, "balances": { "entries": [] } }))
}

/// Reads `{txid, vout}`; the txid in either order.
pub(crate) fn outpoint(input: &Value) -> Result<OutPoint, ApiError> {
    let txid = input.get("txid").and_then(Value::as_str).and_then(|text| text.parse().ok());
    let txid = txid.ok_or_else(|| ApiError::invalid("txid must be 64 hexadecimal digits"))?;
    let vout = input.get("vout").and_then(decimal).and_then(|vout| u32::try_from(vout).ok());
    let vout = vout.ok_or_else(|| ApiError::invalid("vout must be a non-negative integer of 32 bits"))?;
    Ok(OutPoint { txid, vout })
}

/// The outpoint with the bytes of the txid reversed.
pub(crate) fn with_reversed_txid(outpoint: &OutPoint) -> OutPoint {
    OutPoint { txid: reversed(&outpoint.txid), vout: outpoint.vout }
}

/// The holdings of an output, the txid read in whichever byte order names an output, `first` first.
fn held_in_either_order(
    outpoint: &OutPoint,
    first: Order,
    moment: &Moment<'_>,
) -> Result<Option<OutputHoldings>, ViewError> {
    let reversed = with_reversed_txid(outpoint);
    let (first, second) = match first {
        Order::Display => (*outpoint, reversed),
        Order::Internal => (reversed, *outpoint),
    };
    match views::held_by_output(&first, &moment.view)? {
        Some(held) => Ok(Some(held)),
        None => views::held_by_output(&second, &moment.view),
    }
}

/// `{txid, vout, protocolTag}` as an object: `balance_sheet` and all the other members of a row.
pub(crate) async fn by_outpoint(
    context: &RequestContext,
    input: &Value,
    height: Option<Height>,
) -> Result<Value, ApiError> {
    let (requested, is_alkanes) = (outpoint(input)?, is_alkanes(input)?);
    let found = alkanes::read(context, height, None, move |moment| {
        let Some(mut held) = held_in_either_order(&requested, Order::Display, moment)? else { return Ok(None) };
        if !is_alkanes {
            held.clear();
        }
        let mut words = Words::new(&moment.view, WordsLimits::VIEWS);
        let mut row = row(&held, &mut words, Order::Display)?;
        let chain = moment.view.chain;
        row["spent"] = json!(chain.output(&held.outpoint)?.is_some() && !chain.is_unspent(&held.outpoint)?);
        Ok(Some(row))
    });
    // An unknown output holds nothing.
    Ok(found.await?.unwrap_or_else(|| {
        json!({
            "outpoint": { "txid": requested.txid.to_string(), "vout": requested.vout },
            "output": { "value": 0, "script": "" },
            "value": 0,
            "height": 0,
            "txindex": 0,
            "block_height": null,
            "spent": false,
            "runes": [],
            "balance_sheet": { "cached": { "balances": [] } },
        })
    }))
}

/// Holdings of an output as an array, `[{token:{id,name,symbol}, value}]`, all hexadecimal.
pub(crate) async fn by_outpoint_as_array(
    context: &RequestContext,
    input: &Value,
    height: Option<Height>,
) -> Result<Value, ApiError> {
    let (requested, is_alkanes) = (outpoint(input)?, is_alkanes(input)?);
    let tokens = alkanes::read(context, height, None, move |moment| {
        let held = held_in_either_order(&requested, Order::Internal, moment)?;
        let mut words = Words::new(&moment.view, WordsLimits::VIEWS);
        let mut tokens = Vec::new();
        for transfer in held.iter().filter(|_| is_alkanes).flat_map(OutputHoldings::listed) {
            let AlkaneId { block, tx } = transfer.id;
            let (name, symbol) = words.of(transfer.id)?;
            let id = json!({ "block": format!("{block:#x}"), "tx": format!("{tx:#x}") });
            let value = format!("{:#x}", transfer.value);
            tokens.push(json!({ "token": { "id": id, "name": name, "symbol": symbol }, "value": value }));
        }
        Ok(tokens)
    });
    Ok(Value::Array(tokens.await?))
}

/// Byte order of txids of `alkanes_protorunesbyaddress`: clients that reverse them send `protocolTag` as text and no tag.
pub(crate) fn order_for(has_tag: bool, input: &Value) -> Order {
    let is_text = input.get("protocolTag").is_some_and(Value::is_string);
    if is_text && !has_tag { Order::Internal } else { Order::Display }
}

/// `{block, tx}`: a token, or a base rune.
pub(crate) async fn rune_by_id(context: &RequestContext, input: &Value, height: Option<Height>) -> RpcResult {
    let id = alkane_id(input).map_err(|_| ApiError::invalid("block and tx must be integers"))?;
    let found = alkanes::read(context, height, None, move |moment| {
        if let Some(terms) = views::rune(id, &moment.view)? {
            return Ok(json!({
                "id": id_object(id),
                "name": terms.name,
                "symbol": terms.symbol,
                "divisibility": terms.divisibility,
                "spacers": terms.spacers,
            }));
        }
        let mut words = Words::new(&moment.view, WordsLimits::VIEWS);
        let (name, symbol) = words.of(id)?;
        Ok(json!({ "id": id_object(id), "name": name, "symbol": symbol, "divisibility": 8, "spacers": 0 }))
    });
    to_raw(&found.await?)
}

/// Unspent outputs for coin selection: `{outpoints:[{outpoint:{txid, vout}, value, height}]}`.
pub(crate) async fn spendables(
    context: &RequestContext,
    address: &str,
    height: Option<Height>,
) -> Result<Value, ApiError> {
    let script = script(context, address)?;
    let rows = alkanes::read(context, height, None, move |moment| {
        let held = views::held_by_address(&script, true, &moment.view)?;
        let rows = held.iter().map(|held| {
            json!({
                "outpoint": { "txid": held.outpoint.txid.to_string(), "vout": held.outpoint.vout },
                "output": output(held),
                "value": held.placed.output.value.to_sat(),
                "height": held.placed.height,
                "balance_sheet": sheet(held),
            })
        });
        Ok(rows.collect::<Vec<Value>>())
    });
    Ok(json!({ "outpoints": rows.await? }))
}
