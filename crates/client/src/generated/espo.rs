//! Paraffin JSON-RPC: espo.
// Written from the declarations: docs/clients.md says how.

use crate::method::{Form, Method};
#[allow(unused_imports, reason = "not every document has all")]
use crate::value::{Amount, NumberOrText, one_of};

/// Whether the surface answers: `pong`.
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

/// The newest height that every method of this instance can be asked about.
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

/// What an address holds in sum.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EssentialsGetAddressBalances {
    /// An address of this instance's network.
    pub address: String,
    /// As of which block; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<EssentialsGetAddressBalancesHeight>,
    /// Whether to give each output that holds something; not when absent.
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
    /// As of which block; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<EssentialsGetAddressBalancesHeight>,
    /// Which page, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// Outputs of a page, at most 10,000. When absent all outputs are given: a wallet must see all its coins.
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

/// What an output holds, and who spent it.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EssentialsGetOutpointBalances {
    /// `txid:vout`.
    pub outpoint: String,
    /// As of which block; the newest when absent.
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
    /// As of which block; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<EssentialsGetAddressBalancesHeight>,
    /// Whether to give outputs of unconfirmed transactions too; not when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_unconfirmed: Option<bool>,
    /// `false` to give the whole transaction of each output, of 1,000 outputs at most.
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

/// Who holds an alkane, the greatest amount first.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EssentialsGetHolders {
    /// Its id `block:tx`.
    pub alkane: String,
    /// As of which block; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<EssentialsGetAddressBalancesHeight>,
    /// Whether contracts count as holders; not when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_contracts: Option<bool>,
    /// Which page, from 0; pages begin within the first 100,000 holders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// Holders of a page: 100 when absent, 10,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The same as `limit`, which goes first.
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

/// How many hold an alkane.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EssentialsGetHoldersCount {
    /// Its id `block:tx`.
    pub alkane: String,
    /// As of which block; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<EssentialsGetAddressBalancesHeight>,
    /// Whether contracts count as holders; not when absent.
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
    /// Some keys alone, also those that are not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<Vec<String>>,
    /// Whether to give keys and values as text where they are UTF-8; so when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub try_decode_utf8: Option<bool>,
    /// As of which block; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<EssentialsGetAddressBalancesHeight>,
    /// Which page, from 0; pages begin within the first 100,000 keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// Keys of a page: 100 when absent, 10,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The same as `limit`, which goes first.
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

/// Whether the methods of markets answer: `pong`.
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

/// Prices of a pool in time, the oldest of the page first; page 0 has the newest.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct AmmdataGetCandles {
    /// The pool's id `block:tx`.
    pub pool: String,
    /// `10m`, `1h`, `1d`, `1w` or `1M`; `1h` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeframe: Option<String>,
    /// From which of its two alkanes the pool is seen: `base` or `quote`; `base` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
    /// Whether a time without trades has a candle at the price before it; not when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<bool>,
    /// As of which block; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<EssentialsGetAddressBalancesHeight>,
    /// Which page, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// Candles of a page: 100 when absent, 10,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The same as `limit`, which goes first.
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

/// The trades of a pool.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct AmmdataGetTrades {
    /// The pool's id `block:tx`.
    pub pool: String,
    /// From which of its two alkanes the pool is seen: `base` or `quote`; `base` when absent.
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
    /// The same as `dir`, which goes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<String>,
    /// As of which block; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<EssentialsGetAddressBalancesHeight>,
    /// Which page, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// Trades of a page: 100 when absent, 10,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The same as `limit`, which goes first.
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

/// What happened on a pool: trades, and liquidity that was added and removed.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct AmmdataGetActivity {
    /// The pool's id `block:tx`.
    pub pool: String,
    /// `all`, `trades`, or `events` for what is no trade; `all` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activity_type: Option<String>,
    /// From which of its two alkanes the pool is seen: `base` or `quote`; `base` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
    /// Of trades: `all`, `buy` or `sell`; `all` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter_side: Option<String>,
    /// `timestamp`, `block_height`, `amount_in`, `amount_out`, `price` or `side`; `timestamp` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort: Option<String>,
    /// `desc` or `asc`; `desc` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dir: Option<String>,
    /// The same as `dir`, which goes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<String>,
    /// As of which block; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<EssentialsGetAddressBalancesHeight>,
    /// Which page, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// Events of a page: 100 when absent, 10,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The same as `limit`, which goes first.
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

/// All pools and what they hold, in the order in which they were created.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct AmmdataGetPools {
    /// The id of a factory, for its pools alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factory: Option<String>,
    /// As of which block; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<EssentialsGetAddressBalancesHeight>,
    /// Which page, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// Pools of a page: 100 when absent, 10,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The same as `limit`, which goes first.
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
    /// As of which block; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<EssentialsGetAddressBalancesHeight>,
    /// Which page, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// Factories of a page: 100 when absent, 10,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The same as `limit`, which goes first.
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

/// The best way through pools from one alkane to another.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct AmmdataFindBestSwapPath {
    /// The alkane that goes in, `block:tx`.
    pub token_in: String,
    /// The alkane that comes out, `block:tx`.
    pub token_out: String,
    /// Which end is given: `exact_in`, `exact_out` or `implicit`, which takes `amount_in` or `available_in`; `exact_in` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// How much goes in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount_in: Option<EssentialsGetAddressBalancesHeight>,
    /// How much is to come out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount_out: Option<EssentialsGetAddressBalancesHeight>,
    /// How much there is, in mode `implicit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available_in: Option<EssentialsGetAddressBalancesHeight>,
    /// The least that is to come out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount_out_min: Option<EssentialsGetAddressBalancesHeight>,
    /// The most that may go in.
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
    /// Whether the route may go through the CryptoSwap pool; so when absent and no factory is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cryptoswap: Option<bool>,
    /// As of which block; the newest when absent.
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

/// The cycle through a factory's pools that gives most of an alkane back.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct AmmdataGetBestMevSwap {
    /// The alkane that goes in and comes out, `block:tx`.
    pub token: String,
    /// As of which block; the newest when absent.
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
    /// A block, for the price at its time and never a later one; now when absent.
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

/// A page of what happened.
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
    /// Of all pages.
    pub total: u64,
    /// Where another order than the chain's, or a choice, looked at the newest events alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<EventWindow>,
}

/// Something that happened. Amounts are base units in decimal digits but where it says otherwise.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ActivityItem {
    /// `null` where the script has none.
    #[serde(default)]
    pub address: Option<String>,
    /// By how much the alkane that the pool is seen from changed, without sign, in units of 10^8.
    pub amount: serde_json::Number,
    /// Of a trade.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount_in: Option<String>,
    /// Of a trade.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount_out: Option<String>,
    /// By how much the pool's first alkane changed, with sign.
    pub base_delta: String,
    /// `block_height`.
    pub block_height: u32,
    /// `base_in` or `quote_in` of a trade.
    #[serde(default)]
    pub direction: Option<String>,
    /// `trade_buy`, `trade_sell`, `pool_create`, `liquidity_add` or `liquidity_remove`.
    pub kind: String,
    /// Shares that were made or burnt; absent of a trade.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub liquidity: Option<String>,
    /// Of a trade; `null` where nothing came out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<String>,
    /// By how much the pool's second alkane changed, with sign.
    pub quote_delta: String,
    /// `buy`, `sell`, or `neutral` of what is no trade.
    pub side: String,
    /// Unix seconds.
    pub timestamp: u32,
    /// `txid`.
    pub txid: String,
    /// `vout`.
    pub vout: u32,
}

/// What an address holds.
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
    /// Of a page.
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
/// An answer, or why there is none.
AmmdataFindBestSwapPathAnswer {
    BestSwapPathAnswer(BestSwapPathAnswer),
    Refusal(Refusal),
} }

one_of! {
/// An answer, or why there is none.
AmmdataGetActivityAnswer {
    ActivityAnswer(ActivityAnswer),
    Refusal(Refusal),
} }

one_of! {
/// An answer, or why there is none.
AmmdataGetAmmFactoriesAnswer {
    FactoriesAnswer(FactoriesAnswer),
    Refusal(Refusal),
} }

one_of! {
/// An answer, or why there is none.
AmmdataGetBestMevSwapAnswer {
    BestCycleAnswer(BestCycleAnswer),
    Refusal(Refusal),
} }

one_of! {
/// An answer, or why there is none.
AmmdataGetCandlesAnswer {
    CandlesAnswer(CandlesAnswer),
    Refusal(Refusal),
} }

one_of! {
/// An answer, or why there is none.
AmmdataGetPoolsAnswer {
    PoolsAnswer(PoolsAnswer),
    Refusal(Refusal),
} }

one_of! {
/// An answer, or why there is none.
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
    /// What no amount can exceed on this way.
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
    /// Of the side that the pool is seen from.
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
    /// Of all pages.
    pub total: u64,
}

one_of! {
/// An answer, or why there is none.
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
/// An answer, or why there is none.
EssentialsGetAddressOutpointsAnswer {
    AddressOutpointsAnswer(AddressOutpointsAnswer),
    Refusal(Refusal),
} }

one_of! {
/// An answer, or why there is none.
EssentialsGetAddressSpendableOutpointsAnswer {
    SpendableOutpointsAnswer(SpendableOutpointsAnswer),
    Refusal(Refusal),
} }

one_of! {
/// An answer, or why there is none.
EssentialsGetEspoHeightAnswer {
    IndexHeightAnswer(IndexHeightAnswer),
    Refusal(Refusal),
} }

one_of! {
/// An answer, or why there is none.
EssentialsGetHoldersAnswer {
    HoldersAnswer(HoldersAnswer),
    Refusal(Refusal),
} }

one_of! {
/// An answer, or why there is none.
EssentialsGetHoldersCountAnswer {
    HoldersCountAnswer(HoldersCountAnswer),
    Refusal(Refusal),
} }

one_of! {
/// An answer, or why there is none.
EssentialsGetKeysAnswer {
    KeysAnswer(KeysAnswer),
    Refusal(Refusal),
} }

one_of! {
/// An answer, or why there is none.
EssentialsGetOutpointBalancesAnswer {
    OutpointBalancesAnswer(OutpointBalancesAnswer),
    Refusal(Refusal),
} }

one_of! {
/// An answer, or why there is none.
EssentialsPingAnswer {
    Text(String),
    Refusal(Refusal),
} }

/// How many of a pool's events an answer was made from, where it was not all.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct EventWindow {
    /// The newest of the pool's events, so many.
    pub newest: u32,
    /// All of them.
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
    /// Of all pages.
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
    /// Of all pages.
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

/// An output and what it holds.
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

/// A key and its value. Members of several names are for clients of several kinds.
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
    /// Of all pages; 100,000 stands for more.
    pub total: u64,
}

/// A pool, with the members of every kind of client. Amounts are base units in decimal digits.
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

/// The output that was asked for.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct OutpointBalancesAnswer {
    /// `items`.
    pub items: Vec<OutputItem>,
    /// `ok`.
    pub ok: bool,
    /// `outpoint`.
    pub outpoint: String,
}

/// An output. Of one that holds nothing, or does not exist, only what it is is known.
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
    /// Of all pages.
    pub total: u32,
}

/// The result of a question that is written well and has no answer.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Refusal {
    /// A second one, where several things can be wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Stable word for programs.
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
    /// Parts of 10,000; `null` where the pool's own formula has it.
    #[serde(default)]
    pub fee_bps: Option<u128>,
    /// Where the fee is the pool's own.
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
    /// Blocks from its own to the height of the answer, both counted.
    pub confirmations: u32,
    /// Whether what it holds is known; it is not before its transaction is in a block.
    pub indexed: bool,
    /// `txid:vout`.
    pub outpoint: String,
    /// The whole transaction in hexadecimal digits, `0` where it was not asked for.
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
    /// As of which block.
    pub height: u32,
    /// How many there are.
    pub length: u64,
    /// `ok`.
    pub ok: bool,
    /// `outpoints`.
    pub outpoints: Vec<SpendableOutpoint>,
}

/// A trade. Amounts are base units in decimal digits.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Trade {
    /// `null` where the script has none.
    #[serde(default)]
    pub address: Option<String>,
    /// `amount_in`.
    pub amount_in: String,
    /// `amount_out`.
    pub amount_out: String,
    /// By how much the pool's first alkane grew.
    pub base_inflow: String,
    /// `block_height`.
    pub block_height: u32,
    /// `price`.
    #[serde(default)]
    pub price: Option<String>,
    /// By how much the pool's second alkane grew.
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
    /// Of all pages.
    pub total: u64,
    /// `trades`.
    pub trades: Vec<Trade>,
    /// Where another order than the chain's, or a choice, looked at the newest events alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<EventWindow>,
}
