//! Balances of a script, now and at the beginning of a block.

use paraffin_ordinals_index::brc20::Balance;
use paraffin_primitives::Height;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ask::{BlockHeight, Script, Ticker, wallet};
use super::proxied::Query;
use super::render::BaseUnits;
use super::{absent, answer, failed};
use paraffin_gateway::api_types::AddressText;
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::rest::part::Part;
use paraffin_gateway::rest::{Changes, Made, Route, Verb, Wrapping};
use paraffin_gateway::state::RequestContext;

/// Balance of a script.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct Balances {
    overall_balance: BaseUnits,
    /// The balance not reserved by transfer inscriptions.
    available_balance: BaseUnits,
}

impl From<Balance> for Balances {
    fn from(balance: Balance) -> Self {
        Self { overall_balance: BaseUnits(balance.overall), available_balance: BaseUnits(balance.available) }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct BalancesNow {
    #[serde(flatten)]
    balances: Balances,
    block_height: Height,
}

/// Balance of a script.
#[derive(Deserialize, JsonSchema)]
pub(super) struct CurrentBalance {
    /// The token.
    ticker: Ticker,
    /// This or `pkscript`; where both stand they must agree.
    address: Option<AddressText>,
    /// The script.
    pkscript: Option<Script>,
}

impl Route for CurrentBalance {
    const PATHS: &'static [(Verb, &'static str)] = &[
        (Verb::Get, "opi/v1/brc20/balance"),
        // OPI's name.
        (Verb::Get, "opi/v1/brc20/get_current_balance_of_wallet"),
    ];
    const EXAMPLE: &'static str = r#"{"ticker":"ordi","pkscript":"51"}"#;
    const WRAPPING: Wrapping = Wrapping::WithError;
    const CHANGES: Changes = super::CHANGES;
    type Answer = Made<BalancesNow>;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Made<BalancesNow>, ApiError> {
        let script = wallet(context, self.address.as_ref(), self.pkscript.as_ref())?;
        let Ticker(ticker) = self.ticker;
        let mut query = Query::of("get_current_balance_of_wallet");
        query.put("ticker", &ticker);
        query.put_wallet(self.address, self.pkscript);
        answer(context, &query, move |index, newest, _| {
            let balance = index.balance_at(&script, &ticker, newest).map_err(|error| failed(&error))?;
            let balance = balance.ok_or_else(|| absent("no balance found"))?;
            Ok(BalancesNow { balances: balance.into(), block_height: newest })
        })
        .await
    }
}

/// Balance of a script before a block.
#[derive(Deserialize, JsonSchema)]
pub(super) struct BalanceOnBlock {
    /// Height of the block; the balance is as of its beginning.
    block_height: BlockHeight,
    /// The script.
    pkscript: Script,
    /// The token.
    ticker: Ticker,
}

impl Route for BalanceOnBlock {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "opi/v1/brc20/balance_on_block")];
    const EXAMPLE: &'static str = r#"{"block_height":140,"pkscript":"51","ticker":"ordi"}"#;
    const WRAPPING: Wrapping = Wrapping::WithError;
    const CHANGES: Changes = super::CHANGES;
    type Answer = Made<Balances>;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Made<Balances>, ApiError> {
        let (BlockHeight(height), Ticker(ticker)) = (self.block_height, self.ticker);
        let mut query = Query::of("balance_on_block");
        query.put("ticker", &ticker);
        query.put("block_height", &height.to_string());
        query.put("pkscript", &self.pkscript.hex());
        answer(context, &query, move |index, newest, _| {
            if height > newest.saturating_add(1) {
                return Err(absent("block not indexed yet"));
            }
            let balance = match height.checked_sub(1) {
                None => None,
                Some(before) => index.balance_at(&self.pkscript.0, &ticker, before).map_err(|error| failed(&error))?,
            };
            balance.map(Balances::from).ok_or_else(|| absent("no balance found"))
        })
        .await
    }
}
