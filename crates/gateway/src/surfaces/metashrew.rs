//! `metashrew_*`: the views of the contract index, in hexadecimal and JSON, at any height (docs/api.md).

mod hosted;

use bitcoin::hex::FromHex as _;
use paraffin_alkanes::MODULE;
use paraffin_alkanes::views::ViewError;
use paraffin_primitives::Height;
use paraffin_store::{BlockDigests, FORMAT_VERSION};
use serde_json::{Map, Value, json};

use super::main_rpc::MethodFamily;
use super::outputs;
use super::{RpcResult, to_raw};
use crate::alkanes::{self, Fault, hex};
use crate::errors::RpcError;
use crate::jsonrpc::{Params, parse_unsigned};
use crate::state::{BoxFuture, RequestContext};

/// All methods of the family.
const METHODS: [&str; 7] = ["height", "view", "preview", "getblockhash", "stateroot", "blockdigest", "snapshot"];

pub(super) struct MetashrewFamily;

impl MethodFamily for MetashrewFamily {
    fn name(&self) -> &'static str {
        "metashrew"
    }

    fn methods(&self) -> Vec<&'static str> {
        METHODS.to_vec()
    }

    fn call<'a>(&'a self, context: &'a RequestContext, method: &'a str, params: Params) -> BoxFuture<'a, RpcResult> {
        Box::pin(async move {
            if !METHODS.contains(&method) {
                return Err(RpcError::method_not_found());
            }
            match method {
                "height" => height(context, &params),
                "view" => view(context, &params).await,
                "preview" => preview(context, &params).await,
                "getblockhash" => block_hash(context, &params),
                "stateroot" => state_root(context, &params),
                "blockdigest" => block_digest(context, &params),
                "snapshot" => snapshot(context, &params),
                _ => Err(RpcError::method_not_found()),
            }
        })
    }
}

/// Newest height that is answered from: that of the program or of the contract index where there is one.
fn newest(context: &RequestContext) -> Result<Height, RpcError> {
    if let Some(program) = hosted::of(context) {
        return hosted::newest(context, &**program);
    }
    match alkanes::newest(context) {
        Err(Fault::NotIndexed) => Ok(context.tip().ok_or_else(RpcError::starting)?.height),
        newest => Ok(newest?),
    }
}

/// The indexed height as a decimal string.
fn height(context: &RequestContext, params: &Params) -> RpcResult {
    params.none()?;
    to_raw(&newest(context)?.to_string())
}

/// A tag: a height, `height:hash`, or one of the ways to say the newest, for which the answer is `None`. The hash must be
/// that of the block at the height, in display order.
pub(super) fn tag(context: &RequestContext, params: &Params, index: usize) -> Result<Option<Height>, RpcError> {
    let Some((height, hash)) = height_and_hash(params, index)? else { return Ok(None) };
    if let Some(hash) = hash {
        let record = context.snapshot().block(height).map_err(|error| RpcError::internal(&error))?;
        if record.is_some_and(|record| !record.id.hash.to_string().eq_ignore_ascii_case(&hash)) {
            return Err(RpcError::invalid_params(format!("the block at height {height} has another hash")));
        }
    }
    Ok(Some(height))
}

/// The height of a tag and the hash beside it; `None` for the newest.
fn height_and_hash(params: &Params, index: usize) -> Result<Option<(Height, Option<String>)>, RpcError> {
    let wrong = || {
        RpcError::invalid_params("the block tag must be \"latest\", a height, or a height and a hash joined by a colon")
    };
    let Some(text) = params.optional_text(index, "the block tag").map_err(|_| wrong())? else { return Ok(None) };
    let (height, hash) = text.split_once(':').map_or((&*text, None), |(height, hash)| (height, Some(hash)));
    if matches!(height, "latest" | "" | "0x") {
        return Ok(None);
    }
    // A height beyond 32 bits is above every tip.
    let height = Height::try_from(parse_unsigned(height).ok_or_else(wrong)?).unwrap_or(Height::MAX);
    Ok(Some((height, hash.map(|hash| hash.trim_start_matches("0x").to_owned()))))
}

/// Hexadecimal digits, `0x` before them or not.
pub(super) fn hex_bytes(text: &str, name: &str) -> Result<Vec<u8>, RpcError> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    Vec::from_hex(digits).map_err(|_| RpcError::invalid_params(format!("{name} must be hexadecimal digits")))
}

/// `[name, input, tag]`: hexadecimal in, hexadecimal out; a JSON object in, JSON out.
async fn view(context: &RequestContext, params: &Params) -> RpcResult {
    params.at_most(3)?;
    let name = params.text(0, "the name of the view")?;
    let is_object = params.get(1).is_some_and(|input| input.get().starts_with('{'));
    if let Some(program) = hosted::of(context).filter(|_| !is_object) {
        return hosted::view(context, program, params, name).await;
    }
    alkanes::of(context)?;
    if is_object {
        return object_view(context, params, &name).await;
    }
    if !paraffin_alkanes::views::is_known(&name) {
        return Err(RpcError::method_not_found());
    }
    let payload = match params.optional_text(1, "the input of the view")? {
        Some(text) => hex_bytes(&text, "the input of the view")?,
        None => Vec::new(),
    };
    to_raw(&hex(&alkanes::call(context, name, payload, tag(context, params, 2)?).await?))
}

/// Views that take an object.
async fn object_view(context: &RequestContext, params: &Params, name: &str) -> RpcResult {
    let height = tag(context, params, 2)?;
    let input: Value = params.get(1).and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    match name {
        "protorunesbyaddress" => {
            to_raw(&outputs::by_address(context, &input, height, false, outputs::Order::Display).await?)
        }
        "spendablesbyaddress" => {
            to_raw(&outputs::by_address(context, &input, height, true, outputs::Order::Display).await?)
        }
        "protorunesbyoutpoint" => to_raw(&outputs::by_outpoint(context, &input, height).await?),
        "runebyid" => outputs::rune_by_id(context, &input, height).await,
        name if paraffin_alkanes::views::is_known(name) => {
            Err(RpcError::invalid_params("this view takes a protobuf message in hexadecimal digits"))
        }
        _ => Err(RpcError::method_not_found()),
    }
}

/// `[block, name, input, tag]`: a view as it would answer after one more block, which is run aside and forgotten.
async fn preview(context: &RequestContext, params: &Params) -> RpcResult {
    params.at_most(4)?;
    let block = hex_bytes(&params.text(0, "the block")?, "the block")?;
    let name = params.text(1, "the name of the view")?;
    if let Some(program) = hosted::of(context) {
        return hosted::preview(context, program, params, block, name).await;
    }
    alkanes::of(context)?;
    if !paraffin_alkanes::views::is_known(&name) {
        return Err(RpcError::method_not_found());
    }
    let payload = match params.optional_text(2, "the input of the view")? {
        Some(text) => hex_bytes(&text, "the input of the view")?,
        None => Vec::new(),
    };
    let height = tag(context, params, 3)?;
    let block: bitcoin::Block = bitcoin::consensus::encode::deserialize(&block)
        .map_err(|_| RpcError::invalid_params("the block must be the consensus encoding of a block"))?;
    let wanted = alkanes::block_of_view(context, &name, &payload).await?;
    let answer = alkanes::in_lane(context, alkanes::Lane::Simulations, height, wanted, move |moment| {
        paraffin_alkanes::views::preview(&block, &name, &payload, &moment.view)
    });
    to_raw(&hex(&answer.await?))
}

/// `0x` and the hash of a block in display order; an unknown height is -32602.
fn block_hash(context: &RequestContext, params: &Params) -> RpcResult {
    params.at_most(1)?;
    let newest = newest(context)?;
    let height = tag(context, params, 0)?.unwrap_or(newest);
    let record = context.snapshot().block(height).map_err(|error| RpcError::internal(&error))?;
    let record = record.filter(|_| height <= newest).ok_or(Fault::AboveTip { newest })?;
    to_raw(&format!("0x{}", record.id.hash))
}

/// The digest of everything that the contract index wrote in one block: equal on two instances that agree.
fn state_root(context: &RequestContext, params: &Params) -> RpcResult {
    params.at_most(1)?;
    if let Some(program) = hosted::of(context) {
        return hosted::state_root(context, &**program, params);
    }
    let newest = alkanes::newest(context)?;
    let height = tag(context, params, 0)?.unwrap_or(newest);
    if height > newest {
        return Err(Fault::AboveTip { newest }.into());
    }
    let digest = context.snapshot().module_digest(MODULE, height).map_err(|error| RpcError::internal(&error))?;
    let digest = digest.ok_or_else(|| RpcError::internal(&ViewError::Chain(format!("no digest at {height}"))))?;
    to_raw(&hex(&digest))
}

/// The digests of one block, of each part of the index and of everything up to the block: two instances that agree have the
/// same, and the first block in which they differ is found by halving.
fn block_digest(context: &RequestContext, params: &Params) -> RpcResult {
    params.at_most(1)?;
    let newest = context.tip().ok_or_else(RpcError::starting)?.height;
    let height = tag(context, params, 0)?.unwrap_or(newest);
    let digests = context.snapshot().block_digests(height).map_err(|error| RpcError::internal(&error))?;
    let BlockDigests { record, modules } = digests.ok_or(Fault::AboveTip { newest })?;
    let modules: Map<String, Value> = modules
        .iter()
        .map(|module| (module.name.clone(), json!({ "version": module.version, "digest": hex(&module.digest) })))
        .collect();
    to_raw(&json!({
        "network": context.network().name(),
        "format": FORMAT_VERSION,
        "height": record.id.height,
        "hash": record.id.hash,
        "digest": hex(&record.digest),
        "cumulative": hex(&record.cumulative),
        "modules": modules,
    }))
}

/// What other hosts report about their snapshots, as JSON inside a string.
fn snapshot(context: &RequestContext, params: &Params) -> RpcResult {
    params.none()?;
    let newest = newest(context)?;
    let told = json!({
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
    to_raw(&told.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tagged(text: &str) -> Result<Option<Height>, i64> {
        let params = Params::parse(Some(serde_json::from_str(text).unwrap())).unwrap();
        let told = height_and_hash(&params, 0).map_err(|error| error.code)?;
        Ok(told.map(|(height, _)| height))
    }

    /// row MR09
    #[test]
    fn a_tag_is_a_height_in_any_writing_or_the_newest() {
        for newest in ["[]", "[null]", "[\"latest\"]", "[\"0x\"]", "[\"\"]", "[\"latest:00ab\"]"] {
            assert_eq!(tagged(newest), Ok(None), "{newest}");
        }
        for (text, height) in
            [("[7]", 7), ("[\"7\"]", 7), ("[\"7:00ab\"]", 7), ("[0]", 0), ("[\"99999999999\"]", Height::MAX)]
        {
            assert_eq!(tagged(text), Ok(Some(height)), "{text}");
        }
        for text in ["[-1]", "[1.5]", "[\"x\"]", "[\"+7\"]", "[\"earliest\"]", "[{}]", "[[]]", "[true]"] {
            assert_eq!(tagged(text), Err(-32602), "{text}");
        }
    }
}
