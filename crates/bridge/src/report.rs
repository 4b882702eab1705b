//! Reports of parsed and encoded payloads, as text and as JSON: `paraffin bridge` prints one or the other.
//!
//! Amounts are decimal strings in base units, bytes are hexadecimal digits with `0x`, and every refusal and warning is its
//! text.

use alloy_primitives::hex;
use bitcoin::{Address, Network, Script};
use serde_json::{Map, Value, json};

use crate::bridge_data::{Decoded, Dispatch, Refusal};
use crate::burn_cellpack::{BurnCellpack, BurnError};
use crate::burn_data::{BurnData, BurnEffect};
use crate::calldata::{Calldata, CalldataNote};
use crate::conversion_cap::{CapError, ConversionCap};
use crate::deployment::{Asset, EvmDeployment};
use crate::deposit::EvmCall;
use crate::router_swap::RouterSwap;
use crate::script::{Role, ScriptKind, check_script};

/// One answer in both forms.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// False when the payload must not be signed or sent.
    pub accepted: bool,
    /// For programs: an object.
    pub json: Value,
    /// As text: `name: value` lines, refusals and warnings last.
    pub lines: Vec<String>,
}

/// Collects named values into both forms.
#[derive(Default)]
struct Rows {
    members: Map<String, Value>,
    lines: Vec<String>,
}

impl Rows {
    fn text(&mut self, name: &str, value: &impl ToString) {
        self.row(name, Value::String(value.to_string()));
    }

    fn row(&mut self, name: &str, value: Value) {
        let shown = match &value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        self.lines.push(format!("{}: {shown}", name.replace('_', " ")));
        self.members.insert(name.to_owned(), value);
    }

    /// Texts under one name, each on its own line.
    fn texts(&mut self, name: &str, word: &str, texts: &[String]) {
        self.lines.extend(texts.iter().map(|text| format!("{word}: {text}")));
        self.members.insert(name.to_owned(), json!(texts));
    }

    fn finish(mut self, accepted: bool) -> Report {
        self.members.insert("accepted".to_owned(), Value::Bool(accepted));
        Report { accepted, json: Value::Object(self.members), lines: self.lines }
    }
}

fn texts<T: ToString>(values: &[T]) -> Vec<String> {
    values.iter().map(ToString::to_string).collect()
}

fn bytes(value: &[u8]) -> String {
    hex::encode_prefixed(value)
}

/// The script with its form and its mainnet address, as far as it has them.
fn script_row(rows: &mut Rows, name: &str, script: &[u8], role: Role) {
    rows.text(name, &bytes(script));
    if let Ok(kind) = check_script(script, role) {
        rows.text(&format!("{name}_kind"), &kind.name());
    }
    if let Ok(address) = Address::from_script(Script::from_bytes(script), Network::Bitcoin) {
        rows.text(&format!("{name}_address"), &address);
    }
}

/// A bridgeData payload as [`crate::BridgeData::decode`] read it. Accepted when it may be signed.
#[must_use]
pub fn bridge_data(decoded: &Decoded) -> Report {
    let data = &decoded.data;
    let mut rows = Rows::default();
    let dispatch = match data.dispatch() {
        Dispatch::OperatorFallback => "operator_fallback",
        Dispatch::DirectTransfer => "direct_transfer",
        Dispatch::Protostone => "protostone",
        Dispatch::Conversion { .. } => "conversion",
    };
    rows.text("dispatch", &dispatch);
    rows.row("action", json!(data.action));
    script_row(&mut rows, "recipient_script", &data.recipient_script, Role::Recipient);
    if let Some(protostone) = &data.recipient_protostone {
        rows.text("recipient_protostone", &bytes(protostone));
    }
    if let Some(conversion) = &data.btc_conversion {
        rows.row("convert_bps", json!(conversion.convert_bps));
        script_row(&mut rows, "btc_destination", &conversion.btc_destination, Role::Destination);
        rows.row("max_slippage_bps", json!(conversion.max_slippage_bps));
    }
    rows.texts("refusals", "refused", &texts(&decoded.refusals));
    rows.texts("warnings", "warning", &texts(&decoded.warnings));
    rows.finish(decoded.refusals.is_empty())
}

/// Bytes that are no bridgeData at all, or a payload that was not encoded.
#[must_use]
pub fn refusal(refusal: &Refusal) -> Report {
    let mut rows = Rows::default();
    rows.texts("refusals", "refused", &[refusal.to_string()]);
    rows.finish(false)
}

/// Bytes that were made, under a name such as `bridge_data`.
#[must_use]
pub fn encoded(name: &str, value: &[u8]) -> Report {
    let mut rows = Rows::default();
    rows.text(name, &bytes(value));
    rows.finish(true)
}

/// burnData and what it does. Reading it accepts everything; a degradation and a swap without a floor are warnings.
#[must_use]
pub fn burn_data(data: &BurnData, deployment: &EvmDeployment) -> Report {
    let mut rows = Rows::default();
    match data {
        BurnData::Transfer => rows.text("kind", &"transfer"),
        BurnData::Call { target, calldata } => {
            rows.text("kind", &"call");
            rows.text("target", &target);
            rows.text("calldata", &bytes(calldata));
        }
        BurnData::Other(other) => {
            rows.text("kind", &"other");
            rows.text("bytes", &bytes(other));
        }
    }
    let mut warnings = Vec::new();
    match data.effect(deployment) {
        BurnEffect::Payout => rows.text("effect", &"payout"),
        BurnEffect::Swap(swap) => {
            rows.text("effect", &"swap");
            swap_rows(&mut rows, &swap);
            if swap.is_unbounded() {
                warnings.push("amountOutMin is 0: any loss is accepted on the swap".to_owned());
            }
        }
        BurnEffect::DegradedToPayout(degradation) => {
            rows.text("effect", &"degraded_to_payout");
            warnings.push(format!("this degrades to a plain payout: {degradation}"));
        }
    }
    rows.texts("warnings", "warning", &warnings);
    rows.finish(true)
}

fn swap_rows(rows: &mut Rows, swap: &RouterSwap) {
    rows.text("amount_in", &swap.amount_in);
    rows.text("amount_out_min", &swap.amount_out_min);
    rows.text("asset", &swap.asset.name());
    rows.text("to", &swap.to);
    rows.text("deadline", &swap.deadline);
}

/// Calldata as [`Calldata::decode`] read it. Not accepted when it would lose the deposit.
#[must_use]
pub fn calldata(call: &Calldata, deployment: &EvmDeployment) -> Report {
    let mut rows = Rows::default();
    rows.text("function", &call.function());
    match call {
        Calldata::Approve { spender, amount } => {
            rows.text("spender", &spender);
            rows.text("amount", &amount);
        }
        Calldata::DepositAndBridge { asset_id, amount, bridge_data } => {
            rows.row("asset_id", json!(asset_id));
            if let Ok(asset) = Asset::from_index((*asset_id).into()) {
                rows.text("asset", &asset.name());
            }
            rows.text("amount", &amount);
            rows.text("bridge_data", &bytes(bridge_data));
        }
        Calldata::SwapExactTokensForEth { amount_in, amount_out_min, path, to, deadline } => {
            rows.text("amount_in", &amount_in);
            rows.text("amount_out_min", &amount_out_min);
            rows.row("path", json!(texts(path)));
            rows.text("to", &to);
            rows.text("deadline", &deadline);
        }
    }
    let (refusals, warnings): (Vec<_>, Vec<_>) = call.notes(deployment).into_iter().partition(CalldataNote::is_refusal);
    rows.texts("refusals", "refused", &texts(&refusals));
    rows.texts("warnings", "warning", &texts(&warnings));
    rows.finish(refusals.is_empty())
}

/// A script in a role.
#[must_use]
pub fn script(value: &[u8], role: Role) -> Report {
    let mut rows = Rows::default();
    rows.text(
        "role",
        &match role {
            Role::Recipient => "recipient",
            Role::Destination => "destination",
        },
    );
    script_row(&mut rows, "script", value, role);
    let judged = check_script(value, role);
    let mut warnings = Vec::new();
    if judged.is_ok_and(ScriptKind::anyone_can_spend) {
        warnings.push("no rule protects this witness program today: anyone can spend what is paid to it".to_owned());
    }
    rows.texts("refusals", "refused", &texts(judged.err().as_slice()));
    rows.texts("warnings", "warning", &warnings);
    rows.finish(judged.is_ok())
}

/// A conversion beside the cap.
#[must_use]
pub fn cap(cap: &ConversionCap, convert_bps: u32) -> Report {
    let mut rows = Rows::default();
    rows.text("reserve", &cap.reserve);
    rows.text("amount", &cap.amount);
    rows.row("convert_bps", json!(convert_bps));
    if let Ok(mint) = cap.mint() {
        rows.text("mint", &mint);
    }
    if let Ok(largest) = cap.largest_bps() {
        rows.row("largest_bps", json!(largest));
    }
    if let Ok(depth) = cap.depth_bps(convert_bps) {
        rows.text("depth_bps", &depth);
    }
    let refusal: Option<CapError> = cap.check(convert_bps).err();
    rows.texts("refusals", "refused", &texts(refusal.as_slice()));
    rows.finish(refusal.is_none())
}

/// The two calls of a deposit, in the order in which they are sent.
#[must_use]
pub fn deposit_calls(calls: &[EvmCall; 2]) -> Report {
    let mut lines = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        lines.push(format!("call {}: {} on {}", index + 1, call.function, call.to));
        lines.push(format!("calldata: {}", bytes(&call.data)));
    }
    let members: Vec<Value> = calls
        .iter()
        .map(|call| json!({"function": call.function, "to": call.to.to_string(), "data": bytes(&call.data), "value": "0"}))
        .collect();
    Report { accepted: true, json: json!({"calls": members, "accepted": true}), lines }
}

/// A burn with its cellpack; what its burnData does beside a payout is in the warnings.
///
/// # Errors
/// As [`BurnCellpack::inputs`].
pub fn burn(burn: &BurnCellpack, deployment: &EvmDeployment) -> Result<Report, BurnError> {
    let cellpack = burn.cellpack()?;
    let mut rows = Rows::default();
    rows.text("evm_address", &burn.evm_address);
    rows.text("asset", &burn.asset.name());
    rows.text("burn_data", &bytes(&burn.burn_data));
    rows.row("cellpack", json!(texts(&cellpack)));
    let notes = burn.notes(deployment);
    rows.texts("warnings", "warning", &texts(&notes));
    Ok(rows.finish(true))
}
