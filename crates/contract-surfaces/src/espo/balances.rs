//! Balances of addresses and outputs.

use std::collections::BTreeMap;

use bitcoin::{OutPoint, Script};
use paraffin_alkanes::views::{self, ViewError};
use paraffin_alkanes::{FundedOutput, Transfer};
use paraffin_primitives::{AlkaneId, format_outpoint, parse_outpoint};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ask::{AtHeight, Part, script};
use super::failure::{Failure, Refusal};
use super::{Espo, EspoMethod, read};
use paraffin_gateway::alkanes::Moment;
use paraffin_gateway::methods::{ByName, Natural, OrNull};
use paraffin_gateway::state::RequestContext;

/// Rows read from the index at once.
const PAGE: usize = 1_000;

/// An alkane that an output holds.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "HeldAlkane")]
pub(super) struct Entry {
    /// Its id.
    alkane: String,
    /// Base units in decimal digits.
    amount: String,
}

/// An output and its alkanes.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "HoldingOutpoint")]
struct Outpoint {
    /// `txid:vout`.
    outpoint: String,
    entries: Vec<Entry>,
}

pub(super) fn entries(held: &[Transfer]) -> Vec<Entry> {
    held.iter().map(|held| Entry { alkane: held.id.to_string(), amount: held.value.to_string() }).collect()
}

/// An output with its alkanes.
type Held = (FundedOutput, Vec<Transfer>);

/// The unspent outputs of a script that hold alkanes, oldest first, with their alkanes, as of the height of the moment; and
/// whether more follow after the page.
fn outputs(moment: &Moment<'_>, script: &Script, part: Option<Part>) -> Result<(Vec<Held>, bool), ViewError> {
    let (mut found, mut seen, mut after) = (Vec::new(), 0, None);
    loop {
        moment.check()?;
        let page = moment.state.outputs_of(script, after.as_ref(), PAGE)?;
        for output in page.items {
            seen += 1;
            if part.is_some_and(|part| seen <= part.offset()) {
                continue;
            }
            if part.is_some_and(|part| found.len() == part.limit as usize) {
                return Ok((found, true));
            }
            let held = moment.state.sheet(&output.outpoint)?.load().transfers();
            if !held.is_empty() {
                found.push((output, held));
            }
        }
        if found.len() > moment.view.limits.records_max {
            return Err(ViewError::TooLarge);
        }
        after = page.next;
        if after.is_none() {
            return Ok((found, false));
        }
    }
}

/// Balances of a script at the newest block, from the index rows of the script.
fn sums_now(moment: &Moment<'_>, script: &Script) -> Result<Vec<Transfer>, ViewError> {
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

/// Balances as the sum over outputs, saturating at 2^128 - 1 as the index rows do.
fn sums_of(outputs: &[Held]) -> Vec<Transfer> {
    let mut sums = BTreeMap::<AlkaneId, u128>::new();
    for transfer in outputs.iter().flat_map(|(_, held)| held) {
        let sum = sums.entry(transfer.id).or_default();
        *sum = sum.saturating_add(transfer.value);
    }
    sums.into_iter().map(|(id, value)| Transfer { id, value }).collect()
}

fn render(outputs: &[Held]) -> Vec<Outpoint> {
    let outpoint =
        |(output, held): &Held| Outpoint { outpoint: format_outpoint(&output.outpoint), entries: entries(held) };
    outputs.iter().map(outpoint).collect()
}

/// Balances of an address.
#[derive(Deserialize, JsonSchema)]
pub(super) struct AddressBalances {
    /// An address of this instance's network.
    address: String,
    /// Block to answer as of; the newest when absent.
    height: Option<AtHeight>,
    /// Whether to list the outputs that hold alkanes; `false` when absent.
    include_outpoints: Option<bool>,
}

/// Balances of an address.
#[derive(Serialize, JsonSchema)]
pub(super) struct AddressBalancesAnswer {
    ok: bool,
    address: String,
    /// Base units in decimal digits, by the alkane's id.
    balances: ByName<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outpoints: Option<Vec<Outpoint>>,
}

impl EspoMethod for AddressBalances {
    const NAME: &'static str = "essentials.get_address_balances";
    const ALIASES: &'static [&'static str] = &["get_address_balances"];
    const EXAMPLE: &'static str = r#"{"address":"bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"}"#;
    type Answer = AddressBalancesAnswer;

    async fn answer(self, context: &RequestContext, _espo: &Espo) -> Result<AddressBalancesAnswer, Failure> {
        let script = script(context, &self.address)?;
        let include_outpoints = self.include_outpoints.unwrap_or(false);
        let (sums, held) = read(context, self.height.as_ref(), move |moment| {
            if moment.is_newest && !include_outpoints {
                return Ok((sums_now(moment, &script)?, Vec::new()));
            }
            let (held, _) = outputs(moment, &script, None)?;
            Ok((sums_of(&held), held))
        })
        .await?;
        Ok(AddressBalancesAnswer {
            address: self.address,
            balances: sums.iter().map(|sum| (sum.id, sum.value.to_string())).collect(),
            ok: true,
            outpoints: include_outpoints.then(|| render(&held)),
        })
    }
}

/// The unspent outputs of an address that hold alkanes, oldest first.
#[derive(Deserialize, JsonSchema)]
pub(super) struct AddressOutpoints {
    /// An address of this instance's network.
    address: String,
    /// Block to answer as of; the newest when absent.
    height: Option<AtHeight>,
    /// Page number, from 0.
    page: Option<Natural>,
    /// Outputs of a page, at most 10,000. When absent all outputs are listed: a wallet must see all its coins.
    limit: Option<Natural>,
}

/// Outputs of an address.
#[derive(Serialize, JsonSchema)]
pub(super) struct AddressOutpointsAnswer {
    ok: bool,
    address: String,
    outpoints: Vec<Outpoint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u32>,
    /// Items of a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    has_more: Option<bool>,
}

impl EspoMethod for AddressOutpoints {
    const NAME: &'static str = "essentials.get_address_outpoints";
    const ALIASES: &'static [&'static str] = &["get_address_outpoints"];
    const EXAMPLE: &'static str = AddressBalances::EXAMPLE;
    type Answer = AddressOutpointsAnswer;

    async fn answer(self, context: &RequestContext, _espo: &Espo) -> Result<AddressOutpointsAnswer, Failure> {
        let script = script(context, &self.address)?;
        let part = Part::read(self.page, self.limit, None)?;
        let part = self.limit.is_some().then_some(part);
        let (held, has_more) =
            read(context, self.height.as_ref(), move |moment| outputs(moment, &script, part)).await?;
        Ok(AddressOutpointsAnswer {
            address: self.address,
            has_more: part.is_some().then_some(has_more),
            limit: part.map(|part| part.limit),
            ok: true,
            outpoints: render(&held),
            page: part.map(|part| part.page),
        })
    }
}

/// Alkanes of an output, and the transaction that spent it.
#[derive(Deserialize, JsonSchema)]
pub(super) struct OutpointBalances {
    /// `txid:vout`.
    outpoint: String,
    /// Block to answer as of; the newest when absent.
    height: Option<AtHeight>,
}

/// The requested output.
#[derive(Serialize, JsonSchema)]
pub(super) struct OutpointBalancesAnswer {
    ok: bool,
    outpoint: String,
    items: [OutputItem; 1],
}

/// An output. For one that holds no alkanes, or does not exist, only its outpoint is known.
#[derive(Serialize, JsonSchema)]
struct OutputItem {
    outpoint: String,
    entries: Vec<Entry>,
    /// `null` where its script has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<OrNull<String>>,
    /// Satoshis.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    block_height: Option<u32>,
    /// Whether the output holds or held alkanes.
    known: bool,
    spent: bool,
    /// The transaction that spent it; `null` while none has.
    #[serde(skip_serializing_if = "Option::is_none")]
    spent_by: Option<OrNull<String>>,
}

impl EspoMethod for OutpointBalances {
    const NAME: &'static str = "essentials.get_outpoint_balances";
    const ALIASES: &'static [&'static str] = &["get_outpoint_balances"];
    const EXAMPLE: &'static str =
        r#"{"outpoint":"5f74d8131b9ef3b3f0e6e1e3d3f4a5b6c7d8e9f00112233445566778899aabbc:0"}"#;
    type Answer = OutpointBalancesAnswer;

    async fn answer(self, context: &RequestContext, _espo: &Espo) -> Result<OutpointBalancesAnswer, Failure> {
        let outpoint = parse_outpoint(&self.outpoint).map_err(|_| {
            Refusal::new("invalid_outpoint_format", "outpoint must be txid:vout, 64 hexadecimal digits and a number")
        })?;
        let network = context.network();
        let item = read(context, self.height.as_ref(), move |moment| {
            let Some(held) = views::held_by_output(&outpoint, &moment.view)? else {
                return Ok(OutputItem {
                    address: None,
                    block_height: None,
                    entries: Vec::new(),
                    known: false,
                    outpoint: format_outpoint(&outpoint),
                    spent: false,
                    spent_by: None,
                    value: None,
                });
            };
            let spender = spender(moment, &outpoint)?;
            let output = &held.placed.output;
            let address = bitcoin::Address::from_script(&output.script_pubkey, network.bitcoin()).ok();
            Ok(OutputItem {
                address: Some(OrNull(address.map(|address| address.to_string()))),
                block_height: Some(held.placed.height),
                entries: entries(&held.alkanes),
                known: true,
                outpoint: format_outpoint(&outpoint),
                spent: spender.is_some(),
                spent_by: Some(OrNull(spender)),
                value: Some(output.value.to_sat()),
            })
        })
        .await?;
        Ok(OutpointBalancesAnswer { items: [item], ok: true, outpoint: format_outpoint(&outpoint) })
    }
}

/// The transaction that spends an output, up to the height of the moment.
fn spender(moment: &Moment<'_>, outpoint: &OutPoint) -> Result<Option<String>, ViewError> {
    let spender = moment.bitcoin.outspend(outpoint).map_err(|error| ViewError::Chain(error.into()))?;
    let spender = spender.filter(|spender| spender.confirmation.height <= moment.view.height);
    Ok(spender.map(|spender| spender.txid.to_string()))
}
