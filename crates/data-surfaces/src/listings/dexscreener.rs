//! `/v4/<KEY>/dexscreener/…`: the adapter that DEX Screener reads (docs/listings.md, "DEX Screener").

use paraffin_amm::{Action, AmmError, PoolEvent, with_reserves};
use paraffin_primitives::{AlkaneId, Network};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::names::{Names, actor};
use super::number::{BlockNumber, DecimalText, IdParam};
use super::{PoolIdText, admit};
use crate::markets::{Problem, read};
use paraffin_gateway::api_types::IdText;
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::markets::{MarketMoment, failed};
use paraffin_gateway::methods::Hash;
use paraffin_gateway::rest::part::Part;
use paraffin_gateway::rest::route::Paths;
use paraffin_gateway::rest::{Base, Declared, Group, Route, Verb, Wrapping};
use paraffin_gateway::state::RequestContext;
use paraffin_gateway::tokens::facts;

pub(crate) static GROUP: Group = Group {
    tag: "DEX Screener",
    base: Base::Keyed,
    admit,
    routes: &[
        Declared::of::<LatestBlock>(),
        Declared::of::<AssetById>(),
        Declared::of::<PairById>(),
        Declared::of::<Events>(),
    ],
};

/// Most blocks of a range of events.
const BLOCKS_MAX: u32 = 1_000;
/// Events of a range of several blocks at most, whatever their kind; those of one block are always answered.
const EVENTS_MAX: usize = 10_000;
/// First event index of `CryptoSwap` pools in a transaction, after those of pools of factories: both indexes count from 0.
const CRYPTOSWAP_EVENTS: u32 = 1 << 28;
/// Decimal places of a price: as many as the adapter's readers take.
const PRICE_PLACES: u32 = 50;
/// The maker of an event without an address.
const NO_MAKER: &str = "unknown";

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct Block {
    block_number: u32,
    /// Unix seconds of its header.
    block_timestamp: u32,
}

/// The newest block whose events can be read.
#[derive(Deserialize, JsonSchema)]
struct LatestBlock {}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct LatestBlockAnswer {
    block: Block,
}

impl Route for LatestBlock {
    const PATHS: Paths = &[(Verb::Get, "dexscreener/latest-block")];
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = LatestBlockAnswer;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<LatestBlockAnswer, ApiError> {
        read(context, |moment| {
            let height = moment.markets.height();
            let block = moment.markets.snapshot().block(height).map_err(AmmError::from)?;
            let block = block.ok_or_else(ApiError::starting)?;
            Ok(LatestBlockAnswer { block: Block { block_number: height, block_timestamp: block.time } })
        })
        .await
    }
}

/// An alkane.
#[derive(Deserialize, JsonSchema)]
struct AssetById {
    /// The id of an alkane, block:tx.
    id: IdParam,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct AssetAnswer {
    asset: Asset,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct Asset {
    id: IdText,
    /// As its contract reports it; its symbol or its id where that is not printable.
    name: String,
    /// As its contract reports it; its name or its id where that is not printable.
    symbol: String,
    /// Whole alkanes; absent when the contract reports none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "DecimalText")]
    total_supply: Option<DecimalText>,
}

impl Route for AssetById {
    const PATHS: Paths = &[(Verb::Get, "dexscreener/asset")];
    const EXAMPLE: &'static str = r#"{"id":"2:0"}"#;
    const WRAPPING: Wrapping = Wrapping::Bare;
    const MAY_BE_MISSING: bool = true;
    type Answer = AssetAnswer;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<AssetAnswer, ApiError> {
        let id = self.id.0;
        read(context, move |moment| {
            let creation = moment.chain.state.creation(id)?;
            let creation = creation.ok_or_else(|| ApiError::not_found(format!("there is no alkane {id}")))?;
            let Names { name, symbol } = Names::of(moment, id)?;
            let supply = facts(moment.chain, creation)?.total_supply;
            let total_supply = supply.map(DecimalText::amount);
            Ok(AssetAnswer { asset: Asset { id: IdText(id), name, symbol, total_supply } })
        })
        .await
    }
}

/// A pool of any factory, or a `CryptoSwap` pool.
#[derive(Deserialize, JsonSchema)]
struct PairById {
    /// The id of a pool, block:tx.
    id: PoolIdText,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct PairAnswer {
    pair: Pair,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct Pair {
    id: IdText,
    /// The factory of the pool; 0:0 for a `CryptoSwap` pool, which none lists.
    dex_key: IdText,
    asset0_id: IdText,
    asset1_id: IdText,
    created_at_block_number: u32,
    /// Unix seconds.
    created_at_block_timestamp: u32,
    /// Absent for a `CryptoSwap` pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Hash")]
    created_at_txn_id: Option<Hash>,
    /// Absent where its creator has no address.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    creator: Option<String>,
    /// In parts of 10,000; absent for a `CryptoSwap` pool, whose fee varies.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u128")]
    fee_bps: Option<u128>,
}

impl Route for PairById {
    const PATHS: Paths = &[(Verb::Get, "dexscreener/pair")];
    const EXAMPLE: &'static str = r#"{"id":"2:5"}"#;
    const WRAPPING: Wrapping = Wrapping::Bare;
    const MAY_BE_MISSING: bool = true;
    type Answer = PairAnswer;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<PairAnswer, ApiError> {
        let id = self.id.0;
        let network = context.network();
        read(context, move |moment| {
            let Some(record) = moment.markets.pool(id)? else {
                return cryptoswap_pair(moment, id).map(|pair| PairAnswer { pair });
            };
            let creation = moment.markets.creation(&record)?;
            let state = paraffin_amm::pool_state(&moment.contracts, record.pool)?;
            let [asset0, asset1] = record.pool.tokens;
            Ok(PairAnswer {
                pair: Pair {
                    id: IdText(id),
                    dex_key: IdText(record.pool.factory),
                    asset0_id: IdText(asset0),
                    asset1_id: IdText(asset1),
                    created_at_block_number: creation.position.height,
                    created_at_block_timestamp: creation.time,
                    created_at_txn_id: Some(Hash::of(creation.txid)),
                    creator: actor(&creation, network),
                    fee_bps: Some(state.fee_per_1000.saturating_mul(10)),
                },
            })
        })
        .await
    }
}

/// Events of all pools in a range of blocks, in chain order: trades, and liquidity that was added and removed.
///
/// The range has at most 1,000 blocks and, if it has several, at most 10,000 events: an answer is never truncated.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Events {
    /// The first block.
    from_block: BlockNumber,
    /// The last block; not below the first.
    to_block: BlockNumber,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct EventsAnswer {
    events: Vec<ListedEvent>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
enum ListedEvent {
    Swap(Swap),
    Liquidity(Liquidity),
}

/// A trade: one alkane goes into the pool, the other comes out.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct Swap {
    block: Block,
    #[schemars(extend("const" = "swap"))]
    event_type: &'static str,
    txn_id: Hash,
    /// Index of the transaction in its block.
    txn_index: u32,
    /// Index among the events of the transaction.
    event_index: u32,
    /// An address, or `unknown`.
    maker: String,
    pair_id: IdText,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "DecimalText")]
    asset0_in: Option<DecimalText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "DecimalText")]
    asset1_in: Option<DecimalText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "DecimalText")]
    asset0_out: Option<DecimalText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "DecimalText")]
    asset1_out: Option<DecimalText>,
    /// Units of asset 1 for one of asset 0, rounded half to even at the 50th decimal place.
    price_native: DecimalText,
    /// After the event; absent when only the reserves at the end of the block are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Reserves")]
    reserves: Option<Reserves>,
}

/// Liquidity that was added or removed.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct Liquidity {
    block: Block,
    #[schemars(with = "String", extend("enum" = ["join", "exit"]))]
    event_type: &'static str,
    txn_id: Hash,
    /// Index of the transaction in its block.
    txn_index: u32,
    /// Index among the events of the transaction.
    event_index: u32,
    /// An address, or `unknown`.
    maker: String,
    pair_id: IdText,
    amount0: DecimalText,
    amount1: DecimalText,
    /// After the event; absent when only the reserves at the end of the block are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Reserves")]
    reserves: Option<Reserves>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Reserves {
    asset0: DecimalText,
    asset1: DecimalText,
}

impl Route for Events {
    const PATHS: Paths = &[(Verb::Get, "dexscreener/events")];
    const EXAMPLE: &'static str = r#"{"fromBlock":"120","toBlock":"125"}"#;
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = EventsAnswer;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<EventsAnswer, ApiError> {
        let (BlockNumber(from), BlockNumber(to)) = (self.from_block, self.to_block);
        match to.checked_sub(from) {
            None => return Err(ApiError::invalid("toBlock must not be below fromBlock")),
            Some(BLOCKS_MAX..) => {
                return Err(ApiError::invalid(format!("a range has at most {BLOCKS_MAX} blocks: ask for fewer")));
            }
            Some(_) => {}
        }
        let network = context.network();
        read(context, move |moment| {
            let newest = moment.markets.height();
            if to > newest {
                return Err(ApiError::invalid(format!("toBlock must not be above {newest}, the latest block")).into());
            }
            let limit = if from == to { usize::MAX } else { EVENTS_MAX };
            let events = events_of(moment, from, to, limit)?.ok_or_else(|| {
                ApiError::invalid(format!("these blocks have more than {EVENTS_MAX} events: ask for fewer blocks"))
            })?;
            listed(moment, events, network)
        })
        .await
    }
}

/// The record of a pool that no factory lists, from the pool index; 404 for an unknown id.
fn cryptoswap_pair(moment: &MarketMoment<'_>, id: AlkaneId) -> Result<Pair, Problem> {
    let index = moment.cryptoswap()?;
    let record = index.map(|index| index.pool(id)).transpose()?.flatten();
    let record = record.ok_or_else(|| ApiError::not_found(format!("there is no pool {id}")))?;
    let [asset0_id, asset1_id] = record.identity.tokens().map(IdText);
    Ok(Pair {
        id: IdText(id),
        dex_key: IdText(AlkaneId::default()),
        asset0_id,
        asset1_id,
        created_at_block_number: record.first_height,
        created_at_block_timestamp: record.first_time,
        created_at_txn_id: None,
        creator: None,
        fee_bps: None,
    })
}

/// Events of pools of factories and of `CryptoSwap` pools; `None` where there are more than `limit`.
fn events_of(
    moment: &MarketMoment<'_>,
    from: u32,
    to: u32,
    limit: usize,
) -> Result<Option<Vec<paraffin_amm::Event>>, Problem> {
    let Some(mut events) = moment.markets.events_of_blocks(from, to, limit)? else { return Ok(None) };
    let Some(index) = moment.cryptoswap()? else { return Ok(Some(events)) };
    let Some(others) = index.markets().events_of_blocks(from, to, limit)? else { return Ok(None) };
    for mut event in others {
        // A contract that answers as both kinds of pool is listed once, as a pool of its factory.
        let Some(pool) = event.action.pool() else { continue };
        if moment.markets.pool(pool.id)?.is_none() {
            event.position.event = event.position.event.saturating_add(CRYPTOSWAP_EVENTS);
            events.push(event);
        }
    }
    events.sort_by_key(|event| event.position);
    Ok((events.len() <= limit).then_some(events))
}

fn listed(
    moment: &MarketMoment<'_>,
    events: Vec<paraffin_amm::Event>,
    network: Network,
) -> Result<EventsAnswer, Problem> {
    let events = with_reserves(events, &moment.contracts, moment.chain.view.is_over).map_err(failed)?;
    Ok(EventsAnswer { events: events.iter().filter_map(|event| listed_event(event, network)).collect() })
}

/// `None` for a trade without a price, as one of its amounts is 0: readers stop at such a trade.
fn listed_event(PoolEvent { event, reserves }: &PoolEvent, network: Network) -> Option<ListedEvent> {
    let pool = event.action.pool()?;
    let block = Block { block_number: event.position.height, block_timestamp: event.time };
    let txn_id = Hash::of(event.txid);
    let (txn_index, event_index) = (event.position.transaction, event.position.event);
    let maker = actor(event, network).unwrap_or_else(|| NO_MAKER.to_owned());
    let pair_id = IdText(pool.id);
    let reserves = reserves
        .map(|[asset0, asset1]| Reserves { asset0: DecimalText::amount(asset0), asset1: DecimalText::amount(asset1) });
    let (event_type, amounts) = match &event.action {
        Action::Swap { sold, bought, .. } => {
            let price_native = DecimalText::price(event.action.price()?, PRICE_PLACES);
            let [sold_amount, bought_amount] = [sold, bought].map(|moved| Some(DecimalText::amount(moved.value)));
            let (asset0_in, asset1_in, asset0_out, asset1_out) = if sold.id == pool.tokens[0] {
                (sold_amount, None, None, bought_amount)
            } else {
                (None, sold_amount, bought_amount, None)
            };
            return Some(ListedEvent::Swap(Swap {
                block,
                event_type: "swap",
                txn_id,
                txn_index,
                event_index,
                maker,
                pair_id,
                asset0_in,
                asset1_in,
                asset0_out,
                asset1_out,
                price_native,
                reserves,
            }));
        }
        Action::Creation { amounts, .. } | Action::Mint { amounts, .. } => ("join", amounts),
        Action::Burn { amounts, .. } => ("exit", amounts),
        Action::Wrap { .. } | Action::Unwrap { .. } => return None,
    };
    let [amount0, amount1] = amounts.map(DecimalText::amount);
    Some(ListedEvent::Liquidity(Liquidity {
        block,
        event_type,
        txn_id,
        txn_index,
        event_index,
        maker,
        pair_id,
        amount0,
        amount1,
        reserves,
    }))
}
