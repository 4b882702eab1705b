//! Routes through pools (docs/api.md, "Analytics"; docs/markets.md, "Routes").

use paraffin_alkanes::views::ViewError;
use paraffin_amm::routing::{Fees, Graph, HOPS_MAX, Hop, HopFee};
use paraffin_amm::{Scope, pool_state};
use paraffin_primitives::AlkaneId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ask::{Amount, AtHeight, amount, id, word};
use super::failure::{Failure, Refusal};
use super::{Espo, EspoMethod, read_markets};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::markets::{self, MarketMoment, failed};
use paraffin_gateway::methods::Natural;
use paraffin_gateway::state::RequestContext;

/// Default fee, parts of 10,000 (docs/api.md).
const FEE_BPS_DEFAULT: u32 = 30;
/// 100 % in parts of 10,000.
const FEE_BPS_WHOLE: u64 = 10_000;
/// Pools read at once.
const PAGE: u32 = 1_000;

/// Which pools a route may use, and their fees.
struct Ways {
    fees: Fees,
    hops_max: usize,
    factory: AlkaneId,
    /// Whether pools that no factory lists may be used too.
    beside: bool,
}

impl Ways {
    fn read(
        context: &RequestContext,
        fees: Option<&str>,
        fee_bps: Option<Natural>,
        max_hops: Option<Natural>,
        hops_min: u64,
        factory: Option<&str>,
        cryptoswap: Option<bool>,
    ) -> Result<Self, Failure> {
        let own = word("fees", fees, &[&["pool"], &["flat"]], "flat", "invalid_fees")?;
        let fees = match (own, fee_bps.map(Natural::get)) {
            ("pool", None) => Fees::Pool,
            ("pool", Some(_)) => {
                return Err(ApiError::invalid("fee_bps and fees: pool exclude each other").into());
            }
            (_, None) => Fees::Bps(FEE_BPS_DEFAULT),
            (_, Some(fee)) => match u32::try_from(fee) {
                Ok(bps) if fee < FEE_BPS_WHOLE => Fees::Bps(bps),
                _ => return Err(Refusal::new("invalid_fee_bps", "fee_bps is at most 9999").into()),
            },
        };
        let hops = max_hops.map_or(HOPS_MAX as u64, Natural::get).clamp(hops_min, HOPS_MAX as u64);
        let factory = factory.map(|text| id("factory", text, "missing_or_invalid_factory")).transpose()?;
        let beside = cryptoswap.unwrap_or(factory.is_none());
        if beside && factory.is_some() {
            let sentence = "factory means the pools of that factory alone: leave out cryptoswap or factory";
            return Err(ApiError::invalid(sentence).into());
        }
        let factory = match factory {
            Some(factory) => factory,
            None => markets::of(context)?.factory,
        };
        Ok(Self { fees, hops_max: usize::try_from(hops).unwrap_or(HOPS_MAX), factory, beside })
    }

    /// `fee_bps` of the answer: `None` where every pool has its own.
    fn fee_bps(&self) -> Option<u32> {
        match self.fees {
            Fees::Bps(fee) => Some(fee),
            Fees::Pool => None,
        }
    }
}

/// Evaluates `question` on the pools of one factory, all of which one call of the factory can use. With `beside` also on pools
/// that no factory lists, each of which needs a message of its own.
fn ask_graph<T>(
    moment: &MarketMoment<'_>,
    factory: AlkaneId,
    beside: bool,
    question: impl FnOnce(&Graph) -> T,
) -> Result<Result<T, Refusal>, ViewError> {
    let empty = || {
        let hint = format!("the factory {factory} has no pool that holds anything");
        Ok(Err(Refusal::new("no_liquidity", hint)))
    };
    if moment.chain.is_newest {
        let book = moment.book()?;
        if beside {
            let graph = book.graph_beside(factory, || moment.cryptoswap_routes())?;
            return if graph.is_empty() { empty() } else { Ok(Ok(question(&graph))) };
        }
        if book.pools_of(factory).all(|pool| pool.state.reserves.contains(&0)) {
            return empty();
        }
        return Ok(Ok(question(book.graph(Some(factory)))));
    }
    // The graph of a past block is not cached: other requests hardly ever need the same block.
    let mut pools = Vec::new();
    loop {
        let offset = u32::try_from(pools.len()).unwrap_or(u32::MAX);
        let page = moment.markets.pools(Scope::Factory(factory), offset, PAGE).map_err(failed)?;
        if page.total as usize > moment.chain.view.limits.records_max {
            return Err(ViewError::TooLarge);
        }
        for record in &page.items {
            moment.chain.check()?;
            pools.push(pool_state(&moment.contracts, record.pool).map_err(failed)?.for_routes());
        }
        if page.items.is_empty() || pools.len() >= page.total as usize {
            break;
        }
    }
    let others = if beside { moment.cryptoswap_routes()? } else { Vec::new() };
    let graph = Graph::with_formulas(pools, others);
    if graph.is_empty() { empty() } else { Ok(Ok(question(&graph))) }
}

/// One pool of a route. Amounts are base units in decimal digits.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RouteHop")]
struct HopItem {
    pool: String,
    token_in: String,
    token_out: String,
    amount_in: String,
    amount_out: String,
    /// `factory` or `cryptoswap`.
    kind: &'static str,
    /// Parts of 10,000; `null` where the fee is part of the pool's own formula.
    fee_bps: Option<u128>,
    /// Parts of 1,000, where the fee is the pool's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    fee_per_1000: Option<u128>,
}

fn hops(hops: &[Hop]) -> Vec<HopItem> {
    let item = |hop: &Hop| {
        let (fee_bps, fee_per_1000, kind) = match hop.fee {
            HopFee::Bps(fee) => (Some(u128::from(fee)), None, "factory"),
            HopFee::Formula => (None, None, "cryptoswap"),
            HopFee::Per1000(fee) => (Some(fee.saturating_mul(10)), Some(fee), "factory"),
        };
        HopItem {
            amount_in: hop.amount_in.to_string(),
            amount_out: hop.amount_out.to_string(),
            fee_bps,
            fee_per_1000,
            kind,
            pool: hop.pool.to_string(),
            token_in: hop.token_in.to_string(),
            token_out: hop.token_out.to_string(),
        }
    };
    hops.iter().map(item).collect()
}

/// The fixed end of a route.
#[derive(Debug, Clone, Copy)]
enum Given {
    In(u128),
    Out(u128),
}

/// The best route through pools from one alkane to another.
#[derive(Deserialize, JsonSchema)]
pub(super) struct BestSwapPath {
    /// The alkane that goes in, `block:tx`.
    token_in: String,
    /// The alkane that comes out, `block:tx`.
    token_out: String,
    /// Which amount is fixed: `exact_in`, `exact_out` or `implicit`, which takes `amount_in` or `available_in`; `exact_in` when absent.
    mode: Option<String>,
    /// Amount in.
    amount_in: Option<Amount>,
    /// Requested amount out.
    amount_out: Option<Amount>,
    /// Available amount in, for mode `implicit`.
    available_in: Option<Amount>,
    /// Smallest acceptable amount out.
    amount_out_min: Option<Amount>,
    /// Largest acceptable amount in.
    amount_in_max: Option<Amount>,
    /// `pool` for each pool's own fee, `flat` for `fee_bps`; `flat` when absent.
    fees: Option<String>,
    /// The fee of every pool, parts of 10,000; 30 when absent.
    fee_bps: Option<Natural>,
    /// Pools of a route at most, 1 to 3; 3 when absent.
    max_hops: Option<Natural>,
    /// The id of a factory, for its pools alone; the operator's when absent.
    factory: Option<String>,
    /// Whether the route may use the CryptoSwap pool; `true` when absent and no factory is named.
    cryptoswap: Option<bool>,
    /// Block to answer as of; the newest when absent.
    height: Option<AtHeight>,
}

/// A route. Amounts are base units in decimal digits.
#[derive(Serialize, JsonSchema)]
pub(super) struct BestSwapPathAnswer {
    ok: bool,
    mode: &'static str,
    token_in: String,
    token_out: String,
    /// `null` where every pool has its own.
    fee_bps: Option<u32>,
    max_hops: usize,
    amount_in: String,
    amount_out: String,
    factory: String,
    hops: Vec<HopItem>,
}

impl EspoMethod for BestSwapPath {
    const NAME: &'static str = "ammdata.find_best_swap_path";
    const EXAMPLE: &'static str = r#"{"token_in":"2:1","token_out":"32:0","amount_in":"100000"}"#;
    type Answer = BestSwapPathAnswer;

    async fn answer(self, context: &RequestContext, _espo: &Espo) -> Result<BestSwapPathAnswer, Failure> {
        const MODES: [&[&str]; 3] = [&["exact_in"], &["exact_out"], &["implicit"]];
        let from = id("token_in", &self.token_in, "missing_or_invalid_token_in")?;
        let to = id("token_out", &self.token_out, "missing_or_invalid_token_out")?;
        let mode = word("mode", self.mode.as_deref(), &MODES, "exact_in", "invalid_mode")?;
        let amount_in = amount("amount_in", self.amount_in, "missing_or_invalid_amount_in")?;
        let amount_out = amount("amount_out", self.amount_out, "missing_or_invalid_amount_out")?;
        let available = amount("available_in", self.available_in, "missing_or_invalid_available_in")?;
        let missing = |name: &str| ApiError::invalid(format!("{name} is required in mode {mode}"));
        let given = match mode {
            "exact_in" => Given::In(amount_in.ok_or_else(|| missing("amount_in"))?),
            "exact_out" => Given::Out(amount_out.ok_or_else(|| missing("amount_out"))?),
            _ => Given::In(amount_in.or(available).ok_or_else(|| missing("amount_in or available_in"))?),
        };
        let least_out = amount("amount_out_min", self.amount_out_min, "missing_or_invalid_amount_out_min")?;
        let most_in = amount("amount_in_max", self.amount_in_max, "missing_or_invalid_amount_in_max")?;
        let (fees, factory) = (self.fees.as_deref(), self.factory.as_deref());
        let ways = Ways::read(context, fees, self.fee_bps, self.max_hops, 1, factory, self.cryptoswap)?;
        let none = |hint: &str| Refusal::new("no_path_found", hint.to_owned());
        if from == to {
            return Err(none("token_in and token_out are the same").into());
        }
        let (fees, hops_max, factory, beside) = (ways.fees, ways.hops_max, ways.factory, ways.beside);
        let found = read_markets(context, self.height.as_ref(), move |moment| {
            ask_graph(moment, factory, beside, |graph| match given {
                Given::In(amount) => graph.exact_in(from, to, amount, fees, hops_max),
                Given::Out(amount) => graph.exact_out(from, to, amount, fees, hops_max),
            })
        });
        let route = found.await??.ok_or_else(|| none("no pools lead from one to the other for this amount"))?;
        let (amount_in, amount_out) = (route.amount_in(), route.amount_out());
        if least_out.is_some_and(|least| amount_out < least) {
            return Err(none(&format!("the best path gives {amount_out}, less than amount_out_min")).into());
        }
        if most_in.is_some_and(|most| amount_in > most) {
            return Err(none(&format!("the best path takes {amount_in}, more than amount_in_max")).into());
        }
        Ok(BestSwapPathAnswer {
            amount_in: amount_in.to_string(),
            amount_out: amount_out.to_string(),
            factory: ways.factory.to_string(),
            fee_bps: ways.fee_bps(),
            hops: hops(&route.hops),
            max_hops: ways.hops_max,
            mode,
            ok: true,
            token_in: from.to_string(),
            token_out: to.to_string(),
        })
    }
}

/// The cycle through a factory's pools with the greatest profit in an alkane.
#[derive(Deserialize, JsonSchema)]
pub(super) struct BestCycle {
    /// The alkane that goes in and comes out, `block:tx`.
    token: String,
    /// Block to answer as of; the newest when absent.
    height: Option<AtHeight>,
    /// `pool` for each pool's own fee, `flat` for `fee_bps`; `flat` when absent.
    fees: Option<String>,
    /// The fee of every pool, parts of 10,000; 30 when absent.
    fee_bps: Option<Natural>,
    /// Pools of a cycle at most, 2 to 3; 3 when absent.
    max_hops: Option<Natural>,
    /// The id of a factory, for its pools alone; the operator's when absent.
    factory: Option<String>,
    /// Refused beside `factory`; a cycle is one call of a factory in any case.
    cryptoswap: Option<bool>,
}

/// A cycle. Amounts are base units in decimal digits.
#[derive(Serialize, JsonSchema)]
pub(super) struct BestCycleAnswer {
    ok: bool,
    token: String,
    /// `null` where every pool has its own.
    fee_bps: Option<u32>,
    max_hops: usize,
    amount_in: String,
    amount_out: String,
    profit: String,
    /// Upper bound of the profit, whatever the amount in.
    profit_bound: String,
    factory: String,
    hops: Vec<HopItem>,
}

impl EspoMethod for BestCycle {
    const NAME: &'static str = "ammdata.get_best_mev_swap";
    const EXAMPLE: &'static str = r#"{"token":"2:1"}"#;
    type Answer = BestCycleAnswer;

    async fn answer(self, context: &RequestContext, _espo: &Espo) -> Result<BestCycleAnswer, Failure> {
        let token = id("token", &self.token, "missing_or_invalid_token")?;
        let (fees, factory) = (self.fees.as_deref(), self.factory.as_deref());
        let ways = Ways::read(context, fees, self.fee_bps, self.max_hops, 2, factory, self.cryptoswap)?;
        let (fees, hops_max, factory) = (ways.fees, ways.hops_max, ways.factory);
        let found = read_markets(context, self.height.as_ref(), move |moment| {
            // A cycle is profitable only as a single call of a factory.
            ask_graph(moment, factory, false, |graph| graph.best_cycle(token, fees, hops_max))
        });
        let none = || Refusal::new("no_profitable_cycle", "no way back to the token gives more than goes in");
        let cycle = found.await??.ok_or_else(none)?;
        Ok(BestCycleAnswer {
            amount_in: cycle.amount_in.to_string(),
            amount_out: cycle.amount_out.to_string(),
            factory: ways.factory.to_string(),
            fee_bps: ways.fee_bps(),
            hops: hops(&cycle.hops),
            max_hops: ways.hops_max,
            ok: true,
            profit: cycle.profit.to_string(),
            profit_bound: cycle.profit_bound.to_string(),
            token: token.to_string(),
        })
    }
}
