//! Paraffin JSON-RPC: espo.
// Written from the declarations: docs/clients.md says how.

use crate::method::{Form, Method};
#[allow(unused_imports, reason = "not every document has all")]
use crate::value::{Amount, NumberOrText, one_of};

/// Liveness check of the surface: `pong`.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct EssentialsPing {}

impl EssentialsPing {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Method for EssentialsPing {
    const NAME: &'static str = "essentials.ping";
    const SURFACE: &'static str = "espo";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = EssentialsPingAnswer;
}

/// The newest height that every method of this instance can answer for.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct EssentialsGetEspoHeight {}

impl EssentialsGetEspoHeight {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Method for EssentialsGetEspoHeight {
    const NAME: &'static str = "essentials.get_espo_height";
    const SURFACE: &'static str = "espo";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = EssentialsGetEspoHeightAnswer;
}

/// Balances of an address.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EssentialsGetAddressBalances {
    /// An address of this instance's network.
    pub address: String,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<EssentialsGetAddressBalancesHeight>,
    /// Whether to list the outputs that hold alkanes; `false` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_outpoints: Option<bool>,
}

impl EssentialsGetAddressBalances {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<String>) -> Self {
        Self { address: address.into(), height: None, include_outpoints: None }
    }
}

impl Method for EssentialsGetAddressBalances {
    const NAME: &'static str = "essentials.get_address_balances";
    const SURFACE: &'static str = "espo";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["address", "height", "include_outpoints"];
    type Answer = EssentialsGetAddressBalancesAnswer;
}

/// The unspent outputs of an address that hold alkanes, oldest first.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EssentialsGetAddressOutpoints {
    /// An address of this instance's network.
    pub address: String,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<EssentialsGetAddressBalancesHeight>,
    /// Page number, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// Outputs of a page, at most 10,000. When absent all outputs are listed: a wallet must see all its coins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

impl EssentialsGetAddressOutpoints {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<String>) -> Self {
        Self { address: address.into(), height: None, page: None, limit: None }
    }
}

impl Method for EssentialsGetAddressOutpoints {
    const NAME: &'static str = "essentials.get_address_outpoints";
    const SURFACE: &'static str = "espo";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["address", "height", "page", "limit"];
    type Answer = EssentialsGetAddressOutpointsAnswer;
}

/// Alkanes of an output, and the transaction that spent it.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EssentialsGetOutpointBalances {
    /// `txid:vout`.
    pub outpoint: String,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<EssentialsGetAddressBalancesHeight>,
}

impl EssentialsGetOutpointBalances {
    /// With what must be given.
    #[must_use]
    pub fn new(outpoint: impl Into<String>) -> Self {
        Self { outpoint: outpoint.into(), height: None }
    }
}

impl Method for EssentialsGetOutpointBalances {
    const NAME: &'static str = "essentials.get_outpoint_balances";
    const SURFACE: &'static str = "espo";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["outpoint", "height"];
    type Answer = EssentialsGetOutpointBalancesAnswer;
}

/// Every unspent output of an address with all that a wallet needs to spend it.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EssentialsGetAddressSpendableOutpoints {
    /// An address of this instance's network.
    pub address: String,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<EssentialsGetAddressBalancesHeight>,
    /// Whether to include outputs of unconfirmed transactions; `false` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_unconfirmed: Option<bool>,
    /// `false` to include the whole transaction of each output, for 1,000 outputs at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omit_raw_tx: Option<bool>,
}

impl EssentialsGetAddressSpendableOutpoints {
    /// With what must be given.
    #[must_use]
    pub fn new(address: impl Into<String>) -> Self {
        Self { address: address.into(), height: None, include_unconfirmed: None, omit_raw_tx: None }
    }
}

impl Method for EssentialsGetAddressSpendableOutpoints {
    const NAME: &'static str = "essentials.get_address_spendable_outpoints";
    const SURFACE: &'static str = "espo";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["address", "height", "include_unconfirmed", "omit_raw_tx"];
    type Answer = EssentialsGetAddressSpendableOutpointsAnswer;
}

/// Holders of an alkane, the greatest amount first.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EssentialsGetHolders {
    /// Its id `block:tx`.
    pub alkane: String,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<EssentialsGetAddressBalancesHeight>,
    /// Whether contracts count as holders; `false` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_contracts: Option<bool>,
    /// Page number, from 0; a page must begin within the first 100,000 holders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// Holders of a page: 100 when absent, 10,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Alias of `limit`, which takes precedence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

impl EssentialsGetHolders {
    /// With what must be given.
    #[must_use]
    pub fn new(alkane: impl Into<String>) -> Self {
        Self { alkane: alkane.into(), height: None, include_contracts: None, page: None, limit: None, size: None }
    }
}

impl Method for EssentialsGetHolders {
    const NAME: &'static str = "essentials.get_holders";
    const SURFACE: &'static str = "espo";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["alkane", "height", "include_contracts", "page", "limit", "size"];
    type Answer = EssentialsGetHoldersAnswer;
}

/// Number of holders of an alkane.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EssentialsGetHoldersCount {
    /// Its id `block:tx`.
    pub alkane: String,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<EssentialsGetAddressBalancesHeight>,
    /// Whether contracts count as holders; `false` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_contracts: Option<bool>,
}

impl EssentialsGetHoldersCount {
    /// With what must be given.
    #[must_use]
    pub fn new(alkane: impl Into<String>) -> Self {
        Self { alkane: alkane.into(), height: None, include_contracts: None }
    }
}

impl Method for EssentialsGetHoldersCount {
    const NAME: &'static str = "essentials.get_holders_count";
    const SURFACE: &'static str = "espo";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["alkane", "height", "include_contracts"];
    type Answer = EssentialsGetHoldersCountAnswer;
}

/// The storage of a contract, in the order of its keys' bytes.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EssentialsGetKeys {
    /// The contract's id `block:tx`.
    pub alkane: String,
    /// Answers these keys only, including those that do not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<Vec<String>>,
    /// Whether to give keys and values as text where they are UTF-8; `true` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub try_decode_utf8: Option<bool>,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<EssentialsGetAddressBalancesHeight>,
    /// Page number, from 0; a page must begin within the first 100,000 keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// Keys of a page: 100 when absent, 10,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Alias of `limit`, which takes precedence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

impl EssentialsGetKeys {
    /// With what must be given.
    #[must_use]
    pub fn new(alkane: impl Into<String>) -> Self {
        Self { alkane: alkane.into(), keys: None, try_decode_utf8: None, height: None, page: None, limit: None, size: None }
    }
}

impl Method for EssentialsGetKeys {
    const NAME: &'static str = "essentials.get_keys";
    const SURFACE: &'static str = "espo";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["alkane", "keys", "try_decode_utf8", "height", "page", "limit", "size"];
    type Answer = EssentialsGetKeysAnswer;
}

/// Liveness check of the market methods: `pong`.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct AmmdataPing {}

impl AmmdataPing {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Method for AmmdataPing {
    const NAME: &'static str = "ammdata.ping";
    const SURFACE: &'static str = "espo";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = EssentialsPingAnswer;
}

/// Candles of a pool, the oldest of the page first; page 0 has the newest.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct AmmdataGetCandles {
    /// The pool's id `block:tx`.
    pub pool: String,
    /// `10m`, `1h`, `1d`, `1w` or `1M`; `1h` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeframe: Option<String>,
    /// Token of the pool that prices and sides refer to: `base` or `quote`; `base` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
    /// Whether intervals without trades get a candle at the last price; `false` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<bool>,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<EssentialsGetAddressBalancesHeight>,
    /// Page number, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// Candles of a page: 100 when absent, 10,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Alias of `limit`, which takes precedence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

impl AmmdataGetCandles {
    /// With what must be given.
    #[must_use]
    pub fn new(pool: impl Into<String>) -> Self {
        Self { pool: pool.into(), timeframe: None, side: None, fill: None, height: None, page: None, limit: None, size: None }
    }
}

impl Method for AmmdataGetCandles {
    const NAME: &'static str = "ammdata.get_candles";
    const SURFACE: &'static str = "espo";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["pool", "timeframe", "side", "fill", "height", "page", "limit", "size"];
    type Answer = AmmdataGetCandlesAnswer;
}

/// Trades of a pool.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct AmmdataGetTrades {
    /// The pool's id `block:tx`.
    pub pool: String,
    /// Token of the pool that prices and sides refer to: `base` or `quote`; `base` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
    /// `all`, `buy` or `sell`; `all` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter_side: Option<String>,
    /// `timestamp`, `block_height`, `amount_in`, `amount_out`, `price` or `side`; `timestamp` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort: Option<String>,
    /// `desc` or `asc`; `desc` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dir: Option<String>,
    /// Alias of `dir`, which takes precedence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<String>,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<EssentialsGetAddressBalancesHeight>,
    /// Page number, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// Trades of a page: 100 when absent, 10,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Alias of `limit`, which takes precedence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

impl AmmdataGetTrades {
    /// With what must be given.
    #[must_use]
    pub fn new(pool: impl Into<String>) -> Self {
        Self { pool: pool.into(), side: None, filter_side: None, sort: None, dir: None, direction: None, height: None, page: None, limit: None, size: None }
    }
}

impl Method for AmmdataGetTrades {
    const NAME: &'static str = "ammdata.get_trades";
    const SURFACE: &'static str = "espo";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["pool", "side", "filter_side", "sort", "dir", "direction", "height", "page", "limit", "size"];
    type Answer = AmmdataGetTradesAnswer;
}

/// Activity of a pool: trades, and liquidity that was added and removed.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct AmmdataGetActivity {
    /// The pool's id `block:tx`.
    pub pool: String,
    /// `all`, `trades`, or `events` for events other than trades; `all` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activity_type: Option<String>,
    /// Token of the pool that prices and sides refer to: `base` or `quote`; `base` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
    /// Filters trades: `all`, `buy` or `sell`; `all` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter_side: Option<String>,
    /// `timestamp`, `block_height`, `amount_in`, `amount_out`, `price` or `side`; `timestamp` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort: Option<String>,
    /// `desc` or `asc`; `desc` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dir: Option<String>,
    /// Alias of `dir`, which takes precedence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<String>,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<EssentialsGetAddressBalancesHeight>,
    /// Page number, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// Events of a page: 100 when absent, 10,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Alias of `limit`, which takes precedence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

impl AmmdataGetActivity {
    /// With what must be given.
    #[must_use]
    pub fn new(pool: impl Into<String>) -> Self {
        Self { pool: pool.into(), activity_type: None, side: None, filter_side: None, sort: None, dir: None, direction: None, height: None, page: None, limit: None, size: None }
    }
}

impl Method for AmmdataGetActivity {
    const NAME: &'static str = "ammdata.get_activity";
    const SURFACE: &'static str = "espo";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["pool", "activity_type", "side", "filter_side", "sort", "dir", "direction", "height", "page", "limit", "size"];
    type Answer = AmmdataGetActivityAnswer;
}

/// All pools and their reserves, in the order in which they were created.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct AmmdataGetPools {
    /// The id of a factory, for its pools alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factory: Option<String>,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<EssentialsGetAddressBalancesHeight>,
    /// Page number, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// Pools of a page: 100 when absent, 10,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Alias of `limit`, which takes precedence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

impl AmmdataGetPools {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { factory: None, height: None, page: None, limit: None, size: None }
    }
}

impl Method for AmmdataGetPools {
    const NAME: &'static str = "ammdata.get_pools";
    const SURFACE: &'static str = "espo";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["factory", "height", "page", "limit", "size"];
    type Answer = AmmdataGetPoolsAnswer;
}

/// The factories that have made pools.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct AmmdataGetAmmFactories {
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<EssentialsGetAddressBalancesHeight>,
    /// Page number, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// Factories of a page: 100 when absent, 10,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Alias of `limit`, which takes precedence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

impl AmmdataGetAmmFactories {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { height: None, page: None, limit: None, size: None }
    }
}

impl Method for AmmdataGetAmmFactories {
    const NAME: &'static str = "ammdata.get_amm_factories";
    const SURFACE: &'static str = "espo";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["height", "page", "limit", "size"];
    type Answer = AmmdataGetAmmFactoriesAnswer;
}

/// The best route through pools from one alkane to another.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct AmmdataFindBestSwapPath {
    /// The alkane that goes in, `block:tx`.
    pub token_in: String,
    /// The alkane that comes out, `block:tx`.
    pub token_out: String,
    /// Which amount is fixed: `exact_in`, `exact_out` or `implicit`, which takes `amount_in` or `available_in`; `exact_in` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Amount in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount_in: Option<EssentialsGetAddressBalancesHeight>,
    /// Requested amount out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount_out: Option<EssentialsGetAddressBalancesHeight>,
    /// Available amount in, for mode `implicit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available_in: Option<EssentialsGetAddressBalancesHeight>,
    /// Smallest acceptable amount out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount_out_min: Option<EssentialsGetAddressBalancesHeight>,
    /// Largest acceptable amount in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount_in_max: Option<EssentialsGetAddressBalancesHeight>,
    /// `pool` for each pool's own fee, `flat` for `fee_bps`; `flat` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fees: Option<String>,
    /// The fee of every pool, parts of 10,000; 30 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fee_bps: Option<u64>,
    /// Pools of a route at most, 1 to 3; 3 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_hops: Option<u64>,
    /// The id of a factory, for its pools alone; the operator's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factory: Option<String>,
    /// Whether the route may use the CryptoSwap pool; `true` when absent and no factory is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cryptoswap: Option<bool>,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<EssentialsGetAddressBalancesHeight>,
}

impl AmmdataFindBestSwapPath {
    /// With what must be given.
    #[must_use]
    pub fn new(token_in: impl Into<String>, token_out: impl Into<String>) -> Self {
        Self { token_in: token_in.into(), token_out: token_out.into(), mode: None, amount_in: None, amount_out: None, available_in: None, amount_out_min: None, amount_in_max: None, fees: None, fee_bps: None, max_hops: None, factory: None, cryptoswap: None, height: None }
    }
}

impl Method for AmmdataFindBestSwapPath {
    const NAME: &'static str = "ammdata.find_best_swap_path";
    const SURFACE: &'static str = "espo";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["token_in", "token_out", "mode", "amount_in", "amount_out", "available_in", "amount_out_min", "amount_in_max", "fees", "fee_bps", "max_hops", "factory", "cryptoswap", "height"];
    type Answer = AmmdataFindBestSwapPathAnswer;
}

/// The cycle through a factory's pools with the greatest profit in an alkane.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct AmmdataGetBestMevSwap {
    /// The alkane that goes in and comes out, `block:tx`.
    pub token: String,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<EssentialsGetAddressBalancesHeight>,
    /// `pool` for each pool's own fee, `flat` for `fee_bps`; `flat` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fees: Option<String>,
    /// The fee of every pool, parts of 10,000; 30 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fee_bps: Option<u64>,
    /// Pools of a cycle at most, 2 to 3; 3 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_hops: Option<u64>,
    /// The id of a factory, for its pools alone; the operator's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factory: Option<String>,
    /// Refused beside `factory`; a cycle is one call of a factory in any case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cryptoswap: Option<bool>,
}

impl AmmdataGetBestMevSwap {
    /// With what must be given.
    #[must_use]
    pub fn new(token: impl Into<String>) -> Self {
        Self { token: token.into(), height: None, fees: None, fee_bps: None, max_hops: None, factory: None, cryptoswap: None }
    }
}

impl Method for AmmdataGetBestMevSwap {
    const NAME: &'static str = "ammdata.get_best_mev_swap";
    const SURFACE: &'static str = "espo";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["token", "height", "fees", "fee_bps", "max_hops", "factory", "cryptoswap"];
    type Answer = AmmdataGetBestMevSwapAnswer;
}

/// Dollars for one bitcoin times 10^16, as text.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct AmmdataGetBtcUsdPrice {
    /// A block height, for the latest price at or before the time of the block; the newest price when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<EssentialsGetAddressBalancesHeight>,
}

impl AmmdataGetBtcUsdPrice {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { height: None }
    }
}

impl Method for AmmdataGetBtcUsdPrice {
    const NAME: &'static str = "ammdata.get_btc_usd_price";
    const SURFACE: &'static str = "espo";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["height"];
    type Answer = EssentialsPingAnswer;
}

/// A page of events.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ActivityAnswer {
    /// `activity`.
    pub activity: Vec<ActivityItem>,
    /// `activity_type`.
    pub activity_type: String,
    /// `dir`.
    pub dir: String,
    /// `filter_side`.
    pub filter_side: String,
    /// `has_more`.
    pub has_more: bool,
    /// `limit`.
    pub limit: u32,
    /// `ok`.
    pub ok: bool,
    /// `page`.
    pub page: u64,
    /// `pool`.
    pub pool: String,
    /// `side`.
    pub side: String,
    /// `sort`.
    pub sort: String,
    /// Number of items on all pages.
    pub total: u64,
    /// Present where a sort order or a filter covers the newest events only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<EventWindow>,
}

/// An event of a pool. Amounts are base units in decimal digits unless stated otherwise.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ActivityItem {
    /// `null` where the script has none.
    #[serde(default)]
    pub address: Option<String>,
    /// Unsigned change of the reserve of the `side` token, in units of 10^8 base units.
    pub amount: serde_json::Number,
    /// Of a trade.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount_in: Option<String>,
    /// Of a trade.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount_out: Option<String>,
    /// Signed change of the pool's reserve of its first alkane.
    pub base_delta: String,
    /// `block_height`.
    pub block_height: u32,
    /// Of a trade: `base_in` or `quote_in`.
    #[serde(default)]
    pub direction: Option<String>,
    /// `trade_buy`, `trade_sell`, `pool_create`, `liquidity_add` or `liquidity_remove`.
    pub kind: String,
    /// Liquidity shares minted or burnt; absent for a trade.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub liquidity: Option<String>,
    /// Of a trade; `null` where the amount out was zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<String>,
    /// Signed change of the pool's reserve of its second alkane.
    pub quote_delta: String,
    /// `buy` or `sell` for a trade, else `neutral`.
    pub side: String,
    /// Unix seconds.
    pub timestamp: u32,
    /// `txid`.
    pub txid: String,
    /// `vout`.
    pub vout: u32,
}

/// Balances of an address.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct AddressBalancesAnswer {
    /// `address`.
    pub address: String,
    /// Base units in decimal digits, by the alkane's id.
    pub balances: std::collections::BTreeMap<String, String>,
    /// `ok`.
    pub ok: bool,
    /// `outpoints`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outpoints: Option<Vec<HoldingOutpoint>>,
}

/// Outputs of an address.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct AddressOutpointsAnswer {
    /// `address`.
    pub address: String,
    /// Items of a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_more: Option<bool>,
    /// `limit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// `ok`.
    pub ok: bool,
    /// `outpoints`.
    pub outpoints: Vec<HoldingOutpoint>,
    /// `page`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
}

one_of! {
/// An answer or a failure result.
AmmdataFindBestSwapPathAnswer {
    BestSwapPathAnswer(BestSwapPathAnswer),
    Refusal(Refusal),
} }

one_of! {
/// An answer or a failure result.
AmmdataGetActivityAnswer {
    ActivityAnswer(ActivityAnswer),
    Refusal(Refusal),
} }

one_of! {
/// An answer or a failure result.
AmmdataGetAmmFactoriesAnswer {
    FactoriesAnswer(FactoriesAnswer),
    Refusal(Refusal),
} }

one_of! {
/// An answer or a failure result.
AmmdataGetBestMevSwapAnswer {
    BestCycleAnswer(BestCycleAnswer),
    Refusal(Refusal),
} }

one_of! {
/// An answer or a failure result.
AmmdataGetCandlesAnswer {
    CandlesAnswer(CandlesAnswer),
    Refusal(Refusal),
} }

one_of! {
/// An answer or a failure result.
AmmdataGetPoolsAnswer {
    PoolsAnswer(PoolsAnswer),
    Refusal(Refusal),
} }

one_of! {
/// An answer or a failure result.
AmmdataGetTradesAnswer {
    TradesAnswer(TradesAnswer),
    Refusal(Refusal),
} }

/// A cycle. Amounts are base units in decimal digits.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct BestCycleAnswer {
    /// `amount_in`.
    pub amount_in: String,
    /// `amount_out`.
    pub amount_out: String,
    /// `factory`.
    pub factory: String,
    /// `null` where every pool has its own.
    #[serde(default)]
    pub fee_bps: Option<u32>,
    /// `hops`.
    pub hops: Vec<RouteHop>,
    /// `max_hops`.
    pub max_hops: u64,
    /// `ok`.
    pub ok: bool,
    /// `profit`.
    pub profit: String,
    /// Upper bound of the profit, whatever the amount in.
    pub profit_bound: String,
    /// `token`.
    pub token: String,
}

/// A route. Amounts are base units in decimal digits.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct BestSwapPathAnswer {
    /// `amount_in`.
    pub amount_in: String,
    /// `amount_out`.
    pub amount_out: String,
    /// `factory`.
    pub factory: String,
    /// `null` where every pool has its own.
    #[serde(default)]
    pub fee_bps: Option<u32>,
    /// `hops`.
    pub hops: Vec<RouteHop>,
    /// `max_hops`.
    pub max_hops: u64,
    /// `mode`.
    pub mode: String,
    /// `ok`.
    pub ok: bool,
    /// `token_in`.
    pub token_in: String,
    /// `token_out`.
    pub token_out: String,
}

/// A candle. Prices are decimal text, volumes base units in decimal digits, times Unix seconds.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Candle {
    /// `close`.
    pub close: String,
    /// Where the next candle begins.
    pub close_time: String,
    /// `high`.
    pub high: String,
    /// `low`.
    pub low: String,
    /// `open`.
    pub open: String,
    /// `open_time`.
    pub open_time: String,
    /// `trade_count`.
    pub trade_count: u32,
    /// The same as `trade_count`.
    pub trades: u32,
    /// The same as `open_time`, as a number.
    pub ts: u32,
    /// Of the token named by `side`.
    pub volume: String,
    /// Of the pool's first alkane.
    pub volume0: String,
    /// Of the pool's second alkane.
    pub volume1: String,
}

/// A page of candles.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct CandlesAnswer {
    /// `candles`.
    pub candles: Vec<Candle>,
    /// `has_more`.
    pub has_more: bool,
    /// `limit`.
    pub limit: u32,
    /// `ok`.
    pub ok: bool,
    /// `page`.
    pub page: u64,
    /// `pool`.
    pub pool: String,
    /// `side`.
    pub side: String,
    /// `timeframe`.
    pub timeframe: String,
    /// Number of items on all pages.
    pub total: u64,
}

one_of! {
/// An answer or a failure result.
EssentialsGetAddressBalancesAnswer {
    AddressBalancesAnswer(AddressBalancesAnswer),
    Refusal(Refusal),
} }

one_of! {
/// `EssentialsGetAddressBalancesHeight` of the descriptions.
EssentialsGetAddressBalancesHeight {
    Text(String),
    Integer(i64),
} }

one_of! {
/// An answer or a failure result.
EssentialsGetAddressOutpointsAnswer {
    AddressOutpointsAnswer(AddressOutpointsAnswer),
    Refusal(Refusal),
} }

one_of! {
/// An answer or a failure result.
EssentialsGetAddressSpendableOutpointsAnswer {
    SpendableOutpointsAnswer(SpendableOutpointsAnswer),
    Refusal(Refusal),
} }

one_of! {
/// An answer or a failure result.
EssentialsGetEspoHeightAnswer {
    IndexHeightAnswer(IndexHeightAnswer),
    Refusal(Refusal),
} }

one_of! {
/// An answer or a failure result.
EssentialsGetHoldersAnswer {
    HoldersAnswer(HoldersAnswer),
    Refusal(Refusal),
} }

one_of! {
/// An answer or a failure result.
EssentialsGetHoldersCountAnswer {
    HoldersCountAnswer(HoldersCountAnswer),
    Refusal(Refusal),
} }

one_of! {
/// An answer or a failure result.
EssentialsGetKeysAnswer {
    KeysAnswer(KeysAnswer),
    Refusal(Refusal),
} }

one_of! {
/// An answer or a failure result.
EssentialsGetOutpointBalancesAnswer {
    OutpointBalancesAnswer(OutpointBalancesAnswer),
    Refusal(Refusal),
} }

one_of! {
/// An answer or a failure result.
EssentialsPingAnswer {
    Text(String),
    Refusal(Refusal),
} }

/// The part of a pool's events that an answer covers, where it does not cover all.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct EventWindow {
    /// How many of the pool's newest events the answer covers.
    pub newest: u32,
    /// How many events the pool has.
    pub of: u32,
}

/// A page of factories.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct FactoriesAnswer {
    /// Ids.
    pub factories: Vec<String>,
    /// `has_more`.
    pub has_more: bool,
    /// `limit`.
    pub limit: u32,
    /// `ok`.
    pub ok: bool,
    /// `page`.
    pub page: u64,
    /// Number of items on all pages.
    pub total: u64,
}

/// An alkane that an output holds.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct HeldAlkane {
    /// Its id.
    pub alkane: String,
    /// Base units in decimal digits.
    pub amount: String,
}

/// A base rune that an output holds.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct HeldBaseRune {
    /// Base units in decimal digits.
    pub amount: String,
    /// `id`.
    pub id: String,
    /// Its name, where it is known.
    #[serde(default)]
    pub rune: Option<String>,
}

/// A holder.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct HolderItem {
    /// An address, the script in hexadecimal digits where it has none, or a contract's id.
    pub address: String,
    /// The id of a contract.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alkane: Option<String>,
    /// Base units in decimal digits.
    pub amount: String,
    /// `address` or `alkane`.
    pub r#type: String,
}

/// A page of holders.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct HoldersAnswer {
    /// `alkane`.
    pub alkane: String,
    /// `has_more`.
    pub has_more: bool,
    /// `items`.
    pub items: Vec<HolderItem>,
    /// `limit`.
    pub limit: u32,
    /// `ok`.
    pub ok: bool,
    /// `page`.
    pub page: u64,
    /// Number of items on all pages.
    pub total: u64,
}

/// A count.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct HoldersCountAnswer {
    /// `count`.
    pub count: u64,
    /// `ok`.
    pub ok: bool,
}

/// An output and its alkanes.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct HoldingOutpoint {
    /// `entries`.
    pub entries: Vec<HeldAlkane>,
    /// `txid:vout`.
    pub outpoint: String,
}

/// A height.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct IndexHeightAnswer {
    /// `height`.
    pub height: u32,
}

/// A key and its value. Some values appear under several names, for different clients.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct KeyItem {
    /// `hex`.
    pub hex: String,
    /// `key_hex`.
    pub key_hex: String,
    /// `key_str`.
    #[serde(default)]
    pub key_str: Option<String>,
    /// The transaction that stored the value, where a trace shows it.
    #[serde(default)]
    pub last_txid: Option<String>,
    /// `utf8`.
    #[serde(default)]
    pub utf8: Option<String>,
    /// `value_hex`.
    pub value_hex: String,
    /// `value_str`.
    #[serde(default)]
    pub value_str: Option<String>,
    /// The value as a little-endian number, where it has 1 to 16 bytes.
    #[serde(default)]
    pub value_u128: Option<String>,
    /// `value_utf8`.
    #[serde(default)]
    pub value_utf8: Option<String>,
}

/// A page of a contract's storage.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct KeysAnswer {
    /// `alkane`.
    pub alkane: String,
    /// `has_more`.
    pub has_more: bool,
    /// By key, in hexadecimal digits after `0x`.
    pub items: std::collections::BTreeMap<String, KeyItem>,
    /// `limit`.
    pub limit: u32,
    /// `ok`.
    pub ok: bool,
    /// `page`.
    pub page: u64,
    /// Number of keys on all pages; at most 100,000 is reported.
    pub total: u64,
}

/// A pool, with the members that the different clients read. Amounts are base units in decimal digits.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ListedPool {
    /// `base`.
    pub base: String,
    /// `base_reserve`.
    pub base_reserve: String,
    /// `factory`.
    pub factory: String,
    /// `fee_per_1000`.
    pub fee_per_1000: String,
    /// `name`.
    pub name: String,
    /// `quote`.
    pub quote: String,
    /// `quote_reserve`.
    pub quote_reserve: String,
    /// `reserve0`.
    pub reserve0: String,
    /// `reserve1`.
    pub reserve1: String,
    /// `source`.
    pub source: String,
    /// `token0`.
    pub token0: String,
    /// `token1`.
    pub token1: String,
    /// `total_supply`.
    pub total_supply: String,
}

/// The requested output.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct OutpointBalancesAnswer {
    /// `items`.
    pub items: Vec<OutputItem>,
    /// `ok`.
    pub ok: bool,
    /// `outpoint`.
    pub outpoint: String,
}

/// An output. For one that holds no alkanes, or does not exist, only its outpoint is known.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct OutputItem {
    /// `null` where its script has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// `block_height`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_height: Option<u32>,
    /// `entries`.
    pub entries: Vec<HeldAlkane>,
    /// Whether the output holds or held alkanes.
    pub known: bool,
    /// `outpoint`.
    pub outpoint: String,
    /// `spent`.
    pub spent: bool,
    /// The transaction that spent it; `null` while none has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent_by: Option<String>,
    /// Satoshis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<u64>,
}

/// A page of pools.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PoolsAnswer {
    /// `has_more`.
    pub has_more: bool,
    /// `limit`.
    pub limit: u32,
    /// `ok`.
    pub ok: bool,
    /// `page`.
    pub page: u64,
    /// By id.
    pub pools: std::collections::BTreeMap<String, ListedPool>,
    /// Number of items on all pages.
    pub total: u32,
}

/// The result of a well-formed call that has no answer.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Refusal {
    /// A more specific word, where the error word has several causes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Stable, machine-readable error word.
    pub error: String,
    /// What to do about it.
    pub hint: String,
    /// `false`.
    pub ok: bool,
}

/// One pool of a route. Amounts are base units in decimal digits.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RouteHop {
    /// `amount_in`.
    pub amount_in: String,
    /// `amount_out`.
    pub amount_out: String,
    /// Parts of 10,000; `null` where the fee is part of the pool's own formula.
    #[serde(default)]
    pub fee_bps: Option<u128>,
    /// Parts of 1,000, where the fee is the pool's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fee_per_1000: Option<u128>,
    /// `factory` or `cryptoswap`.
    pub kind: String,
    /// `pool`.
    pub pool: String,
    /// `token_in`.
    pub token_in: String,
    /// `token_out`.
    pub token_out: String,
}

/// An unspent output.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SpendableOutpoint {
    /// `alkanes`.
    pub alkanes: Vec<HeldAlkane>,
    /// `null` while its transaction is in no block.
    #[serde(default)]
    pub block_height: Option<u32>,
    /// `coinbase`.
    pub coinbase: bool,
    /// Blocks from its own to the height of the answer, both included.
    pub confirmations: u32,
    /// Whether its alkanes are known: `false` until its transaction is in a block.
    pub indexed: bool,
    /// `txid:vout`.
    pub outpoint: String,
    /// The whole transaction in hexadecimal digits; `0` where it was not requested.
    pub raw_tx_hex: String,
    /// `runes`.
    pub runes: Vec<HeldBaseRune>,
    /// `script_pubkey_hex`.
    pub script_pubkey_hex: String,
    /// Satoshis.
    pub value: u64,
}

/// The unspent outputs of an address.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SpendableOutpointsAnswer {
    /// `address`.
    pub address: String,
    /// Block height that the answer is as of.
    pub height: u32,
    /// Number of outputs.
    pub length: u64,
    /// `ok`.
    pub ok: bool,
    /// `outpoints`.
    pub outpoints: Vec<SpendableOutpoint>,
}

/// A trade. Amounts are base units in decimal digits.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Trade {
    /// Address of the trader; `null` where the script has none.
    #[serde(default)]
    pub address: Option<String>,
    /// `amount_in`.
    pub amount_in: String,
    /// `amount_out`.
    pub amount_out: String,
    /// Change of the pool's reserve of its first alkane.
    pub base_inflow: String,
    /// `block_height`.
    pub block_height: u32,
    /// `price`.
    #[serde(default)]
    pub price: Option<String>,
    /// Change of the pool's reserve of its second alkane.
    pub quote_inflow: String,
    /// `buy` or `sell`.
    pub side: String,
    /// Unix seconds.
    pub timestamp: String,
    /// `txid`.
    pub txid: String,
    /// `vout`.
    pub vout: u32,
    /// The key in a taproot script, in hexadecimal digits; empty for other scripts.
    pub xpubkey: String,
}

/// A page of trades.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TradesAnswer {
    /// `dir`.
    pub dir: String,
    /// `filter_side`.
    pub filter_side: String,
    /// `has_more`.
    pub has_more: bool,
    /// `limit`.
    pub limit: u32,
    /// `ok`.
    pub ok: bool,
    /// `page`.
    pub page: u64,
    /// `pool`.
    pub pool: String,
    /// `side`.
    pub side: String,
    /// `sort`.
    pub sort: String,
    /// Number of items on all pages.
    pub total: u64,
    /// `trades`.
    pub trades: Vec<Trade>,
    /// Present where a sort order or a filter covers the newest events only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<EventWindow>,
}
