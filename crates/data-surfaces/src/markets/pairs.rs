//! Pairs of alkanes that pools trade, and ways from one alkane to another.

use std::collections::HashMap;
use std::sync::Arc;

use paraffin_alkanes::views::{TokenFacts, ViewError};
use paraffin_amm::{BookPool, Dollars, PoolPaths};
use paraffin_primitives::{AlkaneId, Network};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::events::Counts;
use super::fields::{FACTORY, TOKEN, factory_of, require_factory, require_token};
use super::pool_record::{Pool, record};
use super::problem::{Problem, read};
use super::record::Record;
use paraffin_gateway::api_types::{AlkaneIdParam, Digits, FactoryIdParam, IdObject};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::markets::MarketMoment;
use paraffin_gateway::rest::part::{LIMIT_MAX, Part};
use paraffin_gateway::rest::route::{OtherNames, Pages, Paths};
use paraffin_gateway::rest::{Route, Verb};
use paraffin_gateway::state::RequestContext;
use paraffin_gateway::tokens::{DECIMALS, facts};

/// Pairs in one answer; with more a limit is needed.
const PAIRS_MAX: usize = 20_000;
/// Pairs of a page where nothing is said and pages can be asked for.
const LIMIT_DEFAULT: usize = 50;

/// Two alkanes that a pool trades.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Pair {
    pool_id: IdObject,
    pool_name: String,
    token0: Side<FirstAmount>,
    token1: Side<SecondAmount>,
    reserve0: Digits,
    reserve1: Digits,
    pool_tvl_in_sats: Option<u128>,
    pool_tvl_in_usd: Option<f64>,
    #[serde(rename = "poolVolume1dInSats")]
    volume_in_sats: Option<u128>,
    #[serde(rename = "poolVolume1dInUsd")]
    volume_in_usd: Option<f64>,
}

/// An alkane of a pair, with its amount under two names.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct Side<A> {
    alkane_id: IdObject,
    name: Option<String>,
    symbol: Option<String>,
    decimals: u32,
    amount: Digits,
    #[serde(flatten)]
    same_amount: A,
}

#[derive(Serialize, JsonSchema)]
struct FirstAmount {
    #[serde(rename = "token0Amount")]
    amount: Digits,
}

#[derive(Serialize, JsonSchema)]
struct SecondAmount {
    #[serde(rename = "token1Amount")]
    amount: Digits,
}

/// A page of pairs.
#[derive(Serialize, JsonSchema)]
pub(super) struct PairPage {
    #[serde(flatten)]
    counts: Counts,
    pairs: Vec<Pair>,
}

/// Renders pairs, and reads the facts of each alkane once.
struct Teller<'m, 'c> {
    moment: &'m MarketMoment<'c>,
    dollars: Dollars,
    facts: HashMap<AlkaneId, Arc<TokenFacts>>,
}

impl<'m, 'c> Teller<'m, 'c> {
    fn new(moment: &'m MarketMoment<'c>) -> Self {
        Self { moment, dollars: moment.dollars(), facts: HashMap::new() }
    }

    fn facts(&mut self, id: AlkaneId) -> Result<Arc<TokenFacts>, Problem> {
        if let Some(known) = self.facts.get(&id) {
            return Ok(Arc::clone(known));
        }
        self.moment.chain.check()?;
        let found = match self.moment.chain.state.creation(id)? {
            Some(creation) => facts(self.moment.chain, creation)?,
            None => Arc::default(),
        };
        self.facts.insert(id, Arc::clone(&found));
        Ok(found)
    }

    fn side<A>(&mut self, pool: &BookPool, place: usize, same: fn(Digits) -> A) -> Result<Side<A>, Problem> {
        let id = pool.record.pool.tokens[place];
        let amount = Digits(pool.state.reserves[place]);
        let facts = self.facts(id)?;
        Ok(Side {
            alkane_id: id.into(),
            name: facts.name.clone(),
            symbol: facts.symbol.clone(),
            decimals: facts.decimals.unwrap_or(DECIMALS),
            amount,
            same_amount: same(amount),
        })
    }

    /// A pair (docs/api.md, "Markets").
    fn pair(&mut self, pool: &BookPool) -> Result<Pair, Problem> {
        let [first, second] = pool.state.reserves;
        Ok(Pair {
            pool_id: pool.record.pool.id.into(),
            pool_name: pool.state.name.clone(),
            token0: self.side(pool, 0, |amount| FirstAmount { amount })?,
            token1: self.side(pool, 1, |amount| SecondAmount { amount })?,
            reserve0: Digits(first),
            reserve1: Digits(second),
            pool_tvl_in_sats: pool.worth.tvl,
            pool_tvl_in_usd: self.dollars.of(pool.worth.tvl),
            volume_in_sats: pool.worth.volume_day,
            volume_in_usd: self.dollars.of(pool.worth.volume_day),
        })
    }

    fn pairs(&mut self, pools: &[&BookPool]) -> Result<Vec<Pair>, Problem> {
        pools.iter().map(|pool| self.pair(pool)).collect()
    }
}

fn page(moment: &MarketMoment<'_>, pools: &[&BookPool], part: Part) -> Result<PairPage, Problem> {
    let shown = part.of(pools.to_vec());
    if shown.len() > PAIRS_MAX {
        return Err(ViewError::TooLarge.into());
    }
    let pairs = Teller::new(moment).pairs(&shown)?;
    Ok(PairPage { counts: Counts::new(pools.len(), pairs.len(), part), pairs })
}

/// Pairs that pools of a factory trade.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct AllPairs {
    /// The factory; the network's own when absent.
    factory_id: Option<FactoryIdParam>,
}

impl Route for AllPairs {
    const PATHS: Paths = &[(Verb::Post, "get-all-token-pairs")];
    const OTHER_NAMES: OtherNames = &[FACTORY];
    const PAGES: Option<Pages> = Some(Pages { default: None, max: PAIRS_MAX });
    const MAY_BE_MISSING: bool = true;
    type Answer = PairPage;

    async fn answer(self, context: &RequestContext, part: Part) -> Result<PairPage, ApiError> {
        let factory = factory_of(context, self.factory_id)?;
        read(context, move |moment| {
            require_factory(moment, factory)?;
            let book = moment.book()?;
            page(moment, &book.pools_of(factory).collect::<Vec<_>>(), part)
        })
        .await
    }
}

/// Pairs with an alkane on either side.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TokenPairs {
    /// The factory; the network's own when absent.
    factory_id: Option<FactoryIdParam>,
    /// An alkane.
    alkane_id: AlkaneIdParam,
}

impl Route for TokenPairs {
    const PATHS: Paths = &[(Verb::Post, "get-token-pairs")];
    const EXAMPLE: &'static str = r#"{"alkaneId":"2:0"}"#;
    const OTHER_NAMES: OtherNames = &[FACTORY, TOKEN];
    const PAGES: Option<Pages> = Some(Pages { default: None, max: PAIRS_MAX });
    const MAY_BE_MISSING: bool = true;
    type Answer = PairPage;

    async fn answer(self, context: &RequestContext, part: Part) -> Result<PairPage, ApiError> {
        let factory = factory_of(context, self.factory_id)?;
        let token = self.alkane_id.0;
        read(context, move |moment| {
            require_factory(moment, factory)?;
            require_token(moment, token)?;
            let book = moment.book()?;
            page(moment, &book.pools_trading(factory, token).collect::<Vec<_>>(), part)
        })
        .await
    }
}

/// Pairs of an alkane by pages, each with its direct way, or the ways between two through at most three pools.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("anyOf" = ends()))]
pub(super) struct SwapPairs {
    /// The factory; the network's own when absent.
    factory_id: Option<FactoryIdParam>,
    /// An alkane.
    token_id: Option<AlkaneIdParam>,
    /// An alkane.
    #[serde(rename = "tokenAId")]
    first: Option<AlkaneIdParam>,
    /// An alkane.
    #[serde(rename = "tokenBId")]
    second: Option<AlkaneIdParam>,
}

/// What must be named: one alkane, or two.
fn ends() -> [Value; 5] {
    let named = |names: &[&str]| {
        let schema = |name: &&str| ((*name).to_owned(), json!({ "$ref": "#/components/schemas/AlkaneId" }));
        json!({ "required": names, "properties": names.iter().map(schema).collect::<Map<_, _>>() })
    };
    [&["tokenId"][..], &["alkaneId"], &["id"], &["alkane"], &["tokenAId", "tokenBId"]].map(named)
}

/// Between what ways are asked for.
enum Ends {
    /// From one alkane to each that a pool trades it for.
    From(AlkaneId),
    /// Between two.
    Between([AlkaneId; 2]),
}

impl SwapPairs {
    fn ends(&self) -> Result<Ends, ApiError> {
        let id = |token: Option<AlkaneIdParam>| token.map(|token| token.0);
        match (id(self.first), id(self.second), id(self.token_id)) {
            (Some(first), Some(_), Some(one)) if first != one => Err(ApiError::invalid("tokenAId and tokenId differ")),
            (Some(first), Some(second), _) if first == second => {
                Err(ApiError::invalid("tokenAId and tokenBId are the same"))
            }
            (Some(first), Some(second), _) => Ok(Ends::Between([first, second])),
            (None, None, Some(one)) => Ok(Ends::From(one)),
            (None, None, None) => Err(ApiError::invalid("tokenId is required, or tokenAId and tokenBId")),
            (Some(_), None, _) => Err(ApiError::invalid("tokenBId is required beside tokenAId")),
            (None, Some(_), _) => Err(ApiError::invalid("tokenAId is required beside tokenBId")),
        }
    }
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub(super) enum Ways {
    /// From one alkane.
    From {
        #[serde(flatten)]
        page: PairPage,
        paths: Vec<Path>,
    },
    /// Between two, by pages of paths.
    #[serde(rename_all = "camelCase")]
    Between {
        pairs: Vec<Pair>,
        total: usize,
        /// Whether there are no other ways.
        is_whole: bool,
        count: usize,
        limit: Option<usize>,
        offset: usize,
        paths: Vec<Path>,
    },
}

impl Route for SwapPairs {
    const PATHS: Paths = &[(Verb::Post, "get-alkane-swap-pair-details")];
    const EXAMPLE: &'static str = r#"{"tokenAId":"2:0","tokenBId":"32:0"}"#;
    const OTHER_NAMES: OtherNames = &[
        FACTORY,
        ("tokenId", &["alkaneId", "id", "alkane"]),
        ("tokenAId", &["token_a_id"]),
        ("tokenBId", &["token_b_id"]),
    ];
    const PAGES: Option<Pages> = Some(Pages { default: Some(LIMIT_DEFAULT), max: LIMIT_MAX });
    const MAY_BE_MISSING: bool = true;
    type Answer = Ways;

    async fn answer(self, context: &RequestContext, part: Part) -> Result<Ways, ApiError> {
        let ends = self.ends()?;
        let factory = factory_of(context, self.factory_id)?;
        let network = context.network();
        read(context, move |moment| {
            require_factory(moment, factory)?;
            match ends {
                Ends::From(token) => from(moment, factory, token, part, network),
                Ends::Between(tokens) => between(moment, factory, tokens, part, network),
            }
        })
        .await
    }
}

/// A way from one alkane to another.
#[derive(Serialize, JsonSchema)]
pub(super) struct Path {
    #[serde(rename = "type")]
    kind: PathKind,
    #[serde(rename = "path")]
    tokens: Vec<IdObject>,
    pools: Vec<Record<Pool>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum PathKind {
    Direct,
    Multi,
}

/// A path as answers show it.
fn way(moment: &MarketMoment<'_>, tokens: &[AlkaneId], pools: &[&BookPool], network: Network) -> Path {
    let twins = moment.parts.snake_case_twins;
    Path {
        kind: if pools.len() == 1 { PathKind::Direct } else { PathKind::Multi },
        tokens: tokens.iter().map(|token| IdObject::from(*token)).collect(),
        pools: pools.iter().map(|pool| record(pool, network).finish(twins)).collect(),
    }
}

fn from(
    moment: &MarketMoment<'_>,
    factory: AlkaneId,
    token: AlkaneId,
    part: Part,
    network: Network,
) -> Result<Ways, Problem> {
    require_token(moment, token)?;
    let book = moment.book()?;
    let pools: Vec<&BookPool> = book.pools_trading(factory, token).collect();
    let page = page(moment, &pools, part)?;
    let ways = part.of(pools).into_iter().filter(|pool| !pool.state.reserves.contains(&0));
    let ways = ways.map(|pool| way(moment, &[token, pool.record.pool.other(token)], &[pool], network));
    Ok(Ways::From { page, paths: ways.collect() })
}

fn between(
    moment: &MarketMoment<'_>,
    factory: AlkaneId,
    tokens: [AlkaneId; 2],
    part: Part,
    network: Network,
) -> Result<Ways, Problem> {
    for token in tokens {
        require_token(moment, token)?;
    }
    let book = moment.book()?;
    let [first, second] = tokens;
    let direct: Vec<&BookPool> =
        book.pools_trading(factory, first).filter(|pool| pool.record.pool.tokens.contains(&second)).collect();
    let PoolPaths { paths, is_whole } = book.paths(factory, tokens);
    let total = paths.len();
    let shown = part.of(paths);
    let paths: Vec<Path> = shown.iter().map(|(tokens, pools)| way(moment, tokens, pools, network)).collect();
    Ok(Ways::Between {
        pairs: Teller::new(moment).pairs(&direct)?,
        total,
        is_whole,
        count: paths.len(),
        limit: part.limit,
        offset: part.offset,
        paths,
    })
}
