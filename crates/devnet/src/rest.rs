//! The REST routes of Bitcoin Core, byte for byte: blocks, headers, transactions, spent outputs, the mempool.

use std::str::FromStr;
use std::sync::Arc;

use bitcoin::consensus::encode::{Decodable, Encodable, VarInt, serialize};
use bitcoin::hex::DisplayHex;
use bitcoin::{BlockHash, OutPoint, Txid};
use bytes::Bytes;
use serde_json::{Value, json};

use crate::node::{BlockEntry, Coin, MEMPOOL_HEIGHT, Node};
use crate::rpc::render::{Detail, block_json, btc, header_json, transaction_json};
use crate::rpc::{chain_info, contents, decode_hex, mempool_info, script_json};

/// Most headers in one answer.
const HEADERS_MAX: usize = 2000;
/// Most outpoints in one question.
const OUTPOINTS_MAX: usize = 15;

/// An answer of the REST server.
pub(crate) struct RestAnswer {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) body: Bytes,
}

type RestResult = Result<RestAnswer, RestAnswer>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Binary,
    Hex,
    Json,
    Unknown,
}

fn refuse(status: u16, message: impl Into<String>) -> RestAnswer {
    RestAnswer { status, content_type: "text/plain", body: format!("{}\r\n", message.into()).into() }
}

fn unknown_format(available: &str) -> RestAnswer {
    refuse(404, format!("output format not found (available: {available})"))
}

fn json_answer(value: &Value) -> RestAnswer {
    RestAnswer { status: 200, content_type: "application/json", body: format!("{value}\n").into() }
}

/// The answer in the wanted format; `value` is made only for JSON.
fn render(format: Format, bytes: impl Into<Bytes>, value: impl FnOnce() -> Value) -> RestResult {
    match format {
        Format::Binary => Ok(RestAnswer { status: 200, content_type: "application/octet-stream", body: bytes.into() }),
        Format::Hex => {
            let text = format!("{:x}\n", bytes.into().as_hex());
            Ok(RestAnswer { status: 200, content_type: "text/plain", body: text.into() })
        }
        Format::Json => Ok(json_answer(&value())),
        Format::Unknown => Err(unknown_format(".bin, .hex, .json")),
    }
}

/// Takes the suffix off that names the format.
fn split_format(path: &str) -> (&str, Format) {
    match path.rsplit_once('.') {
        Some((path, "bin")) => (path, Format::Binary),
        Some((path, "hex")) => (path, Format::Hex),
        Some((path, "json")) => (path, Format::Json),
        _ => (path, Format::Unknown),
    }
}

fn query<'a>(query: &'a str, name: &str) -> Option<&'a str> {
    query.split('&').find_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (key == name).then_some(value)
    })
}

fn parse_hash<T: FromStr>(text: &str) -> Result<T, RestAnswer> {
    let shown = || text.chars().filter(char::is_ascii).take(100).collect::<String>();
    let valid = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    text.parse().ok().filter(|_| valid).ok_or_else(|| refuse(400, format!("Invalid hash: {}", shown())))
}

/// Answers a request to `path` (which starts with `/rest/`).
pub(crate) fn answer(node: &Node, path: &str, query: &str, body: &[u8]) -> RestAnswer {
    let rest = path.strip_prefix("/rest/").unwrap_or_default();
    let below = |prefix: &str| rest.strip_prefix(prefix);
    let result = if let Some(part) = below("tx/") {
        transaction(node, part)
    } else if let Some(part) = below("block/notxdetails/") {
        block(node, part, 1, None)
    } else if let Some(part) = below("block/") {
        block(node, part, 3, None)
    } else if let Some(part) = below("blockpart/") {
        block_part(node, part, query)
    } else if let Some(part) = below("headers/") {
        headers(node, part, query)
    } else if let Some(part) = below("blockhashbyheight/") {
        block_hash_by_height(node, part)
    } else if let Some(part) = below("spenttxouts/") {
        spent_outputs(node, part)
    } else if let Some(part) = below("mempool/") {
        mempool(node, part, query)
    } else if let Some(part) = below("chaininfo") {
        match split_format(part).1 {
            Format::Json => Ok(json_answer(&chain_info(&node.read()))),
            _ => Err(unknown_format("json")),
        }
    } else if let Some(part) = below("getutxos") {
        unspent_outputs(node, part, body)
    } else {
        Err(RestAnswer { status: 404, content_type: "text/html; charset=ISO-8859-1", body: Bytes::new() })
    };
    result.unwrap_or_else(|refusal| refusal)
}

fn block(node: &Node, part: &str, verbosity: i64, range: Option<(usize, usize)>) -> RestResult {
    let (text, format) = split_format(part);
    let hash: BlockHash = parse_hash(text)?;
    let state = node.read();
    let entry = state.chain.block(&hash).ok_or_else(|| refuse(404, format!("{text} not found")))?;
    let bytes = match range {
        None => entry.bytes.clone(),
        Some((offset, size)) => match offset.checked_add(size) {
            Some(end) if size > 0 && end <= entry.bytes.len() => entry.bytes.slice(offset..end),
            _ => return Err(refuse(400, format!("Bad block part offset/size {offset}/{size} for {text}"))),
        },
    };
    if range.is_some() && format == Format::Json {
        return Err(refuse(400, "JSON output is not supported for this request type"));
    }
    render(format, bytes, || Value::Object(block_json(&state.chain, entry, verbosity)))
}

fn block_part(node: &Node, part: &str, text: &str) -> RestResult {
    let number = |name: &str| query(text, name).filter(|value| value.len() <= 18).and_then(|value| value.parse().ok());
    let offset = number("offset").ok_or_else(|| refuse(400, "Block part offset missing or invalid"))?;
    let size = number("size").ok_or_else(|| refuse(400, "Block part size missing or invalid"))?;
    block(node, part, 0, Some((offset, size)))
}

fn headers(node: &Node, part: &str, text: &str) -> RestResult {
    let (path, format) = split_format(part);
    let (count, hash) = match path.split_once('/') {
        None => (query(text, "count").unwrap_or("5"), path),
        Some((count, hash)) if !hash.contains('/') => (count, hash),
        Some(_) => {
            return Err(refuse(400, "Invalid URI format. Expected /rest/headers/<hash>.<ext>?count=<count>"));
        }
    };
    let count: usize = count.parse().ok().filter(|count| (1..=HEADERS_MAX).contains(count)).ok_or_else(|| {
        let shown: String = count.chars().take(32).collect();
        refuse(400, format!("Header count is invalid or out of acceptable range (1-{HEADERS_MAX}): {shown}"))
    })?;
    let hash: BlockHash = parse_hash(hash)?;
    let state = node.read();
    let chain = &state.chain;
    let first = chain.block(&hash).filter(|_| chain.is_main(&hash)).map_or(usize::MAX, |entry| entry.height as usize);
    let entries: Vec<&BlockEntry> =
        chain.main().iter().skip(first).take(count).filter_map(|hash| chain.block(hash)).collect();
    let bytes: Vec<u8> = entries.iter().flat_map(|entry| serialize(&entry.block.header)).collect();
    render(format, bytes, || {
        Value::Array(entries.iter().map(|entry| Value::Object(header_json(chain, entry))).collect())
    })
}

fn block_hash_by_height(node: &Node, part: &str) -> RestResult {
    let (text, format) = split_format(part);
    let height = text.parse::<i32>().ok().and_then(|height| u32::try_from(height).ok()).ok_or_else(|| {
        let shown: String = text.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(32).collect();
        refuse(400, format!("Invalid height: {shown}"))
    })?;
    let hash = node.block_hash(height).ok_or_else(|| refuse(404, "Block height out of range"))?;
    if format == Format::Hex {
        return Ok(RestAnswer { status: 200, content_type: "text/plain", body: format!("{hash}\n").into() });
    }
    render(format, serialize(&hash), || json!({"blockhash": hash.to_string()}))
}

fn transaction(node: &Node, part: &str) -> RestResult {
    let (text, format) = split_format(part);
    let txid: Txid = parse_hash(text)?;
    let state = node.read();
    if let Some(entry) = state.mempool.get(&txid) {
        let tx = Arc::clone(&entry.tx);
        return render(format, serialize(&*tx), || Value::Object(transaction_json(&tx, None, Detail::Fee, true)));
    }
    let found = state.chain.transaction_block(&txid).and_then(|hash| {
        let entry = state.chain.block(&hash)?;
        let index = entry.txids.iter().position(|known| *known == txid)?;
        Some((hash, &entry.block.txdata[index]))
    });
    let (hash, tx) = found.ok_or_else(|| refuse(404, format!("{text} not found")))?;
    render(format, serialize(tx), || {
        let mut object = transaction_json(tx, None, Detail::Fee, true);
        object.insert("blockhash".to_owned(), json!(hash.to_string()));
        Value::Object(object)
    })
}

fn spent_outputs(node: &Node, part: &str) -> RestResult {
    let (text, format) = split_format(part);
    if text.contains('/') {
        return Err(refuse(400, "Invalid URI format. Expected /rest/spenttxouts/<hash>.<ext>"));
    }
    let hash: BlockHash = parse_hash(text)?;
    let state = node.read();
    let entry = state.chain.block(&hash).ok_or_else(|| refuse(404, format!("{text} not found")))?;
    let spent = entry.spent.as_ref().ok_or_else(|| refuse(404, format!("{text} undo not available")))?;
    let mut bytes = Vec::new();
    // The coinbase has an empty list of its own.
    let lists = std::iter::once(&[][..]).chain(spent.iter().map(Vec::as_slice));
    push(&mut bytes, &VarInt::from(spent.len() + 1));
    for list in lists {
        push(&mut bytes, &VarInt::from(list.len()));
        for coin in list {
            push(&mut bytes, &coin.output);
        }
    }
    render(format, bytes, || {
        let shown = |coin: &Coin| {
            let script = script_json(&coin.output.script_pubkey, true);
            json!({"value": btc(coin.output.value.to_sat()), "scriptPubKey": script})
        };
        let lists = spent.iter().map(|list| Value::Array(list.iter().map(shown).collect()));
        Value::Array(std::iter::once(json!([])).chain(lists).collect())
    })
}

fn push(bytes: &mut Vec<u8>, value: &impl Encodable) {
    value.consensus_encode(bytes).expect("writing to memory never fails");
}

fn mempool(node: &Node, part: &str, text: &str) -> RestResult {
    let (name, format) = split_format(part);
    if name != "contents" && name != "info" {
        return Err(refuse(400, "Invalid URI format. Expected /rest/mempool/<info|contents>.json"));
    }
    if format != Format::Json {
        return Err(unknown_format("json"));
    }
    if name == "info" {
        return Ok(json_answer(&mempool_info(&node.read())));
    }
    let flag = |name: &str, default: bool| match query(text, name) {
        None => Ok(default),
        Some("true") => Ok(true),
        Some("false") => Ok(false),
        Some(_) => Err(refuse(400, format!("The \"{name}\" query parameter must be either \"true\" or \"false\"."))),
    };
    let (verbose, with_sequence) = (flag("verbose", true)?, flag("mempool_sequence", false)?);
    if verbose && with_sequence {
        let message = "Verbose results cannot contain mempool sequence values. (hint: set \"verbose=false\")";
        return Err(refuse(400, message));
    }
    Ok(json_answer(&contents(&node.read(), verbose, with_sequence)))
}

fn parse_outpoint(text: &str) -> Option<OutPoint> {
    let (txid, vout) = text.split_once('-')?;
    Some(OutPoint { txid: parse_hash(txid).ok()?, vout: vout.parse().ok()? })
}

fn unspent_outputs(node: &Node, part: &str, body: &[u8]) -> RestResult {
    let (path, format) = split_format(part);
    let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    if parts.is_empty() && body.is_empty() {
        return Err(refuse(400, "Error: empty request"));
    }
    let mut with_mempool = parts.first() == Some(&"checkmempool");
    if with_mempool {
        parts.remove(0);
    }
    let mut outpoints: Vec<OutPoint> = parts
        .iter()
        .map(|part| parse_outpoint(part))
        .collect::<Option<_>>()
        .ok_or_else(|| refuse(400, "Parse error"))?;
    match format {
        Format::Unknown => return Err(unknown_format(".bin, .hex, .json")),
        Format::Json if outpoints.is_empty() => return Err(refuse(400, "Error: empty request")),
        Format::Binary | Format::Hex if !body.is_empty() => {
            if !outpoints.is_empty() {
                let message = "Combination of URI scheme inputs and raw post data is not allowed";
                return Err(refuse(400, message));
            }
            let bytes = if format == Format::Hex {
                std::str::from_utf8(body).ok().and_then(|text| decode_hex(text.trim())).unwrap_or_default()
            } else {
                body.to_vec()
            };
            let mut reader = bytes.as_slice();
            let flag = bool::consensus_decode(&mut reader);
            let count = VarInt::consensus_decode(&mut reader);
            let (Ok(flag), Ok(count)) = (flag, count) else { return Err(refuse(400, "Parse error")) };
            with_mempool = flag;
            for _ in 0..count.0 {
                let outpoint = OutPoint::consensus_decode(&mut reader).map_err(|_| refuse(400, "Parse error"))?;
                outpoints.push(outpoint);
            }
        }
        _ => {}
    }
    if outpoints.len() > OUTPOINTS_MAX {
        let tried = outpoints.len();
        return Err(refuse(400, format!("Error: max outpoints exceeded (max: {OUTPOINTS_MAX}, tried: {tried})")));
    }
    unspent_answer(node, &outpoints, with_mempool, format)
}

fn unspent_answer(node: &Node, outpoints: &[OutPoint], with_mempool: bool, format: Format) -> RestResult {
    let state = node.read();
    let find = |outpoint: &OutPoint| {
        if with_mempool && state.mempool.spender(outpoint).is_some() {
            return None;
        }
        let confirmed = state.chain.coins.get(outpoint).cloned();
        confirmed.or_else(|| {
            let output = state.mempool.output(outpoint).filter(|_| with_mempool)?.clone();
            Some(Coin { output, height: MEMPOOL_HEIGHT, coinbase: false })
        })
    };
    let found: Vec<Option<Coin>> = outpoints.iter().map(find).collect();
    let mut bitmap = vec![0_u8; found.len().div_ceil(8)];
    for (index, _) in found.iter().enumerate().filter(|(_, coin)| coin.is_some()) {
        bitmap[index / 8] |= 1 << (index % 8);
    }
    let coins: Vec<&Coin> = found.iter().flatten().collect();
    let mut bytes = Vec::new();
    push(&mut bytes, &state.chain.height());
    push(&mut bytes, &state.chain.tip_hash());
    push(&mut bytes, &bitmap);
    push(&mut bytes, &VarInt::from(coins.len()));
    for coin in &coins {
        push(&mut bytes, &0_u32);
        push(&mut bytes, &coin.height);
        push(&mut bytes, &coin.output);
    }
    render(format, bytes, || {
        let utxos: Vec<Value> = coins
            .iter()
            .map(|coin| {
                json!({
                    "height": coin.height,
                    "value": btc(coin.output.value.to_sat()),
                    "scriptPubKey": script_json(&coin.output.script_pubkey, true),
                })
            })
            .collect();
        json!({
            "chainHeight": state.chain.height(),
            "chaintipHash": state.chain.tip_hash().to_string(),
            "bitmap": found.iter().map(|coin| if coin.is_some() { '1' } else { '0' }).collect::<String>(),
            "utxos": utxos,
        })
    })
}
