//! `alkanes_*`: the views of the contract index with JSON parameters and answers.
//!
//! A view without a JSON form takes and returns hexadecimal digits, as `metashrew_view` does.

mod params;

use bitcoin::{Block, OutPoint, Transaction};
use paraffin_alkanes::CallResponse;
use paraffin_alkanes::views::{self, Parcel, Simulated, ViewContext, ViewError};
use paraffin_primitives::AlkaneId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use self::params::{
    AddressOrObject, BytesParam, HeightParam, IdParam, Integer, OutpointOrTxid, OutpointParam, Small, StorageRequest,
    TransferParam,
};
use super::outputs;
use paraffin_gateway::alkanes::{
    self, EventItem, IdDigits, ResponseItem, TransferItem, hex, response, trace_events, transfers,
};
use paraffin_gateway::api_types::decimal;
use paraffin_gateway::errors::{ApiError, rpc_code};
use paraffin_gateway::methods::{
    BlockTag, Declared, ErrorCase, Form, HexBytes, Method, OrNull, Surface, Text, Verbatim, Written,
};
use paraffin_gateway::state::RequestContext;
use paraffin_gateway::surface::to_raw;

/// The methods `alkanes_*`.
pub static ALKANES: Surface<()> = Surface::new(
    "alkanes",
    &[
        Declared::of::<Simulate>(),
        Declared::of::<Meta>(),
        Declared::of::<GetBytecode>(),
        Declared::of::<GetDeployment>(),
        Declared::of::<TraceOf>(),
        Declared::of::<TraceBlock>(),
        Declared::of::<ByOutpoint>(),
        Declared::of::<ByAddress>(),
        Declared::of::<ByHeight>(),
        Declared::of::<SpendablesByAddress>(),
        Declared::of::<GetStorageAt>(),
        Declared::of::<GetInventory>(),
        Declared::of::<Sequence>(),
        Declared::of::<Unwrap>(),
        Declared::of::<GetBlock>(),
        Declared::of::<MultiSimulateMisspelt>(),
        Declared::of::<MultiSimulate>(),
        Declared::of::<RunesByAddress>(),
        Declared::of::<RunesByHeight>(),
        Declared::of::<RunesByOutpoint>(),
        Declared::of::<SimulateBlock>(),
        Declared::of::<SimulateProtostones>(),
        Declared::of::<SimulateTransaction>(),
    ],
)
.admitting(|context| Ok(alkanes::of(context).map(drop)?));

/// A call to simulate.
#[derive(Deserialize, JsonSchema)]
struct Call {
    /// The contract.
    #[serde(alias = "alkaneId")]
    target: IdParam,
    /// The opcode and its arguments.
    inputs: Option<Vec<Integer>>,
    /// Incoming alkanes.
    alkanes: Option<Vec<TransferParam>>,
    /// The transaction that the call reads, consensus encoding.
    transaction: Option<BytesParam>,
    /// The block that the call reads, consensus encoding.
    block: Option<BytesParam>,
    /// The height that the call reads; that of the view when absent or out of range.
    #[schemars(with = "Option<Integer>")]
    height: Option<Verbatim>,
    /// The shadow output of the message.
    vout: Option<Small>,
}

/// A call with its encodings parsed.
struct ReadCall {
    call: Call,
    transaction: Option<Transaction>,
    block: Option<Block>,
}

impl ReadCall {
    fn read(call: Call) -> Result<Self, ApiError> {
        let transaction = call.transaction.as_ref().map(|bytes| bytes.decoded("call.transaction")).transpose()?;
        let block = call.block.as_ref().map(|bytes| bytes.decoded("call.block")).transpose()?;
        Ok(Self { call, transaction: transaction.flatten(), block: block.flatten() })
    }

    /// The call as of a view. Clients may send a constant as height: one before the first block of contracts, or more than one
    /// block ahead, stands for the view's own.
    fn parcel(self, view: &ViewContext<'_>) -> Parcel {
        let newest = u64::from(view.height);
        let is_usable = |height: &u64| (view.parameters.genesis_height..=newest + 1).contains(height);
        let height = self.call.height.as_ref().and_then(|height| decimal(&height.0));
        let height = height.and_then(|height| u64::try_from(height).ok()).filter(is_usable);
        let inputs: Vec<u128> = self.call.inputs.into_iter().flatten().map(|input| input.0).collect();
        let mut parcel = Parcel::calling(self.call.target.0, &inputs, height.unwrap_or(newest));
        parcel.incoming = self.call.alkanes.into_iter().flatten().map(|transfer| transfer.0).collect();
        parcel.vout = self.call.vout.map_or(0, |vout| vout.0);
        if let Some(transaction) = self.transaction {
            parcel.transaction = transaction;
        }
        if let Some(block) = self.block {
            parcel.block = block;
        }
        parcel
    }
}

/// Simulates a call. One that fails has status 1 and its error message.
#[derive(Deserialize, JsonSchema)]
struct Simulate {
    /// The call.
    call: Call,
    /// Block to answer as of; the newest when absent.
    tag: Option<BlockTag>,
}

/// Outcome of a simulated call.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Simulated")]
struct SimulateAnswer {
    /// 0, or 1 where it fails.
    status: u8,
    /// Fuel used.
    gas_used: u64,
    execution: ResponseItem,
    #[schemars(with = "Vec<EventItem>")]
    trace: Box<RawValue>,
}

impl Method for Simulate {
    const NAME: &'static str = "simulate";
    const FORM: Form = Form::Positional;
    const EXAMPLE: &'static str = r#"[{"target":{"block":"2","tx":"0"},"inputs":["99"]},"latest"]"#;
    type Surface = ();
    type Answer = Written<SimulateAnswer>;

    async fn call(self, context: &RequestContext, (): &()) -> Result<Self::Answer, ApiError> {
        let call = ReadCall::read(self.call)?;
        let height = BlockTag::height_of(self.tag.as_ref(), context)?;
        let answer = alkanes::try_out(context, height, move |moment| {
            let parcel = call.parcel(&moment.view);
            let (simulated, trace) = views::simulate_traced(&parcel, u64::MAX, &moment.view)?;
            let (status, gas_used, answered, error) = match simulated {
                Simulated::Done { response, fuel_used } => (0, fuel_used, response, None),
                Simulated::Failed(text) => (1, 0, CallResponse::default(), Some(text)),
            };
            let execution = ResponseItem { error: Some(OrNull(error)), ..response(&answered) };
            Ok(trace_events(&trace)
                .and_then(|trace| to_raw(&SimulateAnswer { status, gas_used, execution, trace }).map(Written::raw)))
        });
        answer.await?
    }
}

const NOT_DESCRIBED: ErrorCase = ErrorCase {
    code: rpc_code::NOT_FOUND,
    name: "NOT_FOUND",
    when: "The contract does not exist or does not describe itself",
};

/// A contract's description of its operations: its own JSON, or `0x` and hexadecimal digits where it is not JSON.
#[derive(Deserialize, JsonSchema)]
struct Meta {
    /// The contract.
    id: IdParam,
    /// Block to answer as of; the newest when absent.
    tag: Option<BlockTag>,
}

impl Method for Meta {
    const NAME: &'static str = "meta";
    const FORM: Form = Form::Positional;
    const EXAMPLE: &'static str = r#"["2:0"]"#;
    const ERRORS: &'static [ErrorCase] = &[NOT_DESCRIBED];
    type Surface = ();
    type Answer = Value;

    async fn call(self, context: &RequestContext, (): &()) -> Result<Value, ApiError> {
        let (target, height) = (self.id.0, BlockTag::height_of(self.tag.as_ref(), context)?);
        let answer = alkanes::try_out(context, height, move |moment| {
            views::meta(&Parcel::calling(target, &[], u64::from(moment.view.height)), &moment.view)
        });
        let description = answer.await?;
        if description.is_empty() {
            return Err(NOT_DESCRIBED.error("the contract does not exist or does not describe itself"));
        }
        Ok(serde_json::from_slice(&description).unwrap_or_else(|_| hex(&description).into()))
    }
}

/// The module of a contract: `0x` and hexadecimal digits.
#[derive(Deserialize, JsonSchema)]
struct GetBytecode {
    /// The contract.
    id: IdParam,
    /// Block to answer as of; the newest when absent.
    tag: Option<BlockTag>,
}

impl Method for GetBytecode {
    const NAME: &'static str = "getbytecode";
    const FORM: Form = Form::Positional;
    const EXAMPLE: &'static str = r#"["2:0"]"#;
    type Surface = ();
    type Answer = String;

    async fn call(self, context: &RequestContext, (): &()) -> Result<String, ApiError> {
        let (id, height) = (self.id.0, BlockTag::height_of(self.tag.as_ref(), context)?);
        let code = alkanes::read(context, height, None, move |moment| views::bytecode(id, &moment.view));
        Ok(hex(&code.await?))
    }
}

/// The output that made a contract.
#[derive(Deserialize, JsonSchema)]
struct GetDeployment {
    /// The contract.
    id: IdParam,
    /// Block to answer as of; the newest when absent.
    tag: Option<BlockTag>,
}

/// The output that made a contract.
#[derive(Serialize, JsonSchema)]
struct Deployment {
    outpoint: DeploymentOutpoint,
}

/// Empty for built-in and unknown contracts.
#[derive(Serialize, JsonSchema)]
struct DeploymentOutpoint {
    #[serde(skip_serializing_if = "Option::is_none")]
    txid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vout: Option<u32>,
}

impl Method for GetDeployment {
    const NAME: &'static str = "getdeployment";
    const ALIASES: &'static [&'static str] = &["alkanesidtooutpoint", "alkanes_id_to_outpoint"];
    const FORM: Form = Form::Positional;
    const EXAMPLE: &'static str = r#"["2:0"]"#;
    type Surface = ();
    type Answer = Deployment;

    async fn call(self, context: &RequestContext, (): &()) -> Result<Deployment, ApiError> {
        let (id, height) = (self.id.0, BlockTag::height_of(self.tag.as_ref(), context)?);
        let created = alkanes::read(context, height, None, move |moment| views::created_at(id, &moment.view));
        let created: Option<OutPoint> = created.await?;
        Ok(Deployment {
            outpoint: DeploymentOutpoint {
                txid: created.map(|outpoint| outpoint.txid.to_string()),
                vout: created.map(|outpoint| outpoint.vout),
            },
        })
    }
}

/// Events of a message, by its shadow output.
#[derive(Deserialize, JsonSchema)]
struct TraceOf {
    /// Outpoint of the message; the txid in either byte order, since clients of this method send it reversed.
    outpoint: OutpointParam,
    /// Block to answer as of; the newest when absent.
    tag: Option<BlockTag>,
}

impl Method for TraceOf {
    const NAME: &'static str = "trace";
    const FORM: Form = Form::Positional;
    const EXAMPLE: &'static str =
        r#"[{"txid":"5f74d8131b9ef3b3f0e6e1e3d3f4a5b6c7d8e9f00112233445566778899aabbc","vout":4}]"#;
    type Surface = ();
    type Answer = Written<Vec<EventItem>>;

    async fn call(self, context: &RequestContext, (): &()) -> Result<Self::Answer, ApiError> {
        let outpoint = OutPoint { txid: self.outpoint.txid.0, vout: self.outpoint.vout.0 };
        let height = BlockTag::height_of(self.tag.as_ref(), context)?;
        let trace = alkanes::read(context, height, None, move |moment| {
            let reversed = outputs::with_reversed_txid(&outpoint);
            let trace = match moment.view.state.trace(&reversed)? {
                None => moment.view.state.trace(&outpoint)?,
                trace => trace,
            };
            Ok(trace_events(&trace.unwrap_or_default()).map(Written::raw))
        });
        trace.await?
    }
}

/// Traces of a block.
#[derive(Deserialize, JsonSchema)]
struct TraceBlock {
    /// The block; the newest when absent.
    height: Option<HeightParam>,
    /// Block to answer as of, where `height` has none.
    tag: Option<BlockTag>,
}

/// An output.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PlainOutpoint")]
struct OutpointItem {
    /// In display order.
    txid: String,
    vout: u32,
}

impl From<OutPoint> for OutpointItem {
    fn from(outpoint: OutPoint) -> Self {
        Self { txid: outpoint.txid.to_string(), vout: outpoint.vout }
    }
}

/// A message of a block, with its trace.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "BlockTrace")]
struct TracedMessage {
    /// Its shadow output.
    outpoint: OutpointItem,
    /// Index of its transaction in the block.
    txindex: u32,
    #[schemars(with = "Vec<EventItem>")]
    trace: Box<RawValue>,
}

impl Method for TraceBlock {
    const NAME: &'static str = "traceblock";
    const FORM: Form = Form::Positional;
    const EXAMPLE: &'static str = "[880000]";
    type Surface = ();
    type Answer = Written<Vec<TracedMessage>>;

    async fn call(self, context: &RequestContext, (): &()) -> Result<Self::Answer, ApiError> {
        let height = HeightParam::height(self.height.as_ref(), self.tag.as_ref(), context)?;
        let traces = alkanes::read(context, height, None, move |moment| {
            let limits = moment.view.limits;
            // A byte is two digits in the answer.
            let bytes_max = limits.answer_bytes_max as u64 / 2;
            let traced = moment.view.state.traces_of_block(moment.view.height, bytes_max)?;
            let traced = traced.ok_or(ViewError::TooLarge)?;
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
                messages.push(TracedMessage {
                    outpoint: traced.outpoint.into(),
                    txindex: traced.transaction_index,
                    trace,
                });
            }
            Ok(to_raw(&messages).map(Written::raw))
        });
        traces.await?
    }
}

/// Alkanes of an output.
///
/// With a tag the answer is an array of tokens and values, without one an object. The first parameter may also be the txid, with the
/// number of the output, a tag and the protocol tag after it.
#[derive(Deserialize, JsonSchema)]
struct ByOutpoint {
    /// The output as an object `{txid, vout, protocolTag?}`, or its txid.
    #[schemars(with = "OutpointOrTxid")]
    outpoint: Verbatim,
    /// Block to answer as of; after a txid the index of the output.
    tag: Option<Verbatim>,
    /// After a txid: the block to answer as of; the newest when absent.
    block_tag: Option<BlockTag>,
    /// After a txid: the protocol tag; for any other than 1 the answer is empty.
    protocol_tag: Option<Text>,
}

impl Method for ByOutpoint {
    const NAME: &'static str = "protorunesbyoutpoint";
    const ALIASES: &'static [&'static str] = &["protorunes_by_outpoint"];
    const FORM: Form = Form::Positional;
    const EXAMPLE: &'static str =
        r#"[{"txid":"5f74d8131b9ef3b3f0e6e1e3d3f4a5b6c7d8e9f00112233445566778899aabbc","vout":0}]"#;
    type Surface = ();
    type Answer = Value;

    async fn call(self, context: &RequestContext, (): &()) -> Result<Value, ApiError> {
        let input = self.outpoint.0;
        if input.is_object() {
            if self.block_tag.is_some() || self.protocol_tag.is_some() {
                return Err(ApiError::invalid("this method takes at most 2 parameters"));
            }
            // Clients of the array shape send a tag.
            let Some(tag) = self.tag else { return outputs::by_outpoint(context, &input, None).await };
            let tag = HeightParam(tag.0);
            let height = HeightParam::height(Some(&tag), None, context)?;
            return outputs::by_outpoint_as_array(context, &input, height).await;
        }
        let vout = self.tag.and_then(|vout| decimal(&vout.0));
        let vout = vout.ok_or_else(|| ApiError::invalid("vout must be a non-negative integer"))?;
        let mut input = json!({ "txid": input, "vout": vout.to_string() });
        if let Some(protocol) = self.protocol_tag {
            input["protocolTag"] = protocol.0.into();
        }
        outputs::by_outpoint(context, &input, BlockTag::height_of(self.block_tag.as_ref(), context)?).await
    }
}

/// Alkanes of the unspent outputs of an address.
#[derive(Deserialize, JsonSchema)]
struct ByAddress {
    /// An address, or an object `{address, protocolTag?}`.
    #[schemars(with = "AddressOrObject")]
    address: Verbatim,
    /// Block to answer as of; the newest when absent.
    tag: Option<BlockTag>,
    /// After an address: the protocol tag; for any other than 1 the answer is empty.
    protocol_tag: Option<Text>,
}

impl Method for ByAddress {
    const NAME: &'static str = "protorunesbyaddress";
    const FORM: Form = Form::Positional;
    const EXAMPLE: &'static str = r#"[{"address":"bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"}]"#;
    type Surface = ();
    type Answer = Value;

    async fn call(self, context: &RequestContext, (): &()) -> Result<Value, ApiError> {
        let mut input = self.address.0;
        let mut order = outputs::Order::Display;
        if input.is_object() {
            if self.protocol_tag.is_some() {
                return Err(ApiError::invalid("this method takes at most 2 parameters"));
            }
            order = outputs::order_for(self.tag.is_some(), &input);
        } else {
            let Value::String(_) = input else {
                return Err(ApiError::invalid("address must be a string"));
            };
            input = json!({ "address": input });
            if let Some(protocol) = self.protocol_tag {
                input["protocolTag"] = protocol.0.into();
            }
        }
        let height = BlockTag::height_of(self.tag.as_ref(), context)?;
        outputs::by_address(context, &input, height, false, order).await
    }
}

/// Alkanes that first appeared in outputs in a block.
#[derive(Deserialize, JsonSchema)]
struct ByHeight {
    /// The block; the newest when absent.
    height: Option<HeightParam>,
    /// Block to answer as of; the newest when absent.
    tag: Option<BlockTag>,
}

/// Alkanes of a block.
#[derive(Serialize, JsonSchema)]
struct ByHeightAnswer {
    runes: Vec<FirstSeen>,
}

/// An alkane.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FirstSeen {
    /// Alias of `id`.
    rune_id: IdDigits,
    id: IdDigits,
    name: String,
    symbol: String,
}

impl Method for ByHeight {
    const NAME: &'static str = "protorunesbyheight";
    const FORM: Form = Form::Positional;
    const EXAMPLE: &'static str = r#"[{"height":880000}]"#;
    type Surface = ();
    type Answer = ByHeightAnswer;

    async fn call(self, context: &RequestContext, (): &()) -> Result<ByHeightAnswer, ApiError> {
        let height = HeightParam::height(self.height.as_ref(), self.tag.as_ref(), context)?;
        let as_of = BlockTag::height_of(self.tag.as_ref(), context)?;
        let runes = alkanes::read(context, as_of, None, move |moment| {
            let height = height.unwrap_or(moment.view.height);
            if height > moment.view.height {
                return Ok(Vec::new());
            }
            let mut words = views::Words::new(&moment.view, views::WordsLimits::VIEWS);
            let ids = moment.view.state.first_seen(height)?;
            let item = |id: AlkaneId| {
                let (name, symbol) = words.of(id)?;
                Ok(FirstSeen { id: id.into(), name, rune_id: id.into(), symbol })
            };
            ids.into_iter().map(item).collect::<Result<Vec<_>, ViewError>>()
        });
        Ok(ByHeightAnswer { runes: runes.await? })
    }
}

/// All unspent outputs of an address, for coin selection; may be called without its family.
#[derive(Deserialize, JsonSchema)]
struct SpendablesByAddress {
    /// An address, or an object `{address}`.
    #[schemars(with = "AddressOrObject")]
    address: Verbatim,
    /// Block to answer as of; the newest when absent.
    tag: Option<BlockTag>,
}

impl Method for SpendablesByAddress {
    const NAME: &'static str = "spendablesbyaddress";
    const FORM: Form = Form::Positional;
    const EXAMPLE: &'static str = r#"["bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"]"#;
    type Surface = ();
    type Answer = Value;

    async fn call(self, context: &RequestContext, (): &()) -> Result<Value, ApiError> {
        let input = self.address.0;
        let address = input.get("address").unwrap_or(&input).as_str();
        let address = address.ok_or_else(|| ApiError::invalid("address must be a string"))?;
        outputs::spendables(context, address, BlockTag::height_of(self.tag.as_ref(), context)?).await
    }
}

/// A value in the storage of a contract: `0x` and hexadecimal digits, empty where there is none.
#[derive(Deserialize, JsonSchema)]
struct GetStorageAt {
    /// The contract and the key.
    request: StorageRequest,
    /// Block to answer as of; the newest when absent.
    tag: Option<BlockTag>,
}

impl Method for GetStorageAt {
    const NAME: &'static str = "getstorageat";
    const FORM: Form = Form::Positional;
    const EXAMPLE: &'static str = r#"[{"id":"2:0","path":"/totalsupply"}]"#;
    type Surface = ();
    type Answer = String;

    async fn call(self, context: &RequestContext, (): &()) -> Result<String, ApiError> {
        let StorageRequest { id, key } = self.request;
        let height = BlockTag::height_of(self.tag.as_ref(), context)?;
        let value = alkanes::read(context, height, None, move |moment| views::storage_at(id, &key, &moment.view));
        Ok(hex(&value.await?))
    }
}

/// Alkanes that a contract holds.
#[derive(Deserialize, JsonSchema)]
struct GetInventory {
    /// The contract.
    id: IdParam,
    /// Block to answer as of; the newest when absent.
    tag: Option<BlockTag>,
}

/// Alkanes that a contract holds.
#[derive(Serialize, JsonSchema)]
struct Inventory {
    alkanes: Vec<TransferItem>,
}

impl Method for GetInventory {
    const NAME: &'static str = "getinventory";
    const FORM: Form = Form::Positional;
    const EXAMPLE: &'static str = r#"["2:1"]"#;
    type Surface = ();
    type Answer = Inventory;

    async fn call(self, context: &RequestContext, (): &()) -> Result<Inventory, ApiError> {
        let (id, height) = (self.id.0, BlockTag::height_of(self.tag.as_ref(), context)?);
        let held = alkanes::read(context, height, None, move |moment| views::inventory(id, &moment.view));
        Ok(Inventory { alkanes: transfers(&held.await?) })
    }
}

/// The number of the next contract 2:n, in decimal digits.
#[derive(Deserialize, JsonSchema)]
struct Sequence {
    /// Block to answer as of; the newest when absent.
    tag: Option<BlockTag>,
}

impl Method for Sequence {
    const NAME: &'static str = "sequence";
    const FORM: Form = Form::Positional;
    const EXAMPLE: &'static str = r#"["latest"]"#;
    type Surface = ();
    type Answer = String;

    async fn call(self, context: &RequestContext, (): &()) -> Result<String, ApiError> {
        let height = BlockTag::height_of(self.tag.as_ref(), context)?;
        let next = alkanes::read(context, height, None, |moment| views::sequence(&moment.view));
        Ok(next.await?.to_string())
    }
}

/// Pending payments of the wrapped-bitcoin contract.
#[derive(Deserialize, JsonSchema)]
struct Unwrap {
    /// Block to answer as of; the newest when absent.
    tag: Option<BlockTag>,
}

/// Pending payments.
#[derive(Serialize, JsonSchema)]
struct PendingPayments {
    payments: Vec<PendingPayment>,
}

/// A pending payment.
#[derive(Serialize, JsonSchema)]
struct PendingPayment {
    /// The output that the wrapped bitcoin was burnt with.
    spendable: OutpointItem,
    output: PaymentOutput,
    /// `false`.
    fulfilled: bool,
}

/// The output to be paid.
#[derive(Serialize, JsonSchema)]
struct PaymentOutput {
    /// Satoshis.
    value: u64,
    /// In hexadecimal digits.
    script: String,
}

impl Method for Unwrap {
    const NAME: &'static str = "unwrap";
    const FORM: Form = Form::Positional;
    const EXAMPLE: &'static str = r#"["latest"]"#;
    type Surface = ();
    type Answer = PendingPayments;

    async fn call(self, context: &RequestContext, (): &()) -> Result<PendingPayments, ApiError> {
        let height = BlockTag::height_of(self.tag.as_ref(), context)?;
        let pending = alkanes::read(context, height, None, |moment| views::pending_unwraps(&moment.view));
        let payments = pending.await?.into_iter().map(|payment| PendingPayment {
            fulfilled: false,
            output: PaymentOutput {
                script: payment.output.script_pubkey.to_hex_string(),
                value: payment.output.value.to_sat(),
            },
            spendable: payment.spendable.into(),
        });
        Ok(PendingPayments { payments: payments.collect() })
    }
}

/// Views without a JSON form.
macro_rules! views_in_digits {
    ($($method:ident $name:literal;)*) => {
        $(
            /// The view in hexadecimal digits, as `metashrew_view` has it.
            #[derive(Deserialize, JsonSchema)]
            struct $method {
                /// A protobuf message in hexadecimal digits, `0x` before them or not; empty when absent.
                input: Option<HexBytes>,
                /// Block to answer as of; the newest when absent.
                tag: Option<BlockTag>,
            }

            impl Method for $method {
                const NAME: &'static str = $name;
                const FORM: Form = Form::Positional;
                const EXAMPLE: &'static str = r#"["0x","latest"]"#;
                type Surface = ();
                type Answer = String;

                async fn call(self, context: &RequestContext, (): &()) -> Result<String, ApiError> {
                    let height = BlockTag::height_of(self.tag.as_ref(), context)?;
                    let payload = self.input.unwrap_or_default().0;
                    Ok(hex(&alkanes::call(context, $name.to_owned(), payload, height).await?))
                }
            }
        )*
    };
}

views_in_digits! {
    GetBlock "getblock";
    MultiSimulateMisspelt "multisimluate";
    MultiSimulate "multisimulate";
    RunesByAddress "runesbyaddress";
    RunesByHeight "runesbyheight";
    RunesByOutpoint "runesbyoutpoint";
    SimulateBlock "simulateblock";
    SimulateProtostones "simulateprotostones";
    SimulateTransaction "simulatetransaction";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_view_is_a_method() {
        for view in views::NAMES {
            assert!(ALKANES.names().any(|name| name == view), "{view}");
        }
    }
}
