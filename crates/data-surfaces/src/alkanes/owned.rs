//! Balances of addresses and outputs.

use std::collections::{BTreeMap, HashSet};

use bitcoin::{OutPoint, Script};
use paraffin_alkanes::Transfer;
use paraffin_alkanes::views::{self, ViewError};
use paraffin_bitcoin_index::ScriptKey;
use paraffin_primitives::{format_outpoint, parse_outpoint};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::super::address::{SharedText, Utxo};
use super::fields::{ADDRESS_EXAMPLE, Flat, address_text, script};
use paraffin_bitcoin_surfaces::esplora::{UnspentOutput, unconfirmed_of};
use paraffin_gateway::alkanes::{self, Moment};
use paraffin_gateway::api_types::{AddressText, Digits, IdText, OutpointParam, OutpointText};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::markets::read_priced;
use paraffin_gateway::methods::ByName;
use paraffin_gateway::rest::part::Part;
use paraffin_gateway::rest::route::Pages;
use paraffin_gateway::rest::{Changes, Route, Verb, Wrapping};
use paraffin_gateway::state::RequestContext;
use paraffin_gateway::tokens::{ImageBudget, NamedAmount, Token, Words, named_amount, token, words};

/// Outputs and sums read from the index at once.
const PAGE: usize = 1_000;
const ALL_OR_PART: Option<Pages> = Some(Pages { default: None, max: 20_000 });
const OUTPOINT_EXAMPLE: &str = r#"{"outpoint":"4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b:0"}"#;

/// All balances of a script.
pub(crate) fn sums(moment: &Moment<'_>, script: &Script) -> Result<Vec<Transfer>, ViewError> {
    let (mut sums, mut after) = (Vec::new(), None);
    loop {
        moment.check()?;
        let page = moment.state.held_by_script(script, after.as_ref(), PAGE)?;
        sums.extend(page.items.into_iter().map(|held| Transfer { id: held.id, value: held.amount }));
        if sums.len() > moment.view.limits.records_max {
            return Err(ViewError::TooLarge);
        }
        after = page.next;
        if after.is_none() {
            return Ok(sums);
        }
    }
}

/// An unspent output with the alkanes in it.
pub(crate) struct Held {
    /// The output.
    pub(crate) outpoint: OutPoint,
    /// Satoshis.
    value: u64,
    /// Alkanes in it.
    pub(crate) alkanes: Vec<Transfer>,
}

/// A part of a script's unspent outputs with alkanes, oldest first. Its cost grows with its offset and length.
pub(crate) fn outputs(moment: &Moment<'_>, script: &Script, part: Part) -> Result<Vec<Held>, ViewError> {
    let wanted = part.offset.saturating_add(part.limit.unwrap_or(usize::MAX));
    let (mut seen, mut held, mut after) = (0_usize, Vec::new(), None);
    while seen < wanted {
        moment.check()?;
        let page = moment.state.outputs_of(script, after.as_ref(), PAGE.min(wanted - seen))?;
        for output in page.items {
            seen += 1;
            if seen <= part.offset {
                continue;
            }
            if held.len() >= moment.view.limits.records_max {
                return Err(ViewError::TooLarge);
            }
            let alkanes = moment.state.sheet(&output.outpoint)?.load().transfers();
            held.push(Held { outpoint: output.outpoint, value: output.value, alkanes });
        }
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    Ok(held)
}

async fn tokens_of(context: &RequestContext, address: &str, part: Part) -> Result<Vec<Token>, ApiError> {
    let script = script(context, address)?;
    let read = read_priced(context, move |moment, pricing| {
        let mut sums = sums(moment, &script)?;
        sums.sort_by(|one, other| other.value.cmp(&one.value).then(one.id.cmp(&other.id)));
        let (mut tokens, mut images) = (Vec::new(), ImageBudget::default());
        for sum in part.of(sums) {
            if let Some(token) = token(moment, pricing, sum.id)? {
                let mut token = images.allow(token);
                token.balance = Some(Digits(sum.value));
                tokens.push(token);
            }
        }
        Ok(tokens)
    });
    Ok(read.await?)
}

/// Alkanes that an address holds, the greatest amount first.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Tokens {
    address: AddressText,
}

impl Route for Tokens {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Post, "get-alkanes-by-address")];
    const EXAMPLE: &'static str = ADDRESS_EXAMPLE;
    const PAGES: Option<Pages> = ALL_OR_PART;
    type Answer = Vec<Token>;

    async fn answer(self, context: &RequestContext, part: Part) -> Result<Vec<Token>, ApiError> {
        tokens_of(context, &self.address.0, part).await
    }
}

/// Alkanes that an address holds, the greatest amount first.
#[derive(Deserialize, JsonSchema)]
pub(super) struct TokensByPath {
    address: AddressText,
}

impl Route for TokensByPath {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "address/{address}/alkanes")];
    const EXAMPLE: &'static str = ADDRESS_EXAMPLE;
    const CHANGES: Changes = Changes::WithPrices;
    type Answer = Vec<Token>;

    async fn answer(self, context: &RequestContext, all: Part) -> Result<Vec<Token>, ApiError> {
        tokens_of(context, &self.address.0, all).await
    }
}

/// `"block:tx"` to `{balance, name, symbol}`, as records of outputs show it.
pub(crate) fn alkanes_map(moment: &Moment<'_>, held: &[Transfer]) -> Result<Map<String, Value>, ViewError> {
    let mut map = Map::new();
    for transfer in held {
        let words = match moment.state.creation(transfer.id)? {
            Some(creation) => words(moment, creation)?,
            None => Words::default(),
        };
        map.insert(
            transfer.id.to_string(),
            json!({ "balance": transfer.value.to_string(), "name": words.name, "symbol": words.symbol }),
        );
    }
    Ok(map)
}

/// Alkanes of outputs, for records of outputs; empty where this instance does not index alkanes.
pub(crate) async fn alkanes_in(
    context: &RequestContext,
    outpoints: Vec<OutPoint>,
) -> Result<BTreeMap<OutPoint, Map<String, Value>>, ApiError> {
    if outpoints.is_empty() || alkanes::of(context).is_err() {
        return Ok(BTreeMap::new());
    }
    let read = alkanes::read(context, None, None, move |moment| {
        let mut held = BTreeMap::new();
        for outpoint in outpoints {
            moment.check()?;
            let alkanes = moment.state.sheet(&outpoint)?.load().transfers();
            if !alkanes.is_empty() {
                held.insert(outpoint, alkanes_map(moment, &alkanes)?);
            }
        }
        Ok(held)
    });
    Ok(read.await?)
}

/// Outputs of a script that unconfirmed transactions spend.
pub(crate) async fn spent_by_pending(context: &RequestContext, key: &ScriptKey) -> Result<HashSet<OutPoint>, ApiError> {
    let pending = unconfirmed_of(context, key).await?;
    let inputs = pending.iter().flat_map(|(_, one)| one.transaction.input.iter().map(|input| input.previous_output));
    Ok(inputs.collect())
}

/// An output with its position in the chain; `None` when a reorg has removed it.
pub(crate) fn placed(moment: &Moment<'_>, held: &Held) -> Result<Option<UnspentOutput>, ViewError> {
    let OutPoint { txid, vout } = held.outpoint;
    let location = moment.bitcoin.transaction_location(&txid);
    let location = location.map_err(|error| ViewError::Chain(error.into()))?;
    let status = location.map(|location| location.confirmation().into());
    Ok(status.map(|status| UnspentOutput { txid, vout, status, value: held.value }))
}

/// Unspent outputs of an address that hold alkanes.
///
/// Outputs spent by unconfirmed transactions are left out.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Utxos {
    address: AddressText,
}

impl Route for Utxos {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Post, "get-alkanes-utxo")];
    const EXAMPLE: &'static str = ADDRESS_EXAMPLE;
    const PAGES: Option<Pages> = ALL_OR_PART;
    type Answer = Vec<Utxo>;

    async fn answer(self, context: &RequestContext, part: Part) -> Result<Vec<Utxo>, ApiError> {
        let AddressText(address) = self.address;
        let script = script(context, &address)?;
        let spent = spent_by_pending(context, &ScriptKey::from_script(&script)).await?;
        let digits = script.to_hex_string();
        let read = alkanes::read(context, None, None, move |moment| {
            let mut found = Vec::new();
            // Some may be spent by unconfirmed transactions, so that as many more are read.
            let limit = part.limit.map(|limit| part.offset.saturating_add(limit).saturating_add(spent.len()));
            let held = outputs(moment, &script, Part { offset: 0, limit })?;
            for held in part.of(held.into_iter().filter(|held| !spent.contains(&held.outpoint)).collect()) {
                moment.check()?;
                let Some(output) = placed(moment, &held)? else { continue };
                found.push((output, alkanes_map(moment, &held.alkanes)?));
            }
            Ok(found)
        });
        let tip = context.tip().map_or(0, |tip| tip.height);
        let (address, digits) = (SharedText::new(&address), SharedText::new(&digits));
        let utxo = |(output, alkanes)| Utxo::new(&output, Some(address.clone()), digits.clone(), tip).holding(alkanes);
        Ok(read.await?.into_iter().map(utxo).collect())
    }
}

#[derive(Clone, Serialize, JsonSchema)]
struct Entry {
    alkane: IdText,
    amount: Digits,
}

impl Entry {
    fn all(alkanes: &[Transfer]) -> Vec<Self> {
        alkanes.iter().map(|held| Self { alkane: IdText(held.id), amount: Digits(held.value) }).collect()
    }
}

#[derive(Clone, Serialize, JsonSchema)]
struct OutpointEntries {
    outpoint: OutpointText,
    entries: Vec<Entry>,
}

impl OutpointEntries {
    fn all(held: &[Held]) -> Vec<Self> {
        let one = |held: &Held| Self { outpoint: OutpointText(held.outpoint), entries: Entry::all(&held.alkanes) };
        held.iter().map(one).collect()
    }
}

/// What the outputs of an address hold; in the envelope and beside it.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Outpoints {
    address: AddressText,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub(super) struct OutpointsTwice {
    #[schemars(extend("const" = 200))]
    status_code: u16,
    data: OutpointsAnswer,
    #[serde(flatten)]
    beside: Flat<OutpointsAnswer>,
}

#[derive(Clone, Serialize, JsonSchema)]
#[schemars(inline)]
struct OutpointsAnswer {
    address: String,
    outpoints: Vec<OutpointEntries>,
}

impl Route for Outpoints {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Post, "get-address-outpoints")];
    const EXAMPLE: &'static str = ADDRESS_EXAMPLE;
    const PAGES: Option<Pages> = ALL_OR_PART;
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = OutpointsTwice;

    async fn answer(self, context: &RequestContext, part: Part) -> Result<OutpointsTwice, ApiError> {
        let script = script(context, &self.address.0)?;
        let held = alkanes::read(context, None, None, move |moment| outputs(moment, &script, part)).await?;
        let data = OutpointsAnswer { address: self.address.0, outpoints: OutpointEntries::all(&held) };
        Ok(OutpointsTwice { status_code: 200, beside: Flat::of(data.clone()), data })
    }
}

/// Balances of an address, without envelope.
#[derive(Deserialize, JsonSchema)]
pub(super) struct FlatBalances {
    address: AddressText,
    /// Whether to list the balances of each output as well; `false` when absent.
    include_outpoints: Option<bool>,
    /// Alias of `include_outpoints`.
    #[serde(rename = "includeOutpoints")]
    also_outpoints: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct FlatBalancesAnswer {
    address: String,
    balances: ByName<Digits>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outpoints: Option<Vec<OutpointEntries>>,
}

impl Route for FlatBalances {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Post, "get-address-balances")];
    const EXAMPLE: &'static str = ADDRESS_EXAMPLE;
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = Flat<FlatBalancesAnswer>;

    async fn answer(self, context: &RequestContext, all: Part) -> Result<Flat<FlatBalancesAnswer>, ApiError> {
        let tells_outpoints = [self.include_outpoints, self.also_outpoints].contains(&Some(true));
        let script = script(context, &self.address.0)?;
        let read = alkanes::read(context, None, None, move |moment| {
            let held = if tells_outpoints { Some(outputs(moment, &script, all)?) } else { None };
            Ok((sums(moment, &script)?, held))
        });
        let (sums, held) = read.await?;
        Ok(Flat::of(FlatBalancesAnswer {
            address: self.address.0,
            balances: sums.iter().map(|sum| (sum.id, Digits(sum.value))).collect(),
            outpoints: held.map(|held| OutpointEntries::all(&held)),
        }))
    }
}

/// Balances of an address.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Balances {
    address: AddressText,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct BalancesAnswer {
    address: String,
    balances: Vec<NamedAmount>,
}

impl Route for Balances {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "address/{address}/balances")];
    const EXAMPLE: &'static str = ADDRESS_EXAMPLE;
    type Answer = BalancesAnswer;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<BalancesAnswer, ApiError> {
        let script = script(context, &self.address.0)?;
        let read = alkanes::read(context, None, None, move |moment| {
            let sums = sums(moment, &script)?;
            sums.iter().map(|sum| named_amount(moment, sum.id, sum.value)).collect::<Result<Vec<_>, _>>()
        });
        Ok(BalancesAnswer { balances: read.await?, address: self.address.0 })
    }
}

#[derive(Serialize, JsonSchema)]
struct OutpointItem {
    outpoint: OutpointText,
    /// The script in hexadecimal digits where it has no address form.
    address: String,
    entries: Vec<Entry>,
}

/// Balances of an output; empty when it holds no alkanes.
async fn items_of(context: &RequestContext, outpoint: OutPoint) -> Result<Vec<OutpointItem>, ApiError> {
    let network = context.network();
    let held = alkanes::read(context, None, None, move |moment| views::held_by_output(&outpoint, &moment.view)).await?;
    let item = |held: views::OutputHoldings| OutpointItem {
        outpoint: OutpointText(outpoint),
        address: address_text(&held.placed.output.script_pubkey, network),
        entries: Entry::all(&held.alkanes),
    };
    Ok(held.filter(|held| !held.alkanes.is_empty()).map(item).into_iter().collect())
}

/// Balances of an output, without envelope.
#[derive(Deserialize, JsonSchema)]
pub(super) struct FlatOutpoint {
    outpoint: OutpointParam,
}

impl Route for FlatOutpoint {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Post, "get-outpoint-balances")];
    const EXAMPLE: &'static str = OUTPOINT_EXAMPLE;
    const WRAPPING: Wrapping = Wrapping::Flat;
    const FIELD_ERRORS: &'static [(&'static str, &'static str)] = &[("outpoint", "invalid_outpoint_format")];
    type Answer = Flat<OutpointAnswer>;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Flat<OutpointAnswer>, ApiError> {
        let OutpointParam(outpoint) = self.outpoint;
        let items = items_of(context, outpoint).await?;
        Ok(Flat::of(OutpointAnswer { outpoint: format_outpoint(&outpoint), items }))
    }
}

/// Balances of an output.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Outpoint {
    #[schemars(with = "OutpointParam")]
    outpoint: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct OutpointAnswer {
    #[schemars(with = "OutpointText")]
    outpoint: String,
    items: Vec<OutpointItem>,
}

impl Route for Outpoint {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "outpoint/{outpoint}/balances")];
    const EXAMPLE: &'static str = OUTPOINT_EXAMPLE;
    type Answer = OutpointAnswer;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<OutpointAnswer, ApiError> {
        let wrong = |_| ApiError::invalid("outpoint must be txid:vout");
        let outpoint = parse_outpoint(&self.outpoint).map_err(wrong)?;
        Ok(OutpointAnswer { items: items_of(context, outpoint).await?, outpoint: self.outpoint })
    }
}
