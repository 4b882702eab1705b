//! Requests of `tx` to an instance, and validation of the answers.
//!
//! Values and scripts of coins are checked against the transactions that made them, whose ids cannot be forged. What a
//! coin carries cannot be checked; where the instance does not say, the coin counts as unknown.

use std::collections::{BTreeMap, BTreeSet};

use bitcoin::consensus::encode::{deserialize_hex, serialize_hex};
use bitcoin::hashes::Hash as _;
use bitcoin::hex::DisplayHex as _;
use bitcoin::{Amount, Block, OutPoint, ScriptBuf, Transaction, TxOut, Txid};
use paraffin_alkanes::codec::Cellpack;
use paraffin_primitives::{AlkaneId, Network};
use paraffin_wallet::{Alkanes, Coin, FeeRate, Ordinals};
use serde_json::{Map, Value, json};

use super::outcome::clean;
use crate::client::{CallError, Client, MethodCall, Refusal};

/// Requests in one batch; the instance takes up to 1,000.
const BATCH_MAX: usize = 500;

/// Most coins of an address that are looked at.
const COINS_MAX: usize = 20_000;

/// The confirmation target whose estimate is paid, in blocks.
const FEE_TARGET_BLOCKS: &str = "3";

/// The API of an instance; tests use canned answers instead.
pub(super) trait Endpoint {
    /// Results in the order of the calls.
    async fn methods(&self, calls: Vec<MethodCall>) -> Result<Vec<Result<Value, Refusal>>, CallError>;
    /// The data of a route.
    async fn route(&self, route: &'static str, body: Value) -> Result<Value, CallError>;
}

impl Endpoint for Client {
    async fn methods(&self, calls: Vec<MethodCall>) -> Result<Vec<Result<Value, Refusal>>, CallError> {
        let mut results = Vec::with_capacity(calls.len());
        for batch in calls.chunks(BATCH_MAX) {
            results.extend(Self::methods(self, batch).await?);
        }
        Ok(results)
    }

    async fn route(&self, route: &'static str, body: Value) -> Result<Value, CallError> {
        Self::route(self, route, &body).await
    }
}

/// A message to simulate.
pub(super) struct Attempt<'a> {
    pub cellpack: &'a Cellpack,
    pub incoming: &'a Alkanes,
    /// The transaction and the shadow output, pointer and refund of the message in it.
    pub within: Option<(&'a Transaction, u32, u32, u32)>,
}

/// The network, as the node reports it.
pub(super) async fn network(endpoint: &impl Endpoint) -> Result<Network, CallError> {
    let info = one(endpoint, "btc_getblockchaininfo", json!([])).await?;
    let chain = info.get("chain").and_then(Value::as_str).unwrap_or_default();
    let known = Network::ALL.into_iter().find(|network| network.core_name() == chain);
    known.ok_or_else(|| nonsense("btc_getblockchaininfo", "the chain is not one of main, signet, regtest"))
}

/// The instance's estimate.
pub(super) async fn fee_rate(endpoint: &impl Endpoint) -> Result<FeeRate, CallError> {
    let estimates = one(endpoint, "esplora_fee-estimates", json!([])).await?;
    let estimate = estimates.get(FEE_TARGET_BLOCKS).filter(|estimate| estimate.is_number());
    let advice = "no estimate of a feerate: give one with --fee-rate";
    let text = estimate.ok_or_else(|| nonsense("esplora_fee-estimates", advice))?.to_string();
    // More decimals than three are rounded up.
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    let kept = decimals.get(..3.min(decimals.len())).unwrap_or_default();
    let rate: FeeRate = format!("{whole}.{kept}")
        .parse()
        .map_err(|_| nonsense("esplora_fee-estimates", &format!("{text}; {advice}")))?;
    let cut = decimals.get(3..).is_some_and(|rest| rest.bytes().any(|digit| digit != b'0'));
    let rounded = rate.sats_per_kvb() + u64::from(cut);
    Ok(FeeRate::from_sats_per_kvb(rounded).unwrap_or(FeeRate::MAX))
}

/// The coins of an address with what is known of their content.
pub(super) async fn coins(endpoint: &impl Endpoint, address: &str, script: &ScriptBuf) -> Result<Vec<Coin>, CallError> {
    const ROUTE: &str = "get-address-utxos";
    let page = endpoint.route(ROUTE, json!({ "address": address })).await?;
    let list = page.get("utxos").and_then(Value::as_array).ok_or_else(|| nonsense(ROUTE, "no list of utxos"))?;
    if list.len() > COINS_MAX {
        return Err(nonsense(ROUTE, &format!("more than {COINS_MAX} coins: merge some of them in a wallet first")));
    }
    let mut coins = Vec::with_capacity(list.len());
    for record in list {
        coins.push(coin(record, script).map_err(|what| nonsense(ROUTE, &what))?);
    }
    // Requested before the contents, so that the height is never above that of the contents.
    let indexed = alkanes_height(endpoint).await?;
    let confirmed: Vec<usize> = (0..coins.len()).filter(|at| coins[*at].confirmations > 0).collect();
    let of = |method: &'static str, params: fn(&OutPoint) -> Value| -> Vec<MethodCall> {
        confirmed.iter().map(|at| (method, params(&coins[*at].outpoint))).collect()
    };
    let alkanes = of("alkanes_protorunesbyoutpoint", |at| json!([{ "txid": at.txid, "vout": at.vout }]));
    let ordinals = of("ord_output", |at| json!([at.to_string()]));
    let alkanes = endpoint.methods(alkanes).await?;
    let ordinals = endpoint.methods(ordinals).await?;
    for ((at, alkanes), ordinals) in confirmed.into_iter().zip(alkanes).zip(ordinals) {
        let height = list[at].pointer("/status/block_height").and_then(unsigned);
        if height.is_some_and(|height| indexed.is_some_and(|indexed| height <= indexed)) {
            merge_alkanes(&mut coins[at], alkanes)?;
        }
        merge_ordinals(&mut coins[at], ordinals)?;
    }
    Ok(coins)
}

fn coin(record: &Value, script: &ScriptBuf) -> Result<Coin, String> {
    let text = |name: &str| record.get(name).and_then(Value::as_str);
    let integer = |names: [&str; 2]| names.iter().find_map(|name| record.get(*name)).and_then(Value::as_u64);
    let txid: Txid =
        text("txid").or_else(|| text("txId")).and_then(|txid| txid.parse().ok()).ok_or("a coin without a txid")?;
    let vout = integer(["vout", "outputIndex"]).and_then(|vout| u32::try_from(vout).ok());
    let sats = integer(["value", "satoshis"]).filter(|sats| *sats <= Amount::MAX_MONEY.to_sat());
    let confirmations = record.get("confirmations").and_then(Value::as_u64);
    let (Some(vout), Some(sats), Some(confirmations)) = (vout, sats, confirmations) else {
        return Err(format!("the coin of {txid} lacks vout, value or confirmations"));
    };
    let mut alkanes = Alkanes::default();
    for (id, held) in record.get("alkanes").and_then(Value::as_object).unwrap_or(&Map::new()) {
        let amount = held.get("balance").and_then(unsigned);
        let (Ok(id), Some(amount)) = (id.parse(), amount) else { return Err(format!("the alkanes of {txid}:{vout}")) };
        alkanes.add(id, amount).map_err(|error| error.to_string())?;
    }
    let held = names_of(record);
    Ok(Coin {
        outpoint: OutPoint { txid, vout },
        output: TxOut { value: Amount::from_sat(sats), script_pubkey: script.clone() },
        confirmations: u32::try_from(confirmations).unwrap_or(u32::MAX),
        immature: false,
        // An empty list may mean that the content was not looked up.
        alkanes: (!alkanes.is_empty()).then_some(alkanes),
        ordinals: if held.is_empty() { Ordinals::Unknown } else { Ordinals::Held(held) },
    })
}

/// Inscriptions and runes of a record, as people know them.
fn names_of(record: &Value) -> Vec<String> {
    let inscriptions = record.get("inscriptions").and_then(Value::as_array).into_iter().flatten();
    let name = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut names: Vec<String> = inscriptions.map(|value| format!("inscription {}", name(value))).collect();
    match record.get("runes") {
        Some(Value::Object(runes)) => names.extend(runes.keys().map(|rune| format!("rune {rune}"))),
        Some(Value::Array(runes)) => names.extend(runes.iter().map(|rune| format!("rune {}", name(rune)))),
        _ => {}
    }
    names
}

/// The newest height of the contract index, which may be behind that of the coins; `None` where there is none.
async fn alkanes_height(endpoint: &impl Endpoint) -> Result<Option<u128>, CallError> {
    Ok(maybe(endpoint, "metashrew_height", json!([])).await?.as_ref().and_then(unsigned))
}

/// Takes over what an output holds. An answer that does not know the output's value has not seen the output: nothing is
/// learnt from it.
fn merge_alkanes(coin: &mut Coin, answer: Result<Value, Refusal>) -> Result<(), CallError> {
    const METHOD: &str = "alkanes_protorunesbyoutpoint";
    let answer = match answer {
        Ok(answer) => answer,
        Err(refusal) if refusal.is_unknown() => return Ok(()),
        Err(refusal) => return Err(refusal.into()),
    };
    let balances = answer.pointer("/balance_sheet/cached/balances").and_then(Value::as_array);
    let balances = balances.ok_or_else(|| nonsense(METHOD, "no balances"))?;
    if answer.pointer("/output/value").and_then(unsigned) != Some(coin.sats().into()) {
        return Ok(());
    }
    let mut held = Alkanes::default();
    for balance in balances {
        let part = |name: &str| balance.get(name).and_then(unsigned);
        let (Some(block), Some(tx), Some(amount)) = (part("block"), part("tx"), part("amount")) else {
            return Err(nonsense(METHOD, "a balance without block, tx or amount"));
        };
        held.add(AlkaneId { block, tx }, amount).map_err(|error| nonsense(METHOD, &error.to_string()))?;
    }
    if coin.alkanes.as_ref().is_some_and(|listed| *listed != held) {
        let outpoint = coin.outpoint;
        return Err(nonsense(
            METHOD,
            &format!("{outpoint} carries something else than the list of coins says; try again"),
        ));
    }
    coin.alkanes = Some(held);
    Ok(())
}

fn merge_ordinals(coin: &mut Coin, answer: Result<Value, Refusal>) -> Result<(), CallError> {
    match answer {
        Ok(answer) => {
            let held = names_of(&answer);
            if !held.is_empty() {
                coin.ordinals = Ordinals::Held(held);
            } else if answer.get("indexed") == Some(&Value::Bool(true)) && coin.ordinals == Ordinals::Unknown {
                coin.ordinals = Ordinals::None;
            }
            Ok(())
        }
        Err(refusal) if refusal.is_unknown() => Ok(()),
        Err(refusal) => Err(refusal.into()),
    }
}

/// The transactions themselves; their ids are computed anew.
pub(super) async fn transactions(
    endpoint: &impl Endpoint,
    txids: &BTreeSet<Txid>,
) -> Result<BTreeMap<Txid, Transaction>, CallError> {
    const METHOD: &str = "esplora_tx::hex";
    let calls = txids.iter().map(|txid| (METHOD, json!([txid]))).collect();
    let mut transactions = BTreeMap::new();
    for (txid, answer) in txids.iter().zip(endpoint.methods(calls).await?) {
        let answer = answer?;
        let transaction: Option<Transaction> = answer.as_str().and_then(|hex| deserialize_hex(hex).ok());
        let transaction = transaction.filter(|transaction| transaction.compute_txid() == *txid);
        let transaction = transaction.ok_or_else(|| nonsense(METHOD, &format!("not the transaction {txid}")))?;
        transactions.insert(*txid, transaction);
    }
    Ok(transactions)
}

/// Runs a message without a block; `None` where the instance cannot.
pub(super) async fn simulate(endpoint: &impl Endpoint, attempt: &Attempt<'_>) -> Result<Option<Value>, CallError> {
    let id = |id: AlkaneId| json!({ "block": id.block.to_string(), "tx": id.tx.to_string() });
    let alkanes: Vec<Value> =
        attempt.incoming.iter().map(|(held, value)| json!({ "id": id(held), "value": value.to_string() })).collect();
    let inputs: Vec<String> = attempt.cellpack.inputs.iter().map(u128::to_string).collect();
    let (transaction, vout, pointer, refund) = match attempt.within {
        Some((transaction, vout, pointer, refund)) => (serialize_hex(transaction), vout, pointer, refund),
        None => (String::new(), 0, 0, 0),
    };
    let block = match attempt.within {
        Some((transaction, ..)) => next_block(endpoint, transaction).await?.map(|block| serialize_hex(&block)),
        None => None,
    };
    let request = json!([{
        "alkanes": alkanes, "transaction": format!("0x{transaction}"), "block": format!("0x{}", block.as_deref().unwrap_or_default()), "txindex": u8::from(block.is_some()),
        "target": id(attempt.cellpack.target), "inputs": inputs,
        "vout": vout, "pointer": pointer, "refundPointer": refund,
    }]);
    maybe(endpoint, "alkanes_simulate", request).await
}

/// The newest block with this transaction as its only payment: contracts look at the reward of their block, and count what
/// is in it. `None` where the instance does not return it.
async fn next_block(endpoint: &impl Endpoint, transaction: &Transaction) -> Result<Option<Block>, CallError> {
    let Some(hash) = maybe(endpoint, "btc_getbestblockhash", json!([])).await? else { return Ok(None) };
    let Some(header) = maybe(endpoint, "btc_getblockheader", json!([hash, false])).await? else { return Ok(None) };
    let Some(txid) = maybe(endpoint, "esplora_block::txid", json!([hash, 0])).await? else { return Ok(None) };
    let Some(reward) = maybe(endpoint, "esplora_tx::hex", json!([txid])).await? else { return Ok(None) };
    let header = header.as_str().and_then(|hex| deserialize_hex(hex).ok());
    let header = header.ok_or_else(|| nonsense("btc_getblockheader", "no block header"))?;
    let reward = reward.as_str().and_then(|hex| deserialize_hex(hex).ok());
    let reward = reward.ok_or_else(|| nonsense("esplora_tx::hex", "no transaction"))?;
    Ok(Some(Block { header, txdata: vec![reward, transaction.clone()] }))
}

/// The result of a method; `None` where the instance does not have it.
async fn maybe(endpoint: &impl Endpoint, method: &'static str, params: Value) -> Result<Option<Value>, CallError> {
    match one(endpoint, method, params).await {
        Ok(answer) => Ok(Some(answer)),
        Err(CallError::Refused(refusal)) if refusal.is_unknown() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Asks the node whether it would take these transactions together.
pub(super) async fn accepts(endpoint: &impl Endpoint, transactions: &[&Transaction]) -> Result<(), CallError> {
    const METHOD: &str = "btc_testmempoolaccept";
    let raw: Vec<String> = transactions.iter().map(|transaction| serialize_hex(*transaction)).collect();
    let answer = one(endpoint, METHOD, json!([raw])).await?;
    let verdicts = answer.as_array().filter(|verdicts| verdicts.len() == transactions.len());
    let verdicts = verdicts.ok_or_else(|| nonsense(METHOD, "not one verdict for each transaction"))?;
    for (position, verdict) in verdicts.iter().enumerate() {
        if verdict.get("allowed") == Some(&Value::Bool(true)) {
            continue;
        }
        let reason = ["reject-reason", "package-error"].iter().find_map(|name| verdict.get(*name)?.as_str());
        // A node may look at each transaction alone, and then it misses what the one before makes.
        if position > 0 && reason == Some("missing-inputs") {
            continue;
        }
        let reason = clean(reason.unwrap_or("no reason given"));
        return Err(CallError::Answer(format!("the node would not take it: {reason}; nothing was sent")));
    }
    Ok(())
}

/// Hands a transaction to the node.
pub(super) async fn broadcast(endpoint: &impl Endpoint, transaction: &Transaction) -> Result<(), CallError> {
    one(endpoint, "btc_sendrawtransaction", json!([serialize_hex(transaction)])).await.map(drop)
}

/// Whether a transaction is in a block.
pub(super) async fn is_confirmed(endpoint: &impl Endpoint, txid: Txid) -> Result<bool, CallError> {
    match one(endpoint, "esplora_tx::status", json!([txid])).await {
        Ok(status) => Ok(status.get("confirmed") == Some(&Value::Bool(true))),
        // Not seen yet.
        Err(CallError::Refused(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The trace of the message at a shadow output; `None` where the instance has none.
pub(super) async fn trace(endpoint: &impl Endpoint, txid: Txid, vout: u32) -> Result<Option<Value>, CallError> {
    // The method takes the bytes of the id as they stand in a transaction, the reverse of how ids are written.
    let internal = txid.to_byte_array().to_lower_hex_string();
    match one(endpoint, "alkanes_trace", json!([{ "txid": internal, "vout": vout }])).await {
        Ok(Value::Array(events)) if events.is_empty() => Ok(None),
        Ok(trace) => Ok(Some(trace)),
        Err(CallError::Refused(refusal)) if refusal.is_unknown() => Ok(None),
        Err(error) => Err(error),
    }
}

async fn one(endpoint: &impl Endpoint, method: &'static str, params: Value) -> Result<Value, CallError> {
    let mut answers = endpoint.methods(vec![(method, params)]).await?;
    Ok(answers.pop().ok_or_else(|| nonsense(method, "no answer"))??)
}

fn nonsense(method: &str, what: &str) -> CallError {
    CallError::Answer(format!("{method} gives an answer that cannot be used: {what}"))
}

/// An unsigned integer of up to 128 bits: a JSON number, decimal text, or hexadecimal text with `0x`.
pub(super) fn unsigned(value: &Value) -> Option<u128> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let digits_only = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    match text.strip_prefix("0x") {
        Some(digits) => digits_only(digits).then(|| u128::from_str_radix(digits, 16).ok()).flatten(),
        None => digits_only(&text).then(|| text.parse().ok()).flatten(),
    }
}

#[cfg(test)]
mod tests;
