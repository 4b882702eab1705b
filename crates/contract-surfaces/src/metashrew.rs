//! `metashrew_*`: the views of the contract index, in hexadecimal and JSON, at any height.

mod hosted;

use paraffin_alkanes::MODULE;
use paraffin_alkanes::views::ViewError;
use paraffin_primitives::Height;
use paraffin_store::{BlockDigests, FORMAT_VERSION};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::outputs;
use paraffin_gateway::alkanes::{self, Fault, hex};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::methods::{BlockTag, ByName, Declared, Form, HexBytes, Method, Surface, Text, Verbatim, Written};
use paraffin_gateway::state::RequestContext;
use paraffin_gateway::surface::to_raw;

/// The methods `metashrew_*`.
pub static METASHREW: Surface<()> = Surface::new(
    "metashrew",
    &[
        Declared::of::<IndexHeight>(),
        Declared::of::<View>(),
        Declared::of::<Preview>(),
        Declared::of::<BlockHashAt>(),
        Declared::of::<StateRoot>(),
        Declared::of::<BlockDigest>(),
        Declared::of::<SnapshotStats>(),
    ],
);

/// Newest height of the views: that of the hosted program, or of the contract index where there is one.
fn newest(context: &RequestContext) -> Result<Height, ApiError> {
    if let Some(program) = hosted::of(context) {
        return hosted::newest(context, &**program);
    }
    match alkanes::newest(context) {
        Err(Fault::NotIndexed) => Ok(context.tip().ok_or_else(ApiError::starting)?.height),
        newest => Ok(newest?),
    }
}

/// The height that views answer at, in decimal digits.
#[derive(Deserialize, JsonSchema)]
struct IndexHeight {}

impl Method for IndexHeight {
    const NAME: &'static str = "height";
    const FORM: Form = Form::Nothing;
    const EXAMPLE: &'static str = "[]";
    type Surface = ();
    type Answer = String;

    async fn call(self, context: &RequestContext, (): &()) -> Result<String, ApiError> {
        Ok(newest(context)?.to_string())
    }
}

/// A view: a protobuf message in and out, or for some an object in and JSON out.
///
/// The messages are those of the files at `/v4/proto/`.
#[derive(Deserialize, JsonSchema)]
struct View {
    /// The name of the view.
    name: Text,
    /// A message in hexadecimal digits, `0x` before them or not, or an object; empty when absent.
    #[schemars(with = "Option<ViewInput>")]
    input: Option<Verbatim>,
    /// Block to answer as of; the newest when absent.
    tag: Option<BlockTag>,
}

/// A message in hexadecimal digits after 0x, or an object.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "the schema of a value that is passed on as it is")]
enum ViewInput {
    Message(String),
    Object(serde_json::Map<String, Value>),
}

/// The message of a view.
fn message(input: Option<&Verbatim>) -> Result<Vec<u8>, ApiError> {
    let Some(Verbatim(value)) = input else { return Ok(Vec::new()) };
    let read = HexBytes::read(value).map_err(|sentence| ApiError::invalid(format!("input {sentence}")))?;
    Ok(read.0)
}

impl Method for View {
    const NAME: &'static str = "view";
    const FORM: Form = Form::Positional;
    const EXAMPLE: &'static str = r#"["sequence","0x","latest"]"#;
    type Surface = ();
    type Answer = Written<Value>;

    async fn call(self, context: &RequestContext, (): &()) -> Result<Self::Answer, ApiError> {
        let name = self.name.0;
        let object = self.input.as_ref().map(|input| &input.0).filter(|input| input.is_object());
        if let (Some(program), None) = (hosted::of(context), object) {
            let answer = hosted::view(context, program, name, self.input.as_ref(), self.tag.as_ref()).await?;
            return Ok(Written::raw(to_raw(&answer)?));
        }
        alkanes::of(context)?;
        if let Some(input) = object {
            return object_view(context, input, self.tag.as_ref(), &name).await;
        }
        if !paraffin_alkanes::views::is_known(&name) {
            return Err(ApiError::method_not_found());
        }
        let payload = message(self.input.as_ref())?;
        let height = BlockTag::height_of(self.tag.as_ref(), context)?;
        Ok(Written::raw(to_raw(&hex(&alkanes::call(context, name, payload, height).await?))?))
    }
}

/// Views that take an object.
async fn object_view(
    context: &RequestContext,
    input: &Value,
    tag: Option<&BlockTag>,
    name: &str,
) -> Result<Written<Value>, ApiError> {
    use outputs::Order::Display;
    let height = BlockTag::height_of(tag, context)?;
    let answer = match name {
        "protorunesbyaddress" => to_raw(&outputs::by_address(context, input, height, false, Display).await?),
        "spendablesbyaddress" => to_raw(&outputs::by_address(context, input, height, true, Display).await?),
        "protorunesbyoutpoint" => to_raw(&outputs::by_outpoint(context, input, height).await?),
        "runebyid" => outputs::rune_by_id(context, input, height).await,
        name if paraffin_alkanes::views::is_known(name) => {
            Err(ApiError::invalid("this view takes a protobuf message in hexadecimal digits"))
        }
        _ => Err(ApiError::method_not_found()),
    };
    answer.map(Written::raw)
}

/// The answer of a view after one more block, which is executed on a copy and discarded.
#[derive(Deserialize, JsonSchema)]
struct Preview {
    /// The consensus encoding of a block.
    block: HexBytes,
    /// The name of the view.
    name: Text,
    /// A message in hexadecimal digits, `0x` before them or not; empty when absent.
    input: Option<HexBytes>,
    /// Block to answer as of; the newest when absent.
    tag: Option<BlockTag>,
}

impl Method for Preview {
    const NAME: &'static str = "preview";
    const FORM: Form = Form::Positional;
    const EXAMPLE: &'static str = r#"["0x00","sequence","0x","latest"]"#;
    const TAKES_LARGE_BODY: bool = true;
    type Surface = ();
    type Answer = String;

    async fn call(self, context: &RequestContext, (): &()) -> Result<String, ApiError> {
        let (block, name, payload) = (self.block.0, self.name.0, self.input.unwrap_or_default().0);
        if let Some(program) = hosted::of(context) {
            return hosted::preview(context, program, block, name, payload, self.tag.as_ref()).await;
        }
        alkanes::of(context)?;
        if !paraffin_alkanes::views::is_known(&name) {
            return Err(ApiError::method_not_found());
        }
        let height = BlockTag::height_of(self.tag.as_ref(), context)?;
        let block: bitcoin::Block = bitcoin::consensus::encode::deserialize(&block)
            .map_err(|_| ApiError::invalid("block must be the consensus encoding of a block"))?;
        let wanted = alkanes::block_of_view(context, &name, &payload).await?;
        let answer = alkanes::in_lane(context, alkanes::Lane::Simulations, height, wanted, move |moment| {
            paraffin_alkanes::views::preview(&block, &name, &payload, &moment.view)
        });
        Ok(hex(&answer.await?))
    }
}

/// `0x` and the hash of a block, in display order.
#[derive(Deserialize, JsonSchema)]
struct BlockHashAt {
    /// The block; the newest when absent.
    height: Option<BlockTag>,
}

impl Method for BlockHashAt {
    const NAME: &'static str = "getblockhash";
    const FORM: Form = Form::Positional;
    const EXAMPLE: &'static str = r#"["latest"]"#;
    type Surface = ();
    type Answer = String;

    async fn call(self, context: &RequestContext, (): &()) -> Result<String, ApiError> {
        let newest = newest(context)?;
        let height = BlockTag::height_of(self.height.as_ref(), context)?.unwrap_or(newest);
        let record = context.snapshot().block(height).map_err(|error| ApiError::internal(&error))?;
        let record = record.filter(|_| height <= newest).ok_or(Fault::AboveTip { newest })?;
        Ok(format!("0x{}", record.id.hash))
    }
}

/// The digest of everything that the contract index wrote in one block: equal on two instances that agree.
#[derive(Deserialize, JsonSchema)]
struct StateRoot {
    /// The block; the newest when absent.
    height: Option<BlockTag>,
}

impl Method for StateRoot {
    const NAME: &'static str = "stateroot";
    const FORM: Form = Form::Positional;
    const EXAMPLE: &'static str = r#"["latest"]"#;
    type Surface = ();
    type Answer = String;

    async fn call(self, context: &RequestContext, (): &()) -> Result<String, ApiError> {
        if let Some(program) = hosted::of(context) {
            return hosted::state_root(context, &**program, self.height.as_ref());
        }
        let newest = alkanes::newest(context)?;
        let height = BlockTag::height_of(self.height.as_ref(), context)?.unwrap_or(newest);
        if height > newest {
            return Err(Fault::AboveTip { newest }.into());
        }
        let digest = context.snapshot().module_digest(MODULE, height).map_err(|error| ApiError::internal(&error))?;
        let digest =
            digest.ok_or_else(|| ApiError::internal(&ViewError::Chain(format!("no digest at {height}").into())))?;
        Ok(hex(&digest))
    }
}

/// Digests of one block, of each part of the index and of everything up to the block.
///
/// Two instances that agree have the same, and the first block in which they differ is found by halving.
#[derive(Deserialize, JsonSchema)]
struct BlockDigest {
    /// The block; the newest when absent.
    height: Option<BlockTag>,
}

/// Digests of a block, each `0x` and 64 hexadecimal digits.
#[derive(Serialize, JsonSchema)]
struct BlockDigestAnswer {
    network: &'static str,
    /// Version of the store's format.
    format: u32,
    height: Height,
    /// In display order.
    #[schemars(with = "String")]
    hash: bitcoin::BlockHash,
    /// Of everything that was written in the block.
    digest: String,
    /// Of everything that was written up to the block.
    cumulative: String,
    /// By the name of the module.
    modules: ByName<ModuleDigestAnswer>,
}

/// Digests of a module's writes in a block.
#[derive(Serialize, JsonSchema)]
struct ModuleDigestAnswer {
    /// Version of the module's tables.
    version: u32,
    digest: String,
}

impl Method for BlockDigest {
    const NAME: &'static str = "blockdigest";
    const FORM: Form = Form::Positional;
    const EXAMPLE: &'static str = r#"["latest"]"#;
    type Surface = ();
    type Answer = BlockDigestAnswer;

    async fn call(self, context: &RequestContext, (): &()) -> Result<BlockDigestAnswer, ApiError> {
        let newest = context.tip().ok_or_else(ApiError::starting)?.height;
        let height = BlockTag::height_of(self.height.as_ref(), context)?.unwrap_or(newest);
        let digests = context.snapshot().block_digests(height).map_err(|error| ApiError::internal(&error))?;
        let BlockDigests { record, modules } = digests.ok_or(Fault::AboveTip { newest })?;
        let modules = modules
            .into_iter()
            .map(|module| (module.name, ModuleDigestAnswer { digest: hex(&module.digest), version: module.version }));
        Ok(BlockDigestAnswer {
            cumulative: hex(&record.cumulative),
            digest: hex(&record.digest),
            format: FORMAT_VERSION,
            hash: record.id.hash,
            height: record.id.height,
            modules: modules.collect(),
            network: context.network().name(),
        })
    }
}

/// What other hosts report about their snapshots, as JSON inside a string.
#[derive(Deserialize, JsonSchema)]
struct SnapshotStats {}

impl Method for SnapshotStats {
    const NAME: &'static str = "snapshot";
    const FORM: Form = Form::Nothing;
    const EXAMPLE: &'static str = "[]";
    type Surface = ();
    type Answer = String;

    async fn call(self, context: &RequestContext, (): &()) -> Result<String, ApiError> {
        let newest = newest(context)?;
        let stats = json!({
            "enabled": false,
            "current_height": newest,
            "indexed_height": newest,
            "total_entries": 0,
            "storage_size_bytes": 0,
            "sync_mode": "blocks",
            "snapshots_created": 0,
            "snapshots_applied": 0,
            "last_snapshot_height": null,
            "blocks_synced_normally": u64::from(newest) + 1,
            "blocks_synced_from_snapshots": 0,
        });
        Ok(stats.to_string())
    }
}
