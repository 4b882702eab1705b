use std::borrow::Cow;

use bitcoin::OutPoint;
use bitcoin::hex::DisplayHex as _;
use paraffin_bitcoin_index::BitcoinIndex;
use paraffin_bitcoin_index::esplora::{TransactionStatus, UnspentOutput};
use paraffin_primitives::Height;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::alkanes::alkanes_in;
use super::{RestBody, RestResult};
use crate::errors::RestError;
use crate::respond::Reply;
use crate::state::{BoxFuture, RequestContext};
use crate::surfaces::esplora::{AddressRoute, read, totals, unconfirmed_of, unspent};

/// `totalTxs` when it is not given, and its cap (docs/api.md).
const HISTORY_DEFAULT: usize = 25;
const HISTORY_MAX: usize = 500;
pub(super) const UTXOS_LIMIT_MAX: usize = 200_000;

/// POST `/get-address-balance`.
pub(super) fn balance(context: &RequestContext, body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let address = body.text("address")?;
        let totals = totals(context, &route(context, "address", address)?.key).await?;
        Reply::enveloped(&json!({
            "address": address,
            "balance": totals.chain.balance(),
            "unconfirmedBalance": unconfirmed(&totals)?,
            "txCount": totals.chain.tx_count + totals.mempool.tx_count,
        }))
    })
}

/// POST `/get-taproot-balance`.
pub(super) fn taproot_balance(context: &RequestContext, body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let totals = totals(context, &taproot(context, "address", body.text("address")?)?.key).await?;
        Reply::enveloped(&json!({ "balance": totals.chain.balance(), "unconfirmedBalance": unconfirmed(&totals)? }))
    })
}

fn unconfirmed(totals: &crate::surfaces::esplora::Totals) -> Result<i64, RestError> {
    i64::try_from(totals.unconfirmed_balance()).map_err(|error| RestError::internal(&error))
}

/// The address in a field; a refusal names the field (docs/api.md).
fn route(context: &RequestContext, field: &str, text: &str) -> Result<AddressRoute, RestError> {
    let route = AddressRoute::address(context, text).map_err(RestError::from);
    route.map_err(|error| RestError { message: format!("{field}: {}", error.message).into(), ..error })
}

fn taproot(context: &RequestContext, field: &str, text: &str) -> Result<AddressRoute, RestError> {
    let route = route(context, field, text)?;
    if !route.script.as_ref().is_some_and(|script| script.is_p2tr()) {
        return Err(RestError::bad_request(format!("{field} must be a taproot address")));
    }
    Ok(route)
}

/// An unspent output as the REST routes render it: Esplora's members and those of the formatted records that clients parse.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Utxo<'a> {
    tx_id: String,
    output_index: u32,
    satoshis: u64,
    script_pk: Cow<'a, str>,
    /// `null` for a script that has no address form.
    address: Option<Cow<'a, str>>,
    indexed: bool,
    inscriptions: [(); 0],
    runes: Map<String, Value>,
    alkanes: Map<String, Value>,
    confirmations: u32,
    txid: String,
    vout: u32,
    value: u64,
    status: TransactionStatus,
}

impl<'a> Utxo<'a> {
    pub(super) fn new<T: Into<Cow<'a, str>>>(
        output: &UnspentOutput,
        address: Option<T>,
        script: T,
        tip: Height,
    ) -> Self {
        let confirmations = output.status.block_height.map_or(0, |height| tip.saturating_sub(height) + 1);
        Self {
            tx_id: output.txid.to_string(),
            output_index: output.vout,
            satoshis: output.value,
            script_pk: script.into(),
            address: address.map(Into::into),
            indexed: true,
            inscriptions: [],
            runes: Map::new(),
            alkanes: Map::new(),
            confirmations,
            txid: output.txid.to_string(),
            vout: output.vout,
            value: output.value,
            status: output.status,
        }
    }

    /// The same with the alkanes in it, `"block:tx"` to `{balance, name, symbol}`.
    #[must_use]
    pub(super) fn holding(mut self, alkanes: Map<String, Value>) -> Self {
        self.alkanes = alkanes;
        self
    }
}

/// Described with the routes about addresses.
impl JsonSchema for Utxo<'_> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Utxo".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "$ref": "#/components/schemas/Utxo" })
    }
}

pub(super) fn outpoint_of(output: &UnspentOutput) -> OutPoint {
    OutPoint { txid: output.txid, vout: output.vout }
}

pub(super) fn outpoints_of<'a>(outputs: impl Iterator<Item = &'a UnspentOutput>) -> Vec<OutPoint> {
    outputs.map(outpoint_of).collect()
}

/// POST `/get-address-utxos`: everything unless `limit` is given.
pub(super) fn utxos(context: &RequestContext, body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let address = body.text("address")?;
        let limit = body.positive("limit", UTXOS_LIMIT_MAX)?;
        let route = route(context, "address", address)?;
        let (unspent, _kept) = unspent(context, &route.key, limit).await?;
        let total = match limit {
            None => unspent.len() as u64,
            Some(_) => totals(context, &route.key).await?.unspent_count(),
        };
        let tip = context.tip().map_or(0, |tip| tip.height);
        let script = route.script.as_ref().map(|script| script.as_bytes().to_lower_hex_string()).unwrap_or_default();
        let mut held = alkanes_in(context, outpoints_of(unspent.iter())).await?;
        let utxos = unspent.iter().map(|output| {
            Utxo::new(output, Some(address), &script, tip)
                .holding(held.remove(&outpoint_of(output)).unwrap_or_default())
        });
        let utxos = utxos.collect();
        Reply::enveloped(&UtxoPage { utxos, total })
    })
}

#[derive(Serialize)]
pub(super) struct UtxoPage<'a> {
    pub(super) utxos: Vec<Utxo<'a>>,
    /// Also those that a limit left out.
    pub(super) total: u64,
}

/// POST `/get-taproot-history`: unconfirmed transactions, then the newest confirmed ones.
pub(super) fn taproot_history(context: &RequestContext, body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let route = taproot(context, "taprootAddress", body.text("taprootAddress")?)?;
        let count = body.positive("totalTxs", HISTORY_MAX)?.unwrap_or(HISTORY_DEFAULT);
        let mut transactions = Vec::new();
        for (txid, pending) in unconfirmed_of(context, &route.key).await?.into_iter().take(count) {
            let (received, sent) = pending.effect(&route.key);
            transactions.push(json!({
                "txid": txid.to_string(),
                "blockHeight": null,
                "timestamp": null,
                "fee": pending.fee(),
                "value": i128::from(received) - i128::from(sent),
                "confirmed": false,
            }));
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
            transactions.push(json!({
                "txid": location.txid.to_string(),
                "blockHeight": location.height,
                "timestamp": timestamp(location.block_time)?,
                "fee": effect.fee,
                "value": i128::from(effect.received) - i128::from(effect.sent),
                "confirmed": true,
            }));
        }
        Reply::enveloped(&json!({ "transactions": transactions }))
    })
}

/// RFC 3339 in UTC.
pub(super) fn timestamp(unix_seconds: u32) -> Result<String, RestError> {
    let format = &time::format_description::well_known::Rfc3339;
    let instant = time::OffsetDateTime::from_unix_timestamp(i64::from(unix_seconds))
        .map_err(|error| RestError::internal(&error))?;
    instant.format(format).map_err(|error| RestError::internal(&error))
}
