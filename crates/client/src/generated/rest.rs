//! Paraffin REST data API.
// Written from the declarations: docs/clients.md says how.

use crate::route::{Base, Route, Verb, Wrapping};
#[allow(unused_imports, reason = "not every document has all")]
use crate::value::{Amount, NumberOrText, one_of};

/// Liquidity that an address holds.
///
/// From what its unspent outputs hold, no matter who deposited it; the oldest pool first.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct AddressPositions {
    /// `address`.
    pub address: Address,
    /// The factory; the network's own when absent.
    #[serde(rename = "factoryId", default, skip_serializing_if = "Option::is_none")]
    pub factory_id: Option<FactoryId>,
    /// Records of a page. All when absent; more than 500 is taken as 500
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
}

impl AddressPositions {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<Address>) -> Self {
        Self { address: address.into(), factory_id: None, limit: None, offset: None, page: None }
    }
}

impl Route for AddressPositions {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "address-positions";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = AddressPositionsAnswer;
}

/// Alkanes that an address holds, the greatest amount first.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadAddressAddressAlkanes {
    /// `address`.
    pub address: Address,
}

impl ReadAddressAddressAlkanes {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<Address>) -> Self {
        Self { address: address.into() }
    }
}

impl Route for ReadAddressAddressAlkanes {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "address/{address}/alkanes";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = Vec<Token>;
}

/// Balances of an address.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadAddressAddressBalances {
    /// `address`.
    pub address: Address,
}

impl ReadAddressAddressBalances {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<Address>) -> Self {
        Self { address: address.into() }
    }
}

impl Route for ReadAddressAddressBalances {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "address/{address}/balances";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = ReadAddressAddressBalancesAnswer;
}

/// The newest 50 alkanes.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct ReadAlkanes {}

impl ReadAlkanes {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Route for ReadAlkanes {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "alkanes";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = TokenPage;
}

/// One alkane.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadAlkanesId {
    /// `id`.
    pub id: AlkaneIdText,
}

impl ReadAlkanesId {
    /// With what must be given.
    #[must_use]
    pub fn new(id: impl Into<AlkaneIdText>) -> Self {
        Self { id: id.into() }
    }
}

impl Route for ReadAlkanesId {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "alkanes/{id}";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = Token;
}

/// The 100 addresses with the greatest amounts of an alkane.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadAlkanesIdHolders {
    /// `id`.
    pub id: AlkaneIdText,
}

impl ReadAlkanesIdHolders {
    /// With what must be given.
    #[must_use]
    pub fn new(id: impl Into<AlkaneIdText>) -> Self {
        Self { id: id.into() }
    }
}

impl Route for ReadAlkanesIdHolders {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "alkanes/{id}/holders";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = HolderPage;
}

/// Number of addresses that hold an alkane.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadAlkanesIdHoldersCount {
    /// `id`.
    pub id: AlkaneIdText,
}

impl ReadAlkanesIdHoldersCount {
    /// With what must be given.
    #[must_use]
    pub fn new(id: impl Into<AlkaneIdText>) -> Self {
        Self { id: id.into() }
    }
}

impl Route for ReadAlkanesIdHoldersCount {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "alkanes/{id}/holders/count";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = ReadAlkanesIdHoldersCountAnswer;
}

/// Hash of the newest indexed block.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct ReadBlockhash {}

impl ReadBlockhash {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Route for ReadBlockhash {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "blockhash";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = ReadBlockhashAnswer;
}

/// Height of the newest indexed block.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct ReadBlockheight {}

impl ReadBlockheight {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Route for ReadBlockheight {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "blockheight";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = ReadBlockheightAnswer;
}

/// Height of the newest indexed block.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct Blockheight {}

impl Blockheight {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Route for Blockheight {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "blockheight";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = ReadBlockheightAnswer;
}

/// Trades of a pool, the newest first, by the side of the base.
///
/// Where more trades match than are answered, repeat with `end_time` at the time of the oldest: trades have numbers.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadCoingeckoHistoricalTrades {
    /// Base and target of a pool.
    pub ticker_id: TickerId,
    /// Both when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#type: Option<ReadCoingeckoHistoricalTradesType>,
    /// Both sides together: 500 when absent; 0, and more than 5,000, is taken as 5,000. Of the trades in the span of time the newest
    /// 20,000 are looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// At or after this time, Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_time: Option<i64>,
    /// At or before this time, Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_time: Option<i64>,
    /// The network's own when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factory: Option<AlkaneIdText>,
}

impl ReadCoingeckoHistoricalTrades {
    /// With what must be given.
    #[must_use]
    pub fn new(ticker_id: impl Into<TickerId>) -> Self {
        Self { ticker_id: ticker_id.into(), r#type: None, limit: None, start_time: None, end_time: None, factory: None }
    }
}

impl Route for ReadCoingeckoHistoricalTrades {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Keyed;
    const PATH: &'static str = "coingecko/historical_trades";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = ReadCoingeckoHistoricalTradesAnswer;
}

/// Output of trades of growing size as an order book: each order is a thousandth of the pool's reserve of the base.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadCoingeckoOrderbook {
    /// Base and target of a pool.
    pub ticker_id: TickerId,
    /// Orders of both sides together: 200 when absent; 0 is all, more than 1,000 is taken as 1,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// The network's own when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factory: Option<AlkaneIdText>,
}

impl ReadCoingeckoOrderbook {
    /// With what must be given.
    #[must_use]
    pub fn new(ticker_id: impl Into<TickerId>) -> Self {
        Self { ticker_id: ticker_id.into(), depth: None, factory: None }
    }
}

impl Route for ReadCoingeckoOrderbook {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Keyed;
    const PATH: &'static str = "coingecko/orderbook";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = ReadCoingeckoOrderbookAnswer;
}

/// Pools of a factory, the deepest first.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct ReadCoingeckoPairs {
    /// The network's own when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factory: Option<AlkaneIdText>,
    /// Records of a page. 2,000 when absent; more than 2,000 is taken as 2,000
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records of a page. 2,000 when absent; more than 2,000 is taken as 2,000
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
}

impl ReadCoingeckoPairs {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { factory: None, limit: None, count: None, offset: None }
    }
}

impl Route for ReadCoingeckoPairs {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Keyed;
    const PATH: &'static str = "coingecko/pairs";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = Vec<ReadCoingeckoPairsAnswerItem>;
}

/// Pools of a factory that were ever traded, the deepest first, with the trade of the newest 24 hours: 144 buckets of ten minutes, the last of them that of the newest block.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct ReadCoingeckoTickers {
    /// The network's own when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factory: Option<AlkaneIdText>,
    /// Records of a page. 2,000 when absent; more than 2,000 is taken as 2,000
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records of a page. 2,000 when absent; more than 2,000 is taken as 2,000
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
}

impl ReadCoingeckoTickers {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { factory: None, limit: None, count: None, offset: None }
    }
}

impl Route for ReadCoingeckoTickers {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Keyed;
    const PATH: &'static str = "coingecko/tickers";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = Vec<ReadCoingeckoTickersAnswerItem>;
}

/// An alkane.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadDexscreenerAsset {
    /// The id of an alkane, block:tx.
    pub id: AlkaneIdText,
}

impl ReadDexscreenerAsset {
    /// With what must be given.
    #[must_use]
    pub fn new(id: impl Into<AlkaneIdText>) -> Self {
        Self { id: id.into() }
    }
}

impl Route for ReadDexscreenerAsset {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Keyed;
    const PATH: &'static str = "dexscreener/asset";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = ReadDexscreenerAssetAnswer;
}

/// Events of all pools in a range of blocks, in chain order: trades, and liquidity that was added and removed.
///
/// The range has at most 1,000 blocks and, if it has several, at most 10,000 events: an answer is never truncated.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadDexscreenerEvents {
    /// The first block.
    #[serde(rename = "fromBlock")]
    pub from_block: BlockNumber,
    /// The last block; not below the first.
    #[serde(rename = "toBlock")]
    pub to_block: BlockNumber,
}

impl ReadDexscreenerEvents {
    /// With what must be given.
    #[must_use]
    pub fn new(from_block: impl Into<BlockNumber>, to_block: impl Into<BlockNumber>) -> Self {
        Self { from_block: from_block.into(), to_block: to_block.into() }
    }
}

impl Route for ReadDexscreenerEvents {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Keyed;
    const PATH: &'static str = "dexscreener/events";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = ReadDexscreenerEventsAnswer;
}

/// The newest block whose events can be read.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct ReadDexscreenerLatestBlock {}

impl ReadDexscreenerLatestBlock {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Route for ReadDexscreenerLatestBlock {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Keyed;
    const PATH: &'static str = "dexscreener/latest-block";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = ReadDexscreenerLatestBlockAnswer;
}

/// A pool of any factory, or a `CryptoSwap` pool.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadDexscreenerPair {
    /// The id of a pool, block:tx.
    pub id: PoolIdText,
}

impl ReadDexscreenerPair {
    /// With what must be given.
    #[must_use]
    pub fn new(id: impl Into<PoolIdText>) -> Self {
        Self { id: id.into() }
    }
}

impl Route for ReadDexscreenerPair {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Keyed;
    const PATH: &'static str = "dexscreener/pair";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = ReadDexscreenerPairAnswer;
}

/// Balance of all addresses of an account, in satoshis.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct GetAccountBalance {
    /// `account`.
    pub account: Account,
}

impl GetAccountBalance {
    /// With what must be given.
    #[must_use]
    pub fn new(account: impl Into<Account>) -> Self {
        Self { account: account.into() }
    }
}

impl Route for GetAccountBalance {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-account-balance";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = Balance;
}

/// Unspent outputs of all addresses of an account, newest first.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct GetAccountUtxos {
    /// `account`.
    pub account: Account,
    /// All when absent; more than 200,000 is taken as 200,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
}

impl GetAccountUtxos {
    /// With what must be given.
    #[must_use]
    pub fn new(account: impl Into<Account>) -> Self {
        Self { account: account.into(), limit: None }
    }
}

impl Route for GetAccountUtxos {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-account-utxos";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = UtxoPage;
}

/// Balance of an address, in satoshis.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct GetAddressBalance {
    /// `address`.
    pub address: Address,
}

impl GetAddressBalance {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<Address>) -> Self {
        Self { address: address.into() }
    }
}

impl Route for GetAddressBalance {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-address-balance";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = GetAddressBalanceAnswer;
}

/// Balances of an address, without envelope.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct GetAddressBalances {
    /// `address`.
    pub address: Address,
    /// Alias of `include_outpoints`.
    #[serde(rename = "includeOutpoints", default, skip_serializing_if = "Option::is_none")]
    pub include_outpoints: Option<bool>,
    /// Whether to list the balances of each output as well; `false` when absent.
    #[serde(rename = "include_outpoints", default, skip_serializing_if = "Option::is_none")]
    pub include_outpoints_: Option<bool>,
}

impl GetAddressBalances {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<Address>) -> Self {
        Self { address: address.into(), include_outpoints: None, include_outpoints_: None }
    }
}

impl Route for GetAddressBalances {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-address-balances";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = GetAddressBalancesAnswer;
}

/// What the outputs of an address hold; in the envelope and beside it.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct GetAddressOutpoints {
    /// `address`.
    pub address: Address,
    /// Records of a page. All when absent; more than 20,000 is taken as 20,000
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
}

impl GetAddressOutpoints {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<Address>) -> Self {
        Self { address: address.into(), limit: None, offset: None, page: None }
    }
}

impl Route for GetAddressOutpoints {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-address-outpoints";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = GetAddressOutpointsAnswer;
}

/// Withdrawals of an address, newest first.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct GetAddressPoolBurnHistory {
    /// `address`.
    pub address: Address,
    /// Records of a page. 50 when absent; more than 500 is taken as 500
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
    /// true when absent; "all" for failed attempts as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successful: Option<GetAddressPoolBurnHistorySuccessful>,
}

impl GetAddressPoolBurnHistory {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<Address>) -> Self {
        Self { address: address.into(), limit: None, offset: None, page: None, successful: None }
    }
}

impl Route for GetAddressPoolBurnHistory {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-address-pool-burn-history";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = BurnPage;
}

/// Pools that an address created, newest first.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct GetAddressPoolCreationHistory {
    /// `address`.
    pub address: Address,
    /// Records of a page. 50 when absent; more than 500 is taken as 500
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
    /// true when absent; "all" for failed attempts as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successful: Option<GetAddressPoolBurnHistorySuccessful>,
}

impl GetAddressPoolCreationHistory {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<Address>) -> Self {
        Self { address: address.into(), limit: None, offset: None, page: None, successful: None }
    }
}

impl Route for GetAddressPoolCreationHistory {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-address-pool-creation-history";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = CreationPage;
}

/// Deposits of an address, newest first.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct GetAddressPoolMintHistory {
    /// `address`.
    pub address: Address,
    /// Records of a page. 50 when absent; more than 500 is taken as 500
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
    /// true when absent; "all" for failed attempts as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successful: Option<GetAddressPoolBurnHistorySuccessful>,
}

impl GetAddressPoolMintHistory {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<Address>) -> Self {
        Self { address: address.into(), limit: None, offset: None, page: None, successful: None }
    }
}

impl Route for GetAddressPoolMintHistory {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-address-pool-mint-history";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = MintPage;
}

/// Swaps of an address with a pool, newest first.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct GetAddressSwapHistoryForPool {
    /// `address`.
    pub address: Address,
    /// Records of a page. 50 when absent; more than 500 is taken as 500
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
    /// `poolId`.
    #[serde(rename = "poolId", default, skip_serializing_if = "Option::is_none")]
    pub pool_id: Option<PoolId>,
    /// true when absent; "all" for failed attempts as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successful: Option<GetAddressPoolBurnHistorySuccessful>,
}

impl GetAddressSwapHistoryForPool {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<Address>) -> Self {
        Self { address: address.into(), limit: None, offset: None, page: None, pool_id: None, successful: None }
    }
}

impl Route for GetAddressSwapHistoryForPool {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-address-swap-history-for-pool";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = SwapPage;
}

/// Swaps of an address with an alkane on either side, newest first.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct GetAddressSwapHistoryForToken {
    /// `address`.
    pub address: Address,
    /// The alkane.
    #[serde(rename = "alkaneId", default, skip_serializing_if = "Option::is_none")]
    pub alkane_id: Option<AlkaneId>,
    /// Records of a page. 50 when absent; more than 500 is taken as 500
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
    /// true when absent; "all" for failed attempts as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successful: Option<GetAddressPoolBurnHistorySuccessful>,
}

impl GetAddressSwapHistoryForToken {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<Address>) -> Self {
        Self { address: address.into(), alkane_id: None, limit: None, offset: None, page: None, successful: None }
    }
}

impl Route for GetAddressSwapHistoryForToken {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-address-swap-history-for-token";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = SwapPage;
}

/// Bitcoin that an address unwrapped, newest first.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct GetAddressUnwrapHistory {
    /// `address`.
    pub address: Address,
    /// Records of a page. 50 when absent; more than 500 is taken as 500
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
    /// true when absent; "all" for failed attempts as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successful: Option<GetAddressPoolBurnHistorySuccessful>,
}

impl GetAddressUnwrapHistory {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<Address>) -> Self {
        Self { address: address.into(), limit: None, offset: None, page: None, successful: None }
    }
}

impl Route for GetAddressUnwrapHistory {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-address-unwrap-history";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = UnwrapPage;
}

/// Unspent outputs of an address, newest first.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct GetAddressUtxos {
    /// `address`.
    pub address: Address,
    /// All when absent; more than 200,000 is taken as 200,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
}

impl GetAddressUtxos {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<Address>) -> Self {
        Self { address: address.into(), limit: None }
    }
}

impl Route for GetAddressUtxos {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-address-utxos";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = UtxoPage;
}

/// Bitcoin that an address wrapped, newest first.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct GetAddressWrapHistory {
    /// `address`.
    pub address: Address,
    /// Records of a page. 50 when absent; more than 500 is taken as 500
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
    /// true when absent; "all" for failed attempts as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successful: Option<GetAddressPoolBurnHistorySuccessful>,
}

impl GetAddressWrapHistory {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<Address>) -> Self {
        Self { address: address.into(), limit: None, offset: None, page: None, successful: None }
    }
}

impl Route for GetAddressWrapHistory {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-address-wrap-history";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = WrapPage;
}

/// One alkane.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetAlkaneDetails {
    /// `alkaneId`.
    #[serde(rename = "alkaneId", default, skip_serializing_if = "Option::is_none")]
    pub alkane_id: Option<AlkaneId>,
}

impl GetAlkaneDetails {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { alkane_id: None }
    }
}

impl Route for GetAlkaneDetails {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-alkane-details";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = Token;
}

/// Addresses that hold an alkane, the greatest amount first, without envelope.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetAlkaneHolders {
    /// `alkane`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alkane: Option<AlkaneId>,
    /// Records of a page. 100 when absent; more than 1,000 is taken as 1,000
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
}

impl GetAlkaneHolders {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { alkane: None, limit: None, offset: None, page: None }
    }
}

impl Route for GetAlkaneHolders {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-alkane-holders";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = HolderPage;
}

/// Number of addresses that hold an alkane, without envelope.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetAlkaneHoldersCount {
    /// `alkane`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alkane: Option<AlkaneId>,
}

impl GetAlkaneHoldersCount {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { alkane: None }
    }
}

impl Route for GetAlkaneHoldersCount {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-alkane-holders-count";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = GetAlkaneHoldersCountAnswer;
}

/// Pairs of an alkane by pages, each with its direct way, or the ways between two through at most three pools.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetAlkaneSwapPairDetails {
    /// The factory; the network's own when absent.
    #[serde(rename = "factoryId", default, skip_serializing_if = "Option::is_none")]
    pub factory_id: Option<FactoryId>,
    /// Records of a page. 50 when absent; more than 500 is taken as 500
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
    /// An alkane.
    #[serde(rename = "tokenAId", default, skip_serializing_if = "Option::is_none")]
    pub token_aid: Option<AlkaneId>,
    /// An alkane.
    #[serde(rename = "tokenBId", default, skip_serializing_if = "Option::is_none")]
    pub token_bid: Option<AlkaneId>,
    /// An alkane.
    #[serde(rename = "tokenId", default, skip_serializing_if = "Option::is_none")]
    pub token_id: Option<AlkaneId>,
}

impl GetAlkaneSwapPairDetails {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { factory_id: None, limit: None, offset: None, page: None, token_aid: None, token_bid: None, token_id: None }
    }
}

impl Route for GetAlkaneSwapPairDetails {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-alkane-swap-pair-details";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = GetAlkaneSwapPairDetailsAnswer;
}

/// All alkanes, the newest first or in the requested order.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetAlkanes {
    /// Records of a page. 50 when absent; more than 500 is taken as 500
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// desc when absent, names asc.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<GetAlkanesOrder>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
    /// Part of a name or symbol, or an id.
    #[serde(rename = "searchQuery", default, skip_serializing_if = "Option::is_none")]
    pub search_query: Option<String>,
    /// Height when absent; volume sorts by the trade of the newest day, then week, month and all time.
    #[serde(rename = "sortBy", default, skip_serializing_if = "Option::is_none")]
    pub sort_by: Option<GetAlkanesSortBy>,
}

impl GetAlkanes {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { limit: None, offset: None, order: None, page: None, search_query: None, sort_by: None }
    }
}

impl Route for GetAlkanes {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-alkanes";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = TokenPage;
}

/// Alkanes that an address holds, the greatest amount first.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct GetAlkanesByAddress {
    /// `address`.
    pub address: Address,
    /// Records of a page. All when absent; more than 20,000 is taken as 20,000
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
}

impl GetAlkanesByAddress {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<Address>) -> Self {
        Self { address: address.into(), limit: None, offset: None, page: None }
    }
}

impl Route for GetAlkanesByAddress {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-alkanes-by-address";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = Vec<Token>;
}

/// Unspent outputs of an address that hold alkanes.
///
/// Outputs spent by unconfirmed transactions are left out.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct GetAlkanesUtxo {
    /// `address`.
    pub address: Address,
    /// Records of a page. All when absent; more than 20,000 is taken as 20,000
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
}

impl GetAlkanesUtxo {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<Address>) -> Self {
        Self { address: address.into(), limit: None, offset: None, page: None }
    }
}

impl Route for GetAlkanesUtxo {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-alkanes-utxo";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = Vec<Utxo>;
}

/// Everything that an address did on markets, newest first.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct GetAllAddressAmmTxHistory {
    /// `address`.
    pub address: Address,
    /// Records of a page. 50 when absent; more than 500 is taken as 500
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
    /// true when absent; "all" for failed attempts as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successful: Option<GetAddressPoolBurnHistorySuccessful>,
    /// Everything when absent.
    #[serde(rename = "transactionType", default, skip_serializing_if = "Option::is_none")]
    pub transaction_type: Option<GetAllAddressAmmTxHistoryTransactionType>,
}

impl GetAllAddressAmmTxHistory {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<Address>) -> Self {
        Self { address: address.into(), limit: None, offset: None, page: None, successful: None, transaction_type: None }
    }
}

impl Route for GetAllAddressAmmTxHistory {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-all-address-amm-tx-history";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = Activity;
}

/// Everything on markets, newest first.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetAllAmmTxHistory {
    /// Records of a page. 50 when absent; more than 500 is taken as 500
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
    /// true when absent; "all" for failed attempts as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successful: Option<GetAddressPoolBurnHistorySuccessful>,
    /// Everything when absent.
    #[serde(rename = "transactionType", default, skip_serializing_if = "Option::is_none")]
    pub transaction_type: Option<GetAllAddressAmmTxHistoryTransactionType>,
}

impl GetAllAmmTxHistory {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { limit: None, offset: None, page: None, successful: None, transaction_type: None }
    }
}

impl Route for GetAllAmmTxHistory {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-all-amm-tx-history";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = Activity;
}

/// Everything on a pool, newest first, also by kinds.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetAllHistory {
    /// Everything when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<GetAllHistoryCategory>,
    /// Records of a page. 50 when absent; more than 500 is taken as 500
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
    /// A pool; all pools of the network's factory when absent.
    #[serde(rename = "poolId", default, skip_serializing_if = "Option::is_none")]
    pub pool_id: Option<PoolId>,
    /// true when absent; "all" for failed attempts as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successful: Option<GetAddressPoolBurnHistorySuccessful>,
}

impl GetAllHistory {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { category: None, limit: None, offset: None, page: None, pool_id: None, successful: None }
    }
}

impl Route for GetAllHistory {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-all-history";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = TaggedActivity;
}

/// Pools of a factory with what they are worth.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetAllPoolsDetails {
    /// Only pools whose liquidity this address holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Address>,
    /// The factory; the network's own when absent.
    #[serde(rename = "factoryId", default, skip_serializing_if = "Option::is_none")]
    pub factory_id: Option<FactoryId>,
    /// Records of a page. All when absent; more than 20,000 is taken as 20,000
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// The greatest first when absent, but the oldest, and names from A.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<GetAlkanesOrder>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
    /// Part of a name, or the id of a pool or of one of its alkanes.
    #[serde(rename = "searchQuery", default, skip_serializing_if = "Option::is_none")]
    pub search_query: Option<String>,
    /// The factory's own order when absent.
    #[serde(rename = "sortBy", default, skip_serializing_if = "Option::is_none")]
    pub sort_by: Option<GetAllPoolsDetailsSortBy>,
}

impl GetAllPoolsDetails {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { address: None, factory_id: None, limit: None, offset: None, order: None, page: None, search_query: None, sort_by: None }
    }
}

impl Route for GetAllPoolsDetails {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-all-pools-details";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = GetAllPoolsDetailsAnswer;
}

/// Pairs that pools of a factory trade.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetAllTokenPairs {
    /// The factory; the network's own when absent.
    #[serde(rename = "factoryId", default, skip_serializing_if = "Option::is_none")]
    pub factory_id: Option<FactoryId>,
    /// Records of a page. All when absent; more than 20,000 is taken as 20,000
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
}

impl GetAllTokenPairs {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { factory_id: None, limit: None, offset: None, page: None }
    }
}

impl Route for GetAllTokenPairs {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-all-token-pairs";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = PairPage;
}

/// Bitcoin that was unwrapped, newest first.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetAllUnwrapHistory {
    /// Records of a page. 50 when absent; more than 500 is taken as 500
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
    /// true when absent; "all" for failed attempts as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successful: Option<GetAddressPoolBurnHistorySuccessful>,
}

impl GetAllUnwrapHistory {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { limit: None, offset: None, page: None, successful: None }
    }
}

impl Route for GetAllUnwrapHistory {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-all-unwrap-history";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = UnwrapPage;
}

/// Bitcoin that was wrapped, newest first.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetAllWrapHistory {
    /// Records of a page. 50 when absent; more than 500 is taken as 500
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
    /// true when absent; "all" for failed attempts as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successful: Option<GetAddressPoolBurnHistorySuccessful>,
}

impl GetAllWrapHistory {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { limit: None, offset: None, page: None, successful: None }
    }
}

impl Route for GetAllWrapHistory {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-all-wrap-history";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = WrapPage;
}

/// Unspent outputs of an address that hold liquidity.
///
/// Of any pool, the oldest first; those that an unconfirmed transaction spends are left out.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct GetAmmUtxos {
    /// `address`.
    pub address: Address,
    /// Records of a page. All when absent; more than 500 is taken as 500
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
}

impl GetAmmUtxos {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<Address>) -> Self {
        Self { address: address.into(), limit: None, offset: None, page: None }
    }
}

impl Route for GetAmmUtxos {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-amm-utxos";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = GetAmmUtxosAnswer;
}

/// The bitcoin price over time.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct GetBitcoinMarketChart {
    /// The window, which ends at the newest point: every point of a day, the last of each hour of 7 or 30 days, the last of each
    /// UTC day of 365.
    pub days: GetBitcoinMarketChartDays,
}

impl GetBitcoinMarketChart {
    /// With what must be given.
    #[must_use]
    pub fn new(days: impl Into<GetBitcoinMarketChartDays>) -> Self {
        Self { days: days.into() }
    }
}

impl Route for GetBitcoinMarketChart {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-bitcoin-market-chart";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = GetBitcoinMarketChartAnswer;
}

/// The newest bitcoin price, and the highest and lowest of 52 weeks.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetBitcoinMarketWeekly {}

impl GetBitcoinMarketWeekly {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Route for GetBitcoinMarketWeekly {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-bitcoin-market-weekly";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = GetBitcoinMarketWeeklyAnswer;
}

/// The market that the bitcoin price comes from.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetBitcoinMarkets {}

impl GetBitcoinMarkets {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Route for GetBitcoinMarkets {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-bitcoin-markets";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = Vec<GetBitcoinMarketsAnswerItem>;
}

/// The newest bitcoin price.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetBitcoinPrice {}

impl GetBitcoinPrice {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Route for GetBitcoinPrice {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-bitcoin-price";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = GetBitcoinPriceAnswer;
}

/// Hash of the newest indexed block.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetBlockHash {}

impl GetBlockHash {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Route for GetBlockHash {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-block-hash";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = ReadBlockhashAnswer;
}

/// Height of the newest indexed block.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetBlockHeight {}

impl GetBlockHeight {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Route for GetBlockHeight {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-block-height";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = ReadBlockheightAnswer;
}

/// Withdrawals from a pool, newest first.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetBurnHistory {
    /// Records of a page. 50 when absent; more than 500 is taken as 500
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
    /// A pool; all pools when absent.
    #[serde(rename = "poolId", default, skip_serializing_if = "Option::is_none")]
    pub pool_id: Option<PoolId>,
    /// true when absent; "all" for failed attempts as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successful: Option<GetAddressPoolBurnHistorySuccessful>,
}

impl GetBurnHistory {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { limit: None, offset: None, page: None, pool_id: None, successful: None }
    }
}

impl Route for GetBurnHistory {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-burn-history";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = BurnPage;
}

/// The newest candles of a pool, of token 1 for token 0.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetCandles {
    /// Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_time: Option<NumberOrText>,
    /// 1h when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<String>,
    /// 500 when absent; more than 2,000 is taken as 2,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// The pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolId>,
    /// Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_time: Option<NumberOrText>,
}

impl GetCandles {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { end_time: None, interval: None, limit: None, pool: None, start_time: None }
    }
}

impl Route for GetCandles {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-candles";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = GetCandlesAnswer;
}

/// Number of addresses that hold an alkane.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetHolderCount {
    /// `alkaneId`.
    #[serde(rename = "alkaneId", default, skip_serializing_if = "Option::is_none")]
    pub alkane_id: Option<AlkaneId>,
}

impl GetHolderCount {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { alkane_id: None }
    }
}

impl Route for GetHolderCount {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-holder-count";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = ReadAlkanesIdHoldersCountAnswer;
}

/// Addresses that hold an alkane, the greatest amount first.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetHolders {
    /// `alkaneId`.
    #[serde(rename = "alkaneId", default, skip_serializing_if = "Option::is_none")]
    pub alkane_id: Option<AlkaneId>,
    /// Records of a page. 100 when absent; more than 1,000 is taken as 1,000
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Smallest amount of the addresses that are listed.
    #[serde(rename = "minBalance", default, skip_serializing_if = "Option::is_none")]
    pub min_balance: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
}

impl GetHolders {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { alkane_id: None, limit: None, min_balance: None, offset: None, page: None }
    }
}

impl Route for GetHolders {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-holders";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = GetHoldersAnswer;
}

/// Number of addresses that hold an alkane.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetHoldersCount {
    /// `alkaneId`.
    #[serde(rename = "alkaneId", default, skip_serializing_if = "Option::is_none")]
    pub alkane_id: Option<AlkaneId>,
}

impl GetHoldersCount {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { alkane_id: None }
    }
}

impl Route for GetHoldersCount {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-holders-count";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = ReadAlkanesIdHoldersCountAnswer;
}

/// Height and hash of the newest indexed block.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetIndexerPosition {}

impl GetIndexerPosition {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Route for GetIndexerPosition {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-indexer-position";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = GetIndexerPositionAnswer;
}

/// Messages of the transactions of an address, newest first.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct GetIntentHistory {
    /// `address`.
    pub address: Address,
    /// Records of a page. 50 when absent; more than 500 is taken as 500
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
    /// Alias of `limit`, which takes precedence.
    #[serde(rename = "totalTxs", default, skip_serializing_if = "Option::is_none")]
    pub total_txs: Option<NumberOrText>,
}

impl GetIntentHistory {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<Address>) -> Self {
        Self { address: address.into(), limit: None, offset: None, page: None, total_txs: None }
    }
}

impl Route for GetIntentHistory {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-intent-history";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = GetIntentHistoryAnswer;
}

/// Values in the storage of a contract, without envelope.
///
/// A key that is text is given as text, any other in hexadecimal digits after 0x.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetKeys {
    /// `alkane`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alkane: Option<AlkaneId>,
    /// 100 when absent; more than 1,000 is taken as 1,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Prefix of the keys: text, or hexadecimal digits after 0x.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
}

impl GetKeys {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { alkane: None, limit: None, prefix: None }
    }
}

impl Route for GetKeys {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-keys";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = GetKeysAnswer;
}

/// Deposits into a pool, newest first.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetMintHistory {
    /// Records of a page. 50 when absent; more than 500 is taken as 500
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
    /// A pool; all pools when absent.
    #[serde(rename = "poolId", default, skip_serializing_if = "Option::is_none")]
    pub pool_id: Option<PoolId>,
    /// true when absent; "all" for failed attempts as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successful: Option<GetAddressPoolBurnHistorySuccessful>,
}

impl GetMintHistory {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { limit: None, offset: None, page: None, pool_id: None, successful: None }
    }
}

impl Route for GetMintHistory {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-mint-history";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = MintPage;
}

/// Balances of an output, without envelope.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct GetOutpointBalances {
    /// `outpoint`.
    pub outpoint: Outpoint,
}

impl GetOutpointBalances {
    /// With what must be given.
    #[must_use]
    pub fn new(outpoint: impl Into<Outpoint>) -> Self {
        Self { outpoint: outpoint.into() }
    }
}

impl Route for GetOutpointBalances {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-outpoint-balances";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = GetOutpointBalancesAnswer;
}

/// Withdrawals from a pool, newest first.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetPoolBurnHistory {
    /// Records of a page. 50 when absent; more than 500 is taken as 500
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
    /// A pool; all pools when absent.
    #[serde(rename = "poolId", default, skip_serializing_if = "Option::is_none")]
    pub pool_id: Option<PoolId>,
    /// true when absent; "all" for failed attempts as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successful: Option<GetAddressPoolBurnHistorySuccessful>,
}

impl GetPoolBurnHistory {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { limit: None, offset: None, page: None, pool_id: None, successful: None }
    }
}

impl Route for GetPoolBurnHistory {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-pool-burn-history";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = BurnPage;
}

/// One pool with what it is worth.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetPoolById {
    /// 404 when it did not create the pool.
    #[serde(rename = "factoryId", default, skip_serializing_if = "Option::is_none")]
    pub factory_id: Option<FactoryId>,
    /// `poolId`.
    #[serde(rename = "poolId", default, skip_serializing_if = "Option::is_none")]
    pub pool_id: Option<PoolId>,
}

impl GetPoolById {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { factory_id: None, pool_id: None }
    }
}

impl Route for GetPoolById {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-pool-by-id";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = PoolDetails;
}

/// Pools that a factory created, newest first.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetPoolCreationHistory {
    /// The factory; the network's own when absent.
    #[serde(rename = "factoryId", default, skip_serializing_if = "Option::is_none")]
    pub factory_id: Option<FactoryId>,
    /// Records of a page. 50 when absent; more than 500 is taken as 500
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
    /// A pool; all pools when absent.
    #[serde(rename = "poolId", default, skip_serializing_if = "Option::is_none")]
    pub pool_id: Option<PoolId>,
    /// true when absent; "all" for failed attempts as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successful: Option<GetAddressPoolBurnHistorySuccessful>,
}

impl GetPoolCreationHistory {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { factory_id: None, limit: None, offset: None, page: None, pool_id: None, successful: None }
    }
}

impl Route for GetPoolCreationHistory {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-pool-creation-history";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = CreationPage;
}

/// One pool with what it is worth.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetPoolDetails {
    /// 404 when it did not create the pool.
    #[serde(rename = "factoryId", default, skip_serializing_if = "Option::is_none")]
    pub factory_id: Option<FactoryId>,
    /// `poolId`.
    #[serde(rename = "poolId", default, skip_serializing_if = "Option::is_none")]
    pub pool_id: Option<PoolId>,
}

impl GetPoolDetails {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { factory_id: None, pool_id: None }
    }
}

impl Route for GetPoolDetails {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-pool-details";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = PoolDetails;
}

/// Everything on a pool, newest first, also by kinds.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetPoolHistory {
    /// Everything when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<GetAllHistoryCategory>,
    /// Records of a page. 50 when absent; more than 500 is taken as 500
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
    /// A pool; all pools of the network's factory when absent.
    #[serde(rename = "poolId", default, skip_serializing_if = "Option::is_none")]
    pub pool_id: Option<PoolId>,
    /// true when absent; "all" for failed attempts as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successful: Option<GetAddressPoolBurnHistorySuccessful>,
}

impl GetPoolHistory {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { category: None, limit: None, offset: None, page: None, pool_id: None, successful: None }
    }
}

impl Route for GetPoolHistory {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-pool-history";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = TaggedActivity;
}

/// Deposits into a pool, newest first.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetPoolMintHistory {
    /// Records of a page. 50 when absent; more than 500 is taken as 500
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
    /// A pool; all pools when absent.
    #[serde(rename = "poolId", default, skip_serializing_if = "Option::is_none")]
    pub pool_id: Option<PoolId>,
    /// true when absent; "all" for failed attempts as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successful: Option<GetAddressPoolBurnHistorySuccessful>,
}

impl GetPoolMintHistory {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { limit: None, offset: None, page: None, pool_id: None, successful: None }
    }
}

impl Route for GetPoolMintHistory {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-pool-mint-history";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = MintPage;
}

/// Swaps of a pool, newest first.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetPoolSwapHistory {
    /// Records of a page. 50 when absent; more than 500 is taken as 500
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
    /// A pool; all pools when absent.
    #[serde(rename = "poolId", default, skip_serializing_if = "Option::is_none")]
    pub pool_id: Option<PoolId>,
    /// true when absent; "all" for failed attempts as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successful: Option<GetAddressPoolBurnHistorySuccessful>,
}

impl GetPoolSwapHistory {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { limit: None, offset: None, page: None, pool_id: None, successful: None }
    }
}

impl Route for GetPoolSwapHistory {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-pool-swap-history";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = SwapPage;
}

/// Pools of a factory.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetPools {
    /// Only pools whose liquidity this address holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Address>,
    /// The factory; the network's own when absent.
    #[serde(rename = "factoryId", default, skip_serializing_if = "Option::is_none")]
    pub factory_id: Option<FactoryId>,
    /// Records of a page. All when absent; more than 20,000 is taken as 20,000
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// The greatest first when absent, but the oldest, and names from A.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<GetAlkanesOrder>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
    /// Part of a name, or the id of a pool or of one of its alkanes.
    #[serde(rename = "searchQuery", default, skip_serializing_if = "Option::is_none")]
    pub search_query: Option<String>,
    /// The factory's own order when absent.
    #[serde(rename = "sortBy", default, skip_serializing_if = "Option::is_none")]
    pub sort_by: Option<GetAllPoolsDetailsSortBy>,
}

impl GetPools {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { address: None, factory_id: None, limit: None, offset: None, order: None, page: None, search_query: None, sort_by: None }
    }
}

impl Route for GetPools {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-pools";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = PoolPage;
}

/// Reorganisations that this instance followed, the newest first: of the newest 1,000 blocks that left the best chain after they were indexed. A copy that starts from a snapshot has those of the instance that wrote it.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetReorgs {
    /// Records of a page. 20 when absent; more than 100 is taken as 100
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
}

impl GetReorgs {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { limit: None, offset: None, page: None }
    }
}

impl Route for GetReorgs {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-reorgs";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = GetReorgsAnswer;
}

/// What a pool holds.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetReserves {
    /// The pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolId>,
}

impl GetReserves {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { pool: None }
    }
}

impl Route for GetReserves {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-reserves";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = GetReservesAnswer;
}

/// Swaps of a pool, newest first.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetSwapHistory {
    /// Records of a page. 50 when absent; more than 500 is taken as 500
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
    /// A pool; all pools when absent.
    #[serde(rename = "poolId", default, skip_serializing_if = "Option::is_none")]
    pub pool_id: Option<PoolId>,
    /// true when absent; "all" for failed attempts as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successful: Option<GetAddressPoolBurnHistorySuccessful>,
}

impl GetSwapHistory {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { limit: None, offset: None, page: None, pool_id: None, successful: None }
    }
}

impl Route for GetSwapHistory {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-swap-history";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = SwapPage;
}

/// Balance of a taproot address, in satoshis.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct GetTaprootBalance {
    /// `address`.
    pub address: Address,
}

impl GetTaprootBalance {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<Address>) -> Self {
        Self { address: address.into() }
    }
}

impl Route for GetTaprootBalance {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-taproot-balance";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = Balance;
}

/// Transactions of a taproot address, unconfirmed first, then the newest.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct GetTaprootHistory {
    /// `taprootAddress`.
    #[serde(rename = "taprootAddress")]
    pub taproot_address: Address,
    /// 25 when absent; more than 500 is taken as 500.
    #[serde(rename = "totalTxs", default, skip_serializing_if = "Option::is_none")]
    pub total_txs: Option<NumberOrText>,
}

impl GetTaprootHistory {
    /// With what must be given.
    #[must_use]
    pub fn new(taproot_address: impl Into<Address>) -> Self {
        Self { taproot_address: taproot_address.into(), total_txs: None }
    }
}

impl Route for GetTaprootHistory {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-taproot-history";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = GetTaprootHistoryAnswer;
}

/// Pairs with an alkane on either side.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetTokenPairs {
    /// An alkane.
    #[serde(rename = "alkaneId", default, skip_serializing_if = "Option::is_none")]
    pub alkane_id: Option<AlkaneId>,
    /// The factory; the network's own when absent.
    #[serde(rename = "factoryId", default, skip_serializing_if = "Option::is_none")]
    pub factory_id: Option<FactoryId>,
    /// Records of a page. All when absent; more than 20,000 is taken as 20,000
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
}

impl GetTokenPairs {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { alkane_id: None, factory_id: None, limit: None, offset: None, page: None }
    }
}

impl Route for GetTokenPairs {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-token-pairs";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = PairPage;
}

/// Swaps with an alkane on either side, newest first.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetTokenSwapHistory {
    /// The alkane.
    #[serde(rename = "alkaneId", default, skip_serializing_if = "Option::is_none")]
    pub alkane_id: Option<AlkaneId>,
    /// Records of a page. 50 when absent; more than 500 is taken as 500
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
    /// true when absent; "all" for failed attempts as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successful: Option<GetAddressPoolBurnHistorySuccessful>,
}

impl GetTokenSwapHistory {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { alkane_id: None, limit: None, offset: None, page: None, successful: None }
    }
}

impl Route for GetTokenSwapHistory {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-token-swap-history";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = SwapPage;
}

/// All bitcoin that was ever unwrapped, less what was returned, in satoshis.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetTotalUnwrapAmount {}

impl GetTotalUnwrapAmount {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Route for GetTotalUnwrapAmount {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-total-unwrap-amount";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = GetTotalUnwrapAmountAnswer;
}

/// The newest trades of a pool, with what it held at the end of their blocks.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GetTrades {
    /// Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_time: Option<NumberOrText>,
    /// 100 when absent; more than 1,000 is taken as 1,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// The pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolId>,
    /// Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_time: Option<NumberOrText>,
}

impl GetTrades {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { end_time: None, limit: None, pool: None, start_time: None }
    }
}

impl Route for GetTrades {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "get-trades";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = GetTradesAnswer;
}

/// Alkanes and pools by id, symbol and name.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct GlobalAlkanesSearch {
    /// Records of a page. 50 when absent; more than 500 is taken as 500
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
    /// Another way to tell the offset: counts from 1, and 0 acts as 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<NumberOrText>,
    /// Text of a search.
    #[serde(rename = "searchQuery", default, skip_serializing_if = "Option::is_none")]
    pub search_query: Option<String>,
}

impl GlobalAlkanesSearch {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { limit: None, offset: None, page: None, search_query: None }
    }
}

impl Route for GlobalAlkanesSearch {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "global-alkanes-search";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = GlobalAlkanesSearchAnswer;
}

/// Whether the instance answers from the newest blocks; needs no key and is not counted.
///
/// JSON at `/v4/api/health`; plain `OK` at `/health` and below a key.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct ReadHealth {}

impl ReadHealth {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Route for ReadHealth {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "health";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = ReadHealthAnswer;
}

/// Whether the instance answers from the newest blocks; needs no key and is not counted.
///
/// JSON at `/v4/api/health`; plain `OK` at `/health` and below a key.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct Health {}

impl Health {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Route for Health {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "health";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = ReadHealthAnswer;
}

/// Height and hash of the newest indexed block.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct ReadIndexerPosition {}

impl ReadIndexerPosition {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Route for ReadIndexerPosition {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "indexer-position";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = GetIndexerPositionAnswer;
}

/// Height of the newest indexed block, without envelope.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct ReadIndexerHeight {}

impl ReadIndexerHeight {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Route for ReadIndexerHeight {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "indexer/height";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = ReadBlockheightAnswer;
}

/// The bitcoin price over time.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadMarketChart {
    /// The window, which ends at the newest point: every point of a day, the last of each hour of 7 or 30 days, the last of each
    /// UTC day of 365.
    pub days: GetBitcoinMarketChartDays,
}

impl ReadMarketChart {
    /// With what must be given.
    #[must_use]
    pub fn new(days: impl Into<GetBitcoinMarketChartDays>) -> Self {
        Self { days: days.into() }
    }
}

impl Route for ReadMarketChart {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "market-chart";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = GetBitcoinMarketChartAnswer;
}

/// The events of a block in their order.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadOpiV1Brc20ActivityOnBlock {
    /// The block.
    pub block_height: Brc20Height,
}

impl ReadOpiV1Brc20ActivityOnBlock {
    /// With what must be given.
    #[must_use]
    pub fn new(block_height: impl Into<Brc20Height>) -> Self {
        Self { block_height: block_height.into() }
    }
}

impl Route for ReadOpiV1Brc20ActivityOnBlock {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::BesideApi;
    const PATH: &'static str = "opi/v1/brc20/activity_on_block";
    const WRAPPING: Wrapping = Wrapping::Result;
    type Answer = Vec<Brc20Event>;
}

/// Balance of a script.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadOpiV1Brc20Balance {
    /// The token.
    pub ticker: Brc20Ticker,
    /// This or `pkscript`; where both stand they must agree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Address>,
    /// The script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pkscript: Option<Script>,
}

impl ReadOpiV1Brc20Balance {
    /// With what must be given.
    #[must_use]
    pub fn new(ticker: impl Into<Brc20Ticker>) -> Self {
        Self { ticker: ticker.into(), address: None, pkscript: None }
    }
}

impl Route for ReadOpiV1Brc20Balance {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::BesideApi;
    const PATH: &'static str = "opi/v1/brc20/balance";
    const WRAPPING: Wrapping = Wrapping::Result;
    type Answer = ReadOpiV1Brc20BalanceAnswer;
}

/// Balance of a script before a block.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadOpiV1Brc20BalanceOnBlock {
    /// Height of the block; the balance is as of its beginning.
    pub block_height: Brc20Height,
    /// The script.
    pub pkscript: Script,
    /// The token.
    pub ticker: Brc20Ticker,
}

impl ReadOpiV1Brc20BalanceOnBlock {
    /// With what must be given.
    #[must_use]
    pub fn new(block_height: impl Into<Brc20Height>, pkscript: impl Into<Script>, ticker: impl Into<Brc20Ticker>) -> Self {
        Self { block_height: block_height.into(), pkscript: pkscript.into(), ticker: ticker.into() }
    }
}

impl Route for ReadOpiV1Brc20BalanceOnBlock {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::BesideApi;
    const PATH: &'static str = "opi/v1/brc20/balance_on_block";
    const WRAPPING: Wrapping = Wrapping::Result;
    type Answer = ReadOpiV1Brc20BalanceOnBlockAnswer;
}

/// Node calls of the programmable module: none, as it does not run here.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadOpiV1Brc20BitcoinRpcResultsOnBlock {
    /// The block.
    pub block_height: Brc20Height,
}

impl ReadOpiV1Brc20BitcoinRpcResultsOnBlock {
    /// With what must be given.
    #[must_use]
    pub fn new(block_height: impl Into<Brc20Height>) -> Self {
        Self { block_height: block_height.into() }
    }
}

impl Route for ReadOpiV1Brc20BitcoinRpcResultsOnBlock {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::BesideApi;
    const PATH: &'static str = "opi/v1/brc20/bitcoin_rpc_results_on_block";
    const WRAPPING: Wrapping = Wrapping::Result;
    type Answer = Vec<std::collections::BTreeMap<String, serde_json::Value>>;
}

/// Height of the newest block of the BRC-20 index.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct ReadOpiV1Brc20BlockHeight {}

impl ReadOpiV1Brc20BlockHeight {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Route for ReadOpiV1Brc20BlockHeight {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::BesideApi;
    const PATH: &'static str = "opi/v1/brc20/block_height";
    const WRAPPING: Wrapping = Wrapping::Text;
    type Answer = String;
}

/// Version of the index's rows.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct ReadOpiV1Brc20DbVersion {}

impl ReadOpiV1Brc20DbVersion {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Route for ReadOpiV1Brc20DbVersion {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::BesideApi;
    const PATH: &'static str = "opi/v1/brc20/db_version";
    const WRAPPING: Wrapping = Wrapping::Text;
    type Answer = String;
}

/// The events of an inscription, the oldest first: both of a transfer; none of an inscription without effect.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadOpiV1Brc20Event {
    /// The inscription.
    pub inscription_id: InscriptionId,
}

impl ReadOpiV1Brc20Event {
    /// With what must be given.
    #[must_use]
    pub fn new(inscription_id: impl Into<InscriptionId>) -> Self {
        Self { inscription_id: inscription_id.into() }
    }
}

impl Route for ReadOpiV1Brc20Event {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::BesideApi;
    const PATH: &'static str = "opi/v1/brc20/event";
    const WRAPPING: Wrapping = Wrapping::Result;
    type Answer = Vec<Brc20Event>;
}

/// Version of the form of event strings.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct ReadOpiV1Brc20EventHashVersion {}

impl ReadOpiV1Brc20EventHashVersion {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Route for ReadOpiV1Brc20EventHashVersion {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::BesideApi;
    const PATH: &'static str = "opi/v1/brc20/event_hash_version";
    const WRAPPING: Wrapping = Wrapping::Text;
    type Answer = String;
}

/// The same height: no data is indexed separately.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct ReadOpiV1Brc20ExtrasBlockHeight {}

impl ReadOpiV1Brc20ExtrasBlockHeight {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Route for ReadOpiV1Brc20ExtrasBlockHeight {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::BesideApi;
    const PATH: &'static str = "opi/v1/brc20/extras_block_height";
    const WRAPPING: Wrapping = Wrapping::Text;
    type Answer = String;
}

/// Balance of a script.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadOpiV1Brc20GetCurrentBalanceOfWallet {
    /// The token.
    pub ticker: Brc20Ticker,
    /// This or `pkscript`; where both stand they must agree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Address>,
    /// The script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pkscript: Option<Script>,
}

impl ReadOpiV1Brc20GetCurrentBalanceOfWallet {
    /// With what must be given.
    #[must_use]
    pub fn new(ticker: impl Into<Brc20Ticker>) -> Self {
        Self { ticker: ticker.into(), address: None, pkscript: None }
    }
}

impl Route for ReadOpiV1Brc20GetCurrentBalanceOfWallet {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::BesideApi;
    const PATH: &'static str = "opi/v1/brc20/get_current_balance_of_wallet";
    const WRAPPING: Wrapping = Wrapping::Result;
    type Answer = ReadOpiV1Brc20BalanceAnswer;
}

/// The hash of a block's events, and that of all blocks so far.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadOpiV1Brc20GetHashOfAllActivity {
    /// The block.
    pub block_height: Brc20Height,
}

impl ReadOpiV1Brc20GetHashOfAllActivity {
    /// With what must be given.
    #[must_use]
    pub fn new(block_height: impl Into<Brc20Height>) -> Self {
        Self { block_height: block_height.into() }
    }
}

impl Route for ReadOpiV1Brc20GetHashOfAllActivity {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::BesideApi;
    const PATH: &'static str = "opi/v1/brc20/get_hash_of_all_activity";
    const WRAPPING: Wrapping = Wrapping::Result;
    type Answer = ReadOpiV1Brc20GetHashOfAllActivityAnswer;
}

/// A hash over all balances; may take minutes.
///
/// It is that of the newest block, or of one shortly before it whose hash is being computed.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct ReadOpiV1Brc20GetHashOfAllCurrentBalances {}

impl ReadOpiV1Brc20GetHashOfAllCurrentBalances {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Route for ReadOpiV1Brc20GetHashOfAllCurrentBalances {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::BesideApi;
    const PATH: &'static str = "opi/v1/brc20/get_hash_of_all_current_balances";
    const WRAPPING: Wrapping = Wrapping::Result;
    type Answer = ReadOpiV1Brc20GetHashOfAllCurrentBalancesAnswer;
}

/// Transfer inscriptions of a token that have not moved, by owner.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadOpiV1Brc20GetValidTxNotesOfTicker {
    /// The token.
    pub ticker: Brc20Ticker,
    /// All when absent; a list of more than 200,000 needs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records to skip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
}

impl ReadOpiV1Brc20GetValidTxNotesOfTicker {
    /// With what must be given.
    #[must_use]
    pub fn new(ticker: impl Into<Brc20Ticker>) -> Self {
        Self { ticker: ticker.into(), limit: None, offset: None }
    }
}

impl Route for ReadOpiV1Brc20GetValidTxNotesOfTicker {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::BesideApi;
    const PATH: &'static str = "opi/v1/brc20/get_valid_tx_notes_of_ticker";
    const WRAPPING: Wrapping = Wrapping::Result;
    type Answer = ReadOpiV1Brc20GetValidTxNotesOfTickerAnswer;
}

/// Transfer inscriptions of a script that have not moved, by ticker.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct ReadOpiV1Brc20GetValidTxNotesOfWallet {
    /// This or `pkscript`; where both stand they must agree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Address>,
    /// The script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pkscript: Option<Script>,
    /// All when absent; a list of more than 200,000 needs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records to skip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
}

impl ReadOpiV1Brc20GetValidTxNotesOfWallet {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { address: None, pkscript: None, limit: None, offset: None }
    }
}

impl Route for ReadOpiV1Brc20GetValidTxNotesOfWallet {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::BesideApi;
    const PATH: &'static str = "opi/v1/brc20/get_valid_tx_notes_of_wallet";
    const WRAPPING: Wrapping = Wrapping::Result;
    type Answer = ReadOpiV1Brc20GetValidTxNotesOfTickerAnswer;
}

/// Events that involve a script, the newest first, or those of a block in their order.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct ReadOpiV1Brc20History {
    /// This or `pkscript`; where both stand they must agree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Address>,
    /// The script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pkscript: Option<Script>,
    /// Only events of this block; required without `address` and `pkscript`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<Brc20Height>,
    /// Only events of this token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticker: Option<Brc20Ticker>,
    /// 50 when absent; more than 500 is taken as 500.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// `cursor` of the previous page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

impl ReadOpiV1Brc20History {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { address: None, pkscript: None, height: None, ticker: None, limit: None, cursor: None }
    }
}

impl Route for ReadOpiV1Brc20History {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::BesideApi;
    const PATH: &'static str = "opi/v1/brc20/history";
    const WRAPPING: Wrapping = Wrapping::Result;
    type Answer = ReadOpiV1Brc20HistoryAnswer;
}

/// Holders of a token, the greatest balance first.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadOpiV1Brc20Holders {
    /// The token.
    pub ticker: Brc20Ticker,
    /// All when absent; a list of more than 200,000 needs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records to skip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
}

impl ReadOpiV1Brc20Holders {
    /// With what must be given.
    #[must_use]
    pub fn new(ticker: impl Into<Brc20Ticker>) -> Self {
        Self { ticker: ticker.into(), limit: None, offset: None }
    }
}

impl Route for ReadOpiV1Brc20Holders {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::BesideApi;
    const PATH: &'static str = "opi/v1/brc20/holders";
    const WRAPPING: Wrapping = Wrapping::Result;
    type Answer = ReadOpiV1Brc20HoldersAnswer;
}

/// The address under which this request is counted.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct ReadOpiV1Brc20Ip {}

impl ReadOpiV1Brc20Ip {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Route for ReadOpiV1Brc20Ip {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::BesideApi;
    const PATH: &'static str = "opi/v1/brc20/ip";
    const WRAPPING: Wrapping = Wrapping::Text;
    type Answer = String;
}

/// A token.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadOpiV1Brc20TokenSummary {
    /// The token.
    pub ticker: Brc20Ticker,
}

impl ReadOpiV1Brc20TokenSummary {
    /// With what must be given.
    #[must_use]
    pub fn new(ticker: impl Into<Brc20Ticker>) -> Self {
        Self { ticker: ticker.into() }
    }
}

impl Route for ReadOpiV1Brc20TokenSummary {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::BesideApi;
    const PATH: &'static str = "opi/v1/brc20/token_summary";
    const WRAPPING: Wrapping = Wrapping::Result;
    type Answer = ReadOpiV1Brc20TokenSummaryAnswer;
}

/// The durable stream of change events.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct ReadOrderbookEvents {
    /// Number of the last event that the caller has; 0 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<NumberOrText>,
    /// Events of a page: 1,000 when absent; more than 10,000 is taken as 10,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
}

impl ReadOrderbookEvents {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { since: None, limit: None }
    }
}

impl Route for ReadOrderbookEvents {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Keyed;
    const PATH: &'static str = "orderbook/events";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = ReadOrderbookEventsAnswer;
}

/// Takes change events in; needs an admin key.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct OrderbookIngest {
    /// The events.
    pub body: ChangeEvents,
}

impl OrderbookIngest {
    /// With what must be given.
    #[must_use]
    pub fn new(body: impl Into<ChangeEvents>) -> Self {
        Self { body: body.into() }
    }
}

impl Route for OrderbookIngest {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Keyed;
    const PATH: &'static str = "orderbook/ingest";
    const WRAPPING: Wrapping = Wrapping::Bare;
    const HAS_WHOLE_BODY: bool = true;
    type Answer = OrderbookIngestAnswer;
}

/// The main markets that have active orders.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct ReadOrderbookMarkets {}

impl ReadOrderbookMarkets {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Route for ReadOrderbookMarkets {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Keyed;
    const PATH: &'static str = "orderbook/markets";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = ReadOrderbookMarketsAnswer;
}

/// One order, ended or not.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadOrderbookOrderSourceId {
    /// Source of the order.
    pub source: OrderSource,
    /// Its id at the source.
    pub id: OrderId,
}

impl ReadOrderbookOrderSourceId {
    /// With what must be given.
    #[must_use]
    pub fn new(source: impl Into<OrderSource>, id: impl Into<OrderId>) -> Self {
        Self { source: source.into(), id: id.into() }
    }
}

impl Route for ReadOrderbookOrderSourceId {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Keyed;
    const PATH: &'static str = "orderbook/order/{source}/{id}";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = Order;
}

/// The active orders of a market.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadOrderbookSnapshot {
    /// The market.
    pub market: OrderMarket,
}

impl ReadOrderbookSnapshot {
    /// With what must be given.
    #[must_use]
    pub fn new(market: impl Into<OrderMarket>) -> Self {
        Self { market: market.into() }
    }
}

impl Route for ReadOrderbookSnapshot {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Keyed;
    const PATH: &'static str = "orderbook/snapshot";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = ReadOrderbookSnapshotAnswer;
}

/// Balances of an output.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadOutpointOutpointBalances {
    /// `outpoint`.
    pub outpoint: Outpoint,
}

impl ReadOutpointOutpointBalances {
    /// With what must be given.
    #[must_use]
    pub fn new(outpoint: impl Into<Outpoint>) -> Self {
        Self { outpoint: outpoint.into() }
    }
}

impl Route for ReadOutpointOutpointBalances {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "outpoint/{outpoint}/balances";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = ReadOutpointOutpointBalancesAnswer;
}

/// The way through pools that gives most for an amount, with each pool's own fee and rounding.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct Pathfind {
    /// Base units of what is sold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount_in: Option<NumberOrText>,
    /// Whether the way may lead through `CryptoSwap` pools; true when absent, and never where a factory is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cryptoswap: Option<bool>,
    /// The factory; the network's own when absent.
    #[serde(rename = "factoryId", default, skip_serializing_if = "Option::is_none")]
    pub factory_id: Option<FactoryId>,
    /// Pools that the way may lead through; more than 3 is taken as 3, which is meant when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_hops: Option<NumberOrText>,
    /// What is sold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_in: Option<AlkaneId>,
    /// What is bought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_out: Option<AlkaneId>,
}

impl Pathfind {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { amount_in: None, cryptoswap: None, factory_id: None, max_hops: None, token_in: None, token_out: None }
    }
}

impl Route for Pathfind {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "pathfind";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = PathfindAnswer;
}

/// Pools of the network's factory.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct ReadPools {}

impl ReadPools {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Route for ReadPools {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "pools";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = PoolPage;
}

/// One pool with what it is worth.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadPoolsId {
    /// `id`.
    pub id: PoolIdText,
}

impl ReadPoolsId {
    /// With what must be given.
    #[must_use]
    pub fn new(id: impl Into<PoolIdText>) -> Self {
        Self { id: id.into() }
    }
}

impl Route for ReadPoolsId {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "pools/{id}";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = PoolDetails;
}

/// The newest 50 events of a pool.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadPoolsIdHistory {
    /// `id`.
    pub id: PoolIdText,
}

impl ReadPoolsIdHistory {
    /// With what must be given.
    #[must_use]
    pub fn new(id: impl Into<PoolIdText>) -> Self {
        Self { id: id.into() }
    }
}

impl Route for ReadPoolsIdHistory {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "pools/{id}/history";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = Activity;
}

/// The newest 50 swaps of a pool.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadPoolsIdSwaps {
    /// `id`.
    pub id: PoolIdText,
}

impl ReadPoolsIdSwaps {
    /// With what must be given.
    #[must_use]
    pub fn new(id: impl Into<PoolIdText>) -> Self {
        Self { id: id.into() }
    }
}

impl Route for ReadPoolsIdSwaps {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "pools/{id}/swaps";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = SwapPage;
}

/// Reorganisations that this instance followed, the newest first: of the newest 1,000 blocks that left the best chain after they were indexed. A copy that starts from a snapshot has those of the instance that wrote it.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct ReadReorgs {
    /// Records of a page. 20 when absent; more than 100 is taken as 100
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NumberOrText>,
    /// Records of a page. 20 when absent; more than 100 is taken as 100
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<NumberOrText>,
    /// Records before the page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<NumberOrText>,
}

impl ReadReorgs {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { limit: None, count: None, offset: None }
    }
}

impl Route for ReadReorgs {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Api;
    const PATH: &'static str = "reorgs";
    const WRAPPING: Wrapping = Wrapping::Data;
    type Answer = GetReorgsAnswer;
}

/// Capabilities of the feed, and the factories whose pools it has.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct ReadUdfConfig {}

impl ReadUdfConfig {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Route for ReadUdfConfig {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Keyed;
    const PATH: &'static str = "udf/config";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = ReadUdfConfigAnswer;
}

/// Bars of a pool, the oldest first. Buckets without trades have none.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadUdfHistory {
    /// The id of a pool, block:tx, or with that of its factory before it.
    pub symbol: PoolIdText,
    /// Width of a bar: minutes, or days, weeks, months.
    pub resolution: ReadUdfHistoryResolution,
    /// Bars begin at this time or later, Unix seconds; without effect beside `countback`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<i64>,
    /// Bars begin before this time, Unix seconds; the end of time when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<i64>,
    /// Number of bars before `to`, regardless of `from`. More than 5,000 is taken as 5,000, which is also the most without it; 0 is
    /// the same as absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub countback: Option<u32>,
}

impl ReadUdfHistory {
    /// With what must be given.
    #[must_use]
    pub fn new(symbol: impl Into<PoolIdText>, resolution: impl Into<ReadUdfHistoryResolution>) -> Self {
        Self { symbol: symbol.into(), resolution: resolution.into(), from: None, to: None, countback: None }
    }
}

impl Route for ReadUdfHistory {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Keyed;
    const PATH: &'static str = "udf/history";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = ReadUdfHistoryAnswer;
}

/// Pools by a text: the id of a pool or of one of its alkanes, or part of the pool's name or of its symbol; the best match first, then the deepest. Without a text the deepest pools.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct ReadUdfSearch {
    /// The search text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Only symbols of this type; all symbols are `crypto`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// Only pools of this factory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<String>,
    /// 30 when absent or 0; more than 50 is taken as 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

impl ReadUdfSearch {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { query: None, r#type: None, exchange: None, limit: None }
    }
}

impl Route for ReadUdfSearch {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Keyed;
    const PATH: &'static str = "udf/search";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = Vec<ReadUdfSearchAnswerItem>;
}

/// A pool as a symbol of charts.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadUdfSymbols {
    /// The id of a pool, block:tx, or with that of its factory before it, as searches give it.
    pub symbol: PoolIdText,
}

impl ReadUdfSymbols {
    /// With what must be given.
    #[must_use]
    pub fn new(symbol: impl Into<PoolIdText>) -> Self {
        Self { symbol: symbol.into() }
    }
}

impl Route for ReadUdfSymbols {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Keyed;
    const PATH: &'static str = "udf/symbols";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = ReadUdfSymbolsAnswer;
}

/// The time of this instance's clock, Unix seconds.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct ReadUdfTime {}

impl ReadUdfTime {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Route for ReadUdfTime {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Keyed;
    const PATH: &'static str = "udf/time";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = i64;
}

/// An output descriptor, an extended public key, or one address
pub type Account = String;

/// Everything, each with its kind.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Activity {
    /// Of the page.
    pub count: u64,
    /// `limit`.
    #[serde(default)]
    pub limit: Option<u64>,
    /// `offset`.
    pub offset: u64,
    /// Of the whole listing.
    pub total: u64,
    /// `transactions`.
    pub transactions: Vec<ActivityTransactionsItem>,
}

one_of! {
/// A row of any kind.
ActivityTransactionsItem {
    Swap(Swap),
    Mint(Mint),
    Burn(Burn),
    Creation(Creation),
    Wrap(Wrap),
    Unwrap(Unwrap),
} }

/// A Bitcoin address of this instance's network; anything else is 400
pub type Address = String;

/// How many records there are, and which of them a page holds.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct AddressPositionsAnswer {
    /// Of the page.
    pub count: u64,
    /// `limit`.
    #[serde(default)]
    pub limit: Option<u64>,
    /// `offset`.
    pub offset: u64,
    /// `positions`.
    pub positions: Vec<Position>,
    /// Of the whole listing.
    pub total: u64,
}

one_of! {
/// An alkane's id, in any of the ways in which clients write it
AlkaneId {
    AlkaneIdCase1(AlkaneIdCase1),
    Text(String),
} }

/// `AlkaneIdCase1` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct AlkaneIdCase1 {
    /// `block`.
    pub block: NumberOrText,
    /// `tx`.
    pub tx: NumberOrText,
}

/// An alkane's id, block:tx
pub type AlkaneIdText = String;

/// `Balance` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Balance {
    /// `balance`.
    pub balance: u64,
    /// Net change by unconfirmed transactions.
    #[serde(rename = "unconfirmedBalance")]
    pub unconfirmed_balance: i64,
}

/// The height of a block
pub type BlockNumber = u64;

/// An event of a token. Its members depend on `event_type`.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Brc20Event {
    /// `amount`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<Amount>,
    /// Of a predeploy, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_height: Option<Amount>,
    /// As text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decimals: Option<Amount>,
    /// A script in hexadecimal digits
    #[serde(rename = "deployer_pkScript", default, skip_serializing_if = "Option::is_none")]
    pub deployer_pk_script: Option<String>,
    /// Empty for a script without address
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployer_wallet: Option<String>,
    /// `event_type`.
    pub event_type: Brc20EventEventType,
    /// As written in the inscription.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// `height`.
    pub height: u32,
    /// `inscription_id`.
    pub inscription_id: String,
    /// `true` or `false`, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_self_mint: Option<String>,
    /// `limit_per_mint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_per_mint: Option<Amount>,
    /// `max_supply`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_supply: Option<Amount>,
    /// A script in hexadecimal digits
    #[serde(rename = "minted_pkScript", default, skip_serializing_if = "Option::is_none")]
    pub minted_pk_script: Option<String>,
    /// Empty for a script without address
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minted_wallet: Option<String>,
    /// As written in the inscription.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original_tick: Option<String>,
    /// The first parent of a mint; empty without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    /// Index of the event in its block.
    pub place: u32,
    /// A script in hexadecimal digits
    #[serde(rename = "predeployer_pkScript", default, skip_serializing_if = "Option::is_none")]
    pub predeployer_pk_script: Option<String>,
    /// Empty for a script without address
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predeployer_wallet: Option<String>,
    /// A script in hexadecimal digits
    #[serde(rename = "source_pkScript", default, skip_serializing_if = "Option::is_none")]
    pub source_pk_script: Option<String>,
    /// Empty for a script without address
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_wallet: Option<String>,
    /// `null` when the inscription was paid as a fee.
    #[serde(rename = "spent_pkScript", default, skip_serializing_if = "Option::is_none")]
    pub spent_pk_script: Option<String>,
    /// `null` when the inscription was paid as a fee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent_wallet: Option<String>,
    /// In lower case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tick: Option<String>,
    /// All zeros for a refund that no transaction made.
    pub txid: Hash,
    /// The transaction that moved the inscription; OPI has a number of its own database there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub using_tx_id: Option<Hash>,
}

/// `Brc20EventEventType` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum Brc20EventEventType {
    /// `predeploy-inscribe`.
    #[serde(rename = "predeploy-inscribe")]
    PredeployInscribe,
    /// `deploy-inscribe`.
    #[serde(rename = "deploy-inscribe")]
    DeployInscribe,
    /// `mint-inscribe`.
    #[serde(rename = "mint-inscribe")]
    MintInscribe,
    /// `transfer-inscribe`.
    #[serde(rename = "transfer-inscribe")]
    TransferInscribe,
    /// `transfer-transfer`.
    #[serde(rename = "transfer-transfer")]
    TransferTransfer,
    /// What a later version answers.
    #[serde(untagged)]
    Other(String),
}

/// Height of a block
pub type Brc20Height = u64;

/// A ticker, in any case
pub type Brc20Ticker = String;

/// A withdrawal from a pool.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Burn {
    /// Who did it; null where that has no address.
    #[serde(default)]
    pub address: Option<String>,
    /// `blockHeight`.
    #[serde(rename = "blockHeight")]
    pub block_height: u32,
    /// `burnerAddress`.
    #[serde(rename = "burnerAddress", default)]
    pub burner_address: Option<String>,
    /// `eventIndex`.
    #[serde(rename = "eventIndex")]
    pub event_index: u32,
    /// `id`.
    pub id: String,
    /// `kind`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// `lpTokenAmount`.
    #[serde(rename = "lpTokenAmount")]
    pub lp_token_amount: Amount,
    /// `poolBlockId`.
    #[serde(rename = "poolBlockId")]
    pub pool_block_id: Amount,
    /// `poolId`.
    #[serde(rename = "poolId")]
    pub pool_id: Id,
    /// `poolTxId`.
    #[serde(rename = "poolTxId")]
    pub pool_tx_id: Amount,
    /// `successful`.
    pub successful: bool,
    /// `timestamp`.
    pub timestamp: Time,
    /// `token0Amount`.
    #[serde(rename = "token0Amount")]
    pub token0_amount: Amount,
    /// `token0BlockId`.
    #[serde(rename = "token0BlockId")]
    pub token0_block_id: Amount,
    /// `token0TxId`.
    #[serde(rename = "token0TxId")]
    pub token0_tx_id: Amount,
    /// `token1Amount`.
    #[serde(rename = "token1Amount")]
    pub token1_amount: Amount,
    /// `token1BlockId`.
    #[serde(rename = "token1BlockId")]
    pub token1_block_id: Amount,
    /// `token1TxId`.
    #[serde(rename = "token1TxId")]
    pub token1_tx_id: Amount,
    /// `transactionId`.
    #[serde(rename = "transactionId")]
    pub transaction_id: Hash,
    /// `transactionIndex`.
    #[serde(rename = "transactionIndex")]
    pub transaction_index: u32,
    /// `type`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// `vout`.
    pub vout: u32,
}

/// A page of burns, newest first.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct BurnPage {
    /// `burns`.
    pub burns: Vec<Burn>,
    /// Of the page.
    pub count: u64,
    /// `limit`.
    #[serde(default)]
    pub limit: Option<u64>,
    /// `offset`.
    pub offset: u64,
    /// Of the whole listing.
    pub total: u64,
}

one_of! {
/// Bare, or wrapped as schema and payload.
ChangeEvent {
    ChangeEventCase1(ChangeEventCase1),
    ChangeEventCase2(ChangeEventCase2),
} }

one_of! {
/// Operation on a row.
ChangeEventCase1 {
    ChangeEventCase1C(ChangeEventCase1C),
    ChangeEventCase1R(ChangeEventCase1R),
    ChangeEventCase1U(ChangeEventCase1U),
    ChangeEventCase1D(ChangeEventCase1D),
    ChangeEventCase1T(ChangeEventCase1T),
    ChangeEventCase1M(ChangeEventCase1M),
} }

/// The row was inserted.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ChangeEventCase1C {
    /// `after`.
    pub after: std::collections::BTreeMap<String, serde_json::Value>,
    /// `op`.
    pub op: ChangeEventCase1COp,
    /// Origin of a change.
    pub source: ChangeEventCase1CSource,
}

/// `ChangeEventCase1COp` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum ChangeEventCase1COp {
    /// `c`.
    #[serde(rename = "c")]
    C,
}

/// Origin of a change.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ChangeEventCase1CSource {
    /// Position in the log of the database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lsn: Option<u64>,
    /// Tables that are not configured are ignored.
    pub table: String,
    /// Unix milliseconds of the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ts_ms: Option<u64>,
}

/// The row was deleted.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ChangeEventCase1D {
    /// `before`.
    pub before: std::collections::BTreeMap<String, serde_json::Value>,
    /// `op`.
    pub op: ChangeEventCase1DOp,
    /// Origin of a change.
    pub source: ChangeEventCase1CSource,
}

/// `ChangeEventCase1DOp` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum ChangeEventCase1DOp {
    /// `d`.
    #[serde(rename = "d")]
    D,
}

/// A message that concerns no row.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ChangeEventCase1M {
    /// `op`.
    pub op: ChangeEventCase1MOp,
}

/// `ChangeEventCase1MOp` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum ChangeEventCase1MOp {
    /// `m`.
    #[serde(rename = "m")]
    M,
}

/// The row is part of an initial snapshot.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ChangeEventCase1R {
    /// `after`.
    pub after: std::collections::BTreeMap<String, serde_json::Value>,
    /// `op`.
    pub op: ChangeEventCase1ROp,
    /// Origin of a change.
    pub source: ChangeEventCase1CSource,
}

/// `ChangeEventCase1ROp` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum ChangeEventCase1ROp {
    /// `r`.
    #[serde(rename = "r")]
    R,
}

/// The table was truncated.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ChangeEventCase1T {
    /// `op`.
    pub op: ChangeEventCase1TOp,
    /// Origin of a change.
    pub source: ChangeEventCase1CSource,
}

/// `ChangeEventCase1TOp` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum ChangeEventCase1TOp {
    /// `t`.
    #[serde(rename = "t")]
    T,
}

/// The row was updated.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ChangeEventCase1U {
    /// `after`.
    pub after: std::collections::BTreeMap<String, serde_json::Value>,
    /// `op`.
    pub op: ChangeEventCase1UOp,
    /// Origin of a change.
    pub source: ChangeEventCase1CSource,
}

/// `ChangeEventCase1UOp` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum ChangeEventCase1UOp {
    /// `u`.
    #[serde(rename = "u")]
    U,
}

/// `ChangeEventCase2` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ChangeEventCase2 {
    /// Operation on a row.
    pub payload: ChangeEventCase1,
}

one_of! {
/// One change event or an array of them, as Debezium writes them; an invalid one rejects all with 400.
ChangeEvents {
    ChangeEvent(ChangeEvent),
    List(Vec<Option<ChangeEvent>>),
} }

/// The creation of a pool.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Creation {
    /// Who did it; null where that has no address.
    #[serde(default)]
    pub address: Option<String>,
    /// `blockHeight`.
    #[serde(rename = "blockHeight")]
    pub block_height: u32,
    /// `creatorAddress`.
    #[serde(rename = "creatorAddress", default)]
    pub creator_address: Option<String>,
    /// `eventIndex`.
    #[serde(rename = "eventIndex")]
    pub event_index: u32,
    /// `id`.
    pub id: String,
    /// `kind`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// `lpTokenAmount`.
    #[serde(rename = "lpTokenAmount")]
    pub lp_token_amount: Amount,
    /// `poolBlockId`.
    #[serde(rename = "poolBlockId")]
    pub pool_block_id: Amount,
    /// `poolId`.
    #[serde(rename = "poolId")]
    pub pool_id: Id,
    /// `poolTxId`.
    #[serde(rename = "poolTxId")]
    pub pool_tx_id: Amount,
    /// `successful`.
    pub successful: bool,
    /// `timestamp`.
    pub timestamp: Time,
    /// `token0Amount`.
    #[serde(rename = "token0Amount")]
    pub token0_amount: Amount,
    /// `token0BlockId`.
    #[serde(rename = "token0BlockId")]
    pub token0_block_id: Amount,
    /// `token0TxId`.
    #[serde(rename = "token0TxId")]
    pub token0_tx_id: Amount,
    /// `token1Amount`.
    #[serde(rename = "token1Amount")]
    pub token1_amount: Amount,
    /// `token1BlockId`.
    #[serde(rename = "token1BlockId")]
    pub token1_block_id: Amount,
    /// `token1TxId`.
    #[serde(rename = "token1TxId")]
    pub token1_tx_id: Amount,
    /// `tokenSupply`.
    #[serde(rename = "tokenSupply")]
    pub token_supply: Amount,
    /// `transactionId`.
    #[serde(rename = "transactionId")]
    pub transaction_id: Hash,
    /// `transactionIndex`.
    #[serde(rename = "transactionIndex")]
    pub transaction_index: u32,
    /// `type`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// `vout`.
    pub vout: u32,
}

/// A page of creations, newest first.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct CreationPage {
    /// Of the page.
    pub count: u64,
    /// `creations`.
    pub creations: Vec<Creation>,
    /// `limit`.
    #[serde(default)]
    pub limit: Option<u64>,
    /// `offset`.
    pub offset: u64,
    /// Of the whole listing.
    pub total: u64,
}

/// `Entry` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Entry {
    /// `alkane`.
    pub alkane: IdText,
    /// `amount`.
    pub amount: Amount,
}

/// The id of a factory
pub type FactoryId = AlkaneId;

/// `FoundPath` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct FoundPath {
    /// `estimated_output`.
    pub estimated_output: Amount,
    /// `hops`.
    pub hops: Vec<FoundPathHopsItem>,
    /// `pools`.
    pub pools: Vec<IdText>,
}

/// `FoundPathHopsItem` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct FoundPathHopsItem {
    /// `amount_in`.
    pub amount_in: Amount,
    /// `amount_out`.
    pub amount_out: Amount,
    /// `kind`.
    pub kind: FoundPathHopsItemKind,
    /// `pool`.
    pub pool: IdText,
    /// `token_in`.
    pub token_in: IdText,
    /// `token_out`.
    pub token_out: IdText,
}

/// `FoundPathHopsItemKind` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum FoundPathHopsItemKind {
    /// `factory`.
    #[serde(rename = "factory")]
    Factory,
    /// `cryptoswap`.
    #[serde(rename = "cryptoswap")]
    Cryptoswap,
    /// What a later version answers.
    #[serde(untagged)]
    Other(String),
}

/// `GetAddressBalanceAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetAddressBalanceAnswer {
    /// `address`.
    pub address: String,
    /// `balance`.
    pub balance: u64,
    /// `txCount`.
    #[serde(rename = "txCount")]
    pub tx_count: u64,
    /// Net change by unconfirmed transactions.
    #[serde(rename = "unconfirmedBalance")]
    pub unconfirmed_balance: i64,
}

/// `GetAddressBalancesAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetAddressBalancesAnswer {
    /// `address`.
    pub address: String,
    /// `balances`.
    pub balances: std::collections::BTreeMap<String, Amount>,
    /// `ok`.
    pub ok: bool,
    /// `outpoints`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outpoints: Option<Vec<OutpointEntries>>,
}

/// `GetAddressOutpointsAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetAddressOutpointsAnswer {
    /// `address`.
    pub address: String,
    /// `data`.
    pub data: GetAddressOutpointsAnswerData,
    /// `ok`.
    pub ok: bool,
    /// `outpoints`.
    pub outpoints: Vec<OutpointEntries>,
    /// `statusCode`.
    #[serde(rename = "statusCode")]
    pub status_code: u64,
}

/// `GetAddressOutpointsAnswerData` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetAddressOutpointsAnswerData {
    /// `address`.
    pub address: String,
    /// `outpoints`.
    pub outpoints: Vec<OutpointEntries>,
}

one_of! {
/// `GetAddressPoolBurnHistorySuccessful` of the descriptions.
GetAddressPoolBurnHistorySuccessful {
    Flag(bool),
    GetAddressPoolBurnHistorySuccessfulCase2(GetAddressPoolBurnHistorySuccessfulCase2),
} }

/// `GetAddressPoolBurnHistorySuccessfulCase2` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum GetAddressPoolBurnHistorySuccessfulCase2 {
    /// `true`.
    #[serde(rename = "true")]
    True,
    /// `false`.
    #[serde(rename = "false")]
    False,
    /// `all`.
    #[serde(rename = "all")]
    All,
    /// What a later version answers.
    #[serde(untagged)]
    Other(String),
}

/// `GetAlkaneHoldersCountAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetAlkaneHoldersCountAnswer {
    /// `alkane`.
    pub alkane: IdText,
    /// `count`.
    pub count: u64,
    /// `ok`.
    pub ok: bool,
}

one_of! {
/// `GetAlkaneSwapPairDetailsAnswer` of the descriptions.
GetAlkaneSwapPairDetailsAnswer {
    GetAlkaneSwapPairDetailsAnswerCase1(GetAlkaneSwapPairDetailsAnswerCase1),
    GetAlkaneSwapPairDetailsAnswerCase2(GetAlkaneSwapPairDetailsAnswerCase2),
} }

/// From one alkane.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetAlkaneSwapPairDetailsAnswerCase1 {
    /// Of the page.
    pub count: u64,
    /// `limit`.
    #[serde(default)]
    pub limit: Option<u64>,
    /// `offset`.
    pub offset: u64,
    /// `pairs`.
    pub pairs: Vec<Pair>,
    /// `paths`.
    pub paths: Vec<Path>,
    /// Of the whole listing.
    pub total: u64,
}

/// Between two, by pages of paths.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetAlkaneSwapPairDetailsAnswerCase2 {
    /// `count`.
    pub count: u64,
    /// Whether there are no other ways.
    #[serde(rename = "isWhole")]
    pub is_whole: bool,
    /// `limit`.
    #[serde(default)]
    pub limit: Option<u64>,
    /// `offset`.
    pub offset: u64,
    /// `pairs`.
    pub pairs: Vec<Pair>,
    /// `paths`.
    pub paths: Vec<Path>,
    /// `total`.
    pub total: u64,
}

/// `GetAlkanesOrder` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum GetAlkanesOrder {
    /// `asc`.
    #[serde(rename = "asc")]
    Asc,
    /// `desc`.
    #[serde(rename = "desc")]
    Desc,
    /// What a later version answers.
    #[serde(untagged)]
    Other(String),
}

/// `GetAlkanesSortBy` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum GetAlkanesSortBy {
    /// `height`.
    #[serde(rename = "height")]
    Height,
    /// `holders`.
    #[serde(rename = "holders")]
    Holders,
    /// `volume`.
    #[serde(rename = "volume")]
    Volume,
    /// `name`.
    #[serde(rename = "name")]
    Name,
    /// What a later version answers.
    #[serde(untagged)]
    Other(String),
}

/// `GetAllAddressAmmTxHistoryTransactionType` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum GetAllAddressAmmTxHistoryTransactionType {
    /// `swap`.
    #[serde(rename = "swap")]
    Swap,
    /// `mint`.
    #[serde(rename = "mint")]
    Mint,
    /// `burn`.
    #[serde(rename = "burn")]
    Burn,
    /// `creation`.
    #[serde(rename = "creation")]
    Creation,
    /// `wrap`.
    #[serde(rename = "wrap")]
    Wrap,
    /// `unwrap`.
    #[serde(rename = "unwrap")]
    Unwrap,
    /// What a later version answers.
    #[serde(untagged)]
    Other(String),
}

/// `GetAllHistoryCategory` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum GetAllHistoryCategory {
    /// `swap`.
    #[serde(rename = "swap")]
    Swap,
    /// `mint`.
    #[serde(rename = "mint")]
    Mint,
    /// `burn`.
    #[serde(rename = "burn")]
    Burn,
    /// `creation`.
    #[serde(rename = "creation")]
    Creation,
    /// `wrap`.
    #[serde(rename = "wrap")]
    Wrap,
    /// `unwrap`.
    #[serde(rename = "unwrap")]
    Unwrap,
    /// `swaps`.
    #[serde(rename = "swaps")]
    Swaps,
    /// `mints`.
    #[serde(rename = "mints")]
    Mints,
    /// `burns`.
    #[serde(rename = "burns")]
    Burns,
    /// `creations`.
    #[serde(rename = "creations")]
    Creations,
    /// `wraps`.
    #[serde(rename = "wraps")]
    Wraps,
    /// `unwraps`.
    #[serde(rename = "unwraps")]
    Unwraps,
    /// `all`.
    #[serde(rename = "all")]
    All,
    /// What a later version answers.
    #[serde(untagged)]
    Other(String),
}

/// How many records there are, and which of them a page holds.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetAllPoolsDetailsAnswer {
    /// Of the page.
    pub count: u64,
    /// `largestPool`.
    #[serde(rename = "largestPool", default)]
    pub largest_pool: Option<PoolDetails>,
    /// `limit`.
    #[serde(default)]
    pub limit: Option<u64>,
    /// `offset`.
    pub offset: u64,
    /// `pools`.
    pub pools: Vec<PoolDetails>,
    /// Of the whole listing.
    pub total: u64,
    /// `totalPoolVolume24h`.
    #[serde(rename = "totalPoolVolume24h", default)]
    pub total_pool_volume24h: Option<serde_json::Number>,
    /// `totalPoolVolume24hInSats`.
    #[serde(rename = "totalPoolVolume24hInSats")]
    pub total_pool_volume24h_in_sats: u128,
    /// `totalTvl`.
    #[serde(rename = "totalTvl", default)]
    pub total_tvl: Option<serde_json::Number>,
    /// `totalTvlInSats`.
    #[serde(rename = "totalTvlInSats")]
    pub total_tvl_in_sats: u128,
    /// The pool whose value rose most.
    #[serde(rename = "trendingPools", default)]
    pub trending_pools: Option<GetAllPoolsDetailsAnswerTrendingPools>,
}

/// The pool whose value rose most.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetAllPoolsDetailsAnswerTrendingPools {
    /// `1d`.
    #[serde(rename = "1d")]
    pub n1d: PoolDetails,
}

/// `GetAllPoolsDetailsSortBy` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum GetAllPoolsDetailsSortBy {
    /// `height`.
    #[serde(rename = "height")]
    Height,
    /// `age`.
    #[serde(rename = "age")]
    Age,
    /// `name`.
    #[serde(rename = "name")]
    Name,
    /// `tvl`.
    #[serde(rename = "tvl")]
    Tvl,
    /// `volume`.
    #[serde(rename = "volume")]
    Volume,
    /// `volume1d`.
    #[serde(rename = "volume1d")]
    Volume1d,
    /// `volume7d`.
    #[serde(rename = "volume7d")]
    Volume7d,
    /// `volume30d`.
    #[serde(rename = "volume30d")]
    Volume30d,
    /// `volumeAllTime`.
    #[serde(rename = "volumeAllTime")]
    VolumeAllTime,
    /// `apr`.
    #[serde(rename = "apr")]
    Apr,
    /// `tvlChange`.
    #[serde(rename = "tvlChange")]
    TvlChange,
    /// What a later version answers.
    #[serde(untagged)]
    Other(String),
}

/// `GetAmmUtxosAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetAmmUtxosAnswer {
    /// `count`.
    pub count: u64,
    /// `total`.
    pub total: u64,
    /// `utxos`.
    pub utxos: Vec<Utxo>,
}

/// Source and age of a price, and whether it is stale.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetBitcoinMarketChartAnswer {
    /// Price times the bitcoins issued by the subsidy schedule up to the newest indexed block at that time.
    pub market_caps: Vec<Vec<Option<serde_json::Number>>>,
    /// Unix milliseconds and US dollars for one bitcoin, ascending.
    pub prices: Vec<Vec<serde_json::Number>>,
    /// Source of the price: the kind of the pool and its address.
    pub source: String,
    /// Whether the newest price is older than the configured limit.
    pub stale: bool,
    /// Of the newest price.
    pub timestamp: Time,
    /// US dollars of the 24 hours before; points whose volume is unknown are absent.
    pub total_volumes: Vec<Vec<serde_json::Number>>,
}

one_of! {
/// The window, which ends at the newest point: every point of a day, the last of each hour of 7 or 30 days, the last of each
/// UTC day of 365.
GetBitcoinMarketChartDays {
    Integer(u64),
    Text(String),
} }

/// Source and age of a price, and whether it is stale.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetBitcoinMarketWeeklyAnswer {
    /// `market_data`.
    pub market_data: GetBitcoinMarketWeeklyAnswerMarketData,
    /// Source of the price: the kind of the pool and its address.
    pub source: String,
    /// Whether the newest price is older than the configured limit.
    pub stale: bool,
    /// Of the newest price.
    pub timestamp: Time,
}

/// `GetBitcoinMarketWeeklyAnswerMarketData` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetBitcoinMarketWeeklyAnswerMarketData {
    /// US dollars for one bitcoin.
    pub current_price: GetBitcoinMarketWeeklyAnswerMarketDataCurrentPrice,
    /// US dollars for one bitcoin.
    pub high_52w: GetBitcoinMarketWeeklyAnswerMarketDataCurrentPrice,
    /// US dollars for one bitcoin.
    pub low_52w: GetBitcoinMarketWeeklyAnswerMarketDataCurrentPrice,
}

/// US dollars for one bitcoin.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetBitcoinMarketWeeklyAnswerMarketDataCurrentPrice {
    /// US dollars for one bitcoin.
    pub usd: serde_json::Number,
}

/// Source and age of a price, and whether it is stale.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetBitcoinMarketsAnswerItem {
    /// `base`.
    pub base: GetBitcoinMarketsAnswerItemBase,
    /// US dollars for one bitcoin.
    pub converted_last: GetBitcoinMarketWeeklyAnswerMarketDataCurrentPrice,
    /// `last`.
    pub last: serde_json::Number,
    /// The exchange, for people.
    pub name: String,
    /// Source of the price: the kind of the pool and its address.
    pub source: String,
    /// Whether the newest price is older than the configured limit.
    pub stale: bool,
    /// `target`.
    pub target: GetBitcoinMarketsAnswerItemTarget,
    /// Of the newest price.
    pub timestamp: Time,
    /// `yellow` when the price is stale.
    pub trust_score: GetBitcoinMarketsAnswerItemTrustScore,
    /// US dollars of 24 hours, estimated from the pool's fees; null when unknown.
    #[serde(default)]
    pub volume: Option<serde_json::Number>,
}

/// `GetBitcoinMarketsAnswerItemBase` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum GetBitcoinMarketsAnswerItemBase {
    /// `BTC`.
    #[serde(rename = "BTC")]
    Btc,
    /// What a later version answers.
    #[serde(untagged)]
    Other(String),
}

/// `GetBitcoinMarketsAnswerItemTarget` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum GetBitcoinMarketsAnswerItemTarget {
    /// `USD`.
    #[serde(rename = "USD")]
    Usd,
    /// What a later version answers.
    #[serde(untagged)]
    Other(String),
}

/// `yellow` when the price is stale.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum GetBitcoinMarketsAnswerItemTrustScore {
    /// `green`.
    #[serde(rename = "green")]
    Green,
    /// `yellow`.
    #[serde(rename = "yellow")]
    Yellow,
    /// What a later version answers.
    #[serde(untagged)]
    Other(String),
}

/// Source and age of a price, and whether it is stale.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetBitcoinPriceAnswer {
    /// US dollars for one bitcoin.
    pub bitcoin: GetBitcoinMarketWeeklyAnswerMarketDataCurrentPrice,
    /// Source of the price: the kind of the pool and its address.
    pub source: String,
    /// Whether the newest price is older than the configured limit.
    pub stale: bool,
    /// Of the newest price.
    pub timestamp: Time,
}

/// `GetCandlesAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetCandlesAnswer {
    /// `candles`.
    pub candles: Vec<GetCandlesAnswerCandlesItem>,
    /// `interval`.
    pub interval: String,
    /// `ok`.
    pub ok: bool,
    /// `pool`.
    pub pool: IdText,
}

/// `GetCandlesAnswerCandlesItem` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetCandlesAnswerCandlesItem {
    /// A decimal number.
    pub close: String,
    /// `close_time`.
    #[serde(default)]
    pub close_time: Option<Time>,
    /// A decimal number.
    pub high: String,
    /// A decimal number.
    pub low: String,
    /// A decimal number.
    pub open: String,
    /// `open_time`.
    pub open_time: Time,
    /// `trade_count`.
    pub trade_count: u32,
    /// `volume0`.
    pub volume0: Amount,
    /// `volume1`.
    pub volume1: Amount,
}

/// `GetHoldersAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetHoldersAnswer {
    /// `count`.
    pub count: u64,
    /// `holders`.
    pub holders: Vec<GetHoldersAnswerHoldersItem>,
    /// `limit`.
    pub limit: u64,
    /// `offset`.
    pub offset: u64,
    /// `total`.
    pub total: u64,
}

/// `GetHoldersAnswerHoldersItem` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetHoldersAnswerHoldersItem {
    /// `address`.
    pub address: String,
    /// `amount`.
    pub amount: Amount,
    /// `balance`.
    pub balance: Amount,
    /// `lastUpdatedBlock`.
    #[serde(rename = "lastUpdatedBlock", default)]
    pub last_updated_block: Option<u32>,
}

/// `GetIndexerPositionAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetIndexerPositionAnswer {
    /// `hash`.
    pub hash: Hash,
    /// `height`.
    pub height: u32,
}

/// `GetIntentHistoryAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetIntentHistoryAnswer {
    /// `intents`.
    pub intents: Vec<Intent>,
    /// `total`.
    pub total: u64,
}

/// `GetKeysAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetKeysAnswer {
    /// `alkane`.
    pub alkane: IdText,
    /// `keys`.
    pub keys: std::collections::BTreeMap<String, GetKeysAnswerKeysValue>,
    /// `ok`.
    pub ok: bool,
}

/// `GetKeysAnswerKeysValue` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetKeysAnswerKeysValue {
    /// `block_height`.
    #[serde(default)]
    pub block_height: Option<u32>,
    /// `key`.
    pub key: String,
    /// `key_hex`.
    pub key_hex: Hex,
    /// `last_txid`.
    #[serde(default)]
    pub last_txid: Option<Hash>,
    /// `last_vout`.
    #[serde(default)]
    pub last_vout: Option<u32>,
    /// `updated_at`.
    #[serde(default)]
    pub updated_at: Option<Time>,
    /// `value`.
    pub value: Hex,
    /// `value_str`.
    #[serde(default)]
    pub value_str: Option<String>,
}

/// `GetOutpointBalancesAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetOutpointBalancesAnswer {
    /// `items`.
    pub items: Vec<OutpointItem>,
    /// `ok`.
    pub ok: bool,
    /// `outpoint`.
    pub outpoint: OutpointText,
}

/// `GetReorgsAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetReorgsAnswer {
    /// Number of all recorded reorganisations.
    pub count: u64,
    /// `reorgs`.
    pub reorgs: Vec<GetReorgsAnswerReorgsItem>,
}

/// `GetReorgsAnswerReorgsItem` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetReorgsAnswerReorgsItem {
    /// The removed blocks, the newest first.
    pub blocks: Vec<GetReorgsAnswerReorgsItemBlocksItem>,
    /// Number of removed blocks.
    pub depth: u64,
    /// Its hash.
    #[serde(rename = "forkHash")]
    pub fork_hash: Hash,
    /// Height of the last common block of both branches.
    #[serde(rename = "forkHeight")]
    pub fork_height: u32,
}

/// A block that left the best chain.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetReorgsAnswerReorgsItemBlocksItem {
    /// `hash`.
    pub hash: Hash,
    /// `height`.
    pub height: u32,
    /// Hash of the block at this height in the best chain; null above the tip.
    #[serde(rename = "replacedBy", default)]
    pub replaced_by: Option<Hash>,
    /// Header time, Unix seconds.
    pub time: u32,
}

/// `GetReservesAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetReservesAnswer {
    /// `block_height`.
    pub block_height: u32,
    /// `ok`.
    pub ok: bool,
    /// `pool`.
    pub pool: IdText,
    /// `reserve0`.
    pub reserve0: Amount,
    /// `reserve1`.
    pub reserve1: Amount,
    /// `timestamp`.
    #[serde(default)]
    pub timestamp: Option<Time>,
}

/// `GetTaprootHistoryAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetTaprootHistoryAnswer {
    /// `transactions`.
    pub transactions: Vec<GetTaprootHistoryAnswerTransactionsItem>,
}

/// `GetTaprootHistoryAnswerTransactionsItem` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetTaprootHistoryAnswerTransactionsItem {
    /// `blockHeight`.
    #[serde(rename = "blockHeight", default)]
    pub block_height: Option<u32>,
    /// `confirmed`.
    pub confirmed: bool,
    /// `fee`.
    #[serde(default)]
    pub fee: Option<u64>,
    /// `timestamp`.
    #[serde(default)]
    pub timestamp: Option<Time>,
    /// `txid`.
    pub txid: Hash,
    /// Change of the address's balance by the transaction, in satoshis.
    pub value: i64,
}

/// `GetTotalUnwrapAmountAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetTotalUnwrapAmountAnswer {
    /// `totalAmount`.
    #[serde(rename = "totalAmount")]
    pub total_amount: Amount,
}

/// `GetTradesAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetTradesAnswer {
    /// `ok`.
    pub ok: bool,
    /// `pool`.
    pub pool: IdText,
    /// `trades`.
    pub trades: Vec<GetTradesAnswerTradesItem>,
}

/// `GetTradesAnswerTradesItem` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GetTradesAnswerTradesItem {
    /// `amount0_in`.
    pub amount0_in: Amount,
    /// `amount0_out`.
    pub amount0_out: Amount,
    /// `amount1_in`.
    pub amount1_in: Amount,
    /// `amount1_out`.
    pub amount1_out: Amount,
    /// `block_height`.
    pub block_height: u32,
    /// At the end of the block.
    pub reserve0_after: Amount,
    /// At the end of the block.
    pub reserve1_after: Amount,
    /// `timestamp`.
    pub timestamp: Time,
    /// `token0`.
    pub token0: IdText,
    /// `token1`.
    pub token1: IdText,
    /// `txid`.
    pub txid: Hash,
    /// `vout`.
    pub vout: u32,
}

/// `GlobalAlkanesSearchAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GlobalAlkanesSearchAnswer {
    /// `pools`.
    pub pools: Vec<PoolDetails>,
    /// `tokens`.
    pub tokens: Vec<Token>,
}

/// 32 bytes in display order
pub type Hash = String;

/// Bytes.
pub type Hex = String;

/// `HolderPage` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct HolderPage {
    /// `alkane`.
    pub alkane: IdText,
    /// `has_more`.
    pub has_more: bool,
    /// `items`.
    pub items: Vec<HolderPageItemsItem>,
    /// `limit`.
    pub limit: u64,
    /// `ok`.
    pub ok: bool,
    /// Rank, from 1.
    pub page: u64,
    /// `total`.
    pub total: u64,
}

/// `HolderPageItemsItem` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct HolderPageItemsItem {
    /// `address`.
    pub address: String,
    /// `amount`.
    pub amount: Amount,
}

/// An id as an object.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Id {
    /// `block`.
    pub block: Amount,
    /// `tx`.
    pub tx: Amount,
}

/// `IdText` of the descriptions.
pub type IdText = String;

/// txid, i, index
pub type InscriptionId = String;

/// A message of one of the address's transactions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Intent {
    /// `blockHeight`.
    #[serde(rename = "blockHeight")]
    pub block_height: u32,
    /// `incoming`.
    pub incoming: Vec<Transfer>,
    /// `inputs`.
    pub inputs: Vec<Amount>,
    /// `opcode`.
    #[serde(default)]
    pub opcode: Option<Amount>,
    /// `outgoing`.
    pub outgoing: Vec<Transfer>,
    /// `revert` also when all effects of the message were undone.
    pub status: IntentStatus,
    /// The called contract; null when the message led to no call.
    #[serde(default)]
    pub target: Option<Id>,
    /// `timestamp`.
    pub timestamp: Time,
    /// `txid`.
    pub txid: Hash,
    /// `vout`.
    pub vout: u32,
}

/// `revert` also when all effects of the message were undone.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum IntentStatus {
    /// `success`.
    #[serde(rename = "success")]
    Success,
    /// `revert`.
    #[serde(rename = "revert")]
    Revert,
    /// What a later version answers.
    #[serde(untagged)]
    Other(String),
}

/// A deposit into a pool.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Mint {
    /// Who did it; null where that has no address.
    #[serde(default)]
    pub address: Option<String>,
    /// `blockHeight`.
    #[serde(rename = "blockHeight")]
    pub block_height: u32,
    /// `eventIndex`.
    #[serde(rename = "eventIndex")]
    pub event_index: u32,
    /// `id`.
    pub id: String,
    /// `kind`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// `lpTokenAmount`.
    #[serde(rename = "lpTokenAmount")]
    pub lp_token_amount: Amount,
    /// `minterAddress`.
    #[serde(rename = "minterAddress", default)]
    pub minter_address: Option<String>,
    /// `poolBlockId`.
    #[serde(rename = "poolBlockId")]
    pub pool_block_id: Amount,
    /// `poolId`.
    #[serde(rename = "poolId")]
    pub pool_id: Id,
    /// `poolTxId`.
    #[serde(rename = "poolTxId")]
    pub pool_tx_id: Amount,
    /// `successful`.
    pub successful: bool,
    /// `timestamp`.
    pub timestamp: Time,
    /// `token0Amount`.
    #[serde(rename = "token0Amount")]
    pub token0_amount: Amount,
    /// `token0BlockId`.
    #[serde(rename = "token0BlockId")]
    pub token0_block_id: Amount,
    /// `token0TxId`.
    #[serde(rename = "token0TxId")]
    pub token0_tx_id: Amount,
    /// `token1Amount`.
    #[serde(rename = "token1Amount")]
    pub token1_amount: Amount,
    /// `token1BlockId`.
    #[serde(rename = "token1BlockId")]
    pub token1_block_id: Amount,
    /// `token1TxId`.
    #[serde(rename = "token1TxId")]
    pub token1_tx_id: Amount,
    /// `transactionId`.
    #[serde(rename = "transactionId")]
    pub transaction_id: Hash,
    /// `transactionIndex`.
    #[serde(rename = "transactionIndex")]
    pub transaction_index: u32,
    /// `type`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// `vout`.
    pub vout: u32,
}

/// A page of mints, newest first.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct MintPage {
    /// Of the page.
    pub count: u64,
    /// `limit`.
    #[serde(default)]
    pub limit: Option<u64>,
    /// `mints`.
    pub mints: Vec<Mint>,
    /// `offset`.
    pub offset: u64,
    /// Of the whole listing.
    pub total: u64,
}

/// An order.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Order {
    /// `assets`.
    pub assets: Vec<OrderAssetsItem>,
    /// Unix microseconds.
    #[serde(rename = "createdAt", default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<u64>,
    /// Columns that no other member holds.
    pub ext: std::collections::BTreeMap<String, serde_json::Value>,
    /// `id`.
    pub id: String,
    /// `kind`.
    pub kind: OrderKind,
    /// `makerAddress`.
    #[serde(rename = "makerAddress", default, skip_serializing_if = "Option::is_none")]
    pub maker_address: Option<String>,
    /// Its main market.
    #[serde(rename = "marketKey")]
    pub market_key: String,
    /// `network`.
    pub network: String,
    /// With all its digits, verbatim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<String>,
    /// `priceUnit`.
    #[serde(rename = "priceUnit", default, skip_serializing_if = "Option::is_none")]
    pub price_unit: Option<String>,
    /// base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub psbt: Option<String>,
    /// `side`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
    /// `source`.
    pub source: String,
    /// The first three are active.
    pub status: OrderStatus,
    /// All its markets.
    pub topics: Vec<String>,
    /// Unix microseconds.
    #[serde(rename = "updatedAt", default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<u64>,
}

/// `OrderAssetsItem` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct OrderAssetsItem {
    /// Base units.
    #[serde(rename = "amountRaw", default, skip_serializing_if = "Option::is_none")]
    pub amount_raw: Option<String>,
    /// loan or collateral of a loan offer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// `tokenId`.
    #[serde(rename = "tokenId")]
    pub token_id: String,
}

/// A change event with its sequence number.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct OrderEventRecord {
    /// The event, verbatim.
    pub event: serde_json::Value,
    /// Unix microseconds.
    pub received_at: u64,
    /// Sequence number in the stream.
    pub seq: u64,
}

/// Id of an order within its source
pub type OrderId = String;

/// `OrderKind` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum OrderKind {
    /// `listing`.
    #[serde(rename = "listing")]
    Listing,
    /// `offer`.
    #[serde(rename = "offer")]
    Offer,
    /// What a later version answers.
    #[serde(untagged)]
    Other(String),
}

/// \<source\>:\<network\>:\<scope\>:\<key\>, such as orbitals:mainnet:book:*; anything else is 400
pub type OrderMarket = String;

/// A market that has active orders.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct OrderMarketRecord {
    /// `market_key`.
    pub market_key: String,
    /// `network`.
    pub network: String,
    /// Active orders that have it as their main market.
    pub open_orders: u64,
    /// `source`.
    pub source: String,
}

/// Where an order comes from
pub type OrderSource = String;

/// The first three are active.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum OrderStatus {
    /// `open`.
    #[serde(rename = "open")]
    Open,
    /// `matched`.
    #[serde(rename = "matched")]
    Matched,
    /// `pending`.
    #[serde(rename = "pending")]
    Pending,
    /// `filled`.
    #[serde(rename = "filled")]
    Filled,
    /// `taken`.
    #[serde(rename = "taken")]
    Taken,
    /// `cancelled`.
    #[serde(rename = "cancelled")]
    Cancelled,
    /// `expired`.
    #[serde(rename = "expired")]
    Expired,
    /// `removed`.
    #[serde(rename = "removed")]
    Removed,
    /// What a later version answers.
    #[serde(untagged)]
    Other(String),
}

/// Result of accepting change events.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct OrderbookIngestAnswer {
    /// Number of accepted events.
    pub events: u64,
    /// `status`.
    pub status: OrderbookIngestAnswerStatus,
}

/// `OrderbookIngestAnswerStatus` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum OrderbookIngestAnswerStatus {
    /// `queued`.
    #[serde(rename = "queued")]
    Queued,
    /// What a later version answers.
    #[serde(untagged)]
    Other(String),
}

/// txid:vout, the txid in display order
pub type Outpoint = String;

/// `OutpointEntries` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct OutpointEntries {
    /// `entries`.
    pub entries: Vec<Entry>,
    /// `outpoint`.
    pub outpoint: OutpointText,
}

/// `OutpointItem` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct OutpointItem {
    /// The script in hexadecimal digits where it has no address form.
    pub address: String,
    /// `entries`.
    pub entries: Vec<Entry>,
    /// `outpoint`.
    pub outpoint: OutpointText,
}

/// txid:vout
pub type OutpointText = String;

/// Two alkanes that a pool trades.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Pair {
    /// `poolId`.
    #[serde(rename = "poolId")]
    pub pool_id: Id,
    /// `poolName`.
    #[serde(rename = "poolName")]
    pub pool_name: String,
    /// `poolTvlInSats`.
    #[serde(rename = "poolTvlInSats", default)]
    pub pool_tvl_in_sats: Option<u128>,
    /// `poolTvlInUsd`.
    #[serde(rename = "poolTvlInUsd", default)]
    pub pool_tvl_in_usd: Option<serde_json::Number>,
    /// `poolVolume1dInSats`.
    #[serde(rename = "poolVolume1dInSats", default)]
    pub pool_volume1d_in_sats: Option<u128>,
    /// `poolVolume1dInUsd`.
    #[serde(rename = "poolVolume1dInUsd", default)]
    pub pool_volume1d_in_usd: Option<serde_json::Number>,
    /// `reserve0`.
    pub reserve0: Amount,
    /// `reserve1`.
    pub reserve1: Amount,
    /// An alkane of a pair, with its amount under two names.
    pub token0: PairToken0,
    /// An alkane of a pair, with its amount under two names.
    pub token1: PairToken1,
}

/// A page of pairs.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PairPage {
    /// Of the page.
    pub count: u64,
    /// `limit`.
    #[serde(default)]
    pub limit: Option<u64>,
    /// `offset`.
    pub offset: u64,
    /// `pairs`.
    pub pairs: Vec<Pair>,
    /// Of the whole listing.
    pub total: u64,
}

/// An alkane of a pair, with its amount under two names.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PairToken0 {
    /// `alkaneId`.
    #[serde(rename = "alkaneId")]
    pub alkane_id: Id,
    /// `amount`.
    pub amount: Amount,
    /// `decimals`.
    pub decimals: u32,
    /// `name`.
    #[serde(default)]
    pub name: Option<String>,
    /// `symbol`.
    #[serde(default)]
    pub symbol: Option<String>,
    /// `token0Amount`.
    #[serde(rename = "token0Amount")]
    pub token0_amount: Amount,
}

/// An alkane of a pair, with its amount under two names.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PairToken1 {
    /// `alkaneId`.
    #[serde(rename = "alkaneId")]
    pub alkane_id: Id,
    /// `amount`.
    pub amount: Amount,
    /// `decimals`.
    pub decimals: u32,
    /// `name`.
    #[serde(default)]
    pub name: Option<String>,
    /// `symbol`.
    #[serde(default)]
    pub symbol: Option<String>,
    /// `token1Amount`.
    #[serde(rename = "token1Amount")]
    pub token1_amount: Amount,
}

/// A way from one alkane to another.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Path {
    /// `path`.
    pub path: Vec<Id>,
    /// `pools`.
    pub pools: Vec<Pool>,
    /// `type`.
    pub r#type: PathType,
}

/// `PathType` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum PathType {
    /// `direct`.
    #[serde(rename = "direct")]
    Direct,
    /// `multi`.
    #[serde(rename = "multi")]
    Multi,
    /// What a later version answers.
    #[serde(untagged)]
    Other(String),
}

/// `PathfindAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PathfindAnswer {
    /// `amount_in`.
    pub amount_in: Amount,
    /// `ok`.
    pub ok: bool,
    /// `paths`.
    pub paths: Vec<FoundPath>,
    /// `token_in`.
    pub token_in: IdText,
    /// `token_out`.
    pub token_out: IdText,
}

/// A pool. Every member stands there a second time under its snake_case name, some amounts as numbers, where the instance is set up so.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Pool {
    /// `block`.
    pub block: Amount,
    /// `creationBlockHeight`.
    #[serde(rename = "creationBlockHeight")]
    pub creation_block_height: u32,
    /// `creatorAddress`.
    #[serde(rename = "creatorAddress", default)]
    pub creator_address: Option<String>,
    /// `factoryBlockId`.
    #[serde(rename = "factoryBlockId")]
    pub factory_block_id: Amount,
    /// `factoryId`.
    #[serde(rename = "factoryId")]
    pub factory_id: Id,
    /// `factoryTxId`.
    #[serde(rename = "factoryTxId")]
    pub factory_tx_id: Amount,
    /// `feePer1000`.
    #[serde(rename = "feePer1000", default)]
    pub fee_per1000: Option<serde_json::Number>,
    /// `id`.
    pub id: IdText,
    /// `poolBlockId`.
    #[serde(rename = "poolBlockId")]
    pub pool_block_id: Amount,
    /// `poolId`.
    #[serde(rename = "poolId")]
    pub pool_id: Id,
    /// `poolName`.
    #[serde(rename = "poolName")]
    pub pool_name: String,
    /// `poolTxId`.
    #[serde(rename = "poolTxId")]
    pub pool_tx_id: Amount,
    /// `reserve0`.
    pub reserve0: Amount,
    /// `reserve1`.
    pub reserve1: Amount,
    /// `token0`.
    pub token0: Id,
    /// `token0Amount`.
    #[serde(rename = "token0Amount")]
    pub token0_amount: Amount,
    /// `token0BlockId`.
    #[serde(rename = "token0BlockId")]
    pub token0_block_id: Amount,
    /// `token0TxId`.
    #[serde(rename = "token0TxId")]
    pub token0_tx_id: Amount,
    /// `token1`.
    pub token1: Id,
    /// `token1Amount`.
    #[serde(rename = "token1Amount")]
    pub token1_amount: Amount,
    /// `token1BlockId`.
    #[serde(rename = "token1BlockId")]
    pub token1_block_id: Amount,
    /// `token1TxId`.
    #[serde(rename = "token1TxId")]
    pub token1_tx_id: Amount,
    /// `tokenSupply`.
    #[serde(rename = "tokenSupply")]
    pub token_supply: Amount,
    /// `totalSupply`.
    #[serde(rename = "totalSupply")]
    pub total_supply: Amount,
    /// `tx`.
    pub tx: Amount,
}

/// A pool with what it is worth; null where no price is known. Every member stands there a second time under its snake_case name, some amounts as numbers, where the instance is set up so.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PoolDetails {
    /// `apr`.
    #[serde(default)]
    pub apr: Option<serde_json::Number>,
    /// `block`.
    pub block: Amount,
    /// `creationBlockHeight`.
    #[serde(rename = "creationBlockHeight")]
    pub creation_block_height: u32,
    /// `creatorAddress`.
    #[serde(rename = "creatorAddress", default)]
    pub creator_address: Option<String>,
    /// `factoryBlockId`.
    #[serde(rename = "factoryBlockId", default)]
    pub factory_block_id: Option<Amount>,
    /// `factoryId`.
    #[serde(rename = "factoryId", default)]
    pub factory_id: Option<Id>,
    /// `factoryTxId`.
    #[serde(rename = "factoryTxId", default)]
    pub factory_tx_id: Option<Amount>,
    /// `feePer1000`.
    #[serde(rename = "feePer1000", default)]
    pub fee_per1000: Option<serde_json::Number>,
    /// `id`.
    pub id: IdText,
    /// `initialToken0Amount`.
    #[serde(rename = "initialToken0Amount", default, skip_serializing_if = "Option::is_none")]
    pub initial_token0_amount: Option<Amount>,
    /// `initialToken1Amount`.
    #[serde(rename = "initialToken1Amount", default, skip_serializing_if = "Option::is_none")]
    pub initial_token1_amount: Option<Amount>,
    /// `lPTokenValueInSats`.
    #[serde(rename = "lPTokenValueInSats", default)]
    pub l_ptoken_value_in_sats: Option<u128>,
    /// `lPTokenValueInUsd`.
    #[serde(rename = "lPTokenValueInUsd", default)]
    pub l_ptoken_value_in_usd: Option<serde_json::Number>,
    /// `poolApr`.
    #[serde(rename = "poolApr", default)]
    pub pool_apr: Option<serde_json::Number>,
    /// `poolBlockId`.
    #[serde(rename = "poolBlockId")]
    pub pool_block_id: Amount,
    /// `poolId`.
    #[serde(rename = "poolId")]
    pub pool_id: Id,
    /// `poolName`.
    #[serde(rename = "poolName", default)]
    pub pool_name: Option<String>,
    /// `poolTvlInSats`.
    #[serde(rename = "poolTvlInSats", default)]
    pub pool_tvl_in_sats: Option<u128>,
    /// `poolTvlInUsd`.
    #[serde(rename = "poolTvlInUsd", default)]
    pub pool_tvl_in_usd: Option<serde_json::Number>,
    /// `poolTxId`.
    #[serde(rename = "poolTxId")]
    pub pool_tx_id: Amount,
    /// `poolVolume1dInSats`.
    #[serde(rename = "poolVolume1dInSats", default)]
    pub pool_volume1d_in_sats: Option<u128>,
    /// `poolVolume1dInUsd`.
    #[serde(rename = "poolVolume1dInUsd", default)]
    pub pool_volume1d_in_usd: Option<serde_json::Number>,
    /// `poolVolume30dInSats`.
    #[serde(rename = "poolVolume30dInSats", default)]
    pub pool_volume30d_in_sats: Option<u128>,
    /// `poolVolume30dInUsd`.
    #[serde(rename = "poolVolume30dInUsd", default)]
    pub pool_volume30d_in_usd: Option<serde_json::Number>,
    /// `poolVolume7dInSats`.
    #[serde(rename = "poolVolume7dInSats", default)]
    pub pool_volume7d_in_sats: Option<u128>,
    /// `poolVolume7dInUsd`.
    #[serde(rename = "poolVolume7dInUsd", default)]
    pub pool_volume7d_in_usd: Option<serde_json::Number>,
    /// `poolVolumeAllTimeInSats`.
    #[serde(rename = "poolVolumeAllTimeInSats", default)]
    pub pool_volume_all_time_in_sats: Option<u128>,
    /// `poolVolumeAllTimeInUsd`.
    #[serde(rename = "poolVolumeAllTimeInUsd", default)]
    pub pool_volume_all_time_in_usd: Option<serde_json::Number>,
    /// `price`.
    #[serde(default)]
    pub price: Option<serde_json::Number>,
    /// `priceChange24h`.
    #[serde(rename = "priceChange24h", default)]
    pub price_change24h: Option<serde_json::Number>,
    /// `priceChange7d`.
    #[serde(rename = "priceChange7d", default)]
    pub price_change7d: Option<serde_json::Number>,
    /// `reserve0`.
    pub reserve0: Amount,
    /// `reserve1`.
    pub reserve1: Amount,
    /// `token0`.
    pub token0: Id,
    /// `token0Amount`.
    #[serde(rename = "token0Amount")]
    pub token0_amount: Amount,
    /// `token0BlockId`.
    #[serde(rename = "token0BlockId")]
    pub token0_block_id: Amount,
    /// `token0TvlInSats`.
    #[serde(rename = "token0TvlInSats", default)]
    pub token0_tvl_in_sats: Option<u128>,
    /// `token0TvlInUsd`.
    #[serde(rename = "token0TvlInUsd", default)]
    pub token0_tvl_in_usd: Option<serde_json::Number>,
    /// `token0TxId`.
    #[serde(rename = "token0TxId")]
    pub token0_tx_id: Amount,
    /// `token0Volume1d`.
    #[serde(rename = "token0Volume1d")]
    pub token0_volume1d: Amount,
    /// `token0Volume30d`.
    #[serde(rename = "token0Volume30d")]
    pub token0_volume30d: Amount,
    /// `token0Volume7d`.
    #[serde(rename = "token0Volume7d")]
    pub token0_volume7d: Amount,
    /// `token0VolumeAllTime`.
    #[serde(rename = "token0VolumeAllTime")]
    pub token0_volume_all_time: Amount,
    /// `token1`.
    pub token1: Id,
    /// `token1Amount`.
    #[serde(rename = "token1Amount")]
    pub token1_amount: Amount,
    /// `token1BlockId`.
    #[serde(rename = "token1BlockId")]
    pub token1_block_id: Amount,
    /// `token1TvlInSats`.
    #[serde(rename = "token1TvlInSats", default)]
    pub token1_tvl_in_sats: Option<u128>,
    /// `token1TvlInUsd`.
    #[serde(rename = "token1TvlInUsd", default)]
    pub token1_tvl_in_usd: Option<serde_json::Number>,
    /// `token1TxId`.
    #[serde(rename = "token1TxId")]
    pub token1_tx_id: Amount,
    /// `token1Volume1d`.
    #[serde(rename = "token1Volume1d")]
    pub token1_volume1d: Amount,
    /// `token1Volume30d`.
    #[serde(rename = "token1Volume30d")]
    pub token1_volume30d: Amount,
    /// `token1Volume7d`.
    #[serde(rename = "token1Volume7d")]
    pub token1_volume7d: Amount,
    /// `token1VolumeAllTime`.
    #[serde(rename = "token1VolumeAllTime")]
    pub token1_volume_all_time: Amount,
    /// `tokenSupply`.
    #[serde(rename = "tokenSupply", default)]
    pub token_supply: Option<Amount>,
    /// `totalSupply`.
    #[serde(rename = "totalSupply", default)]
    pub total_supply: Option<Amount>,
    /// `trades1d`.
    pub trades1d: u32,
    /// `trades30d`.
    pub trades30d: u32,
    /// `trades7d`.
    pub trades7d: u32,
    /// `tradesAllTime`.
    #[serde(rename = "tradesAllTime")]
    pub trades_all_time: u32,
    /// Change of the value in a day in percent, of the pool that rose most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trend: Option<serde_json::Number>,
    /// `tvl`.
    #[serde(default)]
    pub tvl: Option<serde_json::Number>,
    /// `tvlChange`.
    #[serde(rename = "tvlChange", default)]
    pub tvl_change: Option<serde_json::Number>,
    /// `tvlChange24h`.
    #[serde(rename = "tvlChange24h", default)]
    pub tvl_change24h: Option<serde_json::Number>,
    /// `tvlChange7d`.
    #[serde(rename = "tvlChange7d", default)]
    pub tvl_change7d: Option<serde_json::Number>,
    /// `tx`.
    pub tx: Amount,
    /// Of a CryptoSwap pool alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#type: Option<PoolDetailsType>,
    /// `volume1d`.
    #[serde(default)]
    pub volume1d: Option<serde_json::Number>,
    /// `volume30d`.
    #[serde(default)]
    pub volume30d: Option<serde_json::Number>,
    /// `volume7d`.
    #[serde(default)]
    pub volume7d: Option<serde_json::Number>,
    /// `volumeAllTime`.
    #[serde(rename = "volumeAllTime", default)]
    pub volume_all_time: Option<serde_json::Number>,
}

/// Of a CryptoSwap pool alone.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum PoolDetailsType {
    /// `cryptoswap`.
    #[serde(rename = "cryptoswap")]
    Cryptoswap,
}

/// The id of a pool
pub type PoolId = AlkaneId;

/// The id of a pool, block:tx.
pub type PoolIdText = String;

/// A page of pools.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PoolPage {
    /// Of the page.
    pub count: u64,
    /// `limit`.
    #[serde(default)]
    pub limit: Option<u64>,
    /// `offset`.
    pub offset: u64,
    /// `pools`.
    pub pools: Vec<Pool>,
    /// Of the whole listing.
    pub total: u64,
}

/// What an address holds of a pool.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Position {
    /// `address`.
    pub address: String,
    /// `balance`.
    pub balance: Amount,
    /// `liquidityAmount`.
    #[serde(rename = "liquidityAmount")]
    pub liquidity_amount: Amount,
    /// `pool`.
    pub pool: PoolDetails,
    /// `poolId`.
    #[serde(rename = "poolId")]
    pub pool_id: Id,
    /// `poolName`.
    #[serde(rename = "poolName")]
    pub pool_name: String,
    /// Part of the liquidity, 1 for all of it.
    pub share: serde_json::Number,
    /// `token0`.
    pub token0: Id,
    /// `token0Amount`.
    #[serde(rename = "token0Amount")]
    pub token0_amount: Amount,
    /// `token0ValueInSats`.
    #[serde(rename = "token0ValueInSats", default)]
    pub token0_value_in_sats: Option<u128>,
    /// `token0ValueInUsd`.
    #[serde(rename = "token0ValueInUsd", default)]
    pub token0_value_in_usd: Option<serde_json::Number>,
    /// `token1`.
    pub token1: Id,
    /// `token1Amount`.
    #[serde(rename = "token1Amount")]
    pub token1_amount: Amount,
    /// `token1ValueInSats`.
    #[serde(rename = "token1ValueInSats", default)]
    pub token1_value_in_sats: Option<u128>,
    /// `token1ValueInUsd`.
    #[serde(rename = "token1ValueInUsd", default)]
    pub token1_value_in_usd: Option<serde_json::Number>,
    /// `totalValueInSats`.
    #[serde(rename = "totalValueInSats", default)]
    pub total_value_in_sats: Option<u128>,
    /// `totalValueInUsd`.
    #[serde(rename = "totalValueInUsd", default)]
    pub total_value_in_usd: Option<serde_json::Number>,
}

/// `ReadAddressAddressBalancesAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadAddressAddressBalancesAnswer {
    /// `address`.
    pub address: String,
    /// `balances`.
    pub balances: Vec<ReadAddressAddressBalancesAnswerBalancesItem>,
}

/// Id, name and symbol beside an amount.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadAddressAddressBalancesAnswerBalancesItem {
    /// `alkaneId`.
    #[serde(rename = "alkaneId")]
    pub alkane_id: Id,
    /// `amount`.
    pub amount: Amount,
    /// `id`.
    pub id: IdText,
    /// `name`.
    #[serde(default)]
    pub name: Option<String>,
    /// `symbol`.
    #[serde(default)]
    pub symbol: Option<String>,
}

/// `ReadAlkanesIdHoldersCountAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadAlkanesIdHoldersCountAnswer {
    /// `count`.
    pub count: u64,
}

/// `ReadBlockhashAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadBlockhashAnswer {
    /// `hash`.
    pub hash: Hash,
}

/// `ReadBlockheightAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadBlockheightAnswer {
    /// `height`.
    pub height: u32,
}

/// `ReadCoingeckoHistoricalTradesAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadCoingeckoHistoricalTradesAnswer {
    /// `buy`.
    pub buy: Vec<ReadCoingeckoHistoricalTradesAnswerBuyItem>,
    /// `sell`.
    pub sell: Vec<ReadCoingeckoHistoricalTradesAnswerBuyItem>,
}

/// `ReadCoingeckoHistoricalTradesAnswerBuyItem` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadCoingeckoHistoricalTradesAnswerBuyItem {
    /// A decimal as text.
    pub base_volume: String,
    /// Units of the target for one of the base, the fee included.
    pub price: String,
    /// A decimal as text.
    pub target_volume: String,
    /// Number of the trade among those of its pool, from 1.
    pub trade_id: u32,
    /// Unix milliseconds of the block.
    pub trade_timestamp: u64,
    /// The side of a trade.
    pub r#type: ReadCoingeckoHistoricalTradesType,
}

/// Both when absent.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum ReadCoingeckoHistoricalTradesType {
    /// `buy`.
    #[serde(rename = "buy")]
    Buy,
    /// `sell`.
    #[serde(rename = "sell")]
    Sell,
    /// What a later version answers.
    #[serde(untagged)]
    Other(String),
}

/// `ReadCoingeckoOrderbookAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadCoingeckoOrderbookAnswer {
    /// Price and amount of the base, the lowest price first.
    pub asks: Vec<Vec<String>>,
    /// Price and amount of the base, the highest price first.
    pub bids: Vec<Vec<String>>,
    /// `pool_id`.
    pub pool_id: IdText,
    /// `ticker_id`.
    pub ticker_id: TickerId,
    /// Unix milliseconds of the newest block.
    pub timestamp: u64,
}

/// `ReadCoingeckoPairsAnswerItem` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadCoingeckoPairsAnswerItem {
    /// `base`.
    pub base: IdText,
    /// `pool_id`.
    pub pool_id: IdText,
    /// `target`.
    pub target: IdText,
    /// `ticker_id`.
    pub ticker_id: TickerId,
}

/// `ReadCoingeckoTickersAnswerItem` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadCoingeckoTickersAnswerItem {
    /// The best price of the book; absent when it is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask: Option<String>,
    /// `base_currency`.
    pub base_currency: IdText,
    /// A decimal as text.
    pub base_volume: String,
    /// The best price of the book; absent when it is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bid: Option<String>,
    /// Absent without a trade in the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<String>,
    /// Units of the target for one of the base, as for all prices.
    pub last_price: String,
    /// Value of the pool's reserves, in dollars with cents, rounded down; absent while no source of dollars reports, or no price is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub liquidity_in_usd: Option<String>,
    /// Absent without a trade in the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<String>,
    /// `pool_id`.
    pub pool_id: IdText,
    /// `target_currency`.
    pub target_currency: IdText,
    /// A decimal as text.
    pub target_volume: String,
    /// `ticker_id`.
    pub ticker_id: TickerId,
}

/// `ReadDexscreenerAssetAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadDexscreenerAssetAnswer {
    /// `asset`.
    pub asset: ReadDexscreenerAssetAnswerAsset,
}

/// `ReadDexscreenerAssetAnswerAsset` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadDexscreenerAssetAnswerAsset {
    /// `id`.
    pub id: IdText,
    /// As its contract reports it; its symbol or its id where that is not printable.
    pub name: String,
    /// As its contract reports it; its name or its id where that is not printable.
    pub symbol: String,
    /// Whole alkanes; absent when the contract reports none.
    #[serde(rename = "totalSupply", default, skip_serializing_if = "Option::is_none")]
    pub total_supply: Option<String>,
}

/// `ReadDexscreenerEventsAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadDexscreenerEventsAnswer {
    /// `events`.
    pub events: Vec<ReadDexscreenerEventsAnswerEventsItem>,
}

one_of! {
/// `ReadDexscreenerEventsAnswerEventsItem` of the descriptions.
ReadDexscreenerEventsAnswerEventsItem {
    ReadDexscreenerEventsAnswerEventsItemSwap(ReadDexscreenerEventsAnswerEventsItemSwap),
    ReadDexscreenerEventsAnswerEventsItemCase2(ReadDexscreenerEventsAnswerEventsItemCase2),
} }

/// Liquidity that was added or removed.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadDexscreenerEventsAnswerEventsItemCase2 {
    /// A decimal as text.
    pub amount0: String,
    /// A decimal as text.
    pub amount1: String,
    /// `block`.
    pub block: ReadDexscreenerEventsAnswerEventsItemSwapBlock,
    /// Index among the events of the transaction.
    #[serde(rename = "eventIndex")]
    pub event_index: u32,
    /// `eventType`.
    #[serde(rename = "eventType")]
    pub event_type: ReadDexscreenerEventsAnswerEventsItemCase2EventType,
    /// An address, or `unknown`.
    pub maker: String,
    /// `pairId`.
    #[serde(rename = "pairId")]
    pub pair_id: IdText,
    /// After the event; absent when only the reserves at the end of the block are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserves: Option<ReadDexscreenerEventsAnswerEventsItemSwapReserves>,
    /// `txnId`.
    #[serde(rename = "txnId")]
    pub txn_id: Hash,
    /// Index of the transaction in its block.
    #[serde(rename = "txnIndex")]
    pub txn_index: u32,
}

/// `ReadDexscreenerEventsAnswerEventsItemCase2EventType` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum ReadDexscreenerEventsAnswerEventsItemCase2EventType {
    /// `join`.
    #[serde(rename = "join")]
    Join,
    /// `exit`.
    #[serde(rename = "exit")]
    Exit,
    /// What a later version answers.
    #[serde(untagged)]
    Other(String),
}

/// A trade: one alkane goes into the pool, the other comes out.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadDexscreenerEventsAnswerEventsItemSwap {
    /// A decimal as text.
    #[serde(rename = "asset0In", default, skip_serializing_if = "Option::is_none")]
    pub asset0_in: Option<String>,
    /// A decimal as text.
    #[serde(rename = "asset0Out", default, skip_serializing_if = "Option::is_none")]
    pub asset0_out: Option<String>,
    /// A decimal as text.
    #[serde(rename = "asset1In", default, skip_serializing_if = "Option::is_none")]
    pub asset1_in: Option<String>,
    /// A decimal as text.
    #[serde(rename = "asset1Out", default, skip_serializing_if = "Option::is_none")]
    pub asset1_out: Option<String>,
    /// `block`.
    pub block: ReadDexscreenerEventsAnswerEventsItemSwapBlock,
    /// Index among the events of the transaction.
    #[serde(rename = "eventIndex")]
    pub event_index: u32,
    /// `eventType`.
    #[serde(rename = "eventType")]
    pub event_type: ReadDexscreenerEventsAnswerEventsItemSwapEventType,
    /// An address, or `unknown`.
    pub maker: String,
    /// `pairId`.
    #[serde(rename = "pairId")]
    pub pair_id: IdText,
    /// Units of asset 1 for one of asset 0, rounded half to even at the 50th decimal place.
    #[serde(rename = "priceNative")]
    pub price_native: String,
    /// After the event; absent when only the reserves at the end of the block are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserves: Option<ReadDexscreenerEventsAnswerEventsItemSwapReserves>,
    /// `txnId`.
    #[serde(rename = "txnId")]
    pub txn_id: Hash,
    /// Index of the transaction in its block.
    #[serde(rename = "txnIndex")]
    pub txn_index: u32,
}

/// `ReadDexscreenerEventsAnswerEventsItemSwapBlock` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadDexscreenerEventsAnswerEventsItemSwapBlock {
    /// `blockNumber`.
    #[serde(rename = "blockNumber")]
    pub block_number: u32,
    /// Unix seconds of its header.
    #[serde(rename = "blockTimestamp")]
    pub block_timestamp: u32,
}

/// `ReadDexscreenerEventsAnswerEventsItemSwapEventType` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum ReadDexscreenerEventsAnswerEventsItemSwapEventType {
    /// `swap`.
    #[serde(rename = "swap")]
    Swap,
}

/// After the event; absent when only the reserves at the end of the block are known.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadDexscreenerEventsAnswerEventsItemSwapReserves {
    /// A decimal as text.
    pub asset0: String,
    /// A decimal as text.
    pub asset1: String,
}

/// `ReadDexscreenerLatestBlockAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadDexscreenerLatestBlockAnswer {
    /// `block`.
    pub block: ReadDexscreenerEventsAnswerEventsItemSwapBlock,
}

/// `ReadDexscreenerPairAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadDexscreenerPairAnswer {
    /// `pair`.
    pub pair: ReadDexscreenerPairAnswerPair,
}

/// `ReadDexscreenerPairAnswerPair` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadDexscreenerPairAnswerPair {
    /// `asset0Id`.
    #[serde(rename = "asset0Id")]
    pub asset0_id: IdText,
    /// `asset1Id`.
    #[serde(rename = "asset1Id")]
    pub asset1_id: IdText,
    /// `createdAtBlockNumber`.
    #[serde(rename = "createdAtBlockNumber")]
    pub created_at_block_number: u32,
    /// Unix seconds.
    #[serde(rename = "createdAtBlockTimestamp")]
    pub created_at_block_timestamp: u32,
    /// Absent for a `CryptoSwap` pool.
    #[serde(rename = "createdAtTxnId", default, skip_serializing_if = "Option::is_none")]
    pub created_at_txn_id: Option<Hash>,
    /// Absent where its creator has no address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub creator: Option<String>,
    /// The factory of the pool; 0:0 for a `CryptoSwap` pool, which none lists.
    #[serde(rename = "dexKey")]
    pub dex_key: IdText,
    /// In parts of 10,000; absent for a `CryptoSwap` pool, whose fee varies.
    #[serde(rename = "feeBps", default, skip_serializing_if = "Option::is_none")]
    pub fee_bps: Option<u128>,
    /// `id`.
    pub id: IdText,
}

/// `ReadHealthAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadHealthAnswer {
    /// Absent where other instances answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contracts: Option<ReadHealthAnswerContracts>,
    /// `height`.
    #[serde(default)]
    pub height: Option<u32>,
    /// `network`.
    pub network: String,
    /// `node`.
    pub node: ReadHealthAnswerNode,
    /// The durable stream of change events; absent where there is no orderbook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orderbook: Option<ReadHealthAnswerOrderbook>,
    /// The native engine beside a hosted indexer program; absent where only one of them runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shadow: Option<ReadHealthAnswerShadow>,
    /// `status` of `/v4/api/health` (docs/api.md, "Health").
    pub status: ReadHealthAnswerStatus,
    /// Unix seconds.
    pub timestamp: i64,
    /// Absent where no other instances answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstreams: Option<ReadHealthAnswerUpstreams>,
}

/// Absent where other instances answer.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadHealthAnswerContracts {
    /// Whether what depends on the contract index is answered.
    pub answered: bool,
    /// Why not, and what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// `ReadHealthAnswerNode` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadHealthAnswerNode {
    /// A class, since the text of an error could reveal where the node is.
    #[serde(default)]
    pub error: Option<String>,
    /// `height`.
    #[serde(default)]
    pub height: Option<u32>,
    /// `reachable`.
    pub reachable: bool,
}

/// The durable stream of change events; absent where there is no orderbook.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadHealthAnswerOrderbook {
    /// How its durable stream is: `ready`, `away` or `mismatch`.
    pub stream: String,
}

/// The native engine beside a hosted indexer program; absent where only one of them runs.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadHealthAnswerShadow {
    /// Blocks that both have run and that were compared.
    pub compared: u64,
    /// Whether blocks are compared: no longer when the native engine has stopped.
    pub comparing: bool,
    /// Compared blocks whose results differ.
    pub differences: u64,
}

/// `status` of `/v4/api/health` (docs/api.md, "Health").
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum ReadHealthAnswerStatus {
    /// `ok`.
    #[serde(rename = "ok")]
    Ok,
    /// `starting`.
    #[serde(rename = "starting")]
    Starting,
    /// `degraded`.
    #[serde(rename = "degraded")]
    Degraded,
    /// `stalled`.
    #[serde(rename = "stalled")]
    Stalled,
    /// `draining`.
    #[serde(rename = "draining")]
    Draining,
    /// What a later version answers.
    #[serde(untagged)]
    Other(String),
}

/// Absent where no other instances answer.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadHealthAnswerUpstreams {
    /// All of them.
    pub configured: u64,
    /// Instances behind this gateway that answer.
    pub reachable: u64,
}

/// Balance of a script.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadOpiV1Brc20BalanceAnswer {
    /// The balance not reserved by transfer inscriptions.
    pub available_balance: Amount,
    /// `block_height`.
    pub block_height: u32,
    /// In units of the 18th decimal place, whatever the token's own decimals are
    pub overall_balance: Amount,
}

/// Balance of a script.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadOpiV1Brc20BalanceOnBlockAnswer {
    /// The balance not reserved by transfer inscriptions.
    pub available_balance: Amount,
    /// In units of the 18th decimal place, whatever the token's own decimals are
    pub overall_balance: Amount,
}

/// `ReadOpiV1Brc20GetHashOfAllActivityAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadOpiV1Brc20GetHashOfAllActivityAnswer {
    /// `block_event_hash`.
    pub block_event_hash: Hash,
    /// `block_height`.
    pub block_height: u32,
    /// Of the programmable module, which does not run here.
    pub block_trace_hash: ReadOpiV1Brc20GetHashOfAllActivityAnswerBlockTraceHash,
    /// `cumulative_event_hash`.
    pub cumulative_event_hash: Hash,
    /// Of the programmable module, which does not run here.
    pub cumulative_trace_hash: ReadOpiV1Brc20GetHashOfAllActivityAnswerBlockTraceHash,
    /// `indexer_version`.
    pub indexer_version: String,
}

/// Of the programmable module, which does not run here.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum ReadOpiV1Brc20GetHashOfAllActivityAnswerBlockTraceHash {
    /// ``.
    #[serde(rename = "")]
    X,
}

/// `ReadOpiV1Brc20GetHashOfAllCurrentBalancesAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadOpiV1Brc20GetHashOfAllCurrentBalancesAnswer {
    /// `block_height`.
    pub block_height: u32,
    /// `current_balances_hash`.
    pub current_balances_hash: Hash,
    /// `indexer_version`.
    pub indexer_version: String,
}

/// A list under OPI's name for all lists.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadOpiV1Brc20GetValidTxNotesOfTickerAnswer {
    /// `block_height`.
    pub block_height: u32,
    /// `unused_txes`.
    pub unused_txes: Vec<ReadOpiV1Brc20GetValidTxNotesOfTickerAnswerUnusedTxesItem>,
}

/// `ReadOpiV1Brc20GetValidTxNotesOfTickerAnswerUnusedTxesItem` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadOpiV1Brc20GetValidTxNotesOfTickerAnswerUnusedTxesItem {
    /// In units of the 18th decimal place, whatever the token's own decimals are
    pub amount: Amount,
    /// A script in hexadecimal digits
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_holder_pkscript: Option<String>,
    /// Empty for a script without address
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_holder_wallet: Option<String>,
    /// `genesis_height`.
    pub genesis_height: u32,
    /// `inscription_id`.
    pub inscription_id: String,
    /// `tick`.
    pub tick: String,
}

/// `ReadOpiV1Brc20HistoryAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadOpiV1Brc20HistoryAnswer {
    /// `block_height`.
    pub block_height: u32,
    /// `cursor`.
    #[serde(default)]
    pub cursor: Option<String>,
    /// `events`.
    pub events: Vec<Brc20Event>,
}

/// A list under OPI's name for all lists.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadOpiV1Brc20HoldersAnswer {
    /// `block_height`.
    pub block_height: u32,
    /// `unused_txes`.
    pub unused_txes: Vec<ReadOpiV1Brc20HoldersAnswerUnusedTxesItem>,
}

/// Balance of a script.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadOpiV1Brc20HoldersAnswerUnusedTxesItem {
    /// The balance not reserved by transfer inscriptions.
    pub available_balance: Amount,
    /// In units of the 18th decimal place, whatever the token's own decimals are
    pub overall_balance: Amount,
    /// A script in hexadecimal digits
    pub pkscript: String,
    /// Empty for a script without address
    pub wallet: String,
}

/// `ReadOpiV1Brc20TokenSummaryAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadOpiV1Brc20TokenSummaryAnswer {
    /// `block_height`.
    pub block_height: u32,
    /// In units of the 18th decimal place, whatever the token's own decimals are
    pub burned_supply: Amount,
    /// At most 18.
    pub decimals: u32,
    /// `deploy_block_height`.
    pub deploy_block_height: u32,
    /// `deploy_inscription_id`.
    pub deploy_inscription_id: String,
    /// A script in hexadecimal digits
    #[serde(rename = "deployer_pkScript")]
    pub deployer_pk_script: String,
    /// Empty for a script without address
    pub deployer_wallet: String,
    /// `holders`.
    pub holders: u64,
    /// `is_self_mint`.
    pub is_self_mint: bool,
    /// In units of the 18th decimal place, whatever the token's own decimals are
    pub limit_per_mint: Amount,
    /// In units of the 18th decimal place, whatever the token's own decimals are
    pub max_supply: Amount,
    /// In units of the 18th decimal place, whatever the token's own decimals are
    pub minted_supply: Amount,
    /// `mints`.
    pub mints: u64,
    /// As deployed.
    pub original_tick: String,
    /// In units of the 18th decimal place, whatever the token's own decimals are
    pub remaining_supply: Amount,
    /// In lower case.
    pub tick: String,
    /// `transfers`.
    pub transfers: u64,
}

/// A page of change events.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadOrderbookEventsAnswer {
    /// `events`.
    pub events: Vec<OrderEventRecord>,
    /// Whether more events are available now.
    pub has_more: bool,
    /// `since` of the next page.
    pub next: u64,
}

/// `ReadOrderbookMarketsAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadOrderbookMarketsAnswer {
    /// `markets`.
    pub markets: Vec<OrderMarketRecord>,
}

/// The active orders of a market at one moment.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadOrderbookSnapshotAnswer {
    /// CRC-32 over id, status and price of each order.
    pub checksum: String,
    /// `market`.
    pub market: String,
    /// Active ones by ascending id.
    pub orders: Vec<Order>,
    /// Number of the newest change; the stream goes on after it.
    pub seq: u64,
}

/// `ReadOutpointOutpointBalancesAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadOutpointOutpointBalancesAnswer {
    /// `items`.
    pub items: Vec<OutpointItem>,
    /// `outpoint`.
    pub outpoint: OutpointText,
}

/// `ReadUdfConfigAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadUdfConfigAnswer {
    /// The first is all of them, the others one each: the first 50 by id.
    pub exchanges: Vec<ReadUdfConfigAnswerExchangesItem>,
    /// `supported_resolutions`.
    pub supported_resolutions: Vec<String>,
    /// `supports_group_request`.
    pub supports_group_request: bool,
    /// `supports_marks`.
    pub supports_marks: bool,
    /// `supports_search`.
    pub supports_search: bool,
    /// `supports_time`.
    pub supports_time: bool,
    /// `supports_timescale_marks`.
    pub supports_timescale_marks: bool,
    /// `symbols_types`.
    pub symbols_types: Vec<ReadUdfConfigAnswerSymbolsTypesItem>,
}

/// `ReadUdfConfigAnswerExchangesItem` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadUdfConfigAnswerExchangesItem {
    /// `desc`.
    pub desc: String,
    /// `name`.
    pub name: String,
    /// The factory's id, or nothing for all of them.
    pub value: String,
}

/// `ReadUdfConfigAnswerSymbolsTypesItem` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadUdfConfigAnswerSymbolsTypesItem {
    /// `name`.
    pub name: String,
    /// `value`.
    pub value: String,
}

one_of! {
/// Bars as columns, or that there are none.
ReadUdfHistoryAnswer {
    ReadUdfHistoryAnswerOk(ReadUdfHistoryAnswerOk),
    ReadUdfHistoryAnswerNoData(ReadUdfHistoryAnswerNoData),
} }

/// `ReadUdfHistoryAnswerNoData` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadUdfHistoryAnswerNoData {
    /// Where the newest bar before `from` begins, Unix seconds; absent when there is none.
    #[serde(rename = "nextTime", default, skip_serializing_if = "Option::is_none")]
    pub next_time: Option<u32>,
    /// `s`.
    pub s: ReadUdfHistoryAnswerNoDataS,
}

/// `ReadUdfHistoryAnswerNoDataS` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum ReadUdfHistoryAnswerNoDataS {
    /// `no_data`.
    #[serde(rename = "no_data")]
    NoData,
}

/// `ReadUdfHistoryAnswerOk` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadUdfHistoryAnswerOk {
    /// `c`.
    pub c: Vec<serde_json::Number>,
    /// `h`.
    pub h: Vec<serde_json::Number>,
    /// `l`.
    pub l: Vec<serde_json::Number>,
    /// `o`.
    pub o: Vec<serde_json::Number>,
    /// `s`.
    pub s: ReadUdfHistoryAnswerOkS,
    /// Where each begins, Unix seconds.
    pub t: Vec<u32>,
    /// Of the pool's first alkane.
    pub v: Vec<serde_json::Number>,
}

/// `ReadUdfHistoryAnswerOkS` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum ReadUdfHistoryAnswerOkS {
    /// `ok`.
    #[serde(rename = "ok")]
    Ok,
}

/// Width of a bar: minutes, or days, weeks, months.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum ReadUdfHistoryResolution {
    /// `10`.
    #[serde(rename = "10")]
    N10,
    /// `60`.
    #[serde(rename = "60")]
    N60,
    /// `240`.
    #[serde(rename = "240")]
    N240,
    /// `1D`.
    #[serde(rename = "1D")]
    N1D,
    /// `1W`.
    #[serde(rename = "1W")]
    N1W,
    /// `1M`.
    #[serde(rename = "1M")]
    N1M,
    /// `D`.
    #[serde(rename = "D")]
    D,
    /// `W`.
    #[serde(rename = "W")]
    W,
    /// `M`.
    #[serde(rename = "M")]
    M,
    /// What a later version answers.
    #[serde(untagged)]
    Other(String),
}

/// `ReadUdfSearchAnswerItem` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadUdfSearchAnswerItem {
    /// `description`.
    pub description: String,
    /// `exchange`.
    pub exchange: IdText,
    /// The ids of factory and pool.
    pub full_name: String,
    /// The symbols of both alkanes.
    pub symbol: String,
    /// The id of the pool.
    pub ticker: IdText,
    /// `type`.
    pub r#type: String,
}

/// `ReadUdfSymbolsAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadUdfSymbolsAnswer {
    /// The price is in units of this alkane.
    pub currency_code: String,
    /// `data_status`.
    pub data_status: String,
    /// `description`.
    pub description: String,
    /// `exchange`.
    pub exchange: IdText,
    /// `format`.
    pub format: String,
    /// The ids of factory and pool.
    pub full_name: String,
    /// `has_daily`.
    pub has_daily: bool,
    /// `has_empty_bars`.
    pub has_empty_bars: bool,
    /// `has_intraday`.
    pub has_intraday: bool,
    /// `has_weekly_and_monthly`.
    pub has_weekly_and_monthly: bool,
    /// `intraday_multipliers`.
    pub intraday_multipliers: Vec<String>,
    /// `listed_exchange`.
    pub listed_exchange: IdText,
    /// `minmov`.
    pub minmov: u32,
    /// The symbols of both alkanes.
    pub name: String,
    /// A power of ten, by the price of the newest trade.
    pub pricescale: u64,
    /// `session`.
    pub session: String,
    /// `supported_resolutions`.
    pub supported_resolutions: Vec<String>,
    /// The id of the pool, with which clients request data.
    pub ticker: IdText,
    /// `timezone`.
    pub timezone: String,
    /// `type`.
    pub r#type: String,
    /// `volume_precision`.
    pub volume_precision: u64,
}

/// A script in hexadecimal digits
pub type Script = String;

/// A trade with a pool.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Swap {
    /// Who did it; null where that has no address.
    #[serde(default)]
    pub address: Option<String>,
    /// `blockHeight`.
    #[serde(rename = "blockHeight")]
    pub block_height: u32,
    /// `boughtAmount`.
    #[serde(rename = "boughtAmount")]
    pub bought_amount: Amount,
    /// `boughtTokenBlockId`.
    #[serde(rename = "boughtTokenBlockId")]
    pub bought_token_block_id: Amount,
    /// `boughtTokenTxId`.
    #[serde(rename = "boughtTokenTxId")]
    pub bought_token_tx_id: Amount,
    /// `eventIndex`.
    #[serde(rename = "eventIndex")]
    pub event_index: u32,
    /// `id`.
    pub id: String,
    /// `kind`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// An amount of an alkane.
    pub pay: SwapPay,
    /// `poolBlockId`.
    #[serde(rename = "poolBlockId")]
    pub pool_block_id: Amount,
    /// `poolId`.
    #[serde(rename = "poolId")]
    pub pool_id: Id,
    /// `poolTxId`.
    #[serde(rename = "poolTxId")]
    pub pool_tx_id: Amount,
    /// `price`.
    #[serde(default)]
    pub price: Option<serde_json::Number>,
    /// An amount of an alkane.
    pub receive: SwapPay,
    /// `sellerAddress`.
    #[serde(rename = "sellerAddress", default)]
    pub seller_address: Option<String>,
    /// `soldAmount`.
    #[serde(rename = "soldAmount")]
    pub sold_amount: Amount,
    /// `soldTokenBlockId`.
    #[serde(rename = "soldTokenBlockId")]
    pub sold_token_block_id: Amount,
    /// `soldTokenTxId`.
    #[serde(rename = "soldTokenTxId")]
    pub sold_token_tx_id: Amount,
    /// `successful`.
    pub successful: bool,
    /// `timestamp`.
    pub timestamp: Time,
    /// `transactionId`.
    #[serde(rename = "transactionId")]
    pub transaction_id: Hash,
    /// `transactionIndex`.
    #[serde(rename = "transactionIndex")]
    pub transaction_index: u32,
    /// `type`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// `vout`.
    pub vout: u32,
}

/// A page of swaps, newest first.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SwapPage {
    /// Of the page.
    pub count: u64,
    /// `limit`.
    #[serde(default)]
    pub limit: Option<u64>,
    /// `offset`.
    pub offset: u64,
    /// The pool of a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<SwapPagePool>,
    /// `swaps`.
    pub swaps: Vec<Swap>,
    /// Of the whole listing.
    pub total: u64,
}

/// The pool of a page.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SwapPagePool {
    /// `poolId`.
    #[serde(rename = "poolId")]
    pub pool_id: Id,
    /// `poolName`.
    #[serde(rename = "poolName", default)]
    pub pool_name: Option<String>,
}

/// An amount of an alkane.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SwapPay {
    /// `amount`.
    pub amount: Amount,
    /// `tokenId`.
    #[serde(rename = "tokenId")]
    pub token_id: Id,
}

/// Everything, each with its kind, and once more by kinds.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TaggedActivity {
    /// `burns`.
    pub burns: Vec<Burn>,
    /// Of the page.
    pub count: u64,
    /// `creations`.
    pub creations: Vec<Creation>,
    /// `limit`.
    #[serde(default)]
    pub limit: Option<u64>,
    /// `mints`.
    pub mints: Vec<Mint>,
    /// `offset`.
    pub offset: u64,
    /// `swaps`.
    pub swaps: Vec<Swap>,
    /// Of the whole listing.
    pub total: u64,
    /// `transactions`.
    pub transactions: Vec<ActivityTransactionsItem>,
}

/// Base and target of a pool: its alkanes in its order
pub type TickerId = String;

/// RFC 3339, UTC
pub type Time = String;

/// A contract; what it is worth is of 10^8 base units, null where no price is known.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Token {
    /// `alkaneId`.
    #[serde(rename = "alkaneId")]
    pub alkane_id: Id,
    /// Where an address is asked about.
    #[serde(default)]
    pub balance: Option<Amount>,
    /// `busdPoolPriceInUsd`.
    #[serde(rename = "busdPoolPriceInUsd", default)]
    pub busd_pool_price_in_usd: Option<serde_json::Number>,
    /// How many mints there may be.
    #[serde(default)]
    pub cap: Option<Amount>,
    /// `createdAtHeight`.
    #[serde(rename = "createdAtHeight")]
    pub created_at_height: u32,
    /// `decimals`.
    pub decimals: u32,
    /// Of all that can be minted.
    #[serde(default)]
    pub fdv: Option<serde_json::Number>,
    /// `fdvInSats`.
    #[serde(rename = "fdvInSats", default)]
    pub fdv_in_sats: Option<u128>,
    /// Dollars that pools ask: the lowest price that this instance knows.
    #[serde(rename = "floorPrice", default)]
    pub floor_price: Option<serde_json::Number>,
    /// Satoshis with their fractions.
    #[serde(rename = "frbtcPoolPriceInSats", default)]
    pub frbtc_pool_price_in_sats: Option<serde_json::Number>,
    /// `holders`.
    pub holders: u64,
    /// `id`.
    pub id: Id,
    /// What the contract tells: text, or a data URI.
    #[serde(default)]
    pub image: Option<String>,
    /// Of the supply that there is.
    #[serde(default)]
    pub marketcap: Option<serde_json::Number>,
    /// `marketcapInSats`.
    #[serde(rename = "marketcapInSats", default)]
    pub marketcap_in_sats: Option<u128>,
    /// Amount of one mint.
    #[serde(default)]
    pub max: Option<Amount>,
    /// How many mints there were.
    #[serde(default)]
    pub minted: Option<Amount>,
    /// `name`.
    #[serde(default)]
    pub name: Option<String>,
    /// The supply without all mints, of a contract that counts them.
    #[serde(default)]
    pub premine: Option<Amount>,
    /// Percent.
    #[serde(rename = "priceChange24h", default)]
    pub price_change24h: Option<serde_json::Number>,
    /// Percent.
    #[serde(rename = "priceChange7d", default)]
    pub price_change7d: Option<serde_json::Number>,
    /// Whole satoshis, rounded down; at most 2^64 - 1.
    #[serde(rename = "priceInSatoshi", default)]
    pub price_in_satoshi: Option<u64>,
    /// `priceUsd`.
    #[serde(rename = "priceUsd", default)]
    pub price_usd: Option<serde_json::Number>,
    /// `symbol`.
    #[serde(default)]
    pub symbol: Option<String>,
    /// The same under the name that some clients read.
    #[serde(rename = "tokenImage", default)]
    pub token_image: Option<String>,
    /// `tokenPoolsVolume1dInSats`.
    #[serde(rename = "tokenPoolsVolume1dInSats", default)]
    pub token_pools_volume1d_in_sats: Option<u128>,
    /// Trade in all pools.
    #[serde(rename = "tokenPoolsVolume1dInUsd", default)]
    pub token_pools_volume1d_in_usd: Option<serde_json::Number>,
    /// `tokenPoolsVolume30dInSats`.
    #[serde(rename = "tokenPoolsVolume30dInSats", default)]
    pub token_pools_volume30d_in_sats: Option<u128>,
    /// `tokenPoolsVolume30dInUsd`.
    #[serde(rename = "tokenPoolsVolume30dInUsd", default)]
    pub token_pools_volume30d_in_usd: Option<serde_json::Number>,
    /// `tokenPoolsVolume7dInSats`.
    #[serde(rename = "tokenPoolsVolume7dInSats", default)]
    pub token_pools_volume7d_in_sats: Option<u128>,
    /// `tokenPoolsVolume7dInUsd`.
    #[serde(rename = "tokenPoolsVolume7dInUsd", default)]
    pub token_pools_volume7d_in_usd: Option<serde_json::Number>,
    /// `tokenPoolsVolumeAllTimeInSats`.
    #[serde(rename = "tokenPoolsVolumeAllTimeInSats", default)]
    pub token_pools_volume_all_time_in_sats: Option<u128>,
    /// `tokenPoolsVolumeAllTimeInUsd`.
    #[serde(rename = "tokenPoolsVolumeAllTimeInUsd", default)]
    pub token_pools_volume_all_time_in_usd: Option<serde_json::Number>,
    /// `totalSupply`.
    #[serde(rename = "totalSupply", default)]
    pub total_supply: Option<Amount>,
}

/// `TokenPage` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TokenPage {
    /// `count`.
    pub count: u64,
    /// `limit`.
    pub limit: u64,
    /// `offset`.
    pub offset: u64,
    /// `tokens`.
    pub tokens: Vec<Token>,
    /// `total`.
    pub total: u64,
}

/// Confirmation status of a transaction.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TransactionStatus {
    /// `block_hash`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_hash: Option<Hash>,
    /// `block_height`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_height: Option<u32>,
    /// `block_time`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_time: Option<u32>,
    /// `confirmed`.
    pub confirmed: bool,
}

/// `Transfer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Transfer {
    /// `id`.
    pub id: Id,
    /// `value`.
    pub value: Amount,
}

/// Bitcoin that was unwrapped.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Unwrap {
    /// Who did it; null where that has no address.
    #[serde(default)]
    pub address: Option<String>,
    /// `amount`.
    pub amount: Amount,
    /// `blockHeight`.
    #[serde(rename = "blockHeight")]
    pub block_height: u32,
    /// `eventIndex`.
    #[serde(rename = "eventIndex")]
    pub event_index: u32,
    /// `id`.
    pub id: String,
    /// `kind`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// `successful`.
    pub successful: bool,
    /// `timestamp`.
    pub timestamp: Time,
    /// `transactionId`.
    #[serde(rename = "transactionId")]
    pub transaction_id: Hash,
    /// `transactionIndex`.
    #[serde(rename = "transactionIndex")]
    pub transaction_index: u32,
    /// `type`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// `vout`.
    pub vout: u32,
}

/// A page of unwraps, newest first.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct UnwrapPage {
    /// Of the page.
    pub count: u64,
    /// `limit`.
    #[serde(default)]
    pub limit: Option<u64>,
    /// `offset`.
    pub offset: u64,
    /// Of the whole listing.
    pub total: u64,
    /// `unwraps`.
    pub unwraps: Vec<Unwrap>,
}

/// An unspent output as the REST routes render it: Esplora's members and those of the formatted records that clients parse.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Utxo {
    /// `null` for a script that has no address form.
    #[serde(default)]
    pub address: Option<String>,
    /// Alkanes of the output, block:tx to the amount.
    pub alkanes: std::collections::BTreeMap<String, UtxoAlkanesValue>,
    /// `confirmations`.
    pub confirmations: u32,
    /// `indexed`.
    pub indexed: bool,
    /// `inscriptions`.
    pub inscriptions: Vec<serde_json::Value>,
    /// `outputIndex`.
    #[serde(rename = "outputIndex")]
    pub output_index: u32,
    /// `runes`.
    pub runes: std::collections::BTreeMap<String, serde_json::Value>,
    /// `satoshis`.
    pub satoshis: u64,
    /// The script in hexadecimal digits.
    #[serde(rename = "scriptPk")]
    pub script_pk: String,
    /// `status`.
    pub status: TransactionStatus,
    /// `txId`.
    #[serde(rename = "txId")]
    pub tx_id: Hash,
    /// `txid`.
    pub txid: Hash,
    /// `value`.
    pub value: u64,
    /// `vout`.
    pub vout: u32,
}

/// An alkane in an output.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct UtxoAlkanesValue {
    /// `balance`.
    pub balance: Amount,
    /// `name`.
    #[serde(default)]
    pub name: Option<String>,
    /// `symbol`.
    #[serde(default)]
    pub symbol: Option<String>,
}

/// `UtxoPage` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct UtxoPage {
    /// Number of all outputs, including those beyond the limit.
    pub total: u64,
    /// `utxos`.
    pub utxos: Vec<Utxo>,
}

/// Bitcoin that was wrapped.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Wrap {
    /// Who did it; null where that has no address.
    #[serde(default)]
    pub address: Option<String>,
    /// `amount`.
    pub amount: Amount,
    /// `blockHeight`.
    #[serde(rename = "blockHeight")]
    pub block_height: u32,
    /// `eventIndex`.
    #[serde(rename = "eventIndex")]
    pub event_index: u32,
    /// `id`.
    pub id: String,
    /// `kind`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// `successful`.
    pub successful: bool,
    /// `timestamp`.
    pub timestamp: Time,
    /// `transactionId`.
    #[serde(rename = "transactionId")]
    pub transaction_id: Hash,
    /// `transactionIndex`.
    #[serde(rename = "transactionIndex")]
    pub transaction_index: u32,
    /// `type`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// `vout`.
    pub vout: u32,
}

/// A page of wraps, newest first.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct WrapPage {
    /// Of the page.
    pub count: u64,
    /// `limit`.
    #[serde(default)]
    pub limit: Option<u64>,
    /// `offset`.
    pub offset: u64,
    /// Of the whole listing.
    pub total: u64,
    /// `wraps`.
    pub wraps: Vec<Wrap>,
}
