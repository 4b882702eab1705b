//! Routes about one address.

use std::sync::Arc;

use bitcoin::OutPoint;
use bitcoin::hex::DisplayHex as _;
use paraffin_bitcoin_index::BitcoinIndex;
use paraffin_primitives::Height;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use super::account::{AccountBalance, AccountUtxos};
use super::alkanes::alkanes_in;
use paraffin_bitcoin_surfaces::esplora::{
    AddressRoute, TransactionStatus, UnspentOutput, read, totals, unconfirmed_of, unspent,
};
use paraffin_gateway::api_types::{AddressText, Count, Digits, Time};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::interrupt::HeldRows;
use paraffin_gateway::methods::Hash;
use paraffin_gateway::rest::part::Part;
use paraffin_gateway::rest::{Base, Declared, Group, Route, Verb};
use paraffin_gateway::state::RequestContext;

pub(crate) static GROUP: Group = Group {
    tag: "Bitcoin",
    base: Base::Api,
    admit: |_| Ok(()),
    routes: &[
        Declared::of::<AddressBalance>(),
        Declared::of::<TaprootBalance>(),
        Declared::of::<AddressUtxos>(),
        Declared::of::<AccountBalance>(),
        Declared::of::<AccountUtxos>(),
        Declared::of::<TaprootHistory>(),
    ],
};

/// `totalTxs` when it is not given, and its cap (docs/api.md).
const HISTORY_DEFAULT: usize = 25;
const HISTORY_MAX: usize = 500;
pub(crate) const UTXOS_LIMIT_MAX: usize = 200_000;

/// Balance of an address, in satoshis.
#[derive(Deserialize, JsonSchema)]
struct AddressBalance {
    address: AddressText,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct AddressBalanceAnswer {
    address: String,
    balance: u64,
    /// Net change by unconfirmed transactions.
    unconfirmed_balance: i64,
    tx_count: u64,
}

impl Route for AddressBalance {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Post, "get-address-balance")];
    const EXAMPLE: &'static str = super::EXAMPLE_OF_ADDRESS;
    type Answer = AddressBalanceAnswer;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<AddressBalanceAnswer, ApiError> {
        let AddressText(address) = self.address;
        let totals = totals(context, &route(context, "address", &address)?.key).await?;
        Ok(AddressBalanceAnswer {
            address,
            balance: totals.chain.balance(),
            unconfirmed_balance: unconfirmed(&totals)?,
            tx_count: totals.chain.tx_count + totals.mempool.tx_count,
        })
    }
}

/// Balance of a taproot address, in satoshis.
#[derive(Deserialize, JsonSchema)]
struct TaprootBalance {
    address: AddressText,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Balance {
    pub(crate) balance: u64,
    /// Net change by unconfirmed transactions.
    pub(crate) unconfirmed_balance: i64,
}

impl Route for TaprootBalance {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Post, "get-taproot-balance")];
    const EXAMPLE: &'static str = super::EXAMPLE_OF_ADDRESS;
    type Answer = Balance;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Balance, ApiError> {
        let totals = totals(context, &taproot(context, "address", &self.address.0)?.key).await?;
        Ok(Balance { balance: totals.chain.balance(), unconfirmed_balance: unconfirmed(&totals)? })
    }
}

fn unconfirmed(totals: &paraffin_bitcoin_surfaces::esplora::Totals) -> Result<i64, ApiError> {
    i64::try_from(totals.unconfirmed_balance()).map_err(|error| ApiError::internal(&error))
}

/// The address in a field; an error names the field (docs/api.md).
fn route(context: &RequestContext, field: &str, text: &str) -> Result<AddressRoute, ApiError> {
    let route = AddressRoute::address(context, text).map_err(ApiError::from);
    route.map_err(|error| ApiError { message: format!("{field}: {}", error.message).into(), ..error })
}

fn taproot(context: &RequestContext, field: &str, text: &str) -> Result<AddressRoute, ApiError> {
    let route = route(context, field, text)?;
    if !route.script.as_ref().is_some_and(|script| script.is_p2tr()) {
        return Err(ApiError::invalid(format!("{field} must be a taproot address")));
    }
    Ok(route)
}

/// A text shared by many records.
#[derive(Clone, JsonSchema)]
#[schemars(inline, with = "String")]
pub(crate) struct SharedText(Arc<str>);

impl SharedText {
    pub(crate) fn new(text: &str) -> Self {
        Self(text.into())
    }
}

impl Serialize for SharedText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// An unspent output as the REST routes render it: Esplora's members and those of the formatted records that clients parse.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Utxo {
    tx_id: Hash,
    output_index: u32,
    satoshis: u64,
    /// The script in hexadecimal digits.
    #[schemars(extend("pattern" = "^([0-9a-f]{2})*$"))]
    script_pk: SharedText,
    /// `null` for a script that has no address form.
    address: Option<SharedText>,
    #[schemars(extend("const" = true))]
    indexed: bool,
    #[schemars(with = "Vec<Value>")]
    inscriptions: [(); 0],
    runes: Map<String, Value>,
    /// Alkanes of the output, block:tx to the amount.
    #[schemars(with = "std::collections::BTreeMap<String, HeldAlkane>")]
    alkanes: Map<String, Value>,
    confirmations: u32,
    txid: Hash,
    vout: u32,
    value: u64,
    #[schemars(with = "StatusShape")]
    status: TransactionStatus,
}

/// An alkane in an output.
#[derive(JsonSchema)]
#[schemars(inline)]
#[expect(dead_code, reason = "describes what is written elsewhere")]
struct HeldAlkane {
    balance: Digits,
    name: Option<String>,
    symbol: Option<String>,
}

/// Confirmation status of a transaction.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TransactionStatus")]
struct StatusShape {
    confirmed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    block_height: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Hash")]
    block_hash: Option<Hash>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    block_time: Option<u32>,
}

impl Utxo {
    pub(crate) fn new(output: &UnspentOutput, address: Option<SharedText>, script: SharedText, tip: Height) -> Self {
        let confirmations = output.status.height().map_or(0, |height| tip.saturating_sub(height) + 1);
        Self {
            tx_id: Hash::of(output.txid),
            output_index: output.vout,
            satoshis: output.value,
            script_pk: script,
            address,
            indexed: true,
            inscriptions: [],
            runes: Map::new(),
            alkanes: Map::new(),
            confirmations,
            txid: Hash::of(output.txid),
            vout: output.vout,
            value: output.value,
            status: output.status,
        }
    }

    /// Adds the alkanes in it, `"block:tx"` to `{balance, name, symbol}`.
    #[must_use]
    pub(crate) fn holding(mut self, alkanes: Map<String, Value>) -> Self {
        self.alkanes = alkanes;
        self
    }
}

pub(crate) fn outpoint_of(output: &UnspentOutput) -> OutPoint {
    OutPoint { txid: output.txid, vout: output.vout }
}

pub(crate) fn outpoints_of<'a>(outputs: impl Iterator<Item = &'a UnspentOutput>) -> Vec<OutPoint> {
    outputs.map(outpoint_of).collect()
}

/// Unspent outputs of an address, newest first.
#[derive(Deserialize, JsonSchema)]
struct AddressUtxos {
    address: AddressText,
    /// All when absent; more than 200,000 is taken as 200,000.
    limit: Option<Count>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct UtxoPage {
    pub(crate) utxos: Vec<Utxo>,
    /// Number of all outputs, including those beyond the limit.
    pub(crate) total: u64,
    /// Keeps the memory of the outputs counted.
    #[serde(skip)]
    #[schemars(skip)]
    #[expect(dead_code, reason = "held until the answer is written")]
    pub(crate) kept: HeldRows,
}

impl Route for AddressUtxos {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Post, "get-address-utxos")];
    const EXAMPLE: &'static str = super::EXAMPLE_OF_ADDRESS;
    type Answer = UtxoPage;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<UtxoPage, ApiError> {
        let AddressText(address) = &self.address;
        let limit = self.limit.map(|limit| limit.at_most(UTXOS_LIMIT_MAX));
        let route = route(context, "address", address)?;
        let (unspent, kept) = unspent(context, &route.key, limit).await?;
        let total = match limit {
            None => unspent.len() as u64,
            Some(_) => totals(context, &route.key).await?.unspent_count(),
        };
        let tip = context.tip().map_or(0, |tip| tip.height);
        let script = route.script.as_ref().map(|script| script.as_bytes().to_lower_hex_string()).unwrap_or_default();
        let (script, address) = (SharedText::new(&script), SharedText::new(address));
        let mut held = alkanes_in(context, outpoints_of(unspent.iter())).await?;
        let utxos = unspent.iter().map(|output| {
            Utxo::new(output, Some(address.clone()), script.clone(), tip)
                .holding(held.remove(&outpoint_of(output)).unwrap_or_default())
        });
        Ok(UtxoPage { utxos: utxos.collect(), total, kept })
    }
}

/// Transactions of a taproot address, unconfirmed first, then the newest.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TaprootHistory {
    taproot_address: AddressText,
    /// 25 when absent; more than 500 is taken as 500.
    total_txs: Option<Count>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct TaprootHistoryAnswer {
    transactions: Vec<HistoryItem>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct HistoryItem {
    txid: Hash,
    block_height: Option<Height>,
    timestamp: Option<Time>,
    fee: Option<u64>,
    /// Change of the address's balance by the transaction, in satoshis.
    #[schemars(with = "i64")]
    value: i128,
    confirmed: bool,
}

impl Route for TaprootHistory {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Post, "get-taproot-history")];
    const EXAMPLE: &'static str =
        r#"{"taprootAddress":"bcrt1p8wpt9v4frpf3tkn0srd97pksgsxc5hs52lafxwru9kgeephvs7rqjeprhg"}"#;
    type Answer = TaprootHistoryAnswer;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<TaprootHistoryAnswer, ApiError> {
        let route = taproot(context, "taprootAddress", &self.taproot_address.0)?;
        let count = self.total_txs.map_or(HISTORY_DEFAULT, |count| count.at_most(HISTORY_MAX));
        let mut transactions = Vec::new();
        for (txid, pending) in unconfirmed_of(context, &route.key).await?.into_iter().take(count) {
            let (received, sent) = pending.effect(&route.key);
            transactions.push(HistoryItem {
                txid: Hash::of(txid),
                block_height: None,
                timestamp: None,
                fee: pending.fee(),
                value: i128::from(received) - i128::from(sent),
                confirmed: false,
            });
        }
        let count = count - transactions.len();
        let rows = read(context, move |index: &BitcoinIndex| {
            let mut rows = Vec::new();
            for location in index.history(&route.key, None, count)? {
                rows.push((location, index.script_effect(&route.key, &location)?));
            }
            Ok(rows)
        })
        .await?;
        for (location, effect) in rows {
            transactions.push(HistoryItem {
                txid: Hash::of(location.txid),
                block_height: Some(location.height),
                timestamp: Some(Time::of(location.block_time)?),
                fee: effect.fee,
                value: i128::from(effect.received) - i128::from(effect.sent),
                confirmed: true,
            });
        }
        Ok(TaprootHistoryAnswer { transactions })
    }
}
