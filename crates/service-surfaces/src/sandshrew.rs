//! `sandshrew_*`: many calls in one, and the outputs of an address sorted by what they hold (docs/api.md). Scripts have
//! the same methods under this name as under `lua_*`.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use bitcoin::OutPoint;
use paraffin_alkanes::views;
use paraffin_primitives::Height;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::lua::LUA;
use paraffin_bitcoin_surfaces::esplora::{AddressRoute, unspent};
use paraffin_gateway::alkanes::{self, IdDigits};
use paraffin_gateway::api_types::decimal;
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::jsonrpc::Params;
use paraffin_gateway::methods::{Declared, Form, Method, NaturalText, Object, RawParam, Surface, Verbatim, Written};
use paraffin_gateway::state::{BoxFuture, RequestContext};
use paraffin_gateway::surface::RpcResult;

/// Many calls in one, and balances.
pub static SANDSHREW: Surface<()> =
    Surface::new("sandshrew", &[Declared::of::<Multicall>(), Declared::of::<BalancesOf>()]).having(&[&LUA]);

/// Calls of one `sandshrew_multicall`, including nested ones; the budget of the whole request applies as well.
const CALLS_MAX: usize = 1024;
/// Maximum nesting depth of multicalls.
const DEPTH_MAX: usize = 2;
pub(crate) const MULTICALL: &str = "sandshrew_multicall";
/// JSON around each answer.
const MEMBER_BYTES: usize = r#"{"result":},"#.len();
/// Longest answer that is validated on an async thread, bytes.
const CHECKED_AT_ONCE_BYTES_MAX: usize = 1 << 20;

/// Remaining budget of one multicall, shared with nested ones.
struct Allowance {
    calls_left: AtomicUsize,
    /// Whether a method may be called at all.
    may: fn(&str) -> bool,
}

impl Allowance {
    fn new(may: fn(&str) -> bool) -> Self {
        Self { calls_left: AtomicUsize::new(CALLS_MAX), may }
    }
}

/// A multicall of a script, within the script's own budget of calls.
pub(crate) async fn multicall_of_script(context: &RequestContext, params: Params) -> RpcResult {
    multicall(context, params.raw(), 1, &Allowance::new(paraffin_lua::is_callable)).await
}

/// Many calls in one: an answer for each, in order.
///
/// Each parameter is a method and its params.
#[derive(Deserialize, JsonSchema)]
struct Multicall {
    /// A method and its params; any number of them follow each other.
    #[serde(rename = "call")]
    #[schemars(with = "Vec<MultiCall>")]
    calls: Vec<RawParam>,
}

/// A method and its params; any number of them follow each other.
#[derive(JsonSchema)]
#[schemars(extend("minItems" = 1, "maxItems" = 2))]
struct MultiCall(#[expect(dead_code, reason = "only the schema")] Vec<Value>);

/// The answer of one of the calls.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only the schema")]
enum MultiAnswer {
    Answered { result: Value },
    Failed { error: Object },
}

impl Method for Multicall {
    const NAME: &'static str = "multicall";
    const FORM: Form = Form::Variadic;
    const EXAMPLE: &'static str = r#"[["btc_getblockcount"],["btc_getblockhash",[140]]]"#;
    type Surface = ();
    type Answer = Written<Vec<MultiAnswer>>;

    async fn call(self, context: &RequestContext, (): &()) -> Result<Self::Answer, ApiError> {
        let calls: Vec<Box<RawValue>> = self.calls.into_iter().map(|call| call.0).collect();
        multicall(context, &calls, 1, &Allowance::new(|_| true)).await.map(Written::raw)
    }
}

/// `[[method, params], …]`: an answer for each, in order, `{"result": …}` or `{"error": …}`.
fn multicall<'a>(
    context: &'a RequestContext,
    calls: &'a [Box<RawValue>],
    depth: usize,
    left: &'a Allowance,
) -> BoxFuture<'a, RpcResult> {
    Box::pin(async move {
        let parallel = context.limits().batch_parallel_max.max(1);
        let mut charge = context.budget().charge(context);
        let mut answers = String::from("[");
        for calls in calls.chunks(parallel) {
            let running = calls.iter().map(|raw| one_call(context, read_call(raw), depth, left)).collect();
            for answer in all(running).await {
                let error = answer.as_ref().err().map(|error| json!(error).to_string());
                let (name, text) = match (&answer, &error) {
                    (Ok(result), _) => ("result", result.get()),
                    (Err(_), error) => ("error", error.as_deref().unwrap_or("null")),
                };
                if !charge.add(text.len() + MEMBER_BYTES).await {
                    return Err(ApiError::response_too_large());
                }
                if answers.len() > 1 {
                    answers.push(',');
                }
                for part in ["{\"", name, "\":", text, "}"] {
                    answers.push_str(part);
                }
            }
            // Calls that are ready at once never yield: without this the task would occupy its thread until the last of them.
            tokio::task::yield_now().await;
        }
        answers.push(']');
        written(answers).await
    })
}

/// Validates rendered JSON as a result, a long one off the async threads.
async fn written(text: String) -> RpcResult {
    let check = |text: String| RawValue::from_string(text).map_err(|error| ApiError::internal(&error));
    if text.len() <= CHECKED_AT_ONCE_BYTES_MAX {
        return check(text);
    }
    tokio::task::spawn_blocking(move || check(text)).await.map_err(|_| ApiError::panicked())?
}

/// Reads `[method]` or `[method, params]`.
fn read_call(raw: &RawValue) -> Result<(String, Params), ApiError> {
    let wrong = || ApiError::invalid("each call must be an array of a method and its params");
    let parts: Vec<&RawValue> = serde_json::from_str(raw.get()).map_err(|_| wrong())?;
    let (method, params) = match parts.as_slice() {
        [method] => (method, None),
        [method, params] => (method, Some(*params)),
        _ => return Err(wrong()),
    };
    let method = serde_json::from_str(method.get()).map_err(|_| wrong())?;
    Ok((method, Params::parse(params)?))
}

fn one_call<'a>(
    context: &'a RequestContext,
    call: Result<(String, Params), ApiError>,
    depth: usize,
    left: &'a Allowance,
) -> BoxFuture<'a, RpcResult> {
    Box::pin(async move {
        let (method, params) = call?;
        if !(left.may)(&method) {
            return Err(ApiError::method_not_found());
        }
        let spend = left.calls_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if spend.is_err() {
            return Err(ApiError::invalid(format!(
                "multicall sub-call budget exhausted: at most {CALLS_MAX} calls are run for one multicall"
            )));
        }
        context.budget().take_call(context)?;
        if method == MULTICALL {
            if depth >= DEPTH_MAX {
                return Err(ApiError::invalid(format!("multicalls stand at most {DEPTH_MAX} deep in each other")));
            }
            return multicall(context, params.raw(), depth + 1, left).await;
        }
        context.shared().main.call(context, &method, params).await
    })
}

/// Runs futures together; their outputs in the order of the futures.
async fn all<T>(mut futures: Vec<BoxFuture<'_, T>>) -> Vec<T> {
    let mut outputs: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    poll_fn(|task| {
        let mut is_pending = false;
        for (future, output) in futures.iter_mut().zip(&mut outputs) {
            // A future that is ready is not polled again.
            if output.is_none() {
                match future.as_mut().poll(task) {
                    Poll::Ready(ready) => *output = Some(ready),
                    Poll::Pending => is_pending = true,
                }
            }
        }
        if is_pending { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    outputs.into_iter().flatten().collect()
}

/// Unspent outputs of an address, grouped by their content.
#[derive(Deserialize, JsonSchema)]
struct BalancesOf {
    /// The address, or an object with it.
    request: BalancesRequest,
}

/// Whose outputs.
#[derive(Deserialize, JsonSchema)]
struct BalancesRequest {
    address: String,
    /// Protocol tag, 1 when absent; lists of any other are empty.
    #[serde(rename = "protocolTag", alias = "protocol_tag")]
    #[schemars(with = "Option<NaturalText>")]
    protocol_tag: Option<Verbatim>,
    /// A second address.
    #[serde(rename = "assetAddress", alias = "asset_address")]
    asset_address: Option<String>,
}

/// Unspent outputs in three lists, each ascending by height.
#[derive(Serialize, JsonSchema)]
struct Balances {
    /// Outputs without alkanes.
    spendable: Vec<Balance>,
    /// Outputs with alkanes.
    assets: Vec<Balance>,
    /// Unconfirmed outputs.
    pending: Vec<Balance>,
    /// Always 0: inscriptions and runes are not considered.
    #[serde(rename = "ordHeight")]
    ord_height: Height,
    #[serde(rename = "metashrewHeight")]
    metashrew_height: Height,
}

/// An unspent output.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Balance {
    /// txid:vout.
    outpoint: String,
    /// Satoshis.
    value: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<Height>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    runes: Vec<BalanceRune>,
}

/// An amount of an alkane, all in decimal digits.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct BalanceRune {
    #[serde(flatten)]
    id: IdDigits,
    amount: String,
}

impl Method for BalancesOf {
    const NAME: &'static str = "balances";
    const FORM: Form = Form::Positional;
    const EXAMPLE: &'static str = r#"[{"address":"bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"}]"#;
    type Surface = ();
    type Answer = Balances;

    async fn call(self, context: &RequestContext, (): &()) -> Result<Balances, ApiError> {
        balances(context, self.request).await
    }
}

async fn balances(context: &RequestContext, request: BalancesRequest) -> Result<Balances, ApiError> {
    let tag = request.protocol_tag.map_or(Some(1), |tag| decimal(&tag.0));
    let tag = tag.ok_or_else(|| ApiError::invalid("request.protocolTag must be an integer"))?;
    let height = alkanes::newest(context)?;
    let mut outputs = BTreeMap::new();
    for address in [Some(&request.address), request.asset_address.as_ref()].into_iter().flatten() {
        let route = AddressRoute::address(context, address)?;
        let unspent = unspent(context, &route.key, None).await;
        let (unspent, _kept) = unspent?;
        for output in unspent {
            outputs.insert(OutPoint { txid: output.txid, vout: output.vout }, output);
        }
    }
    let confirmed: Vec<OutPoint> =
        outputs.iter().filter(|(_, output)| output.status.height().is_some()).map(|(outpoint, _)| *outpoint).collect();
    let held = alkanes::read(context, Some(height), None, move |moment| {
        let mut held = BTreeMap::new();
        for outpoint in confirmed {
            if let Some(holdings) = views::held_by_output(&outpoint, &moment.view)?.filter(|_| tag == 1) {
                held.insert(outpoint, holdings.alkanes);
            }
        }
        Ok(held)
    })
    .await?;
    let (mut spendable, mut assets, mut pending) = (Vec::new(), Vec::new(), Vec::new());
    for (outpoint, output) in &outputs {
        let alkanes = held.get(outpoint).map_or(&[][..], Vec::as_slice);
        let runes = alkanes.iter().map(|held| BalanceRune { id: held.id.into(), amount: held.value.to_string() });
        let list = match output.status.height() {
            Some(at) if at <= height && alkanes.is_empty() => &mut spendable,
            Some(at) if at <= height => &mut assets,
            _ => &mut pending,
        };
        list.push(Balance {
            outpoint: format!("{}:{}", outpoint.txid, outpoint.vout),
            value: output.value,
            height: output.status.height(),
            runes: runes.collect(),
        });
    }
    for list in [&mut spendable, &mut assets, &mut pending] {
        list.sort_by_key(|output| output.height.unwrap_or(Height::MAX));
    }
    Ok(Balances { spendable, assets, pending, ord_height: 0, metashrew_height: height })
}
