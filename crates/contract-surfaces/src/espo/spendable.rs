//! Every unspent output of an address with all that a wallet needs to spend it, in one call.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use bitcoin::consensus::encode::serialize_hex;
use bitcoin::hex::DisplayHex as _;
use bitcoin::{OutPoint, Txid};
use paraffin_alkanes::views::{self, ViewError};
use paraffin_bitcoin_index::{
    BitcoinIndex, RawTransactions, ScriptKey, StoredTransactions, TransactionSource as _, TxLocation,
};
use paraffin_primitives::{Height, format_outpoint};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ask::{AtHeight, script};
use super::balances::{Entry, entries};
use super::failure::{Failure, Refusal};
use super::{Espo, EspoMethod, read};
use paraffin_bitcoin_surfaces::esplora::{self, NodeTransactions, unconfirmed_of};
use paraffin_gateway::alkanes::{self, Moment};
use paraffin_gateway::state::RequestContext;

/// Outputs in an answer that carries whole transactions.
const RAW_MAX: usize = 1_000;
/// Stands for a transaction that was not requested.
const OMITTED: &str = "0";

/// A base rune that an output holds.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "HeldBaseRune")]
struct Rune {
    id: String,
    /// Its name, where it is known.
    #[serde(rename = "rune")]
    name: Option<String>,
    /// Base units in decimal digits.
    amount: String,
}

/// An unspent output.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SpendableOutpoint")]
struct Spendable {
    /// `txid:vout`.
    outpoint: String,
    /// Satoshis.
    value: u64,
    script_pubkey_hex: String,
    /// `null` while its transaction is in no block.
    block_height: Option<u32>,
    /// Blocks from its own to the height of the answer, both included.
    confirmations: u32,
    coinbase: bool,
    alkanes: Vec<Entry>,
    runes: Vec<Rune>,
    /// The whole transaction in hexadecimal digits; `0` where it was not requested.
    raw_tx_hex: String,
    /// Whether its alkanes are known: `false` until its transaction is in a block.
    indexed: bool,
    #[serde(skip)]
    at: OutPoint,
    #[serde(skip)]
    location: Option<TxLocation>,
}

/// Every unspent output of an address with all that a wallet needs to spend it.
#[derive(Deserialize, JsonSchema)]
pub(super) struct SpendableOutpoints {
    /// An address of this instance's network.
    address: String,
    /// Block to answer as of; the newest when absent.
    height: Option<AtHeight>,
    /// Whether to include outputs of unconfirmed transactions; `false` when absent.
    include_unconfirmed: Option<bool>,
    /// `false` to include the whole transaction of each output, for 1,000 outputs at most.
    omit_raw_tx: Option<bool>,
}

/// The unspent outputs of an address.
#[derive(Serialize, JsonSchema)]
pub(super) struct SpendableOutpointsAnswer {
    ok: bool,
    address: String,
    /// Block height that the answer is as of.
    height: Height,
    /// Number of outputs.
    length: usize,
    outpoints: Vec<Spendable>,
}

impl EspoMethod for SpendableOutpoints {
    const NAME: &'static str = "essentials.get_address_spendable_outpoints";
    const ALIASES: &'static [&'static str] = &["get_address_spendable_outpoints"];
    const EXAMPLE: &'static str = r#"{"address":"bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"}"#;
    type Answer = SpendableOutpointsAnswer;

    async fn answer(self, context: &RequestContext, _espo: &Espo) -> Result<SpendableOutpointsAnswer, Failure> {
        outpoints(context, self).await
    }
}

async fn outpoints(context: &RequestContext, params: SpendableOutpoints) -> Result<SpendableOutpointsAnswer, Failure> {
    let script = script(context, &params.address)?;
    let height = AtHeight::resolve(params.height.as_ref(), alkanes::newest(context)?)?;
    let omit_raw = params.omit_raw_tx.unwrap_or(true);
    let unconfirmed_too = params.include_unconfirmed.unwrap_or(false);
    let is_newest = height == alkanes::newest(context)?;
    // Outputs that unconfirmed transactions spend are left out; a past height has no unconfirmed transactions.
    let key = ScriptKey::from_script(&script);
    let pending = if is_newest { unconfirmed_of(context, &key).await? } else { Vec::new() };
    let spent: HashSet<OutPoint> =
        pending.iter().flat_map(|(_, one)| one.transaction.input.iter().map(|input| input.previous_output)).collect();
    let (confirmed_script, is_spent) = (script.clone(), spent.clone());
    let confirmed = read(context, params.height.as_ref(), move |moment| {
        let held = views::held_by_address(&confirmed_script, true, &moment.view)?;
        held.into_iter()
            .filter(|held| !is_spent.contains(&held.outpoint))
            .map(|held| confirmed_output(moment, &held))
            .collect::<Result<Vec<_>, _>>()
    });
    let mut found = confirmed.await?;
    if unconfirmed_too {
        for (txid, one) in &pending {
            for (vout, output) in (0..).zip(&one.transaction.output) {
                let at = OutPoint { txid: *txid, vout };
                if output.script_pubkey != script || spent.contains(&at) {
                    continue;
                }
                found.push(Spendable {
                    outpoint: format_outpoint(&at),
                    value: output.value.to_sat(),
                    script_pubkey_hex: script.to_hex_string(),
                    block_height: None,
                    confirmations: 0,
                    coinbase: false,
                    alkanes: Vec::new(),
                    runes: Vec::new(),
                    raw_tx_hex: if omit_raw { OMITTED.to_owned() } else { serialize_hex(&one.transaction) },
                    indexed: false,
                    at,
                    location: None,
                });
            }
        }
    }
    found.sort_by_key(|output| output.at);
    if !omit_raw {
        add_transactions(context, &mut found).await?;
    }
    let length = found.len();
    Ok(SpendableOutpointsAnswer { address: params.address, height, length, ok: true, outpoints: found })
}

fn confirmed_output(moment: &Moment<'_>, held: &views::OutputHoldings) -> Result<Spendable, ViewError> {
    moment.check()?;
    let mut runes = Vec::new();
    for rune in moment.state.base_sheet(&held.outpoint)?.load().transfers() {
        let terms = views::rune(rune.id, &moment.view)?;
        runes.push(Rune {
            id: rune.id.to_string(),
            name: terms.map(|terms| terms.name),
            amount: rune.value.to_string(),
        });
    }
    let location = moment.bitcoin.transaction_location(&held.outpoint.txid);
    let location = location.map_err(|error| ViewError::Chain(error.into()))?;
    Ok(Spendable {
        outpoint: format_outpoint(&held.outpoint),
        value: held.placed.output.value.to_sat(),
        script_pubkey_hex: held.placed.output.script_pubkey.to_hex_string(),
        block_height: Some(held.placed.height),
        confirmations: moment.view.height.saturating_sub(held.placed.height).saturating_add(1),
        coinbase: held.placed.index == 0,
        alkanes: entries(&held.alkanes),
        runes,
        raw_tx_hex: OMITTED.to_owned(),
        indexed: true,
        at: held.outpoint,
        location,
    })
}

/// The whole transaction of every output.
async fn add_transactions(context: &RequestContext, outputs: &mut [Spendable]) -> Result<(), Failure> {
    if outputs.len() > RAW_MAX {
        let hint = format!("an address with more than {RAW_MAX} unspent outputs is answered without omit_raw_tx:false");
        return Err(Refusal::new("too_many_outpoints", hint).into());
    }
    let locations: BTreeMap<Txid, TxLocation> =
        outputs.iter().filter_map(|output| Some((output.at.txid, output.location?))).collect();
    let wanted: Vec<TxLocation> = locations.values().copied().collect();
    let raw = match esplora::read(context, BitcoinIndex::raw_transactions).await? {
        _ if wanted.is_empty() => Vec::new(),
        Some(RawTransactions::Store) => {
            let read = context.read(move |snapshot| StoredTransactions::new(snapshot.clone()).read(&wanted)).await;
            read.map_err(esplora::Fault::from)?.map_err(esplora::Fault::from)?
        }
        Some(RawTransactions::Node) | None => {
            let fetched = NodeTransactions::new(Arc::clone(context.node())).fetch(wanted).await;
            fetched.map_err(esplora::Fault::from)?
        }
    };
    let by_id: BTreeMap<&Txid, String> =
        locations.keys().zip(raw).map(|(txid, raw)| (txid, raw.to_lower_hex_string())).collect();
    for output in outputs.iter_mut().filter(|output| output.location.is_some()) {
        if let Some(raw) = by_id.get(&output.at.txid) {
            output.raw_tx_hex.clone_from(raw);
        }
    }
    Ok(())
}
