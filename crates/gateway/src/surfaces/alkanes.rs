//! `alkanes_*`: the views of the contract index with JSON parameters and answers (docs/api.md).
//!
//! The second parameter of each is an optional block tag. A view that has no JSON form here takes and gives hexadecimal
//! digits, as `metashrew_view` does.

use bitcoin::consensus::encode::deserialize;
use bitcoin::{Block, OutPoint, Transaction};
use paraffin_alkanes::views::{self, Parcel, Simulated, ViewContext, ViewError};
use paraffin_alkanes::{CallResponse, Transfer};
use paraffin_primitives::{AlkaneId, Height};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::main_rpc::MethodFamily;
use super::metashrew::{hex_bytes, tag};
use super::{RpcResult, outputs, to_raw};
use crate::alkanes::{self, alkane_id, decimal, hex, id_object, response, trace_events, transfers};
use crate::errors::RpcError;
use crate::jsonrpc::Params;
use crate::state::{BoxFuture, RequestContext};

/// Methods with JSON parameters and answers; every other view has hexadecimal ones.
const METHODS: [&str; 17] = [
    "simulate",
    "meta",
    "getbytecode",
    "getdeployment",
    "alkanesidtooutpoint",
    "alkanes_id_to_outpoint",
    "trace",
    "traceblock",
    "protorunesbyoutpoint",
    "protorunes_by_outpoint",
    "protorunesbyaddress",
    "protorunesbyheight",
    "spendablesbyaddress",
    "getstorageat",
    "getinventory",
    "sequence",
    "unwrap",
];

pub(super) struct AlkanesFamily;

impl MethodFamily for AlkanesFamily {
    fn name(&self) -> &'static str {
        "alkanes"
    }

    fn methods(&self) -> Vec<&'static str> {
        METHODS.into_iter().chain(views::NAMES.into_iter().filter(|view| !METHODS.contains(view))).collect()
    }

    fn call<'a>(&'a self, context: &'a RequestContext, method: &'a str, params: Params) -> BoxFuture<'a, RpcResult> {
        Box::pin(async move {
            alkanes::of(context)?;
            if !METHODS.contains(&method) && !views::is_known(method) {
                return Err(RpcError::method_not_found());
            }
            match method {
                "simulate" => simulate(context, &params).await,
                "meta" => meta(context, &params).await,
                "getbytecode" => bytecode(context, &params).await,
                "getdeployment" | "alkanesidtooutpoint" | "alkanes_id_to_outpoint" => {
                    deployment(context, &params).await
                }
                "trace" => trace(context, &params).await,
                "traceblock" => trace_block(context, &params).await,
                "protorunesbyoutpoint" | "protorunes_by_outpoint" => by_outpoint(context, &params).await,
                "protorunesbyaddress" => by_address(context, &params).await,
                "protorunesbyheight" => by_height(context, &params).await,
                "spendablesbyaddress" => spendables(context, &params).await,
                "getstorageat" => storage_at(context, &params).await,
                "getinventory" => inventory(context, &params).await,
                "sequence" => sequence(context, &params).await,
                "unwrap" => unwrap(context, &params).await,
                method if views::is_known(method) => raw_view(context, method, &params).await,
                _ => Err(RpcError::method_not_found()),
            }
        })
    }
}

/// The first parameter, an object.
fn object(params: &Params) -> Result<Map<String, Value>, RpcError> {
    let wrong = || RpcError::invalid_params("the first parameter must be an object");
    let raw = params.get(0).ok_or_else(wrong)?;
    serde_json::from_str(raw.get()).map_err(|_| wrong())
}

/// The first parameter, an id in any writing; also as `target` or `alkaneId` of an object.
fn id_param(params: &Params) -> Result<AlkaneId, RpcError> {
    let wrong = || RpcError::invalid_params("the first parameter must be an alkane id: {block, tx}, or block:tx");
    let raw = params.get(0).ok_or_else(wrong)?;
    let value: Value = serde_json::from_str(raw.get()).map_err(|_| wrong())?;
    let inner = ["target", "alkaneId", "id"].iter().find_map(|name| value.get(name)).unwrap_or(&value);
    alkane_id(inner).map_err(|_| wrong())
}

/// An optional member; `null` is absent.
fn member<'m>(members: &'m Map<String, Value>, names: &[&str]) -> Option<&'m Value> {
    names.iter().find_map(|name| members.get(*name)).filter(|value| !value.is_null())
}

fn small(members: &Map<String, Value>, names: &[&str]) -> Result<u32, RpcError> {
    let Some(value) = member(members, names) else { return Ok(0) };
    let number = decimal(value).and_then(|number| u32::try_from(number).ok());
    number.ok_or_else(|| RpcError::invalid_params(format!("{} must be a non-negative integer of 32 bits", names[0])))
}

fn bytes_of(members: &Map<String, Value>, name: &str) -> Result<Vec<u8>, RpcError> {
    match member(members, &[name]) {
        None => Ok(Vec::new()),
        Some(Value::String(text)) => hex_bytes(text, name),
        // Some clients send the bytes as numbers.
        Some(Value::Array(bytes)) => {
            let byte = |value: &Value| value.as_u64().and_then(|byte| u8::try_from(byte).ok());
            let wrong = || RpcError::invalid_params(format!("{name} must be hexadecimal digits"));
            bytes.iter().map(|value| byte(value).ok_or_else(wrong)).collect()
        }
        Some(_) => Err(RpcError::invalid_params(format!("{name} must be hexadecimal digits"))),
    }
}

/// What `alkanes_simulate` and `alkanes_meta` are asked, but for the height.
struct Asked {
    target: AlkaneId,
    inputs: Vec<u128>,
    incoming: Vec<Transfer>,
    transaction: Option<Transaction>,
    block: Option<Block>,
    height: Option<u64>,
    vout: u32,
}

impl Asked {
    fn read(members: &Map<String, Value>) -> Result<Self, RpcError> {
        let wrong = |name: &str, what: &str| RpcError::invalid_params(format!("{name} must be {what}"));
        let target = member(members, &["target", "alkaneId"]);
        let target = target.ok_or_else(|| RpcError::invalid_params("target is required"))?;
        let target = alkane_id(target).map_err(|_| wrong("target", "an alkane id: {block, tx}, or block:tx"))?;
        let inputs = match member(members, &["inputs"]) {
            None => Vec::new(),
            Some(Value::Array(inputs)) => inputs
                .iter()
                .map(|input| decimal(input).ok_or_else(|| wrong("inputs", "integers of at most 128 bits")))
                .collect::<Result<_, _>>()?,
            Some(_) => return Err(wrong("inputs", "an array")),
        };
        let incoming = match member(members, &["alkanes"]) {
            None => Vec::new(),
            Some(Value::Array(incoming)) => incoming
                .iter()
                .map(|transfer| transfer_of(transfer).ok_or_else(|| wrong("alkanes", "[{id, value}]")))
                .collect::<Result<_, _>>()?,
            Some(_) => return Err(wrong("alkanes", "an array")),
        };
        let transaction = bytes_of(members, "transaction")?;
        let block = bytes_of(members, "block")?;
        Ok(Self {
            target,
            inputs,
            incoming,
            transaction: decoded(&transaction, "transaction")?,
            block: decoded(&block, "block")?,
            height: member(members, &["height"]).and_then(decimal).and_then(|height| u64::try_from(height).ok()),
            vout: small(members, &["vout"])?,
        })
    }

    /// The call as of a view. Clients send a constant or nothing usable for the height: one that is before the first block
    /// of contracts, or more than one block ahead, stands for the view's own.
    fn parcel(self, view: &ViewContext<'_>) -> Parcel {
        let newest = u64::from(view.height);
        let is_meant = |height: &u64| (view.parameters.genesis_height..=newest + 1).contains(height);
        let mut parcel = Parcel::calling(self.target, &self.inputs, self.height.filter(is_meant).unwrap_or(newest));
        parcel.incoming = self.incoming;
        parcel.vout = self.vout;
        if let Some(transaction) = self.transaction {
            parcel.transaction = transaction;
        }
        if let Some(block) = self.block {
            parcel.block = block;
        }
        parcel
    }
}

fn transfer_of(value: &Value) -> Option<Transfer> {
    let id = value.get("id").and_then(|id| alkane_id(id).ok()).or_else(|| alkane_id(value).ok())?;
    Some(Transfer { id, value: decimal(value.get("value").or_else(|| value.get("amount"))?)? })
}

fn decoded<T: bitcoin::consensus::Decodable>(bytes: &[u8], name: &str) -> Result<Option<T>, RpcError> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let wrong = |_| RpcError::invalid_params(format!("{name} must be a consensus encoding"));
    deserialize(bytes).map(Some).map_err(wrong)
}

/// `{target, inputs, alkanes?, …}`: how a call would end. A failure is `status` 1 with its text.
async fn simulate(context: &RequestContext, params: &Params) -> RpcResult {
    params.at_most(2)?;
    let asked = Asked::read(&object(params)?)?;
    let answer = alkanes::try_out(context, tag(context, params, 1)?, move |moment| {
        let parcel = asked.parcel(&moment.view);
        let (simulated, trace) = views::simulate_traced(&parcel, u64::MAX, &moment.view)?;
        let simulated = match simulated {
            Simulated::Done { response, fuel_used } => outcome(0, fuel_used, &response, None),
            Simulated::Failed(text) => outcome(1, 0, &CallResponse::default(), Some(&text)),
        };
        Ok(trace_events(&trace).and_then(|trace| to_raw(&Traced { simulated, trace })))
    });
    answer.await?
}

/// How a call would end, with its trace.
#[derive(Serialize)]
struct Traced {
    #[serde(flatten)]
    simulated: Value,
    trace: Box<RawValue>,
}

fn outcome(status: u8, fuel_used: u64, answered: &CallResponse, error: Option<&str>) -> Value {
    let mut execution = response(answered);
    execution["error"] = json!(error);
    json!({ "status": status, "gasUsed": fuel_used, "execution": execution })
}

/// What a contract says of its operations: its own JSON.
async fn meta(context: &RequestContext, params: &Params) -> RpcResult {
    params.at_most(2)?;
    let target = id_param(params)?;
    let answer = alkanes::try_out(context, tag(context, params, 1)?, move |moment| {
        views::meta(&Parcel::calling(target, &[], u64::from(moment.view.height)), &moment.view)
    });
    let description = answer.await?;
    if description.is_empty() {
        return Err(RpcError::not_found("the contract does not exist or does not describe itself"));
    }
    match serde_json::from_slice::<Value>(&description) {
        Ok(json) => to_raw(&json),
        Err(_) => to_raw(&hex(&description)),
    }
}

async fn bytecode(context: &RequestContext, params: &Params) -> RpcResult {
    params.at_most(2)?;
    let id = id_param(params)?;
    let code = alkanes::read(context, tag(context, params, 1)?, None, move |moment| views::bytecode(id, &moment.view));
    to_raw(&hex(&code.await?))
}

async fn deployment(context: &RequestContext, params: &Params) -> RpcResult {
    params.at_most(2)?;
    let id = id_param(params)?;
    let created =
        alkanes::read(context, tag(context, params, 1)?, None, move |moment| views::created_at(id, &moment.view));
    to_raw(&match created.await? {
        Some(OutPoint { txid, vout }) => json!({ "outpoint": { "txid": txid.to_string(), "vout": vout } }),
        None => json!({ "outpoint": {} }),
    })
}

/// `{txid, vout}`: the events of a message. Clients of this method send the txid reversed; either order is understood.
async fn trace(context: &RequestContext, params: &Params) -> RpcResult {
    params.at_most(2)?;
    let asked = outputs::outpoint(&Value::Object(object(params)?))?;
    let trace = alkanes::read(context, tag(context, params, 1)?, None, move |moment| {
        let turned = outputs::turned(&asked);
        let trace = match moment.view.state.trace(&turned)? {
            None => moment.view.state.trace(&asked)?,
            trace => trace,
        };
        Ok(trace_events(&trace.unwrap_or_default()))
    });
    trace.await?
}

/// A height, alone or as `{block}` or `{height}`: the traces of a block.
async fn trace_block(context: &RequestContext, params: &Params) -> RpcResult {
    params.at_most(2)?;
    let height = height_param(context, params)?;
    let traces = alkanes::read(context, height, None, move |moment| {
        let limits = moment.view.limits;
        // In the answer every byte is two digits.
        let bytes_max = limits.answer_bytes_max as u64 / 2;
        let traced = moment.view.state.traces_of_block(moment.view.height, bytes_max)?.ok_or(ViewError::TooLarge)?;
        if traced.len() > limits.records_max {
            return Err(ViewError::TooLarge);
        }
        let (mut messages, mut bytes) = (Vec::with_capacity(traced.len()), 0);
        for traced in traced {
            let trace = match trace_events(&traced.trace) {
                Ok(trace) => trace,
                Err(error) => return Ok(Err(error)),
            };
            bytes += trace.get().len();
            if bytes > limits.answer_bytes_max {
                return Err(ViewError::TooLarge);
            }
            let outpoint = json!({ "txid": traced.outpoint.txid.to_string(), "vout": traced.outpoint.vout });
            messages.push(TracedMessage { outpoint, txindex: traced.transaction_index, trace });
        }
        Ok(to_raw(&messages))
    });
    traces.await?
}

/// A message of a block, with its trace.
#[derive(Serialize)]
struct TracedMessage {
    outpoint: Value,
    txindex: u32,
    trace: Box<RawValue>,
}

fn height_param(context: &RequestContext, params: &Params) -> Result<Option<Height>, RpcError> {
    if !params.get(0).is_some_and(|raw| raw.get().starts_with('{')) {
        return tag(context, params, 0);
    }
    let members = object(params)?;
    match member(&members, &["height", "block"]) {
        None => tag(context, params, 1),
        Some(height) => {
            let height = decimal(height).ok_or_else(|| RpcError::invalid_params("height must be an integer"))?;
            Ok(Some(Height::try_from(height).unwrap_or(Height::MAX)))
        }
    }
}

/// `{txid, vout, protocolTag?}`, or the same one after the other: what an output holds, in one of two shapes
/// (docs/api.md).
async fn by_outpoint(context: &RequestContext, params: &Params) -> RpcResult {
    if params.get(0).is_some_and(|raw| raw.get().starts_with('{')) {
        params.at_most(2)?;
        let input = Value::Object(object(params)?);
        let height = tag(context, params, 1)?;
        return if outputs::asks_as_array(params) {
            to_raw(&outputs::by_outpoint_as_array(context, &input, height).await?)
        } else {
            to_raw(&outputs::by_outpoint(context, &input, height).await?)
        };
    }
    params.at_most(4)?;
    let mut input = json!({ "txid": params.text(0, "txid")?, "vout": params.unsigned(1, "vout")? });
    if let Some(protocol) = params.optional_text(3, "protocolTag")? {
        input["protocolTag"] = json!(protocol);
    }
    to_raw(&outputs::by_outpoint(context, &input, tag(context, params, 2)?).await?)
}

/// `{address, protocolTag?}`, or an address: what its unspent outputs hold.
async fn by_address(context: &RequestContext, params: &Params) -> RpcResult {
    let (input, order) = if params.get(0).is_some_and(|raw| raw.get().starts_with('{')) {
        params.at_most(2)?;
        let input = Value::Object(object(params)?);
        let order = outputs::order_for(params, &input);
        (input, order)
    } else {
        params.at_most(3)?;
        let mut input = json!({ "address": params.text(0, "address")? });
        if let Some(protocol) = params.optional_text(2, "protocolTag")? {
            input["protocolTag"] = json!(protocol);
        }
        (input, outputs::Order::Display)
    };
    to_raw(&outputs::by_address(context, &input, tag(context, params, 1)?, false, order).await?)
}

/// `{height, protocolTag?}`: alkanes that outputs held for the first time in a block.
async fn by_height(context: &RequestContext, params: &Params) -> RpcResult {
    params.at_most(2)?;
    let height = height_param(context, params)?;
    let runes = alkanes::read(context, tag(context, params, 1)?, None, move |moment| {
        let height = height.unwrap_or(moment.view.height);
        if height > moment.view.height {
            return Ok(Vec::new());
        }
        let mut words = views::Words::new(&moment.view, views::WordsLimits::VIEWS);
        let ids = moment.view.state.first_seen(height)?;
        ids.into_iter()
            .map(|id| {
                let (name, symbol) = words.of(id)?;
                Ok(json!({ "runeId": id_object(id), "id": id_object(id), "name": name, "symbol": symbol }))
            })
            .collect::<Result<Vec<_>, ViewError>>()
    });
    to_raw(&json!({ "runes": runes.await? }))
}

/// `{address}` or an address: all its unspent outputs, for coin selection.
pub(super) async fn spendables(context: &RequestContext, params: &Params) -> RpcResult {
    params.at_most(2)?;
    let address = if params.get(0).is_some_and(|raw| raw.get().starts_with('{')) {
        let members = object(params)?;
        let address = member(&members, &["address"]).and_then(Value::as_str).map(ToOwned::to_owned);
        address.ok_or_else(|| RpcError::invalid_params("address must be a string"))?
    } else {
        params.text(0, "address")?
    };
    outputs::spendables(context, &address, tag(context, params, 1)?).await
}

/// `{id, path}`: one value of a contract's storage in hexadecimal. A path that begins with `0x` is bytes, any other text.
async fn storage_at(context: &RequestContext, params: &Params) -> RpcResult {
    params.at_most(2)?;
    let id = id_param(params)?;
    let members = object(params)?;
    let path = member(&members, &["path", "key"]).and_then(Value::as_str);
    let path = path.ok_or_else(|| RpcError::invalid_params("path must be a string"))?;
    let key = if path.starts_with("0x") { hex_bytes(path, "path")? } else { path.as_bytes().to_vec() };
    let value =
        alkanes::read(context, tag(context, params, 1)?, None, move |moment| views::storage_at(id, &key, &moment.view));
    to_raw(&hex(&value.await?))
}

/// What a contract holds.
async fn inventory(context: &RequestContext, params: &Params) -> RpcResult {
    params.at_most(2)?;
    let id = id_param(params)?;
    let held = alkanes::read(context, tag(context, params, 1)?, None, move |moment| views::inventory(id, &moment.view));
    to_raw(&json!({ "alkanes": transfers(&held.await?) }))
}

/// The number of the next contract 2:n, as decimal text.
async fn sequence(context: &RequestContext, params: &Params) -> RpcResult {
    params.at_most(1)?;
    let next = alkanes::read(context, tag(context, params, 0)?, None, |moment| views::sequence(&moment.view));
    to_raw(&next.await?.to_string())
}

/// Payments of the wrapped-bitcoin contract that are still to be made.
async fn unwrap(context: &RequestContext, params: &Params) -> RpcResult {
    params.at_most(1)?;
    let pending = alkanes::read(context, tag(context, params, 0)?, None, |moment| views::pending_unwraps(&moment.view));
    let payments = pending.await?.into_iter().map(|payment| {
        json!({
            "spendable": { "txid": payment.spendable.txid.to_string(), "vout": payment.spendable.vout },
            "output": {
                "value": payment.output.value.to_sat(),
                "script": payment.output.script_pubkey.to_hex_string(),
            },
            "fulfilled": false,
        })
    });
    to_raw(&json!({ "payments": payments.collect::<Vec<Value>>() }))
}

/// Any other view, in hexadecimal digits.
async fn raw_view(context: &RequestContext, name: &str, params: &Params) -> RpcResult {
    params.at_most(2)?;
    let payload = match params.optional_text(0, "the input of the view") {
        Ok(Some(text)) => hex_bytes(&text, "the input of the view")?,
        Ok(None) => Vec::new(),
        Err(_) => {
            return Err(RpcError::invalid_params("this method takes a protobuf message in hexadecimal digits"));
        }
    };
    to_raw(&hex(&alkanes::call(context, name.to_owned(), payload, tag(context, params, 1)?).await?))
}
