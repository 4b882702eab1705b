//! Liquidity that addresses hold.

use std::collections::HashSet;

use bitcoin::OutPoint;
use paraffin_amm::{BookPool, Dollars, Position as Worth};
use paraffin_bitcoin_index::ScriptKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::address::{SharedText, Utxo};
use super::super::alkanes::fields::script;
use super::super::alkanes::{alkanes_map, outputs, placed, spent_by_pending, sums};
use super::cryptoswap;
use super::events::Counts;
use super::fields::{FACTORY, factory_of, require_factory};
use super::pool_record::{PoolDetails, details};
use super::problem::read;
use super::record::Record;
use paraffin_gateway::api_types::{AddressText, Digits, FactoryIdParam, IdObject};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::rest::part::{LIMIT_MAX, Part};
use paraffin_gateway::rest::route::{OtherNames, Pages, Paths};
use paraffin_gateway::rest::{Route, Verb};
use paraffin_gateway::state::RequestContext;

/// What an address holds of a pool.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-twins" = true))]
struct Position {
    pool: Record<PoolDetails>,
    pool_id: IdObject,
    pool_name: String,
    token0: IdObject,
    token1: IdObject,
    address: String,
    liquidity_amount: Digits,
    balance: Digits,
    token0_amount: Digits,
    token1_amount: Digits,
    #[serde(rename = "token0ValueInSats")]
    token0_value: Option<u128>,
    #[serde(rename = "token1ValueInSats")]
    token1_value: Option<u128>,
    #[serde(rename = "totalValueInSats")]
    value: Option<u128>,
    token0_value_in_usd: Option<f64>,
    token1_value_in_usd: Option<f64>,
    total_value_in_usd: Option<f64>,
    /// Part of the liquidity, 1 for all of it.
    #[schemars(range(min = 0))]
    share: f64,
}

impl Position {
    fn new(
        (pool, held): (&BookPool, u128),
        worth: &Worth,
        address: &str,
        dollars: Dollars,
        details: Record<PoolDetails>,
    ) -> Self {
        let Worth { amounts: [first, second], values: [first_value, second_value], value } = *worth;
        let identity = pool.record.pool;
        Self {
            pool: details,
            pool_id: identity.id.into(),
            pool_name: pool.state.name.clone(),
            token0: identity.tokens[0].into(),
            token1: identity.tokens[1].into(),
            address: address.to_owned(),
            liquidity_amount: Digits(held),
            balance: Digits(held),
            token0_amount: Digits(first),
            token1_amount: Digits(second),
            token0_value: first_value,
            token1_value: second_value,
            value,
            token0_value_in_usd: dollars.of(first_value),
            token1_value_in_usd: dollars.of(second_value),
            total_value_in_usd: dollars.of(value),
            share: pool.share_of(held),
        }
    }
}

/// Liquidity that an address holds.
///
/// From what its unspent outputs hold, no matter who deposited it; the oldest pool first.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Positions {
    address: AddressText,
    /// The factory; the network's own when absent.
    factory_id: Option<FactoryIdParam>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct PositionPage {
    #[serde(flatten)]
    counts: Counts,
    positions: Vec<Record<Position>>,
}

impl Route for Positions {
    const PATHS: Paths = &[(Verb::Post, "address-positions")];
    const EXAMPLE: &'static str = r#"{"address":"bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"}"#;
    const OTHER_NAMES: OtherNames = &[FACTORY];
    const PAGES: Option<Pages> = Some(Pages { default: None, max: LIMIT_MAX });
    const MAY_BE_MISSING: bool = true;
    type Answer = PositionPage;

    async fn answer(self, context: &RequestContext, part: Part) -> Result<PositionPage, ApiError> {
        let address = self.address.0;
        let (script, factory) = (script(context, &address)?, factory_of(context, self.factory_id)?);
        let network = context.network();
        read(context, move |moment| {
            require_factory(moment, factory)?;
            let book = moment.book()?;
            let held = sums(moment.chain, &script)?.into_iter().map(|held| (held.id, held.value));
            let pools = book.liquidity_among(factory, held);
            let (total, dollars, twins) = (pools.len(), moment.dollars(), moment.parts.snake_case_twins);
            let shown = part.of(pools).into_iter().map(|(pool, held)| {
                let details = details(pool, network, dollars).finish(twins);
                let worth = book.position(pool, held);
                Record::new(&Position::new((pool, held), &worth, &address, dollars, details), twins)
            });
            let positions = shown.collect::<Result<Vec<_>, ApiError>>()?;
            Ok(PositionPage { counts: Counts::new(total, positions.len(), part), positions })
        })
        .await
    }
}

/// Unspent outputs of an address that hold liquidity.
///
/// Of any pool, the oldest first; those that an unconfirmed transaction spends are left out.
#[derive(Deserialize, JsonSchema)]
pub(super) struct LiquidityOutputs {
    address: AddressText,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct OutputsAnswer {
    total: usize,
    count: usize,
    utxos: Vec<Utxo>,
}

impl Route for LiquidityOutputs {
    const PATHS: Paths = &[(Verb::Post, "get-amm-utxos")];
    const EXAMPLE: &'static str = r#"{"address":"bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"}"#;
    const PAGES: Option<Pages> = Some(Pages { default: None, max: LIMIT_MAX });
    type Answer = OutputsAnswer;

    async fn answer(self, context: &RequestContext, part: Part) -> Result<OutputsAnswer, ApiError> {
        let address = self.address.0;
        let script = script(context, &address)?;
        let digits = script.to_hex_string();
        let spent: HashSet<OutPoint> = spent_by_pending(context, &ScriptKey::from_script(&script)).await?;
        let answer = read(context, move |moment| {
            let mut found = Vec::new();
            let all = Part { offset: 0, limit: None };
            for held in outputs(moment.chain, &script, all)? {
                if spent.contains(&held.outpoint) {
                    continue;
                }
                let mut is_liquidity = false;
                for alkane in &held.alkanes {
                    is_liquidity |=
                        moment.markets.pool(alkane.id)?.is_some() || cryptoswap::find(moment, alkane.id)?.is_some();
                }
                if is_liquidity {
                    found.push(held);
                }
            }
            let total = found.len();
            let mut shown = Vec::new();
            for held in part.of(found) {
                if let Some(output) = placed(moment.chain, &held)? {
                    shown.push((output, alkanes_map(moment.chain, &held.alkanes)?));
                }
            }
            Ok((total, shown))
        });
        let (total, found) = answer.await?;
        let tip = context.tip().map_or(0, |tip| tip.height);
        let (address, digits) = (SharedText::new(&address), SharedText::new(&digits));
        let utxos: Vec<Utxo> = found
            .into_iter()
            .map(|(output, alkanes)| Utxo::new(&output, Some(address.clone()), digits.clone(), tip).holding(alkanes))
            .collect();
        Ok(OutputsAnswer { total, count: utxos.len(), utxos })
    }
}
