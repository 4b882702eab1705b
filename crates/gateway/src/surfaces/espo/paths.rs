//! Ways through pools (docs/api.md, "Analytics"; docs/markets.md, "Routes").

use paraffin_alkanes::views::ViewError;
use paraffin_amm::routing::{Fees, Graph, HOPS_MAX, Hop, HopFee};
use paraffin_amm::{Scope, pool_state};
use paraffin_primitives::AlkaneId;
use serde_json::{Value, json};

use super::ask::Ask;
use super::failure::{Failure, Refusal};
use super::{Outcome, read_markets, to_raw};
use crate::errors::RpcError;
use crate::markets::{self, MarketMoment, failed};
use crate::state::RequestContext;

/// The fee where a request names none, parts of 10,000 (docs/api.md).
const FEE_BPS_DEFAULT: u32 = 30;
/// The whole.
const FEE_BPS_WHOLE: u64 = 10_000;
/// Pools read at once.
const PAGE: u32 = 1_000;

/// What both methods are asked.
struct Asked {
    fees: Fees,
    hops_max: usize,
    factory: AlkaneId,
    /// Whether pools that no factory lists are gone through too.
    beside: bool,
}

impl Asked {
    fn read(context: &RequestContext, ask: &Ask, hops_min: u64) -> Result<Self, Failure> {
        let own = ask.word(&["fees"], &[&["pool"], &["flat"]], "flat", "invalid_fees")?;
        let fees = match (own, ask.integer("fee_bps")?) {
            ("pool", None) => Fees::Pool,
            ("pool", Some(_)) => {
                return Err(RpcError::invalid_params("fee_bps and fees: pool exclude each other").into());
            }
            (_, None) => Fees::Bps(FEE_BPS_DEFAULT),
            (_, Some(fee)) => match u32::try_from(fee) {
                Ok(bps) if fee < FEE_BPS_WHOLE => Fees::Bps(bps),
                _ => return Err(Refusal::new("invalid_fee_bps", "fee_bps is at most 9999").into()),
            },
        };
        let hops = ask.integer("max_hops")?.unwrap_or(HOPS_MAX as u64).clamp(hops_min, HOPS_MAX as u64);
        let factory = ask.optional_id("factory", "missing_or_invalid_factory")?;
        let beside = ask.flag("cryptoswap", factory.is_none())?;
        if beside && factory.is_some() {
            let sentence = "factory means the pools of that factory alone: leave out cryptoswap or factory";
            return Err(RpcError::invalid_params(sentence).into());
        }
        let factory = match factory {
            Some(factory) => factory,
            None => markets::of(context)?.factory,
        };
        Ok(Self { fees, hops_max: usize::try_from(hops).unwrap_or(HOPS_MAX), factory, beside })
    }

    /// `fee_bps` of the answer: none where every pool has its own.
    fn fee_bps(&self) -> Option<u32> {
        match self.fees {
            Fees::Bps(fee) => Some(fee),
            Fees::Pool => None,
        }
    }
}

/// Asks the pools of one factory: one call of it can go through them all. With `beside` also pools that no factory lists, each of
/// which takes a message of its own.
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
    // Of the past only what is needed: no other request asks about the same block.
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

fn hops(hops: &[Hop]) -> Vec<Value> {
    hops.iter()
        .map(|hop| {
            let mut told = json!({
                "pool": hop.pool.to_string(),
                "token_in": hop.token_in.to_string(),
                "token_out": hop.token_out.to_string(),
                "amount_in": hop.amount_in.to_string(),
                "amount_out": hop.amount_out.to_string(),
                "kind": "factory",
            });
            match hop.fee {
                HopFee::Bps(fee) => told["fee_bps"] = json!(fee),
                HopFee::Formula => {
                    told["fee_bps"] = Value::Null;
                    told["kind"] = json!("cryptoswap");
                }
                HopFee::Per1000(fee) => {
                    told["fee_bps"] = json!(fee.saturating_mul(10));
                    told["fee_per_1000"] = json!(fee);
                }
            }
            told
        })
        .collect()
}

/// Which end of a route is given.
#[derive(Debug, Clone, Copy)]
enum Given {
    In(u128),
    Out(u128),
}

/// What a mode works from.
fn given(ask: &Ask, mode: &str) -> Result<Given, Failure> {
    let amount_in = ask.amount("amount_in", "missing_or_invalid_amount_in")?;
    let amount_out = ask.amount("amount_out", "missing_or_invalid_amount_out")?;
    let available = ask.amount("available_in", "missing_or_invalid_available_in")?;
    let missing = |name: &str| RpcError::invalid_params(format!("{name} is required in mode {mode}"));
    Ok(match mode {
        "exact_in" => Given::In(amount_in.ok_or_else(|| missing("amount_in"))?),
        "exact_out" => Given::Out(amount_out.ok_or_else(|| missing("amount_out"))?),
        _ => Given::In(amount_in.or(available).ok_or_else(|| missing("amount_in or available_in"))?),
    })
}

/// `ammdata.find_best_swap_path`
pub(super) async fn best_path(context: &RequestContext, ask: &Ask) -> Outcome {
    const MODES: [&[&str]; 3] = [&["exact_in"], &["exact_out"], &["implicit"]];
    let from = ask.id("token_in", "missing_or_invalid_token_in")?;
    let to = ask.id("token_out", "missing_or_invalid_token_out")?;
    let mode = ask.word(&["mode"], &MODES, "exact_in", "invalid_mode")?;
    let given = given(ask, mode)?;
    let least_out = ask.amount("amount_out_min", "missing_or_invalid_amount_out_min")?.unwrap_or(0);
    let most_in = ask.amount("amount_in_max", "missing_or_invalid_amount_in_max")?.unwrap_or(u128::MAX);
    let asked = Asked::read(context, ask, 1)?;
    let (fees, hops_max, factory, beside) = (asked.fees, asked.hops_max, asked.factory, asked.beside);
    let none = |hint: &str| Refusal::new("no_path_found", hint.to_owned());
    if from == to {
        return Err(none("token_in and token_out are the same").into());
    }
    let found = read_markets(context, ask, move |moment| {
        ask_graph(moment, factory, beside, |graph| match given {
            Given::In(amount) => graph.exact_in(from, to, amount, fees, hops_max),
            Given::Out(amount) => graph.exact_out(from, to, amount, fees, hops_max),
        })
    });
    let route = found.await??.ok_or_else(|| none("no pools lead from one to the other for this amount"))?;
    let (amount_in, amount_out) = (route.amount_in(), route.amount_out());
    if amount_out < least_out {
        return Err(none(&format!("the best path gives {amount_out}, less than amount_out_min")).into());
    }
    if amount_in > most_in {
        return Err(none(&format!("the best path takes {amount_in}, more than amount_in_max")).into());
    }
    Ok(to_raw(&json!({
        "ok": true,
        "mode": mode,
        "token_in": from.to_string(),
        "token_out": to.to_string(),
        "fee_bps": asked.fee_bps(),
        "max_hops": asked.hops_max,
        "amount_in": amount_in.to_string(),
        "amount_out": amount_out.to_string(),
        "factory": asked.factory.to_string(),
        "hops": hops(&route.hops),
    }))?)
}

/// `ammdata.get_best_mev_swap`
pub(super) async fn best_cycle(context: &RequestContext, ask: &Ask) -> Outcome {
    let token = ask.id("token", "missing_or_invalid_token")?;
    let asked = Asked::read(context, ask, 2)?;
    let (fees, hops_max, factory) = (asked.fees, asked.hops_max, asked.factory);
    let found = read_markets(context, ask, move |moment| {
        // A cycle is worth something as one call of a factory alone.
        ask_graph(moment, factory, false, |graph| graph.best_cycle(token, fees, hops_max))
    });
    let none = || Refusal::new("no_profitable_cycle", "no way back to the token gives more than goes in");
    let cycle = found.await??.ok_or_else(none)?;
    Ok(to_raw(&json!({
        "ok": true,
        "token": token.to_string(),
        "fee_bps": asked.fee_bps(),
        "max_hops": asked.hops_max,
        "amount_in": cycle.amount_in.to_string(),
        "amount_out": cycle.amount_out.to_string(),
        "profit": cycle.profit.to_string(),
        "profit_bound": cycle.profit_bound.to_string(),
        "factory": asked.factory.to_string(),
        "hops": hops(&cycle.hops),
    }))?)
}
